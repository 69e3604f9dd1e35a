"""Stable-Baselines3's face: one policy that plays both seats of many games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor

import envs
from batches import as_dealt, option_sets
from envs import BadOption, IllegalMove, Position
from envs.adapters.sb3 import SelfPlayVecEnv
from envs.games import find_game

torch.set_num_threads(1)  # two wait for each other beside a busy process

pytestmark = pytest.mark.parametrize("game", envs.GAME_NAMES)


def legal_at_random(env: SelfPlayVecEnv, rng: np.random.Generator) -> np.ndarray:
    """One legal action a game."""
    masks = get_action_masks(env)
    return np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)


def oware_lead(text: str) -> int:
    """South's store less North's."""
    *_, south, north, _ = text.split("-")
    return int(south) - int(north)


def toguz_kumalak_lead(text: str) -> int:
    """Seat 0's store less seat 1's."""
    south, north = text.split("/")[2].split(",")
    return int(south) - int(north)


def uisge_lead(text: str) -> int:
    """South's kings less North's."""
    board = text.split()[0]
    return board.count("S") - board.count("N")


# Seat 0's score less seat 1's, from the text of a position, where nothing is swept at the end; Eiyiu has no scores.
LEADS: dict[str, Callable[[str], int]] = {
    "oware": oware_lead,
    "toguz_kumalak": toguz_kumalak_lead,
    "uisge": uisge_lead,
    "eiyiu": lambda text: 0,
}


@pytest.mark.parametrize("shaping", [0.0, 0.05, 3.0])
def test_every_step_shows_what_the_rules_give_and_rewards_who_acted(game: str, shaping: float) -> None:
    games = 5
    env = SelfPlayVecEnv(game, games, seed=1, shaping=shaping)
    rng = np.random.default_rng(1)
    lead = LEADS[game]
    positions, plies, ends = [envs.start(game)] * games, [0] * games, 0
    shown = env.reset()
    for _ in range(400):
        for index, position in enumerate(positions):
            np.testing.assert_array_equal(shown[index], position.observation())
            np.testing.assert_array_equal(env.action_masks()[index], position.action_mask() == 1)
            assert env.mover[index] == position.mover
        actions = legal_at_random(env, rng)
        shown, rewards, dones, infos = env.step(actions)
        assert shown.dtype == np.int16 and rewards.dtype == np.float32 and dones.dtype == np.bool_
        for index, before in enumerate(positions):
            after = as_dealt(before.play(int(actions[index])), env.games.position(index))
            plies[index] += 1
            sign = 1 if before.mover == 0 else -1
            gain = sign * (lead(after.text) - lead(before.text))
            result = after.result[before.mover] if after.result else 0
            assert rewards[index] == pytest.approx(result + shaping * gain)
            assert env.actor[index] == before.mover
            assert dones[index] == bool(after.end)
            if after.end:
                ends += 1
                assert_final_info(infos[index], before, after, plies[index])
                positions[index], plies[index] = envs.start(game), 0
            else:
                assert infos[index] == {}
                positions[index] = after
    assert ends >= games


def assert_final_info(info: dict[str, Any], before: Position, after: Position, plies: int) -> None:
    """The info tells how the game ended; shaping is no part of its result."""
    assert set(info) == {"episode", "terminal_observation", "end", "scores"}
    assert info["episode"]["r"] == after.result[0]
    assert info["episode"]["l"] == plies
    assert info["episode"]["t"] >= 0
    assert info["end"] == after.end.label
    assert info["scores"] == list(after.scores)
    np.testing.assert_array_equal(info["terminal_observation"], after.observation(1 - before.mover))


def test_every_transition_is_a_ply_and_nothing_is_ever_truncated(game: str) -> None:
    for options in option_sets(game, batch=True):
        env = SelfPlayVecEnv(game, 16, seed=2, **options)
        env.reset()
        rng = np.random.default_rng(2)
        finished = 0
        for _ in range(250):
            shown, _, dones, infos = env.step(legal_at_random(env, rng))
            assert env.observation_space.shape == shown.shape[1:]
            for done, info in zip(dones, infos, strict=True):
                assert "TimeLimit.truncated" not in info
                assert bool(info) == bool(done)
                if done:
                    finished += info["episode"]["l"]
                    assert env.observation_space.contains(info["terminal_observation"])
            assert len({id(info) for info in infos}) == 16
        running = sum(env.games.position(index).ply for index in range(16))
        assert finished + running == 250 * 16


def test_masks_are_found_the_ways_the_library_looks_for_them(game: str) -> None:
    env = SelfPlayVecEnv(game, 6, seed=3)
    env.reset()
    rng = np.random.default_rng(3)
    for _ in range(30):
        env.step(legal_at_random(env, rng))
    masks = env.games.action_mask == 1
    assert is_masking_supported(env) and env.has_attr("action_masks")
    assert not env.has_attr("no_such_thing")
    with pytest.raises(AttributeError):
        env.get_attr("no_such_thing")
    np.testing.assert_array_equal(get_action_masks(env), masks)
    np.testing.assert_array_equal(np.array(env.env_method("action_masks")), masks)
    np.testing.assert_array_equal(np.array(env.env_method("action_masks", indices=[4, 1])), masks[[4, 1]])
    np.testing.assert_array_equal(np.array(env.env_method("action_masks", indices=2)), masks[[2]])
    assert len(env.get_attr("action_masks")) == 6 and callable(env.get_attr("action_masks", indices=0)[0])


def test_attributes_are_the_batchs_own(game: str) -> None:
    env = SelfPlayVecEnv(game, 4, shaping=0.5)
    assert env.get_attr("shaping") == [0.5] * 4
    assert env.get_attr("shaping", indices=[0, 3]) == [0.5] * 2
    env.set_attr("shaping", 0.25)
    assert env.get_attr("shaping") == [0.25] * 4
    assert env.env_is_wrapped(VecMonitor) == [False] * 4
    assert env.env_is_wrapped(VecMonitor, indices=1) == [False]
    assert env.num_envs == 4 and env.unwrapped is env


def test_a_reset_begins_all_games_anew_and_a_seed_their_streams_too(game: str) -> None:
    env = SelfPlayVecEnv(game, 8, seed=4)
    first = [env.games.random_actions().tolist() for _ in range(5)]
    env.seed(4)
    start = env.reset()
    assert [env.games.random_actions().tolist() for _ in range(5)] == first
    for _ in range(9):
        env.step(env.games.random_actions())
    np.testing.assert_array_equal(env.reset(), start)
    assert [env.games.random_actions().tolist() for _ in range(5)] != first


def test_what_a_step_returned_does_not_change_later(game: str) -> None:
    env = SelfPlayVecEnv(game, 4, seed=5)
    rng = np.random.default_rng(5)
    kept = [env.reset(), *env.step(legal_at_random(env, rng))[:3], env.actor, env.action_masks()]
    copies = [array.copy() for array in kept]
    for _ in range(100):
        env.step(legal_at_random(env, rng))
    for array, copied in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(array, copied)


def test_an_illegal_action_is_refused_before_anything_changes(game: str) -> None:
    env = SelfPlayVecEnv(game, 3, seed=6)
    rng = np.random.default_rng(6)
    env.reset()
    while env.action_masks()[1].all():
        env.step(legal_at_random(env, rng))
    actions = legal_at_random(env, rng)
    before = env.games.state()
    bad = np.where(np.arange(3) == 1, np.flatnonzero(~env.action_masks()[1])[0], actions)
    with pytest.raises(IllegalMove, match="game 1"):
        env.step(bad)
    for name, array in env.games.state().items():
        np.testing.assert_array_equal(array, before[name])


def test_bad_arguments_are_refused(game: str) -> None:
    for arguments in ({"num_envs": 0}, {"seed": -1}, {"threads": 0}, {"speed": 1}):
        with pytest.raises(BadOption):
            SelfPlayVecEnv(game, **{"num_envs": 2, **arguments})


def test_the_librarys_monitor_counts_episodes_as_the_face_does(game: str) -> None:
    env = SelfPlayVecEnv(game, 4, seed=7)
    monitored = VecMonitor(env)
    monitored.reset()
    rng = np.random.default_rng(7)
    ended = 0
    for _ in range(300):
        _, _, dones, infos = monitored.step(legal_at_random(env, rng))
        for index in np.flatnonzero(dones):
            assert infos[index]["episode"]["l"] == env.games.final_plies[index]
            ended += 1
    assert ended > 4


def test_the_librarys_own_learner_learns_and_predicts_on_it(game: str) -> None:
    env = SelfPlayVecEnv(game, 8, seed=8, threads=1)
    learner = MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=8, device="cpu")
    learner.learn(2 * 8 * 32)
    assert learner.num_timesteps == 2 * 8 * 32
    assert all(np.isfinite(parameter.detach().numpy()).all() for parameter in learner.policy.parameters())
    shown = env.reset()
    for _ in range(50):
        actions, _ = learner.predict(shown, action_masks=get_action_masks(env), deterministic=True)
        shown, *_ = env.step(actions)
    assert np.isin(learner.rollout_buffer.action_masks, (0, 1)).all()
    assert find_game(game).actions == learner.rollout_buffer.action_masks.shape[-1]


# Openings


def test_games_begin_with_random_plies_that_no_sample_shows(game: str) -> None:
    env = SelfPlayVecEnv(game, 12, seed=3, opening_plies=4)
    rng = np.random.default_rng(3)

    def plies() -> list[int]:
        return [env.games.position(index).ply for index in range(12)]

    shown = env.reset()
    assert plies() == [index % 5 for index in range(12)]
    begun = set()
    for _ in range(300):
        before = plies()
        masks = env.action_masks()
        np.testing.assert_array_equal(shown, env.games.observation)
        np.testing.assert_array_equal(masks, env.games.action_mask == 1)
        shown, rewards, ended, infos = env.step(legal_at_random(env, rng))
        for index, after in enumerate(plies()):
            if ended[index]:
                assert after == infos[index]["episode"]["l"] % 5
                assert abs(infos[index]["episode"]["r"]) == abs(rewards[index])
                begun.add(after)
            else:
                assert after == before[index] + 1 and not infos[index] and not rewards[index]
    assert len(begun) > 2
