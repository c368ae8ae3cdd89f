"""What goes wrong while own events are read: an error, a warning, and the reasons for which a row is set aside."""

from __future__ import annotations

from wmviz.fields import ScenarioError

MISSING = "is missing"


class OwnEventsError(ScenarioError):
    """A table, or a file, that no events can be read from; the message is a sentence."""

    def _render_traceback_(self) -> list[str]:
        """Let a notebook show the sentence alone."""
        return [f"OwnEventsError: {self}"]


class OwnEventsWarning(UserWarning):
    """Rows were set aside, or something was guessed; the message says which, and how to settle it."""
