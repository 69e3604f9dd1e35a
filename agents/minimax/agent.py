"""The reproducible baseline: exact minimax to a fixed depth."""

from typing import Final

import numpy as np

from agents.minimax.room import SearchRoom
from agents.minimax.search import ACTION, NODES, VALUE, plies_into_turns, search_batch
from agents.minimax.table import new_tables
from envs.engine.header import CHANCE
from envs.engine.jit import available_threads
from envs.engine.position import Position
from envs.errors import IllegalMove
from envs.games import find_game

MAX_DEPTH: Final = 40
TABLE_ENTRIES: Final = 1 << 16


class MinimaxAgent:
    """Plays the lowest of the actions that are best after `depth` plies, by the plain evaluation or a tuned one.

    Full width, no randomness; the same answers whatever the table's size and the number of threads.
    """

    def __init__(
        self,
        game: str,
        depth: int,
        table_entries: int = TABLE_ENTRIES,
        threads: int = 1,
        whole_turns: bool = False,
        weights: np.ndarray | None = None,
    ) -> None:
        """`table_entries` is a power of two, and counts for each thread. With `whole_turns`, plies of a turn that were played
        already count for the depth, so that every search ends with a turn. With `weights` int64[F], as `load_weights` has them,
        the evaluation is the tuned one."""
        self._game = find_game(game)
        turns = depth // self._game.plies_a_turn
        self.spec = f"minimax:turns={turns}" if whole_turns else f"minimax:depth={depth}"
        if weights is not None:
            self.spec += ",eval=tuned"
        self._weights = np.zeros(0, np.int64) if weights is None else weights
        self.depth = depth
        self._whole_turns = whole_turns
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
        return self._search(rows, histories, every_action=False)[0]

    def action_values(self, rows: np.ndarray, histories: np.ndarray) -> np.ndarray:
        """int64[B, A]: for every running row the exact values of its legal actions for seat 0; 0 for the others."""
        return self._search(rows, histories, every_action=True)[1]

    def _search(self, rows: np.ndarray, histories: np.ndarray, every_action: bool) -> tuple[np.ndarray, np.ndarray]:
        answers = np.zeros((len(rows), 3), np.int64)
        action_values = np.zeros((len(rows), self._game.actions if every_action else 0), np.int64)
        room = SearchRoom(self._game, self.depth, histories.shape[1], self._threads, self._tables)
        search_batch(
            self._threads,
            self._game.tag,
            self._depths(rows),
            every_action,
            rows,
            histories,
            self._new_salts(len(rows)),
            self._weights,
            *room.arrays,
            answers,
            action_values,
        )
        return answers, action_values

    def _depths(self, rows: np.ndarray) -> np.ndarray:
        """int64[B]: the plies to search from every row."""
        played = np.zeros(len(rows), np.int64)
        if self._whole_turns:
            plies_into_turns(self._game.tag, rows, played)
        return self.depth - played

    def value(self, position: Position) -> tuple[int, str, int]:
        """A running position's value for seat 0, the move to play and the nodes visited.

        Raises `IllegalMove` after the end and while a draw is to be dealt: nobody is to move then.
        """
        check_searchable(position)
        row, history = position.to_arrays()
        answer = self.search(row[None], history[None])[0]
        return int(answer[VALUE]), str(position.play(int(answer[ACTION])).last_move), int(answer[NODES])

    def _new_salts(self, count: int) -> np.ndarray:
        """Numbers that no earlier search of this agent mixed into its keys."""
        self._searches += 1
        return np.random.default_rng(self._searches).integers(0, 1 << 62, count)


def check_searchable(position: Position) -> None:
    """Raises `IllegalMove` if there is nothing to choose in the position."""
    if position.end:
        raise IllegalMove(f"there is nothing to search: the game is over ({position.end.label})")
    if position.mover == CHANCE:
        raise IllegalMove("there is nothing to choose: a draw is to be dealt")
