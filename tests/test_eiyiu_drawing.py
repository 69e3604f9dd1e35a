"""The pictures of an Eiyiu board show every tile in its place, and the texts that go with them."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from envs.games.eiyiu.ascii import board_text
from envs.games.eiyiu.drawing import draw

SVG = "{http://www.w3.org/2000/svg}"
START: dict[str, Any] = {
    "tiles": {},
    "open": range(1, 10),
    "hidden": range(1, 10),
    "hand": None,
    "drawing": False,
    "lifted": None,
    "barred": [],
    "winning": [],
    "mover": 0,
    "last": None,
}
LAYING = START | {
    "tiles": {(1, 2): 1, (2, 2): 2, (2, 1): 7},
    "open": (3, 4, 5),
    "hidden": (8, 1, 1),
    "mover": 1,
    "last": (2, 1),
}
LIFTED = LAYING | {"open": (), "hidden": (), "hand": 9, "lifted": (3, 1)}
WON = START | {"tiles": {(1, 1): 4, (2, 1): 5, (3, 1): 6}, "winning": [(1, 1), (2, 1), (3, 1)], "mover": None, "last": (3, 1)}
BARRED = LAYING | {"open": (), "hidden": (), "barred": [(1, 2)]}
WIDE = START | {"tiles": {(x, 1): 1 + x % 9 for x in range(1, 19)}, "open": (), "hidden": ()}
HIGH = START | {"tiles": {(1, y): 1 + y % 9 for y in range(1, 19)}, "open": (), "hidden": ()}
ALL = [START, LAYING, LAYING | {"drawing": True}, LIFTED, WON, BARRED, WIDE, HIGH]


def read(arguments: dict[str, Any], **changes: Any) -> Element:
    return ElementTree.fromstring(draw(**arguments | changes))


def marked(element: Element, kind: str) -> list[Element]:
    return [found for found in element.iter() if kind in found.get("class", "").split()]


def texts(element: Element, kind: str) -> list[str]:
    return [found.text or "" for found in marked(element, kind)]


def board(picture: Element, kind: str = "tile") -> dict[str, str]:
    """The numbers of the board's tiles by the names of their cells, of those with such a mark in them."""
    found = {tile.attrib["data-cell"]: tile for tile in marked(picture, "tile") if tile.get("data-cell")}
    return {cell: texts(tile, "number")[0] for cell, tile in found.items() if marked(tile, kind)}


def numbers(element: Element, *names: str) -> tuple[float, ...]:
    return tuple(float(element.attrib[name]) for name in names)


@pytest.mark.parametrize("arguments", ALL)
def test_the_picture_is_one_well_formed_svg_of_one_size(arguments: dict[str, Any]) -> None:
    picture = read(arguments)
    assert (picture.tag, picture.get("viewBox")) == (f"{SVG}svg", "0 0 720 492")
    assert draw(**arguments) == draw(**arguments)


@pytest.mark.parametrize("arguments", ALL)
def test_every_cell_lies_within_the_plate_and_has_a_named_row_and_column(arguments: dict[str, Any]) -> None:
    picture = read(arguments)
    columns, rows = texts(picture, "column"), texts(picture, "row")
    cells = [numbers(cell, "x", "y", "width", "height") for cell in marked(picture, "cell")]
    assert len(cells) == len(columns) * len(rows)
    assert columns == list("abcdefghijklmnopqrst")[: len(columns)]
    assert rows == [str(number) for number in range(1, len(rows) + 1)]
    assert all(min(x, y) > 14 and x + width < 476 and y + height < 450 for x, y, width, height in cells)


@pytest.mark.parametrize("arguments", [LAYING, WIDE, HIGH])
def test_every_tile_is_in_its_column_and_row(arguments: dict[str, Any]) -> None:
    picture = read(arguments)
    names = {f"{'abcdefghijklmnopqrst'[x]}{y + 1}": str(number) for (x, y), number in arguments["tiles"].items()}
    assert board(picture) == names
    columns = {column.text: numbers(column, "x") for column in marked(picture, "column")}
    rows = {row.text: numbers(row, "y") for row in marked(picture, "row")}
    for tile in marked(picture, "tile"):
        if cell := tile.get("data-cell"):
            (number,) = marked(tile, "number")
            assert numbers(number, "x") == columns[cell[0]]
            assert abs(numbers(number, "y")[0] - rows[cell[1:]][0]) < 12


def test_the_piles_show_open_numbers_and_as_many_backs_as_are_hidden() -> None:
    picture = read(LAYING)
    (open_pile,), (hidden_pile,) = marked(picture, "open"), marked(picture, "hidden")
    assert texts(open_pile, "number") == ["3", "4", "5"]
    assert (len(marked(hidden_pile, "back")), len(marked(hidden_pile, "gone"))) == (3, 6)
    assert texts(hidden_pile, "left") == ["hidden left: 1 1 8"]
    assert texts(hidden_pile, "number") == []


@pytest.mark.parametrize(
    ("changes", "kind", "shown"), [({}, "empty", [None]), ({"hand": 4}, "number", ["4"]), ({"drawing": True}, "sign", ["?"])]
)
def test_the_tile_in_hand_is_shown(changes: dict[str, Any], kind: str, shown: list[str]) -> None:
    (hand,) = marked(read(LAYING, **changes), "hand")
    assert [found.text for found in marked(hand, kind)] == shown


def test_a_lifted_tile_leaves_a_mark_on_its_cell() -> None:
    picture = read(LIFTED)
    assert len(marked(picture, "lifted")) == 1
    assert texts(picture, "origin") == ["from d2"]
    assert not marked(read(LAYING), "lifted")


def test_tiles_laid_last_barred_and_winning_are_marked() -> None:
    assert board(read(LAYING), "last") == {"c2": "7"}
    assert board(read(BARRED), "barred") == {"b3": "1"}
    assert board(read(WON), "winning") == {"b2": "4", "c2": "5", "d2": "6"}
    assert not any(board(read(START), kind) for kind in ("last", "barred", "winning"))


@pytest.mark.parametrize(("mover", "names"), [(0, ["South"]), (1, ["North"]), (None, [])])
def test_the_side_to_move_is_marked(mover: int | None, names: list[str]) -> None:
    picture = read(LAYING, mover=mover)
    assert [side.get("data-player") for side in marked(picture, "side") if marked(side, "mover")] == names
    lines = board_text(**LAYING | {"mover": mover}).splitlines()
    assert [line[2:] for line in lines if line.startswith(">")] == names


def test_a_caption_stays_text_on_one_line_and_is_set_smaller_if_it_is_long() -> None:
    picture = read(START, caption="<b>A & B</b>\n won ")
    assert texts(picture, "caption") == ["<b>A & B</b> won"]
    sizes = [numbers(marked(read(START, caption="x" * length), "caption")[0], "font-size") for length in (40, 160)]
    assert sizes[0] > sizes[1]


def test_the_title_tells_the_board_in_words() -> None:
    title = read(LIFTED, caption="North to lay").findtext(f"{SVG}title")
    assert title == "Eiyiu. Tiles: b3 1, c2 7, c3 2. Open: -. Hidden: -. Hand: 9 from d2. North to lay"


@pytest.mark.parametrize("arguments", ALL)
def test_the_picture_fetches_nothing_and_refers_only_to_what_it_defines(arguments: dict[str, Any]) -> None:
    picture = read(arguments)
    ids = [found.attrib["id"] for found in picture.iter() if found.get("id")]
    used = {value for found in picture.iter() for value in found.attrib.values() if "url" in value}
    assert used <= {f"url(#{name})" for name in ids}
    assert all(name.startswith("eiyiu-") for name in ids) and len(set(ids)) == len(ids)
    assert not any("href" in name or name == "style" for found in picture.iter() for name in found.attrib)


def test_a_board_reads_so_in_a_terminal() -> None:
    assert board_text(**LIFTED, caption="North\nto lay") == "\n".join(
        [
            "> North",
            " 4    .   .   .   .   .",
            " 3    .   1   2   .   .",
            " 2    .   .  *7   _   .",
            " 1    .   .   .   .   .",
            "      a   b   c   d   e",
            "  South",
            "  open -   hidden -   hand 9 from d2",
            "North to lay",
        ]
    )


def test_the_marks_of_tiles_read_so_in_a_terminal() -> None:
    assert " 2    .  [4] [5]*[6]  ." in board_text(**WON).splitlines()
    assert " 3    .   1x  2   ." in board_text(**BARRED).splitlines()
    assert board_text(**LAYING).endswith("  open 3 4 5   hidden 1 1 8   hand -")
    assert "hand ?" in board_text(**LAYING | {"drawing": True})
    assert board_text(**START).splitlines()[1:4] == [" 3    .   .   .", " 2    .   .   .", " 1    .   .   ."]


@pytest.mark.parametrize("arguments", ALL)
def test_the_text_for_a_terminal_is_ascii(arguments: dict[str, Any]) -> None:
    assert board_text(**arguments).isascii()
