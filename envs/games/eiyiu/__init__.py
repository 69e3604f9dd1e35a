"""Eiyiu: its record, its texts and its manual page."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from envs.engine.game import Choice, Field, Game, Limit, OptionValue, filled_manual
from envs.engine.header import (
    CHANCE,
    EIYIU,
    END,
    LAST_ACTION,
    LAST_PLAYER,
    MAX_LIMIT,
    MOVER,
    NONE,
    PLY,
    EndReason,
)
from envs.errors import BadText
from envs.games.captions import caption
from envs.games.eiyiu import rules
from envs.games.eiyiu.ascii import COLUMNS, Cell, cell_name
from envs.games.eiyiu.rules import (
    CELL,
    DRAW,
    HAND,
    HIDDEN,
    IN_HAND,
    LAID,
    LEAST,
    LINES,
    MOVED,
    NUMBERS,
    OPEN,
    ORIGIN,
    PLACES,
    SHIFTS,
    SUM,
    TILES,
    TURN,
    WIDTH,
    WINDOW,
)

SAME_TILE: Final = ("any", "own")
NO_TILE, FREE, LIFTED = "-", ".", "_"
BOARD_TEXT: Final = re.compile(
    r"(-|[1-9._]{1,18}(?:/[1-9._]{1,18}){0,17}) (-|[1-9]{1,9}) (-|[1-9]{1,9}) ([-?1-9]) ([a-t0-9,-]+) ([01]) (\d{1,4})",
    re.ASCII,
)
CELL_NAME: Final = re.compile(r"([a-t])([1-9]|1\d|20)", re.ASCII)
TURN_TEXT: Final = re.compile(r"([1-9]|[a-t]\d{1,2}-|\?[1-9])@?([a-t]\d{1,2})", re.ASCII)

OBSERVED: Final = (
    Field(
        "cells",
        WINDOW,
        NUMBERS,
        f"the number on each cell of a window of {WIDTH} x {WIDTH}, row by row from the bottom, 0 for none; the lower left "
        f"corner of the tiles' bounding box, as it was before the turn, is cell {rules.CORNER}",
    ),
    Field("open", NUMBERS, 1, "1 for each of the numbers 1-9 that is in the open pile"),
    Field("hidden", NUMBERS, 1, "1 for each of the numbers 1-9 that is in the hidden pile"),
    Field("hand", 1, NUMBERS, "the number in hand, 0 for none"),
    Field("origin", 1, WINDOW, "the cell that the tile in hand was lifted from, plus one; 0 for none"),
    Field(
        "own_barred",
        1,
        IN_HAND,
        "the cell, plus one, of the tile that earlier turns forbid the player to lift in its next one; 0 for none, "
        f"{IN_HAND} if it is in hand",
    ),
    Field("other_barred", 1, IN_HAND, "the same of the opponent"),
    Field("shifts", 1, MAX_LIMIT, "turns of moving so far"),
    Field("to_move", 1, 1, "1 if the player is to move"),
)
OPTIONS: Final = (
    Limit("shift_limit", 200, 1, MAX_LIMIT, "turns of moving that end the game in a draw", can_be_off=False),
    Choice("same_tile", "any", SAME_TILE, "the tile that may not be moved: the previous turn's, or one's own previous one"),
)

MANUAL: Final = """Eiyiu, a game of laying and moving numbered tiles, for two.

## Description
Two sets of tiles 1 to 9: one open, one hidden and shuffled. In turn each player takes a tile from either pile and lays it on
a square grid so that it touches another along a side; the first tile of the game must not be the 5, and each player's first
one comes from the open pile. When all eighteen lie, a turn moves a tile to another free cell, after which all must be one
group along sides; a tile that could go nowhere may not be lifted, nor may the one that `same_tile` forbids, which counts
moving only, not laying. Whoever's turn leaves an unbroken straight or diagonal row of three or more tiles, read from end to
end, that sums to 15, wins.

## Observation
OBSERVATION

## Actions
`Discrete(410)`. A turn is two actions of the same agent, *take* and *lay*. Take: actions 0-8 take the open number k + 1, action
9 a hidden tile, and action `10 + cell` lifts the tile on that cell of the window. Lay: action `10 + cell`. The draw is
chance: the step that takes a hidden tile also deals it, by the environment's own random stream (`reset(seed=...)`). As text:
take `5`, `?`, `b2`; the deal `=7`; lay `@c4`; whole turns `5@c4`, `?7@c4`, `b2-c4`. Cells are named afresh before each turn:
columns a, b ..., rows 1, 2 ... from the bottom; the lower left corner of the tiles' bounding box is b2.

## Rewards
+1 to the winner and -1 to the loser in the step that ends the game, 0 and 0 for a draw and in every other step.

## Start
All tiles are in their piles; `player_0` moves first.

## End
After each turn: a run of 15 is on the board (`run_of_15`): whose turn made it wins; `shift_limit` turns of moving were made
(`shift_limit`): a draw.
The reason stands in `infos[agent]["end"]`; `infos[agent]["scores"]` is 1 for the winner, else 0.

## Options
OPTIONS

## Version history
v0: initial version.
"""


def write_options(row: np.ndarray, options: Mapping[str, Any]) -> None:
    """The row plays under these options."""
    row[rules.LIMITS] = rules.packed_options(options["shift_limit"], options["same_tile"] == "own")


def read_options(row: np.ndarray) -> dict[str, OptionValue]:
    """The options that the row plays under."""
    return {"shift_limit": int(rules.shift_limit(row)), "same_tile": SAME_TILE[rules.bars_own_tile(row)]}


# From the row.


def cell_of(place: int) -> Cell:
    """Column and row of a cell of the window."""
    return int(place) % WIDTH, int(place) // WIDTH


def tiles_of(row: np.ndarray) -> dict[Cell, int]:
    """The number on every cell with a tile."""
    places = row[PLACES : PLACES + TILES].tolist()
    return {cell_of(place): tile % NUMBERS + 1 for tile, place in enumerate(places) if place != NONE}


def numbers_of(bits: int) -> list[int]:
    """The numbers 1-9 in a pile."""
    return [number for number in range(1, NUMBERS + 1) if int(bits) >> (number - 1) & 1]


def hand_of(row: np.ndarray) -> int | None:
    """The number in hand."""
    return None if row[HAND] == NONE else int(row[HAND]) % NUMBERS + 1


def lifted_from(row: np.ndarray) -> Cell | None:
    """The cell that the tile in hand was lifted from."""
    return None if row[ORIGIN] == NONE else cell_of(row[ORIGIN])


def place_of_moved(row: np.ndarray, player: int) -> Cell | None:
    """Where the tile is that the player moved in its last turn, or was before it came into the hand again."""
    tile = int(row[MOVED + player])
    if tile == NONE:
        return None
    return lifted_from(row) if tile == row[HAND] else cell_of(row[PLACES + tile])


def barred_cells(row: np.ndarray) -> list[Cell]:
    """The tile that the mover may not lift now, if there is one."""
    if row[HAND] != NONE or row[OPEN] or row[HIDDEN] or row[MOVER] == CHANCE:
        return []
    cell = place_of_moved(row, int(row[TURN] if rules.bars_own_tile(row) else 1 - row[TURN]))
    return [] if cell is None else [cell]


def winning_cells(tiles: Mapping[Cell, int]) -> list[Cell]:
    """The cells of all runs of 15."""
    won: set[Cell] = set()
    for step in LINES:
        dx, dy = (int(step) + 1) % WIDTH - 1, (int(step) + 1) // WIDTH
        for x, y in tiles:
            if (x - dx, y - dy) in tiles:
                continue
            run = [(x, y)]
            while (following := (run[-1][0] + dx, run[-1][1] + dy)) in tiles:
                run.append(following)
            if len(run) >= LEAST and sum(tiles[cell] for cell in run) == SUM:
                won |= set(run)
    return sorted(won)


# Texts.


def board_text(row: np.ndarray) -> str:
    """Board, open and hidden numbers, hand, moved tiles, side, turns of moving: `- 123456789 123456789 - - 0 0`."""
    moved = [cell_name(cell) if (cell := place_of_moved(row, player)) else NO_TILE for player in range(2)]
    piles = ["".join(map(str, numbers_of(row[pile]))) or NO_TILE for pile in (OPEN, HIDDEN)]
    hand = "?" if row[MOVER] == CHANCE else str(hand_of(row) or NO_TILE)
    last = ",".join(moved) if rules.bars_own_tile(row) else moved[1 - row[TURN]]
    return " ".join([tiles_text(row), *piles, hand, last, str(row[TURN]), str(row[SHIFTS])])


def tiles_text(row: np.ndarray) -> str:
    """The rows of the bounding box from the top; `_` is where the tile in hand was lifted from."""
    letters = {cell: str(number) for cell, number in tiles_of(row).items()}
    if (origin := lifted_from(row)) is not None:
        letters[origin] = LIFTED
    width, height = (max((cell[axis] for cell in letters), default=0) for axis in range(2))
    rows = ["".join(letters.get((x, y), FREE) for x in range(1, width + 1)) for y in range(height, 0, -1)]
    return "/".join(rows) or NO_TILE


def read_board(text: str, row: np.ndarray, strict: bool) -> None:
    """The row has tiles, piles, hand and mover of the text. Raises `BadText`; only a strict reader insists on 18 tiles."""
    match = BOARD_TEXT.fullmatch(text)
    if not match:
        raise BadText(
            f"not an Eiyiu position: {text!r}; it reads like 34/.7 125689 12356789 - - 1 0: rows from the top, open numbers, "
            "hidden numbers, hand, cell moved last, side, turns of moving"
        )
    board, open_pile, hidden_pile, hand, last, side, shifts = match.groups()
    cells = read_cells(board)
    for field, pile in ((OPEN, open_pile), (HIDDEN, hidden_pile)):
        row[field] = read_pile(pile)
    row[TURN] = int(side)
    row[MOVER] = CHANCE if hand == "?" else row[TURN]
    give_tiles(row, cells, hand, strict)
    check_phase(row, cells, hand)
    read_moved(row, last)
    row[SHIFTS] = int(shifts)
    if row[SHIFTS] > rules.shift_limit(row):
        raise BadText(f"{row[SHIFTS]} turns of moving are more than shift_limit={rules.shift_limit(row)}")
    check_running(row)
    lying = sum(number != LIFTED for number in cells.values())
    row[PLY] = 2 * (len(cells) + int(shifts)) + (len(cells) != lying or hand != NO_TILE)


def read_cells(board: str) -> dict[int, str]:
    """The letter on every cell of the window that is not free. Raises `BadText` unless it is one group in its bounding box."""
    rows = [] if board == NO_TILE else board.split("/")
    if any(len(line) != len(rows[0]) for line in rows):
        raise BadText(f"the rows of {board!r} differ in length")
    if rows and not all(
        line.strip(FREE) for line in (rows[0], rows[-1], *("".join(column[i] for column in rows) for i in (0, -1)))
    ):
        raise BadText(f"{board!r} has an empty row or column at its edge")
    cells = {
        WIDTH * (y + 1) + x + 1: letter
        for y, line in enumerate(reversed(rows))
        for x, letter in enumerate(line)
        if letter != FREE
    }
    if not is_group(set(cells)):
        raise BadText(f"the tiles of {board!r} are not one group")
    return cells


def is_group(cells: set[int]) -> bool:
    """Whether the cells hang together along sides."""
    reached = set(sorted(cells)[:1])
    while grown := {cell + int(side) for cell in reached for side in rules.SIDES} & cells - reached:
        reached |= grown
    return reached == cells


def read_pile(text: str) -> int:
    """One bit for each number of the text. Raises `BadText` if one is there twice."""
    numbers = [] if text == NO_TILE else [int(letter) for letter in text]
    if len(set(numbers)) < len(numbers):
        raise BadText(f"a pile holds each number once, not {text!r}")
    return sum(1 << (number - 1) for number in numbers)


def give_tiles(row: np.ndarray, cells: Mapping[int, str], hand: str, strict: bool) -> None:
    """Every number on the board and in hand is one of the two tiles with it. Raises `BadText` if they do not suffice."""
    row[PLACES : PLACES + TILES] = NONE
    row[HAND], row[ORIGIN] = NONE, NONE
    spare = {
        number: [tile for tile in (number - 1, NUMBERS + number - 1) if not in_pile(row, tile)]
        for number in range(1, NUMBERS + 1)
    }
    for cell, letter in [*cells.items(), (NONE, hand)]:
        if letter == LIFTED:
            if row[ORIGIN] != NONE:
                raise BadText("only one tile can have been lifted")
            row[ORIGIN] = cell
        elif letter not in "-?":
            if not spare[int(letter)]:
                raise BadText(f"there are only two tiles {letter}")
            tile = spare[int(letter)].pop(0)
            row[HAND if cell == NONE else PLACES + tile] = tile if cell == NONE else cell
    if strict and any(spare.values()):
        missing = "".join(str(number) * len(tiles) for number, tiles in spare.items())
        raise BadText(f"Eiyiu has {TILES} tiles; there is no {' '.join(missing)} in board, hand and piles")


def in_pile(row: np.ndarray, tile: int) -> bool:
    """Whether the tile is still in its pile."""
    return bool(int(row[HIDDEN if tile >= NUMBERS else OPEN]) >> (tile % NUMBERS) & 1)


def check_phase(row: np.ndarray, cells: Mapping[int, str], hand: str) -> None:
    """Raises `BadText` where piles, hand and lifted tile contradict each other."""
    piles = bool(row[OPEN] or row[HIDDEN])
    if row[ORIGIN] != NONE and (piles or row[HAND] == NONE):
        raise BadText("a tile is lifted only when the piles are empty, and is then in hand")
    if hand == "?" and (not row[HIDDEN] or len(cells) < 2):
        raise BadText("a draw needs a hidden tile, and two tiles on the board")


def check_running(row: np.ndarray) -> None:
    """Raises `BadText` if the game was over before the turn that has begun, or would be stuck."""
    tiles = tiles_of(row)
    if (origin := lifted_from(row)) is not None:
        tiles[origin] = int(row[HAND]) % NUMBERS + 1
    if (row[HAND] != NONE or row[MOVER] == CHANCE) and winning_cells(tiles):
        raise BadText("a tile is in hand, but a run of 15 had ended the game before")
    laid, left = len(tiles) + (row[HAND] != NONE and origin is None), len(numbers_of(row[OPEN]))
    if laid + left < 2 and row[HIDDEN]:
        raise BadText("each player's first tile comes from the open pile, which has too few")


def read_moved(row: np.ndarray, text: str) -> None:
    """`MOVED` has the tiles on the cells named, one for each seat under `own`, else the previous turn's. Raises `BadText`."""
    names = text.split(",")
    own = bool(rules.bars_own_tile(row))
    if len(names) != 1 + own:
        raise BadText(f"moved last is {'a cell or - for each seat, with a comma' if own else 'a cell or -'}, not {text!r}")
    row[MOVED : MOVED + 2] = NONE
    for player, name in zip((0, 1) if own else (1 - int(row[TURN]),), names, strict=True):
        if name != NO_TILE:
            row[MOVED + player] = tile_named(row, name)


def tile_named(row: np.ndarray, name: str) -> int:
    """The tile on the cell of that name, or the one in hand that was lifted from there. Raises `BadText`."""
    cell = place_named(name)
    if cell is not None and cell == row[ORIGIN]:
        return int(row[HAND])
    tiles = [tile for tile in range(TILES) if cell is not None and row[PLACES + tile] == cell]
    if not tiles:
        raise BadText(f"there is no tile on {name!r} that can have been moved last")
    return tiles[0]


def place_named(name: str) -> int | None:
    """The cell of the window of that name, None if there is none."""
    match = CELL_NAME.fullmatch(name)
    return WIDTH * (int(match[2]) - 1) + COLUMNS.index(match[1]) if match else None


def move_text(row: np.ndarray) -> str:
    """The last move: `5`, `?` or `b2` taken, `=7` dealt, `@c4` laid."""
    action = int(row[LAST_ACTION])
    if row[LAST_PLAYER] == CHANCE:
        return f"={action + 1}"
    if action < NUMBERS:
        return str(action + 1)
    if action == DRAW:
        return "?"
    return f"{'' if row[HAND] != NONE else '@'}{cell_name(cell_of(action - CELL))}"


def read_move(row: np.ndarray, player: int, text: str) -> bool:
    """The row's last move is the player's of that text; False if it cannot have led here."""
    action = action_named(row, player, text)
    if action is None:
        return False
    row[LAST_ACTION], row[LAST_PLAYER] = action, player
    return True


def action_named(row: np.ndarray, player: int, text: str) -> int | None:
    """The action of that text, if it is the player's and can have led to the row."""
    in_hand, turn = row[HAND] != NONE, int(row[TURN])
    kind, rest = text[:1], text[1:]
    from_pile = in_hand and row[ORIGIN] == NONE
    if (
        kind == "="
        and player == CHANCE
        and from_pile
        and rest == str(hand_of(row))
        and not int(row[HIDDEN]) >> int(rest) - 1 & 1
    ):
        return int(rest) - 1
    if kind == "@" and player == 1 - turn and not in_hand and row[MOVER] != CHANCE:
        cell = place_named(rest)
        return CELL + cell if cell is not None and may_have_been_laid(row, cell) else None
    if player != turn:
        return None
    if text == "?":
        return DRAW if row[MOVER] == CHANCE else None
    if from_pile and text == str(hand_of(row)) and not int(row[OPEN]) >> int(text) - 1 & 1:
        return int(text) - 1
    return CELL + int(row[ORIGIN]) if in_hand and place_named(text) == row[ORIGIN] else None


def may_have_been_laid(row: np.ndarray, cell: int) -> bool:
    """Whether a tile now lies where one laid on that cell of the window before can be.

    The window moves by one where it was laid beyond the box, and back by one where the box lost its first row or column.
    """
    x, y = cell_of(cell)
    tiles = tiles_of(row)
    return any((x + dx, y + dy) in tiles for dx in ((1,) if x == 0 else (0, -1)) for dy in ((1,) if y == 0 else (0, -1)))


def split_turn(text: str) -> tuple[str, ...]:
    """The plies of a turn: `5@c4`, `?7@c4` and `b2-c4` are several."""
    match = TURN_TEXT.fullmatch(text)
    if not match:
        return (text,)
    take, cell = match.groups()
    if (take[-1] == "-") == ("@" in text):
        return (text,)
    taken = ("?", f"={take[1]}") if take[0] == "?" else (take.rstrip("-"),)
    return (*taken, f"@{cell}")


# Pictures.


def drawn(row: np.ndarray) -> dict[str, Any]:
    """What a drawing shows of the row, as arguments of the drawing functions."""
    tiles = tiles_of(row)
    won: Sequence[Cell] = winning_cells(tiles) if row[END] == EndReason.RUN_OF_15 else []
    laid = row[LAID] != NONE and row[LAID] != row[HAND]
    return {
        "tiles": tiles,
        "open": numbers_of(row[OPEN]),
        "hidden": numbers_of(row[HIDDEN]),
        "hand": hand_of(row),
        "drawing": bool(row[MOVER] == CHANCE),
        "lifted": lifted_from(row),
        "barred": [] if row[END] else barred_cells(row),
        "winning": won,
        "mover": None if row[END] else int(row[TURN]),
        "last": cell_of(row[PLACES + row[LAID]]) if laid else None,
        "caption": caption(row),
    }


GAME: Final = Game(
    name="eiyiu",
    title="Eiyiu",
    number=EIYIU,
    actions=rules.ACTIONS,
    row_size=rules.ROW,
    observation=OBSERVED,
    options=OPTIONS,
    endings=(),
    history_limit=None,
    counters={"ply": PLY},
    reversible=None,
    plies_a_turn=2,
    opening_plies=8,
    write_options=write_options,
    read_options=read_options,
    board_text=board_text,
    read_board=read_board,
    move_text=move_text,
    read_move=read_move,
    split_turn=split_turn,
    drawn=drawn,
    manual=filled_manual(MANUAL, OBSERVED, rules.ACTIONS, OPTIONS),
)
