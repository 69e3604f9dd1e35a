"""The commands that make what is published once more."""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, Final

from envs.games import find_game
from training.config import load_config

MADE_UP: Final = ("seed", "run_dir")  # what of a config says nothing about the recipe
WHOLE: Final = "options"  # given as one value, like all that lies deeper than the parts of a config
COMMIT: Final = re.compile(r"([0-9a-f]{12})[0-9a-f]{28}")


def training_command(name: str, config: Mapping[str, Any]) -> str:
    """What trains a run of this config, which is the named one but for overrides. Raises `BadConfig` for an unknown name."""
    words = [f"seed={config['seed']}", *overrides(config, load_config(name).model_dump(mode="json"))]
    return f"python -m training.selfplay --config {name} {shlex.join(words)}"


def response_command(config: Mapping[str, Any]) -> str:
    """What trains a best response of this config. Raises `BadConfig`."""
    target, game = next(iter(config["league"]["opponents"])), config["game"]
    base = load_config(f"{game}_quick").model_dump(mode="json")
    base |= {"league": config["league"], "start": config["start"], "options": config["options"]}
    base["evaluation"] = {**base["evaluation"], "opponents": config["evaluation"]["opponents"]}
    words = [target if "," in target else target.removeprefix("ppo:")]
    words += [] if target.startswith("ppo:") else ["--game", game]
    if config["start"]:  # then the network's size follows from it
        words += ["--start", config["start"]]
        base["network"] = config["network"]
    return shlex.join(["python", "-m", "training.exploit", *words, f"seed={config['seed']}", *overrides(config, base)])


def match_command(result: Mapping[str, Any]) -> str:
    """What plays the matches of a result of `training.evaluate`."""
    game = find_game(result["game"])
    words = [result["game"], *result["agents"], "--games", str(result["games"])]
    words += ["--seed", str(result["seed"])] if result["seed"] else []
    words += ["--opening-plies", str(result["opening_plies"])] if result["opening_plies"] != game.opening_plies else []
    usual = game.checked_options({}, batch=True)
    for option, value in result["options"].items():
        words += ["--option", f"{option}={value}"] if value != usual[option] else []
    return shlex.join(["python", "-m", "training.evaluate", *words])


def overrides(config: Mapping[str, Any], base: Mapping[str, Any]) -> list[str]:
    """The words `key=value` that make the second config the first, but for `MADE_UP`."""
    words = []
    for key, value in config.items():
        usual = base.get(key)
        if isinstance(value, dict) and isinstance(usual, dict) and key != WHOLE:
            inner = {name: each for name, each in value.items() if each != usual.get(name)}
            words += [f"{key}.{name}={json.dumps(each)}" for name, each in inner.items()]
        elif key not in MADE_UP and value != usual:
            words.append(f"{key}={json.dumps(value)}")
    return words


def short_commit(commit: str) -> str:
    """Commits by twelve digits each, with what is said beside: changed files, and all that a resumed run has seen."""
    return COMMIT.sub(r"\1", commit)
