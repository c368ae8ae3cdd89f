"""Let the engine run on a piece that a learner wrote."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from wmviz.course.answers import AnswerError
from wmviz.course.own_code import called, made, milliseconds, several, truth
from wmviz.engine.alignment import AlignmentOutput, SourceOperatorAlignment
from wmviz.engine.barriers import BarrierOutput, CheckpointBarrier
from wmviz.engine.parts import Parts
from wmviz.engine.simulate import simulate
from wmviz.engine.valve import StatusWatermarkValve
from wmviz.engine.watermarks import Downstream
from wmviz.engine.window_operator import WindowOperator
from wmviz.scenario import Scenario
from wmviz.times import MIN_MS, time_text
from wmviz.trace import Trace
from wmviz.window import AnyWindow, TimeWindow, Window


def run_with(own: Any, scenario: Scenario, piece: str = "generator") -> Trace:
    """Run a scenario on a piece of your own, in place of Flink's rule.

    Parameters
    ----------
    own
        What you wrote; see below.
    scenario
        The stream and the rest of the job.
    piece
        Which piece it is:

        - ``"generator"``: a class with ``on_event(timestamp_ms)`` and ``on_periodic_emit()``, which returns the
          watermark; it is made with the bound in ms.
        - ``"lateness"``: a function ``is_late(end_ms, lateness_ms, watermark_ms)`` that says whether a window with
          that end takes no event any more.
        - ``"valve"``: a class with ``on_watermark(channel, watermark_ms)`` and, if inputs may be idle,
          ``on_idle(channel)`` and ``on_active(channel)``; it is made with the number of channels. Each method returns
          the watermark that goes through now, or None if there is no new one.
        - ``"barriers"``: a class with ``on_barrier(channel, checkpoint_id)``, made with the number of channels. It
          returns ``"block"`` to stop reading that channel, ``"snapshot"`` to store the state now and read all channels
          again, or ``"pass"`` to go on reading. If it blocks a channel for a newer checkpoint, those that were blocked
          for an older one are read again.
        - ``"window start"``: a function ``start(timestamp_ms, offset_ms, size_ms)`` that gives the start of the window
          that a time is in, for tumbling windows; for sliding ones it is given the slide as the size, and the other
          windows of the time follow from the one that starts last.
        - ``"smallest bounds"``: a function ``bounds(times_ms, size_ms)`` that gives for each event, in the order of
          arrival, the smallest bound with which it is in the first result of its window. An event for which the job's
          bound is too small comes too late then. For tumbling windows without lateness.
        - ``"alignment"``: a class with ``on_sample(watermark_ms)``, which is told the watermark of the source once in
          every interval, and ``must_wait(limit_ms)``, which says whether the source has to wait with this limit. It is
          made for each source subtask, which reads one partition, with the number of samples that count.

    Returns
    -------
    Trace
        What the job does on it.

    Raises
    ------
    AnswerError
        If what you wrote raises an error or gives something of the wrong kind; the message says where.
    """
    if piece not in _PIECES:
        raise AnswerError(f"There is no piece {piece!r}; there are: {', '.join(_PIECES)}.")
    return _PIECES[piece](own, scenario)


def _with_generator(own: Any, scenario: Scenario) -> Trace:
    return simulate(scenario, generator=_Generator(own, scenario.bound_ms))


def _with_valve(own: Any, scenario: Scenario) -> Trace:
    return simulate(scenario, parts=Parts(valve=lambda channels, out: _Valve(own, channels, out)))


def _with_barriers(own: Any, scenario: Scenario) -> Trace:
    return simulate(scenario, parts=Parts(barrier_handler=lambda channels, out: _Barriers(own, channels, out)))


def _with_lateness(own: Any, scenario: Scenario) -> Trace:
    if not callable(own):
        raise AnswerError("Give the function itself, without brackets behind its name.")

    class Judged(WindowOperator):
        """Asks the learner's rule whether a window takes no event any more."""

        def _takers(self, windows: Any) -> Any:
            return [
                self._windows.get(window) or self._open(window, self._cleanup_ms(window))
                for window in windows
                if not truth(called(own, "is_late", window.end_ms, self._lateness_ms, self.watermark_ms), "is_late")
            ]

        def advance(self, watermark_ms: int) -> None:
            self._latest_windows = []  # the rule is asked again for each event behind a new watermark
            super().advance(watermark_ms)

    return simulate(scenario, parts=Parts(window_operator=Judged))


def _with_window_start(own: Any, scenario: Scenario) -> Trace:
    if not callable(own):
        raise AnswerError("Give the function itself, without brackets behind its name.")
    if scenario.window.type not in ("tumbling", "sliding") or scenario.window.zone is not None:
        raise AnswerError(f"{scenario.name} has no windows on a grid of UTC; give a job with tumbling or sliding ones.")

    class Placed(WindowOperator):
        """Puts events into windows that start where the learner's function says."""

        def __init__(self, assigner: Any, *parts: Any, **settings: Any) -> None:
            super().__init__(_Grid(own, scenario.window), *parts, **settings)

    return simulate(scenario, parts=Parts(window_operator=Placed))


def _with_smallest_bounds(own: Any, scenario: Scenario) -> Trace:
    if not callable(own):
        raise AnswerError("Give the function itself, without brackets behind its name.")
    window = scenario.window
    if window.type != "tumbling" or window.zone is not None or window.offset_ms or scenario.lateness_ms:
        raise AnswerError(
            f"{scenario.name} does not fit: give a job with tumbling windows from 0 on, without lateness."
        )
    times_ms = [event.event_time_ms for event in scenario.events]
    needed = smallest_bounds(own, times_ms, window.size_ms)

    class Waiting(WindowOperator):
        """Takes an event if the job waits for it, as the learner's function counts."""

        def process(self, key: str, timestamp_ms: int, value: int, event: int) -> None:
            self._latest_windows = []  # it is asked for each event
            self._waits = needed[event] <= scenario.bound_ms
            super().process(key, timestamp_ms, value, event)

        def _takers(self, windows: Any) -> Any:
            taken = windows if self._waits else []
            return [self._windows.get(window) or self._open(window, self._cleanup_ms(window)) for window in taken]

        def _turn_away(self, timestamp_ms: int, event: int) -> None:
            (self._out.late if self._side_output else self._out.dropped)(event)

    return simulate(scenario, parts=Parts(window_operator=Waiting))


def smallest_bounds(own: Any, times_ms: Sequence[int], size_ms: int) -> list[int]:
    """Ask a learner's function for the smallest bound of each event, and look at what comes."""
    got = several(called(own, "Your function", list(times_ms), size_ms), "Your function", "milliseconds")
    if len(got) != len(times_ms):
        raise AnswerError(
            f"The list has {len(got)} numbers for {len(times_ms)} events. Give one for each event, also where it is 0."
        )
    return [milliseconds(one, "Your function", "A bound") for one in got]


def _with_alignment(own: Any, scenario: Scenario) -> Trace:
    if scenario.partition_count > scenario.subtasks:
        raise AnswerError(f"In {scenario.name} a subtask reads several partitions; give a job in which each reads one.")
    return simulate(scenario, parts=Parts(alignment=lambda out, samples: _Alignment(own, out, samples)))


_PIECES: dict[str, Callable[[Any, Scenario], Trace]] = {
    "generator": _with_generator,
    "lateness": _with_lateness,
    "valve": _with_valve,
    "barriers": _with_barriers,
    "window start": _with_window_start,
    "smallest bounds": _with_smallest_bounds,
    "alignment": _with_alignment,
}


class _Generator:
    """A learner's watermark generator."""

    def __init__(self, maker: Any, bound_ms: int) -> None:
        self._own = made(maker, bound_ms, "on_event", "on_periodic_emit")
        self._has_events = False

    def on_event(self, timestamp_ms: int) -> None:
        """Pass an event on."""
        self._has_events = True
        called(self._own.on_event, "on_event", timestamp_ms)

    def on_periodic_emit(self) -> int:
        """Ask for the watermark, and look at what comes."""
        watermark_ms = called(self._own.on_periodic_emit, "on_periodic_emit")
        if not self._has_events and watermark_ms in (None, -math.inf):
            return MIN_MS
        if watermark_ms is None or watermark_ms is ...:
            raise AnswerError("on_periodic_emit gives no watermark so far. Let it return one, in milliseconds.")
        return milliseconds(watermark_ms, "on_periodic_emit")


class _Grid:
    """Tumbling or sliding windows that start where a learner's function says."""

    def __init__(self, own: Any, window: Window) -> None:
        self._own, self._window = own, window

    def assign(self, timestamp_ms: int) -> list[AnyWindow]:
        """Give the windows of a time, the one that starts last first."""
        size_ms = self._window.size_ms
        slide_ms = self._window.slide_ms or size_ms
        start_ms = called(self._own, "start", timestamp_ms, self._window.offset_ms, slide_ms)
        if start_ms is None or start_ms is ...:
            raise AnswerError("start gives nothing so far. Let it return the start of the window, in milliseconds.")
        first_ms = milliseconds(start_ms, "start", "A start")
        if self._window.type == "tumbling":
            return [TimeWindow(first_ms, first_ms + size_ms)]
        # A start that is far off would give windows without end.
        starts = range(first_ms, timestamp_ms - size_ms, -slide_ms)[: size_ms // slide_ms + 1]
        return [TimeWindow(ms, ms + size_ms) for ms in starts]


class _Nowhere:
    """Takes what the engine's own valve would let through; the learner's decides."""

    def watermark(self, watermark_ms: int) -> None:
        """Take no notice."""

    def idle(self) -> None:
        """Take no notice."""

    def active(self) -> None:
        """Take no notice."""


class _Valve(StatusWatermarkValve):
    """A learner's valve. The engine's runs beside it, for what the picture says of each channel."""

    def __init__(self, maker: Any, channels: int, out: Downstream) -> None:
        super().__init__(channels, _Nowhere())
        self._own, self._to = made(maker, channels, "on_watermark"), out
        self._sent_ms = MIN_MS

    def watermark(self, channel: int, watermark_ms: int) -> None:
        """Ask the learner's valve about a watermark."""
        super().watermark(channel, watermark_ms)
        self._send("on_watermark", channel, watermark_ms)

    def idle(self, channel: int) -> None:
        """Ask the learner's valve about an idle channel."""
        super().idle(channel)
        self._send("on_idle", channel)
        if self.is_idle:
            self._to.idle()

    def active(self, channel: int) -> None:
        """Tell the learner's valve that a channel is active again."""
        was_idle = self.is_idle
        super().active(channel)
        if was_idle:
            self._to.active()
        self._send("on_active", channel)

    def _send(self, name: str, *arguments: int) -> None:
        method = getattr(self._own, name, None)
        if not callable(method):
            raise AnswerError(f"The class has no method {name}.")
        answer = called(method, name, *arguments)
        if answer is None:
            return
        if answer is ...:
            raise AnswerError(f"{name} gives no watermark so far. Let it return one in milliseconds, or None.")
        watermark_ms = milliseconds(answer, name)
        if watermark_ms < self._sent_ms:
            before, now = time_text(self._sent_ms), time_text(watermark_ms) if watermark_ms > MIN_MS else "MIN"
            raise AnswerError(f"{name} gives {now} after {before}. A watermark never goes back; return None then.")
        if watermark_ms > self._sent_ms:
            self._sent_ms = watermark_ms
            self._to.watermark(watermark_ms)


class _Barriers:
    """A learner's barrier handler."""

    next_time_ms: int | None = None

    def __init__(self, maker: Any, channels: int, out: BarrierOutput) -> None:
        self._own, self._out = made(maker, channels, "on_barrier"), out
        self._blocked: set[int] = set()
        self._current = self._cancelled = 0

    def process_barrier(self, barrier: CheckpointBarrier, channel: int) -> None:
        """Do what the learner's handler says about a barrier."""
        if barrier.id <= self._cancelled:
            return
        answer = called(self._own.on_barrier, "on_barrier", channel, barrier.id)
        if answer not in ("block", "snapshot", "pass"):
            raise AnswerError(f'on_barrier gives {answer!r}. Let it return "block", "snapshot" or "pass".')
        if answer == "pass":
            return
        if barrier.id > self._current:
            self._resume()  # an older checkpoint that is still waited for is given up
            self._current = barrier.id
        self._blocked.add(channel)  # for the moment of the snapshot, too, as in Flink
        self._out.block_consumption(channel)
        if answer == "snapshot":
            self._out.trigger_checkpoint(barrier)
            self._resume()

    def process_cancellation(self, checkpoint_id: int, channel: int) -> None:
        """Let all channels go on; what is still to come of this checkpoint is passed over."""
        self._cancelled = max(self._cancelled, checkpoint_id)
        self._resume()

    def process_announcement(self, barrier: CheckpointBarrier, channel: int) -> None:
        """Take no notice: such barriers never overtake here."""

    def process_end(self, channel: int) -> None:
        """Take no notice."""

    def advance(self, now_ms: int) -> None:
        """Take no notice: there is no timeout."""

    def _resume(self) -> None:
        for channel in sorted(self._blocked):
            self._out.resume_consumption(channel)
        self._blocked.clear()


class _Alignment(SourceOperatorAlignment):
    """A learner's rule; what to report stays the engine's."""

    def __init__(self, maker: Any, out: AlignmentOutput, samples: int) -> None:
        super().__init__(out, samples)
        self._own = made(maker, samples, "on_sample", "must_wait")

    def sample(self) -> int | None:
        """Tell the learner's rule the watermark of now."""
        if not self._is_finished:
            called(self._own.on_sample, "on_sample", self._sampler.latest_ms)
        return super().sample()

    def split_watermark(self, split: str, watermark_ms: int) -> None:
        """Take no notice: a single partition waits when its subtask does."""

    def _is_too_far(self) -> bool:
        return truth(called(self._own.must_wait, "must_wait", self._max_allowed_ms), "must_wait")
