"""The window operator: takes events and watermarks, keeps windows, fires them, and judges what is late."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from wmviz.engine.aggregates import Aggregate
from wmviz.engine.local_time import LocalWindows
from wmviz.engine.longs import wrap
from wmviz.engine.triggers import Trigger
from wmviz.engine.windows import GlobalWindows, WindowAssigner
from wmviz.times import MAX_MS, MIN_MS
from wmviz.window import AnyWindow


class Pane:
    """The state of one window of one key.

    Attributes
    ----------
    key, window, max_timestamp_ms
        Whose it is, and the last millisecond of the window.
    events
        The elements in it, in order of arrival; only ever appended to, and replaced by a new list when purged.
    accumulator
        The running aggregate; meaningless while `events` is empty.
    count
        The state of a count trigger.
    index
        For those who are told of the pane: the number that they give to its key and window, or -1.
    """

    __slots__ = ("accumulator", "count", "events", "index", "key", "max_timestamp_ms", "window")

    def __init__(self, key: str, window: AnyWindow) -> None:
        self.key = key
        self.window = window
        self.max_timestamp_ms = window.max_timestamp_ms
        self.events: list[int] = []
        self.accumulator = 0
        self.count = 0
        self.index = -1


class _Panes:
    """Panes of one window. They share their times, so one timer stands for the timers of all its keys.

    While it waits, no element can make the window fire; unless `is_waiting`, the trigger is asked for each.
    """

    __slots__ = ("by_key", "cleanup_ms", "is_waiting", "timer_ms", "timers_ms", "window")

    def __init__(self, window: AnyWindow, timer_ms: int | None, cleanup_ms: int, timers_ms: Collection[int]) -> None:
        self.is_waiting = timer_ms in timers_ms
        self.window = window
        self.timer_ms = timer_ms
        self.cleanup_ms = cleanup_ms
        self.timers_ms = frozenset(timers_ms)  # those that are yet to come
        self.by_key: dict[str, Pane] = {}


class PaneSnapshot(NamedTuple):
    """What a checkpoint has of one window of one key.

    Attributes
    ----------
    key, window
        Whose it is.
    timers_ms
        The times of its timers, as they were registered: another operator may have another lateness.
    is_open
        Whether the window still takes elements; otherwise only timers are left, which nobody has deleted.
    events, length
        Its events as a list, and how many of it belong to the snapshot: such lists only grow.
    accumulator, counted
        The running aggregate, and the state of a count trigger.
    """

    key: str
    window: AnyWindow
    timers_ms: frozenset[int]
    is_open: bool
    events: list[int]
    length: int
    accumulator: int
    counted: int

    def fill(self, pane: Pane) -> None:
        """Put what was in the window into a new pane of it."""
        pane.events, pane.accumulator, pane.count = self.events[: self.length], self.accumulator, self.counted


class WindowOutput(Protocol):
    """What the operator tells about each element and each firing, in order."""

    added: Callable[[Pane, int], None] | None
    """Is told that a window has taken in an event; None if nobody wants to know."""

    def fired(self, pane: Pane, value: int) -> None:
        """Tell a result; the pane still has its content."""

    def purged(self, pane: Pane) -> None:
        """Tell that a firing has emptied the pane."""

    def cleaned(self, pane: Pane) -> None:
        """Tell that the state is deleted."""

    def missed(self, event: int, key: str, windows: Sequence[AnyWindow]) -> None:
        """Tell that an event came too late for some of its windows; the others have it, so nothing reports it."""

    def late(self, event: int) -> None:
        """Tell that an event goes to the late side output."""

    def dropped(self, event: int) -> None:
        """Tell that an event is dropped and counted (numLateRecordsDropped)."""

    def no_window(self, event: int) -> None:
        """Tell that an event belongs to no window and vanishes uncounted."""

    def watermark(self, watermark_ms: int) -> None:
        """Tell the watermark downstream, after the results that it caused."""


class WindowOperator:
    """Flink's WindowOperator for windows that do not merge.

    Parameters
    ----------
    assigner, trigger, aggregate
        Which windows, when they fire, and what they give.
    out
        Is told what happens.
    purging
        Whether each firing empties the window (PurgingTrigger).
    lateness_ms
        Allowed lateness: state is kept this much longer.
    side_output
        Whether late events go to a side output; otherwise they are dropped and counted.
    event_time
        Whether windows go by the watermark; otherwise by `advance_processing_time`, and nothing is ever late.
        In the global window nothing is late either: it has no end.

    Raises
    ------
    ValueError
        If the lateness is negative.

    Notes
    -----
    Flink 2.3.0: WindowOperator.processElement, onEventTime, onProcessingTime, isCleanupTime; InternalTimerServiceImpl's
    tryAdvanceWatermark. A checkpoint holds timers with their times. So an operator that starts with the state of one
    that had another lateness deletes that state only once an element has come, which registers a timer of its own: the
    old one is at a time that is no cleanup time any more.
    """

    def __init__(
        self,
        assigner: WindowAssigner,
        trigger: Trigger,
        aggregate: Aggregate,
        out: WindowOutput,
        *,
        purging: bool = False,
        lateness_ms: int = 0,
        side_output: bool = False,
        event_time: bool = True,
    ) -> None:
        if lateness_ms < 0:
            raise ValueError(f"lateness is {lateness_ms} ms; the allowed lateness cannot be negative")
        self.watermark_ms = MIN_MS
        self._assigner, self._trigger, self._aggregate, self._out = assigner, trigger, aggregate, out
        # Looked up once: these are called for every element.
        self._assign, self._start, self._add_value = assigner.assign, aggregate.start, aggregate.add
        self._added, self._on_element = out.added, trigger.on_element
        self._purging, self._side_output, self._event_time = purging, side_output, event_time
        self._judges_lateness = event_time and not isinstance(assigner, GlobalWindows)
        self._leaves_no_gaps = isinstance(assigner, LocalWindows)
        self._lateness_ms = lateness_ms if self._judges_lateness else 0
        self._windows: dict[AnyWindow, _Panes] = {}
        # An assigner may give the same list for the next element: then its panes need no looking up.
        self._latest_windows: list[AnyWindow] = []
        self._latest_panes: list[_Panes] = []
        # Restored panes that lack a timer which the next element registers; each is alone in its `_Panes`.
        self._dormant: dict[tuple[str, AnyWindow], _Panes] = {}
        self._stale_ms: dict[tuple[str, AnyWindow], frozenset[int]] = {}  # timers that do nothing but are stored again
        self._timers: list[tuple[int, int, Any]] = []  # time, serial number, whose timer it is
        self._serial = 0

    def process(self, key: str, timestamp_ms: int, value: int, event: int) -> None:
        """Take in one element.

        Parameters
        ----------
        key, value
            The element's key and value.
        timestamp_ms
            Its timestamp; for processing-time windows the machine's time now.
        event
            A number that names it in the output.
        """
        windows = self._assign(timestamp_ms)
        if windows is not self._latest_windows:
            self._latest_windows, self._latest_panes = windows, self._takers(windows)
        added = self._added
        for panes in self._latest_panes:
            pane = panes.by_key.get(key)
            if pane is None:
                pane = panes.by_key[key] = (self._dormant and self._awake(key, panes.window)) or Pane(key, panes.window)
            events = pane.events
            pane.accumulator = self._add_value(pane.accumulator, value) if events else self._start(value)
            events.append(event)
            if added is not None:
                added(pane, event)
            if not panes.is_waiting and self._on_element(pane, self.watermark_ms):
                self._fire(pane)
        if not self._latest_panes:
            self._turn_away(timestamp_ms, event)
        elif len(self._latest_panes) < len(windows):
            taken = {panes.window for panes in self._latest_panes}
            self._out.missed(event, key, [window for window in windows if window not in taken])

    def _takers(self, windows: list[AnyWindow]) -> list[_Panes]:
        """Give the panes of those windows that still take elements, opening them where need be."""
        live = []
        for window in windows:
            panes = self._windows.get(window)
            cleanup_ms = panes.cleanup_ms if panes else self._cleanup_ms(window)
            if not (self._judges_lateness and cleanup_ms <= self.watermark_ms):
                live.append(panes or self._open(window, cleanup_ms))
        return live

    def advance(self, watermark_ms: int) -> None:
        """Take in a watermark: it holds first, then due timers run, smallest time first, then it goes downstream."""
        self.watermark_ms = watermark_ms
        if self._event_time and self._timers and self._timers[0][0] <= watermark_ms:
            self._run_timers(watermark_ms)
        if watermark_ms == MAX_MS:
            self._latest_windows = []  # windows whose cleanup time is MAX keep their state, but are late now
        self._out.watermark(watermark_ms)

    def advance_processing_time(self, now_ms: int) -> None:
        """Let the machine's clock reach a time: a processing-time timer for t runs at t + 1."""
        if not self._event_time:
            self._run_timers(now_ms - 1)

    def next_processing_time_ms(self) -> int | None:
        """Give the next time at which `advance_processing_time` has something to do, or None."""
        return None if self._event_time or not self._timers else self._timers[0][0] + 1

    def snapshot(self) -> list[PaneSnapshot]:
        """Give what a checkpoint holds: content, states of triggers and timers, but not the watermark."""
        return self._stored(
            (pane, panes.timers_ms)
            for panes in (*self._windows.values(), *self._dormant.values())
            for pane in panes.by_key.values()
        )

    def restore(self, snapshot: Sequence[PaneSnapshot]) -> None:
        """Put what a checkpoint holds into this new operator; its watermark is MIN, whatever it was.

        A pane has its timers again, and no others: one that has fired fires again only if it gets an element.
        """
        for stored in snapshot:
            key, window = stored.key, stored.window
            timer_ms, cleanup_ms = self._trigger.timer_ms(window), self._cleanup_ms(window)
            own_ms = timers_of(timer_ms, cleanup_ms)
            self._keep_stale(stored, own_ms)
            if not stored.is_open:
                continue
            if own_ms <= stored.timers_ms:
                panes = self._windows.get(window) or self._open(window, cleanup_ms)
            else:
                panes = _Panes(window, timer_ms, cleanup_ms, own_ms & stored.timers_ms)
                self._dormant[key, window] = panes
                self._register_timers(panes)
            pane = panes.by_key[key] = Pane(key, window)
            stored.fill(pane)

    def _keep_stale(self, stored: PaneSnapshot, own_ms: frozenset[int]) -> None:
        """Keep restored timers that are none of this operator: they go into its own checkpoints."""
        if stale_ms := stored.timers_ms - own_ms if stored.is_open else stored.timers_ms:
            self._stale_ms[stored.key, stored.window] = stale_ms

    def _stored(self, panes: Iterable[tuple[Pane, frozenset[int]]]) -> list[PaneSnapshot]:
        """Give the snapshots of panes with timers, and of timers without a pane."""
        stale = {at: frozenset(t for t in times_ms if t > self.watermark_ms) for at, times_ms in self._stale_ms.items()}
        stored = []
        for p, own_ms in panes:
            times_ms = own_ms | stale.pop((p.key, p.window), frozenset()) if stale else own_ms
            # Lists of events only grow, so their lengths are enough.
            found = PaneSnapshot(p.key, p.window, times_ms, True, p.events, len(p.events), p.accumulator, p.count)
            stored.append(found)
        return stored + [PaneSnapshot(*at, times_ms, False, [], 0, 0, 0) for at, times_ms in stale.items() if times_ms]

    def _awake(self, key: str, window: AnyWindow) -> Pane | None:
        """Take out a restored pane that now gets an element."""
        dormant = self._dormant.pop((key, window), None)
        return dormant.by_key.pop(key) if dormant else None

    def _cleanup_ms(self, window: AnyWindow) -> int:
        """Give the time at which the window's state goes."""
        return window.cleanup_ms(self._lateness_ms)

    def _open(self, window: AnyWindow, cleanup_ms: int) -> _Panes:
        timer_ms = self._trigger.timer_ms(window)
        if self._event_time and timer_ms is not None and timer_ms <= self.watermark_ms:
            timer_ms = None  # opened behind the watermark: every element fires at once
        panes = self._windows[window] = _Panes(window, timer_ms, cleanup_ms, timers_of(timer_ms, cleanup_ms))
        self._register_timers(panes)
        return panes

    def _register_timers(self, panes: _Panes) -> None:
        for time_ms in panes.timers_ms:
            self._serial += 1
            heapq.heappush(self._timers, (time_ms, self._serial, panes))

    def _turn_away(self, timestamp_ms: int, event: int) -> None:
        """Deal with an element that no window took: late, unless it was ahead of the watermark in a gap."""
        late = self._leaves_no_gaps or wrap(timestamp_ms + self._lateness_ms) <= self.watermark_ms
        if not (self._judges_lateness and late):
            self._out.no_window(event)
        elif self._side_output:
            self._out.late(event)
        else:
            self._out.dropped(event)

    def _run_timers(self, up_to_ms: int) -> None:
        timers = self._timers
        while timers and timers[0][0] <= up_to_ms:
            time_ms, _, panes = heapq.heappop(timers)
            fires, cleans = time_ms == panes.timer_ms, time_ms == panes.cleanup_ms
            cleans = cleans and (time_ms < MAX_MS or self._judges_lateness)  # the global window stays
            for pane in panes.by_key.values():
                if fires and pane.events:
                    self._fire(pane)
                if cleans:
                    self._out.cleaned(pane)
            panes.timers_ms -= {time_ms}
            panes.is_waiting = panes.is_waiting and not fires
            if cleans:
                self._forget(panes)

    def _forget(self, panes: _Panes) -> None:
        self._latest_windows = []
        if self._windows.get(panes.window) is panes:
            del self._windows[panes.window]
        else:
            for key in panes.by_key:
                del self._dormant[key, panes.window]
        panes.by_key = {}  # its trigger's timer goes, too, if it is yet to come (in local time it may be)

    def _fire(self, pane: Pane) -> None:
        result = self._aggregate.result
        self._out.fired(pane, pane.accumulator if result is None else result(pane.accumulator, len(pane.events)))
        if self._purging:
            pane.events = []
            self._out.purged(pane)


def timers_of(timer_ms: int | None, cleanup_ms: int) -> frozenset[int]:
    """Give the timers that an element registers: the trigger's and that of the cleanup, unless it is at MAX."""
    times_ms = (timer_ms, cleanup_ms if cleanup_ms < MAX_MS else None)
    return frozenset(time_ms for time_ms in times_ms if time_ms is not None)
