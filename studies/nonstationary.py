"""How well do regressors fit functions that are rough here and smooth there? Held-out error and log density.

The six functions of `infgp.bench.tasks.uneven`, of one or two inputs, with a little Gaussian noise; training inputs
uniform, 400 test inputs. Compared are InfiniteGP, the same without what makes it non-stationary (surfaces without a
place, with shared length-scales, the paper's model), with one surface, and BoTorch's SingleTaskGP with and without
warped inputs. A task is a function and a number of training inputs: ``halves-n40``.

    python -m studies.nonstationary [--seeds 10] [--tasks a,b] [--methods a,b] [--jobs 2]   # goes on where it stopped
    python -m studies.nonstationary --quick         # n = 40, one seed; writes nothing
    python -m studies.nonstationary --table         # writes results/nonstationary/table.md
"""

from __future__ import annotations

import warnings
from collections import defaultdict

import numpy as np
from threadpoolctl import threadpool_limits

from infgp import InfiniteGP
from infgp.bench.cells import ratio, table
from infgp.bench.methods.fitted import fit_gp, predict, warp_inputs
from infgp.bench.statistics import by_task
from infgp.bench.study import Study
from infgp.bench.tasks.uneven import FUNCTIONS, sample
from infgp.core.priors import Gamma, Priors

#: Training inputs.
SIZES = (40, 80, 160)
TASKS = tuple(f"{function}-n{n}" for n in SIZES for function in FUNCTIONS)
OURS = {
    "infgp": {},
    "paper": {"regions": False, "surface_scales": "shared"},
    "one surface": {"surfaces": 1},
    "sharp prior on ν": {"priors": Priors(nu=Gamma(1.0, 200.0))},
    "warped inputs": {},  # the warping is that of BoTorch's GP
}
PEERS = ("BoTorch GP", "BoTorch warped GP")
#: One half of regions without the other, and other constants of the places and of the warm-up; their records are kept.
GONE = (
    *("no places", "shared length-scales"),
    *("half the price", "twice the price", "one price on a line", "twice the ties", "no heat"),
)
#: All of them in the order of the columns.
COLUMNS = (*tuple(OURS)[:-1], *GONE, "warped inputs", *PEERS)
#: How much larger an error may be and still count as about the same.
NEAR = 1.1


def parts(name):
    """Function and number of training inputs of a task."""
    function, _, n = name.partition("-n")
    return function, int(n)


def evaluate(method, seed, x, y, at, y_at):
    """Mean at the test inputs and the log density of their rewards."""
    if method in PEERS:
        mean, variance = predict(fit_gp(x, y, warped=method == PEERS[1]), at)
        return mean, -0.5 * ((y_at - mean) ** 2 / variance + np.log(2.0 * np.pi * variance))
    if method == "warped inputs":
        warping = fit_gp(x, y, warped=True)
        x, at = warp_inputs(warping, x), warp_inputs(warping, at)
    model = InfiniteGP(random_state=seed, **OURS[method]).fit(x, y)
    return model.predict(at), np.log(np.maximum(model.predict_density(at, y_at), 1e-300))


def measure(job, warm):
    """The record of one fit."""
    x, y, at, truth, y_at = sample(*parts(job.task), job.seed)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        mean, log_density = evaluate(job.method, job.seed, x, y, at, y_at)
    return {
        **{"task": job.task, "method": job.method, "seed": job.seed, "d": job.d},
        "rmse": round(float(np.sqrt(np.mean((mean - truth) ** 2))), 5),
        "log_density": round(float(log_density.mean()), 4),
    }


def scores(mine, seeds):
    """RMSE and log density, means over seeds."""
    return np.mean([(mine[seed]["rmse"], mine[seed]["log_density"]) for seed in seeds], axis=0)


def tables(records):
    """All cells, and the default against each of the others."""
    runs = by_task(records)
    methods = [m for m in COLUMNS if any(m in found for found in runs.values())]
    rows, gaps, higher = [], defaultdict(list), defaultdict(int)
    for function, n in ((function, n) for function in FUNCTIONS for n in SIZES):
        found = runs.get(f"{function}-n{n}", {})
        means = {m: scores(found[m], found[m]) for m in methods if m in found}
        if not means:
            continue
        entries = [f"{means[m][0]:.3f} ({means[m][1]:.2f})" if m in means else "–" for m in methods]
        rows.append([function, n, *entries, len(found.get("infgp", {}))])
        for m in means:
            both = found.get("infgp", {}).keys() & found[m].keys()
            if both:
                ours, theirs = scores(found["infgp"], both), scores(found[m], both)
                gaps[m].append(np.log(ours[0] / theirs[0]))
                higher[m] += bool(ours[1] > theirs[1])
    against = []
    for m in methods:
        if m != "infgp" and gaps[m]:
            near, count = sum(gap <= np.log(NEAR) for gap in gaps[m]), len(gaps[m])
            against.append([STUDY.row(m), ratio(gaps[m]), f"{near} of {count}", f"{higher[m]} of {count}"])
    return (
        "Means over seeds: RMSE, and in brackets the held-out log density.\n\n"
        + table(["function", "n", *map(STUDY.row, methods), "seeds"], rows)
        + "\n\nRMSE of `infgp` over that of another method, geometric mean over cells (95 % interval), in how many "
        f"cells it is at most {NEAR} times as large, and in how many the log density is higher; over the seeds that "
        "both have.\n\n" + table(["over", "ratio", f"at most {NEAR}", "higher log density"], against)
    )


STUDY = Study(
    name="nonstationary",
    text=__doc__,
    tasks=TASKS,
    methods=(*OURS, *PEERS),
    table=tables,
    seeds=10,
    quick=tuple(f"{function}-n40" for function in FUNCTIONS),
    dimension=lambda name: FUNCTIONS[parts(name)[0]][1],
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
