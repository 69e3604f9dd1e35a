"""From the settings of a spec string to the player that searches a tree."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agents.mcts import plain
from agents.mcts.agent import MCTSAgent, Search
from agents.mcts.room import bytes_of, machine_bytes
from envs.engine.game import Game
from envs.errors import BadSpec
from envs.games import find_game
from envs.numbers import read_number

MAX_SIMULATIONS: Final = 1_000_000
MAX_BATCH: Final = 1024
PARTS: Final = ("simulations", "network", "batch", "c", "leaf", "temperature", "noise")


def make_mcts(
    spec: str, parts: Mapping[str, str], game: str, options: Mapping[str, object], threads: int, network: Path | None
) -> MCTSAgent:
    """The player of these settings, guided by the network of a file if there is one. Raises `BadSpec`."""
    record = find_game(game)
    if "simulations" not in parts:
        raise BadSpec(f"{spec!r} needs simulations; it reads mcts:simulations=N[,network=TARGET]")
    simulations = _whole(spec, parts, "simulations", 1, MAX_SIMULATIONS)
    temperature = _real(spec, parts, "temperature", 100, 0.0)
    for name in ("batch", "noise") if network is None else ("leaf",):
        if name in parts:
            raise BadSpec(f"{name} in {spec!r} is for searches {'with' if network is None else 'without'} a network")
    _check_memory(spec, record, simulations, 1 if network else threads, network is not None)
    name = canonical(spec, parts)
    if network is None:
        return MCTSAgent(name, _plain_search(spec, parts, record, simulations, threads), temperature)
    return MCTSAgent(name, _network_search(spec, parts, record, options, simulations, threads, network), temperature)


def canonical(spec: str, parts: Mapping[str, str]) -> str:
    """The spec with its settings in the order of `PARTS`."""
    return f"{spec.partition(':')[0]}:{','.join(f'{name}={parts[name]}' for name in PARTS if name in parts)}"


def _plain_search(spec: str, parts: Mapping[str, str], game: Game, simulations: int, threads: int) -> Search:
    leaf = parts.get("leaf", plain.LEAVES[0])
    if leaf not in plain.LEAVES:
        raise BadSpec(f"leaf in {spec!r} must be {' or '.join(plain.LEAVES)}")
    return plain.PlainSearch(game, simulations, _real(spec, parts, "c", 100, plain.C), leaf, threads)


def _network_search(
    spec: str, parts: Mapping[str, str], game: Game, options: Mapping[str, object], simulations: int, threads: int, file: Path
) -> Search:
    batch = _whole(spec, parts, "batch", 1, MAX_BATCH)
    noise = _real(spec, parts, "noise", 1, 0.0)
    try:
        from agents.mcts import network
        from agents.policy import PolicyAgent
    except ImportError as error:
        raise BadSpec(f"{spec!r} needs the extra 'train': pip install 'spieltisch[train]' ({error})") from None

    c = _real(spec, parts, "c", 100, network.C)
    policy = PolicyAgent.from_file(spec, file, game.name, options)
    return network.NetworkSearch(game, policy.network, simulations, c, batch, noise, threads)


def _check_memory(spec: str, game: Game, simulations: int, trees: int, network: bool) -> None:
    needed, there = trees * bytes_of(game, simulations, network), machine_bytes()
    if needed > there:
        raise BadSpec(f"{spec!r} needs {needed >> 20:,} MB for its tables; the machine has {there >> 20:,} MB")


def _whole(spec: str, parts: Mapping[str, str], name: str, low: int, high: int) -> int:
    """The setting, the lowest value if it is not given."""
    number = read_number(parts.get(name, str(low)))
    if number is None or not low <= number <= high:
        raise BadSpec(f"{name} in {spec!r} must be a whole number from {low} to {high}")
    return number


def _real(spec: str, parts: Mapping[str, str], name: str, high: float, default: float) -> float:
    try:
        number = float(parts.get(name, default))
    except ValueError:
        number = -1.0
    if not 0 <= number <= high:
        raise BadSpec(f"{name} in {spec!r} must be a number from 0 to {high}")
    return number
