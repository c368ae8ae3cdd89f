"""The cases themselves on Flink's own classes: an answer that we wrote down wrong would be found here."""

import pytest

from tests.semantics.cases import files, load, same
from tests.semantics.on_flink import outputs_of_all, runs


@pytest.mark.flink
def test_flink_gives_what_the_cases_say():
    cases = [case for path in files() for case in load(path) if runs(case)]
    differ = {
        case["id"]: came
        for case, came in zip(cases, outputs_of_all(cases), strict=True)
        if not same(case["expected"], came)
    }
    assert not differ
