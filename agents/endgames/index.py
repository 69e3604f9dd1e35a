"""Numbers for positions: every board of Oware has one, and boards of fewer seeds have smaller ones.

A board is two sides, the mover's first: twelve houses in sowing order. With s(i) the seeds in the houses 0 to i, the numbers
i + s(i) strictly increase, so the sum of the binomials C(i + s(i), i + 1) is the board's rank in the combinatorial number
system (Lehmer 1964). As s(11) is all the seeds, boards of n seeds follow those of fewer, with no gap between.
"""

from math import comb
from typing import Final

import numpy as np

from envs.engine.jit import entry, kernel
from envs.games.oware.rules import HOUSES, SEEDS

PLACES: Final = 2 * HOUSES
SIDE_BITS: Final = (1 << 8 * HOUSES) - 1


def binomials() -> np.ndarray:
    """int64[12, 50]: C(i + s, i + 1) by place i and seeds s up to there; the last row counts the boards of fewer seeds."""
    return np.array([[comb(place + seeds, place + 1) for seeds in range(SEEDS + 2)] for place in range(PLACES)], np.int64)


CHOOSE = binomials()


def boards_below(seeds: int) -> int:
    """How many boards have fewer seeds: the number of the first board with so many."""
    return int(CHOOSE[PLACES - 1, seeds])


@kernel
def running_sums(side: int) -> int:
    """Eight bits a house: the seeds in this house and those before it."""
    pairs = side + ((side << 8) & SIDE_BITS)
    fours = pairs + ((pairs & 0xFFFFFFFF) << 16)
    return fours + ((fours & 0xFFFF) << 32)


@kernel
def index_of(own: int, other: int) -> int:
    """The board's number."""
    sums = running_sums(own)
    index = 0
    for house in range(HOUSES):
        index += CHOOSE[house, (sums >> 8 * house) & 0xFF]
    before = sums >> 8 * (HOUSES - 1)
    sums = running_sums(other)
    for house in range(HOUSES):
        index += CHOOSE[HOUSES + house, before + ((sums >> 8 * house) & 0xFF)]
    return index


@kernel
def board_at(place: int, seeds: int) -> tuple[int, int]:
    """Both sides of the board that comes at this place, from 0, among those of so many seeds."""
    own = 0
    other = 0
    upto = seeds
    for house in range(PLACES - 2, -1, -1):
        here = upto
        while CHOOSE[house, here] > place:
            here -= 1
        place -= CHOOSE[house, here]
        if house + 1 >= HOUSES:
            other |= (upto - here) << 8 * (house + 1 - HOUSES)
        else:
            own |= (upto - here) << 8 * (house + 1)
        upto = here
    return own | upto, other


@entry
def number_boards(boards: np.ndarray, numbers: np.ndarray) -> None:
    """`numbers[B]` are those of `boards[B, 2]`: own side and other side."""
    for board in range(boards.shape[0]):
        numbers[board] = index_of(boards[board, 0], boards[board, 1])


@entry
def list_boards(seeds: int, places: np.ndarray, boards: np.ndarray) -> None:
    """`boards[B, 2]` are those at `places[B]` among the boards of so many seeds."""
    for board in range(boards.shape[0]):
        own, other = board_at(places[board], seeds)
        boards[board, 0] = own
        boards[board, 1] = other
