"""A column of times, in whatever form it comes, read into milliseconds; each row that cannot be read gets a reason.

The one place where tables are read into times: `wmviz.own` sets rows aside by these reasons, and `wmviz.lag` refuses
the table at the first.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from wmviz.own.errors import MISSING, OwnEventsError
from wmviz.own.hints import epoch_hint, time_hints
from wmviz.own.units import UNITS, Units, units_of
from wmviz.times import TimeError, shown, time_ms, time_text, zone_info

Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]
Reasons = NDArray[np.object_]

EARLIEST_MS, LATEST_MS = -2_208_988_800_000, 7_258_118_400_000
"""From 1900 on and before 2200: what lies outside stands for no time, such as 9999-12-31."""
MISSING_WORDS = frozenset(("", "na", "n/a", "nan", "nat", "null", "none", "<na>", "-", "\\n"))
"""What a missing time or value is written as, whatever the case."""
_NO_TIME = "is not a time"
_FIRST_DAYS_MS, _MODERN_MS = 500_000_000, 500_000_000_000
_OTHERS_SHARE = 0.9
_MILLISECOND = pd.Timedelta(milliseconds=1)
_ZONED = r"[T ]\d.*(?:[Zz]|[+-]\d\d(?::?\d\d)?)$"
_LOCAL = r"[\d/-]+(?:[T ][\d:.,]*)?"  # pandas mixes zones up if a text that it cannot read has one
_NAMED_ZONE = r"([Zz]|[+-]\d\d:?\d\d)\[[\w/+-]+\]$"  # as Java's ZonedDateTime writes it
_ZERO_WORDS = r"\s*(?:UTC|GMT)$"
_YEAR = re.compile(r"(\d{4})-\d\d-\d\d")


class Moments(NamedTuple):
    """A column that was read.

    Attributes
    ----------
    ms
        Milliseconds since 1970-01-01 00:00 UTC; 0 where a row cannot be read.
    reasons
        Why a row cannot be read; empty where it can.
    notes
        Sentences on what was assumed, such as the unit.
    """

    ms: Longs
    reasons: Reasons
    notes: tuple[str, ...]

    @property
    def fine(self) -> Flags:
        """Which rows could be read."""
        fine: Flags = self.reasons == ""
        return fine


class _Reading:
    """A column on its way: what is read so far, why rows are bad, and what was assumed."""

    def __init__(self, column: pd.Series[Any], name: str, zone: str | None) -> None:
        self.name, self.zone = name, zone
        self.ms = np.zeros(len(column), dtype=np.int64)
        self.reasons: Reasons = np.full(len(column), "", dtype=object)
        self.notes: list[str] = []

    def bad(self, rows: Any, reason: Any) -> None:
        """Give rows a reason, unless they have one."""
        self.reasons[rows] = np.where(self.reasons[rows] == "", reason, self.reasons[rows])


def read_moments(
    column: pd.Series[Any],
    name: str,
    *,
    time_unit: str | None = None,
    zone: str | None = None,
    time_format: str | None = None,
) -> Moments:
    """Read a column of times.

    Parameters
    ----------
    column
        Timestamps, text in ISO 8601, times of the first day such as ``"6:56"``, or numbers since the epoch.
    name
        What it is called. A name that ends in ``_s``, ``_ms``, ``_us`` or ``_ns`` tells the unit.
    time_unit
        The unit of numbers: ``"s"``, ``"ms"``, ``"us"`` or ``"ns"``. Without it: by the name, then by their size.
    zone
        The zone of timestamps and text that name none; UTC without it.
    time_format
        The form of the text, as strftime writes it, if it is not ISO 8601: ``"%d.%m.%Y %H:%M"``.

    Returns
    -------
    Moments
        The milliseconds, and for each row that cannot be read the reason.

    Raises
    ------
    OwnEventsError
        If the column as a whole holds no times.
    TimeError
        If there is no such zone.
    """
    zone_info(zone)
    if time_unit is not None and time_unit not in UNITS:
        raise OwnEventsError(f'time_unit is {shown(time_unit)}; write "s", "ms", "us" or "ns"')
    if isinstance(column.dtype, pd.ArrowDtype):
        column = pd.Series([None if cell is pd.NA else cell for cell in column], dtype=object).infer_objects()
    reading, types = _Reading(column, name, zone), pd.api.types
    missing = column.isna().to_numpy(dtype=bool)
    if time_format is not None and types.is_numeric_dtype(column) and not types.is_bool_dtype(column):
        column = _digits(column)
    reading.bad(missing, MISSING)
    if types.is_datetime64_any_dtype(column):
        _stamps(reading, column, ~missing)
    elif types.is_bool_dtype(column) and len(column):
        raise OwnEventsError(f"{name} holds true and false; name a column of times")
    elif types.is_integer_dtype(column) or types.is_float_dtype(column):
        _numbers(reading, column, ~missing, units_of(name, time_unit))
    elif (
        types.is_object_dtype(column) or types.is_string_dtype(column) or isinstance(column.dtype, pd.CategoricalDtype)
    ):
        _texts(reading, column, ~missing, units_of(name, time_unit), time_format)
    else:
        raise OwnEventsError(f"{name} holds {column.dtype}; write timestamps, text in ISO 8601, or numbers")
    _check_range(reading)
    return Moments(reading.ms, reading.reasons, tuple(reading.notes))


def _digits(column: pd.Series[Any]) -> pd.Series[Any]:
    """Write numbers as text, without the point of whole floats: 20261017 may be a date."""
    return column.astype(object).map(
        lambda cell: str(int(cell)) if np.isfinite(cell) and cell == int(cell) else str(cell), na_action="ignore"
    )


# ------------------------------------------------------------------------------------------------------ timestamps


def _stamps(reading: _Reading, column: pd.Series[Any], rows: Flags) -> None:
    """Take timestamps; those without a zone are of the zone that was named."""
    places, stamps = np.flatnonzero(rows), column[rows]
    if stamps.dt.tz is None:
        if len(stamps):
            reading.notes.append(_no_zone(reading, len(stamps), len(reading.ms)))
        stamps = _localised(reading, stamps, places)
    kept = stamps.notna().to_numpy()
    reading.ms[places[kept]] = _utc_ms(stamps[kept])


def _localised(reading: _Reading, stamps: pd.Series[Any], places: Longs) -> pd.Series[Any]:
    """Put timestamps into the zone; those that it has twice or never get a reason."""
    zone = zone_info(reading.zone)
    local: pd.Series[Any] = stamps.dt.tz_localize(zone, ambiguous="NaT", nonexistent="NaT")
    lost = (local.isna() & stamps.notna()).to_numpy()
    if lost.any():
        never = stamps[lost].dt.tz_localize(zone, ambiguous=True, nonexistent="NaT").isna().to_numpy()
        words = np.where(
            never,
            f"is a time that {reading.zone} skips: its clocks go forward",
            f"is a time that {reading.zone} has twice: its clocks go back; write it with an offset",
        )
        reading.bad(places[lost], words)
    return local


def _utc_ms(stamps: pd.Series[Any]) -> Longs:
    utc = stamps.dt.tz_convert("UTC")
    ms: Longs = ((utc - pd.Timestamp(0, tz="UTC")) // _MILLISECOND).to_numpy(dtype=np.int64)
    return ms


def _no_zone(reading: _Reading, count: int, total: int) -> str:
    which = "its times name" if count == total else f"{count:,} of its times name"
    assumed = f"as {reading.zone}" if reading.zone else 'as UTC; zone="Europe/Berlin" names another'
    return f"{reading.name}: {which} no zone: read {assumed}."


# --------------------------------------------------------------------------------------------------------- numbers


def _numbers(reading: _Reading, column: pd.Series[Any], rows: Flags, units: Units) -> None:
    """Take numbers since the epoch."""
    places = np.flatnonzero(rows)
    if pd.api.types.is_integer_dtype(column):
        values = column[rows].to_numpy()
        whole = values.astype(np.int64)
        fits = (values <= np.iinfo(np.int64).max) if values.dtype.kind == "u" else np.ones(len(values), dtype=bool)
        reading.bad(places[~fits], "is larger than 64 bits hold")
        _convert(reading, places[fits], whole[fits], units)
        return
    floats = column[rows].to_numpy(dtype=np.float64)
    _floats(reading, places, floats, units)


def _floats(reading: _Reading, places: Longs, floats: NDArray[np.float64], units: Units) -> None:
    finite = np.isfinite(floats)
    reading.bad(places[~finite], "is not finite")
    _convert(reading, places[finite], floats[finite], units)


def _convert(reading: _Reading, places: Longs, numbers: NDArray[Any], units: Units) -> None:
    """Convert numbers to ms by the unit of the column; those of another unit get a reason."""
    if not len(numbers):
        return
    if units.named is None and 2 * len(numbers) > len(reading.ms) and (hint := epoch_hint(numbers)):
        raise OwnEventsError(f"{reading.name} {hint}")
    found = units.read(numbers)
    reading.bad(places[found.other], found.reasons[found.other])
    reading.ms[places[~found.other]] = found.ms[~found.other]
    if found.is_guess and not found.other.all():
        fine = found.ms[~found.other]
        span = f"{time_text(int(fine.min()), reading.zone)} to {time_text(int(fine.max()), reading.zone)}"
        reading.notes.append(
            f"{reading.name}: numbers, read as {found.unit} by their size, so they go from {span}; "
            f'time_unit="{"ms" if found.unit == "s" else "s"}" would change that.'
        )
    if found.mixed:
        are = "1 of its numbers is" if found.mixed == 1 else f"{found.mixed:,} of its numbers are"
        reading.notes.append(f"{reading.name}: mixed units: {are} no {found.unit} by their size.")


# ------------------------------------------------------------------------------------------------------------ text


def _texts(reading: _Reading, column: pd.Series[Any], rows: Flags, units: Units, time_format: str | None) -> None:
    """Take text: numbers, ISO 8601, then what is left one by one."""
    places = np.flatnonzero(rows)
    texts = as_text(column[rows]).reset_index(drop=True).str.strip()
    absent = texts.str.lower().isin(MISSING_WORDS).to_numpy() if len(texts) else np.zeros(0, dtype=bool)
    reading.bad(places[absent], MISSING)
    places, texts = places[~absent], texts[~absent].reset_index(drop=True)
    if time_format is not None:
        _formatted(reading, places, texts, time_format)
        return
    left = ~_numbers_in_text(reading, places, texts, units)
    left[left] = ~_iso(reading, places[left], texts[left].reset_index(drop=True))
    if left.any():  # only a few forms need to be rewritten first
        left[left] = ~_iso(reading, places[left], _rewritten(texts[left]).reset_index(drop=True))
    if left.any():
        _one_by_one(reading, places[left], texts[left])


def as_text(column: pd.Series[Any]) -> pd.Series[Any]:
    """Give each value as text; pandas itself fails at bytes that are no text."""
    cells = [cell if isinstance(cell, str) else str(cell) for cell in column]
    return pd.Series(cells, index=column.index, dtype=object)


def _numbers_in_text(reading: _Reading, places: Longs, texts: pd.Series[Any], units: Units) -> Flags:
    """Take the texts that are numbers, and say which they were; whole ones to the last digit."""
    taken = np.zeros(len(texts), dtype=bool)
    if not len(texts):
        return taken
    floats = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=np.float64)
    taken[:] = ~np.isnan(floats)
    if not taken.any():
        return taken
    numbers = texts[taken]
    if numbers.str.fullmatch(r"[+-]?\d{1,18}|1\d{18}").all():  # floats would lose the last digits of nanoseconds
        _convert(reading, places[taken], numbers.astype(np.int64).to_numpy(), units)
    else:
        _floats(reading, places[taken], floats[taken], units)
    return taken


def _iso(reading: _Reading, places: Longs, texts: pd.Series[Any]) -> Flags:
    """Take the texts in ISO 8601, with and without a zone, and say which they were."""
    taken = np.zeros(len(texts), dtype=bool)
    if not len(texts):
        return taken
    dated = texts.str.match(r"\d{4}[-/]?\d\d").to_numpy(dtype=bool)  # pandas reads "now" and "today" too
    zoned = dated & texts.str.contains(_ZONED, regex=True).to_numpy(dtype=bool)
    with_zone = pd.to_datetime(texts[zoned], format="ISO8601", utc=True, errors="coerce")
    kept = with_zone.notna().to_numpy()
    reading.ms[places[zoned][kept]] = _utc_ms(with_zone[kept])
    taken[np.flatnonzero(zoned)[kept]] = True
    local = texts.str.fullmatch(_LOCAL).to_numpy(dtype=bool) & dated & ~zoned
    if local.any():
        taken |= _naive(reading, places, pd.to_datetime(texts[local], format="ISO8601", errors="coerce"), local)
    return taken


def _rewritten(texts: pd.Series[Any]) -> pd.Series[Any]:
    """Write a zone that is spelled out as Z, one that has an offset by that, a comma before the fraction as a point."""
    return (
        texts.str.replace(_NAMED_ZONE, r"\1", regex=True)
        .str.replace(_ZERO_WORDS, "Z", regex=True)
        .str.replace(r"(:\d\d),(\d)", r"\1.\2", regex=True)
    )


def _formatted(reading: _Reading, places: Longs, texts: pd.Series[Any], time_format: str) -> None:
    """Take text of a form that was named."""
    try:
        read = pd.to_datetime(texts, format=time_format, errors="coerce", utc="%z" in time_format)
    except ValueError as error:
        raise OwnEventsError(f"time_format is {shown(time_format)}, which cannot be: {error}") from None
    kept = read.notna().to_numpy()
    reading.bad(places[~kept], [f"{shown(text)} is not of the form {time_format}" for text in texts[~kept]])
    if "%z" in time_format:
        reading.ms[places[kept]] = _utc_ms(read[kept])
    else:
        _naive(reading, places, read[kept], kept)


def _naive(reading: _Reading, places: Longs, stamps: pd.Series[Any], where: Flags) -> Flags:
    """Take timestamps without a zone, read from the texts at `where`; say which are settled."""
    taken = np.zeros(len(where), dtype=bool)
    kept = stamps.notna().to_numpy()
    spots = np.flatnonzero(where)[kept]
    if len(spots):
        reading.notes.append(_no_zone(reading, len(spots), len(reading.ms)))
        local = _localised(reading, stamps[kept], places[spots])
        fine = local.notna().to_numpy()
        reading.ms[places[spots[fine]]] = _utc_ms(local[fine])
        taken[spots] = True
    return taken


def _one_by_one(reading: _Reading, places: Longs, texts: pd.Series[Any]) -> None:
    """Take what is left: times of the first day; each form once."""
    codes, forms = pd.factorize(texts)
    ms, reasons = np.zeros(len(forms), dtype=np.int64), np.full(len(forms), "", dtype=object)
    for place, text in enumerate(forms):
        ms[place], reasons[place] = _first_day_ms(str(text))
    no_time = [place for place, reason in enumerate(reasons) if reason.endswith(_NO_TIME)]
    for place, hint in zip(no_time, time_hints([str(forms[place]) for place in no_time]), strict=True):
        reasons[place] += hint
    reading.ms[places] = ms[codes]
    reading.bad(places, reasons[codes])


def _first_day_ms(text: str) -> tuple[int, str]:
    """Read a time of the first day, or say why it is none."""
    try:
        return time_ms(text), ""
    except (TimeError, OverflowError):
        year = _YEAR.match(text)
        if year and not 1900 <= int(year[1]) < 2200:
            return 0, _outside(year[1])
        return 0, f"{shown(text)} {_NO_TIME}"


def _check_range(reading: _Reading) -> None:
    """Give times that no stream has a reason."""
    far = ((reading.ms < EARLIEST_MS) | (reading.ms >= LATEST_MS)) & (reading.reasons == "")
    for row in np.flatnonzero(far):
        reading.reasons[row] = _outside(time_text(int(reading.ms[row])).split("-")[0])
    _check_start_of_1970(reading)
    reading.ms[reading.reasons != ""] = 0


def _check_start_of_1970(reading: _Reading) -> None:
    """Give the few times of the first days of 1970 a reason, where the others are of a later date."""
    fine = reading.reasons == ""
    first = fine & (np.abs(reading.ms) < _FIRST_DAYS_MS)
    modern = fine & (reading.ms >= _MODERN_MS)
    if first.any() and modern.any() and modern.sum() >= _OTHERS_SHARE * (fine & (reading.ms != 0)).sum():
        for row in np.flatnonzero(first):
            when = time_text(int(reading.ms[row]), "UTC")
            reading.reasons[row] = f"is {when}, far from the others: it stands for no time"


def _outside(year: str) -> str:
    return f"lies in the year {year}; from 1900 up to 2199 is read"
