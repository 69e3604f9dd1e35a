"""One file that holds all a run needs to go on as if it had never stopped.

It is safetensors (weights, optimiser, games, random states) with JSON beside (config, counters, evaluations): reading one
cannot run code from it.
"""

import json
import os
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from agents.network import check_version
from agents.tensors import read_tensors, write_tensors
from envs.errors import BadConfig
from training.learner import SelfPlayPPO

FORMAT: Final = "spieltisch-checkpoint-1"
ADAM: Final = ("step", "exp_avg", "exp_avg_sq")
FILE: Final = "checkpoint.safetensors"


def save_checkpoint(path: str | os.PathLike[str], learner: SelfPlayPPO, facts: dict[str, Any]) -> None:
    """The file holds the learner's whole state and the JSON facts, or is as it was if writing fails."""
    tensors, counters = learner_state(learner)
    write_tensors(path, tensors, {"format": FORMAT, "facts": json.dumps(facts), "counters": json.dumps(counters)})


def read_checkpoint(path: str | os.PathLike[str]) -> tuple[dict[str, Tensor], dict[str, Any], dict[str, Any]]:
    """Tensors, counters and facts of a file. Raises `BadConfig` for anything that is none, or of another version."""
    try:
        tensors, texts = read_tensors(path, FORMAT)
    except ValueError as error:
        raise BadConfig(f"no checkpoint: {error}") from None
    try:
        counters, facts = json.loads(texts["counters"]), json.loads(texts["facts"])
        kinds = {"config": dict, "seconds": float, "evaluations": list, "commit": str}
        if not isinstance(counters, dict) or {name: type(value) for name, value in facts.items()} != kinds:
            raise ValueError(f"its facts are not {', '.join(kinds)}")
    except (KeyError, ValueError, AttributeError) as error:
        raise BadConfig(f"{path} is a damaged checkpoint: {error}") from None
    return tensors, counters, facts


def learner_state(learner: SelfPlayPPO) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """All that the learner's future depends on, between two updates."""
    tensors = {f"network.{name}": tensor for name, tensor in learner.policy.network.state_dict().items()}
    for index, values in learner.policy.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": torch.as_tensor(value) for name, value in values.items()}
    for name, array in learner.env.games.state().items():  # type: ignore[union-attr]
        tensors[f"games.{name}"] = torch.from_numpy(array)
    tensors["last_observation"] = torch.from_numpy(np.asarray(learner._last_obs))
    tensors["episode_starts"] = torch.from_numpy(np.asarray(learner._last_episode_starts))
    tensors["torch_state"] = torch.get_rng_state()
    if learner.device.type == "cuda":
        tensors["cuda_state"] = torch.cuda.get_rng_state(learner.device)
    counters = {
        "encoding_version": learner.policy.settings.encoding_version,
        "num_timesteps": learner.num_timesteps,
        "n_updates": learner._n_updates,
        "shuffle_state": learner.rollout_buffer.rng.bit_generator.state,
    }
    if learner.magnet is not None:
        tensors |= {f"magnet.{name}": tensor for name, tensor in learner.magnet.state_dict().items()}
    if learner.league is not None:
        league, counters["league"] = learner.league.state()
        tensors |= {f"league.{name}": tensor for name, tensor in league.items()}
    return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}, counters


def restore_learner(learner: SelfPlayPPO, tensors: dict[str, Tensor], counters: dict[str, Any]) -> None:
    """The learner goes on where the saved one stopped. Raises `BadConfig` where the state does not fit it."""
    try:
        check_version(learner.policy.settings.game, counters.get("encoding_version", 1))
        learner.policy.network.load_state_dict(_under(tensors, "network."))
        optimizer = learner.policy.optimizer.state_dict()
        optimizer["state"] = _optimizer_state(_under(tensors, "optimizer."), list(learner.policy.network.parameters()))
        learner.policy.optimizer.load_state_dict(optimizer)
        games = {name: tensor.numpy() for name, tensor in _under(tensors, "games.").items()}
        learner.env.games.restore(games)  # type: ignore[union-attr]
        if learner.magnet is not None:
            learner.magnet.load_state_dict(_under(tensors, "magnet."))
        if learner.league is not None:
            learner.league.restore(_under(tensors, "league."), counters["league"], learner.policy.network)
        learner._last_obs = tensors["last_observation"].numpy().copy()
        learner._last_episode_starts = tensors["episode_starts"].numpy().copy()
        torch.set_rng_state(tensors["torch_state"])
        if learner.device.type == "cuda" and "cuda_state" in tensors:
            torch.cuda.set_rng_state(tensors["cuda_state"], learner.device)
        learner.num_timesteps = int(counters["num_timesteps"])
        learner._n_updates = int(counters["n_updates"])
        learner.rollout_buffer.rng.bit_generator.state = counters["shuffle_state"]
    except (KeyError, ValueError, TypeError, RuntimeError) as error:
        raise BadConfig(f"the checkpoint does not fit the run: {' '.join(str(error).split())[:200]}") from None


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _optimizer_state(tensors: dict[str, Tensor], parameters: list[Tensor]) -> dict[int, dict[str, Tensor]]:
    """Adam's state of every parameter, none before the first update. Raises `KeyError` or `ValueError` if it is not whole."""
    state = {
        index: {part: tensors[f"{index}.{part}"] for part in ADAM} for index in (range(len(parameters)) if tensors else ())
    }
    if any(state[index]["exp_avg"].shape != parameter.shape for index, parameter in enumerate(parameters) if state):
        raise ValueError("the optimiser's state is another network's")
    return state
