"""Generators with an idleness timer, and its clock."""

import random

from tests.differential.oracle import disagreement
from tests.differential.steps import time_ms


def case(seed):
    dice = random.Random(seed)
    params = {
        "generator": dice.choice(("bounded", "bounded", "ascending", "none", "sql_on_periodic", "sql_on_event")),
        "bound_ms": dice.choice((0, 0, 3, 10)),
        "timeout_ms": dice.choice((0, 1, 200, 300, 500, 501, 1000)) if dice.random() < 0.9 else dice.randint(1, 900),
        "level": dice.choice(("raw", "operator")),
        "clock_start_ms": dice.choice((0, 0, 1, 1000)),
    }
    steps, at_ms, event_ms = [], params["clock_start_ms"], 0
    for _ in range(dice.randint(1, 40)):
        op = dice.choices(("event", "tick", "backpressure_start", "backpressure_end", "finish"), (4, 12, 1, 1, 0.2))[0]
        step = {"op": op}
        if op == "event":
            is_null = params["generator"].startswith("sql") and dice.random() < 0.1
            step["ts"] = None if is_null else time_ms(dice, event_ms)
            event_ms += dice.randint(0, 4)
        at_ms += dice.choice((0, 1, 100, 199, 200, 200, 200))
        steps.append({**step, "at_ms": at_ms})
    return {"id": f"idleness {seed}", "mechanism": "idleness", "params": params, "input": steps}


def test_silence_ticks_and_pauses(oracle):
    assert disagreement(map(case, range(5_000)), oracle.outputs) is None
