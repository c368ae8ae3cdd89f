"""The tasks of a job, made as a scenario says: subtasks of the source, and window operators."""

from __future__ import annotations

from wmviz.engine.aggregates import AGGREGATES
from wmviz.engine.merging import MergingWindowOperator
from wmviz.engine.recording import Recorder
from wmviz.engine.source import ProgressiveTimestampsAndWatermarks, SplitOutput
from wmviz.engine.sql import DefaultWatermarkGenerator, SqlTimestampsAndWatermarks
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
from wmviz.scenario import Scenario


class SourceSubtask:
    """A subtask of the source: its watermark strategy, asked for watermarks on the grid of ticks.

    Parameters
    ----------
    scenario
        Says which strategy.
    number
        Which one, from 0; also its place in the trace.
    exchange
        Where the subtask sends.
    recorder
        Has the machine's time.
    own
        A generator in place of that of the strategy.
    start_ms
        When it starts: its ticks lie on a grid from there.

    Attributes
    ----------
    process
        Sends an event on, given its index, timestamp and partition, and behind it what it makes the generator emit.
    ticks
        Whether periodic ticks ever matter.
    unasked
        Whether there were events since the last tick.
    next_tick_ms
        The tick on the agenda, or None.
    clocks
        What idleness goes by: that of each partition, and under None that of the whole subtask.
    """

    def __init__(
        self,
        scenario: Scenario,
        number: int,
        exchange: SplitOutput,
        recorder: Recorder,
        own: WatermarkGenerator | None = None,
        start_ms: int | None = None,
    ) -> None:
        self.place = number
        # To these timers a reading of 0 means "not running". The clock of a machine never reads 0; nor does theirs.
        self._clock_origin_ms = scenario.grid_start_ms - 1
        self.unasked = False
        self._has_released = False
        self.next_tick_ms: int | None = None
        self.clocks: dict[int | None, PausableRelativeClock] = {}
        self._scenario, self._recorder, self._own = scenario, recorder, own
        self._start_ms = scenario.grid_start_ms if start_ms is None else start_ms
        self._timers: dict[int | None, WatermarksWithIdleness | SqlTimestampsAndWatermarks] = {}
        self._tick_ms = scenario.interval_ms
        self._strategy = self._strategy_of(scenario, exchange)
        self.process = self._strategy.process
        self._interval = scenario.emission == "interval" and scenario.strategy != "none"
        self._is_behind_source = scenario.strategy_at == "after"
        self.ticks = self._tick_ms > 0 and (self._interval or bool(self._timers))

    def _strategy_of(
        self, scenario: Scenario, exchange: SplitOutput
    ) -> ProgressiveTimestampsAndWatermarks | TimestampsAndWatermarksOperator | SqlTimestampsAndWatermarks:
        if scenario.api == "sql" and scenario.strategy_at == "after":
            return self._sql(scenario, exchange)
        splits = scenario.partitions_of(self.place)
        if scenario.strategy_at == "source" and (len(splits) > 1 or scenario.idle_timeout_ms is not None):
            main = self._with_idleness(NoWatermarksGenerator(), None)  # no event ever reaches it; its timer matters
            return ProgressiveTimestampsAndWatermarks(splits, self._generator, main, exchange)
        # One generator: a single split needs no combining.
        return TimestampsAndWatermarksOperator(self._generator(None), exchange)

    def _sql(self, scenario: Scenario, exchange: SplitOutput) -> SqlTimestampsAndWatermarks:
        interval_ms = scenario.interval_ms if scenario.emission == "interval" else 0
        made = SqlTimestampsAndWatermarks(
            scenario.bound_ms, interval_ms, scenario.idle_timeout_ms or 0, self._clock_ms, exchange
        )
        if made.timer_interval_ms:
            self._timers[None] = made
            self._tick_ms = made.timer_interval_ms
        self.clocks[None] = made.clock
        return made

    def _clock_ms(self) -> int:
        return self._recorder.at_ms - self._clock_origin_ms

    def _generator(self, split: int | None) -> WatermarkGenerator:
        """Make a generator as the strategy says."""
        scenario, per_event = self._scenario, self._scenario.emission == "event"
        if scenario.api == "sql":
            return self._with_idleness(DefaultWatermarkGenerator(scenario.bound_ms, on_event=per_event), split)
        if self._own is None and scenario.idle_timeout_ms is None:
            return generator_of(scenario.strategy, scenario.bound_ms, per_event=per_event)
        generator = self._own or generator_of(scenario.strategy, scenario.bound_ms)
        return self._with_idleness(EmitOnEvent(generator) if per_event else generator, split)

    def _with_idleness(self, generator: WatermarkGenerator, split: int | None) -> WatermarkGenerator:
        if self._scenario.idle_timeout_ms is None:
            return generator
        clock = self.clocks[split] = PausableRelativeClock(self._clock_ms)
        timer = self._timers[split] = WatermarksWithIdleness(generator, self._scenario.idle_timeout_ms, clock)
        return timer

    def tick(self) -> None:
        """Ask for watermarks, as the timer of pipeline.auto-watermark-interval does."""
        self.unasked = self._has_released = False
        self._recorder.ticked()
        self._strategy.tick()

    def plan_tick(self, earliest_ms: int) -> int | None:
        """Give the next tick at or after a time that would change something, if it comes before the one on the agenda.

        It is noted as `next_tick_ms`, and takes the place of the other.
        """
        if not (self.ticks or self._has_released):
            return None
        if self.next_tick_ms is not None and self.next_tick_ms < earliest_ms + self._tick_ms:
            return None
        from_ms = self._wants_tick_from(earliest_ms)
        self.next_tick_ms = None if from_ms is None else self._next_on_grid_ms(from_ms)
        return self.next_tick_ms

    def _next_on_grid_ms(self, at_ms: int) -> int:
        """Give the first tick at or after a time; the first of all is one interval after the start."""
        return self._start_ms + max(1, -((self._start_ms - at_ms) // self._tick_ms)) * self._tick_ms

    def _wants_tick_from(self, now_ms: int) -> int | None:
        """Give the time from which on a tick would change something, or None until the next event."""
        if self._has_released or (self.unasked and self._interval):
            return now_ms
        due = [due_ms for timer in self._timers.values() if (due_ms := timer.due_ms()) is not None]
        return max(now_ms, self._clock_origin_ms + min(due)) if due else None

    def release(self, split: int) -> None:
        """Let one of several splits end; the next tick combines the others, whether or not events make watermarks."""
        if isinstance(self._strategy, ProgressiveTimestampsAndWatermarks):
            self._recorder.split_ended(self.place, split)
            self._strategy.release(split)
            self._timers.pop(split, None)
            self._has_released = self._tick_ms > 0

    def end(self) -> None:
        """Let the input end: MAX goes out, and what the generator had not said yet is never said."""
        self._recorder.ended(self.place)
        if self._is_behind_source:
            self._strategy.end_of_input()
        else:
            self._strategy.end_of_source()


def window_operator(
    scenario: Scenario, recorder: Recorder, plain: type[WindowOperator] = WindowOperator
) -> WindowOperator:
    """Make a window operator as the scenario says; `plain` is the class for windows that do not merge."""
    trigger, purging = trigger_of(scenario.window)
    kind = MergingWindowOperator if scenario.window.type == "session" else plain
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
