"""Which actions the selective search tries first."""

from typing import Final

import numpy as np

from agents.minimax.stack import LEFT, TRYING, Room, plays_all_at_once, sign_of
from envs.engine import kernels
from envs.engine.header import CHANCE, END, MOVER, RESULT
from envs.engine.jit import kernel

MERIT_OF_TABLE: Final = 1 << 60
MERIT_OF_WIN: Final = 1 << 50
MERIT_OF_GAIN: Final = 1 << 30  # a seed or a king
MERIT_OF_KILLER: Final = 1 << 29
MOST_CREDIT: Final = 1 << 28


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
