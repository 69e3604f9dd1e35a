"""What the tests of any game share: option sets, positions in mid-game, and batches compared array by array."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numba
import numpy as np

import envs
from envs import Position, VectorGames
from envs.engine.game import Choice, Game, Option, OptionValue, Switch
from envs.engine.header import CHANCE
from envs.errors import BadOption
from envs.games import find_game

ARRAYS = (
    "observation",
    "action_mask",
    "mover",
    "rewards",
    "gains",
    "ended",
    "end_reason",
    "final_observation",
    "final_scores",
    "final_plies",
    "rows",
    "histories",
    "running",
)


def snapshot(games: VectorGames) -> dict[str, np.ndarray]:
    """Copies of all arrays of a batch."""
    return {name: getattr(games, name).copy() for name in ARRAYS}


def assert_equal(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    """Two snapshots hold the same, array by array."""
    for name in ARRAYS:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def assert_same_future(one: VectorGames, other: VectorGames, steps: int) -> None:
    """Both batches show the same now and after every step at random, and draw the same random actions."""
    assert_equal(snapshot(one), snapshot(other))
    for _ in range(steps):
        actions = one.random_actions()
        np.testing.assert_array_equal(actions, other.random_actions())
        one.step(actions)
        other.step(actions)
        assert_equal(snapshot(one), snapshot(other))


def option_values(option: Option) -> list[OptionValue]:
    """The values of an option worth trying: all words of a choice, off and on, and where a limit turns."""
    if isinstance(option, Choice):
        return list(option.choices)
    if isinstance(option, Switch):
        return [False, True]
    return sorted({0, option.low, option.low + 1, option.default, option.high})


def option_sets(name: str, batch: bool) -> list[dict[str, Any]]:
    """The defaults, then every option at every other value worth trying, as far as the game takes it alone."""
    game = find_game(name)
    tried: list[dict[str, Any]] = [{}]
    tried += [{option.name: value} for option in game.options for value in option_values(option) if value != option.default]
    return [options for options in tried if _taken(game, options, batch)]


def _taken(game: Game, options: dict[str, Any], batch: bool) -> bool:
    try:
        game.checked_options(options, batch)
    except BadOption:
        return False
    return True


def as_dealt(position: Position, there: Position) -> Position:
    """The position; where it waits for a draw, with the one dealt that another game like it was dealt, which stands there."""
    if position.mover != CHANCE:
        return position
    dealt = [position.play(draw) for draw in position.legal_actions()]
    assert there in dealt, f"none of the draws of {position} leads to {there}"
    return there


def few(game: str, count: int) -> int:
    """So many, but a twelfth of them where kernels are plain Python and the game has hundreds of actions."""
    slow = numba.config.DISABLE_JIT and find_game(game).actions > 100
    return -(-count // 12) if slow else count


def random_line(position: Position, seed: int, plies: int = 10**6) -> list[Position]:
    """The position and all that follow it in one random game, to its end or so many plies and deals far."""
    rng = np.random.default_rng(seed)
    line = [position]
    while not line[-1].end and len(line) <= plies:
        line.append(line[-1].play(int(rng.choice(line[-1].legal_actions()))))
    return line


def random_game(game: str, seed: int, **options: Any) -> list[Position]:
    """All positions of one random game."""
    return random_line(envs.start(game, **options), seed)


def some_of(line: list[Position], count: int) -> list[Position]:
    """About so many positions of a line, the first and the last among them."""
    step = max(1, len(line) // count)
    return [*islice(line, 0, len(line) - 1, step), line[-1]]


def played_on(games: VectorGames, steps: int) -> VectorGames:
    """The batch, after so many random steps."""
    for _ in range(steps):
        games.step(games.random_actions())
    return games


def with_masked_actions(game: str, games: int = 8, **arguments: Any) -> VectorGames:
    """A batch in which every game has an action that is not legal."""
    batch = VectorGames(game, games, **arguments)
    for _ in range(1000):
        if not batch.action_mask.all(axis=1).any():
            return batch
        batch.step(batch.random_actions())
    raise AssertionError(f"1000 random plies of {game} without a masked action in every game")


def facts(position: Position) -> tuple[Any, ...]:
    """All that a position tells."""
    return (
        position.full_text,
        position.options,
        position.mover,
        position.ply,
        position.occurrences,
        position.end,
        position.result,
        position.scores,
        position.last_move,
        position.legal_moves(),
        position.action_mask().tolist(),
        position.observation(0).tolist(),
        position.observation(1).tolist(),
    )
