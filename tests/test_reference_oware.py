"""The slow twin of Oware: its figures, its recorded games and its own refusals.

That it keeps every sentence of the rules is in `test_oware_rules.py`, beside the engine.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

import figures
from oware_boards import read
from reference import oware
from reference.oware import STANDARD, Options, State

needs_records = pytest.mark.skipif(
    figures.records_missing("oware_games.json") is not None,
    reason=str(figures.records_missing("oware_games.json")),
)


def perft(state: State, depth: int) -> int:
    actions = oware.legal(state)
    if depth == 1:
        return len(actions)
    return sum(perft(oware.play(state, action), depth - 1) for action in actions)


def depths(deepest: int, slow_from: int) -> list[object]:
    return [pytest.param(depth, marks=[pytest.mark.slow] if depth >= slow_from else []) for depth in range(1, deepest + 1)]


@pytest.mark.parametrize("seeds", range(1, 49))
@pytest.mark.parametrize("origin", range(12))
def test_the_house_of_origin_ends_empty(origin: int, seeds: int) -> None:
    houses = tuple(seeds if house == origin else 0 for house in range(12))
    sown, last = oware.sow(houses, origin)
    assert sown[origin] == 0
    assert sum(sown) == seeds
    assert last == (origin + 1 + (seeds - 1) % 11) % 12


def test_a_mover_without_a_move_comes_before_a_repetition_and_the_quiet_limit() -> None:
    houses = read("1-0-0-0-0-0-0-0-0-0-0-0-23-24-S").houses
    state = oware.settled(houses, (23, 24), 0, 160, ((houses, 0), (houses, 0)), STANDARD)
    assert (state.occurrences, state.quiet, state.end) == (3, 160, "no_moves")


def test_a_state_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        oware.start().mover = 1  # type: ignore[misc]


# Figures


@pytest.mark.parametrize("depth", depths(8, slow_from=6))
def test_as_many_lines_lead_from_the_start_as_known_elsewhere(depth: int) -> None:
    assert perft(oware.start(), depth) == figures.oware_start_perft().counts[depth - 1]


@pytest.mark.parametrize("depth", depths(6, slow_from=4))
@pytest.mark.parametrize("case", figures.oware_perft(), ids=lambda case: case.category)
def test_as_many_lines_lead_from_a_position_as_known_elsewhere(case: figures.OwarePerft, depth: int) -> None:
    state = oware.position(case.houses, case.stores, case.mover)
    assert perft(state, depth) == case.counts[depth - 1]


@pytest.mark.parametrize("case", figures.oware_positions())
def test_a_single_position_is_as_known_elsewhere(case: figures.OwarePosition) -> None:
    state = oware.position(case.houses, case.stores, case.mover)
    if case.legal is not None:
        assert oware.legal(state) == case.legal
        assert (state.end == "no_moves") == (case.legal == [])
    if case.final_scores is not None:
        assert oware.scores(state) == case.final_scores
    if case.winner is not None:
        assert oware.result(state) == ((1, -1) if case.winner == 0 else (-1, 1))
    if case.action is not None:
        played = oware.play(state, case.action)
        assert played.houses == case.houses_after
        assert played.stores[case.mover] - case.stores[case.mover] == case.captured
        if case.grand_slam_forfeited is not None:
            sown = oware.sow(case.houses, 6 * case.mover + case.action)
            assert oware.would_slam(*sown, case.mover) == case.grand_slam_forfeited


@pytest.mark.parametrize("line", figures.oware_lines())
def test_a_short_line_from_the_start_leads_where_known_elsewhere(line: figures.OwareLine) -> None:
    state = oware.start()
    for pit in line.pits:
        state = oware.play(state, pit - 6 * state.mover)
    assert state.houses == line.houses_after
    if line.legal_count_after is not None:
        assert len(oware.legal(state)) == line.legal_count_after


@pytest.mark.parametrize("game", figures.oware_random_games(), ids=lambda game: game.end)
@pytest.mark.parametrize("repetition_limit", [2, 3])
def test_a_random_game_ends_as_known_elsewhere(game: figures.OwareRandomGame, repetition_limit: int) -> None:
    state = oware.start(Options(repetition_limit=repetition_limit))
    forfeits = feedings = 0
    for action in game.actions:
        sown = oware.sow(state.houses, 6 * state.mover + action)
        forfeits += oware.would_slam(*sown, state.mover)
        feedings += oware.must_feed(state.houses, state.mover)
        assert state.end is None
        state = oware.play(state, action)
    assert (state.houses, state.stores) == (game.houses, game.stores)
    assert (forfeits, feedings) == (game.grand_slams_forfeited, game.must_feed_plies)
    swept = tuple(game.stores[seat] + oware.side(game.houses, seat) for seat in (0, 1))
    assert swept == game.final_scores
    if game.end == "majority":
        assert (state.end, oware.scores(state)) == ("majority", game.stores)
    elif game.end == "no_legal":
        assert (state.end, oware.scores(state)) == ("no_moves", game.final_scores)
    elif repetition_limit == 2:
        assert (state.end, oware.scores(state)) == ("repetition", game.final_scores)
    else:
        assert (state.occurrences, state.end, oware.scores(state)) == (2, None, game.stores)


# Recorded games


@needs_records
def test_recorded_games_replay_to_their_last_board() -> None:
    for record in figures.oware_records():
        houses, stores, mover = oware.start().houses, (0, 0), 0
        for pit in record.pits:
            assert pit in oware.legal_houses(houses, mover, "forfeit"), record.source
            houses, captured = oware.move(houses, pit, "forfeit")
            stores = oware.put_into_store(stores, mover, captured)
            mover = 1 - mover
        last = (record.houses, record.stores, record.mover)
        assert (houses, stores, mover) == last, record.source
        swept = tuple(stores[seat] + oware.side(houses, seat) for seat in (0, 1))
        assert swept == record.sides_swept, record.source
        if record.legal_after is not None:
            pits = oware.legal_houses(houses, mover, "forfeit")
            assert [pit - 6 * mover for pit in pits] == record.legal_after, record.source


@needs_records
def test_recorded_games_meet_each_event_at_its_ply() -> None:
    for record in figures.oware_records():
        houses, stores, mover = oware.start().houses, (0, 0), 0
        seen = {(houses, mover)}
        events: dict[str, int] = {}
        for ply, pit in enumerate(record.pits, start=1):
            houses, captured = oware.move(houses, pit, "forfeit")
            stores = oware.put_into_store(stores, mover, captured)
            mover = 1 - mover
            if max(stores) > 24:
                events.setdefault("majority_ply", ply)
            if not oware.legal_houses(houses, mover, "forfeit"):
                events.setdefault("no_legal_move_ply", ply)
            if (houses, mover) in seen:
                events.setdefault("second_occurrence_ply", ply)
            seen.add((houses, mover))
        assert events == record.events, record.source


@needs_records
@pytest.mark.parametrize("repetition_limit", [2, 3])
def test_recorded_games_end_at_the_ply_of_their_first_event(repetition_limit: int) -> None:
    ends = {"majority_ply": "majority", "no_legal_move_ply": "no_moves"}
    if repetition_limit == 2:
        ends["second_occurrence_ply"] = "repetition"
    for record in figures.oware_records():
        state = oware.start(Options(repetition_limit=repetition_limit))
        plies = 0
        while state.end is None and plies < len(record.pits):
            state = oware.play(state, record.pits[plies] - 6 * state.mover)
            plies += 1
        events = [(ply, ends[name]) for name, ply in record.events.items() if name in ends]
        expected = min(events, default=(len(record.pits), None))
        assert (plies, state.end) == expected, record.source
