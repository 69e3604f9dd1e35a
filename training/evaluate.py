"""Holds agents against each other: every pair plays, openings paired, seats swapped."""

import json
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import torch
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from agents.agent import Agent
from agents.spec import KNOWN, make_agent, network_digests
from envs import cli
from envs.errors import BadSpec
from envs.files import write_file
from envs.games import find_game
from training.arena import Match, play_match
from training.plots import check_plot_name, plot_ratings
from training.rating import ratings


def evaluate(
    game: str,
    agents: Sequence[Agent],
    games: int,
    seed: int,
    options: dict[str, Any],
    opening_plies: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """The result of every pair's `games` games, as `training.evaluate --json` writes it."""
    matches: list[Match] = []
    pairings = list(combinations(agents, 2))
    for a, b in pairings:
        task = progress.add_task(escape(f"{a.spec} - {b.spec}"), total=games) if progress else None
        report = (lambda done, task=task: progress.update(task, completed=done)) if progress else None
        matches.append(play_match(game, options, a, b, games, seed, opening_plies, report))
    return {
        "game": game,
        "options": find_game(game).checked_options(options, batch=True),
        "games": games,
        "seed": seed,
        "opening_plies": find_game(game).opening_plies if opening_plies is None else opening_plies,
        "agents": [agent.spec for agent in agents],
        "networks": network_digests([agent.spec for agent in agents]),
        "pairs": [match.as_json() for match in matches],
        "ratings": ratings([agent.spec for agent in agents], matches),
    }


def cross_table(result: dict[str, Any]) -> Table:
    """Every agent's score against every other, from the row's side, in percent."""
    table = Table(title=f"{result['game']}: score of the row against the column, {result['games']} games each")
    table.add_column("")
    for agent in result["agents"]:
        table.add_column(escape(agent), justify="right")
    scores = {(pair["a"], pair["b"]): pair["score"] for pair in result["pairs"]}
    scores |= {(b, a): 1 - score for (a, b), score in scores.items()}
    for row in result["agents"]:
        cells = [f"{scores[row, column]:.1%}" if row != column else "-" for column in result["agents"]]
        table.add_row(escape(row), *cells)
    return table


def match_table(result: dict[str, Any]) -> Table:
    """Every match with its interval."""
    table = Table(title="matches, with 95 % intervals over pairs of games")
    for heading in ("first", "second", "won-drawn-lost", "score", "low", "high", "distinct games"):
        name = heading in ("first", "second")
        table.add_column(heading, justify="left" if name else "right", overflow="fold" if name else "ellipsis")
    for pair in result["pairs"]:
        counts = "-".join(str(pair[name]) for name in ("wins", "draws", "losses"))
        shares = [f"{pair[name]:.1%}" for name in ("score", "low", "high")]
        table.add_row(escape(pair["a"]), escape(pair["b"]), counts, *shares, f"{pair['distinct_games']} of {pair['games']}")
    return table


def rating_table(result: dict[str, Any]) -> Table:
    """The ratings, best first."""
    table = Table(title="ratings, 400 points being odds of ten to one")
    table.add_column("agent")
    for heading in ("rating", "low", "high"):
        table.add_column(heading, justify="right")
    for row in result["ratings"]:
        table.add_row(escape(row["agent"]), *(f"{row[name]:.0f}" for name in ("rating", "low", "high")))
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see its `--help`."""
    parser = cli.make_parser(
        "training.evaluate",
        "Lets every pair of agents play. Openings are random, distinct and seeded; each is played twice with the seats\n"
        f"swapped. Agents: {', '.join(KNOWN.values())},\n"
        "where TARGET is a shipped agent's name, a run folder or a network file.",
    )
    parser.add_argument("game", metavar="GAME", help=f"one of: {cli.game_names()}")
    parser.add_argument("spec", nargs="+", metavar="SPEC", help="two agents or more")
    parser.add_argument("--games", type=cli.whole_number(2, 1_000_000), default=200, help="games a pair, even (default 200)")
    parser.add_argument("--seed", type=cli.whole_number(0), default=0, help="of openings and agents (default 0)")
    parser.add_argument(
        "--opening-plies", type=cli.whole_number(0, 100), metavar="K", help="random plies (default: the game's)"
    )
    parser.add_argument("--threads", type=cli.whole_number(1, 1024), default=1, help="threads of an agent (default 1)")
    parser.add_argument("--json", metavar="FILE", help="writes the result there")
    parser.add_argument("--plot", metavar="FILE", help="draws the ratings there (png, svg or pdf)")
    cli.add_rules(parser)
    given = parser.parse_intermixed_args(arguments)
    if given.games % 2:
        parser.error(f"--games must be even, as seats are swapped, not {given.games}")
    if len(given.spec) < 2 or len(set(given.spec)) < len(given.spec):
        parser.error("two or more different agents are needed")
    for path in (given.json, given.plot):
        cli.check_writable(path)
    if given.plot:
        check_plot_name(given.plot)
    torch.set_num_threads(given.threads)
    options = cli.read_rules(find_game(given.game).name, given.option)
    agents = [make_agent(spec, given.game, options, given.threads) for spec in given.spec]
    if len({agent.spec for agent in agents}) < len(agents):
        raise BadSpec("two specs name the same agent")
    console, shown = Console(soft_wrap=True), Console(stderr=True)
    with Progress(console=shown, transient=True, disable=not shown.is_terminal) as progress:
        result = evaluate(given.game, agents, given.games, given.seed, options, given.opening_plies, progress)
    if given.json:
        write_file(given.json, json.dumps(result, indent=1) + "\n")
    if given.plot:
        plot_ratings(given.plot, given.game, result["ratings"])
    for table in (cross_table(result), match_table(result), rating_table(result)):
        console.print(table)
    return 0


if __name__ == "__main__":
    cli.run(main, "training.evaluate")
