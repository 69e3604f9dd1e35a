"""Searches among recipes: equal time, runs that are kept, refusals, and what is made of scores over seeds."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from matplotlib.image import imread
from rich.console import Console
from scipy import stats

import envs
from agents.spec import make_agent
from commands import PROJECT, Done, assert_refused, run_command
from envs.games import find_game
from training import sweep as command
from training.arena import play_match, wilson_interval
from training.config import Config, checked_config
from training.plots import plot_sweep
from training.processes import side_by_side
from training.sweep_config import SETTLED, Sweep, Variant, load_sweep, shipped_sweeps, variants_of
from training.sweep_results import described, dunnett_factor, gather, over_seeds
from training.sweep_run import SweepRun, whole_updates

UPDATE = 8 * 16  # plies
RESULTS = {"results.json", "results.md", "results.svg"}
TINY: dict[str, Any] = {
    "config": "oware_quick",
    "minutes": 0.001,
    "seeds": [0, 1],
    "overrides": {"games": 8, "plies_per_update": UPDATE, "batch_size": 64, "network.width": 8},
    "opponents": ["random", "minimax:depth=1"],
    "games": 4,
    "variants": {"base": {}, "deep": {"network": {"layers": 2}}},
}


def sweep_file(folder: Path, **changes: Any) -> Path:
    """A tiny sweep as a file; a change to None removes the key."""
    path = folder / "tiny.yaml"
    data = {key: value for key, value in {**TINY, **changes}.items() if value is not None}
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


def loaded(folder: Path, **changes: Any) -> tuple[Sweep, list[Variant]]:
    """A tiny sweep and its variants."""
    sweep = load_sweep(str(sweep_file(folder, **changes)))
    return sweep, variants_of(sweep)


def run(folder: Path, *arguments: str, **changes: Any) -> Done:
    """The command has run on a tiny sweep; `folder / "out"` holds what it leaves."""
    return run_command("training.sweep", sweep_file(folder, **changes), "--out", folder / "out", *arguments)


def result(folder: Path) -> dict[str, Any]:
    """What the command has written."""
    data: dict[str, Any] = json.loads((folder / "out" / "results.json").read_text(encoding="utf-8"))
    return data


def without_times(data: dict[str, Any]) -> dict[str, Any]:
    """A result as it would be on any machine, but for the rates."""
    timeless = json.loads(json.dumps(data))
    for variant in timeless["variants"]:
        for made in variant["runs"]:
            made["seconds"] = made["plies_per_second"] = None
    return dict(timeless)


def runs_in(folder: Path) -> set[str]:
    return {f"{path.parent.name}/{path.name}" for path in (folder / "out").glob("*/seed-*")}


@pytest.fixture(scope="module")
def finished_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny sweep that is over; tests only read it."""
    folder = tmp_path_factory.mktemp("sweeps")
    done = run(folder)
    assert (done.code, done.err) == (0, "")
    (folder / "printed").write_text(done.out, encoding="utf-8")
    return folder


@pytest.fixture
def finished(finished_once: Path, tmp_path: Path) -> Path:
    """A copy of the finished sweep, to do with as the test likes."""
    return Path(shutil.copytree(finished_once, tmp_path / "finished"))


# Equal time


@pytest.mark.parametrize(
    ("rate", "minutes", "update", "plies"),
    [
        (1000.0, 1.0, 100, 60_000),
        (1000.0, 0.5, 100, 30_000),
        (1000.0, 1.0, 7000, 63_000),  # 8.57 updates are nearer to 9 than to 8
        (1000.0, 1.0, 9000, 63_000),  # and 6.67 nearer to 7
        (1000.0, 1.0, 60_000, 60_000),
        (1000.0, 1.0, 50_000, 50_000),
        (10.0, 0.001, 4096, 4096),  # an update at least
    ],
)
def test_a_run_has_as_many_whole_updates_as_fit_into_its_time(rate: float, minutes: float, update: int, plies: int) -> None:
    assert whole_updates(rate, minutes, update) == plies


def test_all_seeds_of_a_variant_have_the_plies_that_its_rate_allows(finished_once: Path) -> None:
    sweep, variants = loaded(finished_once)
    rows = {row["variant"]: row for row in result(finished_once)["variants"]}
    assert set(rows) == {"base", "deep"}
    for variant in variants:
        row = rows[variant.name]
        assert row["rate"] > 0
        assert row["plies"] == whole_updates(row["rate"], sweep.minutes, UPDATE)
        assert [made["plies"] for made in row["runs"]] == [row["plies"]] * 2
        assert all(made["seconds"] >= 0 for made in row["runs"])


def test_measuring_counts_collecting_and_updating_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from training import sweep_run

    def pretends(config: Config, folder: Path) -> SweepRun:
        run = SweepRun(config, Console(quiet=True))
        assert config.evaluation.opponents == ()
        run.seconds, run.learner.num_timesteps = (100.0, 1) if config.max_minutes is None else (2.0, 500)
        return run

    monkeypatch.setattr(sweep_run, "_trained", pretends)
    (variant, *_) = loaded(tmp_path)[1]
    sweep_run.plan_variant(variant.config, 2.0, tmp_path / "base")
    plan = json.loads((tmp_path / "base" / "plan.json").read_text(encoding="utf-8"))
    assert (plan["rate"], plan["minutes"]) == (250.0, 2.0)
    assert plan["plies"] == round(250 * 120 / UPDATE) * UPDATE


def test_a_run_that_took_another_time_is_named(tmp_path: Path) -> None:
    made = invented(tmp_path, {"base": [0.5, 0.5, 0.5], "slow": [0.5, 0.5, 0.5]}, seconds={"slow": 70.0, "base": 63.0})
    text = described(made)
    assert "**Not of equal time**" in text and "slow (seed 0: 1.17 minutes)" in text and "base (seed" not in text
    assert "equal time" not in described(invented(tmp_path / "2", {"base": [0.5, 0.5, 0.5]}))


# What a sweep leaves


def test_a_sweep_leaves_its_results_and_its_runs_and_nothing_else(finished_once: Path) -> None:
    out = finished_once / "out"
    assert {path.name for path in out.iterdir()} == RESULTS | {"base", "deep"}
    assert {path.name for path in (out / "deep").iterdir()} == {"plan.json", "seed-0", "seed-1"}
    assert (out / "results.svg").read_text(encoding="utf-8").rstrip().endswith("</svg>")
    text = (out / "results.md").read_text(encoding="utf-8")
    assert text == described(result(finished_once))
    printed = (finished_once / "printed").read_text(encoding="utf-8")
    assert (
        printed.startswith("runs to make: 4, about 0 minutes")
        and text in printed
        and "results.json" in printed.splitlines()[-1]
    )


def test_the_result_has_the_shape_that_others_rely_on(finished_once: Path) -> None:
    made = result(finished_once)
    keys = ["game", "sweep", "config", "commit", "control", "preliminary", "finished", "variants"]
    assert list(made) == keys
    assert (made["game"], made["control"], made["preliminary"], made["finished"]) == ("oware", "base", True, True)
    assert Sweep(**made["sweep"]) == loaded(finished_once)[0]
    assert checked_config(made["config"]).network.width == 8
    for row in made["variants"]:
        assert list(row) == [
            *("variant", "changes", "rate", "plies", "runs"),
            *("score", "scores", "against_control", "difference", "verdict"),
        ]
        assert [made["seed"] for made in row["runs"]] == [0, 1]
        assert [score["opponent"] for score in row["scores"]] == TINY["opponents"]
        for bounds in [row["score"], *row["scores"]]:
            assert 0 <= bounds["low"] <= bounds["mean"] <= bounds["high"] <= 1 and bounds["seeds"] == 2
        for run_row in row["runs"]:
            assert list(run_row) == [
                *("seed", "commit", "plies", "seconds", "plies_per_second"),
                *("score", "scores", "against_control"),
            ]
            assert [score["games"] for score in run_row["scores"]] == [4, 4]
        assert (row["against_control"] is None) == (row["variant"] == "base")
    assert {row["variant"]: row["changes"] for row in made["variants"]} == {"base": {}, "deep": {"network.layers": 2}}


def test_every_run_has_a_summary_and_is_measured_at_its_end_alone(finished_once: Path) -> None:
    made = result(finished_once)
    for row in made["variants"]:
        for run_row in row["runs"]:
            folder = finished_once / "out" / row["variant"] / f"seed-{run_row['seed']}"
            summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
            config = checked_config(summary["config"])
            assert (config.seed, config.plies, config.threads) == (run_row["seed"], row["plies"], 1)
            assert config.network.layers == (2 if row["variant"] == "deep" else 1)
            measured = [(seen["plies"], seen["opponent"], seen["score"]) for seen in summary["evaluations"]]
            assert measured == [(row["plies"], score["opponent"], score["score"]) for score in run_row["scores"]]
            assert run_row["score"] == pytest.approx(np.mean([score["score"] for score in run_row["scores"]]), abs=1e-4)


def test_a_variants_agent_has_met_the_controls_of_the_same_seed(finished_once: Path) -> None:
    (row,) = [row for row in result(finished_once)["variants"] if row["variant"] == "deep"]
    for seed in (0, 1):
        agents = [make_agent(f"ppo:{finished_once / 'out' / name / f'seed-{seed}'}", "oware") for name in ("deep", "base")]
        match = play_match("oware", {}, agents[0], agents[1], games=4, seed=seed)
        assert row["runs"][seed]["against_control"]["score"] == match.score


def test_all_variants_of_a_seed_are_measured_on_the_same_openings(tmp_path: Path) -> None:
    one, other = loaded(tmp_path)[1]

    def openings(variant: Variant, seed: int, plies: int) -> list[int]:
        run = SweepRun(variant.config_of(seed, plies), Console(quiet=True))
        run.learner.num_timesteps = plies
        return [run._match_seed(number) for number in range(2)]

    assert openings(one, 0, UPDATE) == openings(other, 0, 2 * UPDATE)
    assert len({*openings(one, 0, UPDATE), *openings(one, 1, UPDATE)}) == 4


def test_two_runs_side_by_side_end_as_they_do_one_after_another(finished: Path, tmp_path: Path) -> None:
    for path in (finished / "out").glob("*/plan.json"):  # the same plies, whatever the machine does now
        (tmp_path / "out" / path.parent.name).mkdir(parents=True)
        shutil.copy(path, tmp_path / "out" / path.parent.name)
    done = run(tmp_path, "--jobs", "2")
    assert (done.code, done.err) == (0, "")
    assert without_times(result(tmp_path)) == without_times(result(finished))
    weights = [folder / "out" / "deep" / "seed-1" / "match.json" for folder in (tmp_path, finished)]
    assert len({json.loads(path.read_text(encoding="utf-8"))["score"] for path in weights}) == 1


# Going on


def counted(monkeypatch: pytest.MonkeyPatch, before: Callable[[int], None] = lambda number: None) -> list[str]:
    """A list that grows with every run that is made; `before` is told how many were made before."""
    made: list[str] = []
    original = command.train_variant

    def train(config: Config, folder: Path) -> None:
        before(len(made))
        original(config, folder)
        made.append(f"{folder.parent.name}/{folder.name}")

    monkeypatch.setattr(command, "train_variant", train)
    return made


@pytest.mark.parametrize(
    ("changes", "again"),
    [
        ({}, []),
        ({"seeds": [1, 0, 5]}, ["base/seed-5", "deep/seed-5"]),
        ({"variants": {**TINY["variants"], "wide": {"network.width": 16}}}, ["wide/seed-0", "wide/seed-1"]),
        ({"variants": {"base": {}}}, []),
    ],
)
def test_only_runs_that_are_not_there_are_made(
    changes: dict[str, Any], again: list[str], finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = result(finished)
    made = counted(monkeypatch)
    done = run(finished, **changes)
    assert (done.code, done.err, made) == (0, "", again)
    assert done.out.startswith(f"runs to make: {len(again)}, ")
    kept = {(row["variant"], run["seed"]): run for row in before["variants"] for run in row["runs"]}
    after = {(row["variant"], run["seed"]): run for row in result(finished)["variants"] for run in row["runs"]}
    assert all(after[key] == kept[key] for key in kept.keys() & after.keys())
    assert len(after) == len(variants_of(load_sweep(str(finished / "tiny.yaml")))) * len(changes.get("seeds", (0, 1)))


def test_a_run_that_was_removed_is_made_again_and_meets_the_control_again(finished: Path) -> None:
    before = result(finished)
    shutil.rmtree(finished / "out" / "base" / "seed-1")
    path = finished / "out" / "deep" / "seed-1" / "match.json"
    match = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**match, "score": 0.123}), encoding="utf-8")
    assert run(finished).code == 0
    assert without_times(result(finished)) == without_times(before)


def test_a_sweep_that_is_interrupted_keeps_its_runs_says_so_and_goes_on(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(number: int) -> None:
        if number == 2:
            raise KeyboardInterrupt

    for path in (finished / "out").glob("*/seed-*"):
        shutil.rmtree(path)
    with monkeypatch.context() as patch:
        counted(patch, interrupted)
        done = run(finished)
    assert done.code == 130
    assert done.err == "python -m training.sweep: stopped; the same command goes on from the runs that are finished\n"
    assert runs_in(finished) == {"base/seed-0", "deep/seed-0"}
    so_far = result(finished)
    assert not so_far["finished"] and "**Not finished**" in described(so_far)
    assert [row["verdict"] for row in so_far["variants"] if row["variant"] == "deep"] == ["one seed"]
    left = finished / "out" / "base" / ".seed-1.part"
    left.mkdir()
    (left / "config.yaml").write_text("half", encoding="utf-8")
    made = counted(monkeypatch)
    assert run(finished).code == 0
    assert made == ["base/seed-1", "deep/seed-1"]
    assert not left.exists() and result(finished)["finished"]


def test_ctrl_c_ends_runs_side_by_side_with_one_line(tmp_path: Path) -> None:
    words = ["-m", "training.sweep", str(sweep_file(tmp_path, minutes=100)), "--out", str(tmp_path / "out"), "--jobs", "2"]
    for variant in loaded(tmp_path, minutes=100)[1]:
        folder = tmp_path / "out" / variant.name
        folder.mkdir(parents=True)
        plan = {"config": variant.config.model_dump(mode="json"), "minutes": 100.0, "rate": 1e6, "plies": 10**6 * UPDATE}
        (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        until = time.monotonic() + 120
        while len(list((tmp_path / "out").glob("*/.seed-0.part/config.yaml"))) < 2 and time.monotonic() < until:
            assert process.poll() is None
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert out == "runs to make: 4, about 200 minutes of training\n"
        assert err == "python -m training.sweep: stopped; the same command goes on from the runs that are finished\n"
        assert runs_in(tmp_path) == set()
        until = time.monotonic() + 10
        while time.monotonic() < until:
            try:
                os.killpg(process.pid, 0)
                time.sleep(0.1)
            except ProcessLookupError:
                break
        else:
            pytest.fail("a process of a run lives on")
    finally:
        process.kill()


def test_a_process_that_fails_or_vanishes_is_an_error_and_not_a_wait() -> None:
    with pytest.raises(OSError, match="ended from outside"):
        list(side_by_side([("x", os._exit, (3,)), ("y", time.sleep, (0.1,))], 2))
    with pytest.raises(ValueError, match="invalid literal"):
        list(side_by_side([("x", int, ("word",))], 2))


# Refusals


@pytest.mark.parametrize(
    ("arguments", "changes"),
    [
        (("--minutes", "0.002"), {}),
        ((), {"games": 6}),
        ((), {"opponents": ["random"]}),
        ((), {"overrides": {**TINY["overrides"], "epochs": 7}}),
        ((), {"variants": {"base": {"epochs": 7}}}),
        ((), {"config": "uisge_quick"}),
    ],
)
def test_runs_of_other_settings_are_left_alone(arguments: Sequence[str], changes: dict[str, Any], finished: Path) -> None:
    before = {path: path.read_bytes() for path in (finished / "out").rglob("*.*") if path.is_file()}
    assert_refused(run(finished, *arguments, **changes), "base/plan.json", "other settings", "--out")
    assert {path: path.read_bytes() for path in (finished / "out").rglob("*.*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["plan.json", "seed-0/summary.json", "seed-0/match.json"])
@pytest.mark.parametrize("text", ["", "[]", "{}", "mine"])
def test_a_damaged_file_is_named(name: str, text: str, finished: Path) -> None:
    (finished / "out" / "deep" / name).write_text(text, encoding="utf-8")
    assert_refused(run(finished), f"deep/{name}")


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"variant": {}}, "variant: unknown key; did you mean variants?"),
        ({"zzz": 1}, "zzz: unknown key; known are config, minutes"),
        ({"config": None}, "config: "),
        ({"config": "nothing"}, "no config 'nothing'"),
        ({"config": 3}, "config: "),
        ({"opponents": None}, "opponents: "),
        *[({"opponents": value}, "opponents") for value in ([], "random", ["nobody"], ["human"], [3], ["random", "random"])],
        ({"opponents": ["minimax:depth=99"]}, "opponents: "),
        *[({"minutes": value}, "minutes: ") for value in (0, -1, "four", True, float("nan"), float("inf"), [1])],
        *[({"seeds": value}, "seeds") for value in ([], 3, [-1], ["0"], [0, 0], [1.5], [True], [1 << 32])],
        *[({"games": value}, "games: ") for value in (0, 1, 3, "x", 10_002)],
        ({"variants": {}}, "variants: there are none"),
        ({"variants": None}, "variants: there are none"),
        ({"variants": ["base"]}, "variants: "),
        ({"variants": {"base": None}}, "variants.base: "),
        ({"variants": {"base": 3}}, "variants.base: "),
        ({"variants": {0.8: {}}}, "variants.0.8"),
        *[({"variants": {name: {}}}, "variants: ") for name in ("", "..", "a/b", "a b", ".a", "-a", "x" * 101, "ä")],
        ({"variants": {"base": {}, "x": {"gama": 1}}}, "variants.x: gama: unknown key; did you mean gamma?"),
        ({"variants": {"base": {}, "x": {"gae_lambda": 8}}}, "variants.x: gae_lambda: "),
        ({"variants": {"base": {}, "x": {"network": {"widht": 8}}}}, "variants.x: network.widht: unknown key"),
        ({"variants": {"base": {}, "x": {"network": 8}}}, "variants.x: network: "),
        ({"variants": {"base": {}, "x": {"epochs.x": 8}}}, "variants.x: epochs.x: "),
        ({"variants": {"base": {}, "x": {"batch_size": 63}}}, "variants.x: batch_size: "),
        *[({"variants": {"x": {key: 1}}}, f"variants.x: {key}: a sweep settles this") for key in SETTLED],
        *[({"overrides": {key: 1}}, f"overrides: {key}: a sweep settles this") for key in SETTLED],
        ({"variants": {"x": {"evaluation": {"games": 2}}}}, "variants.x: evaluation.games: a sweep settles this"),
        ({"variants": {"x": {"options": {"quiet_limit": 50}}}}, "variants.x: options.quiet_limit: must be the same"),
        ({"overrides": {"options": {"speed": 5}}}, "overrides: options"),
        ({"overrides": {"zzz": 5}}, "overrides: zzz: unknown key"),
        ({"overrides": [1]}, "overrides: "),
        ({"grid": {"epochs": []}}, "grid.epochs: "),
        ({"grid": {"epochs": 3}}, "grid.epochs: "),
        ({"grid": {"epochs": [1, "x"]}}, "grid.epochs=x: epochs: "),
        ({"grid": {"epochs": [1, 1]}}, "grid: two variants are called epochs=1"),
        ({"grid": {"network": [{"width": 8}]}}, "grid: "),
        ({"grid": {"zzz": [1]}}, "grid.zzz=1: zzz: unknown key"),
        ({"grid": [1]}, "grid: "),
    ],
)
def test_a_bad_file_is_refused_in_one_line_that_names_the_key(changes: dict[str, Any], hint: str, tmp_path: Path) -> None:
    assert_refused(run(tmp_path, **changes), hint)
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.yaml"]


@pytest.mark.parametrize("text", ["", "just words", "- config: oware", "config: [", "1: 2", "\0"])
def test_a_file_that_is_no_sweep_is_refused_in_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    assert_refused(run_command("training.sweep", path, "--out", tmp_path / "out"), "x.yaml")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        *[(("--minutes", text), "minutes") for text in ("0", "-1", "x", "nan", "inf", "")],
        *[(("--seeds", text), "--seeds") for text in ("0", "-1", "x", "1.5", "101")],
        *[(("--jobs", text), "--jobs") for text in ("0", "x", "257")],
        (("--out",), "--out"),
        (("more",), "more"),
        (("--speed", "3"), "--speed"),
    ],
)
def test_a_bad_argument_is_refused_in_one_line(arguments: Sequence[str], hint: str, tmp_path: Path) -> None:
    assert_refused(run(tmp_path, *arguments), hint)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("changes", [{"league.opponents.greedy": 0.25}, {"league.opponents": {"greedy": 0.25}}])
def test_what_a_variant_changes_deep_inside_is_not_changed_in_later_ones(changes: dict[str, Any], tmp_path: Path) -> None:
    variants = loaded(tmp_path, variants={"base": {}, "against_greedy": changes, "wide": {"network.width": 16}})[1]
    assert [variant.config.league.opponents for variant in variants] == [{}, {"greedy": 0.25}, {}]


def test_a_sweep_that_does_not_exist_is_refused_with_those_that_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("nothing", "oware.yaml", "oware_quick", ""):
        assert_refused(run_command("training.sweep", name), "no sweep", *shipped_sweeps())
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine", encoding="utf-8")
    assert_refused(run(tmp_path), "folder")
    assert (tmp_path / "out").read_text(encoding="utf-8") == "mine"


# Variants


def test_minutes_and_seeds_may_be_given_at_the_command(tmp_path: Path) -> None:
    sweep = load_sweep(str(sweep_file(tmp_path)), minutes=2.5, seeds=3)
    assert (sweep.minutes, sweep.seeds) == (2.5, (0, 1, 2))


def test_the_first_variant_is_the_control_and_a_grid_has_every_choice(tmp_path: Path) -> None:
    grid = {"learning_rate": ["1e-3", 0.0003], "network.width": [8, 16]}
    variants = loaded(tmp_path, grid=grid)[1]
    names = [f"learning_rate={rate},network.width={width}" for rate in ("1e-3", "0.0003") for width in (8, 16)]
    assert [variant.name for variant in variants] == ["base", "deep", *names]
    assert [(v.config.learning_rate, v.config.network.width) for v in variants[2:]] == [
        (rate, width) for rate in (1e-3, 3e-4) for width in (8, 16)
    ]
    assert [variant.name for variant in loaded(tmp_path, grid=grid, variants=None)[1]] == names


def test_a_map_changes_what_it_names_and_leaves_the_rest(tmp_path: Path) -> None:
    base, deep = loaded(tmp_path)[1]
    assert (base.config.network.width, base.config.network.layers) == (8, 1)
    assert (deep.config.network.width, deep.config.network.layers) == (8, 2)
    overrides = {**TINY["overrides"], "options": {"quiet_limit": 50}}
    assert loaded(tmp_path, overrides=overrides)[1][1].config.options == {"quiet_limit": 50}


def test_a_run_has_one_thread_unless_more_are_asked_for(tmp_path: Path) -> None:
    assert loaded(tmp_path)[1][0].config.threads == 1
    assert loaded(tmp_path, overrides={**TINY["overrides"], "threads": 3})[1][0].config.threads == 3


def test_of_a_config_that_stops_early_or_has_a_folder_a_sweep_takes_neither(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("game: oware\nmax_minutes: 1\nrun_dir: somewhere\nseed: 9\n", encoding="utf-8")
    config = loaded(tmp_path, config=str(path))[1][0].config_of(3, UPDATE)
    assert (config.max_minutes, config.run_dir, config.seed, config.plies) == (None, None, 3, UPDATE)


# What is made of scores


def test_over_seeds_the_interval_is_students_over_seeds() -> None:
    rows = [{"score": score, "low": 0.0, "high": 1.0, "games": 100_000} for score in (0.4, 0.5, 0.6)]
    half = stats.t.ppf(0.975, 2) * 0.1 / np.sqrt(3)
    assert over_seeds(rows) == {"mean": 0.5, "low": round(0.5 - half, 4), "high": round(0.5 + half, 4), "seeds": 3}


def test_seeds_that_agree_leave_the_interval_that_their_games_allow() -> None:
    rows = [{"score": 0.6, "low": 0.0, "high": 1.0, "games": 100} for _ in range(3)]
    low, high = wilson_interval(0.6, 150)
    assert over_seeds(rows) == {"mean": 0.6, "low": round(low, 4), "high": round(high, 4), "seeds": 3}


def test_of_one_seed_the_interval_is_that_of_its_match() -> None:
    assert over_seeds([{"score": 0.6, "low": 0.51, "high": 0.7, "games": 100}]) == {
        "mean": 0.6,
        "low": 0.51,
        "high": 0.7,
        "seeds": 1,
    }


def test_an_interval_stays_between_none_and_all() -> None:
    rows = [{"score": score, "low": 0.0, "high": 1.0, "games": 20} for score in (0.1, 0.9)]
    assert (over_seeds(rows)["low"], over_seeds(rows)["high"]) == (0.0, 1.0)


def invented(
    folder: Path, scores: dict[str, list[float]], seconds: dict[str, float] | None = None, seeds: int | None = None
) -> dict[str, Any]:
    """The result of a sweep of a minute whose runs had these scores, one a seed, against both opponents."""
    folder.mkdir(exist_ok=True)
    numbers = list(range(seeds or max(map(len, scores.values()))))
    changes = {name: {"epochs": 1 + number} for number, name in enumerate(scores)}
    sweep, variants = loaded(folder, minutes=1.0, seeds=numbers, variants=changes, games=200)
    for variant in variants:
        place = folder / "out" / variant.name
        place.mkdir(parents=True)
        plan = {"config": variant.config.model_dump(mode="json"), "minutes": 1.0, "rate": 1000.0, "plies": 60_032}
        (place / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        for seed, score in enumerate(scores[variant.name]):
            rows = [
                {"plies": 60_032, "seconds": 60.0, "opponent": spec, "games": 200, "score": score, "low": 0.1, "high": 0.9}
                for spec in sweep.opponents
            ]
            took = (seconds or {}).get(variant.name, 60.0)
            summary = {"config": {}, "commit": "abc", "plies": 60_032, "seconds": took, "plies_per_second": 1000.0}
            (place / f"seed-{seed}").mkdir()
            text = json.dumps({**summary, "evaluations": rows})
            (place / f"seed-{seed}" / "summary.json").write_text(text, encoding="utf-8")
    return gather(sweep, variants, folder / "out")


def verdicts(made: dict[str, Any]) -> dict[str, str]:
    return {row["variant"]: row["verdict"] for row in made["variants"]}


def test_a_picture_has_differences_only_where_there_are_enough_seeds_for_them(tmp_path: Path) -> None:
    widths = []
    for seeds in (1, 2):
        made = invented(tmp_path / str(seeds), {"base": [0.5, 0.52][:seeds], "up": [0.6, 0.63][:seeds]})
        plot_sweep(tmp_path / f"{seeds}.png", made)
        widths.append(imread(tmp_path / f"{seeds}.png").shape[1])
    assert widths[1] - widths[0] == pytest.approx(2.2 * 120, abs=1)  # inches of a panel, dots an inch
    plot_sweep(tmp_path / "none.png", invented(tmp_path / "none", {"base": [], "up": []}, seeds=1))


def test_variants_are_ranked_and_only_what_is_beyond_noise_is_called_so(tmp_path: Path) -> None:
    made = invented(
        tmp_path,
        {"base": [0.50, 0.52], "up": [0.70, 0.71], "down": [0.20, 0.22], "same": [0.51, 0.53], "wild": [0.52, 0.55]},
    )
    assert [row["variant"] for row in made["variants"]] == ["up", "wild", "same", "base", "down"]
    assert verdicts(made) == {
        "up": "better",
        "down": "worse",
        "base": "control",
        "same": "no difference shown",
        "wild": "no difference shown",
    }
    (up,) = [row for row in made["variants"] if row["variant"] == "up"]
    assert up["difference"]["mean"] == pytest.approx(0.195)
    lines = [line for line in described(made).splitlines() if line.startswith("| ")][2:]
    assert [line.split("|")[1].strip() for line in lines] == ["1", "2", "3", "4", "5"]
    assert lines[0].startswith("| 1 | `up` | 0.06 M | 1.00 | 70.5% (") and lines[0].endswith("| **better** |")


def test_a_difference_within_the_spread_of_seeds_is_not_shown_however_many_games_were_played(tmp_path: Path) -> None:
    made = invented(tmp_path, {"base": [0.30, 0.60, 0.45], "other": [0.40, 0.75, 0.55]})
    assert verdicts(made)["other"] == "no difference shown"


def test_the_more_variants_are_tried_the_more_a_difference_has_to_be(tmp_path: Path) -> None:
    def width(more: int) -> float:
        scores = {"base": [0.5, 0.53], **{f"v{number}": [0.5, 0.53] for number in range(more)}, "last": [0.6, 0.63]}
        made = invented(tmp_path / str(more), scores)
        (row,) = [row for row in made["variants"] if row["variant"] == "last"]
        # Against the t-interval of one comparison with the same number of seeds.
        alone = stats.t.ppf(0.975, 2 + more) * np.std([0.5, 0.53], ddof=1)
        return float((row["difference"]["high"] - row["difference"]["low"]) / 2 / alone)

    assert width(0) == pytest.approx(1.0, abs=0.02)
    assert width(8) > 1.2


@pytest.mark.parametrize(("control", "others"), [(2, [2]), (2, [2] * 24), (3, [3] * 6), (3, [2, 3, 2])])
def test_intervals_of_differences_are_dunnetts(control: int, others: list[int]) -> None:
    freedom = control - 1 + sum(others) - len(others)
    factor = dunnett_factor(control, others, freedom)
    if len(others) == 1:
        assert factor == pytest.approx(stats.t.ppf(0.975, freedom), rel=0.02)
    # A variant so far away from the control has the library's p-value 5 %; a spread of one a variant, around its mean.
    spread = [np.linspace(-1, 1, size) for size in (control, *others)]
    deviation = np.sqrt(sum(float((sample**2).sum()) for sample in spread) / freedom)
    away = factor * deviation * np.sqrt(1 / control + 1 / others[0])
    samples = [spread[1] + away, *spread[2:]]
    assert stats.dunnett(*samples, control=spread[0], random_state=np.random.default_rng(0)).pvalue[0] == pytest.approx(
        0.05, abs=0.004
    )


def test_seeds_that_all_agree_prove_nothing(tmp_path: Path) -> None:
    assert verdicts(invented(tmp_path, {"base": [0.5, 0.5], "other": [0.9, 0.9]}))["other"] == "no difference shown"


@pytest.mark.parametrize(("seeds", "preliminary"), [(1, True), (2, True), (3, False), (4, False)])
def test_results_of_fewer_than_three_seeds_are_marked_preliminary(seeds: int, preliminary: bool, tmp_path: Path) -> None:
    made = invented(tmp_path, {"base": [0.5, 0.52, 0.51, 0.5][:seeds], "other": [0.9, 0.91, 0.92, 0.9][:seeds]})
    assert made["preliminary"] is preliminary
    assert ("**Preliminary**" in described(made)) is preliminary
    assert verdicts(made)["other"] == ("one seed" if seeds == 1 else "better")


def test_of_one_seed_nothing_is_called_better(tmp_path: Path) -> None:
    made = invented(tmp_path, {"base": [0.1], "other": [1.0]})
    assert verdicts(made) == {"other": "one seed", "base": "control"}
    assert all(row["difference"] is None for row in made["variants"])


def test_variants_without_runs_stand_last_and_the_sweep_is_not_finished(tmp_path: Path) -> None:
    made = invented(tmp_path, {"none": [], "base": [0.5, 0.52], "part": [0.6]})
    assert [row["variant"] for row in made["variants"]] == ["part", "base", "none"]
    assert not made["finished"] and made["preliminary"]
    assert "`none`" in described(made)


# What is shipped


def test_every_game_has_a_sweep() -> None:
    assert shipped_sweeps() == sorted(envs.GAME_NAMES)


@pytest.mark.parametrize("name", shipped_sweeps())
def test_a_shipped_sweep_can_run_and_covers_what_matters(name: str) -> None:
    assert load_sweep(name) == load_sweep(str(PROJECT / "configs" / "sweeps" / f"{name}.yaml"))
    variants = variants_of(load_sweep(name))
    assert variants[0].changes == {} and {variant.config.game for variant in variants} == {name}
    changed = {key for variant in variants for key in variant.changes}
    expected = {"network.width", "network.layers", "plies_per_update", "epochs", "gae_lambda", "gamma", "entropy"}
    expected |= {"opening_plies", "learning_rate", *(("shaping",) if name != "eiyiu" else ())}
    assert expected <= changed


def test_the_page_of_recipes_names_commands_that_are_understood_and_shows_what_was_found() -> None:
    page = (PROJECT / "docs" / "recipes.md").read_text(encoding="utf-8")
    lines = re.findall(r"^python -m training\.sweep (\w+) --minutes (\S+) --seeds (\d+) --jobs \d+$", page, re.MULTILINE)
    assert [name for name, *_ in lines] == list(envs.GAME_NAMES)
    sections = {section.partition("\n")[0]: section for section in page.split("\n## ")}
    for name, minutes, seeds in lines:
        section = sections[find_game(name).title]
        assert variants_of(load_sweep(name, float(minutes), int(seeds)))
        folder = PROJECT / "docs" / "results" / "sweeps" / name
        if folder.exists():
            text = described(json.loads((folder / "results.json").read_text(encoding="utf-8")))
            assert text == (folder / "results.md").read_text(encoding="utf-8")
            assert text in section and f"results/sweeps/{name}/results.svg" in section
        else:
            assert "Not measured yet." in section


def test_the_example_on_the_page_of_recipes_can_run(tmp_path: Path) -> None:
    page = (PROJECT / "docs" / "recipes.md").read_text(encoding="utf-8")
    path = tmp_path / "mine.yaml"
    path.write_text(page.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
    assert len(variants_of(load_sweep(str(path)))) == 3 + 4
