"""Windows that merge: sessions."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Sequence
from typing import Protocol, cast

from wmviz.engine.aggregates import Aggregate
from wmviz.engine.longs import wrap
from wmviz.engine.triggers import Trigger
from wmviz.engine.window_operator import Pane, PaneSnapshot, WindowOperator, WindowOutput, timers_of
from wmviz.engine.windows import WindowAssigner
from wmviz.times import MAX_MS
from wmviz.window import AnyWindow, TimeWindow


class MergedWindowLateError(RuntimeError):
    """A window merged into one whose state should be gone; the job fails, as on Flink.

    Two things lead here: a lateness so long that maxTimestamp + lateness overflows, and one that is shorter than it was
    before a restore, because a session of before may still be there and meet a late element.
    """

    def __init__(self, window: TimeWindow, lateness_ms: int, watermark_ms: int) -> None:
        overflows = wrap(window.max_timestamp_ms + lateness_ms) < window.max_timestamp_ms
        instead = "a shorter lateness" if overflows else "a lateness not shorter than it was before the restore"
        super().__init__(
            f"[{window.start_ms}, {window.end_ms}) arose by merging but is late already: its last millisecond plus "
            f"lateness {lateness_ms} is not above the watermark {watermark_ms}; write {instead}"
        )


class Session(Pane):
    """The state of one live session of one key; its window grows as sessions merge into it.

    Attributes
    ----------
    timer_ms
        The trigger's timer; None if there is none, or it has run.
    cleanup_ms
        When the state is deleted.
    alarm_ms
        The time in the queue that stands for both; it may be too early, for a session that has grown since. None if
        there is none, or the session is no more.
    """

    __slots__ = ("alarm_ms", "cleanup_ms", "timer_ms")

    window: TimeWindow

    def __init__(self, key: str, window: TimeWindow) -> None:
        super().__init__(key, window)
        self.timer_ms: int | None = None
        self.cleanup_ms = MAX_MS
        self.alarm_ms: int | None = None


class MergingWindowSet:
    """The live sessions of one key by their start; no two of them touch.

    Notes
    -----
    Flink 2.3.0: MergingWindowSet, TimeWindow.mergeWindows. Flink maps each live window to the window that its state
    is stored under; here the `Session` is that state, and carries the window that it has grown to.
    """

    def __init__(self) -> None:
        self.sessions: list[Session] = []

    def touching(self, window: TimeWindow) -> tuple[slice, TimeWindow]:
        """Give the place of the sessions that a new window merges with, and the window that covers them all.

        Windows that only touch merge too. Without any, the place is where the new one belongs.
        """
        sessions = self.sessions
        if sessions and sessions[-1].window.start_ms <= window.start_ms:
            first = len(sessions)  # mostly it is the newest session that grows
        else:
            first = bisect_right(sessions, window.start_ms, key=_start_ms)
        if first and _intersect(sessions[first - 1].window, window):
            first -= 1
        last, cover = first, window
        while last < len(sessions) and _intersect(cover, other := sessions[last].window):
            cover = TimeWindow(min(cover.start_ms, other.start_ms), max(cover.end_ms, other.end_ms))
            last += 1
        return slice(first, last), cover


def _start_ms(session: Session) -> int:
    return session.window.start_ms


def _intersect(one: TimeWindow, other: TimeWindow) -> bool:
    # A window whose end wrapped around the 64-bit range does not even intersect itself, but it has one state.
    return (one.start_ms <= other.end_ms and one.end_ms >= other.start_ms) or one == other


class MergingWindowOutput(WindowOutput, Protocol):
    """What the operator tells when windows merge."""

    def merged(self, pane: Pane, windows: Sequence[AnyWindow]) -> None:
        """Tell that live windows, without the new element's own, have become the window of the pane."""


class MergingWindowOperator(WindowOperator):
    """Flink's WindowOperator for windows that merge.

    An element is judged late after merging, by the window that it came into. A session that has fired and grows again
    does not fire at once, but at its new end, with all its elements.

    Notes
    -----
    Flink 2.3.0: WindowOperator.processElement with a MergingWindowAssigner, MergingWindowSet; the onMerge of the
    triggers: counts add up, and a timer for the merged window takes the place of those of its members.

    Not the same: restored with a shorter lateness, a session may be there that should be gone. A late element within it
    takes it out of the merge set, but on Flink its content stays, and a session that begins with the same window, after
    another restore, has it. Here it is gone.
    """

    def __init__(
        self,
        assigner: WindowAssigner,
        trigger: Trigger,
        aggregate: Aggregate,
        out: MergingWindowOutput,
        *,
        purging: bool = False,
        lateness_ms: int = 0,
        side_output: bool = False,
        event_time: bool = True,
    ) -> None:
        super().__init__(
            assigner,
            trigger,
            aggregate,
            out,
            purging=purging,
            lateness_ms=lateness_ms,
            side_output=side_output,
            event_time=event_time,
        )
        self._merging_out = out
        self._live: dict[str, MergingWindowSet] = {}

    def process(self, key: str, timestamp_ms: int, value: int, event: int) -> None:
        """Take in one element; the parameters are those of `WindowOperator.process`.

        Raises
        ------
        MergedWindowLateError
            If windows merge into one that is late; the class says how that can be.
        """
        (window,) = cast("list[TimeWindow]", self._assigner.assign(timestamp_ms))
        live = self._live.get(key) or MergingWindowSet()
        place, cover = live.touching(window)
        members = live.sessions[place]
        if members and (len(members) > 1 or members[0].window != cover):
            self._merge(members, cover)
        elif self._judges_lateness and self._cleanup_ms(cover) <= self.watermark_ms:
            del live.sessions[place]
            self._turn_away(timestamp_ms, event)
            return
        elif not members:
            members = [Session(key, cover)]
            self._live[key] = live
        live.sessions[place] = members[:1]
        self._take_in(members[0], value, event)

    def snapshot(self) -> list[PaneSnapshot]:
        """Give what a checkpoint holds: each session with its timers, and so the merge sets of the keys."""
        return self._stored(
            (session, timers_of(session.timer_ms, session.cleanup_ms))
            for live in self._live.values()
            for session in live.sessions
        )

    def restore(self, snapshot: Sequence[PaneSnapshot]) -> None:
        """Put what a checkpoint holds into this new operator; its watermark is MIN, whatever it was."""
        for stored in snapshot:
            key, window = stored.key, cast("TimeWindow", stored.window)
            timer_ms, cleanup_ms = self._trigger.timer_ms(window), self._cleanup_ms(window)
            self._keep_stale(stored, timers_of(timer_ms, cleanup_ms))
            if stored.is_open:
                session = Session(key, window)
                stored.fill(session)
                session.timer_ms = timer_ms if timer_ms in stored.timers_ms else None
                session.cleanup_ms = cleanup_ms if cleanup_ms in stored.timers_ms else MAX_MS
                self._live.setdefault(key, MergingWindowSet()).sessions.append(session)
                self._set_alarm(session)

    def next_processing_time_ms(self) -> int | None:
        """Give the next time at which `advance_processing_time` has something to do, or None."""
        timers = self._timers
        while timers and not self._event_time and timers[0][0] != _due_ms(timers[0][2]):
            self._run_alarm()
        return super().next_processing_time_ms()

    def _merge(self, members: list[Session], cover: TimeWindow) -> None:
        """Let the first session take in the others and grow to a window; all their timers are deleted."""
        if self._judges_lateness and wrap(cover.max_timestamp_ms + self._lateness_ms) <= self.watermark_ms:
            raise MergedWindowLateError(cover, self._lateness_ms, self.watermark_ms)
        kept, *others = members
        windows = [session.window for session in members]
        for other in others:
            if other.events:
                merge = self._aggregate.merge
                kept.accumulator = merge(kept.accumulator, other.accumulator) if kept.events else other.accumulator
                kept.events.extend(other.events)
            kept.count += other.count
            other.alarm_ms = None
        kept.window, kept.max_timestamp_ms, kept.timer_ms = cover, cover.max_timestamp_ms, None
        kept.index = -1
        self._merging_out.merged(kept, windows)

    def _take_in(self, session: Session, value: int, event: int) -> None:
        aggregate = self._aggregate
        session.accumulator = aggregate.add(session.accumulator, value) if session.events else aggregate.start(value)
        session.events.append(event)
        if self._added is not None:
            self._added(session, event)
        if session.timer_ms is None:
            self._register_timer(session)
        session.cleanup_ms = self._cleanup_ms(session.window)
        self._set_alarm(session)
        if self._trigger.on_element(session, self.watermark_ms):
            self._fire(session)

    def _register_timer(self, session: Session) -> None:
        """Register the trigger's timer, unless the watermark has passed it: then every element fires at once."""
        time_ms = self._trigger.timer_ms(session.window)
        if time_ms is not None and not (self._event_time and time_ms <= self.watermark_ms):
            session.timer_ms = time_ms

    def _set_alarm(self, session: Session) -> None:
        """Queue the next time of a session, unless an earlier one is queued: when it comes, this is done again."""
        due_ms = _due_ms(session)
        if due_ms is not None and (session.alarm_ms is None or due_ms < session.alarm_ms):
            session.alarm_ms = due_ms
            self._serial += 1
            heapq.heappush(self._timers, (due_ms, self._serial, session))

    def _run_timers(self, up_to_ms: int) -> None:
        while self._timers and self._timers[0][0] <= up_to_ms:
            self._run_alarm()

    def _run_alarm(self) -> None:
        """Take the first time of the queue and do what its session has to do then, if anything."""
        time_ms, _, session = heapq.heappop(self._timers)
        if time_ms != session.alarm_ms:
            return
        session.alarm_ms = None
        if time_ms == session.timer_ms:
            session.timer_ms = None
            self._fire(session)  # never empty: the timer came with an element
        if time_ms == session.cleanup_ms:
            self._clean(session)
        else:
            self._set_alarm(session)

    def _clean(self, session: Session) -> None:
        sessions = self._live[session.key].sessions
        sessions.remove(session)
        if not sessions:
            del self._live[session.key]
        self._out.cleaned(session)


def _due_ms(session: Session) -> int | None:
    """Give the next time at which a session has something to do; a cleanup at MAX has no timer, as on Flink."""
    if session.timer_ms is not None:
        return session.timer_ms
    return session.cleanup_ms if session.cleanup_ms < MAX_MS else None
