"""What every game must obey: in a position, in the batch engine, and between the two."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numba
import numpy as np
import pytest

import envs
from batches import (
    as_dealt,
    assert_equal,
    assert_same_future,
    facts,
    few,
    option_sets,
    played_on,
    random_game,
    random_line,
    snapshot,
    some_of,
    with_masked_actions,
)
from envs import BadOption, EndReason, IllegalMove, Position, VectorGames
from envs.engine.header import CHANCE
from envs.games import find_game

pytestmark = [pytest.mark.parametrize("game", envs.GAME_NAMES), pytest.mark.jit_off, pytest.mark.bounds]

two_threads = pytest.mark.skipif(numba.get_num_threads() < 2, reason="Numba has one thread only")

COPIES: dict[str, Callable[[Position], Position]] = {
    "full_text": lambda position: Position.from_text(position.game, position.full_text),
    "copy": Position.copy,
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda position: pickle.loads(pickle.dumps(position)),
}
CLONES: dict[str, Callable[[VectorGames], VectorGames]] = {
    "clone": VectorGames.clone,
    "deepcopy": copy.deepcopy,
    "pickle": lambda games: pickle.loads(pickle.dumps(games)),
}


# Legal actions


@pytest.mark.parametrize("restart", [True, False])
def test_a_running_game_has_a_legal_action_and_a_finished_one_has_none(game: str, restart: bool) -> None:
    ends = 0
    for options in option_sets(game, batch=True):
        games = VectorGames(game, few(game, 64), seed=1, restart=restart, **options)
        for _ in range(300):
            np.testing.assert_array_equal(games.action_mask.any(axis=1), games.running)
            assert np.isin(games.action_mask, (0, 1)).all()
            assert games.running.all() or not restart
            games.step(games.random_actions())
            ends += int(games.ended.sum())
    assert ends > few(game, 64) * len(option_sets(game, batch=True)) / 2


def test_the_mask_marks_exactly_the_actions_that_are_accepted(game: str) -> None:
    actions = find_game(game).actions
    for options in option_sets(game, batch=False):
        for position in some_of(random_game(game, seed=2, **options), few(game, 12)):
            read_back = Position.from_text(game, position.full_text)
            accepted = np.zeros(actions, np.int8)
            for action in range(-2, actions + 2):
                try:
                    read_back.play(action)
                except IllegalMove:
                    continue
                accepted[action] = 1
            np.testing.assert_array_equal(position.action_mask(), accepted)
            assert position.legal_actions() == list(np.flatnonzero(accepted))


def test_a_move_text_and_its_action_lead_to_the_same_position(game: str) -> None:
    for position in some_of(random_game(game, seed=3), 20):
        for move, action in zip(position.legal_moves(), position.legal_actions(), strict=True):
            assert facts(position.play(move)) == facts(position.play(action))
            assert position.play(move).last_move == move


def test_a_position_never_changes(game: str) -> None:
    line = random_game(game, seed=6)
    before = [facts(position) for position in line]
    for position in some_of(line, 10):
        random_line(position, seed=7)
    assert [facts(position) for position in line] == before


# Copies


@pytest.mark.parametrize("how", COPIES)
def test_a_copied_position_goes_on_identically(game: str, how: str) -> None:
    for options in option_sets(game, batch=False):
        line = random_game(game, seed=8, **options)
        for position in [*some_of(line, few(game, 4)), longest_history(line)]:
            assert_copied(position, COPIES[how])


@pytest.mark.parametrize("how", COPIES)
def test_a_copied_position_keeps_a_long_history(game: str, how: str) -> None:
    for seed in range(few(game, 15)):
        assert_copied(longest_history(random_game(game, seed)), COPIES[how])


def longest_history(line: list[Position]) -> Position:
    """The position of a line that has the most to tell."""
    return max(line, key=lambda position: len(position.full_text))


def assert_copied(position: Position, how: Callable[[Position], Position]) -> None:
    copied = how(position)
    assert copied == position
    assert hash(copied) == hash(position)
    lines = [random_line(one, seed=9, plies=few(position.game, 1000)) for one in (position, copied)]
    assert [facts(one) for one in lines[0]] == [facts(one) for one in lines[1]]


def test_positions_that_differ_are_not_equal(game: str) -> None:
    line = random_game(game, seed=10)
    assert len(set(line)) == len(line)
    assert line[0] != line[0].text


def test_a_short_text_keeps_board_and_side(game: str) -> None:
    for position in random_game(game, seed=11):
        read = Position.from_text(game, position.text)
        assert (read.text, read.mover) == (position.text, position.mover)


@pytest.mark.parametrize("how", CLONES)
def test_a_cloned_batch_goes_on_identically(game: str, how: str) -> None:
    games = played_on(VectorGames(game, 16, seed=12), 150)
    assert_same_future(games, CLONES[how](games), 300)


@pytest.mark.parametrize("how", CLONES)
def test_a_cloned_batch_is_independent(game: str, how: str) -> None:
    games = played_on(VectorGames(game, 16, seed=13), 50)
    before = snapshot(games)
    same = games.clone()
    played_on(CLONES[how](games), 100).reset(seed=5)
    assert_equal(snapshot(games), before)
    assert_same_future(games, same, 20)


# Observations


def test_observations_have_the_fields_of_the_record_within_their_bounds(game: str) -> None:
    record = find_game(game)
    low, high = record.observation_bounds()
    assert sum(field.size for field in record.observation) == record.observation_size == len(low) == len(high)
    assert len({field.name for field in record.observation}) == len(record.observation)
    for options in option_sets(game, batch=False):
        for position in random_game(game, seed=14, **options):
            for player in range(2):
                seen = position.observation(player)
                assert seen.shape == (record.observation_size,)
                assert seen.dtype == np.int16
                assert (low <= seen).all() and (seen <= high).all()
    for options in option_sets(game, batch=True):
        games = VectorGames(game, 16, seed=15, **options)
        for _ in range(100):
            games.step(games.random_actions())
            assert (low <= games.observation).all() and (games.observation <= high).all()
            assert (low <= games.final_observation[games.ended]).all()
            assert (games.final_observation[games.ended] <= high).all()


def test_an_observation_is_the_movers_if_no_player_is_named(game: str) -> None:
    for seed in range(16, 20):
        for position in random_game(game, seed):
            if position.mover == CHANCE:
                with pytest.raises(ValueError, match="a player is 0 or 1"):
                    position.observation()
            else:
                np.testing.assert_array_equal(position.observation(), position.observation(position.mover))


def test_a_batch_never_waits_for_a_draw(game: str) -> None:
    for restart in (True, False):
        games = VectorGames(game, 64, seed=50, restart=restart)
        for _ in range(100):
            games.step(games.random_actions())
            assert np.isin(games.mover, (0, 1)).all()
            assert [games.position(index).mover for index in range(4)] == games.mover[:4].tolist()


def test_observing_is_pure_in_any_order_and_after_the_end(game: str) -> None:
    rng = np.random.default_rng(17)
    for asked, silent in zip(random_game(game, seed=18), random_game(game, seed=18), strict=True):
        first = {player: asked.observation(player).copy() for player in (1, 0)}
        for player in rng.integers(0, 2, 6):
            seen = asked.observation(int(player))
            np.testing.assert_array_equal(seen, first[int(player)])
            seen[:] = -9
        assert facts(asked) == facts(silent)


def test_looking_at_a_position_of_a_batch_changes_nothing(game: str) -> None:
    rng = np.random.default_rng(19)
    asked, silent = (VectorGames(game, 4, seed=20, restart=False) for _ in range(2))
    for _ in range(300):
        index, player = int(rng.integers(4)), int(rng.integers(2))
        position = asked.position(index)
        position.observation(player)[:] = -9
        if not position.end:
            position.play(position.legal_actions()[0])
        assert_same_future(asked, silent, 1)


def test_a_position_of_a_batch_stays_when_the_batch_goes_on(game: str) -> None:
    games = VectorGames(game, 4, seed=49)
    for _ in range(60):
        positions = [games.position(index) for index in range(4)]
        before = [facts(position) for position in positions]
        games.step(games.random_actions())
        assert [facts(position) for position in positions] == before
    games.load(positions)
    played_on(games, 5)
    assert [facts(position) for position in positions] == before


@pytest.mark.parametrize("restart", [True, False])
def test_equal_observations_have_equal_masks(game: str, restart: bool) -> None:
    for options in option_sets(game, batch=True):
        masks: dict[bytes, bytes] = {}
        games = VectorGames(game, few(game, 256), seed=21, restart=restart, **options)
        for _ in range(60):
            for seen, mask in zip(games.observation, games.action_mask, strict=True):
                assert masks.setdefault(seen.tobytes(), mask.tobytes()) == mask.tobytes()
            games.step(games.random_actions())


# The batch engine


@pytest.mark.parametrize("restart", [True, False])
def test_a_batch_equals_positions_played_alone(game: str, restart: bool) -> None:
    for options in option_sets(game, batch=True):
        games = VectorGames(game, 8, seed=22, restart=restart, **options)
        begin = envs.start(game, **options)
        alone = [begin] * 8
        for _ in range(150):
            actions = games.random_actions()
            games.step(actions)
            for index in range(8):
                if alone[index].end:
                    assert actions[index] == -1
                    assert not games.ended[index]
                    continue
                position = as_dealt(alone[index].play(int(actions[index])), games.position(index))
                assert games.ended[index] == (position.end is not None)
                assert games.end_reason[index] == (position.end or EndReason.RUNNING)
                if position.end:
                    assert tuple(games.rewards[index]) == position.result
                    assert tuple(games.final_scores[index]) == position.scores
                    assert games.final_plies[index] == position.ply
                    for player in range(2):
                        np.testing.assert_array_equal(games.final_observation[index, player], position.observation(player))
                else:
                    assert not games.rewards[index].any()
                alone[index] = begin if position.end and restart else position
            for index, position in enumerate(alone):
                assert games.mover[index] == position.mover
                np.testing.assert_array_equal(games.observation[index], position.observation())
                np.testing.assert_array_equal(games.action_mask[index], position.action_mask())
        assert [facts(games.position(index)) for index in range(8)] == [facts(position) for position in alone]


def test_loaded_positions_go_on_as_they_would_alone(game: str) -> None:
    for options in option_sets(game, batch=True)[: few(game, 24)]:
        lines = [random_game(game, seed, **options) for seed in range(23, 27)]
        begun = [undrawn(line[min(len(line) - 1, len(line) * part // 4) :]) for part, line in enumerate(lines, start=1)]
        games = VectorGames(game, 4, restart=False, **options)
        games.load(begun)
        assert [facts(games.position(index)) for index in range(4)] == [facts(position) for position in begun]
        rng = np.random.default_rng(28)
        alone = begun
        while games.running.any():
            actions = [-1 if position.end else int(rng.choice(position.legal_actions())) for position in alone]
            games.step(actions)
            alone = [
                position if position.end else as_dealt(position.play(action), games.position(index))
                for index, (position, action) in enumerate(zip(alone, actions, strict=True))
            ]
            assert [facts(games.position(index)) for index in range(4)] == [facts(position) for position in alone]
        assert all(position.end for position in alone)


def undrawn(line: list[Position]) -> Position:
    """The first position of a line that waits for no draw."""
    return next(position for position in line if position.mover != CHANCE)


def test_every_step_is_one_ply_of_every_game(game: str) -> None:
    games = VectorGames(game, 32, seed=29)
    steps = np.zeros(32, np.int64)
    finished = 0
    for _ in range(500):
        games.step(games.random_actions())
        steps += 1
        np.testing.assert_array_equal(steps[games.ended], games.final_plies[games.ended])
        finished += int(games.ended.sum())
        steps[games.ended] = 0
    assert finished > 32
    np.testing.assert_array_equal(steps, [games.position(index).ply for index in range(32)])


def test_the_step_that_ends_a_game_already_shows_the_start_of_the_next(game: str) -> None:
    games = VectorGames(game, 32, seed=30)
    fresh = snapshot(games)
    for _ in range(500):
        games.step(games.random_actions())
        for name in ("observation", "action_mask", "mover"):
            np.testing.assert_array_equal(getattr(games, name)[games.ended], fresh[name][games.ended])


def test_rewards_over_an_episode_are_each_seats_result_and_sum_to_zero(game: str) -> None:
    results = set()
    for options in option_sets(game, batch=True):
        games = VectorGames(game, 16, seed=31, restart=False, **options)
        earned = np.zeros((16, 2))
        while games.running.any():
            games.step(games.random_actions())
            earned += games.rewards
        assert [tuple(row) for row in earned] == [games.position(index).result for index in range(16)]
        assert not earned.sum(axis=1).any()
        results |= {tuple(row) for row in earned}
    assert {(1.0, -1.0), (-1.0, 1.0)} <= results


@two_threads
def test_results_do_not_depend_on_threads(game: str) -> None:
    one, two = (VectorGames(game, few(game, 600), seed=32, threads=threads) for threads in (1, 2))
    assert_same_future(one, two, 150)


def test_the_thread_count_of_other_kernels_stays_as_it_was(game: str) -> None:
    before = numba.get_num_threads()
    played_on(VectorGames(game, 4, threads=1), 3)
    assert numba.get_num_threads() == before


def test_a_games_stream_does_not_depend_on_the_number_of_games(game: str) -> None:
    few, many = VectorGames(game, 3, seed=33), VectorGames(game, 50, seed=33)
    for _ in range(300):
        actions, others = few.random_actions(), many.random_actions()
        np.testing.assert_array_equal(actions, others[:3])
        few.step(actions)
        many.step(others)
        for name, array in snapshot(few).items():
            np.testing.assert_array_equal(array, getattr(many, name)[:3], err_msg=name)


def test_the_streams_of_ten_seeds_are_all_different(game: str) -> None:
    seen: set[bytes] = set()
    for seed in range(10):
        games = VectorGames(game, 20, seed=seed)
        drawn = []
        for _ in range(60):
            drawn.append(games.random_actions())
            games.step(drawn[-1])
        seen |= {line.tobytes() for line in np.array(drawn).T}
    assert len(seen) == 10 * 20


def test_a_stream_moves_on_even_where_the_game_does_not(game: str) -> None:
    games = VectorGames(game, 64, seed=34)
    drawn = np.array([games.random_actions() for _ in range(50)])
    assert all(len(set(line)) > 1 for line in drawn.T if games.action_mask[0].sum() > 1)


def test_actions_are_drawn_for_chosen_games_alone_and_the_streams_of_the_others_stay(game: str) -> None:
    games, all_of_them = VectorGames(game, 64, seed=34), VectorGames(game, 64, seed=34)
    chosen = np.arange(64) % 3 == 0
    expected = [all_of_them.random_actions() for _ in range(2)]
    np.testing.assert_array_equal(games.random_actions(chosen), np.where(chosen, expected[0], -1))
    np.testing.assert_array_equal(games.random_actions(), np.where(chosen, expected[1], expected[0]))
    with pytest.raises(BadOption, match="active"):
        games.random_actions(np.ones(3, np.bool_))


def test_every_legal_action_is_drawn_equally_often(game: str) -> None:
    games = with_masked_actions(game, games=4, seed=35)
    draws = 4000
    counts = np.zeros(games.action_mask.shape, np.int64)
    for _ in range(draws):
        counts[np.arange(4), games.random_actions()] += 1
    for mask, count in zip(games.action_mask, counts, strict=True):
        expected = draws / mask.sum()
        assert not count[mask == 0].any()
        assert np.abs(count[mask == 1] - expected).max() < 5 * np.sqrt(expected)


def test_the_same_seed_gives_the_same_games_and_a_reset_with_it_begins_again(game: str) -> None:
    games = VectorGames(game, 16, seed=36)
    assert_same_future(games, VectorGames(game, 16, seed=36), 100)
    games.reset(seed=36)
    fresh = VectorGames(game, 16, seed=36)
    for _ in range(100):
        actions = games.random_actions()
        np.testing.assert_array_equal(actions, fresh.random_actions())
        games.step(actions)
        fresh.step(actions)
        np.testing.assert_array_equal(games.observation, fresh.observation)


def test_a_reset_without_a_seed_lets_the_streams_go_on(game: str) -> None:
    games, fresh = VectorGames(game, 16, seed=37), VectorGames(game, 16, seed=37)
    played_on(games, 10)
    games.reset()
    np.testing.assert_array_equal(games.observation, fresh.observation)
    assert not games.rewards.any() and not games.ended.any() and not games.end_reason.any()
    ahead = np.array([games.random_actions() for _ in range(20)])
    behind = np.array([fresh.random_actions() for _ in range(30)])
    assert (ahead != behind[:20]).any()
    np.testing.assert_array_equal(ahead, behind[10:])


def test_a_reset_of_some_games_leaves_the_others_where_they_are(game: str) -> None:
    games = played_on(VectorGames(game, 6, seed=48, restart=False), 12)
    some = np.array([True, False, False, True, False, True])
    before = snapshot(games)
    games.reset(active=some)
    assert [games.position(int(index)) for index in np.flatnonzero(some)] == [envs.start(game)] * 3
    for name in ("observation", "action_mask", "mover", "rows"):
        np.testing.assert_array_equal(getattr(games, name)[~some], before[name][~some], err_msg=name)
    same = VectorGames(game, 6, restart=False)
    same.restore({**same.state(), "deals": games.state()["deals"]})
    same.load([games.position(index) for index in range(6)])
    for _ in range(30):
        actions = games.random_actions()
        games.step(actions)
        same.step(actions)
        np.testing.assert_array_equal(games.observation, same.observation)


def test_every_option_survives_resets_and_restarts(game: str) -> None:
    for given in option_sets(game, batch=True):
        games = VectorGames(game, 4, seed=38, **given)
        options = find_game(game).checked_options(given, batch=True)
        for seed in (None, 3):
            played_on(games, 250)
            assert games.options == options
            assert all(games.position(index).options == options for index in range(4))
            games.reset(seed)
            assert games.options == options
            assert [games.position(index) for index in range(4)] == [envs.start(game, **given)] * 4
        details = games.position(0).full_text.split()
        assert {f"{name}={value}" for name, value in options.items()} <= set(details)
