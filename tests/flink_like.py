"""A server that answers as Flink's REST interface does, from a recording; it can be told to misbehave."""

import json
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit


class Flink(ThreadingHTTPServer):
    """Answers as a cluster that runs the job of a recording; it can be told to misbehave."""

    daemon_threads = True

    def __init__(self, told):
        super().__init__(("127.0.0.1", 0), Handler)
        self.told, self.details, self.asked, self.headers = told, 0, [], []
        self.special = {}  # path ending → (status, headers, body), or what it hangs on: seconds, or an event
        self.authorization = None
        self.jobs = [{"jid": told.job, "name": "runs", "state": "RUNNING", "start-time": 1}]
        self.ends_after = None
        self.prefix = ""  # as a proxy puts it in front
        self.tick_ms = 0  # by how much the clock, and what moved, goes on with each reading after the second
        self.thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def gone_on_ms(self):
        return self.tick_ms * max(self.details - 3, 0)

    def later(self, path, metric):
        """Let a watermark or a counter go on as it did between the two readings."""
        first, second = self.told.readings[0], self.told.readings[-1]
        name, value = metric["id"], metric["value"]
        before = next((each["value"] for each in first[path] if each["id"] == name), value)
        if before == value or not name.endswith(("Watermark", "RecordsIn", "RecordsOut")) or not self.gone_on_ms:
            return value
        job = f"/jobs/{self.told.job}"
        elapsed_ms = second[job]["now"] - first[job]["now"]
        return str(int(value) + (int(value) - int(before)) * self.gone_on_ms // elapsed_ms)

    def answer(self, target):
        parts = urlsplit(target)
        if not parts.path.startswith(self.prefix):
            return (404, {}, b"nothing here")
        path = parts.path[len(self.prefix) :]
        for ending, special in self.special.items():
            if path.endswith(ending):
                return special
        if path == "/jobs/overview":
            return {"jobs": self.jobs}
        if path in self.told.once:
            return self.told.once[path]
        if path == f"/jobs/{self.told.job}":
            self.details += 1
            if self.ends_after is not None and self.details > self.ends_after:
                return (404, {}, json.dumps({"errors": ["Job not found"]}).encode())
        reading = self.told.readings[0 if self.details <= 2 else 1]
        if path.endswith("/metrics"):
            values = {each["id"]: self.later(path, each) for each in reading[path]}
            asked = parse_qs(parts.query).get("get")
            if asked is None:
                return [{"id": name} for name in values]
            return [{"id": name, "value": values[name]} for name in unquote(asked[0]).split(",")]
        if path == f"/jobs/{self.told.job}":
            return {**reading[path], "now": reading[path]["now"] + self.gone_on_ms}
        if path.endswith("/watermarks") and path in reading:
            return [{"id": each["id"], "value": self.later(path, each)} for each in reading[path]]
        if path in reading:
            return reading[path]
        return (404, {}, json.dumps({"errors": ["Not found: <that>\n\tat Java"]}).encode())


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.command)
        self.server.headers.append(dict(self.headers))
        if self.server.authorization not in (None, self.headers.get("Authorization")):
            return self.send(401, {}, b"")
        answer = self.server.answer(self.path)
        if isinstance(answer, float | threading.Event):
            time.sleep(answer) if isinstance(answer, float) else answer.wait(600)
            return self.send(200, {}, b"{}")
        if isinstance(answer, tuple):
            return self.send(*answer)
        return self.send(200, {}, json.dumps(answer).encode())

    def send(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def serving(told):
    """Run such a server while the block lasts."""
    server = Flink(told)
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        server.thread.join(10)
