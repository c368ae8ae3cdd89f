"""Stop with a savepoint and resume with other settings, on real Flink, event by event as a scenario has it."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from string import Template
from typing import TYPE_CHECKING, Any

from wmviz import catalogue
from wmviz.comparison import Difference, subtract
from wmviz.engine.simulate import simulate
from wmviz.flink import program, recorded, startup
from wmviz.flink.program import Program
from wmviz.flink.replay import RECORD_SWITCH
from wmviz.flink.rest import Watching, no_looks, read_looks, write_looks
from wmviz.flink.startup import ENGINE, LIMIT_S, FlinkError
from wmviz.runtime import Happening
from wmviz.scenario import Scenario, ScenarioError, check_scenario, json_text
from wmviz.times import MIN_MS, time_text
from wmviz.trace import Outcomes

if TYPE_CHECKING:
    import pandas as pd

RECORDINGS = recorded.FOLDER / "resume"
MOST_EVENTS = 40
"""Each event is waited for, a third of a second or so."""
ITS_OWN = frozenset(
    (
        "name",
        "title",
        "about",
        "events",
        "generated",
        "start_ms",
        "unit",
        "zone",
        "bound_ms",
        "window",
        "lateness_ms",
        "late_to",
        "aggregate",
        "happenings",
    )
)
"""Fields that a scenario may choose; the others are as the job has them: Flink's defaults, and one of everything."""
CHANGES = frozenset({"bound", "lateness"})
REFUSED = "Failed to rollback"


@dataclass(frozen=True)
class Resumed:
    """What a job did before a savepoint, and what it did when it was started again from it.

    Attributes
    ----------
    scenario
        What was run.
    new_uid, drop_state
        Whether the window operator got another uid when it resumed, and whether Flink was told to go on although
        nobody takes its state.
    before, after
        The lines that the job wrote before the savepoint and from it on: ``fired``, ``late``, ``event``.
    refused
        Why Flink did not resume the job, or None.
    looks
        What `wmviz.flink.live` saw during both runs, for ``wmviz.charts.live``.
    """

    scenario: Scenario
    new_uid: bool
    drop_state: bool
    before: tuple[dict[str, Any], ...]
    after: tuple[dict[str, Any], ...]
    refused: str | None = None
    looks: pd.DataFrame = field(default_factory=no_looks, repr=False, compare=False)

    @property
    def program(self) -> Program:
        """The program that ran, to read and copy."""
        return resume_code(self.scenario)

    @cached_property
    def outcomes(self) -> Outcomes:
        """What both parts of the run came to."""
        return _outcomes([*self.before, *self.after])

    @property
    def late(self) -> list[str]:
        """Ids of the events in the late side output."""
        return sorted(self.outcomes.late)

    @property
    def carried(self) -> list[dict[str, Any]]:
        """The firings after the resume whose window holds events from before the savepoint."""
        old = {line["event"] for line in self.before if "event" in line}
        return [line for line in self.after if "fired" in line and old & set(line["events"])]

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Where our engine says something else: on each firing, late event, watermark and total."""
        return subtract(simulate(self.scenario).outcomes(), self.outcomes)

    @property
    def same(self) -> bool:
        """Whether our engine says the same."""
        return not self.differences

    def __repr__(self) -> str:
        """Tell it in sentences."""
        return "\n".join([*self._told_before(), *([self.refused] if self.refused else self._told_after())])

    def _told_before(self) -> Iterable[str]:
        _, stop = _stop_of(self.scenario)
        changes = [f"{name} {value}" for name, value in stop.changed_fields.items()]
        count = sum("event" in line for line in self.before)
        with_them = ", ".join(changes) if changes else "the same settings"
        yield f"Stopped with a savepoint after {count} event{'s' * (count != 1)}; to be resumed with {with_them}."
        if self.new_uid:
            yield "The window operator gets another uid."

    def _told_after(self) -> Iterable[str]:
        zone, unit = self.scenario.zone, f" {self.scenario.unit}" if self.scenario.unit else ""
        first = next(line for line in self.after if "event" in line)
        met = first["watermark_ms"]
        words = "no watermark: a savepoint holds none" if met == MIN_MS else f"watermark {time_text(met, zone)}"
        yield f"The first event after that, {first['event']}, met {words}."
        seen: Counter[tuple[str, int]] = Counter()
        for line in (line for line in self.after if "fired" in line):
            place = (line["fired"], line["start_ms"])
            seen[place] += 1
            window = f"[{time_text(line['start_ms'], zone)}, {time_text(line['end_ms'], zone)}) of {line['fired']}"
            again = "again " if seen[place] > 1 else ""
            held = ", with events from before the savepoint" if line in self.carried else ""
            yield f"{window} fired {again}with {line['value']:,}{unit}{held}."
        yield f"Late: {', '.join(self.late) or 'none'}."
        if not self.new_uid:
            yield "wmviz says the same." if self.same else f"wmviz differs: {'; '.join(map(str, self.differences))}"


def resume_code(scenario: Scenario | None = None) -> Program:
    """Give the program that `resume` runs: it can be saved and run alone.

    Parameters
    ----------
    scenario
        As for `resume`.

    Returns
    -------
    Program
        Text that a notebook shows as code. Save it with ``.save(folder)``.

    Raises
    ------
    ScenarioError
        If the job cannot run the scenario; the sentence says why.
    """
    scenario = _checked(scenario)
    stop_after, stop = _stop_of(scenario)
    resumed = scenario.replace(**stop.changed_fields)
    listed = "".join(
        f"    {(event.id, event.key, event.value, event.event_time_ms)!r},  # {time_text(event.event_time_ms)}\n"
        for event in scenario.events
    )
    text = Template(program.source("resume_job.txt")).substitute(
        size_ms=f"{scenario.window.size_ms:_}",
        offset_ms=f"{scenario.window.offset_ms:_}",
        stop_after=stop_after,
        bound_ms=f"{scenario.bound_ms:_}",
        lateness_ms=f"{scenario.lateness_ms:_}",
        new_bound_ms=f"{resumed.bound_ms:_}",
        new_lateness_ms=f"{resumed.lateness_ms:_}",
        events=listed,
        value=program.VALUES[scenario.aggregate],
    )
    return Program(text, "resume")


def resume(
    scenario: Scenario | None = None, *, new_uid: bool = False, drop_state: bool = False, limit_s: float = LIMIT_S
) -> Resumed:
    """Run a job, stop it with a savepoint, start it again from there with other settings, and say what came out.

    Parameters
    ----------
    scenario
        It has tumbling windows and one ``stop`` among its happenings, whose ``with`` may change ``lateness`` and
        ``bound``; None: ``new-lateness`` of the catalogue.
    new_uid
        Give the window operator another uid when it resumes. Flink finds state by the uid, so it refuses.
    drop_state
        Let Flink go on all the same (execution.state-recovery.ignore-unclaimed-state): what the windows held is lost.
    limit_s
        Seconds for each of the two runs; then the job is cancelled.

    Returns
    -------
    Resumed
        What came out before and after, beside what our engine says. Where PyFlink is missing it is a recorded run.

    Raises
    ------
    ScenarioError
        If the job cannot run the scenario.
    FlinkError
        If the job fails or does not end in time, or there is no such recorded run.
    """
    scenario = _checked(scenario)
    can, why = startup.available()
    if not can:
        found = recorded_run(scenario, new_uid, drop_state)
        if found is None:
            raise FlinkError(f"{why} There is no recorded run of this form of {scenario.name} with a savepoint.")
        recorded.show_label(ENGINE, why)
        return found
    startup.job()
    job = resume_code(scenario).load()
    after: list[dict[str, Any]] = []
    refused = None
    with tempfile.TemporaryDirectory(prefix="wmviz-resume-") as folder, startup.tidy():
        watching = Watching()
        try:
            with startup.sentences(), watching.of(port := job.free_port()):
                savepoint, before = job.first_run(job.environment, folder, port, limit_s)
            with startup.sentences(), watching.of(port := job.free_port()):
                uid = "another window" if new_uid else "window"
                after = job.second_run(job.environment, folder, port, savepoint, uid, drop_state, limit_s)
        except (TimeoutError, RuntimeError) as error:
            if not (new_uid and REFUSED in str(error)):
                raise error if isinstance(error, FlinkError) else FlinkError(str(error)) from None
            refused = str(error).replace(f"checkpoint/savepoint {savepoint}", "the savepoint")
    done = Resumed(scenario, new_uid, drop_state, tuple(before), tuple(after), refused, watching.looks)
    if os.environ.get(RECORD_SWITCH):
        _record(done)
    return done


# ------------------------------------------------------------------------------------------- which scenarios it can run


def _checked(scenario: Scenario | None) -> Scenario:
    scenario = catalogue.scenario("new-lateness") if scenario is None else scenario
    check_scenario(scenario, "resume")
    plain = Scenario()
    other = [
        each.name
        for each in fields(Scenario)
        if each.init and each.name not in ITS_OWN and getattr(scenario, each.name) != getattr(plain, each.name)
    ]
    if other:
        raise ScenarioError(f"resume runs one source, one window operator and no more: leave out {', '.join(other)}")
    window = replace(scenario.window, size_ms=plain.window.size_ms, offset_ms=plain.window.offset_ms)
    if window != plain.window:
        raise ScenarioError(
            'resume has tumbling windows in event time; write window {"type": "tumbling", "size": "1 h"}'
        )
    if scenario.late_to != "side":
        raise ScenarioError('resume shows late events by the side output; write late_to "side"')
    if len(scenario.events) > MOST_EVENTS:
        raise ScenarioError(f"resume waits for each event; {len(scenario.events)} are too many, {MOST_EVENTS} are fine")
    _stop_of(scenario)
    return scenario


def _stop_of(scenario: Scenario) -> tuple[int, Happening]:
    """Give how many events come before the stop, and the stop."""
    if len(scenario.happenings) != 1 or scenario.happenings[0].what != "stop":
        raise ScenarioError('resume needs one stop and nothing else in happenings: [{"what": "stop", "at": "7:02"}]')
    stop = scenario.happenings[0]
    if other := sorted(set(stop.changed_fields) - CHANGES):
        raise ScenarioError(f"resume changes bound and lateness only; leave {', '.join(other)} out of with")
    ids = [event.id for event in scenario.events]
    if stop.at_ms is None:
        count = ids.index(stop.after) + 1
    else:
        count = sum(event.arrival_time_ms <= stop.at_ms for event in scenario.events)
    if not 0 < count < len(ids):
        raise ScenarioError("resume needs events before the stop and events after it")
    return count, stop


# ------------------------------------------------------------------------------------------------------- what came out


def _outcomes(lines: list[dict[str, Any]]) -> Outcomes:
    firings: dict[tuple[str, int | None, int | None, int], tuple[int, tuple[str, ...], int]] = {}
    totals: dict[tuple[str, int | None, int | None], int] = {}
    counts: Counter[tuple[str, int | None, int | None]] = Counter()
    for line in (line for line in lines if "fired" in line):
        window = (line["fired"], line["start_ms"], line["end_ms"])
        counts[window] += 1
        firings[line["fired"], line["start_ms"], line["end_ms"], counts[window]] = (
            line["value"],
            tuple(line["events"]),
            line["watermark_ms"],
        )
        totals[window] = line["value"]
    late = frozenset(line["late"] for line in lines if "late" in line)
    seen = {line["event"]: line["watermark_ms"] for line in lines if "event" in line}
    return Outcomes(firings, late, None, seen, totals)


def recorded_run(scenario: Scenario, new_uid: bool = False, drop_state: bool = False) -> Resumed | None:
    """Give the recorded run of a scenario, or None if there is none."""
    for path in sorted(RECORDINGS.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        told = replace(Scenario.from_json(data["scenario"]), name="", title="", about="")
        same = told == replace(scenario, name="", title="", about="")
        if same and (data["new_uid"], data["drop_state"]) == (new_uid, drop_state):
            before, after, looks = tuple(data["before"]), tuple(data["after"]), read_looks(data["looks"])
            return Resumed(scenario, new_uid, drop_state, before, after, data["refused"], looks)
    return None


def _record(done: Resumed) -> None:
    from wmviz.flink.record import file_name

    flags = "-new-uid" * done.new_uid + "-dropped" * done.drop_state
    data = {name: getattr(done, name) for name in ("new_uid", "drop_state", "before", "after", "refused")}
    data["looks"] = write_looks(done.looks)
    RECORDINGS.mkdir(exist_ok=True)
    path = RECORDINGS / f"{file_name(done.scenario)}{flags}.json"
    path.write_text(json_text({**data, "scenario": done.scenario.to_json()}), encoding="utf-8")
