"""The transposition table: what subtrees of equal remaining depth are worth.

An entry is three numbers: the position's key, a value, and what the value is. The key covers all that the value depends on,
the root and the remaining depth included, so that an entry of another root or depth is simply another entry. Newer entries
replace older ones; with any size, the search returns the same.
"""

from typing import Final

import numpy as np

from agents.minimax.evaluation import INFINITY
from envs.engine.jit import kernel

EXACT: Final = 0
AT_LEAST: Final = 1
AT_MOST: Final = 2
KEY: Final = 0
VALUE: Final = 1
KIND: Final = 2
ENTRY: Final = 3


def new_tables(count: int, entries: int) -> np.ndarray:
    """Empty tables, int64[count, entries, 3]; the number of entries must be a power of two."""
    if entries < 1 or entries & (entries - 1):
        raise ValueError(f"a table has a power of two of entries, not {entries}")
    return np.zeros((count, entries, ENTRY), np.int64)


@kernel
def store(table: np.ndarray, key: int, value: int, low: int, high: int) -> None:
    """The table knows what a search between low and high returned for the key."""
    entry = table[key & (table.shape[0] - 1)]
    entry[KEY] = key
    entry[VALUE] = value
    entry[KIND] = AT_MOST if value <= low else (AT_LEAST if value >= high else EXACT)


@kernel
def bounds(table: np.ndarray, key: int) -> tuple[int, int]:
    """Between which values the table knows the key's to lie."""
    entry = table[key & (table.shape[0] - 1)]
    if entry[KEY] != key:
        return -INFINITY, INFINITY
    low = -INFINITY if entry[KIND] == AT_MOST else entry[VALUE]
    high = INFINITY if entry[KIND] == AT_LEAST else entry[VALUE]
    return low, high
