"""The page of results and the cards of trained agents: made from what runs have left, and up to date."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.network import load_network, network_summary, save_network
from agents.spec import SHIPPED, make_agent, shipped_names
from commands import PROJECT, assert_refused, run_command
from envs import BadConfig, VectorGames
from runs import train
from training.results import card, headline, page

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
    assert "--config oware_quick seed=1" in text and "results/oware_quick/seed-1/curve.png" in text
    shipped = run_command("training.publish", "ship", run, "--agents", agents)
    assert shipped.out.strip() == str(agents / "oware.safetensors")
    assert "plies=512" not in (agents / "oware.md").read_text() and "width: 8" in (agents / "oware.md").read_text()
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
        "config": {"seed": seed, "game": "oware"},
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
    whole = {"game": "oware", "games": 40, "seed": 3, "agents": ["ppo:oware", "greedy"], "pairs": [pair]}
    (matches / "greedy.json").write_text(json.dumps(whole))
    (response / "summary.json").write_text(json.dumps(summary(0, 0.8)))
    (folder / "oware" / "notes.md").write_text("What limits it.\n")
    (folder / "notes.md").write_text("Made by hand.\n")
    text = page(folder)
    assert "| `ppo:oware` | `greedy` | 40 | 75.0% (60 to 90) |" in text
    assert "python -m training.evaluate oware ppo:oware greedy --games 40 --seed 3" in text
    assert "| `greedy` | 0.0 M | 1.0 | 80.0% (75 to 85) |" in text
    assert "\nWhat limits it.\n" in text and "\nMade by hand.\n" in text


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("add", "{nothing}", "oware"), "summary.json cannot be read"),
        (("ship", "{nothing}"), "network"),
        (("page", "--results", "{damaged}"), "summary.json cannot be read"),
        (("grow",), "grow"),
        ((), "COMMAND"),
    ],
)
def test_what_cannot_be_published_is_refused_in_one_line(arguments: tuple[str, ...], hint: str, tmp_path: Path) -> None:
    damaged = results_folder(tmp_path / "damaged", 0.5)
    (damaged / "oware" / "seed-0" / "summary.json").write_text("{}")
    given = [word.format(nothing=tmp_path / "nothing", damaged=damaged) for word in arguments]
    assert_refused(run_command("training.publish", *given), hint)
    assert not (tmp_path / "damaged.md").exists()


def test_a_network_of_no_run_has_no_card(tmp_path: Path) -> None:
    network = load_network(SHIPPED / f"{shipped_names()[0]}.safetensors")
    save_network(tmp_path / "mine.safetensors", network)
    with pytest.raises(BadConfig, match="no summary"):
        card(tmp_path / "mine.safetensors")
