"""The player that runs a trained network."""

import os
import sys
from collections.abc import Mapping

import numpy as np
import torch

from agents.network import Network, load_network
from envs.errors import BadSpec, IllegalMove
from envs.games import find_game


class PolicyAgent:
    """Plays the network's most probable legal action, or draws one when `temperature` is above 0."""

    def __init__(self, spec: str, network: Network, temperature: float = 0.0) -> None:
        """The network is used as it is, not copied."""
        self.spec = spec
        self.network = network
        self.temperature = temperature

    @classmethod
    def from_file(
        cls,
        spec: str,
        path: str | os.PathLike[str],
        game: str,
        options: Mapping[str, object],
        temperature: float = 0.0,
    ) -> "PolicyAgent":
        """The agent of a network file; warns on stderr if it was trained under other options. Raises `BadSpec`."""
        network = load_network(path)
        settings = network.settings
        if settings.game != game:
            raise BadSpec(f"{spec!r} plays {settings.game}, not {game}")
        played = find_game(game).checked_options(options, batch=False)
        if dict(settings.options) != played:
            print(f"warning: {spec} was trained with {dict(settings.options)}, not with {played}", file=sys.stderr)
        return cls(spec, network, temperature)

    def act(
        self,
        rows: np.ndarray,
        histories: np.ndarray,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """See `Agent.act`. Raises `IllegalMove` where a mask leaves no action."""
        if not masks.any(axis=1).all():
            raise IllegalMove("a position without a legal action was given to a policy")
        with torch.no_grad():
            seen, legal = (torch.from_numpy(np.ascontiguousarray(part)) for part in (observations, masks))
            policy = self.network(seen, legal)[0].cpu().numpy()
        if self.temperature > 0:
            with np.errstate(over="ignore"):  # a temperature near 0 leaves nothing but the best
                policy = (policy - policy.max(axis=1, keepdims=True)).astype(np.float64) / self.temperature
            policy += rng.gumbel(size=policy.shape)
        return np.where(masks, policy, -np.inf).argmax(axis=1)
