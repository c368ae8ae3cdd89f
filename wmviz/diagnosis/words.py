"""Words of the diagnosis: names of tasks, lengths of time, points in time."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from wmviz.times import DAY_MS, duration_text

SECOND_MS, MINUTE_MS, HOUR_MS = 1_000, 60_000, 3_600_000


def short(name: str) -> str:
    """Give the name of a task without all that is chained to it."""
    first = re.split(r" -> | => ", name)[0]
    return first if len(first) <= 60 else f"{first[:57]}..."


def numbers(subtasks_: list[int]) -> str:
    """Name subtasks."""
    listed = ", ".join(map(str, sorted(subtasks_)[:10])) + ", …" * (len(subtasks_) > 10)
    return f"subtask{'s' * (len(subtasks_) != 1)} {listed}"


def duration(ms: int) -> str:
    """Say a length of time to about two digits that matter."""
    size = abs(ms)
    for unit_ms in (DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS):
        if size >= unit_ms:
            step = {DAY_MS: HOUR_MS, HOUR_MS: MINUTE_MS, MINUTE_MS: SECOND_MS, SECOND_MS: 100}[unit_ms]
            return duration_text(round(ms / step) * step)
    return duration_text(ms)


def moment(ms: int) -> str:
    """Say a point in time: ISO in UTC, or its number where there is no such date."""
    try:
        at = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=ms)
    except OverflowError:
        return f"{ms:,}"
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")


def capital(text: str) -> str:
    """Begin a sentence."""
    return text[:1].upper() + text[1:]
