"""Whom the learner meets beside itself: past snapshots of its network, and fixed opponents.

A share of the batch's games are games of one seat: the learner plays it, an opponent the other. Fixed opponents keep their
games; a snapshot is drawn when a game begins, more often the less the learner scores against it.
"""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from agents.agent import Agent
from agents.network import Network
from agents.policy import PolicyAgent
from agents.spec import make_agent
from envs.adapters.sb3 import BOTH
from envs.engine.vector import VectorGames
from training.config import Config

FADING: Final = 0.99  # what a result still counts after another game against the same opponent
LEAST_WEIGHT: Final = 0.1  # of a snapshot that always loses; 1 is that of one which always wins
STREAM: Final = 1 << 30  # the league's random stream among those that a seed is parted into; games have lower numbers


@dataclass
class Record:
    """The learner's results against an opponent, in which old games fade; a draw is half a point."""

    points: float = 0.0
    games: float = 0.0

    def add(self, result: float) -> None:
        """One more game has ended: 1 won, 0 drawn, -1 lost."""
        self.points = FADING * self.points + (1 + result) / 2
        self.games = FADING * self.games + 1

    @property
    def weight(self) -> float:
        """How much this opponent is wanted: 1 less the learner's score.

        The score is taken as if one more game had been lost, so that those that have not been played are tried.
        """
        return max(1 - self.points / (self.games + 1), LEAST_WEIGHT)


@dataclass
class Snapshot:
    """A past state of the learner's network, which answers like any agent."""

    plies: int  # that the learner had played
    agent: PolicyAgent
    record: Record = field(default_factory=Record)


def is_kept(number: int, newest: int) -> bool:
    """Whether a snapshot is among those whose ages double, the newest one and all being numbered in the order they were taken.

    Of the ages 1, 2 to 3, 4 to 7 and so on there is exactly one each: the multiple of 1, 2, 4. So what is dropped is never
    wanted again.
    """
    age = newest - number
    return age == 0 or number % (1 << (age.bit_length() - 1)) == 0


class League:
    """The opponents of a run, as `envs.adapters.sb3.Opponents` has them.

    `seats` int8[B] is the learner's seat in each game; in games of one seat it changes with every game. `opponents` int64[B]
    says who has the other one: a snapshot's number, or -1 - k for the k-th fixed opponent; where the learner has both seats it
    says nothing.
    """

    def __init__(self, config: Config) -> None:
        """A league before its first game. Against past snapshots nothing can be played before the first one is taken."""
        league = config.league
        self.temperature = league.temperature
        self.most = league.snapshots
        self.spacing = league.snapshot_plies
        self.fixed: list[Agent] = [make_agent(spec, config.game, config.options) for spec in league.opponents]
        self.specs = list(league.opponents)
        self.records = [Record() for _ in self.fixed]
        self.snapshots: dict[int, Snapshot] = {}
        self.rng = np.random.default_rng(np.random.SeedSequence(config.seed, spawn_key=(STREAM,)))
        past, *others = league.counts(config.games)
        one_seat = past + sum(others)
        both = config.games - one_seat
        fixed = np.repeat(-1 - np.arange(len(others)), others)
        self.opponents = np.concatenate([np.zeros(both + past, np.int64), fixed.astype(np.int64)])
        self.meets_past = (np.arange(config.games) >= both) & (np.arange(config.games) < both + past)
        self._first_seats = np.concatenate([np.full(both, BOTH, np.int8), (np.arange(one_seat) % 2).astype(np.int8)])
        self.seats = self._first_seats.copy()

    # What the environment asks.

    def reset(self) -> None:
        """All games are about to begin anew; snapshots are drawn for those that meet one."""
        self.seats = self._first_seats.copy()
        self._draw_snapshots(np.flatnonzero(self.meets_past))

    def act(self, games: VectorGames, waiting: np.ndarray) -> np.ndarray:
        """int64[B]: the opponents' actions in the games that `waiting` marks; each opponent answers all of its at once."""
        actions = np.full(len(waiting), -1, np.int64)
        for number in np.unique(self.opponents[waiting]):
            turn = np.flatnonzero(waiting & (self.opponents == number))
            actions[turn] = self._agent(int(number)).act(
                games.rows[turn], games.histories[turn], games.observation[turn], games.action_mask[turn], self.rng
            )
        return actions

    def next_games(self, ended: np.ndarray, results: np.ndarray) -> None:
        """The results count, the learner has the other seat now, and where a snapshot played one is drawn anew."""
        for number, result in zip(self.opponents[ended].tolist(), results.tolist(), strict=True):
            self._record(number).add(result)
        self.seats[ended] = 1 - self.seats[ended]
        self._draw_snapshots(ended[self.meets_past[ended]])

    def _draw_snapshots(self, games: np.ndarray) -> None:
        """In each of the games a snapshot has the other seat."""
        if len(games) == 0:
            return
        if not self.snapshots:
            raise RuntimeError("the league holds no snapshot yet: its learner takes the first one")
        numbers = self.drawn_from()
        weights = np.array([self.snapshots[number].record.weight for number in numbers])
        self.opponents[games] = self.rng.choice(numbers, size=len(games), p=weights / weights.sum())

    def _agent(self, number: int) -> Agent:
        return self.snapshots[number].agent if number >= 0 else self.fixed[-1 - number]

    def _record(self, number: int) -> Record:
        return self.snapshots[number].record if number >= 0 else self.records[-1 - number]

    # What the learner tells.

    def watch(self, network: Network, plies: int) -> None:
        """A snapshot has been taken if it was time to, the learner having played so many plies."""
        if self.meets_past.any() and (not self.snapshots or plies - self.snapshots[self._newest].plies >= self.spacing):
            self.snapshots[self._newest + 1] = self._snapshot(network, plies)
            wanted = {*self.drawn_from(), *self.opponents[self.meets_past].tolist()}  # some are still playing
            self.snapshots = {number: self.snapshots[number] for number in self.snapshots if number in wanted}

    def drawn_from(self) -> list[int]:
        """The numbers of the snapshots that new games may be played against, the newest first."""
        kept = [number for number in sorted(self.snapshots, reverse=True) if is_kept(number, self._newest)]
        return kept[: self.most]

    @property
    def _newest(self) -> int:
        return max(self.snapshots, default=-1)

    def _snapshot(self, network: Network, plies: int) -> Snapshot:
        frozen = copy.deepcopy(network).eval().requires_grad_(False)
        return Snapshot(plies, PolicyAgent(f"past:{plies}", frozen, self.temperature))

    def scores(self) -> dict[str, float]:
        """The learner's recent score against each fixed opponent, all snapshots taken together (`past`), and each one of them.

        `past_1` is the newest snapshot, with higher numbers they are older. Who has not been played yet is left out.
        """
        snapshots = [self.snapshots[number].record for number in self.drawn_from()] if self.snapshots else []
        records = dict(zip(self.specs, self.records, strict=True))
        records["past"] = _together(snapshots)
        records |= {f"past_{place}": record for place, record in enumerate(snapshots, start=1)}
        return {name: record.points / record.games for name, record in records.items() if record.games}

    # What a checkpoint holds.

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and JSON of all that the league's future depends on."""
        tensors = {"opponents": torch.from_numpy(self.opponents), "seats": torch.from_numpy(self.seats)}
        for number, snapshot in self.snapshots.items():
            weights = snapshot.agent.network.state_dict()
            tensors |= {f"snapshots.{number}.{name}": tensor for name, tensor in weights.items()}
        facts = {
            "stream": self.rng.bit_generator.state,
            "fixed": [[record.points, record.games] for record in self.records],
            "snapshots": [
                [number, snapshot.plies, snapshot.record.points, snapshot.record.games]
                for number, snapshot in self.snapshots.items()
            ],
        }
        return tensors, facts

    def restore(self, tensors: Mapping[str, Tensor], facts: Mapping[str, Any], network: Network) -> None:
        """The league goes on where another one stood, `network` being any of the snapshots' kind.

        Raises `KeyError`, `ValueError`, `TypeError` or `RuntimeError` where the state is not whole or is another league's.
        """
        snapshots = {}
        for number, plies, points, games in facts["snapshots"]:
            snapshot = self._snapshot(network, plies)
            weights = {name: tensors[f"snapshots.{number}.{name}"] for name in network.state_dict()}
            snapshot.agent.network.load_state_dict(weights)
            snapshot.record = Record(points, games)
            snapshots[number] = snapshot
        opponents, seats = tensors["opponents"].numpy().copy(), tensors["seats"].numpy().copy()
        playing = set(opponents[self.meets_past].tolist())
        fixed = [array[~self.meets_past].tolist() for array in (opponents, self.opponents)]
        seated = [(array.dtype, (array == BOTH).tolist()) for array in (seats, self.seats)]
        if fixed[0] != fixed[1] or seated[0] != seated[1] or seats.max() > 1 or seats.min() < BOTH:
            raise ValueError("the league's games are another run's")
        if not playing <= snapshots.keys() or len(facts["fixed"]) != len(self.fixed):
            raise ValueError("the league's opponents are another run's")
        self.records = [Record(points, games) for points, games in facts["fixed"]]
        self.rng.bit_generator.state = facts["stream"]
        self.snapshots, self.opponents, self.seats = snapshots, opponents, seats


def _together(records: Iterable[Record]) -> Record:
    found = list(records)
    return Record(sum(record.points for record in found), sum(record.games for record in found))
