"""What the tuned evaluation counts in a position: a few small whole numbers a game, seen from the player to move.

Each game has one kernel that returns its features as a tuple, in the order of their names in `FEATURES`. Both the tuning, which
writes them out, and the evaluation, which only weighs them, call that kernel; a tuple lives in registers, so it needs no room.
In Eiyiu the player to move is the one whose turn it is, also while chance deals.
"""

from typing import Final

import numpy as np

from envs.engine import kernels
from envs.engine.bits import lowest, size
from envs.engine.header import CHANCE, MOVER, NONE, OWARE, TOGUZ_KUMALAK, UISGE
from envs.engine.jit import entry, kernel, routine
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
        "lead_share": "the lead in percent of the seeds on the board, rounded down",
        "seeds": "seeds on the own side less those on the other's",
        **{
            f"tuzdyk_{number}": f"1 if the own tuzdyk is the other's hole {number}, less 1 if the other's is that of the own"
            for number in range(1, toguz_kumalak.SIDE)
        },
        "tuzdyk_seeds": "seeds on the board if only the player has a tuzdyk, minus that if only the other has, else 0",
        "own_moves": "own holes with seeds",
        "other_moves": "the other's holes with seeds",
        "own_singles": "own holes with one seed",
        "other_singles": "the other's holes with one seed",
        "own_heavy": "own holes with twelve seeds or more",
        "other_heavy": "the other's holes with twelve seeds or more",
        "attacks": "the other's holes with an odd number of seeds in which an own sowing of less than a lap ends",
        "attacked": "own holes with an odd number of seeds in which such a sowing of the other's ends",
        "tuzdyk_attacks": "the other's holes that such an own sowing makes the own tuzdyk",
        "tuzdyk_attacked": "own holes that such a sowing of the other's makes its tuzdyk",
    },
    "uisge": {
        "tempo": "1: being to move",
        **{f"kings_{kings}": f"1 if the player has {kings} kings or more, less 1 if the other has" for kings in range(1, 6)},
        "flips": "own pawns that can jump now",
        "other_flips": "the other's pawns with a jump before them whose leaving splits no group",
        "wins": "1 if a jump makes all own pieces kings",
        "other_wins": "1 if one of the other's `other_flips` would make all its pieces kings",
        "moves": "legal moves",
        "other_loose": "the other's pieces whose leaving splits no group",
    },
    "eiyiu": {
        "tempo": "1: being to move",
        "wins": "1 if the player can win in this turn without a draw",
        "draw_wins": "percent of the hidden numbers that win if drawn, rounded down; 0 where no draw is possible or needed",
        "threats": "while tiles are laid, pairs of a number in a pile and a free cell on which it would win",
        "order": "while tiles are laid, tiles on the board, negative if they are odd: the player then lays the last one",
        "early_order": "the same with fewer than seven tiles on the board, as 1 or -1",
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


@kernel
def ahead(own: int, other: int, least: int) -> int:
    """1 if only `own` is at least so much, -1 if only `other` is, else 0."""
    return int(own >= least) - int(other >= least)


# Of both games of sowing.

SHARE_BITS: Final = 10


def percents() -> np.ndarray:
    """One in percent of so many seeds, times `1 << SHARE_BITS`; for no seeds, of one."""
    return np.array([(100 << SHARE_BITS) // max(1, seeds) for seeds in range(toguz_kumalak.SEEDS + 1)])


PERCENT = percents()


@kernel
def share(lead: int, seeds: int) -> int:
    """The lead in percent of so many seeds, rounded down."""
    return lead * PERCENT[seeds] >> SHARE_BITS


# Oware. A side is one number, eight bits a house; a set of its houses has the highest bit of each.

ONE_EACH: Final = 0x010101010101
MARKS: Final = 0x808080808080
LAP: Final = 2 * oware.HOUSES


def places_reached() -> np.ndarray:
    """The other side's house, marked, in which a sowing ends, by house and seeds; 0 if it ends elsewhere or laps."""
    reached = np.zeros((oware.HOUSES, oware.SEEDS + 1), np.int64)
    for house in range(oware.HOUSES):
        for seeds in range(oware.HOUSES - house, 2 * oware.HOUSES - house):
            reached[house, seeds] = 0x80 << 8 * (house + seeds - oware.HOUSES)
    return reached


REACHED = places_reached()


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
        share(lead, left),
        oware.seeds_on(own) - oware.seeds_on(other),
        oware.HOUSES - marked(houses_with(own, 1)),
        oware.HOUSES - marked(houses_with(other, 1)),
        marked(houses_with(own, LAP)),
        marked(houses_with(other, LAP)),
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


# Toguz Kumalak. A set of a side's holes has one bit each.

HEAVY: Final = 12
NOT_LAST: Final = (1 << toguz_kumalak.SIDE - 1) - 1
SIDE_HOLES: Final = (1 << toguz_kumalak.SIDE) - 1


@kernel
def toguz_kumalak_features(row: np.ndarray) -> tuple[int, ...]:
    """See `FEATURES`."""
    mover = row[MOVER]
    own = row[toguz_kumalak.HOLES + toguz_kumalak.SIDE * mover :]
    other = row[toguz_kumalak.HOLES + toguz_kumalak.SIDE * (1 - mover) :]
    lead = row[toguz_kumalak.STORES + mover] - row[toguz_kumalak.STORES + 1 - mover]
    left = toguz_kumalak.SEEDS - row[toguz_kumalak.STORES] - row[toguz_kumalak.STORES + 1]
    own_tuzdyk, other_tuzdyk = tuzdyk_bit(row, mover), tuzdyk_bit(row, 1 - mover)
    own_seeds, own_filled, own_odd, own_one, own_two, own_heavy = counted(own)
    other_seeds, other_filled, other_odd, other_one, other_two, other_heavy = counted(other)
    reached, threatened = ends_beyond(own), ends_beyond(other)
    return (
        1,
        lead,
        share(lead, left),
        own_seeds - other_seeds,
        (own_tuzdyk & 1) - (other_tuzdyk & 1),
        (own_tuzdyk >> 1 & 1) - (other_tuzdyk >> 1 & 1),
        (own_tuzdyk >> 2 & 1) - (other_tuzdyk >> 2 & 1),
        (own_tuzdyk >> 3 & 1) - (other_tuzdyk >> 3 & 1),
        (own_tuzdyk >> 4 & 1) - (other_tuzdyk >> 4 & 1),
        (own_tuzdyk >> 5 & 1) - (other_tuzdyk >> 5 & 1),
        (own_tuzdyk >> 6 & 1) - (other_tuzdyk >> 6 & 1),
        (own_tuzdyk >> 7 & 1) - (other_tuzdyk >> 7 & 1),
        left * ahead(own_tuzdyk, other_tuzdyk, 1),
        holes_in(own_filled),
        holes_in(other_filled),
        holes_in(own_one),
        holes_in(other_one),
        holes_in(own_heavy),
        holes_in(other_heavy),
        holes_in(reached & other_odd),
        holes_in(threatened & own_odd),
        holes_in(reached & other_two & may_become_tuzdyk(own_tuzdyk, other_tuzdyk)),
        holes_in(threatened & own_two & may_become_tuzdyk(other_tuzdyk, own_tuzdyk)),
    )


@kernel
def holes_in(holes: int) -> int:
    """How many holes a set of one side's has."""
    return toguz_kumalak.LEGAL_COUNT[holes]


@kernel
def tuzdyk_bit(row: np.ndarray, player: int) -> int:
    """The player's tuzdyk, as a set of the holes of the other side."""
    number = toguz_kumalak.tuzdyk_number(row, player)
    return 1 << number >> 1


@kernel
def may_become_tuzdyk(tuzdyk: int, others_tuzdyk: int) -> int:
    """The holes in which a player with such a tuzdyk, or none, may make one, while the other has that one, or none."""
    return 0 if tuzdyk else NOT_LAST & ~others_tuzdyk


@kernel
def counted(holes: np.ndarray) -> tuple[int, int, int, int, int, int]:
    """The seeds of the first nine holes, then which of these have any, an odd number, one, two, and `HEAVY` or more."""
    seeds, filled, odd, one, two, heavy = 0, 0, 0, 0, 0, 0
    for hole in range(toguz_kumalak.SIDE):
        here = holes[hole]
        seeds += here
        filled |= (here > 0) << hole
        odd |= (here & 1) << hole
        one |= (here == 1) << hole
        two |= (here == 2) << hole
        heavy |= (here >= HEAVY) << hole
    return seeds, filled, odd, one, two, heavy


@kernel
def ends_beyond(holes: np.ndarray) -> int:
    """The holes of the other side in which a sowing from one of the first nine holes ends that does not come round."""
    ends = 0
    for hole in range(toguz_kumalak.SIDE):
        seeds = holes[hole]
        last = hole + seeds - (seeds > 1)
        ends |= (1 << min(last, toguz_kumalak.ALL)) if seeds else 0
    return ends >> toguz_kumalak.SIDE & SIDE_HOLES


# Uisge.


@kernel
def uisge_features(row: np.ndarray) -> tuple[int, ...]:
    """See `FEATURES`."""
    mover = row[MOVER]
    pieces = row[uisge.PIECES] | row[uisge.PIECES + 1]
    other_pawns = row[uisge.PIECES + 1 - mover] & ~row[uisge.KINGS]
    own_kings, other_kings = uisge.kings_of(row, mover), uisge.kings_of(row, 1 - mover)
    moves, flips = moves_and_flips(row)
    loose = uisge.loose_pieces(row[uisge.PIECES + 1 - mover], pieces)
    other_flips = size(loose & other_pawns & before_jumps(pieces))
    return (
        1,
        ahead(own_kings, other_kings, 1),
        ahead(own_kings, other_kings, 2),
        ahead(own_kings, other_kings, 3),
        ahead(own_kings, other_kings, 4),
        ahead(own_kings, other_kings, 5),
        flips,
        other_flips,
        int(flips > 0 and own_kings == size(row[uisge.PIECES + mover]) - 1),
        int(other_flips > 0 and other_kings == size(row[uisge.PIECES + 1 - mover]) - 1),
        moves,
        size(loose),
    )


@kernel
def moves_and_flips(row: np.ndarray) -> tuple[int, int]:
    """The mover's legal moves, a pass not counted, and how many of its pawns have one."""
    moves, movable = 0, 0
    for direction in range(uisge.DIRECTIONS):
        squares = row[uisge.LEGAL + direction]
        moves += size(squares)
        movable |= squares
    return moves, size(movable & ~row[uisge.KINGS])


@kernel
def before_jumps(pieces: int) -> int:
    """The squares from which there is a straight jump, over a neighbour onto a free square."""
    free = uisge.BOARD & ~pieces
    up = (pieces >> 8 & free >> 16) | (pieces << 8 & free << 16)
    return up | (pieces >> 1 & free >> 2) | (pieces << 1 & free << 2)


# Eiyiu.


EARLY: Final = 7  # tiles on the board; from then on, wins while laying are rare


@kernel
def eiyiu_features(row: np.ndarray) -> tuple[int, ...]:
    """See `FEATURES`."""
    if row[eiyiu.OPEN] | row[eiyiu.HIDDEN] == 0 and (row[eiyiu.HAND] == NONE or row[eiyiu.ORIGIN] != NONE):
        return 1, int(eiyiu.winning_turns(row) > 0), 0, 0, 0, 0
    fitting, threats = fitting_and_threats(row)
    wins = wins_without_draw(row, fitting)
    laid = eiyiu.tiles_laid(row)
    order = 1 - 2 * (laid & 1)
    return 1, wins, 0 if wins else draw_wins(row, fitting, laid), threats, order * laid, order if laid < EARLY else 0


@routine
def fitting_and_threats(row: np.ndarray) -> tuple[int, int]:
    """While tiles are laid: one bit for each number that wins on some cell, and how many pairs of such a cell and a number in
    a pile there are. With no tile in hand `LAYS` is overwritten."""
    if row[eiyiu.HAND] == NONE:
        eiyiu.find_lays(row)
    in_piles = row[eiyiu.OPEN] | row[eiyiu.HIDDEN]
    fitting, threats = 0, 0
    for strip in range(eiyiu.STRIPS):
        cells = row[eiyiu.LAYS + strip]
        while cells:
            numbers = eiyiu.fitting_numbers(row, eiyiu.STRIP * strip + lowest(cells))
            cells &= cells - 1
            fitting |= numbers
            threats += size(numbers & in_piles)
    return fitting, threats


@kernel
def wins_without_draw(row: np.ndarray, fitting: int) -> int:
    """1 if, while tiles are laid, the tile in hand or else one of the open pile is of the fitting numbers, else 0."""
    if row[eiyiu.HAND] != NONE:
        return fitting >> row[eiyiu.HAND] % eiyiu.NUMBERS & 1
    return int(row[MOVER] != CHANCE and fitting & row[eiyiu.OPEN] != 0)


@kernel
def draw_wins(row: np.ndarray, fitting: int, laid: int) -> int:
    """The percentage of the hidden numbers that are of the fitting ones, if one may be drawn in this turn, else 0."""
    if row[eiyiu.HAND] != NONE or row[eiyiu.HIDDEN] == 0 or laid < 2:
        return 0
    return 100 * size(fitting & row[eiyiu.HIDDEN]) // size(row[eiyiu.HIDDEN])
