"""The reproducible baseline against a brute-force minimax that is written here over `Position`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numba
import numpy as np
import pytest

import eiyiu_boards
import envs
import toguz_kumalak_boards
import uisge_boards
from agents.greedy import GreedyAgent
from agents.minimax.agent import MAX_DEPTH, TABLE_ENTRIES, MinimaxAgent
from agents.minimax.evaluation import WIN
from agents.minimax.search import ACTION, VALUE
from agents.spec import make_agent
from batches import random_game
from envs import IllegalMove, Position, VectorGames
from envs.engine.header import CHANCE
from envs.games import find_game
from envs.games.eiyiu.rules import SHARES
from envs.games.oware import GRAND_SLAMS
from envs.games.uisge import NO_MOVE
from oware_boards import CHASE, CHASE_ROUND, in_engine, random_state
from players import answer, answers, batch_of
from reference import eiyiu

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
    """Seat 0's store less seat 1's, in Oware."""
    *_, south, north, _ = position.text.split("-")
    return int(south) - int(north)


def balance_of_stores(position: Position) -> int:
    """Seat 0's store less seat 1's, in Toguz Kumalak."""
    south, north = position.text.split("/")[2].split(",")
    return int(south) - int(north)


def balance_of_kings(position: Position) -> int:
    """Seat 0's kings less seat 1's."""
    return position.text.count("S") - position.text.count("N")


def balance_of_winning_turns(position: Position) -> int:
    """The ways in which the player to move can win in this turn without a draw, in shares, negative for seat 1."""
    return 0 if position.mover == CHANCE else SHARES * winning_turns(position) * (1 - 2 * position.mover)


def winning_turns(position: Position) -> int:
    """In how many ways the mover can win before the other player moves, without a draw."""
    wins = 0
    for after in map(position.play, position.legal_actions()):
        if after.result is not None:
            wins += after.result[position.mover] == 1
        elif after.mover == position.mover:
            wins += winning_turns(after)
    return wins


PLAIN: dict[str, Callable[[Position], int]] = {
    "oware": balance,
    "toguz_kumalak": balance_of_stores,
    "uisge": balance_of_kings,
    "eiyiu": balance_of_winning_turns,
}


def value(position: Position, depth: int, ply: int = 0) -> int:
    """What the position is worth to seat 0 after so many plies of best play; a win is the better the sooner it comes.

    What may be dealt counts by its average, rounded down; a deal is no ply.
    """
    if position.result is not None:
        return position.result[0] * (WIN - ply)
    if position.mover == CHANCE:
        dealt = [value(position.play(action), depth, ply) for action in position.legal_actions()]
        return sum(dealt) // len(dealt)
    if depth == 0:
        return PLAIN[position.game](position)
    values = [value(position.play(action), depth - 1, ply + 1) for action in position.legal_actions()]
    return max(values) if position.mover == 0 else min(values)


def best(position: Position, depth: int) -> tuple[int, int]:
    """The position's value, and the lowest of the actions that reach it."""
    reached, actions = all_best(position, depth)
    return reached, min(actions)


def all_best(position: Position, depth: int) -> tuple[int, set[int]]:
    """The position's value, and all the actions that reach it."""
    values = {action: value(position.play(action), depth - 1, 1) for action in position.legal_actions()}
    reached = (max if position.mover == 0 else min)(values.values())
    return reached, {action for action in values if values[action] == reached}


def plies_into_turn(position: Position) -> int:
    """Plies of its turn that the mover has played already: whether a tile is in hand, where a turn has two."""
    return int(find_game(position.game).plies_a_turn == 2 and position.text.split()[3] != "-")


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


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_the_histories_of_a_batch_serve_as_well_as_those_of_positions(game: str) -> None:
    depth = 4 if game == "oware" else 3
    for options in BATCH_OPTIONS[game]:
        games = VectorGames(game, 20, seed=4, **options)
        agent = MinimaxAgent(game, depth)
        for step in range(120):
            if step % 20 == 0:
                positions = [games.position(index) for index in range(20)]
                answers = agent.search(games.rows, games.histories)
                assert [(row[VALUE], row[ACTION]) for row in answers] == found(agent, positions)
            games.step(games.random_actions())


BATCH_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "oware": [{}, {"repetition_limit": 2}, {"quiet_limit": 5}],
    "toguz_kumalak": [{}, {"repetition_limit": 2}, {"quiet_limit": 5}],
    "uisge": [{"repetition_limit": 2}, {"move_limit": 20}],
    "eiyiu": [{"shift_limit": 3}],
}


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_asking_changes_nothing_in_the_batch(game: str) -> None:
    games = VectorGames(game, 30, seed=5, **{name: 30 for name in [find_game(game).history_limit] if name})
    for _ in range(40):
        games.step(games.random_actions())
    before = games.state()
    for agent in (MinimaxAgent(game, 5 if game == "oware" else 2), GreedyAgent(game)):
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


# All games


EVERY_GAMES_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "oware": OPTIONS,
    "toguz_kumalak": [{}, {"quiet_limit": 4}, {"repetition_limit": 2, "quiet_limit": 9}, {"repetition_limit": 0}],
    "uisge": [
        *({"no_move": word, "diagonal_jumps": jumps} for word in NO_MOVE for jumps in (False, True)),
        *({"no_move": word, "repetition_limit": 2, "move_limit": 30} for word in NO_MOVE),
        {"repetition_limit": 0, "move_limit": 12},
    ],
    "eiyiu": [{"same_tile": word, "shift_limit": limit} for word in ("any", "own") for limit in (1, 2, 3, 200)],
}


def boards_of(game: str, rng: np.random.Generator, options: dict[str, Any]) -> Iterator[Position]:
    """Random running positions, of which some can end soon: on boards drawn at random, and in mid-game."""
    draw = {"oware": oware_board, "toguz_kumalak": toguz_kumalak_board, "uisge": uisge_board, "eiyiu": eiyiu_board}[game]
    while True:
        if find_game(game).alternates and rng.random() < 0.5:
            line = random_game(game, int(rng.integers(1000)), **options)[:-1]
            position = line[int(rng.integers(len(line)))]
        else:
            position = draw(rng, options)
        if not position.end and position.mover != CHANCE:
            yield position


def oware_board(rng: np.random.Generator, options: dict[str, Any]) -> Position:
    """Any board of Oware."""
    return next(random_boards(rng, 3, 40, **options))


def toguz_kumalak_board(rng: np.random.Generator, options: dict[str, Any]) -> Position:
    """Any board of Toguz Kumalak, most with tuzdyks."""
    tuzdyks = toguz_kumalak_boards.random_tuzdyks(rng)
    state = toguz_kumalak_boards.random_state(rng, int(rng.integers(3, 60)), tuzdyks=tuzdyks)
    return Position.from_text("toguz_kumalak", toguz_kumalak_boards.in_engine(state).text, strict=False, **options)


def uisge_board(rng: np.random.Generator, options: dict[str, Any]) -> Position:
    """Any board of Uisge, with few pieces or many."""
    text = uisge_boards.in_engine(uisge_boards.random_state(rng)).text
    ply = int(rng.integers(options.get("move_limit", 400)))
    return Position.from_text("uisge", f"{text} ; ply={ply}", strict=False, **options)


def eiyiu_board(rng: np.random.Generator, options: dict[str, Any]) -> Position:
    """A few tiles that lie, and fewer in the piles, so that there are not too many turns; at times a tile is in hand."""
    rules = eiyiu.Options(**options)
    laid, left = int(rng.integers(2, 6)), int(rng.integers(0, 5))
    tiles = rng.permutation(18)[: laid + left].tolist()
    cells = eiyiu_boards.random_shape(rng, laid)
    board = {cell: tile % 9 + 1 for cell, tile in zip(cells, tiles, strict=False)}
    open, hidden = ([tile % 9 + 1 for tile in tiles[laid:] if tile // 9 == pile] for pile in range(2))
    shifts = 0 if left else int(rng.integers(min(rules.shift_limit, 3)))
    last = [cells[int(rng.integers(laid))] if shifts > seat else None for seat in range(2)]
    state = eiyiu.position(board, open, hidden, int(rng.integers(2)), rules, last=(last[0], last[1]), shifts=shifts)
    position = eiyiu_boards.in_engine(state)
    while position.legal_actions() and (position.mover == CHANCE or rng.random() < 0.3):
        position = position.play(int(rng.choice(position.legal_actions())))
    return position


@cache
def positions_of(game: str, depth: int) -> list[Position]:
    """Positions under all options in which brute force to the depth, and what it evaluates there, is quick."""
    rng = np.random.default_rng(21)
    plies, limit = (depth, 1500) if find_game(game).alternates else (depth + 1, 2500)
    positions = []
    for options in EVERY_GAMES_OPTIONS[game]:
        quick = (position for position in boards_of(game, rng, options) if few_lines(position, plies, limit))
        positions += [next(quick) for _ in range(100 // len(EVERY_GAMES_OPTIONS[game]))]
    return positions


@pytest.mark.parametrize("entries", [1, TABLE_ENTRIES])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_minimax_is_brute_force_in_every_game(game: str, depth: int, entries: int) -> None:
    positions = positions_of(game, depth)
    assert found(MinimaxAgent(game, depth, entries), positions) == expected_of(game, depth)


@cache
def expected_of(game: str, depth: int) -> list[tuple[int, int]]:
    """What brute force finds in all these positions."""
    return [best(position, depth) for position in positions_of(game, depth)]


@pytest.mark.parametrize("entries", [1, TABLE_ENTRIES])
def test_a_search_by_turns_ends_with_a_turn_wherever_in_one_it_begins(entries: int) -> None:
    positions = positions_of("eiyiu", 2)
    begun = [plies_into_turn(position) for position in positions]
    assert 0 < sum(begun) < len(begun)
    agent = MinimaxAgent("eiyiu", 2, entries, whole_turns=True)
    assert agent.spec == "minimax:turns=1"
    assert found(agent, positions) == [best(position, 2 - played) for position, played in zip(positions, begun, strict=True)]


def test_turns_are_plies_of_which_a_turn_has_more_than_one() -> None:
    for spec, plies in (("minimax:turns=1", 2), ("minimax:turns=2", 4), ("minimax:depth=3", 3)):
        agent = make_agent(spec, "eiyiu")
        assert isinstance(agent, MinimaxAgent) and (agent.spec, agent.depth) == (spec, plies)
    positions = positions_of("eiyiu", 2)
    by_turns, by_plies = make_agent("minimax:turns=1", "eiyiu"), make_agent("minimax:depth=2", "eiyiu")
    assert isinstance(by_turns, MinimaxAgent) and isinstance(by_plies, MinimaxAgent)
    before = [position for position in positions if not plies_into_turn(position)]
    assert found(by_turns, before) == found(by_plies, before)
    assert found(by_turns, positions) != found(by_plies, positions)


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_greedy_plays_any_best_turn_and_no_other(game: str) -> None:
    plies = find_game(game).plies_a_turn
    positions = positions_of(game, plies)
    expected = [all_best(position, plies - plies_into_turn(position))[1] for position in positions]
    assert sum(len(actions) > 1 for actions in expected) > 20
    rng = np.random.default_rng(22)
    agent = GreedyAgent(game)
    played = np.array([answers(agent, positions, rng) for _ in range(60)]).T
    for position, actions, draws in zip(positions, expected, played, strict=True):
        assert set(draws.tolist()) <= actions
        assert len(actions) > 8 or set(draws.tolist()) == actions, position.full_text


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_the_values_of_all_actions_are_exact(game: str) -> None:
    depth = 3
    positions = positions_of(game, depth)
    rows, histories, _, masks = batch_of(positions)
    found_values = MinimaxAgent(game, depth).action_values(rows, histories)
    assert not found_values[masks == 0].any()
    for position, values in zip(positions, found_values, strict=True):
        expected = {action: value(position.play(action), depth - 1, 1) for action in position.legal_actions()}
        assert {action: int(values[action]) for action in expected} == expected


def walks(game: str, **options: Any) -> list[Position]:
    """Positions on the way round and round, so that the next ones have stood on the board before."""
    start, moves = {
        "oware": (CHASE, list(CHASE_ROUND)),
        "toguz_kumalak": (toguz_kumalak_boards.CHASE, toguz_kumalak_boards.CHASE_ROUND),
        "uisge": (uisge_boards.SHUTTLE, list(uisge_boards.SHUTTLE_ROUND)),
    }[game]
    line = [Position.from_text(game, start, strict=False, **options)]
    for move in moves * 2:
        line += [] if line[-1].end else [line[-1].play(move)]
    return [position for position in line if not position.end]


@pytest.mark.parametrize("game", [name for name in envs.GAME_NAMES if find_game(name).history_limit])
def test_minimax_is_brute_force_where_positions_recur_in_every_game(game: str) -> None:
    recurred = 0
    for options in (
        {"repetition_limit": 2},
        {"repetition_limit": 3},
        {"repetition_limit": 2, find_game(game).history_limit: 20},
    ):
        for position in walks(game, **options):
            for depth in (2, 3, 5, 18, 20):
                if few_lines(position, depth, 2500):
                    expected = best(position, depth)
                    for entries in (1, TABLE_ENTRIES):
                        assert found(MinimaxAgent(game, depth, entries), [position]) == [expected]
                    recurred += any(after.end for after in within_two_plies(position))
    assert recurred > 5


def few_pieces(rng: np.random.Generator, count: int, **options: Any) -> list[Position]:
    """Positions of Uisge with two or three pieces a side, of which some have walked about."""
    positions: list[Position] = []
    while len(positions) < count:
        south, north = (int(pieces) for pieces in rng.integers(2, 4, 2))
        state = uisge_boards.uisge.position(uisge_boards.random_board(rng, south, north), int(rng.integers(2)))
        position = Position.from_text("uisge", uisge_boards.in_engine(state).text, strict=False, **options)
        position = quiet_line(position, int(rng.integers(0, 12)), rng)
        positions += [position] if position.perft(3) > 6 else []
    return positions


@pytest.mark.parametrize("no_move", NO_MOVE)
def test_minimax_is_brute_force_where_few_pieces_walk_about(no_move: str) -> None:
    rng = np.random.default_rng(NO_MOVE.index(no_move))
    recurred = 0
    for options in ({"repetition_limit": 2}, {"repetition_limit": 3}, {"repetition_limit": 2, "move_limit": 15}):
        positions = few_pieces(rng, 20, no_move=no_move, **options)
        for depth in (3, 4, 5, 6):
            few = [position for position in positions if few_lines(position, depth, 1500)]
            assert len(few) > 3
            expected = [best(position, depth) for position in few]
            for entries in (1, 64, TABLE_ENTRIES):
                assert found(MinimaxAgent("uisge", depth, entries), few) == expected
        ends = (after.end for position in positions for after in within_two_plies(position) if after.end)
        recurred += sum(end.label == "repetition" for end in ends)
    assert recurred > 8


@pytest.mark.parametrize("game", [name for name in envs.GAME_NAMES if name != "oware"])
def test_the_table_changes_no_answer_in_any_game(game: str) -> None:
    rng = np.random.default_rng(23)
    for options in EVERY_GAMES_OPTIONS[game]:
        boards = boards_of(game, rng, options)
        positions = [next(boards) for _ in range(12)]
        for depth in (4, 5):
            few = [position for position in positions if few_lines(position, depth, 200_000)]
            expected = found(MinimaxAgent(game, depth, 1), few)
            for entries in (64, 1 << 16):
                assert found(MinimaxAgent(game, depth, entries), few) == expected


def test_a_position_that_waits_for_a_draw_has_nothing_to_choose() -> None:
    position = Position.from_text("eiyiu", "12 3456789 123456789 ? - 0 0")
    with pytest.raises(IllegalMove, match="a draw is to be dealt"):
        MinimaxAgent("eiyiu", 2).value(position)
