"""The mock interview in a real JupyterLab, by keyboard."""

import re
import time
from pathlib import Path

import pytest

from tests.stage.jupyter import START_MS, write_notebook
from wmviz import course
from wmviz.course.interview.mock import RUBRIC

pytestmark = pytest.mark.browser

CELL = 'from wmviz import course\ncourse.mock("mid", minutes=6, seed=3)'


def test_an_interview_can_be_taken_by_keyboard(lab: tuple[str, Path], open_page, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WMVIZ_DATA", str(tmp_path))
    address, folder = lab
    write_notebook(folder / "mock.ipynb", CELL)
    page = open_page(f"{address}/lab/tree/mock.ipynb?reset", offline=False)
    page.get_by_text("| Idle").wait_for(timeout=START_MS)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()

    first, second = course.mock("mid", minutes=6, seed=3).plan
    show = page.get_by_role("button", name="Show the model answer")
    show.wait_for(timeout=START_MS)
    clock = page.get_by_role("timer")
    page.wait_for_function("!/^0:0[0-4] of /.test(document.querySelector('[role=timer]').textContent)")
    assert page.get_by_text(first.question).count()
    assert not page.get_by_text(first.answer[:60]).count()

    show.focus()
    page.keyboard.press("Enter")
    page.get_by_text(first.answer[:60]).wait_for()
    stopped = clock.text_content()
    folded = page.locator("summary", has_text=first.follow_ups[0][0])
    folded.focus()
    page.keyboard.press("Enter")
    page.get_by_text(first.follow_ups[0][1][:60]).wait_for()
    page.wait_for_timeout(1_200)
    assert clock.text_content() == stopped

    page.get_by_role("button", name=f"2: {RUBRIC[2]}").focus()
    pressed = time.monotonic()
    page.keyboard.press("Enter")
    page.get_by_text(second.question).wait_for()
    minutes, seconds = re.fullmatch(r"(\d):(\d\d) of 3:00", clock.text_content() or "").groups()
    assert 60 * int(minutes) + int(seconds) <= time.monotonic() - pressed, "it begins anew"
    page.wait_for_function("document.activeElement.textContent === 'Show the model answer'")
    page.keyboard.press("Enter")
    page.get_by_role("button", name=f"0: {RUBRIC[0]}").focus()
    page.keyboard.press("Enter")
    page.get_by_text("2 of 6 points on 2 questions").wait_for()
    page.wait_for_function("document.activeElement.textContent === 'Another interview'")
    missed = page.locator("summary", has_text=second.question)
    missed.focus()
    page.keyboard.press("Enter")
    page.get_by_text(second.answer[:60]).wait_for()


def test_no_score_is_cut_off_in_a_narrow_notebook(lab: tuple[str, Path], open_page, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("WMVIZ_DATA", str(tmp_path))
    address, folder = lab
    write_notebook(folder / "narrow.ipynb", CELL)
    page = open_page(f"{address}/lab/tree/narrow.ipynb?reset", offline=False, width=720)
    page.get_by_text("| Idle").wait_for(timeout=START_MS)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.get_by_role("button", name="Show the model answer").click(timeout=START_MS)
    for score, text in enumerate(RUBRIC):
        button = page.get_by_role("button", name=f"{score}: {text}")
        button.wait_for()
        assert button.evaluate("it => it.scrollWidth <= it.clientWidth && it.scrollHeight <= it.clientHeight + 1")
        assert button.evaluate(
            "it => it.getBoundingClientRect().right <= it.closest('.jp-OutputArea').getBoundingClientRect().right"
        )
