"""Claims about late events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import wmviz
from wmviz.course.claims.court import SEVEN_MS, SIX_MS, Case, Claim, Jobs, Runs, counted, job, lost, prices, six_am
from wmviz.scenario import Scenario
from wmviz.times import duration_text, time_text
from wmviz.trace import Trace


def _behind() -> Jobs:
    rows = ("r9", "6:30", "6:31")
    return {
        "its window has not fired": job("behind-open", rows, ("r9", "6:50", "6:51"), ("r9", "6:40", "6:52")),
        "its window has fired": job("behind-fired", rows, ("r9", "7:05", "7:06"), ("r9", "6:40", "7:07")),
    }


def _behind_cases(runs: Runs) -> Iterator[Case]:
    for where, trace in runs.items():
        late = lost(trace) > 0
        met = time_text(trace.seen_watermarks["r9@6:40"])
        yield Case(f"{where}: 6:40 meets watermark {met}", late, "it is dropped" if late else "it is on time")


def _eight_seconds() -> Jobs:
    rows = (("0:00:11.001", "10:00"), ("0:00:08", "10:01"))
    return {size: prices(f"eight-{size}", *rows, bound="0 ms", window=size) for size in ("10 s", "1 min")}


def _eight_seconds_cases(runs: Runs) -> Iterator[Case]:
    for size, trace in runs.items():
        late = lost(trace) > 0
        met = time_text(trace.seen_watermarks["gold@0:00:08"])
        how = "it is dropped: [0:00:00, 0:00:10) has fired" if late else "it is on time: [0:00, 0:01) is waiting"
        yield Case(f"windows of {size}, watermark {met}", late, how)


def _saturday() -> Jobs:
    sample = wmviz.scenario("busy-saturday").sample(100).replace(lateness="0 ms")
    return {size: sample.replace(name=f"saturday-{size}", title="", about="", window=size) for size in ("1 h", "5 min")}


def _saturday_cases(runs: Runs) -> Iterator[Case]:
    for size, trace in runs.items():
        bound_ms = trace.scenario.bound_ms
        slow = sum(e.arrival_time_ms - e.event_time_ms > bound_ms for e in trace.scenario.events)
        yield Case(
            f"a Saturday of 100 runners, windows of {size}",
            lost(trace) == slow,
            f"of {slow} events that are over {duration_text(bound_ms)} on their way {lost(trace)} are late",
        )


TIERS: dict[str, dict[str, Any]] = {
    "nothing is set": {},
    "lateness 20 min": {"lateness": "20 min"},
    "a side output": {"late_to": "side"},
    "sliding windows of 1 h, every 30 min": {"window": {"type": "sliding", "size": "1 h", "slide": "30 min"}},
}


def _too_late(name: str, **settings: Any) -> Scenario:
    return job(name, ("r9", "6:30", "6:31"), ("r7", "7:05", "7:06"), ("r9", "6:56", "7:09"), **settings)


def _dropped() -> Jobs:
    return {where: _too_late(f"tier-{place}", **settings) for place, (where, settings) in enumerate(TIERS.items())}


def _dropped_cases(runs: Runs) -> Iterator[Case]:
    for where, trace in runs.items():
        missing = trace.totals["r9", SIX_MS, SEVEN_MS] == 1000
        silent = missing and not lost(trace)
        yield Case(f"{where}: 6:56 comes after the 6 am result", silent, _fate(trace, missing))


def _fate(trace: Trace, missing: bool) -> str:
    if trace.outcomes().late:
        return "it is in the side output"
    if trace.dropped_count:
        return f"it is dropped, and numLateRecordsDropped is {trace.dropped_count}"
    return "6 am lacks it, and no counter shows it" if missing else "6 am fires again, with 2,000 m"


def _tagged() -> Jobs:
    return {"with a side output": _too_late("tagged", late_to="side")}


def _tagged_cases(runs: Runs) -> Iterator[Case]:
    for where, trace in runs.items():
        late, dropped = len(trace.outcomes().late), trace.dropped_count
        yield Case(where, dropped == late, f"{late} in the side output, numLateRecordsDropped {dropped}")


def _sql() -> Jobs:
    rows = (("r9", "6:30", "6:31"), ("r7", "7:05", "7:06"), ("r9", "6:56", "7:09"), ("r9", "8:10", "8:11"))
    sql = {"api": "sql", "strategy_at": "after", "sink": "upsert"}
    return {
        "TUMBLE of 1 h": job("closed-tumble", *rows, **sql),
        "HOP of 1 h, every 30 min": job(
            "closed-hop", *rows, **sql, window=TIERS["sliding windows of 1 h, every 30 min"]["window"]
        ),
    }


def _sql_cases(runs: Runs) -> Iterator[Case]:
    for where, trace in runs.items():
        total, fired = trace.totals["r9", SIX_MS, SEVEN_MS], sum(f.key == "r9" for f in six_am(trace))
        yield Case(
            f"{where}, an upsert sink: 6:56 comes after the 6 am result",
            total == 2000,
            f"r9 has {total:,} m at 6 am, from {counted(fired, 'result')}",
        )


CLAIMS = (
    Claim(
        11,
        "An event behind the watermark is late.",
        "It is late when its window has fired; until then it is on time, however far behind the watermark it is.",
        "4",
        _behind,
        _behind_cases,
    ),
    Claim(
        29,
        "An event of 0:00:08 at watermark 0:00:11 is late.",
        "That depends on its window: one of 10 s has fired, one of 1 min has not.",
        "4",
        _eight_seconds,
        _eight_seconds_cases,
    ),
    Claim(
        17,
        "97 % of the events arrive within the bound, so 3 % are late.",
        "Late are only those whose window has fired meanwhile. The longer the windows, the fewer.",
        "4",
        _saturday,
        _saturday_cases,
    ),
    Claim(
        4,
        "Late events are silently dropped.",
        "By default they are dropped and counted. With lateness they correct the result, with a side output they go "
        "there. Silent is the case of sliding windows: late for one window, in time for another.",
        "4",
        _dropped,
        _dropped_cases,
    ),
    Claim(
        7,
        "What goes to the side output counts as dropped, too.",
        "One or the other, never both: with a side output numLateRecordsDropped stays 0.",
        "4",
        _tagged,
        _tagged_cases,
    ),
    Claim(
        13,
        "In SQL a late row updates the closed window, if the sink can upsert.",
        "A window of SQL has no lateness by default: the late row is dropped for each window that is closed, whatever "
        "the sink can do.",
        "13",
        _sql,
        _sql_cases,
    ),
)
