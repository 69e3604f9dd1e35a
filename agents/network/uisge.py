"""What the pieces of Uisge are to each other: rows that the encoding `relations` adds, see `agents.network.relations`.

A piece is bound while the others need it to be one group. So of each piece it is counted how many jumps and steps the board
allows it now, whoever is to move; of each player, how many pawns there are, how many of them can jump, and how many moves
there are in all. Of a move the same is counted as the board lies after it: whether it wins at once or lets the other
win, who can make kings, and who is nearly stuck. Kings jump straight here, whatever the option `diagonal_jumps` allows.
"""

from typing import Final

import numpy as np

from agents.network.surveyed import Surveyed
from envs.engine.bits import lowest, size
from envs.engine.jit import kernel
from envs.games.uisge.rules import STEP, kings_after, landing, loose_pieces, moved, moves_in

FILES: Final = 7
RANKS: Final = 6
BOARD: Final = FILES * RANKS
KINDS_OF_SQUARE: Final = 5  # empty, own pawn and king, the other's
EMPTY: Final = 0
OWN_PAWN: Final = 1
ROW_OF_THREE: Final = KINDS_OF_SQUARE**3
THREES: Final = RANKS * (FILES - 2) + FILES * (RANKS - 2)
DIRECTIONS: Final = 8
RIGHT: Final = np.array([0, 1, 1, 1, 0, -1, -1, -1])  # files and ranks of a step, by direction
UP: Final = np.array([1, 1, 0, -1, -1, -1, 0, 1])
WAYS: Final = 3  # a pawn jumps, a king jumps, a king steps

PIECES: Final = 6  # of a player
JUMPS: Final = 3  # of a piece: none, one, more
PAWN_CODES: Final = JUMPS
CODES_OF_PIECE: Final = 3 * JUMPS  # a pawn by its jumps; a king by its jumps and whether it can step
PAWNS: Final = (PIECES + 1) ** 2  # so many pawns of which so many can jump
MOVES: Final = 16  # of a player in all: up to 14, more

# Rows of the embedding in all, and how many of them a position picks at most and usually
PIECE_ROWS: Final = THREES * ROW_OF_THREE
PLAYER_ROWS: Final = PIECE_ROWS + 2 * CODES_OF_PIECE * BOARD
POSITION_ROWS: Final = PLAYER_ROWS + 2 * (PAWNS + MOVES)
MOST_OF_POSITION: Final = THREES + BOARD + 4
USUAL_OF_POSITION: Final = 24 + 2 * PIECES + 4
# Where each kind of an action's rows begins
BESIDE: Final = 0
TARGETS: Final = BESIDE + 2 * KINDS_OF_SQUARE * DIRECTIONS
AFTER: Final = TARGETS + WAYS * BOARD
ACTION_ROWS: Final = AFTER + 2 * PAWNS + MOVES
MOST_OF_ACTION: Final = 5


@kernel
def survey(observation: np.ndarray) -> Surveyed:
    """The squares of the own pieces, of the other's and of all kings, as `envs.games.uisge.rules` has them."""
    own, other, kings = 0, 0, 0
    for rank in range(RANKS):
        for file in range(FILES):
            kind, square = observation[FILES * rank + file], 1 << (8 * rank + file)
            if kind > OWN_PAWN + 1:
                other |= square
            elif kind != EMPTY:
                own |= square
            if kind == OWN_PAWN + 1 or kind > OWN_PAWN + 2:
                kings |= square
    return own, other, kings, 0, 0


@kernel
def relations(observation: np.ndarray, surveyed: Surveyed, first: int, rows: np.ndarray, count: int) -> int:
    """What stands on each three squares in a row, along ranks and files; of pieces and players, see above."""
    three = first
    for rank in range(RANKS):
        for file in range(FILES - 2):
            count = pick_three(observation, rank * FILES + file, 1, three, rows, count)
            three += ROW_OF_THREE
    for square in range(FILES * (RANKS - 2)):
        count = pick_three(observation, square, FILES, three, rows, count)
        three += ROW_OF_THREE
    own, other, kings, _, _ = surveyed
    loose = loose_pieces(own | other, own | other)
    count = pick_pieces(own, own | other, kings, loose, first + PIECE_ROWS, first + PLAYER_ROWS, rows, count)
    first_of_other = first + PIECE_ROWS + CODES_OF_PIECE * BOARD
    return pick_pieces(other, own | other, kings, loose, first_of_other, first + PLAYER_ROWS + PAWNS + MOVES, rows, count)


@kernel
def pick_three(observation: np.ndarray, square: int, step: int, first: int, rows: np.ndarray, count: int) -> int:
    """The row of three squares follows if two of them or more are occupied."""
    kind, occupied = 0, 0
    for index in range(3):
        there = min(int(observation[square + index * step]), KINDS_OF_SQUARE - 1)
        kind = KINDS_OF_SQUARE * kind + there
        occupied += there != EMPTY
    if occupied < 2:
        return count
    rows[count] = first + kind
    return count + 1


@kernel
def pick_pieces(
    own: int, pieces: int, kings: int, loose: int, first: int, first_of_player: int, rows: np.ndarray, count: int
) -> int:
    """Of each piece of one player, by its square, its jumps and steps; of the player, its pawns and its moves."""
    one, two, steps, moves = 0, 0, 0, 0  # the squares of pieces with one jump, with more, with steps
    for direction in range(DIRECTIONS):
        movable = moves_in(direction, own, pieces, kings, 0, loose)
        moves += size(movable)
        jumping = movable & jumpers(pieces, direction)
        two |= one & jumping
        one |= jumping
        steps |= movable & ~jumping
    left = own
    while left:
        square = lowest(left)
        left &= left - 1
        code = ((one >> square) & 1) + ((two >> square) & 1)
        if (kings >> square) & 1:
            code = PAWN_CODES + 2 * code + ((steps >> square) & 1)
        rows[count] = first + (square - (square >> 3)) * CODES_OF_PIECE + code
        count += 1
    rows[count] = first_of_player + pawns_code(own & ~kings, one)
    rows[count + 1] = first_of_player + PAWNS + min(moves, MOVES - 1)
    return count + 2


@kernel
def jumpers(pieces: int, direction: int) -> int:
    """The squares whose neighbour in the direction is occupied: from there one jumps, or cannot move."""
    return moved(pieces, -STEP[direction])


@kernel
def pawns_code(pawns: int, jumping: int) -> int:
    """So many pawns of which so many can jump, as one number."""
    return min(size(pawns), PIECES) * (PIECES + 1) + min(size(pawns & jumping), PIECES)


@kernel
def action_relations(observation: np.ndarray, surveyed: Surveyed, action: int, first: int, rows: np.ndarray, count: int) -> int:
    """Of a move: the piece, what stands beside it in the move's direction; how and where it ends; both players' pawns and the
    other's moves after it. Of a pass nothing."""
    square, direction = action // DIRECTIONS, action % DIRECTIONS
    if square >= BOARD:
        return count
    step = UP[direction] * FILES + RIGHT[direction]
    beside = square + step
    if not (0 <= beside < BOARD):  # no legal action goes there
        return count
    king = int(observation[square] != OWN_PAWN)
    neighbour = min(int(observation[beside]), KINDS_OF_SQUARE - 1)
    target = beside if neighbour == EMPTY else beside + step
    if not (0 <= target < BOARD):
        return count
    way = 2 if neighbour == EMPTY else king
    rows[count] = first + BESIDE + (king * KINDS_OF_SQUARE + neighbour) * DIRECTIONS + direction
    rows[count + 1] = first + TARGETS + way * BOARD + target
    return pick_after(surveyed, square + square // FILES, direction, first + AFTER, rows, count + 2)


@kernel
def pick_after(surveyed: Surveyed, square: int, direction: int, first: int, rows: np.ndarray, count: int) -> int:
    """Of the board after the move: the own pawns and those that could jump, the same of the other's, the other's moves."""
    own, other, kings, _, _ = surveyed
    before = own | other
    own = (own & ~(1 << square)) | landing(before, square, direction)
    kings = kings_after(kings, before, square, direction)
    pieces = own | other
    loose = loose_pieces(pieces, pieces)
    own_jumping, other_jumping, moves = 0, 0, 0
    for each in range(DIRECTIONS):
        movable = moves_in(each, other, pieces, kings, 0, loose)
        moves += size(movable)
        if each & 1 == 0:
            other_jumping |= movable & jumpers(pieces, each)
            own_jumping |= moves_in(each, own & ~kings, pieces, kings, 0, loose)
    rows[count] = first + pawns_code(own & ~kings, own_jumping)
    rows[count + 1] = first + PAWNS + pawns_code(other & ~kings, other_jumping)
    rows[count + 2] = first + 2 * PAWNS + min(moves, MOVES - 1)
    return count + 3
