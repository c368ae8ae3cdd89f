"""Drills in a notebook: draw one, answer it, play it on the stage; what was missed comes back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from numbers import Integral
from typing import Any

from wmviz.course import cards, memory
from wmviz.course.answers import AnswerError
from wmviz.course.drills import (
    alignment,
    crash,
    firing,
    idle_inputs,
    late_events,
    many_inputs,
    other_windows,
    sinks,
    sql_and_datastream,
    watermarks,
)
from wmviz.course.drills.exercise import Exercise, Topic, drawn
from wmviz.course.questions import CourseError, Question, Verdict, not_yet, right, wrong
from wmviz.times import time_text

TOPICS: dict[str, Topic] = {
    module.TOPIC.name: module.TOPIC
    for module in (
        watermarks,
        firing,
        late_events,
        many_inputs,
        idle_inputs,
        alignment,
        other_windows,
        crash,
        sinks,
        sql_and_datastream,
    )
}
MASTERED = 5
"""So many right answers in a row make a drill count as done in the progress."""

_SEEDS_TO_SEARCH = 60
_FIRST_PAUSE = 2


def drills() -> cards.Card:
    """List the drills: the name to call `drill` with, what is asked, and the lesson that explains it."""
    lines = [f'"{t.name}": {t.about}; levels 1 to {len(t.aims)}, lesson {t.lesson}' for t in TOPICS.values()]
    return cards.saying(*lines)


def drill(topic: str, level: int = 1, seed: int | None = None) -> Drill:
    """Draw a task.

    Parameters
    ----------
    topic
        One of those that `drills` lists, for example ``"late events"``.
    level
        From 1: whole minutes; 2: boundaries to the millisecond, or a harder case; 3: a rule that many do not know.
    seed
        The same seed gives the same task. Without one each call goes on where you are, and what you missed comes back
        after a while.

    Returns
    -------
    Drill
        Shows the question with buttons in JupyterLab; `Drill.check` takes an answer in code.

    Raises
    ------
    CourseError
        If there is no such topic or level, or the seed is no whole number.

    Examples
    --------
    >>> from wmviz import course
    >>> course.drill("watermarks", level=1, seed=3).check("12:43:59.999").state
    'right'
    """
    name = " ".join(str(topic).replace("_", " ").replace("-", " ").split()).lower()
    if name not in TOPICS:
        raise CourseError(f"There is no drill {topic!r}; there are: {', '.join(TOPICS)}.")
    levels = len(TOPICS[name].aims)
    if not _is_whole(level) or level not in range(1, levels + 1):
        raise CourseError(f"{name} has levels 1 to {levels}, not {level!r}.")
    if seed is not None and not _is_whole(seed):
        raise CourseError(f"seed is a whole number, such as 7, not {seed!r}.")
    return _made(TOPICS[name], int(level), _next_seed(TOPICS[name], level) if seed is None else int(seed))


def _is_whole(number: object) -> bool:
    """Say whether it is a whole number, of Python or of numpy."""
    return isinstance(number, Integral) and not isinstance(number, bool)


@dataclass(frozen=True)
class Drill:
    """One task of a drill.

    Attributes
    ----------
    topic, level, seed
        What it was drawn from.
    scenario
        The stream and the job of the task.
    question
        What is asked, with its choices.
    """

    topic: Topic
    level: int
    seed: int
    exercise: Exercise
    question: Question

    @property
    def scenario(self) -> Any:
        """The scenario of the task, for `wmviz.play` and `wmviz.simulate`."""
        return self.exercise.scenario

    def check(self, answer: object) -> Verdict:
        """Judge an answer: the letter of a choice, or a time or number where one is asked for.

        Returns
        -------
        Verdict
            Right with the reason, or wrong with the thought that leads there.
        """
        letter = str(answer).strip().lower()
        try:
            if len(letter) == 1 and letter in self.question.letters:
                value = self.question.choice(letter).value
            elif answer is None or answer is ... or not letter:
                return not_yet("There is no answer so far. Give a letter.")
            else:
                value = self._value(answer)
        except AnswerError as error:
            return not_yet(str(error))
        verdict = self._judge(value)
        _remember(self, value)
        return replace(verdict, item=f"drill.{self.topic.name}")

    def play(self) -> Any:
        """Show the task on the stage."""
        import wmviz

        return wmviz.play(self.scenario)

    def next(self) -> Drill:
        """Draw another one of the same topic and level."""
        return drill(self.topic.name, self.level)

    def __repr__(self) -> str:
        """Return the task as text."""
        return self._card().text

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return self._card()._repr_mimebundle_()

    def _value(self, answer: object) -> Any:
        texts = {choice.text.lower(): choice.value for choice in self.question.choices}
        text = str(answer).strip().lower()
        return texts[text] if text in texts else self.exercise.read(answer)

    def _judge(self, value: Any) -> Verdict:
        for choice in self.question.choices:
            if choice.value == value:
                return right(choice.why) if value == self.question.answer else wrong(choice.why)
        return wrong("That is none of the answers that one comes to here. Go through the events one by one.")

    def _card(self) -> cards.Card:
        head = f"Drill · {self.topic.name} · level {self.level} · seed {self.seed}"
        rows = _table(self.exercise)
        settings = self.exercise.settings[:1].upper() + self.exercise.settings[1:]
        asked = cards.asking(self.question, self.check)
        text = "\n".join([head, settings, *("  ".join(row) for row in rows), asked.text])
        html = _given_html(head, settings, rows)
        return cards.Card(text, html + asked.html, lambda: _widget(self, html))


def _made(topic: Topic, level: int, seed: int) -> Drill:
    return Drill(topic, level, seed, *drawn(topic, level, seed))


# What is given -----------------------------------------------------------------------------------------------------


def _table(exercise: Exercise) -> list[tuple[str, ...]]:
    """Write the events as a table; of partitions and values only what differs."""
    scenario = exercise.scenario
    events = scenario.events
    several = scenario.partition_count > 1
    valued = len({event.value for event in events}) > 1
    head = ("event", "arrives", *(("partition",) if several else ()), *((scenario.unit or "value",) if valued else ()))
    body = [
        (
            event.id,
            time_text(event.arrival_time_ms),
            *((str(event.partition),) if several else ()),
            *((f"{event.value:,}",) if valued else ()),
        )
        for event in events
    ]
    widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
    return [tuple(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [head, *body]]


def _given_html(head: str, settings: str, rows: list[tuple[str, ...]]) -> str:
    cell = 'style="text-align:left;padding:1px 14px 1px 0"'
    lines = [
        "<tr>" + "".join(f"<{tag} {cell}>{escape(c.strip())}</{tag}>" for c in row) + "</tr>"
        for row, tag in zip(rows, ["th", *("td" for _ in rows[1:])], strict=True)
    ]
    return (
        f'<div style="max-width:46em;line-height:1.5"><p style="margin:4px 0"><em>{escape(head)}</em></p>'
        f'<p style="margin:4px 0">{escape(settings)}</p><table style="margin:4px 0">{"".join(lines)}</table></div>'
    )


def _widget(task: Drill, given: str) -> Any:
    """Show the task with its buttons; below, the stage on demand and the next task."""
    import ipywidgets as w  # type: ignore[import-untyped]

    box, below = w.VBox(), w.VBox()
    asked = cards.asking(task.question, task.check).widget
    stage = w.Button(description="Play it on the stage", layout=w.Layout(width="auto"))
    another = w.Button(description="Another one", layout=w.Layout(width="auto"))
    stage.on_click(lambda _: setattr(below, "children", [task.play()]))

    def go_on(_: object) -> None:
        fresh = task.next()
        new = _widget(fresh, fresh._card().html.split('<div role="status"', 1)[0])
        box.children = new.children

    another.on_click(go_on)
    box.children = [w.HTML(given), asked() if asked else w.HTML(), w.HBox([stage, another]), below]
    return box


# What comes back ---------------------------------------------------------------------------------------------------


def _record(topic: Topic) -> dict[str, Any]:
    return memory.load().get(f"drill.{topic.name}", {})


def _next_seed(topic: Topic, level: int) -> int:
    """Give the seed after the last one; where something missed is due, one that tempts to the same thought again."""
    record = _record(topic)
    seed = int(record.get("done", 0))
    for thought, state in _missed(record).items():
        if state["level"] == level and state["due"] <= seed:
            for other in range(seed, seed + _SEEDS_TO_SEARCH):
                if thought in _thoughts(_made(topic, level, other)):
                    return other
    return seed


def _remember(task: Drill, value: Any) -> None:
    """Count the answer; a wrong thought comes back after two tasks, then after four, until it was resisted twice."""
    record = _record(task.topic)
    done = int(record.get("done", 0)) + 1
    missed = _missed(record)
    was_right = value == task.question.answer
    thought = task.exercise.thought(value)
    if thought:
        missed[thought] = {"level": task.level, "due": done + _FIRST_PAUSE, "left": 2}
    if was_right:
        for tempting in _thoughts(task) & missed.keys():
            left = missed[tempting]["left"] - 1
            if left:
                missed[tempting].update(left=left, due=done + 2 * _FIRST_PAUSE)
            else:
                del missed[tempting]
    streak = int(record.get("streak", 0)) + 1 if was_right else 0
    memory.note(
        f"drill.{task.topic.name}",
        tries=int(record.get("tries", 0)) + 1,
        done=done,
        streak=streak,
        missed=missed,
        right=record.get("right") is True or streak >= MASTERED,
    )


def _missed(record: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Read what was missed; what a damaged file has is left out."""
    found = record.get("missed")
    whole = {"level", "due", "left"}
    items = found.items() if isinstance(found, dict) else ()
    return {k: dict(v) for k, v in items if isinstance(v, dict) and whole <= v.keys()}


def _thoughts(task: Drill) -> set[str]:
    """Name the thoughts that the choices of a task tempt to."""
    return {task.exercise.thought(choice.value) for choice in task.question.choices} - {""}
