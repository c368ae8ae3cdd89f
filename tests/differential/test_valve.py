"""The valve in front of an operator's input."""

import random

from tests.differential.oracle import disagreement
from tests.differential.steps import part_steps


def case(seed):
    dice = random.Random(seed)
    channels = dice.choice((1, 2, 2, 3, 3, 4, 9))
    steps = part_steps(dice, "ch", channels)
    return {"id": f"valve {seed}", "mechanism": "valve", "params": {"channels": channels}, "input": steps}


def test_watermarks_and_statuses_of_several_channels(oracle):
    assert disagreement(map(case, range(5_000)), oracle.outputs) is None
