"""Simulations without a network: UCT with rollouts, or with the tuned evaluation."""

from typing import Final

import numpy as np

from agents.mcts.agent import Found
from agents.mcts.room import Room, new_answers, new_streams
from agents.mcts.search import ROOT_HIGH, ROOT_LOW, ROOT_VALUE, search_batch
from agents.minimax.weights import load_weights
from envs.engine.game import Game
from envs.engine.jit import available_threads

LEAVES: Final = ("rollout", "eval")


class PlainSearch:
    """UCT: a position that is new is judged by one random game from it, or by its evaluation.

    Deterministic given the generator, whatever the number of threads and however a batch is cut.
    """

    def __init__(self, game: Game, simulations: int, c: float = 1.4, leaf: str = "rollout", threads: int = 1) -> None:
        """`c` weighs what is unknown against what looks good; `leaf` is one of `LEAVES`."""
        self._game = game
        self._simulations = simulations
        self._c = c
        self._weights = load_weights(game.name) if leaf == "eval" else np.zeros(0, np.int64)
        self._threads = min(threads, available_threads())
        self._room = Room(game, simulations, self._threads, network=False)

    def __call__(self, rows: np.ndarray, histories: np.ndarray, rng: np.random.Generator) -> Found:
        """See `Search`. A tree is a worker's, and serves one position after the other."""
        answers = new_answers(self._game, len(rows))
        search_batch(
            self._threads,
            self._game.tag,
            self._simulations,
            self._c,
            self._weights,
            np.ascontiguousarray(rows),
            np.ascontiguousarray(histories),
            new_streams(len(rows), rng),
            self._room.trees(self._threads),
            *self._room.worker_arrays(histories.shape[1]),
            *answers,
        )
        return found_from(*answers)


def found_from(visits: np.ndarray, values: np.ndarray, bounds: np.ndarray, roots: np.ndarray) -> Found:
    """What the kernels' answers say. An average of which simulations were wrong is not beyond what is proven."""
    lows, highs = bounds[:, :, 0], bounds[:, :, 1]
    return Found(
        visits=visits,
        action_values=values.clip(lows, highs),
        lows=lows,
        highs=highs,
        values=roots[:, ROOT_VALUE].clip(roots[:, ROOT_LOW], roots[:, ROOT_HIGH]),
        proven=roots[:, ROOT_LOW] == roots[:, ROOT_HIGH],
    )
