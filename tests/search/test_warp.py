"""Searches whose rewards reach the model through a warp that is learned."""

import numpy as np
import pytest

from infgp import Choice, Float, InfGPError, Int, Optimizer
from infgp.core.model import Data, Model, State
from infgp.core.priors import Priors
from infgp.core.rewardmap import WarpedUnits
from infgp.core.scaling import RewardScale
from infgp.core.surface import Conditioned
from infgp.core.warp import Warp, Warps
from infgp.errors import InvalidInputError
from infgp.optuna import InfGPSampler
from infgp.predict.functionals import Aim, Objective
from infgp.predict.objectives import MeanObjective, ObjectiveLaw, draw_objective
from infgp.search.knowledge import KnowledgeGradient
from tests.exact import central_differences
from tests.search.test_optimizer import text

SPACE = {"x": Float(0.0, 1.0), "k": Int(1, 9), "c": Choice(["p", "q"])}
WARPS = Warps.beside_identity([Warp(-3.0, 0.05), Warp(2.0, 0.3)])
SCALE = RewardScale(2.0, 3.0)
OBJECTIVES = {
    "mean": Objective(),
    "quantile": Objective("quantile", 0.2),
    "cvar": Objective("cvar", 0.3),
    "probability": Objective("probability", 1.0),
}


def loss(point, rng):
    """Over some six decades."""
    far = abs(point["x"] - 0.3) + 0.1 * abs(point["k"] - 4) + 0.3 * (point["c"] == "q")
    return 10.0 ** (4.0 * far - 4.0) * np.exp(0.2 * rng.normal())


def searched(steps=24, seed=0, **options):
    optimizer, rng = (
        Optimizer(SPACE, "minimize", seed, warp="learned", n_initial=6, **options),
        np.random.default_rng(1),
    )
    for _ in range(steps):
        point = optimizer.ask()
        optimizer.tell(point, loss(point, rng))
    return optimizer


def draws():
    """Three states, each with a warp of its own, of the same data."""
    rng = np.random.default_rng(3)
    model = Model("se", Priors().resolve(2), ard=True, warps=WARPS)
    data = Data(rng.random((8, 2)), rng.normal(size=8))
    states = [
        State(
            np.array([0, 1, 0, 0, 1, 0, 0, 0]), rng.normal(size=3), 0.6, rng.gamma(2.0, size=(1, 2)), one, one, warp=k
        )
        for k, one in enumerate(np.array([[1.0], [0.8], [1.3]]))
    ]
    return [Conditioned(state, data.seen(state, model), model) for state in states]


def aim_of(objective, outliers="count", sign=1.0):
    units = WarpedUnits(SCALE, 9.0)
    return Aim(objective, units.through(WARPS.maps[1]), sign, outliers=outliers, units=units)


@pytest.fixture
def at(rng):
    return rng.random((5, 2))


@pytest.mark.parametrize("outliers", ["count", "ignore"])
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_states_with_warps_of_their_own_are_compared_in_one_unit(objective, outliers, at):
    """A state gives the same objective in the user's units whatever the unit is in which points are compared."""
    aim = aim_of(objective, outliers)
    for given in draws():
        law = ObjectiveLaw.of(given, aim)
        alone = ObjectiveLaw.of(given, Aim(objective, aim.units.through(given.data.warp), outliers=outliers))
        user, same = MeanObjective((law,)).moments(at), MeanObjective((alone,)).moments(at)
        assert user[0] == pytest.approx(same[0], rel=1e-6)
        if objective.kind == "probability":
            assert law.mean(at) == pytest.approx(alone.mean(at))
        else:
            common, own = law.aim.shared, alone.aim.rewards
            assert common.from_standard(law.mean(at)) == pytest.approx(own.from_standard(alone.mean(at)), rel=1e-6)


@pytest.mark.parametrize("outliers", ["count", "ignore"])
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_means_variances_and_gradients_agree(objective, outliers, at):
    for given in draws():
        law = ObjectiveLaw.of(given, aim_of(objective, outliers), 0.5)
        mean, variance = law(at)
        assert mean == pytest.approx(law.mean(at))
        assert (variance > 0.0).all()
        value, gradient = law.mean_and_gradient(at)
        assert value == pytest.approx(mean)
        if objective.kind != "cvar":  # its gradient takes the map for straight about each surface
            assert gradient == pytest.approx(central_differences(law.mean, at), rel=1e-3, abs=1e-4)
        assert law.linear(at).value == pytest.approx(mean)
        assert law.difference(at[0], at[1])[0] == pytest.approx(mean[0] - mean[1])
        assert law.difference(at[0], at[0] + 1e-7)[1] == pytest.approx(0.0, abs=1e-6)


def test_scores_are_finite_over_states_with_different_warps(at, rng):
    mean = MeanObjective.of(draws(), aim_of(Objective()))
    assert np.isfinite(KnowledgeGradient(mean.laws, at)(rng.random((7, 2)))).all()
    assert np.isfinite(draw_objective(rng, draws()[2], aim_of(Objective()))(at)).all()


@pytest.mark.parametrize("goal", ["final", "along"])
def test_losses_over_decades_are_resolved(goal):
    optimizer = searched(40, goal=goal)
    found = optimizer.recommend()
    assert len({state.warp for state in optimizer._standing.chains["objective"].states} - {0}) > 0
    assert found.point["c"] == "p"
    assert abs(found.point["x"] - 0.3) + 0.1 * abs(found.point["k"] - 4) < 0.12
    assert 0.0 < found.mean < 1e-2
    assert -1e-3 < found.law.quantile(0.05)[0] < found.law.quantile(0.95)[0] < 0.1  # the median loss is about 0.1


@pytest.mark.parametrize("acquisition", ["kg", "logei", "thompson", "local"])
def test_a_saved_search_goes_on_number_for_number(acquisition, tmp_path):
    optimizer = searched(14, acquisition=acquisition)
    optimizer.save(tmp_path / "run.json")
    again = Optimizer.load(tmp_path / "run.json")
    assert text(again) == text(optimizer)
    assert again.ask(2) == optimizer.ask(2)
    assert again.recommend() == optimizer.recommend()


@pytest.mark.parametrize("bend", [None, False])
def test_saved_constraints_are_learned_as_before(bend):
    optimizer, rng = Optimizer(SPACE, "minimize", 2, warp="learned", n_initial=4, bend=bend), np.random.default_rng(5)
    for _ in range(12):
        point = optimizer.ask()
        optimizer.tell(point, loss(point, rng), constraints={"limit": 10.0 * point["x"] - 5.0 + rng.standard_cauchy()})
    again = Optimizer.from_json(optimizer.to_json())
    assert text(again) == text(optimizer)
    assert again.ask(3) == optimizer.ask(3)
    assert again.recommend() == optimizer.recommend()


def test_damaged_warps_are_refused():
    content = searched(12).to_json()
    for warps in ([[0.0, -1.0]], [[0.0, 0.0]], [[0.0, 1e-300]], [[0.0, 1e300]], [[1e200, 1.0]], [[0.0]], [], "warps"):
        chain = {**content["chains"]["objective"], "warps": warps}
        states = [{**state, "warp": 1} for state in chain["states"]]
        with pytest.raises(InvalidInputError):
            Optimizer.from_json({**content, "chains": {"objective": {**chain, "states": states}}})


def test_pending_failed_constrained_and_several():
    optimizer, rng = (
        Optimizer(SPACE, ["minimize", "maximize"], 2, warp="learned", n_initial=4),
        np.random.default_rng(5),
    )
    for step in range(8):
        for point in optimizer.ask(2):
            values = None if step == 3 else [loss(point, rng), point["x"]]
            optimizer.tell(point, values, constraints=None if values is None else {"limit": point["x"] - 0.8})
    assert optimizer.tradeoffs()
    optimizer = Optimizer(SPACE, "minimize", 2, warp="learned", n_initial=4)
    for step in range(8):
        for point in optimizer.ask(2):
            value = None if step == 3 else loss(point, rng)
            optimizer.tell(point, value, constraints=None if value is None else {"limit": point["x"] - 0.5})
    assert optimizer.recommend().feasibility > 0.5


@pytest.mark.parametrize("rewards", ["ties", "constant", "known noise"])
def test_nothing_is_learned_where_nothing_can_be(rewards):
    optimizer, rng = Optimizer({"x": Float(0.0, 1.0)}, seed=0, warp="learned"), np.random.default_rng(0)
    for _ in range(12):
        point = optimizer.ask()
        value = {"ties": float(rng.random() < point["x"]), "constant": 3.0}.get(rewards, point["x"])
        optimizer.tell(point, value, noise_variance=0.1 if rewards == "known noise" else None)
    assert len(optimizer._standing.chains["objective"].warps) == 1
    assert np.isfinite(optimizer.recommend().mean)


def test_options_that_do_not_go_together():
    with pytest.raises(InvalidInputError, match="warp='log' is not known; use one of 'learned'"):
        Optimizer(SPACE, warp="log")
    with pytest.raises(InvalidInputError, match="two ways to map rewards"):
        Optimizer(SPACE, warp="learned", bend=True)
    with pytest.raises(InfGPError, match="warp='log' is not known"):
        InfGPSampler(warp="log")
