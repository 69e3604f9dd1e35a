"""What the tuned evaluation counts in a position: a few small whole numbers a game, seen from the player to move.

Each game has one kernel that returns its features as a tuple, in the order of their names in `FEATURES`. Both the tuning, which
writes them out, and the evaluation, which only weighs them, call that kernel; a tuple lives in registers, so it needs no room.
In Eiyiu the player to move is the one whose turn it is, also while chance deals.
"""

from typing import Final

import numpy as np

from envs.engine import kernels
from envs.engine.header import MOVER, OWARE, TOGUZ_KUMALAK, UISGE
from envs.engine.jit import entry, kernel
from envs.games.eiyiu import rules as eiyiu
from envs.games.oware import rules as oware
from envs.games.toguz_kumalak import rules as toguz_kumalak
from envs.games.uisge import rules as uisge

FEATURES: Final[dict[str, dict[str, str]]] = {
    "oware": {
        "tempo": "1: being to move",
        "lead": "own store less the other's",
        "lead_share": "the lead in percent of the seeds on the board, rounded down",
        "seeds": "seeds on the own side less those on the other's",
        "own_empty": "own houses without seeds",
        "other_empty": "the other's houses without seeds",
        "own_heavy": "own houses with twelve seeds or more, which sow a whole lap",
        "other_heavy": "the other's houses with twelve seeds or more",
        "attacks": "the other's houses with one or two seeds in which an own sowing of at most eleven seeds ends",
        "attacked": "own houses with one or two seeds in which such a sowing of the other's ends",
    },
    "toguz_kumalak": {
        "tempo": "1: being to move",
        "lead": "own store less the other's",
    },
    "uisge": {
        "tempo": "1: being to move",
        "kings": "own kings less the other's",
    },
    "eiyiu": {
        "tempo": "1: being to move",
        "wins": "winning turns that the player has now",
    },
}
FEATURE_NAMES: Final[dict[str, tuple[str, ...]]] = {game: tuple(features) for game, features in FEATURES.items()}


@kernel
def features(game: kernels.Tag, row: np.ndarray, out: np.ndarray) -> None:
    """`out` int64[F] holds the features of a running position, in the order of `FEATURE_NAMES`."""
    if len(game) == OWARE:
        write(oware_features(row), out)
    elif len(game) == TOGUZ_KUMALAK:
        write(toguz_kumalak_features(row), out)
    elif len(game) == UISGE:
        write(uisge_features(row), out)
    else:
        write(eiyiu_features(row), out)


@kernel
def weighed(game: kernels.Tag, row: np.ndarray, weights: np.ndarray) -> int:
    """The sum of the features of a running position, each times its weight."""
    if len(game) == OWARE:
        return dot(oware_features(row), weights)
    if len(game) == TOGUZ_KUMALAK:
        return dot(toguz_kumalak_features(row), weights)
    if len(game) == UISGE:
        return dot(uisge_features(row), weights)
    return dot(eiyiu_features(row), weights)


@kernel
def write(values: tuple[int, ...], out: np.ndarray) -> None:
    """`out` holds the values."""
    for index in range(len(values)):
        out[index] = values[index]


@kernel
def dot(values: tuple[int, ...], weights: np.ndarray) -> int:
    """The sum of the values, each times its weight."""
    total = 0
    for index in range(len(values)):
        total += values[index] * weights[index]
    return total


@entry
def features_of_rows(game: kernels.Tag, rows: np.ndarray, out: np.ndarray) -> None:
    """`out` int64[B, F] holds every row's features."""
    for index in range(rows.shape[0]):
        features(game, rows[index], out[index])


# Oware. A side is one number, eight bits a house; a set of its houses has the highest bit of each.

ONE_EACH: Final = 0x010101010101
MARKS: Final = 0x808080808080
HEAVY: Final = 2 * oware.HOUSES
SHARE_BITS: Final = 10


def places_reached() -> np.ndarray:
    """The other side's house, marked, in which a sowing ends, by house and seeds; 0 if it ends elsewhere or laps."""
    reached = np.zeros((oware.HOUSES, oware.SEEDS + 1), np.int64)
    for house in range(oware.HOUSES):
        for seeds in range(oware.HOUSES - house, 2 * oware.HOUSES - house):
            reached[house, seeds] = 0x80 << 8 * (house + seeds - oware.HOUSES)
    return reached


def percents() -> np.ndarray:
    """One in percent of so many seeds, times `1 << SHARE_BITS`; for no seeds, of one."""
    return np.array([(100 << SHARE_BITS) // max(1, seeds) for seeds in range(oware.SEEDS + 1)])


REACHED = places_reached()
PERCENT = percents()


@kernel
def oware_features(row: np.ndarray) -> tuple[int, ...]:
    """See `FEATURES`."""
    mover = row[MOVER]
    own, other = row[oware.SIDES + mover], row[oware.SIDES + 1 - mover]
    lead = row[oware.STORES + mover] - row[oware.STORES + 1 - mover]
    left = oware.SEEDS - row[oware.STORES] - row[oware.STORES + 1]
    return (
        1,
        lead,
        lead * PERCENT[left] >> SHARE_BITS,
        oware.seeds_on(own) - oware.seeds_on(other),
        oware.HOUSES - marked(houses_with(own, 1)),
        oware.HOUSES - marked(houses_with(other, 1)),
        marked(houses_with(own, HEAVY)),
        marked(houses_with(other, HEAVY)),
        marked(houses_attacked(own, other)),
        marked(houses_attacked(other, own)),
    )


@kernel
def houses_with(side: int, seeds: int) -> int:
    """The houses of a side with at least so many seeds, from 1 to 128. (No sum reaches the next house's bits.)"""
    return (side + (0x80 - seeds) * ONE_EACH) & MARKS


@kernel
def marked(houses: int) -> int:
    """How many houses a set has."""
    return oware.seeds_on(houses >> 7)


@kernel
def houses_attacked(attacker: int, side: int) -> int:
    """The houses of a side with one or two seeds in which a sowing of the attacker's side ends that does not lap."""
    ends = 0
    for house in range(oware.HOUSES):
        ends |= REACHED[house, oware.seeds_in(attacker, house)]
    return ends & houses_with(side, 1) & ~houses_with(side, 3)


@kernel
def toguz_kumalak_features(row: np.ndarray) -> tuple[int, ...]:
    """See `FEATURES`."""
    mover = row[MOVER]
    return 1, row[toguz_kumalak.STORES + mover] - row[toguz_kumalak.STORES + 1 - mover]


@kernel
def uisge_features(row: np.ndarray) -> tuple[int, ...]:
    """See `FEATURES`."""
    mover = row[MOVER]
    return 1, uisge.kings_of(row, mover) - uisge.kings_of(row, 1 - mover)


@kernel
def eiyiu_features(row: np.ndarray) -> tuple[int, ...]:
    """See `FEATURES`."""
    return 1, eiyiu.winning_turns(row)
