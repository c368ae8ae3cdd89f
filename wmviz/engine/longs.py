"""Java's 64-bit arithmetic at the ends of the range, where Python's whole numbers would go on."""

from __future__ import annotations

from wmviz.times import MAX_MS

_RANGE = 2**64


def wrap(number: int) -> int:
    """Give the ``long`` that Java has after an addition or subtraction that overflows."""
    return (number + MAX_MS + 1) % _RANGE - MAX_MS - 1


def remainder(number: int, divisor: int) -> int:
    """Give Java's ``number % divisor`` for a positive divisor: it has the sign of the number."""
    return number % divisor if number >= 0 else -(-number % divisor)
