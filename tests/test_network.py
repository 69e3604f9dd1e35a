"""The network: what it sees of an observation, and that its own operations compute what torch's dense ones do."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest
import torch
from scipy import stats

import envs
from agents.network import ENCODINGS, VERSIONS, Network, NetworkSettings, Seen, coded_columns, encoding
from agents.network.network import sums_of_rows
from agents.network.relations import FEW, HOUSES
from agents.network.sparse import Residual
from envs.errors import IllegalMove
from envs.games import find_game
from seen import late_eiyiu_positions, picked_by, positions, relations_of, until_end

torch.set_num_threads(1)  # two wait for each other beside a busy process

ALL = [(game, name) for game in envs.GAME_NAMES for name in ENCODINGS]


def new_network(game: str, name: str, width: int = 32, layers: int = 1) -> Network:
    """A small network with random weights, larger than those it would begin with."""
    torch.manual_seed(3)
    options = find_game(game).checked_options({}, batch=False)
    network = Network(NetworkSettings.today(game, options, width=width, layers=layers, encoding=name))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))
    return network


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


# Of all rows that some hundred positions and their legal actions pick, by the version of what rows mean.
MEANINGS = {
    ("oware", 1): "c4bb28e19b62a18e",
    ("toguz_kumalak", 1): "c0227c8fad46b517",
    ("uisge", 1): "4cd66829ba6155ab",
    ("eiyiu", 2): "bd394feeca261c2b",
}


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_rows_mean_what_they_meant_when_networks_of_this_version_were_trained(game: str) -> None:
    code = encoding(game, "relations")
    observations, masks = (part.numpy() for part in positions(game, count=40))
    if game == "eiyiu":  # else no tile is moved
        late = late_eiyiu_positions()
        observations = np.concatenate([observations, [position.observation() for position in late]])
        masks = np.concatenate([masks, [np.isin(np.arange(code.game.actions), each.legal_actions()) for each in late]])
    seen = code.look(observations, masks)
    rows = [[sorted(until_end(row)) for row in part.tolist()] for part in (seen.picked, seen.picked_by_actions)]
    digest = hashlib.sha256(repr((code.rows, code.action_rows, rows)).encode()).hexdigest()[:16]
    assert MEANINGS.get((game, VERSIONS[game])) == digest, "is it another meaning? Raise its version, and train again"


@pytest.mark.parametrize("name", ["", "Counts", "counts ", None])
def test_an_unknown_encoding_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(ValueError, match="there are: counts, relations"):
        encoding("oware", name)


def last_sown(house: int, seeds: int) -> int:
    """Where the last seed falls, sown one by one; the house of origin is passed over."""
    place = house
    for _ in range(seeds):
        place = (place + 1) % HOUSES
        if place == house:
            place = (place + 1) % HOUSES
    return place


def test_in_oware_it_sees_where_each_last_seed_falls_and_what_lies_there() -> None:
    rng = np.random.default_rng(5)
    observation = np.zeros(find_game("oware").observation_size, np.int16)
    for most in [4] * 50 + [48] * 50:
        observation[:HOUSES] = houses = rng.integers(0, most, HOUSES)
        expected = []
        for house, seeds in enumerate(houses):
            if seeds:
                last = last_sown(house, int(seeds))
                kinds = [min(int(houses[place % HOUSES]), FEW - 1) for place in (last, last - 1)]
                expected.append(((house * HOUSES + last) * FEW + kinds[0]) * FEW + kinds[1])
        assert relations_of("oware", observation) == expected


# What it computes


@pytest.mark.parametrize(("game", "name"), ALL)
def test_answers_and_gradients_are_those_of_dense_operations(game: str, name: str) -> None:
    network = new_network(game, name, layers=2)
    observations, masks = positions(game)
    weights = torch.linspace(-1, 1, len(masks))
    seen = network.look(observations, masks)
    actions, chances, values, _ = network.act(seen, torch.rand(len(masks)))
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
    actions, chances = network.act(network.look(observations, masks), torch.rand(40_000))[:2]
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
    actions, chances = network.act(network.look(observations, masks), torch.full((len(masks),), number))[:2]
    assert masks.gather(1, actions[:, None]).all() and (chances > -104).all(), "float32 knows no smaller chances"
    if number < 0:
        assert torch.equal(actions, network(observations, masks)[0].argmax(dim=1))


def test_a_position_without_a_legal_action_is_refused() -> None:
    network = new_network("oware", "counts")
    observations, masks = (part[:3].clone() for part in positions("oware"))
    masks[1] = 0
    with pytest.raises(IllegalMove, match="without a legal action"):
        network.act(network.look(observations, masks), torch.rand(3))


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
