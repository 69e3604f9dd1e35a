"""Solving all boards of n seeds, given those of fewer.

A board's value is how many of its n seeds the mover ends with. All seeds end with somebody, so a harvest needs no counting: the
mover ends with n less what the opponent, to move on the next board, ends with. A player who cannot move keeps the seeds on its
own side and no more; and wherever a rule stops the game, by a repetition or by the quiet limit, each side keeps its own.

**Why there are two bounds.** Where play may go round in a circle, what a player keeps depends on which board of the circle the
game stops at, and so on plies played before and on the limits. The bounds hold for all of that: `least` is what the mover
surely ends with and `most` what it surely does not exceed, whatever the repetition limit (2 or more, or off), for every quiet
limit (or none) of at least the database's `plies`, and from a *fresh* past: no ply since the last harvest or the setting up.
Both are what a player can force: the mover its `least`, the opponent the rest beyond `most`. Where they are equal the value is
exact under each of those limits.

**The argument**, for a player P and a count x that P wants to end with. Boards are told apart by who is to move.

1. *Safe boards.* Let S be the largest set of boards on P's side of each of which lie x seeds or more, such that P, if to move,
   has a move, and the opponent no other than moves, to a board of S, or by a harvest to one of fewer seeds from which P surely
   ends with x. A board without a move is in S if x seeds lie on P's side. From a board in S, P can go on in S until the game
   ends or seeds are harvested, and the rules end every game. Where a rule stops it in S, P keeps x: S is safe with *any* past.
2. *Boards that lead there.* Let T(0) be S, and T(k) the boards from which P surely comes to T(k - 1) or a harvest or end as
   good in one ply. P, keeping to such moves, is in S after k plies at most, if no rule stops the game before. The boards on the
   way are in ever smaller T(k), so no two are the same and none is in S: with a fresh past none can be a repetition. And the
   game stops for quiet when `quiet_limit` plies are done, not before; with k of no more, P is in S by then.
3. A harvest leaves a fresh past behind it, and what P is sure of on the board after it is known for fewer seeds.

So P surely ends with x on the boards of T(k), for k up to `plies`. `least` is the highest x for P the mover, n - `most` the
highest for P the opponent. All x are found at once: bounds start as what lies on the mover's side and widen (`WIDEN`) until
each is kept up by the moves, which gives S; then they narrow (`NARROW`), one ply a pass, for as many passes as there are plies.

**With a past that is not fresh**, step 1 stands as it is. Step 2 stands if no rule can stop the game on the way: if the plies
since the last harvest and `plies` together are no more than the quiet limit, and no earlier board has occurred as often as one
time less than the repetition limit, as each comes up once more at most. `table.holds` tests for both by counting plies.

**More than half of all seeds** in a store end a game at once. That is one of the game's results, not of the seeds to come: who
surely ends with more seeds surely wins, and who cannot does not.

Passes look at boards again only if a board after them has changed in a way that may count; those before a board are found by
taking seeds up again.
"""

from collections.abc import Callable
from typing import Final

import numba
import numpy as np

from agents.endgames.index import CHOOSE, PLACES, board_at, boards_below, index_of
from agents.endgames.table import LEAST, MOST, PAIRS, byte_of
from envs.engine.jit import BatchEntry, entry, kernel
from envs.games.oware import rules
from envs.games.oware.rules import HOUSES, LAST_PLACE, LIMITS, ROW, SIDES

WIDEN: Final = 0
NARROW: Final = 1
PHASES: Final = (WIDEN, NARROW)
MAX_PLIES: Final = 100  # narrowing passes: bounds hold for quiet limits from there on, and few boards gain by more
PARTS: Final = 64  # of the boards, shared out among threads
NO_MOVE: Final = -1
NO_BOUNDS = np.zeros((0, 2), np.int8)
BYTES_A_BOARD: Final = 5  # while a layer is solved: two pairs of bounds and a mark

Report = Callable[[int, int, int], None]


def solve(
    seeds: int, grand_slam: int, table: np.ndarray, threads: int = 1, report: Report | None = None
) -> tuple[np.ndarray, int]:
    """The bytes of all boards of so many seeds, in the order of their numbers, and the plies that their bounds need.

    `table` uint8 holds all boards of fewer seeds. The answer is the same whatever the threads. `report` hears the phase, the
    passes done in it and how many boards the last one changed.
    """
    first = boards_below(seeds)
    size = boards_below(seeds + 1) - first
    rows = np.tile(new_row(grand_slam), (PARTS, 1))
    bounds, after = np.empty((size, 2), np.int8), np.empty((size, 2), np.int8)
    marks = np.empty(size, np.uint8)
    changes = np.zeros(PARTS, np.int64)
    keep_own(threads, seeds, bounds, after)
    passes = 0
    for phase in PHASES:
        marks[:] = 1
        passes = 0
        while phase == WIDEN or passes < MAX_PLIES:
            look_again(threads, phase, seeds, rows, table, bounds, after, marks)
            commit(threads, seeds, bounds, after, marks, changes)
            if not changes.any():
                break
            passes += 1
            if report is not None:
                report(phase, passes, int(changes.sum()))
    solved = np.empty(size, np.uint8)
    write_bytes(threads, bounds, solved)
    return solved, passes


def new_row(grand_slam: int) -> np.ndarray:
    """Room to play in under a rule for grand slams, without limits."""
    row = np.zeros(ROW, np.int64)
    row[LIMITS] = rules.packed_options(0, 0, grand_slam)
    return row


@BatchEntry
def keep_own(seeds: int, bounds: np.ndarray, after: np.ndarray) -> None:
    """Both bounds of every board are what lies on the mover's side."""
    for place in numba.prange(bounds.shape[0]):
        own, _ = board_at(place, seeds)
        kept = rules.seeds_on(own)
        bounds[place, LEAST] = bounds[place, MOST] = kept
        after[place, LEAST] = after[place, MOST] = kept


@BatchEntry
def look_again(
    phase: int, seeds: int, rows: np.ndarray, table: np.ndarray, bounds: np.ndarray, after: np.ndarray, marks: np.ndarray
) -> None:
    """`after` holds the bounds of each marked board by those of the boards that follow it; no board is marked any more.

    `rows[PARTS]` are room to play in, under the rules that count. Reads `bounds`, and changes them nowhere.
    """
    parts, size = rows.shape[0], bounds.shape[0]
    for part in numba.prange(parts):
        for place in range(size * part // parts, size * (part + 1) // parts):
            if marks[place]:
                marks[place] = 0
                own, other = board_at(place, seeds)
                least, most = best_moves(rows[part], own, other, seeds, table, bounds)
                if least == NO_MOVE:
                    continue
                if phase == WIDEN:
                    after[place, LEAST] = min(bounds[place, LEAST], least)
                    after[place, MOST] = max(bounds[place, MOST], most)
                else:
                    after[place, LEAST] = max(bounds[place, LEAST], least)
                    after[place, MOST] = min(bounds[place, MOST], most)


@kernel
def best_moves(row: np.ndarray, own: int, other: int, seeds: int, table: np.ndarray, bounds: np.ndarray) -> tuple[int, int]:
    """The highest least and the highest most that the mover's moves leave it with; `NO_MOVE` twice if it has none."""
    least, most = NO_MOVE, NO_MOVE
    put_up(row, own, other)
    bits = rules.legal_bits(row)
    for action in range(HOUSES):
        if (bits >> action) & 1:
            after_least, after_most = bounds_after(row, own, other, action, seeds, CHOOSE[PLACES - 1, seeds], table, bounds)
            least = max(least, after_least)
            most = max(most, after_most)
    return least, most


@kernel
def put_up(row: np.ndarray, own: int, other: int) -> None:
    """The row shows the board, seat 0 to move."""
    row[SIDES] = own
    row[SIDES + 1] = other


@kernel
def bounds_after(
    row: np.ndarray, own: int, other: int, action: int, seeds: int, first: int, table: np.ndarray, bounds: np.ndarray
) -> tuple[int, int]:
    """What the legal action leaves the mover with, at least and at most; the row shows the board after it.

    Boards from the number `first` on stand in `bounds`, those before in the table.
    """
    put_up(row, own, other)
    rules.harvest_at(row, 0, rules.sow(row, 0, action))
    index = index_of(row[SIDES + 1], row[SIDES])
    if index >= first:
        return seeds - bounds[index - first, MOST], seeds - bounds[index - first, LEAST]
    code = table[index]
    return seeds - PAIRS[code, MOST], seeds - PAIRS[code, LEAST]


@BatchEntry
def commit(seeds: int, bounds: np.ndarray, after: np.ndarray, marks: np.ndarray, changes: np.ndarray) -> None:
    """`bounds` are those of `after`; boards before a changed one are marked if that may count; `changes[PARTS]` says how many
    boards have changed."""
    parts, size = changes.shape[0], bounds.shape[0]
    for part in numba.prange(parts):
        changed = 0
        for place in range(size * part // parts, size * (part + 1) // parts):
            if bounds[place, LEAST] != after[place, LEAST] or bounds[place, MOST] != after[place, MOST]:
                mark_before(place, seeds, bounds[place], after, marks)
                bounds[place, LEAST] = after[place, LEAST]
                bounds[place, MOST] = after[place, MOST]
                changed += 1
        changes[part] = changed


@kernel
def mark_before(place: int, seeds: int, was: np.ndarray, after: np.ndarray, marks: np.ndarray) -> None:
    """Every board from which a move without a harvest leads to this one is marked, if the change may change its bounds too.

    A few others may be marked as well: those from which the move would have been illegal.
    """
    own, other = board_at(place, seeds)
    was_least, was_most = seeds - was[MOST], seeds - was[LEAST]
    least, most = seeds - after[place, MOST], seeds - after[place, LEAST]
    for house in range(HOUSES):
        if rules.seeds_in(other, house):
            continue
        # The player who has moved takes the seeds up again, the first one sown first.
        mover, opponent = other, own
        for sown in range(1, seeds + 1):
            last = LAST_PLACE[house, sown]
            side = mover if last < HOUSES else opponent
            if rules.seeds_in(side, last % HOUSES) == 0:
                break
            if last < HOUSES:
                mover -= 1 << 8 * last
            else:
                opponent -= 1 << 8 * (last - HOUSES)
                if would_harvest(own, last):
                    continue
            before = index_of(mover + (sown << 8 * house), opponent) - CHOOSE[PLACES - 1, seeds]
            if counts(was_least, least, after[before, LEAST]) or counts(was_most, most, after[before, MOST]):
                marks[before] = 1


@kernel
def would_harvest(side: int, last: int) -> bool:
    """Whether a move whose last seed fell there would have left another side: it harvests, and no grand slam."""
    return rules.holds_two_or_three(side, last - HOUSES) and rules.without_chain(side, last) != 0


@kernel
def counts(was: int, now: int, best: int) -> bool:
    """Whether a move that was worth so much, and now is worth this, may change what the best of all moves is worth."""
    return now > best if now > was else was >= best > now


@BatchEntry
def write_bytes(bounds: np.ndarray, solved: np.ndarray) -> None:
    """`solved` names the bounds."""
    for place in numba.prange(solved.shape[0]):
        solved[place] = byte_of(bounds[place, LEAST], bounds[place, MOST])


@entry
def list_values(
    row: np.ndarray, seeds: int, boards: np.ndarray, table: np.ndarray, least: np.ndarray, most: np.ndarray
) -> None:
    """`least[B, 6]` and `most[B, 6]` are what each move of `boards[B, 2]`, of so many seeds, leaves the mover with.

    `NO_MOVE` stands where a move is illegal. `table` holds all boards of so many seeds; `row` is as `new_row` makes it.
    """
    for board in range(boards.shape[0]):
        own, other = boards[board, 0], boards[board, 1]
        put_up(row, own, other)
        bits = rules.legal_bits(row)
        for action in range(HOUSES):
            least[board, action] = most[board, action] = NO_MOVE
            if (bits >> action) & 1:
                values = bounds_after(row, own, other, action, seeds, table.shape[0], table, NO_BOUNDS)
                least[board, action], most[board, action] = values
