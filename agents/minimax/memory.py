"""The transposition table of the selective search: what is known of positions, whichever way they were reached.

Two entries share a bucket: the first keeps what was searched deepest, the second what else came last. An entry is two numbers:
the position's key and, packed, a value, what the value is, the depth that it was searched to, the best action, and the search
it comes from. Entries of earlier searches are the first to be replaced.
"""

from typing import Final

import numpy as np

from envs.engine.jit import kernel

NOTHING: Final = 0
AT_LEAST: Final = 1
AT_MOST: Final = 2
EXACT: Final = 3

ENTRY: Final = 2  # key and data
ENTRY_BYTES: Final = 8 * ENTRY
MAX_SEARCHES: Final = 1 << 16

# The data, from the lowest bit on.
SEARCH_BITS: Final = 16
ACTION_BITS: Final = 10
KIND_BITS: Final = 2
DEPTH_BITS: Final = 8
VALUE_BITS: Final = 24
ACTION_AT: Final = SEARCH_BITS
KIND_AT: Final = ACTION_AT + ACTION_BITS
DEPTH_AT: Final = KIND_AT + KIND_BITS
VALUE_AT: Final = DEPTH_AT + DEPTH_BITS
ZERO: Final = 1 << (VALUE_BITS - 1)  # stands for the value 0


def new_memories(count: int, megabytes: int) -> np.ndarray:
    """Empty tables, int64[count, entries, 2], each of at most so many MB, with a power of two of entries."""
    entries = max(2, megabytes * (1 << 20) // ENTRY_BYTES)
    return np.zeros((count, 1 << (entries.bit_length() - 1), ENTRY), np.int64)


@kernel
def holds(entry: np.ndarray, key: int, since: int) -> bool:
    """Whether the entry is the key's, from a search of at least that number."""
    return entry[0] == key and entry[1] != 0 and search_of(entry[1]) >= since


@kernel
def recall(table: np.ndarray, key: int, since: int) -> int:
    """The data that the table has for the key from searches of at least that number; 0 for none."""
    bucket = key & (table.shape[0] - 2)
    if holds(table[bucket], key, since):
        return table[bucket, 1]
    return table[bucket + 1, 1] if holds(table[bucket + 1], key, since) else 0


@kernel
def remember(table: np.ndarray, key: int, data: int, since: int) -> None:
    """The table has the data for the key; of no best action it keeps the one it knew."""
    bucket = key & (table.shape[0] - 2)
    first, second = table[bucket], table[bucket + 1]
    first_is_deeper = search_of(first[1]) == search_of(data) and depth_of(first[1]) > depth_of(data)
    keeps_first = first_is_deeper and not holds(first, key, since)
    entry = second if keeps_first or holds(second, key, since) else first
    if action_of(data) < 0 and holds(entry, key, since):
        data += (action_of(entry[1]) + 1) << ACTION_AT
    entry[0] = key
    entry[1] = data


@kernel
def packed(value: int, kind: int, depth: int, action: int, search: int) -> int:
    """The data of an entry; the action is -1 where none is known to be best."""
    number = (value + ZERO) << VALUE_AT | depth << DEPTH_AT
    return number | kind << KIND_AT | (action + 1) << ACTION_AT | search


@kernel
def value_of(data: int) -> int:
    """What the position is worth, or at least, or at most."""
    return (data >> VALUE_AT) - ZERO


@kernel
def depth_of(data: int) -> int:
    """The plies that it was searched to."""
    return (data >> DEPTH_AT) & ((1 << DEPTH_BITS) - 1)


@kernel
def kind_of(data: int) -> int:
    """EXACT, AT_LEAST, AT_MOST, or NOTHING where there is no data."""
    return (data >> KIND_AT) & ((1 << KIND_BITS) - 1)


@kernel
def action_of(data: int) -> int:
    """The action that was best, -1 if none is known."""
    return ((data >> ACTION_AT) & ((1 << ACTION_BITS) - 1)) - 1


@kernel
def search_of(data: int) -> int:
    """The number of the search that it comes from."""
    return data & ((1 << SEARCH_BITS) - 1)
