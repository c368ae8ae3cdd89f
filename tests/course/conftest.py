"""Progress of a test goes to a folder of its own, and the course is live: not in its still form."""

from pathlib import Path

import pytest

from wmviz.course import session


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WMVIZ_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("WMVIZ_STAGE", raising=False)
    session._steps_shown.clear()
    return tmp_path / "data"
