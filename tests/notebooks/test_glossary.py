"""The glossary: in order, each term said once, and used in the lesson that it names."""

import re
from pathlib import Path

import pytest

from tests.notebooks.prose import read_lesson

ROOT = Path(__file__).resolve().parent.parent.parent
ROW = re.compile(r"^\| \*\*(.+?)\*\* \| (.+) \| \[(\d\d)\]\(\.\./notebooks/(.+)\.ipynb\) \|$", re.MULTILINE)
TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
TERMS = {term: (meaning, number, name) for term, meaning, number, name in ROW.findall(TEXT)}


def test_every_row_is_read_and_the_terms_are_in_order():
    rows = [line for line in TEXT.splitlines() if line.startswith("| **")]
    assert len(rows) == len(TERMS) > 60
    assert list(TERMS) == sorted(TERMS, key=str.lower)


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_used_in_the_lesson_that_explains_it(term):
    meaning, number, name = TERMS[term]
    assert name.startswith(number)
    word = re.split(r"[ ,]", term)[0]
    assert re.search(rf"\b{re.escape(word)}", read_lesson(name)[1], re.IGNORECASE), f"{name} does not use {word}"
    assert 20 < len(meaning) < 250
    assert meaning.endswith(".")
    assert len(re.findall(r"[.;?] ", meaning)) <= 3
