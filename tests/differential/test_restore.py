"""Window operators that start with the state of another: Flink's WindowOperator with its state backend, and ours."""

import random
from pathlib import Path

import pytest

from tests.differential.oracle import case_line, disagreement
from tests.differential.steps import time_ms
from tests.semantics.cases import files, load, outputs, same
from wmviz.flink import program, startup
from wmviz.times import MAX_MS

CASES = 600
LIMIT_S = 600
LATENESSES_MS = (0, 0, 3, 5, 9, 20, MAX_MS)
WINDOWS = (
    {"assigner": "tumbling", "size_ms": 10},
    {"assigner": "sliding", "size_ms": 10, "slide_ms": 4},
    {"assigner": "sliding", "size_ms": 6, "slide_ms": 10},
    {"assigner": "session", "gap_ms": 5},
    {"assigner": "global"},
)
SESSIONS = tuple({"assigner": "session", "gap_ms": gap_ms} for gap_ms in (2, 5))
BY_THE_CLOCK = tuple({**window, "time": "processing"} for window in WINDOWS if window["assigner"] != "global")
GLOBAL_TRIGGERS = ("default", "count:3", "purging_count:2", "end_of_stream")
TRIGGERS = ("default", "default", "default", "purging_event_time", "count:2", "purging_count:3")


@pytest.fixture(scope="module")
def ask(flink):
    """Return the function that runs cases on Flink and gives what came out of each."""
    job = startup.job()
    java = Path(__file__).with_name("Restore.java").read_text(encoding="utf-8")
    jar = startup.compiled(program.source("LateCounter.java"), java)

    def answers(cases):
        from pyflink.datastream import DataStream

        with startup.sentences(), startup.tidy():
            env, java = job.environment(jar), job.get_gateway().jvm
            env.set_max_parallelism(1)  # state is made for each key group, and there are many operators
            text = java.org.apache.flink.api.common.typeinfo.Types.STRING
            lines = java.java.util.ArrayList()
            for case in cases:
                lines.add(case_line(case))
            stream = env._j_stream_execution_environment.fromCollection(lines, text)
            stream = DataStream(stream.transform("restore", text, java.differential.Restore()))
        return [
            [_output(text) for text in line.split("\t") if text] for line in startup.collect(stream, "restore", LIMIT_S)
        ]

    return answers


def _output(text):
    step, what, *words = text.split(" ")
    if what == "fire":
        key, window, watermark, values = words
        fire = {"key": key, "window": _window(window), "elements": _values(values), "at_watermark": int(watermark)}
        return {"step": int(step), "fire": fire}
    return {"step": int(step), what: _state(words[0]) if what == "state" else words[0]}


def _values(text):
    return text.split(",") if text else []


def _window(text):
    return "global" if text == "global" else [int(end) for end in text.split(":")]


def _state(text):
    kept = []
    for each in filter(None, text.split(";")):
        key, window, elements, timers = each.split("=")
        timers = sorted(map(int, _values(timers)))
        kept.append({"key": key, "window": _window(window), "elements": _values(elements), "timers": timers})
    return sorted(kept, key=str)


class Life:
    """Makes a case: a job that is stopped and resumed, with another lateness perhaps."""

    def __init__(self, seed, windows, keys="ab", spread_ms=20):
        self.seed, self.dice = seed, random.Random(seed)
        self.keys, self.spread_ms = keys, spread_ms
        self.params = {
            **self.dice.choice(windows),
            "side_output": self.dice.random() < 0.5,
            "lateness_ms": self.dice.choice(LATENESSES_MS),
            "trigger": self.dice.choice(TRIGGERS),
        }
        if self.params.get("time"):
            self.params["trigger"] = self.params["trigger"].replace("event_time", "processing_time")
        if self.params["assigner"] == "global":
            self.params["trigger"] = self.dice.choice(GLOBAL_TRIGGERS)
        self.now_ms, self.ended, self.checkpoints = 0, False, 0

    def case(self):
        weights = self.dice.choice(((9, 5, 2, 2, 1), (5, 5, 3, 3, 1)))
        ops = self.dice.choices((self.event, self.watermark, self.checkpoint, self.restore, self.state), weights, k=40)
        steps = [op(number) for number, op in enumerate(ops[: self.dice.randint(3, 40)])]
        steps = [*filter(None, steps), {"op": "state"}]
        return {"id": f"restore {self.seed}", "mechanism": "recovery", "params": self.params, "input": steps}

    def event(self, number):
        ts = time_ms(self.dice, self.now_ms, self.spread_ms)
        if "slide_ms" in self.params and not -1000 < ts < 1000:
            ts = self.now_ms  # at the ends of the range Flink gives an event windows without end
        return None if self.ended else {"op": "event", "key": self.dice.choice(self.keys), "ts": ts, "v": f"v{number}"}

    def watermark(self, _):
        if self.params.get("time"):
            self.now_ms += self.dice.choice((1, 2, 7, 30))
            return {"op": "clock", "at_ms": self.now_ms}
        self.now_ms += self.dice.randint(1, 7)
        self.ended |= self.dice.random() < 0.01
        return {"op": "watermark", "ts": MAX_MS if self.ended else self.now_ms}

    def checkpoint(self, _):
        self.checkpoints += 1
        return {"op": "checkpoint", "id": self.checkpoints, "savepoint": self.dice.random() < 0.5}

    def restore(self, _):
        if self.params.get("time"):
            self.now_ms += self.dice.choice((0, 5, 30))
        else:
            self.now_ms -= self.dice.choice((0, 0, 10, 20))  # the watermark begins anew, mostly somewhere before
        self.ended = False
        changed = {"lateness_ms": self.dice.choice(LATENESSES_MS)} if self.dice.random() < 0.7 else {}
        down = {"at_ms": self.now_ms} if self.params.get("time") else {}
        return {"op": "fail_and_restore", **changed, **down}

    def state(self, _):
        return {"op": "state"}


def lives(cases):
    for seed in range(cases):
        yield Life(seed, WINDOWS).case()
        yield Life(seed, SESSIONS, "a", 6).case()
        yield Life(seed, BY_THE_CLOCK).case()


def test_random_lives_of_jobs(ask):
    assert disagreement(lives(CASES), ask) is None


def test_the_cases_of_recovery_are_those_of_flink(ask):
    cases = [case for path in files() for case in load(path) if case["mechanism"] == "recovery"]
    answers = zip(cases, ask(cases), strict=True)
    assert [(case["id"], came) for case, came in answers if not same(case["expected"], came)] == []


@pytest.mark.xfail(strict=True, reason="our engine forgets what Flink forgets to delete: MergingWindowOperator says so")
def test_a_session_that_a_late_element_took_out_of_the_merge_set_leaves_its_content(ask):
    event = {"op": "event", "ts": 1, "v": "a"}
    steps = [event, {"op": "watermark", "ts": 5}, {"op": "checkpoint", "id": 1}]
    steps += [{"op": "fail_and_restore", "lateness_ms": 0}, {"op": "watermark", "ts": 10}, {**event, "v": "late"}]
    steps += [
        {"op": "checkpoint", "id": 2},
        {"op": "fail_and_restore"},
        {**event, "v": "b"},
        {"op": "watermark", "ts": 5},
    ]
    case = {"id": "", "mechanism": "recovery", "params": {"assigner": "session", "gap_ms": 5, "lateness_ms": 20}}
    (flink,) = ask([{**case, "input": steps}])
    assert same(flink, outputs({**case, "input": steps}))
