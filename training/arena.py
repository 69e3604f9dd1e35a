"""Matches between agents: paired openings, seats swapped, all games of a match side by side."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from math import sqrt
from typing import Any, Final

import numpy as np
from scipy import stats

from agents.agent import Agent
from agents.minimax.agent import MinimaxAgent
from agents.minimax.evaluation import WIN
from envs.engine.header import CHANCE, EndReason
from envs.engine.position import Position
from envs.engine.vector import VectorGames
from envs.errors import BadConfig, IllegalMove
from envs.games import find_game

CONFIDENCE: Final = 0.95
FRUITLESS_TRIES: Final = 1000  # openings in a row that were all known: there are no more to be found


@dataclass(frozen=True)
class Match:
    """What two agents did against each other, from the side of the first.

    `pair_scores` float64[games / 2] is the first agent's mean score, 0 to 1, over the two games of each opening; a draw
    counts half. The pair is the unit of the interval, as its two games share their opening.
    """

    a: str
    b: str
    wins: int
    draws: int
    losses: int
    pair_scores: np.ndarray
    distinct_games: int
    ends: Mapping[str, int]

    @property
    def games(self) -> int:
        """Games played."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The first agent's points a game."""
        return float(self.pair_scores.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence bounds of the score."""
        return score_interval(self.pair_scores)

    def as_json(self) -> dict[str, Any]:
        """The match as `training.evaluate` writes it."""
        low, high = self.interval
        counts = {"games": self.games, "wins": self.wins, "draws": self.draws, "losses": self.losses}
        numbers = {"score": round(self.score, 4), "low": round(low, 4), "high": round(high, 4)}
        return {"a": self.a, "b": self.b, **counts, **numbers, "distinct_games": self.distinct_games}


def score_interval(pair_scores: np.ndarray) -> tuple[float, float]:
    """A t-interval over pairs of games, never narrower than Wilson's on the number of pairs.

    The t-interval alone has no width where all pairs ended alike; Wilson's alone knows only wins and losses.
    """
    count, mean = len(pair_scores), float(pair_scores.mean())
    low, high = wilson_interval(mean, count)
    if count > 1:
        half = float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1) * pair_scores.std(ddof=1) / sqrt(count))
        low, high = min(low, mean - half), max(high, mean + half)
    return max(0.0, low), min(1.0, high)


def wilson_interval(share: float, count: int) -> tuple[float, float]:
    """Wilson's score interval (1927) of a share seen in `count` trials."""
    z = float(stats.norm.ppf((1 + CONFIDENCE) / 2))
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return middle - half, middle + half


def random_openings(game: str, options: Mapping[str, Any], count: int, plies: int, rng: np.random.Generator) -> list[Position]:
    """So many different running positions after so many random plies. Raises `BadConfig` if there are not enough.

    Positions that the player to move wins with its turn are left out: they would say nothing about who plays them.
    """
    turn = MinimaxAgent(game, find_game(game).plies_a_turn, whole_turns=True)
    openings: dict[str, Position] = {}
    fruitless = 0
    while len(openings) < count:
        position = _random_line(Position.start(game, **options), plies, rng)
        if position is None or position.text in openings or _wins(turn, position):
            fruitless += 1
            if fruitless > FRUITLESS_TRIES:
                found = f"{len(openings)} openings that are not won at once"
                raise BadConfig(f"{plies} random plies lead to no more than {found}; {count} are needed")
            continue
        openings[position.text] = position
        fruitless = 0
    return list(openings.values())


def _wins(turn: MinimaxAgent, position: Position) -> bool:
    """Whether the player to move wins for certain with its turn, as the search of one turn finds."""
    value = turn.value(position)[0]
    return (value if position.mover == 0 else -value) >= WIN - turn.depth


def _random_line(position: Position, plies: int, rng: np.random.Generator) -> Position | None:
    """The position after random plies and draws, None if the game ended."""
    while position.ply < plies or position.mover == CHANCE:
        if position.end:
            return None
        position = position.play(int(rng.choice(position.legal_actions())))
    return None if position.end else position


def play_match(
    game: str,
    options: Mapping[str, Any],
    a: Agent,
    b: Agent,
    games: int,
    seed: int,
    opening_plies: int | None = None,
    on_step: Callable[[int], None] | None = None,
) -> Match:
    """The agents have played `games` games on half as many random openings, each with the seats swapped.

    Openings depend on the seed alone, so that all matches of a seed share them. `on_step` is told how many games are over.
    """
    plies = find_game(game).opening_plies if opening_plies is None else opening_plies
    opening_stream, play_stream, deal_stream = np.random.SeedSequence(seed).spawn(3)
    openings = random_openings(game, options, games // 2, plies, np.random.default_rng(opening_stream))
    deals = int(deal_stream.generate_state(1, np.uint64)[0])
    batch = VectorGames(game, games, seed=deals, restart=False, **options)
    batch.load([opening for opening in openings for _ in range(2)])
    seat_of_a = np.arange(games) % 2
    lines = [blake2b() for _ in range(games)]
    rng = np.random.default_rng(play_stream)
    results = np.zeros(games, np.int64)
    while (running := batch.running).any():
        actions = np.full(games, -1, np.int64)
        for agent, to_move in ((a, batch.mover == seat_of_a), (b, batch.mover != seat_of_a)):
            turn = np.flatnonzero(running & to_move)
            if len(turn):
                actions[turn] = _answers(agent, batch, turn, rng)
        for index in np.flatnonzero(running):
            lines[index].update(batch.rows[index].tobytes())
        batch.step(actions)
        ended = np.flatnonzero(batch.ended)
        results[ended] = batch.rewards[ended, seat_of_a[ended]]
        if on_step is not None:
            on_step(games - int(batch.running.sum()))
    for line, row in zip(lines, batch.rows, strict=True):
        line.update(row.tobytes())
    return _match(a.spec, b.spec, results, [line.digest() for line in lines], batch.end_reason)


def _answers(agent: Agent, batch: VectorGames, turn: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The agent's actions in the games where it is to move. Raises `IllegalMove`, naming the agent."""
    masks = batch.action_mask[turn]
    actions = agent.act(batch.rows[turn], batch.histories[turn], batch.observation[turn], masks, rng)
    known = (actions >= 0) & (actions < masks.shape[1])
    if not known.all() or not masks[np.arange(len(turn)), actions].all():
        raise IllegalMove(f"{agent.spec} played an illegal action")
    return actions


def _match(a: str, b: str, results: np.ndarray, lines: list[bytes], ends: np.ndarray) -> Match:
    scores = (results + 1) / 2
    reasons, counts = np.unique(ends, return_counts=True)
    return Match(
        a=a,
        b=b,
        wins=int((results > 0).sum()),
        draws=int((results == 0).sum()),
        losses=int((results < 0).sum()),
        pair_scores=scores.reshape(-1, 2).mean(axis=1),
        distinct_games=len(set(lines)),
        ends={EndReason(int(reason)).label: int(count) for reason, count in zip(reasons, counts, strict=True)},
    )
