"""The player that asks: a person at the keyboard."""

import io
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import numpy as np

from envs.engine.header import CHANCE
from envs.engine.position import Position
from envs.errors import BadText, IllegalMove
from envs.games import find_game
from envs.numbers import read_number

SHOWN: Final = 40  # legal moves; a longer list is only in the way until it is asked for
WIDTH: Final = 80
NO_MOVE: Final = "{} is neither a legal move nor a command; 'moves' lists the moves, 'help' says more"

with suppress(ImportError):  # where it exists, `input` edits lines and remembers them
    import readline  # noqa: F401


class HumanAgent:
    """Plays what a person types, one position after the other."""

    spec = "human"

    def __init__(self, game: str) -> None:
        """A person who plays the game."""
        self._game = find_game(game)

    def act(
        self,
        rows: np.ndarray,
        histories: np.ndarray,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """See `Agent.act`; `rng` is not used. Raises `BadText` when the input ends."""
        positions = [Position(self._game, row, history) for row, history in zip(rows, histories, strict=True)]
        return np.array([ask_person(position) for position in positions], np.int64)


def ask_person(position: Position) -> int:
    """The action that a person chose, after as many tries as it took. Raises `BadText` when the input ends."""
    print(f"\n{position.draw()}\n{shown_moves(position)}")
    while True:
        try:
            entry = read_entry(f"seat {position.mover}> ")
        except EOFError:
            raise BadText("the input ended, but not the game") from None
        actions = named_actions(position, entry)
        if len(actions) == 1:
            return actions[0]
        if entry.lower() == "moves":
            print(numbered(position.legal_moves()))
        elif entry.lower() == "help":
            print(moves_help(position))
        else:  # an agent is asked for one action at a time, so whole turns are none either
            print(NO_MOVE.format(quoted(entry)))


def read_entry(prompt: str) -> str:
    """What the person typed, without blanks around. Raises `EOFError` when there is no more to come."""
    _accept_any_text()
    try:
        return input(prompt).strip()
    except (EOFError, KeyboardInterrupt):
        print()  # the prompt's line is still open
        raise
    except RuntimeError:  # the process was started without an input
        raise EOFError from None


def _accept_any_text() -> None:
    """Bytes that are no text can be read, and characters that the terminal lacks can be printed, without an error."""
    for stream, errors in ((sys.stdin, "surrogateescape"), (sys.stdout, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            with suppress(io.UnsupportedOperation):  # somebody else has begun to read
                stream.reconfigure(errors=errors)


def named_actions(position: Position, entry: str) -> list[int]:
    """The actions that an entry names: one, or those of a whole turn; none if it names no legal move.

    What a move may be spelled like comes first, then numbers in the list of legal moves, then spellings in another case.
    """
    legal = dict(zip(position.legal_moves(), position.legal_actions(), strict=True))
    if entry in legal:
        return [legal[entry]]
    if actions := _spelled_actions(position, entry):
        return actions
    if number := list_number(entry, list(legal)):
        return [list(legal.values())[number - 1]]
    alike = [action for move, action in legal.items() if move.casefold() == entry.casefold()]
    return alike if len(alike) == 1 else _spelled_actions(position, entry.lower())


def _spelled_actions(position: Position, entry: str) -> list[int]:
    """The actions that lead where playing the entry leads, so that a whole turn is recorded action by action."""
    try:
        after = position.play(entry)
    except IllegalMove:
        return []
    for move, action in zip(position.legal_moves(), position.legal_actions(), strict=True):
        one = position.play(action)
        if one == after:
            return [action]
        if entry.startswith(move) and one.mover != CHANCE:
            for second in one.legal_actions():
                if one.play(second) == after:
                    return [action, second]
    return []


def list_number(entry: str, moves: Sequence[str]) -> int | None:
    """The number in the list of moves that the entry is, None if it is none. Where moves look like numbers it needs a `#`."""
    digits = entry.removeprefix("#")
    number = read_number(digits)
    plain = digits == entry
    if number is None or not 1 <= number <= len(moves) or (plain and _look_like_numbers(moves)):
        return None
    return number


def _look_like_numbers(moves: Sequence[str]) -> bool:
    # One is enough: the 3 of a game with numbered holes must not become the third move just because hole 3 is empty.
    return any(move[:1].isdigit() for move in moves)


def shown_moves(position: Position) -> str:
    """The legal moves as a turn begins with them: listed, or only counted where they are many."""
    moves = position.legal_moves()
    return numbered(moves) if len(moves) <= SHOWN else f"{len(moves)} legal moves; 'moves' lists them"


def numbered(moves: Sequence[str]) -> str:
    """The moves in columns, each after the number that may be typed for it."""
    sign = "#" if _look_like_numbers(moves) else ""
    cells = [f"{sign}{number} {move}" for number, move in enumerate(moves, start=1)]
    width = max(map(len, cells)) + 2
    columns = WIDTH // width or 1
    rows = [cells[first : first + columns] for first in range(0, len(cells), columns)]
    return "\n".join("".join(cell.ljust(width) for cell in row).rstrip() for row in rows)


def moves_help(position: Position) -> str:
    """How a move is typed."""
    moves = position.legal_moves()
    by_number = "#1" if _look_like_numbers(moves) else "1 or #1"
    return f"Type a move as it is listed, such as {moves[0]}, or its number in the list, such as {by_number}."


def quoted(text: str, limit: int = 50) -> str:
    """The text, or its beginning, as one short line of printable characters."""
    shown = repr(text[:limit])
    return shown if len(text) <= limit and len(shown) <= limit else shown[: limit - 3] + "..."
