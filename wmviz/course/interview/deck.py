"""All cards, and the part of them that somebody asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from wmviz.course import cards
from wmviz.course.interview.card import LEVELS, InterviewCard
from wmviz.course.interview.topics import apis, checkpoints, clocks, inputs, late, windows, work
from wmviz.course.questions import CourseError

ALL: tuple[InterviewCard, ...] = tuple(
    card for module in (clocks, windows, late, inputs, checkpoints, apis, work) for card in module.CARDS
)
TOPICS: tuple[str, ...] = tuple(dict.fromkeys(card.topic for card in ALL))


@dataclass(frozen=True)
class Deck(Sequence[InterviewCard]):
    """Some cards, in the order of the course; shows each with its answer."""

    chosen: tuple[InterviewCard, ...]

    def __len__(self) -> int:
        """Give the number of cards."""
        return len(self.chosen)

    @overload
    def __getitem__(self, index: int) -> InterviewCard: ...
    @overload
    def __getitem__(self, index: slice) -> Deck: ...
    def __getitem__(self, index: int | slice) -> InterviewCard | Deck:
        """Give one card, or some of them."""
        return Deck(self.chosen[index]) if isinstance(index, slice) else self.chosen[index]

    def __iter__(self) -> Iterator[InterviewCard]:
        """Go through the cards."""
        return iter(self.chosen)

    def __repr__(self) -> str:
        """Return all cards as text."""
        return "\n\n".join(map(repr, self.chosen)) or "No cards."

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        from wmviz.course.interview.showing import deck_widget  # ipywidgets only when something is shown

        html = "".join(card.html() for card in self.chosen)
        return cards.Card(repr(self), html, lambda: deck_widget(self.chosen))._repr_mimebundle_()


def interview_cards(level: str | None = None, topic: str | None = None) -> Deck:
    """Give the question cards of an interview.

    Parameters
    ----------
    level
        ``"junior"``, ``"mid"`` or ``"senior"``; all of them if left out.
    topic
        For example ``"late events"``; all of them if left out.

    Returns
    -------
    Deck
        The cards, in the order of the course. Each has its `question`, `answer`, `follow_ups` and `red_flags`, and
        `play` shows its scenario on the stage.

    Raises
    ------
    CourseError
        If there is no such level or topic.
    """
    level, topic = _known("level", level, LEVELS), _known("topic", topic, TOPICS)
    return Deck(tuple(c for c in ALL if level in (None, c.level) and topic in (None, c.topic)))


def card(name: str) -> InterviewCard:
    """Give a card by its name."""
    return next(c for c in ALL if c.name == name)


def _known(what: str, value: str | None, names: Sequence[str]) -> str | None:
    """Find a level or topic, however it is written."""
    if value is None:
        return None
    wanted = " ".join(str(value).replace("_", " ").split()).lower()
    for name in names:
        if wanted in (name.lower(), name.lower().replace("-", " ")):
            return name
    raise CourseError(f"There is no {what} {value!r}; there are: {', '.join(names)}.")
