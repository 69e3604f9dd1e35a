"""From the settings of a spec string to the player that searches a tree."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agents.mcts.agent import MCTSAgent, Search
from agents.mcts.plain import LEAVES, PlainSearch
from agents.mcts.room import bytes_of
from agents.settings import real_setting, whole_setting
from envs.engine.game import Game
from envs.engine.jit import available_threads
from envs.errors import BadSpec
from envs.games import find_game
from envs.machine import machine_bytes

MAX_SIMULATIONS: Final = 1_000_000
MAX_BATCH: Final = 1024
PLAIN_C: Final = 1.4
# In Oware with a shipped network, 200 simulations, 100 games each: 0.6 scored 61 % against 1.25 and 71 % against 2.5.
NETWORK_C: Final = 0.6
# Trained policies are nearly certain, so taken as they are they leave little to search. With the shipped networks, 200
# simulations and 200 games each, 3 scored 90 % against 1 in Oware and 75 % in Toguz Kumalak; 2 and 4 were about as good there.
PRIOR_TEMPERATURE: Final = 3.0
NETWORK_ONLY: Final = ("batch", "noise", "prior_temperature")
PLAIN_ONLY: Final = ("leaf",)


@dataclass(frozen=True)
class Settings:
    """What a spec says of the search. The fields are its words."""

    simulations: int
    network: str = ""  # plain without one
    batch: int = 1  # simulations of one game that may wait for the network together
    c: float = PLAIN_C  # weighs what is unknown against what looks good
    leaf: str = LEAVES[0]  # how plain simulations judge a new position
    temperature: float = 0.0
    noise: float = 0.0  # the share of a root's priors that is random
    prior_temperature: float = PRIOR_TEMPERATURE  # by which the network's logits are divided

    def words(self) -> str:
        """The spec, without what is so anyway."""
        usual = Settings(self.simulations, c=NETWORK_C if self.network else PLAIN_C)
        said = {name: value for name, value in vars(self).items() if name == "simulations" or value != getattr(usual, name)}
        return ",".join(f"{name}={str(value).removesuffix('.0')}" for name, value in said.items())


PARTS: Final = tuple(Settings.__dataclass_fields__)


def make_mcts(
    spec: str, parts: Mapping[str, str], game: str, options: Mapping[str, object], threads: int, file: Path | None
) -> MCTSAgent:
    """The player of these settings, guided by the network of a file if there is one. Raises `BadSpec`."""
    settings = _read(spec, parts)
    record = find_game(game)
    _check_memory(spec, record, settings, threads)
    if file is None:
        search: Search = PlainSearch(record, settings.simulations, settings.c, settings.leaf, threads)
    else:
        search = _network_search(spec, settings, record, options, threads, file)
    return MCTSAgent(f"mcts:{settings.words()}", search, settings.temperature)


def _read(spec: str, parts: Mapping[str, str]) -> Settings:
    network = parts.get("network", "")
    if "network" in parts and not network:
        raise BadSpec(f"{spec!r} names no network; it reads mcts:simulations=N[,network=TARGET]")
    if "simulations" not in parts:
        raise BadSpec(f"{spec!r} needs simulations; it reads mcts:simulations=N[,network=TARGET]")
    for name in PLAIN_ONLY if network else NETWORK_ONLY:
        if name in parts:
            raise BadSpec(f"{name} in {spec!r} is for searches {'without' if network else 'with'} a network")
    if parts.get("leaf", LEAVES[0]) not in LEAVES:
        raise BadSpec(f"leaf in {spec!r} must be {' or '.join(LEAVES)}")
    return Settings(
        simulations=whole_setting(spec, parts, "simulations", 1, MAX_SIMULATIONS),
        network=network,
        batch=whole_setting(spec, parts, "batch", 1, MAX_BATCH) if "batch" in parts else 1,
        c=real_setting(spec, parts, "c", 100, NETWORK_C if network else PLAIN_C),
        leaf=parts.get("leaf", LEAVES[0]),
        temperature=real_setting(spec, parts, "temperature", 100, 0.0),
        noise=real_setting(spec, parts, "noise", 1, 0.0),
        prior_temperature=real_setting(spec, parts, "prior_temperature", 100, PRIOR_TEMPERATURE, low=0.1),
    )


def _network_search(
    spec: str, settings: Settings, game: Game, options: Mapping[str, object], threads: int, file: Path
) -> Search:
    try:
        from agents.mcts.network import NetworkSearch
        from agents.policy import PolicyAgent
    except ImportError as error:
        raise BadSpec(f"{spec!r} needs the extra 'train': pip install 'spieltisch[train]' ({error})") from None

    network = PolicyAgent.from_file(spec, file, game.name, options).network
    guide = (settings.c, settings.batch, settings.noise, settings.prior_temperature)
    return NetworkSearch(game, network, settings.simulations, *guide, threads)


def _check_memory(spec: str, game: Game, settings: Settings, threads: int) -> None:
    """Raises `BadSpec` if the trees cannot fit: one a worker, or one at a time at least."""
    trees = 1 if settings.network else min(threads, available_threads())
    needed, there = trees * bytes_of(game, settings.simulations, bool(settings.network)), machine_bytes()
    if needed > there:
        raise BadSpec(f"{spec!r} needs {needed >> 20} MB for its trees, but the machine has {there >> 20} MB")
