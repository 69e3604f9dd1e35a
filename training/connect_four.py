"""What others start from: PettingZoo's connect four, one game at a time, with MaskablePPO's own settings.

Measured beside our loop, so that plies a second can be compared. It is a yardstick of speed, not a way to train: the learner is
handed the next player's observation with a reward that need not be its.
"""

import time
from typing import Any, Final

import gymnasium
import numpy as np
from pettingzoo.classic import connect_four_v3
from sb3_contrib import MaskablePPO

ROLLOUT: Final = 2048  # plies, the library's own number


class OneGame(gymnasium.Env[np.ndarray, int]):
    """The game seen by whoever is to move."""

    def __init__(self) -> None:
        """A game that has not begun."""
        self._game = connect_four_v3.env()
        self._game.reset()
        player = self._game.possible_agents[0]
        self.observation_space = self._game.observation_space(player)["observation"]
        self.action_space = self._game.action_space(player)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """A new game."""
        self._game.reset(seed)
        return self._seen(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """The action has been played."""
        self._game.step(action)
        _, reward, terminated, truncated, _ = self._game.last()
        return self._seen(), float(reward), bool(terminated), bool(truncated), {}

    def action_masks(self) -> np.ndarray:
        """bool[7]"""
        mask: np.ndarray = self._game.observe(self._game.agent_selection)["action_mask"].astype(np.bool_)
        return mask

    def _seen(self) -> np.ndarray:
        seen: np.ndarray = self._game.observe(self._game.agent_selection)["observation"]
        return seen


def plies_per_second(plies: int) -> float:
    """Of collecting and updating, over so many plies behind the first rollout, on the threads that torch has."""
    learner = MaskablePPO("MlpPolicy", OneGame(), n_steps=ROLLOUT, device="cpu", verbose=0)
    learner.learn(ROLLOUT)
    began = time.perf_counter()
    learner.learn(plies, reset_num_timesteps=False)
    return plies / (time.perf_counter() - began)
