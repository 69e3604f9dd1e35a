"""The rules of Toguz Kumalak over one row of integers.

Holes of both sides count from 0 at seat 0's hole 1 in sowing order, so 9 is seat 1's hole 1. Action k is the mover's hole
k + 1. A tuzdyk lies on the side of the player who does *not* own it.

Repetition. Between two occurrences of a position nothing goes into a store. Then every hole is sown: one that is not loses no
seed, so it may receive none, so no seed passes it, and seeds that only move forward cannot come back without passing it. So
a cycle takes eighteen plies or more; and with a tuzdyk there is none, as every seed that passes it goes into a store.
`history` has room for `quiet_limit` keys.
"""

from typing import Final

import numpy as np

from envs.engine.bits import choices
from envs.engine.header import (
    END,
    HEADER,
    KEYS,
    LAST_ACTION,
    LAST_PLAYER,
    MAX_LIMIT,
    MOVER,
    NONE,
    OCCURRENCES,
    PLY,
    RESULT,
    EndReason,
)
from envs.engine.jit import kernel

SIDE: Final = 9  # holes a player
ALL: Final = 2 * SIDE
SEEDS: Final = 162
START_SEEDS: Final = 9  # in every hole
MAJORITY: Final = SEEDS // 2

HOLES: Final = HEADER
STORES: Final = HOLES + ALL
TUZDYKS: Final = STORES + 2  # the hole that each seat owns on the other side, or NONE
QUIET: Final = TUZDYKS + 2  # plies since a seed went into a store
SOWN: Final = QUIET + 1  # one bit a hole that was sown since then
LEGAL: Final = QUIET + 2  # one bit a legal action
LIMITS: Final = QUIET + 3  # the options, see `packed_options`
LAST_HOLE: Final = QUIET + 4  # where the last ply's last seed fell, NONE if that is not known
TAKEN: Final = QUIET + 5  # what it did there: 0 nothing, NONE a tuzdyk, else the store after an even capture
ROW: Final = QUIET + 6

ACTIONS: Final = SIDE
OBSERVATION: Final = ALL + 7
ALL_HOLES: Final = (1 << ALL) - 1
SHORTEST_CYCLE: Final = ALL

_RUNNING: Final = int(EndReason.RUNNING)
_MAJORITY: Final = int(EndReason.MAJORITY)
_EVEN_SPLIT: Final = int(EndReason.EVEN_SPLIT)
_NO_MOVES: Final = int(EndReason.NO_MOVES)
_REPETITION: Final = int(EndReason.REPETITION)
_QUIET_LIMIT: Final = int(EndReason.QUIET_LIMIT)

LEGAL_COUNT, NTH_LEGAL = choices(ACTIONS)


def packed_options(repetition_limit: int, quiet_limit: int) -> int:
    """The options as the row's `LIMITS` field."""
    return repetition_limit | quiet_limit << 16


@kernel
def repetition_limit(row: np.ndarray) -> int:
    """The occurrence of a position that ends the game; 0 is never."""
    return row[LIMITS] & 0xFF


@kernel
def quiet_limit(row: np.ndarray) -> int:
    """The plies in a row that bring nothing into a store and end the game; 0 is never."""
    return row[LIMITS] >> 16


@kernel
def start(row: np.ndarray, history: np.ndarray) -> None:
    """The row is the start position; its options stay as they are."""
    for hole in range(ALL):
        row[HOLES + hole] = START_SEEDS
    for player in range(2):
        row[STORES + player] = 0
        row[TUZDYKS + player] = NONE
    row[QUIET] = 0
    row[MOVER] = 0
    row[PLY] = 0
    row[KEYS] = 0
    set_up(row, history)


@kernel
def set_up(row: np.ndarray, history: np.ndarray) -> None:
    """The other fields follow from holes, stores, tuzdyks, mover, counters, options and the `KEYS` earlier keys."""
    row[SOWN] = ALL_HOLES if row[KEYS] else 0  # with a past, which holes it sowed is unknown: anything may be a repetition
    row[LAST_ACTION] = NONE
    row[LAST_PLAYER] = NONE
    row[LAST_HOLE] = NONE
    row[TAKEN] = 0
    settle(row, history)


@kernel
def legal(row: np.ndarray, mask: np.ndarray) -> None:
    """`mask[k]` is 1 where action k is legal, else 0; all zeros once the game is over."""
    bits = row[LEGAL] if row[END] == 0 else 0
    for action in range(ACTIONS):
        mask[action] = (bits >> action) & 1


@kernel
def pick(row: np.ndarray, draw: np.int64) -> int:
    """The legal action that a random number of 32 bits falls on, each as likely as the others; the game is not over."""
    bits = row[LEGAL]
    return NTH_LEGAL[bits, (draw * LEGAL_COUNT[bits]) >> 32]


@kernel
def play(row: np.ndarray, history: np.ndarray, action: int) -> None:
    """The mover has sown its hole `action` and captured, and the turn has passed; the game may be over."""
    mover = row[MOVER]
    origin = SIDE * mover + action
    stored = row[STORES] + row[STORES + 1]
    key = board_key(row) if remembers(row) else 0
    last = sow(row, origin)
    collect_from_tuzdyks(row)
    row[TAKEN] = capture(row, mover, last)
    if row[STORES] + row[STORES + 1] > stored:
        row[QUIET] = 0
        row[KEYS] = 0
        row[SOWN] = 0
    else:
        row[QUIET] += 1
        row[SOWN] |= 1 << origin
        if remembers(row):
            history[row[KEYS]] = key
            row[KEYS] += 1
    row[LAST_HOLE] = last
    row[LAST_ACTION] = action
    row[LAST_PLAYER] = mover
    row[PLY] += 1
    row[MOVER] = 1 - mover
    settle(row, history)


@kernel
def sow(row: np.ndarray, origin: int) -> int:
    """The hole's seeds lie from it onwards, the first in itself unless it is the only one; returns the last one's hole."""
    seeds = row[HOLES + origin]
    row[HOLES + origin] = 0
    hole = origin if seeds > 1 else following(origin)
    row[HOLES + hole] += 1
    for _ in range(seeds - 1):
        hole = following(hole)
        row[HOLES + hole] += 1
    return hole


@kernel
def following(hole: int) -> int:
    """The next hole in sowing direction."""
    return hole + 1 if hole + 1 < ALL else 0


@kernel
def collect_from_tuzdyks(row: np.ndarray) -> None:
    """Seeds that fell into a tuzdyk, whoever sowed them, are in its owner's store."""
    for player in range(2):
        if row[TUZDYKS + player] != NONE:
            empty_into_store(row, row[TUZDYKS + player], player)


@kernel
def empty_into_store(row: np.ndarray, hole: int, player: int) -> None:
    """The hole's seeds are in the player's store."""
    row[STORES + player] += row[HOLES + hole]
    row[HOLES + hole] = 0


@kernel
def capture(row: np.ndarray, mover: int, last: int) -> int:
    """An even number or a tuzdyk at the last seed's hole is taken; returns what `TAKEN` notes of it.

    A sowing that ends in a tuzdyk finds it emptied: nothing more happens.
    """
    seeds = row[HOLES + last]
    if owner_of_side(last) == mover or seeds == 0:
        return 0
    if seeds % 2 == 0:
        empty_into_store(row, last, mover)
        return row[STORES + mover]
    if seeds == 3 and may_become_tuzdyk(row, mover, last):
        row[TUZDYKS + mover] = last
        empty_into_store(row, last, mover)
        return NONE
    return 0


@kernel
def owner_of_side(hole: int) -> int:
    """The seat on whose side the hole lies."""
    return 1 if hole >= SIDE else 0


@kernel
def may_become_tuzdyk(row: np.ndarray, mover: int, hole: int) -> bool:
    """Whether the mover has no tuzdyk yet, and the hole is neither a ninth one nor opposite in number to the other tuzdyk."""
    number = hole % SIDE
    other = row[TUZDYKS + 1 - mover]
    return row[TUZDYKS + mover] == NONE and number != SIDE - 1 and (other == NONE or other % SIDE != number)


@kernel
def legal_bits(row: np.ndarray) -> int:
    """One bit for each of the mover's holes with seeds; a tuzdyk never has any."""
    first = HOLES + SIDE * row[MOVER]
    bits = 0
    for action in range(ACTIONS):
        bits |= (row[first + action] > 0) << action
    return bits


@kernel
def settle(row: np.ndarray, history: np.ndarray) -> None:
    """Legal actions, occurrences and the end are those of the position that the last move left."""
    row[LEGAL] = legal_bits(row)
    row[OCCURRENCES] = 1 + earlier_occurrences(row, history)
    south, north = row[STORES], row[STORES + 1]
    if south > MAJORITY or north > MAJORITY:
        finish(row, _MAJORITY, south - north)
    elif south == MAJORITY and north == MAJORITY:
        finish(row, _EVEN_SPLIT, 0)
    elif row[LEGAL] == 0:
        sweep_and_finish(row, _NO_MOVES)
    elif 0 < repetition_limit(row) <= row[OCCURRENCES]:
        sweep_and_finish(row, _REPETITION)
    elif 0 < quiet_limit(row) <= row[QUIET]:
        sweep_and_finish(row, _QUIET_LIMIT)
    else:
        row[END] = _RUNNING
        row[RESULT] = 0


@kernel
def remembers(row: np.ndarray) -> bool:
    """Whether positions like this one can recur and matter if they do."""
    return repetition_limit(row) > 0 and row[TUZDYKS] == NONE and row[TUZDYKS + 1] == NONE


@kernel
def earlier_occurrences(row: np.ndarray, history: np.ndarray) -> int:
    """How often the position is in the history."""
    if row[SOWN] != ALL_HOLES or row[KEYS] < SHORTEST_CYCLE:
        return 0
    key = board_key(row)
    count = 0
    for earlier in range(row[KEYS] - SHORTEST_CYCLE, -1, -2):
        count += history[earlier] == key
    return count


def zobrist_numbers() -> np.ndarray:
    """Random 64-bit numbers for every count in every hole, then for seat 0's store, both tuzdyks and the mover."""
    return np.random.default_rng(162).integers(-(1 << 63), 1 << 63, (ALL + 4, SEEDS + 1))


ZOBRIST = zobrist_numbers()


@kernel
def board_key(row: np.ndarray) -> int:
    """64 bits for the holes (Zobrist 1970), which are all that differs in a history: it compares every second ply."""
    key = ZOBRIST[0, row[HOLES]]
    for hole in range(1, ALL):
        key ^= ZOBRIST[hole, row[HOLES + hole]]
    return key


@kernel
def position_hash(row: np.ndarray) -> int:
    """64 bits for holes, stores, tuzdyks and mover; seat 1's store is what the rest leaves."""
    key = board_key(row) ^ ZOBRIST[ALL, row[STORES]] ^ ZOBRIST[ALL + 3, row[MOVER]]
    return key ^ ZOBRIST[ALL + 1, row[TUZDYKS] + 1] ^ ZOBRIST[ALL + 2, row[TUZDYKS + 1] + 1]


@kernel
def depends_on_past(row: np.ndarray, plies: int) -> bool:
    """Whether the quiet limit or a repetition can end the game within so many plies."""
    quiet = row[QUIET] + plies
    if 0 < quiet_limit(row) <= quiet:
        return True
    return remembers(row) and quiet >= SHORTEST_CYCLE * (repetition_limit(row) - 1)


@kernel
def seeds_on(row: np.ndarray, player: int) -> int:
    """Seeds in the player's nine holes."""
    seeds = 0
    for hole in range(SIDE * player, SIDE * player + SIDE):
        seeds += row[HOLES + hole]
    return seeds


@kernel
def sweep_and_finish(row: np.ndarray, reason: int) -> None:
    """The game is over for this reason; each side's own seeds count for it, though they stay on the board."""
    south = row[STORES] + seeds_on(row, 0)
    north = row[STORES + 1] + seeds_on(row, 1)
    finish(row, reason, south - north)


@kernel
def finish(row: np.ndarray, reason: int, difference: int) -> None:
    """The game is over for this reason; seat 0's result has the sign of the difference."""
    row[END] = reason
    row[RESULT] = np.sign(difference)


@kernel
def outcome(row: np.ndarray, scores: np.ndarray) -> None:
    """`scores` holds both seats' seeds: the stores, and after an end other than by stores each side's own seeds too."""
    sweeps = row[END] != 0 and row[END] != _MAJORITY and row[END] != _EVEN_SPLIT
    for player in range(2):
        scores[player] = row[STORES + player]
        if sweeps:
            scores[player] += seeds_on(row, player)


@kernel
def balance(row: np.ndarray) -> int:
    """Seat 0's store less seat 1's: the plain evaluation."""
    return row[STORES] - row[STORES + 1]


@kernel
def observe(row: np.ndarray, player: int, out: np.ndarray) -> None:
    """`out` is the position as the player sees it, own side first; the game's record names the fields."""
    for number in range(SIDE):
        out[number] = row[HOLES + SIDE * player + number]
        out[SIDE + number] = row[HOLES + SIDE * (1 - player) + number]
    out[ALL] = row[STORES + player]
    out[ALL + 1] = row[STORES + 1 - player]
    out[ALL + 2] = tuzdyk_number(row, player)
    out[ALL + 3] = tuzdyk_number(row, 1 - player)
    out[ALL + 4] = min(row[QUIET], MAX_LIMIT)
    out[ALL + 5] = row[OCCURRENCES]
    out[ALL + 6] = row[END] == 0 and row[MOVER] == player


@kernel
def tuzdyk_number(row: np.ndarray, player: int) -> int:
    """The number, 1-9, of the hole that the player owns on the other side; 0 for none."""
    hole = row[TUZDYKS + player]
    return hole % SIDE + 1 if hole != NONE else 0
