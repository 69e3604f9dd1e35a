"""What the network sees of Eiyiu: where numbers fit, what tiles expose, and what is safe after a lay."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from agents.network import encoding
from agents.network.eiyiu import (
    EXPOSED_DRAWS,
    EXPOSES,
    EXPOSING_DRAWS,
    FITTING_DRAWS,
    LACKED,
    LACKS,
    LIFTED,
    RUNS,
    SAFE_TILES,
    UNSAFE_DRAWS,
)
from seen import late_eiyiu_positions, positions, relations_of, rows_of_actions

pytestmark = pytest.mark.bounds


class Tiles:
    """The tiles of an observation of Eiyiu, and its piles, for slow counting from the rules' words."""

    def __init__(self, observation: np.ndarray) -> None:
        self.numbers = {(cell % 20, cell // 20): int(n) for cell, n in enumerate(observation[:400]) if n}
        self.open = {n + 1 for n in range(9) if observation[400 + n]}
        self.hidden = {n + 1 for n in range(9) if observation[409 + n]}

    def supply(self, number: int) -> int:
        if not self.open | self.hidden:
            return 1  # tiles of all numbers lie on the board, to be moved
        return (number in self.open) + 2 * (number in self.hidden)

    def free_cells(self) -> list[tuple[int, int]]:
        """Free cells of the window with a tile beside."""
        beside = {(x + dx, y + dy) for x, y in self.numbers for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))}
        return sorted(beside - set(self.numbers))

    def run(self, cell: tuple[int, int], step: tuple[int, int]) -> list[tuple[int, int]]:
        """The maximal run through a tile along a line."""
        x, y = cell
        while (x - step[0], y - step[1]) in self.numbers:
            x, y = x - step[0], y - step[1]
        cells = [(x, y)]
        while (cells[-1][0] + step[0], cells[-1][1] + step[1]) in self.numbers:
            cells.append((cells[-1][0] + step[0], cells[-1][1] + step[1]))
        return cells

    def wins(self, cell: tuple[int, int], number: int) -> bool:
        """Whether the number laid on the free cell makes a run of three or more that sums to 15."""
        self.numbers[cell] = number
        runs = [self.run(cell, step) for step in ((1, 0), (0, 1), (1, 1), (1, -1))]
        found = any(len(run) >= 3 and sum(self.numbers[each] for each in run) == 15 for run in runs)
        del self.numbers[cell]
        return found

    def leaves(self, cell: tuple[int, int], number: int) -> list[int]:
        """The numbers that fit at the ends of the runs that the number laid on the cell would belong to, once for each run."""
        self.numbers[cell] = number
        lacks = []
        for step in ((1, 0), (0, 1), (1, 1), (1, -1)):
            run = self.run(cell, step)
            for end in ((run[0][0] - step[0], run[0][1] - step[1]), (run[-1][0] + step[0], run[-1][1] + step[1])):
                for other in range(1, 10) if end in self.free_cells() else ():
                    self.numbers[end] = other
                    whole = self.run(end, step)
                    if len(whole) >= 3 and sum(self.numbers[each] for each in whole) == 15:
                        lacks.append(other)
                    del self.numbers[end]
        del self.numbers[cell]
        return lacks


def exposed(tiles: Tiles, fitting: set[int], number: int, source: str) -> int:
    """How many of the numbers that fit are hidden once the number lies, 10 if one is open or a tile is moved next.

    The tile came from the source `open`, `hidden` or, in hand already, `hand`.
    """
    hidden, shown = set(tiles.hidden), set(tiles.open)
    {"open": shown, "hidden": hidden, "hand": set[int]()}[source].discard(number)
    if not shown | hidden:
        return 10 if fitting else 0
    return 10 if fitting & shown else len(fitting & hidden)


def exposure(tiles: Tiles, cell: tuple[int, int], number: int, source: str) -> int:
    """What the number exposes on the cell; told slowly. Runs that it lengthens count with what they lacked before, too."""
    before = tiles.free_cells()
    fitting = {n for n in range(1, 10) for each in before if each != cell and tiles.wins(each, n)}
    fitting |= set(tiles.leaves(cell, number))
    tiles.numbers[cell] = number
    fitting |= {n for n in range(1, 10) for each in tiles.free_cells() if each not in before and tiles.wins(each, n)}
    del tiles.numbers[cell]
    return exposed(tiles, fitting, number, source)


def least_exposures(tiles: Tiles, source: str) -> dict[int, int]:
    """The least that each number from there exposes."""
    cells = tiles.free_cells()
    return {number: min(exposure(tiles, cell, number, source) for cell in cells) for number in range(1, 10)}


def exposure_of_lay(tiles: Tiles, cell: tuple[int, int], number: int) -> int:
    """The same of a tile in hand, by what can be laid afterwards."""
    tiles.numbers[cell] = number
    fitting = {n for n in range(1, 10) for each in tiles.free_cells() if tiles.wins(each, n)}
    del tiles.numbers[cell]
    return exposed(tiles, fitting, number, "hand")


def eiyiu_positions(hand: bool) -> list[np.ndarray]:
    """Observations of random games, with a tile in hand or without."""
    observations = positions("eiyiu", count=40, plies=34)[0].numpy()
    return [each for each in observations if bool(each[418]) == hand and each[:400].any()]


def test_in_eiyiu_it_sees_for_each_number_where_it_fits_and_what_it_exposes() -> None:
    seen = set()
    late = [position.observation() for position in late_eiyiu_positions()]
    late = [observation for observation in late if not observation[418]][:20]
    assert len(late) > 5
    for observation in [*eiyiu_positions(hand=False)[:60], *late]:
        tiles = Tiles(observation)
        cells = tiles.free_cells()
        expected = []
        for number in range(1, 10):
            fits = sum(tiles.wins(cell, number) for cell in cells)
            source = "open" if number in tiles.open else "hidden"
            least = min((exposure(tiles, cell, number, source) for cell in cells), default=10)
            supply = tiles.supply(number)
            expected += [((number - 1) * 4 + min(fits, 3)) * 4 + supply, 144 + ((number - 1) * 11 + least) * 4 + supply]
            seen |= {("fits", min(fits, 3)), ("exposes", least)}
        assert relations_of("eiyiu", observation) == [*expected, 540, 544 + len(tiles.numbers)]
    assert {("fits", 0), ("fits", 1), ("exposes", 0), ("exposes", 1), ("exposes", 10)} <= seen


def test_in_eiyiu_a_lay_is_seen_by_the_runs_that_it_joins_and_what_these_then_lack() -> None:
    code = encoding("eiyiu", "relations")
    kinds = {"run": 0, "lack": 0, "lacked": 0}
    late = [position.observation() for position in late_eiyiu_positions()]
    late = [observation for observation in late if observation[418]][:20]
    assert len(late) > 5
    for observation in [*eiyiu_positions(hand=True)[:40], *late]:
        tiles, hand = Tiles(observation), int(observation[418])
        cells = tiles.free_cells()
        actions = [10 + y * 20 + x for x, y in cells]
        for cell, action, rows in zip(cells, actions, rows_of_actions(code, observation, actions), strict=True):
            assert rows[0] == action
            expected = [EXPOSES + len(tiles.hidden) * 11 + exposure_of_lay(tiles, cell, hand)]
            tiles.numbers[cell] = hand
            runs = [tiles.run(cell, step) for step in ((1, 0), (0, 1), (1, 1), (1, -1))]
            sums = [sum(tiles.numbers[each] for each in run) for run in runs]
            del tiles.numbers[cell]
            for run, total in zip(runs, sums, strict=True):
                if len(run) > 1:
                    expected.append(RUNS + (len(run) > 2) * 17 + min(total, 16))
                    lacked = 15 - total + hand
                    if len(run) > 2 and 1 <= lacked <= 9 and lacked != hand:
                        expected.append(LACKED + (lacked - 1) * 4 + tiles.supply(lacked))
                        kinds["lacked"] += 1
                    kinds["run"] += 1
            for lack in tiles.leaves(cell, hand):
                expected.append(LACKS + (lack - 1) * 4 + tiles.supply(lack))
                kinds["lack"] += 1
            assert sorted(row for row in rows[1:] if row < 410 + SAFE_TILES) == sorted(410 + row for row in expected)
    assert min(kinds.values()) > 20


def test_in_eiyiu_a_lay_that_exposes_no_open_tile_is_seen_by_what_the_other_player_can_then_lay_safely() -> None:
    code = encoding("eiyiu", "relations")
    rng, seen = np.random.default_rng(9), Counter[tuple[str, bool]]()
    late = [position.observation() for position in late_eiyiu_positions()]
    for observation in [*eiyiu_positions(hand=True)[:25], *[each for each in late if each[418]][:10]]:
        tiles, hand = Tiles(observation), int(observation[418])
        cells = [tiles.free_cells()[index] for index in rng.permutation(len(tiles.free_cells()))[:3]]
        cells.sort(key=lambda cell: (cell[1], cell[0]))
        lays = rows_of_actions(code, observation, [10 + y * 20 + x for x, y in cells])
        for cell, rows in zip(cells, lays, strict=True):
            told = [row - 410 for row in rows[1:] if row >= 410 + SAFE_TILES]
            if exposure_of_lay(tiles, cell, hand) == 10 or not tiles.open | tiles.hidden:
                assert told == []
                seen["nothing", True] += 1
                continue
            after = Tiles(observation)
            after.numbers[cell] = hand
            places = after.free_cells()
            taken, drawn = least_exposures(after, "open"), least_exposures(after, "hidden")
            safe = sum(taken[n] == 0 for n in after.open)
            unsafe = sum(drawn[n] == 10 and not any(after.wins(each, n) for each in places) for n in after.hidden)
            assert told == [SAFE_TILES + 10 * len(after.open) + safe, UNSAFE_DRAWS + 10 * len(after.hidden) + unsafe]
            seen["safe", safe > 0] += 1
            seen["unsafe", unsafe > 0] += 1
    assert len(seen) == 5, "each was seen"


def test_in_eiyiu_a_tile_taken_is_seen_by_where_it_fits_and_what_it_exposes() -> None:
    code = encoding("eiyiu", "relations")
    seen, both = 0, 0
    for observation in eiyiu_positions(hand=False)[:30]:
        tiles = Tiles(observation)
        if not tiles.open or not tiles.hidden:
            continue
        seen += 1
        cells, hidden = tiles.free_cells(), len(tiles.hidden)
        fits = {n: sum(tiles.wins(cell, n) for cell in cells) for n in range(1, 10)}
        taken, drawn = least_exposures(tiles, "open"), least_exposures(tiles, "hidden")
        both += any(taken[n] < drawn[n] for n in tiles.hidden & tiles.open if not fits[n])
        picked = rows_of_actions(code, observation, [*(n - 1 for n in sorted(tiles.open)), 9])
        for number, rows in zip(sorted(tiles.open), picked, strict=False):
            assert rows == [number - 1, 410 + min(fits[number], 3), 410 + EXPOSES + hidden * 11 + taken[number]]
        fitting = [n for n in tiles.hidden if fits[n]]
        exposed = [n for n in tiles.hidden if not fits[n] and drawn[n] == 10]
        rest = [drawn[n] for n in tiles.hidden if not fits[n] and drawn[n] < 10]
        shares = len(fitting), len(exposed), sum(rest) // max(len(rest), 1)
        kinds = zip((FITTING_DRAWS, EXPOSED_DRAWS, EXPOSING_DRAWS), shares, strict=True)
        assert picked[-1] == [9, *(410 + kind + 10 * (hidden - 1) + share for kind, share in kinds)]
    assert seen > 10 and both > 0, "a drawn tile may expose the open one of its number"


def test_in_eiyiu_a_tile_lifted_is_seen_as_one_in_hand_of_what_then_lies_on_the_board() -> None:
    code = encoding("eiyiu", "relations")
    seen = set()
    for position in late_eiyiu_positions():
        if position.observation()[418] or position.observation()[400:418].any():
            continue
        actions = position.legal_actions()
        for action, rows in zip(actions, rows_of_actions(code, position.observation(), actions), strict=True):
            lifted = position.play(action).observation()
            tiles, number = Tiles(lifted), int(lifted[418])
            cells = tiles.free_cells()
            fits = min(sum(tiles.wins(cell, number) for cell in cells), 3)
            origin = int(lifted[419]) - 1
            others = [cell for cell in cells if cell != (origin % 20, origin // 20)]
            least = min(exposure(tiles, cell, number, "hand") for cell in others)
            assert rows == [action, 410 + LIFTED + number - 1, 410 + fits, 410 + EXPOSES + least]
            seen |= {("fits", fits > 0), ("exposes", least)}
    assert seen == {("fits", False), ("fits", True), ("exposes", 0), ("exposes", 10)}
