"""The reproducible baseline against a brute-force minimax that is written here over `Position`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numba
import numpy as np
import pytest
from batches import random_game
from oware_boards import CHASE, CHASE_ROUND, in_engine, random_state
from players import answer, batch_of

import envs
from agents.greedy import GreedyAgent
from agents.minimax.agent import MAX_DEPTH, MinimaxAgent
from agents.minimax.evaluation import WIN
from agents.minimax.search import ACTION, VALUE
from envs import Position, VectorGames
from envs.games.oware import GRAND_SLAMS

pytestmark = pytest.mark.bounds

OPTIONS: list[dict[str, Any]] = [
    *({"grand_slam": word} for word in GRAND_SLAMS),
    *({"grand_slam": word, "repetition_limit": 2, "quiet_limit": 14} for word in GRAND_SLAMS),
    {"repetition_limit": 2},
    {"repetition_limit": 0, "quiet_limit": 9},
    {"quiet_limit": 3},
]

two_threads = pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="Numba has one thread only")


def balance(position: Position) -> int:
    """Seat 0's store less seat 1's."""
    *_, south, north, _ = position.text.split("-")
    return int(south) - int(north)


def value(position: Position, depth: int, ply: int = 0) -> int:
    """What the position is worth to seat 0 after so many plies of best play; a win is the better the sooner it comes."""
    if position.result is not None:
        return position.result[0] * (WIN - ply)
    if depth == 0:
        return balance(position)
    values = [value(position.play(action), depth - 1, ply + 1) for action in position.legal_actions()]
    return max(values) if position.mover == 0 else min(values)


def best(position: Position, depth: int) -> tuple[int, int]:
    """The position's value, and the lowest of the actions that reach it."""
    values = {action: value(position.play(action), depth - 1, 1) for action in position.legal_actions()}
    reached = (max if position.mover == 0 else min)(values.values())
    return reached, min(action for action in values if values[action] == reached)


def few_lines(position: Position, depth: int, limit: int) -> bool:
    """Whether brute force is quick: there are no more lines than that of up to so many plies."""
    lines = 0
    for plies in range(1, depth + 1):
        lines += position.perft(plies)
        if lines > limit:
            return False
    return True


def found(agent: MinimaxAgent, positions: list[Position]) -> list[tuple[int, int]]:
    """Value and action that the agent finds, asked for all positions at once."""
    rows, histories, _, _ = batch_of(positions)
    answers = agent.search(rows, histories)
    return [(int(answer[VALUE]), int(answer[ACTION])) for answer in answers]


def random_boards(rng: np.random.Generator, low: int, high: int, **options: Any) -> Iterator[Position]:
    """Running positions on random boards with `low` to `high` seeds in their houses, without a past."""
    while True:
        state = random_state(rng, int(rng.integers(low, high + 1)))
        position = Position.from_text("oware", in_engine(state).text, strict=False, **options)
        if not position.end:
            yield position


def quiet_line(position: Position, plies: int, rng: np.random.Generator) -> Position:
    """The position after so many random plies, of which none ends the game; fewer if there is none such."""
    for _ in range(plies):
        actions = [action for action in position.legal_actions() if not position.play(action).end]
        if not actions:
            break
        position = position.play(int(rng.choice(actions)))
    return position


@cache
def middle_games() -> list[Position]:
    """Positions of random games under all options, and random boards."""
    rng = np.random.default_rng(1)
    positions = []
    for options in OPTIONS:
        lines = [random_game("oware", seed, **options)[:-1] for seed in range(10)]
        positions += [line[index] for line in lines for index in rng.integers(len(line), size=3)]
        boards = random_boards(rng, 6, 40, **options)
        positions += [next(boards) for _ in range(15)]
    return positions


@cache
def endgames() -> list[Position]:
    """Positions of a few seeds, some plies after the last harvest, so that repetition or the quiet limit is near."""
    rng = np.random.default_rng(2)
    positions = []
    for options in OPTIONS:
        boards = random_boards(rng, 2, 6, **options)
        positions += [quiet_line(next(boards), int(rng.integers(8, 40)), rng) for _ in range(40)]
        chase = [Position.from_text("oware", CHASE, **options)]
        for letter in CHASE_ROUND * 2:
            chase += [] if chase[-1].end else [chase[-1].play(letter)]
        running = [position for position in chase if not position.end]
        positions += [running[0], running[-1], running[-3]]
    return positions


def test_the_endgames_are_near_a_repetition_or_the_quiet_limit() -> None:
    positions = endgames()
    assert sum(position.occurrences > 1 for position in positions) >= 5
    ends = {after.end.label for position in positions for after in within_two_plies(position) if after.end}
    assert {"repetition", "quiet_limit", "no_moves"} <= ends


def within_two_plies(position: Position) -> Iterator[Position]:
    """All that can follow within two plies."""
    for action in position.legal_actions():
        after = position.play(action)
        yield after
        for reply in after.legal_actions():
            yield after.play(reply)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_minimax_is_brute_force_in_the_middle_of_games(depth: int) -> None:
    positions = middle_games()
    assert found(MinimaxAgent("oware", depth), positions) == [best(position, depth) for position in positions]


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 6])
def test_minimax_is_brute_force_where_a_repetition_or_the_quiet_limit_is_near(depth: int) -> None:
    positions = [position for position in endgames() if few_lines(position, depth, 1000)]
    assert len(positions) >= 200
    expected = [best(position, depth) for position in positions]
    for entries in (1, 64, 1 << 16):
        assert found(MinimaxAgent("oware", depth, entries), positions) == expected


@pytest.mark.parametrize("depth", [11, 12, 13, 14])
def test_deep_minimax_is_brute_force_where_positions_recur_within_the_search(depth: int) -> None:
    positions = [position for position in endgames() if few_lines(position, depth, 3000)]
    assert len(positions) >= 30
    expected = [best(position, depth) for position in positions]
    for entries in (1, 64, 1 << 16):
        assert found(MinimaxAgent("oware", depth, entries), positions) == expected


def test_the_table_changes_no_answer() -> None:
    positions = [*middle_games()[::2], *endgames()[::2]]
    for depth in (3, 5, 7):
        assert_same_with_every_table(positions, depth)


@pytest.mark.parametrize("limit", [3, 4, 5])
def test_the_table_tells_apart_how_near_the_quiet_limit_is(limit: int) -> None:
    rng = np.random.default_rng(limit)
    boards = random_boards(rng, 8, 40, quiet_limit=limit)
    positions = [next(boards) for _ in range(600)]
    for depth in (6, 7, 8):
        assert_same_with_every_table(positions, depth)
    few = [position for position in positions if few_lines(position, 6, 500)][:60]
    assert len(few) >= 30
    assert found(MinimaxAgent("oware", 6), few) == [best(position, 6) for position in few]


@pytest.mark.parametrize("repetition_limit", [0, 2, 3])
def test_the_table_changes_no_answer_of_deep_searches_in_which_positions_recur(repetition_limit: int) -> None:
    rng = np.random.default_rng(repetition_limit)
    positions = []
    for seeds, quiet in ((1, 0), (1, 15), (2, 0), (2, 20)):
        boards = sparse_boards(rng, seeds, repetition_limit=repetition_limit)
        positions += [quiet_line(next(boards), quiet, rng) for _ in range(200)]
    for depth in (11, 13, 15, 17):
        assert_same_with_every_table(positions, depth)


def assert_same_with_every_table(positions: list[Position], depth: int) -> None:
    """A table of one entry, which remembers nothing, gives the same answers as larger ones."""
    expected = found(MinimaxAgent("oware", depth, 1), positions)
    for entries in (64, 1 << 16):
        assert found(MinimaxAgent("oware", depth, entries), positions) == expected


def sparse_boards(rng: np.random.Generator, seeds: int, **options: Any) -> Iterator[Position]:
    """Running positions with one to three houses a side of up to so many seeds, the stores near each other."""
    while True:
        houses = np.zeros(12, np.int64)
        for side in (0, 6):
            lived_in = side + rng.choice(6, size=int(rng.integers(1, 4)), replace=False)
            houses[lived_in] = rng.integers(1, seeds + 1, size=len(lived_in))
        taken = 48 - int(houses.sum())
        south = int(rng.integers(max(0, taken - 24), min(24, taken) + 1))
        board = "-".join(str(number) for number in (*houses, south, taken - south))
        position = Position.from_text("oware", f"{board}-{rng.choice(['S', 'N'])}", **options)
        if not position.end:
            yield position


@two_threads
def test_two_threads_find_what_one_does() -> None:
    positions = [*middle_games(), *endgames()]
    for entries in (1, 64, 1 << 16):
        one, two = (MinimaxAgent("oware", 5, entries, threads=threads) for threads in (1, 2))
        assert found(one, positions) == found(two, positions)


def test_no_call_depends_on_earlier_ones() -> None:
    positions = [*middle_games()[::4], *endgames()[::4]]
    for depth in (4, 13):
        few = positions if depth < 12 else [position for position in positions if few_lines(position, 6, 1000)]
        expected = dict(enumerate(found(MinimaxAgent("oware", depth), few)))
        used = MinimaxAgent("oware", depth)
        rng = np.random.default_rng(3)
        for _ in range(3):
            order = rng.permutation(len(few))
            assert found(used, [few[index] for index in order]) == [expected[index] for index in order]
        assert [found(used, [position])[0] for position in few] == list(expected.values())


def test_equal_boards_with_other_options_or_another_past_are_told_apart() -> None:
    rng = np.random.default_rng(6)
    positions = []
    boards = random_boards(rng, 4, 16)
    for board in (next(boards) for _ in range(60)):
        positions += [Position.from_text("oware", board.text, strict=False, **options) for options in OPTIONS]
    for position in endgames():
        positions += [position, without_past(position)]
    positions = [position for position in positions if not position.end]
    for depth in (3, 5):
        expected = [found(MinimaxAgent("oware", depth, 1), [position])[0] for position in positions]
        assert found(MinimaxAgent("oware", depth), positions) == expected
        agent = MinimaxAgent("oware", depth)
        assert [found(agent, [position])[0] for position in positions] == expected


def without_past(position: Position) -> Position:
    """The same position, of whose earlier ones nothing is known."""
    board, _, details = position.full_text.partition(";")
    kept = [word for word in details.split() if not word.startswith("history=")]
    return Position.from_text("oware", f"{board}; {' '.join(kept)}", strict=False)


def test_the_histories_of_a_batch_serve_as_well_as_those_of_positions() -> None:
    for options in ({}, {"repetition_limit": 2}, {"quiet_limit": 5}):
        games = VectorGames("oware", 40, seed=4, **options)
        agent = MinimaxAgent("oware", 4)
        for step in range(120):
            if step % 20 == 0:
                positions = [games.position(index) for index in range(40)]
                answers = agent.search(games.rows, games.histories)
                assert [(row[VALUE], row[ACTION]) for row in answers] == found(agent, positions)
            games.step(games.random_actions())


def test_asking_changes_nothing_in_the_batch() -> None:
    games = VectorGames("oware", 30, seed=5, quiet_limit=30)
    for _ in range(40):
        games.step(games.random_actions())
    before = games.state()
    for agent in (MinimaxAgent("oware", 5), GreedyAgent("oware")):
        agent.act(games.rows, games.histories, games.observation, games.action_mask, np.random.default_rng(0))
        for name, array in games.state().items():
            np.testing.assert_array_equal(array, before[name], err_msg=name)


def test_ties_go_to_the_lowest_action() -> None:
    start = envs.start("oware")
    assert {value(start.play(action), 0, 1) for action in start.legal_actions()} == {0}
    assert answer(MinimaxAgent("oware", 1), start) == 0
    tied = 0
    for position in middle_games():
        values = [value(position.play(action), 1, 1) for action in position.legal_actions()]
        tied += len(set(values)) < len(values)
    assert tied > 50


def test_the_nearer_of_two_wins_is_taken_and_the_farther_of_two_losses() -> None:
    agent = MinimaxAgent("oware", 3)
    wins = losses = 0
    for position in [*middle_games(), *endgames()]:
        outcomes = {action: value(position.play(action), 2, 1) for action in position.legal_actions()}
        sign = 1 if position.mover == 0 else -1
        decided = {sign * outcome for outcome in outcomes.values() if abs(outcome) > WIN - 10}
        if len(decided) > 1:
            chosen = sign * outcomes[answer(agent, position)]
            assert chosen == max(sign * outcome for outcome in outcomes.values())
            wins += chosen > 0
            losses += chosen < 0
    assert wins >= 2 and losses >= 2


def test_a_position_in_hand_can_be_asked_about() -> None:
    position = envs.start("oware").play_all("A b C d")
    worth, move, nodes = MinimaxAgent("oware", 4).value(position)
    expected, action = best(position, 4)
    assert (worth, move) == (expected, position.legal_moves()[position.legal_actions().index(action)])
    assert 5 < nodes <= sum(position.perft(depth) for depth in range(5))


@pytest.mark.parametrize("entries", [0, -1, 3, 100])
def test_a_table_whose_size_is_no_power_of_two_is_refused(entries: int) -> None:
    with pytest.raises(ValueError, match="power of two"):
        MinimaxAgent("oware", 2, entries)


def test_the_deepest_search_that_is_offered_ends() -> None:
    position = Position.from_text("oware", CHASE, repetition_limit=2)
    assert found(MinimaxAgent("oware", MAX_DEPTH), [position]) == [best(position, MAX_DEPTH)]
