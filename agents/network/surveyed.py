"""What is counted once of a position, as all of its relations need it; each game has numbers of its own, see its `survey`."""

from typing import Final, TypeAlias

Surveyed: TypeAlias = tuple[int, int, int, int, int]

NOTHING: Final[Surveyed] = (0, 0, 0, 0, 0)
