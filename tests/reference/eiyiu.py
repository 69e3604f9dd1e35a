"""Eiyiu in plain Python: slow, written from the rules alone, to check the engine against.

Tiles lie on cells (x, y) of an unbounded grid, y upward. An action is a tuple: ("open", number), ("hidden",),
("deal", number), ("lift", cell) or ("lay", cell); a turn is a take (one of the first, second and fourth kind) and a lay,
and between ("hidden",) and the lay chance deals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

Cell = tuple[int, int]
Tiles = tuple[tuple[Cell, int], ...]
Numbers = tuple[int, ...]
Last = tuple[Cell | None, Cell | None]
Action = tuple[str] | tuple[str, int] | tuple[str, Cell]

SAME_TILES = ("any", "own")
SET = (1, 2, 3, 4, 5, 6, 7, 8, 9)
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))
FIRST_CELL = (0, 0)  # all cells are alike before the first tile lies
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Options:
    """What the rules leave open."""

    shift_limit: int = 200
    same_tile: str = "any"

    def __post_init__(self) -> None:
        """Every value is within the rules, and no game can go on for ever."""
        if not 1 <= self.shift_limit <= 2000:
            raise ValueError(f"shift_limit is 1 to 2000, not {self.shift_limit}")
        if self.same_tile not in SAME_TILES:
            raise ValueError(f"same_tile is one of {SAME_TILES}, not {self.same_tile!r}")


STANDARD = Options()


@dataclass(frozen=True)
class State:
    """A game between two actions; the mover is the seat whose turn it is, while chance deals too."""

    tiles: Tiles  # sorted by cell; a lifted tile is not among them
    open: Numbers
    hidden: Numbers
    hand: int | None
    lifted: Cell | None  # where the tile in hand lay
    drawing: bool  # chance is to deal
    last: Last  # where the tile that each seat moved in its previous turn lies now, or lay if it is the lifted one
    mover: int
    shifts: int
    ply: int  # takes and lays so far
    end: str | None
    winner: int | None
    options: Options


def start(options: Options = STANDARD) -> State:
    """No tile lies, both piles are full and seat 0 is to take."""
    return position({}, SET, SET, 0, options)


def position(
    tiles: Mapping[Cell, int],
    open: Iterable[int],
    hidden: Iterable[int],
    mover: int,
    options: Options = STANDARD,
    hand: int | None = None,
    lifted: Cell | None = None,
    last: Last = (None, None),
    shifts: int = 0,
    drawing: bool = False,
) -> State:
    """The board is as given and its end is settled; the ply is that of a game with every tile laid and moved in turn."""
    turns = len(tiles) + (lifted is not None) + shifts
    state = State(
        tiles=tuple(sorted(tiles.items())),
        open=tuple(sorted(open)),
        hidden=tuple(sorted(hidden)),
        hand=hand,
        lifted=lifted,
        drawing=drawing,
        last=last if options.same_tile == "own" else only(1 - mover, last[1 - mover]),
        mover=mover,
        shifts=shifts,
        ply=2 * turns + (hand is not None or drawing),
        end=None,
        winner=None,
        options=options,
    )
    check(state)
    return settled(state)


def legal(state: State) -> list[Action]:
    """What may be done now: takes, deals or lays, in order; nothing once the game is over."""
    if state.end is not None:
        return []
    if state.drawing:
        return [("deal", number) for number in sorted(deals(state))]
    if state.hand is not None:
        return [("lay", cell) for cell in targets(cells(state), state.lifted)]
    if moving(state):
        return [("lift", cell) for cell, _ in state.tiles if may_lift(state, cell)]
    return takes(state)


def play(state: State, action: Action) -> State:
    """The action is carried out; after a lay the other seat is to take and the end is settled."""
    if not is_legal(state, action):
        raise ValueError(f"{action} is not legal here; legal actions: {legal(state)}")
    match action:
        case ("open", int(number)):
            return replace(state, open=without(state.open, number), hand=number, ply=state.ply + 1)
        case ("hidden",):
            return replace(state, drawing=True, ply=state.ply + 1)
        case ("deal", int(number)):
            return replace(state, hidden=without(state.hidden, number), hand=number, drawing=False)
        case ("lift", (int(x), int(y))):
            return lift(state, (x, y))
        case ("lay", (int(x), int(y))):
            return settled(lay(state, (x, y)))
    raise AssertionError(action)


def result(state: State) -> tuple[int, int] | None:
    """+1 and -1 for winner and loser, 0 and 0 for a draw, nothing while the game runs."""
    if state.end is None:
        return None
    if state.winner is None:
        return 0, 0
    return (1, -1) if state.winner == 0 else (-1, 1)


def is_legal(state: State, action: Action) -> bool:
    """Whether the action is among the legal ones, without a look at the other lifts."""
    match action:
        case ("lift", (int(x), int(y))):
            return state.end is None and state.hand is None and moving(state) and may_lift(state, (x, y))
    return action in legal(state)


def deals(state: State) -> dict[int, int]:
    """How many hidden tiles there are of each number; each tile is equally likely to be drawn."""
    return dict(Counter(state.hidden))


# Taking


def moving(state: State) -> bool:
    """Whether all tiles lie, or did when the turn began."""
    return not state.open and not state.hidden and (state.hand is None or state.lifted is not None)


def takes(state: State) -> list[Action]:
    """The tiles that may be taken from the piles: no 5 as the first tile of the game, no hidden one as a player's first."""
    laid = len(state.tiles)
    found: list[Action] = [("open", number) for number in sorted(set(state.open)) if laid > 0 or number != 5]
    if laid >= 2 and state.hidden:
        found.append(("hidden",))
    return found


def barred(state: State) -> Cell | None:
    """The cell of the tile that was moved too lately to be moved now, or None."""
    return state.last[state.mover if state.options.same_tile == "own" else 1 - state.mover]


def may_lift(state: State, cell: Cell) -> bool:
    """Whether a tile lies there that is not barred and has another cell to go to."""
    rest = cells(state)
    if cell not in rest or cell == barred(state):
        return False
    rest.remove(cell)
    return len(groups(rest)) == 1 or targets(rest, cell) != []


def lift(state: State, cell: Cell) -> State:
    """The tile is off the board and in hand."""
    rest = tuple(tile for tile in state.tiles if tile[0] != cell)
    return replace(state, tiles=rest, hand=dict(state.tiles)[cell], lifted=cell, ply=state.ply + 1)


# Laying


def lay(state: State, cell: Cell) -> State:
    """The tile in hand lies on the cell, the turn is counted if it was one of moving, and the other seat is to take."""
    assert state.hand is not None
    moved = state.lifted is not None
    return replace(
        state,
        tiles=tuple(sorted((*state.tiles, (cell, state.hand)))),
        hand=None,
        lifted=None,
        last=last_after(state, cell) if moved else state.last,
        mover=1 - state.mover,
        shifts=state.shifts + moved,
        ply=state.ply + 1,
    )


def last_after(state: State, cell: Cell) -> Last:
    """The mover's tile lies on the cell; under "own" the other seat's has gone there with it if it was the same tile."""
    other = None
    if state.options.same_tile == "own":
        other = state.last[1 - state.mover]
    if other == state.lifted:
        other = cell
    return only(state.mover, cell, other)


def only(seat: int, its: Cell | None, other: Cell | None = None) -> Last:
    """The seat's cell, and the other seat's if there is one."""
    return (its, other) if seat == 0 else (other, its)


def targets(tiles: set[Cell], origin: Cell | None) -> list[Cell]:
    """The free cells, the origin not among them, where one more tile leaves all tiles connected along sides."""
    if not tiles:
        return [FIRST_CELL] if origin is None else []
    borders = [{beside for cell in group for beside in neighbours(cell)} for group in groups(tiles)]
    return sorted(set.intersection(*borders) - tiles - {origin})


def groups(tiles: set[Cell]) -> list[set[Cell]]:
    """The tiles in groups that are each connected along sides."""
    left, found = set(tiles), []
    while left:
        todo = [left.pop()]
        group = set(todo)
        while todo:
            for cell in neighbours(todo.pop()):
                if cell in left:
                    left.remove(cell)
                    group.add(cell)
                    todo.append(cell)
        found.append(group)
    return found


def neighbours(cell: Cell) -> tuple[Cell, ...]:
    """The four cells that share a side with the cell."""
    x, y = cell
    return (x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)


# Ending


def settled(state: State) -> State:
    """The end is set if the board has a winning run, made by the seat not to move, or the last turn of moving is over."""
    if state.hand is not None or state.drawing:
        return state
    if runs_of_15(state.tiles):
        return replace(state, end="run_of_15", winner=1 - state.mover)
    if state.shifts >= state.options.shift_limit:
        return replace(state, end="shift_limit")
    return state


def runs_of_15(tiles: Mapping[Cell, int] | Tiles) -> list[list[Cell]]:
    """The maximal runs of three or more tiles that sum to 15."""
    board: dict[Cell, int] = dict(tiles)
    return [run for run in runs(board) if len(run) >= 3 and sum(board[cell] for cell in run) == 15]


def runs(board: dict[Cell, int]) -> list[list[Cell]]:
    """Every maximal run of two or more tiles, read from end to end in each direction."""
    found = []
    for x, y in sorted(board):
        for dx, dy in DIRECTIONS:
            if (x - dx, y - dy) not in board and (x + dx, y + dy) in board:
                found.append(run_from(board, (x, y), (dx, dy)))
    return found


def run_from(board: dict[Cell, int], first: Cell, step: Cell) -> list[Cell]:
    """The tiles from the first on, up to the first free cell."""
    run = []
    x, y = first
    while (x, y) in board:
        run.append((x, y))
        x, y = x + step[0], y + step[1]
    return run


# Parts


def cells(state: State) -> set[Cell]:
    """Where tiles lie."""
    return {cell for cell, _ in state.tiles}


def without(numbers: Numbers, number: int) -> Numbers:
    """The numbers with one such number fewer."""
    left = list(numbers)
    left.remove(number)
    return tuple(left)


def check(state: State) -> None:
    """The parts of the position agree with each other."""
    at_hand = () if state.hand is None else (state.hand,)
    board = cells(state) | ({state.lifted} if state.lifted else set())
    if not {number for _, number in state.tiles}.union(state.open, state.hidden, at_hand) <= set(SET):
        raise ValueError("a tile's number is 1 to 9")
    if state.mover not in (0, 1) or not 0 <= state.shifts <= state.options.shift_limit:
        raise ValueError("the side is 0 or 1, and shifts are 0 to shift_limit")
    if len(groups(board)) > 1:
        raise ValueError("the tiles are not connected along sides")
    if state.drawing and (state.hand is not None or not state.hidden):
        raise ValueError("chance deals a hidden tile into an empty hand")
    if state.lifted is not None and (state.lifted in cells(state) or state.hand is None or state.open or state.hidden):
        raise ValueError("a lifted tile is in hand, off the board, and the piles are exhausted")
    if not {cell for cell in state.last if cell is not None} <= board:
        raise ValueError("no tile lies where one was moved last")


# Names and texts


def corner(state: State) -> Cell:
    """The lower left corner of the tiles' bounding box, to which a lifted tile's old cell belongs."""
    box = cells(state) | ({state.lifted} if state.lifted else set()) or {FIRST_CELL}
    return min(x for x, _ in box), min(y for _, y in box)


def name(cell: Cell, state: State) -> str:
    """The cell's name, by which the lower left corner of the bounding box is b2."""
    left, bottom = corner(state)
    return f"{LETTERS[cell[0] - left + 1]}{cell[1] - bottom + 2}"


def cell(name: str, state: State) -> Cell:
    """The cell of that name."""
    x, y = offset(name)
    left, bottom = corner(state)
    return left + x, bottom + y


def offset(name: str) -> Cell:
    """How far right of b2 and above it the cell is."""
    if not re.fullmatch(r"[a-z][1-9][0-9]?", name):
        raise ValueError(f"{name!r} is no cell: a letter and a number from 1 to 99")
    return LETTERS.index(name[0]) - 1, int(name[1:]) - 2


def to_text(state: State) -> str:
    """The position in seven words: board, open and hidden numbers, hand, last moved, side, shifts."""
    hand = "?" if state.drawing else str(state.hand or "-")
    piles = ["".join(map(str, numbers)) or "-" for numbers in (state.open, state.hidden)]
    return " ".join([board_text(state), *piles, hand, last_text(state), str(state.mover), str(state.shifts)])


def board_text(state: State) -> str:
    """The rows of the bounding box from the top; a lifted tile's old cell is `_`."""
    marks = {cell: str(number) for cell, number in state.tiles}
    if state.lifted is not None:
        marks[state.lifted] = "_"
    if not marks:
        return "-"
    columns, rows = ([cell[axis] for cell in marks] for axis in (0, 1))
    across, down = range(min(columns), max(columns) + 1), range(max(rows), min(rows) - 1, -1)
    return "/".join("".join(marks.get((x, y), ".") for x in across) for y in down)


def last_text(state: State) -> str:
    """The name of the cell moved to last, or under "own" both seats' names."""
    names = ["-" if cell is None else name(cell, state) for cell in state.last]
    return ",".join(names) if state.options.same_tile == "own" else names[1 - state.mover]


def from_text(text: str, options: Options = STANDARD) -> State:
    """The position of the text, the lower left corner of its bounding box on (0, 0)."""
    words = text.split()
    if len(words) != 7:
        raise ValueError(f"a position has seven words, not {len(words)}")
    board, open, hidden, hand, last, side, shifts = words
    marks = read_board(board)
    return position(
        {cell: int(mark) for cell, mark in marks.items() if mark != "_"},
        read_numbers(open),
        read_numbers(hidden),
        int(side),
        options,
        hand=None if hand in ("?", "-") else int(hand),
        lifted=next((cell for cell, mark in marks.items() if mark == "_"), None),
        last=read_last(last, int(side), options),
        shifts=int(shifts),
        drawing=hand == "?",
    )


def read_board(text: str) -> dict[Cell, str]:
    """What stands on each cell that is not free."""
    if text == "-":
        return {}
    rows = text.split("/")[::-1]
    return {(x, y): mark for y, row in enumerate(rows) for x, mark in enumerate(row) if mark != "."}


def read_numbers(text: str) -> Numbers:
    """The numbers of a pile."""
    return () if text == "-" else tuple(map(int, text))


def read_last(text: str, side: int, options: Options) -> Last:
    """Where the tiles moved last lie, by seat."""
    found = [None if word == "-" else offset(word) for word in text.split(",")]
    if len(found) != (2 if options.same_tile == "own" else 1):
        raise ValueError(f"{text!r} names the tiles moved last of {len(found)} seats")
    return (found[0], found[1]) if len(found) == 2 else only(1 - side, found[0])
