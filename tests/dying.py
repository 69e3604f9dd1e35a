"""Runs in processes of their own, which are killed as a power cut would end them, and what a kill would leave."""

from __future__ import annotations

import io
import os
import shutil
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.console import Console

from training.config import load_config
from training.selfplay import Run, lock_folder, new_folder

CHECKPOINT = "checkpoint.safetensors"
# Processes of this kind are copies of one that has imported all and run nothing.
PROCESSES = get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])


def watch_writing(step: Callable[[], object], put: Callable[[Any, str, Any], None] = setattr) -> None:
    """From now on `step` is called again and again while a file is written: half written, before and after it gets its name."""

    def in_halves(write: Callable[..., int]) -> Callable[..., int]:
        def both(path: Path, content: Any, **kwargs: Any) -> int:
            write(path, content[: len(content) // 2], **kwargs)
            step()
            return write(path, content, **kwargs)

        return both

    def stepping(function: Callable[..., Any]) -> Callable[..., Any]:
        def between(*args: Any) -> Any:
            step()
            answer = function(*args)
            step()
            return answer

        return between

    put(Path, "write_bytes", in_halves(Path.write_bytes))
    put(Path, "write_text", in_halves(Path.write_text))
    put(Path, "replace", stepping(Path.replace))


def write_slowly(folder: Path, overrides: list[str]) -> None:
    """The run in the folder goes on to its end, or begins and goes there; most of its time it is in the middle of writing."""
    watch_writing(lambda: time.sleep(0.02))
    console = Console(file=io.StringIO())
    if (folder / CHECKPOINT).exists():
        run = Run.resumed(folder, [], console)
    else:  # killed before it had saved anything
        shutil.rmtree(folder, ignore_errors=True)
        config = load_config("oware_quick", [*overrides, f"run_dir={folder}"])
        run = Run(config, console)
        run.settle_in(new_folder(config, "unused"))
    run.go()


def hold_folder(folder: Path) -> None:
    """Nobody else may train in the folder until this process is killed; it says so by a file `held`."""
    lock = lock_folder(folder)
    (folder / "held").touch()
    time.sleep(60)
    lock.release()


def run_until_killed(folder: Path, overrides: list[str], seconds: float) -> int:
    """The exit code of a process that went on with the run, and was killed so long after it had saved for the first time."""
    before = written_at(folder / CHECKPOINT)
    process = PROCESSES.Process(target=write_slowly, args=(folder, overrides))
    process.start()
    until = time.monotonic() + 60
    while written_at(folder / CHECKPOINT) == before and process.is_alive() and time.monotonic() < until:
        time.sleep(0.005)
    process.join(seconds)
    process.kill()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def written_at(path: Path) -> int:
    """When the file was written, in ns; 0 if there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except FileNotFoundError:
        return 0
