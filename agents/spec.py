"""Spec strings: how configs, commands and notebooks name an agent."""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias

from agents.agent import Agent
from agents.settings import Settings, read_settings, real_setting, whole_setting
from envs.errors import BadSpec
from envs.games import find_game

Options: TypeAlias = Mapping[str, object]

MAX_SIMULATIONS: Final = 100_000  # of OpenSpiel, whose tree is made of Python objects

KNOWN: Final = {
    "random": "random",
    "greedy": "greedy",
    "minimax": "minimax:depth=N|nodes=N|time_ms=T",
    "mcts": "mcts:simulations=N[,network=TARGET]",
    "ppo": "ppo:TARGET[,temperature=T]",
    "openspiel_mcts": "openspiel_mcts:simulations=N[,c=C]",
    "human": "human",
}


def make_agent(spec: str, game: str, options: Options | None = None, threads: int = 1) -> Agent:
    """The agent that a spec names, for a game under these options. Raises `BadSpec`, saying what is wrong and what exists."""
    find_game(game)
    name, _, rest = spec.partition(":")
    if name not in KNOWN:
        raise BadSpec(f"unknown agent {spec!r}; there are: {', '.join(KNOWN.values())}")
    if rest == "" and ":" in spec:
        raise BadSpec(f"nothing follows the ':' in {spec!r}; it reads {KNOWN[name]}")
    return _MAKERS[name](spec, rest, game, options or {}, threads)


def _make_random(spec: str, rest: str, game: str, options: Options, threads: int) -> Agent:
    from agents.uniform import UniformAgent

    _no_parts(spec, rest)
    return UniformAgent()


def _make_greedy(spec: str, rest: str, game: str, options: Options, threads: int) -> Agent:
    from agents.greedy import GreedyAgent

    _no_parts(spec, rest)
    return GreedyAgent(game)


def _make_minimax(spec: str, rest: str, game: str, options: Options, threads: int) -> Agent:
    from agents.minimax.spec import PARTS, make_minimax

    return make_minimax(spec, _settings(spec, rest, PARTS), game, options, threads)


def _make_mcts(spec: str, rest: str, game: str, options: Options, threads: int) -> Agent:
    from agents.mcts.spec import PARTS, make_mcts

    settings = _settings(spec, rest, PARTS)
    network = network_file(settings["network"]) if settings.get("network") else None
    return make_mcts(spec, settings, game, options, threads, network)


def _make_ppo(spec: str, rest: str, game: str, options: Options, threads: int) -> Agent:
    target, *words = rest.split(",")
    if not target:
        raise BadSpec(f"{spec!r} names no network; it reads {KNOWN['ppo']}")
    settings = read_settings(spec, words, ("temperature",))
    temperature = real_setting(spec, settings, "temperature", 100, 0.0)
    try:
        from agents.policy import PolicyAgent
    except ImportError as error:
        raise BadSpec(f"{spec!r} needs the extra 'train': pip install 'spieltisch[train]' ({error})") from None

    return PolicyAgent.from_file(spec, network_file(target), game, options, temperature)


def _make_openspiel(spec: str, rest: str, game: str, options: Options, threads: int) -> Agent:
    settings = _settings(spec, rest, ("simulations", "c"))
    simulations = whole_setting(spec, settings, "simulations", 2, MAX_SIMULATIONS)
    exploration = real_setting(spec, settings, "c", 100, 2.0)
    try:
        from agents.openspiel import OpenSpielAgent
    except ImportError as error:
        raise BadSpec(f"{spec!r} needs OpenSpiel: pip install open_spiel ({error})") from None
    find_game(game).checked_options(options, batch=True)  # a random game must come to its end

    return OpenSpielAgent(game, simulations, exploration)


def _make_human(spec: str, rest: str, game: str, options: Options, threads: int) -> Agent:
    from agents.human import HumanAgent

    _no_parts(spec, rest)
    return HumanAgent(game)


_MAKERS: Final[dict[str, Callable[[str, str, str, Options, int], Agent]]] = {
    "random": _make_random,
    "greedy": _make_greedy,
    "minimax": _make_minimax,
    "mcts": _make_mcts,
    "ppo": _make_ppo,
    "openspiel_mcts": _make_openspiel,
    "human": _make_human,
}

SHIPPED: Final = Path(__file__).parent / "trained"
NETWORK_FILE: Final = "network.safetensors"
NETWORK: Final = re.compile(r"(?:ppo:|mcts:(?:.*,)?network=)(?P<target>[^,]+)")


def shipped_names() -> list[str]:
    """The trained agents that come with the project."""
    return sorted(path.stem for path in SHIPPED.glob("*.safetensors"))


def network_file(target: str) -> Path:
    """The file of a network named by a shipped agent's name, a run folder or a file. Raises `BadSpec`."""
    for path in (SHIPPED / f"{target}.safetensors", Path(target) / NETWORK_FILE, Path(target)):
        if path.is_file():
            return path
    names = ", ".join(shipped_names()) or "none"
    raise BadSpec(f"no network {target!r}: neither a file, nor a run folder with {NETWORK_FILE}, nor a shipped agent ({names})")


def network_digests(specs: Iterable[str]) -> dict[str, str]:
    """Of the networks that specs name and whose files are there, the first sixteen hex digits of each file's SHA-256."""
    digests = {}
    for target in sorted({match["target"] for spec in specs if (match := NETWORK.match(spec))}):
        with suppress(BadSpec):
            digests[target] = sha256(network_file(target).read_bytes()).hexdigest()[:16]
    return digests


def _no_parts(spec: str, rest: str) -> None:
    if rest:
        raise BadSpec(f"{spec.partition(':')[0]!r} takes no settings, got {spec!r}")


def _settings(spec: str, rest: str, known: tuple[str, ...]) -> Settings:
    return read_settings(spec, rest.split(",") if rest else [], known)
