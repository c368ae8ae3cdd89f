"""Sheet 5: right answers in any form, and the message that each typical wrong one gets."""

from datetime import timedelta
from itertools import accumulate

import numpy as np
import pandas as pd
import pytest

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from wmviz import lag
from wmviz.course.sheets import choosing_the_bound as sheet
from wmviz.scenario import Scenario

ROWS = [[e.key, e.value, e.event_time_ms, e.arrival_time_ms] for e in sheet.SERVICED.events]


def serviced(change=None, keep=None, **settings):
    rows = [change(row) if change else row for row in ROWS if keep is None or keep(row)]
    return sheet.SERVICED.replace(events=rows, **settings)


def is_right(row):
    return row[2] - row[3] <= 60_000


def end_of(at_ms, size_ms):
    return at_ms - at_ms % size_ms + size_ms


def bounds(times_ms, size_ms):
    newest_ms = None
    for at_ms in times_ms:
        yield 0 if newest_ms is None else max(newest_ms - end_of(at_ms, size_ms) + 1, 0)
        newest_ms = at_ms if newest_ms is None else max(newest_ms, at_ms)


def by_numpy(times_ms, size_ms):
    times = np.array(times_ms)
    newest = np.concatenate([[times[0] - size_ms], np.maximum.accumulate(times)[:-1]])
    return np.maximum(newest - (times - times % size_ms + size_ms) + 1, 0)


def behind(times_ms, size_ms):
    return [max(max(times_ms[:n], default=at_ms) - at_ms, 0) for n, at_ms in enumerate(times_ms)]


def short(times_ms, size_ms):
    return [max(bound_ms - 1, 0) for bound_ms in bounds(times_ms, size_ms)]


def negative(times_ms, size_ms):
    return [0] + [max(times_ms[:n]) - end_of(times_ms[n], size_ms) + 1 for n in range(1, len(times_ms))]


def from_the_last(times_ms, size_ms):
    return [0] + [max(times_ms[n - 1] - end_of(times_ms[n], size_ms) + 1, 0) for n in range(1, len(times_ms))]


def knows_what_comes(times_ms, size_ms):
    return [max(max(times_ms) - end_of(at_ms, size_ms) + 1, 0) for at_ms in times_ms]


def counts_the_first(times_ms, size_ms):
    return [0] + [knows_what_comes(times_ms, size_ms)[n] for n in range(1, len(times_ms))]


def towards_zero(times_ms, size_ms):
    ends = [int(at_ms / size_ms) * size_ms + size_ms for at_ms in times_ms]
    return [0] + [max(max(times_ms[:n]) - ends[n] + 1, 0) for n in range(1, len(times_ms))]


def with_end(end):
    """Make the function with another end of a window."""

    def bounds_ms(times_ms, size_ms):
        ends = [end(at_ms, size_ms) for at_ms in times_ms]
        return [max(max(times_ms[:n]) - ends[n] + 1, 0) if n else 0 for n in range(len(times_ms))]

    return bounds_ms


def by_pandas(times_ms, size_ms):
    times = pd.Series(times_ms)
    ends = times // size_ms * size_ms + size_ms
    return (times.cummax().shift() - ends + 1).clip(lower=0).fillna(0)


def begins_low(times_ms, size_ms):
    """Is right: the event itself is never behind the end of its own window, so it may count as well."""
    return [max(max(times_ms[: n + 1]) - end_of(times_ms[n], size_ms) + 1, 0) for n in range(len(times_ms))]


def takes_them_out(times_ms, size_ms):
    """Is right, and empties the list that it was given."""
    found = list(bounds(times_ms, size_ms))
    times_ms.clear()
    return found


def begins_at_zero(times_ms, size_ms):
    return [max(max([0, *times_ms[:n]]) - end_of(times_ms[n], size_ms) + 1, 0) for n in range(len(times_ms))]


def zero_is_none(times_ms, size_ms):
    newest = [max(times_ms[:n], default=0) for n in range(len(times_ms))]
    return [bound_ms if newest[n] else 0 for n, bound_ms in enumerate(bounds(times_ms, size_ms))]


def one_window_back(times_ms, size_ms):
    return [bound_ms if bound_ms <= size_ms else 0 for bound_ms in bounds(times_ms, size_ms)]


def of_the_last_five(times_ms, size_ms):
    return [
        max(max(times_ms[max(n - 5, 0) : n]) - end_of(times_ms[n], size_ms) + 1, 0) if n else 0
        for n in range(len(times_ms))
    ]


def behind_once_fired(times_ms, size_ms):
    fired = [bound_ms > 0 for bound_ms in bounds(times_ms, size_ms)]
    return [max(times_ms[:n]) - times_ms[n] + 1 if fired[n] else 0 for n in range(len(times_ms))]


def never_less(times_ms, size_ms):
    return list(accumulate(bounds(times_ms, size_ms), max))


NUMBER = "5"

RIGHT = [
    ("furthest-behind", "5 min 30 s"),
    ("furthest-behind", 330_000),
    ("furthest-behind", timedelta(minutes=5.5)),
    ("least-for-all", "2 min 1 ms"),
    ("least-for-all", 120_001),
    ("least-for-all", "120.001 s"),
    ("patience", "1 min 30.001 s"),
    ("patience", 90_001),
    ("patience", timedelta(milliseconds=90_001)),
    ("goals", ("1 min", "15 min")),
    ("goals", ["45 s", "14 min"]),
    ("goals", (timedelta(seconds=70), 900_000)),
    ("wrong-clock", serviced(keep=is_right)),
    ("wrong-clock", serviced(keep=is_right, lateness="1 min")),
    ("wrong-clock", serviced(change=lambda row: row if is_right(row) else [*row[:2], row[3] - 5_000, row[3]])),
    ("build-bounds", lambda times_ms, size_ms: list(bounds(times_ms, size_ms))),
    ("build-bounds", lambda times_ms, size_ms: tuple(map(float, bounds(times_ms, size_ms)))),
    ("build-bounds", bounds),
    ("build-bounds", by_numpy),
    ("build-bounds", by_pandas),
    ("build-bounds", begins_low),
    ("build-bounds", takes_them_out),
    ("build-bounds", lambda times_ms, size_ms: map(int, bounds(times_ms, size_ms))),
    ("build-bounds", lambda times_ms, size_ms: dict(enumerate(bounds(times_ms, size_ms))).values()),
]

WRONG = [
    ("wrong-clock", sheet.SERVICED.replace(strategy="none"), "no watermark comes before the input ends"),
    ("wrong-clock", sheet.SERVICED.replace(partitions=2), "no watermark comes before the input ends"),
    ("furthest-behind", "6 min 30 s", "That is the largest lag, of bay's 7:13:30"),
    ("furthest-behind", "6 min 10 s", "That is the lag of bay's 7:02:30"),
    ("furthest-behind", "30 s", "The generator knows no keys"),
    ("furthest-behind", "5 min 40 s", "the arrival of the newest one"),
    ("furthest-behind", "3 min", "Another one is further behind"),
    ("furthest-behind", "1 h", "Too long."),
    ("least-for-all", "2 min", "has just fired"),
    ("least-for-all", "5 min 30 s", "But its window [7:00, 7:10) has not fired"),
    ("least-for-all", "3 min", "So far reef's 7:09 is behind"),
    ("least-for-all", "6 min 30 s", "A bound is not about lag"),
    ("least-for-all", "1 min 1 ms", "Another reading needs more"),
    ("least-for-all", "2 min 40 s", "You counted to the arrival"),
    ("least-for-all", "2 min 2 ms", "One millisecond less is enough"),
    ("least-for-all", "0", "Too short: a reading comes when its window has fired."),
    ("least-for-all", "1 h", "but less is enough"),
    ("least-for-all", -1, "cannot be negative"),
    ("patience", "1 min 30 s", "One millisecond short"),
    ("patience", "2 min 1 ms", "You left out the bound"),
    ("patience", "5 min", "bay's 7:02:30 is furthest behind, but its window waits"),
    ("patience", "30.001 s", "Another reading needs more"),
    ("patience", "2 min 30 s", "Lateness counts from the end of its window"),
    ("patience", "0", "reef@7:09 is still lost."),
    ("patience", "1 h", "but less is enough"),
    ("patience", -1, "cannot be negative"),
    ("goals", ("30 s", "15 min"), "The lateness does not help"),
    ("goals", ("30 s", "0"), "Wish 1 fails: 98.38 % are in the first result"),
    ("goals", ("2 min", "15 min"), "Wish 2 fails: in 95 % of the windows it comes within 2 min 15 s"),
    ("goals", ("231 s", "10 min"), "Wish 2 fails"),
    ("goals", ("4 h", "0"), "too few windows fire"),
    ("goals", ("1 min", "5 min"), "Wish 3 fails: 23 readings are lost"),
    ("goals", ("1 min", "30 min"), "Wish 4 fails: 90 windows have state at once"),
    ("goals", ("-1 min", "30 min"), "can be negative"),
    ("wrong-clock", serviced(keep=lambda row: row[2] <= row[3]), "You dropped or changed north's 8:08:20"),
    ("wrong-clock", serviced(change=lambda row: [*row[:2], row[3], row[3]]), "You dropped or changed reef's 8:02"),
    ("wrong-clock", serviced(bound="20 min"), "6 readings are late: the reading of 18:11 still lifts the watermark"),
    ("wrong-clock", serviced(lateness="20 min"), "6 readings are late"),
    ("wrong-clock", serviced(late_to="drop"), "6 readings are late"),
    ("wrong-clock", serviced(bound="11 h"), "No bound mends a wrong clock"),
    ("wrong-clock", serviced(lateness="11 h"), "no window waits"),
    ("wrong-clock", serviced(window="1 h"), "The windows were not the fault"),
    ("wrong-clock", serviced(window={"trigger": "count:1"}), "The windows were not the fault"),
    ("wrong-clock", serviced().by_server_clock(), "By the server's clock"),
    ("wrong-clock", sheet.SERVICED.replace(events=[]), "You dropped or changed reef's 8:02"),
    ("build-bounds", behind, "But it is late only if its window has fired."),
    ("build-bounds", short, "One millisecond short"),
    ("build-bounds", negative, "A bound is never negative"),
    ("build-bounds", from_the_last, "You compared with the event just before it"),
    ("build-bounds", knows_what_comes, "Nothing has come before it"),
    ("build-bounds", counts_the_first, "Its window has not fired before it comes"),
    ("build-bounds", with_end(lambda at_ms, size_ms: end_of(at_ms, size_ms) - 1), "One millisecond less is enough"),
    ("build-bounds", with_end(lambda at_ms, size_ms: at_ms - at_ms % size_ms), "You took the start of its window"),
    ("build-bounds", with_end(lambda at_ms, size_ms: -(-at_ms // size_ms) * size_ms), "the end is no part of a window"),
    ("build-bounds", with_end(lambda at_ms, _: end_of(at_ms, 600_000)), "On window-edges"),
    ("build-bounds", begins_at_zero, "Nothing has come before it"),
    ("build-bounds", zero_is_none, "0 is a time like any other"),
    ("build-bounds", one_window_back, "its window of 10 s has fired before it comes"),
    ("build-bounds", of_the_last_five, "On far-behind"),
    ("build-bounds", behind_once_fired, "You counted from its own time"),
    ("build-bounds", never_less, "On three-buoys the event of 7:13"),
    ("build-bounds", towards_zero, "rounded down, and not towards 0"),
]


UNREAD = [
    ("furthest-behind", "far"),
    ("least-for-all", "7:10"),
    ("patience", "a while"),
    ("goals", "1 min"),
    ("goals", ("1 min", "long")),
    ("wrong-clock", "drop it"),
    ("wrong-clock", serviced(), "6 readings are late."),
    ("build-bounds", 3, "Give the function itself"),
    ("build-bounds", lambda times_ms: times_ms, "stops with TypeError"),
    ("build-bounds", lambda times_ms, size_ms: None, "gives nothing so far"),
    ("build-bounds", lambda times_ms, size_ms: 3, "your function gives 3. Let it return a list of milliseconds"),
    ("build-bounds", lambda times_ms, size_ms: [0], "the list has 1 numbers for 12 events"),
    ("build-bounds", lambda times_ms, size_ms: [0.5 for _ in times_ms], "gives 0.5. A bound is a whole number"),
    ("build-bounds", lambda times_ms, size_ms: ["2 min" for _ in times_ms], "gives '2 min'. A bound is a whole number"),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


def test_what_the_whole_sheet_goes_by():
    assert wmviz.simulate(sheet.READINGS).outcomes().late == {"reef@7:09", "reef@7:19:10"}
    assert not wmviz.simulate(sheet.READINGS.replace(bound=120_001)).outcomes().late
    assert len(wmviz.simulate(sheet.SERVICED).outcomes().late) == 6


@pytest.mark.parametrize(
    ("bound", "lateness"), [("1 min", "15 min"), ("45 s", "14 min"), ("30 s", "0"), ("1 min", "5 min")]
)
def test_what_the_wishes_are_judged_by_is_what_the_engine_does(bound, lateness):
    point = lag.choose(sheet.harbour(), window="10 min").at(bound, lateness)
    job = sheet.harbour().replace(bound=bound, lateness=lateness)
    lost = wmviz.simulate(job, trace="results").outcomes().late
    late = wmviz.simulate(job.replace(lateness="0 s"), trace="results").outcomes().late
    assert (point.lost, point.on_time) == (len(lost), len(job.events) - len(late))


def test_the_bounds_of_the_engine_are_those_of_the_lesson():
    for _, times_ms, size_ms in sheet._streams():
        rows = [["k", 1, at_ms, place] for place, at_ms in enumerate(times_ms)]
        judged = lag.choose(Scenario.of(events=rows), window=size_ms).as_is
        assert tuple(judged.needed_ms) == sheet._bounds_by_engine(times_ms, size_ms)
