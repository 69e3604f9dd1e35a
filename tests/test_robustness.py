"""Runs that are killed, run out of disk, lose an opponent or diverge: what was saved before is whole and goes on."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import pytest
import torch
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.summary.writer.record_writer import RecordWriter

from agents.network import load_network
from commands import PROJECT, Done, run_command
from dying import PROCESSES, hold_folder, run_until_killed, watch_writing
from envs.extras import EXTRAS
from envs.files import replacing, write_file
from learners import new_learner
from runs import CHECKPOINT, FILES, TINY, UPDATE, WRITTEN, assert_same_checkpoint, content, new_run, resume, stop_after, train
from training.checkpoint import read_checkpoint
from training.config import load_config
from training.selfplay import Run

OFTEN = "checkpoint_minutes=1e-9"  # after every update


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny run that nothing happened to; tests only read it."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    assert run_command("training.selfplay", "--config", "oware_quick", *TINY, OFTEN, f"run_dir={folder}").code == 0
    return folder


def plies(folder: Path) -> int:
    """How far the run's checkpoint is."""
    return int(read_checkpoint(folder / CHECKPOINT)[1]["num_timesteps"])


def assert_ended(done: Done, *hints: str) -> None:
    """The command ended with one line on stderr that has all the hints in it, and exit code 2."""
    assert done.code == 2 and done.err.count("\n") == 1 and "Traceback" not in done.err, done
    for hint in hints:
        assert hint in done.err, done.err


# Killed


def test_what_a_kill_at_any_step_of_writing_would_leave_goes_on_to_where_the_run_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: Path
) -> None:
    folder, kinds, reached = tmp_path / "run", dict[object, Path](), [0]

    def keep() -> None:
        left = Path(shutil.copytree(folder, tmp_path / f"left-{len(kinds)}"))
        if not (left / CHECKPOINT).exists():
            kinds[len(kinds)] = left
            return
        reached.append(plies(left))
        kind = (reached[-1], *sorted(path.name for path in left.iterdir()))
        if kind in kinds:
            shutil.rmtree(left)
        kinds.setdefault(kind, left)

    with monkeypatch.context() as patch:
        watch_writing(keep, patch.setattr)
        assert run_command("training.selfplay", "--config", "oware_quick", *TINY, OFTEN, f"run_dir={folder}").code == 0
    assert reached == sorted(reached) and set(reached) == {number * UPDATE for number in range(5)}
    leftovers = {path.name for left in kinds.values() for path in left.glob(".*.part")}
    assert leftovers == {f".{name}.part" for name in WRITTEN}
    saved = [left for left in kinds.values() if (left / CHECKPOINT).exists()]
    assert len(saved) > 15
    for left in saved[::3]:
        assert resume(left).code == 0
        assert {path.name for path in left.iterdir()} == FILES
        assert_same_checkpoint(left, whole)


def test_a_run_that_is_killed_at_random_moments_ends_where_one_does_that_never_was(whole: Path, tmp_path: Path) -> None:
    folder, rng = tmp_path / "run", random.Random(7)
    codes = [run_until_killed(folder, [*TINY, OFTEN], rng.uniform(0, 0.6)) for _ in range(3)]
    assert codes.count(-signal.SIGKILL) >= 2
    assert run_until_killed(folder, [*TINY, OFTEN], 60) == 0
    assert {path.name for path in folder.iterdir()} == FILES
    assert_same_checkpoint(folder, whole)


def test_a_run_can_be_resumed_before_its_first_update(tmp_path: Path, whole: Path) -> None:
    folder = tmp_path / "run"
    run = new_run(folder)
    run.stopping = True
    run.go()
    assert plies(folder) == 0
    assert resume(folder).code == 0
    assert_same_weights(folder, whole)


def assert_same_weights(one: Path, other: Path) -> None:
    tensors, tensors_2 = content(one)[0], content(other)[0]
    assert all((array == tensors_2[name]).all() for name, array in tensors.items())


def test_what_killed_processes_left_is_cleared_before_the_run_goes_on(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*FILES, "other"):
        (stopped / f".{name}.part").write_bytes(b"half of it")
    (stopped / "mine.part").write_bytes(b"somebody's")
    monkeypatch.setattr(Run, "go", lambda run: None)
    assert resume(stopped).code == 0
    assert {path.name for path in stopped.iterdir()} == FILES | {"mine.part"}


def test_two_processes_cannot_train_in_one_folder(stopped: Path) -> None:
    before = {name: (stopped / name).read_bytes() for name in WRITTEN}
    part = stopped / f".{CHECKPOINT}.part"
    part.write_bytes(b"what the other is just writing")
    holder = PROCESSES.Process(target=hold_folder, args=(stopped,))
    holder.start()
    try:
        while not (stopped / "held").exists() and holder.is_alive():
            time.sleep(0.01)
        assert_ended(resume(stopped, "plies=999_999"), f"another process is training in {stopped}")
        assert {name: (stopped / name).read_bytes() for name in WRITTEN} == before and part.exists()
    finally:
        holder.kill()
        holder.join()
    assert resume(stopped).code == 0


def test_a_file_is_on_the_disk_before_it_has_its_name_and_then_the_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []
    monkeypatch.setattr("os.fsync", lambda number: seen.append(os.fstat(number).st_ino))
    rename = Path.replace
    monkeypatch.setattr(Path, "replace", lambda path, target: [seen.append("renamed"), rename(path, target)][1])
    write_file(tmp_path / "x", "text")
    assert seen == [(tmp_path / "x").stat().st_ino, "renamed", tmp_path.stat().st_ino]


# No room on the disk


def fill_disk(patch: pytest.MonkeyPatch, file: Path) -> None:
    """Whatever is written under that name does not get to the disk, as nothing has room there."""
    partial, fsync = file.with_name(f".{file.name}.part"), os.fsync

    def fsync_if_room(number: int) -> None:
        if partial.exists() and os.path.samestat(os.fstat(number), partial.stat()):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(number)

    patch.setattr(os, "fsync", fsync_if_room)


@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_a_full_disk_ends_a_run_with_the_files_name_and_leaves_a_checkpoint_that_goes_on(
    name: str, stopped: Path, monkeypatch: pytest.MonkeyPatch, whole: Path
) -> None:
    before = (stopped / name).read_bytes()
    with monkeypatch.context() as patch:
        fill_disk(patch, stopped / name)
        assert_ended(resume(stopped), "No space left on device", f"'{stopped / name}'")
    assert {path.name for path in stopped.iterdir()} == FILES
    assert (stopped / name).read_bytes() == before
    assert resume(stopped).code == 0
    assert_same_weights(stopped, whole)


def test_a_full_disk_in_mid_run_leaves_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: Path
) -> None:
    folder, save, saves = tmp_path / "run", Run.save, []

    with monkeypatch.context() as patch:

        def save_until_full(run: Run) -> None:
            saves.append(1)
            if len(saves) == 4:
                fill_disk(patch, folder / CHECKPOINT)
            save(run)

        patch.setattr(Run, "save", save_until_full)
        assert_ended(train(folder, "checkpoint_minutes=1e-9"), "No space left on device", str(folder / CHECKPOINT))
    assert plies(folder) == 2 * UPDATE
    assert resume(folder).code == 0
    assert_same_checkpoint(folder, whole)


@pytest.mark.parametrize("events", [0, 1])
def test_a_full_disk_under_tensorboards_file_ends_a_run_too(
    events: int, stopped: Path, monkeypatch: pytest.MonkeyPatch, whole: Path
) -> None:
    left, write = [events], RecordWriter.write

    def write_until_full(writer: RecordWriter, data: bytes) -> None:
        left[0] -= 1
        write(writer, data if left[0] >= 0 else data[:3])
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(RecordWriter, "write", write_until_full)
        assert_ended(resume(stopped), "No space left on device", f"'{stopped / 'tensorboard'}/events.out.tfevents")
    assert plies(stopped) == 2 * UPDATE
    assert resume(stopped).code == 0
    assert_same_weights(stopped, whole)


def test_an_error_that_is_not_the_files_keeps_its_own_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="elsewhere"), replacing(tmp_path / "x"):
        (tmp_path / "elsewhere").read_text(encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=r"nowhere/x'$"):
        write_file(tmp_path / "nowhere" / "x", "text")


def test_tensorboard_reads_what_a_run_wrote(whole: Path) -> None:
    (path,) = (whole / "tensorboard").iterdir()
    events = list(EventFileLoader(str(path)).Load())
    scalars = {(value.tag, event.step) for event in events for value in event.summary.value}
    assert events[0].file_version == "brain.Event:2"
    assert {step for tag, step in scalars if tag == "train/loss"} == {UPDATE * number for number in (1, 2, 3, 4)}
    assert ("evaluation/minimax_depth=1", 4 * UPDATE) in scalars
    assert not any(tag == "train/n_updates" for tag, _ in scalars)


# An opponent that is gone


@pytest.fixture
def opponent(stopped_once: Path, tmp_path: Path) -> Path:
    """A run whose network plays, and which may be removed."""
    return Path(shutil.copytree(stopped_once, tmp_path / "opponent"))


def test_an_opponent_whose_file_goes_while_a_run_lasts_plays_on(
    tmp_path: Path, opponent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn = Run._learn
    monkeypatch.setattr(Run, "_learn", lambda run: [learn(run), shutil.rmtree(opponent, ignore_errors=True)][0])
    folder = tmp_path / "run"
    assert train(folder, f"evaluation.opponents=['ppo:{opponent}']").code == 0
    assert not opponent.exists()
    assert [row["plies"] for row in content(folder)[2]["evaluations"]] == [2 * UPDATE, 4 * UPDATE]


def test_a_run_whose_opponent_is_gone_goes_on_when_others_are_named(tmp_path: Path, opponent: Path, whole: Path) -> None:
    folder = tmp_path / "run"
    stop_after(new_run(folder, f"evaluation.opponents=['ppo:{opponent}']"), 1).go()
    shutil.rmtree(opponent)
    before = (folder / CHECKPOINT).read_bytes()
    done = resume(folder)
    assert_ended(done, "evaluation.opponents", str(opponent))
    assert done.out == "" and (folder / CHECKPOINT).read_bytes() == before
    assert resume(folder, "evaluation.opponents=[random, minimax:depth=1]").code == 0
    assert_same_weights(folder, whole)


# Numbers that are not finite


@pytest.mark.parametrize("rate", ["1e9", "1e20"])
def test_a_run_that_diverges_says_when_and_how_to_go_on_and_does(rate: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    done = train(folder, f"learning_rate={rate}", "checkpoint_minutes=1e-9")
    resumption = f"--resume {folder} learning_rate={float(rate) / 2:g}"
    assert_ended(done, f"update 1 ({UPDATE} plies)", "not finite: the loss, the weights", "at 0 plies", resumption)
    assert plies(folder) == 0
    assert all(weight.isfinite().all() for weight in load_network(folder / "network.safetensors").state_dict().values())
    assert resume(folder, "learning_rate=1e-3").code == 0
    assert plies(folder) == 4 * UPDATE
    assert content(folder)[2]["config"]["learning_rate"] == 1e-3


def test_a_weight_that_is_spoilt_later_leaves_what_was_saved_before(
    stopped: Path, monkeypatch: pytest.MonkeyPatch, whole: Path
) -> None:
    before = (stopped / CHECKPOINT).read_bytes()
    learn = Run._learn

    def spoil(run: Run) -> None:
        train = run.learner.train

        def train_and_spoil() -> None:
            train()
            with torch.no_grad():
                run.learner.policy.network.value_head.bias[0] = torch.inf

        run.learner.train = train_and_spoil  # type: ignore[method-assign]
        learn(run)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "_learn", spoil)
        lower = f"learning_rate={load_config('oware_quick').learning_rate / 2:g}"
        hints = ("update 3 (384 plies): not finite: the weights value_head.bias;", "the run at 256 plies", lower)
        assert_ended(resume(stopped), *hints)
    tensors, *facts = content(stopped)
    assert plies(stopped) == 2 * UPDATE and len(before) == (stopped / CHECKPOINT).stat().st_size
    assert all(torch.from_numpy(array).isfinite().all() for array in tensors.values()) and facts
    assert resume(stopped).code == 0
    assert_same_weights(stopped, whole)


def test_a_network_whose_answers_are_not_finite_ends_a_run_as_well(stopped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learn = Run._learn

    def inflate(run: Run) -> None:
        with torch.no_grad():  # each weight is finite, their products are not
            for weight in run.learner.policy.network.parameters():
                weight.fill_(1e30)
        learn(run)

    monkeypatch.setattr(Run, "_learn", inflate)
    assert_ended(resume(stopped), "update 3 (384 plies): not finite: the network's answers;", "the run at 256 plies")


def test_an_error_that_has_nothing_to_do_with_numbers_is_not_called_a_divergence(
    stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(run: Run) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr("training.learner.SelfPlayPPO.train", fail)
    with pytest.raises(RuntimeError, match="out of memory"):
        resume(stopped)


# What is left lying about, and what is not installed


def test_a_learner_leaves_nothing_among_the_systems_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    learner = new_learner()
    learner.collect()
    learner.train()
    assert list(tmp_path.iterdir()) == []


def run_without(package: str, tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What `python` does with these words where a package is not installed."""
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules[{package!r}] = None\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{PROJECT}"}
    return subprocess.run([sys.executable, *words], cwd=PROJECT, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("training.selfplay", "torch"),
        ("training.evaluate", "scipy"),
        ("training.ladder", "yaml"),
        ("training.benchmark", "stable_baselines3"),
        ("agents.minimax.tune", "scipy"),
        ("agents.endgames", "rich"),
    ],
)
def test_a_command_that_needs_an_extra_says_how_to_install_it(module: str, package: str, tmp_path: Path) -> None:
    done = run_without(package, tmp_path, "-m", module, "--help")
    assert (done.returncode, done.stdout) == (2, "")
    name = "training" if module.startswith("training") else module
    assert done.stderr == f"{name} needs the extra 'train': pip install 'spieltisch[train]' (there is no {package})\n"


def test_the_training_benchmark_needs_pygame_for_connect_four_alone(tmp_path: Path) -> None:
    assert run_without("pygame", tmp_path, "-m", "training.benchmark", "--help").returncode == 0
    done = run_without("pygame", tmp_path, "-m", "training.benchmark", "--connect-four")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (
        2,
        "",
        1,
    ) and "pip install 'spieltisch[render]'" in done.stderr


def test_an_import_that_needs_an_extra_is_an_import_error_that_says_so(tmp_path: Path) -> None:
    done = run_without("torch", tmp_path, "-c", "import training")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ImportError: training needs the extra 'train': pip install")


def test_what_needs_no_extra_works_without_one(tmp_path: Path) -> None:
    for module in ("agents.play", "envs.perft", "envs.benchmark", "agents.minimax.benchmark"):
        assert run_without("torch", tmp_path, "-m", module, "--help").returncode == 0, module


def test_an_extra_is_known_by_all_that_it_brings() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra, modules in EXTRAS.items():
        named = {line.partition(">")[0] for line in project["optional-dependencies"][extra]}
        assert {"pyyaml" if module == "yaml" else module.replace("_", "-") for module in modules} == named
