"""The games by name."""

from typing import Final

from envs.engine.game import Game
from envs.errors import BadOption
from envs.games.eiyiu import GAME as EIYIU
from envs.games.oware import GAME as OWARE
from envs.games.toguz_kumalak import GAME as TOGUZ_KUMALAK
from envs.games.uisge import GAME as UISGE

GAMES: Final[dict[str, Game]] = {game.name: game for game in (OWARE, TOGUZ_KUMALAK, UISGE, EIYIU)}


def find_game(name: str) -> Game:
    """The game of that name; `BadOption` lists the names if there is none."""
    if not isinstance(name, str) or name not in GAMES:
        raise BadOption(f"unknown game {name!r}; there are: {', '.join(GAMES)}")
    return GAMES[name]
