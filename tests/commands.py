"""Runs a command of the project in this process, the way its own `__main__` does."""

from __future__ import annotations

import io
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import envs
from envs import cli

PROJECT = Path(envs.__file__).resolve().parents[1]


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


def run_command(module: str, *arguments: str | Path) -> Done:
    """The command has run with these arguments; handlers of signals and `sys.argv` are as before."""
    out, err = io.StringIO(), io.StringIO()
    argv, handlers = sys.argv, {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    sys.argv = [module, *map(str, arguments)]
    try:
        with redirect_stdout(out), redirect_stderr(err):
            cli.run(import_module(module).main, module)
    except SystemExit as ending:
        code = ending.code
    finally:
        sys.argv = argv
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert isinstance(code, int)
    return Done(code, out.getvalue(), err.getvalue())


def assert_refused(done: Done, *hints: str) -> None:
    """The command said in exactly one line what is wrong, with all the hints in it, and nothing else; the code is 2."""
    assert done.code == 2, done
    assert done.out == "", done.out
    assert done.err.count("\n") == 1 and done.err.endswith("\n"), done.err
    assert "Traceback" not in done.err
    for hint in hints:
        assert hint in done.err, done.err


def commands() -> list[str]:
    """All modules that are commands."""
    paths = [path for folder in ("envs", "agents", "training") for path in (PROJECT / folder).rglob("*.py")]
    found = [path for path in paths if 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")]
    return sorted(".".join(path.relative_to(PROJECT).with_suffix("").parts) for path in found)
