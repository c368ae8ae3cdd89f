"""Give each fact of a lesson's prose to a test of its own."""

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Take the facts of the module."""
    if "said" in metafunc.fixturenames:
        metafunc.parametrize("said", metafunc.module.FACTS)
