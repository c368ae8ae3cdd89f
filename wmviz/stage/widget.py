"""The stage as a widget: it runs the scenario, hands the picture to the browser, and answers gestures."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from typing import Any

import anywidget
import traitlets

from wmviz.engine.simulate import simulate
from wmviz.scenario import Scenario, ScenarioError
from wmviz.stage.pages import fallback_html, page
from wmviz.stage.parameters import BOUND, LATENESS
from wmviz.stage.player import module_text, style_text
from wmviz.stage.still import end_text
from wmviz.stage.subject import drawable, show, told
from wmviz.trace import Trace

REST_S = 0.1
"""How long the sliders must rest, in s, before the sentences follow the picture: they take as long as all the rest."""
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


class Stage(anywidget.AnyWidget):
    """The animated stage of a scenario; made by ``wmviz.play``.

    Parameters
    ----------
    scenario
        What to run. One that is too large to draw is sampled by keys, and the stage says so.
    step
        The step that the playhead begins on; -1 is before the first.
    speed
        How fast it plays: 0.25, 0.5, 1, 2, 4 or 8.

    Attributes
    ----------
    scenario, trace
        What is on the stage now; both follow the sliders.
    bound, lateness
        The parameters as text, such as ``"2 min"``. Setting one runs the scenario again.
    step, playing, speed, selected
        The playhead, whether it moves and how fast, and the index of the event whose life is shown (-1: none).
    parts
        The parts that are open beside the plane, of ``"lanes"``, ``"pipeline"`` and ``"results"``.
    problem
        The sentence about the last change that could not be made; empty if it could.
    """

    _esm = module_text()
    _css = style_text()

    events: traitlets.List[Any] = traitlets.List().tag(sync=True)
    picture = traitlets.Dict().tag(sync=True)
    sentences = traitlets.Dict().tag(sync=True)
    step = traitlets.Int(-1).tag(sync=True)
    playing = traitlets.Bool(False).tag(sync=True)
    speed = traitlets.Float(1.0).tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)
    parts: traitlets.List[Any] = traitlets.List().tag(sync=True)
    bound = traitlets.Unicode("").tag(sync=True)
    lateness = traitlets.Unicode("").tag(sync=True)
    problem = traitlets.Unicode("").tag(sync=True)
    answer = traitlets.Int(0).tag(sync=True)
    page_wanted = traitlets.Int(0).tag(sync=True)
    page = traitlets.Unicode("").tag(sync=True)

    def __init__(self, scenario: Scenario, step: int = -1, speed: float = 1.0) -> None:
        self._telling: asyncio.TimerHandle | None = None
        self._first, self._note = drawable(scenario)
        self.scenario, self.trace = self._first, simulate(self._first)
        picture = show(self.trace, self._first, self._note)
        super().__init__(
            events=picture.pop("events"),
            picture=picture,
            sentences=told(self.trace, picture),
            step=step,
            speed=speed,
            parts=picture["parts"],
            bound=BOUND.text(self._first),
            lateness=LATENESS.text(self._first),
        )
        self.observe(self._parameter_changed, ["bound", "lateness"])
        self.observe(self._page_wanted, ["page_wanted"])

    @traitlets.validate("speed")
    def _known_speed(self, proposal: Any) -> float:
        if proposal.value not in SPEEDS:
            raise traitlets.TraitError(f"speed is {proposal.value}; write one of {', '.join(map(str, SPEEDS))}")
        return float(proposal.value)

    @traitlets.validate("step")
    def _step_in_range(self, proposal: Any) -> int:
        return max(-1, min(int(proposal.value), self.trace.steps - 1))

    # ---------------------------------------------------------------- answers

    def _parameter_changed(self, change: Any) -> None:
        """Run the scenario again with the new parameter, or say why that cannot be."""
        try:
            scenario = self.scenario.replace(**{change.name: change.new})
        except ScenarioError as error:
            self.problem = str(error)
            self.answer += 1
            return
        self.play_scenario(scenario)

    def play_scenario(self, scenario: Scenario) -> None:
        """Put another scenario on the stage; the playhead stays at its processing time.

        Parameters
        ----------
        scenario
            What to run now, small enough to draw.
        """
        before = self.trace
        self.scenario, self.trace = scenario, simulate(scenario)
        picture = show(self.trace, self._first, self._note)
        with self.hold_sync():
            self.step = _same_moment(before, self.step, self.trace)
            self.events = picture.pop("events")
            self.picture = picture
            self.problem = ""
            self.answer += 1
        self._tell()

    def _tell(self) -> None:
        """Send the sentences behind the picture, when the sliders rest; at once where nothing runs later."""
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # no kernel
            loop = None
        if loop is None:
            self._tell_now()
        else:
            self._telling = loop.call_later(REST_S, self._tell_now)

    def _tell_now(self) -> None:
        self._telling = None
        self.sentences = told(self.trace, self.picture)

    def _page_wanted(self, _change: Any) -> None:
        self.page = page(self.trace, self._first, self._note)

    # ----------------------------------------------------------- static forms

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Give the widget, and for where there is none the player on a plain page with a still picture inside."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        if data is None:
            return None
        data["text/plain"] = repr(self)
        data["text/html"] = fallback_html(self.trace, self._first, self._note)
        return data, metadata

    def __repr__(self) -> str:
        """Give the end of the run as text."""
        return end_text(self.trace)


def _same_moment(before: Trace, step: int, now: Trace) -> int:
    """Give the step of another run at the processing time of a step; the start and the end stay what they are."""
    if step < 0 or not now.steps:
        return -1
    if step >= before.steps - 1:
        return now.steps - 1
    return bisect_right(now.step_at_ms, before.step_at_ms[step]) - 1
