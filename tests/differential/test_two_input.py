"""Operators with two and more inputs."""

import random

from tests.differential.oracle import disagreement
from tests.differential.steps import part_steps


def case(seed):
    dice = random.Random(seed)
    inputs = dice.choice((2, 2, 2, 3, 4))
    steps = part_steps(dice, "input", inputs)
    return {"id": f"two_input {seed}", "mechanism": "two_input", "params": {"inputs": inputs}, "input": steps}


def test_watermarks_and_statuses_of_several_inputs(oracle):
    assert disagreement(map(case, range(5_000)), oracle.outputs) is None
