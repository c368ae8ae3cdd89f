"""The clock and the wiring: a Scenario runs through the engine and leaves a Trace."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from wmviz.engine.aggregates import AGGREGATES
from wmviz.engine.local_time import LocalTimeError
from wmviz.engine.merging import MergedWindowLateError, MergingWindowOperator
from wmviz.engine.recording import Recorder, ResultsRecorder
from wmviz.engine.source import ProgressiveTimestampsAndWatermarks
from wmviz.engine.tasks import Exchange, WindowTask, tasks_of_keys
from wmviz.engine.triggers import trigger_of
from wmviz.engine.watermarks import (
    EmitOnEvent,
    NoWatermarksGenerator,
    PausableRelativeClock,
    TimestampsAndWatermarksOperator,
    WatermarkGenerator,
    WatermarksWithIdleness,
    generator_of,
)
from wmviz.engine.window_operator import WindowOperator
from wmviz.engine.windows import assigner_of
from wmviz.scenario import Scenario, ScenarioError, check_scenario
from wmviz.times import MAX_MS
from wmviz.trace import Trace

_NEVER_MS = MAX_MS + 1


def simulate(scenario: Scenario, trace: str = "full", generator: WatermarkGenerator | None = None) -> Trace:
    """Run a scenario through the reference engine.

    Parameters
    ----------
    scenario
        The stream and the job.
    trace
        ``"full"``, or ``"results"`` to keep only firings, late and dropped events.
    generator
        A watermark generator of your own, in place of the one that the strategy names; for one input only.

    Returns
    -------
    Trace
        The log of the run. The same scenario always gives the same trace.

    Raises
    ------
    ScenarioError
        If it is no scenario, or one whose job fails: its times are too near the ends of the 64-bit range.
    ValueError
        If `trace` is neither, or `generator` is no generator or would have to serve several inputs.
    """
    check_scenario(scenario, "simulate")
    if trace not in ("full", "results"):
        raise ValueError(f'trace is {trace!r}; write "full" or "results"')
    if not (generator is None or (hasattr(generator, "on_event") and hasattr(generator, "on_periodic_emit"))):
        raise ValueError(f"generator is {generator!r}; write an object with on_event and on_periodic_emit")
    if generator is not None and max(scenario.subtasks, scenario.partition_count) > 1:
        raise ValueError("one generator cannot serve several inputs; give a scenario with one partition and subtask")
    recorder = Recorder(scenario) if trace == "full" else ResultsRecorder(scenario)
    try:
        _Job(scenario, recorder, generator).run()
    except (LocalTimeError, MergedWindowLateError, OverflowError) as error:  # the job would fail on Flink too
        raise ScenarioError(f"{scenario.name} fails: {error}") from None
    return recorder.trace


class SourceSubtask:
    """A subtask of the source: reads its partitions, and is asked for watermarks on the grid of ticks.

    Parameters
    ----------
    number
        Which one, from 0; also its place in the trace.
    job
        Makes the generators.
    exchange
        Where the subtask sends.

    Attributes
    ----------
    process
        Sends an event on, given its index, timestamp and partition, and behind it what it makes the generator emit.
    ticks
        Whether periodic ticks ever matter.
    clock_origin_ms
        When the clock of those timers reads 0.
    unasked
        Whether there were events since the last tick.
    timers
        The idleness timers of its generators.
    next_tick_ms
        The tick on the agenda, or None.
    """

    def __init__(self, number: int, job: _Job, exchange: Exchange) -> None:
        scenario = job.scenario
        self.place = number
        self.timers: list[WatermarksWithIdleness] = []
        # To these timers a reading of 0 means "not running". The clock of a machine never reads 0; nor does theirs.
        self.clock_origin_ms = scenario.grid_start_ms - 1
        self.unasked = False
        self.next_tick_ms: int | None = None
        self._recorder = job.recorder
        splits = scenario.partitions_of(number)
        self._strategy: ProgressiveTimestampsAndWatermarks | TimestampsAndWatermarksOperator
        if scenario.strategy_at == "source" and (len(splits) > 1 or scenario.idle_timeout_ms is not None):
            self._strategy = ProgressiveTimestampsAndWatermarks(
                splits, lambda: job.generator(self), job.main_generator(self), exchange
            )
        else:
            # One generator: a single split needs no combining.
            self._strategy = TimestampsAndWatermarksOperator(job.generator(self), exchange)
        self.process = self._strategy.process
        self._interval = scenario.emission == "interval" and scenario.strategy != "none"
        self._is_behind_source = scenario.strategy_at == "after"
        self.ticks = self._interval or bool(self.timers)

    def tick(self) -> None:
        """Ask for watermarks, as the timer of pipeline.auto-watermark-interval does."""
        self.unasked = False
        self._recorder.ticked()
        self._strategy.tick()

    def wants_tick_from(self, now_ms: int) -> int | None:
        """Give the time from which on a tick would change something, or None until the next event."""
        if self.unasked and self._interval:
            return now_ms
        due = [due_ms for timer in self.timers if (due_ms := timer.due_ms()) is not None]
        return max(now_ms, self.clock_origin_ms + min(due)) if due else None

    def end(self) -> None:
        """Let the input end: MAX goes out, and what the generator had not said yet is never said."""
        self._recorder.ended(self.place)
        if self._is_behind_source:
            self._strategy.end_of_input()
        else:
            self._strategy.end_of_source()


class _Job:
    """The running job: its tasks, wired, and the agenda of arrivals, ticks and timers."""

    def __init__(self, scenario: Scenario, recorder: Recorder, own: WatermarkGenerator | None) -> None:
        self.scenario, self.recorder, self._own = scenario, recorder, own
        subtasks = range(scenario.subtasks)
        self._tasks = [
            WindowTask(scenario.subtasks + number, _window_operator(scenario, recorder), len(subtasks), recorder)
            for number in range(scenario.window_tasks)
        ]
        task_of_key = tasks_of_keys(scenario, self._tasks)
        exchanges = [Exchange(number, self._tasks, task_of_key, recorder) for number in subtasks]
        self._sources = [SourceSubtask(number, self, exchanges[number]) for number in subtasks]
        self._ticks: list[tuple[int, int]] = []  # time, subtask

    def generator(self, subtask: SourceSubtask) -> WatermarkGenerator:
        """Make a generator as the strategy says."""
        scenario, per_event = self.scenario, self.scenario.emission == "event"
        if self._own is None and scenario.idle_timeout_ms is None:
            return generator_of(scenario.strategy, scenario.bound_ms, per_event=per_event)
        generator = self._own or generator_of(scenario.strategy, scenario.bound_ms)
        if per_event:
            generator = EmitOnEvent(generator)
        return self._with_idleness(generator, subtask)

    def main_generator(self, subtask: SourceSubtask) -> WatermarkGenerator:
        """Make the generator of a source's main output: no event ever reaches it, so only its timer matters."""
        return self._with_idleness(NoWatermarksGenerator(), subtask)

    def _with_idleness(self, generator: WatermarkGenerator, subtask: SourceSubtask) -> WatermarkGenerator:
        if self.scenario.idle_timeout_ms is None:
            return generator
        clock = PausableRelativeClock(lambda: self.recorder.at_ms - subtask.clock_origin_ms)
        timer = WatermarksWithIdleness(generator, self.scenario.idle_timeout_ms, clock)
        subtask.timers.append(timer)
        return timer

    def run(self) -> None:
        """Take every arrival, tick and timer in order; at equal times the arrivals come first."""
        scenario, recorder, sources = self.scenario, self.recorder, self._sources
        arrived = recorder.arrived
        ticks, by_clock = self._ticks, scenario.window.time == "processing"
        recorder.at_ms = scenario.grid_start_ms
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
            recorder.at_ms = end_ms
            for source in sources:
                source.end()

    def _plan_tick(self, source: SourceSubtask, earliest_ms: int) -> None:
        """Put the next tick of a subtask that would change something on the agenda, in place of the one there."""
        if source.next_tick_ms is not None and source.next_tick_ms < earliest_ms + self.scenario.interval_ms:
            return
        from_ms = source.wants_tick_from(earliest_ms)
        source.next_tick_ms = None if from_ms is None else self.scenario.next_tick_ms(from_ms)
        if source.next_tick_ms is not None:
            heapq.heappush(self._ticks, (source.next_tick_ms, source.place))

    def _pass_time(self, now_ms: int, ticks_before_ms: int) -> None:
        """Run the timers of the machine's clock that are due up to now, and the ticks before a time, in order."""
        ticks, by_clock = self._ticks, self.scenario.window.time == "processing"
        while True:
            tick_ms = ticks[0][0] if ticks else _NEVER_MS
            timer_ms, task = min(self._timers()) if by_clock else (_NEVER_MS, -1)
            if tick_ms >= ticks_before_ms and timer_ms > now_ms:
                break
            if timer_ms < tick_ms or tick_ms >= ticks_before_ms:
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


def _window_operator(scenario: Scenario, recorder: Recorder) -> WindowOperator:
    trigger, purging = trigger_of(scenario.window)
    kind = MergingWindowOperator if scenario.window.type == "session" else WindowOperator
    return kind(
        assigner_of(scenario.window),
        trigger,
        AGGREGATES[scenario.aggregate],
        recorder,
        purging=purging,
        lateness_ms=scenario.lateness_ms,
        side_output=scenario.late_to == "side",
        event_time=scenario.window.time == "event",
    )
