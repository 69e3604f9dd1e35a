"""OpenSpiel's search over our positions: the state it walks, the rollouts it asks for, and the agent it makes."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import envs
from agents.spec import MAX_SIMULATIONS, make_agent
from agents.uniform import UniformAgent
from batches import few, option_sets, random_game, some_of
from envs import BadOption, BadSpec, Position, VectorGames
from envs.engine.header import CHANCE, LAST_ACTION
from envs.games import find_game
from players import answer, answers, batch_of, numpys_global_state
from training.arena import play_match

pyspiel = pytest.importorskip("pyspiel")
mcts = pytest.importorskip("open_spiel.python.algorithms.mcts")
openspiel = pytest.importorskip("agents.openspiel")


def state_of(position: Position) -> Any:
    """The position as OpenSpiel's search sees it."""
    return openspiel.State.at(find_game(position.game), *position.to_arrays())


def facts(state: Any) -> tuple[Any, ...]:
    """All that the search may ask a state, and the row behind it."""
    chance = state.is_chance_node()
    return (
        state.current_player(),
        state.is_terminal(),
        chance,
        state.legal_actions(),
        state.chance_outcomes() if chance else None,
        state.returns(),
        state.row.tolist(),
    )


# The state


@pytest.mark.bounds
@pytest.mark.jit_off
@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_a_state_says_what_the_position_says_all_through_random_games(game: str) -> None:
    ends = set()
    games = few(game, 12)
    for seed in range(games):
        line = random_game(game, seed)
        state = state_of(line[0])
        for position, after in zip(line, [*line[1:], None], strict=True):
            player = {CHANCE: pyspiel.PlayerId.CHANCE}.get(position.mover, position.mover)
            assert state.current_player() == (pyspiel.PlayerId.TERMINAL if position.end else player)
            assert state.is_terminal() == bool(position.end)
            assert state.is_chance_node() == (position.mover == CHANCE and not position.end)
            assert state.legal_actions() == state.legal_actions(state.current_player()) == position.legal_actions()
            assert state.returns() == list(position.result or (0, 0))
            if after is not None:
                state.apply_action(after.to_arrays()[0][LAST_ACTION])
        ends.add(line[-1].result)
    assert len(ends) > 1 or games < 12


@pytest.mark.bounds
def test_draws_are_as_likely_as_the_tiles_that_are_hidden() -> None:
    waiting = [position for position in random_game("eiyiu", seed=1) if position.mover == CHANCE]
    assert waiting
    for position in waiting:
        outcomes = state_of(position).chance_outcomes()
        assert [outcome for outcome, _ in outcomes] == position.legal_actions()
        assert {share for _, share in outcomes} == {1 / len(position.legal_actions())}


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_nothing_is_legal_for_the_player_not_to_move(game: str) -> None:
    state = state_of(envs.start(game))
    assert state.legal_actions(0) and not state.legal_actions(1)


@pytest.mark.bounds
@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_a_clone_goes_its_own_way(game: str) -> None:
    for position in random_game(game, seed=2)[:-1:7]:
        state = state_of(position)
        before, clone = facts(state), state.clone()
        assert facts(clone) == before
        clone.apply_action(clone.legal_actions()[0])
        assert facts(state) == before != facts(clone)


def test_a_repetition_that_began_before_the_search_ends_the_game_in_it() -> None:
    line = next(line for seed in range(200) if (line := random_game("uisge", seed))[-1].end == envs.EndReason.REPETITION)
    state = state_of(line[-2])
    state.apply_action(int(line[-1].to_arrays()[0][LAST_ACTION]))
    assert state.is_terminal() and state.returns() == [0, 0]


# The rollouts


@pytest.mark.bounds
@pytest.mark.parametrize(
    ("game", "options"), [(game, options) for game in envs.GAME_NAMES for options in option_sets(game, batch=True)]
)
def test_rollouts_come_to_an_end_and_leave_the_state_as_it_was(game: str, options: dict[str, Any]) -> None:
    evaluator = openspiel.RandomRollouts(find_game(game), seed=3)
    for position in some_of(random_game(game, seed=3, **options)[:-1], 5):
        state = state_of(position)
        before, history = facts(state), state.history.copy()
        for _ in range(3):
            assert evaluator.evaluate(state) in ([1, -1], [0, 0], [-1, 1])
        assert facts(state) == before
        np.testing.assert_array_equal(state.history, history)


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_rollouts_are_worth_on_average_what_random_games_are(game: str) -> None:
    position = random_game(game, seed=4)[2]
    state, count = state_of(position), 400
    ours = openspiel.RandomRollouts(find_game(game), seed=4)
    theirs = mcts.RandomRolloutEvaluator(count // 4, np.random.RandomState(4))
    results = [ours.evaluate(state)[0] for _ in range(count)]
    assert abs(np.mean(results) - theirs.evaluate(state)[0]) < 4 * np.sqrt(1 / count + 4 / count)


@pytest.mark.parametrize("game", [game for game in envs.GAME_NAMES if find_game(game).alternates])
def test_rollouts_are_the_games_that_a_batch_plays_by_the_same_stream(game: str) -> None:
    lines = [line for seed in range(60) if (line := random_game(game, seed))[-1].end == envs.EndReason.REPETITION] or [
        random_game(game, seed=5)
    ]
    positions = [position for line in lines[:8] for position in line[-12:-1]]
    batch = VectorGames(game, len(positions), restart=False)
    batch.load(positions)
    batch._streams[:] = [2 * index + 1 for index in range(len(positions))]
    results = np.zeros(len(positions))
    while batch.running.any():
        batch.step(batch.random_actions())
        results += batch.rewards[:, 0]
    rollouts = [openspiel.RandomRollouts(find_game(game), 2 * index + 1) for index in range(len(positions))]
    played = [one.evaluate(state_of(position))[0] for one, position in zip(rollouts, positions, strict=True)]
    np.testing.assert_array_equal(played, results)


def test_rollouts_depend_on_their_seed_alone() -> None:
    state = state_of(envs.start("oware"))
    one, same, other = (openspiel.RandomRollouts(find_game("oware"), seed) for seed in (5, 5, 7))
    results = [[rollouts.evaluate(state)[0] for _ in range(50)] for rollouts in (one, same, other)]
    assert results[0] == results[1] != results[2]


def test_the_search_is_offered_every_action_with_the_same_prior() -> None:
    position = random_game("uisge", seed=6)[9]
    prior = openspiel.RandomRollouts(find_game("uisge"), seed=6).prior(state_of(position))
    assert [action for action, _ in prior] == position.legal_actions()
    assert {share for _, share in prior} == {1 / len(prior)}


# The agent


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_the_agent_plays_whole_games_by_the_rules(game: str) -> None:
    agent = make_agent("openspiel_mcts:simulations=12", game)
    match = play_match(game, {}, agent, UniformAgent(), games=6, seed=7)
    assert match.games == 6


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_a_win_in_one_is_found_once_every_action_was_tried(game: str) -> None:
    found = 0
    for seed in range(300):
        line = random_game(game, seed)
        for position in line[-4:-1]:
            wins = winning_actions(position)
            if wins and len(wins) < len(position.legal_actions()):
                agent = make_agent(f"openspiel_mcts:simulations={len(position.legal_actions()) + 1}", game)
                assert answer(agent, position, np.random.default_rng(seed)) in wins, position
                found += 1
        if found >= 5:
            return
    raise AssertionError("too few positions with a win in one")


def winning_actions(position: Position) -> list[int]:
    """The actions that win the game for the mover at once."""
    if position.mover == CHANCE:
        return []
    results = {action: position.play(action).result for action in position.legal_actions()}
    return [action for action, result in results.items() if result is not None and result[position.mover] == 1]


def test_more_simulations_find_better_moves() -> None:
    agent = make_agent("openspiel_mcts:simulations=200", "oware")
    assert play_match("oware", {}, agent, UniformAgent(), games=10, seed=8).score >= 0.9
    few_tries = make_agent("openspiel_mcts:simulations=10", "oware")
    assert play_match("oware", {}, agent, few_tries, games=10, seed=8).score >= 0.7


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_the_agent_answers_from_the_stream_it_is_given_alone(game: str) -> None:
    positions = [position for position in random_game(game, seed=9)[:-1] if position.mover != CHANCE][:6]
    before = numpys_global_state()
    agent, other = (make_agent("openspiel_mcts:simulations=30", game) for _ in range(2))
    first = answers(agent, positions, np.random.default_rng(1))
    again = [answers(agent, positions, np.random.default_rng(1)), answers(other, positions, np.random.default_rng(1))]
    np.testing.assert_array_equal(again, [first, first])
    assert any((answers(agent, positions, np.random.default_rng(seed)) != first).any() for seed in range(2, 12))
    assert numpys_global_state() == before


def test_the_arrays_it_is_given_stay_as_they_are() -> None:
    batch = batch_of(random_game("oware", seed=10)[40:44])
    copies = [array.copy() for array in batch]
    make_agent("openspiel_mcts:simulations=50", "oware").act(*batch, np.random.default_rng(0))
    for array, copy in zip(batch, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


# Specs


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("openspiel_mcts:simulations=2", "openspiel_mcts:simulations=2"),
        ("openspiel_mcts:simulations=100,c=2", "openspiel_mcts:simulations=100"),
        ("openspiel_mcts:c=1.50,simulations=100", "openspiel_mcts:simulations=100,c=1.5"),
        ("openspiel_mcts:simulations=100,c=0", "openspiel_mcts:simulations=100,c=0"),
    ],
)
def test_a_spec_names_the_agent(spec: str, name: str) -> None:
    assert make_agent(spec, "oware").spec == name
    assert make_agent(name, "oware").spec == name


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("openspiel_mcts", "simulations"),
        ("openspiel_mcts:", "it reads openspiel_mcts:simulations=N"),
        ("openspiel_mcts:c=2", "simulations"),
        ("openspiel_mcts:depth=2", "known are simulations=, c="),
        ("openspiel_mcts:simulations=5,simulations=5", "twice"),
        *(
            (f"openspiel_mcts:simulations={number}", f"from 2 to {MAX_SIMULATIONS}")
            for number in ("", "0", "1", "-5", "x", "1e3", "2.0", "100001", "9" * 5000)
        ),
        *((f"openspiel_mcts:simulations=5,c={number}", "c in") for number in ("", "-1", "x", "nan", "inf", "101")),
    ],
)
def test_an_impossible_spec_is_refused_in_one_line(spec: str, hint: str) -> None:
    with pytest.raises(BadSpec) as refusal:
        make_agent(spec, "oware")
    assert hint in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.parametrize("missing", ["pyspiel", "open_spiel.python.algorithms.mcts"])
def test_without_the_package_one_line_says_how_to_get_it(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "agents.openspiel")
    monkeypatch.delattr("agents.openspiel")
    with pytest.raises(BadSpec, match=r"pip install open_spiel") as refusal:
        make_agent("openspiel_mcts:simulations=5", "oware")
    assert "\n" not in str(refusal.value)


def test_rules_under_which_a_random_game_need_not_end_are_refused() -> None:
    with pytest.raises(BadOption, match="quiet_limit") as refusal:
        make_agent("openspiel_mcts:simulations=5", "oware", {"quiet_limit": 0})
    assert "\n" not in str(refusal.value)


def test_a_position_under_such_rules_is_refused_too() -> None:
    agent = make_agent("openspiel_mcts:simulations=5", "oware")
    with pytest.raises(BadOption, match="quiet_limit"):
        answer(agent, envs.start("oware", quiet_limit=0))
