"""The player that looks one turn ahead."""

import numpy as np

from agents.minimax.agent import MinimaxAgent
from agents.uniform import best_with_random_ties
from envs.engine.header import MOVER
from envs.games import find_game


class GreedyAgent:
    """Plays a winning turn if there is one, else one with the best plain evaluation after it; ties by chance.

    Where a turn is several actions, draws within it count by their average.
    """

    spec = "greedy"

    def __init__(self, game: str) -> None:
        """A greedy player of the game."""
        self._turn = MinimaxAgent(game, find_game(game).plies_a_turn, table_entries=1, whole_turns=True)

    def act(
        self,
        rows: np.ndarray,
        histories: np.ndarray,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """See `Agent.act`."""
        signs = 1 - 2 * rows[:, MOVER, None]
        values = signs * self._turn.action_values(rows, histories)
        return best_with_random_ties(values.astype(np.float64), masks, rng)
