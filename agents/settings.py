"""The settings of a spec string: `key=value` words, and the numbers in them."""

from collections.abc import Mapping
from typing import TypeAlias

from envs.errors import BadSpec
from envs.numbers import read_number

Settings: TypeAlias = Mapping[str, str]


def read_settings(spec: str, words: list[str], known: tuple[str, ...]) -> Settings:
    """The `key=value` words of a spec. Raises `BadSpec` for unknown, repeated or malformed ones."""
    settings: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in known:
            raise BadSpec(f"{word!r} in {spec!r} is not understood; known are {', '.join(f'{key}=' for key in known)}")
        if name in settings:
            raise BadSpec(f"{name} is given twice in {spec!r}")
        settings[name] = value
    return settings


def whole_setting(spec: str, settings: Settings, name: str, low: int, high: int) -> int:
    """The whole number that the setting is. Raises `BadSpec` for anything else, also where it is missing."""
    number = read_number(settings.get(name, ""))
    if number is None or not low <= number <= high:
        raise BadSpec(f"{name} in {spec!r} must be a whole number from {low} to {high}")
    return number


def real_setting(spec: str, settings: Settings, name: str, high: int, default: float, low: float = 0) -> float:
    """The number from `low` to `high` that the setting is, or the default. Raises `BadSpec` for anything else."""
    try:
        number = float(settings.get(name, default))
    except ValueError:
        number = low - 1
    if not low <= number <= high:
        raise BadSpec(f"{name} in {spec!r} must be a number from {low:g} to {high}")
    return number
