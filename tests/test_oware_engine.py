"""Oware in the engine: figures known from elsewhere, its texts, its observation, and what its history rests on."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import envs
import figures
from envs import BadOption, BadText, EndReason, Position, VectorGames
from envs.games import find_game
from envs.games.oware import rules
from oware_boards import (
    CHASE,
    CHASE_ROUND,
    LETTERS,
    START,
    all_houses,
    in_engine,
    random_state,
    turned,
)
from oware_boards import read as board
from reference import oware
from reference.oware import STANDARD, Houses, Options

pytestmark = pytest.mark.bounds

needs_records = pytest.mark.skipif(
    figures.records_missing("oware_games.json") is not None,
    reason=str(figures.records_missing("oware_games.json")),
)

FULL_START = f"{START} ; repetition_limit=3 quiet_limit=160 grand_slam=forfeit quiet=0 ply=0"


def read(text: str, **options: Any) -> Position:
    return Position.from_text("oware", text, strict=False, **options)


def houses_of(position: Position) -> Houses:
    return tuple(map(int, position.text.split("-")[:12]))


def stores_of(position: Position) -> tuple[int, int]:
    south, north = map(int, position.text.split("-")[12:14])
    return south, north


def label(position: Position) -> str | None:
    return position.end.label if position.end else None


# Figures


@pytest.mark.parametrize("depth", range(1, 9))
def test_as_many_lines_lead_from_the_start_as_known_elsewhere(depth: int) -> None:
    assert envs.start("oware").perft(depth) == figures.oware_start_perft().counts[depth - 1]


@pytest.mark.parametrize("case", figures.oware_perft(), ids=lambda case: case.category)
def test_as_many_lines_lead_from_a_position_as_known_elsewhere(case: figures.OwarePerft) -> None:
    position = in_engine(oware.position(case.houses, case.stores, case.mover))
    assert tuple(position.perft(depth) for depth in range(1, 7)) == case.counts


def test_one_line_of_no_plies_leads_from_anywhere() -> None:
    assert envs.start("oware").perft(0) == 1
    assert read("0-0-0-0-2-0-0-0-0-1-0-1-25-19-N").perft(0) == 1


def test_no_line_leads_from_a_finished_game() -> None:
    assert read("0-0-0-0-2-0-0-0-0-1-0-1-25-19-N").perft(3) == 0


@pytest.mark.parametrize("options", [Options(3), Options(2), Options(0), Options(2, 13), Options(9, 14)])
def test_lines_end_where_a_repetition_or_the_quiet_limit_ends_them(options: Options) -> None:
    # Of the three seeds one is spare, so that there are lines of many lengths; the shortest cycle has twelve plies.
    state = oware.position((1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0), (22, 23), 0, options)
    position = in_engine(state)
    expected = lines_by_depth(state, 26)
    assert [position.perft(depth) for depth in range(1, 27)] == expected
    played = position
    for action in (0, 2, 1, 3):
        played = played.play(action)
        state = oware.play(state, action)
    assert [played.perft(depth) for depth in range(1, 20)] == lines_by_depth(state, 19)


@pytest.mark.parametrize(
    ("text", "moves", "depth"),
    [
        ("1-0-0-2-1-0-1-0-0-0-0-0-21-22-S", "EaFbDcAaBdFaEeFbCaDfAbBcCdEe", 14),
        ("1-0-0-0-1-0-1-0-1-0-0-0-13-18-S", "EcAaBdFaCbDeEcFfAdBfAeCaDfAbBcCdDe", 18),
    ],
)
def test_lines_after_a_harvest_leave_the_history_to_their_siblings(text: str, moves: str, depth: int) -> None:
    state, position = board(text, Options(repetition_limit=2, quiet_limit=400)), read(text, repetition_limit=2, quiet_limit=400)
    for move in moves:
        state, position = oware.play(state, LETTERS.index(move) % 6), position.play(move)
    assert [position.perft(plies) for plies in range(1, depth + 1)] == lines_by_depth(state, depth)


def lines_by_depth(state: oware.State, deepest: int) -> list[int]:
    """The twin's perft counts for depth 1 to the deepest."""
    counts = []
    layer = [state]
    for _ in range(deepest):
        layer = [oware.play(one, action) for one in layer for action in oware.legal(one)]
        counts.append(len(layer))
    return counts


@pytest.mark.slow
def test_as_many_lines_of_nine_and_ten_plies_lead_from_the_start_as_in_the_twin() -> None:
    # Too short for a repetition, so lines that meet in a position may be counted there together.
    layer = Counter({(oware.start().houses, oware.start().stores, 0): 1})
    counts = []
    for ply in range(1, 11):
        following: Counter[tuple[Houses, oware.Stores, int]] = Counter()
        count = 0
        for (houses, stores, mover), lines in layer.items():
            pits = oware.legal_houses(houses, mover, "forfeit") if max(stores) <= 24 else []
            count += lines * len(pits)
            for pit in pits if ply < 10 else []:
                board, captured = oware.move(houses, pit, "forfeit")
                following[board, oware.put_into_store(stores, mover, captured), 1 - mover] += lines
        layer = following
        counts.append(count)
    assert tuple(counts[:8]) == figures.oware_start_perft().counts
    assert counts[9] == 18_137_964
    assert [envs.start("oware").perft(depth) for depth in (9, 10)] == counts[8:]


@pytest.mark.slow
def test_as_many_lines_of_nine_and_ten_plies_lead_from_the_start_as_in_openspiel() -> None:
    pyspiel = pytest.importorskip("pyspiel")

    def lines(state: Any, depth: int) -> int:
        if state.is_terminal():
            return 0
        actions: list[int] = state.legal_actions()
        return len(actions) if depth == 1 else sum(lines(state.child(action), depth - 1) for action in actions)

    start = pyspiel.load_game("oware").new_initial_state()
    for depth in (9, 10):
        assert envs.start("oware").perft(depth) == lines(start, depth)


@pytest.mark.parametrize("case", figures.oware_positions())
def test_a_single_position_is_as_known_elsewhere(case: figures.OwarePosition) -> None:
    position = in_engine(oware.position(case.houses, case.stores, case.mover))
    if case.legal is not None:
        assert position.legal_actions() == case.legal
        assert (label(position) == "no_moves") == (case.legal == [])
    if case.final_scores is not None:
        assert position.scores == case.final_scores
    if case.winner is not None:
        assert position.result == ((1, -1) if case.winner == 0 else (-1, 1))
    if case.action is not None:
        played = position.play(case.action)
        assert houses_of(played) == case.houses_after
        assert stores_of(played)[case.mover] - case.stores[case.mover] == case.captured


@pytest.mark.parametrize("line", figures.oware_lines())
def test_a_short_line_from_the_start_leads_where_known_elsewhere(line: figures.OwareLine) -> None:
    position = envs.start("oware").play_all([LETTERS[pit] for pit in line.pits])
    assert houses_of(position) == line.houses_after
    if line.legal_count_after is not None:
        assert len(position.legal_actions()) == line.legal_count_after


@pytest.mark.parametrize("game", figures.oware_random_games(), ids=lambda game: game.end)
@pytest.mark.parametrize("repetition_limit", [2, 3])
def test_a_random_game_ends_as_known_elsewhere(game: figures.OwareRandomGame, repetition_limit: int) -> None:
    position = envs.start("oware", repetition_limit=repetition_limit)
    for action in game.actions:
        assert position.end is None
        position = position.play(action)
    assert (houses_of(position), stores_of(position)) == (game.houses, game.stores)
    if game.end == "majority":
        assert (label(position), position.scores) == ("majority", game.stores)
    elif game.end == "no_legal":
        assert (label(position), position.scores) == ("no_moves", game.final_scores)
    elif repetition_limit == 2:
        assert (label(position), position.scores) == ("repetition", game.final_scores)
    else:
        assert (position.occurrences, position.end, position.scores) == (2, None, game.stores)


@needs_records
def test_recorded_games_replay_to_their_last_board() -> None:
    for record in figures.oware_records():
        # Games went on after what ends them here, so every ply is played from the board alone, with empty stores.
        houses, stores, mover = oware.start().houses, [0, 0], 0
        for pit in record.pits:
            board = in_engine(oware.position(houses, (0, 0), mover))
            position = board.play(pit - 6 * mover)
            houses, mover = houses_of(position), position.mover
            stores = [had + got for had, got in zip(stores, stores_of(position), strict=True)]
        assert (houses, tuple(stores), mover) == (record.houses, record.stores, record.mover), record.source
        if record.legal_after is not None:
            assert in_engine(oware.position(houses, (0, 0), mover)).legal_actions() == record.legal_after, record.source


@needs_records
@pytest.mark.parametrize("repetition_limit", [2, 3])
def test_recorded_games_end_at_the_ply_of_their_first_event(repetition_limit: int) -> None:
    ends = {"majority_ply": "majority", "no_legal_move_ply": "no_moves"}
    if repetition_limit == 2:
        ends["second_occurrence_ply"] = "repetition"
    for record in figures.oware_records():
        position = envs.start("oware", repetition_limit=repetition_limit)
        while position.end is None and position.ply < len(record.pits):
            position = position.play(LETTERS[record.pits[position.ply]])
        events = [(ply, ends[name]) for name, ply in record.events.items() if name in ends]
        expected = min(events, default=(len(record.pits), None))
        assert (position.ply, label(position)) == expected, record.source


# Ends


def test_random_games_in_a_batch_come_to_every_end() -> None:
    reached: Counter[str] = Counter()
    for options in (Options(2, 160, "forfeit"), Options(3, 30, "illegal"), Options(3, 160, "capture")):
        games = VectorGames("oware", 1024, seed=1, **vars(options))
        for _ in range(400):
            games.step(games.random_actions())
            reached.update(EndReason(int(reason)).label for reason in games.end_reason[games.ended])
    assert set(reached) == {"majority", "even_split", "no_moves", "repetition", "quiet_limit"}


# Observation


def test_the_observation_is_as_its_fields_say() -> None:
    position = Position.from_text("oware", "3-0-5-0-7-1-0-9-0-2-0-6-5-10-N ; quiet=11")
    expected = {
        "own_houses": [0, 9, 0, 2, 0, 6],
        "other_houses": [3, 0, 5, 0, 7, 1],
        "own_store": [10],
        "other_store": [5],
        "quiet": [11],
        "occurrences": [1],
        "to_move": [1],
    }
    numbers = iter(position.observation(1).tolist())
    assert {field.name: [next(numbers) for _ in range(field.size)] for field in find_game("oware").observation} == expected
    assert position.observation(0).tolist() == [3, 0, 5, 0, 7, 1, 0, 9, 0, 2, 0, 6, 5, 10, 11, 1, 0]


def test_both_seats_see_the_same_on_a_turned_board() -> None:
    rng = np.random.default_rng(2)
    for _ in range(500):
        text = in_engine(random_state(rng, int(rng.integers(1, 49)))).text
        position, other = read(text), read(turned(text))
        assert other.mover == 1 - position.mover
        for player in range(2):
            np.testing.assert_array_equal(position.observation(player), other.observation(1 - player))
        np.testing.assert_array_equal(position.action_mask(), other.action_mask())
        for action in position.legal_actions():
            assert other.play(action).text == turned(position.play(action).text)
            assert other.play(action).result == (position.play(action).result or (None,))[::-1] or not position.play(action).end


def test_the_observation_tells_the_occurrences() -> None:
    position = read(CHASE)
    for occurrences in (1, 2, 3):
        assert position.observation()[15] == position.occurrences == occurrences
        position = position if position.end else position.play_all(list(CHASE_ROUND))


def test_nobody_is_to_move_after_the_end() -> None:
    position = read("0-0-0-0-2-0-0-0-0-1-0-1-25-19-N")
    assert [position.observation(player)[16] for player in range(2)] == [0, 0]


@pytest.mark.parametrize("quiet", [1999, 2000, 2001, 32767, 32768, 100_000])
def test_a_count_of_quiet_plies_is_refused_or_shown_within_the_bounds(quiet: int) -> None:
    low, high = find_game("oware").observation_bounds()
    try:
        position = read(f"{CHASE} ; quiet={quiet}", quiet_limit=0).play("A")
    except BadText:
        assert quiet > 2000
        return
    seen = position.observation()
    assert (low <= seen).all() and (seen <= high).all()


# Texts


def test_the_full_text_of_the_start_tells_options_and_counters() -> None:
    assert envs.start("oware").full_text == FULL_START
    assert Position.from_text("oware", FULL_START) == envs.start("oware")


def test_the_full_text_tells_the_last_move_and_the_history() -> None:
    position = envs.start("oware", repetition_limit=5, quiet_limit=20, grand_slam="capture").play_all("A a")
    board, details = position.full_text.split(" ; ")
    assert board == "0-5-5-5-5-4-0-5-5-5-5-4-0-0-S"
    given = dict(detail.split("=") for detail in details.split())
    history = given.pop("history")
    assert given == {
        "repetition_limit": "5",
        "quiet_limit": "20",
        "grand_slam": "capture",
        "quiet": "2",
        "ply": "2",
        "last": "a",
    }
    assert len(set(history.split(","))) == 2


def test_a_short_text_is_read_with_the_options_given_and_no_past() -> None:
    position = read(CHASE, repetition_limit=2).play_all(list(CHASE_ROUND))
    assert label(position) == "repetition"
    again = read(position.text, repetition_limit=2)
    assert (again.end, again.occurrences, again.last_move) == (None, 1, None)
    assert again.options == {"repetition_limit": 2, "quiet_limit": 160, "grand_slam": "forfeit"}


def test_a_text_in_mid_chase_goes_on_to_the_same_repetition() -> None:
    line = list(CHASE_ROUND * 2)
    for plies in range(24):
        position = read(read(CHASE).play_all(line[:plies]).full_text).play_all(line[plies:])
        assert (label(position), position.occurrences) == ("repetition", 3)


def test_blanks_around_a_text_do_not_matter() -> None:
    assert Position.from_text("oware", f"  {START}\n") == envs.start("oware")
    assert Position.from_text("oware", f"{START};quiet=0") == envs.start("oware")


def test_only_a_loose_reader_takes_a_board_with_too_few_seeds() -> None:
    text = "4-4-4-4-4-4-4-4-4-4-4-3-0-0-S"
    assert read(text).text == text
    with pytest.raises(BadText, match=r"48 seeds.* has 47"):
        Position.from_text("oware", text)


BOARDS = {
    "nothing": "",
    "a blank": " ",
    "a word": "start",
    "no side": "4-4-4-4-4-4-4-4-4-4-4-4-0-0",
    "no side after its dash": "4-4-4-4-4-4-4-4-4-4-4-4-0-0-",
    "a lower-case side": "4-4-4-4-4-4-4-4-4-4-4-4-0-0-s",
    "an unknown side": "4-4-4-4-4-4-4-4-4-4-4-4-0-0-W",
    "a number as side": "4-4-4-4-4-4-4-4-4-4-4-4-0-0-0",
    "two sides": "4-4-4-4-4-4-4-4-4-4-4-4-0-0-SN",
    "the side first": "S-4-4-4-4-4-4-4-4-4-4-4-4-0-0",
    "thirteen numbers": "4-4-4-4-4-4-4-4-4-4-4-4-0-S",
    "fifteen numbers": "4-4-4-4-4-4-4-4-4-4-4-4-0-0-0-S",
    "an empty house": "4-4-4--4-4-4-4-4-4-4-8-0-0-S",
    "a negative house": "4-4-4--1-4-4-4-4-4-4-4-9-0-0-S",
    "a negative store": "4-4-4-4-4-4-4-4-4-4-4-4--1-1-S",
    "a leading dash": "-4-4-4-4-4-4-4-4-4-4-4-4-0-0-S",
    "a plus sign": "+4-4-4-4-4-4-4-4-4-4-4-4-0-0-S",
    "a fraction": "4.0-4-4-4-4-4-4-4-4-4-4-4-0-0-S",
    "a hexadecimal house": "c-4-4-4-4-4-4-4-4-4-0-0-0-0-S",
    "an underscore": "1_0-2-0-4-4-4-4-4-4-4-4-4-0-0-S",
    "commas": "4,4,4,4,4,4,4,4,4,4,4,4,0,0,S",
    "blanks between": "4 - 4-4-4-4-4-4-4-4-4-4-4-0-0-S",
    "a line break within": "4-4-4-4-4-4-\n4-4-4-4-4-4-0-0-S",
    "two texts": f"{START} {START}",
    "trailing text": f"{START} x",
    "trailing text without a blank": f"{START}x",
    "a trailing dash": f"{START}-",
    "three digits": "100-4-4-4-4-4-4-4-4-4-4-4-0-0-S",
    "three digits with zeros": "004-4-4-4-4-4-4-4-4-4-4-4-0-0-S",
    "Arabic digits": "\N{ARABIC-INDIC DIGIT FOUR}-4-4-4-4-4-4-4-4-4-4-4-0-0-S",
    "fullwidth digits": "\N{FULLWIDTH DIGIT FOUR}-4-4-4-4-4-4-4-4-4-4-4-0-0-S",
    "superscript digits": "\N{SUPERSCRIPT TWO}-6-4-4-4-4-4-4-4-4-4-4-0-0-S",
    "fullwidth side": "4-4-4-4-4-4-4-4-4-4-4-4-0-0-\N{FULLWIDTH LATIN CAPITAL LETTER S}",
    "another dash": START.replace("-", "\N{NON-BREAKING HYPHEN}"),
    "one seed too many": "5-4-4-4-4-4-4-4-4-4-4-4-0-0-S",
    "seeds for two": "48-0-0-0-0-0-0-0-0-0-0-0-48-0-S",
    "99 in every house": "99-99-99-99-99-99-99-99-99-99-99-99-99-99-S",
}
DETAILS = {
    "nothing after the semicolon": "",
    "an unknown name": "speed=3",
    "a name alone": "quiet",
    "a value alone": "=3",
    "a word": "x",
    "a number": "3",
    "another case": "Quiet=3",
    "blanks around the sign": "quiet = 3",
    "a comma between": "quiet=3,ply=4",
    "a second semicolon": "quiet=3 ; ply=4",
    "a trailing semicolon": "quiet=3;",
    "no quiet": "quiet=",
    "a word as quiet": "quiet=x",
    "a negative quiet": "quiet=-1",
    "a sign before quiet": "quiet=+1",
    "a fractional quiet": "quiet=1.0",
    "an underscore in quiet": "quiet=1_0",
    "Arabic digits in quiet": "quiet=\N{ARABIC-INDIC DIGIT FOUR}",
    "a huge quiet": "quiet=99999999",
    "more quiet than its limit": "quiet=161",
    "more quiet than a limit given": "quiet=6 quiet_limit=5",
    "no ply": "ply=",
    "a negative ply": "ply=-1",
    "fullwidth digits in ply": "ply=\N{FULLWIDTH DIGIT FOUR}",
    "a huge ply": "ply=99999999",
    "quiet twice": "quiet=3 quiet=3",
    "quiet twice, differing": "quiet=3 quiet=4",
    "an option twice": "quiet_limit=50 quiet_limit=50",
    "last twice": "ply=2 last=a last=a",
    "more quiet than plies": "quiet=3 ply=2",
    "no history after its sign": "quiet=3 history=",
    "a word as history": "quiet=3 history=start",
    "a comma too many": "quiet=3 history=1,",
    "a comma too early": "quiet=3 history=,1",
    "two commas": "quiet=3 history=1,,2",
    "a negative key": "quiet=3 history=-1",
    "a signed key": "quiet=3 history=+1",
    "a prefixed key": "quiet=3 history=0x1",
    "an underscore in a key": "quiet=3 history=1_0",
    "Arabic digits in a key": "quiet=3 history=\N{ARABIC-INDIC DIGIT FOUR}",
    "fullwidth digits in a key": "quiet=3 history=\N{FULLWIDTH DIGIT FOUR}",
    "a key of 68 bits": "quiet=3 history=fffffffffffffffff",
    "a key of 80 bits": "quiet=3 history=ffffffffffffffffffff",
    "semicolons in the history": "quiet=3 history=1;2",
    "a longer history than quiet": "quiet=1 history=1,2",
    "a history without quiet": "history=1",
    "a history without repetition": "quiet=3 repetition_limit=0 history=1",
    "no last move after its sign": "last=",
    "an unknown last move": "last=G",
    "a number as last move": "last=0",
    "two last moves": "last=AB",
    "a last move of the side to move": "ply=2 last=A",
}
OPTIONS = {
    "a repetition limit of 1": "repetition_limit=1",
    "a repetition limit of 10": "repetition_limit=10",
    "a negative repetition limit": "repetition_limit=-1",
    "no repetition limit after its sign": "repetition_limit=",
    "fullwidth digits": "quiet_limit=\N{FULLWIDTH DIGIT FOUR}\N{FULLWIDTH DIGIT FOUR}",
    "Arabic digits": "repetition_limit=\N{ARABIC-INDIC DIGIT FOUR}",
    "a quiet limit of 2001": "quiet_limit=2001",
    "both limits off": "repetition_limit=0 quiet_limit=0",
    "an unknown grand slam": "grand_slam=perhaps",
    "a grand slam in capitals": "grand_slam=FORFEIT",
}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("what", BOARDS)
def test_a_malformed_board_is_refused(what: str, strict: bool) -> None:
    with pytest.raises(BadText, match="board") as refusal:
        Position.from_text("oware", BOARDS[what], strict=strict)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("what", DETAILS)
def test_a_malformed_detail_is_refused(what: str) -> None:
    with pytest.raises(BadText) as refusal:
        Position.from_text("oware", f"{START} ; {DETAILS[what]}")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("what", OPTIONS)
def test_a_bad_option_in_a_text_is_refused(what: str) -> None:
    with pytest.raises((BadText, BadOption)) as refusal:
        Position.from_text("oware", f"{START} ; {OPTIONS[what]}")
    assert "\n" not in str(refusal.value)


def test_an_option_that_contradicts_the_text_is_refused() -> None:
    text = f"{START} ; quiet_limit=50"
    assert Position.from_text("oware", text, quiet_limit=50).options["quiet_limit"] == 50
    with pytest.raises(BadText, match=r"quiet_limit=50.*quiet_limit=51"):
        Position.from_text("oware", text, quiet_limit=51)


def test_an_unknown_option_beside_a_text_is_refused() -> None:
    with pytest.raises(BadOption, match="speed"):
        Position.from_text("oware", START, speed=3)


# History


def key_of(houses: Houses) -> int:
    """The key that a history holds for a board."""
    south, north = (sum(seeds << 8 * house for house, seeds in enumerate(houses[part : part + 6])) for part in (0, 6))
    return int(rules.position_key(south, north))


@pytest.mark.parametrize("seeds", [0, 1, 2, 3, 4, 5])
def test_keys_of_all_boards_with_few_seeds_are_different(seeds: int) -> None:
    boards = list(all_houses(seeds))
    assert len({key_of(houses) for houses in boards}) == len(boards)


def test_keys_of_200000_random_boards_with_equal_stores_are_different() -> None:
    rng = np.random.default_rng(3)
    total = 0
    for seeds in (12, 20, 28, 36, 44, 47, 48):
        boards = {tuple(seeds * (house == full) for house in range(12)) for full in range(12)}
        for spread in [0.5, 1, 2, 10] * 16:
            drawn = rng.multinomial(seeds, rng.dirichlet(np.full(12, spread)), size=500)
            boards |= {tuple(houses) for houses in drawn.tolist()}
        keys = {key_of(houses) for houses in boards}
        assert len(keys) == len(boards)
        assert min(keys) >= 0 and max(keys) < 2**63
        total += len(boards)
    assert total >= 200_000


def test_the_key_is_the_one_in_the_full_text() -> None:
    position = read("0-0-0-0-0-48-0-0-0-0-0-0-0-0-S").play("F")
    assert position.full_text.endswith(f"history={key_of((0, 0, 0, 0, 0, 48, 0, 0, 0, 0, 0, 0)):x}")


@pytest.mark.parametrize("seeds", [2, 3, 4])
def test_no_position_with_few_seeds_recurs_within_fewer_than_twelve_quiet_plies(seeds: int) -> None:
    # Boards joined by every quiet move; a position recurs after k plies where the k-th power has a diagonal entry.
    boards = list(all_houses(seeds))
    number = {houses: index for index, houses in enumerate(boards)}
    moves = np.zeros((2, len(boards), len(boards)), np.float32)
    for houses in boards:
        for mover in range(2):
            for pit in oware.legal_houses(houses, mover, "forfeit"):
                board, captured = oware.move(houses, pit, "forfeit")
                if not captured:
                    moves[mover, number[houses], number[board]] = 1
    rounds = np.minimum(moves[0] @ moves[1], 1)
    reached = np.eye(len(boards), dtype=np.float32)
    for plies in range(2, 14, 2):
        reached = np.minimum(reached @ rounds, 1)
        assert (np.trace(reached) > 0) == (plies == 12)


def test_a_position_that_recurs_in_play_has_seen_every_house_sown() -> None:
    rng = np.random.default_rng(4)
    recurrences = 0
    for seeds in [*range(2, 13)] * 12:
        state = random_state(rng, seeds, Options(repetition_limit=0, quiet_limit=300))
        seen: dict[tuple[Houses, int], int] = {}
        sown: list[int] = []  # since the last harvest
        while state.end is None:
            seen[state.houses, state.mover] = len(sown)
            # Now any move, now one that puts off a harvest.
            actions = oware.legal(state)
            rng.shuffle(actions)
            following = [(action, oware.play(state, action)) for action in actions]
            quiet = [one for one in following if one[1].quiet]
            action, child = (quiet or following)[0] if rng.random() < 0.9 else following[0]
            if child.quiet:
                sown.append(6 * state.mover + action)
            else:
                seen, sown = {}, []
            state = child
            if (state.houses, state.mover) in seen:
                recurrences += 1
                assert set(sown[seen[state.houses, state.mover] :]) == set(range(12))
    assert recurrences > 1000


# Every count


@pytest.mark.parametrize("seeds", range(1, 49))
def test_a_house_with_any_number_of_seeds_is_sown_as_in_the_twin(seeds: int) -> None:
    for pit in range(12):
        houses = tuple(seeds if house == pit else 0 for house in range(12))
        for grand_slam in oware.GRAND_SLAMS:
            state = oware.position(houses, (0, 0), pit // 6, Options(grand_slam=grand_slam))
            position = in_engine(state)
            assert position.legal_actions() == oware.legal(state)
            for action in oware.legal(state):
                child = oware.play(state, action)
                played = position.play(action)
                assert (houses_of(played), stores_of(played), label(played)) == (child.houses, child.stores, child.end)


def test_the_standard_options_of_twin_and_engine_are_the_same() -> None:
    assert envs.start("oware").options == vars(STANDARD)
