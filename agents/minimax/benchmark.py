"""How deep and how fast the selective search goes: `python -m agents.minimax.benchmark`.

The positions are the start and some that random plies from it lead to, the same at every run.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import numpy as np

from agents.minimax.budget import HASH_MB, MAX_HASH_MB, MAX_TIME_MS, BudgetAgent
from envs import GAME_NAMES, cli, start
from envs.engine.header import CHANCE
from envs.engine.position import Position
from envs.files import write_file
from envs.games import find_game

SEED: Final = 2026
FEWEST_PLIES: Final = 4  # from the start to a position
MOST_PLIES: Final = 40


@dataclass(frozen=True)
class Reached:
    """How far a search got."""

    text: str
    depth: int
    nodes: int
    seconds: float


def positions(game: str, count: int) -> Iterator[Position]:
    """The start, then random positions whose mover has a choice and cannot win at once, the same at every call."""
    rng = np.random.default_rng(SEED)
    yield start(game)
    for _ in range(count - 1):
        yield _drawn(game, rng)


def _drawn(game: str, rng: np.random.Generator) -> Position:
    while True:
        position, plies = start(game), int(rng.integers(FEWEST_PLIES, MOST_PLIES + 1))
        while not position.end and (position.ply < plies or position.mover == CHANCE or _into_turn(position)):
            position = position.play(int(rng.choice(position.legal_actions())))
        if not position.end and len(position.legal_actions()) > 1 and not _wins_at_once(position, position.mover):
            return position


def _into_turn(position: Position) -> bool:
    """Whether the mover has played a part of its turn already."""
    return position.ply % find_game(position.game).plies_a_turn > 0


def _wins_at_once(position: Position, player: int) -> bool:
    """Whether the player can win before the other moves, without a draw."""
    for after in map(position.play, position.legal_actions()):
        if after.result is not None:
            if after.result[player] > 0:
                return True
        elif after.mover == player and _wins_at_once(after, player):
            return True
    return False


def measure(game: str, count: int, time_ms: int, hash_mb: int) -> list[Reached]:
    """What the search reaches in each position in so much time, on one thread, each with an empty table."""
    BudgetAgent(game, nodes=1000, hash_mb=1).analyse(start(game))  # compiles
    reached = []
    for position in positions(game, count):
        found = BudgetAgent(game, time_ms=time_ms, hash_mb=hash_mb).analyse(position)
        reached.append(Reached(position.text, found.depth, found.nodes, round(found.seconds, 4)))
    return reached


def summary(game: str, reached: Sequence[Reached]) -> str:
    """One line: depths, and nodes a second."""
    depths = [each.depth for each in reached]
    rate = sum(each.nodes for each in reached) / max(sum(each.seconds for each in reached), 1e-9)
    span = f"median {median(depths):g}, {min(depths)} to {max(depths)}"
    return f"{game}: depth {depths[0]} from the start; {span} in {len(depths)} positions; {rate / 1e6:.2f} M nodes/s"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see its `--help`."""
    parser = cli.make_parser(
        "agents.minimax.benchmark",
        "How deep and how fast minimax:time_ms=T searches, on one thread: from the start and in random positions, the same\n"
        "at every run. A search that is decided early stops early.",
    )
    parser.add_argument("game", nargs="*", metavar="GAME", help=f"some of: {cli.game_names()} (default: all)")
    parser.add_argument(
        "--time-ms", type=cli.whole_number(1, MAX_TIME_MS), default=1000, help="for each position (default 1000)"
    )
    parser.add_argument("--positions", type=cli.whole_number(1, 10_000), default=20, help="how many (default 20)")
    parser.add_argument("--hash-mb", type=cli.whole_number(1, MAX_HASH_MB), default=HASH_MB, help=f"table (default {HASH_MB})")
    parser.add_argument("--json", metavar="FILE", help="writes what was reached in every position there")
    given = parser.parse_args(arguments)
    games = [find_game(name).name for name in given.game] or list(GAME_NAMES)
    cli.check_writable(given.json)
    results = {}
    for game in games:
        reached = measure(game, given.positions, given.time_ms, given.hash_mb)
        print(summary(game, reached), flush=True)
        results[game] = [vars(each) for each in reached]
    if given.json:
        settings = {"time_ms": given.time_ms, "hash_mb": given.hash_mb}
        write_file(given.json, json.dumps({**settings, "reached": results}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    cli.run(main, "agents.minimax.benchmark")
