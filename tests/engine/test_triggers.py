"""Triggers: at which element, and at which time of the timer, a window fires."""

import pytest

from wmviz.engine.triggers import (
    CountTrigger,
    EndOfStreamTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeTrigger,
    trigger_of,
)
from wmviz.engine.window_operator import Pane
from wmviz.times import MAX_MS, MIN_MS
from wmviz.window import GLOBAL_WINDOW, TimeWindow, Window

PANE = Pane("k", TimeWindow(0, 10))


def test_event_time_fires_at_the_last_millisecond_and_for_each_element_from_there_on():
    trigger = EventTimeTrigger()
    assert trigger.timer_ms(PANE.window) == 9
    assert [trigger.on_element(PANE, watermark_ms) for watermark_ms in (MIN_MS, 8, 9, 10)] == [False, False, True, True]


def test_processing_time_waits_for_the_clock():
    assert ProcessingTimeTrigger().timer_ms(PANE.window) == 9
    assert not ProcessingTimeTrigger().on_element(PANE, 100)


def test_count_fires_at_every_nth_element_of_each_window():
    trigger, one, other = CountTrigger(2), Pane("k", TimeWindow(0, 10)), Pane("k", TimeWindow(10, 20))
    assert [trigger.on_element(pane, 0) for pane in (one, other, one, one, other, one)] == [
        False,
        False,
        True,
        False,
        True,
        True,
    ]
    assert trigger.timer_ms(one.window) is None


def test_end_of_stream_waits_for_max():
    assert EndOfStreamTrigger().timer_ms(GLOBAL_WINDOW) == MAX_MS
    assert not EndOfStreamTrigger().on_element(Pane("k", GLOBAL_WINDOW), MAX_MS)


def test_never_never_fires():
    assert NeverTrigger().timer_ms(GLOBAL_WINDOW) is None
    assert not NeverTrigger().on_element(PANE, MAX_MS)


@pytest.mark.parametrize(
    ("window", "kind", "purging"),
    [
        (Window(size_ms=10), EventTimeTrigger, False),
        (Window(size_ms=10, time="processing"), ProcessingTimeTrigger, False),
        (Window("global"), NeverTrigger, False),
        (Window("global", trigger="end_of_stream"), EndOfStreamTrigger, False),
        (Window(size_ms=10, trigger="purging_event_time"), EventTimeTrigger, True),
        (Window(size_ms=10, trigger="count:3"), CountTrigger, False),
        (Window("global", trigger="purging_count:3"), CountTrigger, True),
        (Window(size_ms=10, trigger="never"), NeverTrigger, False),
    ],
)
def test_a_scenario_has_its_trigger(window, kind, purging):
    trigger, purges = trigger_of(window)
    assert (type(trigger), purges) == (kind, purging)
