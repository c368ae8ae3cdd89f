"""What to write instead of a time or a number that cannot be read; its form tells it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DATES = (
    *("%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%d/%b/%Y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%b %d, %Y", "%b %d %Y", "%a, %d %b %Y", "%Y%m%d"),
)
_CLOCKS = (
    *("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p"),
    *(":%H:%M:%S", "T%H:%M:%S", ", %H:%M:%S", ", %I:%M:%S %p", " @ %H:%M:%S.%f", " %I.%M.%S.%f %p"),
)
_ZONES = ("", " %z", "%z", " GMT", " UTC")
_FORMATS = (*map("".join, product(_DATES, _CLOCKS, _ZONES)), "%a %b %d %H:%M:%S %Y")
_MARKS = frozenset("./:,@")
_MARKS_OF = {one: _MARKS & set(one) for one in _FORMATS}
"""What stands between the parts of a format: strptime is slow, and most formats are out by that alone."""
_MOST_SHAPES, _MOST_OF_SHAPE = 20, 50
_SHARE = 0.9
"""A column is of a form if so much of it is."""
_SPREADSHEET_DAYS = (20_000, 80_000)
"""From 1954 to 2119, in days as spreadsheets count them."""


def time_hints(texts: Sequence[str]) -> list[str]:
    """Say for each text what to write instead, where its form tells; else nothing.

    Texts of one shape, letters and digits apart, get the same advice: the formats that read the most of them.
    """
    by_shape: dict[str, list[str]] = defaultdict(list)
    shapes = [_shape(text) for text in texts]
    for shape, text in zip(shapes, texts, strict=True):
        if len(by_shape[shape]) < _MOST_OF_SHAPE:
            by_shape[shape].append(text)
    advice = {shape: _advice(some) for shape, some in list(by_shape.items())[:_MOST_SHAPES]}
    return [_of_text(text) or advice.get(shape, "") for shape, text in zip(shapes, texts, strict=True)]


def number_hint(text: str) -> str:
    """Say what to write instead of a text that is no number."""
    if re.fullmatch(r"[+-]?\d{1,3},\d{3}", text):
        return '; say what the comma divides: pandas.read_csv(…, thousands=",") or decimal=",", then take read_frame'
    if re.fullmatch(r"[+-]?(\d+|\d{1,3}([.' ]\d{3})+),\d+", text):
        return '; decimals have a point here: pandas.read_csv(…, decimal=",") reads a comma, then take read_frame'
    if re.fullmatch(r"[+-]?\d{1,3}([,' ]\d{3})+(\.\d+)?", text):
        return "; write it without what divides the thousands"
    return ""


def epoch_hint(numbers: NDArray[Any]) -> str:
    """Say what numbers are that count no time since 1970: dates in digits, or the days of a spreadsheet."""
    example = f"such as {numbers[0]}"
    for digits, time_format in ((8, "%Y%m%d"), (12, "%Y%m%d%H%M"), (14, "%Y%m%d%H%M%S")):
        if _share_of_dates(numbers, digits) >= _SHARE:
            return f'holds dates in digits, {example}; write time_format="{time_format}", or time_unit="ms" for ms'
    low, high = _SPREADSHEET_DAYS
    days = (numbers >= low) & (numbers < high)
    if days.mean() >= _SHARE and bool((numbers[days] % 1 != 0).any()):
        return (
            f"holds days as spreadsheets count them, {example}; turn them into timestamps with "
            'pandas.to_datetime(column, unit="D", origin="1899-12-30").dt.round("ms"), or write time_unit="ms" for ms'
        )
    return ""


def _share_of_dates(numbers: NDArray[Any], digits: int) -> float:
    """Give the share of numbers that are a date, and a time of day, written in so many digits."""
    fits = (numbers >= 19 * 10 ** (digits - 2)) & (numbers < 22 * 10 ** (digits - 2)) & (numbers % 1 == 0)
    dates = np.where(fits, numbers, 0).astype(np.int64) * 10 ** (14 - digits)
    month, day = dates // 10**8 % 100, dates // 10**6 % 100
    hour, minute, second = dates // 10**4 % 100, dates // 100 % 100, dates % 100
    fits &= (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31) & (hour < 24) & (minute < 60) & (second < 60)
    return float(fits.mean())


def _shape(text: str) -> str:
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "0", text[:60]))


def _of_text(text: str) -> str:
    """Give advice on a text that no format mends."""
    if re.search(r"[T ]24:00(:00(\.0+)?)?(\D|$)", text):
        return "; write 00:00 of the next day for the hour 24"
    if re.search(r"\d:\d\d:60(\D|$)", text):
        return "; Flink's time has no leap seconds: write the second 59, or the next minute"
    if re.fullmatch(r"\d{9,},\d+", text):
        return "; decimals have a point here, and no comma"
    if re.fullmatch(r"[A-Za-z]+[:=]\s*\d{9,}", text):
        return "; leave only the number"
    return ""


def _advice(texts: Sequence[str]) -> str:
    """Give advice on texts of one shape."""
    first = texts[0]
    if re.fullmatch(r"\[.*\]|\".*\"", first) and _formats_of([text[1:-1] for text in texts]):
        return "; take away what encloses it"
    formats = _formats_of(texts)
    return "; write " + " or ".join(f'time_format="{one}"' for one in formats) if formats else ""


def _formats_of(texts: Sequence[str]) -> list[str]:
    """Give the formats that read the most of the texts; at most two, as for a day and a month in either order."""
    likely = {one for text in texts[:3] for one in _FORMATS if _may_read(one, text) and _reads(one, text)}
    counts = {one: sum(_reads(one, text) for text in texts) for one in _FORMATS if one in likely}
    return [one for one, count in counts.items() if count == max(counts.values())][:2]


def _may_read(time_format: str, text: str) -> bool:
    """Say whether the same marks divide both; a zone may have a colon of its own."""
    zone = {":"} if "%z" in time_format else set()
    marks = _MARKS & set(text)
    return _MARKS_OF[time_format] <= marks <= _MARKS_OF[time_format] | zone


def _reads(time_format: str, text: str) -> bool:
    try:
        datetime.strptime(text, time_format)
    except ValueError:
        return False
    return True
