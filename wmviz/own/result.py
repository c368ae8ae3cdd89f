"""What reading gives back: the scenario, the rows that were set aside with their reasons, and what was assumed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from wmviz.own.assemble import span_text
from wmviz.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd

    from wmviz.lag import Advice

_MOST_SHOWN = 10


@dataclass(frozen=True, eq=False)
class OwnEvents:
    """Events of your own, read from a table or a file. Made by the functions of `wmviz.own`.

    Attributes
    ----------
    scenario
        The events and the job. Play it, simulate it, vary it.
    set_aside
        A pandas table with a line for each cell that kept its row out: `row` (its place in the table, from 0) or
        `line` (of the file, from 1), `column`, `value`, `reason`. Empty if every row was read.
    notes
        Sentences on what was assumed, and how to settle it otherwise.
    rows
        How many rows there were.
    source
        The name of the file, or "the table".
    """

    scenario: Scenario
    set_aside: pd.DataFrame
    notes: tuple[str, ...]
    rows: int
    source: str

    @property
    def rows_set_aside(self) -> int:
        """How many rows were set aside."""
        return self.rows - len(self.scenario.events)

    @property
    def sentence(self) -> str:
        """What was read, and what was not and why, in words."""
        count = len(self.scenario.events)
        text = f"{count:,} {'event' if count == 1 else 'events'} from {self.source}, {span_text(self.scenario)}."
        if not self.rows_set_aside:
            return f"{text} No row was set aside."
        were = "1 row was" if self.rows_set_aside == 1 else f"{self.rows_set_aside:,} rows were"
        first = self.set_aside.iloc[0]
        why = f"{first['column']} {first['reason']}".strip()
        return f"{text} {were} set aside; {self.set_aside.columns[0]} {first.iloc[0]}: {why}."

    def reasons(self) -> dict[str, int]:
        """Count the reasons by column, as in ``{"event_time is missing": 3}``, whatever the value that they name."""
        kinds = (
            f"{column} {_kind(reason)}".strip()
            for column, reason in zip(self.set_aside["column"], self.set_aside["reason"], strict=True)
        )
        return dict(Counter(kinds).most_common())

    def sample(self, most: int = 2_000) -> Scenario:
        """Give a stretch that fits the stage; see `Scenario.sample`."""
        return self.scenario.sample(most=most)

    def choose(self, **options: Any) -> Advice:
        """Choose the bound for these events: `wmviz.lag.choose` of the scenario, beside its bound if it has one."""
        from wmviz import lag

        return lag.choose(self.scenario, **{"present": self.scenario.bound_ms > 0, **options})

    def __repr__(self) -> str:
        """Say what was read, what was set aside, and what was assumed."""
        return "\n".join([self.sentence, *self._reason_lines(), *(f"Note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        parts = [f"<p>{escape(self.sentence)}</p>"]
        if self.rows_set_aside:
            head = "".join(f"<th style='text-align: left'>{name}</th>" for name in self.set_aside.columns)
            rows = "".join(
                "<tr>" + "".join(f"<td style='text-align: left'>{escape(_cell(cell))}</td>" for cell in row) + "</tr>"
                for row in self.set_aside.head(_MOST_SHOWN).itertuples(index=False)
            )
            parts.append(f"<table><tr>{head}</tr>{rows}</table>")
            if len(self.set_aside) > _MOST_SHOWN:
                parts.append(
                    f"<p>The first {_MOST_SHOWN} of {len(self.set_aside):,}; all are in <code>set_aside</code>.</p>"
                )
        if self.notes:
            parts.append("<ul>" + "".join(f"<li>{escape(note)}</li>" for note in self.notes) + "</ul>")
        return "".join(parts)

    def _reason_lines(self) -> list[str]:
        return [f"Set aside: {what}: {count:,}" for what, count in list(self.reasons().items())[:_MOST_SHOWN]]


def _kind(reason: str) -> str:
    """Give a reason without the value that it names."""
    for phrase in ("is not a time", "is not a number", "far from the others: it stands for no time"):
        _, said, rest = reason.rpartition(phrase)
        if said:
            return said + rest
    _, looks, unit = reason.partition(" looks like ")
    return f"{looks.strip()} {unit}" if looks else reason


def _cell(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
