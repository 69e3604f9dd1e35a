"""Toguz Kumalak: its record, its texts and its manual page."""

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from envs.engine.game import Field, Game, Limit, OptionValue, filled_manual
from envs.engine.header import END, LAST_ACTION, LAST_PLAYER, MAX_LIMIT, MOVER, NONE, PLY, TOGUZ_KUMALAK
from envs.errors import BadText
from envs.games.captions import caption
from envs.games.toguz_kumalak import rules
from envs.games.toguz_kumalak.rules import ALL, HOLES, LAST_HOLE, QUIET, SEEDS, SIDE, STORES, TAKEN, TUZDYKS

BOARD_TEXT: Final = re.compile(r"(\d{1,3}(,\d{1,3}){8}/){2}\d{1,3},\d{1,3}/[1-8-],[1-8-]/[01]", re.ASCII)
MOVE_TEXT: Final = re.compile(r"([1-9])([1-9])(X|\((\d{1,3})\))?", re.ASCII)

OBSERVED: Final = (
    Field("own_holes", SIDE, SEEDS, "seeds in the player's holes 1-9"),
    Field("other_holes", SIDE, SEEDS, "seeds in the opponent's holes 1-9"),
    Field("own_store", 1, SEEDS, "seeds in the player's store"),
    Field("other_store", 1, SEEDS, "seeds in the opponent's store"),
    Field("own_tuzdyk", 1, SIDE - 1, "which of the opponent's holes is the player's tuzdyk, 0 for none"),
    Field("other_tuzdyk", 1, SIDE - 1, "which of the player's holes is the opponent's tuzdyk, 0 for none"),
    Field("quiet", 1, MAX_LIMIT, "plies since a seed went into a store"),
    Field("occurrences", 1, 9, "how often this position has stood on the board, now included", low=1),
    Field("to_move", 1, 1, "1 if the player is to move"),
)
OPTIONS: Final = (
    Limit("repetition_limit", 3, 2, 9, "the occurrence of a position that ends the game"),
    Limit("quiet_limit", 200, 1, MAX_LIMIT, "plies in a row that bring nothing into a store and end the game"),
)

MANUAL: Final = """Toguz Kumalak, the Kazakh and Kyrgyz game of nine pebbles, for two.

## Description
Two rows of nine holes, nine seeds in each, and a store a player. Holes are numbered 1 to 9 in sowing direction; after one's
own 9 comes the opponent's 1. A move sows one of the mover's holes: the first seed stays in the hole, the others fall one by
one into the holes after it, the hole of origin included on every lap; a single seed moves on to the next hole. If the last
seed makes an even number in an opponent's hole, these are taken. If it makes three there, the hole becomes the mover's
tuzdyk and the three are taken; not in the opponent's hole 9, not twice in a game, and not in the hole with the same number
as the opponent's tuzdyk. Every seed that later falls into a tuzdyk goes into its owner's store.

## Observation
OBSERVATION

## Actions
`Discrete(9)`: action k sows the mover's hole k + 1. As text: the hole, the hole of the last seed, then `X` for a tuzdyk or the
store after an even capture in brackets: `76`, `76X`, `76(10)`. What follows the first digit may be left out.

## Rewards
+1 to the winner and -1 to the loser in the step that ends the game, 0 and 0 for a draw and in every other step.

## Start
Nine seeds in every hole; `player_0` moves first.

## End
After each move, in this order: more than 81 seeds in a store (`majority`) or 81 in each (`even_split`); the player to move
has nothing to sow (`no_moves`); the position has occurred `repetition_limit` times (`repetition`); `quiet_limit` plies in a
row brought nothing into a store (`quiet_limit`). In the last three cases each side keeps the seeds on its own side; more
seeds win. The reason stands in `infos[agent]["end"]`, the final scores in `infos[agent]["scores"]`.

## Options
OPTIONS

## Version history
v0: initial version.
"""


def write_options(row: np.ndarray, options: Mapping[str, Any]) -> None:
    """The row plays under these options."""
    row[rules.LIMITS] = rules.packed_options(options["repetition_limit"], options["quiet_limit"])


def read_options(row: np.ndarray) -> dict[str, OptionValue]:
    """The options that the row plays under."""
    return {"repetition_limit": int(rules.repetition_limit(row)), "quiet_limit": int(rules.quiet_limit(row))}


def board_text(row: np.ndarray) -> str:
    """Holes, stores, tuzdyks and the side to move: `9,9,9,9,9,9,9,9,9/9,9,9,9,9,9,9,9,9/0,0/-,-/0`."""
    holes = [",".join(str(seeds) for seeds in row[HOLES + SIDE * player : HOLES + SIDE * (player + 1)]) for player in range(2)]
    tuzdyks = [str(rules.tuzdyk_number(row, player) or "-") for player in range(2)]
    return "/".join([*holes, f"{row[STORES]},{row[STORES + 1]}", ",".join(tuzdyks), str(row[MOVER])])


def read_board(text: str, row: np.ndarray, strict: bool) -> None:
    """The row has holes, stores, tuzdyks and mover of the text. Raises `BadText`; only a strict reader insists on 162 seeds."""
    if not BOARD_TEXT.fullmatch(text):
        raise BadText(
            f"not a Toguz Kumalak board: {text!r}; it reads like 9,9,9,9,9,9,9,9,9/9,9,9,9,9,9,9,9,9/0,0/-,-/0: "
            "both rows of holes, stores, tuzdyks (1-8 or -), side"
        )
    south, north, stores, tuzdyks, side = text.split("/")
    counts = [int(seeds) for part in (south, north, stores) for seeds in part.split(",")]
    if sum(counts) > SEEDS or (strict and sum(counts) != SEEDS):
        raise BadText(f"a Toguz Kumalak board has {SEEDS} seeds, {text!r} has {sum(counts)}")
    row[HOLES : HOLES + ALL + 2] = counts
    row[MOVER] = int(side)
    numbers = tuzdyks.split(",")
    if numbers[0] == numbers[1] != "-":
        raise BadText(f"both tuzdyks of {text!r} have the same number, which the rules forbid")
    for player, number in enumerate(numbers):
        row[TUZDYKS + player] = NONE if number == "-" else SIDE * (1 - player) + int(number) - 1
        if number != "-" and row[HOLES + row[TUZDYKS + player]]:
            raise BadText(f"a tuzdyk holds no seeds, in {text!r} one does")


def move_text(row: np.ndarray) -> str:
    """The last move as published games write it: hole, last hole, then nothing, `X` or the store in brackets."""
    taken = int(row[TAKEN])
    suffix = "X" if taken == NONE else f"({taken})" if taken else ""
    return f"{row[LAST_ACTION] + 1}{row[LAST_HOLE] % SIDE + 1}{suffix}"


def read_move(row: np.ndarray, player: int, text: str) -> bool:
    """The row's last move is the player's of that text; False if it does not agree with stores and tuzdyks.

    On which side it ended is told by what it took; if it took nothing, the nearer hole of that number is assumed.
    """
    match = MOVE_TEXT.fullmatch(text)
    if not match:
        return False
    hole, last = int(match[1]) - 1, int(match[2]) - 1
    own = not match[3] and last > hole
    place = SIDE * (player if own else 1 - player) + last
    if match[3] == "X" and row[TUZDYKS + player] != place:
        return False
    if match[4] and (int(match[4]) != row[STORES + player] or row[HOLES + place]):
        return False
    row[LAST_ACTION], row[LAST_PLAYER], row[LAST_HOLE] = hole, player, place
    row[TAKEN] = NONE if match[3] == "X" else int(match[4] or 0)
    return True


def spellings(text: str) -> tuple[str, ...]:
    """A move with its suffix, without it, and as the hole alone."""
    return text, text[:2], text[:1]


def drawn(row: np.ndarray) -> dict[str, Any]:
    """What a drawing shows of the row, as arguments of the drawing functions."""
    last = None
    if row[LAST_PLAYER] != NONE:
        last = (int(row[LAST_ACTION] + SIDE * row[LAST_PLAYER]), int(row[LAST_HOLE]))
    return {
        "holes": row[HOLES : HOLES + ALL].tolist(),
        "stores": row[STORES : STORES + 2].tolist(),
        "tuzdyks": [None if hole == NONE else int(hole) for hole in row[TUZDYKS : TUZDYKS + 2]],
        "mover": None if row[END] else int(row[MOVER]),
        "last": last,
        "caption": caption(row),
    }


GAME: Final = Game(
    name="toguz_kumalak",
    title="Toguz Kumalak",
    number=TOGUZ_KUMALAK,
    actions=rules.ACTIONS,
    row_size=rules.ROW,
    observation=OBSERVED,
    options=OPTIONS,
    endings=("repetition_limit", "quiet_limit"),
    history_limit="quiet_limit",
    counters={"quiet": QUIET, "ply": PLY},
    reversible="quiet",
    plies_a_turn=1,
    opening_plies=6,
    write_options=write_options,
    read_options=read_options,
    board_text=board_text,
    read_board=read_board,
    move_text=move_text,
    read_move=read_move,
    spellings=spellings,
    drawn=drawn,
    manual=filled_manual(MANUAL, OBSERVED, rules.ACTIONS, OPTIONS),
)
