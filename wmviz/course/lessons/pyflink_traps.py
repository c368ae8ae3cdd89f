"""Lesson 14, PyFlink traps: its questions. Every right answer comes from the engine or from recorded runs of Flink."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import read_duration
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.flink.traps_pyflink import NO_TIMESTAMP, Outcome
from wmviz.scenario import Event, Scenario
from wmviz.times import MIN_MS, duration_text

WINDOW_MS = 300_000


def timed(time_of: Callable[[Event], int | str], name: str, title: str) -> Scenario:
    """Give the leaderboard with other event times: what an assigner that is wrong would say.

    Parameters
    ----------
    time_of
        Gives an event's time, in ms or as text.
    name, title
        Of the variation.
    """
    s = wmviz.scenario("leaderboard")
    events = [[e.key, e.value, time_of(e), e.arrival_time_ms] for e in s.events]
    return s.replace(name=name, title=title, about="", events=events)


def in_seconds() -> Scenario:
    """Give the leaderboard with times in seconds, which Flink takes for milliseconds."""
    return timed(lambda event: event.event_time_ms // 1000, "phones-in-seconds", "Phones that send seconds")


def by_arrival() -> Scenario:
    """Give the leaderboard with the arrival time as timestamp."""
    return timed(lambda event: event.arrival_time_ms, "arrival-field", "The arrival time, taken for the event time")


def never_changing() -> Scenario:
    """Give the leaderboard with the start of the challenge as timestamp of every event."""
    return timed(lambda event: "6:00", "start-field", "A field that never changes")


def recorded(name: str, form: str = "broken") -> Outcome:
    """Give what a program of a trap did on Flink when it was recorded."""
    outcome: Outcome = getattr(wmviz.flink.trap(name).recorded, form)
    return outcome


# Questions ---------------------------------------------------------------------------------------------------------


def seconds() -> Question:
    """Ask what a job with seconds for milliseconds gives during the morning."""
    trace = wmviz.simulate(in_seconds())
    answer = "right" if trace.totals == wmviz.simulate(wmviz.scenario("leaderboard")).totals else "1970"
    return Question(
        "The phones send seconds since 1970, and the assigner hands them to Flink as they are. The job runs all "
        "morning. What does it give?",
        (
            Choice(
                "error", "An error: such times cannot be", "Any whole number is a time for Flink. These are in 1970."
            ),
            Choice(
                "1970",
                "Results for a day in January 1970",
                "The windows are there. But they do not fire: a morning is only a few seconds long in this job.",
            ),
            Choice(
                "right", "The right results", "The windows count milliseconds. A number of seconds is no such time."
            ),
            Choice(
                "nothing",
                "Nothing, and no error",
                "An hour of running is 3.6 s of event time, so no window of an hour comes to its end.",
            ),
        ),
        answer if trace.all_firings else "nothing",
    )


ORDERS = {
    "right": ("The totals of both hours", "That is what the same lines do in Java."),
    "fails": (
        "It fails, and says that records have no timestamp",
        "with_idleness makes a new strategy, and the assigner is not in it.",
    ),
    "1970": ("Totals in one window of 1970", "A missing timestamp is not 0: it is Long.MIN_VALUE, and is refused."),
}


def _kind(outcome: Outcome) -> str:
    if NO_TIMESTAMP in (outcome.error or ""):
        return "fails"
    return "right" if len(outcome.lines) == len(recorded("assigner-before-idleness", "mended").lines) else "1970"


def idleness() -> Question:
    """Ask what becomes of an assigner that with_idleness follows."""
    return Question(
        "The strategy: for_bounded_out_of_orderness, then with_timestamp_assigner, then with_idleness. It is given to "
        "assign_timestamps_and_watermarks. What does the program print?",
        tuple(Choice(value, *texts) for value, texts in ORDERS.items()),
        _kind(recorded("assigner-before-idleness")),
    )


def source() -> Question:
    """Ask what from_source does with a Python assigner."""
    broken = recorded("assigner-on-the-source")
    return Question(
        "with_idleness is not used at all. The strategy with its assigner is the second argument of from_source, as "
        "it is in Java. What happens?",
        (
            Choice(
                "used",
                "The assigner is used, and each partition has a watermark of its own",
                "That is so in Java. PyFlink hands the Java part of the strategy over, and no Python to the source.",
            ),
            Choice(
                "fails",
                "The assigner is ignored: records of this source have no timestamp",
                "from_source hands on the Java part of the strategy only, and the assigner is not in it.",
            ),
            Choice("refused", "from_source refuses it at once", "It would be kind. It says nothing, and goes on."),
        ),
        "fails" if _kind(broken) == "fails" else "used",
    )


def late_in_list() -> Question:
    """Ask how many events are late in a short list."""
    found = sum(line.startswith("late: ") for line in recorded("nothing-late").lines)
    return Question(
        "A test for late events: a list with 6:21, 7:05 and then 6:48. The bound is 2 min, no lateness is allowed, "
        "late events go to a side output. How many come out there?",
        (
            Choice(1, "One: the 6:48", "It would be late if a watermark had come before it. None has."),
            Choice(2, "Two: the 6:21 and the 6:48", "The 6:21 is the first event: nothing is before it."),
            Choice(0, "None", "All three rows are read before the first watermark, so nothing can be late."),
        ),
        found,
    )


def interval() -> Question:
    """Ask what an interval of 0 does in the DataStream API."""
    in_time = any("in time" in line for line in recorded("no-watermark-interval").lines)
    return Question(
        "To have a watermark after every event, a colleague sets the watermark interval to 0. The job uses the "
        "DataStream API and the bounded strategy. What happens?",
        (
            Choice(
                True, "There is a watermark after every event", "That is what 0 means in SQL. In the DataStream API …?"
            ),
            Choice(
                False,
                "There is no watermark before the input ends",
                "A periodic strategy emits when its timer fires, and an interval of 0 sets no timer.",
            ),
        ),
        in_time,
    )


def bound_in_sql() -> Question:
    """Ask what SQL does with an event that is out of order by exactly the bound."""
    broken = next(line for line in recorded("sql-minus-1-ms").lines if line.startswith("6 am"))
    return Question(
        "In SQL: WATERMARK FOR run_at AS run_at - INTERVAL '2' MINUTE. A row of 6:30 with 1,200 m comes, then one of "
        "7:01:59.999, then one of 6:59:59.999 with 1,300 m. What is the total of 6 am?",
        (
            Choice("6 am r9 2500 m", "2,500 m", "In the DataStream API it is: there the watermark is 1 ms lower."),
            Choice("6 am r9 1300 m", "1,300 m", "A row that is too late replaces nothing."),
            Choice(
                "6 am r9 1200 m",
                "1,200 m",
                "The watermark is 6:59:59.999, the window's last millisecond: it has fired, and the row is dropped.",
            ),
        ),
        broken,
    )


def order() -> Question:
    """Ask where to call with_idleness in PyFlink: claim 22."""
    last = _kind(recorded("assigner-before-idleness"))
    first = _kind(recorded("assigner-before-idleness", "mended"))
    return Question(
        '"Call withIdleness last", a text says. In PyFlink, where does it belong?',
        (
            Choice("last", "Last, as the text says", "True for Java. In PyFlink it loses the assigner before it."),
            Choice("first", "Before with_timestamp_assigner", "The assigner comes last: only there is it kept."),
            Choice("both", "It does not matter", "In Java it does not. In PyFlink one of the two orders fails."),
        ),
        "both" if last == first else "first" if first == "right" else "last",
    )


def counter() -> Question:
    """Ask what the counter of late rows shows after SQL's two phases."""
    (line,) = (line for line in recorded("two-phase-dropped").lines if "Dropped" in line)
    return Question(
        "In SQL three rows of one runner come too late, one right after the other. Nothing is set but the defaults. "
        "What does numLateRecordsDropped show?",
        (
            Choice(3, "3", "Three rows are lost, but the first phase has added them up to one."),
            Choice(1, "1", "The first phase adds the three up to one row. The second drops that one, and counts it."),
            Choice(0, "0", "The counter is there, and it counts. But what comes to it?"),
        ),
        int(line.rpartition(" ")[2]),
    )


def window_in_seconds() -> Task:
    """Ask how much real time a window of 5 minutes takes if the times are seconds."""
    needed_s = next(s for s in range(WINDOW_MS - 2, WINDOW_MS + 3) if _fires(s))
    answer_ms = needed_s * 1000
    whys = {
        WINDOW_MS: "That is what was meant. But each second of real time is only 1 ms of event time.",
        WINDOW_MS // 1000: "The other way round: in this job event time is slow, not fast.",
    }

    def judge(got: object) -> Verdict:
        got_ms = read_duration(got)
        if abs(got_ms - answer_ms) < 3_600_000:
            return right(f"300,000 ms, each a second of real time: {duration_text(answer_ms)}, about 3.5 days.")
        return wrong(whys.get(got_ms, f"{duration_text(got_ms)}? How many milliseconds does the window have?"))

    return Task(
        "Another job has windows of 5 minutes and a bound of 0, and its times are in seconds too. How much real time "
        "fits into one of its windows? (Such as 2 h 30 min or 3 days.)",
        judge,
        (
            "Flink waits until the times have gone up by 5 minutes, which is 300,000 ms.",
            "The numbers go up by 1 a second. So it takes 300,000 s. How many hours are that?",
        ),
    )


def _fires(after_s: int) -> bool:
    """Whether the first window fires when so many seconds have passed since its start, if seconds are taken for ms."""
    events = [["r9", 1, 0, 0], ["r9", 1, after_s, after_s * 1000]]
    job = Scenario.of(name="short-windows", bound="0 ms", window="5 min", events=events)
    return bool(wmviz.simulate(job).all_firings)


def no_watermark() -> Question:
    """Ask what Long.MIN_VALUE as a watermark means, beside a timestamp that is right (Q8)."""
    seen = set(wmviz.simulate(wmviz.scenario("spare-subtask")).seen_watermarks.values())
    return Question(
        "A debug print in the window operator of a job that has run for an hour: timestamp 25,500,000 (7:05), "
        "watermark -9,223,372,036,854,775,808. What does that watermark say?",
        (
            Choice(
                "assigner",
                "The assigner is lost",
                "Then the timestamp would be that number, and the window would fail. This timestamp is right.",
            ),
            Choice(
                "waits",
                "Not every input has sent a watermark yet",
                "It is Long.MIN_VALUE, the start. The lowest input counts, and one has sent none.",
            ),
            Choice(
                "overflow", "A number has become too large", "It is no result of a sum. Every watermark starts there."
            ),
        ),
        "waits" if seen == {MIN_MS} else "overflow",
    )


GIVEN: Mapping[str, Any] = {}
ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "seconds": seconds,
    "idleness": idleness,
    "source": source,
    "late-in-list": late_in_list,
    "interval": interval,
    "bound-in-sql": bound_in_sql,
    "order": order,
    "counter": counter,
    "window-in-seconds": window_in_seconds,
    "no-watermark": no_watermark,
}
