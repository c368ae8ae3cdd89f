"""The slides of the workshop: made of cells that exist, whole on small projectors, alive without a network."""

import base64
import importlib.util
import json
import re
import sys
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

import wmviz
from tests.stage.jupyter import WAIT_MS
from wmviz.course.questions import find

ROOT = Path(__file__).resolve().parent.parent.parent
SIZES = [(1920, 1080), (1280, 800), (1024, 768)]
STAGES = "main > section.here [data-wmviz-stage]"


@cache
def tool():
    spec = importlib.util.spec_from_file_location("slides_tool", ROOT / "tools" / "slides.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


DECKS = tool().decks()


@cache
def text_of(name):
    return tool().page(DECKS[name])


@pytest.fixture(params=DECKS, scope="module")
def deck(request, tmp_path_factory):
    """Write a deck; give its description and its file."""
    path = tmp_path_factory.mktemp("slides") / f"{request.param}.html"
    path.write_text(text_of(request.param), encoding="utf-8")
    return DECKS[request.param], path


# How they are made ---------------------------------------------------------------------------------------------------


def test_there_is_a_deck_for_each_plan_of_the_guide():
    assert set(DECKS) == {"ninety-minutes", "half-day"}


def test_a_deck_takes_slides_of_another_one():
    slides = [{"cells": ["x#y"]}, {"deck": "other", "from": 3, "to": 4}]
    found = {"other": {"slides": [{"ask": "2"}, {"ask": "3"}, {"ask": "4"}]}}
    assert tool().with_borrowed(slides, found) == [{"cells": ["x#y"]}, {"ask": "3"}, {"ask": "4"}]
    with pytest.raises(tool().DeckError, match="other has no slides 4 to 5"):
        tool().with_borrowed([{"deck": "other", "from": 4, "to": 5}], found)


@pytest.mark.parametrize("name", DECKS)
def test_no_slide_needs_the_network(name):
    text = text_of(name)
    assert "default-src 'none'" in text
    assert not re.findall(r"(?:src|href|action)\s*=\s*[\"'](?!data:)[^\"']*", text)
    assert not re.findall(r"@import|url\((?!data:)", text)
    assert not re.findall(r"https?://(?!www\.w3\.org/)[^\s\"'<]+", text)


@pytest.mark.parametrize("name", DECKS)
def test_each_slide_has_one_source(name):
    for slide in DECKS[name]["slides"]:
        assert len({"cells", "ask", "stage"} & set(slide)) == 1, slide
        assert set(slide) <= {
            "cells",
            "ask",
            "stage",
            "title",
            "take",
            "layout",
            "small",
            "headings",
            "predict",
            "parts",
        }, slide


@pytest.mark.parametrize("name", DECKS)
def test_the_answer_of_a_question_is_that_of_the_engine(name):
    asked = [slide["ask"] for slide in DECKS[name]["slides"] if "ask" in slide]
    assert asked
    for item in asked:
        question = find(item)
        html = tool().ask_slide({"ask": item}).html()
        (right,) = re.findall(r'data-letter="(\w)" data-right', html)
        assert question.judge(right).right


@pytest.mark.parametrize("name", DECKS)
def test_no_slide_tells_the_answer_of_a_later_one(name):
    """Neither what a scenario says about itself, nor the right choice and its reason, before it is asked."""
    told = ""
    for slide in DECKS[name]["slides"]:
        if "stage" in slide:
            about = tool().played_in(slide["stage"]).about
            assert about
            assert about not in json.loads(stage_values(tool().stage_slide(slide).body))["picture"].values()
        elif "cells" in slide:
            told += tool().text_slide(slide).body
        else:
            solution = find(slide["ask"]).solution
            assert solution.why not in told
            assert len(solution.text) < 12 or solution.text not in told, slide


def stage_values(body):
    """Unpack what a stage on a slide is given."""
    (packed,) = re.findall(r'<script type="application/octet-stream">([^<]+)</script>', body)
    return zlib.decompress(base64.b64decode(packed)).decode()


def test_a_question_is_not_told_by_the_story_before_it():
    """8:05 has arrived, and no window has fired: the room is asked for it."""
    slides = DECKS["ninety-minutes"]["slides"]
    nth = [slide.get("ask") for slide in slides].index("6.which-fire")
    assert "no result" not in tool().text_slide(slides[nth - 1]).body


def test_the_player_comes_once():
    assert text_of("ninety-minutes").count('<script type="module" data-wmviz-player>') == 1


@pytest.mark.parametrize(
    ("described", "sentence"),
    [
        ({"cells": ["03-windows-fire#no-such-cell"]}, "03-windows-fire has no cell 'no-such-cell'."),
        (
            {"cells": ["03-windows-fire#text-the-story-a-running-app"], "take": ["Nobody"]},
            "has 0 paragraphs that begin with 'Nobody'; it must be one.",
        ),
        ({"ask": "3.watermark"}, "3.watermark has no choices."),
        ({"stage": "03-windows-fire#code-import-pandas-as-pd-import"}, "plays nothing."),
        ({"cells": ["exercises/03-windows-fire#code-watermark-course-check-3-watermark"]}, "has no output to show."),
    ],
)
def test_a_deck_that_names_what_is_not_there_is_refused(described, sentence):
    with pytest.raises(tool().DeckError, match=re.escape(sentence)):
        tool().slides_of({"title": "", "about": "", "slides": [described]})


def test_paragraphs_lists_and_programs_are_cut_at_empty_lines():
    text = "## Head\n\nOne\ntwo.\n\n- a\n- b\n\n```\n# x\n\ny\n```"
    assert tool().blocks_of(text) == ["One\ntwo.", "- a\n- b", "```\n# x\n\ny\n```"]
    assert tool().taken(text, ["- b", "One"], "here") == "- b\n\nOne\ntwo."


def test_text_is_escaped_and_leads_nowhere():
    assert "<img" not in tool().markdown("<img src=x onerror=alert(1)> [away](https://flink.apache.org)")
    assert "away" in tool().markdown("[away](https://flink.apache.org)")
    assert "flink.apache.org" not in tool().markdown("[away](https://flink.apache.org)")
    assert tool().Slide("text", "<b>", "", "<i>").html().count("&lt;") == 2


def test_a_stage_plays_what_its_cell_plays():
    assert tool().played_in("07-idle-inputs#code-wmviz-play-s") == wmviz.scenario("idle-bet")


# In a browser --------------------------------------------------------------------------------------------------------

# What reaches over the edges of the slide or its foot line; boxes inside that are cut off.
CUT_OFF = """() => {
  const slide = document.querySelector("main > section.here");
  const foot = slide.querySelector(":scope > .source").getBoundingClientRect().top;
  const cut = [];
  const parts = "h1, h2, .body, .column, .column *, .choices button, .reveal, [data-wmviz-stage]";
  for (const node of slide.querySelectorAll(parts)) {
    const box = node.getBoundingClientRect();
    if (box.width && (box.right > innerWidth + 1 || box.bottom > foot + 1 || box.top < 0 || box.left < 0))
      cut.push(`${node.tagName} ${node.className} ${Math.round(box.right)} ${Math.round(box.bottom)}`);
    if (node.closest(".column") && node.clientWidth && node.scrollWidth > node.clientWidth + 1)
      cut.push(`${node.tagName} is wider than its box: ${node.textContent.slice(0, 40)}`);
  }
  return cut;
}"""
# How much of the height above the foot line a stage fills.
FILLED = f"""() => document.querySelector("{STAGES}").getBoundingClientRect().bottom
  / document.querySelector("main > section.here > .source").getBoundingClientRect().top"""
LEADERS = f"""() => [...document.querySelectorAll("{STAGES} .wmviz-leader")]
  .filter((node) => node.getBoundingClientRect().width).length"""
browser = pytest.mark.browser


@pytest.fixture
def open_deck(browser, deck):
    """Give a function that opens a deck with no network; what goes wrong in it fails the test."""
    contexts, complaints = [], []

    def open_it(width, height, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: complaints.append(asked.url) if asked.url.startswith("http") else None)
        page.goto(deck[1].as_uri())
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert complaints == []


def settled(page) -> None:
    """Wait until the slide is laid out."""
    if page.locator(STAGES).count():
        page.locator(f"{STAGES} .wmviz-plane").wait_for()
    page.wait_for_timeout(150)


def onto(page, kind: str, nth: int = 0) -> None:
    """Go to a slide of a kind."""
    number = page.evaluate(f"slides.indexOf(document.querySelectorAll('main > .{kind}')[{nth}])")
    page.evaluate(f"go({number})")
    settled(page)


def cut_off(page) -> list[str]:
    """Give what is cut off; a slow machine may need a moment until all is laid out."""
    from playwright.sync_api import TimeoutError as TooLateError

    with suppress(TooLateError):
        page.wait_for_function(f"() => ({CUT_OFF})().length === 0", timeout=5_000)
    return page.evaluate(CUT_OFF)


def at(page) -> str:
    return page.locator("#at").text_content()


@browser
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_nothing_is_cut_off_on_any_slide(open_deck, deck, width, height):
    page = open_deck(width, height)
    count = len(deck[0]["slides"]) + 1
    for number in range(1, count + 1):
        settled(page)
        assert at(page) == f"{number} / {count}"
        assert cut_off(page) == [], f"slide {number}"
        if page.evaluate("waits(slides[at])"):
            page.keyboard.press("ArrowRight")
            assert cut_off(page) == [], f"slide {number}, told"
        if page.locator(STAGES).count():
            page.evaluate(f"(s => s.go(s.picture.steps.length - 1))(document.querySelector('{STAGES}').wmvizStage)")
            page.wait_for_timeout(150)
            assert cut_off(page) == [], f"slide {number}, at its end"
            assert page.evaluate(FILLED) > 0.75, f"slide {number}"
            page.evaluate(f"document.querySelector('{STAGES}').wmvizStage.go(-1)")
            assert page.evaluate(LEADERS) == 0, f"slide {number}, back at its start"
        page.keyboard.press("PageDown")
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")


LEAST_SHARE = 1 / 46
"""Of the height of the screen: smaller letters are lost in the last row of a room."""

SMALLEST = """() => Math.min(...[...document.querySelectorAll("main > section.here :is(.body, .choices) *")]
  .filter((node) => node.getBoundingClientRect().width)
  .filter((node) => [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim()))
  .map((node) => parseFloat(getComputedStyle(node).fontSize)))"""


@browser
def test_the_last_row_can_read_each_slide_of_text(open_deck, deck):
    page = open_deck(1280, 800)
    sizes = {}
    for number, slide in enumerate(deck[0]["slides"], 2):
        page.evaluate(f"go({number - 1})")
        settled(page)
        if "stage" not in slide:
            if page.evaluate("waits(slides[at])"):
                page.keyboard.press("ArrowRight")
            sizes[number] = page.evaluate(SMALLEST)
    assert {number: size for number, size in sizes.items() if size < 800 * LEAST_SHARE} == {}


@browser
def test_a_question_stops_before_it_is_told(open_deck):
    page = open_deck(1280, 800)
    onto(page, "ask")
    before = at(page)
    right = page.locator("section.here [data-right]")
    assert not right.locator("small").is_visible()
    page.keyboard.press("a")
    assert page.locator("section.here .picked").text_content().startswith("a) ")
    page.keyboard.press("PageDown")
    assert (at(page), right.locator("small").is_visible()) == (before, True)
    page.keyboard.press("b")
    assert page.locator("section.here .picked").text_content().startswith("a) ")
    page.keyboard.press("PageDown")
    assert at(page) != before


@browser
def test_a_stage_plays_without_a_network_and_the_keys_of_a_presenter_leave_it(open_deck):
    page = open_deck(1280, 800)
    onto(page, "stage")
    before = at(page)
    page.locator(f"{STAGES} .wmviz-plane-box").focus()
    page.keyboard.press("ArrowRight")
    assert at(page) == before
    scrub = page.locator(f"{STAGES} .wmviz-scrub")
    first = int(scrub.input_value())
    page.keyboard.press("Space")
    for _ in range(40):
        page.wait_for_timeout(250)
        if int(scrub.input_value()) >= first + 2:
            break
    assert int(scrub.input_value()) >= first + 2
    page.keyboard.press("PageDown")
    assert at(page) != before


@browser
def test_a_stage_in_predict_mode_asks_and_judges(open_deck):
    page = open_deck(1024, 768)
    for nth in range(page.evaluate("document.querySelectorAll('main > .stage').length")):
        onto(page, "stage", nth)
        if page.locator(f"{STAGES} .wmviz-score").is_visible():
            break
    page.locator(f"{STAGES} .wmviz-plane-box").focus()
    for _ in range(30):
        page.keyboard.press("ArrowRight")
        if page.locator(f"{STAGES} .wmviz-answers").locator("button, input").count():
            break
    assert page.locator(f"{STAGES} .wmviz-score").text_content().startswith("Question 1 of")
    answer = page.locator(f"{STAGES} .wmviz-answers input")
    if answer.count():
        answer.fill("1:00")
        page.keyboard.press("Enter")
    else:
        page.keyboard.press("1")
    page.locator(f"{STAGES} .wmviz-said strong", has_text=re.compile("Right|Not so")).wait_for()
    assert cut_off(page) == []


@browser
def test_the_stage_fits_again_when_the_window_changes(open_deck):
    page = open_deck(1280, 800)
    onto(page, "stage")
    for width, height in ((1280, 640), (1920, 1080), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(500)
        assert cut_off(page) == []
