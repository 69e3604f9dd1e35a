"""The page of results and the cards of trained agents: made from what runs have left, and up to date."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.network import load_network, network_summary, save_network
from agents.spec import SHIPPED, make_agent, network_digests, shipped_names
from commands import PROJECT, assert_refused, run_command
from envs import BadConfig, VectorGames
from runs import TINY, train
from training.config import load_config, set_value
from training.exploit import response_config
from training.results import card, headline, page, read_match

DOCS = PROJECT / "docs"
LIMIT = 2 << 20  # bytes of a shipped agent


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny run; tests only read it."""
    folder = tmp_path_factory.mktemp("run") / "run"
    assert train(folder).code == 0
    return folder


def test_the_page_of_results_is_what_the_results_say() -> None:
    assert (DOCS / "results.md").read_text(encoding="utf-8") == page(DOCS / "results"), "run python -m training.publish page"
    assert headline(DOCS / "results") in (PROJECT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_agent_is_small_has_its_card_and_plays(name: str) -> None:
    path = SHIPPED / f"{name}.safetensors"
    assert path.stat().st_size <= LIMIT
    assert path.with_suffix(".md").read_text(encoding="utf-8") == card(path)
    game = load_network(path).settings.game
    agent, games = make_agent(f"ppo:{name}", game), VectorGames(game, 4)
    actions = agent.act(games.rows, games.histories, games.observation, games.action_mask, np.random.default_rng(0))
    assert np.take_along_axis(games.action_mask, actions[:, None], axis=1).all()


def test_every_shipped_agent_says_where_it_comes_from_but_not_where_it_lay() -> None:
    for name in shipped_names():
        summary = network_summary(SHIPPED / f"{name}.safetensors")
        assert summary["config"]["run_dir"] is None
        assert summary["plies"] >= summary["config"]["plies"] and len(summary["commit"]) == 40


def test_a_run_becomes_a_row_of_the_page_and_an_agent_with_a_card(run: Path, tmp_path: Path) -> None:
    results, agents = tmp_path / "results", tmp_path / "agents"
    for seed in (0, 1):
        other = run if seed == 0 else tmp_path / "other"
        if seed:
            assert train(other, "seed=1").code == 0
        added = run_command("training.publish", "add", other, "oware_quick", "--results", results)
        assert (added.code, added.out.strip()) == (0, str(results / "oware_quick" / f"seed-{seed}"))
    assert run_command("training.publish", "page", "--results", results).out.strip() == str(tmp_path / "results.md")
    text = (tmp_path / "results.md").read_text(encoding="utf-8")
    finals = [row for row in json.loads((run / "summary.json").read_text())["evaluations"] if row["plies"] == 512]
    assert "| `random` | 12 |" in text and "preliminary: 2 of 3 seeds" in text
    for row in finals:
        assert f"{row['score']:.1%} ({100 * row['low']:.0f} to {100 * row['high']:.0f})" in text
    assert "--config oware_quick seed=1 plies=512 games=8" in text and "'evaluation.opponents=[" in text
    assert "results/oware_quick/seed-1/curve.png" in text
    shipped = run_command("training.publish", "ship", run, "--agents", agents)
    assert shipped.out.strip() == str(agents / "oware.safetensors")
    text = (agents / "oware.md").read_text()
    assert str(run) not in text and "width: 8" in text and "- **commit**" in text
    few, whole = load_network(agents / "oware.safetensors"), load_network(run / "network.safetensors")
    assert (agents / "oware.safetensors").stat().st_size < 0.6 * (run / "network.safetensors").stat().st_size
    for name, weight in whole.state_dict().items():
        step = weight.abs().amax(dim=-1, keepdim=True) / (127 if weight.dim() == 2 else 1024)
        assert ((few.state_dict()[name] - weight).abs() <= 0.51 * step + 1e-7).all()
    published = json.loads((results / "oware_quick" / "seed-0" / "summary.json").read_text())
    assert network_summary(agents / "oware.safetensors") == published
    left = json.loads((run / "summary.json").read_text())
    assert left["config"].pop("run_dir") == str(run) and published["config"].pop("run_dir") is None
    assert published == left


def summary(seed: int, score: float) -> dict[str, Any]:
    row = {
        "plies": 10,
        "seconds": 60.0,
        "opponent": "greedy",
        "games": 400,
        "score": score,
        "low": score - 0.05,
        "high": score + 0.05,
    }
    early = {**row, "plies": 5, "score": 0.123}
    head = {
        "config": {**load_config("oware").model_dump(mode="json"), "seed": seed},
        "commit": "c" * 40,
        "plies": 10,
        "seconds": 60.0,
        "plies_per_second": 0.2,
    }
    return {**head, "evaluations": [early, row]}


def results_folder(folder: Path, *scores: float) -> Path:
    for seed, score in enumerate(scores):
        place = folder / "oware" / f"seed-{seed}"
        place.mkdir(parents=True)
        (place / "summary.json").write_text(json.dumps(summary(seed, score)))
    return folder


def test_three_seeds_are_a_result_with_an_interval_over_seeds_and_fewer_are_preliminary(tmp_path: Path) -> None:
    few, firm = (page(results_folder(tmp_path / str(len(scores)), *scores)) for scores in ((0.5, 0.6), (0.5, 0.6, 0.7)))
    assert "preliminary: 2 of 3 seeds" in few and " *" in few
    assert "| `greedy` | 1200 | 60.0% (35 to 85) | 50.0% (45 to 55) |" in firm and "preliminary:" not in firm
    assert "12.3%" not in firm, "earlier scores are in the curve alone"


def test_matches_responses_and_notes_are_on_the_page(tmp_path: Path) -> None:
    folder = results_folder(tmp_path / "results", 0.5)
    matches, response = folder / "oware" / "matches", folder / "oware" / "responses" / "first"
    matches.mkdir()
    response.mkdir(parents=True)
    pair = {"a": "ppo:oware", "b": "greedy", "games": 40, "score": 0.75, "low": 0.6, "high": 0.9}
    options = {"repetition_limit": 3, "quiet_limit": 160, "grand_slam": "capture"}
    whole = {"game": "oware", "options": options, "games": 40, "seed": 3, "opening_plies": 9}
    whole |= {"agents": ["ppo:oware", "greedy"], "networks": {}, "pairs": [pair]}
    (matches / "greedy.json").write_text(json.dumps(whole))
    responding = summary(0, 0.8)
    responding["config"] |= response_config(
        "ppo:oware", load_config("oware_quick", ["start=oware", "plies=10"]), {}
    ).model_dump(mode="json")
    (response / "summary.json").write_text(json.dumps(responding))
    (folder / "oware" / "notes.md").write_text("What limits it.\n")
    (folder / "notes.md").write_text("Made by hand.\n")
    text = page(folder)
    assert "| `ppo:oware` | `greedy` | 40 | 75.0% (60 to 90) |" in text
    match = "oware ppo:oware greedy --games 40 --seed 3 --opening-plies 9 --option grand_slam=capture"
    assert f"\npython -m training.evaluate {match}\n" in text
    assert "\npython -m training.exploit oware --start oware seed=0 plies=10\n" in text
    assert "| `greedy` | 0.0 M | 1.0 | 80.0% (75 to 85) |" in text
    assert "\nWhat limits it.\n" in text and "\nMade by hand.\n" in text


def test_a_commit_is_short_but_says_what_was_changed_and_that_a_run_has_seen_two(tmp_path: Path) -> None:
    folder = results_folder(tmp_path / "results", 0.5)
    path = folder / "oware" / "seed-0" / "summary.json"
    path.write_text(json.dumps({**summary(0, 0.5), "commit": f"{'a1' * 20}-dirty + {'b2' * 20}"}))
    assert "`a1a1a1a1a1a1-dirty + b2b2b2b2b2b2`" in page(folder)


@pytest.mark.parametrize(
    "later", [{"plies": 513}, {"evaluation.final_games": 8}, {"evaluation.opponents": ["random", "greedy"]}]
)
def test_a_run_that_is_not_over_or_not_measured_is_neither_a_result_nor_shipped(
    later: dict[str, Any], run: Path, tmp_path: Path
) -> None:
    left = shutil.copytree(run, tmp_path / "run")
    summary = json.loads((left / "summary.json").read_text())
    for key, value in later.items():
        set_value(summary["config"], key, value)
    (left / "summary.json").write_text(json.dumps(summary))
    save_network(left / "network.safetensors", load_network(left / "network.safetensors"), summary)
    for words in (("add", left, "oware_quick", "--results"), ("ship", left, "--agents")):
        assert_refused(run_command("training.publish", *words, tmp_path / "place"), str(left))
    assert not list((tmp_path / "place").glob("**/*.*"))


def test_a_network_without_a_run_leaves_the_shipped_agent_as_it_was(run: Path, tmp_path: Path) -> None:
    left = shutil.copytree(run, tmp_path / "run")
    save_network(left / "network.safetensors", load_network(left / "network.safetensors"))
    (tmp_path / "oware.safetensors").write_text("another")
    assert_refused(run_command("training.publish", "ship", left, "--agents", tmp_path), "is not over")
    assert (tmp_path / "oware.safetensors").read_text() == "another"


def test_a_best_response_is_a_result_beside_the_agent_that_it_answers(tmp_path: Path) -> None:
    folder, results = tmp_path / "run", tmp_path / "results"
    assert run_command("training.exploit", "greedy", "--game", "oware", *TINY[:-1], f"run_dir={folder}").code == 0
    assert_refused(run_command("training.publish", "add", folder, "oware_quick", "--results", results), "--response NAME")
    words = ("add", folder, "oware_quick", "--response", "greedy", "--results", results)
    assert run_command("training.publish", *words).out.strip() == str(results / "oware_quick" / "responses" / "greedy")
    assert "python -m training.exploit greedy --game oware seed=0 plies=512" in page(results)


def test_matches_on_the_page_were_played_by_the_agents_that_are_shipped() -> None:
    played = sorted((DOCS / "results").glob("*/matches/*.json"))
    assert played
    for path in played:
        match = read_match(path)
        assert match["networks"] == network_digests(match["agents"]), f"play {path} again"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("add", "{nothing}", "oware"), "summary.json cannot be read"),
        (("add", "{run}", "oware_large"), "oware and oware_quick"),
        (("add", "{run}", "uisge"), "oware and oware_quick"),
        (("add", "{run}", "oware_quick", "--response", "greedy"), "no best response"),
        (("add", "{run}", "oware_quick", "--response", "../greedy"), "--response"),
        (("ship", "{nothing}"), "network"),
        (("page", "--results", "{damaged}"), "summary.json cannot be read"),
        (("grow",), "grow"),
        ((), "COMMAND"),
    ],
)
def test_what_cannot_be_published_is_refused_in_one_line(
    arguments: tuple[str, ...], hint: str, run: Path, tmp_path: Path
) -> None:
    damaged = results_folder(tmp_path / "damaged", 0.5)
    (damaged / "oware" / "seed-0" / "summary.json").write_text("{}")
    given = [word.format(nothing=tmp_path / "nothing", damaged=damaged, run=run) for word in arguments]
    assert_refused(run_command("training.publish", *given), hint)
    assert not (tmp_path / "damaged.md").exists()


def test_a_network_of_no_run_has_no_card(tmp_path: Path) -> None:
    network = load_network(SHIPPED / "oware.safetensors")
    save_network(tmp_path / "mine.safetensors", network)
    with pytest.raises(BadConfig, match="no summary"):
        card(tmp_path / "mine.safetensors")
