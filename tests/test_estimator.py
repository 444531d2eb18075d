import copy
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from sklearn.utils.estimator_checks import check_estimator

import infgp.estimator.regressor
from infgp import ConvergenceWarning, InfiniteGP, InvalidInputError, Priors
from infgp.core.priors import Fixed, Grid, UniformPhi
from infgp.core.scaling import RewardScale

QUICK = {"n_warmup": 40, "n_samples": 10, "thin": 2, "n_chains": 2, "random_state": 0}


def data(rng, n=30, d=2):
    x = rng.random((n, d))
    return x, np.sin(5.0 * x[:, 0]) + 0.1 * rng.normal(size=n)


SAMPLERS = ["collapsed", "truncated"]
SHARED = pytest.param({"surface_scales": "shared"}, marks=pytest.mark.slow)


@pytest.mark.parametrize("options", [{}, SHARED, {"sampler": "truncated"}], ids=str)
def test_scikit_learn_contract(options):
    estimator = InfiniteGP(n_warmup=30, n_samples=8, thin=2, n_chains=2, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert not failed
    assert sum(r["status"] == "passed" for r in results) >= 45


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize(
    ("kernel", "reference"),
    [
        ("se", RBF),
        ("matern52", lambda ell: Matern(ell, nu=2.5)),
        ("matern32", lambda ell: Matern(ell, nu=1.5)),
    ],
)
def test_one_surface_with_known_hyperparameters_is_a_gaussian_process(kernel, reference, sampler, rng):
    """From the public door: inputs in odd units, rewards scaled, all the way to 1e-8."""
    x, y = data(rng)
    unit = (x - x.min(axis=0)) / np.ptp(x, axis=0)
    priors = Priors(Fixed(0.0), Fixed(0.04), Fixed(1.7), Fixed(0.5), Fixed(0.3))
    options = {"sampler": sampler, "surfaces": 1, "priors": priors}
    model = InfiniteGP(kernel, **options, **QUICK).fit(100.0 * x - 7.0, y)
    at = unit[:7] * 0.9 + 0.02
    scale = RewardScale.fit(y)
    gp = GaussianProcessRegressor(ConstantKernel(1.7) * reference(0.3), alpha=0.04, optimizer=None)
    mean, std = gp.fit(unit, scale.to_standard(y)).predict(at, return_std=True)
    points = 100.0 * (x.min(axis=0) + at * np.ptp(x, axis=0)) - 7.0
    main, main_std = model.predict_main(points, return_std=True)
    assert np.abs(main - scale.from_standard(mean)).max() < 1e-8
    assert np.abs(main_std - scale.scale * std).max() < 1e-8
    both, both_std = model.predict(points, return_std=True)
    assert np.abs(both - main).max() < 1e-8
    assert np.abs(both_std - scale.scale * np.sqrt(std**2 + 0.04)).max() < 1e-8


def test_one_surface_with_known_noise_is_a_gaussian_process(rng):
    """Variances are in squared units of y, and scales are shared although the option says "own"."""
    x, y = data(rng)
    noise = rng.exponential(size=y.size) * (np.arange(y.size) % 3 > 0)
    unit, scale = (x - x.min(axis=0)) / np.ptp(x, axis=0), RewardScale.fit(y)
    priors = Priors(Fixed(0.0), Fixed(0.04), Fixed(1.7), Fixed(0.5), Fixed(0.3))
    model = InfiniteGP(surfaces=1, priors=priors, **QUICK).fit(x, y, noise_variance=noise.tolist())
    gp = GaussianProcessRegressor(ConstantKernel(1.7) * RBF(0.3), alpha=0.04 + noise / scale.scale**2, optimizer=None)
    mean, std = gp.fit(unit, scale.to_standard(y)).predict(unit, return_std=True)
    main, main_std = model.predict_main(x, return_std=True)
    assert np.abs(main - scale.from_standard(mean)).max() < 1e-8
    assert np.abs(main_std - scale.scale * std).max() < 1e-8
    assert np.abs(model.predict(x, return_std=True)[1] - scale.scale * np.sqrt(std**2 + 0.04)).max() < 1e-8


def test_known_noise_is_believed(rng):
    """Rewards that are known to be poor do not bend the surface, and zeros are the same as no variances."""
    x = np.linspace(0.0, 1.0, 40)[:, None]
    truth = np.sin(5.0 * x[:, 0])
    noise = np.where(np.arange(40) % 2, 4.0, 0.0)
    y = truth + 0.05 * rng.normal(size=40) + np.sqrt(noise) * rng.normal(size=40)
    model = InfiniteGP(random_state=0).fit(x, y, noise)
    assert np.sqrt(np.mean((model.predict_main(x) - truth) ** 2)) < 0.1
    plain, zeros = InfiniteGP(**QUICK).fit(x, y), InfiniteGP(**QUICK).fit(x, y, np.zeros(40))
    assert np.array_equal(plain.predict(x), zeros.predict(x))


def test_enormous_noise_is_no_information(rng):
    x, y = data(rng)
    noise = np.zeros(30)
    noise[:3] = 1e-300, 1e30, 1e300
    assert np.isfinite(InfiniteGP(**QUICK).fit(x, 1e-9 * y, noise).predict(x, return_std=True)).all()


@pytest.mark.parametrize("init", ["one", "random", "alone"])
def test_outliers_are_found_and_do_not_bend_the_surface(init, rng):
    x = rng.random((60, 1))
    truth = np.sin(6.0 * x[:, 0])
    y = truth + 0.1 * rng.normal(size=60)
    bad = [5, 23, 41]
    y[bad] += [20.0, -30.0, 25.0]
    model = InfiniteGP(init=init, random_state=1).fit(x, y)
    p = model.off_surface_probability_
    assert p[bad].min() > 0.95
    assert np.delete(p, bad).max() < 0.5
    assert np.sqrt(np.mean((model.predict_main(x) - truth) ** 2)) < 0.1
    low, high = model.predict_quantiles(x, [0.05, 0.95]).T
    inside = np.mean((np.delete(y, bad) > np.delete(low, bad)) & (np.delete(y, bad) < np.delete(high, bad)))
    assert 0.8 < inside <= 1.0


@pytest.mark.parametrize("init", ["one", "random", "alone"])
def test_both_modes_of_a_bimodal_reward_are_seen(init, rng):
    x = rng.random((80, 1))
    y = np.sin(4.0 * x[:, 0]) + rng.choice([-2.0, 2.0], 80) + 0.1 * rng.normal(size=80)
    model = InfiniteGP(init=init, random_state=1).fit(x, y)
    at = np.array([[0.5]])
    centre = np.sin(2.0)
    peaks = model.predict_density(np.repeat(at, 3, 0), [centre - 2.0, centre, centre + 2.0])
    assert min(peaks[0], peaks[2]) > 5.0 * peaks[1]


def test_views_of_the_distribution_agree(rng):
    x, y = data(rng)
    model = InfiniteGP(**QUICK).fit(x, 40.0 + 3.0 * y)
    at = rng.random((4, 2))
    quantiles = model.predict_quantiles(at, [0.1, 0.5, 0.9])
    assert quantiles.shape == (4, 3)
    assert np.allclose(model.predict_cdf(at, quantiles), [[0.1, 0.5, 0.9]] * 4)
    grid = np.linspace(0.0, 80.0, 4001)
    density = model.predict_density(at, np.tile(grid, (4, 1)))
    assert np.allclose(density.sum(axis=1) * 0.02, 1.0, atol=1e-3)
    mean, std = model.predict(at, return_std=True)
    assert np.allclose((density * grid).sum(axis=1) * 0.02, mean, atol=0.05)
    draws = model.sample_y(at, n_samples=2000, random_state=3)
    assert draws.shape == (4, 2000)
    assert np.abs(np.median(draws, axis=1) - quantiles[:, 1]).max() < 0.2 * std.max()
    assert model.predict_density(at, 40.0).shape == (4,)
    assert model.predict_quantiles(at, 0.5).shape == (4, 1)


def test_memory_is_bounded_without_changing_the_answer(rng, monkeypatch):
    x, y = data(rng)
    model = InfiniteGP(**QUICK).fit(x, y)
    whole = model.predict(x)
    monkeypatch.setattr("infgp.estimator.posterior.CHUNK", 100)
    assert np.allclose(model.predict(x), whole, rtol=1e-10)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_same_seed_same_numbers(sampler, rng):
    x, y = data(rng)
    first, second = (InfiniteGP(sampler=sampler, **QUICK).fit(x, y) for _ in range(2))
    other = InfiniteGP(sampler=sampler, **QUICK | {"random_state": 1}).fit(x, y)
    assert np.array_equal(first.predict(x), second.predict(x))
    assert np.array_equal(first.sample_y(x), second.sample_y(x))
    assert not np.array_equal(first.predict(x), other.predict(x))
    for state in (np.random.default_rng(3), np.random.RandomState(3), None):
        assert np.isfinite(clone(first).set_params(random_state=state).fit(x, y).predict(x)).all()


def test_units_do_not_matter(rng):
    x, y = data(rng)
    plain = InfiniteGP(**QUICK).fit(x, y).predict(x)
    scaled = InfiniteGP(**QUICK).fit(1024.0 * x, 4.0 * y).predict(1024.0 * x)
    assert np.allclose(scaled, 4.0 * plain, rtol=1e-6)


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("kernel", ["se", "auto"])
@pytest.mark.parametrize("ard", [True, False])
def test_goes_on_from_a_state(kernel, ard, sampler, rng):
    x, y = data(rng)
    first = InfiniteGP(kernel, ard=ard, sampler=sampler, **QUICK).fit(x[:20], y[:20])
    draws = first.chains_[0]
    longer = InfiniteGP(kernel, ard=ard, sampler=sampler, init=draws, **QUICK).fit(x, y)
    assert longer.chains_[0].states[0].labels.size == 30
    with pytest.raises(InvalidInputError, match="state to go on from has 20 observations"):
        InfiniteGP(init=draws, **QUICK).fit(x[:5], y[:5])


@pytest.mark.parametrize("way", ["warm_start", "init"])
def test_a_state_is_carried_over_in_the_units_of_the_new_data(way, rng, monkeypatch):
    """Data that stretches inputs and rewards more than tenfold changes the numbers of the state that goes on."""
    x = rng.random((40, 1))
    y = 3.0 + np.sin(4.0 * x[:, 0]) + 0.05 * rng.normal(size=40)
    far_x, far_y = 20.0 * rng.random((60, 1)), 40.0 * rng.normal(size=60)
    model = InfiniteGP(n_warmup=150, n_samples=4, n_chains=1, surfaces=1, random_state=0).fit(x, y)
    before = model.chains_[0].states[-1]
    both, rewards = np.vstack((x, far_x)), np.r_[y, far_y]
    options = {"warm_start": True} if way == "warm_start" else {"init": model.chains_[0]}
    model.set_params(n_warmup=0, n_samples=1, thin=1, **options)
    seen, original = [], infgp.estimator.regressor.run_collapsed

    def spy(rng, data, model, schedule, start, **options):
        seen.append(start)
        return original(rng, data, model, schedule, start, **options)

    monkeypatch.setattr(infgp.estimator.regressor, "run_collapsed", spy)
    model.fit(both, rewards)
    ratio_x = np.ptp(both) / np.ptp(x)
    ratio_y = RewardScale.fit(rewards).scale / RewardScale.fit(y).scale
    assert ratio_x > 10.0
    assert ratio_y > 10.0
    assert seen[0].phi == pytest.approx(before.phi * ratio_x**2)
    assert seen[0].tau2 == pytest.approx(before.tau2 / ratio_y**2)


def test_acceptance_rates_are_shown(rng):
    x, y = data(rng)
    rates = InfiniteGP(**QUICK).fit(x, y).diagnostics_.acceptance
    assert set(rates) == {"split or merger", "step of the length-scales", "reallocation"}
    assert all(0.0 <= rate <= 1.0 for rate in rates.values())
    assert InfiniteGP(surfaces=1, **QUICK).fit(x, y).diagnostics_.acceptance == {}


def bimodal(rng, n):
    x = rng.random((n, 1))
    return x, np.sin(5.0 * x[:, 0]) + rng.choice([-1.5, 1.5], n) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("scales", ["shared", "own"])
def test_warm_start_agrees_with_a_cold_one(scales, rng):
    """Chains that have grown with the data, with a short warm-up each time, end where fresh ones do."""
    x, y = bimodal(rng, 60)
    warm = InfiniteGP(warm_start=True, surface_scales=scales, n_warmup=250, n_samples=100, random_state=0)
    warm.fit(x[:40], y[:40]).set_params(n_warmup=30)
    for n in range(45, 61, 5):
        warm.fit(x[:n], y[:n])
    cold = InfiniteGP(surface_scales=scales, n_warmup=400, n_samples=100, random_state=1).fit(x, y)
    at = np.linspace(0.05, 0.95, 7)[:, None]
    levels = np.linspace(-3.0, 3.0, 25)
    edges = np.tile(levels, (7, 1))
    gap = np.abs(warm.predict_cdf(at, edges) - cold.predict_cdf(at, edges))
    assert gap.max() < 0.06
    assert np.abs(warm.predict(at) - cold.predict(at)).max() < 0.1


def test_warm_start_with_other_data_starts_afresh(rng):
    x, y = data(rng)
    model = InfiniteGP(warm_start=True, **QUICK).fit(x, y)
    fresh = InfiniteGP(**QUICK).fit(x[::-1], y[::-1])
    assert np.array_equal(model.fit(x[::-1], y[::-1]).predict(x), fresh.predict(x))
    noise = np.linspace(0.0, 0.1, y.size)
    for other in (noise, 2.0 * noise):  # with other variances, too
        fresh = InfiniteGP(**QUICK).fit(x, y, other)
        assert np.array_equal(model.fit(x, y, other).predict(x), fresh.predict(x))


def test_paper_prior_and_fixed_truncation(rng):
    x, y = data(rng)
    model = InfiniteGP(
        sampler="truncated", ard=False, priors=Priors(lengthscale=UniformPhi()), truncation=3, **QUICK
    ).fit(x, y)
    assert max(state.n_surfaces for chain in model.chains_ for state in chain.states) <= 3


def test_poor_chains_warn_and_say_what_to_do(rng):
    x, y = data(rng)
    with pytest.warns(ConvergenceWarning, match=r"R-hat .* Raise n_warmup \(now 2\)"):
        InfiniteGP(n_warmup=2, n_samples=4, thin=1, n_chains=4, random_state=0).fit(x, y)


def test_progress_bar_on_request(rng, capsys):
    x, y = data(rng)
    InfiniteGP(progress=True, **QUICK).fit(x, y)  # 2 chains × (40 + 10 × 2) sweeps
    assert "120/120" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of ArviZ: where a trace is constant, R-hat is not defined
def test_to_arviz(rng):
    arviz = pytest.importorskip("arviz", reason="the extra 'arviz' is not installed")
    x, y = data(rng)
    model = InfiniteGP(ard=False, **QUICK).fit(x, y)
    found = model.to_arviz()
    assert found.posterior["beta"].shape == (2, 10, 3)
    assert found.sample_stats["labels"].shape == (2, 10, 30)
    np.testing.assert_array_equal(found.observed_data["y"], y)
    np.testing.assert_array_equal(found.constant_data["X"], x)
    assert float(arviz.rhat(found.posterior["log_tau2"])["log_tau2"]) == pytest.approx(
        model.diagnostics_.r_hat["log_tau2"], rel=1e-6
    )
    assert {"log_tau2", "beta[0]", "lengthscale[0]"} <= set(arviz.summary(found).index)
    assert not hasattr(model.to_arviz(log_likelihood=False), "log_likelihood")


@pytest.mark.filterwarnings("ignore::UserWarning")  # of ArviZ: 20 draws are few
def test_arviz_leaves_one_out_and_sees_which_model_is_better(rng):
    """Rewards with outliers: the mixture is expected to predict far better than one surface."""
    arviz = pytest.importorskip("arviz", reason="the extra 'arviz' is not installed")
    x = rng.random((30, 1))
    y = np.sin(5.0 * x[:, 0]) + 0.1 * rng.normal(size=30)
    y[::10] += (20.0, -30.0, 25.0)
    left = [arviz.loo(InfiniteGP(surfaces=surfaces, **QUICK).fit(x, y).to_arviz()) for surfaces in (None, 1)]
    mixture, one = (float(getattr(found, "elpd_loo", getattr(found, "elpd", np.nan))) for found in left)
    assert mixture > one + 20.0


# --- Numbers at the edge ---------------------------------------------------------------------------------------------


def hard_cases():
    rng = np.random.default_rng(0)
    x, y = rng.random((15, 2)), rng.normal(size=15)
    outlier = y.copy()
    outlier[3] = 1e6
    return {
        "duplicates": (np.repeat(x[:3], 5, 0), y),
        "one point": (x[:1], y[:1]),
        "two points": (x[:2], y[:2]),
        "three points": (x[:3], y[:3]),
        "constant y": (x, np.full(15, 3.0)),
        "constant y and X": (np.ones((15, 2)), np.full(15, 3.0)),
        "mostly constant y": (x, np.r_[np.zeros(14), 5.0]),
        "tiny y": (x, 1e-12 * y),
        "huge y": (x, 1e12 * y),
        "far from zero": (x, 1e12 + y),
        "50 inputs": (rng.random((15, 50)), y),
        "outlier": (x, outlier),
        "nearly equal points": (np.r_[x, x + 1e-9], np.r_[y, -y]),
        "wide inputs": (x * [1e-9, 1e9], y),
        "float32": (x.astype(np.float32), y.astype(np.float32)),
        "lists of int": ([[0, 1], [1, 0], [2, 2]], [1, 2, 3]),
    }


VARIANTS = [
    {},
    {"surface_scales": "shared"},
    {"ard": False},
    {"sampler": "truncated"},
    {"sampler": "truncated", "ard": False},
]


@pytest.mark.parametrize("kernel", ["matern52", "auto"])
@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("case", hard_cases())
def test_answers_are_finite(case, kernel, options):
    x, y = hard_cases()[case]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = InfiniteGP(kernel, **options, **QUICK).fit(x, y)
        mean, std = model.predict(x, return_std=True)
        quantiles = model.predict_quantiles(x, [0.01, 0.5, 0.99])
        draws = model.sample_y(x, 2)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert (std > 0.0).all()
    assert np.isfinite(quantiles).all()
    assert (np.diff(quantiles, axis=1) > 0.0).all()
    assert np.isfinite(draws).all()
    assert np.isfinite(model.predict_main(x)).all()
    assert ((model.off_surface_probability_ >= 0.0) & (model.off_surface_probability_ <= 1.0)).all()


@pytest.mark.parametrize("tau2", [1e-9, 1e-13])
def test_tiny_known_noise(tau2, rng):
    """A fixed noise near the edge of double precision: the surface's variance stays where it can be computed."""
    x, y = data(rng)
    model = InfiniteGP(priors=Priors(tau2=Fixed(tau2)), **QUICK).fit(x, y)
    assert np.isfinite(model.predict(x)).all()
    with pytest.raises(InvalidInputError, match="Fix tau2 at a larger value"):
        InfiniteGP(priors=Priors(tau2=Fixed(1e-14), sigma2=Fixed(2.0)), **QUICK).fit(x, y)


BAD_DATA = {
    "NaN in X": ([[np.nan], [1.0]], [1.0, 2.0], "NaN"),
    "infinite y": ([[0.0], [1.0]], [1.0, np.inf], "infinity"),
    "NaN in y": ([[0.0], [1.0]], [1.0, np.nan], "NaN"),
    "lengths differ": ([[0.0], [1.0]], [1.0], "inconsistent"),
    "X is one-dimensional": ([0.0, 1.0], [1.0, 2.0], "2D"),
    "no observations": (np.empty((0, 1)), [], "0 sample"),
    "y out of reach": (np.eye(12), [*range(11), 1e300], r"y\[11\].*too far from the median"),
    "X out of reach": ([[-1e308], [1e308]], [0.0, 1.0], "Column 0 of X spans"),
}
BAD_OPTIONS = [
    ({"kernel": "rbf"}, "kernel='rbf' is not known"),
    ({"sampler": "nuts"}, "sampler='nuts' is not known"),
    ({"n_warmup": -1}, "n_warmup must be an integer >= 0"),
    ({"n_samples": 0}, "n_samples must be an integer >= 1"),
    ({"n_chains": 1.5}, "n_chains must be an integer"),
    ({"truncation": 0}, "truncation must be an integer >= 1"),
    ({"init": "many"}, "init='many' is not known"),
    ({"priors": "flat"}, "priors must be an infgp.Priors"),
    ({"random_state": "x"}, "random_state must be"),
    ({"priors": Priors(lengthscale=Grid(np.zeros(1), np.ones(1)))}, "set ard=False"),
    ({"surfaces": 2}, "surfaces must be None"),
    ({"surfaces": True}, "surfaces must be None"),
    ({"ard": "yes"}, "ard must be True or False"),
    ({"surface_scales": "many"}, "surface_scales='many' is not known"),
    ({"truncation": 3}, "The collapsed sampler is not truncated"),
]


@pytest.fixture(scope="module")
def fitted():
    x, y = data(np.random.default_rng(0))
    return InfiniteGP(**QUICK).fit(x, y), x


def assert_unchanged(model, x, action, message):
    before = copy.deepcopy(model.__dict__)
    answer = model.predict(x)
    with pytest.raises(ValueError, match=message):
        action(model)
    assert model.__dict__.keys() == before.keys()
    assert np.array_equal(model.predict(x), answer)


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_is_refused_and_changes_nothing(case, fitted):
    model, x = fitted
    bad_x, bad_y, message = BAD_DATA[case]
    assert_unchanged(model, x, lambda m: m.fit(bad_x, bad_y), message)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ([-1.0, 0.0], "finite and >= 0, but that of reward 0 is -1.0"),
        ([0.0, np.nan], "that of reward 1 is nan"),
        ([0.0, np.inf], "that of reward 1 is inf"),
        ([0.0], r"one entry for each of the 2 rewards, but has shape \(1,\)"),
        (0.5, "one entry for each"),
        (["a", "b"], "made of numbers"),
    ],
)
def test_bad_variances_are_refused_and_change_nothing(noise, message, fitted):
    model, x = fitted
    assert_unchanged(model, x, lambda m: m.fit([[0.0], [1.0]], [1.0, 2.0], noise), message)


def test_the_truncated_sampler_takes_no_variances():
    with pytest.raises(InvalidInputError, match="noise_variance is for sampler"):
        InfiniteGP(sampler="truncated", **QUICK).fit([[0.0], [1.0]], [1.0, 2.0], [0.1, 0.0])


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS)
def test_bad_options_are_refused(options, message, rng):
    x, y = data(rng)
    with pytest.raises(InvalidInputError, match=message):
        InfiniteGP(**QUICK | options).fit(x, y)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda m: m.predict([[0.0]]), "expecting 2 features"),
        (lambda m: m.predict([[np.nan, 0.0]]), "NaN"),
        (lambda m: m.predict_quantiles([[0.0, 0.0]], [0.0]), "strictly between 0 and 1"),
        (lambda m: m.predict_quantiles([[0.0, 0.0]], []), "strictly between 0 and 1"),
        (lambda m: m.predict_density([[0.0, 0.0]], [1.0, 2.0]), "one entry or row for each of the 1 rows"),
        (lambda m: m.predict_cdf([[0.0, 0.0]], [np.nan]), "NaN"),
        (lambda m: m.sample_y([[0.0, 0.0]], 0), "n_samples must be an integer >= 1"),
    ],
)
def test_bad_questions_are_refused(action, message, fitted):
    model, x = fitted
    assert_unchanged(model, x, action, message)


# --- Learned warps ---------------------------------------------------------------------------------------------------


def decades(rng, n):
    """Rewards over six decades with log-normal noise."""
    x = rng.random((n, 2))
    return x, 10.0 ** (1.5 * (np.sin(5.0 * x[:, 0]) + np.cos(4.0 * x[:, 1])) + 0.1 * rng.normal(size=n))


def test_a_learned_warp_resolves_decades(rng):
    (x, y), (at, rewards) = decades(rng, 60), decades(rng, 150)
    options = {"random_state": 0, "n_warmup": 80, "n_samples": 20}
    warped, plain = (InfiniteGP(warp=w, **options).fit(x, y) for w in ("learned", None))
    gain = np.log(warped.predict_density(at, rewards)) - np.log(plain.predict_density(at, rewards))
    assert gain.mean() > 1.0
    low, middle, high = warped.predict_quantiles(at, [0.05, 0.5, 0.95]).T
    assert 0.8 < np.mean((low < rewards) & (rewards < high)) < 1.0
    assert np.sqrt(np.mean(np.log10(np.maximum(middle, 1e-9) / rewards) ** 2)) < 0.5
    assert warped.predict_cdf(at, middle) == pytest.approx(np.full(150, 0.5), abs=1e-6)
    assert np.isfinite(warped.predict(at, return_std=True)).all()
    assert np.isfinite(warped.predict_main(at, return_std=True)).all()


def test_means_through_a_warp_are_those_of_draws(rng):
    (x, y), (at, _) = decades(rng, 40), decades(rng, 3)
    model = InfiniteGP(warp="learned", random_state=0, n_warmup=60, n_samples=10).fit(x, y)
    law, drawn = model.law(at), model.sample_y(at, n_samples=4000)
    assert model.predict(at) == pytest.approx(law.mean)
    assert np.median(drawn, axis=1) == pytest.approx(law.median, rel=0.1)
    inner = np.clip(drawn, *law.quantile([0.02, 0.98]).T[:, :, None])
    direct = np.clip(law.sample(4000, 1), *law.quantile([0.02, 0.98]).T[:, :, None])
    assert inner.mean(axis=1) == pytest.approx(direct.mean(axis=1), rel=0.1)


@pytest.mark.parametrize("kind", ["success or failure", "constant", "three", "known noise"])
def test_without_evidence_for_a_warp_there_is_none(rng, kind):
    n = 3 if kind == "three" else 20
    x, y = rng.random((n, 1)), rng.normal(size=n)
    if kind == "success or failure":
        y = (y > 0.0).astype(float)
    if kind == "constant":
        y = np.full(n, 2.0)
    noise = np.full(n, 0.1) if kind == "known noise" else None
    options = {"random_state": 0, "n_warmup": 10, "n_samples": 4}
    warped, plain = (InfiniteGP(warp=w, **options).fit(x, y, noise) for w in ("learned", None))
    assert warped.predict(x) == pytest.approx(plain.predict(x))


def test_chains_with_warps_go_on(rng):
    x, y = decades(rng, 40)
    options = {"random_state": 0, "n_warmup": 60, "n_samples": 5}
    model = InfiniteGP(warp="learned", warm_start=True, **options).fit(x[:30], y[:30])
    before = model.chains_[0]
    model.set_params(n_warmup=0).fit(x, 1e3 * y - 5.0)  # other data: afresh
    model.set_params(n_warmup=0, init=before).fit(x, y)
    assert model.chains_[0].states[0].warp > 0
    assert np.isfinite(model.predict(x)).all()
    assert np.isfinite(InfiniteGP(init=before, **options).fit(x, y).predict(x)).all()  # a model without warps


def test_warps_that_cannot_be_are_refused():
    with pytest.raises(InvalidInputError, match="warp='log' is not known"):
        InfiniteGP(warp="log").fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(InvalidInputError, match="knows no warps"):
        InfiniteGP(warp="learned", sampler="truncated").fit([[0.0], [1.0]], [0.0, 1.0])
