"""PettingZoo's face: the library's own tests, and what they do not look at."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import count
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pettingzoo
import pytest
from pettingzoo import AECEnv
from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test

import envs
from batches import as_dealt, option_sets
from envs import BadOption, IllegalMove, Position
from envs.engine.game import Limit
from envs.games import find_game

pytestmark = pytest.mark.parametrize("game", envs.GAME_NAMES)

PROJECT = Path(envs.__file__).resolve().parents[1]
AGENTS = ("player_0", "player_1")
COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
}

both_faces = pytest.mark.parametrize("face", ["env", "raw_env"])


def module(game: str) -> ModuleType:
    """PettingZoo's module of the game."""
    return import_module(f"envs.{game}_v0")


def new(game: str, face: str = "raw_env", **arguments: Any) -> AECEnv:
    """An environment at its start, that deals what all others do."""
    env = getattr(module(game), face)(**arguments)
    env.reset(seed=0)
    return env


def random_action(env: AECEnv, rng: np.random.Generator) -> int:
    """A legal action of the agent to move."""
    return int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])))


def played_on(env: AECEnv, plies: int, rng: np.random.Generator) -> AECEnv:
    """The environment after so many random plies, fewer if the game ends."""
    for _ in range(plies):
        if any(env.terminations.values()):
            break
        env.step(random_action(env, rng))
    return env


def played_to_the_end(env: AECEnv, seed: int) -> AECEnv:
    """The environment just after the last ply of a random game."""
    return played_on(env, 10**6, np.random.default_rng(seed))


def observations(env: AECEnv) -> dict[str, dict[str, list[int]]]:
    """Both agents' observations and masks."""
    return {agent: {name: part.tolist() for name, part in env.observe(agent).items()} for agent in AGENTS}


def facts(env: AECEnv) -> tuple[Any, ...]:
    """All that the environment shows while both agents are there."""
    return copy.deepcopy(
        (
            env.agent_selection,
            env.agents,
            observations(env),
            env.rewards,
            env._cumulative_rewards,
            env.terminations,
            env.truncations,
            env.infos,
        )
    )


# The library's own tests


# It knows by name which environments have dictionaries for observations, and warns of all others; and it looks at the mask
# of finished games, which have no legal action.
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning")
@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros:UserWarning")
@both_faces
def test_pettingzoos_api_test_passes(game: str, face: str) -> None:
    api_test(getattr(module(game), face)(), num_cycles=2000)


@both_faces
def test_pettingzoos_seed_test_passes(game: str, face: str) -> None:
    seed_test(getattr(module(game), face), num_cycles=500)


def test_pettingzoos_render_test_passes(game: str) -> None:
    is_svg = {"svg": lambda drawn: ElementTree.fromstring(drawn).tag.endswith("svg")}
    render_test(module(game).env, custom_tests=is_svg)
    render_test(module(game).raw_env, custom_tests=is_svg)


@both_faces
def test_pettingzoos_performance_benchmark_runs(game: str, face: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(0.0, 0.05)
    monkeypatch.setattr(sys.modules[performance_benchmark.__module__], "time", SimpleNamespace(time=lambda: next(clock)))
    performance_benchmark(getattr(module(game), face)())


# Copies


@pytest.mark.parametrize("copied", COPIES)
@both_faces
def test_a_copy_in_mid_game_goes_on_identically(game: str, face: str, copied: str) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        env = played_on(new(game, face), 10 * seed, rng)
        twin = COPIES[copied](env)
        assert facts(twin) == facts(env)
        while not any(env.terminations.values()):
            action = random_action(env, rng)
            env.step(action)
            assert facts(twin) != facts(env)
            twin.step(action)
            assert facts(twin) == facts(env)
        for _ in AGENTS:
            env.step(None)
            twin.step(None)
            assert twin.agents == env.agents


@pytest.mark.parametrize("copied", COPIES)
def test_a_copy_keeps_the_options_and_the_history(game: str, copied: str) -> None:
    for options in option_sets(game, batch=True):
        env = played_on(new(game, **options), 40, np.random.default_rng(1))
        twin = COPIES[copied](env)
        assert twin.position() == env.position()
        assert twin.position().options == find_game(game).checked_options(options, batch=True)


@pytest.mark.parametrize("copied", COPIES)
@both_faces
def test_a_copy_before_the_first_reset_can_be_reset(game: str, face: str, copied: str) -> None:
    env = COPIES[copied](getattr(module(game), face)())
    env.reset()
    assert facts(env) == facts(new(game, face))


# Illegal actions


def test_an_illegal_action_ends_a_wrapped_game_with_minus_one_for_who_tried_it(game: str) -> None:
    for plies in (0, 1, 8, 9):
        env = with_masked_action(new(game, "env"), plies)
        mover = env.agent_selection
        other = AGENTS[1 - AGENTS.index(mover)]
        env.step(masked_action(env))
        assert env.rewards == {mover: -1.0, other: 0}
        assert all(env.terminations.values())
        got = {}
        for agent in env.agent_iter():
            _, got[agent], terminated, _, _ = env.last()
            assert terminated
            env.step(None)
        assert got == {mover: -1.0, other: 0}
        env.reset()
        assert facts(env) == facts(new(game, "env"))


def masked_action(env: AECEnv) -> int:
    """An action that the agent to move may not play."""
    return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"] == 0)[0])


def with_masked_action(env: AECEnv, plies: int) -> AECEnv:
    """The environment after at least so many random plies of a game that runs, when some action is masked."""
    rng = np.random.default_rng(plies)
    played_on(env, plies, rng)
    while any(env.terminations.values()):
        env.reset()
        played_on(env, plies, rng)
    while env.observe(env.agent_selection)["action_mask"].all():
        played_on(env, 2, rng)
    return env


@pytest.mark.parametrize(
    "action", ["masked", "high", -1, 10**6, -(10**30), None, 0.5, 1.0, "0", True, [0], np.zeros(2, np.int64), float("nan")]
)
def test_a_raw_environment_refuses_what_is_illegal_before_anything_changes(game: str, action: Any) -> None:
    env = with_masked_action(new(game), 6)
    bad = {"masked": masked_action(env), "high": find_game(game).actions}.get(action, action) if type(action) is str else action
    before, position = facts(env), env.position()
    legal = ", ".join(str(number) for number in position.legal_actions())
    with pytest.raises(IllegalMove, match=f"{env.agent_selection}.*{legal}$") as refusal:
        env.step(bad)
    assert "\n" not in str(refusal.value)
    assert facts(env) == before
    assert env.position() == position


@pytest.mark.parametrize("kind", [int, np.int8, np.int32, np.int64, np.uint8, np.array])
def test_an_action_may_be_a_whole_number_of_any_kind(game: str, kind: Any) -> None:
    rng = np.random.default_rng(2)
    env, same = new(game), new(game)
    of_the_kind = 0
    for _ in range(40):
        if any(env.terminations.values()):
            env.reset(seed=0)
            same.reset(seed=0)
        action = random_action(env, rng)
        fits = action <= highest(kind)
        of_the_kind += fits
        env.step(kind(action) if fits else action)
        same.step(action)
        assert facts(env) == facts(same)
    assert of_the_kind >= 10


def highest(kind: Any) -> float:
    """The highest number of a kind."""
    return np.iinfo(kind).max if kind not in (int, np.array) else np.inf


def test_an_agent_that_is_done_takes_only_none(game: str) -> None:
    env = played_to_the_end(new(game), seed=3)
    with pytest.raises(ValueError, match="None"):
        env.step(0)
    env.step(None)
    env.step(None)
    assert env.agents == []


# Observations


@both_faces
def test_observing_is_pure_whoever_asks_in_whatever_order(game: str, face: str) -> None:
    rng = np.random.default_rng(4)
    env = new(game, face)
    while not any(env.terminations.values()):
        assert_pure(env, rng)
        env.step(random_action(env, rng))
    assert_pure(env, rng)
    env.step(None)
    assert_pure(env, rng)
    env.step(None)
    assert_pure(env, rng)


def assert_pure(env: AECEnv, rng: np.random.Generator) -> None:
    """Both agents' observations are the same however often they are asked for, and written into."""
    expected = observations(env)
    for seat in rng.integers(2, size=6):
        seen = env.observe(AGENTS[seat])
        assert {name: part.tolist() for name, part in seen.items()} == expected[AGENTS[seat]]
        for part in seen.values():
            part[:] = 1 - part
    assert observations(env) == expected


def test_both_agents_observations_are_those_of_the_position(game: str) -> None:
    rng = np.random.default_rng(5)
    env = new(game)
    for _ in range(200):
        position = env.position()
        for seat, agent in enumerate(AGENTS):
            seen = env.observe(agent)["observation"]
            np.testing.assert_array_equal(seen, position.observation(seat))
            assert env.observation_space(agent).contains(env.observe(agent))
        if position.end:
            env.reset()
        else:
            env.step(random_action(env, rng))


def test_the_mask_has_the_movers_legal_actions_and_is_empty_for_who_is_not_to_move(game: str) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        env = new(game)
        while not any(env.terminations.values()):
            masks = {agent: env.observe(agent)["action_mask"] for agent in AGENTS}
            assert all(mask.dtype == np.int8 and mask.shape == (find_game(game).actions,) for mask in masks.values())
            mover = env.agent_selection
            assert mover == AGENTS[env.position().mover]
            assert np.flatnonzero(masks[mover]).tolist() == env.position().legal_actions() != []
            assert not masks[AGENTS[1 - AGENTS.index(mover)]].any()
            env.step(random_action(env, rng))
        assert not any(env.observe(agent)["action_mask"].any() for agent in AGENTS)


def test_spaces_and_metadata_are_what_the_manual_says(game: str) -> None:
    record = find_game(game)
    for face in ("env", "raw_env"):
        env = getattr(module(game), face)()
        assert env.possible_agents == list(AGENTS)
        assert env.metadata == {
            "name": f"{game}_v0",
            "render_modes": ["human", "ansi", "svg"],
            "is_parallelizable": False,
            "render_fps": env.metadata["render_fps"],
        }
        assert env.metadata["render_fps"] > 0
        assert str(env) == f"{game}_v0"
        for agent in AGENTS:
            space = env.observation_space(agent)
            assert space is env.observation_space(agent)
            assert (space["observation"].dtype, space["observation"].shape) == (np.int16, (record.observation_size,))
            assert (space["action_mask"].dtype, space["action_mask"].shape) == (np.int8, (record.actions,))
            assert env.action_space(agent).n == record.actions
    assert f"int16[{record.observation_size}]" in module(game).raw_env.__doc__
    assert f"Discrete({record.actions})" in module(game).raw_env.__doc__


# Rewards, ends, infos


@both_faces
def test_both_agents_get_reward_and_termination_in_the_step_that_ends_the_game(game: str, face: str) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        env = new(game, face)
        while not any(env.terminations.values()):
            assert env.rewards == dict.fromkeys(AGENTS, 0)
            assert env.infos == {agent: {} for agent in AGENTS}
            env.step(random_action(env, rng))
        position = env.unwrapped.position()
        assert env.terminations == dict.fromkeys(AGENTS, True)
        assert env.truncations == dict.fromkeys(AGENTS, False)
        assert env.rewards == dict(zip(AGENTS, position.result, strict=True))
        assert env.infos == {agent: {"end": position.end.label, "scores": list(position.scores)} for agent in AGENTS}
        assert all(type(reward) is float for reward in env.rewards.values())


@both_faces
def test_what_each_agent_gets_in_the_usual_loop_adds_up_to_its_result(game: str, face: str) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        env = new(game, face)
        got = dict.fromkeys(AGENTS, 0.0)
        infos = {}
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, info = env.last()
            got[agent] += reward
            assert not truncated
            if terminated:
                infos[agent] = info
                env.step(None)
            else:
                env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        assert got == dict(zip(AGENTS, env.unwrapped.position().result, strict=True))
        assert set(infos) == set(AGENTS) and all(info["end"] for info in infos.values())


def test_a_reset_after_one_of_two_last_steps_begins_a_whole_game(game: str) -> None:
    env = played_to_the_end(new(game), seed=6)
    env.step(None)
    env.reset(seed=0)
    assert facts(env) == facts(new(game))
    played_to_the_end(env, seed=7)
    assert facts(env) == facts(played_to_the_end(new(game), seed=7))
    env.step(None)
    env.step(None)
    assert env.agents == []


def test_a_seed_decides_what_is_dealt_in_all_games_that_follow(game: str) -> None:
    env, same = new(game), new(game)
    for seed in (None, 3, None, 2**70, None):
        env.reset(seed=seed)
        same.reset(seed=seed)
        assert facts(played_to_the_end(env, seed=14)) == facts(played_to_the_end(same, seed=14))


# Pictures


def test_the_mode_ansi_gives_the_board_as_text(game: str) -> None:
    env = played_on(new(game, render_mode="ansi"), 5, np.random.default_rng(7))
    assert env.render() == env.position().draw()


def test_the_mode_svg_gives_the_board_as_a_document(game: str) -> None:
    env = played_on(new(game, render_mode="svg"), 5, np.random.default_rng(8))
    assert env.render() == env.position()._repr_svg_()
    assert ElementTree.fromstring(env.render()).tag.endswith("svg")


def test_the_mode_human_prints_the_board_after_reset_and_every_step(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    env = new(game, render_mode="human")
    assert capsys.readouterr().out.strip("\n") == env.position().draw().strip("\n")
    for _ in range(3):
        played_on(env, 1, np.random.default_rng(9))
        assert capsys.readouterr().out.strip("\n") == env.position().draw().strip("\n")
    assert env.render() is None
    assert capsys.readouterr().out.strip("\n") == env.position().draw().strip("\n")


@both_faces
def test_without_a_mode_nothing_is_printed_and_rendering_is_refused(
    game: str, face: str, capsys: pytest.CaptureFixture[str]
) -> None:
    env = played_on(new(game, face), 3, np.random.default_rng(10))
    assert capsys.readouterr().out == ""
    with pytest.raises(BadOption, match=r"render_mode.*human.*ansi.*svg"):
        env.render()


@pytest.mark.parametrize("mode", ["", "rgb_array", "HUMAN", "text", 1, True, ["human"]])
@both_faces
def test_an_unknown_render_mode_is_refused_in_one_line_that_lists_the_modes(game: str, face: str, mode: Any) -> None:
    with pytest.raises(BadOption, match="human, ansi, svg") as refusal:
        getattr(module(game), face)(render_mode=mode)
    assert "\n" not in str(refusal.value)


# Options


@both_faces
def test_options_survive_every_reset(game: str, face: str) -> None:
    for given in option_sets(game, batch=True):
        expected = find_game(game).checked_options(given, batch=True)
        env = getattr(module(game), face)(**given)
        for arguments in ({}, {"seed": 3}, {"seed": None}, {"options": {}}, {"seed": 4, "options": {"nothing": 1}}):
            env.reset(**arguments)
            assert env.unwrapped.position() == envs.start(game, **given)
            assert env.unwrapped.position().options == expected
            played_on(env, 12, np.random.default_rng(11))


@both_faces
def test_options_decide_the_game(game: str, face: str) -> None:
    for given in option_sets(game, batch=True):
        env, position = new(game, face, **given), envs.start(game, **given)
        rng = np.random.default_rng(12)
        while not position.end:
            action = int(rng.choice(position.legal_actions()))
            env.step(action)
            position = as_dealt(position.play(action), env.unwrapped.position())
            assert env.unwrapped.position() == position
        assert all(env.terminations.values())


@both_faces
def test_options_that_do_not_exist_or_cannot_be_are_refused(game: str, face: str) -> None:
    option = find_game(game).options[0].name
    for arguments in ({"speed": 1}, {option: "x"}, {option: None}, *({name: 0} for name in limits_never_off(game))):
        with pytest.raises(BadOption) as refusal:
            getattr(module(game), face)(**arguments)
        assert "\n" not in str(refusal.value)


def limits_never_off(game: str) -> list[str]:
    """The options that must count in an environment."""
    record = find_game(game)
    limits = [option for option in record.options if isinstance(option, Limit)]
    names = [option.name for option in limits if not option.can_be_off or option.name == record.history_limit]
    assert names
    return names


# The registry, and what is imported


def test_pettingzoos_registry_makes_the_environment(game: str) -> None:
    option = find_game(game).options[0]
    value = option_value_other_than_default(game)
    env = pettingzoo.make("aec", f"spieltisch/{game}-v0", render_mode="ansi", **{option.name: value})
    env.reset(seed=1)
    assert env.unwrapped.position() == envs.start(game, **{option.name: value})
    assert type(env) is type(module(game).env())
    assert f"spieltisch/{game}-v0" in pettingzoo.aec_registry


def option_value_other_than_default(game: str) -> Any:
    """A value of the game's first option that changes it."""
    option = find_game(game).options[0]
    return next(given[option.name] for given in option_sets(game, batch=True) if option.name in given)


def positions(env: AECEnv) -> Iterator[Position]:
    """The position after every ply of a random game."""
    rng = np.random.default_rng(13)
    while not any(env.terminations.values()):
        yield env.unwrapped.position()
        env.step(random_action(env, rng))


def test_a_position_taken_from_the_environment_is_independent_of_it(game: str) -> None:
    env = new(game)
    taken = list(positions(env))
    again = list(positions(new(game)))
    assert taken == again and len(set(taken)) == len(taken)


def test_no_face_needs_a_display_or_imports_pygame(game: str, tmp_path: Path) -> None:
    program = f"""
import sys
import gymnasium, pettingzoo
import envs
from envs import {game}_v0
for mode in {game}_v0.raw_env.metadata["render_modes"]:
    env = {game}_v0.env(render_mode=mode)
    env.reset()
    env.step(int(env.observe("player_0")["action_mask"].argmax()))
    env.render()
    env.close()
env = gymnasium.make("spieltisch/{game.title().replace("_", "")}-v0", render_mode="ansi")
_, info = env.reset(seed=0)
env.step(int(info["action_mask"].argmax()))
from training.selfplay import main
main(["--config", "{game}_quick", "plies=64", "games=8", "plies_per_update=64", "batch_size=64", "threads=1",
      "network.width=8", "evaluation.final_games=2", "evaluation.opponents=[random]", "run_dir={tmp_path / "run"}"])
print("pygame" in sys.modules, file=sys.stderr)
"""

    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", program],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.split()[-1] == "False"
