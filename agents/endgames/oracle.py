"""Agents held against the truth: how often their moves keep what a database knows a position to be worth.

Boards are drawn so that there is something to lose and no doubt about it: every legal move has an exact value, and not all have
the same. Each number of seeds from `FEWEST` up is as likely, each such board with so many as likely as the others. The stores
are such that the mover wins by the least it can, 25 to 23, if it plays a best move, and does not win after any other. So
whoever plays for the result and whoever plays for seeds is asked the same. The past is fresh.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any, Final

import numpy as np

from agents.agent import Agent
from agents.endgames.database import GAME, Database
from agents.endgames.index import boards_below, list_boards
from agents.endgames.retrograde import NO_MOVE, list_values, new_row
from envs.engine.position import Position
from envs.errors import BadOption
from envs.games.oware import GRAND_SLAMS, rules
from envs.games.oware.rules import HOUSES, SEEDS

FEWEST: Final = 4
DRAWN_AT_ONCE: Final = 4096
FRUITLESS_DRAWS: Final = 200  # rounds without a board that serves
ASKED_AT_ONCE: Final = 256
CONFIDENCE: Final = 0.95
WIDTH: Final = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)  # of an interval, in standard errors


@dataclass(frozen=True)
class Question:
    """A running position, the seat-independent board it shows, and how many of its seeds each move leaves the mover with."""

    position: Position
    seeds: int
    values: np.ndarray  # int64[6], NO_MOVE for moves that are


@dataclass(frozen=True)
class Grade:
    """What an agent's moves were worth: `lost` int64[positions], the seeds that each move gave away."""

    agent: str
    lost: np.ndarray

    @property
    def kept(self) -> float:
        """The share of moves that gave nothing away."""
        return float((self.lost == 0).mean())

    @property
    def kept_interval(self) -> tuple[float, float]:
        """95 % confidence bounds of that share (Wilson 1927)."""
        count, share = len(self.lost), self.kept
        middle = (share + WIDTH**2 / (2 * count)) / (1 + WIDTH**2 / count)
        half = WIDTH / (1 + WIDTH**2 / count) * sqrt(share * (1 - share) / count + WIDTH**2 / (4 * count**2))
        return max(0.0, middle - half), min(1.0, middle + half)

    @property
    def mean_loss(self) -> float:
        """Seeds that a move gave away on average; each one also goes to the opponent."""
        return float(self.lost.mean())

    @property
    def mean_loss_interval(self) -> tuple[float, float]:
        """95 % confidence bounds of that mean, by its standard error."""
        half = WIDTH * float(self.lost.std()) / sqrt(len(self.lost))
        return max(0.0, self.mean_loss - half), self.mean_loss + half

    def as_json(self) -> dict[str, Any]:
        """The grade as `agents.endgames score` writes it."""
        low, high = self.kept_interval
        least, most = self.mean_loss_interval
        numbers = {"kept": self.kept, "low": low, "high": high, "loss": self.mean_loss, "loss_low": least, "loss_high": most}
        return {"agent": self.agent, **{name: round(number, 4) for name, number in numbers.items()}}


def draw_questions(database: Database, count: int, seed: int) -> list[Question]:
    """So many questions, drawn independently. Raises `BadOption` if the database has none."""
    if database.seeds < FEWEST:
        raise BadOption(f"positions have {FEWEST} seeds or more, the database has up to {database.seeds}")
    rng = np.random.default_rng(seed)
    wanted = rng.integers(FEWEST, database.seeds + 1, size=count)
    stock = {int(seeds): _draw_boards(database, int(seeds), int((wanted == seeds).sum()), rng) for seeds in np.unique(wanted)}
    return [_question(database, int(seeds), *stock[int(seeds)].pop(), int(rng.integers(2))) for seeds in wanted]


def _draw_boards(database: Database, seeds: int, count: int, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """So many boards of so many seeds that serve, each with its moves' values."""
    found: list[tuple[np.ndarray, np.ndarray]] = []
    rounds = 0
    row = new_row(GRAND_SLAMS.index(database.grand_slam))
    while len(found) < count:
        places = rng.integers(boards_below(seeds + 1) - boards_below(seeds), size=DRAWN_AT_ONCE)
        boards, least, most = (np.zeros((DRAWN_AT_ONCE, width), np.int64) for width in (2, HOUSES, HOUSES))
        list_boards(seeds, places, boards)
        list_values(row, seeds, boards, database.table, least, most)
        lowest = np.where(least == NO_MOVE, SEEDS, least).min(axis=1)
        serves = (least == most).all(axis=1) & (lowest < least.max(axis=1))
        found += list(zip(boards[serves], least[serves], strict=True))
        rounds += 1
        if not found and rounds == FRUITLESS_DRAWS:
            raise BadOption(f"no position of {seeds} seeds has moves of different and exact values")
    return found[:count]


def _question(database: Database, seeds: int, board: np.ndarray, values: np.ndarray, mover: int) -> Question:
    sides = [[int(rules.seeds_in(int(side), house)) for house in range(HOUSES)] for side in board]
    own = SEEDS // 2 + 1 - int(values.max())
    stores = [own, SEEDS - seeds - own]
    if mover == 1:
        sides.reverse()
        stores.reverse()
    text = "-".join(map(str, [*sides[0], *sides[1], *stores])) + "-" + "SN"[mover]
    return Question(Position.from_text(GAME, text, grand_slam=database.grand_slam), seeds, values)


def grade(agent: Agent, questions: Sequence[Question], seed: int, report: Callable[[int], None] | None = None) -> Grade:
    """What the agent's moves in all the positions were worth; `report` hears how many it has played."""
    rng = np.random.default_rng(seed)
    lost: list[int] = []
    for begin in range(0, len(questions), ASKED_AT_ONCE):
        asked = questions[begin : begin + ASKED_AT_ONCE]
        actions = agent.act(*_batch([question.position for question in asked]), rng)
        lost += [int(question.values.max() - question.values[action]) for question, action in zip(asked, actions, strict=True)]
        if report is not None:
            report(len(lost))
    return Grade(agent.spec, np.array(lost, np.int64))


def _batch(positions: Sequence[Position]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows, histories without keys, observations and masks of positions without a past."""
    rows = np.array([position.to_arrays()[0] for position in positions])
    return (
        rows,
        np.zeros((len(positions), 1), np.int64),
        np.array([position.observation() for position in positions]),
        np.array([position.action_mask() for position in positions]),
    )
