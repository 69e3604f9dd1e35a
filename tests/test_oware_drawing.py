"""The pictures of an Oware board show every seed in its place, and the texts that go with them."""

from __future__ import annotations

from itertools import combinations
from math import hypot
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from envs.games.oware.ascii import board_text
from envs.games.oware.drawing import draw

SVG = "{http://www.w3.org/2000/svg}"
LETTERS = "ABCDEFabcdef"
START = [4] * 12
MIDGAME = [0, 5, 1, 9, 0, 2, 7, 1, 3, 12, 0, 2]
TOUCH = 0.02  # pixels: what rounding may add to a distance


def read(text: str) -> Element:
    return ElementTree.fromstring(text)


def marked(element: Element, kind: str) -> list[Element]:
    return [found for found in element.iter() if kind in found.get("class", "").split()]


def texts(element: Element, kind: str) -> list[str]:
    return [found.text or "" for found in marked(element, kind)]


def house(picture: Element, letter: str) -> Element:
    return next(found for found in marked(picture, "house") if found.get("data-house") == letter)


def store(picture: Element, name: str) -> Element:
    return next(found for found in marked(picture, "store") if found.get("data-store") == name)


def numbers(element: Element, *names: str) -> tuple[float, ...]:
    return tuple(float(element.attrib[name]) for name in names)


def full_house(place: int, seeds: int) -> list[int]:
    return [seeds if other == place else 0 for other in range(12)]


# The picture


def test_the_picture_is_one_well_formed_svg_with_its_size_and_view_box() -> None:
    picture = read(draw(START, (0, 0), 0))
    assert picture.tag == f"{SVG}svg"
    assert numbers(picture, "width", "height") == (720, 328)
    assert picture.get("viewBox") == "0 0 720 328"


def test_every_house_shows_as_many_seeds_as_it_holds() -> None:
    picture = read(draw(MIDGAME, (4, 2), 0))
    assert [len(marked(house(picture, letter), "seed")) for letter in LETTERS] == MIDGAME
    assert [texts(house(picture, letter), "count") for letter in LETTERS] == [[str(seeds)] for seeds in MIDGAME]


@pytest.mark.parametrize("stores", [(0, 0), (25, 19), (48, 0), (0, 48)])
def test_every_store_shows_its_seeds_and_its_total(stores: tuple[int, int]) -> None:
    picture = read(draw([0] * 12, stores, None))
    for name, seeds in zip(("South", "North"), stores, strict=True):
        assert len(marked(store(picture, name), "seed")) == seeds
        assert texts(store(picture, name), "total") == [str(seeds)]


def test_the_labels_name_the_houses_and_the_players() -> None:
    picture = read(draw(START, (0, 0), 0))
    assert texts(picture, "label") == list(LETTERS)
    assert texts(picture, "name") == ["South", "North"]


def test_south_runs_left_to_right_below_and_north_right_to_left_above() -> None:
    picture = read(draw(START, (0, 0), 0))
    hollows = [numbers(marked(house(picture, letter), "hollow")[0], "cx", "cy") for letter in LETTERS]
    south, north = hollows[:6], hollows[6:]
    assert [x for x, _ in south] == sorted(x for x, _ in south)
    assert [x for x, _ in north] == [x for x, _ in reversed(south)]
    assert min(y for _, y in south) > max(y for _, y in north)


def test_each_store_lies_to_its_players_right() -> None:
    picture = read(draw(START, (0, 0), 0))
    (south,), (north,) = (numbers(marked(store(picture, name), "hollow")[0], "x") for name in ("South", "North"))
    (first,), (last,) = (numbers(marked(house(picture, letter), "hollow")[0], "cx") for letter in "AF")
    assert north < first < last < south


@pytest.mark.parametrize("place", range(12))
def test_only_the_house_of_the_last_move_is_ringed(place: int) -> None:
    picture = read(draw(START, (0, 0), 0, last_house=place))
    ringed = [letter for letter in LETTERS if marked(house(picture, letter), "last")]
    assert ringed == [LETTERS[place]]


def test_without_a_last_move_no_house_is_ringed() -> None:
    assert not marked(read(draw(START, (0, 0), 0)), "last")


@pytest.mark.parametrize(("mover", "name"), [(0, "South"), (1, "North")])
def test_the_side_to_move_is_marked(mover: int, name: str) -> None:
    sides = marked(read(draw(START, (0, 0), mover)), "side")
    assert [side.get("data-player") for side in sides if marked(side, "mover")] == [name]


def test_no_side_is_marked_when_nobody_is_to_move() -> None:
    assert not marked(read(draw(START, (0, 0), None)), "mover")


def test_the_same_board_gives_the_same_text() -> None:
    assert draw(MIDGAME, (4, 2), 1, 3, "North to move") == draw(MIDGAME, (4, 2), 1, 3, "North to move")


def test_a_caption_with_markup_stays_text() -> None:
    caption = "<b>A & B</b> \"won\" 'it'"
    picture = read(draw(START, (0, 0), None, caption=caption))
    assert texts(picture, "caption") == [caption]
    assert picture.findtext(f"{SVG}title", "").endswith(caption)


def test_a_caption_of_several_lines_becomes_one_line() -> None:
    assert texts(read(draw(START, (0, 0), None, caption="one\n two ")), "caption") == ["one two"]


def test_a_long_caption_is_set_smaller() -> None:
    short, long = (marked(read(draw(START, (0, 0), 0, caption="x" * n)), "caption")[0] for n in (40, 160))
    assert numbers(short, "font-size") > numbers(long, "font-size")


def test_the_title_tells_the_board_in_words() -> None:
    title = read(draw(MIDGAME, (4, 2), 1, caption="North to move")).findtext(f"{SVG}title")
    assert title == (
        "Oware. South: A 0, B 5, C 1, D 9, E 0, F 2, store 4. North: a 7, b 1, c 3, d 12, e 0, f 2, store 2. North to move"
    )


def test_the_picture_fetches_nothing_and_refers_only_to_what_it_defines() -> None:
    text = draw(MIDGAME, (4, 2), 1, 3, "North to move")
    picture = read(text)
    defined = {f"url(#{found.get('id')})" for found in picture.iter() if found.get("id")}
    used = {value for found in picture.iter() for value in found.attrib.values() if "url" in value}
    assert used == defined
    assert not any("href" in name or name == "style" for found in picture.iter() for name in found.attrib)


# The seeds


@pytest.mark.parametrize("seeds", range(49))
def test_up_to_48_seeds_stay_within_the_hollow_and_apart(seeds: int) -> None:
    place = seeds % 12
    group = house(read(draw(full_house(place, seeds), (0, 0), 0)), LETTERS[place])
    x, y, hollow = numbers(marked(group, "hollow")[0], "cx", "cy", "r")
    spots = [numbers(seed, "cx", "cy", "r") for seed in marked(group, "seed")]
    assert len(spots) == seeds
    assert all(hypot(cx - x, cy - y) + r < hollow for cx, cy, r in spots)
    assert all(hypot(ax - bx, ay - by) + TOUCH > ar + br for (ax, ay, ar), (bx, by, br) in combinations(spots, 2))


@pytest.mark.parametrize("name", ["South", "North"])
def test_48_seeds_stay_within_a_store_and_apart(name: str) -> None:
    group = store(read(draw([0] * 12, (48, 48), None)), name)
    left, top, width, height, corner = numbers(marked(group, "hollow")[0], "x", "y", "width", "height", "rx")
    spots = [numbers(seed, "cx", "cy", "r") for seed in marked(group, "seed")]
    for cx, cy, r in spots:
        # A rounded rectangle is all that lies within `corner` of the rectangle of its corners' centres.
        beyond_x = max(left + corner - cx, cx - (left + width - corner), 0)
        beyond_y = max(top + corner - cy, cy - (top + height - corner), 0)
        assert hypot(beyond_x, beyond_y) + r < corner
    assert all(hypot(ax - bx, ay - by) + TOUCH > ar + br for (ax, ay, ar), (bx, by, br) in combinations(spots, 2))


def test_the_seeds_of_a_crowded_house_are_smaller_but_still_three_pixels_and_more() -> None:
    few, many = (house(read(draw(full_house(2, seeds), (0, 0), 0)), "C") for seeds in (4, 48))
    (large,), (small,) = (numbers(marked(group, "seed")[0], "r") for group in (few, many))
    assert large > small > 3


# The text


def test_the_start_position_reads_so_in_a_terminal() -> None:
    assert board_text(START, (0, 0), 0, caption="South to move") == "\n".join(
        [
            "              f    e    d    c    b    a",
            "           +----+----+----+----+----+----+",
            "  North  0 |  4 |  4 |  4 |  4 |  4 |  4 |",
            "           +----+----+----+----+----+----+",
            "> South    |  4 |  4 |  4 |  4 |  4 |  4 |  0",
            "           +----+----+----+----+----+----+",
            "              A    B    C    D    E    F",
            "South to move",
        ]
    )


def test_a_full_board_keeps_its_columns_in_a_terminal() -> None:
    houses = [0, 48, 10, 1, 22, 3, 40, 5, 16, 7, 28, 9]
    assert board_text(houses, (20, 48), 1, last_house=1, caption="North\nto move") == "\n".join(
        [
            "              f    e    d    c    b    a",
            "           +----+----+----+----+----+----+",
            "> North 48 |  9 | 28 |  7 | 16 |  5 | 40 |",
            "           +----+----+----+----+----+----+",
            "  South    |  0 |*48 | 10 |  1 | 22 |  3 | 20",
            "           +----+----+----+----+----+----+",
            "              A    B    C    D    E    F",
            "North to move",
        ]
    )


def test_the_last_move_of_north_is_marked_in_norths_row() -> None:
    assert "|  4 |  4 |  4 |* 4 |  4 |  4 |" in board_text(START, (0, 0), 0, last_house=8).splitlines()[2]


def test_a_game_that_is_over_marks_no_side_in_a_terminal() -> None:
    assert ">" not in board_text(START, (0, 0), None)


def test_without_a_caption_the_text_ends_with_the_letters() -> None:
    text = board_text(START, (0, 0), 0)
    assert text.endswith("A    B    C    D    E    F")
    assert text.isascii()
