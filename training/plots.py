"""Plots of runs and of evaluations, as PNG or whatever the file's name asks for."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure

from envs.errors import BadOption
from envs.files import replacing

SIDES: Final = ("deeper", "shallower")  # of a rung, in the order of its times


def plot_curve(path: str | os.PathLike[str], summary: Mapping[str, Any]) -> None:
    """The file shows a run's score against each opponent over the plies it was trained for, with 95 % intervals."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes: Axes = figure.subplots()
    opponents = list(dict.fromkeys(evaluation["opponent"] for evaluation in summary["evaluations"]))
    for opponent in opponents:
        points = [evaluation for evaluation in summary["evaluations"] if evaluation["opponent"] == opponent]
        plies = [point["plies"] / 1e6 for point in points]
        (line,) = axes.plot(plies, [100 * point["score"] for point in points], marker="o", label=f"against {opponent}")
        axes.fill_between(
            plies,
            [100 * point["low"] for point in points],
            [100 * point["high"] for point in points],
            alpha=0.15,
            color=line.get_color(),
        )
    axes.axhline(50, color="grey", linewidth=0.8, linestyle=":")
    axes.set_xlabel(f"million plies ({summary['plies_per_second']:,.0f} a second)")
    axes.set_ylabel("score in %, a draw counts half")
    axes.set_ylim(-2, 102)
    axes.set_title(f"{summary['config']['game']}: PPO, most probable move, no search")
    if opponents:
        axes.legend(loc="lower right")
    _save(figure, path)


def plot_ratings(path: str | os.PathLike[str], game: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """The file shows the agents' ratings with 95 % intervals, best on top."""
    figure = Figure(figsize=(8, 1.2 + 0.45 * len(rows)), layout="constrained")
    axes: Axes = figure.subplots()
    ratings = [row["rating"] for row in rows]
    errors = [
        [row["rating"] - row["low"] for row in rows],
        [row["high"] - row["rating"] for row in rows],
    ]
    axes.barh(range(len(rows)), ratings, xerr=errors, height=0.6, color="#b5793a", ecolor="#3b2113", capsize=4)
    axes.set_yticks(range(len(rows)), [row["agent"] for row in rows])
    axes.invert_yaxis()
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_xlabel("rating (400 points: odds of ten to one), 95 % intervals")
    axes.set_title(f"{game}: ratings")
    _save(figure, path)


def plot_ladder(path: str | os.PathLike[str], unit: str, result: Mapping[str, Any]) -> None:
    """The file shows each rung's score with its 95 % interval, and beside it what a move of each depth takes."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    scores, times = figure.subplots(1, 2, width_ratios=(3, 2))
    rungs = result["rungs"]
    places, shares = range(len(rungs)), [100 * rung["score"] for rung in rungs]
    errors = [[100 * abs(rung[bound] - rung["score"]) for rung in rungs] for bound in ("low", "high")]
    scores.axhline(50, color="grey", linewidth=0.8, linestyle=":")
    scores.errorbar(places, shares, yerr=errors, fmt="o", color="#b5793a", ecolor="#3b2113", capsize=4)
    scores.set_xticks(places, [f"{rung['deeper']}:{rung['shallower']}" for rung in rungs])
    scores.set_xlim(-0.6, len(rungs) - 0.4)
    scores.set_ylim(-2, 102)
    scores.set_xlabel(f"{unit} against {unit}")
    scores.set_ylabel("score of the deeper in %, 95 % intervals")
    scores.set_title(f"{result['game']}: minimax against itself")
    seconds = {rung[side]: rung["seconds_per_move"][place] for rung in rungs for place, side in enumerate(SIDES)}
    depths = sorted(seconds)
    times.semilogy(depths, [1000 * seconds[depth] for depth in depths], marker="o", color="#3b2113")
    times.set_xticks(depths)
    times.set_xlim(depths[0] - 0.5, depths[-1] + 0.5)
    times.set_xlabel(unit)
    times.set_ylabel("processor time a move in ms")
    times.grid(axis="y", linewidth=0.4)
    _save(figure, path)


def plot_sweep(path: str | os.PathLike[str], result: Mapping[str, Any]) -> None:
    """The file shows every variant's scores, best on top, and how far its mean is above the control's.

    A dot is the mean over seeds with its 95 % interval, a stroke is a seed; dotted lines are where the control is. What no
    variant has yet, as differences after a single seed, is left out.
    """
    rows = [row for row in result["variants"] if row["runs"]]
    panels = _sweep_panels(result["sweep"]["opponents"])
    panels = {name: panel for name, panel in panels.items() if not rows or any(panel[0](row)[0] for row in rows)}
    figure = Figure(figsize=(3 + 2.2 * len(panels), 1.6 + 0.32 * len(rows)), layout="constrained")
    for axes, (name, (parts, line)) in zip(figure.subplots(1, len(panels), sharey=True), panels.items(), strict=True):
        for place, row in enumerate(rows):
            score, seeds = parts(row)
            if score:
                errors = [[100 * (score["mean"] - score["low"])], [100 * (score["high"] - score["mean"])]]
                axes.errorbar(100 * score["mean"], place, xerr=errors, fmt="o", color="#3b2113", capsize=3, markersize=4)
            axes.plot([100 * seed for seed in seeds], [place] * len(seeds), "|", color="#e08a2c", markersize=9, zorder=3)
            if score and row["variant"] == result["control"]:
                line = score["mean"]
        if line is not None:
            axes.axvline(100 * line, color="grey", linewidth=0.8, linestyle=":")
        axes.set_title(name, fontsize=9)
        axes.set_yticks(range(len(rows)), [row["variant"] for row in rows])
        axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    sweep = result["sweep"]
    numbers = ", ".join(map(str, sweep["seeds"]))
    figure.suptitle(f"{result['game']}: {sweep['minutes']:g} minutes of training, seeds {numbers}", fontsize=11)
    figure.supxlabel("score in %, 95 % intervals over seeds", fontsize=9)
    _save(figure, path)


SweepPart: TypeAlias = Callable[[Mapping[str, Any]], tuple[Mapping[str, Any] | None, list[float]]]


def _sweep_panels(opponents: Sequence[str]) -> dict[str, tuple[SweepPart, float | None]]:
    """What the picture of a sweep shows side by side: of a variant's row a score with its bounds, and those of its seeds.

    Beside it stands where the control is, None if its row tells.
    """

    def against(number: int) -> SweepPart:
        return lambda row: (row["scores"][number], [run["scores"][number]["score"] for run in row["runs"]])

    def met(row: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, list[float]]:
        return row["against_control"], [run["against_control"]["score"] for run in row["runs"] if run["against_control"]]

    return {
        "mean over opponents": (lambda row: (row["score"], [run["score"] for run in row["runs"]]), None),
        **{opponent: (against(number), None) for number, opponent in enumerate(opponents)},
        "the control's agents": (met, 0.5),
        "mean above the control's": (lambda row: (row["difference"], []), 0.0),
    }


def check_plot_name(path: str) -> None:
    """Raises `BadOption` for a file whose name asks for a format that cannot be written."""
    known = FigureCanvasBase.get_supported_filetypes()
    if Path(path).suffix.lstrip(".") not in known:
        raise BadOption(f"--plot cannot draw {path!r}: its name must end in one of {', '.join(sorted(known))}")


def _save(figure: Figure, path: str | os.PathLike[str]) -> None:
    with replacing(path) as partial:
        figure.savefig(partial, format=Path(path).suffix.lstrip("."), dpi=120)
