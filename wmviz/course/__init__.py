"""What makes a lesson a course: predict, quiz, check, hints, and progress kept on this machine.

Nothing but notebooks imports this package. It works without a network, and no answer is stored: each is computed by the
engine from a scenario when it is asked for.
"""

from __future__ import annotations

from wmviz.course.beside_flink import beside_flink
from wmviz.course.drills.practice import drill, drills
from wmviz.course.examination import exam
from wmviz.course.harness import run_with
from wmviz.course.interview.deck import interview_cards
from wmviz.course.interview.mock import mock
from wmviz.course.memory import forget, progress
from wmviz.course.questions import CourseError, Verdict, given
from wmviz.course.reading import readable
from wmviz.course.session import check, hint, outcome, predict, quiz
from wmviz.course.voting import tally, vote

__all__ = [
    "CourseError",
    "Verdict",
    "beside_flink",
    "check",
    "drill",
    "drills",
    "exam",
    "forget",
    "given",
    "hint",
    "interview_cards",
    "mock",
    "outcome",
    "predict",
    "progress",
    "quiz",
    "readable",
    "run_with",
    "tally",
    "vote",
]
