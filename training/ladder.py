"""Shows that minimax gets better with every step of depth: each rung is a match of a deeper search against a shallower one."""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.progress import Progress

from agents.agent import Agent
from agents.spec import make_agent
from envs import cli
from envs.engine.vector import VectorGames
from envs.errors import BadConfig, BadOption
from envs.files import write_file
from envs.games import find_game
from training import markdown
from training.arena import play_match
from training.plots import plot_ladder
from training.selfplay import current_commit

DEPTHS: Final = {"depth": "1-8", "turns": "1-2"}
STEP: Final = {"depth": 2, "turns": 1}
FOLDER: Final = "docs/results/ladder"


class Timed:
    """An agent whose processor time is taken."""

    def __init__(self, agent: Agent) -> None:
        """No move has been timed yet."""
        self.spec = agent.spec
        self._agent = agent
        self._seconds = 0.0
        self._moves = 0

    @property
    def seconds_per_move(self) -> float:
        """Processor time a move, of all threads together."""
        return self._seconds / max(1, self._moves)

    def act(
        self,
        rows: np.ndarray,
        histories: np.ndarray,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """See `Agent.act`."""
        began = time.process_time()
        actions = self._agent.act(rows, histories, observations, masks, rng)
        self._seconds += time.process_time() - began
        self._moves += len(rows)
        return actions


def unit(game: str) -> str:
    """What a rung of the game counts, as specs name it: `depth`, or `turns` where a turn is several plies."""
    return "depth" if find_game(game).alternates else "turns"


def climb(
    game: str,
    depths: tuple[int, int],
    step: int,
    games: int,
    seed: int,
    options: Mapping[str, Any],
    threads: int,
    played: Sequence[Mapping[str, Any]],
    commit: str,
    progress: Progress,
) -> Iterator[dict[str, Any]]:
    """Every rung from the lowest of the depths on: `low + step` against `low`, `low + 1 + step` against `low + 1`, and so on.

    A rung that is among those already played, over as many games or more, is not played again.
    """
    known = {(rung["deeper"], rung["shallower"]): dict(rung) for rung in played if rung["games"] >= games}
    for shallower in range(depths[0], depths[1] - step + 1):
        deeper = shallower + step
        task = progress.add_task(f"{game}: {unit(game)} {deeper} against {shallower}", total=games)
        if (deeper, shallower) in known:
            progress.update(task, completed=games)
            yield known[deeper, shallower]
            continue
        a, b = (_warm(game, f"minimax:{unit(game)}={number}", options, threads) for number in (deeper, shallower))

        def report(done: int, task: Any = task) -> None:
            progress.update(task, completed=done)

        match = play_match(game, options, a, b, games, seed, on_step=report).as_json()
        yield {
            "deeper": deeper,
            "shallower": shallower,
            **match,
            "seconds_per_move": [round(agent.seconds_per_move, 9) for agent in (a, b)],
            "commit": commit,
        }


def _warm(game: str, spec: str, options: Mapping[str, Any], threads: int) -> Timed:
    """The agent, its kernels compiled."""
    agent = make_agent(spec, game, options, threads)
    start = VectorGames(game, 1, **options)
    agent.act(start.rows, start.histories, start.observation, start.action_mask, np.random.default_rng(0))
    return Timed(agent)


def is_won(rung: Mapping[str, Any]) -> bool:
    """Whether the deeper search is the better one beyond doubt: the whole interval lies above one half."""
    return bool(rung["low"] > 0.5)


def table(result: Mapping[str, Any]) -> str:
    """The rungs as a table in Markdown, one a line."""
    name = unit(result["game"])
    headings = (name, "score", "95 % interval", "won-drawn-lost", "different games", "time a move", "better")
    rows = []
    for rung in result["rungs"]:
        times = " and ".join(duration(seconds) for seconds in rung["seconds_per_move"])
        cells = (
            f"{rung['deeper']} against {rung['shallower']}",
            f"{rung['score']:.1%}",
            f"{rung['low']:.1%} to {rung['high']:.1%}",
            "-".join(str(rung[count]) for count in ("wins", "draws", "losses")),
            f"{rung['distinct_games']} of {rung['games']}",
            times,
            "yes" if is_won(rung) else "**not shown**",
        )
        rows.append(cells)
    return markdown.table(headings, rows) + "\n"


def duration(seconds: float) -> str:
    """A time with three digits and a unit that suits it."""
    factor, name = (1, "s") if seconds >= 1 else (1e3, "ms") if seconds >= 1e-3 else (1e6, "µs")
    return f"{seconds * factor:.3g} {name}"


def read_played(path: Path, game: str, seed: int, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rungs of an earlier run over the same openings under the same rules; none if there was no such run.

    Raises `BadConfig` if the file is no result of a ladder.
    """
    if not path.exists():
        return []
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        same = [found[name] for name in ("game", "seed", "options")] == [game, seed, dict(options)]
        return [{**rung, "deeper": int(rung["deeper"])} for rung in found["rungs"]] if same else []
    except (ValueError, KeyError, TypeError):
        raise BadConfig(f"{str(path)!r} is no result of a ladder; remove it or name another folder") from None


def write_results(folder: Path, result: Mapping[str, Any]) -> None:
    """The folder holds the result as JSON, as a table in Markdown and as a picture."""
    write_file(folder / f"{result['game']}.json", json.dumps(result, indent=1) + "\n")
    write_file(folder / f"{result['game']}.md", table(result))
    plot_ladder(folder / f"{result['game']}.svg", unit(result["game"]), result)


def read_depths(text: str, step: int) -> tuple[int, int]:
    """The lowest and the highest depth of a range such as `1-8`. Raises `BadOption` if it has no rung."""
    found = re.fullmatch(r"(\d{1,3})-(\d{1,3})", text, re.ASCII)
    if not found or not 1 <= int(found[1]) <= int(found[2]) - step:
        raise BadOption(f"--depths must be LOW-HIGH from 1 on and at least {step} apart (--step), such as 1-8, not {text!r}")
    return int(found[1]), int(found[2])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see its `--help`."""
    parser = cli.make_parser(
        "training.ladder",
        "Lets deeper minimax play shallower minimax: each rung is a match of depth d + STEP against depth d, on random\n"
        "openings, each played twice with the seats swapped. A rung is won if the 95 % interval of the deeper one's score\n"
        "lies above one half. In Eiyiu depths are turns.\n\n"
        "Writes FOLDER/GAME.json, GAME.md (a table) and GAME.svg (a picture), anew after every rung. Rungs that the file\n"
        "already holds under the same rules and seed, over as many games or more, are not played again: a run that was\n"
        "stopped goes on where it was, and a higher ladder only adds its rungs. Remove the file to play all anew; one of\n"
        "other rules or another seed is replaced.",
    )
    parser.add_argument("game", metavar="GAME", help=f"one of: {cli.game_names()}")
    parser.add_argument("--games", type=cli.whole_number(2, 1_000_000), default=400, help="games a rung, even (default 400)")
    parser.add_argument("--seed", type=cli.whole_number(0), default=0, help="of the openings (default 0)")
    parser.add_argument("--depths", metavar="LOW-HIGH", help="depths that play (default 1-8; Eiyiu 1-2)")
    parser.add_argument("--step", type=cli.whole_number(1, 20), help="how much deeper (default 2; Eiyiu 1)")
    parser.add_argument("--out", metavar="FOLDER", default=FOLDER, help=f"where the results go (default {FOLDER})")
    parser.add_argument("--threads", type=cli.whole_number(1, 1024), default=1, help="threads of a search (default 1)")
    cli.add_rules(parser)
    given = parser.parse_intermixed_args(arguments)
    if given.games % 2:
        parser.error(f"--games must be even, as seats are swapped, not {given.games}")
    record = find_game(given.game)
    rules = cli.read_rules(given.game, given.option)
    options = record.checked_options(rules, batch=True)
    name = unit(given.game)
    step = STEP[name] if given.step is None else given.step
    depths = read_depths(DEPTHS[name] if given.depths is None else given.depths, step)
    make_agent(f"minimax:{name}={depths[1]}", given.game, rules)  # refuses what is too deep before anything is played
    folder = Path(given.out)
    if folder.exists() and not folder.is_dir():
        raise BadOption(f"--out must name a folder; {given.out!r} is a file")
    folder.mkdir(parents=True, exist_ok=True)
    played = read_played(folder / f"{given.game}.json", given.game, given.seed, options)
    result: dict[str, Any] = {"game": given.game, "options": options, "seed": given.seed, "rungs": []}
    commit, shown = current_commit(), Console(stderr=True)
    with Progress(console=shown, transient=True, disable=not shown.is_terminal) as progress:
        for rung in climb(given.game, depths, step, given.games, given.seed, rules, given.threads, played, commit, progress):
            result["rungs"].append(rung)
            write_results(folder, result)
    print(table(result), end="")
    won = sum(map(is_won, result["rungs"]))
    print(f"{won} of {len(result['rungs'])} rungs won; see {folder}/{given.game}.json, .md and .svg")
    return 0


if __name__ == "__main__":
    cli.run(main, "training.ladder")
