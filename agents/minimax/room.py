"""The memory that searches work in."""

import numpy as np

from agents.minimax.search import FRAME
from envs.engine import kernels
from envs.engine.game import Game
from envs.engine.header import KEY_DTYPE, MASK_DTYPE, ROW_DTYPE


class SearchRoom:
    """Arrays for searches of some depth, one set a worker, in the order in which `search` takes them.

    Nothing in them lasts from one search to the next but the tables.
    """

    def __init__(self, game: Game, depth: int, keys: int, workers: int, tables: np.ndarray) -> None:
        """`keys` is how many keys of its past a root can have."""
        levels = kernels.line_room(depth)
        shape = (workers, levels, game.actions)
        self.arrays = (
            np.zeros((workers, kernels.history_room(keys, levels)), KEY_DTYPE),
            tables,
            np.zeros((*shape, game.row_size), ROW_DTYPE),
            np.zeros(shape, np.int64),
            np.zeros(shape, MASK_DTYPE),
            np.zeros(shape, np.int64),
            np.zeros((workers, levels, FRAME), np.int64),
        )
