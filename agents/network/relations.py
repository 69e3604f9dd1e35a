"""What the numbers of an observation are to each other, and what an action is about: rows that an encoding adds.

All of it is counted on the board as it lies, in the mover's frame; no move is played. A position's relations are rows of the
embedding. An action's are rows of the policy's head: its logit is weighed by their sum, so that what is learned of one action
serves all that are alike.

- Oware: where each house's last seed would fall, what lies there and just before; the same for the houses one may sow.
- Toguz Kumalak: where each hole's last seed would fall, and the kind of hole that this is.
- Uisge: what stands on each three squares in a row; the piece of a move, what it passes and where it ends.
- Eiyiu: the numbers that would complete a run of 15 and whether there are tiles of them left; of a tile laid, the runs that it
  joins, the numbers that they would then lack, and those that its cell lacked.
"""

from typing import Final

import numpy as np

from envs.engine.header import EIYIU, OWARE, TOGUZ_KUMALAK, UISGE
from envs.engine.jit import kernel
from envs.engine.kernels import Tag

NO_ROW: Final = -1  # ends a list of rows
NOWHERE: Final = -1

# Oware, the houses of both sides
HOUSES: Final = 12
FEW: Final = 4  # kinds of a house by its seeds: 0, 1, 2, more

# Toguz Kumalak, the holes of both sides
HOLES: Final = 18
# The kinds of a hole by its seeds. An odd number may be captured, two may become a tuzdyk, other even numbers are alike.
KINDS: Final = np.array([0, 1, 2, 3, 4, 5, 4, 6, 4, 7, 4, 8, 4, 9, 4, 9, 4, 10, 4, 10, 4, 10, 4, 11])
MANY: Final = len(KINDS) - 2  # seeds from which on kinds repeat
TUZDYK: Final = 12  # the kind of a hole that is one
OWN_TUZDYK: Final = HOLES + 2  # where an observation names it, the other's behind it

# Uisge
FILES: Final = 7
RANKS: Final = 6
BOARD: Final = FILES * RANKS
KINDS_OF_SQUARE: Final = 5  # empty, own pawn and king, the other's
EMPTY: Final = 0
OWN_PAWN: Final = 1
ROW_OF_THREE: Final = KINDS_OF_SQUARE**3
THREES: Final = RANKS * (FILES - 2) + FILES * (RANKS - 2)
DIRECTIONS: Final = 8
RIGHT: Final = np.array([0, 1, 1, 1, 0, -1, -1, -1])  # files and ranks of a step, by direction
UP: Final = np.array([1, 1, 0, -1, -1, -1, 0, 1])
WAYS: Final = 3  # a pawn jumps, a king jumps, a king steps

# Eiyiu
WIDTH: Final = 20
CELLS: Final = WIDTH * WIDTH
NUMBERS: Final = 9
SUM: Final = 15
TILES: Final = 2 * NUMBERS
OPEN: Final = CELLS  # where an observation has them
HIDDEN: Final = OPEN + NUMBERS
HAND: Final = HIDDEN + NUMBERS
DRAW: Final = NUMBERS  # the action
CELL: Final = NUMBERS + 1  # the first of the actions that name a cell
LINES: Final = 4
ALONG: Final = np.array([1, 0, 1, 1])  # columns and rows of a step along each line
ACROSS: Final = np.array([0, 1, 1, -1])
COUNTED: Final = 4  # cells on which a number fits, or is safe: 0, 1, 2, more
SUPPLY: Final = 4  # of a number: none in a pile, one in the open or the hidden one, one in each
SUMS: Final = SUM + 2  # of a run: up to 15, more

# Rows of the embedding in all, and how many of them an observation picks at most and usually.
POSITION_ROWS: Final[dict[str, tuple[int, int, int]]] = {
    "oware": (HOUSES * HOUSES * FEW * FEW, HOUSES, 9),
    "toguz_kumalak": (HOLES * HOLES * (TUZDYK + 1), HOLES, 15),
    "uisge": (THREES * ROW_OF_THREE, THREES, 36),
    "eiyiu": (2 * NUMBERS * COUNTED * SUPPLY + COUNTED + TILES + 1, 2 * NUMBERS + 2, 2 * NUMBERS + 2),
}
FITS: Final = 0  # where Eiyiu's kinds of action rows begin
FITS_OF_DRAW: Final = FITS + COUNTED * COUNTED
UNSAFE_DRAWS: Final = FITS_OF_DRAW + NUMBERS * (NUMBERS + 1)
LIFTED: Final = UNSAFE_DRAWS + NUMBERS * (NUMBERS + 1)
RUNS: Final = LIFTED + NUMBERS
LACKS: Final = RUNS + 2 * SUMS
LACKED: Final = LACKS + NUMBERS * SUPPLY
EIYIU_ROWS: Final = LACKED + NUMBERS * SUPPLY
# Rows of the policy's head behind those of the actions themselves, and how many of them an action picks at most.
ACTION_ROWS: Final[dict[str, tuple[int, int]]] = {
    "oware": (HOUSES // 2 * HOUSES * FEW, 1),
    "toguz_kumalak": (HOLES // 2 * HOLES * (TUZDYK + 1), 1),
    "uisge": (2 * KINDS_OF_SQUARE * DIRECTIONS + WAYS * BOARD, 2),
    "eiyiu": (EIYIU_ROWS, 4 * LINES),
}


@kernel
def pick_relations(game: Tag, observation: np.ndarray, first: int, rows: np.ndarray, count: int) -> int:
    """The rows of a position's relations follow the `count` that are there; returns how many there are now."""
    if len(game) == OWARE:
        return oware_relations(observation, first, rows, count)
    if len(game) == TOGUZ_KUMALAK:
        return toguz_kumalak_relations(observation, first, rows, count)
    if len(game) == UISGE:
        return uisge_relations(observation, first, rows, count)
    return eiyiu_relations(observation, first, rows, count)


@kernel
def survey(game: Tag, observation: np.ndarray) -> tuple[int, int]:
    """What a position's actions share, counted once: in Eiyiu, with no tile in hand, fitting and safe cells."""
    if len(game) == EIYIU and observation[HAND] == 0:
        return fitting_cells(observation), safe_cells(observation)
    return 0, 0


@kernel
def pick_action_rows(
    game: Tag, observation: np.ndarray, surveyed: tuple[int, int], action: int, first: int, rows: np.ndarray, count: int
) -> int:
    """The same for an action, but rows of the policy's head."""
    if len(game) == OWARE:
        rows[count] = first + (action * HOUSES + oware_last(observation, action)) * FEW
        rows[count] += min(int(observation[oware_last(observation, action)]), FEW - 1)
        return count + 1
    if len(game) == TOGUZ_KUMALAK:
        rows[count] = first + toguz_kumalak_relation(observation, action)
        return count + 1
    if len(game) == UISGE:
        return uisge_action(observation, action, first, rows, count)
    return eiyiu_action(observation, surveyed, action, first, rows, count)


# Oware


@kernel
def oware_relations(observation: np.ndarray, first: int, rows: np.ndarray, count: int) -> int:
    """For each house with seeds: where its last seed falls, and whether none, one, two or more lie there and just before."""
    for house in range(HOUSES):
        if observation[house] > 0:
            last = oware_last(observation, house)
            there = min(int(observation[last]), FEW - 1)
            before = min(int(observation[(last + HOUSES - 1) % HOUSES]), FEW - 1)
            rows[count] = first + ((house * HOUSES + last) * FEW + there) * FEW + before
            count += 1
    return count


@kernel
def oware_last(observation: np.ndarray, house: int) -> int:
    """The house in which the last seed falls; the house of origin is passed over on every lap."""
    seeds = int(observation[house])
    return (house + seeds + max(seeds - 1, 0) // (HOUSES - 1)) % HOUSES


# Toguz Kumalak


@kernel
def toguz_kumalak_relations(observation: np.ndarray, first: int, rows: np.ndarray, count: int) -> int:
    """For each hole with seeds: where its last seed falls, and the kind of hole that this is."""
    for hole in range(HOLES):
        if observation[hole] > 0:
            rows[count] = first + toguz_kumalak_relation(observation, hole)
            count += 1
    return count


@kernel
def toguz_kumalak_relation(observation: np.ndarray, hole: int) -> int:
    """The hole, where its last seed falls and the kind of hole that this is, as one number."""
    last = (hole + max(int(observation[hole]) - 1, 1)) % HOLES
    there = int(observation[last])
    kind = int(KINDS[there if there < MANY else MANY + (there & 1)])
    own_tuzdyk = HOLES // 2 - 1 + int(observation[OWN_TUZDYK])
    if (last == own_tuzdyk and observation[OWN_TUZDYK] > 0) or last == int(observation[OWN_TUZDYK + 1]) - 1:
        kind = TUZDYK
    return (hole * HOLES + last) * (TUZDYK + 1) + kind


# Uisge


@kernel
def uisge_relations(observation: np.ndarray, first: int, rows: np.ndarray, count: int) -> int:
    """What stands on each three squares in a row, along ranks and files, if anything does."""
    for rank in range(RANKS):
        for file in range(FILES - 2):
            count = pick_three(observation, rank * FILES + file, 1, first, rows, count)
            first += ROW_OF_THREE
    for square in range(FILES * (RANKS - 2)):
        count = pick_three(observation, square, FILES, first, rows, count)
        first += ROW_OF_THREE
    return count


@kernel
def pick_three(observation: np.ndarray, square: int, step: int, first: int, rows: np.ndarray, count: int) -> int:
    """The row of three squares follows, unless they are empty."""
    kind = 0
    for index in range(3):
        kind = KINDS_OF_SQUARE * kind + min(int(observation[square + index * step]), KINDS_OF_SQUARE - 1)
    if kind == 0:
        return count
    rows[count] = first + kind
    return count + 1


@kernel
def uisge_action(observation: np.ndarray, action: int, first: int, rows: np.ndarray, count: int) -> int:
    """Of a move: the piece, what stands beside it in the move's direction; how and where it ends. Of a pass nothing."""
    square, direction = action // DIRECTIONS, action % DIRECTIONS
    if square >= BOARD:
        return count
    step = UP[direction] * FILES + RIGHT[direction]
    beside = square + step
    if not (0 <= beside < BOARD):  # no legal action goes there
        return count
    king = int(observation[square] != OWN_PAWN)
    neighbour = min(int(observation[beside]), KINDS_OF_SQUARE - 1)
    target = beside if neighbour == EMPTY else beside + step
    if not (0 <= target < BOARD):
        return count
    way = 2 if neighbour == EMPTY else king
    rows[count] = first + (king * KINDS_OF_SQUARE + neighbour) * DIRECTIONS + direction
    rows[count + 1] = first + 2 * KINDS_OF_SQUARE * DIRECTIONS + way * BOARD + target
    return count + 2


# Eiyiu


@kernel
def eiyiu_relations(observation: np.ndarray, first: int, rows: np.ndarray, count: int) -> int:
    """For each number its supply and on how many cells it fits, and is safe; on how many the hand fits; tiles on the board."""
    fits, safe = fitting_cells(observation), safe_cells(observation)
    for number in range(1, NUMBERS + 1):
        supplied = supply(observation, number)
        rows[count] = first + ((number - 1) * COUNTED + counted(fits, number)) * SUPPLY + supplied
        rows[count + 1] = first + ((NUMBERS + number - 1) * COUNTED + counted(safe, number)) * SUPPLY + supplied
        count += 2
    first += 2 * NUMBERS * COUNTED * SUPPLY
    rows[count] = first + (counted(fits, int(observation[HAND])) if observation[HAND] > 0 else 0)
    first += COUNTED
    rows[count + 1] = first + min(tiles_on_board(observation), TILES)
    return count + 2


@kernel
def fitting_cells(observation: np.ndarray) -> int:
    """Six bits a number, of 1 lowest: on how many free cells beside a tile it would complete a run of 15."""
    fits = 0
    for cell in range(CELLS):
        if is_free_cell(observation, cell):
            numbers = 0
            for line in range(LINES):
                lack = lacking(observation, cell, line)
                if 0 < lack <= NUMBERS:
                    numbers |= 1 << (6 * (lack - 1))
            fits += numbers
    return fits


@kernel
def safe_cells(observation: np.ndarray) -> int:
    """The same, but on how many such cells it would leave no run at whose end another number of the open pile fits."""
    mirrored = 0  # one bit a number of the open pile, of 9 lowest
    for number in range(1, NUMBERS + 1):
        mirrored |= (observation[OPEN + number - 1] != 0) << (NUMBERS - number)
    safe = 0
    for cell in range(CELLS):
        if is_free_cell(observation, cell):
            unsafe = unsafe_numbers(observation, cell, mirrored)
            for number in range(NUMBERS):
                safe += (~(unsafe >> number) & 1) << (6 * number)
    return safe


@kernel
def unsafe_numbers(observation: np.ndarray, cell: int, mirrored: int) -> int:
    """One bit a number, of 1 lowest, that laid on the free cell makes another of the open pile complete a run of 15."""
    column, row = cell % WIDTH, cell // WIDTH
    unsafe = 0
    for line in range(LINES):
        along, across = ALONG[line], ACROSS[line]
        ahead, sum_ahead = tiles_beyond(observation, column, row, along, across)
        behind, sum_behind = tiles_beyond(observation, column, row, -along, -across)
        for way in range(2):
            step = ahead + 1 if way == 0 else -behind - 1
            beyond, sum_beyond = tiles_past_end(observation, column, row, line, step)
            both = SUM - sum_ahead - sum_behind - sum_beyond  # the sum that the number laid and the other one must have
            if beyond >= 0 and ahead + behind + beyond > 0 and both > 1:
                found = mirrored << (both - NUMBERS - 1) if both > NUMBERS else mirrored >> (NUMBERS + 1 - both)
                if both % 2 == 0:
                    found &= ~(1 << (both // 2 - 1))  # twice the same number: the open pile has it once
                unsafe |= found
    return unsafe & ((1 << NUMBERS) - 1)


@kernel
def counted(fits: int, number: int) -> int:
    """The kind of a number by how many cells it fits on."""
    return min((fits >> (6 * (number - 1))) & 63, COUNTED - 1)


@kernel
def supply(observation: np.ndarray, number: int) -> int:
    """One bit if a tile of the number is in the open pile, two if one is in the hidden pile."""
    return (observation[OPEN + number - 1] != 0) + 2 * (observation[HIDDEN + number - 1] != 0)


@kernel
def tiles_on_board(observation: np.ndarray) -> int:
    """How many tiles lie on cells."""
    tiles = 0
    for cell in range(CELLS):
        tiles += observation[cell] != 0
    return tiles


@kernel
def number_at(observation: np.ndarray, column: int, row: int) -> int:
    """The number on the cell, 0 where it is free or outside the window."""
    if 0 <= column < WIDTH and 0 <= row < WIDTH:
        return int(observation[row * WIDTH + column])
    return 0


@kernel
def is_beside_tile(observation: np.ndarray, column: int, row: int) -> bool:
    """Whether a tile lies on one of the four cells beside."""
    sides = number_at(observation, column - 1, row) + number_at(observation, column + 1, row)
    return sides + number_at(observation, column, row - 1) + number_at(observation, column, row + 1) > 0


@kernel
def is_free_cell(observation: np.ndarray, cell: int) -> bool:
    """Whether a tile may be laid on the cell."""
    return observation[cell] == 0 and is_beside_tile(observation, cell % WIDTH, cell // WIDTH)


@kernel
def tiles_beyond(observation: np.ndarray, column: int, row: int, along: int, across: int) -> tuple[int, int]:
    """How many tiles follow each other from the cell on, itself excluded, in that direction, and their sum."""
    count, total = 0, 0
    while True:
        column += along
        row += across
        number = number_at(observation, column, row)
        if number == 0:
            return count, total
        count += 1
        total += number


@kernel
def tiles_past_end(observation: np.ndarray, column: int, row: int, line: int, step: int) -> tuple[int, int]:
    """The tiles that follow each other behind the free cell at the end of a run, and their sum; -1 if no tile can lie there.

    The end is so many steps along the line from the cell, on which a tile is about to lie; on a diagonal no tile of the run
    lies beside it.
    """
    along, across = ALONG[line], ACROSS[line]
    column, row = column + step * along, row + step * across
    if along * across != 0 and not is_beside_tile(observation, column, row):
        return -1, 0
    sign = 1 if step > 0 else -1
    return tiles_beyond(observation, column, row, sign * along, sign * across)


@kernel
def lacking(observation: np.ndarray, cell: int, line: int) -> int:
    """The number that on the free cell would complete a run of 15 along the line; 0 if none can."""
    column, row = cell % WIDTH, cell // WIDTH
    ahead, sum_ahead = tiles_beyond(observation, column, row, ALONG[line], ACROSS[line])
    behind, sum_behind = tiles_beyond(observation, column, row, -ALONG[line], -ACROSS[line])
    if ahead + behind < 2:
        return 0
    return max(SUM - sum_ahead - sum_behind, 0)


@kernel
def eiyiu_action(
    observation: np.ndarray, surveyed: tuple[int, int], action: int, first: int, rows: np.ndarray, count: int
) -> int:
    """Of a tile taken, on how many cells it fits and is safe; of a draw, how many of the hidden tiles fit somewhere, and are
    safe nowhere; of a tile lifted, its number; of one laid, see `eiyiu_lay`."""
    if observation[HAND] > 0:
        return eiyiu_lay(observation, action - CELL, int(observation[HAND]), first, rows, count)
    if action >= CELL:
        rows[count] = first + LIFTED + max(int(observation[action - CELL]) - 1, 0)
        return count + 1
    fits, safe = surveyed
    if action < DRAW:
        rows[count] = first + FITS + counted(fits, action + 1) * COUNTED + counted(safe, action + 1)
        return count + 1
    hidden, fitting, unsafe = 0, 0, 0
    for number in range(1, NUMBERS + 1):
        if observation[HIDDEN + number - 1] != 0:
            hidden += 1
            fitting += counted(fits, number) > 0
            unsafe += counted(safe, number) == 0
    shares = (max(hidden, 1) - 1) * (NUMBERS + 1)  # so many of so many: the chance to draw one
    rows[count] = first + FITS_OF_DRAW + shares + fitting
    rows[count + 1] = first + UNSAFE_DRAWS + shares + unsafe
    return count + 2


@kernel
def eiyiu_lay(observation: np.ndarray, cell: int, hand: int, first: int, rows: np.ndarray, count: int) -> int:
    """Along each line: the run that the tile joins and its sum, the numbers lacking at its ends, that lacked on the cell."""
    if cell < 0:
        return count
    column, row = cell % WIDTH, cell // WIDTH
    for line in range(LINES):
        along, across = ALONG[line], ACROSS[line]
        ahead, sum_ahead = tiles_beyond(observation, column, row, along, across)
        behind, sum_behind = tiles_beyond(observation, column, row, -along, -across)
        others, total = ahead + behind, hand + sum_ahead + sum_behind
        if others > 0:
            rows[count] = first + RUNS + (others > 1) * SUMS + min(total, SUMS - 1)
            count += 1
        lacked = SUM - sum_ahead - sum_behind
        if others > 1 and 0 < lacked <= NUMBERS and lacked != hand:
            rows[count] = first + LACKED + (lacked - 1) * SUPPLY + supply(observation, lacked)
            count += 1
        for way in range(2):
            step = ahead + 1 if way == 0 else -behind - 1
            beyond, sum_beyond = tiles_past_end(observation, column, row, line, step)
            lacks = SUM - total - sum_beyond
            if beyond >= 0 and others + beyond > 0 and 0 < lacks <= NUMBERS:
                rows[count] = first + LACKS + (lacks - 1) * SUPPLY + supply(observation, lacks)
                count += 1
    return count
