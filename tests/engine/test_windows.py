"""Assigners: the windows of a timestamp, on the grid and at the ends of the long range."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wmviz
from wmviz.engine.local_time import LocalTimeError, LocalWindows
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
from wmviz.scenario import Scenario, ScenarioError
from wmviz.times import MAX_MS, MIN_MS, time_ms
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


ZONES = ["Europe/Berlin", "Australia/Lord_Howe", "Antarctica/Troll", "America/Santiago", "Pacific/Apia", "-03:30"]
THIS_YEAR = st.integers(time_ms("2026-01-01T00:00Z"), time_ms("2027-01-01T00:00Z"))


def local(text, size_ms, zone="Europe/Berlin"):
    ((start_ms, end_ms),) = LocalWindows(zone, size_ms, size_ms).assign(time_ms(text))
    return start_ms, end_ms


class TestLocalTime:
    @given(THIS_YEAR, st.sampled_from(ZONES), st.sampled_from([1, 7, 30, 60, 90, 1440, 10080]), st.data())
    def test_the_one_window_of_an_event_covers_it_and_all_that_its_clock_shows(self, ts, zone, minutes, data):
        size_ms = minutes * 60_000
        assigner = LocalWindows(zone, size_ms, size_ms, data.draw(st.integers(1 - size_ms, size_ms - 1)))
        (window,) = assigner.assign(ts)
        assert window.start_ms <= ts < window.end_ms
        for edge_ms in (window.start_ms, window.end_ms - 1):
            assert assigner.assign(edge_ms) == [window]
        for outside_ms in (window.start_ms - 1, window.end_ms):
            assert assigner.assign(outside_ms) != [window]

    @given(st.integers(-(2**61), 2**61), st.integers(1, 10**9), st.integers(-900, 900), st.data())
    def test_a_fixed_offset_is_a_shift_of_the_grid_at_any_time(self, ts, size_ms, minutes, data):
        sign, (hours, rest) = "-" if minutes < 0 else "+", divmod(abs(minutes), 60)
        slide_ms = data.draw(st.integers(-(-size_ms // 9), size_ms))
        (windows, plain) = (
            LocalWindows(f"{sign}{hours:02}:{rest:02}", size_ms, slide_ms).assign(ts),
            SlidingWindows(size_ms, slide_ms, -(minutes * 60_000 % slide_ms)).assign(ts),
        )
        assert windows == plain
        assert [w.max_timestamp_ms for w in windows] == [w.max_timestamp_ms for w in plain]
        assert [w.cleanup_ms(7) for w in windows] == [w.cleanup_ms(7) for w in plain]

    @given(st.lists(THIS_YEAR | st.integers(time_ms("2026-10-24T20:00Z"), time_ms("2026-10-25T04:00Z"))))
    def test_what_came_before_does_not_matter(self, timestamps):
        assigner = LocalWindows("Europe/Berlin", 1_800_000, 900_000)
        for timestamp_ms in timestamps:
            fresh = LocalWindows("Europe/Berlin", 1_800_000, 900_000)
            assert assigner.assign(timestamp_ms) == fresh.assign(timestamp_ms)

    def test_days_have_23_and_25_hours_and_the_others_24(self):
        day_ms, hour_ms = 86_400_000, 3_600_000
        spring, autumn = local("2026-03-29T12:00Z", day_ms), local("2026-10-25T12:00Z", day_ms)
        assert spring == (time_ms("2026-03-28T23:00Z"), time_ms("2026-03-29T22:00Z"))
        assert autumn == (time_ms("2026-10-24T22:00Z"), time_ms("2026-10-25T23:00Z"))
        assert [end_ms - start_ms for start_ms, end_ms in (spring, autumn)] == [23 * hour_ms, 25 * hour_ms]
        start_ms, end_ms = local("2026-07-01T12:00Z", day_ms)
        assert end_ms - start_ms == day_ms

    def test_pieces_of_a_repeated_hour_reach_from_their_first_moment_to_their_last(self):
        first, second = (local(f"2026-10-25T00:{minute}Z", 1_800_000) for minute in (10, 40))
        assert first == (time_ms("2026-10-25T00:00Z"), time_ms("2026-10-25T01:30Z"))
        assert second == (time_ms("2026-10-25T00:30Z"), time_ms("2026-10-25T02:00Z"))
        assert local("2026-10-25T01:10Z", 1_800_000) == first

    @pytest.mark.parametrize(
        ("text", "zone", "start", "end"),
        [
            ("2011-12-29T12:00Z", "Pacific/Apia", "2011-12-29T10:00Z", "2011-12-30T10:00Z"),  # then a day is skipped
            ("2011-12-30T12:00Z", "Pacific/Apia", "2011-12-30T10:00Z", "2011-12-31T10:00Z"),
            ("0001-01-01T12:00Z", "Europe/Berlin", "0000-12-31T23:06:32Z", None),  # before any zones: by the sun
            ("9999-12-31T23:30Z", "Europe/Berlin", "9999-12-31T23:00Z", None),
        ],
    )
    def test_days_far_away_and_strange_ones(self, text, zone, start, end):
        start_ms, end_ms = local(text, 86_400_000, zone)
        at_start_ms = (
            time_ms("0001-01-01T00:00Z") - 53 * 60_000 - 28_000 if start.startswith("0000") else time_ms(start)
        )
        assert start_ms == at_start_ms
        assert end_ms == (time_ms(end) if end else start_ms + 86_400_000)

    @pytest.mark.parametrize("timestamp_ms", [MIN_MS, MIN_MS + 1, MAX_MS, 2**62 + 1])
    def test_the_ends_of_the_range_are_refused(self, timestamp_ms):
        with pytest.raises(LocalTimeError, match="too far from 1970 for windows in local time"):
            LocalWindows("Europe/Berlin", 10, 10).assign(timestamp_ms)

    def test_sliding_windows_that_flink_robs_of_a_part_are_refused(self):
        with pytest.raises(LocalTimeError, match=r"Flink sets the timer of window \[.*\) behind that of the next one"):
            LocalWindows("Australia/Lord_Howe", 1_800_000, 900_000).assign(time_ms("2026-04-04T14:50Z"))
        with pytest.raises(LocalTimeError, match="skips the starts and the ends of several windows"):
            LocalWindows("Europe/Berlin", 364 * 86_400_000, 900_000).assign(time_ms("2026-05-01T00:00Z"))
        job = Scenario.of(
            events=[["r9", 1, "2026-04-04T14:50Z"]],
            window={"type": "sliding", "size": "30 min", "slide": "15 min", "zone": "Australia/Lord_Howe"},
        )
        with pytest.raises(ScenarioError, match="fails: Australia/Lord_Howe changes its clock, but not by an hour"):
            wmviz.simulate(job)

    @pytest.mark.parametrize(
        ("window", "sentence"),
        [
            ({"type": "session", "gap": "5 min"}, "window.zone: session windows lie on no grid of local time"),
            ({"type": "global"}, "window.zone: global windows lie on no grid of local time"),
            ({"size": "1 h", "time": "processing"}, "window.zone belongs to event-time windows"),
            ({"type": "sliding", "size": "1 h", "slide": "2 h"}, "window.slide is above the size"),
            ({"size": "1 h", "zone": "Europe/Brelin"}, "window.zone: there is no time zone 'Europe/Brelin'"),
            ({"size": "1 h", "zone": 1}, "window.zone is 1; write a zone"),
        ],
    )
    def test_what_has_no_local_time_is_refused_in_a_sentence(self, window, sentence):
        with pytest.raises(ScenarioError, match=sentence):
            Scenario.of(events=[["r9", 1, 5]], window={"type": "tumbling", "zone": "Europe/Berlin", **window})

    def test_a_zone_is_saved_and_taken_out_again(self, tmp_path):
        scenario = Scenario.of(events=[["r9", 1, 5]], window={"size": "1 day", "zone": "Europe/Berlin"})
        scenario.save(tmp_path / "it.json")
        assert Scenario.load(tmp_path / "it.json") == scenario
        assert scenario.replace(window={"zone": None}).window == Window(size_ms=86_400_000)

    def test_a_timer_that_is_not_the_last_millisecond_is_not_called_so(self):
        zone = "Australia/Lord_Howe"
        events = [["r9", 1, "2026-04-04T14:10Z"], ["r9", 1, "2026-04-04T16:00Z"]]
        scenario = Scenario.of(events=events, window={"size": "1 h", "zone": zone}, bound=0, zone=zone)
        sentences = str(wmviz.simulate(scenario).explain("r9@2026-04-05 01:10"))
        assert f"2026-04-05 02:29:59.999, where Flink sets its timer near a change of the clock in {zone}" in sentences

    def test_lateness_by_the_local_clock_is_called_so(self):
        scenario = Scenario.of(
            events=[["r9", 1, "2026-10-25T12:00Z"], ["r4471", 1, "2026-10-24T20:00Z", "2026-10-25T13:00Z"]],
            window={"size": "1 day", "zone": "Europe/Berlin"},
            bound=0,
            lateness="5 h",
            late_to="side",
        )
        sentences = str(wmviz.simulate(scenario).explain("r4471@2026-10-24 20:00"))
        assert (
            "was deleted at watermark 2026-10-25 03:59:59.999 (2026-10-24 21:59:59.999 + 5 h of lateness " in sentences
        )
        assert "lateness by the clock of Europe/Berlin), and the watermark is" in sentences


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
            (Window(size_ms=10, zone="UTC"), TumblingWindows),
            (Window(size_ms=10, zone="+05:30"), LocalWindows),
            (Window("sliding", 10, 5, zone="Europe/Berlin"), LocalWindows),
        ],
    )
    def test_a_scenario_has_its_assigner(self, window, kind):
        assert type(assigner_of(window)) is kind
