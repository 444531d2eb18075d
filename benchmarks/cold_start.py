"""Seconds on a new machine: import, first ask of the model, first recommendation, first fit. One BLAS thread.

Each figure is taken twice, in processes of their own: first with an empty folder for compiled code, then with what the
first process has left there. The search is in two dimensions, and its first asks are of its design; the ask that is
timed is the first for which the model is used. The fit is of 300 points with Student-t noise, in three dimensions.

    python -m benchmarks.cold_start [--quick] [--src PATH]     # prints a table, writes results/cold_start.json

CPU seconds are of all threads together, and depend less on what else the machine does than seconds on the wall. With
--quick there is no fit and nothing is written; --src has the folder `src` of another checkout measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve()
OUT = HERE.parent / "results" / "cold_start.json"
#: Observations of the fit.
POINTS = 300
#: Asks of the search; its design is shorter.
ASKS = 14
#: Variables that keep libraries to one thread each.
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def timed(stages, name, function):
    """What a function returns; its seconds are added to `stages`."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer = function()
    stages[name] = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    return answer


def work(fits: bool) -> None:
    """What is timed, in a process of its own; prints the seconds as JSON."""
    stages: dict = {}
    infgp = timed(stages, "import", lambda: __import__("infgp"))
    import numpy as np

    rng = np.random.default_rng(0)
    optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0), "y": infgp.Float(0.0, 1.0)}, seed=0)
    asks = []
    for _ in range(ASKS):
        one: dict = {}
        point = timed(one, "ask", optimizer.ask)
        asks.append(one["ask"])
        optimizer.tell(point, -((point["x"] - 0.3) ** 2) - (point["y"] - 0.6) ** 2 + 0.05 * rng.standard_t(2))
    stages["first ask of the model"] = max(asks, key=lambda ask: ask["cpu"])
    stages["last ask"] = asks[-1]
    timed(stages, "first recommend", optimizer.recommend)
    rhat = None
    if fits:
        x = rng.random((POINTS, 3))
        y = np.sin(5.0 * x[:, 0]) + x[:, 1] + 0.1 * rng.standard_t(2, POINTS)
        model = timed(stages, f"first fit of {POINTS} points", lambda: infgp.InfiniteGP(random_state=0).fit(x, y))
        rhat = max(model.diagnostics_.r_hat.values())
    print(json.dumps({"file": infgp.__file__, "stages": stages, "largest R-hat": rhat, "load": os.getloadavg()[0]}))


def measure(source: Path, cache: str, fits: bool) -> dict:
    """The seconds of a new process with a folder for compiled code."""
    env = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": cache, **dict.fromkeys(ONE_THREAD, "1")}
    command = [sys.executable, str(HERE), "--work", *(["--quick"] if not fits else [])]
    answer = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    found = json.loads(answer.stdout)
    if source not in Path(found["file"]).resolve().parents:
        raise SystemExit(f"{source} has no infgp: {found['file']} was imported in its place.")
    return {**found, "said": [line for line in answer.stderr.splitlines() if line.startswith("infgp")]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="no fit; writes nothing")
    parser.add_argument("--src", type=Path, default=HERE.parents[1] / "src", help="the folder src of a checkout")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work(not options.quick)
    from infgp.bench.cells import row
    from infgp.bench.provenance import commit

    with tempfile.TemporaryDirectory() as cache:
        cold, warm = (measure(options.src.resolve(), cache, not options.quick) for _ in range(2))
    titles = ["", "CPU s, nothing compiled", "wall s", "CPU s, compiled before", "wall s"]
    print(f"{row(*titles)}\n{row(*['---'] * len(titles))}")
    for name, first in cold["stages"].items():
        second = warm["stages"][name]
        print(row(name, *(f"{seconds:.2f}" for stage in (first, second) for seconds in (stage["cpu"], stage["wall"]))))
    print(f"said: {cold['said']}, then {warm['said']}; load {cold['load']:.1f}, {warm['load']:.1f}")
    if not options.quick and options.src == HERE.parents[1] / "src":
        versions = {name: version(name) for name in ("numba", "llvmlite", "numpy", "scipy")}
        for record in (cold, warm):
            del record["file"]
        out = {"commit": commit(), "versions": versions, "cores": os.cpu_count(), "cold": cold, "warm": warm}
        OUT.write_text(json.dumps(out, indent=1) + "\n")
    return None


if __name__ == "__main__":
    main()
