"""Give each answer in the lists of a sheet's module to a test of its own."""

import pytest

LISTS = {"right": "RIGHT", "wrong": "WRONG", "unread": "UNREAD"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Take the lists of the module."""
    for fixture, name in LISTS.items():
        if fixture in metafunc.fixturenames:
            answers = getattr(metafunc.module, name)
            metafunc.parametrize(fixture, answers, ids=[f"{task}-{i}" for i, (task, *_) in enumerate(answers)])
