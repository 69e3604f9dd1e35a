"""Toguz Kumalak boards: for the slow twin and for the engine, drawn at random, and with the seats exchanged.

Boards read as the rules write them: holes of seat 0 / holes of seat 1 / stores / tuzdyks / side to move.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from envs import Position
from reference import toguz_kumalak as toguz
from reference.toguz_kumalak import NO_TUZDYKS, STANDARD, Holes, Options, State, Stores, Tuzdyks

GAME = "toguz_kumalak"
START = "9,9,9,9,9,9,9,9,9/9,9,9,9,9,9,9,9,9/0,0/-,-/0"
# Two lone seeds walk round the board and every move is forced; after 18 plies the position is back.
CHASE = "1,0,0,0,0,0,0,0,0/1,0,0,0,0,0,0,0,0/80,80/-,-/0"
CHASE_ROUND = [move for move in ("12", "23", "34", "45", "56", "67", "78", "89", "91") for _ in range(2)]


def in_engine(state: State) -> Position:
    """The engine's position with board, quiet plies and options of a state that has no past."""
    text = f"{toguz.to_text(state)} ; quiet={state.quiet}"
    return Position.from_text(GAME, text, strict=False, **asdict(state.options))


def turned(text: str) -> str:
    """The same board with the seats exchanged."""
    south, north, stores, tuzdyks, mover = text.split("/")
    return "/".join([north, south, *(",".join(reversed(pair.split(","))) for pair in (stores, tuzdyks)), str(1 - int(mover))])


def random_tuzdyks(rng: np.random.Generator) -> Tuzdyks:
    """Tuzdyks as the rules allow them, most often at least one."""
    first, second = rng.choice(8, size=2, replace=False).tolist()
    return (9 + first if rng.random() < 0.6 else None, second if rng.random() < 0.6 else None)


def random_holes(rng: np.random.Generator, seeds: int, tuzdyks: Tuzdyks) -> Holes:
    """So many seeds in eighteen holes, none in a tuzdyk: spread evenly, or heaped into a few."""
    free = [hole for hole in range(18) if hole not in tuzdyks]
    holes = rng.choice(free, size=int(rng.integers(1, len(free) + 1)), replace=False)
    weights = rng.dirichlet(np.full(len(holes), rng.choice([0.3, 1.0, 5.0])))
    board = np.zeros(18, np.int64)
    board[holes] = rng.multinomial(seeds, weights)
    return tuple(int(count) for count in board)


def random_stores(rng: np.random.Generator, seeds: int) -> Stores:
    """Stores beside so many seeds on the board: often nearly full, seldom fewer than 162 in all, seldom decisive."""
    rest = int(rng.integers(0, 163 - seeds)) if rng.random() < 0.1 else 162 - seeds
    low, high = max(0, rest - 81), min(81, rest)
    chance = rng.random()
    if chance < 0.03:
        low, high = 0, rest
    elif chance < 0.3:
        low = high - min(4, high - low)
    south = int(rng.integers(low, high + 1))
    return (south, rest - south) if rng.random() < 0.5 else (rest - south, south)


def random_state(rng: np.random.Generator, seeds: int, options: Options = STANDARD, tuzdyks: Tuzdyks = NO_TUZDYKS) -> State:
    """A random board with so many seeds in its holes."""
    quiet = int(rng.integers(options.quiet_limit)) if options.quiet_limit and rng.random() < 0.3 else 0
    holes, stores = random_holes(rng, seeds, tuzdyks), random_stores(rng, seeds)
    return toguz.position(holes, stores, tuzdyks, int(rng.integers(2)), options, quiet)
