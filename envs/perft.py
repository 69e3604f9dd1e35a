"""Counts legal lines: the test of rules that move generators are held against."""

from collections.abc import Sequence

from envs import cli
from envs.engine.position import Position


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see its `--help`."""
    parser = cli.make_parser(
        "envs.perft",
        "Counts the legal lines of play from a position, one line a depth: `depth nodes`. A finished game has no\n"
        "continuation. Every last ply is played.",
    )
    parser.add_argument("game", metavar="GAME", help=f"one of: {cli.game_names()}")
    parser.add_argument("--depth", type=cli.whole_number(1, 40), required=True, help="plies; 1 to 40")
    parser.add_argument("--position", metavar="TEXT", help="a position's text form (default: the start)")
    cli.add_rules(parser)
    given = parser.parse_args(arguments)
    rules = cli.read_rules(given.game, given.option)
    if given.position is None:
        position = Position.start(given.game, **rules)
    else:
        position = Position.from_text(given.game, given.position, **rules)
    for depth in range(1, given.depth + 1):
        print(depth, position.perft(depth), flush=True)
    return 0


if __name__ == "__main__":
    cli.run(main, "envs.perft")
