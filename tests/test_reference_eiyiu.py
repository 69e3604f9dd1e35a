"""The slow twin of Eiyiu: the worked example, every sentence of the rules, and its own refusals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from random import Random

import pytest

from eiyiu_figures import eiyiu_picture
from reference import eiyiu
from reference.eiyiu import STANDARD, Action, Cell, Options, State

START = "- 123456789 123456789 - - 0 0"
PICTURE = eiyiu_picture()
FULL = ".658../.3.48./24.23./95.9../.71617 - - - - 0 0"
OWN = Options(same_tile="own")
BOTH = [STANDARD, OWN]


def read(text: str, options: Options = STANDARD) -> State:
    return eiyiu.from_text(text, options)


def actions(state: State, turn: str) -> Iterator[Action]:
    """The actions of a turn, whose cells are named by the box before it."""
    if "@" not in turn:
        origin, target = turn.split("-")
        yield ("lift", eiyiu.cell(origin, state))
    else:
        number, target = turn.split("@")
        yield ("hidden",) if number[0] == "?" else ("open", int(number))
        if number[0] == "?":
            yield ("deal", int(number[1]))
    yield ("lay", eiyiu.cell(target, state))


def after(state: State, *turns: str) -> State:
    for turn in turns:
        for action in actions(state, turn):
            state = eiyiu.play(state, action)
    return state


def after_take(state: State, turn: str) -> State:
    return eiyiu.play(state, next(actions(state, turn)))


def takes(state: State) -> str:
    """The numbers that may be taken, and ? for the hidden pile."""
    return "".join("?" if action == ("hidden",) else str(action[-1]) for action in eiyiu.legal(state))


def places(state: State) -> str:
    """The names of the cells from which or on which a tile may be taken or laid."""
    return " ".join(eiyiu.name(action[1], state) for action in eiyiu.legal(state) if isinstance(action[-1], tuple))


def winning(board: str) -> list[str]:
    """The numbers in the runs of 15 of a board."""
    tiles = {cell: int(mark) for cell, mark in eiyiu.read_board(board).items()}
    return ["".join(str(tiles[cell]) for cell in run) for run in eiyiu.runs_of_15(tiles)]


def targets(state: State, origin: Cell) -> set[Cell]:
    """Where the tile of a cell may be moved."""
    if ("lift", origin) not in eiyiu.legal(state):
        return set()
    return {action[1] for action in eiyiu.legal(eiyiu.play(state, ("lift", origin))) if isinstance(action[-1], tuple)}


def moved(state: State, origin: Cell, target: Cell) -> State:
    return eiyiu.play(eiyiu.play(state, ("lift", origin)), ("lay", target))


def random_game(seed: int, options: Options) -> list[State]:
    chance = Random(seed)
    states = [eiyiu.start(options)]
    while states[-1].end is None:
        states.append(eiyiu.play(states[-1], chance.choice(eiyiu.legal(states[-1]))))
    return states


# The worked example


def full() -> State:
    return eiyiu.position(PICTURE.tiles, (), (), 0)


def test_the_picture_is_a_full_board_without_a_winning_run() -> None:
    assert sorted(PICTURE.tiles.values()) == sorted(2 * eiyiu.SET)
    assert (full().end is None, PICTURE.has_winning_run) == (True, False)
    assert full() == read(FULL)


def test_every_tile_of_the_picture_has_as_many_cells_to_go_to_as_known_elsewhere() -> None:
    counts = {cell: len(targets(full(), cell)) for cell in PICTURE.tiles}
    assert {cell: count for cell, count in counts.items() if count} == PICTURE.target_counts
    assert sum(counts.values()) == PICTURE.total == 340


@pytest.mark.parametrize("run", PICTURE.inner_runs)
def test_a_run_within_a_longer_one_of_the_picture_does_not_win(run: tuple[Cell, ...]) -> None:
    assert sum(PICTURE.tiles[cell] for cell in run) == 15
    assert eiyiu.runs_of_15(PICTURE.tiles) == []


def test_the_1_at_the_lower_right_of_the_picture_may_not_be_moved() -> None:
    one = PICTURE.cell(5, 5)
    assert one not in PICTURE.target_counts
    with pytest.raises(ValueError, match="not legal"):
        eiyiu.play(full(), ("lift", one))


WINS = [
    ("either 3 beside the 8 at the upper right", (2, 2), (2, 6), [(2, 4), (2, 5), (2, 6)]),
    ("either 3 beside the 8 at the upper right", (3, 5), (2, 6), [(2, 4), (2, 5), (2, 6)]),
    ("the lower-left 7 between the 3 and the 4", (5, 2), (2, 3), [(1, 2), (2, 3), (3, 4)]),
    ("the 5 below the lower-right 7", (4, 2), (6, 6), [(4, 4), (5, 5), (6, 6)]),
    ("the 4 above the upper-right 8", (3, 2), (1, 5), [(1, 5), (2, 5), (3, 5)]),
    ("the 4 beside the lower-left 7", (3, 2), (5, 1), [(3, 1), (4, 1), (5, 1)]),
]


@pytest.mark.parametrize(("text", "origin", "target", "run"), WINS)
def test_a_move_in_the_picture_wins_by_its_run(text: str, origin: Cell, target: Cell, run: list[Cell]) -> None:
    state = moved(full(), PICTURE.cell(*origin), PICTURE.cell(*target))
    assert (state.end, eiyiu.result(state)) == ("run_of_15", (1, -1)), text
    assert sorted(PICTURE.cell(*place) for place in run) in [sorted(found) for found in eiyiu.runs_of_15(state.tiles)]


def test_the_lower_left_7_of_the_picture_wins_on_every_cell_but_one() -> None:
    seven = PICTURE.cell(5, 2)
    without_win = {cell for cell in targets(full(), seven) if moved(full(), seven, cell).winner is None}
    assert without_win == {PICTURE.cell(5, 7)}


def test_the_6_below_the_9_of_the_picture_has_exactly_one_cell_to_go_to() -> None:
    assert targets(full(), PICTURE.cell(5, 4)) == {PICTURE.cell(4, 5)}


def test_nothing_else_is_stated_of_the_picture() -> None:
    assert len(PICTURE.statements) == 8


# Laying


def test_two_sets_of_tiles_1_to_9_lie_in_the_piles_at_the_start() -> None:
    assert eiyiu.to_text(eiyiu.start()) == START
    assert eiyiu.start() == read(START)


def test_the_first_tile_of_the_game_must_not_be_the_5() -> None:
    assert takes(eiyiu.start()) == "12346789"
    assert takes(after(eiyiu.start(), "1@b2")) == "23456789"


def test_the_first_tile_is_laid_on_b2() -> None:
    state = after_take(eiyiu.start(), "3@b2")
    assert places(state) == "b2"
    assert eiyiu.to_text(after(eiyiu.start(), "3@b2")) == "3 12456789 123456789 - - 1 0"


def test_each_players_first_tile_comes_from_the_open_pile() -> None:
    assert "?" not in takes(eiyiu.start())
    assert "?" not in takes(after(eiyiu.start(), "1@b2"))
    assert takes(after(eiyiu.start(), "1@b2", "2@c2")) == "3456789?"


def test_a_tile_is_laid_where_it_touches_another_along_a_side() -> None:
    state = after_take(read("12/.3 456789 12345679 - - 0 0"), "4@b2")
    assert places(state) == "a3 b2 b4 c1 c4 d2 d3"


def test_the_players_take_and_lay_in_turn() -> None:
    state = eiyiu.start()
    seats = []
    for turn in ("1@b2", "2@c2", "?7@a2"):
        for action in actions(state, turn):
            seats.append(state.mover)
            state = eiyiu.play(state, action)
    assert seats == [0, 0, 1, 1, 0, 0, 0]
    assert (state.mover, state.ply) == (1, 6)


def test_a_tile_of_the_open_pile_is_known_and_leaves_it() -> None:
    assert eiyiu.to_text(after_take(read(START), "4@b2")) == "- 12356789 123456789 4 - 0 0"


def test_a_hidden_tile_is_drawn_before_the_cell_is_chosen() -> None:
    before = read("12 3456789 123456789 - - 0 0")
    drawing = eiyiu.play(before, ("hidden",))
    assert eiyiu.to_text(drawing) == "12 3456789 123456789 ? - 0 0"
    assert eiyiu.legal(drawing) == [("deal", number) for number in range(1, 10)]
    dealt = eiyiu.play(drawing, ("deal", 7))
    assert eiyiu.to_text(dealt) == "12 3456789 12345689 7 - 0 0"
    assert (drawing.ply, dealt.ply) == (before.ply + 1, before.ply + 1)
    assert {action[0] for action in eiyiu.legal(dealt)} == {"lay"}


def test_each_hidden_tile_is_equally_likely() -> None:
    assert eiyiu.deals(read("12 3456789 1123 ? - 0 0")) == {1: 2, 2: 1, 3: 1}


def test_an_exhausted_pile_cannot_be_chosen() -> None:
    assert takes(read("12 34 - - - 0 0")) == "34"
    assert takes(read("12 - 34 - - 0 0")) == "?"


def test_a_run_of_15_wins_while_tiles_are_laid() -> None:
    state = after(eiyiu.start(), "4@b2", "5@c2", "6@d2")
    assert (state.end, state.winner, eiyiu.result(state), eiyiu.legal(state)) == ("run_of_15", 0, (1, -1), [])


# Moving


def test_tiles_are_moved_only_when_all_tiles_lie() -> None:
    state = read("12/34 - 5 - - 0 0")
    assert takes(state) == "?"
    state = after(state, "?5@d3")
    assert {action[0] for action in eiyiu.legal(state)} == {"lift"}


def test_the_last_tile_of_the_piles_is_laid_not_moved() -> None:
    state = after(read("12/34 5 - - - 0 0"), "5@d3")
    assert (state.shifts, state.last, places(state)) == (0, (None, None), "b2 b3 c2 c3 d3")


def test_a_tile_is_moved_to_another_free_cell() -> None:
    state = after_take(read("12/34 - - - - 0 0"), "b3-a2")
    assert places(state) == "a2 b1 c1 c4 d2 d3"
    with pytest.raises(ValueError, match="not legal"):
        eiyiu.play(state, ("lay", eiyiu.cell("b3", state)))


def test_a_tile_whose_lifting_splits_the_group_may_join_it_again() -> None:
    state = read("1./23 - - - - 0 0")
    assert "b2" in places(state).split()
    assert places(after_take(state, "b2-c3")) == "c3"
    assert eiyiu.to_text(after(state, "b2-c3")) == "12/.3 - - - c3 1 1"


def test_a_tile_that_could_go_nowhere_may_not_be_lifted() -> None:
    assert places(read("123 - - - - 0 0")) == "b2 d2"


@pytest.mark.parametrize("options", BOTH)
def test_all_tiles_are_connected_along_sides_after_every_turn(options: Options) -> None:
    for seed in range(20):
        states = [state for state in random_game(seed, options) if state.hand is None]
        assert all(len(eiyiu.groups(eiyiu.cells(state))) < 2 for state in states)


@pytest.mark.parametrize("options", BOTH)
def test_any_tile_may_be_moved_first(options: Options) -> None:
    states = [state for seed in range(20) for state in random_game(seed, options)]
    fulls = [state for state in states if len(state.tiles) == 18 and state.shifts == 0 and state.end is None]
    assert fulls and all(eiyiu.barred(state) is None for state in fulls)


def test_the_tile_moved_by_the_previous_turn_may_not_be_moved_now() -> None:
    state = after(read("12/34 - - - - 0 0"), "b3-d2")
    assert eiyiu.to_text(state) == ".2./341 - - - d2 1 1"
    assert "d2" not in places(state).split()
    state = after(state, "b2-d3")
    assert "c2" in places(state).split()  # the 1 again: the 3 was moved since


def test_under_own_only_ones_own_previous_tile_may_not_be_moved() -> None:
    state = after(read("12/34 - - - -,- 0 0", OWN), "b3-d2")
    assert eiyiu.to_text(state) == ".2./341 - - - d2,- 1 1"
    assert "d2" in places(state).split()
    state = after(state, "b2-d3")
    assert eiyiu.to_text(state) == "23/41 - - - c2,c3 0 2"
    assert places(state) == "b2 b3 c3"


def test_under_own_a_tile_moved_by_both_is_barred_for_both_where_it_lies_now() -> None:
    state = after_take(after(read("12/34 - - - -,- 0 0", OWN), "b3-d2"), "d2-d3")
    assert eiyiu.to_text(state) == ".2./34_ - - 1 d2,- 1 1"
    state = eiyiu.play(state, ("lay", eiyiu.cell("d3", state)))
    assert eiyiu.to_text(state) == ".21/34. - - - d3,d3 0 2"
    assert "d3" not in places(state).split()
    state = after(state, "b2-d2")
    assert eiyiu.to_text(state) == "21/43 - - - c2,c3 1 3"
    assert "c3" not in places(state).split()


# Winning


@pytest.mark.parametrize("board", ["456", "4/5/6", "4../.5./..6", "..4/.5./6..", "1239", "61/3./6."])
def test_a_run_of_three_or_more_tiles_that_sum_to_15_wins_in_each_direction(board: str) -> None:
    assert len(winning(board)) == 1


@pytest.mark.parametrize("board", ["78", "7/8", "96", "457", "4.56", "4/./5/6", "45/6."])
def test_fewer_tiles_other_sums_and_broken_runs_do_not_win(board: str) -> None:
    assert winning(board) == []


def test_7_1_6_1_7_is_no_win_although_1_6_1_7_inside_it_is_15() -> None:
    assert winning("71617") == []
    assert winning("1617") == ["1617"]


def test_every_run_of_15_of_a_board_is_found() -> None:
    assert winning("4563/5.../6...") == ["654"]
    assert sorted(winning("456/5../6..")) == ["456", "654"]


@pytest.mark.parametrize(("side", "result"), [(0, (1, -1)), (1, (-1, 1))])
def test_a_run_wins_for_the_player_whose_turn_made_it(side: int, result: tuple[int, int]) -> None:
    state = after(read(f"45 6789 12345678 - - {side} 0"), "6@d2")
    assert (state.end, state.winner, eiyiu.result(state)) == ("run_of_15", side, result)


def test_taking_a_tile_off_the_end_of_a_run_wins() -> None:
    state = after(read("4561 - - - - 1 0"), "e2-c3")
    assert (state.end, state.winner, winning(".1./456")) == ("run_of_15", 1, ["456"])


def test_runs_are_not_judged_while_a_tile_is_in_hand() -> None:
    state = after_take(read("4561 - - - - 0 0"), "e2-a2")
    assert (winning("456"), state.end) == (["456"], None)
    assert read(eiyiu.to_text(state)).end is None
    assert eiyiu.play(state, ("lay", eiyiu.cell("a2", state))).end is None


def test_a_tile_laid_between_two_runs_joins_them() -> None:
    assert after(read("12.45/11111 3 - - - 0 0"), "3@d3").end == "run_of_15"
    assert after(read("4.56/1111 5 - - - 0 0"), "5@c3").end is None


def test_a_board_read_with_a_winning_run_on_it_is_won_by_the_seat_not_to_move() -> None:
    assert [read(f"456 - - - - {side} 3").winner for side in (0, 1)] == [1, 0]


# Ending without a winner


def test_so_many_turns_of_moving_end_in_a_draw() -> None:
    state = after(read("12/34 - - - - 0 0", Options(shift_limit=2)), "b3-d2")
    assert (state.shifts, state.end) == (1, None)
    state = after(state, "b2-d3")
    assert (state.shifts, state.end, eiyiu.result(state), eiyiu.legal(state)) == (2, "shift_limit", (0, 0), [])
    assert read(eiyiu.to_text(state), state.options).end == "shift_limit"


def test_a_run_made_by_the_last_turn_of_moving_wins() -> None:
    assert after(read("4561 - - - - 0 0", Options(shift_limit=1)), "e2-c3").end == "run_of_15"


def test_taking_laying_and_lifting_do_not_count_as_turns_of_moving() -> None:
    assert after(eiyiu.start(), "1@b2", "2@c2", "?9@d2").shifts == 0
    assert after_take(read(FULL), "b3-b2").shifts == 0


# Names and texts


def test_cells_are_named_afresh_before_each_turn() -> None:
    state = after(eiyiu.start(), "1@b2", "2@a2")
    assert [eiyiu.name(cell, state) for cell, _ in state.tiles] == ["b2", "c2"]
    assert {eiyiu.cell(name, state) for name in ("b2", "c2")} == eiyiu.cells(state)


def test_the_old_cell_of_a_lifted_tile_belongs_to_the_box() -> None:
    state = after_take(read("1./23 - - - - 0 0"), "c2-b4")
    assert eiyiu.to_text(state) == "1./2_ - - 3 - 0 0"
    state = after_take(read(".1/23 - - - - 0 0"), "b2-d2")
    assert eiyiu.to_text(state) == ".1/_3 - - 2 - 0 0"
    assert places(state) == "b3 c1 c4 d2 d3"


@pytest.mark.parametrize("options", BOTH)
def test_a_text_reads_back_as_the_same_position(options: Options) -> None:
    for seed in range(30):
        for state in random_game(seed, options):
            text = eiyiu.to_text(state)
            again = read(text, options)
            assert eiyiu.to_text(again) == text
            assert [eiyiu.name(cell, again) for cell, _ in again.tiles] == [eiyiu.name(cell, state) for cell, _ in state.tiles]
            assert (again.ply, again.end, again.winner) == (state.ply, state.end, state.winner)
            assert places(again) == places(state)
            if not places(state):
                assert eiyiu.legal(again) == eiyiu.legal(state)


@pytest.mark.parametrize(
    "text",
    [
        "- 123456789 123456789 - - 0",
        "1.2 - - - - 0 0",
        "10 - - - - 0 0",
        "12 - - - - 2 0",
        "12 - - - - 0 201",
        "12 3 - ? - 0 0",
        "1_ - - - - 0 0",
        "1_ 2 - 3 - 0 0",
        "12 - - - d2 0 0",
        "12 - - - b2,- 0 0",
        "12 - - - B2 0 0",
    ],
)
def test_a_text_that_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(text)


# Its own refusals


@pytest.mark.parametrize(
    "action", [("open", 5), ("hidden",), ("deal", 1), ("lift", (0, 0)), ("lay", (0, 0)), ("open", 0), ("take", 1)]
)
def test_an_action_that_is_not_legal_is_refused(action: Action) -> None:
    with pytest.raises(ValueError, match="not legal"):
        eiyiu.play(eiyiu.start(), action)


@pytest.mark.parametrize("values", [(0, "any"), (2001, "any"), (200, "both")])
def test_options_outside_the_rules_are_refused(values: tuple[int, str]) -> None:
    with pytest.raises(ValueError, match=r"shift_limit|same_tile"):
        Options(*values)


def test_a_state_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        eiyiu.start().mover = 1  # type: ignore[misc]
