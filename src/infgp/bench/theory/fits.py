"""Fits of the GP and the ∞-GP to growing data: what :mod:`tvd` and :mod:`surfaces` draw.

Inputs are either all the same ("one input"), or uniform on [0, 1] ("spread"), where rewards are sin 6x plus noise.
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np

from infgp.bench.theory.rewards import NOISES, Array, total_variation
from infgp.bench.theory.store import Options, Record
from infgp.errors import ConvergenceWarning
from infgp.estimator import InfiniteGP

_PAPER: dict[str, Any] = {"surface_scales": "shared", "regions": False}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "gp": ("one GP", {"surfaces": 1, **_PAPER}),
    "paper": ("∞-GP, paper's model", _PAPER),
    "truncated": ("∞-GP, paper's model and sampler", {"sampler": "truncated"}),
    "default": ("∞-GP, infgp's default", {}),
}
DESIGNS = {"one": "one input", "spread": "mean over visited inputs"}
#: Numbers n of rewards.
SIZES = (10, 20, 40, 80, 160, 320)
#: Numbers n of rewards in the quick version.
QUICK_SIZES = (10, 20)
#: Number of seeds.
SEEDS = 4
#: Number of visited inputs over which total variation is averaged.
VISITED = 24
#: Rewards, less their mean, at which the predictive density is kept for a picture.
CURVE = np.linspace(-2.5, 2.5, 126)
#: The input of the design "one", in the unit interval.
WHERE = 0.5


def expected(x: Array) -> Array:
    """Expected reward at inputs of shape (n,)."""
    return np.asarray(np.sin(6.0 * x))


def fit(job: Record, sizes: tuple[int, ...] = SIZES, budget: tuple[int, int] = (60, 30)) -> Record:
    """Total variation, occupied surfaces and concentration for growing data; chains go on as data comes in."""
    noise, options = NOISES[job["reward"]], MODELS[job["model"]][1]
    rng = np.random.default_rng([job["seed"], list(NOISES).index(job["reward"]), list(DESIGNS).index(job["design"])])
    n = max(sizes)
    x = np.full(n, WHERE) if job["design"] == "one" else rng.random(n)
    y = expected(x) + noise.draw(rng, n)
    borders = noise.edges()
    true = noise.cdf(borders)
    warmup, kept = budget
    model = InfiniteGP(
        **options, n_warmup=warmup, n_samples=kept, thin=1, n_chains=2, warm_start=True, random_state=job["seed"]
    )
    found: Record = {"n": list(sizes), "tvd": [], "surfaces": [], "nu": []}
    for size in sizes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(x[:size, None], y[:size])
        at = x[: 1 if job["design"] == "one" else min(size, VISITED)]
        cdf = model.predict_cdf(at[:, None], expected(at)[:, None] + borders)
        states = [state for chain in model.chains_ for state in chain.states]
        found["tvd"].append(round(float(np.mean(total_variation(cdf, true[None]))), 4))
        found["surfaces"].append(round(float(np.mean([state.n_surfaces for state in states])), 3))
        found["nu"].append(round(float(np.mean([state.nu for state in states])), 3))
    if job["design"] == "one" and job["seed"] == 0:
        rewards = expected(np.array([WHERE])) + CURVE
        found["density"] = np.round(model.predict_density([[WHERE]], rewards[None])[0], 4).tolist()
    return found


def fits(options: Options) -> list[Record]:
    """Records of all fits, seed by seed; missing records are made."""
    quick = options.quick
    cells = product(range(1 if quick else SEEDS), NOISES, DESIGNS, MODELS)
    jobs = [{"seed": s, "reward": r, "design": d, "model": m} for s, r, d, m in cells]
    run = (lambda job: fit(job, QUICK_SIZES, (20, 10))) if quick else fit
    return options.records("fits.jsonl", jobs, run)
