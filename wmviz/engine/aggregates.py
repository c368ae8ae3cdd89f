"""Aggregates: how the values of a window become one result, without keeping the values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import NamedTuple


class Aggregate(NamedTuple):
    """Flink's AggregateFunction on whole numbers.

    Attributes
    ----------
    start
        Makes the accumulator of the first value.
    add
        (accumulator, value) → accumulator.
    merge
        (accumulator, accumulator) → accumulator, for windows that merge.
    result
        (accumulator, number of values) → result; None where the accumulator is the result.
    """

    start: Callable[[int], int]
    add: Callable[[int, int], int]
    merge: Callable[[int, int], int]
    result: Callable[[int, int], int] | None = None


AGGREGATES = {
    "sum": Aggregate(operator.pos, operator.add, operator.add),
    "count": Aggregate(lambda _value: 1, lambda count, _value: count + 1, operator.add),
    "max": Aggregate(operator.pos, max, max),
    "min": Aggregate(operator.pos, min, min),
    # Rounded down, so that the result stays a whole number of the smallest unit.
    "average": Aggregate(operator.pos, operator.add, operator.add, operator.floordiv),
}
