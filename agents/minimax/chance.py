"""Where chance deals: Star1 and Star2 (Ballard 1983), which settle an average before every draw is searched.

A probe searches the action that looks best after a draw: that bounds what the draw is worth from the side of who may choose.
"""

import numpy as np

from agents.minimax.stack import (
    BEST,
    COUNT,
    CUT,
    FULL,
    HIGHEST,
    INFINITY,
    LOWEST,
    MODE,
    NEXT,
    NODE_HIGH,
    NODE_LOW,
    PROBE,
    PROBED,
    TOP,
    TRYING,
    sign_of,
)
from envs.engine.jit import kernel


@kernel
def open_draws(frame: np.ndarray, bounds: np.ndarray, count: int, turn: int) -> None:
    """Nothing is known yet of so many draws, after which the player of the turn may choose."""
    frame[PROBED] = count if count == 1 else 0
    frame[LOWEST] = -count * TOP
    frame[HIGHEST] = count * TOP
    for place in range(count):
        bounds[place] = -sign_of(turn) * TOP


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
    low, high = window_of_draw(frame, turn)
    frame[NEXT] += 1
    frame[BEST] += value
    if value >= high or value <= low:
        frame[CUT] = 1
        frame[BEST] = (frame[BEST] + (frame[LOWEST] if value >= high else frame[HIGHEST])) // count
