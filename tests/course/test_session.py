"""The calls of a notebook: what they show with and without a kernel, and what they remember."""

import pytest

from wmviz import course
from wmviz.course import cards

VIEW = "application/vnd.jupyter.widget-view+json"


def live(shown):
    return shown._repr_mimebundle_()


def parts(widget):
    """All widgets in a widget, by class name."""
    found = {}

    def walk(one):
        found.setdefault(type(one).__name__, []).append(one)
        for child in getattr(one, "children", ()):
            walk(child)

    walk(widget)
    return found


def test_a_question_reads_well_without_a_kernel_and_keeps_its_answer(monkeypatch):
    monkeypatch.setenv("WMVIZ_STAGE", "still")
    bundle = live(course.quiz("3.state-gone"))
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/plain"].splitlines()[1:] == [
        "  a) 6:59:59.999",
        "  b) 7:19:59.999",
        "  c) 7:20:00.000",
        "  d) 7:22:00.000",
        "Run this cell in JupyterLab to answer.",
    ]
    assert "plus 20 min" not in bundle["text/html"]
    assert bundle == live(course.quiz("3.state-gone"))


@pytest.mark.parametrize("call", [course.quiz, course.predict])
def test_a_running_notebook_gets_a_form_on_top_of_the_same_text(call):
    bundle = live(call("3.fate"))
    assert {"text/plain", "text/html", VIEW} <= set(bundle)


def test_a_click_answers_a_quiz():
    widgets = parts(course.quiz("3.state-gone").widget())
    buttons, said = widgets["Button"], widgets["HTML"][-1]
    assert [button.description[:2] for button in buttons] == ["a)", "b)", "c)", "d)"]
    buttons[2].click()
    assert "No." in said.value
    assert "One millisecond too late" in said.value
    assert [button.button_style for button in buttons] == ["", "", "danger", ""]
    buttons[1].click()
    assert "Right." in said.value
    assert [button.button_style for button in buttons] == ["", "success", "", ""]
    assert course.progress().answers["3.state-gone"] == {"right": True, "tries": 2}


def test_a_field_takes_an_answer_and_offers_hints():
    box = course.check("3.other-bound").widget()
    widgets = parts(box)
    (text,), (send,) = widgets["Text"], widgets["Button"]
    text.value = "7:00"
    send.click()
    widgets = parts(box)
    assert any("You forgot the bound" in html.value for html in widgets["HTML"])
    more = next(button for button in widgets["Button"] if button.description == "Hint")
    more.click()
    assert any("Hint 1 of 2" in html.value for html in parts(box)["HTML"])
    assert course.progress().answers["3.other-bound"] == {"hints": 1, "right": False, "tries": 1}
    more.click()
    assert more.disabled
    text.value = " 7:01:30 "
    send.click()
    assert any("Right." in html.value for html in parts(box)["HTML"])


def test_a_prediction_is_noted_and_compared_with_what_happened():
    widgets = parts(course.predict("3.first-firing").widget())
    widgets["Button"][0].click()
    assert "Noted: 7:00:00.000." in widgets["HTML"][-1].value
    assert "You forgot" not in widgets["HTML"][-1].value
    predicted, happened, why = str(course.outcome("3.first-firing")).splitlines()
    assert predicted.startswith("You predicted: 7:00:00.000. You forgot the bound")
    assert happened == "What happened: 7:02:00.000."
    assert why.startswith("7:02:00.000 − 2 min − 1 ms = 6:59:59.999")
    course.predict("3.first-firing", "c")
    assert str(course.outcome("3.first-firing")).startswith("You predicted it: 7:02:00.000.")
    assert course.progress().done == []


def test_without_a_prediction_the_outcome_is_only_what_happened(monkeypatch):
    course.predict("3.first-firing", "a")
    monkeypatch.setenv("WMVIZ_STAGE", "still")
    assert str(course.outcome("3.first-firing")).startswith("What happened: 7:02:00.000.")


def test_a_verdict_has_a_hint_button_only_while_it_is_needed():
    assert VIEW in live(course.check("3.watermark", "8:00"))
    assert VIEW in live(course.check("3.watermark", ...))
    assert VIEW not in live(course.check("3.watermark", "8:57:59.999"))
    assert VIEW not in live(course.check("3.fate", "a"))


def test_an_untouched_task_counts_as_no_try():
    course.check("3.watermark", ...)
    assert course.progress().answers == {}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: course.check("3.watermrak", 1), "nothing called '3.watermrak'; did you mean \"3.watermark\""),
        (lambda: course.check("99.fate", 1), "nothing called '99.fate'"),
        (lambda: course.check(3, 1), "nothing called 3"),
        (lambda: course.quiz("3.fate", "z"), 'no choice \'z\'; write a letter from "a" to "d"'),
        (lambda: course.quiz("3.fate", "ab"), "no choice 'ab'"),
        (lambda: course.quiz("3.watermark"), 'has no choices; answer it with course.check("3.watermark"'),
        (lambda: course.predict("3.watermark"), "has no choices"),
        (lambda: course.hint("3.fate"), "has no hints"),
        (lambda: course.hint("3.watermark", 9), "there is no hint 9"),
        (lambda: course.given("3.fate"), "gives nothing to start from"),
    ],
)
def test_a_call_that_cannot_be_gets_a_sentence(call, message):
    with pytest.raises(course.CourseError) as error:
        call()
    assert message in str(error.value)
    assert error.value._render_traceback_() == [f"CourseError: {error.value}"]


def test_text_from_a_person_is_escaped():
    html = live(course.check("3.watermark", "<script>alert(1)</script>"))["text/html"]
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "<b>" not in cards.saying("<b>").html
