"""The file that a network is kept in: safetensors plus settings as JSON. Reading one cannot run code from it."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import torch

from agents.network.network import Network, NetworkSettings, observation_layout
from agents.tensors import read_tensors, write_tensors
from envs.errors import BadSpec

FORMAT: Final = "spieltisch-network-1"


def save_network(
    path: str | os.PathLike[str], network: Network, summary: Mapping[str, Any] | None = None, dtype: torch.dtype = torch.float32
) -> None:
    """The file holds weights and settings, and the summary of the run they come from; or is as it was if writing fails."""
    texts = {"settings": json.dumps(asdict(network.settings)), "summary": json.dumps(summary or {})}
    weights = {name: weight.to(dtype) for name, weight in network.state_dict().items()}
    write_tensors(path, weights, {"format": FORMAT, **texts})


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
        with torch.random.fork_rng(devices=[]):  # the random weights it begins with shall not disturb anybody's stream
            network = Network(settings)
        network.load_state_dict(weights)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise BadSpec(f"{path} does not hold a network that can be used here: {reason}") from None
    return network.eval()


def network_summary(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The summary of the run that a network file comes from; empty if it comes from none. Raises `BadSpec`."""
    try:
        return json.loads(read_tensors(path, FORMAT)[1]["summary"])
    except (KeyError, ValueError) as error:
        raise BadSpec(f"no network: {error}") from None
