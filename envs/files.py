"""Files that are whole or not there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to; when the block ends well it replaces the file, else the file is as it was and nothing is left."""
    target = Path(path)
    partial = target.with_name(f".{target.name}.part")
    try:
        yield partial
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def write_file(path: str | os.PathLike[str], content: str) -> None:
    """The file has the content, or is as it was if writing fails."""
    with replacing(path) as partial:
        partial.write_text(content, encoding="utf-8")
