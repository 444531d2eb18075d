"""Seconds for the next point, everything included: tell one reward, ask for one point. One BLAS thread.

Every method is told the same n − repeats rewards of Styblinski–Tang at Sobol points (Gaussian noise, 5 % outliers) and
asked once, untimed, which imports, compiles and warms up. Then it evaluates the point it asked for, and tell + ask are
timed together, so that the last ask sees n rewards.

    python -m benchmarks.ask_latency [--quick] [--methods a,b]     # prints a table, writes results/ask_latency.json
    python -m benchmarks.ask_latency --against PATH [--quick]      # this checkout's infgp and another's, as a ratio

The second form runs the infgp of both checkouts in processes of their own, step by step in turns, so that what else
the machine does falls on both. It writes results/ask_latency_against.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from importlib.metadata import version
from itertools import product
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from infgp.bench.cells import row
from infgp.bench.methods import METHODS
from infgp.bench.methods.variants import FITTED, VARIANTS
from infgp.bench.provenance import commit
from infgp.bench.tasks.noisy import Problem, sobol

HERE = Path(__file__).resolve()
OUT = HERE.parent / "results" / "ask_latency.json"
AGAINST = HERE.parent / "results" / "ask_latency_against.json"
PEERS = ("botorch-logei", "optuna-gp")
#: The default of `Optimizer`.
OURS = "infgp-final"
COMPARED = (OURS, *PEERS)
SEED = 0
#: Timed steps of each optimizer.
REPEATS = 5
#: Timed steps of peers from 400 rewards on, where one takes long.
FEW_REPEATS = 3
DIMS = (2, 5, 10)
SIZES = (25, 50, 100, 200, 400, 800)


def latencies(method, d, n, times):
    """Seconds of each timed step."""
    problem, rng = Problem("styblinski_tang", "outliers", d), np.random.default_rng([SEED, d])
    optimizer = (METHODS | FITTED | VARIANTS)[method].start(d, SEED)
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


class Other:
    """The infgp of a checkout, in a process of its own."""

    def __init__(self, source: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(HERE.with_name("ask_worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(source)},
        )
        found = Path(self.hear()["file"]).resolve()
        if source not in found.parents:
            raise SystemExit(f"{source} has no infgp: {found} was imported in its place.")

    def hear(self):
        """Its next answer."""
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("The process of a checkout has died; its message is above.")
        return json.loads(line)

    def tell(self, **given):
        """Its next point, and the seconds for it."""
        self.process.stdin.write(json.dumps(given) + "\n")
        self.process.stdin.flush()
        answer = self.hear()
        return np.array(answer["x"]), answer["seconds"]

    def end(self) -> None:
        """Let it go."""
        self.process.stdin.close()
        self.process.wait()


def alternate(pair, d, n, times):
    """Seconds of each timed step of two checkouts, in turns."""
    problem, design = Problem("styblinski_tang", "outliers", d), sobol(n - times, d, SEED)
    streams = [np.random.default_rng([SEED, d]) for _ in pair]
    told = [[problem.evaluate(rng, x) for x in design] for rng in streams]
    points = [other.tell(x=design.tolist(), y=y)[0] for other, y in zip(pair, told, strict=True)]
    seconds = [[], []]
    for step in range(times):
        for k in (0, 1) if step % 2 else (1, 0):
            points[k], taken = pair[k].tell(y=problem.evaluate(streams[k], points[k]))
            seconds[k].append(taken)
    return seconds


def against(path: Path, cells, times, out) -> None:
    """Print and write the ratio of this checkout's seconds to another's."""
    source = (path / "src" if (path / "src").is_dir() else path).resolve()
    head = ["git", "-C", str(source), "rev-parse", "--short", "HEAD"]
    theirs = subprocess.run(head, capture_output=True, text=True, check=False).stdout.strip() or str(path)
    pair, records = [Other(HERE.parents[1] / "src"), Other(source)], []
    titles = ["d", "n", f"this checkout ({commit()})", f"{path} ({theirs})", "ratio"]
    print(f"{row(*titles)}\n{row(*['---'] * len(titles))}", flush=True)
    try:
        for d, n in cells:
            seconds = alternate(pair, d, n, times)
            medians = [float(np.median(s)) for s in seconds]
            records.append({"d": d, "n": n, "ratio": medians[0] / medians[1], "seconds": seconds})
            print(row(d, n, *(f"{m:.3f}" for m in medians), f"{medians[0] / medians[1]:.2f}"), flush=True)
    finally:
        for other in pair:
            other.end()
    if out:
        out.write_text(json.dumps({"commits": [commit(), theirs], "records": records}, indent=1) + "\n")


def rows(records):
    """The lines of a table: median seconds of each method, and the ratio of infgp's to those of the faster peer."""
    methods = list(dict.fromkeys(record["method"] for record in records))
    compared = set(COMPARED) <= set(methods)
    titles = ["d", "n", *methods] + ["infgp / faster peer"] * compared
    lines = [row(*titles), row(*["---"] * len(titles))]
    for d, n in dict.fromkeys((record["d"], record["n"]) for record in records):
        of = {r["method"]: float(np.median(r["seconds"])) for r in records if (r["d"], r["n"]) == (d, n)}
        ratio = [f"{of[OURS] / min(of[p] for p in PEERS):.2f}"] if compared else []
        lines.append(row(d, n, *(f"{of[method]:.3f}" for method in methods), *ratio))
    return lines


def compare(methods, cells, repeats, out) -> None:
    """Print the seconds of methods, and write them after every cell."""
    versions = {name: version(name) for name in ("infgp", "botorch", "gpytorch", "optuna", "torch", "numpy")}
    records = []
    for d, n in cells:
        for method in methods:
            with threadpool_limits(1):
                seconds = latencies(method, d, n, repeats(method, n))
            records.append({"method": method, "d": d, "n": n, "seconds": seconds})
        lines = rows(records)
        print("\n".join(lines[-1:] if len(lines) > 3 else lines), flush=True)
        if out:
            out.write_text(json.dumps({"commit": commit(), "versions": versions, "records": records}, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="d = 5, n = 25 and 100, two repeats; writes nothing")
    parser.add_argument("--methods", type=lambda text: text.split(","), default=COMPARED)
    parser.add_argument("--against", type=Path, metavar="PATH", help="another checkout, or its folder src")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = list(product((5,), (25, 100)) if options.quick else product(DIMS, SIZES))
    if options.against:
        against(options.against, cells, 2 if options.quick else REPEATS, None if options.quick else AGAINST)
        return

    def repeats(method, n):
        return 2 if options.quick else FEW_REPEATS if method in PEERS and n >= 400 else REPEATS

    compare(options.methods, cells, repeats, None if options.quick else OUT)


if __name__ == "__main__":
    main()
