"""Symmetries of a game's board: the same position seen in a mirror, with its actions; nothing that decides the game changes.

A symmetry is a number of three bits, applied in this order: 1 mirrors left and right, 2 mirrors top and bottom, 4 swaps columns
and rows. So 0 changes nothing, and a board that is longer one way than the other has the first four only. Whose a piece is does
not change. Boards are those of observations: Uisge's has its first square at (0, 0); the box in which Eiyiu's tiles lie, with
the cell of a lifted one, has its lower left corner at (1, 1) before and after.
"""

from typing import Final

import numpy as np

from agents.network.eiyiu import CELL, CELLS, HAND, WIDTH
from agents.network.uisge import BOARD, DIRECTIONS, FILES, RANKS
from envs.engine.header import UISGE
from envs.engine.jit import entry, kernel
from envs.engine.kernels import Tag
from envs.games import find_game

SYMMETRIES: Final[dict[str, int]] = {"uisge": 4, "eiyiu": 8}  # how many a game's board has, itself included
LEFT_RIGHT: Final = 1
TOP_BOTTOM: Final = 2
DIAGONAL: Final = 4
ORIGIN: Final = HAND + 1  # where Eiyiu's observations name cells, plus one: the origin, and both seats' barred tiles
BARRED: Final = HAND + 3


def turned(game: str, observations: np.ndarray, masks: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Observations int16[B, O] and masks bool or int8 [B, A] through the symmetries `which` int64[B] names.

    The answers are new arrays. Raises `ValueError` for a game without symmetries, and for a number that names none.
    """
    seen, legal = np.ascontiguousarray(observations), np.ascontiguousarray(masks)
    turned_observations, turned_masks = np.empty_like(seen), np.empty_like(legal)
    given = seen, legal.view(np.int8), _checked(game, which)
    turn_batch(find_game(game).tag, *given, turned_observations, turned_masks.view(np.int8))
    return turned_observations, turned_masks


def turned_actions(game: str, observations: np.ndarray, actions: np.ndarray, which: np.ndarray) -> np.ndarray:
    """int64[B]: what actions int64[B] of the mover in observations int16[B, O] are through the symmetries.

    Raises what `turned` does.
    """
    answers = np.empty(len(actions), np.int64)
    given = np.ascontiguousarray(observations), np.ascontiguousarray(actions, np.int64), _checked(game, which)
    turn_actions(find_game(game).tag, *given, answers)
    return answers


def inverses(which: np.ndarray) -> np.ndarray:
    """int64[B]: the symmetries that undo those of `which`: only a quarter turn is not its own."""
    swapped = (which & TOP_BOTTOM) // TOP_BOTTOM * LEFT_RIGHT + (which & LEFT_RIGHT) // LEFT_RIGHT * TOP_BOTTOM
    return np.where(which & DIAGONAL, DIAGONAL + swapped, which)


def _checked(game: str, which: np.ndarray) -> np.ndarray:
    count = SYMMETRIES.get(game)
    if count is None:
        raise ValueError(f"the board of {game} has no symmetries; there are some in {', '.join(SYMMETRIES)}")
    if ((which < 0) | (which >= count)).any():
        raise ValueError(f"the symmetries of {game} are 0 to {count - 1}")
    return np.ascontiguousarray(which, np.int64)


@entry
def turn_batch(
    game: Tag,
    observations: np.ndarray,
    masks: np.ndarray,
    which: np.ndarray,
    turned_observations: np.ndarray,
    turned_masks: np.ndarray,
) -> None:
    """The last two hold what the first two are through the symmetries; masks are int8."""
    for index in range(len(observations)):
        symmetry, sums = which[index], mirrors(game, observations[index])
        turn_observation(game, observations[index], symmetry, sums, turned_observations[index])
        for action in range(masks.shape[1]):
            turned_masks[index, action] = 0
        for action in range(masks.shape[1]):
            if masks[index, action] != 0:
                turned_masks[index, turned_action(game, action, symmetry, sums)] = 1


@entry
def turn_actions(game: Tag, observations: np.ndarray, actions: np.ndarray, which: np.ndarray, answers: np.ndarray) -> None:
    """`answers` holds what the actions are through the symmetries."""
    for index in range(len(observations)):
        answers[index] = turned_action(game, actions[index], which[index], mirrors(game, observations[index]))


@kernel
def mirrors(game: Tag, observation: np.ndarray) -> tuple[int, int]:
    """What the columns of a cell and of its mirror image sum to, and their rows."""
    if len(game) == UISGE:
        return FILES - 1, RANKS - 1
    right, top = 1, 1  # with no tile on the board, the first one's cell is the box
    for cell in range(CELLS):
        if observation[cell] != 0:
            right = max(right, cell % WIDTH)
            top = cell // WIDTH
    if observation[ORIGIN] > 0:
        right = max(right, (int(observation[ORIGIN]) - 1) % WIDTH)
        top = max(top, (int(observation[ORIGIN]) - 1) // WIDTH)
    return 1 + right, 1 + top


@kernel
def turned_cell(cell: int, width: int, symmetry: int, sums: tuple[int, int]) -> int:
    """Where the symmetry takes a cell of a board that has so many columns."""
    column, row = cell % width, cell // width
    if symmetry & LEFT_RIGHT:
        column = sums[0] - column
    if symmetry & TOP_BOTTOM:
        row = sums[1] - row
    return width * column + row if symmetry & DIAGONAL else width * row + column


@kernel
def turned_action(game: Tag, action: int, symmetry: int, sums: tuple[int, int]) -> int:
    """The action that does the same on the turned board; what names no cell stays as it is."""
    if len(game) == UISGE:
        square, direction = action // DIRECTIONS, action % DIRECTIONS
        if square >= BOARD:
            return action
        if symmetry & LEFT_RIGHT:
            direction = -direction % DIRECTIONS
        if symmetry & TOP_BOTTOM:
            direction = (DIRECTIONS // 2 - direction) % DIRECTIONS
        return turned_cell(square, FILES, symmetry, sums) * DIRECTIONS + direction
    return action if action < CELL else CELL + turned_cell(action - CELL, WIDTH, symmetry, sums)


@kernel
def turn_observation(game: Tag, observation: np.ndarray, symmetry: int, sums: tuple[int, int], turned: np.ndarray) -> None:
    """`turned` holds the observation of the turned board."""
    cells, width = (BOARD, FILES) if len(game) == UISGE else (CELLS, WIDTH)
    for cell in range(cells):
        turned[cell] = 0
    for cell in range(cells):
        if observation[cell] != 0:
            turned[turned_cell(cell, width, symmetry, sums)] = observation[cell]
    for place in range(cells, len(observation)):
        turned[place] = observation[place]
    if len(game) != UISGE:
        for place in range(ORIGIN, BARRED + 1):
            if 0 < observation[place] <= CELLS:  # a tile in hand lies on no cell
                turned[place] = 1 + turned_cell(int(observation[place]) - 1, WIDTH, symmetry, sums)
