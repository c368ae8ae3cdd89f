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

from wmviz.flink import FlinkError, cluster, live, program, startup
from wmviz.flink.rest import Rest
from wmviz.flink.standalone import free_port

IDLE_SOURCE = Path(__file__).parents[1] / "differential" / "IdleSource.java"
SEEN_SOON = {"python.execution-mode": "thread", "metrics.fetcher.update-interval": "200", "parallelism.default": "1"}

MIN, MAX = -(2**63), 2**63 - 1
SOURCE = {
    "0.busyTimeMsPerSecond": "258.0",
    "0.idleTimeMsPerSecond": "742",
    "0.backPressuredTimeMsPerSecond": "0",
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
        ("source", 0, "Source__a.b", None, 246_999, None, 258, 742, 0),
        ("source", 1, "Source__a.b", None, None, None, None, None, None),
        ("window", 0, "sums", 246_999, 2**63 - 1, 3, None, None, None),
    ]
    assert list(table.columns)[3:] == [
        "input_watermark_ms",
        "output_watermark_ms",
        "dropped",
        "busy",
        "idle",
        "backpressured",
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


@pytest.mark.flink
@pytest.mark.timeout(200)
def test_a_real_job_is_seen_while_it_runs():
    job, java = startup.job(), startup.job().get_gateway().jvm
    from pyflink.common import Configuration, Time, Types
    from pyflink.datastream import DataStream, StreamExecutionEnvironment
    from pyflink.datastream.window import TumblingEventTimeWindows

    jar = job.compile_java(IDLE_SOURCE.read_text(), program.source("LateCounter.java"))
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
        numbers = flink.connector.datagen.source.DataGeneratorSource(java.differential.IdleSource(), 80, slowly, text)
        source = DataStream(env._j_stream_execution_environment.fromSource(numbers, stamps, "numbers", text))
        windows = source.key_by(len, Types.INT()).window(TumblingEventTimeWindows.of(Time.seconds(10)))
        stream = windows.reduce(lambda one, other: one + other).name("sums")
    running = threading.Thread(target=startup.collect, args=(stream, "seen", 60))
    running.start()
    found, deadline = None, time.monotonic() + 60
    while found is None and time.monotonic() < deadline:
        with suppress(FlinkError):
            found = live(f"localhost:{port}", "seen")
        time.sleep(0.1)
    looks = found.watch(limit_s=60, every_s=0.2)
    running.join(60)
    sums = looks[looks["operator"].str.startswith("sums")]
    watermarks = sums["input_watermark_ms"].dropna().tolist()
    assert watermarks == sorted(watermarks)
    assert len(set(watermarks)) > 3
    assert all((watermark_ms + 1) % 1000 == 0 for watermark_ms in watermarks if watermark_ms < MAX)
    assert set(sums["dropped"].dropna()) == {0}
    assert (looks[["busy", "idle", "backpressured"]].dropna() >= 0).all(axis=None)
    assert len(looks["idle"].dropna()) > 3


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
