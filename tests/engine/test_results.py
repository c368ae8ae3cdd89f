"""Aggregates and sinks: how values become a result, and what a reader of the results finds."""

import pytest

from wmviz.engine.aggregates import AGGREGATES
from wmviz.engine.sinks import sink_of
from wmviz.window import TimeWindow

HOUR = TimeWindow(0, 10)


@pytest.mark.parametrize(
    ("name", "results"),
    [
        ("sum", [5, 3, 10]),
        ("count", [1, 2, 3]),
        ("max", [5, 5, 7]),
        ("min", [5, -2, -2]),
        ("average", [5, 1, 3]),
    ],
)
def test_an_aggregate_grows_value_by_value(name, results):
    aggregate = AGGREGATES[name]
    accumulator, found = None, []
    for number, value in enumerate([5, -2, 7], start=1):
        accumulator = aggregate.start(value) if accumulator is None else aggregate.add(accumulator, value)
        found.append(accumulator if aggregate.result is None else aggregate.result(accumulator, number))
    assert found == results


def test_an_average_is_rounded_down_also_below_zero():
    average = AGGREGATES["average"]
    assert average.result(average.add(average.start(-1), -2), 2) == -2


@pytest.mark.parametrize("name", AGGREGATES)
def test_two_accumulators_merge_to_the_one_of_all_values(name):
    aggregate = AGGREGATES[name]

    def all_of(values):
        accumulator = aggregate.start(values[0])
        for value in values[1:]:
            accumulator = aggregate.add(accumulator, value)
        return accumulator

    assert aggregate.merge(all_of([5, -2]), all_of([7, 9, 1])) == all_of([5, -2, 7, 9, 1])


def test_an_upsert_sink_overwrites():
    sink = sink_of("upsert")
    assert [sink.write("r9", HOUR, value) for value in (1000, 2500, 2500)] == [1000, 2500, 2500]
    assert sink.rows == {("r9", HOUR): 2500}


def test_an_append_sink_keeps_every_result():
    sink = sink_of("append")
    for value in (1000, 2500):
        sink.write("r9", HOUR, value)
    assert [tuple(row) for row in sink.rows] == [("r9", HOUR, 1000), ("r9", HOUR, 2500)]
