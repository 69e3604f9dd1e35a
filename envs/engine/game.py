"""What a game is to generic code: one frozen record of names, sizes and small functions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from envs.engine.header import MAX_LIMIT
from envs.errors import BadOption
from envs.numbers import read_number

OptionValue: TypeAlias = int | str | bool


@dataclass(frozen=True)
class Choice:
    """An option that takes one of a few words."""

    name: str
    default: str
    choices: tuple[str, ...]
    doc: str

    @property
    def values(self) -> str:
        """What it may be, in words."""
        return " or ".join(map(repr, self.choices))

    def check(self, value: object) -> OptionValue:
        """The value, if it is one of the choices; else `BadOption`."""
        if isinstance(value, str) and value in self.choices:
            return value
        raise BadOption(f"option {self.name} must be one of {', '.join(self.choices)}, not {value!r}")


@dataclass(frozen=True)
class Switch:
    """An option that is on or off."""

    name: str
    default: bool
    doc: str
    values = "True or False"

    def check(self, value: object) -> OptionValue:
        """The value as a bool; text as the command line hands it is read; else `BadOption`."""
        if isinstance(value, bool | np.bool_):
            return bool(value)
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise BadOption(f"option {self.name} must be True or False, not {value!r}")


@dataclass(frozen=True)
class Limit:
    """An option that counts something: `low` to `high`, or 0, which is off, where it can be."""

    name: str
    default: int
    low: int
    high: int
    doc: str
    can_be_off: bool = True

    @property
    def values(self) -> str:
        """What it may be, in words."""
        return f"{'0 = off, or ' if self.can_be_off else ''}{self.low} to {self.high}"

    def check(self, value: object) -> OptionValue:
        """The value as an int; text as the command line hands it is read; else `BadOption`."""
        number = read_number(value) if isinstance(value, str) else value
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        off = self.can_be_off and number == 0
        if whole and (off or self.low <= number <= self.high):  # type: ignore[operator]
            return int(number)  # type: ignore[call-overload]
        raise BadOption(
            f"option {self.name} must be {'0 (off) or ' if self.can_be_off else ''}{self.low} to {self.high}, not {value!r}"
        )


Option: TypeAlias = Choice | Switch | Limit


@dataclass(frozen=True)
class Field:
    """Some neighbouring numbers of an observation."""

    name: str
    size: int
    high: int
    doc: str
    low: int = 0


def one_spelling(text: str) -> tuple[str, ...]:
    """The ways to write a move where there is only one."""
    return (text,)


def one_ply(text: str) -> tuple[str, ...]:
    """The plies of a turn where a turn is one."""
    return (text,)


def filled_manual(text: str, observation: Sequence[Field], actions: int, options: Sequence[Option]) -> str:
    """The manual page with what the records say in place of the lines OBSERVATION and OPTIONS."""
    size = sum(field.size for field in observation)
    table = [
        f'`{{"observation": int16[{size}], "action_mask": int8[{actions}]}}`, seen from the agent\'s own side. The mask is all',
        "zeros for the agent not to move and after the end. The numbers of the observation are, in this order:",
        "",
        "| numbers | field | from | to | is |",
        "|---|---|---|---|---|",
        *(f"| {field.size} | {field.name} | {field.low} | {field.high} | {field.doc} |" for field in observation),
    ]
    listed = [f"- `{option.name}={option.default!r}` ({option.values}): {option.doc}" for option in options]
    return text.replace("OBSERVATION\n", "\n".join(table) + "\n").replace("OPTIONS\n", "\n".join(listed) + "\n")


@dataclass(frozen=True)
class Game:
    """The record of a game. Rows are arrays of `row_size` integers laid out by the game's `rules.py`."""

    name: str  # as in `envs.start(name)`
    title: str
    number: int  # the game's branch in `kernels.py`
    actions: int
    row_size: int
    observation: tuple[Field, ...]
    options: tuple[Option, ...]
    endings: tuple[str, ...]  # options of which one must be on, else a game could go on for ever; empty where that is settled
    history_limit: str | None  # the option that bounds the plies since the last irreversible one; None: nothing may recur
    counters: Mapping[str, int]  # names in the full text form -> fields of the row; `ply` is one of them
    reversible: str | None  # the counter of these plies
    plies_a_turn: int  # actions of the same player; with one, the seats move in turn
    opening_plies: int  # random plies that evaluation begins with
    write_options: Callable[[np.ndarray, Mapping[str, Any]], None]
    read_options: Callable[[np.ndarray], dict[str, OptionValue]]
    board_text: Callable[[np.ndarray], str]
    read_board: Callable[[str, np.ndarray, bool], None]
    move_text: Callable[[np.ndarray], str]  # of the last move, in the row that it led to
    read_move: Callable[[np.ndarray, int, str], bool]  # the row's last move is the player's of that text, if it can be
    drawn: Callable[[np.ndarray], dict[str, Any]]  # what a picture shows of the row, as the drawing functions take it
    manual: str
    spellings: Callable[[str], tuple[str, ...]] = one_spelling  # all that may be typed for a move, given its text
    split_turn: Callable[[str], tuple[str, ...]] = one_ply  # the plies of what may be a whole turn's text

    def draw_svg(self, row: np.ndarray) -> str:
        """The board as an SVG document. Raises `ImportError` without the drawing library."""
        svg: str = import_module(f"envs.games.{self.name}.drawing").draw(**self.drawn(row))
        return svg

    def draw_text(self, row: np.ndarray) -> str:
        """The board for a terminal."""
        board: str = import_module(f"envs.games.{self.name}.ascii").board_text(**self.drawn(row))
        return board

    @property
    def alternates(self) -> bool:
        """Whether the seats move in turn, ply by ply."""
        return self.plies_a_turn == 1

    def __reduce__(self) -> tuple[Callable[[str], "Game"], tuple[str]]:
        """A game pickles as its name."""
        from envs.games import find_game

        return find_game, (self.name,)

    @property
    def tag(self) -> tuple[int, ...]:
        """The game's number as kernels take it: a tuple of that length."""
        return (0,) * self.number

    @property
    def observation_size(self) -> int:
        """Numbers in an observation."""
        return sum(field.size for field in self.observation)

    def observation_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lowest and highest value of every number of an observation."""
        low = np.concatenate([np.full(field.size, field.low) for field in self.observation])
        high = np.concatenate([np.full(field.size, field.high) for field in self.observation])
        return low, high

    def checked_options(self, given: Mapping[str, object], batch: bool) -> dict[str, Any]:
        """All options of the game, the given ones checked. In a batch the history must be bounded. Raises `BadOption`."""
        unknown = sorted(set(given) - {option.name for option in self.options})
        if unknown:
            names = ", ".join(option.name for option in self.options)
            raise BadOption(f"{self.name} has no option {unknown[0]!r}; its options are {names}")
        options = {option.name: option.check(given.get(option.name, option.default)) for option in self.options}
        if self.endings and not any(options[name] for name in self.endings):
            raise BadOption(f"{' and '.join(self.endings)} cannot both be 0: the game might never end")
        if batch and self.history_limit and options[self.history_limit] == 0:
            raise BadOption(f"{self.history_limit}=0 (off) is for a single Position only; give 1 to {MAX_LIMIT}")
        return options

    def history_size(self, options: Mapping[str, OptionValue]) -> int:
        """Keys that a game under these options can need at once."""
        return int(options[self.history_limit]) if self.history_limit and options["repetition_limit"] else 1
