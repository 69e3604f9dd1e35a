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

from typing import Final, NamedTuple

import numba
import numpy as np

from agents.endgames.table import has_recurred, holds_unless_recurred, knows, probe
from agents.minimax import memory
from agents.minimax.evaluation import tuned_balance
from envs.engine import kernels
from envs.engine.header import (
    CHANCE,
    EIYIU,
    END,
    LAST_PLAYER,
    MOVER,
    NONE,
    OWARE,
    PLY,
    RESULT,
    TOGUZ_KUMALAK,
    EndReason,
)
from envs.engine.jit import BatchEntry, entry, kernel, routine

TOP: Final = 4_000_000  # a win now
INFINITY: Final = 2 * TOP
MOST_PLIES: Final = 200  # a search is never that deep: what is nearer to TOP is a win or a loss that was found
LIMIT_IN_SIGHT: Final = 100  # plies before a limit from which on the table tells how near it is; endgames need as many
SOLVED: Final = TOP // 4  # an endgame that is known to be won
SOLVED_SEED: Final = 1000  # and each seed of the difference
UNSOLVED_PLIES: Final = 500  # are added where the next harvest is out of sight
NO_REST: Final = 1 << 20  # the value rests on no position of the line

# What a search may do; tests switch parts off.
REDUCE: Final = 1  # search late actions less deep
EXTEND: Final = 2  # search captures beyond the depth
TRUST: Final = 4  # take what the table knows from deeper searches; else from those of the same depth alone
EVERYTHING: Final = REDUCE | EXTEND | TRUST

# The state of a search.
LEVEL: Final = 0  # the node it is at; NONE between iterations
NODES: Final = 1
DEPTH: Final = 2  # of this iteration
FIRST_DEPTH: Final = 3
STEP: Final = 4  # plies from one iteration to the next
LAST_DEPTH: Final = 5
MEANS: Final = 6  # of `EVERYTHING`
SEARCH: Final = 7  # its number, for the table
SINCE: Final = 8  # the first search whose entries in the table it may use
LOW: Final = 9  # the aspiration window
HIGH: Final = 10
DONE: Final = 11
ACTION: Final = 12  # the answer so far
VALUE: Final = 13
DEPTH_DONE: Final = 14  # the last iteration that was completed
SALT: Final = 15  # mixed into keys, so that positions under other options are others
ROOT_PLY: Final = 16
ENDGAMES: Final = 17  # whether the endgames that are there were solved under the root's rules
STATE: Final = 18

# A frame: what the search knows of the node of a level.
SLOT: Final = 0  # where its row is in its level
OFFSET: Final = 1  # where its history begins
NODE_LOW: Final = 2
NODE_HIGH: Final = 3
FIRST_LOW: Final = 4
FIRST_HIGH: Final = 5
KEY: Final = 6
COUNT: Final = 7  # of actions that it may try; `UNKNOWN` before they are listed
NEXT: Final = 8
BEST: Final = 9  # where chance deals, the sum of the values so far, the average once the node is done
BEST_ACTION: Final = 10
LEFT: Final = 11  # plies to search below it; beyond the depth, 0 or less
REST: Final = 12  # the highest position of the line that the value so far rests on; NONE is before the root
MODE: Final = 13  # how the action is tried
TRYING: Final = 14  # the action
AGAIN: Final = 15  # whether the same is to be tried once more
CUT: Final = 16  # the value so far is good enough
PROBED: Final = 17  # where chance deals, how many draws were probed
LOWEST: Final = 18  # where chance deals, what the draws not yet searched are worth at least, in all
HIGHEST: Final = 19  # ... and at most
IS_PROBE: Final = 20  # only the first action is searched: the value is a bound
FRAME: Final = 21
UNKNOWN: Final = -1

# How an action is tried.
FULL: Final = 0
SCOUT: Final = 1  # whether it is better at all, in a window that has no room
REDUCED: Final = 2  # the same, less deep
PROBE: Final = 3  # where chance deals: the first action alone

MERIT_OF_TABLE: Final = 1 << 60
MERIT_OF_WIN: Final = 1 << 50
MERIT_OF_GAIN: Final = 1 << 30  # a seed or a king
MERIT_OF_KILLER: Final = 1 << 29
MOST_CREDIT: Final = 1 << 28

PLAIN_UNIT: Final = 100  # what one counts in the plain evaluation: a seed, a king, a share of a winning turn
ASPIRATION: Final = 200  # millilogits about the last value
ASPIRATION_OF_SHARES: Final = TOP // 20  # in a game with chance
SHARE_OF_TOP: Final = 0.99 * TOP  # what the best evaluation is worth in a game with chance
LATE: Final = 1  # how many actions are searched to the full depth
REDUCIBLE: Final = 3  # plies below which nothing is reduced
BEYOND: Final = -6  # how far captures are searched

_REPETITION: Final = int(EndReason.REPETITION)


class Room(NamedTuple):
    """The memory of one search, or with a first axis more, of one a worker. L levels, A actions, R fields of a row.

    `rows[L, S, R]`: a level's rows, one an action where all are played at once, else the one that is tried. `merits[L, A]`
    says which of `actions[L, A]` to try first. `lines[L, L]`: length and actions of the best line from each level.
    `bounds[L, A]`: what probes found. `weights[F]`, the same for all workers, are those of `tuned_balance`; there are none for
    the plain evaluation. `endgames` and `endgame_plies` are a database's table and plies; there are none without one.
    """

    state: np.ndarray
    frames: np.ndarray
    rows: np.ndarray
    masks: np.ndarray
    actions: np.ndarray
    merits: np.ndarray
    killers: np.ndarray
    credits: np.ndarray
    lines: np.ndarray
    bounds: np.ndarray
    history: np.ndarray
    table: np.ndarray
    weights: np.ndarray
    endgames: np.ndarray
    endgame_plies: np.ndarray


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


@kernel
def plays_all_at_once(game: kernels.Tag) -> bool:
    """Whether all actions of a node are played when they are listed: they are few, and what they gain orders them."""
    return len(game) == OWARE or len(game) == TOGUZ_KUMALAK


@kernel
def slot_of(game: kernels.Tag, action: int) -> int:
    """Where the row after the action is in its level."""
    return action if plays_all_at_once(game) else 0


@kernel
def sign_of(mover: int) -> int:
    """1 for seat 0, which wants high values, -1 for seat 1."""
    return 1 - 2 * mover


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


@kernel
def open_frame(frame: np.ndarray, mover: int, slot: int, offset: int, low: int, high: int, left: int) -> None:
    """The frame is a node's of which nothing has been searched yet."""
    frame[SLOT] = slot
    frame[OFFSET] = offset
    frame[NODE_LOW] = frame[FIRST_LOW] = low
    frame[NODE_HIGH] = frame[FIRST_HIGH] = high
    frame[COUNT] = UNKNOWN
    frame[NEXT] = 0
    frame[BEST] = 0 if mover == CHANCE else -sign_of(mover) * INFINITY
    frame[BEST_ACTION] = NONE
    frame[LEFT] = left
    frame[REST] = NO_REST
    frame[MODE] = FULL
    frame[AGAIN] = 0
    frame[CUT] = 0
    frame[PROBED] = 0
    frame[IS_PROBE] = 0


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


# A node: its actions, and which comes next.


@routine
def list_actions(game: kernels.Tag, room: Room, level: int) -> None:
    """The node's actions are listed with their merits; beyond the depth, only those that take something."""
    frame = room.frames[level]
    row = room.rows[level, frame[SLOT]]
    mask, actions, merits = room.masks[level], room.actions[level], room.merits[level]
    kernels.legal(game, row, mask)
    best = NONE if row[MOVER] == CHANCE else memory.action_of(recall(room, frame[KEY]))
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
        frame[PROBED] = count if count == 1 else 0
        frame[LOWEST] = -count * TOP
        frame[HIGHEST] = count * TOP
        for place in range(count):
            room.bounds[level, place] = -sign_of(turn_after(row)) * TOP
    elif frame[IS_PROBE]:
        bring_best_forward(actions, merits, 0, count)
        frame[COUNT] = 1


@kernel
def turn_after(row: np.ndarray) -> int:
    """Who is to move after the draw: who was before it."""
    return 0 if row[LAST_PLAYER] == 0 else 1


@kernel
def merit_of(game: kernels.Tag, room: Room, level: int, row: np.ndarray, action: int) -> int:
    """How early an action should be tried: what it gains first, then what cut off at this level or often elsewhere."""
    if row[MOVER] == CHANCE:
        return 0
    sign = sign_of(row[MOVER])
    merit = room.credits[row[MOVER], action]
    if action == room.killers[level, 0] or action == room.killers[level, 1]:
        merit += MERIT_OF_KILLER
    if plays_all_at_once(game):
        child = room.rows[level + 1, action]
        if child[END]:
            return merit + MERIT_OF_WIN * sign * child[RESULT]
        return merit + MERIT_OF_GAIN * sign * (kernels.lead(game, child) - kernels.lead(game, row))
    return merit + MERIT_OF_GAIN * kernels.promise(game, row, action)


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
def bring_best_forward(actions: np.ndarray, merits: np.ndarray, place: int, count: int) -> None:
    """Of the actions from the place on, that of the highest merit stands at the place, the first among equals."""
    best = place
    for other in range(place + 1, count):
        if merits[other] > merits[best]:
            best = other
    action, merit = actions[best], merits[best]
    for other in range(best, place, -1):
        actions[other] = actions[other - 1]
        merits[other] = merits[other - 1]
    actions[place] = action
    merits[place] = merit


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


# What a child is worth without a search.


@kernel
def glance(game: kernels.Tag, room: Room, child: np.ndarray) -> tuple[bool, int]:
    """Whether the child's value follows without a search, and the value.

    The game may be over; in Eiyiu it may be won in this turn; in Oware it may be a solved endgame. Of these only those count
    that a harvest leads to: so a search that can win goes for the next harvest, and does not walk about among equals.
    """
    plies = child[PLY] - room.state[ROOT_PLY]
    if child[END]:
        return True, child[RESULT] * (TOP - plies)
    if len(game) == EIYIU and room.state[MEANS] & EXTEND:
        wins = kernels.balance(game, child)
        plies += 2 - kernels.plies_into_turn(game, child)
        return wins != 0, np.sign(wins) * (TOP - plies)
    if len(game) == OWARE and room.state[ENDGAMES] and kernels.reversible_plies(game, child) == 0:
        is_solved, difference = solved(game, room, child)
        return is_solved, solved_value(difference, plies)
    return False, 0


@kernel
def solved(game: kernels.Tag, room: Room, row: np.ndarray) -> tuple[bool, int]:
    """Whether it is known who wins a position of Oware if nothing recurs, and by how many seeds; below 0 if seat 1 does."""
    if not knows(row, room.endgame_plies):
        return False, 0
    lower, upper = probe(row, room.endgames)
    if row[MOVER] == 1:
        lower, upper = -upper, -lower
    lead = kernels.lead(game, row)
    lower, upper = lead + lower, lead + upper
    decided = lower == upper or lower > 0 or upper < 0
    if not decided or not holds_unless_recurred(row, room.endgame_plies):
        return False, 0
    return True, lower if lower > 0 else upper


@kernel
def solved_value(difference: int, plies: int) -> int:
    """What an endgame is worth that ends with the difference and is so many plies away."""
    return difference * SOLVED_SEED + np.sign(difference) * (SOLVED - plies)


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
def improve(frame: np.ndarray, mover: int, value: int) -> None:
    """The node is worth at least the value to its mover."""
    frame[BEST] = value
    if mover == 0:
        frame[NODE_LOW] = max(frame[NODE_LOW], value)
        frame[CUT] = value >= frame[NODE_HIGH]
    else:
        frame[NODE_HIGH] = min(frame[NODE_HIGH], value)
        frame[CUT] = value <= frame[NODE_LOW]


@kernel
def evaluate(game: kernels.Tag, room: Room, row: np.ndarray) -> int:
    """The evaluation of a running position, for seat 0; where chance plays a part, as a share of `TOP`."""
    if len(game) == OWARE and room.state[ENDGAMES]:
        is_solved, difference = solved(game, room, row)
        if is_solved:
            return solved_value(difference, row[PLY] - room.state[ROOT_PLY] + UNSOLVED_PLIES)
    weights = room.weights
    value = tuned_balance(game, row, weights) if weights.shape[0] else PLAIN_UNIT * kernels.balance(game, row)
    if len(game) == EIYIU:
        return int(SHARE_OF_TOP * np.tanh(value / 2000.0))  # the result that these odds let expect
    return value


# A child's value comes back.


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
def credit(room: Room, level: int, mover: int) -> None:
    """What was tried cut off: it shall be tried early at this level, and wherever this player may play it."""
    frame = room.frames[level]
    action = frame[TRYING]
    killers = room.killers[level]
    if killers[0] != action:
        killers[1] = killers[0]
        killers[0] = action
    left = max(frame[LEFT], 1)
    room.credits[mover, action] += left * left
    if room.credits[mover, action] >= MOST_CREDIT:
        for other in range(room.credits.shape[1]):
            room.credits[mover, other] >>= 1


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


# Chance.


@kernel
def choose_draw(frame: np.ndarray, actions: np.ndarray, bounds: np.ndarray, turn: int) -> None:
    """Each draw is probed first: the action that looks best bounds what it is worth to who may choose. Then each is searched.

    Its bounds are taken out of `LOWEST` and `HIGHEST`.
    """
    probes = frame[PROBED] < frame[COUNT]
    place = frame[PROBED] if probes else frame[NEXT]
    frame[MODE] = PROBE if probes else FULL
    frame[TRYING] = actions[place]
    frame[LOWEST] -= bounds[place] if turn == 0 else -TOP
    frame[HIGHEST] -= TOP if turn == 0 else bounds[place]


@kernel
def window_of_draw(frame: np.ndarray, turn: int) -> tuple[int, int]:
    """Between which values of one draw the average is still open, whatever the others are worth (Star1).

    A probe's value must bound the draw from the side of who may choose, so the window is open on the other.
    """
    low = frame[COUNT] * (frame[NODE_LOW] + 1) - 1 - frame[BEST] - frame[HIGHEST]
    high = frame[COUNT] * frame[NODE_HIGH] - frame[BEST] - frame[LOWEST]
    if frame[MODE] == PROBE:
        low, high = (-INFINITY, high) if turn == 0 else (low, INFINITY)
    return max(low, -INFINITY), min(high, INFINITY)


@kernel
def take_draw(frame: np.ndarray, bounds: np.ndarray, turn: int, value: int) -> None:
    """The draw's value, or what a probe says of it, is in the sums; it may settle the average (Star2)."""
    count = frame[COUNT]
    low, high = window_of_draw(frame, turn)
    if frame[MODE] == PROBE:
        bounds[frame[PROBED]] = min(max(value, -TOP), TOP)
        frame[LOWEST] += bounds[frame[PROBED]] if turn == 0 else -TOP
        frame[HIGHEST] += TOP if turn == 0 else bounds[frame[PROBED]]
        frame[PROBED] += 1
        settled_high = turn == 0 and frame[LOWEST] >= count * frame[NODE_HIGH]
        settled_low = turn == 1 and frame[HIGHEST] < count * (frame[NODE_LOW] + 1)
        if settled_high or settled_low:
            frame[CUT] = 1
            frame[BEST] = (frame[LOWEST] if settled_high else frame[HIGHEST]) // count
        return
    frame[NEXT] += 1
    frame[BEST] += value
    if value >= high or value <= low:
        frame[CUT] = 1
        frame[BEST] = (frame[BEST] + (frame[LOWEST] if value >= high else frame[HIGHEST])) // count


# Keys.


@kernel
def key_of(game: kernels.Tag, room: Room, row: np.ndarray) -> int:
    """The table's key of a position; where a limit of the rules is in sight, of the plies to it too."""
    key = kernels.position_hash(game, row) ^ room.state[SALT]
    left = kernels.plies_to_limit(game, row)
    return key if left > LIMIT_IN_SIGHT else key ^ (left + 1) << 50


@kernel
def recall(room: Room, key: int) -> int:
    """What the table has for the key, if it may be used; 0 for nothing."""
    return memory.recall(room.table, key, room.state[SINCE])


@kernel
def counts_plies(game: kernels.Tag, value: int) -> bool:
    """Whether the value says how many plies away something is: a win, or an endgame that is known."""
    return abs(value) > (TOP - MOST_PLIES if len(game) == EIYIU else SOLVED // 2)


@kernel
def to_node(game: kernels.Tag, value: int, plies: int) -> int:
    """The value with such plies counted from the node, which is so many plies from the root."""
    return value + np.sign(value) * plies if counts_plies(game, value) else value


@kernel
def from_node(game: kernels.Tag, value: int, plies: int) -> int:
    """The value with such plies counted from the root."""
    return value - np.sign(value) * plies if counts_plies(game, value) else value


# From outside.


@kernel
def room_of(rooms: Room, worker: int) -> Room:
    """One worker's room."""
    return Room(
        rooms.state[worker],
        rooms.frames[worker],
        rooms.rows[worker],
        rooms.masks[worker],
        rooms.actions[worker],
        rooms.merits[worker],
        rooms.killers[worker],
        rooms.credits[worker],
        rooms.lines[worker],
        rooms.bounds[worker],
        rooms.history[worker],
        rooms.table[worker],
        rooms.weights,
        rooms.endgames,
        rooms.endgame_plies,
    )


@entry
def begin(game: kernels.Tag, rooms: Room, worker: int, row: np.ndarray, keys: np.ndarray) -> None:
    """The worker's room is ready to search the row, whose earlier keys are given; the state's settings stay as they are."""
    room = room_of(rooms, worker)
    state = room.state
    root = room.rows[0, 0]
    kernels.copy_row(row, root)
    if len(game) == OWARE and state[ENDGAMES] and has_recurred(row, keys):
        state[ENDGAMES] = 0
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
