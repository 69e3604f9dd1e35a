"""The player that searches a tree of simulations."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from envs.engine.header import CHANCE, END, MOVER
from envs.errors import IllegalMove


@dataclass(frozen=True)
class Found:
    """What a search knows of B roots and their A actions; 0 for illegal ones. All values are seat 0's, from -1 to 1."""

    visits: np.ndarray  # int64[B, A]: simulations
    action_values: np.ndarray  # float64[B, A]: the proven value, else the simulations' average, else the root's value
    lows: np.ndarray  # float64[B, A]: what is proven: the action is worth no less
    highs: np.ndarray  # float64[B, A]: and no more
    values: np.ndarray  # float64[B]: the root's, the proven value or the simulations' average
    proven: np.ndarray  # bool[B]: whether the root's value is proven; its search ended there


class Search(Protocol):
    """Runs simulations."""

    def __call__(self, rows: np.ndarray, histories: np.ndarray, rng: np.random.Generator) -> Found:
        """What is found of running positions in which a seat is to move."""


class MCTSAgent:
    """Plays the action that most simulations went to, see `policy_visits`.

    Proven results go first: a proven win is played, a proven loss only where all is lost.
    """

    def __init__(self, spec: str, search: Search, temperature: float = 0.0) -> None:
        """With a temperature, actions are drawn in proportion to their visits to the power 1 / temperature, unless the root
        is proven."""
        self.spec = spec
        self.temperature = temperature
        self._search = search

    def act(
        self,
        rows: np.ndarray,
        histories: np.ndarray,
        observations: np.ndarray,
        masks: np.ndarray,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """See `Agent.act`. Where only one action is legal nothing is searched."""
        actions = masks.argmax(axis=1)
        choices = np.flatnonzero(masks.sum(axis=1) > 1)
        if len(choices):
            found = self.search(rows[choices], histories[choices], rng)
            actions[choices] = self.choose(found, rows[choices, MOVER], masks[choices] != 0, rng)
        return actions

    def search(self, rows: np.ndarray, histories: np.ndarray, rng: np.random.Generator) -> Found:
        """What is found of running positions. Raises `IllegalMove` after the end and where a draw is to be dealt."""
        if rows[:, END].any() or (rows[:, MOVER] == CHANCE).any():
            raise IllegalMove("there is nothing to choose in a finished game, nor where a draw is to be dealt")
        return self._search(rows, histories, rng)

    def choose(self, found: Found, movers: np.ndarray, legal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """int64[B]: the actions to play, of those that `legal` bool[B, A] marks."""
        if self.temperature > 0:
            drawn = sampled_actions(found, movers, legal, self.temperature, rng)
            return np.where(found.proven, best_actions(found, movers, legal), drawn)
        return best_actions(found, movers, legal)


def best_actions(found: Found, movers: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """int64[B]: the actions of most policy visits; ties go to the higher value, then to the lowest action."""
    visits = policy_visits(found, movers, legal)
    most = visits == visits.max(axis=1, keepdims=True)
    return np.where(most, mover_values(found, movers), -np.inf).argmax(axis=1)


def sampled_actions(
    found: Found, movers: np.ndarray, legal: np.ndarray, temperature: float, rng: np.random.Generator
) -> np.ndarray:
    """int64[B]: actions drawn in proportion to their policy visits to the power 1 / temperature."""
    with np.errstate(divide="ignore", over="ignore"):  # what has no visits is never drawn
        logits = np.log(policy_visits(found, movers, legal)) / temperature
    return (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def policy_visits(found: Found, movers: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """int64[B, A]: the visits that speak for the actions; `legal` bool[B, A] marks the legal ones.

    An action has none if another one is proven to be as good or better: so a proven win has them all, and a proven loss none
    unless all is lost. When better than a loss is proven, simulations go on to look for more: those that found less, on
    average, speak for what is sure. Some action always has visits.
    """
    first = movers[:, None] == 0
    worths = mover_values(found, movers)
    floors = np.where(legal, np.where(first, found.lows, -found.highs), -np.inf)
    sure = floors.max(axis=1, keepdims=True)
    opens = legal & (np.where(first, found.highs, -found.lows) > sure)
    safe = opens & (floors == sure)
    safe = np.where(safe.any(axis=1, keepdims=True), safe, floors == sure)
    visits = np.where((opens & (worths >= sure)) | safe, found.visits, 0)
    others = found.visits.sum(axis=1) - visits.sum(axis=1)
    safest = np.where(safe, found.visits, -1).argmax(axis=1)
    visits[np.arange(len(visits)), safest] += np.where(sure[:, 0] > -1, others, 0)
    return np.where(visits.any(axis=1, keepdims=True), visits, opens | safe)


def mover_values(found: Found, movers: np.ndarray) -> np.ndarray:
    """float64[B, A]: the actions' values for the movers."""
    return np.where(movers[:, None] == 0, found.action_values, -found.action_values)
