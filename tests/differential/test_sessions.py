"""Windows that merge, in a job of Flink: many short stories one after the other, each far behind the one before."""

import random

from tests.differential.oracle import disagreement
from tests.semantics.cases import outputs, same
from tests.semantics.on_flink import outputs_of_all

STORIES, APART_MS = 60, 10_000
TRIGGERS = (None, None, "purging_event_time", "count:2", "count:3", "purging_count:3")


def params(dice):
    chosen = {"assigner": "session", "gap_ms": dice.choice((1, 5, 10, 10))}
    if dice.random() < 0.8:
        chosen["lateness_ms"] = dice.choice((0, 1, 5, 10, 30))
    trigger = dice.choice(TRIGGERS)
    return {**chosen, **({"trigger": trigger} if trigger else {}), "side_output": dice.random() < 0.5}


def story(dice, number):
    """Give events of two keys and watermarks around a time of their own."""
    start_ms = number * APART_MS
    watermark_ms = start_ms - 10
    steps = [{"op": "watermark", "ts": watermark_ms}]
    for index in range(dice.randint(3, 25)):
        if dice.random() < 0.25:
            watermark_ms += dice.choice((0, 1, 1, 2, 5, 9, 10, 15))
            steps.append({"op": "watermark", "ts": watermark_ms})
        else:
            timestamp_ms = watermark_ms + dice.choice((-30, -20, -11, -10, -9, -5, -1, 0, 1, 4, 5, 6, 9, 10, 11, 20))
            steps.append({"op": "event", "ts": timestamp_ms, "v": f"{number}.{index:02}", "key": dice.choice("aab")})
    return steps


def case(seed):
    dice = random.Random(seed)
    steps = [step for number in range(STORIES) for step in story(dice, number)]
    return {"id": f"session {seed}", "mechanism": "session", "params": params(dice), "input": steps}


def stories(case):
    """Give each story of a case as a case of its own."""
    starts = [index for index, step in enumerate(case["input"]) if step["ts"] % APART_MS == APART_MS - 10]
    ends = [*starts[1:], len(case["input"])]
    return [
        {**case, "id": f"{case['id']} story {number}", "input": case["input"][start:end]}
        for number, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]


def on_flink(cases):
    """Run cases in one job; one whose expected outputs hold an error would run alone."""
    return outputs_of_all([{**case, "expected": outputs(case)} for case in cases])


def test_a_story_is_a_case_of_its_own():
    told = case(1)
    assert [step for part in stories(told) for step in part["input"]] == told["input"]


def test_sessions_merge_fire_again_and_end_as_in_a_job_of_flink(flink):
    cases = [case(seed) for seed in range(40)]
    for told, came in zip(cases, on_flink(cases), strict=True):
        if not same(came, outputs(told)):
            found = disagreement(stories(told), on_flink)
            raise AssertionError(found or f"{told['id']} differs, none of its stories alone; Flink: {came[-3:]}")
