"""The command: builds databases, and holds agents against them."""

import argparse
import json
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from agents.endgames.database import GAME, Database, build, build_memory, check_seeds, default_folder, open_database
from agents.endgames.index import boards_below
from agents.endgames.oracle import CONFIDENCE, FEWEST, Grade, draw_questions, grade
from agents.endgames.retrograde import PHASES
from agents.endgames.table import MAX_SEEDS
from agents.spec import KNOWN, make_agent
from envs import cli
from envs.engine.jit import available_threads
from envs.errors import BadOption, BadSpec
from envs.files import write_file
from envs.games import find_game
from envs.games.oware import GRAND_SLAMS

WORTH_A_WORD: Final = 200_000_000  # bytes of memory
PHASE_NAMES: Final = ("widening", "narrowing")
SEEDS: Final = 12


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see its `--help`."""
    parser = cli.make_parser(
        "agents.endgames",
        "Endgames of Oware that are solved: what either side can be sure of, for all boards of up to N seeds.\n\n"
        "build  makes the files of a database, and goes on where it was stopped\n"
        "score  says how often agents play a move that keeps what a position is worth",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, help="build or score; each has --help")
    _add_build(commands)
    _add_score(commands)
    given = parser.parse_args(arguments)
    if find_game(given.game).name != GAME:
        raise BadOption(f"there are endgames of {GAME} only, not of {given.game}")
    code: int = given.run(given)
    return code


def _add_build(commands: Any) -> None:
    parser = commands.add_parser(
        "build",
        description="Solves all boards of up to N seeds: 12 in some seconds, 15 in a minute, 18 in some minutes. A build that "
        "was stopped goes on where it was.",
        help="make a database",
    )
    parser.set_defaults(run=_build)
    _add_common(parser)
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help=f"up to {MAX_SEEDS} (default {SEEDS})")
    parser.add_argument("--threads", type=cli.whole_number(1, 1024), default=1, help="(default 1)")


def _add_score(commands: Any) -> None:
    parser = commands.add_parser(
        "score",
        description="Asks agents for their moves in random positions of the database in which every move has an exact value "
        "and not all have the same. The stores are such that a best move wins 25 to 23, and no other wins. "
        f"Agents: {', '.join(KNOWN.values())}.",
        help="hold agents against a database",
    )
    parser.set_defaults(run=_score)
    _add_common(parser)
    parser.add_argument("spec", nargs="+", metavar="SPEC", help="an agent")
    parser.add_argument("--positions", type=cli.whole_number(1, 1_000_000), default=1000, metavar="K", help="(default 1000)")
    parser.add_argument("--seeds", type=int, metavar="N", help=f"positions have {FEWEST} to N seeds (default: all there are)")
    parser.add_argument("--seed", type=cli.whole_number(0), default=0, help="of positions and agents (default 0)")
    parser.add_argument("--threads", type=cli.whole_number(1, 1024), default=1, help="threads of an agent (default 1)")
    parser.add_argument("--json", metavar="FILE", help="writes the result there")


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("game", metavar="GAME", help=GAME)
    parser.add_argument("--grand-slam", choices=GRAND_SLAMS, default=GRAND_SLAMS[0], help="the rule (default %(default)s)")
    parser.add_argument(
        "--folder", metavar="F", help="where the files lie (default: %(default)s)", default=str(default_folder())
    )


def _build(given: argparse.Namespace) -> int:
    check_seeds(given.seeds)
    memory = build_memory(given.seeds)
    shown = Console(stderr=True, soft_wrap=True)
    if memory > WORTH_A_WORD:
        shown.print(f"this needs {memory / 1e9:.1f} GB of memory")
    total = boards_below(given.seeds + 1)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn())
    with Progress(*columns, console=shown, transient=True, disable=not shown.is_terminal) as progress:
        task = progress.add_task("", total=total)

        def report(seeds: int, phase: int, passes: int, changed: int) -> None:
            """Few boards change in late passes, so what no longer does is what is done."""
            boards = boards_below(seeds + 1) - boards_below(seeds)
            done = (phase + 1 - changed / boards) / len(PHASES) * boards
            words = f"{seeds} seeds, {PHASE_NAMES[phase]}, pass {passes}"
            progress.update(task, completed=boards_below(seeds) + done, description=words)

        threads = min(given.threads, available_threads())
        for seeds in build(given.seeds, given.folder, given.grand_slam, threads, report):
            progress.update(task, completed=boards_below(seeds + 1))
    database = open_database(given.folder, given.grand_slam, given.seeds)
    print(
        f"{given.folder}: all boards of up to {database.seeds} seeds ({total:,} boards), grand_slam={database.grand_slam}, "
        f"for quiet limits from {database.plies[-1]}"
    )
    return 0


def _score(given: argparse.Namespace) -> int:
    cli.check_writable(given.json)
    if given.seeds is not None:
        check_seeds(given.seeds)
    if len(set(given.spec)) < len(given.spec):
        raise BadSpec("an agent is named twice")
    database = open_database(given.folder, given.grand_slam, given.seeds)
    agents = [make_agent(spec, GAME, {"grand_slam": given.grand_slam}, given.threads) for spec in given.spec]
    questions = draw_questions(database, given.positions, given.seed)
    shown = Console(stderr=True)
    grades = []
    with Progress(console=shown, transient=True, disable=not shown.is_terminal) as progress:
        for agent in agents:
            task = progress.add_task(escape(agent.spec), total=len(questions))
            grades.append(grade(agent, questions, given.seed, partial(_show, progress, task)))
    if given.json:
        write_file(given.json, json.dumps(_as_json(given, database, grades), indent=1) + "\n")
    Console(soft_wrap=True).print(_grade_table(database, given.positions, grades))
    return 0


def _show(progress: Progress, task: TaskID, done: int) -> None:
    progress.update(task, completed=done)


def _as_json(given: argparse.Namespace, database: Database, grades: Sequence[Grade]) -> dict[str, Any]:
    return {
        "game": GAME,
        "grand_slam": database.grand_slam,
        "seeds": database.seeds,
        "positions": given.positions,
        "seed": given.seed,
        "agents": [each.as_json() for each in grades],
    }


def _grade_table(database: Database, positions: int, grades: Sequence[Grade]) -> Table:
    """The grades, in the order given."""
    title = f"{GAME}: {positions} positions of {FEWEST} to {database.seeds} seeds, {CONFIDENCE:.0%} intervals"
    table = Table(title=title)
    table.add_column("agent", overflow="fold")
    for heading in ("moves that keep the value", "seeds lost a move"):
        table.add_column(heading, justify="right")
    for each in grades:
        low, high = each.kept_interval
        least, most = each.mean_loss_interval
        kept = f"{each.kept:.1%} ({low:.1%} to {high:.1%})"
        table.add_row(escape(each.agent), kept, f"{each.mean_loss:.3f} ({least:.3f} to {most:.3f})")
    return table
