"""One game in hand, for people, notebooks and tests. Nothing here shows that a position is a row of integers."""

import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from envs.engine import kernels
from envs.engine.game import Game, OptionValue
from envs.engine.header import (
    CHANCE,
    END,
    KEY_DTYPE,
    KEYS,
    LAST_PLAYER,
    MASK_DTYPE,
    MOVER,
    OBSERVATION_DTYPE,
    OCCURRENCES,
    PLY,
    RESULT,
    ROW_DTYPE,
    EndReason,
)
from envs.errors import BadText, IllegalMove
from envs.games import find_game
from envs.numbers import read_action, read_number

Rows: TypeAlias = np.ndarray
MAX_PLY: Final = 10**6  # of a position read from text
KEY_LIST: Final = re.compile(r"[0-9a-f]{1,16}(,[0-9a-f]{1,16})*")


class Position:
    """A position of a game with its options and its history. Playing a move gives a new one; this one never changes."""

    __slots__ = ("_game", "_history", "_row")

    def __init__(self, game: Game, row: np.ndarray, history: np.ndarray) -> None:
        """A position with copies of a row and of the keys that count in its history. Users call `envs.start`."""
        self._game = game
        self._row = row.copy()
        self._history = history[: row[KEYS]].copy()

    @classmethod
    def start(cls, game: str, **options: Any) -> "Position":
        """The start position of a game under its default options, those given excepted. Raises `BadOption`."""
        record = find_game(game)
        row, history = _empty(record, record.checked_options(options, batch=False), keys=0)
        kernels.start_one(record.tag, row, history)
        return cls(record, row, history)

    @classmethod
    def from_text(cls, game: str, text: str, strict: bool = True, **options: Any) -> "Position":
        """The position that a short or a full text form shows.

        A short form has the default options, those given excepted, and no past. `strict=False` accepts boards with too few
        pieces. Raises `BadText` and `BadOption`.
        """
        record = find_game(game)
        board, details = _split(record, text)
        for option in record.options:
            if option.name in details and option.name in options:
                said, argued = option.check(details[option.name]), option.check(options[option.name])
                if said != argued:
                    raise BadText(f"the text says {option.name}={said}, the argument {option.name}={argued}")
        given = {option.name: details[option.name] for option in record.options if option.name in details}
        earlier = _read_keys(details["history"]) if "history" in details else np.zeros(0, KEY_DTYPE)
        row, history = _empty(record, record.checked_options({**given, **options}, batch=False), keys=len(earlier))
        record.read_board(board, row, strict)
        for name, field in record.counters.items():
            if name in details:
                row[field] = _read_number(name, details[name])
        if "ply" not in details and record.reversible:
            row[PLY] = row[record.counters[record.reversible]]  # at least so many have been played
        history[: len(earlier)] = earlier
        row[KEYS] = len(earlier)
        kernels.set_up_one(record.tag, row, history)
        if "last" in details:
            _read_last_move(record, row, details["last"])
        position = cls(record, row, history)
        _check_counters(position, len(earlier))
        if not position.end and not position.legal_actions():
            raise BadText(f"nothing can be played on the board {board!r}")
        return position

    # What is on the board.

    @property
    def game(self) -> str:
        """The game's name."""
        return self._game.name

    @property
    def options(self) -> dict[str, Any]:
        """The options it is played under."""
        return self._game.read_options(self._row)

    @property
    def mover(self) -> int:
        """Whose turn it is, 0 or 1, or 2 while a draw is to be dealt; after the end, whose it would be."""
        return int(self._row[MOVER])

    @property
    def ply(self) -> int:
        """Plies played since the start."""
        return int(self._row[PLY])

    @property
    def occurrences(self) -> int:
        """How often this position has stood on the board, now included; 1 if repetition does not matter."""
        return int(self._row[OCCURRENCES])

    @property
    def end(self) -> EndReason | None:
        """Why the game is over, None while it runs."""
        return EndReason(int(self._row[END])) or None

    @property
    def result(self) -> tuple[int, int] | None:
        """Both seats' results, +1, 0 or -1; None while the game runs."""
        return (int(self._row[RESULT]), -int(self._row[RESULT])) if self._row[END] else None

    @property
    def scores(self) -> tuple[int, int]:
        """Both seats' scores; once the game is over, with what each side sweeps."""
        scores = self._look()[2]
        return int(scores[0]), int(scores[1])

    @property
    def last_move(self) -> str | None:
        """The move that led here, None if it is not known."""
        if self._row[LAST_PLAYER] < 0:
            return None
        return self._game.move_text(self._row)

    def observation(self, player: int | None = None) -> np.ndarray:
        """The position as a player sees it, the mover if none is named: `int16[observation size]`.

        While a draw is to be dealt there is no mover, so a player must be named.
        """
        seat = self.mover if player is None else player
        if seat not in (0, 1):
            raise ValueError(f"a player is 0 or 1, not {seat!r}")
        return self._look()[0][seat]

    # Moves.

    def action_mask(self) -> np.ndarray:
        """`int8[actions]`, 1 where the mover's action is legal; all zeros once the game is over."""
        mask = np.zeros(self._game.actions, MASK_DTYPE)
        kernels.legal_one(self._game.tag, self._row, mask)
        return mask

    def legal_actions(self) -> list[int]:
        """The mover's legal actions, ascending; none once the game is over. Each draw that may be dealt is as likely."""
        return [int(action) for action in np.flatnonzero(self.action_mask())]

    def legal_moves(self) -> list[str]:
        """The texts of the legal actions, in their order."""
        return [str(self._after(action).last_move) for action in self.legal_actions()]

    def play(self, move: str | int) -> "Position":
        """The position after a move, given as text or as an action. Raises `IllegalMove`, naming the legal moves.

        Where a turn has several plies, the text may be a whole turn's.
        """
        if not isinstance(move, str):
            action = read_action(move, self.action_mask())
            if action is None:
                raise IllegalMove(self._refusal(move))
            return self._after(action)
        position = self
        for ply in self._game.split_turn(move):
            position = position.play_ply(ply)
        return position

    def play_ply(self, text: str) -> "Position":
        """The position after a single ply given as text; a whole turn's is refused. Raises as `play`."""
        for action in self.legal_actions():
            position = self._after(action)
            if text in self._game.spellings(str(position.last_move)):
                return position
        raise IllegalMove(self._refusal(text))

    def _after(self, action: int) -> "Position":
        """The position after a legal action."""
        row, history = self._row.copy(), self._room(1)
        kernels.play_one(self._game.tag, row, history, action)
        return Position(self._game, row, history)

    def play_all(self, moves: str | list[str]) -> "Position":
        """The position after several moves, a list or a text with a move a word."""
        position = self
        for move in moves.split() if isinstance(moves, str) else moves:
            position = position.play(move)
        return position

    def perft(self, depth: int) -> int:
        """The number of legal lines of exactly `depth` plies; a finished game has no continuation.

        Each draw that may be dealt makes another line, and is no ply.
        """
        if depth < 0:
            raise ValueError(f"a depth is 0 or more, not {depth}")
        if depth == 0:
            return 1
        levels = kernels.line_room(depth)
        rows = np.zeros((levels, self._game.row_size), ROW_DTYPE)
        rows[0] = self._row
        masks = np.zeros((levels, self._game.actions), MASK_DTYPE)
        offsets, left = np.zeros((2, levels), np.int64)
        return int(kernels.count_lines(self._game.tag, rows, masks, self._room(levels), offsets, left, depth))

    # Texts, pictures, copies.

    @property
    def text(self) -> str:
        """The short form: board and side."""
        return self._game.board_text(self._row)

    @property
    def full_text(self) -> str:
        """The short form, then options, counters, the last move and the earlier positions that may recur."""
        details: dict[str, object] = {**self.options}
        details |= {name: int(self._row[field]) for name, field in self._game.counters.items()}
        if self.last_move:
            details["last"] = self.last_move
        earlier = self.to_arrays()[1]
        if len(earlier):
            details["history"] = ",".join(f"{key:x}" for key in earlier.view(np.uint64))
        return f"{self.text} ; {' '.join(f'{name}={value}' for name, value in details.items())}"

    def copy(self) -> "Position":
        """A position that is equal and independent."""
        return Position(self._game, self._row, self._history)

    def draw(self) -> str:
        """The board for a terminal."""
        return self._game.draw_text(self._row)

    def _repr_svg_(self) -> str | None:
        """The board as a notebook shows it; None where the drawing library is not installed."""
        try:
            return self._game.draw_svg(self._row)
        except ImportError:
            return None

    def to_arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """The row and the keys of all earlier positions that may recur, as the batch engine and agents take them."""
        row, history = self._row.copy(), self._room(0)
        kernels.write_out_one(self._game.tag, row, history)
        return row, history[: row[KEYS]]

    def __repr__(self) -> str:
        return f"<{self._game.title} {self.full_text}>"

    def __eq__(self, other: object) -> bool:
        """Whether game, board, options, counters and history are the same."""
        return isinstance(other, Position) and (self.game, self.full_text) == (other.game, other.full_text)

    def __hash__(self) -> int:
        return hash((self.game, self.full_text))

    def __getstate__(self) -> dict[str, Any]:
        return {"game": self._game, "row": self._row, "history": self._history}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self._game, self._row, self._history = state["game"], state["row"], state["history"]

    def _room(self, plies: int) -> np.ndarray:
        """The history with room for what so many plies can add."""
        room = np.zeros(kernels.history_room(len(self._history), plies), KEY_DTYPE)
        room[: len(self._history)] = self._history
        return room

    def _look(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Observations and masks of both seats, and the scores."""
        observations = np.zeros((2, self._game.observation_size), OBSERVATION_DTYPE)
        masks = np.zeros((2, self._game.actions), MASK_DTYPE)
        scores = np.zeros(2, ROW_DTYPE)
        kernels.look(self._game.tag, self._row, observations, masks, scores)
        return observations, masks, scores

    def _refusal(self, move: str | int) -> str:
        if self.end:
            return f"illegal move {move!r}: the game is over ({self.end.label})"
        legal = ", ".join(f"{text} ({action})" for text, action in zip(self.legal_moves(), self.legal_actions(), strict=True))
        who = "the draw may be" if self.mover == CHANCE else f"seat {self.mover} may play"
        return f"illegal move {move!r}; {who} {legal}"


def _empty(game: Game, options: Mapping[str, OptionValue], keys: int) -> tuple[np.ndarray, np.ndarray]:
    """A row with nothing but options, and a history with room for so many earlier keys."""
    row = np.zeros(game.row_size, ROW_DTYPE)
    game.write_options(row, options)
    return row, np.zeros(kernels.history_room(keys, 1), KEY_DTYPE)


def _split(game: Game, text: str) -> tuple[str, dict[str, str]]:
    """The board and the `key=value` details of a text form."""
    board, separator, rest = text.strip().partition(";")
    known = {option.name for option in game.options} | set(game.counters) | {"last", "history"}
    details: dict[str, str] = {}
    if separator and not rest.strip():
        raise BadText(f"nothing follows the ';' in {text!r}")
    for word in rest.split():
        name, equals, value = word.partition("=")
        if not equals or name not in known:
            raise BadText(
                f"{word!r} is no detail of a {game.title} position; known are {', '.join(sorted(known))}, as key=value"
            )
        if name in details:
            raise BadText(f"{name} is given twice")
        details[name] = value
    return board.strip(), details


def _read_number(name: str, text: str) -> int:
    number = read_number(text)
    if number is None or number > MAX_PLY:
        raise BadText(f"{name} must be a whole number up to {MAX_PLY}, not {text!r}")
    return number


def _read_keys(text: str) -> np.ndarray:
    if not KEY_LIST.fullmatch(text):
        raise BadText(f"history must be hexadecimal keys with commas between, not {text!r}")
    return np.array([int(key, 16) for key in text.split(",")], np.uint64).view(KEY_DTYPE)


def _read_last_move(game: Game, row: np.ndarray, text: str) -> None:
    """The row's last move is the one named."""
    players = (1 - int(row[MOVER]),) if game.alternates else (0, 1, CHANCE)
    if not any(game.read_move(row, player, text) for player in players):
        raise BadText(f"last={text!r} is no move that can have led here")


def _check_counters(position: Position, earlier: int) -> None:
    """Raises `BadText` where counters and history contradict each other."""
    name, bound = position._game.reversible, position._game.history_limit
    if earlier and not position.options.get("repetition_limit"):
        raise BadText("a history is given, but repetitions do not count")
    if name is None or bound is None:
        return
    plies = int(position._row[position._game.counters[name]])
    if earlier > plies:
        raise BadText(f"{earlier} earlier positions cannot fit into {name}={plies} plies")
    if plies > position.ply:
        raise BadText(f"{name}={plies} is more than ply={position.ply}")
    if 0 < int(position.options[bound]) < plies:
        raise BadText(f"{name}={plies} is more than {bound}={position.options[bound]}")
