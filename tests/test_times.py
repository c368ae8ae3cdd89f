"""Times and durations: what a person writes and the milliseconds it means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmviz.times import (
    MAX_MS,
    MIN_MS,
    TimeError,
    duration_ms,
    duration_text,
    iso_text,
    sql_interval,
    time_ms,
    time_text,
    zone_info,
)

LONGS = st.integers(MIN_MS, MAX_MS)


class TestTimes:
    @pytest.mark.parametrize(
        ("text", "ms"),
        [
            ("0:00", 0),
            ("6:56", 24_960_000),
            ("06:56", 24_960_000),
            (" 6:56 ", 24_960_000),
            ("6:59:59.999", 25_199_999),
            ("7:00:00.1", 25_200_100),
            ("7:00:00.01", 25_200_010),
            ("25:00", 90_000_000),
            ("-0:01", -60_000),
            ("-1:00:00.5", -3_600_500),
            ("1970-01-01T00:00Z", 0),
            ("1969-12-31T23:59:59.999Z", -1),
            ("2026-10-17T07:00+05:30", 1_792_200_600_000),
            ("2026-10-17 07:00 +05:30", 1_792_200_600_000),
            ("2026-10-17T01:30:00.5Z", 1_792_200_600_500),
            ("2026-10-16T20:00-05:30", 1_792_200_600_000),
            (0, 0),
            (MIN_MS, MIN_MS),
            (MAX_MS, MAX_MS),
        ],
    )
    def test_a_time_is_read(self, text, ms):
        assert time_ms(text) == ms

    @pytest.mark.parametrize(
        "wrong",
        [
            "",
            "6",
            "6:60",
            "6:5",
            "6:56:60",
            "6:56:00.1234",
            "6.56",
            "6:56 pm",
            "2026-10-17",
            1.0,
            True,
            None,
            [],
            "٦:٥٦",
        ],
    )
    def test_what_is_no_time_is_refused_with_what_to_write(self, wrong):
        with pytest.raises(TimeError, match=r'is not a time; write "6:56"'):
            time_ms(wrong)

    def test_a_date_needs_a_zone(self):
        with pytest.raises(TimeError, match=r'has no zone; write one behind it, as in "2026-10-17T07:00\+00:00"'):
            time_ms("2026-10-17T07:00")

    @pytest.mark.parametrize(
        "wrong", ["2026-02-30T00:00Z", "2026-13-01T00:00Z", "2026-01-01T24:01Z", "0000-01-01T00:00Z"]
    )
    def test_a_date_that_is_not_in_the_calendar_is_refused(self, wrong):
        with pytest.raises(TimeError, match="is not a time"):
            time_ms(wrong)

    @pytest.mark.parametrize("ms", [MIN_MS - 1, MAX_MS + 1])
    def test_outside_the_long_range_is_refused(self, ms):
        with pytest.raises(TimeError, match="outside the 64-bit range"):
            time_ms(ms)
        with pytest.raises(TimeError, match="outside the 64-bit range"):
            duration_ms(ms)

    @pytest.mark.parametrize(
        ("ms", "text"),
        [
            (0, "0:00"),
            (24_960_000, "6:56"),
            (25_199_999, "6:59:59.999"),
            (25_201_000, "7:00:01"),
            (86_399_999, "23:59:59.999"),
            (86_400_000, "1970-01-02 00:00"),
            (-1, "1969-12-31 23:59:59.999"),
            (MIN_MS, "MIN"),
            (MAX_MS, "MAX"),
            (MAX_MS - 1, "9223372036854775806 ms"),
        ],
    )
    def test_a_time_is_written(self, ms, text):
        assert time_text(ms) == text

    def test_a_zone_shows_date_and_local_time(self):
        assert time_text(1_792_200_600_000, "+05:30") == "2026-10-17 07:00"
        assert time_text(1_792_200_600_000, "Europe/Berlin") == "2026-10-17 03:30"
        assert time_text(MIN_MS, "+05:30") == "MIN"

    def test_a_day_is_skipped_and_repeated_where_the_clocks_change(self):
        before, after = time_ms("2026-03-29T00:59:59.999Z"), time_ms("2026-03-29T01:00Z")
        assert time_text(before, "Europe/Berlin") == "2026-03-29 01:59:59.999"
        assert time_text(after, "Europe/Berlin") == "2026-03-29 03:00"

    @given(LONGS)
    def test_iso_text_is_read_back_as_the_same_millisecond(self, ms):
        assert time_ms(iso_text(ms)) == ms

    @given(st.integers(-(10**14), 10**14))
    def test_iso_text_is_read_back_near_the_epoch_too(self, ms):
        assert time_ms(iso_text(ms)) == ms

    @given(st.integers(0, 86_399_999))
    def test_times_of_the_first_day_are_read_back(self, ms):
        assert time_ms(time_text(ms)) == ms

    @given(st.text(max_size=30))
    def test_any_text_is_a_time_or_a_sentence(self, text):
        try:
            found = time_ms(text)
        except TimeError as error:
            found = str(error)
        assert isinstance(found, int) or len(found.splitlines()) == 1


class TestDurations:
    @pytest.mark.parametrize(
        ("text", "ms"),
        [
            ("2 min", 120_000),
            ("2min", 120_000),
            ("1 h 30 min", 5_400_000),
            ("1.5 s", 1_500),
            ("0.001 s", 1),
            ("200 ms", 200),
            ("1 d", 86_400_000),
            ("2 Hours", 7_200_000),
            ("-2 min", -120_000),
            ("0 ms", 0),
            ("0", 0),
            (5, 5),
            (-5, -5),
            ("9223372036854775807 ms", MAX_MS),
        ],
    )
    def test_a_duration_is_read(self, text, ms):
        assert duration_ms(text) == ms

    @pytest.mark.parametrize(
        "wrong", ["", "2", "min", "2 parsecs", "2 min 3", "1e3 ms", "--2 min", 1.5, False, None, {}, "9" * 5000 + " ms"]
    )
    def test_what_is_no_duration_is_refused_with_what_to_write(self, wrong):
        with pytest.raises(TimeError, match='is not a duration; write "2 min"') as refusal:
            duration_ms(wrong)
        assert len(str(refusal.value)) < 200

    def test_a_number_without_a_unit_is_refused_with_the_unit_to_write(self):
        with pytest.raises(TimeError, match='"20 min" or "20 ms": it needs a unit'):
            duration_ms("20")

    @pytest.mark.parametrize("wrong", ["0.5 ms", "1.0005 s"])
    def test_a_part_of_a_millisecond_is_refused(self, wrong):
        with pytest.raises(TimeError, match="is no whole number of milliseconds"):
            duration_ms(wrong)

    def test_a_duration_beyond_the_long_range_is_refused(self):
        with pytest.raises(TimeError, match="outside the 64-bit range"):
            duration_ms("999999999999 d")

    @pytest.mark.parametrize(
        ("ms", "text"),
        [(0, "0 ms"), (120_000, "2 min"), (5_400_000, "1 h 30 min"), (1_500, "1 s 500 ms"), (-60_000, "-1 min")],
    )
    def test_a_duration_is_written(self, ms, text):
        assert duration_text(ms) == text

    @given(LONGS)
    def test_a_duration_is_read_back(self, ms):
        assert duration_ms(duration_text(ms)) == ms


class TestZones:
    @pytest.mark.parametrize("name", [None, "UTC", "+05:30", "-03:00", "+23:59", "Europe/Berlin", "Asia/Kolkata"])
    def test_a_zone_is_found(self, name):
        assert zone_info(name) is not None

    @pytest.mark.parametrize(
        "name", ["", "+24:00", "+5:30", "Europe", "../UTC", "Middle/Earth", "\0", "\ud800", "x" * 999]
    )
    def test_no_such_zone_is_a_sentence(self, name):
        with pytest.raises(TimeError, match=r'there is no time zone .*; write "\+05:30"') as refusal:
            zone_info(name)
        assert len(str(refusal.value)) < 200


@pytest.mark.parametrize(
    ("length_ms", "sql"),
    [
        (0, "INTERVAL '0' SECOND"),
        (86_400_000, "INTERVAL '1' DAY"),
        (100 * 86_400_000, "INTERVAL '100' DAY(3)"),
        (90 * 60_000, "INTERVAL '90' MINUTE"),
        (-(30 * 60_000), "INTERVAL '-30' MINUTE"),
        (121_000, "INTERVAL '121' SECOND(3)"),
        (61_007, "INTERVAL '61.007' SECOND(2, 3)"),
        (-1, "INTERVAL '-0.001' SECOND(2, 3)"),
    ],
)
def test_a_length_is_written_as_an_interval_of_sql(length_ms, sql):
    assert sql_interval(length_ms) == sql
