"""Uisge in the engine: its rules sentence by sentence, figures known from elsewhere, its texts, observation and history."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import envs
import uisge_figures as figures
from envs import BadOption, BadText, IllegalMove, Position, VectorGames
from envs.games import find_game
from envs.games.uisge import rules
from reference import uisge
from reference.uisge import STANDARD, Board, Options, State
from uisge_boards import (
    BOTH_STUCK_NEXT,
    RULES,
    SHUTTLE,
    SHUTTLE_ROUND,
    START,
    engine_options,
    in_engine,
    random_board,
    random_state,
    turned,
)

pytestmark = pytest.mark.bounds

FULL_START = f"{START} ; repetition_limit=3 move_limit=400 no_move=loses diagonal_jumps=False ply=0"
SIXTH_KING = "1Sn4/1Sn4/1Sn4/1Sn4/1Sn4/1sn4 s"  # b1-d1x turns it
STUCK = "5s1/4nss/2snnn1/3n1N1/3s1s1/7 s"  # South has no move here, North has
BOTH_STUCK = "7/7/7/7/7/snsnsn1 s"
ONLY_STALEMATE = "3nsnn/1nnSs1s/3n3/2ss3/7/7 s"  # c3-e3x leaves North stuck, and there is no other move
ONLY_KINGS_OR_STUCK = "7/7/sn5/nS5/S6/n6 s"  # every move leaves North stuck; a4-c4x makes the last king
KINGS_AND_STUCK = "7/7/7/7/nsn4/nSS4 s"  # b2-d2x makes the last king and leaves North stuck
RING = "7/1nnnnn1/1n3n1/1n1{}1n1/1n1n1n1/1nnnnn1 s"


def read(text: str, **options: Any) -> Position:
    return Position.from_text("uisge", text, strict=False, **options)


def label(position: Position) -> str | None:
    return position.end.label if position.end else None


def board_of(position: Position) -> Board:
    return uisge.from_text(position.text, strict=False).board


def outcome(position: Position) -> tuple[str | None, tuple[int, int] | None]:
    return label(position), position.result


def lines_by_depth(state: State, deepest: int) -> tuple[int, ...]:
    """The twin's perft counts for depth 1 to the deepest; lines that meet in a position are counted there together."""
    counts = []
    layer = Counter({state: 1})
    for _ in range(deepest):
        following: Counter[State] = Counter()
        for one, lines in layer.items():
            for move in uisge.legal(one):
                child = uisge.play(one, move)
                following[uisge.position(child.board, child.mover, child.options, child.ply)] += lines
        layer = following
        counts.append(layer.total())
    return tuple(counts)


# Figures


@pytest.mark.parametrize("case", figures.uisge_perft(), ids=lambda case: f"{case.no_move}-{case.diagonal_jumps}")
def test_as_many_lines_lead_from_the_start_as_known_elsewhere(case: figures.UisgePerft) -> None:
    start = envs.start("uisge", no_move=case.no_move, diagonal_jumps=case.diagonal_jumps == "yes")
    assert tuple(start.perft(depth) for depth in range(1, len(case.counts) + 1)) == case.counts


@pytest.mark.parametrize("depth", [4, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("no_move", "diagonal_jumps"), RULES)
def test_as_many_lines_lead_from_the_start_as_in_the_twin(no_move: str, diagonal_jumps: str, depth: int) -> None:
    # Too short for a repetition.
    state = uisge.start(Options(no_move=no_move, diagonal_jumps=diagonal_jumps))
    counts = tuple(in_engine(state).perft(plies) for plies in range(1, depth + 1))
    assert counts == lines_by_depth(state, depth)


@pytest.mark.jit_off
@pytest.mark.parametrize("case", figures.uisge_perft(), ids=lambda case: f"{case.no_move}-{case.diagonal_jumps}")
def test_as_many_short_lines_lead_from_the_start_as_known_elsewhere(case: figures.UisgePerft) -> None:
    start = envs.start("uisge", no_move=case.no_move, diagonal_jumps=case.diagonal_jumps == "yes")
    assert tuple(start.perft(depth) for depth in range(1, 4)) == case.counts[:3]
    assert start.perft(0) == 1


def test_no_line_leads_from_a_finished_game() -> None:
    assert read(STUCK).perft(1) == 0 and read(STUCK).perft(0) == 1
    assert read(STUCK, no_move="pass").perft(1) == 1


@pytest.mark.parametrize(("repetition_limit", "move_limit"), [(2, 400), (2, 6), (0, 5), (3, 0)])
def test_lines_end_where_a_repetition_or_the_move_limit_ends_them(repetition_limit: int, move_limit: int) -> None:
    state = uisge.from_text("7/7/7/2Ss3/2nN3/7 s", Options(repetition_limit, move_limit), strict=False)
    layer, counts = [state], []
    for _ in range(5):
        layer = [uisge.play(one, move) for one in layer for move in uisge.legal(one)]
        counts.append(len(layer))
    assert [in_engine(state).perft(depth) for depth in range(1, 6)] == counts
    played = read(SHUTTLE, repetition_limit=2).play_all(list(SHUTTLE_ROUND[:2]))
    twin = uisge.from_text(SHUTTLE, Options(2), strict=False)
    for move in SHUTTLE_ROUND[:2]:
        twin = uisge.play(twin, move)
    after = [
        uisge.play(one, move) for one in [uisge.play(twin, move) for move in uisge.legal(twin)] for move in uisge.legal(one)
    ]
    assert played.perft(2) == len(after)
    assert played.perft(3) == sum(len(uisge.legal(one)) for one in after)


@pytest.mark.jit_off
@pytest.mark.parametrize("case", figures.uisge_positions(), ids=lambda case: case.name)
def test_a_single_position_has_the_moves_known_elsewhere(case: figures.UisgePosition) -> None:
    position = in_engine(uisge.position(case.board, case.mover))
    assert sorted(position.legal_moves()) == sorted(case.legal)
    assert (label(position) == "no_moves") == (case.legal == ())
    for move in case.illegal:
        with pytest.raises(IllegalMove):
            position.play(move)


@pytest.mark.jit_off
@pytest.mark.parametrize("no_move", uisge.NO_MOVE)
@pytest.mark.parametrize("line", figures.uisge_lines())
def test_a_line_leaves_a_seat_without_a_move_as_known_elsewhere(line: figures.UisgeLine, no_move: str) -> None:
    position = envs.start("uisge", no_move=no_move).play_all(list(line.moves[:-1]))
    if no_move == "wins":
        assert line.moves[-1] not in position.legal_moves() and position.legal_moves()
        with pytest.raises(IllegalMove):
            position.play(line.moves[-1])
        position = in_engine(uisge.position(line.board, line.stuck_seat, Options(no_move="wins")))
    else:
        position = position.play(line.moves[-1])
    assert (board_of(position), position.mover) == (line.board, line.stuck_seat)
    result = {"loses": (1, -1), "wins": (-1, 1), "draw": (0, 0), "pass": None}[no_move]
    assert outcome(position) == (None if no_move == "pass" else "no_moves", result)
    assert position.legal_moves() == (["pass"] if no_move == "pass" else [])


def test_the_start_is_as_known_elsewhere() -> None:
    known = figures.uisge_start()
    pieces = uisge.pieces_on(board_of(envs.start("uisge")))
    assert board_of(envs.start("uisge")) == known.board
    assert sorted(square for square, piece in pieces.items() if piece == "s") == sorted(known.south_squares)
    assert sorted(square for square, piece in pieces.items() if piece == "n") == sorted(known.north_squares)


# The rules' sentences

MOVES = {  # board, whether kings jump diagonally, where the moves begin, the moves
    "a jump leads over an own pawn": ("7/7/2s4/2sn3/7/7 s", False, "c4", "c4-c2x"),
    "a jump leads over an own king": ("7/7/2s4/2Sn3/7/7 s", False, "c4", "c4-c2x"),
    "a jump leads over another's pawn": ("7/7/2s4/2nn3/7/7 s", False, "c4", "c4-c2x"),
    "a jump leads over another's king": ("7/7/2s4/2Nn3/7/7 s", False, "c4", "c4-c2x"),
    "a jump does not lead over two": ("7/7/7/snn4/7/7 s", False, "a3", ""),
    "a jump does not lead over a gap": ("7/7/7/7/sns4/n1n4 s", False, "a2", ""),
    "a jump does not land on a piece": ("7/7/7/sns4/7/7 s", False, "a3", ""),
    "a jump does not lead off the board to the west": ("7/7/7/7/ns5/nn5 s", False, "b2", ""),
    "a jump does not lead off the board to the east": ("7/7/7/7/5sn/5nn s", False, "f2", ""),
    "a jump does not lead off the board to the north": ("5nn/5sn/7/7/7/7 s", False, "f5", ""),
    "a jump leads along the edge": ("7/7/7/7/5ns/5nn s", False, "", "g2-e2x"),
    "a king steps all round": (RING.format("S"), False, "", "d3-c4 d3-d4 d3-e4 d3-c3 d3-e3 d3-c2 d3-e2"),
    "a pawn does not step": (RING.format("s"), False, "", ""),
    "a step keeps the group": ("7/7/7/2Sn3/7/7 s", False, "", "c3-d4 c3-d2 c3-e3x"),
    "a jump keeps the group": ("7/7/7/2sss2/3n3/7 s", False, "", ""),
    "a king steps round a corner": ("7/7/7/7/7/Sn5 s", False, "", "a1-b2 a1-c1x"),
    "a king does not step round the edge": ("7/7/7/6n/6S/7 s", False, "", "g2-f3 g2-g4x"),
    "no diagonal jump": ("7/7/1nn4/2n4/1Sn4/7 s", False, "", "b2-b3 b2-c1 b2-d2x"),
    "a diagonal jump": ("7/7/1nn4/2n4/1Sn4/7 s", True, "", "b2-b3 b2-c1 b2-d2x b2-d4x"),
    "no diagonal jump of pawns": ("7/7/1nn4/2n4/1sn4/7 s", True, "", "b2-d2x"),
    "no diagonal jump that breaks the group": ("7/7/7/2n4/1Sn4/7 s", True, "", "b2-b3 b2-c1 b2-d2x"),
}


@pytest.mark.jit_off
@pytest.mark.parametrize("seats_exchanged", [False, True])
@pytest.mark.parametrize("what", MOVES)
def test_a_piece_moves_as_the_rules_say(what: str, seats_exchanged: bool) -> None:
    text, diagonal_jumps, origin, moves = MOVES[what]
    position = read(text, diagonal_jumps=diagonal_jumps)
    legal = {move for move in position.legal_moves() if move.startswith(origin)}
    assert legal == set(moves.split())
    if seats_exchanged:
        assert read(turned(text), diagonal_jumps=diagonal_jumps).legal_actions() == position.legal_actions()


@pytest.mark.parametrize("text", ["7/7/7/3S3/7/7 s", "7/7/7/3N3/7/7 n", "S6/7/7/7/7/7 s"])
def test_a_lone_king_is_one_group_wherever_it_steps(text: str) -> None:
    assert len(read(text).legal_moves()) == (3 if text.startswith("S") else 8)


ENDS: dict[str, Any] = {  # board, options, move, end and result, kings
    "all kings win": (SIXTH_KING, {}, "b1-d1x", ("all_kings", (1, -1)), (6, 0)),
    "North's win too": (turned(SIXTH_KING), {}, "f6-d6x", ("all_kings", (-1, 1)), (0, 6)),
    "five are not enough": (SIXTH_KING, {}, "b6-a5", (None, None), (5, 0)),
    "all kings before stuck": (KINGS_AND_STUCK, {"no_move": "wins"}, "b2-d2x", ("all_kings", (1, -1)), (3, 0)),
    "all kings before both stuck": (KINGS_AND_STUCK, {"no_move": "pass"}, "b2-d2x", ("all_kings", (1, -1)), (3, 0)),
    "all kings before the move limit": (SIXTH_KING, {"move_limit": 1}, "b1-d1x", ("all_kings", (1, -1)), (6, 0)),
    "all kings where the rest loses": (ONLY_KINGS_OR_STUCK, {"no_move": "wins"}, "a4-c4x", ("all_kings", (1, -1)), (3, 0)),
    "forced to stalemate": (ONLY_STALEMATE, {"no_move": "wins"}, "c3-e3x", ("no_moves", (-1, 1)), (2, 0)),
    "stuck loses": (ONLY_STALEMATE, {}, "c3-e3x", ("no_moves", (1, -1)), (2, 0)),
    "stuck draws": (ONLY_STALEMATE, {"no_move": "draw"}, "c3-e3x", ("no_moves", (0, 0)), (2, 0)),
    "stuck passes": (ONLY_STALEMATE, {"no_move": "pass"}, "c3-e3x", (None, None), (2, 0)),
    "stuck before the limit": (ONLY_STALEMATE, {"move_limit": 1}, "c3-e3x", ("no_moves", (1, -1)), (2, 0)),
    "a pass counts": (STUCK, {"no_move": "pass", "move_limit": 1}, "pass", ("move_limit", (0, 0)), (0, 1)),
    "the move limit draws": (START, {"move_limit": 1}, "d3-b3x", ("move_limit", (0, 0)), (1, 0)),
    "a jump turns a king": ("7/7/7/2S4/2nn3/3n3 s", {}, "c3-c1x", (None, None), (0, 0)),
}


@pytest.mark.jit_off
@pytest.mark.parametrize("what", ENDS)
def test_a_move_ends_the_game_as_the_rules_say(what: str) -> None:
    text, options, move, end, kings = ENDS[what]
    position = read(text, **options).play(move)
    assert (outcome(position), position.scores) == (end, kings)
    assert (position.legal_moves() == []) == (end != (None, None))


@pytest.mark.parametrize(("text", "move"), BOTH_STUCK_NEXT)
def test_where_neither_side_has_a_move_the_game_is_drawn_at_once(text: str, move: str) -> None:
    loser_moves = (1, -1) if text.endswith("s") else (-1, 1)
    for no_move, end in (
        ("pass", ("both_stuck", (0, 0))),
        ("loses", ("no_moves", loser_moves)),
        ("draw", ("no_moves", (0, 0))),
    ):
        played = read(text, no_move=no_move, diagonal_jumps=True).play(move)
        assert (outcome(played), played.legal_actions()) == (end, [])


@pytest.mark.parametrize(("no_move", "end"), [("pass", "both_stuck"), ("loses", "no_moves"), ("wins", "no_moves")])
def test_a_board_on_which_neither_side_has_a_move_is_a_finished_game(no_move: str, end: str) -> None:
    assert label(read(BOTH_STUCK, no_move=no_move)) == label(read(turned(BOTH_STUCK), no_move=no_move)) == end


def test_only_the_side_that_has_just_moved_wins_by_kings() -> None:
    assert outcome(read("7/7/2Nss2/2N4/7/7 s")) == ("all_kings", (-1, 1))
    assert outcome(read("7/7/2Nss2/2N4/7/7 n")) == (None, None)
    assert label(read("7/7/2nnn2/7/7/7 n")) != "all_kings", "a side without pieces has no kings"


def test_a_pass_is_legal_only_for_a_stuck_player_and_is_its_only_action() -> None:
    for no_move in uisge.NO_MOVE:
        with pytest.raises(IllegalMove):
            envs.start("uisge", no_move=no_move).play("pass")
    stuck = read(STUCK, no_move="pass")
    assert (stuck.legal_moves(), stuck.legal_actions()) == (["pass"], [rules.PASS])
    passed = stuck.play(rules.PASS)
    assert (passed.text, passed.ply, passed.last_move) == (f"{STUCK[:-1]}n", 1, "pass")
    assert "pass" not in passed.legal_moves()


@pytest.mark.parametrize("times", range(2, 10))
def test_a_position_that_occurs_as_often_as_the_limit_draws(times: int) -> None:
    position = read(SHUTTLE, repetition_limit=times)
    for occurrences in range(1, times + 1):
        assert position.observation()[43] == position.occurrences == occurrences
        assert (position.end is None) == (occurrences < times)
        position = position if position.end else position.play_all(list(SHUTTLE_ROUND))
    assert (outcome(position), position.ply) == (("repetition", (0, 0)), 4 * times - 4)


def test_a_repetition_comes_before_the_move_limit() -> None:
    line = list(SHUTTLE_ROUND) * 2
    assert label(read(SHUTTLE, move_limit=8).play_all(line)) == "repetition"
    assert label(read(SHUTTLE, move_limit=8, repetition_limit=4).play_all(line)) == "move_limit"
    assert label(read(SHUTTLE, move_limit=9, repetition_limit=0).play_all(line)) is None


def test_a_limit_of_0_is_off() -> None:
    position = read(f"{SHUTTLE} ; ply=399", move_limit=0, repetition_limit=9).play_all(list(SHUTTLE_ROUND))
    assert (position.ply, position.end) == (403, None)
    position = read(SHUTTLE, repetition_limit=0).play_all(list(SHUTTLE_ROUND) * 99)
    assert (position.ply, position.occurrences, position.end) == (396, 1, None)
    assert label(position.play_all(list(SHUTTLE_ROUND))) == "move_limit"


def test_the_earliest_repetition_and_move_limit_are_those_the_search_reckons_with() -> None:
    for limit, moves in ((2, 400), (3, 400), (9, 400), (0, 7), (3, 5)):
        row = read(SHUTTLE, repetition_limit=limit, move_limit=moves).to_arrays()[0]
        first = next(plies for plies in range(401) if rules.depends_on_past(row, plies))
        assert first == min(4 * (limit - 1) if limit else 400, moves)


# Batches


def test_random_actions_fall_evenly_on_all_legal_ones() -> None:
    for text, no_move in ((START, "loses"), (SHUTTLE, "wins"), (STUCK, "pass"), (turned(SHUTTLE), "draw")):
        position = read(text, no_move=no_move)
        games = VectorGames("uisge", 20_000, seed=1, no_move=no_move)
        games.load([position] * games.num_games)
        drawn = Counter(games.random_actions().tolist())
        share = games.num_games / len(position.legal_actions())
        assert sorted(drawn) == position.legal_actions()
        assert all(abs(count - share) < 6 * share**0.5 for count in drawn.values())


def test_a_batch_needs_a_move_limit() -> None:
    with pytest.raises(BadOption, match="move_limit=0"):
        VectorGames("uisge", 2, move_limit=0)


# Observation


def test_the_observation_is_as_its_fields_say() -> None:
    position = read("7/7/7/1sN4/1Sn4/1n5 n ; ply=7")
    south, north = position.observation(0).tolist(), position.observation(1).tolist()
    board = {1: 3, 8: 2, 9: 3, 15: 1, 16: 4}  # b1, b2, c2, b3, c3
    assert south == [board.get(square, 0) for square in range(42)] + [7, 1, 0]
    board = {40: 1, 33: 4, 32: 1, 26: 3, 25: 2}
    assert north == [board.get(square, 0) for square in range(42)] + [7, 1, 1]
    assert [field.name for field in find_game("uisge").observation] == ["board", "ply", "occurrences", "to_move"]


def test_both_seats_see_the_same_on_a_turned_board() -> None:
    rng = np.random.default_rng(2)
    for no_move, diagonal_jumps in RULES * 25:
        options = engine_options(Options(no_move=no_move, diagonal_jumps=diagonal_jumps))
        text = uisge.to_text(random_state(rng))
        position, other = read(text, **options), read(turned(text), **options)
        assert (other.mover, label(other)) == (1 - position.mover, label(position))
        for player in range(2):
            np.testing.assert_array_equal(position.observation(player), other.observation(1 - player))
        np.testing.assert_array_equal(position.action_mask(), other.action_mask())
        for action in position.legal_actions():
            one, two = position.play(action), other.play(action)
            assert (two.text, label(two)) == (turned(one.text), label(one))
            assert (two.result or ())[::-1] == (one.result or ())


def test_nobody_is_to_move_after_the_end() -> None:
    assert [read(STUCK).observation(player)[44] for player in range(2)] == [0, 0]


@pytest.mark.parametrize("ply", [1999, 2000, 2001, 32767, 40_000, 10**6])
def test_any_count_of_plies_is_shown_within_the_bounds(ply: int) -> None:
    low, high = find_game("uisge").observation_bounds()
    seen = read(f"{SHUTTLE} ; ply={ply}", move_limit=0).play("b4-a3").observation()
    assert (low <= seen).all() and (seen <= high).all()
    assert seen[42] == min(ply + 1, 2000)


# Texts


def test_the_full_text_of_the_start_tells_options_and_counters() -> None:
    assert envs.start("uisge").full_text == FULL_START
    assert Position.from_text("uisge", FULL_START) == envs.start("uisge")
    assert envs.start("uisge").options == engine_options(STANDARD)


def test_the_full_text_tells_the_last_move_and_the_history() -> None:
    position = read(SHUTTLE, repetition_limit=5, move_limit=20, no_move="wins", diagonal_jumps=True)
    position = position.play_all([*SHUTTLE_ROUND, SHUTTLE_ROUND[0]])
    board, details = position.full_text.split(" ; ")
    given = dict(detail.split("=") for detail in details.split())
    history = given.pop("history").split(",")
    assert board == "7/7/3n3/Sssn3/3N3/7 n"
    assert given == {
        "repetition_limit": "5",
        "move_limit": "20",
        "no_move": "wins",
        "diagonal_jumps": "True",
        "ply": "5",
        "last": "b4-a3",
    }
    assert len(history) == 5 and len(set(history)) == 4 and history[0] == history[4]
    again = Position.from_text("uisge", position.full_text, strict=False)
    assert again == position and again.occurrences == 2


def test_without_repetitions_no_history_is_told() -> None:
    assert "history" not in read(SHUTTLE, repetition_limit=0).play_all(list(SHUTTLE_ROUND)).full_text


def test_a_short_text_is_read_with_the_options_given_and_no_past() -> None:
    position = read(SHUTTLE, repetition_limit=2).play_all(list(SHUTTLE_ROUND))
    again = read(position.text, repetition_limit=2)
    assert (label(position), again.end, again.occurrences, again.last_move, again.ply) == ("repetition", None, 1, None, 0)


def test_a_text_in_mid_shuttle_goes_on_to_the_same_repetition() -> None:
    line = list(SHUTTLE_ROUND * 2)
    for plies in range(8):
        position = read(read(SHUTTLE).play_all(line[:plies]).full_text).play_all(line[plies:])
        assert (label(position), position.occurrences) == ("repetition", 3)


def test_only_a_loose_reader_takes_other_than_six_pieces_a_side() -> None:
    for text in (SHUTTLE, START.replace("2nn3", "2n4"), START.replace("7/2nn3", "2n4/2nn3"), "7/7/7/7/7/7 s"):
        assert read(text).text == text
        with pytest.raises(BadText, match="6 pieces"):
            Position.from_text("uisge", text)


@pytest.mark.parametrize("strict", [True, False])
def test_pieces_that_form_no_group_are_refused(strict: bool) -> None:
    for text in ("1n5/2n4/1nnnn2/2ssss1/3ss2/7 s", "s6/2nn3/1nnnn2/3sss1/3ss2/7 s", "2nn3/7/1nnnn2/2ssss1/3ss2/7 n"):
        with pytest.raises(BadText, match="one group"):
            Position.from_text("uisge", text, strict=strict)
    with pytest.raises(BadText, match="one group"):  # g1 and a2 are neighbours by number only
        read("7/7/7/7/s6/6s s")


BOARDS = {
    "nothing": "",
    "a word": "start",
    "no side": START[:-2],
    "no side after its blank": START[:-1],
    "a capital as side": START[:-1] + "S",
    "an unknown side": START[:-1] + "w",
    "two sides": START + "n",
    "two blanks": START.replace(" ", "  "),
    "a tab": START.replace(" ", "\t"),
    "a dash before the side": START.replace(" ", "-"),
    "the side first": "s " + START[:-2],
    "five rows": START[2:],
    "seven rows": "7/" + START,
    "an empty row": START.replace("7/", "/", 1),
    "a slash too many": "/" + START,
    "a slash at the end": START.replace(" ", "/ "),
    "eight squares": START.replace("2nn3", "2nn4"),
    "six squares": START.replace("2nn3", "2nn2"),
    "an eight": START.replace("7/", "8/", 1),
    "a nought": START.replace("2nn3", "02nn3"),
    "an unknown piece": START.replace("2nn3", "2nx3"),
    "points": START.replace("2nn3", "..nn..."),
    "a minus": START.replace("2nn3", "-2nn3"),
    "blanks in a row": START.replace("2nn3", "2 nn3"),
    "a line break": START.replace("2nn3/", "2nn3/\n"),
    "two texts": f"{START} {START}",
    "trailing text": f"{START} x",
    "Arabic digits": START.replace("2nn3", "\N{ARABIC-INDIC DIGIT TWO}nn3"),
    "fullwidth digits": START.replace("2nn3", "\N{FULLWIDTH DIGIT TWO}nn3"),
    "superscript digits": START.replace("2nn3", "\N{SUPERSCRIPT TWO}nn3"),
    "a long s": START.replace("3ss2", "3\N{LATIN SMALL LETTER LONG S}s2"),
    "another slash": START.replace("/", "\N{FRACTION SLASH}"),
}
DETAILS = {
    "nothing after the semicolon": "",
    "an unknown name": "quiet=3",
    "a name alone": "ply",
    "a value alone": "=3",
    "another case": "Ply=3",
    "blanks around the sign": "ply = 3",
    "a comma between": "ply=3,last=pass",
    "a second semicolon": "ply=3 ; last=pass",
    "no ply": "ply=",
    "a negative ply": "ply=-1",
    "a fractional ply": "ply=1.0",
    "Arabic digits in ply": "ply=\N{ARABIC-INDIC DIGIT FOUR}",
    "a huge ply": "ply=99999999",
    "more plies than the limit": "ply=401",
    "more plies than a limit given": "ply=6 move_limit=5",
    "ply twice": "ply=3 ply=3",
    "an option twice": "move_limit=50 move_limit=50",
    "no history after its sign": "ply=3 history=",
    "a word as history": "ply=3 history=start",
    "a comma too many": "ply=3 history=1,",
    "a signed key": "ply=3 history=-1",
    "a prefixed key": "ply=3 history=0x1",
    "a key of 80 bits": "ply=3 history=ffffffffffffffffffff",
    "a longer history than ply": "ply=1 history=1,2",
    "a history without plies": "history=1",
    "a history without repetition": "ply=3 repetition_limit=0 history=1",
    "no last move after its sign": "last=",
    "an unknown last move": "last=h1-h3x",
    "a number as last move": "last=0",
    "a last move that is no line": "last=a1-b4x",
    "a last jump as far as a step": "last=a1-a2x",
    "a last step as far as a jump": "last=a1-a3",
    "a last jump round the edge to the east": "last=g1-a2x",
    "a last jump round the edge to the west": "last=a2-g1x",
    "a last jump round the edge to the north-west": "last=a1-g2x",
    "a last jump round the edge to the north-east": "last=g1-a4x",
    "a last move in capitals": "last=A1-A3X",
    "a last move that stays": "last=a1-a1",
}
OPTIONS: dict[str, dict[str, Any]] = {
    "a repetition limit of 1": {"repetition_limit": 1},
    "a repetition limit of 10": {"repetition_limit": 10},
    "a negative repetition limit": {"repetition_limit": -1},
    "a move limit of 2001": {"move_limit": 2001},
    "a negative move limit": {"move_limit": -1},
    "both limits off": {"repetition_limit": 0, "move_limit": 0},
    "an unknown rule": {"no_move": "ends"},
    "a rule in capitals": {"no_move": "LOSES"},
    "diagonal jumps perhaps": {"diagonal_jumps": "perhaps"},
    "diagonal jumps as the twin names them": {"diagonal_jumps": "yes"},
    "diagonal jumps as a number": {"diagonal_jumps": 1},
    "a truth value as limit": {"move_limit": True},
    "a fraction as limit": {"move_limit": 3.5},
    "an unknown option": {"quiet_limit": 3},
}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("what", BOARDS)
def test_a_malformed_board_is_refused(what: str, strict: bool) -> None:
    with pytest.raises(BadText, match="board") as refusal:
        Position.from_text("uisge", BOARDS[what], strict=strict)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("what", DETAILS)
def test_a_malformed_detail_is_refused(what: str) -> None:
    with pytest.raises(BadText) as refusal:
        Position.from_text("uisge", f"{START} ; {DETAILS[what]}")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("what", OPTIONS)
def test_a_bad_option_is_refused(what: str) -> None:
    options = OPTIONS[what]
    with pytest.raises(BadOption) as refusal:
        envs.start("uisge", **options)
    assert "\n" not in str(refusal.value)
    details = " ".join(f"{name}={value}" for name, value in options.items())
    if what not in ("a truth value as limit", "diagonal jumps as a number"):
        with pytest.raises((BadText, BadOption)):
            Position.from_text("uisge", f"{START} ; {details}")


@pytest.mark.parametrize(("given", "value"), [("true", True), ("False", False), (np.True_, True)])
def test_a_switch_is_taken_as_text_too(given: object, value: bool) -> None:
    assert envs.start("uisge", diagonal_jumps=given).options["diagonal_jumps"] is value


def test_an_option_that_contradicts_the_text_is_refused() -> None:
    with pytest.raises(BadText, match=r"move_limit=50.*move_limit=51"):
        Position.from_text("uisge", f"{START} ; move_limit=50", move_limit=51)
    assert Position.from_text("uisge", f" {START};ply=0\n") == envs.start("uisge")


@pytest.mark.parametrize("strict", [True, False])
def test_random_changes_to_a_text_are_read_or_refused_in_one_line(strict: bool) -> None:
    rng = random.Random(3)
    whole = (
        read(SHUTTLE).play_all(list(SHUTTLE_ROUND)).full_text if not strict else envs.start("uisge").play("d3-b3x").full_text
    )
    for _ in range(4000):
        letters = list(whole if rng.random() < 0.7 else START)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(letters))
            letters[place : place + rng.randint(0, 2)] = rng.choices(
                "sSnN1234567/ ;=,-x09abc\n\0\N{SUPERSCRIPT TWO}é", k=rng.randint(0, 2)
            )
        position = read_or_refusal("".join(letters), strict)
        if isinstance(position, str):
            assert "\n" not in position
        else:
            assert Position.from_text("uisge", position.full_text, strict=strict) == position


def read_or_refusal(text: str, strict: bool) -> Position | str:
    """The position, or why the text is refused."""
    try:
        return Position.from_text("uisge", text, strict=strict)
    except (BadText, BadOption) as refusal:
        return str(refusal)


# Moves as text and as numbers

WRONG = ["", " ", "0", "142", "d3b3x", "d3xb3", "d3-b3", "D3-B3X", "d3-b3X", " d3-b3x", "d3-b3x ", "d3-b3xx", "d3-d5x", "d3-d4"]
WRONG += [
    "pass",
    "Pass",
    "d5-b5x",
    "a1-a2",
    "d3",
    "x",
    "d3-b3x d5-b5x",
    "d3\N{EN DASH}b3x",
    "d3-b3x\n",
    "\N{FULLWIDTH DIGIT ONE}",
]


@pytest.mark.jit_off
@pytest.mark.parametrize("move", [*WRONG, -1, 337, 336, 0, True, 142.0, None, np.int64(143)])
def test_a_wrong_move_is_refused_with_the_legal_ones(move: Any) -> None:
    with pytest.raises(IllegalMove) as refusal:
        envs.start("uisge").play(move)
    for text, action in (("d2-f2x", 82), ("e2-c2x", 94), ("d3-d1x", 140), ("d3-b3x", 142)):
        assert f"{text} ({action})" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_move_after_the_end_is_refused() -> None:
    for move in ("pass", "d3-b3x", 336):
        with pytest.raises(IllegalMove, match=r"over \(no_moves\)"):
            read(STUCK).play(move)


def test_moves_have_the_numbers_and_the_order_of_the_twin() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        state = random_state(rng, Options(no_move="pass", diagonal_jumps="yes"))
        position = in_engine(state)
        assert position.legal_actions() == [uisge.action(move, state.mover) for move in uisge.legal(state)]
        for move, action in zip(position.legal_moves(), position.legal_actions(), strict=True):
            of_numpy: Any = np.int16(action)
            assert position.play(move) == position.play(action) == position.play(of_numpy)


@pytest.mark.parametrize("seat", [0, 1])
def test_every_move_that_can_have_led_to_a_board_is_read_as_its_last_move(seat: int) -> None:
    count = 0
    for square in uisge.SQUARES:
        for _, near, far in uisge.WAYS[0][square]:
            for move, target in ((f"{square}-{near}", near), (f"{square}-{far}x", far)):
                if target:
                    board = uisge.to_text(uisge.position(uisge.board_of({target: "SN"[seat]}), 1 - seat))
                    assert read(f"{board} ; last={move}").last_move == move
                    count += 1
    assert count > 400


@pytest.mark.parametrize("move", ["d3-b3x", "c3-d3", "b3-d3x", "d4-c4", "pass", "g1-a2x", "a2-g1x"])
def test_a_move_that_cannot_have_led_to_the_board_is_refused_as_its_last_move(move: str) -> None:
    with pytest.raises(BadText, match="no move that can have led here"):
        read(f"{START} ; last={move}")


# History


def key_of(board: Board) -> int:
    """The key that a history holds for a board."""
    return int(rules.position_hash(in_engine(uisge.position(board, 0, Options(no_move="pass"))).to_arrays()[0]))


def test_keys_of_many_random_boards_are_different() -> None:
    rng = np.random.default_rng(5)
    boards = {random_board(rng, *(int(count) for count in rng.integers(1, 7, 2))) for _ in range(20_000)}
    assert len({key_of(board) for board in boards}) == len(boards) > 15_000


def test_hashes_tell_the_mover_and_every_piece_on_every_square() -> None:
    hashes = set()
    for square in uisge.SQUARES:
        for piece in "sSnN":
            for side in range(2):
                row = in_engine(uisge.position(uisge.board_of({square: piece}), side)).to_arrays()[0]
                hashes.add(int(rules.position_hash(row)))
    assert len(hashes) == 42 * 4 * 2


def test_the_key_is_the_one_in_the_full_text() -> None:
    position = read(SHUTTLE).play("b4-a3")
    assert position.full_text.endswith(f"history={key_of(board_of(read(SHUTTLE))) % 2**64:x}")
