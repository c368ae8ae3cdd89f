"""A vote of a room: how many hands each choice gets, then the truth, and a tally over the session.

For one screen and many people: the leader counts hands and enters them. Questions are those of the lessons, or those
that the stage asks about a scenario.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from html import escape
from typing import Any

import wmviz
from wmviz.course import cards, memory
from wmviz.course.questions import Choice, CourseError, Question, find
from wmviz.fields import ScenarioError
from wmviz.scenario import Scenario
from wmviz.stage.predicting import HEADING, kinds_of, questions_of
from wmviz.stage.subject import drawable, show
from wmviz.times import TimeError, time_ms
from wmviz.trace import Trace

PLAYS = {
    "3.first-firing": "leaderboard",
    "4.results": "price-feed",
    "5.share": "leaderboard",
    "6.which-fire": "quiet-partition",
    "7.bet": "idle-bet",
    "8.wait": "watermark-alignment",
    "9.workouts": "workout-sessions",
    "10.in-the-checkpoint": "barrier-alignment",
    "11.total": "crash-and-replay",
    "11.final": "restore-overwrites-total",
    "12.gap": "written-twice",
    "12.visible": "transactional-sink",
    "12.lost": "transaction-timeout",
    "15.holder": "quiet-partition",
    "16.claim-27": "idle-bet",
    "17.late": "new-lateness",
}
"""A question of a lesson → the scenario that answers it on the stage."""
TO_THE_FIRST_RESULT = {"3.first-firing"}
"""Questions behind which the stage stops at the first result: what comes then is asked later."""
MOST_HANDS = 999
_EDGE, _RIGHT, _OTHER = "#4a6fa5", "#1a7f37", "#8a94a3"


@dataclass(frozen=True)
class Ballot:
    """One question that a room votes on.

    Attributes
    ----------
    name
        What the tally calls it.
    question
        The question, with its right choice.
    scenario
        What the stage plays; None if it plays nothing.
    steps
        The steps of the run before and at the end of the moment in question; None for the whole run.
    to_first_result
        Whether the stage stops when the first result is out.
    """

    name: str
    question: Question
    scenario: Scenario | None = None
    steps: tuple[int, int] | None = None
    to_first_result: bool = False

    def last_step(self, trace: Trace) -> int:
        """Tell the step at which the stage stops."""
        if self.steps is not None:
            return self.steps[1]
        if self.to_first_result:
            return bisect_right(trace.step_at_ms, min(firing.at_ms for firing in trace.all_firings)) - 1
        return trace.steps - 1


def vote(source: str | Scenario, plays: Scenario | None = None, kinds: Any = True) -> Vote:
    """Let a room vote before it sees what happens.

    Parameters
    ----------
    source
        The name of a question of the course, such as ``"7.bet"``; or a scenario: then the questions are those of
        ``wmviz.play(scenario, predict=True)``, one after the other.
    plays
        What the stage plays after a question of the course; if left out, the scenario of its lesson.
    kinds
        Which questions about a scenario are asked; as ``predict`` of ``wmviz.play``.

    Returns
    -------
    Vote
        In JupyterLab it has a counter for each choice. In code: `Vote.hands`, `Vote.reveal`, `Vote.go_on`.

    Raises
    ------
    CourseError
        If there is no such question, or it has no choices.
    ScenarioError
        If a scenario has no moment to ask about.

    Examples
    --------
    >>> from wmviz import course
    >>> course.vote("3.first-firing").hands(5, 2, 9, 0, 1).right_hands
    9
    """
    if isinstance(source, Scenario):
        return Vote(_ballots(source, kinds))
    if not isinstance(source, str):
        raise CourseError(f'vote takes the name of a question, such as "7.bet", or a scenario, not {source!r}.')
    question = find(source)
    if not isinstance(question, Question):
        raise CourseError(f'"{source}" has no choices to vote on; solve it together with course.check("{source}").')
    if plays is not None:
        return Vote((Ballot(source, question, plays),))
    # What the scenario says about itself would tell too much for the questions that follow.
    played = wmviz.scenario(PLAYS[source]).replace(about="") if source in PLAYS else None
    return Vote((Ballot(source, question, played, to_first_result=source in TO_THE_FIRST_RESULT),))


def tally() -> Tally:
    """Show how the room has voted since this notebook was started."""
    return Tally(tuple(_session.values()))


@dataclass(frozen=True)
class Counted:
    """A vote whose truth is told: its question, how many hands were right, and how many there were."""

    name: str
    asked: str
    right: int
    hands: int


_session: dict[str, Counted] = {}


@dataclass
class Vote:
    """A vote that is going on.

    Attributes
    ----------
    ballots
        What is asked, in order.
    counts
        The hands of each choice of the present question.
    revealed
        Whether the truth of the present question is told.
    """

    ballots: tuple[Ballot, ...]
    at: int = 0
    counts: list[int] = field(default_factory=list)
    revealed: bool = False

    def __post_init__(self) -> None:
        """Start with no hands."""
        self.counts = [0] * len(self.question.choices)

    @property
    def ballot(self) -> Ballot:
        """What is asked now."""
        return self.ballots[self.at]

    @property
    def question(self) -> Question:
        """The question that is asked now."""
        return self.ballot.question

    @property
    def right_index(self) -> int:
        """Which choice is right, counted from 0."""
        return self.question.choices.index(self.question.solution)

    @property
    def right_hands(self) -> int:
        """How many hands the right choice has."""
        return self.counts[self.right_index]

    @property
    def has_more(self) -> bool:
        """Whether another question follows."""
        return self.at + 1 < len(self.ballots)

    def hands(self, *counts: int) -> Vote:
        """Enter the hands of all choices, in their order.

        Raises
        ------
        CourseError
            If these are not as many numbers as there are choices, or the truth is told already.
        """
        if self.revealed:
            raise CourseError("The truth is told; these hands would come too late. Go on with v.go_on().")
        if len(counts) != len(self.counts):
            raise CourseError(
                f"There are {len(self.counts)} choices; write as many numbers of hands, not {len(counts)}."
            )
        for count in counts:
            if isinstance(count, bool) or count not in range(MOST_HANDS + 1):
                raise CourseError(f"Hands are a whole number from 0 to {MOST_HANDS}, not {count!r}.")
        self.counts = [int(count) for count in counts]
        return self

    def reveal(self) -> cards.Card:
        """Tell the truth, and count this vote in the tally if there were hands."""
        if not self.revealed and any(self.counts):
            _session[self.ballot.name] = Counted(
                self.ballot.name, self.question.text, self.right_hands, sum(self.counts)
            )
        self.revealed = True
        return cards.saying(*self.told())

    def go_on(self) -> Vote:
        """Go on to the next question.

        Raises
        ------
        CourseError
            If this was the last one.
        """
        if not self.has_more:
            raise CourseError("This was the last question; course.tally() shows how the room has voted.")
        self.at += 1
        self.revealed = False
        self.counts = [0] * len(self.question.choices)
        return self

    def told(self) -> list[str]:
        """Say the truth, how many had it, and what misled most of the others."""
        letter, solution = self.question.letters[self.right_index], self.question.solution
        lines = [f"{letter}) {solution.text}: {solution.why}"]
        if hands := sum(self.counts):
            lines.append(f"{self.right_hands} of {hands} hand{'s' * (hands > 1)} had it.")
        wrong = [index for index in range(len(self.counts)) if index != self.right_index]
        favourite = max(wrong, key=lambda index: self.counts[index])
        choice = self.question.choices[favourite]
        if self.counts[favourite] and choice.why:
            lines.append(f"{self.question.letters[favourite]}) {choice.text}: {choice.why}")
        return lines

    @property
    def head(self) -> str:
        """Which question of how many, and how the session stands."""
        which = f"Vote {self.at + 1} of {len(self.ballots)}" if len(self.ballots) > 1 else "Vote"
        return " · ".join([which, *([tally().line] if _session and not memory.is_still() else [])])

    def __repr__(self) -> str:
        """Return the question with its hands as text; the truth when it is told."""
        lines = [self.head, self.question.text]
        for letter, choice, count in zip(self.question.letters, self.question.choices, self.counts, strict=True):
            lines.append(f"  {letter}) {choice.text}{f'  {count}' if count else ''}")
        if self.revealed:
            return "\n".join([*lines, *self.told()])
        numbers = ", ".join("0" for _ in self.counts)
        return "\n".join(
            [*lines, f"In code: v.hands({numbers}) enters the hands, v.reveal() tells, v.go_on() goes on."]
        )

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return cards.Card(repr(self), self.html(), self._widget)._repr_mimebundle_()

    def _widget(self) -> Any:
        from wmviz.course.voting_widget import vote_widget  # ipywidgets only when something is shown

        return vote_widget(self)

    def html(self) -> str:
        """Give the vote as HTML without anything to click."""
        rows = "".join(self.row_html(index) for index in range(len(self.counts)))
        told = "".join(f"<p>{cards.marked_up(line)}</p>" for line in self.told()) if self.revealed else ""
        return cards.box(_EDGE, self.asked_html() + rows + told)

    def asked_html(self) -> str:
        """Give the question as HTML."""
        asked = f"<em>{escape(self.head)}</em><br><strong>{cards.marked_up(self.question.text)}</strong>"
        return f'<p style="margin:4px 0 8px">{asked}</p>'

    def row_html(self, index: int) -> str:
        """Give a choice with its bar; the right one has a mark when the truth is told."""
        choice, hands = self.question.choices[index], sum(self.counts)
        count = self.counts[index]
        share = round(100 * count / hands) if hands else 0
        is_right = self.revealed and index == self.right_index
        colour, mark = (_RIGHT, "✓ ") if is_right else (_OTHER if self.revealed else _EDGE, "")
        weight = "font-weight:600" if is_right else ""
        number = f'<span style="flex:0 0 8em">{count} of {hands}, {share} %</span>' if hands else ""
        bar = (
            '<div style="flex:1;height:10px;background:rgb(128 138 150 / 22%);border-radius:5px">'
            f'<div style="width:{share}%;height:100%;background:{colour};border-radius:5px"></div></div>'
        )
        counted = f'<div style="display:flex;gap:12px;align-items:center;min-height:1.4em">{bar}{number}</div>'
        text = f"{mark}{self.question.letters[index]}) {cards.marked_up(choice.text)}"
        return f'<div style="line-height:1.35;margin:0 0 6px;{weight}">{text}{counted}</div>'


@dataclass(frozen=True)
class Tally:
    """How a room has voted over the session."""

    counted: tuple[Counted, ...]

    @property
    def right(self) -> int:
        """The hands that were right."""
        return sum(one.right for one in self.counted)

    @property
    def hands(self) -> int:
        """All hands."""
        return sum(one.hands for one in self.counted)

    @property
    def line(self) -> str:
        """Say it in one line."""
        if not self.counted:
            return "no vote so far"
        votes = f"{len(self.counted)} vote{'s' * (len(self.counted) > 1)}"
        return f"so far {votes}, {self.right} of {self.hands} hands right"

    def __repr__(self) -> str:
        """Return a line, then one for each vote."""
        rows = [f"  {one.right:>3} of {one.hands:>3}  {one.asked}" for one in self.counted]
        return "\n".join([f"{self.line[0].upper()}{self.line[1:]}.", *rows])

    def _repr_html_(self) -> str:
        head = f"<p><strong>{escape(self.line[0].upper() + self.line[1:])}.</strong></p>"
        rows = "".join(f"<p>{one.right} of {one.hands}: {cards.marked_up(one.asked)}</p>" for one in self.counted)
        return cards.box(_EDGE, head + rows)


# What the stage asks about a scenario --------------------------------------------------------------------------------


def _ballots(scenario: Scenario, kinds: Any) -> tuple[Ballot, ...]:
    """Make a ballot of each question that the stage would ask."""
    chosen, _ = drawable(scenario)
    trace = wmviz.simulate(chosen)
    picture = show(trace, chosen)
    # What a scenario says about itself, and its title, would tell too much before a vote.
    quiet = chosen.replace(about="", title=HEADING)
    found = []
    for asked in questions_of(trace, picture, kinds_of(kinds)):
        question = _as_choices(asked)
        if len(question.choices) > 1:
            moment = asked["moment"]
            before = picture["moments"][moment - 1] if moment else -1
            name = f"{chosen.name}, moment {moment}"
            found.append(Ballot(name, question, quiet, (before, picture["moments"][moment])))
    if not found:
        raise ScenarioError(f"{chosen.name} has no moment with choices to vote on; play it with wmviz.play")
    return tuple(found)


def _as_choices(asked: dict[str, Any]) -> Question:
    """Turn a question of the stage into one with choices; a time is chosen among the right one and known slips."""
    text = f"{asked['lead']} {asked['ask'].removesuffix(' Write a time.')}"
    if not asked["choices"]:
        times = _times(asked)
        choices = tuple(Choice(time, time, asked["slips"].get(time, asked["why"])) for time in times)
        return Question(text, choices, min(asked["spellings"], key=len))
    answer = asked["answer"]
    choices = tuple(
        Choice(index, choice["text"], asked["why"] if index == answer else "")
        for index, choice in enumerate(asked["choices"])
    )
    return Question(text, choices, answer)


def _times(asked: dict[str, Any]) -> list[str]:
    """Give the times to choose among, the earliest first: the right one, and one for each slip."""
    reasons: dict[str, list[str]] = {}
    for text, reason in asked["slips"].items():
        reasons.setdefault(reason, []).append(text)
    times = {min(texts, key=len) for texts in [asked["spellings"], *reasons.values()]}
    return sorted(times, key=_order)


def _order(text: str) -> tuple[int, str]:
    try:
        return time_ms(text), text
    except TimeError:
        return 0, text
