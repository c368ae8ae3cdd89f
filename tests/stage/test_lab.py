"""The stage in a real JupyterLab."""

from pathlib import Path

import pytest

from tests.stage.conftest import write_notebook

pytestmark = pytest.mark.browser

RUN_MS = 40_000
CELL = 'import wmviz\nstage = wmviz.play(wmviz.scenario("leaderboard"))\nstage'


@pytest.mark.timeout(300)
def test_a_notebook_plays_steps_and_recomputes(lab: tuple[str, Path], open_page) -> None:
    address, folder = lab
    write_notebook(folder / "stage.ipynb", CELL, "print('step', stage.step, stage.bound, stage.scenario.bound_ms)")
    page = open_page(f"{address}/lab/tree/stage.ipynb", offline=False)
    page.locator(".jp-CodeCell").first.wait_for(timeout=RUN_MS)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    stage = page.locator(".wmviz")
    page.wait_for_timeout(25000)
    page.screenshot(path="/tmp/st/lab.png")
    stage.locator(".wmviz-plane-svg").wait_for(timeout=5000)
    page.screenshot(path="/tmp/st/lab.png")
