"""The registered Gymnasium environments: `envs.adapters.gym`'s, with the opponent given as a spec string."""

from typing import Any

from agents.spec import make_agent
from envs.adapters.gym import OpponentEnv, OpponentVectorEnv


def make(game: str, opponent: str = "random", **settings: Any) -> OpponentEnv:
    """One learner against the agent that the spec names; `settings` as of `OpponentEnv`, rules' options included."""
    return OpponentEnv(game, _agent(opponent, game, settings), **settings)


def make_vector(game: str, opponent: str = "random", num_envs: int = 1, **settings: Any) -> OpponentVectorEnv:
    """Many learners against the agent that the spec names; `settings` as of `OpponentVectorEnv`."""
    return OpponentVectorEnv(game, _agent(opponent, game, settings), num_envs=num_envs, **settings)


def _agent(opponent: str, game: str, settings: dict[str, Any]) -> Any:
    rules = {name: value for name, value in settings.items() if name not in ("seat", "illegal", "render_mode")}
    return make_agent(opponent, game, rules)
