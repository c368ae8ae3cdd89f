"""Crashes of a window job: Flink's, in a job that takes a checkpoint where the case says, and ours."""

import random

from tests.differential.oracle import disagreement
from tests.semantics.on_flink import outputs_of_all

CASES = 160
IN_ONE_JOB = 40
WINDOWS = (
    {"assigner": "tumbling", "size_ms": 10},
    {"assigner": "tumbling", "size_ms": 10, "trigger": "purging_event_time"},
    {"assigner": "tumbling", "size_ms": 10, "trigger": "count:2"},
    {"assigner": "sliding", "size_ms": 10, "slide_ms": 4},
    {"assigner": "sliding", "size_ms": 6, "slide_ms": 10},
    {"assigner": "session", "gap_ms": 5},
    {"assigner": "global", "trigger": "count:3"},
)


def case(seed):
    dice = random.Random(seed)
    params = {**dice.choice(WINDOWS), "lateness_ms": dice.choice((0, 0, 5, 20)), "side_output": dice.random() < 0.5}
    steps, now_ms, checkpoints = [], 0, 0
    for number in range(dice.randint(4, 40)):
        op = dice.choices(("event", "watermark", "checkpoint", "fail_and_restore"), (9, 5, 2, 2))[0]
        match op:
            case "event":
                steps.append(
                    {"op": op, "key": dice.choice("ab"), "ts": now_ms + dice.randint(-15, 10), "v": f"v{number}"}
                )
            case "watermark":
                now_ms += dice.randint(1, 7)
                steps.append({"op": op, "ts": now_ms})
            case "checkpoint":
                checkpoints += 1
                steps.append({"op": op, "id": checkpoints})
            case _:
                steps.append({"op": op})  # to the latest checkpoint, if there is one
                now_ms -= dice.randint(0, 20)
    return {"id": f"recovery {seed}", "mechanism": "recovery", "params": params, "input": steps}


def test_windows_after_a_crash(flink):
    cases = [case(seed) for seed in range(CASES)]
    for first in range(0, CASES, IN_ONE_JOB):
        assert disagreement(cases[first : first + IN_ONE_JOB], outputs_of_all) is None
