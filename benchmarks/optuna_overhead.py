"""Seconds that a sampler adds to a trial of an Optuna study, everything included: ask, suggest five floats, tell.

Every sampler is given the same study in memory: n trials of Styblinski–Tang in five dimensions at Sobol points
(Gaussian noise, 5 % outliers). Three trials go untimed, which import, compile and warm up; the trials after them are
timed, in turns with the other samplers, so that what else the machine does falls on all of them. One BLAS and one
PyTorch thread.

    python -m benchmarks.optuna_overhead [--quick]     # prints a table, writes results/optuna_overhead.json
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import optuna
import torch
from optuna.distributions import FloatDistribution
from threadpoolctl import threadpool_limits

from infgp.bench.cells import row
from infgp.bench.provenance import commit
from infgp.bench.tasks.noisy import Problem, sobol
from infgp.optuna import InfGPSampler

OUT = Path(__file__).parent / "results" / "optuna_overhead.json"
#: Number of parameters.
D = 5
#: Seed of every sampler.
SEED = 0
#: Number of trials that are not timed.
WARM_UP = 3
SPACE = {f"x{k}": FloatDistribution(0.0, 1.0) for k in range(D)}
SAMPLERS = {
    "infgp": lambda: InfGPSampler(seed=SEED),
    "GPSampler": lambda: optuna.samplers.GPSampler(seed=SEED),
    "TPESampler": lambda: optuna.samplers.TPESampler(seed=SEED),
}
#: Finished trials, and timed trials after them.
SIZES = {50: 15, 100: 15, 300: 11, 1000: 7}


def begun(sampler, problem, n):
    study = optuna.create_study(sampler=sampler, direction="maximize")
    rng = np.random.default_rng([SEED, n])
    for x in sobol(n, D, SEED):
        params = dict(zip(SPACE, map(float, x), strict=True))
        value = problem.evaluate(rng, x)
        study.add_trial(optuna.create_trial(params=params, distributions=SPACE, value=value))
    return study, rng


def one_trial(study, rng, problem) -> float:
    """Seconds for a trial without its evaluation."""
    begin = time.perf_counter()
    trial = study.ask()
    x = np.array([trial.suggest_float(name, 0.0, 1.0) for name in SPACE])
    suggested = time.perf_counter() - begin
    value = problem.evaluate(rng, x)
    begin = time.perf_counter()
    study.tell(trial, value)
    return suggested + time.perf_counter() - begin


def rows(records):
    """The lines of a table: median seconds of each sampler, and the ratio of infgp's to those of Optuna's GP."""
    lines = [row("finished trials", *SAMPLERS, "infgp / GPSampler"), row(*["---"] * (len(SAMPLERS) + 2))]
    for n in dict.fromkeys(record["n"] for record in records):
        of = {record["sampler"]: record["median"] for record in records if record["n"] == n}
        lines.append(row(n, *(f"{of[name]:.3f}" for name in SAMPLERS), f"{of['infgp'] / of['GPSampler']:.2f}"))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="50 and 100 trials, three timed; writes nothing")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    torch.set_num_threads(1)
    problem, records = Problem("styblinski_tang", "outliers", D), []
    for n, times in ({50: 3, 100: 3} if options.quick else SIZES).items():
        studies = {name: begun(make(), problem, n - WARM_UP) for name, make in SAMPLERS.items()}
        seconds: dict[str, list[float]] = {name: [] for name in SAMPLERS}
        with threadpool_limits(1):
            for repeat in range(WARM_UP + times):
                for name, (study, rng) in studies.items():
                    taken = one_trial(study, rng, problem)
                    if repeat >= WARM_UP:
                        seconds[name].append(taken)
        medians = {name: float(np.median(values)) for name, values in seconds.items()}
        records += [{"sampler": name, "n": n, "median": medians[name], "seconds": seconds[name]} for name in SAMPLERS]
        lines = rows(records)
        print("\n".join(lines[-1:] if len(lines) > 3 else lines), flush=True)
    if not options.quick:
        versions = {name: version(name) for name in ("infgp", "optuna", "torch", "numpy")}
        OUT.write_text(
            json.dumps({"commit": commit(), "d": D, "versions": versions, "records": records}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
