"""Claims about several inputs, idle ones, and alignment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import wmviz
from wmviz.course.claims.court import SEVEN_MS, Case, Claim, Jobs, Runs, counted, lost, six_am
from wmviz.scenario import Scenario
from wmviz.times import time_text
from wmviz.trace import Kind, Trace


def _silent() -> Jobs:
    quiet = wmviz.scenario("quiet-partition")
    return {
        "windows by event time": quiet,
        "a result for every second event, no event time": quiet.replace(
            name="quiet-count", title="", about="", window={"type": "global", "trigger": "count:2"}
        ),
    }


def _silent_cases(runs: Runs) -> Iterator[Case]:
    for where, trace in runs.items():
        fired = len(trace.all_firings)
        events = len(trace.scenario.events)
        yield Case(
            f"one of two partitions is silent; {where}", not fired, f"{counted(fired, 'result')} from {events} events"
        )


def _all_idle() -> Jobs:
    return {"all": wmviz.scenario("all-idle")}


def _all_idle_cases(runs: Runs) -> Iterator[Case]:
    fired = {firing.window.start_ms for firing in runs["all"].all_firings}
    top = max(firing.watermark_ms for firing in runs["all"].all_firings)
    yield Case(
        "the 6 am windows, waiting for the slower input",
        bool(six_am(runs["all"])),
        f"they fire: the highest watermark, {time_text(top)}, is let through",
    )
    later = SEVEN_MS in fired
    yield Case("the 7 am window, the last one", later, "it fires" if later else "it waits: time stands still")


def _rows(scenario: Scenario) -> list[list[Any]]:
    return [[e.key, e.value, e.event_time_ms, e.arrival_time_ms, e.partition] for e in scenario.events]


def _returns() -> Jobs:
    channel, partition = (wmviz.scenario(f"return-from-idle-{place}") for place in ("channel", "partition"))
    ahead = [[*row[:2], *row[2:]] for row in _rows(channel)]
    for row in ahead:
        if row[4] == 1 and row[3] > ahead[0][3] + 5000:  # r9's, from 7:00:06 on
            row[2] += 30 * 60_000
    return {
        "a channel, back with 6:55": channel,
        "a partition, back with 6:55": partition,
        "a channel, back with 7:25": channel.replace(name="returns-ahead", title="", about="", events=ahead),
    }


def _returns_cases(runs: Runs) -> Iterator[Case]:
    for where, trace in runs.items():
        late = lost(trace)
        yield Case(where, not late, f"{counted(late, 'event')} too late")


BETS = {
    "a partition that stays silent": ("quiet-partition", "1 min"),
    "an input that sends every 4 s": ("idle-bet", "1 s"),
}
"""A scenario, and the timeout that is set in it."""


def _timeouts() -> Jobs:
    return {
        where + ending: wmviz.scenario(name).replace(
            name=f"{name}-{timeout or 'without'}", title="", about="", idle_timeout=timeout
        )
        for where, (name, chosen) in BETS.items()
        for ending, timeout in (("", chosen), (", no timeout", None))
    }


def _timeouts_cases(runs: Runs) -> Iterator[Case]:
    for where, (_, timeout) in BETS.items():
        with_it, without = runs[where], runs[f"{where}, no timeout"]
        more, late = len(with_it.all_firings) > len(without.all_firings), lost(with_it)
        seen = f"{counted(len(with_it.all_firings), 'result')} in place of {len(without.all_firings)}"
        yield Case(
            f"{where}, a timeout of {timeout}", more and not late, f"{seen}, and {counted(late, 'event')} too late"
        )


def _alignment() -> Jobs:
    return {place: wmviz.scenario(name) for place, name in PLACES.items()}


PLACES = {"on the source": "watermark-alignment", "after the source": "alignment-after-source"}


def _pauses(trace: Trace) -> int:
    return sum(row.kind == Kind.PAUSED and row.value == 1 for row in trace)


def _alignment_cases(runs: Runs) -> Iterator[Case]:
    if len(runs) < len(PLACES):
        return
    after, on = (_pauses(runs[place]) for place in ("after the source", "on the source"))
    yield Case(
        "the fast one is more than 2 min ahead",
        after > 0,
        f"after the source it waits {after} times, on the source {on} times",
    )


def _aligned(answer: Mapping[str, Any]) -> Iterator[Case]:
    held = {place: "is held back" if answer[place] else "is not held back" for place in ("after", "source")}
    seen = f"after the source the fast one {held['after']}, on the source it {held['source']}"
    yield Case("a fast and a slow source on Flink", bool(answer["after"]), seen)


CLAIMS = (
    Claim(
        26,
        "One idle partition, and the whole application outputs nothing.",
        "What waits for event time waits. Whatever does not, such as a map, a count of events or the server's clock, "
        "goes on.",
        "6",
        _silent,
        _silent_cases,
    ),
    Claim(
        12,
        "withIdleness helps when everything is idle.",
        "The highest watermark is let through, and then time stands still. The last window needs a new event, or the "
        "end of the input.",
        "7",
        _all_idle,
        _all_idle_cases,
    ),
    Claim(
        6,
        "A partition that returns from idle does no harm.",
        "What it brings from before the watermark is late as soon as its window has fired. Only if it comes back "
        "ahead is nothing lost.",
        "7",
        _returns,
        _returns_cases,
    ),
    Claim(
        27,
        "Always use withIdleness.",
        "A timeout is a bet that nothing old comes from the silent input. Set it longer than the longest pause of an "
        "input that lives, or leave it out.",
        "7",
        _timeouts,
        _timeouts_cases,
    ),
    Claim(
        8,
        "Watermark alignment works after the source, too.",
        "Only the source itself can wait. Behind it the setting is ignored, without a word.",
        "8",
        _alignment,
        _alignment_cases,
        asks="alignment",
        answers=_aligned,
    ),
)
