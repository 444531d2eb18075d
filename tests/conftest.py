import logging

import numpy as np
import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def _one_blas_thread():
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture(autouse=True, scope="session")
def _quiet_compilation():
    """Which test compiles first depends on the disk, and what is printed is compared."""
    logging.getLogger("infgp.compiling").setLevel(logging.ERROR)


#: Needs an extra of its own.
collect_ignore = ["fuzz/coverage.py"]


@pytest.fixture
def rng():
    return np.random.default_rng(20261115)


@pytest.hookimpl(tryfirst=True)  # before pytest deselects what is slow
def pytest_collection_modifyitems(items):
    """Tests that deliberate bugs of samplers are noticed test the tests, and take as long as the tests do."""
    for item in items:
        if "_notices" in item.name and "moves" in item.path.parts:
            item.add_marker(pytest.mark.slow)
