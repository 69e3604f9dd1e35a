"""What comes with an extra of the installation only, and the line that says so."""

import sys
from importlib.util import find_spec
from typing import Final

EXTRAS: Final = {
    "train": (
        *("torch", "stable_baselines3", "sb3_contrib", "safetensors", "tensorboard", "pydantic", "yaml", "matplotlib", "rich"),
        *("scipy", "choix", "filelock"),
    ),
}


def need_extra(extra: str, who: str) -> None:
    """The extra is installed. If not, a command ends here with one line and exit code 2; others get an `ImportError`."""
    missing = [name for name in EXTRAS[extra] if find_spec(name) is None]
    if not missing:
        return
    line = f"{who} needs the extra {extra!r}: pip install 'spieltisch[{extra}]' (there is no {', '.join(missing)})"
    if _is_command():
        print(line, file=sys.stderr)
        sys.exit(2)
    raise ImportError(line)


def _is_command() -> bool:
    """Whether the process was started as `python -m` and one of our modules; while Python looks for it, that is all it says."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return sys.argv[:1] == ["-m"] or (spec is not None and spec.name.partition(".")[0] in ("envs", "agents", "training"))
