"""Write the slides of the workshops out of the notebooks: ``make slides``.

A deck in `tools/slides/` lists which cells, questions and stages stand on which slide. What is said comes from the
notebooks and from the engine, so it is written once. Each deck becomes one page in `dist/slides/` that needs no
network: arrow keys or a presenter move through it, ``f`` fills the screen, and a question stops before it is told.

A slide of a deck has

- ``cells``: what it shows, each ``NOTEBOOK#CELL``. Of a text, ``take`` names the beginnings of the paragraphs to keep.
  A code cell shows its stored output; in ``small`` print if it is named there. The cells named in ``headings`` keep
  their headings.
- ``ask``: the name of a question of the course; or
- ``stage``: the cell that plays it, with ``predict`` if it asks, and its open ``parts``. What its scenario says about
  itself is left out: the one who leads says it, and not before the room has answered; or
- ``deck``: another deck, of which it takes the slides ``from`` … ``to``, as they are counted on the screen.
- ``title``: if left out, the heading of the first cell; a stage has a title of its own.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import mistune
import nbformat

import wmviz
from wmviz.course import cards
from wmviz.course.questions import Question, find
from wmviz.scenario import Scenario
from wmviz.stage.pages import player_html, stage_html

ROOT = Path(__file__).resolve().parent.parent
PARTS, OUT = ROOT / "tools" / "slides", ROOT / "dist" / "slides"
HEADING = re.compile(r"^#+ (?:\d+ · )?(.*)$")
# Cells that start Flink, or need what such a cell has found, are not run to make a slide; an import starts nothing.
FLINK = re.compile(r"^(?!from wmviz\.flink).*(?:flink|comparison|wmviz\.compare)", re.MULTILINE)


class DeckError(ValueError):
    """A deck that names something that is not there."""


@dataclass(frozen=True)
class Slide:
    """A slide, ready to be put on a page."""

    kind: str
    title: str
    body: str
    source: str

    def html(self) -> str:
        level = "h1" if self.kind == "cover" else "h2"
        source = f'<p class="source">{escape(self.source)}</p>'
        heading = f"<{level}>{cards.marked_up(self.title)}</{level}>" if self.title else ""
        return f'<section class="{self.kind}">{heading}{self.body}{source}</section>'


# The notebooks -------------------------------------------------------------------------------------------------------


@cache
def cells_of(notebook: str) -> dict[str, Any]:
    path = ROOT / f"{notebook}.ipynb"
    path = path if path.exists() else ROOT / "notebooks" / f"{notebook}.ipynb"
    return {cell.id: cell for cell in nbformat.read(path, as_version=4).cells}


def cell_at(place: str) -> Any:
    """Find a cell by its place, ``NOTEBOOK#CELL``."""
    notebook, _, name = place.partition("#")
    if name not in cells_of(notebook):
        raise DeckError(f"{notebook} has no cell {name!r}.")
    return cells_of(notebook)[name]


def blocks_of(text: str) -> list[str]:
    """Cut a text at its empty lines; the heading is left out, a list or a program stays whole."""
    blocks: list[list[str]] = [[]]
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if not fenced and (not line.strip() or HEADING.match(line)):
            blocks.append([])
        else:
            blocks[-1].append(line)
    return ["\n".join(block) for block in blocks if block]


def taken(text: str, take: list[str] | None, place: str) -> str:
    """Keep the paragraphs and the items of lists with these beginnings; all of them if none is named."""
    blocks = blocks_of(text)
    if take is None:
        return "\n\n".join(blocks)
    items = [item for block in blocks for item in block.splitlines() if item.startswith("- ")]
    kept = []
    for start in take:
        found = [piece for piece in (items if start.startswith("- ") else blocks) if piece.startswith(start)]
        if len(found) != 1:
            raise DeckError(f"{place} has {len(found)} paragraphs that begin with {start!r}; it must be one.")
        kept += found
    return "\n\n".join(kept)


def markdown(text: str) -> str:
    """Turn a text of a notebook into HTML. A slide leads nowhere, so a link is its words."""
    html = mistune.create_markdown(plugins=["table"])(text)
    return re.sub(r"</?a\b[^>]*>", "", str(html))


def output_of(cell: Any, place: str) -> str:
    """Give the stored output of a code cell: a table, sentences, or text."""
    shown = []
    for output in cell.outputs:
        data = output.get("data", {})
        if "text/html" in data:
            html = re.sub(r"<style.*?</style>", "", data["text/html"], flags=re.DOTALL)
            shown.append(html.replace(' border="1"', ""))
        else:
            shown.append(f"<pre>{escape(output.get('text') or data['text/plain'])}</pre>")
    if not shown:
        raise DeckError(f"{place} has no output to show.")
    return "".join(shown)


def heading_of(cell: Any) -> str:
    return next((found[1] for line in cell.source.splitlines() if (found := HEADING.match(line))), "")


# The slides ----------------------------------------------------------------------------------------------------------


def text_slide(described: dict[str, Any]) -> Slide:
    take, columns = described.get("take"), []
    for place in described["cells"]:
        cell = cell_at(place)
        if cell.cell_type == "code":
            size = " small" if place in described.get("small", ()) else ""
            columns.append(f'<div class="column{size}">{output_of(cell, place)}</div>')
        else:
            wanted = take.get(place) if isinstance(take, dict) else take
            head = f"<h3>{escape(heading_of(cell))}</h3>" if place in described.get("headings", ()) else ""
            columns.append(f'<div class="column">{head}{markdown(taken(cell.source, wanted, place))}</div>')
    title = described.get("title") or heading_of(cell_at(described["cells"][0]))
    return Slide(
        described.get("layout", "text"), title, f'<div class="body">{"".join(columns)}</div>', source_of(described)
    )


def source_of(described: dict[str, Any]) -> str:
    """Say where it comes from, for whoever wants to read on."""
    places = described.get("cells") or [described.get("stage", "")]
    return ", ".join(
        dict.fromkeys(place.partition("#")[0].replace("solutions/", "exercises/") for place in places if place)
    )


def ask_slide(described: dict[str, Any]) -> Slide:
    question = find(described["ask"])
    if not isinstance(question, Question):
        raise DeckError(f"{described['ask']} has no choices.")
    buttons = "".join(
        f'<button type="button" data-letter="{letter}"{" data-right" if choice is question.solution else ""}>'
        f"{letter}) {cards.marked_up(choice.text)}<small>{cards.marked_up(choice.why)}</small></button>"
        for letter, choice in zip(question.letters, question.choices, strict=True)
    )
    asked = f'<div class="body">{cards.marked_up(question.text)}</div><div class="choices">{buttons}</div>'
    reveal = '<button type="button" class="reveal">Hands up, then reveal</button>'
    lesson = f'question {described["ask"]}: course.vote("{described["ask"]}") counts the hands'
    return Slide("ask", described.get("title", "Predict"), asked + reveal, lesson)


def stage_slide(described: dict[str, Any]) -> Slide:
    scenario = played_in(described["stage"]).replace(about="")
    stage = stage_html(scenario, described.get("predict", False), tuple(described.get("parts", ())))
    return Slide("stage", described.get("title", ""), f'<div class="body">{stage}</div>', source_of(described))


@cache
def played_in(place: str) -> Scenario:
    """Run the cells of a lesson up to the one that plays, and give the scenario that it plays."""
    notebook, _, name = place.partition("#")
    cell_at(place)
    played: list[Scenario] = []
    play, wmviz.play = wmviz.play, lambda scenario, *_, **__: played.append(scenario)
    still, os.environ["WMVIZ_STAGE"] = os.environ.get("WMVIZ_STAGE"), "still"
    try:
        names: dict[str, Any] = {}
        for cell in cells_of(notebook).values():
            if cell.cell_type == "code" and not FLINK.search(cell.source):
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(cell.source, cell.id, "exec"), names)  # noqa: S102 - our own notebooks
            if cell.id == name:
                break
    finally:
        wmviz.play = play
        os.environ.pop("WMVIZ_STAGE") if still is None else os.environ.update(WMVIZ_STAGE=still)
    if not played:
        raise DeckError(f"{place} plays nothing.")
    return played[-1]


def slides_of(deck: dict[str, Any]) -> list[Slide]:
    """Make the slides of a deck, after a cover."""
    made = [Slide("cover", deck["title"], f'<div class="body">{markdown(deck["about"])}</div>', "")]
    for described in deck["slides"]:
        makers = {"ask": ask_slide, "stage": stage_slide, "cells": text_slide}
        (kind,) = (kind for kind in makers if kind in described)
        made.append(makers[kind](described))
    return made


def page(deck: dict[str, Any]) -> str:
    """Write the page of a deck."""
    slides = slides_of(deck)
    has_stage = any(slide.kind == "stage" for slide in slides)
    return Template(part("page.html")).substitute(
        title=escape(deck["title"]),
        style=part("slides.css"),
        script=part("slides.js"),
        slides="\n".join(slide.html() for slide in slides),
        player=player_html() if has_stage else "",
    )


def part(name: str) -> str:
    return (PARTS / name).read_text(encoding="utf-8").rstrip()


def decks() -> dict[str, dict[str, Any]]:
    """Give the decks by name, each with all its slides."""
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(PARTS.glob("*.json"))}
    return {name: {**deck, "slides": with_borrowed(deck["slides"], found)} for name, deck in found.items()}


def with_borrowed(slides: list[dict[str, Any]], found: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the slides of other decks in the place of their numbers. The cover, slide 1, is not among them."""
    whole: list[dict[str, Any]] = []
    for described in slides:
        if "deck" in described:
            borrowed = found[described["deck"]]["slides"][described["from"] - 2 : described["to"] - 1]
            if len(borrowed) != described["to"] - described["from"] + 1:
                raise DeckError(f"{described['deck']} has no slides {described['from']} to {described['to']}.")
            whole += borrowed
        else:
            whole.append(described)
    return whole


def main() -> int:
    """Write all decks."""
    OUT.mkdir(parents=True, exist_ok=True)
    for name, deck in decks().items():
        try:
            text = page(deck)
        except DeckError as error:
            print(f"tools/slides/{name}.json: {error}", file=sys.stderr)
            return 1
        path = OUT / f"{name}.html"
        path.write_text(text, encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {len(deck['slides']) + 1} slides, {len(text) // 1024:,} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
