"""What the numbers of an observation are to each other, and what an action is about: rows that an encoding adds.

All of it is counted in the mover's frame, in Oware on the board as it lies, in the other games also on the board that an
action leaves. A position's relations are rows of the embedding. An action's are rows of the policy's head: its
logit is weighed by their sum, so that what is learned of one action serves all that are alike.

- Oware: where each house's last seed would fall, what lies there and just before; the same for the houses one may sow.
- Toguz Kumalak: see `agents.network.toguz_kumalak`.
- Uisge: see `agents.network.uisge`.
- Eiyiu: see `agents.network.eiyiu`.
"""

from typing import Final

import numpy as np

from agents.network import eiyiu, toguz_kumalak, uisge
from agents.network.surveyed import NOTHING, Surveyed
from envs.engine.header import EIYIU, OWARE, TOGUZ_KUMALAK, UISGE
from envs.engine.jit import kernel
from envs.engine.kernels import Tag

NO_ROW: Final = -1  # ends a list of rows
ROOM: Final = max(toguz_kumalak.ROOM, eiyiu.ROOM)  # numbers on the way that relations need

# Oware, the houses of both sides
HOUSES: Final = 12
FEW: Final = 4  # kinds of a house by its seeds: 0, 1, 2, more

# Rows of the embedding in all, and how many of them an observation picks at most and usually.
POSITION_ROWS: Final[dict[str, tuple[int, int, int]]] = {
    "oware": (HOUSES * HOUSES * FEW * FEW, HOUSES, 9),
    "toguz_kumalak": (toguz_kumalak.POSITION_ROWS, toguz_kumalak.MOST_OF_POSITION, toguz_kumalak.USUAL_OF_POSITION),
    "uisge": (uisge.POSITION_ROWS, uisge.MOST_OF_POSITION, uisge.USUAL_OF_POSITION),
    "eiyiu": (eiyiu.POSITION_ROWS, eiyiu.MOST_OF_POSITION, eiyiu.MOST_OF_POSITION),
}
# Rows of the policy's head behind those of the actions themselves, and how many of them an action picks at most.
ACTION_ROWS: Final[dict[str, tuple[int, int]]] = {
    "oware": (HOUSES // 2 * HOUSES * FEW, 1),
    "toguz_kumalak": (toguz_kumalak.ACTION_ROWS, toguz_kumalak.MOST_OF_ACTION),
    "uisge": (uisge.ACTION_ROWS, uisge.MOST_OF_ACTION),
    "eiyiu": (eiyiu.ACTION_ROWS, eiyiu.MOST_OF_ACTION),
}


@kernel
def pick_relations(
    game: Tag, observation: np.ndarray, surveyed: Surveyed, first: int, rows: np.ndarray, count: int, room: np.ndarray
) -> int:
    """The rows of a position's relations follow the `count` that are there; returns how many there are now."""
    if len(game) == OWARE:
        return oware_relations(observation, first, rows, count)
    if len(game) == TOGUZ_KUMALAK:
        return toguz_kumalak.relations(observation, first, rows, count, room)
    if len(game) == UISGE:
        return uisge.relations(observation, surveyed, first, rows, count)
    return eiyiu.relations(observation, surveyed, first, rows, count)


@kernel
def survey(game: Tag, observation: np.ndarray, room: np.ndarray) -> Surveyed:
    """What all of a position's relations need, counted once; some of it is in `room` until the next position's is."""
    if len(game) == EIYIU:
        return eiyiu.survey(observation, room)
    if len(game) == UISGE:
        return uisge.survey(observation)
    return NOTHING


@kernel
def pick_action_rows(
    game: Tag,
    observation: np.ndarray,
    surveyed: Surveyed,
    action: int,
    first: int,
    rows: np.ndarray,
    count: int,
    room: np.ndarray,
) -> int:
    """The same for an action, but rows of the policy's head; `room` int16[ROOM] is that of `survey`."""
    if len(game) == OWARE:
        rows[count] = first + (action * HOUSES + oware_last(observation, action)) * FEW
        rows[count] += min(int(observation[oware_last(observation, action)]), FEW - 1)
        return count + 1
    if len(game) == TOGUZ_KUMALAK:
        return toguz_kumalak.action_relations(observation, action, first, rows, count, room)
    if len(game) == UISGE:
        return uisge.action_relations(observation, surveyed, action, first, rows, count)
    return eiyiu.action_relations(observation, surveyed, action, first, rows, count, room)


# Oware


@kernel
def oware_relations(observation: np.ndarray, first: int, rows: np.ndarray, count: int) -> int:
    """For each house with seeds: where its last seed falls, and whether none, one, two or more lie there and just before."""
    for house in range(HOUSES):
        if observation[house] > 0:
            last = oware_last(observation, house)
            there = min(int(observation[last]), FEW - 1)
            before = min(int(observation[(last + HOUSES - 1) % HOUSES]), FEW - 1)
            rows[count] = first + ((house * HOUSES + last) * FEW + there) * FEW + before
            count += 1
    return count


@kernel
def oware_last(observation: np.ndarray, house: int) -> int:
    """The house in which the last seed falls; the house of origin is passed over on every lap."""
    seeds = int(observation[house])
    return (house + seeds + max(seeds - 1, 0) // (HOUSES - 1)) % HOUSES
