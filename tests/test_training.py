"""Training runs: their configs, their folders, and going on where one stopped."""

from __future__ import annotations

import errno
import io
import json
import pickle
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from rich.console import Console
from safetensors import safe_open
from safetensors.torch import save_file

import envs
from agents.network import load_network
from agents.network.symmetry import SYMMETRIES
from agents.spec import make_agent
from commands import PROJECT, Done, assert_refused, run_command
from envs import BadConfig
from runs import CHECKPOINT, FILES, TINY, UPDATE, WRITTEN, assert_same_checkpoint, content, new_run, resume, stop_after, train
from training.checkpoint import read_checkpoint
from training.config import CHANGEABLE, Config, NetworkConfig, changed_config, checked_config, load_config, shipped_configs
from training.selfplay import Run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny run that is over; tests only read it."""
    folder = tmp_path_factory.mktemp("runs") / "finished"
    assert train(folder).code == 0
    return folder


# Configs


@pytest.mark.parametrize("name", shipped_configs())
def test_a_shipped_config_is_valid_and_found_by_name_and_by_path(name: str) -> None:
    path = PROJECT / "configs" / f"{name}.yaml"
    assert load_config(name) == load_config(str(path))
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert set(data) <= set(Config.model_fields)


def test_the_configs_that_are_shipped_are_those_in_the_folder() -> None:
    assert shipped_configs() == sorted(path.stem for path in (PROJECT / "configs").glob("*.yaml")) != []


def test_overrides_replace_values_nested_ones_too() -> None:
    overrides = [
        *("plies=1_000_000", "learning_rate=7e-4", "entropy=1E-3", "clip_range=.1", "seed=7", "max_minutes=null"),
        *("network.width=64", "network.layers=0", "evaluation.opponents=[greedy]", "evaluation.games=8"),
        *("options.quiet_limit=50", "options.grand_slam=capture", "device=auto", "run_dir=some/where=else", "games=1e3"),
        "plies_per_update=32000",
        "batch_size=3200",
    ]
    config = load_config("oware_quick", overrides)
    assert (config.plies, config.learning_rate, config.entropy, config.clip_range) == (1_000_000, 7e-4, 1e-3, 0.1)
    assert (config.seed, config.max_minutes, config.games, config.device) == (7, None, 1000, "auto")
    assert (config.network.width, config.network.layers) == (64, 0)
    assert (config.evaluation.opponents, config.evaluation.games) == (("greedy",), 8)
    assert config.evaluation.final_games == load_config("oware_quick").evaluation.final_games
    assert (config.options, config.run_dir) == ({"quiet_limit": 50, "grand_slam": "capture"}, "some/where=else")


def test_options_that_are_on_or_off_may_be_overridden() -> None:
    for overrides in (["options.diagonal_jumps=true"], ["options={diagonal_jumps: true}"]):
        assert load_config("uisge_quick", overrides).options == {"diagonal_jumps": True}
    assert refusal(["options.diagonal_jumps=1"], "uisge_quick").startswith("options: ")


def test_of_two_overrides_of_a_key_the_later_counts() -> None:
    assert load_config("oware_quick", ["seed=1", "seed=2"]).seed == 2
    assert load_config("oware_quick", ["network={width: 8}", "network.layers=2"]).network == NetworkConfig(width=8, layers=2)


def test_a_rate_like_7e_4_may_stand_in_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("game: oware\nlearning_rate: 7e-4\n", encoding="utf-8")
    assert load_config(str(path)).learning_rate == 7e-4


def accepted(key: str, values: Iterable[str]) -> list[str]:
    """Those of the values that are not refused with a line that begins with their key."""
    found = []
    for value in values:
        try:
            load_config("oware_quick", [f"{key}={value}"])
        except BadConfig as refused:
            found += [] if str(refused).startswith(f"{key}: ") and "\n" not in str(refused) else [value]
        else:
            found.append(value)
    return found


def refusal(overrides: list[str], name: str = "oware_quick") -> str:
    """The line that refuses a config."""
    with pytest.raises(BadConfig) as refused:
        load_config(name, overrides)
    text = str(refused.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("override", "suggestion"),
    [
        *[("ply=5", "plies"), ("Plies=5", "plies"), ("learning-rate=1", "learning_rate"), ("option={}", "options")],
        *[("network.widht=8", "width"), ("network.layer=1", "layers"), ("evaluation.opponent=[random]", "opponents")],
        *[
            ("evaluation.every=3", "every_plies"),
            ("seeds=1", "seed"),
            ("run_folder=x", "run_dir"),
            ("entropy_coef=1", "entropy"),
        ],
    ],
)
def test_a_misspelt_key_is_named_with_the_likely_one(override: str, suggestion: str) -> None:
    text = refusal([override])
    assert text.startswith(f"{override.partition('=')[0]}: unknown key")
    assert suggestion in text


@pytest.mark.parametrize("override", ["zzz=1", "network.zzz=1", "evaluation.zzz=1", "zzz.width=1"])
def test_an_unknown_key_is_named_with_all_that_are_known(override: str) -> None:
    text = refusal([override])
    key = override.partition("=")[0].removesuffix(".width")
    assert text.startswith(f"{key}: unknown key")
    assert {"network": "layers", "evaluation": "opponents"}.get(key.partition(".")[0], "gae_lambda") in text


NUMBERS = [
    *(
        "seed",
        "plies",
        "max_minutes",
        "games",
        "plies_per_update",
        "batch_size",
        "epochs",
        "learning_rate",
        "learning_rate_end",
    ),
    *(
        "entropy",
        "entropy_end",
        "gamma",
        "gae_lambda",
        "clip_range",
        "value_coefficient",
        "max_gradient",
        "shaping",
        "repetition_cost",
        "opening_plies",
        "lead_weight",
        "draw_cost",
        "magnet",
        "magnet_updates",
    ),
    *("checkpoint_minutes", "threads", "network.width", "network.layers"),
    *("league.past", "league.snapshots", "league.snapshot_plies", "league.temperature"),
    *("evaluation.every_plies", "evaluation.games", "evaluation.final_games"),
]


def test_every_number_of_a_config_is_in_the_list_above() -> None:
    dumped = Config(game="oware").model_dump()
    found = {"max_minutes"}
    for name, value in dumped.items():
        parts = value.items() if name in ("league", "network", "evaluation") else [("", value)]
        found |= {f"{name}.{part}".strip(".") for part, inner in parts if type(inner) in (int, float)}
    assert found == set(NUMBERS)


@pytest.mark.parametrize("key", NUMBERS)
def test_what_is_no_number_or_cannot_be_is_refused_by_its_key(key: str) -> None:
    empty = [] if key == "max_minutes" else ["", "null", "~"]
    assert accepted(key, ["abc", "[1]", "{a: 1}", "-1", ".nan", "nan", "2024-01-02", *empty]) == []


def test_true_and_false_are_no_numbers() -> None:
    assert {key: taken for key in NUMBERS if (taken := accepted(key, ["true", "false"]))} == {}


@pytest.mark.parametrize("key", [key for key in NUMBERS if key not in ("max_gradient", "max_minutes", "checkpoint_minutes")])
def test_a_number_without_bounds_is_refused_by_its_key(key: str) -> None:
    assert accepted(key, [".inf", "inf", "1e400"]) == []


@pytest.mark.parametrize("key", ["plies", "games", "batch_size", "epochs", "learning_rate", "gamma", "clip_range", "threads"])
def test_what_must_not_be_nothing_is_refused_at_zero(key: str) -> None:
    assert refusal([f"{key}=0"]).startswith(f"{key}: ")


@pytest.mark.parametrize(
    "override",
    [
        *["plies=1.5", "seed=4294967296", "games=1048577", "epochs=101", "gamma=1.01", "gae_lambda=1.01", "threads=1025"],
        *[
            "network.width=7",
            "network.width=4097",
            "network.layers=33",
            "max_minutes=0",
            "max_gradient=0",
            "checkpoint_minutes=0",
        ],
        *[
            "evaluation.games=0",
            "evaluation.games=1",
            "evaluation.games=3",
            "evaluation.final_games=101",
            "evaluation.every_plies=0",
        ],
        *[
            "evaluation.opponents=random",
            "evaluation.opponents=[nobody]",
            "evaluation.opponents=[human]",
            "evaluation.opponents=[minimax]",
            "evaluation.opponents=[3]",
        ],
        *["evaluation.opponents=['ppo:nothing/there']", "evaluation.opponents=['minimax:depth=99']", "evaluation.opponents={}"],
        *["device=tpu", "device=1", "run_dir=5", "run_dir=[x]", "game=chess", "game=3", "game=", "game=[oware]"],
        *[
            "options=5",
            "options=[x]",
            "options.speed=1",
            "options.quiet_limit=0",
            "options.quiet_limit=x",
            "options.grand_slam=x",
        ],
        *["network=5", "network=big", "network=[]", "evaluation=often", "plies.x=3", "game.name=oware", "network.width.x=3"],
    ],
)
def test_a_value_that_cannot_be_is_refused_by_its_key(override: str) -> None:
    key = override.partition("=")[0]
    text = refusal([override])
    named = text.partition(":")[0]
    assert key == named or key.startswith(f"{named}.") or named.startswith(f"{key}."), text


@pytest.mark.parametrize(
    ("overrides", "key"),
    [
        (["games=100", "plies_per_update=250"], "plies_per_update"),
        (["games=64", "plies_per_update=32"], "plies_per_update"),
        (["games=64", "plies_per_update=128", "batch_size=256"], "batch_size"),
        (["games=64", "plies_per_update=128", "batch_size=96"], "batch_size"),
        (["options={repetition_limit: 0, quiet_limit: 0}"], "options"),
        (["options={quiet_limit: 3}"], "options"),  # games would be over before an evaluation's openings are
        (["evaluation.games=100000"], "evaluation.games"),  # there are not so many openings
        (["evaluation.final_games=100000"], "evaluation.final_games"),
    ],
)
def test_values_that_cannot_go_together_are_refused_before_anything_starts(overrides: list[str], key: str) -> None:
    assert refusal(overrides).startswith(key)


@pytest.mark.parametrize(
    "override", ["plies", "", "=5", "plies:5", "--plies=5", ".=1", ".plies=1", "network.=1", "network..width=8", " =1"]
)
def test_an_override_that_is_none_is_refused_in_one_line(override: str) -> None:
    refusal([override])


@pytest.mark.parametrize(
    "value", ["[", "{", "'", "2024-13-45", "!!python/object/apply:os.system ['true']", "9" * 5000, "*x", "@", "%"]
)
def test_an_override_whose_value_cannot_be_read_is_refused_by_its_key(value: str) -> None:
    assert refusal([f"plies={value}"]).startswith("plies: ")


@pytest.mark.parametrize(
    "text",
    [
        *[
            "",
            "\n",
            "# nothing",
            "just words",
            "3",
            "[game, oware]",
            "- game: oware",
            "game: [",
            "game: 'oware",
            "a: b: c",
            "\tgame: oware",
        ],
        *[
            "{",
            "game: oware\n  plies: 5",
            "1: 2\ngame: oware",
            "? [a]\n: b",
            "game: !!python/name:os.system",
            "\0",
            "game: *nothing",
        ],
        *[
            "game: oware\nplies: 2024-13-45",
            f"game: oware\nplies: {'9' * 5000}",
            "plies: 5",
            "game: oware\ngame: oware\nplies: x",
        ],
    ],
)
def test_a_file_that_is_no_config_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    refusal([], str(path))


@pytest.mark.parametrize("data", [b"\xff\xfe\0", bytes(range(256)), b"PK\3\4", b"\x80\4\x95"])
def test_a_file_that_is_no_text_is_refused_in_one_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(data)
    refusal([], str(path))


@pytest.mark.parametrize("name", ["nothing", "", ".", "/", "configs", "oware.yaml", "configs/nothing.yaml", "../oware"])
def test_a_config_that_does_not_exist_is_refused_with_those_that_do(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = refusal([], name)
    assert all(shipped in text for shipped in shipped_configs())


def test_reading_a_config_runs_nothing(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    path = tmp_path / "x.yaml"
    path.write_text(f"game: !!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['{sprung}']]\n")
    refusal([], str(path))
    assert not sprung.exists()


@pytest.mark.parametrize("data", [{}, {"game": "oware", 3: 4}, {"game": "oware", "network": None}])
def test_plain_data_that_are_no_config_are_refused(data: dict[Any, Any]) -> None:
    with pytest.raises(BadConfig) as refused:
        checked_config(data)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("key", [key for key in Config.model_fields if key not in CHANGEABLE])
def test_what_a_runs_past_depends_on_cannot_change_when_it_goes_on(key: str) -> None:
    saved = load_config("oware_quick", TINY).model_dump(mode="json")
    for override in (f"{key}=1", f"{key}.x=1"):
        with pytest.raises(BadConfig, match=f"^{key}\\b.*{'.*'.join(CHANGEABLE)}") as refused:
            changed_config(saved, [override])
        assert "\n" not in str(refused.value)


def test_what_a_runs_past_does_not_depend_on_may_change() -> None:
    config = load_config("oware_quick", TINY)
    saved = config.model_dump(mode="json")
    overrides = ["plies=9999", "max_minutes=3", "threads=3", "device=auto", "evaluation.games=2", "checkpoint_minutes=9"]
    changed = changed_config(saved, overrides)
    assert (changed.plies, changed.max_minutes, changed.threads, changed.evaluation.games) == (9999, 3, 3, 2)
    assert changed.network == config.network
    for bad in ("zzz=1", "plies=x", "evaluation.zzz=1", "plies"):
        with pytest.raises(BadConfig):
            changed_config(saved, [bad])
    assert saved == config.model_dump(mode="json")


# Whole runs


def test_a_run_leaves_its_files_and_prints_its_folder_last(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "run"
    done = train(folder)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1] == str(folder)
    assert {path.name for path in folder.iterdir()} == FILES == {path.name for path in finished.iterdir()}
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert any((folder / "tensorboard").iterdir())
    assert load_config(str(folder / "config.yaml")) == load_config("oware_quick", [*TINY, f"run_dir={folder}"])
    assert make_agent(f"ppo:{folder}", "oware").spec == f"ppo:{folder}"
    assert_same_checkpoint(folder, finished)


def test_the_summary_has_the_shape_that_others_rely_on(finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text(encoding="utf-8"))
    assert list(summary) == ["config", "commit", "plies", "seconds", "plies_per_second", "evaluations"]
    assert checked_config(summary["config"]) == load_config("oware_quick", [*TINY, f"run_dir={finished}"])
    assert summary["commit"] == "unknown" or len(summary["commit"].removesuffix("-dirty")) == 40
    assert summary["plies"] == 4 * UPDATE
    assert summary["seconds"] >= 0 and type(summary["plies_per_second"]) is float
    rows = summary["evaluations"]
    assert [(row["plies"], row["opponent"], row["games"]) for row in rows] == [
        (2 * UPDATE, "random", 4),
        (2 * UPDATE, "minimax:depth=1", 4),
        (4 * UPDATE, "random", 6),
        (4 * UPDATE, "minimax:depth=1", 6),
    ]
    for row in rows:
        assert list(row) == ["plies", "seconds", "opponent", "games", "score", "low", "high"]
        assert 0 <= row["low"] <= row["score"] <= row["high"] <= 1
        assert 0 <= row["seconds"] <= summary["seconds"]


def test_a_networks_file_says_which_run_it_comes_from(finished: Path) -> None:
    with safe_open(finished / "network.safetensors", framework="pt") as file:
        summary = json.loads(file.metadata()["summary"])
    assert summary == json.loads((finished / "summary.json").read_text(encoding="utf-8"))


def test_runs_without_a_folder_of_their_own_are_numbered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my.yaml"
    path.write_text("game: oware\n", encoding="utf-8")
    for number in (1, 2):
        done = run_command("training.selfplay", "--config", path, *TINY, f"plies={UPDATE}", "evaluation.opponents=[random]")
        assert done.out.splitlines()[-1] == f"runs/my-{number}"
        assert (tmp_path / "runs" / f"my-{number}" / CHECKPOINT).is_file()


def test_a_folder_is_printed_as_it_is_whatever_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "[red]a [b]:smile:c"
    done = train(folder, f"plies={UPDATE}", "evaluation.opponents=[random]")
    assert done.code == 0
    assert done.out.splitlines()[-1] == str(folder)


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_folder_that_holds_something_is_not_written_into(tmp_path: Path, kind: str) -> None:
    taken = tmp_path / "taken"
    inside = taken / "precious" if kind == "folder" else taken
    inside.parent.mkdir(exist_ok=True)
    inside.write_text("x", encoding="utf-8")
    assert_refused(train(taken), "run_dir", str(taken), "--resume")
    assert inside.read_text(encoding="utf-8") == "x"
    assert [path.name for path in taken.parent.rglob("*")] in (["taken", "precious"], ["taken"])


def test_an_empty_folder_may_be_used(tmp_path: Path) -> None:
    assert train(tmp_path, f"plies={UPDATE}", "evaluation.opponents=[random]").code == 0


def test_nothing_is_written_when_a_config_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for overrides in (["plies=x"], ["ply=1"], ["batch_size=63"]):
        assert_refused(train(tmp_path / "new", *overrides), overrides[0].partition("=")[0])
    assert list(tmp_path.iterdir()) == []


def test_handlers_of_signals_are_as_before_when_a_run_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from training.selfplay import main

    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    try:
        main(
            [
                "--config",
                "oware_quick",
                *TINY,
                f"plies={UPDATE}",
                "evaluation.opponents=[random]",
                f"run_dir={tmp_path / 'run'}",
            ]
        )
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])


# Going on


def test_two_updates_and_two_more_in_a_fresh_run_are_four(stopped: Path, finished: Path) -> None:
    assert read_checkpoint(stopped / CHECKPOINT)[1]["num_timesteps"] == 2 * UPDATE
    Run.resumed(stopped, [], Console(file=io.StringIO())).go()
    assert_same_checkpoint(stopped, finished)


def test_a_run_that_is_stopped_after_every_update_ends_where_one_does_that_never_was(tmp_path: Path) -> None:
    options = ["options={repetition_limit: 2, quiet_limit: 40, grand_slam: capture}", "threads=2", "seed=5"]
    options += ["magnet=0.05", "magnet_updates=3", "lead_weight=0.1", "draw_cost=0.2"]
    whole, halved = tmp_path / "whole", tmp_path / "halved"
    new_run(whole, *options).go()
    stop_after(new_run(halved, *options), 1).go()
    for updates in (2, 3, 4):
        assert read_checkpoint(halved / CHECKPOINT)[1]["num_timesteps"] == (updates - 1) * UPDATE
        stop_after(Run.resumed(halved, [], Console(file=io.StringIO())), 1).go()
    Run.resumed(halved, [], Console(file=io.StringIO())).go()  # what was stopped in its last update has yet to be measured
    assert_same_checkpoint(whole, halved)


@pytest.mark.parametrize(
    ("game", "extra"),
    [
        *((name, []) for name in envs.GAME_NAMES if name != "oware"),
        *((name, ["symmetries=true", "threads=2"]) for name in SYMMETRIES),
    ],
)
def test_a_run_of_any_game_that_is_stopped_ends_where_one_does_that_never_was(
    game: str, extra: list[str], tmp_path: Path
) -> None:
    whole, halved = tmp_path / "whole", tmp_path / "halved"
    tiny = ["evaluation.opponents=[random, greedy]", f"plies={3 * UPDATE}", *extra]
    new_run(whole, *tiny, game=game).go()
    stop_after(new_run(halved, *tiny, game=game), 1).go()
    assert read_checkpoint(halved / CHECKPOINT)[1]["num_timesteps"] == UPDATE
    Run.resumed(halved, [], Console(file=io.StringIO())).go()
    assert_same_checkpoint(whole, halved)
    assert make_agent(f"ppo:{whole}", game).spec == f"ppo:{whole}"


def test_a_run_goes_on_in_a_fresh_process_as_if_it_had_never_stopped(stopped: Path, finished: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "training.selfplay", "--resume", str(stopped)], cwd=PROJECT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(stopped)
    assert_same_checkpoint(stopped, finished)
    with (
        safe_open(stopped / "network.safetensors", framework="pt") as one,
        safe_open(finished / "network.safetensors", framework="pt") as other,
    ):
        assert all(torch.equal(one.get_tensor(name), other.get_tensor(name)) for name in one.keys())  # noqa: SIM118


def test_other_seeds_and_other_numbers_of_plies_end_elsewhere(finished: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    new_run(other, "seed=1").go()
    weights, weights_2 = content(finished)[0], content(other)[0]
    for name in ("network.embedding.weight", "games.rows", "torch_state"):
        assert (weights[name] != weights_2[name]).any()


def test_a_run_can_begin_with_the_weights_of_another_and_goes_on_without_its_file(finished: Path, tmp_path: Path) -> None:
    other, folder = tmp_path / "other.safetensors", tmp_path / "run"
    shutil.copyfile(finished / "network.safetensors", other)
    extra = (f"start={other}", "magnet=0.1", "lead_weight=0.1", "draw_cost=0.2", "league={past: 0.25}", "seed=5")
    run = new_run(folder, *extra)
    (snapshot,) = run.learner.league.snapshots.values()
    assert run.learner.magnet is not None
    for network in (run.learner.policy.network, run.learner.magnet, snapshot.agent.network):
        weights = network.state_dict()
        assert all(torch.equal(weights[name], weight) for name, weight in load_network(other).state_dict().items())
        assert "lead_head.weight" in weights
    stop_after(run, 1).go()
    other.unlink()
    Run.resumed(folder, [], Console(file=io.StringIO())).go()
    assert read_checkpoint(folder / CHECKPOINT)[1]["num_timesteps"] == 4 * UPDATE


@pytest.mark.parametrize(
    ("overrides", "hint"),
    [
        (["start=no/where"], "no/where"),
        (["start={finished}", "network.width=16"], "width 8, the run 16"),
        (["start={finished}", "network.encoding=counts"], "encoding relations, the run counts"),
        (["start={finished}", "network.layers=0"], "layers 1, the run 0"),
        (["start=7"], "start: "),
    ],
)
def test_a_network_that_a_run_cannot_begin_with_is_refused_in_one_line(
    overrides: list[str], hint: str, finished: Path, tmp_path: Path
) -> None:
    done = train(tmp_path / "run", *(override.format(finished=finished) for override in overrides))
    assert_refused(done, hint)
    assert not (tmp_path / "run").exists()


def test_a_finished_run_that_is_resumed_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    train(folder)
    before = content(folder)
    done = resume(folder)
    assert done.code == 0 and done.out.splitlines()[-1] == str(folder)
    after = content(folder)
    assert before[1:] == after[1:]
    for name, array in before[0].items():
        np.testing.assert_array_equal(array, after[0][name], err_msg=name)


def test_a_finished_run_goes_on_when_it_is_given_more_plies(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    train(folder)
    done = resume(folder, f"plies={5 * UPDATE}")
    assert done.code == 0
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["plies"] == summary["config"]["plies"] == 5 * UPDATE
    assert [row["plies"] for row in summary["evaluations"]] == [2 * UPDATE] * 2 + [4 * UPDATE] * 2 + [5 * UPDATE] * 2


def test_minutes_stop_a_run_which_says_how_to_go_on_and_does(tmp_path: Path, finished: Path) -> None:
    folder = tmp_path / "run"
    done = train(folder, "max_minutes=0.00001")
    assert done.code == 0
    *_, hint, last = done.out.splitlines()
    assert last == str(folder)
    assert f"python -m training.selfplay --resume {folder}" in hint
    assert {path.name for path in folder.iterdir()} == FILES
    assert read_checkpoint(folder / CHECKPOINT)[1]["num_timesteps"] == UPDATE  # however short the time
    assert resume(folder, "max_minutes=null").code == 0
    assert_same_checkpoint(folder, finished)


def test_keys_that_must_not_change_are_refused_and_leave_the_run_as_it_was(stopped: Path) -> None:
    before = {path: path.read_bytes() for path in stopped.glob("*.*")}
    for override in ("seed=1", "network.width=16", "games=16", "gamma=1", "game=oware", "run_dir=x", "shaping=1"):
        assert_refused(resume(stopped, override), override.partition("=")[0].partition(".")[0], "cannot change")
    for override in ("zzz=1", "plies=x", "plies"):
        assert_refused(resume(stopped, override))
    assert {path: path.read_bytes() for path in stopped.glob("*.*")} == before


@pytest.mark.parametrize("folder", ["nothing", ""])
def test_a_folder_without_a_checkpoint_cannot_be_resumed(tmp_path: Path, folder: str) -> None:
    assert_refused(resume(tmp_path / folder), CHECKPOINT)
    assert list(tmp_path.iterdir()) == []


class Trap:
    """Creates a file as soon as somebody unpickles it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("kind", ["empty", "truncated", "half", "text", "pickle", "torch", "network"])
def test_a_damaged_or_foreign_checkpoint_is_refused_and_nothing_in_it_runs(stopped: Path, kind: str) -> None:
    path, sprung = stopped / CHECKPOINT, stopped / "sprung"
    whole = path.read_bytes()
    if kind == "torch":
        torch.save({"weights": Trap(sprung)}, path)
    else:
        path.write_bytes(
            {
                "empty": b"",
                "truncated": whole[:-1],
                "half": whole[: len(whole) // 2],
                "text": b"game: oware\n",
                "pickle": pickle.dumps(Trap(sprung)),
                "network": (stopped / "network.safetensors").read_bytes(),
            }[kind]
        )
    assert_refused(resume(stopped), CHECKPOINT)
    assert not sprung.exists()


@pytest.mark.parametrize(
    "change",
    [
        *["no format", "no facts", "no counters", "facts", "counters", "config", "seconds", "evaluations", "num_timesteps"],
        *["network.bias", "optimizer.0.exp_avg", "games.rows", "torch_state", "last_observation", "shape", "shuffle_state"],
    ],
)
def test_a_checkpoint_in_which_something_is_missing_or_wrong_is_refused_in_one_line(stopped: Path, change: str) -> None:
    path = stopped / CHECKPOINT
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    facts, counters = json.loads(metadata["facts"]), json.loads(metadata["counters"])
    if change.startswith("no "):
        del metadata[change.removeprefix("no ")]
    elif change in ("facts", "counters"):
        metadata[change] = "[]"
    elif change in facts:
        del facts[change]
        metadata["facts"] = json.dumps(facts)
    elif change in counters:
        del counters[change]
        metadata["counters"] = json.dumps(counters)
    elif change == "shape":
        tensors["games.rows"] = tensors["games.rows"][:-1].clone()
    else:
        del tensors[change]
    save_file(tensors, path, metadata)
    assert_refused(resume(stopped))


def test_a_save_that_fails_half_way_leaves_the_old_checkpoint_and_nothing_else(
    stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (stopped / CHECKPOINT).read_bytes()

    def fails(path: Path, content: bytes) -> None:
        with open(path, "wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fails)
        assert_refused_after_output(resume(stopped), f"No space left on device: '{stopped / CHECKPOINT}'")
    assert (stopped / CHECKPOINT).read_bytes() == before
    assert {path.name for path in stopped.iterdir()} == FILES
    assert resume(stopped).code == 0


def assert_refused_after_output(done: Done, hint: str) -> None:
    """The command had begun its work, then said in one line what went wrong."""
    assert done.code == 2 and done.err.count("\n") == 1 and hint in done.err, done


def test_what_a_killed_process_left_half_written_is_ignored(stopped: Path, finished: Path) -> None:
    for name in WRITTEN:
        (stopped / f"{name}.part").write_bytes(b"half of it")
        (stopped / f".{name}.part").write_bytes(b"half of it")
    assert resume(stopped).code == 0
    assert_same_checkpoint(stopped, finished)


def has_learned(folder: Path) -> bool:
    """Whether a run has saved more than its beginning."""
    summary = folder / "summary.json"
    return summary.exists() and json.loads(summary.read_text(encoding="utf-8"))["plies"] > 0


def test_ctrl_c_saves_says_how_to_go_on_and_the_run_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = ["-m", "training.selfplay", "--config", "oware_quick", *TINY, "plies=1_000_000_000", f"run_dir={folder}"]
    process = subprocess.Popen(
        [sys.executable, *command, "evaluation.every_plies=1_000_000_000", "checkpoint_minutes=0.0001"],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until = time.monotonic() + 60
        while not has_learned(folder) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, err
    *_, hint, last = out.splitlines()
    assert (last, hint) == (str(folder), f"not finished; go on with: python -m training.selfplay --resume {folder}")
    assert "Traceback" not in err and "stopping" in err
    assert {path.name for path in folder.iterdir()} == FILES
    plies = read_checkpoint(folder / CHECKPOINT)[1]["num_timesteps"]
    assert plies > 0 and plies % UPDATE == 0
    assert resume(folder, f"plies={plies + UPDATE}", "evaluation.opponents=[random]").code == 0
    assert read_checkpoint(folder / CHECKPOINT)[1]["num_timesteps"] == plies + UPDATE
