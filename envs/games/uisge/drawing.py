"""Pictures of a Uisge board as SVG documents.

Points are complex numbers, x + y * 1j with y downward; lengths are pixels.
"""

from collections.abc import Sequence
from typing import Final

import drawsvg as svg

from envs.games.captions import NAMES, one_line
from envs.games.pictures import (
    ARROW,
    CAPTION_SIZE,
    CORNER,
    DARK_INK,
    FONT,
    LABEL_SIZE,
    LAST_RING,
    LAST_STYLE,
    LIGHT_INK,
    LIT_COLOUR,
    WOOD_COLOURS,
    circle,
    polygon,
    rectangle,
    text,
    wooden_board,
)
from envs.games.uisge.ascii import FILES, FREE, PIECES, RANKS

WIDTH: Final = 536
HEIGHT: Final = 536
CELL: Final = 64
LEFT_TOP: Final = 44 + 48j  # of the plate
PLATE: Final = complex(CELL * len(FILES), CELL * len(RANKS))  # width and height of the light wood within the frame
GRAIN_LINES: Final = 17

BANDS_AT: Final = (268 + 482j, 268 + 24j)  # the middles of South's band and of North's
BAND: Final = 500 + 26j  # lit on the side of the player to move
NAME_AT: Final = -218  # from the middle of the band
KINGS_AT: Final = 212
ARROWS_AT: Final = (-14, 0, 14)
FILES_AT: Final = 450
RANKS_AT: Final = (30, 506)
CAPTION_AT: Final = 268 + 516j

PIECE_RADIUS: Final = 25
PAWN_RING: Final = 14
KING_RING: Final = 20
SHADOW: Final = 1 + 2.5j  # from a piece to its shadow
LAST_RADIUS: Final = 27
LAST_SQUARE: Final = 44  # width of the outline on the square that it left
CROWN: Final = (-10 + 9j, -13 - 5j, -5.5 + 1j, -10j, 5.5 + 1j, 13 - 5j, 10 + 9j)  # its outline about the piece's middle
JEWELS: Final = (-13 - 6j, -11j, 13 - 6j)
JEWEL_RADIUS: Final = 2.6

CAPTION_ROOM: Final = 960  # letters times their size: half of it is their width

GROOVE_COLOUR: Final = "#7a4c28"
# South's and North's.
PIECE_COLOURS: Final = (("#fffdf4", "#f1e8cf", "#cdbd94"), ("#5a8ea4", "#2d5d74", "#16394b"))
EDGE_COLOURS: Final = ("#6a5730", "#0b2029")
RING_COLOURS: Final = ("#c3b184", "#6fa5ba")
CROWN_COLOURS: Final = ("#63300d", "#ffd25e")


def draw(board: Sequence[str], mover: int | None, last: tuple[str, str] | None, caption: str = "") -> str:
    """The board as a self-contained SVG document, the same text for the same board.

    The board is six rows from the top, `last` where the last move led from and to; no side is marked if `mover` is None.
    The ground is opaque and carries every text, so that the picture reads on light and on dark pages.
    """
    line = one_line(caption)
    picture = svg.Drawing(WIDTH, HEIGHT, role="img", font_family=FONT, text_anchor="middle")
    picture.append_title(_in_words(board, line))
    for gradient in _gradients():
        picture.append_def(gradient)
    picture.append(_plate())
    picture.append(_labels())
    picture.extend(_side(seat, len(_squares(board, kinds[1])), seat == mover) for seat, kinds in enumerate(PIECES))
    if last is not None:
        picture.append(_left_behind(last[0]))
    picture.extend(_piece(square, piece) for square, piece in _placed(board))
    if last is not None:
        picture.append(circle(_middle(last[1]), LAST_RADIUS, class_="last", data_square=last[1], **LAST_STYLE))
    size = min(CAPTION_SIZE, CAPTION_ROOM / max(1, len(line)))
    picture.append(text(line, CAPTION_AT, round(size, 2), LIGHT_INK, "caption"))
    return str(picture.as_svg(header=""))


def _placed(board: Sequence[str]) -> list[tuple[str, str]]:
    """The squares that are not free, and their pieces."""
    rows = zip(RANKS, board, strict=True)
    marks = [(file + rank, piece) for rank, row in rows for file, piece in zip(FILES, row, strict=True)]
    return [(square, piece) for square, piece in marks if piece != FREE]


def _squares(board: Sequence[str], kind: str) -> list[str]:
    """The squares of one kind of piece."""
    return [square for square, piece in _placed(board) if piece == kind]


def _in_words(board: Sequence[str], caption: str) -> str:
    """The board as sentences, for people who hear the picture."""
    sentences = ["Uisge"]
    for name, kinds in zip(NAMES, PIECES, strict=True):
        pawns, kings = (" ".join(sorted(_squares(board, kind))) or "none" for kind in kinds)
        sentences.append(f"{name}: pawns {pawns}, kings {kings}")
    return ". ".join([*sentences, caption] if caption else sentences)


# The parts of the picture


def _plate() -> svg.Group:
    """The frame, and in it the plate with its grain and the grooves between the squares."""
    board = wooden_board(complex(WIDTH, HEIGHT), LEFT_TOP, PLATE, GRAIN_LINES, "uisge-wood")
    board.append(_grooves())
    return board


def _grooves() -> svg.Path:
    """The lines between the files and between the ranks."""
    grooves = svg.Path(stroke=GROOVE_COLOUR, stroke_width=1.5, stroke_opacity=0.75)
    for number in range(1, len(FILES)):
        grooves.M(LEFT_TOP.real + CELL * number, LEFT_TOP.imag).v(PLATE.imag)
    for number in range(1, len(RANKS)):
        grooves.M(LEFT_TOP.real, LEFT_TOP.imag + CELL * number).h(PLATE.real)
    return grooves


def _labels() -> svg.Group:
    """The letters of the files below the plate and the numbers of the ranks on both sides of it."""
    labels = svg.Group(class_="labels")
    for file in FILES:
        labels.append(text(file, complex(_middle(file + "1").real, FILES_AT), LABEL_SIZE, LIGHT_INK, "file"))
    for rank in RANKS:
        for x in RANKS_AT:
            labels.append(text(rank, complex(x, _middle("a" + rank).imag), LABEL_SIZE, LIGHT_INK, "rank"))
    return labels


def _side(seat: int, kings: int, to_move: bool) -> svg.Group:
    """A player's name and number of kings, on a lit band with arrows towards the board if the player is to move."""
    side = svg.Group(class_="side", data_player=NAMES[seat])
    colour = DARK_INK if to_move else LIGHT_INK
    middle = BANDS_AT[seat]
    if to_move:
        side.append(_mover_mark(middle, -1 if seat == 0 else 1))
    side.append(text(NAMES[seat], middle + NAME_AT, LABEL_SIZE, colour, "name"))
    side.append(text(f"{kings} king{'' if kings == 1 else 's'}", middle + KINGS_AT, LABEL_SIZE, colour, "kings"))
    return side


def _mover_mark(middle: complex, towards: int) -> svg.Group:
    """A lit band about the point, with arrows that point up (-1) or down (1)."""
    band = rectangle(middle, BAND, BAND.imag / 2, fill=LIT_COLOUR)
    arrows = svg.Group(fill=DARK_INK)
    head = [complex(x, towards * y) for x, y in ((-ARROW, -ARROW), (0, ARROW), (ARROW, -ARROW))]
    arrows.extend(polygon(*(middle + x + point for point in head)) for x in ARROWS_AT)
    return svg.Group([band, arrows], class_="mover")


def _left_behind(square: str) -> svg.Rectangle:
    """A dashed outline on the square that the last move left."""
    size = complex(LAST_SQUARE, LAST_SQUARE)
    style = {**LAST_STYLE, "stroke_width": LAST_RING - 1, "stroke_dasharray": "7 5"}
    return rectangle(_middle(square), size, CORNER / 2, class_="last", data_square=square, **style)


def _piece(square: str, piece: str) -> svg.Group:
    """A disc with its shadow: a pawn has a ring cut into it, a king wears a crown."""
    seat = next(seat for seat, kinds in enumerate(PIECES) if piece in kinds)
    is_king = piece == PIECES[seat][1]
    middle = _middle(square)
    group = svg.Group(class_="piece", data_square=square, data_piece=piece)
    group.append_title(f"{square}: {NAMES[seat]}'s {'king' if is_king else 'pawn'}")
    group.append(circle(middle + SHADOW, PIECE_RADIUS, fill=DARK_INK, fill_opacity=0.35))
    disc = {"fill": f"url(#uisge-{NAMES[seat].lower()})", "stroke": EDGE_COLOURS[seat], "stroke_width": 1.5}
    group.append(circle(middle, PIECE_RADIUS, class_="disc", **disc))
    group.append(_crown(middle, seat) if is_king else _ring(middle, seat))
    return group


def _ring(middle: complex, seat: int) -> svg.Circle:
    """The ring of a pawn."""
    return circle(middle, PAWN_RING, class_="ring", fill="none", stroke=RING_COLOURS[seat], stroke_width=2)


def _crown(middle: complex, seat: int) -> svg.Group:
    """The crown of a king, and a ring of its colour about it."""
    colour = CROWN_COLOURS[seat]
    crown = svg.Group(class_="crown", fill=colour)
    crown.append(circle(middle, KING_RING, fill="none", stroke=colour, stroke_width=2))
    crown.append(polygon(*(middle + point for point in CROWN)))
    crown.extend(circle(middle + point, JEWEL_RADIUS) for point in JEWELS)
    return crown


# Shapes


def _middle(square: str) -> complex:
    """The middle of the square."""
    return LEFT_TOP + CELL * complex(FILES.index(square[0]) + 0.5, RANKS.index(square[1]) + 0.5)


def _gradients() -> list[svg.LinearGradient | svg.RadialGradient]:
    """The shades of wood and pieces; named, because pictures of other games may share the page."""
    box = "objectBoundingBox"
    wood = svg.LinearGradient(0, 0, 0, 1, box, id="uisge-wood")
    discs = [svg.RadialGradient(0.38, 0.32, 0.75, box, id=f"uisge-{name.lower()}") for name in NAMES]
    for gradient, colours in zip((wood, *discs), (WOOD_COLOURS, *PIECE_COLOURS), strict=True):
        for number, colour in enumerate(colours):
            gradient.add_stop(number / (len(colours) - 1), colour)
    return [wood, *discs]
