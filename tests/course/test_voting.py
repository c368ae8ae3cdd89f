"""A vote of a room: what is counted, what is told and when, and how it looks in a notebook."""

import re
from pathlib import Path

import nbformat
import pytest

import wmviz
from wmviz import course
from wmviz.course import voting
from wmviz.course.lessons import idle_inputs
from wmviz.course.questions import Choice, CourseError, Question, find
from wmviz.course.voting import PLAYS, Ballot, Vote
from wmviz.course.voting_widget import GO_ON, REVEAL
from wmviz.fields import ScenarioError
from wmviz.times import time_ms, time_text
from wmviz.trace import Kind

ROOT = Path(__file__).resolve().parent.parent.parent
LEADERBOARD = wmviz.scenario("leaderboard")
HOSTILE = '</script><img src=x onerror="window.hacked=1">'


@pytest.fixture(autouse=True)
def new_session():
    voting._session.clear()
    yield
    voting._session.clear()


def test_hands_are_counted_and_the_truth_comes_from_the_engine():
    vote = course.vote("7.bet").hands(1, 2, 3, 9)
    assert vote.question.solution.value == idle_inputs.bet().answer
    assert vote.right_hands == 9
    told = vote.reveal().text.splitlines()
    assert told[0].startswith("d) All three are too late: ")
    assert told[1] == "9 of 15 hands had it."
    assert told[2].startswith("c) 6:02 is too late, but it wakes the input up; 6:03 and 6:04 count: Awake or not")


def test_nothing_is_told_before_it_is_revealed():
    vote = course.vote("7.bet").hands(1, 2, 3, 9)
    for choice in vote.question.choices:
        assert choice.why not in repr(vote) + vote.html()
    assert "✓" not in vote.html()
    vote.reveal()
    assert "✓ d)" in vote.html()
    assert "While the input was idle" in repr(vote)


def test_the_bars_are_shares_of_all_hands():
    vote = course.vote("7.bet").hands(1, 0, 0, 3)
    assert re.findall(r"width:(\d+)%", vote.html()) == ["25", "0", "0", "75"]
    assert "3 of 4, 75 %" in vote.html()


def test_the_tally_adds_up_and_counts_a_question_once():
    assert repr(course.tally()) == "No vote so far."
    course.vote("7.bet").hands(1, 2, 3, 9).reveal()
    course.vote("3.first-firing").hands(0, 0, 4, 0, 1).reveal()
    assert course.tally().line == "so far 2 votes, 13 of 20 hands right"
    course.vote("7.bet").hands(0, 0, 0, 5).reveal()
    assert course.tally().line == "so far 2 votes, 9 of 10 hands right"
    assert "  4 of   5  The 6 am window ends at 7:00" in repr(course.tally())
    assert "9 of 10 hands right" in course.vote("7.bet").head


def test_a_vote_without_hands_is_no_vote():
    vote = course.vote("7.bet")
    assert len(vote.reveal().text.splitlines()) == 1
    assert course.tally().counted == ()


@pytest.mark.parametrize("name", ["leaderboard", "idle-bet", "written-twice", "sliding-gaps", "sql-watermark"])
def test_the_questions_of_a_scenario_have_the_answers_of_its_trace(name):
    scenario = wmviz.scenario(name)
    trace = wmviz.simulate(scenario)
    ballots = course.vote(scenario).ballots
    assert len({ballot.name for ballot in ballots}) == len(ballots) > 1
    for ballot in ballots:
        before, last = ballot.steps
        solution = ballot.question.solution
        if "watermark" in ballot.question.text:
            assert time_ms(solution.text) == trace.value_at(("clock", trace.window_clock), last)
        elif "What becomes of" in ballot.question.text:
            rows = [row for row in range(len(trace)) if before < trace.step[row] <= last]
            refused = {trace.kind[row] for row in rows} & {Kind.DROPPED, Kind.LATE, Kind.NO_WINDOW}
            assert (solution.text in ("on time", "late but counted")) == (not refused)
        else:
            rows = [row for row in range(len(trace)) if before < trace.step[row] <= last]
            assert (Kind.FIRED in {trace.kind[row] for row in rows}) == (not solution.text.startswith("no"))
        assert sum(choice.value == ballot.question.answer for choice in ballot.question.choices) == 1
        assert len({choice.text for choice in ballot.question.choices}) == len(ballot.question.choices) > 1


def test_the_kinds_can_be_chosen():
    assert all("What becomes of" in b.question.text for b in course.vote(LEADERBOARD, kinds="late").ballots)


def test_a_wrong_time_says_which_thought_leads_there():
    vote = course.vote(LEADERBOARD).hands(0, 7, 1)
    assert vote.question.choices[1].text == "6:19"
    assert vote.reveal().text.endswith("b) 6:19: That forgets the 1 ms.")


def test_what_a_scenario_says_about_itself_is_not_on_the_stage():
    quiet = wmviz.scenario("quiet-partition")
    assert "no window fires" in quiet.title
    shown = {(ballot.scenario.about, ballot.scenario.title) for ballot in course.vote(quiet).ballots}
    assert shown == {("", voting.HEADING)}
    assert {course.vote(item).ballot.scenario.about for item in PLAYS} == {""}
    assert course.vote("7.bet", plays=quiet).ballot.scenario == quiet


def test_the_stage_stops_where_the_next_question_begins():
    """Whether r4471's kilometre of 6:56 counts is asked after the first firing: the vote must not play it."""
    ballot = course.vote("3.first-firing").ballot
    trace = wmviz.simulate(ballot.scenario)
    last = ballot.last_step(trace)
    fired = [record.step for record in trace if record.kind == Kind.FIRED]
    shown = [record.at_ms for record in trace if record.step <= last]
    assert fired[0] <= last < fired[-1]
    assert time_text(shown[-1]) == "7:03:10"
    assert course.vote("7.bet").ballot.last_step(trace) == trace.steps - 1


def test_it_goes_on_to_the_end():
    vote = course.vote(LEADERBOARD)
    for _ in vote.ballots[1:]:
        vote.hands(*[1] * len(vote.counts)).reveal()
        vote.go_on()
        assert (vote.revealed, sum(vote.counts)) == (False, 0)
    with pytest.raises(CourseError, match="This was the last question"):
        vote.go_on()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: course.vote("7.bed"), "The course asks nothing called '7.bed'; did you mean \"7.bet\"?"),
        (lambda: course.vote("7.stuck"), '"7.stuck" has no choices to vote on; solve it together'),
        (lambda: course.vote(7), 'vote takes the name of a question, such as "7.bet", or a scenario, not 7.'),
        (lambda: course.vote("7.bet").hands(1), "There are 4 choices; write as many numbers of hands, not 1."),
        (lambda: course.vote("7.bet").hands(1, -1, 0, 0), "Hands are a whole number from 0 to 999, not -1."),
        (lambda: course.vote("7.bet").hands(1, True, 0, 0), "Hands are a whole number from 0 to 999, not True."),
        (lambda: course.vote("7.bet").hands(1, 2.5, 0, 0), "Hands are a whole number from 0 to 999, not 2.5."),
    ],
)
def test_what_cannot_be_voted_on_is_a_sentence(call, sentence):
    with pytest.raises(CourseError, match=re.escape(sentence)):
        call()


def test_hands_after_the_truth_are_refused():
    vote = course.vote("7.bet")
    vote.reveal()
    with pytest.raises(CourseError, match="come too late"):
        vote.hands(0, 0, 0, 1)


def test_a_scenario_without_a_moment_is_a_sentence():
    with pytest.raises(ScenarioError, match="has no moment to ask about"):
        course.vote(wmviz.scenario("spare-subtask"))


def test_each_question_of_a_lesson_plays_the_scenario_that_its_lesson_plays():
    """Where the stage behind a question shows a scenario of the catalogue as it is, the vote knows it."""
    found = {}
    for path in sorted((ROOT / "notebooks").glob("[01]*.ipynb")):
        names, asked, since = {}, None, 0
        for cell in nbformat.read(path, as_version=4).cells:
            since += 1
            if cell.cell_type != "code":
                continue
            names |= dict(re.findall(r"^(\w+) = wmviz\.scenario\(\"([\w-]+)\"\)$", cell.source, re.MULTILINE))
            if predicted := re.search(r"course\.predict\(\"([\w.-]+)\"\)", cell.source):
                asked, since = predicted[1], 0
            played = re.search(r"^wmviz\.play\((?:wmviz\.scenario\(\"([\w-]+)\"\)|(\w+))\)$", cell.source, re.MULTILINE)
            if played and asked and since <= 2:
                name = played[1] or names.get(played[2])
                found |= {asked: name} if name else {}
                asked = None
    assert found == PLAYS
    assert all(isinstance(find(item), Question) for item in PLAYS)


# In a notebook -------------------------------------------------------------------------------------------------------


def parts(vote):
    """Give the widgets of a vote: its rows, its buttons, and the box itself."""
    box = vote._widget()
    rows = [child for child in box.children if type(child).__name__ == "HBox" and len(child.children) == 2]
    rows = [row for row in rows if type(row.children[0]).__name__ == "HBox"]
    found = [b for child in box.children if type(child).__name__ == "HBox" for b in child.children]
    buttons = {b.description: b for b in found if type(b).__name__ == "Button"}
    return rows, buttons, box


def test_plus_minus_and_the_number_count():
    vote = course.vote("7.bet")
    rows, _, _ = parts(vote)
    less, number, more = rows[1].children[0].children
    for _ in range(3):
        more.click()
    less.click()
    rows[3].children[0].children[1].value = 12
    assert vote.counts == [0, 2, 0, 12]
    assert number.value == 2
    assert "2 of 14, 14 %" in rows[1].children[1].value
    for _ in range(5):
        less.click()
    assert vote.counts == [0, 0, 0, 12]


def test_the_truth_stops_the_counters_and_plays_the_stage():
    vote = course.vote("7.bet")
    rows, buttons, box = parts(vote)
    before = len(box.children)
    buttons[REVEAL].click()
    assert all(part.disabled for part in rows[0].children[0].children)
    stage = box.children[-1]
    played = wmviz.scenario("idle-bet").replace(about="")
    assert (len(box.children), stage.scenario, stage.playing) == (before + 1, played, True)
    assert "✓ d)" in rows[3].children[1].value
    assert GO_ON not in buttons


def test_the_stage_waits_before_each_moment_and_stops_behind_it():
    vote = course.vote(LEADERBOARD)
    _, buttons, box = parts(vote)
    stage = box.children[-1]
    before, last = vote.ballot.steps
    assert (stage.step, stage.playing, stage.editable) == (before, False, False)
    buttons[REVEAL].click()
    assert stage.playing
    stage.step = last + 3  # the browser reports a little later than it plays
    assert (stage.step, stage.playing) == (last, False)
    buttons[GO_ON].click()
    assert box.children[-1] is stage
    assert stage.step == vote.ballots[1].steps[0]
    assert buttons[GO_ON].disabled
    stage.step = 0  # a stage in the hands of the leader moves freely
    assert stage.step == 0


def test_whoever_goes_on_while_the_stage_plays_is_not_thrown_back():
    vote = course.vote(LEADERBOARD)
    _, buttons, box = parts(vote)
    stage = box.children[-1]
    buttons[REVEAL].click()
    buttons[GO_ON].click()
    assert (stage.step, stage.playing) == (vote.ballots[1].steps[0], False)
    stage.step = 2
    assert stage.step == 2


def test_text_of_users_is_escaped():
    question = Question(HOSTILE, (Choice(1, HOSTILE, HOSTILE), Choice(2, "two", HOSTILE)), 1)
    vote = Vote((Ballot(HOSTILE, question),)).hands(1, 2)
    rows, buttons, box = parts(vote)
    buttons[REVEAL].click()
    shown = [vote.html(), box.children[0].value, *(row.children[1].value for row in rows), course.tally()._repr_html_()]
    assert not [text for text in shown if "<img" in text or "</script" in text]
    assert all("&lt;img" in text for text in (vote.html(), course.tally()._repr_html_()))


def test_a_still_notebook_has_the_question_and_no_widget(monkeypatch):
    monkeypatch.setenv("WMVIZ_STAGE", "still")
    course.vote("7.bet").hands(0, 0, 0, 1).reveal()
    bundle = course.vote("7.bet")._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "so far" not in bundle["text/plain"]
    monkeypatch.delenv("WMVIZ_STAGE")
    assert any("widget" in mime for mime in course.vote("7.bet")._repr_mimebundle_())
