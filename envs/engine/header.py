"""What every game's row of integers begins with, and the names that engine and games share.

A position is one row of `ROW_DTYPE` integers. The first `HEADER` fields mean the same in every game, so that generic
code reads them without knowing the game; what follows belongs to the game and is laid out at the top of its `rules.py`.
"""

from enum import IntEnum
from typing import Final

import numpy as np

ROW_DTYPE: Final = np.int64
KEY_DTYPE: Final = np.int64
OBSERVATION_DTYPE: Final = np.int16
MASK_DTYPE: Final = np.int8

MOVER: Final = 0  # whose turn it is: 0, 1, or CHANCE while a draw is to be dealt; after the end, whose turn it would be
END: Final = 1  # an EndReason; 0 while the game runs
RESULT: Final = 2  # seat 0's result: +1, 0 or -1; 0 while the game runs
PLY: Final = 3  # plies played since the start; a deal is none
KEYS: Final = 4  # how many keys are in the history: earlier positions that may recur, oldest first, as far as written out
OCCURRENCES: Final = 5  # how often this position has stood on the board, now included
LAST_ACTION: Final = 6  # the action that led here, -1 if none is known
LAST_PLAYER: Final = 7  # who played it (CHANCE for a deal), -1 if none is known
HEADER: Final = 8

MAX_LIMIT: Final = 2000  # plies, or turns, that a limit of the rules may count; keeps a batch's history bounded

# A game's number, its branch in `kernels.py`.
OWARE: Final = 0
TOGUZ_KUMALAK: Final = 1
UISGE: Final = 2
EIYIU: Final = 3

CHANCE: Final = 2
NONE: Final = -1


class EndReason(IntEnum):
    """Why a game is over. `RUNNING` is 0, so that the field works as a flag."""

    RUNNING = 0
    MAJORITY = 1
    EVEN_SPLIT = 2
    NO_MOVES = 3
    REPETITION = 4
    QUIET_LIMIT = 5
    ALL_KINGS = 6
    MOVE_LIMIT = 7
    BOTH_STUCK = 8
    RUN_OF_15 = 9
    SHIFT_LIMIT = 10

    @property
    def label(self) -> str:
        """The reason as texts, infos and records show it: `quiet_limit`; empty while the game runs."""
        return "" if self is EndReason.RUNNING else self.name.lower()
