"""Compiled kernels on disk: an edit counts, bounds checks check, and a user's own cache stays where it was.

Everything runs in fresh processes over a copy of the project, whose kernels are compiled once for all tests here.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import envs
from envs import VectorGames
from envs.engine.jit import KERNEL_LAYERS, sources
from test_layers import imports_of

LAYERS = range(len(KERNEL_LAYERS))
PROJECT = Path(envs.__file__).resolve().parents[1]
NOTICE = "compiling kernels"

# Looks, plays and counts: every kernel of a position in hand.
PLAY = """
import envs
position = envs.start("oware")
print(position.play("F").text, position.perft(3))
"""
PLAYED = "4-4-4-4-4-0-5-5-5-5-4-4-0-0-N 190\n"
# The same with each player's house 1 empty at the start, as the twin counts it.
FEWER_SEEDS = ("envs/games/oware/rules.py", "START_SIDE: Final = 0x040404040404", "START_SIDE: Final = 0x040404040400")
FEWER_PLAYED = "0-4-4-4-4-0-1-5-5-5-4-4-0-0-N 145\n"


@dataclass
class Copy:
    """A copy of the project and the cache folder of its kernels."""

    project: Path
    cache: Path
    cold: subprocess.CompletedProcess[str]  # the run that compiled them

    def run(self, program: str, *flags: str, **variables: object) -> subprocess.CompletedProcess[str]:
        """The program has run over the copy, with these variables set."""
        return run(program, self.project, self.cache, *flags, **variables)

    def cached(self) -> dict[str, int]:
        """The files in the cache, and when they were written."""
        return {str(path): path.stat().st_mtime_ns for path in self.cache.rglob("*") if path.is_file()}

    @contextmanager
    def edited(self, path: str, old: str, new: str) -> Iterator[None]:
        """Within it, a file of the copy has one text replaced."""
        file = self.project / path
        source = file.read_text(encoding="utf-8")
        assert source.count(old) == 1
        file.write_text(source.replace(old, new), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(source, encoding="utf-8")


def run(program: str, project: Path, cache: Path, *flags: str, **variables: object) -> subprocess.CompletedProcess[str]:
    """The program has run in a process of its own over a project folder, without failing."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "SPIELTISCH_", "PYTHON"))}
    given = {name: str(value) for name, value in variables.items()}
    environment = {**clean, "PYTHONPATH": str(project), "SPIELTISCH_CACHE_DIR": str(cache), **given}
    done = subprocess.run(
        [sys.executable, *flags, "-c", program], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy of the project with a warm cache."""
    project, cache = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("cache")
    shutil.copytree(PROJECT / "envs", project / "envs", ignore=shutil.ignore_patterns("__pycache__"))
    return Copy(project, cache, run(PLAY, project, cache))


# The cache


def test_a_cold_cache_is_announced_in_one_line_and_a_warm_one_not_at_all(copy: Copy) -> None:
    assert copy.cold.stdout == PLAYED
    assert len(copy.cold.stderr.splitlines()) == 1
    assert NOTICE in copy.cold.stderr
    before = copy.cached()
    warm = copy.run(PLAY)
    assert (warm.stdout, warm.stderr) == (PLAYED, "")
    assert copy.cached() == before


def test_compiled_kernels_lie_in_their_folder_and_nowhere_else(copy: Copy) -> None:
    folders = {Path(path).relative_to(copy.cache).parts[0] for path in copy.cached()}
    assert folders
    assert all(re.fullmatch("kernels-[0-9a-f]{16}", folder) for folder in folders)
    assert not [path for path in copy.project.rglob("*") if path.suffix in (".nbi", ".nbc")]


def test_an_edited_rule_changes_the_result_beside_a_warm_cache(copy: Copy) -> None:
    with copy.edited(*FEWER_SEEDS):
        assert copy.run(PLAY).stdout == FEWER_PLAYED
    restored = copy.run(PLAY)
    assert (restored.stdout, restored.stderr) == (PLAYED, "")


def test_an_edited_rule_changes_the_result_where_no_cache_folder_can_be_made(copy: Copy, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert copy.run(PLAY, SPIELTISCH_CACHE_DIR=file / "below").stdout == PLAYED
    with copy.edited(*FEWER_SEEDS):
        assert copy.run(PLAY, SPIELTISCH_CACHE_DIR=file / "below").stdout == FEWER_PLAYED


def test_every_module_with_kernels_is_a_kernel_source() -> None:
    hashed = set().union(*map(sources, range(len(KERNEL_LAYERS))))
    compiled = set()
    for folder in ("envs", "agents", "training"):
        for path in (PROJECT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = {alias.name for alias in node.names} if isinstance(node, ast.ImportFrom) else set()
                if names & {"kernel", "entry", "BatchEntry"}:
                    compiled.add(path)
    assert len(compiled) >= 1 + len(envs.GAME_NAMES)
    assert compiled <= hashed


def test_a_layer_of_kernel_sources_imports_no_kernels_of_a_later_one() -> None:
    folders = [{path.parent.relative_to(PROJECT).as_posix().replace("/", ".") for path in sources(layer)} for layer in LAYERS]
    for layer in LAYERS:
        later = {folder for folders_of in folders[layer + 1 :] for folder in folders_of}
        for path in sources(layer):
            imported = imports_of(path.read_text(encoding="utf-8"), ".".join(path.relative_to(PROJECT).parent.parts))
            assert not [name for name in imported if any(name.startswith(folder) for folder in later)], path


# Flags


def test_an_index_out_of_range_is_an_error_under_bounds_checks_beside_a_warm_cache(copy: Copy) -> None:
    program = """
import numpy as np
import envs
from envs.engine import kernels
from envs.games import find_game
for action, room in ((6, 100), (0, 0)):  # no such house; no room in the history
    row, _ = envs.start("oware").to_arrays()
    try:
        kernels.play_one(find_game("oware").tag, row, np.zeros(room, np.int64), action)
    except IndexError:
        print("index error")
    else:
        print("played")
"""
    done = copy.run(program, NUMBA_BOUNDSCHECK=1)
    assert [line for line in done.stdout.splitlines() if "debug" not in line] == ["index error"] * 2
    assert copy.run(PLAY).stderr == ""


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_without_compilation_the_kernels_are_plain_python_that_plays_the_same(copy: Copy, game: str) -> None:
    program = f"""
import envs
print(envs.start({game!r}).perft(2))
games = envs.VectorGames({game!r}, 3, seed=5)
for _ in range(60):
    actions = games.random_actions()
    games.step(actions)
    print(*actions, games.observation.tolist(), games.action_mask.tolist(), games.gains.tolist())
"""
    plain = copy.run(program, "-W", "error", "-W", "ignore::DeprecationWarning", NUMBA_DISABLE_JIT=1)
    assert plain.stderr == ""
    expected = [str(envs.start(game).perft(2))]
    games = VectorGames(game, 3, seed=5)
    for _ in range(60):
        actions = games.random_actions()
        games.step(actions)
        seen = (games.observation.tolist(), games.action_mask.tolist(), games.gains.tolist())
        expected.append(" ".join(map(str, [*actions, *seen])))
    assert plain.stdout.splitlines() == expected
    assert np.any(games.observation)


# A user's own functions


USER_CODE = """
import numba

@numba.njit(cache=True)
def twice(number):
    return 2 * number
"""


@pytest.mark.parametrize("own_folder", [False, True])
def test_a_users_own_cached_function_stays_where_it_was(copy: Copy, tmp_path: Path, own_folder: bool) -> None:
    home, folder = tmp_path / "home", tmp_path / "folder"
    home.mkdir()
    for name in ("before", "after"):
        (home / f"user_{name}.py").write_text(USER_CODE, encoding="utf-8")
    program = f"""
import sys
sys.path.insert(0, {str(home)!r})
import user_before
{PLAY}
import user_after
print(user_before.twice(3), user_after.twice(4))
"""
    before = copy.cached()
    done = copy.run(program, **({"NUMBA_CACHE_DIR": folder} if own_folder else {}))
    assert (done.stdout, done.stderr) == (f"{PLAYED}6 8\n", "")
    assert copy.cached() == before
    indices = sorted(path.name.split("-")[0] for path in (folder if own_folder else home / "__pycache__").rglob("*.nbi"))
    assert indices == ["user_after.twice", "user_before.twice"]
    assert own_folder or not folder.exists()
