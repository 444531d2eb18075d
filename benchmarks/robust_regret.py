"""Regret of optimizers when rewards are heavy-tailed. One record for each (function, noise, d, seed, method).

Every method gets 100 evaluations, the first 2 (d + 1) at the same scrambled Sobol points, and the same stream of noise.
Regret is the optimum less the noise-free reward of the point evaluated (for Cauchy noise, which has no mean, of its
location), in standard deviations of the function over the cube. A step at which a method raises is recorded, and a
uniform point takes its place.

    python -m benchmarks.robust_regret [--seeds 10] [--dims 2,5] [--methods a,b] [--workers 2]  # resumes; appends
    python -m benchmarks.robust_regret --quick      # d = 2, 15 evaluations, one seed; writes nothing
    python -m benchmarks.robust_regret --table [--methods a,b]                      # prints and writes the tables
"""

from __future__ import annotations

import argparse
import json
import signal
import time
import warnings
from collections import defaultdict
from importlib.metadata import version
from itertools import product
from multiprocessing import Pool
from pathlib import Path

import numpy as np

from benchmarks.peers import PEERS, Peer
from benchmarks.problems import FUNCTIONS, HEAVY, NOISES, Problem, sobol

RESULTS = Path(__file__).parent / "results"
OUT, TABLE = RESULTS / "robust_regret.jsonl", RESULTS / "robust_regret.md"
KEY = ("function", "noise", "d", "seed", "method")
CELLS = tuple(product((2, 5), ("ackley", "rosenbrock", "styblinski_tang"), (*HEAVY, "gaussian", "heteroscedastic")))
STEPS, QUICK_STEPS = 100, 15
FLOOR = 1e-3  # of the regret of a recommendation, for ratios
REFERENCE = "infgp"
INFGP = {
    "infgp": {},
    "infgp_one_surface_ts": {"surfaces": 1, "acquisition": "thompson"},
    "infgp_one_surface_logei": {"surfaces": 1, "acquisition": "logei"},
}
METHODS = (*INFGP, *(name for name in PEERS if name != "botorch_warped"))


class Infgp(Peer):
    """infgp.Optimizer behind the interface of the peers."""

    packages = ("infgp",)

    def __init__(self, d, seed, initial, **options):
        super().__init__(d, seed, initial)
        import infgp

        self.names = [f"x{k}" for k in range(d)]
        space = {name: infgp.Float(0.0, 1.0) for name in self.names}
        self.optimizer = infgp.Optimizer(space, direction="maximize", seed=seed, **options)

    def propose(self):
        """The next point after the initial design."""
        point = self.optimizer.ask()
        return np.array([point[name] for name in self.names])

    def tell(self, x, y):
        """Takes in the reward y of point x."""
        super().tell(x, y)
        self.optimizer.tell(dict(zip(self.names, map(float, x), strict=True)), y)

    def recommend(self):
        """The optimizer's own recommendation."""
        point = self.optimizer.recommend().point
        return np.array([point[name] for name in self.names])


def make(method, d, seed, initial):
    return Infgp(d, seed, initial, **INFGP[method]) if method in INFGP else PEERS[method](d, seed, initial)


def clocks():
    """Wall and CPU seconds. CPU seconds of one thread can be compared when other work shares the machine."""
    return np.array([time.perf_counter(), time.process_time()])


def run(job):
    function, noise, d, seed, method, steps = job
    from threadpoolctl import threadpool_limits

    problem = Problem(function, d, noise)
    rng = np.random.default_rng([seed, d, list(FUNCTIONS).index(function), NOISES.index(noise)])
    substitute = np.random.default_rng(seed)
    failures, spent, points = [], np.zeros(2), []

    def attempt(step, act, otherwise):
        nonlocal spent
        begin = clocks()
        try:
            return act()
        except Exception as error:
            failures.append(f"{step}: {type(error).__name__}: {error}"[:500])
            return otherwise()
        finally:
            spent = spent + clocks() - begin

    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        optimizer = make(method, d, seed, sobol(2 * (d + 1), d, seed))
        for step in range(steps):
            x = attempt(step, optimizer.ask, lambda: substitute.random(d))
            y = problem.evaluate(rng, x)
            attempt(step, lambda x=x, y=y: optimizer.tell(x, y), lambda: None)
            points.append(x)
        best = attempt(steps, optimizer.recommend, lambda: Peer.recommend(optimizer))
    return {
        **dict(zip(KEY, job, strict=False)),
        "regret": np.round(problem.optimum - problem.expected(points), 5).tolist(),
        "recommend_regret": round(float(problem.optimum - problem.expected([best])[0]), 5),
        "seconds": round(spent[0], 3),
        "cpu_seconds": round(spent[1], 3),
        "failures": failures,
        "versions": {name: version(name) for name in ("numpy", "scipy", *optimizer.packages)},
    }


def load(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def measure(cells, seeds, methods, workers, path, run=run, runs_per_process=None) -> None:
    """Run what is not among the records of `path` and append to it; without a path, a short run that is not kept.

    Seeds are outermost: a run that is cut off has measured the same cells for all methods.
    """
    done = {tuple(r[k] for k in KEY) for r in load(path)} if path else set()
    keys = [(function, noise, d, seed, m) for seed, (d, function, noise), m in product(range(seeds), cells, methods)]
    todo = [(*key, STEPS if path else QUICK_STEPS) for key in keys if key not in done]
    begin = time.perf_counter()
    # Workers leave Ctrl-C to this process, which ends them when it leaves the block.
    with Pool(workers, signal.signal, (signal.SIGINT, signal.SIG_IGN), runs_per_process) as pool:
        for k, record in enumerate(pool.imap_unordered(run, todo), 1):
            if path:
                with path.open("a") as file:
                    file.write(json.dumps(record) + "\n")
            left = (time.perf_counter() - begin) / k * (len(todo) - k) / 3600.0
            print(
                f"[{k}/{len(todo)}, {left:.1f} h left] {' '.join(str(record[key]) for key in KEY)}: "
                f"cumulative {sum(record['regret']):.2f} recommended {record['recommend_regret']:.3f} "
                f"{record['cpu_seconds']:.1f} s {' '.join(record['failures'][:1])}",
                flush=True,
            )


def ratio(logs) -> str:
    """Geometric mean of ratios and, of several, its 95 % interval, from their logarithms."""
    mean = np.mean(logs)
    if len(logs) == 1:
        return f"{np.exp(mean):.2f}"
    error = np.std(logs, ddof=1) / np.sqrt(len(logs))
    return f"{np.exp(mean):.2f} ({np.exp(mean - 1.96 * error):.2f}–{np.exp(mean + 1.96 * error):.2f})"


def row(*entries) -> str:
    return f"| {' | '.join(map(str, entries))} |"


def header(*entries) -> list[str]:
    return [row(*entries), row(*["---"] * len(entries))]


def ratio_lines(title, value, runs, methods, reference):
    """One row for each method: value(record) over that of the reference on the same run, by kind of noise."""
    groups = {
        "heavy-tailed": HEAVY,
        "Gaussian": ("gaussian",),
        "heteroscedastic": ("heteroscedastic",),
        **{noise: (noise,) for noise in HEAVY},
    }
    lines = ["", f"{title}, over that of `{reference}`: geometric mean over runs (95 % interval).", ""]
    lines += header("method", *groups)
    for method in methods:
        cells = []
        for noises in groups.values():
            logs = [np.log(value(r[method]) / value(r[reference])) for key, r in runs.items() if key[1] in noises]
            cells.append(ratio(logs) if logs else "–")
        lines.append(row(method, *cells))
    return lines


def cell_lines(runs, methods, reference):
    """Mean cumulative regret of each cell, its winner, and the best peer where that beats the reference."""
    peers = [m for m in methods if m in PEERS and m != reference]
    cells = defaultdict(list)
    for (function, noise, d, _), records in runs.items():
        cells[function, noise, d].append([sum(records[m]["regret"]) for m in methods])
    lines, lost = [], 0
    for key in sorted(cells, key=lambda c: (c[2], list(FUNCTIONS).index(c[0]), NOISES.index(c[1]))):
        means = dict(zip(methods, np.mean(cells[key], axis=0), strict=True))
        best = min(peers, key=means.get)
        loses = means[best] < means[reference]
        lost += loses
        verdict = f"{best}, by {means[reference] / means[best] - 1.0:.0%}" if loses else ""
        lines.append(row(*key, *(f"{v:.1f}" for v in means.values()), min(means, key=means.get), verdict))
    caption = (
        f"Cumulative regret, mean over seeds. `{reference}` loses {lost} of {len(cells)} cells to the best of the "
        f"{len(peers)} peers, picked for each cell after the fact, which favours the peers."
    )
    return ["", caption, "", *header("function", "noise", "d", *methods, "winner", f"{reference} loses to"), *lines]


def seconds_lines(records, methods):
    dims = sorted({r["d"] for r in records})
    lines = ["", "CPU seconds of the optimizer for a run, median; steps and runs with failures.", ""]
    lines += header("method", *(f"d = {d}" for d in dims), "runs", "failed steps", "runs with failures")
    for method in methods:
        mine = [r for r in records if r["method"] == method]
        medians = [f"{np.median([r['cpu_seconds'] for r in mine if r['d'] == d]):.1f}" for d in dims]
        failed = [len(r["failures"]) for r in mine]
        lines.append(row(method, *medians, len(mine), sum(failed), np.count_nonzero(failed)))
    return lines


def table(methods, dims, reference) -> str:
    records = [r for r in load(OUT) if r["method"] in methods and r["d"] in dims]
    methods = [m for m in methods if any(r["method"] == m for r in records)]
    runs = defaultdict(dict)
    for r in records:
        runs[r["function"], r["noise"], r["d"], r["seed"]][r["method"]] = r
    runs = {key: found for key, found in runs.items() if len(found) == len(methods)}
    lines = [
        f"Written by `python -m benchmarks.robust_regret --table` from {len(records)} records: {len(runs)} runs "
        f"(function × noise × d × seed, {len({key[3] for key in runs})} seeds) by all {len(methods)} methods.",
        "",
        f"{STEPS} evaluations a run; regret in standard deviations of the function over the cube.",
    ]
    lines += ratio_lines("Cumulative regret", lambda r: sum(r["regret"]), runs, methods, reference)
    title = f"Regret of the recommendation (at least {FLOOR:g})"
    lines += ratio_lines(title, lambda r: max(r["recommend_regret"], FLOOR), runs, methods, reference)
    lines += cell_lines(runs, methods, reference)
    lines += seconds_lines(records, methods)
    return "\n".join(lines) + "\n"


def arguments(text, methods, quick, seeds=10):
    """A parser of what the resumable benchmarks have in common."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{quick}; writes nothing")
    parser.add_argument("--methods", type=some_of(methods), default=methods, help=f"some of {','.join(methods)}")
    parser.add_argument("--seeds", type=int, default=seeds)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="print and write the tables of what has been measured")
    return parser


def some_of(names):
    """The type of an argument that lists some of the names, separated by commas."""

    def parse(text):
        if unknown := set(text.split(",")) - set(names):
            raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))} is not among {', '.join(names)}")
        return text.split(",")

    return parse


def write(path, text) -> None:
    path.write_text(text)
    print(text)


def main() -> None:
    parser = arguments(__doc__, METHODS, "d = 2, 15 evaluations, one seed")
    parser.add_argument("--dims", type=lambda text: [int(d) for d in text.split(",")], default=[2, 5])
    parser.add_argument("--reference", choices=METHODS, default=REFERENCE, help="of the ratios in the tables")
    options = parser.parse_args()
    if options.table:
        write(TABLE, table(options.methods, options.dims, options.reference))
    elif options.quick:
        measure([c for c in CELLS if c[0] == 2], 1, options.methods, options.workers, None)
    else:
        cells = [c for c in CELLS if c[0] in options.dims]
        measure(cells, options.seeds, options.methods, options.workers, OUT)


if __name__ == "__main__":
    main()
