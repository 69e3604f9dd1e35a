"""Measures the training loop beside what bounds it: the network's own forward and backward passes."""

import json
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, Final

import torch

from agents.network import Seen
from envs import cli
from envs.adapters.sb3 import SelfPlayVecEnv
from training.config import Config, load_config
from training.learner import SelfPlayPPO, make_games, make_learner, prepare_torch

WARM_UP: Final = 1  # updates that are not counted


def measure(config: Config, updates: int) -> dict[str, Any]:
    """Seconds a ply of collecting, updating, the games alone and the network alone, all in this run.

    The network alone makes, for every ply, one forward pass in batches of `games` and then `epochs` forward and backward
    passes in minibatches, split over the same threads, with the plainest loss.
    """
    prepare_torch()
    env = make_games(config)
    learner = make_learner(env, config)
    learner._setup_learn(config.plies, None)
    times = {"collecting": 0.0, "updating": 0.0, "network": 0.0, "games": 0.0}
    for number in range(WARM_UP + updates):
        parts: dict[str, Callable[[], None]] = {
            "collecting": learner.collect,
            "updating": learner.train,
            "network": lambda: _network_alone(learner, config),
            "games": lambda: _games_alone(env, config),
        }
        for name, part in parts.items():
            began = time.perf_counter()
            part()
            if number >= WARM_UP:
                times[name] += time.perf_counter() - began
    plies = updates * config.plies_per_update
    loop = times["collecting"] + times["updating"]
    return {
        "game": config.game,
        "threads": config.threads,
        "plies_per_second": round(plies / loop),
        "network_alone_plies_per_second": round(plies / times["network"]),
        "loop_over_network": round(loop / times["network"], 2),
        "games_share": round(times["games"] / loop, 4),
        "microseconds_a_ply": {name: round(1e6 * passed / plies, 2) for name, passed in times.items()},
    }


def _network_alone(learner: SelfPlayPPO, config: Config) -> None:
    """The passes of one update have been made and thrown away."""
    seen, actions, *_ = learner.rollout_buffer.plies()
    network = learner.policy.network.train()
    parameters = list(network.parameters())

    def forward(seen: Seen, actions: torch.Tensor) -> None:
        with torch.no_grad():
            network.judge(seen, actions)

    def forward_and_backward(seen: Seen, actions: torch.Tensor) -> None:
        judged = network.judge(seen, actions)
        torch.autograd.grad(judged.values.sum() + judged.chances.sum(), parameters, allow_unused=True)

    for size, function in [(config.games, forward)] + [(config.batch_size, forward_and_backward)] * config.epochs:
        for batch in zip(*(part.tensor_split(len(seen) // size) for part in (seen, actions)), strict=True):
            learner.policy.parts(function, *batch)


def _games_alone(env: SelfPlayVecEnv, config: Config) -> None:
    """As many plies as an update needs, played at random."""
    for _ in range(config.plies_per_update // config.games):
        env.step(env.games.random_actions())


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; see its `--help`."""
    parser = cli.make_parser(
        "training.benchmark",
        "Measures plies per second of the training loop, and in the same run of the network's own passes, which bound it.\n"
        "Give it an idle machine.",
    )
    parser.add_argument("--config", default="oware_quick", metavar="FILE", help="a YAML file or a shipped config's name")
    parser.add_argument("--updates", type=cli.whole_number(1, 10_000), default=8, help="updates to measure (default 8)")
    parser.add_argument(
        "--connect-four",
        action="store_true",
        help="measure PettingZoo's connect four under MaskablePPO's own settings too (half a minute)",
    )
    parser.add_argument("override", nargs="*", metavar="KEY=VALUE", help="replaces a value of the config")
    given = parser.parse_intermixed_args(arguments)
    if given.connect_four and find_spec("pygame") is None:
        parser.error("--connect-four needs the extra 'render': pip install 'spieltisch[render]' (there is no pygame)")
    measured = measure(load_config(given.config, given.override), given.updates)
    if given.connect_four:
        from training.connect_four import ROLLOUT, plies_per_second  # that game imports pygame

        measured["connect_four_plies_per_second"] = round(plies_per_second(2 * ROLLOUT))
    print(json.dumps(measured, indent=1))
    return 0


if __name__ == "__main__":
    cli.run(main, "training.benchmark")
