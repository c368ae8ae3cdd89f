"""How questions and verdicts look.

Each has a text and a plain HTML form that is the same in every run. Where a kernel runs and a person can answer, an
ipywidgets form comes on top.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from wmviz.course import memory
from wmviz.course.questions import HEADS, Question, Verdict

# Colours by shape and word first: the mark and the head say the same in black and white.
_MARKS = {"right": ("✓", "#1a7f37"), "wrong": ("✗", "#c4432b"), "not yet": ("…", "#7a7f87")}
_ASK = "Run this cell in JupyterLab to answer."


@dataclass(frozen=True)
class Card:
    """Something to read, and in a running notebook perhaps something to click."""

    text: str
    html: str
    widget: Callable[[], Any] | None = None

    def __repr__(self) -> str:
        """Return the text form."""
        return self.text

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return _bundle(self.text, self.html, self.widget)


def saying(*sentences: str) -> Card:
    """Show sentences."""
    return Card("\n".join(sentences), box("#4a6fa5", "".join(f"<p>{marked_up(s)}</p>" for s in sentences)))


def asking(question: Question, answered: Callable[[str], Verdict | str]) -> Card:
    """Show a question; a click on a choice hands its letter over and shows what comes back."""
    lines = [f"  {letter}) {choice.text}" for letter, choice in zip(question.letters, question.choices, strict=True)]
    listed = "<br>".join(map(marked_up, map(str.strip, lines)))
    html = f"<p><strong>{marked_up(question.text)}</strong></p><p>{listed}</p><p><em>{_ASK}</em></p>"
    return Card(
        "\n".join([question.text, *lines, _ASK]),
        box("#4a6fa5", html),
        lambda: _question_widget(question, answered),
    )


def field(text: str, answered: Callable[[str], Verdict]) -> Card:
    """Show a task with a field to write the answer in."""
    html = f"<p><strong>{marked_up(text)}</strong></p><p><em>{_ASK}</em></p>"
    return Card(f"{text}\n{_ASK}", box("#4a6fa5", html), lambda: _field_widget(text, answered))


def verdict(said: Verdict) -> dict[str, Any]:
    """Return a verdict in all its forms; with a button for hints while it is not right."""
    helpless = said.right or not said.hints
    return _bundle(str(said), _verdict_html(said), None if helpless else lambda: _verdict_widget(said))


def _bundle(text: str, html: str, widget: Callable[[], Any] | None) -> dict[str, Any]:
    bundle: dict[str, Any] = {"text/plain": text, "text/html": html}
    if widget is not None and not memory.is_still():
        bundle.update({k: v for k, v in widget()._repr_mimebundle_().items() if k not in bundle})
    return bundle


def _verdict_html(said: Verdict) -> str:
    mark, colour = _MARKS[said.state]
    head = f'<strong style="color:{colour}">{mark} {HEADS[said.state]}</strong>'
    return box(colour, f"<p>{head} {marked_up(said.sentence)}</p>")


def box(colour: str, inside: str) -> str:
    """Set HTML into a box with a coloured edge."""
    # Widgets bring a line height and paragraph margins of their own.
    style = f"border-left:4px solid {colour};padding:2px 0 2px 12px;margin:4px 0;max-width:46em;line-height:1.5"
    inside = inside.replace("<p>", '<p style="margin:4px 0">')
    return f'<div role="status" style="{style}">{inside}</div>'


def marked_up(text: str) -> str:
    """Escape, then set `code` in code type."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


# In a running notebook ---------------------------------------------------------------------------------------------


def _question_widget(question: Question, answered: Callable[[str], Verdict | str]) -> Any:
    """Make a button of each choice: JupyterLab takes the arrow keys that radio buttons need."""
    import ipywidgets as w  # type: ignore[import-untyped]

    said = w.HTML()
    choices = []
    for letter, choice in zip(question.letters, question.choices, strict=True):
        button = _button(f"{letter})  {choice.text.replace('`', '')}")
        button.add_class("wmviz-choice")
        button.letter = letter
        choices.append(button)

    def clicked(picked: Any) -> None:
        answer = answered(picked.letter)
        state = answer.state if isinstance(answer, Verdict) else "noted"
        for button in choices:
            button.button_style = _BUTTON_STYLES[state] if button is picked else ""
        said.value = _verdict_html(answer) if isinstance(answer, Verdict) else saying(answer).html

    for button in choices:
        button.on_click(clicked)
    return w.VBox([w.HTML(_CHOICE_STYLE + _heading(question.text)), *choices, said])


_BUTTON_STYLES = {"right": "success", "wrong": "danger", "noted": "info"}
_CHOICE_STYLE = (
    "<style>.wmviz-choice{max-width:46em;min-height:28px;height:auto;padding:2px 12px;white-space:normal;"
    "text-align:left;line-height:1.5}</style>"
)


def _field_widget(text: str, answered: Callable[[str], Verdict]) -> Any:
    import ipywidgets as w

    # Enter and leaving the field both count as a change of the value; a click on the button leaves the field first.
    answer = w.Text(placeholder="your answer", continuous_update=False, layout=w.Layout(width="16em"))
    send = _button("Check")
    said = w.VBox()

    def answered_now(_: object) -> None:
        verdict = answered(answer.value)
        helpless = verdict.right or not verdict.hints
        said.children = [w.HTML(_verdict_html(verdict)) if helpless else _verdict_widget(verdict)]

    def clicked(_: object) -> None:
        if not said.children:
            answered_now(_)

    answer.observe(answered_now, names="value")
    send.on_click(clicked)
    return w.VBox([w.HTML(_heading(text)), w.HBox([answer, send]), said])


def _heading(text: str) -> str:
    return f'<p style="margin:0;max-width:46em;line-height:1.5"><strong>{marked_up(text)}</strong></p>'


def _button(text: str) -> Any:
    import ipywidgets as w

    return w.Button(description=text, layout=w.Layout(width="auto", align_self="flex-start"))


def _verdict_widget(said: Verdict) -> Any:
    import ipywidgets as w

    shown = w.HTML(_verdict_html(said))
    more = _button("Hint")
    hints = w.HTML()
    steps = 0

    def clicked(_: object) -> None:
        nonlocal steps
        steps += 1
        memory.note_hint(said.item, steps)
        count = len(said.hints)
        lines = [f"Hint {i} of {count}: {hint}" for i, hint in enumerate(said.hints[:steps], 1)]
        hints.value = saying(*lines).html
        more.description = "Next hint"
        more.disabled = steps == count

    more.on_click(clicked)
    return w.VBox([shown, more, hints])
