"""Matches, their intervals, ratings, and what the commands print and refuse."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

import envs
import training.arena
from agents.spec import KNOWN, make_agent
from batches import option_sets
from commands import PROJECT, Done, assert_refused, commands, run_command
from envs import BadConfig, IllegalMove, Position, VectorGames
from envs.engine.header import MOVER
from envs.games import find_game
from players import Lowest, Uniform, answer, dealt_as_in
from training.arena import Match, play_match, random_openings, score_interval, wilson_interval
from training.evaluate import evaluate
from training.rating import ratings

GAME = "oware"


def openings(count: int = 40, plies: int = 6, seed: int = 1, **options: Any) -> list[Position]:
    return random_openings(GAME, options, count, plies, np.random.default_rng(seed))


# Openings


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_openings_are_distinct_unfinished_and_so_many_plies_old(game: str) -> None:
    record = find_game(game)
    plies = record.opening_plies
    assert plies % record.plies_a_turn == 0
    for options in option_sets(game, batch=True):
        position = envs.start(game, **options)
        if record.history_limit and int(position.options[record.history_limit]) <= plies:
            continue
        found = random_openings(game, options, 100, plies, np.random.default_rng(1))
        assert len({position.text for position in found}) == 100
        assert all(position.ply == plies and not position.end and position.legal_actions() for position in found)
        assert all(opening.options == position.options and opening.mover in (0, 1) for opening in found)


def test_openings_may_end_within_a_turn_but_do_not_wait_for_a_draw() -> None:
    found = random_openings("eiyiu", {}, 200, 9, np.random.default_rng(1))
    assert {(position.ply, position.mover) for position in found} == {(9, 0)}
    drawn = [position for position in found if str(position.last_move).startswith("=")]
    assert 10 < len(drawn) < 100


def test_openings_depend_on_the_seed_alone() -> None:
    assert openings(seed=1) == openings(seed=1)
    assert not set(openings(seed=1)) & set(openings(200, seed=1)[40:])
    assert openings(seed=1) == openings(200, seed=1)[:40]
    assert len(set(openings(seed=1)) & set(openings(seed=2))) < 5


@pytest.mark.parametrize(("plies", "most"), [(0, 1), (1, 6), (2, 36)])
def test_more_openings_than_there_are_cannot_be_had(plies: int, most: int) -> None:
    found = {position.text for position in openings(most, plies)}
    assert len(found) == most
    with pytest.raises(BadConfig, match=f"{plies} random plies.*{most} openings.*{most + 1}") as refusal:
        openings(most + 1, plies)
    assert "\n" not in str(refusal.value)


def test_openings_of_games_that_are_over_before_cannot_be_had() -> None:
    with pytest.raises(BadConfig, match="0 openings"):
        openings(1, quiet_limit=3)


def test_all_matches_of_a_seed_share_their_openings(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[list[Position]] = []

    def watched(*arguments: Any) -> list[Position]:
        used.append(random_openings(*arguments))
        return used[-1]

    monkeypatch.setattr(training.arena, "random_openings", watched)
    agents = [Uniform(), Lowest(), make_agent("greedy", GAME)]
    for a, b in [*combinations(agents, 2), *combinations(reversed(agents), 2)]:
        play_match(GAME, {}, a, b, games=12, seed=3)
    play_match(GAME, {}, agents[0], agents[1], games=12, seed=4)
    assert all(found == used[0] for found in used[:-1])
    assert used[-1] != used[0]


# Matches


class Watcher(Lowest):
    """Plays the lowest legal action and keeps what it was asked about."""

    spec = "watcher"

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[np.ndarray] = []

    def act(self, rows: np.ndarray, *rest: Any) -> np.ndarray:
        self.rows.append(rows.copy())
        return super().act(rows, *rest)


@pytest.mark.parametrize(
    ("game", "opening_plies", "mover"),
    [("oware", 5, 1), ("oware", 6, 0), ("toguz_kumalak", 5, 1), ("uisge", 6, 0), ("eiyiu", 6, 1), ("eiyiu", 9, 0)],
)
def test_every_opening_is_played_twice_with_the_seats_swapped(game: str, opening_plies: int, mover: int) -> None:
    a, b = Watcher(), Watcher()
    match = play_match(game, {}, a, b, games=20, seed=5, opening_plies=opening_plies)
    first = [sorted(map(tuple, agent.rows[0])) for agent in (a, b)]
    assert first[0] == first[1] and len(set(first[0])) == 10
    assert {row[MOVER] for row in first[0]} == {mover}
    assert match.games == 20 and len(match.pair_scores) == 10
    if find_game(game).alternates:
        assert match.distinct_games == 10  # the two games of an opening are the same between twins, where nothing is drawn
        np.testing.assert_array_equal(match.pair_scores, 0.5)


def by_hand(game: str, a: Any, b: Any, games: int, seed: int, **options: Any) -> tuple[list[float], list[str]]:
    """The first agent's points and the ends of all games, played one by one over `Position`; for agents without chance."""
    stream, _, deals = np.random.SeedSequence(seed).spawn(3)
    plies = find_game(game).opening_plies
    openings = random_openings(game, options, games // 2, plies, np.random.default_rng(stream))
    dealer = VectorGames(game, games, seed=int(deals.generate_state(1, np.uint64)[0]), restart=False, **options)
    dealer.load([opening for opening in openings for _ in range(2)])
    points, ends = [], []
    for index in range(games):
        position, seat = openings[index // 2], index % 2
        while not position.end:
            action = answer(a if position.mover == seat else b, position)
            dealer.step(np.full(games, action), active=np.arange(games) == index)
            position = dealt_as_in(dealer, index, position.play(action))
        assert position.result is not None
        points.append((position.result[seat] + 1) / 2)
        ends.append(position.end.label)
    return points, ends


@pytest.mark.parametrize(
    ("game", "options"),
    [
        *(("oware", options) for options in ({}, {"quiet_limit": 12}, {"repetition_limit": 2, "grand_slam": "illegal"})),
        ("toguz_kumalak", {"quiet_limit": 20}),
        *(("uisge", options) for options in ({"move_limit": 60}, {"no_move": "pass", "repetition_limit": 2})),
        ("eiyiu", {"shift_limit": 10}),
    ],
)
def test_a_match_is_its_games_played_one_by_one(game: str, options: dict[str, Any]) -> None:
    a, b = make_agent("minimax:depth=1", game, options), make_agent("minimax:depth=2", game, options)
    match = play_match(game, options, a, b, games=16, seed=6)
    points, ends = by_hand(game, a, b, games=16, seed=6, **options)
    assert (match.wins, match.draws, match.losses) == tuple(points.count(value) for value in (1.0, 0.5, 0.0))
    np.testing.assert_array_equal(match.pair_scores, np.reshape(points, (-1, 2)).mean(axis=1))
    assert match.score == np.mean(points)
    assert dict(match.ends) == {end: ends.count(end) for end in set(ends)}
    if find_game(game).alternates:  # else the same seats would have other draws
        back = play_match(game, options, b, a, games=16, seed=6)
        assert (back.wins, back.draws, back.losses) == (match.losses, match.draws, match.wins)
        assert back.score == pytest.approx(1 - match.score)


@pytest.mark.parametrize(
    ("a", "b"), [("random", "minimax:depth=2"), ("minimax:depth=1", "minimax:depth=2"), ("greedy", "random")]
)
@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_nearly_all_games_of_a_match_are_different(game: str, a: str, b: str) -> None:
    match = play_match(game, {}, make_agent(a, game), make_agent(b, game), games=100, seed=7)
    # Games of Eiyiu are short: two agents that see the same wins often play the same one.
    assert match.distinct_games >= (95 if find_game(game).alternates else 60)
    assert (match.a, match.b, match.games) == (a, b, 100)


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_a_match_is_the_same_when_it_is_repeated_and_another_with_another_seed(game: str) -> None:
    found = [
        play_match(game, {}, make_agent("random", game), make_agent("random", game), games=20, seed=seed) for seed in (8, 8, 9)
    ]
    assert found[0].as_json() == found[1].as_json()
    np.testing.assert_array_equal(found[0].pair_scores, found[1].pair_scores)
    assert dict(found[0].ends) == dict(found[1].ends)
    assert found[0].pair_scores.tolist() != found[2].pair_scores.tolist()


def test_progress_goes_up_to_the_number_of_games() -> None:
    told: list[int] = []
    play_match(GAME, {}, Uniform(), Lowest(), games=10, seed=10, on_step=told.append)
    assert told == sorted(told) and told[-1] == 10


@pytest.mark.parametrize("action", [-1, 6, 10**9, "masked"])
def test_an_agent_that_plays_an_illegal_action_is_named(action: Any) -> None:
    class Cheat(Lowest):
        spec = "cheat"

        def act(self, *batch: Any) -> np.ndarray:
            legal = super().act(*batch)
            return np.where(batch[3].all(axis=1), legal, batch[3].argmin(axis=1)) if action == "masked" else legal * 0 + action

    for a, b in ((Cheat(), Uniform()), (Uniform(), Cheat())):
        with pytest.raises(IllegalMove, match="cheat"):
            play_match(GAME, {}, a, b, games=4, seed=11)


# Intervals


def test_the_interval_of_an_agent_against_itself_covers_a_half_about_as_often_as_it_says() -> None:
    agent = make_agent("random", GAME)
    covered = scores = 0.0
    for seed in range(200):
        match = play_match(GAME, {"quiet_limit": 40}, agent, agent, games=24, seed=seed)
        low, high = match.interval
        covered += low <= 0.5 <= high
        scores += match.score
    assert 0.91 <= covered / 200 <= 1
    assert scores / 200 == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 50])
def test_an_interval_is_never_narrower_than_wilsons_or_the_t_interval(count: int) -> None:
    rng = np.random.default_rng(12)
    for _ in range(200):
        scores = rng.choice([0, 0.25, 0.5, 0.75, 1], count, p=rng.dirichlet(np.full(5, 0.3)))
        low, high = score_interval(scores)
        wilson = wilson_interval(float(scores.mean()), count)
        assert 0 <= low <= scores.mean() <= high <= 1
        assert low <= max(0, wilson[0]) and high >= min(1, wilson[1])
        if count > 1 and scores.std() > 0:
            t_low, t_high = stats.t.interval(0.95, count - 1, scores.mean(), stats.sem(scores))
            assert low <= max(0, t_low) + 1e-12 and high >= min(1, t_high) - 1e-12
            assert min(abs(low - max(0, wilson[0])), abs(low - max(0, t_low))) < 1e-12
        assert high - low > 0.05 / count


@pytest.mark.parametrize(("won", "count"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (57, 100)])
def test_wilsons_interval_is_the_one_in_the_books(won: int, count: int) -> None:
    expected = stats.binomtest(won, count).proportion_ci(0.95, method="wilson")
    assert wilson_interval(won / count, count) == pytest.approx((expected.low, expected.high), abs=1e-12)


# Ratings


def match_of(a: str, b: str, share: float, pairs: int, draws: bool = False) -> Match:
    """A match in which the first agent had that share of the points, by wins and losses or by as many draws as possible."""
    points = round(4 * share * pairs) / 2  # of 2 * pairs
    scores = (
        np.full(pairs, points / (2 * pairs)) if draws else np.repeat([1.0, 0.0], [round(points / 2), pairs - round(points / 2)])
    )
    return Match(a, b, 0, 0, 0, scores, 2 * pairs, {})


def rated(agents: list[str], matches: list[Match]) -> dict[str, tuple[float, float, float]]:
    """Rating, low and high of every agent."""
    return {row["agent"]: (row["rating"], row["low"], row["high"]) for row in ratings(agents, matches)}


def expected_score(difference: float) -> float:
    """What so many points more score, on the scale of Elo."""
    return float(1 / (1 + 10 ** (-difference / 400)))


@pytest.mark.parametrize(
    "strengths", [{"random": 0, "b": 100}, {"random": 0, "b": 250, "c": -80, "d": 600}, {"random": 0, "b": 0, "c": 0}]
)
def test_known_strengths_are_recovered_from_a_table(strengths: dict[str, float]) -> None:
    for draws in (False, True):
        matches = [
            match_of(a, b, expected_score(strengths[a] - strengths[b]), 20_000, draws) for a, b in combinations(strengths, 2)
        ]
        found = rated(list(strengths), matches)
        for agent, strength in strengths.items():
            rating, low, high = found[agent]
            assert rating == pytest.approx(strength, abs=3)
            assert low <= rating <= high


def test_intervals_of_ratings_cover_known_strengths() -> None:
    strengths = {"random": 0.0, "b": 150.0, "c": 300.0}
    rng = np.random.default_rng(13)
    covered = 0
    for _ in range(40):
        matches = []
        for a, b in combinations(strengths, 2):
            share = expected_score(strengths[a] - strengths[b])
            scores = (rng.random((100, 2)) < share).mean(axis=1)
            matches.append(Match(a, b, 0, 0, 0, scores, 200, {}))
        found = rated(list(strengths), matches)
        covered += sum(found[agent][1] <= strengths[agent] <= found[agent][2] for agent in ("b", "c"))
    assert covered >= 68  # of 80, 95 % of which are 76


def test_a_draw_counts_as_half_a_win() -> None:
    half = Match("a", "random", 0, 20, 0, np.full(10, 0.5), 20, {})
    assert rated(["a", "random"], [half])["a"][0] == 0
    wins_and_draws = Match("a", "random", 10, 10, 0, np.full(10, 0.75), 20, {})
    wins_and_losses = Match("a", "random", 15, 0, 5, np.repeat([1.0, 0.0, 0.5], [5, 0, 5]), 20, {})
    assert rated(["a", "random"], [wins_and_draws])["a"][0] == rated(["a", "random"], [wins_and_losses])["a"][0] > 0


@pytest.mark.parametrize("pairs", [1, 10, 1000, 20_000])
def test_an_agent_that_won_every_game_has_a_finite_rating(pairs: int) -> None:
    found = rated(
        ["random", "a", "b", "c", "d"],
        [match_of(*pair, 0.0, pairs) for pair in combinations(["random", "a", "b", "c", "d"], 2)],
    )
    order = [found[agent][0] for agent in ("random", "a", "b", "c", "d")]
    assert np.isfinite(np.array(list(found.values()))).all()
    assert order[0] == 0 and all(low < high for low, high in pairwise(order))
    two = rated(["random", "a"], [match_of("a", "random", 1.0, pairs)])["a"]
    assert 0 < two[0] < 4000 and two[1] <= two[0] <= two[2]


def test_more_won_games_are_a_higher_rating() -> None:
    found = [rated(["random", "a"], [match_of("a", "random", 1.0, pairs)])["a"][0] for pairs in (1, 10, 100, 1000)]
    assert found == sorted(found) and len(set(found)) == 4


def test_equal_agents_are_rated_near_each_other() -> None:
    match = play_match(GAME, {}, make_agent("random", GAME), Uniform(), games=200, seed=14)
    rating, low, high = rated(["random", "uniform"], [match])["uniform"]
    assert abs(rating) < 60 and low <= 0 <= high


def test_it_does_not_matter_which_agent_a_match_names_first() -> None:
    one = [match_of("a", "random", 0.7, 50), match_of("b", "random", 0.6, 50), match_of("a", "b", 0.55, 50)]
    other = [Match(m.b, m.a, 0, 0, 0, 1 - m.pair_scores, m.distinct_games, {}) for m in reversed(one)]
    first, second = (rated(["a", "b", "random"], matches) for matches in (one, other))
    for agent in first:
        assert first[agent][0] == pytest.approx(second[agent][0], abs=0.2)


def test_without_random_the_mean_rating_is_nought() -> None:
    rows = ratings(["a", "b", "c"], [match_of("a", "b", 0.8, 50), match_of("a", "c", 0.9, 50), match_of("b", "c", 0.7, 50)])
    assert [row["agent"] for row in rows] == ["a", "b", "c"]
    assert sum(row["rating"] for row in rows) == pytest.approx(0, abs=0.3)
    assert all(list(row) == ["agent", "rating", "low", "high"] for row in rows)


def test_ratings_read_results_and_nothing_else() -> None:
    scores = np.random.default_rng(15).choice([0, 0.25, 0.5, 0.75, 1], 60)
    first = ratings(["a", "random"], [Match("a", "random", 1, 2, 3, scores, 5, {"majority": 6})])
    second = ratings(["a", "random"], [Match("a", "random", 9, 9, 9, scores, 9, {})])
    assert first == second == ratings(["a", "random"], [Match("a", "random", 1, 2, 3, scores, 5, {})])


# evaluate


def test_the_result_of_an_evaluation_has_the_shape_that_others_rely_on(tmp_path: Path) -> None:
    path, plot = tmp_path / "result.json", tmp_path / "ratings.svg"
    specs = ["random", "greedy", "minimax:depth=1"]
    arguments = ["--games", "10", "--seed", "4", "--option", "quiet_limit=40", "--json", path, "--plot", plot]
    done = run_command("training.evaluate", GAME, *specs, *arguments)
    assert done.code == 0
    result = json.loads(path.read_text(encoding="utf-8"))
    assert list(result) == ["game", "options", "games", "seed", "opening_plies", "agents", "networks", "pairs", "ratings"]
    assert (result["game"], result["games"], result["seed"], result["agents"]) == (GAME, 10, 4, specs)
    assert (result["opening_plies"], result["networks"]) == (find_game(GAME).opening_plies, {})
    assert result["options"] == {"repetition_limit": 3, "quiet_limit": 40, "grand_slam": "forfeit"}
    assert [(pair["a"], pair["b"]) for pair in result["pairs"]] == list(combinations(specs, 2))
    for pair in result["pairs"]:
        assert list(pair) == ["a", "b", "games", "wins", "draws", "losses", "score", "low", "high", "distinct_games"]
        assert pair["games"] == pair["wins"] + pair["draws"] + pair["losses"] == 10
        assert pair["score"] == pytest.approx((pair["wins"] + pair["draws"] / 2) / 10, abs=1e-4)
        assert 0 <= pair["low"] <= pair["score"] <= pair["high"] <= 1
    assert {row["agent"] for row in result["ratings"]} == set(specs)
    assert all(list(row) == ["agent", "rating", "low", "high"] for row in result["ratings"])
    agents = [make_agent(spec, GAME) for spec in specs]
    assert evaluate(GAME, agents, 10, 4, {"quiet_limit": 40}) == result
    assert ElementTree.parse(plot).getroot().tag.endswith("svg")
    assert {file.name for file in tmp_path.iterdir()} == {"result.json", "ratings.svg"}
    for word in (*specs, "distinct", f"{result['pairs'][0]['score']:.1%}", "rating"):
        assert word in done.out


@pytest.mark.parametrize(
    ("game", "strong", "option", "value"),
    [
        ("toguz_kumalak", "minimax:depth=2", "quiet_limit=30", 30),
        ("uisge", "minimax:depth=2", "diagonal_jumps=true", True),
        ("eiyiu", "minimax:turns=1", "same_tile=own", "own"),
    ],
)
def test_agents_of_every_game_are_evaluated(game: str, strong: str, option: str, value: Any, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    done = run_command("training.evaluate", game, "random", strong, "--games", "20", "--option", option, "--json", path)
    assert (done.code, done.err) == (0, "")
    result = json.loads(path.read_text(encoding="utf-8"))
    assert (result["game"], result["agents"]) == (game, ["random", strong])
    assert result["options"] == {**envs.start(game).options, option.partition("=")[0]: value}
    assert result["pairs"][0]["score"] < 0.3


def test_a_result_replaces_an_old_one(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    path.write_text("old", encoding="utf-8")
    assert run_command("training.evaluate", GAME, "random", "greedy", "--games", "2", "--json", path).code == 0
    assert json.loads(path.read_text(encoding="utf-8"))["games"] == 2


# Commands


@pytest.mark.parametrize("module", commands())
def test_help_suffices_and_ends_well(module: str) -> None:
    done = run_command(module, "--help")
    assert (done.code, done.err) == (0, "")
    assert f"usage: python -m {module}" in done.out
    assert len(done.out.splitlines()) > 10


def test_all_commands_are_there() -> None:
    assert {"agents.play", "envs.benchmark", "envs.perft", "training.evaluate", "training.selfplay"} <= set(commands())


def test_the_help_of_evaluate_names_all_kinds_of_agents() -> None:
    text = run_command("training.evaluate", "--help").out
    assert all(reads.partition(",")[0].partition("[")[0] in text for reads in KNOWN.values())


EVALUATE = ("oware", "random", "greedy", "--games", "2")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ((), "GAME"),
        (("oware",), "SPEC"),
        (("chess", "random", "greedy"), "oware"),
        (("oware", "random"), "two or more"),
        (("oware", "random", "random"), "different"),
        (("oware", "greedy", "random", "greedy"), "different"),
        (("oware", "minimax:depth=2", "minimax:depth=2,eval=plain", "--games", "2"), "same agent"),
        (("oware", "minimax:depth=2", "minimax:depth=02", "--games", "2"), "same agent"),
        (("oware", "random", "nobody"), "minimax:depth=N"),
        (("oware", "random", "minimax"), "depth"),
        (("oware", "random", "ppo:nothing"), "nothing"),
        *(
            ((*EVALUATE[:3], "--games", number), "--games")
            for number in ("3", "0", "-2", "1", "x", "2.0", "", "1000002", "9" * 5000)
        ),
        *(((*EVALUATE, "--seed", number), "--seed") for number in ("-1", "x", "1.5")),
        *(((*EVALUATE, "--threads", number), "--threads") for number in ("0", "x")),
        *(((*EVALUATE, "--opening-plies", number), "--opening-plies") for number in ("-1", "101", "x")),
        ((*EVALUATE[:3], "--games", "4", "--opening-plies", "0"), "1 openings"),
        ((*EVALUATE, "--option", "quiet_limit=3"), "0 openings"),
        *(
            ((*EVALUATE, "--option", option), "option")
            for option in ("quiet_limit", "", "=3", "speed=1", "quiet_limit=x", "quiet_limit=-1")
        ),
        ((*EVALUATE, "--option", "quiet_limit=0"), "quiet_limit"),
        ((*EVALUATE, "--option", "quiet_limit=9", "--option", "quiet_limit=9"), "twice"),
        *(((*EVALUATE, flag, "no/where/x.png"), "no/where") for flag in ("--json", "--plot")),
        *(((*EVALUATE, flag, "."), "folder") for flag in ("--json", "--plot")),
        *(((*EVALUATE, flag), flag) for flag in ("--json", "--option", "--seed")),
        *(((*EVALUATE, "--plot", name), "--plot") for name in ("x.xyz", "x.json")),
        ((*EVALUATE, "--speed", "3"), "--speed"),
    ],
)
def test_evaluate_refuses_bad_input_in_one_line(
    arguments: tuple[str, ...], hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(run_command("training.evaluate", *arguments), hint)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ((), "GAME"),
        (("oware",), "--depth"),
        (("chess", "--depth", "2"), "oware"),
        *((("oware", "--depth", number), "--depth") for number in ("0", "-1", "41", "x", "", "1.0", "2 ", "9" * 5000)),
        *(
            (("oware", "--depth", "2", "--position", text), "")
            for text in ("", "x", "4-4-4", "4-4-4-4-4-4-4-4-4-4-4-5-0-0-S", "startpos")
        ),
        *(
            (("oware", "--depth", "2", "--option", option), "")
            for option in ("speed=1", "quiet_limit=x", "x", "grand_slam=maybe")
        ),
        (
            (
                "oware",
                "--depth",
                "2",
                "--position",
                "4-4-4-4-4-4-4-4-4-4-4-4-0-0-S ; quiet_limit=9",
                "--option",
                "quiet_limit=8",
            ),
            "quiet_limit",
        ),
        (("oware", "--depth", "2", "extra"), "extra"),
    ],
)
def test_perft_refuses_bad_input_in_one_line(arguments: tuple[str, ...], hint: str) -> None:
    assert_refused(run_command("envs.perft", *arguments), hint)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("chess",), "oware"),
        (("oware", "chess"), "chess"),
        *((("--games", number), "--games") for number in ("0", "-1", "x", "4194305")),
        *((("--threads", number), "threads") for number in ("0", "x", "1024")),
        *((("--seconds", number), "--seconds") for number in ("0", "-1", "x", "nan", "inf", "1e9")),
        *((("--option", option), "option") for option in ("speed=1", "x")),
        (("--option", "quiet_limit=0"), "quiet_limit"),
    ],
)
def test_benchmark_refuses_bad_input_in_one_line(arguments: tuple[str, ...], hint: str) -> None:
    assert_refused(run_command("envs.benchmark", *arguments), hint)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ((), "--config"),
        (("--config",), "--config"),
        (("--config", "oware_quick", "--resume", "x"), "--resume"),
        (("--config", "nothing"), "oware_quick"),
        (("--config", "oware_quick", "ply=3"), "plies"),
        (("--config", "oware_quick", "plies"), "plies"),
        (("--config", "oware_quick", "--plies", "3"), "--plies"),
        (("--resume", "no/where"), "no/where"),
    ],
)
def test_selfplay_refuses_bad_input_in_one_line(
    arguments: tuple[str, ...], hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(run_command("training.selfplay", *arguments), hint)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_ends_a_command_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("training.evaluate.evaluate", interrupted)
    done = run_command("training.evaluate", *EVALUATE)
    assert (done.code, done.err.count("\n")) == (130, 1)
    assert "Traceback" not in done.err


def test_perft_prints_a_line_a_depth() -> None:
    envs.start("oware").perft(1)  # or stderr may say that kernels are being compiled
    assert run_command("envs.perft", "oware", "--depth", "4") == Done(0, "1 6\n2 36\n3 190\n4 1014\n", "")


@pytest.mark.parametrize("game", envs.GAME_NAMES)
def test_perft_counts_in_every_game(game: str) -> None:
    start = envs.start(game)
    depth = 3 if find_game(game).alternates else 2
    lines = "".join(f"{plies} {start.perft(plies)}\n" for plies in range(1, depth + 1))
    assert run_command("envs.perft", game, "--depth", str(depth)) == Done(0, lines, "")


def test_perft_counts_from_a_position_under_options() -> None:
    board = "1-0-0-0-0-0-1-0-0-0-0-0-23-23-S"
    assert run_command("envs.perft", "oware", "--depth", "3", "--position", board) == Done(0, "1 1\n2 1\n3 1\n", "")
    over = "0-0-0-0-0-0-4-4-4-4-4-0-25-3-S"
    assert run_command("envs.perft", "oware", "--depth", "2", "--position", over) == Done(0, "1 0\n2 0\n", "")
    short = run_command("envs.perft", "oware", "--depth", "3", "--option", "quiet_limit=2")
    assert short == Done(0, "1 6\n2 36\n3 0\n", "")


def test_benchmark_prints_a_list_with_a_row_for_every_face() -> None:
    done = run_command("envs.benchmark", "oware", "--seconds", "0.05", "--games", "64", "--json")
    assert done.code == 0, done.err
    rows = json.loads(done.out)
    assert all(list(row) == ["game", "face", "games", "threads", "plies_per_second"] for row in rows)
    ours = [(row["game"], row["face"], row["games"], row["threads"]) for row in rows[:4]]
    assert ours == [("oware", "rollout", 1, 1), ("oware", "batch", 64, 1), ("oware", "vecenv", 64, 1), ("oware", "aec", 1, 1)]
    others = {row["face"]: row["game"] for row in rows[4:]}
    assert set(others) <= {"open_spiel", "pettingzoo"} and others.get("pettingzoo", "connect_four") == "connect_four"
    assert all(type(row["plies_per_second"]) is int and row["plies_per_second"] > 0 for row in rows)
    missing = {"open_spiel", "pettingzoo"} - set(others)
    assert all(face in done.err for face in missing) and done.err.count("\n") == len(missing)


@pytest.mark.parametrize("game", [name for name in envs.GAME_NAMES if name != GAME])
def test_benchmark_knows_every_game(game: str) -> None:
    done = run_command("envs.benchmark", game, "--seconds", "0.02", "--games", "8", "--json")
    assert done.code == 0, done.err
    ours = [row for row in json.loads(done.out) if row["face"] in ("rollout", "batch", "vecenv", "aec")]
    assert [row["face"] for row in ours if row["game"] == game] == ["rollout", "batch", "vecenv", "aec"]
    assert all(row["plies_per_second"] > 0 for row in ours)


def test_benchmark_prints_a_table_too() -> None:
    done = run_command("envs.benchmark", "--seconds", "0.01", "--games", "8")
    assert done.code == 0
    assert all(face in done.out for face in ("rollout", "batch", "vecenv", "aec"))
    assert "plies/s" in done.out.splitlines()[0]


# In processes of their own


def in_a_process(*arguments: str) -> Done:
    done = subprocess.run([sys.executable, *arguments], cwd=PROJECT, capture_output=True, text=True, timeout=120)
    return Done(done.returncode, done.stdout, done.stderr)


def test_a_command_works_in_a_process_of_its_own() -> None:
    done = in_a_process("-m", "envs.perft", "oware", "--depth", "2")
    assert (done.code, done.out) == (0, "1 6\n2 36\n")
    done = in_a_process("-m", "envs.perft", "oware", "--depth", "2", "--position", "x")
    assert_refused(done)
    assert done.err.startswith("python -m envs.perft: ")


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    program = "python -m envs.perft oware --depth 8".replace("python", f"'{sys.executable}'")
    done = subprocess.run(f"{program} | head -n 1", shell=True, cwd=PROJECT, capture_output=True, text=True, timeout=120)
    assert done.stdout == "1 6\n" and "Traceback" not in done.stderr and "Error" not in done.stderr
