"""Toguz Kumalak in the engine: figures known from elsewhere, recorded games, its rules, its texts and its history."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

import envs
import figures
import toguz_kumalak_figures as known
from envs import BadOption, BadText, IllegalMove, Position, VectorGames
from envs.games import find_game
from envs.games.toguz_kumalak import rules
from reference import toguz_kumalak as toguz
from reference.toguz_kumalak import STANDARD, Options, State
from toguz_kumalak_boards import CHASE, CHASE_ROUND, GAME, START, in_engine, random_state, random_tuzdyks, turned

pytestmark = pytest.mark.bounds

needs_records = pytest.mark.skipif(
    figures.records_missing(known.RECORDS) is not None,
    reason=str(figures.records_missing(known.RECORDS)),
)

FULL_START = f"{START} ; repetition_limit=3 quiet_limit=200 quiet=0 ply=0"
FED = "5,0,0,0,0,0,0,0,0/0,1,0,0,0,0,0,0,0/80,76/1,-/0"
TURNABLE = "9,0,3,0,0,0,1,0,19/4,0,0,2,0,0,0,1,1/61,61/5,2/1"


def read(text: str, **options: Any) -> Position:
    return Position.from_text(GAME, text, strict=False, **options)


def placed(board: known.ToguzBoard) -> Position:
    return in_engine(toguz.position(board.holes, board.stores, board.tuzdyks, board.mover))


def label(position: Position) -> str | None:
    return position.end.label if position.end else None


# Figures


@pytest.mark.parametrize("depth", range(1, 7))
def test_as_many_lines_lead_from_the_start_as_known_elsewhere(depth: int) -> None:
    assert envs.start(GAME).perft(depth) == known.toguz_start_perft().counts[depth - 1]


@pytest.mark.parametrize("case", known.toguz_perft(), ids=lambda case: case.category)
def test_as_many_lines_lead_from_a_position_as_known_elsewhere(case: known.ToguzPerft) -> None:
    position = placed(case.board)
    assert tuple(position.perft(depth) for depth in range(1, len(case.counts) + 1)) == case.counts


@pytest.mark.jit_off
@pytest.mark.parametrize("case", known.toguz_perft(), ids=lambda case: case.category)
def test_as_many_short_lines_lead_from_a_position_as_known_elsewhere(case: known.ToguzPerft) -> None:
    assert tuple(placed(case.board).perft(depth) for depth in (1, 2)) == case.counts[:2]


@pytest.mark.parametrize("line", known.toguz_lines())
def test_a_line_leads_where_known_elsewhere(line: known.ToguzLine) -> None:
    position = placed(line.before).play_all(list(line.moves))
    after = line.after
    assert position.text == toguz.to_text(toguz.position(after.holes, after.stores, after.tuzdyks, after.mover))


def test_no_line_leads_from_a_finished_game_but_the_one_of_no_plies() -> None:
    finished = read("0,0,0,0,0,0,0,0,0/5,0,1,0,0,0,0,0,0/78,78/-,-/0")
    assert [finished.perft(depth) for depth in range(3)] == [1, 0, 0]
    with pytest.raises(ValueError, match="depth"):
        finished.perft(-1)


def lines_by_depth(state: State, deepest: int) -> list[int]:
    """The twin's perft counts for depth 1 to the deepest."""
    counts, layer = [], [state]
    for _ in range(deepest):
        layer = [toguz.play(one, action) for one in layer for action in toguz.legal(one)]
        counts.append(len(layer))
    return counts


@pytest.mark.parametrize("options", [Options(2), Options(3), Options(0), Options(2, 17), Options(9, 19)])
@pytest.mark.parametrize("plies", [0, 3])
def test_lines_end_where_a_repetition_or_the_quiet_limit_ends_them(options: Options, plies: int) -> None:
    # One side has a spare seed, so that there are lines of many lengths.
    state = toguz.from_text("0,0,1,0,0,0,0,0,1/0,0,1,0,0,0,0,0,0/79,80/-,-/0", options)
    position = in_engine(state)
    for _ in range(plies):
        state, position = toguz.play(state, toguz.legal(state)[0]), position.play(toguz.legal(state)[0])
    deepest = 21
    assert [position.perft(depth) for depth in range(1, deepest + 1)] == lines_by_depth(state, deepest)


@pytest.mark.parametrize("depth", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_as_many_lines_lead_from_random_boards_as_in_the_twin(depth: int) -> None:
    rng = np.random.default_rng(1)
    for seeds in (2, 5, 20, 60, 120) * 4:
        state = random_state(rng, seeds, Options(2, int(rng.choice([2, 3, 200]))), random_tuzdyks(rng))
        assert [in_engine(state).perft(plies) for plies in range(1, depth + 1)] == lines_by_depth(state, depth)


@pytest.mark.slow
def test_as_many_lines_of_seven_plies_lead_from_the_start_as_in_the_twin() -> None:
    # Too short for a repetition, so lines that meet in a position may be counted there together.
    layer, counts = Counter({toguz.position_of(toguz.start()): 1}), []
    for ply in range(1, 8):
        following: Counter[toguz.Position] = Counter()
        counts.append(0)
        for now, lines in layer.items():
            state = toguz.settled(now, 0, (), STANDARD)
            actions = toguz.legal(state)
            counts[-1] += lines * len(actions)
            for action in actions if ply < 7 else []:
                following[toguz.position_of(toguz.play(state, action))] += lines
        layer = following
    assert [envs.start(GAME).perft(depth) for depth in range(1, 8)] == counts


# Recorded games


@needs_records
def test_recorded_games_replay_with_every_suffix_to_their_last_board() -> None:
    ends = {">=82": "majority", "nomove": "no_moves", "notover": None}
    plies = 0
    for record in known.toguz_records():
        position = envs.start(GAME)
        for move in record.moves:
            # A game played on after its end would be refused here; none was.
            position = position.play(move)
            assert position.last_move == move
        plies += position.ply
        stores = position.text.split("/")[2]
        assert (stores, label(position)) == ("{},{}".format(*record.stores), ends[record.ended])
        if record.final_scores is not None:
            assert position.scores == record.final_scores
    assert plies == 91_753


@needs_records
def test_recorded_games_replay_in_a_batch() -> None:
    records = known.toguz_records()
    games = VectorGames(GAME, len(records), restart=False)
    for ply in range(max(len(record.moves) for record in records)):
        active = np.array([ply < len(record.moves) for record in records])
        games.step([int(record.moves[ply][0]) - 1 if ply < len(record.moves) else -1 for record in records], active)
        for index in np.flatnonzero(active)[::29]:
            assert games.position(int(index)).last_move == records[index].moves[ply]
    for index, record in enumerate(records):
        assert games.position(index).text.split("/")[2] == "{},{}".format(*record.stores)


# The rules, sentence by sentence; each also with the seats exchanged

RULES = {
    "the first of several seeds stays, the rest go one by one and pass from hole 9 to the other's 1": (
        START,
        "54(10)",
        "9,9,9,9,1,10,10,10,10/10,10,10,0,9,9,9,9,9/10,0/-,-/1",
    ),
    "worked example: hole 9 from the start": (
        START,
        "98(10)",
        "9,9,9,9,9,9,9,9,1/10,10,10,10,10,10,10,0,9/10,0/-,-/1",
    ),
    "a single seed moves on": (
        "1,0,0,0,0,0,0,0,0/9,0,0,0,0,0,0,0,0/76,76/-,-/0",
        "12",
        "0,1,0,0,0,0,0,0,0/9,0,0,0,0,0,0,0,0/76,76/-,-/1",
    ),
    "18 seeds end just before the origin": (
        "0,0,18,0,0,0,0,0,0/1,0,0,0,0,0,0,0,0/70,73/-,-/0",
        "32",
        "1,1,1,1,1,1,1,1,1/2,1,1,1,1,1,1,1,1/70,73/-,-/1",
    ),
    "19 seeds and more give the origin more": (
        "0,0,19,0,0,0,0,0,0/1,0,0,0,0,0,0,0,0/70,72/-,-/0",
        "33",
        "1,1,2,1,1,1,1,1,1/2,1,1,1,1,1,1,1,1/70,72/-,-/1",
    ),
    "162 seeds go round nine times": (
        "0,162,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0/0,0/-,-/0",
        "21",
        "9,9,9,9,9,9,9,9,9/9,9,9,9,9,9,9,9,9/0,0/-,-/1",
    ),
    "an even number is captured only where the last seed falls": (
        "20,0,0,0,0,0,0,0,3/1,1,0,0,0,0,0,0,0/68,69/-,-/0",
        "92(70)",
        "20,0,0,0,0,0,0,0,1/2,0,0,0,0,0,0,0,0/70,69/-,-/1",
    ),
    "an even number in an own hole is left": (
        "1,1,0,0,0,0,0,0,0/10,0,0,0,0,0,0,0,0/75,75/-,-/0",
        "12",
        "0,2,0,0,0,0,0,0,0/10,0,0,0,0,0,0,0,0/75,75/-,-/1",
    ),
    "three make a tuzdyk, also with a single seed": (
        "20,0,0,0,0,0,0,0,1/2,0,1,0,0,0,0,0,0/69,69/-,-/0",
        "91X",
        "20,0,0,0,0,0,0,0,0/0,0,1,0,0,0,0,0,0/72,69/1,-/1",
    ),
    "three in hole 9 make none": (
        "20,0,0,0,0,0,0,0,10/0,0,0,0,0,0,0,0,2/65,65/-,-/0",
        "99",
        "20,0,0,0,0,0,0,0,1/1,1,1,1,1,1,1,1,3/65,65/-,-/1",
    ),
    "three make none for who has one": (
        "20,0,0,0,0,0,0,0,1/2,0,1,0,0,0,0,0,0/69,69/5,-/0",
        "91",
        "20,0,0,0,0,0,0,0,0/3,0,1,0,0,0,0,0,0/69,69/5,-/1",
    ),
    "three make none with the number of the opponent's": (
        "0,20,0,0,0,0,0,0,1/2,0,1,0,0,0,0,0,0/69,69/-,1/0",
        "91",
        "0,20,0,0,0,0,0,0,0/3,0,1,0,0,0,0,0,0/69,69/-,1/1",
    ),
    "seeds go into both tuzdyks' stores on the way": (
        "13,0,0,0,0,0,0,0,0/1,0,0,0,0,0,0,0,0/74,74/2,3/0",
        "14",
        "1,1,0,1,1,1,1,1,1/2,0,1,1,0,0,0,0,0/75,75/2,3/1",
    ),
    "a second lap feeds a tuzdyk again, and an end in it does nothing more": (
        "29,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0/66,67/2,-/0",
        "12",
        "2,2,2,2,2,2,2,2,2/2,0,1,1,1,1,1,1,1/68,67/2,-/1",
    ),
    "an end in the other's tuzdyk does nothing more": (
        "1,0,5,0,0,0,0,0,0/6,0,0,0,0,0,0,0,0/75,75/-,2/0",
        "12",
        "0,0,5,0,0,0,0,0,0/6,0,0,0,0,0,0,0,0/75,76/-,2/1",
    ),
}


@pytest.mark.jit_off
@pytest.mark.parametrize("what", RULES)
def test_a_move_does_as_the_rules_say(what: str) -> None:
    board, move, after = RULES[what]
    for before, then in ((board, after), (turned(board), turned(after))):
        if "(" in move:
            assert move[3:-1] == then.split("/")[2].split(",")[int(before[-1])]
        played = read(before).play(move)
        assert (played.text, played.last_move, played.ply) == (then, move, 1)


ENDINGS = {
    "82 seeds win": ("20,0,0,0,0,0,0,0,1/1,0,1,0,0,0,0,0,0/80,59/-,-/0", "9", "majority", (82, 59), 1),
    "82 seeds win who is fed": ("1,0,0,0,0,0,0,0,0/4,0,0,0,0,0,0,0,1/81,75/2,-/1", "1", "majority", (82, 75), 1),
    "81 seeds do not win": ("20,0,0,0,0,0,0,0,1/1,0,1,0,0,0,0,0,0/79,60/-,-/0", "9", None, (81, 60), None),
    "81 each draw": ("0,0,0,0,0,0,0,0,1/1,0,0,0,0,0,0,0,0/79,81/-,-/0", "9", "even_split", (81, 81), 0),
    "no seeds to sow": ("1,1,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0/80,80/-,-/0", "1", "no_moves", (82, 80), 1),
    "no seeds to sow, equal": ("1,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0/80,81/-,-/0", "1", "no_moves", (81, 81), 0),
    "only the other row is empty": ("0,0,0,0,0,0,0,0,1/0,5,0,0,0,0,0,0,0/78,78/-,-/0", "9", None, (78, 78), None),
    "only the other row is empty, then": ("0,0,0,0,0,0,0,0,1/0,5,0,0,0,0,0,0,0/78,78/-,-/0", "9 1", "no_moves", (78, 84), -1),
    "majority before no moves": ("0,0,0,0,0,0,0,0,1/1,0,0,0,0,0,0,0,0/80,80/-,-/0", "9", "majority", (82, 80), 1),
}


@pytest.mark.jit_off
@pytest.mark.parametrize("what", ENDINGS)
def test_the_game_ends_as_the_rules_say(what: str) -> None:
    board, moves, end, scores, result = ENDINGS[what]
    for turn, text in ((1, board), (-1, turned(board))):
        position = read(text).play_all(moves)
        assert (label(position), position.scores) == (end, scores[::turn])
        assert position.result == (None if result is None else (turn * result, -turn * result))
        assert (position.legal_actions() == []) == (end is not None)


@pytest.mark.parametrize("limit", range(2, 10))
def test_the_game_ends_at_the_occurrence_the_repetition_limit_names(limit: int) -> None:
    position = read(CHASE.replace("80,80", "81,79"), repetition_limit=limit).play_all(CHASE_ROUND * (limit - 1))
    assert (position.occurrences, label(position), position.scores, position.result) == (limit, "repetition", (82, 80), (1, -1))
    assert position.text == CHASE.replace("80,80", "81,79")
    assert read(CHASE, repetition_limit=limit).play_all((CHASE_ROUND * limit)[: 18 * (limit - 1) - 1]).end is None


@pytest.mark.parametrize("limit", [1, 2, 17, 18, 200, 2000])
def test_the_game_ends_at_the_quiet_ply_the_quiet_limit_names(limit: int) -> None:
    line = (CHASE_ROUND * 112)[:limit]
    position = read(CHASE, repetition_limit=0, quiet_limit=limit).play_all(line[:-1])
    assert (position.occurrences, position.end) == (1, None)
    position = position.play(line[-1])
    # After 17 plies both seeds lie on seat 1's side.
    scores, result = ((80, 82), (-1, 1)) if limit == 17 else ((81, 81), (0, 0))
    assert (label(position), position.scores, position.result) == ("quiet_limit", scores, result)


def test_with_a_limit_off_it_ends_nothing() -> None:
    assert read(CHASE, repetition_limit=0).play_all(CHASE_ROUND * 5).end is None
    position = read(f"{CHASE} ; quiet=5000", quiet_limit=0)
    assert (position.end, position.play("12").end) == (None, None)
    assert find_game(GAME).observation_bounds()[1][-3] == position.observation()[-3] == 2000


def test_the_ends_come_in_their_order() -> None:
    back = CHASE_ROUND * 2
    assert label(read(CHASE, repetition_limit=3, quiet_limit=36).play_all(back)) == "repetition"
    assert label(read(CHASE, repetition_limit=4, quiet_limit=36).play_all(back)) == "quiet_limit"
    assert label(read(CHASE.replace("1,", "0,", 1) + " ; quiet=1", quiet_limit=1)) == "no_moves"
    assert label(read("0,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0/81,81/-,-/0 ; quiet=1", quiet_limit=1)) == "even_split"


@pytest.mark.parametrize("options", [{"repetition_limit": 1}, {"repetition_limit": 10}, {"repetition_limit": -1}, {"speed": 3}])
@pytest.mark.parametrize("more", [{}, {"quiet_limit": 50}])
def test_an_option_out_of_range_is_refused(options: dict[str, int], more: dict[str, int]) -> None:
    for start in (envs.start, lambda game, **given: VectorGames(game, 2, **given), lambda _, **given: read(START, **given)):
        with pytest.raises(BadOption, match=next(iter(options))) as refusal:
            start(GAME, **options, **more)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("value", [-1, 2001, 1.0, True, None, "x", "1_0", ""])
def test_a_quiet_limit_out_of_range_is_refused(value: Any) -> None:
    with pytest.raises(BadOption, match="quiet_limit must be 0"):
        envs.start(GAME, quiet_limit=value)


def test_limits_that_are_both_off_are_refused_and_no_quiet_limit_in_a_batch() -> None:
    with pytest.raises(BadOption, match="might never end"):
        envs.start(GAME, repetition_limit=0, quiet_limit=0)
    with pytest.raises(BadOption, match="quiet_limit=0"):
        VectorGames(GAME, 2, quiet_limit=0)
    assert envs.start(GAME).options == vars(STANDARD)


# Observation


@pytest.mark.jit_off
def test_the_observation_is_as_its_fields_say() -> None:
    position = read("9,0,3,0,0,0,1,0,19/4,0,0,2,0,0,0,1,1/61,60/5,2/1 ; quiet=11")
    expected = {
        "own_holes": [4, 0, 0, 2, 0, 0, 0, 1, 1],
        "other_holes": [9, 0, 3, 0, 0, 0, 1, 0, 19],
        "own_store": [60],
        "other_store": [61],
        "own_tuzdyk": [2],
        "other_tuzdyk": [5],
        "quiet": [11],
        "occurrences": [1],
        "to_move": [1],
    }
    numbers = iter(position.observation(1).tolist())
    assert {field.name: [next(numbers) for _ in range(field.size)] for field in find_game(GAME).observation} == expected
    assert position.observation(0).tolist()[18:] == [61, 60, 5, 2, 11, 1, 0]
    assert position.observation().tolist() == position.observation(1).tolist()


def test_both_seats_see_the_same_on_a_turned_board() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        text = in_engine(random_state(rng, int(rng.integers(1, 163)), STANDARD, random_tuzdyks(rng))).text
        position, other = read(text), read(turned(text))
        for player in range(2):
            np.testing.assert_array_equal(position.observation(player), other.observation(1 - player))
        assert position.legal_moves() == other.legal_moves()
        for action in position.legal_actions():
            assert other.play(action).text == turned(position.play(action).text)
            assert other.play(action).scores == position.play(action).scores[::-1]


def test_the_observation_tells_the_occurrences_and_that_nobody_is_to_move_after_the_end() -> None:
    position = read(CHASE)
    for occurrences in (1, 2, 3):
        assert position.observation()[-2] == position.occurrences == occurrences
        position = position if position.end else position.play_all(CHASE_ROUND)
    assert [position.observation(player)[-1] for player in range(2)] == [0, 0]


# Moves


@pytest.mark.jit_off
def test_a_move_is_read_in_full_without_its_suffix_by_its_hole_or_as_an_action() -> None:
    moves: list[Any] = ["76(10)", "76", "7", 6, np.int64(6)]
    for move in moves:
        assert envs.start(GAME).play(move).last_move == "76(10)"
    for spelling in ("91X", "91", "9"):
        assert read("20,0,0,0,0,0,0,0,1/2,0,1,0,0,0,0,0,0/69,69/-,-/0").play(spelling).last_move == "91X"


MOVES = ["", " ", "0", "77", "75(10)", "76X", "76x", "76(9)", "76(010)", "76()", "76(10", "76(10)X", "76(10) ", "19X", "19(0)"]
MOVES += ["7(10)", "7X", "10", "a", "-1", "\N{FULLWIDTH DIGIT SEVEN}", "\N{SUPERSCRIPT TWO}", "76(10)\n", "7\x00", "1,9", "7 6"]


@pytest.mark.parametrize("move", [*MOVES, -1, 9, True, 6.0, None])
def test_a_wrong_move_is_refused_naming_the_legal_ones(move: Any) -> None:
    with pytest.raises(IllegalMove, match=r"seat 0 may play 19 \(0\), 21\(10\) \(1\), 32\(10\) \(2\)") as refusal:
        envs.start(GAME).play(move)
    assert "\n" not in str(refusal.value)


def test_an_empty_hole_and_a_tuzdyk_are_no_moves_and_nothing_is_after_the_end() -> None:
    position = read("1,0,5,0,0,0,0,0,0/1,1,1,0,0,0,0,0,0/75,75/4,2/0")
    assert (position.legal_actions(), position.play("1").legal_actions()) == ([0, 2], [0, 1, 2])
    for move in ("2", 1, "23"):
        with pytest.raises(IllegalMove, match=r"may play 12 \(0\), 37 \(2\)$"):
            position.play(move)
    with pytest.raises(IllegalMove, match="the game is over \\(majority\\)"):
        read("5,0,0,0,0,0,0,0,0/5,0,0,0,0,0,0,0,0/82,70/-,-/0").play("1")


def test_any_other_text_is_an_illegal_move() -> None:
    rng, start = random.Random(3), envs.start(GAME)
    legal = {spelling for move in start.legal_moves() for spelling in (move, move[:2], move[0])}
    for _ in range(1500):
        text = "".join(rng.choices("123456789X()01", k=rng.randint(0, 7)))
        if text in legal:
            assert start.play(text).last_move in start.legal_moves()
        else:
            with pytest.raises(IllegalMove):
                start.play(text)


# Texts


@pytest.mark.jit_off
def test_the_full_text_of_the_start_tells_options_and_counters() -> None:
    assert envs.start(GAME).full_text == FULL_START
    assert Position.from_text(GAME, FULL_START) == envs.start(GAME) == Position.from_text(GAME, f"  {START};quiet=0\n")


def test_the_full_text_tells_the_last_move_and_the_history() -> None:
    position = envs.start(GAME, repetition_limit=5, quiet_limit=20).play_all("1 19")
    board, details = position.full_text.split(" ; ")
    assert board == "1,10,10,10,10,10,10,10,10/1,10,10,10,10,10,10,10,10/0,0/-,-/0"
    given = dict(detail.split("=") for detail in details.split())
    assert len(set(given.pop("history").split(","))) == 2
    assert given == {"repetition_limit": "5", "quiet_limit": "20", "quiet": "2", "ply": "2", "last": "19"}


@pytest.mark.parametrize("text", [START, CHASE, FED, TURNABLE, RULES["162 seeds go round nine times"][0]])
def test_a_short_text_reads_back_as_it_is_written_without_a_past(text: str) -> None:
    position = read(text)
    assert (position.text, position.last_move, position.occurrences, position.ply) == (text, None, 1, 0)
    assert read(position.full_text) == position


def test_a_full_text_reads_back_all_along_random_games() -> None:
    rng = np.random.default_rng(4)
    for seeds in (3, 4, 5, 6, 30, 100, 162):
        position = in_engine(random_state(rng, seeds, Options(3, 100)))
        while not position.end:
            position = position.play(int(rng.choice(position.legal_actions())))
            again = read(position.full_text)
            assert (again, again.occurrences, again.end, again.last_move) == (
                position,
                position.occurrences,
                position.end,
                position.last_move,
            )


def test_a_text_in_mid_chase_goes_on_to_the_same_repetition() -> None:
    line = CHASE_ROUND * 2
    for plies in range(36):
        position = read(read(CHASE).play_all(line[:plies]).full_text).play_all(line[plies:])
        assert (label(position), position.occurrences) == ("repetition", 3)


def test_only_a_loose_reader_takes_a_board_with_too_few_seeds() -> None:
    text = START.replace("9", "8", 1)
    assert read(text).text == text
    with pytest.raises(BadText, match=r"162 seeds.* has 161"):
        Position.from_text(GAME, text)


BOARDS = {
    "nothing": "",
    "a word": "start",
    "no side": START[:-2],
    "an empty side": START[:-1],
    "side 2": START[:-1] + "2",
    "a letter as side": START[:-1] + "S",
    "two sides": START + "1",
    "eight holes": START[2:],
    "ten holes": "0," + START,
    "one row": "9,9,9,9,9,9,9,9,9/0,0/-,-/0",
    "no stores": START.replace("/0,0", ""),
    "one store": START.replace("0,0", "0"),
    "no tuzdyks": START.replace("/-,-", ""),
    "one tuzdyk": START.replace("-,-", "-"),
    "three tuzdyks": START.replace("-,-", "-,-,-"),
    "tuzdyk 9": START.replace("-,-", "9,-"),
    "tuzdyk 0": START.replace("-,-", "-,0"),
    "equal tuzdyks": "0,9,9,9,9,9,9,9,9/0,9,9,9,9,9,9,9,9/9,9/1,1/0",
    "seeds in a tuzdyk": START.replace("-,-", "3,-"),
    "seeds in the other tuzdyk": "9,9,9,9,9,9,9,9,9/0,9,9,9,9,9,9,9,9/9,0/1,3/0",
    "an empty hole": "," + START[2:],
    "a negative hole": START.replace("9,9", "-9,27", 1),
    "a sign": "+" + START,
    "a fraction": START.replace("9", "9.0", 1),
    "an underscore": START.replace("9,9", "1_8,0", 1),
    "blanks between": START.replace(",", ", "),
    "a line break": START.replace("/", "/\n", 1),
    "a trailing slash": START + "/",
    "trailing text": START + " x",
    "dashes": START.replace(",", "-"),
    "Arabic digits": START.replace("9", "\N{ARABIC-INDIC DIGIT NINE}"),
    "fullwidth digits": START.replace("9", "\N{FULLWIDTH DIGIT NINE}", 1),
    "superscript digits": START.replace("9", "\N{SUPERSCRIPT TWO}", 1),
    "another dash": START.replace("-", "\N{EN DASH}"),
    "four digits": START.replace("9", "0009", 1),
    "one seed too many": START.replace("0,0", "1,0"),
    "999 everywhere": START.replace("9", "999"),
    "a huge store": START.replace("0,0", "99999999999999999999,0"),
}
DETAILS = {
    "nothing after the semicolon": "",
    "an unknown name": "speed=3",
    "a name alone": "quiet",
    "a negative quiet": "quiet=-1",
    "a huge quiet": "quiet=99999999",
    "more quiet than its limit": "quiet=201",
    "more quiet than a limit given": "quiet=6 quiet_limit=5",
    "more quiet than plies": "quiet=3 ply=2",
    "a word as ply": "ply=x",
    "quiet twice": "quiet=3 quiet=3",
    "a second semicolon": "quiet=3 ; ply=4",
    "no history after its sign": "quiet=3 history=",
    "a word as history": "quiet=3 history=start",
    "a key of 80 bits": "quiet=3 history=ffffffffffffffffffff",
    "a longer history than quiet": "quiet=1 history=1,2",
    "a history without repetition": "quiet=3 repetition_limit=0 history=1",
    "no last move": "last=",
    "a hole as last move": "last=9",
    "a store of none": "last=98(0)",
    "an open bracket": "last=98(10",
    "two suffixes": "last=98(10)X",
    "hole 0": "last=08",
    "an unknown last move": "last=A",
    "last twice": "last=98 last=98",
    "a repetition limit of 1": "repetition_limit=1",
    "both limits off": "repetition_limit=0 quiet_limit=0",
}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("what", BOARDS)
def test_a_malformed_board_is_refused(what: str, strict: bool) -> None:
    with pytest.raises(BadText, match=r"board|tuzdyk") as refusal:
        Position.from_text(GAME, BOARDS[what], strict=strict)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("what", DETAILS)
def test_a_malformed_detail_is_refused(what: str) -> None:
    with pytest.raises((BadText, BadOption)) as refusal:
        Position.from_text(GAME, f"{START} ; {DETAILS[what]}")
    assert "\n" not in str(refusal.value)


def test_an_option_that_contradicts_the_text_is_refused() -> None:
    text = f"{START} ; quiet_limit=50"
    assert Position.from_text(GAME, text, quiet_limit=50).options["quiet_limit"] == 50
    with pytest.raises(BadText, match=r"quiet_limit=50.*quiet_limit=51"):
        Position.from_text(GAME, text, quiet_limit=51)


@pytest.mark.parametrize("begin", [START, FULL_START, read, TURNABLE])
def test_a_text_with_random_changes_is_read_or_refused(begin: Any) -> None:
    text = begin if isinstance(begin, str) else read(CHASE).play_all(CHASE_ROUND).full_text
    rng, refusals = random.Random(5), list[str]()
    for _ in range(1500):
        letters = list(text)
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(letters))
            letters[place : place + rng.randint(0, 2)] = rng.choices("0123456789,/-;=X() \nabqly_\u0664", k=rng.randint(0, 2))
        try:
            position = read("".join(letters))
        except (BadText, BadOption) as refusal:
            refusals.append(str(refusal))
        else:
            assert read(position.full_text) == position
            assert all(position.play(move).ply == position.ply + 1 for move in position.legal_moves())
    assert len(refusals) > 300
    assert not any("\n" in refusal for refusal in refusals)


@pytest.mark.parametrize("move", ["98(10)", "98"])
def test_a_last_move_is_read_and_told(move: str) -> None:
    board = "9,9,9,9,9,9,9,9,1/10,10,10,10,10,10,10,0,9/10,0/-,-/1"
    assert Position.from_text(GAME, f"{board} ; ply=1 last={move}").last_move == move


def test_the_last_seeds_hole_is_known_again_from_the_text_of_a_move_that_took_nothing() -> None:
    board = "0,0,0,0,0,0,0,0,10/8,8,8,8,8,8,8,8,8/40,40/-,-/0"
    position = Position.from_text(GAME, board, strict=False).play("9")
    assert position.last_move == "99"
    assert Position.from_text(GAME, position.full_text, strict=False).draw() == position.draw()


# History


def key_of(holes: tuple[int, ...]) -> int:
    """The key that a history holds for a board."""
    row = np.zeros(rules.ROW, np.int64)
    row[rules.HOLES : rules.HOLES + 18] = holes
    return int(rules.board_key(row))


@pytest.mark.jit_off
def test_the_keys_are_the_ones_in_the_full_text() -> None:
    position = read(CHASE).play_all(CHASE_ROUND[:2])
    boards = [read(CHASE), read(CHASE).play(CHASE_ROUND[0])]
    keys = [key_of(tuple(board.observation(0)[:18])) % 2**64 for board in boards]
    assert position.full_text.endswith(" history=" + ",".join(f"{key:x}" for key in keys))


@pytest.mark.parametrize("seeds", range(5))
def test_keys_of_all_boards_with_few_seeds_are_different(seeds: int) -> None:
    bars = combinations(range(seeds + 17), 17)
    boards = [tuple(right - left - 1 for left, right in pairwise((-1, *some, seeds + 17))) for some in bars]
    assert len({key_of(holes) for holes in boards}) == len(boards)


def test_keys_of_many_random_boards_are_different() -> None:
    rng = np.random.default_rng(6)
    boards = {tuple(rng.multinomial(162, rng.dirichlet(np.full(18, 2))).tolist()) for _ in range(40_000)}
    assert len({key_of(holes) for holes in boards}) == len(boards) > 39_000


def test_a_position_that_recurs_in_play_has_seen_every_hole_sown_and_no_tuzdyk() -> None:
    rng, recurrences = np.random.default_rng(7), 0
    for seeds in [*range(2, 9)] * 40:
        state = random_state(rng, seeds, Options(0, 150))
        seen, sown = {toguz.position_of(state): 0}, list[int]()
        while state.end is None:
            following = [(action, toguz.play(state, action)) for action in rng.permutation(toguz.legal(state)).tolist()]
            action, child = next((one for one in following if one[1].quiet and one[1].end != "no_moves"), following[0])
            sown.append(9 * state.mover + action)
            state, now = child, toguz.position_of(child)
            if now in seen:
                recurrences += 1
                assert set(sown[seen[now] :]) == set(range(18))
                assert state.tuzdyks == (None, None)
            seen[now] = len(sown)
    assert recurrences > 500


# Every count


@pytest.mark.parametrize("seeds", [*range(1, 40), 54, 55, 72, 90, 91, 108, 144, 161, 162])
def test_a_hole_with_any_number_of_seeds_is_sown_as_in_the_twin(seeds: int) -> None:
    for hole in range(18):
        for tuzdyks in ((None, None), (9, None), (16, 2), (None, 3)):
            if hole not in tuzdyks:
                holes = tuple(seeds * (other == hole) for other in range(18))
                state = toguz.position(holes, (0, 0), tuzdyks, hole // 9)
                child, played = toguz.play(state, hole % 9), in_engine(state).play(hole % 9)
                assert (played.text, label(played), played.last_move) == (toguz.to_text(child), child.end, child.move)
