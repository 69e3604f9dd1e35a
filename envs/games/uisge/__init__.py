"""Uisge: its record, its texts and its manual page."""

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from envs.engine.game import Choice, Field, Game, Limit, OptionValue, Switch, filled_manual
from envs.engine.header import END, LAST_ACTION, LAST_PLAYER, MAX_LIMIT, MOVER, NONE, PLY, UISGE
from envs.errors import BadText
from envs.games.captions import caption
from envs.games.uisge import rules
from envs.games.uisge.rules import FILES, KINGS, LAST_JUMPED, PASS, PIECES, RANKS, SQUARES, STEP

NO_MOVE: Final = ("loses", "wins", "draw", "pass")  # in the order of the numbers in `rules`
PIECES_EACH: Final = 6
LETTERS: Final = "snSN"  # pawns of both seats, kings of both seats
FREE: Final = "."
BOARD_TEXT: Final = re.compile(r"(?!.*[1-7][1-7])([1-7snSN]{1,7}/){5}[1-7snSN]{1,7} [sn]", re.ASCII)
MOVE_TEXT: Final = re.compile(r"([a-g][1-6])-([a-g][1-6])(x?)", re.ASCII)
PASS_TEXT: Final = "pass"

OBSERVED: Final = (
    Field(
        "board",
        SQUARES,
        4,
        "what stands on each square, the own nearest rank first, from the own left: 0 nothing, 1 own pawn, 2 own king, "
        "3 opponent's pawn, 4 opponent's king",
    ),
    Field("ply", 1, MAX_LIMIT, "plies played since the start"),
    Field("occurrences", 1, 9, "how often this position has stood on the board, now included", low=1),
    Field("to_move", 1, 1, "1 if the player is to move"),
)
OPTIONS: Final = (
    Limit("repetition_limit", 3, 2, 9, "the occurrence of a position that ends the game"),
    Limit("move_limit", 400, 1, MAX_LIMIT, "plies that end the game"),
    Choice(
        "no_move",
        "loses",
        NO_MOVE,
        "what becomes of a player who cannot move: it loses; it wins, and a move that leaves the opponent stuck is illegal "
        "while there is another; the game is drawn; or it passes, and the game is drawn when both are stuck",
    ),
    Switch("diagonal_jumps", False, "whether kings may also jump diagonally"),
)

MANUAL: Final = """Uisge (first published as Scorpion), for two.

## Description
Seven files a-g, six ranks 1-6. Each player has six pieces, which begin as pawns; turned over, a pawn is a king. A *jump*,
of pawns and kings, leads straight over exactly one neighbouring piece of either colour onto the free square behind it and
turns the jumper over. A *step*, of kings only, leads onto one of the eight neighbouring squares. After the move all pieces
must form one group that hangs together along sides. Nothing is captured. Who has six kings after an own move wins.

## Observation
OBSERVATION

## Actions
`Discrete(337)`: action `8 * square + direction` moves the piece on that square, counted as in the observation, in one of the
directions N, NE, E, SE, S, SW, W, NW as the mover sees the board: onto a free neighbour it steps, over an occupied one it
jumps. Seat 1 sees the board turned by half. Action 336 passes. As text, the same for both seats: `d3-b3x` is a jump, `c2-b2`
a step, `pass`.

## Rewards
+1 to the winner and -1 to the loser in the step that ends the game, 0 and 0 for a draw and in every other step.

## Start
South's pawns stand on c3, d3, e3, f3, d2 and e2, North's on b4, c4, d4, e4, c5 and d5; `player_0`, South, moves first.

## End
After each move, in this order: all of the mover's pieces are kings (`all_kings`); the player to move cannot (`no_moves`;
under `no_move="pass"` only if the other player cannot either, `both_stuck`, a draw); the position has occurred
`repetition_limit` times (`repetition`), or `move_limit` plies were played (`move_limit`): a draw.
The reason stands in `infos[agent]["end"]`, both seats' kings in `infos[agent]["scores"]`.

## Options
OPTIONS

## Version history
v0: initial version.
"""


def write_options(row: np.ndarray, options: Mapping[str, Any]) -> None:
    """The row plays under these options."""
    row[rules.LIMITS] = rules.packed_options(
        options["repetition_limit"], options["move_limit"], NO_MOVE.index(options["no_move"]), options["diagonal_jumps"]
    )


def read_options(row: np.ndarray) -> dict[str, OptionValue]:
    """The options that the row plays under."""
    return {
        "repetition_limit": int(rules.repetition_limit(row)),
        "move_limit": int(rules.move_limit(row)),
        "no_move": NO_MOVE[rules.no_move(row)],
        "diagonal_jumps": bool(rules.diagonal_jumps(row)),
    }


def rows_of(row: np.ndarray) -> list[str]:
    """The board in six rows of letters from the top."""
    kings = int(row[KINGS])
    letters = {
        square: LETTERS[2 * (kings >> square & 1) + player]
        for player in range(2)
        for square in range(8 * RANKS)
        if int(row[PIECES + player]) >> square & 1
    }
    return ["".join(letters.get(8 * rank + file, FREE) for file in range(FILES)) for rank in reversed(range(RANKS))]


def board_text(row: np.ndarray) -> str:
    """Ranks from the top, digits for free squares, and the side: `7/2nn3/1nnnn2/2ssss1/3ss2/7 s`."""
    ranks = [re.sub(r"\.+", lambda free: str(len(free[0])), rank) for rank in rows_of(row)]
    return f"{'/'.join(ranks)} {'sn'[row[MOVER]]}"


def read_board(text: str, row: np.ndarray, strict: bool) -> None:
    """The row has pieces and mover of the text. Raises `BadText`; only a strict reader insists on six pieces a side."""
    board, _, side = text.partition(" ")
    ranks = [re.sub(r"\d", lambda count: FREE * int(count[0]), rank) for rank in board.split("/")]
    if not BOARD_TEXT.fullmatch(text) or any(len(rank) != FILES for rank in ranks):
        raise BadText(
            f"not a Uisge board: {text!r}; it reads like 7/2nn3/1nnnn2/2ssss1/3ss2/7 s: six ranks of seven squares, side"
        )
    row[PIECES : KINGS + 1] = 0
    for rank, letters in zip(reversed(range(RANKS)), ranks, strict=True):
        for file, letter in enumerate(letters):
            if letter != FREE:
                kind = LETTERS.index(letter)
                row[PIECES + kind % 2] |= 1 << 8 * rank + file
                row[KINGS] |= (kind // 2) << 8 * rank + file
    counts = [int(row[PIECES + player]).bit_count() for player in range(2)]
    if strict and counts != [PIECES_EACH, PIECES_EACH]:
        raise BadText(f"each side has {PIECES_EACH} pieces in Uisge, {text!r} has {counts[0]} and {counts[1]}")
    if not rules.is_connected(row[PIECES] | row[PIECES + 1]):
        raise BadText(f"the pieces of {text!r} do not form one group")
    row[MOVER] = "sn".index(side)


def square_name(square: int) -> str:
    """`a1` to `g6` of a square of the board."""
    return f"{'abcdefg'[square % 8]}{square // 8 + 1}"


def square_named(name: str) -> int:
    """The square of a name."""
    return 8 * (int(name[1]) - 1) + "abcdefg".index(name[0])


def ends_of(row: np.ndarray) -> tuple[str, str] | None:
    """Where the last move led from and to; None if there is none or it was a pass."""
    mover, action = int(row[LAST_PLAYER]), int(row[LAST_ACTION])
    if mover == NONE or action == PASS:
        return None
    origin = int(rules.square_of(mover, action))
    step = int(STEP[rules.direction_of(mover, action)])
    return square_name(origin), square_name(origin + step * (1 + int(row[LAST_JUMPED])))


def move_text(row: np.ndarray) -> str:
    """The last move: `d3-b3x` a jump, `c2-b2` a step, `pass`."""
    ends = ends_of(row)
    return PASS_TEXT if ends is None else f"{ends[0]}-{ends[1]}{'x' if row[LAST_JUMPED] else ''}"


def read_move(row: np.ndarray, player: int, text: str) -> bool:
    """The row's last move is the player's of that text; False if none can have led here."""
    match = MOVE_TEXT.fullmatch(text)
    if match:
        origin, target, jumped = square_named(match[1]), square_named(match[2]), len(match[3])
        action = action_between(player, origin, target, 1 + jumped)
        pieces = int(row[PIECES] | row[PIECES + 1])
        if action is None or pieces >> origin & 1 or not int(row[PIECES + player]) >> target & 1:
            return False
    elif text == PASS_TEXT and rules.no_move(row) == rules.PASSES:
        action, jumped = PASS, 0
    else:
        return False
    row[LAST_ACTION], row[LAST_PLAYER], row[LAST_JUMPED] = action, player, jumped
    return True


def action_between(player: int, origin: int, target: int, squares: int) -> int | None:
    """The player's action that leads so many squares on in one direction; None if no direction leads there."""
    for direction in range(8):
        passed = [origin + int(STEP[direction]) * count for count in range(1, squares + 1)]
        if passed[-1] == target and all(square >= 0 and rules.BOARD >> square & 1 for square in passed):
            return int(rules.action_of(player, origin, direction))
    return None


def drawn(row: np.ndarray) -> dict[str, Any]:
    """What a drawing shows of the row, as arguments of the drawing functions."""
    return {
        "board": rows_of(row),
        "mover": None if row[END] else int(row[MOVER]),
        "last": ends_of(row),
        "caption": caption(row),
    }


GAME: Final = Game(
    name="uisge",
    title="Uisge",
    number=UISGE,
    actions=rules.ACTIONS,
    row_size=rules.ROW,
    observation=OBSERVED,
    options=OPTIONS,
    endings=("repetition_limit", "move_limit"),
    history_limit="move_limit",
    counters={"ply": PLY},
    reversible="ply",
    plies_a_turn=1,
    opening_plies=8,
    write_options=write_options,
    read_options=read_options,
    board_text=board_text,
    read_board=read_board,
    move_text=move_text,
    read_move=read_move,
    drawn=drawn,
    manual=filled_manual(MANUAL, OBSERVED, rules.ACTIONS, OPTIONS),
)
