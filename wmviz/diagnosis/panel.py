"""The live panel: a job's diagnosis in a notebook, read again every few seconds; made by ``wmviz.watch``."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import anywidget
import traitlets

from wmviz.diagnosis import answers, of, page
from wmviz.diagnosis.answers import JobEndedError
from wmviz.diagnosis.client import LIMIT_S, DiagnosisError
from wmviz.diagnosis.history import History
from wmviz.diagnosis.options import client_of, is_dump, limits_of, ms_of, seconds_of
from wmviz.diagnosis.result import Diagnosis
from wmviz.diagnosis.watching import Watch
from wmviz.diagnosis.words import duration, moment

HERE = Path(__file__).parent
LONGEST_PAUSE_S = 60.0
"""While a cluster does not answer, the pause doubles up to this."""


def watch(
    where: object,
    job: str | None = None,
    *,
    every: float | str = 5.0,
    wait: float | str | None = None,
    stop_after: int | str = "1 h",
    token: str | None = None,
    user: str | None = None,
    password: str | None = None,
    ca: str | Path | None = None,
    acceptable_delay: int | str | None = None,
    acceptable_silence: int | str | None = None,
    limit_s: float = LIMIT_S,
) -> Panel:
    """Show the diagnosis of a running job in a notebook, and read it again every few seconds.

    It reads in a thread of its own, so the next cells run meanwhile. It stops when its button is pressed, when its cell
    is run again, when nobody sees it any more, when the job ends, or after an hour. It sends GET requests only.

    Parameters
    ----------
    where
        As for ``wmviz.diagnose``: an address, a cluster, or a file that ``save`` wrote, which is shown as it is.
    job
        Name or id of the job; None: the only one that runs.
    every
        From reading to reading: seconds, or text as ``"10 s"``.
    wait
        How far apart the two readings are that are compared; None: as long as the cluster takes to collect new numbers.
    stop_after
        How long it reads at most, as ``"30 min"``.
    token, user, password, ca, acceptable_delay, acceptable_silence, limit_s
        As for ``wmviz.diagnose``.

    Returns
    -------
    Panel
        A widget with ``.diagnosis``, the newest one, ``.stop()`` and ``.start()``.

    Raises
    ------
    DiagnosisError
        If an option cannot be right, or the file is no dump. What a cluster refuses is said in the panel.
    """
    limits = limits_of(acceptable_delay, acceptable_silence)
    every_s, wait_s = seconds_of(every, "every"), None if wait is None else seconds_of(wait, "wait")
    longest_s = ms_of(stop_after, "stop_after") / 1000
    if is_dump(where):
        panel = Panel()
        panel.show_recorded(of(answers.load(where), limits), Path(where).name)
        return panel
    client = client_of(where, token=token, user=user, password=password, ca=ca, limit_s=limit_s)
    panel = Panel(Watch(client, job, limits, wait_s), client.address, every_s, longest_s)
    _one_in_each_cell(panel)
    panel.start()
    return panel


class Panel(anywidget.AnyWidget):
    """A job's diagnosis, read again and again; made by ``wmviz.watch``.

    Attributes
    ----------
    diagnosis
        The newest one; None as long as there is none. ``.diagnosis.save(path)`` keeps what was read.
    running
        Whether it reads.
    """

    _esm = (HERE / "panel.js").read_text(encoding="utf-8")
    _css = (HERE / "panel.css").read_text(encoding="utf-8")

    verdict = traitlets.Unicode("").tag(sync=True)
    trouble = traitlets.Unicode("").tag(sync=True)
    causes = traitlets.Unicode("").tag(sync=True)
    table = traitlets.Unicode("").tag(sync=True)
    more = traitlets.Unicode("").tag(sync=True)
    line = traitlets.Unicode("").tag(sync=True)
    running = traitlets.Bool(False).tag(sync=True)
    can_run = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self, reader: Watch | None = None, address: str = "", every_s: float = 5.0, longest_s: float = 3600.0
    ) -> None:
        """Show an empty panel; `start` begins to read."""
        self.diagnosis: Diagnosis | None = None
        self._reader, self._every_s, self._longest_s = reader, every_s, longest_s
        self._past, self._count, self._views = History(), 0, 0
        self._halt = threading.Event()
        self._thread: threading.Thread | None = None
        super().__init__(verdict=page.beginning(address) if reader else "", can_run=reader is not None)
        self.observe(self._turn, "running")
        self.on_msg(self._hear)

    # ---------------------------------------------------------------------------------------------- starting, stopping

    def start(self) -> None:
        """Read until it is stopped."""
        if self._reader is not None:
            self.running = True

    def stop(self) -> None:
        """Read no more; a request that is on its way may still end."""
        self.running = False

    def _turn(self, _: Any) -> None:
        """Start or stop the thread, as `running` says; the button sets it too."""
        self._halt.set()
        if not self.running:
            self.line = f"Stopped after {self._readings}."
            return
        if self._reader is None:
            self.running = False
            return
        self._halt = threading.Event()
        self._thread = threading.Thread(
            target=self._read_on, args=(self._halt, self._thread), name="wmviz-watch", daemon=True
        )
        self._thread.start()

    def _hear(self, _: Any, content: Any, __: Any) -> None:
        """Count who shows it: when the last view is gone, nobody looks."""
        if not isinstance(content, dict) or content.get("views") not in (1, -1):
            return
        self._views += content["views"]
        if self._views <= 0:
            self._views = 0
            self.stop()

    # --------------------------------------------------------------------------------------------------- in the thread

    def _read_on(self, halt: threading.Event, before: threading.Thread | None) -> None:
        if before is not None:
            before.join()  # its last request may still be on its way
        until, pause_s = time.monotonic() + self._longest_s, self._every_s
        while not halt.is_set():
            try:
                if self._look(halt):
                    return
                pause_s = self._every_s
            except DiagnosisError as error:
                if halt.is_set():
                    return
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
                if not self._is_passing(error, pause_s):
                    self.running = False
                    return
            if time.monotonic() + pause_s > until:
                if not halt.is_set():
                    self.running = False
                    self.line = f"Stopped by itself after {duration(round(self._longest_s * 1000))}, {self._readings}."
                return
            halt.wait(pause_s)

    def _look(self, halt: threading.Event) -> bool:
        """Read once and show it; say whether that was the last time."""
        assert self._reader is not None
        found = self._reader.look()
        if halt.is_set():
            return True
        self._count += 1
        self.trouble = ""
        latest = self._reader.latest
        if latest is not None:
            self._past.add(latest)
        if found is not None:
            self._show(found)
        elif latest is not None:
            self.verdict = page.waiting(latest.name, self._reader.missing_s)
        if found is not None and latest is None:  # it had ended before
            self.running = False
            self.line = f"The job is {found.facts.now.state.lower()}; there is nothing to read again."
            return True
        assert latest is not None
        self.line = f"{self._readings}, the last at {moment(latest.at_ms)[11:]}; the next in {self._every_s:g} s."
        return False

    def _show(self, found: Diagnosis) -> None:
        self.diagnosis = found
        with self.hold_sync():
            self.verdict, self.causes = page.verdict(found), page.causes(found)
            self.table, self.more = page.table(found, self._past), page.more(found)

    def _is_passing(self, error: DiagnosisError, pause_s: float) -> bool:
        """Say what is wrong, and whether it is worth to try again."""
        for_good = isinstance(error, JobEndedError) or error.status in (401, 403)  # a gateway may count wrong passwords
        for_good = for_good or (error.status is not None and error.status < 400)  # what answers there is no Flink
        ending = "" if for_good else f" Tried again in {pause_s:g} s."
        if self.diagnosis is None:
            self.verdict = page.failed(f"{error}{ending}")
        else:
            self.trouble = page.trouble(f"{error}{ending} What stands below is older.")
        return not for_good

    @property
    def _readings(self) -> str:
        return f"{self._count:,} reading{'s' * (self._count != 1)}"

    # ------------------------------------------------------------------------------------------------------- recorded

    def show_recorded(self, found: Diagnosis, name: str) -> None:
        """Show what a file tells."""
        self._past = History.of(found.facts)
        self._show(found)
        self.line = f"Recorded: {name}, read at {moment(found.facts.now.at_ms)}."

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Give the widget, and for where there is none the last diagnosis."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        if data is None:
            return None
        data["text/plain"] = repr(self)
        data["text/html"] = "<p>Run this cell to watch the job.</p>"
        if self.diagnosis is not None:
            data["text/html"] = self.diagnosis._repr_html_()
        return data, metadata

    def __repr__(self) -> str:
        """Say in a line what was found last."""
        return "<watching: nothing found yet>" if self.diagnosis is None else f"<{self.diagnosis.headline}>"


# --------------------------------------------------------------------------------------------------------- in each cell

_PANELS: WeakValueDictionary[str, Panel] = WeakValueDictionary()


def _one_in_each_cell(panel: Panel) -> None:
    """Stop the panel that the same cell has shown before."""
    cell = _cell()
    if cell is None:
        return
    before = _PANELS.get(cell)
    if before is not None:
        before.stop()
    _PANELS[cell] = panel


def _cell() -> str | None:
    """Give the id of the cell that runs, where the notebook tells it."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    parent: dict[str, Any] = getattr(shell, "get_parent", dict)()
    found = (parent.get("metadata") or {}).get("cellId")
    return None if found is None else str(found)
