from dataclasses import replace

import numpy as np
import pytest

from infgp.core.model import Data
from infgp.core.rewardmap import WarpedScale
from infgp.core.scaling import RewardScale
from infgp.core.surface import Conditioned
from infgp.core.warp import Warp
from infgp.predict.functionals import Aim, Objective
from infgp.predict.lessons import lessons
from infgp.predict.objectives import ObjectiveLaw
from tests.search.test_improvement import case

STRAIGHT = RewardScale(2.0, 3.0)
WARPED = WarpedScale(STRAIGHT, Warp(-2.5, 0.3), 90.0)
AIMS = {
    "ignore": Aim(Objective(), STRAIGHT, outliers="ignore"),
    "main": Aim(Objective(), STRAIGHT, target="main"),
    "mean": Aim(Objective(), STRAIGHT),
    "mean, warped": Aim(Objective(), WARPED),
    "quantile": Aim(Objective("quantile", 0.2), WARPED),
    "probability, minimise": Aim(Objective("probability", -3.0), WARPED, -1.0),
}
every_aim = pytest.mark.parametrize("aim", AIMS.values(), ids=AIMS)


def law_of(aim):
    state, data, model = case()
    return ObjectiveLaw.of(Conditioned(state, data, model), aim, 0.5)


def told(law, label, x, y):
    """The same state with one more observation, on the surface with this label."""
    given = law.base.weights.given
    data = Data(np.vstack((given.data.x, x)), np.append(given.data.y, y))
    longer = replace(given.state, labels=np.append(given.state.labels, label))
    return Conditioned(longer, data, given.model).surface(label)


@pytest.fixture
def at(rng):
    return rng.random((4, 2))


@pytest.fixture
def others(rng):
    return rng.random((6, 2))


def test_a_reward_moves_a_surface_as_conditioning_on_it_does(at, others):
    law = law_of(AIMS["main"])
    value, [lesson] = lessons(law, np.vstack((at, others)), len(at))  # the dominant surface counts, and no other
    assert value[: len(at)] == pytest.approx(law.mean(at))
    assert value[len(at) :] == pytest.approx(law.mean(others))
    surface, trend = law.base.surfaces[0], law.mean(at) - law.base.surfaces[0].mean(at)
    for i, x in enumerate(at):
        sd = np.sqrt(surface(x[None])[1][0] + law.base.noise[0])
        for z in (-1.5, 0.7):
            after = told(law, 0, x[None], value[i] + z * sd)
            assert after.mean(others) - surface.mean(others) == pytest.approx(z * lesson.there[i], abs=1e-9)
            assert value[i] + z * lesson.here[i] == pytest.approx(after.mean(x[None])[0] + trend[i], abs=1e-9)


@every_aim
def test_what_is_learned_at_a_point_is_the_same_seen_from_elsewhere(aim, at):
    law = law_of(aim)
    value, learned = lessons(law, np.vstack((at, at)), len(at))
    assert value == pytest.approx(np.tile(law.mean(at), 2))
    assert learned
    for lesson in learned:
        assert np.diag(lesson.there) == pytest.approx(lesson.here, abs=1e-9)


@every_aim
def test_no_more_is_learned_than_is_unknown(aim, at, others):
    """Variances fall by the squares of the changes, over all parts."""
    law = law_of(aim)
    variance, other_variance = law(at)[1], law(others)[1]
    _, learned = lessons(law, np.vstack((at, others)), len(at))
    assert (sum(lesson.here**2 for lesson in learned) < variance).all()
    assert (sum(lesson.there**2 for lesson in learned) < other_variance).all()
    assert max(np.abs(lesson.there).max() for lesson in learned) > 0.0


def test_what_surfaces_leave_over_is_learned_where_it_counts(at, others):
    points = np.vstack((at, others))
    counted, ignored = (lessons(law_of(AIMS[name]), points, len(at))[1] for name in ("mean", "ignore"))
    assert len(counted) == len(ignored) + 1
    assert (counted[-1].chance == 1.0).all()
    assert (counted[0].chance < 1.0).all()
