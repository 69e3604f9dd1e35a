"""An Oware board for a terminal, and what boards and pictures call things."""

from collections.abc import Sequence
from typing import Final

from envs.games.captions import NAMES, one_line
from envs.games.oware.rules import HOUSES

LETTERS: Final = ("ABCDEF", "abcdef")


def board_text(
    houses: Sequence[int], stores: Sequence[int], mover: int | None, last_house: int | None = None, caption: str = ""
) -> str:
    """The board in seven lines of ASCII, then the caption: `>` marks the side to move, `*` the last move's house."""
    cells = [f"|{'*' if place == last_house else ' '}{seeds:2d} " for place, seeds in enumerate(houses)]
    south, north = "".join(cells[:HOUSES]) + "|", "".join(reversed(cells[HOUSES:])) + "|"
    starts = [f"{'>' if seat == mover else ' '} {name}" for seat, name in enumerate(NAMES)]
    indent = " " * len("> North 48 ")
    rule = indent + "+----" * HOUSES + "+"
    lines = [
        indent + "".join(f"   {letter} " for letter in reversed(LETTERS[1])),
        rule,
        f"{starts[1]} {stores[1]:2d} {north}",
        rule,
        f"{starts[0]}    {south} {stores[0]:2d}",
        rule,
        indent + "".join(f"   {letter} " for letter in LETTERS[0]),
        one_line(caption),
    ]
    return "\n".join(line.rstrip() for line in lines).rstrip()
