"""The stage in a real JupyterLab, with a kernel behind it."""

import re
from contextlib import suppress
from pathlib import Path

import pytest

import wmviz
from tests.stage.jupyter import run_all_cells, write_notebook
from tests.stage.test_browser import READ, assert_shows
from wmviz.stage.picture import picture_of

pytestmark = pytest.mark.browser

LEADERBOARD = wmviz.scenario("leaderboard")
CELLS = (
    'import wmviz\nstage = wmviz.play(wmviz.scenario("leaderboard"))\nstage',
    "print(f'python: step {stage.step}, bound {stage.scenario.bound_ms}, selected {stage.selected}')",
    "print(f'python: moved {stage.scenario.events != wmviz.scenario(stage.scenario.name).events}')",
)


@pytest.fixture
def page(lab: tuple[str, Path], open_page):
    """Open a notebook and run its cells."""
    address, folder = lab
    write_notebook(folder / "stage.ipynb", *CELLS)
    page = open_page(f"{address}/lab/tree/stage.ipynb?reset", offline=False)
    run_all_cells(page)
    return page


def run_until_it_says(page, cell: int, text: str | re.Pattern[str]) -> None:
    """Run a cell until it prints this: what the stage tells Python may still be on its way."""
    from playwright.sync_api import TimeoutError as TooLateError

    for _ in range(20):
        page.locator(".jp-CodeCell").nth(cell).locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        with suppress(TooLateError):
            return page.get_by_text(text).wait_for(timeout=4_000)
    raise AssertionError(f"no cell has printed {text!r}")


def test_a_notebook_plays_steps_and_recomputes(page, tmp_path: Path) -> None:
    trace = wmviz.simulate(LEADERBOARD)
    assert page.locator(".wmviz-name").text_content() == LEADERBOARD.title
    assert page.evaluate(READ)["marbles"] == []

    # Play, pause, and step.
    page.get_by_label("Speed").select_option("4")
    page.get_by_role("button", name="Play (space)").click()
    page.wait_for_function("Number(document.querySelector('.wmviz-total .wmviz-count').textContent) >= 3")
    page.get_by_role("button", name="Pause (space)").click()
    moment = int(re.search(r"moment (\d+)", page.evaluate(READ)["when"])[1])
    page.get_by_role("button", name="Forward one moment").click()
    seen = page.evaluate(READ)
    assert f"moment {moment + 1} of 19" in seen["when"]
    assert_shows(seen, trace, picture_of(trace)["moments"][moment])

    # The keys belong to the stage, not to JupyterLab: the cell stays the same, and the end is reached.
    page.locator(".wmviz-plane-box").focus()
    page.keyboard.press("End")
    assert_shows(page.evaluate(READ), trace, trace.steps - 1)
    assert ["r4471", "–", "3,000highest", "2", "final"] in page.evaluate(READ)["rows"]

    # A slider asks Python, and the picture follows.
    page.get_by_label("Allowed lateness", exact=True).focus()
    page.keyboard.press("Home")
    strict = wmviz.simulate(LEADERBOARD.replace(lateness="0 ms"))
    page.wait_for_function(f"""[...document.querySelectorAll('.wmviz-fate')].some((row) =>
        row.textContent === 'side output{strict.ledger().side_output}')""")
    assert_shows(page.evaluate(READ), strict, strict.steps - 1)
    assert page.get_by_label("Allowed lateness, as text").input_value() == "0 ms"

    # What cannot be read is answered with a sentence; what can is run.
    bound = page.get_by_label("Out-of-orderness bound, as text")
    bound.fill("soon")
    bound.press("Enter")
    page.get_by_text("'soon' is not a duration").wait_for()
    bound.fill("1 h 30 min")
    bound.press("Enter")
    slow = wmviz.simulate(LEADERBOARD.replace(lateness="0 ms", bound="1 h 30 min"))
    page.wait_for_function("document.querySelector('.wmviz-watermark-name').textContent.startsWith('watermark 6:')")
    assert_shows(page.evaluate(READ), slow, slow.steps - 1)
    assert page.locator(".wmviz-problem").is_hidden()

    # Python knows where the playhead is, and what is selected.
    page.locator(".wmviz-plane-box").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    last = len(LEADERBOARD.events) - 2
    assert page.locator(".wmviz-life h4").text_content() == f"The life of {LEADERBOARD.events[last].id}"
    run_until_it_says(page, 1, f"bound {90 * 60_000}, selected {last}")

    # A marble is dragged, Python has it, and it is undone.
    marble = page.locator(".wmviz-plane-box path.wmviz-marble").nth(10)
    marble.scroll_into_view_if_needed()
    box = marble.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 50, y, steps=5)
    page.mouse.up()
    undo = page.get_by_role("button", name="Undo", exact=True)
    for moved in (True, False):
        run_until_it_says(page, 2, f"python: moved {moved}")
        if moved:
            undo.click()

    # The theme is JupyterLab's, whatever the system wants.
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    page.wait_for_function("document.querySelector('.wmviz').dataset.theme === 'dark'")

    # Saved as a page, it plays on without the kernel.
    with page.expect_download() as download:
        page.get_by_role("button", name="HTML", exact=True).click()
    path = tmp_path / "stage.html"
    download.value.save_as(path)
    page.goto(path.as_uri())
    page.locator(".wmviz-plane-box").focus()
    page.keyboard.press("End")
    assert_shows(page.evaluate(READ), slow, slow.steps - 1)


QUIZ = (
    'import wmviz\nquiz = wmviz.play(wmviz.scenario("leaderboard"), predict=["firings"])\nquiz',
    "print(f'python: score {quiz.score}, replies {quiz.replies}')",
)


def test_predict_mode_asks_in_a_notebook_and_python_knows_the_score(lab: tuple[str, Path], open_page) -> None:
    address, folder = lab
    write_notebook(folder / "quiz.ipynb", *QUIZ)
    page = open_page(f"{address}/lab/tree/quiz.ipynb?reset", offline=False)
    run_all_cells(page)
    page.locator(".wmviz-plane-box").focus()
    for _ in range(19):
        page.keyboard.press("ArrowRight")
        if page.locator(".wmviz-score").text_content().startswith("Question 1"):
            break
    assert page.locator(".wmviz-said").text_content().endswith("Does the window [6:00, 7:00) fire now?")
    page.get_by_role("button", name="no", exact=True).click()
    assert page.locator(".wmviz-said").text_content().startswith("Right: no. The watermark is 6:59:59.998")
    assert page.locator(".wmviz-editor").is_hidden()
    run_until_it_says(page, 1, re.compile(r"python: score \(1, \d\), replies \[\{'given': 1, 'right': True\}, None"))
