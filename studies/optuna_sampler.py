"""Does `InfGPSampler` find what `Optimizer` finds?

Both run on the same seed, the same function and the same stream of noise, each with its own initial design. A study
told of its search space from the start is to take the optimizer's steps, so that all that was measured of the optimizer
holds for studies and for ``infgp run``.

    python -m studies.optuna_sampler [--seeds 3] [--tasks a,b] [--methods a,b] [--jobs 2]    # goes on where it stopped
    python -m studies.optuna_sampler --quick         # one task, 15 evaluations; writes nothing
    python -m studies.optuna_sampler --table         # writes results/optuna_sampler/table.md
"""

from __future__ import annotations

import time

import numpy as np
from threadpoolctl import threadpool_limits

import infgp
from infgp.bench.cells import table
from infgp.bench.statistics import by_task, total
from infgp.bench.study import Study
from infgp.bench.tasks import task as task_of

TASKS = (
    *("ackley-gaussian-d2", "ackley-outliers-d2", "rosenbrock-weibull-d2", "styblinski_tang-cauchy-d2"),
    *("ackley-outliers-d5", "styblinski_tang-heteroscedastic-d5"),
)
#: Evaluations of a run.
STEPS = 60


class ByOptimizer:
    """`infgp.Optimizer`."""

    def __init__(self, names, seed):
        self.optimizer = infgp.Optimizer({name: infgp.Float(0.0, 1.0) for name in names}, seed=seed)

    def ask(self):
        """The next point."""
        return self.optimizer.ask()

    def tell(self, point, value):
        """Its reward."""
        self.optimizer.tell(point, value)

    def recommend(self):
        """The recommended point."""
        return self.optimizer.recommend().point


class BySampler:
    """A study of Optuna with `InfGPSampler`."""

    def __init__(self, names, seed):
        import optuna

        from infgp.optuna import InfGPSampler

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.space = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in names}
        sampler = InfGPSampler(seed=seed, search_space=self.space)
        self.study = optuna.create_study(direction="maximize", sampler=sampler)

    def ask(self):
        """The next point."""
        self.trial = self.study.ask(self.space)
        return self.trial.params

    def tell(self, point, value):
        """Its reward."""
        self.study.tell(self.trial, value)

    def recommend(self):
        """The recommended point."""
        return self.study.sampler.recommend(self.study).point


METHODS = {"optimizer": ByOptimizer, "sampler": BySampler}


def measure(job, warm):
    """The record of one run."""
    task, names = task_of(job.task), [f"x{k}" for k in range(job.d)]
    with threadpool_limits(1):
        run, noise = METHODS[job.method](names, job.seed), np.random.default_rng(job.seed)
        regret, seconds = [], []
        for _ in range(job.steps or STEPS):
            begin = time.perf_counter()
            point = run.ask()
            seconds.append(round(time.perf_counter() - begin, 4))
            x = np.array([point[name] for name in names])
            run.tell(point, task.draw(noise, x))
            regret.append(task.best - float(task.expected(x[None])[0]))
        best = np.array([[run.recommend()[name] for name in names]])
    return {
        **{"task": job.task, "method": job.method, "seed": job.seed, "d": job.d},
        "failures": [],
        "seconds": seconds,
        "regret": [round(r, 6) for r in regret],
        "recommend_regret": round(task.best - float(task.expected(best)[0]), 6),
    }


def tables(records):
    """Regret of both on each task, and in how many runs it is the same at every step."""
    rows, runs = [], by_task(records)
    for name in (name for name in TASKS if name in runs):
        found = [runs[name].get(method, {}) for method in METHODS]
        both = sorted(found[0].keys() & found[1].keys())
        if both:
            same = sum(found[0][seed]["regret"] == found[1][seed]["regret"] for seed in both)
            regrets = [np.mean([total(mine[seed]) for seed in both]) for mine in found]
            ends = [np.mean([mine[seed]["recommend_regret"] for seed in both]) for mine in found]
            rows.append([name, *(f"{v:.4f}" for v in (*regrets, *ends)), f"{same} of {len(both)}"])
    titles = ["task", "regret, optimizer", "regret, sampler", "recommended, optimizer", "recommended, sampler"]
    return (
        f"Cumulative regret of {STEPS} evaluations and regret of the recommendation, means over seeds; and runs whose "
        "regret is the same number at every step.\n\n" + table([*titles, "the same runs"], rows)
    )


STUDY = Study(
    name="optuna_sampler",
    text=__doc__,
    tasks=TASKS,
    methods=tuple(METHODS),
    table=tables,
    seeds=3,
    quick=TASKS[:1],
    quick_steps=15,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
