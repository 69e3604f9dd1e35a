"""Tiny runs for tests: they train in no time, and can be stopped and compared."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from commands import Done, run_command
from training.checkpoint import read_checkpoint
from training.config import load_config
from training.selfplay import Run, new_folder

CHECKPOINT = "checkpoint.safetensors"
WRITTEN = {"checkpoint.safetensors", "config.yaml", "curve.png", "network.safetensors", "summary.json"}  # whole, or not at all
FILES = WRITTEN | {"tensorboard", ".lock"}
UPDATE = 8 * 16  # plies
TINY = [
    "games=8",
    f"plies_per_update={UPDATE}",
    "batch_size=64",
    "epochs=2",
    f"plies={4 * UPDATE}",
    "threads=1",
    "network.width=8",
    f"evaluation.every_plies={2 * UPDATE}",
    "evaluation.games=4",
    "evaluation.final_games=6",
    "evaluation.opponents=[random, minimax:depth=1]",
]


def train(folder: Path, *overrides: str) -> Done:
    """A tiny run into the folder."""
    return run_command("training.selfplay", "--config", "oware_quick", *TINY, f"run_dir={folder}", *overrides)


def resume(folder: Path, *overrides: str) -> Done:
    return run_command("training.selfplay", "--resume", folder, *overrides)


def new_run(folder: Path, *overrides: str, game: str = "oware") -> Run:
    """A tiny run at its beginning."""
    config = load_config(f"{game}_quick", [*TINY, f"run_dir={folder}", *overrides])
    run = Run(config, Console(file=io.StringIO()))
    run.settle_in(new_folder(config, "unused"))
    return run


def stop_after(run: Run, updates: int) -> Run:
    """The run, which will be asked to stop during that update."""
    update, done = run.learner.train, []

    def train() -> None:
        update()
        done.append(1)
        run.stopping = len(done) >= updates

    run.learner.train = train  # type: ignore[method-assign]
    return run


def content(folder: Path) -> tuple[dict[str, np.ndarray], Any, Any]:
    """Tensors, counters and facts of a run's checkpoint, times and folder left out."""
    tensors, counters, facts = read_checkpoint(folder / CHECKPOINT)
    facts = {**facts, "seconds": None, "commit": None, "config": {**facts["config"], "run_dir": None}}
    facts["evaluations"] = [{**evaluation, "seconds": None} for evaluation in facts["evaluations"]]
    return {name: tensor.numpy() for name, tensor in tensors.items()}, counters, facts


def assert_same_checkpoint(one: Path, other: Path) -> None:
    """Both runs stand at exactly the same place."""
    tensors, counters, facts = content(one)
    tensors_2, counters_2, facts_2 = content(other)
    assert tensors.keys() == tensors_2.keys()
    for name, array in tensors.items():
        np.testing.assert_array_equal(array, tensors_2[name], err_msg=name)
    assert counters == counters_2
    assert facts == facts_2
