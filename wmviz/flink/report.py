"""What Flink reported of one run: data only, from the lines of a program or from a recording, to a Trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from wmviz.engine.local_time import LocalClock
from wmviz.flink.schedule import arrival_times_ms
from wmviz.observed import ObservedFiring, observed_trace
from wmviz.scenario import Scenario
from wmviz.times import MAX_MS, MIN_MS
from wmviz.trace import Trace

_EPOCH = datetime(1970, 1, 1)


@dataclass
class Report:
    """What Flink reported of one run.

    Attributes
    ----------
    engine
        Which Flink it was: ``"Flink 2.3.0"``.
    firings
        Every firing, in order for each key.
    late, dropped
        Ids in the late side output; numLateRecordsDropped of the window operator.
    seen
        Event id → the watermark that it met at the window operator.
    last_ms
        The watermark behind all that the scenario has, or None if it was not asked for, as with one input. It can be
        below MAX though the input has ended: Flink loses the last watermark of an idle source.
    """

    engine: str
    firings: list[ObservedFiring] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    dropped: int = 0
    seen: dict[str, int] = field(default_factory=dict)
    last_ms: int | None = None

    def take(self, line: dict[str, Any]) -> None:
        """Take in one line that a program prints."""
        if "fired" in line:
            events = tuple(line["events"])
            self.firings.append(
                ObservedFiring(line["fired"], _window(line), line["value"], events, line["watermark_ms"])
            )
        elif "late" in line:
            self.late.append(line["late"])
        elif "last_ms" in line:
            self.last_ms = line["last_ms"]
        elif line.get("kind") == "last":
            self.last_ms = _sql_watermark_ms(line["watermark"])
        elif "dropped" in line:
            self.dropped = line["dropped"]
        elif "watermark" in line:
            self.seen[line["event"]] = _sql_watermark_ms(line["watermark"])
        else:
            self.seen[line["event"]] = line["watermark_ms"]

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON data."""
        return {
            "engine": self.engine,
            "firings": [list(firing) for firing in self.firings],
            "late": self.late,
            "dropped": self.dropped,
            "seen": self.seen,
            **({} if self.last_ms is None else {"last_ms": self.last_ms}),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Report:
        """Read it back."""
        firings = [
            ObservedFiring(key, tuple(window) if window else None, value, tuple(events), watermark_ms)
            for key, window, value, events, watermark_ms in data["firings"]
        ]
        return cls(data["engine"], firings, data["late"], data["dropped"], data["seen"], data.get("last_ms"))

    def trace(self, scenario: Scenario, *, recorded: bool = False) -> Trace:
        """Make the trace of the scenario.

        Firings at the watermark MAX may come from the end of the replay. They are left out if the scenario itself does
        not get there.
        """
        gets_to_max = scenario.end_of_input_ms is not None if self.last_ms is None else self.last_ms == MAX_MS
        firings = [firing for firing in self.firings if gets_to_max or firing.watermark_ms != MAX_MS]
        if scenario.window.zone is not None:
            clock = LocalClock(scenario.window.zone)
            firings = [_at_moments(firing, clock) for firing in firings]
        arrived_ms = arrival_times_ms(scenario)
        return observed_trace(scenario, firings, self.late, self.dropped, self.seen, self.engine, recorded, arrived_ms)


def _window(line: dict[str, Any]) -> tuple[int, int] | None:
    """Read a window: in ms, or as SQL writes its TIMESTAMPs, ``"2026-10-25 00:00:00.000"`` of a local clock."""
    if "window" in line:
        start_ms, end_ms = map(_clock_ms, line["window"])
        return start_ms, end_ms
    return None if line["start_ms"] is None else (line["start_ms"], line["end_ms"])


def _sql_watermark_ms(text: str | None) -> int:
    """Read CURRENT_WATERMARK as JSON_OBJECT writes it: NULL before the first, ``"1970-01-01T05:01:59.999Z"``.

    MAX does not fit into SQL's calendar: it comes out as a year far below 1. No other watermark of a replay does.
    """
    if text is None:
        return MIN_MS
    return MAX_MS if text[0] in "+-" else _clock_ms(text.removesuffix("Z"))


def _clock_ms(text: str) -> int:
    """Give the ms since 1970-01-01 00:00 of the same clock."""
    whole, _, part = text.partition(".")
    return (datetime.fromisoformat(whole) - _EPOCH) // timedelta(seconds=1) * 1000 + int(part.ljust(3, "0"))


def _at_moments(firing: ObservedFiring, clock: LocalClock) -> ObservedFiring:
    """Give the window, which Flink names by the local clock, by its moments."""
    assert firing.window is not None
    start_ms, end_ms = firing.window
    return firing._replace(window=(clock.first_ms(start_ms), clock.end_ms(end_ms)))
