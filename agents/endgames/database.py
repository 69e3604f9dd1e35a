"""Databases on disk: one file for every number of seeds, whole and checked, in a folder.

A file is a line of JSON and the boards' bytes, compressed. The line says what it is: format and version, game and rule for
grand slams, seeds, boards, the plies that the bounds need, and the SHA-256 of the bytes.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import platformdirs

from agents.endgames.index import boards_below
from agents.endgames.retrograde import BYTES_A_BOARD, solve
from agents.endgames.table import MAX_SEEDS, probe_batch
from envs.engine.position import Position
from envs.errors import BadOption, BadSpec
from envs.files import replacing
from envs.games.oware import GRAND_SLAMS

FORMAT: Final = "spieltisch endgames"
VERSION: Final = 1
GAME: Final = "oware"
LONGEST_HEADER: Final = 1000  # bytes
HOW_TO_BUILD: Final = "python -m agents.endgames build oware makes it"

Layer = tuple[np.ndarray, int]
Report = Callable[[int, int, int, int], None]


@dataclass(frozen=True)
class Database:
    """All boards of up to so many seeds, under one rule for grand slams.

    `table` uint8[boards] is what kernels read (`table.probe`). `plies` int64[seeds + 1] says, for every number of seeds, which
    quiet limit its bounds need at least, those of boards that follow it included.
    """

    seeds: int
    grand_slam: str
    table: np.ndarray
    plies: np.ndarray

    def bounds(self, position: Position) -> tuple[int, int]:
        """Bounds of the mover's seeds to come less the opponent's in a running position with a fresh past; see `table.probe`.

        Raises `BadOption` for another game or another rule for grand slams.
        """
        rule = position.options["grand_slam"] if position.game == GAME else "none"
        if rule != self.grand_slam:
            raise BadOption(f"this database is for {GAME} with grand_slam={self.grand_slam}, not {position.game} with {rule}")
        bounds = np.zeros((1, 2), np.int64)
        probe_batch(position.to_arrays()[0][None], self.table, bounds)
        return int(bounds[0, 0]), int(bounds[0, 1])


def default_folder() -> Path:
    """Where databases lie; `SPIELTISCH_DATA_DIR` moves it."""
    base = os.environ.get("SPIELTISCH_DATA_DIR") or platformdirs.user_data_dir("spieltisch", appauthor=False)
    return Path(base) / "endgames"


def layer_path(folder: str | os.PathLike[str] | None, grand_slam: str, seeds: int) -> Path:
    """The file of the boards with so many seeds."""
    return Path(folder or default_folder()) / f"{GAME}-{grand_slam}-{seeds:02d}.endgames"


def available(folder: str | os.PathLike[str] | None = None, grand_slam: str = "forfeit") -> int:
    """Up to how many seeds a folder has all files; -1 if it has none. They are not read."""
    _check_rule(grand_slam)
    seeds = -1
    while seeds < MAX_SEEDS and layer_path(folder, grand_slam, seeds + 1).is_file():
        seeds += 1
    return seeds


def open_database(
    folder: str | os.PathLike[str] | None = None, grand_slam: str = "forfeit", seeds: int | None = None
) -> Database:
    """The database of a folder, up to so many seeds (default: all that it has). Raises `BadSpec`, `BadOption`, `OSError`.

    Every file is checked; one that is missing, damaged, cut short or of another kind is refused by its name.
    """
    if seeds is None:
        seeds = available(folder, grand_slam)
        if seeds < 0:
            raise BadSpec(f"no endgames in {str(folder or default_folder())!r} for grand_slam={grand_slam}; {HOW_TO_BUILD}")
    _check_rule(grand_slam)
    check_seeds(seeds)
    table, plies = np.empty(boards_below(seeds + 1), np.uint8), np.zeros(seeds + 1, np.int64)
    for count in range(seeds + 1):
        path = layer_path(folder, grand_slam, count)
        if not path.is_file():
            raise BadSpec(f"{str(path)!r} is missing; {HOW_TO_BUILD}")
        table[boards_below(count) : boards_below(count + 1)], plies[count] = read_layer(path, grand_slam, count)
    return Database(seeds, grand_slam, table, np.maximum.accumulate(plies))


def build(
    seeds: int,
    folder: str | os.PathLike[str] | None = None,
    grand_slam: str = "forfeit",
    threads: int = 1,
    report: Report | None = None,
) -> Iterator[int]:
    """Makes the files that the folder lacks, from no seeds up to so many; yields each number of seeds once its file is there.

    Files that are there are read and checked, as `open_database` does. A build that is stopped leaves whole files; the next one
    goes on from there and ends with the same. `report` hears the seeds, then what `solve` reports.
    """
    _check_rule(grand_slam)
    check_seeds(seeds)
    Path(folder or default_folder()).mkdir(parents=True, exist_ok=True)
    table = np.empty(boards_below(seeds + 1), np.uint8)
    for count in range(seeds + 1):
        path = layer_path(folder, grand_slam, count)
        if path.is_file():
            layer = read_layer(path, grand_slam, count)
        else:
            layer = solve(
                count,
                GRAND_SLAMS.index(grand_slam),
                table,
                threads,
                None if report is None else lambda *news, count=count: report(count, *news),
            )
            write_layer(path, grand_slam, count, layer)
        table[boards_below(count) : boards_below(count + 1)] = layer[0]
        yield count


def build_memory(seeds: int) -> int:
    """Bytes that a build needs at its peak, besides what every Python program does."""
    return boards_below(seeds + 1) + (BYTES_A_BOARD + 1) * (boards_below(seeds + 1) - boards_below(seeds))


def write_layer(path: Path, grand_slam: str, seeds: int, layer: Layer) -> None:
    """The file holds the layer: the same bytes for the same layer."""
    solved, plies = layer
    header = {**_identity(grand_slam, seeds), "plies": plies, "sha256": hashlib.sha256(solved.tobytes()).hexdigest()}
    with replacing(path) as partial:
        partial.write_bytes(json.dumps(header).encode() + b"\n" + zlib.compress(solved.tobytes()))


def read_layer(path: Path, grand_slam: str, seeds: int) -> Layer:
    """The bytes of the boards, uint8, and the plies that their bounds need.

    Raises `BadSpec` unless the file is whole and of that kind.
    """
    with path.open("rb") as file:
        line, packed = file.readline(LONGEST_HEADER), file.read()
    header = _read_header(line)
    identity = _identity(grand_slam, seeds)
    if header is None or header.get("format") != FORMAT:
        raise _bad(path, "it is no file of endgames")
    for name, expected in identity.items():
        if header.get(name) != expected:
            raise _bad(path, f"its {name} is {header.get(name)!r}, not {expected!r}")
    plies = header.get("plies")
    unpacker = zlib.decompressobj()
    try:
        unpacked = unpacker.decompress(packed, identity["boards"] + 1)
    except zlib.error:
        raise _bad(path, "it is damaged") from None
    if len(unpacked) < identity["boards"] or not unpacker.eof:
        raise _bad(path, "it is cut short or damaged")
    if unpacker.unused_data or header.get("sha256") != hashlib.sha256(unpacked).hexdigest() or not isinstance(plies, int):
        raise _bad(path, "it is damaged")
    return np.frombuffer(unpacked, np.uint8), plies


def check_seeds(seeds: int) -> None:
    """Raises `BadOption` for a number of seeds that no database can have."""
    if not 0 <= seeds <= MAX_SEEDS:
        raise BadOption(f"endgames have up to {MAX_SEEDS} seeds, not {seeds}")


def _check_rule(grand_slam: str) -> None:
    if grand_slam not in GRAND_SLAMS:
        raise BadOption(f"grand_slam is one of {', '.join(GRAND_SLAMS)}, not {grand_slam!r}")


def _identity(grand_slam: str, seeds: int) -> dict[str, Any]:
    """What the header of the right file says."""
    boards = boards_below(seeds + 1) - boards_below(seeds)
    return {
        "format": FORMAT,
        "version": VERSION,
        "game": GAME,
        "grand_slam": grand_slam,
        "seeds": seeds,
        "boards": boards,
    }


def _read_header(line: bytes) -> dict[str, Any] | None:
    try:
        header = json.loads(line)
    except ValueError:
        return None
    return header if isinstance(header, dict) else None


def _bad(path: Path, why: str) -> BadSpec:
    return BadSpec(f"{str(path)!r} cannot be used: {why}; delete it and build it anew")
