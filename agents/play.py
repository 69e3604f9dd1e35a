"""Lets people play in the terminal: against an agent, or two at one keyboard."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents.agent import Agent
from agents.human import NO_MOVE, moves_help, named_actions, numbered, quoted, read_entry, shown_moves
from agents.spec import KNOWN, make_agent
from envs import cli
from envs.engine.header import CHANCE
from envs.engine.position import Position
from envs.engine.record import Recorder, read_records, write_records
from envs.errors import BadOption, BadText

HINTS: Final = {  # who is asked for a hint: strong, but done in a moment
    "oware": "minimax:depth=6",
    "toguz_kumalak": "minimax:depth=4",
    "uisge": "minimax:depth=4",
    "eiyiu": "greedy",
}
OTHER_HINTS: Final = "greedy"

COMMANDS: Final = """\
undo       takes back to your decision before, replies and draws included
hint       says what a strong agent would play
moves      lists the legal moves
save FILE  writes the game there, and once more when it is over;
           a file that this run did not load or save is not replaced
load FILE  goes on with the last game of a file
resign     gives the game up
help       says this
quit       leaves; so does the end of the input"""

MANUAL: Final = f"""\
A game in the terminal: two people at one keyboard, or one against an agent.

A move is typed as it is listed or by its number in the list: 3 or #3, but only #3 in games whose moves look like
numbers. Capitals do not matter unless two moves differ by nothing else. Where a turn takes two actions, they may be typed
one by one or joined, such as 5@c4, unless chance comes between them. Other entries are:

{COMMANDS}

Agents: {", ".join(KNOWN.values())}."""


class Table:
    """A game that is being played, and who sits at it."""

    def __init__(self, recorder: Recorder, opponent: Agent | None, seat: int, seed: int | None) -> None:
        """The person has `seat` and the opponent the other one; without an opponent, people have both."""
        self.recorder = recorder
        self._opponent = opponent
        self._seats = (0, 1) if opponent is None else (seat,)
        # Three streams, so that hints change neither what is dealt nor what the opponent does.
        self._deals = np.random.default_rng(seed)
        self._replies, self._hints = self._deals.spawn(2)
        self._adviser: Agent | None = None
        self._file: str | None = None  # where the game is kept
        self._files: set[str] = set()  # what this run has loaded or saved, and may replace
        self._resigned: int | None = None
        self._left = False

    @property
    def position(self) -> Position:
        """Where the game stands."""
        return self.recorder.positions[-1]

    def run(self) -> None:
        """The game is over, given up or left."""
        while not (self.position.end or self._left or self._resigned is not None):
            self._step()
        if self._left:
            print("The game is left.")
            return
        print(self._outcome())
        if self._file is not None:
            self._write(self._file)
            print(f"saved as {quoted(self._file)}")

    def _step(self) -> None:
        """Whoever is to move has moved, chance included, or a person has ended or replaced the game."""
        if self.position.mover == CHANCE:
            print(f"drawn: {self._played(deal(self.position, self._deals))}")
        elif self.position.mover in self._seats:
            self._ask()
        else:
            assert self._opponent is not None
            action = ask(self._opponent, self.position, self._replies)
            print(f"{self._name(self.position.mover)} plays {self._played(action)}")

    def _played(self, action: int) -> str:
        """The text of the action, which has been played."""
        return str(self.recorder.play(action).last_move)

    def _ask(self) -> None:
        """An entry has changed the position or ended the game; wrong ones were answered with a line."""
        position = self.position
        print(f"\n{position.draw()}\n\n{self._name(position.mover)} to move: {_broken(shown_moves(position))}")
        while self.position is position and not self._left and self._resigned is None:
            try:
                self._enter(read_entry(f"seat {position.mover}> "))
            except EOFError:
                self._left = True

    def _enter(self, entry: str) -> None:
        """The move is played, the command done, or a line printed that says why not."""
        actions = named_actions(self.position, entry)
        for action in actions:
            self.recorder.play(action)
        if not actions:
            self._obey(entry)

    def _obey(self, entry: str) -> None:
        """The command is done, or a line printed that says why not."""
        word, *rest = entry.split(maxsplit=1)[:2] or [""]
        plain: dict[str, Callable[[], None]] = {
            "undo": self._undo,
            "hint": self._hint,
            "moves": lambda: print(numbered(self.position.legal_moves())),
            "resign": self._resign,
            "help": lambda: print(f"{moves_help(self.position)}\nOther entries:\n{COMMANDS}"),
            "quit": self._quit,
        }
        with_file: dict[str, Callable[[str], None]] = {"save": self._save, "load": self._load}
        name = word.lower()
        if name in plain and not rest:
            plain[name]()
        elif name in with_file and rest:
            with_file[name](rest[0])
        elif name in plain or name in with_file:
            print(f"{name} takes {'a file name' if name in with_file else 'nothing after it'}")
        elif entry:
            print(NO_MOVE.format(quoted(entry)))
        else:
            print("type a move, or 'help'")

    def _undo(self) -> None:
        """The game is back where a person decided last, unless nobody has yet."""
        positions = self.recorder.positions
        earlier = [index for index, position in enumerate(positions[:-1]) if position.mover in self._seats]
        if not earlier:
            print("there is nothing to undo")
            return
        print(f"taken back: {' '.join(str(position.last_move) for position in positions[earlier[-1] + 1 :])}")
        del positions[earlier[-1] + 1 :]

    def _hint(self) -> None:
        """What the adviser would play is printed."""
        if self._adviser is None:
            spec = HINTS.get(self.position.game, OTHER_HINTS)
            self._adviser = make_agent(spec, self.position.game, self.position.options)
        action = ask(self._adviser, self.position, self._hints)
        print(f"{self._adviser.spec} would play {self.position.play(action).last_move}")

    def _resign(self) -> None:
        self._resigned = self.position.mover

    def _quit(self) -> None:
        self._left = True

    def _save(self, name: str) -> None:
        """The file holds the game and will hold its end, or a line says why not."""
        try:
            path = full_path(name)
            if os.path.lexists(path) and path not in self._files:
                print(f"{quoted(name)} exists already; choose another name")
                return
            self._write(path)
        except (OSError, ValueError) as error:
            print(f"cannot save as {quoted(name)}: {reason(error)}")
            return
        self._file = path
        self._files.add(path)
        print(f"saved as {quoted(name)}")

    def _write(self, path: str) -> None:
        notes: dict[str, Any] = {} if self._resigned is None else {"resigned": self._resigned}
        write_records(path, [replace(self.recorder.record(**notes), agents=self._agents())])

    def _load(self, name: str) -> None:
        """The last game of the file goes on instead of this one, or a line says why not."""
        try:
            self.recorder = load_game(self.position.game, name)
        except BadText as error:
            print(error)
            return
        self._file = None  # that was the other game's
        self.note_loaded(name)

    def note_loaded(self, name: str) -> None:
        """The game has been loaded from the file, which it may be saved in, and a line says so."""
        self._files.add(full_path(name))
        options = ", ".join(f"{key}={value}" for key, value in self.position.options.items())
        print(f"loaded {quoted(name)}: {len(self.recorder.positions) - 1} plies; {options}")

    def _agents(self) -> tuple[str, str]:
        """Who plays, seat by seat, as records name them."""
        other = "human" if self._opponent is None else self._opponent.spec
        return ("human" if 0 in self._seats else other, "human" if 1 in self._seats else other)

    def _name(self, seat: int) -> str:
        """The seat, with who has it where that is not plain."""
        if self._opponent is None:
            return f"seat {seat}"
        return f"seat {seat} ({'you' if seat in self._seats else self._opponent.spec})"

    def _outcome(self) -> str:
        """How the game ended; with the board, unless whoever resigned has just seen it."""
        if self._resigned is not None:
            return f"\n{self._name(self._resigned)} resigns: {self._name(1 - self._resigned)} wins."
        position = self.position
        assert position.end and position.result
        won = f"{self._name(position.result.index(1))} wins" if any(position.result) else "a draw"
        ending, (first, second) = position.end.label.replace("_", " "), position.scores
        return f"\n{position.draw()}\n\nThe game is over ({ending}): {won}, {first} to {second}."


def ask(agent: Agent, position: Position, rng: np.random.Generator) -> int:
    """The agent's action in a running position."""
    row, keys = position.to_arrays()
    history = np.zeros(len(keys) + 1, keys.dtype)
    history[: len(keys)] = keys
    answers = agent.act(row[None], history[None], position.observation()[None], position.action_mask()[None], rng)
    return int(answers[0])


def deal(position: Position, rng: np.random.Generator) -> int:
    """One of the actions that chance has in a position, each as likely."""
    return int(rng.choice(position.legal_actions()))


def load_game(game: str, name: str) -> Recorder:
    """The last game of a file, ready to go on. Raises `BadText` if there is none of this game."""
    try:
        path = full_path(name)
        if not Path(path).is_file():
            raise BadText("there is no such file")  # nor is there an end to what some devices hold
        return _last_game(game, path)
    except (OSError, ValueError) as error:
        raise BadText(f"cannot load {quoted(name)}: {reason(error)}") from None


def _last_game(game: str, path: str) -> Recorder:
    record = None
    for record in read_records(path):  # noqa: B007 (the last one counts)
        pass
    if record is None:
        raise BadText("there is no game in it")
    if record.game != game:
        raise BadText(f"its last game is {quoted(record.game)}, not {game!r}")
    first, *later = record.replay()
    recorder = Recorder(first)
    recorder.positions.extend(later)
    return recorder


def full_path(name: str) -> str:
    """The file's path, by which it is known whatever it is called."""
    return os.path.realpath(os.path.expanduser(name))


def reason(error: Exception) -> str:
    """Why something failed, in one line of moderate length."""
    text = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:197] + "..."


def _broken(text: str) -> str:
    """The text, on lines of its own if it has several."""
    return f"\n{text}" if "\n" in text else text


def new_game(game: str, rules: dict[str, Any], file: str | None) -> Recorder:
    """A game from the start, or the file's. Raises `BadText`, and `BadOption` where the file's game has other rules."""
    if file is None:
        return Recorder(Position.start(game, **rules))
    recorder = load_game(game, file)
    options = recorder.positions[0].options
    for name, value in rules.items():
        if options[name] != value:
            raise BadOption(f"--option says {name}={value}, but the game in {quoted(file)} has {name}={options[name]}")
    return recorder


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see its `--help`."""
    parser = cli.make_parser("agents.play", MANUAL)
    parser.add_argument("game", metavar="GAME", help=f"one of: {cli.game_names()}")
    parser.add_argument("--opponent", metavar="SPEC", help="an agent for the other seat (default: another person)")
    parser.add_argument(
        "--seat", type=cli.whole_number(0, 1), default=0, help="your seat against an agent; 0 moves first (default 0)"
    )
    parser.add_argument("--seed", type=cli.whole_number(0), help="of draws and agents (default: another every time)")
    parser.add_argument("--load", metavar="FILE", help="goes on with the last game of a file that was saved")
    cli.add_rules(parser)
    given = parser.parse_args(arguments)
    recorder = new_game(given.game, cli.read_rules(given.game, given.option), given.load)
    two_people = given.opponent in (None, "human")
    opponent = None if two_people else make_agent(given.opponent, given.game, recorder.positions[0].options)
    table = Table(recorder, opponent, given.seat, given.seed)
    if given.load is not None:
        table.note_loaded(given.load)
    table.run()
    return 0


if __name__ == "__main__":
    cli.run(main, "agents.play")
