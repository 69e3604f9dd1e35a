"""Recorded games: what is written reads back and replays, and whatever was tampered with is refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import envs
from batches import facts, option_sets, random_game, random_line, some_of
from envs import BadText, Position
from envs.engine.record import Record, Recorder, read_records, write_records

pytestmark = [pytest.mark.parametrize("game", envs.GAME_NAMES), pytest.mark.jit_off]


def recorder_of(line: list[Position]) -> Recorder:
    """A recorder that has seen the line."""
    recorder = Recorder(line[0], agents=("random", "minimax:depth=2"))
    for position in line[1:]:
        recorder.play(str(position.last_move))
    return recorder


def record_of(game: str, seed: int = 0, plies: int | None = None, **options: Any) -> Record:
    """The record of a random game, or of its first plies."""
    line = random_game(game, seed, **options)
    return recorder_of(line if plies is None else line[: plies + 1]).record(seed=seed, place="Accra, Ñsawam")


def tampered(record: Record, change: Callable[[dict[str, Any]], object]) -> str:
    """The record's line, after a change to its data."""
    data = json.loads(record.to_json())
    change(data)
    return json.dumps(data)


# Round trips


def test_a_record_reads_back_as_it_was_written_and_replays_every_position(game: str) -> None:
    for options in option_sets(game, batch=False):
        recorder = recorder_of(random_game(game, seed=1, **options))
        record = Record.from_json(recorder.record(note=1).to_json())
        assert record == recorder.record(note=1)
        assert [facts(position) for position in record.replay()] == [facts(position) for position in recorder.positions]
        assert record.final() == recorder.positions[-1]


def test_a_record_holds_game_options_agents_movers_result_and_end(game: str) -> None:
    line = random_game(game, seed=2)
    record = recorder_of(line).record(tournament="first")
    assert (record.game, record.options, record.start) == (game, line[0].options, line[0].text)
    assert record.agents == ("random", "minimax:depth=2")
    assert record.moves == tuple(position.last_move for position in line[1:])
    assert record.movers == "".join(str(position.mover) for position in line[:-1])
    assert line[-1].end is not None
    assert (record.result, record.end) == (line[-1].result, line[-1].end.label)
    assert record.notes == {"tournament": "first"}


def test_an_unfinished_game_has_no_result_and_no_end(game: str) -> None:
    record = record_of(game, plies=5)
    assert (record.result, record.end) == (None, "")
    assert Record.from_json(record.to_json()).final().ply == 5


def test_a_record_without_a_move_replays_to_its_start(game: str) -> None:
    record = Recorder(envs.start(game)).record()
    assert list(Record.from_json(record.to_json()).replay()) == [envs.start(game)]


def test_a_record_that_begins_in_mid_game_replays(game: str) -> None:
    for options in option_sets(game, batch=False):
        for begin in some_of(random_game(game, seed=4, **options), 6):
            recorder = recorder_of(random_line(begin, seed=3))
            final = Record.from_json(recorder.record().to_json()).final()
            assert (final.text, final.end) == (recorder.positions[-1].text, recorder.positions[-1].end)


def test_a_file_of_records_reads_back_in_order(game: str, tmp_path: Path) -> None:
    records = [record_of(game, seed) for seed in range(5)]
    write_records(tmp_path / "games.jsonl", records)
    write_records(str(tmp_path / "same.jsonl"), iter(records))
    assert list(read_records(tmp_path / "games.jsonl")) == records
    assert list(read_records(str(tmp_path / "same.jsonl"))) == records
    assert len((tmp_path / "games.jsonl").read_text(encoding="utf-8").splitlines()) == 5


# Tampering


Change: TypeAlias = Callable[[dict[str, Any]], object]


def replace_move(move: str) -> Change:
    return lambda data: data["moves"].__setitem__(4, move)


def replace(name: str, value: object) -> Change:
    return lambda data: data.update({name: value})


def remove(name: str) -> Change:
    return lambda data: data.pop(name)


TAMPERINGS: dict[str, tuple[Change, str]] = {
    "a wrong mover": (lambda data: data.update(movers="1" + data["movers"][1:]), "ply 1: seat 0 is to move, not 1"),
    "a mover that is no seat": (lambda data: data.update(movers=data["movers"][:-1] + "7"), "is to move, not 7"),
    "a mover too many": (lambda data: data.update(movers=data["movers"] + "0"), r"\d+ moves, but \d+ movers"),
    "a mover too few": (lambda data: data.update(movers=data["movers"][:-1]), r"\d+ moves, but \d+ movers"),
    "an unknown move": (replace_move("!"), "ply 5: illegal move '!'"),
    "an empty move": (replace_move(""), "ply 5: illegal move ''"),
    "a number as a move text": (replace_move("0"), "ply 5: illegal move '0'"),
    "no last move": (lambda data: data.update(moves=data["moves"][:-1], movers=data["movers"][:-1]), "the record says"),
    "a move after the end": (
        lambda data: data.update(moves=[*data["moves"], data["moves"][0]], movers=data["movers"] + data["movers"][-2]),
        "over|to move",
    ),
    "the other result": (lambda data: data.update(result=[-part for part in data["result"]]), "the record says"),
    "no result": (lambda data: data.update(result=None), "the record says None"),
    "another end": (lambda data: data.update(end="both_stuck"), "the record says .*both_stuck"),
    "no end": (lambda data: data.pop("end"), "the record says"),
    "an unknown game": (lambda data: data.update(game="chess"), "chess"),
    "another start": (lambda data: data.update(start=data["start"] + "x"), "x"),
    "an empty start": (lambda data: data.update(start=""), "''"),
    "an unknown option": (lambda data: data["options"].update(speed=3), "speed"),
    "an option that is an argument": (lambda data: data["options"].update(strict=False), "strict"),
    "an option named game": (lambda data: data["options"].update(game="chess"), "game"),
    "an option named text": (lambda data: data["options"].update(text=""), "text"),
    "a bad option": (lambda data: data.update(options=dict.fromkeys(data["options"], -1)), "-1"),
    "an option of a wrong type": (lambda data: data.update(options={name: [1] for name in data["options"]}), r"\[1\]"),
    "an unknown key": (lambda data: data.update(winner=0), "'winner' is no part of a record"),
    "one agent": (lambda data: data.update(agents=["random"]), "'agents' must be a pair"),
    "three agents": (lambda data: data.update(agents=["random"] * 3), "'agents' must be a pair"),
    "agents that are numbers": (lambda data: data.update(agents=[1, 2]), "'agents' must be a pair"),
    "three results": (lambda data: data.update(result=[1, -1, 0]), "'result' must be a pair"),
    "results that are texts": (lambda data: data.update(result=["1", "-1"]), "'result' must be a pair"),
    "results that are fractions": (lambda data: data.update(result=[0.5, -0.5]), "'result' must be a pair"),
    "moves that are numbers": (
        lambda data: data.update(moves=[0] * len(data["moves"])),
        "'moves' must be a list of move texts",
    ),
    "moves in one text": (lambda data: data.update(moves=" ".join(data["moves"])), "'moves' has the wrong type"),
    **{f"no {name}": (remove(name), f"the record has no '{name}'") for name in ("game", "options", "start", "moves", "movers")},
    **{
        f"{name} of a wrong type": (replace(name, 3), f"'{name}' has the wrong type: 3")
        for name in ("game", "options", "start", "moves", "movers", "agents", "result", "end", "notes")
    },
}


@pytest.mark.parametrize("what", TAMPERINGS)
def test_a_tampered_record_is_refused_by_what_is_wrong(game: str, what: str) -> None:
    change, message = TAMPERINGS[what]
    record = next(record for seed in range(20) if (record := record_of(game, seed)).result != (0, 0))
    # An unknown game or option is a `BadOption` wherever it comes from.
    with pytest.raises((BadText, envs.BadOption), match=message) as refusal:
        Record.from_json(tampered(record, change)).final()
    assert "\n" not in str(refusal.value)


def test_every_mover_of_a_record_is_checked(game: str) -> None:
    record = record_of(game, seed=1)
    assert set(record.movers) <= set("012")
    for index in (*range(min(12, len(record.moves))), len(record.moves) - 1):
        right = record.movers[index]
        for wrong in set("0123") - {right}:
            change = replace("movers", record.movers[:index] + wrong + record.movers[index + 1 :])
            with pytest.raises(BadText, match=f"ply {index + 1}: seat {right} is to move, not {wrong}"):
                Record.from_json(tampered(record, change)).final()


@pytest.mark.parametrize(
    "line",
    [
        "",
        " ",
        "x",
        "{",
        "{}}",
        "[]",
        "null",
        "3",
        '"game"',
        "{'game': 'oware'}",
        "[" * 100_000,
        '{"game": NaN',
        "\x00",
        "\ufeff{}",
    ],
)
def test_what_is_no_json_object_is_refused(game: str, line: str) -> None:
    with pytest.raises(BadText, match="record") as refusal:
        Record.from_json(line)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("trailing", [" x", "{}", ",", "]", "\n{}"])
def test_text_behind_a_record_is_refused(game: str, trailing: str) -> None:
    with pytest.raises(BadText, match="record is a JSON object"):
        Record.from_json(record_of(game, plies=3).to_json() + trailing)


def test_reading_names_file_and_line_of_a_broken_record(game: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    good = record_of(game, plies=3).to_json()
    for broken in ("", "{}", good + good, good[: len(good) // 2]):
        path.write_text(f"{good}\n{good}\n{broken}\n{good}\n", encoding="utf-8")
        reading = read_records(path)
        assert [next(reading), next(reading)] == [Record.from_json(good)] * 2
        with pytest.raises(BadText, match=r"games\.jsonl, line 3: "):
            next(reading)


def test_reading_names_the_line_that_is_no_utf_8(game: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(record_of(game, plies=3).to_json().encode() + b"\n\xff\xfe\n")
    with pytest.raises(BadText, match=r"games\.jsonl"):
        list(read_records(path))


# Writing


def test_a_file_is_as_it_was_if_writing_fails_half_way(game: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    old = [record_of(game, plies=3)]
    write_records(path, old)

    def breaking() -> Iterator[Record]:
        yield record_of(game, plies=4)
        raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError, match="interrupted"):
        write_records(path, breaking())
    with pytest.raises(TypeError):
        write_records(path, [*old, Recorder(envs.start(game)).record(note=object())])
    assert list(read_records(path)) == old
    assert [file.name for file in tmp_path.iterdir()] == ["games.jsonl"]


def test_nothing_is_left_behind_if_the_file_cannot_be_replaced(game: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    (path / "in the way").mkdir(parents=True)
    with pytest.raises(OSError, match=r"games\.jsonl"):
        write_records(path, [record_of(game, plies=4)])
    assert [file.name for file in tmp_path.iterdir()] == ["games.jsonl"]
