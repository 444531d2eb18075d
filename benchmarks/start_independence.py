"""Does the answer depend on the start, and is it a good one? One record for each (family, d, n, seed).

For three starts of the default sampler (one surface, eight at random, every point alone) at the default budget:
differences of the posterior means in units of the noise scale, total variation between predictive densities, rank R-hat
over the starts. For the methods compared (one GP with the same code; the truncated sampler; scales shared by all
surfaces; BoTorch's relevance pursuit, on cells with n = 60, d < 5 and the first seeds only, for it takes half a minute
a fit): RMSE of the main surface up to a constant, held-out log density, processor seconds (measured apart).

    python -m benchmarks.start_independence [--quick] [--seeds 10] [--workers 2]   # resumes; appends to results/*.jsonl
    python -m benchmarks.start_independence --long    # cells that disagree, with six times the budget
    python -m benchmarks.start_independence --seconds # time of a fit against relevance pursuit
    python -m benchmarks.start_independence --table                                 # prints and writes the tables
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.families import FAMILIES, draw
from infgp import InfiniteGP
from infgp.sample.diagnostics import r_hat

RESULTS = Path(__file__).parent / "results"
OUT, TABLE = RESULTS / "start_independence.jsonl", RESULTS / "start_independence.md"
SECONDS = RESULTS / "start_independence_seconds.json"
STARTS = ("one", "random", "alone")
METHODS = {
    "one GP": {"truncation": 1, "surface_scales": "shared"},
    "truncated": {"sampler": "truncated", "ard": False},
    "shared scales": {"surface_scales": "shared"},
}
PURSUIT_SEEDS = 2


def score(mean, log_density, sample, seconds):
    gap = mean - sample.truth
    return {
        "rmse": float(np.sqrt(np.mean((gap - np.median(gap)) ** 2))),
        "log_density": float(np.mean(log_density)),
        "seconds": seconds,
    }


def fit(sample, seed, **options):
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = InfiniteGP(random_state=seed, **options).fit(sample.x, sample.y)
    seconds = time.process_time() - begin
    density = np.log(np.maximum(model.predict_density(sample.x_test, sample.y_test), 1e-300))
    return model, score(model.predict_main(sample.x_test), density, sample, seconds)


def total_variation(models, sample, points=40, cells=400):
    """Mean over test points of ½ ∫ |f − g|, largest over pairs of models: differences of exact cell probabilities."""
    at = sample.x_test[:points]
    quantiles = np.stack([m.predict_quantiles(at, [0.002, 0.998]) for m in models])
    low, high = quantiles[:, :, 0].min(axis=0), quantiles[:, :, 1].max(axis=0)
    centre = models[0].predict_main(at)
    # Cells are fine around the main surface and coarse in the tails.
    inner = centre[:, None] + sample.noise_scale * np.linspace(-6.0, 6.0, cells)
    outer = np.linspace(low, high, cells).T
    edges = np.sort(np.concatenate((inner, outer), axis=1), axis=1)
    mass = [np.diff(m.predict_cdf(at, edges), axis=1, prepend=0.0, append=1.0) for m in models]
    pairs = [(0, 1), (0, 2), (1, 2)]
    return max(float(np.mean(0.5 * np.abs(mass[a] - mass[b]).sum(axis=1))) for a, b in pairs)


def relevance_pursuit(sample):
    import torch
    from botorch.fit import fit_gpytorch_mll
    from botorch.models.robust_relevance_pursuit_model import RobustRelevancePursuitSingleTaskGP
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    begin = time.process_time()
    x = torch.as_tensor(sample.x, dtype=torch.double)
    y = torch.as_tensor(sample.y, dtype=torch.double).unsqueeze(-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RobustRelevancePursuitSingleTaskGP(x, y)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        model.eval()
        seconds = time.process_time() - begin
        with torch.no_grad():
            posterior = model.posterior(torch.as_tensor(sample.x_test, dtype=torch.double), observation_noise=True)
    mean = posterior.mean.detach().squeeze(-1).numpy()
    variance = posterior.variance.detach().squeeze(-1).numpy()
    density = -0.5 * ((sample.y_test - mean) ** 2 / variance + np.log(2.0 * np.pi * variance))
    return score(mean, density, sample, seconds)


def cell(job):
    family, d, n, seed, pursuit = job
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        sample = draw(family, d, n, seed)
        record = {"family": family, "d": d, "n": n, "seed": seed, "noise_scale": sample.noise_scale}
        fits = [fit(sample, 1000 + 10 * seed + k, init=start) for k, start in enumerate(STARTS)]
        models = [model for model, _ in fits]
        means = np.stack([m.predict(sample.x_test) for m in models])
        mains = np.stack([m.predict_main(sample.x_test) for m in models])
        record["mean_gap"] = float(np.sqrt(np.mean(np.ptp(means, axis=0) ** 2))) / sample.noise_scale
        record["main_gap"] = float(np.sqrt(np.mean(np.ptp(mains, axis=0) ** 2))) / sample.noise_scale
        record["tv"] = total_variation(models, sample)
        for name in ("log_joint", "n_surfaces", "log_tau2"):
            record[f"r_hat {name}"] = r_hat(np.stack([c.traces[name] for m in models for c in m.chains_]))
        record["methods"] = {"infgp": fit(sample, seed)[1]}
        for name, options in METHODS.items():
            record["methods"][name] = fit(sample, seed, **options)[1]
        if pursuit:
            record["methods"]["relevance pursuit"] = relevance_pursuit(sample)
    return record


def long_chains() -> None:
    """Do chains that disagree at the default budget agree with more? Writes results/start_independence_long.json."""
    results = []
    for family, d, n in (("nonstationary", 1, 60), ("cauchy", 1, 30), ("heteroscedastic", 2, 30)):
        sample = draw(family, d, n, seed=0)
        for budget in ({}, {"n_warmup": 1500, "n_samples": 120, "thin": 6}):
            models = [fit(sample, 1000 + k, init=start, **budget)[0] for k, start in enumerate(STARTS)]
            means = np.stack([m.predict(sample.x_test) for m in models])
            gap = float(np.sqrt(np.mean(np.ptp(means, axis=0) ** 2))) / sample.noise_scale
            tv = total_variation(models, sample)
            results.append({"family": family, "d": d, "n": n, "budget": budget, "mean_gap": gap, "tv": tv})
            print(results[-1], flush=True)
    (RESULTS / "start_independence_long.json").write_text(json.dumps(results, indent=1) + "\n")


def fit_seconds() -> None:
    """Processor seconds of a default fit and of relevance pursuit's, n = 60; an untimed one compiles."""
    from threadpoolctl import threadpool_limits

    results = []
    with threadpool_limits(1):
        fit(draw("gaussian", 2, 60, 0), 0)
        for d, family in product((1, 2), FAMILIES):
            sample = draw(family, d, 60, 0)
            ours, theirs = fit(sample, 0)[1]["seconds"], relevance_pursuit(sample)["seconds"]
            results.append({"family": family, "d": d, "infgp": round(ours, 3), "relevance_pursuit": round(theirs, 2)})
            print(results[-1], f"{theirs / ours:.1f} times", flush=True)
            SECONDS.write_text(json.dumps(results, indent=1) + "\n")


def jobs(seeds, quick):
    sizes = (30,) if quick else (30, 60, 120)
    for seed, d, n, family in product(range(seeds), (1, 2) if quick else (1, 2, 5), sizes, FAMILIES):
        yield family, d, n, seed, (not quick and n == 60 and d < 5 and seed < PURSUIT_SEEDS)


def load():
    return [json.loads(line) for line in OUT.read_text().splitlines()] if OUT.exists() else []


def geometric(values):
    return float(np.exp(np.mean(np.log(values))))


def table() -> str:
    records = load()
    lines = [
        f"Written by `python -m benchmarks.start_independence --table` from {len(records)} records "
        f"({len({r['seed'] for r in records})} seeds).",
        "",
        "Agreement of three starts: median (90th percentile) over d, n and seeds; gaps of posterior means in units of "
        "the noise scale.",
        "",
        "| family | cells | mean gap | main-surface gap | total variation | R-hat log joint | R-hat K | R-hat log τ² |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for family in FAMILIES:
        mine = [r for r in records if r["family"] == family]
        if not mine:
            continue
        keys = ("mean_gap", "main_gap", "tv", "r_hat log_joint", "r_hat n_surfaces", "r_hat log_tau2")
        columns = [np.array([r[k] for r in mine]) for k in keys]
        cells = " | ".join(f"{np.median(c):.3f} ({np.percentile(c, 90):.3f})" for c in columns)
        lines.append(f"| {family} | {len(mine)} | {cells} |")
    lines += ["", "RMSE of the main surface over that of one GP, geometric mean (worst cell of d × n):", ""]
    names = ["infgp", *METHODS, "relevance pursuit"]
    lines += ["| family | " + " | ".join(names[:1] + names[2:]) + " |", "|---" * len(names) + "|"]
    for family in FAMILIES:
        row = []
        for name in (names[0], *names[2:]):
            groups: dict[tuple[int, int], list[float]] = {}
            for r in records:
                if r["family"] == family and name in r["methods"]:
                    ratio = r["methods"][name]["rmse"] / r["methods"]["one GP"]["rmse"]
                    groups.setdefault((r["d"], r["n"]), []).append(ratio)
            values = [geometric(v) for v in groups.values()]
            row.append(f"{geometric(values):.2f} ({max(values):.2f})" if values else "–")
        lines.append(f"| {family} | " + " | ".join(row) + " |")
    for title, key, average in (
        ("Held-out log density, mean", "log_density", np.mean),
        ("RMSE of the main surface, median", "rmse", np.median),
    ):
        lines += ["", f"{title}; all methods on the cells where relevance pursuit ran:", ""]
        lines += ["| family | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
        for family in FAMILIES:
            mine = [r for r in records if r["family"] == family and "relevance pursuit" in r["methods"]]
            if mine:
                row = [f"{average([r['methods'][name][key] for r in mine]):.3f}" for name in names]
                lines.append(f"| {family} | " + " | ".join(row) + " |")
    if SECONDS.exists():
        lines += ["", "Processor seconds of a fit at n = 60, seed 0 (`--seconds`):", ""]
        lines += ["| family | d | infgp | relevance pursuit | ratio |", "|---|---|---|---|---|"]
        for r in json.loads(SECONDS.read_text()):
            ratio = r["relevance_pursuit"] / r["infgp"]
            lines.append(
                f"| {r['family']} | {r['d']} | {r['infgp']:.2f} | {r['relevance_pursuit']:.1f} | {ratio:.0f} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="n = 30, d = 1 and 2, one seed; writes nothing")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="print and write the tables of what has been measured")
    parser.add_argument("--long", action="store_true", help="three cells that disagree, with six times the budget")
    parser.add_argument("--seconds", action="store_true", help="time of a fit against relevance pursuit")
    options = parser.parse_args()
    if options.seconds:
        fit_seconds()
        return
    if options.long:
        long_chains()
        return
    if options.table:
        TABLE.write_text(table())
        print(TABLE.read_text())
        return
    done = {(r["family"], r["d"], r["n"], r["seed"]) for r in load()}
    todo = [j for j in jobs(1 if options.quick else options.seeds, options.quick) if options.quick or j[:4] not in done]
    RESULTS.mkdir(exist_ok=True)
    begin = time.perf_counter()
    with ProcessPoolExecutor(options.workers) as pool:
        for k, record in enumerate(pool.map(cell, todo), 1):
            if not options.quick:
                with OUT.open("a") as file:
                    file.write(json.dumps(record) + "\n")
            left = (time.perf_counter() - begin) / k * (len(todo) - k) / 60.0
            rmse = {name: round(m["rmse"], 3) for name, m in record["methods"].items()}
            print(
                f"[{k}/{len(todo)}, {left:.0f} min left] {record['family']} d={record['d']} n={record['n']} "
                f"mean gap {record['mean_gap']:.3f} main gap {record['main_gap']:.3f} TV {record['tv']:.3f} {rmse}",
                flush=True,
            )


if __name__ == "__main__":
    main()
