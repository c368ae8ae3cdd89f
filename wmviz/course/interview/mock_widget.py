"""The mock interview in a running notebook: question, clock, model answer, rating, summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as w  # type: ignore[import-untyped]
import traitlets

from wmviz.course.interview.mock import RUBRIC, Mock
from wmviz.course.interview.showing import stage_button

SHOW, HIDE = "Show the model answer", "Hide the model answer"
AGAIN = "Another interview"
WRAPPED = "wmviz-wrapped"
_STYLE = (
    f"<style>.{WRAPPED}{{white-space:normal;height:auto;min-height:28px;"
    "line-height:1.4;padding:4px 10px;text-align:left}</style>"
)


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
        self.show = _button(SHOW, primary=True)
        self.stop = _button("Stop here")
        self.row = w.HBox([self.show, self.stop])
        self.scores = [_button(f"{score}: {text}") for score, text in enumerate(RUBRIC)]
        for button in self.scores:
            button.add_class(WRAPPED)  # a score is a sentence; a narrow notebook would cut it off
        heading = w.HTML(f'{_STYLE}<p style="margin:6px 0 0"><strong>How good was your answer?</strong></p>')
        self.rating = w.VBox([heading, *self.scores])
        self.show.on_click(lambda _: self._turn())
        self.stop.on_click(lambda _: self._end())
        self.again = _button(AGAIN)
        self.again.on_click(lambda _: self._start_again())
        for score, button in enumerate(self.scores):
            button.on_click(lambda _, score=score: self._rate(score))
        self.box = w.VBox(layout=w.Layout(grid_gap="6px"))
        self._ask()

    def _ask(self) -> None:
        """Show the question and start the clock."""
        self.asked.value = self.interview.html()
        if self.interview.card is None:
            # The button is above the summary: it has the focus, and JupyterLab scrolls to it.
            self.box.children = [self.again, self.asked] if self.interview.again else [self.asked]
            return
        self.clock.limit_s, self.clock.running = self.interview.limit_s, True
        self.clock.question += 1
        self._hide()

    def _turn(self) -> None:
        """Show or hide the answer; the button stays where it is, so that Tab goes on from there."""
        if self.show.description == SHOW:
            self._show()
        else:
            self._hide()

    def _show(self) -> None:
        """Stop the clock; show the answer, the stage and the rating."""
        asked = self.interview.card
        assert asked is not None
        self.clock.running = False
        self.said.value = self.interview.answer().html
        self.show.description = HIDE
        self.box.children = [self.asked, self.clock, self.row, self.said, stage_button(asked), self.rating]

    def _hide(self) -> None:
        self.show.description = SHOW
        self.box.children = [self.asked, self.clock, self.row]

    def _rate(self, score: int) -> None:
        self.interview.rate(score)
        self._go_on()

    def _end(self) -> None:
        self.interview.stop()
        self._go_on()

    def _start_again(self) -> None:
        assert self.interview.again is not None
        self.interview = self.interview.again()
        self._go_on()

    def _go_on(self) -> None:
        """Show what comes next, with the focus on its button: it brings the place into view, too."""
        self._ask()
        (self.again if self.interview.card is None else self.show).focus()


def _button(text: str, primary: bool = False) -> Any:
    style = "primary" if primary else ""
    return w.Button(description=text, button_style=style, layout=w.Layout(width="auto", align_self="flex-start"))
