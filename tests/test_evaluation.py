"""The tuned evaluation: its features counted anew from texts, its weights, and the command that fits them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import envs
import uisge_boards
from agents.minimax import tune
from agents.minimax.agent import MinimaxAgent
from agents.minimax.evaluation import CLIP, tuned_balances
from agents.minimax.features import FEATURE_NAMES, FEATURES, features_of_rows
from agents.minimax.weights import load_weights, weights_file, write_weights
from batches import few, random_line, some_of
from commands import assert_refused, run_command
from envs import Position
from envs.engine.header import CHANCE
from envs.errors import BadConfig
from envs.games import find_game
from reference import eiyiu, uisge
from training.arena import play_match

pytestmark = [pytest.mark.bounds, pytest.mark.jit_off]
Counts = dict[str, int]


def features_of(positions: list[Position]) -> np.ndarray:
    """The features of positions of one game."""
    rows = np.array([position.to_arrays()[0] for position in positions])
    out = np.zeros((len(rows), len(FEATURE_NAMES[positions[0].game])), np.int64)
    features_of_rows(find_game(positions[0].game).tag, rows, out)
    return out


def values_of(positions: list[Position], weights: np.ndarray) -> np.ndarray:
    """The tuned evaluation of positions of one game."""
    rows = np.array([position.to_arrays()[0] for position in positions])
    out = np.zeros(len(rows), np.int64)
    tuned_balances(find_game(positions[0].game).tag, rows, weights, out)
    return out


def running_positions(game: str, count: int, **options: Any) -> list[Position]:
    """Running positions out of random games."""
    positions: list[Position] = []
    seed = 0
    while len(positions) < count:
        line = random_line(envs.start(game, **options), seed, 120)
        positions += [position for position in some_of(line, 13) if not position.end]
        seed += 1
    return positions[:count]


# The features, counted from the texts.


def oware_counts(position: Position) -> Counts:
    numbers = [int(word) for word in position.text.split("-")[:14]]
    sides, stores = [numbers[:6], numbers[6:12]], numbers[12:]
    own, other = sides[position.mover], sides[1 - position.mover]
    lead = stores[position.mover] - stores[1 - position.mover]
    return {
        "tempo": 1,
        "lead": lead,
        "lead_share": lead * (102_400 // max(1, sum(own + other))) // 1024,
        "seeds": sum(own) - sum(other),
        "own_empty": own.count(0),
        "other_empty": other.count(0),
        "own_heavy": sum(seeds >= 12 for seeds in own),
        "other_heavy": sum(seeds >= 12 for seeds in other),
        "attacks": houses_attacked(own, other),
        "attacked": houses_attacked(other, own),
    }


def houses_attacked(attacker: list[int], side: list[int]) -> int:
    """The houses of a side with one or two seeds in which a sowing of up to eleven of the attacker's seeds ends."""
    ends = {house + seeds - 6 for house, seeds in enumerate(attacker) if 0 < seeds < 12}
    return sum(side[house] in (1, 2) for house in ends if 0 <= house < 6)


def toguz_kumalak_counts(position: Position) -> Counts:
    south, north, stores_text, tuzdyks_text, _ = position.text.split("/")
    sides = [[int(word) for word in text.split(",")] for text in (south, north)]
    stores = [int(word) for word in stores_text.split(",")]
    tuzdyks = [0 if word == "-" else int(word) for word in tuzdyks_text.split(",")]
    mover = position.mover
    own, other = sides[mover], sides[1 - mover]
    lead, left = stores[mover] - stores[1 - mover], sum(own + other)
    own_tuzdyk, other_tuzdyk = tuzdyks[mover], tuzdyks[1 - mover]
    counts = {"tempo": 1, "lead": lead, "lead_share": lead * (102_400 // max(1, left)) // 1024}
    counts["seeds"] = sum(own) - sum(other)
    counts |= {f"tuzdyk_{number}": (own_tuzdyk == number) - (other_tuzdyk == number) for number in range(1, 9)}
    return counts | {
        "tuzdyk_seeds": left * ((own_tuzdyk > 0) - (other_tuzdyk > 0)),
        "own_moves": sum(seeds > 0 for seeds in own),
        "other_moves": sum(seeds > 0 for seeds in other),
        "own_singles": own.count(1),
        "other_singles": other.count(1),
        "own_heavy": sum(seeds >= 12 for seeds in own),
        "other_heavy": sum(seeds >= 12 for seeds in other),
        "attacks": sum(other[hole] % 2 for hole in ends(own)),
        "attacked": sum(own[hole] % 2 for hole in ends(other)),
        "tuzdyk_attacks": tuzdyks_attacked(own, other, own_tuzdyk, other_tuzdyk),
        "tuzdyk_attacked": tuzdyks_attacked(other, own, other_tuzdyk, own_tuzdyk),
    }


def ends(side: list[int]) -> set[int]:
    """The holes of the other side, from 0, in which a sowing ends that does not come round."""
    last = {hole + (1 if seeds == 1 else seeds - 1) - 9 for hole, seeds in enumerate(side) if seeds}
    return {hole for hole in last if 0 <= hole < 9}


def tuzdyks_attacked(side: list[int], other: list[int], tuzdyk: int, others_tuzdyk: int) -> int:
    if tuzdyk:
        return 0
    return sum(other[hole] == 2 for hole in ends(side) if hole != 8 and hole + 1 != others_tuzdyk)


def uisge_counts(position: Position) -> Counts:
    board = uisge.from_text(position.text, strict=False).board
    mover, pieces = position.mover, uisge.pieces_on(board)
    own, other = ([square for square in pieces if pieces[square].lower() == "sn"[seat]] for seat in (mover, 1 - mover))
    kings = [sum(pieces[square] in uisge.KINGS for square in squares) for squares in (own, other)]
    moves = list(uisge.find_moves(board, mover, position.options["diagonal_jumps"]))
    flips = {move[:2] for move in moves if pieces[move[:2]] in uisge.PAWNS}
    loose = [square for square in other if uisge.connected(set(pieces) - {square})]
    flipping = [square for square in loose if pieces[square] in uisge.PAWNS and list(jumps(pieces, square))]
    counts = {f"kings_{count}": (kings[0] >= count) - (kings[1] >= count) for count in range(1, 6)}
    return (
        {"tempo": 1}
        | counts
        | {
            "flips": len(flips),
            "other_flips": len(flipping),
            "wins": int(kings[0] == len(own) - 1 and len(flips) > 0),
            "other_wins": int(kings[1] == len(other) - 1 and len(flipping) > 0),
            "moves": len(moves),
            "other_loose": len(loose),
        }
    )


def jumps(pieces: uisge.Pieces, square: str) -> list[str]:
    """The free squares straight behind a piece beside the square."""
    landings = []
    for direction in uisge.STRAIGHT:
        over = uisge.neighbour(square, direction)
        landing = uisge.neighbour(over, direction) if over in pieces else None
        if landing is not None and landing not in pieces:
            landings.append(landing)
    return landings


def eiyiu_counts(position: Position) -> Counts:
    state = eiyiu.from_text(position.text, eiyiu.Options(**position.options))
    piles, tiles = {*state.open, *state.hidden}, dict(state.tiles)
    counts = dict.fromkeys(FEATURE_NAMES["eiyiu"], 0) | {"tempo": 1, "wins": int(wins_now(state))}
    if not piles and (state.hand is None or state.lifted is not None):
        return counts
    beside = eiyiu.targets(set(tiles), None) if tiles else []
    fitting = [(cell, number) for cell in beside for number in eiyiu.SET if eiyiu.runs_of_15(tiles | {cell: number})]
    counts["threats"] = sum((number in state.open) + (number in state.hidden) > 0 for _, number in fitting)
    counts["order"] = -len(tiles) if len(tiles) % 2 else len(tiles)
    counts["early_order"] = (-1) ** len(tiles) if len(tiles) < 7 else 0
    if not counts["wins"] and state.hand is None and state.hidden and len(tiles) > 1:
        numbers = {number for _, number in fitting}
        counts["draw_wins"] = 100 * len(numbers & set(state.hidden)) // len(state.hidden)
    return counts


def wins_now(state: eiyiu.State) -> bool:
    """Whether some take, but no draw, and some lay win."""
    if state.drawing:
        return False
    takes = [action for action in eiyiu.legal(state) if action != ("hidden",)] if state.hand is None else []
    in_hand = [eiyiu.play(state, action) for action in takes] if state.hand is None else [state]
    return any(winning_lays(each) for each in in_hand)


def winning_lays(state: eiyiu.State) -> int:
    after = (eiyiu.settled(eiyiu.lay(state, cell)) for cell in eiyiu.targets(eiyiu.cells(state), state.lifted))
    return sum(each.winner == state.mover for each in after)


COUNTS: dict[str, Callable[[Position], Counts]] = {
    "oware": oware_counts,
    "toguz_kumalak": toguz_kumalak_counts,
    "uisge": uisge_counts,
    "eiyiu": eiyiu_counts,
}
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "oware": [{}],
    "toguz_kumalak": [{}],
    "uisge": [{}, {"diagonal_jumps": True}],
    "eiyiu": [{}, {"same_tile": "own"}],
}


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_features_are_what_a_count_from_the_text_finds(game: str) -> None:
    seen = np.zeros(len(FEATURE_NAMES[game]), np.int64)
    for options in OPTIONS[game]:
        positions = running_positions(game, few(game, 600 if game == "toguz_kumalak" else 240), **options)
        for position, found in zip(positions, features_of(positions), strict=True):
            assert dict(zip(FEATURE_NAMES[game], found.tolist(), strict=True)) == COUNTS[game](position), position.full_text
            seen += found != 0
    if few(game, 240) == 240:
        rare = {name for name, count in zip(FEATURE_NAMES[game], seen, strict=True) if count == 0}
        assert rare <= {"own_heavy", "other_heavy", "wins", "other_wins", "kings_5"}


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("0-0-0-0-0-12-1-2-3-0-0-0-15-15-S", {"own_heavy": 1, "own_empty": 5, "attacks": 0, "lead_share": 0}),
        ("0-0-0-0-2-3-1-2-2-0-0-0-19-19-S", {"attacks": 2, "attacked": 0, "seeds": 0}),
        ("0-0-0-0-0-1-1-0-0-0-4-0-22-20-S", {"attacks": 1, "attacked": 0, "lead": 2, "lead_share": 33}),
        ("0-0-2-0-0-1-1-0-0-0-4-0-19-21-N", {"attacks": 1, "attacked": 1, "lead": 2}),
    ],
)
def test_features_of_oware_are_counted_by_hand(text: str, counts: Counts) -> None:
    position = Position.from_text("oware", text, strict=False)
    found = dict(zip(FEATURE_NAMES["oware"], features_of([position])[0].tolist(), strict=True))
    assert {name: found[name] for name in counts} == counts


def test_every_feature_is_described() -> None:
    assert set(FEATURES) == set(envs.GAME_NAMES)
    assert all(text and "\n" not in text for game in FEATURES.values() for text in game.values())


# The evaluation.


def mirrored_text(position: Position) -> str:
    """The same position with the seats exchanged."""
    text = position.text
    if position.game == "oware":
        *numbers, side = text.split("-")
        return "-".join([*numbers[6:12], *numbers[:6], numbers[13], numbers[12], "N" if side == "S" else "S"])
    if position.game == "toguz_kumalak":
        south, north, stores, tuzdyks, side = text.split("/")
        swapped = ",".join(reversed(stores.split(",")))
        return "/".join([north, south, swapped, ",".join(reversed(tuzdyks.split(","))), str(1 - int(side))])
    return uisge_boards.turned(text)


@pytest.mark.parametrize("game", ["oware", "toguz_kumalak", "uisge"])
def test_seats_exchanged_negate_the_value(game: str) -> None:
    positions = running_positions(game, few(game, 240))
    mirrored = [Position.from_text(game, mirrored_text(position)) for position in positions]
    assert {position.mover for position in positions} == {0, 1}
    values = values_of(positions, load_weights(game))
    np.testing.assert_array_equal(values_of(mirrored, load_weights(game)), -values)
    assert len(set(values.tolist())) > len(positions) // 3


def test_eiyiu_is_valued_for_whose_turn_it_is_in_hand_and_while_chance_deals_too() -> None:
    weights = load_weights("eiyiu")
    positions = running_positions("eiyiu", few("eiyiu", 240))
    turns = [eiyiu.from_text(position.text).mover for position in positions]
    assert any(position.mover == CHANCE for position in positions) or few("eiyiu", 240) < 240
    expected = np.clip(features_of(positions) @ weights, -CLIP, CLIP) * (1 - 2 * np.array(turns))
    np.testing.assert_array_equal(values_of(positions, weights), expected)


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_the_value_is_clipped(game: str) -> None:
    positions = running_positions(game, few(game, 36))
    weights = np.full(len(FEATURE_NAMES[game]), 0)
    for weight, value in ((CLIP + 5, CLIP), (-CLIP - 5, -CLIP), (CLIP - 1, CLIP - 1), (7, 7)):
        weights[0] = weight
        assert set(np.abs(values_of(positions, weights)).tolist()) == {abs(value)}


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_evaluating_leaves_the_position_as_it_is(game: str) -> None:
    position = running_positions(game, few(game, 60))[-1]
    row = position.to_arrays()[0][None]
    out = np.zeros(1, np.int64)
    tuned_balances(find_game(game).tag, row, load_weights(game), out)
    again = Position(find_game(game), row[0], position.to_arrays()[1])
    assert again.full_text == position.full_text


# The weights.


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_the_weights_that_come_with_the_project_say_where_they_come_from(game: str) -> None:
    weights = load_weights(game)
    assert weights.dtype == np.int64 and weights.shape == (len(FEATURE_NAMES[game]),)
    content = json.loads(weights_file(game).read_text(encoding="utf-8"))
    assert list(content["features"]) == list(FEATURE_NAMES[game])
    assert content["origin"]["command"].startswith(f"python -m agents.minimax.tune {game} ")
    assert content["origin"]["log_loss"] < content["origin"]["log_loss_plain"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: content["features"].pop("lead"), "missing: lead"),
        (lambda content: content["features"].update(leads=3), "unknown or missing: leads"),
        (lambda content: content["features"].update(lead=3.5), "whole numbers as weights, not 3.5 for lead"),
        (lambda content: content["features"].update(lead=True), "whole numbers as weights, not True for lead"),
        (lambda content: content.update(game="uisge"), "holds no weights of oware"),
        (lambda content: content.update(features=[1, 2]), "holds no weights of oware"),
    ],
)
def test_weights_of_other_features_are_refused(tmp_path: Path, change: Callable[[Any], Any], words: str) -> None:
    content = json.loads(weights_file("oware").read_text(encoding="utf-8"))
    change(content)
    file = tmp_path / "oware.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(BadConfig, match=words) as refusal:
        load_weights("oware", file)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("content", [None, "{", "3"])
def test_files_that_hold_no_weights_are_refused(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "oware.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(BadConfig, match=r"oware\.json"):
        load_weights("oware", file)


def test_written_weights_are_read_again(tmp_path: Path) -> None:
    weights = np.arange(len(FEATURE_NAMES["uisge"]))
    write_weights(tmp_path / "new.json", "uisge", weights, {"command": "none"})
    np.testing.assert_array_equal(load_weights("uisge", tmp_path / "new.json"), weights)


# The fit.


def test_the_fit_finds_the_weights_that_made_the_scores() -> None:
    rng = np.random.default_rng(3)
    features = np.column_stack([np.ones(40_000), rng.integers(-9, 10, 40_000), rng.integers(0, 2, 40_000)]).astype(float)
    truth = np.array([0.3, -0.2, 0.7])
    scores = (rng.random(40_000) < 1 / (1 + np.exp(-features @ truth))).astype(float)
    found = tune.fit(features, scores, np.arange(40_000))
    np.testing.assert_allclose(found.weights, truth, atol=0.05)
    assert (np.abs(found.weights - truth) < 4 * found.errors).all() and (found.errors < 0.03).all()


def test_positions_of_one_game_count_as_one_witness() -> None:
    rng = np.random.default_rng(4)
    features, scores = np.ones((500, 1)), rng.integers(0, 2, 500).astype(float)
    alone = tune.fit(features, scores, np.arange(500)).errors
    repeated = tune.fit(features.repeat(9, axis=0), scores.repeat(9), np.arange(500).repeat(9)).errors
    np.testing.assert_allclose(repeated, alone, rtol=1e-3)


def tuned_file(path: Path, *arguments: str) -> dict[str, Any]:
    """What the command wrote."""
    done = run_command("agents.minimax.tune", *arguments, "--out", path)
    assert done.code == 0, done
    assert "log loss on held-out games" in done.out
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def test_tuning_runs_and_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    common = ("oware", "--games", "30", "--depth", "1", "--seed")
    first = tuned_file(tmp_path / "a.json", *common, "5")
    assert tuned_file(tmp_path / "b.json", *common, "5") == first
    assert tuned_file(tmp_path / "c.json", *common, "6")["features"] != first["features"]
    assert first["origin"]["games"] == 30 and first["origin"]["players"] == "minimax:depth=1,eval=tuned"
    command = "python -m agents.minimax.tune oware --games 30 --depth 1 --rounds 2 --seed 5"
    assert first["origin"]["command"] == command
    assert load_weights("oware", tmp_path / "a.json").any()


def test_tuning_takes_other_players(tmp_path: Path) -> None:
    content = tuned_file(tmp_path / "a.json", "oware", "--games", "20", "--players", "greedy")
    assert content["origin"]["players"] == "greedy"
    assert "--players greedy" in content["origin"]["command"]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("go",), "unknown game 'go'"),
        (("oware", "--games", "3"), "--games"),
        (("oware", "--depth", "2", "--players", "greedy"), "--players"),
        (("oware", "--players", "nobody"), "unknown agent 'nobody'"),
        (("oware", "--out", "nowhere/at/all.json"), "no folder"),
    ],
)
def test_tuning_refuses_in_one_line(arguments: tuple[str, ...], hint: str) -> None:
    assert_refused(run_command("agents.minimax.tune", *arguments), hint)


# Strength.


def test_no_weights_are_the_plain_evaluation() -> None:
    positions = running_positions("oware", 20)
    plain, empty = MinimaxAgent("oware", 3), MinimaxAgent("oware", 3, weights=np.zeros(0, np.int64))
    assert [plain.value(position) for position in positions] == [empty.value(position) for position in positions]
    assert MinimaxAgent("oware", 3, weights=load_weights("oware")).spec == "minimax:depth=3,eval=tuned"


@pytest.mark.slow
@pytest.mark.parametrize(("game", "depth"), [("oware", 2), ("oware", 4), ("toguz_kumalak", 2), ("uisge", 2)])
def test_tuned_beats_plain_at_equal_depth(game: str, depth: int) -> None:
    tuned = MinimaxAgent(game, depth, weights=load_weights(game))
    assert play_match(game, {}, tuned, MinimaxAgent(game, depth), 200, seed=11).score > 0.7
