"""Eiyiu in the engine: the worked example, perft, its longest shapes, symmetries, draws, texts, and what it refuses."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import envs
from eiyiu_boards import (
    CELL,
    DRAW,
    HAND_FIELD,
    IN_HAND,
    SYMMETRIES,
    WIDTH,
    WINDOW,
    facts_of_engine,
    facts_of_twin,
    image,
    image_of,
    in_engine,
    number_of,
    random_states,
    text_of,
)
from eiyiu_boards import read as board
from eiyiu_figures import eiyiu_picture
from envs import BadOption, BadText, IllegalMove, Position, VectorGames, eiyiu_v0
from envs.engine.record import Record, Recorder
from envs.games import find_game
from envs.games.eiyiu import rules
from reference import eiyiu
from reference.eiyiu import STANDARD, Action, Cell, Options, State

pytestmark = pytest.mark.bounds

START = "- 123456789 123456789 - - 0 0"
FULL = ".658../.3.48./24.23./95.9../.71617 - - - - 0 0"
PICTURE = eiyiu_picture()
# Quantiles of the chi-square distribution for 1 to 8 degrees of freedom: one test in a thousand exceeds them.
RARE = (10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12)


def read(text: str, **options: Any) -> Position:
    return Position.from_text("eiyiu", text, strict=False, **options)


def label(position: Position) -> str | None:
    return position.end.label if position.end else None


def outcome(position: Position) -> tuple[str | None, tuple[int, int] | None]:
    return label(position), position.result


def row_of(position: Position) -> np.ndarray:
    return position.to_arrays()[0]


# The worked example


def turns(position: Position) -> list[tuple[str, Position]]:
    """All turns of moving, and where they lead."""
    lifted = [position.play(lift) for lift in position.legal_actions()]
    return [(f"{one.last_move}-{lay[1:]}", one.play(lay)) for one in lifted for lay in one.legal_moves()]


def named(cell: Cell) -> str:
    """The name of a cell of the picture, whose lower left one is b2."""
    return f"{'abcdefghij'[cell[0] + 1]}{cell[1] + 2}"


def test_the_picture_has_340_moves_as_known_elsewhere() -> None:
    position = Position.from_text("eiyiu", FULL)
    found = turns(position)
    assert len(found) == position.perft(2) == PICTURE.total == 340
    counts = Counter(turn.split("-")[0] for turn, _ in found)
    assert counts == {named(cell): count for cell, count in PICTURE.target_counts.items()}
    assert (position.end, PICTURE.has_winning_run) == (None, False)


@pytest.mark.parametrize(
    ("origin", "target"),
    [((2, 2), (2, 6)), ((3, 5), (2, 6)), ((5, 2), (2, 3)), ((4, 2), (6, 6)), ((3, 2), (1, 5)), ((3, 2), (5, 1))],
)
def test_a_move_of_the_picture_wins_as_known_elsewhere(origin: Cell, target: Cell) -> None:
    turn = f"{named(PICTURE.cell(*origin))}-{named(PICTURE.cell(*target))}"
    assert outcome(read(FULL).play(turn)) == ("run_of_15", (1, -1))


@pytest.mark.jit_off
def test_the_lower_left_7_of_the_picture_wins_on_every_cell_but_one() -> None:
    lifted = read(FULL).play(named(PICTURE.cell(5, 2)))
    without_win = [lay for lay in lifted.legal_moves() if not lifted.play(lay).end]
    assert without_win == [f"@{named(PICTURE.cell(5, 7))}"]


@pytest.mark.jit_off
def test_the_6_below_the_9_has_one_cell_to_go_to_and_the_1_none() -> None:
    assert read(FULL).play(named(PICTURE.cell(5, 4))).legal_moves() == [f"@{named(PICTURE.cell(4, 5))}"]
    assert named(PICTURE.cell(5, 5)) not in read(FULL).legal_moves()


# Perft


def lines(state: State, depth: int) -> int:
    """The lines of so many plies in the twin; a deal is no ply."""
    if depth == 0 and not state.drawing:
        return 1
    return sum(lines(eiyiu.play(state, action), depth - (not state.drawing)) for action in eiyiu.legal(state))


def test_as_many_lines_lead_from_the_start_as_the_rules_allow() -> None:
    # 8 numbers; b2; 8 open ones; 4 cells; 7 open or 9 hidden ones; 6 cells beside a domino.
    expected = [1, 8, 8, 8 * 8, 64 * 4, 256 * (7 + 9), 4096 * 6]
    assert [envs.start("eiyiu").perft(depth) for depth in range(7)] == expected


PERFT = [
    (START, "any", 5),
    ("12/.3 45 789 - - 0 0", "any", 4),
    ("12/.3 45 789 ? - 0 0", "any", 4),
    ("45 6 6 - - 0 0", "any", 6),
    ("12/34 - 5 - - 1 0", "any", 4),
    ("4561 - - - - 1 0", "any", 4),
    ("12/34 - - - - 0 197", "any", 4),
    ("12/34 - - - c2 0 198", "any", 4),
    ("12/34 - - - c2,b3 0 5", "own", 4),
    ("12/3_ - - 4 -,c2 0 5", "own", 5),
    (FULL, "any", 2),
]


@pytest.mark.parametrize(("text", "same_tile", "depth"), PERFT)
def test_as_many_lines_lead_from_a_position_as_in_the_twin(text: str, same_tile: str, depth: int) -> None:
    state = board(text, Options(same_tile=same_tile))
    assert [in_engine(state).perft(plies) for plies in range(1, depth + 1)] == [lines(state, d) for d in range(1, depth + 1)]


@pytest.mark.slow
def test_as_many_longer_lines_lead_from_a_position_as_in_the_twin() -> None:
    for text, same_tile, depth in (*PERFT[:2], *PERFT[5:9]):
        state = board(text, Options(same_tile=same_tile))
        assert in_engine(state).perft(depth + 1) == lines(state, depth + 1)
    assert envs.start("eiyiu").perft(7) > envs.start("eiyiu").perft(6) * 13


def test_no_line_leads_from_a_finished_game() -> None:
    assert (read("456 - - - - 0 3").perft(1), read("456 - - - - 0 3").perft(0)) == (0, 1)


# The rules, sentence by sentence, where whole games compared with the twin do not show them at a glance


@pytest.mark.jit_off
@pytest.mark.parametrize(
    ("text", "legal"),
    [
        (START, "1 2 3 4 6 7 8 9"),
        ("1 23456789 123456789 - - 1 0", "2 3 4 5 6 7 8 9"),
        ("12 3456789 123456789 - - 0 0", "3 4 5 6 7 8 9 ?"),
        ("12 34 - - - 0 0", "3 4"),
        ("12 - 34 - - 0 0", "?"),
        ("12 - 348 ? - 0 0", "=3 =4 =8"),
        ("- 12346789 123456789 5 - 0 0", "@b2"),
        ("12/.3 56789 12345679 4 - 0 0", "@c1 @b2 @d2 @a3 @d3 @b4 @c4"),
        ("123 - - - - 0 0", "b2 d2"),
        ("12/34 - - - d3 0 0", ""),
        ("12/34 - - - c3 0 0", "b2 c2 b3"),
        ("_2/34 - - 1 - 0 0", "@b1 @c1 @a2 @d2 @d3 @c4"),
    ],
)
def test_what_may_be_done_is_what_the_rules_say(text: str, legal: str) -> None:
    if legal:
        assert read(text).legal_moves() == legal.split()
    else:
        with pytest.raises(BadText, match="no tile on 'd3'"):
            read(text)


@pytest.mark.jit_off
@pytest.mark.parametrize(
    ("text", "turn", "after", "end", "result"),
    [
        ("45 6789 12345678 - - 1 0", "6@d2", "456 789 12345678 - - 0 0", "run_of_15", (-1, 1)),
        ("45 789 12345678 - - 0 0", "?6@a2", "645 789 1234578 - - 1 0", "run_of_15", (1, -1)),
        ("4561 - - - - 1 0", "e2-c3", ".1./456 - - - c3 0 1", "run_of_15", (-1, 1)),
        ("7.617/89894 1 3 - - 0 0", "1@c3", "71617/89894 - 3 - - 1 0", None, None),
        ("12.45/78989 3 6 - - 0 0", "3@d3", "12345/78989 - 6 - - 1 0", "run_of_15", (1, -1)),
        ("4.56/7898 5 9 - - 0 0", "5@c3", "4556/7898 - 9 - - 1 0", None, None),
        ("1./23 - - - - 0 0", "b2-c3", "12/.3 - - - c3 1 1", None, None),
        ("12/34 - - - - 0 199", "b3-d2", ".2./341 - - - d2 1 200", "shift_limit", (0, 0)),
        ("4561 - - - - 0 199", "e2-c3", ".1./456 - - - c3 1 200", "run_of_15", (1, -1)),
    ],
)
def test_a_turn_leads_where_the_rules_say(
    text: str, turn: str, after: str, end: str | None, result: tuple[int, int] | None
) -> None:
    position = read(text).play(turn)
    assert (position.text, *outcome(position)) == (after, end, result)
    assert bool(position.legal_actions()) == (end is None)


def test_a_win_while_laying_pays_in_the_step_that_ends_the_game() -> None:
    games = VectorGames("eiyiu", 1)
    games.load([read("45 - 123456789 6 - 1 0")])
    games.step([CELL + WIDTH + 3])
    assert (games.rewards.tolist(), games.gains.tolist(), games.final_scores.tolist()) == ([[-1, 1]], [0], [[0, 1]])


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("run", ["456", "4/5/6", "4../85./.86", "..4/.58/68.", "1239", "61/3./6."])
def test_a_board_read_with_a_winning_run_is_won_by_the_seat_not_to_move(run: str, side: int) -> None:
    position = read(f"{run} - - - - {side} 3")
    assert outcome(position) == ("run_of_15", (-1, 1) if side == 0 else (1, -1))
    assert position.scores == (side, 1 - side)


# Window


def quiet_take(state: State, cell: Cell) -> tuple[State, list[Action]]:
    """The first tile laid on the cell that wins nothing."""
    for action in eiyiu.legal(state):
        line = [action, ("deal", eiyiu.legal(eiyiu.play(state, action))[-1][-1])] if action == ("hidden",) else [action]
        after = state
        for one in (*line, ("lay", cell)):
            after = eiyiu.play(after, one)
        if after.end is None:
            return after, [*line, ("lay", cell)]
    raise AssertionError(f"every tile wins on {cell} of {eiyiu.to_text(state)}")


def follow(states: Iterator[tuple[State, Action]], position: Position) -> Position:
    """The position after the actions of a game in the twin, compared at every ply, in a batch too."""
    games = VectorGames("eiyiu", 1, restart=False, **position.options)
    for state, action in states:
        number, text, after = number_of(action, state), text_of(action, state), eiyiu.play(state, action)
        position = position.play(number)
        assert facts_of_engine(position) == facts_of_twin(after, eiyiu.legal(after), text)
        if position.mover < 2:
            games.load([position])
            np.testing.assert_array_equal(games.observation[0], position.observation())
            np.testing.assert_array_equal(games.action_mask[0], position.action_mask())
    return position


def laid(cells: list[Cell], options: Options = STANDARD) -> list[tuple[State, Action]]:
    """A game of the twin in which tiles are laid on the cells in order, without a win."""
    state, found = eiyiu.start(options), []
    for cell in cells:
        after, actions = quiet_take(state, cell)
        for action in actions:
            found.append((state, action))
            state = eiyiu.play(state, action)
        assert state == after
    return found


def end_to_end(state: State, step: Cell, plies: int) -> list[tuple[State, Action]]:
    """Turns in which the tile at one end of a line goes to its other end."""
    found: list[tuple[State, Action]] = []
    for _ in range(plies):
        order = sorted(eiyiu.cells(state), key=lambda cell: cell[0] * step[0] + cell[1] * step[1])
        if order[0] == eiyiu.barred(state):
            order = order[::-1]
            step = -step[0], -step[1]
        target = order[-1][0] + step[0], order[-1][1] + step[1]
        for action in (("lift", order[0]), ("lay", target)):
            found.append((state, action))
            state = eiyiu.play(state, action)
        if state.end:
            break
    return found


DIRECTIONS = {"right": (1, 0), "left": (-1, 0), "up": (0, 1), "down": (0, -1)}


@pytest.mark.parametrize("same_tile", eiyiu.SAME_TILES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_line_of_eighteen_grows_in_any_direction_and_moves_on_end_to_end(direction: str, same_tile: str) -> None:
    step = DIRECTIONS[direction]
    line = laid([(index * step[0], index * step[1]) for index in range(18)], Options(same_tile=same_tile))
    position = follow(iter(line), envs.start("eiyiu", same_tile=same_tile))
    assert len(position.text.split()[0].replace("/", "")) == 18
    state = eiyiu.play(*line[-1])
    for way in (step, (-step[0], -step[1])):
        moves = end_to_end(state, way, 30)
        assert len(moves) >= 4
        follow(iter(moves), position)


@pytest.mark.parametrize("first", DIRECTIONS)
@pytest.mark.parametrize("second", DIRECTIONS)
def test_an_angle_of_eighteen_grows_in_any_two_directions(first: str, second: str) -> None:
    (a, b), (c, d) = DIRECTIONS[first], DIRECTIONS[second]
    if a * c + b * d:
        return  # not an angle
    for arm in (2, 9, 16):
        corner = a * arm, b * arm
        cells = [(a * i, b * i) for i in range(arm + 1)] + [(corner[0] + c * i, corner[1] + d * i) for i in range(1, 18 - arm)]
        line = laid(cells)
        position = follow(iter(line), envs.start("eiyiu"))
        state = eiyiu.play(*line[-1])
        follow(iter([(state, ("lift", (0, 0)))]), position)


def test_a_line_of_eighteen_may_be_laid_on_and_beside_at_both_of_its_ends() -> None:
    line = "123467895123467895"
    for text in (line, "/".join(line)):
        position = read(f"{text} - - - - 0 0")
        assert position.play(position.legal_actions()[0]).action_mask().sum() == 17 * 2 + 1
        assert len(position.legal_actions()) == 2


@pytest.mark.parametrize("seed", range(5))
def test_tiles_laid_in_any_order_make_the_same_position_wherever_the_window_went(seed: int) -> None:
    rng = np.random.default_rng(seed)
    state = next(one for one in random_states(rng, 500) if one.hand is None and one.end is None and len(one.tiles) == 18)
    seen = set()
    for _ in range(40):
        played = ordered(rng, state)
        if played is not None:
            seen.add((played.text, played.observation().tobytes(), played.action_mask().tobytes()))
    assert len(seen) == 1


def ordered(rng: np.random.Generator, state: State) -> Position | None:
    """The full board laid by an order of its tiles drawn at random; None if a tile wins on the way."""
    left, position = dict(state.tiles), envs.start("eiyiu")
    twin = eiyiu.start()
    while left:
        fitting = sorted(cell for cell in left if not twin.tiles or any(n in dict(twin.tiles) for n in eiyiu.neighbours(cell)))
        cell = fitting[int(rng.integers(len(fitting)))]
        number = left.pop(cell)
        takes = [action for action in (("open", number), ("hidden",)) if action in eiyiu.legal(twin)]
        if not takes:
            return None
        line: list[Action] = [takes[0], *([("deal", number)] if takes[0] == ("hidden",) else [])]
        for action in (*line, ("lay", cell if twin.tiles else (0, 0))):
            if action not in eiyiu.legal(twin):
                return None
            if not twin.tiles and action[0] == "lay":
                left = {(x - cell[0], y - cell[1]): n for (x, y), n in left.items()}
            position = position.play(number_of(action, twin))
            twin = eiyiu.play(twin, action)
    return None if position.end else position


# Symmetries


@pytest.mark.parametrize("symmetry", SYMMETRIES)
def test_a_symmetry_of_the_square_takes_actions_results_and_winning_turns_onto_each_other(symmetry: str) -> None:
    rng, transform = np.random.default_rng(6), SYMMETRIES[symmetry]
    for options in (STANDARD, Options(10, "own")):
        for state in random_states(rng, 40, options, drawing=True):
            other = image(state, transform)
            position, mirrored = in_engine(state), in_engine(other)
            assert outcome(position) == outcome(mirrored)
            pairs = [(number_of(a, state), number_of(image_of(a, transform), other)) for a in eiyiu.legal(state)]
            assert sorted(one for one, _ in pairs) == position.legal_actions()
            assert sorted(one for _, one in pairs) == mirrored.legal_actions()
            for one, its_image in pairs:
                assert outcome(position.play(one)) == outcome(mirrored.play(its_image))
            assert balance(position) == balance(mirrored)


def test_an_asymmetric_shape_looks_different_in_every_symmetry() -> None:
    state = board("12./.34/..5 - - - - 0 0")
    assert len({in_engine(image(state, transform)).text for transform in SYMMETRIES.values()}) == len(SYMMETRIES)


# Draws


def draws(count: int, text: str, seed: int) -> VectorGames:
    """So many games in which a hidden tile was just taken."""
    games = VectorGames("eiyiu", count, seed=seed)
    games.load([read(text)] * count)
    games.step(np.full(count, DRAW))
    return games


@pytest.mark.parametrize("hidden", ["1", "29", "358", "1468", "23579", "134679", "2345678", "12346789", "123456789"])
def test_every_hidden_tile_is_equally_likely(hidden: str) -> None:
    count = 20_000
    games = draws(count, f"12 3 {hidden} - - 0 0", seed=7)
    drawn = Counter(games.observation[:, HAND_FIELD].tolist())
    assert set(drawn) == set(map(int, hidden))
    expected = count / len(hidden)
    deviation = sum((times - expected) ** 2 / expected for times in drawn.values())
    assert len(hidden) == 1 or deviation < RARE[len(hidden) - 2]


def test_every_order_of_the_hidden_tiles_is_equally_likely() -> None:
    count = 24_000
    games = draws(count, "12 - 5689 - - 0 0", seed=8)
    orders = games.observation[:, HAND_FIELD].astype(np.int64)
    for _ in range(3):
        games.step(np.full(count, CELL + WIDTH))  # a2: the window follows
        games.step(np.full(count, DRAW))
        orders = 10 * orders + games.observation[:, HAND_FIELD]
    drawn = Counter(orders.tolist())
    assert len(drawn) == 24
    assert sum((times - 1000) ** 2 / 1000 for times in drawn.values()) < 49.73  # 23 degrees of freedom, one in a thousand


def test_the_draw_of_a_game_depends_on_seed_and_game_alone() -> None:
    hands = [draws(count, "12 3 123456789 - - 0 0", seed=9).observation[:, HAND_FIELD].tolist() for count in (50, 20)]
    assert hands[0][:20] == hands[1]
    assert hands[0] != draws(50, "12 3 123456789 - - 0 0", seed=10).observation[:, HAND_FIELD].tolist()


def test_random_actions_are_legal_and_equally_likely() -> None:
    for text in ("12/.3 56789 12345679 4 - 0 0", "123/4.5 - - - - 0 0", "12 3 123456789 - - 0 0"):
        position = read(text)
        games = VectorGames("eiyiu", 8000, seed=11)
        games.load([position] * 8000)
        drawn = Counter(games.random_actions().tolist())
        expected = 8000 / len(position.legal_actions())
        assert sorted(drawn) == position.legal_actions()
        assert sum((times - expected) ** 2 / expected for times in drawn.values()) < RARE[len(drawn) - 2]


def test_a_position_that_waits_for_a_draw_names_no_mover() -> None:
    position = read("12 3456789 123456789 ? - 1 0")
    assert (position.mover, position.ply) == (2, 5)
    assert [position.observation(seat)[-1] for seat in range(2)] == [0, 0]
    with pytest.raises(ValueError, match="a player is 0 or 1"):
        position.observation()
    with pytest.raises(IllegalMove, match=r"the draw may be =1 \(0\), =2 \(1\)"):
        position.play("?")
    with pytest.raises(BadOption, match="waits for a draw"):
        VectorGames("eiyiu", 1).load([position])


# Turns of two actions


@pytest.mark.jit_off
def test_an_agent_takes_and_lays_before_the_other_may() -> None:
    position, movers = envs.start("eiyiu"), []
    for move in ("1", "@b2", "2", "@c2", "?", "=7", "@a2", "3", "@e2"):
        movers.append(position.mover)
        position = position.play(move)
    assert (movers, position.mover, position.ply) == ([0, 0, 1, 1, 0, 2, 0, 1, 1], 0, 8)
    assert position == envs.start("eiyiu").play_all("1@b2 2@c2 ?7@a2 3@e2")


def test_records_hold_who_moved_and_what_was_dealt() -> None:
    recorder = Recorder(envs.start("eiyiu"))
    for move in ("1", "@b2", "2", "@c2", "?", "=7", "@a2"):
        recorder.play(move)
    record = Record.from_json(recorder.record().to_json())
    assert (record.moves, record.movers) == (("1", "@b2", "2", "@c2", "?", "=7", "@a2"), "0011020")
    assert record.final() == recorder.positions[-1]
    assert record.final().text == "712 3456789 12345689 - - 1 0"


def test_the_environment_keeps_the_agent_between_take_and_lay() -> None:
    env = eiyiu_v0.raw_env()
    env.reset(seed=1)
    agents = []
    for action in (0, CELL + WIDTH + 1, 1, CELL + WIDTH + 2, DRAW):
        agents.append(env.agent_selection)
        env.step(action)
    assert [agent[-1] for agent in (*agents, env.agent_selection)] == list("001100")
    seen = env.observe("player_0")["observation"]
    assert 1 <= seen[HAND_FIELD] <= 9 and seen[-1] == 1
    assert not env.observe("player_1")["action_mask"].any()
    env.step(CELL + WIDTH)
    assert (env.agent_selection, env.position().mover) == ("player_1", 1)


# Evaluation


def balance(position: Position) -> int:
    return int(rules.balance(row_of(position)))


def winning_turns(state: State) -> int:
    """In how many ways the mover can win in this turn without a draw."""
    if state.end or state.drawing:
        return 0
    if state.hand is None:
        return sum(winning_turns(eiyiu.play(state, action)) for action in eiyiu.legal(state) if action != ("hidden",))
    cells, hand = eiyiu.targets(eiyiu.cells(state), state.lifted), state.hand
    return sum(bool(eiyiu.runs_of_15({**dict(state.tiles), cell: hand})) for cell in cells)


@pytest.mark.parametrize("same_tile", eiyiu.SAME_TILES)
def test_the_plain_evaluation_counts_the_winning_turns_of_the_mover(same_tile: str) -> None:
    counts = []
    for state in random_states(np.random.default_rng(12), 250, Options(same_tile=same_tile), drawing=True):
        if not state.end:
            counts.append(winning_turns(state))
            assert balance(in_engine(state)) == rules.SHARES * counts[-1] * (1 - 2 * state.mover), eiyiu.to_text(state)
    assert max(counts) > 40 and counts.count(0) > 20


def test_the_plain_evaluation_leaves_the_position_as_it_was() -> None:
    for state in random_states(np.random.default_rng(13), 100, drawing=True):
        position = in_engine(state)
        row = row_of(position)
        rules.balance(row)
        kept = Position(find_game("eiyiu"), row, np.zeros(0, np.int64))
        assert facts_of_engine(kept) == facts_of_engine(position)
        for action in position.legal_actions()[:3]:
            assert facts_of_engine(kept.play(action)) == facts_of_engine(position.play(action))


@pytest.mark.parametrize("same_tile", eiyiu.SAME_TILES)
def test_positions_of_a_game_have_the_same_hash_if_they_look_the_same_and_only_then(same_tile: str) -> None:
    rng = np.random.default_rng(14)
    looks: dict[int, bytes] = {}
    for _ in range(80):
        position = envs.start("eiyiu", same_tile=same_tile, shift_limit=2000)
        while not position.end and position.ply < 200:
            seen = [position.observation(seat) for seat in range(2)]
            for one in seen:
                one[WINDOW + 22] = 0  # turns of moving
            look = bytes([position.mover]) + np.concatenate(seen).tobytes()
            assert looks.setdefault(int(rules.position_hash(row_of(position))), look) == look
            position = position.play(int(rng.choice(position.legal_actions())))
    assert len(set(looks.values())) == len(looks) > 1000


@pytest.mark.parametrize("hand", "123456789")
def test_a_number_in_hand_is_part_of_the_hash(hand: str) -> None:
    one, other = read(f"12 - - {hand} - 0 0"), read("12 - - - - 0 0")
    assert rules.position_hash(row_of(one)) != rules.position_hash(row_of(other))


# Observation


def test_the_observation_is_as_its_fields_say() -> None:
    position = read("12/_3 - - 4 b2,b2 1 7", same_tile="own")
    seen = {seat: iter(position.observation(seat).tolist()) for seat in range(2)}
    fields = {
        seat: {f.name: [next(seen[seat]) for _ in range(f.size)] for f in find_game("eiyiu").observation} for seat in range(2)
    }
    cells = {cell: number for cell, number in enumerate(fields[1]["cells"]) if number}
    assert cells == {2 * WIDTH + 1: 1, 2 * WIDTH + 2: 2, WIDTH + 2: 3}
    expected = {"open": [0] * 9, "hidden": [0] * 9, "hand": [4], "origin": [WIDTH + 2], "shifts": [7]}
    assert {name: fields[1][name] for name in expected} == {name: fields[0][name] for name in expected} == expected
    assert [fields[seat]["own_barred"] for seat in range(2)] == [[IN_HAND], [0]]
    assert [fields[seat]["other_barred"] for seat in range(2)] == [[0], [IN_HAND]]
    assert [fields[seat]["to_move"] for seat in range(2)] == [[0], [1]]


def test_the_observation_stays_within_its_bounds() -> None:
    low, high = find_game("eiyiu").observation_bounds()
    for same_tile in eiyiu.SAME_TILES:
        for state in random_states(np.random.default_rng(15), 200, Options(2000, same_tile), drawing=True):
            for seat in range(2):
                seen = in_engine(state).observation(seat)
                assert (low <= seen).all() and (seen <= high).all()


# Options


def test_the_standard_options_of_twin_and_engine_are_the_same() -> None:
    assert envs.start("eiyiu").options == vars(STANDARD)


@pytest.mark.parametrize("options", [{"shift_limit": 1}, {"shift_limit": 2000, "same_tile": "own"}, {"shift_limit": "37"}])
def test_options_within_the_rules_are_taken(options: dict[str, Any]) -> None:
    taken = envs.start("eiyiu", **options).options
    assert taken == vars(STANDARD) | options | {"shift_limit": int(options["shift_limit"])}
    assert read(envs.start("eiyiu", **options).full_text).options == taken


@pytest.mark.parametrize(
    "options",
    [
        *({"shift_limit": value} for value in (0, -1, 2001, 1.5, True, None, "", "0", "x", "1.0", "٣")),
        *({"same_tile": value} for value in ("", "ANY", "none", None, 0, True, ["any"])),
        {"repetition_limit": 3},
        {"quiet_limit": 0},
    ],
)
def test_other_options_are_refused(options: dict[str, Any]) -> None:
    for make in (envs.start, lambda game, **given: VectorGames(game, 1, **given)):
        with pytest.raises(BadOption, match=next(iter(options))) as refusal:
            make("eiyiu", **options)
        assert "\n" not in str(refusal.value)


# Texts


def test_the_full_text_tells_options_ply_and_last_move_but_no_history() -> None:
    assert envs.start("eiyiu").full_text == f"{START} ; shift_limit=200 same_tile=any ply=0"
    position = read("12/34 - - - -,- 0 0", same_tile="own", shift_limit=5).play("b3-d2")
    assert position.full_text == ".2./341 - - - d2,- 1 1 ; shift_limit=5 same_tile=own ply=10 last=@d2"
    for line in ("1", "1@b2", "1@b2 2@c2 ?", "1@b2 2@c2 ? =7", "1@b2 2@c2 ?7@b1"):
        played = envs.start("eiyiu").play_all(line)
        assert read(played.full_text) == played
        assert (read(played.text).text, read(played.text).last_move) == (played.text, None)


@pytest.mark.jit_off
def test_a_text_in_mid_turn_goes_on_to_the_same_position() -> None:
    line = ["4", "@b2", "5", "@b3", "?", "=9", "@c3", "2", "@a3", "?", "=1", "@d2"]
    final = envs.start("eiyiu").play_all(line)
    for plies in range(len(line)):
        assert read(envs.start("eiyiu").play_all(line[:plies]).full_text).play_all(line[plies:]) == final


def test_only_a_loose_reader_takes_a_board_with_too_few_tiles() -> None:
    assert read("12/34 - - - - 0 0").text == "12/34 - - - - 0 0"
    with pytest.raises(BadText, match=r"18 tiles; there is no 1 2 3 4 5 5 "):
        Position.from_text("eiyiu", "12/34 - - - - 0 0")


def test_blanks_around_a_text_do_not_matter() -> None:
    assert Position.from_text("eiyiu", f"  {START}\n") == envs.start("eiyiu")
    assert Position.from_text("eiyiu", f"{START};ply=0") == envs.start("eiyiu")


BOARDS = {
    "nothing": "",
    "a word": "start",
    "six words": "12 3 4 - - 0",
    "eight words": "12 3 4 - - 0 0 0",
    "two blanks": "12  3 4 - - 0 0",
    "a line break": "12\n3 4 - - 0 0",
    "a tile 0": "102 3 4 - - 0 0",
    "a letter on the board": "1a 3 4 - - 0 0",
    "rows of different lengths": "12/3 4 4 - - 0 0",
    "an empty row in between": "1//2 4 4 - - 0 0",
    "a free row at the edge": "12/.. 4 4 - - 0 0",
    "a free column at the edge": ".1/.2 4 4 - - 0 0",
    "nothing but free cells": ". 4 4 - - 0 0",
    "two groups": "1.2 4 4 - - 0 0",
    "tiles joined by corners": "1./.2 4 4 - - 0 0",
    "three tiles of a number": "121/1.. 4 4 - - 0 0",
    "a third tile in hand": "11 2 2 1 - 0 0",
    "a third tile in a pile": "11 1 2 - - 0 0",
    "a number twice in a pile": "12 33 - - - 0 0",
    "a 0 in a pile": "12 30 - - - 0 0",
    "ten in a pile": "12 1234567890 - - - 0 0",
    "two in hand": "12 3 4 56 - 0 0",
    "a draw without hidden tiles": "12 3 - ? - 0 0",
    "a draw as a first tile": "1 3 4 ? - 0 0",
    "a lifted tile that is not in hand": "1_2 - - - - 0 0",
    "a lifted tile beside piles": "12_ 3 - 4 - 0 0",
    "two lifted tiles": "1__ - - 4 - 0 0",
    "no lower-case cell": "12 - - - B2 0 0",
    "a free cell moved last": "12/.3 - - - b2 0 0",
    "a cell beyond the window": "12 - - - u2 0 0",
    "cells of both seats under any": "12 - - - b2,c2 0 0",
    "a third side": "12 3 4 - - 2 0",
    "a side by letter": "12 3 4 - - S 0",
    "negative shifts": "12/34 - - - - 0 -1",
    "too many shifts": "12/34 - - - - 0 201",
    "five digits of shifts": "12/34 - - - - 0 00001",
    "Arabic digits": "12/34 - - - - 0 \N{ARABIC-INDIC DIGIT FOUR}",
    "fullwidth digits": "1\N{FULLWIDTH DIGIT FOUR} 3 4 - - 0 0",
    "nineteen in a row": "1234567891234567891 - - - - 0 0",
    "eighteen rows and one more": "/".join("1234567891234567891") + " - - - - 0 0",
    "nothing to be played": "1 - - - - 0 0",
    "nothing but a 5 to begin with": "- 5 - - - 0 0",
}
DETAILS = {
    START: "|speed=3|ply|ply=|ply=x|ply=-1|ply=99999999|ply=3 ply=3|ply = 3|ply=1;ply=2|history=1|shifts=3|quiet=0"
    "|shift_limit=0|shift_limit=2001|same_tile=both|last=|last=?|last==7|last=7|last=b2|last=@|last=@u2|last=@b0|last=@b21|last=5@b2|last=a",
    "12/_3 - - 4 - 0 0": "last=4|last==3|last=@b2|last=c2|last=?",
    "12 34 567 5 - 0 0": "last=6|last==6|last=@b2|last=c2|last=?",
    "12 3456789 123456789 ? - 0 0": "last=3|last==6|last=@b2|last=c2",
}
# What the position itself shows cannot have led to it.
IMPOSSIBLE = [
    (START, "last=@b2"),
    (START, "last=@t20"),
    ("12 3456789 123456789 - - 0 0", "last=@t20"),
    ("12/_3 - - 4 - 0 0", "last==4"),
    ("12 7 - 7 - 0 0", "last=7"),
    ("12 - 7 7 - 0 0", "last==7"),
]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("what", BOARDS)
def test_a_malformed_board_is_refused_in_one_line(what: str, strict: bool) -> None:
    with pytest.raises(BadText) as refusal:
        Position.from_text("eiyiu", BOARDS[what], strict=strict)
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize(
    ("text", "details"), [(text, detail) for text, details in DETAILS.items() for detail in details.split("|")]
)
def test_a_malformed_detail_is_refused_in_one_line(text: str, details: str) -> None:
    with pytest.raises((BadText, BadOption)) as refusal:
        read(f"{text} ; {details}")
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize(("text", "details"), IMPOSSIBLE)
def test_a_last_move_that_cannot_have_led_to_the_position_is_refused(text: str, details: str) -> None:
    with pytest.raises(BadText, match="no move that can have led here"):
        read(f"{text} ; {details}")


def test_moved_cells_of_one_seat_are_refused_under_own() -> None:
    for last in ("b2", "-", "b2,b2,b2", ",", "b2,", "-,d2"):
        with pytest.raises(BadText, match=r"seat|no tile"):
            read(f"12 - - - {last} 0 0", same_tile="own")


@pytest.mark.parametrize("text", ["456 123 7 8 - 0 0", "456 123 7 ? - 0 0", "456/..1/.._ - - 7 - 0 0", "4561/..._ - - 7 - 0 0"])
def test_a_text_whose_game_was_over_before_the_take_is_refused_or_goes_on_consistently(text: str) -> None:
    try:
        position = read(text)
    except BadText:
        return
    for move in position.legal_moves() if position.mover < 2 else []:
        after = position.play(move)
        assert outcome(read(after.full_text)) == outcome(after)


def test_random_strings_raise_nothing_but_a_refusal() -> None:
    chance, refusals = random.Random(16), set()
    sources = [START, FULL, "12/_3 - - 4 b2,c3 0 7", f"{START} ; ply=3 last=@b2 shift_limit=7", "12 - 348 ? - 1 0 ; last=?"]
    for _ in range(4000):
        letters = list(chance.choice(sources))
        for _ in range(chance.randint(1, 4)):
            index = chance.randrange(len(letters))
            letters[index : index + chance.randint(0, 2)] = chance.choice([*"0123456789-./_? ;=,@abt\n", "", "\u0663", "\x00"])
        try:
            position = read("".join(letters), **chance.choice([{}, {"same_tile": "own"}]))
        except (BadText, BadOption) as error:
            refusals.add("\n" in str(error))
        else:
            assert read(position.full_text) == position
    assert refusals == {False}


# Move texts


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (
            START,
            ["5", "?", "=1", "@b2", "b2", "0", "10", "", " ", "5@b2", "1@c2", "1@b3", "?7@b2", "1b2", "1-b2", "b2-c2", "x"],
        ),
        (
            "12 3456789 123456789 - - 0 0",
            ["1", "b2", "3@b2", "3@e2", "?0@d2", "?7@b2", "?@d2", "??7@d2", "3@d2@e2", "=7", "@d2"],
        ),
        (FULL, ["1", "?", "f2", "b2", "c2-c2", "c2@b2", "c2-@b2", "c2-z9", "f2-b2", "c2-c3", "C2-B2", "c02-b2", "c2 - b2"]),
        ("12 3456789 12345689 7 - 0 0", ["7", "7@d2", "b2", "d2", "@b2", "@e2", "@d4", "@u2", "@D2", "@", "=7"]),
    ],
)
def test_a_wrong_move_is_refused_by_the_legal_ones(text: str, wrong: list[str]) -> None:
    position = read(text)
    for move in wrong:
        with pytest.raises(IllegalMove, match=r"illegal move .*; seat 0 may play .*\(\d+\)|the draw may be") as refusal:
            position.play(move)
        assert "\n" not in str(refusal.value)
    with pytest.raises(IllegalMove, match=", ".join(f"{move} " for move in position.legal_moves()[:1])):
        position.play("nonsense")
    with pytest.raises(IllegalMove):
        position.play(DRAW + 10_000)


def test_a_move_after_the_end_is_refused() -> None:
    with pytest.raises(IllegalMove, match=r"over \(run_of_15\)"):
        read("456 - - - - 0 3").play("b2-c3")
    with pytest.raises(IllegalMove, match=r"over \(shift_limit\)"):
        read("12/34 - - - - 0 3", shift_limit=3).play("b2")


@pytest.mark.parametrize(
    ("text", "turn", "plies"),
    [
        ("12 3456789 123456789 - - 0 0", "5@d2", ["5", "@d2"]),
        ("12 3456789 123456789 - - 0 0", "?7@d2", ["?", "=7", "@d2"]),
        (FULL, "c2-b2", ["c2", "@b2"]),
    ],
)
def test_a_turn_joins_its_actions(text: str, turn: str, plies: list[str]) -> None:
    assert read(text).play(turn) == read(text).play_all(plies)
    assert read(text).play_all(" ".join(plies)).last_move == plies[-1]


def test_a_record_has_a_move_a_ply_and_no_whole_turns() -> None:
    start = envs.start("eiyiu")
    position = start.play("4@b2")
    record = Record("eiyiu", start.options, start.text, ("4@b2",), "0", result=None)
    with pytest.raises(BadText, match="ply 1: illegal move '4@b2'"):
        record.final()
    assert Record("eiyiu", start.options, start.text, ("4", "@b2"), "00").final() == position
