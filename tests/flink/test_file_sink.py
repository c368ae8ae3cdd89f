"""Flink's FileSink: what is visible in finished files, with checkpoints and without, live and recorded."""

import subprocess
import sys

import pytest

from wmviz.flink import FlinkError, file_sink, startup
from wmviz.flink.file_sink import Written, file_sink_code, write_files


def check_with_checkpoints(done):
    assert done.is_right
    assert done.visible_before_the_end
    visible = [finished for finished, _ in done.looks]
    assert visible == sorted(visible)
    assert set(done.hidden) <= set(done.finished)


def check_without(done):
    assert done.is_right
    assert not done.visible_before_the_end
    assert done.looks[-1][0] == done.numbers


def test_with_checkpoints_rows_appear_as_it_runs_and_once_in_spite_of_a_crash(flink):
    check_with_checkpoints(write_files())


def test_without_checkpoints_nothing_is_visible_before_the_end(flink):
    check_without(write_files(checkpoints=False))


def test_a_job_that_takes_too_long_is_cancelled(flink):
    with pytest.raises(FlinkError, match=r"did not end within 0\.05 s and was cancelled"):
        write_files(limit_s=0.05)


@pytest.mark.parametrize(("checkpoints", "check"), [(True, check_with_checkpoints), (False, check_without)])
def test_without_pyflink_a_recorded_run_is_shown(checkpoints, check, monkeypatch):
    monkeypatch.setattr(startup, "available", lambda: (False, "there is no PyFlink"))
    monkeypatch.setattr(file_sink.recorded, "show_label", lambda engine, why: None)
    done = write_files(checkpoints)
    assert done.checkpoints is checkpoints
    check(done)


def test_it_tells_what_happened_in_sentences():
    done = Written(True, 3, ((0, 2), (2, 0), (2, 1), (3, 0)), (0, 1, 2), (2,))
    assert repr(done) == (
        "With checkpoints the finished files had 0, 2, 3 rows, one after the other.\n"
        "In the end they have each number once.\n"
        "1 row was left in hidden files."
    )
    assert "not each number once" in repr(Written(False, 2, ((0, 1),), (0, 0), ()))


def test_rows_that_are_half_written_do_not_count(tmp_path):
    pytest.importorskip("pyflink")
    folder = tmp_path / "results" / "2026"
    folder.mkdir(parents=True)
    (folder / "part-a-0").write_text("0\n1\n")
    (folder / ".part-a-1.inprogress.x").write_text("2\n3")
    assert file_sink_code().load().rows(tmp_path) == ([0, 1], [2])


def test_the_program_runs_alone(flink, tmp_path):
    program = file_sink_code().save(tmp_path)
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert "each number once in finished files: True" in done.stdout, done.stderr[-2000:]
