"""One default for every regime: regret where rewards are well-behaved, non-stationary, heavy-tailed, or both.

As in `benchmarks/robust_regret.py`, with more functions and with the non-stationary factor of
`benchmarks/problems.py`. Compared are infgp's default, the same search for the dominant surface (the
default before), with one surface (an ordinary GP), that with rewards bent as for the default, the paper's Algorithm 1,
and peers.

    python -m benchmarks.regimes [--seeds 10] [--methods a,b] [--workers 2]         # resumes; appends
    python -m benchmarks.regimes --quick                            # 15 evaluations of four cells; writes nothing
    python -m benchmarks.regimes --table                            # prints and writes the tables
"""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks import robust_regret
from benchmarks.robust_regret import FLOOR, STEPS, arguments, header, load, measure, ratio, row, write

RESULTS = Path(__file__).parent / "results"
OUT, TABLE = RESULTS / "regimes.jsonl", RESULTS / "regimes.md"
REGIMES = {
    "small noise": ("small",),
    "non-stationary": ("nonstationary",),
    "heavy-tailed": ("weibull", "cauchy", "outliers"),
    "heteroscedastic": ("heteroscedastic",),
    "non-stationary and outliers": ("nonstationary_outliers",),
}
NOISES = tuple(noise for noises in REGIMES.values() for noise in noises)
CELLS = (
    *product((2,), ("ackley", "rosenbrock", "styblinski_tang", "levy", "schwefel"), NOISES),
    *product((5,), ("ackley", "rosenbrock", "levy"), ("small", "nonstationary", "outliers", "nonstationary_outliers")),
)
OURS = {
    "infgp": {},
    "main": {"target": "main"},
    "one_surface": {"surfaces": 1},
    "one_surface_bent": {"surfaces": 1, "bend": True},
    "paper": {"acquisition": "thompson", "target": "surface", "exploration": "paper", "bend": False},
}
PEERS = ("botorch_logei", "botorch_winsorised", "botorch_warped", "optuna_tpe")
METHODS = (*OURS, *PEERS)
REFERENCE, BASELINE, WORST = "infgp", "one_surface", 1.2


def cumulative(record):
    return sum(record["regret"])


def floor_lines(runs):
    """What little noise leaves to be won: the least that denoising alone could bring the ratio to."""
    entries = []
    for noises in REGIMES.values():
        logs = []
        for (function, noise, d, seed), found in runs.items():
            quiet = runs.get((function, "nonstationary" if "nonstationary" in noise else "small", d, seed), {})
            if noise in noises and BASELINE in found and REFERENCE in quiet:
                logs.append(np.log(cumulative(quiet[REFERENCE]) / cumulative(found[BASELINE])))
        entries.append(ratio(logs) if logs else "–")
    return [
        "",
        f"Cumulative regret of `{REFERENCE}` on the same function with small noise (the factor, if any, kept), over "
        f"that of `{BASELINE}` in the regime: the ratio if noise cost nothing.",
        "",
        *header(*REGIMES),
        row(*entries),
    ]


def cell_lines(runs):
    """Cells in which the reference is worse than the baseline by more than is wanted."""
    lines, count = [], 0
    for d, function, noise in CELLS:
        pairs = [r for key, r in runs.items() if key[:3] == (function, noise, d) and {REFERENCE, BASELINE} <= r.keys()]
        logs = [np.log(cumulative(r[REFERENCE]) / cumulative(r[BASELINE])) for r in pairs]
        count += bool(logs)
        if logs and np.exp(np.mean(logs)) > WORST:
            lines.append(row(function, noise, d, ratio(logs), len(logs)))
    title = (
        f"Cells in which cumulative regret is more than {WORST} times that of `{BASELINE}`: {len(lines)} of {count}."
    )
    return ["", title, *(["", *header("function", "noise", "d", "ratio", "runs"), *lines] if lines else [])]


def table() -> str:
    records = load(OUT)
    methods = [m for m in METHODS if any(r["method"] == m for r in records)]
    runs = defaultdict(dict)
    for r in records:
        runs[r["function"], r["noise"], r["d"], r["seed"]][r["method"]] = r
    lines = [
        f"Written by `python -m benchmarks.regimes --table` from {len(records)} records; {STEPS} evaluations a run.",
        "",
        "Each entry is a geometric mean over the runs that both methods have (95 % interval).",
    ]
    values = {
        "Cumulative regret": cumulative,
        f"Regret of the recommendation (at least {FLOOR:g})": lambda r: max(r["recommend_regret"], FLOOR),
    }
    for title, value in values.items():
        lines += ["", f"{title} of `{REFERENCE}`, over that of another method.", ""]
        lines += header("over", *REGIMES, "runs")
        for method in methods:
            if method == REFERENCE:
                continue
            shared = {key: r for key, r in runs.items() if REFERENCE in r and method in r}
            entries = []
            for noises in REGIMES.values():
                pairs = [r for key, r in shared.items() if key[1] in noises]
                logs = [np.log(value(r[REFERENCE]) / value(r[method])) for r in pairs]
                entries.append(ratio(logs) if logs else "–")
            lines.append(row(method, *entries, len(shared)))
    lines += [
        *floor_lines(runs),
        *cell_lines(runs),
        "",
        "Cumulative regret, mean over the seeds that a method has.",
        "",
        *header("function", "noise", "d", *methods),
    ]
    for d, function, noise in CELLS:
        totals = [
            [cumulative(r[m]) for key, r in runs.items() if key[:3] == (function, noise, d) and m in r] for m in methods
        ]
        if any(totals):
            lines.append(row(function, noise, d, *(f"{np.mean(t):.1f}" if t else "–" for t in totals)))
    return "\n".join(lines) + "\n"


def main() -> None:
    options = arguments(__doc__, METHODS, "15 evaluations of four cells").parse_args()
    robust_regret.INFGP |= OURS
    if options.table:
        write(TABLE, table())
    elif options.quick:
        measure(CELLS[:4], 1, options.methods, options.workers, None)
    else:
        measure(CELLS, options.seeds, options.methods, options.workers, OUT)


if __name__ == "__main__":
    main()
