"""Eiyiu boards: from the slow twin to the engine and back, drawn at random, mirrored and moved about the plane.

The twin names actions by kind and cell of the plane; the engine numbers them, with cells of a window whose cell (1, 1) is the
lower left corner of the tiles' bounding box.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from envs import EndReason, Position
from envs.engine.header import CHANCE
from reference import eiyiu
from reference.eiyiu import STANDARD, Action, Cell, Options, State

WIDTH = 20
WINDOW = WIDTH * WIDTH
DRAW, CELL, ACTIONS = 9, 10, 410
IN_HAND = WINDOW + 1
HAND_FIELD = WINDOW + 18
REASONS = {None: 0} | {reason.label: int(reason) for reason in EndReason if reason}
Transform = Callable[[Cell], Cell]
SYMMETRIES: dict[str, Transform] = {
    "as it is": lambda cell: cell,
    "turned left": lambda cell: (-cell[1], cell[0]),
    "turned round": lambda cell: (-cell[0], -cell[1]),
    "turned right": lambda cell: (cell[1], -cell[0]),
    "mirrored": lambda cell: (-cell[0], cell[1]),
    "upside down": lambda cell: (cell[0], -cell[1]),
    "along the diagonal": lambda cell: (cell[1], cell[0]),
    "along the other diagonal": lambda cell: (-cell[1], -cell[0]),
}


def read(text: str, options: Options = STANDARD) -> State:
    """The twin's state that a text shows."""
    return eiyiu.from_text(text, options)


def in_engine(state: State) -> Position:
    """The engine's position of a state."""
    return Position.from_text("eiyiu", eiyiu.to_text(state), strict=False, **asdict(state.options))


# Cells and actions


def place(cell: Cell, state: State) -> int:
    """The cell's number in the window."""
    left, bottom = eiyiu.corner(state)
    return WIDTH * (cell[1] - bottom + 1) + cell[0] - left + 1


def number_of(action: Action, state: State) -> int:
    """The engine's number of the twin's action."""
    match action:
        case ("open" | "deal", int(number)):
            return number - 1
        case ("lift" | "lay", (int(x), int(y))):
            return CELL + place((x, y), state)
    return DRAW


def text_of(action: Action, state: State) -> str:
    """How the rules page writes the twin's action."""
    match action:
        case ("open", int(number)):
            return str(number)
        case ("deal", int(number)):
            return f"={number}"
        case ("lift", (int(x), int(y))):
            return eiyiu.name((x, y), state)
        case ("lay", (int(x), int(y))):
            return f"@{eiyiu.name((x, y), state)}"
    return "?"


# What there is to see


def barred_field(state: State, seat: int) -> int:
    """The cell of the tile that the seat may not lift in its next turn for what was moved before this one, plus one."""
    if state.options.same_tile == "own":
        cell = None if seat == state.mover and state.hand is not None else state.last[seat]
    else:
        cell = None if seat != state.mover or state.hand is not None else state.last[1 - seat]
    if cell is None:
        return 0
    return IN_HAND if cell == state.lifted else place(cell, state) + 1


def observed(state: State, seat: int) -> np.ndarray:
    """What the seat observes of the twin's state."""
    out = np.zeros(WINDOW + 24, np.int16)
    for cell, number in state.tiles:
        out[place(cell, state)] = number
    out[[WINDOW + number - 1 for number in state.open]] = 1
    out[[WINDOW + 8 + number for number in state.hidden]] = 1
    origin = 0 if state.lifted is None else place(state.lifted, state) + 1
    running = state.end is None and not state.drawing and state.mover == seat
    barred = barred_field(state, seat), barred_field(state, 1 - seat)
    out[HAND_FIELD:] = [state.hand or 0, origin, *barred, state.shifts, running]
    return out


def mask_of(actions: list[Action], state: State) -> np.ndarray:
    """The engine's mask of the twin's legal actions."""
    mask = np.zeros(ACTIONS, np.int8)
    mask[[number_of(action, state) for action in actions]] = 1
    return mask


def scores(state: State) -> tuple[int, int]:
    """1 for the winner, else 0."""
    return int(state.winner == 0), int(state.winner == 1)


def facts_of_twin(state: State, actions: list[Action], last_move: str | None) -> dict[str, Any]:
    """All that a position of the engine should tell of the state."""
    return {
        "text": eiyiu.to_text(state),
        "mover": CHANCE if state.drawing else state.mover,
        "ply": state.ply,
        "mask": mask_of(actions, state).tolist(),
        "seen": [observed(state, seat).tolist() for seat in range(2)],
        "end": state.end,
        "result": eiyiu.result(state),
        "scores": scores(state),
        "occurrences": 1,
        "last move": last_move,
        "options": asdict(state.options),
    }


def facts_of_engine(position: Position) -> dict[str, Any]:
    """The same as the engine tells it."""
    return {
        "text": position.text,
        "mover": position.mover,
        "ply": position.ply,
        "mask": position.action_mask().tolist(),
        "seen": [position.observation(seat).tolist() for seat in range(2)],
        "end": position.end.label if position.end else None,
        "result": position.result,
        "scores": position.scores,
        "occurrences": position.occurrences,
        "last move": position.last_move,
        "options": position.options,
    }


# Other states


def image(state: State, transform: Transform) -> State:
    """The state with every cell where the transform takes it."""

    def moved(cell: Cell | None) -> Cell | None:
        return None if cell is None else transform(cell)

    tiles = tuple(sorted((transform(cell), number) for cell, number in state.tiles))
    last = moved(state.last[0]), moved(state.last[1])
    return replace(state, tiles=tiles, lifted=moved(state.lifted), last=last)


def image_of(action: Action, transform: Transform) -> Action:
    """The action on the cell where the transform takes it."""
    match action:
        case ("lift" | "lay" as kind, (int(x), int(y))):
            return kind, transform((x, y))
    return action


def random_shape(rng: np.random.Generator, count: int) -> list[Cell]:
    """So many connected cells: a lump, or drawn out to long arms."""
    cells, straight, step = [(0, 0)], rng.random() * 1.2, (1, 0)
    while len(cells) < count:
        x, y = cells[-1] if rng.random() < straight else cells[int(rng.integers(len(cells)))]
        if rng.random() > straight / 1.1:
            step = ((1, 0), (-1, 0), (0, 1), (0, -1))[int(rng.integers(4))]
        cell = x + step[0], y + step[1]
        if cell not in cells:
            cells.append(cell)
    return cells[:count]


def random_base(rng: np.random.Generator, options: Options) -> State:
    """A random board with no tile in hand: some laid, all eighteen, or a few and no piles."""
    kind = rng.choice(["laying", "full", "few"])
    count = {"laying": int(rng.integers(18)), "full": 18, "few": int(rng.integers(2, 18))}[kind]
    cells, tiles = random_shape(rng, count), rng.permutation(18).tolist()
    board = {cell: tile % 9 + 1 for cell, tile in zip(cells, tiles, strict=False)}
    left = tiles[count:] if kind == "laying" else []
    shifts = 0 if left else min(int(rng.integers(options.shift_limit + 1)), int(rng.integers(1, 2001)))
    last = [cells[int(rng.integers(count))] if shifts > seat and rng.random() < 0.9 else None for seat in range(2)]
    open, hidden = ([tile % 9 + 1 for tile in left if tile // 9 == pile] for pile in range(2))
    return eiyiu.position(board, open, hidden, int(rng.integers(2)), options, last=(last[0], last[1]), shifts=shifts)


def random_state(rng: np.random.Generator, options: Options = STANDARD, drawing: bool = False) -> State:
    """A random board, or one after a random take; few are finished games."""
    while True:
        state = random_base(rng, options)
        actions = eiyiu.legal(state)
        if actions and rng.random() < 0.4:
            state = eiyiu.play(state, actions[int(rng.integers(len(actions)))])
        if (actions or (state.end and rng.random() < 0.2)) and drawing >= state.drawing:
            return state


def random_states(rng: np.random.Generator, count: int, options: Options = STANDARD, drawing: bool = False) -> list[State]:
    """So many random boards."""
    return [random_state(rng, options, drawing) for _ in range(count)]
