"""From a Scenario to a Trace: the job runs through the engine, by the short way or with all that may happen to it."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace

from wmviz.engine.job import RunningJob
from wmviz.engine.local_time import LocalTimeError
from wmviz.engine.merging import MergedWindowLateError
from wmviz.engine.parts import Parts
from wmviz.engine.recording import Recorder, ResultsRecorder
from wmviz.engine.runtime_recording import RunningResultsRecorder, RuntimeRecording
from wmviz.engine.subtasks import SourceSubtask, window_operator
from wmviz.engine.tasks import Exchange, WindowTask, tasks_of_keys
from wmviz.engine.watermarks import WatermarkGenerator
from wmviz.scenario import Scenario, ScenarioError, check_scenario
from wmviz.times import MAX_MS
from wmviz.trace import Trace

_NEVER_MS = MAX_MS + 1


def simulate(
    scenario: Scenario,
    trace: str = "full",
    generator: WatermarkGenerator | None = None,
    parts: Parts | None = None,
) -> Trace:
    """Run a scenario through the reference engine.

    Parameters
    ----------
    scenario
        The stream and the job.
    trace
        ``"full"``, or ``"results"`` to keep only firings, late and dropped events.
    generator
        A watermark generator of your own, in place of the one that the strategy names; for one input only. Any object
        will do with the two methods of Flink's WatermarkGenerator: ``on_event(timestamp_ms)`` sees each event, and
        ``on_periodic_emit()`` is asked on every tick, and with emission "event" behind every event. Each gives a
        watermark in ms, or None for nothing. Use a new object for each run: it remembers.
    parts
        Other pieces of your own, in place of the engine's.

    Returns
    -------
    Trace
        The log of the run. The same scenario always gives the same trace.

    Raises
    ------
    ScenarioError
        If it is no scenario, or one whose job fails: its times are too near the ends of the 64-bit range.
    ValueError
        If `trace` is neither, or `generator` is no generator, would have to serve several inputs, or the job is SQL.
    """
    check_scenario(scenario, "simulate")
    if trace not in ("full", "results"):
        raise ValueError(f'trace is {trace!r}; write "full" or "results"')
    if not (generator is None or (hasattr(generator, "on_event") and hasattr(generator, "on_periodic_emit"))):
        raise ValueError(f"generator is {generator!r}; write an object with on_event and on_periodic_emit")
    if generator is not None and scenario.api == "sql":
        raise ValueError('SQL makes its watermarks from an expression; with a generator write api "datastream"')
    if generator is not None and max(scenario.subtasks, scenario.partition_count) > 1:
        raise ValueError("one generator cannot serve several inputs; give a scenario with one partition and subtask")
    try:
        return _run(scenario, replace(parts or Parts(), generator=generator), full=trace == "full")
    except (LocalTimeError, MergedWindowLateError, OverflowError) as error:  # the job would fail on Flink too
        raise ScenarioError(f"{scenario.name} fails: {error}") from None


def _run(scenario: Scenario, parts: Parts, *, full: bool) -> Trace:
    if needs_running_job(scenario):
        running = RuntimeRecording(scenario) if full else RunningResultsRecorder(scenario)
        RunningJob(scenario, running, parts).run()
        return running.trace
    recorder = Recorder(scenario) if full else ResultsRecorder(scenario)
    _DirectJob(scenario, recorder, parts).run()
    return recorder.trace


def needs_running_job(scenario: Scenario) -> bool:
    """Say whether something can wait, be stored or fail in the job, so that the short way is not enough."""
    return bool(
        scenario.checkpoints is not None
        or scenario.happenings
        or scenario.work_ms
        or scenario.sink == "transactional"
        or (scenario.alignment is not None and scenario.strategy_at == "source")
    )


class _DirectJob:
    """A job in which nothing waits: what a source sends is handled at once. An agenda of arrivals, ticks and timers."""

    def __init__(self, scenario: Scenario, recorder: Recorder, parts: Parts) -> None:
        self.scenario, self.recorder = scenario, recorder
        subtasks = range(scenario.subtasks)
        self._tasks = [
            WindowTask(
                scenario.subtasks + number,
                window_operator(scenario, recorder, parts.window_operator),
                len(subtasks),
                recorder,
                scenario.inputs,
                parts.valve,
            )
            for number in range(scenario.window_tasks)
        ]
        task_of_key = tasks_of_keys(scenario, self._tasks)
        exchanges = [Exchange(number, self._tasks, task_of_key, recorder) for number in subtasks]
        self._sources = [
            SourceSubtask(scenario, number, exchanges[number], recorder, parts.generator) for number in subtasks
        ]
        self._ticks: list[tuple[int, int]] = []  # time, subtask

    def run(self) -> None:
        """Take every arrival, tick and timer in order; at equal times the arrivals come first."""
        scenario, recorder, sources = self.scenario, self.recorder, self._sources
        arrived = recorder.arrived
        ticks, by_clock = self._ticks, scenario.window.time == "processing"
        for source in sources:
            self._plan_tick(source, recorder.at_ms)
        for index, event in enumerate(scenario.events):
            at_ms = event.arrival_time_ms
            if by_clock or (ticks and ticks[0][0] < at_ms):
                self._pass_time(at_ms, at_ms)
            recorder.at_ms = at_ms
            source = sources[event.partition % len(sources)]
            if arrived is not None:
                arrived(source.place, index, event)
            source.process(index, event.event_time_ms, event.partition)
            if source.ticks:
                source.unasked = True
                self._plan_tick(source, at_ms)
        end_ms = scenario.end_of_input_ms
        self._pass_time(*((MAX_MS, MAX_MS) if end_ms is None else (end_ms, end_ms + 1)))
        if end_ms is not None:
            # Processing-time timers that are not due yet never run: the tasks are gone.
            recorder.at_ms = max(end_ms, scenario.grid_start_ms)  # without events it may lie before the start
            for source in sources:
                source.end()

    def _plan_tick(self, source: SourceSubtask, earliest_ms: int) -> None:
        """Put the next tick of a subtask that would change something on the agenda, in place of the one there."""
        tick_ms = source.plan_tick(earliest_ms)
        if tick_ms is not None:
            heapq.heappush(self._ticks, (tick_ms, source.place))

    def _pass_time(self, now_ms: int, ticks_before_ms: int) -> None:
        """Run the timers of the machine's clock that are due up to now, and the ticks before a time, in order."""
        ticks, by_clock = self._ticks, self.scenario.window.time == "processing"
        while True:
            tick_ms = ticks[0][0] if ticks else _NEVER_MS
            timer_ms, task = min(self._timers()) if by_clock else (_NEVER_MS, -1)
            if tick_ms >= ticks_before_ms and timer_ms > now_ms:
                break
            if timer_ms <= tick_ms or tick_ms >= ticks_before_ms:
                self._run_timers(task, timer_ms)
            else:
                self._run_tick(*heapq.heappop(ticks))

    def _run_tick(self, tick_ms: int, subtask: int) -> None:
        source = self._sources[subtask]
        if source.next_tick_ms == tick_ms:  # otherwise another took its place
            source.next_tick_ms = None
            self.recorder.at_ms = tick_ms
            source.tick()
            self._plan_tick(source, tick_ms + 1)

    def _timers(self) -> Iterator[tuple[int, int]]:
        """Give the next processing-time timer of every window task: its time, the task."""
        for number, task in enumerate(self._tasks):
            due_ms = task.operator.next_processing_time_ms()
            yield (_NEVER_MS if due_ms is None else due_ms), number

    def _run_timers(self, number: int, due_ms: int) -> None:
        task = self._tasks[number]
        self.recorder.at_ms = due_ms
        self.recorder.clock_moved(task.place)
        task.operator.advance_processing_time(due_ms)
