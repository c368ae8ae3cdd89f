"""A browser and a JupyterLab for the tests of the stage; each ends with the tests, and every wait has a limit."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stage.jupyter import CHROMIUM_FLAGS, WAIT_MS, jupyterlab


@pytest.fixture(scope="module")
def browser(chromium_path: str):
    """Give a Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=CHROMIUM_FLAGS, timeout=WAIT_MS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser):
    """Give a function that opens a saved stage with no network; what its scripts complain about fails the test."""
    contexts, complaints = [], []

    def open_it(address: str, *, width: int = 1280, theme: str = "light", offline: bool = True, **options):
        size = {"width": width, "height": 800}
        context = browser.new_context(viewport=size, color_scheme=theme, offline=offline, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        if address.startswith("file:"):
            page.locator(".wmviz-plane").first.wait_for()
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Start JupyterLab; give its address and the folder of its notebooks."""
    folder = tmp_path_factory.mktemp("notebooks")
    with jupyterlab(folder, tmp_path_factory.mktemp("jupyter")) as address:
        yield address, folder
