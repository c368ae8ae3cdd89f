"""Lesson 1, two clocks: its questions. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import read_number
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import time_ms, time_text
from wmviz.trace import Trace

HOUR_MS = 3_600_000
SEVEN_MS = 7 * HOUR_MS


def by_ingestion_time(scenario: Scenario) -> Scenario:
    """Give the same arrivals, each stamped with the time at which the source reads it.

    Notes
    -----
    Flink 2.3.0: a TimestampAssigner that gives the machine's clock, with WatermarkStrategy.forMonotonousTimestamps.
    """
    rows = [[event.key, event.value, event.arrival_time_ms, event.arrival_time_ms] for event in scenario.events]
    return scenario.replace(
        name=f"{scenario.name}-by-ingestion-time", strategy="ascending", bound=0, lateness=0, events=rows
    )


def read_again(scenario: Scenario) -> Scenario:
    """Give the same events in the same order, read at noon: one every 100 ms."""
    noon_ms = time_ms("12:00")
    rows = [
        [event.key, event.value, event.event_time_ms, noon_ms + 100 * place]
        for place, event in enumerate(scenario.events)
    ]
    return scenario.replace(name=f"{scenario.name}-read-again", start=noon_ms, events=rows)


def metres_of(trace: Trace, end_ms: int = SEVEN_MS) -> dict[str, int]:
    """Give each runner's metres in the window that ends then."""
    return {key: metres for (key, _, window_end_ms), metres in trace.totals.items() if window_end_ms == end_ms}


# Questions ---------------------------------------------------------------------------------------------------------


def badge() -> Question:
    """Ask who gets the 6 am badge if the hour of arrival counts."""
    metres = metres_of(wmviz.simulate(wmviz.scenario("leaderboard").by_server_clock()))
    whys = {
        "r4471": "By the phones' clocks, yes: 3,000 m. But one of those kilometres, 6:56, arrived at 7:09.",
        "r12": "It ran 2,500 m in that hour, but 1,500 m of them arrived after 7:00.",
        "r9": "Its 2,500 m were all there before 7:00. r4471 ran 3,000 m in that hour, but only 2,000 m were there.",
        "r7": "It ran 2,000 m in that hour, and one of its two kilometres arrived at 7:24.",
    }
    return Question(
        "The first version of the app counts a kilometre for the hour in which it arrives. Who gets the 6 am badge?",
        tuple(Choice(runner, runner, why) for runner, why in whys.items()),
        answer=max(metres, key=lambda runner: metres[runner]),
    )


def stamp() -> Question:
    """Ask which hour counts by ingestion time, when a slow operator comes between."""
    job = Scenario.of(window="1 h", events=[["r4471", 1000, "6:56", "7:09"], ["r4471", 1000, "9:01", "9:02"]])
    first = wmviz.simulate(by_ingestion_time(job)).all_firings[0]
    return Question(
        "A kilometre ends at 6:56. The source reads it at 7:09. The windows are slow and get to it at 8:02. "
        "For which hour does it count by ingestion time?",
        (
            Choice("6:00", "6 am", "That is event time: the phone's clock, at the end of the kilometre."),
            Choice(
                "7:00", "7 am", "The source writes the time on the event when it reads it. Later waits change nothing."
            ),
            Choice("8:00", "8 am", "That is processing time: the clock that the window's own machine shows just then."),
        ),
        answer=time_text(first.window.start_ms or 0),
    )


def again() -> Question:
    """Ask which totals stay the same when the events are read again."""
    morning = wmviz.scenario("leaderboard")
    pairs = {
        "event time": (morning, read_again(morning)),
        "server's clock": (morning.by_server_clock(), read_again(morning).by_server_clock()),
    }
    same = [how for how, pair in pairs.items() if len({str(wmviz.simulate(job).totals) for job in pair}) == 1]
    return Question(
        "At noon the events of the morning are read again, in the same order, with a watermark after each. "
        "Which totals are the same as in the morning?",
        (
            Choice("event time, server's clock", "Both", "By the server's clock all of it counts for 12 o'clock now."),
            Choice(
                "server's clock",
                "Only those by the server's clock",
                "The other way round: the server's clock shows 12 o'clock now. The phones' times are what they were.",
            ),
            Choice(
                "event time",
                "Only those by event time",
                "The time is in the event, so the hour is the same. Nothing in the job looks at the server's clock.",
            ),
            Choice("", "Neither", "The time of the phone is in the event and does not change when it is read again."),
        ),
        answer=", ".join(same),
    )


def listed() -> Question:
    """Ask how many results a list gives with processing-time windows."""
    job = read_again(wmviz.scenario("leaderboard")).by_server_clock().replace(end_of_input="12:00:02")
    morning = wmviz.simulate(wmviz.scenario("leaderboard").by_server_clock())
    return Question(
        "Your test reads the 19 events as a list, with processing-time windows of one hour. The job ends after two "
        "seconds. How many results does it print?",
        (
            Choice(
                len(morning.all_firings), str(len(morning.all_firings)), "That many came in the morning, hour by hour."
            ),
            Choice(4, "4", "One window for each runner is open, yes. But nothing has made them fire."),
            Choice(
                len(wmviz.simulate(job).all_firings),
                "0",
                "The windows wait for the full hour on the clock. The end of the list does not make them fire.",
            ),
        ),
        answer=len(wmviz.simulate(job).all_firings),
    )


def moved() -> Task:
    """Ask how many metres the server's clock counts for another hour than 6 am."""
    run = wmviz.simulate(wmviz.scenario("leaderboard").by_server_clock())
    events = {event.id: event for event in run.scenario.events}
    wrongly = [
        events[name]
        for firing in run.all_firings
        for name in firing.event_ids
        if firing.window.end_ms != SEVEN_MS and events[name].event_time_ms < SEVEN_MS
    ]
    answer = sum(event.value for event in wrongly)
    too_late = wmviz.simulate(wmviz.scenario("leaderboard")).outcomes().late
    whys = {
        len(wrongly): "That is how many events there are. How many metres do they have?",
        sum(event.value for event in wrongly if event.id not in too_late): "You left out r7's kilometre of 6:56. By "
        "event time it is too late for a result, but it was run before 7:00 too.",
        1000: "There is not only r4471's kilometre. Look at all rows with an event time before 7:00.",
        1000 * len(wrongly): "Not every event has 1,000 m. Look at the column of metres.",
    }

    def judge(answered: Any) -> Verdict:
        metres = read_number(answered)
        if metres == answer:
            return right(f"Four events that were run before 7:00 arrived after it: {answer:,} m.")
        return wrong(whys.get(metres, "Take the rows whose event time is before 7:00 and whose arrival time is not."))

    return Task(
        "How many metres were run before 7:00, by all runners together, but counted for 7 am by the server's clock?",
        judge,
        (
            "Look for rows with an event time before 7:00 and an arrival time after it.",
            "There are four such rows. Add up their metres.",
        ),
    )


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "badge": badge,
    "stamp": stamp,
    "again": again,
    "listed": listed,
    "moved": moved,
}
GIVEN: Mapping[str, Any] = {}
