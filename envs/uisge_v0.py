"""Uisge as a PettingZoo environment: `env()` is wrapped as the library wraps its own, `raw_env()` is the bare one."""

from typing import Any, ClassVar

from pettingzoo import AECEnv

from envs.adapters.aec import RENDER_MODES, GameEnv, Observation, wrapped
from envs.games.uisge import GAME


class raw_env(GameEnv):  # noqa: D101 (the manual page is the docstring)
    __doc__ = GAME.manual

    game_name = GAME.name
    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "name": "uisge_v0",
        "is_parallelizable": False,
        "render_fps": 2,
    }


def env(render_mode: str | None = None, **options: Any) -> AECEnv[str, Observation, int]:
    """The environment; an illegal action ends the game with -1 for who tried it. Options as in `raw_env`'s manual page."""
    return wrapped(raw_env(render_mode=render_mode, **options))
