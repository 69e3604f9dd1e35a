"""The engine and the slow twin play the same Eiyiu: random boards and whole random games, ply by ply, under all options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest

from eiyiu_boards import (
    DRAW,
    HAND_FIELD,
    REASONS,
    facts_of_engine,
    facts_of_twin,
    in_engine,
    mask_of,
    number_of,
    observed,
    random_states,
    scores,
    text_of,
)
from envs import Position, VectorGames
from reference import eiyiu
from reference.eiyiu import Action, Options, State

SHIFT_LIMITS = (1, 2, 3, 10, 40, 200)
OPTION_SETS = [Options(limit, same_tile) for limit, same_tile in product(SHIFT_LIMITS, eiyiu.SAME_TILES)]
WINS = {f"run_of_15 by {kind}" for kind in ("lay", "shift", "last shift")}


@dataclass
class Tally:
    """What a comparison has seen."""

    positions: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, before: State, action: Action, state: State) -> None:
        self.positions += 1
        kind = action[0]
        if state.end and kind == "lay":
            kind = "lay" if before.lifted is None else "last shift" if state.shifts == state.options.shift_limit else "shift"
            kind = f"{state.end} by {kind}"
        self.kinds[kind] += 1
        self.ends[state.end or "none"] += 1


@dataclass
class Line:
    """A game of the twin with what may be done in it; a cautious player does not win if it can help it."""

    state: State
    cautious: bool = False
    actions: list[Action] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.actions = eiyiu.legal(self.state)

    def choose(self, rng: np.random.Generator) -> Action:
        for _ in range(12 if self.cautious else 1):
            action = self.actions[int(rng.integers(len(self.actions)))]
            if not self.cautious or self.is_safe(eiyiu.play(self.state, action)):
                break
        return action

    def is_safe(self, after: State) -> bool:
        """Whether nothing is won yet, nor must be by a tile just lifted."""
        return after.end is None and (
            after.lifted is None or (not eiyiu.runs_of_15(after.tiles) and len(eiyiu.legal(after)) > 8)
        )

    def after(self, action: Action) -> Line:
        return Line(eiyiu.play(self.state, action), self.cautious)


def same(games: VectorGames, name: str, got: np.ndarray, expected: np.ndarray) -> None:
    """Both arrays are equal; else the message shows the first game in which they are not."""
    if not np.array_equal(got, expected):
        index = int(np.flatnonzero((got != expected).reshape(len(got), -1).any(axis=1))[0])
        where = np.flatnonzero(np.ravel(got[index] != expected[index])).tolist()
        pytest.fail(f"{name} differs at {where} in {games.position(index).full_text}")


def compare(games: VectorGames, before: Sequence[Line], played: Sequence[Line], lines: Sequence[Line]) -> None:
    """The arrays of the batch show the lines, and of the lines as they were played how they ended."""
    states, finals = [line.state for line in lines], [line.state for line in played]
    ended = np.array([old.state.end is None and new.end is not None for old, new in zip(before, finals, strict=True)])
    same(games, "observation", games.observation, np.array([observed(state, state.mover) for state in states]))
    same(games, "mask", games.action_mask, np.array([mask_of(line.actions, line.state) for line in lines]))
    same(games, "mover", games.mover, np.array([state.mover for state in states]))
    same(games, "running", games.running, np.array([state.end is None for state in states]))
    same(games, "ended", games.ended, ended)
    same(games, "rewards", games.rewards, np.array([eiyiu.result(state) or (0, 0) for state in finals]) * ended[:, None])
    same(games, "gains", games.gains, np.zeros(len(states)))
    for index in np.flatnonzero(ended):
        final = finals[index]
        assert games.end_reason[index] == REASONS[final.end]
        assert (games.final_scores[index].tolist(), games.final_plies[index]) == ([*scores(final)], final.ply)
        np.testing.assert_array_equal(games.final_observation[index], [observed(final, seat) for seat in range(2)])


def play(rng: np.random.Generator, games: VectorGames, lines: list[Line], steps: int, tally: Tally) -> list[Line]:
    """So many steps, or until every game is over, were played by twin and batch engine alike."""
    start = Line(eiyiu.start(lines[0].state.options))
    for _ in range(steps):
        if all(line.state.end for line in lines):
            break
        chosen = [None if line.state.end else line.choose(rng) for line in lines]
        numbers = [-1 if one is None else number_of(one, line.state) for one, line in zip(chosen, lines, strict=True)]
        games.step(numbers)
        before, played = lines, list(lines)
        for index, action in enumerate(chosen):
            if action is not None:
                after = before[index].after(action)
                tally.add(before[index].state, action, after.state)
                if numbers[index] == DRAW and after.state.drawing:
                    action, old = ("deal", int(games.observation[index, HAND_FIELD])), after.state
                    after = after.after(action)
                    tally.add(old, action, after.state)
                played[index] = after
        lines = [Line(start.state, line.cautious) if games.restart and line.state.end else line for line in played]
        compare(games, before, played, lines)
        assert [games.position(index).text for index in range(0, len(lines), 7)] == [
            eiyiu.to_text(line.state) for line in lines[::7]
        ]
    return lines


def batch(rng: np.random.Generator, states: list[State], steps: int, tally: Tally, restart: bool = False) -> None:
    """Games from these states, half of them cautious, go in the batch as in the twin."""
    lines = [Line(state, cautious=index % 2 == 1) for index, state in enumerate(states)]
    games = VectorGames("eiyiu", len(states), seed=int(rng.integers(1 << 30)), restart=restart, **vars(states[0].options))
    games.load([in_engine(state) for state in states])
    compare(games, lines, lines, lines)
    play(rng, games, lines, steps, tally)


def by_position(rng: np.random.Generator, state: State, steps: int, tally: Tally) -> None:
    """A game from this state goes through `Position` as in the twin, by numbers, by texts, and read anew on the way."""
    line, position, last_move = Line(state, cautious=bool(rng.random() < 0.5)), in_engine(state), None
    for _ in range(steps):
        assert facts_of_engine(position) == facts_of_twin(line.state, line.actions, last_move)
        if line.state.end:
            return
        if rng.random() < 0.1:
            again = Position.from_text("eiyiu", position.full_text, strict=False)
            assert facts_of_engine(again) == facts_of_engine(position)
            position = again
            by_number = sorted(line.actions, key=lambda action: number_of(action, line.state))
            assert position.legal_moves() == [text_of(action, line.state) for action in by_number]
        action = line.choose(rng)
        last_move = text_of(action, line.state)
        position = position.play(last_move if rng.random() < 0.1 else number_of(action, line.state))
        tally.add(line.state, action, (line := line.after(action)).state)


def test_whole_random_games_in_a_batch_go_as_in_the_twin() -> None:
    rng, tally = np.random.default_rng(1), Tally()
    for options in OPTION_SETS:
        batch(rng, [eiyiu.start(options)] * 24, 460, tally)
    assert tally.positions > 20_000
    assert set(tally.kinds) == {"open", "hidden", "deal", "lift", "lay", "shift_limit by last shift", *WINS}


@pytest.mark.parametrize("same_tile", eiyiu.SAME_TILES)
def test_games_that_begin_anew_go_as_in_the_twin(same_tile: str) -> None:
    rng, tally = np.random.default_rng(2), Tally()
    batch(rng, [eiyiu.start(Options(3, same_tile))] * 50, 60, tally, restart=True)
    assert tally.positions > 3000
    assert set(tally.ends) == {"none", "run_of_15", "shift_limit"}


@pytest.mark.parametrize("same_tile", eiyiu.SAME_TILES)
def test_random_boards_in_a_batch_are_as_in_the_twin(same_tile: str) -> None:
    rng, tally = np.random.default_rng(3), Tally()
    for limit in SHIFT_LIMITS:
        batch(rng, random_states(rng, 150, Options(limit, same_tile)), 8, tally)
    assert tally.positions > 3000
    assert set(tally.kinds) >= {"lift", "shift_limit by last shift", *WINS}


@pytest.mark.parametrize("same_tile", eiyiu.SAME_TILES)
def test_random_boards_through_positions_are_as_in_the_twin(same_tile: str) -> None:
    rng, tally = np.random.default_rng(4), Tally()
    for limit in SHIFT_LIMITS:
        for state in random_states(rng, 40, Options(limit, same_tile), drawing=True):
            by_position(rng, state, 10, tally)
        by_position(rng, eiyiu.start(Options(limit, same_tile)), 1000, tally)
    assert tally.positions > 1500
    assert set(tally.ends) == {"none", "run_of_15", "shift_limit"}


@pytest.mark.slow
def test_two_hundred_thousand_positions_are_as_in_the_twin() -> None:
    rng, tally = np.random.default_rng(5), Tally()
    limits = [*SHIFT_LIMITS, 2000]
    while tally.positions < 200_000:
        for limit, same_tile in product(limits, eiyiu.SAME_TILES):
            options = Options(limit, same_tile)
            batch(rng, random_states(rng, 100, options), 12, tally)
            batch(rng, [eiyiu.start(options)] * 20, 450, tally)
            batch(rng, [eiyiu.start(options)] * 40, 80, tally, restart=True)
            for state in [eiyiu.start(options), *random_states(rng, 30, options, drawing=True)]:
                by_position(rng, state, 60, tally)
    assert set(tally.ends) == {"none", "run_of_15", "shift_limit"}
