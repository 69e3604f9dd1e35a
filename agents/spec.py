"""Spec strings: how configs, commands and notebooks name an agent."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from agents.agent import Agent
from envs.errors import BadSpec
from envs.games import find_game
from envs.numbers import read_number

Options: TypeAlias = Mapping[str, object]
Parts: TypeAlias = dict[str, str]

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

    return make_minimax(spec, _read_parts(spec, rest.split(",") if rest else [], PARTS), game, options, threads)


def _make_mcts(spec: str, rest: str, game: str, options: Options, threads: int) -> Agent:
    from agents.mcts.spec import PARTS, make_mcts

    parts = _read_parts(spec, rest.split(",") if rest else [], PARTS)
    network = network_file(parts["network"]) if parts.get("network") else None
    return make_mcts(spec, parts, game, options, threads, network)


def _make_ppo(spec: str, rest: str, game: str, options: Options, threads: int) -> Agent:
    target, *words = rest.split(",")
    if not target:
        raise BadSpec(f"{spec!r} names no network; it reads {KNOWN['ppo']}")
    parts = _read_parts(spec, words, ("temperature",))
    try:
        temperature = float(parts.get("temperature", "0"))
    except ValueError:
        temperature = -1.0
    if not 0 <= temperature <= 100:
        raise BadSpec(f"temperature in {spec!r} must be a number from 0 to 100")
    try:
        from agents.policy import PolicyAgent
    except ImportError as error:
        raise BadSpec(f"{spec!r} needs the extra 'train': pip install 'spieltisch[train]' ({error})") from None

    return PolicyAgent.from_file(spec, network_file(target), game, options, temperature)


def _make_openspiel(spec: str, rest: str, game: str, options: Options, threads: int) -> Agent:
    parts = _read_parts(spec, rest.split(",") if rest else [], ("simulations", "c"))
    simulations = read_number(parts.get("simulations", ""))
    if simulations is None or not 2 <= simulations <= MAX_SIMULATIONS:
        raise BadSpec(f"simulations in {spec!r} must be a whole number from 2 to {MAX_SIMULATIONS}")
    try:
        exploration = float(parts.get("c", "2"))
    except ValueError:
        exploration = -1.0
    if not 0 <= exploration <= 100:
        raise BadSpec(f"c in {spec!r} must be a number from 0 to 100")
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


def _no_parts(spec: str, rest: str) -> None:
    if rest:
        raise BadSpec(f"{spec.partition(':')[0]!r} takes no settings, got {spec!r}")


def _read_parts(spec: str, words: list[str], known: tuple[str, ...]) -> Parts:
    """The `key=value` words of a spec. Raises `BadSpec` for unknown, repeated or malformed ones."""
    parts: Parts = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in known:
            raise BadSpec(f"{word!r} in {spec!r} is not understood; known are {', '.join(f'{key}=' for key in known)}")
        if name in parts:
            raise BadSpec(f"{name} is given twice in {spec!r}")
        parts[name] = value
    return parts
