"""MaskablePPO with our network and a faster update.

The library keeps the schedules, the logger and what is saved. Collecting and updating are ours, over `training.policy`, which
cuts batches into parts.
"""

import copy
import ctypes
from contextlib import suppress
from typing import Any, Final

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.common.utils import explained_variance
from torch import Tensor

from agents.network import Network, NetworkSettings, load_network
from agents.network.symmetry import SYMMETRIES, inverses, turned, turned_actions
from agents.spec import network_file
from envs.adapters.sb3 import SelfPlayVecEnv
from envs.errors import BadConfig
from training.config import Config
from training.league import League
from training.policy import NetworkPolicy, Parts
from training.rollout import Plies, TurnBuffer

M_TRIM_THRESHOLD: Final = -1  # glibc's names and numbers, see mallopt(3)
M_MMAP_THRESHOLD: Final = -3
KEPT_BYTES: Final = 1 << 30
STARTED: Final = ("width", "layers", "encoding")  # what must be the same in a network that a run starts with
LEAD_UNIT: Final = 10.0  # points of a score in one of what is foretold


class NotFinite(ArithmeticError):
    """Says what is not a finite number any more."""


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO over a `TurnBuffer`; batches are computed in parts.

    The entropy coefficient may be annealed with `entropy_schedule`, a function of the remaining progress like the library's
    learning rate. With a `league`, snapshots of the network are taken for it, the first one here. With `symmetries`, plies are
    answered and learned from as they look through a symmetry of the board, which the buffer's generator draws.
    `magnet`, `magnet_updates`, `lead_weight` and `draw_cost` are the config's.
    """

    policy: NetworkPolicy
    rollout_buffer: TurnBuffer
    batch_size: int

    def __init__(
        self,
        *args: Any,
        entropy_schedule: Schedule | None = None,
        league: League | None = None,
        symmetries: bool = False,
        magnet: float = 0.0,
        magnet_updates: int = 1,
        lead_weight: float = 0.0,
        draw_cost: float = 0.0,
        **kwargs: Any,
    ) -> None:
        """Arguments are the library's, and those above."""
        super().__init__(*args, **kwargs)
        self.symmetries = symmetries
        self.entropy_schedule = entropy_schedule
        self.league = league
        self.magnet_weight = magnet
        self.magnet_updates = magnet_updates
        self.lead_weight = lead_weight
        self.draw_cost = draw_cost
        self.magnet = copy.deepcopy(self.policy.network).requires_grad_(False).eval() if magnet else None
        if league is not None:
            league.watch(self.policy.network, 0)

    def collect(self) -> None:
        """The buffer holds a new rollout; the schedules know how far the run was before it. Raises `NotFinite`.

        The library's loop, less what it does once a step and game in Python.
        """
        env, buffer = self.env, self.rollout_buffer
        assert isinstance(env, SelfPlayVecEnv) and self.ep_info_buffer is not None
        self._update_current_progress_remaining(self.num_timesteps, self._total_timesteps)
        if self.league is not None:
            self.league.watch(self.policy.network, self.num_timesteps)
        self.policy.set_training_mode(False)
        buffer.reset()
        for _ in range(self.n_steps):
            starts = self._last_episode_starts
            assert starts is not None
            observations, masks, which = self._what_is_shown(env.action_masks())
            seen, answers = self.policy.look_and_act(torch.from_numpy(observations), torch.from_numpy(masks))
            buffer.looks += seen
            actions = answers.actions.cpu().numpy()
            self._last_obs, rewards, ended, infos = env.step(self._as_played(observations, actions, which))  # type: ignore[assignment]
            self._last_episode_starts = ended
            buffer.add(observations, actions, rewards, starts, answers, masks)
            for index in np.flatnonzero(ended).tolist():
                self.ep_info_buffer.append(infos[index]["episode"])
                own, other = infos[index]["scores"][:: 1 - 2 * int(env.actor[index])]
                buffer.note_lead(index, own - other)
                if infos[index]["episode"]["r"] == 0:
                    buffer.note_draw(index, self.gamma ** (int(env.span[index]) - 1))
            self.num_timesteps += env.num_envs
        if not (np.isfinite(buffer.values).all() and np.isfinite(buffer.log_probs).all()):
            raise NotFinite("the network's answers")
        last = torch.from_numpy(self._last_obs)
        buffer.compute_returns_and_advantage(self.policy.predict_values(last), ended)
        if self.draw_cost:
            with torch.no_grad():
                buffer.charge_draws(self.draw_cost, self.policy.network.draws(last), ended)
        if self.league is not None:
            for name, score in self.league.scores().items():
                self.logger.record(f"league/{name.replace(':', '_')}", score)

    def _what_is_shown(self, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Observations and masks for the network, and the symmetries that they are seen through, if any."""
        observations, game = self._last_obs, self.policy.settings.game
        assert isinstance(observations, np.ndarray)
        if not self.symmetries:
            return observations, masks, None
        which = self.rollout_buffer.rng.integers(SYMMETRIES[game], size=len(masks))
        return *turned(game, observations, masks, which), which

    def _as_played(self, observations: np.ndarray, actions: np.ndarray, which: np.ndarray | None) -> np.ndarray:
        """The actions that the network chose in what it saw, on the board as it lies."""
        if which is None:
            return actions
        return turned_actions(self.policy.settings.game, observations, actions, inverses(which))

    def train(self) -> None:
        """The policy has been updated from the rollout: `n_epochs` passes in minibatches."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        if self.entropy_schedule is not None:
            self.ent_coef = self.entropy_schedule(self._current_progress_remaining)
        clip = self.clip_range(self._current_progress_remaining)  # type: ignore[operator]
        parameters = list(self.policy.network.parameters())
        plies = self.rollout_buffer.plies()
        statistics = []
        for _ in range(self.n_epochs):
            for indices in self.rollout_buffer.minibatches(self.batch_size):
                statistics.append(self._update(parameters, plies, indices, clip))
            self._n_updates += 1
        self._move_magnet()
        self._log_update(torch.stack(statistics), clip)

    def _move_magnet(self) -> None:
        """The moving average has come as much nearer to the network as one update does."""
        if self.magnet is not None:
            with torch.no_grad():
                for average, parameter in zip(self.magnet.parameters(), self.policy.network.parameters(), strict=True):
                    average.lerp_(parameter, 1 / self.magnet_updates)

    def _update(self, parameters: list[torch.nn.Parameter], plies: Plies, indices: Tensor, clip: float) -> Tensor:
        """One optimiser step from the minibatch of the plies `indices`; returns its statistics."""
        advantages = plies.advantages[indices]
        mean, deviation = advantages.mean(), advantages.std() + 1e-8

        def gradient(rows: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
            part = plies.rows(rows, self.device)  # gathered here, as it takes long enough to be shared by the threads
            return self._gradient(
                parameters, part._replace(advantages=(part.advantages - mean) / deviation), len(indices), clip
            )

        answers = self.policy.parts(gradient, indices)
        for parameter, *gradients in zip(parameters, *(gradient for gradient, _ in answers), strict=True):
            parameter.grad = sum(gradients[1:], start=gradients[0])
        torch.nn.utils.clip_grad_norm_(parameters, self.max_grad_norm)
        self.policy.optimizer.step()
        return sum((statistics for _, statistics in answers[1:]), start=answers[0][1])

    def _gradient(
        self, parameters: list[torch.nn.Parameter], part: Plies, size: int, clip: float
    ) -> tuple[tuple[Tensor, ...], Tensor]:
        """The gradient of a part's share in the loss of a minibatch of `size` plies, and its share in the statistics."""
        weight = self.ent_coef + self.magnet_weight
        share = self.magnet_weight / weight if self.magnet is not None else 0.0
        judged = self.policy.network.judge(part.seen, part.actions.long(), self.magnet, share)
        difference = judged.chances - part.old_log_prob
        ratio = difference.exp()
        advantages = part.advantages
        policy_loss = -torch.min(advantages * ratio, advantages * ratio.clamp(1 - clip, 1 + clip)).sum() / size
        value_loss = (judged.values - part.returns).square().sum() / size
        regularity = judged.divergences.sum() / size
        loss = policy_loss + weight * regularity + self.vf_coef * value_loss
        if judged.leads is not None:
            error = torch.where(part.leads.isnan(), 0, judged.leads - part.leads / LEAD_UNIT)
            loss = loss + self.lead_weight * error.square().sum() / size
        if judged.draws is not None:
            loss = loss + self.vf_coef * (judged.draws - part.draw_returns).square().sum() / size
        gradient = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            divergence = ((ratio - 1) - difference).sum() / size
            clipped = ((ratio - 1).abs() > clip).float().sum() / size
            statistics = torch.stack([policy_loss, value_loss, -regularity, divergence, clipped, loss]).cpu()
        return gradient, statistics

    def _log_update(self, statistics: Tensor, clip: float) -> None:
        regularity = "entropy" if self.magnet is None else "entropy_and_magnet"  # with a magnet they are one sum
        names = ("policy_gradient_loss", "value_loss", regularity, "approx_kl", "clip_fraction", "loss")
        for name, value in zip(names, statistics.mean(dim=0).tolist(), strict=True):
            self.logger.record(f"train/{name}", value)
        buffer = self.rollout_buffer
        self.logger.record("train/explained_variance", explained_variance(buffer.values.ravel(), buffer.returns.ravel()))
        self.logger.record("train/entropy_coefficient", self.ent_coef)
        self.logger.record("train/clip_range", clip)
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")


def prepare_torch() -> None:
    """Torch computes every product on one thread, as an update brings its own, and keeps the memory that it frees.

    By itself glibc gives each large block back to the system and gets it anew, page by page, which takes as long as what is
    computed in it.
    """
    torch.set_num_threads(1)
    with suppress(OSError, AttributeError):  # another C library than glibc
        libc = ctypes.CDLL("libc.so.6")
        libc.mallopt(M_MMAP_THRESHOLD, KEPT_BYTES)
        libc.mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)


def make_games(config: Config) -> SelfPlayVecEnv:
    """The games that the config asks for, played by one policy from both sides, or as its league says."""
    return SelfPlayVecEnv(
        config.game,
        config.games,
        seed=config.seed,
        shaping=config.shaping,
        repetition_cost=config.repetition_cost,
        threads=1,
        opening_plies=config.opening_plies,
        opponents=League(config) if any(config.league.counts(config.games)) else None,
        gamma=config.gamma,
        **config.options,
    )


def starting_network(config: Config) -> Network | None:
    """The network that a new run begins with, None if with random weights. Raises `BadSpec` and `BadConfig`."""
    if config.start is None:
        return None
    network = load_network(network_file(config.start))
    for name, wanted in (("game", config.game), *((name, getattr(config.network, name)) for name in STARTED)):
        if (found := getattr(network.settings, name)) != wanted:
            raise BadConfig(f"start: {config.start} has {name} {found}, the run {wanted}")
    return network


def make_learner(env: SelfPlayVecEnv, config: Config, start: Network | None = None) -> SelfPlayPPO:
    """A new learner over the games that the config asks for, with the weights of `start` where its network has them too.

    Raises `BadConfig` if its device is not there.
    """
    if config.device == "cuda" and not torch.cuda.is_available():
        raise BadConfig("device: torch finds no CUDA device here; use cpu or auto")
    settings = NetworkSettings.today(
        config.game,
        env.games.options,
        width=config.network.width,
        layers=config.network.layers,
        encoding=config.network.encoding,
        foretells_lead=config.lead_weight > 0,
        foretells_draws=config.draw_cost > 0,
    )
    learner = SelfPlayPPO(
        NetworkPolicy,
        env,
        learning_rate=linear(config.learning_rate, config.learning_rate_end),
        entropy_schedule=linear(config.entropy, config.entropy_end),
        magnet=config.magnet,
        magnet_updates=config.magnet_updates,
        lead_weight=config.lead_weight,
        draw_cost=config.draw_cost,
        league=env.opponents if isinstance(env.opponents, League) else None,
        symmetries=config.symmetries,
        n_steps=config.plies_per_update // config.games,
        batch_size=config.batch_size,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.entropy,
        vf_coef=config.value_coefficient,
        max_grad_norm=config.max_gradient,
        rollout_buffer_class=TurnBuffer,
        rollout_buffer_kwargs={"turns": env, "seed": config.seed},
        policy_kwargs={"settings": settings, "parts": Parts(config.threads), "weights": start.state_dict() if start else {}},
        seed=config.seed,
        device=config.device,
    )
    learner.set_logger(Logger(None, []))  # the library would make a folder among the system's temporary files
    learner.policy.network.brief = multiplies_briefly(config.network.products, learner.device)
    return learner


def multiplies_briefly(products: str, device: torch.device) -> bool:
    """Whether an update's products are bfloat16's; by itself where the processor has such, twice as fast as float32's."""
    if products == "auto":
        return device.type != "cpu" or torch.cpu._is_avx512_bf16_supported()
    return products == "bfloat16"


def not_finite(learner: SelfPlayPPO) -> list[str]:
    """What the last update has left that is not finite: its loss, and weights by name."""
    loss = learner.logger.name_to_value["train/loss"]
    weights = learner.policy.network.state_dict().items()
    spoilt = [f"the weights {name}" for name, weight in weights if not weight.isfinite().all()]
    return spoilt if np.isfinite(loss) else ["the loss", *spoilt]


def linear(first: float, last: float) -> Schedule:
    """From `first` to `last` while the remaining progress goes from 1 to 0."""
    return lambda remaining: last + (first - last) * remaining
