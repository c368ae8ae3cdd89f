"""A savepoint and other settings from there on: real runs beside our engine, and recorded ones."""

import random
import subprocess
import sys

import pytest

import wmviz
from wmviz.flink import FlinkError, resume, resume_code, startup
from wmviz.flink.resume import Resumed, recorded_run
from wmviz.scenario import ScenarioError
from wmviz.times import MIN_MS

SCENARIO = wmviz.scenario("new-lateness")
STOP = {"what": "stop", "at": "7:02", "down": "1 min"}
PLAIN = SCENARIO.replace(happenings=[STOP])
BEFORE = {"r4471@6:30", "r9@6:40", "r7@6:59", "r9@7:01"}


def check_changed(done):
    """With the longer lateness the late event corrects a total, and our engine says the same."""
    assert done.same, done.differences
    assert done.late == []
    totals = done.outcomes.totals
    assert totals["r7", 21_600_000, 25_200_000] == 1500
    assert totals["r4471", 21_600_000, 25_200_000] == 3000, "2,000 of it were in the savepoint"
    assert {line["event"] for line in done.before} == BEFORE, "no window has fired before the savepoint"
    assert len(done.carried) == 4
    first = next(line for line in done.after if "event" in line)
    assert first == {"event": "r4471@6:56", "watermark_ms": MIN_MS}
    assert max(line["watermark_ms"] for line in done.before) > MIN_MS


def check_plain(done):
    assert done.same, done.differences
    assert done.late == ["r7@6:57"]
    assert done.outcomes.totals["r7", 21_600_000, 25_200_000] == 1000


def check_refused(done):
    assert "Cannot map checkpoint/savepoint state for operator" in done.refused
    assert not done.after
    assert ":/" not in done.refused, "no path of the machine"
    assert repr(done).splitlines()[-1] == done.refused


def check_dropped(done):
    assert done.refused is None
    assert not done.carried, "what the windows held is lost"
    assert done.outcomes.totals == {("r4471", 21_600_000, 25_200_000): 1000, ("r7", 21_600_000, 25_200_000): 500}
    assert not done.same


FORMS = [
    (SCENARIO, {}, check_changed),
    (PLAIN, {}, check_plain),
    (SCENARIO, {"new_uid": True}, check_refused),
    (SCENARIO, {"new_uid": True, "drop_state": True}, check_dropped),
]


@pytest.mark.flink
@pytest.mark.parametrize(("scenario", "choices", "check"), FORMS)
def test_on_real_flink(scenario, choices, check):
    check(resume(scenario, **choices))


@pytest.mark.parametrize(("scenario", "choices", "check"), FORMS)
def test_without_pyflink_a_recorded_run_is_shown(scenario, choices, check, monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, "There is no PyFlink."))
    done = resume(scenario.replace(title="Another title"), **choices)
    check(done)
    assert done.scenario.title == "Another title"


def some_scenario(seed):
    """Make events that come late and early, a stop between them, and a change."""
    dice = random.Random(seed)
    minutes = [390 + 4 * n + dice.choice((0, -1, 0, -70, -35, 25, -10)) for n in range(12)]
    events = [
        [dice.choice(("r9", "r7")), 100 * n, f"{at // 60}:{at % 60:02}:{n:02}", f"{7 + (8 * n) // 60}:{8 * n % 60:02}"]
        for n, at in enumerate(minutes, 1)
    ]
    change = dice.choice(
        ({"lateness": "1 h"}, {"lateness": 0}, {"bound": "30 min"}, {"bound": 0, "lateness": "20 min"})
    )
    return PLAIN.replace(
        name=f"stopped {seed}",
        events=events,
        start="6:30",
        bound=dice.choice(("0 s", "2 min", "10 min")),
        lateness=dice.choice(("0 s", "20 min")),
        window={"type": "tumbling", "size": "20 min", "offset": "5 min"},
        aggregate=dice.choice(("sum", "count", "max")),
        happenings=[{**STOP, "at": f"7:{8 * dice.randint(3, 6) + 1:02}", "with": change}],
    )


@pytest.mark.flink
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_events_and_changes_come_out_alike(seed):
    done = resume(some_scenario(seed))
    assert done.same, done
    assert len(done.outcomes.seen_watermarks) == 12


def test_the_random_scenarios_are_worth_the_time():
    traces = [wmviz.simulate(some_scenario(seed)).outcomes() for seed in (1, 2, 3)]
    assert any(outcome.late for outcome in traces)
    assert any(nth > 1 for outcome in traces for *_, nth in outcome.firings)


@pytest.mark.flink
def test_a_job_that_takes_too_long_is_cancelled():
    with pytest.raises(FlinkError, match=r"did not come to r4471@6:30('s watermark)? in time and was cancelled"):
        resume(limit_s=0)


@pytest.mark.flink
def test_the_program_runs_alone(tmp_path):
    path = resume_code().save(tmp_path)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert '"value": 1500' in done.stdout, done.stderr[-2000:]


def test_the_program_is_complete(tmp_path):
    path = resume_code(PLAIN.replace(bound="3 min", aggregate="max")).save(tmp_path)
    check = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F,E9,W6", str(tmp_path)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    text = path.read_text()
    assert '"bound_ms": 180_000, "lateness_ms": 0' in text
    assert '"value": max(values)' in text
    assert max(map(len, text.splitlines())) <= 120


def test_a_difference_is_told():
    found = recorded_run(SCENARIO, False, False)
    assert repr(found).endswith("wmviz says the same.")
    wrong = Resumed(SCENARIO, False, False, found.before, found.after[:-1])
    assert "wmviz differs: watermark seen by r9@7:24: wmviz" in repr(wrong)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"happenings": []}, "resume needs one stop and nothing else in happenings"),
        ({"happenings": [{**STOP, "with": {"interval": "1 s"}}]}, "leave interval out of with"),
        ({"happenings": [{**STOP, "at": "6:30:05"}]}, "needs events before the stop and events after it"),
        ({"happenings": [{**STOP, "at": "9:00"}]}, "needs events before the stop and events after it"),
        ({"late_to": "drop"}, 'write late_to "side"'),
        ({"checkpoints": "1 min"}, "leave out checkpoints"),
        ({"window": {"type": "sliding", "size": "1 h", "slide": "10 min"}}, "resume has tumbling windows"),
        ({"events": [["r9", 1, f"7:{n}"] for n in range(10, 55)]}, "45 are too many, 40 are fine"),
    ],
)
def test_what_the_job_cannot_run_is_said(change, sentence):
    with pytest.raises(ScenarioError, match=sentence):
        resume(SCENARIO.replace(**change))


def test_without_a_recording_the_sentence_says_so(monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, "There is no PyFlink."))
    with pytest.raises(FlinkError, match=r"There is no PyFlink\. There is no recorded run of this form"):
        resume(SCENARIO.replace(bound="7 min"))


def test_why_the_program_does_not_use_the_method_of_pyflink(flink):
    """It gives Java a boolean and a text. Java wants the form of the savepoint too."""
    jvm = startup.job().get_gateway().jvm
    methods = jvm.java.lang.Class.forName("org.apache.flink.core.execution.JobClient").getMethods()
    takes = [len(method.getParameterTypes()) for method in methods if method.getName() == "stopWithSavepoint"]
    assert takes == [3]


def test_a_stop_behind_an_event_counts_that_one():
    after = {"what": "stop", "after": "r9@7:01", "with": {"lateness": "20 min"}}
    assert "STOP_AFTER = 4" in resume_code(SCENARIO.replace(happenings=[after]))
