"""The clock and the wiring: a Scenario runs through the engine and leaves a Trace."""

from __future__ import annotations

from wmviz.engine.aggregates import AGGREGATES
from wmviz.engine.recording import Recorder, ResultsRecorder
from wmviz.engine.triggers import trigger_of
from wmviz.engine.watermarks import WatermarkEmitter, WatermarkGenerator, emit_periodically, generator_of
from wmviz.engine.window_operator import WindowOperator
from wmviz.engine.windows import assigner_of
from wmviz.scenario import Scenario
from wmviz.times import MAX_MS
from wmviz.trace import Trace


class _Channel:
    """Carries watermarks from the source to the window operator, and writes them down."""

    def __init__(self, recorder: Recorder, operator: WindowOperator) -> None:
        self._recorder, self._operator = recorder, operator

    def watermark(self, watermark_ms: int) -> None:
        """Deliver a watermark."""
        self._recorder.emitted(watermark_ms)
        self._operator.advance(watermark_ms)

    def idle(self) -> None:
        """Deliver a status; nothing here makes one yet."""

    active = idle


def simulate(scenario: Scenario, trace: str = "full", generator: WatermarkGenerator | None = None) -> Trace:
    """Run a scenario through the reference engine.

    Parameters
    ----------
    scenario
        The stream and the job.
    trace
        ``"full"``, or ``"results"`` to keep only firings, late and dropped events.
    generator
        A watermark generator of your own, in place of the one that the strategy names.

    Returns
    -------
    Trace
        The log of the run. The same scenario always gives the same trace.

    Raises
    ------
    ValueError
        If `trace` is neither.
    """
    if trace not in ("full", "results"):
        raise ValueError(f'trace is {trace!r}; write "full" or "results"')
    recorder = Recorder(scenario) if trace == "full" else ResultsRecorder(scenario)
    operator = _window_operator(scenario, recorder)
    emitter = WatermarkEmitter(_Channel(recorder, operator))
    if generator is None:
        generator = generator_of(scenario.strategy, scenario.bound_ms)
    _run(scenario, generator, recorder, operator, emitter)
    return recorder.trace


def _window_operator(scenario: Scenario, recorder: Recorder) -> WindowOperator:
    trigger, purging = trigger_of(scenario.window)
    return WindowOperator(
        assigner_of(scenario.window),
        trigger,
        AGGREGATES[scenario.aggregate],
        recorder,
        purging=purging,
        lateness_ms=scenario.lateness_ms,
        side_output=scenario.late_to == "side",
        event_time=scenario.window.time == "event",
    )


def _run(
    scenario: Scenario,
    generator: WatermarkGenerator,
    recorder: Recorder,
    operator: WindowOperator,
    emitter: WatermarkEmitter,
) -> None:
    """Take every arrival and tick in order; then the end of the input, or the timers of the machine's clock."""
    per_event = scenario.emission == "event"
    event_time = scenario.window.time == "event"
    events = scenario.events
    for at_ms, index in scenario.schedule():
        if not event_time:
            _run_clock(recorder, operator, at_ms)
        recorder.at_ms = at_ms
        if index is None:
            recorder.ticked()
            emit_periodically(generator, emitter)
            continue
        event = events[index]
        recorder.arrived(index, event)
        # The record goes first, the watermark that it causes behind it.
        operator.process(event.key, event.event_time_ms if event_time else at_ms, event.value, index)
        punctuated_ms = generator.on_event(event.event_time_ms)
        if punctuated_ms is not None:
            emitter.emit(punctuated_ms)
        if per_event and (watermark_ms := generator.on_periodic_emit()) is not None:
            emitter.emit(watermark_ms)
    _run_clock(recorder, operator, scenario.end_of_input_ms)
    if scenario.end_of_input_ms is not None:
        # Processing-time timers that are not due yet never run: the task is gone.
        recorder.at_ms = scenario.end_of_input_ms
        recorder.ended()
        emitter.end_of_input()


def _run_clock(recorder: Recorder, operator: WindowOperator, until_ms: int | None) -> None:
    """Run the processing-time timers that are due up to a time, or all of them if the input never ends."""
    last_ms = MAX_MS if until_ms is None else until_ms
    while (due_ms := operator.next_processing_time_ms()) is not None and due_ms <= last_ms:
        recorder.at_ms = due_ms
        recorder.clock_moved()
        operator.advance_processing_time(due_ms)
