"""Searches longer than the shortest cycle, where a line's own positions recur and all its history must be right."""

from __future__ import annotations

import numpy as np
import pytest

from agents.minimax.agent import MinimaxAgent
from agents.minimax.evaluation import WIN
from envs import Position, VectorGames
from envs.engine import kernels
from envs.engine.header import LAST_ACTION
from envs.games import find_game

GAMES = 1500
DEPTH = 15
OPTIONS = {"repetition_limit": 2}


def few_seeds(rng: np.random.Generator) -> Position:
    """A running position with three to six seeds on the board."""
    while True:
        seeds = int(rng.integers(3, 7))
        houses = np.bincount(rng.integers(0, 12, seeds), minlength=12)
        south = (48 - seeds) // 2
        board = "-".join(map(str, [*houses, south, 48 - seeds - south, "SN"[rng.integers(2)]]))
        position = Position.from_text("oware", board, **OPTIONS)
        if not position.end:
            return position


def written_out(games: VectorGames) -> tuple[np.ndarray, np.ndarray]:
    """Rows and histories of the same positions, with every earlier position in the history."""
    rows, histories = games.rows.copy(), games.histories.copy()
    for row, history in zip(rows, histories, strict=True):
        kernels.write_out_one(find_game("oware").tag, row, history)
    return rows, histories


def plain_value(position: Position, depth: int, ply: int, low: int, high: int) -> int:
    """What alpha-beta over `Position` finds, with no table and a history of its own for every position."""
    if position.end:
        assert position.result is not None
        return position.result[0] * (WIN - ply)
    if depth == 0:
        return position.scores[0] - position.scores[1]
    sign = 1 if position.mover == 0 else -1
    best = -2 * WIN * sign
    for action in position.legal_actions():
        value = plain_value(position.play(action), depth - 1, ply + 1, low, high)
        best = max(best, value) if sign == 1 else min(best, value)
        if sign == 1:
            low = max(low, best)
        else:
            high = min(high, best)
        if low >= high:
            break
    return best


def test_a_deep_search_does_not_care_how_the_past_is_written_down() -> None:
    rng = np.random.default_rng(15)
    games = VectorGames("oware", GAMES, seed=15, restart=False, **OPTIONS)
    games.load([few_seeds(rng) for _ in range(GAMES)])
    agent = MinimaxAgent("oware", DEPTH, threads=2)
    compared = checked = 0
    for _ in range(28):
        running = games.running
        rows, histories = written_out(games)
        one = agent.search(games.rows[running], games.histories[running])[:, 1:]
        other = agent.search(rows[running], histories[running])[:, 1:]
        np.testing.assert_array_equal(one, other)
        for index in np.flatnonzero(running)[:2]:
            truth = plain_value(games.position(int(index)), DEPTH, 0, -2 * WIN, 2 * WIN)
            assert one[np.flatnonzero(running) == index, 0] == truth
            checked += 1
        compared += int(running.sum())
        games.step(games.random_actions())
    assert compared > 10_000 and checked > 30


@pytest.mark.parametrize(
    ("start", "moves", "value"),
    [
        ("0-0-0-0-1-1-1-0-0-1-1-1-21-21-S", "E d F f A a B b C e A f A c B d C e", -2),
        ("0-0-1-1-0-1-0-2-2-0-0-1-20-20-N", "c F b D e C d D f B e A c C f D d E", -(WIN - 12)),
    ],
)
def test_what_one_child_writes_into_the_history_is_not_read_by_another(start: str, moves: str, value: int) -> None:
    """Once, a harvest's line wrote over the keys that its quiet sibling had written before it."""
    position = Position.from_text("oware", start, **OPTIONS)
    games = VectorGames("oware", 1, restart=False, **OPTIONS)
    games.load([position])
    for move in moves.split():
        position = position.play(move)
        games.step([int(position._row[LAST_ACTION])])
    assert plain_value(position, DEPTH, 0, -2 * WIN, 2 * WIN) == value
    for entries in (1, 65_536):
        agent = MinimaxAgent("oware", DEPTH, table_entries=entries)
        assert agent.search(games.rows, games.histories)[0, 1] == value
        assert agent.value(position)[0] == value
