"""Loads the figures computed elsewhere, and recorded games where a folder of them is named.

Houses 0-5 are seat 0's houses 1-6 in sowing order, 6-11 seat 1's. An action or a legal move is
counted from 0 at the mover's house 1; a pit is counted from 0 at seat 0's house 1.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

POSITIONS = Path(__file__).parent / "positions"
RECORDS_VARIABLE = "SPIELTISCH_RECORDS"

Stores = tuple[int, int]


@dataclass(frozen=True)
class OwarePerft:
    """A position and its perft counts for depth 1, 2, ..."""

    category: str
    houses: tuple[int, ...]
    stores: Stores
    mover: int
    counts: tuple[int, ...]


@dataclass(frozen=True)
class OwarePosition:
    """A single position and what is known of it; None where the figures say nothing."""

    houses: tuple[int, ...]
    stores: Stores
    mover: int
    legal: list[int] | None
    action: int | None
    houses_after: tuple[int, ...] | None
    captured: int | None
    grand_slam_forfeited: bool | None
    final_scores: Stores | None
    winner: int | None


@dataclass(frozen=True)
class OwareLine:
    """Pits emptied from the start on, and the board they lead to."""

    pits: tuple[int, ...]
    houses_after: tuple[int, ...]
    legal_count_after: int | None


@dataclass(frozen=True)
class OwareRandomGame:
    """A game played elsewhere, where the second occurrence of a position ends it.

    `end` is majority, no_legal or repetition2. `final_scores` add each side's own seeds to
    the stores, after a majority too.
    """

    actions: tuple[int, ...]
    end: str
    houses: tuple[int, ...]
    stores: Stores
    final_scores: Stores
    grand_slams_forfeited: int
    must_feed_plies: int


@dataclass(frozen=True)
class OwareRecord:
    """A recorded game; neither a majority nor a repetition stopped it.

    `events` gives the ply at which each ending first came up.
    """

    source: str
    pits: tuple[int, ...]
    houses: tuple[int, ...]
    stores: Stores
    mover: int
    legal_after: list[int] | None
    sides_swept: Stores
    events: dict[str, int]


def oware_start_perft() -> OwarePerft:
    """The start position with its counts."""
    counts = _figures("oware_perft.json")["start"]
    return OwarePerft("start", (4,) * 12, (0, 0), 0, tuple(counts))


def oware_perft() -> list[OwarePerft]:
    """The positions with counts, the start not among them."""
    return [
        OwarePerft(
            category=entry["category"],
            houses=tuple(entry["pits"]),
            stores=_pair(entry["stores"]),
            mover=entry["to_move"],
            counts=tuple(entry["perft"]),
        )
        for entry in _figures("oware_perft.json")["positions"]
    ]


def oware_positions() -> list[OwarePosition]:
    """The single positions; boards may hold fewer than 48 seeds."""
    return [
        OwarePosition(
            houses=tuple(entry["pits"]),
            stores=_pair(entry["stores"]),
            mover=entry["to_move"],
            legal=entry.get("legal"),
            action=entry.get("move"),
            houses_after=tuple(entry["pits_after"]) if "pits_after" in entry else None,
            captured=entry.get("captured"),
            grand_slam_forfeited=entry.get("grand_slam_forfeited"),
            final_scores=_pair(entry["final_scores"]) if "final_scores" in entry else None,
            winner=entry.get("winner"),
        )
        for entry in _figures("oware_positions.json")["tests"]
        if "pits" in entry
    ]


def oware_lines() -> list[OwareLine]:
    """The short lines from the start."""
    return [
        OwareLine(
            pits=tuple(entry["moves"]),
            houses_after=tuple(entry["pits_after"]),
            legal_count_after=entry.get("n_legal_after"),
        )
        for entry in _figures("oware_positions.json")["tests"]
        if "moves" in entry
    ]


def oware_random_games() -> list[OwareRandomGame]:
    """The games played at random."""
    return [
        OwareRandomGame(
            actions=tuple(entry["moves_relative"]),
            end=entry["end"],
            houses=tuple(entry["pits_before_sweep"]),
            stores=_pair(entry["stores_before_sweep"]),
            final_scores=_pair(entry["final_scores"]),
            grand_slams_forfeited=entry["grand_slams_forfeited"],
            must_feed_plies=entry["must_feed_plies"],
        )
        for entry in _figures("oware_random_games.json")["games"]
    ]


def oware_records() -> list[OwareRecord]:
    """The recorded games; call it only where `records_missing` finds nothing missing."""
    file = Path(os.environ[RECORDS_VARIABLE]) / "oware_games.json"
    return [
        OwareRecord(
            source=entry["source"],
            pits=tuple(entry["moves"]),
            houses=tuple(entry["final_pits"]),
            stores=_pair(entry["final_stores"]),
            mover=entry["to_move"],
            legal_after=entry.get("legal_after"),
            sides_swept=_pair(entry["sides_swept"]),
            events=entry["events"],
        )
        for entry in json.loads(file.read_text(encoding="utf-8"))["games"]
    ]


def records_missing(name: str) -> str | None:
    """Why the file of recorded games cannot be read, or None if it can."""
    folder = os.environ.get(RECORDS_VARIABLE)
    if not folder:
        return f"{RECORDS_VARIABLE} is not set: it names the folder of recorded games"
    if not (Path(folder) / name).is_file():
        return f"{RECORDS_VARIABLE} names {folder}, where {name} is missing"
    return None


def _figures(name: str) -> Any:
    return json.loads((POSITIONS / name).read_text(encoding="utf-8"))


def _pair(values: list[int]) -> Stores:
    first, second = values
    return first, second
