"""What the pictures of all boards share: the look of wood and ink, and simple shapes.

Points are complex numbers, x + y * 1j with y downward; lengths are pixels. Numbers are rounded, so that no platform's last
digit shows in the text of a picture.
"""

from math import sin
from typing import Final

import drawsvg as svg

CORNER: Final = 18  # of the frame
ARROW: Final = 5  # half the height of an arrow's head
LAST_RING: Final = 4  # width of what rings the last move

FONT: Final = "Helvetica, Arial, sans-serif"
LABEL_SIZE: Final = 14
CAPTION_SIZE: Final = 15  # at most
BASELINE: Final = 0.35  # of the size: how far the baseline lies below the middle of a numeral
LIGHT_KINDS: Final = ("caption", "left", "origin")  # of texts, which are not bold

FRAME_COLOUR: Final = "#3b2113"
WOOD_COLOURS: Final = ("#dcab6e", "#c48a4c")
GRAIN_COLOUR: Final = "#8f5a28"
RIM_COLOUR: Final = "#efcd9c"
LAST_COLOUR: Final = "#d8362a"
LIT_COLOUR: Final = "#f3bd4b"
LIGHT_INK: Final = "#f1e2c6"
DARK_INK: Final = "#2f1a0c"
LAST_STYLE: Final = {"stroke": LAST_COLOUR, "stroke_width": LAST_RING, "fill": "none"}


def wooden_board(size: complex, plate_at: complex, plate: complex, grain_lines: int, wood: str) -> svg.Group:
    """A frame of this width and height, and in it a plate with its grain; `wood` is the name of its gradient."""
    frame = svg.Rectangle(0, 0, size.real, size.imag, rx=CORNER, fill=FRAME_COLOUR)
    face = rectangle(plate_at + plate / 2, plate, CORNER / 2, fill=f"url(#{wood})")
    grain = svg.Group(fill="none", stroke=GRAIN_COLOUR, stroke_opacity=0.2)
    step = plate.imag / (grain_lines + 1)
    grain.extend(
        _grain_line(number, plate_at + step * (number + 1) * 1j, plate.real, 2 * step) for number in range(grain_lines)
    )
    return svg.Group([frame, face, grain], class_="board")


def _grain_line(number: int, left: complex, width: float, height: float) -> svg.Path:
    """A wave from the left to the right edge, no two neighbours alike."""
    x, y = left.real, left.imag
    bend, third = height * sin((number + 1) ** 2), width / 3
    points = (x + third, y + bend, x + width - third, y - bend, x + width, y)
    path = svg.Path(stroke_width=1 + number % 3 / 2)
    return path.M(round(x, 2), round(y, 2)).C(*(round(part, 2) for part in points))


def circle(middle: complex, radius: float, **style: object) -> svg.Circle:
    """A circle about the point."""
    return svg.Circle(round(middle.real, 2), round(middle.imag, 2), round(radius, 2), **style)


def rectangle(middle: complex, size: complex, corner: float, **style: object) -> svg.Rectangle:
    """A rectangle of this width and height about the point, its corners rounded."""
    left_top = middle - size / 2
    parts = (round(part, 2) for part in (left_top.real, left_top.imag, size.real, size.imag))
    return svg.Rectangle(*parts, rx=round(corner, 2), **style)


def polygon(*corners: complex, **style: object) -> svg.Lines:
    """A closed outline through the points."""
    return svg.Lines(*(round(part, 2) for point in corners for part in (point.real, point.imag)), close=True, **style)


def text(words: str, middle: complex, size: float, colour: str, kind: str) -> svg.Text:
    """A text of this class about the point, bold unless it is of a light kind."""
    weight = "normal" if kind in LIGHT_KINDS else "bold"
    y = round(middle.imag + BASELINE * size, 2)
    return svg.Text(words, size, round(middle.real, 2), y, fill=colour, font_weight=weight, class_=kind)
