"""Sinks: what a reader of the results finds."""

from __future__ import annotations

from typing import Protocol

from wmviz.window import AnyWindow


class Sink(Protocol):
    """Takes the results of window firings."""

    def write(self, key: str, window: AnyWindow, value: int) -> int:
        """Take a result; give what the sink now holds for this key and window."""


class UpsertSink:
    """One row per key and window, overwritten by each firing: a late firing corrects it, a repeated one is harmless."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, AnyWindow], int] = {}

    def write(self, key: str, window: AnyWindow, value: int) -> int:
        """Overwrite the row."""
        self.rows[key, window] = value
        return value


class AppendSink:
    """A row per firing: a reader who adds them up counts accumulated results twice."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, AnyWindow, int]] = []

    def write(self, key: str, window: AnyWindow, value: int) -> int:
        """Append a row."""
        self.rows.append((key, window, value))
        return value


def sink_of(name: str) -> Sink:
    """Make the sink of a scenario: ``"upsert"`` or ``"append"``."""
    return UpsertSink() if name == "upsert" else AppendSink()
