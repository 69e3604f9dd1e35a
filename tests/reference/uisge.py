"""Uisge in plain Python: slow, written from the rules alone, to check the engine against.

A board is six rows of text from the top, as the rules print it: `s` and `n` are South's and North's pawns, `S` and `N`
their kings. Squares are called by their names, moves by their texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

Board = tuple[str, ...]
Pieces = dict[str, str]  # the square of every piece, and which it is

FILES = "abcdefg"
RANKS = "123456"
SQUARES = tuple(file + rank for rank in RANKS for file in FILES)  # as South counts them
DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))  # N, NE, E, SE, S, SW, W, NW
STRAIGHT = (0, 2, 4, 6)

PAWNS = "sn"
KINGS = "SN"
FREE = "."
PIECES_EACH = 6
PASS = "pass"
PASS_ACTION = len(SQUARES) * len(DIRECTIONS)
NO_MOVE = ("loses", "wins", "draw", "pass")
START: Board = (".......", "..nn...", ".nnnn..", "..ssss.", "...ss..", ".......")


@dataclass(frozen=True)
class Options:
    """What the rules leave open; 0 switches a limit off."""

    repetition_limit: int = 3
    move_limit: int = 400
    no_move: str = "loses"
    diagonal_jumps: str = "no"

    def __post_init__(self) -> None:
        """Every value is within the rules, and no game can go on for ever."""
        if self.repetition_limit != 0 and not 2 <= self.repetition_limit <= 9:
            raise ValueError(f"repetition_limit is 0 or 2 to 9, not {self.repetition_limit}")
        if not 0 <= self.move_limit <= 2000:
            raise ValueError(f"move_limit is 0 to 2000, not {self.move_limit}")
        if self.repetition_limit == 0 and self.move_limit == 0:
            raise ValueError("repetition_limit and move_limit are both off: the game need not end")
        if self.no_move not in NO_MOVE:
            raise ValueError(f"no_move is one of {NO_MOVE}, not {self.no_move!r}")
        if self.diagonal_jumps not in ("no", "yes"):
            raise ValueError(f"diagonal_jumps is no or yes, not {self.diagonal_jumps!r}")


STANDARD = Options()


@dataclass(frozen=True)
class State:
    """A game between two plies."""

    board: Board
    mover: int
    ply: int
    occurrences: int
    end: str | None
    history: tuple[tuple[Board, int], ...]  # earlier positions, this one not among them
    options: Options


def start(options: Options = STANDARD) -> State:
    """The pieces lie as at the beginning and seat 0 is to move."""
    return position(START, 0, options)


def position(board: Board, mover: int, options: Options = STANDARD, ply: int = 0) -> State:
    """The board is as given, nothing came before it, and its end is settled."""
    return settled(board, mover, ply, (), options)


def legal(state: State) -> list[str]:
    """The texts of the mover's moves, in the order of their actions; none once the game is over."""
    if state.end is not None:
        return []
    return list(legal_moves(state.board, state.mover, state.options)) or [PASS]


def play(state: State, action: str) -> State:
    """The move is carried out, the other seat is to move, and the end is settled."""
    if action not in legal(state):
        raise ValueError(f"{action} is not legal here; legal moves: {legal(state)}")
    board = state.board if action == PASS else moved(state.board, action)
    history = (*state.history, (state.board, state.mover))
    return settled(board, 1 - state.mover, state.ply + 1, history, state.options)


def scores(state: State) -> tuple[int, int]:
    """The number of kings of each seat."""
    board = "".join(state.board)
    return board.count(KINGS[0]), board.count(KINGS[1])


def result(state: State) -> tuple[int, int] | None:
    """+1 and -1 for winner and loser, 0 and 0 for a draw, nothing while the game runs."""
    if state.end is None:
        return None
    winner = None
    if state.end == "all_kings":
        winner = 1 - state.mover
    elif state.end == "no_moves":
        winner = {"loses": 1 - state.mover, "wins": state.mover, "draw": None}[state.options.no_move]
    return {None: (0, 0), 0: (1, -1), 1: (-1, 1)}[winner]


def from_text(text: str, options: Options = STANDARD, strict: bool = True) -> State:
    """The position the short form describes, with nothing before it and its end settled."""
    form = re.fullmatch(r"([1-7sSnN/]+) ([sn])", text)
    if form is None:
        raise ValueError(f"not six rows and a side: {text!r}")
    board = tuple(re.sub("[1-7]", lambda run: FREE * int(run[0]), row) for row in form[1].split("/"))
    if [len(row) for row in board] != [len(FILES)] * len(RANKS):
        raise ValueError(f"not six rows of seven squares: {text!r}")
    if strict and any(len(own(pieces_on(board), seat)) != PIECES_EACH for seat in (0, 1)):
        raise ValueError(f"not six pieces a side: {text!r}")
    state = position(board, PAWNS.index(form[2]), options)
    if to_text(state) != text:
        raise ValueError(f"every run of free squares is one digit: {text!r}")
    return state


def to_text(state: State) -> str:
    """The short form of the board and the side to move."""
    rows = [re.sub(r"\.+", lambda run: str(len(run[0])), row) for row in state.board]
    return f"{'/'.join(rows)} {PAWNS[state.mover]}"


def action(move: str, mover: int) -> int:
    """The engine's number of the move: its square and direction as the mover sees them."""
    if move == PASS:
        return PASS_ACTION
    origin, target = ends_of(move)
    across, up = (ord(there) - ord(here) for here, there in zip(origin, target, strict=True))
    towards = sign(across), sign(up)
    square, direction = SQUARES.index(origin), DIRECTIONS.index(towards)
    if mover == 1:  # half a turn of the board
        square, direction = len(SQUARES) - 1 - square, (direction + 4) % 8
    return square * len(DIRECTIONS) + direction


def sign(number: int) -> int:
    """-1, 0 or 1."""
    return (number > 0) - (number < 0)


def neighbour(square: str, direction: int) -> str | None:
    """The next square in the direction, as South sees it; None beyond the edge."""
    across, up = DIRECTIONS[direction]
    there = chr(ord(square[0]) + across) + chr(ord(square[1]) + up)
    return there if there in SQUARES else None


def straight_neighbours(square: str) -> tuple[str, ...]:
    """The neighbouring squares along the file and the rank."""
    found = (neighbour(square, direction) for direction in STRAIGHT)
    return tuple(there for there in found if there is not None)


def ways(square: str, seat: int) -> tuple[tuple[bool, str, str | None], ...]:
    """The ways off the square in the seat's order: whether straight, the neighbour, the square behind it."""
    found = []
    for turn in range(8):
        direction = (turn + 4 * seat) % 8
        near = neighbour(square, direction)
        if near is not None:
            found.append((direction in STRAIGHT, near, neighbour(near, direction)))
    return tuple(found)


# Worked out once, since every move needs them.
BESIDE = {square: straight_neighbours(square) for square in SQUARES}
WAYS = tuple({square: ways(square, seat) for square in SQUARES} for seat in (0, 1))
IN_ORDER = (SQUARES, tuple(reversed(SQUARES)))  # as each seat counts them


def pieces_on(board: Board) -> Pieces:
    """The pieces by their squares."""
    squares = zip(SQUARES, "".join(reversed(board)), strict=True)
    return {square: piece for square, piece in squares if piece != FREE}


def board_of(pieces: Pieces) -> Board:
    """The rows, from the top, with the pieces on their squares."""
    return tuple("".join(pieces.get(file + rank, FREE) for file in FILES) for rank in reversed(RANKS))


def own(pieces: Pieces, seat: int) -> list[str]:
    """The seat's pieces."""
    return [piece for piece in pieces.values() if piece in (PAWNS[seat], KINGS[seat])]


def all_kings(board: Board, seat: int) -> bool:
    """Whether the seat has pieces and all of them are kings."""
    mine = own(pieces_on(board), seat)
    return mine != [] and PAWNS[seat] not in mine


def connected(squares: set[str]) -> bool:
    """Whether the squares form one group along files and ranks."""
    outside = set(squares)
    edge = [outside.pop()]
    while edge:
        for square in BESIDE[edge.pop()]:
            if square in outside:
                outside.remove(square)
                edge.append(square)
    return not outside


def ends_of(move: str) -> tuple[str, str]:
    """The squares the move leaves and reaches."""
    origin, target = move.removesuffix("x").split("-")
    return origin, target


def moved(board: Board, move: str) -> Board:
    """The piece lies on the square the move reaches, turned over by a jump."""
    pieces = pieces_on(board)
    origin, target = ends_of(move)
    piece = pieces.pop(origin)
    pieces[target] = piece.swapcase() if move.endswith("x") else piece
    return board_of(pieces)


def reached(pieces: Pieces, origin: str, seat: int, diagonal_jumps: bool) -> list[tuple[str, bool]]:
    """The squares the piece may step or jump to, and whether by a jump, the group left aside."""
    is_king = pieces[origin] in KINGS
    targets = []
    for straight, near, far in WAYS[seat][origin]:
        if near not in pieces:
            if is_king:
                targets.append((near, False))
        elif far is not None and far not in pieces and (straight or (is_king and diagonal_jumps)):
            targets.append((far, True))
    return targets


def find_moves(board: Board, mover: int, diagonal_jumps: bool) -> Iterator[str]:
    """The mover's steps and jumps that leave one group, whatever becomes of the opponent."""
    pieces = pieces_on(board)
    for origin in IN_ORDER[mover]:
        if pieces.get(origin) in (PAWNS[mover], KINGS[mover]):
            others = pieces.keys() - {origin}
            for target, jump in reached(pieces, origin, mover, diagonal_jumps):
                if connected(others | {target}):
                    yield f"{origin}-{target}{'x' if jump else ''}"


@lru_cache(maxsize=2**13)
def is_stuck(board: Board, seat: int, diagonal_jumps: bool) -> bool:
    """Whether the seat, were it to move, could not."""
    return next(find_moves(board, seat, diagonal_jumps), None) is None


def keeps_the_game_open(board: Board, move: str, mover: int, options: Options) -> bool:
    """Whether the move wins by kings or leaves the opponent a move."""
    after = moved(board, move)
    return all_kings(after, mover) or not is_stuck(after, 1 - mover, options.diagonal_jumps == "yes")


@lru_cache(maxsize=2**13)
def legal_moves(board: Board, mover: int, options: Options) -> tuple[str, ...]:
    """The moves the mover may make, whether or not the game is over for another reason."""
    moves = tuple(find_moves(board, mover, options.diagonal_jumps == "yes"))
    if options.no_move != "wins":
        return moves
    return tuple(move for move in moves if keeps_the_game_open(board, move, mover, options)) or moves


def end_without_a_move(board: Board, mover: int, options: Options) -> str | None:
    """How the game ends because the mover is stuck, if it does."""
    diagonal_jumps = options.diagonal_jumps == "yes"
    if not is_stuck(board, mover, diagonal_jumps):
        return None
    if options.no_move != "pass":
        return "no_moves"
    return "both_stuck" if is_stuck(board, 1 - mover, diagonal_jumps) else None


def settled(board: Board, mover: int, ply: int, history: tuple[tuple[Board, int], ...], options: Options) -> State:
    """The state holds what is given, its occurrences, and the first ending that applies."""
    occurrences = 1
    if options.repetition_limit != 0:
        occurrences += history.count((board, mover))
    end = end_without_a_move(board, mover, options)
    if all_kings(board, 1 - mover):
        end = "all_kings"
    elif end is None and options.repetition_limit != 0 and occurrences >= options.repetition_limit:
        end = "repetition"
    elif end is None and options.move_limit != 0 and ply >= options.move_limit:
        end = "move_limit"
    return State(board, mover, ply, occurrences, end, history, options)
