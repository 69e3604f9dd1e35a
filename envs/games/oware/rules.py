"""The rules of Oware (Abapa) over one row of integers.

A side is one number, eight bits a house, the player's house 1 lowest. So sowing is one addition a side, looked up by house
and seeds, and "nobody lives there" is `side == 0`. Action k is the mover's house k + 1; houses of both sides count from 0
at seat 0's house 1 in sowing order.

Repetition. Between two occurrences of a position no seed leaves the board and every house is sown: a house that is not sown
loses no seed, so it may receive none, so no seed passes it, and seeds that only move forward cannot come back without
passing it. So a cycle takes twelve plies or more, and most plies can repeat nothing. The first plies after a harvest are
therefore only noted in the row (`WAITING`); the positions before them go into the history once every house was sown or the
note is full. `history` has room for `quiet_limit` keys.
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

HOUSES: Final = 6  # a side
SEEDS: Final = 48
START_SIDE: Final = 0x040404040404
MAJORITY: Final = SEEDS // 2

SIDES: Final = HEADER  # seat 0's houses, seat 1's houses
STORES: Final = SIDES + 2
QUIET: Final = SIDES + 4  # plies since the last harvest
SOWN: Final = SIDES + 5  # one bit a house that was sown since the last harvest
LEGAL: Final = SIDES + 6  # one bit a legal action
LIMITS: Final = SIDES + 7  # the options, see `packed_options`
BASE: Final = SIDES + 8  # both sides as they were after the last harvest
WAITING: Final = SIDES + 10  # the actions since then, three bits each below a leading one; 0 once they are written out
ROW: Final = SIDES + 11

FORFEIT: Final = 0
ILLEGAL: Final = 1
CAPTURE: Final = 2

ACTIONS: Final = HOUSES
OBSERVATION: Final = 2 * HOUSES + 5
ALL_HOUSES: Final = (1 << 2 * HOUSES) - 1
NO_ACTIONS: Final = 1
WAITING_FULL: Final = 1 << 60  # twenty actions
SHORTEST_CYCLE: Final = 2 * HOUSES

_RUNNING: Final = int(EndReason.RUNNING)
_MAJORITY: Final = int(EndReason.MAJORITY)
_EVEN_SPLIT: Final = int(EndReason.EVEN_SPLIT)
_NO_MOVES: Final = int(EndReason.NO_MOVES)
_REPETITION: Final = int(EndReason.REPETITION)
_QUIET_LIMIT: Final = int(EndReason.QUIET_LIMIT)


def sowings() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What sowing adds to the own and to the opposite side, and where the last seed falls, by action and seeds.

    Places count from 0 at the mover's house 1; the house of origin is skipped on every lap.
    """
    own = np.zeros((HOUSES, SEEDS + 1), np.int64)
    other = np.zeros((HOUSES, SEEDS + 1), np.int64)
    last = np.zeros((HOUSES, SEEDS + 1), np.int64)
    for origin in range(HOUSES):
        for seeds in range(SEEDS + 1):
            change = [0] * (2 * HOUSES)
            change[origin] = -seeds
            place = origin
            for _ in range(seeds):
                place = (place + 1) % (2 * HOUSES)
                if place == origin:
                    place += 1
                change[place] += 1
            own[origin, seeds] = sum(change[house] << 8 * house for house in range(HOUSES))
            other[origin, seeds] = sum(change[HOUSES + house] << 8 * house for house in range(HOUSES))
            last[origin, seeds] = place
    return own, other, last


SOW_OWN, SOW_OTHER, LAST_PLACE = sowings()


LEGAL_COUNT, NTH_LEGAL = choices(ACTIONS)


def packed_options(repetition_limit: int, quiet_limit: int, grand_slam: int) -> int:
    """The three options as the row's `LIMITS` field."""
    return repetition_limit | grand_slam << 8 | quiet_limit << 16


@kernel
def repetition_limit(row: np.ndarray) -> int:
    """The occurrence of a position that ends the game; 0 is never."""
    return row[LIMITS] & 0xFF


@kernel
def quiet_limit(row: np.ndarray) -> int:
    """The plies without a harvest that end the game; 0 is never."""
    return row[LIMITS] >> 16


@kernel
def grand_slam(row: np.ndarray) -> int:
    """FORFEIT, ILLEGAL or CAPTURE."""
    return (row[LIMITS] >> 8) & 0xFF


@kernel
def start(row: np.ndarray, history: np.ndarray) -> None:
    """The row is the start position; its options stay as they are."""
    row[SIDES] = START_SIDE
    row[SIDES + 1] = START_SIDE
    row[STORES] = 0
    row[STORES + 1] = 0
    row[QUIET] = 0
    row[MOVER] = 0
    row[PLY] = 0
    row[KEYS] = 0
    set_up(row, history)


@kernel
def set_up(row: np.ndarray, history: np.ndarray) -> None:
    """The other fields follow from sides, stores, mover, counters, options and the `KEYS` earlier keys in the history."""
    note_base(row)
    if row[KEYS]:
        row[WAITING] = 0
        row[SOWN] = ALL_HOUSES  # which were sown since the harvest is unknown, so any position might be a repetition
    row[LAST_ACTION] = NONE
    row[LAST_PLAYER] = NONE
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
    """The mover has sown its house `action` and harvested, and the turn has passed; the game may be over."""
    mover = row[MOVER]
    key = position_key(row[SIDES], row[SIDES + 1])
    last = sow(row, mover, action)
    harvest = harvest_at(row, mover, last)
    row[STORES + mover] += harvest
    if harvest:
        row[QUIET] = 0
        row[KEYS] = 0
        note_base(row)
    else:
        row[QUIET] += 1
        row[SOWN] |= 1 << (HOUSES * mover + action)
        if repetition_limit(row):
            remember(row, history, key, action)
    row[LAST_ACTION] = action
    row[LAST_PLAYER] = mover
    row[PLY] += 1
    row[MOVER] = 1 - mover
    settle(row, history)


@kernel
def sow(row: np.ndarray, mover: int, action: int) -> int:
    """The mover's house is empty and its seeds lie in the places after it; returns the place of the last one."""
    seeds = seeds_in(row[SIDES + mover], action)
    row[SIDES + mover] += SOW_OWN[action, seeds]
    row[SIDES + 1 - mover] += SOW_OTHER[action, seeds]
    return LAST_PLACE[action, seeds]


@kernel
def seeds_in(side: int, house: int) -> int:
    """Seeds in the house, 0..5, of a side."""
    return (side >> 8 * house) & 0xFF


@kernel
def seeds_on(side: int) -> int:
    """Seeds in all six houses of a side."""
    pairs = (side & 0x00FF00FF00FF) + ((side >> 8) & 0x00FF00FF00FF)
    return (pairs + (pairs >> 16) + (pairs >> 32)) & 0xFF


@kernel
def occupied(side: int) -> int:
    """One bit for each house of a side that is not empty."""
    high = (side + 0x7F7F7F7F7F7F) & 0x808080808080
    bits = (high >> 7) & 1 | (high >> 14) & 2 | (high >> 21) & 4
    return bits | (high >> 28) & 8 | (high >> 35) & 16 | (high >> 42) & 32


@kernel
def holds_two_or_three(side: int, house: int) -> bool:
    """Whether the house can be harvested."""
    return (side >> 8 * house) & 0xFE == 2


@kernel
def without_chain(side: int, last: int) -> int:
    """The side after the unbroken chain of twos and threes that ends at the place `last` has been taken."""
    house = last - HOUSES
    while house >= 0 and holds_two_or_three(side, house):
        side &= ~(0xFF << 8 * house)
        house -= 1
    return side


@kernel
def harvest_at(row: np.ndarray, mover: int, last: int) -> int:
    """The chain that ends at `last` is taken, unless that is a grand slam and forfeits; returns the seeds taken."""
    side = row[SIDES + 1 - mover]
    left = without_chain(side, last)
    if left == side or (left == 0 and grand_slam(row) != CAPTURE):
        return 0
    row[SIDES + 1 - mover] = left
    return seeds_on(side) - seeds_on(left)


@kernel
def legal_bits(row: np.ndarray) -> int:
    """One bit for each action that the board allows the mover."""
    mover = row[MOVER]
    if row[SIDES + 1 - mover]:
        bits = occupied(row[SIDES + mover])
    else:
        bits = feeding_bits(row[SIDES + mover])
    return without_grand_slams(row, bits) if grand_slam(row) == ILLEGAL else bits


@kernel
def feeding_bits(side: int) -> int:
    """One bit for each house that reaches the other side: house k + 1 does with 6 - k seeds."""
    bits = 0
    for house in range(HOUSES):
        bits |= (seeds_in(side, house) >= HOUSES - house) << house
    return bits


@kernel
def without_grand_slams(row: np.ndarray, bits: int) -> int:
    """The actions of `bits` that are no grand slam; all of them if each is one."""
    allowed = bits
    for action in range(HOUSES):
        if (bits >> action) & 1 and is_grand_slam(row, action):
            allowed &= ~(1 << action)
    return allowed if allowed else bits


@kernel
def is_grand_slam(row: np.ndarray, action: int) -> bool:
    """Whether the harvest of the mover's action would take every seed on the opponent's side."""
    mover = row[MOVER]
    seeds = seeds_in(row[SIDES + mover], action)
    side = row[SIDES + 1 - mover] + SOW_OTHER[action, seeds]
    return side != 0 and without_chain(side, LAST_PLACE[action, seeds]) == 0


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
        finish(row, _RUNNING, 0)


@kernel
def note_base(row: np.ndarray) -> None:
    """From here on positions can recur; none before can."""
    row[BASE] = row[SIDES]
    row[BASE + 1] = row[SIDES + 1]
    row[SOWN] = 0
    row[WAITING] = NO_ACTIONS


@kernel
def remember(row: np.ndarray, history: np.ndarray, key: int, action: int) -> None:
    """The position before the ply just sown, whose key is given, counts as an earlier one."""
    if row[WAITING] == 0:
        history[row[KEYS]] = key
        row[KEYS] += 1
        return
    row[WAITING] = row[WAITING] << 3 | action
    if row[SOWN] == ALL_HOUSES or row[WAITING] >= WAITING_FULL:
        write_out(row, history, 1 - row[MOVER])


@kernel
def write_out(row: np.ndarray, history: np.ndarray, mover: int) -> None:
    """All earlier positions since the last harvest are in the history; `mover` is whose turn it is now."""
    if row[WAITING] == 0:
        return
    south, north = row[SIDES], row[SIDES + 1]
    waiting = row[WAITING]
    plies = 0
    while waiting >> 3 * plies > 1:
        plies += 1
    row[SIDES] = row[BASE]
    row[SIDES + 1] = row[BASE + 1]
    for ply in range(plies):
        history[ply] = position_key(row[SIDES], row[SIDES + 1])
        sow(row, (mover + plies + ply) & 1, (waiting >> 3 * (plies - 1 - ply)) & 7)
    row[SIDES] = south
    row[SIDES + 1] = north
    row[KEYS] = plies
    row[WAITING] = 0


@kernel
def earlier_occurrences(row: np.ndarray, history: np.ndarray) -> int:
    """How often the position is in the history."""
    if row[SOWN] != ALL_HOUSES or row[WAITING] != 0:
        return 0
    key = position_key(row[SIDES], row[SIDES + 1])
    count = 0
    for earlier in range(row[KEYS] - SHORTEST_CYCLE, -1, -2):
        count += history[earlier] == key
    return count


@kernel
def position_key(south: int, north: int) -> int:
    """Both sides as one number, exact among boards with the same stores: the twelfth house is what the others leave.

    The side to move is not in it; a history compares every second ply.
    """
    return base_49(south) * (SEEDS + 1) ** 5 + base_49(north & 0xFFFFFFFFFF)


@kernel
def base_49(side: int) -> int:
    """A side's houses as the digits of a number below 49**6."""
    pairs = (side & 0x00FF00FF00FF) + (SEEDS + 1) * ((side >> 8) & 0x00FF00FF00FF)
    return (pairs & 0xFFFF) + (SEEDS + 1) ** 2 * ((pairs >> 16) & 0xFFFF) + (SEEDS + 1) ** 4 * (pairs >> 32)


def zobrist_numbers() -> np.ndarray:
    """Random 62-bit numbers for every count in every house, for seat 0's store and for the mover."""
    return np.random.default_rng(48).integers(0, 1 << 62, (2 * HOUSES + 2, SEEDS + 1))


ZOBRIST = zobrist_numbers()


@kernel
def position_hash(row: np.ndarray) -> int:
    """62 bits for houses, stores and mover (Zobrist 1970); seat 1's store is what the rest leaves."""
    bits = ZOBRIST[2 * HOUSES, row[STORES]] ^ ZOBRIST[2 * HOUSES + 1, row[MOVER]]
    for house in range(HOUSES):
        bits ^= ZOBRIST[house, seeds_in(row[SIDES], house)]
        bits ^= ZOBRIST[HOUSES + house, seeds_in(row[SIDES + 1], house)]
    return bits


@kernel
def depends_on_past(row: np.ndarray, plies: int) -> bool:
    """Whether the quiet limit or a repetition can end the game within so many plies."""
    quiet = row[QUIET] + plies
    if 0 < quiet_limit(row) <= quiet:
        return True
    return repetition_limit(row) > 0 and quiet >= SHORTEST_CYCLE * (repetition_limit(row) - 1)


@kernel
def sweep_and_finish(row: np.ndarray, reason: int) -> None:
    """The game is over for this reason; each side's own seeds count for it, though they stay on the board."""
    south = row[STORES] + seeds_on(row[SIDES])
    north = row[STORES + 1] + seeds_on(row[SIDES + 1])
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
            scores[player] += seeds_on(row[SIDES + player])


@kernel
def balance(row: np.ndarray) -> int:
    """Seat 0's store less seat 1's: the plain evaluation."""
    return row[STORES] - row[STORES + 1]


@kernel
def observe(row: np.ndarray, player: int, out: np.ndarray) -> None:
    """`out` is the position as the player sees it, own side first; the game's record names the fields."""
    for house in range(HOUSES):
        out[house] = seeds_in(row[SIDES + player], house)
        out[HOUSES + house] = seeds_in(row[SIDES + 1 - player], house)
    out[2 * HOUSES] = row[STORES + player]
    out[2 * HOUSES + 1] = row[STORES + 1 - player]
    out[2 * HOUSES + 2] = min(row[QUIET], MAX_LIMIT)
    out[2 * HOUSES + 3] = row[OCCURRENCES]
    out[2 * HOUSES + 4] = row[END] == 0 and row[MOVER] == player
