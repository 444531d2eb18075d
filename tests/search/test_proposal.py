import math

import pytest

from infgp.errors import InvalidInputError
from infgp.search.proposal import ACQUISITIONS, Exploration, Strategy

# --- Options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "c", "power"),
    [("paper", 1.0, 0.5), (0.3, 0.3, 0.5), (0, 0.0, 0.5), ((2, 0.9), 2.0, 0.9), ([2, 0.9], 2.0, 0.9)],
)
def test_exploration(value, c, power):
    exploration = Exploration.of(value)
    assert (exploration.c, exploration.power) == (c, power)
    assert exploration.chance(100) == pytest.approx(min(1.0, c * 100.0**-power))
    assert exploration.chance(1) == exploration.chance(0) == min(1.0, c)


@pytest.mark.parametrize(
    "value",
    [
        "often",
        None,
        -0.1,
        math.nan,
        math.inf,
        (1.0, 0.0),
        (1.0, 1.0),
        (-1.0, 0.5),
        (1.0,),
        (1.0, 0.5, 0.5),
        (None, 0.5),
    ],
)
def test_exploration_that_makes_no_sense(value):
    with pytest.raises(InvalidInputError, match="exploration must be 'paper'"):
        Exploration.of(value)


def strategy(acquisition, target):
    return Strategy(target, acquisition, Exploration.of(0.0), gradients=False)


def test_strategies():
    for acquisition in ACQUISITIONS:
        strategy(acquisition, "main").check()
        strategy(acquisition, "mean").check()
    strategy("thompson", "surface").check()
    strategy("local", "surface").check()
    with pytest.raises(InvalidInputError, match="acquisition='ei' is not known; use one of 'logei'"):
        strategy("ei", "main").check()
    with pytest.raises(InvalidInputError, match="target='best' is not known; use one of 'expected'"):
        strategy("logei", "best").check()
    with pytest.raises(InvalidInputError, match="which is Thompson sampling"):
        strategy("logei", "surface").check()
