"""Times and durations: what a person writes and the milliseconds that Flink counts in.

Every time in this project is an ``int``: milliseconds since 1970-01-01 00:00 UTC, as in Flink.
A time without a date, such as ``"6:56"``, is a time of that first day.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

MIN_MS = -(2**63)
"""Flink's ``Long.MIN_VALUE``: the watermark before there is one, and the timestamp of a record that has none."""
MAX_MS = 2**63 - 1
"""Flink's ``Long.MAX_VALUE``: the watermark at the end of the input."""

DAY_MS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_CLOCK = re.compile(r"(-?)(\d{1,4}):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,3}))?)?", re.ASCII)
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?\s*(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?", re.ASCII)
_PART = re.compile(r"(\d{1,19})(?:\.(\d{1,19}))?\s*([a-z]+)\s*", re.ASCII)
_UNIT_MS = {
    unit: size
    for size, units in {
        1: ("ms", "millisecond", "milliseconds"),
        1_000: ("s", "sec", "second", "seconds"),
        60_000: ("min", "minute", "minutes"),
        3_600_000: ("h", "hour", "hours"),
        DAY_MS: ("d", "day", "days"),
    }.items()
    for unit in units
}


def shown(value: object) -> str:
    """Show a value in an error, not at any length."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class TimeError(ValueError):
    """A time, duration or zone that cannot be read; the message is a sentence."""


def time_ms(value: int | str) -> int:
    """Read a point in time.

    Parameters
    ----------
    value
        Milliseconds since the epoch, a time of the first day (``"6:56"``, ``"6:59:59.999"``), or
        ISO 8601 with an offset (``"2026-10-17T07:00+05:30"``).

    Returns
    -------
    int
        Milliseconds since 1970-01-01 00:00 UTC.

    Raises
    ------
    TimeError
        If the value is none of these, or outside the 64-bit range.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return _in_range(value)
    if isinstance(value, str):
        text = value.strip()
        if clock := _CLOCK.fullmatch(text):
            return _in_range(_clock_ms(clock))
        if iso := _ISO.fullmatch(text):
            if iso[3] is None:
                raise TimeError(f'{value!r} has no zone; write one behind it, as in "{text}+00:00"')
            return _iso_ms(text)
    raise TimeError(
        f'{shown(value)} is not a time; write "6:56", "6:59:59.999", '
        '"2026-10-17T07:00+05:30" or a whole number of milliseconds'
    )


def duration_ms(value: int | str) -> int:
    """Read a length of time: ``"2 min"``, ``"1 h 30 min"``, ``"1.5 s"``, or milliseconds.

    Parameters
    ----------
    value
        Text with the units ms, s, min, h, d (``"0"`` needs none), or a whole number of milliseconds. May be negative.

    Returns
    -------
    int
        Milliseconds.

    Raises
    ------
    TimeError
        If it cannot be read, is no whole number of milliseconds, or is outside the 64-bit range.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return _in_range(value)
    if isinstance(value, str):
        text = value.strip().lower()
        if text == "0":  # the one number that needs no unit
            return 0
        sign, text = (-1, text[1:].lstrip()) if text.startswith("-") else (1, text)
        parts = list(_PART.finditer(text))
        if parts and "".join(part[0] for part in parts) == text and all(part[3] in _UNIT_MS for part in parts):
            return _in_range(sign * sum(_part_ms(part, value) for part in parts))
        if text.isdecimal() and len(text) < 20:
            raise TimeError(f'{value!r} is not a duration; write "{text} min" or "{text} ms": it needs a unit')
    raise TimeError(
        f'{shown(value)} is not a duration; write "2 min", "1 h 30 min", "200 ms" or a number of milliseconds'
    )


def zone_info(name: str | None) -> tzinfo:
    """Look up a zone: ``None`` or ``"UTC"``, an offset such as ``"+05:30"``, or a name such as ``"Europe/Berlin"``.

    Raises
    ------
    TimeError
        If there is no such zone.
    """
    if name in (None, "UTC"):
        return timezone.utc
    if offset := re.fullmatch(r"([+-])(\d\d):([0-5]\d)", name):
        size = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        if size < timedelta(days=1):
            return timezone(-size if offset[1] == "-" else size)
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        raise TimeError(f'there is no time zone {shown(name)}; write "+05:30", "UTC" or "Europe/Berlin"') from None


def time_text(ms: int, zone: str | None = None) -> str:
    """Write a point in time as a person would: ``"6:56"``, ``"6:59:59.999"``, ``"2026-10-17 07:00"``.

    Times of the first day have no date, unless a zone is given. Seconds are left out when they are zero.

    Parameters
    ----------
    ms
        Milliseconds since the epoch.
    zone
        The zone to show it in; UTC if none is given.
    """
    if ms in (MIN_MS, MAX_MS):
        return "MIN" if ms == MIN_MS else "MAX"
    if zone is None and 0 <= ms < DAY_MS:
        return _clock_text(ms)
    try:
        local = (_EPOCH + timedelta(milliseconds=ms)).astimezone(zone_info(zone))
    except OverflowError:
        return f"{ms} ms"
    of_day_ms = ((local.hour * 60 + local.minute) * 60 + local.second) * 1000 + local.microsecond // 1000
    clock = _clock_text(of_day_ms)
    return f"{local.year:04}-{local.month:02}-{local.day:02} {'0' if local.hour < 10 else ''}{clock}"


def iso_text(ms: int) -> str | int:
    """Write a point in time so that `time_ms` reads the same milliseconds back: ``"6:56"`` or ISO 8601 in UTC.

    Returns
    -------
    str or int
        The milliseconds themselves where no calendar reaches.
    """
    if 0 <= ms < DAY_MS:
        return _clock_text(ms)
    text = time_text(ms)
    return ms if text in ("MIN", "MAX") or text.endswith("ms") else text.replace(" ", "T") + "Z"


def duration_text(ms: int) -> str:
    """Write a length of time in its largest whole units: ``"2 min"``, ``"1 h 30 min"``, ``"1 s 500 ms"``."""
    if ms == 0:
        return "0 ms"
    words, rest = [], abs(ms)
    for unit, size in (("d", DAY_MS), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1)):
        count, rest = divmod(rest, size)
        if count:
            words.append(f"{count} {unit}")
    return ("-" if ms < 0 else "") + " ".join(words)


def sql_interval(length_ms: int) -> str:
    """Write a duration as SQL's INTERVAL, in the largest unit that fits: ``"INTERVAL '2' MINUTE"``."""
    sign, size_ms = "-" * (length_ms < 0), abs(length_ms)
    whole = size_ms or 1_000
    for unit, unit_ms in (("DAY", DAY_MS), ("HOUR", 3_600_000), ("MINUTE", 60_000), ("SECOND", 1_000)):
        if whole % unit_ms == 0:
            number = size_ms // unit_ms
            digits = f"({len(str(number))})" if number > 99 else ""  # more than two have to be announced
            return f"INTERVAL '{sign}{number}' {unit}{digits}"
    seconds, ms = divmod(size_ms, 1_000)
    return f"INTERVAL '{sign}{seconds}.{ms:03}' SECOND({max(2, len(str(seconds)))}, 3)"


def _clock_text(ms: int) -> str:
    minutes, rest_ms = divmod(ms, 60_000)
    text = f"{minutes // 60}:{minutes % 60:02}"
    if rest_ms:
        text += f":{rest_ms // 1000:02}"
    if rest_ms % 1000:
        text += f".{rest_ms % 1000:03}"
    return text


def _clock_ms(clock: re.Match[str]) -> int:
    sign, hours, minutes, seconds, fraction = clock.groups()
    whole_s = (int(hours) * 60 + int(minutes)) * 60 + int(seconds or 0)
    size_ms = whole_s * 1000 + int((fraction or "").ljust(3, "0"))
    return -size_ms if sign else size_ms


def _iso_ms(text: str) -> int:
    # Python 3.10 reads neither "Z", nor a fraction of one or two digits, nor blanks before the offset.
    match = re.fullmatch(r"([^.Z+]{16,19}?)(?:\.(\d+))?\s*(Z|[+-]\d\d:\d\d)", text)
    assert match is not None
    zone = "+00:00" if match[3] == "Z" else match[3]
    try:
        moment = datetime.fromisoformat(match[1].strip() + zone)
    except ValueError as error:
        raise TimeError(f"{text!r} is not a time: {error}") from None
    return (moment - _EPOCH) // timedelta(milliseconds=1) + int((match[2] or "").ljust(3, "0"))


def _part_ms(part: re.Match[str], value: str) -> int:
    digits = part[2] or ""
    scale: int = 10 ** len(digits)
    size, left = divmod(int(part[1] + digits) * _UNIT_MS[part[3]], scale)
    if left:
        raise TimeError(f"{value!r} is no whole number of milliseconds; write it in ms")
    return size


def _in_range(ms: int) -> int:
    if MIN_MS <= ms <= MAX_MS:
        return ms
    raise TimeError(f"{ms} ms is outside the 64-bit range that Flink counts in")
