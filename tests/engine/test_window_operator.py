"""The window operator: what each element and each watermark makes it tell, in order."""

import pytest

from wmviz.engine.aggregates import AGGREGATES
from wmviz.engine.triggers import CountTrigger, EventTimeTrigger, ProcessingTimeTrigger
from wmviz.engine.window_operator import WindowOperator
from wmviz.engine.windows import SlidingWindows, TumblingWindows
from wmviz.times import MAX_MS, MIN_MS


class Told(list):
    """Notes all that the operator tells, as (what, numbers)."""

    def added(self, pane, event):
        self.append(("added", pane.key, tuple(pane.window), event))

    def fired(self, pane, value):
        self.append(("fired", pane.key, tuple(pane.window), value))

    def purged(self, pane):
        self.append(("purged", pane.key, tuple(pane.window)))

    def cleaned(self, pane):
        self.append(("cleaned", pane.key, tuple(pane.window)))

    def missed(self, event, key, windows):
        self.append(("missed", event, key, [tuple(window) for window in windows]))

    def late(self, event):
        self.append(("late", event))

    def dropped(self, event):
        self.append(("dropped", event))

    def no_window(self, event):
        self.append(("no window", event))

    def watermark(self, watermark_ms):
        self.append(("watermark", watermark_ms))

    def since(self):
        """Give what was told since the last time."""
        taken = self[:]
        self.clear()
        return taken


@pytest.fixture
def told():
    return Told()


def make(told, assigner=None, trigger=None, **settings):
    return WindowOperator(
        assigner or TumblingWindows(10), trigger or EventTimeTrigger(), AGGREGATES["sum"], told, **settings
    )


def test_an_element_goes_in_and_the_window_fires_at_its_last_millisecond_before_the_watermark_goes_on(told):
    operator = make(told)
    operator.process("x", 1, 5, 0)
    operator.advance(8)
    assert told.since() == [("added", "x", (0, 10), 0), ("watermark", 8)]
    operator.advance(9)
    assert told.since() == [("fired", "x", (0, 10), 5), ("cleaned", "x", (0, 10)), ("watermark", 9)]


def test_within_lateness_the_state_stays_and_each_late_element_fires_with_all(told):
    operator = make(told, lateness_ms=5)
    operator.process("x", 1, 5, 0)
    operator.advance(9)
    told.since()
    operator.process("x", 2, 7, 1)
    assert told.since() == [("added", "x", (0, 10), 1), ("fired", "x", (0, 10), 12)]
    operator.advance(13)
    assert told.since() == [("watermark", 13)]
    operator.advance(14)
    assert told.since() == [("cleaned", "x", (0, 10)), ("watermark", 14)]


@pytest.mark.parametrize(("side_output", "fate"), [(True, "late"), (False, "dropped")])
def test_after_cleanup_an_element_is_late_and_never_both(told, side_output, fate):
    operator = make(told, side_output=side_output)
    operator.advance(9)
    told.since()
    operator.process("x", 9, 5, 0)
    operator.process("x", 10, 5, 1)
    assert told.since() == [(fate, 0), ("added", "x", (10, 20), 1)]


def test_purging_empties_the_window_and_an_empty_window_does_not_fire(told):
    operator = make(told, lateness_ms=5, purging=True)
    operator.process("x", 1, 5, 0)
    operator.advance(9)
    operator.process("x", 2, 7, 1)
    assert [line for line in told.since() if line[0] != "added"] == [
        ("fired", "x", (0, 10), 5),
        ("purged", "x", (0, 10)),
        ("watermark", 9),
        ("fired", "x", (0, 10), 7),
        ("purged", "x", (0, 10)),
    ]
    operator.advance(14)
    assert told.since() == [("cleaned", "x", (0, 10)), ("watermark", 14)]


def test_an_element_that_one_of_its_windows_is_gone_for_is_told_as_missed_there(told):
    operator = make(told, SlidingWindows(10, 5), side_output=True)
    operator.advance(9)
    told.since()
    operator.process("x", 8, 5, 0)
    assert told.since() == [("added", "x", (5, 15), 0), ("missed", 0, "x", [(0, 10)])]


def test_in_a_gap_it_vanishes_ahead_of_the_watermark_and_is_late_behind_it(told):
    operator = make(told, SlidingWindows(3, 10))
    operator.process("x", 5, 5, 0)
    operator.advance(5)
    operator.process("x", 5, 5, 1)
    operator.process("x", 6, 5, 2)
    assert told.since() == [("no window", 0), ("watermark", 5), ("dropped", 1), ("no window", 2)]


def test_windows_fire_in_order_of_their_end(told):
    operator = make(told)
    for timestamp_ms in (25, 5, 15):
        operator.process("x", timestamp_ms, timestamp_ms, 0)
    told.since()
    operator.advance(100)
    assert [line[3] for line in told.since() if line[0] == "fired"] == [5, 15, 25]


def test_at_max_everything_fires_and_after_it_everything_is_late(told):
    operator = make(told, lateness_ms=MAX_MS)
    operator.process("x", 5, 1, 0)
    operator.advance(MAX_MS)
    operator.process("x", 6, 1, 1)
    assert told.since()[1:] == [("fired", "x", (0, 10), 1), ("watermark", MAX_MS), ("dropped", 1)]


def test_processing_time_windows_go_by_the_clock_and_nothing_is_late(told):
    operator = make(told, trigger=ProcessingTimeTrigger(), event_time=False)
    operator.process("x", 1, 5, 0)
    operator.advance(100)
    assert told.since() == [("added", "x", (0, 10), 0), ("watermark", 100)]
    assert operator.next_processing_time_ms() == 10
    operator.advance_processing_time(9)
    assert told.since() == []
    operator.advance_processing_time(10)
    assert told.since() == [("fired", "x", (0, 10), 5), ("cleaned", "x", (0, 10))]
    assert operator.next_processing_time_ms() is None


def test_a_count_is_dropped_with_its_window(told):
    operator = make(told, trigger=CountTrigger(2), lateness_ms=0)
    operator.process("x", 1, 5, 0)
    operator.advance(9)
    operator.process("x", 11, 5, 1)
    assert [line[0] for line in told.since()] == ["added", "cleaned", "watermark", "added"]


def test_it_starts_with_no_watermark_and_refuses_a_negative_lateness(told):
    assert make(told).watermark_ms == MIN_MS
    with pytest.raises(ValueError, match="lateness is -1 ms; the allowed lateness cannot be negative"):
        make(told, lateness_ms=-1)
