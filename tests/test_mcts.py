"""Tree search: proven results against exact ones, visits against a plain Python PUCT, and all that must not matter."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from math import exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import agents.mcts.spec
import agents.mcts.tree
import envs
import toguz_kumalak_boards
from agents.mcts.agent import Found, MCTSAgent, best_actions
from agents.mcts.network import NetworkSearch
from agents.mcts.plain import PlainSearch
from agents.mcts.room import EDGES, bytes_of
from agents.mcts.spec import MAX_SIMULATIONS
from agents.mcts.tree import tree_bytes
from agents.minimax.agent import MinimaxAgent
from agents.minimax.evaluation import WIN
from agents.minimax.search import VALUE
from agents.network import Network, NetworkSettings, save_network
from agents.spec import make_agent, shipped_names
from batches import few, random_game
from eiyiu_boards import in_engine, random_shape
from envs import BadSpec, IllegalMove, Position, VectorGames
from envs.engine.header import CHANCE
from envs.engine.jit import available_threads
from envs.games import find_game
from oware_boards import CHASE, CHASE_ROUND
from players import answer, answers, batch_of, numpys_global_state
from reference import eiyiu
from toguz_kumalak_boards import random_tuzdyks
from uisge_boards import SHUTTLE, SHUTTLE_ROUND

pytestmark = pytest.mark.bounds
torch.set_num_threads(1)

JIT_OFF = few("eiyiu", 12) < 12  # kernels run as plain Python
two_threads = pytest.mark.skipif(available_threads() < 2, reason="Numba has one thread only")
EXACT = 1e-5  # what rounding leaves of a proven average


# Search in hand


def plain(game: str, simulations: int, **settings: Any) -> MCTSAgent:
    """A player without a network."""
    return MCTSAgent("mcts", PlainSearch(find_game(game), simulations, **settings))


def guided(game: str, simulations: int, network: Network | None = None, **settings: Any) -> MCTSAgent:
    """A player with a network, one of random weights if none is given."""
    return MCTSAgent("mcts", NetworkSearch(find_game(game), network or new_network(game), simulations, **settings))


def settings_of(game: str) -> NetworkSettings:
    """Settings of a small network for the game under its default options."""
    options = find_game(game).checked_options({}, batch=False)
    return NetworkSettings.today(game, options, width=16)


def new_network(game: str, seed: int = 0) -> Network:
    """A small network with weights at random, large enough for a policy that is not uniform."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = Network(settings_of(game))
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.add_(0.3 * torch.randn(parameter.shape))
    return network.eval()


def searched(agent: MCTSAgent, positions: list[Position], seed: int = 0) -> Found:
    """What the agent finds of positions, asked all at once."""
    rows, histories, _, _ = batch_of(positions)
    return agent.search(rows, histories, np.random.default_rng(seed))


def assert_same(one: Found, other: Found) -> None:
    """Both found the same."""
    for name in vars(one):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def middle_games(game: str, count: int, seed: int = 0, **options: Any) -> list[Position]:
    """Running positions of random games, in which a seat is to move."""
    rng = np.random.default_rng(seed)
    positions: list[Position] = []
    while len(positions) < count:
        line = [each for each in random_game(game, int(rng.integers(1 << 30)), **options)[:-1] if each.mover != CHANCE]
        positions += [line[index] for index in rng.integers(len(line), size=3)]
    return positions[:count]


# Proven results


SOON_OVER: dict[str, list[dict[str, Any]]] = {
    "oware": [{"quiet_limit": 3}, {"quiet_limit": 4, "grand_slam": "capture"}, {"repetition_limit": 2, "quiet_limit": 14}, {}],
    "toguz_kumalak": [{"quiet_limit": 2}, {"quiet_limit": 4, "repetition_limit": 0}, {"quiet_limit": 6}, {}],
    "uisge": [
        *({"move_limit": limit, "no_move": word} for limit, word in ((5, "loses"), (6, "wins"), (20, "pass"), (40, "draw"))),
        {"move_limit": 30, "repetition_limit": 2, "no_move": "pass"},
    ],
    "eiyiu": [{"shift_limit": 1}, {"shift_limit": 1, "same_tile": "own"}],
}
LINES = {"oware": 400, "toguz_kumalak": 400, "uisge": 400, "eiyiu": 1200}
SIMULATIONS = 30_000
MOST_PLIES = 24


def ends_soon(position: Position, lines: int) -> bool:
    """Whether every line ends within `MOST_PLIES`, and there are no more than so many, shorter ones counted again."""
    count = 0
    for plies in range(1, MOST_PLIES + 1):
        found = position.perft(plies)
        if found == 0:
            return True
        count += found
        if count > lines:
            return False
    return False


def few_tiles(rng: np.random.Generator, **options: Any) -> Position:
    """A position of Eiyiu with few tiles on the board and fewer in the piles, so that draws decide soon."""
    while True:
        laid, left = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        tiles = rng.permutation(18)[: laid + left].tolist()
        board = {cell: tile % 9 + 1 for cell, tile in zip(random_shape(rng, laid), tiles, strict=False)}
        open, hidden = ([tile % 9 + 1 for tile in tiles[laid:] if tile // 9 == pile] for pile in range(2))
        position = in_engine(eiyiu.position(board, open, hidden, int(rng.integers(2)), eiyiu.Options(**options)))
        if not position.end and position.mover != CHANCE:
            return position


def lucky_draw(rng: np.random.Generator, **options: Any) -> Position:
    """A position of Eiyiu in which one of two hidden numbers wins."""
    while True:
        numbers = rng.permutation(9)[:4] + 1
        if numbers[:3].sum() == 15:
            first, second, third, other = numbers.tolist()
            board = {(0, 0): first, (1, 0): second}
            return in_engine(eiyiu.position(board, [], [third, other], int(rng.integers(2)), eiyiu.Options(**options)))


def few_seeds(rng: np.random.Generator, **options: Any) -> Position:
    """A running position of Toguz Kumalak with few seeds on the board, most with tuzdyks."""
    while True:
        state = toguz_kumalak_boards.random_state(rng, int(rng.integers(2, 20)), tuzdyks=random_tuzdyks(rng))
        text = toguz_kumalak_boards.in_engine(state).text
        position = Position.from_text("toguz_kumalak", text, strict=False, **options)
        if not position.end:
            return position


@cache
def near_the_end(game: str) -> list[Position]:
    """Positions from which all lines end soon, from random games under rules that make them short."""
    wanted = {"oware": 350, "toguz_kumalak": 350, "uisge": 400, "eiyiu": 40}[game]
    positions: list[Position] = []
    for seed, options in enumerate(SOON_OVER[game]):
        games = VectorGames(game, wanted, seed=seed, restart=False, **options)
        found: list[Position] = []
        while len(found) < wanted and games.running.any():
            every = (games.position(int(index)) for index in np.flatnonzero(games.running))
            found += [position for position in every if ends_soon(position, LINES[game])][: wanted // 4]
            games.step(np.where(games.running, games.random_actions(), 0))
        positions += found[:wanted]
    rng = np.random.default_rng(0)
    if game == "toguz_kumalak":
        boards = (few_seeds(rng, **options) for options in SOON_OVER[game] for _ in range(1200))
        positions += [position for position in boards if ends_soon(position, LINES[game])]
    if game == "eiyiu":
        small = (draw(rng, shift_limit=1, same_tile=word) for word in ("any", "own") for draw in (few_tiles, lucky_draw) * 200)
        positions += [position for position in small if ends_soon(position, 8000)][:120]
    return positions


def exact_values(game: str, positions: list[Position]) -> np.ndarray:
    """float64[B, A]: what the actions are worth to seat 0, by a search of all lines to their ends."""
    rows, histories, _, _ = batch_of(positions)
    values = MinimaxAgent(game, MOST_PLIES).action_values(rows, histories)
    exact = values / WIN
    assert (game == "eiyiu" or np.abs(exact - exact.round()).max() < EXACT) and np.abs(exact).max() <= 1
    return exact


def assert_exact(found: Found, exact: np.ndarray, positions: list[Position], chosen: np.ndarray) -> None:
    """All roots are proven, each with its exact value; what is known of actions is right, and the chosen ones are best."""
    _, _, _, masks = batch_of(positions)
    movers = np.array([position.mover for position in positions])
    legal = masks != 0
    best = np.where(movers == 0, np.where(legal, exact, -2).max(axis=1), np.where(legal, exact, 2).min(axis=1))
    assert found.proven.all()
    np.testing.assert_allclose(found.values, best, atol=EXACT)
    assert (found.lows <= exact + EXACT)[legal].all() and (found.highs >= exact - EXACT)[legal].all()
    np.testing.assert_allclose(exact[np.arange(len(chosen)), chosen], best, atol=EXACT)


@pytest.mark.parametrize("leaf", ["rollout", "eval"])
@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_proven_values_are_exact(game: str, leaf: str) -> None:
    positions = near_the_end(game)[:: 40 if leaf == "rollout" else 1]
    exact = exact_values(game, positions)
    agent = plain(game, SIMULATIONS, leaf=leaf)
    assert_exact(searched(agent, positions), exact, positions, answers(agent, positions))


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_proven_values_are_exact_with_a_network(game: str) -> None:
    positions = near_the_end(game)[::40]
    agent = guided(game, SIMULATIONS, c=30.0, batch=8)
    assert_exact(searched(agent, positions), exact_values(game, positions), positions, answers(agent, positions))


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_positions_near_the_end_are_of_all_kinds(game: str) -> None:
    positions = near_the_end(game)
    assert len(positions) >= (150 if game == "eiyiu" else 1000)
    ends = {after.end.label for position in positions for after in map(position.play, position.legal_actions()) if after.end}
    assert (
        ends
        >= {
            "oware": {"majority", "no_moves", "quiet_limit"},
            "toguz_kumalak": {"majority", "quiet_limit"},
            "uisge": {"move_limit", "repetition", "no_moves", "all_kings"},
            "eiyiu": {"run_of_15", "shift_limit"},
        }[game]
    )
    exact = exact_values(game, positions)
    assert {-1, 0, 1} <= set(exact.round(6).ravel().tolist())
    fractions = np.abs(exact - exact.round()) > EXACT
    assert (fractions.sum() > 20) == (game == "eiyiu")


WALKS = {
    "oware": (CHASE, list(CHASE_ROUND)),
    "toguz_kumalak": (toguz_kumalak_boards.CHASE, toguz_kumalak_boards.CHASE_ROUND),
    "uisge": (SHUTTLE, list(SHUTTLE_ROUND)),
}


@pytest.mark.parametrize("game", WALKS)
def test_results_by_repetition_are_proven_along_their_lines(game: str) -> None:
    """On a walk round and round, of which the end hangs on what has stood on the board before."""
    start, moves = WALKS[game]
    recurred = 0
    for limit in (2, 3):
        line = [Position.from_text(game, start, strict=False, repetition_limit=limit)]
        for move in moves * 2:
            line += [] if line[-1].end else [line[-1].play(move)]
        positions = [position for position in line if not position.end and ends_soon(position, 4000)]
        recurred += sum(position.occurrences > 1 for position in positions)
        if positions:
            agent = plain(game, SIMULATIONS)
            assert_exact(searched(agent, positions), exact_values(game, positions), positions, answers(agent, positions))
    assert recurred > 0 or game == "uisge"


@pytest.mark.parametrize("leaf", ["rollout", "eval"])
@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_near_wins_and_losses_are_found_in_whole_games(game: str, leaf: str) -> None:
    depth, count = {"oware": (4, 300), "toguz_kumalak": (4, 300), "uisge": (4, 80), "eiyiu": (3, 40)}[game]
    positions = middle_games(game, count, seed=7)
    rows, histories, _, _ = batch_of(positions)
    known = MinimaxAgent(game, depth).search(rows, histories)[:, VALUE]
    decided = np.abs(known) >= WIN - depth
    assert decided.sum() > 5
    found = searched(plain(game, 3000 if leaf == "eval" else 1500, leaf=leaf), positions)
    proven = found.proven & (np.abs(found.values) == 1)
    np.testing.assert_array_equal(found.values[proven & decided], np.sign(known)[proven & decided])
    assert (proven & decided).sum() >= 0.8 * decided.sum()


@pytest.mark.jit_off
@pytest.mark.parametrize("spec", ["mcts:simulations=60", "mcts:simulations=60,leaf=eval"])
@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_a_win_in_one_turn_is_played(game: str, spec: str) -> None:
    wins = [(position, won) for position, won in winning_turns(game) if len(won) < len(position.legal_actions())][:8]
    assert len(wins) > 2
    agent = make_agent(spec, game)
    for position, won in wins:
        assert answer(agent, position) in won, position.full_text


@cache
def winning_turns(game: str) -> list[tuple[Position, set[int]]]:
    """Positions of random games with an action that ends the game won; and all such actions."""
    found = []
    for seed in range(10 if JIT_OFF else 60):
        for position in random_game(game, seed)[-6:-1]:
            if position.mover != CHANCE:
                after = {action: position.play(action).result for action in position.legal_actions()}
                won = {action for action, result in after.items() if result and result[position.mover] == 1}
                found += [(position, won)] if won else []
    return found


# Choosing


def found_by_hand(visits: list[int], values: list[float], lows: list[float], highs: list[float]) -> Found:
    """What a search might say of one root."""
    value, low, high = (np.array([numbers], np.float64) for numbers in (values, lows, highs))
    return Found(np.array([visits]), value, low, high, np.zeros(1), np.zeros(1, np.bool_))


@pytest.mark.parametrize(
    ("visits", "values", "lows", "highs", "best"),
    [
        ([3, 5, 4], [0.9, 0.1, 0.5], [-1, -1, -1], [1, 1, 1], 1),
        ([5, 5, 4], [0.1, 0.2, 0.5], [-1, -1, -1], [1, 1, 1], 1),
        ([5, 5, 4], [0.2, 0.2, 0.5], [-1, -1, -1], [1, 1, 1], 0),
        ([9, 5, 4], [-1, -0.3, -0.2], [-1, -1, -1], [-1, 1, 1], 1),  # a proven loss, whatever its visits
        ([9, 5, 1], [0.9, 0.8, 1], [-1, -1, 1], [1, 1, 1], 2),  # a proven win
        ([9, 5, 1], [-0.3, -0.8, 0], [-1, -1, 0], [1, 1, 0], 2),  # a proven draw, as the rest looks worse
        ([9, 5, 1], [0.3, -0.8, 0], [-1, -1, 0], [1, 1, 0], 0),  # it does not
        ([9, 5, 1], [-0.3, -0.2, 0], [-1, -1, 0], [0, 1, 0], 2),
        ([9, 0, 4], [-1, -1, -1], [-1, -1, -1], [-1, 1, -1], 1),  # the only one that is not lost
        ([1, 5, 1], [0, -0.5, 0.1], [0, -1, 0], [0, 1, 1], 2),  # as sure as the draw, and may be more
        ([1, 5, 2], [-1, -1, -1], [-1, -1, -1], [-1, -1, -1], 1),  # all is lost
    ],
)
def test_proven_results_go_before_visits(
    visits: list[int], values: list[float], lows: list[float], highs: list[float], best: int
) -> None:
    legal = np.ones((1, 3), np.bool_)
    assert best_actions(found_by_hand(visits, values, lows, highs), np.array([0]), legal)[0] == best
    turned = found_by_hand(visits, [-value for value in values], [-value for value in highs], [-value for value in lows])
    assert best_actions(turned, np.array([1]), legal)[0] == best


def test_illegal_actions_are_never_chosen() -> None:
    found = found_by_hand([0, 3, 0], [0, -0.5, 0], [0, -1, 0], [0, 1, 0])
    legal = np.array([[False, True, False]])
    for mover in (0, 1):
        assert best_actions(found, np.array([mover]), legal)[0] == 1


def test_a_temperature_draws_by_visits() -> None:
    found = found_by_hand([10, 30, 60], [0, 0, 0], [-1, -1, -1], [1, 1, 1])
    many = Found(*(np.repeat(array, 20_000, axis=0) for array in vars(found).values()))
    movers, legal = np.zeros(20_000, np.int64), np.ones((20_000, 3), np.bool_)
    for temperature, shares in ((1.0, [0.1, 0.3, 0.6]), (0.5, [1 / 46, 9 / 46, 36 / 46]), (0.001, [0, 0, 1])):
        agent = MCTSAgent("mcts", PlainSearch(find_game("oware"), 1), temperature)
        drawn = agent.choose(many, movers, legal, np.random.default_rng(1))
        np.testing.assert_allclose(np.bincount(drawn, minlength=3) / 20_000, shares, atol=0.02)


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_the_only_legal_action_is_played_and_can_be_searched(game: str) -> None:
    lines = (position for seed in range(20) for position in random_game(game, seed)[:-1])
    only = [position for position in lines if position.mover != CHANCE and len(position.legal_actions()) == 1][:30]
    assert len(only) > 5
    for agent in (plain(game, 30), guided(game, 30)):
        np.testing.assert_array_equal(answers(agent, only), [position.legal_actions()[0] for position in only])
        found = searched(agent, only)
        visits = found.visits[np.arange(len(only)), [position.legal_actions()[0] for position in only]]
        assert (visits[~found.proven] == 30).all() and (visits > 0).all()


# Simulations


@pytest.mark.jit_off
@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_visits_add_up_to_the_simulations_unless_the_root_is_proven(game: str) -> None:
    simulations = 12 if JIT_OFF else 300
    positions = middle_games(game, 4 if JIT_OFF else 60, seed=1)
    _, _, _, masks = batch_of(positions)
    for agent in (plain(game, simulations), plain(game, simulations, leaf="eval"), guided(game, simulations, batch=4)):
        found = searched(agent, positions)
        sums = found.visits.sum(axis=1)
        assert (sums[~found.proven] == simulations).all() and (sums <= simulations).all()
        assert not found.visits[masks == 0].any() and (np.abs(found.values) <= 1).all()
        assert (found.lows <= found.action_values).all() and (found.action_values <= found.highs).all()
        assert not found.proven.all()


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_the_tree_is_consistent(game: str, network: bool) -> None:
    for position in middle_games(game, 12, seed=2):
        agent = guided(game, 500, batch=3) if network else plain(game, 3000)
        searched(agent, [position])
        search: Any = agent._search
        assert_consistent(search._room.trees(1), network)


def lows_meet_highs(trees: Any, edge: int) -> bool:
    """Whether the edge is settled: what is dealt then is counted, but not searched."""
    return bool(trees.low[0, edge] == trees.high[0, edge])


def assert_consistent(trees: Any, network: bool) -> None:
    """Visits add up, bounds follow from those below, priors are probabilities, nobody waits, outcomes come equally often."""
    for node in range(trees.used[0, 0]):
        edge = trees.edge[0, node]
        edges = slice(trees.first[0, node], trees.first[0, node] + trees.branches[0, node])
        visits, lows, highs = trees.visits[0, edges], trees.low[0, edges], trees.high[0, edges]
        judged = trees.visits[0, edge] - visits.sum()
        chance, root = trees.mover[0, node] == CHANCE, node == 0
        once = 0 if chance or (root and not network) else 1
        assert judged == once or (judged > once and lows_meet_highs(trees, edge))
        assert trees.child[0, edge] == node
        if chance:
            assert visits.max() - visits.min() <= 1 + network
            expected = lows.mean(dtype=np.float64), highs.mean(dtype=np.float64)
        else:
            expected = (lows.max(), highs.max()) if trees.mover[0, node] == 0 else (lows.min(), highs.min())
        np.testing.assert_allclose((trees.low[0, edge], trees.high[0, edge]), expected, atol=1e-6)
        if network:
            assert not trees.waiting[0, edges].any()
            assert chance or trees.prior[0, edges].sum() == pytest.approx(1, abs=1e-5)


def test_a_rollout_is_a_fair_random_game() -> None:
    count = 20_000
    start = envs.start("oware").play_all("C d B e F a")
    rows, histories, _, _ = batch_of([start] * count)
    found = plain("oware", 1).search(rows, histories, np.random.default_rng(5))
    games = VectorGames("oware", count, seed=6, restart=False)
    games.load([start] * count)
    results = np.zeros(count)
    while games.running.any():
        games.step(np.where(games.running, games.random_actions(), 0))
        results += games.rewards[:, 0]
    error = sqrt(2 / count)
    assert abs(found.values.mean() - results.mean()) < 4 * error
    assert abs((found.values == 0).mean() - (results == 0).mean()) < 4 * error
    tried = found.visits.sum(axis=0)
    assert (np.abs(tried[tried > 0] - count / len(start.legal_actions())) < 5 * sqrt(count / 6)).all()


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_more_simulations_come_nearer_to_exact_averages(game: str) -> None:
    """Before anything is proven, the average of what may be dealt and of what is tried is near the exact value."""
    positions = near_the_end(game)
    positions = positions[:: len(positions) // 60]
    exact = exact_values(game, positions)
    movers = np.array([position.mover for position in positions])
    _, _, _, masks = batch_of(positions)
    best = np.where(movers == 0, np.where(masks, exact, -2).max(axis=1), np.where(masks, exact, 2).min(axis=1))
    errors = [np.abs(searched(plain(game, simulations), positions).values - best).mean() for simulations in (1, 40, 4000)]
    assert errors[0] > errors[1] >= errors[2] and errors[2] < 0.1


# Networks


class ByHand(Network):
    """The same logits everywhere, and a value that is a share of what the mover's store is ahead; exact in any batch."""

    def __init__(self, game: str, logits: list[float] | None = None, share: float = 0.0) -> None:
        super().__init__(settings_of(game))
        actions = find_game(game).actions
        self.logits = torch.tensor(logits if logits is not None else [0.0] * actions, dtype=torch.float32)
        self.share = share
        self.largest = 0

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.largest = max(self.largest, len(observations))
        fields = [part.name for part in find_game(self.settings.game).observation]
        own = (
            sum(part.size for part in find_game(self.settings.game).observation[: fields.index("own_store")])
            if self.share
            else 0
        )
        ahead = (observations[:, own] - observations[:, own + 1]).float() * self.share
        return self.logits.expand(len(observations), -1), ahead


def test_equal_priors_and_values_give_equal_visits() -> None:
    found = searched(guided("oware", 60, ByHand("oware")), [envs.start("oware")])
    assert found.visits.tolist() == [[10] * 6] and found.values.tolist() == [0]


def test_visits_follow_the_priors_where_all_is_worth_the_same() -> None:
    logits = [2.0, 1.0, 0.0, -1.0, 0.5, -0.5]
    found = searched(guided("oware", 200, ByHand("oware", logits)), [envs.start("oware")])
    priors, visits = np.exp(logits) / np.exp(logits).sum(), np.zeros(6, np.int64)
    for _ in range(200):
        visits[np.argmax(priors / (1 + visits))] += 1
    assert found.visits.tolist() == [visits.tolist()]


@dataclass
class Node:
    """A node of a search written plainly."""

    position: Position
    priors: dict[int, float]
    visits: int = 1
    total: float = 0.0  # seat 0's
    children: dict[int, Node] = field(default_factory=dict)


def judged(network: Network, position: Position) -> Node:
    """A new node with the network's priors, worth the network's value."""
    with torch.no_grad():
        logits, values = network(*(torch.from_numpy(part[None]) for part in (position.observation(), position.action_mask())))
    weights = {action: exp(float(logits[0, action])) for action in position.legal_actions()}
    value = min(1.0, max(-1.0, float(values[0]))) * (1 - 2 * position.mover)
    return Node(position, {action: weight / sum(weights.values()) for action, weight in weights.items()}, total=value)


def plain_puct(network: Network, position: Position, simulations: int, c: float) -> dict[int, int]:
    """The visits of the root's actions after so many simulations, of which none reaches the end of the game."""
    root = judged(network, position)
    for _ in range(simulations):
        path = [root]
        while True:
            node = path[-1]
            sign = 1 - 2 * node.position.mover

            def score(action: int, node: Node = node, sign: int = sign) -> float:
                child = node.children.get(action)
                seen = child.visits if child else 0
                value = child.total / child.visits if child else node.total / node.visits
                return sign * value + c * node.priors[action] * sqrt(node.visits) / (1 + seen)

            action = max(node.priors, key=score)
            if action in node.children:
                path.append(node.children[action])
                continue
            after = node.position.play(action)
            assert not after.end
            node.children[action] = judged(network, after)
            for each in path:
                each.visits += 1
                each.total += node.children[action].total
            break
    return {action: child.visits for action, child in root.children.items()}


@pytest.mark.parametrize("game", [name for name in envs.GAME_NAMES if find_game(name).alternates])
def test_visits_are_those_of_a_plain_puct(game: str) -> None:
    for seed in range(6):
        network = new_network(game, seed)
        position = random_game(game, seed, repetition_limit=0)[6 + seed]
        found = searched(guided(game, 100, network, c=1.0 + 0.3 * seed), [position])
        expected = plain_puct(network, position, 100, c=1.0 + 0.3 * seed)
        assert {int(action): int(found.visits[0, action]) for action in np.flatnonzero(found.visits[0])} == expected


def test_values_of_the_network_are_the_movers() -> None:
    position = Position.from_text("oware", "0-0-0-0-0-2-1-4-4-0-0-0-18-19-S ", strict=False)
    network = ByHand("oware", share=1 / 16)
    for text in (position.text, "1-4-4-0-0-0-0-0-0-0-0-2-19-18-N"):
        board = Position.from_text("oware", text, strict=False)
        found = searched(guided("oware", 200, network), [board])
        assert found.visits[0].argmax() == answer(MinimaxAgent("oware", 1), board)


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_one_game_makes_batches_too(game: str) -> None:
    position = middle_games(game, 1, seed=3)[0]
    network = ByHand(game)
    found = searched(guided(game, 100, network, batch=16), [position])
    assert found.visits.sum() == 100 and 4 < network.largest <= 16
    network.largest = 0
    searched(guided(game, 20, network), [position] * 5)
    assert network.largest == 5


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_noise_at_the_root_comes_from_the_stream(game: str) -> None:
    positions = middle_games(game, 20, seed=4)
    quiet, noisy = guided(game, 60, ByHand(game)), guided(game, 60, ByHand(game), noise=0.5)
    assert not np.array_equal(searched(noisy, positions).visits, searched(quiet, positions).visits)
    assert not np.array_equal(searched(noisy, positions, 1).visits, searched(noisy, positions, 2).visits)
    assert_same(searched(noisy, positions, 1), searched(noisy, positions, 1))


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_priors_are_the_networks_policy_at_their_temperature(game: str) -> None:
    positions = middle_games(game, 10, seed=4)
    flat = [float(action % 4) for action in range(find_game(game).actions)]
    as_it_is, tempered, sharp = (
        searched(guided(game, 60, ByHand(game, logits), prior_temperature=temperature), positions)
        for logits, temperature in ((flat, 1.0), ([3 * each for each in flat], 3.0), ([3 * each for each in flat], 1.0))
    )
    assert_same(tempered, as_it_is)
    assert not np.array_equal(sharp.visits, as_it_is.visits)


# What must not matter


def searchers(game: str, **settings: Any) -> list[MCTSAgent]:
    """Players of every kind."""
    logits = list(np.arange(find_game(game).actions) % 7 / 3)
    networks = [guided(game, 80, ByHand(game, logits), batch=batch, **settings) for batch in (1, 4)]
    return [plain(game, 200, **settings), plain(game, 200, leaf="eval", **settings), *networks]


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_one_by_one_is_as_all_at_once(game: str) -> None:
    positions = middle_games(game, 12, seed=5)
    for agent in searchers(game):
        together = searched(agent, positions)
        rng = np.random.default_rng(0)
        alone = [agent.search(*batch_of([position])[:2], rng) for position in positions]
        for index, one in enumerate(alone):
            assert_same(one, Found(*(array[index : index + 1] for array in vars(together).values())))


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_a_batch_may_be_searched_part_by_part(game: str) -> None:
    positions = middle_games(game, 17, seed=6)
    whole, parts = guided(game, 50, ByHand(game)), guided(game, 50, ByHand(game))
    search: Any = parts._search
    search.part = 4
    assert_same(searched(parts, positions), searched(whole, positions))


@two_threads
@pytest.mark.parametrize("game", ["oware", pytest.param("eiyiu", marks=pytest.mark.slow)])
def test_two_threads_find_what_one_does(game: str) -> None:
    positions = middle_games(game, 21, seed=7)
    for one, two in zip(searchers(game, threads=1), searchers(game, threads=2), strict=True):
        assert_same(searched(one, positions), searched(two, positions))


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_a_search_depends_on_its_stream_and_on_nothing_before(game: str) -> None:
    positions, others = middle_games(game, 15, seed=8), middle_games(game, 40, seed=9)
    pairs = list(zip(searchers(game), searchers(game), strict=True))
    before = numpys_global_state(), torch.get_rng_state()
    for fresh, used in pairs:
        searched(used, others)
        assert_same(searched(used, positions, 3), searched(fresh, positions, 3))
    agent = plain(game, 100)
    assert not np.array_equal(searched(agent, positions, 1).visits, searched(agent, positions, 2).visits)
    assert (numpys_global_state(), torch.equal(torch.get_rng_state(), before[1])) == (before[0], True)


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_the_histories_of_a_batch_serve_as_well_as_those_of_positions(game: str) -> None:
    limits: dict[str, Any] = {"eiyiu": {"shift_limit": 2}, "uisge": {"repetition_limit": 2}}
    games = VectorGames(game, 20, seed=4, **limits.get(game, {"repetition_limit": 2, "quiet_limit": 20}))
    for step in range(80):
        if step % 20 == 19:
            for agent in (plain(game, 200), guided(game, 40, ByHand(game))):
                before = games.state()
                found = agent.search(games.rows, games.histories, np.random.default_rng(1))
                assert_same(found, searched(agent, [games.position(index) for index in range(20)], 1))
                for name, array in games.state().items():
                    np.testing.assert_array_equal(array, before[name], err_msg=name)
        games.step(games.random_actions())


def test_a_limit_that_is_off_lets_lines_end_all_the_same() -> None:
    for game, options in (("oware", {"quiet_limit": 0}), ("uisge", {"move_limit": 0}), ("uisge", {"repetition_limit": 0})):
        positions = [random_game(game, 1)[0], Position.start(game, **options)]
        found = searched(plain(game, 50), positions)
        assert (found.visits.sum(axis=1) == 50).all()


def test_a_tree_that_is_full_grows_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EDGES, "oware", 1)
    positions = middle_games("oware", 20, seed=10)
    for agent in (plain("oware", 200), guided("oware", 200, batch=4)):
        found = searched(agent, positions)
        assert (found.visits.sum(axis=1)[~found.proven] == 200).all()
        search: Any = agent._search
        trees = search._room.trees(1)
        assert trees.used[0, 1] <= trees.action.shape[1]


def test_boards_with_more_pieces_than_the_rules_have_can_be_searched() -> None:
    position = Position.from_text("uisge", "7/1SSSSS1/1SSSSS1/1nnNnn1/1SSSSS1/7 s", strict=False)
    assert len(position.legal_actions()) > 0
    for agent in (plain("uisge", 500), guided("uisge", 500)):
        assert searched(agent, [position]).visits.sum() > 0


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_no_position_has_more_actions_than_trees_have_room_for(game: str) -> None:
    games = VectorGames(game, 200, seed=11)
    most = 0
    for _ in range(200):
        most = max(most, int(games.action_mask.sum(axis=1).max()))
        games.step(games.random_actions())
    assert EDGES[game] / 3 < most <= EDGES[game]


def test_what_a_tree_takes_is_what_is_said() -> None:
    for network in (False, True):
        trees = agents.mcts.tree.new_trees(1, 100, 1000, network)
        assert sum(array.nbytes for array in trees) - trees.used.nbytes == tree_bytes(100, 1000, network)


def test_there_is_nothing_to_choose_after_the_end_or_where_a_draw_is_to_be_dealt() -> None:
    ended = random_game("eiyiu", 1)[-1]
    waiting = next(position for position in random_game("eiyiu", 1) if position.mover == CHANCE)
    for position in (ended, waiting):
        row, history = position.to_arrays()
        with pytest.raises(IllegalMove, match="nothing to choose"):
            plain("eiyiu", 5).search(row[None], history[None], np.random.default_rng(0))


# Specs


@pytest.fixture
def network_file(tmp_path: Path) -> Callable[[str], Path]:
    """The file of a new network of a game."""

    def file(game: str) -> Path:
        path = tmp_path / f"{game}.safetensors"
        if not path.exists():
            save_network(path, new_network(game))
        return path

    return file


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("mcts:simulations=7", ""),
        ("mcts:simulations=007", "mcts:simulations=7"),
        (f"mcts:simulations={MAX_SIMULATIONS}", ""),
        ("mcts:simulations=7,c=1.4,leaf=rollout,temperature=0", "mcts:simulations=7"),
        ("mcts:leaf=eval,c=1.50,simulations=7", "mcts:simulations=7,c=1.5,leaf=eval"),
        ("mcts:simulations=7,temperature=2,c=3.0", "mcts:simulations=7,c=3,temperature=2"),
        ("mcts:simulations=7,network=oware", ""),
        ("mcts:batch=1,network=oware,simulations=7,c=0.6,noise=0.0,prior_temperature=3", "mcts:simulations=7,network=oware"),
        ("mcts:simulations=7,network=oware,batch=8,c=1.4,noise=0.25", ""),
        ("mcts:simulations=7,network=oware,prior_temperature=1", ""),
    ],
)
def test_a_spec_names_a_player(spec: str, canonical: str) -> None:
    agent = make_agent(spec, "oware")
    assert isinstance(agent, MCTSAgent) and agent.spec == (canonical or spec)
    assert make_agent(agent.spec, "oware").spec == agent.spec


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        *[(f"simulations={n}", "from 1 to 1000000") for n in ("", "0", "-1", "1000001", "1e3", "x", " 2", "9" * 5000)],
        *[(words, "needs simulations; it reads mcts:simulations=N") for words in ("", "c=1", "network=oware")],
        ("simulations=5,network=", "names no network"),
        ("simulations=5,network=nothing", "nor a run folder"),
        ("simulations=5,network=toguz_kumalak", "plays toguz_kumalak, not oware"),
        ("simulations=5,simulations=5", "twice"),
        *[(f"simulations=5,{word}", "known are simulations=, network=") for word in ("x", "", "sims=3", "depth=3", "C=1")],
        *[(f"simulations=5,c={n}", "c in") for n in ("", "x", "-1", "nan", "inf", "101")],
        *[(f"simulations=5,temperature={n}", "from 0 to 100") for n in ("", "x", "-1", "nan", "inf", "101")],
        *[(f"simulations=5,leaf={word}", "rollout or eval") for word in ("", "Eval", "network")],
        *[(f"simulations=5,network=oware,batch={n}", "from 1 to 1024") for n in ("", "0", "x", "1025")],
        *[(f"simulations=5,network=oware,noise={n}", "from 0 to 1") for n in ("", "x", "1.1", "-0.1", "nan")],
        *[(f"simulations=5,network=oware,prior_temperature={t}", "from 0.1 to 100") for t in ("", "x", "0", "101", "nan")],
        *[
            (f"simulations=5,{word}", "is for searches with a network")
            for word in ("batch=2", "noise=0.1", "prior_temperature=2")
        ],
        ("simulations=5,network=oware,leaf=eval", "is for searches without a network"),
    ],
)
def test_a_bad_spec_is_refused_in_one_line_that_says_what_is_right(words: str, hint: str) -> None:
    for spec in ("mcts",) if words == "" else (f"mcts:{words}",):
        with pytest.raises(BadSpec, match=re.escape(hint)) as caught:
            make_agent(spec, "oware")
        assert "\n" not in str(caught.value)


def test_trees_beyond_the_machines_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents.mcts.spec, "machine_bytes", lambda: 100 << 20)
    assert make_agent("mcts:simulations=1000", "eiyiu").spec
    with pytest.raises(BadSpec, match="the machine has 100 MB"):
        make_agent("mcts:simulations=1000000", "eiyiu")
    assert bytes_of(find_game("uisge"), MAX_SIMULATIONS, True) < 2 << 30


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_every_game_is_played_with_a_network_from_a_file(game: str, network_file: Callable[[str], Path]) -> None:
    targets = [str(network_file(game)), *(name for name in shipped_names() if name.startswith(game))]
    positions = middle_games(game, 10, seed=12)
    for target in targets:
        agent = make_agent(f"mcts:simulations=40,network={target},batch=2", game)
        for position, action in zip(positions, answers(agent, positions), strict=True):
            assert action in position.legal_actions()


@pytest.mark.parametrize("spec", ["mcts:simulations=20", "mcts:simulations=20,leaf=eval,temperature=1"])
@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_whole_games_are_played(game: str, spec: str) -> None:
    games = VectorGames(game, 30, seed=13, restart=False)
    agent, rng = make_agent(spec, game), np.random.default_rng(13)
    won = np.zeros(30)
    while (running := games.running).any():
        actions = np.where(running, games.random_actions(), 0)
        asked = np.flatnonzero(running & (games.mover == 0))
        if len(asked):
            rows, histories = games.rows[asked], games.histories[asked]
            actions[asked] = agent.act(rows, histories, games.observation[asked], games.action_mask[asked], rng)
        games.step(actions)
        won += games.rewards[:, 0]
    assert won.mean() > 0.3


def test_plain_search_needs_no_torch() -> None:
    program = """
import sys
from agents.spec import make_agent
make_agent("mcts:simulations=5", "oware")
print(*sorted({"torch", "safetensors"} & set(sys.modules)))
"""
    folder = Path(envs.__file__).resolve().parents[1]
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
