"""What the network sees of Uisge: three squares in a row, what pieces can do, and the board as a move leaves it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import uisge_boards
from agents.network import encoding
from agents.network.uisge import (
    AFTER,
    BESIDE,
    BOARD,
    KINDS_OF_SQUARE,
    PIECE_ROWS,
    PLAYER_ROWS,
    POSITION_ROWS,
    ROW_OF_THREE,
    TARGETS,
)
from envs.games import find_game
from reference import uisge
from reference.uisge import Board, State
from seen import relations_of, rows_of_actions

pytestmark = pytest.mark.bounds

PAWNS_OF_PLAYER = 49  # rows: 0 to 6 pawns, of which 0 to 6 can jump
MOVES_OF_PLAYER = 16  # rows: 0 to 14 moves, more


def moves(board: Board, seat: int) -> list[tuple[str, bool]]:
    """Where from the seat could move if it were to, and whether by a jump; told slowly."""
    return [(uisge.ends_of(move)[0], move.endswith("x")) for move in uisge.find_moves(board, seat, False)]


def pawns_row(board: Board, seat: int) -> int:
    """How many pawns the seat has, and how many of them can jump, as one number."""
    pieces = uisge.pieces_on(board)
    jumping = {origin for origin, jumps in moves(board, seat) if jumps and pieces[origin] == uisge.PAWNS[seat]}
    return 7 * uisge.own(pieces, seat).count(uisge.PAWNS[seat]) + len(jumping)


def piece_row(board: Board, square: str, seat: int, viewer: int) -> int:
    """What the piece can do: a pawn by its jumps (0, 1, more), a king by its jumps and whether it can step."""
    can = Counter(jumps for origin, jumps in moves(board, seat) if origin == square)
    jumps, steps = min(can[True], 2), min(can[False], 1)
    code = 3 + 2 * jumps + steps if uisge.pieces_on(board)[square] == uisge.KINGS[seat] else jumps
    place = uisge.IN_ORDER[viewer].index(square)
    return PIECE_ROWS + (seat != viewer) * 9 * BOARD + 9 * place + code


def random_states(count: int) -> list[State]:
    """Random boards with a side to move, whose games are not over."""
    rng = np.random.default_rng(8)
    states = [uisge_boards.random_state(rng) for _ in range(count)]
    return [state for state in states if state.end is None]


def test_it_sees_every_three_squares_in_a_row() -> None:
    rng = np.random.default_rng(7)
    observation = np.zeros(find_game("uisge").observation_size, np.int16)
    for filled in (0.0, 0.1, 0.3, 1.0):
        board = rng.integers(1, KINDS_OF_SQUARE, (6, 7)) * (rng.random((6, 7)) < filled)
        observation[:42] = board.ravel()
        threes = [board[rank, file : file + 3] for rank in range(6) for file in range(5)]
        threes += [board[rank : rank + 3, file] for rank in range(4) for file in range(7)]
        kinds = [int(np.dot(three, [KINDS_OF_SQUARE**2, KINDS_OF_SQUARE, 1])) for three in threes]
        told = [np.count_nonzero(three) > 1 for three in threes]  # of one piece alone, its square says as much
        expected = [ROW_OF_THREE * n + kind for n, kind in enumerate(kinds) if told[n]]
        assert [row for row in relations_of("uisge", observation) if row < PIECE_ROWS] == expected


def test_it_sees_what_both_sides_pieces_can_do_and_how_many_can_become_kings() -> None:
    seen = set()
    for state in random_states(300):
        position = uisge_boards.in_engine(state)
        expected = []
        for other in (0, 1):
            seat = state.mover ^ other
            of_player = PLAYER_ROWS + other * (PAWNS_OF_PLAYER + MOVES_OF_PLAYER)
            pieces = [square for square, piece in uisge.pieces_on(state.board).items() if piece.lower() == uisge.PAWNS[seat]]
            expected += [piece_row(state.board, square, seat, state.mover) for square in pieces]
            expected.append(of_player + pawns_row(state.board, seat))
            expected.append(of_player + PAWNS_OF_PLAYER + min(len(moves(state.board, seat)), 15))
        rows = [row for row in relations_of("uisge", position.observation(state.mover)) if row >= PIECE_ROWS]
        assert sorted(rows) == sorted(expected)
        seen |= {(row - PIECE_ROWS) // (9 * BOARD) * 9 + (row - PIECE_ROWS) % 9 for row in rows if row < PLAYER_ROWS}
    assert seen == set(range(18)), "each kind of piece was seen, on both sides"
    assert max(rows) < POSITION_ROWS


def test_a_move_is_seen_by_the_piece_its_target_and_the_board_that_it_leaves() -> None:
    code = encoding("uisge", "relations")
    first = find_game("uisge").actions
    for state in random_states(150):
        observation = uisge_boards.in_engine(state).observation(state.mover)
        texts = [text for text in uisge.legal(state) if text != uisge.PASS]
        actions = [uisge.action(text, state.mover) for text in texts]
        texts = [text for _, text in sorted(zip(actions, texts, strict=True))]
        other = 1 - state.mover
        for text, rows in zip(texts, rows_of_actions(code, observation, sorted(actions)), strict=True):
            board = uisge.moved(state.board, text)
            expected = [
                pawns_row(board, state.mover),
                PAWNS_OF_PLAYER + pawns_row(board, other),
                2 * PAWNS_OF_PLAYER + min(len(moves(board, other)), 15),
            ]
            action, beside, target, *after = rows
            assert [row - first - AFTER for row in after] == expected
            origin, end = uisge.ends_of(text)
            king, jumps = uisge.pieces_on(state.board)[origin] in uisge.KINGS, text.endswith("x")
            way = int(king) if jumps else 2
            assert target == first + TARGETS + way * BOARD + uisge.IN_ORDER[state.mover].index(end)
            assert first + BESIDE <= beside < first + TARGETS and (beside - first) % 8 == action % 8
            assert (beside - first) // 40 == king


def test_a_pass_is_seen_as_an_action_alone() -> None:
    code = encoding("uisge", "relations")
    observation = np.zeros(find_game("uisge").observation_size, np.int16)
    assert rows_of_actions(code, observation, [336]) == [[336]]
