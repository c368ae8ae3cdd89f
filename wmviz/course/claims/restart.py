"""Claims about checkpoints, crashes and replays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import wmviz
from wmviz.course.claims.court import Case, Claim, Jobs, Runs, counted, job
from wmviz.scenario import Scenario
from wmviz.times import duration_ms, duration_text, time_text
from wmviz.trace import Kind, Trace


def _restored() -> Jobs:
    rows = (("r9", "6:30", "6:31"), ("r7", "7:03", "7:03"), ("r9", "6:56", "7:05"), ("r7", "7:10", "7:10"))
    settings: dict[str, Any] = {
        "start": "6:30",
        "strategy_at": "after",
        "checkpoints": "30 s",
        "happenings": [{"what": "crash", "at": "7:04", "down": "10 s"}],
    }
    return {
        "DataStream API": job("restored-datastream", *rows, **settings),
        "window aggregation of SQL": job("restored-sql", *rows, **settings, api="sql"),
    }


def _restored_cases(runs: Runs) -> Iterator[Case]:
    for where, trace in runs.items():
        late = bool(trace.dropped_count)
        how = "late, as before the crash" if late else "on time: it opens the window that had fired anew"
        yield Case(f"{where}: 6 am has fired, crash, restore; then 6:56 arrives", late, f"it is {how}")


def _resumed(answer: Mapping[str, Any]) -> Iterator[Case]:
    before_ms, after_ms = answer["before_ms"], answer["after_ms"]
    seen = f"the last event before it met {time_text(before_ms)}, the first one after it {time_text(after_ms)}"
    yield Case("DataStream API: a savepoint on Flink, and the job that resumes from it", after_ms >= before_ms, seen)


def _replays() -> Jobs:
    live = wmviz.scenario("price-feed")
    rows = [[e.key, e.value, e.event_time_ms, "10:05"] for e in live.events]
    at_once = live.replace(name="replay-each-event", title="", about="", start=None, events=rows)
    crash = wmviz.scenario("restore-overwrites-total")
    return {
        "the first time": live,
        "a watermark behind each event": at_once,
        "a watermark every 200 ms": at_once.replace(name="replay-ticks", emission="interval"),
        "without a crash": crash.replace(name="replay-calm", title="", about="", happenings=[]),
        "a crash on the way": crash,
    }


def _replays_cases(runs: Runs) -> Iterator[Case]:
    pairs = [("the first time", again) for again in ("a watermark behind each event", "a watermark every 200 ms")]
    for first, again in [*pairs, ("without a crash", "a crash on the way")]:
        if again in runs and first in runs:
            late = [_late(runs[name]) for name in (first, again)]
            yield Case(again, late[0] == late[1], f"{first} {counted(late[0], 'event')} late, then {late[1]}")


def _late(trace: Trace) -> int:
    """Count the events that are too late in the end; what a crash has undone does not count."""
    return trace.ledger().side_output if trace.scenario.happenings else len(trace.outcomes().late)


def _downtimes() -> Jobs:
    crash = wmviz.scenario("crash-and-replay").replace(lateness="0 ms")
    return {
        down: crash.replace(
            name=f"down-{place}",
            title="",
            about="",
            happenings=[{"what": "crash", "at": "6:59:20", "down": down}],
        )
        for place, down in enumerate(("20 s", "10 min", "3 h"))
    }


def _downtimes_cases(runs: Runs) -> Iterator[Case]:
    calm = wmviz.simulate(wmviz.scenario("crash-and-replay").replace(happenings=[], lateness="0 ms"))
    for down, trace in runs.items():
        late = trace.ledger().dropped
        same = "as without a crash" if trace.totals == calm.totals else "other totals"
        yield Case(f"no lateness, the job is down for {down}", late > 0, f"{counted(late, 'event')} late, {same}")


BARRIERS = {"aligned": "barrier-alignment", "unaligned": "unaligned-barriers"}


def _barriers() -> Jobs:
    return {mode: wmviz.scenario(name) for mode, name in BARRIERS.items()}


def _barriers_cases(runs: Runs) -> Iterator[Case]:
    for mode, trace in runs.items():
        stored = [trace.details[row.row] for row in trace if row.kind == Kind.STORED and row.value == 1]
        overtaken = sum(len(elements) for channels in stored for elements in channels.values())
        yield Case(
            f"{mode}: two channels in which events wait",
            not overtaken,
            f"barrier 1 overtakes {counted(overtaken, 'event')}",
        )


def _overtaken(answer: Mapping[str, Any]) -> Iterator[Case]:
    for mode, overtaken in answer.items():
        seen = "they overtake events, which are stored with the checkpoint" if overtaken else "they overtake nothing"
        yield Case(f"{mode} barriers of a job on Flink whose buffers are full", not overtaken, seen)


INTERVALS = (("30 s", "1 min"), ("2 min", "1 min"), ("2 min", "5 min"))
"""Interval of the checkpoints, and how old a result may be when a reader sees it."""


def _intervals() -> Jobs:
    def of(interval: str, place: int) -> Scenario:
        rows = [("r9", f"6:{minute:02}:10") for minute in range(1, 30)]
        settings = {"bound": "0 ms", "window": "1 min", "sink": "transactional", "start": "6:00"}
        return job(f"every-{place}", *rows, **settings, checkpoints=interval)

    return {f"{i}, {need}": of(i, place) for place, (i, need) in enumerate(INTERVALS)}


def _waits_ms(trace: Trace) -> int:
    """Give the longest time from the firing of a window until a reader of committed results sees it."""
    fired = {(f.key, f.window): f.at_ms for f in trace.all_firings}
    return max(row.at_ms - fired[row.subject] for row in trace if row.kind == Kind.COMMITTED)  # type: ignore[index]


def _intervals_cases(runs: Runs) -> Iterator[Case]:
    for (interval, need), trace in zip(INTERVALS, runs.values(), strict=True):
        waits_ms = _waits_ms(trace)
        yield Case(
            f"every {interval}, results may be {need} old",
            waits_ms <= duration_ms(need),
            f"a reader waits up to {duration_text(waits_ms)} for a result",
        )


CLAIMS = (
    Claim(
        3,
        "The watermark is part of the checkpoint and is restored.",
        "In the DataStream API it is not: after a restore it is MIN, and comes back with the events. The window "
        "aggregation of SQL keeps its own in its state.",
        "11",
        _restored,
        _restored_cases,
        asks="savepoint",
        answers=_resumed,
        elsewhere="of the window aggregation of SQL only the class was read",
    ),
    Claim(
        15,
        "Replaying the same data always gives the same late events.",
        "Late depends on the watermark that an event meets. It is the same only if each watermark stands at the same "
        "place of the stream: not with ticks of the wall clock, and not after a restore.",
        "11",
        _replays,
        _replays_cases,
    ),
    Claim(
        19,
        "Lateness absorbs the time that a restart takes.",
        "There is nothing to absorb: while a job is down, its event time stands still. Results come later, no event "
        "becomes late.",
        "11",
        _downtimes,
        _downtimes_cases,
        elsewhere="`wmviz.flink.recover` (lesson 11): after a real crash the counts are right",
    ),
    Claim(
        9,
        "Barriers never overtake events.",
        "Aligned barriers do not. Unaligned ones do, and what they overtake is stored with the checkpoint.",
        "10",
        _barriers,
        _barriers_cases,
        asks="barriers",
        answers=_overtaken,
    ),
    Claim(
        30,
        "Take a checkpoint every 30 s to 2 min.",
        "The interval is a trade: short means little to read again and results that are soon committed, long means "
        "little work. Begin with how old a result may be, and how long a restart may take.",
        "10",
        _intervals,
        _intervals_cases,
        elsewhere="`wmviz.flink.write_files` (lesson 12): rows are there when a checkpoint is complete",
    ),
)
