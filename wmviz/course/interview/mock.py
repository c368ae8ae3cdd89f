"""A mock interview: it asks, the candidate answers aloud and rates the answer, and a summary says what to read."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Any

from wmviz.course import cards, memory
from wmviz.course.interview import remembering
from wmviz.course.interview.card import LEVELS, InterviewCard, folded
from wmviz.course.interview.deck import card, interview_cards
from wmviz.course.interview.remembering import GOOD
from wmviz.course.questions import LESSONS, CourseError
from wmviz.times import duration_text

MINUTES = dict(zip(LEVELS, (2, 3, 5), strict=True))
"""Level → how long an answer with its follow-ups may take."""
LONGEST = 180
RUBRIC = (
    "no answer, or a wrong one",
    "the idea, but with a wrong rule or a red flag",
    "right, but no example in numbers, or a follow-up was missing",
    "right, with an example in numbers and the follow-ups",
)
"""What each score from 0 on stands for."""

_HOW = "Say your answer aloud. Then read the model answer, ask yourself the follow-ups, and rate what you said."


def rubric() -> cards.Card:
    """Show what each score stands for."""
    return cards.saying(*(f"{score}: {text}." for score, text in enumerate(RUBRIC)))


def mock(level: str | None = None, minutes: int = 20, seed: int | None = None) -> Mock:
    """Start a mock interview.

    Parameters
    ----------
    level
        ``"junior"``, ``"mid"`` or ``"senior"``; questions of all levels if left out.
    minutes
        How long it may take: an answer has 2, 3 or 5 minutes, by its level.
    seed
        The same seed asks the same questions. Without one, questions that you have not had come first, and what you
        missed comes back after a while.

    Returns
    -------
    Mock
        In JupyterLab it has a clock and buttons. In code: `Mock.answer`, `Mock.rate` and `Mock.summary`.

    Raises
    ------
    CourseError
        If there is no such level, or minutes or seed are no such number.

    Examples
    --------
    >>> from wmviz import course
    >>> course.mock("junior", minutes=2, seed=1).summary()
    No question was rated yet.
    """
    if isinstance(minutes, bool) or minutes not in range(1, LONGEST + 1):
        raise CourseError(f"minutes is a whole number from 1 to {LONGEST}, such as 20, not {minutes!r}.")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        raise CourseError(f"seed is a whole number, such as 7, not {seed!r}.")
    pool = list(interview_cards(level))
    drawn = _shuffled(pool, seed if seed is not None else remembering.count_interview())
    if seed is None:
        known = remembering.scores()
        drawn.sort(key=lambda c: c.name in known)
    returning = tuple(c.name for c in pool) if seed is None else ()
    return Mock(_fitting(drawn, minutes), returning, again=partial(mock, level, minutes, seed))


def _shuffled(pool: list[InterviewCard], seed: int) -> list[InterviewCard]:
    """Put cards into an order in which topics take turns."""
    rng = random.Random(f"interview/{seed}")
    by_topic: dict[str, list[InterviewCard]] = {}
    for one in rng.sample(pool, len(pool)):
        by_topic.setdefault(one.topic, []).append(one)
    turns = [(turn, one) for chosen in by_topic.values() for turn, one in enumerate(chosen)]
    return [one for _, one in sorted(turns, key=lambda pair: pair[0])]


def _fitting(drawn: list[InterviewCard], minutes: int) -> tuple[InterviewCard, ...]:
    """Take as many cards as there is time for, at least one."""
    taken: list[InterviewCard] = []
    for one in drawn:
        minutes -= MINUTES[one.level]
        if minutes < 0 and taken:
            break
        taken.append(one)
    return tuple(taken)


@dataclass(frozen=True)
class Rated:
    """An answer: to which card, its score, and how long it took in s."""

    card: InterviewCard
    score: int
    seconds: int


@dataclass
class Mock:
    """A mock interview that is going on.

    Attributes
    ----------
    plan
        The questions, in order. One that was missed before may take the place of one of them, but never two in a row.
    returning
        Names of the cards that may come back; none in an interview with a seed.
    rated
        What was answered so far.
    again
        Starts another interview of the same kind.
    """

    plan: tuple[InterviewCard, ...]
    returning: tuple[str, ...] = ()
    clock: Callable[[], float] = field(default=lambda: 0.0 if memory.is_still() else time.monotonic(), repr=False)
    rated: list[Rated] = field(default_factory=list)
    again: Callable[[], Mock] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Ask the first question."""
        self._waiting = list(self.plan)
        self._card: InterviewCard | None = None
        self._seconds: int | None = None
        self._came_back = False
        self._since = 0.0
        self._go_on()

    @property
    def card(self) -> InterviewCard | None:
        """The card that is asked now; None when the interview is over."""
        return self._card

    @property
    def limit_s(self) -> int:
        """How long the answer may take, in s."""
        return 60 * MINUTES[self._card.level] if self._card else 0

    @property
    def head(self) -> str:
        """Which question of how many, its level and its topic."""
        asked = self._asked()
        return f"Question {len(self.rated) + 1} of {len(self.plan)} · {asked.level} · {asked.topic}"

    def answer(self) -> cards.Card:
        """Show the model answer, the follow-ups and the red flags; the time for the answer is over then."""
        asked = self._asked()
        if self._seconds is None:
            self._seconds = round(self.clock() - self._since)
        took = f"You took {duration_text(1000 * self._seconds)}. " if self._seconds else ""
        line = f'{took}Lesson {asked.lesson} explains it, with wmviz.scenario("{asked.scenario}").'
        text = repr(asked).split("\n", 2)[2]
        return cards.Card(
            f"{line}\n{text}", cards.box("#4a6fa5", f"<p><em>{escape(line)}</em></p>{asked.answer_html()}")
        )

    def rate(self, score: int) -> Mock:
        """Rate the answer from 0 to 3, as `rubric` says, and go on to the next question.

        Raises
        ------
        CourseError
            If there is no such score, or the interview is over.
        """
        asked = self._asked()
        if isinstance(score, bool) or score not in range(len(RUBRIC)):
            raise CourseError(f"A score is a whole number from 0 to {len(RUBRIC) - 1}, not {score!r}.")
        self.answer()
        self.rated.append(Rated(asked, score, self._seconds or 0))
        remembering.remember(asked.name, score)
        self._go_on()
        return self

    def stop(self) -> Summary:
        """End the interview before its time."""
        self._card = None
        return self.summary()

    def summary(self) -> Summary:
        """Say how it went: points by topic, and what to read again."""
        return Summary(tuple(self.rated))

    def __repr__(self) -> str:
        """Return the question as text, or the summary when the interview is over."""
        if self._card is None:
            return repr(self.summary())
        use = "In code: m.answer() shows the model answer, m.rate(2) rates yours, m.summary() says how it went."
        return f"{self.head}\n{self._card.question}\n{_HOW}\n{use}"

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        from wmviz.course.interview.mock_widget import mock_widget  # ipywidgets only when something is shown

        return cards.Card(repr(self), self.html(), lambda: mock_widget(self))._repr_mimebundle_()

    def html(self) -> str:
        """Give the question as HTML, or the summary when the interview is over."""
        if self._card is None:
            return self.summary().html()
        asked = f"<p><em>{escape(self.head)}</em></p><p><strong>{cards.marked_up(self._card.question)}</strong></p>"
        return cards.box("#4a6fa5", f"{asked}<p>{_HOW}</p>")

    def _asked(self) -> InterviewCard:
        if self._card is None:
            raise CourseError("This interview is over; course.mock() starts another one.")
        return self._card

    def _go_on(self) -> None:
        """Take the next question: one that was missed and is due, else the next of the plan."""
        before, self._card, self._seconds = self._card, None, None
        if len(self.rated) < len(self.plan):
            may_return = () if self._came_back else (name for name in self.returning if name != _name(before))
            due = remembering.first_due(may_return)
            self._came_back = due is not None
            self._card = card(due) if due else self._waiting[0]
            self._waiting = [one for one in self._waiting if one is not self._card]
        self._since = self.clock()


def _name(asked: InterviewCard | None) -> str | None:
    return asked.name if asked else None


@dataclass(frozen=True)
class Summary:
    """How a mock interview went."""

    rated: tuple[Rated, ...]

    @property
    def points(self) -> int:
        """The sum of the scores."""
        return sum(one.score for one in self.rated)

    @property
    def most(self) -> int:
        """The highest possible sum."""
        return (len(RUBRIC) - 1) * len(self.rated)

    def topics(self) -> list[tuple[str, int, int, list[int]]]:
        """Give topic, points, the most that was possible, and the lessons to read again; the weakest first."""
        rows = []
        for topic in dict.fromkeys(one.card.topic for one in self.rated):
            scored = [one for one in self.rated if one.card.topic == topic]
            lessons = sorted({one.card.lesson for one in scored if one.score < GOOD})
            rows.append((topic, sum(one.score for one in scored), (len(RUBRIC) - 1) * len(scored), lessons))
        return sorted(rows, key=lambda row: row[1] / row[2])

    def lines(self) -> list[str]:
        """Say it in sentences."""
        if not self.rated:
            return ["No question was rated yet."]
        seconds, count = sum(one.seconds for one in self.rated), len(self.rated)
        took = f"; you spoke for {duration_text(1000 * seconds)}" if seconds else ""
        lines = [f"{self.points} of {self.most} points on {count} question{'s' * (count > 1)}{took}."]
        for topic, points, most, lessons in self.topics():
            read = f" Read again: {', '.join(map(lesson_file, lessons))}." if lessons else ""
            lines.append(f"{topic}: {points} of {most}.{read}")
        missed = remembering.missed()
        if back := len({one.card.name for one in self.rated if one.card.name in missed}):
            what = "One question comes back" if back == 1 else f"{back} questions come back"
            lines.append(f"{what} in your next interviews.")
        return lines

    def __repr__(self) -> str:
        """Return the sentences."""
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """Give the sentences as HTML, and what was missed with its answers folded away."""
        said = "".join(f"<p>{cards.marked_up(line)}</p>" for line in self.lines())
        again = "".join(folded(missed.question, missed.answer_html()) for missed in self.missed())
        heading = "<p><strong>What to say next time</strong></p>" if again else ""
        return cards.box("#4a6fa5", said + heading + again)

    def missed(self) -> list[InterviewCard]:
        """Give the cards whose answer was not good enough, each once."""
        return list({one.card.name: one.card for one in self.rated if one.score < GOOD}.values())


def lesson_file(number: int) -> str:
    """Write a lesson by its notebook: "lesson 4 (04-late-events.ipynb)"."""
    return f"lesson {number} ({number:02}-{LESSONS[str(number)].replace('_', '-')}.ipynb)"
