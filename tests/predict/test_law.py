from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

import infgp
from infgp import Law
from infgp.core.rewardmap import WarpedScale
from infgp.core.scaling import RewardScale
from infgp.core.warp import Warp
from infgp.errors import InvalidInputError
from infgp.predict.mixture import Mixture, predictive

AFFINE = RewardScale(50.0, 4.0)
WARPED = WarpedScale(AFFINE, Warp(0.5, 0.7), 500.0)
SHARES = (0.001, 0.05, 0.3, 0.9)


@pytest.fixture(
    params=[(AFFINE, 1.0), (WARPED, 1.0), (AFFINE, -1.0), (WARPED, -1.0)],
    ids=["affine", "warped", "affine, minimise", "warped, minimise"],
)
def law(request):
    """Three points: a bulk with a rare wide component, two modes, and a bulk on the exponential parts of the warp."""
    weights = np.array([[0.95, 0.04, 0.01], [0.5, 0.5, 0.0], [0.2, 0.2, 0.6]])
    means = np.array([[0.3, 1.0, 0.0], [-1.5, 2.5, 0.0], [4.0, -4.0, 5.0]])
    variances = np.array([[0.04, 2.0, 9.0], [0.01, 0.3, 1.0], [0.1, 0.5, 1.0]])
    return Law(Mixture(weights, means, variances), *request.param)


def integrate(law, i, function, levels=(0.0, 1.0)):
    """∫ function(y) dF over the rewards at point i between two levels, by quadrature over z."""
    mix = Mixture(*(part[i : i + 1] for part in (law.mixture.weights, law.mixture.means, law.mixture.variances)))
    inner = [level for level in levels if 0.0 < level < 1.0]
    found = dict(zip(inner, mix.quantile(np.array(inner))[0], strict=True)) if inner else {}
    low, high = (found.get(level, end) for level, end in zip(levels, (-30.0, 30.0), strict=True))
    kinks = [low, *(k for k in sorted((*WARPED.ends, *mix.means[0])) if low < k < high), high]

    def integrand(z):
        y = law.sign * law.rewards.from_standard(np.clip(z, *law.rewards.ends))
        return float(function(y) * np.exp(mix.logpdf(np.array([z]))[0]))

    return sum(quad(integrand, a, b, limit=200)[0] for a, b in pairwise(kinks))


def test_moments_are_integrals_over_the_law(law):
    for i in range(3):
        mean = integrate(law, i, lambda y: y)
        assert law.mean[i] == pytest.approx(mean, rel=1e-6)
        assert law.std[i] == pytest.approx(np.sqrt(integrate(law, i, lambda y, mean=mean: (y - mean) ** 2)), rel=1e-6)


def test_cvar_is_the_mean_of_the_worst_share(law):
    """The worst rewards are low in the model's units, whatever the direction."""
    for share in SHARES:
        worst = [integrate(law, i, lambda y: y, (0.0, share)) / share for i in range(3)]
        assert law.cvar(share) == pytest.approx(worst, rel=1e-5)
    assert np.array_equal(law.cvar(1.0), law.mean)
    assert law.cvar(1.0 - 1e-9) == pytest.approx(law.mean, rel=1e-5)


def test_samples_follow_the_law(law):
    drawn = law.sample(1_000_000, 1)
    assert drawn.shape == (3, 1_000_000)
    error = law.std / 1e3
    assert np.all(np.abs(drawn.mean(axis=1) - law.mean) < 4.5 * error)
    worst = np.sort(law.sign * drawn, axis=1)[:, :100_000]
    assert np.all(np.abs(law.sign * worst.mean(axis=1) - law.cvar(0.1)) < 15.0 * error)
    assert np.mean(law.sign * drawn > law.sign * 52.0, axis=1) == pytest.approx(law.probability(52.0), abs=2.5e-3)
    uniform = law.cdf(drawn[:, :20_000])
    assert min(kstest(row, "uniform").pvalue for row in uniform) > 1e-4
    assert np.array_equal(law.sample(5, 3), law.sample(5, np.random.default_rng(3)))


def test_quantiles_invert_the_distribution_function(law):
    levels = np.array([1e-4, 0.1, 0.5, 0.9, 1.0 - 1e-4])
    found = law.quantile(levels)
    assert found.shape == (3, 5)
    assert np.all(np.diff(found) > 0.0)
    assert law.cdf(found) == pytest.approx(np.tile(levels, (3, 1)), abs=1e-9)
    assert np.array_equal(law.quantile(0.5), law.median)
    assert np.array_equal(law.median, found[:, 2])


def test_the_density_is_the_derivative_of_the_distribution_function(law):
    ends = law.quantile([0.003, 0.997])
    for i in range(3):
        y = np.linspace(*ends[i], 4_001)
        one = Law(Mixture(*(p[i : i + 1] for p in vars(law.mixture).values())), law.rewards, law.sign)
        density = one.density(y[None])[0]
        assert np.trapezoid(density, y) == pytest.approx(0.994, abs=1e-4)
        middle, step = y[1::100], 1e-5
        slope = (one.cdf(middle[None] + step) - one.cdf(middle[None] - step)) / (2.0 * step)
        assert slope[0] == pytest.approx(one.density(middle[None])[0], rel=1e-4, abs=1e-9)


def test_probability_is_the_chance_of_better(law):
    threshold = np.array([51.0, 40.0, 90.0])
    below = law.cdf(threshold)
    assert law.probability(threshold) == pytest.approx(1.0 - below if law.sign > 0 else below, abs=1e-12)
    assert law.cdf([[-np.inf, np.inf]] * 3).tolist() == [[0.0, 1.0]] * 3
    assert law.density([[-np.inf, np.inf]] * 3).tolist() == [[0.0, 0.0]] * 3


def test_minimising_is_maximising_what_is_negated(law):
    up, down = replace(law, sign=1.0), replace(law, sign=-1.0)
    assert np.array_equal(down.mean, -up.mean)
    assert np.array_equal(down.std, up.std)
    assert np.array_equal(down.cvar(0.1), -up.cvar(0.1))
    assert down.quantile(0.2) == pytest.approx(-up.quantile(0.8))
    assert np.array_equal(down.probability(-48.0), up.probability(48.0))
    assert np.array_equal(down.density(-48.0), up.density(48.0))
    assert down.cdf(-48.0) == pytest.approx(1.0 - up.cdf(48.0))
    assert np.array_equal(down.sample(9, 0), -up.sample(9, 0))


def test_the_law_follows_an_affine_change_of_units(law):
    """y ↦ 1000 + 0.1 y, with the sign of the direction."""
    scale = RewardScale(law.sign * 1000.0 + 5.0, 0.4)
    other = replace(law, rewards=replace(law.rewards, scale=scale) if law.rewards is WARPED else scale)
    assert other.mean == pytest.approx(1000.0 + 0.1 * law.mean)
    assert other.std == pytest.approx(0.1 * law.std)
    assert other.cvar(0.05) == pytest.approx(1000.0 + 0.1 * law.cvar(0.05))
    assert other.quantile([0.1, 0.7]) == pytest.approx(1000.0 + 0.1 * law.quantile([0.1, 0.7]))
    assert other.density(1005.2) == pytest.approx(10.0 * law.density(52.0))


def test_large_rewards_that_are_alike_keep_their_digits(law):
    far = Law(law.mixture, replace(WARPED, scale=RewardScale(1e9, 1e-3)))
    near = Law(law.mixture, replace(WARPED, scale=RewardScale(0.0, 1e-3)))
    assert far.std == pytest.approx(near.std, rel=1e-3)
    assert far.cvar(1e-3) - 1e9 == pytest.approx(near.cvar(1e-3), abs=1e-6)


def test_moments_do_not_depend_on_the_blocks(law, monkeypatch):
    mean, worst = law.mean, law.cvar(0.1)
    monkeypatch.setattr("infgp.predict.law.BLOCK", 1)
    again = replace(law)
    assert np.array_equal(again.mean, mean)
    assert np.array_equal(again.cvar(0.1), worst)


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, np.nan, "half", [], [[0.5]], [0.5, 2.0]])
def test_bad_levels_are_named(law, q):
    with pytest.raises(InvalidInputError, match="q must be"):
        law.quantile(q)


@pytest.mark.parametrize("q", [0.0, 1.1, np.nan, None, [0.1, 0.2]])
def test_bad_shares_are_named(law, q):
    with pytest.raises(InvalidInputError, match="q must be"):
        law.cvar(q)


def test_bad_rewards_and_samples_are_named(law):
    with pytest.raises(InvalidInputError, match="one entry or row for each of the 3 points"):
        law.cdf([1.0, 2.0])
    with pytest.raises(InvalidInputError, match="y must be a number"):
        law.density(np.nan)
    with pytest.raises(InvalidInputError, match="threshold must be a number"):
        law.probability("high")
    with pytest.raises(InvalidInputError, match="n must be an integer"):
        law.sample(0)
    for rng in ("seed", -1):
        with pytest.raises(InvalidInputError, match="rng must be"):
            law.sample(1, rng)


# --- Of an optimizer and of an estimator ------------------------------------------------------------------------------

POINTS = [{"x": 0.1}, {"x": 0.5}, {"x": 0.9}]


def told(rewards=None, **options):
    """A search that was told rewards of which one in five is a prize."""
    rng = np.random.default_rng(0)
    optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0, **options)
    for x in rng.random(25):
        value = x + 0.1 * rng.standard_normal() + 30.0 * (rng.random() < 0.2)
        optimizer.tell({"x": float(x)}, value if rewards is None else rewards(value))
    return optimizer


def test_the_mean_of_warped_rewards_is_their_mean():
    """States see losses over decades through warps; the mean of each, and that of all, is the mean of rewards."""
    law = told(lambda value: 10.0 ** (value / 10.0 - 2.0), direction="minimize").law(POINTS)
    error = law.std / np.sqrt(200_000)
    assert np.all(np.abs(law.sample(200_000, 0).mean(axis=1) - law.mean) < 4.5 * error)
    warped = [part for part in getattr(law, "laws", [law]) if isinstance(part.rewards, WarpedScale)]
    assert warped
    for part in warped:
        assert np.all(np.abs(part.sample(200_000, 0).mean(axis=1) - part.mean) < 4.5 * part.std / np.sqrt(200_000))
        middle = part.rewards.from_standard(part.mixture.mean())
        assert np.max(np.abs(part.mean - middle) / error) > 4.5  # it is not the map of a mean


def test_without_a_warp_the_law_is_the_mixture():
    optimizer = told(warp=None)
    law = optimizer.law(POINTS)
    assert isinstance(law.rewards, RewardScale)
    assert law.mean == pytest.approx(law.rewards.from_standard(law.mixture.mean()))
    assert law.std == pytest.approx(law.rewards.scale * law.mixture.std())
    assert law.quantile([0.1, 0.9]) == pytest.approx(
        law.rewards.from_standard(law.mixture.quantile(np.array([0.1, 0.9])))
    )


def test_the_law_is_that_of_the_recommendation_and_changes_nothing():
    optimizer = told()
    best = optimizer.recommend()
    law = optimizer.law([best.point])
    assert law.quantile(list(best.quantiles))[0] == pytest.approx(list(best.quantiles.values()))
    assert optimizer.ask() == told().ask()


def test_a_search_that_minimises_has_the_law_of_what_is_told():
    up, down = told().law(POINTS), told(lambda y: -y, direction="minimize").law(POINTS)
    assert down.mean == pytest.approx(-up.mean)
    assert down.cvar(0.2) == pytest.approx(-up.cvar(0.2))
    assert np.all(down.cvar(0.2) > down.mean)
    assert down.probability(-10.0) == pytest.approx(up.probability(10.0))


def test_each_objective_has_its_law():
    optimizer = told(lambda y: [y, -y], direction=["maximize", "minimize"])
    first, second = optimizer.law(POINTS), optimizer.law(POINTS, objective=1)
    assert np.all(first.cvar(0.2) < first.mean)
    assert np.all(second.cvar(0.2) > second.mean)
    assert second.median == pytest.approx(-first.median, abs=0.2)
    with pytest.raises(InvalidInputError, match="objective must be below 2"):
        optimizer.law(POINTS, objective=2)


def test_what_is_wrong_with_a_question_is_said():
    with pytest.raises(InvalidInputError, match="tell at least one reward first"):
        infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}).law(POINTS)
    optimizer = told()
    with pytest.raises(InvalidInputError, match="points must be a sequence"):
        optimizer.law({"x": 0.5})
    with pytest.raises(InvalidInputError, match="lacks"):
        optimizer.law([{"y": 0.5}])
    nowhere = optimizer.law([])
    assert {part.shape for part in (nowhere.mean, nowhere.median, nowhere.cvar(0.1), nowhere.cdf(1.0))} == {(0,)}
    assert nowhere.sample(4).shape == (0, 4)


def test_one_reward_and_equal_rewards_have_a_law():
    optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
    for x in (0.2, 0.7):
        optimizer.tell({"x": x}, 3.0)
        law = optimizer.law(POINTS)
        assert np.isfinite([law.mean, law.std, law.median, law.cvar(0.1)]).all()


def test_the_law_of_an_estimator_is_what_it_predicts(rng):
    x = rng.random((20, 2))
    y = 1e3 * x[:, 0] + rng.standard_t(2, 20)
    model = infgp.InfiniteGP(n_warmup=20, n_samples=5, n_chains=1, random_state=0).fit(x, y)
    law = model.law(x[:4])
    mean, std = model.predict(x[:4], return_std=True)
    assert law.mean == pytest.approx(mean)
    assert law.std == pytest.approx(std)
    assert law.quantile([0.1, 0.9]) == pytest.approx(model.predict_quantiles(x[:4], [0.1, 0.9]))
    assert law.cdf(500.0) == pytest.approx(model.predict_cdf(x[:4], 500.0))
    assert law.density(y[:4]) == pytest.approx(model.predict_density(x[:4], y[:4]))
    assert law.mixture.mean() == pytest.approx(predictive(model._draws(), model._points(x[:4])).mean())
    with pytest.raises(ValueError, match="features"):
        model.law([[0.5]])
