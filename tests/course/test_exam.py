"""The exam: every answer comes from its scenario, guessing does not pass, the grade points back to the lessons."""

from collections import Counter

import pytest

import wmviz
from wmviz import course
from wmviz.course import memory
from wmviz.course.lessons import exam as questions
from wmviz.course.questions import LESSONS, CourseError, find

COUNT = 25
RIGHT = {n: find(f"18.q{n}").letters[find(f"18.q{n}").choices.index(find(f"18.q{n}").solution)] for n in range(1, 26)}


def test_there_are_25_questions_from_all_parts_of_the_course():
    assert len(questions.ITEMS) == len(questions.PLACES) == COUNT
    lessons = {place.lesson for place in questions.PLACES}
    assert lessons >= set(range(1, 18)) - {16}
    assert all(str(lesson) in LESSONS for lesson in lessons)
    names = {place.scenario for place in questions.PLACES}
    assert names <= set(wmviz.catalogue.names())
    assert len(names) >= 15


def test_one_letter_for_all_does_not_pass():
    assert max(Counter(RIGHT.values()).values()) <= COUNT // 2
    for letter in "ab":
        grade = course.exam(dict.fromkeys(RIGHT, letter))
        assert not grade.passed


def test_all_right_passes_and_says_so():
    grade = course.exam(" ".join(RIGHT.values()))
    assert (grade.points, grade.passed, grade.wrong, grade.lessons) == (COUNT, True, [], {})
    assert repr(grade) == "25 of 25: passed."
    assert "18.q7" in course.progress().done


def test_a_wrong_answer_is_told_with_its_reason_and_the_lesson_to_read_again():
    wrong = {**RIGHT, 1: next(letter for letter in find("18.q1").letters if letter != RIGHT[1])}
    del wrong[2]
    grade = course.exam(wrong)
    assert (grade.points, grade.wrong) == (23, [1, 2])
    first, second, third, last = grade.lines()
    assert first == "23 of 25: passed."
    assert find("18.q1").choice(wrong[1]).why in second
    assert 'Lesson 1; play wmviz.scenario("leaderboard").' in second
    assert third == "No answer to 2."
    assert last == "Read again: lesson 1, lesson 2."


def test_four_fifths_pass_and_one_less_does_not():
    assert course.exam({n: RIGHT[n] for n in list(RIGHT)[:20]}).passed
    assert not course.exam({n: RIGHT[n] for n in list(RIGHT)[:19]}).passed


def test_a_dash_leaves_a_question_out():
    letters = [RIGHT[1], "-", RIGHT[3]]
    assert course.exam(" ".join(letters)).answers == {1: RIGHT[1], 3: RIGHT[3]}


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ("a" * 26, "There are 25 questions, and 26 letters; put one for each."),
        ({26: "a"}, "The exam has questions 1 to 25; there is no question 26."),
        ({1: "x"}, "Question 1: There is no choice 'x'"),
    ],
)
def test_answers_that_cannot_be_read_get_a_sentence(answers, sentence):
    with pytest.raises(CourseError) as caught:
        course.exam(answers)
    assert str(caught.value).startswith(sentence)


def test_the_paper_tells_no_answer():
    paper = course.exam()
    for number in RIGHT:
        question = find(f"18.q{number}")
        assert question.text in paper.text
        assert all(choice.why not in paper.text for choice in question.choices)
    assert memory.load() == {}


def test_in_a_notebook_there_are_buttons_and_a_grade():
    box = course.exam().widget()
    assert len(box.children) == COUNT + 2
    for number, block in enumerate(box.children[:COUNT], 1):
        next(b for b in block.children[1:-1] if b.letter == RIGHT[number]).click()
    button, count = box.children[COUNT].children
    assert count.value == "25 of 25 answered"
    button.click()
    assert "25 of 25: passed." in box.children[-1].value
