"""Uisge boards: from the slow twin to the engine, turned by half, and drawn at random.

A board reads as the rules print it: `7/2nn3/1nnnn2/2ssss1/3ss2/7 s`.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from envs import Position
from reference import uisge
from reference.uisge import STANDARD, Board, Options, State

START = "7/2nn3/1nnnn2/2ssss1/3ss2/7 s"
RULES = tuple(product(uisge.NO_MOVE, ("no", "yes")))  # no_move, diagonal_jumps
# Both sides walk a king to and fro, which brings the board back after four plies.
SHUTTLE = "7/7/1S1n3/1ssn3/3N3/7 s"
SHUTTLE_ROUND = ("b4-a3", "d2-e3", "a3-b4", "e3-d2")

# After these jumps neither side has a move. Who moved could always go back, if not by a diagonal jump that made a pawn.
BOTH_STUCK_NEXT = (
    ("3n1Ss/3sssn/6n/7/7/7 s", "f6-d4x"),
    ("ssn4/s6/S6/nNns3/3s3/2Nn3 n", "c1-e3x"),
    ("2nsnnS/2n2s1/5sn/5n1/5s1/7 s", "g6-e4x"),
    ("7/2nsnnn/3N1s1/7/7/7 n", "d4-f6x"),
)


def in_engine(state: State, details: str = "") -> Position:
    """The engine's position with board, plies and options of a state that has no past."""
    text = f"{uisge.to_text(state)} ; ply={state.ply} {details}"
    return Position.from_text("uisge", text, strict=False, **engine_options(state.options))


def engine_options(options: Options) -> dict[str, Any]:
    """The options as the engine takes them."""
    return {**vars(options), "diagonal_jumps": options.diagonal_jumps == "yes"}


def turned(text: str) -> str:
    """The same board with the seats exchanged: seen from the other side, every piece of the other colour."""
    board, side = text.split()
    return f"{board[::-1]} {side}".translate(str.maketrans("sSnN", "nNsS"))


def random_squares(rng: np.random.Generator, count: int) -> list[str]:
    """So many squares in one group: a heap, or a string that bends."""
    squares = [uisge.SQUARES[int(rng.integers(len(uisge.SQUARES)))]]
    stringy = rng.random() < 0.4
    while len(squares) < count:
        roots = squares[-1:] if stringy and set(uisge.BESIDE[squares[-1]]) - set(squares) else squares
        edge = sorted({there for root in roots for there in uisge.BESIDE[root]} - set(squares))
        squares.append(edge[int(rng.integers(len(edge)))])
    return squares


def random_board(rng: np.random.Generator, south: int, north: int) -> Board:
    """So many pieces of both sides in one group."""
    letters = np.array(list("s" * south + "n" * north))
    kings = rng.random(len(letters)) < rng.choice([0.0, 0.2, 0.5, 0.8])
    letters[kings] = np.char.upper(letters[kings])
    squares = random_squares(rng, len(letters))
    return uisge.board_of(dict(zip(squares, map(str, rng.permutation(letters)), strict=True)))


def random_state(rng: np.random.Generator, options: Options = STANDARD, ply: int = 0) -> State:
    """A random board: twelve pieces half of the time, else fewer, of both sides."""
    south, north = (6, 6) if rng.random() < 0.5 else (int(count) for count in rng.integers(1, 7, 2))
    return uisge.position(random_board(rng, south, north), int(rng.integers(2)), options, ply)
