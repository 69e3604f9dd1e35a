"""The network: what it sees of an observation, and that its own operations compute what torch's dense ones do."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from scipy import stats

import eiyiu_boards
import envs
from agents.network import ENCODINGS, Encoding, Network, NetworkSettings, Seen, coded_columns, encoding, observation_layout
from agents.network.eiyiu import EXPOSED_DRAWS, EXPOSES, EXPOSING_DRAWS, FITTING_DRAWS, LACKED, LACKS, LIFTED, RUNS
from agents.network.network import sums_of_rows
from agents.network.relations import FEW, HOLES, HOUSES, KINDS_OF_SQUARE, NO_ROW, ROW_OF_THREE, TUZDYK
from agents.network.sparse import Residual
from envs import Position, VectorGames
from envs.games import find_game

torch.set_num_threads(1)  # two wait for each other beside a busy process

ALL = [(game, name) for game in envs.GAME_NAMES for name in ENCODINGS]


def new_network(game: str, name: str, width: int = 32, layers: int = 1) -> Network:
    """A small network with random weights, larger than those it would begin with."""
    torch.manual_seed(3)
    options = find_game(game).checked_options({}, batch=False)
    network = Network(NetworkSettings(game, options, observation_layout(game), width, layers, name))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))
    return network


def positions(game: str, count: int = 200, plies: int = 30, seed: int = 4) -> tuple[torch.Tensor, torch.Tensor]:
    """Observations and masks of running games in all stages, after so many random plies and fewer."""
    games = VectorGames(game, count, seed=seed)
    played = []
    for ply in range(plies):
        games.step(games.random_actions())
        if ply % 3 == 0:
            played.append((games.observation.copy(), games.action_mask.copy()))
    observations, masks = (torch.from_numpy(np.concatenate(parts)) for parts in zip(*played, strict=True))
    return observations, masks


def relations_of(game: str, observation: np.ndarray) -> list[int]:
    """The rows that relations add, counted from their first."""
    counts, related = (encoding(game, name) for name in ENCODINGS)
    plain, rows = (picked_by(code, observation) for code in (counts, related))
    assert rows[: len(plain)] == plain, "relations come behind the counts"
    return [row - counts.rows for row in rows[len(plain) :]]


def picked_by(code: Encoding, observation: np.ndarray) -> list[int]:
    """The rows of the embedding that an observation picks."""
    return until_end(code.look(observation[None], np.zeros((1, code.game.actions), np.int8)).picked[0].tolist())


def until_end(rows: list[int]) -> list[int]:
    """The rows before `NO_ROW`, if that is there."""
    return rows[: rows.index(NO_ROW)] if NO_ROW in rows else rows


def rows_of_actions(code: Encoding, observation: np.ndarray, actions: Sequence[int]) -> list[list[int]]:
    """The rows of the policy's head that each of the actions picks."""
    mask = np.zeros((1, code.game.actions), np.int8)
    mask[0, actions] = 1
    seen = code.look(observation[None], mask)
    assert seen.actions.tolist() == sorted(actions)
    rows = dict(zip(seen.actions.tolist(), seen.picked_by_actions.tolist(), strict=True))
    return [until_end(rows[action]) for action in actions]


# What it sees


@pytest.mark.parametrize(("game", "name"), ALL)
def test_every_row_that_an_observation_picks_exists_and_none_twice(game: str, name: str) -> None:
    code = encoding(game, name)
    observations, masks = (part.numpy() for part in positions(game))
    seen = code.look(observations, masks)
    for row in seen.picked.tolist():
        rows = until_end(row)
        assert len(set(rows)) == len(rows) and min(rows) >= 0 and max(rows) < code.rows
    for row in seen.picked_by_actions.tolist():
        assert min(until_end(row)) >= 0 and max(until_end(row)) < code.action_rows


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_every_number_picks_a_row_but_zeros_of_sparse_fields(game: str) -> None:
    code = encoding(game, "counts")
    columns, codes = coded_columns(game)
    for observation in positions(game, count=20)[0].numpy():
        expected, first = [], 0
        for number, each in zip(observation[columns].tolist(), codes, strict=True):
            if number or not each.sparse:
                expected.append(first + min(number // each.step, each.cap))
            first += each.cap + 1
        assert picked_by(code, observation) == expected
    low, high = find_game(game).observation_bounds()
    extremes = np.array([low, high, np.minimum(high, 1)], np.int16)
    for observation in extremes:
        assert 0 <= min(picked_by(code, observation)) <= max(picked_by(code, observation)) < code.rows


@pytest.mark.parametrize("name", ["", "Counts", "counts ", None])
def test_an_unknown_encoding_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(ValueError, match="there are: counts, relations"):
        encoding("oware", name)


def last_sown(houses: int, house: int, seeds: int, keeps_one: bool) -> int:
    """Where the last seed falls, sown one by one: Toguz Kumalak leaves the first in its hole, Oware passes the hole over."""
    place = house
    if keeps_one:
        for _ in range(seeds - 1 if seeds > 1 else 1):
            place = (place + 1) % houses
        return place
    for _ in range(seeds):
        place = (place + 1) % houses
        if place == house:
            place = (place + 1) % houses
    return place


def test_in_oware_it_sees_where_each_last_seed_falls_and_what_lies_there() -> None:
    rng = np.random.default_rng(5)
    observation = np.zeros(find_game("oware").observation_size, np.int16)
    for most in [4] * 50 + [48] * 50:
        observation[:HOUSES] = houses = rng.integers(0, most, HOUSES)
        expected = []
        for house, seeds in enumerate(houses):
            if seeds:
                last = last_sown(HOUSES, house, int(seeds), keeps_one=False)
                kinds = [min(int(houses[place % HOUSES]), FEW - 1) for place in (last, last - 1)]
                expected.append(((house * HOUSES + last) * FEW + kinds[0]) * FEW + kinds[1])
        assert relations_of("oware", observation) == expected


def kind_of_hole(stones: int) -> int:
    """0 to 3 are kinds of their own, so are odd numbers up to 11 and three ranges of larger ones; other even ones are 4."""
    if stones <= 3:
        return stones
    if stones % 2 == 0:
        return 4
    return {5: 5, 7: 6, 9: 7, 11: 8, 13: 9, 15: 9, 17: 10, 19: 10, 21: 10}.get(stones, 11)


def test_in_toguz_kumalak_it_sees_where_each_last_stone_falls_and_the_kind_of_hole() -> None:
    rng = np.random.default_rng(6)
    observation = np.zeros(find_game("toguz_kumalak").observation_size, np.int16)
    seen = set()
    for most in [5] * 100 + [40] * 50 + [160] * 50:
        observation[:HOLES] = holes = rng.integers(0, most, HOLES)
        own, other = rng.integers(0, 9, 2) * rng.integers(0, 2, 2)
        observation[HOLES + 2], observation[HOLES + 3] = own, other
        tuzdyks = ({8 + int(own)} if own else set()) | ({int(other) - 1} if other else set())
        expected = []
        for hole, stones in enumerate(holes):
            if stones:
                last = last_sown(HOLES, hole, int(stones), keeps_one=True)
                kind = TUZDYK if last in tuzdyks else kind_of_hole(int(holes[last]))
                seen.add(kind)
                expected.append((hole * HOLES + last) * (TUZDYK + 1) + kind)
        assert relations_of("toguz_kumalak", observation) == expected
    assert seen == set(range(TUZDYK + 1))


def test_in_uisge_it_sees_every_three_squares_in_a_row() -> None:
    rng = np.random.default_rng(7)
    observation = np.zeros(find_game("uisge").observation_size, np.int16)
    for filled in (0.0, 0.1, 0.3, 1.0):
        board = rng.integers(1, KINDS_OF_SQUARE, (6, 7)) * (rng.random((6, 7)) < filled)
        observation[:42] = board.ravel()
        threes = [board[rank, file : file + 3] for rank in range(6) for file in range(5)]
        threes += [board[rank : rank + 3, file] for rank in range(4) for file in range(7)]
        kinds = [int(np.dot(three, [KINDS_OF_SQUARE**2, KINDS_OF_SQUARE, 1])) for three in threes]
        assert relations_of("uisge", observation) == [ROW_OF_THREE * n + kind for n, kind in enumerate(kinds) if kind]


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


def exposure(tiles: Tiles, cell: tuple[int, int], number: int, held: bool) -> int:
    """How many hidden tiles fit once the number lies there, 10 if an open one does; told slowly."""
    others = {n for n in range(1, 10) for each in tiles.free_cells() if each != cell and tiles.wins(each, n)}
    fitting = others | set(tiles.leaves(cell, number))
    hidden, shown = set(tiles.hidden), set(tiles.open)
    if len(shown) + len(hidden) <= (0 if held else 1):  # after it tiles are moved
        return 10 if fitting else 0
    if not held:
        (shown if number in shown else hidden).discard(number)
    return 10 if fitting & shown else len(fitting & hidden)


def eiyiu_positions(hand: bool) -> list[np.ndarray]:
    """Observations of random games, with a tile in hand or without."""
    observations = positions("eiyiu", count=40, plies=34)[0].numpy()
    return [each for each in observations if bool(each[418]) == hand and each[:400].any()]


def late_eiyiu_positions() -> list[Position]:
    """Positions of random games in which the last tile is being laid or tiles are moved."""
    rng = np.random.default_rng(5)
    found = [eiyiu_boards.in_engine(state) for state in eiyiu_boards.random_states(rng, 60) if not state.end]
    return [position for position in found if position.observation()[400:418].sum() <= 1]


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
            least = min((exposure(tiles, cell, number, held=False) for cell in cells), default=10)
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
            expected = [EXPOSES + len(tiles.hidden) * 11 + exposure(tiles, cell, hand, held=True)]
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
            assert sorted(rows[1:]) == sorted(410 + row for row in expected)
    assert min(kinds.values()) > 20


def test_in_eiyiu_a_tile_taken_is_seen_by_where_it_fits_and_what_it_exposes() -> None:
    code = encoding("eiyiu", "relations")
    seen = 0
    for observation in eiyiu_positions(hand=False)[:30]:
        tiles = Tiles(observation)
        if not tiles.open or not tiles.hidden:
            continue
        seen += 1
        cells, hidden = tiles.free_cells(), len(tiles.hidden)
        fits = {n: sum(tiles.wins(cell, n) for cell in cells) for n in range(1, 10)}
        least = {n: min(exposure(tiles, cell, n, held=False) for cell in cells) for n in range(1, 10)}
        picked = rows_of_actions(code, observation, [*(n - 1 for n in sorted(tiles.open)), 9])
        for number, rows in zip(sorted(tiles.open), picked, strict=False):
            assert rows == [number - 1, 410 + min(fits[number], 3), 410 + EXPOSES + hidden * 11 + least[number]]
        fitting = [n for n in tiles.hidden if fits[n]]
        exposed = [n for n in tiles.hidden if not fits[n] and least[n] == 10]
        rest = [least[n] for n in tiles.hidden if not fits[n] and least[n] < 10]
        shares = len(fitting), len(exposed), sum(rest) // max(len(rest), 1)
        kinds = zip((FITTING_DRAWS, EXPOSED_DRAWS, EXPOSING_DRAWS), shares, strict=True)
        assert picked[-1] == [9, *(410 + kind + 10 * (hidden - 1) + share for kind, share in kinds)]
    assert seen > 10


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
            least = min(exposure(tiles, cell, number, held=True) for cell in cells)
            assert rows == [action, 410 + LIFTED + number - 1, 410 + fits, 410 + EXPOSES + least]
            seen |= {("fits", fits > 0), ("exposes", least)}
    assert seen == {("fits", False), ("fits", True), ("exposes", 0), ("exposes", 10)}


# What it computes


@pytest.mark.parametrize(("game", "name"), ALL)
def test_answers_and_gradients_are_those_of_dense_operations(game: str, name: str) -> None:
    network = new_network(game, name, layers=2)
    observations, masks = positions(game)
    weights = torch.linspace(-1, 1, len(masks))
    seen = network.look(observations, masks)
    actions, values, chances = network.act(seen, torch.rand(len(masks)))
    judged = network.judge(seen, actions)[:3]
    features = torch.relu(sums_of_rows(network.embedding.weight, seen.picked) + network.bias)
    for layer in network.layers:
        features = features + torch.relu(layer(features))
    logs = network.log_policy(seen, features)
    divergences = (logs.exp() * logs.clamp(min=-1e9)).sum(dim=1)
    dense = network.value_head(features).squeeze(1), logs.gather(1, actions[:, None]).squeeze(1), divergences
    answers = *judged, values, chances, *network(observations, masks)
    for ours, theirs in zip(answers, (*dense, *dense[:2], logs, dense[0]), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    parameters = list(network.parameters())
    gradients = [
        torch.autograd.grad(sum((weights.roll(n) * answer).sum() for n, answer in enumerate(answers)), parameters)
        for answers in (judged, dense)
    ]
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-3 * float(theirs.abs().max()))


def test_products_in_bfloat16_are_near_those_in_float32() -> None:
    torch.manual_seed(8)
    features, weight, bias = torch.rand(500, 64), torch.randn(64, 64) / 8, torch.randn(64)
    answers = []
    for brief in (False, True):
        parts = [part.clone().requires_grad_() for part in (features, weight, bias)]
        answer = Residual.apply(*parts, brief)
        answers.append([answer, *torch.autograd.grad(answer.square().sum(), parts)])
    for ours, theirs in zip(answers[1], answers[0], strict=True):
        assert ours.dtype == torch.float32
        assert (ours - theirs).norm() < 0.02 * theirs.norm()
        assert not torch.equal(ours, theirs)


def test_only_training_multiplies_in_bfloat16() -> None:
    network = new_network("oware", "counts")
    observations, _ = positions("oware")
    network.brief = True
    trained, played = (network.train(mode).value(observations) for mode in (True, False))
    network.brief = False
    assert torch.equal(network.value(observations), played) and not torch.equal(trained, played)


def test_legal_actions_are_listed_position_by_position() -> None:
    for kind in (torch.int8, torch.bool, torch.int64):
        masks = torch.tensor([[0, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]]).to(kind)
        seen = new_network("oware", "counts").look(torch.zeros((3, 17), dtype=torch.int16), masks)
        assert seen.starts.tolist() == [0, 2, 3, 4] and seen.actions.tolist() == [1, 2, 0, 2]
        assert seen.picked_by_actions.tolist() == [[1], [2], [0], [2]]


def assert_same_seen(one: Seen, other: Seen) -> None:
    """Both are the same up to the end of every list of rows."""
    np.testing.assert_array_equal(one.starts, other.starts)
    np.testing.assert_array_equal(one.actions, other.actions)
    for name in ("picked", "picked_by_actions"):
        ours, theirs = (getattr(each, name).tolist() for each in (one, other))
        assert [until_end(row) for row in ours] == [until_end(row) for row in theirs]


@pytest.mark.parametrize(("game", "name"), ALL)
def test_what_is_seen_can_be_cut_chosen_from_and_put_together(game: str, name: str) -> None:
    network = new_network(game, name)
    observations, masks = positions(game, count=21)
    seen = network.look(observations, masks)
    order = np.random.default_rng(0).permutation(len(seen))[:50]
    assert_same_seen(seen[order], network.look(observations[order], masks[order]))
    assert len(seen[order[:0]]) == 0
    for parts in (1, 2, 3, 7):
        split = seen.tensor_split(parts)
        assert [len(part) for part in split] == [len(part) for part in masks.tensor_split(parts)]
        for part, rows, legal in zip(split, observations.tensor_split(parts), masks.tensor_split(parts), strict=True):
            assert_same_seen(part, network.look(rows, legal))
        assert_same_seen(Seen.together(split), seen)


def test_actions_are_drawn_in_proportion_to_the_policy() -> None:
    network = new_network("oware", "counts")
    observations, masks = (part[:1].expand(40_000, -1).contiguous() for part in positions("oware"))
    torch.manual_seed(9)
    actions, _, chances = network.act(network.look(observations, masks), torch.rand(40_000))
    logs = network(observations[:1], masks[:1])[0][0]
    torch.testing.assert_close(chances, logs[actions], rtol=1e-4, atol=1e-4)
    counts = np.bincount(actions.numpy(), minlength=6)
    legal = masks[0].numpy() != 0
    assert not counts[~legal].any()
    expected = logs.double().exp().detach().numpy()[legal]
    assert stats.chisquare(counts[legal], 40_000 * expected / expected.sum()).pvalue > 1e-4


@pytest.mark.parametrize("number", [-1.0, 0.0, 0.5, float(np.nextafter(np.float32(1), np.float32(0)))])
@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_any_number_draws_a_legal_action_whose_chance_is_above_zero(number: float, scale: float) -> None:
    network = new_network("uisge", "relations")
    with torch.no_grad():
        network.policy_head.weight.mul_(scale)
    observations, masks = positions("uisge")
    actions, _, chances = network.act(network.look(observations, masks), torch.full((len(masks),), number))
    assert masks.gather(1, actions[:, None]).all() and (chances > -104).all(), "float32 knows no smaller chances"
    if number < 0:
        assert torch.equal(actions, network(observations, masks)[0].argmax(dim=1))


def test_an_action_that_was_not_legal_has_no_chance() -> None:
    network = new_network("oware", "counts")
    observations, masks = positions("oware")
    forbidden = (masks == 0).any(dim=1)
    actions = (masks != 0).float().argmin(dim=1)
    chances = network.judge(network.look(observations[forbidden], masks[forbidden]), actions[forbidden]).chances
    assert (chances == -math.inf).all()


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_one_position_is_answered_as_among_many(game: str) -> None:
    network = new_network(game, "relations")
    observations, masks = positions(game)
    for ours, theirs in zip(network(observations[:1], masks[:1]), network(observations, masks), strict=True):
        torch.testing.assert_close(ours, theirs[:1], rtol=1e-4, atol=1e-5)
