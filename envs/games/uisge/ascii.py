"""A Uisge board for a terminal, and what boards and pictures call things."""

from collections.abc import Sequence
from typing import Final

from envs.games.captions import NAMES, one_line

PIECES: Final = ("sS", "nN")  # of each seat: pawn and king
FREE: Final = "."
FILES: Final = "abcdefg"
RANKS: Final = "654321"  # from the top


def board_text(board: Sequence[str], mover: int | None, last: tuple[str, str] | None, caption: str = "") -> str:
    """The board in nine lines of ASCII, then the caption: `>` marks the side to move, `*` where the last move led from and to.

    The board is six rows from the top: `s` and `n` are pawns, `S` and `N` kings.
    """
    south, north = (f"{'>' if seat == mover else ' '} {name}" for seat, name in enumerate(NAMES))
    marked = () if last is None else last
    rows = [f"  {rank} {_row(row, rank, marked)}" for rank, row in zip(RANKS, board, strict=True)]
    files = "    " + "".join(f"  {file}" for file in FILES)
    return "\n".join([north, *rows, files, south, one_line(caption)]).rstrip()


def _row(row: str, rank: str, marked: Sequence[str]) -> str:
    """The squares of a row, each three wide."""
    squares = zip(FILES, row, strict=True)
    return "".join(f" {'*' if file + rank in marked else ' '}{piece}" for file, piece in squares)
