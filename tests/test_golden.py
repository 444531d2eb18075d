"""Same seeds, same numbers: see `tests.golden`."""

import json

import numpy as np
import pytest

from tests.golden import CASES, FILE


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_as_they_were(name, capsys):
    kept, found = json.loads(FILE.read_text())[name], CASES[name]()
    assert len(found) > 10
    np.testing.assert_allclose(found, kept, rtol=1e-5, atol=1e-8)
