"""Toguz Kumalak in plain Python: slow, written from the rules alone, to check the engine against."""

from __future__ import annotations

from dataclasses import dataclass

Holes = tuple[int, ...]
Stores = tuple[int, int]
Tuzdyks = tuple[int | None, int | None]
Position = tuple[Holes, Stores, Tuzdyks, int]

STORES_ALONE = ("majority", "even_split")
NO_TUZDYKS: Tuzdyks = (None, None)


@dataclass(frozen=True)
class Options:
    """What the rules leave open; 0 switches a limit off."""

    repetition_limit: int = 3
    quiet_limit: int = 200

    def __post_init__(self) -> None:
        """Every value is within the rules, and no game can go on for ever."""
        if self.repetition_limit != 0 and not 2 <= self.repetition_limit <= 9:
            raise ValueError(f"repetition_limit is 0 or 2 to 9, not {self.repetition_limit}")
        if not 0 <= self.quiet_limit <= 2000:
            raise ValueError(f"quiet_limit is 0 to 2000, not {self.quiet_limit}")
        if self.repetition_limit == 0 and self.quiet_limit == 0:
            raise ValueError("repetition_limit and quiet_limit are both off: the game need not end")


STANDARD = Options()


@dataclass(frozen=True)
class State:
    """A game between two plies; holes 0-8 are seat 0's holes 1-9 in sowing order, 9-17 seat 1's."""

    holes: Holes
    stores: Stores
    tuzdyks: Tuzdyks  # the hole that each seat owns on the other side, counted from 0 to 17
    mover: int
    quiet: int  # plies since one brought anything into either store
    occurrences: int
    end: str | None
    history: tuple[Position, ...]  # earlier positions, this one not among them
    options: Options
    move: str = ""  # the move that led here, as published games write it


def start(options: Options = STANDARD) -> State:
    """Nine seeds lie in every hole and seat 0 is to move."""
    return position((9,) * 18, (0, 0), NO_TUZDYKS, 0, options)


def position(holes: Holes, stores: Stores, tuzdyks: Tuzdyks, mover: int, options: Options = STANDARD, quiet: int = 0) -> State:
    """The board is as given, nothing came before it, and its end is settled."""
    return settled((holes, stores, tuzdyks, mover), quiet, (), options)


def legal(state: State) -> list[int]:
    """The mover's playable holes, counted from 0; none once the game is over."""
    if state.end is not None:
        return []
    return [hole - 9 * state.mover for hole in playable(state.holes, state.tuzdyks, state.mover)]


def play(state: State, action: int) -> State:
    """The action is carried out, the other seat is to move, and the end is settled."""
    if action not in legal(state):
        raise ValueError(f"{action} is not legal here; legal moves: {legal(state)}")
    after, text = move(state, 9 * state.mover + action)
    quiet = state.quiet + 1 if after[1] == state.stores else 0
    return settled(after, quiet, (*state.history, position_of(state)), state.options, text)


def scores(state: State) -> Stores:
    """The stores; with each side's own seeds added if the game ended short of the middle."""
    if state.end is None or state.end in STORES_ALONE:
        return state.stores
    return state.stores[0] + side(state.holes, 0), state.stores[1] + side(state.holes, 1)


def result(state: State) -> tuple[int, int] | None:
    """+1 and -1 for winner and loser, 0 and 0 for a draw, nothing while the game runs."""
    if state.end is None:
        return None
    first, second = scores(state)
    won = (first > second) - (first < second)
    return won, -won


# The board


def row(seat: int) -> range:
    """The holes of the seat's row, a tuzdyk of the other seat among them."""
    return range(9 * seat, 9 * seat + 9)


def number(hole: int) -> int:
    """What the hole is called in its row, 1 to 9."""
    return hole % 9 + 1


def side(holes: Holes, seat: int) -> int:
    """The seeds on the seat's side."""
    return sum(holes[hole] for hole in row(seat))


def put_into_store(stores: Stores, seat: int, seeds: int) -> Stores:
    """The seeds are in the seat's store."""
    return (stores[0] + seeds, stores[1]) if seat == 0 else (stores[0], stores[1] + seeds)


def emptied(holes: Holes, hole: int) -> Holes:
    """No seed lies in the hole."""
    return (*holes[:hole], 0, *holes[hole + 1 :])


def playable(holes: Holes, tuzdyks: Tuzdyks, mover: int) -> list[int]:
    """The holes the mover may sow, whether or not the game is over for another reason."""
    return [hole for hole in row(mover) if holes[hole] > 0 and hole not in tuzdyks]


# A move


def path(origin: int, seeds: int) -> list[int]:
    """Where each seed of the origin falls, in this order: the first stays, a single one moves on."""
    first = origin + 1 if seeds == 1 else origin
    return [(first + step) % 18 for step in range(seeds)]


def sow(holes: Holes, stores: Stores, tuzdyks: Tuzdyks, origin: int) -> tuple[Holes, Stores, int]:
    """The origin's seeds are sown, those on a tuzdyk stored; the third value is where the last fell."""
    board = list(emptied(holes, origin))
    fallen_to = path(origin, holes[origin])
    for hole in fallen_to:
        if hole in tuzdyks:
            stores = put_into_store(stores, tuzdyks.index(hole), 1)
        else:
            board[hole] += 1
    return tuple(board), stores, fallen_to[-1]


def may_become_tuzdyk(hole: int, tuzdyks: Tuzdyks, mover: int) -> bool:
    """Whether three seeds in this hole of the opponent's would make it the mover's tuzdyk."""
    theirs = tuzdyks[1 - mover]
    same_number = theirs is not None and number(theirs) == number(hole)
    return tuzdyks[mover] is None and number(hole) != 9 and not same_number


def with_tuzdyk(tuzdyks: Tuzdyks, seat: int, hole: int) -> Tuzdyks:
    """The hole is the seat's tuzdyk."""
    return (hole, tuzdyks[1]) if seat == 0 else (tuzdyks[0], hole)


def move(state: State, origin: int) -> tuple[Position, str]:
    """The position after the origin is sown and what is due is taken, and the move's text."""
    mover, tuzdyks = state.mover, state.tuzdyks
    holes, stores, last = sow(state.holes, state.stores, tuzdyks, origin)
    text = f"{number(origin)}{number(last)}"
    if last in row(1 - mover) and last not in tuzdyks:
        seeds = holes[last]
        if seeds % 2 == 0:
            holes, stores = emptied(holes, last), put_into_store(stores, mover, seeds)
            text += f"({stores[mover]})"
        elif seeds == 3 and may_become_tuzdyk(last, tuzdyks, mover):
            holes, stores = emptied(holes, last), put_into_store(stores, mover, seeds)
            tuzdyks = with_tuzdyk(tuzdyks, mover, last)
            text += "X"
    return (holes, stores, tuzdyks, 1 - mover), text


# The end


def position_of(state: State) -> Position:
    """What must come back for the position to have occurred again."""
    return state.holes, state.stores, state.tuzdyks, state.mover


def settled(now: Position, quiet: int, history: tuple[Position, ...], options: Options, text: str = "") -> State:
    """The state holds what is given, its occurrences, and the first ending that applies."""
    holes, stores, tuzdyks, mover = now
    occurrences = 1
    if options.repetition_limit != 0:
        occurrences += history.count(now)
    end = None
    if max(stores) >= 82:
        end = "majority"
    elif stores == (81, 81):
        end = "even_split"
    elif not playable(holes, tuzdyks, mover):
        end = "no_moves"
    elif options.repetition_limit != 0 and occurrences >= options.repetition_limit:
        end = "repetition"
    elif options.quiet_limit != 0 and quiet >= options.quiet_limit:
        end = "quiet_limit"
    return State(holes, stores, tuzdyks, mover, quiet, occurrences, end, history, options, text)


# Text


def to_text(state: State) -> str:
    """The board in short: each seat's holes, the stores, the tuzdyks and the side to move."""
    tuzdyks = ["-" if hole is None else str(number(hole)) for hole in state.tuzdyks]
    parts = [state.holes[:9], state.holes[9:], state.stores, tuzdyks, [state.mover]]
    return "/".join(",".join(map(str, part)) for part in parts)


def from_text(text: str, options: Options = STANDARD, quiet: int = 0) -> State:
    """The state that the text shows, with nothing before it; it may hold any number of seeds."""
    parts = [part.split(",") for part in text.split("/")]
    if [len(part) for part in parts] != [9, 9, 2, 2, 1] or parts[4] not in (["0"], ["1"]):
        raise ValueError(f"no board of Toguz Kumalak: {text!r}")
    first, second = map(int, parts[2])
    if not {*parts[3]} <= {"-", *"12345678"}:
        raise ValueError(f"a tuzdyk is hole 1 to 8 or -, not {parts[3]}")
    south, north = [None if name == "-" else int(name) - 1 for name in parts[3]]
    tuzdyks = (None if south is None else 9 + south, north)
    holes = tuple(int(seeds) for seeds in parts[0] + parts[1])
    return position(holes, (first, second), tuzdyks, int(parts[4][0]), options, quiet)


def move_text(state: State, action: int) -> str:
    """The action as published games write it: hole, last hole, then nothing, `X` or the store."""
    return play(state, action).move


def action_of(state: State, text: str) -> int:
    """The action that the text names, in full, without its suffix or by the hole alone."""
    for action in legal(state):
        full = move_text(state, action)
        if text in (full, full[:2], full[0]):
            return action
    raise ValueError(f"{text!r} is no legal move here; legal are {[move_text(state, action) for action in legal(state)]}")
