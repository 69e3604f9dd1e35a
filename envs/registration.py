"""The games under the ids `spieltisch/oware-v0` (PettingZoo) and `spieltisch/Oware-v0` (Gymnasium)."""

import gymnasium

from envs.games import GAMES


def gymnasium_id(game: str) -> str:
    """The game's id in Gymnasium's registry."""
    return f"spieltisch/{''.join(word.capitalize() for word in game.split('_'))}-v0"


def register_gymnasium() -> None:
    """Gymnasium knows every game: one agent against an opponent named by a spec string."""
    for game in GAMES:
        if gymnasium_id(game) not in gymnasium.registry:
            gymnasium.register(
                id=gymnasium_id(game),
                entry_point="agents.gym_env:make",
                vector_entry_point="agents.gym_env:make_vector",
                kwargs={"game": game},
            )


def register_pettingzoo() -> None:
    """PettingZoo knows every game, where it has a registry."""
    try:
        from pettingzoo import aec_registry, register
    except ImportError:  # PettingZoo before 1.26
        return
    for game in GAMES:
        if f"spieltisch/{game}-v0" not in aec_registry:
            register("aec", f"spieltisch/{game}-v0", f"envs.{game}_v0:env")
