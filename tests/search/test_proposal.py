import math

import pytest

from infgp.errors import InvalidInputError
from infgp.predict.functionals import Objective
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


def strategy(acquisition, target="objective", outliers="count", objective="mean", gradients=False, goal="final"):
    objectives = (Objective.parse(objective),)
    return Strategy(objectives, (1.0,), outliers, target, goal, acquisition, Exploration.of(0.0), gradients)


def test_goals_have_ways_of_their_own():
    assert [strategy(None, goal=goal).way for goal in ("final", "along")] == ["kg", "logei"]
    assert strategy("thompson", goal="final").way == "thompson"


def test_strategies():
    for acquisition in ACQUISITIONS:
        strategy(acquisition, "main").check()
        strategy(acquisition).check()
        strategy(acquisition, outliers="ignore").check()
        strategy(acquisition, objective=("quantile", 0.1)).check()
    strategy("thompson", "surface").check()
    strategy("local", "surface").check()
    with pytest.raises(InvalidInputError, match="acquisition='ei' is not known; use one of 'kg'"):
        strategy("ei", "main").check()
    with pytest.raises(InvalidInputError, match="target='best' is not known; use one of 'objective'"):
        strategy("logei", "best").check()
    with pytest.raises(InvalidInputError, match="which is Thompson sampling"):
        strategy("logei", "surface").check()
    with pytest.raises(InvalidInputError, match="outliers='drop' is not known; use one of 'count'"):
        strategy("logei", outliers="drop").check()
    with pytest.raises(InvalidInputError, match="target='main' follows surfaces and no objective"):
        strategy("logei", "main", objective="median").check()
    for acquisition, goal in ((None, "final"), (None, "along"), ("kg", "along")):
        with pytest.raises(InvalidInputError, match="which is Thompson sampling"):
            strategy(acquisition, "surface", goal=goal).check()
    with pytest.raises(InvalidInputError, match="goal='best' is not known; use one of 'final', 'along'"):
        strategy(None, goal="best").check()
    with pytest.raises(InvalidInputError, match="gradients=True is for log expected improvement"):
        strategy(None, gradients=True, goal="final").check()
    strategy(None, gradients=True, goal="along").check()
    with pytest.raises(InvalidInputError, match="gradients must be True or False"):
        strategy("logei", gradients=1).check()
