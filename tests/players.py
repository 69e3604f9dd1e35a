"""Simple players, and games played by hand against them, to hold environments and arenas against."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import envs
from envs import Position, VectorGames
from envs.engine.header import CHANCE


class Lowest:
    """Plays the lowest legal action, and counts the positions it was asked about."""

    spec = "lowest"

    def __init__(self) -> None:
        self.asked = 0

    def act(
        self,
        rows: np.ndarray,
        histories: np.ndarray,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        self.asked += len(rows)
        return masks.argmax(axis=1)


class Uniform:
    """Plays any legal action, each as likely, from the stream it is given."""

    spec = "uniform"

    def act(
        self,
        rows: np.ndarray,
        histories: np.ndarray,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        return np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)


def answer(agent: Any, position: Position, rng: np.random.Generator | None = None) -> int:
    """The agent's action in one position, asked the way a batch asks."""
    return int(answers(agent, [position], rng)[0])


def answers(agent: Any, positions: list[Position], rng: np.random.Generator | None = None) -> np.ndarray:
    """The agent's actions in several positions, asked all at once."""
    return agent.act(*batch_of(positions), np.random.default_rng(0) if rng is None else rng)


def batch_of(positions: list[Position]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows, histories, the movers' observations and masks of positions, as `VectorGames` would hand them to an agent."""
    pairs = [position.to_arrays() for position in positions]
    histories = np.zeros((len(pairs), 1 + max(len(keys) for _, keys in pairs)), pairs[0][1].dtype)
    for index, (_, keys) in enumerate(pairs):
        histories[index, : len(keys)] = keys
    return (
        np.array([row for row, _ in pairs]),
        histories,
        np.array([position.observation() for position in positions]),
        np.array([position.action_mask() for position in positions]),
    )


def numpys_global_state() -> bytes:
    """The state of NumPy's global generator, which nothing of ours may use."""
    return bytes(pickle.dumps(np.random.get_state()))  # noqa: NPY002 (that is what is looked at)


@dataclass
class Episode:
    """One game of a learner against an opponent, as the learner lived it."""

    seat: int
    draws: int = 0  # the random stream of its draws as it begins
    observations: list[np.ndarray] = field(default_factory=list)
    masks: list[np.ndarray] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    reward: float = 0.0
    final_observation: np.ndarray | None = None
    end: str = ""
    scores: list[int] = field(default_factory=list)


class Dealer:
    """Deals in games over `Position` what a batch of one game deals that is seeded and reset alike."""

    def __init__(self, game: str, **options: Any) -> None:
        self._games = VectorGames(game, 1, restart=False, **options)
        self._start = envs.start(game, **options)

    def start(self, seed: int | None = None) -> Position:
        """A new game, under a new seed if one is given."""
        self._games.reset(seed)
        return self._start

    def play(self, position: Position, action: int) -> Position:
        """The position after the action, and after the draw that it asks for."""
        self._games.step([action])
        return dealt_as_in(self._games, 0, position.play(action))


def dealt_as_in(games: VectorGames, index: int, position: Position) -> Position:
    """The position after the draw that stands in that game of a batch; the position itself if it waits for none."""
    if position.mover != CHANCE:
        return position
    dealt = (position.play(deal) for deal in position.legal_actions())
    return next(after for after in dealt if after == games.position(index))


def episode_by_hand(dealer: Dealer, opponent: Any, seat: int, actions: Iterator[int], seed: int | None = None) -> Episode:
    """The same game played over `Position`: the n-th legal action for every number of `actions`, counted round."""
    position, episode = dealer.start(seed), Episode(seat)
    while not position.end:
        if position.mover == seat:
            legal = position.legal_actions()
            action = legal[next(actions) % len(legal)]
            episode.observations.append(position.observation(seat))
            episode.masks.append(position.action_mask())
            episode.actions.append(action)
        else:
            action = answer(opponent, position)
        position = dealer.play(position, action)
    assert position.result is not None
    episode.reward = float(position.result[seat])
    episode.final_observation = position.observation(seat)
    episode.end = position.end.label
    episode.scores = list(position.scores)
    return episode


def assert_same_episode(one: Episode, other: Episode) -> None:
    """Both games were the same in all that the learner saw and got."""
    assert (one.seat, one.actions, one.reward, one.end, one.scores) == (
        other.seat,
        other.actions,
        other.reward,
        other.end,
        other.scores,
    )
    np.testing.assert_array_equal(np.array(one.observations), np.array(other.observations))
    np.testing.assert_array_equal(np.array(one.masks), np.array(other.masks))
    np.testing.assert_array_equal(one.final_observation, other.final_observation)
