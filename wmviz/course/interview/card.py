"""A card: a question of an interview, its answer as one would say it, follow-ups, and red flags."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import wmviz
from wmviz.course import cards
from wmviz.course.interview.readings import Run, read, run_of
from wmviz.scenario import Scenario

LEVELS = ("junior", "mid", "senior")
Job = str | Mapping[str, Any] | Callable[[Scenario], Scenario]
"""Another job of a card: a name of the catalogue, changes of the card's scenario, or a function that changes it."""


@dataclass(frozen=True)
class InterviewCard:
    """A question of an interview. Its texts are templates; `question`, `answer` and the others are filled.

    Parameters
    ----------
    name
        Of the card: ``"late-for-which-window"``.
    level, topic, lesson
        Who is asked it, what it is about, and the number of the lesson that explains it.
    scenario
        Name of the scenario of the catalogue that its numbers come from.
    ask, say
        The question, and the answer in spoken sentences.
    more
        Follow-ups: question and short answer.
    flags
        What an interviewer takes for a bad sign.
    jobs
        Further jobs that the texts compare with, by name.
    """

    name: str
    level: str
    topic: str
    lesson: int
    scenario: str
    ask: str
    say: str
    more: tuple[tuple[str, str], ...]
    flags: tuple[str, ...]
    jobs: Mapping[str, Job] = field(default_factory=dict, hash=False)

    @property
    def question(self) -> str:
        """The question."""
        return self._read(self.ask)

    @property
    def answer(self) -> str:
        """The answer, as one would say it."""
        return self._read(self.say)

    @property
    def follow_ups(self) -> list[tuple[str, str]]:
        """Each follow-up with its short answer."""
        return [(self._read(question), self._read(answer)) for question, answer in self.more]

    @property
    def red_flags(self) -> list[str]:
        """What an interviewer takes for a bad sign."""
        return [self._read(flag) for flag in self.flags]

    def templates(self) -> Iterator[str]:
        """Give every text of the card with its fields, as it was written."""
        yield from (self.ask, self.say, *(text for pair in self.more for text in pair), *self.flags)

    def job(self, name: str = "") -> Scenario:
        """Give a job of the card: without a name its scenario, else one that it compares with."""
        scenario = wmviz.scenario(self.scenario)
        if not name:
            return scenario
        other = self.jobs[name]
        if isinstance(other, str):
            return wmviz.scenario(other)
        return scenario.replace(**other) if isinstance(other, Mapping) else other(scenario)

    def play(self) -> Any:
        """Show the scenario on the stage."""
        return wmviz.play(self.job())

    @property
    def head(self) -> str:
        """Level, topic, lesson and scenario in a line."""
        return f'{self.level} · {self.topic} · lesson {self.lesson} · wmviz.scenario("{self.scenario}")'

    def __repr__(self) -> str:
        """Return the whole card as text."""
        lines = [self.head, self.question, f"Answer: {self.answer}"]
        lines += [f"Follow-up: {question} {answer}" for question, answer in self.follow_ups]
        return "\n".join([*lines, *(f"Red flag: {flag}" for flag in self.red_flags)])

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        from wmviz.course.interview.showing import card_widget  # ipywidgets only when something is shown

        return cards.Card(repr(self), self.html(), lambda: card_widget(self))._repr_mimebundle_()

    def html(self) -> str:
        """Give the whole card as HTML; the answer is folded away."""
        asked = f"<p><em>{escape(self.head)}</em></p><p><strong>{cards.marked_up(self.question)}</strong></p>"
        return cards.box("#4a6fa5", asked + folded("Answer, follow-ups, red flags", self.answer_html()))

    def answer_html(self) -> str:
        """Give what comes after the question as HTML: the answer, follow-ups with folded answers, red flags."""
        more = "".join(folded(q, f"<p>{cards.marked_up(a)}</p>") for q, a in self.follow_ups)
        flags = "".join(f"<li>{cards.marked_up(flag)}</li>" for flag in self.red_flags)
        return (
            f"<p>{cards.marked_up(self.answer)}</p><p><strong>Follow-ups</strong></p>{more}"
            f'<p><strong>Red flags</strong></p><ul style="margin:0 0 4px">{flags}</ul>'
        )

    def _read(self, text: str) -> str:
        return read(text, self._run)

    def _run(self, name: str) -> Run:
        return run_of(self.job(name))


def folded(head: str, inside: str) -> str:
    """Fold HTML away below a line of text that opens it, by click or by key."""
    return (
        f'<details style="margin:4px 0"><summary style="cursor:pointer">{cards.marked_up(head)}</summary>'
        f'<div style="margin-left:1.1em">{inside}</div></details>'
    )
