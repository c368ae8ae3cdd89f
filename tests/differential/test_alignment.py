"""Watermark alignment: Flink's SourceCoordinator and SourceOperator, and ours."""

import random

import pytest

from tests.differential.java import java_function
from wmviz.course.sheets.alignment import ON_FLINK
from wmviz.engine.alignment import SourceCoordinator, SourceOperatorAlignment, WatermarkAggregator
from wmviz.times import MAX_MS, MIN_MS

CASES = 3_000


class Ours:
    """Answers each step as the Java side does: what came out, each with a comma behind it."""

    def __init__(self, drift_ms, buffer_size):
        self.drift_ms = drift_ms
        self.group, self.sources = WatermarkAggregator(), {}
        self.reader = SourceOperatorAlignment(self, buffer_size)
        self.answer = ""

    def take(self, op, *given):
        self.answer = ""
        # A pause or resumption of the reader is seen after all else, because Flink shows it by its state alone.
        waited = self.reader.is_waiting
        getattr(self, op)(*given)
        if self.reader.is_waiting != waited:
            self.answer += "resumed," if waited else "paused,"
        return self.answer

    def report(self, source, subtask, watermark_ms):
        if source not in self.sources:
            self.sources[source] = SourceCoordinator(source, self.group, self.drift_ms)
        self.sources[source].report(int(subtask), int(watermark_ms))

    def announce(self):
        if self.sources:
            self.answer += f"allowed {next(iter(self.sources.values())).announce()},"

    def reader_watermark(self, watermark_ms):
        self.reader.watermark(int(watermark_ms))

    def reader_idle(self, idle):
        self.reader.idle = idle == "true"

    def split_watermark(self, split, watermark_ms):
        self.reader.split_watermark(split, int(watermark_ms))

    def split_idle(self, split, idle):
        self.reader.split_idle(split, idle == "true")

    def max_allowed(self, watermark_ms):
        self.reader.max_allowed(int(watermark_ms))

    def sample(self):
        reported_ms = self.reader.sample()
        if reported_ms is not None:
            self.answer += f"reported {reported_ms},"

    def paused(self): ...

    def resumed(self): ...

    def splits_paused(self, splits):
        self.answer += f"splits_paused [{'+'.join(sorted(splits))}],"

    def splits_resumed(self, splits):
        self.answer += f"splits_resumed [{'+'.join(sorted(splits))}],"


def watermark(dice):
    return dice.choice((MAX_MS, MAX_MS - 7, MIN_MS + 1)) if dice.random() < 0.05 else dice.randint(-5, 30)


def case(seed):
    """Return drift and buffer size, and steps."""
    dice = random.Random(seed)
    steps = []
    for _ in range(dice.randint(1, 40)):
        op = dice.choice(("report", "announce", "reader_watermark", "sample", "sample", "max_allowed", "split"))
        match op:
            case "report":
                steps.append(f"report {dice.choice('ab')} {dice.randrange(3)} {watermark(dice)}")
            case "reader_watermark" | "max_allowed":
                steps.append(f"{op} {watermark(dice)}")
            case "split":
                kind = dice.choice((f"split_watermark {dice.choice('xyz')} {watermark(dice)}", "idle", "reader_idle"))
                idle = dice.choice(("true", "false"))
                named = {"idle": f"split_idle {dice.choice('xyz')} {idle}", "reader_idle": f"reader_idle {idle}"}
                steps.append(named.get(kind, kind))
            case _:
                steps.append(op)
    return f"{dice.choice((0, 5, 10))} {dice.choice((0, 1, 2, 3, 3))}", steps


def ours(head, steps):
    drift_ms, buffer_size = map(int, head.split(" "))
    pieces = Ours(drift_ms, buffer_size)
    return [pieces.take(*step.split(" ")) for step in steps]


@pytest.fixture(scope="module")
def flinks(flink):
    apply = java_function("Alignment")
    return lambda head, steps: apply(";".join([head, *steps])).split("\n")[: len(steps)]


def waits_on_flink(flinks, samples, steps):
    """Give whether Flink's own source waits after each sample and each limit, in the words of the sheet."""
    calls = [call for step in steps for call in _calls(*step)]
    answers = iter(flinks(f"0 {samples}", calls))
    waits = [False]
    for step in steps:
        said = "".join(next(answers) for _ in _calls(*step))
        waits.append("paused" in said or (waits[-1] and "resumed" not in said))
    return waits[1:]


def _calls(what, value_ms):
    if what == "limit":
        return [f"max_allowed {value_ms}"]
    return ["sample"] if value_ms == MIN_MS else [f"reader_watermark {value_ms}", "sample"]


def test_what_the_sheet_compares_a_rule_with_is_flinks(flinks):
    assert len(ON_FLINK) > 20
    for each in ON_FLINK:
        assert waits_on_flink(flinks, each["samples"], each["steps"]) == each["waits"]


def smallest(head, steps, flinks):
    """Take away each step that the disagreement does not need."""
    place = 0
    while place < len(steps):
        fewer = steps[:place] + steps[place + 1 :]
        if fewer and flinks(head, fewer) != ours(head, fewer):
            steps = fewer
        else:
            place += 1
    return head, steps, flinks(head, steps), ours(head, steps)


def test_reports_announcements_samples_pauses_of_the_reader_and_of_its_splits(flinks):
    for head, steps in map(case, range(CASES)):
        if flinks(head, steps) != ours(head, steps):
            pytest.fail("drift and buffer {}, steps {}: Flink gives {}, ours {}".format(*smallest(head, steps, flinks)))
