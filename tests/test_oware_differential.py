"""The engine and the slow twin play the same Oware: random boards and whole random games, ply by ply, under all options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import envs
from envs import EndReason, Position, VectorGames
from oware_boards import in_engine, random_state, show
from reference import oware
from reference.oware import Options, State

REPETITION_LIMITS = (0, *range(2, 10))
QUIET_LIMITS = (1, 2, 11, 12, 13, 19, 20, 21, 22, 37, 160)
ENDGAME = range(2, 10)  # seeds on the board
ANY = range(1, 49)
REASONS = {None: 0} | {reason.label: int(reason) for reason in EndReason if reason}


@dataclass
class Tally:
    """What a comparison has seen."""

    positions: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    occurrences: Counter[int] = field(default_factory=Counter)
    longest_quiet: int = 0

    def add(self, state: State) -> None:
        self.positions += 1
        self.occurrences[state.occurrences] += 1
        self.longest_quiet = max(self.longest_quiet, state.quiet)
        if state.end:
            self.ends[state.end] += 1


def facts(state: State) -> tuple[list[int], list[int], list[int]]:
    """What both seats observe of the twin's state, and the mover's mask."""
    sides = state.houses[:6], state.houses[6:]
    seen = [
        [
            *sides[player],
            *sides[1 - player],
            state.stores[player],
            state.stores[1 - player],
            state.quiet,
            state.occurrences,
            int(state.end is None and state.mover == player),
        ]
        for player in range(2)
    ]
    legal = oware.legal(state)
    return seen[0], seen[1], [int(action in legal) for action in range(6)]


def compare(games: VectorGames, before: Sequence[State], states: Sequence[State]) -> None:
    """The arrays of the batch show the twin's states; those that were over before have stayed."""
    told = [facts(state) for state in states]
    seen = np.array([(one, other) for one, other, _ in told])
    movers = np.array([state.mover for state in states])
    over = np.array([state.end is not None for state in states])
    ended = over & np.array([state.end is None for state in before])
    reasons = np.array([REASONS[state.end] for state in states])
    results = np.array([oware.result(state) or (0, 0) for state in states])
    scores = np.array([oware.scores(state) for state in states])
    gains = [new.stores[old.mover] - old.stores[old.mover] for old, new in zip(before, states, strict=True)]
    same(games, states, games.observation, seen[np.arange(len(states)), movers])
    same(games, states, games.action_mask, np.array([mask for _, _, mask in told]))
    same(games, states, games.mover, movers)
    same(games, states, games.running, ~over)
    same(games, states, games.ended, ended)
    same(games, states, games.rewards, results * ended[:, None])
    same(games, states, games.gains, np.array(gains))
    same(games, states, np.where(ended, games.end_reason, 0), np.where(ended, reasons, 0))
    same(games, states, games.final_observation * ended[:, None, None], seen * ended[:, None, None])
    same(games, states, games.final_scores * ended[:, None], scores * ended[:, None])


def same(games: VectorGames, states: Sequence[State], got: np.ndarray, expected: np.ndarray) -> None:
    """Both arrays are equal; else the message shows the first game in which they are not."""
    if not np.array_equal(got, expected):
        index = int(np.flatnonzero((got != expected).reshape(len(got), -1).any(axis=1))[0])
        pytest.fail(
            f"engine {got[index].tolist()}, twin {expected[index].tolist()} in "
            f"{games.position(index).full_text}, in the twin {show(states[index])}"
        )


def choose(rng: np.random.Generator, state: State, habit: np.ndarray) -> tuple[int, State]:
    """A legal action, and where it leads: any at random, else the first by habit that harvests nothing.

    Two players of habit go round in circles, so that positions recur.
    """
    actions = oware.legal(state)
    if not len(habit) or rng.random() < 0.005:
        action = actions[int(rng.integers(len(actions)))]
        return action, oware.play(state, action)
    following = [(int(action), oware.play(state, int(action))) for action in habit if action in actions]
    return next((one for one in following if one[1].quiet), following[0])


def play_out(rng: np.random.Generator, states: list[State], tally: Tally, habits: bool = False) -> None:
    """The games were played to their ends by twin and batch engine alike."""
    games = VectorGames("oware", len(states), restart=False, **vars(states[0].options))
    games.load([in_engine(state) for state in states])
    players = [[rng.permutation(6) if habits else np.empty(0, np.int64) for _ in range(2)] for _ in states]
    while any(state.end is None for state in states):
        before, actions, states = states, [-1] * len(states), list(states)
        for index, state in enumerate(before):
            if state.end is None:
                actions[index], states[index] = choose(rng, state, players[index][state.mover])
                tally.add(states[index])
        games.step(actions)
        compare(games, before, states)


def every_move(rng: np.random.Generator, states: list[State], tally: Tally) -> None:
    """Each legal move of each board leads where the twin says."""
    games = VectorGames("oware", len(states), restart=False, **vars(states[0].options))
    games.load([in_engine(state) for state in states])
    for action in range(6):
        legal = np.array([action in oware.legal(state) for state in states])
        np.testing.assert_array_equal(games.action_mask[:, action] == 1, legal)
        children = [oware.play(state, action) if may else state for state, may in zip(states, legal, strict=True)]
        played = games.clone()
        played.step(np.full(len(states), action), active=legal)
        compare(played, states, children)
        for child, may in zip(children, legal, strict=True):
            if may:
                tally.add(child)


def boards(rng: np.random.Generator, count: int, seeds: range, options: Options) -> list[State]:
    """Random boards, most of which are no finished games."""
    return [random_state(rng, int(rng.choice(seeds)), options) for _ in range(count)]


# Seeded


@pytest.mark.parametrize("grand_slam", oware.GRAND_SLAMS)
def test_every_move_on_random_boards_leads_where_the_twin_says(grand_slam: str) -> None:
    rng, tally = np.random.default_rng(1), Tally()
    for seeds in (ANY, ENDGAME):
        every_move(rng, boards(rng, 3000, seeds, Options(grand_slam=grand_slam)), tally)
    assert tally.positions > 10_000
    assert {"majority", "no_moves"} <= set(tally.ends)


@pytest.mark.parametrize("grand_slam", oware.GRAND_SLAMS)
def test_whole_random_games_go_as_in_the_twin(grand_slam: str) -> None:
    rng, tally = np.random.default_rng(2), Tally()
    play_out(rng, [oware.start(Options(grand_slam=grand_slam))] * 150, tally)
    play_out(rng, boards(rng, 150, ANY, Options(2, 40, grand_slam)), tally)
    assert tally.positions > 15_000
    assert {"majority", "no_moves"} <= set(tally.ends)


@pytest.mark.parametrize("repetition_limit", REPETITION_LIMITS)
def test_endgames_that_go_round_in_circles_end_as_in_the_twin(repetition_limit: int) -> None:
    rng, tally = np.random.default_rng(3), Tally()
    for grand_slam in oware.GRAND_SLAMS:
        quiet_limit = 2000 if repetition_limit else 150
        play_out(rng, boards(rng, 40, ENDGAME, Options(repetition_limit, quiet_limit, grand_slam)), tally, habits=True)
    assert tally.ends["repetition" if repetition_limit else "quiet_limit"] > 10
    assert max(tally.occurrences) == max(repetition_limit, 1)
    assert tally.positions > 4000


@pytest.mark.parametrize("quiet_limit", QUIET_LIMITS)
def test_endgames_end_at_the_quiet_limit_as_in_the_twin(quiet_limit: int) -> None:
    rng, tally = np.random.default_rng(4), Tally()
    for grand_slam, repetition_limit in product(oware.GRAND_SLAMS, (0, 2, 9)):
        options = Options(repetition_limit, quiet_limit, grand_slam)
        play_out(rng, boards(rng, 20, ENDGAME, options), tally, habits=True)
        play_out(rng, boards(rng, 20, ANY, options), tally)
    assert tally.ends["quiet_limit"] > 10
    assert tally.longest_quiet == quiet_limit


def test_a_circle_after_a_long_quiet_prelude_is_found_as_in_the_twin() -> None:
    # Twenty plies and more in which a house is not sown: the position may recur only after that.
    rng, tally = np.random.default_rng(5), Tally()
    for seeds in (3, 4, 5, 6):
        play_out(rng, boards(rng, 60, range(seeds, seeds + 1), Options(9, 400)), tally, habits=True)
    assert tally.ends["repetition"] > 20
    assert tally.longest_quiet > 100


@pytest.mark.slow
def test_a_million_positions_are_as_in_the_twin() -> None:
    rng, tally = np.random.default_rng(6), Tally()
    while tally.positions < 1_000_000:
        for grand_slam, repetition_limit in product(oware.GRAND_SLAMS, REPETITION_LIMITS):
            options = Options(repetition_limit, int(rng.choice(QUIET_LIMITS)), grand_slam)
            play_out(rng, boards(rng, 100, ANY, options), tally)
            play_out(rng, boards(rng, 100, ENDGAME, options), tally, habits=True)
            every_move(rng, boards(rng, 300, ANY, options), tally)
        play_out(rng, [oware.start()] * 500, tally)
    assert {"majority", "no_moves", "repetition", "quiet_limit"} <= set(tally.ends)


# Drawn by hypothesis, which shows the smallest failure


@st.composite
def states(draw: st.DrawFn) -> State:
    """Any board of up to 48 seeds under any options."""
    counts = draw(st.lists(st.integers(0, 8), min_size=12, max_size=12))
    if draw(st.booleans()):
        counts[draw(st.integers(0, 11))] += draw(st.integers(0, 40))
    while sum(counts) > 48:
        counts[counts.index(max(counts))] -= 1
    south = draw(st.integers(0, min(30, 48 - sum(counts))))
    north = draw(st.integers(0, min(30, 48 - sum(counts) - south)))
    repetition_limit = draw(st.sampled_from(REPETITION_LIMITS))
    quiet_limit = draw(st.sampled_from((1, 2, 12, 13, 20, 21, 40, 160, 2000)))
    options = Options(repetition_limit, quiet_limit, draw(st.sampled_from(oware.GRAND_SLAMS)))
    return oware.position(tuple(counts), (south, north), draw(st.integers(0, 1)), options, draw(st.integers(0, quiet_limit)))


@settings(max_examples=300, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(states(), st.lists(st.integers(0, 5), max_size=40), st.integers(0, 40))
def test_any_line_from_any_board_is_as_in_the_twin(state: State, choices: list[int], reread: int) -> None:
    position = in_engine(state)
    for ply, choice in enumerate([*choices, -1]):
        if ply == reread:
            position = Position.from_text("oware", position.full_text, strict=False)
        south, north, mask = facts(state)
        assert (position.text, position.mover) == (show(state), state.mover)
        assert (position.observation(0).tolist(), position.observation(1).tolist()) == (south, north)
        assert position.action_mask().tolist() == mask
        assert (position.end.label if position.end else None) == state.end
        assert (position.result, position.scores) == (oware.result(state), oware.scores(state))
        if state.end or choice < 0:
            return
        action = oware.legal(state)[choice % len(oware.legal(state))]
        state, position = oware.play(state, action), position.play(action)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(states(), st.integers(0, 2))
def test_as_many_lines_lead_from_any_board_as_in_the_twin(state: State, depth: int) -> None:
    layer = [state]
    for _ in range(depth):
        layer = [oware.play(one, action) for one in layer for action in oware.legal(one)]
    assert in_engine(state).perft(depth) == len(layer)


# Beside OpenSpiel, which ends a game at the second occurrence and has no quiet limit


def in_openspiel(state: Any) -> list[int]:
    """Houses and stores; the observation reads `mover | store store | house house ...`."""
    _, stores, houses = state.observation_string(0).split("|")
    return [*map(int, houses.split()), *map(int, stores.split())]


@pytest.mark.parametrize("count", [300, pytest.param(3000, marks=pytest.mark.slow)])
def test_random_games_go_as_in_openspiel(count: int) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    rng = np.random.default_rng(7)
    game = pyspiel.load_game("oware")
    ends: Counter[str] = Counter()
    for _ in range(count):
        theirs = game.new_initial_state()
        ours = envs.start("oware", repetition_limit=2, quiet_limit=0)
        while not theirs.is_terminal():
            assert ours.end is None
            assert [*map(int, ours.text.split("-")[:14])] == in_openspiel(theirs)
            assert (ours.mover, ours.legal_actions()) == (theirs.current_player(), [a % 6 for a in theirs.legal_actions()])
            action = int(rng.choice(ours.legal_actions()))
            theirs.apply_action(action if action in theirs.legal_actions() else action + 6)
            ours = ours.play(action)
        assert ours.end is not None and ours.result is not None
        assert [float(result) for result in ours.result] == theirs.returns()
        ends[ours.end.label] += 1
    assert set(ends) == {"majority", "no_moves", "repetition"}
