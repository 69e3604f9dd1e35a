"""From the settings of a spec string to the player that searches all lines."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from agents.agent import Agent
from agents.endgames.database import GAME as GAME_WITH_ENDGAMES
from agents.endgames.database import Database, available, open_database
from agents.endgames.table import MAX_SEEDS
from agents.minimax.agent import MAX_DEPTH, MinimaxAgent
from agents.minimax.budget import HASH_MB, MAX_HASH_MB, MAX_NODES, MAX_TIME_MS, BudgetAgent
from agents.minimax.weights import load_weights
from agents.settings import whole_setting
from envs.errors import BadSpec
from envs.games import find_game
from envs.numbers import read_number

READING: Final = "minimax:depth=N|nodes=N|time_ms=T"
BUDGETS: Final = ("depth", "turns", "nodes", "time_ms")
EVALUATIONS: Final = ("plain", "tuned")
PARTS: Final = (*BUDGETS, "eval", "hash_mb", "endgames")


def make_minimax(spec: str, parts: Mapping[str, str], game: str, options: Mapping[str, object], threads: int) -> Agent:
    """The player of these settings. Raises `BadSpec`."""
    budget = _budget(spec, parts, game)
    fixed = budget in ("depth", "turns")
    evaluation = parts.get("eval", "plain" if fixed else "tuned")
    if evaluation not in EVALUATIONS:
        raise BadSpec(f"eval in {spec!r} must be {' or '.join(EVALUATIONS)}")
    if not fixed:
        return _within_budget(spec, parts, game, options, threads, evaluation == "tuned")
    for name in ("hash_mb", "endgames"):
        if name in parts:
            raise BadSpec(f"{name} in {spec!r} is for nodes and time_ms, not for a fixed {budget}")
    plies = find_game(game).plies_a_turn if budget == "turns" else 1
    depth = plies * whole_setting(spec, parts, budget, 1, MAX_DEPTH // plies)
    weights: np.ndarray | None = load_weights(game) if evaluation == "tuned" else None
    return MinimaxAgent(game, depth, threads=threads, whole_turns=budget == "turns", weights=weights)


def _budget(spec: str, parts: Mapping[str, str], game: str) -> str:
    """Which budget the settings give."""
    several = find_game(game).plies_a_turn > 1
    if "turns" in parts and not several:
        raise BadSpec(f"turns in {spec!r} is for games with several plies a turn; give depth")
    given = [name for name in BUDGETS if name in parts]
    if len(given) != 1:
        reading = f"{READING} or minimax:turns=N" if several else READING
        raise BadSpec(f"{spec!r} needs one depth, or one budget; it reads {reading}")
    return given[0]


def _within_budget(
    spec: str, parts: Mapping[str, str], game: str, options: Mapping[str, object], threads: int, tuned: bool
) -> Agent:
    budget, most = ("nodes", MAX_NODES) if "nodes" in parts else ("time_ms", MAX_TIME_MS)
    return BudgetAgent(
        game,
        **{budget: whole_setting(spec, parts, budget, 1, most)},
        tuned=tuned,
        hash_mb=whole_setting(spec, parts, "hash_mb", 1, MAX_HASH_MB) if "hash_mb" in parts else HASH_MB,
        endgames=_endgames(spec, parts, game, options),
        threads=threads,
    )


def _endgames(spec: str, parts: Mapping[str, str], game: str, options: Mapping[str, object]) -> Database | None:
    """The solved endgames that the settings ask for; without a word, all that there are for the game's rules."""
    if game != GAME_WITH_ENDGAMES:
        if "endgames" in parts:
            raise BadSpec(f"endgames in {spec!r} are for {GAME_WITH_ENDGAMES} alone")
        return None
    rule = str(find_game(game).checked_options(options, batch=False)["grand_slam"])
    seeds = read_number(parts["endgames"]) if "endgames" in parts else max(available(None, rule), 0)
    if seeds is None or seeds > MAX_SEEDS:
        raise BadSpec(f"endgames in {spec!r} must be a whole number from 0 (none) to {MAX_SEEDS}")
    try:
        return open_database(None, rule, seeds) if seeds else None
    except OSError as error:
        raise BadSpec(f"{spec!r} cannot read its endgames: {error}") from None
