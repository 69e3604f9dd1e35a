"""The pictures of a Uisge board show every piece in its place, and the texts that go with them."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from envs.games.uisge.ascii import board_text
from envs.games.uisge.drawing import draw

SVG = "{http://www.w3.org/2000/svg}"
START = (".......", "..nn...", ".nnnn..", "..ssss.", "...ss..", ".......")
MIDGAME = (".......", "...ssN.", "..Ss.N.", "..sN...", ".NnN...", "...S...")
LAST = ("b3", "c4")


def read(text: str) -> Element:
    return ElementTree.fromstring(text)


def marked(element: Element, kind: str) -> list[Element]:
    return [found for found in element.iter() if kind in found.get("class", "").split()]


def texts(element: Element, kind: str) -> list[str]:
    return [found.text or "" for found in marked(element, kind)]


def spot(element: Element) -> tuple[float, float]:
    return float(element.attrib["cx"]), float(element.attrib["cy"])


# The picture


def test_the_picture_is_one_well_formed_svg_with_its_size_and_view_box() -> None:
    picture = read(draw(START, 0, None))
    assert picture.tag == f"{SVG}svg"
    assert (picture.get("width"), picture.get("height"), picture.get("viewBox")) == ("536", "536", "0 0 536 536")


@pytest.mark.parametrize("board", [START, MIDGAME])
def test_every_piece_is_shown_in_its_place(board: tuple[str, ...]) -> None:
    pieces = {spot(marked(piece, "disc")[0]): piece for piece in marked(read(draw(board, 0, None)), "piece")}
    shown = [[pieces.pop((76 + 64 * file, 80 + 64 * row), None) for file in range(7)] for row in range(6)]
    assert not pieces
    assert ["".join("." if piece is None else piece.attrib["data-piece"] for piece in row) for row in shown] == list(board)


def test_kings_and_only_kings_wear_a_crown() -> None:
    pieces = marked(read(draw(MIDGAME, 0, None)), "piece")
    assert [bool(marked(piece, "crown")) for piece in pieces] == [piece.attrib["data-piece"] in "SN" for piece in pieces]
    assert [bool(marked(piece, "ring")) for piece in pieces] == [piece.attrib["data-piece"] in "sn" for piece in pieces]


def test_the_labels_name_files_ranks_and_players_with_their_kings() -> None:
    picture = read(draw(MIDGAME, 0, None))
    assert texts(picture, "file") == list("abcdefg")
    assert texts(picture, "rank") == [rank for rank in "654321" for _ in range(2)]
    assert (texts(picture, "name"), texts(picture, "kings")) == (["South", "North"], ["2 kings", "5 kings"])


def test_only_the_squares_of_the_last_move_are_marked() -> None:
    assert [mark.get("data-square") for mark in marked(read(draw(MIDGAME, 1, LAST)), "last")] == list(LAST)
    assert not marked(read(draw(MIDGAME, 1, None)), "last")


@pytest.mark.parametrize(("mover", "names"), [(0, ["South"]), (1, ["North"]), (None, [])])
def test_only_the_side_to_move_is_marked(mover: int | None, names: list[str]) -> None:
    sides = marked(read(draw(START, mover, None)), "side")
    assert [side.get("data-player") for side in sides if marked(side, "mover")] == names


def test_the_same_board_gives_the_same_text() -> None:
    assert draw(MIDGAME, 1, LAST, "North to move") == draw(list(MIDGAME), 1, LAST, "North to move")


def test_a_caption_stays_text_on_one_line_and_is_set_smaller_where_it_is_long() -> None:
    caption = "<b>A & B</b> \"won\" 'it'"
    picture = read(draw(START, None, None, f"{caption}\n twice "))
    assert texts(picture, "caption") == [f"{caption} twice"]
    assert picture.findtext(f"{SVG}title", "").endswith(f"{caption} twice")
    short, long = (float(marked(read(draw(START, 0, None, "x" * n)), "caption")[0].attrib["font-size"]) for n in (40, 160))
    assert short > long


def test_the_title_tells_the_board_in_words() -> None:
    assert read(draw(MIDGAME, 1, LAST, "North to move")).findtext(f"{SVG}title") == (
        "Uisge. South: pawns c3 d4 d5 e5, kings c4 d1. North: pawns c2, kings b2 d2 d3 f4 f5. North to move"
    )
    assert "North: pawns b4 c4 c5 d4 d5 e4, kings none" in read(draw(START, 0, None)).findtext(f"{SVG}title", "")


def test_the_picture_fetches_nothing_and_refers_only_to_what_it_defines() -> None:
    picture = read(draw(MIDGAME, 1, LAST, "North to move"))
    names = [found.attrib["id"] for found in picture.iter() if found.get("id")]
    used = {value for found in picture.iter() for value in found.attrib.values() if "url" in value}
    assert used == {f"url(#{name})" for name in names}
    assert all(name.startswith("uisge-") for name in names)
    assert not any("href" in name or name == "style" for found in picture.iter() for name in found.attrib)


# The text


def test_a_board_reads_so_in_a_terminal() -> None:
    assert board_text(MIDGAME, 1, LAST, "North\nto move") == "\n".join(
        [
            "> North",
            "  6   .  .  .  .  .  .  .",
            "  5   .  .  .  s  s  N  .",
            "  4   .  . *S  s  .  N  .",
            "  3   . *.  s  N  .  .  .",
            "  2   .  N  n  N  .  .  .",
            "  1   .  .  .  S  .  .  .",
            "      a  b  c  d  e  f  g",
            "  South",
            "North to move",
        ]
    )


def test_a_game_that_is_over_marks_no_side_and_the_text_is_plain() -> None:
    text = board_text(START, None, None)
    assert ">" not in text and "*" not in text and text.isascii()
    assert text.endswith("  South")
