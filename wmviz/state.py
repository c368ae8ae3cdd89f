"""Everything that stands at one step of a trace: clocks, open windows, the sink's rows, and the ledger."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from wmviz.times import MIN_MS
from wmviz.trace import Kind, Status, Trace
from wmviz.window import AnyWindow

_COUNTED_AS: dict[int, str] = {
    Kind.ARRIVED: "arrived",
    Kind.LATE: "side_output",
    Kind.DROPPED: "dropped",
    Kind.NO_WINDOW: "in_no_window",
    Kind.MISSED: "missed",
}
_FATE_COUNTS = ("counted", "side_output", "dropped", "in_no_window")


class OpenWindow(NamedTuple):
    """A window that has state at some step: its running result, the events in it, and how often it fired."""

    key: str
    window: AnyWindow
    value: int
    event_ids: tuple[str, ...]
    firings: int


@dataclass(frozen=True)
class Ledger:
    """Where every arrived event is at some step; `balances` says that none is lost or counted twice.

    Attributes
    ----------
    arrived, in_flight, counted, side_output, dropped, in_no_window
        Numbers of events; the first is the sum of the others.
    accepted, missed
        Pairs of an event and one of its windows: taken in, or silently passed over because that window was gone.
    """

    arrived: int
    in_flight: int
    counted: int
    side_output: int
    dropped: int
    in_no_window: int
    accepted: int
    missed: int
    count_seen: Callable[[], Mapping[int, int]] = field(repr=False, compare=False)

    @property
    def seen(self) -> Mapping[int, int]:
        """How often a reader of the sink sees each arrived event counted: times → number of events."""
        return self.count_seen()

    @property
    def balances(self) -> bool:
        """Whether every event is in exactly one place."""
        fates = self.in_flight + self.counted + self.side_output + self.dropped + self.in_no_window
        return self.arrived == fates and self.in_flight >= 0


@dataclass(frozen=True)
class State:
    """Everything that stands at one step: clocks, open windows, the sink's rows, and the ledger.

    Attributes
    ----------
    watermarks, statuses
        By name: of tasks, partitions (``"partition 0"``) and channels (``"source[0] → window"``).
    """

    step: int
    at_ms: int
    watermarks: Mapping[str, int]
    statuses: Mapping[str, Status]
    windows: tuple[OpenWindow, ...]
    sink: tuple[tuple[str, AnyWindow, int], ...]
    ledger: Ledger


class States:
    """Answers what stood at any step of a trace; what it needs of the whole log is built once, when first asked for.

    Parameters
    ----------
    trace
        A trace that holds every kind of row.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def at(self, step: int) -> State:
        """Give the state after a step; -1 is the state before the first."""
        trace = self._trace
        watermarks_ms = {name: trace.value_at(("clock", index), step) for index, name in enumerate(trace.clocks)}
        statuses = {name: trace.value_at(("status", index), step) for index, name in enumerate(trace.clocks)}
        return State(
            step=step,
            at_ms=trace.step_at_ms[step] if step >= 0 else trace.scenario.grid_start_ms,
            watermarks={name: MIN_MS if ms is None else ms for name, ms in watermarks_ms.items()},
            statuses={name: Status(status or Status.ACTIVE) for name, status in statuses.items()},
            windows=tuple(self._open_window(index, step) for index in self._alive(step)),
            sink=tuple(self._sink(step)),
            ledger=self.ledger(step),
        )

    def ledger(self, step: int) -> Ledger:
        """Give the ledger after a step."""
        end = bisect_right(self._trace.step, step)
        counts = {name: column[end] for name, column in self._running_counts.items()}
        return Ledger(
            **counts,
            in_flight=counts["arrived"] - sum(counts[name] for name in _FATE_COUNTS),
            count_seen=lambda: self._seen(end, counts["arrived"]),
        )

    @cached_property
    def _running_counts(self) -> dict[str, array[int]]:
        """How many events and pairs there are before each row, by the names of `Ledger`."""
        trace = self._trace
        columns = {name: array("i", [0]) for name in ("arrived", *_FATE_COUNTS, "accepted", "missed")}
        now = dict.fromkeys(columns, 0)
        counted: set[int] = set()
        for row, kind in enumerate(trace.kind):
            if kind == Kind.ADDED:
                now["accepted"] += 1
                counted.add(trace.event_of(row))
                now["counted"] = len(counted)
            elif kind in _COUNTED_AS:
                now[_COUNTED_AS[kind]] += 1
            for name, column in columns.items():
                column.append(now[name])
        return columns

    def _seen(self, end: int, arrived: int) -> dict[int, int]:
        """How often the reader sees each event: in the last firing of a row, or in every one of an append sink."""
        trace = self._trace
        firings = [row for row in trace.contents if row < end]
        if trace.scenario.sink == "upsert":
            firings = list({trace.subject[row]: row for row in firings}.values())
        times = Counter(event for row in firings for event in trace.firing_events(row))
        counts = Counter(times.values())
        counts[0] = arrived - len(times)
        return {number: counts[number] for number in sorted(counts) if counts[number]}

    @cached_property
    def _lives(self) -> list[tuple[int, int, int]]:
        """(first step, end step, window index) of every stretch in which a window has state, by first step."""
        trace = self._trace
        lives: list[tuple[int, int, int]] = []
        born: dict[int, int] = {}
        for row, kind in enumerate(trace.kind):
            if kind == Kind.ADDED:
                born.setdefault(trace.subject[row], trace.step[row])
            elif kind in (Kind.CLEANED, Kind.MERGED):
                if kind == Kind.MERGED:
                    born.setdefault(trace.subject[row], trace.step[row])
                gone = trace.value[row] if kind == Kind.MERGED else trace.subject[row]
                lives.append((born.pop(gone), trace.step[row], gone))
        lives += [(first, trace.steps, window) for window, first in born.items()]
        return sorted(lives)

    @cached_property
    def _latest_ends(self) -> list[int]:
        """For each of `_lives`, the latest end among it and all before: tells where a search back may stop."""
        return list(accumulate((end for _, end, _ in self._lives), max))

    def _alive(self, step: int) -> list[int]:
        alive = []
        for position in range(bisect_right(self._lives, step, key=itemgetter(0)) - 1, -1, -1):
            if self._latest_ends[position] <= step:
                break
            _, end, window = self._lives[position]
            if end > step:
                alive.append(window)
        return sorted(alive, key=self._order)

    def _order(self, index: int) -> tuple[int, str]:
        key, window = self._trace.windows[index]
        return (MIN_MS if window.start_ms is None else window.start_ms, key)

    def _open_window(self, index: int, step: int) -> OpenWindow:
        trace = self._trace
        rows = trace.rows_of["window", index]
        rows = rows[: bisect_right(rows, step, key=trace.step.__getitem__)]
        content = self._content(rows)
        last_added = next((row for row in reversed(rows) if trace.kind[row] == Kind.ADDED), None)
        key, window = trace.windows[index]
        return OpenWindow(
            key,
            window,
            trace.value[last_added] if content and last_added is not None else 0,
            trace.event_ids(content),
            sum(1 for row in rows if trace.kind[row] == Kind.FIRED),
        )

    def _content(self, rows: list[int]) -> list[int]:
        """Give the events in a window after some of its rows; sessions bring theirs along when they merge."""
        trace = self._trace
        content: list[int] = []
        for row in rows:
            kind = trace.kind[row]
            if kind == Kind.ADDED:
                content.append(trace.event_of(row))
            elif kind == Kind.MERGED:
                members = trace.rows_of["window", trace.value[row]]
                content += self._content(members[: bisect_right(members, row)])
            elif kind != Kind.FIRED:  # purged or cleaned
                content = []
        return content

    @cached_property
    def _sink_subjects(self) -> list[int]:
        return sorted((index for kind, index in self._trace.rows_of if kind == "sink"), key=self._order)

    def _sink(self, step: int) -> Iterator[tuple[str, AnyWindow, int]]:
        """Give what a reader of the sink finds: one row per key and window, or one per firing of an append sink."""
        trace = self._trace
        for index in self._sink_subjects:
            rows = trace.rows_of["sink", index]
            rows = rows[: bisect_right(rows, step, key=trace.step.__getitem__)]
            for row in rows if trace.scenario.sink == "append" else rows[-1:]:
                yield (*trace.windows[index], trace.value[row])
