"""The truncated blocked sampler is proved to draw from its posterior, and the proofs to notice bugs."""

from dataclasses import replace

import numpy as np
import pytest

from infgp.core.kernels import KERNELS, correlation
from infgp.core.linalg import cholesky
from infgp.core.model import Data, Model, simulate_y
from infgp.core.partition import log_gamma_variate, stick_logpdf
from infgp.core.priors import Fixed, Grid, LogNormal, Priors, UniformPhi
from infgp.sample import truncated as blocked
from infgp.testing import family_p_value, frequency_test, geweke, sbc
from tests.proofs import GRID, NU, X5, Y5, all_labels, exact_posterior, fixed_model, free_model, key, statistics

STICKS = 4
DRAWS = 10_400  # style.md: at 2 080 draws a bug was missed
SWEEP = blocked.SWEEP


def swap(old, new):
    """The sweep with one move replaced."""
    return tuple(new if move is old else move for move in SWEEP)


# --- Bugs put in on purpose ------------------------------------------------------------------------------------------


def paper_nu(rng, state, data, model):
    """Step 4a as printed: n − 1 for L − 1."""
    prior = model.priors.nu
    shape = prior.shape + data.y.size - 1
    return state.with_core(nu=float(rng.standard_gamma(shape) / (prior.rate - state.log_weights[-1])))


def squared_nu(rng, state, data, model):
    """ν² for ν in the sticks."""
    wrong = blocked.draw_weights(rng, state.with_core(nu=state.core.nu**2), data, model)
    return replace(state, log_weights=wrong.log_weights)


def no_prior_count(rng, state, data, model):
    """Beta(¼ + n_l, …) for Beta(1 + n_l, …)."""
    counts = state.counts()
    above = counts.sum() - np.cumsum(counts)
    a, b = log_gamma_variate(rng, 0.25 + counts[:-1]), log_gamma_variate(rng, state.core.nu + above[:-1])
    total = np.logaddexp(a, b)
    left = np.concatenate(([0.0], np.cumsum(b - total)))
    return replace(state, log_weights=np.concatenate((a - total, [0.0])) + left)


def blind_surfaces(rng, state, data, model):
    """Surfaces that ignore their members."""
    return blocked.with_surfaces(rng, state.core, STICKS, state.factors)


def greedy_surfaces(rng, state, data, model):
    """Surfaces conditioned on every observation, not on their members."""
    rho = state.factors.rho[state.index]
    r = data.y - data.h @ state.core.beta
    sigma2, tau2 = state.core.sigma2[0], state.core.tau2[0]
    gain = sigma2 * rho @ np.linalg.inv(sigma2 * rho + tau2 * np.eye(r.size))
    factor = cholesky(sigma2 * rho - gain @ (sigma2 * rho))
    surfaces = gain @ r + (factor @ rng.standard_normal((r.size, STICKS))).T
    return replace(state, surfaces=surfaces)


def wrong_noise(rng, state, data, model):
    """τ for τ² in the labels."""
    moved = blocked.draw_labels(rng, state.with_core(tau2=np.sqrt(state.core.tau2)), data, model)
    return moved.with_core(tau2=state.core.tau2)


def wrong_tau2(rng, state, data, model):
    """Shape a + n for a + n/2 in step 4c."""
    prior = model.priors.tau2
    gap = data.y - data.h @ state.core.beta - state.at_members()
    scale = prior.scale + 0.5 * float(gap @ gap)
    return state.with_core(tau2=scale / rng.standard_gamma(prior.shape + gap.size, 1))


def wrong_sigma2(rng, state, data, model):
    """Shape a + n/2 for a + nL/2 in step 4d."""
    prior = model.priors.sigma2
    u = state.factors.inv_chol[state.index] @ state.surfaces.T
    scale = prior.scale + 0.5 * float(np.vdot(u, u))
    return state.with_core(sigma2=scale / rng.standard_gamma(prior.shape + 0.5 * data.y.size, 1))


def no_determinant(rng, state, data, model):
    """Step 4e without det(ρ)^{−L/2}."""
    flat = replace(state, factors=replace(state.factors, log_det=np.zeros_like(state.factors.log_det)))
    moved = blocked.draw_phi(rng, flat, data, model)
    return replace(moved, factors=state.factors)


def stale_surfaces(rng, state, data, model):
    """The joint step after step 1: the surfaces are then of another φ and σ² than the state's."""
    drawn = blocked.draw_surfaces(rng, state, data, model)
    return replace(blocked.hop_and_draw_surfaces(rng, drawn, data, model), surfaces=drawn.surfaces)


JOINT = blocked.hop_and_draw_surfaces


# --- Enumeration -----------------------------------------------------------------------------------------------------


def partition_p_value(moves, draws=DRAWS, thin=4, seed=1, grid=GRID):
    """Frequencies of (partition, φ) over a long chain against the exact posterior."""
    rng = np.random.default_rng(seed)
    model, data = fixed_model(grid), Data(X5, Y5)
    factors = blocked.grid_factors(data, model, size=grid.mass.size)
    state = blocked.prior_blocked(rng, X5, model, STICKS, factors)
    exact = exact_posterior(lambda z: stick_logpdf(z, NU, STICKS), all_labels(5, STICKS), grid)
    counts = dict.fromkeys(exact, 0)
    for _ in range(draws):
        for _ in range(thin):
            state = blocked.sweep(rng, state, data, model, moves)
        counts[key(state.core.labels, state.index)] += 1
    return frequency_test(np.array(list(counts.values()), float), np.array(list(exact.values())))


def test_partitions_match_enumeration():
    assert partition_p_value(SWEEP) > 1e-4


@pytest.mark.parametrize(
    "moves",
    [
        swap(blocked.draw_weights, squared_nu),
        swap(blocked.draw_weights, no_prior_count),
        swap(JOINT, blind_surfaces),
        swap(JOINT, greedy_surfaces),
        swap(blocked.draw_labels, wrong_noise),
        swap(blocked.draw_phi, no_determinant),
        swap(JOINT, stale_surfaces),
    ],
    ids=["squared nu", "no prior count", "blind surfaces", "greedy surfaces", "noise", "determinant", "stale surfaces"],
)
def test_enumeration_notices(moves):
    assert partition_p_value(moves, draws=4000) < 1e-6


@pytest.mark.slow
def test_paper_moves_alone_match_enumeration():
    """Without the joint step the sampler is the paper's. On a grid fine enough for it to move, it is right."""
    fine = Grid(np.log(np.array([0.38, 0.4, 0.42])), np.array([0.2, 0.5, 0.3]))
    assert partition_p_value(blocked.PAPER_SWEEP, thin=12, grid=fine) > 1e-4


def test_paper_moves_alone_freeze_the_lengthscale(rng):
    """Why the joint step is there: on an ordinary grid, step 4e stays where it starts (40 points, 300 sweeps)."""
    x = rng.random((40, 1))
    data = Data(x, np.sin(6.0 * x[:, 0]) + 0.2 * rng.normal(size=40))
    model = Model("se", Priors().resolve(1), ard=False)
    core = replace(blocked.prior_draw(rng, x, model, 8), phi=np.full((1, 1), 0.5 / 0.3**2), tau2=np.array([0.05]))
    start = blocked.with_surfaces(rng, core, 8, blocked.grid_factors(data, model, 20))

    def visited(moves):
        state, seen = start, set()
        for _ in range(300):
            state = blocked.sweep(rng, state, data, model, moves)
            seen.add(state.index)
        return len(seen)

    frozen, free = visited(blocked.PAPER_SWEEP), visited(SWEEP)
    assert frozen <= 2 < free


# --- Joint distribution ----------------------------------------------------------------------------------------------


def geweke_p_values(moves, sweeps, seed, n=6):
    rng = np.random.default_rng(seed)
    model = free_model()
    x = np.linspace(0.0, 1.0, n)[:, None]
    factors = blocked.grid_factors(Data(x, np.zeros(n)), model, size=GRID.mass.size)

    def rewards(state):
        noise = np.sqrt(state.core.tau2[0]) * rng.standard_normal(n)
        return Data(x, np.column_stack((np.ones(n), x)) @ state.core.beta + state.at_members() + noise)

    def prior():
        state = blocked.prior_blocked(rng, x, model, STICKS, factors)
        return state, rewards(state)

    return geweke(
        prior,
        transition=lambda s: (blocked.sweep(rng, s[0], s[1], model, moves), s[1]),
        refresh=lambda s: (s[0], rewards(s[0])),
        statistics=lambda s: statistics(s[0].core, s[1], model) | {"log w_L": max(s[0].log_weights[-1], -50.0)},
        sweeps=sweeps,
    )


def test_joint_distribution():
    p = geweke_p_values(SWEEP, sweeps=4000, seed=2)
    assert family_p_value(p) > 1e-4, p


@pytest.mark.parametrize(
    "moves",
    [
        swap(blocked.draw_nu, paper_nu),
        swap(blocked.draw_tau2, wrong_tau2),
        swap(blocked.draw_sigma2, wrong_sigma2),
        swap(JOINT, blind_surfaces),
    ],
    ids=["the paper's n - 1", "tau2", "sigma2", "blind surfaces"],
)
def test_joint_distribution_notices(moves):
    p = geweke_p_values(moves, sweeps=4000, seed=3)
    assert family_p_value(p) < 1e-6, p


@pytest.mark.slow
def test_joint_distribution_long():
    p = geweke_p_values(SWEEP, sweeps=20_000, seed=4)
    assert family_p_value(p) > 1e-4, p


@pytest.mark.slow
def test_calibration():
    """1 000 data sets × 31 draws, from a start that knows nothing of the truth."""
    rng = np.random.default_rng(5)
    model, n = free_model(), 8
    x = np.linspace(0.0, 1.0, n)[:, None]
    factors = blocked.grid_factors(Data(x, np.zeros(n)), model, size=GRID.mass.size)

    def prior():
        core = blocked.prior_blocked(rng, x, model, STICKS, factors).core
        return core, Data(x, simulate_y(rng, core, x, model))

    def posterior_draws(truth):
        state, draws = blocked.prior_blocked(rng, x, model, STICKS, factors), []
        for b in range(200 + 31 * 12):
            state = blocked.sweep(rng, state, truth[1], model)
            if b >= 200 and (b - 200) % 12 == 11:
                draws.append((state.core, truth[1]))
        return draws

    p = sbc(rng, prior, posterior_draws, lambda s: statistics(s[0], s[1], model), replicates=1000)
    assert family_p_value(p) > 1e-4, p


# --- The pieces ------------------------------------------------------------------------------------------------------


def test_surfaces_have_the_posterior_moments_of_the_printed_formula(rng):
    """Matheron's rule on the members equals N(τ⁻² Λ I (y − hβ), Λ), Λ = (Σ₀⁻¹ + τ⁻² I)⁻¹, of the paper's step 1."""
    model, data = fixed_model(GRID), Data(X5, Y5)
    factors = blocked.grid_factors(data, model, size=3)
    start = blocked.prior_blocked(rng, X5, model, STICKS, factors)
    state = start.with_core(labels=np.array([0, 1, 0, 0, 2]))
    draws = np.array([blocked.draw_surfaces(rng, state, data, model).surfaces for _ in range(20_000)])
    sigma0 = state.core.sigma2[0] * factors.rho[state.index]
    for label in range(STICKS):
        on = np.diag((state.core.labels == label).astype(float))
        lam = np.linalg.inv(np.linalg.inv(sigma0) + on / state.core.tau2[0])
        mean = lam @ on @ data.y / state.core.tau2[0]
        sd = np.sqrt(np.diag(lam))
        assert np.abs(draws[:, label].mean(axis=0) - mean).max() < 5 * sd.max() / np.sqrt(20_000)
        assert np.allclose(np.cov(draws[:, label].T), lam, atol=0.1)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("prior", [LogNormal(), UniformPhi()])
def test_ard_gradient(rng, kernel, prior):
    n, d = 12, 3
    x = rng.random((n, d))
    data = Data(x, rng.normal(size=n))
    model = Model(kernel, Priors(lengthscale=prior).resolve(d), ard=True)
    factors = blocked.grid_factors(data, model, size=20)
    state = blocked.prior_blocked(rng, x, model, STICKS, factors)
    state = state.with_core(sigma2=np.array([0.7]))
    log_phi = rng.normal(size=d)
    _, gradient = blocked.ard_objective(log_phi, state, data, model)
    for k in range(d):
        step = 1e-5 * np.eye(d)[k]
        up, down = (blocked.ard_objective(log_phi + s, state, data, model)[0] for s in (step, -step))
        assert gradient[k] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-5)


def test_ard_finds_the_coordinate_that_matters(rng):
    """A surface that varies along the first coordinate only gets a longer length-scale along the second."""
    x = rng.random((60, 2))
    data = Data(x, np.sin(9.0 * x[:, 0]))
    model = Model("se", Priors(tau2=Fixed(1e-3)).resolve(2), ard=True)
    factors = blocked.grid_factors(data, model, size=20)
    state = blocked.prior_blocked(rng, x, model, 2, factors)
    state = state.with_core(labels=np.zeros(60, dtype=int), sigma2=np.ones(1), beta=np.zeros(3))
    for _ in range(30):
        state = blocked.maximise_phi(blocked.draw_surfaces(rng, state, data, model), data, model)
    first, second = state.core.phi[0]
    assert first > 10.0 * second


def test_factors_are_what_they_say(rng):
    x = rng.random((15, 2))
    model = Model("matern52", Priors().resolve(2), ard=False)
    f = blocked.grid_factors(Data(x, np.zeros(15)), model, size=6)
    assert f.phi.shape == (6, 2)
    for m in range(6):
        rho = correlation("matern52", x, x, f.phi[m]) + blocked.NUGGET * np.eye(15)
        assert np.allclose(f.chol[m] @ f.chol[m].T, rho)
        assert np.allclose(f.inv_chol[m] @ f.chol[m], np.eye(15), atol=1e-6)
        assert f.log_det[m] == pytest.approx(np.linalg.slogdet(rho)[1])


def test_grid_prior_keeps_the_mass_of_its_cells():
    prior = Priors().resolve(3).lengthscale
    grid = Grid.of(prior, 3, 40)
    half = grid.mass[grid.log_ell <= prior.loc].sum()
    assert half == pytest.approx(0.5, abs=0.06)
    one = Grid.of(Fixed(0.3), 3)
    assert one.mass.tolist() == [1.0]
