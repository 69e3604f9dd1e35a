"""The rules of Uisge over one row of integers.

Sets of squares are numbers: bit 8 * rank + file, ranks and files from 0. The eighth file does not exist and is never set, so
what is shifted past an edge falls off. An action is seen from the mover's side of the board (seat 1's is turned by half):
(7 * rank + file) * 8 + direction, or `PASS`. The direction says what kind of move it is: onto a free neighbour a king
steps, over an occupied one a piece jumps.

Everything can be undone here, so `history` has room for `move_limit` keys.
"""

from typing import Final

import numpy as np

from envs.engine.bits import lowest, nth, size
from envs.engine.header import (
    END,
    HEADER,
    KEYS,
    LAST_ACTION,
    LAST_PLAYER,
    MAX_LIMIT,
    MOVER,
    NONE,
    OCCURRENCES,
    PLY,
    RESULT,
    EndReason,
)
from envs.engine.jit import kernel, routine

FILES: Final = 7
RANKS: Final = 6
SQUARES: Final = FILES * RANKS
DIRECTIONS: Final = 8  # N, NE, E, SE, S, SW, W, NW: even ones are straight
STEP: Final = np.array([8, 9, 1, -7, -8, -9, -1, 7])  # to the neighbour
ASIDE: Final = np.array([1, 0, 8, 0, 1, 0, 8, 0])  # from a straight direction to the sides
PASS: Final = SQUARES * DIRECTIONS

PIECES: Final = HEADER  # seat 0's squares, seat 1's squares
KINGS: Final = HEADER + 2  # of both
LEGAL: Final = HEADER + 3  # the squares from which the mover may move, for each direction on the board
MUST_PASS: Final = LEGAL + DIRECTIONS
LAST_JUMPED: Final = MUST_PASS + 1  # 1 if the last move was a jump, else 0
LIMITS: Final = MUST_PASS + 2  # the options, see `packed_options`
ROW: Final = LIMITS + 1

LOSES: Final = 0  # what `no_move` does to the player who is stuck
WINS: Final = 1
DRAW: Final = 2
PASSES: Final = 3

ACTIONS: Final = PASS + 1
OBSERVATION: Final = SQUARES + 3
SHORTEST_CYCLE: Final = 4

BOARD: Final = sum(1 << 8 * rank + file for rank in range(RANKS) for file in range(FILES))
SOUTH_START: Final = sum(1 << 8 * rank + file for rank, file in [(2, 2), (2, 3), (2, 4), (2, 5), (1, 3), (1, 4)])
NORTH_START: Final = sum(1 << 8 * rank + file for rank, file in [(3, 1), (3, 2), (3, 3), (3, 4), (4, 2), (4, 3)])
LAST_SQUARE: Final = 8 * (RANKS - 1) + FILES - 1

_RUNNING: Final = int(EndReason.RUNNING)
_ALL_KINGS: Final = int(EndReason.ALL_KINGS)
_NO_MOVES: Final = int(EndReason.NO_MOVES)
_BOTH_STUCK: Final = int(EndReason.BOTH_STUCK)
_REPETITION: Final = int(EndReason.REPETITION)
_MOVE_LIMIT: Final = int(EndReason.MOVE_LIMIT)


def packed_options(repetition_limit: int, move_limit: int, no_move: int, diagonal_jumps: bool) -> int:
    """The options as the row's `LIMITS` field."""
    return repetition_limit | no_move << 8 | int(diagonal_jumps) << 12 | move_limit << 16


@kernel
def repetition_limit(row: np.ndarray) -> int:
    """The occurrence of a position that ends the game; 0 is never."""
    return row[LIMITS] & 0xFF


@kernel
def no_move(row: np.ndarray) -> int:
    """LOSES, WINS, DRAW or PASSES."""
    return (row[LIMITS] >> 8) & 0xF


@kernel
def diagonal_jumps(row: np.ndarray) -> int:
    """1 if kings may jump diagonally, else 0."""
    return (row[LIMITS] >> 12) & 1


@kernel
def move_limit(row: np.ndarray) -> int:
    """The plies that end the game; 0 is never."""
    return row[LIMITS] >> 16


@routine
def start(row: np.ndarray, history: np.ndarray) -> None:
    """The row is the start position; its options stay as they are."""
    row[PIECES] = SOUTH_START
    row[PIECES + 1] = NORTH_START
    row[KINGS] = 0
    row[MOVER] = 0
    row[PLY] = 0
    row[KEYS] = 0
    set_up(row, history)


@routine
def set_up(row: np.ndarray, history: np.ndarray) -> None:
    """The other fields follow from pieces, kings, mover, counters, options and the `KEYS` earlier keys in the history."""
    row[LAST_ACTION] = NONE
    row[LAST_PLAYER] = NONE
    row[LAST_JUMPED] = 0
    settle(row, history)


@routine
def legal(row: np.ndarray, mask: np.ndarray) -> None:
    """`mask[k]` is 1 where action k is legal, else 0; all zeros once the game is over."""
    for action in range(ACTIONS):
        mask[action] = 0
    if row[END]:
        return
    mask[PASS] = row[MUST_PASS]
    for direction in range(DIRECTIONS):
        squares = row[LEGAL + direction]
        while squares:
            mask[action_of(row[MOVER], lowest(squares), direction)] = 1
            squares &= squares - 1


@kernel
def action_of(mover: int, square: int, direction: int) -> int:
    """The mover's action that moves from the square in that direction of the board."""
    if mover == 1:
        square = LAST_SQUARE - square
        direction ^= 4
    return (square - (square >> 3)) * DIRECTIONS + direction


@kernel
def square_of(mover: int, action: int) -> int:
    """The square of the board that the mover's action moves from."""
    square = action >> 3
    square += square // FILES
    return square if mover == 0 else LAST_SQUARE - square


@kernel
def direction_of(mover: int, action: int) -> int:
    """The direction on the board in which the mover's action moves."""
    return (action & 7) ^ (4 * mover)


@kernel
def pick(row: np.ndarray, draw: np.int64) -> int:
    """The legal action that a random number of 32 bits falls on, each as likely as the others; the game is not over."""
    count = 0
    for direction in range(DIRECTIONS):
        count += size(row[LEGAL + direction])
    if count == 0:
        return PASS
    index = (draw * count) >> 32
    direction = 0
    while index >= size(row[LEGAL + direction]):
        index -= size(row[LEGAL + direction])
        direction += 1
    return action_of(row[MOVER], nth(row[LEGAL + direction], index), direction)


@routine
def play(row: np.ndarray, history: np.ndarray, action: int) -> None:
    """The mover has moved, or passed, and the turn has passed on; the game may be over."""
    mover = row[MOVER]
    if repetition_limit(row):
        history[row[KEYS]] = position_hash(row)
        row[KEYS] += 1
    row[LAST_JUMPED] = 0
    if action != PASS:
        move(row, mover, square_of(mover, action), direction_of(mover, action))
    row[LAST_ACTION] = action
    row[LAST_PLAYER] = mover
    row[PLY] += 1
    row[MOVER] = 1 - mover
    settle(row, history)


@kernel
def move(row: np.ndarray, mover: int, square: int, direction: int) -> None:
    """The piece has stepped onto its neighbour square in that direction, or jumped over it and turned over."""
    pieces = row[PIECES] | row[PIECES + 1]
    origin = 1 << square
    target = landing(pieces, square, direction)
    row[LAST_JUMPED] = (pieces >> (square + STEP[direction])) & 1
    row[PIECES + mover] ^= origin | target
    row[KINGS] = kings_after(row[KINGS], pieces, square, direction)


@kernel
def kings_gained(row: np.ndarray, action: int) -> int:
    """1 if the mover's action makes a king, -1 if it makes a pawn of one, else 0."""
    if action == PASS:
        return 0
    square = square_of(row[MOVER], action)
    pieces = row[PIECES] | row[PIECES + 1]
    jumps = (pieces >> (square + STEP[direction_of(row[MOVER], action)])) & 1
    return jumps * (1 - 2 * ((row[KINGS] >> square) & 1))


@kernel
def landing(pieces: int, square: int, direction: int) -> int:
    """The square, as a set, on which a move from the square in that direction ends."""
    neighbour = square + STEP[direction]
    return 1 << (neighbour + STEP[direction] if (pieces >> neighbour) & 1 else neighbour)


@kernel
def kings_after(kings: int, pieces: int, square: int, direction: int) -> int:
    """All kings after a move: who jumps turns over, who steps is a king and stays one."""
    origin = 1 << square
    jumps = (pieces >> (square + STEP[direction])) & 1
    return (kings & ~origin) | (landing(pieces, square, direction) if jumps != ((kings >> square) & 1) else 0)


@kernel
def moved(squares: int, by: int) -> int:
    """The set with every square moved by so many bits."""
    return squares << by if by > 0 else squares >> -by


@kernel
def moves_in(direction: int, own: int, pieces: int, kings: int, diagonal: int, loose: int) -> int:
    """The squares of own pieces that may move in the direction; `loose` ones leave the others in one group."""
    step = STEP[direction]
    free = BOARD & ~pieces
    steps = own & kings & moved(free, -step)
    jumps = own & moved(pieces, -step) & moved(free, -2 * step)
    beside_step, beside_jump = BOARD, BOARD  # where the target square touches another piece than the one that moves
    if direction & 1:
        jumps &= kings if diagonal else 0
        near = sides(pieces)
        beside_step = moved(near, -step)
        beside_jump = moved(near, -2 * step)
    else:
        aside = ASIDE[direction]
        beside_step = moved(pieces, -2 * step) | moved(pieces, -step - aside) | moved(pieces, -step + aside)
    allowed = loose & (steps & beside_step | jumps & beside_jump)
    binding = (steps | jumps) & ~loose
    while binding:
        square = lowest(binding)
        binding &= binding - 1
        if rejoins(pieces & ~(1 << square), landing(pieces, square, direction)):
            allowed |= 1 << square
    return allowed


@kernel
def rejoins(others: int, target: int) -> bool:
    """Whether a piece on the target square makes one group of the others, which are several, or none."""
    beside = sides(target) & others
    return others == 0 or (beside & (beside - 1) != 0 and is_connected(others | target))


@kernel
def sides(squares: int) -> int:
    """The squares straight beside those of the set, off the board too."""
    return squares << 1 | squares >> 1 | squares << 8 | squares >> 8


@kernel
def is_connected(pieces: int) -> bool:
    """Whether the pieces are one group, joined straight."""
    group = pieces & -pieces
    while True:
        grown = (group | sides(group)) & pieces
        if grown == group:
            return group == pieces
        group = grown


def held_together() -> np.ndarray:
    """For each set of occupied squares around one: whether a ring of them joins those that are straight beside it.

    The bits are the neighbours to the SW, S, SE, W, E, NW, N, NE.
    """
    circle = [6, 7, 4, 2, 1, 0, 3, 5]  # N, NE, E ... NW; even places are straight
    table = np.zeros(256, np.bool_)
    for around in range(256):
        ring = [around >> bit & 1 for bit in circle]
        straight = [place for place in range(0, 8, 2) if ring[place]]
        links = sum(ring[place] and ring[(place + 1) % 8] and ring[(place + 2) % 8] for place in range(0, 8, 2))
        table[around] = len(straight) - links <= 1
    return table


HELD_TOGETHER = held_together()


@kernel
def loose_pieces(own: int, pieces: int) -> int:
    """Those of the own pieces without which the others are still one group; a piece that is alone is none."""
    loose = 0
    left = own
    while left:
        square = lowest(left)
        left &= left - 1
        others = pieces & ~(1 << square)
        around = (pieces << 9) >> square
        ring = (around & 7) | ((around >> 8) & 1) << 3 | ((around >> 10) & 1) << 4 | ((around >> 16) & 7) << 5
        if others and (HELD_TOGETHER[ring] or is_connected(others)):
            loose |= 1 << square
    return loose


@routine
def has_move(own: int, pieces: int, kings: int, diagonal: int) -> bool:
    """Whether one of the own pieces can move."""
    loose = loose_pieces(own, pieces)
    for direction in range(DIRECTIONS):
        if moves_in(direction, own, pieces, kings, diagonal, loose):
            return True
    return False


@kernel
def seat_has_move(row: np.ndarray, player: int) -> bool:
    """Whether the board allows the player a move."""
    return has_move(row[PIECES + player], row[PIECES] | row[PIECES + 1], row[KINGS], diagonal_jumps(row))


@routine
def find_moves(row: np.ndarray) -> bool:
    """`LEGAL` has the moves that the board allows the mover; returns whether there is one."""
    own = row[PIECES + row[MOVER]]
    pieces = row[PIECES] | row[PIECES + 1]
    loose = loose_pieces(own, pieces)
    found = 0
    for direction in range(DIRECTIONS):
        squares = moves_in(direction, own, pieces, row[KINGS], diagonal_jumps(row), loose)
        row[LEGAL + direction] = squares
        found |= squares
    return found != 0


@routine
def forbid_stalemates(row: np.ndarray) -> None:
    """`LEGAL` lacks the moves that leave the opponent stuck, unless all do that."""
    spared = 0
    for direction in range(DIRECTIONS):
        spared |= sparing(row, direction)
    if spared:
        for direction in range(DIRECTIONS):
            row[LEGAL + direction] = sparing(row, direction)


@routine
def sparing(row: np.ndarray, direction: int) -> int:
    """The squares of `LEGAL` from which a move in the direction leaves the opponent a move, or makes all own pieces kings."""
    pieces = row[PIECES] | row[PIECES + 1]
    own, other = row[PIECES + row[MOVER]], row[PIECES + 1 - row[MOVER]]
    kept = 0
    left = row[LEGAL + direction]
    while left:
        square = lowest(left)
        left &= left - 1
        target = landing(pieces, square, direction)
        kings = kings_after(row[KINGS], pieces, square, direction)
        own_after = own & ~(1 << square) | target
        wins = own_after & ~kings == 0
        if wins or has_move(other, other | own_after, kings, diagonal_jumps(row)):
            kept |= 1 << square
    return kept


@routine
def settle(row: np.ndarray, history: np.ndarray) -> None:
    """Legal actions, occurrences and the end are those of the position that the last move left."""
    row[END] = _RUNNING
    row[RESULT] = 0
    row[MUST_PASS] = 0
    row[OCCURRENCES] = 1 + earlier_occurrences(row, history)
    can_move = find_moves(row)
    if has_all_kings(row, 1 - row[MOVER]):
        finish(row, _ALL_KINGS, 1 - row[MOVER])
    elif not can_move and no_move(row) != PASSES:
        finish_stuck(row)
    elif not can_move and not seat_has_move(row, 1 - row[MOVER]):
        finish(row, _BOTH_STUCK, NONE)
    elif 0 < repetition_limit(row) <= row[OCCURRENCES]:
        finish(row, _REPETITION, NONE)
    elif 0 < move_limit(row) <= row[PLY]:
        finish(row, _MOVE_LIMIT, NONE)
    elif not can_move:
        row[MUST_PASS] = 1
    elif no_move(row) == WINS:
        forbid_stalemates(row)


@kernel
def has_all_kings(row: np.ndarray, player: int) -> bool:
    """Whether the player has pieces and all are kings."""
    own = row[PIECES + player]
    return own != 0 and own & ~row[KINGS] == 0


@kernel
def finish_stuck(row: np.ndarray) -> None:
    """The game is over because the mover is stuck."""
    if no_move(row) == DRAW:
        finish(row, _NO_MOVES, NONE)
    else:
        finish(row, _NO_MOVES, row[MOVER] if no_move(row) == WINS else 1 - row[MOVER])


@kernel
def finish(row: np.ndarray, reason: int, winner: int) -> None:
    """The game is over for this reason; the winner is a seat, or NONE in a draw."""
    row[END] = reason
    row[RESULT] = 0 if winner == NONE else 1 - 2 * winner


@kernel
def earlier_occurrences(row: np.ndarray, history: np.ndarray) -> int:
    """How often the position is in the history. (All of it is looked at, as neighbouring keys are compared several at once.)"""
    if row[KEYS] < SHORTEST_CYCLE:
        return 0
    key = position_hash(row)
    count = 0
    for earlier in range(row[KEYS]):
        count += history[earlier] == key
    return count


def zobrist_numbers() -> np.ndarray:
    """Random 64-bit numbers for seat 0's pieces, seat 1's pieces and kings on every square; the last one is for the mover."""
    return np.random.default_rng(42).integers(-(1 << 63), 1 << 63, (3, LAST_SQUARE + 2))


ZOBRIST = zobrist_numbers()


@kernel
def position_hash(row: np.ndarray) -> int:
    """64 bits for pieces, kings and mover (Zobrist 1970)."""
    key = ZOBRIST[row[MOVER], LAST_SQUARE + 1]
    for kind in range(3):
        squares = row[PIECES + kind]
        while squares:
            key ^= ZOBRIST[kind, lowest(squares)]
            squares &= squares - 1
    return key


@kernel
def depends_on_past(row: np.ndarray, plies: int) -> bool:
    """Whether the move limit or a repetition can end the game within so many plies."""
    ply = row[PLY] + plies
    if 0 < move_limit(row) <= ply:
        return True
    return repetition_limit(row) > 0 and ply >= SHORTEST_CYCLE * (repetition_limit(row) - 1)


@kernel
def kings_of(row: np.ndarray, player: int) -> int:
    """How many kings the player has."""
    return size(row[PIECES + player] & row[KINGS])


@kernel
def outcome(row: np.ndarray, scores: np.ndarray) -> None:
    """`scores` holds both seats' kings."""
    for player in range(2):
        scores[player] = kings_of(row, player)


@kernel
def balance(row: np.ndarray) -> int:
    """Seat 0's kings less seat 1's: the plain evaluation."""
    return kings_of(row, 0) - kings_of(row, 1)


@routine
def observe(row: np.ndarray, player: int, out: np.ndarray) -> None:
    """`out` is the position as the player sees it, from the own side of the board; the game's record names the fields."""
    for square in range(SQUARES):
        out[square] = 0
    for side in range(2):
        seat = player ^ side
        squares = row[PIECES + seat]
        while squares:
            square = lowest(squares)
            squares &= squares - 1
            own = square if player == 0 else LAST_SQUARE - square
            out[own - (own >> 3)] = 1 + 2 * side + ((row[KINGS] >> square) & 1)
    out[SQUARES] = min(row[PLY], MAX_LIMIT)
    out[SQUARES + 1] = row[OCCURRENCES]
    out[SQUARES + 2] = row[END] == 0 and row[MOVER] == player
