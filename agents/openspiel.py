"""An opponent from outside: the Monte Carlo tree search of OpenSpiel, over the rules of this project.

OpenSpiel has an Oware of its own, but it cannot be set to a position (a state of it is its moves from the start), ends a game
at the second occurrence of a position and knows no limit of quiet plies. So its search walks the engine's positions, which
`State` shows it the way it shows its own games; it then plays every game, with the exact rules. Search, tree, proofs of wins
and choice of the move are the library's; rollouts run in a kernel.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import pyspiel
from open_spiel.python.algorithms.mcts import MCTSBot

from agents.mcts.rollout import random_result
from envs.engine import kernels
from envs.engine.game import Game
from envs.engine.header import CHANCE, END, KEY_DTYPE, KEYS, MASK_DTYPE, MOVER, RESULT
from envs.games import find_game

EXPLORATION: Final = 2.0  # as in OpenSpiel's examples

OPENSPIEL_GAME: Final = SimpleNamespace(  # what the bot asks a game: whether it can be searched, and what a win is worth
    get_type=lambda: SimpleNamespace(
        reward_model=pyspiel.GameType.RewardModel.TERMINAL, dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL
    ),
    max_utility=lambda: 1.0,
)


class State:
    """A position as OpenSpiel's search walks it: the part of the methods of `pyspiel.State` that it calls."""

    __slots__ = ("_game", "history", "row")

    def __init__(self, game: Game, row: np.ndarray, history: np.ndarray) -> None:
        """The state changes `row` and `history`, which must have room for a whole game's keys."""
        self._game = game
        self.row = row
        self.history = history

    @classmethod
    def at(cls, game: Game, row: np.ndarray, keys: np.ndarray) -> "State":
        """A state with copies of a row and its keys. Raises `BadOption` under rules whose history knows no bound."""
        options = game.checked_options(game.read_options(row), batch=True)
        history = np.zeros(kernels.history_room(game.history_size(options), 1), KEY_DTYPE)
        history[: row[KEYS]] = keys[: row[KEYS]]
        return cls(game, row.copy(), history)

    def clone(self) -> "State":
        """An equal state, independent of this one."""
        return State(self._game, self.row.copy(), self.history.copy())

    def apply_action(self, action: int) -> None:
        """The legal action, or the draw, has been played."""
        kernels.play_one(self._game.tag, self.row, self.history, action)

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return bool(self.row[END])

    def is_chance_node(self) -> bool:
        """Whether a draw is to be dealt."""
        return bool(self.row[MOVER] == CHANCE and not self.row[END])

    def current_player(self) -> int:
        """The seat to move, or OpenSpiel's numbers for chance and for the end."""
        if self.is_terminal():
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if self.is_chance_node() else int(self.row[MOVER])

    def legal_actions(self, player: int | None = None) -> list[int]:
        """The mover's legal actions, or what may be dealt, ascending; none once the game is over or for another player."""
        if player is not None and player != self.current_player():
            return []
        mask = np.zeros(self._game.actions, MASK_DTYPE)
        kernels.legal_one(self._game.tag, self.row, mask)
        actions: list[int] = mask.nonzero()[0].tolist()
        return actions

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """What may be dealt, and how likely each is."""
        return evenly(self.legal_actions())

    def returns(self) -> list[float]:
        """Both seats' results, +1, 0 or -1; nothing while the game runs."""
        result = float(self.row[RESULT])
        return [result, -result]


class RandomRollouts:
    """OpenSpiel's evaluator by random games, played in a kernel: one a position, every action and draw as likely."""

    def __init__(self, game: Game, seed: int) -> None:
        """The games depend on the seed alone."""
        self._tag = game.tag
        self._streams = np.array([seed | 1], np.uint64)
        self._row = np.zeros(game.row_size, np.int64)
        self._history = np.zeros(0, KEY_DTYPE)

    def evaluate(self, state: State) -> list[float]:
        """Both seats' results of a random game from the state."""
        if len(self._history) < len(state.history):
            self._history = np.zeros(len(state.history), KEY_DTYPE)
        result = float(random_result(self._tag, state.row, state.history, self._streams, self._row, self._history))
        return [result, -result]

    def prior(self, state: State) -> list[tuple[int, float]]:
        """The actions to search, each with the same prior."""
        return evenly(state.legal_actions())


def evenly(actions: Sequence[int]) -> list[tuple[int, float]]:
    """The actions, each with the same probability."""
    return [(action, 1.0 / len(actions)) for action in actions]


class OpenSpielAgent:
    """Plays what OpenSpiel's `MCTSBot` chooses after so many simulations, by UCT with one random game a simulation."""

    def __init__(self, game: str, simulations: int, exploration: float = EXPLORATION) -> None:
        """Two simulations are the least: the first one evaluates the root."""
        chosen = "" if exploration == EXPLORATION else f",c={exploration:g}"
        self.spec = f"openspiel_mcts:simulations={simulations}{chosen}"
        self._game = find_game(game)
        self._simulations = simulations
        self._exploration = exploration

    def act(
        self,
        rows: np.ndarray,
        histories: np.ndarray,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """See `Agent.act`."""
        bot = self._bot(rng)
        states = (State.at(self._game, row, keys) for row, keys in zip(rows, histories, strict=True))
        return np.array([bot.step(state) for state in states], np.int64)

    def _bot(self, rng: np.random.Generator) -> Any:
        """OpenSpiel's bot, which shuffles, deals and rolls out by the stream."""
        evaluator = RandomRollouts(self._game, int(rng.integers(1 << 63)))
        return MCTSBot(OPENSPIEL_GAME, self._exploration, self._simulations, evaluator, random_state=rng)
