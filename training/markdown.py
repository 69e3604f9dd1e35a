"""Tables and figures in Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, without a line's end behind it."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def score(row: Mapping[str, Any] | None, name: str = "score") -> str:
    """A score with its interval, in percent; empty if there is none."""
    return f"{row[name]:.1%} ({100 * row['low']:.0f} to {100 * row['high']:.0f})" if row else ""
