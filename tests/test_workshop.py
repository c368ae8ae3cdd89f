"""docs/facilitator.md: the minutes add up, what it names exists, and what is said to wrong answers is the course's."""

import importlib.util
import re
import sys
from functools import cache
from pathlib import Path

import nbformat
import pytest

import wmviz
from tests.sums import check_sums
from wmviz import course
from wmviz.course.questions import Question, find
from wmviz.stage.predicting import questions_of
from wmviz.stage.subject import show
from wmviz.times import time_ms

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs" / "facilitator.md").read_text(encoding="utf-8")
PLANS = {"90 minutes": 90, "half a day": 240}
ROW = re.compile(r"^\| (\d:\d\d) \| (\d+) \| (.+?) \| (.*?) ?\|$", re.MULTILINE)
SECTION = re.compile(r"\[[^\]]+\]\((\.\./(?:notebooks|exercises)/[\w-]+\.ipynb)\) \*([^*]+)\*")
LINK = re.compile(r"\]\(((?!https?:)[^)#]+)\)")


def part(title):
    """Give the text under a heading of the guide."""
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)[1]


def rows(title):
    found = ROW.findall(part(f"Plan: {title}"))
    assert len(found) >= 8
    return [(start, int(minutes), name, shown) for start, minutes, name, shown in found]


@cache
def headings(path):
    cells = nbformat.read(path, as_version=4).cells
    lines = [line for cell in cells if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    return {line.lstrip("# ") for line in lines if line.startswith("#")}


@cache
def deck():
    spec = importlib.util.spec_from_file_location("slides_tool", ROOT / "tools" / "slides.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.decks()["ninety-minutes"]["slides"]


def slide_numbers(text):
    """Give the slides that a row shows, counted from 1, the cover."""
    numbers = []
    for first, last in re.findall(r"slides? (\d+)(?: to (\d+))?", text):
        numbers += range(int(first), int(last or first) + 1)
    return numbers


@pytest.mark.parametrize("title", PLANS)
def test_the_minutes_add_up(title):
    at = 0
    for start, minutes, name, _ in rows(title):
        assert time_ms(start) == at * 60_000, name
        at += minutes
    assert at == PLANS[title]
    assert f"Total: {at} minutes" in part(f"Plan: {title}")


@pytest.mark.parametrize("title", PLANS)
def test_the_slides_of_a_plan_come_in_order_and_exist(title):
    numbers = [number for *_, shown in rows(title) for number in slide_numbers(shown)]
    assert numbers == list(range(1, len(deck()) + 2))


@pytest.mark.parametrize("title", PLANS)
def test_a_question_on_a_slide_is_voted_on_in_the_row_that_shows_it(title):
    asked = {number: slide["ask"] for number, slide in enumerate(deck(), 2) if "ask" in slide}
    for *_, name, shown in rows(title):
        for number in slide_numbers(shown):
            assert number not in asked or f"`{asked[number]}`" in shown, (name, number)


def test_every_section_and_task_that_it_names_exists():
    named = SECTION.findall(TEXT)
    assert len(named) >= 20
    for target, title in named:
        assert title in headings(ROOT / "docs" / target), (target, title)


def test_every_file_that_it_links_or_names_exists():
    targets = LINK.findall(TEXT)
    assert targets
    assert [target for target in targets if not (ROOT / "docs" / target).exists()] == []
    for name in re.findall(r"(?:exercises|notebooks)/[\w-]+\.ipynb", TEXT):
        assert (ROOT / name).exists(), name


def test_every_make_target_that_it_names_exists():
    known = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    named = re.findall(r"`make (\w+)", TEXT)
    assert {"slides", "lab", "doctor", "bundle"} <= set(named) <= set(known)


def test_every_vote_is_a_question_with_choices():
    voted = re.findall(r"`(\d+\.[\w-]+)`", TEXT)
    assert len(set(voted)) >= 10
    assert all(isinstance(find(item), Question) for item in voted)


def test_what_is_said_to_a_wrong_answer_is_what_the_course_says():
    said = re.findall(
        r"^\| `(\d+\.[\w-]+)` \| (.+?) \| (.+?) \|$", part("Wrong answers, and what to say"), re.MULTILINE
    )
    assert len(said) >= 10
    for item, text, why in said:
        question = find(item)
        assert (text, why) in [(choice.text, choice.why) for choice in question.choices if choice != question.solution]


def test_each_wrong_choice_of_the_short_plan_has_something_to_say():
    """The one who leads must not look for words in front of the room."""
    voted = re.findall(r"`(\d+\.[\w-]+)`", "".join(shown for *_, shown in rows("90 minutes")))
    assert len(voted) == 4
    answered = part("Wrong answers, and what to say")
    for item in voted:
        for choice in find(item).choices:
            assert choice == find(item).solution or f"| `{item}` | {choice.text} |" in answered, (item, choice.text)


def test_a_slide_that_the_guide_speaks_about_belongs_to_the_part_that_shows_it():
    plan, parts = part("Plan: 90 minutes"), 0
    for *_, name, shown in rows("90 minutes"):
        text = re.search(rf"^### {name}\n(.*?)(?=^### |\Z)", plan, re.MULTILINE | re.DOTALL)[1]
        spoken = re.findall(r"^\*\*(?:Say|Ask|Vote)\*\*.*? slide (\d+)\b", text, re.MULTILINE)
        assert {int(number) for number in spoken} <= set(slide_numbers(shown)), name
        parts += len(spoken)
    assert parts >= 8


# A word of the trade, and a form of it that the slides and questions use.
WORDS = ["fire", "lateness", "side output", "late but counted", "window operator", "partition", "idle"]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_heard_before_a_slide_asks_with_it(word):
    """In the short plan the slides before a question, or what is said up to its part, have each word of its choices."""
    plan, heard = part("Plan: 90 minutes"), ""
    tool = sys.modules["slides_tool"] if deck() else None
    asked = False
    for *_, name, shown in rows("90 minutes"):
        said = re.search(rf"^### {name}\n(.*?)(?=^### |\Z)", plan, re.MULTILINE | re.DOTALL)[1]
        heard += " ".join(re.findall(r"\"([^\"]+)\"", said.split("after the reveal")[0])).lower()
        for number in slide_numbers(shown):
            slide = deck()[number - 2] if number > 1 else {}
            if "cells" in slide:
                heard += tool.text_slide(slide).body.lower()
                continue
            question = words_of(tool, slide).lower()
            asked |= word in question
            assert word not in question or word in heard, (name, number)
    assert asked


def words_of(tool, slide):
    """Give what a question of a slide, or its stage, asks and offers."""
    if "ask" in slide:
        question = find(slide["ask"])
        return " ".join([question.text, *(choice.text + choice.why for choice in question.choices)])
    if "predict" not in slide:
        return ""
    scenario = tool.played_in(slide["stage"])
    asked = questions_of(wmviz.simulate(scenario), show(wmviz.simulate(scenario), scenario), tuple(slide["predict"]))
    return " ".join(one["lead"] + one["ask"] + " ".join(c["text"] for c in one["choices"] or ()) for one in asked)


def test_a_sheet_that_counts_ticks_comes_after_the_rule_about_ticks():
    """Its first task cannot be solved by the slides alone: they say only that a silent input becomes idle."""
    shown = [row[3] for row in rows("half a day")]
    (sheet,) = (index for index, text in enumerate(shown) if "exercises/07-idle-inputs" in text)
    assert any("*When exactly is an input idle?*" in text for text in shown[:sheet])


def test_the_sums_are_right():
    assert check_sums(TEXT) >= 2


def test_each_part_of_the_short_plan_says_what_to_say():
    plan = part("Plan: 90 minutes")
    for _, _, name, _ in rows("90 minutes"):
        said = re.search(rf"^### {name}\n(.*?)(?=^### |\Z)", plan, re.MULTILINE | re.DOTALL)
        assert said, name
        assert re.search(r"\*\*(Say|Do)\*\*|\*\*(Say|Do)\.\*\*", said[1]), name


WORDS_A_MINUTE, VOTE_MIN, READ_MIN, STAGE_MIN = 120, 3, 0.5, 1


def test_what_is_said_voted_read_and_played_fits_into_the_minutes():
    """Reckon each part of the short plan: spoken words, votes as the guide times them, slides to read, stages."""
    plan = part("Plan: 90 minutes")
    for _, minutes, name, shown in rows("90 minutes"):
        text = re.search(rf"^### {name}\n(.*?)(?=^### |\Z)", plan, re.MULTILINE | re.DOTALL)[1]
        words = sum(len(said.split()) for said in re.findall(r"\"([^\"]+)\"", text))
        slides = [deck()[number - 2] for number in slide_numbers(shown) if number > 1]
        needed = words / WORDS_A_MINUTE
        needed += sum(VOTE_MIN if "ask" in one else STAGE_MIN if "stage" in one else READ_MIN for one in slides)
        assert needed <= minutes, (name, round(needed, 1))


def test_the_stage_asks_as_often_as_the_guide_says():
    (slide,) = (slide for slide in deck() if "predict" in slide)
    scenario = sys.modules["slides_tool"].played_in(slide["stage"])
    trace = wmviz.simulate(scenario)
    assert len(questions_of(trace, show(trace, scenario), tuple(slide["predict"]))) == 6
    assert "Six questions are too many" in TEXT


def test_every_call_of_the_course_in_it_works(monkeypatch, tmp_path):
    monkeypatch.setenv("WMVIZ_DATA", str(tmp_path))
    calls = re.findall(r"`(course\.[^`]+\))`", TEXT)
    assert len(calls) >= 3
    for call in calls:
        assert eval(call, {"course": course, "wmviz": wmviz}) is not None
