"""Driver for sinks: a mechanism of our own, for no class of Flink's holds what a reader finds."""

from __future__ import annotations

from tests.semantics.outbox import Outbox, Output, Params, Steps, unknown
from wmviz.engine.sinks import sink_of
from wmviz.window import TimeWindow


def sink(params: Params, steps: Steps) -> list[Output]:
    """Write results to a sink; what it then holds for the key and window comes out."""
    outbox = Outbox()
    target = sink_of(params["sink"])
    for outbox.step, step in enumerate(steps):
        if step["op"] != "write":
            raise unknown(step)
        outbox.put(row=target.write(step["key"], TimeWindow(*step["window"]), step["value"]))
    return outbox.outputs
