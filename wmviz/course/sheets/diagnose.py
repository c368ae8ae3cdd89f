"""The sheet of lesson 15, diagnose a silent or lossy job: answers of REST, recorded, and a job with two faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from numbers import Integral
from typing import Any

import wmviz
from wmviz.course.answers import AnswerError, read_duration
from wmviz.course.judging import judge_job, judge_number
from wmviz.course.own_code import called, several
from wmviz.course.questions import Question, Task, Verdict, not_yet, right, wrong
from wmviz.course.sheets.trams import JOBS, TramJob
from wmviz.diagnosis import Diagnosis
from wmviz.flink.broken import BrokenJob, broken_job, broken_jobs
from wmviz.scenario import Scenario
from wmviz.times import MIN_MS, duration_text, shown, time_ms
from wmviz.trace import Status

CASES = {"a": "summer-time", "b": "after-outage", "c": "spare-readers", "d": "depot-closed"}
"""Task 2: the letter under which a job is shown → the job."""

HEALTHY = "healthy"
CAUSES = {
    "idle-partition": "idle-partition",
    "more-subtasks-than-partitions": "spare-subtask",
    "wrong-timestamps": "wrong-timestamps",
    "bound-too-large": "bound-too-large",
    "everything-idle": "everything-idle",
    HEALTHY: HEALTHY,
}
"""What the diagnosis calls a cause → what it is called in the sheet."""

TUNNEL = Scenario.of(
    name="trams-at-night",
    title="Passengers of three tram lines, at night",
    unit="passengers",
    bound="30 s",
    emission="interval",
    interval="10 s",
    partitions=3,
    subtasks=2,
    window="5 min",
    late_to="drop",
    start="22:00",
    events=[
        ["line 1", 12, "22:01", "22:01:05", 0],
        ["line 2", 8, "22:02", "22:02:05", 1],
        ["line 3", 5, "22:03", "22:03:05", 2],
        ["line 1", 9, "22:04:40", "22:04:45", 0],
        ["line 2", 7, "22:06", "22:06:05", 1],
        ["line 1", 6, "22:07:30", "22:07:35", 0],
        ["line 2", 4, "22:04:50", "22:08", 1],
        ["line 1", 3, "22:09", "22:09:05", 0],
        ["line 2", 5, "22:09:30", "22:09:35", 1],
        ["line 1", 7, "22:12", "22:12:05", 0],
        ["line 2", 6, "22:12:30", "22:12:35", 1],
        ["line 1", 2, "22:08:50", "22:13", 0],
        ["line 2", 4, "22:15:30", "22:15:35", 1],
        ["line 1", 5, "22:16", "22:16:05", 0],
        ["line 2", 3, "22:18:30", "22:18:35", 1],
        ["line 1", 4, "22:19", "22:19:05", 0],
    ],
)
"""Task 5: line 3 has no tram after 22:03, and two events of the others were in a tunnel."""

OUT_BY_MS = time_ms("22:20")
"""Task 5: by then every window up to 22:15 must have fired."""


@cache
def _read(job: str) -> Diagnosis:
    return TramJob(job).recorded()


def rows(job: BrokenJob) -> list[dict[str, Any]]:
    """Give what REST told of a recorded job, a row for each subtask and split, without who holds a watermark.

    ``read`` is how many records a subtask has handed on or received between the two readings.
    """
    found = job.recorded()
    read = {
        (task.name.split(" -> ")[0], subtask): task.records(subtask) - found.facts.earlier(task).records(subtask)
        for task in found.facts.now.tasks.values()
        for subtask in range(task.parallelism)
    }
    return [
        {name: value for name, value in row.items() if name != "holds"}
        | {"read": None if row["split"] else read[row["task"], row["subtask"]]}
        for row in found.rows
    ]


GIVEN: Mapping[str, Any] = {
    "holding-partition": rows(TramJob("three-lines")),
    "four-jobs": {letter: rows(TramJob(job)) for letter, job in CASES.items()},
    "caught-up": {
        "rows": rows(TramJob("after-outage")),
        "clocks_ms": (_read("after-outage").facts.before.at_ms, _read("after-outage").facts.now.at_ms),
    },
    "lost-between": [
        {path: answer for path, answer in reading.items() if path.endswith("/metrics")}
        for reading in _read("lost-passengers").answers.readings
    ],
    "two-faults": TUNNEL,
    "watchdog": {job: rows(broken_job(job)) for job in ("idle-partition", "steady-traffic")},
}


# ------------------------------------------------------------------------------------------------------------- task 1


def holding_partition() -> Task:
    """Task 1: which partition holds the windows."""
    splits = {row["split"]: row["watermark_ms"] for row in GIVEN["holding-partition"] if row["split"] is not None}
    (at_ms,) = {row["watermark_ms"] for row in GIVEN["holding-partition"] if row["role"] == "window"}
    (holder,) = (split for split, watermark_ms in splits.items() if watermark_ms == at_ms)
    whys = {
        "trams-0": "trams-0 is in the subtask that holds the windows, but it moves. Another partition of it does not.",
        "trams-1": "trams-1 moves, and so does its subtask. That it has handed on fewer records says nothing.",
    }

    def judge(answer: object) -> Verdict:
        name = str(answer).strip().lower()
        name = f"trams-{name.removeprefix('partition').strip()}" if name not in splits else name
        if name == holder:
            return right(
                f"{holder} stands at the value of the windows, and its subtask can hand on no more than its minimum."
            )
        if name in splits:
            return wrong(whys[name])
        return not_yet(f'{shown(answer)} is no partition of this job. Write it as in the column split: "trams-0".')

    return Task(
        "Which partition holds the windows back?",
        judge,
        (
            "Read from the windows backwards. At which value do they stand?",
            "Which source subtask stands at that value? It has two partitions, and it reads records all the time.",
            "The watermark of a subtask is the minimum of its splits. Which of them did not move?",
        ),
    )


# ------------------------------------------------------------------------------------------------------------- task 2

CAUSE_WHYS = {
    "idle-partition": "Then one input would stand still while others move, and the windows at its value.",
    "spare-subtask": "Then a source subtask would have no split and no watermark, and 0 records.",
    "wrong-timestamps": "Then the watermark would be far from the clock, ahead or behind, and stay there.",
    "bound-too-large": "Then every watermark would trail the clock, by the same length at both readings.",
    "everything-idle": "Then no source would have read a record between the readings.",
    HEALTHY: "Something is wrong: compare the windows with the clock, and the two readings with each other.",
}
CASE_WHYS = {
    ("a", "bound-too-large"): "Look at the sign: these watermarks are ahead of the clock. No bound does that.",
    (
        "a",
        HEALTHY,
    ): "The windows are ahead of the clock. No event can have happened in two hours.",
    ("b", "bound-too-large"): "A bound keeps its distance. This watermark moved several times as far as the clock.",
    (
        "b",
        "wrong-timestamps",
    ): "The distance becomes less from reading to reading. Wrong timestamps do not mend themselves.",
    ("b", "idle-partition"): "Nothing stands still: each watermark is higher at the second reading.",
    ("c", "idle-partition"): "An idle partition has sent something before. Here a subtask has no partition at all.",
    ("d", "idle-partition"): "The fix would be an idle timeout, and it would not help: no other input moves the time.",
    ("d", "spare-subtask"): "The only subtask has a partition, and it has read records before.",
    ("d", HEALTHY): "Perhaps the trams sleep. Still no window fires, and the last one waits until something arrives.",
}


def four_jobs() -> Task:
    """Task 2: name the cause of each of four jobs; one of them is a false alarm."""
    due = {}
    for letter, job in CASES.items():
        causes = _read(job).causes
        due[letter] = CAUSES[causes[0].name] if causes else HEALTHY

    def judge(answer: object) -> Verdict:
        given = _read_causes(answer)
        off = [letter for letter in due if given[letter] != due[letter]]
        if not off:
            return right("Each by its own numbers. And the job that is far behind is none to mend: it catches up.")
        said = given[off[0]]
        why = CASE_WHYS.get((off[0], said), CAUSE_WHYS[said])
        return wrong(f"Job {off[0]} is not {said}. {why}")

    return Task(
        "Which cause is it, for each of the four jobs?",
        judge,
        (
            "Ask of each job: does a watermark move? Are records read? Is one missing? How far from the clock is it?",
            "Far from the clock is not enough. Is it as far at the second reading as at the first?",
            "One job has a watermark ahead of the clock, in one a subtask has none, in one no record was read.",
        ),
    )


def _read_causes(answer: object) -> dict[str, str]:
    """Read a cause for each letter, from a dict or from four in order."""
    if isinstance(answer, str):
        answer = answer.split(",")
    if isinstance(answer, (list, tuple)) and len(answer) == len(CASES):
        answer = dict(zip(CASES, answer, strict=True))
    if not isinstance(answer, Mapping) or {str(key).strip().lower() for key in answer} != set(CASES):
        raise AnswerError('Give a cause for each job: {"a": "healthy", "b": …, "c": …, "d": …}.')
    if any(cause in (None, ...) for cause in answer.values()):
        raise AnswerError("There is no cause yet for one of the jobs. Put yours in place of the three dots.")
    given = {str(key).strip().lower(): _plain(cause) for key, cause in answer.items()}
    for cause in given.values():
        if cause not in CAUSE_WHYS:
            raise AnswerError(f"{shown(cause)} is none of the causes; write one of: {', '.join(CAUSE_WHYS)}.")
    return given


def _plain(cause: object) -> str:
    return "-".join(str(cause).lower().replace("-", " ").replace("_", " ").split())


# ------------------------------------------------------------------------------------------------------------- task 3

NEAR = 0.1
"""REST's numbers are up to some tenths of a second old, so an answer may be off by so much."""


def caught_up() -> Task:
    """Task 3: from two readings, how long a job needs to catch up."""
    before_ms, now_ms = GIVEN["caught-up"]["clocks_ms"]
    windows = [row for row in GIVEN["caught-up"]["rows"] if row["role"] == "window"]
    behind_ms = max(row["behind_ms"] for row in windows)
    moved_ms = max(row["watermark_ms"] - row["before_ms"] for row in windows)
    pace = moved_ms / (now_ms - before_ms)
    answer_ms = behind_ms / (pace - 1)
    whys = {
        behind_ms / pace: "You divided by how fast the watermark moves. Meanwhile the clock moves, too: each second it "
        "is 1 s further away.",
        behind_ms: "That is how far it is behind. In so much time it moves several times as far.",
        behind_ms * pace: "It comes nearer faster than the clock goes, so it takes less than the distance, not more.",
    }

    def judge(answer: object) -> Verdict:
        got_ms = read_duration(answer)
        if _is_near(got_ms, answer_ms):
            return right(
                f"It moves {pace:.1f} s in each second of the clock, so it comes {pace - 1:.1f} s nearer: "
                f"{behind_ms / 1000:.0f} s / {pace - 1:.1f} is about {answer_ms / 60_000:.0f} min."
            )
        why = next((why for length_ms, why in whys.items() if _is_near(got_ms, length_ms)), None)
        way = "long" if got_ms > answer_ms else "short"
        return wrong(why or f"Too {way}. How far does the watermark move in 1 s of the clock? And how much nearer?")

    return Task(
        "How long will it take, from the second reading on, until the watermark of the windows is at the clock?",
        judge,
        (
            "Two numbers are needed: how far behind it is, and by how much that becomes less in a second.",
            "Between the readings the clock moved about 5 s. How far did the watermark of the windows move?",
            "Divide the distance by what the watermark gains on the clock in each second: its pace − 1.",
        ),
    )


def _is_near(got_ms: float, length_ms: float) -> bool:
    return abs(got_ms - length_ms) <= NEAR * length_ms


# ------------------------------------------------------------------------------------------------------------- task 4


def lost_between() -> Task:
    """Task 4: from REST's own answers, how many records were lost between the two readings."""
    before, now = (_dropped(reading) for reading in GIVEN["lost-between"])
    since = [after - first for first, after in zip(before, now, strict=True)]
    whys = {
        sum(now): "That is all since the job began: a counter begins at 0 and never goes back. Take the difference.",
        0: "There are some. Which operator counts what it throws away, and under which name?",
        sum(before): "That is the first reading alone. What came between the two?",
        sum(now) + sum(before): "You added the two readings. The second one counts what the first has counted, too.",
        **dict.fromkeys(since, "That is one subtask of the windows. Each of them has a counter of its own."),
        **dict.fromkeys(now, "That is one subtask, and all since the job began."),
    }
    whys.pop(sum(since), None)
    return Task(
        "How many records did the windows drop between the two readings?",
        lambda answer: judge_number(
            answer, sum(since), whys, f"{' and '.join(map(str, since))} in the subtasks of the windows."
        ),
        (
            "Which metric counts what a window operator throws away as late? The lesson's step 2 names it.",
            "Its id begins with the number of the subtask. There are two of them at each reading.",
            "Add up the subtasks at each reading, and take the difference of the two sums.",
        ),
    )


def _dropped(reading: Mapping[str, list[dict[str, str]]]) -> list[int]:
    """Give the counters of dropped records, one for each subtask."""
    metrics = sorted(
        (each["id"], int(each["value"]))
        for answer in reading.values()
        for each in answer
        if each["id"].endswith(".numLateRecordsDropped")
    )
    return [value for _, value in metrics]


# ------------------------------------------------------------------------------------------------------------- task 5


def two_faults() -> Task:
    """Task 5: mend a silent job that turns lossy once it is no longer silent."""
    return Task(
        "Mend the job: by 22:20 every window up to 22:15 has fired, and no passenger is missing.",
        lambda job: judge_job(job, TUNNEL, "no window fires.", _judge_two_faults),
        (
            "First the silence. `wmviz.simulate(job).state().watermarks` shows who holds the windows.",
            "Then read the counter again: `wmviz.simulate(job).dropped_count`. What was hidden before?",
            "Line 3 needs an idle timeout. The tunnel needs a longer wait, or windows that fire again.",
        ),
    )


def _judge_two_faults(job: Scenario) -> Verdict:
    if job.events != TUNNEL.events:
        return wrong("The events are what they are. Change the settings of the job.")
    if job.window.time == "processing":
        return wrong(
            "By the server's clock windows fire, and answer another question: when the news of a passenger arrived."
        )
    if job.window != TUNNEL.window or job.end_of_input_ms is not None:
        return wrong("The windows and the end of the input were not the fault. Trams go on all night.")
    if job.partitions != TUNNEL.partitions:
        return wrong("The topic has three partitions, and the job cannot change that.")
    trace = wmviz.simulate(job)
    out = _out_in_time(job)
    if not out:
        return wrong(_still_silent(job))
    lost = len(trace.outcomes().late) + (trace.dropped_count or 0)
    if lost and job.late_to == "side":
        return wrong(
            f"The counter shows 0 now, but {_events(lost)} missing in the totals, for the side output takes them."
        )
    if lost and job.lateness_ms == TUNNEL.lateness_ms and job.bound_ms == TUNNEL.bound_ms:
        return wrong(
            f"Windows fire, and {_events(lost)} dropped now. While the watermark stood still nothing could be late, "
            "so the second fault was hidden behind the first."
        )
    if lost:
        return wrong(f"Still {_events(lost)} dropped. How far is each behind the watermark that it meets?")
    due = {(key, end_ms) for key, end_ms in _windows() if end_ms <= time_ms("22:15")}
    if missing := due - out:
        return wrong(
            f"Nothing is lost, but by 22:20 only {len(due) - len(missing)} of {len(due)} windows up to 22:15 have "
            "fired. A bound or a timeout that is too long makes a job look silent."
        )
    if job.idle_timeout_ms is None:
        return right(
            "Behind the source line 3 shares a watermark with line 1, so nobody waits for it. The price: what one line "
            "sends makes the other late."
        )
    if job.lateness_ms:
        return right("The timeout lets the windows fire, and each takes its late events by firing again.")
    return right("The timeout lets the windows fire, and the bound waits for the tunnel: every result a bit later.")


def _out_in_time(job: Scenario) -> set[tuple[str, int]]:
    """Give key and end of each window that has fired by 22:20."""
    firings = wmviz.simulate(job).all_firings
    return {(f.key, f.window.end_ms) for f in firings if f.at_ms <= OUT_BY_MS and f.window.end_ms is not None}


def _events(count: int) -> str:
    return "1 event is" if count == 1 else f"{count} events are"


def _windows() -> set[tuple[str, int]]:
    size_ms = TUNNEL.window.size_ms or 0
    return {(e.key, e.event_time_ms // size_ms * size_ms + size_ms) for e in TUNNEL.events}


def _still_silent(job: Scenario) -> str:
    if job.idle_timeout_ms is not None and _out_in_time(job.replace(bound=TUNNEL.bound_ms)):
        return "Still no window fires by 22:20: with so large a bound a result comes long after its window's end."
    if job.idle_timeout_ms is not None:
        return (
            f"Still no window fires: with a timeout of {duration_text(job.idle_timeout_ms)} line 3 is not idle in time."
        )
    if job.subtasks > TUNNEL.subtasks:
        return "Still no window fires: line 3 has a subtask of its own now, and that one holds the minimum."
    if job.bound_ms != TUNNEL.bound_ms:
        return "Still no window fires: the bound is taken off the newest event, and line 3 has no newer one."
    if job.lateness_ms != TUNNEL.lateness_ms:
        return "Still no window fires: lateness begins after the first firing, and there is none."
    return "Still no window fires: partition 2 holds the minimum."


# ------------------------------------------------------------------------------------------------------------- task 6


def _night(name: str, title: str, events: list[list[Any]], **settings: Any) -> Scenario:
    shape = {"bound": "10 s", "emission": "interval", "interval": "5 s", "window": "5 min", "start": "1:00"}
    return Scenario.of(name=name, title=title, events=events, **{**shape, "subtasks": 3, **settings})


def _news(line: str, partition: int, until: str = "1:10", stands_at: str = "") -> list[list[Any]]:
    """Give an event every 20 s; with a clock that stands, all have the same time."""
    arrivals = range(time_ms("1:00:01") + partition, time_ms(until), 20_000)
    return [[line, 1, time_ms(stands_at) if stands_at else ms - 1_000, ms, partition] for ms in arrivals]


def _by_arrival(*lines: list[list[Any]]) -> list[list[Any]]:
    return sorted((row for line in lines for row in line), key=lambda row: int(row[3]))


OF_THE_ENGINE = (
    _night(
        "two-spare-readers", "Two of four subtasks have no partition",
        _by_arrival(_news("line 1", 0), _news("line 2", 1)), partitions=2, subtasks=4,
    ),
    _night(
        "clock-stands", "One line is idle and left out, another one has a clock that stands",
        _by_arrival(_news("line 1", 0, "1:01"), _news("line 2", 1, stands_at="1:03"), _news("line 3", 2)),
        partitions=3, idle_timeout="30 s",
    ),
)  # fmt: skip
"""Task 6: jobs of our engine, for what no recorded job has: several holders, and one that is left out."""


def _of_the_engine(job: Scenario) -> tuple[list[dict[str, Any]], frozenset[int]]:
    """Read a run of our engine at 1:08 and at 1:08:05 as REST tells of a job; and say who holds its windows."""
    trace = wmviz.simulate(job)
    before, now = (trace.state(trace.step_at(time_ms(at))) for at in ("1:08", "1:08:05"))
    empty = dict.fromkeys(GIVEN["watchdog"]["idle-partition"][0])

    def row(role: str, subtask: int, place: str) -> dict[str, Any]:
        was_ms, is_ms = (state.watermarks.get(place, MIN_MS) for state in (before, now))
        known = {"before_ms": None if was_ms == MIN_MS else was_ms, "watermark_ms": None if is_ms == MIN_MS else is_ms}
        return {**empty, "task": place, "role": role, "subtask": subtask, **known}

    sources = [row("source", n, f"source[{n}]") for n in range(job.subtasks)]
    behind = [row(role, n, "window") for role in ("window", "other") for n in range(2)]  # what follows has the same
    counted = {n: now.watermarks.get(f"source[{n}]", MIN_MS) for n in range(job.subtasks)}
    counted = {n: ms for n, ms in counted.items() if now.statuses.get(f"source[{n}]") != Status.IDLE}
    stands = before.watermarks.get("window", MIN_MS) == now.watermarks.get("window", MIN_MS)
    lowest_ms = min(counted.values())
    return [*sources, *behind], frozenset(n for n, ms in counted.items() if stands and ms == lowest_ms)


@cache
def _watched() -> dict[str, tuple[list[dict[str, Any]], frozenset[int]]]:
    """Give the rows of each job, and the source subtasks that hold its windows."""
    recorded = [broken_job(name) for name in (*broken_jobs(), "steady-traffic", "quiet-partition")]
    jobs = {job.name: job for job in (*recorded, *map(TramJob, JOBS))}
    found = {
        f"the recorded job {name}": (
            rows(job),
            frozenset(row["subtask"] for row in job.recorded().rows if row["role"] == "source" and row["holds"]),
        )
        for name, job in jobs.items()
    }
    return found | {f"our engine's job {job.name}": _of_the_engine(job) for job in OF_THE_ENGINE}


def watchdog() -> Task:
    """Task 6: build the search for who holds the windows."""
    return Task(
        "Build the watchdog: which source subtasks hold the windows?",
        _judge_watchdog,
        (
            "First the windows: if their watermark moved between the readings, nobody holds them.",
            "If it did not move, look for source subtasks with the same watermark: that of the windows.",
            "A watermark that is not there yet is None. It can be compared with ==, but not with < or min.",
        ),
    )


def _judge_watchdog(own: Any) -> Verdict:
    if not callable(own):
        return not_yet("Give the function itself, without brackets behind its name.")
    for name, (told, due) in _watched().items():
        got = _held(own, [dict(row) for row in told])
        if got != due:
            return wrong(f"On {name} your watchdog names {_named(got)}. {_watchdog_slip(told, got, due)}")
    own, all_jobs = len(OF_THE_ENGINE), len(_watched())
    return right(
        f"It names the right subtasks for {all_jobs - own} recorded jobs of Flink and {own} of our engine, and nobody "
        "for the healthy ones."
    )


def _held(own: Callable[[list[dict[str, Any]]], object], told: list[dict[str, Any]]) -> frozenset[int]:
    found = several(called(own, "Your function", told), "Your function", "subtask numbers, such as [0]")
    if not all(isinstance(each, Integral) and not isinstance(each, bool) for each in found):
        raise AnswerError(f"Your function gives {shown(found)}. Let it return the numbers of subtasks: row['subtask'].")
    return frozenset(int(each) for each in found)


def _named(got: frozenset[int]) -> str:
    return f"subtask {', '.join(map(str, sorted(got)))}" if got else "nobody"


def _watchdog_slip(told: list[dict[str, Any]], got: frozenset[int], due: frozenset[int]) -> str:
    windows = [row for row in told if row["role"] == "window"]
    sources = {row["subtask"]: row["watermark_ms"] for row in told if row["role"] == "source"}
    if any(row["watermark_ms"] != row["before_ms"] for row in windows):
        return "Its windows move, so nobody holds them, however far behind or still an input is."
    without = {subtask for subtask, watermark_ms in sources.items() if watermark_ms is None}
    if due & got and due - got:
        return "There may be several: name each of them."
    if due - got and due & without:
        return "A subtask that has no watermark yet (None) holds the windows, too: they have none either."
    if due - got:
        return "Its windows stand still, and a source subtask stands at just that value."
    at_ms = windows[0]["watermark_ms"]
    if any(at_ms is not None and (sources.get(n) or at_ms) < at_ms for n in got):
        return "A subtask that stands still below the windows is idle, and left out: nobody waits for it."
    return "A subtask that has moved on is not waited for: compare it with the watermark of the windows."


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "holding-partition": holding_partition,
    "four-jobs": four_jobs,
    "caught-up": caught_up,
    "lost-between": lost_between,
    "two-faults": two_faults,
    "watchdog": watchdog,
}
