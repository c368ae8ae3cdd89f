"""Drivers for what stands in front of windows: idleness, splits, channels, inputs; sessions and SQL's watermarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.semantics.outbox import REFUSALS, Driver, Outbox, Output, Params, Steps, unknown
from wmviz.engine.multiplexer import CombinedInputs, WatermarkOutputMultiplexer
from wmviz.engine.sql import DefaultWatermarkGenerator, WatermarkAssignerOperator
from wmviz.engine.valve import StatusWatermarkValve
from wmviz.engine.watermarks import (
    PausableRelativeClock,
    TimestampsAndWatermarksOperator,
    WatermarkEmitter,
    WatermarkGenerator,
    WatermarksWithIdleness,
    emit_periodically,
    generator_of,
)
from wmviz.times import MIN_MS


class _InputOutbox(Outbox):
    """What follows an operator or, the same calls by the names that generators use, a generator."""

    def __init__(self, *, log_records: bool) -> None:
        super().__init__()
        self._log_records = log_records

    def record(self, timestamp_ms: int) -> None:
        """Note a record, if the case asks for them."""
        if self._log_records:
            self.put(record=timestamp_ms)

    emit, mark_idle, mark_active = Outbox.watermark, Outbox.idle, Outbox.active


Step = Mapping[str, Any]
Handle = Callable[[Step], None]


def _drive(make: Callable[[Params, _InputOutbox], Handle]) -> Driver:
    """Make a driver of a function that builds the piece and gives what handles a step."""

    def driver(params: Params, steps: Steps) -> list[Output]:
        outbox = _InputOutbox(log_records=bool(params.get("log_records")))
        try:
            handle = make(params, outbox)
        except REFUSALS as error:
            outbox.error(error)
            return outbox.outputs
        for outbox.step, step in enumerate(steps):
            try:
                handle(step)
            except REFUSALS as error:  # noqa: PERF203 - a refused call changes nothing; the next one goes on
                outbox.error(error)
        return outbox.outputs

    return driver


class _Machine:
    """The clock of the machine; every step may carry its time."""

    def __init__(self, params: Params) -> None:
        self._ms = int(params.get("clock_start_ms", 0))

    def now_ms(self) -> int:
        return self._ms

    def follow(self, step: Step) -> None:
        self._ms = int(step.get("at_ms", self._ms))


class _Raw:
    """A generator alone: every call that it makes is noted."""

    def __init__(self, generator: Any, outbox: _InputOutbox) -> None:
        self._generator, self._outbox = generator, outbox

    def process(self, record: int, timestamp_ms: int) -> None:
        watermark_ms = self._generator.on_event(timestamp_ms)
        if watermark_ms is not None:
            self._outbox.watermark(watermark_ms)

    def tick(self) -> None:
        emit_periodically(self._generator, self._outbox)

    def ignore(self, *_: int) -> None:
        """A generator never sees what comes from upstream."""

    watermark = idle = active = ignore
    finish = tick


@_drive
def idleness(params: Params, outbox: _InputOutbox) -> Handle:
    """A generator with idleness, alone (raw) or inside the operator that filters what it emits."""
    machine = _Machine(params)
    clock = PausableRelativeClock(machine.now_ms)
    name, bound_ms = params.get("generator", "bounded"), params.get("bound_ms", 0)
    is_sql = name.startswith("sql")  # then a step gives the value of the expression, which may be NULL
    inner: WatermarkGenerator = (
        DefaultWatermarkGenerator(0, on_event=name == "sql_on_event") if is_sql else generator_of(name, bound_ms)
    )
    generator = WatermarksWithIdleness(inner, params["timeout_ms"], clock)
    raw = params.get("level", "operator") == "raw"
    target: Any = _Raw(generator, outbox) if raw else TimestampsAndWatermarksOperator(generator, outbox)

    def handle(step: Step) -> None:
        machine.follow(step)
        match step["op"]:
            case "event":
                timestamp_ms = step.get("ts") if is_sql or step.get("ts") is not None else MIN_MS
                target.process(timestamp_ms, timestamp_ms)
            case "tick":
                target.tick()
            case "backpressure_start" | "pause" | "pause_start" | "alignment_pause":
                clock.pause()
            case "backpressure_end" | "unpause" | "resume" | "pause_end" | "alignment_resume":
                clock.unpause()
            case "upstream_watermark":
                target.watermark(step["ts"])
            case "upstream_idle":
                target.idle()
            case "upstream_active":
                target.active()
            case "upstream_status":
                getattr(target, step["status"])()
            case "finish":
                target.finish()
            case "clock" | "advance":
                pass
            case _:
                raise unknown(step)

    return handle


@_drive
def multiplexer(_params: Params, outbox: _InputOutbox) -> Handle:
    """The multiplexer of splits, and behind it the filter that every source has."""
    mux = WatermarkOutputMultiplexer(WatermarkEmitter(outbox))

    def handle(step: Step) -> None:
        match step["op"].split("_"):
            case ["register"]:
                mux.register(step["split"])
            case ["unregister"]:
                mux.unregister(step["split"])
            case ["periodic", *_]:
                mux.on_periodic_emit()
            case ["immediate" | "deferred" as when, call]:
                output = mux.immediate_output if when == "immediate" else mux.deferred_output
                _tell(output(step["split"]), call, step)
            case _:
                raise unknown(step)

    return handle


def _tell(output: Any, call: str, step: Step) -> None:
    match call:
        case "watermark":
            output.emit(step["ts"])
        case "idle":
            output.mark_idle()
        case "active":
            output.mark_active()
        case _:
            raise unknown(step)


def _of_parts(target: Any, part: str) -> Handle:
    """Hand watermarks and statuses to one of several channels or inputs."""

    def handle(step: Step) -> None:
        match step["op"]:
            case "watermark":
                target.watermark(step[part], step["ts"])
            case "idle":
                target.idle(step[part])
            case "active":
                target.active(step[part])
            case _:
                raise unknown(step)

    return handle


@_drive
def valve(params: Params, outbox: _InputOutbox) -> Handle:
    """The valve of an input with several channels."""
    return _of_parts(StatusWatermarkValve(params["channels"], outbox), "ch")


@_drive
def two_input(params: Params, outbox: _InputOutbox) -> Handle:
    """The watermarks of an operator with several inputs."""
    return _of_parts(CombinedInputs(params.get("inputs", 2), outbox), "input")


@_drive
def sql_watermark_assigner(params: Params, outbox: _InputOutbox) -> Handle:
    """SQL's operator; a timer step is one call of its timer at that time."""
    machine = _Machine(params)
    timeout_ms = params.get("idle_timeout_ms", params.get("timeout_ms", 0)) or 0
    operator = WatermarkAssignerOperator(params.get("interval_ms", 200), timeout_ms, machine.now_ms, outbox)

    def handle(step: Step) -> None:
        machine.follow(step)
        match step["op"]:
            case "row":
                watermark_ms = step["watermark_expr"]
                operator.process(step.get("ts", watermark_ms or 0), watermark_ms)
            case "timer":
                operator.on_timer()
            case "backpressure_start":
                operator.clock.pause()
            case "backpressure_end":
                operator.clock.unpause()
            case "upstream_watermark" | "watermark":
                operator.watermark(step["ts"])
            case "upstream_idle" | "idle":
                operator.idle()
            case "upstream_active" | "active":
                operator.active()
            case "upstream_status" | "status":
                getattr(operator, step["status"])()
            case "finish":
                operator.finish()
            case _:
                raise unknown(step)

    return handle
