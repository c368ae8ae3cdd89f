"""Write docs/cheat-sheet.html, one page to print: the rules to the millisecond; ``make cheatsheet``.

Every number on it is found by running the engine, or by a search over its runs; the defaults of Flink are held against
Flink's own options by a test.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from html import escape
from pathlib import Path
from string import Template

import wmviz
from wmviz.scenario import Scenario
from wmviz.times import time_ms, time_text
from wmviz.trace import Kind, Status

ROOT = Path(__file__).resolve().parent.parent
PAGE, TEMPLATE = ROOT / "docs" / "cheat-sheet.html", ROOT / "tools" / "cheatsheet.html"

DEFAULTS = (
    ("pipeline.auto-watermark-interval", "200 ms", "how often a watermark is emitted"),
    ("table.exec.source.idle-timeout", "0 ms", "SQL: 0 means that no input is ever idle"),
    ("execution.checkpointing.interval", "none", "no checkpoints, so no commits"),
    ("execution.checkpointing.mode", "EXACTLY_ONCE", "once it is on"),
    ("execution.checkpointing.timeout", "10 min", "then it is given up"),
    ("execution.checkpointing.min-pause", "0 ms", "after the end of the last one"),
    ("execution.checkpointing.max-concurrent-checkpoints", "1", "at the same time"),
    ("execution.checkpointing.tolerable-failed-checkpoints", "0", "one that expires fails the job"),
    ("execution.checkpointing.unaligned.enabled", "false", "barriers wait"),
    ("execution.checkpointing.aligned-checkpoint-timeout", "0 ms", "0: unaligned from the start, if enabled"),
    ("state.backend.type", "hashmap", "window state is on the heap"),
)
"""Option, its default, and what it means."""
BOUND_MS, LATENESS_MS = 120_000, 1_200_000


def job(newest_ms: int, *after: list[object], **settings: object) -> Scenario:
    """Give the lesson's job with one kilometre at 6:30, a newest event, and what comes after it."""
    rows = [["r9", 1000, "6:30", "6:30"], ["r9", 1000, newest_ms, "9:00"], *after]
    about = {"bound": BOUND_MS, "window": "1 h", "lateness": LATENESS_MS, "late_to": "side", **settings}
    return Scenario.of(events=rows, **about)


def first_firing(**settings: object) -> int:
    """Search the earliest newest event that makes the window from 6:00 fire."""
    return earliest(lambda ms: bool(wmviz.simulate(job(ms, **settings)).all_firings))


def too_late(**settings: object) -> int:
    """Search the earliest newest event after which a kilometre of 6:56 is too late."""
    late = ["r9", 500, "6:56", "9:01"]
    return earliest(lambda ms: bool(wmviz.simulate(job(ms, late, **settings)).outcomes().late))


def earliest(holds: Callable[[int], bool]) -> int:
    """Search between 7:00 and 8:00 for the first ms from which something holds."""
    low, high = time_ms("7:00") - 1, time_ms("7:59:59.999")
    assert holds(high), "it must hold at the end of the search"
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def watermark(newest_ms: int, **settings: object) -> int:
    """Give the watermark of the windows after a newest event."""
    trace = wmviz.simulate(job(newest_ms, **settings))
    return trace.state(trace.steps - 1).watermarks["window"]


def idle_ticks() -> tuple[float, float]:
    """Give how many ticks after its timeout an input is idle: the least and the most, over all phases of an event."""
    interval_ms, delays = 200, []
    for timeout_ms in (1_000, 1_001, 1_100, 1_199):
        for phase_ms in range(0, interval_ms, 3):
            at_ms = time_ms("9:00:01") + phase_ms
            trace = wmviz.simulate(
                Scenario.of(
                    emission="interval",
                    interval=interval_ms,
                    idle_timeout=timeout_ms,
                    window="1 h",
                    start="9:00:00",
                    events=[["r9", 1000, "6:01", at_ms]],
                )
            )
            idle_ms = max(record.at_ms for record in trace if (record.kind, record.value) == (Kind.STATUS, Status.IDLE))
            delays.append((idle_ms - at_ms - timeout_ms) / interval_ms)
    return min(delays), max(delays)


@cache
def figures() -> dict[str, str]:
    """Give every number of the page."""
    fires_ms, gone_ms = first_firing(), too_late()
    fires_at_ms, gone_at_ms = watermark(fires_ms), watermark(gone_ms)
    sql = {"api": "sql", "late_to": "drop", "lateness": 0}
    sql_ms = first_firing(**sql)
    replay = wmviz.simulate(wmviz.scenario("restore-overwrites-total"))
    twice = wmviz.simulate(wmviz.scenario("written-twice"))
    quiet = wmviz.simulate(wmviz.scenario("quiet-partition"))
    clocks = quiet.state(quiet.steps - 1).watermarks
    least, most = idle_ticks()
    texts = {
        "example": clock(watermark(time_ms("7:05"))),
        "fires": clock(fires_ms),
        "fires_at": clock(fires_at_ms),
        "before": clock(fires_ms - 1),
        "before_at": clock(watermark(fires_ms - 1)),
        "gone": clock(gone_ms),
        "gone_at": clock(gone_at_ms),
        "last_counted_at": clock(watermark(gone_ms - 1)),
        "sql": clock(sql_ms),
        "sql_at": clock(watermark(sql_ms, **sql)),
        "full": f"{max(firing.value for firing in replay.all_firings):,}",
        "part": f"{max(replay.totals.values()):,}",
        "twice": " and ".join(f"{value:,}" for value in next(iter(twice.totals.values()))),
        "busy": clock(clocks["partition 0"]),
        "silent": clock(clocks["partition 1"]),
        "lowest": clock(clocks["window"]),
        "least_ticks": str(math.floor(least)),
        "most_ticks": str(math.ceil(most)),
    }
    return {name: escape(text) for name, text in texts.items()}


def clock(ms: int) -> str:
    """Write a time with its milliseconds, also if they are 0."""
    text = time_text(ms)
    text += ":00" if text.count(":") == 1 else ""
    return text if "." in text else f"{text}.000"


def defaults_html() -> str:
    """Write the table of defaults."""
    rows = (f"<tr><td><code>{name}</code></td><td>{value}</td><td>{what}</td></tr>" for name, value, what in DEFAULTS)
    return "".join(rows)


def page() -> str:
    """Write the page."""
    text = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(figures(), defaults=defaults_html())
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text)


def main() -> int:
    """Write docs/cheat-sheet.html."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {len(figures())} numbers from the engine")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
