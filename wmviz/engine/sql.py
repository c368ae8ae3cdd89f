"""SQL's watermarks, ``WATERMARK FOR t AS t - INTERVAL …`` in a table: in the source, or in an operator behind it."""

from __future__ import annotations

from collections.abc import Callable

from wmviz.engine.watermarks import PausableRelativeClock, RecordOutput
from wmviz.times import MAX_MS, MIN_MS


class DefaultWatermarkGenerator:
    """SQL's watermark in the source: the highest value of the expression ``t - bound``, with no −1 ms.

    The planner pushes it into a source that can take it, as Kafka's does. There it is a strategy like others: a
    generator for each partition, and the idleness of `WatermarksWithIdleness`.

    Parameters
    ----------
    bound_ms
        The bound of the expression.
    on_event
        Whether each higher watermark follows its row (scan.watermark.emit.strategy on-event), and none comes on ticks.

    Notes
    -----
    Flink 2.3.0: GeneratedWatermarkGeneratorSupplier.DefaultWatermarkGenerator (org.apache.flink.table.runtime), made by
    WatermarkPushDownSpec. Other than in `WatermarkAssignerOperator` watermarks at and below 0 go out too.
    """

    def __init__(self, bound_ms: int, *, on_event: bool) -> None:
        self._bound_ms, self._is_on_event = bound_ms, on_event
        self.current_ms = MIN_MS

    def on_event(self, timestamp_ms: int | None) -> int | None:
        """Keep the highest value; None, where the expression gives NULL, is skipped."""
        if timestamp_ms is None or timestamp_ms - self._bound_ms <= self.current_ms:
            return None
        self.current_ms = timestamp_ms - self._bound_ms
        return self.current_ms if self._is_on_event else None

    def on_periodic_emit(self) -> int | None:
        """Give the highest value; before the first row that is MIN."""
        return None if self._is_on_event else self.current_ms


class WatermarkAssignerOperator:
    """Sends the highest value of the watermark expression: at once if it is far ahead, else on a timer.

    Unlike a strategy of the DataStream API there is no −1 ms; watermarks start at 0, so none at or below 0 goes out;
    the idle timeout needs only be reached; and the next row makes the stream active again, whatever its watermark.

    Parameters
    ----------
    interval_ms
        pipeline.auto-watermark-interval; with 0 each higher watermark goes out behind its row.
    idle_timeout_ms
        table.exec.source.idle-timeout or the table's own; 0 for none.
    now_ms
        Gives the time of the machine, in ms.
    out
        Takes records, watermarks and statuses.

    Attributes
    ----------
    timer_interval_ms
        How often `on_timer` is due, from the start on; 0 for never.
    clock
        What the idle timeout goes by; to be paused under backpressure.

    Notes
    -----
    Flink 2.3.0: WatermarkAssignerOperator (org.apache.flink.table.runtime.operators.wmassigners).
    """

    def __init__(self, interval_ms: int, idle_timeout_ms: int, now_ms: Callable[[], int], out: RecordOutput) -> None:
        self._interval_ms, self._idle_timeout_ms, self._now_ms, self._out = interval_ms, idle_timeout_ms, now_ms, out
        self.timer_interval_ms = timer_interval_ms(interval_ms, idle_timeout_ms)
        self.clock = PausableRelativeClock(now_ms)
        self.current_ms = 0
        self.last_ms = 0
        self.is_idle = False
        self._emitted_at_ms = now_ms()
        # The first timer that is not below the interval.
        self._emission_step_ms = (
            -(-interval_ms // self.timer_interval_ms) * self.timer_interval_ms if interval_ms else 0
        )
        self._active_at_ms = 0
        self._rows = 0
        self._rows_at_last_timer = -1

    def process(self, timestamp_ms: int | None, watermark_ms: int | None) -> None:
        """Send a row on, and its watermark behind it if that is further ahead than the interval.

        Parameters
        ----------
        timestamp_ms
            The row's event time.
        watermark_ms
            The value of the watermark expression for this row; None (SQL's NULL) is skipped.

        Raises
        ------
        ValueError
            If the row has no event time.
        """
        self._rows += 1
        self._wake()
        if timestamp_ms is None:
            raise ValueError("the row's event time is NULL; filter such rows before the watermark")
        if watermark_ms is not None and watermark_ms > self.current_ms:
            self.current_ms = watermark_ms
        self._out.record(timestamp_ms)
        if self.current_ms - self.last_ms > self._interval_ms:
            self._advance()

    def on_timer(self) -> None:
        """Send the watermark if the interval is over, then look whether the stream is idle."""
        now_ms, active_ms = self._now_ms(), self.clock.relative_time_ms()
        if self._interval_ms > 0 and self._emitted_at_ms + self._interval_ms <= now_ms:
            self._emitted_at_ms = now_ms
            self._advance()
        if self._rows != self._rows_at_last_timer:
            self._rows_at_last_timer = self._rows
            self._active_at_ms = active_ms
        if self._idle_timeout_ms > 0 and not self.is_idle and self._active_at_ms + self._idle_timeout_ms <= active_ms:
            self.idle()

    def catch_up(self) -> None:
        """Count the intervals of the timers that were left out before now, since they had nothing to do."""
        if self._interval_ms > 0:
            self._emitted_at_ms = self._next_emission_ms(self._now_ms() - 1) - self._emission_step_ms

    def due_ms(self) -> int | None:
        """Give the machine's time from which on a timer has something to do; None: after the next row or pause."""
        if self._rows != self._rows_at_last_timer:
            return self._now_ms()
        due = [self._next_emission_ms(self._now_ms())] if self.current_ms > self.last_ms and self._interval_ms else []
        if self._idle_timeout_ms > 0 and not self.is_idle:
            idle_ms = self.clock.machine_time_ms(self._active_at_ms + self._idle_timeout_ms)
            due += [] if idle_ms is None else [idle_ms]
        return min(due, default=None)

    def _next_emission_ms(self, after_ms: int) -> int:
        """Give the first timer after a time at which the interval is over, counted on when nothing was sent."""
        steps = (after_ms - self._emitted_at_ms) // self._emission_step_ms
        return self._emitted_at_ms + (max(steps, 0) + 1) * self._emission_step_ms

    def watermark(self, watermark_ms: int) -> None:
        """Take a watermark from upstream: only MAX counts, the end of the input."""
        if watermark_ms == MAX_MS and self.current_ms != MAX_MS:
            self._wake()
            self.current_ms = MAX_MS
            self._out.watermark(MAX_MS)

    def idle(self) -> None:
        """Take or make the status IDLE, and send it on."""
        self.is_idle = True
        self._out.idle()

    def active(self) -> None:
        """Take or make the status ACTIVE, and send it on."""
        self.is_idle = False
        self._out.active()

    def finish(self) -> None:
        """Send MAX before the operator closes."""
        self.watermark(MAX_MS)

    def _wake(self) -> None:
        if self._idle_timeout_ms > 0 and self.is_idle:
            self.active()

    def _advance(self) -> None:
        if self.current_ms > self.last_ms:
            self.last_ms = self.current_ms
            self._out.watermark(self.current_ms)


class SqlTimestampsAndWatermarks:
    """The operator as a source subtask drives it: records by their number, the expression ``t - bound``.

    Parameters
    ----------
    bound_ms, interval_ms, idle_timeout_ms, now_ms, out
        The bound of the expression; the rest as above.
    """

    def __init__(
        self, bound_ms: int, interval_ms: int, idle_timeout_ms: int, now_ms: Callable[[], int], out: RecordOutput
    ) -> None:
        self._bound_ms, self._out = bound_ms, out
        self._operator = WatermarkAssignerOperator(interval_ms, idle_timeout_ms, now_ms, self)
        self._record = -1
        self.timer_interval_ms = self._operator.timer_interval_ms
        self.clock = self._operator.clock
        self.watermark, self.idle, self.active = out.watermark, out.idle, out.active
        self.due_ms = self._operator.due_ms
        self.end_of_input = self.end_of_source = self._operator.finish

    def process(self, record: int, timestamp_ms: int, split: int = 0) -> None:
        """Send a record on, and behind it what the operator has to say."""
        self._record = record
        self._operator.process(timestamp_ms, timestamp_ms - self._bound_ms)

    def tick(self) -> None:
        """Run the timer that is due now; those before it that would have changed nothing were left out."""
        self._operator.catch_up()
        self._operator.on_timer()

    def record(self, timestamp_ms: int) -> None:
        """Let the record through whose timestamp the operator has seen."""
        self._out.record(self._record)


def timer_interval_ms(interval_ms: int, idle_timeout_ms: int) -> int:
    """Give the distance of two timers in ms: the shorter duration if it is far shorter, else a fifth of it; 0 for none.

    Notes
    -----
    Flink 2.3.0: WatermarkAssignerOperator.calculateProcessingTimeTimerInterval.
    """
    if interval_ms <= 0 or idle_timeout_ms <= 0:
        return max(interval_ms, idle_timeout_ms, 0)
    shorter_ms, longer_ms = sorted((interval_ms, idle_timeout_ms))
    return shorter_ms if shorter_ms * 5 < longer_ms else max(shorter_ms // 5, 1)
