"""Every conformance case as a test, and the runner itself."""

import json

import pytest

from tests.semantics.cases import files, load, outputs, same
from tests.semantics.mechanisms import DRIVERS
from tests.semantics.run import main, verdict

CASES = [case for path in files() for case in load(path)]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case):
    assert verdict(case) is None


def test_every_case_has_its_own_id():
    ids = [case["id"] for case in CASES]
    assert len(ids) == len(set(ids))


def test_every_mechanism_of_the_cases_is_known_to_the_runner():
    assert {case["mechanism"] for case in CASES} <= set(DRIVERS)


def test_every_case_of_ours_says_how_it_was_settled():
    for path in files():
        if path.parent.name == "ours":
            assert all(case.get("verified") and case.get("source_class") for case in load(path)), path


class TestRunner:
    def test_it_ends_with_the_sum_and_says_by_its_exit_code_that_all_passed(self, capsys):
        paths = list(files())
        assert main([str(path) for path in paths]) == 0
        assert capsys.readouterr().out == f"{sum(len(load(path)) for path in paths)} passed, 0 failed\n"

    def test_a_failing_case_is_one_line_with_what_was_expected_and_what_came(self, tmp_path, capsys):
        case = {
            "id": "wrong-01",
            "mechanism": "window_assigner",
            "params": {"assigner": "tumbling", "size_ms": 10},
            "input": [{"ts": 3}],
            "expected": [{"step": 0, "windows": [[0, 11]]}],
        }
        path = tmp_path / "wrong.json"
        path.write_text(json.dumps([case, {**case, "id": "wrong-02", "mechanism": "guessing"}]))
        assert main([str(path)]) == 1
        first, second, last = capsys.readouterr().out.splitlines()
        assert first == (
            'wrong-01: expected [{"step": 0, "windows": [[0, 11]]}], came [{"step": 0, "windows": [[0, 10]]}]'
        )
        assert second.startswith("wrong-02: there is no mechanism 'guessing'")
        assert last == "0 passed, 2 failed"

    def test_a_refusal_may_have_any_name_but_must_come_at_its_step(self):
        assert same([{"step": 0, "error": "IllegalArgumentException"}], [{"step": 0, "error": "ValueError"}])
        assert not same([{"step": 0, "error": "IllegalArgumentException"}], [{"step": 1, "error": "ValueError"}])
        assert not same([{"step": 0, "error": "IllegalArgumentException"}], [])

    def test_only_keys_that_fire_at_one_time_may_change_places(self):
        def fire(key, end_ms, step=0):
            return {"step": step, "fire": {"key": key, "window": [0, end_ms], "elements": [], "at_watermark": 9}}

        assert same([fire("a", 10), fire("b", 10)], [fire("b", 10), fire("a", 10)])
        assert not same([fire("a", 10), fire("a", 20)], [fire("a", 20), fire("a", 10)])
        assert not same([fire("a", 10), fire("b", 10, 1)], [fire("b", 10, 1), fire("a", 10)])

    def test_a_file_that_is_no_list_of_cases_is_named(self, tmp_path, capsys):
        path = tmp_path / "none.json"
        path.write_text("{}")
        assert main([str(path)]) == 2
        assert str(path) in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("case", "said"),
        [
            ({"mechanism": "window", "input": []}, "'assigner' is missing, or no name that is known"),
            ({"mechanism": "valve", "params": None, "input": []}, "'channels' is missing, or no name that is known"),
            ({"input": []}, "'mechanism' is missing, or no name that is known"),
            ({"mechanism": ["valve"], "input": []}, "there is no mechanism \"['valve']\"; there is barrier_aligned"),
        ],
    )
    def test_a_case_that_lacks_something_says_what(self, case, said, tmp_path, capsys):
        path = tmp_path / "lacking.json"
        path.write_text(json.dumps([{"id": "lacks", "expected": [], **case}]))
        assert main([str(path)]) == 1
        assert capsys.readouterr().out.startswith(f"lacks: {said}")

    def test_the_assigner_of_a_session_goes_without_saying(self):
        steps = [{"op": "event", "ts": 3, "v": 1}, {"op": "watermark", "ts": 9}]
        came = outputs({"mechanism": "session", "params": {"gap_ms": 5}, "input": steps})
        assert came == [{"step": 1, "fire": {"key": "k", "window": [3, 8], "elements": [1], "at_watermark": 9}}]
