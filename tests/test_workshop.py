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
DECKS = {"90 minutes": "ninety-minutes", "half a day": "half-day"}
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
def tool():
    spec = importlib.util.spec_from_file_location("slides_tool", ROOT / "tools" / "slides.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@cache
def deck(title):
    """Give the slides of a plan without the cover."""
    return tool().decks()[DECKS[title]]["slides"]


def said_in(name):
    """Give what the guide says to a part, in whichever plan it is written."""
    found = re.search(rf"^### {name}\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    found = found or re.search(rf"^### \d+ {name}\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


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
    assert numbers == list(range(1, len(deck(title)) + 2))


@pytest.mark.parametrize("title", PLANS)
def test_a_question_on_a_slide_is_voted_on_in_the_row_that_shows_it(title):
    asked = {number: slide["ask"] for number, slide in enumerate(deck(title), 2) if "ask" in slide}
    assert set(asked.values()) == set(re.findall(r"`(\d+\.[\w-]+)`", "".join(shown for *_, shown in rows(title))))
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


@pytest.mark.parametrize(("title", "votes"), [("90 minutes", 4), ("half a day", 12)])
def test_each_wrong_choice_of_a_plan_has_something_to_say(title, votes):
    """The one who leads must not look for words in front of the room."""
    voted = re.findall(r"`(\d+\.[\w-]+)`", "".join(shown for *_, shown in rows(title)))
    assert len(voted) == votes
    answered = part("Wrong answers, and what to say")
    for item in voted:
        for choice in find(item).choices:
            assert choice == find(item).solution or f"| `{item}` | {choice.text} |" in answered, (item, choice.text)


@pytest.mark.parametrize(("title", "least"), [("90 minutes", 8), ("half a day", 3)])
def test_a_slide_that_the_guide_speaks_about_belongs_to_the_part_that_shows_it(title, least):
    plan, parts = part(f"Plan: {title}"), 0
    for *_, name, shown in rows(title):
        text = re.search(rf"^### {name}\n(.*?)(?=^### |\Z)", plan, re.MULTILINE | re.DOTALL)
        spoken = re.findall(r"\b[Ss]lide (\d+)\b", re.sub(r"asked on slide \d+", "", text[1])) if text else []
        assert {int(number) for number in spoken} <= set(slide_numbers(shown)), name
        parts += len(spoken)
    assert parts >= least


def test_the_guide_says_how_much_later_a_slide_of_the_short_deck_comes_in_the_long_one():
    short, long = deck("90 minutes"), deck("half a day")
    shifts = {"In pairs": 4, "The bet": 10, "The end": 30}
    assert "4 slides later up to the first *In pairs*, 10 slides later in *A silent Saturday* and *The bet*" in TEXT
    assert "30 slides later at the end" in TEXT
    for name, shift in shifts.items():
        numbers = next(slide_numbers(shown) for *_, part_name, shown in rows("half a day") if part_name == name)
        shared = [number for number in numbers if long[number - 2] in short]
        assert shared
        assert {number - 2 - short.index(long[number - 2]) for number in shared} == {shift}
    asks = [number for number, slide in enumerate(long, 2) if "predict" in slide]
    assert f"So slide 9, on which the stage asks, is slide {asks[0]} here" in TEXT


# A word of the trade, and a form of it that the slides and questions use.
WORDS = ["fire", "lateness", "side output", "late but counted", "window operator", "partition", "idle"]


@pytest.mark.parametrize("title", PLANS)
@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_heard_before_a_slide_asks_with_it(title, word):
    """The slides before a question, or what is said up to its part, have each word of its choices."""
    heard, asked = "", False
    for *_, name, shown in rows(title):
        said = said_in(re.sub(r"^\d+ ", "", name)).split("after the reveal")[0]
        heard += " ".join(re.findall(r"\"([^\"]+)\"", said)).lower()
        for number in slide_numbers(shown):
            slide = deck(title)[number - 2] if number > 1 else {}
            if "cells" in slide:
                heard += tool().text_slide(slide).body.lower()
                continue
            question = words_of(slide).lower()
            asked |= word in question
            assert word not in question or word in heard, (name, number)
    assert asked


def words_of(slide):
    """Give what a question of a slide, or its stage, asks and offers."""
    if "ask" in slide:
        question = find(slide["ask"])
        return " ".join([question.text, *(choice.text + choice.why for choice in question.choices)])
    if "predict" not in slide:
        return ""
    scenario = tool().played_in(slide["stage"])
    asked = questions_of(wmviz.simulate(scenario), show(wmviz.simulate(scenario), scenario), tuple(slide["predict"]))
    return " ".join(one["lead"] + one["ask"] + " ".join(c["text"] for c in one["choices"] or ()) for one in asked)


def test_a_sheet_that_counts_ticks_comes_after_the_rule_about_ticks():
    """Its first task cannot be solved by the rest of the slides: they say only that a silent input becomes idle."""
    titles = [slide.get("title", "") for slide in deck("half a day")]
    assert 0 < titles.index("When exactly is an input idle?") < titles.index("In pairs: tasks 1 and 2 of sheet 7")


def test_the_sums_are_right():
    assert check_sums(TEXT) >= 2


def test_each_part_of_the_short_plan_says_what_to_say():
    plan = part("Plan: 90 minutes")
    for _, _, name, _ in rows("90 minutes"):
        said = re.search(rf"^### {name}\n(.*?)(?=^### |\Z)", plan, re.MULTILINE | re.DOTALL)
        assert said, name
        assert re.search(r"\*\*(Say|Do)\*\*|\*\*(Say|Do)\.\*\*", said[1]), name


WORDS_A_MINUTE, VOTE_MIN, READ_MIN, STAGE_MIN = 120, 3, 0.5, 1


@pytest.mark.parametrize("title", PLANS)
def test_what_is_said_voted_read_and_played_fits_into_the_minutes(title):
    """Reckon each part: spoken words, votes as the guide times them, slides to read, stages."""
    for _, minutes, name, shown in rows(title):
        words = sum(len(said.split()) for said in re.findall(r"\"([^\"]+)\"", said_in(re.sub(r"^\d+ ", "", name))))
        slides = [deck(title)[number - 2] for number in slide_numbers(shown) if number > 1]
        needed = words / WORDS_A_MINUTE
        needed += sum(VOTE_MIN if "ask" in one else STAGE_MIN if "stage" in one else READ_MIN for one in slides)
        assert needed <= minutes, (name, round(needed, 1))


def test_the_stages_take_as_long_as_the_guide_says():
    """The player gives each moment 1.1 s, and a run 6 to 45 s."""
    told = re.findall(
        r"slide (\d+)(?: in (90 minutes|half a day))?(?:, from start[^|]*)? \| (\d+)", part("How long it takes")
    )
    assert len(told) >= 7
    title = ""
    for number, plan, seconds in told:
        title = plan or title
        scenario = tool().played_in(deck(title)[int(number) - 2]["stage"])
        moments = len(show(wmviz.simulate(scenario), scenario)["moments"])
        assert abs(min(45, max(6, 1.1 * moments)) - int(seconds)) <= 0.6, (title, number, moments)


def test_the_stage_asks_as_often_as_the_guide_says():
    for title in PLANS:
        (slide,) = (slide for slide in deck(title) if "predict" in slide)
        scenario = tool().played_in(slide["stage"])
        trace = wmviz.simulate(scenario)
        assert len(questions_of(trace, show(trace, scenario), tuple(slide["predict"]))) == 6
    assert "Six questions are too many" in TEXT


def test_every_call_of_the_course_in_it_works(monkeypatch, tmp_path):
    monkeypatch.setenv("WMVIZ_DATA", str(tmp_path))
    calls = re.findall(r"`(course\.[^`]+\))`", TEXT)
    assert len(calls) >= 3
    for call in calls:
        assert eval(call, {"course": course, "wmviz": wmviz}) is not None
