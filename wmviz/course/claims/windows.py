"""Claims about windows and their state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wmviz.course.claims.court import Case, Claim, Jobs, Runs, counted, job, lost, six_am
from wmviz.times import time_text
from wmviz.trace import Trace

ON_TIME = ("r9", "6:30", "6:31")
LATE = ("r9", "6:56", "7:25")
"""One kilometre in time, one that comes when the watermark has moved on."""


def _after(name: str, newest: str, **settings: Any) -> Any:
    """Make a job in which r7's newest event moves the watermark, and then r9's 6:56 arrives."""
    return job(name, ON_TIME, ("r7", newest, "7:24"), LATE, **settings)


def _values(trace: Trace) -> str:
    return ", then ".join(f"{firing.value:,} m" for firing in six_am(trace) if firing.key == "r9") or "nothing"


def _met(trace: Trace) -> str:
    return time_text(trace.seen_watermarks["r9@6:56"])


def _closes() -> Jobs:
    return {
        "no lateness": _after("closes-at-once", "7:02"),
        "lateness 20 min": _after("closes-later", "7:05", lateness="20 min"),
    }


def _closes_cases(runs: Runs) -> Iterator[Case]:
    early, kept = runs["no lateness"], runs["lateness 20 min"]
    yield Case(
        f"no lateness, watermark {_met(early)}: 1 ms before the end",
        not six_am(early),
        f"the 6 am window has fired, and {counted(lost(early), 'event')} of 6:56 is dropped",
    )
    yield Case(
        f"lateness 20 min, watermark {_met(kept)}: past the end",
        lost(kept) > 0,
        f"6:56 still counts: r9 has {_values(kept)}",
    )


def _stays_open() -> Jobs:
    return {
        "edge": _after("lateness-edge", "7:22", lateness="20 min"),
        "without": _after("lateness-none", "7:02"),
        "with": _after("lateness-some", "7:02", lateness="20 min"),
    }


def _stays_open_cases(runs: Runs) -> Iterator[Case]:
    edge = runs["edge"]
    how = "6:56 is dropped" if lost(edge) else "6:56 counts"
    yield Case(f"lateness 20 min, watermark {_met(edge)}: 1 ms before 7:20", not lost(edge), how)
    first = {name: time_text(six_am(runs[name])[0].watermark_ms) for name in ("without", "with")}
    yield Case(
        "lateness 20 min, the first result",
        first["with"] != first["without"],
        f"it comes at watermark {first['with']}; without lateness at {first['without']}",
    )


def _purges() -> Jobs:
    return {
        "the default trigger": _after("purges-default", "7:05", lateness="20 min"),
        "count trigger, every 1 event": _after(
            "purges-count", "7:05", window={"size": "1 h", "trigger": "count:1"}, lateness="20 min"
        ),
        "PurgingTrigger": _after(
            "purges-purging", "7:05", window={"size": "1 h", "trigger": "purging_event_time"}, lateness="20 min"
        ),
    }


def _purges_cases(runs: Runs) -> Iterator[Case]:
    for where, trace in runs.items():
        values = [firing.value for firing in six_am(trace) if firing.key == "r9"]
        yield Case(f"{where}: two firings of r9's window", values[1] == 1000, f"it emits {_values(trace)}")


def _never() -> Jobs:
    rows = (("r9", "6:30"), ("r9", "6:40"), ("r9", "7:10"), ("r9", "8:10"))

    def of(name: str, trigger: str, **settings: Any) -> Any:
        return job(name, *rows, window={"type": "global", "trigger": trigger}, **settings)

    return {
        "GlobalWindows as it is": of("global-default", "default"),
        "with a count trigger, every 2 events": of("global-count", "count:2"),
        "with a trigger for the end of the stream": of("global-end", "end_of_stream", end_of_input="9:00"),
    }


def _never_cases(runs: Runs) -> Iterator[Case]:
    for where, trace in runs.items():
        fired = len(trace.all_firings)
        yield Case(where, fired == 0, f"{counted(fired, 'result')} from 4 events")


def _backend(answer: Mapping[str, Any]) -> Iterator[Case]:
    for setting, backend in answer["backends"].items():
        where = "objects on the heap" if "HashMap" in backend else "RocksDB, on the local disk"
        yield Case(setting, "RocksDB" in backend, f"Flink takes {backend}, {where}")


CLAIMS = (
    Claim(
        2,
        "The window closes when the watermark reaches its end.",
        "It fires when the watermark reaches its last millisecond, end − 1 ms. It closes, that is its state goes, at "
        "end − 1 ms + lateness.",
        "3",
        _closes,
        _closes_cases,
    ),
    Claim(
        5,
        "Allowed lateness keeps the window open until end + lateness.",
        "It fires as early as without. Its state is kept until watermark end − 1 ms + lateness, and each late event "
        "makes it fire again at once.",
        "4",
        _stays_open,
        _stays_open_cases,
    ),
    Claim(
        25,
        "Firing purges the window.",
        "The default trigger keeps the content: each firing has all of it. Only a purging trigger empties the window. "
        "What deletes it is the cleanup, at end − 1 ms + lateness.",
        "4",
        _purges,
        _purges_cases,
    ),
    Claim(
        10,
        "GlobalWindows never fire.",
        "Their default trigger is one that never fires, not even at the end of the input. With a trigger of your own "
        "they fire as it says.",
        "9",
        _never,
        _never_cases,
    ),
    Claim(
        24,
        "The state of windows is kept in RocksDB.",
        "Only if you set `state.backend.type`. The default is `hashmap`: objects on the heap of the TaskManager, so "
        "long lateness needs memory there.",
        "16",
        asks="state-backend",
        answers=_backend,
    ),
)
