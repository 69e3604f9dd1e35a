"""The player that looks one action ahead."""

import numpy as np

from agents.minimax.search import action_values
from agents.uniform import best_with_random_ties
from envs.games import find_game


class GreedyAgent:
    """Plays a winning move if there is one, else an action with the best plain evaluation after it; ties by chance."""

    spec = "greedy"

    def __init__(self, game: str) -> None:
        """A greedy player of the game."""
        self._game = find_game(game)

    def act(
        self,
        rows: np.ndarray,
        histories: np.ndarray,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """See `Agent.act`."""
        values = np.zeros(masks.shape, np.int64)
        child, line = np.zeros(rows.shape[1], rows.dtype), np.zeros(histories.shape[1] + 1, histories.dtype)
        action_values(self._game.number, rows, histories, masks, child, line, values)
        return best_with_random_ties(values.astype(np.float64), masks, rng)
