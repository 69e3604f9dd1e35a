"""Thousands of games as one array."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from envs.engine import kernels
from envs.engine.header import CHANCE, END, KEY_DTYPE, MASK_DTYPE, OBSERVATION_DTYPE, ROW_DTYPE
from envs.engine.jit import available_threads
from envs.engine.position import Position
from envs.errors import BadOption, IllegalMove
from envs.games import find_game

MAX_GAMES: Final = 1 << 22


class VectorGames:
    """A batch of games that step together. Every array has one entry a game and is reused: read it, copy what must last.

    `observation` int16[B, O] and `action_mask` int8[B, A] are the mover's, `mover` int8[B] says who that is. A step also deals
    the draw that an action asks for, so the mover is never chance. After a step, `rewards` float32[B, 2] are both seats' (only
    the ply that ends a game pays), `gains` float32[B] is what the ply brought its player ahead in scores, `ended` bool[B] marks
    the games that this step ended, and for these `end_reason` int8[B] (an `EndReason`), `final_observation` int16[B, 2, O] (of
    both seats), `final_scores` int64[B, 2] and `final_plies` int64[B] tell how. An ended game begins anew in the same step, so
    that the arrays already show its start; with `restart=False` it stays over, with an empty mask, and further actions for it
    are ignored.
    """

    def __init__(
        self, game: str, num_games: int, seed: int = 0, threads: int | None = None, restart: bool = True, **options: Any
    ) -> None:
        """`num_games` games at their start, all under the same rules.

        `threads=None` is one: two are almost twice as fast on an idle machine, but many times slower beside a busy process, as
        they wait for each other. Results depend on the seed alone, not on threads, and game i's not on the number of games.
        Raises `BadOption`.
        """
        self._game = find_game(game)
        self.options = self._game.checked_options(options, batch=True)
        self.num_games = _checked("num_games", num_games, 1, MAX_GAMES)
        self.threads = _threads(threads)
        if not isinstance(restart, bool):
            raise BadOption(f"restart must be True or False, not {restart!r}")
        self.restart = restart
        self._rows = np.zeros((num_games, self._game.row_size), ROW_DTYPE)
        self._histories = np.zeros((num_games, self._game.history_size(self.options)), KEY_DTYPE)
        self._start_row = Position.start(game, **self.options).to_arrays()[0]
        self._actions = np.zeros(num_games, np.int64)
        self._all = np.ones(num_games, np.bool_)
        self.observation = np.zeros((num_games, self._game.observation_size), OBSERVATION_DTYPE)
        self.action_mask = np.zeros((num_games, self._game.actions), MASK_DTYPE)
        self.mover = np.zeros(num_games, np.int8)
        self.rewards = np.zeros((num_games, 2), np.float32)
        self.gains = np.zeros(num_games, np.float32)
        self.ended = np.zeros(num_games, np.bool_)
        self.end_reason = np.zeros(num_games, np.int8)
        self.final_observation = np.zeros((num_games, 2, self._game.observation_size), OBSERVATION_DTYPE)
        self.final_scores = np.zeros((num_games, 2), ROW_DTYPE)
        self.final_plies = np.zeros(num_games, ROW_DTYPE)
        self.seed(seed)
        self.reset()

    @property
    def game(self) -> str:
        """The game's name."""
        return self._game.name

    @property
    def running(self) -> np.ndarray:
        """bool[B]: the games that are not over."""
        return self._rows[:, END] == 0

    @property
    def rows(self) -> np.ndarray:
        """The positions as agents take them: int64[B, row size], to be read only."""
        return self._rows

    @property
    def histories(self) -> np.ndarray:
        """The keys of every game's history: int64[B, history size], of which the row says how many count."""
        return self._histories

    def seed(self, seed: int) -> None:
        """Every game has its own new random streams: one for `random_actions`, one for the draws of the rules."""
        children = np.random.SeedSequence(_checked("seed", seed, 0, None)).spawn(self.num_games)
        words = np.array([child.generate_state(2, np.uint64) for child in children]) | np.uint64(1)
        self._streams, self._deals = words[:, 0].copy(), words[:, 1].copy()

    def reset(self, seed: int | None = None, active: np.ndarray | None = None) -> None:
        """Every game, or those that `active` bool[B] marks, is at its start; with a seed, the random streams are too."""
        chosen = self._chosen(active)
        if seed is not None:
            self.seed(seed)
        self._rows[chosen] = self._start_row
        self._clear()

    def load(self, positions: Sequence[Position]) -> None:
        """Game i stands at `positions[i]`; options must be those of the batch. Raises `BadOption` before any game does."""
        if len(positions) != self.num_games:
            raise BadOption(f"{self.num_games} positions are needed, not {len(positions)}")
        for index, position in enumerate(positions):
            if position.game != self.game or position.options != self.options:
                raise BadOption(f"position {index} is {position.game} {position.options}, not {self.game} {self.options}")
            if position.mover == CHANCE:
                raise BadOption(f"position {index} waits for a draw; deal it first")
            if position.end and self.restart:
                raise BadOption(f"position {index} is a finished game; a batch that restarts games holds running ones")
        for index, position in enumerate(positions):
            row, history = position.to_arrays()
            self._rows[index] = row
            self._histories[index, : len(history)] = history
        self._clear()

    def step(self, actions: ArrayLike, active: np.ndarray | None = None) -> None:
        """Every running game has played its action, or only those that `active` bool[B] marks.

        Raises `IllegalMove` before any has, if one action is illegal; actions of other games do not matter.
        """
        try:
            actions = np.asarray(actions)
        except ValueError:
            raise IllegalMove(f"{self.num_games} whole numbers are needed, not {actions!r}") from None
        if actions.shape != (self.num_games,) or actions.dtype.kind not in "iu":
            raise IllegalMove(f"{self.num_games} whole numbers are needed, not {actions.dtype}{list(actions.shape)}")
        chosen = self._chosen(active)
        self._actions[:] = actions
        illegal = kernels.step_batch(
            self.threads,
            self._game.tag,
            self.restart,
            self._start_row,
            self._rows,
            self._histories,
            self._actions,
            chosen,
            self._deals,
            self.observation,
            self.action_mask,
            self.mover,
            self.rewards,
            self.gains,
            self.ended,
            self.end_reason,
            self.final_observation,
            self.final_scores,
            self.final_plies,
        )
        if illegal >= 0:
            legal = ", ".join(map(str, np.flatnonzero(self.action_mask[illegal])))
            raise IllegalMove(f"illegal action {self._actions[illegal]} in game {illegal}; legal are {legal}")

    def random_actions(self, active: np.ndarray | None = None) -> np.ndarray:
        """int64[B]: a uniformly random legal action of every running game, or only of those that `active` bool[B] marks.

        Elsewhere -1. The streams of these games move on.
        """
        actions = np.empty(self.num_games, np.int64)
        kernels.random_actions(self.threads, self._game.tag, self._rows, self._chosen(active), self._streams, actions)
        return actions

    def position(self, index: int) -> Position:
        """Game `index` as it now stands, independent of the batch."""
        return Position(self._game, self._rows[index], self._histories[index])

    def state(self) -> dict[str, np.ndarray]:
        """Copies of all that the batch's future depends on: positions, histories, random streams."""
        kept = {"rows": self._rows, "histories": self._histories, "streams": self._streams, "deals": self._deals}
        return {name: array.copy() for name, array in kept.items()}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """The batch goes on where another one of the same shape and options stood. Raises `BadOption` if it differs."""
        for name, array in self.state().items():
            given = state[name]
            if given.shape != array.shape or given.dtype != array.dtype:
                raise BadOption(f"{name} is {given.dtype}{list(given.shape)}, not {array.dtype}{list(array.shape)}")
        if self._game.read_options(state["rows"][0]) != self.options:
            raise BadOption(f"the state was saved under {self._game.read_options(state['rows'][0])}, not {self.options}")
        self._rows[:], self._histories[:] = state["rows"], state["histories"]
        self._streams[:], self._deals[:] = state["streams"], state["deals"]
        self._clear()

    def clone(self) -> "VectorGames":
        """A batch that goes on exactly like this one, independent of it."""
        return copy.deepcopy(self)

    def bytes_per_game(self) -> float:
        """Memory that the arrays take, a game."""
        arrays = [value for value in vars(self).values() if isinstance(value, np.ndarray)]
        return sum(array.nbytes for array in arrays) / self.num_games

    def _chosen(self, active: np.ndarray | None) -> np.ndarray:
        """`active`, all games if it is None. Raises `BadOption` unless it is bool[B]."""
        if active is None:
            return self._all
        if isinstance(active, np.ndarray) and active.shape == (self.num_games,) and active.dtype == np.bool_:
            return np.ascontiguousarray(active)
        raise BadOption(f"active must be a bool array, one a game ({self.num_games})")

    def _clear(self) -> None:
        """The arrays show the rows as they stand, and no step yet."""
        for array in (self.rewards, self.gains, self.ended, self.end_reason):
            array[...] = 0
        kernels.show_batch(self.threads, self._game.tag, self._rows, self.observation, self.action_mask, self.mover)


def _checked(name: str, value: object, low: int, high: int | None) -> int:
    """The value as an int within its bounds; else `BadOption`."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and low <= value and (high is None or value <= high):
        return int(value)
    raise BadOption(f"{name} must be a whole number {f'from {low} to {high}' if high else f'of at least {low}'}, not {value!r}")


def _threads(threads: int | None) -> int:
    if threads is None:
        return 1
    return _checked("threads", threads, 1, available_threads())
