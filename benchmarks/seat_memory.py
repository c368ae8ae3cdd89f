"""What one seat of a workshop needs in memory: ``python -m benchmarks.seat_memory [NAME…]``. Linux only, by /proc.

Each measure starts what a learner starts, reads the memory of its processes four times a second, and prints the most
that was seen and what was held at the end. RSS counts a page that two processes share twice; PSS counts it once, as the
limit of a container does. Nothing is estimated.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import nbformat
from jupyter_client.manager import start_new_kernel

EVERY_S, LIMIT_S = 0.25, 300
NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
STAGE = "import wmviz; wmviz.play(wmviz.scenario('leaderboard'))"
COMPARE = f"{STAGE}; wmviz.play(wmviz.compare(wmviz.scenario('leaderboard')))"
CLUSTER = f"{STAGE}; wmviz.flink.recover(cluster=True)"


class Held(NamedTuple):
    """Memory of a tree of processes."""

    rss_kb: int
    pss_kb: int
    processes: int


class Reading(NamedTuple):
    """What was seen of a tree while it ran: the most, and the end."""

    most: Held
    last: Held


def tree(root: int) -> set[int]:
    """Give a process and all that come from it."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):  # it may have ended by now
                # The name in brackets may hold spaces; the parent is the second word after it.
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def held(root: int) -> Held:
    """Add up the memory of a tree."""
    rss, pss, count = 0, 0, 0
    for pid in tree(root):
        with suppress(OSError):
            numbers = dict(re.findall(r"^(\w+): +(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M))
            rss, pss, count = rss + int(numbers["Rss"]), pss + int(numbers["Pss"]), count + 1
    return Held(rss, pss, count)


class Watch:
    """Reads the memory of a tree in a thread, until it is stopped."""

    def __init__(self, root: int) -> None:
        self._root, self._end = root, threading.Event()
        self._most = held(root)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self._end.wait(EVERY_S):
            self._most = max(self._most, held(self._root), key=lambda seen: seen.pss_kb)

    def stop(self) -> Reading:
        """End the reading."""
        self._end.set()
        self._thread.join()
        last = held(self._root)
        return Reading(max(self._most, last, key=lambda seen: seen.pss_kb), last)


def cells(lesson: str) -> list[str]:
    """Give the code of a lesson."""
    path = next(NOTEBOOKS.glob(f"{lesson}-*.ipynb"))
    return [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def kernel(*codes: str) -> Reading:
    """Run code in a kernel of its own, as a notebook does."""
    manager, client = start_new_kernel(kernel_name="python3", stderr=subprocess.DEVNULL)
    try:
        watch = Watch(manager.provisioner.pid)
        for code in codes:
            answer = client.execute_interactive(code, timeout=LIMIT_S, output_hook=lambda message: None)
            if answer["content"]["status"] != "ok":
                raise SystemExit(f"the kernel could not run it: {answer['content'].get('evalue')}")
        return watch.stop()
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=False)


@contextmanager
def _server() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--port=0", "--allow-root"]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        with log.open("w") as out:
            process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, text=True, env=_own(folder))
        try:
            _wait_for(lambda: "is running at" in log.read_text())
            yield process
        finally:
            process.terminate()
            process.wait(30)


def _own(folder: str) -> dict[str, str]:
    return {**os.environ, "JUPYTER_RUNTIME_DIR": folder, "JUPYTER_PREFER_ENV_PATH": "1"}


def _wait_for(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not ready():
        if time.monotonic() > deadline:
            raise SystemExit("JupyterLab did not start.")
        time.sleep(EVERY_S)


def server() -> Reading:
    """Start JupyterLab, with no notebook open."""
    with _server() as process:
        watch = Watch(process.pid)
        time.sleep(5)
        return watch.stop()


MEASURES: dict[str, tuple[str, Callable[[], Reading]]] = {
    "server": ("JupyterLab, no notebook open", server),
    "stage": ("a kernel with a stage", lambda: kernel(STAGE)),
    "compare": ("a kernel with a stage and one JVM, after a comparison", lambda: kernel(COMPARE)),
    "lesson": ("lesson 04 from top to bottom", lambda: kernel(*cells("04"))),
    "cluster": ("a kernel with one JVM and a cluster that loses a TaskManager", lambda: kernel(CLUSTER)),
    "longest": ("lesson 17 from top to bottom, with that cluster", lambda: kernel(*cells("17"))),
}


def main(names: list[str]) -> int:
    """Print a row for each measure."""
    if not Path("/proc/self/smaps_rollup").exists():
        print("wmviz: this measure reads Linux's /proc; run it on Linux or in a container.", file=sys.stderr)
        return 1
    if unknown := set(names) - set(MEASURES):
        print(f"wmviz: no measure {', '.join(sorted(unknown))}; write some of {', '.join(MEASURES)}.", file=sys.stderr)
        return 1
    print(f"{'MB':60}{'most':>8}{'RSS':>8}{'at the end':>12}{'processes':>11}")
    for name in names or MEASURES:
        what, measure = MEASURES[name]
        most, last = measure()
        numbers = f"{most.pss_kb / 1024:8.0f}{most.rss_kb / 1024:8.0f}{last.pss_kb / 1024:12.0f}{most.processes:11}"
        print(f"{what:60}{numbers}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
