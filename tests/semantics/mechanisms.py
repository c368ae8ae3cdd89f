"""One driver for each mechanism: feeds the steps of a case to a piece of the engine and notes all that comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.semantics import checkpointing, inputs, sinks
from tests.semantics.outbox import REFUSALS, Driver, Outbox, Output, Params, Steps, unknown
from wmviz.engine.aggregates import AGGREGATES
from wmviz.engine.merging import MergingWindowOperator
from wmviz.engine.triggers import trigger_of
from wmviz.engine.watermarks import (
    TimestampsAndWatermarksOperator,
    WatermarkEmitter,
    WatermarkGenerator,
    generator_of,
)
from wmviz.engine.window_operator import Pane, PaneSnapshot, WindowOperator
from wmviz.engine.windows import SessionWindows, WindowAssigner, assigner_of
from wmviz.scenario import Window
from wmviz.times import MIN_MS
from wmviz.trace import AnyWindow

# ------------------------------------------------------------------------------------------ watermark generators


class PunctuatedOnMarker:
    """A user's punctuated generator: an event with a marker is at once a watermark of its timestamp."""

    def __init__(self) -> None:
        self.marker = False

    def on_event(self, timestamp_ms: int) -> int | None:
        """Give the timestamp of a marked event."""
        return timestamp_ms if self.marker else None

    def on_periodic_emit(self) -> None:
        """Give nothing: no watermark comes of a tick."""


class RawGenerator:
    """Takes every call that a generator makes, with no filter behind it."""

    def __init__(self, generator: WatermarkGenerator, outbox: Outbox) -> None:
        self._generator, self._out = generator, outbox

    def process(self, record: int, timestamp_ms: int) -> None:
        """Show the generator an event."""
        self._take(self._generator.on_event(timestamp_ms))

    def tick(self) -> None:
        """Ask the generator."""
        self._take(self._generator.on_periodic_emit())

    def watermark(self, watermark_ms: int) -> None:
        """Ignore it: a generator never sees watermarks from upstream."""

    finish = tick

    def _take(self, watermark_ms: int | None) -> None:
        if watermark_ms is not None:
            self._out.watermark(watermark_ms)


class _RecordOutbox:
    """Where the operator sends records and watermarks; records are noted if the case asks for them."""

    def __init__(self, outbox: Outbox, *, log_records: bool) -> None:
        self._log_records, self._outbox = log_records, outbox
        self.watermark, self.idle, self.active = outbox.watermark, outbox.idle, outbox.active

    def record(self, timestamp_ms: int) -> None:
        if self._log_records:
            self._outbox.put(record=timestamp_ms)


def watermark_generator(params: Params, steps: Steps) -> list[Output]:
    """Run a generator alone (raw) or inside the operator that filters what it emits."""
    outbox = Outbox()
    name = params["generator"]
    try:
        generator: Any = (
            PunctuatedOnMarker() if name == "punctuated_on_marker" else generator_of(name, params.get("bound_ms", 0))
        )
    except REFUSALS as error:
        outbox.error(error)
        return outbox.outputs
    target: Any
    if params.get("level", "operator") == "raw":
        target = RawGenerator(generator, outbox)
    else:
        target = TimestampsAndWatermarksOperator(
            generator, _RecordOutbox(outbox, log_records=bool(params.get("log_records")))
        )
    for outbox.step, step in enumerate(steps):
        match step["op"]:
            case "event":
                if isinstance(generator, PunctuatedOnMarker):
                    generator.marker = bool(step.get("marker"))
                target.process(_timestamp_ms(step), _timestamp_ms(step))
            case "tick":
                target.tick()
            case "upstream_watermark":
                target.watermark(step["ts"])
            case "finish":
                target.finish()
            case _:
                raise unknown(step)
    return outbox.outputs


def _timestamp_ms(step: Mapping[str, Any]) -> int:
    """Give the timestamp of an event; a record that has none carries MIN."""
    timestamp_ms = step.get("ts")
    return MIN_MS if timestamp_ms is None else int(timestamp_ms)


# ------------------------------------------------------------------------------------------------------- windows


def _window(params: Params) -> Window:
    return Window(
        type=params["assigner"],
        size_ms=params.get("size_ms", 0),
        slide_ms=params.get("slide_ms", 0),
        offset_ms=params.get("offset_ms", 0),
        zone=params.get("zone"),
        time=params.get("time", "event"),
        trigger=params.get("trigger") or "default",
    )


def _assigner(params: Params) -> WindowAssigner:
    if params["assigner"] == "session":
        return SessionWindows(params["gap_ms"])
    return assigner_of(_window(params))


def _shown(window: AnyWindow) -> Any:
    return "global" if window.start_ms is None else [window.start_ms, window.end_ms]


def window_assigner(params: Params, steps: Steps) -> list[Output]:
    """Ask an assigner for the windows of each timestamp."""
    outbox = Outbox()
    try:
        assigner = _assigner(params)
    except REFUSALS as error:
        outbox.error(error)
        return outbox.outputs
    for outbox.step, step in enumerate(steps):
        try:
            outbox.put(windows=[_shown(window) for window in assigner.assign(_timestamp_ms(step))])
        except REFUSALS as error:  # noqa: PERF203 - an assigner has no state: the next timestamp is asked all the same
            outbox.error(error)
    return outbox.outputs


class _WindowOutbox(Outbox):
    """Notes firings, late and dropped events, and watermarks if the case asks for them."""

    def __init__(self, params: Params, values: list[Any]) -> None:
        super().__init__()
        self._log_watermarks = bool(params.get("log_watermarks"))
        self._values = values
        self.operator: WindowOperator

    def watermark(self, watermark_ms: int) -> None:
        if self._log_watermarks:
            super().watermark(watermark_ms)

    def fired(self, pane: Pane, value: int) -> None:
        elements = sorted(self._values[event] for event in pane.events)
        fire = {"key": pane.key, "window": _shown(pane.window), "elements": elements}
        self.put(fire={**fire, "at_watermark": self.operator.watermark_ms})

    def late(self, event: int) -> None:
        self.put(late_side=self._values[event])

    def dropped(self, event: int) -> None:
        self.put(dropped=self._values[event])

    def added(self, pane: Pane, event: int) -> None: ...
    def merged(self, pane: Pane, windows: Sequence[AnyWindow]) -> None: ...
    def purged(self, pane: Pane) -> None: ...
    def cleaned(self, pane: Pane) -> None: ...
    def missed(self, event: int, key: str, windows: Sequence[AnyWindow]) -> None: ...
    def no_window(self, event: int) -> None: ...


class _ToOperator:
    """The channel between the strategy and the window operator."""

    def __init__(self, operator: WindowOperator) -> None:
        self.watermark = operator.advance

    def idle(self) -> None: ...
    def active(self) -> None: ...


def window(params: Params, steps: Steps) -> list[Output]:
    """Run the window operator behind the filter that every stream of watermarks has passed."""
    values: list[Any] = []
    checkpoints: dict[Any, list[PaneSnapshot]] = {}
    now_ms = 0
    outbox = _WindowOutbox(params, values)
    try:
        operator, emitter = _start(params, outbox)
        for outbox.step, step in enumerate(steps):
            match step["op"]:
                case "event":
                    values.append(step.get("v"))
                    timestamp_ms = now_ms if params.get("time") == "processing" else _timestamp_ms(step)
                    operator.process(step.get("key", "k"), timestamp_ms, 1, len(values) - 1)
                case "clock":
                    now_ms = step["at_ms"]
                    operator.advance_processing_time(now_ms)
                case "state":
                    outbox.put(state=_kept(operator, values))
                case "watermark":
                    emitter.emit(step["ts"])
                case "finish":
                    pass  # the input ends without MAX: nothing moves
                case "checkpoint":
                    checkpoints[step["id"]] = operator.snapshot()
                case "fail_and_restore":
                    params = {**params, "lateness_ms": step.get("lateness_ms", params.get("lateness_ms", 0))}
                    operator, emitter = _start(params, outbox)  # all is new, the filter too
                    latest = next(reversed(checkpoints), None)
                    operator.restore(checkpoints.get(step.get("id", latest), []))
                    now_ms = step.get("at_ms", now_ms)
                    operator.advance_processing_time(now_ms)
                case _:
                    raise unknown(step)
    except REFUSALS as error:
        outbox.error(error)  # the job has failed; nothing follows
    return outbox.outputs


def _kept(operator: WindowOperator, values: Sequence[Any]) -> list[Any]:
    """Give what is kept for each key and window: elements and times of timers."""
    kept = []
    for stored in operator.snapshot():
        elements = sorted(values[event] for event in stored.events[: stored.length])
        if elements or stored.timers_ms:
            of = {"key": stored.key, "window": _shown(stored.window)}
            kept.append({**of, "elements": elements, "timers": sorted(stored.timers_ms)})
    return sorted(kept, key=str)


def session(params: Params, steps: Steps) -> list[Output]:
    """Run the window operator; the assigner goes without saying."""
    return window({"assigner": "session", **params}, steps)


def _start(params: Params, outbox: _WindowOutbox) -> tuple[WindowOperator, WatermarkEmitter]:
    """Start a job: a window operator with nothing in it, and the filter in front of it."""
    trigger, purging = trigger_of(_window(params))
    make = MergingWindowOperator if params["assigner"] == "session" else WindowOperator
    outbox.operator = make(
        _assigner(params),
        trigger,
        AGGREGATES["count"],
        outbox,
        purging=purging,
        lateness_ms=params.get("lateness_ms", 0),
        side_output=bool(params.get("side_output")),
        event_time=params.get("time") != "processing",
    )
    return outbox.operator, WatermarkEmitter(_ToOperator(outbox.operator))


# ----------------------------------------------------------------------------------------------------- the table


DRIVERS: dict[str, Driver] = {
    "watermark_generator": watermark_generator,
    "window_assigner": window_assigner,
    "window": window,
    "session": session,
    "local_window": window,
    "idleness": inputs.idleness,
    "multiplexer": inputs.multiplexer,
    "valve": inputs.valve,
    "two_input": inputs.two_input,
    "barrier_aligned": checkpointing.barriers,
    "barrier_unaligned": checkpointing.barriers,
    "checkpoint_scheduling": checkpointing.checkpoint_scheduling,
    "recovery": window,
    "sql_watermark_assigner": inputs.sql_watermark_assigner,
    "watermark_alignment": checkpointing.watermark_alignment,
    "sink": sinks.sink,
}
"""Every mechanism that a case may name."""
