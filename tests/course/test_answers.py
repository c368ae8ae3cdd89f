"""Right answers in other forms are accepted; what cannot be read gets a sentence."""

from datetime import datetime, time, timedelta, timezone

import numpy as np
import pytest

from wmviz.course.answers import AnswerError, read_duration, read_time

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


@pytest.mark.parametrize("answer", ["soon", "", [], True, 1.5, "25:99", {"a": 1}, timedelta(microseconds=1)])
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
