"""Small learners for tests, and rollouts that several of them share."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from envs.adapters.sb3 import SelfPlayVecEnv
from training.config import Config, checked_config
from training.learner import SelfPlayPPO, make_games, make_learner

ROLLOUT = (
    "observations",
    "actions",
    "rewards",
    "episode_starts",
    "values",
    "log_probs",
    "action_masks",
    "advantages",
    "returns",
)


def small_config(**changes: Any) -> Config:
    """A config of a learner that updates in no time; changes are top-level keys."""
    small = {
        "game": "oware",
        "games": 8,
        "plies": 8 * 64 * 4,
        "plies_per_update": 8 * 64,
        "batch_size": 256,
        "network": {"width": 16, "layers": 1, "products": "float32"},
        "evaluation": {"games": 4, "final_games": 4, "opponents": ["random"]},
        "threads": 1,
    }
    return checked_config({**small, **changes})


def new_learner(**changes: Any) -> SelfPlayPPO:
    """A learner at its beginning, ready to collect, whose policy is not uniform."""
    torch.set_num_threads(1)  # as a run does: the parts of a batch have threads of their own
    config = small_config(**changes)
    learner = make_learner(make_games(config), config)
    learner._setup_learn(config.plies, None)
    with torch.no_grad():
        learner.policy.network.policy_head.weight.mul_(100)
        learner.policy.network.value_head.weight.mul_(10)
    return learner


def copy_rollout(source: SelfPlayPPO, target: SelfPlayPPO) -> None:
    """The target stands where the source does: the same rollout, network and progress."""
    for name in ROLLOUT:
        setattr(target.rollout_buffer, name, getattr(source.rollout_buffer, name).copy())
    target.rollout_buffer.looks = list(source.rollout_buffer.looks)
    target.rollout_buffer.full = True
    target._current_progress_remaining = source._current_progress_remaining
    target.policy.network.load_state_dict(source.policy.network.state_dict())


def recorded(env: SelfPlayVecEnv) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """A list that grows with every step of the environment: who acted, what they got, which games ended."""
    log: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    original = env.step_wait

    def step_wait() -> Any:
        answer = original()
        log.append((env.actor.copy(), answer[1].copy(), answer[2].copy()))
        return answer

    env.step_wait = step_wait  # type: ignore[method-assign]
    return log
