"""Minimax against itself: what the command of the ladder plays, writes, keeps and refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import envs
from agents.spec import make_agent
from commands import PROJECT, assert_refused, run_command
from envs.games import find_game
from training import ladder
from training.arena import play_match

LADDER = ("oware", "--depths", "1-3", "--step", "1", "--games", "20")
RESULTS = PROJECT / "docs" / "results" / "ladder"


def run(folder: Path, *arguments: str) -> dict[str, Any]:
    """What the command wrote."""
    done = run_command("training.ladder", *(arguments or LADDER), "--out", folder)
    assert (done.code, done.err) == (0, "")
    (path,) = folder.glob("*.json")
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert (folder / f"{result['game']}.md").read_text(encoding="utf-8") in done.out
    return result


def rung(**changes: Any) -> dict[str, Any]:
    """A rung as a result holds it."""
    match = {"a": "minimax:depth=3", "b": "minimax:depth=1", "games": 20, "wins": 15, "draws": 2, "losses": 3}
    numbers = {"score": 0.8, "low": 0.6, "high": 0.9, "distinct_games": 20, "seconds_per_move": [0.002, 0.001]}
    return {"deeper": 3, "shallower": 1, **match, **numbers, "commit": "unknown", **changes}


def test_every_rung_is_the_match_that_anyone_can_play(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert (result["game"], result["seed"], result["options"]) == ("oware", 0, envs.start("oware").options)
    assert [(rung["deeper"], rung["shallower"]) for rung in result["rungs"]] == [(2, 1), (3, 2)]
    for played in result["rungs"]:
        a, b = (make_agent(f"minimax:depth={played[side]}", "oware") for side in ("deeper", "shallower"))
        match = play_match("oware", {}, a, b, games=20, seed=0).as_json()
        assert match.items() <= played.items()
        assert len(played["seconds_per_move"]) == 2 and min(played["seconds_per_move"]) > 0


def test_data_table_and_picture_are_written_and_nothing_else(tmp_path: Path) -> None:
    result = run(tmp_path / "new" / "folder")
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == ["oware.json", "oware.md", "oware.svg"]
    picture = (tmp_path / "new" / "folder" / "oware.svg").read_text(encoding="utf-8")
    assert picture.rstrip().endswith("</svg>")
    lines = (tmp_path / "new" / "folder" / "oware.md").read_text(encoding="utf-8").splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["2 against 1", "3 against 2"]
    assert f"{result['rungs'][0]['score']:.1%}" in lines[2]


def test_seed_and_rules_are_those_asked_for(tmp_path: Path) -> None:
    result = run(tmp_path, *LADDER, "--seed", "5", "--option", "grand_slam=capture")
    assert (result["seed"], result["options"]["grand_slam"]) == (5, "capture")
    a, b = (make_agent(f"minimax:depth={depth}", "oware") for depth in (2, 1))
    match = play_match("oware", {"grand_slam": "capture"}, a, b, games=20, seed=5)
    assert result["rungs"][0]["score"] == round(match.score, 4)


def test_in_eiyiu_a_rung_is_a_turn(tmp_path: Path) -> None:
    result = run(tmp_path, "eiyiu", "--depths", "1-2", "--games", "2")
    assert [(rung["a"], rung["b"]) for rung in result["rungs"]] == [("minimax:turns=2", "minimax:turns=1")]
    assert "| turns |" in (tmp_path / "eiyiu.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "again"),
    [
        ((), []),
        (("--games", "10"), []),
        (("--games", "22"), [(2, 1), (3, 2)]),
        (("--seed", "1"), [(2, 1), (3, 2)]),
        (("--option", "quiet_limit=100"), [(2, 1), (3, 2)]),
        (("--depths", "1-4"), [(4, 3)]),
    ],
)
def test_only_what_is_not_there_is_played(
    arguments: tuple[str, ...], again: list[tuple[int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = run(tmp_path)
    played = []

    def noted(game: str, options: Any, a: Any, b: Any, *rest: Any, **more: Any) -> Any:
        played.append((int(a.spec[-1]), int(b.spec[-1])))
        return play_match(game, options, a, b, *rest, **more)

    monkeypatch.setattr(ladder, "play_match", noted)
    after = run(tmp_path, *LADDER, *arguments)
    assert played == again
    if again != [(2, 1), (3, 2)]:
        assert after["rungs"][:2] == before["rungs"]


def test_a_run_that_was_stopped_has_left_the_rungs_it_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(game: str, options: Any, a: Any, *rest: Any, **more: Any) -> Any:
        if a.spec == "minimax:depth=3":
            raise KeyboardInterrupt
        return play_match(game, options, a, *rest, **more)

    monkeypatch.setattr(ladder, "play_match", stopped)
    done = run_command("training.ladder", *LADDER, "--out", tmp_path)
    assert (done.code, done.out, done.err) == (130, "", "python -m training.ladder: stopped\n")
    result = json.loads((tmp_path / "oware.json").read_text(encoding="utf-8"))
    assert [rung["deeper"] for rung in result["rungs"]] == [2]
    assert len(list(tmp_path.iterdir())) == 3


# What a rung shows


@pytest.mark.parametrize(
    ("low", "high", "won"), [(0.6, 0.9, True), (0.501, 0.9, True), (0.5, 0.9, False), (0.4, 0.7, False), (0.1, 0.3, False)]
)
def test_a_rung_is_won_only_if_its_whole_interval_lies_above_one_half(low: float, high: float, won: bool) -> None:
    assert ladder.is_won(rung(low=low, high=high)) is won
    row = ladder.table({"game": "oware", "rungs": [rung(low=low, high=high)]}).splitlines()[-1]
    assert row.endswith("| yes |" if won else "| **not shown** |")


def test_a_rung_that_does_not_win_is_shown_as_such(tmp_path: Path) -> None:
    done = run_command("training.ladder", "oware", "--depths", "7-8", "--step", "1", "--games", "2", "--out", tmp_path)
    assert done.code == 0
    assert "**not shown**" in done.out and "0 of 1 rungs won" in done.out


def test_a_row_of_the_table_has_all_that_counts() -> None:
    row = ladder.table({"game": "oware", "rungs": [rung(distinct_games=19)]}).splitlines()[-1]
    assert row == "| 3 against 1 | 80.0% | 60.0% to 90.0% | 15-2-3 | 19 of 20 | 2 ms and 1 ms | yes |"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.5, "2.5 s"), (123.4, "123 s"), (0.0456, "45.6 ms"), (0.001, "1 ms"), (0.000789, "789 µs"), (1.2345e-6, "1.23 µs")],
)
def test_a_time_has_three_digits_and_a_unit_that_suits_it(seconds: float, text: str) -> None:
    assert ladder.duration(seconds) == text


@pytest.mark.parametrize(("depths", "step", "bounds"), [("1-8", 2, (1, 8)), ("3-4", 1, (3, 4)), ("10-12", 2, (10, 12))])
def test_a_range_of_depths_is_read(depths: str, step: int, bounds: tuple[int, int]) -> None:
    assert ladder.read_depths(depths, step) == bounds


# Refusals


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ((), "GAME"),
        (("chess",), "oware"),
        *((("oware", "--games", number), "--games") for number in ("3", "0", "-2", "x", "2.0", "")),
        *((("oware", "--seed", number), "--seed") for number in ("-1", "x")),
        *((("oware", "--threads", number), "--threads") for number in ("0", "x")),
        *((("oware", "--step", number), "--step") for number in ("0", "21", "x")),
        *((("oware", "--depths", text), "--depths") for text in ("", "4", "1-2", "8-1", "0-8", "-1-8", "1-x", "1-8-9")),
        (("oware", "--depths", "1-99"), "from 1 to 40"),
        (("eiyiu", "--depths", "1-99"), "turns"),
        (("oware", "--option", "speed=1"), "speed"),
        (("oware", "--option", "quiet_limit=0"), "quiet_limit"),
        (("oware", "--games", "2", "--option", "quiet_limit=3"), "0 openings"),
        (("oware", "--out"), "--out"),
        (("oware", "--speed", "3"), "--speed"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    arguments: tuple[str, ...], hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(run_command("training.ladder", *arguments), hint)
    assert not list(tmp_path.rglob("*.*"))


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    assert_refused(run_command("training.ladder", *LADDER, "--out", tmp_path / "file"), "folder")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"game": "oware"}', "mine"])
def test_a_file_that_is_no_result_is_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "oware.json"
    path.write_text(text, encoding="utf-8")
    assert_refused(run_command("training.ladder", *LADDER, "--out", tmp_path), "oware.json")
    assert path.read_text(encoding="utf-8") == text


# What is published


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_the_published_ladder_is_won_and_the_page_shows_it(game: str) -> None:
    result = json.loads((RESULTS / f"{game}.json").read_text(encoding="utf-8"))
    assert result["options"] == find_game(game).checked_options({}, batch=True)
    lowest = [rung["shallower"] for rung in result["rungs"]]
    assert lowest == ([1] if game == "eiyiu" else [1, 2, 3, 4, 5, 6])
    assert all(ladder.is_won(rung) for rung in result["rungs"])
    table = ladder.table(result)
    assert (RESULTS / f"{game}.md").read_text(encoding="utf-8") == table
    page = (PROJECT / "docs" / "ladder.md").read_text(encoding="utf-8")
    assert table in page and f"results/ladder/{game}.svg" in page and (RESULTS / f"{game}.svg").exists()


def test_the_page_names_commands_that_are_understood() -> None:
    page = (PROJECT / "docs" / "ladder.md").read_text(encoding="utf-8")
    lines = re.findall(r"^python -m training\.ladder (.+?)(?: +#.*)?$", page, re.MULTILINE)
    assert {line.split()[0] for line in lines} == set(envs.GAME_NAMES)
