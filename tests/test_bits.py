"""Sets kept as the bits of a number hold what Python's sets of the same numbers hold."""

from __future__ import annotations

import numpy as np
import pytest

from envs.engine import bits

pytestmark = [pytest.mark.jit_off, pytest.mark.bounds]


def random_sets(below: int) -> list[list[int]]:
    """Sets of numbers, sparse and dense, none of them empty."""
    rng = np.random.default_rng(below)
    sets = [sorted(np.flatnonzero(rng.random(below) < share).tolist()) for share in (0.05, 0.3, 0.7, 1) for _ in range(20)]
    return [numbers for numbers in sets if numbers] + [[number] for number in range(below)]


def as_bits(numbers: list[int]) -> np.int64:
    return np.int64(sum(1 << number for number in numbers))


def test_size_lowest_and_nth_are_those_of_the_set() -> None:
    for numbers in random_sets(60):
        packed = as_bits(numbers)
        assert bits.size(packed) == len(numbers)
        assert bits.lowest(packed) == numbers[0]
        assert [bits.nth(packed, index) for index in range(len(numbers))] == numbers


def test_the_lowest_number_may_be_62() -> None:
    assert [bits.lowest(np.int64(1 << number)) for number in range(63)] == list(range(63))


def test_tables_of_choices_hold_every_set() -> None:
    count, nth = bits.choices(9)
    for packed in range(1 << 9):
        numbers = [number for number in range(9) if packed >> number & 1]
        assert count[packed] == len(numbers)
        assert nth[packed, : len(numbers)].tolist() == numbers
