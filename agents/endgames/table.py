"""The table: one byte a board, and what searches read in it.

A board stands at its number (`index.py`), as its mover sees it. Its byte names two counts, the least and the most of the seeds
in its houses that the mover ends with; `retrograde.py` says in which sense. The opponent ends with the others, so twice a count
less all the seeds is a difference of seeds to come; whoever asks adds the stores.

A table of no bytes is a database that knows nothing.
"""

from typing import Final

import numpy as np

from agents.endgames.index import CHOOSE, PLACES, index_of
from envs.engine.header import KEYS, MOVER, OCCURRENCES
from envs.engine.jit import entry, kernel
from envs.games.oware import rules
from envs.games.oware.rules import QUIET, SHORTEST_CYCLE, SIDES

MAX_SEEDS: Final = 21  # a byte holds all pairs of counts up to there
LEAST: Final = 0
MOST: Final = 1


def pairs() -> np.ndarray:
    """int64[256, 2]: the least and the most seeds that a byte names."""
    named = [(least, most) for most in range(MAX_SEEDS + 1) for least in range(most + 1)]
    return np.array(named + [(0, 0)] * (256 - len(named)), np.int64)


PAIRS = pairs()
FIRST_BYTE = np.array([most * (most + 1) // 2 for most in range(MAX_SEEDS + 1)], np.int64)


@kernel
def byte_of(least: int, most: int) -> int:
    """The byte that names a pair: its place in `PAIRS`."""
    return FIRST_BYTE[most] + least


@kernel
def probe(row: np.ndarray, table: np.ndarray) -> tuple[int, int]:
    """Bounds of the seeds to come: the mover's less the opponent's. The lower one is surely reached, the upper not exceeded.

    Where there are more seeds than the table knows they are minus and plus all the seeds, which is true of any position. They
    are bounds for the row's past and limits if `holds`, and for the grand slams that the table was made for.
    """
    mover = row[MOVER]
    own = row[SIDES + mover]
    other = row[SIDES + 1 - mover]
    seeds = rules.seeds_on(own) + rules.seeds_on(other)
    if table.shape[0] < CHOOSE[PLACES - 1, seeds + 1]:
        return -seeds, seeds
    code = table[index_of(own, other)]
    return 2 * PAIRS[code, LEAST] - seeds, 2 * PAIRS[code, MOST] - seeds


@kernel
def knows(row: np.ndarray, plies: np.ndarray) -> bool:
    """Whether a database with these `Database.plies` has boards of the row's number of seeds."""
    return rules.seeds_on(row[SIDES]) + rules.seeds_on(row[SIDES + 1]) < plies.shape[0]


@kernel
def holds(row: np.ndarray, plies: np.ndarray) -> bool:
    """Whether the table's bounds hold under the row's limits and whatever its past.

    `plies[seeds]` is a database's, see `Database.plies`; there must be one for the row's seeds. For a fresh past (no ply since
    the last harvest) this asks for a quiet limit of that many plies, and nothing of the repetition limit.
    """
    return holds_unless_recurred(row, plies) and no_position_occurred_too_often(row, plies)


@kernel
def holds_unless_recurred(row: np.ndarray, plies: np.ndarray) -> bool:
    """Whether the bounds hold if no earlier position since the last harvest has occurred but one time short of the limit.

    A search that keeps an eye on that itself, with `has_recurred` for its root and the `OCCURRENCES` of the rows on its line,
    can ask for this alone, which is true more often than `holds`.
    """
    limit = rules.quiet_limit(row)
    return limit == 0 or row[QUIET] + plies_to_go(row, plies) <= limit


@kernel
def no_position_occurred_too_often(row: np.ndarray, plies: np.ndarray) -> bool:
    """Whether, by the number of plies alone, no repetition can end the game within a database's plies.

    For r occurrences there must be r - 1 cycles; and for an earlier position to have occurred r - 1 times, r - 2 of them.
    """
    limit = rules.repetition_limit(row)
    if limit == 0 or row[QUIET] <= SHORTEST_CYCLE * (limit - 2):
        return True
    return row[QUIET] + plies_to_go(row, plies) <= SHORTEST_CYCLE * (limit - 1)


@kernel
def plies_to_go(row: np.ndarray, plies: np.ndarray) -> int:
    """The database's plies for the seeds in the row's houses."""
    return plies[rules.seeds_on(row[SIDES]) + rules.seeds_on(row[SIDES + 1])]


@kernel
def has_recurred(row: np.ndarray, history: np.ndarray) -> bool:
    """Whether an earlier position in the history, written out, has occurred but one time short of the repetition limit."""
    limit = rules.repetition_limit(row)
    for last in range(row[KEYS]):
        count = 0
        for earlier in range(last & 1, last + 1, 2):
            count += history[earlier] == history[last]
        if 0 < limit <= count + 1:
            return True
    return False


@kernel
def is_short_of_limit(row: np.ndarray) -> bool:
    """Whether the row's own position has occurred but one time short of the repetition limit."""
    return 0 < rules.repetition_limit(row) <= row[OCCURRENCES] + 1


@entry
def probe_batch(rows: np.ndarray, table: np.ndarray, bounds: np.ndarray) -> None:
    """`bounds[B, 2]` are what `probe` says of every row."""
    for place in range(rows.shape[0]):
        lower, upper = probe(rows[place], table)
        bounds[place, 0] = lower
        bounds[place, 1] = upper


@entry
def check_batch(
    rows: np.ndarray, histories: np.ndarray, plies: np.ndarray, held: np.ndarray, unless: np.ndarray, recurred: np.ndarray
) -> None:
    """`held[B]`, `unless[B]`, `recurred[B]`: what `holds`, `holds_unless_recurred` and `has_recurred` say of every row."""
    for place in range(rows.shape[0]):
        held[place] = holds(rows[place], plies)
        unless[place] = holds_unless_recurred(rows[place], plies)
        recurred[place] = has_recurred(rows[place], histories[place])
