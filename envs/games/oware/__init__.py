"""Oware (Abapa): its record, its texts and its manual page."""

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from envs.engine.game import Choice, Field, Game, Limit, OptionValue, filled_manual
from envs.engine.header import END, LAST_ACTION, LAST_PLAYER, MAX_LIMIT, MOVER, OWARE, PLY
from envs.errors import BadText
from envs.games.captions import caption
from envs.games.oware import rules
from envs.games.oware.ascii import LETTERS
from envs.games.oware.rules import HOUSES, QUIET, SEEDS, SIDES, STORES

GRAND_SLAMS: Final = ("forfeit", "illegal", "capture")
BOARD_TEXT: Final = re.compile(r"(\d{1,2}-){14}[SN]", re.ASCII)

OBSERVED: Final = (
    Field("own_houses", HOUSES, SEEDS, "seeds in the player's houses 1-6"),
    Field("other_houses", HOUSES, SEEDS, "seeds in the opponent's houses 1-6"),
    Field("own_store", 1, SEEDS, "seeds in the player's store"),
    Field("other_store", 1, SEEDS, "seeds in the opponent's store"),
    Field("quiet", 1, MAX_LIMIT, "plies since the last harvest"),
    Field("occurrences", 1, 9, "how often this position has stood on the board, now included", low=1),
    Field("to_move", 1, 1, "1 if the player is to move"),
)
OPTIONS: Final = (
    Limit("repetition_limit", 3, 2, 9, "the occurrence of a position that ends the game"),
    Limit("quiet_limit", 160, 1, MAX_LIMIT, "plies in a row without a harvest that end the game"),
    Choice(
        "grand_slam",
        "forfeit",
        GRAND_SLAMS,
        "what a harvest of all the opponent's seeds does: nothing is taken; the move is illegal unless there is no other; "
        "or everything is taken",
    ),
)

MANUAL: Final = """Oware (Abapa), the sowing game of West Africa, for two.

## Description
Two rows of six houses, four seeds in each, and a store a player. Houses are numbered 1 to 6 in sowing direction; after one's
own 6 comes the opponent's 1. A move empties one of the mover's houses and sows its seeds one by one counter-clockwise into
the following houses, skipping the house of origin on every lap. If the last seed makes two or three in an opponent's house,
these are taken, and going backwards every directly preceding opponent's house with two or three. A harvest that would take
*all* the opponent's seeds (a grand slam) is forfeited; the move stands. An opponent without seeds must be fed if possible.

## Observation
OBSERVATION

## Actions
`Discrete(6)`: action k sows the mover's house k + 1. As text: `A`-`F` for seat 0, `a`-`f` for seat 1.

## Rewards
+1 to the winner and -1 to the loser in the step that ends the game, 0 and 0 for a draw and in every other step.

## Start
Four seeds in every house; `player_0` moves first.

## End
After each move, in this order: more than 24 seeds in a store (`majority`) or 24 in each (`even_split`); the player to move
has no legal move (`no_moves`); the position has occurred `repetition_limit` times (`repetition`); `quiet_limit` plies in a row
without a harvest (`quiet_limit`). In the last three cases each side keeps the seeds on its own side; more seeds win.
The reason stands in `infos[agent]["end"]`, the final scores in `infos[agent]["scores"]`.

## Options
OPTIONS

## Version history
v0: initial version.
"""


def write_options(row: np.ndarray, options: Mapping[str, Any]) -> None:
    """The row plays under these options."""
    slam = GRAND_SLAMS.index(options["grand_slam"])
    row[rules.LIMITS] = rules.packed_options(options["repetition_limit"], options["quiet_limit"], slam)


def read_options(row: np.ndarray) -> dict[str, OptionValue]:
    """The options that the row plays under."""
    return {
        "repetition_limit": int(rules.repetition_limit(row)),
        "quiet_limit": int(rules.quiet_limit(row)),
        "grand_slam": GRAND_SLAMS[rules.grand_slam(row)],
    }


def houses_of(row: np.ndarray) -> list[int]:
    """Seeds in seat 0's houses 1-6, then in seat 1's."""
    return [int(rules.seeds_in(row[SIDES + player], house)) for player in range(2) for house in range(HOUSES)]


def stores_of(row: np.ndarray) -> list[int]:
    """Seeds in both stores."""
    return [int(row[STORES]), int(row[STORES + 1])]


def board_text(row: np.ndarray) -> str:
    """Houses, stores and the side to move: `4-4-4-4-4-4-4-4-4-4-4-4-0-0-S`."""
    return "-".join(map(str, houses_of(row) + stores_of(row))) + "-" + "SN"[row[MOVER]]


def read_board(text: str, row: np.ndarray, strict: bool) -> None:
    """The row has houses, stores and mover of the text. Raises `BadText`; only a strict reader insists on 48 seeds."""
    if not BOARD_TEXT.fullmatch(text):
        raise BadText(f"not an Oware board: {text!r}; it reads like 4-4-4-4-4-4-4-4-4-4-4-4-0-0-S: 12 houses, 2 stores, S or N")
    *numbers, side = text.split("-")
    counts = [int(number) for number in numbers]
    total = sum(counts)
    if total > SEEDS or (strict and total != SEEDS):
        raise BadText(f"an Oware board has {SEEDS} seeds, {text!r} has {total}")
    for player in range(2):
        houses = counts[HOUSES * player : HOUSES * (player + 1)]
        row[SIDES + player] = sum(seeds << 8 * house for house, seeds in enumerate(houses))
        row[STORES + player] = counts[2 * HOUSES + player]
    row[MOVER] = "SN".index(side)


def move_text(row: np.ndarray) -> str:
    """The last move: `A`-`F` for seat 0's houses, `a`-`f` for seat 1's."""
    return LETTERS[row[LAST_PLAYER]][row[LAST_ACTION]]


def read_move(row: np.ndarray, player: int, text: str) -> bool:
    """The row's last move is the player's of that text; False if it has no such house."""
    if len(text) != 1 or text not in LETTERS[player]:
        return False
    row[LAST_ACTION], row[LAST_PLAYER] = LETTERS[player].index(text), player
    return True


def drawn(row: np.ndarray) -> dict[str, Any]:
    """What a drawing shows of the row, as arguments of the drawing functions."""
    last = int(row[LAST_ACTION]) + HOUSES * int(row[LAST_PLAYER]) if row[LAST_PLAYER] >= 0 else None
    return {
        "houses": houses_of(row),
        "stores": stores_of(row),
        "mover": None if row[END] else int(row[MOVER]),
        "last_house": last,
        "caption": caption(row),
    }


GAME: Final = Game(
    name="oware",
    title="Oware",
    number=OWARE,
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
    drawn=drawn,
    manual=filled_manual(MANUAL, OBSERVED, rules.ACTIONS, OPTIONS),
)
