"""How long a lesson takes: the minutes that it names are reckoned from what it has, and notebook 00 names the same."""

import re

import pytest

from tests.notebooks.prose import NOTEBOOKS, read_lesson

LESSONS = [path.stem for path in sorted(NOTEBOOKS.glob("*.ipynb")) if "01" <= path.stem[:2] <= "17"]
START = read_lesson("00-start-here")[1]

WORDS_A_MINUTE = 150  # plain text with sums, read with care
A_CELL = 0.5  # run it and look at what it prints
MORE = {r"course\.(predict|check|quiz)\(": 1.0, r"wmviz\.play\(": 1.0, r"ballot\(": 1.5}  # think, watch, vote
TAKES = re.compile(r"It takes about (\d+) minutes\.?(?: without (.*?), which can wait \(about (\d+) minutes more\)\.)?")


def minutes(cells, leave_out=(), only=()):
    """Reckon the parts of a lesson up to its key points; a folded part is not read the first time."""
    total, part = 0.0, ""
    for cell in cells:
        text = cell.source
        if cell.cell_type == "markdown":
            if heading := re.search(r"^#{2,3} (.*)", text, re.MULTILINE):
                part = heading[1]
            if part == "Key points":
                break
        if part in leave_out or (only and part not in only):
            continue
        if cell.cell_type == "code":
            total += A_CELL + sum(each for what, each in MORE.items() if re.search(what, text))
        else:
            seen = re.sub(r"<details>.*?</details>|```.*?```|\]\(.*?\)", "", text, flags=re.DOTALL)
            total += len(re.findall(r"\w[\w'’.,:−-]*", seen)) / WORDS_A_MINUTE
    return total


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_says_how_long_it_takes(name):
    cells, prose = read_lesson(name)
    said, named, more = TAKES.search(prose).groups()
    later = re.findall(r"\*(.*?)\*", named or "")
    assert 20 <= int(said) <= 40
    assert abs(minutes(cells, leave_out=later) - int(said)) <= 3
    if later:
        assert abs(minutes(cells, only=later) - int(more)) <= 2
    assert re.search(rf"\({name}\.ipynb\) \|.*?\| {said} \|", START)
