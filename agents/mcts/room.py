"""The memory that searches work in, and how much of it they need."""

from typing import Final

import numpy as np

from agents.mcts.search import LINE_PLIES, REPORT
from agents.mcts.tree import Tree, new_trees, tree_bytes
from envs.engine import kernels
from envs.engine.game import Game
from envs.engine.header import KEY_DTYPE, MASK_DTYPE, ROW_DTYPE

BATCH_BYTES: Final = 512 << 20  # of trees that grow side by side; larger batches are searched part by part

# The most edges that one simulation can add. Uisge: six pieces have eight directions each. Eiyiu: a group of n tiles has at
# most 2n + 2 cells beside it, 36 for 17; and a draw has nine outcomes, which become edges on the way.
EDGES: Final = {"oware": 6, "toguz_kumalak": 9, "uisge": 48, "eiyiu": 36 + 9}


def tree_size(game: Game, simulations: int) -> tuple[int, int]:
    """Nodes and edges that a tree needs for so many simulations.

    Only boards with more pieces than the rules have can need more; their trees stop growing when they are full.
    """
    nodes = game.plies_a_turn * simulations + 1
    return nodes, EDGES[game.name] * (simulations + 1) + game.actions + 1


def bytes_of(game: Game, simulations: int, network: bool) -> int:
    """What one tree for so many simulations takes."""
    return tree_bytes(*tree_size(game, simulations), network)


class Room:
    """Trees, and a line, a history and a mask for every worker; kept from one search to the next, and replaced where they are
    too small. Nothing in them lasts."""

    def __init__(self, game: Game, simulations: int, workers: int, network: bool) -> None:
        """Room for searches of the game by so many workers."""
        self._game = game
        self._size = tree_size(game, simulations)
        self._network = network
        self._workers = workers
        self._trees = new_trees(0, *self._size, network)
        self._histories = np.zeros((workers, 0), KEY_DTYPE)
        self._lines = np.zeros((workers, game.row_size), ROW_DTYPE)
        self._masks = np.zeros((workers, game.actions), MASK_DTYPE)

    def trees(self, count: int) -> Tree:
        """So many trees."""
        if len(self._trees.used) < count:
            self._trees = new_trees(count, *self._size, self._network)
        return Tree(*(array[:count] for array in self._trees))

    def worker_arrays(self, keys: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lines, histories and masks of the workers; `keys` is how many a root's history has at most."""
        needed = keys + LINE_PLIES + kernels.WAITING_KEYS
        if self._histories.shape[1] < needed:
            self._histories = np.zeros((self._workers, needed), KEY_DTYPE)
        return self._lines, self._histories, self._masks


def new_answers(game: Game, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What is reported of so many roots, see `search.report`: visits, values and bounds of the actions, and of the roots."""
    shape = (count, game.actions)
    return np.zeros(shape, np.int64), np.zeros(shape), np.zeros((*shape, 2)), np.zeros((count, REPORT))


def new_streams(count: int, rng: np.random.Generator) -> np.ndarray:
    """uint64[B]: a random stream a row, drawn from the generator."""
    return rng.integers(1 << 64, size=count, dtype=np.uint64) | np.uint64(1)
