import numpy as np
import pytest

from infgp import Float, Int, Optimizer
from infgp.core.model import Data, Model
from infgp.core.priors import Priors
from infgp.core.scaling import RewardScale
from infgp.core.state import State
from infgp.core.surface import Conditioned
from infgp.predict.functionals import Aim, Objective
from infgp.predict.objectives import MeanObjective, ObjectiveLaw
from infgp.search.knowledge import NODES, WEIGHTS, KnowledgeGradient, expected_best
from infgp.space import Space

AIM = Aim(Objective(), RewardScale(0.0, 1.0))
LINE = np.linspace(0.0, 1.0, 101)[:, None]


def one_surface(x, y, noise, length=0.1):
    """A surface whose parameters are known."""
    model = Model("se", Priors().resolve(1), ard=False)
    state = State(np.zeros(len(y), int), np.zeros(2), 1.0, np.array([[0.5 / length**2]]), np.ones(1), np.array([noise]))
    return ObjectiveLaw.of(Conditioned(state, Data(np.asarray(x, float)[:, None], np.asarray(y, float)), model), AIM)


def test_the_expected_best_is_that_of_draws(rng):
    here, own, there = rng.normal(size=4), rng.normal(size=4), rng.normal(size=9)
    moved, z = rng.normal(size=(4, 9)), rng.standard_normal(200_000)
    for nodes, within in ((9, 0.05), (200, 0.01)):
        points, weights = np.polynomial.hermite_e.hermegauss(nodes)
        found = expected_best(here, own, there, moved, points, weights / weights.sum())
        for i in range(4):
            best = np.maximum(here[i] + own[i] * z, (there[:, None] + moved[i][:, None] * z).max(axis=0))
            assert found[i] == pytest.approx(best.mean(), abs=within)


def test_the_gain_is_that_of_conditioning_on_drawn_rewards(rng):
    """The largest mean over the points, after a reward that is drawn from the prediction, on average."""
    x, y, noise = [0.2, 0.5, 0.8], [0.3, 0.6, -0.2], 0.2
    law, others = one_surface(x, y, noise), np.linspace(0.0, 1.0, 21)[:, None]
    score = KnowledgeGradient((law,), others)
    for at in (0.5, 0.62, 0.95):
        mean, variance = law(np.array([[at]]))
        rewards = mean + np.sqrt(variance + noise) * rng.standard_normal((3000, 1))
        best = [one_surface([*x, at], [*y, r[0]], noise).mean(np.vstack((others, [[at]]))).max() for r in rewards]
        gain = 0.75 * (np.mean(best) - law.mean(others).max())  # a quarter is the chance of a surface that is new
        assert np.exp(score(np.array([[at]]))[0]) == pytest.approx(gain, abs=5.0 * np.std(best) / np.sqrt(3000) + 0.005)


def test_a_lucky_reward_is_looked_at_again():
    """One reward of 2 with noise of sd 1 against a hill of 1 that was seen often."""
    x, y = [0.2] * 12 + [0.8], [1.0] * 12 + [2.0]
    law = one_surface(x, y, noise=1.0)
    score = KnowledgeGradient((law,), LINE)(np.array([[0.8], [0.2]]))
    assert score[0] > score[1] + 1.0


def test_a_reward_that_changes_nothing_is_worth_nothing():
    """All is known at 0.2, and 0.8 is far worse than that."""
    law = one_surface([0.2] * 50 + [0.8] * 50, [1.0] * 50 + [-3.0] * 50, noise=0.01, length=0.3)
    score = np.exp(KnowledgeGradient((law,), np.array([[0.2], [0.8]]))(np.array([[0.8], [0.2]])))
    assert (score < 1e-4).all()


def test_a_small_gain_is_not_lost():
    """So that points can be told apart when next to nothing is to be gained."""
    law = one_surface([0.2, 0.3, 0.8], [1.0, 0.9, -3.0], noise=1e-6, length=0.3)
    score = KnowledgeGradient((law,), np.array([[0.2]]))(LINE)
    assert np.isfinite(score).all()
    assert np.unique(score[np.abs(LINE[:, 0] - 0.8) < 0.1]).size > 5  # rounding counts among these


def test_the_best_is_sought_among_evaluated_points_and_over_the_space(rng):
    x = rng.random((60, 1))
    law = one_surface(x[:, 0], np.sin(5.0 * x[:, 0]), 0.1)
    space, mean = Space.of({"x": Float(0.0, 1.0)}), MeanObjective((law,))
    others = KnowledgeGradient.of(rng, space, mean, np.vstack((x, x)), x[:1]).others
    best = x[np.argmax(mean(x))]
    assert (others == best).any()
    assert np.unique(others, axis=0).shape == others.shape
    assert np.ptp(others) > 0.9
    assert WEIGHTS.sum() == pytest.approx(1.0)
    assert NODES.sum() == pytest.approx(0.0)


@pytest.mark.parametrize("objective", ["mean", "median", ("cvar", 0.3), ("probability", 0.5)])
@pytest.mark.parametrize("outliers", ["count", "ignore"])
def test_the_end_of_a_search_is_near_the_best(objective, outliers):
    optimizer = Optimizer({"x": Float(-1.0, 1.0)}, seed=1, goal="final", objective=objective, outliers=outliers)
    rng = np.random.default_rng(2)
    for _ in range(30):
        point = optimizer.ask()
        optimizer.tell(point, 1.0 - 4.0 * (point["x"] - 0.3) ** 2 + 0.1 * rng.normal())
    assert abs(optimizer.recommend().point["x"] - 0.3) < 0.3  # there every reward beats a threshold of 0.5


def test_integers_and_constraints_go_with_a_goal():
    space = {"x": Float(0.0, 1.0), "k": Int(1, 5)}
    optimizer, rng = Optimizer(space, seed=3, goal="final"), np.random.default_rng(4)
    for _ in range(25):
        p = optimizer.ask()
        assert p["k"] in range(1, 6)
        reward = p["x"] + 0.2 * p["k"] + 0.05 * rng.normal()
        optimizer.tell(p, reward, constraints={"limit": p["x"] - 0.5})
    found = optimizer.recommend()
    assert found.point["k"] == 5
    assert 0.3 < found.point["x"] <= 0.55
