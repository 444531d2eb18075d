"""Surfaces that are flat: every move that knows them, the limit to their members, and the proofs to notice bugs."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal, multivariate_t

from infgp import InfiniteGP
from infgp.core.kernels import KERNELS, log_ell_from_phi
from infgp.core.model import FLAT_GRADES, Data, draw_categorical, log_prior, prior_draw, simulate_y
from infgp.core.options import ModelOptions
from infgp.core.partition import enumerate_partitions, urn_logpdf
from infgp.core.priors import LogNormal, Priors
from infgp.core.state import CONSTANT, FLAT, State, crowded, most_flat
from infgp.core.surface import Conditional, Conditioned, log_likelihood
from infgp.predict.paths import draw_surface_path
from infgp.sample.chain import COLLAPSED_SWEEP, Schedule, apply, cooling, run_collapsed, summaries
from infgp.sample.compiled import ROUGHER
from infgp.sample.moves import assign as assign_module
from infgp.sample.moves.assign import assign
from infgp.sample.moves.hyper import draw_grades
from infgp.sample.moves.split_merge import reallocate, split_merge
from infgp.sample.start import start_state
from infgp.testing import family_p_value, geweke
from tests.proofs import NU, SIGMA2, TAU2, X5, Y5, blocks_of, frequencies_p_value, statistics

from .test_collapsed import fixed_model, free_model, without
from .test_grades import key_of

GRADES = (0.3, 0.15, 0.1, 0.45)
X, Y, NOISE = X5[:4], Y5[:4], np.array([0.0, 0.9, 0.05, 0.3])
FLAT_BLOCK = 2  # of four observations, a flat surface has at most two


def flat_covariance(size):
    """A constant, and noise as large as the constant about it."""
    return 0.5 * SIGMA2 * np.ones((size, size)) + (0.5 * SIGMA2 + TAU2) * np.eye(size)


def exact_posterior(shape, noise):
    """Over partitions of four points and the grades of their blocks, from SciPy's densities."""
    logs = {}
    for z in enumerate_partitions(4):
        blocks = blocks_of(z)
        for grades in product(range(4), repeat=len(blocks)):
            if any(g == 3 and len(s) > FLAT_BLOCK for s, g in zip(blocks, grades, strict=True)):
                continue
            total = urn_logpdf(z, NU) + np.sum(np.log(np.array(GRADES)[list(grades)]))
            of_point = np.empty(4, dtype=int)
            for s, g in zip(blocks, grades, strict=True):
                gaps = (X[s, 0][:, None] - X[s, 0][None, :]) / (0.4 / ROUGHER**g)
                smooth = SIGMA2 * np.exp(-0.5 * gaps**2) + TAU2 * np.eye(len(s))
                cov = (flat_covariance(len(s)) if g == 3 else smooth) + np.diag(noise[s])
                zero = np.zeros(len(s))
                law = multivariate_t(zero, cov, df=2 * shape) if shape else multivariate_normal(zero, cov)
                total += law.logpdf(Y[s])
                of_point[s] = g
            logs[*(int(label) for label in z), *of_point.tolist()] = total
    top = max(logs.values())
    norm = sum(np.exp(v - top) for v in logs.values())
    return {k: np.exp(v - top) / norm for k, v in logs.items()}


def p_value(moves, shape, thin, noise=None, draws=10_400, seed=1):
    rng, noise = np.random.default_rng(seed), np.zeros(4) if noise is None else noise
    model, data = replace(fixed_model(shape), grades=GRADES), Data(X, Y, noise)
    start, exact = prior_draw(rng, X, model), exact_posterior(shape, noise)
    return frequencies_p_value(rng, start, moves, thin, data, model, exact, key_of, draws)


@pytest.mark.parametrize(
    ("shape", "noise"),
    [pytest.param(0.0, None, marks=pytest.mark.slow), (1.5, None), pytest.param(1.5, NOISE, marks=pytest.mark.slow)],
    ids=["shared scales", "own scales", "own scales, known noise"],
)
@pytest.mark.parametrize(
    ("moves", "thin"),
    [
        ((assign,), 6),
        ((split_merge,), 30),
        ((reallocate, split_merge), 16),
        ((assign, draw_grades), 2),
        (COLLAPSED_SWEEP, 2),
    ],
    ids=["labels", "split-merge", "reallocations", "grades", "whole sweep"],
)
def test_partitions_and_grades_match_enumeration(moves, thin, shape, noise):
    """Every move by itself and all together; none makes a flat surface of three members."""
    assert p_value(moves, shape, thin, noise) > 1e-4


def test_enumeration_notices_a_wrong_chance_of_flat_surfaces():
    def tilted(rng, state, data, model):
        return draw_grades(rng, state, data, replace(model, grades=(0.35, 0.175, 0.117, 0.358)))

    assert p_value((assign, tilted), 0.0, 2, draws=5000) < 1e-6


def test_enumeration_notices_flat_surfaces_with_too_little_noise():
    """As if the constant had all of σ², and the noise about it were that of all other surfaces."""

    def precise(rng, state, data, model):
        logs = np.full((state.n_surfaces, 4), -np.inf)
        for label, s in enumerate(blocks_of(state.labels)):
            for g in range(4 if s.size <= FLAT_BLOCK else 3):
                surface = replace(state, grade=np.array([g])).surface(label)
                if g == FLAT:
                    surface = replace(surface, sigma2=SIGMA2, tau2=TAU2)
                law = Conditional.of(surface, data.y, data, model)
                logs[label, g] = np.log(GRADES[g]) + law.log_evidence(model.scale_shape)
        return replace(state, grade=draw_categorical(rng, logs))

    assert p_value((assign, precise), 0.0, 2, draws=5000) < 1e-6


def test_steps_of_the_length_scales_match_enumeration():
    """A flat surface stays as likely as it is while the shared length-scales step."""
    prior, shape, steps = LogNormal(loc=-0.5, scale=1.5), 1.5, range(-7, 3)
    model = replace(fixed_model(shape), grades=GRADES)
    model = replace(model, priors=replace(model.priors, lengthscale=prior))
    labels, data = np.array([0, 0, 1, 1]), Data(X, Y)
    rng = np.random.default_rng(8)
    start = replace(prior_draw(rng, X, model), labels=labels, grade=np.array([0, 3]), phi=np.array([[2.0]]))
    log_ell = float(log_ell_from_phi(start.phi[0, 0]))
    log_p = {}
    for step in steps:
        ell = log_ell - step * np.log(ROUGHER)
        for pair in product(range(4), repeat=2):
            state = replace(start, phi=start.phi * ROUGHER ** (2.0 * step), grade=np.array(pair))
            log_p[step, pair] = -0.5 * ((ell + 0.5) / 1.5) ** 2 + np.log(GRADES)[list(pair)].sum()
            log_p[step, pair] += log_likelihood(state, data, model)
    weights = np.exp(np.array(list(log_p.values())) - max(log_p.values()))
    exact = dict(zip(log_p, weights / weights.sum(), strict=True))

    def key(state):
        step = (log_ell - float(log_ell_from_phi(state.phi[0, 0]))) / np.log(ROUGHER)
        return round(step), tuple(state.grade[:2].tolist())

    assert frequencies_p_value(rng, start, (draw_grades,), 8, data, model, exact, key, 5000) > 1e-4


def geweke_p_values(moves, shape, seed, d=1, sweeps=4000):
    rng = np.random.default_rng(seed)
    model, x = replace(free_model(shape, d, d > 1), grades=GRADES), rng.random((5, d))

    def refresh(pair):
        return pair[0], Data(x, simulate_y(rng, pair[0], x, model))

    def transition(pair):
        state, data = pair
        return apply(moves, rng, state, data, model), data

    def of_flat(pair):
        state, data = pair
        gap = (data.y - data.h @ state.beta) / np.sqrt(state.tau2[0] + state.sigma2[0])
        on, same = state.observed_grades == FLAT, state.labels[:, None] == state.labels
        pairs = np.triu(same & on[:, None], 1)
        apart = (gap[:, None] - gap) ** 2
        return {
            "flat": float(on.mean()),
            "flat pairs": float(pairs.sum()),
            "flat first": float(on[0] * np.tanh(np.abs(gap[0]))),
            "flat gap": float(np.tanh(apart[pairs].sum())),
            "rough": float(np.mean(state.observed_grades[~on])) if not on.all() else 0.0,
        }

    return geweke(
        lambda: refresh((prior_draw(rng, x, model), None)),
        transition,
        refresh=refresh,
        statistics=lambda pair: statistics(*pair, model) | of_flat(pair),
        sweeps=sweeps,
    )


@pytest.mark.parametrize(("shape", "d"), [(0.0, 1), (1.5, 1), (0.0, 2)])
def test_joint_distribution(shape, d):
    assert family_p_value(geweke_p_values((*COLLAPSED_SWEEP, reallocate), shape, seed=41, d=d)) > 1e-4


@pytest.mark.slow
def test_joint_distribution_without_label_sweeps():
    assert family_p_value(geweke_p_values(without(assign), 0.0, seed=42)) > 1e-4


def test_joint_distribution_notices_flat_surfaces_with_the_wrong_noise(monkeypatch):
    """Rewards of flat surfaces are simulated with less noise about the constant than the moves believe."""
    monkeypatch.setattr("infgp.core.state.CONSTANT", 0.9)
    assert family_p_value(geweke_p_values(COLLAPSED_SWEEP, 0.0, seed=43)) < 1e-6


def test_joint_distribution_notices_a_wrong_chance_of_flat_surfaces():
    def tilted(rng, state, data, model):
        return draw_grades(rng, state, data, replace(model, grades=(0.35, 0.175, 0.117, 0.358)))

    moves = tuple(tilted if m is draw_grades else m for m in COLLAPSED_SWEEP)
    assert family_p_value(geweke_p_values(moves, 0.0, seed=44)) < 1e-6


def test_joint_distribution_notices_flat_surfaces_of_any_size(monkeypatch):
    """Labels join flat surfaces as if there were no limit to their members."""
    monkeypatch.setattr(assign_module, "most_flat", lambda n: n)
    assert family_p_value(geweke_p_values(COLLAPSED_SWEEP, 0.0, seed=45)) < 1e-6


# --- States and predictions ------------------------------------------------------------------------------------------


def flat_state(grade=(0, FLAT, FLAT), scale=(1.0, 1.0, 1.0)):
    """Eight observations, two of them on a surface that is flat unless told otherwise; a new surface is flat, too."""
    labels = np.array([0, 0, 0, 1, 0, 1, 0, 0])
    return State(
        labels, np.zeros(2), 0.5, np.full((1, 1), 2.0), np.full(1, 1.4), np.full(1, 0.1),
        scale=np.array(scale), grade=np.array(grade),
    )  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_flat_surface_is_a_constant_with_noise(kernel, rng):
    state, scale = flat_state(scale=(1.0, 3.0, 1.0)), 3.0
    data, model = Data(rng.random((8, 1)), rng.normal(size=8)), replace(fixed_model(1.5, kernel), grades=GRADES)
    given = Conditioned(state, data, model)
    at = np.array([[0.0], [0.4], [9.0]])
    constant, noise = scale * 1.4 * CONSTANT, scale * (1.4 * (1.0 - CONSTANT) + 0.1)
    share = constant / (constant + noise / 2)
    mean, variance, d_mean, d_variance = given.surface(1).with_gradients(at)
    assert mean == pytest.approx(np.full(3, share * data.y[[3, 5]].mean()))
    assert variance == pytest.approx(np.full(3, constant * (1.0 - share)))
    assert not d_mean.any()
    assert not d_variance.any()
    assert given.surface(1).surface.tau2 == pytest.approx(noise)
    mean, variance = given.surface(2)(at)  # a new one
    assert not mean.any()
    assert variance == pytest.approx(np.full(3, 1.4 * CONSTANT))
    value, gradient = draw_surface_path(rng, given.surface(1)).value_and_gradient(at)
    assert np.ptp(value) < 1e-12
    assert not gradient.any()


def test_one_observation_says_nothing_about_the_grade(rng):
    model, data = replace(fixed_model(1.5), grades=GRADES), Data(np.array([[0.3]]), np.array([1.7]))
    state = prior_draw(rng, data.x, model)
    values = [log_likelihood(replace(state, grade=np.array([g])), data, model) for g in range(4)]
    assert values == pytest.approx(np.full(4, values[0]))


def test_flat_surfaces_are_rare(rng):
    assert [most_flat(n) for n in (1, 5, 100)] == [1, 2, 26]
    model, x = replace(free_model(1.5), grades=FLAT_GRADES), rng.random((12, 1))
    data = Data(x, rng.normal(size=12))
    states = [prior_draw(rng, x, model) for _ in range(200)]
    assert not any(crowded(state).size for state in states)
    assert any((state.observed_grades == FLAT).any() for state in states)
    start = start_state(rng, data, model, "one")
    many = replace(start, grade=np.array([FLAT]))
    assert np.isfinite(log_prior(start, data, model))
    assert log_prior(many, data, model) == -np.inf
    few = replace(start, labels=np.r_[np.zeros(8, int), np.ones(4, int)], grade=np.array([0, FLAT, FLAT]))
    assert np.isfinite(log_prior(few, data, model))


def test_a_chain_that_goes_on_has_no_large_flat_surface(rng):
    """A state of damaged files, or of other data: the flat surface gets another grade."""
    model, data = replace(free_model(1.5), grades=FLAT_GRADES), Data(rng.random((12, 1)), rng.normal(size=12))
    state = replace(start_state(rng, data, model, "one"), grade=np.array([FLAT, FLAT]))
    assert start_state(rng, data, model, state).grade.tolist() == [0, FLAT]
    alone = replace(state, labels=np.arange(12), grade=np.full(13, FLAT))
    assert start_state(rng, data, model, alone).grade.tolist() == [FLAT] * 13


def test_summaries_of_a_flat_surface_are_finite(rng):
    model, data = replace(free_model(1.5), grades=FLAT_GRADES), Data(rng.random((3, 1)), rng.normal(size=3))
    state = replace(start_state(rng, data, model, "alone"), grade=np.full(3, FLAT))
    assert np.isfinite(list(summaries(state, data, model).values())).all()


@pytest.mark.parametrize("other", [{"regions": False}, {"sampler": "truncated"}, {"surfaces": 1}])
def test_states_with_flat_surfaces_start_models_without(other, rng):
    x, y = rng.random((20, 1)), rng.normal(size=20)
    budget = {"n_warmup": 5, "n_samples": 3, "random_state": 0}
    draws = InfiniteGP(**budget).fit(x, y).chains_[0]
    state = draws.states[-1]
    flat = replace(draws, states=(replace(state, grade=np.full(state.n_surfaces + 1, FLAT)),))
    assert np.isfinite(InfiniteGP(init=flat, **other, **budget).fit(x, y).predict(x)).all()


@pytest.mark.parametrize("depends", [False, True])
def test_evidence_decides_whether_rewards_off_the_main_surface_depend_on_x(depends, rng):
    """A line, and one reward in six elsewhere: strewn about, or on another smooth surface."""
    x = np.sort(rng.random((60, 1)), axis=0)
    y = x[:, 0] + 0.02 * rng.standard_normal(60)
    off = np.arange(60) % 6 == 3
    y[off] = (9.0 + 4.0 * np.sin(5.0 * x[off, 0])) if depends else 5.0 + 8.0 * rng.random(off.sum())
    model = replace(ModelOptions().model(1, Priors()), grades=FLAT_GRADES)
    draws = run_collapsed(rng, Data(x, y), model, Schedule.thinned(cooling(100), 50, 2), "one")
    flat = np.mean([state.observed_grades[off] == FLAT for state in draws.states])
    on = np.mean([state.observed_grades[~off] == FLAT for state in draws.states])
    assert on < 0.02
    assert flat < 0.2 if depends else flat > 0.8
