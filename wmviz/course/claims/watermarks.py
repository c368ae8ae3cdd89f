"""Claims about the watermark itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import wmviz
from wmviz.course.claims.court import Case, Claim, Jobs, Runs, counted, job, prices, six_am
from wmviz.times import time_ms, time_text

EDGE = (("r9", "6:30"), ("r7", "7:01:59.999"))
SQL = {"api": "sql", "strategy_at": "after"}


def _edge() -> Jobs:
    return {"DataStream API": job("edge-datastream", *EDGE), "SQL": job("edge-sql", *EDGE, **SQL)}


def _max_minus_bound(runs: Runs) -> Iterator[Case]:
    for api, trace in runs.items():
        fired = bool(six_am(trace))
        seen = "the 6 am window fires" if fired else "the 6 am window does not fire: 1 ms is missing"
        yield Case(f"{api}: newest 7:01:59.999, bound 2 min; the rule gives 6:59:59.999", fired, seen)


def _both_apis(runs: Runs) -> Iterator[Case]:
    if len(runs) < 2:
        return
    fired = {api: len(six_am(trace)) for api, trace in runs.items()}
    seen = ", ".join(f"{api}: {counted(count, 'result')} of 6 am" for api, count in fired.items())
    yield Case("the same rows, newest 7:01:59.999, bound 2 min", len(set(fired.values())) == 1, seen)


def _round_numbers() -> Jobs:
    return {
        "bound": prices("round-numbers", ("10:01:05", "10:01:05"), ("10:01:04", "10:01:06")),
        "lateness": wmviz.scenario("price-feed"),
    }


def _round_numbers_cases(runs: Runs) -> Iterator[Case]:
    met_ms = runs["bound"].seen_watermarks["gold@10:01:04"]
    seen = f"the next price meets watermark {time_text(met_ms)}"
    yield Case("newest 10:01:05.000, bound 2 s", met_ms == time_ms("10:01:03"), seen)
    met_ms = runs["lateness"].seen_watermarks["gold@10:00:20"]
    late = "gold@10:00:20" in runs["lateness"].outcomes().late
    how = "is too late" if late else "still counts"
    yield Case("lateness 30 s, minute [10:00, 10:01)", not late, f"10:00:20 {how} at {time_text(met_ms)}")


PICTURE = (("10:00:55", "10:00:45"), ("10:01:05", "10:00:58"))
"""Newest event, and the watermark that the picture draws behind it."""


def _picture() -> Jobs:
    def bound_ms(newest: str, mark: str) -> int:
        return time_ms(newest) - time_ms(mark) - 1

    rows = (("10:00:55", "10:00:55"), ("10:00:54", "10:00:56"), ("10:01:05", "10:01:05"), ("10:01:04", "10:01:06"))
    return {
        f"the bound that fits W({mark}): {bound_ms(newest, mark):,} ms": prices(
            f"picture-{mark}", *rows, bound=bound_ms(newest, mark)
        )
        for newest, mark in PICTURE
    }


def _picture_cases(runs: Runs) -> Iterator[Case]:
    for where, trace in runs.items():
        marks = [time_text(trace.seen_watermarks[f"gold@{probe}"]) for probe in ("10:00:54", "10:01:04")]
        drawn = [mark for _, mark in PICTURE]
        yield Case(where, marks == drawn, f"10:00:55 brings W({marks[0]}), 10:01:05 brings W({marks[1]})")


def _without_windows(answer: Mapping[str, Any]) -> Iterator[Case]:
    mapped = answer["mapped"]
    yield Case(
        "a job that only changes each event",
        mapped["with"] == mapped["without"],
        f"{mapped['with']} results with watermarks, {mapped['without']} without",
    )
    timers = answer["timer"]
    yield Case(
        "a function with a timer for 7:00, no window",
        timers["with"] == timers["without"],
        f"with watermarks it is called at watermark {time_text(timers['with'])}, "
        f"without them only at the end of the input, at {time_text(timers['without'])}",
    )


CLAIMS = (
    Claim(
        1,
        "The watermark is the newest event time minus the bound.",
        "In the DataStream API it is newest − bound − 1 ms; SQL takes the expression as it is, without the −1 ms.",
        "2",
        _edge,
        _max_minus_bound,
    ),
    Claim(
        20,
        "Newest price 10:01:05.000, bound 2 s: the watermark is 10:01:03.000. With a lateness of 30 s its minute is "
        "open until 10:01:30. (DataStream API)",
        "10:01:02.999, since an event exactly 2 s older is still welcome. The state of [10:00, 10:01) goes at "
        "watermark 10:01:29.999: its last millisecond, 10:00:59.999, + 30 s.",
        "2",
        _round_numbers,
        _round_numbers_cases,
    ),
    Claim(
        21,
        "The popular picture: W(10:00:45) behind an event of 10:00:55, then W(10:00:58) behind one of 10:01:05.",
        "One strategy has one bound, so both marks would trail the newest event by the same time. No bound fits both.",
        "2",
        _picture,
        _picture_cases,
    ),
    Claim(
        14,
        "The watermark of SQL and that of the DataStream API are the same.",
        "They differ by 1 ms, so one has a result where the other still waits.",
        "13",
        _edge,
        _both_apis,
    ),
    Claim(
        18,
        "Watermarks are useless without windows.",
        "A filter or a map needs none. All that waits for event time does: timers, interval joins, OVER in SQL, CEP.",
        "2",
        asks="without-windows",
        answers=_without_windows,
    ),
)
