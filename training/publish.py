"""Puts what a run has left where others find it: among the results, as an agent with a card, on the page of results."""

import argparse
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from agents.network import load_network, network_summary, save_network
from agents.spec import NETWORK_FILE, SHIPPED
from envs import cli
from envs.errors import BadConfig
from envs.files import write_file
from training.config import checked_config
from training.results import card, final_scores, page, read_summary, sections
from training.selfplay import CURVE, SUMMARY

NAME: Final = re.compile(r"[\w,=-][\w.,=-]*")
RESULTS: Final = Path("docs/results")


def add(run: Path, config: str, results: Path, response: str | None = None) -> Path:
    """The results of the config hold the run's summary and curve, if named as a best response; returns where.

    Raises `BadConfig` for a run that is not over or of another game, and for a config that the page does not show; `OSError`.
    """
    summary = finished(read_summary(run / SUMMARY), run)
    shown = sections(summary["config"]["game"])
    if config not in shown:
        raise BadConfig(f"{run} is a run of {shown[0]}, whose results are those of {' and '.join(shown)}, not of {config!r}")
    alone = list(summary["config"]["league"]["opponents"].values()) == [1.0]
    if alone != (response is not None):
        raise BadConfig(f"{run} is {'a' if alone else 'no'} best response; --response NAME is for those")
    place = results / config / (f"responses/{response}" if response else f"seed-{summary['config']['seed']}")
    place.mkdir(parents=True, exist_ok=True)
    write_file(place / SUMMARY, json.dumps(placeless(summary), indent=1) + "\n")
    shutil.copyfile(run / CURVE, place / CURVE)
    return place


def finished(summary: dict[str, Any], run: Path) -> dict[str, Any]:
    """The summary, if its run is over and was measured at its end as its config says. Raises `BadConfig`."""
    config = checked_config(summary["config"]) if summary else None
    if config is None or summary["plies"] < config.plies:
        raise BadConfig(f"{run} is not over; python -m training.selfplay --resume {run}")
    measured = {opponent for opponent, row in final_scores(summary).items() if row["games"] == config.evaluation.final_games}
    if missing := set(config.evaluation.opponents) - measured:
        raise BadConfig(f"{run} was not measured at its end against {', '.join(sorted(missing))}")
    return summary


def placeless(summary: dict[str, Any]) -> dict[str, Any]:
    """The summary without the folder in which the run lay: what is published is of any machine."""
    return {**summary, "config": {**summary["config"], "run_dir": None}}


def ship(run: Path, name: str | None, folder: Path) -> Path:
    """The folder holds the run's agent in eight bits a number and its card; returns the agent's file.

    Its name is that of its game where none is given. Raises `BadSpec` and `BadConfig` for a run that has left none or is not
    over; then the files are as they were.
    """
    network = load_network(run / NETWORK_FILE)
    summary = placeless(finished(network_summary(run / NETWORK_FILE), run))
    agent = folder / f"{name or network.settings.game}.safetensors"
    folder.mkdir(parents=True, exist_ok=True)
    save_network(agent, network, summary, compact=True)
    write_file(agent.with_suffix(".md"), card(agent))
    return agent


def plain_name(text: str) -> str:
    """A type for arguments: what a folder may be called."""
    if not NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no name of letters, digits and -_.,=")
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see its `--help`."""
    parser = cli.make_parser(
        "training.publish",
        "add   copies a run's summary and curve into the results, as CONFIG/seed-N or CONFIG/responses/NAME\n"
        "ship  makes a run's network a trained agent, in eight bits a number, with a model card\n"
        "page  writes the page of results from all that was added",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    adding = commands.add_parser("add", help="a run's summary and curve")
    adding.add_argument("run", metavar="RUN", type=Path, help="a run's folder")
    adding.add_argument("config", metavar="CONFIG", help="the shipped config that it was made with: GAME or GAME_quick")
    adding.add_argument(
        "--response", metavar="NAME", type=plain_name, help="of a best response to the config's agent, and what to call it"
    )
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
        return add(given.run, given.config, given.results, given.response)
    if given.command == "ship":
        return ship(given.run, given.name, given.agents)
    target: Path = given.results.with_suffix(".md")
    write_file(target, page(given.results))
    return target


if __name__ == "__main__":
    cli.run(main, "training.publish")
