"""The sheet of lesson 5, choosing the bound. Every right answer comes from the engine, or from what it counts."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import wmviz
from wmviz import lag
from wmviz.course.answers import AnswerError, read_duration
from wmviz.course.harness import smallest_bounds
from wmviz.course.judging import judge_duration, judge_job
from wmviz.course.questions import Question, Task, Verdict, not_yet, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import duration_ms, duration_text, time_ms, time_text

READINGS = Scenario.of(
    name="three-buoys",
    title="Readings of three buoys",
    unit="readings",
    bound="30 s",
    late_to="side",
    window="10 min",
    start="7:00",
    events=[
        ["reef", 1, "7:01", "7:01:20"],
        ["bay", 1, "7:03", "7:04:30"],
        ["reef", 1, "7:08", "7:08:10"],
        ["bay", 1, "7:02:30", "7:08:40"],
        ["north", 1, "7:12", "7:12:05"],
        ["reef", 1, "7:09", "7:12:40"],
        ["reef", 1, "7:13", "7:13:10"],
        ["bay", 1, "7:13:30", "7:20"],
        ["north", 1, "7:21", "7:21:05"],
        ["reef", 1, "7:19:10", "7:22"],
        ["bay", 1, "7:20:30", "7:22:10"],
        ["north", 1, "7:24", "7:24:05"],
    ],
)
"""Tasks 1 to 3. The reading furthest behind, the one with the largest lag and the one that decides are three."""

SERVICED = Scenario.of(
    name="serviced-buoy",
    title="A buoy whose clock was set wrong",
    unit="readings",
    bound="1 min",
    late_to="side",
    window="10 min",
    start="8:00",
    end_of_input="9:00",
    events=[
        ["reef", 1, "8:02", "8:02:04"],
        ["bay", 1, "8:05", "8:05:06"],
        ["north", 1, "8:08:20", "8:08:10"],
        ["bay", 1, "18:11", "8:11:05"],
        ["reef", 1, "8:12", "8:12:04"],
        ["north", 1, "8:11:30", "8:12:20"],
        ["bay", 1, "8:16", "8:16:05"],
        ["reef", 1, "8:22", "8:22:04"],
        ["north", 1, "8:26:20", "8:26:12"],
        ["bay", 1, "8:31", "8:31:05"],
    ],
)
"""Task 5: bay's fourth reading is ten hours ahead; north's clock is 10 s ahead, and that is harmless."""

AHEAD_MS = 60_000
"""What is dated further than this after its arrival is from the future: the rule of the lesson."""


@cache
def harbour() -> Scenario:
    """Make task 4: 18 buoys, a reading a minute for four hours; the lags are drawn, most of them short."""
    rng = random.Random(5)
    rows: list[list[Any]] = []
    for number in range(18):
        first_ms = time_ms("12:00") + rng.randrange(60_000)
        for minute in range(240):
            share, at_ms = rng.random(), first_ms + minute * 60_000
            lag_s = (1, 15) if share < 0.93 else (15, 240) if share < 0.993 else (240, 1_500)
            rows.append([f"buoy{number + 1}", 1, at_ms, at_ms + rng.randrange(lag_s[0] * 1_000, lag_s[1] * 1_000)])
    rows.sort(key=lambda row: (row[3], row[0]))
    return Scenario.of(name="harbour", title="The buoys of a harbour", late_to="side", window="10 min", events=rows)


GIVEN = {
    "furthest-behind": READINGS,
    "least-for-all": READINGS,
    "patience": READINGS,
    "goals": harbour(),
    "wrong-clock": SERVICED,
}


def _least(holds: Callable[[int], bool], most_ms: int) -> int:
    """Give the smallest number of milliseconds from 0 on for which something holds, which then holds for all above."""
    return bisect_left(range(most_ms + 1), True, key=holds)


def _late(job: Scenario) -> frozenset[str]:
    """Give the events for which the window operator has no window any more."""
    return frozenset(wmviz.simulate(job, trace="results").outcomes().late)


def furthest_behind() -> Task:
    """Task 1: how far the event furthest behind is out of order."""
    met_ms = wmviz.simulate(READINGS.replace(bound="0 s")).seen_watermarks
    # With a bound of 0 the watermark is the newest event time − 1 ms.
    behind_ms = {e.id: max(met_ms[e.id] + 1 - e.event_time_ms, 0) for e in READINGS.events}
    slow = max(READINGS.events, key=lambda e: e.arrival_time_ms - e.event_time_ms)
    furthest = max(READINGS.events, key=lambda e: behind_ms[e.id])
    whys = {
        slow.arrival_time_ms - slow.event_time_ms: "That is the largest lag, of bay's 7:13:30. But nothing newer had "
        "come before it: it is in order. Lag plays no part.",
        furthest.arrival_time_ms - furthest.event_time_ms: "That is the lag of bay's 7:02:30. Compare it with the "
        "newest event time before it, and not with the clock.",
        duration_ms(
            "30 s"
        ): "That is how far bay's 7:02:30 is behind the reading of bay before it. The generator knows "
        "no keys: it keeps the newest time of all.",
        duration_ms(
            "5 min 40 s"
        ): "You counted to 7:08:10, the arrival of the newest one. Its event time counts: 7:08.",
        duration_ms("3 min"): "That is reef's 7:09 behind 7:12. Another one is further behind.",
    }
    return Task(
        "How far is the reading that is furthest behind, as the bound counts it?",
        lambda answer: judge_duration(
            answer,
            behind_ms[furthest.id],
            whys,
            f"bay's 7:02:30 comes after reef's 7:08: {duration_text(behind_ms[furthest.id])}. Its lag is longer.",
        ),
        (
            "The generator has no clock. Which number does it keep, and what does it compare with it?",
            "Write the newest event time so far behind each arrival. Then subtract: newest before − own time.",
            "The largest lag belongs to a reading that is in order. Look at those for which something newer had come.",
        ),
    )


def least_for_all() -> Task:
    """Task 2: the least bound with which every reading is in the first result of its window."""
    least_ms = _least(lambda ms: not _late(READINGS.replace(bound=ms)), duration_ms("10 min"))
    whys = {
        duration_ms("5 min 30 s"): "So far bay's 7:02:30 is behind. But its window [7:00, 7:10) has not fired at 7:08, "
        "with any bound. Less will do.",
        duration_ms("3 min"): "So far reef's 7:09 is behind. Enough, but less will do: only its window must wait.",
        least_ms - 1: "With that the watermark behind 7:12 is 7:09:59.999, and [7:00, 7:10) has just fired.",
        least_ms + 1: "One millisecond less is enough.",
        duration_ms("6 min 30 s"): "That is the largest lag. A bound is not about lag.",
        duration_ms("1 min 1 ms"): "That is enough for reef's 7:19:10. Another reading needs more.",
        duration_ms("2 min 40 s"): "You counted to the arrival of reef's 7:09. The newest event before it is 7:12.",
    }

    def judge(answer: object) -> Verdict:
        got_ms = read_duration(answer)
        if got_ms < 0:
            return wrong("A bound cannot be negative.")
        short = "Too short: a reading comes when its window has fired."
        otherwise = {got_ms: short if got_ms < least_ms else "All are in their first result then; but less is enough."}
        return judge_duration(
            got_ms,
            least_ms,
            otherwise | whys,
            "reef's 7:09 decides: 7:12 − 2 min 1 ms − 1 ms = 7:09:59.998, so [7:00, 7:10) still waits for it.",
        )

    return Task(
        "Which is the least bound with which every reading is in the first result of its window?",
        judge,
        (
            "A reading is late only if its window has fired. For which readings may that be?",
            "A window fires when newest − bound − 1 ms reaches end − 1 ms. Which is the newest before each of them?",
            "reef's 7:09 meets 7:12 − bound − 1 ms, and its window fires at 7:09:59.999. Stay below it.",
        ),
    )


def patience() -> Task:
    """Task 3: the least lateness that goes with a given bound, so that nothing is lost."""
    least_ms = _least(lambda ms: not _late(READINGS.replace(lateness=ms)), duration_ms("10 min"))
    whys = {
        duration_ms("2 min 1 ms"): "You left out the bound. Bound + lateness decides what is lost, and 30 s are there "
        "already.",
        least_ms - 1: "One millisecond short: at that very watermark the state is gone.",
        least_ms + 1: "One millisecond less is enough.",
        duration_ms(
            "5 min"
        ): "That is 5 min 30 s − 30 s. bay's 7:02:30 is furthest behind, but its window waits anyway.",
        duration_ms("30 s 1 ms"): "That is enough for reef's 7:19:10. Another reading needs more.",
        duration_ms("2 min 30 s"): "You counted from reef's 7:09. Lateness counts from the end of its window, 7:10.",
    }

    def judge(answer: object) -> Verdict:
        got_ms = read_duration(answer)
        if got_ms < 0:
            return wrong("An allowed lateness cannot be negative.")
        lost = sorted(_late(READINGS.replace(lateness=got_ms)))
        otherwise = {got_ms: f"{lost[0]} is still lost." if lost else "Nothing is lost then; but less is enough."}
        return judge_duration(
            got_ms,
            least_ms,
            otherwise | whys,
            "Together with the bound it is 2 min 1 ms again. The first result waits for 30 s only, and each late "
            "reading corrects it.",
        )

    return Task(
        "The bound stays at 30 s. Which is the least allowed lateness with which no reading is lost?",
        judge,
        (
            "The state of a window goes when the watermark reaches end − 1 ms + lateness.",
            "Bound + lateness must be as long as the bound of task 2. How much of it is there already?",
        ),
    )


MOST_WAIT_MS, LEAST_ON_TIME, MOST_LOST, MOST_STATE = 90_000, 0.985, 10, 54
"""What is wanted in task 4."""


@cache
def _harbour_advice() -> lag.Advice:
    return lag.choose(harbour(), window="10 min")


def goals() -> Task:
    """Task 4: a bound and a lateness for four wishes."""
    return Task(
        "Choose a bound and a lateness for the harbour.",
        _judge_goals,
        (
            'Measure: `advice = lag.choose(harbour, window="10 min")`. What does `advice.at("2 min", "20 min")` say?',
            "Wishes 1 and 2 are about the bound alone. One gives its least value, the other its largest.",
            "Wishes 3 and 4 are about bound + lateness. Fix the bound, and try lateness 5, 10, 15, 20, 30 min.",
        ),
    )


def _judge_goals(answer: object) -> Verdict:
    if not isinstance(answer, (list, tuple)) or len(answer) != 2:
        return not_yet('Give two lengths, the bound and the lateness, such as "20 s", "3 min".')
    bound_ms, lateness_ms = map(read_duration, answer)
    if min(bound_ms, lateness_ms) < 0:
        return wrong("Neither the bound nor the lateness can be negative.")
    point = _harbour_advice().at(bound_ms, lateness_ms)
    share = f"{100 * point.on_time / point.events:.2f} %"
    if point.on_time < LEAST_ON_TIME * point.events:
        mixed = " The lateness does not help: it corrects, and the first result is out." if lateness_ms else ""
        return wrong(f"Wish 1 fails: {share} are in the first result. Wait a little longer.{mixed}")
    if point.wait_ms is None:
        return wrong("Wish 2 fails: with that bound too few windows fire before the data end.")
    wait = duration_text(-(-point.wait_ms // 1000) * 1000)
    if point.wait_ms > MOST_WAIT_MS:
        return wrong(
            f"Wish 2 fails: in 95 % of the windows it comes within {wait}. The bound alone decides how long all wait."
        )
    if point.lost > MOST_LOST:
        return wrong(
            f"Wish 3 fails: {point.lost} readings are lost. The bound must not grow, but the lateness may: their sum "
            "decides what is lost."
        )
    if point.state > MOST_STATE:
        return wrong(
            f"Wish 4 fails: {point.state} windows have state at once. A longer lateness keeps each window longer, and "
            "no wish needs that much."
        )
    return right(
        f"{share} are in the first result, which comes within {wait}; {point.lost} readings are lost, and at most "
        f"{point.state} windows have state."
    )


def wrong_clock() -> Task:
    """Task 5: mend a job that one reading from the future has spoiled."""
    late = len(_late(SERVICED))
    return Task(
        "Mend the job: every right reading is in the first result of its window.",
        lambda job: judge_job(job, SERVICED, f"{late} readings are late.", _judge_wrong_clock),
        (
            "Print the watermark that each reading meets: `wmviz.simulate(job).seen_watermarks`. Where does it jump?",
            "A generator keeps the newest time that it has ever seen. So what is wrong must go before the generator.",
            "Compare each event time with its arrival. One is hours ahead; those that are 10 s ahead do no harm.",
        ),
    )


def _is_from_the_future(event: Any) -> bool:
    return bool(event.event_time_ms - event.arrival_time_ms > AHEAD_MS)


def _judge_wrong_clock(job: Scenario) -> Verdict:
    if job.window.time == "processing":
        return wrong("By the server's clock a late reading counts for the window in which it arrives.")
    if job.window != SERVICED.window:
        return wrong("The windows were not the fault. What they wait for is the watermark.")
    (bad,) = filter(_is_from_the_future, SERVICED.events)
    rest = [(e.key, e.value, e.event_time_ms) for e in SERVICED.events if e is not bad]
    kept = [(e.key, e.value, e.event_time_ms) for e in job.events if e.arrival_time_ms != bad.arrival_time_ms]
    if kept != rest:
        gone = next((one for one in rest if one not in kept), rest[0])
        what = f"{gone[0]}'s {time_text(gone[2])}"
        return wrong(f"You dropped or changed {what}. It is right: clocks differ by seconds, and that is no fault.")
    trace = wmviz.simulate(job)
    late = len(trace.outcomes().late) + (trace.dropped_count or 0)
    if any(map(_is_from_the_future, job.events)):
        if not late and job.lateness_ms:
            return wrong(
                "Now every reading is counted, but no window waits: each reading makes its window fire at once. The "
                "first results have one reading, and the state is kept for hours."
            )
        if not late and job.bound_ms <= SERVICED.bound_ms:
            return wrong(
                "Now no watermark comes before the input ends. So nothing is late, and no window fires before that "
                "either. The watermark is not the fault; the wrong time is."
            )
        if not late:
            return wrong(
                f"With a bound of {duration_text(job.bound_ms)} nothing is late, and every result comes that much "
                "later. No bound mends a wrong clock."
            )
        return wrong(
            f"{late} readings are late: the reading of {time_text(bad.event_time_ms)} still lifts the watermark, and "
            "it never goes back. It must not reach the strategy."
        )
    if late:
        return wrong(f"The wrong reading is gone, but {late} are late with your settings.")
    if len(job.events) > len(rest):
        return right(
            "You corrected its time, and nothing lifts the watermark. That is a choice: the reading is real, its time "
            "is your guess."
        )
    return right("Only the reading that is far ahead is gone. The watermark follows the others, and none is late.")


def build_bounds() -> Task:
    """Task 6: build the list of the smallest bounds."""
    return Task(
        "Build the smallest bound of each event.",
        _judge_bounds,
        (
            "Go through the events in order, and keep the newest time of those **before** each of them.",
            "The window of a time ends at time − time % size + size. It fires when newest − bound − 1 reaches end − 1.",
            "So the bound must be above newest − end: by 1 ms. While all before it are below the end, 0 is enough.",
        ),
    )


@cache
def _streams() -> tuple[tuple[str, tuple[int, ...], int], ...]:
    """Give event times in order of arrival, and the size of the windows."""
    of = {job.name: job for job in (READINGS, wmviz.scenario("leaderboard"))}
    jobs = [(name, tuple(e.event_time_ms for e in job.events), job.window.size_ms) for name, job in of.items()]
    before_1970 = (-9_000, -3_999, -4_000, -4_001, -8_000, 0, -1, 3_999, 1, 1)
    on_the_edge = (10_000, 9_000, 20_000, 19_999, 10_000, 9_999, 30_001, 20_000)
    behind = (90_000, *range(1_000, 41_000, 1_000), 55_000, 2_000)
    return (
        *jobs,
        ("window-edges", on_the_edge, 10_000),
        ("far-behind", behind, 10_000),
        ("before-1970", before_1970, 4_000),
        ("one-event", (5_000,), 1_000),
    )


@cache
def _bounds_by_engine(times_ms: tuple[int, ...], size_ms: int) -> tuple[int, ...]:
    """Find the smallest bounds by running the engine on one bound after the other."""
    rows = [["k", 1, at_ms, place] for place, at_ms in enumerate(times_ms)]
    job = Scenario.of(late_to="side", window=size_ms, events=rows)

    @cache
    def late(bound_ms: int) -> frozenset[str]:
        return _late(job.replace(bound=bound_ms))

    def on_time(name: str, bound_ms: int) -> bool:
        return name not in late(bound_ms)

    most_ms = max(times_ms) - min(times_ms) + 1
    return tuple(_least(partial(on_time, e.id), most_ms) for e in job.events)


def _judge_bounds(own: Any) -> Verdict:
    if not callable(own):
        return not_yet("Give the function itself, without brackets behind its name.")
    for name, times_ms, size_ms in _streams():
        due = _bounds_by_engine(times_ms, size_ms)
        try:
            got = smallest_bounds(own, times_ms, size_ms)
        except AnswerError as error:
            return not_yet(f"On {name} {str(error)[:1].lower()}{str(error)[1:]}")
        for place, (got_ms, due_ms) in enumerate(zip(got, due, strict=True)):
            if got_ms != due_ms:
                return wrong(
                    f"On {name} the event of {time_text(times_ms[place])} gets {got_ms} ms; it should be {due_ms} ms. "
                    f"{_bound_slip(got_ms, due_ms, times_ms[: place + 1], size_ms)}"
                )
    return right("The engine ran each of the streams with one bound after the other, and every number is the same.")


def _bound_slip(got_ms: int, due_ms: int, times_ms: Sequence[int], size_ms: int) -> str:
    """Name the thought behind a wrong bound of the last of these events."""
    own_ms, before = times_ms[-1], times_ms[:-1]
    start_ms = own_ms - own_ms % size_ms
    end_ms = start_ms + size_ms
    if got_ms < 0:
        return "A bound is never negative: what is always on time needs 0."
    if not before:
        return "Nothing has come before it, so there is no watermark yet."
    newest_ms = max(before)

    def from_(end_ms: int, newest_ms: int = newest_ms) -> int:
        return max(newest_ms - end_ms + 1, 0)

    thoughts = {
        due_ms + 1: "One millisecond less is enough: then the watermark is end − 2, and the window has not fired.",
        due_ms - 1: "One millisecond short: with that bound the watermark is end − 1, and the window has just fired.",
        from_(start_ms): "You took the start of its window. It fires at its end.",
        newest_ms - own_ms + 1: "You counted from its own time. Its window fires at its end, and that is later.",
        max(newest_ms - own_ms, 0): "So far it is behind the newest one. But it is late only if its window has fired.",
    }
    if newest_ms == 0 and got_ms == 0:
        return "0 is a time like any other, and newer than all before 1970."
    if own_ms < 0 and own_ms % size_ms and got_ms == from_(start_ms + 2 * size_ms):
        return "Before 1970, too, the start of a window is rounded down, and not towards 0."
    if own_ms == start_ms and got_ms == from_(own_ms):
        return "At its very boundary a time belongs to the window that begins there: the end is no part of a window."
    if before[-1] != newest_ms and got_ms in (from_(end_ms, before[-1]), max(before[-1] - own_ms, 0)):
        return "You compared with the event just before it. The newest of all before it counts."
    if got_ms in thoughts:
        return thoughts[got_ms]
    if due_ms == 0:
        return "Its window has not fired before it comes, with any bound."
    if got_ms == 0:
        return f"With a bound of 0 its window of {duration_text(size_ms)} has fired before it comes."
    return "Write down the newest time before it, and the end of its window."


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "furthest-behind": furthest_behind,
    "least-for-all": least_for_all,
    "patience": patience,
    "goals": goals,
    "wrong-clock": wrong_clock,
    "build-bounds": build_bounds,
}
