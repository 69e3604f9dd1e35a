"""The batched engine: what happens to thousands of rows at once, and the only file that knows all games' rules.

A function that is handed kernels as arguments never hits Numba's disk cache; one that branches on which game it is does.
So generic code calls the dispatchers here. A game adds one branch to each. Which game it is stands in the length of a tuple,
which is part of its type: so every entry is compiled for one game at a time, and holds the code of that game alone.
"""

from typing import Final, TypeAlias

import numba
import numpy as np

from envs.engine.header import CHANCE, EIYIU, END, KEYS, MOVER, NONE, OWARE, PLY, RESULT, TOGUZ_KUMALAK, UISGE
from envs.engine.jit import BatchEntry, entry, kernel
from envs.games.eiyiu import rules as eiyiu
from envs.games.oware import rules as oware
from envs.games.toguz_kumalak import rules as toguz_kumalak
from envs.games.uisge import rules as uisge

Tag: TypeAlias = tuple[int, ...]  # its length is the game's number
NO_LIMIT: Final = 1 << 30
WAITING_KEYS: Final = 32  # more than one ply can add to a history


# Dispatchers: the kernels every game has.


@kernel
def start(game: Tag, row: np.ndarray, history: np.ndarray) -> None:
    """The row is the game's start position under the options it already holds."""
    if len(game) == OWARE:
        oware.start(row, history)
    elif len(game) == TOGUZ_KUMALAK:
        toguz_kumalak.start(row, history)
    elif len(game) == UISGE:
        uisge.start(row, history)
    else:
        eiyiu.start(row, history)


@kernel
def set_up(game: Tag, row: np.ndarray, history: np.ndarray) -> None:
    """The fields that follow from a board given by hand are right."""
    if len(game) == OWARE:
        oware.set_up(row, history)
    elif len(game) == TOGUZ_KUMALAK:
        toguz_kumalak.set_up(row, history)
    elif len(game) == UISGE:
        uisge.set_up(row, history)
    else:
        eiyiu.set_up(row, history)


@kernel
def legal(game: Tag, row: np.ndarray, mask: np.ndarray) -> None:
    """`mask` is 1 where an action is legal, all zeros once the game is over."""
    if len(game) == OWARE:
        oware.legal(row, mask)
    elif len(game) == TOGUZ_KUMALAK:
        toguz_kumalak.legal(row, mask)
    elif len(game) == UISGE:
        uisge.legal(row, mask)
    else:
        eiyiu.legal(row, mask)


@kernel
def pick(game: Tag, row: np.ndarray, draw: np.int64) -> int:
    """The legal action that a random number of 32 bits falls on."""
    if len(game) == OWARE:
        return oware.pick(row, draw)
    if len(game) == TOGUZ_KUMALAK:
        return toguz_kumalak.pick(row, draw)
    if len(game) == UISGE:
        return uisge.pick(row, draw)
    return eiyiu.pick(row, draw)


@kernel
def play(game: Tag, row: np.ndarray, history: np.ndarray, action: int) -> None:
    """The legal action has been played; where the mover is CHANCE, it is the draw that is dealt."""
    if len(game) == OWARE:
        oware.play(row, history, action)
    elif len(game) == TOGUZ_KUMALAK:
        toguz_kumalak.play(row, history, action)
    elif len(game) == UISGE:
        uisge.play(row, history, action)
    else:
        eiyiu.play(row, history, action)


@kernel
def write_out(game: Tag, row: np.ndarray, history: np.ndarray) -> None:
    """The history holds all earlier positions that may recur: `KEYS` of them."""
    if len(game) == OWARE:
        oware.write_out(row, history, row[MOVER])


@kernel
def outcome(game: Tag, row: np.ndarray, scores: np.ndarray) -> None:
    """`scores` holds both seats' scores, final ones once the game is over."""
    if len(game) == OWARE:
        oware.outcome(row, scores)
    elif len(game) == TOGUZ_KUMALAK:
        toguz_kumalak.outcome(row, scores)
    elif len(game) == UISGE:
        uisge.outcome(row, scores)
    else:
        eiyiu.outcome(row, scores)


@kernel
def lead(game: Tag, row: np.ndarray) -> int:
    """Seat 0's score less seat 1's while the game runs; 0 in a game without scores."""
    if len(game) == OWARE:
        return oware.balance(row)
    if len(game) == TOGUZ_KUMALAK:
        return toguz_kumalak.balance(row)
    if len(game) == UISGE:
        return uisge.balance(row)
    return 0


@kernel
def balance(game: Tag, row: np.ndarray) -> int:
    """The plain evaluation from seat 0's side."""
    if len(game) == OWARE:
        return oware.balance(row)
    if len(game) == TOGUZ_KUMALAK:
        return toguz_kumalak.balance(row)
    if len(game) == UISGE:
        return uisge.balance(row)
    return eiyiu.balance(row)


@kernel
def observe(game: Tag, row: np.ndarray, player: int, out: np.ndarray) -> None:
    """`out` is the position as the player sees it."""
    if len(game) == OWARE:
        oware.observe(row, player, out)
    elif len(game) == TOGUZ_KUMALAK:
        toguz_kumalak.observe(row, player, out)
    elif len(game) == UISGE:
        uisge.observe(row, player, out)
    else:
        eiyiu.observe(row, player, out)


# For searches.


@kernel
def position_hash(game: Tag, row: np.ndarray) -> int:
    """64 bits for board, scores and mover: different positions share them only by accident."""
    if len(game) == OWARE:
        return oware.position_hash(row)
    if len(game) == TOGUZ_KUMALAK:
        return toguz_kumalak.position_hash(row)
    if len(game) == UISGE:
        return uisge.position_hash(row)
    return eiyiu.position_hash(row)


@kernel
def reversible_plies(game: Tag, row: np.ndarray) -> int:
    """Plies since the last irreversible one; where nothing may recur, what else brings the game's end nearer."""
    if len(game) == OWARE:
        return row[oware.QUIET]
    if len(game) == TOGUZ_KUMALAK:
        return row[toguz_kumalak.QUIET]
    if len(game) == UISGE:
        return row[PLY]
    return row[eiyiu.SHIFTS]


@kernel
def depends_on_past(game: Tag, row: np.ndarray, plies: int) -> bool:
    """Whether anything within so many plies may depend on plies already played, not on the position alone."""
    if len(game) == OWARE:
        return oware.depends_on_past(row, plies)
    if len(game) == TOGUZ_KUMALAK:
        return toguz_kumalak.depends_on_past(row, plies)
    if len(game) == UISGE:
        return uisge.depends_on_past(row, plies)
    return eiyiu.depends_on_past(row, plies)


@kernel
def shortest_cycle(game: Tag) -> int:
    """No position recurs within fewer plies."""
    if len(game) == OWARE:
        return oware.SHORTEST_CYCLE
    if len(game) == TOGUZ_KUMALAK:
        return toguz_kumalak.SHORTEST_CYCLE
    if len(game) == UISGE:
        return uisge.SHORTEST_CYCLE
    return eiyiu.SHORTEST_CYCLE


@kernel
def plies_to_limit(game: Tag, row: np.ndarray) -> int:
    """How many plies from here a limit ends the game, if nothing else does; `NO_LIMIT` where none will."""
    if len(game) == OWARE:
        return oware.quiet_limit(row) - row[oware.QUIET] if oware.quiet_limit(row) else NO_LIMIT
    if len(game) == TOGUZ_KUMALAK:
        return toguz_kumalak.quiet_limit(row) - row[toguz_kumalak.QUIET] if toguz_kumalak.quiet_limit(row) else NO_LIMIT
    if len(game) == UISGE:
        return uisge.move_limit(row) - row[PLY] if uisge.move_limit(row) else NO_LIMIT
    return 2 * (eiyiu.shift_limit(row) - row[eiyiu.SHIFTS])


@kernel
def promise(game: Tag, row: np.ndarray, action: int) -> int:
    """What the action seems to gain, without playing it: in Uisge a king; 0 elsewhere."""
    return uisge.kings_gained(row, action) if len(game) == UISGE else 0


@kernel
def end_at_repetitions(game: Tag, row: np.ndarray) -> None:
    """From here on the game ends when a position recurs for the first time, if repetitions end it at all."""
    if len(game) == OWARE:
        row[oware.LIMITS] -= max(oware.repetition_limit(row) - 2, 0)
    elif len(game) == TOGUZ_KUMALAK:
        row[toguz_kumalak.LIMITS] -= max(toguz_kumalak.repetition_limit(row) - 2, 0)
    elif len(game) == UISGE:
        row[uisge.LIMITS] -= max(uisge.repetition_limit(row) - 2, 0)


@kernel
def plies_into_turn(game: Tag, row: np.ndarray) -> int:
    """Plies of its turn that the player to move has played already."""
    if len(game) == EIYIU:
        return 0 if row[eiyiu.HAND] == NONE and row[MOVER] != CHANCE else 1
    return 0


# Random streams: one 64-bit state a game.


@kernel
def next_draw(streams: np.ndarray, index: int) -> np.int64:
    """A random number of 32 bits from the stream (xorshift, Marsaglia 2003), which has moved on."""
    state = streams[index]
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    streams[index] = state
    return np.int64(state >> np.uint64(32))


@kernel
def deal(game: Tag, row: np.ndarray, history: np.ndarray, streams: np.ndarray, index: int) -> None:
    """A draw that was to be dealt has been, each outcome as likely, by the stream, which has then moved on."""
    if len(game) == EIYIU and row[MOVER] == CHANCE:
        eiyiu.deal(row, eiyiu.pick(row, next_draw(streams, index)))


# One game, for `Position` and the AEC environment.


@entry
def start_one(game: Tag, row: np.ndarray, history: np.ndarray) -> None:
    """See `start`."""
    start(game, row, history)


@entry
def set_up_one(game: Tag, row: np.ndarray, history: np.ndarray) -> None:
    """See `set_up`."""
    set_up(game, row, history)


@entry
def legal_one(game: Tag, row: np.ndarray, mask: np.ndarray) -> None:
    """See `legal`."""
    legal(game, row, mask)


@entry
def play_one(game: Tag, row: np.ndarray, history: np.ndarray, action: int) -> None:
    """See `play`."""
    play(game, row, history, action)


@entry
def look(game: Tag, row: np.ndarray, observations: np.ndarray, masks: np.ndarray, scores: np.ndarray) -> None:
    """`observations[p]` and `masks[p]` are seat p's, the mask all zeros for a seat not to move; `scores` as `outcome`."""
    look_at(game, row, observations, masks, scores)


@entry
def play_and_look(
    game: Tag,
    row: np.ndarray,
    history: np.ndarray,
    action: int,
    stream: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    scores: np.ndarray,
) -> None:
    """`play`, the deal that it asks for by the stream, then `look`."""
    play(game, row, history, action)
    deal(game, row, history, stream, 0)
    look_at(game, row, observations, masks, scores)


@kernel
def look_at(game: Tag, row: np.ndarray, observations: np.ndarray, masks: np.ndarray, scores: np.ndarray) -> None:
    """See `look`."""
    for player in range(2):
        observe(game, row, player, observations[player])
        for action in range(masks.shape[1]):
            masks[player, action] = 0
    if row[END] == 0 and row[MOVER] != CHANCE:
        legal(game, row, masks[row[MOVER]])
    outcome(game, row, scores)


# Many games at once. `rows[B, ROW]`, `histories[B, H]`, one entry a game everywhere.


@kernel
def show(game: Tag, row: np.ndarray, observation: np.ndarray, mask: np.ndarray) -> None:
    """Observation and mask are the mover's; the mask comes last, from the position as it now stands."""
    observe(game, row, row[MOVER], observation)
    legal(game, row, mask)


@BatchEntry
def show_batch(game: Tag, rows: np.ndarray, observations: np.ndarray, masks: np.ndarray, movers: np.ndarray) -> None:
    """Observations, masks and movers are those of the rows."""
    for index in numba.prange(rows.shape[0]):
        show(game, rows[index], observations[index], masks[index])
        movers[index] = rows[index, MOVER]


@kernel
def first_illegal(rows: np.ndarray, masks: np.ndarray, actions: np.ndarray, active: np.ndarray) -> int:
    """The first active, running game whose action is not legal, -1 if there is none."""
    for index in range(actions.shape[0]):
        action = actions[index]
        legal = 0 <= action < masks.shape[1] and masks[index, action]
        if not legal and active[index] and rows[index, END] == 0:
            return index
    return -1


@BatchEntry
def step_batch(
    game: Tag,
    restart: bool,
    start_row: np.ndarray,
    rows: np.ndarray,
    histories: np.ndarray,
    actions: np.ndarray,
    active: np.ndarray,
    deals: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    movers: np.ndarray,
    rewards: np.ndarray,
    gains: np.ndarray,
    ended: np.ndarray,
    end_reasons: np.ndarray,
    final_observations: np.ndarray,
    final_scores: np.ndarray,
    final_plies: np.ndarray,
) -> int:
    """Each active game has played its action and had a draw dealt by its stream in `deals`; a game that ended has left its last
    facts and, with `restart`, begun anew.

    A game that is not active, or was over before (without `restart`), is left alone and counts as not ended in this step.
    If an action is illegal nothing has changed; returns the first such game, else -1.
    """
    illegal = first_illegal(rows, masks, actions, active)
    if illegal >= 0:
        return illegal
    for index in numba.prange(rows.shape[0]):
        row = rows[index]
        ended[index] = False
        rewards[index, 0] = 0
        rewards[index, 1] = 0
        gains[index] = 0
        if row[END] or not active[index]:
            continue
        mover = row[MOVER]
        before = lead(game, row)
        play(game, row, histories[index], actions[index])
        deal(game, row, histories[index], deals, index)
        gain = lead(game, row) - before
        gains[index] = gain if mover == 0 else -gain
        end_reasons[index] = row[END]
        if row[END]:
            ended[index] = True
            rewards[index, 0] = row[RESULT]
            rewards[index, 1] = -row[RESULT]
            final_plies[index] = row[PLY]
            observe(game, row, 0, final_observations[index, 0])
            observe(game, row, 1, final_observations[index, 1])
            outcome(game, row, final_scores[index])
            if restart:
                copy_row(start_row, row)
        show(game, row, observations[index], masks[index])
        movers[index] = row[MOVER]
    return -1


@BatchEntry
def random_actions(game: Tag, rows: np.ndarray, active: np.ndarray, streams: np.ndarray, actions: np.ndarray) -> None:
    """`actions` holds a uniformly random legal action of every running, active game, -1 elsewhere; their streams moved on."""
    for index in numba.prange(rows.shape[0]):
        if rows[index, END] or not active[index]:
            actions[index] = -1
        else:
            actions[index] = pick(game, rows[index], next_draw(streams, index))


@entry
def random_games(game: Tag, row: np.ndarray, history: np.ndarray, stream: np.ndarray, plies: int) -> int:
    """Whole random games were played, until at least that many plies (a deal is none) were; returns the plies."""
    played = 0
    while played < plies:
        start(game, row, history)
        while row[END] == 0:
            play(game, row, history, pick(game, row, next_draw(stream, 0)))
            played += row[MOVER] != CHANCE
    return played


@entry
def count_lines(
    game: Tag, rows: np.ndarray, masks: np.ndarray, history: np.ndarray, offsets: np.ndarray, left: np.ndarray, depth: int
) -> int:
    """Legal lines of exactly `depth` plies from `rows[0]`, every last ply played. A deal is no ply, but each makes a line.

    `rows`, `masks`, `offsets` and `left` are room for one line, `line_room(depth)` levels; `history` has `history_room` for it.
    """
    lines = 0
    level = 0
    offsets[0] = 0
    left[0] = depth
    legal(game, rows[0], masks[0])
    while level >= 0:
        action = take_first(masks[level])
        if action < 0:
            level -= 1
            continue
        child = rows[level + 1]
        copy_row(rows[level], child)
        play(game, child, history[offsets[level] :], action)
        remaining = left[level] - (rows[level, MOVER] != CHANCE)
        if remaining == 0 and child[MOVER] != CHANCE:
            lines += 1
        else:
            offsets[level + 1] = offsets[level] + shift(game, rows[level], child)
            level += 1
            left[level] = remaining
            legal(game, child, masks[level])
    return lines


def line_room(plies: int) -> int:
    """Levels that a line of so many plies can have: each ply may be followed by a deal."""
    return 2 * plies + 2


@kernel
def copy_row(row: np.ndarray, out: np.ndarray) -> None:
    """`out` is the row. (Assigning one array to another would allocate, which kernels do not.)"""
    for field in range(row.shape[0]):
        out[field] = row[field]


@kernel
def take_first(mask: np.ndarray) -> int:
    """The lowest action still marked, which is marked no longer; -1 if there is none."""
    for action in range(mask.shape[0]):
        if mask[action]:
            mask[action] = 0
            return action
    return -1


@kernel
def shift(game: Tag, row: np.ndarray, child: np.ndarray) -> int:
    """By how much the child's history begins later than the row's, in a search that keeps one history for its whole line.

    A reversible ply writes behind the row's keys, and all of a row's reversible plies write the same there. After an
    irreversible one the child's keys begin behind all that, so that it is still there for the row's other children.
    """
    return row[KEYS] + WAITING_KEYS if reversible_plies(game, child) == 0 else 0


def history_room(keys: int, plies: int) -> int:
    """Keys that a history needs for a line of so many plies from a row with so many keys."""
    return keys + (plies + 1) * (WAITING_KEYS + 1)


@entry
def write_out_one(game: Tag, row: np.ndarray, history: np.ndarray) -> None:
    """See `write_out`."""
    write_out(game, row, history)
