"""The running job: sources, channels, window tasks and a coordinator on one clock; it can fail and go on."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from wmviz.engine.agenda import Agenda, Turn
from wmviz.engine.alignment import SourceCoordinator, WatermarkAggregator
from wmviz.engine.barriers import CheckpointBarrier
from wmviz.engine.channels import Carries, Element, TaskInput, TaskSnapshot
from wmviz.engine.checkpoints import EXPIRED, Checkpoint, CheckpointCoordinator, CheckpointSettings
from wmviz.engine.parts import Parts
from wmviz.engine.reading import Partitions, Reader
from wmviz.engine.runtime_recording import RuntimeRecording
from wmviz.engine.sinks import TransactionAbortedError
from wmviz.engine.subtasks import window_operator
from wmviz.engine.tasks import WindowTask, tasks_of_keys
from wmviz.runtime import Checkpoints, Happening
from wmviz.scenario import Scenario, ScenarioError
from wmviz.times import MAX_MS, MIN_MS
from wmviz.trace import CheckpointPhase, Kind

_MODES = {"aligned": "aligned", "unaligned": "alternating", "at_least_once": "at_least_once"}
_RESTART_DELAY_MS = 1000
MOST_CHECKPOINTS = 300_000
"""After which a job is given up, since it would not come to an end; 30 days with one every 10 seconds are fewer."""
_MOST_FAILURES = 3
"""Restarts after failures of its own, without a complete checkpoint between them; Flink would go on for ever."""


class Attempt:
    """One execution of the job: its tasks from their start to a crash, a stop or the end.

    Parameters
    ----------
    job
        What outlives the attempt.
    scenario
        The settings that hold now.
    own
        A generator in place of that of the strategy.

    Notes
    -----
    Flink 2.3.0: an execution attempt of all tasks; ExecutionGraph.
    """

    def __init__(self, job: RunningJob, scenario: Scenario, parts: Parts) -> None:
        self.scenario, self.recorder, self.partitions = scenario, job.recorder, job.partitions
        self.agenda = job.agenda
        self._unfinished = scenario.window_tasks
        self.stops_reading = False
        self.given_up: set[int] = set()
        self._job = job
        self._start_ms = self.recorder.at_ms
        sources = scenario.subtasks
        mode = _MODES[scenario.checkpoints.mode if scenario.checkpoints else "aligned"]
        self.tasks = [
            TaskInput(
                WindowTask(
                    sources + number,
                    window_operator(scenario, self.recorder, parts.window_operator),
                    sources,
                    self.recorder,
                    scenario.inputs,
                    parts.valve,
                ),
                self,
                mode,
                sources,
                scenario.channel_capacity,
                scenario.work_ms,
                self._deliver,
                parts.barrier_handler,
            )
            for number in range(scenario.window_tasks)
        ]
        self._task_of_key = tasks_of_keys(scenario, self.tasks)
        self._clock_timers: dict[int, int] = {}
        own, aligner = parts.generator, parts.alignment
        self.readers = [Reader(number, self, copy.deepcopy(own), self._start_ms, aligner) for number in range(sources)]
        self._aligner = Aligner(self, scenario.inputs) if self.readers[0].alignment is not None else None

    def start(self) -> None:
        """Set out to read."""
        for task in self.tasks:
            self._plan_clock_timer(task)
        for reader in self.readers:
            reader.start()

    def go_on(self) -> None:
        """Read on, after a stop that came to nothing."""
        self.stops_reading = False
        for reader in self.readers:
            reader.plan_read()

    # ------------------------------------------------- asked for by readers and window tasks

    def task_of(self, event: int) -> TaskInput:
        """Give the window task of an event's key."""
        return self._task_of_key[self.scenario.events[event].key]

    def has_read(self, event: int) -> None:
        """Note that an event has been read."""
        self._job.has_read(event)

    def aligns_again(self) -> None:
        """Note that alignment may have something to do."""
        if self._aligner is not None:
            self._aligner.wake()

    def _deliver(self, task: WindowTask, index: int) -> None:
        """Hand an event to the window operator of a task."""
        event, recorder = self.scenario.events[index], self.recorder
        if recorder.record_delivered is not None:
            recorder.record_delivered(task.place)
        by_event_time = self.scenario.window.time == "event"
        task.process(event.key, event.event_time_ms if by_event_time else recorder.at_ms, event.value, index)
        self._plan_clock_timer(self.tasks[task.place - self.scenario.subtasks])

    def busy(self, task: TaskInput) -> None:
        """Let a task go on when it is done with its event."""
        if task.busy_until_ms is not None:
            self.agenda.plan(task.busy_until_ms, Turn.AT_ONCE, lambda: self._work_done(task))

    def _work_done(self, task: TaskInput) -> None:
        task.work_done()
        self._plan_clock_timer(task)

    def room(self, source: int) -> None:
        """Tell a reader that a channel has one element less."""
        self.readers[source].room()

    def finished(self, task: TaskInput) -> None:
        """Note that a task has come to its end. A last checkpoint commits; without checkpoints, the end itself does."""
        self._unfinished -= 1
        if self.scenario.checkpoints is None:
            self.recorder.committed_at_end(task.place)

    @property
    def is_finished(self) -> bool:
        """Whether all tasks have come to the end of their input."""
        return not self._unfinished

    def acknowledge(self, checkpoint_id: int, place: int, state: Any) -> None:
        """Hand a snapshot to the coordinator, as soon as what runs now has come to its end."""
        self._then(lambda: self._job.acknowledge(checkpoint_id, place, state))

    def decline(self, checkpoint_id: int, reason: str) -> None:
        """Tell the coordinator that a checkpoint is given up."""
        self._then(lambda: self._job.decline(checkpoint_id, reason))

    def _then(self, action: Callable[[], None]) -> None:
        self.agenda.plan(self.recorder.at_ms, Turn.AT_ONCE, action, tie=1, background=True)

    # ------------------------------------------------- checkpoints

    def inject(self, checkpoint: Checkpoint, barrier: CheckpointBarrier, cause: int) -> None:
        """Let every source send the barrier; a finished one has nothing new to tell."""
        for reader in self.readers:
            offsets = dict(reader.offsets) if reader.is_finished else reader.barrier(barrier, cause)
            self.acknowledge(checkpoint.id, reader.place, offsets)
        for task in self.tasks:
            if (due_ms := task.gate.next_time_ms) is not None:
                self.agenda.plan(max(due_ms, self.recorder.at_ms), Turn.GATE, task.gate_timer, tie=task.place)

    def restore(self, states: Mapping[Any, Any]) -> None:
        """Put the state of a checkpoint into the new tasks."""
        recorder, restored = self.recorder, self.recorder.cause
        watermark_ms = min((s.watermark_ms for s in states.values() if isinstance(s, TaskSnapshot)), default=MIN_MS)
        for task in self.tasks:
            snapshot: TaskSnapshot | None = states.get(task.place)
            if snapshot is None:
                continue
            recorder.cause = restored
            task.task.operator.restore(snapshot.panes)
            recorder.reloaded(task.place, snapshot.panes)
            if self.scenario.api == "sql" and watermark_ms != MIN_MS:
                task.task.restore_watermark(watermark_ms)
        for task in self.tasks:
            snapshot = states.get(task.place)
            for channel, elements in snapshot.in_flight.items() if snapshot is not None else ():
                for element in elements:
                    task.receive(channel, Element(element.carries, element.value, element.row))

    # ------------------------------------------------- the machine's clock

    def _plan_clock_timer(self, task: TaskInput) -> None:
        """Put the next processing-time timer of a task on the agenda."""
        due_ms = task.task.operator.next_processing_time_ms()
        if due_ms is None or self._clock_timers.get(task.place) == due_ms:
            return
        self._clock_timers[task.place] = due_ms
        at_ms = max(due_ms, self.recorder.at_ms)
        self.agenda.plan(at_ms, Turn.CLOCK_TIMER, lambda: self._run_clock_timer(task, due_ms), tie=task.place)

    def _run_clock_timer(self, task: TaskInput, due_ms: int) -> None:
        if self._clock_timers.get(task.place) != due_ms or task.is_finished:
            return
        del self._clock_timers[task.place]
        if task.busy_until_ms is None:  # otherwise it is planned anew when the task is done
            self.recorder.clock_moved(task.place)
            task.task.operator.advance_processing_time(due_ms)
            self._plan_clock_timer(task)


class Aligner:
    """Watermark alignment of the whole job: in every interval sources report, and hear how far they may go.

    Parameters
    ----------
    attempt
        Whose sources are aligned.
    inputs
        Number of sources; they are one group.

    Notes
    -----
    Flink 2.3.0: SourceCoordinator.announceCombinedWatermark; the update interval of WatermarkAlignmentParams.
    """

    def __init__(self, attempt: Attempt, inputs: int) -> None:
        assert attempt.scenario.alignment is not None
        self._attempt, self._settings = attempt, attempt.scenario.alignment
        group = WatermarkAggregator()
        self._coordinators = [SourceCoordinator(str(n), group, self._settings.drift_ms) for n in range(inputs)]
        self._announced: list[int | None] = [None] * inputs
        self._start_ms = attempt.recorder.at_ms
        self._rounds_left = 0
        self._is_planned = False

    def wake(self) -> None:
        """Go on for as many rounds as a change needs to go through all samples."""
        self._rounds_left = self._settings.buffer + 2
        if not self._is_planned:
            self._plan(self._attempt.recorder.at_ms)

    def _plan(self, after_ms: int) -> None:
        interval_ms = self._settings.interval_ms
        rounds = (after_ms - self._start_ms) // interval_ms + 1
        self._is_planned = True
        self._attempt.agenda.plan(self._start_ms + rounds * interval_ms, Turn.ALIGNMENT, self._round)

    def _round(self) -> None:
        self._is_planned = False
        self._rounds_left -= 1
        recorder = self._attempt.recorder
        recorder.cause = -1
        readers = self._attempt.readers
        for reader in readers:
            report_ms = reader.alignment.sample() if reader.alignment else None
            if report_ms is not None:
                self._coordinators[reader.place % len(self._coordinators)].report(reader.place, report_ms)
        for which, coordinator in enumerate(self._coordinators):
            allowed_ms = coordinator.announce()
            if allowed_ms is None:
                continue
            if allowed_ms != self._announced[which]:
                self._announced[which] = allowed_ms
                self._rounds_left = max(self._rounds_left, 1)
                recorder.allowed(allowed_ms, which)
            for reader in readers[which :: len(self._coordinators)]:
                if reader.alignment is not None:
                    reader.alignment.max_allowed(allowed_ms)
        if self._rounds_left > 0 and not self._is_planned:
            self._plan(recorder.at_ms)


class RunningJob:
    """A job that runs a scenario from its start to its end, through everything that happens to it.

    Parameters
    ----------
    scenario
        The stream, the job and the happenings.
    recorder
        Writes the trace.
    parts
        What it is built of; each attempt has a copy of the generator.

    Notes
    -----
    Flink 2.3.0: the parts of JobMaster and CheckpointCoordinator that tasks see. At equal times what comes first is
    settled by `Turn`.
    """

    def __init__(self, scenario: Scenario, recorder: RuntimeRecording, parts: Parts) -> None:
        self.recorder, self.partitions = recorder, Partitions(scenario)
        self._settings, self._parts = scenario, parts
        self.agenda = Agenda()
        self._attempt: Attempt | None = None
        self._read = bytearray(len(scenario.events))
        self._after: dict[int, list[Happening]] = {}
        self._stop: Happening | None = None
        self._stop_savepoint = 0
        self._failures = self._expired = 0
        self._has_restarted = False
        self._last_ms = scenario.grid_start_ms
        self._planned_ms: dict[Turn, int | None] = {}
        self._coordinator = self._new_coordinator(0)

    # ------------------------------------------------- the clock

    def run(self) -> None:
        """Do what is on the agenda until nothing is left that the job has something to do for."""
        self._plan_happenings()
        self._launch({})
        self._start_checkpoints(is_new=True)
        while self._goes_on:
            at_ms, is_background, action = self.agenda.pop()
            if self._has_restarted:  # what was due while the job was down comes now
                at_ms = max(at_ms, self.recorder.at_ms)
            self.recorder.begins(at_ms)
            if not is_background:
                self._last_ms = at_ms
            try:
                action()
            except TransactionAbortedError as error:
                self._fail(str(error))
            if is_background or self.recorder.sinks:
                self._plan_clocks()
            if self._is_finished:
                break

    @property
    def _goes_on(self) -> bool:
        """Whether there is something to do; with only the clocks left, for one more checkpoint and the timeouts."""
        next_ms = self.agenda.next_ms
        if self.agenda.foreground or next_ms is None:
            return next_ms is not None
        settings = self._settings.checkpoints
        round_ms = max(settings.interval_ms, settings.min_pause_ms) + settings.notice_ms if settings else 0
        return next_ms <= max(self._last_ms + round_ms, self._broker_due_ms or 0)

    @property
    def _is_finished(self) -> bool:
        """Whether the input has ended, all of it is worked on, and no row of the sink waits for a checkpoint."""
        if self._attempt is None or not self._attempt.is_finished:
            return False
        return self._settings.checkpoints is None or all(sink.is_settled for sink in self.recorder.sinks)

    def _plan_clocks(self) -> None:
        """Put what the coordinator's and the broker's clocks will do next on the agenda."""
        self._plan_clock(Turn.COORDINATOR, self._coordinator.next_time_ms, self._run_coordinator)
        self._plan_clock(Turn.BROKER, self._broker_due_ms, self.recorder.timed_out)

    @property
    def _broker_due_ms(self) -> int | None:
        due = (at_ms for sink in self.recorder.sinks if (at_ms := sink.next_time_ms) is not None)
        return min(due, default=None)

    def _plan_clock(self, turn: Turn, at_ms: int | None, action: Callable[[], None]) -> None:
        if at_ms is None or self._planned_ms.get(turn) == at_ms:
            return
        self._planned_ms[turn] = at_ms

        def act() -> None:
            if self._planned_ms.get(turn) == at_ms:
                self._planned_ms[turn] = None
                action()

        self.agenda.plan(max(at_ms, self.recorder.at_ms), turn, act, background=True, outside=True)

    def _run_coordinator(self) -> None:
        self._coordinator.advance(self.recorder.at_ms)

    # ------------------------------------------------- checkpoints

    def _new_coordinator(self, last_id: int, latest: Checkpoint | None = None) -> CheckpointCoordinator:
        scenario = self._settings
        wanted = scenario.checkpoints or Checkpoints()
        settings = CheckpointSettings(wanted.interval_ms, wanted.min_pause_ms, wanted.max_concurrent, wanted.timeout_ms)
        places = range(scenario.subtasks + scenario.window_tasks)
        forced = wanted.mode != "unaligned"
        made = CheckpointCoordinator(settings, places, self, forced_savepoints=forced, last_id=last_id)
        made.latest = latest
        return made

    def _start_checkpoints(self, *, is_new: bool) -> None:
        wanted = self._settings.checkpoints
        if wanted is not None:
            first_ms = wanted.interval_ms if wanted.first_ms is None else wanted.first_ms
            self._coordinator.start(self.recorder.at_ms, first_ms if is_new else None)
        self._plan_clocks()

    def triggered(self, checkpoint: Checkpoint) -> None:
        """Let barriers leave the sources."""
        attempt, recorder = self._attempt, self.recorder
        if checkpoint.id > MOST_CHECKPOINTS:
            raise ScenarioError(
                f"{self._settings.name} takes more than {MOST_CHECKPOINTS:,} checkpoints; "
                "write a longer checkpoints.interval"
            )
        recorder.checkpoint(checkpoint, CheckpointPhase.STARTED)
        cause, wanted = recorder.cause, self._settings.checkpoints or Checkpoints()
        barrier = CheckpointBarrier.of(
            checkpoint.id,
            checkpoint.started_ms,
            unaligned=wanted.mode == "unaligned",
            timeout_ms=wanted.alignment_timeout_ms,
            savepoint=checkpoint.savepoint,
        )
        if attempt is not None:
            self.agenda.plan(
                recorder.at_ms, Turn.AT_ONCE, lambda: attempt.inject(checkpoint, barrier, cause), background=True
            )

    def completed(self, checkpoint: Checkpoint) -> None:
        """Let the tasks hear of it, at once or after a while."""
        self.recorder.checkpoint(checkpoint, CheckpointPhase.COMPLETED)
        self._failures = self._expired = 0
        notice_ms = self._settings.checkpoints.notice_ms if self._settings.checkpoints else 0
        if not notice_ms:
            self._complete(checkpoint)
        elif self._attempt is not None:
            at_ms = self.recorder.at_ms + notice_ms
            self.agenda.plan(at_ms, Turn.AT_ONCE, lambda: self._complete(checkpoint), background=True)

    def _complete(self, checkpoint: Checkpoint) -> None:
        """Let sinks commit; a savepoint that the job goes on after commits nothing."""
        stop = self._stop if checkpoint.id == self._stop_savepoint else None
        if not checkpoint.savepoint or stop is not None:
            for sink in self.recorder.sinks:
                sink.advance(self.recorder.at_ms)
                sink.commit(checkpoint.id)
            for reader in self._attempt.readers if self._attempt else ():
                reader.complete(checkpoint.id)
        if stop is not None:
            self.agenda.plan(self.recorder.at_ms, Turn.AT_ONCE, lambda: self._stop_with(stop, checkpoint))

    def failed(self, checkpoint: Checkpoint) -> None:
        """Note that a checkpoint is given up: no task takes its snapshot any more.

        Without its savepoint a job does not stop; with too many that took too long, it fails.

        Notes
        -----
        Flink 2.3.0: SubtaskCheckpointCoordinatorImpl.notifyCheckpointAborted, CheckpointFailureManager.
        """
        self.recorder.checkpoint(checkpoint, CheckpointPhase.FAILED)
        if self._attempt is not None:
            self._attempt.given_up.add(checkpoint.id)
        if checkpoint.failed == EXPIRED and not checkpoint.savepoint:
            self._expired += 1
            tolerated = self._settings.checkpoints.tolerable_failures if self._settings.checkpoints else 0
            if self._expired > tolerated:
                why = f"checkpoint {checkpoint.id} took longer than its timeout, and {tolerated} such are tolerated"
                self.agenda.plan(self.recorder.at_ms, Turn.AT_ONCE, lambda: self._fail(why), background=True)
        if checkpoint.id == self._stop_savepoint and self._stop is not None and self._attempt is not None:
            self._stop = None
            self._attempt.go_on()
            self._start_checkpoints(is_new=False)

    def acknowledge(self, checkpoint_id: int, place: int, state: Any) -> None:
        """Take in the snapshot of a task."""
        self._coordinator.acknowledge(checkpoint_id, place, state, self.recorder.at_ms)

    def decline(self, checkpoint_id: int, reason: str) -> None:
        """Take in that a task gives a checkpoint up."""
        self._coordinator.decline(checkpoint_id, reason, self.recorder.at_ms)

    # ------------------------------------------------- happenings

    def _plan_happenings(self) -> None:
        index_of = {event.id: index for index, event in enumerate(self._settings.events)}
        for happening in self._settings.happenings:
            if happening.after:
                self._after.setdefault(index_of[happening.after], []).append(happening)
            elif happening.what not in ("silence", "finish") and happening.at_ms is not None:
                self._plan_happening(happening, happening.at_ms, Turn.HAPPENING)

    def _plan_happening(self, happening: Happening, at_ms: int, turn: Turn) -> None:
        self.agenda.plan(at_ms, turn, lambda: self._happen(happening), outside=True)

    def has_read(self, event: int) -> None:
        """Note that an event has been read, and let happen what is to happen after it."""
        self._read[event] = 1
        for happening in self._after.pop(event, ()):
            self._plan_happening(happening, self.recorder.at_ms, Turn.AT_ONCE)

    def _happen(self, happening: Happening) -> None:
        """Let something happen to the job; nothing can happen to one that is down, and one that stops stops once."""
        if self._attempt is None or (happening.what == "stop" and self._stop is not None):
            return
        now_ms = self.recorder.at_ms
        if happening.what == "crash":
            self._go_down(Kind.CRASHED, now_ms + happening.down_ms, "", self._coordinator.latest, self._settings)
        elif happening.what == "savepoint":
            self._coordinator.savepoint(now_ms)
            self._plan_clocks()
        else:
            self._attempt.stops_reading = True
            self._coordinator.stop(now_ms)
            self._stop, self._stop_savepoint = happening, self._coordinator.last_id + 1
            self._coordinator.savepoint(now_ms)
            self._plan_clocks()

    def _fail(self, why: str) -> None:
        """Let the job crash for a reason of its own."""
        self._failures += 1
        self._expired = 0
        now_ms = self.recorder.at_ms
        until_ms = now_ms + _RESTART_DELAY_MS if self._failures <= _MOST_FAILURES else MAX_MS
        self._go_down(Kind.CRASHED, until_ms, why, self._coordinator.latest, self._settings)

    def _stop_with(self, stop: Happening, savepoint: Checkpoint) -> None:
        changes = stop.changed_fields
        resumed = self._settings.replace(**changes) if changes else self._settings
        self._go_down(Kind.STOPPED, self.recorder.at_ms + stop.down_ms, "", savepoint, resumed)

    def _go_down(self, kind: Kind, until_ms: int, why: str, checkpoint: Checkpoint | None, settings: Scenario) -> None:
        self._stop = None
        self._coordinator.stop(self.recorder.at_ms)
        self.recorder.down(kind, until_ms, why)
        self._attempt = None
        self.agenda.drop_tasks()
        is_new = kind is Kind.STOPPED
        if until_ms < MAX_MS:
            self.agenda.plan(
                until_ms, Turn.HAPPENING, lambda: self._restart(checkpoint, settings, is_new), outside=True
            )

    def _restart(self, checkpoint: Checkpoint | None, settings: Scenario, is_new: bool) -> None:
        """Run again from a checkpoint, or from nothing; after a stop as a new job."""
        self._has_restarted = True
        is_changed, self._settings = settings is not self._settings, settings
        now_ms, states = self.recorder.at_ms, checkpoint.states if checkpoint else {}
        self.recorder.restored(checkpoint.id if checkpoint else 0, settings if is_changed else None)
        for number, sink in enumerate(self.recorder.sinks):
            snapshot = states.get(settings.subtasks + number)
            sink.restore(snapshot.transactions if isinstance(snapshot, TaskSnapshot) else (), now_ms)
        if is_new:
            self._coordinator = self._new_coordinator(self._coordinator.last_id, checkpoint)
        self._launch(states)
        self._start_checkpoints(is_new=is_new)

    def _launch(self, states: Mapping[Any, Any]) -> None:
        """Start the tasks, at the offsets and with the state of a checkpoint."""
        attempt = self._attempt = Attempt(self, self._settings, self._parts)
        rewound = self._set_offsets(attempt, states)
        for state in states.values():
            if isinstance(state, TaskSnapshot):
                elements = [element for found in state.in_flight.values() for element in found]
                rewound |= {element.value for element in elements if element.carries is Carries.RECORD}
        for event in sorted(rewound):
            self.recorder.rewound(event)
        attempt.restore(states)
        attempt.start()

    def _set_offsets(self, attempt: Attempt, states: Mapping[Any, Any]) -> set[int]:
        """Let every reader begin where it has to; give the events that are read again and that no state has."""
        rewound: set[int] = set()
        for reader in attempt.readers:
            stored: Mapping[int, int] = states.get(reader.place, {})
            for partition in reader.offsets:
                events, offset = self.partitions.events[partition], stored.get(partition, 0)
                first = self._first_to_read(partition, offset)
                reader.offsets[partition] = first
                for event in events[offset : max(first, offset)]:
                    self.recorder.lost(event)
                rewound.update(event for event in events[max(first, offset) :] if self._read[event])
        return rewound

    def _first_to_read(self, partition: int, offset: int) -> int:
        """Give how many events of a partition are passed over at a start."""
        replay = self._settings.replay
        if replay == "offsets":
            return offset
        if replay == "start" or not self._has_restarted:
            return 0
        events, now_ms = self.partitions.events[partition], self.recorder.at_ms
        gone = sum(1 for event in events if self._read[event] or self.partitions.available_ms[event] < now_ms)
        return max(gone, offset)
