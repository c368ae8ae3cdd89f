"""Right answers in other forms are accepted; what cannot be read gets a sentence."""

from datetime import datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from wmviz.course.answers import AnswerError, listed, read_duration, read_number, read_time
from wmviz.course.judging import judge_names

LAST_MS = 7 * 3_600_000 - 1


@pytest.mark.parametrize(
    "answer",
    [
        "6:59:59.999",
        "06:59:59.999",
        " 6:59:59,999 ",
        "6:59:59.999 am",
        LAST_MS,
        str(LAST_MS),
        "25_199_999",
        "25199999 ms",
        '"6:59:59.999"',
        "6:59:59.999.",
        Decimal(LAST_MS),
        np.float64(LAST_MS),
        float(LAST_MS),
        np.int64(LAST_MS),
        time(6, 59, 59, 999_000),
        timedelta(hours=7) - timedelta(milliseconds=1),
        datetime(1970, 1, 1, 6, 59, 59, 999_000),
        datetime(1970, 1, 1, 6, 59, 59, 999_000, tzinfo=timezone.utc),
        "1970-01-01T06:59:59.999Z",
    ],
)
def test_a_time_is_read_in_any_form(answer):
    assert read_time(answer) == LAST_MS


@pytest.mark.parametrize(
    "answer",
    ["soon", "²", "9" * 5_000, Decimal("NaN"), "", [], True, 1.5, "25:99", {"a": 1}, timedelta(microseconds=1)],
)
def test_what_is_no_time_gets_a_sentence(answer):
    with pytest.raises(AnswerError, match=r"cannot be read as a time|whole number of milliseconds"):
        read_time(answer)


@pytest.mark.parametrize("answer", ["20 min", "20 minutes", "1200 s", 1_200_000, timedelta(minutes=20)])
def test_a_duration_is_read_in_any_form(answer):
    assert read_duration(answer) == 1_200_000


@pytest.mark.parametrize("answer", ["a while", "20", None, True])
def test_what_is_no_duration_gets_a_sentence(answer):
    with pytest.raises(AnswerError, match="cannot be read as a length of time"):
        read_duration(answer)


class Unspeakable:
    """Has no text."""

    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize("answer", ["x" * 10_000, "9" * 5_000, Unspeakable()])
@pytest.mark.parametrize("reader", [read_time, read_duration, read_number])
def test_the_message_is_short_whatever_the_answer(reader, answer):
    with pytest.raises(AnswerError) as caught:
        reader(answer)
    assert len(str(caught.value)) < 250


LATE = {"west@9:01:59"}


@pytest.mark.parametrize(
    "answer",
    [
        ["WEST@9:01:59"],
        ["west@09:01:59"],
        '"west@9:01:59".',
        "[west@9:01:59]",
        np.array(["west@9:01:59"]),
        pd.Series(["west@9:01:59"]),
        dict.fromkeys(LATE).keys(),
    ],
)
def test_names_are_read_in_any_form(answer):
    assert judge_names(listed(answer), frozenset(LATE), {}, "So it is.").right
