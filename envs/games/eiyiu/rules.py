"""The rules of Eiyiu over one row of integers.

Tiles 0-8 are the open pile's 1 to 9, tiles 9-17 the hidden pile's. They lie in a window of 20 x 20 cells, cell 20 * y + x
with y upward, that moves with them: before every turn the lower left corner of the tiles' bounding box is cell (1, 1).
Eighteen tiles in one group have w + h <= 19, so the box never reaches the window's last row or column, and every cell beside
a tile is in the window.

A turn is two actions of the same player. Take: `action` n - 1 takes the open n, `DRAW` a hidden tile, `CELL + cell` the tile
that lies there. Lay: `CELL + cell`. After `DRAW` the mover is CHANCE, and action n - 1 deals the hidden n.
"""

from typing import Final

import numpy as np

from envs.engine.bits import lowest, nth, size
from envs.engine.header import (
    CHANCE,
    END,
    HEADER,
    KEYS,
    LAST_ACTION,
    LAST_PLAYER,
    MOVER,
    NONE,
    OCCURRENCES,
    PLY,
    RESULT,
    EndReason,
)
from envs.engine.jit import kernel, routine

NUMBERS: Final = 9
TILES: Final = 2 * NUMBERS
ALL_NUMBERS: Final = (1 << NUMBERS) - 1
SUM: Final = 15
LEAST: Final = 3  # tiles in a run that counts
NEVER_FIRST: Final = 5  # the number that may not begin a game

WIDTH: Final = 20
WINDOW: Final = WIDTH * WIDTH
CORNER: Final = WIDTH + 1  # where the box begins
PACKED: Final = 8  # cells a field holds, eight bits each
BOARD: Final = WINDOW // PACKED
STRIP: Final = 40  # cells a field of `LAYS` holds, one bit each
STRIPS: Final = WINDOW // STRIP
SIDES: Final = np.array([1, -1, WIDTH, -WIDTH])
LINES: Final = np.array([1, WIDTH - 1, WIDTH, WIDTH + 1])

OPEN: Final = HEADER  # one bit a number in the open pile
HIDDEN: Final = HEADER + 1  # the same of the hidden pile
HAND: Final = HEADER + 2  # the tile in hand, or NONE
ORIGIN: Final = HEADER + 3  # the cell it was lifted from, or NONE
TURN: Final = HEADER + 4  # the player whose turn it is, also while chance deals
MOVED: Final = HEADER + 5  # the tile that each seat moved in its last turn, or NONE
SHIFTS: Final = HEADER + 7  # turns of moving so far
LAID: Final = HEADER + 8  # the tile laid last, or NONE
LIMITS: Final = HEADER + 9  # the options, see `packed_options`
TAKES: Final = HEADER + 10  # with no tile in hand, one bit for each tile that may be lifted
LAYS: Final = HEADER + 11  # with a tile in hand, one bit for each cell where it may be laid
PLACES: Final = LAYS + STRIPS  # the cell of every tile, or NONE
LINKS: Final = PLACES + TILES  # for every tile on the board, one bit for each tile beside it
CELLS: Final = LINKS + TILES  # which tile lies on every cell, plus one
ROW: Final = CELLS + BOARD

DRAW: Final = NUMBERS
CELL: Final = NUMBERS + 1
ACTIONS: Final = CELL + WINDOW
OBSERVATION: Final = WINDOW + 2 * NUMBERS + 6
IN_HAND: Final = WINDOW + 1  # where an observation's barred tile is, if nowhere on the board
SHORTEST_CYCLE: Final = 1 << 30  # a repetition ends nothing
SHARES: Final = 2520  # of a winning turn: an average over one to nine draws is a whole number of them

_RUNNING: Final = int(EndReason.RUNNING)
_RUN_OF_15: Final = int(EndReason.RUN_OF_15)
_SHIFT_LIMIT: Final = int(EndReason.SHIFT_LIMIT)


def packed_options(shift_limit: int, own: bool) -> int:
    """The options as the row's `LIMITS` field; `own`: a player may not move again the tile it moved last itself."""
    return shift_limit << 1 | int(own)


@kernel
def shift_limit(row: np.ndarray) -> int:
    """The turns of moving that end the game."""
    return row[LIMITS] >> 1


@kernel
def bars_own_tile(row: np.ndarray) -> int:
    """1 if the tile that a player may not move is the one it moved last itself, 0 if it is the last turn's."""
    return row[LIMITS] & 1


@routine
def start(row: np.ndarray, history: np.ndarray) -> None:
    """The row is the start position; its options stay as they are."""
    for field in range(PLACES, PLACES + TILES):
        row[field] = NONE
    for field in range(CELLS, CELLS + BOARD):
        row[field] = 0
    row[OPEN] = ALL_NUMBERS
    row[HIDDEN] = ALL_NUMBERS
    row[HAND] = NONE
    row[ORIGIN] = NONE
    row[MOVED] = NONE
    row[MOVED + 1] = NONE
    row[SHIFTS] = 0
    row[MOVER] = 0
    row[PLY] = 0
    set_up(row, history)


@routine
def set_up(row: np.ndarray, history: np.ndarray) -> None:
    """The other fields follow from `PLACES`, piles, hand, mover, turns, counters and options."""
    row[KEYS] = 0
    row[OCCURRENCES] = 1
    row[LAST_ACTION] = NONE
    row[LAST_PLAYER] = NONE
    row[LAID] = NONE
    for field in range(CELLS, CELLS + BOARD):
        row[field] = 0
    for tile in range(TILES):
        if row[PLACES + tile] != NONE:
            put(row, tile, row[PLACES + tile])
    if row[MOVER] != CHANCE:
        row[TURN] = row[MOVER]
    settle(row)
    if row[HAND] == NONE and row[MOVER] != CHANCE and has_run(row):
        finish(row, _RUN_OF_15, 1 - row[TURN])


@routine
def legal(row: np.ndarray, mask: np.ndarray) -> None:
    """`mask[k]` is 1 where action k is legal, else 0; all zeros once the game is over."""
    for action in range(ACTIONS):
        mask[action] = 0
    if row[END]:
        return
    for strip in range(STRIPS if row[HAND] != NONE else 0):
        cells = row[LAYS + strip]
        while cells:
            mask[CELL + STRIP * strip + lowest(cells)] = 1
            cells &= cells - 1
    if row[HAND] == NONE:
        numbers = takes_from_piles(row)
        for action in range(NUMBERS + 1):
            mask[action] = (numbers >> action) & 1
        tiles = row[TAKES]
        while tiles:
            mask[CELL + row[PLACES + lowest(tiles)]] = 1
            tiles &= tiles - 1


@kernel
def takes_from_piles(row: np.ndarray) -> int:
    """One bit for each action that takes from a pile, or that deals where the mover is CHANCE."""
    if row[MOVER] == CHANCE:
        return row[HIDDEN]
    laid = tiles_laid(row)
    numbers = row[OPEN] & ~(1 << (NEVER_FIRST - 1)) if laid == 0 else row[OPEN]
    return numbers | (1 << DRAW if laid >= 2 and row[HIDDEN] else 0)


@kernel
def tiles_laid(row: np.ndarray) -> int:
    """How many tiles lie on the board."""
    laid = 0
    for tile in range(TILES):
        laid += row[PLACES + tile] != NONE
    return laid


@routine
def pick(row: np.ndarray, draw: np.int64) -> int:
    """The legal action that a random number of 32 bits falls on, each as likely as the others; the game is not over."""
    if row[HAND] != NONE:
        return CELL + pick_cell(row, draw)
    numbers = takes_from_piles(row)
    if row[MOVER] == CHANCE or numbers:
        return nth(numbers, (draw * size(numbers)) >> 32)
    return CELL + row[PLACES + nth(row[TAKES], (draw * size(row[TAKES])) >> 32)]


@kernel
def pick_cell(row: np.ndarray, draw: np.int64) -> int:
    """The cell of `LAYS` that a random number of 32 bits falls on."""
    count = 0
    for strip in range(STRIPS):
        count += size(row[LAYS + strip])
    index = (draw * count) >> 32
    strip = 0
    while index >= size(row[LAYS + strip]):
        index -= size(row[LAYS + strip])
        strip += 1
    return STRIP * strip + nth(row[LAYS + strip], index)


@routine
def play(row: np.ndarray, history: np.ndarray, action: int) -> None:
    """A tile has been taken, dealt or laid; after laying the turn has passed, and the game may be over."""
    if row[MOVER] == CHANCE:
        deal(row, action)
        return
    row[LAST_ACTION] = action
    row[LAST_PLAYER] = row[MOVER]
    row[PLY] += 1
    if row[HAND] != NONE:
        lay(row, action - CELL)
        return
    if action < NUMBERS:
        row[OPEN] &= ~(1 << action)
        row[HAND] = action
    elif action == DRAW:
        row[MOVER] = CHANCE
    else:
        lift(row, tile_at(row, action - CELL))
    settle(row)


@kernel
def deal(row: np.ndarray, action: int) -> None:
    """The hidden number `action` + 1 is in the hand of the player whose turn it is."""
    row[LAST_ACTION] = action
    row[LAST_PLAYER] = CHANCE
    row[HIDDEN] &= ~(1 << action)
    row[HAND] = NUMBERS + action
    row[MOVER] = row[TURN]
    settle(row)


@kernel
def lift(row: np.ndarray, tile: int) -> None:
    """The tile is in hand."""
    row[HAND] = tile
    row[ORIGIN] = row[PLACES + tile]
    remove(row, tile)


@routine
def lay(row: np.ndarray, cell: int) -> None:
    """The tile in hand lies on the cell, the turn has passed, and the window has moved; the game may be over."""
    mover, tile = row[TURN], row[HAND]
    put(row, tile, cell)
    row[HAND] = NONE
    row[LAID] = tile
    won = makes_run(row, cell) or (row[ORIGIN] != NONE and leaves_run(row, row[ORIGIN]))
    if row[ORIGIN] != NONE:
        row[ORIGIN] = NONE
        row[MOVED + mover] = tile
        row[SHIFTS] += 1
    row[TURN] = 1 - mover
    row[MOVER] = 1 - mover
    move_window(row)
    settle(row)
    if won:
        finish(row, _RUN_OF_15, mover)


@kernel
def number_of(tile: int) -> int:
    """The number on the tile."""
    return tile % NUMBERS + 1


@kernel
def tile_at(row: np.ndarray, cell: int) -> int:
    """The tile on a cell of the window, NONE if it is free. Cells one beyond the window are free, too."""
    if cell < 0 or cell >= WINDOW:
        return NONE
    return ((row[CELLS + (cell >> 3)] >> ((cell & 7) << 3)) & 0xFF) - 1


@routine
def put(row: np.ndarray, tile: int, cell: int) -> None:
    """The tile lies on the free cell."""
    beside = tiles_beside(row, cell)
    row[CELLS + (cell >> 3)] += (tile + 1) << ((cell & 7) << 3)
    row[PLACES + tile] = cell
    row[LINKS + tile] = beside
    while beside:
        row[LINKS + lowest(beside)] |= 1 << tile
        beside &= beside - 1


@routine
def remove(row: np.ndarray, tile: int) -> None:
    """The tile lies nowhere."""
    cell = row[PLACES + tile]
    row[CELLS + (cell >> 3)] -= (tile + 1) << ((cell & 7) << 3)
    row[PLACES + tile] = NONE
    beside = row[LINKS + tile]
    while beside:
        row[LINKS + lowest(beside)] &= ~(1 << tile)
        beside &= beside - 1


@kernel
def tiles_beside(row: np.ndarray, cell: int) -> int:
    """One bit for each tile that touches the cell along a side."""
    beside = 0
    for side in range(4):
        tile = tile_at(row, cell + SIDES[side])
        if tile != NONE:
            beside |= 1 << tile
    return beside


@kernel
def tiles_on_board(row: np.ndarray) -> int:
    """One bit for each tile on the board."""
    tiles = 0
    for tile in range(TILES):
        tiles |= (row[PLACES + tile] != NONE) << tile
    return tiles


@routine
def group_of(row: np.ndarray, tile: int, among: int) -> int:
    """The tiles of the set that are joined to the tile through others of it."""
    group = 1 << tile
    fresh = group
    while fresh:
        joined = row[LINKS + lowest(fresh)] & among & ~group
        fresh &= fresh - 1
        group |= joined
        fresh |= joined
    return group


@routine
def settle(row: np.ndarray) -> None:
    """What may be taken or laid, and the shift limit, are those of the position as it stands."""
    row[END] = _RUNNING
    row[RESULT] = 0
    if row[HAND] != NONE:
        find_lays(row)
    elif row[MOVER] == CHANCE or row[OPEN] or row[HIDDEN]:
        row[TAKES] = 0
    elif row[SHIFTS] >= shift_limit(row):
        finish(row, _SHIFT_LIMIT, NONE)
    else:
        find_lifts(row)


@kernel
def finish(row: np.ndarray, reason: int, winner: int) -> None:
    """The game is over for this reason; the winner is a seat, or NONE in a draw."""
    row[END] = reason
    row[RESULT] = 0 if winner == NONE else 1 - 2 * winner


@routine
def find_lays(row: np.ndarray) -> None:
    """`LAYS` has the cells where the tile in hand would touch the others and leave all in one group."""
    for strip in range(STRIPS):
        row[LAYS + strip] = 0
    tiles = tiles_on_board(row)
    if tiles == 0:
        mark(row, CORNER)
        return
    left = group_of(row, lowest(tiles), tiles)
    rest = tiles & ~left
    while left:
        tile = lowest(left)
        left &= left - 1
        for side in range(4):
            cell = row[PLACES + tile] + SIDES[side]
            if may_lay(row, cell, rest):
                mark(row, cell)


@kernel
def mark(row: np.ndarray, cell: int) -> None:
    """The cell is in `LAYS`."""
    row[LAYS + cell // STRIP] |= 1 << cell % STRIP


@kernel
def may_lay(row: np.ndarray, cell: int, rest: int) -> bool:
    """Whether a tile on the cell, which touches one group, would join it to `rest`, the tiles that are not in it."""
    if tile_at(row, cell) != NONE or cell == row[ORIGIN]:
        return False
    beside = tiles_beside(row, cell) if rest else 0
    while rest:
        if beside & rest == 0:
            return False
        rest &= ~group_of(row, lowest(beside & rest), rest)
    return True


@kernel
def barred(row: np.ndarray, player: int) -> int:
    """The tile that the player may not move, or NONE."""
    return row[MOVED + player] if bars_own_tile(row) else row[MOVED + 1 - player]


@routine
def find_lifts(row: np.ndarray) -> None:
    """`TAKES` has the tiles that may be lifted: all but the barred one and those that could go nowhere."""
    lifts = 0
    tiles = tiles_on_board(row)
    for tile in range(TILES):
        if (tiles >> tile) & 1 and tile != barred(row, row[MOVER]) and can_go(row, tile, tiles & ~(1 << tile)):
            lifts |= 1 << tile
    row[TAKES] = lifts


@kernel
def can_go(row: np.ndarray, tile: int, others: int) -> bool:
    """Whether the tile could be laid elsewhere so that it and the others are one group."""
    beside = row[LINKS + tile]
    if others == 0:
        return False
    if beside & (beside - 1) == 0 and beside:
        return True
    if group_of(row, lowest(others), others) == others:
        return True
    place = row[PLACES + tile]
    lift(row, tile)
    find_lays(row)
    put(row, tile, place)
    row[HAND] = NONE
    row[ORIGIN] = NONE
    return has_lay(row)


@kernel
def has_lay(row: np.ndarray) -> bool:
    """Whether `LAYS` has a cell."""
    found = 0
    for strip in range(STRIPS):
        found |= row[LAYS + strip]
    return found != 0


@kernel
def tiles_towards(row: np.ndarray, cell: int, step: int) -> int:
    """How many tiles follow each other from the cell on, itself excluded, in steps of that many cells."""
    count = 0
    while tile_at(row, cell + (count + 1) * step) != NONE:
        count += 1
    return count


@kernel
def sum_towards(row: np.ndarray, cell: int, step: int, count: int) -> int:
    """The sum of that many tiles from the cell on, itself excluded."""
    total = 0
    for index in range(1, count + 1):
        total += number_of(tile_at(row, cell + index * step))
    return total


@kernel
def makes_run(row: np.ndarray, cell: int) -> bool:
    """Whether the tile on the cell belongs to a maximal run of three or more that sums to 15."""
    number = number_of(tile_at(row, cell))
    for line in range(4):
        if fitting_number(row, cell, LINES[line]) == number:
            return True
    return False


@routine
def fitting_number(row: np.ndarray, cell: int, step: int) -> int:
    """The number that on the cell makes a run of 15 along the line with the tiles before and behind it; 0 or less if none."""
    ahead = tiles_towards(row, cell, step)
    behind = tiles_towards(row, cell, -step)
    if ahead + behind + 1 < LEAST:
        return 0
    return SUM - sum_towards(row, cell, step, ahead) - sum_towards(row, cell, -step, behind)


@routine
def leaves_run(row: np.ndarray, cell: int) -> bool:
    """Whether a maximal run of 15 begins beside the free cell."""
    for line in range(4):
        for way in range(2):
            step = LINES[line] if way else -LINES[line]
            count = tiles_towards(row, cell, step)
            if count >= LEAST and sum_towards(row, cell, step, count) == SUM:
                return True
    return False


@kernel
def has_run(row: np.ndarray) -> bool:
    """Whether a maximal run of 15 lies on the board."""
    for tile in range(TILES):
        if row[PLACES + tile] != NONE and makes_run(row, row[PLACES + tile]):
            return True
    return False


@kernel
def move_window(row: np.ndarray) -> None:
    """The lower left corner of the tiles' bounding box is cell (1, 1)."""
    left, bottom = WIDTH, WIDTH
    for tile in range(TILES):
        cell = row[PLACES + tile]
        if cell != NONE:
            left = min(left, cell % WIDTH)
            bottom = min(bottom, cell // WIDTH)
    shift = CORNER - WIDTH * bottom - left
    if shift:
        shift_all(row, shift)


@kernel
def shift_all(row: np.ndarray, shift: int) -> None:
    """Every tile lies so many cells further on; who touches whom stays the same."""
    for field in range(CELLS, CELLS + BOARD):
        row[field] = 0
    for tile in range(TILES):
        if row[PLACES + tile] != NONE:
            cell = row[PLACES + tile] + shift
            row[PLACES + tile] = cell
            row[CELLS + (cell >> 3)] += (tile + 1) << ((cell & 7) << 3)


@kernel
def outcome(row: np.ndarray, scores: np.ndarray) -> None:
    """`scores` holds 1 for the winner, else 0: nothing is counted here."""
    scores[0] = row[RESULT] > 0
    scores[1] = row[RESULT] < 0


@kernel
def balance(row: np.ndarray) -> int:
    """The winning turns that the player to move has now, in shares, negative for seat 1: the plain evaluation."""
    turns = SHARES * winning_turns(row)
    return turns if row[TURN] == 0 else -turns


@routine
def winning_turns(row: np.ndarray) -> int:
    """How many ways there are to win in this turn without a draw. With no tile in hand `LAYS` is overwritten."""
    if row[MOVER] == CHANCE:
        return 0
    if row[HAND] != NONE:
        return winning_lays(row)
    if row[OPEN] or row[HIDDEN]:
        return winning_takes(row) if tiles_laid(row) else 0
    turns = 0
    tiles = row[TAKES]
    while tiles:
        tile = lowest(tiles)
        tiles &= tiles - 1
        place = row[PLACES + tile]
        lift(row, tile)
        find_lays(row)
        turns += winning_lays(row)
        put(row, tile, place)
        row[HAND] = NONE
        row[ORIGIN] = NONE
    return turns


@routine
def winning_lays(row: np.ndarray) -> int:
    """On how many cells the tile in hand wins."""
    tile = row[HAND]
    stands = row[ORIGIN] != NONE and leaves_run(row, row[ORIGIN])
    wins = 0
    for strip in range(STRIPS):
        cells = row[LAYS + strip]
        while cells:
            cell = STRIP * strip + lowest(cells)
            cells &= cells - 1
            if (fitting_numbers(row, cell) >> tile % NUMBERS) & 1:
                wins += 1
            elif stands:
                put(row, tile, cell)
                wins += leaves_run(row, row[ORIGIN])
                remove(row, tile)
    return wins


@kernel
def fitting_numbers(row: np.ndarray, cell: int) -> int:
    """One bit, the number less one, for each number that wins on the free cell."""
    numbers = 0
    for line in range(4):
        number = fitting_number(row, cell, LINES[line])
        if 0 < number <= NUMBERS:
            numbers |= 1 << (number - 1)
    return numbers


@kernel
def winning_takes(row: np.ndarray) -> int:
    """How many pairs of an open number and a cell win."""
    find_lays(row)
    wins = 0
    for strip in range(STRIPS):
        cells = row[LAYS + strip]
        while cells:
            wins += size(fitting_numbers(row, STRIP * strip + lowest(cells)) & row[OPEN])
            cells &= cells - 1
    return wins


def zobrist_numbers() -> np.ndarray:
    """Random 64-bit numbers for every number on every cell, then (by row) for hand, barred tiles, piles and mover."""
    return np.random.default_rng(15).integers(-(1 << 63), 1 << 63, (NUMBERS + 6, max(IN_HAND + 1, ALL_NUMBERS + 1)))


ZOBRIST = zobrist_numbers()


@routine
def position_hash(row: np.ndarray) -> int:
    """64 bits for tiles, piles, hand, barred tiles and mover; not for how often tiles were moved."""
    key = ZOBRIST[NUMBERS, row[OPEN]] ^ ZOBRIST[NUMBERS + 1, row[HIDDEN]] ^ ZOBRIST[NUMBERS + 2, row[TURN] + 2 * row[MOVER]]
    for tile in range(TILES):
        if row[PLACES + tile] != NONE:
            key ^= ZOBRIST[tile % NUMBERS, row[PLACES + tile]]
    if row[HAND] != NONE:
        key ^= ZOBRIST[NUMBERS + 3, 1 + row[HAND] % NUMBERS] ^ ZOBRIST[NUMBERS + 3, NUMBERS + 2 + row[ORIGIN]]
    return key ^ ZOBRIST[NUMBERS + 4, barred_place(row, 0)] ^ ZOBRIST[NUMBERS + 5, barred_place(row, 1)]


@kernel
def depends_on_past(row: np.ndarray, plies: int) -> bool:
    """Whether the shift limit can end the game within so many plies."""
    return row[SHIFTS] + (plies + 1) // 2 >= shift_limit(row)


@kernel
def barred_place(row: np.ndarray, player: int) -> int:
    """Where the tile is that the player may not move in its next turn: the cell plus one, or `IN_HAND`; 0 for none."""
    if not bars_own_tile(row) and (player != row[TURN] or row[HAND] != NONE):
        return 0
    if player == row[TURN] and row[HAND] != NONE:
        return 0
    tile = barred(row, player)
    if tile == NONE:
        return 0
    return IN_HAND if tile == row[HAND] else row[PLACES + tile] + 1


@routine
def observe(row: np.ndarray, player: int, out: np.ndarray) -> None:
    """`out` is the position as the player sees it; the game's record names the fields."""
    for cell in range(WINDOW):
        out[cell] = 0
    for tile in range(TILES):
        if row[PLACES + tile] != NONE:
            out[row[PLACES + tile]] = number_of(tile)
    for number in range(NUMBERS):
        out[WINDOW + number] = (row[OPEN] >> number) & 1
        out[WINDOW + NUMBERS + number] = (row[HIDDEN] >> number) & 1
    rest = WINDOW + 2 * NUMBERS
    out[rest] = 0 if row[HAND] == NONE else number_of(row[HAND])
    out[rest + 1] = 0 if row[ORIGIN] == NONE else row[ORIGIN] + 1
    out[rest + 2] = barred_place(row, player)
    out[rest + 3] = barred_place(row, 1 - player)
    out[rest + 4] = row[SHIFTS]
    out[rest + 5] = row[END] == 0 and row[MOVER] == player
