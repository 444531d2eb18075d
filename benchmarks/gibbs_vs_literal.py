"""The paper's Algorithm 2 as printed against infgp's blocked sampler: seconds per sweep in one run.

The literal version inverts n×n matrices for each surface and takes a determinant and an inverse for each grid point in
each sweep. Same data, L, grid and number of sweeps for both; BLAS on one thread. Ours includes its extra joint step.

    python -m benchmarks.gibbs_vs_literal [--quick]      # writes benchmarks/results/gibbs_vs_literal.json
"""

from __future__ import annotations

import argparse
import json
import time
import tracemalloc
from pathlib import Path

import numpy as np

from infgp.core.kernels import correlation
from infgp.core.linalg import one_blas_thread
from infgp.core.model import Data, Model
from infgp.core.priors import Grid, Priors
from infgp.sample import truncated as blocked

OUT = Path(__file__).parent / "results" / "gibbs_vs_literal.json"
#: Number of sticks.
STICKS = 8
#: Number of length-scales on the grid.
GRID_SIZE = 20
#: Number of inputs.
DIMENSION = 2


def literal_sweep(rng, state, data, priors, grid_phi):
    """One iteration of Algorithm 2 as printed (with L − 1 in step 4a and an intercept in the trend)."""
    x, y, h = data.x, data.y, data.h
    n, sticks = y.size, STICKS
    xi, z, beta, nu, tau2, sigma2, phi = (state[k] for k in ("xi", "z", "beta", "nu", "tau2", "sigma2", "phi"))

    def rho_of(value):
        return correlation("se", x, x, np.full(x.shape[1], value)) + blocked.NUGGET * np.eye(n)

    sigma0 = sigma2 * rho_of(phi)
    for label in range(sticks):  # step 1
        on = np.diag((z == label).astype(float))
        lam = np.linalg.inv(np.linalg.inv(sigma0) + on / tau2)
        lam = 0.5 * (lam + lam.T) + 1e-10 * np.eye(n)
        mean = lam @ on @ (y - h @ beta) / tau2
        xi[label] = mean + np.linalg.cholesky(lam) @ rng.standard_normal(n)

    def weights():  # step 2
        counts = np.bincount(z, minlength=sticks)
        v = np.array([rng.beta(1 + counts[k], nu + counts[k + 1 :].sum()) for k in range(sticks - 1)] + [1.0])
        return v * np.cumprod(np.concatenate(([1.0], 1.0 - v[:-1])))

    w = weights()
    for i in range(n):  # step 3
        log_p = np.log(w + 1e-300) - (y[i] - h[i] @ beta - xi[:, i]) ** 2 / (2.0 * tau2)
        p = np.exp(log_p - log_p.max())
        z[i] = rng.choice(sticks, p=p / p.sum())
    w = weights()  # step 4a
    nu = rng.gamma(priors.nu.shape + sticks - 1, 1.0 / (priors.nu.rate - np.log(w[-1] + 1e-300)))
    y_bar = y - xi[z, np.arange(n)]  # step 4b
    cov = np.linalg.inv(np.diag(1.0 / priors.beta.sd**2) + h.T @ h / tau2)
    beta = rng.multivariate_normal(cov @ (h.T @ y_bar) / tau2, cov)
    gap = y_bar - h @ beta  # step 4c
    tau2 = (priors.tau2.scale + 0.5 * gap @ gap) / rng.gamma(priors.tau2.shape + n / 2)
    inverse = np.linalg.inv(rho_of(phi))  # step 4d
    quadratic = sum(xi[k] @ inverse @ xi[k] for k in range(sticks))
    sigma2 = (priors.sigma2.scale + 0.5 * quadratic) / rng.gamma(priors.sigma2.shape + n * sticks / 2)
    log_p = np.empty(len(grid_phi))  # step 4e
    for m, value in enumerate(grid_phi):
        rho = rho_of(value)
        inverse = np.linalg.inv(rho)
        quadratic = sum(xi[k] @ inverse @ xi[k] for k in range(sticks))
        log_p[m] = -0.5 * sticks * np.linalg.slogdet(rho)[1] - quadratic / (2.0 * sigma2)
    p = np.exp(log_p - log_p.max())
    phi = grid_phi[rng.choice(len(grid_phi), p=p / p.sum())]
    return {"xi": xi, "z": z, "beta": beta, "nu": nu, "tau2": tau2, "sigma2": sigma2, "phi": phi}


def compare(n: int, sweeps: int, seed: int = 0) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    x = rng.random((n, DIMENSION))
    y = np.sin(6.0 * x[:, 0]) + 0.3 * rng.normal(size=n)
    y[: n // 20] += 10.0
    data, model = Data(x, y), Model("se", Priors().resolve(DIMENSION), ard=False)
    grid = Grid.of(model.priors.lengthscale, DIMENSION, GRID_SIZE)

    begin = time.perf_counter()
    factors = blocked.grid_factors(data, model, GRID_SIZE)
    setup = time.perf_counter() - begin
    start = blocked.prior_blocked(rng, x, model, STICKS, factors)
    literal = {
        "xi": start.surfaces.copy(),
        "z": start.core.labels.copy(),
        "beta": start.core.beta,
        "nu": start.core.nu,
        "tau2": start.core.tau2[0],
        "sigma2": start.core.sigma2[0],
        "phi": start.core.phi[0, 0],
    }
    literal_sweep(rng, literal, data, model.priors, 0.5 * np.exp(-2.0 * grid.log_ell))  # warm caches
    begin = time.perf_counter()
    for _ in range(sweeps):
        literal = literal_sweep(rng, literal, data, model.priors, 0.5 * np.exp(-2.0 * grid.log_ell))
    literal_seconds = (time.perf_counter() - begin) / sweeps

    state = blocked.sweep(rng, start, data, model)
    begin = time.perf_counter()
    for _ in range(sweeps):
        state = blocked.sweep(rng, state, data, model)
    ours = (time.perf_counter() - begin + setup) / sweeps  # the factorisations of the grid are charged to us

    tracemalloc.start()
    factors = blocked.grid_factors(data, model, GRID_SIZE)
    state = blocked.sweep(rng, blocked.prior_blocked(rng, x, model, STICKS, factors), data, model)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "n": n,
        "sticks": STICKS,
        "grid": GRID_SIZE,
        "sweeps": sweeps,
        "literal_ms_per_sweep": 1e3 * literal_seconds,
        "infgp_ms_per_sweep": 1e3 * ours,
        "ratio": literal_seconds / ours,
        "peak_memory_over_grid_n2_doubles": peak / (8.0 * GRID_SIZE * n * n),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="n = 25, 50, 100 and few sweeps; writes nothing")
    quick = parser.parse_args().quick
    results = []
    with one_blas_thread():
        for n in (25, 50, 100) if quick else (25, 50, 100, 200, 400):
            results.append(compare(n, sweeps=20 if quick else min(500, 8_000_000 // n**2)))
            r = results[-1]
            print(
                f"n={r['n']:4d}  literal {r['literal_ms_per_sweep']:9.2f} ms  infgp {r['infgp_ms_per_sweep']:7.2f} ms  "
                f"ratio {r['ratio']:6.1f}  peak {r['peak_memory_over_grid_n2_doubles']:.1f} × grid·n² doubles",
                flush=True,
            )
    if not quick:
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
