"""Oware boards: as text, for the slow twin and for the engine, and drawn at random.

A board reads as houses of seat 0, houses of seat 1, stores, and the side to move (S is seat 0, N is seat 1). Moves are
letters: A-F for seat 0's houses, a-f for seat 1's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import combinations, pairwise

import numpy as np

from envs import Position
from reference import oware
from reference.oware import STANDARD, Houses, Options, State

LETTERS = "ABCDEFabcdef"
START = "4-4-4-4-4-4-4-4-4-4-4-4-0-0-S"
# Two lone seeds walk round the board and every move is forced: in one round each comes to where
# the other set out, and the position is back.
CHASE = "1-0-0-0-0-0-1-0-0-0-0-0-23-23-S"
CHASE_ROUND = "AaBbCcDdEeFf"
# After this line the board is back, but the other side is to move.
TURNED = "0-0-0-0-1-2-0-0-0-0-0-1-22-22-S"
TURNED_LINE = "EfFaAcBbCdDeEfAcBdCeD"


def read(text: str, options: Options = STANDARD, quiet: int = 0) -> State:
    """The twin's state that a board shows."""
    *numbers, letter = text.split("-")
    values = [int(number) for number in numbers]
    stores = (values[12], values[13])
    return oware.position(tuple(values[:12]), stores, "SN".index(letter), options, quiet)


def show(state: State) -> str:
    """The board that the twin's state shows."""
    return "-".join([*map(str, state.houses + state.stores), "SN"[state.mover]])


def play(state: State, letters: str) -> State:
    """The twin's state after these moves."""
    for letter in letters:
        assert letter.islower() == (state.mover == 1), f"{letter} is not the mover's"
        state = oware.play(state, LETTERS.index(letter) % 6)
    return state


def legal(state: State) -> str:
    """The letters of the legal moves."""
    return "".join(LETTERS[6 * state.mover + action] for action in oware.legal(state))


def in_engine(state: State) -> Position:
    """The engine's position with board, quiet plies and options of a state that has no past."""
    return Position.from_text("oware", f"{show(state)} ; quiet={state.quiet}", strict=False, **asdict(state.options))


def turned(text: str) -> str:
    """The same board with the seats exchanged."""
    *numbers, letter = text.split("-")
    south, north, stores = numbers[:6], numbers[6:12], numbers[12:]
    return "-".join([*north, *south, *reversed(stores), "NS"["SN".index(letter)]])


def all_houses(seeds: int) -> Iterator[Houses]:
    """Every way to lay so many seeds into twelve houses."""
    for bars in combinations(range(seeds + 11), 11):
        yield tuple(right - left - 1 for left, right in pairwise((-1, *bars, seeds + 11)))


def random_houses(rng: np.random.Generator, seeds: int) -> Houses:
    """So many seeds in twelve houses: spread evenly, or heaped into a few."""
    houses = rng.choice(12, size=int(rng.integers(1, 13)), replace=False)
    weights = rng.dirichlet(np.full(len(houses), rng.choice([0.3, 1.0, 5.0])))
    board = np.zeros(12, np.int64)
    board[houses] = rng.multinomial(seeds, weights)
    return tuple(int(count) for count in board)


def random_state(rng: np.random.Generator, seeds: int, options: Options = STANDARD) -> State:
    """A random board with so many seeds in its houses; stores that decide the game already are rare."""
    rest = int(rng.integers(0, 48 - seeds + 1)) if rng.random() < 0.2 else 48 - seeds
    low, high = (0, rest) if rng.random() < 0.05 else (max(0, rest - 24), min(24, rest))
    south = int(rng.integers(low, high + 1))
    return oware.position(random_houses(rng, seeds), (south, rest - south), int(rng.integers(2)), options)
