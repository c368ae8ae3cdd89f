"""The watermark operator of SQL."""

import random

from tests.differential.oracle import disagreement
from tests.differential.steps import time_ms
from wmviz.times import MAX_MS

OPS = {
    "row": 10,
    "timer": 10,
    "backpressure_start": 1,
    "backpressure_end": 1,
    "upstream_watermark": 0.5,
    "upstream_idle": 0.5,
    "upstream_active": 0.5,
    "finish": 0.1,
}


def case(seed):
    dice = random.Random(seed)
    params = {
        "interval_ms": dice.choice((0, 1, 5, 200)),
        "idle_timeout_ms": dice.choice((0, 0, 1, 10, 200, 1000)),
        "clock_start_ms": dice.choice((0, 1000)),
    }
    steps, at_ms, row_ms = [], params["clock_start_ms"], 0
    for op in dice.choices(list(OPS), list(OPS.values()), k=dice.randint(1, 40)):
        at_ms += dice.choice((0, 1, 5, 40, 200))
        step = {"op": op, "at_ms": at_ms}
        if op == "row":
            step["watermark_expr"] = None if dice.random() < 0.1 else time_ms(dice, row_ms, 30)
            row_ms += dice.choice((0, 1, 5, 200))
        if op == "upstream_watermark":
            step["ts"] = dice.choice((5, MAX_MS))
        steps.append(step)
    return {"id": f"sql {seed}", "mechanism": "sql_watermark_assigner", "params": params, "input": steps}


def test_rows_timers_and_what_comes_from_upstream(oracle):
    assert disagreement(map(case, range(5_000)), oracle.outputs) is None
