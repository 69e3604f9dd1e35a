"""Two-player board games as reinforcement-learning environments. Importing it registers them with Gymnasium and PettingZoo."""

from typing import Any

from envs.engine.header import EndReason
from envs.engine.position import Position
from envs.engine.vector import VectorGames
from envs.errors import BadConfig, BadOption, BadSpec, BadText, IllegalMove
from envs.games import GAMES as _GAMES
from envs.registration import register_gymnasium, register_pettingzoo

__all__ = [
    "GAME_NAMES",
    "BadConfig",
    "BadOption",
    "BadSpec",
    "BadText",
    "EndReason",
    "IllegalMove",
    "Position",
    "VectorGames",
    "start",
]

GAME_NAMES: tuple[str, ...] = tuple(_GAMES)

register_gymnasium()
register_pettingzoo()


def start(game: str, **options: Any) -> Position:
    """The start position of a game under its default options, those given excepted. Raises `BadOption`."""
    return Position.start(game, **options)
