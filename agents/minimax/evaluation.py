"""What a position is worth where the search stops, from seat 0's side."""

from typing import Final

import numpy as np

from agents.minimax.features import weighed
from envs.engine import kernels
from envs.engine.header import EIYIU, END, MOVER, RESULT
from envs.engine.jit import entry, kernel
from envs.games.eiyiu.rules import TURN

WIN: Final = 1_000_000_000  # more than any evaluation
INFINITY: Final = 2 * WIN
CLIP: Final = 20_000  # the tuned evaluation is never more


@kernel
def plain_value(game: kernels.Tag, row: np.ndarray, ply: int) -> int:
    """The plain evaluation; for a finished game its result, a win the better the fewer plies it took from the root."""
    if row[END]:
        return row[RESULT] * (WIN - ply)
    return kernels.balance(game, row)


@kernel
def leaf_value(game: kernels.Tag, row: np.ndarray, ply: int, weights: np.ndarray) -> int:
    """`plain_value`, or with weights, the tuned evaluation in place of the plain one."""
    if row[END] or weights.shape[0] == 0:
        return plain_value(game, row, ply)
    return tuned_balance(game, row, weights)


@kernel
def tuned_balance(game: kernels.Tag, row: np.ndarray, weights: np.ndarray) -> int:
    """The tuned evaluation of a running position from seat 0's side, in thousandths of a logit, from -`CLIP` to `CLIP`.

    At v, seat 0 is expected to score 1 / (1 + exp(-v / 1000)) with a draw as one half. `weights` int64[F] are those of
    `load_weights`, in the order of `FEATURE_NAMES`; they are only read. In Eiyiu the position is seen from the player whose
    turn it is, also with a tile in hand and while chance deals; there, `LAYS` may be overwritten where no tile is in hand.
    """
    value = min(max(weighed(game, row, weights), -CLIP), CLIP)
    player = row[TURN] if len(game) == EIYIU else row[MOVER]
    return value if player == 0 else -value


@entry
def tuned_balances(game: kernels.Tag, rows: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    """`out` int64[B] holds the tuned evaluation of every row."""
    for index in range(rows.shape[0]):
        out[index] = tuned_balance(game, rows[index], weights)


@entry
def plain_balances(game: kernels.Tag, rows: np.ndarray, out: np.ndarray) -> None:
    """`out` int64[B] holds the plain evaluation of every running row."""
    for index in range(rows.shape[0]):
        out[index] = kernels.balance(game, rows[index])
