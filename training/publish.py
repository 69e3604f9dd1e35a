"""Puts what a run has left where others find it: among the results, as an agent with a card, on the page of results."""

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from agents.network import load_network, network_summary, save_network
from agents.spec import NETWORK_FILE, SHIPPED
from envs import cli
from envs.files import write_file
from training.results import card, page, read_summary
from training.selfplay import CURVE, SUMMARY

RESULTS: Final = Path("docs/results")


def add(run: Path, folder: Path) -> Path:
    """The folder of results holds the run's summary and curve; returns where. Raises `BadConfig` and `OSError`."""
    summary = read_summary(run / SUMMARY)
    place = folder / f"seed-{summary['config']['seed']}"
    place.mkdir(parents=True, exist_ok=True)
    write_file(place / SUMMARY, json.dumps(placeless(summary), indent=1) + "\n")
    shutil.copyfile(run / CURVE, place / CURVE)
    return place


def placeless(summary: dict[str, Any]) -> dict[str, Any]:
    """The summary without the folder in which the run lay: what is published is of any machine."""
    return {**summary, "config": {**summary["config"], "run_dir": None}}


def ship(run: Path, name: str | None, folder: Path) -> Path:
    """The folder holds the run's agent in eight bits a number and its card; returns the agent's file.

    Its name is that of its game where none is given. Raises `BadSpec` and `BadConfig` for a run that has left none.
    """
    network, summary = load_network(run / NETWORK_FILE), placeless(network_summary(run / NETWORK_FILE))
    agent = folder / f"{name or network.settings.game}.safetensors"
    folder.mkdir(parents=True, exist_ok=True)
    save_network(agent, network, summary, compact=True)
    write_file(agent.with_suffix(".md"), card(agent))
    return agent


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see its `--help`."""
    parser = cli.make_parser(
        "training.publish",
        "add   copies a run's summary and curve into the results, as CONFIG/seed-N\n"
        "ship  makes a run's network a trained agent, in eight bits a number, with a model card\n"
        "page  writes the page of results from all that was added",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    adding = commands.add_parser("add", help="a run's summary and curve")
    adding.add_argument("run", metavar="RUN", type=Path, help="a run's folder")
    adding.add_argument("config", metavar="CONFIG", help="the name of its config")
    shipping = commands.add_parser("ship", help="a run's network")
    shipping.add_argument("run", metavar="RUN", type=Path, help="a run's folder")
    shipping.add_argument("--name", help="of the agent (default: that of the game)")
    shipping.add_argument("--agents", metavar="FOLDER", type=Path, default=SHIPPED, help="default: that of shipped agents")
    writing = commands.add_parser("page", help="the page of results")
    for each in (adding, writing):
        each.add_argument("--results", metavar="FOLDER", type=Path, default=RESULTS, help=f"of results (default {RESULTS})")
    print(_done(parser.parse_args(arguments)))
    return 0


def _done(given: argparse.Namespace) -> Path:
    """The file or folder that the command has made."""
    if given.command == "add":
        return add(given.run, given.results / given.config)
    if given.command == "ship":
        return ship(given.run, given.name, given.agents)
    target: Path = given.results.with_suffix(".md")
    write_file(target, page(given.results))
    return target


if __name__ == "__main__":
    cli.run(main, "training.publish")
