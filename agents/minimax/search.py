"""Alpha-beta over the kernels, to a fixed depth: exact, full width, the same for every table size.

Values are seat 0's throughout: where seat 0 is to move the node takes the highest, else the lowest. So nothing changes sign,
and a player who moves twice in a row is no special case.
"""

from typing import Final

import numba
import numpy as np

from agents.minimax.evaluation import INFINITY, plain_value
from agents.minimax.table import bounds, store
from envs.engine import kernels
from envs.engine.header import END, MOVER
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
BEST: Final = 10
BEST_ACTION: Final = 11
FRAME: Final = 12


@kernel
def expand(
    game: int,
    row: np.ndarray,
    history: np.ndarray,
    ply: int,
    mask: np.ndarray,
    children: np.ndarray,
    values: np.ndarray,
    order: np.ndarray,
) -> int:
    """`children[a]` is the row after action a and `values[a]` its plain value; returns how many `order` lists: the legal
    actions, best for the mover first, the lowest first among equals."""
    kernels.legal(game, row, mask)
    sign = 1 if row[MOVER] == 0 else -1
    count = 0
    for action in range(mask.shape[0]):
        if mask[action]:
            kernels.copy_row(row, children[action])
            kernels.play(game, children[action], history, action)
            values[action] = plain_value(game, children[action], ply + 1)
            place = count
            while place > 0 and sign * values[order[place - 1]] < sign * values[action]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = action
            count += 1
    return count


@kernel
def search(
    game: int,
    depth: int,
    salt: int,
    history: np.ndarray,
    table: np.ndarray,
    children: np.ndarray,
    values: np.ndarray,
    masks: np.ndarray,
    orders: np.ndarray,
    frames: np.ndarray,
    answer: np.ndarray,
) -> None:
    """`answer` holds the nodes visited, the root's exact value and the lowest of its best actions.

    The root is `children[0, 0]`. Arrays have one entry a level: `children[depth + 1, A, row size]`, `values[depth + 1, A]`,
    `masks`, `orders[depth + 1, A]`, `frames[depth + 1, FRAME]`. The history has `history_room` for `depth` plies. Keys
    are mixed with the salt, so that the table is the root's own.
    """
    # 1. The root: all its actions in ascending order, so that a later one must be better, not equal.
    open_frame(frames[0], 0, 0, -INFINITY, INFINITY, 0, 0)
    nodes = 1
    root = children[0, 0]
    count = expand(game, root, history, 0, masks[0], children[1], values[0], orders[0])
    place = 0
    for action in range(masks.shape[1]):
        if masks[0, action]:
            orders[0, place] = action
            place += 1
    frames[0, COUNT] = count
    frames[0, BEST] = -INFINITY if root[MOVER] == 0 else INFINITY
    level = 0
    while True:
        frame = frames[level]
        row = children[level, frame[PARENT_ACTION]]
        maximise = row[MOVER] == 0
        # 2. A node is done when its actions are, or when what it has is already too good to be allowed.
        cut = frame[BEST] >= frame[HIGH] if maximise else frame[BEST] <= frame[LOW]
        if frame[NEXT] == frame[COUNT] or cut:
            if level == 0:
                break
            if frame[KEYED]:
                store(table, frame[NODE_KEY], frame[BEST], frame[FIRST_LOW], frame[FIRST_HIGH])
            level -= 1
            take(frames[level], children[level, frames[level, PARENT_ACTION], MOVER] == 0, frame[PARENT_ACTION], frame[BEST])
            continue
        action = orders[level, frame[NEXT]]
        frame[NEXT] += 1
        nodes += 1
        child = children[level + 1, action]
        # 3. A finished game, or the last ply: the child's value is known.
        if child[END] or level + 1 == depth:
            take(frame, maximise, action, values[level, action])
            continue
        # 4. The table may know the child well enough.
        remaining = depth - level - 1
        key, keyed = child_key(game, child, remaining, depth, salt)
        low, high = frame[LOW], frame[HIGH]
        if keyed:
            known_low, known_high = bounds(table, key)
            if known_low >= high or known_low == known_high:
                take(frame, maximise, action, known_low)
                continue
            if known_high <= low:
                take(frame, maximise, action, known_high)
                continue
        # 5. Else search below it.
        offset = frame[OFFSET] + kernels.shift(game, row, child)
        open_frame(frames[level + 1], action, offset, low, high, key, keyed)
        level += 1
        frames[level, COUNT] = expand(
            game, child, history[offset:], level, masks[level], children[level + 1], values[level], orders[level]
        )
        frames[level, BEST] = -INFINITY if child[MOVER] == 0 else INFINITY
    answer[NODES] = nodes
    answer[VALUE] = frames[0, BEST]
    answer[ACTION] = frames[0, BEST_ACTION]


@kernel
def open_frame(frame: np.ndarray, action: int, offset: int, low: int, high: int, key: int, keyed: int) -> None:
    """The frame is a node's of which nothing has been searched yet."""
    frame[PARENT_ACTION] = action
    frame[OFFSET] = offset
    frame[LOW] = frame[FIRST_LOW] = low
    frame[HIGH] = frame[FIRST_HIGH] = high
    frame[NODE_KEY] = key
    frame[KEYED] = keyed
    frame[NEXT] = 0
    frame[BEST_ACTION] = -1


@kernel
def take(frame: np.ndarray, maximise: bool, action: int, value: int) -> None:
    """The node has its action's value, if that is better than what it had."""
    if maximise:
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
def child_key(game: int, row: np.ndarray, remaining: int, depth: int, salt: int) -> tuple[int, int]:
    """The table's key of a node, and whether the table may be used for it.

    Where nothing within the remaining depth can depend on plies already played, position and depth say all. Else the plies
    since the last irreversible one join the key; with them the value is still the same on every way from the root, as long
    as the whole search is shorter than the shortest cycle. Deeper searches leave such nodes out.
    """
    if remaining < TABLE_DEPTH:
        return 0, 0
    key = kernels.position_hash(game, row) ^ salt ^ (remaining << 56)
    if kernels.depends_on_past(game, row, remaining):
        if depth >= kernels.shortest_cycle(game):
            return 0, 0
        key ^= kernels.reversible_plies(game, row) << 40
    return key, 1


@BatchEntry
def search_batch(
    game: int,
    depth: int,
    rows: np.ndarray,
    keys: np.ndarray,
    salts: np.ndarray,
    histories: np.ndarray,
    tables: np.ndarray,
    children: np.ndarray,
    values: np.ndarray,
    masks: np.ndarray,
    orders: np.ndarray,
    frames: np.ndarray,
    answers: np.ndarray,
) -> None:
    """`answers[B, 3]` holds nodes, value and action of every row; every worker has its own room for a line and a table."""
    workers = tables.shape[0]
    for worker in numba.prange(workers):
        for index in range(worker, rows.shape[0], workers):
            kernels.copy_row(rows[index], children[worker, 0, 0])
            for place in range(keys.shape[1]):
                histories[worker, place] = keys[index, place]
            search(
                game,
                depth,
                salts[index],
                histories[worker],
                tables[worker],
                children[worker],
                values[worker],
                masks[worker],
                orders[worker],
                frames[worker],
                answers[index],
            )


@entry
def action_values(
    game: int,
    rows: np.ndarray,
    histories: np.ndarray,
    masks: np.ndarray,
    child: np.ndarray,
    line: np.ndarray,
    values: np.ndarray,
) -> None:
    """`values[B, A]` is what each legal action is worth to the mover by the plain value of the position after it."""
    for index in range(rows.shape[0]):
        sign = 1 if rows[index, MOVER] == 0 else -1
        for action in range(masks.shape[1]):
            if masks[index, action]:
                kernels.copy_row(rows[index], child)
                kernels.copy_row(histories[index], line)
                kernels.play(game, child, line, action)
                values[index, action] = sign * plain_value(game, child, 1)
