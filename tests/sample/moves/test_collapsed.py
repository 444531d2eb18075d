"""The collapsed sampler is proved move by move and as a whole, and the proofs to notice bugs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, multivariate_t

from infgp import InfiniteGP
from infgp.core.kernels import KERNELS, correlation
from infgp.core.model import Data, Model, prior_draw, simulate_y
from infgp.core.partition import canonical, enumerate_partitions, urn_logpdf
from infgp.core.priors import Fixed, Gamma, InverseGamma, LogNormal, Normal, Priors
from infgp.core.surface import log_joint, log_likelihood
from infgp.errors import NumericalError
from infgp.sample import compiled
from infgp.sample.chain import COLLAPSED_SWEEP, apply, run_collapsed, sweep
from infgp.sample.compiled import densities, splits
from infgp.sample.moves import assign as assign_module
from infgp.sample.moves import hyper
from infgp.sample.moves import split_merge as split_merge_module
from infgp.sample.moves.assign import assign
from infgp.sample.moves.collapsed import KERNEL_CODE
from infgp.sample.moves.split_merge import reallocate, split_merge
from infgp.sample.start import start_state
from infgp.testing import family_p_value, frequency_test, geweke, sbc
from tests.proofs import NU, SIGMA2, TAU2, X5, Y5, blocks_of, frequencies_p_value, key, posterior_draws, statistics

DRAWS = 10_400
SHAPES = [0.0, 1.5]  # shared scales; own scales, Student-t surfaces with three degrees of freedom
NO_NOISE, NOISE = np.zeros(5), np.array([0.0, 0.9, 0.05, 2.5, 0.3])  # known variances of five rewards


def fixed_model(shape, kernel="se"):
    priors = Priors(beta=Fixed(0.0), tau2=Fixed(TAU2), sigma2=Fixed(SIGMA2), nu=Fixed(NU), lengthscale=Fixed(0.4))
    return Model(kernel, priors.resolve(1), ard=False, scale_shape=shape)


def free_model(shape, d=1, ard=False):
    priors = Priors(
        beta=Normal(np.r_[0.3, np.full(d, -0.2)], np.r_[0.7, np.full(d, 0.5)]),
        tau2=InverseGamma(4.0, 0.5),
        sigma2=InverseGamma(5.0, 3.0),
        nu=Gamma(3.0, 4.0),
        lengthscale=LogNormal(loc=-0.7, scale=0.6),
    )
    return Model("se", priors.resolve(d), ard=ard, scale_shape=shape)


def residual(state, data):
    return data.y - data.h @ state.beta


def log_evidence(labels, x, r, noise, model, state):
    """By the compiled code, for surfaces of one grade."""
    order, starts = compiled.group_order(labels)
    rho = np.empty(int(np.sum(np.diff(starts) ** 2)))
    grade = np.zeros(order.size, dtype=state.grade.dtype)
    assert not state.grade.any()
    compiled.fill_blocks(KERNEL_CODE[model.kernel], x[order], grade, starts, state.phi[0], rho)
    scales = float(state.sigma2[0]), float(state.tau2[0])
    return compiled.blocks_log_evidence(rho, r[order], noise[order], starts, *scales, model.scale_shape)


def exact_evidence(blocks, shape, tau2=TAU2, noise=NO_NOISE):
    """From SciPy's own densities and a kernel written out here."""
    total = 0.0
    for s in blocks:
        gaps = X5[s, 0][:, None] - X5[s, 0][None, :]
        cov = SIGMA2 * np.exp(-0.5 * gaps**2 / 0.4**2) + np.diag(tau2 + noise[s])
        zero = np.zeros(len(s))
        law = multivariate_t(zero, cov, df=2 * shape) if shape else multivariate_normal(zero, cov)
        total += law.logpdf(Y5[s])
    return total


def exact_partitions(shape, noise):
    partitions = enumerate_partitions(5)
    logs = {key(z): urn_logpdf(z, NU) + exact_evidence(blocks_of(z), shape, noise=noise) for z in partitions}
    top = max(logs.values())
    total = sum(np.exp(v - top) for v in logs.values())
    return {k: np.exp(v - top) / total for k, v in logs.items()}


def partition_p_value(moves, shape, thin=4, seed=1, draws=DRAWS, noise=NO_NOISE):
    rng = np.random.default_rng(seed)
    model, data = fixed_model(shape), Data(X5, Y5, noise)
    start, exact = prior_draw(rng, X5, model), exact_partitions(shape, noise)
    return frequencies_p_value(rng, start, moves, thin, data, model, exact, lambda s: key(s.labels), draws)


@pytest.mark.parametrize(
    ("noise", "shape"),
    [pytest.param(NO_NOISE, 0.0, marks=pytest.mark.slow), (NO_NOISE, 1.5), (NOISE, 1.5)],
    ids=["shared scales", "own scales", "own scales, known noise"],
)
@pytest.mark.parametrize(
    ("moves", "thin"),
    [((assign,), 3), ((split_merge,), 16), (COLLAPSED_SWEEP, 2)],
    ids=["labels", "split-merge", "whole sweep"],
)
def test_partitions_match_enumeration(moves, thin, noise, shape):
    """Split–merge alone, too, leaves the exact posterior over the 52 partitions unchanged."""
    assert partition_p_value(moves, shape, thin, noise=noise) > 1e-4


@pytest.mark.slow
def test_split_merge_leaves_partition_and_noise_unchanged_together():
    """With τ² moving along: exact posterior over 52 partitions × τ² in cells, from a grid over log τ²."""
    prior = InverseGamma(3.0, 0.5)
    priors = replace(fixed_model(0.0).priors, tau2=prior)
    model, data = replace(fixed_model(0.0), priors=priors), Data(X5, Y5)
    grid = np.linspace(np.log(0.01), np.log(10.0), 400)
    edges = np.array([np.log(0.12), np.log(0.25), np.log(0.5)])
    cell = np.searchsorted(edges, grid)
    weights: dict[tuple[int, ...], float] = {}
    for z in enumerate_partitions(5):
        blocks = blocks_of(z)
        for t, c in zip(grid, cell, strict=True):
            p = np.exp(urn_logpdf(z, NU) + exact_evidence(blocks, 0.0, np.exp(t)) + prior.logpdf(np.exp(t)) + t)
            weights[key(z, int(c))] = weights.get(key(z, int(c)), 0.0) + p
    total = sum(weights.values())
    rng = np.random.default_rng(3)
    state, counts = prior_draw(rng, X5, model), dict.fromkeys(weights, 0)
    for _ in range(DRAWS):
        for _ in range(3):
            state = apply((split_merge, split_merge, assign, hyper.draw_scales), rng, state, data, model)
        counts[key(state.labels, int(np.searchsorted(edges, np.log(state.tau2[0]))))] += 1
    assert frequency_test(np.array(list(counts.values()), float), np.array(list(weights.values())) / total) > 1e-4


# --- Bugs put in on purpose ------------------------------------------------------------------------------------------


def slow_assign(rng, state, data, model, count_self=False, stay=False, blind=False, nu_power=1.0):
    """The label sweep written out plainly, with the bugs of style.md on request."""
    labels = state.labels.copy()
    r = residual(state, data)

    def evidence(s):
        return log_evidence(np.zeros(len(s), int), data.x[s], r[s], data.noise[s], model, state)

    for i in rng.permutation(r.size):
        options, log_p = [], []
        others = np.delete(labels, i)
        for label in np.unique(others):
            s = np.flatnonzero(labels == label)
            s = s if stay else s[s != i]
            count = np.sum(labels == label) if count_self else np.sum(others == label)
            gain = evidence(np.array([i])) if blind else evidence(np.append(s, i)) - evidence(s)
            options.append(label)
            log_p.append(np.log(count) + gain)
        options.append(labels.max() + 1)
        log_p.append(nu_power * np.log(state.nu) + evidence(np.array([i])))
        labels[i] = options[int(np.argmax(np.array(log_p) + rng.gumbel(size=len(log_p))))]
    return replace(state, labels=canonical(labels))


def buggy(**bug):
    return lambda rng, state, data, model: slow_assign(rng, state, data, model, **bug)


def test_plain_transcription_matches_enumeration():
    """The transcription without a bug is right, so what the tests below notice is the bug."""
    assert partition_p_value((slow_assign,), 0.0, thin=2, draws=2080) > 1e-4


@pytest.mark.parametrize("bug", [{"count_self": True}, {"stay": True}, {"blind": True}, {"nu_power": 2.0}], ids=str)
def test_enumeration_notices(bug):
    assert partition_p_value((buggy(**bug),), 0.0, thin=1, draws=6000) < 1e-6


@pytest.mark.parametrize(("move", "thin"), [(assign, 1), (split_merge, 10)], ids=["labels", "split-merge"])
def test_enumeration_notices_forgotten_noise(move, thin):
    def forgetful(rng, state, data, model):
        return move(rng, state, Data(data.x, data.y), model)

    assert partition_p_value((forgetful,), 0.0, thin, draws=5000, noise=NOISE) < 1e-6


def wrong_grow(change):
    right = splits.grow

    def grow(*arguments):
        log_q, evidence = right(*arguments)
        return change(log_q, evidence)

    return grow


@pytest.mark.parametrize(
    "change",
    [lambda q, e: (0.0, e), lambda q, e: (-q, e), lambda q, e: (q, 0.5 * e)],
    ids=["no proposal density", "its inverse", "half the evidence"],
)
def test_enumeration_notices_a_wrong_ratio(change, monkeypatch):
    monkeypatch.setattr(splits, "grow", wrong_grow(change))
    assert partition_p_value((split_merge,), 0.0, thin=10, draws=5000) < 1e-6


# --- Joint distribution and calibration ------------------------------------------------------------------------------


def geweke_p_values(moves, shape, sweeps, seed, n=6, ard=False, noise=None):
    rng = np.random.default_rng(seed)
    noise = np.zeros(n) if noise is None else noise
    d = 2 if ard else 1
    model = free_model(shape, d, ard)
    x = rng.random((n, d))

    def prior():
        return refresh((prior_draw(rng, x, replace(model, local=0.0)), None))

    def refresh(pair):
        return pair[0], Data(x, simulate_y(rng, pair[0], x, model, noise), noise)

    def transition(pair):
        state, data = pair
        state = apply(moves, rng, state, data, model)
        return state, data

    return geweke(
        prior,
        transition,
        refresh=refresh,
        statistics=lambda s: statistics(s[0], s[1], model),
        sweeps=sweeps,
    )


def without(move):
    return tuple(m for m in COLLAPSED_SWEEP if m is not move)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ard", [False, True])
def test_joint_distribution(shape, ard):
    p = geweke_p_values((*COLLAPSED_SWEEP, reallocate), shape, 4000, seed=10, ard=ard)
    assert family_p_value(p) > 1e-4, p


@pytest.mark.parametrize("shape", SHAPES)
def test_joint_distribution_with_known_noise(shape):
    p = geweke_p_values(
        (*COLLAPSED_SWEEP, reallocate), shape, 4000, seed=16, noise=np.array([0.0, 0.6, 0.02, 1.5, 0.2, 4.0])
    )
    assert family_p_value(p) > 1e-4, p


@pytest.mark.parametrize("right", [hyper.draw_beta, hyper.draw_scales], ids=["beta", "scales"])
def test_joint_distribution_notices_forgotten_noise(right):
    def forgetful(rng, state, data, model):
        return right(rng, state, Data(data.x, data.y), model)

    moves = tuple(forgetful if m is right else m for m in COLLAPSED_SWEEP)
    p = geweke_p_values(moves, 0.0, 4000, seed=16, noise=np.array([0.0, 0.6, 0.02, 1.5, 0.2, 4.0]))
    assert family_p_value(p) < 1e-6, p


@pytest.mark.parametrize(
    "moves",
    [without(split_merge), without(assign)],
    ids=["without split-merge", "without label sweeps"],
)
def test_joint_distribution_without_a_move(moves):
    p = geweke_p_values(moves, 0.0, 4000, seed=11)
    assert family_p_value(p) > 1e-4, p


def wrong_nu(rng, state, data, model):
    """ν ~ Gamma(a + K, b), the auxiliary variable forgotten."""
    prior = model.priors.nu
    return replace(state, nu=float(rng.standard_gamma(prior.shape + state.n_surfaces) / prior.rate))


def wrong_beta(rng, state, data, model):
    """The prior mean of β forgotten."""
    centred = replace(model.priors.beta, mean=np.zeros(2))
    return hyper.draw_beta(rng, state, data, replace(model, priors=replace(model.priors, beta=centred)))


def wrong_scales(rng, state, data, model):
    """The Jacobian of log τ² forgotten."""
    shifted = replace(model.priors.tau2, shape=model.priors.tau2.shape + 1.0)
    return hyper.draw_scales(rng, state, data, replace(model, priors=replace(model.priors, tau2=shifted)))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [(hyper.draw_nu, wrong_nu), (hyper.draw_beta, wrong_beta), (hyper.draw_scales, wrong_scales)],
    ids=["nu", "beta", "scales"],
)
def test_joint_distribution_notices(right, wrong):
    moves = tuple(wrong if m is right else m for m in COLLAPSED_SWEEP)
    p = geweke_p_values(moves, 0.0, 4000, seed=12)
    assert family_p_value(p) < 1e-6, p


def test_joint_distribution_notices_a_shift_without_prior():
    """Split–merge that moves τ² and forgets its prior; nothing else moves τ² here, so that the error is not mended."""
    flat = InverseGamma(1e-3, 1e-3)

    def wrong(rng, state, data, model):
        return split_merge(rng, state, data, replace(model, priors=replace(model.priors, tau2=flat)))

    def hold_tau2(rng, state, data, model):
        fixed = replace(model.priors, tau2=Fixed(float(state.tau2[0])))
        return hyper.draw_scales(rng, state, data, replace(model, priors=fixed))

    right = tuple(hold_tau2 if m is hyper.draw_scales else m for m in COLLAPSED_SWEEP)
    assert family_p_value(geweke_p_values(right, 0.0, 12_000, seed=13)) > 1e-4  # τ² moves slowly here
    moves = tuple(wrong if m is split_merge else m for m in right)
    assert family_p_value(geweke_p_values(moves, 0.0, 4000, seed=13)) < 1e-6


def test_joint_distribution_notices_a_stretch_by_another_prior():
    """Split–merge that moves ℓ by another prior; nothing else moves ℓ here, so that the error is not mended.

    Another and not a flat one: without any, ℓ wanders, and a test that allows for autocorrelation sees little.
    """
    other = LogNormal(loc=0.8, scale=0.6)

    def wrong(rng, state, data, model):
        return split_merge(rng, state, data, replace(model, priors=replace(model.priors, lengthscale=other)))

    def hold_ell(rng, state, data, model):
        fixed = replace(model.priors, lengthscale=Fixed(float((0.5 / state.phi[0, 0]) ** 0.5)))
        return hyper.draw_scales(rng, state, data, replace(model, priors=fixed))

    right = tuple(hold_ell if m is hyper.draw_scales else m for m in COLLAPSED_SWEEP)
    assert family_p_value(geweke_p_values(right, 0.0, 4000, seed=17)) > 1e-4
    moves = tuple(wrong if m is split_merge else m for m in right)
    assert family_p_value(geweke_p_values(moves, 0.0, 4000, seed=17)) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ard", [False, True])
def test_joint_distribution_long(shape, ard):
    p = geweke_p_values((*COLLAPSED_SWEEP, reallocate), shape, 20_000, seed=14, ard=ard)
    assert family_p_value(p) > 1e-4, p


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_calibration(shape):
    """1 000 data sets × 31 draws, from a start that knows nothing of the truth."""
    rng = np.random.default_rng(15)
    model, n = free_model(shape), 10
    x = rng.random((n, 1))

    def prior():
        state = prior_draw(rng, x, replace(model, local=0.0))
        return state, Data(x, simulate_y(rng, state, x, model))

    def draws(truth):
        return posterior_draws(
            rng, prior_draw(rng, x, replace(model, local=0.0)), (*COLLAPSED_SWEEP, reallocate), truth[1], model
        )

    p = sbc(rng, prior, draws, lambda s: statistics(s[0], s[1], model), replicates=1000)
    assert family_p_value(p) > 1e-4, p


# --- The pieces ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shape", SHAPES)
def test_compiled_evidence_equals_the_model(kernel, shape, rng):
    model = Model(kernel, Priors().resolve(2), ard=True, scale_shape=shape)
    x = rng.random((25, 2))
    state = prior_draw(rng, x, replace(model, local=0.0))
    noise = rng.exponential(size=25)
    data = Data(x, simulate_y(rng, state, x, model, noise), noise)
    value = log_evidence(state.labels, x, residual(state, data), noise, model, state)
    assert value == pytest.approx(log_likelihood(state, data, model))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("spread", "local", "grades"),
    [
        (0.0, 0.0, (1.0,)),
        (1.0, 0.0, (1.0,)),
        (0.0, 0.6, (1.0,)),
        (0.0, 0.6, (0.7, 0.3)),
        (1.0, 0.6, (0.3, 0.1, 0.1, 0.5)),
    ],
    ids=["", "known noise", "places", "places and grades", "all, and a flat surface"],
)
def test_label_probabilities_are_ratios_of_the_joint(spread, local, grades, shape, rng, monkeypatch):
    """P(z_i) from a compiled visit of one observation equals that from `log_joint`, large surfaces included."""
    monkeypatch.setattr(compiled, "LARGE", 5)
    n = 16
    x = rng.random((n, 2))
    model = Model("se", Priors().resolve(2), ard=False, scale_shape=shape, local=local, grades=grades)
    labels, grade = np.r_[np.zeros(9, int), np.ones(4, int), [2, 2], [3]], np.arange(5) % len(grades)
    state = replace(
        prior_draw(rng, x, replace(model, local=0.0)),
        labels=labels,
        nu=0.8,
        tau2=np.array([0.3]),
        sigma2=np.array([1.4]),
    )
    state = replace(state, grade=grade if len(grades) > 1 else np.zeros(1, int))
    noise = spread * rng.exponential(size=n)
    data = Data(x, simulate_y(rng, state, x, model, noise), noise)
    prior = prior_covariances(state, x, model)
    for i in (0, 10, 14, 15):
        logs = {}
        for label in range(5):
            z = labels.copy()
            z[i] = label
            value = log_joint(replace(state, labels=z), data, model)
            if np.sum(z == label) == 1:  # alone: any grade
                value -= np.log(grades[grade[label]])
            logs[tuple(canonical(z))] = value
        top = max(logs.values())
        exact = {z: np.exp(v - top) / sum(np.exp(u - top) for u in logs.values()) for z, v in logs.items()}
        uniforms = (np.arange(2000) + 0.5) / 2000
        seen: dict[tuple[int, ...], int] = {}
        for u in uniforms:
            visit = np.array([i]), np.array([u]), np.zeros(1, int)
            out, _ = assign_module._visit(
                labels, state.observed_grades, state, model, residual(state, data), data, prior, *visit
            )
            seen[tuple(canonical(out))] = seen.get(tuple(canonical(out)), 0) + 1
        for z, p in exact.items():
            assert seen.get(z, 0) / 2000 == pytest.approx(p, abs=2e-3)


def prior_covariances(state, x, model):
    """One for each grade."""
    prior = np.empty((len(model.grades), x.shape[0], x.shape[0]))
    for g, out in enumerate(prior):
        compiled.fill_covariance(KERNEL_CODE[model.kernel], g, x, state.phi[0], state.sigma2[0], out)
    return prior


@pytest.mark.parametrize("large", [3, 1000])
def test_updates_keep_the_inverses(large, rng, monkeypatch):
    """After a sweep with many changes, what was updated equals what is factorised anew, large surfaces included."""
    monkeypatch.setattr(compiled, "LARGE", large)
    n = 60
    x = rng.random((n, 2))
    model = Model("se", Priors().resolve(2), ard=False, grades=(0.6, 0.4))
    state = replace(prior_draw(rng, x, replace(model, local=0.0)), labels=rng.integers(4, size=n), tau2=np.array([0.2]))
    state = replace(state, grade=np.array([0, 1, 0, 1]))
    data = Data(x, rng.normal(size=n), rng.exponential(size=n))
    prior, grade = prior_covariances(state, x, model), state.observed_grades
    arrays = {}
    right = compiled.label_sweep

    def spy(*arguments):
        inverse, alpha, labels, _, _, _, quadratics = arguments[6:13]
        before = labels.copy()
        changed = right(*arguments)
        arrays.update(inverse=inverse, alpha=alpha, labels=labels.copy(), quadratics=quadratics, changed=changed)
        assert changed >= np.sum(before != labels) > 10
        return changed

    monkeypatch.setattr(compiled, "label_sweep", spy)
    r = residual(state, data)
    visits = rng.permutation(n), rng.random(n), rng.integers(2, size=n)
    assign_module._visit(state.labels, grade, state, model, r, data, prior, *visits)
    same = arrays["labels"][:, None] == arrays["labels"]
    exact = np.linalg.inv(same * prior[grade, np.arange(n)] + np.diag(0.2 + data.noise))
    assert np.allclose(arrays["inverse"], exact, atol=1e-8)
    assert np.allclose(arrays["alpha"], exact @ r, atol=1e-8)
    for label in np.unique(arrays["labels"]):
        s = arrays["labels"] == label
        assert arrays["quadratics"][label] == pytest.approx(r[s] @ (exact @ r)[s])


@pytest.mark.parametrize(("sigma2", "tau2", "phi"), [(1.3, 1e-5, 4.0), (2000.0, 2e-3, 0.5)])
def test_small_noise_needs_no_second_sweep(rng, monkeypatch, sigma2, tau2, phi):
    """An outlier among many precise values joins their surface and leaves it: α stays right, and is not redone."""
    n = 300
    x = rng.random((n, 2))
    model = Model("se", Priors().resolve(2), ard=False)
    labels = (rng.random(n) < 0.1).astype(np.int64)
    scales = {"sigma2": np.array([sigma2]), "tau2": np.array([tau2]), "phi": np.full((1, 2), phi)}
    state = replace(prior_draw(rng, x, replace(model, local=0.0)), labels=labels, **scales)
    calls = []
    right = assign_module._visit

    def spy(*arguments):
        out, drift = right(*arguments)
        calls.append((drift, np.sum(out != arguments[0])))
        return out, drift

    monkeypatch.setattr(assign_module, "_visit", spy)
    assign(rng, state, Data(x, np.sin(5.0 * x.sum(axis=1)) + np.sqrt(tau2) * rng.normal(size=n)), model)
    ((drift, changed),) = calls
    assert changed > 10
    assert drift < 1e-9


def test_drift_is_checked(rng, monkeypatch):
    """Where updates lose accuracy, the sweep is done again in parts, with fresh factorisations."""
    n = 40
    x = rng.random((n, 1))
    model = Model("se", Priors().resolve(1), ard=False)
    state = replace(prior_draw(rng, x, replace(model, local=0.0)), labels=rng.integers(3, size=n))
    calls, largest = [], 10
    right = assign_module._visit

    def spy(*arguments):
        visits = arguments[-3]
        calls.append(visits.size)
        out, drift = right(*arguments)
        return out, (1.0 if visits.size > largest else drift)

    monkeypatch.setattr(assign_module, "_visit", spy)
    eighths, singly = [5] * 8, [1] * 40
    for limit, expected in ((10, [40, *eighths]), (4, [40, *eighths, *singly]), (0, [40, *eighths, *singly, *singly])):
        largest = limit
        calls.clear()
        assign(rng, state, Data(x, rng.normal(size=n)), model)
        assert calls == expected  # with a factorisation for each visit nothing has accumulated: it counts


def test_a_sweep_that_loses_its_numbers_says_so(rng):
    x, model = rng.random((8, 1)), Model("se", Priors().resolve(1), ard=False)
    state = replace(prior_draw(rng, x, model), labels=np.arange(8) % 2)
    y = np.r_[np.nan, rng.normal(size=7)]
    with pytest.raises(NumericalError, match="has lost its numbers"):
        assign(rng, state, Data(x, y), model)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fixed", [False, True])
def test_the_sweep_is_its_moves(shape, fixed, rng):
    """The sweep that chains run and the moves that are proved one by one give the same numbers."""
    x = rng.random((20, 1))
    model = fixed_model(shape) if fixed else free_model(shape)
    model = replace(model, local=0.5, grades=(0.3, 0.2, 0.1, 0.4))
    data = Data(x, rng.normal(size=20), rng.exponential(size=20))
    one = other = prior_draw(rng, x, replace(model, local=0.0))
    rng_one, rng_other = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(20):
        one = apply((sweep,), rng_one, one, data, model)
        other = apply(COLLAPSED_SWEEP, rng_other, other, data, model)
    for name in ("labels", "beta", "nu", "phi", "sigma2", "tau2", "grade"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.parametrize("n", [1, 7, 8, 9, 40, 130])
def test_factor_and_inverse(n, rng):
    x = rng.random((n, 2))
    cov, factor, inverse = np.full((n, n), np.nan), np.empty((n, n)), np.empty((n, n))
    densities.fill_covariance(1, 0, x, np.array([2.0, 3.0]), 1.7, cov)
    assert np.allclose(cov, 1.7 * correlation("matern52", x, x, np.array([2.0, 3.0])), rtol=1e-14)
    noise = rng.exponential(size=n)
    full = 0.6 * cov + np.diag(0.05 + noise)
    assert densities.factorise(cov, 0.6, 0.05, noise, factor) == pytest.approx(np.linalg.slogdet(full)[1])
    lower = np.tril(factor, -1) + np.diag(1.0 / np.diag(factor))
    assert np.allclose(lower @ lower.T, full, atol=1e-13)
    densities.invert(factor, inverse)
    assert np.allclose(np.tril(inverse), np.tril(np.linalg.inv(full)), rtol=1e-9, atol=1e-9)


def test_decay_is_the_exponential(rng):
    t = np.concatenate((100.0 * rng.random(5000), [0.0, 1e-300, 100.0]))
    out = t.copy()
    densities.decay(out, out.size, np.empty(out.size))
    assert np.allclose(out, np.exp(-t), rtol=4e-16, atol=0.0)
    far = np.array([101.0, 1e5, np.inf])
    densities.decay(far, 3, np.empty(3))
    assert (far < 1e-43).all()  # nothing next to a variance, and squares of it are not denormal
    assert (far**2 > np.finfo(float).tiny).all()


def test_anchors_do_not_look_at_rewards_or_labels(rng):
    x = rng.random((30, 2))
    pairs = np.array([split_merge_module.anchor_pair(rng, x) for _ in range(20_000)])
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert np.unique(pairs, axis=0).shape[0] == 30 * 29  # every pair can be chosen
    assert frequency_test(np.bincount(pairs[:, 0]).astype(float), np.full(30, 1 / 30)) > 1e-4


@pytest.mark.parametrize("start", ["one", "random", "alone"])
def test_finds_two_modes_from_any_start(start, rng):
    x = rng.random((50, 1))
    side = rng.random(50) < 0.5
    data = Data(x, np.sin(5.0 * x[:, 0]) + np.where(side, 1.5, -1.5) + 0.1 * rng.normal(size=50))
    model = Model("se", Priors().resolve(1), ard=False)
    state = start_state(rng, data, model, start)
    for _ in range(150):
        state = apply(COLLAPSED_SWEEP, rng, state, data, model)
    big = np.argsort(-np.bincount(state.labels))[:2]
    assert np.isin(state.labels, big).mean() > 0.9
    agreement = np.mean((state.labels == big[0]) == side)
    assert max(agreement, 1 - agreement) > 0.9


def test_a_chain_that_goes_on_is_not_heated(monkeypatch, rng):
    x, y, heats = rng.random((9, 1)), rng.normal(size=9), []

    def spy(rng, data, model, schedule, start, **options):
        heats.append(schedule.heat)
        return run_collapsed(rng, data, model, schedule, start, **options)

    monkeypatch.setattr("infgp.estimator.regressor.run_collapsed", spy)
    budget = {"n_warmup": 8, "n_samples": 1, "thin": 1, "n_chains": 1, "random_state": 0}
    first = InfiniteGP(**budget).fit(x, y)
    InfiniteGP(init=first.chains_[0], **budget).fit(x, y)
    begins, goes_on = heats
    assert begins == pytest.approx([1.0, 10**-0.75, 10**-1.5, 10**-2.25, 0, 0, 0, 0])
    assert goes_on.tolist() == [0.0] * 8


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("options", [{"noise_variance": np.full(20, 0.01)}, {}])
def test_one_reward_beyond_all_measure_does_not_hang_a_fit(options, constant):
    """A log evidence of −1e23 swallows the level of a slice, which then shrinks to nothing."""
    rng = np.random.default_rng(0)
    x = rng.random((20, 2))
    y = np.sin(6.0 * x[:, 0])
    y[7] = 1e12
    if constant:
        x[:, 1], y[7] = 0.5, 1e9
    model = InfiniteGP(surface_scales="shared", n_warmup=60, n_samples=10, random_state=0).fit(x, y, **options)
    assert np.isfinite(model.predict(x)).all()
    assert np.abs(model.predict_main(x[:7])).max() < 2.0  # shared scales are inflated by it, but not the surface
    assert model.off_surface_probability_[7] > 0.9


def test_scales_of_what_is_not_a_number_are_not_drawn(rng):
    model, x = free_model(0.0), rng.random((6, 1))
    state = replace(prior_draw(rng, x, model), beta=np.array([np.nan, 0.0]))
    with pytest.raises(NumericalError, match="evidence of the surfaces is not a number"):
        hyper.draw_scales(rng, state, Data(x, np.zeros(6)), model)
