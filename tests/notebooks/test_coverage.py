"""docs/coverage.md: every notion, claim and question has a place, and what stands there is about it."""

import re
from functools import cache
from pathlib import Path

import nbformat
import pytest

from wmviz.course.claims import CLAIMS

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\S+) \| (.+?) \| (\[\d\d\].+) \|$", re.MULTILINE)
PLACE = re.compile(r"\[(\d\d)\]\(\.\./notebooks/([\w-]+)\.ipynb\) \*(.+?)\*: (.+)")
HEADING = re.compile(r"(#+) (.*)")

QUESTIONS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 14, 15, 17, 18, 19, 20, 23, 24, 25, 27, 29, 31, 32, 34, 35, 36, 37, 39, 41)
QUESTIONS += (44, 48, 49, 50, 51, 52, 53, 54)


def part(title):
    """Give the rows of a part of the table: id → (what, places)."""
    text = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)[1]
    rows = ROW.findall(text)
    assert len(rows) == sum(line.startswith("| ") for line in text.splitlines()) - 1, "a row cannot be read"
    return {name: (what, places.split("<br>")) for name, what, places in rows}


PARTS = {title: part(title) for title in ("Notions", "Claims", "Questions", "More questions")}
PLACES = [
    pytest.param(place, id=f"{title[0]}{name}: {place[:4]}")
    for title, rows in PARTS.items()
    for name, (_, places) in rows.items()
    for place in places
]


@cache
def sections(name):
    """Give the text under each heading of a notebook, that of its subheadings, code and outputs too."""
    found, above = {}, []
    for cell in nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells:
        is_code, fenced = cell.cell_type == "code", False
        for line in cell.source.splitlines():
            fenced ^= line.startswith("```")
            heading = None if is_code or fenced else HEADING.match(line)
            if heading:
                above = [one for one in above if one[0] < len(heading[1])] + [(len(heading[1]), heading[2])]
                found.setdefault(heading[2], "")
            for _, title in above:
                found[title] += f"{line}\n"
        for output in cell.get("outputs", []):
            shown = output.get("text") or output.get("data", {}).get("text/plain", "")
            for _, title in above:
                found[title] += f"{shown}\n"
    return found


@pytest.mark.parametrize("place", PLACES)
def test_the_section_is_there_and_has_the_words(place):
    number, name, title, words = PLACE.fullmatch(place).groups()
    assert name.startswith(number)
    assert title in sections(name), f"{name} has no heading {title!r}"
    text = sections(name)[title].lower()
    missing = [word for word in words.split(", ") if word.lower() not in text]
    assert not missing, f"{name}, {title}: no word {missing}"


def test_every_claim_has_its_rows_and_is_said_as_in_the_course():
    assert list(PARTS["Claims"]) == [str(number) for number in range(1, 31)]
    for number, (what, places) in PARTS["Claims"].items():
        assert what == CLAIMS[int(number)].said
        assert any(place.startswith("[16]") for place in places)


def test_every_question_has_its_rows():
    assert list(PARTS["Questions"]) == [f"Q{number}" for number in QUESTIONS]


@pytest.mark.parametrize(("title", "least"), [("Notions", 80), ("More questions", 60)])
def test_the_rows_are_counted(title, least):
    assert list(PARTS[title]) == [f"{title[0]}{number}" for number in range(1, len(PARTS[title]) + 1)]
    assert len(PARTS[title]) >= least


def test_every_lesson_that_exists_covers_something():
    named = {PLACE.fullmatch(place.values[0])[2] for place in PLACES}
    # The exam and the notebooks for an interview teach nothing that no lesson has.
    lessons = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb") if path.stem < "18"}
    assert lessons <= named
