"""Flink's barrier handlers and ours, behind the same queues."""

import random
from functools import partial

import pytest

from tests.differential.java import java_function
from tests.differential.oracle import disagreement
from tests.semantics.checkpointing import barriers
from wmviz.course.sheets.barriers import ON_FLINK
from wmviz.engine.barriers import Alignment, CheckpointBarrier, CheckpointedInputGate

CASES = 1_000


class FlinkHandler:
    """Flink's handler behind the queues of our gate: each call is passed on, and what it asks for is done."""

    def __init__(self, ask, gate, mode, channels, after_finish):
        self._ask, self._gate = ask, gate
        self.next_time_ms = None
        self._call(f"new {mode} {channels} {str(after_finish).lower()}")

    def advance(self, now_ms):
        self._call(f"advance {now_ms}")

    def process_barrier(self, barrier, channel):
        self._call(f"barrier {channel} {_text(barrier)}")

    def process_announcement(self, barrier, channel):
        self._call(f"announcement {channel} {_text(barrier)}")

    def process_cancellation(self, checkpoint_id, channel):
        self._call(f"cancellation {channel} {checkpoint_id}")

    def process_end(self, channel):
        self._call(f"end {channel}")

    def _call(self, text):
        *asked, due = self._ask(text).split(";")
        self.next_time_ms = None if due == "due none" else int(due.split(" ")[1])
        asked = _in_order(asked)
        aborted = {one.split(" ")[1] for one in asked if one.startswith("abortCheckpointOnBarrier")}
        for one in asked:
            name, number, *rest = one.split(" ")
            if name == "error":
                raise RuntimeError(number)
            self._do(name, int(number), rest, aborted=number in aborted)

    def _do(self, name, number, rest, *, aborted):
        gate = self._gate
        match name:
            case "blockConsumption":
                gate.block_consumption(number)
            case "resumeConsumption":
                gate.resume_consumption(number)
            case "convertToPriorityEvent":
                gate.convert_to_priority_event(number)
            case "checkpointStarted":
                gate.checkpoint_started(number)
            case "checkpointStopped":
                gate.checkpoint_stopped(number, aborted=aborted)
            case "triggerCheckpointOnBarrier":
                gate.trigger_checkpoint(CheckpointBarrier(number, Alignment(rest[0])))
            case "abortCheckpointOnBarrier":
                gate.abort_checkpoint(number, rest[0])


def _text(barrier):
    return f"{barrier.id} {barrier.alignment.value} {barrier.timeout_ms} {barrier.created_at_ms}"


def _in_order(asked):
    """Sort runs of the same request: Flink goes through its channels in no order."""
    return sorted(asked, key=lambda one: (_run_of(asked, one), int(one.split(" ")[1]))) if asked else asked


def _run_of(asked, one):
    place = asked.index(one)
    while place and asked[place - 1].split(" ")[0] == asked[place].split(" ")[0]:
        place -= 1
    return place


class FlinkGate(CheckpointedInputGate):
    def __init__(self, channels, out, *, mode, checkpoints_after_finish, ask):
        super().__init__(channels, out, mode=mode)
        self._handler = FlinkHandler(ask, self, mode, channels, checkpoints_after_finish)


@pytest.fixture(scope="module")
def ask(flink):
    apply = java_function("Barriers")
    return lambda cases: [barriers(case["params"], case["input"], partial(FlinkGate, ask=apply)) for case in cases]


def asked_of_flink(apply, channels, listed):
    """Give what Flink's handler wants done at each barrier of aligned checkpoints, in the words of the sheet."""
    apply(f"new aligned {channels} true")
    return [_in_words(apply(f"barrier {channel} {number} aligned 0 0")) for channel, number in listed]


def _in_words(answer):
    if "triggerCheckpoint" in answer:
        return "snapshot"
    return "block" if "blockConsumption" in answer else "pass"


def test_what_the_sheet_compares_a_handler_with_is_flinks(flink):
    apply = java_function("Barriers")
    assert len(ON_FLINK) > 10
    for case in ON_FLINK:
        assert asked_of_flink(apply, case["channels"], case["barriers"]) == case["asked"]


class Traffic:
    """Random elements on channels that are each in order: ids rise, nothing comes after the end."""

    def __init__(self, seed, kinds, mode, auto_drain):
        self.dice = random.Random(seed)
        self.kinds = kinds
        self.params = {
            "channels": self.dice.choice((1, 2, 2, 3, 3, 4)),
            "mode": mode,
            "checkpoints_after_finish": self.dice.random() < 0.8,
            "auto_drain": auto_drain,
        }
        channels = self.params["channels"]
        self.next_id, self.newest, self.now_ms = [1] * channels, 1, 0
        self.open = list(range(channels))
        self.items = 0
        self.barrier_of = {}

    def case(self):
        steps = [self.step() for _ in range(self.dice.randint(1, 40))]
        return {"id": "", "mechanism": "barrier_aligned", "params": self.params, "input": steps}

    def step(self):
        ops = ["item"] * 5 + ["barrier"] * 5 + ["cancel", "clock"] + ["end"] * (self.dice.random() < 0.2)
        if not self.params["auto_drain"]:
            ops += ["poll"] * 4 + ["drain"]
        op = self.dice.choice(ops) if self.open else "drain"
        if op == "drain":
            return {"op": "drain"}
        if op == "clock":
            self.now_ms += self.dice.choice((1, 9, 10, 11, 50))
            return {"op": "clock", "at_ms": self.now_ms}
        ch = self.dice.choice(self.open)
        if op == "poll":
            return {"op": "poll", "ch": ch}
        return {"op": "arrive", "ch": ch, **self.element(op, ch)}

    def element(self, op, ch):
        if op == "item":
            self.items += 1
            return {"item": f"i{self.items}"}
        if op == "end":
            self.open.remove(ch)
            return {"end": True}
        checkpoint_id = self.next_id[ch] + (self.dice.random() < 0.15)
        self.next_id[ch] = checkpoint_id + 1
        if op == "cancel":
            return {"cancel": checkpoint_id}
        barrier = self.barrier_of.setdefault(checkpoint_id, self.barrier(checkpoint_id))
        return self.barrier(checkpoint_id) if self.dice.random() < 0.15 else barrier

    def barrier(self, checkpoint_id):
        """Make a barrier; the channels of one checkpoint mostly carry the same, unless a task upstream timed out."""
        return {
            "barrier": checkpoint_id,
            "kind": self.dice.choice(self.kinds),
            "timeout_ms": self.dice.choice((10, 20)),
            "created_at_ms": self.now_ms - self.dice.choice((0, 0, 0, 5, 10, 30)),
        }


def agree(ask, mode, kinds, auto_drain):
    cases = (Traffic(seed, kinds, mode, auto_drain).case() for seed in range(CASES))
    assert disagreement(cases, ask) is None


@pytest.mark.parametrize("auto_drain", [True, False])
class TestBothAgreeOn:
    def test_aligned_barriers(self, ask, auto_drain):
        agree(ask, "aligned", ["aligned", "timeoutable"], auto_drain)

    def test_barriers_that_only_count(self, ask, auto_drain):
        agree(ask, "at_least_once", ["aligned"], auto_drain)

    def test_unaligned_barriers(self, ask, auto_drain):
        agree(ask, "strictly_unaligned", ["unaligned"], auto_drain)

    def test_barriers_that_become_unaligned_after_a_time(self, ask, auto_drain):
        agree(ask, "alternating", ["timeoutable"], auto_drain)

    def test_all_kinds_together(self, ask, auto_drain):
        agree(ask, "alternating", ["timeoutable", "unaligned", "aligned"], auto_drain)
