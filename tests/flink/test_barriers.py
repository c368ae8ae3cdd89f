"""Checkpoints of a job with full buffers: aligned ones wait behind the events, unaligned ones store them."""

import subprocess
import sys
from dataclasses import replace

import pandas as pd
import pytest

from wmviz import charts
from wmviz.flink import FlinkError, barriers, barriers_code, startup
from wmviz.scenario import ScenarioError


def check_aligned(done):
    assert (done.guarantee, done.is_unaligned) == ("exactly_once", False)
    assert {checkpoint["in_flight_bytes"] for checkpoint in done.checkpoints} == {0}
    assert done.middle("duration_ms") > 500, "the barrier stands behind the events of the full buffers"
    assert done.middle("start_delay_ms") + done.middle("alignment_ms") > 500
    assert "held no event that was on its way" in repr(done)


def check_unaligned(done):
    assert (done.guarantee, done.is_unaligned) == ("exactly_once", True)
    assert min(checkpoint["in_flight_bytes"] for checkpoint in done.checkpoints) > 30_000, "a buffer or more"
    assert all(checkpoint["size_bytes"] > checkpoint["in_flight_bytes"] for checkpoint in done.checkpoints)
    assert "bytes of events that the barriers had overtaken" in repr(done)


def check_at_least_once(done):
    assert (done.guarantee, done.is_unaligned) == ("at_least_once", False)
    assert {checkpoint["in_flight_bytes"] for checkpoint in done.checkpoints} == {0}
    assert repr(done).startswith("At least once: the checkpoints were aligned though unaligned ones were asked for.")


CHECKS = {"aligned": check_aligned, "unaligned": check_unaligned, "at-least-once": check_at_least_once}


@pytest.mark.flink
def test_on_real_flink_unaligned_barriers_overtake():
    done = {mode: barriers(mode) for mode in CHECKS}
    for mode, check in CHECKS.items():
        check(done[mode])
    assert done["unaligned"].middle("duration_ms") < done["aligned"].middle("duration_ms")
    assert done["unaligned"].middle("size_bytes") > 10 * done["aligned"].middle("size_bytes")
    looks = done["aligned"].looks
    assert any("busy" in task for task in looks["task"])
    assert looks.dropna(subset=["busy"])["at_s"].max() > 0


@pytest.mark.parametrize("mode", CHECKS)
def test_without_pyflink_a_recorded_run_is_shown(mode, monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, "There is no PyFlink."))
    done = barriers(mode)
    CHECKS[mode](done)
    assert list(done.table["id"]) == sorted(done.table["id"])
    assert len(done.table) == 3
    described = charts.live(done.looks).to_dict()["description"]
    assert "No task had a watermark." in described


@pytest.mark.flink
def test_a_job_that_takes_too_long_is_cancelled():
    # On a quick machine the buffers are full before they are first asked about: then the checkpoints take too long.
    with pytest.raises(FlinkError, match=r"did not come to (full buffers|3 checkpoints) in time and was cancelled"):
        barriers(limit_s=0)


def test_the_middle_is_the_median(monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, "There is no PyFlink."))
    done = barriers()
    three = tuple({**done.checkpoints[0], "duration_ms": ms} for ms in (5, 1000, 7))
    assert replace(done, checkpoints=three).middle("duration_ms") == 7


def test_the_program_is_complete(tmp_path):
    path = barriers_code().save(tmp_path)
    assert path.name == "barriers.py"
    check = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F,E9,W6", str(tmp_path)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert max(map(len, path.read_text().splitlines())) <= 120


@pytest.mark.parametrize("mode", ["", "both", None])
def test_another_mode_is_refused(mode):
    with pytest.raises(ScenarioError, match="write one of aligned, unaligned, at-least-once"):
        barriers(mode)


def test_looks_are_a_table(monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, "There is no PyFlink."))
    looks = barriers("unaligned").looks
    assert looks["at_s"].min() == 0
    assert str(looks["busy"].dtype) == "Int64"
    assert not pd.isna(looks["busy"]).all()
