"""Oware in plain Python: slow, written from the rules alone, to check the engine against."""

from __future__ import annotations

from dataclasses import dataclass

Houses = tuple[int, ...]
Stores = tuple[int, int]

GRAND_SLAMS = ("forfeit", "illegal", "capture")
STORES_ALONE = ("majority", "even_split")


@dataclass(frozen=True)
class Options:
    """What the rules leave open; 0 switches a limit off."""

    repetition_limit: int = 3
    quiet_limit: int = 160
    grand_slam: str = "forfeit"

    def __post_init__(self) -> None:
        """Every value is within the rules, and no game can go on for ever."""
        if self.repetition_limit != 0 and not 2 <= self.repetition_limit <= 9:
            raise ValueError(f"repetition_limit is 0 or 2 to 9, not {self.repetition_limit}")
        if not 0 <= self.quiet_limit <= 2000:
            raise ValueError(f"quiet_limit is 0 to 2000, not {self.quiet_limit}")
        if self.repetition_limit == 0 and self.quiet_limit == 0:
            raise ValueError("repetition_limit and quiet_limit are both off: the game need not end")
        if self.grand_slam not in GRAND_SLAMS:
            raise ValueError(f"grand_slam is one of {GRAND_SLAMS}, not {self.grand_slam!r}")


STANDARD = Options()


@dataclass(frozen=True)
class State:
    """A game between two plies; houses 0-5 are seat 0's, 6-11 seat 1's, in sowing order."""

    houses: Houses
    stores: Stores
    mover: int
    quiet: int
    occurrences: int
    end: str | None
    history: tuple[tuple[Houses, int], ...]  # earlier positions, this one not among them
    options: Options


def start(options: Options = STANDARD) -> State:
    """Four seeds lie in every house and seat 0 is to move."""
    return position((4,) * 12, (0, 0), 0, options)


def position(houses: Houses, stores: Stores, mover: int, options: Options = STANDARD, quiet: int = 0) -> State:
    """The board is as given, nothing came before it, and its end is settled."""
    return settled(houses, stores, mover, quiet, (), options)


def legal(state: State) -> list[int]:
    """The mover's playable houses, counted from 0; none once the game is over."""
    if state.end is not None:
        return []
    moves = legal_houses(state.houses, state.mover, state.options.grand_slam)
    return [house - 6 * state.mover for house in moves]


def play(state: State, action: int) -> State:
    """The action is carried out, the other seat is to move, and the end is settled."""
    if action not in legal(state):
        raise ValueError(f"{action} is not legal here; legal moves: {legal(state)}")
    mover = state.mover
    houses, captured = move(state.houses, 6 * mover + action, state.options.grand_slam)
    return settled(
        houses,
        put_into_store(state.stores, mover, captured),
        1 - mover,
        0 if captured else state.quiet + 1,
        (*state.history, (state.houses, mover)),
        state.options,
    )


def scores(state: State) -> tuple[int, int]:
    """The stores; with each side's own seeds added if the game ended short of the middle."""
    if state.end is None or state.end in STORES_ALONE:
        return state.stores
    return state.stores[0] + side(state.houses, 0), state.stores[1] + side(state.houses, 1)


def result(state: State) -> tuple[int, int] | None:
    """+1 and -1 for winner and loser, 0 and 0 for a draw, nothing while the game runs."""
    if state.end is None:
        return None
    first, second = scores(state)
    won = (first > second) - (first < second)
    return won, -won


def row(seat: int) -> range:
    """The houses the seat owns."""
    return range(6 * seat, 6 * seat + 6)


def owner(house: int) -> int:
    """The seat whose row the house is in."""
    return house // 6


def side(houses: Houses, seat: int) -> int:
    """The seeds on the seat's side."""
    return sum(houses[house] for house in row(seat))


def put_into_store(stores: Stores, seat: int, seeds: int) -> Stores:
    """The seeds are in the seat's store."""
    return (stores[0] + seeds, stores[1]) if seat == 0 else (stores[0], stores[1] + seeds)


def sow(houses: Houses, origin: int) -> tuple[Houses, int]:
    """The origin's seeds lie in the following houses; the second value is where the last fell."""
    board = list(houses)
    in_hand = board[origin]
    board[origin] = 0
    house = origin
    while in_hand > 0:
        house = (house + 1) % 12
        if house != origin:
            board[house] += 1
            in_hand -= 1
    return tuple(board), house


def chain(houses: Houses, last: int, mover: int) -> list[int]:
    """The opponent's houses with two or three, from the last seed backwards without a gap."""
    taken = []
    house = last
    while house in row(1 - mover) and houses[house] in (2, 3):
        taken.append(house)
        house -= 1
    return taken


def would_slam(houses: Houses, last: int, mover: int) -> bool:
    """Whether the harvest due on this sown board would take all the opponent's seeds."""
    taken = chain(houses, last, mover)
    return taken != [] and sum(houses[house] for house in taken) == side(houses, 1 - mover)


def harvest(houses: Houses, last: int, mover: int, grand_slam: str) -> tuple[Houses, int]:
    """What the last seed captures is off the board; the second value is how many seeds."""
    if grand_slam != "capture" and would_slam(houses, last, mover):
        return houses, 0
    taken = chain(houses, last, mover)
    board = tuple(0 if house in taken else seeds for house, seeds in enumerate(houses))
    return board, sum(houses[house] for house in taken)


def move(houses: Houses, origin: int, grand_slam: str) -> tuple[Houses, int]:
    """The origin is sown and the harvest taken; the second value is the seeds captured."""
    sown, last = sow(houses, origin)
    return harvest(sown, last, owner(origin), grand_slam)


def must_feed(houses: Houses, mover: int) -> bool:
    """Whether the opponent's side is empty."""
    return side(houses, 1 - mover) == 0


def feeds(houses: Houses, origin: int) -> bool:
    """Whether sowing the origin puts a seed on an empty opponent's side, before any harvest."""
    sown, _ = sow(houses, origin)
    return side(sown, 1 - owner(origin)) > 0


def legal_houses(houses: Houses, mover: int, grand_slam: str) -> list[int]:
    """The houses the mover may empty, whether or not the game is over for another reason."""
    moves = [house for house in row(mover) if houses[house] > 0]
    if must_feed(houses, mover):
        moves = [house for house in moves if feeds(houses, house)]
    if grand_slam == "illegal":
        no_slams = [house for house in moves if not would_slam(*sow(houses, house), mover)]
        moves = no_slams or moves
    return moves


def settled(
    houses: Houses,
    stores: Stores,
    mover: int,
    quiet: int,
    history: tuple[tuple[Houses, int], ...],
    options: Options,
) -> State:
    """The state holds what is given, its occurrences, and the first ending that applies."""
    occurrences = 1
    if options.repetition_limit != 0:
        occurrences += history.count((houses, mover))
    end = None
    if max(stores) > 24:
        end = "majority"
    elif stores == (24, 24):
        end = "even_split"
    elif not legal_houses(houses, mover, options.grand_slam):
        end = "no_moves"
    elif options.repetition_limit != 0 and occurrences >= options.repetition_limit:
        end = "repetition"
    elif options.quiet_limit != 0 and quiet >= options.quiet_limit:
        end = "quiet_limit"
    return State(houses, stores, mover, quiet, occurrences, end, history, options)
