"""What a random game from a position comes to."""

import numpy as np

from envs.engine import kernels
from envs.engine.header import END, KEYS, RESULT
from envs.engine.jit import entry


@entry
def random_result(
    game: kernels.Tag,
    row: np.ndarray,
    history: np.ndarray,
    streams: np.ndarray,
    played_row: np.ndarray,
    played_history: np.ndarray,
) -> int:
    """Seat 0's result of one game in which every ply and every draw is random by `streams[0]`, which has moved on.

    `played_row` and `played_history` are room for it, as large as row and history; these stay as they are.
    """
    kernels.copy_row(row, played_row)
    for place in range(row[KEYS]):
        played_history[place] = history[place]
    while played_row[END] == 0:
        action = kernels.pick(game, played_row, kernels.next_draw(streams, 0))
        kernels.play(game, played_row, played_history, action)
    return played_row[RESULT]
