"""What a notebook shows of the claims: a ballot, the verdicts, and a table of all."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from wmviz.course import cards, memory
from wmviz.course.claims import CLAIMS, THEMES
from wmviz.course.claims.court import DEPENDS, FALSE, NOT_RUN, TRUE, VERDICTS, Claim, Trial, asked, tried
from wmviz.course.questions import CourseError
from wmviz.course.session import predict

LESSON = "16"
_COLOURS = {TRUE: "#1a7f37", FALSE: "#c4432b", DEPENDS: "#9a6700", NOT_RUN: "#7a7f87"}
_VOTE = "Run this cell in JupyterLab to vote: true, false, or it depends."


def ballot(theme: str) -> cards.Card:
    """Ask for a vote on each claim of a theme; the votes are noted, not judged.

    Parameters
    ----------
    theme
        ``"watermarks"``, ``"windows"``, ``"late"``, ``"inputs"``, ``"restart"`` or ``"practice"``.
    """
    claims = _of(theme)
    lines = [f"{claim.number:2}  {claim.said}" for claim in claims]
    listed = "".join(f"<p>{_head(claim)}</p>" for claim in claims)
    html = cards.box("#4a6fa5", f"{listed}<p><em>{_VOTE}</em></p>")
    return cards.Card("\n".join([*lines, _VOTE]), html, lambda: _ballot_widget(claims))


def verdicts(theme: str) -> cards.Card:
    """Try each claim of a theme, and show verdict, evidence, and what is right instead.

    Parameters
    ----------
    theme
        As for `ballot`.
    """
    trials = [tried(claim, asked) for claim in _of(theme)]
    return cards.Card("\n\n".join(map(_text, trials)), "".join(map(_html, trials)))


def table(flink: Mapping[int, Trial]) -> cards.Card:
    """List every claim with its verdict, the evidence from both engines, and the lesson that explains it.

    Parameters
    ----------
    flink
        What `wmviz.course.claims.on_flink` gave.
    """
    rows = []
    for claim in CLAIMS.values():
        trial = tried(claim)
        rows.append((str(claim.number), trial.verdict, _evidence(trial, flink[claim.number]), claim.lesson, claim.said))
    titles = ("claim", "verdict", "evidence", "lesson", "said")
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in (titles, *rows)]
    head = "".join(f'<th style="text-align:left">{title}</th>' for title in titles)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return cards.Card("\n".join(lines), f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


def _cell(text: str) -> str:
    colour = f";color:{_COLOURS[text]};font-weight:bold" if text in _COLOURS else ""
    return f'<td style="text-align:left;vertical-align:top{colour}">{cards.marked_up(text)}</td>'


def _evidence(ours: Trial, flink: Trial) -> str:
    """Say how many cases each engine was tried on, and whether they agree."""
    tried_on = [_cases(len(trial.cases), trial.engine) for trial in (ours, flink) if trial.cases]
    if ours.engine == flink.engine or len(tried_on) < 2:
        return tried_on[-1] if tried_on else "none"
    agreed = "the same" if ours.has_common_cases(flink) else "in line"
    return f"{', '.join(tried_on)}: {agreed if ours.agrees_with(flink) else 'OTHER RESULTS'}"


def _cases(number: int, engine: str) -> str:
    return f"{engine} {number} {'case' if number == 1 else 'cases'}"


def _of(theme: str) -> tuple[Claim, ...]:
    if theme not in THEMES:
        raise CourseError(f"{theme!r} is no theme of the claims; write one of {', '.join(THEMES)}.")
    return THEMES[theme]


def _voted(claim: Claim) -> str | None:
    """Give the vote for a claim, if there is one."""
    letter = memory.load().get(_item(claim), {}).get("prediction")
    place = "abc".find(letter) if isinstance(letter, str) and letter else -1
    return VERDICTS[place] if 0 <= place < len(VERDICTS) else None


def _item(claim: Claim) -> str:
    return f"{LESSON}.claim-{claim.number}"


def _text(trial: Trial) -> str:
    vote = _voted(trial.claim)
    return "\n".join(
        [
            f"{trial.claim.number}  {trial.claim.said}",
            f"   {trial.verdict.upper()}{_by(trial)}{f'; you said: {vote}' if vote else ''}",
            *(f"   {_mark(case.holds)} {case.where} → {case.seen}" for case in trial.cases),
            f"   Rather: {trial.claim.instead}",
        ]
    )


def _html(trial: Trial) -> str:
    vote = _voted(trial.claim)
    voted = f" You said: {escape(vote)}." if vote else ""
    colour = _COLOURS[trial.verdict]
    verdict = f'<strong style="color:{colour}">{escape(trial.verdict.upper())}</strong>{escape(_by(trial))}{voted}'
    seen = "<br>".join(f"{_mark(case.holds)} {escape(case.where)} → {escape(case.seen)}" for case in trial.cases)
    parts = [_head(trial.claim), verdict, seen, f"<em>Rather:</em> {cards.marked_up(trial.claim.instead)}"]
    return cards.box(colour, "".join(f"<p>{part}</p>" for part in parts if part))


def _by(trial: Trial) -> str:
    return " (on Flink)" if trial.engine == "Flink" and trial.cases else ""


def _mark(holds: bool) -> str:
    return "✓" if holds else "✗"


def _head(claim: Claim) -> str:
    return f"{claim.number} · <strong>{cards.marked_up(claim.said)}</strong>"


def _ballot_widget(claims: tuple[Claim, ...]) -> Any:
    import ipywidgets as w  # type: ignore[import-untyped]

    rows: list[Any] = []
    for claim in claims:
        rows.append(w.HTML(f'<p style="margin:8px 0 0;max-width:46em;line-height:1.5">{_head(claim)}</p>'))
        rows.append(w.HBox(_vote_buttons(claim), layout=w.Layout(flex_flow="row wrap")))
    return w.VBox(rows)


def _vote_buttons(claim: Claim) -> list[Any]:
    """Make a button for each vote; the one that was clicked last is marked, in words too for a screen reader."""
    import ipywidgets as w

    buttons = []
    for letter, vote in zip("abc", VERDICTS, strict=True):
        button = w.Button(description=vote, layout=w.Layout(width="8em"))
        button.letter = letter
        buttons.append(button)

    def clicked(picked: Any) -> None:
        predict(_item(claim), picked.letter)
        show(VERDICTS["abc".index(picked.letter)])

    def show(vote: str | None) -> None:
        for button, word in zip(buttons, VERDICTS, strict=True):
            button.button_style = "info" if word == vote else ""
            button.description = f"✓ {word}" if word == vote else word

    for button in buttons:
        button.on_click(clicked)
    show(_voted(claim))
    return buttons
