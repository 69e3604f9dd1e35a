"""People at the keyboard: moves, commands, wrong entries, and how a game in the terminal ends."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
import pytest

import envs
from agents.human import HumanAgent, list_number, named_actions, numbered, quoted
from agents.play import HINTS, Table, ask, deal
from agents.spec import make_agent
from commands import PROJECT, Done, assert_refused, run_command
from envs import BadText, EndReason, IllegalMove, Position
from envs.engine.header import CHANCE
from envs.engine.record import Record, Recorder, read_records
from players import answer
from training.evaluate import evaluate

Play: TypeAlias = Callable[..., Done]
OPPONENT = "minimax:depth=1"  # answers the same whatever is left to chance
each_game = pytest.mark.parametrize("game", envs.GAME_NAMES)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Play:
    """Runs the command in an empty folder with lines typed into it."""
    monkeypatch.chdir(tmp_path)

    def typed(lines: list[str], *arguments: str | Path) -> Done:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(line + "\n" for line in lines), newline="\n"))
        return run_command("agents.play", *arguments)

    return typed


def entries_of(
    start: Position, seed: int, entries: int | None = None, seats: tuple[int, ...] = (0, 1), numbers: bool = False
) -> tuple[list[str], list[Position]]:
    """Random entries of people in some seats against `OPPONENT`, and the positions before each of them and at the end."""
    position, typed, asked = start, list[str](), list[Position]()
    deals, choices, opponent = np.random.default_rng(seed), random.Random(seed), make_agent(OPPONENT, start.game)
    while not position.end:
        if position.mover == CHANCE:
            position = position.play(deal(position, deals))
        elif position.mover not in seats:
            position = position.play(ask(opponent, position, deals))
        elif len(typed) == entries:
            break
        else:
            index = choices.randrange(len(position.legal_actions()))
            asked.append(position)
            typed.append(f"#{index + 1}" if numbers else position.legal_moves()[index])
            position = position.play(position.legal_actions()[index])
    return typed, [*asked, position]


def unfinished(game: str, entries: int, seats: tuple[int, ...]) -> tuple[int, list[str], list[Position]]:
    """A seed with which so many entries do not end the game, with them and their positions."""
    for seed in range(9, 100):
        typed, positions = entries_of(envs.start(game), seed, entries, seats)
        if not positions[-1].end:
            return seed, typed, positions
    raise AssertionError("every game was over")


def saved(name: str = "game.jsonl") -> Record:
    """The game in a file."""
    (record,) = read_records(name)
    return record


def errors_of(done: Done) -> list[str]:
    """What was said in answer to entries that neither moved nor ended the game."""
    return [line.partition("> ")[2] for line in done.out.splitlines() if line.startswith("seat ") and "> " in line]


# Whole games


@each_game
@pytest.mark.parametrize("numbers", [False, True])
def test_two_people_play_a_whole_game(play: Play, game: str, numbers: bool) -> None:
    entries, positions = entries_of(envs.start(game), seed=3, numbers=numbers)
    done = play(["save game.jsonl", *entries], game, "--seed", "3")
    last = positions[-1]
    assert (done.code, done.err) == (0, "")
    assert saved().final() == last and saved().agents == ("human", "human") and saved().notes == {}
    assert last.end and last.draw() in done.out
    winner = "a draw" if last.result == (0, 0) else f"seat {(last.result or ()).index(1)} wins"
    scores = " to ".join(map(str, last.scores))
    assert done.out.splitlines()[-2] == f"The game is over ({last.end.label.replace('_', ' ')}): {winner}, {scores}."


@each_game
@pytest.mark.parametrize("seat", [0, 1])
def test_a_person_plays_an_agent_from_either_seat(play: Play, game: str, seat: int) -> None:
    entries, positions = entries_of(envs.start(game), seed=4, seats=(seat,))
    done = play(["save game.jsonl", *entries], game, "--opponent", OPPONENT, "--seat", str(seat), "--seed", "4")
    assert (done.code, done.err) == (0, "")
    assert saved().final() == positions[-1]
    assert saved().agents == (("human", OPPONENT) if seat == 0 else (OPPONENT, "human"))
    assert f"seat {seat} (you) to move" in done.out
    assert f"seat {1 - seat} ({OPPONENT}) plays" in done.out
    assert f"seat {1 - seat} (you)" not in done.out


@each_game
def test_the_board_and_the_legal_moves_stand_before_every_turn(play: Play, game: str) -> None:
    entries, positions = entries_of(envs.start(game), seed=5, entries=6)
    done = play(entries, game, "--seed", "5")
    rest = done.out
    for position in positions:
        before, board, rest = rest.partition(position.draw())
        assert board, before
        moves = position.legal_moves()
        shown = numbered(moves) if len(moves) <= 40 else f"{len(moves)} legal moves"
        assert rest.split("to move: ")[1].lstrip().startswith(shown)


@each_game
def test_the_same_seed_gives_the_same_game(play: Play, game: str) -> None:
    entries, _ = entries_of(envs.start(game), seed=6, entries=8)
    arguments = (game, "--opponent", "random", "--seed", "6")
    assert play(entries, *arguments) == play(entries, *arguments)
    with_hints = play([word for entry in entries for word in ("hint", entry)], *arguments)
    replies = [line for line in with_hints.out.splitlines() if "plays" in line or "drawn" in line]
    assert replies == [line for line in play(entries, *arguments).out.splitlines() if "plays" in line or "drawn" in line]


def test_the_opponent_human_is_a_second_person(play: Play) -> None:
    assert play(["A", "a", "F"], "oware", "--opponent", "human") == play(["A", "a", "F"], "oware")


# How moves are typed


def test_case_is_no_matter_where_it_is_clear(play: Play) -> None:
    play(["a", "A", "b", "save game.jsonl"], "oware")
    assert saved().moves == ("A", "a", "B")


def test_numbers_count_in_the_list_of_legal_moves(play: Play) -> None:
    play(["A", "1", "1", " #2\t", "save game.jsonl"], "oware")
    assert saved().moves == ("A", "a", "B", "b")


@pytest.mark.parametrize("entry", ["0", "7", "#0", "#7", "#", "##1", "# 1", "-1", "1.", "+1", "\N{SUPERSCRIPT TWO}", "9" * 30])
def test_numbers_that_are_not_in_the_list_are_wrong_entries(play: Play, entry: str) -> None:
    done = play([entry, "save game.jsonl"], "oware")
    assert quoted(entry) in done.out and saved().moves == ()


def test_where_moves_look_like_numbers_only_those_with_a_sign_count_in_the_list() -> None:
    holes, houses = ["18", "29X", "41"], ["A", "B", "C"]
    assert [list_number(entry, houses) for entry in ("3", "#3", "4")] == [3, 3, None]
    assert [list_number(entry, holes) for entry in ("3", "#3", "#4")] == [None, 3, None]
    assert numbered(holes) == "#1 18   #2 29X  #3 41"
    assert numbered(houses) == "1 A  2 B  3 C"


def test_long_lists_are_wrapped_in_columns() -> None:
    lines = numbered([f"@c{number}" for number in range(1, 101)]).splitlines()
    assert len(lines) > 5 and all(len(line) <= 80 for line in lines)
    assert lines[0].startswith("1 @c1      2 @c2      ") and lines[-1].endswith("100 @c100")


@each_game
def test_every_legal_move_is_understood_by_text_and_by_number(game: str) -> None:
    for position in entries_of(envs.start(game), seed=8, entries=30)[1]:
        for index, (move, action) in enumerate(zip(position.legal_moves(), position.legal_actions(), strict=True), start=1):
            assert named_actions(position, move) == [action]
            assert named_actions(position, f"#{index}") == [action]


# Games with draws and turns of two actions, shown on a toy


@dataclass(frozen=True)
class Tiles:
    """A turn takes tile 5 or 7, or draws one, then lays it; after four turns the first player has won."""

    line: tuple[str, ...] = ()

    options: ClassVar[dict[str, Any]] = {}
    scores, result = (1, 0), (1, -1)

    @property
    def turns(self) -> int:
        return sum(text.startswith("@") for text in self.line)

    @property
    def mover(self) -> int:
        return CHANCE if self.last_move == "?" else self.turns % 2

    @property
    def end(self) -> EndReason | None:
        return EndReason.RUN_OF_15 if self.turns == 4 else None

    @property
    def last_move(self) -> str | None:
        return self.line[-1] if self.line else None

    def legal_moves(self) -> list[str]:
        if self.last_move is None or self.last_move.startswith("@"):
            return ["5", "7", "?"]
        return ["=1", "=2", "=3"] if self.last_move == "?" else ["@b2", "@c3"]

    def legal_actions(self) -> list[int]:
        return list(range(len(self.legal_moves())))

    def play(self, move: str | int) -> Tiles:
        if isinstance(move, int):
            return Tiles((*self.line, self.legal_moves()[move]))
        if move in self.legal_moves():
            return Tiles((*self.line, move))
        if move[:1] in ("5", "7") and move[0] in self.legal_moves() and move[1:] in ("@b2", "@c3"):
            return Tiles((*self.line, move[0], move[1:]))
        raise IllegalMove("illegal")

    def draw(self) -> str:
        return " ".join(self.line)


def tiles_after(lines: list[str], monkeypatch: pytest.MonkeyPatch, seed: int = 0) -> list[str]:
    """The line of the toy after people have typed this."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(line + "\n" for line in lines)))
    recorder = Recorder.__new__(Recorder)
    recorder.positions = cast(Any, [Tiles()])
    Table(recorder, None, 0, seed).run()
    return list(cast(Any, recorder.positions[-1]).line)


def test_a_turn_may_take_two_entries_or_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tiles_after(["5", "@b2", "7@c3", "7@C3", "#1", "2"], monkeypatch) == ["5", "@b2", "7", "@c3", "7", "@c3", "5", "@c3"]


def test_draws_are_dealt_and_said_aloud(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    seen = set()
    for seed in range(20):
        line = tiles_after(["?", "@b2"], monkeypatch, seed)
        assert line == tiles_after(["?", "@b2"], monkeypatch, seed)
        assert f"drawn: {line[1]}\n" in capsys.readouterr().out
        seen.add(line[1])
    assert seen == {"=1", "=2", "=3"}


def test_undo_takes_draws_back_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert tiles_after(["5@b2", "?", "undo"], monkeypatch) == ["5", "@b2"]
    assert "taken back: ? =" in capsys.readouterr().out
    assert tiles_after(["5@b2", "undo", "undo", "undo"], monkeypatch) == []
    assert "there is nothing to undo" in capsys.readouterr().out


def test_a_tile_that_is_gone_is_no_number_in_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tiles_after(["2", "3", "#2"], monkeypatch) == ["7"]


# Undo and hints


@each_game
@pytest.mark.parametrize(("entries", "undos"), [(0, 0), (1, 1), (7, 1), (7, 4), (7, 7)])
@pytest.mark.parametrize("seats", [(0, 1), (0,), (1,)])
def test_undo_leads_back_to_the_persons_decision_before(
    play: Play, game: str, entries: int, undos: int, seats: tuple[int, ...]
) -> None:
    seed, typed, positions = unfinished(game, entries, seats)
    against = [] if len(seats) == 2 else ["--opponent", OPPONENT, "--seat", str(seats[0])]
    done = play([*typed, *["undo"] * undos, "save game.jsonl"], game, "--seed", str(seed), *against)
    assert done.code == 0 and "nothing to undo" not in done.out
    assert saved().final() == positions[entries - undos]


@each_game
@pytest.mark.parametrize("against", [[], ["--opponent", OPPONENT], ["--opponent", OPPONENT, "--seat", "1"]])
def test_at_the_start_there_is_nothing_to_undo(play: Play, game: str, against: list[str]) -> None:
    done = play(["undo", "#1", "undo", "undo", "#1"], game, *against)
    assert errors_of(done).count("there is nothing to undo") == 2
    assert done.code == 0


@each_game
def test_a_hint_is_a_legal_move_and_changes_nothing(play: Play, game: str) -> None:
    typed, positions = entries_of(envs.start(game), seed=10, entries=4)
    done = play([*typed, "hint", "save game.jsonl"], game, "--seed", "10")
    (line,) = [line for line in errors_of(done) if "would play" in line]
    spec, _, move = line.partition(" would play ")
    assert spec == HINTS[game] and move in positions[-1].legal_moves()
    assert saved().final() == positions[-1]


# Save and load


@each_game
@pytest.mark.parametrize("entries", [0, 1, 10])
@pytest.mark.parametrize("by_command", [False, True])
def test_a_saved_game_goes_on_where_it_was(play: Play, game: str, entries: int, by_command: bool) -> None:
    typed, positions = entries_of(envs.start(game), seed=11, entries=entries)
    play([*typed, "save game.jsonl"], game, "--seed", "11")
    before = saved()
    more, after = entries_of(positions[-1], seed=12, entries=6)
    if by_command:
        done = play(["load game.jsonl", *more, "save game.jsonl"], game, "--seed", "12")
    else:
        done = play([*more, "save game.jsonl"], game, "--seed", "12", "--load", "game.jsonl")
    assert done.code == 0
    assert saved().final() == after[-1]
    assert saved().moves[: len(before.moves)] == before.moves and saved().start == before.start


def test_a_loaded_game_can_be_undone_to_its_start(play: Play) -> None:
    play(["A", "a", "save game.jsonl"], "oware")
    done = play(["undo", "undo", "undo", "save other.jsonl"], "oware", "--load", "game.jsonl")
    assert "nothing to undo" in done.out and saved("other.jsonl").moves == ()


def test_a_loaded_game_keeps_its_rules(play: Play) -> None:
    play(["A", "save game.jsonl"], "oware", "--option", "quiet_limit=7")
    done = play(["load game.jsonl", "save game.jsonl"], "oware", "--option", "grand_slam=capture")
    assert "quiet_limit=7, grand_slam=forfeit" in done.out
    assert saved().options["quiet_limit"] == 7
    assert play([], "oware", "--load", "game.jsonl", "--option", "quiet_limit=7").code == 0
    assert_refused(play([], "oware", "--load", "game.jsonl", "--option", "quiet_limit=8"), "quiet_limit=7", "quiet_limit=8")


def test_the_last_game_of_a_file_is_loaded(play: Play) -> None:
    play(["A", "save one.jsonl", "a", "save two.jsonl"], "oware")
    both = Path("one.jsonl").read_text(encoding="utf-8") + Path("two.jsonl").read_text(encoding="utf-8")
    Path("both.jsonl").write_text(both, encoding="utf-8")
    play(["load both.jsonl", "save three.jsonl"], "oware")
    assert saved("three.jsonl").moves == ("A", "a")


@each_game
def test_a_finished_game_is_shown_and_ends_at_once(play: Play, game: str) -> None:
    entries, positions = entries_of(envs.start(game), seed=13)
    play(["save game.jsonl", *entries], game, "--seed", "13")
    done = play(["help"], game, "--load", "game.jsonl")
    assert (
        done.code == 0 and positions[-1].draw() in done.out and "The game is over" in done.out and "> " not in errors_of(done)
    )


def test_files_of_others_are_not_replaced(play: Play) -> None:
    Path("letter.txt").write_text("Dear", encoding="utf-8")
    done = play(["save letter.txt", "save game.jsonl", "A", "save ./game.jsonl", "save letter.txt"], "oware")
    assert errors_of(done)[0] == "'letter.txt' exists already; choose another name"
    assert Path("letter.txt").read_text(encoding="utf-8") == "Dear" and saved().moves == ("A",)
    assert "exists already" in play(["save game.jsonl"], "oware").out
    assert sorted(path.name for path in Path().iterdir()) == ["game.jsonl", "letter.txt"]


def other_game(line: str) -> str:
    return json.dumps(json.loads(line) | {"game": "chess"})


BAD_FILES: dict[str, Callable[[str], str | bytes]] = {
    "nothing": lambda line: "",
    "a blank line": lambda line: line + "\n",
    "no JSON": lambda line: "A a B b",
    "no text": lambda line: b"\xff\x00\xfe",
    "half a line": lambda line: line[: len(line) // 2],
    "another game": other_game,
    "a huge number": lambda line: line.replace("160", "9" * 5000),
    "deep brackets": lambda line: "[" * 100_000,
    "an illegal move": lambda line: line.replace('["A"', '["b"'),
    "a false result": lambda line: line.replace("null", "[1, -1]"),
    "an unknown option": lambda line: line.replace("quiet_limit", "loud_limit"),
    "a strange start": lambda line: line.replace("4-4-4-4", "5-4-4-4"),
}


@pytest.mark.parametrize("change", BAD_FILES.values(), ids=BAD_FILES)
def test_what_cannot_be_loaded_is_said_in_a_line(play: Play, change: Callable[[str], str | bytes]) -> None:
    play(["A", "save good.jsonl"], "oware")
    content = change(Path("good.jsonl").read_text(encoding="utf-8").rstrip("\n") + "\n")
    Path("bad.jsonl").write_bytes(content if isinstance(content, bytes) else content.encode())
    done = play(["A", "load bad.jsonl", "a", "save new.jsonl"], "oware")
    (error,) = [line for line in errors_of(done) if "cannot load" in line]
    assert error.startswith("cannot load 'bad.jsonl': ") and len(error) < 300 and done.code == 0
    assert saved("new.jsonl").moves == ("A", "a")
    assert_refused(play([], "oware", "--load", "bad.jsonl"), "cannot load 'bad.jsonl'")


NO_PLACES = [".", "..", "/", "~", "no/where/game.jsonl", "a\0b", "x" * 5000, "~nobody/at/all"]


@pytest.mark.parametrize("name", [*NO_PLACES, "missing.jsonl", "/dev/zero", "\udcff"])
def test_names_of_no_files_are_answered_with_a_line(play: Play, name: str) -> None:
    done = play([f"load {name}", "A", "save game.jsonl"], "oware")
    (error,) = [line for line in errors_of(done) if "cannot load" in line]
    assert error.startswith(f"cannot load {quoted(name)}: ")
    assert saved().moves == ("A",)
    assert_refused(play([], "oware", "--load", name), "cannot load")


@pytest.mark.parametrize("name", [*NO_PLACES, "/dev/null"])
def test_where_nothing_can_be_saved_the_game_goes_on(play: Play, name: str) -> None:
    done = play([f"save {name}", "A", "save game.jsonl"], "oware")
    assert quoted(name) in errors_of(done)[0]
    assert saved().moves == ("A",) and [path.name for path in Path().iterdir()] == ["game.jsonl"]


# Ends


@each_game
@pytest.mark.parametrize("entries", [0, 3])
def test_who_resigns_loses_but_the_rules_know_no_winner(play: Play, game: str, entries: int) -> None:
    typed, positions = entries_of(envs.start(game), seed=14, entries=entries)
    done = play(["save game.jsonl", *typed, "resign", "#1"], game, "--seed", "14")
    mover = positions[-1].mover
    assert done.code == 0 and f"seat {mover} resigns: seat {1 - mover} wins." in done.out
    assert saved().final() == positions[-1]
    assert (saved().result, saved().end, saved().notes) == (None, "", {"resigned": mover})


def test_an_agent_wins_when_its_opponent_resigns(play: Play) -> None:
    done = play(["resign"], "oware", "--opponent", "greedy", "--seat", "1")
    assert "seat 1 (you) resigns: seat 0 (greedy) wins." in done.out


@each_game
@pytest.mark.parametrize("lines", [[], ["#1"], ["quit"], ["QUIT"], ["#1", "quit", "resign"]])
def test_the_end_of_the_input_and_quit_leave_the_game(play: Play, game: str, lines: list[str]) -> None:
    done = play(lines, game)
    assert (done.code, done.err) == (0, "") and done.out.endswith("The game is left.\n")


def test_the_interrupt_key_ends_with_130(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    done = play([], "oware")
    assert (done.code, done.err) == (130, "python -m agents.play: stopped\n")


def test_a_process_without_an_input_leaves_the_game(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(prompt: str) -> str:
        raise RuntimeError("input(): lost sys.stdin")

    monkeypatch.setattr("builtins.input", lost)
    assert play([], "oware").out.endswith("The game is left.\n")


# Wrong entries


@each_game
def test_wrong_entries_are_answered_with_one_line_each(play: Play, game: str) -> None:
    wrong = ["", "  ", "xyz", "undo 2", "save", "load", "save  ", "resign now", "Z9", "#", "help me", "-1", "hint 3", "=7", "@"]
    done = play([*wrong, "save game.jsonl"], game)
    assert done.code == 0 and len(errors_of(done)) == len(wrong) + 2  # the saving, and the end of the input
    assert all(line and len(line) < 120 for line in errors_of(done)[:-1])
    assert saved().moves == ()


def test_commands_may_be_typed_in_capitals_and_help_names_them_all(play: Play) -> None:
    done = play(["HELP", "Moves", "UNDO", "Save game.jsonl"], "oware")
    assert all(f"\n{word} " in done.out for word in ("undo", "hint", "moves", "save", "load", "resign", "help", "quit"))
    assert saved().moves == () and "neither" not in done.out


def garbage(rng: random.Random) -> str:
    """A line of nonsense: any characters, half-right entries, or one that is very long."""
    alphabets = ["".join(map(chr, range(128))), "#0123456789 @=?-", "ABCDEFabcdef(10)X", "undohintmovessaveload "]
    symbols = rng.choice([*alphabets, "\udcff\ufeff\u202e\U0001f3b2é\x1b\0\r\x85\u2028ǅßİ"])
    length = rng.choice([0, 1, 2, 3, 8, 50])
    return "".join(rng.choice(symbols) for _ in range(length)).replace("\n", "") * rng.choice([1, 1, 1, 1, 1, 1, 1000])


@each_game
@pytest.mark.parametrize("against", [[], ["--opponent", "random"]])
def test_no_nonsense_ends_the_program(play: Play, game: str, against: list[str]) -> None:
    rng = random.Random(15)
    lines = [line for line in (garbage(rng) for _ in range(1500)) if line.strip().lower() not in ("resign", "quit")]
    done = play([*lines, "#1", "quit"], game, "--seed", "15", *against)
    assert (done.code, done.err) == (0, "")
    assert done.out.replace("\n", "").isprintable() and max(map(len, done.out.split("\n"))) < 300


# The agent `human`


def ask_human(lines: list[str], monkeypatch: pytest.MonkeyPatch, position: Position) -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(line + "\n" for line in lines)))
    return answer(make_agent("human", position.game), position)


@each_game
def test_the_agent_human_asks_until_it_gets_a_legal_move(
    game: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for position in entries_of(envs.start(game), seed=16, entries=5)[1]:
        lines = ["", "nonsense", "undo", "moves", "help", "#99999", f"#{len(position.legal_moves())}"]
        assert ask_human(lines, monkeypatch, position) == position.legal_actions()[-1]
        out = capsys.readouterr().out
        assert position.draw() in out and numbered(position.legal_moves()) in out and out.count("neither") == 4


def test_the_agent_human_says_that_the_input_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadText, match="input ended"):
        ask_human(["nonsense"], monkeypatch, envs.start("oware"))


def test_a_person_can_be_evaluated(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("#1\n" * 1000))
    result = evaluate("oware", [HumanAgent("oware"), make_agent("greedy", "oware")], 2, 0, {"quiet_limit": 20})
    assert result["agents"] == ["human", "greedy"] and "seat 0> " in capsys.readouterr().out


# The command


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ((), "GAME"),
        (("chess",), "oware"),
        (("oware", "--opponent", "nobody"), "minimax:depth=N"),
        (("oware", "--opponent", "minimax"), "depth"),
        (("oware", "--opponent", "human:me"), "no settings"),
        (("oware", "--seat", "2"), "from 0 to 1"),
        (("oware", "--seed", "x"), "whole number"),
        (("oware", "--option", "quiet"), "KEY=VALUE"),
        (("oware", "--option", "quiet_limit=-1"), "quiet_limit"),
        (("oware", "--option", "speed=1"), "speed"),
        (("oware", "--load", "missing.jsonl"), "no such file"),
    ],
)
def test_bad_input_is_refused_in_one_line(play: Play, arguments: tuple[str, ...], hint: str) -> None:
    assert_refused(play(["A"], *arguments), hint)


def test_options_of_the_rules_reach_the_game(play: Play) -> None:
    done = play(["save game.jsonl", "A", "a", "B"], "oware", "--option", "quiet_limit=3")
    assert saved().end == "quiet_limit" and "The game is over (quiet limit)" in done.out


def test_a_process_plays_and_reads_what_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    typed = b"A\n\xff\xfe\xc3\n\xc3\xa9\x00\r\na\n" + f"save {path}\n".encode() + b"x" * 100_000 + b"\nB"
    command, ascii_only = [sys.executable, "-m", "agents.play", "oware"], {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, input=typed, capture_output=True, cwd=PROJECT, timeout=300, check=False, env=ascii_only)
    assert done.returncode == 0 and b"Traceback" not in done.stderr
    assert next(read_records(path)).moves == ("A", "a")
    assert done.stdout.isascii() and done.stdout.endswith(b"The game is left.\n") and done.stdout.count(b"neither") == 3


def test_an_interrupted_process_ends_politely() -> None:
    command = [sys.executable, "-m", "agents.play", "oware", "--opponent", "random"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=PROJECT, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as running:
        assert running.stdin and running.stdout
        running.stdin.write("A\n")
        running.stdin.flush()
        out = ""
        while out.count("seat 0> ") < 2:  # then it is waiting for the second move
            out += running.stdout.read(1)
            assert running.poll() is None, out
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=300)
    assert running.returncode == 130 and "Traceback" not in errors and errors.endswith("stopped\n")
