"""The main job: self-play PPO, measured while it runs.

`Run.go` is the whole training, readable from top to bottom: collect, update, and now and then measure and save.
"""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any, Final

import numpy as np
import yaml
from filelock import FileLock, Timeout
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import safe_mean

from agents.network import save_network
from agents.policy import PolicyAgent
from agents.spec import NETWORK_FILE, make_agent
from envs import cli
from envs.errors import BadConfig, Diverged
from envs.files import remove_parts, write_file
from training import checkpoint
from training.arena import play_match
from training.config import CHANGEABLE, Config, changed_config, config_name, load_config, shipped_configs
from training.events import EventFile
from training.learner import NotFinite, make_games, make_learner, not_finite, prepare_torch, starting_network
from training.plots import plot_curve

PROJECT: Final = Path(__file__).resolve().parents[1]
SUMMARY: Final = "summary.json"
SUMMARY_FIELDS: Final = ("config", "commit", "plies", "seconds", "plies_per_second", "evaluations")
CURVE: Final = "curve.png"
LOCK: Final = ".lock"


class Run:
    """A training run and its folder."""

    def __init__(self, config: Config, console: Console, goes_on: bool = False) -> None:
        """A run at its beginning; it has no folder before `settle_in`. One that goes on gets its weights afterwards."""
        self.config = config
        self.commit = current_commit()
        self.console = console
        self.seconds = 0.0  # spent collecting and updating
        self.evaluations: list[dict[str, Any]] = []
        self.saved_plies = 0  # of the checkpoint
        self.stopping = False
        # Made once: a file that is gone at the third evaluation was good enough for two.
        self.opponents = [make_agent(spec, config.game, config.options) for spec in config.evaluation.opponents]
        prepare_torch()
        self.env = make_games(config)
        self.learner = make_learner(self.env, config, None if goes_on else starting_network(config))
        self.learner._setup_learn(config.plies, None)

    def settle_in(self, folder: Path, lock: FileLock | None = None) -> None:
        """The run's folder holds its config, TensorBoard's files go there, and no other process may train in it.

        Raises `BadConfig` if one already does. The lock is the folder's, if it is already held.
        """
        self.folder, self.lock = folder, lock or lock_folder(folder)
        write_file(folder / "config.yaml", yaml.safe_dump(self.config.model_dump(mode="json"), sort_keys=False))
        self.learner.set_logger(Logger(str(folder), [EventFile(folder / "tensorboard")]))

    @classmethod
    def resumed(cls, folder: Path, overrides: Sequence[str], console: Console) -> "Run":
        """A run that goes on from its last checkpoint. Raises `BadConfig`, also if another process trains in its folder."""
        if not (folder / checkpoint.FILE).is_file():
            raise BadConfig(f"no checkpoint: {folder / checkpoint.FILE} is not there")
        lock = lock_folder(folder)
        tensors, counters, facts = checkpoint.read_checkpoint(folder / checkpoint.FILE)
        run = cls(changed_config(facts["config"], overrides), console, goes_on=True)
        checkpoint.restore_learner(run.learner, tensors, counters)
        run.seconds = facts["seconds"]
        run.evaluations = facts["evaluations"]
        if run.commit not in facts["commit"].split(" + "):
            run.commit = f"{facts['commit']} + {run.commit}"
        remove_parts(folder)
        run.settle_in(folder, lock)
        return run

    def go(self) -> None:
        """The run is over: its plies are played, its minutes are up, or somebody asked it to stop. All is saved.

        Raises `OSError` for a file that cannot be written and `Diverged`; what was saved before can be resumed.
        """
        config, learner = self.config, self.learner
        until = time.monotonic() + 60 * config.max_minutes if config.max_minutes else float("inf")
        self.save()  # from here on a run that is killed can be resumed
        saved = time.monotonic()
        with self._progress() as progress:
            task = progress.add_task("", total=config.plies, completed=learner.num_timesteps, speed="")
            while learner.num_timesteps < config.plies and not self.stopping:
                before = learner.num_timesteps
                began = time.monotonic()
                self._learn()
                passed = time.monotonic() - began
                self.seconds += passed
                self._log((learner.num_timesteps - before) / passed)
                speed = f"{learner.num_timesteps / self.seconds:,.0f} plies/s"
                progress.update(task, completed=learner.num_timesteps, speed=speed)
                over = learner.num_timesteps >= config.plies
                every = config.evaluation.every_plies
                if not over and before // every < learner.num_timesteps // every:
                    self._evaluate(config.evaluation.games)
                    self.save()
                    saved = time.monotonic()
                elif time.monotonic() - saved > 60 * config.checkpoint_minutes:
                    self.save()
                    saved = time.monotonic()
                if time.monotonic() >= until:  # asked here, so that on a slow machine too a run gets on
                    break
        self.save()
        if learner.num_timesteps >= config.plies and not self.stopping and not self._is_measured():
            self._evaluate(config.evaluation.final_games)
        self.save()

    def is_finished(self) -> bool:
        """Whether all plies are played and the final evaluation has been made."""
        return self.learner.num_timesteps >= self.config.plies and self._is_measured()

    def _is_measured(self) -> bool:
        return any(evaluation["plies"] == self.learner.num_timesteps for evaluation in self.evaluations)

    def _learn(self) -> None:
        """The policy has been updated from a new rollout. Raises `Diverged`, before anything of it is saved."""
        learner = self.learner
        try:
            learner.collect()
            learner.train()
        except NotFinite as error:
            raise self._diverged(str(error)) from None
        if spoilt := not_finite(learner):
            raise self._diverged(", ".join(spoilt))

    def _diverged(self, spoilt: str) -> Diverged:
        config, plies = self.config, self.learner.num_timesteps
        rates = {name: getattr(config, name) / 2 for name in ("learning_rate", "learning_rate_end")}
        lower = " ".join(f"{name}={rate:g}" for name, rate in rates.items() if rate)
        return Diverged(
            f"update {-(-plies // config.plies_per_update):,} ({plies:,} plies): not finite: {spoilt}; saved is the run at"
            f" {self.saved_plies:,} plies, go on with a lower learning rate:"
            f" python -m training.selfplay --resume {self.folder} {lower}"
        )

    def _evaluate(self, games: int) -> None:
        """The ladder of opponents has been played, and the scores are kept and shown."""
        config = self.config
        agent = PolicyAgent("ppo", self.learner.policy.network)
        self.learner.policy.set_training_mode(False)
        for number, (spec, opponent) in enumerate(zip(config.evaluation.opponents, self.opponents, strict=True)):
            match = play_match(config.game, config.options, agent, opponent, games, self._match_seed(number))
            low, high = match.interval
            self.evaluations.append(
                {
                    "plies": self.learner.num_timesteps,
                    "seconds": round(self.seconds, 1),
                    "opponent": spec,
                    "games": match.games,
                    "score": round(match.score, 4),
                    "low": round(low, 4),
                    "high": round(high, 4),
                }
            )
            self.learner.logger.record(f"evaluation/{spec.replace(':', '_')}", match.score)
            self.console.print(
                f"{self.learner.num_timesteps:>11,} plies {self.seconds:7.0f} s   {match.score:6.1%} against {spec}"
                f"   ({low:.1%} to {high:.1%}, {match.games} games)",
                highlight=False,
                markup=False,
            )
        self.learner.logger.dump(self.learner.num_timesteps)

    def _match_seed(self, number: int) -> int:
        """The seed of the present match against the opponent of that number: other openings at every evaluation."""
        return int(np.random.SeedSequence([self.config.seed, self.learner.num_timesteps, number]).generate_state(1)[0])

    def _log(self, plies_per_second: float) -> None:
        learner = self.learner
        episodes = learner.ep_info_buffer
        if episodes:
            learner.logger.record("rollout/plies_a_game", safe_mean([episode["l"] for episode in episodes]))
            learner.logger.record("rollout/result_of_seat_0", safe_mean([episode["r"] for episode in episodes]))
        learner.logger.record("time/plies_per_second", plies_per_second)
        learner.logger.dump(learner.num_timesteps)

    def save(self) -> None:
        """Checkpoint, network, summary and curve are in the folder."""
        facts = {
            "config": self.config.model_dump(mode="json"),
            "seconds": self.seconds,
            "evaluations": self.evaluations,
            "commit": self.commit,
        }
        checkpoint.save_checkpoint(self.folder / checkpoint.FILE, self.learner, facts)
        self.saved_plies = self.learner.num_timesteps
        summary = self.summary()
        save_network(self.folder / NETWORK_FILE, self.learner.policy.network, summary)
        write_file(self.folder / SUMMARY, json.dumps(summary, indent=1) + "\n")
        plot_curve(self.folder / CURVE, summary)

    def summary(self) -> dict[str, Any]:
        """What `summary.json` holds."""
        plies = self.learner.num_timesteps
        return {
            "config": self.config.model_dump(mode="json"),
            "commit": self.commit,
            "plies": plies,
            "seconds": round(self.seconds, 1),
            "plies_per_second": round(plies / self.seconds, 1) if self.seconds else 0.0,
            "evaluations": self.evaluations,
        }

    def _progress(self) -> Progress:
        return Progress(
            TextColumn("training"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} of {task.total:,.0f} plies"),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )


def current_commit() -> str:
    """The commit of the code that runs, with `-dirty` if files differ from it; `unknown` outside a checkout of it."""
    try:
        if Path(_git("rev-parse", "--show-toplevel")).resolve() != PROJECT:
            return "unknown"
        return _git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def _git(*words: str) -> str:
    answer = subprocess.run(["git", *words], cwd=PROJECT, capture_output=True, text=True, check=True, timeout=10)
    return answer.stdout.strip()


def new_folder(config: Config, name: str) -> Path:
    """A new folder for a run: `run_dir`, or the first free `runs/<config>-<n>`. Raises `BadConfig` if it is taken."""
    if config.run_dir is not None:
        folder = Path(config.run_dir)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BadConfig(f"run_dir: {config.run_dir} exists already; resume it with --resume or name another")
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    for number in count(1):
        folder = Path("runs") / f"{name}-{number}"
        with suppress(FileExistsError):  # another run may just have taken it
            folder.mkdir(parents=True)
            break
    return folder


def lock_folder(folder: Path) -> FileLock:
    """A lock which, as long as it is kept, keeps other processes from training in the folder.

    Raises `BadConfig` if another one has it. It ends with its process, however that ends; only its empty file stays.
    """
    lock = FileLock(folder / LOCK, is_singleton=True)  # within this process, runs of one folder share it
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise BadConfig(f"another process is training in {folder}; wait for it, or stop it with Ctrl-C") from None
    return lock


@contextmanager
def _stopping_when_asked(run: Run) -> Iterator[None]:
    """Within it, the first Ctrl-C ends the run after the present update; a second one ends the process at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        run.stopping = True
        print("\nstopping after this update or evaluation (Ctrl-C again: at once) ...", file=sys.stderr, flush=True)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def go_until_asked(run: Run) -> None:
    """The run is over, or stopped as Ctrl-C asked it to. All is saved."""
    with _stopping_when_asked(run):
        run.go()


def say_where_it_is(run: Run) -> None:
    """What can be done with the run is printed, its folder last."""
    if run.is_finished():
        print(f"curve: {run.folder / CURVE}   play with: ppo:{run.folder}")
    else:
        print(f"not finished; go on with: python -m training.selfplay --resume {run.folder}")
    print(run.folder)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see its `--help`."""
    parser = cli.make_parser(
        "training.selfplay",
        "Trains an agent by self-play PPO and measures it against a ladder of opponents while it learns.\n\n"
        "The run's folder (runs/<config>-<n>, or run_dir=) holds config.yaml, checkpoint.safetensors (all that --resume\n"
        "needs), network.safetensors (to play with: ppo:FOLDER), summary.json, curve.png and TensorBoard's files. The last\n"
        "line printed is that folder. Ctrl-C saves and says how to go on. Schedules run over all of a run's plies: resumed\n"
        "with more, a run anneals again from where the longer schedule then is. Resumed, a run may be given other values\n"
        f"of {', '.join(CHANGEABLE)}.",
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--config", metavar="FILE", help=f"a YAML file, or one of: {', '.join(shipped_configs())}")
    source.add_argument("--resume", metavar="RUN", help="the folder of a run that shall go on")
    parser.add_argument("override", nargs="*", metavar="KEY=VALUE", help="replaces a value of the config: network.width=128")
    cli.add_rules(parser)
    given = parser.parse_intermixed_args(arguments)
    if given.resume is not None and given.option:
        parser.error("--option cannot change when a run is resumed")
    console = Console(soft_wrap=True)
    if given.resume is not None:
        run = Run.resumed(Path(given.resume), given.override, console)
    else:
        rules = [f"options.{option}" for option in given.option]
        config = load_config(given.config, [*given.override, *rules])
        run = Run(config, console)
        run.settle_in(new_folder(config, config_name(given.config)))
    go_until_asked(run)
    say_where_it_is(run)
    return 0


if __name__ == "__main__":
    cli.run(main, "training.selfplay")
