"""Files that are whole or not there, whatever ends the process or the machine."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from envs.errors import BadConfig


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to; when the block ends well it replaces the file, else the file is as it was and nothing is left.

    The content has reached the disk before it takes the name. A process that is killed in the block leaves the part, which
    the next one that writes the file replaces. Raises `OSError` that names the file, not the part.
    """
    target = Path(path)
    partial = target.with_name(f".{target.name}.part")
    try:
        yield partial
        with open(partial, "rb+") as file:
            os.fsync(file.fileno())
        partial.replace(target)
        _keep_name(target)
    except OSError as error:
        if error.filename not in (None, str(partial)):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(target)) from error
    finally:
        with suppress(OSError):
            partial.unlink()


def write_file(path: str | os.PathLike[str], content: str) -> None:
    """The file has the content, or is as it was if writing fails."""
    with replacing(path) as partial:
        partial.write_text(content, encoding="utf-8")


def read_fields(path: Path, keys: Sequence[str], otherwise: str) -> dict[str, Any]:
    """The values of a JSON file's keys. Raises `BadConfig`, ending as `otherwise` says, if one lacks or it is no such file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return {key: data[key] for key in keys}
    except (OSError, ValueError, KeyError, TypeError):
        raise BadConfig(f"{path} cannot be read{otherwise}") from None


def remove_parts(folder: Path) -> None:
    """What processes that were killed left half written in the folder is gone."""
    for partial in folder.glob(".*.part"):
        partial.unlink(missing_ok=True)


def _keep_name(target: Path) -> None:
    """The name outlives a power cut too, where folders are files that can be told so."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
