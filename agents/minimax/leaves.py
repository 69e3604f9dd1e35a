"""What a position is worth to the selective search where it does not search on."""

from typing import Final

import numpy as np

from agents.endgames.table import holds_unless_recurred, knows, probe
from agents.minimax.evaluation import tuned_balance
from agents.minimax.stack import ANYWHERE, ENDGAMES, EXTEND, MEANS, MOST_PLIES, NOWHERE, ROOT_PLY, TOP, Room
from envs.engine import kernels
from envs.engine.header import EIYIU, END, MOVER, OWARE, PLY, RESULT
from envs.engine.jit import kernel

SOLVED: Final = TOP // 4  # an endgame that is known to be won
SOLVED_SEED: Final = 1000  # and each seed of the difference
UNSOLVED_PLIES: Final = 500  # are added where the next harvest is out of sight
PLAIN_UNIT: Final = 100  # what one counts in the plain evaluation: a seed, a king, a share of a winning turn
SHARE_OF_TOP: Final = 0.99 * TOP  # what the best evaluation is worth in a game with chance


@kernel
def glance(game: kernels.Tag, room: Room, child: np.ndarray) -> tuple[bool, int]:
    """Whether the child's value follows without a search, and the value.

    The game may be over; in Eiyiu it may be won in this turn; in Oware it may be a solved endgame. Of these only those count
    that a harvest leads to: so a search that can win goes for the next harvest, and does not walk about among equals.
    """
    plies = child[PLY] - room.state[ROOT_PLY]
    if child[END]:
        return True, child[RESULT] * (TOP - plies)
    if len(game) == EIYIU and room.state[MEANS] & EXTEND:
        wins = kernels.balance(game, child)
        plies += 2 - kernels.plies_into_turn(game, child)
        return wins != 0, np.sign(wins) * (TOP - plies)
    if len(game) == OWARE and room.state[ENDGAMES] != NOWHERE and kernels.reversible_plies(game, child) == 0:
        is_solved, difference = solved(game, room, child)
        return is_solved, solved_value(difference, plies)
    return False, 0


@kernel
def solved(game: kernels.Tag, room: Room, row: np.ndarray) -> tuple[bool, int]:
    """Whether it is known who wins a position of Oware if nothing recurs, and by how many seeds; below 0 if seat 1 does."""
    if not knows(row, room.endgame_plies):
        return False, 0
    lower, upper = probe(row, room.endgames)
    if row[MOVER] == 1:
        lower, upper = -upper, -lower
    lead = kernels.lead(game, row)
    lower, upper = lead + lower, lead + upper
    decided = lower == upper or lower > 0 or upper < 0
    if not decided or not holds_unless_recurred(row, room.endgame_plies):
        return False, 0
    return True, lower if lower > 0 else upper


@kernel
def solved_value(difference: int, plies: int) -> int:
    """What an endgame is worth that ends with the difference and is so many plies away."""
    return difference * SOLVED_SEED + np.sign(difference) * (SOLVED - plies)


@kernel
def evaluate(game: kernels.Tag, room: Room, row: np.ndarray) -> int:
    """The evaluation of a running position, for seat 0; where chance plays a part, as a share of `TOP`."""
    if len(game) == OWARE and room.state[ENDGAMES] == ANYWHERE:
        is_solved, difference = solved(game, room, row)
        if is_solved:
            return solved_value(difference, row[PLY] - room.state[ROOT_PLY] + UNSOLVED_PLIES)
    weights = room.weights
    value = tuned_balance(game, row, weights) if weights.shape[0] else PLAIN_UNIT * kernels.balance(game, row)
    if len(game) == EIYIU:
        return int(SHARE_OF_TOP * np.tanh(value / 2000.0))  # the result that these odds let expect
    return value


@kernel
def counts_plies(game: kernels.Tag, value: int) -> bool:
    """Whether the value says how many plies away something is: a win, or an endgame that is known."""
    return abs(value) > (TOP - MOST_PLIES if len(game) == EIYIU else SOLVED // 2)


@kernel
def to_node(game: kernels.Tag, value: int, plies: int) -> int:
    """The value with such plies counted from the node, which is so many plies from the root."""
    return value + np.sign(value) * plies if counts_plies(game, value) else value


@kernel
def from_node(game: kernels.Tag, value: int, plies: int) -> int:
    """The value with such plies counted from the root."""
    return value - np.sign(value) * plies if counts_plies(game, value) else value
