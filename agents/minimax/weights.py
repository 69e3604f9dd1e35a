"""The weights of the tuned evaluation, as `agents.minimax.tune` wrote them."""

import json
import os
from pathlib import Path
from typing import Any, Final

import numpy as np

from agents.minimax.features import FEATURE_NAMES, FEATURES
from envs.errors import BadConfig
from envs.files import write_file
from envs.games import find_game

FOLDER: Final = Path(__file__).with_suffix("")
PAGE_HEAD: Final = """\
# The tuned evaluations

What `minimax:nodes=N`, `minimax:time_ms=T` and `mcts:simulations=N,leaf=eval` count in a position, seen from the player to
move. Weights are millilogits: a sum of 1,000 are odds of e to 1 of winning (a draw is half a win). They were fitted by logistic
regression to results of games with random openings and a few random moves, by the command that stands below each table; run
again, it gives the same numbers. Weights that say the same thing share its worth, so a single one is not to be read as what its
feature is worth.
"""


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


def described() -> str:
    """The page docs/evaluation.md: what counts in every game, how much, and where the numbers come from."""
    return PAGE_HEAD + "".join(map(_section, FEATURES))


def _section(game: str) -> str:
    content = json.loads(weights_file(game).read_text(encoding="utf-8"))
    origin = content["origin"]
    rows = [f"| {name} | {content['features'][name]} | {what} |" for name, what in FEATURES[game].items()]
    return "\n".join(
        [
            f"\n## {find_game(game).title}\n",
            "| feature | weight | is |",
            "|---|---|---|",
            *rows,
            "",
            f"`{origin['command']}`: {origin['positions']:,} positions out of {origin['games']:,} games of "
            f"`{origin['players']}`, the players of the last round. "
            f"Log loss on games held out: {origin['log_loss']}; of the plain evaluation, scaled at its "
            f"best: {origin['log_loss_plain']}.\n",
        ]
    )
