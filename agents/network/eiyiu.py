"""What the numbers of Eiyiu's tiles are to each other: rows that the encoding `relations` adds, see `agents.network.relations`.

A number fits on a free cell if it would complete a run of 15 there. A tile exposes the numbers that fit somewhere once it
lies: the other player may take them, if they are open, or draw them. Where no pile has a tile left every number counts as open,
as tiles of all lie on the board to be moved. Of each number, and of each tile to take, to lift or to lay, it is counted on how
many cells it fits and what it exposes at least; of a tile to lay also the sums of the runs that it joins.
"""

from typing import Final, TypeAlias

import numpy as np

from envs.engine.jit import kernel

WIDTH: Final = 20
CELLS: Final = WIDTH * WIDTH
NUMBERS: Final = 9
SUM: Final = 15
TILES: Final = 2 * NUMBERS
ALL_NUMBERS: Final = (1 << NUMBERS + 1) - 2  # one bit for each
OPEN: Final = CELLS  # where an observation has them
HIDDEN: Final = OPEN + NUMBERS
HAND: Final = HIDDEN + NUMBERS
DRAW: Final = NUMBERS  # the action
CELL: Final = NUMBERS + 1  # the first of the actions that name a cell
LINES: Final = 4
ALONG: Final = np.array([1, 0, 1, 1])  # columns and rows of a step along each line
ACROSS: Final = np.array([0, 1, 1, -1])
COUNTED: Final = 4  # cells on which a number fits: 0, 1, 2, more
EXPOSED: Final = NUMBERS + 1  # what a tile exposes if another open number fits; else so many hidden ones do
EXPOSURES: Final = EXPOSED + 1
SUPPLY: Final = 4  # of a number: none in a pile, one in the open or the hidden one, one in each
SUMS: Final = SUM + 2  # of a run: up to 15, more

# Rows of the embedding in all, and how many of them a position picks
POSITION_ROWS: Final = NUMBERS * (COUNTED + EXPOSURES) * SUPPLY + COUNTED + TILES + 1
MOST_OF_POSITION: Final = 2 * NUMBERS + 2
# Where each kind of an action's rows begins
FITS: Final = 0
EXPOSES: Final = FITS + COUNTED
FITTING_DRAWS: Final = EXPOSES + (NUMBERS + 1) * EXPOSURES
EXPOSED_DRAWS: Final = FITTING_DRAWS + NUMBERS * (NUMBERS + 1)
EXPOSING_DRAWS: Final = EXPOSED_DRAWS + NUMBERS * (NUMBERS + 1)
LIFTED: Final = EXPOSING_DRAWS + NUMBERS * (NUMBERS + 1)
RUNS: Final = LIFTED + NUMBERS
LACKS: Final = RUNS + 2 * SUMS
LACKED: Final = LACKS + NUMBERS * SUPPLY
ACTION_ROWS: Final = LACKED + NUMBERS * SUPPLY
MOST_OF_ACTION: Final = 4 * LINES + 1

Surveyed: TypeAlias = tuple[int, int, int]


@kernel
def survey(observation: np.ndarray) -> Surveyed:
    """On how many cells each number fits; with no tile in hand the least that each exposes; how many tiles the piles have."""
    fits, piled = fitting_cells(observation), 0
    for place in range(OPEN, HAND):
        piled += observation[place]
    return fits, 0 if observation[HAND] > 0 else least_exposures(observation, fits, piled, 1, NUMBERS), piled


@kernel
def relations(observation: np.ndarray, surveyed: Surveyed, first: int, rows: np.ndarray, count: int) -> int:
    """Of each number its supply, where it fits and, with no tile in hand, the least it exposes; where the hand fits; tiles."""
    fits, least, piled = surveyed
    hand = int(observation[HAND])
    for number in range(1, NUMBERS + 1):
        supplied = supply(observation, number, piled)
        rows[count] = first + ((number - 1) * COUNTED + counted(fits, number)) * SUPPLY + supplied
        count += 1
        if hand == 0:
            exposes = (least >> 4 * (number - 1)) & 15
            rows[count] = first + NUMBERS * COUNTED * SUPPLY + ((number - 1) * EXPOSURES + exposes) * SUPPLY + supplied
            count += 1
    first += NUMBERS * (COUNTED + EXPOSURES) * SUPPLY
    rows[count] = first + (counted(fits, hand) if hand > 0 else 0)
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
def least_exposures(observation: np.ndarray, fits: int, piled: int, lowest: int, highest: int) -> int:
    """Four bits a number, of 1 lowest: the least that it exposes on any free cell beside a tile, see `exposure`.

    It is counted for the numbers from `lowest` to `highest`, of the others it is `EXPOSED`.
    """
    least = 0
    for number in range(1, NUMBERS + 1):
        least |= EXPOSED << 4 * (number - 1)
    for cell in range(CELLS):
        if is_free_cell(observation, cell):
            ends, elsewhere = ends_of_runs(observation, cell), fits_elsewhere(observation, fits, cell)
            for number in range(lowest, highest + 1):
                exposes, shift = exposure(observation, ends, elsewhere, piled, number), 4 * (number - 1)
                if exposes < (least >> shift) & 15:
                    least = (least & ~(15 << shift)) | (exposes << shift)
    return least


@kernel
def exposure(observation: np.ndarray, ends: int, elsewhere: int, piled: int, number: int) -> int:
    """How many hidden numbers would fit somewhere once the number lies on a cell; `EXPOSED` if an open one would.

    `ends` and `elsewhere` are the cell's; runs that the tile lengthens count with what they lacked before, too. With no tile in
    hand, the number itself is taken from the open pile, or is not there from the hidden one.
    """
    held = observation[HAND] > 0
    fitting = elsewhere | mirrored_at(ends, number)
    if piled <= (0 if held else 1):  # the next turn moves a tile
        return EXPOSED if fitting & ALL_NUMBERS else 0
    exposes = 0
    for other in range(1, NUMBERS + 1):
        if (fitting >> other) & 1:
            is_open = observation[OPEN + other - 1] != 0
            if is_open and (held or other != number):
                return EXPOSED
            exposes += observation[HIDDEN + other - 1] != 0 and (held or other != number or is_open)
    return exposes


@kernel
def mirrored_at(ends: int, number: int) -> int:
    """One bit for each number that with this one has a sum of which `ends` has the bit."""
    fitting = 0
    for other in range(1, NUMBERS + 1):
        fitting |= ((ends >> (number + other)) & 1) << other
    return fitting


@kernel
def ends_of_runs(observation: np.ndarray, cell: int) -> int:
    """One bit for each sum that a number on the free cell and another at an end of its run must have to complete 15."""
    column, row = cell % WIDTH, cell // WIDTH
    ends = 0
    for line in range(LINES):
        ahead, sum_ahead = tiles_beyond(observation, column, row, ALONG[line], ACROSS[line])
        behind, sum_behind = tiles_beyond(observation, column, row, -ALONG[line], -ACROSS[line])
        for way in range(2):
            step = ahead + 1 if way == 0 else -behind - 1
            beyond, sum_beyond = tiles_past_end(observation, column, row, line, step)
            both = SUM - sum_ahead - sum_behind - sum_beyond
            if beyond >= 0 and ahead + behind + beyond > 0 and both > 0:
                ends |= 1 << both
    return ends


@kernel
def fits_elsewhere(observation: np.ndarray, fits: int, cell: int) -> int:
    """One bit for each number that fits on another free cell."""
    here = 0
    for line in range(LINES):
        lack = lacking(observation, cell, line)
        if lack <= NUMBERS:
            here |= 1 << lack
    elsewhere = 0
    for number in range(1, NUMBERS + 1):
        elsewhere |= (((fits >> 6 * (number - 1)) & 63) > (here >> number) & 1) << number
    return elsewhere


@kernel
def counted(fits: int, number: int) -> int:
    """The kind of a number by how many cells it fits on."""
    return min((fits >> (6 * (number - 1))) & 63, COUNTED - 1)


@kernel
def supply(observation: np.ndarray, number: int, piled: int) -> int:
    """One bit if a tile of the number is in the open pile, or no pile has any; two if one is in the hidden pile."""
    return 1 if piled == 0 else (observation[OPEN + number - 1] != 0) + 2 * (observation[HIDDEN + number - 1] != 0)


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
def action_relations(
    observation: np.ndarray, surveyed: Surveyed, action: int, first: int, rows: np.ndarray, count: int, after: np.ndarray
) -> int:
    """Of a tile taken, on how many cells it fits and the least it exposes; of a draw, how many hidden tiles fit somewhere, how
    many others must expose an open one, and what the rest exposes; of a tile lifted, its number, and the same as of one taken;
    see also `lay_relations`. `after` is room for an observation."""
    fits, least, piled = surveyed
    if observation[HAND] > 0:
        return lay_relations(observation, fits, piled, action - CELL, int(observation[HAND]), first, rows, count)
    if action >= CELL:
        return lift_relations(observation, action - CELL, first, rows, count, after)
    hidden, fitting, exposed, exposures = 0, 0, 0, 0
    for number in range(1, NUMBERS + 1):
        if observation[HIDDEN + number - 1] != 0:
            exposes = (least >> 4 * (number - 1)) & 15
            hidden += 1
            if counted(fits, number) > 0:
                fitting += 1
            elif exposes == EXPOSED:
                exposed += 1
            else:
                exposures += exposes
    if action < DRAW:
        rows[count] = first + FITS + counted(fits, action + 1)
        rows[count + 1] = first + EXPOSES + hidden * EXPOSURES + ((least >> 4 * action) & 15)
        return count + 2
    shares = (max(hidden, 1) - 1) * (NUMBERS + 1)  # so many of so many: the chance to draw one
    rows[count] = first + FITTING_DRAWS + shares + fitting
    rows[count + 1] = first + EXPOSED_DRAWS + shares + exposed
    rows[count + 2] = first + EXPOSING_DRAWS + shares + exposures // max(hidden - fitting - exposed, 1)
    return count + 3


@kernel
def lift_relations(observation: np.ndarray, cell: int, first: int, rows: np.ndarray, count: int, after: np.ndarray) -> int:
    """The number lifted; on how many cells it fits and the least it exposes where it no longer lies on its cell."""
    number = int(observation[cell])
    if number == 0:
        return count
    for place in range(len(observation)):
        after[place] = observation[place]
    after[cell], after[HAND] = 0, number
    fits = fitting_cells(after)
    least = least_exposures(after, fits, 0, number, number)
    rows[count] = first + LIFTED + number - 1
    rows[count + 1] = first + FITS + counted(fits, number)
    rows[count + 2] = first + EXPOSES + ((least >> 4 * (number - 1)) & 15)
    return count + 3


@kernel
def lay_relations(
    observation: np.ndarray, fits: int, piled: int, cell: int, hand: int, first: int, rows: np.ndarray, count: int
) -> int:
    """What the tile exposes; along each line, the run that it joins and its sum, what lacks at its ends, what lacked here."""
    if cell < 0:
        return count
    hidden = 0
    for number in range(NUMBERS):
        hidden += observation[HIDDEN + number] != 0
    exposes = exposure(observation, ends_of_runs(observation, cell), fits_elsewhere(observation, fits, cell), piled, hand)
    rows[count] = first + EXPOSES + hidden * EXPOSURES + exposes
    count += 1
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
            rows[count] = first + LACKED + (lacked - 1) * SUPPLY + supply(observation, lacked, piled)
            count += 1
        for way in range(2):
            step = ahead + 1 if way == 0 else -behind - 1
            beyond, sum_beyond = tiles_past_end(observation, column, row, line, step)
            lacks = SUM - total - sum_beyond
            if beyond >= 0 and others + beyond > 0 and 0 < lacks <= NUMBERS:
                rows[count] = first + LACKS + (lacks - 1) * SUPPLY + supply(observation, lacks, piled)
                count += 1
    return count
