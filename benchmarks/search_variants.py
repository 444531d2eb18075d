"""What the defaults of the search are worth: regret with one of them changed, on the cells of `regimes`.

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
from benchmarks.regimes import CELLS
from benchmarks.robust_regret import FLOOR, KEY, arguments, header, load, measure, ratio, row, write
from infgp.search.acquisition import log_h

RESULTS = Path(__file__).parent / "results"
OUT, TABLE = RESULTS / "search_variants.jsonl", RESULTS / "search_variants.md"
OPTIONS = {
    "default": {},
    "target mean": {"target": "mean"},
    "no regions": {"regions": False},
    "rewards as they are": {"bend": False},
    "one surface and bent rewards": {"surfaces": 1, "bend": True},
    "average of the improvement": {},
    "votes": {},
    "each state's own incumbent": {},
    "improvement augmented": {},
    "every second step greedy": {},
    "24 points far away": {},
    "three times the sweeps": {},
    "gradients": {},
    "longer length-scales": {},
    "the estimator's priors": {},
    "more surfaces (its prior of nu)": {},
    "Thompson sampling": {"acquisition": "thompson"},
    "local Thompson sampling": {"acquisition": "local"},
    "exploration as in the paper": {"exploration": "paper"},
}


def alone(score, at):
    """Log improvement in each state, shape (states, m)."""
    parts = zip(score.beliefs, score.best, strict=True)
    laws = [(belief(at), best) for belief, best in parts]
    return np.array([0.5 * np.log(v) + log_h((mean - best) / np.sqrt(v)) for (mean, v), best in laws])


def change(variant):
    """Patch infgp in this process; a process runs one variant."""
    from dataclasses import replace

    from infgp.core.priors import LogNormal, Priors
    from infgp.search import acquisition as improvement
    from infgp.search import maximise, optimizer
    from infgp.search import proposal as thompson
    from infgp.search.acquisition import LogImprovement

    if variant == "average of the improvement":

        def average(score, at):
            return logsumexp(alone(score, at), axis=0)

        LogImprovement.__call__ = average
    elif variant == "votes":

        def votes(score, at):
            """Mean of log(improvement over the state's largest + 0.1): no state has a veto."""
            logs = alone(score, at)
            return np.log(np.exp(logs - logs.max(axis=1, keepdims=True)) + 0.1).mean(axis=0)

        LogImprovement.__call__ = votes
    elif variant == "each state's own incumbent":

        def own(cls, beliefs, evaluated):
            return cls(tuple(beliefs), tuple(float(np.max(belief(evaluated)[0])) for belief in beliefs))

        LogImprovement.of = classmethod(own)
    elif variant == "improvement augmented":

        def augmented(score, at):
            """Times 1 − τ / √(v + τ²) (Huang et al. 2006): what another reward at a known place teaches."""
            factors = []
            for belief in score.beliefs:
                variance = belief(at)[1]
                noise = belief.blend(at)[:, list(belief.tau2)] @ list(belief.tau2.values())
                factors.append(np.log1p(-np.sqrt(noise / (variance + noise))))
            return np.mean(alone(score, at) + factors, axis=0)

        made = improvement.TargetLaw.of.__func__

        def noisy(cls, state, *rest):
            belief = made(cls, state, *rest)
            object.__setattr__(belief, "tau2", {label: state.surface(label).tau2 for label in belief.surfaces})
            return belief

        improvement.TargetLaw.of, LogImprovement.__call__ = classmethod(noisy), augmented
    elif variant == "every second step greedy":
        pick = thompson.pick

        def greedy(rng, score, *rest, **options):
            chosen = thompson.Expected(score.beliefs) if rng.random() < 0.5 else score
            return pick(rng, chosen, *rest, **options)

        thompson.pick = greedy
    elif variant == "24 points far away":
        thompson.FAR = 24
    elif variant == "three times the sweeps":
        optimizer.NEXT = tuple(3 * v for v in optimizer.NEXT)
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
