"""Random steps: few times, close together, so that they meet; now and then an end of the range."""

from __future__ import annotations

import random
from typing import Any

from wmviz.times import MAX_MS, MIN_MS

Step = dict[str, Any]
ENDS_MS = (MIN_MS, MIN_MS + 1, MIN_MS + 7, MAX_MS - 7, MAX_MS - 1, MAX_MS)


def time_ms(dice: random.Random, around_ms: int = 0, spread_ms: int = 12) -> int:
    """Give a time near another, or rarely an end of the range."""
    return dice.choice(ENDS_MS) if dice.random() < 0.02 else around_ms + dice.randint(-spread_ms // 3, spread_ms)


def part_steps(dice: random.Random, part: str, parts: int) -> list[Step]:
    """Give watermarks that mostly rise, and statuses, of several channels or inputs."""
    steps, now_ms = [], 0
    weights = dice.choice(((5, 2, 2), (2, 3, 3)))
    for op in dice.choices(("watermark", "idle", "active"), weights, k=dice.randint(1, 60)):
        step: Step = {"op": op, part: dice.randrange(parts)}
        if op == "watermark":
            step["ts"] = time_ms(dice, now_ms)
            now_ms += dice.randint(0, 4)
        steps.append(step)
    return steps
