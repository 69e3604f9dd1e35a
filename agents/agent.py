"""What every player is."""

from typing import Protocol

import numpy as np


class Agent(Protocol):
    """A player that answers batches of positions in which it is to move."""

    spec: str

    def act(
        self,
        rows: np.ndarray,
        histories: np.ndarray,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """int64[B]: one legal action a row.

        `rows` int64[B, row size] are running positions and `histories` int64[B, H] their earlier keys, as `VectorGames` has
        them; `observations` int16[B, O] and `masks` int8[B, A] are the movers'. All are read only. Whatever is left to
        chance comes from `rng`.
        """
