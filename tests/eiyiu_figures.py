"""Loads the worked example of Eiyiu's rules.

In the figures, cells are [row, column] counted from 1 at the upper left; here they are (x, y) with y upward and the
lower left cell of the picture on (0, 0).
"""

from __future__ import annotations

from dataclasses import dataclass

from figures import _figures

Cell = tuple[int, int]


@dataclass(frozen=True)
class EiyiuPicture:
    """A full board, how many cells each tile may be moved to, and runs within longer ones that sum to 15."""

    rows: tuple[str, ...]  # from the top
    target_counts: dict[Cell, int]  # a tile that is not among them can go nowhere
    total: int
    has_winning_run: bool
    inner_runs: tuple[tuple[Cell, ...], ...]
    statements: tuple[str, ...]

    @property
    def tiles(self) -> dict[Cell, int]:
        """The number of the tile on each cell."""
        rows = [row.split() for row in self.rows]
        return {
            self.cell(row, column): int(mark)
            for row, marks in enumerate(rows, start=1)
            for column, mark in enumerate(marks, start=1)
            if mark != "."
        }

    def cell(self, row: int, column: int) -> Cell:
        """The cell that the figures call [row, column]."""
        return column - 1, len(self.rows) - row


def eiyiu_picture() -> EiyiuPicture:
    """The worked example."""
    entry = _figures("eiyiu_picture.json")
    bare = EiyiuPicture(tuple(entry["picture"]), {}, 0, False, (), ())
    return EiyiuPicture(
        rows=bare.rows,
        target_counts={_named(bare, key): count for key, count in entry["legal_target_counts"].items()},
        total=entry["total_legal_moves"],
        has_winning_run=not entry["current_position_has_no_winning_run"],
        inner_runs=tuple(
            tuple(bare.cell(row, column) for row, column in run) for run in entry["proper_subruns_summing_15_that_do_not_win"]
        ),
        statements=tuple(statement["text"] for statement in entry["statements_checked"]),
    )


def _named(picture: EiyiuPicture, key: str) -> Cell:
    """The cell of a key like 7@r5c2, where a 7 lies."""
    number, place = key.split("@")
    row, column = map(int, place[1:].split("c"))
    cell = picture.cell(row, column)
    assert picture.tiles[cell] == int(number)
    return cell
