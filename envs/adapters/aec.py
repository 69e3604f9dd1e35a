"""Any game as a PettingZoo AEC environment."""

import sys
from importlib.util import find_spec
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from envs.engine import kernels
from envs.engine.game import Game
from envs.engine.header import (
    END,
    KEY_DTYPE,
    MASK_DTYPE,
    MOVER,
    OBSERVATION_DTYPE,
    RESULT,
    ROW_DTYPE,
    EndReason,
)
from envs.engine.position import Position
from envs.errors import BadOption, IllegalMove
from envs.games import find_game
from envs.numbers import read_action

AGENTS: Final = ("player_0", "player_1")
RENDER_MODES: Final = ("human", "ansi", "svg")

Observation: TypeAlias = dict[str, np.ndarray]


def observation_box(game: Game) -> spaces.Box:
    """The space of a game's observations: `int16[observation size]`."""
    low, high = game.observation_bounds()
    return spaces.Box(low.astype(OBSERVATION_DTYPE), high.astype(OBSERVATION_DTYPE), dtype=OBSERVATION_DTYPE)


def checked_render_mode(mode: str | None) -> str | None:
    """The mode, if there is such a one; else `BadOption`."""
    if mode == "svg" and find_spec("drawsvg") is None:
        raise BadOption("render mode 'svg' needs the extra 'render': pip install 'spieltisch[render]'")
    if mode is None or mode in RENDER_MODES:
        return mode
    raise BadOption(f"unknown render mode {mode!r}; there are: {', '.join(RENDER_MODES)}")


def rendered(position: Position, mode: str | None) -> str | None:
    """What `render()` returns; in the mode `human` the board goes to the terminal instead."""
    if mode == "svg":
        return position._repr_svg_()
    if mode == "ansi":
        return position.draw()
    if mode == "human":
        sys.stdout.write(position.draw() + "\n\n")
    return None


def deal_stream(seed: int | None) -> np.ndarray:
    """uint64[1]: the random stream of a single game's draws; another one every time without a seed."""
    return np.random.SeedSequence(seed).spawn(1)[0].generate_state(1, np.uint64) | np.uint64(1)


class GameEnv(AECEnv[str, Observation, int]):  # type: ignore[misc]
    """A game for two agents. Each game's own module has its manual page.

    Observations are copies. Both agents get their reward in the step that ends the game. The rules' options are given to
    the constructor; `reset(options=...)` accepts and ignores what it does not know. `copy.deepcopy` and `pickle` keep the
    running game.
    """

    game_name: ClassVar[str]
    metadata: ClassVar[dict[str, Any]]

    def __init__(self, render_mode: str | None = None, **options: Any) -> None:
        """Raises `BadOption` for an unknown render mode or option."""
        super().__init__()
        self._game = find_game(self.game_name)
        self._options = self._game.checked_options(options, batch=True)
        self.render_mode = checked_render_mode(render_mode)
        self._row = np.zeros(self._game.row_size, ROW_DTYPE)
        self._game.write_options(self._row, self._options)
        self._history = np.zeros(self._game.history_size(self._options), KEY_DTYPE)
        self._observations = np.zeros((2, self._game.observation_size), OBSERVATION_DTYPE)
        self._masks = np.zeros((2, self._game.actions), MASK_DTYPE)
        self._scores = np.zeros(2, ROW_DTYPE)
        self._deals = deal_stream(None)
        self.possible_agents = list(AGENTS)
        self.agents = list(AGENTS)
        self.action_spaces = {agent: spaces.Discrete(self._game.actions) for agent in AGENTS}
        self.observation_spaces = {agent: self._space() for agent in AGENTS}

    def _space(self) -> spaces.Dict:
        mask = spaces.Box(0, 1, (self._game.actions,), MASK_DTYPE)
        return spaces.Dict({"observation": observation_box(self._game), "action_mask": mask})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's observation space; always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's action space; always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new game is at its start. A seed decides what chance will deal; without one, its stream goes on."""
        if seed is not None:
            self._deals = deal_stream(seed)
        kernels.start_one(self._game.tag, self._row, self._history)
        kernels.look(self._game.tag, self._row, self._observations, self._masks, self._scores)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[self._row[MOVER]]
        self._show()

    def observe(self, agent: str) -> Observation:
        """The position from the agent's side, and its legal actions: none if it is not to move."""
        seat = AGENTS.index(agent)
        return {"observation": self._observations[seat].copy(), "action_mask": self._masks[seat].copy()}

    def step(self, action: int | None) -> None:
        """The agent to move has played. Raises `IllegalMove` before anything changes."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        mask = self._masks[AGENTS.index(agent)]
        legal = read_action(action, mask)
        if legal is None:
            allowed = ", ".join(map(str, np.flatnonzero(mask)))
            raise IllegalMove(f"illegal action {action!r} of {agent}; legal are {allowed}")
        kernels.play_and_look(
            self._game.tag, self._row, self._history, legal, self._deals, self._observations, self._masks, self._scores
        )
        self._cumulative_rewards[agent] = 0.0
        if self._row[END]:
            self._finish()
        self.agent_selection = AGENTS[self._row[MOVER]]
        self._show()

    def _finish(self) -> None:
        """Both agents have their result, and their infos say why the game is over."""
        result = float(self._row[RESULT])
        self.rewards = dict(zip(AGENTS, (result, -result), strict=True))
        self.terminations = dict.fromkeys(AGENTS, True)
        end = EndReason(int(self._row[END])).label
        self.infos = {agent: {"end": end, "scores": self._scores.tolist()} for agent in AGENTS}
        self._accumulate_rewards()

    def position(self) -> Position:
        """The running game as a `Position`, independent of the environment."""
        return Position(self._game, self._row, self._history)

    def render(self) -> str | None:
        """The board as text (`ansi`), as an SVG document (`svg`), or printed (`human`)."""
        if self.render_mode is None:
            raise BadOption(f"render() needs a render_mode, one of {', '.join(RENDER_MODES)}, given when the env is made")
        return rendered(self.position(), self.render_mode)

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def close(self) -> None:
        """Nothing is held open."""


def wrapped(raw: GameEnv) -> AECEnv[str, Observation, int]:
    """The environment as the library wraps its own: an illegal action ends the game with -1 for who tried it."""
    legal = wrappers.TerminateIllegalWrapper(raw, illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(legal))
