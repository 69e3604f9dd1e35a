"""Sets of small numbers kept as the bits of one number: how many there are, and which is the n-th."""

from typing import Final

import numpy as np

from envs.engine.jit import kernel


def choices(size: int) -> tuple[np.ndarray, np.ndarray]:
    """For every set of numbers below `size`: how many it holds, and its n-th, counted from 0."""
    count = np.zeros(1 << size, np.int64)
    nth = np.zeros((1 << size, size), np.int64)
    for bits in range(1 << size):
        numbers = [number for number in range(size) if bits >> number & 1]
        count[bits] = len(numbers)
        nth[bits, : len(numbers)] = numbers
    return count, nth


def lowest_places() -> np.ndarray:
    """Where the lowest bit of a number stands, by that bit modulo 67, which tells all 64 apart."""
    places = np.zeros(67, np.int64)
    for place in range(64):
        places[(1 << place) % 67] = place
    return places


_LOWEST: Final = lowest_places()


@kernel
def lowest(bits: int) -> int:
    """The lowest number in a set of numbers below 63 that is not empty."""
    return _LOWEST[(bits & -bits) % 67]


@kernel
def size(bits: int) -> int:
    """How many numbers below 60 a set holds."""
    pairs = bits - ((bits >> 1) & 0x555555555555555)
    fours = (pairs & 0x333333333333333) + ((pairs >> 2) & 0x333333333333333)
    eights = (fours + (fours >> 4)) & 0xF0F0F0F0F0F0F0F
    sums = eights + (eights >> 8)
    sums += sums >> 16
    return (sums + (sums >> 32)) & 0xFF


@kernel
def nth(bits: int, index: int | np.int64) -> int:
    """The n-th number of a set, counted from 0."""
    for _ in range(index):
        bits &= bits - 1
    return lowest(bits)
