"""What tests share: no endgames of the user's are found, unless a test makes some; and a run that was stopped half way."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

os.environ["SPIELTISCH_DATA_DIR"] = tempfile.mkdtemp(prefix="spieltisch-tests-")


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_said_of_compiling() -> None:
    """With an empty kernel cache, the first command to compile would say so among what it writes."""
    from envs.engine import jit

    jit._notice_given = True


@pytest.fixture(scope="module")
def stopped_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny run that was stopped half way; tests only copy it."""
    from runs import new_run, stop_after  # torch and all: only for tests that train

    folder = tmp_path_factory.mktemp("runs") / "stopped"
    stop_after(new_run(folder), 2).go()
    return folder


@pytest.fixture
def stopped(stopped_once: Path, tmp_path: Path) -> Path:
    """A copy of the stopped run, to do with as the test likes."""
    return Path(shutil.copytree(stopped_once, tmp_path / "stopped"))
