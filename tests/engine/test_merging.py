"""Sessions."""

import pytest

from tests.engine.noted import Noted
from wmviz.engine.aggregates import AGGREGATES
from wmviz.engine.merging import MergedWindowLateError, MergingWindowOperator
from wmviz.engine.triggers import CountTrigger, EventTimeTrigger, ProcessingTimeTrigger
from wmviz.engine.windows import SessionWindows
from wmviz.times import MAX_MS


class Sessions:
    def __init__(self, trigger=None, aggregate="sum", gap_ms=10, **options):
        self.out = Noted()
        self.operator = MergingWindowOperator(
            SessionWindows(gap_ms), trigger or EventTimeTrigger(), AGGREGATES[aggregate], self.out, **options
        )
        self.number = 0

    def event(self, timestamp_ms, value=1, key="k"):
        self.operator.process(key, timestamp_ms, value, self.number)
        self.number += 1
        return self.told()

    def watermark(self, watermark_ms):
        self.operator.advance(watermark_ms)
        return self.told()

    def told(self):
        """Give what was told, each pane as its window."""
        return [
            tuple(getattr(said, "window", said) for said in call)
            for call in self.out.take()
            if call[0] not in ("added", "watermark")
        ]


@pytest.mark.parametrize(("distance_ms", "sessions"), [(9, 1), (10, 1), (11, 2)])
def test_sessions_that_only_touch_are_one(distance_ms, sessions):
    given = Sessions()
    given.event(0)
    given.event(distance_ms)
    assert sum(call[0] == "fired" for call in given.watermark(1000)) == sessions


def test_a_merge_tells_which_windows_became_one_before_the_event_is_added():
    given = Sessions()
    given.event(0)
    given.event(15)
    assert given.event(8) == [("merged", (0, 25), [(0, 10), (15, 25)])]


def test_an_event_within_a_session_merges_nothing():
    given = Sessions()
    given.event(0)
    given.event(5)
    assert given.event(3) == []


def test_a_session_fires_at_its_last_millisecond_and_is_gone():
    given = Sessions()
    given.event(0, 3)
    given.event(5, 4)
    assert given.watermark(13) == []
    assert given.watermark(14) == [("fired", (0, 15), 7), ("cleaned", (0, 15))]
    assert given.operator._live == {}


@pytest.mark.parametrize(("aggregate", "value"), [("sum", 12), ("count", 3), ("max", 7), ("min", 1), ("average", 4)])
def test_accumulators_merge(aggregate, value):
    given = Sessions(aggregate=aggregate)
    for timestamp_ms, number in ((0, 4), (15, 7), (8, 1)):
        given.event(timestamp_ms, number)
    assert ("fired", (0, 25), value) in given.watermark(24)


def test_an_event_that_is_late_alone_counts_where_it_touches_a_live_session():
    given = Sessions()
    given.event(20)
    given.watermark(21)
    assert given.event(11) == [("merged", (11, 30), [(20, 30)])]
    assert given.event(0) == [("dropped", 2)]


def test_late_events_go_to_the_side_output_if_there_is_one():
    given = Sessions(side_output=True)
    given.watermark(21)
    assert given.event(12) == [("late", 0)]
    assert given.event(13) == []


def test_a_fired_session_that_grows_fires_again_at_its_new_end():
    given = Sessions(lateness_ms=10)
    given.event(0)
    assert given.watermark(9) == [("fired", (0, 10), 1)]
    assert given.event(8) == [("merged", (0, 18), [(0, 10)])]
    assert given.watermark(17) == [("fired", (0, 18), 2)]
    assert given.watermark(27) == [("cleaned", (0, 18))]


def test_it_fires_at_once_if_its_new_end_is_behind_the_watermark_too():
    given = Sessions(lateness_ms=20)
    given.event(0)
    given.watermark(20)
    assert given.event(5) == [("merged", (0, 15), [(0, 10)]), ("fired", (0, 15), 2)]
    assert given.event(2) == [("fired", (0, 15), 3)]


def test_the_timers_of_merged_sessions_are_deleted():
    given = Sessions(lateness_ms=3)
    given.event(0)
    given.event(15)
    given.event(8)
    assert given.watermark(26) == [("fired", (0, 25), 3)]
    assert given.watermark(27) == [("cleaned", (0, 25))]


def test_counts_add_up():
    given = Sessions(CountTrigger(3))
    given.event(0)
    given.event(15)
    assert given.event(8) == [("merged", (0, 25), [(0, 10), (15, 25)]), ("fired", (0, 25), 3)]


def test_purging_leaves_only_what_came_since():
    given = Sessions(purging=True, lateness_ms=10)
    given.event(0, 5)
    assert given.watermark(9) == [("fired", (0, 10), 5), ("purged", (0, 10))]
    given.event(8, 2)
    assert given.watermark(17) == [("fired", (0, 18), 2), ("purged", (0, 18))]


def test_after_a_restore_a_session_that_had_fired_gets_its_timer_back_with_the_next_event():
    given = Sessions(lateness_ms=10)
    given.event(0)
    given.watermark(9)
    given.operator.watermark_ms = -1
    assert given.event(0) == []
    assert given.watermark(9) == [("fired", (0, 10), 2)]


def test_sessions_may_not_merge_when_their_cleanup_time_overflows():
    given = Sessions(lateness_ms=MAX_MS)
    given.event(0)
    given.watermark(9)
    with pytest.raises(MergedWindowLateError, match=r"\[0, 15\).*shorter lateness"):
        given.event(5)


def test_sessions_by_the_clock_of_the_machine_end_one_millisecond_later():
    given = Sessions(ProcessingTimeTrigger(), event_time=False)
    given.event(100)
    given.event(107)
    assert given.operator.next_processing_time_ms() == 117
    given.operator.advance_processing_time(116)
    assert given.told() == []
    given.operator.advance_processing_time(117)
    assert given.told() == [("fired", (100, 117), 2), ("cleaned", (100, 117))]


def test_a_session_whose_end_wraps_around_the_range_is_one_for_equal_timestamps():
    told = Sessions()
    assert told.event(MAX_MS - 1) == told.event(MAX_MS - 1, 2) == []
    fired = [call for call in told.watermark(MAX_MS) if call[0] == "fired"]
    assert [call[2] for call in fired] == [3]
