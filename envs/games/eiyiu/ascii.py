"""An Eiyiu board for a terminal, and what boards and pictures call things.

Cells are (x, y) with y upward; column "a" is x = 0 and row 1 is y = 0. The window reaches one cell beyond the tiles'
bounding box, whose lower left corner is on (1, 1), so that every cell where a tile may be laid has a name.
"""

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Final, TypeAlias

from envs.games.captions import NAMES, one_line

Cell: TypeAlias = tuple[int, int]

FIRST_CELL: Final = (1, 1)  # in the window while no tile lies


def board_text(
    tiles: Mapping[Cell, int],
    open: Sequence[int],
    hidden: Sequence[int],
    hand: int | None,
    drawing: bool,
    lifted: Cell | None,
    barred: Sequence[Cell],
    winning: Sequence[Cell],
    mover: int | None,
    last: Cell | None,
    caption: str = "",
) -> str:
    """The board in ASCII between the sides, then the piles with the tile in hand, and the caption.

    `>` marks the side to move, `*` the tile laid last, `[ ]` the tiles of winning runs, `x` those that may not be moved
    now, and `_` the cell from which the tile in hand was lifted.
    """
    columns, rows = window(tiles, lifted)
    marks = {cell: _mark(cell, number, last, barred, winning) for cell, number in tiles.items()}
    if lifted is not None:
        marks[lifted] = "  _ "
    south, north = (f"{'>' if seat == mover else ' '} {name}" for seat, name in enumerate(NAMES))
    lines = [
        north,
        *(f"{y + 1:2d}  " + "".join(marks.get((x, y), "  . ") for x in columns) for y in reversed(rows)),
        "    " + "".join(f"  {column_name(x)} " for x in columns),
        south,
        f"  open {numbers_text(open)}   hidden {numbers_text(hidden)}   hand {hand_text(hand, drawing, lifted)}",
        one_line(caption),
    ]
    return "\n".join(line.rstrip() for line in lines).rstrip()


def window(tiles: Mapping[Cell, int], lifted: Cell | None) -> tuple[range, range]:
    """The columns and the rows up to one beyond the tiles, a lifted tile's old cell among them."""
    box = [*tiles, *([] if lifted is None else [lifted])] or [FIRST_CELL]
    return range(max(x for x, _ in box) + 2), range(max(y for _, y in box) + 2)


COLUMNS: Final = ascii_lowercase[:20]  # all that a window has


def cell_name(cell: Cell) -> str:
    """The name by which players call the cell."""
    return f"{column_name(cell[0])}{cell[1] + 1}"


def column_name(x: int) -> str:
    """The column's letter."""
    return COLUMNS[x]


def numbers_text(numbers: Sequence[int]) -> str:
    """The numbers in order, or a dash."""
    return " ".join(map(str, sorted(numbers))) or "-"


def hand_text(hand: int | None, drawing: bool, lifted: Cell | None) -> str:
    """The number in hand and where it comes from, `?` while chance is to deal, or a dash."""
    if drawing:
        return "?"
    if hand is None:
        return "-"
    return str(hand) if lifted is None else f"{hand} from {cell_name(lifted)}"


def _mark(cell: Cell, number: int, last: Cell | None, barred: Sequence[Cell], winning: Sequence[Cell]) -> str:
    """The tile's number between its marks, four characters wide."""
    before, after = ("[", "]") if cell in winning else (" ", "x" if cell in barred else " ")
    if cell != last:
        return f" {before}{number}{after}"
    return f"*{before}{number}{after}" if cell in winning else f" *{number}{after}"
