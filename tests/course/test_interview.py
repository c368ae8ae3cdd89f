"""The cards of an interview: every number is read off a run, and each card says where it comes from."""

import itertools
import re
from collections import Counter

import pytest

import wmviz
from wmviz import course
from wmviz.course.interview.card import LEVELS, InterviewCard
from wmviz.course.interview.deck import ALL, TOPICS, Deck, card
from wmviz.course.interview.readings import DEFAULTS, FIELD, READINGS, FieldError, Run, read, run_of
from wmviz.course.questions import LESSONS, CourseError

NAMES = {"ids": lambda card: card.name}
NUMBER_WORD = re.compile(r"\b(three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|hundred|thousand)\b")


def test_there_are_60_cards_of_three_levels_on_every_topic():
    assert len(ALL) == len({c.name for c in ALL}) == 60
    levels = Counter(c.level for c in ALL)
    assert set(levels) == set(LEVELS)
    assert min(levels.values()) >= 15
    for topic in TOPICS:
        assert len(course.interview_cards(topic=topic)) >= 3, topic
        assert len({c.level for c in course.interview_cards(topic=topic)}) >= 2, topic
    assert {c.lesson for c in ALL} == set(range(1, 18)) - {16}


@pytest.mark.parametrize("shown", ALL, **NAMES)
def test_a_card_names_its_scenario_and_lesson_and_is_whole(shown):
    assert shown.scenario in wmviz.catalogue.names()
    assert str(shown.lesson) in LESSONS
    assert f'lesson {shown.lesson} · wmviz.scenario("{shown.scenario}")' in repr(shown)
    assert 1 <= len(shown.more) <= 3
    assert shown.flags
    assert shown.question.endswith(("?", "."))
    assert FIELD.search(shown.say), "the answer has no number from its scenario"
    for text in (shown.question, shown.answer, *sum(shown.follow_ups, ()), *shown.red_flags):
        assert "{" not in text
        assert text[0].isupper() or re.match(r"r\d|[a-z]+[A-Z]", text), "a sentence, a runner or a metric begins it"
        assert text.endswith((".", "?"))


@pytest.mark.parametrize("shown", ALL, **NAMES)
def test_no_number_is_typed_by_hand(shown):
    for text in shown.templates():
        typed = FIELD.sub("", text)
        assert not re.search(r"\d", typed), typed
        assert not NUMBER_WORD.search(typed), typed


@pytest.mark.parametrize("shown", ALL, **NAMES)
def test_every_job_of_a_card_is_read(shown):
    fields = [field for text in shown.templates() for field in FIELD.findall(text)]
    jobs = {field.partition("|")[2].strip() for field in fields}
    assert jobs - {""} == set(shown.jobs)
    assert "" in jobs or any(not field.startswith("default") for field in fields)


def test_numbers_without_a_run_have_a_source_and_are_used():
    used = {name for c in ALL for text in c.templates() for name in re.findall(r"\{default ([^}|]+)\}", text)}
    assert used == set(DEFAULTS)
    assert all(len(default.source) > 10 for default in DEFAULTS.values())


def test_every_reading_is_used():
    fields = {f for c in ALL for text in c.templates() for f in FIELD.findall(text)}
    words = {word for field in fields for word in field.split()}
    assert set(READINGS) <= words


def job(name, **changes):
    run = run_of(wmviz.scenario(name).replace(**changes))
    return lambda _: run


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("leaderboard", "{met r4471@6:56}", "7:02:59.999"),
        ("leaderboard", "{fate r12@6:56}", "is on time"),
        ("leaderboard", "{fate r4471@6:56}", "is late but counted"),
        ("leaderboard", "{fate r7@6:56}", "goes to the side output"),
        ("sql-watermark", "{fate r4471@6:56}", "is dropped"),
        ("sliding-gaps", "{fate r4471@6:12}", "is in no window"),
        ("leaderboard", "{gone r4471@6:56}", "7:19:59.999"),
        ("leaderboard", "{result r4471@6:56 2}", "3,000 m"),
        ("leaderboard", "{cause r4471@6:30}", "7:02"),
        ("leaderboard", "{times r4471@6:56}, {times r9@8:02}", "fires twice, does not fire"),
        ("leaderboard", "{summed r4471@6:56}", "5,000 m"),
        ("price-feed", "{behind gold@10:00:47}, {delay gold@10:00:47}", "25 s, 33 s 500 ms"),
        ("half-hour-zone", "{hour r4471@2026-10-17 07:00}", "6:30 to 7:30"),
        ("workout-sessions", "{hour r4471@6:00}", "6:00 to 6:35"),
        ("spare-subtask", "{mark window}", "MIN"),
        ("quiet-partition", "{span mark window to at r4471@8:05}", "1 h 47 min 1 ms"),
        ("barrier-alignment", "{begun} {blocked source[1] → window} {complete}", "7:00:02.500 7:00:04 7:00:06"),
        ("unaligned-barriers", "{stored}", "3"),
        ("crash-and-replay", "{reloaded r4471@6:59} {again} {restart window}", "9,400 m 1 MIN"),
        ("transactional-sink", "{fired r9@6:40} {readable r9@6:40} {seen r9@6:40}", "7:02:05 7:02:17 once"),
        ("written-twice", "{shows r9@6:40}", "1,200 m and 1,200 m"),
        ("transaction-timeout", "{shows r9@6:40}", "nothing"),
    ],
)
def test_a_reading_says_what_the_run_shows(name, text, said):
    assert read(text, job(name)) == said


def test_the_numbers_follow_the_scenario():
    text = "{length bound}: {met r4471@6:56}, {fired r4471@6:30}"
    assert read(text, job("leaderboard")) == "2 min: 7:02:59.999, 7:03:10"
    assert read(text, job("leaderboard", bound="5 min")) == "5 min: 6:59:59.999, 7:05:20"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{luck r9@6:21}", "There is no reading 'luck'; there are again,"),
        ("{met r9@5:00}", "leaderboard has nothing to read for 'met r9@5:00'."),
        ("{result r9@6:21 7}", "leaderboard has nothing to read for 'result r9@6:21 7'."),
        ("{crashed}", "leaderboard has nothing to read for 'crashed'."),
        ("{length drift}", "leaderboard has no value for 'length drift'."),
        ("{default luck}", "leaderboard has nothing to read for 'default luck'."),
    ],
)
def test_a_field_that_cannot_be_read_is_a_sentence(text, sentence):
    with pytest.raises(FieldError) as caught:
        read(text, job("leaderboard"))
    assert str(caught.value).startswith(sentence)


# Cards of a level or topic -------------------------------------------------------------------------------------------


def test_cards_are_chosen_by_level_and_topic():
    assert len(course.interview_cards()) == len(ALL)
    assert {c.level for c in course.interview_cards("mid")} == {"mid"}
    assert {c.topic for c in course.interview_cards(topic="Late_Events")} == {"late events"}
    assert [c.name for c in course.interview_cards("junior", "exactly once")] == ["exactly-once-of-what"]
    assert repr(Deck(())) == "No cards."
    assert isinstance(course.interview_cards()[:2], Deck)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"level": "boss"}, "There is no level 'boss'; there are: junior, mid, senior."),
        ({"topic": "tea"}, "There is no topic 'tea'; there are: clocks, watermarks, "),
    ],
)
def test_an_unknown_level_or_topic_is_a_sentence(asked, sentence):
    with pytest.raises(CourseError) as caught:
        course.interview_cards(**asked)
    assert str(caught.value).startswith(sentence)


def test_a_card_can_be_read_as_text():
    text = repr(card("minus-one"))
    assert "That is 6:59:59.998." in text
    assert "Follow-up: Is it the same in SQL? No." in text
    assert "Red flag: Forgets the bound" in text


def test_the_answer_is_folded_away_in_html():
    html = card("minus-one").html()
    before, _, folded = html.partition("<details")
    assert "6:59:59.998" not in before
    assert "6:59:59.998" in folded


EVIL = InterviewCard(
    name="evil",
    level="mid",
    topic="<b>x</b>",
    lesson=1,
    scenario="leaderboard",
    ask="<script>a</script>?",
    say="<img src=x>{at r9@6:21}.",
    more=(("<i>q</i>?", "<i>a</i>."),),
    flags=("<u>f</u>.",),
)


def test_all_text_is_escaped():
    assert not re.search(r"<(script|img|b|i|u)\b", EVIL.html())
    assert "&lt;script&gt;" in EVIL.html()


def test_a_card_plays_its_scenario():
    stage = card("the-bet").play()
    assert isinstance(run_of(card("the-bet").job()), Run)
    assert stage.trace.scenario.name == "idle-bet"


@pytest.mark.flink
def test_flink_says_the_same_to_every_job_of_a_card_that_it_can_replay(flink):
    from wmviz.comparison import compare
    from wmviz.flink.limits import replayable

    jobs = {c.job(name): None for c in ALL for name in ("", *c.jobs)}
    asked = [s for s in jobs if replayable(s) and len(s.events) < 1_000]
    assert len(asked) >= 40
    comparisons = [compare(s, trace) for s, trace in zip(asked, flink.run_many(asked), strict=True)]
    assert [str(c) for c in comparisons if not c.same] == []


# What cards say about operators that our engine does not have --------------------------------------------------------

BEHIND = wmviz.scenario("sql-watermark").replace(
    strategy_at="after",
    bound="0 s",
    start="6:00",
    events=[
        ["r9", 100, "6:30", "6:30"],
        ["r9", 200, "7:30", "7:30"],
        ["r7", 300, "7:00", "7:31"],  # behind the watermark, and the first row of its key
        ["r9", 400, "7:29:30", "7:32"],  # behind the watermark, and near a row that the join has kept
        ["r9", 500, "8:30", "8:32"],
        ["r9", 600, "7:30:20", "8:33"],  # all that it could be paired with is deleted
    ],
)


@pytest.mark.flink
@pytest.mark.parametrize(
    ("frame", "refused"),
    [
        ("RANGE UNBOUNDED PRECEDING", {"r7@7:00", "r9@7:29:30", "r9@7:30:20"}),
        ("RANGE BETWEEN INTERVAL '2' HOUR PRECEDING AND CURRENT ROW", {"r9@7:29:30", "r9@7:30:20"}),
    ],
)
def test_over_refuses_all_behind_the_watermark_only_if_its_frame_goes_back_to_the_first_row(flink, frame, refused):
    sums = f"SELECT id, SUM(`value`) OVER (PARTITION BY key ORDER BY rowtime {frame}) AS total FROM events"
    assert {event.id for event in BEHIND.events} - set(flink.query(BEHIND, sums)["id"]) == refused


@pytest.mark.flink
def test_an_interval_join_of_sql_pairs_a_late_row_with_what_it_has_kept(flink):
    pairs = (
        "SELECT a.id AS a, b.id AS b FROM events a JOIN events b ON a.key = b.key "
        "AND a.rowtime BETWEEN b.rowtime - INTERVAL '1' MINUTE AND b.rowtime + INTERVAL '1' MINUTE"
    )

    def joined():
        return {tuple(row) for row in flink.query(BEHIND, pairs)[["a", "b"]].itertuples(index=False)}

    found = joined()
    assert ("r9@7:29:30", "r9@7:30") in found
    # Where Flink reads one input far ahead of the other, the clock of both is behind, and more rows are kept.
    runs = itertools.chain([found], (joined() for _ in range(9)))
    assert any(not any("r9@7:30:20" in pair for pair in run) for run in runs)


@pytest.mark.flink
def test_state_has_a_ttl_by_the_servers_clock_only(flink):
    from wmviz.flink import startup

    clocks = (
        startup.job().get_gateway().jvm.org.apache.flink.api.common.state.StateTtlConfig.TtlTimeCharacteristic.values()
    )
    assert [str(clock) for clock in clocks] == ["ProcessingTime"]


@pytest.mark.flink
def test_an_interval_join_has_a_side_output_for_late_events_and_a_window_join_has_a_lateness(flink):
    from wmviz.flink import startup

    java = startup.job().get_gateway().jvm.java.lang

    def methods(name):
        found = java.Class.forName(f"org.apache.flink.streaming.api.datastream.{name}").getMethods()
        return {method.getName() for method in found}

    interval = methods("KeyedStream$IntervalJoined")
    assert {"sideOutputLeftLateData", "sideOutputRightLateData"} <= interval
    assert "allowedLateness" not in interval
    windowed = methods("JoinedStreams$WithWindow")
    assert "allowedLateness" in windowed
    assert not [name for name in windowed if name.startswith("sideOutput")]
