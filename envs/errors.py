"""The errors that users meet. All are `ValueError`s, and their text is one line that says what would be right."""


class IllegalMove(ValueError):
    """The move or action may not be played in this position; the text lists the legal ones."""


class BadText(ValueError):
    """A position, move or record in text form cannot be read."""


class BadOption(ValueError):
    """A game, an option of its rules or an argument of an environment is unknown or has an impossible value."""


class BadSpec(ValueError):
    """A spec string names no agent; the text lists what exists."""


class BadConfig(ValueError):
    """A configuration has an unknown key, a wrong type or an impossible value."""


class Diverged(ValueError):
    """A training run's numbers have stopped being finite; the text says how to go on from before."""
