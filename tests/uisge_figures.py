"""Loads the figures for Uisge computed elsewhere.

Boards are six rows from the top; options are named as the rules name them.
"""

from __future__ import annotations

from dataclasses import dataclass

from figures import _figures

Board = tuple[str, ...]


@dataclass(frozen=True)
class UisgeStart:
    """The start position and which squares each seat's pieces are on."""

    board: Board
    south_squares: tuple[str, ...]
    north_squares: tuple[str, ...]


@dataclass(frozen=True)
class UisgePerft:
    """A rule set and its perft counts from the start for depth 1, 2, ..."""

    no_move: str
    diagonal_jumps: str
    counts: tuple[int, ...]


@dataclass(frozen=True)
class UisgePosition:
    """A single position, perhaps with fewer than twelve pieces, and the moves of the side to move."""

    name: str
    board: Board
    mover: int
    legal: tuple[str, ...]
    illegal: tuple[str, ...]  # moves that must not be among them, where the figures name some


@dataclass(frozen=True)
class UisgeLine:
    """Moves from the start on, the board they lead to, and the seat that has no move there."""

    moves: tuple[str, ...]
    board: Board
    stuck_seat: int


def uisge_start() -> UisgeStart:
    """The start position."""
    entry = _figures("uisge.json")["start_position"]
    return UisgeStart(tuple(entry["board"]), tuple(entry["south_squares"]), tuple(entry["north_squares"]))


def uisge_perft() -> list[UisgePerft]:
    """The counts of every rule set."""
    return [
        UisgePerft(
            no_move=entry["options"].get("no_move", "loses"),
            diagonal_jumps="yes" if entry["options"].get("diagonal_jumps", False) else "no",
            counts=tuple(entry["nodes"]),
        )
        for entry in _figures("uisge.json")["perft"]
    ]


def uisge_positions() -> list[UisgePosition]:
    """The single positions."""
    return [
        UisgePosition(
            name=entry["name"],
            board=tuple(entry["board"]),
            mover="SN".index(entry["to_move"]),
            legal=tuple(entry["legal"]),
            illegal=tuple(entry.get("must_be_illegal", ())),
        )
        for entry in _figures("uisge.json")["positions"]
    ]


def uisge_lines() -> list[UisgeLine]:
    """The lines after which a seat has no move."""
    return [
        UisgeLine(tuple(entry["moves"]), tuple(entry["board"]), entry["stuck_seat"])
        for entry in _figures("uisge.json")["stuck_lines"]
    ]
