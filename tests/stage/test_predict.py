"""Predict mode: questions with right answers, in Python; and a reader who answers them, in a browser."""

import re
from pathlib import Path

import pytest

import wmviz
from tests.stage.test_browser import READ, assert_shows
from tests.stage.test_engines import flink
from tests.stage.test_picture import SCENARIOS
from wmviz.fields import ScenarioError
from wmviz.stage import Still, save_html
from wmviz.stage.marks import LOOKS, Look
from wmviz.stage.predicting import HEADING, KINDS, MOST_QUESTIONS, questions_of
from wmviz.stage.subject import show
from wmviz.times import time_ms
from wmviz.trace import Kind, TraceError

LEADERBOARD = wmviz.scenario("leaderboard")
_SILENT = {"empty", "spare-subtask", "lost", "no watermarks", "processing", "slow, two tasks"}
ASKED = [name for name in SCENARIOS if name not in _SILENT]


def asked(scenario: wmviz.Scenario, kinds: tuple[str, ...] = KINDS) -> list[dict]:
    trace = wmviz.simulate(scenario)
    return questions_of(trace, show(trace, scenario), kinds)


@pytest.mark.parametrize("name", ASKED)
def test_the_answers_are_what_the_trace_says(name: str) -> None:
    trace = wmviz.simulate(SCENARIOS[name])
    picture = show(trace, SCENARIOS[name])
    questions = questions_of(trace, picture, KINDS)
    assert 0 < len(questions) <= MOST_QUESTIONS
    moments = [question["moment"] for question in questions]
    assert moments == sorted(set(moments))
    for question in questions:
        first = picture["moments"][question["moment"] - 1] + 1 if question["moment"] else 0
        last = picture["moments"][question["moment"]]
        rows = [row for row in range(len(trace)) if first <= trace.step[row] <= last]
        arrived = [trace.subject[row] for row in rows if trace.kind[row] == Kind.ARRIVED]
        assert arrived == ([question["event"]] if question["event"] >= 0 else [])
        if question["kind"] == "watermark":
            value_ms = trace.value_at(("clock", trace.window_clock), last)
            assert question["answer"] in question["spellings"]
            if SCENARIOS[name].zone is None:
                assert {time_ms(text) for text in question["spellings"]} == {value_ms}
            assert not set(question["slips"]) & set(question["spellings"])
        elif question["kind"] == "late":
            looks = picture["event_looks"][question["event"]]
            ends = [look for step, look in zip(looks[::2], looks[1::2], strict=True) if step <= last]
            assert question["choices"][question["answer"]]["text"] == LOOKS[ends[-1]]
            assert not any(step < first for step in looks[::2])
        else:
            fired = {picture["bands"].index(b) for b in picture["bands"] for f in b["fires"] if first <= f[0] <= last}
            chosen = question["choices"][question["answer"]].get("band")
            offered = {choice.get("band") for choice in question["choices"]}
            assert {chosen} == fired & offered if fired & offered else chosen is None


def test_boundary_moments_are_preferred() -> None:
    questions = asked(LEADERBOARD)
    assert [question["kind"] for question in questions] == [
        *("watermark", "firings", "watermark", "firings", "late", "late"),
    ]
    one_ms = questions[1]
    assert one_ms["ask"] == "Does the window [6:00, 7:00) fire now?"
    assert one_ms["why"].endswith("the last millisecond of [6:00, 7:00) is 6:59:59.999: 1 ms is missing.")
    assert questions[0]["slips"]["6:19"] == "That forgets the 1 ms."
    assert "0:6:18" not in questions[0]["spellings"]
    assert {"6:18:59.999", "06:18:59.999"} == set(questions[0]["spellings"])
    assert len(asked(LEADERBOARD, ("late",))) == 4


def test_a_late_event_that_fires_a_window_again_is_asked_about() -> None:
    again = [question for question in asked(LEADERBOARD, ("firings",)) if "again" in question["why"]]
    assert [question["choices"][question["answer"]]["text"] for question in again] == ["[6:00, 7:00)"] * 2


@pytest.mark.parametrize("predict", ["everything", 3, ["late", "never"]])
def test_an_unknown_kind_is_refused(predict: object) -> None:
    with pytest.raises(ScenarioError, match="write True, or one or a list of 'firings', 'late', 'watermark'"):
        wmviz.play(LEADERBOARD, predict=predict)


def test_what_cannot_be_asked_is_refused_in_a_sentence() -> None:
    with pytest.raises(TraceError, match="does not report what the questions are about"):
        wmviz.play(flink(), predict=True)
    with pytest.raises(TraceError, match="predict asks about one run"):
        wmviz.play(LEADERBOARD, flink(), predict=True)
    with pytest.raises(ScenarioError, match="has no moment to ask about firings or late or watermark"):
        wmviz.play(wmviz.Scenario.of(events=[]), predict=True)


def test_the_still_and_the_text_tell_nothing() -> None:
    still = Still(LEADERBOARD, predict="late")
    text, html = repr(still), still._repr_mimebundle_()["text/html"]
    assert "4 questions to predict" in text
    assert "side output" not in text
    assert "What becomes of" in html
    ends = [looks[-1] for looks in still.picture["event_looks"] if looks]
    assert Look.SIDE_OUTPUT not in ends
    assert (still.picture["title"], still.picture["about"]) == (HEADING, "")
    stage = wmviz.play(LEADERBOARD, predict=True)
    assert repr(stage).startswith(f"{HEADING} 6 questions to predict")
    shown = [text, html, repr(stage), stage._repr_mimebundle_()[0]["text/html"]]
    assert not [page for page in shown if LEADERBOARD.title in page]
    assert (stage.score, stage.editable) == ((0, 6), False)
    assert "wmviz" in stage._repr_mimebundle_()[0]["text/html"]


# --------------------------------------------------------------------------------------------------- a reader

browser = pytest.mark.browser
SCORE = ".wmviz-score"


@pytest.fixture
def page(tmp_path: Path, open_page):
    """Open a saved page in predict mode."""
    page = open_page(save_html(LEADERBOARD, tmp_path / "predict.html", predict=True).as_uri())
    page.locator(".wmviz-plane-box").focus()
    return page


def forward_to(page, number: int) -> None:
    """Step on until a question is asked."""
    page.locator(".wmviz-plane-box").focus()
    for _ in range(30):
        if page.locator(SCORE).text_content().startswith(f"Question {number} "):
            return
        page.keyboard.press("ArrowRight")
    raise AssertionError(page.locator(SCORE).text_content())


@browser
def test_a_reader_answers_by_keyboard_alone(page) -> None:
    questions = asked(LEADERBOARD)
    trace = wmviz.simulate(LEADERBOARD)
    moments = show(trace, LEADERBOARD)["moments"]
    assert LEADERBOARD.about not in page.locator(".wmviz-note").text_content()
    assert (page.title(), page.locator(".wmviz-name").text_content()) == (HEADING, HEADING)
    for nth, question in enumerate(questions):
        forward_to(page, nth + 1)
        said = page.locator(".wmviz-said")
        assert said.text_content() == f"{question['lead']} {question['ask']}"
        # Nothing of the moment is shown before the answer.
        before = moments[question["moment"] - 1] if question["moment"] else -1
        if before >= 0:
            assert_shows(page.evaluate(READ), trace, before)
        else:
            assert page.evaluate(READ)["marbles"] == []
        if question["choices"]:
            page.keyboard.press(str(question["answer"] + 1))
        else:
            page.keyboard.type(f" {question['answer']} ")
            page.keyboard.press("Enter")
        assert said.text_content().startswith("Right: ")
        assert question["why"] in said.text_content()
        assert_shows(page.evaluate(READ), trace, moments[question["moment"]])
    assert page.locator(SCORE).text_content() == "Predict: 0 to come · 6 right of 6"
    assert "All asked: 6 of 6 right." in said.text_content()
    assert f"{LEADERBOARD.title} {LEADERBOARD.about}" in said.text_content()
    page.keyboard.press("Enter")  # the focus is on Again
    assert page.locator(SCORE).text_content() == "Predict: 6 to come"
    assert page.evaluate(READ)["marbles"] == []


@browser
def test_a_wrong_answer_is_told_with_its_reason(page) -> None:
    forward_to(page, 1)
    page.keyboard.type("6:19")
    page.keyboard.press("Enter")
    said = page.locator(".wmviz-said")
    assert said.text_content().startswith("Not so. You said 6:19; it is 6:18:59.999. That forgets the 1 ms. ")
    assert said.get_attribute("class").endswith("wmviz-wrong")
    assert said.get_attribute("aria-live") == "polite"
    assert page.locator(SCORE).text_content() == "Predict: 5 to come · 0 right of 1"


@browser
def test_a_window_is_answered_by_a_click_on_it(page) -> None:
    forward_to(page, 1)
    page.get_by_role("button", name="Skip").click()
    for number in (2, 3):
        forward_to(page, number)
        page.get_by_role("button", name="Skip").click()
    forward_to(page, 4)
    assert page.locator(".wmviz-plane-box .wmviz-offered").count() == 2
    # The band of [6:00, 7:00) is the lower one; where it is clicked, there is no marble.
    box = page.locator(".wmviz-plane-box .wmviz-offered").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] - 40, box["y"] + box["height"] / 2)
    assert page.locator(".wmviz-said").text_content().startswith("Right: [6:00, 7:00).")
    assert page.locator(".wmviz-plane-box .wmviz-offered").count() == 0
    assert page.locator(SCORE).text_content() == "Predict: 2 to come · 1 right of 4 · 3 skipped"


@browser
def test_whoever_looks_ahead_has_skipped(page) -> None:
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    page.locator(".wmviz-plane-box").focus()
    page.keyboard.press("ArrowRight")  # forward does not pass an open question
    assert page.locator(SCORE).text_content() == "Question 1 of 6"
    assert page.evaluate(READ)["marbles"] == []
    page.get_by_label("Moment", exact=True).fill("10")
    assert page.locator(SCORE).text_content() == "Predict: 1 to come · 0 right of 5 · 5 skipped"
    page.locator(".wmviz-plane-box").focus()
    page.keyboard.press("Home")
    forward_to(page, 6)
    page.locator(".wmviz-plane-box").focus()
    page.keyboard.press("End")
    assert page.locator(SCORE).text_content() == "Predict: 0 to come · 0 right of 6 · 6 skipped"


@browser
def test_the_life_of_an_event_does_not_tell_what_is_to_come(tmp_path: Path, open_page) -> None:
    page = open_page(save_html(LEADERBOARD, tmp_path / "late.html", predict="late").as_uri())
    forward_to(page, 1)
    page.get_by_role("button", name="Skip").click()
    forward_to(page, 2)
    page.locator(".wmviz-plane-box").focus()
    page.keyboard.press("ArrowDown")
    rows = page.locator(".wmviz-life li")
    hidden = [rows.nth(n).is_hidden() for n in range(rows.count())]
    later = [("wmviz-later" in (rows.nth(n).get_attribute("class") or "")) for n in range(rows.count())]
    assert hidden == later
    assert any(hidden)


@browser
def test_it_stops_by_itself_while_it_plays_and_the_still_tells_nothing(tmp_path: Path, open_page) -> None:
    path = save_html(LEADERBOARD, tmp_path / "play.html", predict=["firings"])
    assert "side output:" not in re.sub(r"<script.*?</script>", "", path.read_text(), flags=re.DOTALL)
    page = open_page(path.as_uri(), reduced_motion="reduce")
    page.get_by_label("Speed").select_option("8")
    page.get_by_role("button", name="Play (space)").click()
    page.wait_for_function("document.querySelector('.wmviz-score').textContent.startsWith('Question 1')")
    assert page.get_by_role("button", name="Play (space)").count() == 1
    assert page.locator(".wmviz-answers button").first.evaluate("node => node === document.activeElement")
    first = asked(LEADERBOARD, ("firings",))[0]
    assert f"moment {first['moment']} of 19" in page.evaluate(READ)["when"]
