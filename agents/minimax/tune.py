"""Fits the weights of the tuned evaluation to the results of games."""

from envs.extras import need_extra

need_extra("train", "agents.minimax.tune")

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from agents.agent import Agent
from agents.minimax.agent import MAX_DEPTH, MinimaxAgent
from agents.minimax.evaluation import plain_balances
from agents.minimax.features import FEATURE_NAMES, features_of_rows
from agents.minimax.weights import weights_file, write_weights
from agents.spec import make_agent
from envs import cli
from envs.engine.header import MOVER, PLY
from envs.engine.vector import VectorGames
from envs.games import find_game

DEPTHS: Final = {"oware": 6, "toguz_kumalak": 4, "uisge": 3, "eiyiu": 2}
BATCH: Final = 256  # games side by side
OPENING_PLIES: Final = (2, 16)  # random plies that a game begins with
MISTAKES: Final = 0.05  # share of random plies after that
SAMPLED: Final = 0.5  # share of the other positions that are looked at
HELD_OUT: Final = 5  # one game in so many is for validation
PENALTY: Final = 1e-4  # of half the squared weights, features scaled to deviation 1
MILLI: Final = 1000
HALF_POINT: Final = 0.5


@dataclass(frozen=True)
class Samples:
    """Positions out of games, and how these ended.

    `rows` int64[N, row size] are running positions, `scores` float64[N] the mover's share of the point, 1 for a win and 0.5
    for a draw, and `games` int64[N] the number of the game they are from.
    """

    rows: np.ndarray
    scores: np.ndarray
    games: np.ndarray

    def where(self, chosen: np.ndarray) -> "Samples":
        """Those that `chosen` bool[N] marks."""
        return Samples(self.rows[chosen], self.scores[chosen], self.games[chosen])


@dataclass(frozen=True)
class Fit:
    """Weights float64[F] in logits, and their standard errors over games, as positions of a game are not independent."""

    weights: np.ndarray
    errors: np.ndarray


@dataclass(frozen=True)
class Tuned:
    """Weights int64[F] and their standard errors float64[F], in thousandths of a logit, and where they come from."""

    weights: np.ndarray
    errors: np.ndarray
    origin: dict[str, Any]


def play_games(game: str, agent: Agent, games: int, seed: int, progress: Progress | None = None) -> Samples:
    """Positions of so many games that the agent has played against itself.

    A game begins with some random plies and has a few later; positions are looked at where a ply was the agent's own.
    """
    rng = np.random.default_rng(seed)
    batch = VectorGames(game, min(BATCH, games), seed=seed)
    openings = rng.integers(*OPENING_PLIES, batch.num_games, endpoint=True)
    waiting: list[list[np.ndarray]] = [[] for _ in range(batch.num_games)]
    parts: list[Samples] = []
    task = progress.add_task(f"{agent.spec} plays", total=games) if progress else None
    while len(parts) < games:
        actions = batch.random_actions()
        own = np.flatnonzero((batch.rows[:, PLY] >= openings) & (rng.random(batch.num_games) >= MISTAKES))
        if len(own):
            seen = (batch.rows[own], batch.histories[own], batch.observation[own], batch.action_mask[own])
            actions[own] = agent.act(*seen, rng)
        for index in own[rng.random(len(own)) < SAMPLED]:
            waiting[index].append(batch.rows[index].copy())
        batch.step(actions)
        for index in np.flatnonzero(batch.ended):
            parts.append(_labelled(waiting[index], batch.rewards[index], len(parts)))
            waiting[index] = []
            openings[index] = rng.integers(*OPENING_PLIES, endpoint=True)
        if progress and task is not None:
            progress.update(task, completed=len(parts))
    kept = [part for part in parts[:games] if len(part.rows)]
    return Samples(*(np.concatenate([getattr(part, name) for part in kept]) for name in ("rows", "scores", "games")))


def _labelled(rows: list[np.ndarray], rewards: np.ndarray, number: int) -> Samples:
    """The positions of one game with its result."""
    movers = np.array([row[MOVER] for row in rows], np.int64)
    return Samples(np.array(rows), HALF_POINT * (1 + rewards[movers]), np.full(len(rows), number))


def features_of(game: str, rows: np.ndarray) -> np.ndarray:
    """float64[N, F]: the features of every position."""
    out = np.zeros((len(rows), len(FEATURE_NAMES[game])), np.int64)
    features_of_rows(find_game(game).tag, rows.copy(), out)
    return out.astype(np.float64)


def plain_of(game: str, rows: np.ndarray) -> np.ndarray:
    """float64[N, 1]: the plain evaluation of every position from the mover's side."""
    out = np.zeros(len(rows), np.int64)
    plain_balances(find_game(game).tag, rows.copy(), out)
    return (out * (1 - 2 * rows[:, MOVER])).astype(np.float64)[:, None]


def log_loss(features: np.ndarray, weights: np.ndarray, scores: np.ndarray) -> float:
    """The mean of minus the logarithm of the chance that the weights gave to what happened."""
    logits = features @ weights
    return float(-(scores * log_expit(logits) + (1 - scores) * log_expit(-logits)).mean())


def fit(features: np.ndarray, scores: np.ndarray, games: np.ndarray) -> Fit:
    """Logistic regression of the scores on the features, with a small penalty on large weights."""
    scale = features.std(axis=0)
    scale[scale == 0] = 1
    scaled = features / scale

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        slope = scaled.T @ (expit(scaled @ weights) - scores) / len(scores)
        return log_loss(scaled, weights, scores) + PENALTY * weights @ weights / 2, slope + PENALTY * weights

    options = {"maxiter": 1000, "ftol": 1e-13, "gtol": 1e-8}
    weights = minimize(loss, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B", options=options).x
    return Fit(weights / scale, _standard_errors(scaled, weights, scores, games) / scale)


def _standard_errors(features: np.ndarray, weights: np.ndarray, scores: np.ndarray, games: np.ndarray) -> np.ndarray:
    """The sandwich estimate (White 1982), the sums over a game taken as the independent observations."""
    chances = expit(features @ weights)
    curvature = (features * (chances * (1 - chances))[:, None]).T @ features + PENALTY * len(scores) * np.eye(len(weights))
    slopes = np.zeros((games.max() + 1, len(weights)))
    np.add.at(slopes, games, features * (chances - scores)[:, None])
    bread = np.linalg.inv(curvature)
    return np.sqrt(np.diag(bread @ (slopes.T @ slopes) @ bread))


def tune(game: str, samples: Samples) -> Tuned:
    """Weights fitted to the samples but for every fifth game, which tells how well they foretell results."""
    held_out = samples.games % HELD_OUT == 0
    known, unknown = samples.where(~held_out), samples.where(held_out)
    fitted = fit(features_of(game, known.rows), known.scores, known.games)
    weights = np.rint(MILLI * fitted.weights).astype(np.int64)
    plain = fit(plain_of(game, known.rows), known.scores, known.games)
    losses = {
        "log_loss": log_loss(features_of(game, unknown.rows), weights / MILLI, unknown.scores),
        "log_loss_plain": log_loss(plain_of(game, unknown.rows), plain.weights, unknown.scores),
    }
    origin = {"positions": len(samples.rows), **{name: round(loss, 4) for name, loss in losses.items()}}
    return Tuned(weights, MILLI * fitted.errors, origin)


def one_round(game: str, agent: Agent, games: int, seed: int, progress: Progress | None = None) -> Tuned:
    """Weights fitted to games that the agent has played against itself."""
    tuned = tune(game, play_games(game, agent, games, seed, progress))
    return replace(tuned, origin={"games": games, "players": agent.spec, **tuned.origin})


def in_rounds(game: str, depth: int, count: int, games: int, seed: int, progress: Progress | None = None) -> Tuned:
    """Weights after so many rounds: minimax has played with the plain evaluation, then with the weights of the round before."""
    seeds = np.random.SeedSequence(seed).generate_state(count)
    tuned = one_round(game, MinimaxAgent(game, depth), games, int(seeds[0]), progress)
    for number in seeds[1:]:
        tuned = one_round(game, MinimaxAgent(game, depth, weights=tuned.weights), games, int(number), progress)
    return tuned


def result_table(game: str, tuned: Tuned) -> Table:
    """Every feature with its weight."""
    table = Table(title=f"{game}: thousandths of a logit")
    table.add_column("feature")
    for heading in ("weight", "standard error"):
        table.add_column(heading, justify="right")
    for name, weight, error in zip(FEATURE_NAMES[game], tuned.weights, tuned.errors, strict=True):
        table.add_row(name, str(weight), f"{error:.1f}")
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see its `--help`."""
    parser = cli.make_parser(
        "agents.minimax.tune",
        "Fits the weights of minimax's tuned evaluation: a player plays itself, and a logistic regression says which\n"
        "features of the positions on the way foretold the results. One game in five is held out to measure how well.\n"
        "In the first round minimax plays with the plain evaluation, in later ones with the weights of the round before.",
    )
    parser.add_argument("game", metavar="GAME", help=f"one of: {cli.game_names()}")
    parser.add_argument(
        "--games", type=cli.whole_number(2 * HELD_OUT, 10_000_000), default=10_000, help="games a round (default 10000)"
    )
    depths = ", ".join(f"{game} {depth}" for game, depth in DEPTHS.items())
    parser.add_argument(
        "--depth", type=cli.whole_number(1, MAX_DEPTH), help=f"plies that minimax looks ahead (default: {depths})"
    )
    parser.add_argument("--rounds", type=cli.whole_number(1, 100), default=2, help="default 2")
    parser.add_argument("--players", metavar="SPEC", help="who plays, in the only round, instead of minimax")
    parser.add_argument("--seed", type=cli.whole_number(0), default=0, help="of all that is random (default 0)")
    parser.add_argument("--out", metavar="FILE", help="where the weights go (default: where the project keeps them)")
    given = parser.parse_args(arguments)
    game = find_game(given.game).name
    if given.depth and given.players:
        parser.error("--depth is minimax's; --players says who plays instead")
    out = given.out or str(weights_file(game))
    cli.check_writable(out)
    depth = given.depth or DEPTHS[game]
    words = ["--players", given.players] if given.players else ["--depth", str(depth), "--rounds", str(given.rounds)]
    command = ["python", "-m", "agents.minimax.tune", game, "--games", str(given.games), *words, "--seed", str(given.seed)]
    shown = Console(stderr=True)
    with Progress(console=shown, transient=True, disable=not shown.is_terminal) as progress:
        if given.players:
            tuned = one_round(game, make_agent(given.players, game), given.games, given.seed, progress)
        else:
            tuned = in_rounds(game, depth, given.rounds, given.games, given.seed, progress)
    write_weights(out, game, tuned.weights, {"command": shlex.join(command), **tuned.origin})
    console = Console(soft_wrap=True)
    console.print(result_table(game, tuned))
    losses = tuned.origin["log_loss"], tuned.origin["log_loss_plain"]
    console.print(f"log loss on held-out games {losses[0]}, {losses[1]} by the plain evaluation alone")
    return 0


if __name__ == "__main__":
    cli.run(main, "agents.minimax.tune")
