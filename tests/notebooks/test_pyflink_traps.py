"""What lesson 14 says in prose: held against the engine, the recorded runs of the traps, and PyFlink's own source."""

import importlib.util
import inspect
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import wmviz
from tests.notebooks.prose import HeldProse, read_lesson
from wmviz.course.lessons import pyflink_traps as lesson
from wmviz.flink.traps_pyflink import NO_TIMESTAMP
from wmviz.scenario import Scenario
from wmviz.times import duration_text, time_ms

CELLS, PROSE = read_lesson("14-pyflink-traps")
CODE = "\n".join(cell.source for cell in CELLS if cell.cell_type == "code")

NAMES = list(wmviz.flink.traps()["trap"])
RUNS = {name: wmviz.flink.trap(name).recorded for name in NAMES}
S = wmviz.scenario("leaderboard")
SECONDS, ARRIVAL, START = lesson.in_seconds(), lesson.by_arrival(), lesson.never_changing()
RIGHT, SLOW, CLOCK, STILL = map(wmviz.simulate, (S, SECONDS, ARRIVAL, START))
UNEVEN = wmviz.scenario("quiet-partition").replace(
    name="uneven",
    events=[
        ["r4471", 1000, "6:05", "8:00:01", 0],
        ["r4471", 1000, "7:03", "8:00:03", 0],
        ["r9", 1000, "6:10", "8:00:05", 1],
        ["r9", 1000, "7:04", "8:00:07", 1],
    ],
)
BEHIND = wmviz.simulate(UNEVEN.replace(strategy_at="after"))


def watermark(trace):
    return trace.state(trace.steps - 1).watermarks["window"]


def lines(name, form="broken"):
    return getattr(RUNS[name], form).lines


def six_am(trace):
    return {key: metres for (key, start_ms, _), metres in trace.totals.items() if start_ms == time_ms("6:00")}


def winner(trace):
    totals = six_am(trace)
    return max(totals, key=totals.get)


# A piece of the prose → whether it is so.
FACTS = {
    "This lesson has thirteen of them": len(NAMES) == 13
    and set(re.findall(r'run_both\("(.*?)"\)', CODE)) == set(NAMES),
    "In six of them the job **fails**": sum(run.broken.error is not None for run in RUNS.values()) == 6,
    "In the other seven the job runs": sum(run.broken.error is None for run in RUNS.values()) == 7,
    "6:21 is 22,860,000 ms, or 22,860 s. Taken for milliseconds, that is 22.86 s": (
        time_ms("6:21") == 22_860_000 and SECONDS.events[0].event_time_ms == 22_860
    ),
    "All kilometres of the morning fall into a few seconds, so into **one** window": (
        len({w.window for w in SLOW.state(SLOW.steps - 1).windows}) == 1
        and max(e.event_time_ms for e in SECONDS.events) - min(e.event_time_ms for e in SECONDS.events) < 10_000
    ),
    "Nothing fires, nothing is late, and there is no error": not SLOW.all_firings and not len(SLOW.late),
    "3,600,000 ms, and each takes a second now: it lasts 1,000 hours, more than 41 days": (
        duration_text(3_600_000 * 1000) == "41 d 16 h" and 3_600_000 / 3600 == 1000
    ),
    "The bound of 2 minutes adds 33 hours more": duration_text(S.bound_ms * 1000) == "1 d 9 h 20 min",
    "A time of today has 13 digits in milliseconds, and 10 in seconds": (
        len(str(time_ms("2026-10-17T06:00Z"))) == 13 and len(str(time_ms("2026-10-17T06:00Z") // 1000)) == 10
    ),
    "With 16 it is in microseconds: then the watermark is far beyond the year 50,000": (
        len(str(time_ms("2026-10-17T06:00Z") * 1000)) == 16
        and 1970 + time_ms("2026-10-17T06:00Z") * 1000 / (time_ms("24:00") * 365.25) > 55_000
    ),
    "no event is out of order, and none is late": (
        [e.event_time_ms for e in ARRIVAL.events] == sorted(e.event_time_ms for e in ARRIVAL.events)
        and not len(CLOCK.late)
    ),
    "the badge goes to r9, and r4471 has lost a kilometre of 6 am to 7 am": (
        (winner(RIGHT), winner(CLOCK)) == ("r4471", "r9") and six_am(RIGHT)["r4471"] - six_am(CLOCK)["r4471"] == 1000
    ),
    "6:00 − 2 min − 1 ms = 5:57:59.999, after the first event and after the last": (
        set(list(STILL.seen_watermarks.values())[1:]) | {watermark(STILL)} == {time_ms("5:57:59.999")}
    ),
    "All metres in one hour of 21 January 1970, against two hours of a day in 2026": (
        lines("seconds-for-milliseconds") == ("1970-01-21 17:00 r9 3500 m",)
        and [line[:4] for line in lines("seconds-for-milliseconds", "mended")] == ["2026", "2026"]
    ),
    "one total for 6 am that has the kilometres of three hours": (
        len(lines("constant-field")) == 1 and len(lines("constant-field", "mended")) == 3
    ),
    "The message asks whether you forgot `assign_timestamps_and_watermarks`. It is there": (
        "did you forget to call 'data_stream.assign_timestamps_and_watermarks" in RUNS[NAMES[0]].broken.error
        and "assign_timestamps_and_watermarks(strategy)" in wmviz.flink.trap(NAMES[0]).broken
    ),
    "`with_watermark_alignment` does the same": (
        RUNS["assigner-before-alignment"].broken == RUNS["assigner-before-idleness"].broken
    ),
    "**In PyFlink the assigner comes last.**": RUNS["assigner-before-idleness"].shown,
    "r9's 6:10 is too late behind the source: r4471's 7:03 has moved the one watermark to 7:00:59.999": (
        sorted(BEHIND.outcomes().late) == ["r9@6:10"]
        and BEHIND.seen_watermarks["r9@6:10"] == time_ms("7:00:59.999")
        and not len(wmviz.simulate(UNEVEN).late)
    ),
    "behind it `with_watermark_alignment` does nothing, and says nothing (lesson 8)": (
        "nothing is aligned, and no warning says so" in wmviz.scenario("alignment-after-source").about
    ),
    "The program fails before Flink has seen it": RUNS["shared-type-information"].broken.error.startswith("TypeError"),
    "The broken program makes such a Python, an empty virtual environment, and names it": (
        "venv.create(" in wmviz.flink.trap("wrong-python").broken
    ),
    "A test for the side output, on a list: 6:21, 7:05, and then 6:48": (
        [int(m) for m in re.findall(r"_MS \+ (\d+) \* M", wmviz.flink.trap("nothing-late").broken)] == [21, 5, 48]
    ),
    "A periodic strategy emits every 200 ms": S.interval_ms == 200,
    "The rows: 6:30 with 1,200 m, then 7:01:59.999, then 6:59:59.999 with 1,300 m": all(
        row in wmviz.flink.trap("sql-minus-1-ms").broken
        for row in (
            '("r9", 1200, 6 * HOUR_MS + 30 * MINUTE_MS)',
            '("r9", 1000, 7 * HOUR_MS + 2 * MINUTE_MS - 1)',
            '("r9", 1300, 7 * HOUR_MS - 1)',
        )
    ),
    "7:01:59.999 − 2 min = 6:59:59.999, and the window fires": lines("sql-minus-1-ms")[0] == "6 am r9 1200 m",
    "7:01:59.999 − 2 min − 1 ms = 6:59:59.998, and the window waits": (
        lines("sql-minus-1-ms", "mended")[0] == "6 am r9 2500 m"
    ),
    "and the second drops that one, and counts 1": "numLateRecordsDropped: 1" in lines("two-phase-dropped"),
    "With `ONE_PHASE` it counts each row": "numLateRecordsDropped: 3" in lines("two-phase-dropped", "mended"),
    "−9223372036854775808 is `Long.MIN_VALUE`": wmviz.times.MIN_MS == -9223372036854775808,
}


class TestProse(HeldProse):
    """What the prose says is so."""

    least_sums = 2


def test_the_jobs_of_the_cells_are_those_of_the_questions():
    names: dict[str, object] = {}
    exec(next(cell.source for cell in CELLS if "def timed" in cell.source), names)
    assert [names[name] for name in ("seconds", "arrival", "start")] == [SECONDS, ARRIVAL, START]


def test_the_messages_in_the_table_are_those_of_the_runs():
    said = "".join(run.broken.error or "" for run in RUNS.values())
    for message in (
        NO_TIMESTAMP,
        "cannot pickle '_thread.RLock' object",
        "No module named 'pyflink'",
        '"element.f1" is',
    ):
        assert message in said
        assert message.replace('"', "`") in PROSE


def test_the_first_window_of_seconds_fires_after_1000_hours():
    def fires(after_s):
        events = [["r9", 1, 0, 0], ["r9", 1, after_s, after_s * 1000]]
        return bool(wmviz.simulate(Scenario.of(name="long", bound="0 ms", window="1 h", events=events)).all_firings)

    assert not fires(3_600_000 - 1)
    assert fires(3_600_000)


def test_pyflink_is_written_as_the_lesson_says():
    """The lines that lose the assigner, in the PyFlink that is installed."""
    pytest.importorskip("pyflink")
    from pyflink.common import WatermarkStrategy
    from pyflink.datastream import StreamExecutionEnvironment

    (shown,) = re.findall(r"(?<=idle_timeout\):\n    )return .*", PROSE)
    assert shown in inspect.getsource(WatermarkStrategy.with_idleness)
    assert "watermark_strategy._j_watermark_strategy," in inspect.getsource(StreamExecutionEnvironment.from_source)


def test_flinks_classes_need_java_11_or_newer(flink):
    """A class file names the Java that it was compiled for: 55 is Java 11."""
    assert flink.available()[0]
    (jar,) = (Path(importlib.util.find_spec("pyflink").origin).parent / "lib").glob("flink-dist-*.jar")
    with zipfile.ZipFile(jar) as classes:
        assert int.from_bytes(classes.read("org/apache/flink/api/common/JobID.class")[6:8]) == 55
    assert "Flink's classes need 11 or newer" in PROSE


WORKER = """
import os, sys
from wmviz.flink import startup

startup.job()
from pyflink.common import Configuration, Types
from pyflink.datastream import StreamExecutionEnvironment

settings = Configuration()
settings.set_string("python.execution-mode", "process")
env = StreamExecutionEnvironment.get_execution_environment(settings)
env.set_python_executable(sys.executable)
process = env.from_collection([1], Types.LONG()).map(lambda _: os.getpid(), Types.LONG())
with process.execute_and_collect() as numbers:
    print([number == os.getpid() for number in numbers])
"""


@pytest.mark.flink
def test_the_worker_of_a_local_job_is_a_thread_of_this_program():
    """In process mode, too: PyFlink starts a process for the worker on a cluster only.

    In a program of its own, since from then on this program would pass for a worker.
    """
    done = subprocess.run([sys.executable, "-c", WORKER], capture_output=True, text=True, timeout=600, check=False)
    assert "[True]" in done.stdout, done.stderr
    assert "of a job on your machine it is a thread of your program" in PROSE
