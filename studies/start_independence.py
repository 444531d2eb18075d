"""Does the sampler's answer depend on the start, and is it a good one?

A task is a family of `infgp.bench.tasks.families`, a number of inputs d and of rewards n: ``cauchy-d1-n30``. Methods:

- ``starts``: for three starts of the default sampler (one surface, eight at random, every point alone) at the default
  budget, differences of the posterior means in units of the noise scale, total variation between predictive
  densities, rank R-hat over the starts. In the same record RMSE of the main surface up to a constant, held-out log
  density and processor seconds of the default, of one GP with the same code, of the truncated sampler, of scales
  shared by all surfaces and, where n = 60, d < 5 and for the first two seeds, of BoTorch's relevance pursuit, which
  takes half a minute a fit.
- ``starts-long``: the same differences at the default budget and with six times the budget, on three tasks whose
  starts disagree at the default budget.
- ``seconds``: processor seconds of a fit and of relevance pursuit's, n = 60 and d < 5; run it with ``--jobs 1``.

    python -m studies.start_independence [--seeds 10] [--tasks a,b] [--methods starts] [--jobs 2]
    python -m studies.start_independence --quick        # n = 30, one task; writes nothing
    python -m studies.start_independence --table        # writes results/start_independence/table.md
"""

from __future__ import annotations

import re
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from infgp import InfiniteGP
from infgp.bench.cells import table
from infgp.bench.methods import pursuit
from infgp.bench.study import Study
from infgp.bench.tasks.families import FAMILIES, draw
from infgp.sample.diagnostics import r_hat

STARTS = ("one", "random", "alone")
COMPARED = {
    "infgp": {},
    "one GP": {"surfaces": 1},
    "truncated": {"sampler": "truncated", "ard": False},
    "shared scales": {"surface_scales": "shared"},
}
PURSUIT = "relevance pursuit"
NAMES = (*COMPARED, PURSUIT)
#: Seeds on which relevance pursuit is run.
PURSUIT_SEEDS = 2
LONG_TASKS = ("nonstationary-d1-n60", "cauchy-d1-n30", "heteroscedastic-d2-n30")
LONG = {"n_warmup": 1500, "n_samples": 120, "thin": 6}
TASKS = tuple(f"{family}-d{d}-n{n}" for d in (1, 2, 5) for n in (30, 60, 120) for family in FAMILIES)
TRACES = ("log_joint", "n_surfaces", "log_tau2")
#: Test inputs at which predictive densities are compared, and cells of rewards over which they are summed.
TV_POINTS = 40
TV_CELLS = 400


def parts(name):
    """Family, d and n of a task."""
    family, d, n = re.fullmatch(r"(.+)-d(\d+)-n(\d+)", name).groups()
    return family, int(d), int(n)


def wanted(task, method):
    """Whether a method is run on a task."""
    _, d, n = parts(task)
    return {"starts": True, "starts-long": task in LONG_TASKS, "seconds": n == 60 and d < 5}[method]


def score(mean, log_density, sample, seconds):
    """What is recorded of a fit."""
    gap = mean - sample.truth
    return {
        "rmse": float(np.sqrt(np.mean((gap - np.median(gap)) ** 2))),
        "log_density": float(np.mean(log_density)),
        "seconds": seconds,
    }


def fit(sample, seed, **options):
    """A fitted model and its score."""
    begin = time.process_time()
    model = InfiniteGP(random_state=seed, **options).fit(sample.x, sample.y)
    seconds = time.process_time() - begin
    density = np.log(np.maximum(model.predict_density(sample.x_test, sample.y_test), 1e-300))
    return model, score(model.predict_main(sample.x_test), density, sample, seconds)


def pursue(sample):
    """The score of relevance pursuit as BoTorch has it."""
    begin = time.process_time()
    pursued = pursuit.pursue(sample.x, sample.y, iterations=None)
    seconds = time.process_time() - begin
    mean, variance = pursuit.predict(pursued, sample.x, sample.y, sample.x_test)
    density = -0.5 * ((sample.y_test - mean) ** 2 / variance + np.log(2.0 * np.pi * variance))
    return score(mean, density, sample, seconds)


def total_variation(models, sample):
    """Mean over test points of ½ ∫ |f − g|, largest over pairs of models: differences of exact cell probabilities."""
    at = sample.x_test[:TV_POINTS]
    quantiles = np.stack([m.predict_quantiles(at, [0.002, 0.998]) for m in models])
    low, high = quantiles[:, :, 0].min(axis=0), quantiles[:, :, 1].max(axis=0)
    centre = models[0].predict_main(at)
    # Cells are fine around the main surface and coarse in the tails.
    inner = centre[:, None] + sample.noise_scale * np.linspace(-6.0, 6.0, TV_CELLS)
    outer = np.linspace(low, high, TV_CELLS).T
    edges = np.sort(np.concatenate((inner, outer), axis=1), axis=1)
    mass = [np.diff(m.predict_cdf(at, edges), axis=1, prepend=0.0, append=1.0) for m in models]
    pairs = [(0, 1), (0, 2), (1, 2)]
    return max(float(np.mean(0.5 * np.abs(mass[a] - mass[b]).sum(axis=1))) for a, b in pairs)


def from_starts(sample, seed, **budget):
    """Models from the three starts."""
    return [fit(sample, 1000 + 10 * seed + k, init=start, **budget)[0] for k, start in enumerate(STARTS)]


def spread(predictions, sample):
    """Root mean square, over test points, of the range of predictions, in units of the noise scale."""
    return float(np.sqrt(np.mean(np.ptp(np.stack(predictions), axis=0) ** 2))) / sample.noise_scale


def disagreement(models, sample):
    """How far the starts' posterior means and predictive densities are apart."""
    return {
        "mean_gap": spread([m.predict(sample.x_test) for m in models], sample),
        "tv": total_variation(models, sample),
    }


def starts(sample, job):
    """The record of ``starts``."""
    models = from_starts(sample, job.seed)
    record = {"noise_scale": sample.noise_scale, **disagreement(models, sample)}
    record["main_gap"] = spread([m.predict_main(sample.x_test) for m in models], sample)
    for name in TRACES:
        record[f"r_hat {name}"] = r_hat(np.stack([c.traces[name] for m in models for c in m.chains_]))
    record["methods"] = {name: fit(sample, job.seed, **options)[1] for name, options in COMPARED.items()}
    _, d, n = parts(job.task)
    if n == 60 and d < 5 and job.seed < PURSUIT_SEEDS:
        record["methods"][PURSUIT] = pursue(sample)
    return record


def starts_long(sample, job):
    """The record of ``starts-long``."""
    usual, long = (disagreement(from_starts(sample, job.seed, **budget), sample) for budget in ({}, LONG))
    return {"budget": LONG, **long, "default": usual}


def seconds(sample, job):
    """The record of ``seconds``; a fit before it compiles what is needed."""
    fit(draw("gaussian", 2, 60, 0), 0)
    return {"infgp": round(fit(sample, job.seed)[1]["seconds"], 3), PURSUIT: round(pursue(sample)["seconds"], 2)}


def measure(job, warm):
    """The record of one run."""
    made = {"starts": starts, "starts-long": starts_long, "seconds": seconds}[job.method]
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        found = made(draw(*parts(job.task), job.seed), job)
    return {"task": job.task, "method": job.method, "seed": job.seed, "d": job.d, **found}


def geometric(values):
    """Geometric mean."""
    return float(np.exp(np.mean(np.log(values))))


def agreement(records):
    """How far the starts agree, by family."""
    keys = ("mean_gap", "main_gap", "tv", *(f"r_hat {name}" for name in TRACES))
    rows = []
    for family in FAMILIES:
        mine = [r for r in records if parts(r["task"])[0] == family]
        if mine:
            columns = [np.array([r[k] for r in mine]) for k in keys]
            cells = [f"{np.median(c):.3f} ({np.percentile(c, 90):.3f})" for c in columns]
            rows.append([family, len(mine), *cells])
    head = ["mean gap", "main-surface gap", "total variation", "R-hat log joint", "R-hat K", "R-hat log τ²"]
    caption = (
        "Agreement of three starts: median (90th percentile) over d, n and seeds; gaps of posterior means in units of "
        "the noise scale."
    )
    return f"{caption}\n\n{table(['family', 'cells', *head], rows)}"


def errors(records):
    """Errors over those of one GP, by family."""
    names, rows = [name for name in NAMES if name != "one GP"], []
    for family in FAMILIES:
        entries = []
        for name in names:
            groups = {}
            for r in records:
                if parts(r["task"])[0] == family and name in r["methods"]:
                    ratio = r["methods"][name]["rmse"] / r["methods"]["one GP"]["rmse"]
                    groups.setdefault(r["task"], []).append(ratio)
            values = [geometric(v) for v in groups.values()]
            entries.append(f"{geometric(values):.2f} ({max(values):.2f})" if values else "–")
        rows.append([family, *entries])
    caption = "RMSE of the main surface over that of one GP, geometric mean (worst cell of d × n):"
    return f"{caption}\n\n{table(['family', *names], rows)}"


def against_pursuit(records, caption, key, average):
    """All methods on the tasks on which relevance pursuit was run."""
    rows = []
    for family in FAMILIES:
        mine = [r for r in records if parts(r["task"])[0] == family and PURSUIT in r["methods"]]
        if mine:
            rows.append([family, *(f"{average([r['methods'][name][key] for r in mine]):.3f}" for name in NAMES)])
    caption = f"{caption}; all methods on the cells where relevance pursuit ran:"
    return f"{caption}\n\n{table(['family', *NAMES], rows)}" if rows else ""


def budgets(records):
    """What six times the budget does."""
    rows = [
        [r["task"], r["seed"], *(f"{of['mean_gap']:.3f}, {of['tv']:.3f}" for of in (r["default"], r))] for r in records
    ]
    caption = "Mean gap and total variation of three starts at the default budget, and with six times the budget:"
    return f"{caption}\n\n{table(['task', 'seed', 'default', 'six times'], rows)}" if rows else ""


def times(records):
    """Seconds of a fit."""
    rows = [
        [*parts(r["task"])[:2], r["seed"], f"{r['infgp']:.2f}", f"{r[PURSUIT]:.1f}", f"{r[PURSUIT] / r['infgp']:.0f}"]
        for r in records
    ]
    head = ["family", "d", "seed", "infgp", PURSUIT, "ratio"]
    return f"Processor seconds of a fit at n = 60:\n\n{table(head, rows)}" if rows else ""


def tables(records):
    """All tables."""
    by_method = {m: [r for r in records if r["method"] == m] for m in STUDY.methods}
    mine = by_method["starts"]
    pages = [
        f"Seeds of `starts`: {len({r['seed'] for r in mine})}.",
        *((agreement(mine), errors(mine)) if mine else ()),
        against_pursuit(mine, "Held-out log density, mean", "log_density", np.mean),
        against_pursuit(mine, "RMSE of the main surface, median", "rmse", np.median),
        budgets(by_method["starts-long"]),
        times(by_method["seconds"]),
    ]
    return "\n\n".join(page for page in pages if page)


STUDY = Study(
    name="start_independence",
    text=__doc__,
    tasks=TASKS,
    methods=("starts", "starts-long", "seconds"),
    table=tables,
    seeds=10,
    quick=("gaussian-d1-n30",),
    quick_methods=("starts",),
    wanted=wanted,
    dimension=lambda name: parts(name)[1],
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
