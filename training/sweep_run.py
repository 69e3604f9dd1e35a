"""The runs of a sweep: how long each has to be, and the run itself."""

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from rich.console import Console

from envs.files import write_file
from training.config import Config
from training.selfplay import Run, current_commit

PLAN: Final = "plan.json"  # in a variant's folder
MEASURED: Final = 0.03  # of the time of a run, spent on finding out how fast it is
MEASURED_MINUTES: Final = (0.005, 0.25)  # at least and at most
ENDLESS: Final = 1 << 40  # plies


class SweepRun(Run):
    """A run whose openings, when it is measured, are those of all variants with its seed."""

    def _match_seed(self, number: int) -> int:
        return int(np.random.SeedSequence([self.config.seed, number]).generate_state(1)[0])


def whole_updates(plies_per_second: float, minutes: float, plies_per_update: int) -> int:
    """The plies of a run that takes about so long, a multiple of an update's and no less than one update."""
    return max(1, round(60 * minutes * plies_per_second / plies_per_update)) * plies_per_update


def plan_variant(config: Config, minutes: float, folder: Path) -> None:
    """The variant's folder holds a plan: how fast it trains here and now, and how many plies fit into the minutes.

    The config is that of one update, which is the warm-up.
    """
    low, high = MEASURED_MINUTES
    unmeasured = {"evaluation": config.evaluation.model_copy(update={"opponents": ()})}
    timed = {"plies": ENDLESS, "max_minutes": min(max(low, MEASURED * minutes), high)}
    with TemporaryDirectory() as scratch:
        _trained(config.model_copy(update=unmeasured), Path(scratch))
        run = _trained(config.model_copy(update=unmeasured | timed), Path(scratch))
    rate = run.learner.num_timesteps / run.seconds
    plan = {
        "config": config.model_dump(mode="json"),
        "commit": current_commit(),
        "minutes": minutes,
        "rate": round(rate, 1),
        "plies": whole_updates(rate, minutes, config.plies_per_update),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / PLAN, json.dumps(plan, indent=1) + "\n")


def train_variant(config: Config, folder: Path) -> None:
    """The folder holds a finished run; it is not there before. What a run that was stopped has left is thrown away."""
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    _trained(config, part)
    part.rename(folder)


def _trained(config: Config, folder: Path) -> Run:
    run = SweepRun(config, Console(quiet=True))
    run.settle_in(folder)
    run.go()
    run.learner.logger.close()
    return run
