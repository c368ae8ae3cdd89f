"""A JupyterLab of our own, for tests and benchmarks: a free port, folders of its own, and an end."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent.parent
CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# They only guard: a slow machine is no failure.
START_S = 300
START_MS = START_S * 1_000
WAIT_MS = 90_000
_HOME_PLACES = (
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "IPYTHONDIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
)


@contextmanager
def jupyterlab(folder: Path, home: Path) -> Iterator[str]:
    """Run JupyterLab over a folder of notebooks while the block lasts; give its address.

    Parameters
    ----------
    folder
        Where its notebooks are.
    home
        An empty folder for its settings and its log.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, **{place: str(home / place.lower()) for place in _HOME_PLACES}}
    environment.pop("WMVIZ_STAGE", None)
    environment["PYTHONPATH"] = str(ROOT)
    options = [f"--port={port}", "--ServerApp.port_retries=0", "--ip=127.0.0.1", f"--ServerApp.root_dir={folder}"]
    quiet = ["--no-browser", "--allow-root", "--IdentityProvider.token=", "--LabApp.news_url="]
    log = home / "log"
    with log.open("w") as out:
        command = [sys.executable, "-m", "jupyterlab", *options, *quiet]
        server = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/api", server, log)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(10)


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RuntimeError(f"JupyterLab has ended: {log.read_text()[-2000:]}")
        try:
            urllib.request.urlopen(address, timeout=2).close()
            return
        except OSError:
            time.sleep(0.3)
    raise TimeoutError(f"JupyterLab did not answer in {START_S} s: {log.read_text()[-2000:]}")


def write_notebook(path: Path, *cells: str) -> None:
    """Write a notebook of code cells."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)


def run_all_cells(page) -> None:
    """Run the notebook that a page shows, and wait for its stage."""
    # Cells that run before the kernel is there bring up a dialog instead.
    page.get_by_text("| Idle").wait_for(timeout=START_MS)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.locator(".wmviz-plane").wait_for(timeout=START_MS)
