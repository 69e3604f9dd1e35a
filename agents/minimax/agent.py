"""The reproducible baseline: exact minimax to a fixed depth."""

from typing import Final

import numpy as np

from agents.minimax.search import ACTION, FRAME, NODES, VALUE, search_batch
from agents.minimax.table import new_tables
from envs.engine import kernels
from envs.engine.jit import available_threads
from envs.engine.position import Position
from envs.errors import IllegalMove
from envs.games import find_game

MAX_DEPTH: Final = 40
TABLE_ENTRIES: Final = 1 << 16


class MinimaxAgent:
    """Plays the lowest of the actions that are best after `depth` plies, by the plain evaluation.

    Full width, no randomness; the same answers whatever the table's size and the number of threads.
    """

    def __init__(self, game: str, depth: int, table_entries: int = TABLE_ENTRIES, threads: int = 1) -> None:
        """`table_entries` is a power of two, and counts for each thread."""
        self.spec = f"minimax:depth={depth}"
        self.depth = depth
        self._game = find_game(game)
        self._threads = min(threads, available_threads())
        self._tables = new_tables(self._threads, table_entries)
        self._searches = 0

    def act(
        self,
        rows: np.ndarray,
        histories: np.ndarray,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """See `Agent.act`; `rng` is not used."""
        return self.search(rows, histories)[:, ACTION].copy()

    def search(self, rows: np.ndarray, histories: np.ndarray) -> np.ndarray:
        """int64[B, 3]: for every running row the nodes visited, its value for seat 0 and the action."""
        answers = np.zeros((len(rows), 3), np.int64)
        room = kernels.history_room(histories.shape[1], self.depth)
        shape = (self._threads, self.depth + 1, self._game.actions)
        search_batch(
            self._threads,
            self._game.number,
            self.depth,
            rows,
            histories,
            self._new_salts(len(rows)),
            np.zeros((self._threads, room), histories.dtype),
            self._tables,
            np.zeros((*shape, rows.shape[1]), rows.dtype),
            np.zeros(shape, np.int64),
            np.zeros(shape, np.int8),
            np.zeros(shape, np.int64),
            np.zeros((self._threads, self.depth + 1, FRAME), np.int64),
            answers,
        )
        return answers

    def value(self, position: Position) -> tuple[int, str, int]:
        """A running position's value for seat 0, the move to play and the nodes visited. Raises `IllegalMove` after the end."""
        if position.end:
            raise IllegalMove(f"there is nothing to search: the game is over ({position.end.label})")
        row, history = position.to_arrays()
        answer = self.search(row[None], history[None])[0]
        return int(answer[VALUE]), self._game.move_text(position.mover, int(answer[ACTION])), int(answer[NODES])

    def _new_salts(self, count: int) -> np.ndarray:
        """Numbers that no earlier search of this agent mixed into its keys."""
        self._searches += 1
        return np.random.default_rng(self._searches).integers(0, 1 << 62, count)
