"""The policy and value network, and the file it is kept in.

A network file is safetensors plus settings as JSON: reading one cannot run code from it.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn

from agents.tensors import read_tensors, write_tensors
from envs.errors import BadSpec
from envs.games import find_game

FORMAT: Final = "spieltisch-network-1"


@dataclass(frozen=True)
class Code:
    """How a number of the observation becomes one of `cap + 1` codes: divided by `step`, rounded down, at most `cap`.

    Of a sparse field, a zero says nothing and is left out: what is elsewhere tells it.
    """

    step: int
    cap: int
    sparse: bool = False


# Counts are coded one by one, not fed as magnitudes: three seeds differ from two in kind. Oware's houses rarely hold more
# than 24 seeds, Toguz Kumalak's holes more than 36.
CODES: Final[dict[str, dict[str, Code]]] = {
    "oware": {
        "own_houses": Code(1, 24),
        "other_houses": Code(1, 24),
        "own_store": Code(1, 48),
        "other_store": Code(1, 48),
        "quiet": Code(4, 40),
        "occurrences": Code(1, 3),
    },
    "toguz_kumalak": {
        "own_holes": Code(1, 36),
        "other_holes": Code(1, 36),
        "own_store": Code(1, 82),
        "other_store": Code(1, 82),
        "own_tuzdyk": Code(1, 8),
        "other_tuzdyk": Code(1, 8),
        "quiet": Code(5, 40),
        "occurrences": Code(1, 3),
    },
    "uisge": {
        "board": Code(1, 4, sparse=True),
        "ply": Code(10, 40),
        "occurrences": Code(1, 3),
    },
    "eiyiu": {
        "cells": Code(1, 9, sparse=True),
        "open": Code(1, 1),
        "hidden": Code(1, 1),
        "hand": Code(1, 9),
        "origin": Code(1, 400, sparse=True),
        "own_barred": Code(1, 401, sparse=True),
        "other_barred": Code(1, 401, sparse=True),
        "shifts": Code(10, 20),
    },
}
FILLED: Final = 16  # about how many numbers of a large sparse field are not zero


@dataclass(frozen=True)
class NetworkSettings:
    """All that is needed to build the network again, and what it was trained for."""

    game: str
    options: Mapping[str, Any]
    observation: str  # names and sizes of the fields it was trained on
    width: int = 256
    layers: int = 1

    def __post_init__(self) -> None:
        """Raises `ValueError` for what no network can have."""
        whole = type(self.width) is int and type(self.layers) is int
        if not (whole and self.width > 0 and self.layers >= 0 and isinstance(self.options, Mapping)):
            raise ValueError(f"impossible settings {self}")


def observation_layout(game: str) -> str:
    """The fields of the game's observation: a network trained on another layout cannot play."""
    return " ".join(f"{part.name}:{part.size}" for part in find_game(game).observation)


def coded_columns(game: str) -> tuple[list[int], list[Code]]:
    """The numbers of the game's observation that the network reads, and how each is coded."""
    columns: list[int] = []
    codes: list[Code] = []
    start = 0
    for part in find_game(game).observation:
        if part.name in CODES[game]:
            columns += range(start, start + part.size)
            codes += [CODES[game][part.name]] * part.size
        start += part.size
    return columns, codes


class Network(nn.Module):
    """Observations to logits of the actions and the return that the mover may expect: its result, plus shaping if trained so.

    Each coded number of the observation picks a row of one embedding; their sum goes through residual layers.
    """

    columns: Tensor
    steps: Tensor
    caps: Tensor
    offsets: Tensor
    dense: Tensor

    def __init__(self, settings: NetworkSettings) -> None:
        """A network with random weights."""
        super().__init__()
        self.settings = settings
        game = find_game(settings.game)
        columns, codes = coded_columns(settings.game)
        rows = [code.cap + 1 for code in codes]
        offsets = [sum(rows[:index]) for index in range(len(rows))]
        self.register_buffer("columns", torch.tensor(columns), persistent=False)
        self.register_buffer("steps", torch.tensor([code.step for code in codes]), persistent=False)
        self.register_buffer("caps", torch.tensor([code.cap for code in codes]), persistent=False)
        self.register_buffer("offsets", torch.tensor(offsets), persistent=False)
        self.register_buffer("dense", torch.tensor([not code.sparse for code in codes]), persistent=False)
        self.has_sparse = any(code.sparse for code in codes)
        self.embedding = nn.EmbeddingBag(sum(rows), settings.width, mode="sum")
        self.bias = nn.Parameter(torch.zeros(settings.width))
        self.layers = nn.ModuleList(nn.Linear(settings.width, settings.width) for _ in range(settings.layers))
        self.policy_head = nn.Linear(settings.width, game.actions)
        self.value_head = nn.Linear(settings.width, 1)
        sparse = sum(code.sparse for code in codes)
        self._initialise(len(codes) - sparse + min(sparse, FILLED))

    def _initialise(self, summands: int) -> None:
        """Sums of about unit variance behind the embedding, a nearly uniform policy, a value near 0."""
        nn.init.normal_(self.embedding.weight, std=summands**-0.5)
        gains = [(layer, 2**0.5) for layer in self.layers] + [(self.policy_head, 0.01), (self.value_head, 0.1)]
        for linear, gain in gains:
            assert isinstance(linear, nn.Linear)
            nn.init.orthogonal_(linear.weight, gain=gain)
            nn.init.zeros_(linear.bias)

    def code(self, observations: Tensor) -> Tensor:
        """int64[B, coded numbers]: the embedding's rows for integer observations [B, O]."""
        return torch.minimum(observations[:, self.columns].long() // self.steps, self.caps) + self.offsets

    def embed(self, observations: Tensor) -> Tensor:
        """float32[B, width]: the sum of the embedding's rows for integer observations [B, O]."""
        if not self.has_sparse:
            return self.embedding(self.code(observations))
        numbers = observations[:, self.columns]
        rows, places = ((numbers != 0) | self.dense).nonzero(as_tuple=True)
        kept = numbers[rows, places].long() // self.steps[places]
        codes = torch.minimum(kept, self.caps[places]) + self.offsets[places]
        starts = torch.searchsorted(rows, torch.arange(len(numbers), device=rows.device))
        return self.embedding(codes, starts)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """float32[B, A] logits, illegal actions not yet excluded, and float32[B] values of the observations [B, O]."""
        features = torch.relu(self.embed(observations) + self.bias)
        for layer in self.layers:
            features = features + torch.relu(layer(features))
        return self.policy_head(features), self.value_head(features).squeeze(1)


def log_probabilities(logits: Tensor, masks: Tensor) -> Tensor:
    """float32[B, A]: the policy's logarithm; illegal actions (mask 0) have probability 0.

    Their logarithms are finite, as the entropy wants 0 of them, and lower than the logits of a policy gone wild.
    """
    return torch.log_softmax(logits.masked_fill(masks == 0, torch.finfo(logits.dtype).min / 2), dim=1)


def save_network(path: str | os.PathLike[str], network: Network, summary: Mapping[str, Any] | None = None) -> None:
    """The file holds weights and settings, and the summary of the run they come from; or is as it was if writing fails."""
    texts = {"settings": json.dumps(asdict(network.settings)), "summary": json.dumps(summary or {})}
    write_tensors(path, network.state_dict(), {"format": FORMAT, **texts})


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
