"""What a network sees of observations: the rows that they pick."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

import eiyiu_boards
from agents.network import ENCODINGS, Encoding, encoding
from agents.network.relations import NO_ROW
from envs import Position, VectorGames


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


def late_eiyiu_positions() -> list[Position]:
    """Positions of random games in which the last tile is being laid or tiles are moved."""
    rng = np.random.default_rng(5)
    found = [eiyiu_boards.in_engine(state) for state in eiyiu_boards.random_states(rng, 60) if not state.end]
    return [position for position in found if position.observation()[400:418].sum() <= 1]


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
