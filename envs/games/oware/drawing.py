"""Pictures of an Oware board as SVG documents.

North's half is South's half after half a turn about the middle of the board. So everything is placed once, as South
sees it, and turned for North. Points are complex numbers, x + y * 1j with y downward; lengths are pixels.
"""

from cmath import rect
from collections.abc import Sequence
from itertools import count
from math import pi, sin
from typing import Final

import drawsvg as svg

from envs.games.captions import NAMES, one_line
from envs.games.oware.ascii import LETTERS
from envs.games.oware.rules import HOUSES
from envs.games.pictures import (
    ARROW,
    CAPTION_SIZE,
    DARK_INK,
    FONT,
    LABEL_SIZE,
    LAST_STYLE,
    LIGHT_INK,
    LIT_COLOUR,
    RIM_COLOUR,
    WOOD_COLOURS,
    circle,
    polygon,
    rectangle,
    text,
    wooden_board,
)

WIDTH: Final = 720
HEIGHT: Final = 328
MIDDLE: Final = 360 + 148j  # of the board; the caption has what is left below
CAPTION_AT: Final = 360 + 309j
PLATE: Final = 692 + 228j  # width and height of the light wood within the frame
RIM: Final = 1.5
GRAIN_LINES: Final = 11

# From the middle of the board towards South.
ROW: Final = 44
COUNT: Final = 99
LABEL: Final = 131
# From the middle of the board to South's right.
HOUSE_AT: Final = tuple(86 * (index - (HOUSES - 1) / 2) for index in range(HOUSES))
STORE_AT: Final = 302
ARROWS_AT: Final = (-316, -302, -288)

HOUSE_RADIUS: Final = 39
STORE: Final = 66 + 166j
BAND: Final = 684 + 24j  # lit on the side of the player to move

SEED_RADIUS: Final = 8.5  # at most: where many seeds share a house they are drawn smaller
SEED_ROOM: Final = 36  # radius of what the seeds of a house may cover
SEED_PITCH: Final = 2.1  # from seed to seed, in seed radii
RING_STEP: Final = 6  # so many seeds fewer in the next inner ring: its circumference is 2 * pi pitches shorter
STORE_SEED_RADIUS: Final = 5.4
STORE_PITCH: Final = 12.6 + 10.9j  # from seed to seed and from row to row
STORE_ROWS: Final = (3, 4) * 7  # seeds in a row, nearest the player first; all 48 fit

CAPTION_ROOM: Final = 1200  # letters times their size: half of it is their width
COUNT_SIZE: Final = 17
TOTAL_SIZE: Final = 21

HOLLOW_COLOURS: Final = ("#8a5a32", "#7a4c28", "#4a2912")
SEED_COLOURS: Final = ("#fbfaf0", "#b9bba4", "#74775f")
SEED_EDGE: Final = "#2e2a1c"
RIM_STYLE: Final = {"stroke": RIM_COLOUR, "stroke_width": RIM, "stroke_opacity": 0.8}


def draw(
    houses: Sequence[int], stores: Sequence[int], mover: int | None, last_house: int | None = None, caption: str = ""
) -> str:
    """The board as a self-contained SVG document, the same text for the same board.

    Houses count from 0 at South's house A in sowing order, `last_house` as well; no side is marked if `mover` is None.
    The ground is opaque and carries every text, so that the picture reads on light and on dark pages.
    """
    line = one_line(caption)
    picture = svg.Drawing(WIDTH, HEIGHT, role="img", font_family=FONT, text_anchor="middle")
    picture.append_title(_in_words(houses, stores, line))
    for gradient in _gradients():
        picture.append_def(gradient)
    picture.append(wooden_board(complex(WIDTH, HEIGHT), MIDDLE - PLATE / 2, PLATE, GRAIN_LINES, "oware-wood"))
    picture.extend(_side(seat, seat == mover) for seat in range(len(NAMES)))
    picture.extend(_store(seat, seeds) for seat, seeds in enumerate(stores))
    picture.extend(_house(*divmod(place, HOUSES), seeds, place == last_house) for place, seeds in enumerate(houses))
    size = min(CAPTION_SIZE, CAPTION_ROOM / max(1, len(line)))
    picture.append(text(line, CAPTION_AT, round(size, 2), LIGHT_INK, "caption"))
    return str(picture.as_svg(header=""))


def _in_words(houses: Sequence[int], stores: Sequence[int], caption: str) -> str:
    """The board as sentences, for people who hear the picture."""
    sentences = ["Oware"]
    for seat, name in enumerate(NAMES):
        row = houses[seat * HOUSES : (seat + 1) * HOUSES]
        counts = [f"{letter} {seeds}" for letter, seeds in zip(LETTERS[seat], row, strict=True)]
        sentences.append(f"{name}: {', '.join(counts)}, store {stores[seat]}")
    return ". ".join([*sentences, caption] if caption else sentences)


# The parts of the picture


def _side(seat: int, to_move: bool) -> svg.Group:
    """A player's name and the letters of the houses, lit if the player is to move."""
    side = svg.Group(class_="side", data_player=NAMES[seat])
    colour = DARK_INK if to_move else LIGHT_INK
    if to_move:
        side.append(_mover_mark(seat))
    for letter, x in zip(LETTERS[seat], HOUSE_AT, strict=True):
        side.append(text(letter, _turned(seat, x, LABEL), LABEL_SIZE, colour, "label"))
    side.append(text(NAMES[seat], _turned(seat, STORE_AT, LABEL), LABEL_SIZE, colour, "name"))
    return side


def _mover_mark(seat: int) -> svg.Group:
    """A lit band along the player's side, with arrows that point the way the seeds go."""
    band = rectangle(_turned(seat, 0, LABEL), BAND, BAND.imag / 2, fill=LIT_COLOUR)
    arrows = svg.Group(fill=DARK_INK)
    for x in ARROWS_AT:
        head = [_turned(seat, x + dx, LABEL + dy) for dx, dy in ((-ARROW, -ARROW), (ARROW, 0), (-ARROW, ARROW))]
        arrows.append(polygon(*head))
    return svg.Group([band, arrows], class_="mover")


def _house(seat: int, index: int, seeds: int, is_last: bool) -> svg.Group:
    """A hollow with its seeds and their number, ringed if the last move was made from it."""
    letter, middle = LETTERS[seat][index], _turned(seat, HOUSE_AT[index], ROW)
    house = svg.Group(class_="house", data_house=letter)
    house.append_title(f"{letter}: {seeds}")
    house.append(circle(middle, HOUSE_RADIUS, class_="hollow", fill="url(#oware-hollow)", **RIM_STYLE))
    if is_last:
        house.append(circle(middle, HOUSE_RADIUS, class_="last", **LAST_STYLE))
    spots, radius = _ringed(seeds, turn=seat * HOUSES + index)
    house.append(_seeds([middle + spot for spot in spots], radius))
    house.append(text(str(seeds), _turned(seat, HOUSE_AT[index], COUNT), COUNT_SIZE, DARK_INK, "count"))
    return house


def _store(seat: int, seeds: int) -> svg.Group:
    """A hollow at the player's right hand that fills up from the player's side, and its total."""
    store = svg.Group(class_="store", data_store=NAMES[seat])
    store.append_title(f"{NAMES[seat]}: {seeds}")
    middle = _turned(seat, STORE_AT, 0)
    store.append(rectangle(middle, STORE, STORE.real / 3, class_="hollow", fill="url(#oware-hollow)", **RIM_STYLE))
    spots = [_turned(seat, STORE_AT + spot.real, spot.imag) for spot in _stacked()[:seeds]]
    store.append(_seeds(spots, STORE_SEED_RADIUS))
    store.append(text(str(seeds), _turned(seat, STORE_AT, COUNT), TOTAL_SIZE, DARK_INK, "total"))
    return store


def _seeds(spots: Sequence[complex], radius: float) -> svg.Group:
    """One seed on each spot."""
    group = svg.Group(fill="url(#oware-seed)", stroke=SEED_EDGE, stroke_width=0.8)
    group.extend(circle(spot, radius, class_="seed") for spot in spots)
    return group


def _stacked() -> list[complex]:
    """All spots of a store about its middle, in the order in which they fill up."""
    middles = [(len(STORE_ROWS) - 1) / 2 - row for row in range(len(STORE_ROWS))]
    return [
        complex(STORE_PITCH.real * (column - (size - 1) / 2), STORE_PITCH.imag * row)
        for size, row in zip(STORE_ROWS, middles, strict=True)
        for column in range(size)
    ]


def _ringed(seeds: int, turn: float) -> tuple[list[complex], float]:
    """Spots for the seeds in rings about 0, and the seeds' radius; none overlap and all lie within SEED_ROOM.

    The turn, in radians, makes houses with equally many seeds look different.
    """
    spots: list[complex] = []
    reach = -SEED_PITCH  # of the rings so far, in seed radii; a lone seed at the centre then lies at 0
    for size in reversed(_ring_sizes(seeds)):
        chord = SEED_PITCH / 2 / sin(pi / size) if size > 1 else 0
        reach = max(chord, reach + SEED_PITCH)
        spots += [rect(reach, turn + reach + 2 * pi * number / size) for number in range(size)]
    radius = min(SEED_RADIUS, SEED_ROOM / (reach + 1))
    return [radius * spot for spot in spots], radius


def _ring_sizes(seeds: int) -> list[int]:
    """How many seeds lie in each ring, outermost first: the smallest nest that holds them, its inner rings full."""
    nests = ([max(1, size) for size in range(outermost, -1, -RING_STEP)] for outermost in count())
    inner = next(nest for nest in nests if sum(nest) >= seeds)[1:]
    return [seeds - sum(inner), *inner]


# Shapes


def _turned(seat: int, x: float, y: float) -> complex:
    """The point that the player finds x to the right of the middle of the board and y nearer than it."""
    return MIDDLE + complex(x, y) * (-1 if seat else 1)


def _gradients() -> list[svg.LinearGradient | svg.RadialGradient]:
    """The shades of wood, hollows and seeds; named, because pictures of other games may share the page."""
    box = "objectBoundingBox"
    wood = svg.LinearGradient(0, 0, 0, 1, box, id="oware-wood")
    hollow = svg.RadialGradient(0.5, 0.62, 0.62, box, id="oware-hollow")
    seed = svg.RadialGradient(0.36, 0.32, 0.72, box, id="oware-seed")
    for gradient, colours in ((wood, WOOD_COLOURS), (hollow, HOLLOW_COLOURS), (seed, SEED_COLOURS)):
        for number, colour in enumerate(colours):
            gradient.add_stop(number / (len(colours) - 1), colour)
    return [wood, hollow, seed]
