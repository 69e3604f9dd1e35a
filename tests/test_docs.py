"""Pages that are made from the code say what the code says."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from agents.minimax.weights import described
from envs.games import GAMES

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("game", GAMES)
def test_the_page_of_a_game_is_its_manual(game: str) -> None:
    manual = GAMES[game].manual
    assert (DOCS / f"{game}.md").read_text(encoding="utf-8") == "# " + manual, f"write docs/{game}.md anew"
    assert import_module(f"envs.{game}_v0").raw_env.__doc__ == manual


@pytest.mark.parametrize("game", GAMES)
def test_a_manual_names_every_field_option_and_ending(game: str) -> None:
    record = GAMES[game]
    for part in (*record.observation, *record.options):
        assert part.name in record.manual and part.doc in record.manual
    headings = [line for line in record.manual.splitlines() if line.startswith("## ")]
    assert headings == [
        f"## {heading}"
        for heading in ("Description", "Observation", "Actions", "Rewards", "Start", "End", "Options", "Version history")
    ]


def test_the_page_of_evaluations_is_what_the_weights_say() -> None:
    assert (DOCS / "evaluation.md").read_text(encoding="utf-8") == described()
