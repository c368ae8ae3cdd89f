"""The job as boxes and channels: what each shows from step to step."""

from __future__ import annotations

from typing import Any

from wmviz.stage.clocks import Clocks, Times
from wmviz.stage.running import Running
from wmviz.trace import Kind, Trace

MOST_BOXES = 8
"""Subtasks of a kind that are drawn; the part says how many it leaves out."""
MOST_LANES = 16
"""Partitions that get a lane; the part says how many it leaves out."""


def lanes_of(trace: Trace, clocks: Clocks, origin_ms: int) -> list[dict[str, Any]]:
    """Give the lane of each partition.

    Returns
    -------
    list of dict
        ``name``; ``reader``, the subtask that reads it; ``clock``, the index of the clock that counts for it;
        ``reading``, of the one that watermark alignment lets wait; ``silent``, from when to when it delivers nothing.
    """
    scenario = trace.scenario
    index_of = {clock.name: index for index, clock in enumerate(clocks)}
    first = clocks[clocks.windows[0]].name
    lanes = []
    readers = [name for name in trace.places if name.startswith("source")]  # Flink's reports know of one
    for partition in range(min(scenario.partition_count, MOST_LANES)):
        reader = readers[partition % len(readers)]
        names = (f"partition {partition}", f"{reader} → {first}", reader)
        clock = next(index_of[name] for name in names if name in index_of)
        reading = index_of.get(f"partition {partition}", index_of[reader])
        silent = [
            [happening.at_ms - origin_ms, happening.until_ms - origin_ms]
            for happening in scenario.happenings
            if happening.what == "silence" and happening.partition == partition
            if happening.at_ms is not None and happening.until_ms is not None
        ]
        lane = {"name": f"partition {partition}", "reader": reader, "clock": clock, "reading": reading}
        lanes.append({**lane, "silent": silent})
    return lanes


def pipeline_of(trace: Trace, clocks: Clocks, times: Times) -> dict[str, Any]:
    """Draw up the job.

    Returns
    -------
    dict
        ``sources``, ``tasks`` and ``sink``: boxes with their counts. A box of a source lists the clocks of its
        partitions as ``inputs``, a box of a window task those of its channels. ``notes`` are lines that a box shows,
        ``channels`` what is in them. The rest is about the whole job; see `Running`.
    """
    sources = [index for index, clock in enumerate(clocks) if clock.role == "source"]
    counts, running = _Counts(trace), Running(trace)
    return {
        "sources": [
            {
                "clock": index,
                "inputs": clocks.inputs_of(index)[:MOST_BOXES],
                "counts": counts.of(index, "read"),
                "notes": running.notes.get(index, []),
            }
            for index in sources[:MOST_BOXES]
        ],
        "tasks": [
            {
                "clock": index,
                # A single channel has no clock of its own: it shows what its source sent.
                "inputs": (clocks.inputs_of(index) or sources)[:MOST_BOXES],
                "counts": counts.of(index, "open windows", "late"),
                "notes": running.notes.get(index, []),
                "channels": [
                    _channel(running, nth * len(sources) + source) for source in range(min(len(sources), MOST_BOXES))
                ],
            }
            for nth, index in enumerate(clocks.windows[:MOST_BOXES])
        ],
        "sink": counts.sink,
        "transactions": running.transactions,
        "checkpoint": running.checkpoint,
        "job": running.job,
        "allowed": [[step, times.place(ms)] for step, ms in running.allowed],
        "paused": [[clock, *changes] for clock, changes in running.paused.items()],
        "left_out": _left_out(
            {
                "source subtasks": len(sources),
                "window tasks": len(clocks.windows),
                "partitions of a source subtask": max(len(clocks.inputs_of(index)) for index in sources),
            }
        ),
    }


def _channel(running: Running, index: int) -> dict[str, Any]:
    """Give what is in a channel: what waits at its end, whether it is blocked, and what is on its way."""
    parts = {"queue": running.queues, "blocked": running.blocked, "travels": running.travels}
    return {name: changes[index] for name, changes in parts.items() if index in changes}


def _left_out(counts: dict[str, int]) -> str:
    more = [f"{count - MOST_BOXES} more {words}" for words, count in counts.items() if count > MOST_BOXES]
    return f"Not drawn: {', '.join(more)}." if more else ""


_OPENS = frozenset({Kind.ADDED, Kind.RELOADED})
_CLOSES = frozenset({Kind.CLEANED, Kind.MERGED, Kind.GONE})
_COUNTED = _OPENS | _CLOSES | {Kind.ARRIVED, Kind.LATE, Kind.DROPPED, Kind.WRITTEN}


class _Counts:
    """Counts per task, as flat lists of step and number."""

    def __init__(self, trace: Trace) -> None:
        self._series: dict[tuple[int, str], list[int]] = {}
        self._now: dict[tuple[int, str], int] = {}
        self._alive: dict[int, int] = {}
        self._rows: set[int] = set()
        append = trace.scenario.sink == "append"
        columns = (trace.kind, trace.step, trace.subject, trace.value)
        for kind, step, subject, value in zip(*columns, strict=True):
            if kind in _COUNTED:
                self._row(kind, trace.step_place[step], step, subject, value, append)

    def of(self, place: int, *names: str) -> list[list[Any]]:
        """Give the named counts of a task: [name, step, number, step, number, …]."""
        return [[name, *self._series.get((place, name), ())] for name in names]

    @property
    def sink(self) -> list[list[Any]]:
        """The counts of the sink."""
        return self.of(-1, "rows", "writes")

    def _row(self, kind: int, place: int, step: int, subject: int, value: int, append: bool) -> None:
        if kind == Kind.ARRIVED:
            self._add(place, "read", step)
        elif kind in _OPENS:
            if subject not in self._alive:
                self._alive[subject] = place
                self._add(place, "open windows", step)
        elif kind in _CLOSES:
            gone = value if kind == Kind.MERGED else subject
            if gone in self._alive:
                self._add(self._alive.pop(gone), "open windows", step, -1)
        elif kind in (Kind.LATE, Kind.DROPPED):
            self._add(place, "late", step)
        elif kind == Kind.WRITTEN:
            self._add(-1, "writes", step)
            if append or subject not in self._rows:
                self._rows.add(subject)
                self._add(-1, "rows", step)

    def _add(self, place: int, name: str, step: int, by: int = 1) -> None:
        now = self._now[place, name] = self._now.get((place, name), 0) + by
        series = self._series.setdefault((place, name), [])
        if series and series[-2] == step:
            series[-1] = now
        else:
            series += (step, now)
