"""A browser and a JupyterLab for the tests of the stage; each ends with the tests, and every wait has a limit."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WAIT_MS = 20_000
LAB_START_S = 90


@pytest.fixture(scope="module")
def browser(chromium_path: str):
    """Give a Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS, timeout=WAIT_MS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser):
    """Give a function that opens a page with no network; what its scripts complain about fails the test."""
    contexts, complaints = [], []

    def open_it(address: str, *, width: int = 1280, theme: str = "light", offline: bool = True, **options):
        size = {"width": width, "height": 800}
        context = browser.new_context(viewport=size, color_scheme=theme, offline=offline, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[tuple[str, Path]]:
    """Start JupyterLab on a free port, in a folder of its own; give its address and the folder."""
    folder = tmp_path_factory.mktemp("lab")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = tmp_path_factory.mktemp("jupyter")
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "JUPYTERLAB_SETTINGS_DIR")
    workspace = {"JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces")}
    environment = {**os.environ, **workspace, **{place: str(home / place.lower()) for place in places}}
    environment.pop("WMVIZ_STAGE", None)
    environment["PYTHONPATH"] = str(root)
    options = [f"--port={port}", "--ServerApp.port_retries=0", "--ip=127.0.0.1", f"--ServerApp.root_dir={folder}"]
    quiet = ["--no-browser", "--allow-root", "--IdentityProvider.token=", "--LabApp.news_url="]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options, *quiet], env=environment, stdout=log, stderr=log
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/api", server, home / "log")
        yield address, folder
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(10)


def _wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + LAB_START_S
    while time.monotonic() < end:
        assert server.poll() is None, f"JupyterLab has ended: {log.read_text()[-2000:]}"
        try:
            urllib.request.urlopen(address, timeout=2).close()
            return
        except OSError:
            time.sleep(0.3)
    pytest.fail(f"JupyterLab did not answer in {LAB_START_S} s: {log.read_text()[-2000:]}")


def write_notebook(path: Path, *cells: str) -> None:
    """Write a notebook of code cells."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)
