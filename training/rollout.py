"""The rollout buffer for games in which one policy plays both sides.

A value is the result that the player to move may expect. So where the mover has changed between two plies, the next ply's
value and advantage count with the other sign. What decides is who acted and who is to move, never the parity of plies: a
player may move twice in a row.
"""

from typing import Any, Protocol

import numpy as np
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer


class Turns(Protocol):
    """Knows, after a step, who acted in each game and who is to move."""

    actor: np.ndarray

    @property
    def mover(self) -> np.ndarray:
        """int8[B]"""


class TurnBuffer(MaskableRolloutBuffer):
    """A maskable rollout buffer whose returns and advantages follow the mover.

    `same_mover[t, i]` is +1 where the actor of step t is to move again in game i, else -1. Minibatches come from the buffer's
    own generator, not from NumPy's global one.
    """

    def __init__(self, *args: Any, turns: Turns, seed: int = 0, **kwargs: Any) -> None:
        """`turns` is the environment; it must have stepped when a transition is added."""
        self.turns = turns
        self.rng = np.random.default_rng(seed)
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """The buffer is empty."""
        self.same_mover = np.zeros((self.buffer_size, self.n_envs), np.float32)
        super().reset()

    def add(self, *args: Any, **kwargs: Any) -> None:
        """The transition is stored, and whether its actor is to move again."""
        self.same_mover[self.pos] = np.where(self.turns.actor == self.turns.mover, 1.0, -1.0)
        super().add(*args, **kwargs)

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: np.ndarray) -> None:
        """Generalised advantages and returns, each from the side of its own ply's mover."""
        next_values = last_values.detach().cpu().numpy().flatten()
        running = 1.0 - dones.astype(np.float32)
        advantage = np.zeros(self.n_envs, np.float32)
        for step in reversed(range(self.buffer_size)):
            onward = running * self.same_mover[step]
            delta = self.rewards[step] + self.gamma * onward * next_values - self.values[step]
            advantage = delta + self.gamma * self.gae_lambda * onward * advantage
            self.advantages[step] = advantage
            next_values = self.values[step]
            running = 1.0 - self.episode_starts[step]
        self.returns = self.advantages + self.values

    def tensors(self) -> dict[str, torch.Tensor]:
        """The whole rollout, one row a ply: what an update needs, sharing the buffer's memory."""
        parts = {
            "observations": self.observations,
            "actions": self.actions[..., 0],
            "masks": self.action_masks,
            "old_values": self.values,
            "old_log_probabilities": self.log_probs,
            "advantages": self.advantages,
            "returns": self.returns,
        }
        return {name: torch.from_numpy(part.reshape(-1, *part.shape[2:])) for name, part in parts.items()}

    def permutation(self) -> np.ndarray:
        """A new random order of the rollout's plies."""
        return self.rng.permutation(self.buffer_size * self.n_envs)
