"""Alpha-beta over the kernels, to a fixed depth: exact, full width, the same for every table size.

Values are seat 0's throughout: where seat 0 is to move the node takes the highest, else the lowest. So nothing changes sign,
and a player who moves twice in a row is no special case. Where chance deals, the node is worth the average of what may be
dealt, rounded down; a deal is no ply. The tuned evaluation is averaged as it is, in thousandths of a logit.
"""

from typing import Final

import numba
import numpy as np

from agents.minimax.evaluation import INFINITY, leaf_value
from agents.minimax.table import bounds, store
from envs.engine import kernels
from envs.engine.header import CHANCE, END, MOVER
from envs.engine.jit import BatchEntry, entry, kernel

TABLE_DEPTH: Final = 2  # nearer the leaves a look-up costs more than it saves
NODES: Final = 0
VALUE: Final = 1
ACTION: Final = 2

# A frame: what the search knows of the node of a level.
PARENT_ACTION: Final = 0  # which child of the level above it is
OFFSET: Final = 1  # where its history begins
LOW: Final = 2  # seat 0 has this much elsewhere
HIGH: Final = 3  # seat 1 need not allow more
FIRST_LOW: Final = 4
FIRST_HIGH: Final = 5
NODE_KEY: Final = 6
KEYED: Final = 7
COUNT: Final = 8
NEXT: Final = 9
BEST: Final = 10  # where chance deals, the sum of the values so far
BEST_ACTION: Final = 11
LEFT: Final = 12  # plies that are still to be played below it
FRAME: Final = 13
UNKNOWN: Final = -1  # a node's `COUNT` before it is expanded


@kernel
def expand(
    game: kernels.Tag,
    row: np.ndarray,
    history: np.ndarray,
    ply: int,
    weights: np.ndarray,
    mask: np.ndarray,
    children: np.ndarray,
    values: np.ndarray,
    order: np.ndarray,
) -> int:
    """`children[a]` is the row after action a and `values[a]` its value as a leaf; returns how many `order` lists: the legal
    actions, best for the mover first, the lowest first among equals. `order` of what may be dealt means nothing."""
    kernels.legal(game, row, mask)
    sign = 1 if row[MOVER] == 0 else -1
    count = 0
    for action in range(mask.shape[0]):
        if mask[action]:
            kernels.copy_row(row, children[action])
            kernels.play(game, children[action], history, action)
            values[action] = leaf_value(game, children[action], ply + 1, weights)
            place = count
            while place > 0 and sign * values[order[place - 1]] < sign * values[action]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = action
            count += 1
    return count


@kernel
def search(
    game: kernels.Tag,
    depth: int,
    every_action: bool,
    salt: int,
    weights: np.ndarray,
    history: np.ndarray,
    table: np.ndarray,
    children: np.ndarray,
    values: np.ndarray,
    masks: np.ndarray,
    orders: np.ndarray,
    frames: np.ndarray,
    answer: np.ndarray,
    action_values: np.ndarray,
) -> None:
    """`answer` holds the nodes visited, the root's exact value and the lowest of its best actions.

    With `every_action`, `action_values[A]` holds the exact value of each of the root's legal actions; else it is left alone.
    Leaves are worth their plain evaluation where `weights` is empty, else their tuned one.

    The root is `children[0, 0]`. Arrays have one entry a level, L = `kernels.line_room(depth)` in all: `children[L, A, R]`,
    `values`, `masks` and `orders[L, A]`, `frames[L, FRAME]`. The history has `history_room` for L plies. Keys are mixed with
    the salt, so that the table is the root's own.
    """
    open_frame(frames[0], children[0, 0, MOVER], 0, 0, -INFINITY, INFINITY, 0, 0, depth)
    nodes = 1
    level = 0
    while True:
        frame = frames[level]
        row = children[level, frame[PARENT_ACTION]]
        # 1. A node is expanded when it is first seen. The root tries its actions in ascending order, so that a later one must
        # be better, not equal.
        if frame[COUNT] == UNKNOWN:
            ply = depth - frame[LEFT]
            frame[COUNT] = expand(
                game,
                row,
                history[frame[OFFSET] :],
                ply,
                weights,
                masks[level],
                children[level + 1],
                values[level],
                orders[level],
            )
            if level == 0:
                sort_actions(masks[0], orders[0])
        # 2. A node is done when its actions are, or when what it has is already too good to be allowed.
        if frame[NEXT] == frame[COUNT] or is_cut(frame, row[MOVER]):
            if row[MOVER] == CHANCE:
                frame[BEST] //= frame[COUNT]
            if level == 0:
                break
            if frame[KEYED]:
                store(table, frame[NODE_KEY], frame[BEST], frame[FIRST_LOW], frame[FIRST_HIGH])
            level -= 1
            values[level, frame[PARENT_ACTION]] = frame[BEST]
            take(frames[level], children[level, frames[level, PARENT_ACTION], MOVER], frame[PARENT_ACTION], frame[BEST])
            continue
        if level == 0 and every_action:
            frame[LOW], frame[HIGH] = -INFINITY, INFINITY
        action = orders[level, frame[NEXT]]
        frame[NEXT] += 1
        nodes += 1
        child = children[level + 1, action]
        # 3. A finished game, or the last ply: the child's value is known.
        remaining = frame[LEFT] - (row[MOVER] != CHANCE)
        if child[END] or (remaining == 0 and child[MOVER] != CHANCE):
            take(frame, row[MOVER], action, values[level, action])
            continue
        # 4. The table may know the child well enough.
        key, keyed = child_key(game, child, remaining, depth, salt)
        low, high = window_below(frame, row[MOVER])
        if keyed:
            known_low, known_high = bounds(table, key)
            if known_low >= high or known_high <= low or known_low == known_high:
                values[level, action] = known_high if known_high <= low else known_low
                take(frame, row[MOVER], action, values[level, action])
                continue
        # 5. Else search below it.
        offset = frame[OFFSET] + kernels.shift(game, row, child)
        open_frame(frames[level + 1], child[MOVER], action, offset, low, high, key, keyed, remaining)
        level += 1
    answer[NODES] = nodes
    answer[VALUE] = frames[0, BEST]
    answer[ACTION] = frames[0, BEST_ACTION]
    if every_action:
        for place in range(frames[0, COUNT]):
            action_values[orders[0, place]] = values[0, orders[0, place]]


@kernel
def sort_actions(mask: np.ndarray, order: np.ndarray) -> None:
    """`order` lists the actions of the mask, ascending."""
    place = 0
    for action in range(mask.shape[0]):
        if mask[action]:
            order[place] = action
            place += 1


@kernel
def open_frame(
    frame: np.ndarray, mover: int, action: int, offset: int, low: int, high: int, key: int, keyed: int, left: int
) -> None:
    """The frame is a node's of which nothing has been searched yet."""
    frame[PARENT_ACTION] = action
    frame[OFFSET] = offset
    frame[LOW] = frame[FIRST_LOW] = low
    frame[HIGH] = frame[FIRST_HIGH] = high
    frame[NODE_KEY] = key
    frame[KEYED] = keyed
    frame[COUNT] = UNKNOWN
    frame[NEXT] = 0
    frame[BEST_ACTION] = -1
    frame[LEFT] = left
    frame[BEST] = 0 if mover == CHANCE else (-INFINITY if mover == 0 else INFINITY)


@kernel
def is_cut(frame: np.ndarray, mover: int) -> bool:
    """Whether what the node has is already too good to be allowed; of what may be dealt, everything counts."""
    if mover == CHANCE:
        return False
    return frame[BEST] >= frame[HIGH] if mover == 0 else frame[BEST] <= frame[LOW]


@kernel
def window_below(frame: np.ndarray, mover: int) -> tuple[int, int]:
    """Between which values the node's children matter; all do where chance deals."""
    if mover == CHANCE:
        return -INFINITY, INFINITY
    return frame[LOW], frame[HIGH]


@kernel
def take(frame: np.ndarray, mover: int, action: int, value: int) -> None:
    """The node has its action's value, if that is better than what it had; where chance deals, it has it in its sum."""
    if mover == CHANCE:
        frame[BEST] += value
    elif mover == 0:
        if value > frame[BEST]:
            frame[BEST] = value
            frame[BEST_ACTION] = action
        frame[LOW] = max(frame[LOW], value)
    else:
        if value < frame[BEST]:
            frame[BEST] = value
            frame[BEST_ACTION] = action
        frame[HIGH] = min(frame[HIGH], value)


@kernel
def child_key(game: kernels.Tag, row: np.ndarray, remaining: int, depth: int, salt: int) -> tuple[int, int]:
    """The table's key of a node, and whether the table may be used for it.

    Where nothing within the remaining depth can depend on plies already played, position and depth say all. Else the plies
    since the last irreversible one join the key; with them the value is still the same on every way from the root, as long
    as the whole search is shorter than the shortest cycle. Deeper searches leave such nodes out: in Uisge, whose shortest cycle
    is four plies, these are almost all.
    """
    if remaining < TABLE_DEPTH or row[MOVER] == CHANCE:
        return 0, 0
    key = kernels.position_hash(game, row) ^ salt ^ (remaining << 56)
    if kernels.depends_on_past(game, row, remaining):
        if depth >= kernels.shortest_cycle(game):
            return 0, 0
        key ^= kernels.reversible_plies(game, row) << 40
    return key, 1


@BatchEntry
def search_batch(
    game: kernels.Tag,
    depths: np.ndarray,
    every_action: bool,
    rows: np.ndarray,
    keys: np.ndarray,
    salts: np.ndarray,
    weights: np.ndarray,
    histories: np.ndarray,
    tables: np.ndarray,
    children: np.ndarray,
    values: np.ndarray,
    masks: np.ndarray,
    orders: np.ndarray,
    frames: np.ndarray,
    answers: np.ndarray,
    action_values: np.ndarray,
) -> None:
    """`answers[B, 3]` holds nodes, value and action of every row, searched to its depth in `depths[B]`.

    With `every_action`, `action_values[B, A]` holds the exact values of all legal actions. Every worker has its own room for a
    line and a table.
    """
    workers = tables.shape[0]
    for worker in numba.prange(workers):
        for index in range(worker, rows.shape[0], workers):
            kernels.copy_row(rows[index], children[worker, 0, 0])
            for place in range(keys.shape[1]):
                histories[worker, place] = keys[index, place]
            search(
                game,
                depths[index],
                every_action,
                salts[index],
                weights,
                histories[worker],
                tables[worker],
                children[worker],
                values[worker],
                masks[worker],
                orders[worker],
                frames[worker],
                answers[index],
                action_values[index] if every_action else answers[index],
            )


@entry
def plies_into_turns(game: kernels.Tag, rows: np.ndarray, plies: np.ndarray) -> None:
    """`plies[B]` says how many plies of its turn each mover has played already."""
    for index in range(rows.shape[0]):
        plies[index] = kernels.plies_into_turn(game, rows[index])
