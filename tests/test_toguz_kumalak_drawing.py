"""The pictures of a Toguz Kumalak board show every seed in its place, and the texts that go with them."""

from __future__ import annotations

from itertools import combinations
from math import hypot
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from envs.games.toguz_kumalak.ascii import board_text, hole_name
from envs.games.toguz_kumalak.drawing import draw

SVG = "{http://www.w3.org/2000/svg}"
START = [9] * 18
MIDGAME = [7, 0, 18, 5, 17, 0, 3, 1, 1, 0, 5, 4, 17, 5, 6, 5, 1, 8]
TUZDYKS = (9, 5)  # South's on North's hole 1, North's on South's hole 6
NONE = (None, None)
TOUCH = 0.02  # pixels: what rounding may add to a distance


def read(text: str) -> Element:
    return ElementTree.fromstring(text)


def marked(element: Element, kind: str) -> list[Element]:
    return [found for found in element.iter() if kind in found.get("class", "").split()]


def texts(element: Element, kind: str) -> list[str]:
    return [found.text or "" for found in marked(element, kind)]


def numbers(element: Element, *names: str) -> tuple[float, ...]:
    return tuple(float(element.attrib[name]) for name in names)


def check_seeds(group: Element, seeds: int) -> None:
    """So many seeds lie in the group's hollow, a rounded rectangle, and apart."""
    left, top, width, height, corner = numbers(marked(group, "hollow")[0], "x", "y", "width", "height", "rx")
    spots = [numbers(seed, "cx", "cy", "r") for seed in marked(group, "seed")]
    assert len(spots) == seeds
    for x, y, r in spots:
        beyond_x = max(left + corner - x, x - (left + width - corner), 0)
        beyond_y = max(top + corner - y, y - (top + height - corner), 0)
        assert hypot(beyond_x, beyond_y) + r < corner
    assert all(hypot(ax - bx, ay - by) + TOUCH > ar + br for (ax, ay, ar), (bx, by, br) in combinations(spots, 2))


def test_the_picture_is_one_well_formed_svg_with_its_size_and_view_box() -> None:
    picture = read(draw(START, (0, 0), NONE, 0))
    assert picture.tag == f"{SVG}svg"
    assert numbers(picture, "width", "height") == (720, 480)
    assert picture.get("viewBox") == "0 0 720 480"


def test_every_hole_shows_its_seeds_and_their_number_and_a_tuzdyk_its_owner() -> None:
    holes = marked(read(draw(MIDGAME, (41, 18), TUZDYKS, 1)), "hole")
    assert [hole.get("data-hole") for hole in holes] == [hole_name(place) for place in range(18)]
    for place, hole in enumerate(holes):
        assert len(marked(hole, "seed")) == MIDGAME[place]
        assert texts(hole, "count") == ["tuzdyk" if place in TUZDYKS else str(MIDGAME[place])]
        assert texts(hole, "owner") == {9: ["South"], 5: ["North"]}.get(place, [])


@pytest.mark.parametrize("seeds", [0, 1, 2, 9, 10, 11, 21, 22, 40, 41, 60, 61, 90, 91, 126, 127, 161, 162])
def test_up_to_162_seeds_stay_within_a_hole_and_a_store_and_apart(seeds: int) -> None:
    place = seeds % 18
    picture = read(draw([seeds if other == place else 0 for other in range(18)], (seeds, seeds), NONE, None))
    check_seeds(marked(picture, "hole")[place], seeds)
    for store in marked(picture, "store"):
        check_seeds(store, seeds)
        assert texts(store, "total") == [str(seeds)]


def test_south_runs_left_to_right_below_and_north_right_to_left_above_with_the_stores_between() -> None:
    picture = read(draw(START, (0, 0), NONE, 0))
    spots = [numbers(hollow, "x", "y") for hollow in marked(picture, "hollow")]
    south_store, north_store, south, north = *spots[:2], spots[2:11], spots[11:]
    assert [x for x, _ in south] == sorted(x for x, _ in north)
    assert [x for x, _ in north] == sorted((x for x, _ in south), reverse=True)
    assert max(y for _, y in north) < north_store[1] < south_store[1] < min(y for _, y in south)
    assert texts(picture, "label") == [str(number) for number in range(1, 10)] * 2


@pytest.mark.parametrize(("mover", "names"), [(0, ["South"]), (1, ["North"]), (None, [])])
def test_only_the_side_to_move_is_marked(mover: int | None, names: list[str]) -> None:
    picture = read(draw(START, (0, 0), NONE, mover))
    assert [side.get("data-player") for side in marked(picture, "side") if marked(side, "mover")] == names
    lines = board_text(START, (0, 0), NONE, mover).splitlines()
    assert [line.split()[1] for line in lines if ">" in line] == names


def test_the_last_move_is_ringed_where_it_began_and_where_it_ended() -> None:
    (last,) = marked(read(draw(START, (0, 0), NONE, 1, (6, 14))), "last")
    assert [(ring.get("class"), ring.get("data-hole")) for ring in last] == [("to", "North 6"), ("from", "South 7")]
    assert not list(marked(read(draw(START, (0, 0), NONE, 0)), "last")[0])


def test_a_caption_of_several_lines_with_markup_becomes_one_line_of_text() -> None:
    picture = read(draw(START, (0, 0), NONE, None, caption="<b>A & B</b>\n \"won\" 'it'"))
    assert texts(picture, "caption") == ["<b>A & B</b> \"won\" 'it'"]


def test_the_title_tells_the_board_in_words() -> None:
    title = read(draw(MIDGAME, (41, 18), (9, None), 1, caption="North to move")).findtext(f"{SVG}title")
    assert title == (
        "Toguz Kumalak. South: 7, 0, 18, 5, 17, 0, 3, 1, 1 in holes 1 to 9, 41 in the store, tuzdyk North 1. "
        "North: 0, 5, 4, 17, 5, 6, 5, 1, 8 in holes 1 to 9, 18 in the store. North to move"
    )


def test_the_same_board_gives_the_same_text_which_refers_only_to_what_it_defines() -> None:
    text = draw(MIDGAME, (41, 18), TUZDYKS, 1, (2, 12), "North to move")
    assert text == draw(list(MIDGAME), [41, 18], list(TUZDYKS), 1, (2, 12), "North to move")
    elements = list(read(text).iter())
    used = {value for found in elements for value in found.attrib.values() if "url" in value}
    assert used == {f"url(#{found.get('id')})" for found in elements if found.get("id")}
    assert not any("href" in name or name == "style" for found in elements for name in found.attrib)


def test_a_board_reads_so_in_a_terminal() -> None:
    holes = [162, *MIDGAME[1:]]
    assert board_text(holes, (41, 8), TUZDYKS, 1, last=(2, 12), caption="North\nto move") == "\n".join(
        [
            "            9     8     7     6     5     4     3     2     1",
            "        +-----+-----+-----+-----+-----+-----+-----+-----+-----+",
            "> North |   8 |   1 |   5 |   6 |   5 |+ 17 |   4 |   5 |   X |",
            "        +-----+-----+-----+-----+-----+-----+-----+-----+-----+",
            "          North's store   8, tuzdyk South 6",
            "          South's store  41, tuzdyk North 1",
            "        +-----+-----+-----+-----+-----+-----+-----+-----+-----+",
            "  South | 162 |   0 |* 18 |   5 |  17 |   X |   3 |   1 |   1 |",
            "        +-----+-----+-----+-----+-----+-----+-----+-----+-----+",
            "            1     2     3     4     5     6     7     8     9",
            "North to move",
        ]
    )


def test_a_move_that_ends_where_it_began_and_no_caption_leave_one_star_and_the_numbers_last() -> None:
    text = board_text(START, (0, 0), NONE, 0, last=(3, 3))
    assert (text.count("*"), "+ " in text, text.isascii()) == (1, False, True)
    assert text.endswith("1     2     3     4     5     6     7     8     9")
