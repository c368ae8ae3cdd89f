"""Times in every form are read to the millisecond, and what is no time gets a reason."""

from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wmviz.own.errors import OwnEventsError
from wmviz.own.moments import EARLIEST_MS, LATEST_MS, read_moments
from wmviz.own.units import UNITS
from wmviz.times import TimeError, time_ms

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
PER_MS = {"s": 1_000, "ms": 1, "us": 1, "ns": 1}
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "+05:30", "-03:00"])
DATES_MS = st.integers(500_000_000_000, 7_000_000_000_000)  # 1985 to 2191
OCTOBER_MS = time_ms("2026-10-17T07:00Z")


def zone_of(name):
    sign = 1 if name[0] != "-" else -1
    return (
        timezone(sign * timedelta(hours=int(name[1:3]), minutes=int(name[4:]))) if name[0] in "+-" else ZoneInfo(name)
    )


def moment(ms, zone="UTC"):
    return (EPOCH + timedelta(milliseconds=ms)).astimezone(zone_of(zone))


def read(values, name="t", **options):
    return read_moments(pd.Series(values), name, **options)


def assert_read(values, ms, **options):
    found = read(values, **options)
    assert list(found.reasons) == [""] * len(values)
    assert list(found.ms) == list(ms)
    return found


# ---------------------------------------------------------------------------------------------- round trips


@settings(max_examples=60, deadline=None)
@given(st.lists(DATES_MS, min_size=1, max_size=5), ZONES, st.sampled_from(["T", " "]), st.sampled_from(["ms", "us"]))
def test_text_with_an_offset_is_read_back(times_ms, zone, divider, digits):
    spec = "milliseconds" if digits == "ms" else "microseconds"
    texts = [moment(ms, zone).isoformat(divider, spec) for ms in times_ms]
    assert not assert_read(texts, times_ms).notes
    assert_read([text.replace("+00:00", "Z") for text in texts], times_ms)
    assert_read([f"  {text} " for text in texts], times_ms)


@settings(max_examples=60, deadline=None)
@given(st.lists(DATES_MS, min_size=1, max_size=5), ZONES)
@example([time_ms("2026-10-25T00:30Z"), time_ms("2026-10-25T01:30Z")], "Europe/Berlin")
def test_text_and_stamps_without_an_offset_are_of_the_named_zone(times_ms, zone):
    locals_ = [moment(ms, zone).replace(tzinfo=None) for ms in times_ms]
    twice = [
        at.replace(tzinfo=zone_of(zone), fold=0).utcoffset() != at.replace(tzinfo=zone_of(zone), fold=1).utcoffset()
        for at in locals_
    ]
    for values in ([at.isoformat(" ", "milliseconds") for at in locals_], pd.to_datetime(locals_)):
        found = read(values, zone=zone)
        for place, (ms, double) in enumerate(zip(times_ms, twice, strict=True)):
            if double:
                assert f"is a time that {zone} has twice" in found.reasons[place]
            else:
                assert (found.reasons[place], found.ms[place]) == ("", ms)
        assert any(f"read as {zone}" in note for note in found.notes)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(DATES_MS, min_size=1, max_size=5),
    st.sampled_from(list(UNITS)),
    st.sampled_from(["int", "float", "text", "float text", "Int64", "object"]),
    st.integers(0, 999),
    st.booleans(),
)
def test_numbers_are_read_in_the_unit_that_their_size_tells(times_ms, unit, form, below, named):
    scale = UNITS["ms"] // UNITS[unit] if unit in ("us", "ns") else 1
    times_ms = [ms // PER_MS[unit] * PER_MS[unit] for ms in times_ms]
    numbers = [ms // PER_MS[unit] * scale + below % scale for ms in times_ms]
    if "float" in form and unit == "ns":
        numbers = [number // 1_000_000 * 1_000_000 for number in numbers]  # a float has not all the digits
    values = {
        "int": np.array(numbers, dtype=np.int64),
        "float": np.array(numbers, dtype=np.float64),
        "text": [str(number) for number in numbers],
        "float text": [f"{number}.0" for number in numbers],
        "Int64": pd.array(numbers, dtype="Int64"),
        "object": pd.Series(numbers, dtype=object),
    }[form]
    found = assert_read(values, times_ms, **({"time_unit": unit} if named else {}))
    assert len(found.notes) == (0 if named else 1)
    assert named or f"numbers, read as {unit} by their size" in found.notes[0]


@settings(max_examples=40, deadline=None)
@given(st.lists(DATES_MS, min_size=1, max_size=5))
def test_seconds_with_a_fraction_are_read_to_the_millisecond(times_ms):
    assert_read(np.array([ms / 1_000 for ms in times_ms]), times_ms)
    assert_read([f"{ms // 1000}.{ms % 1000:03}" for ms in times_ms], times_ms)


@settings(max_examples=40, deadline=None)
@given(st.lists(DATES_MS, min_size=1, max_size=5), ZONES, st.sampled_from(["s", "ms", "us", "ns"]))
def test_timestamps_of_every_resolution_are_read_back(times_ms, zone, unit):
    times_ms = [ms // PER_MS[unit] * PER_MS[unit] for ms in times_ms]
    aware = pd.Series(pd.to_datetime(times_ms, unit="ms", utc=True)).dt.tz_convert(zone_of(zone)).dt.as_unit(unit)
    assert not assert_read(aware, times_ms).notes
    naive = pd.Series(pd.to_datetime(times_ms, unit="ms")).dt.as_unit(unit)
    assert "no zone: read as UTC" in assert_read(naive, times_ms).notes[0]
    assert_read(pd.Series(list(aware), dtype=object), times_ms)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 400_000_000), min_size=1, max_size=6))
def test_numbers_that_count_from_zero_are_milliseconds(times_ms):
    assert_read(np.array(times_ms), times_ms)
    assert_read(
        [f"{ms // 3_600_000}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}.{ms % 1000:03}" for ms in times_ms], times_ms
    )


# -------------------------------------------------------------------------------------------- single forms


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-17T07:00Z",
        "2026-10-17T07:00:00.000+00:00",
        "2026-10-17 07:00:00 UTC",
        "2026-10-17 07:00:00GMT",
        "2026-10-17T12:30+0530",
        "2026-10-17 12:30:00,000+05:30",
        "2026-10-17T03:00-04",
        "20261017T070000Z",
        "2026-10-17 07:00",
        "1792220400",
        "1792220400000",
        "1792220400000000",
        "1792220400000000999",
        "1.7922204e9",
        "2026/10/17 07:00",
        "2026-10-17T09:00+02:00[Europe/Berlin]",
        "2026-10-17T07:00Z[UTC]",
    ],
)
def test_one_moment_in_many_forms(text):
    assert_read([text], [OCTOBER_MS])


def test_text_of_a_form_that_is_named():
    found = assert_read(["17.10.2026 09:00"], [OCTOBER_MS], time_format="%d.%m.%Y %H:%M", zone="Europe/Berlin")
    assert found.notes == ("t: its times name no zone: read as Europe/Berlin.",)
    assert_read(["10/17/26 03:00 -0400"], [OCTOBER_MS], time_format="%m/%d/%y %H:%M %z")
    assert "is not of the form %d.%m.%Y" in read(["2026-10-17"], time_format="%d.%m.%Y").reasons[0]
    with pytest.raises(OwnEventsError, match="time_format is '%Q', which cannot be"):
        read(["x"], time_format="%Q")


@pytest.mark.parametrize(("name", "unit"), [("ts_s", "s"), ("ts_ms", "ms"), ("AT_MICROS", "us"), ("t_ns", "ns")])
def test_the_name_of_a_column_tells_the_unit(name, unit):
    found = read([12_000_000], name)
    assert found.ms[0] == 12_000_000 * UNITS[unit] // UNITS["ms"]
    assert not found.notes


def test_a_unit_that_is_named_goes_before_the_size():
    assert read([1_792_220_400], "t_ms").ms[0] == 1_792_220_400
    assert read([1_792_220_400], "t_ms", time_unit="s").ms[0] == OCTOBER_MS


# ------------------------------------------------------------------------------------------------- reasons


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "is missing"),
        ("", "is missing"),
        ("NaN", "is missing"),
        ("null", "is missing"),
        ("soon", "'soon' is not a time"),
        ("now", "'now' is not a time"),
        ("today", "'today' is not a time"),
        ("2026-13-01T00:00Z", "is not a time"),
        ("2026-02-30 10:00", "is not a time"),
        ("17.10.2026 07:00", 'is not a time; write time_format="%d.%m.%Y %H:%M"'),
        ("10/Oct/2000:13:55:36 -0700", 'write time_format="%d/%b/%Y:%H:%M:%S %z"'),
        ("[10/Oct/2000:13:55:36 -0700]", "take away what encloses it"),
        ("01/31/2019 12:46:40 AM", 'write time_format="%m/%d/%Y %I:%M:%S %p"'),
        ("01/02/2019", 'write time_format="%m/%d/%Y" or time_format="%d/%m/%Y"'),
        ("17-OCT-26 07.00.00.000000 AM", 'write time_format="%d-%b-%y %I.%M.%S.%f %p"'),
        ("2026-10-17 24:00:00", "write 00:00 of the next day for the hour 24"),
        ("2026-10-17 25:00:00", "'2026-10-17 25:00:00' is not a time"),
        ("2016-12-31T23:59:60Z", "Flink's time has no leap seconds"),
        ("CreateTime:1792220400000", "leave only the number"),
        ("1792220400,5", "decimals have a point here"),
        ("2026-10-17T07:00:00[Europe/Berlin]", "is not a time"),
        ("\\N", "is missing"),
        ("inf", "is not finite"),
        ("9999-12-31", "lies in the year 9999; from 1900 up to 2199 is read"),
        ("9999-12-31T23:59:59Z", "lies in the year 9999"),
        ("0001-01-01T00:00:00Z", "lies in the year 0001"),
        ("2200-01-01T00:00:00Z", "lies in the year 2200"),
        ("1792220400123", "1792220400123 looks like ms, in a column of s"),
        ("0", "0 is 1970-01-01 00:00 as s: far from the others"),
        ("1e307", "looks like ns, in a column of s"),
        ("-1", "far from the others: it stands for no time"),
        ("6:56", "is 1970-01-01 06:56, far from the others"),
        ("123456789012345678901234567890", "looks like ns, in a column of s"),
    ],
)
def test_what_is_no_time_gets_a_reason(value, words):
    fine = ["1792220400"] * 20 if words.endswith(("s", "others")) or "others" in words else ["2026-10-17T07:00Z"] * 20
    found = read([*fine, value])
    assert words in found.reasons[-1]
    assert found.ms[-1] == 0
    assert list(found.reasons[:-1]) == [""] * 20
    assert list(found.ms[:-1]) == [OCTOBER_MS] * 20


def test_mixed_units_are_told_by_place():
    found = read([1_792_220_400 + n for n in range(8)] + [1_792_220_400_123, 1_792_220_400_123_456])
    assert list(found.reasons[8:]) == [
        "1792220400123 looks like ms, in a column of s",
        "1792220400123456 looks like us, in a column of s",
    ]
    assert found.notes[1] == "t: mixed units: 2 of its numbers are no s by their size."


@pytest.mark.parametrize("text", ["17.10.2026 07:00", "10/Oct/2026:07:00:00 +0000", "10/17/2026 07:00:00 AM"])
def test_the_format_that_is_advised_reads_the_text(text):
    advised = read([text]).reasons[0].partition('time_format="')[2].rpartition('"')[0]
    assert not read([text], time_format=advised).reasons[0]


def test_all_texts_of_a_form_choose_its_format():
    reasons = read(["01/02/2019", "31/01/2019", "02/03/2019"]).reasons
    assert {reason.partition("; ")[2] for reason in reasons} == {'write time_format="%d/%m/%Y"'}


def test_texts_whose_zone_is_read_by_no_one_spoil_no_others():
    found = read(["2026-10-17T07:00:00+02:00[Mars time]", "2026-10-17T07:00:00+01:00[x y]", "2026-10-17 7:00"])
    assert (found.ms[2], [bool(reason) for reason in found.reasons]) == (OCTOBER_MS, [True, True, False])


@pytest.mark.parametrize("minus", [-1, 0])
def test_numbers_that_stand_for_no_time_do_not_tell_the_unit(minus):
    found = read([1_792_220_400] * 5 + [minus] * 4)
    assert list(found.ms[:5]) == [OCTOBER_MS] * 5
    assert all("stands for no time" in reason for reason in found.reasons[5:])


@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize(("date", "time_format"), [(20261017, "%Y%m%d"), (20261017070000, "%Y%m%d%H%M%S")])
def test_dates_in_digits_are_no_epoch(kind, date, time_format):
    with pytest.raises(
        OwnEventsError, match=f't holds dates in digits, such as {date}; write time_format="{time_format}"'
    ):
        read([kind(date), kind(date)])
    midnight = OCTOBER_MS if date > 10**9 else OCTOBER_MS - 7 * 3_600_000
    assert_read([kind(date), kind(date)], [midnight] * 2, time_format=time_format)
    assert read([date], time_unit="ms").ms[0] in (date, 0)


def test_the_days_of_a_spreadsheet_are_no_epoch():
    days = [46312.2916666667, 46312.5]
    with pytest.raises(OwnEventsError, match=r"t holds days as spreadsheets count them, such as 46312.29.*1899-12-30"):
        read(days)
    stamps = pd.to_datetime(pd.Series(days), unit="D", origin="1899-12-30").dt.round("ms")
    assert read(stamps).ms.tolist() == [OCTOBER_MS, OCTOBER_MS + 5 * 3_600_000]
    assert read(days, time_unit="ms").ms.tolist() == [46312, 46312]
    assert read([46312, 46313]).ms.tolist() == [46312, 46313]


def test_the_borders_of_what_is_read():
    found = read([EARLIEST_MS - 1, EARLIEST_MS, LATEST_MS - 1, LATEST_MS], "t_ms")
    assert [bool(reason) for reason in found.reasons] == [True, False, False, True]


def test_numbers_that_leave_64_bits_get_a_reason():
    assert "64 bits" in read(np.array([2**63 + 5, 1_792_220_400], dtype=np.uint64)).reasons[0]
    assert read([np.inf, np.nan, 1_792_220_400.0]).reasons.tolist() == ["is not finite", "is missing", ""]


def test_a_time_that_the_zone_skips():
    found = read(["2026-03-29 02:30", "2026-03-29 03:30"], zone="Europe/Berlin")
    assert found.reasons[0] == "is a time that Europe/Berlin skips: its clocks go forward"
    assert found.ms[1] == time_ms("2026-03-29T01:30Z")


def test_what_holds_no_times_at_all_is_refused():
    for values, words in (([True], "true and false"), ([pd.Timedelta("1 s")], "timedelta64")):
        with pytest.raises(OwnEventsError, match=words):
            read(values)
    with pytest.raises(OwnEventsError, match="time_unit is 'min'; write"):
        read([1], time_unit="min")
    with pytest.raises(TimeError, match="no time zone 'Mars'"):
        read([1], zone="Mars")
    assert len(read(pd.Series([], dtype=object)).ms) == 0
