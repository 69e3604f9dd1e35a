"""The slow twin of Toguz Kumalak: the rules sentence by sentence, its figures and recorded games.

Boards read as the rules write them: holes of seat 0 / holes of seat 1 / stores / tuzdyks / side to move.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict

import pytest

import figures
import toguz_kumalak_figures as known
from reference import toguz_kumalak as toguz
from reference.toguz_kumalak import STANDARD, Options, State

START = "9,9,9,9,9,9,9,9,9/9,9,9,9,9,9,9,9,9/0,0/-,-/0"
# Two lone seeds walk round the board; after 18 plies the position is back.
CHASE = "1,0,0,0,0,0,0,0,0/1,0,0,0,0,0,0,0,0/80,80/-,-/0"
CHASE_ROUND = ["12", "12", "23", "23", "34", "34", "45", "45", "56", "56", "67", "67", "78", "78", "89", "89", "91", "91"]

needs_records = pytest.mark.skipif(
    figures.records_missing(known.RECORDS) is not None,
    reason=str(figures.records_missing(known.RECORDS)),
)


def read(text: str, options: Options = STANDARD, quiet: int = 0) -> State:
    """The state that the text shows, all 162 seeds in it."""
    state = toguz.from_text(text, options, quiet)
    assert sum(state.holes) + sum(state.stores) == 162
    return state


def played(state: State, *moves: str) -> State:
    for move in moves:
        state = toguz.play(state, toguz.action_of(state, move))
    return state


def after(text: str, *moves: str) -> str:
    return toguz.to_text(played(read(text), *moves))


def placed(board: known.ToguzBoard) -> State:
    return toguz.position(board.holes, board.stores, board.tuzdyks, board.mover)


def perft(state: State, depth: int) -> int:
    actions = toguz.legal(state)
    if depth == 1:
        return len(actions)
    return sum(perft(toguz.play(state, action), depth - 1) for action in actions)


def depths(deepest: int, slow_from: int) -> list[object]:
    return [pytest.param(depth, marks=[pytest.mark.slow] if depth >= slow_from else []) for depth in range(1, deepest + 1)]


# The board


def test_two_rows_of_nine_holes_hold_nine_seeds_each() -> None:
    assert toguz.to_text(toguz.start()) == START
    assert sum(toguz.start().holes) == 162


def test_each_player_owns_a_row() -> None:
    assert toguz.legal(read("9,0,9,0,9,0,9,0,9/9,9,0,9,0,9,0,9,0/36,36/-,-/0")) == [0, 2, 4, 6, 8]
    assert toguz.legal(read("9,0,9,0,9,0,9,0,9/9,9,0,9,0,9,0,9,0/36,36/-,-/1")) == [0, 1, 3, 5, 7]


def test_each_player_owns_a_store() -> None:
    assert after("20,0,0,0,0,0,0,0,1/1,1,0,0,0,0,0,0,0/70,69/-,-/0", "9").endswith("/72,69/-,-/1")
    assert after("1,1,0,0,0,0,0,0,0/20,0,0,0,0,0,0,0,1/70,69/-,-/1", "9").endswith("/70,71/-,-/0")


def test_after_ones_hole_9_comes_the_others_hole_1() -> None:
    assert after(START, "5").startswith("9,9,9,9,1,10,10,10,10/10,10,10,0,9,9,9,9,9/")
    assert after(START, "1", "5").startswith("2,11,11,11,10,10,10,10,10/9,9,9,9,1,10,10,10,10/")


# A move


def test_a_hole_that_is_empty_or_a_tuzdyk_may_not_be_chosen() -> None:
    # No seed ever lies in a tuzdyk; one is put there to see that emptiness is not what closes it.
    assert toguz.legal(toguz.from_text("1,4,5,0,0,0,0,0,0/1,1,1,1,0,0,0,0,0/75,75/4,2/0")) == [0, 2]
    assert toguz.legal(toguz.from_text("1,0,5,0,0,0,0,0,0/1,1,1,1,0,0,0,0,0/75,75/4,2/1")) == [0, 1, 2]


@pytest.mark.parametrize("action", [-1, 1, 9])
def test_an_illegal_action_is_refused(action: int) -> None:
    with pytest.raises(ValueError, match="not legal here"):
        toguz.play(read("9,0,9,9,9,9,9,9,9/9,9,9,9,9,9,9,9,9/9,0/-,-/0"), action)


def test_with_several_seeds_the_first_stays_and_the_rest_go_one_by_one() -> None:
    assert after(START, "1") == "1,10,10,10,10,10,10,10,10/9,9,9,9,9,9,9,9,9/0,0/-,-/1"
    assert after("2,0,0,0,0,0,0,0,0/9,0,0,0,0,0,0,0,0/75,76/-,-/0", "1").startswith("1,1,0,0,0,0,0,0,0/9,")


def test_a_single_seed_moves_on_to_the_next_hole() -> None:
    assert after("1,0,0,0,0,0,0,0,0/9,0,0,0,0,0,0,0,0/76,76/-,-/0", "1").startswith("0,1,0,0,0,0,0,0,0/9,")


def test_eighteen_seeds_end_just_before_the_origin() -> None:
    board = "0,0,18,0,0,0,0,0,0/1,0,0,0,0,0,0,0,0/70,73/-,-/0"
    assert after(board, "32") == "1,1,1,1,1,1,1,1,1/2,1,1,1,1,1,1,1,1/70,73/-,-/1"


def test_with_nineteen_seeds_and_more_the_origin_gets_more() -> None:
    board = "0,0,19,0,0,0,0,0,0/1,0,0,0,0,0,0,0,0/70,72/-,-/0"
    assert after(board, "33") == "1,1,2,1,1,1,1,1,1/2,1,1,1,1,1,1,1,1/70,72/-,-/1"
    board = "0,0,37,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0/60,65/-,-/0"
    assert after(board, "33") == "2,2,3,2,2,2,2,2,2/2,2,2,2,2,2,2,2,2/60,65/-,-/1"


def test_all_162_seeds_sown_from_one_hole_lie_nine_in_each() -> None:
    assert after("162,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0/0,0/-,-/0", "19") == START[:-1] + "1"
    assert after("0,0,0,0,0,0,0,0,0/162,0,0,0,0,0,0,0,0/0,0/-,-/1", "19") == START


# Capture


@pytest.mark.parametrize(("before", "taken"), [(0, 0), (1, 2), (3, 4), (4, 0), (5, 6), (6, 0), (9, 10), (11, 12)])
def test_a_last_seed_that_makes_an_even_number_in_an_opponents_hole_takes_them_all(before: int, taken: int) -> None:
    board = played(read(f"20,0,0,0,0,0,0,0,1/{before},1,0,0,0,0,0,0,0/69,{71 - before}/-,-/0"), "9")
    assert board.holes[9] == (0 if taken else before + 1)
    assert (board.stores, board.tuzdyks) == ((69 + taken, 71 - before), (None, None))


def test_an_even_number_in_an_own_hole_takes_nothing() -> None:
    board = "1,1,0,0,0,0,0,0,0/10,0,0,0,0,0,0,0,0/75,75/-,-/0"
    assert after(board, "1") == "0,2,0,0,0,0,0,0,0/10,0,0,0,0,0,0,0,0/75,75/-,-/1"


def test_an_even_number_made_before_the_last_seed_takes_nothing() -> None:
    board = "9,0,0,0,0,0,0,0,3/1,0,0,0,0,0,0,0,0/75,74/-,-/0"
    assert after(board, "9") == "9,0,0,0,0,0,0,0,1/2,1,0,0,0,0,0,0,0/75,74/-,-/1"


def test_an_even_number_made_by_a_second_lap_takes_them_all() -> None:
    board = "28,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,1/66,67/-,-/0"
    assert after(board, "1") == "2,2,2,2,2,2,2,2,2/0,1,1,1,1,1,1,1,2/68,67/-,-/1"


# Tuzdyk


def test_a_last_seed_that_makes_three_in_an_opponents_hole_makes_it_a_tuzdyk() -> None:
    board = "20,0,0,0,0,0,0,3,0/2,0,1,0,0,0,0,0,0/68,68/-,-/0"
    assert after(board, "8") == "20,0,0,0,0,0,0,1,1/0,0,1,0,0,0,0,0,0/71,68/1,-/1"
    board = "2,0,1,0,0,0,0,0,0/20,0,0,0,0,0,0,3,0/68,68/-,-/1"
    assert after(board, "8") == "0,0,1,0,0,0,0,0,0/20,0,0,0,0,0,0,1,1/68,71/-,1/0"


def test_a_single_seed_makes_a_tuzdyk_too() -> None:
    board = "20,0,0,0,0,0,0,0,1/2,0,1,0,0,0,0,0,0/69,69/-,-/0"
    assert after(board, "9") == "20,0,0,0,0,0,0,0,0/0,0,1,0,0,0,0,0,0/72,69/1,-/1"


def test_a_tuzdyk_is_for_good() -> None:
    state = played(read("20,0,0,0,0,0,0,0,1/2,0,1,0,0,0,0,0,0/69,69/-,-/0"), "91X", "34", "12", "23")
    assert toguz.to_text(state) == "2,2,1,1,1,1,1,1,1/0,0,2,2,1,1,1,1,1/73,69/1,-/0"


def test_three_made_before_the_last_seed_make_no_tuzdyk() -> None:
    board = "9,0,0,0,0,0,0,0,3/2,0,0,0,0,0,0,0,0/74,74/-,-/0"
    assert after(board, "9") == "9,0,0,0,0,0,0,0,1/3,1,0,0,0,0,0,0,0/74,74/-,-/1"


def test_three_in_an_own_hole_make_no_tuzdyk() -> None:
    board = "1,2,0,0,0,0,0,0,0/9,0,0,0,0,0,0,0,0/75,75/-,-/0"
    assert after(board, "1") == "0,3,0,0,0,0,0,0,0/9,0,0,0,0,0,0,0,0/75,75/-,-/1"


def test_there_is_no_tuzdyk_in_the_opponents_hole_9() -> None:
    board = "20,0,0,0,0,0,0,0,10/0,0,0,0,0,0,0,0,2/65,65/-,-/0"
    assert after(board, "9") == "20,0,0,0,0,0,0,0,1/1,1,1,1,1,1,1,1,3/65,65/-,-/1"
    board = "0,0,0,0,0,0,0,0,2/20,0,0,0,0,0,0,0,10/65,65/-,-/1"
    assert after(board, "9") == "1,1,1,1,1,1,1,1,3/20,0,0,0,0,0,0,0,1/65,65/-,-/0"


def test_there_is_no_second_tuzdyk() -> None:
    board = "20,0,0,0,0,0,0,0,1/2,0,1,0,0,0,0,0,0/69,69/5,-/0"
    assert after(board, "9") == "20,0,0,0,0,0,0,0,0/3,0,1,0,0,0,0,0,0/69,69/5,-/1"


def test_there_is_no_tuzdyk_with_the_number_of_the_opponents() -> None:
    board = "0,20,0,0,0,0,0,0,1/2,0,1,0,0,0,0,0,0/69,69/-,1/0"
    assert after(board, "9") == "0,20,0,0,0,0,0,0,0/3,0,1,0,0,0,0,0,0/69,69/-,1/1"
    board = "2,0,1,0,0,0,0,0,0/0,20,0,0,0,0,0,0,1/69,69/1,-/1"
    assert after(board, "9") == "3,0,1,0,0,0,0,0,0/0,20,0,0,0,0,0,0,0/69,69/1,-/0"


def test_a_tuzdyk_may_have_another_number_than_the_opponents() -> None:
    board = "0,20,0,0,0,0,0,0,1/2,0,1,0,0,0,0,0,0/69,69/-,3/0"
    assert after(board, "9") == "0,20,0,0,0,0,0,0,0/0,0,1,0,0,0,0,0,0/72,69/1,3/1"


def test_a_seed_that_its_owner_sows_into_a_tuzdyk_goes_to_the_owners_store() -> None:
    board = "9,0,0,0,0,0,0,0,4/1,0,0,0,0,0,0,0,0/74,74/2,-/0"
    assert after(board, "9") == "9,0,0,0,0,0,0,0,1/2,0,1,0,0,0,0,0,0/75,74/2,-/1"


def test_a_seed_that_the_other_player_sows_into_a_tuzdyk_goes_to_the_owners_store() -> None:
    board = "1,0,0,0,0,0,0,0,0/4,0,0,0,0,0,0,0,1/78,78/2,-/1"
    assert after(board, "1") == "1,0,0,0,0,0,0,0,0/1,0,1,1,0,0,0,0,1/79,78/2,-/0"


def test_one_sowing_may_feed_both_tuzdyks() -> None:
    board = "13,0,0,0,0,0,0,0,0/1,0,0,0,0,0,0,0,0/74,74/2,3/0"
    assert after(board, "1") == "1,1,0,1,1,1,1,1,1/2,0,1,1,0,0,0,0,0/75,75/2,3/1"


def test_a_second_lap_feeds_a_tuzdyk_again() -> None:
    board = "29,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0/66,67/2,-/0"
    assert after(board, "12") == "2,2,2,2,2,2,2,2,2/2,0,1,1,1,1,1,1,1/68,67/2,-/1"


def test_a_sowing_that_ends_in_ones_own_tuzdyk_does_nothing_more() -> None:
    board = "20,0,0,0,0,0,0,0,1/0,0,1,0,0,0,0,0,0/70,70/1,-/0"
    assert after(board, "91") == "20,0,0,0,0,0,0,0,0/0,0,1,0,0,0,0,0,0/71,70/1,-/1"


def test_a_sowing_that_ends_in_the_others_tuzdyk_does_nothing_more() -> None:
    board = "1,0,5,0,0,0,0,0,0/6,0,0,0,0,0,0,0,0/75,75/-,2/0"
    assert after(board, "12") == "0,0,5,0,0,0,0,0,0/6,0,0,0,0,0,0,0,0/75,76/-,2/1"


# End


def test_a_new_game_has_not_ended() -> None:
    state = toguz.start()
    assert (state.end, toguz.result(state), toguz.scores(state)) == (None, None, (0, 0))


def test_82_seeds_in_a_store_win_at_once() -> None:
    state = played(read("20,0,0,0,0,0,0,0,1/1,0,1,0,0,0,0,0,0/80,59/-,-/0"), "9")
    assert (state.end, toguz.result(state), toguz.scores(state)) == ("majority", (1, -1), (82, 59))
    state = played(read("1,0,1,0,0,0,0,0,0/20,0,0,0,0,0,0,0,1/59,80/-,-/1"), "9")
    assert (state.end, toguz.result(state), toguz.scores(state)) == ("majority", (-1, 1), (59, 82))


def test_82_seeds_win_when_the_other_player_sows_the_last_of_them_into_a_tuzdyk() -> None:
    state = played(read("1,0,0,0,0,0,0,0,0/4,0,0,0,0,0,0,0,1/81,75/2,-/1"), "1")
    assert (state.end, toguz.result(state), state.stores) == ("majority", (1, -1), (82, 75))


def test_81_seeds_in_one_store_do_not_win() -> None:
    state = played(read("20,0,0,0,0,0,0,0,1/1,0,1,0,0,0,0,0,0/79,60/-,-/0"), "9")
    assert (state.stores, state.end) == ((81, 60), None)


def test_81_and_81_is_a_draw() -> None:
    state = played(read("0,0,0,0,0,0,0,0,1/1,0,0,0,0,0,0,0,0/79,81/-,-/0"), "9")
    assert (state.end, toguz.result(state), toguz.scores(state)) == ("even_split", (0, 0), (81, 81))


def test_when_the_player_to_move_has_no_seeds_each_side_keeps_its_own_and_more_seeds_win() -> None:
    state = played(read("1,1,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0/80,80/-,-/0"), "1")
    assert (state.end, toguz.scores(state), toguz.result(state)) == ("no_moves", (82, 80), (1, -1))
    state = read("0,0,0,0,0,0,0,0,0/5,0,1,0,0,0,0,0,0/78,78/-,-/0")
    assert (state.end, toguz.scores(state), toguz.result(state)) == ("no_moves", (78, 84), (-1, 1))


def test_when_the_player_to_move_has_no_seeds_equal_seeds_draw() -> None:
    state = played(read("1,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0/80,81/-,-/0"), "1")
    assert (state.end, toguz.scores(state), toguz.result(state)) == ("no_moves", (81, 81), (0, 0))


def test_an_empty_row_of_the_player_who_has_just_moved_ends_nothing() -> None:
    state = played(read("0,0,0,0,0,0,0,0,1/0,5,0,0,0,0,0,0,0/78,78/-,-/0"), "9")
    assert (toguz.side(state.holes, 0), state.end) == (0, None)
    assert played(state, "1").end == "no_moves"


def test_the_third_occurrence_of_a_position_ends_the_game_and_each_side_keeps_its_own() -> None:
    state = played(read(CHASE.replace("80,80", "81,79")), *CHASE_ROUND, *CHASE_ROUND[:-1])
    assert (state.occurrences, state.end) == (2, None)
    state = played(state, CHASE_ROUND[-1])
    assert (state.occurrences, state.end) == (3, "repetition")
    assert (toguz.scores(state), toguz.result(state)) == ((82, 80), (1, -1))


@pytest.mark.parametrize("limit", range(2, 10))
def test_the_game_ends_at_the_occurrence_the_repetition_limit_names(limit: int) -> None:
    state = played(read(CHASE, Options(repetition_limit=limit)), *CHASE_ROUND * (limit - 1))
    assert (state.occurrences, state.end) == (limit, "repetition")


def test_a_position_is_holes_stores_tuzdyks_and_the_side_to_move() -> None:
    holes, stores, tuzdyks, mover = now = toguz.position_of(read(CHASE))
    others = [(holes[::-1], stores, tuzdyks, mover), (holes, (79, 81), tuzdyks, mover)]
    others += [(holes, stores, (12, None), mover), (holes, stores, tuzdyks, 1 - mover)]
    assert toguz.settled(now, 0, (*others, *others), STANDARD).occurrences == 1
    assert toguz.settled(now, 0, (*others, now), STANDARD).occurrences == 2


def test_with_the_repetition_limit_off_no_position_ends_the_game() -> None:
    state = played(read(CHASE, Options(repetition_limit=0)), *CHASE_ROUND * 5)
    assert (state.occurrences, state.end) == (1, None)


def test_200_plies_that_brought_nothing_into_either_store_end_the_game() -> None:
    state = played(read(CHASE, Options(repetition_limit=0)), *(CHASE_ROUND * 12)[:199])
    assert (state.quiet, state.end) == (199, None)
    state = toguz.play(state, toguz.legal(state)[0])
    assert (state.quiet, state.end, toguz.scores(state), toguz.result(state)) == (200, "quiet_limit", (81, 81), (0, 0))


@pytest.mark.parametrize("limit", [1, 2, 17, 35])
def test_the_game_ends_at_the_quiet_ply_the_quiet_limit_names(limit: int) -> None:
    state = played(read(CHASE, Options(9, limit)), *(CHASE_ROUND * 2)[:limit])
    assert (state.quiet, state.end) == (limit, "quiet_limit")


def test_with_the_quiet_limit_off_quiet_plies_end_nothing() -> None:
    assert read(CHASE, Options(quiet_limit=0), quiet=2000).end is None
    assert read(CHASE, quiet=200).end == "quiet_limit"


@pytest.mark.parametrize(
    ("text", "move", "quiet"),
    [
        ("20,0,0,0,0,0,0,0,1/1,0,2,0,0,0,0,0,0/69,69/-,-/0", "91(71)", 0),
        ("20,0,0,0,0,0,0,0,1/2,0,1,0,0,0,0,0,0/69,69/-,-/0", "91X", 0),
        ("20,0,0,0,0,0,0,0,1/0,0,1,0,0,0,0,0,0/70,70/1,-/0", "91", 0),
        ("1,0,5,0,0,0,0,0,0/6,0,0,0,0,0,0,0,0/75,75/-,2/0", "12", 0),
        ("20,0,0,0,0,0,0,0,1/2,0,1,0,0,0,0,0,0/69,69/5,-/0", "91", 101),
        ("20,0,0,0,0,0,0,0,1/0,0,1,0,0,0,0,0,0/70,70/-,-/0", "91", 101),
    ],
)
def test_whatever_either_store_gets_makes_the_quiet_plies_start_again(text: str, move: str, quiet: int) -> None:
    assert played(read(text, quiet=100), move).quiet == quiet


def test_the_ends_come_in_their_order() -> None:
    limits = Options(repetition_limit=2, quiet_limit=1)
    cases = [
        ("0,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0/82,80/-,-/0", "majority"),
        ("0,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0/81,81/-,-/0", "even_split"),
        ("0,0,0,0,0,0,0,0,0/2,0,0,0,0,0,0,0,0/80,80/-,-/0", "no_moves"),
        (CHASE, "repetition"),
    ]
    for text, end in cases:
        now = toguz.position_of(read(text))
        assert toguz.settled(now, 1, (now,), limits).end == end
    assert toguz.settled(now, 1, (), limits).end == "quiet_limit"


def test_the_board_stays_as_the_last_move_left_it() -> None:
    assert after(CHASE, *CHASE_ROUND * 2) == CHASE
    state = read("0,0,0,0,0,0,0,0,0/5,0,1,0,0,0,0,0,0/78,78/-,-/0")
    assert (toguz.side(state.holes, 1), state.stores, toguz.scores(state)) == (6, (78, 78), (78, 84))


def test_endless_play_is_possible_with_both_stores_at_80_and_one_seed_each() -> None:
    state = played(read(CHASE, Options(0, 2000)), *CHASE_ROUND * 20)
    assert (toguz.to_text(state), state.end) == (CHASE, None)


@pytest.mark.parametrize(
    "text",
    [
        "0,0,0,0,0,0,0,0,0/5,0,1,0,0,0,0,0,0/78,78/-,-/0",
        "5,0,0,0,0,0,0,0,0/5,0,0,0,0,0,0,0,0/82,70/-,-/0",
    ],
)
def test_a_finished_game_has_no_legal_moves(text: str) -> None:
    assert toguz.legal(read(text)) == []
    for action in range(9):
        with pytest.raises(ValueError, match="not legal here"):
            toguz.play(read(text), action)


# The worked example


def test_hole_9_from_the_start_takes_the_ten_seeds_of_hole_8() -> None:
    assert after(START, "98(10)") == "9,9,9,9,9,9,9,9,1/10,10,10,10,10,10,10,0,9/10,0/-,-/1"


# Text


@pytest.mark.parametrize(
    "text",
    [START, CHASE, "13,0,0,0,0,0,0,0,0/1,0,0,0,0,0,0,0,0/74,74/2,3/1", "162,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0/0,0/8,-/0"],
)
def test_a_board_reads_back_as_it_is_written(text: str) -> None:
    assert toguz.to_text(read(text)) == text


def test_the_tuzdyks_of_a_text_lie_on_the_other_side() -> None:
    assert read("13,0,0,0,0,0,0,0,0/1,0,0,0,0,0,0,0,0/74,74/2,3/0").tuzdyks == (10, 2)


@pytest.mark.parametrize("text", ["", START[:-2], START[:-1] + "2", START.replace("-,-", "9,-"), START.replace("0,0", "0,x")])
def test_a_text_that_shows_no_board_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"board|tuzdyk|invalid"):
        toguz.from_text(text)


@pytest.mark.parametrize(
    ("text", "move"),
    [
        (START, "19"),
        (START, "76(10)"),
        ("1,0,0,0,0,0,0,0,0/9,0,0,0,0,0,0,0,0/76,76/-,-/0", "12"),
        ("20,0,0,0,0,0,0,0,1/2,0,1,0,0,0,0,0,0/69,69/-,-/0", "91X"),
        ("20,0,0,0,0,0,0,0,1/0,0,1,0,0,0,0,0,0/70,70/1,-/0", "91"),
        ("9,0,0,0,0,0,0,0,4/1,0,1,0,0,0,0,0,0/74,73/2,-/0", "93(77)"),
    ],
)
def test_a_move_is_written_with_its_last_hole_and_suffix_and_read_with_less(text: str, move: str) -> None:
    state = read(text)
    for given in {move, move[:2], move[0]}:
        assert played(state, given).move == move


@pytest.mark.parametrize("move", ["", "0", "7(10)", "77", "75(10)", "76X", "76(9)", "76(10)X", "76 ", "19X", "19(0)"])
def test_a_wrong_last_hole_or_suffix_is_refused(move: str) -> None:
    with pytest.raises(ValueError, match="no legal move"):
        toguz.action_of(toguz.start(), move)


# Options


def test_the_standard_options_are_third_occurrence_and_200_plies() -> None:
    assert asdict(STANDARD) == {"repetition_limit": 3, "quiet_limit": 200}


@pytest.mark.parametrize(("repetition", "quiet"), [(-1, 200), (1, 200), (10, 200), (3, -1), (3, 2001), (0, 0)])
def test_limits_that_are_out_of_range_or_both_off_are_refused(repetition: int, quiet: int) -> None:
    with pytest.raises(ValueError, match="_limit"):
        Options(repetition, quiet)


def test_a_state_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        toguz.start().mover = 1  # type: ignore[misc]


# Figures


@pytest.mark.parametrize("depth", depths(6, slow_from=6))
def test_as_many_lines_lead_from_the_start_as_known_elsewhere(depth: int) -> None:
    assert perft(toguz.start(), depth) == known.toguz_start_perft().counts[depth - 1]


@pytest.mark.parametrize("depth", depths(5, slow_from=5))
@pytest.mark.parametrize("case", known.toguz_perft(), ids=lambda case: case.category)
def test_as_many_lines_lead_from_a_position_as_known_elsewhere(case: known.ToguzPerft, depth: int) -> None:
    assert perft(placed(case.board), depth) == case.counts[depth - 1]


@pytest.mark.parametrize("line", known.toguz_lines())
def test_a_line_leads_where_known_elsewhere(line: known.ToguzLine) -> None:
    state = played(placed(line.before), *line.moves)
    assert known.ToguzBoard(state.holes, state.stores, state.tuzdyks, state.mover) == line.after


# Recorded games


@needs_records
@pytest.mark.parametrize("games", [slice(0, None, 5), pytest.param(slice(None), marks=pytest.mark.slow)], ids=["200", "all"])
def test_recorded_games_replay_with_every_suffix_to_their_last_board(games: slice) -> None:
    ends = {">=82": "majority", "nomove": "no_moves", "notover": None}
    for record in known.toguz_records()[games]:
        state = toguz.start()
        for move in record.moves:
            state = toguz.play(state, int(move[0]) - 1)
            assert state.move == move
        assert (state.stores, state.end) == (record.stores, ends[record.ended])
        if record.final_scores is not None:
            assert toguz.scores(state) == record.final_scores
