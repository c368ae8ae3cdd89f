"""Read an answer in any form that a person may give it. What cannot be read is no wrong answer: it gets a sentence."""

from __future__ import annotations

import math
import re
from datetime import datetime, time, timedelta
from decimal import Decimal
from numbers import Integral
from typing import Any

from wmviz.times import TimeError, duration_ms, shown, time_ms


class AnswerError(ValueError):
    """An answer that cannot be read; the message says how to write it."""


def read_time(answer: object) -> int:
    """Read a point in time: ``"6:59:59.999"``, ``"06:59:59,999"``, milliseconds, a ``datetime``, ``time`` or Timestamp.

    Returns
    -------
    int
        Milliseconds since the epoch.

    Raises
    ------
    AnswerError
        If it is no time.
    """
    if isinstance(answer, datetime):
        answer = answer - datetime(1970, 1, 1, tzinfo=answer.tzinfo)
    if isinstance(answer, time):
        answer = timedelta(
            hours=answer.hour, minutes=answer.minute, seconds=answer.second, microseconds=answer.microsecond
        )
    if isinstance(answer, timedelta):
        return _whole(answer / timedelta(milliseconds=1), answer)
    if isinstance(answer, str):
        text = _plain_text(answer).strip("[]()").removesuffix("am").removesuffix("ms").rstrip()
        text = text.replace(",", ".").replace("_", "")
        answer = int(text) if re.fullmatch(r"-?\d{1,19}", text, re.ASCII) else text
    try:
        return time_ms(_plain(answer))
    except TimeError:
        raise AnswerError(
            f'{_shown(answer)} cannot be read as a time. Write it as "7:02" or "7:02:30.500", or as a number of '
            "milliseconds."
        ) from None


def read_duration(answer: object) -> int:
    """Read a length of time: ``"20 min"``, ``"20 minutes"``, milliseconds or a ``timedelta``.

    Returns
    -------
    int
        Milliseconds.

    Raises
    ------
    AnswerError
        If it is no duration.
    """
    if isinstance(answer, timedelta):
        return _whole(answer / timedelta(milliseconds=1), answer)
    try:
        return duration_ms(_plain(answer))
    except TimeError:
        raise AnswerError(
            f"{_shown(answer)} cannot be read as a length of time. Write it with its unit, as "
            '"20 min", "1 h" or "500 ms".'
        ) from None


def read_number(answer: object) -> int:
    """Read a whole number: ``3500``, ``"3,500"``, ``"3 500 m"``.

    Returns
    -------
    int
        The number, without its unit.

    Raises
    ------
    AnswerError
        If it is no whole number.
    """
    plain = _plain(answer)
    if isinstance(plain, int):
        return plain
    found = re.fullmatch(r"([+-]?\d{1,18}) ?[a-z]*", re.sub(r"(?<=\d)[,_ ](?=\d{3})", "", plain.lower()), re.ASCII)
    if found is None:
        raise AnswerError(f"{_shown(answer)} cannot be read as a whole number. Write it in digits, as 3500.")
    return int(found[1])


_VIEWS: Any = (range, type({}.keys()), type({}.values()))


def listed(answer: Any) -> Any:
    """Turn what holds several answers, such as an array, a Series or a range, into a list; leave the rest as it is."""
    if type(answer).__module__.partition(".")[0] in ("numpy", "pandas") and getattr(answer, "ndim", 0) == 1:
        return answer.tolist()
    return list(answer) if isinstance(answer, _VIEWS) else answer


def _plain(answer: object) -> int | str:
    """Turn a whole number of any kind into an int, and text into its plain form; show the rest as text."""
    if isinstance(answer, bool):
        return repr(answer)
    if isinstance(answer, Integral):
        return int(answer)
    if isinstance(answer, (float, Decimal)):
        return int(answer) if math.isfinite(answer) and answer == answer // 1 else _shown(answer)
    return _plain_text(answer) if isinstance(answer, str) else _shown(answer)


def _plain_text(answer: str) -> str:
    """Drop blanks of any width, quotation marks around it, and a full stop behind it."""
    return " ".join(answer.split()).removesuffix(".").strip("\"'` ").removesuffix(".")


def _shown(answer: object) -> str:
    """Show an answer in a message, not at any length, whatever its own text does."""
    try:
        return shown(answer)
    except Exception:  # noqa: BLE001 - it is the learner's object, anything may come out of it
        return f"What you gave, {type(answer).__name__},"


def _whole(ms: float, answer: object) -> int:
    if not float(ms).is_integer():
        raise AnswerError(f"{answer!r} is no whole number of milliseconds. Flink counts in whole milliseconds.")
    return int(ms)
