"""Should a search evaluate points again? Its final regret with more and with fewer evaluated inputs on offer.

The knowledge gradient scores an evaluated input like any other: what one more reward there would teach, its noise
counted. By default (`some`) the five evaluated inputs with the best objective are among the candidates. With `none` no
evaluated input is ever chosen, with `all` every evaluated input is a candidate. With `more` there are as many further
candidates as with `all`, which lie anywhere: it tells repeats from a longer search for the next input. All arms have
the same candidates otherwise, the same design and the same stream of noise. On the tasks of the first group the noise
depends on the input; those of the second group are of the other kinds.

    python -m studies.replicates [--seeds 10] [--tasks a,b] [--methods a,b] [--jobs 2]      # goes on where it stopped
    python -m studies.replicates --quick       # one task, 20 evaluations; writes nothing
    python -m studies.replicates --table       # writes results/replicates/table.md
"""

from __future__ import annotations

import time
from unittest.mock import patch

import numpy as np

from infgp.bench.cells import ratio, table
from infgp.bench.runner import initial_design, noise, versions
from infgp.bench.study import FLOOR, Study
from infgp.bench.tasks import task
from infgp.core.linalg import one_blas_thread
from infgp.search import acquisition
from infgp.search.maximise import candidates, pick
from infgp.search.optimizer import Optimizer
from infgp.space import Float, Space
from studies.regret import uniform

NOISY = (
    "styblinski_tang-heteroscedastic-d1",
    "ackley-heteroscedastic-d2",
    "levy-heteroscedastic-d2",
    "rosenbrock-heteroscedastic-d2",
    "exponential-d1",
    "exponential-d2",
    "log-normal-d2",
    "counts-d2",
)
OTHERS = (
    "levy-small-d2",
    "ackley-small-d2",
    "schwefel-small-d2",
    "rosenbrock-small-d5",
    "ackley-outliers-d2",
    "levy-outliers-d5",
    "styblinski_tang-cauchy-d2",
    "rosenbrock-weibull-d2",
    "schwefel-nonstationary-d2",
    "ackley-nonstationary_outliers-d2",
    "success-d2",
    "jackpot-d2",
    "crash-d1",
    "steamroller-d2",
)
TASKS = NOISY + OTHERS
ARMS = ("some", "none", "all", "more")
#: Evaluations of a run.
STEPS = 100
TEXT = f"""\
Regret of the recommended point, 1 being that of a uniform point, and evaluations that repeat an input: means over runs
(number of runs). The last line has the geometric mean, over runs, of the ratio to `some`, the default (95 % interval; a
regret counts at least {FLOOR:g})."""


def pick_from(evaluated, arm):
    """The choice of the next input with other candidates; `evaluated` gives the inputs so far, shape (n, d)."""

    def chosen(rng, score, space, good, spread, around, weight=None):
        if arm == "some":
            return pick(rng, score, space, good, spread, around, weight)
        points, known = candidates(rng, space, good, spread, around, weight), evaluated()
        if arm == "all":
            points = np.vstack((points, np.unique(known, axis=0)))
        elif arm == "more":
            points = np.vstack((points, space.sobol(rng, len(np.unique(known, axis=0)))))
        else:
            points = points[(points[:, None] != known[None]).any(axis=2).all(axis=1)]
        return np.asarray(points[np.argmax(score(points))])

    return chosen


def measure(job, warm):
    """A record with the regret of the recommendation, and the number of repeats."""
    made, begin = task(job.task), time.perf_counter()
    steps = STEPS if job.steps is None else job.steps
    space = Space.of({f"x{k}": Float(0.0, 1.0) for k in range(made.d)})
    optimizer, design, rewards = Optimizer(space, seed=job.seed), initial_design(made, job.seed), noise(made, job.seed)
    told = []
    with one_blas_thread(), patch.object(acquisition, "pick", pick_from(lambda: np.array(told), job.method)):
        for n in range(steps):
            point = space.from_unit(design[n][None])[0] if n < len(design) else optimizer.ask()
            told.append(space.to_unit([point])[0])
            optimizer.tell(point, made.draw(rewards(n), told[-1]))
        best = optimizer.recommend().point
    regret = (made.best - float(made.expected(space.to_unit([best]))[0])) / uniform(job.task)
    return {
        "task": job.task,
        "method": job.method,
        "seed": job.seed,
        "d": made.d,
        "steps": steps,
        "final": float(f"{regret:.5g}"),
        "repeats": steps - len(np.unique(np.array(told), axis=0)),
        "seconds": [round(time.perf_counter() - begin, 3)],
        "versions": versions(()),
    }


def tables(records):
    """Tasks in rows, arms in columns, and ratios of the arms to the default."""
    found = {(r["task"], r["method"], r["seed"]): r for r in records}
    rows = []
    for name in [name for name in TASKS if any(r["task"] == name for r in records)]:
        cells = []
        for arm in ARMS:
            mine = [r for r in records if (r["task"], r["method"]) == (name, arm)]
            regret, repeats = ([r[key] for r in mine] for key in ("final", "repeats"))
            cells += [f"{np.mean(regret):.3f} ({len(mine)})", f"{np.mean(repeats):.1f}"] if mine else ["–", "–"]
        rows.append([name, *cells])
    cells = []
    for arm in ARMS:
        pairs = [(r, found.get((t, "some", s))) for (t, m, s), r in found.items() if m == arm]
        logs = [np.log(max(r["final"], FLOOR) / max(other["final"], FLOOR)) for r, other in pairs if other]
        cells += [ratio(logs) if logs else "–", ""]
    names = [name for arm in ARMS for name in (arm, "repeats")]
    return f"{TEXT}\n\n{table(['task', *names], [*rows, ['ratio to the default', *cells]])}"


STUDY = Study(
    name="replicates",
    text=__doc__,
    tasks=TASKS,
    methods=ARMS,
    table=tables,
    seeds=10,
    quick=TASKS[:1],
    quick_steps=20,
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
