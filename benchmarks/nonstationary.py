"""Functions rough here and smooth there: held-out error and log density of regressors. One record for each run.

Six functions of [0, 1] or the unit square with a little Gaussian noise; training inputs uniform, 400 test inputs.
Compared are InfiniteGP, the same without what makes it non-stationary (surfaces without a place, with shared
length-scales, the paper's model), with other constants of the places, with one surface, and BoTorch's SingleTaskGP with
and without warped inputs.

    python -m benchmarks.nonstationary [--quick] [--seeds 10] [--methods a,b] [--workers 2]    # resumes; appends
    python -m benchmarks.nonstationary --table                                      # prints and writes the tables
"""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.peers import BotorchLogEI, BotorchWarped
from benchmarks.robust_regret import arguments, header, load, ratio, row, write
from infgp import InfiniteGP
from infgp.core import places
from infgp.core.priors import Gamma, Priors
from infgp.sample import chain as sampler

RESULTS = Path(__file__).parent / "results"
OUT, TABLE = RESULTS / "nonstationary.jsonl", RESULTS / "nonstationary.md"
KEY = ("function", "n", "seed", "method")
SIZES, TEST, NOISE = (40, 80, 160), 400, 0.05
SHARED = {"surface_lengthscales": "shared"}
OURS = {
    "infgp": {},
    "no places": {"local": 0.0},
    "shared length-scales": SHARED,
    "paper": {"local": 0.0, "surface_scales": "shared", **SHARED},
    "one surface": {"truncation": 1, "surface_scales": "shared"},
    "sharp prior on ν": {"priors": Priors(nu=Gamma(1.0, 200.0))},
}
WARPED = "warped inputs"  # under the ∞-GP; the warping is that of BoTorch's GP
#: Variants of constants of a module.
CONSTANTS = {
    "half the price": (places, {"PRICE": 0.5 * places.PRICE, "LINE_PRICE": 0.5 * places.LINE_PRICE}),
    "twice the price": (places, {"PRICE": 2.0 * places.PRICE, "LINE_PRICE": 2.0 * places.LINE_PRICE}),
    "one price on a line": (places, {"LINE_PRICE": 0.0}),
    "twice the ties": (places, {"TIES": 2 * places.TIES}),
    "no heat": (sampler, {"HEAT": 0.0}),
}
PEERS = {"BoTorch GP": BotorchLogEI, "BoTorch warped GP": BotorchWarped}
METHODS = (*OURS, *CONSTANTS, WARPED, *PEERS)


def halves(x):
    """Rough on the left half, smooth on the right."""
    u = x[:, 0]
    return np.where(u < 0.5, np.sin(40.0 * u), np.sin(20.0) + 2.0 * (u - 0.5))


def step(x):
    return np.where(x[:, 0] < 0.6, 0.0, 2.0) + 0.5 * np.sin(6.0 * x[:, 0])


def needle(x):
    """A broad bowl with a narrow peak."""
    return -2.0 * (x[:, 0] - 0.5) ** 2 + 2.0 * np.exp(-0.5 * ((x[:, 0] - 0.7) / 0.02) ** 2)


def chirp(x):
    return np.sin(2.0 * np.pi * (0.5 + 8.0 * x[:, 0] ** 3))


def ridge(x):
    """Two inputs; a narrow ridge along a diagonal of a smooth slope."""
    return x[:, 0] + 1.5 * np.exp(-0.5 * ((x[:, 0] + x[:, 1] - 1.2) / 0.05) ** 2)


def plateau(x):
    """Two inputs; flat but for one quarter, which is rough."""
    inside = np.maximum(0.5 - x, 0.0).min(axis=1)
    return 6.0 * inside * np.sin(25.0 * x[:, 0]) * np.cos(15.0 * x[:, 1])


FUNCTIONS = {"halves": 1, "step": 1, "needle": 1, "chirp": 1, "ridge": 2, "plateau": 2}  # and how many inputs they have


def sample(function, n, seed):
    """Training inputs and rewards, test inputs, truth and rewards."""
    rng = np.random.default_rng([seed, list(FUNCTIONS).index(function), n])
    f, x = globals()[function], rng.random((n + TEST, FUNCTIONS[function]))
    truth = f(x)
    y = truth + NOISE * rng.standard_normal(n + TEST)
    return x[:n], y[:n], x[n:], truth[n:], y[n:]


def warped(seed, x, y, at):
    """Training and test inputs as BoTorch's GP warps them."""
    import torch

    peer = BotorchWarped(x.shape[1], seed, x)
    peer.x, peer.y = list(x), list(y)
    model, _ = peer.fit()
    with torch.no_grad():
        return tuple(model.input_transform(torch.as_tensor(points)).numpy() for points in (x, at))


def predict(method, seed, x, y, at, y_at):
    """Mean at the test inputs and the log density of their rewards."""
    if method == WARPED:
        x, at = warped(seed, x, y, at)
    if method in OURS or method in CONSTANTS or method == WARPED:
        model = InfiniteGP(random_state=seed, **OURS.get(method, {})).fit(x, y)
        return model.predict(at), np.log(np.maximum(model.predict_density(at, y_at), 1e-300))
    import torch

    peer = PEERS[method](x.shape[1], seed, x)
    peer.x, peer.y = list(x), list(y)
    model, _ = peer.fit()
    with torch.no_grad():
        posterior = model.posterior(torch.as_tensor(at), observation_noise=True)
    mean, variance = (t.squeeze(-1).detach().numpy() for t in (posterior.mean, posterior.variance))
    return mean, -0.5 * ((y_at - mean) ** 2 / variance + np.log(2.0 * np.pi * variance))


def run(job):
    function, n, seed, method = job
    from threadpoolctl import threadpool_limits

    x, y, at, truth, y_at = sample(function, n, seed)
    module, values = CONSTANTS.get(method, (places, {}))
    with warnings.catch_warnings(), threadpool_limits(1), patch.dict(vars(module), values):
        warnings.simplefilter("ignore")
        mean, log_density = predict(method, seed, x, y, at, y_at)
    rmse = float(np.sqrt(np.mean((mean - truth) ** 2)))
    return {
        **dict(zip(KEY, job, strict=True)),
        "rmse": round(rmse, 5),
        "log_density": round(float(log_density.mean()), 4),
    }


def measure(jobs, workers, path) -> None:
    done = {tuple(r[k] for k in KEY) for r in load(path)} if path else set()
    with Pool(workers) as pool:
        for record in pool.imap_unordered(run, [job for job in jobs if job not in done]):
            if path:
                with path.open("a") as file:
                    file.write(json.dumps(record) + "\n")
            print(record, flush=True)


def table() -> str:
    records = load(OUT)
    methods = [m for m in METHODS if any(r["method"] == m for r in records)]
    cells = defaultdict(lambda: defaultdict(dict))
    for r in records:
        cells[r["function"], r["n"]][r["method"]][r["seed"]] = r["rmse"], r["log_density"]
    lines = [
        f"Written by `python -m benchmarks.nonstationary --table` from {len(records)} records. Means over seeds.",
        "",
        "RMSE, and in brackets the held-out log density.",
        "",
        *header("function", "n", *methods, "seeds"),
    ]
    gaps, higher = defaultdict(list), defaultdict(int)
    for (function, n), found in sorted(cells.items(), key=lambda c: (list(FUNCTIONS).index(c[0][0]), c[0][1])):
        means = {m: np.mean(list(found[m].values()), axis=0) for m in methods if found[m]}
        entries = [f"{means[m][0]:.3f} ({means[m][1]:.2f})" if m in means else "–" for m in methods]
        lines.append(row(function, n, *entries, len(found["infgp"])))
        for m in means:
            both = found["infgp"].keys() & found[m].keys()
            ours, theirs = (np.mean([found[k][seed] for seed in both], axis=0) for k in ("infgp", m))
            gaps[m].append(np.log(ours[0] / theirs[0]))
            higher[m] += bool(ours[1] > theirs[1])
    lines += [
        "",
        "RMSE of `infgp` over that of another method, geometric mean over cells (95 % interval), in how many cells it",
        "is at most 1.1 times as large, and in how many the log density is higher; over the seeds that both have.",
        "",
        *header("over", "ratio", "at most 1.1", "higher log density"),
    ]
    for m in methods:
        if m != "infgp":
            near, cells_of = sum(g <= np.log(1.1) for g in gaps[m]), len(gaps[m])
            lines.append(row(m, ratio(gaps[m]), f"{near} of {cells_of}", f"{higher[m]} of {cells_of}"))
    return "\n".join(lines) + "\n"


def main() -> None:
    options = arguments(__doc__, METHODS, "n = 40, one seed").parse_args()
    if options.table:
        write(TABLE, table())
        return
    seeds, sizes = (1, SIZES[:1]) if options.quick else (options.seeds, SIZES)
    jobs = [(f, n, seed, m) for seed, n, f, m in product(range(seeds), sizes, FUNCTIONS, options.methods)]
    measure(jobs, options.workers, None if options.quick else OUT)


if __name__ == "__main__":
    main()
