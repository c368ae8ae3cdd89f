"""Assigners: the windows of a timestamp, on the grid and at the ends of the long range."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmviz.engine.longs import remainder, wrap
from wmviz.engine.windows import (
    GlobalWindows,
    NoTimestampError,
    SessionWindows,
    SlidingWindows,
    TumblingWindows,
    assigner_of,
    window_start_ms,
)
from wmviz.times import MAX_MS, MIN_MS
from wmviz.window import GLOBAL_WINDOW, TimeWindow, Window

INSIDE = st.integers(-(2**60), 2**60)


class TestLongs:
    @pytest.mark.parametrize(("number", "long"), [(0, 0), (MAX_MS + 1, MIN_MS), (MIN_MS - 1, MAX_MS), (2**64, 0)])
    def test_an_overflow_comes_back_at_the_other_end(self, number, long):
        assert wrap(number) == long

    @pytest.mark.parametrize(("number", "rest"), [(7, 2), (-7, -2), (-5, 0), (0, 0)])
    def test_the_remainder_has_the_sign_of_the_number(self, number, rest):
        assert remainder(number, 5) == rest


class TestTumbling:
    @given(INSIDE, st.integers(1, 10**9), st.data())
    def test_every_timestamp_is_in_its_one_window_on_the_grid(self, timestamp_ms, size_ms, data):
        offset_ms = data.draw(st.integers(1 - size_ms, size_ms - 1))
        ((start_ms, end_ms),) = TumblingWindows(size_ms, offset_ms).assign(timestamp_ms)
        assert start_ms <= timestamp_ms < end_ms == start_ms + size_ms
        assert (start_ms - offset_ms) % size_ms == 0

    @given(st.lists(st.integers(MIN_MS + 1, MIN_MS + 40) | st.integers(MAX_MS - 40, MAX_MS) | st.integers(-40, 40)))
    def test_what_came_before_does_not_matter(self, timestamps):
        assigner = TumblingWindows(10, 9)
        for timestamp_ms in timestamps:
            assert assigner.assign(timestamp_ms) == TumblingWindows(10, 9).assign(timestamp_ms)

    def test_a_record_without_timestamp_is_an_error(self):
        with pytest.raises(NoTimestampError, match=r"no timestamp \(Long.MIN_VALUE\)"):
            TumblingWindows(10).assign(MIN_MS)

    @pytest.mark.parametrize(("size_ms", "offset_ms"), [(0, 0), (-5, 0), (10, 10), (10, -10)])
    def test_a_wrong_size_or_offset_is_refused(self, size_ms, offset_ms):
        with pytest.raises(ValueError, match=r"needs \|offset\| < size and size > 0"):
            TumblingWindows(size_ms, offset_ms)


class TestSliding:
    @given(INSIDE, st.integers(1, 200), st.integers(1, 200), st.data())
    def test_an_event_is_in_exactly_the_windows_around_it_newest_first(self, timestamp_ms, size_ms, slide_ms, data):
        offset_ms = data.draw(st.integers(1 - slide_ms, slide_ms - 1))
        found = SlidingWindows(size_ms, slide_ms, offset_ms).assign(timestamp_ms)
        around = range(timestamp_ms - size_ms + 1, timestamp_ms + 1)
        starts = [start_ms for start_ms in reversed(around) if (start_ms - offset_ms) % slide_ms == 0]
        assert found == [TimeWindow(start_ms, start_ms + size_ms) for start_ms in starts]

    def test_where_java_would_loop_for_ever_the_job_fails(self):
        with pytest.raises(OverflowError, match=r"too close to Long.MIN_VALUE"):
            SlidingWindows(3, 10).assign(MIN_MS + 4)

    @pytest.mark.parametrize(
        ("size_ms", "slide_ms", "offset_ms"), [(0, 5, 0), (10, 0, 0), (10, -5, 0), (10, 5, 5), (10, 5, -5)]
    )
    def test_wrong_numbers_are_refused(self, size_ms, slide_ms, offset_ms):
        with pytest.raises(ValueError, match=r"needs \|offset\| < slide and size > 0"):
            SlidingWindows(size_ms, slide_ms, offset_ms)

    def test_too_many_windows_for_an_event_are_refused(self):
        SlidingWindows(10_000_000, 1)
        with pytest.raises(ValueError, match="more than 10000000 windows"):
            SlidingWindows(10_000_001, 1)


class TestOthers:
    def test_a_session_starts_as_a_window_of_the_gap(self):
        assert SessionWindows(30).assign(-7) == [TimeWindow(-7, 23)]
        with pytest.raises(ValueError, match="gap is 0 ms; it must be above 0"):
            SessionWindows(0)

    @pytest.mark.parametrize("timestamp_ms", [0, MIN_MS, MAX_MS])
    def test_the_global_window_has_every_timestamp(self, timestamp_ms):
        assert list(GlobalWindows().assign(timestamp_ms)) == [GLOBAL_WINDOW]
        assert GLOBAL_WINDOW.max_timestamp_ms == MAX_MS

    def test_the_last_millisecond_is_end_minus_one(self):
        assert TimeWindow(0, 10).max_timestamp_ms == 9
        assert TimeWindow(MAX_MS - 15, MIN_MS).max_timestamp_ms == MAX_MS

    def test_a_start_is_rounded_down(self):
        assert [window_start_ms(ts, 0, 10) for ts in (-11, -10, -1, 0, 9, 10)] == [-20, -10, -10, 0, 0, 10]

    @pytest.mark.parametrize(
        ("window", "kind"),
        [
            (Window(size_ms=10), TumblingWindows),
            (Window("sliding", 10, 5), SlidingWindows),
            (Window("global"), GlobalWindows),
        ],
    )
    def test_a_scenario_has_its_assigner(self, window, kind):
        assert type(assigner_of(window)) is kind
