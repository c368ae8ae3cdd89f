"""What Flink cannot replay, and why."""

from __future__ import annotations

from collections.abc import Callable

from wmviz.flink.schedule import SETTLED_TICKS, settled_ms
from wmviz.flink.startup import FlinkError
from wmviz.scenario import Scenario, check_scenario
from wmviz.times import MAX_MS

LONGEST_CLOCK_MS = 100 * 365 * 86_400_000


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
    """Say whether a scenario's watermark is made of several inputs, or of one that may fall idle."""
    split = scenario.strategy_at == "source" and scenario.partition_count > 1
    return split or scenario.subtasks > 1 or scenario.idle_timeout_ms is not None or bool(scenario.happenings)


def _by_server_clock(scenario: Scenario) -> str | None:
    if scenario.window.time != "processing":
        return None
    return (
        f"{scenario.name} counts by the server's clock (processing time), and a wall clock cannot be replayed: "
        "every run on Flink would differ. wmviz.simulate shows it."
    )


def _in_local_time(scenario: Scenario) -> str | None:
    if scenario.window.zone is None:
        return None
    return (
        f"{scenario.name} cuts its windows in local time ({scenario.window.zone}), which Flink has in SQL only; "
        "what is replayed are jobs of the DataStream API. wmviz.simulate shows it."
    )


def _lives_in_real_time(scenario: Scenario) -> str | None:
    """Say what goes by the clocks of several machines, so that Flink itself never does it twice alike."""
    crashes = {"crash", "stop", "savepoint"} & {happening.what for happening in scenario.happenings}
    aligned = scenario.alignment is not None and scenario.strategy_at == "source"
    for is_so, has, why in (
        (scenario.work_ms > 0, "an operator that takes time (work)", "how long its events wait is up to the machine"),
        (bool(crashes), "a crash, a stop or a savepoint", "what a checkpoint holds is up to the moment it is taken"),
        (scenario.checkpoints is not None, "checkpoints", "what they hold is up to the moment they are taken"),
        (aligned, "watermark alignment", "sources hear of its limit when a message comes through"),
        (scenario.sink == "transactional", "a transactional sink", "it commits when a checkpoint is complete"),
    ):
        if is_so:
            recover = " wmviz.flink.recover shows a crash on Flink." if crashes or scenario.checkpoints else ""
            return (
                f"{scenario.name} has {has}, and {why}: no two runs on Flink are alike, so it is not replayed. "
                f"wmviz.simulate shows it.{recover}"
            )
    return None


def _is_sql(scenario: Scenario) -> str | None:
    if scenario.api != "sql":
        return None
    return (
        f"{scenario.name} goes by the rules of SQL (api), whose windows tell neither their events nor the watermark; "
        "what is replayed are jobs of the DataStream API. wmviz.simulate shows it."
    )


def _outlasts_the_clock(scenario: Scenario) -> str | None:
    waits_ms = (scenario.idle_timeout_ms or 0) + SETTLED_TICKS * scenario.interval_ms
    lasts_ms = settled_ms(scenario) - scenario.grid_start_ms
    if not has_inputs(scenario) or max(lasts_ms, waits_ms) <= LONGEST_CLOCK_MS:
        return None
    return (
        f"{scenario.name} lasts longer than 100 years with its idle timeout, and Flink's clocks count nanoseconds in "
        "64 bits. Make it shorter."
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
    _in_local_time,
    _lives_in_real_time,
    _is_sql,
    _outlasts_the_clock,
    _at_the_ends_of_time,
)
"""Each gives a sentence if a scenario cannot be replayed for this reason."""
