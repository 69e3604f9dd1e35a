"""The file that a network is kept in: safetensors plus settings as JSON. Reading one cannot run code from it."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import torch
from torch import Tensor

from agents.network.encoding import VERSIONS
from agents.network.network import Network, NetworkSettings, observation_layout
from agents.tensors import read_tensors, write_tensors
from envs.errors import BadSpec

FORMAT: Final = "spieltisch-network-1"
STEPS: Final = ".steps"  # behind the name of a matrix in eight bits: the size of each row's steps
TINY: Final = 1e-30  # a row of zeros has steps, too


def save_network(
    path: str | os.PathLike[str], network: Network, summary: Mapping[str, Any] | None = None, compact: bool = False
) -> None:
    """The file holds weights and settings, and the summary of the run they come from; or is as it was if writing fails.

    A compact one is about a quarter as large: matrices are in eight bits, with steps of their own for each row, vectors in
    sixteen.
    """
    texts = {"settings": json.dumps(asdict(network.settings)), "summary": json.dumps(summary or {})}
    weights = network.state_dict()
    write_tensors(path, compacted(weights) if compact else weights, {"format": FORMAT, **texts})


def compacted(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights in fewer bits; what a matrix's steps are follows its name."""
    few: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.dim() == 2:
            steps = weight.abs().amax(dim=1, keepdim=True).clamp(min=TINY) / torch.iinfo(torch.int8).max
            few |= {name: (weight / steps).round().to(torch.int8), f"{name}{STEPS}": steps}
        else:
            few[name] = weight.half()
    return few


def expanded(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights as they were, but for what was rounded off."""
    return {
        name: weight * weights[f"{name}{STEPS}"] if f"{name}{STEPS}" in weights else weight
        for name, weight in weights.items()
        if not name.endswith(STEPS)
    }


def load_network(path: str | os.PathLike[str]) -> Network:
    """The network of a file, on the CPU, ready to play. Raises `BadSpec` for anything that is none, or of another version."""
    try:
        weights, texts = read_tensors(path, FORMAT)
    except ValueError as error:
        raise BadSpec(f"no network: {error}") from None
    try:
        settings = NetworkSettings(**json.loads(texts["settings"]))
        layout = observation_layout(settings.game)
        if settings.observation != layout:
            raise ValueError(f"it was trained on other observations ({settings.observation})")
        check_version(settings.game, settings.encoding_version)
        with torch.random.fork_rng(devices=[]):  # the random weights it begins with shall not disturb anybody's stream
            network = Network(settings)
        network.load_state_dict(expanded(weights))
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise BadSpec(f"{path} does not hold a network that can be used here: {reason}") from None
    return network.eval()


def check_version(game: str, version: int) -> None:
    """Raises `ValueError` where an encoding of another version than today's would be misread."""
    if version != VERSIONS[game]:
        raise ValueError(f"what it sees of {game} is coded in version {version}, here in {VERSIONS[game]}")


def network_summary(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The summary of the run that a network file comes from; empty if it comes from none. Raises `BadSpec`."""
    try:
        return json.loads(read_tensors(path, FORMAT)[1]["summary"])
    except (KeyError, ValueError) as error:
        raise BadSpec(f"no network: {error}") from None
