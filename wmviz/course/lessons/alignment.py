"""Lesson 8, watermark alignment: its scenario and its questions. Every right answer comes from the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

import wmviz
from wmviz.course.answers import read_time
from wmviz.course.questions import Choice, Question, Task, Verdict, right, wrong
from wmviz.scenario import Scenario
from wmviz.times import time_ms, time_text
from wmviz.trace import Kind, Trace

QUICK_EVENTS, SLOW_EVENTS = 120, 30
QUICK_MS, SLOW_MS = 500, 2_000
"""From event to event, by the server's clock; in event time it is a minute in both."""


def history() -> Scenario:
    """Give the reading of an old morning: a quick source and one that is four times slower."""
    start_ms = time_ms("7:00:00.100")
    quick = [["r4471", 1000, _minute(n), start_ms + n * QUICK_MS, 0] for n in range(QUICK_EVENTS)]
    slow = [["r9", 1000, _minute(n), start_ms + 100 + n * SLOW_MS, 1] for n in range(SLOW_EVENTS)]
    return wmviz.scenario("watermark-alignment").replace(
        name="history",
        title="An old morning is read again",
        about="Source[0] is read four times as fast as source[1]; an event takes the window operator 250 ms.",
        window="5 min",
        work="250 ms",
        channel_capacity=2,
        events=sorted(quick + slow, key=lambda row: row[3]),
    )


def _minute(number: int) -> str:
    return f"{6 + number // 60}:{number % 60:02}"


def pauses(trace: Trace, place: str = "source[0]") -> list[int]:
    """Give the moments at which a source subtask begins to wait, in ms."""
    return [r.at_ms for r in trace if r.kind is Kind.PAUSED and r.place == place and r.value == 1]


def lead_ms(trace: Trace) -> int:
    """Give the largest lead of the watermark of source[0] over that of source[1], at the end of any moment."""
    watermarks: dict[str, int] = {}
    largest_ms = 0
    for _, moment in groupby(trace, key=lambda record: record.at_ms):
        watermarks |= {r.place: r.value for r in moment if r.kind is Kind.WATERMARK}
        if "source[0]" in watermarks and "source[1]" in watermarks:
            largest_ms = max(largest_ms, watermarks["source[0]"] - watermarks["source[1]"])
    return largest_ms


def wait() -> Question:
    """Ask when a source that is too far ahead begins to wait."""
    trace = wmviz.simulate(wmviz.scenario("watermark-alignment"))
    whys = {
        "7:00:05.500": "Nobody compares the watermarks at this moment. Sources tell theirs once a second only.",
        "7:00:06": "That is the first report after it. But a lead must show in three samples, one a second.",
        "7:00:09": "The report of 7:00:07 is the first that is over the limit when it has become the oldest of three.",
        "never": "It does wait: the setting is on the source, so the source obeys.",
    }
    first = pauses(trace)
    return Question(
        "At 7:00:05.500 source[0] is for the first time more than 2 min ahead of source[1]. When does it stop reading?",
        tuple(Choice(time, time, why) for time, why in whys.items()),
        answer=time_text(first[0]) if first else "never",
    )


def gain() -> Question:
    """Ask what is different with alignment."""
    with_it = wmviz.simulate(history())
    without = wmviz.simulate(history().replace(alignment=None))
    changed = {
        "results": len(with_it.all_firings) != len(without.all_firings),
        "late": len(with_it.outcomes().late) != len(without.outcomes().late),
        "state": _waiting(with_it) < _waiting(without),
    }
    return Question(
        "The old morning is read with alignment in place of without. What is different after a minute?",
        (
            Choice(
                frozenset({"results", "state"}),
                "More results have come out, because the sources go together",
                "The windows wait for the lowest watermark. The slow source is no faster than before.",
            ),
            Choice(
                frozenset({"late", "state"}),
                "Fewer events are late, because nobody runs ahead",
                "Who runs ahead makes nobody late: the minimum waits for the slow one, with alignment or without.",
            ),
            Choice(
                frozenset({"state"}),
                "Fewer events wait in the state of the windows",
                "What the quick source has not read yet stays where it is: in the topic, not in Flink's state.",
            ),
            Choice(
                frozenset(),
                "Nothing: alignment is about barriers",
                "That is the alignment of checkpoint barriers, of lesson 10. The two only share a word.",
            ),
        ),
        answer=frozenset(name for name, differs in changed.items() if differs),
    )


def _waiting(trace: Trace) -> int:
    return sum(len(window.event_ids) for window in trace.state(trace.steps - 1).windows)


def silent() -> Question:
    """Ask what a silent member of the group does to the others."""

    def reads_on(**changes: Any) -> bool:
        silence = {"what": "silence", "at": "7:00:10", "until": "7:00:50", "partition": 1}
        trace = wmviz.simulate(history().replace(happenings=[silence], **changes))
        reads = [r.at_ms for r in trace if r.kind is Kind.ARRIVED and r.place == "source[0]"]
        return any(time_ms("7:00:30") < at_ms < time_ms("7:00:50") for at_ms in reads)

    return Question(
        "Source[1] sends nothing from 7:00:10 to 7:00:50. Does source[0] read between 7:00:30 and 7:00:50: without an "
        "idle timeout, and with one of 2 s?",
        (
            Choice(
                (True, True),
                "Yes, and yes: who sends nothing holds nobody",
                "Silent is not idle. Without a timeout its last watermark counts on, and the limit stands still.",
            ),
            Choice(
                (False, False),
                "No, and no: the limit stands still with the silent one",
                "So it was in older versions. An idle subtask reports MAX, so it does not hold the limit.",
            ),
            Choice(
                (False, True),
                "No, and yes: only an idle one is not waited for",
                "Without a timeout the last watermark counts on. With it the subtask is idle and reports MAX.",
            ),
            Choice(
                (True, False),
                "Yes, and no: an idle source lets the others wait",
                "The other way round: idle means that it is not waited for.",
            ),
        ),
        answer=(reads_on(), reads_on(idle_timeout="2 s")),
    )


def after() -> Question:
    """Ask with which drift a strategy behind the source holds anybody."""
    behind = wmviz.scenario("alignment-after-source")
    drifts = ("0 ms", "2 min", "1 h")
    holding = frozenset(drift for drift in drifts if pauses(wmviz.simulate(behind.replace(alignment={"drift": drift}))))
    return Question(
        "In `alignment-after-source` the quick source runs away. With which of the drifts 0 ms, 2 min and 1 h is it "
        "held?",
        (
            Choice(
                frozenset({"0 ms"}),
                "With 0 ms only",
                "The operator behind the source has no means to stop the reading, however small the drift.",
            ),
            Choice(
                frozenset({"0 ms", "2 min"}),
                "With 0 ms and 2 min",
                "This is right for a strategy on the source. Behind it nobody looks at the drift.",
            ),
            Choice(frozenset(drifts), "With each of them", "A drift of 1 h holds nobody here, not even on the source."),
            Choice(
                frozenset(),
                "With none of them",
                "Only the source operator reads the setting. Behind the source it is ignored, without a warning.",
            ),
        ),
        answer=holding,
    )


def limit() -> Task:
    """Ask for the limit of a group."""
    drift, events = "5 min", {"6:51": 0, "6:48": 1}
    rows = [["k", 1, time, "7:00:00.100", partition] for time, partition in events.items()]
    job = Scenario.of(
        emission="interval",
        interval="200 ms",
        window="1 h",
        start="7:00:00",
        bound="1 min",
        partitions=2,
        subtasks=2,
        alignment={"drift": drift},
        events=rows,
    )
    told = [record.value for record in wmviz.simulate(job) if record.kind is Kind.ALLOWED]
    answer_ms = told[-1]
    whys = {
        time_ms("6:54:59.999"): "That is the higher watermark plus the drift. The slowest one of the group counts.",
        time_ms("6:52:59.999"): "You left out the bound: a watermark trails the newest event by it, and by 1 ms.",
        time_ms("6:53"): "You left out the bound and the 1 ms of the watermark.",
        time_ms("6:46:59.999"): "That is the lowest watermark. The drift comes on top.",
        time_ms("6:52"): "You left out the 1 ms: 6:48 − 1 min − 1 ms is the lowest watermark.",
        time_ms("6:41:59.999"): "You subtracted the drift. It says how far one may be ahead, so add it.",
    }

    def judge(answer: object) -> Verdict:
        got_ms = read_time(answer)
        if got_ms == answer_ms:
            return right(f"6:48 − 1 min − 1 ms = 6:46:59.999, and 5 min more is {time_text(answer_ms)}.")
        return wrong(whys.get(got_ms, "Find the lowest watermark of the group first, then add the drift."))

    return Task(
        "Bound 1 min, drift 5 min. The newest event of source[0] is 6:51, that of source[1] is 6:48. "
        "Up to which watermark may the sources of the group go?",
        judge,
        (
            "Each source reports its watermark: newest event − bound − 1 ms.",
            "The limit is the lowest of them plus the drift.",
        ),
    )


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "wait": wait,
    "gain": gain,
    "silent": silent,
    "after": after,
    "limit": limit,
}
