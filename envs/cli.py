"""What all commands share: options of the rules, one clear line for bad input, quiet ends."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from envs.errors import BadOption
from envs.games import GAMES, find_game
from envs.numbers import read_number


class Parser(argparse.ArgumentParser):
    """An argument parser that reports bad input in one line and exits with 2."""

    def error(self, message: str) -> NoReturn:
        """Says what is wrong, and that `--help` says more."""
        self.exit(2, f"{self.prog}: {' '.join(message.split())} (--help says more)\n")


def make_parser(module: str, description: str) -> Parser:
    """A parser for `python -m module`."""
    return Parser(prog=f"python -m {module}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def add_rules(parser: argparse.ArgumentParser) -> None:
    """`--option key=value`, once for every option of the rules."""
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the rules, such as grand_slam=capture; may be given several times",
    )


def read_rules(game: str, words: Sequence[str]) -> dict[str, Any]:
    """The options that `--option` named, and no others, checked. Raises `BadOption`."""
    options: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise BadOption(f"--option takes KEY=VALUE, not {word!r}")
        if name in options:
            raise BadOption(f"--option {name} is given twice")
        options[name] = value
    checked = find_game(game).checked_options(options, batch=False)
    return {name: checked[name] for name in options}


def game_names() -> str:
    """The games, for help texts."""
    return ", ".join(GAMES)


def whole_number(low: int, high: int | None = None) -> Callable[[str], int]:
    """A type for arguments: whole numbers within bounds."""

    def read(text: str) -> int:
        limits = f"from {low} to {high}" if high is not None else f"of at least {low}"
        number = read_number(text)
        if number is None or number < low or (high is not None and number > high):
            raise argparse.ArgumentTypeError(f"must be a whole number {limits}, not {text!r}")
        return number

    return read


def seconds(text: str) -> float:
    """A type for arguments: a positive time."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 86_400:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0 and up to a day, not {text!r}")
    return value


def check_writable(path: str | None) -> None:
    """Raises `BadOption` now, not after hours of work, if a file cannot be written there."""
    if path is None:
        return
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise BadOption(f"cannot write {path!r}: there is no folder {str(Path(path).parent)!r}")
    if Path(path).is_dir() or not Path(path).name:
        raise BadOption(f"cannot write {path!r}: it is a folder")
    if not os.access(folder, os.W_OK):
        raise BadOption(f"cannot write {path!r}: its folder is read only")


def run(main: Callable[[Sequence[str] | None], int], program: str) -> NoReturn:
    """Ends the process with what `main` returns; bad input and impossible files are one line and exit code 2."""
    try:
        code = main(None)
        sys.stdout.flush()
    except (ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        print(f"python -m {program}: {' '.join(str(error).split())}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        print(f"python -m {program}: stopped", file=sys.stderr)
        code = 130
    sys.exit(code)
