"""The weights of the tuned evaluation, as `agents.minimax.tune` wrote them."""

import json
import os
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents.minimax.features import FEATURE_NAMES
from envs.errors import BadConfig
from envs.files import write_file
from envs.games import find_game

FOLDER: Final = Path(__file__).with_suffix("")


def weights_file(game: str) -> Path:
    """Where the weights that come with the project are."""
    return FOLDER / f"{find_game(game).name}.json"


def load_weights(game: str, path: str | os.PathLike[str] | None = None) -> np.ndarray:
    """int64[F]: the weights that come with the project, or those of a file, in the order of `FEATURE_NAMES`.

    Raises `BadConfig` unless the file has a whole number for each of the game's features, and no others.
    """
    file = weights_file(game) if path is None else Path(path)
    try:
        content: Any = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadConfig(f"cannot read weights from {str(file)!r}: {' '.join(str(error).split())}") from None
    known = FEATURE_NAMES[find_game(game).name]
    if not isinstance(content, dict) or content.get("game") != game or not isinstance(content.get("features"), dict):
        raise BadConfig(f"{str(file)!r} holds no weights of {game}")
    given = content["features"]
    if wrong := sorted(set(known) ^ set(given)):
        raise BadConfig(f"{str(file)!r} must have exactly {game}'s features; unknown or missing: {', '.join(wrong)}")
    if wrong := [name for name in known if type(given[name]) is not int]:
        raise BadConfig(f"{str(file)!r} must have whole numbers as weights, not {given[wrong[0]]!r} for {wrong[0]}")
    return np.array([given[name] for name in known], np.int64)


def write_weights(path: str | os.PathLike[str], game: str, weights: np.ndarray, origin: dict[str, Any]) -> None:
    """The file holds the weights int64[F] and where they come from."""
    features = dict(zip(FEATURE_NAMES[game], map(int, weights), strict=True))
    write_file(path, json.dumps({"game": game, "features": features, "origin": origin}, indent=1) + "\n")
