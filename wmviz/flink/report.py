"""What Flink reported of one run: data only, from the lines of a program or from a recording, to a Trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wmviz.flink.schedule import arrival_times_ms
from wmviz.observed import ObservedFiring, observed_trace
from wmviz.scenario import Scenario
from wmviz.times import MAX_MS
from wmviz.trace import Trace


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
            window = None if line["start_ms"] is None else (line["start_ms"], line["end_ms"])
            events = tuple(line["events"])
            self.firings.append(ObservedFiring(line["fired"], window, line["value"], events, line["watermark_ms"]))
        elif "late" in line:
            self.late.append(line["late"])
        elif "last_ms" in line:
            self.last_ms = line["last_ms"]
        elif "dropped" in line:
            self.dropped = line["dropped"]
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
        arrived_ms = arrival_times_ms(scenario)
        return observed_trace(scenario, firings, self.late, self.dropped, self.seen, self.engine, recorded, arrived_ms)
