import numpy as np
import pytest

from infgp import Choice, Float, InvalidInputError, Optimizer
from infgp.search.regret import DRAWS, ROUGH, Regret, bundles
from infgp.search.several import LIKELY

LINE = {"x": Float(0.0, 1.0)}
GRID = np.linspace(0.0, 1.0, 41)[:, None]


def hill(x):
    return -((x - 0.3) ** 2)


def told(n, scale=1.0, direction="maximize", noise=0.02, **options):
    rng = np.random.default_rng(2)
    optimizer = Optimizer(LINE, direction, seed=0, **options)
    for x in np.linspace(0.0, 1.0, n):
        y = hill(x) + noise * rng.standard_normal()
        optimizer.tell({"x": float(x)}, scale * y if direction == "maximize" else -scale * y)
    return optimizer


def law(draws, improvements=None):
    given = {} if improvements is None else {"improvements": np.array(improvements, dtype=float)}
    return Regret({"x": 0.5}, "expected reward", np.array(draws, dtype=float), **given)


def test_quantiles_probabilities_and_their_errors():
    regret = law(np.arange(192.0).reshape(12, 16))
    assert regret.n_draws == 192
    assert regret.mean == pytest.approx(95.5)
    assert regret.quantile(0.5) == pytest.approx(95.5)
    assert regret.probability_below(47.0) == pytest.approx(0.25)
    # States differ far more than the draws of one state do: it is the twelve states that count.
    assert regret.mean_error == pytest.approx(np.std(np.arange(12) * 16.0, ddof=1) / np.sqrt(12))
    assert regret.probability_error(47.0) == pytest.approx(np.std([1.0] * 3 + [0.0] * 9, ddof=1) / np.sqrt(12))
    low, high = regret.quantile(0.5 - 0.15), regret.quantile(0.5 + 0.15)
    assert regret.quantile_error(0.5) == pytest.approx((high - low) / 2.0, rel=0.05)
    assert law(np.zeros((12, 16))).probability_error(0.1) > 0.0


def test_errors_are_those_of_independent_draws_where_states_agree():
    draws = np.tile(np.arange(16.0), (12, 1))
    assert law(draws).mean_error == pytest.approx(draws.std() / np.sqrt(192))


def test_the_gain_grows_with_the_evaluations_up_to_the_mean_regret():
    rng = np.random.default_rng(0)
    values = np.maximum(rng.standard_normal((30, 192)), 0.0)
    regret = law(values.max(axis=0).reshape(12, 16), values)
    gains = [regret.gain(n) for n in (1, 2, 5, 30, 1000)]
    assert gains[0] == pytest.approx(values.mean(axis=1).max())
    assert gains == sorted(gains)
    assert gains[-1] == regret.mean
    assert 0.0 < regret.gain_error(2) < 0.2


@pytest.mark.parametrize("q", [-0.1, 1.1])
def test_levels_that_make_no_sense(q):
    with pytest.raises(InvalidInputError, match="q must be between 0 and 1"):
        law(np.zeros((2, 2))).quantile(q)


def test_it_is_that_of_the_recommended_point_and_changes_nothing():
    optimizer, other = told(12), told(12)
    regret = optimizer.regret()
    assert regret.point == optimizer.recommend().point
    assert regret.draws.shape == (12, DRAWS // 12)
    assert (regret.draws >= 0.0).all()
    assert (optimizer.regret().draws == regret.draws).all()
    assert optimizer.ask() == other.ask()
    assert "95 % below" in str(regret)


def test_it_shrinks_as_rewards_come_in():
    few, many = told(5, noise=0.0).regret(), told(25, noise=0.0).regret()
    assert many.quantile(0.9) < 0.01 < few.quantile(0.9)
    assert many.probability_below(0.01) > 0.9


def values(optimizer, kernel):
    aimed = optimizer.aimed()
    return [bundle(GRID) for bundle in bundles(np.random.default_rng(0), aimed, kernel)]


def test_functions_are_drawn_rougher_than_the_surfaces():
    """Of evaluations without noise, less is known of what is between them."""
    optimizer = told(16, noise=0.0)
    rough, own = (np.median([drawn.std(axis=1).mean() for drawn in values(optimizer, k)]) for k in (ROUGH, None))
    assert rough > 1.2 * own


def test_where_the_surfaces_are_as_rough_nothing_changes():
    optimizer = told(8, kernel=ROUGH)
    for rough, own in zip(values(optimizer, ROUGH), values(optimizer, None), strict=True):
        assert (rough == own).all()


@pytest.mark.parametrize("objective", ["mean", ("quantile", 0.3), ("cvar", 0.3)])
def test_it_is_in_the_user_s_units(objective):
    options = {"objective": objective, "warp": None}
    draws = told(12, **options).regret().draws
    assert told(12, scale=1000.0, **options).regret().draws == pytest.approx(1000.0 * draws, rel=1e-4, abs=1e-6)


def test_minimising_mirrors_maximising():
    draws = told(12).regret().draws
    assert told(12, direction="minimize").regret().draws == pytest.approx(draws, rel=1e-6, abs=1e-9)


def test_a_regret_of_chances_is_a_chance():
    regret = told(12, objective=("probability", -0.1)).regret()
    assert 0.0 <= regret.quantile(0.99) <= 1.0


def test_rewards_over_decades_are_compared_in_the_user_s_units():
    optimizer = Optimizer(LINE, "minimize", seed=0, warp="learned")
    for x in np.linspace(0.0, 1.0, 16):
        optimizer.tell({"x": float(x)}, float(10.0 ** (6.0 * abs(x - 0.4))))
    regret, best = optimizer.regret(), optimizer.recommend()
    # A loss cannot fall by more than what it is, but for what the model does not know of that.
    assert regret.quantile(0.5) < 2.0 * best.mean + 2.0 * best.std


def constrained(shift):
    optimizer = Optimizer(LINE, seed=0)
    for x in np.linspace(0.0, 1.0, 21):
        optimizer.tell({"x": float(x)}, float(x), constraints=[x - 0.5 + shift])
    return optimizer


def test_under_constraints_it_is_the_best_feasible_objective_that_counts():
    assert constrained(0.0).regret().quantile(0.9) < 0.1
    nowhere = constrained(3.0).regret()
    assert nowhere.mean == np.inf
    assert nowhere.probability_below(1e9) == 0.0
    assert nowhere.quantile(0.5) == np.inf
    assert nowhere.mean_error == nowhere.quantile_error(0.5) == 0.0
    assert LIKELY < 0.0


def test_failed_points_are_poor():
    """Nothing is known beyond 0.5 but that evaluations fail there: there is less to be gained than if they had not."""
    optimizers = [Optimizer(LINE, seed=0) for _ in range(2)]
    for x in np.linspace(0.0, 0.5, 11):
        for optimizer in optimizers:
            optimizer.tell({"x": float(x)}, float(np.sin(9.0 * x)))
    for x in np.linspace(0.55, 1.0, 10):
        optimizers[1].tell({"x": float(x)}, None)
    open_end, failing = (optimizer.regret().mean for optimizer in optimizers)
    assert failing < 0.5 * open_end


def test_choices_that_were_never_tried_may_be_better():
    def mean(kinds):
        rng, optimizer = np.random.default_rng(1), Optimizer({"kind": Choice(kinds), "x": Float(0.0, 1.0)}, seed=0)
        for k in range(12):
            optimizer.tell({"kind": "ab"[k % 2], "x": k / 12}, float(k % 2 + 0.1 * rng.standard_normal()))
        return optimizer.regret().mean

    assert mean(["a", "b", "c", "d"]) > 1.5 * mean(["a", "b"])


def test_before_any_reward_and_for_several_objectives():
    with pytest.raises(InvalidInputError, match="nothing to recommend yet"):
        Optimizer(LINE).regret()
    with pytest.raises(InvalidInputError, match="regret is for one objective"):
        Optimizer(LINE, ["maximize", "maximize"]).regret()
