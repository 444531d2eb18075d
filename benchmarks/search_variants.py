"""What the defaults of the search are worth: cumulative regret with one of them changed.

Each variant runs 100 evaluations on cells of `benchmarks/robust_regret.py` (seed 0). Reported is the geometric mean
over the cells of its cumulative regret, and of the regret of its recommendation (floor 1e-3), over the default's.

    python -m benchmarks.search_variants [--quick] [--workers 2]    # writes benchmarks/results/search_variants.json
"""

from __future__ import annotations

import argparse
import json
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from scipy.special import logsumexp

from benchmarks import robust_regret

OUT = Path(__file__).parent / "results" / "search_variants.json"
CELLS = (
    ("rosenbrock", "gaussian", 5),
    ("rosenbrock", "outliers", 2),
    ("rosenbrock", "cauchy", 5),
    ("styblinski_tang", "student_t2", 5),
    ("styblinski_tang", "weibull", 5),
    ("ackley", "outliers", 5),
)
OPTIONS = {
    "default": {},
    "target mean": {"target": "mean"},
    "rewards as they are": {"bend": False},
    "one surface, bent rewards": {"surfaces": 1, "bend": True},
    "average of the improvement": {},
    "gradients": {},
    "longer length-scales": {},
    "the estimator's priors": {},
    "more surfaces (its prior of ν)": {},
    "Thompson sampling": {"acquisition": "thompson"},
    "local Thompson sampling": {"acquisition": "local"},
    "exploration as in the paper": {"exploration": "paper"},
}


def change(variant):
    """Patch infgp in this process; a process runs one variant."""
    from dataclasses import replace

    from infgp import improvement, maximise, optimizer, thompson
    from infgp.priors import LogNormal, Priors

    if variant == "average of the improvement":

        class Average(improvement.LogImprovement):
            def alone(self):
                return [improvement.LogImprovement((b,), (v,)) for b, v in zip(self.beliefs, self.best, strict=True)]

            def __call__(self, at):
                return logsumexp([score(at) for score in self.alone()], axis=0)

            def value_and_gradient(self, at):
                values, slopes = zip(*(score.value_and_gradient(at) for score in self.alone()), strict=True)
                total = logsumexp(values, axis=0)
                return total, np.einsum("sm,smd->md", np.exp(values - total), slopes)

        thompson.LogImprovement = Average
    elif variant == "gradients":
        thompson.pick = lambda rng, score, space, good, **_: maximise.maximise(rng, score, space, good)[0]
    elif variant == "longer length-scales":
        search_priors = optimizer.search_priors
        longer = LogNormal(0.0, 0.8)
        optimizer.search_priors = lambda d: replace(search_priors(d), lengthscale=replace(longer, loc=0.5 * np.log(d)))
    elif variant == "the estimator's priors":
        optimizer.search_priors = lambda d: Priors()
    elif variant.startswith("more surfaces"):
        search_priors = optimizer.search_priors
        optimizer.search_priors = lambda d: replace(search_priors(d), nu=Priors().nu)


def run(job):
    variant, cell, steps = job
    change(variant)
    robust_regret.INFGP[variant] = OPTIONS[variant]
    record = robust_regret.run((*cell, 0, variant, steps))
    return variant, cell, sum(record["regret"]), record["recommend_regret"]


def summary(found):
    """Geometric means over the cells that all variants have finished, relative to the default, and the figures."""
    shared = set.intersection(*(set(found.get(variant, {})) for variant in OPTIONS))
    results = {}
    for variant in OPTIONS if shared else ():
        ratios = [np.divide(found[variant][cell], found["default"][cell]) for cell in sorted(shared)]
        cumulative, recommended = np.exp(np.log(ratios).mean(axis=0)).round(3)
        cells = {cell: found[variant][cell] for cell in sorted(shared)}
        results[variant] = {"cumulative": cumulative, "recommended": recommended, "cells": cells}
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one cell, 20 evaluations; writes nothing")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    cells, steps = (CELLS[1:2], 20) if options.quick else (CELLS, robust_regret.STEPS)
    found: dict[str, dict[str, tuple[float, float]]] = {}
    with Pool(options.workers, maxtasksperchild=1) as pool:
        todo = [(variant, cell, steps) for cell in cells for variant in OPTIONS]
        for variant, cell, cumulative, recommended in pool.imap_unordered(run, todo, chunksize=1):
            found.setdefault(variant, {})[" ".join(map(str, cell))] = cumulative, max(recommended, robust_regret.FLOOR)
            print(f"{variant:32s} {cell} cumulative {cumulative:.1f} recommended {recommended:.3f}", flush=True)
            if not options.quick:
                OUT.write_text(json.dumps(summary(found), indent=1, ensure_ascii=False) + "\n")
    for variant, result in summary(found).items():
        print(f"{variant:32s} cumulative × {result['cumulative']}  recommended × {result['recommended']}")


if __name__ == "__main__":
    main()
