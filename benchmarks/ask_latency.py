"""Seconds for the next point, everything included: tell one reward, ask for one point. One BLAS thread.

Every method is told the same n − repeats rewards of Styblinski–Tang at Sobol points (Gaussian noise, 5 % outliers) and
asked once, untimed, which imports, compiles and warms up. Then it evaluates the point it asked for, and tell + ask are
timed together, so that the last ask sees n rewards. BoTorch and Optuna run as in benchmarks/peers.py.

    python -m benchmarks.ask_latency [--quick] [--methods a,b]     # prints a table, writes results/ask_latency.json
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from importlib.metadata import version
from itertools import product
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.problems import Problem, sobol
from benchmarks.robust_regret import make

OUT = Path(__file__).parent / "results" / "ask_latency.json"
PEERS = ("botorch_logei", "optuna_gp")
METHODS = ("infgp", *PEERS)
SEED = 0


def repeats(method, n, quick):
    if quick:
        return 2
    return 3 if method in PEERS and n >= 400 else 5


def latencies(method, d, n, times):
    problem, rng = Problem("styblinski_tang", d, "outliers"), np.random.default_rng([SEED, d])
    optimizer = make(method, d, SEED, initial=np.empty((0, d)))
    for x in sobol(n - times, d, SEED):
        optimizer.tell(x, problem.evaluate(rng, x))
    x = optimizer.ask()
    seconds = []
    for _ in range(times):
        y = problem.evaluate(rng, x)
        begin = time.perf_counter()
        optimizer.tell(x, y)
        x = optimizer.ask()
        seconds.append(time.perf_counter() - begin)
    return seconds


def row(entries) -> str:
    return f"| {' | '.join(entries)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="d = 5, n = 25 and 100, two repeats; writes nothing")
    parser.add_argument("--methods", type=lambda text: text.split(","), default=METHODS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    dims, sizes = ((5,), (25, 100)) if options.quick else ((2, 5, 10), (25, 50, 100, 200, 400, 800))
    records = []
    compared = set(METHODS) <= set(options.methods)
    titles = ["d", "n", *options.methods] + ["infgp / faster peer"] * compared
    print(f"{row(titles)}\n{row(['---'] * len(titles))}", flush=True)
    for d, n in product(dims, sizes):
        medians = {}
        for method in options.methods:
            with threadpool_limits(1):
                seconds = latencies(method, d, n, repeats(method, n, options.quick))
            medians[method] = float(np.median(seconds))
            records.append({"method": method, "d": d, "n": n, "median": medians[method], "seconds": seconds})
        ratio = [f"{medians['infgp'] / min(medians[p] for p in PEERS):.2f}"] if compared else []
        print(row([str(d), str(n), *(f"{m:.3f}" for m in medians.values()), *ratio]), flush=True)
    if not options.quick:
        versions = {name: version(name) for name in ("infgp", "botorch", "gpytorch", "optuna", "torch", "numpy")}
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps({"versions": versions, "records": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
