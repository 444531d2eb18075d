"""Which point to recommend: regret of several rules that see the same run and the same posterior.

The default searches; after half of the evaluations and after all of them each rule names a point. Tasks are those of
the paper suite, the cells of `benchmarks/regimes.py` and those of `benchmarks/odds.py`.

    python -m benchmarks.recommendations [--groups paper,regimes,odds] [--seeds 3] [--workers 2]    # resumes; appends
    python -m benchmarks.recommendations --quick        # one cell, 15 evaluations; writes nothing
    python -m benchmarks.recommendations --table        # prints and writes the table
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from itertools import product
from multiprocessing import Pool
from pathlib import Path

import numpy as np

import benchmarks.odds  # noqa: F401  (its tasks)
from benchmarks.problems import Problem
from benchmarks.regimes import CELLS
from benchmarks.robust_regret import FLOOR, arguments, header, load, ratio, row, some_of, write
from infgp.bench.core import PLAIN, Method, Task
from infgp.bench.methods.infinite import DefaultRun
from infgp.bench.runner import run as run_task
from infgp.bench.tasks import PAPER, task
from infgp.core.linalg import one_blas_thread
from infgp.search.acquisition import gain
from infgp.search.maximise import maximise
from infgp.search.proposal import best_of

RESULTS = Path(__file__).parent / "results"
OUT, TABLE = RESULTS / "recommendations.jsonl", RESULTS / "recommendations.md"
ODDS = ("lottery", "two-prizes", "skewed")
GROUPS = {
    "paper": tuple(PAPER),
    "regimes": tuple(f"{function}/{noise}/{d}" for d, function, noise in CELLS),
    "odds": ODDS,
}
#: `Optimizer.recommend`'s rule was chosen by looking at the runs of so many seeds; the seeds after them are its test.
CHOSEN_ON = {"paper": 10, "regimes": 3, "odds": 3}
REFERENCE = "space 0"
CAUTIONS = (0.0, 0.5, 1.0)
RULES = tuple(
    f"{rule} {caution:g}"
    for rule, caution in product(("space", "evaluated", "leap", "bound"), CAUTIONS)
    if caution or rule in ("space", "evaluated")
)
QUICK_STEPS = 15


@dataclass(frozen=True, eq=False)
class Cautious:
    """Mean of the target less some of its standard deviations, over states, as a score."""

    beliefs: tuple
    caution: float

    def __call__(self, at):
        """Values, shape (m,)."""
        return self.value_and_gradient(at)[0]

    def value_and_gradient(self, at):
        """Values, shape (m,), and gradients, shape (m, d)."""
        mean, variance, d_mean, d_variance = (
            np.array(part) for part in zip(*(belief.with_gradients(at) for belief in self.beliefs), strict=True)
        )
        middle, slope = mean.mean(axis=0), d_mean.mean(axis=0)
        sd = np.sqrt(variance.mean(axis=0) + mean.var(axis=0))
        between = 2.0 * np.mean((mean - middle)[:, :, None] * d_mean, axis=0)
        d_sd = (d_variance.mean(axis=0) + between) / (2.0 * sd[:, None])
        return middle - self.caution * sd, slope - self.caution * d_sd


class Recommending(DefaultRun):
    """The default, which notes at some numbers of rewards what each rule would recommend."""

    def __init__(self, d, seed, at):
        super().__init__(d, seed)
        self.at, self.found = at, {}

    def tell(self, x, y):
        """Take in the reward y of point x."""
        super().tell(x, y)
        if self.optimizer.counts[0] in self.at:
            self.found[self.optimizer.counts[0]] = self.rules()

    def rules(self):
        """Points by rule."""
        optimizer = self.optimizer
        x, y = optimizer._rewards()
        rng = optimizer._generator(2, y.size)
        points = {}
        with one_blas_thread():
            _, expected = optimizer._believe(rng, x, y)
            for caution in CAUTIONS:
                score = Cautious(expected.beliefs, caution) if caution else expected
                good = best_of(x, score(x))
                points[f"evaluated {caution:g}"] = good[0]
                points[f"space {caution:g}"] = maximise(rng, score, optimizer.space, good)[0]
            safe, far = points["evaluated 0"], points["space 0"]
            better, sd = gain(expected.beliefs, far, safe)
            laws = expected.law(np.array([far, safe]))
            for caution in CAUTIONS[1:]:
                points[f"leap {caution:g}"] = far if better > caution * sd else safe
                bounds = laws[0] - caution * laws[1]
                points[f"bound {caution:g}"] = far if bounds[0] > bounds[1] else safe
        return points


def task_of(name) -> Task:
    if "/" not in name:
        return task(name)
    function, noise, d = name.split("/")
    problem = Problem(function, int(d), noise)
    return Task(name, problem.d, PLAIN, problem.expected, problem.evaluate, problem.optimum)


def run(job):
    group, name, seed, steps = job
    chosen = task_of(name)
    steps = chosen.steps if steps is None else steps
    begun = []

    def start(d, seed):
        begun.append(Recommending(d, seed, (steps // 2, steps)))
        return begun[0]

    begin = time.perf_counter()
    greedy = group == "paper"
    record = run_task(chosen, Method("rules", "rules", start), seed, steps, greedy=greedy)
    regret = {
        str(n): {rule: float(f"{chosen.best - chosen.expected(x[None])[0]:.5g}") for rule, x in points.items()}
        for n, points in begun[0].found.items()
    }
    seconds = round(time.perf_counter() - begin, 1)
    return {"group": group, "task": name, "seed": seed, "regret": regret, "failures": record["failures"]}, seconds


def measure(groups, seeds, workers, path) -> None:
    done = {(r["task"], r["seed"]) for r in load(path)} if path else set()
    jobs = [(g, name, seed, None) for seed in range(seeds) for g in groups for name in GROUPS[g]]
    todo = [job for job in jobs if job[1:3] not in done] if path else [("regimes", "ackley/weibull/2", 0, QUICK_STEPS)]
    with Pool(workers) as pool:
        for k, (record, seconds) in enumerate(pool.imap_unordered(run, todo), 1):
            if path:
                with path.open("a") as file:
                    file.write(json.dumps(record) + "\n")
            print(f"[{k}/{len(todo)}] {record['task']} {record['seed']} {seconds} s: {record['regret']}", flush=True)


def table() -> str:
    records = load(OUT)
    lines = [
        "Written by `python -m benchmarks.recommendations --table`.",
        "",
        f"Regret of the recommended point (at least {FLOOR:g} of a uniform point's), over that of `{REFERENCE}`, which",
        "maximises the expected reward over the whole space: geometric means over runs (95 % interval). `evaluated`:",
        "over the evaluated points. The number: standard deviations that are taken off the expected reward.",
        "`leap`: the point of `space 0` if it is better than that of `evaluated 0` by so many standard deviations of",
        "the difference, else that one; `leap 1` is what `Optimizer.recommend` does. `bound`: the same, if it is",
        "better also when so many standard deviations of each are taken off. The rule was chosen by looking at the",
        "runs of the first seeds; those of later seeds were made afterwards and have tables of their own.",
    ]
    for when in ("half", "all"):
        for group, fresh in product(GROUPS, (False, True)):
            mine = [r for r in records if r["group"] == group and (r["seed"] >= CHOSEN_ON[group]) == fresh]
            if not mine:
                continue
            kind = "runs made after the choice" if fresh else "runs"
            lines += ["", f"After {when} of the evaluations, {group}, {len(mine)} {kind}.", ""]
            names = GROUPS[group] if group != "regimes" else ()
            lines += header("rule", "all", *names)
            for rule in RULES:
                logs = {}
                for r in mine:
                    at = sorted(r["regret"], key=int)[when == "all"]
                    floor = FLOOR * scale(r["task"])
                    found, base = (max(r["regret"][at][k], floor) for k in (rule, REFERENCE))
                    logs.setdefault(r["task"], []).append(np.log(found / base))
                each = [f"{np.exp(np.mean(logs[name])):.2f}" if name in logs else "–" for name in names]
                lines.append(row(rule, ratio(np.concatenate(list(logs.values()))), *each))
    return "\n".join(lines) + "\n"


def scale(name) -> float:
    """Regret of a uniform point."""
    chosen = task_of(name)
    points = np.random.default_rng(0).random((1000, chosen.d))
    return float(np.mean(chosen.best - chosen.expected(points)))


def main() -> None:
    parser = arguments(__doc__, RULES, "one cell, 15 evaluations", seeds=3)
    parser.add_argument("--groups", type=some_of(tuple(GROUPS)), default=tuple(GROUPS))
    options = parser.parse_args()
    if options.table:
        write(TABLE, table())
    else:
        measure(options.groups, options.seeds, options.workers, None if options.quick else OUT)


if __name__ == "__main__":
    main()
