"""Pictures of an Eiyiu board as SVG documents.

All pictures have one size: the more cells a board covers, the smaller they are drawn. Points are complex numbers,
x + y * 1j with y downward; lengths are pixels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import drawsvg as svg

from envs.games.captions import NAMES, one_line
from envs.games.eiyiu.ascii import Cell, cell_name, column_name, hand_text, numbers_text, window
from envs.games.pictures import (
    ARROW,
    CAPTION_SIZE,
    DARK_INK,
    FONT,
    LABEL_SIZE,
    LAST_COLOUR,
    LIGHT_INK,
    LIT_COLOUR,
    RIM_COLOUR,
    WOOD_COLOURS,
    circle,
    rectangle,
    text,
    wooden_board,
)

WIDTH: Final = 720
HEIGHT: Final = 492
PLATE_AT: Final = 14 + 14j  # upper left corner of the light wood within the frame
PLATE: Final = 462 + 436j  # its width and height
LABELS: Final = 24  # what names of columns and rows take from each side of the plate
CELL_ROOM: Final = PLATE - 2 * (LABELS + LABELS * 1j)
CELL: Final = 58  # at most
CAPTION_AT: Final = 360 + 471j
GRAIN_LINES: Final = 19

# The panel right of the plate.
PANEL: Final = 597  # its middle
PILE_AT: Final = (540, 654)  # the middles of the open and the hidden pile
PILE_LABEL: Final = 67
PILE_TOP: Final = 98  # the middle of the uppermost tiles
PILE_PITCH: Final = 35
PILE_COLUMNS: Final = 3
LEFT_LABEL: Final = 204
HAND_LABEL: Final = 250
HAND_AT: Final = 597 + 313j
HAND_SIZE: Final = 84
HAND_TEXT: Final = 376
SIDE_AT: Final = (597 + 438j, 597 + 26j)  # the middles of the players' names
BAND: Final = 218 + 24j  # lit behind the name of the player to move

# Of the size of a tile's cell.
TILE: Final = 0.88
TILE_CORNER: Final = 0.14
NUMERAL: Final = 0.56
SHADOW: Final = 0.04
RING: Final = 0.075
BAR_AT: Final = 0.31 - 0.31j
BAR_RADIUS: Final = 0.13

CAPTION_ROOM: Final = 1200  # letters times their size: half of it is their width

HOLLOW_COLOUR: Final = "#2a160b"
TILE_COLOURS: Final = ("#fdfbf1", "#e4dcc3")
WON_COLOURS: Final = ("#ffe08a", "#f0ae34")
BACK_COLOURS: Final = ("#96633a", "#6d4223")
TILE_EDGE: Final = "#4a3a22"


@dataclass(frozen=True)
class _Grid:
    """Where the window's cells lie in the picture."""

    columns: range
    rows: range

    @property
    def pitch(self) -> float:
        """The side of a cell: as large as fits."""
        return round(min(CELL, CELL_ROOM.real / len(self.columns), CELL_ROOM.imag / len(self.rows)), 2)

    @property
    def corner(self) -> complex:
        """The upper left corner of the cells, which are in the middle of the plate."""
        return PLATE_AT + (PLATE - self.pitch * complex(len(self.columns), len(self.rows))) / 2

    def middle(self, x: float, y: float) -> complex:
        """The middle of a cell."""
        return self.corner + self.pitch * complex(x + 0.5, self.rows[-1] - y + 0.5)


def draw(
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
    """The board as a self-contained SVG document, the same text for the same board.

    Cells are those of `ascii.window`; no side is marked if `mover` is None. The ground is opaque and carries every text,
    so that the picture reads on light and on dark pages.
    """
    line = one_line(caption)
    grid = _Grid(*window(tiles, lifted))
    picture = svg.Drawing(WIDTH, HEIGHT, role="img", font_family=FONT, text_anchor="middle")
    picture.append_title(_in_words(tiles, open, hidden, hand_text(hand, drawing, lifted), line))
    for gradient in _gradients():
        picture.append_def(gradient)
    picture.extend(
        [wooden_board(complex(WIDTH, HEIGHT), PLATE_AT, PLATE, GRAIN_LINES, "eiyiu-wood"), _cells(grid), _names(grid)]
    )
    if lifted is not None:
        picture.append(_gap(grid.middle(*lifted), grid.pitch, "lifted", DARK_INK))
    for cell, number in sorted(tiles.items()):
        picture.append(_board_tile(grid, cell, number, (cell == last, cell in barred, cell in winning)))
    picture.extend(_side(seat, seat == mover) for seat in range(len(NAMES)))
    picture.extend([_open_pile(open), _hidden_pile(hidden), _hand(hand, drawing, lifted)])
    size = min(CAPTION_SIZE, CAPTION_ROOM / max(1, len(line)))
    picture.append(text(line, CAPTION_AT, round(size, 2), LIGHT_INK, "caption"))
    return str(picture.as_svg(header=""))


def _in_words(tiles: Mapping[Cell, int], open: Sequence[int], hidden: Sequence[int], hand: str, caption: str) -> str:
    """The board as sentences, for people who hear the picture."""
    lying = ", ".join(f"{cell_name(cell)} {number}" for cell, number in sorted(tiles.items()))
    sentences = ["Eiyiu", f"Tiles: {lying or '-'}", f"Open: {numbers_text(open)}", f"Hidden: {numbers_text(hidden)}"]
    sentences.append(f"Hand: {hand}")
    return ". ".join([*sentences, caption] if caption else sentences)


# The board


def _cells(grid: _Grid) -> svg.Group:
    """A shallow hollow for every cell of the window."""
    group = svg.Group(fill=DARK_INK, fill_opacity=0.1, stroke=DARK_INK, stroke_opacity=0.16)
    side, corner = TILE * grid.pitch, TILE_CORNER * grid.pitch
    for y in reversed(grid.rows):
        group.extend(_square(grid.middle(x, y), side, corner, class_="cell") for x in grid.columns)
    return group


def _names(grid: _Grid) -> svg.Group:
    """The letters of the columns below and the numbers of the rows on the left."""
    group = svg.Group(class_="names")
    beside = 0.5 + LABELS / 2 / grid.pitch
    for x in grid.columns:
        group.append(text(column_name(x), grid.middle(x, -beside), LABEL_SIZE, DARK_INK, "column"))
    for y in grid.rows:
        group.append(text(str(y + 1), grid.middle(-beside, y), LABEL_SIZE, DARK_INK, "row"))
    return group


def _board_tile(grid: _Grid, cell: Cell, number: int, marks: tuple[bool, bool, bool]) -> svg.Group:
    """A tile on its cell, ringed if it was laid last, with a bar if it may not be moved, golden if it wins."""
    is_last, is_barred, wins = marks
    middle, size = grid.middle(*cell), grid.pitch
    tile = _tile(number, middle, size, wins)
    tile.args.update({"data-cell": cell_name(cell)})
    if is_last:
        style = {"stroke": LAST_COLOUR, "stroke_width": round(RING * size, 2), "fill": "none"}
        tile.append(_square(middle, TILE * size, TILE_CORNER * size, class_="last", **style))
    if is_barred:
        tile.append(_bar(middle + BAR_AT * size, BAR_RADIUS * size))
    return tile


def _bar(middle: complex, radius: float) -> svg.Group:
    """The sign that forbids entry."""
    disc = circle(middle, radius, fill=LAST_COLOUR, stroke=TILE_COLOURS[0], stroke_width=round(radius / 5, 2))
    bar = rectangle(middle, complex(1.2, 0.4) * radius, 0, fill=TILE_COLOURS[0])
    return svg.Group([disc, bar], class_="barred")


# The panel


def _side(seat: int, to_move: bool) -> svg.Group:
    """A player's name, lit if the player is to move."""
    side = svg.Group(class_="side", data_player=NAMES[seat])
    middle = SIDE_AT[seat]
    if to_move:
        band = rectangle(middle, BAND, BAND.imag / 2, fill=LIT_COLOUR)
        left = middle.real - BAND.real / 2 + BAND.imag / 2
        y = middle.imag
        head = svg.Lines(left, y - ARROW, left + 2 * ARROW, y, left, y + ARROW, close=True, fill=DARK_INK)
        side.append(svg.Group([band, head], class_="mover"))
    side.append(text(NAMES[seat], middle, LABEL_SIZE, DARK_INK if to_move else LIGHT_INK, "name"))
    return side


def _open_pile(numbers: Sequence[int]) -> svg.Group:
    """Every open tile in the place of its number, and hollows in the places of those that are gone."""
    pile = svg.Group([text("Open", complex(PILE_AT[0], PILE_LABEL), LABEL_SIZE, LIGHT_INK, "label")], class_="open")
    for number in range(1, 10):
        middle = _pile_place(PILE_AT[0], number - 1)
        pile.append(_tile(number, middle, PILE_PITCH) if number in numbers else _gap(middle, PILE_PITCH, "gone", LIGHT_INK))
    return pile


def _hidden_pile(numbers: Sequence[int]) -> svg.Group:
    """As many tiles face down as are hidden, and the set of their numbers."""
    pile = svg.Group([text("Hidden", complex(PILE_AT[1], PILE_LABEL), LABEL_SIZE, LIGHT_INK, "label")], class_="hidden")
    for place in range(9):
        middle = _pile_place(PILE_AT[1], place)
        gap = place >= len(numbers)
        pile.append(_gap(middle, PILE_PITCH, "gone", LIGHT_INK) if gap else _back(middle, PILE_PITCH))
    left = f"hidden left: {numbers_text(numbers)}"
    pile.append(text(left, complex(PANEL, LEFT_LABEL), LABEL_SIZE - 1, LIGHT_INK, "left"))
    return pile


def _pile_place(middle: float, place: int) -> complex:
    """The middle of a pile's place, row by row from the upper left."""
    row, column = divmod(place, PILE_COLUMNS)
    return complex(middle + PILE_PITCH * (column - (PILE_COLUMNS - 1) / 2), PILE_TOP + PILE_PITCH * row)


def _hand(hand: int | None, drawing: bool, lifted: Cell | None) -> svg.Group:
    """The tile in hand, face down while chance is to deal, or a hollow."""
    group = svg.Group([text("Hand", complex(PANEL, HAND_LABEL), LABEL_SIZE, LIGHT_INK, "label")], class_="hand")
    if drawing:
        group.append(_back(HAND_AT, HAND_SIZE, "?"))
    elif hand is not None:
        group.append(_tile(hand, HAND_AT, HAND_SIZE))
    else:
        group.append(_gap(HAND_AT, HAND_SIZE, "empty", LIGHT_INK))
    if lifted is not None:
        group.append(text(f"from {cell_name(lifted)}", complex(PANEL, HAND_TEXT), LABEL_SIZE - 1, LIGHT_INK, "origin"))
    return group


# Tiles


def _tile(number: int, middle: complex, size: float, wins: bool = False) -> svg.Group:
    """A tile face up in a cell of that size."""
    kind = "tile winning" if wins else "tile"
    face = _square(middle, TILE * size, TILE_CORNER * size, fill=f"url(#eiyiu-{'won' if wins else 'tile'})", **_edge(TILE_EDGE))
    numeral = text(str(number), middle, round(NUMERAL * size, 2), DARK_INK, "number")
    return svg.Group([_shadow(middle, size), face, numeral], class_=kind)


def _back(middle: complex, size: float, sign: str = "") -> svg.Group:
    """A tile face down in a cell of that size, with a sign on its back or else a diamond."""
    side, corner = TILE * size, TILE_CORNER * size
    back = svg.Group([_shadow(middle, size)], class_="back")
    back.append(_square(middle, side, corner, fill="url(#eiyiu-back)", **_edge(RIM_COLOUR)))
    if sign:
        back.append(text(sign, middle, round(NUMERAL * size, 2), RIM_COLOUR, "sign"))
    else:
        points = [middle + 0.2 * size * way for way in (1, 1j, -1, -1j)]
        parts = (round(part, 2) for point in points for part in (point.real, point.imag))
        back.append(svg.Lines(*parts, close=True, fill="none", stroke=RIM_COLOUR, stroke_opacity=0.7))
    return back


def _gap(middle: complex, size: float, kind: str, colour: str) -> svg.Rectangle:
    """The outline of a tile that is not there."""
    style = {"fill": HOLLOW_COLOUR, "fill_opacity": 0.35, "stroke": colour, "stroke_opacity": 0.45, "stroke_dasharray": "3 3"}
    return _square(middle, TILE * size, TILE_CORNER * size, class_=kind, **style)


def _shadow(middle: complex, size: float) -> svg.Rectangle:
    below = middle + SHADOW * size * (1 + 1.5j)
    return _square(below, TILE * size, TILE_CORNER * size, fill=HOLLOW_COLOUR, fill_opacity=0.4)


def _edge(colour: str) -> dict[str, object]:
    return {"stroke": colour, "stroke_width": 0.8}


# Shapes


def _square(middle: complex, side: float, corner: float, **style: object) -> svg.Rectangle:
    return rectangle(middle, complex(side, side), corner, **style)


def _gradients() -> list[svg.LinearGradient]:
    """The shades of wood and tiles; named, because pictures of other games may share the page."""
    shades = {"wood": WOOD_COLOURS, "tile": TILE_COLOURS, "won": WON_COLOURS, "back": BACK_COLOURS}
    return [_gradient(f"eiyiu-{name}", *colours) for name, colours in shades.items()]


def _gradient(name: str, upper: str, lower: str) -> svg.LinearGradient:
    gradient = svg.LinearGradient(0, 0, 0, 1, "objectBoundingBox", id=name)
    gradient.add_stop(0, upper)
    gradient.add_stop(1, lower)
    return gradient
