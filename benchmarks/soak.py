"""Does a long search stay as fast and as small as it should? One BLAS thread.

`asks`: one process asks and tells, thousands of times, and reports after each five hundred: CPU seconds of an ask, and
the memory of the process. `postgresql`: a study on a PostgreSQL server that the command starts has all but two hundred
of 20 000 trials; four workers, each a process with an `InfGPSampler`, make the last two hundred together.

    python -m benchmarks.soak [--asks 5000] [--trials 20000] [--quick]     # prints tables, writes results/soak.json
    python -m benchmarks.soak --only asks | postgresql

Rewards are of Styblinski–Tang in two inputs (Gaussian noise, 5 % outliers). Results are written as they come.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from pathlib import Path

import numpy as np

import infgp
from infgp.bench.provenance import commit
from infgp.bench.tables import table
from infgp.bench.tasks.noisy import Problem

OUT = Path(__file__).resolve().parent / "results" / "soak.json"
PROBLEM = Problem.of("styblinski_tang-outliers-d2")
NAMES = ("x0", "x1")
#: Asks between two lines of the report.
BLOCK = 500
#: Workers of the study.
WORKERS = 4
#: Trials that the workers make.
MADE = 200
#: Seconds on the clock after which workers that have not answered are given up.
PATIENCE = 3600
SEED = 0


def resident():
    """Memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def reward(rng, point):
    """A noisy reward of a point of the unit square."""
    return float(PROBLEM.evaluate(rng, np.array([point[name] for name in NAMES])))


def asks(count, block, keep):
    """Ask and tell; `keep` is called with the lines so far."""
    rng = np.random.default_rng(SEED)
    optimizer = infgp.Optimizer({name: infgp.Float(0.0, 1.0) for name in NAMES}, seed=SEED)
    lines = []
    for begin in range(0, count, block):
        seconds = []
        for _ in range(min(block, count - begin)):
            before = time.process_time()
            point = optimizer.ask()
            seconds.append(time.process_time() - before)
            optimizer.tell(point, reward(rng, point))
        lines.append(
            {
                "observations": len(optimizer.observations),
                "median": float(np.median(seconds)),
                "largest": float(np.max(seconds)),
                "mib": resident(),
            }
        )
        keep(lines)
    return lines


def worker(url, seed, count, answers):
    """Make trials of a study; puts the seconds on the clock of each into `answers`, and errors."""
    import optuna

    from infgp.optuna import InfGPSampler

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.load_study(study_name="soak", storage=url, sampler=InfGPSampler(seed=seed))
    rng, ends = np.random.default_rng(seed), [time.perf_counter()]

    def objective(trial):
        return reward(rng, {name: trial.suggest_float(name, 0.0, 1.0) for name in NAMES})

    study.optimize(objective, n_trials=count, callbacks=[lambda study, trial: ends.append(time.perf_counter())])
    answers.put({"seconds": np.diff(ends).tolist(), "mib": resident()})


def postgresql(trials, made):
    """What four workers do at the end of a long study."""
    import optuna

    from tests.servers import SERVERS

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rng, distribution = np.random.default_rng(SEED), optuna.distributions.FloatDistribution(0.0, 1.0)
    space = dict.fromkeys(NAMES, distribution)
    server = SERVERS["postgresql"]()
    try:
        study = optuna.create_study(study_name="soak", direction="maximize", storage=server.url)
        points = [dict(zip(NAMES, row, strict=True)) for row in rng.random((trials - made, 2)).tolist()]
        begin = time.perf_counter()
        study.add_trials(
            [optuna.trial.create_trial(params=p, distributions=space, value=reward(rng, p)) for p in points]
        )
        stored = time.perf_counter() - begin
        context = multiprocessing.get_context("spawn")
        answers = context.Queue()
        jobs = [
            context.Process(target=worker, args=(server.url, seed, made // WORKERS, answers)) for seed in range(WORKERS)
        ]
        begin = time.perf_counter()
        for job in jobs:
            job.start()
        found = [answers.get(timeout=PATIENCE) for _ in jobs]
        for job in jobs:
            job.join()
        took = time.perf_counter() - begin
        states = [trial.state.name for trial in study.get_trials(deepcopy=False)]
    finally:
        server.remove()
    return {
        "trials": len(states),
        "complete": states.count("COMPLETE"),
        "workers": WORKERS,
        "made": made,
        "storing the earlier trials": stored,
        "seconds": took,
        "first trial": float(np.median([one["seconds"][0] for one in found])),
        "later trial": float(np.median(np.concatenate([one["seconds"][1:] for one in found]))),
        "mib": max(one["mib"] for one in found),
        "exit codes": [job.exitcode for job in jobs],
    }


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--asks", type=int, default=5000, help="asks of one process (default: %(default)s)")
    parser.add_argument("--trials", type=int, default=20_000, help="trials of the study (default: %(default)s)")
    parser.add_argument("--only", choices=("asks", "postgresql"), help="one of the two")
    parser.add_argument("--quick", action="store_true", help="60 asks, 400 trials; writes nothing")
    options = parser.parse_args()

    def keep(name, value):
        if not options.quick:  # what the other part has written meanwhile stays
            out = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
            out[name] = {"commit": commit(), "result": value}
            OUT.write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")

    if options.only != "postgresql":
        count, block = (60, 30) if options.quick else (options.asks, BLOCK)
        lines = asks(count, block, lambda lines: keep("asks", lines))
        head = ["observations", "CPU seconds of an ask, median", "largest", "MiB"]
        print(table(head, [[f"{value:.4g}" for value in line.values()] for line in lines]))
    if options.only != "asks":
        trials, made = (400, 8) if options.quick else (options.trials, MADE)
        found = postgresql(trials, made)
        keep("postgresql", found)
        print(table(list(found), [[f"{v:.4g}" if isinstance(v, float) else v for v in found.values()]]))


if __name__ == "__main__":
    main()
