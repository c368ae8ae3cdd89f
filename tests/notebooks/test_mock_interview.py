"""What notebook 20 says in prose about cards, times and what comes back."""

import inspect

from tests.notebooks.prose import HeldProse, read_lesson
from wmviz import course
from wmviz.course.interview import remembering
from wmviz.course.interview.deck import ALL
from wmviz.course.interview.mock import MINUTES, RUBRIC
from wmviz.course.interview.readings import DEFAULTS

CELLS, PROSE = read_lesson("20-mock-interview")
FIRST = course.interview_cards("mid", topic="watermarks")[0]

FACTS = {
    "There are 60 cards, for juniors, mids and seniors.": len(ALL) == 60 and len({c.level for c in ALL}) == 3,
    "An answer has 2 minutes for a junior, 3 for a mid, and 5 for a senior": list(MINUTES.values()) == [2, 3, 5],
    "A mock interview takes 20 minutes": inspect.signature(course.mock).parameters["minutes"].default == 20,
    "such as the interval of 200 ms, are defaults": DEFAULTS["watermark interval"].text == "200 ms",
    "`{met r12@6:56}` is the watermark that r12's event of 6:56 met.": "{met r12@6:56}" in FIRST.say,
    "What you rated 0 or 1 comes back: after two other questions, then after four more, until it went well twice.": (
        (remembering.GOOD, remembering.FIRST_PAUSE, remembering.TIMES, len(RUBRIC)) == (2, 2, 2, 4)
    ),
    "`m.rate(2)` rates yours": len(RUBRIC) > 2,
}


class TestProse(HeldProse):
    """No number without a fact."""
