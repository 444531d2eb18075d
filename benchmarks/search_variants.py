"""What the defaults of the search are worth: regret with one of them changed, on the cells of `robust_regret`.

python -m benchmarks.search_variants [--methods a,b] [--seeds 1] [--workers 2]    # resumes; appends
python -m benchmarks.search_variants --quick        # one cell, 15 evaluations; writes nothing
python -m benchmarks.search_variants --table        # prints and writes the table
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import logsumexp

from benchmarks import robust_regret
from benchmarks.problems import HEAVY
from benchmarks.robust_regret import CELLS, FLOOR, KEY, arguments, header, load, measure, ratio, row, write

RESULTS = Path(__file__).parent / "results"
OUT, TABLE = RESULTS / "search_variants.jsonl", RESULTS / "search_variants.md"
OPTIONS = {
    "default": {},
    "target mean": {"target": "mean"},
    "no regions": {"regions": False},
    "rewards as they are": {"bend": False},
    "one surface and bent rewards": {"surfaces": 1, "bend": True},
    "average of the improvement": {},
    "gradients": {},
    "longer length-scales": {},
    "the estimator's priors": {},
    "more surfaces (its prior of nu)": {},
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
    variant = job[KEY.index("method")]
    change(variant)
    robust_regret.INFGP[variant] = OPTIONS[variant]
    return robust_regret.run(job)


def table() -> str:
    runs = {tuple(r[k] for k in KEY): r for r in load(OUT)}
    lines = [
        "Written by `python -m benchmarks.search_variants --table`. Regret over the default's on the same run:",
        "geometric means over the runs of a variant (95 % interval).",
        "",
        *header("variant", "cumulative", "heavy-tailed", "recommended", "runs"),
    ]
    for variant in OPTIONS:
        pairs = [(r, runs[*key[:4], "default"]) for key, r in runs.items() if key[4] == variant != "default"]
        if pairs:
            cumulative = [np.log(sum(r["regret"]) / sum(base["regret"])) for r, base in pairs]
            heavy = [log for log, (r, _) in zip(cumulative, pairs, strict=True) if r["noise"] in HEAVY]
            best = [[np.log(max(r["recommend_regret"], FLOOR)) for r in pair] for pair in pairs]
            gaps = [mine - base for mine, base in best]
            lines.append(row(variant, ratio(cumulative), ratio(heavy) if heavy else "–", ratio(gaps), len(pairs)))
    return "\n".join(lines) + "\n"


def main() -> None:
    options = arguments(__doc__, tuple(OPTIONS), "one cell, 15 evaluations", seeds=1).parse_args()
    if options.table:
        write(TABLE, table())
    else:
        cells, path = (CELLS[:1], None) if options.quick else (CELLS, OUT)
        measure(cells, options.seeds, options.methods, options.workers, path, run, runs_per_process=1)


if __name__ == "__main__":
    main()
