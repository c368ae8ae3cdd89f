"""Cards in a running notebook: each with a button that plays its scenario on the stage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wmviz.course.interview.card import InterviewCard

STAGE = "Play it on the stage"


def card_widget(card: InterviewCard) -> Any:
    """Show a card, and below it the stage on demand."""
    import ipywidgets as w  # type: ignore[import-untyped]

    return w.VBox([w.HTML(card.html()), stage_button(card)])


def deck_widget(chosen: Iterable[InterviewCard]) -> Any:
    """Show cards one below the other."""
    import ipywidgets as w

    return w.VBox([card_widget(card) for card in chosen])


def stage_button(card: InterviewCard) -> Any:
    """Make a button that opens the stage below itself, and closes it again."""
    import ipywidgets as w

    button = w.Button(
        description=STAGE,
        tooltip=f"Play the scenario {card.scenario}",
        layout=w.Layout(width="auto", align_self="flex-start", margin="0 0 0 18px"),
    )
    below = w.VBox()

    def clicked(_: object) -> None:
        below.children = [] if below.children else [card.play()]
        button.description = "Close the stage" if below.children else STAGE

    button.on_click(clicked)
    return w.VBox([button, below])
