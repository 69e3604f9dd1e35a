"""What a position is worth where the search stops, from seat 0's side."""

from typing import Final

import numpy as np

from envs.engine import kernels
from envs.engine.header import END, RESULT
from envs.engine.jit import kernel

WIN: Final = 1_000_000_000  # more than any plain evaluation
INFINITY: Final = 2 * WIN


@kernel
def plain_value(game: kernels.Tag, row: np.ndarray, ply: int) -> int:
    """The plain evaluation; for a finished game its result, a win the better the fewer plies it took from the root."""
    if row[END]:
        return row[RESULT] * (WIN - ply)
    return kernels.balance(game, row)
