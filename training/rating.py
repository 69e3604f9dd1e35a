"""Ratings from a table of matches: the Bradley-Terry model, a draw as half a win.

Ratings read results and nothing else. They are on the scale of Elo: 400 points are odds of ten to one. Each pairing counts one
drawn game more than was played, so that an agent without a loss has a finite rating.
"""

from collections.abc import Sequence
from math import log
from typing import Any, Final

import choix
import numpy as np

from training.arena import CONFIDENCE, Match

POINTS: Final = 400 / log(10)
PRIOR: Final = 0.5  # points that each side of a pairing has besides its own
URN: Final = (1.0, 1.0, 0.0, 0.0)
RESAMPLES: Final = 200


def ratings(agents: Sequence[str], matches: Sequence[Match], seed: int = 0) -> list[dict[str, Any]]:
    """`{agent, rating, low, high}`, best first. `random` has rating 0 if it played, else the mean is 0.

    Low and high are 95 % bounds from matches with their pairs of games drawn again. Two won and two lost pairs are in the urn
    besides those played (Agresti and Coull 1998), as a one-sided match would else seem to be certain.
    """
    anchor = list(agents).index("random") if "random" in agents else None
    pairs = [match.pair_scores for match in matches]
    estimate = _strengths(agents, matches, pairs, anchor)
    rng = np.random.default_rng(seed)
    drawn = np.array(
        [
            _strengths(agents, matches, [rng.choice([*scores, *URN], len(scores)) for scores in pairs], anchor)
            for _ in range(RESAMPLES)
        ]
    )
    low, high = np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    rows = [
        {
            "agent": agent,
            "rating": round(float(estimate[index]), 1),
            "low": round(float(min(low[index], estimate[index])), 1),
            "high": round(float(max(high[index], estimate[index])), 1),
        }
        for index, agent in enumerate(agents)
    ]
    return sorted(rows, key=lambda row: -float(row["rating"]))


def _strengths(agents: Sequence[str], matches: Sequence[Match], pairs: Sequence[np.ndarray], anchor: int | None) -> np.ndarray:
    """float64[agents] in points."""
    wins = np.zeros((len(agents), len(agents)))
    for match, scores in zip(matches, pairs, strict=True):
        first, second = agents.index(match.a), agents.index(match.b)
        wins[first, second] += 2 * scores.sum() + PRIOR
        wins[second, first] += 2 * (1 - scores).sum() + PRIOR
    strengths: np.ndarray = POINTS * choix.ilsr_pairwise_dense(wins)
    return strengths - (strengths.mean() if anchor is None else strengths[anchor])
