"""Two traces side by side: what our engine says, what Flink says, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

from wmviz.engine.simulate import simulate
from wmviz.scenario import Scenario, check_scenario
from wmviz.times import time_text
from wmviz.trace import Outcomes, Trace, TraceError

OUR_NAME = "wmviz"


class Difference(NamedTuple):
    """One outcome on which two runs disagree; None: that run does not have it."""

    what: str
    where: str
    ours: Any
    theirs: Any

    def __str__(self) -> str:
        """Say it in a line."""
        return self.said(OUR_NAME)

    def said(self, name: str) -> str:
        """Say it in a line, with another name for our run."""
        return f"{self.what} {self.where}: {name} {_said(self.ours)}, Flink {_said(self.theirs)}"


@dataclass(frozen=True)
class Comparison:
    """The outcomes of one scenario on our engine and on Flink.

    Attributes
    ----------
    ours, flink
        The two traces.
    differences
        Every outcome on which they disagree, by name. Order across keys is no outcome, nor is a dropped count that
        was not observed.
    name
        What ran beside Flink: our engine, unless a learner's piece stood in it.
    """

    ours: Trace
    flink: Trace
    differences: tuple[Difference, ...]
    name: str = OUR_NAME

    @property
    def same(self) -> bool:
        """Whether the two agree on every firing, late and dropped event, watermark and total."""
        return not self.differences

    def __repr__(self) -> str:
        """Say in a line whether they agree, and list where they do not."""
        counts = ", ".join(_counted(n, what) for what, n in self.counts.items())
        both = f"{self.ours.scenario.name}: {self.name} and {self.flink.engine}"
        if self.same:
            return f"{both} agree on {counts}"
        lines = [f"{both} differ on {len(self.differences)} of {counts}"]
        return "\n".join([*lines, *(f"  {difference.said(self.name)}" for difference in self.differences)])

    @property
    def counts(self) -> dict[str, int]:
        """How many outcomes of each kind were compared."""
        outcomes = self.flink.outcomes()
        return {
            "firings": len(outcomes.firings),
            "late events": len(outcomes.late),
            "dropped events": outcomes.dropped or 0,
            "seen watermarks": len(outcomes.seen_watermarks),
            "totals": len(outcomes.totals),
        }

    def _repr_html_(self) -> str:
        """Show the firings of both in one table, and what else differs below."""
        zone = self.ours.scenario.zone
        ours, flink = self.ours.outcomes(), self.flink.outcomes()
        names = "".join(f"<th>{escape(name)}</th>" for name in ("key", "window", "firing", self.name, "Flink", "same"))
        head = f"<tr>{names}</tr>"
        rows = "".join(
            _firing_row(key, ours.firings.get(key), flink.firings.get(key), zone)
            for key in sorted(ours.firings.keys() | flink.firings.keys(), key=_order)
        )
        others = [difference for difference in self.differences if difference.what != "firing"]
        rest = "".join(f"<li>{escape(difference.said(self.name))}</li>" for difference in others)
        verdict = escape(repr(self).splitlines()[0])
        return f"<p>{verdict}</p><table>{head}{rows}</table>" + (f"<ul>{rest}</ul>" if rest else "")


def _counted(number: int, what: str) -> str:
    """Write "1 firing" and "2 firings"."""
    return f"{number} {what.removesuffix('s') if number == 1 else what}"


def compare(scenario: Scenario, flink: Trace | None = None) -> Comparison:
    """Run a scenario on our engine and on real Flink, and subtract the outcomes.

    Parameters
    ----------
    scenario
        What to run.
    flink
        A trace of Flink that is there already; without one, ``wmviz.flink.run`` makes it.

    Returns
    -------
    Comparison
        ``.same`` is True or False; ``.differences`` names each disagreement.

    Raises
    ------
    ScenarioError, TraceError
        If it is no scenario, or `flink` is no trace of it.
    """
    check_scenario(scenario, "compare")
    if flink is None:
        from wmviz.flink import run

        flink = run(scenario)
    elif not isinstance(flink, Trace):
        raise TraceError(f"compare takes a trace of Flink, not {type(flink).__name__}; write wmviz.flink.run(scenario)")
    elif flink.scenario != scenario:
        raise TraceError(f"the trace is one of {flink.scenario.name} with other events or settings; run this scenario")
    ours = simulate(scenario)
    return Comparison(ours, flink, subtract(ours.outcomes(), flink.outcomes()))


def subtract(ours: Outcomes, theirs: Outcomes) -> tuple[Difference, ...]:
    """Give every outcome on which two runs disagree."""
    found = [
        *_unequal("firing", ours.firings, theirs.firings),
        *_unequal("late event", dict.fromkeys(ours.late, True), dict.fromkeys(theirs.late, True)),
        *_unequal("watermark seen by", ours.seen_watermarks, theirs.seen_watermarks),
        *_unequal("total", ours.totals, theirs.totals),
    ]
    if theirs.dropped is not None and ours.dropped != theirs.dropped:
        found.append(Difference("dropped", "events", ours.dropped, theirs.dropped))
    return tuple(found)


def _unequal(what: str, ours: Mapping[Any, Any], theirs: Mapping[Any, Any]) -> list[Difference]:
    return [
        Difference(what, _named(key), ours.get(key), theirs.get(key))
        for key in sorted(ours.keys() | theirs.keys(), key=_order)
        if ours.get(key) != theirs.get(key)
    ]


def _order(key: Any) -> tuple[Any, ...]:
    if isinstance(key, str):
        return (key,)
    name, start_ms, *rest = key
    return (start_ms if start_ms is not None else 0, name, *(part or 0 for part in rest))


def _named(key: Any) -> str:
    if isinstance(key, str):
        return key
    name, start_ms, end_ms, *nth = key
    window = "global" if start_ms is None else f"[{time_text(start_ms)}, {time_text(end_ms)})"
    return f"{name} {window}" + (f" no. {nth[0]}" if nth else "")


def _said(value: Any) -> str:
    if value is None:
        return "has none"
    if isinstance(value, tuple) and len(value) == 3:
        result, events, watermark_ms = value
        return f"{result} from {len(events)} events at watermark {time_text(watermark_ms)}"
    return (
        "has it"
        if value is True
        else time_text(value)
        if isinstance(value, int) and abs(value) > 10**15
        else str(value)
    )


def _firing_row(key: Any, ours: Any, theirs: Any, zone: str | None) -> str:
    name, start_ms, end_ms, nth = key
    window = "global" if start_ms is None else f"[{time_text(start_ms, zone)}, {time_text(end_ms, zone)})"
    cells = [name, window, str(nth), _shown(ours, zone), _shown(theirs, zone), "yes" if ours == theirs else "NO"]
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _shown(firing: Any, zone: str | None) -> str:
    return "–" if firing is None else f"{firing[0]:,} at watermark {time_text(firing[2], zone)}"
