"""What a training run is told: a YAML file, checked before anything starts."""

import difflib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError, field_validator, model_validator

from agents.network import CODES
from agents.network.symmetry import SYMMETRIES
from agents.spec import make_agent
from envs.errors import BadConfig, BadOption, BadSpec
from envs.games import find_game

CONFIGS: Final = resources.files("configs")
EXPONENT: Final = re.compile(r"[0-9]*\.?[0-9]+[eE][+-]?[0-9]{1,3}")


class Strict(BaseModel):
    """A part of a config: unknown keys and wrong types are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _has_plain_types(cls, data: Any) -> Any:
        """Reads 1e6, which YAML takes for text; refuses what would be a number only by goodwill: yes, and numbers in quotes."""
        read = dict(data) if isinstance(data, dict) else {}
        for name, value in read.items():
            kind = cls.model_fields[name].annotation if name in cls.model_fields else None
            numeric, switch = kind in (int, float), kind is bool
            if numeric and isinstance(value, str) and EXPONENT.fullmatch(value):
                read[name] = float(value)
            elif (isinstance(value, bool) and not switch) or (numeric and isinstance(value, str)):
                raise ValueError(f"{name}: must be a number, not {value!r}")
        return read or data


class NetworkConfig(Strict):
    """The network's size."""

    width: int = Field(256, ge=8, le=4096)  # numbers in a layer
    layers: int = Field(1, ge=0, le=32)  # residual layers behind the embedding
    encoding: Literal["counts", "relations"] = "relations"  # what it sees of an observation, see `agents.network.encoding`
    products: Literal["auto", "float32", "bfloat16"] = (
        "auto"  # in which an update multiplies; auto: bfloat16 if the processor does
    )


class EvaluationConfig(Strict):
    """How the run is measured while it goes on."""

    every_plies: PositiveInt = 3_000_000
    games: int = Field(100, ge=2, le=10_000)  # against each opponent; even, as seats are swapped
    final_games: int = Field(200, ge=2, le=10_000)  # the same, at the end
    opponents: tuple[str, ...] = ("random", "greedy", "minimax:depth=2")


class LeagueConfig(Strict):
    """Against whom, beside itself, the learner plays, in shares of the games; in the rest it plays both seats.

    In these games it has one seat, another one after each game, and only its own plies count as plies of the run.
    """

    past: float = Field(0.0, ge=0, le=1)  # against past snapshots of the run, the more often the less it scores against them
    opponents: dict[str, Annotated[float, Field(ge=0, le=1)]] = {}  # agents by their specs
    snapshots: int = Field(12, ge=1, le=64)  # most that are drawn from; their distances back from now double
    snapshot_plies: PositiveInt = 500_000  # the first of these distances
    temperature: float = Field(1.0, ge=0, le=100)  # at which snapshots draw their actions; 0 is their most probable one

    @field_validator("opponents", mode="before")
    @classmethod
    def _has_plain_shares(cls, data: Any) -> Any:
        """As for numbers elsewhere: 1e-2 is one, yes and what stands in quotes is none."""
        read = dict(data) if isinstance(data, dict) else {}
        for spec, share in read.items():
            if isinstance(share, str) and EXPONENT.fullmatch(share):
                read[spec] = float(share)
            elif isinstance(share, bool | str):
                raise ValueError(f"{spec}: must be a number, not {share!r}")
        return read or data

    def counts(self, games: int) -> list[int]:
        """How many of so many games the shares come to: `past` first, then the opponents in their order."""
        bounds = [int(total * games + 0.5) for total in accumulate((self.past, *self.opponents.values()))]
        return [high - low for low, high in pairwise((0, *bounds))]


class Config(Strict):
    """A training run. Rates given as a pair with `_end` go linearly from one to the other over `plies`."""

    game: str
    options: dict[str, Any] = {}  # of the rules
    seed: int = Field(0, ge=0, lt=1 << 32)
    plies: PositiveInt = 40_000_000  # in all, the learner's; both seats' plies count where it plays both
    max_minutes: PositiveFloat | None = None  # ends this process early, after an update at least; schedules do not know
    games: int = Field(1024, ge=1, le=1 << 20)  # played side by side
    plies_per_update: PositiveInt = 32_768  # collected before each update; a multiple of games
    batch_size: int = Field(4096, ge=2)  # plies in a minibatch; divides plies_per_update
    epochs: int = Field(3, ge=1, le=100)  # passes over what was collected
    learning_rate: PositiveFloat = 7e-4
    learning_rate_end: float = Field(0.0, ge=0)
    entropy: float = Field(0.02, ge=0)  # weight of the policy's entropy in the loss
    entropy_end: float = Field(0.0, ge=0)
    gamma: float = Field(0.997, gt=0, le=1)  # discount a ply
    gae_lambda: float = Field(0.9, ge=0, le=1)
    clip_range: PositiveFloat = 0.2
    value_coefficient: float = Field(0.5, ge=0)
    max_gradient: PositiveFloat = 0.5  # norm to which gradients are clipped
    shaping: float = Field(0.05, ge=0)  # reward for a point of the game's score (a seed, a king), to the player who made it
    repetition_cost: float = Field(0.0, ge=0)  # what a ply that brings back a position costs its player and gains the other
    # What a draw costs either player beside its result; a head beside foretells draws, the value is of results as before.
    draw_cost: float = Field(0.0, ge=0, le=2)
    lead_weight: float = Field(0.0, ge=0)  # of an auxiliary loss: the final lead in scores, in tens, foretold by a head beside
    magnet: float = Field(
        0.0, ge=0
    )  # weight of the policy's divergence (reverse KL) from a moving average of itself in the loss
    magnet_updates: PositiveInt = 50  # updates that this average reaches back
    opening_plies: int = Field(0, ge=0, le=1000)  # random plies, at most, that a game begins with; nothing is learned from them
    # Each ply is learned from as it looks through a symmetry of the board, drawn at random; Uisge has four, Eiyiu eight.
    symmetries: bool = Field(False, strict=True)
    league: LeagueConfig = LeagueConfig()  # without one, all games are the learner's against itself
    network: NetworkConfig = NetworkConfig()
    start: str | None = None  # a run's folder, a network file or a shipped agent: the network begins with its weights
    evaluation: EvaluationConfig = EvaluationConfig()
    checkpoint_minutes: PositiveFloat = 5.0
    threads: int = Field(2, ge=1, le=1024)  # parts of a minibatch computed at the same time
    device: Literal["auto", "cpu", "cuda"] = "cpu"
    run_dir: str | None = None  # default: runs/<config>-<n>

    @model_validator(mode="after")
    def _fits(self) -> "Config":
        if self.game not in CODES:
            raise ValueError(f"game: {self.game!r} has no network; there are: {', '.join(CODES)}")
        try:
            find_game(self.game).checked_options(self.options, batch=True)
        except BadOption as error:
            raise ValueError(f"options: {error}") from None
        record = find_game(self.game)
        bound = record.history_limit
        limit = record.checked_options(self.options, batch=True)[bound] if bound else None
        if limit is not None and limit <= record.opening_plies:
            raise ValueError(
                f"options: with {bound}={limit} games can be over before the {record.opening_plies} random plies"
                " that an evaluation opens with"
            )
        if self.symmetries and self.game not in SYMMETRIES:
            raise ValueError(f"symmetries: the board of {self.game} has none; there are some in {', '.join(SYMMETRIES)}")
        if self.plies_per_update % self.games:
            raise ValueError(f"plies_per_update: {self.plies_per_update} is no multiple of games ({self.games})")
        if self.plies_per_update % self.batch_size:
            raise ValueError(f"batch_size: {self.batch_size} does not divide plies_per_update ({self.plies_per_update})")
        for name in ("games", "final_games"):
            if getattr(self.evaluation, name) % 2:
                raise ValueError(f"evaluation.{name}: {getattr(self.evaluation, name)} is odd, but seats are swapped")
        for key, specs in (("evaluation", self.evaluation.opponents), ("league", self.league.opponents)):
            self._check_opponents(f"{key}.opponents", specs)
        self._check_shares()
        return self

    def _check_opponents(self, key: str, specs: Iterable[str]) -> None:
        for spec in specs:
            if spec == "human":
                raise ValueError(f"{key}: nobody sits at a run's keyboard, so human cannot be one")
            try:
                make_agent(spec, self.game, self.options)
            except BadSpec as error:
                raise ValueError(f"{key}: {error}") from None

    def _check_shares(self) -> None:
        league = self.league
        shares = {"past": league.past} | {f"opponents: {spec}": share for spec, share in league.opponents.items()}
        if sum(shares.values()) > 1 + 1e-9:
            raise ValueError(f"league: the shares sum to {sum(shares.values()):g}, but there is only one whole")
        for (name, share), count in zip(shares.items(), league.counts(self.games), strict=True):
            if share and not count:
                raise ValueError(f"league.{name}: a share of {share:g} of {self.games} games comes to none")


# What may differ when a run goes on: how far, where and how it is measured, and what tames a run that has diverged.
CHANGEABLE: Final = (
    *("plies", "max_minutes", "threads", "device", "evaluation", "checkpoint_minutes"),
    *("learning_rate", "learning_rate_end", "max_gradient"),
)


def load_config(name: str, overrides: Sequence[str] = ()) -> Config:
    """The config of a file or of a shipped name, with `key=value` overrides. Raises `BadConfig`, naming the key."""
    data = read_data(name, "config", CONFIGS)
    for override in overrides:
        _apply(data, override)
    return checked_config(data)


def checked_config(data: dict[str, Any]) -> Config:
    """The config that plain data describe. Raises `BadConfig` with one line that names the key."""
    return checked(Config, data)


Model = TypeVar("Model", bound=Strict)


def checked(model: type[Model], data: dict[str, Any]) -> Model:
    """What plain data describe. Raises `BadConfig` with one line that names the key."""
    try:
        return model(**data)
    except ValidationError as error:
        raise BadConfig(_one_line(error, model)) from None
    except TypeError as error:
        raise BadConfig(str(error)) from None


def changed_config(saved: Mapping[str, Any], overrides: Sequence[str]) -> Config:
    """The config of a run that goes on; what was saved need not be possible any more if overrides mend it.

    Raises `BadConfig`, also for keys that must not change.
    """
    data = deepcopy(dict(saved))
    for override in overrides:
        key = override.partition("=")[0].partition(".")[0]
        if key in Config.model_fields and key not in CHANGEABLE:
            raise BadConfig(f"{key} cannot change when a run is resumed; {', '.join(CHANGEABLE)} can")
        _apply(data, override)
    return checked_config(data)


def config_name(name: str) -> str:
    """What runs of this config are called."""
    return Path(name).stem


def shipped_configs() -> list[str]:
    """The configs that come with the project."""
    return yaml_names(CONFIGS)


def yaml_names(folder: Traversable) -> list[str]:
    """What a folder of the project's data holds: its YAML files, without their ending."""
    return sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))


def read_data(name: str, kind: str, folder: Traversable) -> dict[str, Any]:
    """The keys and values of a YAML file, or of one that is shipped in the folder. Raises `BadConfig`."""
    path = Path(name)
    shipped = folder / f"{name}.yaml"
    if path.is_file():
        text = path.read_text(encoding="utf-8", errors="replace")
    elif os.sep not in name and shipped.is_file():
        text = shipped.read_text(encoding="utf-8")
    else:
        raise BadConfig(f"no {kind} {name!r}: neither a file nor one of {', '.join(yaml_names(folder))}")
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadConfig(f"{name} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        example = "game: oware" if kind == "config" else f"config: {shipped_configs()[0]}"
        raise BadConfig(f"{name} must hold keys and values, such as `{example}`")
    return data


def _apply(data: dict[str, Any], override: str) -> None:
    """Data have the value that `key=value`, or `part.key=value`, gives."""
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise BadConfig(f"{override!r} is not understood; overrides read key=value, such as learning_rate=0.001")
    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise BadConfig(f"{key}: cannot read the value {text!r}") from None
    set_value(data, key, value)


def set_value(data: dict[str, Any], key: str, value: Any) -> None:
    """Data have the value at `key`, or at `part.key`. Raises `BadConfig` if the part has no parts."""
    *parts, last = key.split(".")
    for part in parts:
        inner = data.setdefault(part, {})
        if not isinstance(inner, dict):
            raise BadConfig(f"{key}: {part} has no parts")
        data = inner
    data[last] = value


def _one_line(error: ValidationError, model: type[Strict]) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"{key}: unknown key{_suggestion(first['loc'], model)}"
    if first["type"] == "value_error":
        return f"{key}.{first['ctx']['error']}" if key else str(first["ctx"]["error"])
    shown = "" if first["type"] == "missing" else f", not {first['input']!r}"
    return f"{key}: {first['msg'][0].lower()}{first['msg'][1:]}{shown}"


def _suggestion(location: tuple[int | str, ...], model: Any) -> str:
    for part in location[:-1]:
        model = model.model_fields[part].annotation
    near = difflib.get_close_matches(str(location[-1]), list(model.model_fields), n=1)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(model.model_fields)}"
