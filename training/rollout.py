"""The rollout buffer for games in which one policy plays both sides, or one side against opponents.

A value is the result that the player to move may expect. So where the mover has changed between two samples, the next one's
value and advantage count with the other sign. What decides is who acted and who is to move, never the parity of plies: a
player may move twice in a row, and where opponents answered the same player is to move again. Discounts are a ply's: the next
value counts gamma to the power of the plies that lie between.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from stable_baselines3.common.buffers import RolloutBuffer

from agents.network import Answers, Seen


class Turns(Protocol):
    """Knows, after a step, who acted in each game and who is to move."""

    actor: np.ndarray
    span: np.ndarray  # int[B]: plies since the actor's action, itself included
    steps: int  # taken since it was made

    @property
    def mover(self) -> np.ndarray:
        """int8[B]"""


class Plies(NamedTuple):
    """Plies of a rollout, one row each."""

    seen: Seen
    actions: torch.Tensor
    old_log_prob: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor
    leads: torch.Tensor  # how far ahead the actor was at the end in scores; not a number where the rollout does not show it
    draw_returns: torch.Tensor  # what is to be foretold of draws; zeros unless they are charged

    def rows(self, indices: torch.Tensor, device: torch.device | str) -> "Plies":
        """The plies int64[M] alone, in that order, their numbers on the device."""
        return Plies(self.seen[indices.numpy()], *(part[indices].to(device) for part in self[1:]))


class TurnBuffer(MaskableRolloutBuffer):
    """A maskable rollout buffer whose returns and advantages follow the mover.

    `same_mover[t, i]` is +1 where the actor of step t is to move again in game i, else -1; `spans[t, i]` is how many plies
    lie between that step's position and the next; `leads[t, i]` is what `note_lead` was told of the game's end, turned to each
    step's actor; `draws[t, i]` is what `note_draw` was told of it, `foretold_draws[t, i]` what the network had foretold;
    `looks` are what it saw of the plies, in their order. Minibatches come from the buffer's own generator, not from NumPy's
    global one.
    """

    def __init__(self, *args: Any, turns: Turns, seed: int = 0, **kwargs: Any) -> None:
        """`turns` is the environment; it must have stepped when a transition is added."""
        self.turns = turns
        self._seen_steps = turns.steps
        self.rng = np.random.default_rng(seed)
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """The buffer is empty."""
        self.same_mover = np.zeros((self.buffer_size, self.n_envs), np.float32)
        self.spans = np.ones((self.buffer_size, self.n_envs), np.int64)
        self.leads = np.full((self.buffer_size, self.n_envs), np.nan, np.float32)
        self.draws = np.zeros((self.buffer_size, self.n_envs), np.float32)
        self.foretold_draws = np.zeros_like(self.draws)
        self.draw_returns = np.zeros_like(self.draws)
        self.looks: list[Seen] = []
        RolloutBuffer.reset(self)  # what lies between would make masks of four bytes an action, anew for each rollout
        self.mask_dims = int(self.action_space.n)  # type: ignore[attr-defined]
        self.action_masks = np.zeros((self.buffer_size, self.n_envs, self.mask_dims), np.bool_)

    def add(  # type: ignore[override]
        self,
        observations: np.ndarray,
        actions: np.ndarray,
        rewards: np.ndarray,
        starts: np.ndarray,
        answers: Answers,
        action_masks: np.ndarray,
    ) -> None:
        """The transition is stored, whether its actor is to move again, and its plies; `actions` are those played.

        Raises `RuntimeError` if `turns` has not stepped since the last one: it is then not the environment being played.
        """
        if self.turns.steps == self._seen_steps:
            raise RuntimeError("the buffer's `turns` is not the environment that is being played")
        self._seen_steps = self.turns.steps
        here = self.pos
        self.same_mover[here] = np.where(self.turns.actor == self.turns.mover, 1.0, -1.0)
        self.spans[here] = self.turns.span
        self.observations[here] = observations
        self.actions[here] = actions.reshape(-1, 1)
        self.rewards[here] = rewards
        self.episode_starts[here] = starts
        self.values[here] = answers.values.cpu().numpy()
        self.log_probs[here] = answers.chances.cpu().numpy()
        self.foretold_draws[here] = answers.draws.cpu().numpy()
        self.action_masks[here] = action_masks
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def note_lead(self, game: int, lead: float) -> None:
        """The game ended with the transition that was added last, its actor so far ahead in scores."""
        self.leads[self.pos - 1, game] = lead

    def note_draw(self, game: int, worth: float) -> None:
        """The game was drawn with the transition that was added last; so much counts a draw that is so many plies away."""
        self.draws[self.pos - 1, game] = worth

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: np.ndarray) -> None:
        """Generalised advantages and returns, each from the side of its own ply's mover.

        `gae_lambda` is a sample's, as only samples have values.
        """
        last = last_values.detach().cpu().numpy().flatten()
        self.advantages = self._generalised(self.rewards, self.values, last, dones, self.same_mover)
        self.returns = self.advantages + self.values
        for step in reversed(range(self.buffer_size - 1)):
            later = self.leads[step + 1] * self.same_mover[step]
            self.leads[step] = np.where(self.episode_starts[step + 1], self.leads[step], later)

    def charge_draws(self, cost: float, last_foretold: torch.Tensor, dones: np.ndarray) -> None:
        """A draw costs either player so much in advantages, but not in returns; `draw_returns` are to be foretold.

        What both players pay keeps its sign where the mover changes.
        """
        last = last_foretold.detach().cpu().numpy().flatten()
        advantages = self._generalised(self.draws, self.foretold_draws, last, dones, np.ones_like(self.same_mover))
        self.draw_returns = advantages + self.foretold_draws
        self.advantages -= np.float32(cost) * advantages

    def _generalised(
        self, rewards: np.ndarray, values: np.ndarray, last: np.ndarray, dones: np.ndarray, signs: np.ndarray
    ) -> np.ndarray:
        """float32[T, B]: the advantages if what comes next counts with these signs; `last` are the values behind it."""
        discounts = np.array([self.gamma**plies for plies in range(int(self.spans.max()) + 1)])
        advantages = np.empty_like(values)
        next_values, running = last, 1.0 - dones.astype(np.float32)
        advantage = np.zeros(self.n_envs, np.float32)
        for step in reversed(range(self.buffer_size)):
            onward = running * signs[step]
            discount = discounts[self.spans[step]]
            delta = rewards[step] + discount.astype(np.float32) * onward * next_values - values[step]
            advantage = delta + (discount * self.gae_lambda).astype(np.float32) * onward * advantage
            advantages[step] = advantage
            next_values, running = values[step], 1.0 - self.episode_starts[step]
        return advantages

    def minibatches(self, batch_size: int) -> Sequence[torch.Tensor]:
        """The numbers of the rollout's plies int64[M], minibatch by minibatch, in a new random order."""
        return torch.split(torch.from_numpy(self.permutation()), batch_size)

    def plies(self) -> Plies:
        """The whole rollout, sharing the buffer's memory."""
        self.looks = [Seen.together(self.looks)] if len(self.looks) > 1 else self.looks
        rollout = self.tensors()
        told = (torch.from_numpy(flat(part)) for part in (self.leads, self.draw_returns))
        return Plies(self.looks[0], rollout.actions, rollout.old_log_prob, rollout.advantages, rollout.returns, *told)

    def get(self, batch_size: int | None = None) -> Iterator[MaskableRolloutBufferSamples]:  # type: ignore[override]
        """The same as the library knows it."""
        rollout = self.tensors()
        for indices in self.minibatches(batch_size or self.buffer_size * self.n_envs):
            yield MaskableRolloutBufferSamples(*(part[indices].to(self.device) for part in rollout))

    def tensors(self) -> MaskableRolloutBufferSamples:
        """The whole rollout as the library knows it, one row a ply, sharing the buffer's memory."""
        parts = (self.observations, self.actions[..., 0], self.values, self.log_probs, self.advantages, self.returns)
        return MaskableRolloutBufferSamples(*(torch.from_numpy(flat(part)) for part in (*parts, self.action_masks)))

    def permutation(self) -> np.ndarray:
        """A new random order of the rollout's plies."""
        return self.rng.permutation(self.buffer_size * self.n_envs)


def flat(part: np.ndarray) -> np.ndarray:
    """A rollout's numbers [T, B, ...] ply by ply, all games' first plies first."""
    return part.reshape(-1, *part.shape[2:])
