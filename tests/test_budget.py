"""Minimax within a budget: exact where nothing is cut short, in its budget, and the same however it is asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import envs
import test_minimax as fixed
from agents.endgames.database import Database, build, open_database
from agents.endgames.oracle import draw_questions, grade
from agents.minimax import budget, leaves, memory, stack
from agents.minimax.agent import MinimaxAgent
from agents.minimax.budget import BudgetAgent
from agents.minimax.evaluation import WIN, tuned_balances
from agents.minimax.stack import TOP
from agents.minimax.weights import load_weights
from agents.spec import make_agent
from batches import random_game
from envs import BadSpec, IllegalMove, Position, VectorGames
from envs.engine.header import CHANCE
from envs.games import find_game
from players import answers, batch_of

pytestmark = pytest.mark.bounds

NO_MEANS = 0  # nothing is reduced, extended, or taken from searches of another depth
TINY = 2  # entries in a table that hardly remembers anything


def exact(game: str, depth: int, tuned: bool = False, entries: int = 1 << 16) -> BudgetAgent:
    """A searcher that goes to exactly this depth, with nothing cut short."""
    agent = BudgetAgent(game, nodes=10**9, tuned=tuned, hash_mb=1, means=NO_MEANS)
    agent._rooms = agent._rooms._replace(table=np.zeros((1, entries, memory.ENTRY), np.int64))
    agent._rooms.state[:, stack.LAST_DEPTH] = depth
    return agent


def searched(agent: BudgetAgent, positions: list[Position]) -> list[int]:
    """The value that the agent finds in every position."""
    return [agent.analyse(position).value for position in positions]


def ending_at_once(options: dict[str, Any], game: str) -> dict[str, Any]:
    """The options, with a game that ends when a position recurs for the first time, as it does in this search."""
    limit = options.get("repetition_limit", 2)
    return options if game == "eiyiu" else {**options, "repetition_limit": min(limit, 2)}


@cache
def boards(game: str, depth: int, count: int = 160) -> list[Position]:
    """Positions with a choice, under all options, in which brute force to the depth is quick."""
    rng = np.random.default_rng(depth)
    found: list[Position] = []
    sets = fixed.EVERY_GAMES_OPTIONS[game]
    for options in sets:
        drawn = fixed.boards_of(game, rng, ending_at_once(options, game))
        kept: list[Position] = []
        while len(kept) < count // len(sets):
            position = next(drawn)
            plies = depth + (game == "eiyiu")
            if len(position.legal_actions()) > 1 and fixed.few_lines(position, min(plies, 4), 6000):
                kept.append(position)
        found += kept
    return found


def as_share(value: int) -> int:
    """What millilogits are worth in a game with chance."""
    return int(leaves.SHARE_OF_TOP * np.tanh(value / 2000.0))


def plain_leaf(position: Position) -> int:
    value = leaves.PLAIN_UNIT * fixed.PLAIN[position.game](position)
    return as_share(value) if position.game == "eiyiu" else value


def tuned_leaf(position: Position) -> int:
    row, _ = position.to_arrays()
    out = np.zeros(1, np.int64)
    tuned_balances(find_game(position.game).tag, row[None].copy(), load_weights(position.game), out)
    return as_share(int(out[0])) if position.game == "eiyiu" else int(out[0])


def brute_force(position: Position, depth: int, leaf: Callable[[Position], int], ply: int = 0) -> int:
    """What the position is worth to seat 0 after so many plies of best play; draws count by their average, rounded down."""
    if position.result is not None:
        return position.result[0] * (TOP - ply)
    if position.mover == CHANCE:
        dealt = [brute_force(position.play(action), depth, leaf, ply) for action in position.legal_actions()]
        return sum(dealt) // len(dealt)
    if depth == 0:
        return leaf(position)
    values = [brute_force(position.play(action), depth - 1, leaf, ply + 1) for action in position.legal_actions()]
    return max(values) if position.mover == 0 else min(values)


def from_fixed(value: int) -> int:
    """A value of the fixed-depth search as this one counts."""
    if abs(value) > WIN // 2:
        return int(np.sign(value)) * (TOP - WIN + abs(value))
    return leaves.PLAIN_UNIT * value


# The search


@pytest.mark.parametrize("entries", [TINY, 1 << 16])
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("game", ["oware", "toguz_kumalak", "uisge"])
def test_with_nothing_cut_short_it_is_the_fixed_depth_search(game: str, depth: int, entries: int) -> None:
    positions = boards(game, depth)
    full = MinimaxAgent(game, depth)
    expected = [from_fixed(full.value(position)[0]) for position in positions]
    assert searched(exact(game, depth, entries=entries), positions) == expected


@pytest.mark.parametrize("entries", [TINY, 1 << 16])
@pytest.mark.parametrize("turns", [1, 2])
def test_with_nothing_cut_short_it_averages_over_draws_as_brute_force_does(turns: int, entries: int) -> None:
    positions = [position for position in boards("eiyiu", 2) if fixed.few_lines(position, 2 * turns, 2000)]
    dealt = 0
    assert len(positions) > 60
    for position in positions:
        depth = 2 * turns - fixed.plies_into_turn(position)
        found = exact("eiyiu", depth, entries=entries).analyse(position)
        assert found.value == brute_force(position, depth, plain_leaf)
        dealt += any(after.mover == CHANCE for after in map(position.play, position.legal_actions()))
    assert dealt > 10


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_it_counts_by_the_tuned_evaluation(game: str) -> None:
    depth = 2
    positions = boards(game, depth)[::4]
    plies = [depth - fixed.plies_into_turn(position) for position in positions]
    expected = [brute_force(position, ply, tuned_leaf) for position, ply in zip(positions, plies, strict=True)]
    found = [exact(game, ply, tuned=True).analyse(position).value for position, ply in zip(positions, plies, strict=True)]
    assert found == expected


@pytest.mark.parametrize("entries", [TINY, 1 << 16])
@pytest.mark.parametrize("game", [name for name in envs.GAME_NAMES if find_game(name).history_limit])
def test_it_is_exact_where_positions_recur(game: str, entries: int) -> None:
    for options in ({"repetition_limit": 2}, {"repetition_limit": 2, find_game(game).history_limit: 20}):
        positions = [position for position in fixed.walks(game, **options) if len(position.legal_actions()) > 1]
        for depth in (2, 3, 5, 7):
            expected = [from_fixed(MinimaxAgent(game, depth).value(position)[0]) for position in positions]
            assert searched(exact(game, depth, entries=entries), positions) == expected


@pytest.mark.parametrize("no_move", fixed.NO_MOVE)
def test_it_is_exact_where_few_pieces_walk_about(no_move: str) -> None:
    rng = np.random.default_rng(5)
    for options in ({"repetition_limit": 2}, {"repetition_limit": 2, "move_limit": 15}):
        positions = fixed.few_pieces(rng, 25, no_move=no_move, **options)
        positions = [position for position in positions if len(position.legal_actions()) > 1]
        for depth in (3, 4, 5, 6):
            expected = [from_fixed(MinimaxAgent("uisge", depth).value(position)[0]) for position in positions]
            for entries in (TINY, 1 << 16):
                assert searched(exact("uisge", depth, entries=entries), positions) == expected


def test_a_repetition_ends_the_game_when_a_position_recurs_for_the_first_time() -> None:
    for game in ("oware", "toguz_kumalak", "uisge"):
        for position in fixed.walks(game, repetition_limit=3):
            once = Position.from_text(
                game, position.full_text.replace("repetition_limit=3", "repetition_limit=2"), strict=False
            )
            if not once.end and len(once.legal_actions()) > 1:
                assert searched(exact(game, 5), [position]) == searched(exact(game, 5), [once])


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_with_all_its_means_it_finds_the_wins_that_are_near(game: str) -> None:
    depth = 2 if game == "eiyiu" else 5
    agent = BudgetAgent(game, nodes=30_000, hash_mb=1)
    wins = 0
    for position in boards(game, depth):
        value, _, _ = MinimaxAgent(game, depth).value(position)
        if abs(value) > WIN // 2:
            found = agent.analyse(position)
            assert np.sign(found.value) == np.sign(value)
            assert TOP - abs(found.value) <= WIN - abs(value)
            wins += 1
    assert wins > 20


# The budget


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_a_budget_of_nodes_is_kept_to_the_node_or_the_search_is_done(game: str) -> None:
    start = envs.start(game)
    for nodes in (1, 2, 50, 3000):
        found = BudgetAgent(game, nodes=nodes, hash_mb=1).analyse(start)
        assert found.nodes == nodes
        assert found.move in start.legal_moves()


class Clock:
    """A clock that moves on by a millisecond whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        self.now += 0.001
        return self.now


def test_a_budget_of_time_is_looked_at_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(budget, "time", clock)
    found = BudgetAgent("oware", time_ms=50, hash_mb=1).analyse(envs.start("oware"))
    assert 0.050 <= found.seconds <= 0.056
    assert found.nodes > 100 and found.depth >= 1


def test_a_reply_that_repeats_is_seen_although_an_earlier_search_knows_the_position_before_it() -> None:
    """A budget of time keeps the table: there the positions after the first ply are known from before they could recur."""
    differs = 0
    rng = np.random.default_rng(6)
    for position in fixed.few_pieces(rng, 150, repetition_limit=2):
        if len(position.legal_actions()) > 1:
            knowing, fresh = (shallow("uisge", 2) for _ in range(2))
            for after in map(position.play, position.legal_actions()):
                if not after.end:
                    knowing.analyse(without_past(after))
            value = fresh.analyse(position).value
            assert knowing.analyse(position).value == value
            differs += shallow("uisge", 2).analyse(without_past(position)).value != value
    assert differs > 0


def without_past(position: Position) -> Position:
    """The same position, of whose earlier ones nothing is known."""
    return Position.from_text("uisge", position.text, strict=False, repetition_limit=2)


def shallow(game: str, depth: int) -> BudgetAgent:
    """A searcher that keeps its table and goes to exactly this depth, with nothing cut short."""
    agent = BudgetAgent(game, time_ms=60_000, tuned=False, hash_mb=1, means=NO_MEANS | stack.TRUST)
    agent._rooms.state[:, stack.LAST_DEPTH] = depth
    return agent


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_answers_do_not_depend_on_what_else_is_asked(game: str) -> None:
    positions = boards(game, 2)[::4]
    together = BudgetAgent(game, nodes=700, hash_mb=1)
    expected = answers(together, positions).tolist()
    assert answers(together, positions[::-1]).tolist() == expected[::-1]
    alone = [int(answers(BudgetAgent(game, nodes=700, hash_mb=1), [position])[0]) for position in positions[:10]]
    assert alone == expected[:10]


@fixed.two_threads
def test_two_threads_answer_what_one_does() -> None:
    positions = boards("oware", 4)
    one = BudgetAgent("oware", nodes=2000, hash_mb=1)
    two = BudgetAgent("oware", nodes=2000, hash_mb=1, threads=2)
    assert answers(one, positions).tolist() == answers(two, positions).tolist()


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_long_pasts_are_taken_along(game: str) -> None:
    agent = BudgetAgent(game, nodes=300, hash_mb=1)
    line = [position for position in random_game(game, 3)[:-1] if position.mover != CHANCE]
    for position in (line[0], line[-1], line[len(line) // 2]):
        assert agent.analyse(position).move in position.legal_moves()


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_asking_changes_nothing_that_it_is_asked_about(game: str) -> None:
    arrays = batch_of(boards(game, 2)[:20])
    before = [array.copy() for array in arrays]
    BudgetAgent(game, nodes=500, hash_mb=1).act(*arrays, np.random.default_rng(0))
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_the_line_that_is_told_can_be_played_and_begins_with_the_move(game: str) -> None:
    for position in boards(game, 3)[::8]:
        found = BudgetAgent(game, nodes=2000, hash_mb=1).analyse(position)
        assert found.line[0] == found.move
        for move in found.line:
            assert not position.end
            position = position.play(move)


def test_one_legal_move_is_played_without_a_search() -> None:
    position = Position.from_text("oware", "0-0-0-0-0-3-4-4-4-4-4-4-10-11-S")
    assert len(position.legal_actions()) == 1
    found = BudgetAgent("oware", time_ms=60_000, hash_mb=1).analyse(position)
    assert (found.move, found.depth) == ("F", 1)


def test_there_is_nothing_to_search_after_the_end_and_before_a_deal() -> None:
    agent = BudgetAgent("eiyiu", nodes=100, hash_mb=1)
    with pytest.raises(IllegalMove, match="a draw is to be dealt"):
        agent.analyse(Position.from_text("eiyiu", "12 3456789 123456789 ? - 0 0"))
    over = random_game("oware", 1)[-1]
    with pytest.raises(IllegalMove, match="the game is over"):
        BudgetAgent("oware", nodes=100, hash_mb=1).analyse(over)


# Solved endgames


@pytest.fixture(scope="module")
def endgames(tmp_path_factory: pytest.TempPathFactory) -> Database:
    """All boards of Oware with up to six seeds."""
    folder = tmp_path_factory.mktemp("endgames")
    list(build(6, folder))
    return open_database(folder)


def test_with_endgames_no_move_gives_a_seed_away_and_without_some_do(endgames: Database) -> None:
    questions = draw_questions(endgames, 300, seed=1)
    assert grade(BudgetAgent("oware", nodes=200, endgames=endgames), questions, 0).kept == 1
    assert grade(BudgetAgent("oware", nodes=200), questions, 0).kept < 1


def test_with_endgames_what_is_won_is_won_and_not_walked_about_in(endgames: Database) -> None:
    agents = (BudgetAgent("oware", nodes=200, endgames=endgames), MinimaxAgent("oware", 4))
    for question in draw_questions(endgames, 60, seed=2):
        position, winner = question.position, question.position.mover
        while not position.end:
            position = position.play(int(answers(agents[position.mover != winner], [position])[0]))
        assert position.result is not None and position.result[winner] == 1


@pytest.mark.parametrize("limit", [2, 3])
def test_where_a_position_has_recurred_endgames_count_after_harvests_alone(endgames: Database, limit: int) -> None:
    agent = BudgetAgent("oware", nodes=50, hash_mb=1, endgames=endgames)
    marks = []
    for position in fixed.walks("oware", repetition_limit=limit):
        row, history = position.to_arrays()
        agent.think(row[None], history[None])
        marks.append(int(agent._rooms.state[0, stack.ENDGAMES]))
        often = position.occurrences + 1 >= limit
        assert marks[-1] == stack.AFTER_HARVESTS or not often
    assert set(marks) == ({stack.AFTER_HARVESTS} if limit == 2 else {stack.AFTER_HARVESTS, stack.ANYWHERE})


def test_endgames_serve_a_batch_as_they_serve_positions(endgames: Database) -> None:
    agent = BudgetAgent("oware", nodes=100, hash_mb=1, endgames=endgames)
    for limit in (2, 3):
        games = VectorGames("oware", 8, seed=4, repetition_limit=limit)
        for _ in range(90):
            games.step(games.random_actions())
            found = agent.think(games.rows, games.histories)
            expected = [agent.analyse(games.position(index)) for index in range(8)]
            assert [(one.value, one.nodes) for one in found] == [(one.value, one.nodes) for one in expected]


def test_endgames_of_other_rules_are_left_aside(endgames: Database) -> None:
    known = draw_questions(endgames, 40, seed=3)
    for question in known:
        other = Position.from_text("oware", question.position.text, grand_slam="capture")
        with_them = BudgetAgent("oware", nodes=300, hash_mb=1, endgames=endgames).analyse(other)
        without = BudgetAgent("oware", nodes=300, hash_mb=1).analyse(other)
        assert (with_them.move, with_them.value) == (without.move, without.value)


def test_endgames_say_nothing_of_boards_beyond_them_even_with_a_large_lead(endgames: Database) -> None:
    position = Position.from_text("oware", "1-1-1-1-1-0-1-1-1-1-1-1-20-0-S", strict=False)
    with_them = BudgetAgent("oware", nodes=50, hash_mb=1, endgames=endgames).analyse(position)
    assert with_them.move == BudgetAgent("oware", nodes=50, hash_mb=1).analyse(position).move


def test_the_endgames_that_are_there_are_used_unless_a_spec_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPIELTISCH_DATA_DIR", str(tmp_path))
    assert make_agent("minimax:nodes=9", "oware").spec == "minimax:nodes=9,endgames=0"
    list(build(3))
    assert make_agent("minimax:nodes=9", "oware").spec == "minimax:nodes=9,endgames=3"
    assert make_agent("minimax:nodes=9,endgames=2", "oware").spec == "minimax:nodes=9,endgames=2"
    assert make_agent("minimax:nodes=9,endgames=0", "oware").spec == "minimax:nodes=9,endgames=0"
    assert make_agent("minimax:nodes=9", "oware", {"grand_slam": "capture"}).spec == "minimax:nodes=9,endgames=0"
    assert make_agent("minimax:nodes=9", "toguz_kumalak").spec == "minimax:nodes=9"
    with pytest.raises(BadSpec, match=r"04.endgames' is missing"):
        make_agent("minimax:nodes=9,endgames=4", "oware")
    file = tmp_path / "endgames" / "oware-forfeit-03.endgames"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(BadSpec, match=r"oware-forfeit-03.endgames"):
        make_agent("minimax:nodes=9", "oware")


# The table


def new_table(buckets: int = 1) -> np.ndarray:
    return np.zeros((2 * buckets, memory.ENTRY), np.int64)


KNOWN_TO_TABLE = [(value, kind, depth, action) for value in (-TOP, -1, 0, 1, TOP) for kind, depth, action in
                  [(memory.EXACT, 0, -1), (memory.AT_LEAST, 60, 409), (memory.AT_MOST, 255, 0)]]  # fmt: skip


@pytest.mark.parametrize(("value", "kind", "depth", "action"), KNOWN_TO_TABLE)
def test_an_entry_gives_back_what_was_put_in(value: int, kind: int, depth: int, action: int) -> None:
    for search in (0, 1, memory.MAX_SEARCHES - 1):
        data = memory.packed(value, kind, depth, action, search)
        assert (memory.value_of(data), memory.kind_of(data)) == (value, kind)
        assert (memory.depth_of(data), memory.action_of(data), memory.search_of(data)) == (depth, action, search)


def test_the_deepest_entry_of_a_search_stays_and_the_newest_beside_it() -> None:
    table = new_table()
    for key, depth in ((1, 9), (2, 3), (3, 4), (4, 2)):
        memory.remember(table, key, memory.packed(key, memory.EXACT, depth, 5, 1), 1)
    assert [memory.value_of(memory.recall(table, key, 1)) if memory.recall(table, key, 1) else 0 for key in (1, 2, 3, 4)] == [
        *(1, 0, 0, 4)
    ]


def test_entries_of_earlier_searches_go_first_and_count_only_where_they_may() -> None:
    table = new_table()
    memory.remember(table, 1, memory.packed(7, memory.EXACT, 30, 5, 1), 1)
    assert memory.recall(table, 1, 1) != 0
    assert memory.recall(table, 1, 2) == 0
    memory.remember(table, 2, memory.packed(8, memory.EXACT, 1, 5, 2), 2)
    assert memory.recall(table, 1, 1) == 0
    assert memory.value_of(memory.recall(table, 2, 2)) == 8


def test_a_best_action_outlives_a_search_that_found_none() -> None:
    table = new_table()
    memory.remember(table, 1, memory.packed(7, memory.EXACT, 3, 5, 1), 1)
    memory.remember(table, 1, memory.packed(9, memory.AT_MOST, 4, -1, 1), 1)
    data = memory.recall(table, 1, 1)
    assert (memory.value_of(data), memory.action_of(data)) == (9, 5)


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_plies_are_counted_from_the_node_in_the_table_and_from_the_root_outside(game: str) -> None:
    tag = find_game(game).tag
    assert leaves.to_node(tag, TOP - 9, 4) == TOP - 5
    assert leaves.to_node(tag, 9 - TOP, 4) == 5 - TOP
    assert leaves.to_node(tag, 1234, 4) == 1234
    known = leaves.SOLVED + 3 * leaves.SOLVED_SEED - 9
    assert leaves.to_node(tag, known, 4) == known + (0 if game == "eiyiu" else 4)
    for value in (TOP - 9, 9 - TOP, 0, 20_000, -20_000, known, -known):
        assert leaves.from_node(tag, leaves.to_node(tag, value, 7), 7) == value


# Specs

NO_ENDGAMES = {game: ",endgames=0" if game == "oware" else "" for game in envs.GAME_NAMES}


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_a_spec_names_a_budget(game: str) -> None:
    for spec in ("minimax:nodes=100", "minimax:time_ms=5", "minimax:nodes=100,eval=plain", "minimax:nodes=7,hash_mb=1"):
        assert make_agent(spec, game).spec == spec + NO_ENDGAMES[game]
    assert make_agent("minimax:nodes=100,eval=tuned,hash_mb=16", game).spec == "minimax:nodes=100" + NO_ENDGAMES[game]
    assert make_agent("minimax:depth=2,eval=tuned", game).spec == "minimax:depth=2,eval=tuned"


@pytest.mark.parametrize("budget", [{}, {"nodes": 0}, {"time_ms": 0}, {"nodes": -1}, {"nodes": 5, "time_ms": 5}])
def test_no_budget_is_refused_in_one_line(budget: dict[str, int]) -> None:
    with pytest.raises(BadSpec, match="one budget of 1 or more"):
        BudgetAgent("oware", **budget)


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        *[(f"minimax:nodes={n}", "from 1 to 1000000000000") for n in ("", "0", "-1", "1e3", "x", "9" * 5000)],
        *[(f"minimax:time_ms={n}", "from 1 to 86400000") for n in ("", "0", "-1", "0.5", "1s", "86400001")],
        *[(f"minimax:nodes=9,hash_mb={n}", "from 1 to 1048576") for n in ("", "0", "-1", "16MB", "1048577")],
        ("minimax:nodes=9,hash_mb=1048576", "more than this machine's memory"),
        ("minimax:depth=3,hash_mb=4", "is for nodes and time_ms"),
        ("minimax:nodes=9,time_ms=9", "needs one depth, or one budget"),
        ("minimax:hash_mb=4", "needs one depth, or one budget"),
        *[(f"minimax:nodes=9,endgames={n}", "from 0 (none) to 21") for n in ("", "-1", "22", "all")],
        ("minimax:depth=3,endgames=4", "is for nodes and time_ms"),
        ("minimax:nodes=9,eval=best", "must be plain or tuned"),
        ("minimax:node=9", "known are depth=, turns=, nodes=, time_ms=, eval=, hash_mb=, endgames="),
    ],
)
def test_an_impossible_budget_is_refused_in_one_line(spec: str, hint: str) -> None:
    with pytest.raises(BadSpec) as refusal:
        make_agent(spec, "oware")
    assert hint in str(refusal.value)
    assert "\n" not in str(refusal.value)
