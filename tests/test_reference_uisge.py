"""The slow twin of Uisge keeps every sentence of the rules, and its figures."""

from __future__ import annotations

import random
from dataclasses import FrozenInstanceError, replace

import pytest

import uisge_figures as figures
from reference import uisge
from reference.uisge import STANDARD, Options, State

PASSING = Options(no_move="pass")
WINNING = Options(no_move="wins")
START_TEXT = "7/2nn3/1nnnn2/2ssss1/3ss2/7 s"
SIXTH_KING = "1Sn4/1Sn4/1Sn4/1Sn4/1Sn4/1sn4 s"  # b1-d1x turns it
STUCK = "5s1/4nss/2snnn1/3n1N1/3s1s1/7 s"  # South has no move here, North has
BOTH_STUCK_NEXT = "7/7/7/6S/6n/snsnsn1 s"  # g3-g1x leaves neither side a move
ONLY_KINGS_OR_STUCK = "7/7/sn5/nS5/S6/n6 s"  # every move leaves North stuck; a4-c4x makes the last king


def read(text: str, options: Options = STANDARD) -> State:
    return uisge.from_text(text, options, strict=False)


def after(*moves: str, options: Options = STANDARD) -> State:
    state = uisge.start(options)
    for move in moves:
        state = uisge.play(state, move)
    return state


def moves_of(state: State, origin: str) -> set[str]:
    return {move for move in uisge.legal(state) if move.startswith(origin)}


def perft(state: State, depth: int) -> int:
    moves = uisge.legal(state)
    if depth == 1:
        return len(moves)
    return sum(perft(uisge.play(state, move), depth - 1) for move in moves)


# The board


def test_each_player_has_six_pieces_and_all_start_as_pawns_with_south_to_move() -> None:
    state, known = uisge.start(), figures.uisge_start()
    pieces = uisge.pieces_on(state.board)
    assert state.board == known.board
    assert {square for square, piece in pieces.items() if piece == "s"} == set(known.south_squares)
    assert {square for square, piece in pieces.items() if piece == "n"} == set(known.north_squares)
    assert (len(pieces), state.mover, state.ply, uisge.scores(state)) == (12, 0, 0, (0, 0))


# A move


@pytest.mark.parametrize("jumped", "sSnN")
def test_a_jump_leads_straight_over_one_neighbouring_piece_of_either_colour(jumped: str) -> None:
    state = read(f"7/7/2s4/2{jumped}n3/7/7 s")
    assert moves_of(state, "c4") == {"c4-c2x"}


def test_a_jump_does_not_lead_over_two_pieces_nor_over_a_gap() -> None:
    assert moves_of(read("7/7/7/snn4/7/7 s"), "a3") == set()
    assert moves_of(read("7/7/7/7/s1n4/nnn4 s"), "a2") == set()


def test_a_jump_needs_the_square_right_behind_on_the_board() -> None:
    assert uisge.legal(read("7/7/7/7/5ns/5nn s")) == ["g2-e2x"]
    assert uisge.legal(read("7/7/7/7/4nns/5nn s")) == []
    assert uisge.legal(read("ss5/ns5/7/7/7/7 n")) == ["a5-c5x"]


@pytest.mark.parametrize(("piece", "turned"), ["sS", "Ss"])
def test_a_jump_turns_the_piece_over_and_leaves_the_one_it_jumped(piece: str, turned: str) -> None:
    state = uisge.play(read(f"7/7/2s4/1{piece}n4/7/7 s"), "b3-d3x")
    assert uisge.to_text(state) == f"7/7/2s4/2n{turned}3/7/7 n"


def test_a_king_steps_to_all_eight_free_neighbours_and_stays_a_king() -> None:
    state = read("7/1nnnnn1/1n3n1/1n1S1n1/1n3n1/1nnnnn1 s")
    steps = {f"d3-{square}" for square in ("c4", "d4", "e4", "c3", "e3", "c2", "d2", "e2")}
    assert set(uisge.legal(state)) == steps
    assert {uisge.scores(uisge.play(state, step)) for step in steps} == {(1, 0)}


def test_a_pawn_does_not_step() -> None:
    assert uisge.legal(uisge.start()) == ["d2-f2x", "e2-c2x", "d3-d1x", "d3-b3x"]
    assert uisge.legal(read("7/1nnnnn1/1n3n1/1n1s1n1/1n3n1/1nnnnn1 s")) == []


def test_a_move_that_breaks_the_group_is_illegal() -> None:
    state = read("7/7/7/2sss2/3n3/7 s")
    assert uisge.legal(state) == [] and state.end == "no_moves"
    with pytest.raises(ValueError, match="not legal"):
        uisge.play(state, "c3-e3x")


def test_pieces_that_touch_only_at_a_corner_are_no_group() -> None:
    assert moves_of(read("7/7/7/2Sn3/7/7 s"), "c3") == {"c3-d4", "c3-d2", "c3-e3x"}


def test_only_the_position_after_the_move_counts() -> None:
    apart = read("7/7/7/1s5/S6/1n5 s")
    assert moves_of(apart, "a2") == {"a2-b2"}
    assert uisge.to_text(uisge.play(apart, "a2-b2")) == "7/7/7/1s5/1S5/1n5 n"


def test_there_are_no_captures() -> None:
    state = uisge.start()
    rng = random.Random(5)
    while state.end is None:
        state = uisge.play(state, rng.choice(uisge.legal(state)))
        assert [len(uisge.own(uisge.pieces_on(state.board), seat)) for seat in (0, 1)] == [6, 6]


def test_there_are_no_multiple_jumps() -> None:
    state = read("7/7/7/sn1n3/1n1n3/7 s")
    assert moves_of(state, "a3") == {"a3-c3x"}
    assert uisge.play(state, "a3-c3x").mover == 1


def test_there_is_no_compulsion_to_jump() -> None:
    assert {"c4-d5", "c4-e4x", "c4-c3"} <= set(uisge.legal(read("7/7/2Ss3/3s3/3n3/7 s")))


@pytest.mark.parametrize("no_move", uisge.NO_MOVE)
def test_there_is_no_passing_while_a_move_is_possible(no_move: str) -> None:
    state = uisge.start(Options(no_move=no_move))
    with pytest.raises(ValueError, match="pass is not legal"):
        uisge.play(state, uisge.PASS)


# The end


def test_the_mover_whose_six_pieces_are_all_kings_wins() -> None:
    state = uisge.play(uisge.from_text(SIXTH_KING), "b1-d1x")
    assert (state.end, uisge.result(state), uisge.scores(state)) == ("all_kings", (1, -1), (6, 0))
    assert uisge.legal(state) == []


def test_five_kings_and_a_pawn_are_not_yet_a_win() -> None:
    state = uisge.play(uisge.from_text(SIXTH_KING), "b6-a5")
    assert (state.end, uisge.result(state), uisge.scores(state)) == (None, None, (5, 0))


@pytest.mark.parametrize(("mover", "result"), [(1, (1, -1)), (0, (-1, 1))])
def test_with_fewer_pieces_all_kings_means_some_and_all_of_them(mover: int, result: tuple[int, int]) -> None:
    text = {1: "7/7/2Snn2/2S4/7/7 n", 0: "7/7/2Nss2/2N4/7/7 s"}[mover]
    assert (read(text).end, uisge.result(read(text))) == ("all_kings", result)
    assert read("7/7/2nnn2/7/7/7 n").end != "all_kings"
    assert read("7/7/2Nss2/2N4/7/7 n").end is None, "only the side that has just moved wins so"


@pytest.mark.parametrize(("no_move", "result"), [("loses", (-1, 1)), ("wins", (1, -1)), ("draw", (0, 0))])
def test_the_stuck_player_loses_wins_or_draws(no_move: str, result: tuple[int, int]) -> None:
    state = uisge.from_text(STUCK, Options(no_move=no_move))
    assert (state.end, uisge.result(state), uisge.legal(state)) == ("no_moves", result, [])


def test_all_kings_come_before_a_stuck_opponent() -> None:
    state = uisge.play(read("7/7/7/7/nsn4/nSS4 s", replace(WINNING, move_limit=1)), "b2-d2x")
    assert (state.end, uisge.result(state)) == ("all_kings", (1, -1))
    assert uisge.is_stuck(state.board, 1, diagonal_jumps=False)


@pytest.mark.parametrize("times", [2, 3, 9])
def test_a_position_that_occurs_as_often_as_the_limit_draws(times: int) -> None:
    state = read("7/7/1S1n3/1ssn3/3N3/7 s", Options(repetition_limit=times))
    begin = state
    while state.end is None:
        for move in ("b4-a3", "d2-e3", "a3-b4", "e3-d2"):
            state = uisge.play(state, move)
        assert (state.board, state.mover) == (begin.board, 0)
        assert state.occurrences == state.ply // 4 + 1
    assert (state.end, uisge.result(state), state.occurrences) == ("repetition", (0, 0), times)


def test_the_same_board_with_the_other_side_to_move_is_another_position() -> None:
    board = uisge.start().board
    state = uisge.settled(board, 0, 7, ((board, 1), (board, 1), (board, 0)), STANDARD)
    assert (state.occurrences, state.end) == (2, None)


def test_a_repetition_limit_of_0_is_off() -> None:
    board = uisge.start().board
    assert uisge.settled(board, 0, 9, ((board, 0),) * 9, Options(repetition_limit=0)).end is None


def test_as_many_plies_as_the_limit_draw() -> None:
    state = after("d3-b3x", "d5-b5x", options=Options(move_limit=3))
    assert (state.ply, state.end) == (2, None)
    state = uisge.play(state, "b3-c2")
    assert (state.ply, state.end, uisge.result(state)) == (3, "move_limit", (0, 0))
    assert uisge.position(uisge.START, 0, ply=400).end == "move_limit"
    assert uisge.position(uisge.START, 0, Options(move_limit=0), ply=4000).end is None


def test_a_stuck_player_comes_before_a_repetition_and_that_before_the_move_limit() -> None:
    board = uisge.from_text(STUCK).board
    assert uisge.settled(board, 0, 400, ((board, 0),) * 2, STANDARD).end == "no_moves"
    board = uisge.START
    assert uisge.settled(board, 0, 400, ((board, 0),) * 2, STANDARD).end == "repetition"


# A player without a move


def test_where_the_stuck_player_wins_leaving_the_opponent_stuck_is_illegal() -> None:
    line = figures.uisge_lines()[0].moves
    assert line[-1] in uisge.legal(after(*line[:-1]))
    state = after(*line[:-1], options=WINNING)
    assert line[-1] not in uisge.legal(state) and len(uisge.legal(state)) > 1
    with pytest.raises(ValueError, match="not legal"):
        uisge.play(state, line[-1])


def test_where_every_move_leaves_the_opponent_stuck_all_are_legal_and_lose() -> None:
    state = uisge.from_text("3nsnn/1nnSs1s/3n3/2ss3/7/7 s", WINNING)
    assert uisge.legal(state) == ["c3-e3x"]
    state = uisge.play(state, "c3-e3x")
    assert (state.end, uisge.result(state)) == ("no_moves", (-1, 1))


def test_a_move_that_makes_all_kings_counts_as_one_that_leaves_the_opponent_a_move() -> None:
    assert len(uisge.legal(read(ONLY_KINGS_OR_STUCK))) == 4
    state = read(ONLY_KINGS_OR_STUCK, WINNING)
    assert uisge.legal(state) == ["a4-c4x"]
    state = uisge.play(state, "a4-c4x")
    assert (state.end, uisge.result(state)) == ("all_kings", (1, -1))


def test_the_stuck_player_passes_as_the_only_action_and_it_is_a_ply() -> None:
    state = uisge.from_text(STUCK, PASSING)
    assert (state.end, uisge.legal(state)) == (None, ["pass"])
    passed = uisge.play(state, "pass")
    assert (passed.board, passed.mover, passed.ply, passed.end) == (state.board, 1, 1, None)
    assert "pass" not in uisge.legal(passed)


def test_a_pass_counts_for_both_limits() -> None:
    state = uisge.from_text(STUCK, replace(PASSING, move_limit=1))
    assert uisge.play(state, "pass").end == "move_limit"
    board = uisge.from_text(STUCK).board
    state = uisge.settled(board, 0, 9, ((board, 1), (board, 1)), PASSING)
    assert uisge.play(state, "pass").end == "repetition"


def test_where_neither_side_has_a_move_the_game_is_drawn_at_once() -> None:
    state = uisge.play(read(BOTH_STUCK_NEXT, PASSING), "g3-g1x")
    assert (state.end, uisge.result(state), uisge.legal(state)) == ("both_stuck", (0, 0), [])
    state = uisge.play(read(BOTH_STUCK_NEXT), "g3-g1x")
    assert (state.end, uisge.result(state)) == ("no_moves", (1, -1))


def test_half_of_random_games_end_stuck() -> None:
    rng, stuck = random.Random(11), 0
    for _ in range(60):
        state = uisge.start()
        while state.end is None:
            state = uisge.play(state, rng.choice(uisge.legal(state)))
        stuck += state.end == "no_moves"
    assert 15 <= stuck <= 45


# Diagonal jumps


def test_kings_jump_diagonally_only_where_the_rules_say_so_and_turn_into_pawns() -> None:
    text = "7/7/1nn4/2n4/1Sn4/7 s"
    assert set(uisge.legal(read(text))) == {"b2-b3", "b2-c1", "b2-d2x"}
    state = read(text, Options(diagonal_jumps="yes"))
    assert set(uisge.legal(state)) == {"b2-b3", "b2-c1", "b2-d2x", "b2-d4x"}
    assert uisge.play(state, "b2-d4x").board[2] == ".nns..."


def test_pawns_never_jump_diagonally() -> None:
    state = read("7/7/1nn4/2n4/1sn4/7 s", Options(diagonal_jumps="yes"))
    assert uisge.legal(state) == ["b2-d2x"]


# The texts and numbers


def test_the_start_is_written_and_read_in_short_form() -> None:
    assert uisge.to_text(uisge.start()) == START_TEXT
    assert uisge.from_text(START_TEXT) == uisge.start()


@pytest.mark.parametrize("text", [SIXTH_KING, STUCK, BOTH_STUCK_NEXT, ONLY_KINGS_OR_STUCK, "sSnN3/7/7/7/7/6N n"])
def test_a_position_is_written_as_it_was_read(text: str) -> None:
    assert uisge.to_text(read(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        START_TEXT[:-2],
        START_TEXT + " ",
        START_TEXT[:-1] + "S",
        "7/" + START_TEXT,
        *(START_TEXT.replace("2nn3", row) for row in ("2nn4", "2nn", "2nx3", "8", "2nn21", "2nn..1", "0n33")),
    ],
)
def test_a_text_that_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not|every"):
        read(text)


def test_other_than_six_pieces_a_side_are_read_only_when_not_strict() -> None:
    text = START_TEXT.replace("2nn3", "2n4")
    with pytest.raises(ValueError, match="not six pieces a side"):
        uisge.from_text(text)
    assert uisge.to_text(read(text)) == text


@pytest.mark.parametrize(
    ("move", "mover", "number"),
    [
        ("a1-a3x", 0, 0),
        ("d3-b3x", 0, 17 * 8 + 6),
        ("c2-b2", 0, 9 * 8 + 6),
        ("g6-f5", 0, 41 * 8 + 5),
        ("g6-g4x", 1, 0),
        ("d5-b5x", 1, 10 * 8 + 2),
        ("a1-c3x", 1, 41 * 8 + 5),
        ("pass", 0, 336),
        ("pass", 1, 336),
    ],
)
def test_a_move_is_numbered_as_its_mover_sees_it(move: str, mover: int, number: int) -> None:
    assert uisge.action(move, mover) == number


def test_legal_moves_come_in_the_order_of_their_numbers() -> None:
    rng, state = random.Random(2), uisge.start(Options(diagonal_jumps="yes", no_move="pass"))
    while state.end is None:
        numbers = [uisge.action(move, state.mover) for move in uisge.legal(state)]
        assert numbers == sorted(set(numbers))
        state = uisge.play(state, rng.choice(uisge.legal(state)))


# Refusals


@pytest.mark.parametrize(
    "values",
    [
        {"repetition_limit": 1},
        {"repetition_limit": 10},
        {"move_limit": -1},
        {"move_limit": 2001},
        {"repetition_limit": 0, "move_limit": 0},
        {"no_move": "ends"},
        {"diagonal_jumps": "maybe"},
    ],
)
def test_options_outside_the_rules_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"is|are"):
        Options(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("move", ["d3-d5x", "d3-d4", "d4-d6x", "a1-a2", "pass", ""])
def test_an_illegal_move_is_refused(move: str) -> None:
    with pytest.raises(ValueError, match="not legal"):
        uisge.play(uisge.start(), move)


def test_a_state_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        uisge.start().mover = 1  # type: ignore[misc]


# Figures


def perft_cases() -> list[object]:
    return [
        pytest.param(case, depth, id=f"{case.no_move}-{case.diagonal_jumps}-{depth}", marks=[pytest.mark.slow] * (depth > 6))
        for case in figures.uisge_perft()
        for depth in range(1, len(case.counts) + 1)
    ]


@pytest.mark.parametrize(("case", "depth"), perft_cases())
def test_as_many_lines_lead_from_the_start_as_known_elsewhere(case: figures.UisgePerft, depth: int) -> None:
    options = Options(no_move=case.no_move, diagonal_jumps=case.diagonal_jumps)
    assert perft(uisge.start(options), depth) == case.counts[depth - 1]


@pytest.mark.parametrize("case", figures.uisge_positions(), ids=lambda case: case.name)
def test_a_single_position_has_the_moves_known_elsewhere(case: figures.UisgePosition) -> None:
    state = uisge.position(case.board, case.mover)
    assert sorted(uisge.legal(state)) == sorted(case.legal)
    assert not set(case.illegal) & set(uisge.legal(state))
    assert (state.end == "no_moves") == (case.legal == ())


@pytest.mark.parametrize("line", figures.uisge_lines())
def test_a_line_leaves_a_seat_without_a_move_as_known_elsewhere(line: figures.UisgeLine) -> None:
    assert [after(*line.moves[:ply]).end for ply in range(len(line.moves))] == [None] * len(line.moves)
    state = after(*line.moves)
    assert (state.board, state.mover, state.end) == (line.board, line.stuck_seat, "no_moves")


def test_the_first_possible_stuck_end_comes_after_five_plies() -> None:
    level, ply = [uisge.start()], 0
    while all(state.end is None for state in level):
        level = [uisge.play(state, move) for state in level for move in uisge.legal(state)]
        ply += 1
    assert (ply, {state.end for state in level}) == (5, {None, "no_moves"})
