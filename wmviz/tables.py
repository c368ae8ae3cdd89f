"""A trace as pandas tables."""

from __future__ import annotations

import pandas as pd

from wmviz.trace import CheckpointOf, Kind, Record, Trace, WindowOf

_FATE_COLUMNS = ["event", "key", "event_time_ms", "watermark_ms", "at_ms"]


def firings(trace: Trace) -> pd.DataFrame:
    """Give every firing, in order; start_ms and end_ms are missing for the global window."""
    rows = [
        (f.key, f.window.start_ms, f.window.end_ms, f.nth, f.value, f.event_ids, f.watermark_ms, f.at_ms)
        for f in trace.all_firings
    ]
    columns = ["key", "start_ms", "end_ms", "nth", "value", "events", "watermark_ms", "at_ms"]
    return pd.DataFrame(rows, columns=columns).astype({"start_ms": "Int64", "end_ms": "Int64"})


def fates(trace: Trace, kind: Kind) -> pd.DataFrame:
    """Give every event that came to one fate: `Kind.LATE` or `Kind.DROPPED`."""
    rows = []
    for record in trace:
        if record.kind == kind:
            event = trace.scenario.events[trace.event_of(record.row)]
            rows.append((event.id, event.key, event.event_time_ms, record.value, record.at_ms))
    return pd.DataFrame(rows, columns=_FATE_COLUMNS)


def watermarks(trace: Trace) -> pd.DataFrame:
    """Give every event with the watermark that it met at the window operator, in order of arrival."""
    seen = trace.seen_watermarks
    rows = [(event.id, seen[event.id]) for event in trace.scenario.events if event.id in seen]
    return pd.DataFrame(rows, columns=["event", "watermark_ms"])


def rows(trace: Trace) -> pd.DataFrame:
    """Give every row of the log with its sentence."""
    table = [(r.step, r.at_ms, r.place, r.kind.name, _name(r), r.value, trace.sentence(r.row)) for r in trace]
    return pd.DataFrame(table, columns=["step", "at_ms", "place", "kind", "subject", "value", "sentence"])


def _name(record: Record) -> str:
    subject = record.subject
    if isinstance(subject, str):
        return subject
    if isinstance(subject, WindowOf):
        return f"{subject.key} {tuple(subject.window)}"
    return f"checkpoint {subject.id}" if isinstance(subject, CheckpointOf) else subject.id
