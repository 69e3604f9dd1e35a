"""Pictures of a Toguz Kumalak board as SVG documents.

North's half is South's half after half a turn about the middle of the board. So everything is placed once, as South
sees it, and turned for North. Points are complex numbers, x + y * 1j with y downward; lengths are pixels.
"""

from collections.abc import Sequence
from itertools import count
from typing import Final

import drawsvg as svg

from envs.games.captions import NAMES, one_line
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
from envs.games.toguz_kumalak.ascii import ROW, hole_name

WIDTH: Final = 720
HEIGHT: Final = 480
MIDDLE: Final = 360 + 224j  # of the board; the caption has what is left below
CAPTION_AT: Final = 360 + 461j
PLATE: Final = 692 + 380j  # width and height of the light wood within the frame
RIM: Final = 1.5
GRAIN_LINES: Final = 17

# From the middle of the board towards South.
STORE_AT: Final = 25
HOLE_AT: Final = 107
COUNT: Final = 178
LABEL: Final = 207
# From the middle of the board to South's right.
HOLES_AT: Final = tuple(68 * (index - (ROW - 1) / 2) for index in range(ROW))
NAME_AT: Final = 311  # beyond the last hole
TOTAL_AT: Final = 322
ARROWS_AT: Final = (-328, -314, -300)

HOLE: Final = 52 + 112j
HOLE_CORNER: Final = 17
STORE: Final = 596 + 42j
STORE_CORNER: Final = 21
BAND: Final = 684 + 24j  # lit on the side of the player to move
LAST_GAP: Final = 6 + 6j  # how much wider and higher the rings are than the hole

SEED_ROOM: Final = 42 + 105j  # of a hole: what its seeds may cover
STORE_ROOM: Final = 575 + 32j
LANES: Final = 2  # seeds lie in two columns; where more lie than two columns hold, they are smaller and in more
SEED_SHARE: Final = 0.94  # of the width of a lane: the rest keeps the seeds apart

STONE: Final = 15  # radius of the stone that lies on a tuzdyk
STONE_AT: Final = 8  # from the middle of the hole towards the row's player
OWNER_AT: Final = -18
POINTER: Final = (-46, -34, 11)  # tip, base and half the width of the wedge towards the owner

CAPTION_ROOM: Final = 1200  # letters times their size: half of it is their width
COUNT_SIZE: Final = 17
TOTAL_SIZE: Final = 21

HOLLOW_COLOURS: Final = ("#4a2912", "#754a28", "#8a5a32")
SEED_COLOURS: Final = ("#fdf9ea", "#e0cfa4", "#9d8453")
SEED_EDGE: Final = "#3d2f16"
OWNER_COLOURS: Final = ("#15616d", "#5b3a78")  # of a tuzdyk: South's and North's
STONE_COLOURS: Final = ("#5fc3c9", "#b58ad6")
RIM_STYLE: Final = {"stroke": RIM_COLOUR, "stroke_width": RIM, "stroke_opacity": 0.8}


def draw(
    holes: Sequence[int],
    stores: Sequence[int],
    tuzdyks: Sequence[int | None],
    mover: int | None,
    last: tuple[int, int] | None = None,
    caption: str = "",
) -> str:
    """The board as a self-contained SVG document, the same text for the same board.

    Holes count from 0 at South's hole 1 in sowing order; `tuzdyks` are the holes that South and North own. `last` is the
    hole played, ringed, and the hole where its last seed fell, ringed with dashes. No side is marked if `mover` is None.
    The ground is opaque and carries every text, so that the picture reads on light and on dark pages.
    """
    line = one_line(caption)
    picture = svg.Drawing(WIDTH, HEIGHT, role="img", font_family=FONT, text_anchor="middle")
    picture.append_title(_in_words(holes, stores, tuzdyks, line))
    for gradient in _gradients():
        picture.append_def(gradient)
    picture.append(wooden_board(complex(WIDTH, HEIGHT), MIDDLE - PLATE / 2, PLATE, GRAIN_LINES, "toguz-wood"))
    picture.extend(_side(seat, seat == mover) for seat in range(len(NAMES)))
    picture.extend(_store(seat, seeds) for seat, seeds in enumerate(stores))
    picture.extend(_tuzdyk(place) if place in tuzdyks else _hole(place, seeds) for place, seeds in enumerate(holes))
    picture.append(_last_move(last))
    size = min(CAPTION_SIZE, CAPTION_ROOM / max(1, len(line)))
    picture.append(text(line, CAPTION_AT, round(size, 2), LIGHT_INK, "caption"))
    return str(picture.as_svg(header=""))


def _in_words(holes: Sequence[int], stores: Sequence[int], tuzdyks: Sequence[int | None], caption: str) -> str:
    """The board as sentences, for people who hear the picture."""
    sentences = ["Toguz Kumalak"]
    for seat, name in enumerate(NAMES):
        row = ", ".join(map(str, holes[seat * ROW : (seat + 1) * ROW]))
        place = tuzdyks[seat]
        owned = "" if place is None else f", tuzdyk {hole_name(place)}"
        sentences.append(f"{name}: {row} in holes 1 to 9, {stores[seat]} in the store{owned}")
    return ". ".join([*sentences, caption] if caption else sentences)


# The parts of the picture


def _side(seat: int, to_move: bool) -> svg.Group:
    """A player's name and the numbers of the holes, lit if the player is to move."""
    side = svg.Group(class_="side", data_player=NAMES[seat])
    colour = DARK_INK if to_move else LIGHT_INK
    if to_move:
        side.append(_mover_mark(seat))
    for number, x in enumerate(HOLES_AT, start=1):
        side.append(text(str(number), _turned(seat, x, LABEL), LABEL_SIZE, colour, "label"))
    side.append(text(NAMES[seat], _turned(seat, NAME_AT, LABEL), LABEL_SIZE, colour, "name"))
    return side


def _mover_mark(seat: int) -> svg.Group:
    """A lit band along the player's side, with arrows that point the way the seeds go."""
    band = rectangle(_turned(seat, 0, LABEL), BAND, BAND.imag / 2, fill=LIT_COLOUR)
    arrows = svg.Group(fill=DARK_INK)
    for x in ARROWS_AT:
        arrows.append(
            polygon(*(_turned(seat, x + dx, LABEL + dy) for dx, dy in ((-ARROW, -ARROW), (ARROW, 0), (-ARROW, ARROW))))
        )
    return svg.Group([band, arrows], class_="mover")


def _hole(place: int, seeds: int) -> svg.Group:
    """A groove with its seeds and their number."""
    hole, middle = _named(place, f"{hole_name(place)}: {seeds}"), _middle(place)
    hole.append(rectangle(middle, HOLE, HOLE_CORNER, class_="hollow", fill="url(#toguz-hollow)", **RIM_STYLE))
    spots, radius = _laid(seeds, SEED_ROOM.real, SEED_ROOM.imag)
    seat = place // ROW
    hole.append(_seeds([middle + _about(seat, spot.real, spot.imag) for spot in spots], radius))
    hole.append(text(str(seeds), _beside(place), COUNT_SIZE, DARK_INK, "count"))
    return hole


def _tuzdyk(place: int) -> svg.Group:
    """A closed groove in its owner's colour: a stone, the owner's name, and a wedge that points to the owner."""
    row, middle = place // ROW, _middle(place)
    owner = 1 - row
    hole = _named(place, f"{hole_name(place)}: {NAMES[owner]}'s tuzdyk")
    tuzdyk = svg.Group(class_="tuzdyk", data_owner=NAMES[owner])
    tuzdyk.append(rectangle(middle, HOLE, HOLE_CORNER, class_="hollow", fill=OWNER_COLOURS[owner], **RIM_STYLE))
    stone = middle + _about(row, 0, STONE_AT)
    tuzdyk.append(circle(stone, STONE, fill=STONE_COLOURS[owner], stroke=LIGHT_INK, stroke_width=RIM))
    tuzdyk.append(text("X", stone, COUNT_SIZE, DARK_INK, "stone"))
    tuzdyk.append(text(NAMES[owner], middle + _about(row, 0, OWNER_AT), LABEL_SIZE, LIGHT_INK, "owner"))
    tip, base, half = POINTER
    wedge = [middle + _about(row, x, y) for x, y in ((-half, base), (0, tip), (half, base))]
    tuzdyk.append(polygon(*wedge, fill=STONE_COLOURS[owner]))
    hole.append(tuzdyk)
    hole.append(text("tuzdyk", _beside(place), LABEL_SIZE, DARK_INK, "count"))
    return hole


def _last_move(last: tuple[int, int] | None) -> svg.Group:
    """Rings round the hole played and, with dashes, round the hole where its last seed fell."""
    group = svg.Group(class_="last")
    for kind, place in zip(("to", "from"), reversed(last or ()), strict=False):
        dashes = {"stroke_dasharray": "7 5"} if kind == "to" else {}
        corner = HOLE_CORNER + LAST_GAP.real / 2
        ring = rectangle(
            _middle(place), HOLE + LAST_GAP, corner, class_=kind, data_hole=hole_name(place), **LAST_STYLE, **dashes
        )
        group.append(ring)
    return group


def _store(seat: int, seeds: int) -> svg.Group:
    """A long trough before the player's holes that fills up from the player's left, and its total."""
    store = svg.Group(class_="store", data_store=NAMES[seat])
    store.append_title(f"{NAMES[seat]}: {seeds}")
    middle = _turned(seat, 0, STORE_AT)
    store.append(rectangle(middle, STORE, STORE_CORNER, class_="hollow", fill="url(#toguz-hollow)", **RIM_STYLE))
    spots, radius = _laid(seeds, STORE_ROOM.imag, STORE_ROOM.real)
    store.append(_seeds([middle + _about(seat, -spot.imag, spot.real) for spot in spots], radius))
    store.append(text(str(seeds), _turned(seat, TOTAL_AT, STORE_AT), TOTAL_SIZE, DARK_INK, "total"))
    return store


def _seeds(spots: Sequence[complex], radius: float) -> svg.Group:
    """One seed on each spot."""
    group = svg.Group(fill="url(#toguz-seed)", stroke=SEED_EDGE, stroke_width=0.8)
    group.extend(circle(spot, radius, class_="seed") for spot in spots)
    return group


def _laid(seeds: int, width: float, length: float) -> tuple[list[complex], float]:
    """Spots for the seeds in columns about 0, filled from the near end, and the seeds' radius; none overlap."""
    lanes = next(lanes for lanes in count(LANES) if lanes * int(length * lanes / width) >= seeds)
    pitch = width / lanes
    rows = int(length / pitch)
    spots = [
        complex(pitch * (number % lanes - (lanes - 1) / 2), pitch * ((rows - 1) / 2 - number // lanes))
        for number in range(seeds)
    ]
    return spots, pitch / 2 * SEED_SHARE


# Places


def _turned(seat: int, x: float, y: float) -> complex:
    """The point that the player finds x to the right of the middle of the board and y nearer than it."""
    return MIDDLE + _about(seat, x, y)


def _about(seat: int, x: float, y: float) -> complex:
    """The way that the player sees as x to the right and y nearer."""
    return complex(x, y) * (-1 if seat else 1)


def _middle(place: int) -> complex:
    """The middle of the hole."""
    return _turned(place // ROW, HOLES_AT[place % ROW], HOLE_AT)


def _beside(place: int) -> complex:
    """Where the hole's number of seeds stands."""
    return _turned(place // ROW, HOLES_AT[place % ROW], COUNT)


# Shapes


def _named(place: int, title: str) -> svg.Group:
    """The group of a hole."""
    group = svg.Group(class_="hole", data_hole=hole_name(place))
    group.append_title(title)
    return group


def _gradients() -> list[svg.LinearGradient | svg.RadialGradient]:
    """The shades of wood, hollows and seeds; named, because pictures of other games may share the page."""
    box = "objectBoundingBox"
    wood = svg.LinearGradient(0, 0, 0, 1, box, id="toguz-wood")
    hollow = svg.LinearGradient(0, 0, 0, 1, box, id="toguz-hollow")
    seed = svg.RadialGradient(0.36, 0.32, 0.72, box, id="toguz-seed")
    for gradient, colours in ((wood, WOOD_COLOURS), (hollow, HOLLOW_COLOURS), (seed, SEED_COLOURS)):
        for number, colour in enumerate(colours):
            gradient.add_stop(number / (len(colours) - 1), colour)
    return [wood, hollow, seed]
