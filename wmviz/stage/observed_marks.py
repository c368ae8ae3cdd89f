"""The marks of what Flink reported: what it does not report is marked as not observed, and nothing is filled in.

Flink's reports say which watermark an event met, what fired with which events, and what went to the side output.
They do not say what a window holds before it fires, when its state is deleted, nor which events are dropped.
"""

from __future__ import annotations

from wmviz.stage.marks import LOOKS, Band, Look, Marks, State, put_state
from wmviz.times import MIN_MS
from wmviz.trace import Kind, Trace

NOT_OBSERVED = "not observed"
OBSERVED_LOOKS = (NOT_OBSERVED, *LOOKS[1:])
"""The words for each `Look`: what is in flight for our engine has a fate here that no report has told yet."""


class ObservedMarks(Marks):
    """The marks of a trace from Flink, made like those of ours from the rows that there are."""

    def _settle_band(self, band: Band, step: int, clock_ms: int) -> None:
        """A window is seen when it fires; what it does before and afterwards is not."""
        put_state(band.states, (step, State.FIRED, True))

    def _mark_step(self, step: int) -> int:
        """Flink reports each firing for itself: those that one watermark sets off share a flag."""
        before = getattr(self, "_flag", None)
        now = (self.trace.step_at_ms[step], self._lowest_ms)
        if before is None or before[0] != now:
            self._flag = (now, step)
        return self._flag[1]

    def _fires(self, step: int, row: int, index: int, value: int) -> None:
        super()._fires(step, row, index, value)
        self._status[index] = "fired"
        for event in self.trace.firing_events(row):
            met_ms = self.trace.seen_watermarks.get(self.scenario.events[event].id, MIN_MS)
            late = self._by_event_time and met_ms >= self._last_ms[index]
            self._look(step, event, Look.LATE_COUNTED if late else Look.ON_TIME)
            if late:
                self._late_since(step, event, self._last_ms[index])

    def _holds(self, running: int | None) -> str:
        return NOT_OBSERVED


def observed_moments(trace: Trace) -> list[int]:
    """Give the last step of each moment: one begins with each arrival, behind the watermark that it meets."""
    last = []
    for step in range(1, trace.steps):  # a step has one row
        begins = trace.kind[step] == Kind.ARRIVED and trace.kind[step - 1] != Kind.WATERMARK
        meets = trace.kind[step] == Kind.WATERMARK and step + 1 < trace.steps and trace.kind[step + 1] == Kind.ARRIVED
        if begins or meets:
            last.append(step - 1)
    return [*last, trace.steps - 1] if trace.steps else []


def unseen_words(trace: Trace) -> str:
    """Say in a sentence what the picture of a trace from Flink cannot show."""
    drops = trace.reported_drops
    dropped = f"which events are dropped (Flink counts {drops:,})" if drops else "what is in the channels"
    return (
        f"Not observed: the watermarks of sources and channels, what a window holds before it fires, when its state is "
        f"deleted, and {dropped}. The watermark shown is the one that each event met."
    )
