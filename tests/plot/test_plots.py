"""Pictures, by the numbers behind them; of the drawing, that it goes where it should and names what it shows."""

import sys
import warnings

import numpy as np
import pytest
from scipy.signal import find_peaks
from scipy.special import ndtr
from scipy.stats import kstest

import infgp
import infgp.plot
from infgp import Choice, Float, InfiniteGP, Int, Optimizer
from infgp.core.partition import canonical
from infgp.core.state import State
from infgp.errors import InvalidInputError, MissingExtraError
from infgp.plot import style
from infgp.plot.checks import Calibration, Trace, _left_out, without
from infgp.plot.decisions import regret_steps
from infgp.plot.over_inputs import Contour, Slice
from infgp.plot.over_time import History
from infgp.plot.reward_laws import LawAtPoint, ModeOdds
from infgp.plot.shares import Importances, explained
from infgp.plot.subject import subject_of
from infgp.run import Result

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

MIXED = {"rate": Float(1e-3, 1.0, log=True), "n": Int(1, 9), "kind": Choice(["a", None])}
#: Evaluation of `brewed` with a gross error.
ODD = 7


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def reward(point, sign=1.0):
    return sign * (-((np.log10(point["rate"]) + 1.5) ** 2) - 0.05 * (point["n"] - 4) ** 2 + (point["kind"] == "a"))


def told(direction="maximize", n=24):
    """A search with a gross error and a failure."""
    sign = 1.0 if direction == "maximize" else -1.0
    rng, optimizer = np.random.default_rng(3), Optimizer(MIXED, direction, seed=0)
    points = optimizer.space.from_unit(rng.random((n, optimizer.space.d)))
    values = [reward(point, sign) + sign * 0.05 * rng.standard_normal() for point in points]
    values[ODD] -= sign * 60.0
    values[11] = None
    optimizer.tell_many(points, values)
    return optimizer


def coin(n=90):
    """Rewards 0 and 1, the likelier 1 the larger x is."""
    rng, optimizer = np.random.default_rng(0), Optimizer({"x": Float(0.0, 1.0)}, seed=0)
    x = rng.random(n)
    y = (rng.random(n) < x**2 / (x**2 + (1.0 - x) ** 2)) + 0.02 * rng.standard_normal(n)
    optimizer.tell_many([{"x": v} for v in x], y)
    return optimizer


@pytest.fixture(scope="module")
def searched():
    return told()


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    x = 4.0 + 6.0 * rng.random((40, 2))
    y = np.sin(x[:, 0]) + 0.02 * rng.standard_normal(40)
    return InfiniteGP(n_warmup=60, n_samples=12, n_chains=2, random_state=0).fit(x, y)


@pytest.fixture(scope="module")
def study():
    optuna = pytest.importorskip("optuna")
    from infgp.optuna import InfGPSampler, distributions

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    made = optuna.create_study(direction="minimize", sampler=InfGPSampler(seed=0))
    optimizer = told("minimize")
    known = distributions(optimizer.space)
    for o in optimizer.observations:
        if o.value is not None:
            made.add_trial(optuna.create_trial(params=dict(o.point), distributions=known, value=o.value))
    return made


# --- History ----------------------------------------------------------------------------------------------------------


def test_a_history_has_the_rewards_and_marks_the_odd_one(searched):
    before = searched.to_json()
    data = History.of(searched, moments=4)
    assert [None if np.isnan(v) else v for v in data.values] == [o.value for o in searched.observations]
    assert np.flatnonzero(data.off_surface > 0.5).tolist() == [ODD]
    assert np.isnan(data.off_surface[11])
    assert data.steps.tolist() == [3, 10, 17, 24]
    best = searched.recommend()
    assert abs(data.mean[-1] - best.mean) < 3.0 * (data.std[-1] + best.std)
    assert (data.std > 0.0).all()
    assert searched.to_json() == before


def test_a_history_is_the_same_with_the_same_seed(searched):
    one, two, three = (History.of(searched, moments=2, rng=rng) for rng in (1, 1, 2))
    assert one.mean.tolist() == two.mean.tolist() != three.mean.tolist()


def test_a_history_of_failures_has_no_belief():
    optimizer = Optimizer(MIXED, seed=0)
    optimizer.tell(optimizer.ask(), None)
    with pytest.raises(InvalidInputError, match="tell at least one reward"):
        infgp.plot.history(optimizer)


# --- Over the inputs --------------------------------------------------------------------------------------------------


def test_a_slice_is_what_the_optimizer_predicts(searched):
    at = {"rate": 0.1, "n": 2, "kind": None}
    data = Slice.of(searched, "rate", at, count=9)
    assert data.at == at
    points = [{**at, "rate": rate} for rate in data.positions.tolist()]
    mean, std = searched.predict(points)
    assert data.mean == pytest.approx(mean)
    assert data.std == pytest.approx(std)
    assert np.column_stack((data.low, data.high)) == pytest.approx(searched.law(points).quantile([0.1, 0.9]))
    assert np.geomspace(1e-3, 1.0, 9) == pytest.approx(data.positions)
    assert data.rewards.tolist() == [o.value for o in searched.observations if o.value is not None]
    assert data.told.tolist() == pytest.approx([o.point["rate"] for o in searched.observations if o.value is not None])
    assert data.surfaces[0].share > 0.8
    assert sum(line.share for line in data.surfaces) <= 1.0 + 1e-12


def test_a_slice_goes_through_the_best_evaluated_point(searched):
    data = Slice.of(searched, "n")
    assert data.positions.tolist() == list(range(1, 10))
    mean, _ = searched.predict([o.point for o in searched.observations])
    done = [m for m, o in zip(mean, searched.observations, strict=True) if o.value is not None]
    assert data.mean[data.at["n"] - 1] == pytest.approx(max(done))


def test_a_single_surface_follows_the_rewards(searched):
    """The largest surface is near the function, in the user's units and with the user's sign."""
    for optimizer, sign in ((searched, 1.0), (told("minimize"), -1.0)):
        at = {"rate": 0.03, "n": 4, "kind": "a"}
        data = Slice.of(optimizer, "rate", at, count=7)
        truth = [reward({**at, "rate": rate}, sign) for rate in data.positions]
        assert np.abs(data.surfaces[0].values - truth).max() < 0.6


def test_options_have_their_names(searched):
    data = Slice.of(searched, "kind")
    assert data.positions.tolist() == [0.0, 1.0]
    ax = infgp.plot.slice_along(searched, "kind")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "None"]


def test_a_study_is_drawn_with_its_own_options(study):
    optimizer = study.sampler.optimizer(study)
    data = Slice.of(study, "kind", {"rate": 0.1, "n": 2, "kind": None}, count=5)
    assert data.at["kind"] is None
    mean, _ = optimizer.predict([{"rate": 0.1, "n": 2, "kind": k} for k in (0, 1)])
    assert data.mean == pytest.approx(mean)
    ax = infgp.plot.slice_along(study, "kind")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "None"]
    with pytest.raises(InvalidInputError, match=r"kind='b' is not an option; give one of \['a', None\]"):
        Slice.of(study, "n", {"rate": 0.1, "n": 2, "kind": "b"})


def test_a_study_of_another_sampler_is_read():
    optuna = pytest.importorskip("optuna")
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0.0, 1.0), n_trials=8)
    data = Slice.of(study, "x", count=3)
    assert data.mean[0] < data.mean[2]


def test_a_model_is_drawn_in_its_own_units(model):
    data = Slice.of(model, "x0", {"x0": 5.0, "x1": 7.0}, count=11)
    assert data.positions[[0, -1]] == pytest.approx(model._x[:, 0][[model._x[:, 0].argmin(), model._x[:, 0].argmax()]])
    grid = np.column_stack((data.positions, np.full(11, 7.0)))
    assert data.mean == pytest.approx(model.predict(grid), abs=0.15)
    assert data.low == pytest.approx(model.predict_quantiles(grid, 0.1)[:, 0], abs=0.15)


def test_a_model_with_a_learned_warp_is_drawn_in_its_own_units():
    x = np.linspace(0.0, 1.0, 30)[:, None]
    y = np.exp(6.0 * x[:, 0])
    model = InfiniteGP(n_warmup=60, n_samples=8, n_chains=1, warp="learned", random_state=0).fit(x, y)
    data = Slice.of(model, "x0", count=5)
    assert data.mean == pytest.approx(np.exp(6.0 * data.positions), rel=0.2)
    assert data.surfaces[0].values == pytest.approx(np.exp(6.0 * data.positions), rel=0.2)


def test_all_values_of_a_short_range_are_drawn():
    space = {"n": Int(1, 9, log=True), "m": Int(0, 1000, step=2), "q": Float(0.0, 1.0, step=0.25)}
    optimizer = Optimizer(space, seed=0)
    optimizer.tell_many(optimizer.ask(3), [1.0, 2.0, 3.0])
    subject = subject_of(optimizer)
    assert subject.grid("n", 9) == list(range(1, 10))
    assert subject.grid("q", 9) == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert len(subject.grid("m", 9)) == 9
    assert all(value % 2 == 0 for value in subject.grid("m", 9))


def test_parameters_that_do_not_apply_are_refused():
    space = {"kind": Choice(["a", "b"]), "x": Float(0.0, 1.0, when={"kind": "b"})}
    optimizer = Optimizer(space, seed=0)
    optimizer.tell_many([{"kind": "a"}, {"kind": "b", "x": 0.5}, {"kind": "b", "x": 0.1}], [1.0, 2.0, 0.5])
    with pytest.raises(InvalidInputError, match="'x' does not apply at the point"):
        Slice.of(optimizer, "x", {"kind": "a"})
    data = Slice.of(optimizer, "x", {"kind": "b", "x": 0.5})
    assert np.isnan(data.told).tolist() == [True, False, False]
    assert infgp.plot.slice_along(optimizer, "x", {"kind": "b", "x": 0.5})


def test_a_contour_is_what_the_optimizer_predicts(searched):
    at = {"rate": 0.1, "n": 2, "kind": None}
    data = Contour.of(searched, "n", "rate", at, count=4)
    assert data.mean.shape == data.std.shape == data.main.shape == (4, data.x_positions.size)
    for row, rate in enumerate(data.y_positions.tolist()):
        points = [{**at, "n": int(n), "rate": rate} for n in data.x_positions]
        mean, std = searched.predict(points)
        assert data.mean[row] == pytest.approx(mean)
        assert data.std[row] == pytest.approx(std)
    assert (data.x, data.y) == ("n", "rate")
    assert [(c.x, c.y) for c in (Contour.of(searched, y="n", count=2), Contour.of(searched, count=2))] == [
        ("rate", "n"),
        ("rate", "n"),
    ]


def test_what_a_contour_cannot_show(searched):
    with pytest.raises(InvalidInputError, match="two different parameters"):
        infgp.plot.contour(searched, "n", "n")
    with pytest.raises(InvalidInputError, match="two different parameters"):
        infgp.plot.contour(coin(8))
    with pytest.raises(InvalidInputError, match="show='all' is not known"):
        infgp.plot.contour(searched, show="all")
    with pytest.raises(InvalidInputError, match=r"no parameter 'm'; give one of \['rate', 'n', 'kind'\]"):
        infgp.plot.contour(searched, "m")


# --- Laws and odds ----------------------------------------------------------------------------------------------------


def test_two_modes_where_one_gp_has_one():
    optimizer = coin()
    data = LawAtPoint.of(optimizer, {"x": 0.5})
    law = optimizer.law([{"x": 0.5}])
    assert data.density == pytest.approx(law.density(data.rewards[None])[0])
    assert data.mean == pytest.approx(law.mean[0])
    peaks = [len(find_peaks(curve, height=0.1 * curve.max())[0]) for curve in (data.density, data.one_gp)]
    assert peaks == [2, 1]
    for curve in (data.density, data.one_gp):
        assert 0.9 < np.trapezoid(curve, data.rewards) <= 1.001
    assert set(np.round(data.near)) == {0.0, 1.0}


def test_odds_of_the_modes_follow_the_input():
    data = ModeOdds.of(coin(), "x", count=11)
    assert data.odds.sum(axis=0) == pytest.approx(np.ones(11))
    assert data.shares.sum() == pytest.approx(1.0)
    high, low = (int(np.nanargmin(np.abs(data.levels[:-1] - level))) for level in (1.0, 0.0))
    assert high != low
    assert data.odds[high, -1] - data.odds[high, 0] > 0.4
    assert data.odds[low, 0] - data.odds[low, -1] > 0.4
    assert (data.low <= data.high).all()


# --- Importances ------------------------------------------------------------------------------------------------------


def grid_told(f, names=("x", "y"), direction="maximize"):
    rng, optimizer = np.random.default_rng(0), Optimizer(dict.fromkeys(names, Float(0.0, 1.0)), direction, seed=0)
    points = [dict(zip(names, row, strict=True)) for row in rng.random((60, len(names)))]
    optimizer.tell_many(points, [f(**point) for point in points])
    return optimizer


def test_importances_of_a_sum():
    """Var(3x) / Var(3x + y) = 0.9; nothing is left for combinations, nor for z."""
    data = Importances.of(grid_told(lambda x, y, z: 3.0 * x + y, ("x", "y", "z"), "minimize"))
    assert data.mean == pytest.approx([0.9, 0.1, 0.0], abs=0.03)
    low, high = data.interval
    assert (low <= data.mean).all()
    assert (data.mean <= high).all()
    assert data.combinations.mean() < 0.03


def test_importances_of_a_product():
    """(x − ½)(y − ½) has no first-order share at all."""
    data = Importances.of(grid_told(lambda x, y: (x - 0.5) * (y - 0.5)))
    assert data.mean == pytest.approx([0.0, 0.0], abs=0.1)
    assert data.combinations.mean() > 0.85


def test_importances_of_options_and_integers(searched):
    data = Importances.of(searched)
    assert data.names == ("rate", "n", "kind")
    assert data.shares.shape[0] >= 96
    assert data.mean.argmax() == 0
    assert data.ped_anova is None


def test_what_does_not_vary_has_no_share():
    assert explained(np.full((8, 1), 7.0), np.arange(8) % 2).tolist() == [0.0]


def test_a_study_has_the_importances_of_optuna_beside(study):
    data = Importances.of(study)
    assert set(data.ped_anova) == {"rate", "n", "kind"}
    assert sum(data.ped_anova.values()) == pytest.approx(1.0, abs=1e-6)
    ax = infgp.plot.importances(study)
    assert "Optuna's PED-ANOVA" in [text.get_text() for text in ax.get_legend().get_texts()]


# --- Decisions --------------------------------------------------------------------------------------------------------


def test_bars_are_the_probabilities_of_the_candidates(searched):
    found = searched.candidates(3)
    ax = infgp.plot.candidates(searched, top=3)
    assert [bar.get_width() for bar in ax.patches[:3]] == [row.probability for row in found[::-1]]
    assert infgp.plot.candidates(found).patches[0].get_width() == found[-1].probability


def test_steps_are_the_draws_of_the_regret(searched):
    found = searched.regret()
    x, chance = regret_steps(found)
    assert x.tolist() == sorted(found.draws.ravel().tolist())
    assert chance[-1] == 1.0
    assert found.probability_below(x[100]) == pytest.approx(chance[100])


# --- Checks -----------------------------------------------------------------------------------------------------------


def test_places_are_uniform_where_the_noise_is_known_well():
    rng, optimizer = np.random.default_rng(5), Optimizer({"x": Float(0.0, 1.0)}, seed=0)
    x = rng.random(80)
    optimizer.tell_many([{"x": v} for v in x], np.sin(5.0 * x) + 0.3 * rng.standard_normal(80))
    data = Calibration.of(optimizer)
    assert data.which.tolist() == list(range(80))
    assert kstest(data.pit, "uniform").pvalue > 0.001
    some = Calibration.of(optimizer, most=9)
    assert some.pit == pytest.approx(data.pit[some.which])
    assert some.pit.size == 9


def test_an_error_is_far_out_in_the_law_of_the_others(searched):
    data = Calibration.of(searched)
    odd = [o.value for o in searched.observations if o.value is not None].index(searched.observations[ODD].value)
    assert data.log_density.argmin() == odd
    assert data.pit[odd] < 0.1
    assert Calibration.of(told("minimize")).pit == pytest.approx(1.0 - data.pit)


def test_leaving_out_is_predicting_without():
    """For one surface, a law that leaves a reward out is the kriging law from the other rewards."""
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, seed=0, surfaces=1)
    x = np.linspace(0.0, 1.0, 9)
    optimizer.tell_many([{"x": v} for v in x], x**2)
    subject = subject_of(optimizer)
    given = subject.learned.draws[-1]
    pit, log_density = _left_out(subject, [given], 4)
    at, data = subject.learned.data.x[4:5], given.data
    law = given.surface(0)
    members = np.delete(np.arange(9), 4)
    residual = given.residual[members]
    cross = law.cross(at)[members, 0]
    cov = law.factor @ law.factor.T
    weights = np.linalg.solve(cov[np.ix_(members, members)], cross)
    mean = weights @ residual + (np.array([1.0, at[0, 0]]) @ given.state.beta)
    variance = law.surface.sigma2 - weights @ cross + law.surface.tau2
    z = (data.y[4] - mean) / np.sqrt(variance)
    assert pit == pytest.approx(float(ndtr(z)), abs=1e-6)
    unit = subject.learned.chain.scale.scale
    assert log_density == pytest.approx(-0.5 * z**2 - 0.5 * np.log(2.0 * np.pi * variance) - np.log(unit), abs=1e-4)


@pytest.mark.parametrize("i", range(6))
def test_a_state_without_one_is_a_state(i):
    one, labels = np.ones(1), np.array([0, 1, 0, 2, 3, 2])
    scale, grade = np.array([10.0, 11.0, 12.0, 13.0, 99.0]), np.array([0, 1, 2, 3])
    state = State(labels, np.zeros(2), 1.0, np.ones((1, 1)), one, one, scale, grade)
    less = without(state, i)
    rest = np.delete(labels, i)
    assert less.labels.tolist() == canonical(rest).tolist()
    assert less.scale[less.labels].tolist() == scale[rest].tolist()
    assert less.scale[-1] == 99.0
    assert less.grade[less.labels].tolist() == grade[rest].tolist()
    assert less.scale.size == less.n_surfaces + 1


def test_traces_are_those_of_the_chains(model):
    data = Trace.of(model, "log_joint")
    assert data.values.shape == (2, 12)
    assert data.values[1].tolist() == model.chains_[1].traces["log_joint"].tolist()
    assert (data.r_hat, data.ess) == (model.diagnostics_.r_hat["log_joint"], model.diagnostics_.ess["log_joint"])
    assert f"R-hat {data.r_hat:.3f}" in infgp.plot.trace(model, "log_joint").get_title()


# --- The drawing ------------------------------------------------------------------------------------------------------

OF_A_SEARCH = ("history", "slice_along", "contour", "reward_law", "mode_odds", "importances", "candidates", "regret")


@pytest.mark.parametrize("name", [*OF_A_SEARCH, "calibration"])
def test_a_picture_is_drawn_where_it_should_be(name):
    optimizer = told("minimize", 12)
    result = Result(None, None, optimizer.observations, 1.0, "budget", optimizer)
    figure, (first, second) = plt.subplots(1, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert getattr(infgp.plot, name)(result, ax=second) is second
        assert getattr(infgp.plot, name)(optimizer).figure is not figure
        figure.canvas.draw()
    assert second.has_data()
    assert not first.has_data()
    legend = second.get_legend()
    shown = [
        second.get_xlabel(),
        second.get_ylabel(),
        *([] if legend is None else [t.get_text() for t in legend.texts]),
    ]
    assert "reward" not in " ".join(shown)


@pytest.mark.parametrize("name", ["slice_along", "contour", "reward_law", "mode_odds", "importances", "calibration"])
def test_pictures_of_a_model(model, name):
    assert getattr(infgp.plot, name)(model).has_data()


@pytest.mark.parametrize("name", ["history", "candidates", "regret"])
def test_pictures_that_a_model_does_not_have(model, name):
    with pytest.raises(InvalidInputError, match="of an Optimizer, a Result or an Optuna study"):
        getattr(infgp.plot, name)(model)


def test_a_chance_has_an_axis_of_its_own():
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, seed=0, objective=("probability", 50.0))
    optimizer.tell_many([{"x": x} for x in np.linspace(0.0, 1.0, 12)], np.linspace(0.0, 100.0, 12))
    assert infgp.plot.slice_along(optimizer).get_ylim() == (-0.02, 1.02)
    ax = infgp.plot.history(optimizer, moments=2)
    assert ax.get_ylim()[1] > 90.0
    assert [other.get_ylabel() for other in ax.figure.axes] == ["reward", "chance of beating 50"]


def test_several_objectives_have_slices_of_their_own():
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, ["maximize", "minimize"], seed=0)
    optimizer.tell_many([{"x": x} for x in np.linspace(0.0, 1.0, 9)], [[x, 5.0 - x] for x in np.linspace(0.0, 1.0, 9)])
    first, second = (Slice.of(optimizer, "x", objective=k, count=3).mean for k in (0, 1))
    assert first[0] < first[-1] < 2.0 < second[-1] < second[0]
    assert infgp.plot.slice_along(optimizer, objective=1).get_ylabel() == "cost"
    with pytest.raises(InvalidInputError, match="one objective"):
        infgp.plot.history(optimizer)


def test_far_rewards_are_at_the_edge():
    ends = style.window(np.r_[np.linspace(0.0, 1.0, 50), 1e6, -1e6])
    assert -1.0 < ends[0] < 0.0 < 1.0 < ends[1] < 2.0
    ax = style.axes()
    style.rewards(ax, np.arange(3.0), np.array([0.5, 1e6, -1e6]), ends, label="reward")
    shown = {line.get_marker(): line.get_ydata().tolist() for line in ax.lines}
    assert shown["."] == [0.5]
    assert ends[0] < shown["v"][0] < shown["^"][0] < ends[1]


@pytest.mark.parametrize("thing", [None, 3, "study", {"x": 1.0}])
def test_what_cannot_be_drawn_is_named(thing):
    with pytest.raises(InvalidInputError, match="Optimizer"):
        infgp.plot.slice_along(thing)
    with pytest.raises(InvalidInputError, match="fitted InfiniteGP"):
        infgp.plot.trace(thing)


def test_pictures_need_matplotlib(monkeypatch, searched):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"infgp\[plot\]"):
        infgp.plot.candidates(searched.candidates())
