"""How kernels are compiled and where the compiled code is kept.

Numba's disk cache is keyed by the *caller's* file alone: edit a rules file, and a cached caller goes on with the old
rules. So the cache folder is named by a hash of every kernel source that the caller may use, of Numba's version and of the
flags that change the code. Kernel sources lie in layers, and use only their own and those before it: an edited search leaves
the games' compiled kernels as they are. Numba reads the folder's name when a function is decorated; it is set for that moment
only, so that a user's own cached functions stay where they were.

Kernels allocate nothing, so they are compiled without Numba's reference counts (`_nrt`), which would cost a batch's step
more than half its time; and short ones are inlined by LLVM (`forceinline`), as an array is seven arguments to a call.
"""

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, Final, TypeVar

import numba
import platformdirs
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

PROJECT: Final = Path(__file__).resolve().parents[2]
GAME_SOURCES: Final = (
    "envs/engine/header.py",
    "envs/engine/bits.py",
    "envs/engine/jit.py",
    "envs/engine/kernels.py",
    "envs/games/*/rules.py",
)
ENDGAME_SOURCES: Final = ("agents/endgames/index.py", "agents/endgames/table.py", "agents/endgames/retrograde.py")
MINIMAX_SOURCES: Final = (
    "agents/minimax/features.py",
    "agents/minimax/evaluation.py",
    "agents/minimax/table.py",
    "agents/minimax/search.py",
    "agents/minimax/memory.py",
    "agents/minimax/stack.py",
    "agents/minimax/ordering.py",
    "agents/minimax/chance.py",
    "agents/minimax/leaves.py",
    "agents/minimax/selective.py",
)
MCTS_SOURCES: Final = ("agents/mcts/tree.py", "agents/mcts/search.py", "agents/mcts/rollout.py")
NETWORK_SOURCES: Final = (
    "agents/network/surveyed.py",
    "agents/network/eiyiu.py",
    "agents/network/toguz_kumalak.py",
    "agents/network/uisge.py",
    "agents/network/relations.py",
    "agents/network/encoding.py",
    "agents/network/kernels.py",
    "agents/network/symmetry.py",
)
KERNEL_LAYERS: Final = (GAME_SOURCES, ENDGAME_SOURCES, MINIMAX_SOURCES, MCTS_SOURCES, NETWORK_SOURCES)
FLAGS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy", "_nrt": False}
ANY_ORDER: Final = {"reassoc", "contract", "nsz"}  # of a sum's terms, so that several are added at once
CODE_FLAGS: Final = ("NUMBA_BOUNDSCHECK", "NUMBA_OPT")


def sources(layer: int) -> set[Path]:
    """The kernel sources of a layer."""
    return {path for pattern in KERNEL_LAYERS[layer] for path in PROJECT.glob(pattern)}


def sources_hash(layer: int) -> str:
    """Sixteen hex digits that change when a source of this or an earlier layer, Numba or a code-changing flag does."""
    digest = hashlib.sha256(numba.__version__.encode())
    for flag in CODE_FLAGS:
        digest.update(f"{flag}={os.environ.get(flag, '')}\0".encode())
    for each in range(layer + 1):
        for path in sorted(sources(each)):
            digest.update(path.relative_to(PROJECT).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_folder(layer: int) -> Path:
    """Where this version's compiled kernels of a layer lie; `SPIELTISCH_CACHE_DIR` moves it.

    Where nothing can be written there, it is a folder of this process alone: a shared one could hold a stranger's code.
    """
    base = os.environ.get("SPIELTISCH_CACHE_DIR") or platformdirs.user_cache_dir("spieltisch", appauthor=False)
    folder = Path(base) / f"kernels-{sources_hash(layer)}"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if os.access(folder, os.W_OK):
        return folder
    own = tempfile.mkdtemp(prefix="spieltisch-")
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return Path(own)


def kernel(function: Function) -> Function:
    """The function, compiled into its callers; it has no cache entry of its own."""
    compiled: Function = numba.njit(forceinline=True, **FLAGS)(function)
    return compiled


def routine(function: Function) -> Function:
    """The function, compiled as a part of its own that callers call: for long ones, which would swell every caller."""
    compiled: Function = numba.njit(**FLAGS)(function)
    return compiled


def entry(function: Function) -> Function:
    """The function, compiled at its first call from Python and kept on disk."""
    return _cached(function, parallel=False)


def summing_entry(function: Function) -> Function:
    """The same, and sums of fractions may be taken in any order: by rounding, processors of other kinds may differ."""
    return _cached(function, parallel=False, fastmath=ANY_ORDER)


class BatchEntry:
    """A function over many games, called with the number of threads first and then its own arguments.

    One thread runs a version of its own, in which `prange` is `range`: it never touches Numba's threads, so small batches do
    not wait for them. Others run the loop on so many threads.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        """Both versions, each compiled at its first call and kept on disk."""
        self._serial = _cached(function, parallel=False)
        parallel = FunctionType(function.__code__, function.__globals__, f"{function.__name__}_on_threads")
        parallel.__module__ = function.__module__
        parallel.__qualname__ = parallel.__name__  # Numba's cache knows a function by this name and its line
        self._parallel = _cached(parallel, parallel=True)
        self.__doc__ = function.__doc__

    def __call__(self, threads: int, *arguments: Any) -> Any:
        """What the function returns."""
        if threads == 1:
            return self._serial(*arguments)
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        try:
            return self._parallel(*arguments)
        finally:
            numba.set_num_threads(before)


def available_threads() -> int:
    """As many as Numba may use at once."""
    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


def _cached(function: Function, parallel: bool, fastmath: bool | set[str] = False) -> Function:
    source = Path(function.__code__.co_filename).resolve()
    layers = [layer for layer in range(len(KERNEL_LAYERS)) if source in sources(layer)]
    if not layers:
        raise RuntimeError(f"{source} has cached kernels, but is not in KERNEL_LAYERS")
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_folder(layers[0]))
    try:
        compiled: Function = numba.njit(cache=True, parallel=parallel, fastmath=fastmath, **FLAGS)(function)
    finally:
        config.CACHE_DIR = before
    _announced_modules.add(function.__module__)
    return compiled


class _CompileNotice(event.Listener):
    """Says once a process, on stderr, that kernels are being compiled: the first use takes a while."""

    def on_start(self, event: Any) -> None:
        global _notice_given
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        if _notice_given or getattr(function, "__module__", None) not in _announced_modules:
            return
        _notice_given = True
        print("spieltisch: compiling kernels, once for this version (up to a minute) ...", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Nothing is said at the end."""


_announced_modules: set[str] = set()
_notice_given = False
event.register("numba:compile", _CompileNotice())  # type: ignore[no-untyped-call]
