"""Ratings from a table of matches: the Bradley-Terry model, a draw as half a win.

Ratings read results and nothing else. They are on the scale of Elo: 400 points are odds of ten to one. Each pairing counts one
drawn game more than was played, so that an agent without a loss has a finite rating.
"""

from collections.abc import Sequence
from math import log
from typing import Any, Final

import choix
import numpy as np
from scipy import stats

from training.arena import CONFIDENCE, Match

POINTS: Final = 400 / log(10)
PRIOR: Final = 0.5  # points that each side of a pairing has besides its own


def ratings(agents: Sequence[str], matches: Sequence[Match]) -> list[dict[str, Any]]:
    """`{agent, rating, low, high}`, best first. `random` has rating 0 if it played, else the mean is 0.

    Low and high are 95 % bounds from what the matches tell about differences of strength; the unit is the pair of games.
    """
    anchor = list(agents).index("random") if "random" in agents else None
    strengths = _strengths(agents, matches)
    strengths -= strengths.mean() if anchor is None else strengths[anchor]
    half = stats.norm.ppf((1 + CONFIDENCE) / 2) * _deviations(agents, matches, strengths, anchor)
    rows = [
        {"agent": agent, "rating": _points(middle), "low": _points(middle - width), "high": _points(middle + width)}
        for agent, middle, width in zip(agents, strengths, half, strict=True)
    ]
    return sorted(rows, key=lambda row: -float(row["rating"]))


def _points(strength: float) -> float:
    return round(POINTS * float(strength), 1) + 0.0  # no negative zero


def _strengths(agents: Sequence[str], matches: Sequence[Match]) -> np.ndarray:
    """float64[agents]: the logarithms of the odds, up to a constant."""
    wins = np.zeros((len(agents), len(agents)))
    for match in matches:
        first, second = agents.index(match.a), agents.index(match.b)
        wins[first, second] += 2 * match.pair_scores.sum() + PRIOR
        wins[second, first] += 2 * (1 - match.pair_scores).sum() + PRIOR
    strengths: np.ndarray = choix.ilsr_pairwise_dense(wins)
    return strengths


def _deviations(agents: Sequence[str], matches: Sequence[Match], strengths: np.ndarray, anchor: int | None) -> np.ndarray:
    """float64[agents]: the standard errors of the strengths, by the information in the pairs of games.

    A pair's mean score has the slope p (1 - p) in the difference of strengths; its variance is taken as measured, but as no
    less than that of two independent games without draws, so that a one-sided match does not seem to be certain.
    """
    information = np.zeros((len(agents), len(agents)))
    for match in matches:
        first, second = agents.index(match.a), agents.index(match.b)
        slope = _slope(strengths[first] - strengths[second])
        measured = float(match.pair_scores.var(ddof=1)) if len(match.pair_scores) > 1 else 0.0
        weight = len(match.pair_scores) * slope**2 / max(measured, slope / 2)
        information[[first, second], [first, second]] += weight
        information[[first, second], [second, first]] -= weight
    if anchor is None:
        return np.sqrt(np.diag(np.linalg.pinv(information, hermitian=True)))
    others = np.arange(len(agents)) != anchor
    deviations = np.zeros(len(agents))
    deviations[others] = np.sqrt(np.diag(np.linalg.inv(information[np.ix_(others, others)])))
    return deviations


def _slope(difference: float) -> float:
    chance = 1 / (1 + np.exp(-difference))
    return float(chance * (1 - chance))
