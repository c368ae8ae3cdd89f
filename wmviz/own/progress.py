"""A line that tells how far a long read is, for a person who waits at a terminal or a notebook."""

from __future__ import annotations

import sys
import time

_PATIENCE_S = 2.0
_EVERY_S = 0.2


class Progress:
    """Tells on stderr what is being done; nothing before two seconds, nothing where nobody looks.

    Parameters
    ----------
    is_shown
        Whether there is a line at all. None: in a terminal and in a notebook.
    """

    def __init__(self, is_shown: bool | None = None) -> None:
        self._is_shown = _somebody_looks() if is_shown is None else is_shown
        self._next_s = time.monotonic() + _PATIENCE_S
        self._width = 0

    def tell(self, what: str) -> None:
        """Say what is done now; cheap enough to be called often."""
        now_s = time.monotonic()
        if not self._is_shown or now_s < self._next_s:
            return
        self._next_s = now_s + _EVERY_S
        self._write(what)

    def done(self) -> None:
        """Take the line away."""
        if self._width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()
            self._width = 0

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = max(self._width, len(text))


def _somebody_looks() -> bool:
    return "ipykernel" in sys.modules or sys.stderr.isatty()
