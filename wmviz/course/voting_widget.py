"""A vote in a running notebook: counters and bars, the button that reveals, and the stage that plays the truth."""

from __future__ import annotations

from typing import Any

import ipywidgets as w  # type: ignore[import-untyped]

import wmviz
from wmviz.course import cards
from wmviz.course.voting import MOST_HANDS, Vote
from wmviz.scenario import Scenario
from wmviz.stage.subject import subject_of
from wmviz.stage.widget import Stage

# For the last row of a room: larger than the text of a notebook.
_STYLE = "<style>.wmviz-vote{font-size:17px}.wmviz-vote .widget-html-content{font-size:17px;line-height:1.4}</style>"
REVEAL, GO_ON = "Reveal", "Next question"


def vote_widget(vote: Vote) -> Any:
    """Show a vote; its questions come one after the other in the same place."""
    return _Room(vote).box


class _Row:
    """A choice: its text and bar, and its counter."""

    def __init__(self, room: _Room, index: int) -> None:
        self.room, self.index = room, index
        letter = room.vote.question.letters[index]
        self.shown = w.HTML(layout=w.Layout(flex="1 1 auto", min_width="0"))
        self.less = _small("minus", f"One hand less for {letter}")
        self.number = w.BoundedIntText(
            value=0, min=0, max=MOST_HANDS, layout=w.Layout(width="72px"), tooltip=f"Hands for {letter}"
        )
        self.more = _small("plus", f"One hand more for {letter}")
        self.less.on_click(lambda _: self._add(-1))
        self.more.on_click(lambda _: self._add(1))
        self.number.observe(lambda _: room.counted(), names="value")
        counter = w.HBox([self.less, self.number, self.more], layout=w.Layout(flex="0 0 auto"))
        self.box = w.HBox([counter, self.shown], layout=w.Layout(grid_gap="14px", align_items="flex-start"))

    def _add(self, hands: int) -> None:
        self.number.value += hands  # the field keeps its bounds

    def draw(self) -> None:
        """Show the bar; after the truth nothing can be counted."""
        self.shown.value = self.room.vote.row_html(self.index)
        for part in (self.less, self.number, self.more):
            part.disabled = self.room.vote.revealed


class _Room:
    """The widgets of a vote."""

    def __init__(self, vote: Vote) -> None:
        self.vote = vote
        self.asked, self.told = w.HTML(), w.HTML()
        self.reveal, self.go_on = _button(REVEAL, "primary"), _button(GO_ON)
        self.reveal.on_click(lambda _: self._reveal())
        self.go_on.on_click(lambda _: self._go_on())
        self.stage: Any = None
        self._shown: Scenario | None = None
        self.box = w.VBox(layout=w.Layout(grid_gap="4px"))
        self.box.add_class("wmviz-vote")
        self._ask()

    def counted(self) -> None:
        """Take the numbers of the counters."""
        if not self.vote.revealed:
            self.vote.hands(*(row.number.value for row in self.rows))
            self._draw()

    def _ask(self) -> None:
        """Show the present question, with the hands that it has."""
        self.rows = [_Row(self, index) for index in range(len(self.vote.counts))]
        for row, count in zip(self.rows, list(self.vote.counts), strict=True):
            row.number.set_trait("value", count)
        if self.vote.ballot.steps is not None:
            self._stage_before()
        self._draw()
        self._lay_out()

    def _draw(self) -> None:
        self.asked.value = f"{_STYLE}{self.vote.asked_html()}"
        for row in self.rows:
            row.draw()
        self.told.value = cards.saying(*self.vote.told()).html if self.vote.revealed else ""
        self.reveal.disabled = self.vote.revealed
        self.go_on.disabled = not (self.vote.revealed and self.vote.has_more)

    def _lay_out(self) -> None:
        buttons = [self.reveal, self.go_on] if len(self.vote.ballots) > 1 else [self.reveal]
        parts = [self.asked, *(row.box for row in self.rows), w.HBox(buttons), self.told]
        self.box.children = [*parts, self.stage] if self.stage is not None else parts

    def _reveal(self) -> None:
        self.vote.reveal()
        self._draw()
        ballot = self.vote.ballot
        if ballot.steps is None and ballot.scenario is not None:
            self.stage = wmviz.play(ballot.scenario)
            self._lay_out()
        if self.stage is not None:
            self._play(ballot.last_step(self.stage.trace))
        if self.vote.has_more:
            self.go_on.focus()

    def _go_on(self) -> None:
        self.vote.go_on()
        self._ask()
        self.rows[0].more.focus()

    def _stage_before(self) -> None:
        """Put the stage before the moment in question."""
        assert self.vote.ballot.steps is not None
        if self._shown is not self.vote.ballot.scenario:
            self._shown = self.vote.ballot.scenario
            self.stage = Stage(subject_of(self._shown, is_fixed=True))  # a slider would change the truth
        self._last_step: int | None = None
        self.stage.playing = False
        self.stage.step = self.vote.ballot.steps[0]

    def _play(self, last_step: int) -> None:
        """Let the stage play to a step and stop there."""
        stage = self.stage
        self._last_step = last_step

        def stop(change: Any) -> None:
            if change.new < last_step and stage.playing:
                return
            stage.unobserve(stop, "step")
            if self._last_step == last_step:
                with stage.hold_sync():
                    stage.playing, stage.step = False, last_step

        stage.observe(stop, "step")
        stage.playing = True


def _button(text: str, style: str = "") -> Any:
    return w.Button(description=text, button_style=style, layout=w.Layout(width="auto"))


def _small(icon: str, tooltip: str) -> Any:
    """Make a button with a sign, and its words for whoever cannot see it."""
    sign = {"minus": "−", "plus": "+"}[icon]
    return w.Button(description=sign, tooltip=tooltip, layout=w.Layout(width="40px"))
