"""The page of results and the cards of trained agents, made from what runs and matches have left.

In the folder of results, each config has a folder: `seed-N` with the summary and the curve of a run, `responses/NAME` with
those of a best response to its agent, `matches/*.json` as `training.evaluate --json` writes them, and `notes.md`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from agents.network import load_network, network_summary
from envs.errors import BadConfig
from envs.files import read_fields
from envs.games import GAMES
from training import markdown
from training.commands import match_command, response_command, short_commit, training_command
from training.config import checked_config
from training.selfplay import CURVE, SUMMARY, SUMMARY_FIELDS
from training.sweep_results import FIRM, over_seeds

Row = dict[str, Any]

HEAD: Final = """# Results

Agents play their most probable move, without search unless their name says `mcts`; in all games but Oware their networks are
told what the board is like after each legal move. Matches are on distinct random openings, each played twice with the seats
swapped; a draw counts half. Intervals are 95 %: of one run over pairs of games, of several over seeds and never narrower than
over games. What has fewer than three seeds is **preliminary**: it says how good these agents are, not how good the next run
will be. Minutes are those of collecting and updating, measurements left out.

`python -m training.publish page` makes this page from what lies in [{name}/]({name}).
"""
SEARCHED: Final = """It plays its most probable move, without search; `mcts:simulations=200,network={name}` searches with it.
What the run scored at its end, over paired random openings, with 95 % intervals over pairs of games (they say nothing about
other seeds, for which see [the results](../../docs/results.md)):"""
BOUND: Final = "Best responses (`python -m training.exploit`); what they score is a lower bound of what can be had:"
MATCH_FIELDS: Final = ("game", "options", "games", "seed", "opening_plies", "agents", "networks", "pairs")
DAMAGED: Final = ": it is missing, damaged or something else"


def page(folder: Path) -> str:
    """The page, in Markdown. Raises `BadConfig` for a file that is none of ours."""
    parts = [HEAD.format(name=folder.name), _notes(folder), headline(folder)]
    for game in GAMES:
        parts += [_section(folder / name) for name in sections(game) if (folder / name).is_dir()]
    return "\n".join(part for part in parts if part)


def sections(game: str) -> tuple[str, str]:
    """The configs whose results the page shows."""
    return game, f"{game}_quick"


def headline(folder: Path) -> str:
    """What the agents of the longest configs score at their ends, a game a line."""
    rows = []
    for game, record in GAMES.items():
        runs = _read_runs(folder / game)
        if runs:
            minutes = sum(run["seconds"] for run in runs) / len(runs) / 60
            scores = _by_opponent(runs)
            means = ", ".join(f"{opponent} **{over_seeds(found)['mean']:.0%}**" for opponent, found in scores.items())
            rows.append((record.title, str(len(runs)), f"{minutes:.0f}", means))
    return markdown.table(("game", "seeds", "minutes", "scores against"), rows) + "\n"


def _read_runs(folder: Path) -> list[Row]:
    return [read_summary(path) for path in sorted(folder.glob(f"seed-*/{SUMMARY}"))]


def _by_opponent(runs: Sequence[Row]) -> dict[str, list[Row]]:
    """The last scores of the runs that met an opponent, in the order in which they name them."""
    finals = [final_scores(run) for run in runs]
    opponents = dict.fromkeys(opponent for final in finals for opponent in final)
    return {opponent: [final[opponent] for final in finals if opponent in final] for opponent in opponents}


def _section(folder: Path) -> str:
    runs = _read_runs(folder)
    parts = [f"## `{folder.name}`"]
    if runs:
        seeds = [run["config"]["seed"] for run in runs]
        commands = [training_command(folder.name, run["config"]) for run in runs]
        pictures = [
            f"![Learning curve of seed {seed}]({folder.parent.name}/{folder.name}/seed-{seed}/{CURVE})" for seed in seeds
        ]
        parts += [fenced(commands), _runs(runs), _scores(runs), " ".join(pictures)]
    parts += [_responses(folder), _matches(folder), _notes(folder).rstrip()]
    return "\n\n".join(part for part in parts if part) + "\n"


def _notes(folder: Path) -> str:
    """What somebody has written about a folder's results."""
    path = folder / "notes.md"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _runs(runs: Sequence[Row]) -> str:
    rows = [
        (
            str(run["config"]["seed"]),
            f"{run['plies'] / 1e6:.1f} M",
            f"{run['seconds'] / 60:.1f}",
            f"{run['plies_per_second']:,.0f}",
            f"`{short_commit(run['commit'])}`",
        )
        for run in runs
    ]
    return markdown.table(("seed", "plies", "minutes", "plies/s", "commit"), rows)


def _scores(runs: Sequence[Row]) -> str:
    """The last evaluation of the runs, an opponent a line."""
    seeds = [f"seed {run['config']['seed']}" for run in runs]
    rows, least = [], len(runs)
    for opponent, scores in _by_opponent(runs).items():
        least = min(least, len(scores))
        whole = markdown.score(over_seeds(scores), "mean") + ("" if len(scores) >= FIRM else " *")
        each = [markdown.score(final_scores(run).get(opponent)) for run in runs] if len(runs) > 1 else []
        rows.append((f"`{opponent}`", str(sum(score["games"] for score in scores)), whole, *each))
    headings = ("opponent", "games", "score", *(seeds if len(runs) > 1 else []))
    mark = "" if least >= FIRM else f"\n\n\\* preliminary: {least} of {FIRM} seeds"
    return markdown.table(headings, rows) + mark


def _responses(folder: Path) -> str:
    """What best responses to the config's agents have scored at their ends."""
    rows, commands = [], []
    for path in sorted(folder.glob(f"responses/*/{SUMMARY}")):
        run = read_summary(path)
        commands.append(response_command(run["config"]))
        rows += [
            (f"`{target}`", f"{run['plies'] / 1e6:.1f} M", f"{run['seconds'] / 60:.1f}", markdown.score(score))
            for target, score in final_scores(run).items()
        ]
    if not rows:
        return ""
    headings = ("frozen agent", "plies", "minutes", "the best response's score")
    return f"{BOUND}\n\n{markdown.table(headings, rows)}\n\n{fenced(commands)}"


def _matches(folder: Path) -> str:
    """Matches that were played afterwards, with the commands that play them."""
    results = [read_match(path) for path in sorted(folder.glob("matches/*.json"))]
    if not results:
        return ""
    rows = [
        (f"`{pair['a']}`", f"`{pair['b']}`", str(pair["games"]), markdown.score(pair))
        for result in results
        for pair in result["pairs"]
    ]
    table = markdown.table(("agent", "against", "games", "score"), rows)
    return f"Matches of single agents:\n\n{table}\n\n{fenced([match_command(result) for result in results])}"


def final_scores(run: Row) -> dict[str, Row]:
    """The run's last scores against each opponent."""
    return {row["opponent"]: row for row in run["evaluations"] if row["plies"] == run["plies"]}


def card(path: Path) -> str:
    """The model card of a network file, in Markdown. Raises `BadSpec`, and `BadConfig` if it comes from no run."""
    network, run = load_network(path), network_summary(path)
    if not run:
        raise BadConfig(f"{path} holds no summary of a run")
    settings, name, config = network.settings, path.stem, checked_config(run["config"])
    numbers = sum(parameter.numel() for parameter in network.parameters())
    options = ", ".join(f"{option}={value}" for option, value in settings.options.items())
    facts = {
        "plays": f"{GAMES[settings.game].title}, {options}",
        "network": f"encoding `{settings.encoding}`, width {settings.width}, residual layers: {settings.layers};"
        f" {numbers:,} numbers, kept in eight bits each",
        "trained": f"by self-play PPO, {run['plies']:,} plies in {run['seconds'] / 60:.1f} minutes, seed {config.seed}",
        "commit": f"`{run['commit']}`",
    }
    use = (
        f"python -m training.evaluate {settings.game} ppo:{name} greedy",
        f"python -m agents.play {settings.game} --opponent ppo:{name}",
    )
    rows = [(f"`{opponent}`", str(row["games"]), markdown.score(row)) for opponent, row in final_scores(run).items()]
    parts = (
        f"# `ppo:{name}`",
        fenced(use),
        "\n".join(f"- **{key}**: {value}" for key, value in facts.items()),
        SEARCHED.format(name=name),
        markdown.table(("opponent", "games", "score"), rows),
        "Its config, as far as it differs from the defaults:",
        fenced([yaml.safe_dump(config.model_dump(mode="json", exclude_defaults=True), sort_keys=False).rstrip()], "yaml"),
    )
    return "\n\n".join(parts) + "\n"


def read_summary(path: Path) -> Row:
    """What a run has left. Raises `BadConfig` for anything else."""
    return read_fields(path, SUMMARY_FIELDS, DAMAGED)


def read_match(path: Path) -> Row:
    """What `training.evaluate --json` has left. Raises `BadConfig` for anything else."""
    return read_fields(path, MATCH_FIELDS, DAMAGED)


def fenced(lines: Sequence[str], language: str = "") -> str:
    """Lines of a command or a file, as they are."""
    return "\n".join((f"```{language}", *lines, "```"))
