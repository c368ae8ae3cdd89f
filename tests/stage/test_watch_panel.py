"""The live panel in a real JupyterLab, on a server that answers as Flink does."""

from pathlib import Path

import pytest

from tests.flink_like import serving
from tests.stage.jupyter import START_MS, write_notebook
from wmviz.diagnosis import answers
from wmviz.flink.broken import RECORDINGS

pytestmark = pytest.mark.browser

THREADS = """\
import threading
print("reading:", sum(thread.name == "wmviz-watch" for thread in threading.enumerate()), panel.running)"""


@pytest.fixture
def flink_like():
    """Return a server that plays a silent partition; its clock goes on."""
    with serving(answers.load(RECORDINGS / "idle-partition.json")) as server:
        server.tick_ms = 5_000
        yield server


@pytest.fixture
def page(lab: tuple[str, Path], open_page, flink_like, request):
    """Open a notebook with a panel and run it."""
    address, folder = lab
    panel = f'import wmviz\npanel = wmviz.watch("{flink_like.address}", every=1, wait=1)\npanel'
    name = f"{request.node.name}.ipynb"  # of its own, so that its kernel is new
    write_notebook(folder / name, panel, THREADS)
    page = open_page(f"{address}/lab/tree/{name}?reset", offline=False)
    page.get_by_text("| Idle").wait_for(timeout=START_MS)
    run(page)
    return page


def run(page):
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()


def next_reading(page, times=1):
    for _ in range(times):
        line = page.locator(".wmviz-bar span").text_content()
        page.wait_for_function("line => document.querySelector('.wmviz-bar span').textContent !== line", arg=line)


def until_it_is_quiet(page, flink_like):
    """Wait until nothing is asked for longer than it is from one reading to the next; give how much was asked."""
    for _ in range(20):
        asked = len(flink_like.asked)
        page.wait_for_timeout(4_000)
        if len(flink_like.asked) == asked:
            return asked
    raise AssertionError("it goes on asking")


def test_it_is_read_again_and_what_a_reader_has_opened_stays(page, flink_like) -> None:
    said = page.locator(".wmviz-watch .wmviz-fault")
    said.wait_for(timeout=START_MS)
    assert "Idle partition: runs-1 in subtask 1 of Source: runs" in said.text_content()
    assert page.get_by_role("status").filter(has_text="Idle partition").count() == 1
    page.get_by_text("reading: 1 True").wait_for()  # the next cell ran meanwhile

    # By keyboard: a fold is opened, and stays open and in focus while the numbers change.
    fold = page.locator("summary", has_text="Ruled out first")
    fold.focus()
    page.keyboard.press("Enter")
    node = said.element_handle()
    next_reading(page, 3)
    assert page.evaluate("document.activeElement.textContent") == "Ruled out first"
    assert page.evaluate("document.activeElement.parentElement.open")
    assert node.evaluate("node => node.isConnected")  # the same sentence is not said again
    lines = page.locator(".wmviz-watch svg[role=img]")
    assert lines.count() == 4
    assert "behind the clock by" in lines.first.get_attribute("aria-label")

    # The button stops it and lets it go on.
    button = page.get_by_role("button", name="Stop reading")
    button.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Go on reading").wait_for()
    asked = until_it_is_quiet(page, flink_like)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Stop reading").wait_for()
    next_reading(page)
    assert len(flink_like.asked) > asked


def test_it_stops_when_its_cell_is_run_again_and_when_it_is_gone(page, flink_like) -> None:
    page.locator(".wmviz-watch .wmviz-fault").wait_for(timeout=START_MS)
    run(page)
    page.wait_for_function("[...document.querySelectorAll('.jp-InputPrompt')].some((e) => e.textContent === '[4]:')")
    page.locator(".wmviz-watch .wmviz-fault").wait_for()
    page.get_by_text("reading: 1 True").or_(page.get_by_text("reading: 2 True")).wait_for()
    page.wait_for_timeout(2_000)
    page.get_by_role("menuitem", name="Edit", exact=True).click()
    page.get_by_text("Clear Outputs of All Cells").click()
    until_it_is_quiet(page, flink_like)


def test_it_fits_a_narrow_page_and_the_dark_theme(lab, open_page) -> None:
    address, folder = lab
    write_notebook(folder / "file.ipynb", f'import wmviz\nwmviz.watch(r"{RECORDINGS / "idle-partition.json"}")')
    page = open_page(f"{address}/lab/tree/file.ipynb?reset", offline=False, width=700, theme="dark")
    page.get_by_text("| Idle").wait_for(timeout=START_MS)
    run(page)
    panel = page.locator(".wmviz-watch")
    panel.wait_for(timeout=START_MS)
    assert page.get_by_text("Recorded: idle-partition.json, read at").count() == 1
    assert panel.get_by_role("button").count() == 0
    assert panel.evaluate("panel => panel.scrollWidth <= panel.clientWidth")
    scroll = page.get_by_role("region", name="Watermarks by subtask")
    scroll.focus()
    assert scroll.evaluate("box => box === document.activeElement")
