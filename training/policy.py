"""The policy of self-play: `agents.network.Network` behind the library's interface.

A batch is cut into as many parts as there are threads, and each part stays on its thread. Two threads inside every matrix
product are as fast on an idle machine, but several times slower than one beside a busy process, as they wait for each other
at every product.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor

from agents.network import Answers, Network, NetworkSettings, Seen

Answer = TypeVar("Answer")


class Parts:
    """Calls a function on the parts of a batch, one thread a part."""

    def __init__(self, threads: int) -> None:
        """So many parts, computed at the same time."""
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads)

    def __call__(self, function: Callable[..., Answer], *batch: Tensor | Seen) -> list[Answer]:
        """The function's answers, in the order of the parts."""
        if self.threads == 1:
            return [function(*batch)]
        parts = [whole.tensor_split(self.threads) for whole in batch]
        return list(self._pool.map(function, *parts))


class NetworkPolicy(MaskableActorCriticPolicy):
    """The library's policy interface over a `Network`."""

    def __init__(
        self, *args: Any, settings: NetworkSettings, parts: Parts, weights: Mapping[str, Tensor], **kwargs: Any
    ) -> None:
        """A policy with a new network of these settings, random where no weights are given; it answers a batch in parts."""
        self.settings = settings
        self.weights = weights
        self.parts = parts
        super().__init__(*args, **kwargs)

    def _build(self, lr_schedule: Schedule) -> None:
        self.network = Network(self.settings)
        self.network.load_state_dict(self.weights, strict=False)  # a head beside may be here alone, or there
        self.optimizer = self.optimizer_class(
            self.network.parameters(),
            lr=lr_schedule(1),  # type: ignore[call-arg]
            fused=True,
            **self.optimizer_kwargs,
        )

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: Tensor | np.ndarray | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions [B], values [B, 1] and the actions' log-probabilities [B]. Raises `ValueError` without masks."""
        _, answers = self.look_and_act(obs.cpu(), needed(action_masks), deterministic)
        return answers.actions, answers.values[:, None], answers.chances

    def look_and_act(
        self, observations: Tensor, masks: Tensor, deterministic: bool = False
    ) -> tuple[tuple[Seen, ...], Answers]:
        """What the network sees of the batch, part by part, and its answers to all of it."""
        numbers = torch.full((len(observations),), -1.0) if deterministic else torch.rand(len(observations))
        seen, answers = zip(*self.parts(self._look_and_act, observations, masks, numbers), strict=True)
        return seen, Answers(*(torch.cat(parts) for parts in zip(*answers, strict=True)))

    def _look_and_act(self, observations: Tensor, masks: Tensor, numbers: Tensor) -> tuple[Seen, Answers]:
        seen = self.network.look(observations, masks)
        return seen, self.network.act(seen, numbers)

    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Tensor | np.ndarray | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Values [B, 1], log-probabilities of the actions [B], entropies [B]. Raises `ValueError` without masks."""
        judged = self.network.judge(self.network.look(obs.cpu(), needed(action_masks)), actions.long().cpu())
        return judged.values[:, None], judged.chances, -judged.divergences

    def predict_values(self, obs: Any) -> Tensor:
        """Values [B, 1]."""
        with torch.no_grad():
            return self.network.value(obs.cpu())[:, None]

    def _predict(self, observation: Any, deterministic: bool = False, action_masks: np.ndarray | None = None) -> Tensor:
        return self.forward(observation, deterministic, action_masks)[0]


def needed(masks: Tensor | np.ndarray | None) -> Tensor:
    """The masks, in the CPU's memory. Raises `ValueError` if there are none."""
    if masks is None:
        raise ValueError("the policy needs action masks: without them it would play illegal moves")
    return torch.as_tensor(masks, device="cpu")
