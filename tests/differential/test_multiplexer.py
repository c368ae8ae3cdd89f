"""The splits of a source."""

import random

from tests.differential.oracle import disagreement
from tests.differential.steps import time_ms

OPS = {
    "register": 2,
    "unregister": 1,
    "immediate_watermark": 8,
    "immediate_idle": 2,
    "immediate_active": 1,
    "deferred_watermark": 5,
    "deferred_idle": 2,
    "deferred_active": 1,
    "periodic": 4,
}


def case(seed):
    dice = random.Random(seed)
    splits = "abcd"[: dice.randint(1, 4)]
    steps, now_ms = [{"op": "register", "split": split} for split in splits if dice.random() < 0.8], 0
    for op in dice.choices(list(OPS), list(OPS.values()), k=dice.randint(1, 40)):
        step = {"op": op}
        if op != "periodic":
            step["split"] = dice.choice(splits)
        if op.endswith("watermark"):
            step["ts"] = time_ms(dice, now_ms)
            now_ms += dice.randint(0, 4)
        steps.append(step)
    return {"id": f"multiplexer {seed}", "mechanism": "multiplexer", "params": {}, "input": steps}


def test_splits_that_come_go_and_fall_silent(oracle):
    assert disagreement(map(case, range(5_000)), oracle.outputs) is None
