"""The player that moves at random."""

import numpy as np


class UniformAgent:
    """Plays every legal action with the same probability."""

    spec = "random"

    def act(
        self,
        rows: np.ndarray,
        histories: np.ndarray,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """See `Agent.act`."""
        return best_with_random_ties(masks.astype(np.float64), masks, rng)


def best_with_random_ties(values: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """int64[B]: a legal action of highest value; among equals each is as likely. `values` float64[B, A]."""
    highest = np.where(masks, values, -np.inf).max(axis=1, keepdims=True)
    candidates = (masks == 1) & (values == highest)
    return np.where(candidates, rng.random(masks.shape), -1.0).argmax(axis=1)
