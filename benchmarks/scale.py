"""Seconds and memory for the next point after many earlier rewards. One BLAS thread.

Every method is told n rewards of Styblinski–Tang at uniform random points (Gaussian noise, 5 % outliers) and asked
once: the *first* ask. Then it evaluates the point it asked for, and tell + ask are timed together, three times: the
median is the *warm* ask. Each case runs in a process of its own, whose largest memory is reported. CPU seconds are
those of the process; on a machine with a core to itself they are the seconds on the clock, which are reported too.

    python -m benchmarks.scale [--quick] [--methods a,b] [--sizes n,n] [--dims d,d]    # results/scale.json
    python -m benchmarks.scale --table                                                 # prints the table

Results are written as they come, and replace those of the same method, dimension and number of rewards.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import infgp
from infgp.bench.cells import table
from infgp.bench.methods import METHODS
from infgp.bench.methods.variants import FITTED
from infgp.bench.provenance import commit
from infgp.bench.tasks.noisy import Problem

OUT = Path(__file__).resolve().parent / "results" / "scale.json"
SIZES = (500, 1000, 2000, 5000, 10_000, 50_000, 100_000)
DIMS = (5, 20)
#: Largest number of rewards at which each method is asked: beyond it takes minutes or hours.
LARGEST = {
    "infgp": 100_000,
    "infgp-optuna": 10_000,
    "optuna-tpe": 10_000,
    "botorch-variational": 100_000,
    "botorch-logei": 1000,
    "optuna-gp": 500,
}
#: Timed steps after the first ask.
STEPS = 3
#: Seconds of clock time after which a case is given up.
PATIENCE = 1800
SEED = 0
#: Inducing points of the variational GP.
INDUCING = 500
#: Steps of the variational GP's fit at the first ask, and after a new reward.
FIRST_STEPS, NEXT_STEPS = 300, 30
#: Rewards of a step of its fit.
BATCH = 1024


class Variational:
    """BoTorch's variational GP with log expected improvement."""

    def __init__(self, d):
        self.d, self.x, self.y, self.model = d, np.empty((0, d)), np.empty(0), None

    def tell_many(self, x, y):
        """Keep the rewards."""
        self.x, self.y = np.vstack((self.x, x)), np.concatenate((self.y, y))

    def ask(self):
        """Fit and maximise."""
        import gpytorch
        import torch
        from botorch.acquisition import LogExpectedImprovement
        from botorch.models import SingleTaskVariationalGP
        from botorch.optim import optimize_acqf

        torch.set_num_threads(1)
        torch.manual_seed(SEED)
        x, y = torch.as_tensor(self.x), torch.as_tensor((self.y - self.y.mean()) / self.y.std())
        steps = NEXT_STEPS
        if self.model is None:
            self.model, steps = SingleTaskVariationalGP(x, y[:, None], inducing_points=INDUCING), FIRST_STEPS
        bound = gpytorch.mlls.VariationalELBO(self.model.likelihood, self.model.model, num_data=y.numel())
        optimizer = torch.optim.Adam(self.model.parameters(), lr=0.02)
        self.model.train()
        for _ in range(steps):
            some = torch.randint(y.numel(), (min(BATCH, y.numel()),))
            optimizer.zero_grad()
            (-bound(self.model.model(x[some]), y[some])).backward()
            optimizer.step()
        self.model.eval()
        with torch.no_grad():
            best = max(float(self.model.posterior(part).mean.max()) for part in x.split(BATCH))
        bounds = torch.stack((torch.zeros(self.d), torch.ones(self.d))).to(x)
        score = LogExpectedImprovement(self.model, best_f=best)
        return optimize_acqf(score, bounds, q=1, num_restarts=5, raw_samples=128)[0][0].numpy()


class Infgp:
    """infgp's default."""

    def __init__(self, d):
        self.names = [f"x{k}" for k in range(d)]
        self.optimizer = infgp.Optimizer({name: infgp.Float(0.0, 1.0) for name in self.names}, seed=SEED)

    def tell_many(self, x, y):
        """Tell the rewards."""
        self.optimizer.tell_many(x, y)

    def ask(self):
        """The next point."""
        point = self.optimizer.ask()
        return np.array([point[name] for name in self.names])


class Study:
    """infgp as the sampler of an Optuna study in memory; an ask is a trial that is asked for, and told later."""

    def __init__(self, d):
        import optuna

        from infgp.optuna import InfGPSampler

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.create = optuna.trial.create_trial
        self.space = {f"x{k}": optuna.distributions.FloatDistribution(0.0, 1.0) for k in range(d)}
        sampler = InfGPSampler(seed=SEED, search_space=self.space)
        self.study, self.trial = optuna.create_study(direction="maximize", sampler=sampler), None

    def tell_many(self, x, y):
        """Finish the trial that was asked for, or add trials."""
        if self.trial is not None:
            self.study.tell(self.trial, float(y[0]))
            return
        rows = [dict(zip(self.space, row, strict=True)) for row in x.tolist()]
        pairs = zip(rows, y.tolist(), strict=True)
        self.study.add_trials([self.create(params=row, distributions=self.space, value=v) for row, v in pairs])

    def ask(self):
        """The next point."""
        self.trial = self.study.ask(self.space)
        return np.array(list(self.trial.params.values()))


class Peer:
    """A method of the benchmark."""

    def __init__(self, name, d):
        self.run = {**METHODS, **FITTED}[name].start(d, SEED)

    def tell_many(self, x, y):
        """Tell the rewards, one after the other."""
        for row, value in zip(x, y, strict=True):
            self.run.tell(row, float(value))

    def ask(self):
        """The next point."""
        return self.run.ask()


def started(method, d):
    """A method before it is told anything."""
    own = {"infgp": Infgp, "infgp-optuna": Study, "botorch-variational": Variational}
    return own[method](d) if method in own else Peer(method, d)


def timed(function):
    """What a function returns, and its seconds on the clock and of the process."""
    clock, work = time.perf_counter(), time.process_time()
    out = function()
    return out, time.perf_counter() - clock, time.process_time() - work


def case(method, d, n):
    """One row of the results."""
    warnings.simplefilter("ignore")
    problem, rng = Problem("styblinski_tang", "outliers", d), np.random.default_rng([SEED, d])
    small = started(method, d)  # compiles and imports
    x = rng.random((60, d))
    small.tell_many(x, np.array([problem.evaluate(rng, row) for row in x]))
    small.ask()
    x = rng.random((n, d))
    y = np.array([problem.evaluate(rng, row) for row in x])
    run = started(method, d)
    _, _, told = timed(lambda: run.tell_many(x, y))
    point, *first = timed(run.ask)
    warm = []
    for _ in range(STEPS):
        value = problem.evaluate(rng, point)

        def step(at=point, reward=value):
            run.tell_many(at[None], np.array([reward]))
            return run.ask()

        point, *seconds = timed(step)
        warm.append(seconds)
    clock, work = np.median(warm, axis=0)
    row = {"method": method, "d": d, "n": n, "tell_cpu": told, "first": first[0], "first_cpu": first[1]}
    row |= {"warm": float(clock), "warm_cpu": float(work)}
    row["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    return {name: round(v, 3) if isinstance(v, float) else v for name, v in row.items()} | {"commit": commit()}


def exponent(rows, method, d, name):
    """Growth of the seconds past 2 000 rewards: the slope of their logarithm; None without two cases."""
    found = [(r["n"], r[name]) for r in rows if (r["method"], r["d"]) == (method, d) and r["n"] >= 2000]
    if len(found) < 2:
        return None
    n, seconds = np.log(np.array(sorted(found))).T
    return float(np.polyfit(n, seconds, 1)[0])


def text(rows):
    """The table, and the growth exponents of infgp."""
    head = ["method", "d", "rewards", "tell", "first ask", "warm ask", "warm ask, clock", "MiB"]
    names = ("tell_cpu", "first_cpu", "warm_cpu", "warm", "peak_mib")
    body = [[r["method"], r["d"], r["n"], *(f"{r[name]:.3g}" for name in names)] for r in rows]
    growth = {d: exponent(rows, "infgp", d, "warm_cpu") for d in DIMS}
    lines = [
        f"Growth exponent of infgp's warm ask past 2 000 rewards, d = {d}: {g:.2f}" for d, g in growth.items() if g
    ]
    return "CPU seconds, unless another unit is named.\n\n" + table(head, body) + "\n" + "\n".join(lines)


def kept(rows):
    """Write the results, in order."""
    rows = sorted(rows, key=lambda r: (list(LARGEST).index(r["method"]), r["d"], r["n"]))
    OUT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return rows


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="1 500 and 3 000 rewards in 5 dimensions; writes nothing")
    parser.add_argument("--table", action="store_true", help="print what has been measured")
    parser.add_argument("--methods", default=",".join(LARGEST))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--dims", default=",".join(map(str, DIMS)))
    parser.add_argument("--case", nargs=3, metavar=("METHOD", "D", "N"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    rows = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else []
    if options.case:
        method, d, n = options.case
        print(json.dumps(case(method, int(d), int(n))))
        return
    if options.table:
        print(text(rows))
        return
    methods, dims, sizes = options.methods.split(","), options.dims.split(","), options.sizes.split(",")
    if options.quick:
        methods, dims, sizes, rows = ["infgp"], ["5"], ["1500", "3000"], []
    one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    for n, d, method in ((n, d, m) for n in sizes for d in dims for m in methods if int(n) <= LARGEST[m]):
        command = [sys.executable, "-m", "benchmarks.scale", "--case", method, d, n]
        try:
            out = subprocess.run(
                command, env={**os.environ, **one_thread}, capture_output=True, text=True, timeout=PATIENCE, check=True
            )
        except subprocess.SubprocessError as error:
            print(f"{method}, d = {d}, n = {n}: {error}\n{getattr(error, 'stderr', '')}", file=sys.stderr, flush=True)
            continue
        row = json.loads(out.stdout.splitlines()[-1])
        rows = [r for r in rows if (r["method"], r["d"], r["n"]) != (row["method"], row["d"], row["n"])] + [row]
        print(json.dumps(row), flush=True)
        if not options.quick:
            rows = kept(rows)
    print(text(rows))


if __name__ == "__main__":
    main()
