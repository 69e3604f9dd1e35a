"""Whole games in files: one JSON object a line, replayed and checked ply by ply."""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from envs.engine.position import Position
from envs.errors import BadOption, BadText, IllegalMove
from envs.files import write_file
from envs.games import find_game


@dataclass(frozen=True)
class Record:
    """A game from its start to wherever it got. `movers` has a digit a move: who played it."""

    game: str
    options: dict[str, Any]
    start: str  # text of the first position, in its full form if it has a past
    moves: tuple[str, ...]
    movers: str
    agents: tuple[str, str] = ("", "")
    result: tuple[int, int] | None = None  # None while the game runs
    end: str = ""
    notes: dict[str, Any] = field(default_factory=dict)

    def replay(self) -> Iterator[Position]:
        """The first position, then the position after each move. Raises `BadText` where the record contradicts the rules."""
        try:
            find_game(self.game).checked_options(self.options, batch=False)
        except BadOption as error:
            raise BadText(str(error)) from None
        position = Position.from_text(self.game, self.start, **self.options)
        yield position
        if len(self.moves) != len(self.movers):
            raise BadText(f"{len(self.moves)} moves, but {len(self.movers)} movers")
        for ply, (move, mover) in enumerate(zip(self.moves, self.movers, strict=True), start=1):
            if mover != str(position.mover):
                raise BadText(f"ply {ply}: seat {position.mover} is to move, not {mover}")
            try:
                position = position.play_ply(move)
            except IllegalMove as error:
                raise BadText(f"ply {ply}: {error}") from None
            yield position
        self._check_ending(position)

    def final(self) -> Position:
        """The last position. Raises as `replay`."""
        *_, last = self.replay()
        return last

    def to_json(self) -> str:
        """The record as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> "Record":
        """The record of a line, its shape checked but not yet replayed. Raises `BadText`."""
        try:
            data = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise BadText(f"a record is a JSON object: {error}") from None
        if not isinstance(data, dict):
            raise BadText(f"a record is a JSON object, not {type(data).__name__}")
        _check_shape(data)
        result = data.get("result")
        return cls(
            game=data["game"],
            options=data["options"],
            start=data["start"],
            moves=tuple(data["moves"]),
            movers=data["movers"],
            agents=tuple(data.get("agents", ("", ""))),
            result=None if result is None else tuple(result),
            end=data.get("end", ""),
            notes=data.get("notes", {}),
        )

    def _check_ending(self, position: Position) -> None:
        end = position.end.label if position.end else ""
        if (self.result, self.end) != (position.result, end):
            raise BadText(f"the record says {self.result} by {self.end!r}, the rules {position.result} by {end!r}")


class Recorder:
    """Collects a game while it is played."""

    def __init__(self, position: Position, agents: tuple[str, str] = ("", "")) -> None:
        """A record that begins here. Raises `BadText` for a position that no record can begin with: pieces are missing."""
        plain = Position.from_text(position.game, position.text, **position.options)
        self._start = position.text if plain == position else position.full_text
        self._agents = agents
        self.positions = [position]

    def play(self, move: str | int) -> Position:
        """The position after the move, which the record now holds."""
        self.positions.append(self.positions[-1].play(move))
        return self.positions[-1]

    def record(self, **notes: Any) -> Record:
        """What was played so far."""
        last = self.positions[-1]
        return Record(
            game=last.game,
            options=last.options,
            start=self._start,
            moves=tuple(str(position.last_move) for position in self.positions[1:]),
            movers="".join(str(position.mover) for position in self.positions[:-1]),
            agents=self._agents,
            result=last.result,
            end=last.end.label if last.end else "",
            notes=notes,
        )


def write_records(path: str | os.PathLike[str], records: Iterable[Record]) -> None:
    """The file holds these records, or is as it was if writing fails."""
    write_file(path, "".join(record.to_json() + "\n" for record in records))


def read_records(path: str | os.PathLike[str]) -> Iterator[Record]:
    """The records of a file, in order. Raises `BadText`, naming the line."""
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                yield Record.from_json(line.decode())
            except (BadText, UnicodeDecodeError) as error:
                raise BadText(f"{path}, line {number}: {error}") from None


def _check_shape(data: dict[str, Any]) -> None:
    """Raises `BadText` unless keys and types are a record's."""
    wanted: dict[str, type | tuple[type, ...]] = {
        "game": str,
        "options": dict,
        "start": str,
        "moves": list,
        "movers": str,
        "agents": list,
        "result": (list, type(None)),
        "end": str,
        "notes": dict,
    }
    missing = [name for name in ("game", "options", "start", "moves", "movers") if name not in data]
    if missing:
        raise BadText(f"the record has no {missing[0]!r}")
    for name, value in data.items():
        if name not in wanted:
            raise BadText(f"{name!r} is no part of a record; its parts are {', '.join(wanted)}")
        if not isinstance(value, wanted[name]):
            raise BadText(f"{name!r} has the wrong type: {value!r}")
    if not all(isinstance(move, str) for move in data["moves"]):
        raise BadText("'moves' must be a list of move texts")
    for name, kind in (("agents", str), ("result", int)):
        value = data.get(name)
        if value is not None and not (len(value) == 2 and all(isinstance(part, kind) for part in value)):
            raise BadText(f"{name!r} must be a pair, not {value!r}")
