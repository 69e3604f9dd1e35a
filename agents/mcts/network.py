"""Simulations that a network guides: PUCT."""

from typing import Final

import numpy as np
import torch

from agents.mcts.agent import Found
from agents.mcts.plain import found_from
from agents.mcts.room import BATCH_BYTES, Room, bytes_of, new_answers, new_streams
from agents.mcts.search import NO_LEAF, absorb_batch, gather_batch, report_batch
from agents.network import Network
from envs.engine.game import Game
from envs.engine.header import MASK_DTYPE, OBSERVATION_DTYPE
from envs.engine.jit import available_threads

# The parameter of the roots' Dirichlet noise: ten over the legal actions of a usual position, as in AlphaZero.
ALPHA: Final = {"oware": 2.0, "toguz_kumalak": 1.2, "uisge": 0.7, "eiyiu": 0.5}


class NetworkSearch:
    """PUCT: a position that is new is judged by the network, all games' at once.

    Deterministic given the generator, as far as the network's numbers do not depend on how many positions it sees at once (by
    rounding they may).
    """

    def __init__(
        self,
        game: Game,
        network: Network,
        simulations: int,
        c: float = 0.6,
        batch: int = 1,
        noise: float = 0.0,
        prior_temperature: float = 1.0,
        threads: int = 1,
    ) -> None:
        """`batch` simulations of one game may wait for the network together; each but the first knows a little less than it
        would alone. That share `noise` of a root's priors is drawn at random; priors are the network's policy at that
        temperature, above one flatter than the network has it."""
        self._game = game
        self._network = network
        self._simulations = simulations
        self._c = c
        self._batch = min(batch, simulations)
        self._noise = noise
        self._prior_temperature = prior_temperature
        self._threads = min(threads, available_threads())
        self._room = Room(game, simulations, self._threads, network=True)
        answer = OBSERVATION_DTYPE(0).itemsize * game.observation_size + (np.float32(0).itemsize + 1) * game.actions
        self.part = max(1, BATCH_BYTES // (bytes_of(game, simulations, network=True) + self._batch * answer))

    def __call__(self, rows: np.ndarray, histories: np.ndarray, rng: np.random.Generator) -> Found:
        """See `Search`. Every position has a tree; so many grow side by side as `BATCH_BYTES` hold."""
        answers = new_answers(self._game, len(rows))
        streams, noise = new_streams(len(rows), rng), self._new_noise(len(rows), rng)
        for start in range(0, len(rows), self.part):
            part = slice(start, start + self.part)
            self._search_part(rows[part], histories[part], streams[part], noise[part], tuple(array[part] for array in answers))
        return found_from(*answers)

    def _search_part(
        self, rows: np.ndarray, histories: np.ndarray, streams: np.ndarray, noise: np.ndarray, answers: tuple[np.ndarray, ...]
    ) -> None:
        trees = self._room.trees(len(rows))
        leaves = np.full((len(rows), self._batch), NO_LEAF, np.int64)
        observations = np.zeros((*leaves.shape, self._game.observation_size), OBSERVATION_DTYPE)
        masks = np.zeros((*leaves.shape, self._game.actions), MASK_DTYPE)
        fresh = True
        while True:
            gather_batch(
                self._threads,
                self._game.tag,
                fresh,
                self._simulations,
                self._c,
                np.ascontiguousarray(rows),
                np.ascontiguousarray(histories),
                streams,
                trees,
                *self._room.worker_arrays(histories.shape[1]),
                leaves,
                observations,
                masks,
            )
            waiting = leaves != NO_LEAF
            if not waiting.any():
                break
            logits, worths = self._judge(observations[waiting], masks[waiting])
            places = np.cumsum(waiting).reshape(waiting.shape) - 1
            absorb_batch(self._threads, trees, leaves, places, logits, worths, self._noise, noise)
            fresh = False
        report_batch(self._threads, trees, *answers)

    def _judge(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """float32[M, A] priors' logits and float32[M] values for the movers of observations int16[M, O], masks int8[M, A]."""
        with torch.no_grad():
            logits, worths = self._network(torch.from_numpy(observations), torch.from_numpy(masks))
        logits = logits / self._prior_temperature
        return np.ascontiguousarray(logits.float().cpu().numpy()), np.ascontiguousarray(worths.float().cpu().numpy())

    def _new_noise(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """float64[B, A]: gamma-distributed weights, which in proportion to each other are Dirichlet noise."""
        if self._noise == 0:
            return np.zeros((count, 0))
        return rng.standard_gamma(ALPHA[self._game.name], size=(count, self._game.actions))
