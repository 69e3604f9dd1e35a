"""What a sweep is told: a YAML file of variants of one config, all of them checked before anything runs."""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, Final

from pydantic import Field

from agents.spec import make_agent
from envs.errors import BadConfig, BadSpec
from training.config import CONFIGS, Config, Strict, checked, checked_config, load_config, read_data, set_value, yaml_names

SWEEPS: Final = CONFIGS / "sweeps"
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.,=+-]{0,99}")  # of a variant, and of its folder
# What the sweep itself settles, or what is kept with each run and would change no agent.
SETTLED: Final = ("game", "seed", "plies", "max_minutes", "evaluation", "checkpoint_minutes", "run_dir")


class Sweep(Strict):
    """A search among variants of a config, each given the same time.

    A variant's keys are those of a config, inner ones as `network.width: 128` or as a map. The first variant is the control.
    """

    config: str  # a file, or a shipped config's name
    minutes: float = Field(4.0, gt=0, le=10_000)  # of collecting and updating, each run
    seeds: tuple[Annotated[int, Field(strict=True, ge=0, lt=1 << 32)], ...] = Field((0, 1), min_length=1)  # runs of a variant
    overrides: dict[str, Any] = {}  # of the config, in all variants
    opponents: tuple[str, ...] = Field(min_length=1)  # that measure the final agents
    games: int = Field(200, ge=2, le=10_000)  # against each opponent, and against the control's agent; even
    variants: dict[str, dict[str, Any]] = {}  # names and what they change
    grid: dict[str, Annotated[tuple[Any, ...], Field(min_length=1)]] = {}  # more variants: every choice of one value a key


@dataclass(frozen=True)
class Variant:
    """A named change of the sweep's config.

    `changes` holds it by dotted keys. `config` is that of a run of seed 0 which lasts one update.
    """

    name: str
    changes: Mapping[str, Any]
    config: Config

    def config_of(self, seed: int, plies: int) -> Config:
        """The config of a run, which is measured at its end and never before."""
        data = self.config.model_dump(mode="json")
        data |= {"seed": seed, "plies": plies, "evaluation": {**data["evaluation"], "every_plies": plies}}
        return checked_config(data)


def load_sweep(name: str, minutes: float | None = None, seeds: int | None = None) -> Sweep:
    """The sweep of a file or of a shipped name, with other minutes or the seeds 0, 1, ... if asked for. Raises `BadConfig`."""
    data = read_data(name, "sweep", SWEEPS)
    if minutes is not None:
        data["minutes"] = minutes
    if seeds is not None:
        data["seeds"] = list(range(seeds))
    sweep = checked(Sweep, data)
    for key in ("seeds", "opponents"):
        values = getattr(sweep, key)
        if len(set(values)) < len(values):
            raise BadConfig(f"{key}: one is given twice")
    if sweep.games % 2:
        raise BadConfig(f"games: {sweep.games} is odd, but seats are swapped")
    return sweep


def shipped_sweeps() -> list[str]:
    """The sweeps that come with the project."""
    return yaml_names(SWEEPS)


def variants_of(sweep: Sweep) -> list[Variant]:
    """All variants in order, each of them a config that can run. Raises `BadConfig`, naming the variant and the key."""
    base = _base(sweep)
    found: dict[str, Variant] = {}
    for place, name, changes in _named_changes(sweep):
        if not NAME.fullmatch(name):
            raise BadConfig(
                f"{place}: {name!r} cannot be a variant's name, as its folder bears it; letters, digits and _.,=+- can"
            )
        if name in found:
            raise BadConfig(f"{place}: two variants are called {name}")
        try:
            found[name] = Variant(name, changes, checked_config(_changed(base, changes, ("options",))))
        except BadConfig as error:
            raise BadConfig(f"{place}.{name}: {error}") from None
    if not found:
        raise BadConfig("variants: there are none, and no grid")
    return list(found.values())


def _base(sweep: Sweep) -> dict[str, Any]:
    """The sweep's config with its overrides, as plain data; it lasts one update."""
    # One thread, unless the sweep asks for more: runs side by side shall not wait for each other.
    data = {**load_config(sweep.config).model_dump(mode="json"), "threads": 1}
    try:
        data = _changed(data, _dotted(sweep.overrides))
        config = checked_config({**data, "max_minutes": None, "run_dir": None})
    except BadConfig as error:
        raise BadConfig(f"overrides: {error}") from None
    for spec in sweep.opponents:
        try:
            if spec == "human":
                raise BadSpec("nobody sits at a run's keyboard, so human cannot be one")
            make_agent(spec, config.game, config.options)
        except BadSpec as error:
            raise BadConfig(f"opponents: {error}") from None
    evaluation = {"games": sweep.games, "final_games": sweep.games, "opponents": list(sweep.opponents)}
    return {**config.model_dump(mode="json"), "seed": 0, "plies": 1, "evaluation": evaluation}


def _named_changes(sweep: Sweep) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Where each variant stands in the file, its name, and what it changes."""
    for name, changes in sweep.variants.items():
        yield "variants", name, _dotted(changes)
    if sweep.grid:
        for values in product(*sweep.grid.values()):
            point = dict(zip(sweep.grid, values, strict=True))
            yield "grid", ",".join(f"{key}={value}" for key, value in point.items()), point


def _dotted(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes without inner maps, so that `network: {layers: 2}` leaves the width as it is."""
    flat: dict[str, Any] = {}
    for key, value in changes.items():
        flat |= {f"{key}.{inner}": last for inner, last in value.items()} if isinstance(value, dict) else {key: value}
    return flat


def _changed(data: Mapping[str, Any], changes: Mapping[str, Any], fixed: tuple[str, ...] = ()) -> dict[str, Any]:
    """The data with the changes. Raises `BadConfig` for keys that may not change here."""
    changed = deepcopy(dict(data))  # inner maps too, else a variant's keys would be those of all later ones
    for key, value in changes.items():
        if key.partition(".")[0] in SETTLED:
            raise BadConfig(f"{key}: a sweep settles this itself")
        if key.partition(".")[0] in fixed:
            raise BadConfig(f"{key}: must be the same in all variants, as their agents meet; it may stand under overrides")
        set_value(changed, key, value)
    return changed
