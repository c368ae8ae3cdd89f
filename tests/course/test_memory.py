"""Progress: kept on this machine, survives damage, deleted by one call."""

import json
import sys
from pathlib import Path

import pytest

from wmviz.course import memory


def test_nothing_is_written_before_there_is_something_to_remember(data_folder):
    assert str(memory.progress()) == "No answers yet."
    assert memory.progress()._repr_html_() == "<p>No answers yet.</p>"
    assert not data_folder.exists()


def test_tries_are_counted_and_what_was_right_stays_right(data_folder):
    for right in (False, True, False):
        memory.note_try("3.fate", right)
    memory.note_hint("3.fate", 2)
    memory.note_hint("3.fate", 1)
    memory.note_try("3.behind", False)
    progress = memory.progress()
    assert progress.done == ["3.fate"]
    assert progress.rows() == [("3.behind", "open", "1", "0"), ("3.fate", "right", "3", "2")]
    assert "<td>3.fate</td><td>right</td><td>3</td><td>2</td>" in progress._repr_html_()
    assert [path.name for path in data_folder.iterdir()] == ["progress.json"]


def test_a_prediction_is_no_open_question(data_folder):
    memory.note("3.first-firing", prediction="a")
    assert memory.progress().rows() == [("3.first-firing", "predicted", "0", "0")]
    memory.note_try("3.first-firing", False)
    assert memory.progress().rows() == [("3.first-firing", "open", "1", "0")]


def test_one_call_deletes_it_all(data_folder):
    memory.note_try("3.fate", True)
    assert memory.forget() == "All progress on this machine is deleted."
    assert memory.forget() == "There was no progress to delete."
    assert memory.progress().answers == {}


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"answers": 3}', '{"answers": {"3.fate": 1}}', '{"answers": {"3.fate": {"tries": "x"}}}'],
)
def test_a_damaged_file_means_that_nothing_is_known(data_folder, text):
    data_folder.mkdir()
    (data_folder / memory.FILE).write_text(text)
    assert memory.progress().done == []
    memory.progress()._repr_html_()
    memory.note_try("3.fate", True)
    assert json.loads((data_folder / memory.FILE).read_text())["answers"]["3.fate"]["tries"] == 1


def test_a_disk_that_refuses_spoils_nothing(data_folder):
    data_folder.write_text("a file where the folder should be")
    memory.note_try("3.fate", True)
    assert memory.progress().done == []


def test_nothing_is_kept_while_notebooks_are_made_or_tested(data_folder, monkeypatch):
    monkeypatch.setenv("WMVIZ_STAGE", "still")
    memory.note_try("3.fate", True)
    assert not data_folder.exists()


@pytest.mark.parametrize(
    ("system", "environment", "expected"),
    [
        ("linux", {}, ".local/share/wmviz"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/wmviz"),
        ("darwin", {}, "Library/Application Support/wmviz"),
    ],
)
def test_it_is_kept_where_this_system_keeps_user_data(monkeypatch, tmp_path, system, environment, expected):
    monkeypatch.delenv("WMVIZ_DATA")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert memory.folder() == tmp_path / expected
