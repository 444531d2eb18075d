"""Searches whose rewards reach the model through a warp that is learned."""

import numpy as np
import pytest

from infgp import Choice, Float, InfGPError, Int, Optimizer
from infgp.core.model import Data, Model
from infgp.core.priors import Priors
from infgp.core.rewardmap import Tempered, WarpedScale, WarpedUnits
from infgp.core.scaling import RewardScale
from infgp.core.state import State
from infgp.core.surface import Conditioned
from infgp.core.warp import Warp, Warps
from infgp.errors import InvalidInputError
from infgp.optuna import InfGPSampler
from infgp.predict.functionals import Aim, Objective
from infgp.predict.objectives import MeanObjective, ObjectiveLaw, draw_objective
from infgp.search.knowledge import KnowledgeGradient
from infgp.search.learning import Learned, Series, WarmChain
from infgp.search.several import LogFeasibility
from infgp.search.standing import CONSTRAINT
from tests.exact import central_differences
from tests.search.test_optimizer import text

LINE = {"x": Float(0.0, 1.0)}
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
        Optimizer(SPACE, "minimize", seed, n_initial=6, **{"warp": "learned", **options}),
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


#: Units in which points may be compared.
COMMON = {"warp": WarpedScale(SCALE, WARPS.maps[1], 9.0), "tempered": Tempered(SCALE), "straight": SCALE}
every_unit = pytest.mark.parametrize("common", COMMON.values(), ids=COMMON)


def aim_of(objective, outliers="count", sign=1.0, common=COMMON["warp"]):
    return Aim(objective, SCALE, sign, outliers=outliers, units=WarpedUnits(SCALE, 9.0), common=common)


@pytest.fixture
def at(rng):
    return rng.random((5, 2))


@pytest.mark.parametrize("outliers", ["count", "ignore"])
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
@every_unit
def test_states_with_warps_of_their_own_are_compared_in_one_unit(common, objective, outliers, at):
    """A state gives the same objective in the user's units whatever the unit is in which points are compared."""
    aim = aim_of(objective, outliers, common=common)
    for given in draws():
        law = ObjectiveLaw.of(given, aim)
        alone = ObjectiveLaw.of(given, Aim(objective, aim.units.through(given.data.warp), outliers=outliers))
        if objective.kind == "mean" and outliers == "count" and isinstance(aim.common, Tempered):
            losses = alone.missed < 0.0  # they count in full, and are not drawn in
            assert (law.missed[losses] <= alone.missed[losses] + 1e-9).all()
            continue
        user, same = MeanObjective((law,)).moments(at), MeanObjective((alone,)).moments(at)
        assert user[0] == pytest.approx(same[0], rel=1e-6)
        if objective.kind == "probability":
            assert law.mean(at) == pytest.approx(alone.mean(at))
        else:
            common, own = law.aim.shared, alone.aim.rewards
            assert common.from_standard(law.mean(at)) == pytest.approx(own.from_standard(alone.mean(at)), rel=1e-6)


@pytest.mark.parametrize("outliers", ["count", "ignore"])
@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
@every_unit
def test_means_variances_and_gradients_agree(common, objective, outliers, at):
    for given in draws():
        law = ObjectiveLaw.of(given, aim_of(objective, outliers, common=common), 0.5)
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


@pytest.mark.parametrize("outliers", ["count", "ignore"])
def test_a_warped_mean_is_that_of_the_surfaces_and_what_they_leave_over(outliers, at):
    """Means of surfaces are found by integration; they are averaged and corrected in units of the model."""
    for given in draws():
        own = WarpedUnits(SCALE, 9.0).through(given.data.warp)
        law = ObjectiveLaw.of(given, aim_of(Objective(), outliers))
        weights, means, _, noise = law.base.parts(at)
        mean, _ = own.expectation(means, np.sqrt(np.broadcast_to(noise, means.shape)))
        value = np.einsum("ic,ic->i", weights, own.to_standard(mean))
        if outliers == "count":
            rest = law.remainder(at)[0] + law.remainder.centre
        else:  # surfaces alone are followed, and what is compared is their sum as the model sees it
            value, rest = np.einsum("ic,ic->i", weights, means), 0.0
        wanted = own.from_standard(value + rest)
        assert MeanObjective((law,)).moments(at)[0] == pytest.approx(wanted, rel=1e-6)


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


def decades(x):
    """A loss over some seven decades, the best of which is at 0.3."""
    return 10.0 ** (8.0 * np.abs(x - 0.3) ** 0.5 - 5.0)


def loss_of_the_recommendation(seed, warp):
    optimizer, rng = Optimizer(LINE, "minimize", seed, warp=warp), np.random.default_rng(seed)
    for _ in range(30):
        point = optimizer.ask()
        optimizer.tell(point, decades(point["x"]) * np.exp(0.2 * rng.standard_normal()))
    return decades(optimizer.recommend().point["x"])


def test_the_good_end_of_losses_over_decades_is_found_better_with_a_warp():
    """By default, and in each of three searches; the median loss is some thousand times the least one."""
    warped, plain = (np.array([loss_of_the_recommendation(s, warp) for s in (1, 2, 3)]) for warp in ("auto", None))
    assert (warped < 3e-5).all()
    assert (plain > 2.0 * warped).all()


#: Numbers that must not be positive, and are not where x <= 0.5: over decades where they are violated, or kept.
LIMITS = {"violated": lambda x: 10.0 ** (6.0 * x - 3.0) - 1.0, "kept": lambda x: 1.0 - 10.0 ** (3.0 - 6.0 * x)}


def constrained(limit, seed, steps=20, **options):
    """Maximise x under a constraint."""
    optimizer, rng = Optimizer(LINE, seed=seed, **options), np.random.default_rng(seed)
    for _ in range(steps):
        point = optimizer.ask()
        reward = point["x"] + 0.01 * rng.standard_normal()
        optimizer.tell(point, reward, constraints={"limit": limit(point["x"])})
    return optimizer


@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
def test_the_feasible_optimum_is_found_under_a_constraint_over_decades(limit):
    for seed in (0, 1):
        optimizer = constrained(limit, seed)
        found = optimizer.recommend()
        assert found.point["x"] == pytest.approx(0.5, abs=0.03)
        assert found.feasibility > 0.5
        chains = optimizer._standing.chains
        assert {state.warp for state in chains[f"{CONSTRAINT}limit"].states} != {0}


def learned_limit():
    """A constraint over decades, as a state knows it that sees its logarithm at five points and is not sure between."""
    x = np.linspace(0.0, 1.0, 5)[:, None]
    y = LIMITS["violated"](x[:, 0])
    scale = RewardScale.fit(y)
    warps = Warps.beside_identity([Warp(float(scale.to_standard(np.array(-1.0))), 1e-3 / scale.scale)])
    model = Model("se", Priors().resolve(1), ard=True, warps=warps)
    state = State(np.zeros(5, int), np.zeros(2), 0.01, np.array([[30.0]]), np.ones(1), np.full(1, 0.01), warp=1)
    chain = WarmChain((state,), 5, scale, warps)
    return Learned(Series(x, y, np.zeros(5), np.empty((0, 1))), chain, model, tempered=True)


def test_a_constraint_holds_as_often_as_it_does_for_drawn_functions():
    """How violations are compared with each other says nothing of whether there is one."""
    known, at = learned_limit(), np.linspace(0.02, 0.98, 9)[:, None]
    [limit] = Optimizer(LINE)._setup.strategy.limits([known])
    chance = np.exp(LogFeasibility.of([limit])(at))
    scale, rng = known.chain.scale, np.random.default_rng(5)
    aim = Aim(Objective(), scale, units=known.units, common=scale)
    drawn = [
        draw_objective(rng, given, aim)(at) <= scale.to_standard(0.0) for given in known.draws for _ in range(1000)
    ]
    share = np.mean(drawn, axis=0)
    assert share.min() < 0.1
    assert share.max() > 0.9
    assert chance == pytest.approx(share, abs=0.1)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_points_are_compared_through_a_warp_that_resolves_good_rewards(sign):
    """Losses over decades are compared by their logarithm; of a peak over decades, no warp draws the top together."""
    rng, x = np.random.default_rng(0), np.linspace(0.0, 1.0, 30)[:, None]
    y = sign * 10.0 ** (6.0 * x[:, 0] - 3.0) * np.exp(0.1 * rng.standard_normal(30))
    series = Series(x, y, np.zeros(30), np.empty((0, 1)))
    for options, tempered in (({}, True), ({"warp": None}, False), ({"surfaces": 1}, False)):
        known = Optimizer(LINE, **options)._setup.learner.learn(rng, series, None)
        middle, good = np.percentile(known.data.y, (50.0, 95.0))
        maps = [known.model.warps.maps[state.warp] for state in known.chain.states]
        assert all(np.diff(warp.log_slope(np.array([middle, good])))[0] >= 0.0 for warp in maps)
        assert all(warp.straight for warp in maps) == (not tempered or sign > 0)
        [(_, aim)] = Optimizer(LINE, **options)._setup.strategy.aims([known])
        if not tempered:
            assert aim.shared == known.chain.scale
        elif sign > 0:
            typical = aim.shared.scale.location
            assert aim.shared == Tempered(RewardScale(typical, known.chain.scale.scale))
            assert np.sort(y)[5] < typical < np.sort(y)[-5]
        else:
            assert aim.shared == known.rewards
            good = aim.shared.to_standard(np.array([-1e-2, -1e-3]))
            assert good[1] - good[0] > 0.1  # as they are, they would differ by a ten-thousandth
        laws = [ObjectiveLaw.of(given, aim) for given in known.draws]
        assert all(law.aim.shared == aim.shared for law in laws)
        assert [law.aim.rewards for law in laws] == [known._map(given.state.warp) for given in known.draws]


def test_auto_is_learned_unless_there_is_one_surface():
    default, learned, plain = (searched(12, warp=warp) for warp in ("auto", "learned", None))
    assert len(default._standing.chains["objective"].warps) > 1
    assert default.ask(2) == learned.ask(2)
    assert default.recommend() == learned.recommend()
    assert default.recommend() != plain.recommend()
    assert len(plain._standing.chains["objective"].warps) == 1
    default, learned, plain = (searched(12, warp=warp, surfaces=1) for warp in ("auto", "learned", None))
    assert len(default._standing.chains["objective"].warps) == 1
    assert default.ask(2) == plain.ask(2)
    assert default.recommend() == plain.recommend()
    assert len(learned._standing.chains["objective"].warps) > 1


def test_who_learns_a_warp():
    for options in ({}, {"target": "surface", "acquisition": "thompson"}, {"objective": ("quantile", 0.1)}):
        optimizer = Optimizer(LINE, **options)
        assert optimizer._setup.learner.warp
        assert optimizer.to_json()["options"]["warp"] == "auto"
        assert not Optimizer(LINE, warp=None, **options)._setup.learner.warp
    assert not Optimizer(LINE, surfaces=1)._setup.learner.warp
    assert Optimizer(LINE, surfaces=1, warp="learned")._setup.learner.warp


@pytest.mark.parametrize("warp", ["auto", "learned", None])
def test_saved_constraints_are_learned_as_before(warp):
    optimizer, rng = Optimizer(SPACE, "minimize", 2, warp=warp, n_initial=4), np.random.default_rng(5)
    for _ in range(12):
        point = optimizer.ask()
        optimizer.tell(point, loss(point, rng), constraints={"limit": 10.0 * point["x"] - 5.0 + rng.standard_cauchy()})
    again = Optimizer.from_json(optimizer.to_json())
    assert again.to_json()["options"]["warp"] == warp
    assert {len(chain.warps) > 1 for chain in again._standing.chains.values()} == {warp is not None}
    assert text(again) == text(optimizer)
    assert again.ask(3) == optimizer.ask(3)
    for _ in range(3):  # and further on
        point = optimizer.ask()
        assert again.ask() == point
        for one in (again, optimizer):
            one.tell(point, decades(point["x"]), constraints={"limit": point["x"] - 0.5})
    assert again.recommend() == optimizer.recommend()
    assert text(again) == text(optimizer)


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


@pytest.mark.parametrize("warp", ["log", "", "Auto", True, False, 1, 0.5, ["learned"], ("auto",), {}], ids=repr)
def test_warps_that_are_not_known_are_refused(warp):
    for make in (lambda: Optimizer(SPACE, warp=warp), lambda: InfGPSampler(warp=warp)):
        with pytest.raises(InfGPError) as error:
            make()
        known = "use one of 'auto', 'learned', or None for no warp"
        assert str(error.value) == f"warp={warp!r} is not known; {known}."


def test_warps_that_are_not_known_are_refused_in_files():
    content = Optimizer(SPACE).to_json()
    for wrong in ({"warp": "log"}, {"warp": True}, {"bend": True}):
        with pytest.raises(InvalidInputError):
            Optimizer.from_json({**content, "options": {**content["options"], **wrong}})
