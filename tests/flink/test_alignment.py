"""A fast and a slow source in one alignment group: held, or not; live, recorded, and as data."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

import wmviz
from wmviz import charts
from wmviz.flink import AlignmentRun, FlinkError, align, alignment, alignment_code, recorded, startup
from wmviz.flink.alignment import Look
from wmviz.flink.rest import Rest, live
from wmviz.flink.standalone import free_port
from wmviz.scenario import ScenarioError
from wmviz.trace import TraceError

DRIFT_MS = 20_000


def made(*fast, where="source"):
    """Make a run: a slow number each 100 ms, a second each, and the fast source's newest second at each of them."""
    looks, before = [], -1
    for at, newest in enumerate(fast):
        looks += [Look("fast", 100 * at, 1_000 * n, None) for n in range(before + 1, newest + 1)]
        looks.append(Look("slow", 100 * at, 1_000 * at, None))
        before = newest
    return AlignmentRun(where, DRIFT_MS, tuple(looks))


def check_held(run):
    assert run.is_held
    assert DRIFT_MS < run.lead_ms < 90_000, "samples are taken for a while before it waits"
    assert len(run.waits) >= 2
    newest = [look.event_time_ms for look in run.looks if look.source == "fast"]
    assert newest == [1_000 * n for n in range(241)], "what waited is read later"


def check_not_held(run):
    assert not run.is_held
    assert run.lead_ms > 110_000
    assert run.waits == []


CHECKS = {"source": check_held, "after": check_not_held, "off": check_not_held}


@pytest.mark.flink
@pytest.mark.parametrize("where", CHECKS)
def test_only_alignment_on_the_source_holds_the_fast_one(where):
    run = align(where)
    assert run.where == where
    CHECKS[where](run)
    watermarks = run.table.groupby("source")["watermark_ms"]
    assert watermarks.apply(lambda column: column.dropna().is_monotonic_increasing).all()
    assert watermarks.max()["slow"] >= 50_000


@pytest.mark.flink
def test_flink_tells_the_drift_but_not_the_wait_of_a_whole_source(monkeypatch):
    """A reader of metrics finds a drift above 0 while the source waits, no paused time, and time spent idle."""
    rest = Rest(f"localhost:{free_port()}")
    fast = {"watermarkAlignmentDrift": 0, "accumulatedPausedTimeMs": 0, "sourceIdleTime": 0, "accumulateIdleTimeMs": 0}
    over = threading.Event()

    def watch():
        while not over.wait(0.3):
            with suppress(FlinkError):
                job = live(rest.address).job
                for task in rest.get(f"/jobs/{job}")["vertices"]:  # none while the job is about to start
                    if task["name"].startswith("Source: fast"):
                        look(f"/jobs/{job}/vertices/{task['id']}/metrics")

    def look(path):
        ids = [each["id"] for each in rest.get(path) if each["id"].rpartition(".")[2] in fast]
        for each in rest.get(f"{path}?get={','.join(ids)}") if ids else ():
            name = each["id"].rpartition(".")[2]
            fast[name] = max(fast[name], int(each["value"]))

    shown = {"rest.port": str(rest.port), "metrics.fetcher.update-interval": "200"}
    environment = alignment._environment
    monkeypatch.setattr(alignment, "_environment", lambda settings: environment({**settings, **shown}))
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        assert align().is_held
    finally:
        over.set()
        watcher.join(20)
    assert 0 < fast["watermarkAlignmentDrift"] < 90_000
    assert fast["accumulatedPausedTimeMs"] == 0
    assert fast["sourceIdleTime"] > 300
    assert fast["accumulateIdleTimeMs"] > 1_000, "else its task is busy: it sleeps over each number"


@pytest.mark.flink
def test_a_job_that_takes_too_long_is_cancelled():
    with pytest.raises(FlinkError, match=r"did not end within 2 s and was cancelled"):
        align(limit_s=2)


@pytest.fixture
def interruptible():
    """Take interrupts: what a shell starts in the background ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.flink
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_cancels_the_job(monkeypatch):
    java = startup.job().get_gateway().jvm.java

    def tasks():
        threads = java.lang.Thread.getAllStackTraces().keySet()
        return sorted(thread.getName() for thread in threads if thread.getName().startswith("Source: fast"))

    def is_waited_for():
        """Say whether Python waits for the results; before that it has no hold of the job yet."""
        threads = java.lang.Thread.getAllStackTraces().keySet()
        of_python = [thread for thread in threads if thread.getName().startswith("Thread-")]
        return any(
            frame.getMethodName() == "iteratorToList" for thread in of_python for frame in thread.getStackTrace()
        )

    def interrupt():
        while not (tasks() and is_waited_for()):
            time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    def interrupted(*job):
        threading.Thread(target=interrupt, daemon=True).start()
        return collect(*job)

    def days_long(program):
        job = load(program)
        job.NUMBERS = dict.fromkeys(job.NUMBERS, 10_000_000)
        return job

    collect, load = startup.collect, alignment.Program.load
    monkeypatch.setattr(startup, "collect", interrupted)
    monkeypatch.setattr(alignment.Program, "load", days_long)
    with pytest.raises(KeyboardInterrupt):
        align()
    while tasks():  # on its own it would run for days
        time.sleep(0.1)


@pytest.mark.flink
def test_the_program_runs_alone(tmp_path):
    program = alignment_code().save(tmp_path)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=600, cwd=tmp_path)
    last = done.stdout.splitlines()[-1:]
    assert last, done.stderr[-2000:]
    assert last[0].startswith("slow at 60 s, fast ")


def test_the_program_is_complete(tmp_path):
    program = alignment_code()
    path = program.save(tmp_path)
    assert path.name == "alignment.py"
    compile(program, path, "exec")
    check = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F,E9,W6", str(tmp_path)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_lead_that_grows_is_not_held_and_one_that_stays_is():
    assert not made(*range(0, 244, 4)).is_held
    assert made(*(min(4 * n, n + 25) for n in range(61))).is_held
    late = made(*(4 * n if n < 50 else 196 for n in range(61)))
    assert not late.is_held, "it waited only near the end"
    assert made(*(2 * n + 1 for n in range(61))).is_held is False
    assert made(*range(61)).is_held, "one that is no faster"
    assert not AlignmentRun("source", DRIFT_MS, ()).is_held


def test_the_lead_is_the_largest_one_while_the_slow_source_runs():
    run = made(0, 9, 9, 9, 9, 9, 6 + 4)
    assert run.leads == [(0, 0), (1000, 8000), (2000, 7000), (3000, 6000), (4000, 5000), (5000, 4000), (6000, 4000)]
    assert run.lead_ms == 8_000
    alone = AlignmentRun("off", DRIFT_MS, (*run.looks, Look("fast", 900, 99_000, None)))
    assert alone.lead_ms == 8_000


def test_a_wait_is_a_time_in_which_the_slow_one_sends_and_the_fast_one_does_not():
    assert made(0, *[9] * 6, 10).waits == [(100, 700)]
    assert made(0, *[9] * 5, 10).waits == [], "five numbers may be chance"
    assert made(0, *[9] * 9).waits == [], "it has ended"


def test_it_is_told_in_sentences():
    assert repr(made(*(min(4 * n, n + 25 + n // 20) for n in range(61)))).splitlines() == [
        "Alignment on the source: the fast source was held.",
        "While the slow one went to 1 min of event time, it was at most 28 s ahead (allowed: 20 s); it never waited.",
    ]
    told = repr(made(0, *[9] * 7, 10, where="off"))
    assert told.startswith("No alignment: the fast source was ")
    assert told.endswith("it was at most 8 s ahead; it waited once, 0.7 s in all.")
    assert repr(AlignmentRun("after", DRIFT_MS, ())).startswith("Alignment after the source: the fast source was not")


def test_looks_are_ordered_by_the_clock():
    lines = [
        json.dumps(dict(zip(Look._fields, values, strict=True)))
        for values in [("slow", 1_700, 2_000, 1_999), ("fast", 1_500, 0, -(2**63)), ("slow", 1_600, 1_000, 999)]
    ]
    assert alignment._looks(lines) == (
        Look("fast", 0, 0, None),
        Look("slow", 100, 1_000, 999),
        Look("slow", 200, 2_000, 1_999),
    )


def test_wrong_places_are_refused_in_a_sentence():
    with pytest.raises(ScenarioError, match=r"where is 'before'; write \"source\", \"after\" or \"off\""):
        align("before")
    with pytest.raises(ScenarioError, match=r'where is \[\]; write "source"'):
        align([])


def test_a_job_that_lost_numbers_is_not_judged(monkeypatch):
    pytest.importorskip("pyflink")
    monkeypatch.setattr(startup, "job", lambda: None)
    monkeypatch.setattr(alignment, "_environment", lambda settings: None)
    monkeypatch.setattr(startup, "collect", lambda stream, name, limit_s: ["{}"])
    monkeypatch.setattr(alignment.Program, "load", lambda self: Job)
    with pytest.raises(FlinkError, match="ended before both sources had sent all their numbers"):
        align()


class Job:
    NUMBERS = {"fast": 2, "slow": 1}  # noqa: RUF012
    settings = staticmethod(dict)
    build = staticmethod(lambda env, folder, where: None)


@pytest.mark.parametrize("where", CHECKS)
def test_where_flink_is_missing_a_recorded_run_is_given(monkeypatch, where):
    monkeypatch.setattr(startup, "available", lambda: (False, "PyFlink is not installed."))
    labels = []
    monkeypatch.setattr(recorded, "show_label", lambda engine, why: labels.append(why))
    run = align(where)
    assert labels == ["PyFlink is not installed."]
    assert (run.where, run.drift_ms) == (where, DRIFT_MS)
    CHECKS[where](run)
    assert run.table["at_ms"].is_monotonic_increasing
    assert run.table["at_ms"][0] == 0


def test_a_recording_is_what_was_recorded(monkeypatch, tmp_path):
    monkeypatch.setattr(alignment, "RECORDINGS", tmp_path / "alignment")
    run = made(0, 3, 5, where="after")
    alignment._record(run)
    assert alignment._recorded("after") == run


def test_the_picture_holds_what_was_seen_and_says_it(monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, "PyFlink is not installed."))
    run = align()
    bands, lines, *end = run.chart().layer
    assert [tuple(row) for row in bands.data[["from_s", "to_s"]].itertuples(index=False)] == [
        (begin / 1000, end / 1000) for begin, end in run.waits
    ]
    assert dict(lines.data["line"].value_counts()) == {"fast source": 241, "slow source": 61, "slow source + drift": 61}
    drift = lines.data.groupby("line")["event_time_s"].max()
    assert drift["slow source + drift"] - drift["slow source"] == DRIFT_MS / 1000
    assert end, "the slow one ends long before"
    shown = run._repr_html_()
    assert 'alt="Alignment on the source: the fast source was held. While the slow one' in shown
    assert "<svg" not in shown, "it is a picture, also in an untrusted notebook"
    assert set(charts.alignment(align("off")).data["line"]) == {"fast source", "slow source"}


def test_a_picture_of_something_else_is_refused():
    with pytest.raises(TraceError, match=r"takes a run of two sources, not Scenario; write wmviz.charts.alignment\("):
        charts.alignment(wmviz.scenario("watermark-alignment"))
    with pytest.raises(TraceError, match="width is 1"):
        charts.alignment(made(0, 1), width=1)


def test_a_scenario_with_alignment_points_to_the_run_on_flink():
    with pytest.raises(FlinkError, match=r"wmviz\.flink\.align shows a fast source that waits"):
        wmviz.flink.run(wmviz.scenario("watermark-alignment"))
