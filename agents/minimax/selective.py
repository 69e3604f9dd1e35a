"""The selective search: as deep as a budget of nodes or time allows, with everything that makes alpha-beta fast.

Iterative deepening; principal variation search, in which all actions but the first are first shown to be no better (Marsland,
Campbell 1982); aspiration windows; a transposition table; killers and credits for the order of actions; late actions
searched less deep; captures searched beyond the depth; Star1 and Star2 where chance deals (Ballard 1983).

Values are seat 0's throughout, as in `search`: seat 0's nodes take the highest, seat 1's the lowest. They are millilogits, wins
count `TOP` less the plies to them; in a game with chance they are shares of `TOP` that average as expected results do.

A repetition ends the game here when a position recurs for the first time. What a node is worth may then rest on a position
above it: such values are not kept in the table, as on another way to the node they may be others. (The converse is let be: a
value from another way may miss a repetition on this one.)

The search is one loop over a stack that lies in arrays. It can stop at any node and go on later, so whoever calls it keeps the
clock.
"""

from typing import Final

import numba
import numpy as np

from agents.endgames.table import has_recurred, is_short_of_limit
from agents.minimax import memory
from agents.minimax.chance import (
    choose_draw,
    open_draws,
    take_draw,
    window_of_draw,
)
from agents.minimax.leaves import (
    evaluate,
    from_node,
    glance,
    to_node,
)
from agents.minimax.ordering import (
    MERIT_OF_GAIN,
    MERIT_OF_KILLER,
    MERIT_OF_TABLE,
    bring_best_forward,
    credit,
    merit_of,
)
from agents.minimax.stack import (
    ACTION,
    AFTER_HARVESTS,
    AGAIN,
    ANYWHERE,
    BEST,
    BEST_ACTION,
    COUNT,
    CUT,
    DEPTH,
    DEPTH_DONE,
    DONE,
    ENDGAMES,
    EXTEND,
    FIRST_DEPTH,
    FIRST_HIGH,
    FIRST_LOW,
    FULL,
    HIGH,
    INFINITY,
    IS_PROBE,
    KEY,
    LAST_DEPTH,
    LEFT,
    LEVEL,
    LOW,
    MEANS,
    MODE,
    NEXT,
    NO_REST,
    NODE_HIGH,
    NODE_LOW,
    NODES,
    OFFSET,
    PROBE,
    REDUCE,
    REDUCED,
    REST,
    ROOT_PLY,
    SALT,
    SCOUT,
    SEARCH,
    SINCE,
    SLOT,
    STEP,
    TOP,
    TRUST,
    TRYING,
    UNKNOWN,
    VALUE,
    Room,
    improve,
    open_frame,
    plays_all_at_once,
    room_of,
    slot_of,
    turn_after,
)
from envs.engine import kernels
from envs.engine.header import CHANCE, EIYIU, END, MOVER, NONE, OWARE, PLY, EndReason
from envs.engine.jit import BatchEntry, entry, kernel, routine

LATE: Final = 1  # how many actions are searched to the full depth
REDUCIBLE: Final = 3  # plies below which nothing is reduced
BEYOND: Final = -6  # how far captures are searched
ASPIRATION: Final = 200  # millilogits about the last value
ASPIRATION_OF_SHARES: Final = TOP // 20  # in a game with chance
LIMIT_IN_SIGHT: Final = 100  # plies before a limit from which on the table tells how near it is
LIMIT_OF_ENDGAMES: Final = 200  # the same where endgames look ahead from the search's last position
SALT_OF_ENDGAMES: Final = 57

_REPETITION: Final = int(EndReason.REPETITION)


@kernel
def think(game: kernels.Tag, room: Room, nodes: int) -> None:
    """The search has gone on until it is done, or has visited so many nodes in all.

    The root is `rows[0, 0]`. The answer stands in the state: `ACTION`, `VALUE`, `DEPTH_DONE`; its line in `lines[0]`.
    """
    state = room.state
    while state[NODES] < nodes and not state[DONE]:
        # 1. Between iterations: look deeper, in a window around the last value.
        if state[LEVEL] == NONE:
            open_iteration(game, room)
        level = state[LEVEL]
        frame = room.frames[level]
        row = room.rows[level, frame[SLOT]]
        # 2. A node's actions are listed when it is first seen.
        if frame[COUNT] == UNKNOWN:
            list_actions(game, room, level)
        # 3. A node is done when its actions are, or when what it has is already too good to be allowed.
        if not frame[AGAIN] and (frame[CUT] or frame[NEXT] == frame[COUNT]):
            close(game, room, level)
            if level > 0:
                state[LEVEL] = level - 1
                take(game, room, level - 1, frame[BEST], frame[REST] if frame[REST] < level else NO_REST)
            else:
                close_iteration(room)
            continue
        # 4. The next action, or the same again in another way.
        if not frame[AGAIN]:
            choose(game, room, level)
        frame[AGAIN] = 0
        state[NODES] += 1
        # 5. What it leads to may be known without a search.
        child = room.rows[level + 1, slot_of(game, frame[TRYING])]
        low, high = window_of(frame, row[MOVER], turn_after(row))
        left = left_below(frame, row[MOVER], state[STEP])
        room.lines[level + 1, 0] = 0
        is_known, value = glance(game, room, child)
        if is_known:
            if row[MOVER] != CHANCE:
                frame[MODE] = FULL  # nothing to be made sure of
            take(game, room, level, value, rest_of(game, room, level, child))
            continue
        # 6. Else search below it, unless the table or the evaluation settles it.
        if enter(game, room, level, child, low, high, left):
            state[LEVEL] = level + 1
        else:
            take(game, room, level, room.frames[level + 1, BEST], NO_REST)


@routine
def open_iteration(game: kernels.Tag, room: Room) -> None:
    """The root is to be searched again, deeper; or, if the last value fell out of its window, with a wider one."""
    state = room.state
    frame = room.frames[0]
    if state[DEPTH] == state[DEPTH_DONE]:
        state[DEPTH] += state[STEP] if state[DEPTH] else state[FIRST_DEPTH]
        aspires = state[DEPTH_DONE] >= 3 and abs(state[VALUE]) < TOP // 8
        room_around = ASPIRATION_OF_SHARES if len(game) == EIYIU else ASPIRATION
        state[LOW] = state[VALUE] - room_around if aspires else -INFINITY
        state[HIGH] = state[VALUE] + room_around if aspires else INFINITY
    open_frame(frame, room.rows[0, 0, MOVER], 0, 0, state[LOW], state[HIGH], state[DEPTH])
    frame[KEY] = key_of(game, room, room.rows[0, 0])
    state[LEVEL] = 0


@routine
def close_iteration(room: Room) -> None:
    """The root has a value: the iteration is complete, or is to be repeated in a wider window."""
    state, frame = room.state, room.frames[0]
    state[LEVEL] = NONE
    value = frame[BEST]
    if value <= state[LOW]:
        state[LOW] = value - 4 * (state[HIGH] - value) if value > -TOP // 8 else -INFINITY
        return
    if value >= state[HIGH]:
        state[HIGH] = value + 4 * (value - state[LOW]) if value < TOP // 8 else INFINITY
        return
    state[VALUE] = value
    state[DEPTH_DONE] = state[DEPTH]
    decided = TOP - abs(value) <= state[DEPTH] or frame[COUNT] == 1
    state[DONE] = decided or state[DEPTH] + state[STEP] > state[LAST_DEPTH]


@routine
def list_actions(game: kernels.Tag, room: Room, level: int) -> None:
    """The node's actions are listed with their merits; beyond the depth, only those that take something."""
    frame = room.frames[level]
    row = room.rows[level, frame[SLOT]]
    mask, actions, merits = room.masks[level], room.actions[level], room.merits[level]
    kernels.legal(game, row, mask)
    best = best_known(room, level, row[MOVER])
    count = 0
    for action in range(mask.shape[0]):
        if not mask[action]:
            continue
        if plays_all_at_once(game):
            child = room.rows[level + 1, action]
            kernels.copy_row(row, child)
            kernels.play(game, child, room.history[frame[OFFSET] :], action)
        merit = merit_of(game, room, level, row, action)
        if frame[LEFT] > 0 or merit >= MERIT_OF_GAIN or row[MOVER] == CHANCE:
            actions[count] = action
            merits[count] = MERIT_OF_TABLE if action == best else merit
            count += 1
    frame[COUNT] = count
    if row[MOVER] == CHANCE:
        open_draws(frame, room.bounds[level], count, turn_after(row))
    elif frame[IS_PROBE]:
        bring_best_forward(actions, merits, 0, count)
        frame[COUNT] = 1


@kernel
def best_known(room: Room, level: int, mover: int) -> int:
    """The action to try first: at the root the answer so far, elsewhere the table's; NONE where there is none."""
    if mover == CHANCE:
        return NONE
    if level == 0 and room.state[ACTION] != NONE:
        return room.state[ACTION]
    return memory.action_of(recall(room, room.frames[level, KEY]))


@kernel
def choose(game: kernels.Tag, room: Room, level: int) -> None:
    """The node tries its next action, in the way that befits its place; the row after it is there."""
    frame = room.frames[level]
    row = room.rows[level, frame[SLOT]]
    actions, merits = room.actions[level], room.merits[level]
    if row[MOVER] == CHANCE:
        choose_draw(frame, actions, room.bounds[level], turn_after(row))
    else:
        place = frame[NEXT]
        bring_best_forward(actions, merits, place, frame[COUNT])
        frame[TRYING] = actions[place]
        frame[NEXT] = place + 1
        if room.state[ACTION] == NONE:
            room.state[ACTION] = frame[TRYING]
        late = frame[LEFT] >= REDUCIBLE and place >= LATE and merits[place] < MERIT_OF_KILLER
        reduces = late and room.state[MEANS] & REDUCE and level > 0
        frame[MODE] = FULL if place == 0 else (REDUCED if reduces else SCOUT)
    if not plays_all_at_once(game):
        child = room.rows[level + 1, 0]
        kernels.copy_row(row, child)
        kernels.play(game, child, room.history[frame[OFFSET] :], frame[TRYING])


@kernel
def window_of(frame: np.ndarray, mover: int, turn: int) -> tuple[int, int]:
    """Between which values what is tried matters."""
    low, high = frame[NODE_LOW], frame[NODE_HIGH]
    if mover == CHANCE:
        return window_of_draw(frame, turn)
    if frame[MODE] == FULL:
        return low, high
    return (low, low + 1) if mover == 0 else (high - 1, high)


@kernel
def left_below(frame: np.ndarray, mover: int, step: int) -> int:
    """Plies to search below what is tried."""
    if mover == CHANCE:
        return frame[LEFT]
    return frame[LEFT] - 1 - (step if frame[MODE] == REDUCED else 0)


@kernel
def rest_of(game: kernels.Tag, room: Room, level: int, child: np.ndarray) -> int:
    """The level of the position that a repetition repeats, NONE if it stood before the root; `NO_REST` if it is none."""
    if child[END] != _REPETITION:
        return NO_REST
    key = kernels.position_hash(game, child)
    for above in range(level, -1, -1):
        if kernels.position_hash(game, room.rows[above, room.frames[above, SLOT]]) == key:
            return above
    return NONE


@kernel
def enter(game: kernels.Tag, room: Room, level: int, child: np.ndarray, low: int, high: int, left: int) -> bool:
    """Whether the child must be searched: its frame is open then. Else the frame's `BEST` is what it is worth."""
    frame = room.frames[level + 1]
    parent = room.frames[level]
    mover = child[MOVER]
    offset = parent[OFFSET] + kernels.shift(game, room.rows[level, parent[SLOT]], child)
    open_frame(frame, mover, slot_of(game, parent[TRYING]), offset, low, high, left)
    # A draw that is to be dealt: nothing is known of it.
    if mover == CHANCE:
        frame[KEY] = 0
        return True
    # Nothing below this node is better than a win at this ply, or worse than a loss.
    plies = child[PLY] - room.state[ROOT_PLY]
    if low >= TOP - plies or high <= plies - TOP:
        frame[BEST] = TOP - plies if low >= TOP - plies else plies - TOP
        return False
    frame[KEY] = key_of(game, room, child)
    frame[IS_PROBE] = parent[MODE] == PROBE
    # The table may settle it.
    data = recall(room, frame[KEY])
    deep = memory.depth_of(data) >= left if room.state[MEANS] & TRUST else memory.depth_of(data) == left
    # (At the root's children not from earlier searches: a reply may repeat what has been on the board since.)
    is_fresh = level > 0 or memory.search_of(data) == room.state[SEARCH]
    if deep and is_fresh and memory.kind_of(data) != memory.NOTHING and left > 0:
        value = from_node(game, memory.value_of(data), plies)
        if settles(memory.kind_of(data), value, low, high):
            frame[BEST] = value
            return False
    if left > 0:
        return True
    # At the depth the evaluation counts, unless there is something to take.
    value = evaluate(game, room, child)
    frame[BEST] = value
    if not room.state[MEANS] & EXTEND or left <= BEYOND or not plays_all_at_once(game):
        return False
    improve(frame, mover, value)
    return not frame[CUT]


@kernel
def settles(kind: int, value: int, low: int, high: int) -> bool:
    """Whether a value of the table answers the question that a window asks."""
    if kind == memory.EXACT:
        return True
    return value >= high if kind == memory.AT_LEAST else value <= low


@kernel
def take(game: kernels.Tag, room: Room, level: int, value: int, rest: int) -> None:
    """The node has the value of what it tried; or it is to try it again, as the answer does not yet count."""
    frame = room.frames[level]
    mover = room.rows[level, frame[SLOT], MOVER]
    if mover == CHANCE:
        frame[REST] = min(frame[REST], rest)
        take_draw(frame, room.bounds[level], turn_after(room.rows[level, frame[SLOT]]), value)
        return
    better = value > frame[NODE_LOW] if mover == 0 else value < frame[NODE_HIGH]
    inside = frame[NODE_LOW] < value < frame[NODE_HIGH]
    if frame[MODE] == REDUCED and better:
        frame[MODE] = SCOUT
        frame[AGAIN] = 1
        return
    if frame[MODE] == SCOUT and inside:
        frame[MODE] = FULL
        frame[AGAIN] = 1
        return
    if value > frame[BEST] if mover == 0 else value < frame[BEST]:
        if better:
            frame[BEST_ACTION] = frame[TRYING]
            note_line(room, level)
        improve(frame, mover, value)
    frame[REST] = rest if frame[CUT] else min(frame[REST], rest)
    if frame[CUT]:
        credit(room, level, mover)


@kernel
def note_line(room: Room, level: int) -> None:
    """The best line from here is what was tried and the best line after it; at the root it is the answer so far."""
    line, rest = room.lines[level], room.lines[level + 1]
    line[0] = 1 + rest[0]
    line[1] = room.frames[level, TRYING]
    for place in range(rest[0]):
        line[2 + place] = rest[1 + place]
    if level == 0:
        room.state[ACTION] = line[1]


@kernel
def close(game: kernels.Tag, room: Room, level: int) -> None:
    """The node has its value, and the table knows it, if it rests on nothing above the node."""
    frame = room.frames[level]
    row = room.rows[level, frame[SLOT]]
    if row[MOVER] == CHANCE:
        if not frame[CUT]:
            frame[BEST] //= frame[COUNT]
        return
    if frame[IS_PROBE] or frame[LEFT] <= 0:
        return
    if frame[REST] < level:
        remember_action(room, frame)
        return
    value = frame[BEST]
    kind = memory.EXACT
    if value <= frame[FIRST_LOW]:
        kind = memory.AT_MOST
    elif value >= frame[FIRST_HIGH]:
        kind = memory.AT_LEAST
    value = to_node(game, value, row[PLY] - room.state[ROOT_PLY])
    data = memory.packed(value, kind, frame[LEFT], frame[BEST_ACTION], room.state[SEARCH])
    memory.remember(room.table, frame[KEY], data, room.state[SINCE])


@kernel
def remember_action(room: Room, frame: np.ndarray) -> None:
    """The table knows which action was best in a node of which it knows nothing else."""
    if frame[BEST_ACTION] != NONE and recall(room, frame[KEY]) == 0:
        data = memory.packed(0, memory.NOTHING, 0, frame[BEST_ACTION], room.state[SEARCH])
        memory.remember(room.table, frame[KEY], data, room.state[SINCE])


@kernel
def key_of(game: kernels.Tag, room: Room, row: np.ndarray) -> int:
    """The table's key of a position; where a limit of the rules is in sight, of the plies to it too."""
    key = kernels.position_hash(game, row) ^ room.state[SALT]
    left = kernels.plies_to_limit(game, row)
    sight = LIMIT_OF_ENDGAMES if room.state[ENDGAMES] == ANYWHERE else LIMIT_IN_SIGHT
    return key if left > sight else key ^ (left + 1) << 48


@kernel
def recall(room: Room, key: int) -> int:
    """What the table has for the key, if it may be used; 0 for nothing."""
    return memory.recall(room.table, key, room.state[SINCE])


@entry
def begin(game: kernels.Tag, rooms: Room, worker: int, row: np.ndarray, keys: np.ndarray) -> None:
    """The worker's room is ready to search the row, whose earlier keys are given. The state's settings hold, but that endgames
    may count in fewer places."""
    room = room_of(rooms, worker)
    state = room.state
    root = room.rows[0, 0]
    kernels.copy_row(row, root)
    if len(game) == OWARE and state[ENDGAMES] == ANYWHERE and (has_recurred(row, keys) or is_short_of_limit(row)):
        state[ENDGAMES] = AFTER_HARVESTS
    state[SALT] ^= state[ENDGAMES] << SALT_OF_ENDGAMES
    kernels.end_at_repetitions(game, root)
    for place in range(keys.shape[0]):
        room.history[place] = keys[place]
    for level in range(room.killers.shape[0]):
        room.killers[level, 0] = room.killers[level, 1] = NONE
    for player in range(2):
        for action in range(room.credits.shape[1]):
            room.credits[player, action] = 0
    state[LEVEL] = NONE
    state[NODES] = state[DEPTH] = state[DEPTH_DONE] = state[VALUE] = state[DONE] = 0
    state[ACTION] = NONE
    room.lines[0, 0] = 0
    state[ROOT_PLY] = row[PLY]
    state[FIRST_DEPTH] = state[STEP] - kernels.plies_into_turn(game, row)


@BatchEntry
def think_all(game: kernels.Tag, rooms: Room, nodes: np.ndarray) -> None:
    """Every worker's search has gone on until it is done, or has visited `nodes[W]` in all."""
    for worker in numba.prange(nodes.shape[0]):
        think(game, room_of(rooms, worker), nodes[worker])
