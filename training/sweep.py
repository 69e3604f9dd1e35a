"""Searches for better recipes: variants of a config, each trained for the same time and measured in the same way.

Schedules run over plies. So every variant's speed is measured first, and its runs get as many plies as fit into the time.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from envs import cli
from envs.errors import BadOption
from training.config import config_name
from training.processes import side_by_side
from training.sweep_config import Sweep, Variant, load_sweep, shipped_sweeps, variants_of
from training.sweep_results import described, gather, play_control, read_plan, run_folder, write_results
from training.sweep_run import plan_variant, train_variant

FOLDER: Final = "runs/sweeps"

Task = tuple[str, Callable[..., None], tuple[Any, ...]]


def search(sweep: Sweep, variants: Sequence[Variant], folder: Path, jobs: int, progress: Progress) -> dict[str, Any]:
    """The result of the whole sweep, which the folder holds too, anew after every run. What is there is not made again."""
    _work("measuring speed", _plans(sweep, variants, folder), jobs, progress)
    write_results(folder, gather(sweep, variants, folder))
    _work(
        "training",
        _runs(sweep, variants, folder),
        jobs,
        progress,
        lambda: write_results(folder, gather(sweep, variants, folder)),
    )
    control, *others = variants
    matches: list[Task] = [
        (f"{variant.name}, seed {seed}", play_control, (variant, seed, folder, control, sweep.games))
        for seed in sweep.seeds
        for variant in others
    ]
    _work("against the control", matches, 1, progress)
    result = gather(sweep, variants, folder)
    write_results(folder, result)
    return result


def _plans(sweep: Sweep, variants: Sequence[Variant], folder: Path) -> list[Task]:
    """The variants whose speed is not known."""
    return [
        (variant.name, plan_variant, (variant.config, sweep.minutes, folder / variant.name))
        for variant in variants
        if read_plan(folder, variant, sweep.minutes) is None
    ]


def _runs(sweep: Sweep, variants: Sequence[Variant], folder: Path) -> list[Task]:
    """The runs that have yet to be made: all variants of the first seed, then all of the next."""
    plans = [read_plan(folder, variant, sweep.minutes) for variant in variants]
    return [
        (f"{variant.name}, seed {seed}", train_variant, (variant.config_of(seed, plan["plies"]), place))
        for seed in sweep.seeds
        for variant, plan in zip(variants, plans, strict=True)
        if plan and not (place := run_folder(folder, variant, seed)).exists()
    ]


def _work(name: str, tasks: Sequence[Task], jobs: int, progress: Progress, after: Callable[[], object] = lambda: None) -> None:
    """All tasks are done; their names were shown, and `after` was called after each."""
    shown = progress.add_task(name, total=len(tasks), last="")
    for done in side_by_side(tasks, jobs):
        progress.update(shown, advance=1, last=done)
        after()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see its `--help`."""
    parser = cli.make_parser(
        "training.sweep",
        "Trains variants of a config, each for the same time and with several seeds, measures the final agents against the\n"
        "same opponents on the same openings and against the agents of the first variant (the control), and says which\n"
        "differ from it by more than chance.\n\n"
        "Writes results.json, results.md and results.svg into the folder, anew after every run, and each run's files into\n"
        "FOLDER/VARIANT/seed-N. Runs that are there are not made again: the same command goes on where it was stopped, and\n"
        "more seeds or variants only add their runs.",
    )
    parser.add_argument("sweep", metavar="SWEEP", help=f"a YAML file, or one of: {', '.join(shipped_sweeps())}")
    parser.add_argument("--out", metavar="FOLDER", help=f"where the results go (default {FOLDER}/SWEEP)")
    parser.add_argument("--minutes", type=float, help="of training each run, instead of the file's")
    parser.add_argument("--seeds", type=cli.whole_number(1, 100), metavar="N", help="seeds 0 to N-1 instead of the file's")
    parser.add_argument("--jobs", type=cli.whole_number(1, 256), default=1, help="runs side by side (default 1)")
    given = parser.parse_args(arguments)
    sweep = load_sweep(given.sweep, given.minutes, given.seeds)
    variants = variants_of(sweep)
    folder = Path(given.out or Path(FOLDER) / config_name(given.sweep))
    if folder.exists() and not folder.is_dir():
        raise BadOption(f"--out must name a folder; {str(folder)!r} is a file")
    gather(sweep, variants, folder)  # refuses what was made with other settings
    folder.mkdir(parents=True, exist_ok=True)
    missing = sum(not run_folder(folder, variant, seed).exists() for variant in variants for seed in sweep.seeds)
    print(f"runs to make: {missing}, about {missing * sweep.minutes / given.jobs:,.0f} minutes of training", flush=True)
    shown = Console(stderr=True)
    parts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        with Progress(*parts, TextColumn("{task.fields[last]}"), console=shown, disable=not shown.is_terminal) as progress:
            result = search(sweep, variants, folder, given.jobs, progress)
    except KeyboardInterrupt:
        print("python -m training.sweep: stopped; the same command goes on from the runs that are finished", file=sys.stderr)
        return 130
    print(described(result), end="")
    print(f"see {folder}/results.json, .md and .svg")
    return 0


if __name__ == "__main__":
    cli.run(main, "training.sweep")
