"""What Flink cannot replay, and why."""

from __future__ import annotations

from collections.abc import Callable

from wmviz.flink.schedule import SETTLED_TICKS, settled_ms
from wmviz.flink.sql import (
    EVERY_TIMER_MS,
    FIRST_MS,
    LAST_MS,
    in_sql,
    is_declared,
    settling_ms,
    timed,
    uses_table_function,
)
from wmviz.flink.startup import FlinkError
from wmviz.scenario import Scenario, check_scenario
from wmviz.times import MAX_MS, duration_text

BARRIERS = "barriers shows checkpoints of a job with a slow operator on Flink"
CRASH = "recover shows a crash on Flink"
SAVEPOINT = "resume shows a savepoint on Flink"
ALIGNED = "align shows a fast source that waits for a slow one, on Flink"
FILES = "write_files shows a sink that commits with the checkpoint, on Flink"
LONGEST_CLOCK_MS = 100 * 365 * 86_400_000
MOST_TIMERS = 20_000_000
"""It takes Flink some ten seconds to run so many."""


def refuse(scenario: Scenario) -> None:
    """Say why Flink cannot replay a scenario, if it cannot.

    Raises
    ------
    FlinkError
        If one of `REASONS` holds.
    """
    check_scenario(scenario, "Flink")
    for reason in REASONS:
        if sentence := reason(scenario):
            raise FlinkError(sentence)


def replayable(scenario: Scenario) -> bool:
    """Say whether Flink can replay a scenario; `refuse` says why not."""
    return not any(reason(scenario) for reason in REASONS)


def has_inputs(scenario: Scenario) -> bool:
    """Say whether a scenario's watermark is made of several inputs, or of one that may fall idle.

    The watermark of SQL needs the same replay, by a clock moved by hand, unless its table alone makes it exact.
    """
    if in_sql(scenario) and not is_declared(scenario):
        return True
    split = scenario.strategy_at == "source" and scenario.partition_count > 1
    return split or scenario.subtasks > 1 or scenario.idle_timeout_ms is not None or bool(scenario.happenings)


def _by_server_clock(scenario: Scenario) -> str | None:
    if scenario.window.time != "processing":
        return None
    return (
        f"{scenario.name} counts by the server's clock (processing time), and a wall clock cannot be replayed: "
        "every run on Flink would differ. wmviz.simulate shows it."
    )


def _has_no_such_sql(scenario: Scenario) -> str | None:
    """Say what SQL has not, in which alone windows are cut in local time."""
    window, slides = scenario.window, scenario.window.type == "sliding"
    is_older_form = in_sql(scenario) and not uses_table_function(scenario)
    for is_so, has, instead in (
        (scenario.late_to == "side", "a side output for late events", 'write late_to "drop"'),
        (window.trigger not in ("default", "event_time"), f"the trigger {window.trigger}", 'write trigger "default"'),
        (is_older_form and window.offset_ms != 0, "an offset of such windows", "leave it out"),
        (slides and window.slide_ms > window.size_ms, "windows with gaps", "make the slide shorter than the size"),
    ):
        if in_sql(scenario) and is_so:
            local = f" cuts its windows in local time ({window.zone}), which Flink has in SQL only, and"
            return (
                f"{scenario.name}{local if window.zone else ''} has what SQL has not: {has}. "
                f"For a run on Flink {instead}. wmviz.simulate shows it."
            )
    return None


def _outside_of_sql(scenario: Scenario) -> str | None:
    """Say what does not fit into SQL's TIMESTAMP, which is for the years 1 to 9999."""
    if not in_sql(scenario):
        return None
    window = scenario.window
    margin_ms = window.size_ms + scenario.bound_ms + scenario.lateness_ms + 2 * 86_400_000
    reach = (FIRST_MS + margin_ms, LAST_MS - margin_ms)
    far = next((event for event in scenario.events if not reach[0] <= event.event_time_ms <= reach[1]), None)
    if far is None:
        return None
    return f"{far.id} or its window or watermark is outside the years 1 to 9999, where SQL's TIMESTAMP ends."


def _lives_in_real_time(scenario: Scenario) -> str | None:
    """Say what goes by the clocks of several machines, so that Flink itself never does it twice alike."""
    what = {happening.what for happening in scenario.happenings}
    aligned = scenario.alignment is not None and scenario.strategy_at == "source"
    moment = "what a checkpoint holds is up to the moment it is taken"
    slow, under_work = "an operator that takes time (work)", BARRIERS if scenario.checkpoints else ""
    for is_so, has, why, shows in (
        (scenario.sink == "transactional", "a transactional sink", "it commits when a checkpoint is complete", FILES),
        (scenario.work_ms > 0, slow, "how long its events wait is up to the machine", under_work),
        (bool({"stop", "savepoint"} & what), "a savepoint", moment, SAVEPOINT),
        ("crash" in what, "a crash", moment, CRASH),
        (scenario.checkpoints is not None, "checkpoints", "what they hold is up to the moment they are taken", CRASH),
        (aligned, "watermark alignment", "sources hear of its limit when a message comes through", ALIGNED),
    ):
        if is_so:
            there = f" wmviz.flink.{shows}." if shows else ""
            return (
                f"{scenario.name} has {has}, and {why}: no two runs on Flink are alike, so it is not replayed. "
                f"wmviz.simulate shows it.{there}"
            )
    return None


def _outlasts_the_clock(scenario: Scenario) -> str | None:
    scenario = timed(scenario)
    waits_ms = (scenario.idle_timeout_ms or 0) + SETTLED_TICKS * scenario.interval_ms
    lasts_ms = settled_ms(scenario) - scenario.grid_start_ms
    if not has_inputs(scenario) or max(lasts_ms, waits_ms) <= LONGEST_CLOCK_MS:
        return None
    return (
        f"{scenario.name} lasts longer than 100 years with its idle timeout, and Flink's clocks count nanoseconds in "
        "64 bits. Make it shorter."
    )


def _has_too_many_timers(scenario: Scenario) -> str | None:
    if settling_ms(scenario) != EVERY_TIMER_MS:
        return None
    timer_ms, lasts_ms = timed(scenario).interval_ms, settled_ms(scenario) - scenario.grid_start_ms
    if lasts_ms <= MOST_TIMERS * timer_ms:
        return None
    return (
        f"{scenario.name} lasts for more than {MOST_TIMERS:,} timers of SQL's operator, one every "
        f"{duration_text(timer_ms)}, and each one matters. Make the interval or the idle timeout longer."
    )


def _at_the_ends_of_time(scenario: Scenario) -> str | None:
    window = scenario.window
    reach_ms = MAX_MS - window.size_ms - window.slide_ms - window.gap_ms
    far = next((event for event in scenario.events if abs(event.event_time_ms) > reach_ms), None)
    if far is None or window.type == "global":
        return None
    return f"{far.id} is too far from 1970: PyFlink cannot store a window that ends outside 64 bits."


REASONS: tuple[Callable[[Scenario], str | None], ...] = (
    _by_server_clock,
    _has_no_such_sql,
    _outside_of_sql,
    _lives_in_real_time,
    _outlasts_the_clock,
    _has_too_many_timers,
    _at_the_ends_of_time,
)
"""Each gives a sentence if a scenario cannot be replayed for this reason."""
