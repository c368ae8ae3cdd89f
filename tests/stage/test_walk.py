"""Firings, watermarks, windows and barriers by keyboard and pointer, each with its sentence."""

from pathlib import Path

import pytest

import wmviz
from tests.stage.test_browser import READ, assert_shows
from tests.stage.test_picture import RUNNING
from wmviz.stage import save_html
from wmviz.stage.picture import picture_of

pytestmark = pytest.mark.browser

LEADERBOARD = wmviz.scenario("leaderboard")
TRACE = wmviz.simulate(LEADERBOARD)
PICTURE = picture_of(TRACE)
BUBBLE = ".wmviz-bubble"


@pytest.fixture
def page(tmp_path: Path, open_page):
    page = open_page(save_html(LEADERBOARD, tmp_path / "walk.html").as_uri())
    page.locator(".wmviz-plane-box").focus()
    page.keyboard.press("End")
    return page


def marked(page) -> int:
    return page.locator(".wmviz-plane-box .wmviz-over .wmviz-member").count()


def test_firings_are_gone_through_with_their_sentences_and_events(page) -> None:
    fires = sorted((fire[0], fire[3]) for band in PICTURE["bands"] for fire in band["fires"])
    rows = [row for _, row in fires]
    for row in reversed(rows):
        page.keyboard.press("f")
        assert page.locator(BUBBLE).text_content() == TRACE.sentence(row)
        step = TRACE.step[row]
        events = {
            event for other in TRACE.contents if TRACE.step[other] == step for event in TRACE.firing_events(other)
        }
        assert marked(page) == len(events)
        assert page.locator(".wmviz-life ol li").count() == len(events)
    page.keyboard.press("f")
    assert page.locator(BUBBLE).text_content() == TRACE.sentence(rows[-1])
    page.keyboard.press("Shift+F")
    assert page.locator(BUBBLE).text_content() == TRACE.sentence(rows[0])
    page.keyboard.press("Enter")
    assert_shows(page.evaluate(READ), TRACE, TRACE.step[rows[0]])
    page.keyboard.press("Escape")
    assert page.locator(BUBBLE).is_hidden()
    assert marked(page) == 0


def test_watermarks_and_windows_are_gone_through(page) -> None:
    rows = PICTURE["watermarks"][1]["rows"]
    for row in reversed(rows[-3:]):
        page.keyboard.press("m")
        assert page.locator(BUBBLE).text_content() == TRACE.sentence(row)
    assert page.locator(BUBBLE).get_attribute("role") == "status"
    page.keyboard.press("w")
    page.keyboard.press("w")
    words = page.locator(BUBBLE).text_content()
    assert words.startswith("[7:00, 8:00): ")
    assert "r4471 holds 3,000 and has 3,000 in the sink" in words
    page.keyboard.press("Home")
    page.keyboard.press("f")
    assert page.locator(BUBBLE).text_content() == "No firings yet."


def test_a_click_on_a_flag_marks_its_events(page) -> None:
    flag = page.locator(".wmviz-plane-box .wmviz-again .wmviz-flag").first.bounding_box()
    page.mouse.click(flag["x"] + flag["width"] / 2, flag["y"] + flag["height"] / 2)
    row = PICTURE["bands"][0]["fires"][1][3]
    assert page.locator(".wmviz-life h4").text_content() == "[6:00, 7:00) fires again"
    fired = {e for other in TRACE.contents if TRACE.step[other] == TRACE.step[row] for e in TRACE.firing_events(other)}
    assert marked(page) == len(fired)
    assert_shows(page.evaluate(READ), TRACE, TRACE.step[row])
    page.locator(".wmviz-life ol button").first.click()
    assert page.locator(".wmviz-life h4").text_content().startswith("The life of ")


def test_the_name_of_a_window_tells_what_it_holds(page) -> None:
    name = page.locator(".wmviz-band-name").first.bounding_box()
    page.mouse.move(name["x"] + 20, name["y"] + 6)
    assert "in the sink" in page.locator(BUBBLE).text_content()


def test_barriers_are_gone_to_and_tell_who_sent_them(tmp_path: Path, open_page) -> None:
    trace = wmviz.simulate(RUNNING["crash"])
    page = open_page(save_html(RUNNING["crash"], tmp_path / "barriers.html").as_uri())
    page.locator(".wmviz-plane-box").focus()
    barriers = picture_of(trace)["barriers"]
    seen = []
    for _ in range(4):
        page.keyboard.press("k")
        seen.append(page.locator(BUBBLE).text_content())
    steps = sorted({trace.step[row] for row in barriers})[:4]
    assert seen == [trace.sentence(next(row for row in barriers if trace.step[row] == step)) for step in steps]
    titles = page.locator(".wmviz-barrier title").all_text_contents()
    assert titles
    assert all("barrier" in title and title.endswith(".") for title in titles)
