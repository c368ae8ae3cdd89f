"""The view of a running job, against a server that answers as Flink's REST interface does."""

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest

from wmviz import charts
from wmviz.charts.live import bar_rows, line_rows
from wmviz.charts.look import render
from wmviz.flink import FlinkError, cluster, live, program, startup
from wmviz.flink.rest import Rest, Watching, dropped, no_looks, place_of, read_looks, trace_rows, write_looks
from wmviz.flink.standalone import free_port
from wmviz.trace import Kind, TraceError

IDLE_SOURCE = Path(__file__).parents[1] / "differential" / "IdleSource.java"
SEEN_SOON = {"python.execution-mode": "thread", "metrics.fetcher.update-interval": "200", "parallelism.default": "1"}

MIN, MAX = -(2**63), 2**63 - 1
SOURCE = {
    "0.busyTimeMsPerSecond": "258.0",
    "0.idleTimeMsPerSecond": "742",
    "0.backPressuredTimeMsPerSecond": "0",
    "0.accumulateBusyTimeMs": "90.0",
    "0.accumulateIdleTimeMs": "1234",
    "0.Source__a.b.currentOutputWatermark": "246999",
    "0.Source__a.b.split.topic.x-1.watermark.currentWatermark": "246999",
    "0.Source__a.b.split.topic.x-1.watermark.idleTimeMsPerSecond": "1000",
    "1.Source__a.b.currentOutputWatermark": str(MIN),
    "1.Source__a.b.split.topic.x-2.watermark.currentWatermark": str(MIN),
    "1.busyTimeMsPerSecond": "NaN",
    "1.mailboxLatencyMs_p75": "4.0",
}
WINDOW = {
    "0.currentInputWatermark": "246999",
    "0.sums.currentInputWatermark": "246999",
    "0.sums.currentOutputWatermark": str(2**63 - 1),
    "0.sums.numLateRecordsDropped": "3",
}
HISTORY = [
    {"id": 2, "status": "FAILED", "end_to_end_duration": 12, "checkpointed_size": 0, "is_savepoint": False},
    {"id": 1, "status": "COMPLETED", "end_to_end_duration": 46, "checkpointed_size": 5053, "is_savepoint": True},
]
JOBS = [
    {"jid": "old", "name": "sums", "state": "FINISHED", "start-time": 1},
    {"jid": "new", "name": "sums", "state": "RUNNING", "start-time": 2},
]


def answer(path, query):
    """Give what Flink would answer."""
    if path.endswith("/metrics"):
        metrics = SOURCE if "/v1/" in path else WINDOW
        asked = query["get"][0].split(",") if query else metrics
        return [{"id": name, "value": metrics[name]} if query else {"id": name} for name in asked]
    return {
        "/overview": {"flink-version": "2.3.0", "taskmanagers": 2, "slots-available": 0, "slots-total": 2},
        "/jobs/overview": {"jobs": JOBS},
        "/jobs/new": {"state": "RUNNING", "vertices": [{"id": "v1", "name": "source"}, {"id": "v2", "name": "window"}]},
        "/jobs/old": {"state": "FINISHED", "vertices": []},
        "/jobs/new/checkpoints": {"history": HISTORY},
    }.get(path)


class Answers(BaseHTTPRequestHandler):
    def do_GET(self):
        parts = urlsplit(self.path)
        found = answer(parts.path, parse_qs(parts.query))
        status = 200 if found is not None else 404
        body = json.dumps(found if found is not None else {"errors": ["Not found: <that>\nat Java"]}).encode()
        if parts.path == "/text":
            status, body = 200, b"<html>hello</html>"
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def address():
    """Return the address of the server."""
    with ThreadingHTTPServer(("localhost", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"localhost:{server.server_port}"
        server.shutdown()
        thread.join(10)


def test_the_table_has_a_row_for_each_operator_and_subtask(address):
    table = live(address).table
    rows = [tuple(None if pd.isna(value) else value for value in row) for row in table.itertuples(index=False)]
    assert rows == [
        ("source", 0, "Source__a.b", None, 246_999, None, 258, 742, 0, 90, 1234, None),
        ("source", 1, "Source__a.b", None, None, None, None, None, None, None, None, None),
        ("window", 0, "sums", 246_999, 2**63 - 1, 3, None, None, None, None, None, None),
    ]
    assert list(table.columns)[3:] == [
        "input_watermark_ms",
        "output_watermark_ms",
        "dropped",
        "busy",
        "idle",
        "backpressured",
        "busy_ms",
        "idle_ms",
        "backpressured_ms",
    ]


def test_each_split_has_its_watermark(address):
    splits = live(address).splits
    assert list(splits["split"]) == ["topic.x-1", "topic.x-2"]
    assert splits["watermark_ms"].tolist() == [246_999, pd.NA]
    assert splits["idle"].tolist() == [1000, pd.NA]


def test_checkpoints_are_listed_from_the_oldest_on(address):
    checkpoints = live(address).checkpoints
    assert checkpoints["id"].tolist() == [1, 2]
    assert checkpoints["status"].tolist() == ["COMPLETED", "FAILED"]
    assert checkpoints["savepoint"].tolist() == [True, False]


def test_the_running_job_is_shown_unless_one_is_named(address):
    assert live(address).job == "new"
    assert live(address, "old").state == "FINISHED"
    assert repr(live(address)) == f"<Job sums on http://{address}: running>"
    with pytest.raises(FlinkError, match=r"has no job 'other'; its jobs are: sums \(running\), sums \(finished\)"):
        live(address, "other")


def test_watching_ends_with_the_job_or_the_time(address):
    assert set(live(address).watch(limit_s=0.3, every_s=0.1)["at_s"]) >= {0.0}
    assert live(address, "old").watch().empty


def test_the_html_escapes_what_comes_from_the_job(address, monkeypatch):
    monkeypatch.setitem(WINDOW, "0.<b>.numLateRecordsDropped", "1")
    assert "&lt;b&gt;" in live(address)._repr_html_()


LOOKS = [
    ["source", 0, "events", None, 100, None, 200, 800, 0, 1000, 500, 0, 0.0],
    ["window", 0, "sums", 100, None, 0, 300, 600, 100, 0, 1000, 0, 0.0],
    ["window", 0, "sums", 100, 100, 0, None, None, None, None, None, None, 0.5],
    ["source", 0, "events", None, None, None, 200, 800, 0, 1700, 500, 200, 1.0],
    ["source", 0, "events", None, 300, None, 700, 300, 0, 100, 600, 200, 1.5],
    ["window", 0, "sums", 300, 300, 2, 500, 500, 0, 0, 1500, 0, 1.5],
    ["window", 1, "sums", 250, None, 1, 500, 500, 0, 10, 20, 30, 1.5],
]


def test_looks_can_be_stored_and_read():
    looks = read_looks(LOOKS)
    assert write_looks(looks) == LOOKS
    assert json.loads(json.dumps(write_looks(looks))) == LOOKS
    assert write_looks(no_looks()) == []


def test_watermarks_that_were_seen_become_rows_of_a_trace():
    found = trace_rows(read_looks(LOOKS))
    rows = [(record.place, record.kind, record.value, record.at_ms) for record in found]
    assert rows == [
        ("source[0]", Kind.WATERMARK, 100, 0),
        ("window[0]", Kind.WATERMARK, 100, 0),
        ("source[0]", Kind.WATERMARK, 300, 1500),
        ("window[0]", Kind.WATERMARK, 300, 1500),
        ("window[1]", Kind.WATERMARK, 250, 1500),
    ]
    assert [record.row for record in found] == list(range(5))
    assert dropped(read_looks(LOOKS)) == 3
    assert trace_rows(no_looks()) == []
    assert dropped(no_looks()) == 0


def test_the_picture_has_the_watermarks_and_what_tasks_did():
    looks = read_looks(LOOKS)
    lines, bars = line_rows(looks), bar_rows(looks)
    assert lines.to_dict("split")["data"] == [
        ["source[0]", 0.0, 100, 0],
        ["window[0]", 0.0, 100, 0],
        ["window[0]", 0.5, 100, 0],
        ["source[0]", 1.5, 300, 1],
        ["window[0]", 1.5, 300, 0],
        ["window[1]", 1.5, 250, 0],
    ]
    assert bars.to_dict("split")["data"] == [
        ["source[0]", "busy", 700, 0.7],  # the task was started again at 1.5 s
        ["source[0]", "backpressured", 200, 0.2],
        ["source[0]", "idle", 100, 0.1],
        ["window[0]", "busy", 0, 0],
        ["window[0]", "backpressured", 0, 0],
        ["window[0]", "idle", 500, 1],
    ]
    assert charts.live(looks).to_dict()["description"].endswith("in 4 looks. Dropped as late: 3.")
    assert "image" in render(charts.live(looks, name="<b>", width=300).to_dict())["text/html"]


def test_a_place_has_a_short_name():
    assert place_of("Source: events -> Extract-Timestamp -> Timestamps/Watermarks", 2) == "events[2]"
    assert place_of("window -> Map, Map", 0) == "window[0]"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [(None, "takes what"), (pd.DataFrame({"at_s": [1]}), "takes what"), (no_looks(), "nothing was seen of the job")],
)
def test_what_cannot_be_drawn_is_said(wrong, sentence):
    with pytest.raises(TraceError, match=sentence):
        charts.live(wrong)


def test_watching_sees_a_job_behind_a_port(address):
    watching = Watching()
    with watching.of(int(address.partition(":")[2])):
        deadline = time.monotonic() + 300
        while watching.looks.empty and time.monotonic() < deadline:
            time.sleep(0.05)
    assert set(watching.looks["operator"]) == {"Source__a.b", "sums"}
    assert watching.looks["at_s"].min() == 0
    with Watching().of(1):
        pass


@pytest.mark.flink
def test_a_real_job_is_seen_while_it_runs():
    java = startup.job().get_gateway().jvm
    from pyflink.common import Configuration, Time, Types
    from pyflink.datastream import DataStream, StreamExecutionEnvironment
    from pyflink.datastream.window import TumblingEventTimeWindows

    jar = startup.compiled(IDLE_SOURCE.read_text(), program.source("LateCounter.java"))
    settings, port = Configuration(), free_port()
    for name, value in {**SEEN_SOON, "rest.port": str(port)}.items():
        settings.set_string(name, value)
    flink, text = java.org.apache.flink, java.org.apache.flink.api.common.typeinfo.Types.STRING
    with startup.tidy():
        env = StreamExecutionEnvironment.get_execution_environment(settings)
        env.add_jars(jar)
        stamps = flink.api.common.eventtime.WatermarkStrategy.forMonotonousTimestamps()
        stamps = stamps.withTimestampAssigner(java.differential.IdleSource.Stamps())
        slowly = flink.api.connector.source.util.ratelimit.RateLimiterStrategy.perSecond(20.0)
        numbers = flink.connector.datagen.source.DataGeneratorSource(java.differential.IdleSource(), 160, slowly, text)
        source = DataStream(env._j_stream_execution_environment.fromSource(numbers, stamps, "numbers", text))
        windows = source.key_by(len, Types.INT()).window(TumblingEventTimeWindows.of(Time.seconds(10)))
        stream = windows.reduce(lambda one, other: one + other).name("sums")
    running = threading.Thread(target=startup.collect, args=(stream, "seen", 300))
    running.start()
    found, deadline = None, time.monotonic() + 300
    while found is None and time.monotonic() < deadline:
        with suppress(FlinkError):
            found = live(f"localhost:{port}", "seen")
        time.sleep(0.1)
    looks = found.watch(limit_s=300, every_s=0.2)
    running.join(300)
    sums = looks[looks["operator"].str.startswith("sums")]
    watermarks = sums["input_watermark_ms"].dropna().tolist()
    assert watermarks == sorted(watermarks)
    assert len(set(watermarks)) > 3
    assert all((watermark_ms + 1) % 1000 == 0 for watermark_ms in watermarks if watermark_ms < MAX)
    assert set(sums["dropped"].dropna()) == {0}
    assert (looks[["busy", "idle", "backpressured"]].dropna() >= 0).all(axis=None)
    assert len(looks["idle"].dropna()) > 3
    rows = [row.value for row in trace_rows(looks) if row.place == "sums[0]"]
    assert rows == sorted(set(rows))
    # A task may have other operators behind the window, whose watermark was read a moment later.
    task = looks[looks["task"].isin(set(sums["task"]))]
    assert set(rows) <= {ms for name in ("input_watermark_ms", "output_watermark_ms") for ms in task[name].dropna()}
    assert "sums[0]" in set(line_rows(looks)["place"])
    assert charts.live(looks).to_dict()["vconcat"]


@pytest.mark.parametrize("wrong", ["", "ftp://host", "http://", "localhost:port", "localhost:99999999"])
def test_what_is_no_address_is_refused(wrong):
    with pytest.raises(FlinkError, match='is no address of a cluster; write one like "http://localhost:8081"'):
        Rest(wrong)


def test_whoever_is_not_there_is_named():
    with pytest.raises(FlinkError, match=r"No Flink answers at http://localhost:1: .*refused"):
        cluster("http://localhost:1")


def test_errors_and_other_servers_are_told_in_a_sentence(address):
    with pytest.raises(FlinkError, match=r"/jobs/none answers 404: Not found: <that>$"):
        Rest(address).get("/jobs/none")
    with pytest.raises(FlinkError, match="answers, but not like Flink: '<html>hello"):
        Rest(address).get("/text")


def test_a_cluster_from_elsewhere_is_used_and_left_alone(address):
    with cluster(f"http://{address}/") as other:
        assert repr(other) == f"<Flink 2.3.0 cluster http://{address}: 2 TaskManagers, 0 of 2 slots free>"
        with pytest.raises(FlinkError, match="was not started here; kill a TaskManager on the machine where it runs"):
            other.kill_taskmanager()
        with pytest.raises(FlinkError, match="was not started here; start a TaskManager"):
            other.start_taskmanager()
