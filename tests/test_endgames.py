"""Endgame databases: against definitions written with sets, whole game trees, files that are not right, and the oracle."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from agents.endgames import oracle, retrograde
from agents.endgames.database import Database, available, build, build_memory, layer_path, open_database
from agents.endgames.index import boards_below, list_boards, number_boards
from agents.endgames.table import LEAST, MAX_SEEDS, MOST, PAIRS, byte_of, check_batch, probe_batch
from agents.spec import make_agent
from commands import assert_refused, run_command
from envs import BadOption, BadSpec, Position
from envs.games.oware import GRAND_SLAMS
from oware_boards import CHASE, all_houses, random_state
from players import batch_of
from reference import oware
from reference.oware import Houses

COMMAND = "agents.endgames.command"
Move = tuple[bool, Houses]
Node = tuple[Houses, bool]

pytestmark = pytest.mark.bounds
all_slams = pytest.mark.parametrize("slam", GRAND_SLAMS)
two_threads = pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="Numba has one thread only")


def packed(houses: Houses) -> tuple[int, int]:
    """Both sides of a board as kernels take them."""
    sides = [sum(seeds << 8 * house for house, seeds in enumerate(houses[6 * seat : 6 * seat + 6])) for seat in range(2)]
    return sides[0], sides[1]


def numbers_of(boards: list[Houses]) -> list[int]:
    """The numbers of boards."""
    numbers = np.zeros(len(boards), np.int64)
    number_boards(np.array([packed(board) for board in boards], np.int64), numbers)
    return [int(number) for number in numbers]


@cache
def solved(seeds: int, slam: str) -> Database:
    """The database of up to so many seeds, made in memory."""
    table, plies = np.zeros(boards_below(seeds + 1), np.uint8), []
    for count in range(seeds + 1):
        layer, needed = retrograde.solve(count, GRAND_SLAMS.index(slam), table)
        table[boards_below(count) : boards_below(count + 1)] = layer
        plies.append(needed)
    return Database(seeds, slam, table, np.maximum.accumulate(np.array(plies, np.int64)))


@cache
def bounds_of(seeds: int, slam: str) -> dict[Houses, tuple[int, int]]:
    """The least and the most of its seeds that the mover of each board with so many ends with, by the database."""
    boards = list(all_houses(seeds))
    pairs = PAIRS[solved(seeds, slam).table[numbers_of(boards)]]
    return {board: (int(least), int(most)) for board, (least, most) in zip(boards, pairs, strict=True)}


@cache
def moves(board: Houses, slam: str) -> tuple[Move, ...]:
    """Whether each of the mover's moves harvests, and the board after it as its mover sees it."""
    found = []
    for house in oware.legal_houses(board, 0, slam):
        after, taken = oware.move(board, house, slam)
        found.append((taken > 0, after[6:] + after[:6]))
    return tuple(found)


# Numbers


@pytest.mark.jit_off
@pytest.mark.parametrize("seeds", range(7))
def test_every_board_has_a_number_of_its_own_and_boards_of_fewer_seeds_come_first(seeds: int) -> None:
    boards = list(all_houses(seeds))
    numbers = numbers_of(boards)
    assert sorted(numbers) == list(range(boards_below(seeds), boards_below(seeds + 1)))
    back = np.zeros((len(boards), 2), np.int64)
    list_boards(seeds, np.array(numbers, np.int64) - boards_below(seeds), back)
    assert [tuple(pair) for pair in back.tolist()] == [packed(board) for board in boards]


def test_boards_of_many_seeds_have_numbers_too() -> None:
    rng = np.random.default_rng(1)
    for seeds in (12, 21, 33, 47, 48):
        places = rng.integers(boards_below(seeds + 1) - boards_below(seeds), size=300)
        boards, numbers = np.zeros((300, 2), np.int64), np.zeros(300, np.int64)
        list_boards(seeds, places, boards)
        number_boards(boards, numbers)
        assert (numbers - boards_below(seeds) == places).all()
        assert all(sum(int(side).to_bytes(6, "little").__iter__()) <= seeds for side in boards.flat)


@pytest.mark.jit_off
def test_a_byte_names_each_pair_of_bounds() -> None:
    pairs = [(least, most) for most in range(MAX_SEEDS + 1) for least in range(most + 1)]
    codes = [int(byte_of(least, most)) for least, most in pairs]
    assert len(set(codes)) == len(pairs) and max(codes) < 256
    assert [tuple(PAIRS[code]) for code in codes] == pairs


# Bounds, by their definition


@cache
def sure(seeds: int, wanted: int, slam: str) -> tuple[set[Node], dict[Node, int]]:
    """The safe boards for a player who wants so many of the seeds, and in how many plies it comes there from others.

    A node is a board as its mover sees it, and whether the player is the mover.
    """
    nodes = [(board, mine) for board in all_houses(seeds) for mine in (True, False)]

    def wins(node: Node, among: Callable[[Node], bool]) -> bool:
        board, mine = node
        if not moves(board, slam):
            return kept(node) >= wanted
        outcomes = (by_harvest(after, not mine) if taken else among((after, not mine)) for taken, after in moves(board, slam))
        return any(outcomes) if mine else all(outcomes)

    def by_harvest(board: Houses, mine: bool) -> bool:
        taken = 0 if mine else seeds - sum(board)
        return taken + reached(board, mine, slam) >= wanted

    safe = {node for node in nodes if kept(node) >= wanted}
    while True:
        falling = {node for node in safe if not wins(node, safe.__contains__)}
        if not falling:
            break
        safe -= falling
    plies = dict.fromkeys(safe, 0)
    for ply in range(1, retrograde.MAX_PLIES + 1):
        nearer = set(plies)
        plies |= {node: ply for node in nodes if node not in nearer and wins(node, nearer.__contains__)}
        if len(plies) == len(nearer):
            break
    return safe, plies


def kept(node: Node) -> int:
    """The seeds on the player's side."""
    board, mine = node
    return sum(board[:6]) if mine else sum(board[6:])


@cache
def reached(board: Houses, mine: bool, slam: str) -> int:
    """The most seeds of a board that the player is sure of."""
    seeds = sum(board)
    return max(wanted for wanted in range(seeds + 1) if (board, mine) in sure(seeds, wanted, slam)[1])


@pytest.mark.jit_off
@all_slams
@pytest.mark.parametrize("seeds", range(5))
def test_bounds_are_those_of_the_definition(seeds: int, slam: str) -> None:
    expected = {board: (reached(board, True, slam), seeds - reached(board, False, slam)) for board in all_houses(seeds)}
    assert bounds_of(seeds, slam) == expected


@all_slams
def test_the_plies_are_those_of_the_definition(slam: str) -> None:
    for seeds in range(5):
        needed = [max(sure(count, wanted, slam)[1].values()) for count in range(seeds + 1) for wanted in range(count + 1)]
        assert solved(4, slam).plies[seeds] == max(needed)


@all_slams
@pytest.mark.parametrize("seeds", [5, 6, 7])
def test_boards_that_are_not_looked_at_again_would_not_have_changed(seeds: int, slam: str) -> None:
    known = solved(7, slam)
    rows = np.tile(retrograde.new_row(GRAND_SLAMS.index(slam)), (retrograde.PARTS, 1))
    size = boards_below(seeds + 1) - boards_below(seeds)
    bounds, after = np.zeros((size, 2), np.int8), np.zeros((size, 2), np.int8)
    marks, changes, layer = np.ones(size, np.uint8), np.zeros(retrograde.PARTS, np.int64), np.zeros(size, np.uint8)
    retrograde.keep_own(1, seeds, bounds, after)
    for phase in retrograde.PHASES:
        changes[0] = 1
        while changes.any():
            marks[:] = 1
            retrograde.look_again(1, phase, seeds, rows, known.table, bounds, after, marks)
            retrograde.commit(1, seeds, bounds, after, marks, changes)
    retrograde.write_bytes(1, bounds, layer)
    assert (layer == known.table[boards_below(seeds) : boards_below(seeds + 1)]).all()


@two_threads
def test_two_threads_solve_what_one_does() -> None:
    known = solved(7, "forfeit")
    layer, plies = retrograde.solve(7, 0, known.table, threads=2)
    assert (layer == known.table[boards_below(7) :]).all()
    assert plies == retrograde.solve(7, 0, known.table)[1]


@pytest.mark.parametrize(("seeds", "share"), [(2, 0.8), (3, 0.8), (4, 0.7), (5, 0.9), (6, 0.8), (7, 0.8), (8, 0.6)])
def test_a_good_share_of_boards_has_an_exact_value(seeds: int, share: float) -> None:
    pairs = PAIRS[solved(8, "forfeit").table[boards_below(seeds) : boards_below(seeds + 1)]]
    assert (pairs[:, LEAST] == pairs[:, MOST]).mean() > share
    assert (pairs[:, LEAST] <= pairs[:, MOST]).all()


# Bounds, by whole games


@all_slams
@pytest.mark.parametrize("seeds", range(1, 6))
def test_without_repetitions_values_are_within_the_bounds_for_every_quiet_limit(seeds: int, slam: str) -> None:
    """Values for all boards, going back from the quiet limit."""
    needed = int(solved(5, slam).plies[seeds])
    for limit in (needed, needed + 1, needed + 7, 100, 161) if seeds < 5 else (needed, needed + 1):
        values = quiet_values(seeds, slam, limit)
        for board, (least, most) in bounds_of(seeds, slam).items():
            assert least <= values[board] <= most, (board, limit)


@cache
def quiet_values(seeds: int, slam: str, limit: int) -> dict[Houses, int]:
    """What the movers of all boards with a fresh past end with, if nothing but the quiet limit stops a game."""
    harvests = {
        board: [seeds - quiet_values(sum(after), slam, limit)[after] for taken, after in moves(board, slam) if taken]
        for board in all_houses(seeds)
    }
    values = {board: sum(board[:6]) for board in harvests}
    for _ in range(limit):
        before = values
        values = {
            board: max(
                [*known, *(seeds - before[after] for taken, after in moves(board, slam) if not taken)], default=sum(board[:6])
            )
            for board, known in harvests.items()
        }
    return values


@pytest.mark.parametrize("seeds", [2, 3])
def test_where_the_bounds_differ_both_are_reached_under_some_quiet_limit(seeds: int) -> None:
    needed = int(solved(5, "forfeit").plies[seeds])
    found = [quiet_values(seeds, "forfeit", limit) for limit in range(needed, needed + 30)]
    for board, bounds in bounds_of(seeds, "forfeit").items():
        values = {values[board] for values in found}
        assert (min(values), max(values)) == bounds, board


class TooManyNodes(Exception):
    """A game tree is too large."""


class Tree:
    """Whole game trees under a repetition limit and a quiet limit, with all that has gone before."""

    def __init__(self, repetition_limit: int, quiet_limit: int, slam: str, most_nodes: int) -> None:
        self.limits = (repetition_limit, quiet_limit)
        self.slam = slam
        self.most_nodes = most_nodes
        self.nodes = 0
        self.known: dict[Houses, int] = {}

    def value(self, board: Houses) -> int:
        """What the mover of a board with a fresh past ends with."""
        if board not in self.known:
            self.known[board] = self.value_after(board, 0, 0, {})
        return self.known[board]

    def value_after(self, board: Houses, seat: int, quiet: int, seen: dict[tuple[Houses, int], int]) -> int:
        """What the mover of a board ends with, given plies since the last harvest and earlier boards by their movers."""
        return self._search(board, seat, quiet, seen, 0, sum(board))

    def value_near(self, board: Houses, least: int, most: int) -> int:
        """The same for a fresh past, if it is within these bounds; else a number beyond them on the same side."""
        return self._search(board, 0, 0, {}, least - 1, most + 1)

    def _search(self, board: Houses, seat: int, quiet: int, seen: dict[tuple[Houses, int], int], low: int, high: int) -> int:
        self.nodes += 1
        if self.nodes > self.most_nodes:
            raise TooManyNodes
        seeds, best = sum(board), -1
        occurrences = seen.get((board, seat), 0) + 1
        stopped = occurrences >= self.limits[0] or quiet >= self.limits[1]
        if stopped or not moves(board, self.slam):
            return sum(board[:6])
        seen[board, seat] = occurrences
        try:
            for taken, after in sorted(moves(board, self.slam), reverse=True):
                if taken:
                    value = seeds - self.value(after)
                else:
                    value = seeds - self._search(after, 1 - seat, quiet + 1, seen, seeds - high, seeds - max(low, best))
                best = max(best, value)
                if best >= high:
                    break
        finally:
            seen[board, seat] = occurrences - 1
        return best


@all_slams
@pytest.mark.parametrize("repetition_limit", [2, 3])
@pytest.mark.parametrize(("seeds", "resolved"), [(1, 12), (2, 78), (3, 364), (4, 130)])
def test_values_of_whole_games_are_within_the_bounds(seeds: int, resolved: int, repetition_limit: int, slam: str) -> None:
    needed = int(solved(5, slam).plies[seeds])
    boards = list(all_houses(seeds))
    if seeds == 4:
        boards = boards[::3]
    for quiet_limit in (needed, 160) if seeds < 3 else (needed,):
        found = exact = 0
        tree = Tree(repetition_limit, quiet_limit, slam, most_nodes=0)
        for board in boards:
            least, most = bounds_of(seeds, slam)[board]
            tree.most_nodes = tree.nodes + (600 if seeds > 3 else 20_000)
            try:
                assert least <= tree.value_near(board, least, most) <= most, board
            except TooManyNodes:
                continue
            found += 1
            exact += least == most
        assert found >= resolved
        assert exact > 0.5 * found


LIMITS = [(2, 60), (3, 160), (9, 60), (10**6, 60)]
limits = pytest.mark.parametrize(("repetition_limit", "quiet_limit"), LIMITS)


@all_slams
@limits
def test_whoever_plays_by_the_definition_ends_with_what_it_is_sure_of(
    repetition_limit: int, quiet_limit: int, slam: str
) -> None:
    rng = np.random.default_rng(5)
    nodes = [(board, mine) for board in all_houses(4) for mine in (True, False)]
    more = 0
    for node in [nodes[index] for index in rng.integers(len(nodes), size=400)]:
        ended_with = play_by_definition(node, repetition_limit, quiet_limit, slam, rng)
        assert ended_with >= reached(*node, slam), node
        more += ended_with > reached(*node, slam)
    assert more > 50


def play_by_definition(node: Node, repetition_limit: int, quiet_limit: int, slam: str, rng: np.random.Generator) -> int:
    """What the player ends with against random play."""
    stored = quiet = 0
    seen: dict[Node, int] = {}
    wanted = reached(*node, slam)
    while True:
        board, mine = node
        seen[node] = seen.get(node, 0) + 1
        if not moves(board, slam) or seen[node] >= repetition_limit or quiet >= quiet_limit:
            return stored + kept(node)
        options = good_moves(node, wanted, slam) if mine else moves(board, slam)
        taken, after = options[rng.integers(len(options))]
        node, quiet = (after, not mine), quiet + 1
        if taken:
            stored += sum(board) - sum(after) if mine else 0
            quiet, seen, wanted = 0, {}, reached(*node, slam)


def good_moves(node: Node, wanted: int, slam: str) -> list[Move]:
    """The moves by which the player stays on safe boards or comes nearer to them."""
    board, _ = node
    safe, plies = sure(sum(board), wanted, slam)

    def is_good(taken: bool, after: Houses) -> bool:
        if taken:
            return sum(board) - sum(after) + reached(after, False, slam) >= wanted
        return (after, False) in safe or plies.get((after, False), 10**6) < plies[node]

    return [move for move in moves(board, slam) if is_good(*move)]


# Bounds with a past


@dataclass(frozen=True)
class Line:
    """A position in the engine some quiet plies after a board with a fresh past, and what the twin knows of it."""

    position: Position
    board: Houses
    quiet: int
    seen: dict[tuple[Houses, int], int]


def quiet_lines(seeds: int, plies: int, rng: np.random.Generator, **options: Any) -> Iterator[Line]:
    """Lines of up to so many random quiet plies; running positions."""
    boards = [board for board in all_houses(seeds) if moves(board, options["grand_slam"])]
    while True:
        board = boards[rng.integers(len(boards))]
        stores = (24 - seeds // 2, 24 - seeds + seeds // 2)
        position = Position.from_text("oware", "-".join(map(str, [*board, *stores])) + "-S", **options)
        seen: dict[tuple[Houses, int], int] = {}
        quiet = 0
        while quiet < plies and not position.end:
            key = (board, position.mover)
            actions = position.legal_actions()
            action = actions[rng.integers(len(actions))]
            taken, after = moves(board, options["grand_slam"])[actions.index(action)]
            if taken or position.play(action).end:
                break
            seen[key] = seen.get(key, 0) + 1
            board, position, quiet = after, position.play(action), quiet + 1
        if not position.end:
            yield Line(position, board, quiet, seen)


@pytest.mark.parametrize("slam", ["forfeit", "capture"])
@pytest.mark.parametrize("repetition_limit", [2, 3, 4])
def test_bounds_hold_for_a_past_where_the_database_says_so(repetition_limit: int, slam: str) -> None:
    rng = np.random.default_rng(repetition_limit)
    known = solved(5, slam)
    held = unless = broken = 0
    for seeds in (2, 3):
        limit = int(known.plies[seeds]) + 30
        lines = quiet_lines(seeds, 60, rng, repetition_limit=repetition_limit, quiet_limit=limit, grand_slam=slam)
        for line in (next(lines) for _ in range(250)):
            rows, histories, _, _ = batch_of([line.position])
            answers = np.zeros((3, 1), np.int64)
            check_batch(rows, histories, known.plies, *answers)
            tree = Tree(repetition_limit, limit, slam, most_nodes=3000)
            try:
                value = tree.value_after(line.board, line.position.mover, line.quiet, dict(line.seen))
            except TooManyNodes:
                continue
            least, most = bounds_of(seeds, slam)[line.board]
            within = least <= value <= most
            by_plies, in_time, recurred = (bool(answer) for answer in answers[:, 0])
            assert recurred == any(count >= repetition_limit - 1 for count in line.seen.values())
            assert within or not by_plies
            assert within or not in_time or recurred
            held += by_plies
            unless += in_time and not recurred
            broken += not within
    assert held > 20 and unless > 20
    assert broken or repetition_limit > 2


@pytest.mark.jit_off
@all_slams
def test_a_probe_reads_both_bounds_as_a_difference_of_seeds_to_come(slam: str) -> None:
    rng = np.random.default_rng(8)
    known = solved(4, slam)
    for _ in range(300):
        seeds = int(rng.integers(1, 7))
        state = random_state(rng, seeds, oware.Options(grand_slam=slam))
        position = Position.from_text("oware", oware_text(state), strict=False, grand_slam=slam)
        board = state.houses if state.mover == 0 else state.houses[6:] + state.houses[:6]
        expected = (
            tuple(2 * seeds_won - seeds for seeds_won in bounds_of(seeds, slam)[board]) if seeds <= 4 else (-seeds, seeds)
        )
        assert known.bounds(position) == expected
        nothing = np.zeros((1, 2), np.int64)
        probe_batch(position.to_arrays()[0][None], np.zeros(0, np.uint8), nothing)
        assert tuple(nothing[0]) == (-seeds, seeds)


def oware_text(state: oware.State) -> str:
    """The board of a state."""
    return "-".join(map(str, [*state.houses, *state.stores])) + "-" + "SN"[state.mover]


def test_a_chase_has_no_exact_value() -> None:
    lower, upper = solved(5, "forfeit").bounds(Position.from_text("oware", CHASE))
    assert lower < upper


@pytest.mark.parametrize("other", [{"game": "uisge"}, {"grand_slam": "capture"}])
def test_a_database_is_for_one_game_and_one_rule(other: dict[str, str]) -> None:
    position = Position.start(**{"game": "oware", **other})
    with pytest.raises(BadOption, match="grand_slam=forfeit"):
        solved(5, "forfeit").bounds(position)


# Files


def make(folder: Path, seeds: int, slam: str = "forfeit") -> dict[str, bytes]:
    """The files of a folder in which a build has run."""
    assert list(build(seeds, folder, slam)) == list(range(seeds + 1))
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of all files in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@all_slams
def test_a_database_is_read_as_it_was_built(tmp_path: Path, slam: str) -> None:
    make(tmp_path, 6, slam)
    read, expected = open_database(tmp_path, slam), solved(6, slam)
    assert (read.seeds, read.grand_slam) == (6, slam)
    assert (read.table == expected.table).all() and (read.plies == expected.plies).all()
    fewer = open_database(tmp_path, slam, seeds=4)
    assert (fewer.table == expected.table[: boards_below(5)]).all() and fewer.seeds == 4


def test_an_interrupted_build_goes_on_and_ends_with_the_same_bytes(tmp_path: Path) -> None:
    whole = make(tmp_path / "whole", 6)

    def interrupt(seeds: int, phase: int, passes: int, changed: int) -> None:
        if seeds == 5 and passes == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(build(6, tmp_path / "stopped", report=interrupt))
    assert available(tmp_path / "stopped") == 4
    assert set(contents(tmp_path / "stopped")) == set(sorted(whole)[:5])
    assert make(tmp_path / "stopped", 6) == whole


def test_what_is_available_are_files_without_a_gap(tmp_path: Path) -> None:
    assert available(tmp_path / "nowhere") == -1
    make(tmp_path, 4)
    assert available(tmp_path) == 4 and available(tmp_path, "capture") == -1
    layer_path(tmp_path, "forfeit", 2).unlink()
    assert available(tmp_path) == 1 and open_database(tmp_path).seeds == 1


def test_databases_lie_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPIELTISCH_DATA_DIR", str(tmp_path))
    assert available() == -1
    list(build(3))
    assert available() == 3 and open_database().seeds == 3
    assert len(list((tmp_path / "endgames").iterdir())) == 4


def edited(key: str, value: Any) -> Callable[[bytes], bytes]:
    """An edit of a file's header."""

    def edit(content: bytes) -> bytes:
        line, _, rest = content.partition(b"\n")
        return json.dumps({**json.loads(line), key: value}).encode() + b"\n" + rest

    return edit


DAMAGE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda content: b"", "no file of endgames"),
    "foreign": (lambda content: b"\x89PNG\r\n" + bytes(200), "no file of endgames"),
    "other JSON": (lambda content: b"[1, 2]\n", "no file of endgames"),
    "header alone": (lambda content: content.partition(b"\n")[0] + b"\n", "cut short"),
    "cut short": (lambda content: content[:-5], "cut short"),
    "longer": (lambda content: content + b"more", "damaged"),
    "a bit": (lambda content: content[:-9] + bytes([content[-9] ^ 16]) + content[-8:], "damaged"),
    "checksum": (edited("sha256", "0" * 64), "damaged"),
    "plies": (edited("plies", "many"), "damaged"),
    "version": (edited("version", 2), "version is 2, not 1"),
    "format": (edited("format", "else"), "no file of endgames"),
    "game": (edited("game", "uisge"), "game is 'uisge', not 'oware'"),
    "rule": (edited("grand_slam", "capture"), "grand_slam is 'capture', not 'forfeit'"),
    "seeds": (edited("seeds", 4), "seeds is 4, not 5"),
    "boards": (edited("boards", 10**12), "boards is"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_file_that_is_not_right_is_refused_by_name_in_one_line(tmp_path: Path, damage: str) -> None:
    make(tmp_path, 5)
    path = layer_path(tmp_path, "forfeit", 5)
    spoil, hint = DAMAGE[damage]
    path.write_bytes(spoil(path.read_bytes()))
    for read in (lambda: open_database(tmp_path), lambda: list(build(6, tmp_path))):
        with pytest.raises(BadSpec, match=hint) as refusal:
            read()
        assert path.name in str(refusal.value) and "\n" not in str(refusal.value)
    assert_refused(run_command(COMMAND, "score", "oware", "random", "--folder", tmp_path), path.name, hint)
    assert open_database(tmp_path, seeds=4).seeds == 4


def test_a_layer_that_is_missing_is_named(tmp_path: Path) -> None:
    make(tmp_path, 4)
    layer_path(tmp_path, "forfeit", 2).unlink()
    with pytest.raises(BadSpec, match=r"oware-forfeit-02.* is missing"):
        open_database(tmp_path, seeds=4)
    with pytest.raises(BadSpec, match=r"no endgames in .* for grand_slam=capture"):
        open_database(tmp_path, "capture")


@pytest.mark.parametrize("seeds", [-1, MAX_SEEDS + 1, 48])
def test_more_seeds_than_a_byte_can_count_are_refused(tmp_path: Path, seeds: int) -> None:
    for refused in (lambda: list(build(seeds, tmp_path)), lambda: open_database(tmp_path, seeds=seeds)):
        with pytest.raises(BadOption, match=f"up to {MAX_SEEDS} seeds"):
            refused()
    assert contents(tmp_path) == {}


# The oracle


class ByDatabase:
    """Plays a move that keeps what the database knows."""

    spec = "by-database"

    def __init__(self, known: Database) -> None:
        self._known = known

    def act(
        self, rows: np.ndarray, histories: np.ndarray, observations: np.ndarray, masks: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        actions = []
        for seen, mask in zip(observations, masks, strict=True):
            text = "-".join(str(number) for number in seen[:14]) + "-S"
            position = Position.from_text("oware", text, grand_slam=self._known.grand_slam)
            values = {action: self.value(position.play(action)) for action in np.flatnonzero(mask)}
            actions.append(max(values, key=values.__getitem__))
        return np.array(actions, np.int64)

    def value(self, position: Position) -> int:
        """Seat 0's lead at the end."""
        lead = position.scores[0] - position.scores[1]
        if position.end and position.end.label == "no_moves":
            return lead
        text = position.text[:-1] + "N"
        lower, upper = self._known.bounds(Position.from_text("oware", text, grand_slam=self._known.grand_slam))
        assert lower == upper
        return lead - lower


@all_slams
def test_the_oracle_praises_who_plays_by_the_database_and_not_who_plays_at_random(slam: str) -> None:
    known = solved(6, slam)
    questions = oracle.draw_questions(known, 300, seed=1)
    best = oracle.grade(ByDatabase(known), questions, seed=0)
    assert best.kept == 1 and best.mean_loss == 0
    assert best.kept_interval == pytest.approx((0.9873, 1.0), abs=1e-3)
    guessed = oracle.grade(make_agent("random", "oware"), questions, seed=0)
    shares = [(question.values == question.values.max()).sum() / (question.values >= 0).sum() for question in questions]
    assert guessed.kept == pytest.approx(np.mean(shares), abs=0.09)  # three standard errors
    assert guessed.mean_loss > 0.5


@all_slams
def test_only_the_best_moves_of_a_question_win(slam: str) -> None:
    known = solved(6, slam)
    for question in oracle.draw_questions(known, 200, seed=2):
        position = question.position
        assert not position.end and sum(position.scores) + question.seeds == 48
        mine = position.scores[position.mover]
        assert mine + question.values.max() == 25
        assert [action for action in range(6) if question.values[action] >= 0] == position.legal_actions()
        assert len(set(question.values[position.legal_actions()].tolist())) > 1


def test_questions_follow_from_their_seed_and_have_all_numbers_of_seeds() -> None:
    known = solved(7, "forfeit")
    texts = [[question.position.text for question in oracle.draw_questions(known, 200, seed)] for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    assert {question.seeds for question in oracle.draw_questions(known, 200, 1)} == {4, 5, 6, 7}
    assert {question.position.mover for question in oracle.draw_questions(known, 200, 1)} == {0, 1}


def test_an_interval_of_a_perfect_agent_is_not_empty_and_one_of_many_moves_is_narrow() -> None:
    few, many = (oracle.Grade("x", np.zeros(count, np.int64)).kept_interval for count in (10, 1000))
    assert few == pytest.approx((0.7225, 1.0), abs=1e-4) and many == pytest.approx((0.9962, 1.0), abs=1e-4)
    half = oracle.Grade("x", np.arange(100) % 2)
    assert half.kept_interval == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert half.mean_loss_interval == pytest.approx((0.402, 0.598), abs=1e-3)


# Commands


def test_commands_build_and_score(tmp_path: Path) -> None:
    folder, result = tmp_path / "endgames", tmp_path / "result.json"
    done = run_command(COMMAND, "build", "oware", "--seeds", "6", "--folder", folder)
    assert done.code == 0 and "up to 6 seeds (18,564 boards)" in done.out and done.out.count("\n") == 1
    scored = ("score", "oware", "random", "greedy", "--folder", folder, "--positions", "100", "--json", result)
    done = run_command(COMMAND, *scored)
    assert done.code == 0 and "random" in done.out and "greedy" in done.out
    told = json.loads(result.read_text(encoding="utf-8"))
    assert {key: told[key] for key in ("game", "grand_slam", "seeds", "positions", "seed")} == {
        "game": "oware",
        "grand_slam": "forfeit",
        "seeds": 6,
        "positions": 100,
        "seed": 0,
    }
    assert [row["agent"] for row in told["agents"]] == ["random", "greedy"]
    for row in told["agents"]:
        assert 0 < row["low"] < row["kept"] < row["high"] < 1
        assert row["loss_low"] < row["loss"] < row["loss_high"]
    before = result.read_text(encoding="utf-8")
    assert run_command(COMMAND, *scored).code == 0 and result.read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ((), "COMMAND"),
        (("dig", "oware"), "dig"),
        (("build",), "GAME"),
        (("build", "chess"), "chess"),
        (("build", "uisge"), "oware only"),
        (("build", "oware", "--seeds", "22"), "up to 21 seeds, not 22"),
        (("build", "oware", "--seeds", "-1"), "up to 21 seeds, not -1"),
        (("build", "oware", "--seeds", "x"), "--seeds"),
        (("build", "oware", "--grand-slam", "maybe"), "maybe"),
        (("build", "oware", "--threads", "0"), "--threads"),
        (("score", "oware"), "SPEC"),
        (("score", "oware", "random", "--positions", "0"), "--positions"),
        (("score", "oware", "random", "--seeds", "3"), "4 seeds or more"),
        (("score", "oware", "random", "--seeds", "6"), "is missing"),
        (("score", "oware", "nobody"), "unknown agent"),
        (("score", "oware", "random", "random"), "named twice"),
        (("score", "oware", "random", "--json", "/nowhere/x.json"), "/nowhere"),
        (("score", "oware", "random", "--grand-slam", "illegal"), "no endgames"),
    ],
)
def test_commands_refuse_what_is_wrong_in_one_line(tmp_path: Path, arguments: tuple[str, ...], hint: str) -> None:
    list(build(5, tmp_path))
    place = ("--folder", str(tmp_path)) if arguments[1:] else ()
    assert_refused(run_command(COMMAND, *arguments, *place), hint)


def test_help_suffices() -> None:
    for arguments in ((), ("build",), ("score",)):
        done = run_command(COMMAND, *arguments, "--help")
        assert (done.code, done.err) == (0, "")
        assert f"usage: python -m {' '.join(('agents.endgames', *arguments))}" in done.out


def test_the_memory_that_a_build_needs_is_known_before() -> None:
    assert build_memory(12) < 20e6 < 200e6 < build_memory(18) < 400e6
