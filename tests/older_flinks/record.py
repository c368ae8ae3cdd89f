"""Record what a cluster of a version answers: ``python -m tests.older_flinks.record VERSION JARS``.

JARS is the folder ``deps/lib`` of the package ``apache-flink-libraries`` of that version, as its source archive has it.
A JDK of version 17 must be on the path. It takes 5 minutes and 3 GB of memory.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import wmviz
from tests.test_older_flinks import EXPECTED
from tests.test_older_flinks import texts as texts_of
from wmviz.diagnosis import answers
from wmviz.flink.rest import Rest
from wmviz.flink.standalone import free_port
from wmviz.flink.startup import FlinkError

HERE = Path(__file__).parent
TOPIC = HERE.parents[1] / "wmviz/flink/Topic.java"
SETTLE_S = 35
# What Java 17 must open to Flink, as in the options of Flink's own configuration.
OPENED = (
    "lang",
    "net",
    "io",
    "nio",
    "lang.reflect",
    "text",
    "time",
    "util",
    "util.concurrent",
    "util.concurrent.atomic",
)
JAVA = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
JAVA += [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in OPENED]
JAVA += ["--add-exports=java.base/sun.net.util=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"]
CLUSTER = {
    "jobmanager": ("600m", "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"),
    "taskmanager": ("1100m", "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"),
}
MEMORY = {
    "task.heap": "900m",
    "task.off-heap": "64m",
    "framework.heap": "128m",
    "framework.off-heap": "128m",
    "managed": "2g",
    "jvm-metaspace": "256m",
}
# Names that Flink 2 has, and those of older versions.
BEFORE_2 = {
    "import org.apache.flink.streaming.api.functions.source.legacy.": (
        "import org.apache.flink.streaming.api.windowing.time.Time;\n"
        "import org.apache.flink.streaming.api.functions.source."
    ),
    "Windows.of(Duration.ofSeconds(5))": "Windows.of(Time.seconds(5))",
    "getTaskInfo().": "",
}
BEFORE_1_19 = {"functions.sink.v2.": "functions.sink.", ".sinkTo(": ".addSink("}
# Of the answers the diagnosis reads these fields; the others are left out.
DETAIL = ("jid", "name", "state", "now", "timestamps", "vertices", "plan", "job-type")
VERTEX = ("id", "name", "parallelism", "status")
NODE = ("id", "description", "inputs")


def main(version: str, jars: str) -> None:
    """Run every job on a cluster of that version, and keep what it answered."""
    lib = Path(jars).resolve()
    with tempfile.TemporaryDirectory(prefix="older-flink-") as folder, cluster(lib, Path(folder), version) as rest:
        jar = compiled(version, lib, Path(folder))
        for name in [*(name for name in EXPECTED if not name.startswith("sql-")), str(HERE / "jobs.sql")]:
            submit(lib, Path(folder), jar, name)
        time.sleep(SETTLE_S)
        jobs = {job["name"]: job["jid"] for job in rest.get("/jobs/overview")["jobs"]}
        with ThreadPoolExecutor(8) as pool:
            found = dict(zip(jobs, pool.map(lambda job: wmviz.diagnose(rest.address, job), jobs.values()), strict=True))
    for name, diagnosis in found.items():
        print(name, [cause.name for cause in diagnosis.causes], flush=True)
    pack(version, {name: trimmed(vars(diagnosis.answers)) for name, diagnosis in found.items()})


@contextmanager
def cluster(lib: Path, folder: Path, version: str):
    """Run a JobManager and a TaskManager while the block lasts."""
    port = free_port()
    settings = {
        "jobmanager.rpc.address": "localhost",
        "jobmanager.rpc.port": free_port(),
        "rest.address": "localhost",
        "rest.port": port,
        "taskmanager.host": "localhost",
        "taskmanager.numberOfTaskSlots": 80,
        "taskmanager.cpu.cores": 2,
        "io.tmp.dirs": folder,
        "web.tmpdir": folder,
        **{f"taskmanager.memory.{name}.size": size for name, size in MEMORY.items()},
        **{f"taskmanager.memory.{name}": "512m" for name in ("network.min", "network.max")},
        **{f"taskmanager.memory.jvm-overhead.{name}": "200m" for name in ("min", "max")},
    }
    lines = "".join(f"{name}: {value}\n" for name, value in settings.items())
    (folder / ("config.yaml" if version >= "2" else "flink-conf.yaml")).write_text(lines)
    processes = []
    try:
        for name, (heap, entry) in CLUSTER.items():
            options = [
                f"-Xmx{heap}",
                f"-Djava.io.tmpdir={folder}",
                "-cp",
                f"{lib}/*",
                entry,
                "--configDir",
                str(folder),
            ]
            with (folder / f"{name}.log").open("wb") as log:
                processes.append(subprocess.Popen([*JAVA, *options], stdout=log, stderr=log, cwd=folder))
        rest = Rest(f"localhost:{port}")
        for _ in range(200):
            with suppress(FlinkError):
                if rest.get("/overview")["slots-total"]:
                    break
            time.sleep(0.5)
        yield rest
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(30)


def compiled(version: str, lib: Path, folder: Path) -> Path:
    """Compile the jobs and pack them into a jar."""
    text = (HERE / "Jobs.java").read_text()
    names = (BEFORE_2 if version < "2" else {}) | (BEFORE_1_19 if version < "1.19" else {})
    for new, old in names.items():
        text = text.replace(new, old)
    (folder / "Jobs.java").write_text(text)
    sources = [str(folder / "Jobs.java"), str(TOPIC)]
    subprocess.run(
        ["javac", "-proc:none", "-nowarn", "-cp", f"{lib}/*", "-d", str(folder / "classes"), *sources], check=True
    )
    subprocess.run(["jar", "cf", str(folder / "jobs.jar"), "-C", str(folder / "classes"), "."], check=True)
    return folder / "jobs.jar"


def submit(lib: Path, folder: Path, jar: Path, name: str) -> None:
    """Start a job, or those of a file."""
    client = ["-cp", f"{lib}/*", "org.apache.flink.client.cli.CliFrontend", "run", "-d", "-c", "Jobs", str(jar), name]
    environment = {**os.environ, "FLINK_CONF_DIR": str(folder)}
    subprocess.run([*JAVA, *client], check=True, env=environment, stdout=subprocess.DEVNULL, timeout=120, cwd=folder)


# ------------------------------------------------------------------------------------------------------ what is kept


def trimmed(told: dict) -> dict:
    """Leave out what the diagnosis does not read, and where it was."""
    once = dict(told["once"])
    once.pop(f"/jobs/{told['job']}/checkpoints/config", None)
    for path, keep in {"checkpoints": _checkpoints, "exceptions": _exceptions}.items():
        once[f"/jobs/{told['job']}/{path}"] = keep(once[f"/jobs/{told['job']}/{path}"])
    readings = [{path: _reading(answer) for path, answer in reading.items()} for reading in told["readings"]]
    kept = {"address": "http://localhost:8081", "once": once, "readings": readings, "samples": told["samples"][:2]}
    return {"format": answers.FORMAT, **told, **kept}


def _reading(answer):
    if not isinstance(answer, dict):
        return answer
    kept = {name: answer[name] for name in DETAIL if name in answer}
    kept["timestamps"] = {"RUNNING": answer["timestamps"]["RUNNING"]}
    kept["vertices"] = [{name: vertex[name] for name in VERTEX} for vertex in answer["vertices"]]
    nodes = [{name: node[name] for name in NODE if name in node} for node in answer["plan"]["nodes"]]
    kept["plan"] = {name: value for name, value in answer["plan"].items() if name == "type"} | {"nodes": nodes}
    return kept


def _checkpoints(told: dict) -> dict:
    latest = {name: told["latest"].get(name) for name in ("completed", "failed")}
    fields = ("end_to_end_duration", "checkpointed_size", "failure_message")
    return {
        "counts": told["counts"],
        "history": [{"status": each["status"]} for each in told["history"][:4]],
        "latest": {name: each and {f: each[f] for f in fields if f in each} for name, each in latest.items()},
    }


def _exceptions(told: list) -> list:
    """Keep the first sentence of the newest, and its last cause."""
    return [
        {**each, "sentences": each["sentences"][:1] + [s for s in each["sentences"][1:] if s.startswith("Caused")][-1:]}
        for each in told[:1]
    ]


def pack(version: str, jobs: dict[str, dict]) -> None:
    """Write all into one archive, which is the same bytes for the same answers."""
    raw = io.BytesIO()
    texts = {name: json.dumps(told, separators=(",", ":"), sort_keys=True) + "\n" for name, told in jobs.items()}
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in sorted({**_others(version), **texts}.items()):
            data = text.encode()
            member = tarfile.TarInfo(f"{name}.json")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    (HERE / f"{version}.tar.gz").write_bytes(gzip.compress(raw.getvalue(), 9, mtime=0))


def _others(version: str) -> dict[str, str]:
    """Give what is there already; jobs on Kafka are not recorded again."""
    with suppress(FileNotFoundError):
        return texts_of(version)
    return {}


if __name__ == "__main__":
    main(*sys.argv[1:])
