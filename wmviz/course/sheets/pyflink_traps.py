"""The sheet of lesson 14, PyFlink traps: broken programs to mend, read by Python's ast, and runs to predict."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

import wmviz
from wmviz.course.answers import AnswerError, read_number
from wmviz.course.judging import judge_names, judge_number
from wmviz.course.questions import Question, Task, Verdict, not_yet, right, wrong
from wmviz.course.sheets.bikes import part
from wmviz.course.sheets.pyflink_code import Call, Made, Reading, Stream, flow, read
from wmviz.scenario import Scenario
from wmviz.times import DAY_MS, MIN_MS, time_text

EIGHT_S = 1_795_852_800
"""2026-11-28 8:00 in UTC, in seconds since 1970."""

SECONDS = Scenario.of(
    name="bikes-in-seconds",
    title="Bikes taken, with times in seconds that nobody has turned into milliseconds",
    unit="bikes",
    bound="20 s",
    window="1 h",
    events=[
        ["quay", 1, EIGHT_S + 40, EIGHT_S * 1000 + 45_000],
        ["park", 2, EIGHT_S + 95, EIGHT_S * 1000 + 98_000],
        ["quay", 1, EIGHT_S + 130, EIGHT_S * 1000 + 131_000],
        ["park", 3, EIGHT_S + 70, EIGHT_S * 1000 + 140_000],
    ],
)
"""Task 1. The event times are numbers of seconds; Flink and the engine take each for milliseconds."""

TEST_ROWS = [
    ["quay", 3, "8:10"],
    ["park", 2, "8:55"],
    ["quay", 1, "9:05"],
    ["park", 4, "8:30"],
    ["quay", 2, "9:20"],
    ["park", 1, "9:12"],
    ["quay", 5, "8:58"],
    ["park", 2, "9:40"],
    ["quay", 1, "8:59:30"],
]
"""Task 5: the rows of a test, in the order of its list."""


def _arriving(every_ms: int, name: str, title: str) -> Scenario:
    return Scenario.of(
        name=name,
        title=title,
        unit="bikes",
        bound="10 min",
        emission="interval",
        interval="200 ms",
        window="1 h",
        late_to="side",
        start="8:00",
        events=[[*row, 8 * 3_600_000 + i * every_ms] for i, row in enumerate(TEST_ROWS, 1)],
    )


AS_A_LIST = _arriving(0, "bikes-in-a-list", "Bikes in a test, all rows at once")
PACED = _arriving(1_000, "bikes-a-second-apart", "Bikes in a test, a second between two rows")

GIVEN: Mapping[str, Any] = {
    "seconds-taken": SECONDS,
    "kept-assigner": part("kept-assigner", "-"),
    "own-type": part("own-type", "-"),
    "without-time": part("without-time", "-"),
    "in-a-list": (AS_A_LIST, PACED),
    "review": part("review", "-"),
}


# ------------------------------------------------------------------------------------------------------------- task 1


def seconds_taken() -> Task:
    """Task 1: the watermark of a job whose assigner gives seconds."""
    trace = wmviz.simulate(SECONDS)
    answer = trace.state(trace.steps - 1).watermarks["window"]
    newest, last = max(e.event_time_ms for e in SECONDS.events), SECONDS.events[-1].event_time_ms
    bound_ms = SECONDS.bound_ms
    in_seconds = "The bound is a Duration: of_seconds(20) is 20,000 ms, whatever your rows count in."
    whys = {
        newest * 1000 - bound_ms - 1: "That is the watermark of the mended job. This one has no × 1000 anywhere.",
        newest * 1000 - bound_ms: "That is the watermark of the mended job, nearly: × 1000 is nowhere in this one.",
        newest - bound_ms // 1000 - 1: in_seconds,
        newest - bound_ms // 1000: in_seconds,
        newest - bound_ms: "You left out the −1 ms.",
        last - bound_ms - 1: "That is of the last row. The newest time counts, and that row was out of order.",
        newest: "That is the newest time. The bound and 1 ms come off.",
    }
    return Task(
        "Which watermark does the window operator see after all four rows? Give the number.",
        lambda answered: judge_number(
            answered,
            answer,
            whys,
            f"{newest:,} − {bound_ms:,} − 1, all taken for milliseconds: a moment in January 1970.",
        ),
        (
            "Flink takes each number as it stands, for milliseconds. Which row has the highest?",
            "Then take off the bound in milliseconds, and 1.",
        ),
    )


# ------------------------------------------------------------------------------------------------ programs in general


def _mend(name: str, text: str, unchanged: str, judge: Callable[[Reading], Verdict], hints: tuple[str, ...]) -> Task:
    """Make a task of a program that is to be mended."""

    def judged(program: object) -> Verdict:
        found = read(program)
        if ast.dump(found.tree) == ast.dump(ast.parse(GIVEN[name])):
            return not_yet(f"Nothing has changed so far: {unchanged}")
        return judge(found)

    return Task(text, judged, hints)


# ------------------------------------------------------------------------------------------------------------- task 2

BOUND_MS, IDLE_MS = 90_000, 300_000


def kept_assigner() -> Task:
    """Task 2: mend a strategy that loses its assigner."""
    return _mend(
        "kept-assigner",
        "Mend the program: it must give each row its time, and leave out stations that are silent for 5 minutes.",
        "the job fails at the window, since its rows have no time.",
        _judge_kept_assigner,
        (
            "Which of the calls gives back a new strategy, and which changes the one that it is called on?",
            "with_idleness makes a new object of the Java part alone. What is kept beside that part?",
            "Whatever makes a new strategy has to come before the assigner.",
        ),
    )


def _judge_kept_assigner(found: Reading) -> Verdict:
    if not found.timed:
        if any(strategy.assigner for strategy in found.on_source):
            return wrong(
                "from_source hands on the Java part of the strategy alone, and the assigner is not in it. It works in "
                "assign_timestamps_and_watermarks only."
            )
        return wrong("Now nothing gives the rows a time: the window refuses them with the same message.")
    _, strategy = found.timed[-1]
    if strategy.assigner is None and strategy.lost_by:
        return wrong(
            f"The assigner is still lost: {strategy.lost_by} comes after it, and makes a new strategy of the Java part."
        )
    if strategy.assigner is None:
        return wrong("Now the strategy has no assigner at all, so the rows still have no time.")
    if strategy.idleness is None:
        return wrong(
            "The assigner is kept, but the idle timeout is gone: a silent station would hold all the others. Take what "
            "with_idleness gives back; the strategy that it is called on stays as it was."
        )
    if (strategy.bound, strategy.idleness) != (BOUND_MS, IDLE_MS):
        return wrong("The lengths were right: a bound of 90 s and an idle timeout of 5 min.")
    times = found.method(strategy.assigner, "extract_timestamp")
    if any(times(("quay", 1, at_ms), MIN_MS) != at_ms for at_ms in (0, 30_000_000)):
        return wrong("The assigner gave the right field before: row[2], in milliseconds.")
    if not _counts_as_before(found):
        return wrong(_OTHER_TOTALS)
    return right("What makes a new strategy comes first, and the assigner last. So it is still there.")


# ------------------------------------------------------------------------------------------------------------- task 3

RIDES = (("quay", 12), ("park", 9), ("quay", 5_000))
"""The rows of task 3."""


def own_type() -> Task:
    """Task 3: mend a tag that shares its type information with a stream."""
    return _mend(
        "own-type",
        "Mend the program: strange rides must still come out of the side output, and the others of the stream.",
        "it fails before it starts, cannot pickle '_thread.RLock' object.",
        _judge_own_type,
        (
            "The tag is copied for the workers, with its type information. What else uses that object?",
            "Another name for the same object is the same object. What would be an object of its own?",
            "Call Types.TUPLE once more for the tag, with new types inside, or give the tag no type.",
        ),
    )


def _judge_own_type(found: Reading) -> Verdict:
    if not found.tags:
        return wrong("Now there is no tag, so no side output: strange rides must still come out there.")
    used = [each for stream in found.streams for call in stream.calls for each in _types(call)]
    for tag in found.tags:
        kind = tag.args[1] if len(tag.args) > 1 else None
        inside = list(Made("", (kind,)).parts())
        if isinstance(kind, Made) and any(kind is each for each in used):
            return wrong("The tag and a stream still share one object of type information, under whatever name.")
        if any(each is other for each in inside for other in used):
            return wrong(
                "The tag has an object of its own, but a type inside it is one that a stream uses, too. That one holds "
                "a connection to the JVM as well."
            )
        if (said := _fits(kind)) is not None:
            return wrong(said)
    due, out = _rides(read(part("own-type", "+"))), _rides(found)
    if not any("strange" in str(each) for rows in out for each in rows):
        return wrong("It starts now, but no strange ride comes out: the side output is not read.")
    if out != due:
        return wrong("It starts now, but other rows come out than before: only the type of the tag was the fault.")
    return right("The tag has type information of its own, and no connection to the JVM in it.")


def _types(call: Call) -> list[Made]:
    """Give the type information that a stream gets with a call; a tag brings its own."""
    if call.method in ("get_side_output", "side_output_late_data"):
        return []
    return [each for each in Made("", call.args).parts() if each.callee.startswith("Types.")]


def _fits(kind: object) -> str | None:
    """Say why rows do not fit a tag's type; None if they do."""
    if kind is None or (isinstance(kind, Made) and kind.callee == "Types.PICKLED_BYTE_ARRAY"):
        return None
    if isinstance(kind, list) or (isinstance(kind, Made) and kind.callee in ("Types.ROW", "Types.ROW_NAMED")):
        return "A list of types stands for a Row. These rows are tuples, and the job fails at the first one."
    if isinstance(kind, Made) and kind.callee == "Types.TUPLE" and kind.args:
        inner = [each.callee if isinstance(each, Made) else "" for each in kind.args[0] or []]
        if len(inner) == 2 and inner[0] == "Types.STRING" and inner[1] in ("Types.LONG", "Types.INT"):
            return None
    return "That is not the type of these rows: a station, which is text, and a whole number."


def _rides(found: Reading) -> list[list[Any]]:
    """Give what comes out for each row."""
    branches = found.returned.branches() if hasattr(found.returned, "branches") else []
    return [sorted(str(each) for branch in branches for each in flow(found, branch, row)) for row in RIDES]


# ------------------------------------------------------------------------------------------------------------- task 4

TIMED: tuple[tuple[str, int, int], ...] = (("quay", 2, 0), ("quay", 3, 1_200_000), ("park", 4, 4_200_000))
UNTIMED: tuple[tuple[str, int, None], ...] = (("park", 1, None), ("quay", 7, None))
"""Rows on which task 4 is tried."""


def without_time() -> Task:
    """Task 4: mend a program that fails at a row without a time."""
    return _mend(
        "without-time",
        "Mend the program: rows with a time are counted in their hours, rows without one come out beside the totals.",
        "it fails at the row of park that has no time.",
        _judge_without_time,
        (
            "No number is right for a row without a time. So it must not come to the assigner at all.",
            "Divide the rows before the strategy, with two filters: `is None` and `is not None`.",
            "Give the rows without a time to `.map(…, Types.STRING())`, and unite the two streams in the end.",
        ),
    )


def _judge_without_time(found: Reading) -> Verdict:
    if not found.timed:
        return wrong("Now nothing gives the rows a time, so the window refuses all of them.")
    stream, strategy = found.timed[-1]
    if strategy.assigner is None:
        return wrong("The strategy has lost its assigner on the way. It comes last.")
    times = found.method(strategy.assigner, "extract_timestamp")

    def given(row: object) -> list[Any]:
        return [times(each, MIN_MS) for each in flow(found, stream, row)]

    for without in UNTIMED:
        if made_up := given(without):
            return wrong(_made_up(made_up[0]))
    for row in TIMED:
        if not (made := given(row)):
            what = "0 is midnight, a time like any other. Ask for None, not for truth." if row[2] == 0 else ""
            return wrong(f"Rows with a time are lost, too. {what}".strip())
        if made != [row[2]]:
            return wrong("The rows that have a time have another one now.")
    branches = found.returned.branches() if hasattr(found.returned, "branches") else []
    beside = [b for b in branches if not any(call.method == "window" for call in b.calls)]
    if len(beside) == len(branches):
        return wrong("build gives no totals any more: the stream with the windows is not in what it returns.")
    if not all(any(flow(found, branch, row) for branch in beside) for row in UNTIMED):
        return wrong(
            "It runs, but the rows without a time are gone without a word: nobody sees that a clock is broken."
        )
    if not all(_is_text(branch) for branch in branches):
        return wrong(
            "Flink unites streams of one type only, and the totals are text: map the rows to text, with Types.STRING()."
        )
    if any(flow(found, branch, row) for branch in beside for row in TIMED):
        return wrong("Beside the totals rows come out that have a time: they are counted already.")
    if not all(_names_row(found, beside, row) for row in UNTIMED):
        return wrong(
            "Something comes out for a row without a time, but not its station and its bikes, as in `no time: park 1`."
        )
    if not _counts_as_before(found):
        return wrong(_OTHER_TOTALS)
    return right("Who has no time goes another way before the strategy, and somebody sees it there.")


def _names_row(found: Reading, beside: list[Stream], row: tuple[str, int, None]) -> bool:
    """Say whether what comes out beside the totals has a row's station and bikes."""
    texts = [str(each) for branch in beside for each in flow(found, branch, row)]
    return any(row[0] in text and str(row[1]) in text for text in texts)


# ------------------------------------------------------------------------------------------------- totals as before

_OTHER_TOTALS = "The totals are others now: windows of an hour and the class Total were right. Leave both as they are."
_LENGTHS_MS = {"milliseconds": 1, "seconds": 1_000, "minutes": 60_000, "hours": 3_600_000, "days": DAY_MS}
_LENGTHS_MS |= {f"of_{unit}": size for unit, size in _LENGTHS_MS.items()} | {"of_millis": 1}


class _Hour:
    """Stands for the context of a window function, and for its window from 8 am."""

    start, end = 8 * 3_600_000, 9 * 3_600_000

    def window(self) -> _Hour:
        """Give the window."""
        return self


def _counts_as_before(found: Reading) -> bool:
    """Say whether the rows of an hour still come to the same total for each station."""
    branches = found.returned.branches() if hasattr(found.returned, "branches") else []
    calls = {call.method: call for branch in branches for call in branch.calls if _has_windows(branch)}
    if not {"key_by", "window", "process"} <= set(calls):
        return False
    key = found.piece(calls["key_by"].args[0])
    total = found.method(calls["process"].args[0], "process")
    rows = [("quay", 3, 28_800_000), ("quay", 4, 31_000_000)]
    return (
        key(("quay", 3, 0)) == "quay"
        and _window_ms(calls["window"].args[0]) == _Hour.end - _Hour.start
        and total("quay", _Hour(), rows) == ["8 am quay: 7 bikes"]
    )


def _has_windows(branch: Stream) -> bool:
    return any(call.method == "window" for call in branch.calls)


def _window_ms(made: object) -> int | None:
    """Give the size of tumbling windows, however their length is written; None for other windows."""
    if not isinstance(made, Made) or not made.callee.endswith("TumblingEventTimeWindows.of") or len(made.args) != 1:
        return None
    length = made.args[0]
    if not isinstance(length, Made):
        return length if isinstance(length, int) else None
    size = _LENGTHS_MS.get(length.callee.rpartition(".")[2])
    return size * length.args[0] if size and length.args and isinstance(length.args[0], int) else None


def _is_text(branch: Stream) -> bool:
    """Say whether a stream is declared to be text, as the totals are."""
    return any(each.callee == "Types.STRING" for each in _types(branch.calls[-1]))


def _made_up(given: object) -> str:
    """Say what is wrong with a time that a row without one gets."""
    if given is None:
        return "The row without a time still comes to the assigner, which gives None: the job still fails."
    if given == MIN_MS:
        return (
            "record_timestamp is what the source gave, and a list gives none: Long.MIN_VALUE. The window refuses it, "
            "and the job fails."
        )
    if isinstance(given, (int, float)) and abs(given - time.time() * 1000) < DAY_MS:
        return (
            "Now the row counts for the time of the machine, and may push the watermark so far ahead that all other "
            "rows are late."
        )
    if not isinstance(given, (int, float)):
        return f"The assigner gives {given!r} for it, and that is no time."
    return (
        f"The row without a time counts for {time_text(int(given))} now. Nobody knows when it was: it is in a wrong "
        "hour, or late."
    )


# ------------------------------------------------------------------------------------------------------------- task 5


def in_a_list() -> Task:
    """Task 5: how many rows are late in a list, and with a pause between the rows."""
    due = tuple(len(wmviz.simulate(job).outcomes().late) for job in (AS_A_LIST, PACED))
    trace = wmviz.simulate(PACED)
    behind = sum(event.event_time_ms <= trace.seen_watermarks[event.id] for event in PACED.events)
    disorder = sum(
        event.event_time_ms < max(e.event_time_ms for e in PACED.events[: i + 1])
        for i, event in enumerate(PACED.events)
    )

    def judge(answer: object) -> Verdict:
        if isinstance(answer, str):
            answer = answer.strip("() ").split(",")
        if not isinstance(answer, (list, tuple)) or len(answer) != 2:
            return not_yet("Give two numbers: (late in the list, late with the pauses).")
        at_once, paced = (read_number(each) for each in answer)
        if at_once != due[0]:
            return wrong(
                "The list: its rows are read in far less than 200 ms. Which watermark has come before the last of them?"
            )
        if paced == due[1]:
            return right(
                f"In the list the first watermark is the last, MAX. With the pauses {due[1]} rows come behind the "
                "firing of their window."
            )
        if paced == due[0]:
            return wrong("With the pauses there is a watermark after each row, so a row can come behind it.")
        whys = {
            behind: f"{behind} rows are behind the watermark. Late are only those whose window has fired.",
            disorder: f"{disorder} rows are out of order. The bound of 10 min takes some of them.",
        }
        return wrong(whys.get(paced, "With the pauses: write down the watermark after each row, and go through them."))

    return Task(
        "How many rows go to the side output, with the list as it is and with a pause of 1 s between its rows?",
        judge,
        (
            "A watermark comes every 200 ms of the machine's clock. How many come while the list is read?",
            "With the pauses the watermark after each row is the newest time − 10 min − 1 ms.",
            "Late is a row of 8 am that comes when the watermark has reached 8:59:59.999. Which row brings it there?",
        ),
    )


# ------------------------------------------------------------------------------------------------------------- task 6


def review() -> Task:
    """Task 6: find the faults of a program among its lettered lines."""
    broken, mended = (_lettered(part("review", mark)) for mark in "-+")
    faults = frozenset(letter for letter, line in broken.items() if mended[letter] != line)
    whys = {
        "A": "A: compare the field with the comment at ROWS. Which time is it?",
        "B": "B: what does an interval of 0 mean in the DataStream API? It is not what it means in SQL.",
        "I": "I: late rows are handed to the tag. Who reads them?",
        "C": "C is right: rows are up to a few minutes under way, and 10 min covers most of them.",
        "D": "D is right: with_idleness makes a new strategy, and here there is no assigner to lose yet.",
        "E": "E is right: the assigner comes last.",
        "F": "F is right: behind the source is where a Python assigner works.",
        "G": "G is right: a tag without a type has type information of its own.",
        "H": "H is right as far as it goes: it hands late rows to the tag.",
    }

    def judge(answer: object) -> Verdict:
        if isinstance(answer, str):
            answer = list(re.sub(r"\b(AND|LINES?)\b|[^A-Z]", "", answer.upper()))
        if isinstance(answer, (list, tuple, set, frozenset)):
            answer = [str(each).strip().upper() for each in answer]
            if unknown := sorted(set(answer) - set(broken)):
                raise AnswerError(f"There is no line {unknown[0]}; the letters go from A to {max(broken)}.")
        return judge_names(
            answer,
            faults,
            whys,
            "A wrong field, an interval that switches watermarks off, and late rows that nobody reads.",
        )

    return Task(
        "Which of the lettered lines are faults?",
        judge,
        (
            "Follow a row: which time does it get, when does a watermark come, and where does a late row go?",
            "There are three. One gives wrong hours, one stops all watermarks, one loses what comes late.",
        ),
    )


def _lettered(text: str) -> dict[str, str]:
    """Give the lines that end in a letter."""
    return {found[2]: found[1].strip() for found in re.finditer(r"^(.*)  # ([A-Z])$", text, re.MULTILINE)}


ITEMS: Mapping[str, Callable[[], Question | Task]] = {
    "seconds-taken": seconds_taken,
    "kept-assigner": kept_assigner,
    "own-type": own_type,
    "without-time": without_time,
    "in-a-list": in_a_list,
    "review": review,
}
