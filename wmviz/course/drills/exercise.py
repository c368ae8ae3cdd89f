"""What a drill draws: a scenario, a question about it, and the thought behind each wrong answer."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from wmviz.course.answers import AnswerError, read_number, read_time
from wmviz.course.questions import Choice, Question
from wmviz.scenario import Scenario

MOST_OPTIONS = 5
_MOST_DRAWS = 500


class Option(NamedTuple):
    """A possible answer, how it reads, what is said to the person who takes it, and the thought that leads there.

    The thought of a right answer is empty.
    """

    value: Any
    text: str
    why: str
    thought: str = ""


@dataclass(frozen=True)
class Exercise:
    """One drawn task.

    Parameters
    ----------
    scenario
        The stream and the job; the stage plays it once the answer is given.
    text
        What is asked.
    answer
        The right value, computed by the engine.
    options
        The right one among them; several may have the same value, of which the first stays.
    written
        How an answer may be written instead of its letter: as a time, as a number, or not at all.
    settings
        What the job has, in a line: shown above its events.
    """

    scenario: Scenario
    text: str
    answer: Any
    options: tuple[Option, ...]
    written: str = "letter"
    settings: str = ""

    def question(self, rng: random.Random) -> Question | None:
        """Shuffle the options; None if they make no fair question."""
        unique: dict[Any, Option] = {}
        for option in self.options:
            unique.setdefault(option.value, option)
        right = unique.pop(self.answer, None)
        if right is None or right.thought or len(unique) < 2:
            return None
        wrong = list(unique.values())
        if len(wrong) >= MOST_OPTIONS:  # of the rest it is drawn which stay, so that the right one has no fixed rank
            wrong = [wrong[0], *rng.sample(wrong[1:], MOST_OPTIONS - 2)]
        kept = [right, *wrong]
        rng.shuffle(kept)
        return Question(self.text, tuple(Choice(o.value, o.text, o.why) for o in kept), self.answer)

    def thought(self, value: Any) -> str:
        """Name the thought that leads to a value; empty for the right one and for values that nobody is led to."""
        return next((o.thought for o in self.options if o.value == value), "") if value != self.answer else ""

    def read(self, answer: object) -> Any:
        """Read an answer that is no letter.

        Raises
        ------
        AnswerError
            If it cannot be read; the message says how to write it.
        """
        if self.written == "time":
            return read_time(answer)
        if self.written == "number":
            return read_number(answer)
        raise AnswerError(f"{answer!r} is none of the choices. Answer with a letter.")


Draw = Callable[[random.Random, int, str], Exercise | None]


class Topic(NamedTuple):
    """A kind of drill.

    Attributes
    ----------
    name
        What `drill` is called with.
    lesson
        The number of the lesson that explains it.
    about
        One line on what is asked.
    draw
        Draws an exercise for a level and an aim; None if this draw makes no good one.
    aims
        For each level, from 1 on, the kinds of answer it should come to: each is drawn equally often, so that no answer
        is worth guessing.
    """

    name: str
    lesson: int
    about: str
    draw: Draw
    aims: tuple[tuple[str, ...], ...]


def drawn(topic: Topic, level: int, seed: int) -> tuple[Exercise, Question]:
    """Draw until it is a good exercise; the same for the same topic, level and seed."""
    rng = random.Random(f"{topic.name}/{level}/{seed}")
    aim = rng.choice(topic.aims[level - 1])
    for _ in range(_MOST_DRAWS):
        exercise = topic.draw(rng, level, aim)
        question = exercise.question(rng) if exercise is not None else None
        if exercise is not None and question is not None:
            return exercise, question
    raise AssertionError(f"{topic.name}, level {level}, seed {seed}: no exercise with {aim}")
