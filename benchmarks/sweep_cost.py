"""What a label sweep costs, against one LAPACK Cholesky and inverse of the full n × n matrix; effective samples per
second of the log joint, collapsed against truncated; the compiled factorisation against NumPy's in Numba; a fit with
regions (places, own length-scales) against one without; the first fit on an empty cache.

The sweep is the whole move `assign`: covariances, fresh factorisations, visits, check. One surface
holds 90 % of the observations, the rest are spread over small ones; labels are those of a chain in equilibrium.

    python -m benchmarks.sweep_cost [--quick]      # writes benchmarks/results/sweep_cost.json
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path

import numpy as np
from numba import njit
from scipy.linalg import lapack

from infgp import InfiniteGP
from infgp.bench.tasks.families import draw
from infgp.core.kernels import correlation
from infgp.core.linalg import one_blas_thread
from infgp.core.model import Data, Model
from infgp.core.priors import Priors
from infgp.core.state import State
from infgp.sample.compiled.densities import factorise
from infgp.sample.diagnostics import bulk_ess
from infgp.sample.moves.assign import assign

OUT = Path(__file__).parent / "results" / "sweep_cost.json"


def ninety_percent(n, rng):
    """Data and a state in which one surface holds 90 % of the points and the others hold ten or fewer each."""
    x = rng.random((n, 2))
    labels = np.zeros(n, dtype=np.int64)
    off = rng.choice(n, n // 10, replace=False)
    labels[off] = 1 + np.arange(off.size) // 10
    level = np.r_[0.0, np.linspace(4.0, 12.0, int(labels.max()))]
    y = np.sin(6.0 * x[:, 0]) + level[labels] + 0.1 * rng.normal(size=n)
    state = State(labels, np.zeros(3), 0.5, np.full((1, 2), 4.0), np.array([4.0]), np.array([0.01]))
    return Data(x, y), state


def label_sweep(n, repeats):
    rng = np.random.default_rng(0)
    data, state = ninety_percent(n, rng)
    model = Model("se", Priors().resolve(2), ard=True)
    state = assign(rng, assign(rng, state, data, model), data, model)
    cov = 4.0 * correlation("se", data.x, data.x, state.phi[0]) + 0.01 * np.eye(n)
    ours, lapack_seconds = [], []
    for _ in range(repeats):  # in turns, so that a busy machine slows both
        begin = time.perf_counter()
        factor, _ = lapack.dpotrf(cov.T, lower=1)
        lapack.dpotri(factor, lower=1)
        lapack_seconds.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        state = assign(rng, state, data, model)
        ours.append(time.perf_counter() - begin)
    share = float(np.max(np.bincount(state.labels)) / n)
    return {
        "n": n,
        "main_share": share,
        "sweep_ms": 1e3 * float(np.median(ours)),
        "lapack_cholesky_and_inverse_ms": 1e3 * float(np.median(lapack_seconds)),
        "ratio": float(np.median(ours) / np.median(lapack_seconds)),
    }


def effective_samples(family, n, sampler, draws):
    """Bulk effective samples of the log joint per second, isotropic kernel (what the truncated sampler samples too)."""
    sample = draw(family, 2, n, seed=0)
    model = InfiniteGP(
        sampler=sampler,
        surface_scales="shared",
        ard=False,
        n_warmup=300,
        n_samples=draws,
        thin=1,
        n_chains=4,
        random_state=0,
    )
    model.fit(sample.x[:5], sample.y[:5])  # compile
    begin = time.perf_counter()
    model.fit(sample.x, sample.y)
    seconds = (time.perf_counter() - begin) * draws / (draws + 300)
    trace = np.stack([chain.traces["log_joint"] for chain in model.chains_])
    return {
        "family": family,
        "n": n,
        "sampler": sampler,
        "ess": bulk_ess(trace),
        "seconds": seconds,
        "ess_per_second": bulk_ess(trace) / seconds,
        "r_hat": model.diagnostics_.r_hat["log_joint"],
    }


@njit
def numpy_cholesky(cov):
    return np.linalg.cholesky(cov)


def factorisation(n, repeats):
    """`factorise` against what Numba makes of `np.linalg.cholesky`, best of the repeats."""
    rng = np.random.default_rng(0)
    cov, factor = correlation("se", x := rng.random((n, 2)), x, np.full(2, 4.0)), np.empty((n, n))
    full = cov + 0.1 * np.eye(n)
    none, best = np.zeros(n), []
    for act in (lambda: factorise(cov, 1.0, 0.1, none, factor), lambda: numpy_cholesky(full)):
        act()
        best.append(min(timeit.repeat(act, number=max(1, 4000 // n), repeat=repeats)) / max(1, 4000 // n))
    return {"n": n, "factorise_us": 1e6 * best[0], "numba_cholesky_us": 1e6 * best[1], "ratio": best[0] / best[1]}


def regions(family, n, repeats):
    """CPU seconds of a fit with the default model over those without places and own length-scales, medians."""
    sample = draw(family, 2, n, seed=0)
    kinds = {"regions": {}, "without": {"regions": False}}
    seconds = {kind: [] for kind in kinds}
    for r in range(-1, repeats):  # once to compile
        for kind, options in kinds.items():
            begin = time.process_time()
            InfiniteGP(random_state=r + 1, **options).fit(sample.x, sample.y)
            seconds[kind] += [time.process_time() - begin] if r >= 0 else []
    medians = {kind: float(np.median(times)) for kind, times in seconds.items()}
    return {"family": family, "n": n, **medians, "ratio": medians["regions"] / medians["without"]}


def first_fit():
    """Seconds of import and a small fit in a new process with an empty cache of compiled code."""
    code = "import numpy as np; from infgp import InfiniteGP; x = np.random.default_rng(0).random((20, 2)); "
    code += "InfiniteGP(n_warmup=2, n_samples=4, n_chains=1).fit(x, x[:, 0])"
    with tempfile.TemporaryDirectory() as cache:
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "NUMBA_CACHE_DIR": cache})
        return time.perf_counter() - begin


def main() -> None:
    import warnings

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="n = 200 only; writes nothing")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    results = {"label_sweep": [], "effective_samples": []}
    with one_blas_thread():
        for n in (200,) if quick else (100, 200, 400, 1000):
            results["label_sweep"].append(label_sweep(n, 5 if quick else max(9, 20_000 // n)))
            print(results["label_sweep"][-1], flush=True)
    if not quick:
        sizes, costs = (np.log([r[k] for r in results["label_sweep"]]) for k in ("n", "sweep_ms"))
        results["growth_exponent"] = float(np.polyfit(sizes[1:], costs[1:], 1)[0])
        print("growth exponent from n = 200:", round(results["growth_exponent"], 2))
        for family in ("gaussian", "outliers_5%", "bimodal"):
            for sampler in ("collapsed", "truncated"):
                results["effective_samples"].append(effective_samples(family, 60, sampler, 400))
                print(results["effective_samples"][-1], flush=True)
        with one_blas_thread():
            results["factorisation"] = [factorisation(n, 9) for n in (30, 60, 120, 240, 480, 960)]
        for result in results["factorisation"]:
            print(result, flush=True)
        results["regions"] = [
            regions(family, n, 3) for family in ("gaussian", "outliers_5%", "nonstationary") for n in (50, 100, 200)
        ]
        for result in results["regions"]:
            print(result, flush=True)
        results["first_fit_seconds"] = first_fit()
        print("first fit on an empty cache:", round(results["first_fit_seconds"], 1), "s")
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
