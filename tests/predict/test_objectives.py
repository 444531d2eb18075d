import math
from dataclasses import replace

import numpy as np
import pytest

from infgp import Law
from infgp.core.model import Data, Model
from infgp.core.priors import Priors
from infgp.core.remainder import Remainder
from infgp.core.rewardmap import WarpedScale
from infgp.core.scaling import RewardScale
from infgp.core.state import State
from infgp.core.surface import Conditioned
from infgp.core.warp import Warp
from infgp.errors import InvalidInputError
from infgp.predict.functionals import Aim, Functional, Objective, drawn_in, expected, influence, plausible
from infgp.predict.mixture import Mixture
from infgp.predict.objectives import MeanObjective, ObjectiveLaw, draw_objective
from infgp.predict.paths import draw_path
from infgp.predict.targets import TargetLaw
from tests.exact import central_differences

STRAIGHT = RewardScale(2.0, 3.0)
#: A warp that draws good rewards together, and one that draws bad ones together.
WARPED = WarpedScale(STRAIGHT, Warp(-2.5, 0.3), 90.0)
DECADES = WarpedScale(STRAIGHT, Warp(3.0, 1e-3), 90.0)
MEAN, QUANTILE, CVAR = Objective(), Objective("quantile", 0.2), Objective("cvar", 0.3)
#: Thresholds are in the user's units, with the user's sign.
CHANCE, COST = Objective("probability", 3.0), Objective("probability", -3.0)
#: The largest of a few dozen z-scores exceeds this once in 10⁵ seeds.
LARGEST_Z = 5.5

AIMS = {
    "mean": Aim(MEAN, STRAIGHT),
    "mean, warped": Aim(MEAN, WARPED),
    "mean over decades": Aim(MEAN, DECADES),
    "mean, minimise": Aim(MEAN, WARPED, -1.0),
    "quantile": Aim(QUANTILE, STRAIGHT),
    "quantile, warped": Aim(QUANTILE, WARPED),
    "quantile, minimise": Aim(QUANTILE, WARPED, -1.0),
    "cvar": Aim(CVAR, STRAIGHT),
    "cvar, minimise": Aim(CVAR, STRAIGHT, -1.0),
    "probability": Aim(CHANCE, STRAIGHT),
    "probability, warped": Aim(CHANCE, WARPED),
    "probability, minimise": Aim(COST, WARPED, -1.0),
}
every_aim = pytest.mark.parametrize("aim", AIMS.values(), ids=AIMS)
#: A mean of warped rewards follows surfaces in the model's units, and what that misses is left to the remainder.
EXACT = {name: aim for name, aim in AIMS.items() if aim.objective.kind != "mean" or aim.rewards is STRAIGHT}
every_exact_aim = pytest.mark.parametrize("aim", EXACT.values(), ids=EXACT)

#: What is left over, at three points: nothing.
NOTHING = np.zeros(3)


def mixture(sharp=1.0):
    """Two modes, a bulk with a rare wide component, and a bulk where warps are steep or flat."""
    weights = np.array([[0.5, 0.4, 0.1], [0.9, 0.07, 0.03], [0.3, 0.2, 0.5]])
    means = np.array([[-1.0, 0.8, 0.0], [0.3, 1.0, -0.4], [2.6, -1.9, 0.5]])
    return Mixture(weights, means, sharp * np.array([[0.3, 0.5, 1.0], [0.4, 2.0, 6.0], [0.6, 0.8, 1.0]]))


def alone(mix, label):
    """The law of one surface of a mixture."""
    return Mixture(np.ones((3, 1)), mix.means[:, [label]], mix.variances[:, [label]])


# --- The functional of a law ------------------------------------------------------------------------------------------


@every_aim
def test_values_are_those_of_the_law(aim):
    """The law is in the user's units, and another way to the same numbers."""
    mix = mixture()
    user, _ = aim.to_user(Functional.of(aim, mix, np.zeros((3, 3)), NOTHING).value, np.zeros(3))
    law, number = Law(mix, aim.rewards, aim.sign), aim.objective.number
    if aim.objective.kind == "mean":
        parts = [Law(alone(mix, label), aim.rewards).mean for label in range(3)]  # by integration over the noise
        z = np.einsum("ic,ic->i", mix.weights, aim.rewards.to_standard(np.array(parts).T))
        assert user == pytest.approx(aim.sign * aim.rewards.from_standard(z), rel=1e-6)
        naive = aim.sign * aim.rewards.from_standard(mix.mean())
        if aim.rewards is STRAIGHT:
            assert user == pytest.approx(law.mean)
        else:
            assert np.max(np.abs(user - naive)) > 0.1  # the mean is not that of a middle
    elif aim.objective.kind == "quantile":
        assert user == pytest.approx(law.quantile([number])[:, 0], rel=1e-6)
    elif aim.objective.kind == "cvar":
        assert user == pytest.approx(law.cvar(number), rel=1e-6)
    else:
        better = law.cdf(number) if aim.sign < 0 else 1.0 - law.cdf(number)
        assert user == pytest.approx(better, rel=1e-6)
        assert np.ptp(user) > 0.1


@every_aim
def test_derivatives_by_the_means_of_the_surfaces(aim):
    mix, spread, step = mixture(), np.full((3, 3), 0.2), 1e-5
    got = Functional.of(aim, mix, spread, NOTHING)
    by_spread = np.zeros((3, 3)) if got.by_spread is None else got.by_spread
    for label in range(3):
        shift = step * np.eye(3)[label]
        up, down = (
            Functional.of(aim, replace(mix, means=mix.means + s), spread, NOTHING).value for s in (shift, -shift)
        )
        assert got.by_mean[:, label] == pytest.approx((up - down) / (2.0 * step), rel=1e-4, abs=1e-6)
        up, down = (Functional.of(aim, mix, spread + s, NOTHING).value for s in (shift, -shift))
        assert by_spread[:, label] == pytest.approx((up - down) / (2.0 * step), rel=1e-4, abs=1e-6)


def test_derivatives_of_the_worst_share_where_rewards_are_warped():
    """They take the slope of the warp at the surface, which is exact where there is little noise about it."""
    aim, mix, spread, step = Aim(CVAR, WARPED), mixture(1e-4), np.zeros((3, 3)), 1e-5
    got = Functional.of(aim, mix, spread, NOTHING).by_mean
    for label in range(3):
        shift = step * np.eye(3)[label]
        up, down = (
            Functional.of(aim, replace(mix, means=mix.means + s), spread, NOTHING).value for s in (shift, -shift)
        )
        assert got[:, label] == pytest.approx((up - down) / (2.0 * step), rel=0.02, abs=0.02)


def test_what_is_not_known_of_a_surface_spreads_the_chances():
    aim, mix = AIMS["probability"], mixture()
    wide = Functional.of(aim, mix, np.full((3, 3), 0.7), NOTHING).value
    assert wide == pytest.approx(
        Functional.of(aim, replace(mix, variances=mix.variances + 0.7), np.zeros((3, 3)), NOTHING).value
    )


def with_point(mix, z, share):
    """A mixture of which a share is moved to points z, one for each row."""
    extra = np.array([share, z[0], 1e-10])
    parts = ((1.0 - share) * mix.weights, mix.means, mix.variances)
    assert np.ptp(z) == 0.0
    return Mixture(*(np.column_stack((part, np.full(3, e))) for part, e in zip(parts, extra, strict=True)))


def missed(aim, mix, z):
    """What the functional misses, before large gaps of a mean are drawn in."""
    found = influence(aim, mix, z)
    if aim.objective.kind != "mean" or aim.rewards is STRAIGHT:
        return found
    rate = aim.rewards.growth(expected(aim.rewards, mix)[0])
    return np.sinh(rate * found) / rate


@every_exact_aim
def test_what_is_missed_is_the_derivative_towards_a_point_mass(aim):
    """Of the worst share, only above the quantile: below it, the level is missed alike by all rewards."""
    mix, share, checked = mixture(), 1e-6, 0
    tolerance = 0.12 if aim.objective.kind == "quantile" else 1e-3  # where the density is read from an interval
    for z in (-2.5, -0.3, 0.9, 3.1):
        at, spread = np.full(3, z), np.zeros((3, 3))
        now = Functional.of(aim, mix, spread, NOTHING)
        moved = Functional.of(aim, with_point(mix, at, share), np.zeros((3, 4)), NOTHING).value
        got, wanted = now.by_rest * missed(aim, mix, at), (moved - now.value) / share
        counts = np.full(3, True)
        if aim.objective.kind == "cvar":
            counts = at > mix.quantile_at(np.full(3, aim.level))
        checked += counts.sum()
        assert got[counts] == pytest.approx(wanted[counts], rel=tolerance, abs=2e-3)
    assert checked >= 6


@every_aim
def test_what_is_missed_has_the_mean_under_the_law_that_is_wrong_with_the_value(aim, rng):
    mix, n = mixture(), 4000
    drawn = Law(mix, RewardScale(0.0, 1.0)).sample(n, rng)
    for i in range(3):
        row = Mixture(*(np.tile(part[i], (n, 1)) for part in (mix.weights, mix.means, mix.variances)))
        found = missed(aim, row, drawn[i])
        if aim.objective.kind == "mean":  # surfaces are averaged in the model's units, and the rest is missed
            middle = expected(aim.rewards, row)[0]
            wrong = Law(row, aim.rewards).mean - aim.rewards.from_standard(middle)
            found = found - wrong * np.exp(-aim.rewards.log_slope(middle))
        error = found.std() / np.sqrt(n)
        assert error > 0.0
        assert abs(found.mean()) < LARGEST_Z * error


@every_aim
def test_derivatives_by_what_is_left_over(aim):
    """A corrected level asks the same law for another quantile."""
    mix, spread, step = mixture(), np.zeros((3, 3)), 1e-5
    got = Functional.of(aim, mix, spread, NOTHING)
    up, down = (Functional.of(aim, mix, spread, NOTHING + s).value for s in (step, -step))
    tolerance = 0.12 if aim.objective.kind == "quantile" else 1e-3
    assert got.by_rest == pytest.approx((up - down) / (2.0 * step), rel=tolerance, abs=1e-6)
    assert (got.by_rest > 0.0).all()
    if aim.objective.kind in ("quantile", "cvar"):
        everything = Functional.of(aim, mix, spread, NOTHING + 9.0).value
        assert np.isfinite(everything).all()
        assert (everything > got.value).all()


@pytest.mark.parametrize("aim", [AIMS["mean"], AIMS["mean, warped"], AIMS["mean over decades"]])
def test_the_mean_is_that_of_drawn_rewards(aim, rng):
    """For one surface, in the model's units: from rewards that are drawn and not integrated."""
    n = 200_000
    for label in range(3):
        mix = alone(mixture(), label)
        drawn = Law(mix, aim.rewards).sample(n, rng)
        mean, error = drawn.mean(axis=1), LARGEST_Z * drawn.std(axis=1) / np.sqrt(n)
        value = Functional.of(aim, mix, np.zeros((3, 1)), NOTHING).value
        low, high = aim.rewards.to_standard(mean - error), aim.rewards.to_standard(mean + error)
        assert ((low < value) & (value < high)).all()
        assert (high - low < 0.3).all()


def test_what_is_left_over_of_a_mean_is_in_the_units_of_the_model():
    """A rest of one moves the mean by as much as a reward of one more in the model's units, whatever the warp."""
    for aim in (AIMS["mean"], AIMS["mean, warped"], AIMS["mean over decades"]):
        without, some = (Functional.of(aim, mixture(), np.zeros((3, 3)), NOTHING + r).value for r in (0.0, 0.7))
        assert some - without == pytest.approx(np.full(3, 0.7))


def test_large_gaps_are_drawn_in():
    gap, rate = np.array([-1e6, -3.0, -1e-4, 0.0, 1e-4, 3.0, 1e6]), np.full(7, 2.0)
    found = drawn_in(gap, rate)
    assert (np.diff(found) > 0.0).all()
    assert found == pytest.approx(-found[::-1])
    assert (np.abs(found) <= np.abs(gap)).all()
    assert found[2:5] == pytest.approx(gap[2:5], rel=1e-6)  # small ones count as they are
    assert found[-1] == pytest.approx(np.log(2.0 * 2.0 * 1e6) / 2.0)  # and large ones by their logarithm
    assert drawn_in(gap, np.zeros(7)) == pytest.approx(gap, rel=1e-6)
    assert drawn_in(gap, np.full(7, 1e-300)) == pytest.approx(gap, rel=1e-6)
    assert np.isfinite(drawn_in(np.array([1e300, -1e300]), np.array([1e3, 0.0]))).all()


def test_gaps_of_a_warped_mean_are_drawn_in_as_its_slope_grows():
    """One reward that is better by decades counts as some units of the model, and not as millions."""
    mix = Mixture(np.ones((2, 1)), np.array([[-1.0], [-1.0]]), np.full((2, 1), 0.01))
    at = np.array([-0.9, 6.0])
    near, far = influence(AIMS["mean, warped"], mix, at)
    middle = expected(WARPED, mix)[0][0]
    assert near == pytest.approx(-0.9 - middle, abs=0.01)
    linear = (WARPED.from_standard(at[1]) - WARPED.from_standard(middle)) / np.exp(WARPED.log_slope(middle))
    rate = WARPED.growth(middle)
    assert far == pytest.approx(np.arcsinh(rate * linear) / rate)
    assert 4.0 < far < 0.5 * linear


def test_one_reward_unlike_all_others_counts_no_more_than_they_do():
    assert plausible(np.array([0.0, 1.0, -9.0]), 0.5).tolist() == [0.0, 1.0, -1.0]
    assert plausible(np.array([0.0, 0.1, -9.0]), 0.5).tolist() == [0.0, 0.1, -0.5]
    twice = plausible(np.array([8.0, 0.0, -9.0]), 0.5)
    assert twice.tolist() == [8.0, 0.0, -8.0]
    assert plausible(np.empty(0), 1.0).size == 0


# --- Its law given a state --------------------------------------------------------------------------------------------


def case(n=24, crashes=True):
    """A slope on which crashes are frequent to the right, and which the surfaces see as equally frequent everywhere."""
    rng = np.random.default_rng(7)
    x = rng.random((n, 2))
    labels = (rng.random(n) < 0.9 * x[:, 0]).astype(int) if crashes else np.zeros(n, int)
    labels[0] = 0
    y = np.where(labels, -2.2, 0.8 * x[:, 0]) + 0.15 * rng.standard_normal(n)
    one, d = np.ones(1), 2
    scale = np.array([0.7, 1.6, 1.0])[: labels.max() + 2]
    state = State(labels, np.array([0.1, 0.2, -0.1]), 0.1, np.full((1, d), 1.5), one, 0.05 * one, scale)
    return Conditioned(state, Data(x, y), Model("se", Priors().resolve(d), ard=True, scale_shape=2.0))


@pytest.fixture
def at(rng):
    return rng.random((6, 2))


@pytest.mark.parametrize("outliers", ["count", "ignore"])
@pytest.mark.parametrize("level", [None, 0.4])
@every_aim
def test_gradients_of_laws(aim, level, outliers, at):
    law = ObjectiveLaw.of(case(), replace(aim, outliers=outliers), level)
    mean, gradient = law.mean_and_gradient(at)
    assert mean == pytest.approx(law.mean(at), abs=1e-9)
    assert mean == pytest.approx(law(at)[0], abs=1e-9)
    assert gradient == pytest.approx(central_differences(law.mean, at), rel=1e-4, abs=1e-6)
    _, variance, again, d_variance = law.with_gradients(at)
    assert variance == pytest.approx(law(at)[1])
    assert again == pytest.approx(gradient)
    assert d_variance == pytest.approx(central_differences(lambda u: law(u)[1], at), rel=2e-3, abs=1e-4)
    assert law.difference(at[0], at[1])[0] == pytest.approx(mean[0] - mean[1], abs=1e-9)
    assert law.difference(at[2], at[2]) == pytest.approx((0.0, 0.0), abs=1e-9)


def uneven_case():
    """As `case`, with noise that is four times as large to the right, of a model that lets laws have it so."""
    given = case(n=60)
    x, rng = given.data.x, np.random.default_rng(8)
    y = given.data.y + np.where(x[:, 0] > 0.5, 0.6, 0.0) * rng.standard_normal(60)
    return replace(given, data=Data(x, y), model=replace(given.model, uneven=True))


@every_aim
def test_gradients_of_laws_where_noise_depends_on_the_input(aim, at, rng):
    given = uneven_case()
    law = ObjectiveLaw.of(given, aim)
    assert given.noise_factor.even < 0.5
    mean, gradient = law.mean_and_gradient(at)
    assert mean == pytest.approx(law(at)[0], abs=1e-9)
    assert gradient == pytest.approx(central_differences(law.mean, at), rel=2e-4, abs=1e-5)
    drawn = draw_objective(rng, given, aim)
    assert drawn.value_and_gradient(at)[1] == pytest.approx(central_differences(drawn, at), rel=2e-4, abs=1e-5)


def test_the_mean_does_not_ask_how_large_noise_is():
    """Where the odds are kriged, laws of other functionals have noise by a factor that depends on the input."""
    given = uneven_case()
    given = replace(given, model=replace(given.model, kriged=True, uneven=False))
    asked = {name: ObjectiveLaw.of(given, aim).base.weights.given.model.uneven for name, aim in AIMS.items()}
    assert asked == {name: aim.objective.kind != "mean" for name, aim in AIMS.items()}


def test_a_bad_quantile_is_worse_where_noise_is_larger():
    """By more than the same law has where noise is the same everywhere."""
    given, ends = uneven_case(), np.array([[0.15, 0.5], [0.85, 0.5]])
    aim = Aim(Objective("quantile", 0.5 + 1e-9), STRAIGHT), Aim(Objective("quantile", 0.2), STRAIGHT)
    even = replace(given, model=replace(given.model, uneven=False))
    fall, constant = (
        np.subtract(*(ObjectiveLaw.of(state, one).natural(ends)[0] for one in aim)) for state in (given, even)
    )
    assert fall[1] - fall[0] > 0.3 + constant[1] - constant[0]


def test_what_is_left_over_is_learned(at):
    given, aim = case(n=60), AIMS["mean"]
    law, plain = ObjectiveLaw.of(given, aim), ObjectiveLaw.of(given, replace(aim, outliers="ignore"))
    surfaces = plain.natural(given.data.x)[0]
    left = Remainder.of(given.data.patterns, plausible(given.data.y - surfaces, 1.0))
    assert law.remainder.flat == pytest.approx(left.flat)
    assert law.natural(at)[0] == pytest.approx(plain.natural(at)[0] + left(at)[0] + left.centre)
    wanted = plain.natural(at)[1] + left(at)[1] + left.flat * left.spread
    assert law.natural(at)[1] == pytest.approx(wanted)
    assert law.mean(at) == pytest.approx(law.natural(at)[0] - left.centre)
    ends = np.array([[0.1, 0.5], [0.9, 0.5]])
    safe, risky = law.natural(ends)[0]
    believed = plain.natural(ends)[0]
    assert believed[1] > believed[0]
    assert safe > risky + 0.33


@every_aim
def test_with_one_surface_there_is_nothing_over(aim):
    given = case(crashes=False)
    given = replace(given, model=replace(given.model, one_surface=True))
    assert ObjectiveLaw.of(given, aim).remainder is None


def test_a_reward_with_much_known_noise_counts_little():
    given, aim = case(n=40), AIMS["mean"]
    wild = given.data.y.copy()
    wild[3] = 30.0
    clean, trusted, doubted = (
        ObjectiveLaw.of(replace(given, data=Data(given.data.x, y, noise)), aim).missed[3]
        for y, noise in (
            (given.data.y, np.zeros(40)),
            (wild, np.full(40, 0.5)),
            (wild, np.where(np.arange(40) == 3, 1e6, 0.5)),
        )
    )
    assert abs(trusted) > 10.0 * abs(clean)
    assert abs(doubted) < 1e-3


@pytest.mark.parametrize("rewards", [STRAIGHT, WARPED], ids=["straight", "warped"])
def test_without_outliers_the_mean_is_the_weighted_sum_of_the_surfaces(rewards, at):
    given, aim = case(), Aim(MEAN, rewards, outliers="ignore")
    law, target = ObjectiveLaw.of(given, aim), TargetLaw.of(given, "expected")
    for got, wanted in zip((*law(at), law.mean(at)), (*target(at), target.mean(at)), strict=True):
        assert np.array_equal(got, wanted)
    for got, wanted in zip(law.with_gradients(at), target.with_gradients(at), strict=True):
        assert np.array_equal(got, wanted)
    assert law.difference(at[0], at[1]) == target.difference(at[0], at[1])
    drawn, path = (
        draw_objective(np.random.default_rng(4), given, aim),
        draw_path(np.random.default_rng(4), given, "expected"),
    )
    assert np.array_equal(drawn(at), path(at))


@pytest.mark.parametrize("target", ["main", "surface"])
def test_surfaces_are_followed_where_they_are_the_target(target, at):
    given, aim = case(), Aim(MEAN, WARPED, target=target)
    drawn, path = (
        draw_objective(np.random.default_rng(4), given, aim),
        draw_path(np.random.default_rng(4), given, target),
    )
    assert np.array_equal(drawn(at), path(at))
    wanted = TargetLaw.of(given, "main" if target == "main" else "expected")
    assert np.array_equal(ObjectiveLaw.of(given, aim).mean(at), wanted.mean(at))


def test_moments_of_drawn_objectives_are_those_of_the_law(rng, at, monkeypatch):
    """For a mean of rewards that are not warped, where all is linear."""
    monkeypatch.setattr("infgp.core.remainder.FEATURES", 48)  # moments are exact for any number
    monkeypatch.setattr("infgp.predict.paths.FEATURES", 48)
    given, aim = case(), AIMS["mean"]
    law = ObjectiveLaw.of(given, aim)
    draws = np.array([draw_objective(rng, given, aim)(at) for _ in range(3000)])
    mean, variance = law(at)
    differences = [law.difference(at[i], at[i + 1]) for i in range(5)]
    steps = draws[:, :-1] - draws[:, 1:]

    def largest(factor):
        gaps = np.hstack((draws - mean, steps - [m for m, _ in differences]))
        squares = gaps**2 - factor * np.array([*variance, *(v for _, v in differences)])
        both = np.hstack((gaps, squares))
        return np.max(np.abs(both.mean(axis=0)) / (both.std(axis=0) / np.sqrt(len(both))))

    assert law.remainder.flat < 0.9
    assert largest(1.0) < LARGEST_Z
    assert largest(1.2) > LARGEST_Z  # that is enough of them


@pytest.mark.parametrize("name", ["quantile", "cvar", "probability"])
def test_drawn_objectives_have_the_odds_of_the_law(name, rng, at):
    given, aim = case(), AIMS[name]
    given = replace(given, model=replace(given.model, kriged=True))
    law, drawn = ObjectiveLaw.of(given, aim), draw_objective(rng, given, aim)
    assert np.array_equal(drawn.surfaces.parts(at)[0], law.base.weights(at))
    assert not np.array_equal(law.base.weights(at), TargetLaw.of(given, aim.weights).weights(at))  # odds change


@every_aim
def test_gradients_of_drawn_objectives(aim, rng, at):
    drawn = draw_objective(rng, case(), aim)
    value, gradient = drawn.value_and_gradient(at)
    assert value == pytest.approx(drawn(at))
    assert gradient == pytest.approx(central_differences(drawn, at), rel=1e-4, abs=1e-6)


def test_each_state_has_a_pattern_of_its_own():
    given, aim = case(), AIMS["mean"]
    laws = MeanObjective.of([given] * 4, aim).laws
    assert [law.level for law in laws] == [0.125, 0.375, 0.625, 0.875]
    assert all(len(law.remainder.shapes) == 1 for law in laws)


def test_minimising_mirrors_maximising(at):
    """The model sees costs with the sign turned: what differs is the level, the sign, and the threshold."""
    given = case()
    for high, low in (
        (("quantile", 0.9), ("quantile", 0.1)),
        (("cvar", 0.2), ("cvar", 0.2)),
        (("probability", -3.0), ("probability", 3.0)),
        ("mean", "mean"),
        ("median", "median"),
    ):
        costs = MeanObjective.of([given], Aim(Objective.parse(high), WARPED, -1.0))
        gains = MeanObjective.of([given], Aim(Objective.parse(low), WARPED))
        assert costs(at) == pytest.approx(gains(at), rel=1e-12)  # 1 − 0.9 is not 0.1 to the last bit
        sign = 1.0 if high[0] == "probability" else -1.0
        assert costs.moments(at)[0] == pytest.approx(sign * gains.moments(at)[0])
        assert costs.moments(at)[1] == pytest.approx(gains.moments(at)[1])


# --- The option -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "objective", "words"),
    [
        ("mean", Objective(), "expected reward"),
        ("median", Objective("quantile", 0.5), "median reward"),
        (("quantile", 0.1), Objective("quantile", 0.1), "10 % quantile of the reward"),
        (["cvar", 1], Objective(), "expected reward"),
        (("cvar", np.float64(0.05)), Objective("cvar", 0.05), "mean of the worst 5 % of the rewards"),
        (("probability", -7), Objective("probability", -7.0), "chance of beating -7"),
    ],
)
def test_options(value, objective, words):
    parsed = Objective.parse(value)
    assert parsed == objective
    assert Objective.parse(parsed.option) == parsed
    assert str(parsed) == words


@pytest.mark.parametrize(
    "value",
    [
        *("best", "", "quantile", None, 0.5, True, {"quantile": 0.5}, ()),
        *(("quantile",), ("quantile", 0.5, 0.5), ("mean", 0.5), ("median", 0.5), (0.5, "quantile")),
        *(("quantile", 0.0), ("quantile", 1.0), ("quantile", -0.1), ("quantile", "0.5"), ("quantile", True)),
        *(("cvar", 0.0), ("cvar", 1.1), ("cvar", None), ("cvar", math.nan)),
        *(("probability", math.inf), ("probability", math.nan), ("probability", None), ("probability", [1.0])),
        np.array([0.1, 0.2]),
    ],
    ids=repr,
)
def test_options_that_make_no_sense(value):
    with pytest.raises(InvalidInputError) as error:
        Objective.parse(value)
    assert str(error.value) == (
        "objective must be 'mean', 'median', ('quantile', q) with 0 < q < 1, ('cvar', q) with 0 < q <= 1 (the mean of "
        f"the worst share q), or ('probability', threshold), but got {value!r}."
    )
