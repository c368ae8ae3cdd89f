"""Sheet 14: right answers in any form, the message that each typical wrong one gets, and programs run on Flink."""

import ast
import subprocess
import sys

import pytest

import wmviz
from tests.course.sheets.answered import AnsweredTasks
from wmviz.course.answers import AnswerError
from wmviz.course.sheets import pyflink_traps as sheet
from wmviz.course.sheets.bikes import RECORDINGS, TRAPS, part, whole
from wmviz.course.sheets.pyflink_code import read
from wmviz.flink.traps_pyflink import run_program

KEPT, OWN, TIMES = (sheet.GIVEN[name] for name in ("kept-assigner", "own-type", "without-time"))
ASSIGNER = "    strategy = strategy.with_timestamp_assigner(TakenAt())\n"
IDLENESS = "    strategy = strategy.with_idleness(Duration.of_minutes(5))\n"
LOST = ASSIGNER + IDLENESS
BOUND = "    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(90))\n"
TUPLE = "Types.TUPLE([Types.STRING(), Types.LONG()])"
ASSIGNED = "rows.assign_timestamps_and_watermarks(strategy)"
RETURNED = "    return hours.process(Total(), Types.STRING())\n"


def swapped(text, *pairs):
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def kept(*lines):
    return swapped(KEPT, (LOST, "".join(lines)))


def tagged(type_text, before=""):
    return swapped(
        OWN,
        ('OutputTag("strange", RIDE)', f'OutputTag("strange"{type_text})'),
        ("RIDE = T", f"{before}RIDE = T"),
    )


def own_inner(tag_type):
    return swapped(
        tagged(f", {tag_type}"), (f"RIDE = {TUPLE}", "NAME = Types.STRING()\nRIDE = Types.TUPLE([NAME, Types.LONG()])")
    )


def divided(timed, untimed="lambda row: row[2] is None", mapped=True):
    beside = f"rows.filter({untimed})" + '.map(lambda row: f"no time: {row[0]} {row[1]}", Types.STRING())' * mapped
    return swapped(
        TIMES,
        (ASSIGNED, f"rows.filter({timed}).assign_timestamps_and_watermarks(strategy)\n    untimed = {beside}"),
        (RETURNED, RETURNED.replace("\n", ".union(untimed)\n")),
    )


HAS_TIME = "lambda row: row[2] is not None"
TIMED_AT = """\
def timed_at(row):
    return row[2] is not None


"""
BY_FUNCTION = swapped(
    divided("timed_at", "lambda row: not timed_at(row)"), ("class TakenAt", f"{TIMED_AT}class TakenAt")
)
DIVIDE = """\
UNTIMED = OutputTag("untimed")


class Divide(ProcessFunction):
    def process_element(self, row, context):
        if row[2] is None:
            yield UNTIMED, row
        else:
            yield row


"""
DIVIDED = """\
rows.process(Divide())
    untimed = taken.get_side_output(UNTIMED).map(lambda row: f"no time: {row[0]} {row[1]}", Types.STRING())
    taken = taken.assign_timestamps_and_watermarks(strategy)"""
BY_SIDE_OUTPUT = swapped(
    TIMES,
    ("class TakenAt", f"{DIVIDE}class TakenAt"),
    (ASSIGNED, DIVIDED),
    (RETURNED, "    totals = hours.process(Total(), Types.STRING())\n    return untimed.union(totals)\n"),
)


def assigner(returned):
    return swapped(TIMES, ("return row[2]", f"return {returned}"))


NUMBER = "14"

RIGHT = [
    ("review", "lines A, B and I"),
    ("without-time", swapped(divided(HAS_TIME), ("Time.hours(1)", "Time.minutes(60)"))),
    ("seconds-taken", 1_795_832_929),
    ("seconds-taken", "1,795,832,929"),
    ("seconds-taken", "1795832929 ms"),
    ("kept-assigner", kept(IDLENESS, ASSIGNER)),
    ("kept-assigner", kept(IDLENESS, "    strategy.with_timestamp_assigner(TakenAt())\n")),
    ("kept-assigner", kept(LOST, ASSIGNER)),
    (
        "kept-assigner",
        swapped(
            KEPT,
            (LOST, ""),
            (
                BOUND,
                BOUND.rstrip()
                + ".with_idleness(Duration.of_seconds(300)).with_timestamp_assigner(\n        TakenAt()\n    )\n",
            ),
        ),
    ),
    (
        "kept-assigner",
        swapped(
            KEPT, (LOST, IDLENESS), ("watermarks(strategy)", "watermarks(strategy.with_timestamp_assigner(TakenAt()))")
        ),
    ),
    ("own-type", part("own-type", "+")),
    ("own-type", tagged("")),
    ("own-type", tagged(", type_info=Types.TUPLE([Types.STRING(), Types.LONG()])")),
    ("own-type", tagged(", Types.PICKLED_BYTE_ARRAY()")),
    ("own-type", "import copy\n" + tagged(", copy.deepcopy(RIDE)")),
    ("own-type", tagged(", ride()", f"def ride():\n    return {TUPLE}\n\n\n")),
    ("own-type", swapped(OWN, ("ROWS, RIDE", f"ROWS, {TUPLE}"), ("Check(), RIDE", f"Check(), {TUPLE}"))),
    ("own-type", swapped(OWN, ("ROWS, RIDE", "ROWS"), ("Check(), RIDE", "Check()"))),
    ("without-time", part("without-time", "+")),
    ("without-time", divided(HAS_TIME)),
    ("without-time", divided("lambda r: not r[2] is None")),
    ("without-time", BY_FUNCTION),
    ("without-time", BY_SIDE_OUTPUT),
    ("in-a-list", (0, 2)),
    ("in-a-list", "0, 2"),
    ("in-a-list", [0, "2 rows"]),
    ("review", ["A", "B", "I"]),
    ("review", "A, B and I".replace("and ", "")),
    ("review", {"a", "b", "i"}),
]

WRONG = [
    ("without-time", swapped(divided(HAS_TIME), ('f"no time: {row[0]} {row[1]}"', '"no time"')), "not its station"),
    ("without-time", swapped(divided(HAS_TIME), ("Time.hours(1)", "Time.hours(2)")), "The totals are others"),
    ("without-time", swapped(divided(HAS_TIME), ("sum(row[1]", "sum(1")), "The totals are others"),
    ("kept-assigner", swapped(kept(IDLENESS, ASSIGNER), ("Time.hours(1)", "Time.hours(2)")), "The totals"),
    ("seconds-taken", 1_795_852_910_000, "nearly"),
    ("seconds-taken", 1_795_852_909, "The bound is a Duration"),
    ("seconds-taken", 1_795_832_930, "You left out the −1 ms"),
    ("seconds-taken", 1_795_832_869, "That is of the last row"),
    ("seconds-taken", 1_795_852_909_999, "watermark of the mended job"),
    ("kept-assigner", kept(IDLENESS), "no assigner at all"),
    ("kept-assigner", kept(ASSIGNER), "the idle timeout is gone"),
    (
        "kept-assigner",
        kept(ASSIGNER, "    strategy.with_idleness(Duration.of_minutes(5))\n"),
        "Take what with_idleness",
    ),
    (
        "kept-assigner",
        kept(IDLENESS, ASSIGNER, '    strategy = strategy.with_watermark_alignment("all", Duration.of_minutes(1))\n'),
        "with_watermark_alignment comes after it",
    ),
    (
        "kept-assigner",
        kept(ASSIGNER, IDLENESS.replace("of_minutes(5)", "of_seconds(300)")),
        "still lost: with_idleness",
    ),
    ("kept-assigner", kept(IDLENESS.replace("5", "1"), ASSIGNER), "The lengths were right"),
    (
        "kept-assigner",
        swapped(kept(IDLENESS, ASSIGNER), (".assign_timestamps_and_watermarks(strategy)", "")),
        "nothing gives the rows a time",
    ),
    (
        "kept-assigner",
        swapped(
            kept(IDLENESS, ASSIGNER),
            ("from_collection(ROWS)", 'from_source(SOURCE, strategy, "bikes")'),
            (".assign_timestamps_and_watermarks(strategy)", ""),
        ),
        "from_source hands on the Java part",
    ),
    (
        "kept-assigner",
        swapped(kept(IDLENESS, ASSIGNER), ("return row[2]", "return row[1]")),
        "The assigner gave the right",
    ),
    (
        "own-type",
        swapped(OWN, ("STRANGE = O", "TAGGED = RIDE\nSTRANGE = O"), ('"strange", RIDE', '"strange", TAGGED')),
        "under whatever name",
    ),
    ("own-type", "import copy\n" + tagged(", copy.copy(RIDE)"), "a type inside it"),
    ("own-type", own_inner("Types.TUPLE([NAME, Types.LONG()])"), "a type inside it"),
    ("own-type", swapped(OWN, ("Check(), RIDE", f"Check(), {TUPLE}")), "under whatever name"),
    ("own-type", tagged(", [Types.STRING(), Types.LONG()]"), "stands for a Row"),
    ("own-type", tagged(", Types.STRING()"), "not the type of these rows"),
    ("own-type", swapped(tagged(""), (".union(strange)", "")), "the side output is not read"),
    ("own-type", swapped(tagged(""), ("yield STRANGE, row", "yield row")), "no strange ride comes out"),
    ("own-type", swapped(tagged(""), ("24 * 60", "10")), "other rows come out"),
    (
        "own-type",
        swapped(
            OWN,
            ('STRANGE = OutputTag("strange", RIDE)\n', ""),
            ("yield STRANGE, row", "pass"),
            ("rides.get_side_output(STRANGE)", "rides"),
        ),
        "there is no tag",
    ),
    ("without-time", divided("lambda row: row[2]"), "0 is midnight"),
    ("without-time", assigner("row[2] or 0"), "counts for 0:00 now"),
    ("without-time", assigner("row[2] if row[2] is not None else record_timestamp"), "Long.MIN_VALUE"),
    ("without-time", assigner("row[2] if row[2] is not None else int(time.time() * 1000)"), "the time of the machine"),
    (
        "without-time",
        swapped(TIMES, (ASSIGNED, f"rows.filter({HAS_TIME}).assign_timestamps_and_watermarks(strategy)")),
        "gone without a word",
    ),
    ("without-time", swapped(TIMES, (ASSIGNED, f"{ASSIGNED}.filter({HAS_TIME})")), "the job still fails"),
    ("without-time", divided(HAS_TIME, mapped=False), "streams of one type only"),
    ("without-time", swapped(divided(HAS_TIME), (", Types.STRING())\n    h", ")\n    h")), "streams of one type only"),
    ("without-time", divided(HAS_TIME, "lambda row: True"), "they are counted already"),
    ("without-time", divided("lambda row: row[1] > 3"), "the job still fails"),
    (
        "without-time",
        swapped(divided(HAS_TIME), ("hours.process(Total(), Types.STRING()).union(untimed)", "untimed")),
        "no totals any more",
    ),
    ("in-a-list", (2, 2), "far less than 200 ms"),
    ("in-a-list", (0, 0), "With the pauses there is a watermark"),
    ("in-a-list", (0, 3), "Late are only those whose window has fired"),
    ("in-a-list", (0, 4), "The bound of 10 min takes some"),
    ("in-a-list", (0, 9), "write down the watermark"),
    ("review", ["A", "I"], "what does an interval of 0 mean"),
    ("review", ["B", "I"], "compare the field"),
    ("review", ["A", "B"], "Who reads them"),
    ("review", ["A", "B", "I", "E"], "the assigner comes last"),
    ("review", [], "compare the field"),
    ("review", "ABDI", "no assigner to lose yet"),
]

UNREAD = [
    ("kept-assigner", kept("    if True:\n    ", IDLENESS, ASSIGNER), "assignments and calls only"),
    ("seconds-taken", "soon"),
    ("kept-assigner", KEPT, "Nothing has changed"),
    ("kept-assigner", f"# a comment\n{KEPT}", "Nothing has changed"),
    ("kept-assigner", KEPT.replace("row[2]", "row[2"), "is no Python"),
    ("kept-assigner", 3, "as text"),
    ("kept-assigner", "x = 1", "no function build"),
    (
        "kept-assigner",
        kept("    for each in (1, 2):\n        pass\n", IDLENESS, ASSIGNER),
        "assignments and calls only",
    ),
    ("kept-assigner", kept(IDLENESS, "    strategy = strategy.with_assigner(TakenAt())\n"), "no method with_assigner"),
    ("own-type", OWN),
    ("without-time", TIMES),
    ("without-time", divided("lambda row: row[5] is None"), "lambda stops with IndexError"),
    ("without-time", divided(HAS_TIME, "missing"), "neither a lambda nor a function"),
    ("in-a-list", 3, "two numbers"),
    ("in-a-list", (0, ...)),
    ("review", ["Z"], "no line Z"),
    ("review", 3),
]


class TestAnswers(AnsweredTasks):
    """What is said to each answer."""


def test_what_the_predictions_go_by():
    assert sheet.SECONDS.bound_ms == 20_000
    assert wmviz.simulate(sheet.PACED).outcomes().late == {"quay@8:58", "quay@8:59:30"}
    assert not wmviz.simulate(sheet.AS_A_LIST).outcomes().late


def test_a_strategy_is_what_pyflink_makes_of_it():
    strategies = [strategy for _, strategy in read(kept(LOST, ASSIGNER)).timed]
    assert [(s.bound, s.idleness, s.assigner is None) for s in strategies] == [(90_000, 300_000, False)]
    ((_, lost),) = read(KEPT).timed
    assert (lost.assigner, lost.lost_by) == (None, "with_idleness")


def test_functions_that_call_each_other_without_end_are_refused():
    with pytest.raises(AnswerError, match="so many functions"):
        read("def again():\n    return again()\n\n\ndef build(env):\n    return again()\n")


@pytest.mark.parametrize("name", TRAPS)
def test_a_recorded_program_shows_its_fault(name):
    assert TRAPS[name].recorded.shown
    assert {path.stem for path in RECORDINGS.glob("*.json")} == set(TRAPS)


@pytest.mark.parametrize("mark", ["-", "+"])
@pytest.mark.parametrize("name", TRAPS)
def test_a_program_is_whole_and_formatted(name, mark):
    text = part(name, mark)
    ast.parse(whole(text, name))
    command = [sys.executable, "-m", "ruff", "format", "--line-length", "120", "-"]
    formatted = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=600).stdout
    assert formatted == text


@pytest.mark.flink
@pytest.mark.parametrize("name", TRAPS)
def test_flink_does_now_what_was_recorded(name):
    assert TRAPS[name].run() == TRAPS[name].recorded


REFUSED = ("Long.MIN_VALUE", "streams of one type only")
SHARED = ("under whatever name", "a type inside it", "stands for a Row")
PROGRAMS = [
    *((task, text, True) for task, text in RIGHT if task in ("kept-assigner", "own-type") or text == BY_SIDE_OUTPUT),
    *((task, text, False) for task, text, said in WRONG if task == "own-type" and said in SHARED),
    *((task, text, False) for task, text, said in WRONG if task == "kept-assigner" and "comes after it" in said),
    *((task, text, False) for task, text, said in WRONG if task == "without-time" and said in REFUSED),
]
"""What the check says of these rests on rules of PyFlink."""


@pytest.mark.flink
@pytest.mark.parametrize(("task", "text", "is_right"), PROGRAMS, ids=[f"{t}-{i}" for i, (t, *_) in enumerate(PROGRAMS)])
def test_flink_says_the_same_of_a_program(task, text, is_right):
    lines = run_program(whole(text, task)).lines
    assert (sorted(lines) == sorted(TRAPS[task].recorded.mended.lines)) == is_right
