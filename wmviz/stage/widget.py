"""The stage as a widget: it runs the scenario, hands the picture to the browser, and answers gestures."""

from __future__ import annotations

import asyncio
import gc
import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anywidget
import traitlets

from wmviz.engine.simulate import simulate
from wmviz.scenario import Scenario, ScenarioError, json_text
from wmviz.stage import editing
from wmviz.stage.code import python_code
from wmviz.stage.differences import differences
from wmviz.stage.engines import engine_differences
from wmviz.stage.pages import fallback_html, page
from wmviz.stage.parameters import PARAMETERS
from wmviz.stage.picture import Frame
from wmviz.stage.player import module_text, style_text
from wmviz.stage.predicting import asked
from wmviz.stage.still import asked_text, end_text
from wmviz.stage.subject import Subject, drawable, show
from wmviz.stage.telling import Telling
from wmviz.stage.workbench import Workbench
from wmviz.trace import Trace

REST_S = 0.1
"""How long the sliders must rest, in s, before the sentences follow the picture."""
SENTENCES_AT_ONCE = 1_000
"""Sentences that are made before the kernel looks whether something else is to be done."""
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_DOWN_SNAPS, _SILENT_SNAPS = 10, 40
"""For how long a crashed job is down and a partition silent, in small steps of the axis."""
PARTS = ("lanes", "pipeline", "results")


def _bytes(value: Any, _stage: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


_PACKED = {"to_json": _bytes}
"""Large values travel as bytes: else every layer on their way to the browser would go through them once more."""


class Stage(anywidget.AnyWidget):
    """The animated stage of a scenario, or of a run of Flink; made by ``wmviz.play``.

    Parameters
    ----------
    subject
        What is shown, as `subject_of` reads it.
    questions
        Which kinds of questions are asked on the way; see ``wmviz.play``.
    step
        The step that the playhead begins on; -1 is before the first.
    speed
        How fast it plays: 0.25, 0.5, 1, 2, 4 or 8.

    Attributes
    ----------
    scenario, trace
        What is on the stage now; both follow the sliders and what is moved by hand.
    bound, lateness, idle_timeout, work, checkpoint_interval, drift
        The parameters as text, such as ``"2 min"``, or ``"none"``. Setting one runs the scenario again.
    step, playing, speed
        The playhead, whether it moves and how fast.
    selected, result, firing
        The index of the event whose life is shown, of the result whose events are marked, and the row of the flag
        whose events are marked (-1: none).
    group
        Indices of the events that are chosen together, to be moved, duplicated or deleted together.
    parts
        The parts that are open beside the plane, of ``"lanes"``, ``"pipeline"`` and ``"results"``.
    replies
        In predict mode, what was answered: for each question None, or ``given`` (None if it was skipped) and ``right``.
    problem
        The sentence about the last change that could not be made; empty if it could.
    """

    _esm = module_text()
    _css = style_text()

    events: traitlets.List[Any] = traitlets.List().tag(sync=True, **_PACKED)
    picture = traitlets.Dict().tag(sync=True, **_PACKED)
    sentences = traitlets.Dict().tag(sync=True, **_PACKED)
    step = traitlets.Int(-1).tag(sync=True)
    playing = traitlets.Bool(False).tag(sync=True)
    speed = traitlets.Float(1.0).tag(sync=True)
    selected = traitlets.Int(-1).tag(sync=True)
    result = traitlets.Int(-1).tag(sync=True)
    firing = traitlets.Int(-1).tag(sync=True)
    group: traitlets.List[Any] = traitlets.List(traitlets.Int()).tag(sync=True)
    parts: traitlets.List[Any] = traitlets.List(traitlets.Enum(PARTS)).tag(sync=True)
    bound = traitlets.Unicode("").tag(sync=True)
    lateness = traitlets.Unicode("").tag(sync=True)
    idle_timeout = traitlets.Unicode("").tag(sync=True)
    work = traitlets.Unicode("").tag(sync=True)
    checkpoint_interval = traitlets.Unicode("").tag(sync=True)
    drift = traitlets.Unicode("").tag(sync=True)
    problem = traitlets.Unicode("").tag(sync=True)
    answer = traitlets.Int(0).tag(sync=True)
    command = traitlets.Dict().tag(sync=True)
    given = traitlets.Dict().tag(sync=True)
    editable = traitlets.Bool(True).tag(sync=True)
    predicting = traitlets.Dict().tag(sync=True, **_PACKED)
    replies: traitlets.List[Any] = traitlets.List().tag(sync=True)
    can = traitlets.Dict().tag(sync=True)
    other = traitlets.Dict().tag(sync=True, **_PACKED)
    differing = traitlets.Dict().tag(sync=True)

    def __init__(self, subject: Subject, step: int = -1, speed: float = 1.0, questions: tuple[str, ...] = ()) -> None:
        self._later: asyncio.Handle | None = None
        self._following = False
        self.trace, self._other_trace, self._note, self._is_fixed = subject
        first = subject.scenario
        self._bench = Workbench(first)
        self._frame = Frame.of(*self._traces)
        picture = show(self.trace, first, self._note, self._frame if len(self._traces) > 1 else None)
        self._telling = Telling(self.trace, picture)
        predicting = asked(self.trace, picture, questions) if questions else {}
        super().__init__(
            events=picture.pop("events"),
            picture=picture,
            sentences=self._telling.all(),
            step=step,
            speed=speed,
            parts=picture["parts"],
            **{parameter.name: parameter.text(first) for parameter in PARAMETERS},
            can={} if self._is_fixed else self._bench.can,
            editable=not self._is_fixed,
            predicting=predicting,
            replies=[None] * len(predicting.get("questions", ())),
        )
        self._compare()
        self.observe(self._parameter_changed, [parameter.name for parameter in PARAMETERS])
        self.observe(self._commanded, ["command"])

    @property
    def scenario(self) -> Scenario:
        """What is on the stage."""
        return self._bench.now

    @property
    def _traces(self) -> list[Trace]:
        """The run on the stage and, if there is one, the one beside it."""
        return [trace for trace in (self.trace, self._other_trace) if trace is not None]

    @property
    def score(self) -> tuple[int, int]:
        """In predict mode: how many questions were answered right so far, and how many there are."""
        return sum(1 for reply in self.replies if reply and reply.get("right")), len(self.replies)

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
        if self._following:
            return
        self._answer(lambda: self._set_parameter(change.name, change.new))

    def _set_parameter(self, name: str, text: str) -> None:
        parameter = next(parameter for parameter in PARAMETERS if parameter.name == name)
        self._put(parameter.into(self.scenario, text), gesture=name)

    def _commanded(self, change: Any) -> None:
        """Do what the browser asks for: one of `COMMANDS`."""
        command = change.new
        self._answer(lambda: COMMANDS[command["do"]](self, command))

    def _answer(self, act: Callable[[], None]) -> None:
        """Make a change, or say why it cannot be made; the browser waits for the answer."""
        with _in_haste(), self.hold_sync():
            try:
                if self._is_fixed:
                    raise ScenarioError("this stage stays as it is; play the scenario alone to change it")
                act()
                self.problem = ""
            except ScenarioError as error:
                self.problem = str(error)
            self.can = {} if self._is_fixed else self._bench.can
            self.answer += 1

    def play_scenario(self, scenario: Scenario) -> None:
        """Put another scenario on the stage; the playhead stays at its processing time.

        Parameters
        ----------
        scenario
            What to run now, small enough to draw.
        """
        self._answer(lambda: self._put(scenario))

    def _put(self, scenario: Scenario, gesture: str | None = None, selected: int | None = None) -> None:
        """Run a scenario; only if that works is it on the stage. The axes stay if gestures moved something on them."""
        if scenario != self.scenario:
            trace = simulate(scenario)
            self._bench.change(scenario, gesture)
            self._draw(trace, keep_frame=selected is not None)
        if selected is not None:
            self.selected = selected

    def _draw(self, trace: Trace, *, keep_frame: bool = False) -> None:
        before, self.trace = self.trace, trace
        if not (keep_frame and self._frame.holds(trace)):
            self._frame = Frame.of(*self._traces)
        picture = show(trace, self._bench.first, self._note, self._frame)
        with self.hold_sync():
            self._following = True  # the parameters say what is on the stage, and ask for nothing
            for parameter in PARAMETERS:
                setattr(self, parameter.name, parameter.text(trace.scenario))
            self._following = False
            self.step = _same_moment(before, self.step, trace)
            self.selected, self.result = min(self.selected, len(trace.scenario.events) - 1), -1
            self.firing, self.group = -1, []
            self.events = picture.pop("events")
            self.picture = picture
            self._compare()
        self._tell()

    # ---------------------------------------------------------------- commands

    def _edit(self, edited: editing.Edited, command: Mapping[str, Any]) -> None:
        self._put(edited.scenario, command.get("gesture"), edited.selected)
        self.group = list(edited.group) if len(edited.group) > 1 else []

    def _target(self, command: Mapping[str, Any]) -> dict[str, Any]:
        """Read where a gesture ends; the browser counts ms after the picture's origin."""
        names = {"arrival": "arrival_time_ms", "time": "event_time_ms"}
        target = {names[name]: self._at_ms(command[name]) for name in names if name in command}
        if "partition" in command:
            target["partition"] = command["partition"]
        return target

    def _at_ms(self, after: Any) -> Any:
        return self._frame.origin_ms + after if isinstance(after, int) else after

    def _nudged(self, command: Mapping[str, Any]) -> dict[str, Any]:
        event = editing.event_at(self.scenario, self.selected)
        by = [int(number) for number in command["by"]]
        return {
            "arrival_time_ms": event.arrival_time_ms + by[0] * self._frame.x.snap_ms,
            "event_time_ms": event.event_time_ms + by[1] * self._frame.y.snap_ms,
            "partition": min(max(event.partition + by[2], 0), self.scenario.partition_count - 1),
        }

    def _move(self, command: Mapping[str, Any]) -> None:
        changes = self._nudged(command) if "by" in command else self._target(command)
        if len(self.group) > 1:
            self._edit(editing.shifted(self.scenario, self.selected, self.group, changes), command)
        else:
            self._edit(editing.moved(self.scenario, self.selected, changes), command)

    def _add(self, command: Mapping[str, Any]) -> None:
        self._edit(editing.added(self.scenario, self.selected, self._target(command)), command)

    def _duplicate(self, command: Mapping[str, Any]) -> None:
        self._edit(editing.duplicated(self.scenario, self.selected, self.group, self._frame.x.snap_ms), command)

    def _delete(self, command: Mapping[str, Any]) -> None:
        self._edit(editing.deleted(self.scenario, self.selected, self.group), command)

    @property
    def _now_ms(self) -> int:
        """Processing time at the playhead."""
        return self.trace.step_at_ms[self.step] if self.step >= 0 else self.scenario.grid_start_ms

    def _crash(self, _command: Mapping[str, Any]) -> None:
        down_ms = _DOWN_SNAPS * self._frame.x.snap_ms
        self._put(editing.crashed(self.scenario, self._now_ms, down_ms), selected=self.selected)

    def _silence(self, _command: Mapping[str, Any]) -> None:
        partition = self.scenario.events[self.selected].partition if self.selected >= 0 else 0
        until_ms = self._now_ms + _SILENT_SNAPS * self._frame.x.snap_ms
        self._put(editing.silenced(self.scenario, partition, self._now_ms, until_ms), selected=self.selected)

    def _history(self, command: Mapping[str, Any]) -> None:
        """Undo, redo, reset or swap."""
        before = self.scenario
        getattr(self._bench, command["do"])()
        if command["do"] == "swap":
            self._other_trace = self.trace
        if self.scenario != before:
            self._draw(simulate(self.scenario), keep_frame=command["do"] != "reset")

    def _keep(self, _command: Mapping[str, Any]) -> None:
        self._bench.keep()
        self._other_trace = self.trace
        self._compare()

    def _drop(self, _command: Mapping[str, Any]) -> None:
        self._bench.drop()
        self._other_trace = None
        self._compare()

    def _load(self, command: Mapping[str, Any]) -> None:
        try:
            data = json.loads(command["text"])
        except (ValueError, RecursionError) as error:
            raise ScenarioError(f"the file is no JSON: {error}") from None
        scenario, note = drawable(Scenario.from_json(data))
        trace = simulate(scenario)
        self._note = note
        self._bench.begin(scenario)
        self.selected = -1
        self._draw(trace)
        self.parts = self.picture["parts"]

    def _give(self, name: str, text: str) -> None:
        self.given = {"name": name, "text": text, "serial": self.given.get("serial", 0) + 1}

    def _code(self, _command: Mapping[str, Any]) -> None:
        self._give("code", python_code(self.scenario))

    def _json(self, _command: Mapping[str, Any]) -> None:
        self._give("json", json_text(self.scenario.to_json()))

    def _page(self, _command: Mapping[str, Any]) -> None:
        shown = {"parts": self.parts, **self._beside}
        self._give("page", page(self.trace, self._bench.first, self._note, self._frame, shown))

    @property
    def _beside(self) -> dict[str, Any]:
        """What is shown beside the run on the stage."""
        return {"other": self.other, "differing": self.differing, "predicting": self.predicting}

    # ------------------------------------------------------------- two variants

    def _compare(self) -> None:
        """Bring the picture of variant B, and what differs, up to date."""
        if self._other_trace is None:
            self.other, self.differing = {}, {}
            return
        other = show(self._other_trace, self._bench.first, "", self._frame)
        if other["id"] != self.other.get("id"):
            self.other = other
        now = {**self.picture, "events": self.events}
        compare = engine_differences if self._is_fixed else differences
        self.differing = compare(self.trace, self._other_trace, now, other)

    # --------------------------------------------------------------- sentences

    def _tell(self) -> None:
        """Send the sentences behind the picture, when the sliders rest; at once where nothing runs later."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        self._telling = Telling(self.trace, self.picture)
        try:
            self._later = asyncio.get_running_loop().call_later(REST_S, self._tell_on)
        except RuntimeError:  # no kernel
            self._tell_now()

    def _tell_on(self) -> None:
        """Make some sentences; between them the kernel can answer a gesture."""
        if self._telling.go_on(SENTENCES_AT_ONCE):
            self._tell_now()
        else:
            self._later = asyncio.get_running_loop().call_soon(self._tell_on)

    def _tell_now(self) -> None:
        self._later = None
        self.sentences = self._telling.all()

    # ----------------------------------------------------------- static forms

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Give the widget, and for where there is none the player on a plain page with a still picture inside."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        if data is None:
            return None
        data["text/plain"] = repr(self)
        frame = self._frame if len(self._traces) > 1 else None
        data["text/html"] = fallback_html(self.trace, self._bench.first, self._note, frame, self._beside)
        return data, metadata

    def __repr__(self) -> str:
        """Give the end of the run as text; in predict mode, what is asked first."""
        return asked_text(self.predicting) if self.predicting else end_text(self.trace)


COMMANDS: dict[str, Callable[[Stage, Mapping[str, Any]], None]] = {
    "move": Stage._move,
    "add": Stage._add,
    "duplicate": Stage._duplicate,
    "delete": Stage._delete,
    "crash": Stage._crash,
    "silence": Stage._silence,
    "undo": Stage._history,
    "redo": Stage._history,
    "reset": Stage._history,
    "swap": Stage._history,
    "keep": Stage._keep,
    "drop": Stage._drop,
    "load": Stage._load,
    "code": Stage._code,
    "json": Stage._json,
    "page": Stage._page,
}
"""What the browser can ask for."""


@contextmanager
def _in_haste() -> Iterator[None]:
    """Hold back Python's garbage collector: it would go through the small lists of a picture while they are made."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _same_moment(before: Trace, step: int, now: Trace) -> int:
    """Give the step of another run at the processing time of a step; the start and the end stay what they are."""
    if step < 0 or not now.steps:
        return -1
    if step >= before.steps - 1:
        return now.steps - 1
    return bisect_right(now.step_at_ms, before.step_at_ms[step]) - 1
