"""The engine and the slow twin play the same Toguz Kumalak: random boards and whole random games, ply by ply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pytest

from envs import EndReason, Position, VectorGames
from reference import toguz_kumalak as toguz
from reference.toguz_kumalak import NO_TUZDYKS, Options, State
from toguz_kumalak_boards import GAME, in_engine, random_state, random_tuzdyks

REPETITION_LIMITS = (0, *range(2, 10))
QUIET_LIMITS = (1, 2, 17, 18, 19, 35, 36, 37, 54, 200, 2000)
STEADY = range(2, 11)  # seeds on the board of an endgame that often goes round in circles
ENDGAME = range(1, 13)
ANY = range(1, 163)
REASONS = {None: 0} | {reason.label: int(reason) for reason in EndReason if reason}
ENDS = {"majority", "even_split", "no_moves", "repetition", "quiet_limit"}
WALKED = 8  # of so many games of a batch one is played by Position too
Habits: TypeAlias = list[list[list[int]]]  # of every game's seats: the order in which holes are preferred; empty: no order


@dataclass
class Tally:
    """What a comparison has seen."""

    positions: int = 0
    walked: int = 0  # of these by Position too
    ends: Counter[str] = field(default_factory=Counter)
    occurrences: Counter[int] = field(default_factory=Counter)
    longest_quiet: int = 0
    marks: Counter[str] = field(default_factory=Counter)  # how moves were marked

    def add(self, state: State) -> None:
        self.positions += 1
        self.occurrences[state.occurrences] += 1
        self.longest_quiet = max(self.longest_quiet, state.quiet)
        self.marks[state.move[2:3]] += 1
        if state.end:
            self.ends[state.end] += 1


def facts(state: State) -> tuple[list[int], list[int], list[int]]:
    """What both seats observe of the twin's state, and the mover's mask."""
    rows = state.holes[:9], state.holes[9:]
    numbers = [0 if hole is None else hole % 9 + 1 for hole in state.tuzdyks]
    seen = [
        [
            *(*rows[seat], *rows[1 - seat]),
            *(state.stores[seat], state.stores[1 - seat], numbers[seat], numbers[1 - seat]),
            *(state.quiet, state.occurrences, int(state.end is None and state.mover == seat)),
        ]
        for seat in range(2)
    ]
    legal = toguz.legal(state)
    return seen[0], seen[1], [int(action in legal) for action in range(9)]


def gain(before: State, after: State) -> int:
    """By how much the ply bettered its player's lead in stores."""
    leads = [state.stores[before.mover] - state.stores[1 - before.mover] for state in (before, after)]
    return leads[1] - leads[0]


def compare(games: VectorGames, before: Sequence[State], after: Sequence[State], shown: Sequence[State]) -> None:
    """The batch has gone from the twin's states before to those after, and shows the last: others where games restart."""

    def same(got: np.ndarray, expected: Any) -> None:
        expected = np.array(expected)
        if not np.array_equal(got, expected):
            index = int(np.flatnonzero((got != expected).reshape(len(got), -1).any(axis=1))[0])
            told = f"engine {got[index].tolist()} in {games.position(index).full_text}"
            pytest.fail(f"{told}, twin {expected[index].tolist()} in {after[index]}")

    told, final = [facts(state) for state in shown], [facts(state)[:2] for state in after]
    ended = np.array([old.end is None and new.end is not None for old, new in zip(before, after, strict=True)])
    same(games.observation, [facts[state.mover] for facts, state in zip(told, shown, strict=True)])
    same(games.action_mask, [mask for _, _, mask in told])
    same(games.mover, [state.mover for state in shown])
    same(games.running, [state.end is None for state in shown])
    same(games.ended, ended)
    same(games.rewards, np.array([toguz.result(state) or (0, 0) for state in after]) * ended[:, None])
    same(games.gains, [gain(old, new) for old, new in zip(before, after, strict=True)])
    same(games.end_reason * ended, np.array([REASONS[state.end] for state in after]) * ended)
    same(games.final_observation * ended[:, None, None], np.array(final) * ended[:, None, None])
    same(games.final_scores * ended[:, None], np.array([toguz.scores(state) for state in after]) * ended[:, None])
    for index, (old, state) in enumerate(zip(before, shown, strict=True)):
        if old.end is None:
            position = games.position(index)
            assert (position.text, position.last_move or "") == (toguz.to_text(state), state.move)


def compare_position(position: Position, state: State) -> None:
    """The position tells what the twin's state does."""
    south, north, mask = facts(state)
    assert (position.text, position.mover, position.last_move or "") == (toguz.to_text(state), state.mover, state.move)
    assert (position.observation(0).tolist(), position.observation(1).tolist()) == (south, north), position.full_text
    assert (position.action_mask().tolist(), position.legal_actions()) == (mask, toguz.legal(state)), position.full_text
    assert (position.end.label if position.end else None) == state.end, position.full_text
    assert (position.result, position.scores) == (toguz.result(state), toguz.scores(state)), position.full_text
    assert position.occurrences == state.occurrences, position.full_text


def choose(rng: np.random.Generator, state: State, habit: Sequence[int]) -> tuple[int, State]:
    """A legal action, and where it leads: any at random, else the first by habit that brings nothing and leaves moves.

    Two players of habit go round in circles, so that positions recur.
    """
    actions = toguz.legal(state)
    if not habit or rng.random() < 0.005:
        action = actions[int(rng.integers(len(actions)))]
        return action, toguz.play(state, action)
    following = [(action, toguz.play(state, action)) for action in habit if action in actions]
    return next((one for one in following if one[1].quiet and one[1].end != "no_moves"), following[0])


def advance(
    rng: np.random.Generator, games: VectorGames, states: list[State], habits: Habits, tally: Tally
) -> tuple[list[int], list[State]]:
    """The actions that twin and batch have played, one in every running game, and the twin's states after them."""
    actions, after = [-1] * len(states), list(states)
    for index, state in enumerate(states):
        if state.end is None:
            actions[index], after[index] = choose(rng, state, habits[index][state.mover])
            tally.add(after[index])
    games.step(actions)
    shown = [toguz.start(state.options) if games.restart and state.end else state for state in after]
    compare(games, states, after, shown)
    assert all(games.final_plies[index] == len(after[index].history) for index in np.flatnonzero(games.ended) if games.restart)
    return actions, shown


def walk(rng: np.random.Generator, position: Position, state: State, action: int) -> Position:
    """The position after the action, played as a number or by text, and now and then written out and read again."""
    if rng.random() < 0.05:
        position = Position.from_text(GAME, position.full_text, strict=False)
    played = position.play(action if rng.random() < 0.3 else state.move[: rng.choice([1, 2, len(state.move)])])
    assert played.ply == position.ply + 1
    compare_position(played, state)
    return played


def play_out(rng: np.random.Generator, states: list[State], tally: Tally, habits: bool = False) -> None:
    """The games were played to their ends by twin and batch alike, some by Position too."""
    games = VectorGames(GAME, len(states), restart=False, **vars(states[0].options))
    games.load([in_engine(state) for state in states])
    positions = {index: in_engine(states[index]) for index in range(0, len(states), WALKED)}
    orders = [[rng.permutation(9).tolist() if habits else [] for _ in range(2)] for _ in states]
    while any(state.end is None for state in states):
        actions, states = advance(rng, games, states, orders, tally)
        for index, position in positions.items():
            if actions[index] >= 0:
                tally.walked += 1
                positions[index] = walk(rng, position, states[index], actions[index])
                assert positions[index] == games.position(index)


def every_move(rng: np.random.Generator, states: list[State], tally: Tally) -> None:
    """Each legal move of each board leads where the twin says."""
    games = VectorGames(GAME, len(states), restart=False, **vars(states[0].options))
    games.load([in_engine(state) for state in states])
    for action in range(9):
        legal = np.array([action in toguz.legal(state) for state in states])
        np.testing.assert_array_equal(games.action_mask[:, action] == 1, legal)
        children = [toguz.play(state, action) if may else state for state, may in zip(states, legal, strict=True)]
        played = games.clone()
        played.step(np.full(len(states), action), active=legal)
        compare(played, states, children, children)
        for index in np.flatnonzero(legal):
            tally.add(children[index])
            if index % WALKED == 0:
                tally.walked += 1
                walk(rng, games.position(int(index)), children[index], action)


def boards(rng: np.random.Generator, count: int, seeds: range, options: Options, tuzdyks: float = 0.8) -> list[State]:
    """Random boards, most of which are no finished games; so many of them may have tuzdyks."""
    return [
        random_state(rng, int(rng.choice(seeds)), options, random_tuzdyks(rng) if rng.random() < tuzdyks else NO_TUZDYKS)
        for _ in range(count)
    ]


def test_every_move_on_random_boards_leads_where_the_twin_says() -> None:
    rng, tally = np.random.default_rng(1), Tally()
    for options in (Options(), Options(2, 1), Options(0, 40), Options(9, 300)):
        every_move(rng, boards(rng, 1900, ANY, options), tally)
        every_move(rng, boards(rng, 1500, ENDGAME, options), tally)
    assert tally.positions > 32_000
    assert tally.walked > 4000
    assert set(tally.ends) == ENDS - {"repetition"}
    assert set(tally.marks) == {"", "X", "("}


def test_whole_random_games_go_as_in_the_twin() -> None:
    rng, tally = np.random.default_rng(2), Tally()
    for options in (Options(), Options(2, 60), Options(0, 7), Options(9, 2000)):
        play_out(rng, [toguz.start(options)] * 50, tally)
        play_out(rng, boards(rng, 90, ANY, options), tally)
        play_out(rng, boards(rng, 150, ENDGAME, options), tally)
    assert tally.positions > 32_000
    assert tally.walked > 4000
    assert set(tally.ends) >= ENDS - {"repetition"}
    assert set(tally.marks) == {"", "X", "("}


@pytest.mark.jit_off
@pytest.mark.bounds
def test_a_few_games_go_as_in_the_twin() -> None:
    rng, tally = np.random.default_rng(7), Tally()
    play_out(rng, [toguz.start()] * 3, tally)
    play_out(rng, boards(rng, 20, ANY, Options(2, 12)), tally)
    play_out(rng, boards(rng, 60, range(3, 6), Options(2, 60), tuzdyks=0), tally, habits=True)
    every_move(rng, boards(rng, 60, ANY, Options(9, 2000)), tally)
    assert tally.positions > 1000
    assert set(tally.ends) >= ENDS - {"even_split"}


def test_random_games_in_a_batch_that_restarts_go_as_in_the_twin() -> None:
    rng, tally = np.random.default_rng(3), Tally()
    for options in (Options(), Options(2, 8)):
        games, states = VectorGames(GAME, 64, **vars(options)), [toguz.start(options)] * 64
        for _ in range(220):
            states = advance(rng, games, states, [[[], []]] * 64, tally)[1]
    assert tally.positions == 2 * 64 * 220
    assert set(tally.ends) >= {"majority", "no_moves", "quiet_limit"}


@pytest.mark.parametrize("repetition_limit", REPETITION_LIMITS)
def test_endgames_that_go_round_in_circles_end_as_in_the_twin(repetition_limit: int) -> None:
    rng, tally = np.random.default_rng(4), Tally()
    options = Options(repetition_limit, 500 if repetition_limit else 150)
    for seeds in STEADY:
        count = 40 if seeds < 7 else 4
        play_out(rng, boards(rng, count, range(seeds, seeds + 1), options, tuzdyks=0), tally, habits=True)
    play_out(rng, boards(rng, 4, range(12, 40), Options(repetition_limit, 300)), tally, habits=True)
    assert tally.ends["repetition" if repetition_limit else "quiet_limit"] >= 20
    assert set(tally.occurrences) == set(range(1, max(repetition_limit, 1) + 1))
    assert tally.positions > 2000


@pytest.mark.parametrize("quiet_limit", QUIET_LIMITS)
def test_endgames_end_at_the_quiet_limit_as_in_the_twin(quiet_limit: int) -> None:
    rng, tally = np.random.default_rng(5), Tally()
    for repetition_limit in (0, 2, 9):
        options = Options(repetition_limit, quiet_limit)
        if quiet_limit < 2000 or repetition_limit == 0:
            play_out(rng, boards(rng, 40, range(2, 6), options, tuzdyks=0), tally, habits=True)
        play_out(rng, boards(rng, 16, ANY, options), tally)
    assert tally.ends["quiet_limit"] > 3
    assert tally.longest_quiet == quiet_limit


@pytest.mark.slow
def test_a_million_positions_are_as_in_the_twin() -> None:
    rng, tally = np.random.default_rng(6), Tally()
    while tally.positions < 1_000_000:
        for repetition_limit in REPETITION_LIMITS:
            options = Options(repetition_limit, int(rng.choice(QUIET_LIMITS[:-1])))
            play_out(rng, boards(rng, 100, ANY, options), tally)
            play_out(rng, boards(rng, 90, range(2, 8), Options(repetition_limit, 300), tuzdyks=0), tally, habits=True)
            every_move(rng, boards(rng, 600, ANY, options), tally)
        play_out(rng, [toguz.start()] * 200, tally)
    assert set(tally.ends) == ENDS
    assert tally.ends["repetition"] > 200
    assert max(tally.occurrences) == 9
