"""Every sentence of Oware's rules, kept by the slow twin, by a position in hand and by the batch engine."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import envs
from envs import EndReason, IllegalMove, Position, VectorGames
from oware_boards import CHASE, CHASE_ROUND, LETTERS, START, TURNED, TURNED_LINE
from oware_boards import read as twin
from oware_boards import show as twin_text
from reference import oware
from reference.oware import Options, State

pytestmark = pytest.mark.jit_off


class Board:
    """A game of Oware that somebody keeps the rules of."""

    text: str
    mover: int
    end: str | None
    result: tuple[int, int] | None
    scores: tuple[int, int]
    quiet: int
    occurrences: int
    actions: list[int]  # the legal ones
    options: dict[str, Any]

    @classmethod
    def start(cls, **options: Any) -> Board:
        """A new game."""
        raise NotImplementedError

    @classmethod
    def read(cls, text: str, quiet: int = 0, **options: Any) -> Board:
        """The game that the board shows, after so many quiet plies."""
        raise NotImplementedError

    def act(self, action: int) -> Board:
        """The game after the mover's action."""
        raise NotImplementedError

    def play(self, letters: str) -> Board:
        """The game after these moves."""
        board = self
        for letter in letters:
            assert letter.islower() == (board.mover == 1), f"{letter} is not the mover's"
            board = board.act(LETTERS.index(letter) % 6)
        return board

    @property
    def legal(self) -> str:
        """The letters of the legal moves."""
        return "".join(LETTERS[6 * self.mover + action] for action in self.actions)

    @property
    def stores(self) -> tuple[int, int]:
        """What lies in the stores."""
        south, north = map(int, self.text.split("-")[12:14])
        return south, north


class Twin(Board):
    """The slow twin."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.text, self.mover = twin_text(state), state.mover
        self.end, self.result, self.scores = state.end, oware.result(state), oware.scores(state)
        self.quiet, self.occurrences = state.quiet, state.occurrences
        self.actions = oware.legal(state)
        self.options = asdict(state.options)

    @classmethod
    def start(cls, **options: Any) -> Board:
        return cls(oware.start(Options(**options)))

    @classmethod
    def read(cls, text: str, quiet: int = 0, **options: Any) -> Board:
        return cls(twin(text, Options(**options), quiet))

    def act(self, action: int) -> Board:
        return Twin(oware.play(self.state, action))


class Single(Board):
    """A position in hand."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.text, self.mover = position.text, position.mover
        self.end = position.end.label if position.end else None
        self.result, self.scores = position.result, position.scores
        self.quiet, self.occurrences = int(position.observation()[14]), position.occurrences
        self.actions = position.legal_actions()
        self.options = position.options

    @classmethod
    def start(cls, **options: Any) -> Board:
        return cls(envs.start("oware", **options))

    @classmethod
    def read(cls, text: str, quiet: int = 0, **options: Any) -> Board:
        return cls(Position.from_text("oware", f"{text} ; quiet={quiet}", strict=False, **options))

    def act(self, action: int) -> Board:
        return Single(self.position.play(action))


class Batch(Single):
    """One of three games in a batch; the others stay where they are."""

    def __init__(self, games: VectorGames) -> None:
        super().__init__(games.position(1))
        self.games = games
        assert self.actions == list(np.flatnonzero(games.action_mask[1]))

    @classmethod
    def start(cls, **options: Any) -> Board:
        return cls(VectorGames("oware", 3, restart=False, **options))

    @classmethod
    def read(cls, text: str, quiet: int = 0, **options: Any) -> Board:
        games = VectorGames("oware", 3, restart=False, **options)
        position = Position.from_text("oware", f"{text} ; quiet={quiet}", strict=False, **options)
        games.load([position] * 3)
        return cls(games)

    def act(self, action: int) -> Board:
        if self.end:
            raise IllegalMove("legal are none: a batch leaves a finished game alone")
        games = self.games.clone()
        games.step([-1, action, -1], active=np.array([False, True, False]))
        board = Batch(games)
        assert games.ended[1] == (board.end is not None)
        assert (EndReason(int(games.end_reason[1])).label or None) == board.end
        if board.end:
            assert tuple(games.rewards[1]) == board.result
            assert tuple(games.final_scores[1]) == board.scores
        return board


@pytest.fixture(params=[Twin, Single, Batch], ids=lambda kind: kind.__name__.lower())
def rules(request: pytest.FixtureRequest) -> type[Board]:
    """Who keeps the rules."""
    kind: type[Board] = request.param
    return kind


def after(rules: type[Board], text: str, letters: str, **options: Any) -> str:
    return rules.read(text, **options).play(letters).text


# The board


def test_two_rows_of_six_houses_hold_four_seeds_each(rules: type[Board]) -> None:
    assert rules.start().text == START


def test_seat_0_moves_first(rules: type[Board]) -> None:
    assert rules.start().mover == 0


def test_the_seats_move_in_turn(rules: type[Board]) -> None:
    assert [rules.start().play("AbC"[:plies]).mover for plies in range(4)] == [0, 1, 0, 1]


def test_each_player_owns_a_row(rules: type[Board]) -> None:
    assert rules.read("4-0-4-0-4-0-4-4-0-4-0-4-10-10-S").legal == "ACE"
    assert rules.read("4-0-4-0-4-0-4-4-0-4-0-4-10-10-N").legal == "abdf"


def test_each_player_owns_a_store(rules: type[Board]) -> None:
    board = "0-0-0-0-2-1-1-0-0-1-0-1-20-22-S"
    assert after(rules, board, "F") == "0-0-0-0-2-0-0-0-0-1-0-1-22-22-N"
    board = "1-0-0-0-2-0-0-0-0-1-0-1-21-22-N"
    assert after(rules, board, "f") == "0-0-0-0-2-0-0-0-0-1-0-0-21-24-S"


def test_after_ones_house_6_comes_the_others_house_1(rules: type[Board]) -> None:
    assert after(rules, START, "F") == "4-4-4-4-4-0-5-5-5-5-4-4-0-0-N"
    assert after(rules, START, "Ff") == "5-5-5-5-4-0-5-5-5-5-4-0-0-0-S"


# A move


def test_a_house_is_emptied_into_the_following_houses_of_both_rows_and_no_store(rules: type[Board]) -> None:
    board = "4-4-10-4-4-4-4-4-4-1-1-4-0-0-S"
    assert after(rules, board, "C") == "5-4-0-5-5-5-5-5-5-2-2-5-0-0-N"


def test_the_first_move_of_the_worked_example_gives_0_5_5_5_5_4(rules: type[Board]) -> None:
    assert after(rules, START, "A") == "0-5-5-5-5-4-4-4-4-4-4-4-0-0-N"


def test_eleven_seeds_end_just_before_the_house_of_origin(rules: type[Board]) -> None:
    board = "4-4-4-11-4-4-4-4-4-4-1-0-0-0-S"
    assert after(rules, board, "D") == "5-5-5-0-5-5-5-5-5-5-2-1-0-0-N"


def test_twelve_seeds_skip_the_house_of_origin(rules: type[Board]) -> None:
    board = "4-4-4-12-4-4-4-4-4-4-0-0-0-0-S"
    assert after(rules, board, "D") == "5-5-5-0-6-5-5-5-5-5-1-1-0-0-N"


def test_twenty_two_seeds_end_just_before_the_house_of_origin(rules: type[Board]) -> None:
    board = "2-2-2-22-2-2-4-4-4-4-0-0-0-0-S"
    assert after(rules, board, "D") == "4-4-4-0-4-4-6-6-6-6-2-2-0-0-N"


def test_twenty_three_seeds_skip_the_house_of_origin_on_every_lap(rules: type[Board]) -> None:
    board = "2-2-2-23-2-2-4-4-4-3-0-0-0-0-S"
    assert after(rules, board, "D") == "4-4-4-0-5-4-6-6-6-5-2-2-0-0-N"


@pytest.mark.parametrize(
    ("text", "letter", "expected"),
    [
        ("48-0-0-0-0-0-0-0-0-0-0-0-0-0-S", "A", "0-5-5-5-5-4-4-4-4-4-4-4-0-0-N"),
        ("0-0-0-0-0-48-0-0-0-0-0-0-0-0-S", "F", "4-4-4-4-4-0-5-5-5-5-4-4-0-0-N"),
        ("0-0-0-0-0-0-0-0-48-0-0-0-0-0-N", "c", "5-4-4-4-4-4-4-4-0-5-5-5-0-0-S"),
    ],
)
def test_all_48_seeds_sown_from_one_house_go_round_the_board(rules: type[Board], text: str, letter: str, expected: str) -> None:
    assert rules.read(text).text == text
    assert after(rules, text, letter) == expected


# Capture


@pytest.mark.parametrize(("before", "captured"), [(0, 0), (1, 2), (2, 3), (3, 0), (4, 0)])
def test_a_last_seed_that_makes_two_or_three_captures(rules: type[Board], before: int, captured: int) -> None:
    board = rules.read(f"4-4-4-0-0-1-{before}-0-0-4-4-4-0-0-S").play("F")
    assert board.stores == (captured, 0)
    assert board.text.split("-")[6] == str(before + 1 if captured == 0 else 0)


def test_two_or_three_in_an_own_house_capture_nothing(rules: type[Board]) -> None:
    assert after(rules, "1-1-0-0-0-0-1-4-4-4-4-4-10-15-S", "A").endswith("-10-15-N")
    assert after(rules, "4-4-4-4-4-1-1-2-0-0-0-0-10-14-N", "a").endswith("-10-14-S")


def test_two_or_three_made_before_the_last_seed_capture_nothing_by_themselves(rules: type[Board]) -> None:
    board = "4-4-4-4-4-3-1-2-4-4-4-4-3-3-S"
    assert after(rules, board, "F") == "4-4-4-4-4-0-2-3-5-4-4-4-3-3-N"


def test_going_backwards_every_directly_preceding_two_or_three_is_taken(rules: type[Board]) -> None:
    board = "0-0-0-0-0-4-1-2-1-2-4-4-15-15-S"
    assert after(rules, board, "F") == "0-0-0-0-0-0-0-0-0-0-4-4-25-15-N"


def test_going_backwards_the_first_other_house_stops_the_harvest(rules: type[Board]) -> None:
    board = "0-0-0-0-0-4-1-3-1-2-4-4-14-15-S"
    assert after(rules, board, "F") == "0-0-0-0-0-0-2-4-0-0-4-4-19-15-N"


def test_the_harvest_stays_on_the_opponents_side(rules: type[Board]) -> None:
    board = "0-0-0-0-1-2-1-1-0-4-4-4-15-16-S"
    assert after(rules, board, "F") == "0-0-0-0-1-0-0-0-0-4-4-4-19-16-N"
    board = "1-1-4-4-4-4-0-0-0-0-2-2-13-13-N"
    assert after(rules, board, "f") == "0-0-4-4-4-4-0-0-0-0-2-0-13-17-S"


def test_a_harvest_that_would_take_everything_takes_nothing_and_the_move_stands(rules: type[Board]) -> None:
    board = "0-0-0-0-1-2-1-1-0-0-0-0-21-22-S"
    assert after(rules, board, "F") == "0-0-0-0-1-0-2-2-0-0-0-0-21-22-N"
    board = "2-0-0-0-0-0-0-0-0-0-3-1-20-22-N"
    assert after(rules, board, "f") == "3-0-0-0-0-0-0-0-0-0-3-0-20-22-S"


def test_a_single_house_can_be_a_grand_slam(rules: type[Board]) -> None:
    board = "0-0-0-0-3-1-1-0-0-0-0-0-21-22-S"
    assert after(rules, board, "F") == "0-0-0-0-3-0-2-0-0-0-0-0-21-22-N"


def test_five_houses_need_not_be_a_grand_slam(rules: type[Board]) -> None:
    board = "0-0-0-0-3-5-1-1-1-1-1-1-13-21-S"
    assert after(rules, board, "F") == "0-0-0-0-3-0-0-0-0-0-0-1-23-21-N"


def test_five_houses_with_the_sixth_empty_are_a_grand_slam(rules: type[Board]) -> None:
    board = "0-0-0-0-3-5-1-1-1-1-1-0-14-21-S"
    assert after(rules, board, "F") == "0-0-0-0-3-0-2-2-2-2-2-0-14-21-N"


def test_a_seed_beside_the_chain_makes_it_no_grand_slam(rules: type[Board]) -> None:
    board = "0-0-0-0-3-1-1-0-0-0-0-1-20-22-S"
    assert after(rules, board, "F") == "0-0-0-0-3-0-0-0-0-0-0-1-22-22-N"


# Feeding


def test_an_empty_opponents_side_must_be_fed(rules: type[Board]) -> None:
    assert rules.read("0-0-4-1-1-1-0-0-0-0-0-0-20-21-S").legal == "CF"
    assert rules.read("0-0-0-0-0-0-0-0-4-1-1-1-20-21-N").legal == "cf"


def test_moves_that_do_not_feed_are_illegal(rules: type[Board]) -> None:
    board = rules.read("0-0-4-1-1-1-0-0-0-0-0-0-20-21-S")
    with pytest.raises(ValueError, match=r"legal.*2.*5|may play.*2.*5"):
        board.play("D")


def test_an_opponent_with_one_seed_need_not_be_fed(rules: type[Board]) -> None:
    assert rules.read("0-0-4-1-1-1-0-1-0-0-0-0-20-20-S").legal == "CDEF"


def test_an_opponent_who_cannot_be_fed_ends_the_game(rules: type[Board]) -> None:
    board = rules.read("1-1-2-1-1-0-0-0-0-0-0-0-20-22-S")
    assert (board.legal, board.end) == ("", "no_moves")


# End


def test_a_new_game_has_not_ended(rules: type[Board]) -> None:
    board = rules.start()
    assert (board.end, board.result, board.scores) == (None, None, (0, 0))


def test_more_than_24_seeds_in_a_store_win(rules: type[Board]) -> None:
    board = rules.read("0-0-0-0-2-1-1-0-0-1-0-1-23-19-S").play("F")
    assert board.text == "0-0-0-0-2-0-0-0-0-1-0-1-25-19-N"
    assert (board.end, board.result) == ("majority", (1, -1))
    board = rules.read("1-0-0-0-2-0-0-0-0-1-0-1-20-23-N").play("f")
    assert (board.end, board.result) == ("majority", (-1, 1))


def test_24_seeds_in_one_store_do_not_win(rules: type[Board]) -> None:
    board = rules.read("0-0-0-0-2-1-1-0-0-1-0-1-22-20-S").play("F")
    assert (board.stores, board.end) == ((24, 20), None)


def test_24_and_24_is_a_draw(rules: type[Board]) -> None:
    board = rules.read("0-0-0-0-0-1-1-0-0-0-0-0-22-24-S", grand_slam="capture").play("F")
    assert board.text == "0-0-0-0-0-0-0-0-0-0-0-0-24-24-N"
    assert (board.end, board.result, board.scores) == ("even_split", (0, 0), (24, 24))


def test_a_mover_who_cannot_feed_ends_the_game(rules: type[Board]) -> None:
    board = rules.read("1-1-0-0-0-0-0-0-0-0-0-1-23-22-N").play("f")
    assert board.text == "0-1-0-0-0-0-0-0-0-0-0-0-23-24-S"
    assert (board.end, board.legal) == ("no_moves", "")


def test_a_mover_with_an_empty_side_ends_the_game(rules: type[Board]) -> None:
    board = rules.read("0-0-0-0-0-0-2-1-1-1-1-0-22-20-S")
    assert (board.end, board.legal) == ("no_moves", "")


def test_an_empty_side_ends_no_game_while_the_mover_can_feed_it(rules: type[Board]) -> None:
    assert rules.read("0-0-0-0-0-0-0-0-0-0-0-2-23-23-N").end is None
    assert rules.read("0-0-0-0-0-2-0-0-0-0-0-0-23-23-S").end is None


def test_the_third_occurrence_of_a_position_ends_the_game(rules: type[Board]) -> None:
    board = rules.read(CHASE).play(CHASE_ROUND + CHASE_ROUND[:-1])
    assert (board.occurrences, board.end) == (2, None)
    board = board.play(CHASE_ROUND[-1])
    assert (board.occurrences, board.end) == (3, "repetition")


@pytest.mark.parametrize("limit", range(2, 10))
def test_the_game_ends_at_the_occurrence_the_repetition_limit_names(rules: type[Board], limit: int) -> None:
    board = rules.read(CHASE, repetition_limit=limit).play(CHASE_ROUND * (limit - 1))
    assert (board.occurrences, board.end) == (limit, "repetition")


def test_the_start_counts_as_the_first_occurrence(rules: type[Board]) -> None:
    assert rules.start().occurrences == 1
    assert rules.read(CHASE).occurrences == 1
    assert rules.read(CHASE).play(CHASE_ROUND).occurrences == 2


def test_an_occurrence_counts_the_side_to_move(rules: type[Board]) -> None:
    board = rules.read(TURNED, repetition_limit=2).play(TURNED_LINE)
    assert board.text == TURNED[:-1] + "N"
    assert (board.occurrences, board.end) == (1, None)


def test_occurrences_are_counted_from_the_last_harvest_on(rules: type[Board]) -> None:
    board = rules.read("0-1-0-0-0-2-0-1-0-0-0-0-21-23-S", quiet=30).play("F")
    assert (board.text, board.quiet) == ("0-1-0-0-0-0-1-0-0-0-0-0-23-23-N", 0)
    board = board.play("aBbCcDdEeFfA")
    assert (board.occurrences, board.end) == (2, None)
    assert board.play("aBbCcDdEeFfA").end == "repetition"


def test_the_limit_of_quiet_plies_ends_the_game(rules: type[Board]) -> None:
    board = rules.read(CHASE, repetition_limit=0).play((CHASE_ROUND * 14)[:159])
    assert (board.quiet, board.end) == (159, None)
    board = board.play(board.legal)
    assert (board.quiet, board.end) == (160, "quiet_limit")


@pytest.mark.parametrize("limit", [1, 2, 11, 12, 13, 19, 20, 21, 37])
def test_the_game_ends_at_the_quiet_ply_the_quiet_limit_names(rules: type[Board], limit: int) -> None:
    board = rules.read(CHASE, quiet_limit=limit, repetition_limit=9).play((CHASE_ROUND * 4)[: limit - 1])
    assert (board.quiet, board.end) == (limit - 1, None)
    board = board.play(board.legal)
    assert (board.quiet, board.end) == (limit, "quiet_limit")


def test_a_position_by_hand_with_its_quiet_plies_used_up_has_ended(rules: type[Board]) -> None:
    assert rules.read(CHASE, quiet=159).end is None
    assert rules.read(CHASE, quiet=160).end == "quiet_limit"


def test_a_harvest_makes_the_quiet_plies_start_again(rules: type[Board]) -> None:
    board = rules.read("0-0-0-0-3-1-1-0-0-1-0-1-20-21-S", quiet=100)
    assert board.play("F").quiet == 0
    assert board.play("E").quiet == 101


def test_a_forfeited_harvest_is_quiet(rules: type[Board]) -> None:
    assert rules.read("0-0-0-0-3-1-1-0-0-0-0-0-21-22-S", quiet=100).play("F").quiet == 101


def test_a_majority_comes_before_a_mover_without_a_move(rules: type[Board]) -> None:
    board = rules.read("0-0-0-0-0-1-1-0-0-0-0-0-23-23-S", grand_slam="capture").play("F")
    assert board.text == "0-0-0-0-0-0-0-0-0-0-0-0-25-23-N"
    assert board.end == "majority"


def test_an_even_split_comes_before_a_mover_without_a_move(rules: type[Board]) -> None:
    assert rules.read("0-0-0-0-0-0-0-0-0-0-0-0-24-24-S").end == "even_split"


def test_a_mover_without_a_move_comes_before_the_quiet_limit(rules: type[Board]) -> None:
    board = rules.read("3-0-0-0-0-0-0-0-0-0-0-1-22-22-N", quiet_limit=1).play("f")
    assert (board.text, board.quiet) == ("4-0-0-0-0-0-0-0-0-0-0-0-22-22-S", 1)
    assert (board.end, board.scores) == ("no_moves", (26, 22))


def test_a_repetition_comes_before_the_quiet_limit(rules: type[Board]) -> None:
    board = rules.read(CHASE, quiet_limit=24).play(CHASE_ROUND * 2)
    assert (board.occurrences, board.quiet, board.end) == (3, 24, "repetition")


def test_a_majority_comes_before_the_quiet_limit(rules: type[Board]) -> None:
    assert rules.read("1-0-0-0-0-0-1-0-0-0-0-0-25-21-S", quiet=160).end == "majority"


def test_without_a_move_each_side_keeps_the_seeds_on_its_own_side(rules: type[Board]) -> None:
    south = rules.read("1-1-2-1-1-0-0-0-0-0-0-0-20-22-S")
    assert (south.scores, south.result) == ((26, 22), (1, -1))
    north = rules.read("0-0-0-0-0-0-2-1-1-1-1-0-22-20-S")
    assert (north.scores, north.result) == ((22, 26), (-1, 1))


def test_after_a_repetition_each_side_keeps_the_seeds_on_its_own_side(rules: type[Board]) -> None:
    board = rules.read("1-0-0-0-0-0-1-0-0-0-0-0-24-22-S").play(CHASE_ROUND * 2)
    assert (board.end, board.scores, board.result) == ("repetition", (25, 23), (1, -1))


def test_at_the_quiet_limit_each_side_keeps_the_seeds_on_its_own_side(rules: type[Board]) -> None:
    board = rules.read("1-0-0-0-0-0-1-0-0-0-0-0-22-24-S", quiet_limit=2).play("Aa")
    assert (board.end, board.scores, board.result) == ("quiet_limit", (23, 25), (-1, 1))


def test_equal_seeds_draw(rules: type[Board]) -> None:
    board = rules.read(CHASE).play(CHASE_ROUND * 2)
    assert (board.scores, board.result) == ((24, 24), (0, 0))


def test_the_board_stays_as_the_last_move_left_it(rules: type[Board]) -> None:
    assert rules.read(CHASE).play(CHASE_ROUND * 2).text == CHASE
    assert rules.read("1-1-2-1-1-0-0-0-0-0-0-0-20-22-S").text == "1-1-2-1-1-0-0-0-0-0-0-0-20-22-S"


def test_after_a_majority_the_final_scores_are_the_stores_alone(rules: type[Board]) -> None:
    assert rules.read("0-0-0-0-2-0-0-0-0-1-0-1-25-19-N").scores == (25, 19)


def test_while_the_game_runs_the_scores_are_the_stores_alone(rules: type[Board]) -> None:
    assert rules.read(CHASE).scores == (23, 23)


def test_a_short_text_shows_only_the_first_two_endings(rules: type[Board]) -> None:
    assert rules.read("0-0-0-0-2-0-0-0-0-1-0-1-25-19-N").end == "majority"
    assert rules.read("1-0-0-0-0-0-0-0-0-0-0-0-23-24-S").end == "no_moves"
    board = rules.read(CHASE).play(CHASE_ROUND * 2)
    assert board.end == "repetition"
    assert rules.read(board.text).end is None


@pytest.mark.parametrize(
    "text",
    [
        "0-0-0-0-2-0-0-0-0-1-0-1-25-19-N",
        "0-0-0-0-0-0-0-0-0-0-0-0-24-24-S",
        "0-0-0-0-0-0-2-1-1-1-1-0-22-20-S",
    ],
)
def test_a_finished_game_has_no_legal_moves(rules: type[Board], text: str) -> None:
    board = rules.read(text)
    assert board.legal == ""
    for action in range(6):
        with pytest.raises(ValueError, match="legal"):
            board.act(action)


def test_a_game_ended_by_a_limit_has_no_legal_moves(rules: type[Board]) -> None:
    assert rules.read(CHASE).play(CHASE_ROUND * 2).legal == ""
    assert rules.read(CHASE, quiet=160).legal == ""


# Options


def test_the_standard_options_are_third_occurrence_160_plies_and_forfeit(rules: type[Board]) -> None:
    assert rules.start().options == {"repetition_limit": 3, "quiet_limit": 160, "grand_slam": "forfeit"}


def test_with_the_repetition_limit_off_occurrences_are_not_counted(rules: type[Board]) -> None:
    board = rules.read(CHASE, repetition_limit=0).play(CHASE_ROUND * 5)
    assert (board.occurrences, board.end) == (1, None)


@pytest.mark.parametrize("rules", [Twin, Single])
def test_with_the_quiet_limit_off_only_a_repetition_ends_a_quiet_game(rules: type[Board]) -> None:
    board = rules.read(CHASE, quiet=2000, repetition_limit=9, quiet_limit=0)
    assert board.end is None
    assert board.play(CHASE_ROUND * 8).end == "repetition"


def test_both_limits_off_are_refused(rules: type[Board]) -> None:
    with pytest.raises(ValueError, match=r"both (be )?(off|0)"):
        rules.start(repetition_limit=0, quiet_limit=0)


@pytest.mark.parametrize("limit", [-1, 1, 10])
def test_the_repetition_limit_is_0_or_2_to_9(rules: type[Board], limit: int) -> None:
    with pytest.raises(ValueError, match="repetition_limit"):
        rules.start(repetition_limit=limit)


@pytest.mark.parametrize("limit", [-1, 2001])
def test_the_quiet_limit_is_0_to_2000(rules: type[Board], limit: int) -> None:
    with pytest.raises(ValueError, match="quiet_limit"):
        rules.start(quiet_limit=limit)


def test_an_unknown_grand_slam_convention_is_refused(rules: type[Board]) -> None:
    with pytest.raises(ValueError, match="grand_slam"):
        rules.start(grand_slam="partial")


def test_where_grand_slams_are_illegal_they_are_not_among_the_moves(rules: type[Board]) -> None:
    text = "0-0-0-0-3-1-1-0-0-0-0-0-21-22-S"
    assert rules.read(text).legal == "EF"
    assert rules.read(text, grand_slam="illegal").legal == "E"
    assert rules.read(text, grand_slam="capture").legal == "EF"


def test_where_grand_slams_are_illegal_smaller_harvests_are_taken(rules: type[Board]) -> None:
    board = "0-0-0-0-3-1-1-0-0-0-0-1-20-22-S"
    assert after(rules, board, "F", grand_slam="illegal") == "0-0-0-0-3-0-0-0-0-0-0-1-22-22-N"


def test_where_only_grand_slams_are_left_they_are_legal_and_forfeit(rules: type[Board]) -> None:
    text = "0-0-0-0-0-1-1-0-0-0-0-0-23-23-S"
    assert rules.read(text, grand_slam="illegal").legal == "F"
    assert after(rules, text, "F", grand_slam="illegal") == "0-0-0-0-0-0-2-0-0-0-0-0-23-23-N"


def test_where_grand_slams_are_illegal_the_feeding_rule_filters_first(rules: type[Board]) -> None:
    # F's 17 seeds feed the empty side and would take all of it; A is no grand slam but does
    # not feed, so the feeding rule leaves F alone, and F is legal and forfeits.
    text = "1-0-0-0-0-17-0-0-0-0-0-0-15-15-S"
    assert rules.read(text, grand_slam="illegal").legal == "F"
    assert after(rules, text, "F", grand_slam="illegal") == "2-1-1-1-1-0-2-2-2-2-2-2-15-15-N"


def test_where_one_feeding_move_is_a_grand_slam_and_one_is_not_the_other_must_be_played(rules: type[Board]) -> None:
    text = "0-0-0-0-2-17-0-0-0-0-0-0-14-15-S"
    assert rules.read(text).legal == "EF"
    assert rules.read(text, grand_slam="illegal").legal == "E"


def test_where_grand_slams_capture_everything_is_taken(rules: type[Board]) -> None:
    board = rules.read("0-0-0-0-3-1-1-0-0-0-0-0-21-22-S", quiet=9, grand_slam="capture").play("F")
    assert board.text == "0-0-0-0-3-0-0-0-0-0-0-0-23-22-N"
    assert board.quiet == 0


def test_where_grand_slams_capture_the_emptied_opponent_has_no_move(rules: type[Board]) -> None:
    board = rules.read("0-0-0-0-3-1-1-0-0-0-0-0-21-22-S", grand_slam="capture").play("F")
    assert (board.end, board.legal) == ("no_moves", "")
    assert (board.scores, board.result) == ((26, 22), (1, -1))


def test_where_grand_slams_capture_feeding_is_judged_before_the_harvest(rules: type[Board]) -> None:
    text = "1-0-0-0-0-17-0-0-0-0-0-0-10-20-S"
    assert rules.read(text, grand_slam="capture").legal == "F"
    assert after(rules, text, "F", grand_slam="capture") == "2-1-1-1-1-0-0-0-0-0-0-0-22-20-N"


# Refusals


def test_an_illegal_action_is_refused_with_the_legal_moves_and_changes_nothing(rules: type[Board]) -> None:
    board = rules.read("4-0-4-0-4-0-4-4-0-4-0-4-10-10-S")
    for action in (-1, 1, 3, 5, 6, 11):
        with pytest.raises(ValueError, match=r"0.*2.*4"):
            board.act(action)
        assert (board.text, board.legal) == ("4-0-4-0-4-0-4-4-0-4-0-4-10-10-S", "ACE")
