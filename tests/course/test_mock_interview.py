"""The mock interview: what it asks, what it keeps, what comes back, and how it looks in a notebook."""

from itertools import pairwise
from pathlib import Path

import pytest

from wmviz import course
from wmviz.course import memory
from wmviz.course.interview import remembering
from wmviz.course.interview.deck import ALL, card
from wmviz.course.interview.mock import MINUTES, RUBRIC, Mock, Rated, Summary, lesson_file, rubric
from wmviz.course.questions import CourseError

ROOT = Path(__file__).resolve().parent.parent.parent


def names(interview):
    return [one.name for one in interview.plan]


def asked(interview, score=3):
    """Go through an interview with the same score each time, and give the names of what was asked."""
    found = []
    while interview.card is not None:
        found.append(interview.card.name)
        interview.rate(score)
    return found


def test_the_same_seed_asks_the_same_and_another_one_does_not():
    assert names(course.mock(seed=1)) == names(course.mock(seed=1))
    assert names(course.mock(seed=1)) != names(course.mock(seed=2))
    assert memory.load() == {}


@pytest.mark.parametrize("level", MINUTES)
def test_the_questions_fit_into_the_time_and_are_of_the_level(level):
    interview = course.mock(level, minutes=20, seed=4)
    assert {one.level for one in interview.plan} == {level}
    assert len(interview.plan) == 20 // MINUTES[level]
    assert interview.limit_s == 60 * MINUTES[level]


def test_topics_take_turns():
    interview = course.mock(minutes=30, seed=5)
    assert len({one.topic for one in interview.plan}) == len(interview.plan)


def test_there_is_always_a_question():
    assert len(course.mock("senior", minutes=1, seed=1).plan) == 1


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"minutes": 0}, "minutes is a whole number from 1 to 180, such as 20, not 0."),
        ({"minutes": True}, "minutes is a whole number from 1 to 180, such as 20, not True."),
        ({"minutes": "10"}, "minutes is a whole number from 1 to 180, such as 20, not '10'."),
        ({"seed": 1.5}, "seed is a whole number, such as 7, not 1.5."),
        ({"level": "boss"}, "There is no level 'boss'; there are: junior, mid, senior."),
    ],
)
def test_what_cannot_be_asked_for_is_a_sentence(wrong, sentence):
    with pytest.raises(CourseError) as caught:
        course.mock(**wrong)
    assert str(caught.value) == sentence


def test_the_question_tells_no_answer_and_the_answer_comes_on_demand():
    interview = course.mock("mid", minutes=3, seed=3)
    shown = interview.card
    for text in (repr(interview), interview.html()):
        assert shown.answer not in text
    assert shown.question in repr(interview)
    answer = interview.answer()
    assert shown.answer in answer.text
    for question, reply in shown.follow_ups:
        assert f"Follow-up: {question} {reply}" in answer.text
    assert f"Red flag: {shown.red_flags[0]}" in answer.text


def test_the_time_counts_until_the_answer_is_shown():
    now = [100.0]
    interview = Mock((card("minus-one"), card("the-bet")), clock=lambda: now[0])
    now[0] += 75
    assert interview.answer().text.startswith("You took 1 min 15 s. Lesson 2 explains it")
    now[0] += 600
    assert interview.answer().text.startswith("You took 1 min 15 s. Lesson 2 explains it")
    interview.rate(2)
    now[0] += 45
    interview.rate(3)
    assert [one.seconds for one in interview.rated] == [75, 45]
    assert repr(interview).startswith("5 of 6 points on 2 questions; you spoke for 2 min.")


@pytest.mark.parametrize("score", [4, -1, True, "x", None])
def test_a_score_that_is_none_is_a_sentence(score):
    with pytest.raises(CourseError) as caught:
        course.mock(seed=1).rate(score)
    assert str(caught.value) == f"A score is a whole number from 0 to 3, not {score!r}."


def test_when_it_is_over_it_says_so():
    interview = course.mock("senior", minutes=5, seed=1)
    interview.rate(3)
    for call in (interview.answer, lambda: interview.rate(1)):
        with pytest.raises(CourseError) as caught:
            call()
        assert str(caught.value) == "This interview is over; course.mock() starts another one."


def test_the_summary_has_the_weakest_topic_first_and_names_the_lessons():
    interview = Mock((card("minus-one"), card("the-bet"), card("when-is-it-sent")))
    for score in (3, 0, 1):
        interview.rate(score)
    assert interview.summary().lines() == [
        "4 of 9 points on 3 questions.",
        "idle inputs: 0 of 3. Read again: lesson 7 (07-idle-inputs.ipynb).",
        "watermarks: 4 of 6. Read again: lesson 2 (02-watermarks.ipynb).",
        "2 questions come back in your next interviews.",
    ]
    assert "idle inputs: 0 of 3" in interview.html()


def test_the_summary_has_each_missed_question_once_with_its_answer_folded_away():
    rated = [Rated(card(name), score, 60) for name, score in (("minus-one", 3), ("the-bet", 0), ("the-bet", 1))]
    shown = Summary(tuple(rated)).html()
    assert shown.count(card("the-bet").answer[:40]) == 1
    assert card("the-bet").answer[:40] not in shown.partition("<details")[0]
    assert card("minus-one").question not in shown


def test_a_summary_without_a_missed_question_has_no_answers():
    interview = Mock((card("minus-one"),))
    interview.rate(2)
    assert "<details" not in interview.summary().html()


def test_it_can_be_stopped():
    interview = course.mock(seed=1)
    assert repr(interview.stop()) == "No question was rated yet."
    assert interview.card is None


@pytest.mark.parametrize("number", sorted({one.lesson for one in ALL}))
def test_the_lessons_that_it_names_exist(number):
    assert (ROOT / "notebooks" / lesson_file(number).partition("(")[2].rstrip(")")).exists()


# What comes back -----------------------------------------------------------------------------------------------------


def test_a_missed_card_comes_back_after_two_cards_then_after_four():
    remembering.remember("the-bet", 1)
    pool = ["the-bet", "minus-one"]
    due = []
    for _ in range(9):
        due.append(remembering.first_due(pool))
        remembering.remember(due[-1] or "minus-one", 3)
    assert due == [None, None, "the-bet", None, None, None, None, "the-bet", None]
    assert remembering.missed() == {}


def test_it_comes_back_in_the_next_interview_but_never_two_in_a_row():
    missed = asked(course.mock("mid", minutes=12), score=0)
    later = asked(course.mock("mid", minutes=12), score=2)
    returned = [name in missed for name in later]
    assert any(returned)
    assert (True, True) not in list(pairwise(returned))


def test_what_you_have_not_had_comes_first():
    first = set(asked(course.mock("senior", minutes=40)))
    assert not first & set(names(course.mock("senior", minutes=40)))


def test_a_seed_leaves_out_what_was_missed():
    for _ in range(4):
        remembering.remember("the-bet", 0)
    interview = course.mock("mid", minutes=30, seed=2)
    plan = names(interview)
    assert asked(interview) == plan


def test_scores_are_kept_here_and_deleted_by_one_call(data_folder):
    course.mock("junior", minutes=2, seed=1).rate(1)
    assert list(remembering.scores().values()) == [1]
    assert "interview" in memory.load()
    course.forget()
    assert (remembering.scores(), remembering.missed()) == ({}, {})


def test_all_cards_well_answered_are_done():
    for one in ALL[:-1]:
        remembering.remember(one.name, 2)
    assert course.progress().done == []
    remembering.remember(ALL[-1].name, 3)
    assert course.progress().done == ["interview"]


@pytest.mark.parametrize("kept", [{"missed": 3}, {"missed": {"the-bet": 1}}, {"missed": {"the-bet": {"due": "x"}}}])
def test_a_damaged_file_spoils_nothing(kept):
    memory.note("interview", scores=7, done="x", **kept)
    assert (remembering.scores(), remembering.missed()) == ({}, {})
    remembering.remember("the-bet", 0)
    assert list(remembering.missed()) == ["the-bet"]


def test_a_card_that_is_gone_does_not_come_back():
    memory.note("interview", missed={"no-such-card": {"due": 0, "left": 2}})
    assert course.mock().card is not None


# In a notebook -------------------------------------------------------------------------------------------------------


def labels(box):
    """Give the texts of all buttons in a widget."""
    own = [box.description] if type(box).__name__ == "Button" else []
    return own + [label for child in getattr(box, "children", ()) for label in labels(child)]


def press(box, label):
    """Click the button with this text."""
    if getattr(box, "description", None) == label:
        box.click()
        return True
    return any(press(child, label) for child in getattr(box, "children", ()))


def texts(box):
    own = [box.value] if type(box).__name__ == "HTML" else []
    return " ".join([*own, *(texts(child) for child in getattr(box, "children", ()))])


@pytest.fixture
def room():
    from wmviz.course.interview.mock_widget import mock_widget

    interview = Mock((card("minus-one"), card("the-bet")))
    return interview, mock_widget(interview)


def test_it_asks_then_shows_then_rates_then_asks_the_next(room):
    interview, box = room
    clock = box.children[1]
    assert labels(box) == ["Show the model answer", "Stop here"]
    assert (clock.limit_s, clock.question, clock.running) == (180, 1, True)
    assert card("minus-one").answer not in texts(box)
    press(box, "Show the model answer")
    assert not clock.running
    assert "That is 6:59:59.998." in texts(box)
    scores = [f"{score}: {text}" for score, text in enumerate(RUBRIC)]
    assert labels(box) == ["Hide the model answer", "Stop here", "Play it on the stage", *scores]
    press(box, f"2: {RUBRIC[2]}")
    assert interview.rated[0].score == 2
    assert (clock.question, clock.running) == (2, True)
    assert "Question 2 of 2" in texts(box)
    press(box, "Show the model answer")
    press(box, f"0: {RUBRIC[0]}")
    assert "2 of 6 points on 2 questions" in texts(box)
    assert labels(box) == []


def test_it_can_be_stopped_by_a_button(room):
    _, box = room
    press(box, "Stop here")
    assert "No question was rated yet." in texts(box)


def test_after_the_summary_another_interview_of_the_same_kind_starts_in_the_same_place():
    from wmviz.course.interview.mock_widget import mock_widget

    box = mock_widget(course.mock("senior", minutes=5))
    first = texts(box)
    press(box, "Show the model answer")
    press(box, f"0: {RUBRIC[0]}")
    assert labels(box) == ["Another interview"]
    press(box, "Another interview")
    assert labels(box) == ["Show the model answer", "Stop here"]
    assert "Question 1 of 1 · senior" in texts(box)
    assert texts(box) != first


def test_a_card_plays_its_scenario_below_its_button(room):
    _, box = room
    press(box, "Show the model answer")
    assert press(box, "Play it on the stage")
    below = box.children[4].children[1]
    assert below.children[0].trace.scenario.name == "leaderboard"
    press(box, "Close the stage")
    assert below.children == ()


def test_the_answer_can_be_hidden_again_and_the_clock_stays(room):
    interview, box = room
    press(box, "Show the model answer")
    press(box, "Hide the model answer")
    assert labels(box) == ["Show the model answer", "Stop here"]
    assert card("minus-one").answer not in texts(box)
    assert not box.children[1].running
    assert interview.rated == []


def test_a_deck_has_a_button_for_each_card():
    from wmviz.course.interview.showing import deck_widget

    chosen = course.interview_cards("junior", "late events")
    assert labels(deck_widget(chosen)) == ["Play it on the stage"] * len(chosen)


def test_the_rubric_says_what_each_score_stands_for():
    assert rubric().text.splitlines()[0] == "0: no answer, or a wrong one."
    assert len(rubric().text.splitlines()) == 4
