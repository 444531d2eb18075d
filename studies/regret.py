"""Is the stated law of the regret true? Stated quantiles against the realised regret, and what stopping by it costs.

The default searches tasks with a known optimum, of six kinds. After every fifth evaluation from the twentieth on,
`Optimizer.regret` is asked. The record has quantiles of the regret, the mean, whether `RegretBelow(epsilon, 0.95)` is
met, and what the regret of the recommended point is in truth. Each epsilon is a share of a uniform point's regret.
Of the same evaluations, the record has the bound of the regret that Optuna's terminator goes by
(`optuna.terminator.RegretBoundEvaluator`), which stops the run where it is below epsilon, and the regret of the point
with the best reward, which is what Optuna then recommends.

    python -m studies.regret [--seeds 20] [--tasks a,b] [--jobs 2]      # goes on where it stopped
    python -m studies.regret --quick       # one task, 30 evaluations; writes nothing
    python -m studies.regret --table       # writes results/regret/table.md
"""

from __future__ import annotations

import time
import warnings
from functools import cache

import numpy as np
from scipy.stats import beta

from infgp.bench.cells import table
from infgp.bench.runner import initial_design, noise, versions
from infgp.bench.study import Study
from infgp.bench.tasks import task
from infgp.core.linalg import one_blas_thread
from infgp.search.optimizer import Optimizer
from infgp.search.stopping import RegretBelow
from infgp.space import Float, Space

#: Tasks, by what is special about them.
KINDS = {
    "smooth": (
        "rosenbrock-gaussian-d2",
        "rosenbrock-gaussian-d5",
        "rosenbrock-outliers-d2",
        "levy-gaussian-d1",
        "levy-gaussian-d2",
    ),
    "multimodal": (
        "styblinski_tang-gaussian-d1",
        "styblinski_tang-gaussian-d2",
        "styblinski_tang-gaussian-d5",
        "styblinski_tang-outliers-d2",
        "schwefel-gaussian-d1",
        "schwefel-outliers-d2",
    ),
    "needle": ("ackley-gaussian-d1", "ackley-gaussian-d2", "ackley-gaussian-d5", "ackley-outliers-d2"),
    "non-stationary": (
        "ackley-nonstationary-d1",
        "ackley-nonstationary-d2",
        "levy-nonstationary-d2",
        "styblinski_tang-nonstationary-d5",
        "ackley-nonstationary_outliers-d2",
    ),
    "skewed": (
        "exponential-d1",
        "exponential-d2",
        "gamma-d5",
        "log-normal-d2",
        "jackpot-d2",
        "levy-weibull-d2",
    ),
    "success or failure": ("success-d1", "success-d2", "success-d5", "zero-inflated-d2"),
}
TASKS = tuple(name for names in KINDS.values() for name in names)
KIND_OF = {name: kind for kind, names in KINDS.items() for name in names}
#: Evaluations of a run.
STEPS = 100
#: Numbers of evaluations after which quantiles are compared with the truth.
AFTER = (30, 60, 100)
#: First number of evaluations after which the regret is asked for.
FIRST = 20
#: Evaluations between two questions.
EVERY = 5
#: Levels of the quantiles.
LEVELS = (0.5, 0.8, 0.9, 0.95)
#: The quantile of the main table.
MAIN = 0.9
#: Epsilons of the rule to stop, as shares of a uniform point's regret.
SHARES = (0.05, 0.1, 0.2)
#: Least regret that counts, as a share of a uniform point's: points closer than this to the best are equal to it.
LEAST = 1e-4
TEXT = f"""\
Share of the runs in which the realised regret is below the stated quantile, by the number of evaluations (number of
runs). A regret below {LEAST:g} of a uniform point's counts as none."""
STOPPING = f"""\
`RegretBelow(epsilon, 0.95)`, asked after every {EVERY} evaluations from {FIRST} on, in runs of {STEPS} evaluations;
epsilon is a share of the regret of a uniform point. `Optuna` is the bound of Optuna's terminator below the same epsilon
in the same runs, where the point with the best reward is recommended. Of the runs that stopped, the share whose regret
is above epsilon, with its upper 95 % confidence limit (the stops of one run by several epsilons count as several), and
the evaluations used by all runs, on average; a run that does not stop uses {STEPS}."""


@cache
def uniform(name):
    """Regret of a uniform point of a task."""
    made = task(name)
    x = np.random.default_rng(0).random((20_000, made.d))
    return made.best - float(made.expected(x).mean())


class Terminator:
    """The bound of Optuna's terminator on the regret, from the same evaluations."""

    def __init__(self, d):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.known = {f"x{k}": optuna.distributions.FloatDistribution(0.0, 1.0) for k in range(d)}
        self.make, self.trials = optuna.trial.create_trial, []

    def tell(self, point, value):
        """Add an evaluation."""
        self.trials.append(self.make(params=point, distributions=self.known, value=value))

    def bound(self):
        """The bound, or None where it cannot be computed."""
        from optuna.study import StudyDirection
        from optuna.terminator import RegretBoundEvaluator

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return float(f"{RegretBoundEvaluator(seed=0).evaluate(self.trials, StudyDirection.MAXIMIZE):.5g}")
            except (ArithmeticError, RuntimeError, ValueError):
                return None


def asked(made, space, optimizer, terminator):
    """What is stated after the evaluations so far, and what is true."""
    begin, regret, n = time.perf_counter(), optimizer.regret(), len(optimizer.observations)
    seconds = time.perf_counter() - begin

    def true(point):
        return float(f"{made.best - float(made.expected(space.to_unit([point]))[0]):.5g}")

    return {
        "n": n,
        "true": true(regret.point),
        "mean": float(f"{regret.mean:.5g}"),
        "quantiles": [float(f"{regret.quantile(q):.5g}") for q in LEVELS],
        "stops": [RegretBelow(share * uniform(made.name)).met(regret) for share in SHARES],
        "bound": terminator.bound(),
        "observed": true(optimizer.best_observed.point),
        "seconds": round(seconds, 3),
    }


def measure(job, warm):
    """A record of what was stated, and what was true, after some numbers of evaluations of one run."""
    made, seconds, stated = task(job.task), [], []
    steps = STEPS if job.steps is None else job.steps
    space = Space.of({f"x{k}": Float(0.0, 1.0) for k in range(made.d)})
    optimizer, design, rewards = Optimizer(space, seed=job.seed), initial_design(made, job.seed), noise(made, job.seed)
    terminator = Terminator(made.d)
    with one_blas_thread():
        for n in range(steps):
            begin = time.perf_counter()
            point = space.from_unit(design[n][None])[0] if n < len(design) else optimizer.ask()
            value = made.draw(rewards(n), space.to_unit([point])[0])
            optimizer.tell(point, value)
            terminator.tell(point, value)
            if n + 1 >= FIRST and (n + 1) % EVERY == 0:
                stated.append(asked(made, space, optimizer, terminator))
            seconds.append(round(time.perf_counter() - begin, 3))
    return {
        "task": job.task,
        "method": job.method,
        "seed": job.seed,
        "d": made.d,
        "steps": steps,
        "stated": stated,
        "seconds": seconds,
        "versions": versions(("optuna",)),
    }


def covered(records, n, level):
    """For each run, whether the realised regret after n evaluations is below the stated quantile."""
    k, found = LEVELS.index(level), []
    for record in records:
        least = LEAST * uniform(record["task"])
        found += [s["true"] <= max(s["quantiles"][k], least) for s in record["stated"] if s["n"] == n]
    return found


def share(hits):
    """Share of hits and their number."""
    return f"{np.mean(hits):.2f} ({len(hits)})" if hits else "–"


def limit(bad, total):
    """Upper 95 % confidence limit of a share (Clopper and Pearson)."""
    return 1.0 if bad == total else float(beta.ppf(0.95, bad + 1, total - bad))


def stop(record, k, by):
    """When a run stops by one of the `SHARES`, and with what regret; its last evaluation and None if it does not."""
    epsilon = SHARES[k] * uniform(record["task"])
    for s in record["stated"]:
        if s["stops"][k] if by == "infgp" else s["bound"] is not None and s["bound"] < epsilon:
            return s["n"], s["true" if by == "infgp" else "observed"]
    return record["steps"], None


def stopping(records, k, by):
    """Runs that stopped, share of them whose regret is above epsilon with its limit, and evaluations used."""
    which = range(len(SHARES)) if k is None else (k,)
    ends = [(*stop(record, j, by), SHARES[j] * uniform(record["task"])) for record in records for j in which]
    stops = [regret > epsilon for _, regret, epsilon in ends if regret is not None]
    used = f"{np.mean([n for n, _, _ in ends]):.0f}"
    wrong = f"{np.mean(stops):.2f} (at most {limit(sum(stops), len(stops)):.2f})" if stops else "–"
    return [f"{len(stops)} of {len(ends)}", wrong, used]


def tables(records):
    """Coverage by kind and by level, and stopping by kind."""
    groups = {kind: [r for r in records if KIND_OF[r["task"]] == kind] for kind in KINDS}
    groups = {kind: mine for kind, mine in groups.items() if mine} | {"all": records}
    main = [[kind, *(share(covered(mine, n, MAIN)) for n in AFTER)] for kind, mine in groups.items()]
    levels = [[f"{100 * q:g} %", *(share(covered(records, n, q)) for n in AFTER)] for q in LEVELS]
    of = {name: [r for r in records if r["task"] == name] for name in TASKS}
    tasks = [[name, *(share(covered(mine, n, MAIN)) for n in AFTER)] for name, mine in of.items() if mine]
    every = [("all", kind, None, mine) for kind, mine in groups.items()]
    every = [(f"{part:g}", "all", k, records) for k, part in enumerate(SHARES)] + every
    stops = [[e, kind, by, *stopping(mine, k, by)] for e, kind, k, mine in every for by in ("infgp", "Optuna")]
    numbers = [f"n = {n}" for n in AFTER]
    parts = [
        (f"The stated {100 * MAIN:g} % quantile", table(["kind", *numbers], main)),
        ("All stated quantiles", table(["quantile", *numbers], levels)),
        (f"The stated {100 * MAIN:g} % quantile by task", table(["task", *numbers], tasks)),
        (
            "Stopping",
            f"{STOPPING}\n\n"
            + table(["epsilon", "kind", "rule", "stopped", "regret above epsilon", "evaluations"], stops),
        ),
    ]
    return "\n\n".join([TEXT, *(f"**{title}**\n\n{text}" for title, text in parts)])


STUDY = Study(
    name="regret",
    text=__doc__,
    tasks=TASKS,
    methods=("infgp",),
    table=tables,
    seeds=20,
    quick=("levy-gaussian-d1",),
    quick_steps=30,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
