"""Lesson 4, late events: its questions. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import read_time
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import duration_ms, time_ms, time_text

GIVEN: Mapping[str, Any] = {}

MINUTE_END_MS = time_ms("10:01")


def _prices(*arrivals: tuple[str, str], **settings: Any) -> Scenario:
    """Make a job with the settings of the price feed from (event time, arrival time) of one asset's prices."""
    rows = [["gold", 10_200, happened, arrived] for happened, arrived in arrivals]
    return wmviz.scenario("price-feed").replace(name="prices", start=None, events=rows, **settings)


def results() -> Question:
    """Ask how many results the sink gets for one minute."""
    trace = wmviz.simulate(wmviz.scenario("price-feed"))
    choices = (
        Choice(1, "1: a minute has one average", "So it is without allowed lateness. With it, a result is corrected."),
        Choice(
            2,
            "2: a first result, and one correction when the lateness ends",
            "Nothing is collected until the lateness ends: each late price makes the window fire at once.",
        ),
        Choice(
            4,
            "4: a first result, and one more for each of three late prices",
            "10:00:58, 10:00:47 and 10:00:59.999 come while the state lives. 10:00:20 comes when it is gone.",
        ),
        Choice(
            5,
            "5: a first result, and one more for each of four late prices",
            "One of the four, 10:00:20, comes when the state of the minute is gone. It makes nothing fire.",
        ),
    )
    return Question(
        "How many results does the sink get for the minute from 10:00 to 10:01?",
        choices,
        answer=sum(firing.window.end_ms == MINUTE_END_MS for firing in trace.all_firings),
    )


def eight_seconds() -> Question:
    """Ask whether an event is late, without its window."""

    def is_late(size: str) -> bool:
        job = _prices(
            ("0:00:11.001", "10:00"),
            ("0:00:08", "10:01"),
            bound="0 ms",
            lateness="0 ms",
            window={"size": size},
        )
        return bool(wmviz.simulate(job).outcomes().late)

    return Question(
        "A picture in a tutorial shows the watermark 0:00:11 and then an event of 0:00:08. It calls the event late. No "
        "lateness is allowed. Is it?",
        (
            Choice(
                (True, True),
                "Yes: 0:00:08 is behind 0:00:11",
                "Behind the watermark is not yet late. In a window of 1 min nothing has fired so far.",
            ),
            Choice(
                (False, False),
                "No: 3 s is not much",
                "How far behind does not matter. A window of 10 s, [0:00:00, 0:00:10), has fired and is gone.",
            ),
            Choice(
                (True, False),
                "It depends on the window: in one of 10 s yes, in one of 1 min no",
                "[0:00:00, 0:00:10) is gone at watermark 0:00:09.999; [0:00, 0:01) is still waiting.",
            ),
            Choice(
                (False, True),
                "It depends on the window: in one of 10 s no, in one of 1 min yes",
                "The other way round: the longer window ends later, so it still waits.",
            ),
        ),
        answer=(is_late("10 s"), is_late("1 min")),
    )


def counter() -> Question:
    """Ask what the counter shows when a side output is set."""
    trace = wmviz.simulate(_prices(("10:00:31", "10:00:32"), ("10:01:32", "10:01:33"), ("10:00:20", "10:01:34")))
    return Question(
        "A job has a side output for late events. One price is too late for its window. What do "
        "numLateRecordsDropped and the side output have?",
        (
            Choice((1, 1), "The counter 1, the side output 1", "Flink does one or the other, never both."),
            Choice((1, 0), "The counter 1, the side output 0", "That is so when no side output is set."),
            Choice((0, 0), "The counter 0, the side output 0", "A too late event is dropped or put out, never kept."),
            Choice(
                (0, 1),
                "The counter 0, the side output 1",
                "With a side output nothing is dropped, so nothing is counted as dropped.",
            ),
        ),
        answer=(trace.dropped_count, len(trace.outcomes().late)),
    )


def purging() -> Question:
    """Ask what a purging trigger leaves in a sink that overwrites."""
    job = _prices(
        ("10:00:10", "10:00:11"),
        ("10:00:31", "10:00:32"),
        ("10:01:05", "10:01:06"),
        ("10:00:58", "10:01:07"),
        aggregate="count",
        window={"trigger": "purging_event_time"},
    )
    totals = wmviz.simulate(job).totals
    return Question(
        "A window counts prices with a purging trigger; the sink overwrites the row of the minute. Two prices are on "
        "time, a third one comes within the allowed lateness. What does the row show at the end?",
        (
            Choice(3, "3", "That is the default trigger: it keeps the content, and fires with all of it."),
            Choice(
                1,
                "1",
                "The first firing emptied the window. The second has the late price alone, and its 1 overwrites the 2.",
            ),
            Choice(2, "2", "The late price counts: its window still has state. It makes the window fire again."),
            Choice(0, "0", "Purging empties the window, not the sink."),
        ),
        answer=totals["gold", time_ms("10:00"), MINUTE_END_MS],
    )


def sliding() -> Question:
    """Ask who reports an event that is late for one of two sliding windows."""
    job = _prices(
        ("10:01:05", "10:01:06"),
        ("10:00:58", "10:01:07"),
        lateness="0 ms",
        window={"type": "sliding", "size": "1 min", "slide": "30 s"},
    )
    ledger = wmviz.simulate(job).ledger()
    return Question(
        "Windows of 1 min start every 30 s; no lateness, a side output is set. The watermark is 10:01:02.999 and a "
        "price of 10:00:58 arrives. Where does it appear?",
        (
            Choice(
                (0, 1, 0),
                "In the side output: it is late for [10:00, 10:01)",
                "Only an event that is too late for all its windows goes there. [10:00:30, 10:01:30) has it.",
            ),
            Choice(
                (0, 0, 0),
                "In both windows, nothing is missing",
                "[10:00, 10:01) is gone at watermark 10:00:59.999. Without allowed lateness it takes nothing more.",
            ),
            Choice(
                (1, 1, 0),
                "In [10:00:30, 10:01:30), and in the side output for the other window",
                "That would be useful, but Flink does not do it: one window that takes it is enough for silence.",
            ),
            Choice(
                (1, 0, 1),
                "In [10:00:30, 10:01:30); that [10:00, 10:01) misses it is reported nowhere",
                "It is late for one window of two. Neither the side output nor the counter knows it.",
            ),
        ),
        answer=(ledger.counted - 1, ledger.side_output, ledger.missed),  # the first event is counted in any case
    )


def final() -> Task:
    """Ask for the event that makes a minute final."""
    lateness = "45 s"

    def is_final(newest_ms: int) -> bool:
        job = _prices(
            ("10:00:31", "10:00:32"),
            (time_text(newest_ms), "10:02"),
            ("10:00:58", "10:02:01"),
            lateness=lateness,
        )
        return bool(wmviz.simulate(job).outcomes().late)

    guess_ms = MINUTE_END_MS + duration_ms(lateness) + duration_ms("2 s")
    answer_ms = min(ms for ms in range(guess_ms - 3, guess_ms + 4) if is_final(ms))
    whys = {
        MINUTE_END_MS + duration_ms("2 s"): "There the minute fires for the first time. It can still be corrected.",
        MINUTE_END_MS + duration_ms("32 s"): "That is for a lateness of 30 s; here it is 45 s.",
        MINUTE_END_MS + duration_ms(lateness): "You forgot the bound: the watermark trails the newest price by 2 s.",
        MINUTE_END_MS + duration_ms(lateness) - 1: "That is the watermark. Which event time brings it there?",
        MINUTE_END_MS + duration_ms("43 s"): "You subtracted the bound. The watermark trails, so the price is newer.",
        answer_ms - 1: "The watermark is then 10:01:44.998: one millisecond short of end − 1 + lateness.",
        answer_ms + 1: "One millisecond too many: lateness counts from the last millisecond of the window, end − 1.",
    }

    def judge(answer: object) -> Verdict:
        got_ms = read_time(answer)
        if got_ms == answer_ms:
            return right(
                f"{time_text(answer_ms)} − 2 s − 1 ms = 10:01:44.999, and 10:00:59.999 + 45 s = 10:01:44.999: no price "
                "can change the minute any more."
            )
        before = "Then the watermark is short of end − 1 + lateness, and a late price would still correct the minute."
        after = "The minute is final then, but it was so before: an older event time is enough."
        return wrong(whys.get(got_ms, before if got_ms < answer_ms else after))

    return Task(
        "The lateness is now 45 s, the bound 2 s as before. Which is the earliest event time after whose arrival the "
        "minute [10:00, 10:01) is final?",
        judge,
        (
            "A minute is final when its state is deleted: at watermark end − 1 + lateness.",
            "The watermark is the newest event time − bound − 1 ms. Solve that for the newest event time.",
        ),
    )


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "results": results,
    "eight-seconds": eight_seconds,
    "counter": counter,
    "purging": purging,
    "sliding": sliding,
    "final": final,
}
