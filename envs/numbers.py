"""Whole numbers as people and programs hand them over."""

from typing import Final

import numpy as np

MAX_DIGITS: Final = 18  # what 64 bits surely hold


def read_number(text: str) -> int | None:
    """The number that plain digits spell, None for any other text."""
    plain = text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS
    return int(text) if plain else None


def read_action(value: object, mask: np.ndarray) -> int | None:
    """The action, if it is a whole number (NumPy's too, but no truth value) that the mask allows; else None."""
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        return None
    return int(value) if 0 <= value < len(mask) and mask[value] else None
