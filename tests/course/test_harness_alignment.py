"""The engine on a learner's rule of waiting: a right one changes nothing, a wrong one does, a broken one is named."""

from collections import deque

import pytest

import wmviz
from wmviz.course.answers import AnswerError
from wmviz.course.harness import run_with
from wmviz.times import MAX_MS, MIN_MS
from wmviz.trace import Kind

JOB = wmviz.scenario("watermark-alignment")


class Waiting:
    """Flink's rule, once more and in other words."""

    def __init__(self, samples):
        self.kept = deque([MIN_MS] * samples, samples)

    def on_sample(self, watermark_ms):
        self.kept.append(watermark_ms)

    def must_wait(self, limit_ms):
        return self.kept[0] > limit_ms


class Never(Waiting):
    """Lets nobody wait."""

    def must_wait(self, limit_ms):
        return False


def changes(trace):
    return [(r.at_ms, r.place, r.value) for r in trace if r.kind is Kind.PAUSED]


@pytest.mark.parametrize(
    "job",
    [
        JOB,
        JOB.replace(alignment={"buffer": 1, "interval": "500 ms"}),
        JOB.replace(checkpoints={"interval": "3 s"}, happenings=[{"what": "crash", "at": "7:00:11", "down": "2 s"}]),
        JOB.replace(happenings=[{"what": "finish", "at": "7:00:17", "partition": 1}]),
    ],
    ids=["as it is", "one sample", "a crash", "an end"],
)
def test_the_right_rule_changes_nothing(job):
    ours, theirs = wmviz.simulate(job), run_with(Waiting, job, "alignment")
    assert changes(ours)
    assert list(theirs) == list(ours)


def test_another_rule_is_followed():
    assert not changes(run_with(Never, JOB, "alignment"))


def test_it_is_told_each_sample_and_the_limit():
    told = []

    class Telling(Waiting):
        def __init__(self, samples):
            super().__init__(samples)
            told.append(("samples", samples))

        def on_sample(self, watermark_ms):
            super().on_sample(watermark_ms)
            told.append(("sample", watermark_ms))

        def must_wait(self, limit_ms):
            told.append(("limit", limit_ms))
            return super().must_wait(limit_ms)

    trace = run_with(Telling, JOB, "alignment")
    assert told[:2] == [("samples", 3)] * 2
    limits = [r.value for r in trace if r.kind is Kind.ALLOWED]
    assert {value for what, value in told if what == "limit"} == {MAX_MS, *limits}
    assert sum(what == "sample" for what, _ in told) > 20


def given(self, limit_ms):
    return None


def broken(self, limit_ms):
    return 1 / 0


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (Waiting(3), "Give the class itself"),
        (type("NoRule", (), {"__init__": lambda self, n: None}), "has no method on_sample"),
        (
            type("Open", (Waiting,), {"must_wait": given}),
            "must_wait gives nothing so far. Let it return True or False.",
        ),
        (type("Broken", (Waiting,), {"must_wait": broken}), "must_wait stops with ZeroDivisionError"),
    ],
)
def test_what_is_broken_is_named(own, message):
    with pytest.raises(AnswerError, match=message):
        run_with(own, JOB, "alignment")


def test_each_subtask_reads_one_partition():
    with pytest.raises(AnswerError, match="reads several partitions"):
        run_with(Waiting, JOB.replace(subtasks=1), "alignment")
