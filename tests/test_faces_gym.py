"""Gymnasium's faces: one learner, or many, against an opponent."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils import env_checker
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from stable_baselines3.common import env_checker as sb3_env_checker

import envs
from agents.spec import make_agent
from batches import option_sets
from envs import BadOption, BadSpec, IllegalMove
from envs.adapters.gym import OpponentEnv, OpponentVectorEnv
from envs.engine.game import Limit
from envs.games import find_game
from envs.registration import gymnasium_id
from players import Dealer, Episode, Lowest, Uniform, assert_same_episode, episode_by_hand

pytestmark = pytest.mark.parametrize("game", envs.GAME_NAMES)

COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
}


def numbers(seed: int) -> Iterator[int]:
    """Random numbers without end."""
    rng = np.random.default_rng(seed)
    while True:
        yield int(rng.integers(1 << 30))


def chosen(mask: np.ndarray, number: int) -> int:
    """The n-th legal action, counted round."""
    legal = np.flatnonzero(mask)
    return int(legal[number % len(legal)])


def legal_at_random(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One legal action a row."""
    return np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)


def seat_of(env: OpponentEnv) -> int:
    """The learner's seat in the running game."""
    return int(env._duels.seats[0])


def episode_in(env: OpponentEnv, actions: Iterator[int], **reset: Any) -> Episode:
    """A whole game through the environment, as the learner lived it."""
    observation, info = env.reset(**reset)
    episode = Episode(seat_of(env))
    terminated = False
    while not terminated:
        assert env.observation_space.contains(observation)
        np.testing.assert_array_equal(env.action_masks(), info["action_mask"] == 1)
        assert env.action_masks().dtype == np.bool_ and env.action_masks().any()
        assert set(info) == {"action_mask"}
        episode.observations.append(observation)
        episode.masks.append(info["action_mask"])
        episode.actions.append(chosen(info["action_mask"], next(actions)))
        observation, reward, terminated, truncated, info = env.step(episode.actions[-1])
        episode.reward += reward
        assert type(reward) is float and truncated is False and (terminated or reward == 0)
    assert not info["action_mask"].any()
    episode.final_observation, episode.end, episode.scores = observation, info["end"], info["scores"]
    return episode


# The libraries' own tests


def test_gymnasiums_environment_checker_passes(game: str) -> None:
    for seat in ("alternate", 0, 1):
        env = gymnasium.make(gymnasium_id(game), illegal="lose", seat=seat)
        env_checker.check_env(env.unwrapped)


def test_gymnasiums_environment_checker_passes_with_every_wrapper_on(game: str) -> None:
    for mode in (None, "human", "ansi", "svg"):
        env = gymnasium.make(gymnasium_id(game), illegal="lose", render_mode=mode, disable_env_checker=False)
        env.reset(seed=1)
        env.render() if mode else None
        for _ in range(5):
            if env.step(env.action_space.sample())[2]:
                env.reset()
        env.close()


def test_stable_baselines_environment_checker_passes(game: str) -> None:
    for seat in ("alternate", 0, 1):
        sb3_env_checker.check_env(OpponentEnv(game, Uniform(), seat=seat, illegal="lose"))


# One learner


@pytest.mark.parametrize("seat", [0, 1])
def test_the_learner_lives_the_game_that_the_rules_give(game: str, seat: int) -> None:
    opponent = Lowest()
    env, dealer = OpponentEnv(game, opponent, seat=seat), Dealer(game)
    seen = set()
    for seed in range(40):
        lived = episode_in(env, numbers(seed), seed=seed)
        assert lived.seat == seat
        assert_same_episode(lived, episode_by_hand(dealer, opponent, seat, numbers(seed), seed))
        seen.add(lived.reward)
    assert {-1.0, 1.0} <= seen


@pytest.mark.parametrize("seat", [0, 1])
def test_rewards_are_the_learners_results(game: str, seat: int) -> None:
    env = OpponentEnv(game, Uniform(), seat=seat)
    episodes = []
    for seed in range(30):
        episodes.append(lived := episode_in(env, numbers(seed), seed=seed))
        last = env._duels.games.position(0)
        assert last.result is not None and lived.reward == last.result[seat]
        assert lived.scores == list(last.scores)
    if "majority" in {lived.end for lived in episodes}:  # then it is the scores that decide
        for lived in episodes:
            assert lived.reward == np.sign(lived.scores[seat] - lived.scores[1 - seat])


def test_options_decide_the_game_and_survive_every_reset(game: str) -> None:
    opponent = Lowest()
    for given in option_sets(game, batch=True):
        if given.get(find_game(game).history_limit) == 1:
            continue  # refused, as a game could end before the learner's first move
        env, dealer = OpponentEnv(game, opponent, seat=0, **given), Dealer(game, **given)
        for reset in ({"seed": 1}, {}, {"seed": 2, "options": {"x": 1}}):
            lived = episode_in(env, numbers(1), **reset)
            assert_same_episode(lived, episode_by_hand(dealer, opponent, 0, numbers(1), reset.get("seed")))


@pytest.mark.parametrize("seat", [0, 1])
def test_a_fixed_seat_is_the_learners_in_every_game_seeded_or_not(game: str, seat: int) -> None:
    env = OpponentEnv(game, Lowest(), seat=seat)
    for reset in ({}, {}, {"seed": 1}, {}, {"seed": None}):
        assert episode_in(env, numbers(2), **reset).seat == seat


def test_alternating_seats_begin_with_the_first_after_a_seed_and_change_from_game_to_game(game: str) -> None:
    env = OpponentEnv(game, Lowest())
    for seed in (1, 2):
        assert [episode_in(env, numbers(3), seed=seed).seat, *(episode_in(env, numbers(3)).seat for _ in range(5))] == [
            0,
            1,
        ] * 3


def test_alternating_seats_change_when_a_game_is_left_unfinished(game: str) -> None:
    env = OpponentEnv(game, Lowest())
    env.reset(seed=1)
    seats = [seat_of(env)]
    for _ in range(5):
        env.step(chosen(env.action_masks(), 0))
        env.reset()
        seats.append(seat_of(env))
    assert seats == [0, 1] * 3


def test_in_the_second_seat_the_opponent_has_moved_before_the_learner_sees_anything(game: str) -> None:
    opponent = Lowest()
    env = OpponentEnv(game, opponent, seat=1)
    observation, info = env.reset(seed=0)
    assert opponent.asked >= 1
    start = envs.start(game)
    after = start.play(start.legal_actions()[0])
    while after.mover == 0:
        after = after.play(after.legal_actions()[0])
    np.testing.assert_array_equal(observation, after.observation(1))
    np.testing.assert_array_equal(info["action_mask"], after.action_mask())


def test_a_game_that_is_over_needs_a_reset(game: str) -> None:
    env = OpponentEnv(game, Lowest())
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    episode_in(env, numbers(4))
    for _ in range(2):
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)
    episode_in(env, numbers(4))


def test_a_game_that_is_over_has_no_legal_action_left(game: str) -> None:
    env = OpponentEnv(game, Lowest())
    for seed in range(4):
        episode_in(env, numbers(seed), seed=seed)
        assert not env.action_masks().any()


def test_the_opponents_stream_moves_on_only_with_the_games_that_are_played(game: str) -> None:
    episodes = []
    for seat in (0, 1):
        env = OpponentEnv(game, Uniform(), seat=seat)
        episodes.append([episode_in(env, numbers(5), seed=7).actions, episode_in(env, numbers(6)).actions])
        assert [episode_in(env, numbers(5), seed=7).actions, episode_in(env, numbers(6)).actions] == episodes[-1]
        assert episode_in(env, numbers(5), seed=8).actions != episodes[-1][0]


@pytest.mark.parametrize("action", ["masked", "high", -1, 10**6, -(10**30), 0.5])
def test_an_illegal_action_is_refused_before_anything_changes(game: str, action: Any) -> None:
    env = with_masked_action(OpponentEnv(game, Uniform(), seat=1))
    bad = {"masked": masked(env), "high": find_game(game).actions}.get(action, action) if type(action) is str else action
    twin = copy.deepcopy(env)
    legal = ", ".join(str(number) for number in np.flatnonzero(env.action_masks()))
    with pytest.raises(IllegalMove, match=f"{legal}$") as refusal:
        env.step(bad)
    assert "\n" not in str(refusal.value)
    assert_same_future(env, twin)


@pytest.mark.parametrize("action", ["masked", "high", -1, 10**6, -(10**30), 0.5])
def test_an_illegal_action_loses_where_that_is_asked_for(game: str, action: Any) -> None:
    env = with_masked_action(OpponentEnv(game, Uniform(), seat=1, illegal="lose"))
    bad = {"masked": masked(env), "high": find_game(game).actions}.get(action, action) if type(action) is str else action
    before = env._duels.games.observation[0].copy()
    observation, reward, terminated, truncated, info = env.step(bad)
    assert (reward, terminated, truncated, info["end"]) == (-1.0, True, False, "illegal_action")
    np.testing.assert_array_equal(observation, before)
    assert not info["action_mask"].any() and not env.action_masks().any()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    episode_in(env, numbers(7))


def test_games_lost_by_an_illegal_action_alternate_seats_too(game: str) -> None:
    env = OpponentEnv(game, Lowest(), illegal="lose")
    env.reset(seed=1)
    seats = []
    for _ in range(6):
        seats.append(seat_of(env))
        assert env.step(-1)[2]
        env.reset()
    assert seats == [0, 1] * 3


def masked(env: OpponentEnv) -> int:
    """An action that the learner may not play."""
    return int(np.flatnonzero(~env.action_masks())[0])


def with_masked_action(env: OpponentEnv) -> OpponentEnv:
    """The environment in mid-game, when some action is masked."""
    rng = np.random.default_rng(8)
    env.reset(seed=8)
    for _ in range(1000):
        if not env.action_masks().all():
            return env
        if env.step(int(rng.choice(np.flatnonzero(env.action_masks()))))[2]:
            env.reset()
    raise AssertionError("1000 plies without a masked action")


def assert_same_future(one: OpponentEnv, other: OpponentEnv) -> None:
    """Both environments end the running game, and play another, alike."""
    actions = numbers(9)
    for _ in range(2):
        terminated = False
        while not terminated:
            np.testing.assert_array_equal(one.action_masks(), other.action_masks())
            action = chosen(one.action_masks(), next(actions))
            observation, reward, terminated, _, info = one.step(action)
            observation_2, reward_2, terminated_2, _, info_2 = other.step(action)
            assert (reward, terminated, info.get("end")) == (reward_2, terminated_2, info_2.get("end"))
            np.testing.assert_array_equal(observation, observation_2)
        np.testing.assert_array_equal(one.reset()[0], other.reset()[0])


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("opponent", ["uniform", "random", "minimax:depth=2"])
def test_a_copy_in_mid_game_goes_on_identically(game: str, copied: str, opponent: str) -> None:
    env = OpponentEnv(game, Uniform() if opponent == "uniform" else make_agent(opponent, game))
    env.reset(seed=10)
    for _ in range(7):
        if env.step(chosen(env.action_masks(), 1))[2]:
            env.reset()
    assert_same_future(env, COPIES[copied](env))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("seat", value) for value in (2, -1, "0", None, True, False, "Alternate")],
        *[("illegal", value) for value in ("", "win", None, True)],
        *[("render_mode", value) for value in ("rgb_array", "", 1)],
        ("speed", 1),
    ],
)
def test_a_bad_argument_is_refused_in_one_line_that_names_it(game: str, name: str, value: Any) -> None:
    for make in (OpponentEnv, OpponentVectorEnv):
        with pytest.raises(
            BadOption, match=name if name != "render_mode" or make is OpponentVectorEnv else "render mode"
        ) as refusal:
            make(game, Lowest(), **{name: value})
        assert "\n" not in str(refusal.value)


def test_pictures_are_those_of_the_running_game(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    start = envs.start(game)
    for mode, expected in (("ansi", start.draw()), ("svg", start._repr_svg_()), (None, None)):
        env = OpponentEnv(game, Lowest(), seat=0, render_mode=mode)
        env.reset(seed=0)
        assert env.render() == expected
    assert capsys.readouterr().out == ""
    env = OpponentEnv(game, Lowest(), seat=0, render_mode="human")
    env.reset(seed=0)
    assert capsys.readouterr().out.strip("\n") == start.draw().strip("\n")


def test_the_picture_of_a_game_that_is_over_shows_its_last_position(game: str) -> None:
    env = OpponentEnv(game, Lowest(), seat=1, render_mode="ansi")
    lived = episode_in(env, numbers(12), seed=0)
    position = env._duels.games.position(0)
    assert env.render() == position.draw()
    assert position.end is not None and position.end.label == lived.end
    np.testing.assert_array_equal(position.observation(1), lived.final_observation)


# The registry


def test_gymnasiums_registry_makes_one_learner_against_a_spec(game: str) -> None:
    name, value = first_option(game)
    env = gymnasium.make(gymnasium_id(game), opponent="minimax:depth=1", seat=1, illegal="lose", **{name: value})
    assert isinstance(env.unwrapped, OpponentEnv)
    assert env.unwrapped._duels.opponent.spec == "minimax:depth=1"
    assert env.unwrapped._duels.games.options[name] == value
    observation, info = env.reset(seed=1)
    assert env.observation_space.contains(observation) and info["action_mask"].any()
    assert env.get_wrapper_attr("action_masks")().any()


def test_gymnasiums_registry_makes_a_batch_of_learners(game: str) -> None:
    name, value = first_option(game)
    for mode in (None, "vector_entry_point"):
        env = gymnasium.make_vec(
            gymnasium_id(game), num_envs=3, vectorization_mode=mode, opponent="greedy", seat=0, **{name: value}
        )
        assert isinstance(env.unwrapped, OpponentVectorEnv)
        assert env.num_envs == 3
        assert env.unwrapped._duels.opponent.spec == "greedy"
        assert env.unwrapped._duels.games.options[name] == value


def test_gymnasiums_own_vector_environments_work_too(game: str) -> None:
    env = gymnasium.make_vec(gymnasium_id(game), num_envs=2, vectorization_mode="sync", illegal="lose")
    env.reset(seed=1)
    for _ in range(50):
        env.step(env.action_space.sample())
    env.close()


def test_an_unknown_opponent_is_refused(game: str) -> None:
    with pytest.raises(BadSpec, match="minimax:depth=N"):
        gymnasium.make(gymnasium_id(game), opponent="nobody")
    with pytest.raises(BadSpec, match="minimax:depth=N"):
        gymnasium.make_vec(gymnasium_id(game), opponent="nobody")


def first_option(game: str) -> tuple[str, Any]:
    """The game's first option, and a value of it that is not the default."""
    option = find_game(game).options[0]
    values = [given[option.name] for given in option_sets(game, batch=True) if option.name in given]
    return option.name, next(value for value in values if value != option.default)


# Many learners


def test_the_mode_of_autoreset_is_stated_on_a_dictionary_of_its_own(game: str) -> None:
    env = OpponentVectorEnv(game, Lowest(), num_envs=2)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    env.metadata["autoreset_mode"] = AutoresetMode.DISABLED
    assert OpponentVectorEnv(game, Lowest(), num_envs=2).metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def episodes_of(env: OpponentVectorEnv, steps: int, seed: int) -> tuple[list[list[Episode]], list[Episode]]:
    """For each game of the batch the episodes that ended within so many steps, and the one still running."""
    rng = np.random.default_rng(seed)
    observation, infos = env.reset(seed=seed)
    done: list[list[Episode]] = [[] for _ in range(env.num_envs)]
    running = [begun(env, index) for index in range(env.num_envs)]
    for _ in range(steps):
        masks = infos["action_mask"]
        assert masks.any(axis=1).all() and infos["_action_mask"].all()
        actions = legal_at_random(masks, rng)
        for index, episode in enumerate(running):
            episode.observations.append(observation[index])
            episode.masks.append(masks[index])
            episode.actions.append(int(actions[index]))
        observation, rewards, terminated, truncated, infos = env.step(actions)
        assert env.observation_space.contains(observation)
        assert terminated.dtype == truncated.dtype == np.bool_ and not truncated.any()
        assert not rewards[~terminated].any()
        np.testing.assert_array_equal(infos.get("_final_obs", np.zeros(env.num_envs, np.bool_)), terminated)
        np.testing.assert_array_equal(infos.get("_final_info", np.zeros(env.num_envs, np.bool_)), terminated)
        for index in np.flatnonzero(terminated):
            episode = running[index]
            episode.reward = float(rewards[index])
            episode.final_observation = infos["final_obs"][index]
            episode.end = infos["final_info"]["end"][index]
            episode.scores = infos["final_info"]["scores"][index]
            done[index].append(episode)
            running[index] = begun(env, index)
    return done, running


def begun(env: OpponentVectorEnv, index: int) -> Episode:
    """The episode that begins in a game of the batch; whoever has moved in it by now could not draw."""
    return Episode(int(env._duels.seats[index]), int(env._duels.games._deals[index]))


@pytest.mark.parametrize("seat", ["alternate", 0, 1])
def test_a_batch_plays_what_single_games_play_and_every_transition_is_a_ply_of_the_learner(game: str, seat: Any) -> None:
    opponent, steps, games = make_agent("minimax:depth=1", game), 150, 7
    done, running = episodes_of(OpponentVectorEnv(game, opponent, num_envs=games, seat=seat), steps, seed=11)
    singles = [OpponentEnv(game, opponent, seat=0), OpponentEnv(game, opponent, seat=1)]
    for index, episodes in enumerate(done):
        assert len(episodes) >= 2
        for number, lived in enumerate(episodes):
            assert lived.seat == ((index + number) % 2 if seat == "alternate" else seat)
            assert_same_episode(lived, replayed(singles[lived.seat], lived))
        assert sum(len(episode.actions) for episode in [*episodes, running[index]]) == steps


def replayed(env: OpponentEnv, lived: Episode) -> Episode:
    """The game that the single environment plays with the same actions and draws."""
    observation, info = env.reset(seed=0)
    env._duels.games._deals[:] = lived.draws
    episode = Episode(seat_of(env))
    for number, action in enumerate(lived.actions, start=1):
        episode.observations.append(observation)
        episode.masks.append(info["action_mask"])
        observation, episode.reward, terminated, _, info = env.step(action)
        assert terminated == (number == len(lived.actions))
    episode.actions = lived.actions
    episode.final_observation, episode.end, episode.scores = observation, info["end"], info["scores"]
    return episode


def test_an_unseeded_batch_has_learners_in_both_seats_too(game: str) -> None:
    env = OpponentVectorEnv(game, Lowest(), num_envs=4)
    env.reset()
    assert env._duels.seats.tolist() in ([0, 1, 0, 1], [1, 0, 1, 0])
    env = OpponentVectorEnv(game, Lowest(), num_envs=4, seat=1)
    env.reset()
    assert env._duels.seats.tolist() == [1] * 4


def test_a_batch_repeats_itself_with_the_same_seed_only(game: str) -> None:
    env = OpponentVectorEnv(game, Uniform(), num_envs=5)
    runs = [[[e.actions for e in episodes] for episodes in episodes_of(env, 120, seed)[0]] for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_what_a_batch_returned_does_not_change_later(game: str) -> None:
    env = OpponentVectorEnv(game, Uniform(), num_envs=3)
    kept = [env.reset(seed=1)]
    rng = np.random.default_rng(1)
    for _ in range(60):
        kept.append(env.step(legal_at_random(kept[-1][-1]["action_mask"], rng)))
    copies = pickle.dumps(kept)
    for _ in range(60):
        env.step(legal_at_random(env._duels.games.action_mask, rng))
    assert pickle.dumps(kept) == copies


def test_one_illegal_action_in_a_batch_is_refused_before_anything_changes(game: str) -> None:
    env = OpponentVectorEnv(game, Uniform(), num_envs=4)
    rng = np.random.default_rng(2)
    _, infos = env.reset(seed=2)
    while infos["action_mask"][2].all():
        *_, infos = env.step(legal_at_random(infos["action_mask"], rng))
    masks = infos["action_mask"]
    actions = legal_at_random(masks, rng)
    twin = copy.deepcopy(env)
    for bad in (int(np.flatnonzero(masks[2] == 0)[0]), -1, find_game(game).actions):
        with pytest.raises(IllegalMove, match="game 2"):
            env.step(np.where(np.arange(4) == 2, bad, actions))
    one, other = env.step(actions), twin.step(actions)
    for part, part_2 in zip(one[:4], other[:4], strict=True):
        np.testing.assert_array_equal(part, part_2)


def test_an_illegal_action_loses_its_own_game_only(game: str) -> None:
    env = OpponentVectorEnv(game, Lowest(), num_envs=4, illegal="lose")
    rng = np.random.default_rng(3)
    observation, infos = env.reset(seed=3)
    for _ in range(8):
        observation, *_, infos = env.step(legal_at_random(infos["action_mask"], rng))
    twin = copy.deepcopy(env)
    seats = env._duels.seats.copy()
    actions = legal_at_random(infos["action_mask"], rng)
    bad = np.where(np.isin(np.arange(4), (1, 3)), [0, -1, 0, find_game(game).actions], actions)
    after, rewards, terminated, _, infos = env.step(bad)
    expected, expected_rewards, expected_terminated, _, _ = twin.step(actions)
    for index in (1, 3):
        assert (rewards[index], terminated[index], infos["final_info"]["end"][index]) == (-1.0, True, "illegal_action")
        np.testing.assert_array_equal(infos["final_obs"][index], observation[index])
    for index in (0, 2):
        assert (rewards[index], terminated[index]) == (expected_rewards[index], expected_terminated[index])
        np.testing.assert_array_equal(after[index], expected[index])
    assert [env._duels.seats[index] for index in (1, 3)] == [1 - seats[1], 1 - seats[3]]
    fresh = OpponentVectorEnv(game, Lowest(), num_envs=2, seat=0)
    starts = {0: fresh.reset(seed=0)[0][0].tolist()}
    starts[1] = OpponentVectorEnv(game, Lowest(), num_envs=1, seat=1).reset(seed=0)[0][0].tolist()
    assert [after[index].tolist() for index in (1, 3)] == [starts[env._duels.seats[index]] for index in (1, 3)]


def test_the_librarys_wrappers_count_episodes_right(game: str) -> None:
    env = RecordEpisodeStatistics(OpponentVectorEnv(game, Lowest(), num_envs=3))
    rng = np.random.default_rng(4)
    _, infos = env.reset(seed=4)
    lengths = np.zeros(3, np.int64)
    ended = 0
    for _ in range(150):
        lengths += 1
        _, rewards, terminated, _, infos = env.step(legal_at_random(infos["action_mask"], rng))
        for index in np.flatnonzero(terminated):
            assert (infos["episode"]["r"][index], infos["episode"]["l"][index]) == (rewards[index], lengths[index])
            ended += 1
        lengths[terminated] = 0
    assert ended > 3


def test_a_batch_takes_one_seed_and_draws_no_pictures(game: str) -> None:
    env = OpponentVectorEnv(game, Lowest(), num_envs=2)
    with pytest.raises(BadOption, match="seed"):
        env.reset(seed=[1, 2])
    with pytest.raises(BadOption, match="render_mode"):
        OpponentVectorEnv(game, Lowest(), render_mode="ansi")


class Impatient(Lowest):
    """Plays the lowest legal action, a thousand times at most."""

    def act(self, *batch: Any) -> np.ndarray:
        assert self.asked < 1000, "the opponent plays game after game"
        return super().act(*batch)


@pytest.mark.parametrize("seat", ["alternate", 0, 1])
def test_games_so_short_that_the_learner_may_have_no_move_are_refused_or_left_out(game: str, seat: Any) -> None:
    for option in find_game(game).options:
        lowest = {option.name: option.low} if isinstance(option, Limit) else {}
        with suppress(BadOption):
            env = OpponentEnv(game, Impatient(), seat=seat, **lowest)
            for seed in (0, None, None, None):
                _, info = env.reset(seed=seed)
                assert info["action_mask"].any()
        with suppress(BadOption):
            batch = OpponentVectorEnv(game, Impatient(), num_envs=2, seat=seat, **lowest)
            _, infos = batch.reset(seed=0)
            for _ in range(4):
                assert infos["action_mask"].any(axis=1).all()
                *_, infos = batch.step(infos["action_mask"].argmax(axis=1))
