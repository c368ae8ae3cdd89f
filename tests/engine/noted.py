"""An output that notes everything it is told, in order."""

from __future__ import annotations

from typing import Any


class Noted:
    """Takes every call and notes its name with the arguments; nothing more is needed of what follows a piece."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        def note(*arguments: Any) -> None:
            self.calls.append((name, *arguments) if arguments else name)

        return note

    def take(self) -> list[Any]:
        """Give what was noted since the last time."""
        calls, self.calls = self.calls, []
        return calls
