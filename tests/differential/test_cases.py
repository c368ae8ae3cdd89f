"""The conformance cases themselves: Flink's own classes give what they expect."""

from tests.differential.oracle import RUNS, disagreement
from tests.semantics.cases import files, load, outputs, same

CASES = [case for path in files() for case in load(path) if case["mechanism"] in RUNS]


def test_the_expected_outputs_are_those_of_flink(oracle):
    wrong = [
        (case["id"], came)
        for case, came in zip(CASES, oracle.outputs(CASES), strict=True)
        if not same(case["expected"], came)
    ]
    assert wrong == []


MADE_UP = {"id": "made up", "mechanism": "valve", "params": {"channels": 1}}


class TestDisagreement:
    def test_none_where_all_agree(self):
        steps = [{"op": "watermark", "ch": 0, "ts": ts} for ts in (5, 3, 8)]
        assert disagreement([{**MADE_UP, "input": steps}], lambda cases: list(map(outputs, cases))) is None

    def test_a_case_loses_every_step_that_it_does_not_need(self):
        def wrong(cases):
            return [[out for out in outputs(case) if out.get("watermark") != 7] for case in cases]

        steps = [{"op": "watermark", "ch": 0, "ts": ts} for ts in range(20)]
        found = disagreement([{**MADE_UP, "input": steps}], wrong)
        assert found is not None
        assert '"input": [{"op": "watermark", "ch": 0, "ts": 7}], "expected": []}' in found
        assert found.endswith('our engine gives [{"step": 0, "watermark": 7}]')
