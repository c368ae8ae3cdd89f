"""Window assigners."""

import random

from tests.differential.oracle import disagreement
from wmviz.times import MAX_MS, MIN_MS


def length_ms(dice):
    return dice.choice((0, 1, 2, 7, 10, 60_000, 86_400_000, dice.randint(1, 10**6), 2**62, MAX_MS))


def case(seed):
    dice = random.Random(seed)
    params = {"assigner": dice.choice(("tumbling", "sliding", "session", "global"))}
    if params["assigner"] == "session":
        params["gap_ms"] = length_ms(dice) - dice.choice((0, 0, 0, 1))
    elif params["assigner"] != "global":
        # Far longer sliding windows make Java's loop go round the range until the memory is full.
        params["size_ms"] = size_ms = length_ms(dice) % (MAX_MS if params["assigner"] == "tumbling" else 2**40)
        grid_ms = size_ms
        if params["assigner"] == "sliding":
            params["slide_ms"] = grid_ms = max(size_ms // dice.randint(1, 30), 1) * dice.choice((1, 1, 1, 3))
        params["offset_ms"] = dice.randint(-grid_ms, grid_ms) if dice.random() < 0.5 else 0
    ends = (MIN_MS, MAX_MS) if params["assigner"] != "sliding" else (MAX_MS,)
    steps = []
    for _ in range(dice.randint(1, 20)):
        around_ms = dice.choice((0, 0, 10**12, *ends))
        timestamp_ms = around_ms + dice.randint(-100, 100) * dice.choice((1, 1000))
        steps.append({"ts": min(max(timestamp_ms, MIN_MS), MAX_MS)})
    return {"id": f"assigner {seed}", "mechanism": "window_assigner", "params": params, "input": steps}


def test_windows_of_timestamps_up_to_the_ends_of_the_range(oracle):
    assert disagreement(map(case, range(5_000)), oracle.outputs) is None
