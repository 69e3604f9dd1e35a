"""What of an observation the network sees: the rows of its embedding that an observation picks, and of its policy's head.

`counts` codes the numbers of an observation one by one, not as magnitudes: three seeds differ from two in kind. `relations`
adds what they are to each other, see `agents.network.relations`.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from agents.network.relations import ACTION_ROWS, NO_ROW, POSITION_ROWS, pick_action_rows, pick_relations, survey
from envs.engine.game import Game
from envs.engine.jit import entry
from envs.engine.kernels import Tag
from envs.games import find_game

ENCODINGS: Final = ("counts", "relations")
FILLED: Final = 16  # about how many numbers of a large sparse field are not zero


@dataclass(frozen=True)
class Code:
    """How a number of the observation becomes one of `cap + 1` codes: divided by `step`, rounded down, at most `cap`.

    Of a sparse field, a zero says nothing and is left out: what is elsewhere tells it.
    """

    step: int
    cap: int
    sparse: bool = False


# Oware's houses rarely hold more than 24 seeds, Toguz Kumalak's holes more than 36.
CODES: Final[dict[str, dict[str, Code]]] = {
    "oware": {
        "own_houses": Code(1, 24),
        "other_houses": Code(1, 24),
        "own_store": Code(1, 48),
        "other_store": Code(1, 48),
        "quiet": Code(4, 40),
        "occurrences": Code(1, 3),
    },
    "toguz_kumalak": {
        "own_holes": Code(1, 36),
        "other_holes": Code(1, 36),
        "own_store": Code(1, 82),
        "other_store": Code(1, 82),
        "own_tuzdyk": Code(1, 8),
        "other_tuzdyk": Code(1, 8),
        "quiet": Code(5, 40),
        "occurrences": Code(1, 3),
    },
    "uisge": {
        "board": Code(1, 4, sparse=True),
        "ply": Code(10, 40),
        "occurrences": Code(1, 3),
    },
    "eiyiu": {
        "cells": Code(1, 9, sparse=True),
        "open": Code(1, 1),
        "hidden": Code(1, 1),
        "hand": Code(1, 9),
        "origin": Code(1, 400, sparse=True),
        "own_barred": Code(1, 401, sparse=True),
        "other_barred": Code(1, 401, sparse=True),
        "shifts": Code(10, 20),
    },
}


@dataclass(frozen=True)
class Encoding:
    """How the observations of a game become rows of an embedding.

    `columns` are the numbers that are read, `steps`, `caps`, `dense` their codes', `offsets` where each number's rows begin;
    from `relations` on lie the rows of relations, as many as there are of `rows` in all. `most` is how many an observation can
    pick and the end, `usual` how many it often does; `action_rows` and `action_most` are the same of the policy's head.
    """

    game: Game
    columns: np.ndarray
    steps: np.ndarray
    caps: np.ndarray
    offsets: np.ndarray
    dense: np.ndarray
    relations: int
    rows: int
    most: int
    usual: int
    action_rows: int
    action_most: int

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        """int16[B, most]: the rows that integer observations [B, O] pick, in any order, ended by `NO_ROW`."""
        picked = np.empty((len(observations), self.most), np.int16)
        numbers = (self.columns, self.steps, self.caps, self.offsets, self.dense)
        pick_rows(self.game.tag, observations, numbers, self.relations, self.rows > self.relations, picked)
        return picked

    def of_actions(self, observations: np.ndarray, starts: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """int16[N, action_most]: the rows of the policy's head for int16[N] actions, those of a position one after the other.

        The first is the action's own; `NO_ROW` ends them where there is room. `starts` int64[B + 1] says where each position's
        actions begin.
        """
        if self.action_most == 1:
            return actions[:, None]
        picked = np.empty((len(actions), self.action_most), np.int16)
        pick_rows_of_actions(self.game.tag, observations, starts, actions, self.game.actions, picked)
        return picked


@cache
def encoding(game: str, name: str) -> Encoding:
    """The encoding of that name for a game's observations. Raises `ValueError` for an unknown name."""
    if name not in ENCODINGS:
        raise ValueError(f"unknown encoding {name!r}; there are: {', '.join(ENCODINGS)}")
    record = find_game(game)
    columns, codes = coded_columns(game)
    sizes = [code.cap + 1 for code in codes]
    offsets = np.cumsum([0, *sizes])
    extra, most, usual = POSITION_ROWS[game] if name == "relations" else (0, 0, 0)
    action_extra, action_most = ACTION_ROWS[game] if name == "relations" else (0, 0)
    dense = sum(not code.sparse for code in codes)
    return Encoding(
        game=record,
        columns=np.array(columns),
        steps=np.array([code.step for code in codes]),
        caps=np.array([code.cap for code in codes]),
        offsets=offsets[:-1],
        dense=np.array([not code.sparse for code in codes]),
        relations=int(offsets[-1]),
        rows=int(offsets[-1]) + extra,
        most=len(columns) + most + 1,
        usual=dense + min(len(columns) - dense, FILLED) + usual,
        action_rows=record.actions + action_extra,
        action_most=1 + action_most,
    )


def coded_columns(game: str) -> tuple[list[int], list[Code]]:
    """The numbers of the game's observation that the network reads, and how each is coded."""
    columns: list[int] = []
    codes: list[Code] = []
    start = 0
    for part in find_game(game).observation:
        if part.name in CODES[game]:
            columns += range(start, start + part.size)
            codes += [CODES[game][part.name]] * part.size
        start += part.size
    return columns, codes


@entry
def pick_rows(
    game: Tag,
    observations: np.ndarray,
    numbers: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    relations: int,
    related: bool,
    picked: np.ndarray,
) -> None:
    """`picked` int16[B, most] holds each observation's rows, ended by `NO_ROW`."""
    columns, steps, caps, offsets, dense = numbers
    for index in range(len(observations)):
        observation, rows = observations[index], picked[index]
        count = 0
        for place in range(len(columns)):
            number = int(observation[columns[place]])
            if number != 0 or dense[place]:
                rows[count] = offsets[place] + min(number // steps[place], caps[place])
                count += 1
        if related:
            count = pick_relations(game, observation, relations, rows, count)
        rows[count] = NO_ROW


@entry
def pick_rows_of_actions(
    game: Tag, observations: np.ndarray, starts: np.ndarray, actions: np.ndarray, first: int, picked: np.ndarray
) -> None:
    """`picked` int16[N, most] holds the rows of each action, itself first, ended by `NO_ROW` where there is room.

    The actions of position b are those from `starts[b]` to `starts[b + 1]`.
    """
    for index in range(len(observations)):
        surveyed = survey(game, observations[index])
        for spot in range(starts[index], starts[index + 1]):
            rows = picked[spot]
            rows[0] = actions[spot]
            count = pick_action_rows(game, observations[index], surveyed, int(actions[spot]), first, rows, 1)
            if count < len(rows):
                rows[count] = NO_ROW
