"""The mock interview in a running notebook: question, clock, model answer, rating, summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as w  # type: ignore[import-untyped]
import traitlets

from wmviz.course.interview.mock import RUBRIC, Mock
from wmviz.course.interview.showing import stage_button


class Clock(anywidget.AnyWidget):
    """Shows how long an answer has taken.

    Attributes
    ----------
    limit_s
        How long it may take, in s.
    question
        Its number; the clock starts again when it changes.
    running
        Whether the candidate still speaks.
    """

    _esm = Path(__file__).with_name("clock.js").read_text(encoding="utf-8")
    limit_s = traitlets.Int(0).tag(sync=True)
    question = traitlets.Int(0).tag(sync=True)
    running = traitlets.Bool(True).tag(sync=True)


def mock_widget(interview: Mock) -> Any:
    """Show an interview; its questions come one after the other in the same place."""
    return _Room(interview).box


class _Room:
    """The widgets of an interview, which stay the same from question to question."""

    def __init__(self, interview: Mock) -> None:
        self.interview = interview
        self.asked, self.said = w.HTML(), w.HTML()
        self.clock = Clock()
        self.show = _button("Show the model answer", primary=True)
        self.stop = _button("Stop here")
        self.scores = [_button(f"{score}: {text}") for score, text in enumerate(RUBRIC)]
        self.stage = w.VBox()
        heading = w.HTML('<p style="margin:6px 0 0"><strong>How good was your answer?</strong></p>')
        self.rating = w.VBox([heading, *self.scores])
        self.show.on_click(lambda _: self._show_answer())
        self.stop.on_click(lambda _: self._end())
        for score, button in enumerate(self.scores):
            button.on_click(lambda _, score=score: self._rate(score))
        self.box = w.VBox(layout=w.Layout(grid_gap="6px"))
        self._ask()

    def _ask(self) -> None:
        """Show the question and start the clock."""
        self.asked.value = self.interview.html()
        if self.interview.card is None:
            self.box.children = [self.asked]
            return
        self.clock.limit_s, self.clock.running = self.interview.limit_s, True
        self.clock.question += 1
        self.box.children = [self.asked, self.clock, w.HBox([self.show, self.stop])]
        self.show.focus()

    def _show_answer(self) -> None:
        """Stop the clock; show the answer, the rating and the stage."""
        self.clock.running = False
        self.said.value = self.interview.answer().html
        self.stage = stage_button(self.interview._asked())
        self.box.children = [self.asked, self.clock, self.said, self.stage, self.rating, self.stop]
        self.scores[0].focus()

    def _rate(self, score: int) -> None:
        self.interview.rate(score)
        self._ask()

    def _end(self) -> None:
        self.interview.stop()
        self._ask()


def _button(text: str, primary: bool = False) -> Any:
    style = "primary" if primary else ""
    return w.Button(description=text, button_style=style, layout=w.Layout(width="auto", align_self="flex-start"))
