"""What every game refuses, in one line and before anything has changed."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import envs
from batches import (
    assert_equal,
    assert_same_future,
    facts,
    option_sets,
    option_values,
    played_on,
    random_game,
    snapshot,
    with_masked_actions,
)
from envs import BadOption, IllegalMove, Position, VectorGames
from envs.engine.game import Choice, Switch
from envs.engine.header import CHANCE
from envs.games import find_game

pytestmark = pytest.mark.parametrize("game", envs.GAME_NAMES)


# Actions


@pytest.mark.parametrize("action", [-1, 10**6, -(10**30), 1.0, 1.7, True, None, "", " ", "!", [0], np.zeros(1, np.int64), b"A"])
def test_a_position_refuses_what_is_no_action(game: str, action: Any) -> None:
    for position in random_game(game, seed=4)[3:9]:
        before = facts(position)
        with pytest.raises(IllegalMove, match="the draw may be" if position.mover == CHANCE else "may play"):
            position.play(action)
        assert facts(position) == before


def test_a_finished_game_refuses_every_action(game: str) -> None:
    last = random_game(game, seed=5)[-1]
    for action in [*range(find_game(game).actions), str(last.last_move)]:
        with pytest.raises(IllegalMove, match=r"over"):
            last.play(action)


@pytest.mark.parametrize("offset", ["-1", "high", "masked", "huge", "-huge"])
@pytest.mark.parametrize("index", [0, 3, 7])
def test_one_illegal_action_among_many_changes_nothing(game: str, index: int, offset: str) -> None:
    games = with_masked_actions(game, seed=39)
    untouched = games.clone()
    before = snapshot(games)
    actions = games.random_actions()
    masked = int(np.flatnonzero(games.action_mask[index] == 0)[0])
    bad = {"-1": -1, "high": find_game(game).actions, "masked": masked, "huge": 2**62, "-huge": -(2**62)}[offset]
    legal = ", ".join(map(str, np.flatnonzero(games.action_mask[index])))
    with pytest.raises(IllegalMove, match=rf"{bad} in game {index}\b.*{legal}$"):
        games.step(np.where(np.arange(8) == index, bad, actions))
    assert_equal(snapshot(games), before)
    untouched.random_actions()
    assert_same_future(games, untouched, 10)


@pytest.mark.parametrize(
    "actions",
    [
        None,
        0,
        "00000000",
        [],
        [0] * 7,
        [0] * 9,
        [[0] * 8],
        [[0]] * 8,
        [[0], [0, 0], *[[0]] * 6],
        [0.0] * 8,
        [None] * 8,
        ["0"] * 8,
        [True] * 8,
        [2**70] * 8,
        np.zeros(8, np.float32),
        np.zeros(8, np.complex64),
        np.zeros((8, 1), np.int64),
        np.full(8, 2**64 - 1, np.uint64),
        np.full(8, np.nan),
    ],
)
def test_actions_of_a_wrong_shape_or_kind_change_nothing(game: str, actions: Any) -> None:
    games = played_on(VectorGames(game, 8, seed=40), 5)
    before = snapshot(games)
    with pytest.raises(IllegalMove) as refusal:
        games.step(actions)
    assert "\n" not in str(refusal.value)
    assert_equal(snapshot(games), before)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, list])
def test_actions_may_be_whole_numbers_of_any_kind(game: str, kind: Any) -> None:
    games, other = (VectorGames(game, 8, seed=41) for _ in range(2))
    highest = find_game(game).actions if kind is list else np.iinfo(kind).max
    played = 0
    for _ in range(20):
        actions = games.random_actions()
        fits = actions <= highest  # games whose action is no number of that kind wait
        games.step(actions.tolist() if kind is list else actions.astype(kind), active=fits)
        other.step(other.random_actions(), active=fits)
        assert_equal(snapshot(games), snapshot(other))
        played += int(fits.sum())
    assert played == 8 * 20 or find_game(game).actions > highest
    assert played > 40


@pytest.mark.parametrize(
    "active",
    [[], [True] * 7, [True] * 9, np.ones(1, np.bool_), np.ones((8, 1), np.bool_), np.ones(8), [None] * 8, "x"],
)
def test_an_active_mask_of_a_wrong_shape_or_kind_changes_nothing(game: str, active: Any) -> None:
    games = played_on(VectorGames(game, 8, seed=42), 5)
    before = snapshot(games)
    actions = games.random_actions()
    for act in (partial(games.step, actions), games.reset):
        with pytest.raises(ValueError, match="active") as refusal:
            act(active=active)
        assert "\n" not in str(refusal.value)
        assert_equal(snapshot(games), before)


def test_games_that_are_not_active_are_left_alone(game: str) -> None:
    rng = np.random.default_rng(43)
    games = VectorGames(game, 16, seed=44)
    for _ in range(200):
        active = rng.random(16) < 0.5
        before, expected = snapshot(games), games.clone()
        actions = games.random_actions()
        expected.step(actions)
        games.step(np.where(active, actions, rng.choice([-1, 10**6, 0])), active=active)
        for name in ("observation", "action_mask", "mover", "rows", "histories"):
            np.testing.assert_array_equal(getattr(games, name)[~active], before[name][~active], err_msg=name)
        for name in ("rewards", "gains", "ended"):
            assert not getattr(games, name)[~active].any()
        after = snapshot(expected)
        for name, array in snapshot(games).items():
            np.testing.assert_array_equal(array[active], after[name][active], err_msg=name)


def test_without_restart_a_finished_game_stays_and_takes_no_actions(game: str) -> None:
    games = VectorGames(game, 8, seed=45, restart=False)
    while games.running.any():
        over = ~games.running
        before = snapshot(games)
        actions = games.random_actions()
        np.testing.assert_array_equal(actions == -1, over)
        games.step(np.where(over, 0, actions))
        after = snapshot(games)
        for name in set(before) - {"rewards", "gains", "ended"}:
            np.testing.assert_array_equal(after[name][over], before[name][over], err_msg=name)
        for name in ("rewards", "gains", "ended"):
            assert not after[name][over].any()
        assert not games.action_mask[~games.running].any()
    games.reset()
    assert games.running.all()


@pytest.mark.parametrize("name", ["", "chess", "OWARE", None, 3, [], {}])
def test_an_unknown_game_is_refused_in_one_line_that_lists_the_games(game: str, name: Any) -> None:
    for make in (lambda: envs.start(name), lambda: VectorGames(name, 2), lambda: Position.from_text(name, "")):
        with pytest.raises(BadOption, match=game) as refusal:
            make()
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "value",
    [
        *[None, True, np.True_, 1.5, float("nan"), -1, 10**30, [], {}, b"3", np.array([2, 3])],
        *["", "x", "-1", "+3", " 3", "1_0", "\N{FULLWIDTH DIGIT THREE}", "\N{ARABIC-INDIC DIGIT THREE}", "9" * 5000],
    ],
)
def test_a_bad_value_of_any_option_is_refused_in_one_line_that_names_it(game: str, value: Any) -> None:
    for option in find_game(game).options:
        if isinstance(option, Switch) and isinstance(value, bool | np.bool_):
            continue  # the only kind of option for which this is a good value
        for make in (envs.start, partial(VectorGames, num_games=2)):
            with pytest.raises(BadOption, match=option.name) as refusal:
                make(game, **{option.name: value})
            assert "\n" not in str(refusal.value)


def test_a_value_just_outside_an_option_is_refused(game: str) -> None:
    for option in find_game(game).options:
        if isinstance(option, Choice):
            outside: set[Any] = {0, option.choices[0].upper(), option.choices[0] + " "}
        elif isinstance(option, Switch):
            outside = {0, 1, 2, "0", "1", "yes", "on", "true ", "t"}
        else:
            outside = {option.low - 1, option.high + 1, str(option.high + 1), *((0, "0") if not option.can_be_off else ())}
            outside -= {0} if option.can_be_off else set()
        for value in outside:
            for make in (envs.start, partial(VectorGames, num_games=2)):
                with pytest.raises(BadOption, match=option.name):
                    make(game, **{option.name: value})


def test_every_good_value_of_an_option_is_kept_and_may_be_a_text(game: str) -> None:
    for given in option_sets(game, batch=False):
        for name, value in given.items():
            assert envs.start(game, **given).options[name] == value
            assert envs.start(game, **{name: str(value)}).options[name] == value
            assert type(envs.start(game, **{name: str(value)}).options[name]) is type(value)


def test_an_unknown_option_is_refused_in_one_line_that_lists_the_options(game: str) -> None:
    names = [option.name for option in find_game(game).options]
    for make in (envs.start, partial(VectorGames, num_games=2)):
        with pytest.raises(BadOption, match=f"speed.*{'.*'.join(names)}") as refusal:
            make(game, speed=3)
        assert "\n" not in str(refusal.value)


def test_a_game_without_any_ending_is_refused(game: str) -> None:
    record = find_game(game)
    if record.endings:
        with pytest.raises(BadOption, match=record.endings[0]):
            envs.start(game, **dict.fromkeys(record.endings, 0))


def test_a_batch_refuses_an_unbounded_history(game: str) -> None:
    name = find_game(game).history_limit
    if any(0 in option_values(option) for option in find_game(game).options if option.name == name):
        with pytest.raises(BadOption, match=name):
            VectorGames(game, 2, **{name: 0})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("num_games", value) for value in (0, -1, 1.0, "4", True, None, [4], 10**9, float("nan"))],
        *[("seed", value) for value in (-1, 1.5, None, "1", True, [1], float("nan"))],
        *[("threads", value) for value in (0, -1, 1.0, "1", True, [1], 10**6)],
    ],
)
def test_a_bad_argument_of_a_batch_is_refused_in_one_line_that_names_it(game: str, name: str, value: Any) -> None:
    with pytest.raises(BadOption, match=name) as refusal:
        VectorGames(game, **{"num_games": 2, name: value})
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True])
def test_a_reset_with_a_bad_seed_changes_nothing(game: str, seed: Any) -> None:
    games = played_on(VectorGames(game, 4, seed=46), 7)
    same = games.clone()
    with pytest.raises(BadOption, match="seed"):
        games.reset(seed=seed)
    assert_same_future(games, same, 5)


def test_loading_refuses_other_options_and_another_number_of_positions(game: str) -> None:
    games = played_on(VectorGames(game, 3, seed=47), 7)
    before = snapshot(games)
    ours = envs.start(game)
    every = [envs.start(game, **options) for options in option_sets(game, batch=False)]
    others = next(position for position in reversed(every) if position.options != ours.options)
    for positions in ([], [ours] * 2, [ours] * 4, [ours, ours, others]):
        with pytest.raises(BadOption, match="position"):
            games.load(positions)
        assert_equal(snapshot(games), before)


def test_loading_refuses_positions_that_wait_for_a_draw(game: str) -> None:
    waiting = [position for seed in range(3) for position in random_game(game, seed) if position.mover == CHANCE]
    assert bool(waiting) == (game == "eiyiu")
    for position in waiting:
        games = played_on(VectorGames(game, 3, seed=48), 7)
        before = snapshot(games)
        with pytest.raises(BadOption, match="position 1 waits for a draw"):
            games.load([envs.start(game), position, envs.start(game)])
        assert_equal(snapshot(games), before)
