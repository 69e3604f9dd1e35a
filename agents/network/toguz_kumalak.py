"""What the holes of Toguz Kumalak are to each other: rows that the encoding `relations` adds, see `agents.network.relations`.

A sowing of many seeds changes nearly every hole, and with it which ones hold even numbers. So a position's rows are where each
hole's last seed would fall and the kind of hole that this is, and the most that each player could bring into its store with one
sowing; an action's are the same of its hole, what it brings, and what the other player's best answer would then bring.
"""

from typing import Final

import numpy as np

from envs.engine.header import NONE
from envs.engine.jit import kernel
from envs.games.toguz_kumalak.rules import ALL, HOLES, ROW, SIDE, STORES, TUZDYKS, capture, collect_from_tuzdyks, sow

# The kinds of a hole by its seeds. An odd number may be captured, two may become a tuzdyk, other even numbers are alike.
KINDS: Final = np.array([0, 1, 2, 3, 4, 5, 4, 6, 4, 7, 4, 8, 4, 9, 4, 9, 4, 10, 4, 10, 4, 10, 4, 11])
MANY: Final = len(KINDS) - 2  # seeds from which on kinds repeat
TUZDYK: Final = 12  # the kind of a hole that is one
STORE: Final = ALL  # where an observation has the own store, the other's behind it
OWN_TUZDYK: Final = ALL + 2  # where an observation names it, the other's behind it
# The kinds of a sowing by the seeds that it brings: one by one, then by these bounds, more.
FEW: Final = 8
BOUNDS: Final = np.array([12, 16, 24, 40])
GAINS: Final = FEW + len(BOUNDS) + 1
ROOM: Final = 2 * ROW  # a board to sow on and one to begin from, of which only holes, stores and tuzdyks matter

# Rows of the embedding in all, and how many of them a position picks at most and usually
LASTS: Final = ALL * ALL * (TUZDYK + 1)
POSITION_ROWS: Final = LASTS + 4 * GAINS
MOST_OF_POSITION: Final = ALL + 2
USUAL_OF_POSITION: Final = 17
# Where each kind of an action's rows begins
BROUGHT: Final = SIDE * ALL * (TUZDYK + 1)
ANSWERED: Final = BROUGHT + 2 * GAINS
ACTION_ROWS: Final = ANSWERED + 2 * GAINS
MOST_OF_ACTION: Final = 3


@kernel
def relations(observation: np.ndarray, first: int, rows: np.ndarray, count: int, room: np.ndarray) -> int:
    """For each hole with seeds where its last one falls, and the kind of hole that this is; the most that each player could
    bring home. `room` has `ROOM` numbers."""
    for hole in range(ALL):
        if observation[hole] > 0:
            rows[count] = first + last_and_kind(observation, hole)
            count += 1
    lay_out(observation, room[:ROW])
    for player in range(2):
        rows[count] = first + LASTS + 2 * GAINS * player + best_sowing(player, room)
        count += 1
    return count


@kernel
def last_and_kind(observation: np.ndarray, hole: int) -> int:
    """The hole, where its last seed falls and the kind of hole that this is, as one number."""
    last = (hole + max(int(observation[hole]) - 1, 1)) % ALL
    there = int(observation[last])
    kind = int(KINDS[there if there < MANY else MANY + (there & 1)])
    own_tuzdyk = SIDE - 1 + int(observation[OWN_TUZDYK])
    if (last == own_tuzdyk and observation[OWN_TUZDYK] > 0) or last == int(observation[OWN_TUZDYK + 1]) - 1:
        kind = TUZDYK
    return (hole * ALL + last) * (TUZDYK + 1) + kind


@kernel
def action_relations(observation: np.ndarray, action: int, first: int, rows: np.ndarray, count: int, room: np.ndarray) -> int:
    """Where the last seed falls and what lies there; what the sowing brings; what the other's best answer brings."""
    lay_out(observation, room[:ROW])
    rows[count] = first + last_and_kind(observation, action)
    rows[count + 1] = first + BROUGHT + sowing(room[:ROW], action)
    rows[count + 2] = first + ANSWERED + best_sowing(1, room)
    return count + 3


@kernel
def best_sowing(player: int, room: np.ndarray) -> int:
    """The most that one sowing on the room's first board brings the player, as a kind of `GAINS`; that many more if one of its
    sowings makes a tuzdyk."""
    best, makes_tuzdyk = 0, 0
    for hole in range(SIDE * player, SIDE * (player + 1)):
        if room[HOLES + hole] > 0:
            for place in range(HOLES, TUZDYKS + 2):
                room[ROW + place] = room[place]
            kind = sowing(room[ROW:], hole)
            best, makes_tuzdyk = max(best, kind % GAINS), max(makes_tuzdyk, kind // GAINS)
    return makes_tuzdyk * GAINS + best


@kernel
def sowing(board: np.ndarray, hole: int) -> int:
    """The hole has been sown by its player; returns what that brought, as a kind of `GAINS`, that many more with a tuzdyk."""
    player = int(hole >= SIDE)
    stored, tuzdyk = board[STORES + player], board[TUZDYKS + player]
    last = sow(board, hole)
    collect_from_tuzdyks(board)
    capture(board, player, last)
    return gain_kind(board[STORES + player] - stored) + GAINS * (board[TUZDYKS + player] != tuzdyk)


@kernel
def lay_out(observation: np.ndarray, board: np.ndarray) -> None:
    """The parts of a row that a sowing changes are those of the observation, whose mover is seat 0."""
    for hole in range(ALL):
        board[HOLES + hole] = observation[hole]
    for player in range(2):
        tuzdyk = observation[OWN_TUZDYK + player]
        board[STORES + player] = observation[STORE + player]
        board[TUZDYKS + player] = NONE if tuzdyk == 0 else SIDE * (1 - player) + tuzdyk - 1


@kernel
def gain_kind(seeds: int) -> int:
    """The kind of a sowing that brings so many seeds."""
    if seeds < FEW:
        return seeds
    kind = FEW
    for bound in BOUNDS:
        kind += seeds >= bound
    return kind
