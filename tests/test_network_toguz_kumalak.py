"""What the network sees of Toguz Kumalak: where sowings end, what they bring, and what the other player can answer."""

from __future__ import annotations

import numpy as np
import pytest

import envs
from agents.network import encoding
from agents.network.toguz_kumalak import ALL, ANSWERED, BROUGHT, LASTS, TUZDYK
from envs import Position
from envs.games import find_game
from seen import relations_of, rows_of_actions

pytestmark = pytest.mark.bounds

GAME = "toguz_kumalak"
KINDS = 13  # of what a sowing brings


def last_sown(hole: int, stones: int) -> int:
    """Where the last stone falls, sown one by one; the first stays unless it is alone."""
    for _ in range(stones - 1 if stones > 1 else 1):
        hole = (hole + 1) % ALL
    return hole


def kind_of_hole(stones: int) -> int:
    """0 to 3 are kinds of their own, so are odd numbers up to 11 and three ranges of larger ones; other even ones are 4."""
    if stones <= 3:
        return stones
    if stones % 2 == 0:
        return 4
    return {5: 5, 7: 6, 9: 7, 11: 8, 13: 9, 15: 9, 17: 10, 19: 10, 21: 10}.get(stones, 11)


def test_it_sees_where_each_last_stone_falls_and_the_kind_of_hole() -> None:
    rng = np.random.default_rng(6)
    observation = np.zeros(find_game("toguz_kumalak").observation_size, np.int16)
    seen = set()
    for most in [5] * 100 + [40] * 50 + [160] * 50:
        observation[:ALL] = holes = rng.integers(0, most, ALL)
        own, other = rng.integers(0, 9, 2) * rng.integers(0, 2, 2)
        observation[ALL + 2], observation[ALL + 3] = own, other
        tuzdyks = ({8 + int(own)} if own else set()) | ({int(other) - 1} if other else set())
        expected = []
        for hole, stones in enumerate(holes):
            if stones:
                last = last_sown(hole, int(stones))
                kind = TUZDYK if last in tuzdyks else kind_of_hole(int(holes[last]))
                seen.add(kind)
                expected.append((hole * ALL + last) * (TUZDYK + 1) + kind)
        assert [row for row in relations_of("toguz_kumalak", observation) if row < LASTS] == expected
    assert seen == set(range(TUZDYK + 1))


def stored(position: Position) -> list[int]:
    """Both stores."""
    return [int(number) for number in position.text.split("/")[2].split(",")]


def tuzdyks(position: Position) -> list[str]:
    """The hole that each player owns."""
    return position.text.split("/")[3].split(",")


def kind_of_gain(stones: int) -> int:
    """0 to 7 one by one, then 8 to 11, to 15, to 23, to 39, more."""
    return stones if stones < 8 else 8 + sum(stones >= bound for bound in (12, 16, 24, 40))


def best(position: Position, player: int) -> tuple[int, int]:
    """The most that a sowing of the player brings it, as a kind, were it to move; whether one makes a tuzdyk."""
    board, side = position.text.rsplit("/", 1)
    turned = Position.from_text(GAME, f"{board}/{player}") if int(side) != player else position
    gains, makes = [0], [0]
    for action in turned.legal_actions():
        after = turned.play(action)
        gains.append(stored(after)[player] - stored(turned)[player])
        makes.append(tuzdyks(after)[player] != tuzdyks(turned)[player])
    return max(map(kind_of_gain, gains)), max(makes)


def random_positions(count: int) -> list[Position]:
    """Running positions of random games, in all stages."""
    rng, found = np.random.default_rng(3), []
    while len(found) < count:
        position = envs.start(GAME)
        while not position.end and len(found) < count:
            if rng.random() < 0.1:
                found.append(position)
            position = position.play(int(rng.choice(position.legal_actions())))
    return found


def test_it_sees_the_most_that_each_player_could_bring_home() -> None:
    seen = set()
    for position in random_positions(150):
        other = 1 - position.mover
        expected = [best(position, position.mover), best(position, other)]
        rows = [row - LASTS for row in relations_of(GAME, position.observation()) if row >= LASTS]
        assert rows == [2 * KINDS * place + KINDS * makes + gain for place, (gain, makes) in enumerate(expected)]
        seen |= {gain for gain, _ in expected} | {("tuzdyk", bool(makes)) for _, makes in expected}
    assert len(seen) > 10, "many kinds were seen"


def test_a_sowing_is_seen_by_where_it_ends_what_it_brings_and_the_best_answer() -> None:
    code = encoding(GAME, "relations")
    first, answers = find_game(GAME).actions, set()
    for position in random_positions(100):
        actions = position.legal_actions()
        for action, rows in zip(actions, rows_of_actions(code, position.observation(), actions), strict=True):
            after, mover = position.play(action), position.mover
            brought = kind_of_gain(stored(after)[mover] - stored(position)[mover])
            made = tuzdyks(after)[mover] != tuzdyks(position)[mover]
            assert rows[0] == action and rows[1] - first < BROUGHT
            assert rows[2] == first + BROUGHT + brought + KINDS * made
            if not after.end:
                gain, makes = best(after, 1 - mover)
                assert rows[3] == first + ANSWERED + gain + KINDS * makes
                answers |= {gain}
    assert len(answers) > 6
