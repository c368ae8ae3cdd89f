"""The ten questions: each stands for a lesson, and the first that is not known says where to begin."""

import pytest

from wmviz import course
from wmviz.course import memory
from wmviz.course.lessons.start_here import PLACEMENT, _answered, begin, placement
from wmviz.course.questions import LESSONS, find, items

RIGHT = {n: find(item).letters[find(item).choices.index(find(item).solution)] for n, (item, _) in PLACEMENT.items()}


def answer(known):
    """Answer every question, those of the known lessons right."""
    for number, letter in RIGHT.items():
        _answered(number, letter if number in known else "b" if letter == "a" else "a")
    return str(begin())


def test_ten_questions_stand_for_ten_lessons():
    assert len(PLACEMENT) == len(items("0")) == 10
    for number, (item, _) in PLACEMENT.items():
        assert item.startswith(f"{number}.")
        assert number in LESSONS
    assert list(PLACEMENT) == sorted(PLACEMENT, key=int)


def test_the_right_letters_differ():
    assert len(set(RIGHT.values())) > 2


def test_before_an_answer_it_says_nothing():
    assert str(begin()).startswith("Answer the ten questions")


def test_whoever_knows_all_goes_to_the_claims():
    assert answer(PLACEMENT).startswith("You know all ten. Begin with lesson 16")


def test_whoever_knows_nothing_begins_at_the_beginning():
    said = answer(())
    assert said.startswith("Begin with lesson 1, Two clocks.")
    assert "pass over" not in said


@pytest.mark.parametrize(
    ("known", "lines"),
    [
        (
            ["1", "2", "3", "4", "7", "10"],
            [
                "Begin with lesson 6, Many inputs and the minimum.",
                "Do not leave out lessons 9, 11 and 12.",
                "You can pass over lessons 1, 2, 3 and 4.",
            ],
        ),
        (
            [number for number in PLACEMENT if number != "2"],
            ["Begin with lesson 2, Watermarks.", "You can pass over lesson 1."],
        ),
    ],
)
def test_it_begins_with_the_first_that_is_not_known(known, lines):
    assert answer(known).splitlines() == lines


def test_what_is_not_answered_counts_as_not_known():
    for number in list(PLACEMENT)[:9]:
        _answered(number, RIGHT[number])
    assert str(begin()).splitlines()[0] == "Begin with lesson 12, Exactly once to the sink."
    assert str(begin()).splitlines()[-1] == "Not answered, so not known: 1 of the ten."


def test_only_the_first_answer_counts():
    wrong = "b" if RIGHT["1"] == "a" else "a"
    assert not _answered("1", wrong).right
    assert _answered("1", RIGHT["1"]).right
    assert memory.load()["0.lesson-1"] == {"tries": 2, "right": True, "first": False}
    assert str(begin()).startswith("Begin with lesson 1,")


def test_the_text_has_all_ten():
    text = str(placement())
    assert all(find(item).text in text for item, _ in PLACEMENT.values())


def test_a_click_says_where_to_begin():
    *questions, result = placement().widget().children
    assert len(questions) == 10
    for question, letter in zip(questions, RIGHT.values(), strict=True):
        next(button for button in question.children if getattr(button, "letter", "") == letter).click()
    assert "You know all ten" in result.value
    assert course.progress().answers["0.lesson-1"]["first"] is True
