"""Symmetries of the board: a turned position is one that the engine knows, and a learner may learn from it instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import eiyiu_boards
import envs
import uisge_boards
from agents.network.symmetry import BARRED, HAND, ORIGIN, SYMMETRIES, inverses, turned, turned_actions
from batches import few
from envs import BadConfig, EndReason, Position, VectorGames
from envs.engine.header import CHANCE
from envs.games.uisge.rules import PASS
from learners import new_learner, small_config
from reference import eiyiu, uisge
from training.learner import SelfPlayPPO

# The symmetries by their numbers.
OF_UISGE = ("as it is", "left and right", "top and bottom", "turned round")
OF_EIYIU = (
    *("as it is", "mirrored", "upside down", "turned round"),
    *("along the diagonal", "turned right", "turned left", "along the other diagonal"),
)
STUCK = "5s1/4nss/2snnn1/3n1N1/3s1s1/7 s"  # South, to move, cannot
EIYIU_OPTIONS = [eiyiu.Options(limit, same_tile) for limit, same_tile in product((10, 200), eiyiu.SAME_TILES)]


def turned_plies(
    game: str, observations: np.ndarray, actions: np.ndarray, masks: np.ndarray, which: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observations, actions and masks through the symmetries."""
    seen, legal = turned(game, observations, masks, which)
    return seen, turned_actions(game, observations, actions, which), legal


def turned_one(position: Position, actions: Sequence[int], which: int) -> tuple[np.ndarray, list[int], np.ndarray]:
    """What the mover sees through the symmetry, its actions there, and what is legal."""
    seen, legal = (np.repeat(part[None], len(actions), axis=0) for part in (position.observation(), position.action_mask()))
    observations, images, masks = turned_plies(position.game, seen, np.array(actions), legal, np.full(len(actions), which))
    return observations[0], images.tolist(), masks[0]


def assert_turned(position: Position, image: Position, which: int) -> list[tuple[int, int]]:
    """Through the symmetry the position is the image; returns the legal actions, each with the one that it is there."""
    actions = position.legal_actions()
    observation, images, mask = turned_one(position, actions, which)
    np.testing.assert_array_equal(observation, image.observation())
    np.testing.assert_array_equal(mask, image.action_mask())
    return list(zip(actions, images, strict=True))


def uisge_image(text: str, which: int) -> str:
    """The short form of a board in a mirror: files and ranks the other way round, colours as they are."""
    board, side = text.split()
    ranks = board.split("/")[:: -1 if which & 2 else 1]
    return f"{'/'.join(rank[:: -1 if which & 1 else 1] for rank in ranks)} {side}"


def turned_in_engine(position: Position, which: int) -> Position:
    """The Uisge position in a mirror, without its past."""
    text = f"{uisge_image(position.text, which)} ; ply={position.ply}"
    return Position.from_text("uisge", text, strict=False, **position.options)


# Boards


@pytest.mark.parametrize("which", range(len(OF_UISGE)), ids=OF_UISGE)
@pytest.mark.bounds
@pytest.mark.jit_off
def test_a_uisge_board_in_a_mirror_is_what_the_engine_says_it_is(which: int) -> None:
    rng, seen = np.random.default_rng(3), set()
    for no_move, diagonal_jumps in uisge_boards.RULES:
        for _ in range(few("uisge", 24)):
            state = uisge_boards.random_state(rng, uisge.Options(no_move=no_move, diagonal_jumps=diagonal_jumps))
            if state.end is not None:
                continue
            position = uisge_boards.in_engine(state)
            image = turned_in_engine(position, which)
            for action, its_image in assert_turned(position, image, which):
                after, there = position.play(action), image.play(its_image)
                assert there.text == uisge_image(after.text, which)
                assert (there.end, there.result, there.occurrences) == (after.end, after.result, after.occurrences)
                seen.add((position.mover, after.end))
    assert seen >= {(0, None), (1, None), (0, EndReason.ALL_KINGS)}


@pytest.mark.parametrize("which", range(len(OF_UISGE)), ids=OF_UISGE)
@pytest.mark.jit_off
def test_who_must_pass_must_pass_in_every_mirror(which: int) -> None:
    position = Position.from_text("uisge", STUCK, strict=False, no_move="pass")
    ((action, its_image),) = assert_turned(position, turned_in_engine(position, which), which)
    assert (action, its_image) == (PASS, PASS)


def kinds_of(position: Position) -> set[str]:
    """What an Eiyiu position has that a symmetry must not lose."""
    observation = position.observation()
    barred = observation[[ORIGIN + 1, BARRED]]
    found = {
        "first tile": not observation[: eiyiu_boards.WINDOW].any() and observation[HAND] > 0,
        "tile in hand": observation[HAND] > 0 and observation[ORIGIN] == 0,
        "lifted": observation[ORIGIN] > 0,
        "own barred": 0 < barred[0] < eiyiu_boards.IN_HAND,
        "other barred": 0 < barred[1] < eiyiu_boards.IN_HAND,
        "barred in hand": barred[1] == eiyiu_boards.IN_HAND,
    }
    return {kind for kind, there in found.items() if there}


@pytest.mark.parametrize("which", range(len(OF_EIYIU)), ids=OF_EIYIU)
@pytest.mark.bounds
@pytest.mark.jit_off
def test_an_eiyiu_board_in_a_mirror_is_what_the_engine_says_it_is(which: int) -> None:
    rng, transform, seen = np.random.default_rng(6), eiyiu_boards.SYMMETRIES[OF_EIYIU[which]], set()
    for options in EIYIU_OPTIONS:
        for state in eiyiu_boards.random_states(rng, few("eiyiu", 36), options):
            if state.end is not None:
                continue
            image = eiyiu_boards.image(state, transform)
            position, other = eiyiu_boards.in_engine(state), eiyiu_boards.in_engine(image)
            seen |= {(kind, options.same_tile) for kind in kinds_of(position)}
            pairs = assert_turned(position, other, which)
            assert pairs == [
                (eiyiu_boards.number_of(action, state), eiyiu_boards.number_of(eiyiu_boards.image_of(action, transform), image))
                for action in sorted(eiyiu.legal(state), key=lambda action: eiyiu_boards.number_of(action, state))
            ]
            for (action, its_image), _ in zip(pairs, range(3), strict=False):
                after, there = position.play(action), other.play(its_image)
                assert (there.end, there.result, there.mover) == (after.end, after.result, after.mover)
                assert outcome_of(there) == outcome_of(eiyiu_boards.in_engine(image_after(position, state, action, transform)))
    if few("eiyiu", 36) == 36:
        kinds = {"tile in hand", "lifted", "own barred"}
        assert seen >= {*((kind, "any") for kind in kinds), *((kind, "own") for kind in kinds | {"other barred"})}


def image_after(position: Position, state: eiyiu.State, action: int, transform: eiyiu_boards.Transform) -> eiyiu.State:
    """The twin's state after the engine's action, in the mirror."""
    (played,) = [each for each in eiyiu.legal(state) if eiyiu_boards.number_of(each, state) == action]
    return eiyiu_boards.image(eiyiu.play(state, played), transform)


def outcome_of(position: Position) -> tuple[Any, ...]:
    """What a position shows without the past."""
    seen = [position.observation(seat).tolist() for seat in range(2)]
    return position.text, position.action_mask().tolist(), seen


# Whole games


def start_in_a_mirror(game: str, which: int, options: dict[str, Any]) -> Position:
    """The start as it looks through the symmetry: in Eiyiu the board is empty."""
    position = envs.start(game, **options)
    return turned_in_engine(position, which) if game == "uisge" else position


def games_side_by_side(game: str, which: int, options: dict[str, Any], seed: int) -> Iterator[tuple[Position, Position]]:
    """The positions of a random game, each with that of a game in which the turned actions were played."""
    rng = np.random.default_rng(seed)
    position, image = envs.start(game, **options), start_in_a_mirror(game, which, options)
    while not position.end:
        action = its_image = int(rng.choice(position.legal_actions()))
        if position.mover != CHANCE:
            yield position, image
            its_image = turned_one(position, [action], which)[1][0]
        position, image = position.play(action), image.play(its_image)
    assert (image.end, image.result, image.ply) == (position.end, position.result, position.ply)


@pytest.mark.parametrize(
    ("game", "options"),
    [
        *(("uisge", {"no_move": no_move, "diagonal_jumps": True}) for no_move in uisge.NO_MOVE),
        *(("uisge", {"no_move": "pass", "repetition_limit": limit}) for limit in (2, 9)),
        *(("eiyiu", {"same_tile": same_tile, "shift_limit": 30}) for same_tile in eiyiu.SAME_TILES),
    ],
)
def test_turned_actions_play_the_same_game_in_a_mirror_to_its_end(game: str, options: dict[str, Any]) -> None:
    seen: set[str] = set()
    for seed in range(few(game, 12)):
        which = seed % SYMMETRIES[game]
        for position, image in games_side_by_side(game, which, options, seed):
            assert_turned(position, image, which)
            seen |= kinds_of(position) if game == "eiyiu" else {str(position.occurrences)}
    if game == "eiyiu":
        rest = {"own barred", "other barred"} if options["same_tile"] == "own" else {"own barred"}
        assert seen >= {"first tile", "tile in hand", "lifted", *rest}, "games were played to where tiles are lifted"


# The group


def batch(game: str, count: int = 48) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observations, legal actions and masks of games in all stages, each a ply further than the one before."""
    games = VectorGames(game, count, seed=5)
    for ply in range(count):
        games.step(games.random_actions(), np.arange(count) > ply)
    return games.observation.copy(), games.random_actions(), games.action_mask.copy()


def all_turned(game: str, plies: tuple[np.ndarray, ...], which: int) -> tuple[np.ndarray, ...]:
    """All plies through the same symmetry."""
    return turned_plies(game, *plies, np.full(len(plies[0]), which))


def same(one: tuple[np.ndarray, ...], other: tuple[np.ndarray, ...]) -> bool:
    return all(np.array_equal(part, part_2) for part, part_2 in zip(one, other, strict=True))


@pytest.mark.parametrize("game", SYMMETRIES)
@pytest.mark.bounds
@pytest.mark.jit_off
def test_the_symmetries_are_a_group(game: str) -> None:
    plies, numbers = batch(game), range(SYMMETRIES[game])
    images = [all_turned(game, plies, which) for which in numbers]
    assert same(images[0], plies), "number 0 is the identity"
    assert not any(same(images[one], images[other]) for one in numbers for other in range(one))
    twice = [[all_turned(game, images[one], other) for other in numbers] for one in numbers]
    table = [[[same(there, image) for image in images] for there in row] for row in twice]
    assert (np.sum(table, axis=2) == 1).all(), "two in turn are one of them"
    products = np.argmax(table, axis=2)
    for row in (*products, *products.T):
        assert sorted(row) == list(numbers), "each has an inverse"
    assert [products[which][back] for which, back in enumerate(inverses(np.array(numbers)))] == [0] * len(numbers)
    for which in numbers:
        back = np.full(len(plies[0]), inverses(np.array(which)))
        assert np.array_equal(turned_actions(game, images[which][0], images[which][1], back), plies[1])


@pytest.mark.parametrize("game", SYMMETRIES)
def test_every_ply_of_a_batch_goes_through_its_own_symmetry(game: str) -> None:
    plies = batch(game)
    before = [part.copy() for part in plies]
    which = np.random.default_rng(1).integers(SYMMETRIES[game], size=48)
    together = turned_plies(game, *plies, which)
    for index in range(48):
        alone = turned_plies(game, *(part[index : index + 1] for part in plies), which[index : index + 1])
        assert same(alone, tuple(part[index : index + 1] for part in together))
    assert same(tuple(before), plies), "what was given is as it was"
    assert [part.dtype for part in together] == [part.dtype for part in plies]
    truths = turned(game, plies[0], plies[2].astype(np.bool_), which)[1]
    assert truths.dtype == np.bool_ and np.array_equal(truths, together[2] != 0)


def test_a_game_without_symmetries_and_a_number_that_names_none_are_refused() -> None:
    with pytest.raises(ValueError, match="oware"):
        all_turned("oware", batch("oware"), 0)
    observations, actions, masks = batch("oware")
    with pytest.raises(ValueError, match="oware"):
        turned_actions("oware", observations, actions, np.zeros(48, np.int64))
    for game, number in (("uisge", 4), ("eiyiu", 8), ("eiyiu", -1)):
        observations, actions, masks = batch(game)
        with pytest.raises(ValueError, match="0 to"):
            turned(game, observations, masks, np.full(48, number))
        with pytest.raises(ValueError, match="0 to"):
            turned_actions(game, observations, actions, np.full(48, number))


# Learning


def collected(**changes: Any) -> SelfPlayPPO:
    """A small learner that has collected its first rollout."""
    learner = new_learner(**changes)  # which seeds torch's stream, the one that actions are drawn from
    learner.collect()
    return learner


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("game", SYMMETRIES)
def test_the_ratio_of_every_turned_ply_is_one_before_the_first_update(game: str, threads: int) -> None:
    learner = new_learner(game=game, symmetries=True, threads=threads)
    for _ in range(3):
        learner.collect()
        rollout = learner.rollout_buffer.tensors()
        assert rollout.action_masks.gather(1, rollout.actions[:, None].long()).all()
        with torch.no_grad():
            judged = learner.policy.evaluate_actions(rollout.observations, rollout.actions, rollout.action_masks)
        torch.testing.assert_close((judged[1] - rollout.old_log_prob).exp(), torch.ones(512), rtol=0, atol=1e-5)
        learner.train()


@pytest.mark.parametrize("game", SYMMETRIES)
def test_every_ply_is_answered_through_a_drawn_symmetry_and_played_on_the_board_as_it_lies(game: str) -> None:
    learner, played = new_learner(game=game, seed=3, symmetries=True), []
    games = learner.env.games  # type: ignore[union-attr]
    original = games.step

    def step(actions: np.ndarray, *active: np.ndarray) -> None:
        played.append((games.observation.copy(), actions.copy(), games.action_mask.copy()))
        original(actions, *active)

    games.step = step
    learner.collect()
    rollout, seen = learner.rollout_buffer.tensors(), [np.concatenate(parts) for parts in zip(*played, strict=True)]
    which = np.random.default_rng(3).integers(SYMMETRIES[game], size=512)
    assert np.bincount(which).min() > 512 / SYMMETRIES[game] / 2, "none is rare"
    expected = turned_plies(game, *seen, which)
    assert same(expected, (rollout.observations.numpy(), rollout.actions.numpy(), rollout.action_masks.numpy()))
    assert (np.take_along_axis(seen[2], seen[1][:, None], axis=1) != 0).all(), "what was played is legal there"
    values, chances, _ = learner.policy.evaluate_actions(rollout.observations, rollout.actions, rollout.action_masks)
    torch.testing.assert_close(values.flatten(), rollout.old_values, rtol=0, atol=1e-5)
    torch.testing.assert_close(chances, rollout.old_log_prob, rtol=0, atol=1e-5)


@pytest.mark.parametrize("game", SYMMETRIES)
def test_several_threads_answer_turned_plies_as_one_does(game: str) -> None:
    one, three = collected(game=game, symmetries=True), collected(game=game, symmetries=True, threads=3)
    assert np.array_equal(one.rollout_buffer.observations, three.rollout_buffer.observations)
    np.testing.assert_allclose(one.rollout_buffer.log_probs, three.rollout_buffer.log_probs, rtol=0, atol=1e-5)


def test_more_threads_than_games_judge_turned_plies_too() -> None:
    learner = collected(game="uisge", games=1, plies_per_update=64, batch_size=64, symmetries=True, threads=3)
    assert np.isfinite(learner.rollout_buffer.log_probs).all()
    learner.train()


@pytest.mark.parametrize("game", [game for game in envs.GAME_NAMES if game not in SYMMETRIES])
def test_a_config_with_symmetries_of_a_game_that_has_none_is_refused_in_one_line(game: str) -> None:
    with pytest.raises(BadConfig, match=rf"^symmetries: .*{game}.*uisge, eiyiu") as refused:
        small_config(game=game, symmetries=True)
    assert "\n" not in str(refused.value)
    assert not small_config(game=game).symmetries


@pytest.mark.parametrize("value", [1, 0, "yes", "true", 1.0, None, [True]])
def test_symmetries_are_on_or_off_and_nothing_else(value: Any) -> None:
    with pytest.raises(BadConfig, match=r"^symmetries: ") as refused:
        small_config(game="uisge", symmetries=value)
    assert "\n" not in str(refused.value)
