"""Work that is done by several processes at the same time. Importing this module costs a process next to nothing."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

Task = TypeVar("Task")


def side_by_side(tasks: Sequence[tuple[Task, Callable[..., None], tuple[Any, ...]]], jobs: int) -> Iterator[Task]:
    """Every task's name when its function has been called with its arguments, `jobs` of them at a time.

    More than one job are processes. If one fails, or somebody interrupts, the others are ended.
    """
    if jobs == 1:
        for name, function, arguments in tasks:
            function(*arguments)
            yield name
        return
    # Processes start afresh: compiled kernels with threads do not survive a fork.
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _leave_interrupts_to_the_parent)
    others = multiprocessing.active_children()
    try:
        names = {pool.submit(function, *arguments): name for name, function, arguments in tasks}
        for done in as_completed(names):
            done.result()
            yield names[done]
        pool.shutdown()
    except BrokenProcessPool:
        raise OSError("the process of a run was ended from outside; was there memory enough?") from None
    finally:
        for process in set(multiprocessing.active_children()) - set(others):  # none if all went well
            process.terminate()
        pool.shutdown(cancel_futures=True)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
