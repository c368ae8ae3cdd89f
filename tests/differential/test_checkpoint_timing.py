"""When checkpoints start and end: Flink's CheckpointCoordinator and ours, under one clock."""

import random

import pytest

from tests.differential.java import java_function
from wmviz.engine.checkpoints import CheckpointCoordinator, CheckpointSettings

CASES = 2_000


class Ours:
    """Answers as the Java side does."""

    def __init__(self, head):
        *numbers, unaligned = head.split(" ")
        interval_ms, pause_ms, most, timeout_ms, first_ms = map(int, numbers)
        settings = CheckpointSettings(interval_ms, pause_ms, most, timeout_ms)
        self.coordinator = CheckpointCoordinator(settings, ["task"], self, forced_savepoints=unaligned == "false")
        self.answer = ""
        self.coordinator.start(0, first_ms)

    def take(self, op, at_ms, *given):
        now_ms = int(at_ms)
        self.coordinator.advance(now_ms)
        match op:
            case "complete":
                self.coordinator.acknowledge(int(given[0]), "task", None, now_ms)
            case "fail":
                self.coordinator.decline(int(given[0]), "CHECKPOINT_DECLINED", now_ms)
            case "savepoint":
                self.coordinator.savepoint(now_ms)
            case "stop":
                self.coordinator.stop(now_ms)
            case "start":
                self.coordinator.start(now_ms)
                self.coordinator.advance(now_ms)
        self.answer += " ".join(["pending", *map(str, sorted(self.coordinator.pending))]) + ","

    def triggered(self, checkpoint):
        self.answer += f"triggered {checkpoint.id} {checkpoint.started_ms},"

    def completed(self, checkpoint):
        self.answer += f"completed {checkpoint.id} {checkpoint.completed_ms},"

    def failed(self, checkpoint): ...


def ours(head, steps):
    pieces = Ours(head)
    for step in steps:
        pieces.take(*step.split(" "))
    return pieces.answer


def case(seed):
    """Return settings and steps; times are few, so that a due time, the end of a pause and an answer often coincide."""
    dice = random.Random(seed)
    most = dice.choice((1, 1, 2, 3))
    unaligned = "true" if most == 1 and dice.random() < 0.3 else "false"
    head = (
        f"{dice.choice((30, 50, 100))} {dice.choice((0, 0, 30, 50, 80, 120))} {most} {dice.choice((70, 120, 10_000))}"
    )
    now_ms, newest, steps = 0, 1, []
    for _ in range(dice.randint(1, 25)):
        now_ms += dice.choice((0, 10, 20, 30, 50, 50, 100, 230))
        op = dice.choice(("complete",) * 6 + ("fail", "fail", "savepoint", "wait", "stop", "start"))
        if op == "start" or op == "stop":
            steps.append(f"stop {now_ms}")
            now_ms += dice.choice((0, 40))
            steps.append(f"start {now_ms}")
        elif op in ("complete", "fail"):
            newest = min(newest + dice.choice((0, 1, 1)), now_ms // 20 + 1)
            steps.append(f"{op} {now_ms} {max(1, newest - dice.choice((0, 0, 1, 2)))}")
        else:
            steps.append(f"{op} {now_ms}")
    steps.append(f"wait {now_ms + dice.choice((0, 300, 1000))}")
    return f"{head} {dice.choice((0, 50, 100))} {unaligned}", steps


@pytest.fixture(scope="module")
def flinks(flink):
    apply = java_function("Coordinator")
    return lambda head, steps: apply(";".join([head, *steps]))


def smallest(head, steps, flinks):
    """Take away each step that the disagreement does not need."""
    place = 0
    while place < len(steps):
        fewer = steps[:place] + steps[place + 1 :]
        if flinks(head, fewer) != ours(head, fewer):
            steps = fewer
        else:
            place += 1
    return head, steps, flinks(head, steps), ours(head, steps)


def test_due_times_pauses_failures_savepoints_and_restarts(flinks):
    for head, steps in map(case, range(CASES)):
        if flinks(head, steps) != ours(head, steps):
            pytest.fail("settings {}, steps {}: Flink gives {}, ours {}".format(*smallest(head, steps, flinks)))
