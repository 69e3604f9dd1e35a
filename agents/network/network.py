"""The policy and value network."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from agents.network import kernels
from agents.network.encoding import VERSIONS, Encoding, Seen, encoding
from agents.network.relations import NO_ROW
from agents.network.sparse import EmbeddingSum, Judgement, Residual, log_policy
from envs.errors import IllegalMove
from envs.games import find_game

IMPOSSIBLE: Final = -1e9  # about the logarithm of an illegal action's probability


@dataclass(frozen=True)
class NetworkSettings:
    """All that is needed to build the network again, and what it was trained for."""

    game: str
    options: Mapping[str, Any]
    observation: str  # names and sizes of the fields it was trained on
    width: int = 256
    layers: int = 1
    encoding: str = "counts"
    foretells_lead: bool = False  # whether a head beside was trained to foretell the final lead
    foretells_draws: bool = False  # whether another one was trained to foretell draws
    encoding_version: int = 1  # of what the encoding's rows meant when it was trained

    @classmethod
    def today(cls, game: str, options: Mapping[str, Any], **shape: Any) -> "NetworkSettings":
        """Settings of a network that is to be trained with today's observations and encodings. Raises `ValueError`."""
        return cls(game, options, observation_layout(game), encoding_version=VERSIONS[game], **shape)

    def __post_init__(self) -> None:
        """Raises `ValueError` for what no network can have."""
        whole = type(self.width) is int and type(self.layers) is int
        if not (whole and self.width > 0 and self.layers >= 0 and isinstance(self.options, Mapping)):
            raise ValueError(f"impossible settings {self}")
        encoding(self.game, self.encoding)


def observation_layout(game: str) -> str:
    """The fields of the game's observation: a network trained on another layout cannot play."""
    return " ".join(f"{part.name}:{part.size}" for part in find_game(game).observation)


class Network(nn.Module):
    """Observations to a policy and the return that the mover may expect: its result, plus
    shaping and less repetitions' costs if trained so.

    What the encoding sees in an observation picks rows of one embedding; their sum goes through residual layers. Observations
    int16[B, O] and masks bool or int8 [B, A] lie in the CPU's memory wherever the network does; answers lie where it does.
    """

    def __init__(self, settings: NetworkSettings) -> None:
        """A network with random weights."""
        super().__init__()
        self.settings = settings
        self.encoding: Encoding = encoding(settings.game, settings.encoding)
        self.brief = False  # whether layers multiply in bfloat16 while training
        self.embedding = nn.EmbeddingBag(self.encoding.rows, settings.width, mode="sum")
        self.bias = nn.Parameter(torch.zeros(settings.width))
        self.layers = nn.ModuleList(nn.Linear(settings.width, settings.width) for _ in range(settings.layers))
        self.policy_head = nn.Linear(settings.width, self.encoding.action_rows)
        self.value_head = nn.Linear(settings.width, 1)
        if settings.foretells_lead:
            self.lead_head = nn.Linear(settings.width, 1)
        if settings.foretells_draws:
            self.draw_head = nn.Linear(settings.width, 1)
        self._initialise()

    def _initialise(self) -> None:
        """Sums of about unit variance behind the embedding, a nearly uniform policy, a value near 0."""
        nn.init.normal_(self.embedding.weight, std=self.encoding.usual**-0.5)
        gains = [(layer, 2**0.5) for layer in self.layers] + [(self.policy_head, 0.01), (self.value_head, 0.1)]
        if self.settings.foretells_lead:
            gains.append((self.lead_head, 0.1))
        if self.settings.foretells_draws:
            gains.append((self.draw_head, 0.1))
        for linear, gain in gains:
            assert isinstance(linear, nn.Linear)
            nn.init.orthogonal_(linear.weight, gain=gain)
            nn.init.zeros_(linear.bias)

    @property
    def device(self) -> torch.device:
        """Where the network computes."""
        return self.bias.device

    def look(self, observations: Tensor, masks: Tensor) -> Seen:
        """What the network sees of observations int16[B, O], with legal actions where masks [B, A] are not 0."""
        plain_masks = (masks if masks.element_size() == 1 else masks != 0).contiguous().view(torch.int8)
        return self.encoding.look(observations.contiguous().numpy(), plain_masks.numpy())

    def forward(self, observations: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """float32[B, A], the logarithms of the actions' probabilities, illegal ones' `-inf`; float32[B], the values."""
        seen = self.look(observations, masks)
        features = self.features(seen)
        return self.log_policy(seen, features), self.value_head(features).squeeze(1)

    def value(self, observations: Tensor) -> Tensor:
        """float32[B]: the values alone."""
        return self.value_head(self._features_of(observations)).squeeze(1)

    def draws(self, observations: Tensor) -> Tensor:
        """float32[B]: the foretold draws alone, see `Answers`."""
        return self._foretold_draws(self._features_of(observations))

    def _features_of(self, observations: Tensor) -> Tensor:
        no_actions = torch.zeros((len(observations), self.encoding.game.actions), dtype=torch.int8)
        return self.features(self.look(observations, no_actions))

    def _foretold_draws(self, features: Tensor) -> Tensor:
        return self.draw_head(features).squeeze(1) if self.settings.foretells_draws else features.new_zeros(len(features))

    def act(self, seen: Seen, numbers: Tensor) -> "Answers":
        """Legal actions and what is thought of them, without gradients.

        A number of float32[B], in [0, 1), decides which action is drawn; a negative one takes the most probable. Raises
        `IllegalMove` where a position has no legal action.
        """
        if (np.diff(seen.starts) == 0).any():
            raise IllegalMove("a position without a legal action was given to a network")
        with torch.no_grad():
            features = self.features(seen)
            values, draws = self.value_head(features).squeeze(1), self._foretold_draws(features)
            if self.device.type != "cpu":
                return Answers(*self._draw_densely(self.log_policy(seen, features), numbers), values, draws)
            logs = log_policy(seen, features, self.policy_head.weight, self.policy_head.bias)
            actions, chances = torch.empty(len(seen), dtype=torch.int64), torch.empty(len(seen))
            kernels.draw_actions(logs, seen.starts, seen.actions, numbers.numpy(), actions.numpy(), chances.numpy())
        return Answers(actions, chances, values, draws)

    def _draw_densely(self, logs: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Actions and the logarithms of their probabilities, on any device; there its own generator draws."""
        drawn = torch.multinomial(logs.exp().nan_to_num(1.0), 1).squeeze(1)  # the caller sees what is not finite
        actions = torch.where(numbers.to(self.device) < 0, logs.argmax(dim=1), drawn)
        return actions, logs.gather(1, actions[:, None]).squeeze(1)

    def judge(self, seen: Seen, actions: Tensor, magnet: "Network | None" = None, share: float = 0.0) -> "Judged":
        """What is thought of positions and of the actions taken in them.

        The divergence is the mean, over the policy, of the logarithm of a probability less `share` times that of another
        network: minus the entropy without a `magnet`, the reverse Kullback-Leibler divergence from it if the share is 1.
        """
        features = self.features(seen)
        values = self.value_head(features).squeeze(1)
        leads = self.lead_head(features).squeeze(1) if self.settings.foretells_lead else None
        draws = self._foretold_draws(features) if self.settings.foretells_draws else None
        if self.device.type == "cpu":
            head, reference = self.policy_head, np.zeros(len(seen.actions), np.float32)
            if magnet is not None:
                reference += np.float32(share) * magnet.legal_logs(seen)
            chances, divergences = Judgement.apply(  # type: ignore[no-untyped-call]
                features, head.weight, head.bias, seen, actions, reference
            )
            return Judged(values, chances, divergences, leads, draws)
        logs = self.log_policy(seen, features)
        chances = logs.gather(1, actions.to(self.device)[:, None]).squeeze(1)
        differences = logs.clamp(min=IMPOSSIBLE)
        if magnet is not None:
            with torch.no_grad():
                differences = differences - share * magnet.log_policy(seen, magnet.features(seen)).clamp(min=IMPOSSIBLE)
        return Judged(values, chances, (logs.exp() * differences).sum(dim=1), leads, draws)

    def legal_logs(self, seen: Seen) -> np.ndarray:
        """float32[N]: the logarithms of the legal actions' probabilities, on the CPU, without gradients."""
        with torch.no_grad():
            return log_policy(seen, self.features(seen), self.policy_head.weight, self.policy_head.bias)

    def log_policy(self, seen: Seen, features: Tensor) -> Tensor:
        """float32[B, A]: the logarithms of the actions' probabilities by dense operations, on any device."""
        weights = sums_of_rows(self.policy_head.weight, seen.picked_by_actions)
        biases = sums_of_rows(self.policy_head.bias[:, None], seen.picked_by_actions)
        positions = torch.from_numpy(np.repeat(np.arange(len(seen)), np.diff(seen.starts))).to(self.device)
        actions = torch.from_numpy(seen.actions.astype(np.int64)).to(self.device)
        logits = features.new_full((len(seen), self.encoding.game.actions), -torch.inf)
        logits[positions, actions] = (weights * features[positions]).sum(dim=1) + biases.squeeze(1)
        return torch.log_softmax(logits, dim=1)

    def features(self, seen: Seen) -> Tensor:
        """float32[B, W]: what the heads see."""
        if self.device.type == "cpu":
            picked = torch.from_numpy(seen.picked)
            features = EmbeddingSum.apply(  # type: ignore[no-untyped-call]
                picked, self.embedding.weight, self.bias
            )
        else:
            features = torch.relu(sums_of_rows(self.embedding.weight, seen.picked) + self.bias)
        for layer in self.layers:
            features = Residual.apply(  # type: ignore[no-untyped-call]
                features, layer.weight, layer.bias, self.brief and self.training
            )
        return features


class Answers(NamedTuple):
    """What a network plays, and thinks of it; without gradients."""

    actions: Tensor  # int64[B]
    chances: Tensor  # float32[B], logarithms of the actions' probabilities
    values: Tensor  # float32[B]
    draws: Tensor  # float32[B], how likely a draw is, the later the less; zeros without a head for it


class Judged(NamedTuple):
    """float32[B] each, with gradients."""

    values: Tensor
    chances: Tensor  # logarithms of the actions' probabilities
    divergences: Tensor
    leads: Tensor | None  # what the final lead is foretold to be, in the units it was trained with
    draws: Tensor | None  # as in `Answers`


def sums_of_rows(matrix: Tensor, picked: np.ndarray) -> Tensor:
    """float32[N, W]: the sums of the rows of the matrix [R, W] that int16[N, K] names up to `NO_ROW`, on any device."""
    there = np.logical_and.accumulate(picked != NO_ROW, axis=1)
    counts = there.sum(axis=1)
    rows = torch.from_numpy(picked[there].astype(np.int64)).to(matrix.device)
    starts = torch.from_numpy(np.cumsum(counts) - counts).to(matrix.device)
    return nn.functional.embedding_bag(rows, matrix, starts, mode="sum")
