"""Surfaces with length-scales of their own: every move that knows them, and the proofs to notice bugs."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal, multivariate_t

from infgp import InfiniteGP
from infgp.core.kernels import log_ell_from_phi
from infgp.core.model import Data, prior_draw, simulate_y
from infgp.core.partition import enumerate_partitions, urn_logpdf
from infgp.core.priors import LogNormal
from infgp.core.state import State
from infgp.core.surface import Conditional, log_joint, log_likelihood
from infgp.errors import InvalidInputError
from infgp.sample.chain import COLLAPSED_SWEEP, apply
from infgp.sample.compiled import ROUGHER
from infgp.sample.moves.assign import assign
from infgp.sample.moves.hyper import draw_grades, draw_scales
from infgp.sample.moves.split_merge import reallocate, split_merge
from infgp.sample.start import start_state
from infgp.testing import family_p_value, geweke
from tests.proofs import NU, SIGMA2, TAU2, X5, Y5, blocks_of, frequencies_p_value, statistics

from .test_collapsed import fixed_model, free_model, without

GRADES = (0.7, 0.3)
X, Y = X5[:4], Y5[:4]


def key_of(state):
    """Partition, and the grade of each observation's surface."""
    return (*state.labels.tolist(), *state.observed_grades.tolist())


def exact_posterior(shape):
    """Over partitions of four points and the grades of their blocks, from SciPy's densities."""
    logs = {}
    for z in enumerate_partitions(4):
        blocks = blocks_of(z)
        for grades in product(range(2), repeat=len(blocks)):
            total = urn_logpdf(z, NU) + np.sum(np.log(np.array(GRADES)[list(grades)]))
            of_point = np.empty(4, dtype=int)
            for s, g in zip(blocks, grades, strict=True):
                gaps = (X[s, 0][:, None] - X[s, 0][None, :]) / (0.4 / ROUGHER**g)
                cov = SIGMA2 * np.exp(-0.5 * gaps**2) + TAU2 * np.eye(len(s))
                zero = np.zeros(len(s))
                law = multivariate_t(zero, cov, df=2 * shape) if shape else multivariate_normal(zero, cov)
                total += law.logpdf(Y[s])
                of_point[s] = g
            logs[*(int(label) for label in z), *of_point.tolist()] = total
    top = max(logs.values())
    norm = sum(np.exp(v - top) for v in logs.values())
    return {k: np.exp(v - top) / norm for k, v in logs.items()}


def p_value(moves, shape, thin, draws=10_400, seed=1):
    rng = np.random.default_rng(seed)
    model, data = replace(fixed_model(shape), grades=GRADES), Data(X, Y)
    start, exact = prior_draw(rng, X, model), exact_posterior(shape)
    return frequencies_p_value(rng, start, moves, thin, data, model, exact, key_of, draws)


@pytest.mark.parametrize("shape", [pytest.param(0.0, marks=pytest.mark.slow), 1.5])
@pytest.mark.parametrize(
    ("moves", "thin"),
    [
        ((assign,), 5),
        ((split_merge,), 16),
        ((reallocate, split_merge), 8),
        ((assign, draw_grades), 2),
        (COLLAPSED_SWEEP, 2),
    ],
    ids=["labels", "split-merge", "reallocations", "grades", "whole sweep"],
)
def test_partitions_and_grades_match_enumeration(moves, thin, shape):
    """Labels alone change grades too: surfaces come and go."""
    assert p_value(moves, shape, thin) > 1e-4


def test_enumeration_notices_a_favoured_grade():
    def tilted(rng, state, data, model):
        return draw_grades(rng, state, data, replace(model, grades=(0.5, 0.5)))

    assert p_value((assign, tilted), 0.0, 2, draws=5000) < 1e-6


def test_enumeration_notices_mergers_that_keep_the_rougher_grade():
    def greedy(rng, state, data, model):
        after, _ = split_merge(rng, state, data, model)
        if after.n_surfaces < state.n_surfaces:
            return replace(after, grade=np.maximum(after.grade, state.grade.max()))
        return after

    assert p_value((greedy,), 0.0, 10, draws=5000) < 1e-6


def test_steps_of_the_length_scales_match_enumeration():
    """Alone, the move keeps to a lattice of length-scales (none below the least): step and grades of two surfaces."""
    prior, grades, shape, steps = LogNormal(loc=-0.5, scale=1.5), (0.5, 0.3, 0.2), 1.5, range(-7, 3)
    model = replace(fixed_model(shape), grades=grades)
    model = replace(model, priors=replace(model.priors, lengthscale=prior))
    labels, data = np.array([0, 0, 1, 1]), Data(X, Y)
    rng = np.random.default_rng(8)
    start = replace(prior_draw(rng, X, model), labels=labels, grade=np.array([0, 2]), phi=np.array([[2.0]]))
    log_ell = float(log_ell_from_phi(start.phi[0, 0]))
    log_p = {}
    for step in steps:
        ell = log_ell - step * np.log(ROUGHER)
        for pair in product(range(3), repeat=2):
            state = replace(start, phi=start.phi * ROUGHER ** (2.0 * step), grade=np.array(pair))
            log_p[step, pair] = -0.5 * ((ell + 0.5) / 1.5) ** 2 + np.log(grades)[list(pair)].sum()
            log_p[step, pair] += log_likelihood(state, data, model)
    weights = np.exp(np.array(list(log_p.values())) - max(log_p.values()))
    exact = dict(zip(log_p, weights / weights.sum(), strict=True))

    def key(state):
        step = (log_ell - float(log_ell_from_phi(state.phi[0, 0]))) / np.log(ROUGHER)
        return round(step), tuple(state.grade[:2].tolist())

    assert frequencies_p_value(rng, start, (draw_grades,), 8, data, model, exact, key, 5000) > 1e-4


def test_grades_and_length_scales_move_together():
    """With one surface, ℓ / ROUGHER^g has the law that its parts give it, whatever moves between them."""
    rng = np.random.default_rng(5)
    prior = LogNormal(loc=-0.7, scale=1.2)
    model = replace(free_model(0.0), grades=(0.5, 0.3, 0.2))
    model = replace(model, priors=replace(model.priors, lengthscale=prior))
    x = np.array([[0.3]])  # one observation: the prior
    state, grades, log_ell = prior_draw(rng, x, model), [], []
    for _ in range(20_000):
        state = apply((draw_grades, draw_scales), rng, state, Data(x, np.array([0.4])), model)
        grades.append(state.grade[0])
        log_ell.append(float(log_ell_from_phi(state.phi[0, 0])))
    share = np.bincount(grades) / len(grades)
    assert share == pytest.approx([0.5, 0.3, 0.2], abs=0.02)
    assert np.mean(log_ell) == pytest.approx(-0.7, abs=0.06)
    assert np.std(log_ell) == pytest.approx(1.2, rel=0.05)


def geweke_p_values(moves, shape, seed, d=1):
    rng = np.random.default_rng(seed)
    model, x = replace(free_model(shape, d, d > 1), grades=GRADES), rng.random((5, d))

    def refresh(pair):
        return pair[0], Data(x, simulate_y(rng, pair[0], x, model))

    def transition(pair):
        state, data = pair
        state = apply(moves, rng, state, data, model)
        return state, data

    def summaries(pair):
        grade = pair[0].observed_grades
        rough = {"rough": float(grade.mean()), "first x ell": float(grade[0] * log_ell_from_phi(pair[0].phi[0, 0]))}
        return statistics(*pair, model) | rough

    return geweke(
        lambda: refresh((prior_draw(rng, x, model), None)),
        transition,
        refresh=refresh,
        statistics=summaries,
        sweeps=4000,
    )


@pytest.mark.parametrize(("shape", "d"), [(0.0, 1), (1.5, 1), (0.0, 2)])
def test_joint_distribution(shape, d):
    assert family_p_value(geweke_p_values((*COLLAPSED_SWEEP, reallocate), shape, seed=31, d=d)) > 1e-4


def test_joint_distribution_without_label_sweeps():
    assert family_p_value(geweke_p_values(without(assign), 0.0, seed=32)) > 1e-4


def test_joint_distribution_notices_scales_blind_to_grades():
    def blind(rng, state, data, model):
        after = draw_scales(rng, replace(state, grade=np.zeros(1, dtype=int)), data, model)
        return replace(after, grade=state.grade)

    moves = tuple(blind if m is draw_scales else m for m in COLLAPSED_SWEEP)
    assert family_p_value(geweke_p_values(moves, 0.0, seed=33)) < 1e-6


# --- States and predictions ------------------------------------------------------------------------------------------


def test_a_rougher_surface_is_one_with_shorter_length_scales(rng):
    """In the likelihood; in the prior it has the shared length-scales and the chance of its grade."""
    model, x = free_model(1.5), rng.random((12, 1))
    data = Data(x, rng.normal(size=12))
    state = start_state(rng, data, model, "one")
    assert state.grade.tolist() == [0]
    graded = replace(state, grade=np.array([1]))
    rougher = replace(state, phi=state.phi * ROUGHER**2)
    assert log_joint(graded, data, replace(model, grades=GRADES)) - np.log(0.3) == pytest.approx(
        log_joint(rougher, data, model) - model.priors.lengthscale.logpdf(log_ell_from_phi(rougher.phi))
        + model.priors.lengthscale.logpdf(log_ell_from_phi(state.phi))
    )  # fmt: skip


def test_predictions_use_each_surface_s_own_length_scales(rng):
    x = np.linspace(0.0, 1.0, 6)[:, None]
    state = State(
        np.array([0, 0, 0, 1, 1, 1]), np.zeros(2), 0.5, np.full((1, 1), 2.0), np.ones(1), np.full(1, 0.1),
        grade=np.array([0, 1, 0]),
    )  # fmt: skip
    model, data = replace(fixed_model(0.0), grades=GRADES), Data(x, rng.normal(size=6))
    at = np.array([[0.77]])
    mean, variance = Conditional.of(state.surface(1), data.y, data, model)(at)
    gaps = (x[3:, 0][:, None] - x[3:, 0][None, :]) * ROUGHER
    cov = np.exp(-2.0 * gaps**2) + 0.1 * np.eye(3)
    k = np.exp(-2.0 * (ROUGHER * (x[3:, 0] - 0.77)) ** 2)
    assert mean[0] == pytest.approx(k @ np.linalg.solve(cov, data.y[3:]))
    assert variance[0] == pytest.approx(1.0 - k @ np.linalg.solve(cov, k))


def test_rough_here_smooth_there(rng):
    """Better than one length-scale where there are two."""

    def draw(n):
        x = rng.random((n, 1))
        wave = np.where(x[:, 0] < 0.5, np.sin(60.0 * x[:, 0]), np.sin(30.0) + x[:, 0] - 0.5)
        return x, wave + 0.05 * rng.standard_normal(n)

    (x, y), (x_test, y_test) = draw(70), draw(300)
    own, shared = (InfiniteGP(random_state=0, regions=r).fit(x, y) for r in (True, False))
    gain = np.log(own.predict_density(x_test, y_test)) - np.log(shared.predict_density(x_test, y_test))
    assert gain.mean() > 0.05


@pytest.mark.parametrize("other", [{"regions": False}, {"sampler": "truncated"}, {"surfaces": 1}])
def test_states_with_grades_start_models_without(other, rng):
    x, y = rng.random((20, 1)), rng.normal(size=20)
    budget = {"n_warmup": 5, "n_samples": 3, "random_state": 0}
    draws = InfiniteGP(**budget).fit(x, y).chains_[0]
    state = draws.states[-1]
    rough = replace(draws, states=(replace(state, grade=np.full(state.n_surfaces + 1, 2)),))
    assert np.isfinite(InfiniteGP(init=rough, **other, **budget).fit(x, y).predict(x)).all()


def test_bad_choices_are_refused():
    with pytest.raises(InvalidInputError, match="regions must be True or False"):
        InfiniteGP(regions="none").fit([[0.0], [1.0]], [0.0, 1.0])
