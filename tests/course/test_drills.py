"""Drills: every one can be solved, guessing does not pay, the levels differ, and what was missed comes back."""

from collections import Counter

import numpy as np
import pytest

from wmviz import course
from wmviz.course import memory
from wmviz.course.drills.exercise import drawn
from wmviz.course.drills.practice import MASTERED, TOPICS
from wmviz.course.questions import CourseError
from wmviz.times import MAX_MS, MIN_MS, time_text

SEEDS = 1000
LEVELS = 3
MINUTE_MS = 60_000


def of_level(name, level, count=SEEDS // LEVELS):
    return [drawn(TOPICS[name], level, seed) for seed in range(count)]


@pytest.fixture(scope="module", params=[(name, level) for name in TOPICS for level in range(1, LEVELS + 1)], ids=str)
def many(request):
    """Hold the tasks of one level of a topic; together the levels of a topic have 1,000 seeds."""
    return (*request.param, of_level(*request.param, SEEDS // LEVELS + 1))


def test_each_task_has_one_right_answer_and_says_why_for_every_other(many):
    _, _, tasks = many
    for exercise, question in tasks:
        assert [c.value for c in question.choices].count(exercise.answer) == 1
        assert 3 <= len(question.choices) <= 5
        assert len({c.text for c in question.choices}) == len(question.choices)
        assert all(len(c.why) > 15 and c.why.endswith(".") for c in question.choices)
        assert all(bool(exercise.thought(c.value)) == (c.value != exercise.answer) for c in question.choices)


def test_no_answer_and_no_letter_is_worth_guessing(many):
    _, _, tasks = many
    answers = Counter(exercise.answer for exercise, _ in tasks)
    assert answers.most_common(1)[0][1] <= len(tasks) / 2
    letters = Counter([c.value for c in q.choices].index(e.answer) for e, q in tasks)
    assert letters.most_common(1)[0][1] <= len(tasks) / 2


def test_the_right_number_has_no_fixed_place_among_the_others(many):
    _, _, tasks = many
    numbers = [(e.answer, sorted(c.value for c in q.choices)) for e, q in tasks if isinstance(e.answer, int)]
    ranks = Counter(values.index(answer) for answer, values in numbers)
    assert not ranks or ranks.most_common(1)[0][1] <= len(tasks) * 2 / 3


def test_what_is_shown_before_the_answer_does_not_tell_it(many):
    name, level, tasks = many
    for seed in range(20):
        shown = repr(course.drill(name, level, seed))
        exercise, question = tasks[seed]
        assert question.solution.why not in shown
        assert exercise.text in shown
        before_choices = shown.split(exercise.text)[0]
        if exercise.written == "time":  # an event may have the very time of the watermark, but no sentence says so
            assert time_text(exercise.answer) not in exercise.settings
        assert "watermark is" not in before_choices


def test_only_a_source_with_offsets_is_said_to_go_back():
    for exercise, question in of_level("crash", 1, 90):
        says = " ".join(choice.why for choice in question.choices)
        assert "offsets go back" not in says or exercise.scenario.replay == "offsets"


def test_who_takes_the_last_event_for_the_newest_is_told_so_where_they_differ():
    for exercise, question in of_level("alignment", 1, 90):
        s = exercise.scenario
        told = {choice.value for choice in question.choices if "last event" in choice.why}
        newest = [max(e.event_time_ms for e in s.events if e.partition == p) for p in range(s.partition_count)]
        assert not told & {min(newest) + s.alignment.drift_ms}


def test_after_the_source_no_partition_is_said_to_count():
    for exercise, question in of_level("many inputs", 3, 90):
        if exercise.scenario.strategy_at == "after":
            assert not any("bound is missing, and" in choice.why for choice in question.choices)


def test_an_event_lies_in_a_window_or_in_a_gap():
    for exercise, question in of_level("other windows", 2, 90):
        if "gaps" in question.solution.why:
            assert ("but the event lies in a window" in question.solution.why) is bool(exercise.answer)


def test_the_answer_of_the_engine_is_the_one_by_hand_for_watermarks():
    for level in (1, 2, 3):
        for exercise, _ in of_level("watermarks", level, 120):
            s = exercise.scenario
            times = [e.event_time_ms for e in s.events]
            if s.emission == "interval":
                at_ms = s.events[-1].arrival_time_ms
                ticks = (at_ms - 1 - s.start_ms) // s.interval_ms  # an arrival comes before a tick of the same moment
                due_ms = s.start_ms + ticks * s.interval_ms
                times = [e.event_time_ms for e in s.events if e.arrival_time_ms <= due_ms and ticks]
            by_hand = max(times) - s.bound_ms - (s.api != "sql") if times else MIN_MS
            assert exercise.answer == by_hand


def test_the_answer_of_the_engine_is_the_one_by_hand_for_many_inputs():
    for level in (1, 2, 3):
        for exercise, _ in of_level("many inputs", level, 120):
            s = exercise.scenario
            newest = {p: [e.event_time_ms for e in s.events if e.partition == p] for p in range(s.partition_count)}
            if s.strategy_at == "after":
                newest = {0: [e.event_time_ms for e in s.events]}
            if s.subtasks > s.partition_count or not all(newest.values()):
                by_hand = MIN_MS
            else:
                by_hand = min(max(times) for times in newest.values()) - s.bound_ms - 1
            if "holder" in exercise.text or exercise.text.startswith("All these have arrived. Which"):
                assert max(newest[exercise.answer]) - s.bound_ms - 1 == by_hand
            else:
                assert exercise.answer == by_hand


def test_the_answer_of_the_engine_is_the_one_by_hand_for_late_events():
    for level in (1, 2):
        for exercise, _ in of_level("late events", level, 150):
            s = exercise.scenario
            *before, last = s.events
            watermark = max(e.event_time_ms for e in before) - s.bound_ms - 1
            end = last.event_time_ms - last.event_time_ms % s.window.size_ms + s.window.size_ms
            too_late = "side" if s.late_to == "side" else "dropped"
            by_hand = (
                "on time" if watermark < end - 1 else "counted" if watermark < end - 1 + s.lateness_ms else too_late
            )
            assert exercise.answer == by_hand


def test_the_answer_of_the_engine_is_the_one_by_hand_for_firings():
    for level in (1, 2):
        for exercise, _ in of_level("firing", level, 150):
            s = exercise.scenario
            size_ms = s.window.size_ms
            end = s.events[0].event_time_ms // size_ms * size_ms + size_ms
            due = [e.id for e in s.events if e.event_time_ms - s.bound_ms - 1 >= end - 1]
            assert exercise.answer == (due[0] if due else "none")


def test_the_answer_of_the_engine_is_the_one_by_hand_for_alignment():
    for level in (1, 2, 3):
        for exercise, _ in of_level("alignment", level, 120):
            s = exercise.scenario
            newest = [max(e.event_time_ms for e in s.events if e.partition == p) for p in range(s.partition_count)]
            last = [max(e.arrival_time_ms for e in s.events if e.partition == p) for p in range(s.partition_count)]
            asked_ms = s.start_ms + 7_000
            counts = [
                ms for ms, at_ms in zip(newest, last, strict=True) if asked_ms - at_ms < (s.idle_timeout_ms or MAX_MS)
            ]
            limit_ms = min(counts) - s.bound_ms - 1 + s.alignment.drift_ms
            if level == 1:
                assert exercise.answer == limit_ms
            elif s.strategy_at == "after":
                assert exercise.answer == ()
            else:
                assert exercise.answer == tuple(p for p, ms in enumerate(newest) if ms - s.bound_ms - 1 > limit_ms)


def test_the_answer_of_the_engine_is_the_one_by_hand_for_sql_and_datastream():
    for exercise, _ in of_level("sql and datastream", 1, 120):
        s = exercise.scenario
        assert exercise.answer == max(e.event_time_ms for e in s.events) - s.bound_ms - (s.api != "sql")
    for exercise, _ in of_level("sql and datastream", 2, 120):
        s = exercise.scenario
        sql_ms = s.events[-1].event_time_ms - s.bound_ms
        size_ms = s.window.size_ms
        last_ms = s.events[0].event_time_ms // size_ms * size_ms + size_ms - 1
        due = {"sql": sql_ms >= last_ms, "datastream": sql_ms - 1 >= last_ms}
        assert exercise.answer == ("both" if all(due.values()) else "sql" if due["sql"] else "neither")


def test_the_answer_of_the_engine_is_the_one_by_hand_for_sinks():
    for exercise, _ in of_level("sinks", 2, 120):
        s = exercise.scenario
        fires_ms, barrier_ms = s.events[1].arrival_time_ms, s.start_ms + 180_000
        heard_ms = s.checkpoints.notice_ms
        if "read_uncommitted" in exercise.settings:
            by_hand = fires_ms
        elif not s.happenings:
            by_hand = barrier_ms + heard_ms
        else:
            (crash,) = s.happenings
            back_ms = crash.at_ms + crash.down_ms
            by_hand = back_ms + (heard_ms if crash.at_ms < barrier_ms else 0)
        assert exercise.answer == by_hand
    for exercise, _ in of_level("sinks", 3, 120):
        s = exercise.scenario
        first, total = s.events[0].value, s.events[0].value + s.events[2].value
        (crash,) = s.happenings
        twice = first if crash.at_ms < s.start_ms + 180_000 else total
        if s.sink == "upsert":
            by_hand = [total]
        elif s.sink == "transactional" and "committed results only" in exercise.settings:
            by_hand = [total] if crash.down_ms > 120_000 else [first, total]
        else:
            by_hand = sorted([first, total, twice])
        assert exercise.answer == tuple(by_hand)


def whole(ms):
    return ms % 1000 == 0


DIFFER = {
    "watermarks": (
        lambda s: all(whole(e.event_time_ms) for e in s.events) and s.api != "sql",
        lambda s: s.api != "sql" and s.emission == "event",
        lambda s: s.api == "sql" or s.emission == "interval",
    ),
    "firing": (
        lambda s: all(whole(e.event_time_ms) for e in s.events) and not s.lateness_ms,
        lambda s: not all(whole(e.event_time_ms) for e in s.events) and not s.lateness_ms,
        lambda s: s.lateness_ms > 0,
    ),
    "late events": (
        lambda s: all(whole(e.event_time_ms) for e in s.events) and s.window.type == "tumbling",
        lambda s: s.window.type == "tumbling",
        lambda s: s.window.type == "sliding",
    ),
    "many inputs": (
        lambda s: s.subtasks == 1 and s.partition_count == len({e.partition for e in s.events}),
        lambda s: s.subtasks == 1 and s.strategy_at == "source",
        lambda s: s.subtasks > 1 or s.strategy_at == "after",
    ),
    "idle inputs": (
        lambda s: len(s.events) == 3,
        lambda s: len(s.events) == 4,
        lambda s: len(s.events) == 5,
    ),
    "alignment": (
        lambda s: all(e.event_time_ms % MINUTE_MS == 0 for e in s.events) and s.strategy_at == "source",
        lambda s: len(s.events) == 6 and s.strategy_at == "source" and not s.idle_timeout_ms,
        lambda s: len(s.events) == 10 or s.strategy_at == "after",
    ),
    "other windows": tuple((lambda s, kind=kind: s.window.type == kind) for kind in ("tumbling", "sliding", "session")),
    "crash": (
        lambda s: s.sink == "upsert" and not s.lateness_ms and len(s.events) == 4,
        lambda s: len(s.events) == 2,
        lambda s: s.lateness_ms > 0,
    ),
    "sinks": (
        lambda s: s.sink == "transactional" and s.checkpoints.notice_ms >= 8_000 and not s.lateness_ms,
        lambda s: s.sink == "transactional" and s.checkpoints.notice_ms < 8_000 and not s.lateness_ms,
        lambda s: s.lateness_ms > 0,
    ),
    "sql and datastream": (
        lambda s: all(whole(e.event_time_ms) for e in s.events) and len(s.events) == 4,
        lambda s: len(s.events) == 5 and not s.lateness_ms,
        lambda s: len(s.events) == 4,
    ),
}


def test_levels_really_differ(many):
    name, level, tasks = many
    assert all(DIFFER[name][level - 1](exercise.scenario) for exercise, _ in tasks)


def test_the_second_level_of_late_events_is_at_the_boundary_and_the_first_is_not():
    def gaps(level):
        for exercise, _ in of_level("late events", level, 100):
            s = exercise.scenario
            *before, last = s.events
            watermark = max(e.event_time_ms for e in before) - s.bound_ms - 1
            end = last.event_time_ms - last.event_time_ms % s.window.size_ms + s.window.size_ms
            yield min(abs(watermark - (end - 1)), abs(watermark - (end - 1 + s.lateness_ms)))

    assert sum(gap <= 1 for gap in gaps(2)) > 60
    assert sum(gap <= 1 for gap in gaps(1)) < 15


def test_the_same_seed_gives_the_same_task():
    for name in TOPICS:
        one, two = course.drill(name, 2, 11), course.drill(name, 2, 11)
        assert repr(one) == repr(two)
        assert one.scenario == two.scenario
        assert repr(course.drill(name, 2, 12)) != repr(one)


def right_letter(task):
    return task.question.letters[[c.value for c in task.question.choices].index(task.question.answer)]


def test_an_answer_may_be_a_letter_a_text_or_a_value():
    task = course.drill("watermarks", 1, 3)
    ms = task.question.answer
    for answer in (right_letter(task), right_letter(task).upper(), ms, time_text(ms)):
        assert task.check(answer).right
    count = course.drill("firing", 3, 3)
    assert count.check(count.question.answer).right
    assert count.check(count.question.solution.text).right


def test_what_cannot_be_read_is_not_yet_wrong():
    assert course.drill("watermarks", 1, 3).check("soon").state == "not yet"
    assert course.drill("watermarks", 1, 3).check(...).state == "not yet"
    assert course.drill("late events", 1, 3).check("perhaps").state == "not yet"
    assert course.drill("watermarks", 1, 3).check("3:00").state == "wrong"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (("lateness",), "There is no drill 'lateness'; there are: watermarks"),
        (("crash", 4), "crash has levels 1 to 3, not 4."),
        (("crash", True), "crash has levels 1 to 3, not True."),
        (("crash", 1.0), "crash has levels 1 to 3, not 1.0."),
        (("crash", 1, "x"), "seed is a whole number, such as 7, not 'x'."),
    ],
)
def test_a_wrong_call_gets_a_sentence(call, sentence):
    with pytest.raises(CourseError) as caught:
        course.drill(*call)
    assert str(caught.value).startswith(sentence)


def test_numbers_of_numpy_are_whole_numbers():
    first, second = course.drill("firing", 2, 7), course.drill("firing", np.int64(2), np.int64(7))
    assert repr(first) == repr(second)


def test_no_reason_tells_of_a_crash_that_the_task_does_not_have(many):
    _, _, tasks = many
    for exercise, question in tasks:
        given = (exercise.settings + exercise.text).lower()
        if "crash" not in given:
            assert not any("crash" in choice.why for choice in question.choices), given


def test_no_reason_tells_of_an_event_at_the_end_where_none_is():
    for exercise, question in of_level("other windows", 1, 200):
        window = exercise.scenario.window
        at_begin = (exercise.scenario.events[-1].event_time_ms - window.offset_ms) % window.size_ms == 0
        said = any("an event at the end belongs" in choice.why for choice in question.choices)
        assert not said or at_begin


def test_names_may_be_written_with_other_signs():
    assert course.drill("Late_Events", 1, 1).topic.name == "late events"


def test_without_a_seed_each_call_goes_on_where_the_reader_is():
    first = course.drill("watermarks")
    assert course.drill("watermarks").seed == first.seed
    first.check(right_letter(first))
    assert course.drill("watermarks").seed == first.seed + 1
    assert course.drill("firing").seed == 0


def test_what_was_missed_comes_back_until_it_is_resisted_twice():
    task = course.drill("many inputs", 2)
    wrong = next(c for c in task.question.choices if c.value != task.question.answer)
    thought = task.exercise.thought(wrong.value)
    task.check(task.question.letters[task.question.choices.index(wrong)])
    assert thought in memory.load()["drill.many inputs"]["missed"]
    tempted = 0
    for _ in range(30):
        task = course.drill("many inputs", 2)
        tempted += thought in {task.exercise.thought(c.value) for c in task.question.choices}
        task.check(right_letter(task))
        if not memory.load()["drill.many inputs"]["missed"]:
            break
    assert tempted == 2
    assert not memory.load()["drill.many inputs"]["missed"]


def test_a_drill_is_done_after_some_right_answers_in_a_row():
    for count in range(1, MASTERED + 1):
        task = course.drill("firing")
        task.check(right_letter(task))
        assert ("drill.firing" in course.progress().done) == (count == MASTERED)


def test_a_damaged_memory_spoils_no_drill(data_folder):
    data_folder.mkdir(parents=True)
    broken = '{"answers": {"drill.crash": {"missed": {"x": 3, "y": {"due": 1}}}}}'
    (data_folder / memory.FILE).write_text(broken, encoding="utf-8")
    task = course.drill("crash")
    assert task.check(right_letter(task)).right


def test_in_a_notebook_there_are_buttons_the_stage_and_another_one():
    task = course.drill("late events", 2, 5)
    box = task._card().widget()
    given, asked, buttons, below = box.children
    assert "arrives" in given.value
    stage, another = buttons.children
    stage.click()
    assert len(below.children) == 1
    choice = next(b for b in asked.children[1:-1] if b.letter == right_letter(task))
    choice.click()
    assert "Right." in asked.children[-1].value
    another.click()
    assert box.children[0].value != given.value


def test_the_list_names_each_drill_and_its_lesson():
    listed = repr(course.drills())
    assert all(f'"{name}"' in listed for name in TOPICS)
