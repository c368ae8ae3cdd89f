"""Lesson 16: 30 claims, each with cases, a verdict that is counted, and questions whose answers are computed."""

import re

import pytest

import wmviz
from tests.notebooks.prose import TIME
from tests.sums import check_sums
from wmviz import course
from wmviz.course.claims import CLAIMS, THEMES, Case, Claim, Trial, on_our_engine, tried, verdict_of
from wmviz.course.claims.court import job, lost
from wmviz.course.claims.showing import ballot, table, verdicts
from wmviz.course.questions import CourseError, find
from wmviz.flink import checks

# What each claim is worth: its verdict, known from Flink's sources and documentation, not from a run here.
KNOWN = {
    **dict.fromkeys([1, 3, 4, 6, 9, 10, 11, 12, 15, 18, 22, 24, 25, 26, 27, 28, 29, 30], "it depends"),
    **dict.fromkeys([2, 5, 7, 8, 13, 14, 16, 17, 19, 20, 21], "false"),
    23: "not run",
}
TRIALS = {number: tried(claim) for number, claim in CLAIMS.items()}


def test_there_are_thirty_claims_in_six_themes():
    assert list(CLAIMS) == list(range(1, 31))
    assert sum(len(claims) for claims in THEMES.values()) == 30
    assert len(THEMES) == 6
    assert len({claim.said for claim in CLAIMS.values()}) == 30


@pytest.mark.parametrize("number", CLAIMS)
def test_the_verdict_that_is_counted_is_the_known_one(number):
    assert TRIALS[number].verdict == KNOWN[number]


@pytest.mark.parametrize("number", CLAIMS)
def test_every_claim_is_tried_or_says_why_not(number):
    claim, trial = CLAIMS[number], TRIALS[number]
    assert claim.can_be_run == bool(trial.cases)
    assert trial.cases or claim.elsewhere
    assert len({case.where for case in trial.cases}) == len(trial.cases)
    assert claim.said.endswith((".", ")"))
    assert len(claim.instead) > 30
    assert 1 <= int(claim.lesson) <= 17


@pytest.mark.parametrize("number", CLAIMS)
def test_the_times_in_what_is_right_are_those_of_the_runs(number):
    seen = " ".join(f"{case.where} {case.seen}" for case in TRIALS[number].cases)
    unknown = {time for time in TIME.findall(CLAIMS[number].instead) if time not in seen}
    assert unknown <= {"10:00:59.999"}  # the last millisecond of [10:00, 10:01)


@pytest.mark.parametrize("number", CLAIMS)
def test_every_job_has_a_name_of_its_own_and_no_words_of_another(number):
    jobs = CLAIMS[number].jobs()
    assert len({scenario.name for scenario in jobs.values()}) == len(jobs)
    for scenario in jobs.values():
        assert not scenario.about or scenario == wmviz.scenario(scenario.name)


@pytest.mark.parametrize(
    ("holds", "verdict"),
    [([], "not run"), ([True], "true"), ([False, False], "false"), ([True, False], "it depends")],
)
def test_a_verdict_is_counted(holds, verdict):
    assert verdict_of([Case("", held, "") for held in holds]) == verdict


def test_a_claim_that_always_holds_would_be_true():
    mine = Claim(
        99,
        "Events lose nothing that are in order.",
        "",
        "1",
        lambda: {"in order": job("in-order", ("r9", "6:30"), ("r9", "7:30"))},
        lambda runs: [Case(where, lost(run) == 0, "") for where, run in runs.items()],
    )
    assert on_our_engine(mine).verdict == "true"


def test_two_engines_agree_only_if_each_common_case_is_the_same():
    claim = CLAIMS[11]
    ours = Trial(claim, "wmviz", (Case("a", True, "1 event"), Case("b", False, "2 events")))
    assert ours.agrees_with(Trial(claim, "Flink", (Case("a", True, "1 event"),)))
    assert not ours.agrees_with(Trial(claim, "Flink", (Case("a", True, "7 events"),)))
    assert not ours.agrees_with(Trial(claim, "Flink", (Case("a", False, "1 event"),)))
    assert not Trial(claim, "wmviz", (Case("a", True, ""),)).agrees_with(Trial(claim, "Flink", (Case("x", False, ""),)))


@pytest.mark.flink
def test_flink_tries_each_claim_that_it_can_replay_and_sees_the_same(flink):
    from wmviz.course.claims import on_flink

    few = [CLAIMS[number] for number in (2, 4, 6, 11, 15, 20, 26)]
    trials = on_flink(few)
    for claim in few:
        assert trials[claim.number].cases
        assert TRIALS[claim.number].has_common_cases(trials[claim.number])
        assert TRIALS[claim.number].agrees_with(trials[claim.number]), claim.number


# What is shown ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", THEMES)
def test_a_ballot_lists_its_claims_and_gives_nothing_away(theme):
    text = str(ballot(theme))
    for claim in THEMES[theme]:
        assert claim.said in text
        assert claim.instead not in text


def test_a_theme_that_is_not_there_is_named():
    with pytest.raises(CourseError, match="'windos' is no theme of the claims; write one of watermarks, windows"):
        ballot("windos")


def test_the_verdict_shows_the_vote_and_the_cases(monkeypatch):
    monkeypatch.setattr("wmviz.course.claims.showing.asked", checks.answered)
    assert "you said" not in str(verdicts("late"))
    course.predict("16.claim-11", "a")
    text, html = str(verdicts("late")), verdicts("late").html
    assert "IT DEPENDS; you said: true" in text
    assert "You said: true." in html
    assert "✗ its window has not fired: 6:40 meets watermark 6:47:59.999 → it is on time" in text


def test_a_vote_is_a_button_that_stays_marked():
    card = ballot("windows")
    rows = card.widget().children
    buttons = [button for row in rows[1::2] for button in row.children]
    assert len(buttons) == 3 * len(THEMES["windows"])
    buttons[4].click()  # the second claim, "false"
    number = THEMES["windows"][1].number
    assert course.progress().answers[f"16.claim-{number}"]["prediction"] == "b"
    again = [button for row in card.widget().children[1::2] for button in row.children]
    assert [button.description for button in again if button.button_style] == ["✓ false"]


def test_what_a_claim_says_is_escaped(monkeypatch):
    wrong = Claim(7, "<b>bold</b>.", "<i>instead</i>", "1")
    monkeypatch.setitem(THEMES, "late", (wrong,))
    for html in (ballot("late").html, verdicts("late").html):
        assert "<b>bold" not in html
        assert "<i>instead" not in html


def test_the_table_names_every_claim_and_says_if_flink_differs():
    flink = {number: Trial(claim, "Flink") for number, claim in CLAIMS.items()}
    flink[11] = Trial(CLAIMS[11], "Flink", tuple(case._replace(seen="else") for case in TRIALS[11].cases))
    text = str(table(flink))
    assert len(text.splitlines()) == 31
    assert re.search(r"^11 +it depends +wmviz 2 cases, Flink 2 cases: OTHER RESULTS", text, re.MULTILINE)
    assert re.search(r"^23 +not run +none", text, re.MULTILINE)


# Questions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"), [("sentence", "again"), ("depends", "its window has fired"), ("evidence", "counter")]
)
def test_the_engine_gives_the_answers(name, value):
    assert find(f"16.{name}").solution.value == value


@pytest.mark.parametrize(
    ("answer", "state", "message"),
    [
        ("7:04:59.999", "right", "its last millisecond"),
        ("7:05", "wrong", "DataStream API"),
        ("7:00", "wrong", "Solve for the newest row"),
        ("soon", "not yet", "cannot be read as a time"),
    ],
)
def test_the_task_at_the_edge(answer, state, message):
    verdict = course.check("16.edge", answer)
    assert verdict.state == state
    assert message in verdict.sentence
    check_sums(verdict.sentence)
