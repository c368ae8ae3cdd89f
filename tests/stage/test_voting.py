"""A vote in a real JupyterLab: hands by keyboard, the truth, and the stage that plays it."""

from pathlib import Path

import pytest

import wmviz
from tests.stage.jupyter import START_MS, write_notebook
from wmviz import course

pytestmark = pytest.mark.browser

CELL = 'import wmviz\nfrom wmviz import course\nv = course.vote(wmviz.scenario("leaderboard"))\nv'


def test_a_room_votes_and_sees_what_happens(lab: tuple[str, Path], open_page) -> None:
    address, folder = lab
    write_notebook(folder / "vote.ipynb", CELL)
    page = open_page(f"{address}/lab/tree/vote.ipynb?reset", offline=False)
    page.get_by_text("| Idle").wait_for(timeout=START_MS)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.locator(".wmviz-plane").wait_for(timeout=START_MS)

    first, second = course.vote(wmviz.scenario("leaderboard")).ballots[:2]
    page.get_by_text(first.question.text).first.wait_for()
    assert not page.get_by_text(first.question.solution.why).count()

    # "+" by keyboard, and a number typed or turned with the arrow keys.
    more = page.get_by_role("button", name="+", exact=True)
    more.first.focus()
    for _ in range(3):
        page.keyboard.press("Enter")
    page.get_by_text("3 of 3, 100 %").wait_for()
    numbers = page.locator(".wmviz-vote input[type=number]")
    numbers.nth(1).focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("8")
    page.keyboard.press("Enter")
    page.get_by_text("8 of 11, 73 %").wait_for()
    page.keyboard.press("ArrowUp")
    page.get_by_text("9 of 12, 75 %").wait_for()

    page.get_by_role("button", name="Reveal").focus()
    page.keyboard.press("Enter")
    page.get_by_text(first.question.solution.why).first.wait_for()
    page.get_by_text("3 of 12 hands had it.").wait_for()
    page.wait_for_function("document.activeElement.textContent === 'Next question'")
    # The stage plays the moment in question, and stops behind it.
    moment = int(first.name.rpartition(" ")[2])
    at = "Number(document.querySelector('.wmviz-scrub').value)"
    page.wait_for_function(f"{at} === {moment}")
    page.wait_for_timeout(1_500)
    assert page.evaluate(at) == moment
    page.keyboard.press("Enter")
    page.get_by_text(second.question.text).wait_for()
    page.get_by_text("so far 1 vote, 3 of 12 hands right").wait_for()
