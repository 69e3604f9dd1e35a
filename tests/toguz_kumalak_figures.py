"""Loads what is known elsewhere of Toguz Kumalak, and recorded games where a folder of them is named.

Holes 0-8 are seat 0's holes 1-9 in sowing order, 9-17 seat 1's. A move is written as published games write it, without its
suffix: the hole, and the last hole where it is known.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figures import RECORDS_VARIABLE, _figures

RECORDS = "toguz_kumalak_games.json"

Stores = tuple[int, int]
Tuzdyks = tuple[int | None, int | None]


@dataclass(frozen=True)
class ToguzBoard:
    """A board and the side to move."""

    holes: tuple[int, ...]
    stores: Stores
    tuzdyks: Tuzdyks
    mover: int


@dataclass(frozen=True)
class ToguzPerft:
    """A position and its perft counts for depth 1, 2, ..."""

    category: str
    board: ToguzBoard
    counts: tuple[int, ...]


@dataclass(frozen=True)
class ToguzLine:
    """Moves from a board on, and the board they lead to; boards may hold fewer than 162 seeds."""

    before: ToguzBoard
    moves: tuple[str, ...]
    after: ToguzBoard


@dataclass(frozen=True)
class ToguzRecord:
    """A recorded game with every suffix; `ended` tells how, `final_scores` are None for a game broken off."""

    moves: tuple[str, ...]
    ended: str  # ">=82", "nomove" or "notover"
    final_scores: Stores | None
    stores: Stores


START = ToguzBoard((9,) * 18, (0, 0), (None, None), 0)


def toguz_start_perft() -> ToguzPerft:
    """The start position with its counts."""
    return ToguzPerft("start", START, tuple(_figures("toguz_kumalak_perft.json")["start"]))


def toguz_perft() -> list[ToguzPerft]:
    """The positions with counts, the start not among them."""
    return [
        ToguzPerft(entry["category"], _board(entry), tuple(entry["perft"]))
        for entry in _figures("toguz_kumalak_perft.json")["positions"]
    ]


def toguz_lines() -> list[ToguzLine]:
    """The lines of one move and more, from the start or from another board."""
    return [
        ToguzLine(_board(entry["before"]) if "before" in entry else START, _moves(entry), _board(entry["after"]))
        for entry in _figures("toguz_kumalak_positions.json")["tests"]
    ]


def toguz_records() -> list[ToguzRecord]:
    """The recorded games; call it only where `records_missing` finds nothing missing."""
    file = Path(os.environ[RECORDS_VARIABLE]) / RECORDS
    return [
        ToguzRecord(tuple(moves.split()), ended, _pair(final) if final else None, _pair(stores))
        for moves, _, ended, final, stores in json.loads(file.read_text(encoding="utf-8"))["games"]
    ]


def _moves(entry: dict[str, Any]) -> tuple[str, ...]:
    if "uci" in entry:
        return tuple(_number(square[:2]) + _number(square[2:]) for square in entry["uci"])
    holes = entry["moves_relative"] if "moves_relative" in entry else [entry["move"]]
    return tuple(str(hole + 1) for hole in holes)


def _number(square: str) -> str:
    """The hole's number in its row: a1 to i1 are seat 0's holes 1 to 9, i2 to a2 seat 1's."""
    letters = "abcdefghi" if square[1] == "1" else "ihgfedcba"
    return str(letters.index(square[0]) + 1)


def _board(entry: dict[str, Any]) -> ToguzBoard:
    first, second = entry["tuzdyk"]
    return ToguzBoard(tuple(entry["holes"]), _pair(entry["kazans"]), (first, second), entry["to_move"])


def _pair(values: list[int]) -> Stores:
    first, second = values
    return first, second
