"""What a sweep has found: read from its runs' folders, put together over seeds, as data, as tables and as a picture.

Scores vary from one training seed to the next by more than the games of a match tell. So intervals are over seeds wherever
there are two or more.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from math import sqrt
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy import stats

from agents.policy import PolicyAgent
from agents.spec import NETWORK_FILE
from envs.errors import BadConfig
from envs.files import read_fields, write_file
from training import markdown
from training.arena import CONFIDENCE, play_match, wilson_interval
from training.config import checked_config
from training.plots import plot_sweep
from training.selfplay import SUMMARY, SUMMARY_FIELDS
from training.sweep_config import Sweep, Variant
from training.sweep_run import PLAN

MATCH: Final = "match.json"  # against the control's agent, in a run's folder
FIRM: Final = 3  # seeds; results of fewer are preliminary
DRAWS: Final = 200_000  # the factor is then within 1 % or so
EQUAL: Final = 1e-9  # scores that differ by less are the same
TOLERANCE: Final = 0.1  # of the time asked for, by which a run may miss it unmentioned

Row = dict[str, Any]


def run_folder(folder: Path, variant: Variant, seed: int) -> Path:
    """Where a run is kept."""
    return folder / variant.name / f"seed-{seed}"


def read_plan(folder: Path, variant: Variant, minutes: float) -> Row | None:
    """The variant's rate and plies, None if they have yet to be found out.

    Raises `BadConfig` if the folder is of a variant with another config or of another length.
    """
    path = folder / variant.name / PLAN
    if not path.exists():
        return None
    plan = _read(path, ("config", "minutes", "rate", "plies"))
    try:
        same = plan["minutes"] == minutes and checked_config(plan["config"]) == variant.config
    except BadConfig:  # of a version that knew other keys
        same = False
    if not same:
        raise BadConfig(f"{path} is of a sweep with other settings; name another folder with --out")
    return plan


def play_control(variant: Variant, seed: int, folder: Path, control: Variant, games: int) -> None:
    """The run's agent has met the control's of the same seed; the match is kept beside it, and not played again."""
    places = [run_folder(folder, which, seed) for which in (variant, control)]
    networks = [_digest(place / NETWORK_FILE) for place in places]
    path = places[0] / MATCH
    if path.exists() and _read(path, ("networks",))["networks"] == networks:
        return
    config = variant.config
    one, other = (
        PolicyAgent.from_file(which.name, place / NETWORK_FILE, config.game, config.options)
        for which, place in zip((variant, control), places, strict=True)
    )
    match = play_match(config.game, config.options, one, other, games, seed)
    write_file(path, json.dumps({**match.as_json(), "networks": networks}, indent=1) + "\n")


def gather(sweep: Sweep, variants: Sequence[Variant], folder: Path) -> Row:
    """All that the finished runs in the folder tell, best variant first; what `results.json` holds."""
    rows = [_variant_row(variant, sweep, folder) for variant in variants]
    control = rows[0]
    finished = [row for row in rows if row["runs"]]
    for row, difference in _differences(control, [row for row in finished if row is not control]):
        row["difference"] = difference
    for row in rows:
        row["verdict"] = "control" if row is control else _verdict(row)
    rows.sort(key=lambda row: -row["score"]["mean"] if row["runs"] else 1.0)
    commits = dict.fromkeys(run["commit"] for row in finished for run in row["runs"])
    return {
        "game": variants[0].config.game,
        "sweep": sweep.model_dump(mode="json"),
        "config": variants[0].config_of(sweep.seeds[0], control["plies"] or 1).model_dump(mode="json"),
        "commit": " + ".join(commits),
        "control": control["variant"],
        "preliminary": min(len(row["runs"]) for row in rows) < FIRM,
        "finished": all(len(row["runs"]) == len(sweep.seeds) for row in rows),
        "variants": rows,
    }


def _variant_row(variant: Variant, sweep: Sweep, folder: Path) -> Row:
    plan = read_plan(folder, variant, sweep.minutes) or {"rate": None, "plies": None}
    runs = [row for seed in sweep.seeds if (row := _run_row(run_folder(folder, variant, seed), seed, sweep))]
    row = {
        "variant": variant.name,
        "changes": dict(variant.changes),
        "rate": plan["rate"],
        "plies": plan["plies"],
        "runs": runs,
        "score": None,
        "scores": [],
        "against_control": None,
        "difference": None,
    }
    if runs:
        row["score"] = over_seeds([_mean_row(run["scores"]) for run in runs])
        by_opponent = zip(*(run["scores"] for run in runs), strict=True)
        row["scores"] = [{"opponent": scores[0]["opponent"], **over_seeds(scores)} for scores in by_opponent]
        met = [run["against_control"] for run in runs if run["against_control"]]
        row["against_control"] = over_seeds(met) if met else None
    return row


def _run_row(folder: Path, seed: int, sweep: Sweep) -> Row | None:
    """What a run's summary tells, None if the run has not been made."""
    if not folder.exists():
        return None
    summary = _read(folder / SUMMARY, SUMMARY_FIELDS)
    scores = [{key: row[key] for key in ("opponent", "games", "score", "low", "high")} for row in summary["evaluations"]]
    asked = [(opponent, sweep.games) for opponent in sweep.opponents]
    if [(row["opponent"], row["games"]) for row in scores] != asked:
        raise BadConfig(f"{folder} was measured otherwise than the sweep asks for; name another folder with --out")
    match = _read(folder / MATCH, ("games", "score", "low", "high")) if (folder / MATCH).exists() else None
    return {
        "seed": seed,
        **{key: summary[key] for key in ("commit", "plies", "seconds", "plies_per_second")},
        "score": round(_mean_row(scores)["score"], 4),
        "scores": scores,
        "against_control": match and {key: match[key] for key in ("games", "score", "low", "high")},
    }


def _mean_row(scores: Sequence[Row]) -> Row:
    """A run's score, averaged over its opponents."""
    mean, games = float(np.mean([row["score"] for row in scores])), sum(row["games"] for row in scores)
    low, high = wilson_interval(mean, games // 2)
    return {"score": mean, "low": low, "high": high, "games": games}


def over_seeds(rows: Sequence[Row]) -> Row:
    """`{mean, low, high, seeds}` of one score for every seed: a 95 % t-interval over the seeds.

    It is never narrower than Wilson's over all pairs of games. Of one seed it is the score's own interval, which says
    nothing about other seeds.
    """
    scores = np.array([row["score"] for row in rows])
    mean, (low, high) = float(scores.mean()), (rows[0]["low"], rows[0]["high"])
    if len(rows) > 1:
        half = stats.t.ppf((1 + CONFIDENCE) / 2, len(rows) - 1) * scores.std(ddof=1) / sqrt(len(rows))
        bounds = wilson_interval(mean, sum(row["games"] for row in rows) // 2)
        low, high = max(0.0, min(bounds[0], mean - half)), min(1.0, max(bounds[1], mean + half))
    return {"mean": round(mean, 4), "low": round(float(low), 4), "high": round(float(high), 4), "seeds": len(rows)}


def _differences(control: Row, others: Sequence[Row]) -> list[tuple[Row, Row]]:
    """The variants of two or more seeds, each with `{mean, low, high}`: by how much its mean score is above the control's.

    The intervals are Dunnett's (1955): all variants are held against one control, so that the chance that any of the
    intervals misses its difference is 5 %. They take it that all variants vary alike from seed to seed.
    """
    compared = [row for row in others if len(row["runs"]) > 1]
    if not compared or len(control["runs"]) < 2:
        return []
    base, *samples = (_run_means(row) for row in [control, *compared])
    freedom = sum(len(sample) - 1 for sample in [base, *samples])
    deviation = sqrt(sum(((sample - sample.mean()) ** 2).sum() for sample in [base, *samples]) / freedom)
    if deviation < EQUAL:
        return []  # nothing tells how much seeds vary
    factor = dunnett_factor(len(base), [len(sample) for sample in samples], freedom)
    rows = []
    for sample in samples:
        middle, half = sample.mean() - base.mean(), factor * deviation * sqrt(1 / len(sample) + 1 / len(base))
        bounds = {"mean": middle, "low": middle - half, "high": middle + half}
        rows.append({name: round(float(value), 4) for name, value in bounds.items()})
    return list(zip(compared, rows, strict=True))


def dunnett_factor(control: int, others: Sequence[int], freedom: int) -> float:
    """Of how many standard errors 95 % intervals of all differences from one control have to be, given the sizes of samples.

    It is drawn, as the distribution of the greatest of the differences has no closed form. `scipy.stats.dunnett` has the
    same intervals, but looks for them with a search that its own noise can lead astray.
    """
    rng = np.random.default_rng(0)
    sizes = np.array(others)
    means = rng.standard_normal((DRAWS, len(others))) / np.sqrt(sizes)
    base = rng.standard_normal((DRAWS, 1)) / sqrt(control)
    deviations = np.sqrt(rng.chisquare(freedom, (DRAWS, 1)) / freedom)
    standardised = np.abs(means - base) / np.sqrt(1 / sizes + 1 / control) / deviations
    return float(np.quantile(standardised.max(axis=1), CONFIDENCE))


def _run_means(row: Row) -> np.ndarray:
    return np.array([_mean_row(run["scores"])["score"] for run in row["runs"]])


def _verdict(row: Row) -> str:
    if not row["runs"]:
        return "not run yet"
    if len(row["runs"]) == 1:
        return "one seed"
    difference = row["difference"]
    if difference is None or difference["low"] <= 0 <= difference["high"]:
        return "no difference shown"
    return "better" if difference["low"] > 0 else "worse"


def _read(path: Path, keys: Sequence[str]) -> Row:
    """A file of ours. Raises `BadConfig` if it is none, or damaged."""
    return read_fields(path, keys, "; remove its folder to make it anew")


def _digest(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()


# Tables


def described(result: Mapping[str, Any]) -> str:
    """The result in Markdown: what was compared, a table, and how to read it."""
    sweep = result["sweep"]
    seeds = ", ".join(map(str, sweep["seeds"]))
    parts = [
        f"Sweep of `{sweep['config']}`: {sweep['minutes']:g} minutes of training a run, seeds {seeds};"
        f" {sweep['games']} games against each opponent; commit {result['commit'] or 'unknown'}.",
        *_warnings(result),
        _table(result),
        "Mean: over the opponents. Intervals are 95 % t-intervals over seeds (of one seed: over games alone), never narrower\n"
        "than Wilson's over pairs of games. *Against control*: games against the control's agent of the same seed. *Above\n"
        "control*: the difference of means in points, with Dunnett's intervals, which hold for all variants at once.",
    ]
    return "\n\n".join(parts) + "\n"


def _warnings(result: Mapping[str, Any]) -> list[str]:
    """What a reader has to know before the table."""
    found = []
    if not result["finished"]:
        found.append("**Not finished**: some runs have yet to be made.")
    if result["preliminary"]:
        found.append(f"**Preliminary**: fewer than {FIRM} seeds.")
    asked = 60 * result["sweep"]["minutes"]
    late = [
        f"{row['variant']} (seed {run['seed']}: {run['seconds'] / 60:.2f} minutes)"
        for row in result["variants"]
        for run in row["runs"]
        if abs(run["seconds"] - asked) > TOLERANCE * asked
    ]
    if late:
        found.append(f"**Not of equal time**, by more than {TOLERANCE:.0%}: {', '.join(late)}.")
    return found


def _table(result: Mapping[str, Any]) -> str:
    opponents = result["sweep"]["opponents"]
    headings = ["", "variant", "plies", "minutes", "mean", *opponents, "against control", "above control", ""]
    lines = []
    for rank, row in enumerate(result["variants"], 1):
        seconds = [run["seconds"] for run in row["runs"]]
        scores = row["scores"] or [None] * len(opponents)
        cells = [
            str(rank) if row["runs"] else "",
            f"`{row['variant']}`",
            f"{row['plies'] / 1e6:.2f} M" if row["plies"] else "",
            f"{np.mean(seconds) / 60:.2f}" if seconds else "",
            *(markdown.score(score, "mean") for score in [row["score"], *scores, row["against_control"]]),
            _difference(row["difference"]),
            f"**{row['verdict']}**" if row["verdict"] in ("better", "worse") else row["verdict"],
        ]
        lines.append(cells)
    return markdown.table(headings, lines)


def _difference(row: Row | None) -> str:
    return f"{100 * row['mean']:+.1f} ({100 * row['low']:+.1f} to {100 * row['high']:+.1f})" if row else ""


def write_results(folder: Path, result: Mapping[str, Any]) -> None:
    """The folder holds the result as JSON, in Markdown and as a picture."""
    write_file(folder / "results.json", json.dumps(result, indent=1) + "\n")
    write_file(folder / "results.md", described(result))
    plot_sweep(folder / "results.svg", result)
