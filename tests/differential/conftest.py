"""The oracle, made once for each process of the tests."""

import pytest

from tests.differential.oracle import Oracle


@pytest.fixture(scope="session")
def oracle(flink):
    """Return Flink's own classes; `flink` says whether they can be had here."""
    return Oracle()
