"""Imports go one way: games, engine, adapters, agents, training; and what is heavy is imported where it is used."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import envs

PROJECT = Path(envs.__file__).resolve().parents[1]


def imports_of(source: str, package: str) -> set[str]:
    """The dotted names that a module in a package imports, anywhere in its source."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*parents, *([node.module] if node.module else [])])
            names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return names


def modules(folder: str) -> Iterator[tuple[str, set[str]]]:
    """The path of every module below a folder of the project, and what it imports; nothing if there is no such folder."""
    for path in sorted((PROJECT / folder).rglob("*.py")):
        relative = path.relative_to(PROJECT)
        yield relative.as_posix(), imports_of(path.read_text(encoding="utf-8"), ".".join(relative.parent.parts))


def offenders(folder: str, *forbidden: str) -> dict[str, list[str]]:
    """The modules below a folder that import something below a forbidden name, and what."""
    found = {}
    for path, names in modules(folder):
        bad = sorted(name for name in names if any(name == ban or name.startswith(f"{ban}.") for ban in forbidden))
        if bad:
            found[path] = bad
    return found


def test_imports_are_found_wherever_they_stand() -> None:
    source = """
import a.b as c, d
from e.f import g
from . import h
from ..i import j
def late():
    from torch import nn
"""
    assert imports_of(source, "p.q") == {
        *("a.b", "d", "e.f", "e.f.g", "p.q", "p.q.h", "p.i", "p.i.j", "torch", "torch.nn"),
    }


def test_there_are_modules_to_look_at() -> None:
    assert len(list(modules("envs"))) >= 10


def test_environments_import_neither_agents_nor_training() -> None:
    assert offenders("envs", "agents", "training") == {}


def test_agents_do_not_import_training() -> None:
    assert offenders("agents", "training") == {}


def test_nothing_imports_tests() -> None:
    for folder in ("envs", "agents", "training"):
        assert offenders(folder, "tests", "reference", "figures") == {}


def test_the_engine_imports_no_adapter() -> None:
    assert offenders("envs/engine", "envs.adapters") == {}


def test_a_game_imports_nothing_above_its_rules() -> None:
    above = ("kernels", "position", "vector", "record")
    assert offenders("envs/games", "envs.adapters", *(f"envs.engine.{name}" for name in above)) == {}


def test_only_kernels_knows_the_rules_of_all_games() -> None:
    rules = [f"envs.games.{name}.rules" for name in envs.GAME_NAMES]
    assert set(offenders("envs/engine", *rules)) == {"envs/engine/kernels.py"}
    assert offenders("envs/adapters", *rules) == {}


def test_rules_draw_nothing() -> None:
    for name in envs.GAME_NAMES:
        assert offenders(f"envs/games/{name}/rules.py", f"envs.games.{name}.drawing", "drawsvg") == {}


def test_no_environment_imports_torch() -> None:
    assert offenders("envs", "torch") == {}


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_playing_imports_neither_torch_nor_anything_that_draws(game: str) -> None:
    program = f"""
import sys
import envs
envs.start({game!r})
print(*sorted({{"torch", "drawsvg", "pygame", "matplotlib", "stable_baselines3"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
