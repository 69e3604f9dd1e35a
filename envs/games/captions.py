"""What boards and pictures of all games say in words."""

from typing import Final

import numpy as np

from envs.engine.header import CHANCE, END, MOVER, RESULT, EndReason

NAMES: Final = ("South", "North")


def caption(row: np.ndarray) -> str:
    """Who is to move, or how the game ended."""
    if row[MOVER] == CHANCE:
        return "a draw is to be dealt"
    if not row[END]:
        return f"{NAMES[row[MOVER]]} to move"
    reason = EndReason(int(row[END])).label.replace("_", " ")
    if row[RESULT] == 0:
        return f"draw by {reason}"
    return f"{NAMES[0 if row[RESULT] > 0 else 1]} wins by {reason}"


def one_line(text: str) -> str:
    """The text without line breaks."""
    return " ".join(text.split())
