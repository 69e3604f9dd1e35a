"""What the numbers of Eiyiu's tiles are to each other: rows that the encoding `relations` adds, see `agents.network.relations`.

A number fits on a free cell if it would complete a run of 15 there. A tile exposes the numbers that fit somewhere once it
lies: the other player may take them, if they are open, or draw them. Where no pile has a tile left every number counts as open,
as tiles of all lie on the board to be moved. Of each number, and of each tile to take, to lift or to lay, it is counted on how
many cells it fits and what it exposes at least; of a tile to lay also the sums of the runs that it joins, and which tiles the
other player can then lay without exposing any.
"""

from typing import Final

import numpy as np

from agents.network.surveyed import Surveyed
from envs.engine.bits import size
from envs.engine.jit import kernel

WIDTH: Final = 20
CELLS: Final = WIDTH * WIDTH
NUMBERS: Final = 9
SUM: Final = 15
TILES: Final = 2 * NUMBERS
ALL_NUMBERS: Final = (1 << NUMBERS + 1) - 2  # one bit for each
HIDDEN_BITS: Final = NUMBERS + 1  # where the bits of a second set begin
OPEN: Final = CELLS  # where an observation has them
HIDDEN: Final = OPEN + NUMBERS
HAND: Final = HIDDEN + NUMBERS
DRAW: Final = NUMBERS  # the action
CELL: Final = NUMBERS + 1  # the first of the actions that name a cell
MARGIN: Final = 3  # of free cells on each side of the window; no walk along a line leaves it, wherever one more tile lies
SIDE: Final = WIDTH + 2 * MARGIN
ROOM: Final = SIDE * SIDE  # numbers of a board with its margin; its cells are called places
CORNER: Final = (MARGIN + 1) * (SIDE + 1)  # the lower left place of the box in which tiles lie
LINES: Final = 4
STRAIGHT: Final = 2  # so many of the lines, the first ones, are
STEPS: Final = np.array([1, SIDE, SIDE + 1, 1 - SIDE])  # along each line
SIDES: Final = np.array([1, SIDE, -1, -SIDE])
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
SAFE_TILES: Final = LACKED + NUMBERS * SUPPLY
UNSAFE_DRAWS: Final = SAFE_TILES + (NUMBERS + 1) * (NUMBERS + 1)
ACTION_ROWS: Final = UNSAFE_DRAWS + (NUMBERS + 1) * (NUMBERS + 1)
MOST_OF_ACTION: Final = 4 * LINES + 3

NOWHERE: Final = -1  # no cell


@kernel
def survey(observation: np.ndarray, board: np.ndarray) -> Surveyed:
    """On how many cells each number fits; with no tile in hand the least that each exposes, taken and drawn; the piles; the
    upper right place of the tiles' box. `board` has the tiles from here on, with its margin."""
    last, piles = lay_out(observation, board), piled_numbers(observation)
    fits = fitting_cells(board, CORNER, last)
    if observation[HAND] > 0:
        return fits, 0, 0, piles, last
    taken, drawn = least_exposures(board, CORNER, last, fits, piles, 0, NOWHERE)
    return fits, taken, drawn, piles, last


@kernel
def lay_out(observation: np.ndarray, board: np.ndarray) -> int:
    """`board` has the tiles; returns the upper right place of their box."""
    for place in range(ROOM):
        board[place] = 0
    right, top = 0, 0
    for cell in range(CELLS):
        if observation[cell] != 0:
            board[place_of(cell)] = observation[cell]
            right, top = max(right, cell % WIDTH), cell // WIDTH
    return place_of(WIDTH * top + right)


@kernel
def place_of(cell: int) -> int:
    """Where a cell of the window lies on a board with its margin."""
    return (cell // WIDTH + MARGIN) * SIDE + cell % WIDTH + MARGIN


@kernel
def piled_numbers(observation: np.ndarray) -> int:
    """One bit for each number in the open pile, and above `HIDDEN_BITS` one for each in the hidden pile."""
    piles = 0
    for number in range(1, NUMBERS + 1):
        piles |= (observation[OPEN + number - 1] != 0) << number
        piles |= (observation[HIDDEN + number - 1] != 0) << (HIDDEN_BITS + number)
    return piles


@kernel
def relations(observation: np.ndarray, surveyed: Surveyed, first: int, rows: np.ndarray, count: int) -> int:
    """Of each number its supply, where it fits and, with no tile in hand, the least it exposes, drawn only where none is open;
    where the hand fits; tiles."""
    fits, least, _, piles, _ = surveyed
    hand = int(observation[HAND])
    for number in range(1, NUMBERS + 1):
        supplied = supply(piles, number)
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
def fitting_cells(board: np.ndarray, first: int, last: int) -> int:
    """Six bits a number, of 1 lowest: on how many free cells beside a tile it would complete a run of 15.

    All tiles lie in the box from the place `first`, lower left, to the place `last`, upper right.
    """
    fits = 0
    for row in range(first // SIDE - 1, last // SIDE + 2):
        for place in range(row * SIDE + first % SIDE - 1, row * SIDE + last % SIDE + 2):
            if is_free(board, place):
                numbers = 0
                for line in range(LINES):
                    lack = lacking(board, place, line)
                    if 0 < lack <= NUMBERS:
                        numbers |= 1 << (6 * (lack - 1))
                fits += numbers
    return fits


@kernel
def least_exposures(
    board: np.ndarray, first: int, last: int, fits: int, piles: int, hand: int, forbidden: int
) -> tuple[int, int]:
    """Four bits a number, of 1 lowest: the least that it exposes on any free cell beside a tile but on the forbidden place.

    First where it is taken from the open pile, or from the hidden one if it is in that alone; then where it is drawn. With a
    tile in hand it is counted of that number only, and both are the same; of the others they are `EXPOSED`. Runs that a tile
    lengthens count with what they lacked before, too.
    """
    taken = 0
    for number in range(1, NUMBERS + 1):
        taken |= EXPOSED << 4 * (number - 1)
    drawn = taken
    fitting = fitting_numbers(fits)
    lowest, highest = (hand, hand) if hand > 0 else (1, NUMBERS)
    for row in range(first // SIDE - 1, last // SIDE + 2):
        for place in range(row * SIDE + first % SIDE - 1, row * SIDE + last % SIDE + 2):
            if place == forbidden or not is_free(board, place):
                continue
            here, ends = lacks_and_ends(board, place)
            # elsewhere: what fits on several cells, or not on this one; and on cells that have no tile beside them yet
            elsewhere = fitting & ~here | fitting >> HIDDEN_BITS | fits_beside(board, place)
            for number in range(lowest, highest + 1):
                fit = (elsewhere | (ends >> number)) & ALL_NUMBERS
                shown, hidden = piles & (1 << number), 1 << (HIDDEN_BITS + number)
                undrawn = piles if hand > 0 else piles & ~hidden
                drawn = lessened(drawn, number, exposed(fit, undrawn))
                taken = lessened(taken, number, exposed(fit, piles & ~shown if shown and hand == 0 else undrawn))
    return taken, drawn


@kernel
def lessened(least: int, number: int, exposes: int) -> int:
    """What each number exposes at least, where this one's may be less than before."""
    shift = 4 * (number - 1)
    return (least & ~(15 << shift)) | (min((least >> shift) & 15, exposes) << shift)


@kernel
def exposed(fitting: int, piles: int) -> int:
    """How many of the numbers that fit somewhere are hidden; `EXPOSED` if one is open, or the next turn moves a tile."""
    if fitting != 0 and (piles == 0 or fitting & piles & ALL_NUMBERS):
        return EXPOSED
    return size(fitting & (piles >> HIDDEN_BITS))


@kernel
def fitting_numbers(fits: int) -> int:
    """One bit for each number that fits on a cell, and above `HIDDEN_BITS` one for each that fits on several."""
    fitting = 0
    for number in range(1, NUMBERS + 1):
        cells = (fits >> (6 * (number - 1))) & 63
        fitting |= (cells > 0) << number | (cells > 1) << (HIDDEN_BITS + number)
    return fitting


@kernel
def lacks_and_ends(board: np.ndarray, place: int) -> tuple[int, int]:
    """One bit for each number that fits on the free place, and others above `NUMBERS`; one for each sum that a number there and
    another at an end of its run must have to complete 15."""
    lacks, ends = 0, 0
    for line in range(LINES):
        ahead, sum_ahead = tiles_beyond(board, place, STEPS[line])
        behind, sum_behind = tiles_beyond(board, place, -STEPS[line])
        rest = SUM - sum_ahead - sum_behind
        if rest <= 0:
            continue
        if ahead + behind >= 2:
            lacks |= 1 << rest
        for way in range(2):
            beyond, sum_beyond = tiles_past_end(board, place, line, ahead + 1 if way == 0 else -behind - 1)
            if beyond >= 0 and ahead + behind + beyond > 0 and rest > sum_beyond:
                ends |= 1 << (rest - sum_beyond)
    return lacks, ends


@kernel
def fits_beside(board: np.ndarray, place: int) -> int:
    """One bit for each number that fits on a free cell on which a tile can lie only once one lies on the place.

    Such a cell has no tile straight beside it, so its runs without the new tile are diagonal ones.
    """
    fitting = 0
    for side in range(len(SIDES)):
        beside = place + SIDES[side]
        if board[beside] == 0 and not is_beside_tile(board, beside):
            for line in range(STRAIGHT, LINES):
                fitting |= 1 << lacking(board, beside, line)
    return fitting & ALL_NUMBERS


@kernel
def counted(fits: int, number: int) -> int:
    """The kind of a number by how many cells it fits on."""
    return min((fits >> (6 * (number - 1))) & 63, COUNTED - 1)


@kernel
def supply(piles: int, number: int) -> int:
    """One bit if a tile of the number is in the open pile, or no pile has any; two if one is in the hidden pile."""
    return 1 if piles == 0 else ((piles >> number) & 1) + 2 * ((piles >> (HIDDEN_BITS + number)) & 1)


@kernel
def tiles_on_board(observation: np.ndarray) -> int:
    """How many tiles lie on cells."""
    tiles = 0
    for cell in range(CELLS):
        tiles += observation[cell] != 0
    return tiles


@kernel
def is_beside_tile(board: np.ndarray, place: int) -> bool:
    """Whether a tile lies on one of the four places beside."""
    return board[place - 1] + board[place + 1] + board[place - SIDE] + board[place + SIDE] > 0


@kernel
def is_free(board: np.ndarray, place: int) -> bool:
    """Whether a tile may be laid on the place."""
    return board[place] == 0 and is_beside_tile(board, place)


@kernel
def tiles_beyond(board: np.ndarray, place: int, step: int) -> tuple[int, int]:
    """How many tiles follow each other from the place on, itself excluded, in that direction, and their sum."""
    count, total = 0, 0
    place += step
    while board[place] != 0:
        count += 1
        total += board[place]
        place += step
    return count, total


@kernel
def tiles_past_end(board: np.ndarray, place: int, line: int, steps: int) -> tuple[int, int]:
    """The tiles that follow each other behind the free cell at the end of a run, and their sum; -1 if no tile can lie there.

    The end is so many steps along the line from the place, on which a tile is about to lie; on a diagonal no tile of the run
    lies beside it.
    """
    end = place + steps * STEPS[line]
    if line >= STRAIGHT and not is_beside_tile(board, end):
        return -1, 0
    return tiles_beyond(board, end, STEPS[line] if steps > 0 else -STEPS[line])


@kernel
def lacking(board: np.ndarray, place: int, line: int) -> int:
    """The number that on the free place would complete a run of 15 along the line; 0 if none can."""
    ahead, sum_ahead = tiles_beyond(board, place, STEPS[line])
    behind, sum_behind = tiles_beyond(board, place, -STEPS[line])
    if ahead + behind < 2:
        return 0
    return max(SUM - sum_ahead - sum_behind, 0)


@kernel
def action_relations(
    observation: np.ndarray, surveyed: Surveyed, action: int, first: int, rows: np.ndarray, count: int, board: np.ndarray
) -> int:
    """Of a tile taken, on how many cells it fits and the least it exposes; of a draw, how many hidden tiles fit somewhere, how
    many others must expose an open one, and what the rest exposes; of a tile lifted, its number, and the same as of one taken;
    see also `lay_relations`. `board` is that of `survey`, and will be."""
    fits, taken, drawn, piles, last = surveyed
    if observation[HAND] > 0:
        return lay_relations(observation, board, last, piles, action - CELL, first, rows, count)
    if action >= CELL:
        return lift_relations(board, last, action - CELL, first, rows, count)
    hidden, fitting, exposed, exposures = 0, 0, 0, 0
    for number in range(1, NUMBERS + 1):
        if (piles >> (HIDDEN_BITS + number)) & 1:
            exposes = (drawn >> 4 * (number - 1)) & 15
            hidden += 1
            if counted(fits, number) > 0:
                fitting += 1
            elif exposes == EXPOSED:
                exposed += 1
            else:
                exposures += exposes
    if action < DRAW:
        rows[count] = first + FITS + counted(fits, action + 1)
        rows[count + 1] = first + EXPOSES + hidden * EXPOSURES + ((taken >> 4 * action) & 15)
        return count + 2
    shares = (max(hidden, 1) - 1) * (NUMBERS + 1)  # so many of so many: the chance to draw one
    rows[count] = first + FITTING_DRAWS + shares + fitting
    rows[count + 1] = first + EXPOSED_DRAWS + shares + exposed
    rows[count + 2] = first + EXPOSING_DRAWS + shares + exposures // max(hidden - fitting - exposed, 1)
    return count + 3


@kernel
def lift_relations(board: np.ndarray, last: int, cell: int, first: int, rows: np.ndarray, count: int) -> int:
    """The number lifted; on how many cells it fits and the least it exposes elsewhere, though some may leave tiles apart."""
    place = place_of(cell)
    number = int(board[place])
    if number == 0:
        return count
    board[place] = 0
    fits = fitting_cells(board, CORNER, last)
    least, _ = least_exposures(board, CORNER, last, fits, 0, number, place)
    board[place] = number
    rows[count] = first + LIFTED + number - 1
    rows[count + 1] = first + FITS + counted(fits, number)
    rows[count + 2] = first + EXPOSES + ((least >> 4 * (number - 1)) & 15)
    return count + 3


@kernel
def lay_relations(
    observation: np.ndarray, board: np.ndarray, last: int, piles: int, cell: int, first: int, rows: np.ndarray, count: int
) -> int:
    """See `pick_laid`; along each line, the run that the tile joins, its sum, what lacks at its ends, what lacked here."""
    if cell < 0:
        return count
    hand, place = int(observation[HAND]), place_of(cell)
    count = pick_laid(board, last, piles, place, hand, first, rows, count)
    for line in range(LINES):
        ahead, sum_ahead = tiles_beyond(board, place, STEPS[line])
        behind, sum_behind = tiles_beyond(board, place, -STEPS[line])
        others, total = ahead + behind, hand + sum_ahead + sum_behind
        if others > 0:
            rows[count] = first + RUNS + (others > 1) * SUMS + min(total, SUMS - 1)
            count += 1
        lacked = SUM - sum_ahead - sum_behind
        if others > 1 and 0 < lacked <= NUMBERS and lacked != hand:
            rows[count] = first + LACKED + (lacked - 1) * SUPPLY + supply(piles, lacked)
            count += 1
        for way in range(2):
            beyond, sum_beyond = tiles_past_end(board, place, line, ahead + 1 if way == 0 else -behind - 1)
            lacks = SUM - total - sum_beyond
            if beyond >= 0 and others + beyond > 0 and 0 < lacks <= NUMBERS:
                rows[count] = first + LACKS + (lacks - 1) * SUPPLY + supply(piles, lacks)
                count += 1
    return count


@kernel
def pick_laid(
    board: np.ndarray, last: int, piles: int, place: int, number: int, first: int, rows: np.ndarray, count: int
) -> int:
    """What the number exposes once it lies on the place; if that is no open number, then also how many open tiles can be laid
    and expose none, and how many hidden ones must expose one."""
    lowest, highest = widened(last, place)
    board[place] = number
    fits = fitting_cells(board, lowest, highest)
    exposes = exposed(fitting_numbers(fits) & ALL_NUMBERS, piles)
    rows[count] = first + EXPOSES + size(piles >> HIDDEN_BITS) * EXPOSURES + exposes
    count += 1
    if piles != 0 and exposes != EXPOSED:
        taken, drawn = least_exposures(board, lowest, highest, fits, piles, 0, NOWHERE)
        count = pick_safe(fits, taken, drawn, piles, first, rows, count)
    board[place] = 0
    return count


@kernel
def widened(last: int, place: int) -> tuple[int, int]:
    """The lower left and the upper right place of the tiles' box, which ended at `last`, with one more tile on the place."""
    if last < CORNER:  # there is no other
        return place, place
    lowest = min(CORNER // SIDE, place // SIDE) * SIDE + min(CORNER % SIDE, place % SIDE)
    return lowest, max(last // SIDE, place // SIDE) * SIDE + max(last % SIDE, place % SIDE)


@kernel
def pick_safe(fits: int, taken: int, drawn: int, piles: int, first: int, rows: np.ndarray, count: int) -> int:
    """How many open tiles can be laid and expose none, and how many hidden ones must expose an open one."""
    safe, unsafe = 0, 0
    for number in range(1, NUMBERS + 1):
        shift = 4 * (number - 1)
        if (piles >> number) & 1 and (taken >> shift) & 15 == 0:
            safe += 1
        if (piles >> (HIDDEN_BITS + number)) & 1 and counted(fits, number) == 0 and (drawn >> shift) & 15 == EXPOSED:
            unsafe += 1
    rows[count] = first + SAFE_TILES + size(piles & ALL_NUMBERS) * (NUMBERS + 1) + safe
    rows[count + 1] = first + UNSAFE_DRAWS + size((piles >> HIDDEN_BITS) & ALL_NUMBERS) * (NUMBERS + 1) + unsafe
    return count + 2
