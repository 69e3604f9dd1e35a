"""What of an observation the network sees: the rows of its embedding that an observation picks, and of its policy's head.

`counts` codes the numbers of an observation one by one, not as magnitudes: three seeds differ from two in kind. `relations`
adds what they are to each other, see `agents.network.relations`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np

from agents.network.relations import ACTION_ROWS, NO_ROW, POSITION_ROWS, ROOM, pick_action_rows, pick_relations, survey
from agents.network.surveyed import NOTHING
from envs.engine.game import Game
from envs.engine.jit import entry, kernel
from envs.engine.kernels import Tag
from envs.games import find_game

ENCODINGS: Final = ("counts", "relations")
# Of what the rows mean, game by game; raised where that changes, as networks of before would misread them.
VERSIONS: Final[dict[str, int]] = {"oware": 1, "toguz_kumalak": 1, "uisge": 1, "eiyiu": 2}
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

    def look(self, observations: np.ndarray, masks: np.ndarray) -> "Seen":
        """What the network sees of observations int16[B, O] with legal actions as in masks int8[B, A]."""
        starts = np.empty(len(masks) + 1, np.int64)
        count_legal(masks, starts)
        seen = Seen(
            np.empty((len(observations), self.most), np.int16),
            starts,
            np.empty(starts[-1], np.int16),
            np.empty((starts[-1], self.action_most), np.int16),
        )
        numbers = (self.columns, self.steps, self.caps, self.offsets, self.dense)
        widest = pick_rows(
            self.game.tag,
            observations,
            masks,
            numbers,
            self.relations,
            self.rows > self.relations,
            seen.picked,
            seen.starts,
            seen.actions,
            seen.picked_by_actions,
            np.empty(ROOM, np.int16),
        )
        return replace(seen, picked=np.ascontiguousarray(seen.picked[:, :widest]))


@dataclass(frozen=True)
class Seen:
    """Positions as a network sees them: the rows that each picks of its embedding, and each legal action of its policy's head.

    `picked` int16[B, K] are the first, in any order, ended by `NO_ROW`. The legal actions int16[N] lie one after the other:
    those of position b are `actions[starts[b]:starts[b + 1]]`. `picked_by_actions` int16[N, L] are their rows, the action
    itself first, ended by `NO_ROW` where there is room.
    """

    picked: np.ndarray
    starts: np.ndarray
    actions: np.ndarray
    picked_by_actions: np.ndarray

    def __len__(self) -> int:
        """The number of positions."""
        return len(self.picked)

    def __getitem__(self, indices: np.ndarray) -> "Seen":
        """The positions int64[M] alone, in that order."""
        starts = np.zeros(len(indices) + 1, np.int64)
        np.cumsum((self.starts[1:] - self.starts[:-1])[indices], out=starts[1:])
        actions = np.empty(starts[-1], np.int16)
        picked_by_actions = np.empty((starts[-1], self.picked_by_actions.shape[1]), np.int16)
        gather_actions(self.starts, self.actions, self.picked_by_actions, indices, starts, actions, picked_by_actions)
        return Seen(self.picked[indices], starts, actions, picked_by_actions)

    def tensor_split(self, parts: int) -> list["Seen"]:
        """So many parts one after the other, cut where torch cuts a tensor."""
        whole, rest = divmod(len(self), parts)
        sizes = [whole + (part < rest) for part in range(parts)]
        bounds = [sum(sizes[:part]) for part in range(parts + 1)]
        return [self._between(first, last) for first, last in pairwise(bounds)]

    def _between(self, first: int, last: int) -> "Seen":
        begin, end = self.starts[first], self.starts[last]
        actions = slice(begin, end)
        starts = self.starts[first : last + 1] - begin
        return Seen(self.picked[first:last], starts, self.actions[actions], self.picked_by_actions[actions])

    @classmethod
    def together(cls, parts: Sequence["Seen"]) -> "Seen":
        """All positions of the parts, one part after the other."""
        begins = np.cumsum([0, *(part.starts[-1] for part in parts)])
        starts = [part.starts[:-1] + begin for part, begin in zip(parts, begins[:-1], strict=True)]
        width = max(part.picked.shape[1] for part in parts)
        picked = np.full((sum(map(len, parts)), width), NO_ROW, np.int16)
        for part, last in zip(parts, np.cumsum([len(part) for part in parts]), strict=True):
            picked[last - len(part) : last, : part.picked.shape[1]] = part.picked
        return cls(
            picked,
            np.concatenate([*starts, begins[-1:]]),
            np.concatenate([part.actions for part in parts]),
            np.concatenate([part.picked_by_actions for part in parts]),
        )


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
def count_legal(masks: np.ndarray, starts: np.ndarray) -> None:
    """`starts` holds where each position's legal actions begin, and their number at the end; `masks` int8[B, A]."""
    starts[0] = 0
    for index in range(len(masks)):
        count = 0
        for action in range(masks.shape[1]):
            count += masks[index, action] != 0
        starts[index + 1] = starts[index] + count


@entry
def pick_rows(
    game: Tag,
    observations: np.ndarray,
    masks: np.ndarray,
    numbers: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    relations: int,
    related: bool,
    picked: np.ndarray,
    starts: np.ndarray,
    actions: np.ndarray,
    picked_by_actions: np.ndarray,
    room: np.ndarray,
) -> int:
    """`picked` to `picked_by_actions`, of which `starts` is given, are those of `Seen`; returns how many columns of the first
    say something. `room` is for numbers on the way."""
    widest = 0
    for index in range(len(observations)):
        observation, rows = observations[index], picked[index]
        surveyed = survey(game, observation, room) if related else NOTHING
        count = pick_numbers(observation, numbers, rows)
        if related:
            count = pick_relations(game, observation, surveyed, relations, rows, count, room)
        rows[count] = NO_ROW
        widest = max(widest, count + 1)
        spot = starts[index]
        for action in range(masks.shape[1]):
            if masks[index, action] != 0:
                actions[spot] = action
                picked_by_actions[spot, 0] = action
                count = 1
                if related:
                    own = picked_by_actions[spot]
                    count = pick_action_rows(game, observation, surveyed, action, masks.shape[1], own, 1, room)
                if count < picked_by_actions.shape[1]:
                    picked_by_actions[spot, count] = NO_ROW
                spot += 1
    return widest


@kernel
def pick_numbers(
    observation: np.ndarray, numbers: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], rows: np.ndarray
) -> int:
    """The rows of the numbers one by one are there; returns how many."""
    columns, steps, caps, offsets, dense = numbers
    count = 0
    for place in range(len(columns)):
        number = int(observation[columns[place]])
        if number != 0 or dense[place]:
            rows[count] = offsets[place] + min(number // steps[place], caps[place])
            count += 1
    return count


@entry
def gather_actions(
    starts: np.ndarray,
    actions: np.ndarray,
    picked_by_actions: np.ndarray,
    indices: np.ndarray,
    new_starts: np.ndarray,
    new_actions: np.ndarray,
    newly_picked: np.ndarray,
) -> None:
    """The last two hold the legal actions of the positions `indices`, which begin at `new_starts`, and their rows."""
    for position in range(len(indices)):
        spot = new_starts[position]
        for old in range(starts[indices[position]], starts[indices[position] + 1]):
            new_actions[spot] = actions[old]
            for place in range(picked_by_actions.shape[1]):
                newly_picked[spot, place] = picked_by_actions[old, place]
            spot += 1
