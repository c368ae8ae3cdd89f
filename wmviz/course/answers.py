"""Read an answer in any form that a person may give it. What cannot be read is no wrong answer: it gets a sentence."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from numbers import Integral

from wmviz.times import TimeError, duration_ms, time_ms


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
        text = answer.strip().strip("[]()").removesuffix("am").removesuffix("ms").rstrip()
        text = text.replace(",", ".").replace("_", "")
        answer = int(text) if text.lstrip("-").isdigit() else text
    try:
        return time_ms(_plain(answer))
    except TimeError:
        raise AnswerError(
            f'{answer!r} cannot be read as a time. Write it as "7:02" or "7:02:30.500", or as a number of milliseconds.'
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
            f'{answer!r} cannot be read as a length of time. Write it with its unit, as "20 min", "1 h" or "500 ms".'
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
    found = re.fullmatch(r"([+-]?\d{1,18}) ?[a-z]*", re.sub(r"(?<=\d)[,_ ](?=\d{3})", "", plain.strip().lower()))
    if found is None:
        raise AnswerError(f"{answer!r} cannot be read as a whole number. Write it in digits, as 3500.")
    return int(found[1])


def _plain(answer: object) -> int | str:
    """Turn a numpy integer or a whole float into an int; refuse the rest as text."""
    if isinstance(answer, bool):
        return repr(answer)
    if isinstance(answer, Integral) or (isinstance(answer, float) and answer.is_integer()):
        return int(answer)
    return answer if isinstance(answer, str) else repr(answer)


def _whole(ms: float, answer: object) -> int:
    if not float(ms).is_integer():
        raise AnswerError(f"{answer!r} is no whole number of milliseconds. Flink counts in whole milliseconds.")
    return int(ms)
