"""The stack that the selective search works in: what it knows of itself and of the node of every level."""

from typing import Final, NamedTuple

import numpy as np

from envs.engine import kernels
from envs.engine.header import CHANCE, LAST_PLAYER, NONE, OWARE, TOGUZ_KUMALAK
from envs.engine.jit import kernel

TOP: Final = 4_000_000  # a win now
INFINITY: Final = 2 * TOP
MOST_PLIES: Final = 200  # a search is never that deep: what is nearer to TOP is a win or a loss that was found
NO_REST: Final = 1 << 20  # the value rests on no position of the line

# What a search may do; tests switch parts off.
REDUCE: Final = 1  # search late actions less deep
EXTEND: Final = 2  # search captures beyond the depth
TRUST: Final = 4  # take what the table knows from deeper searches; else from those of the same depth alone
EVERYTHING: Final = REDUCE | EXTEND | TRUST

# The state of a search.
LEVEL: Final = 0  # the node it is at; NONE between iterations
NODES: Final = 1
DEPTH: Final = 2  # of this iteration
FIRST_DEPTH: Final = 3
STEP: Final = 4  # plies from one iteration to the next
LAST_DEPTH: Final = 5
MEANS: Final = 6  # of `EVERYTHING`
SEARCH: Final = 7  # its number, for the table
SINCE: Final = 8  # the first search whose entries in the table it may use
LOW: Final = 9  # the aspiration window
HIGH: Final = 10
DONE: Final = 11
ACTION: Final = 12  # the answer so far
VALUE: Final = 13
DEPTH_DONE: Final = 14  # the last iteration that was completed
SALT: Final = 15  # mixed into keys, so that positions under other options are others
ROOT_PLY: Final = 16
ENDGAMES: Final = 17  # where the endgames that are there count
STATE: Final = 18

# Where endgames count that were solved under the root's rules.
NOWHERE: Final = 0
AFTER_HARVESTS: Final = 1  # where nothing has been on the board before
ANYWHERE: Final = 2

# A frame: what the search knows of the node of a level.
SLOT: Final = 0  # where its row is in its level
OFFSET: Final = 1  # where its history begins
NODE_LOW: Final = 2
NODE_HIGH: Final = 3
FIRST_LOW: Final = 4
FIRST_HIGH: Final = 5
KEY: Final = 6
COUNT: Final = 7  # of actions that it may try; `UNKNOWN` before they are listed
NEXT: Final = 8
BEST: Final = 9  # where chance deals, the sum of the values so far, the average once the node is done
BEST_ACTION: Final = 10
LEFT: Final = 11  # plies to search below it; beyond the depth, 0 or less
REST: Final = 12  # the highest position of the line that the value so far rests on; NONE is before the root
MODE: Final = 13  # how the action is tried
TRYING: Final = 14  # the action
AGAIN: Final = 15  # whether the same is to be tried once more
CUT: Final = 16  # the value so far is good enough
PROBED: Final = 17  # where chance deals, how many draws were probed
LOWEST: Final = 18  # where chance deals, what the draws not yet searched are worth at least, in all
HIGHEST: Final = 19  # ... and at most
IS_PROBE: Final = 20  # only the first action is searched: the value is a bound
FRAME: Final = 21
UNKNOWN: Final = -1

# How an action is tried.
FULL: Final = 0
SCOUT: Final = 1  # whether it is better at all, in a window that has no room
REDUCED: Final = 2  # the same, less deep
PROBE: Final = 3  # where chance deals: the first action alone


class Room(NamedTuple):
    """The memory of one search, or with a first axis more, of one a worker. L levels, A actions, R fields of a row.

    `rows[L, S, R]`: a level's rows, one an action where all are played at once, else the one that is tried. `merits[L, A]`
    says which of `actions[L, A]` to try first. `lines[L, L]`: length and actions of the best line from each level.
    `bounds[L, A]`: what probes found. `weights[F]`, the same for all workers, are those of `tuned_balance`; there are none for
    the plain evaluation. `endgames` and `endgame_plies` are a database's table and plies; there are none without one.
    """

    state: np.ndarray
    frames: np.ndarray
    rows: np.ndarray
    masks: np.ndarray
    actions: np.ndarray
    merits: np.ndarray
    killers: np.ndarray
    credits: np.ndarray
    lines: np.ndarray
    bounds: np.ndarray
    history: np.ndarray
    table: np.ndarray
    weights: np.ndarray
    endgames: np.ndarray
    endgame_plies: np.ndarray


@kernel
def room_of(rooms: Room, worker: int) -> Room:
    """One worker's room."""
    return Room(
        rooms.state[worker],
        rooms.frames[worker],
        rooms.rows[worker],
        rooms.masks[worker],
        rooms.actions[worker],
        rooms.merits[worker],
        rooms.killers[worker],
        rooms.credits[worker],
        rooms.lines[worker],
        rooms.bounds[worker],
        rooms.history[worker],
        rooms.table[worker],
        rooms.weights,
        rooms.endgames,
        rooms.endgame_plies,
    )


@kernel
def open_frame(frame: np.ndarray, mover: int, slot: int, offset: int, low: int, high: int, left: int) -> None:
    """The frame is a node's of which nothing has been searched yet."""
    frame[SLOT] = slot
    frame[OFFSET] = offset
    frame[NODE_LOW] = frame[FIRST_LOW] = low
    frame[NODE_HIGH] = frame[FIRST_HIGH] = high
    frame[COUNT] = UNKNOWN
    frame[NEXT] = 0
    frame[BEST] = 0 if mover == CHANCE else -sign_of(mover) * INFINITY
    frame[BEST_ACTION] = NONE
    frame[LEFT] = left
    frame[REST] = NO_REST
    frame[MODE] = FULL
    frame[AGAIN] = 0
    frame[CUT] = 0
    frame[PROBED] = 0
    frame[IS_PROBE] = 0


@kernel
def improve(frame: np.ndarray, mover: int, value: int) -> None:
    """The node is worth at least the value to its mover."""
    frame[BEST] = value
    if mover == 0:
        frame[NODE_LOW] = max(frame[NODE_LOW], value)
        frame[CUT] = value >= frame[NODE_HIGH]
    else:
        frame[NODE_HIGH] = min(frame[NODE_HIGH], value)
        frame[CUT] = value <= frame[NODE_LOW]


@kernel
def sign_of(mover: int) -> int:
    """1 for seat 0, which wants high values, -1 for seat 1."""
    return 1 - 2 * mover


@kernel
def turn_after(row: np.ndarray) -> int:
    """Who is to move after the draw: who was before it."""
    return 0 if row[LAST_PLAYER] == 0 else 1


@kernel
def plays_all_at_once(game: kernels.Tag) -> bool:
    """Whether all actions of a node are played when they are listed: they are few, and what they gain orders them."""
    return len(game) == OWARE or len(game) == TOGUZ_KUMALAK


@kernel
def slot_of(game: kernels.Tag, action: int) -> int:
    """Where the row after the action is in its level."""
    return action if plays_all_at_once(game) else 0
