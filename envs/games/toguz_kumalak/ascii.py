"""A Toguz Kumalak board for a terminal, and what boards and pictures call things."""

from collections.abc import Sequence
from typing import Final

from envs.games.captions import NAMES, one_line

ROW: Final = 9  # holes of a player
TUZDYK: Final = "X"
INDENT: Final = " " * len("> North ")


def board_text(
    holes: Sequence[int],
    stores: Sequence[int],
    tuzdyks: Sequence[int | None],
    mover: int | None,
    last: tuple[int, int] | None = None,
    caption: str = "",
) -> str:
    """The board in ten lines of ASCII, then the caption.

    `>` marks the side to move, `X` a tuzdyk, `*` the hole last played and `+` the hole where its last seed fell.
    """
    cells = [f"|{_mark(place, last)}{TUZDYK if place in tuzdyks else seeds:>3} " for place, seeds in enumerate(holes)]
    starts = [f"{'>' if seat == mover else ' '} {name} " for seat, name in enumerate(NAMES)]
    numbers = [f"    {number} " for number in range(1, ROW + 1)]
    rule = INDENT + "+-----" * ROW + "+"
    lines = [
        INDENT + "".join(reversed(numbers)),
        rule,
        starts[1] + "".join(reversed(cells[ROW:])) + "|",
        rule,
        *(INDENT + _store(seat, stores[seat], tuzdyks[seat]) for seat in (1, 0)),
        rule,
        starts[0] + "".join(cells[:ROW]) + "|",
        rule,
        INDENT + "".join(numbers),
        one_line(caption),
    ]
    return "\n".join(line.rstrip() for line in lines).rstrip()


def hole_name(place: int) -> str:
    """What people call the hole, counted from 0 at South's hole 1: `North 3`."""
    seat, index = divmod(place, ROW)
    return f"{NAMES[seat]} {index + 1}"


def _mark(place: int, last: tuple[int, int] | None) -> str:
    """What stands before the seeds of a hole of the last move; a blank for the other holes."""
    return "*+"[last.index(place)] if last and place in last else " "


def _store(seat: int, seeds: int, tuzdyk: int | None) -> str:
    """A player's store and tuzdyk in words."""
    owned = "" if tuzdyk is None else f", tuzdyk {hole_name(tuzdyk)}"
    return f"  {NAMES[seat]}'s store {seeds:3d}{owned}"
