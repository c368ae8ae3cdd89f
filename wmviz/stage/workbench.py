"""The scenario on the stage, what it was before and after, and the variant that is kept beside it."""

from __future__ import annotations

from wmviz.scenario import Scenario

MOST_KEPT = 200
"""Changes that can be undone."""


class Workbench:
    """A scenario with its history.

    Parameters
    ----------
    first
        What the stage began with.

    Attributes
    ----------
    now
        What is on the stage.
    other
        The variant B, or None.
    """

    def __init__(self, first: Scenario) -> None:
        self.first = self.now = first
        self.other: Scenario | None = None
        self._past: list[Scenario] = []
        self._future: list[Scenario] = []
        self._gesture: str | None = None

    def change(self, scenario: Scenario, gesture: str | None = None) -> None:
        """Put another scenario in place; changes of one gesture, such as a drag, are undone together."""
        if scenario == self.now:
            return
        if gesture is None or gesture != self._gesture:
            self._past = [*self._past[1 - MOST_KEPT :], self.now]
        self._gesture = gesture
        self._future.clear()
        self.now = scenario

    def begin(self, scenario: Scenario) -> None:
        """Put a scenario in place that `reset` goes back to from now on."""
        self.change(scenario)
        self.first = scenario

    def undo(self) -> None:
        """Go back before the last change."""
        self._step(self._past, self._future)

    def redo(self) -> None:
        """Do again what was undone last."""
        self._step(self._future, self._past)

    def reset(self) -> None:
        """Go back to what the stage began with; that can be undone too."""
        self.change(self.first)

    def keep(self) -> None:
        """Keep what is on the stage as variant B."""
        self.other = self.now

    def swap(self) -> None:
        """Put variant B on the stage, and what was there in its place."""
        if self.other is not None:
            now = self.now
            self.change(self.other)
            self.other = now

    def drop(self) -> None:
        """Forget variant B."""
        self.other = None

    @property
    def can(self) -> dict[str, bool]:
        """Which of these would do something."""
        kept = self.other is not None
        return {
            "undo": bool(self._past),
            "redo": bool(self._future),
            "reset": self.now != self.first,
            "keep": True,
            "swap": kept and self.other != self.now,
            "drop": kept,
        }

    def _step(self, from_: list[Scenario], to: list[Scenario]) -> None:
        if from_:
            to.append(self.now)
            self.now = from_.pop()
        self._gesture = None
