"""Minimax within a budget of nodes or of time: the selective search, for one position or many at once."""

import hashlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from agents.endgames.database import GAME as GAME_WITH_ENDGAMES
from agents.endgames.database import Database
from agents.minimax import selective, stack
from agents.minimax.agent import check_searchable
from agents.minimax.memory import MAX_SEARCHES, new_memories
from agents.minimax.stack import TOP, Room
from agents.minimax.weights import load_weights
from envs.engine import kernels
from envs.engine.game import Game
from envs.engine.header import KEY_DTYPE, MASK_DTYPE, ROW_DTYPE
from envs.engine.jit import available_threads
from envs.engine.position import Position
from envs.errors import BadSpec
from envs.games import find_game
from envs.machine import machine_bytes

MAX_DEPTH: Final = 60
HASH_MB: Final = 16
MAX_HASH_MB: Final = 1 << 20
MAX_NODES: Final = 10**12
MAX_TIME_MS: Final = 24 * 3_600_000
SLICE_SECONDS: Final = 0.001  # between two looks at the clock
FIRST_SLICE: Final = 100  # nodes, before their rate is known


@dataclass(frozen=True)
class Thought:
    """What a search found.

    `value` is for seat 0, of the last iteration that was completed, 0 if none was: millilogits (1,000 are odds of e to 1),
    in a game with chance shares of `TOP` that stand for expected results; a win is `TOP` less the plies to it.
    """

    action: int
    value: int
    depth: int  # of the last completed iteration
    nodes: int
    line: tuple[int, ...]  # actions: the best line, up to the first draw that is dealt, at times cut short by the table
    seconds: float

    @property
    def plies_to_end(self) -> int | None:
        """After how many plies the win or loss that was found comes; None if none was."""
        plies = TOP - abs(self.value)
        return plies if plies <= stack.MOST_PLIES else None


@dataclass(frozen=True)
class Analysis:
    """A `Thought` about a position in hand, in moves."""

    move: str
    value: int
    depth: int
    nodes: int
    line: tuple[str, ...]
    seconds: float


class BudgetAgent:
    """Plays what the selective search finds best within a budget for each position.

    With a budget of nodes the answer depends on nothing but the position, its past and the table's size. With a budget of time
    what the table holds from earlier searches is used too. Where there is only one legal action no more is spent than it takes
    to see that.
    """

    def __init__(
        self,
        game: str,
        *,
        nodes: int | None = None,
        time_ms: int | None = None,
        tuned: bool = True,
        hash_mb: int = HASH_MB,
        endgames: Database | None = None,
        threads: int = 1,
        means: int = stack.EVERYTHING,
    ) -> None:
        """One of `nodes` and `time_ms` is given. Each thread has a table of `hash_mb`. In Oware `endgames` serve
        where the rules are theirs. `means` says what the search may do, see `selective`. Raises `BadSpec` for no
        budget, and for tables that the memory cannot hold."""
        budget, amount = ("time_ms", time_ms) if nodes is None else ("nodes", nodes)
        if (nodes is None) == (time_ms is None) or amount is None or amount < 1:
            raise BadSpec(f"a search needs one budget of 1 or more, not nodes={nodes} and time_ms={time_ms}")
        self._game = find_game(game)
        self._nodes = MAX_NODES if nodes is None else nodes
        self._seconds = float("inf") if time_ms is None else time_ms / 1000
        self._fresh = nodes is not None  # nothing is taken from earlier searches
        self._threads = min(threads, available_threads())
        size = "" if hash_mb == HASH_MB else f",hash_mb={hash_mb}"
        solved = f",endgames={endgames.seeds if endgames else 0}" if game == GAME_WITH_ENDGAMES else ""
        self.spec = f"minimax:{budget}={amount}{'' if tuned else ',eval=plain'}{size}{solved}"
        self._endgames = endgames
        check_memory(self._threads * hash_mb)
        self._rooms = new_rooms(self._game, self._threads, new_memories(self._threads, hash_mb), tuned, endgames)
        settings = self._rooms.state
        settings[:, stack.STEP] = self._game.plies_a_turn
        settings[:, stack.LAST_DEPTH] = MAX_DEPTH
        settings[:, stack.MEANS] = means

    def act(
        self,
        rows: np.ndarray,
        histories: np.ndarray,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """See `Agent.act`; `rng` is not used."""
        return np.array([thought.action for thought in self.think(rows, histories)], np.int64)

    def analyse(self, position: Position) -> Analysis:
        """What the search finds in a running position. Raises `IllegalMove` after the end and while a draw is to be dealt."""
        check_searchable(position)
        row, history = position.to_arrays()
        thought = self.think(row[None], history[None])[0]
        line = tuple(moves_of(position, thought.line))
        return Analysis(line[0], thought.value, thought.depth, thought.nodes, line, thought.seconds)

    def think(self, rows: np.ndarray, histories: np.ndarray) -> list[Thought]:
        """What the search finds in every running row, each with a budget of its own; the workers share the rows out."""
        thoughts: dict[int, Thought] = {}
        selective.think_all(self._threads, self._game.tag, self._rooms, np.zeros(self._threads, np.int64))  # compiles
        waiting = iter(range(len(rows)))
        workers = [_Worker(self._rooms, index, self._nodes, self._seconds) for index in range(self._threads)]
        targets = np.zeros(self._threads, np.int64)
        while True:
            for worker in workers:
                if worker.task is None or worker.is_done():
                    if worker.task is not None:
                        thoughts[worker.task] = worker.thought()
                    worker.task = next(waiting, None)
                    if worker.task is not None:
                        self._begin(worker, rows[worker.task], histories[worker.task])
                targets[worker.index] = worker.next_target()
            if all(worker.task is None for worker in workers):
                return [thoughts[index] for index in range(len(rows))]
            selective.think_all(self._threads, self._game.tag, self._rooms, targets)

    def _begin(self, worker: "_Worker", row: np.ndarray, history: np.ndarray) -> None:
        state = self._rooms.state[worker.index]
        state[stack.SEARCH] += 1
        if state[stack.SEARCH] == MAX_SEARCHES:
            self._rooms.table[worker.index] = 0
            state[stack.SEARCH] = 1
        state[stack.SINCE] = state[stack.SEARCH] if self._fresh else 1
        options = self._game.read_options(row)
        fits = self._endgames is not None and self._endgames.grand_slam == options.get("grand_slam")
        state[stack.ENDGAMES] = stack.ANYWHERE if fits else stack.NOWHERE
        state[stack.SALT] = salt_of(tuple(options.items()))
        self._make_room(history.shape[0])
        selective.begin(self._game.tag, self._rooms, worker.index, row, history)
        worker.started = time.perf_counter()

    def _make_room(self, keys: int) -> None:
        """The histories have room for so many keys before the root."""
        needed = kernels.history_room(keys, self._rooms.rows.shape[1])
        if self._rooms.history.shape[1] < needed:
            grown = np.zeros((self._threads, needed), KEY_DTYPE)
            grown[:, : self._rooms.history.shape[1]] = self._rooms.history
            self._rooms = self._rooms._replace(history=grown)


class _Worker:
    """One search under way."""

    def __init__(self, rooms: Room, index: int, nodes: int, seconds: float) -> None:
        self._state = rooms.state[index]
        self._line = rooms.lines[index, 0]
        self.index = index
        self.task: int | None = None  # the row's index
        self.started = 0.0
        self._nodes = nodes
        self._seconds = seconds

    def elapsed(self) -> float:
        return time.perf_counter() - self.started

    def is_done(self) -> bool:
        """Whether the budget is spent, or nothing more can be found; something must be."""
        if self._state[stack.ACTION] < 0:
            return False
        spent = self._state[stack.NODES] >= self._nodes or self.elapsed() >= self._seconds
        return bool(spent or self._state[stack.DONE])

    def next_target(self) -> int:
        """The nodes after which the clock is looked at again."""
        if self.task is None:
            return 0
        nodes = int(self._state[stack.NODES])
        if self._seconds == float("inf"):
            return max(self._nodes, nodes + 1)
        if nodes == 0:
            return FIRST_SLICE
        elapsed = self.elapsed()
        left = max(min(SLICE_SECONDS, self._seconds - elapsed), 0.0)
        return nodes + 1 + int(nodes / max(elapsed, 1e-6) * left)

    def thought(self) -> Thought:
        state = self._state
        line = tuple(int(action) for action in self._line[1 : 1 + self._line[0]])
        action = int(state[stack.ACTION])
        return Thought(
            action,
            int(state[stack.VALUE]),
            int(state[stack.DEPTH_DONE]),
            int(state[stack.NODES]),
            line if line[:1] == (action,) else (action,),
            self.elapsed(),
        )


def new_rooms(game: Game, workers: int, tables: np.ndarray, tuned: bool, endgames: Database | None) -> Room:
    """Rooms for searches of `MAX_DEPTH` plies and what lies beyond them."""
    levels = kernels.line_room(MAX_DEPTH - selective.BEYOND)
    actions = game.actions
    slots = actions if stack.plays_all_at_once(game.tag) else 1

    def numbers(*shape: int) -> np.ndarray:
        return np.zeros((workers, *shape), np.int64)

    return Room(
        state=numbers(stack.STATE),
        frames=numbers(levels, stack.FRAME),
        rows=np.zeros((workers, levels, slots, game.row_size), ROW_DTYPE),
        masks=np.zeros((workers, levels, actions), MASK_DTYPE),
        actions=numbers(levels, actions),
        merits=numbers(levels, actions),
        killers=numbers(levels, 2),
        credits=numbers(2, actions),
        lines=numbers(levels, levels + 2),
        bounds=numbers(levels, actions),
        history=np.zeros((workers, kernels.history_room(0, levels)), KEY_DTYPE),
        table=tables,
        weights=load_weights(game.name) if tuned else np.zeros(0, np.int64),
        endgames=endgames.table if endgames else np.zeros(0, np.uint8),
        endgame_plies=endgames.plies if endgames else np.zeros(0, np.int64),
    )


def check_memory(megabytes: int) -> None:
    """Raises `BadSpec` if this machine has less memory."""
    owned = machine_bytes() >> 20
    if megabytes > owned:
        raise BadSpec(f"a table (hash_mb) of {megabytes} MB is more than this machine's memory of {owned} MB")


@lru_cache
def salt_of(options: tuple[tuple[str, Any], ...]) -> int:
    """A number that tells options apart."""
    return int.from_bytes(hashlib.sha256(repr(options).encode()).digest()[:7], "big")


def moves_of(position: Position, actions: tuple[int, ...]) -> Iterator[str]:
    """The texts of actions played one after the other."""
    for action in actions:
        position = position.play(action)
        yield str(position.last_move)
