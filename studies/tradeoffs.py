"""Whose trade-offs dominate most, with several objectives, noise and outliers?

ZDT1, ZDT2 and ZDT3 with 5 inputs, DTLZ2 with 3 objectives and 5 inputs, and two problems with integers and choices. All
objectives are to be minimised. "small" has normal errors of 0.02 standard deviations of the objective over the space;
"outliers" has, on top, an error of 10 standard deviations in one of ten values. Every method is a sampler of Optuna.

    python -m studies.tradeoffs [--seeds 3] [--tasks a,b] [--methods a,b] [--jobs 1]     # goes on where it stopped
    python -m studies.tradeoffs --quick      # one task, 20 evaluations; writes nothing
    python -m studies.tradeoffs --table      # writes results/tradeoffs/table.md
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from threadpoolctl import threadpool_limits

from infgp.bench.cells import table
from infgp.bench.statistics import by_task
from infgp.bench.study import Study
from infgp.search.hypervolume import hypervolume

#: Evaluations of a run.
STEPS = 60
#: Standard deviation of the errors, in standard deviations of the objective over the space.
SMALL = 0.02
#: Standard deviation of the errors of outliers, in the same units.
LARGE = 10.0
#: Chance that a value is an outlier.
CHANCE = 0.1
#: Level of the quantile over the space that is the reference point, where a problem has none of its own.
REFERENCE = 0.9
#: Name of the peer to be reached where noise is small.
PEER = "optuna-gp"
OPTIONS = {
    "infgp": {},
    "infgp-ignore": {"outliers": "ignore"},
    "infgp-thompson": {"acquisition": "thompson"},
}
PEERS = (PEER, "optuna-tpe", "nsga2", "random")
TEXT = f"""\
True hypervolume after {STEPS} evaluations, mean over seeds (number of seeds), as a share of the largest known one. The
last lines have the mean over tasks of the ratio to `{PEER}` on the same seeds, and its least value on a task.
`infgp-thompson` weighs Thompson draws at random (acquisition="thompson"). `infgp-ignore` is told that outliers are
errors of measurement."""


def zdt(kind: int) -> Callable[[dict], list[float]]:
    """A problem of Zitzler, Deb and Thiele (2000)."""

    def values(point):
        first, *rest = (point[f"x{k}"] for k in range(5))
        g = 1.0 + 9.0 * float(np.mean(rest))
        r = first / g
        shape = {1: 1.0 - r**0.5, 2: 1.0 - r**2, 3: 1.0 - r**0.5 - r * np.sin(10.0 * np.pi * first)}[kind]
        return [first, g * float(shape)]

    return values


def dtlz2(point):
    """The second problem of Deb, Thiele, Laumanns and Zitzler (2005), with 3 objectives."""
    x = [point[f"x{k}"] for k in range(5)]
    g = 1.0 + sum((v - 0.5) ** 2 for v in x[2:])
    a, b = (0.5 * np.pi * v for v in x[:2])
    return [float(g * v) for v in (np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a))]


def network(point):
    """Error and seconds of something like a network: width, rate, layers and a kind of layer."""
    width, rate, layers = point["width"], point["rate"], point["layers"]
    power, price, best = {"plain": (1.0, 1.0, 0.3), "fine": (1.6, 2.2, 0.5), "coarse": (0.7, 0.5, 0.7)}[point["kind"]]
    error = 1.0 / (1.0 + power * layers * (0.2 + width)) + 0.6 * (rate - best) ** 2
    return [error, 0.1 * price * layers * (0.2 + width)]


def plant(point):
    """Waste and energy of something like a plant: heat, flow and pressure, number of stages, catalyst and order."""
    heat, flow, pressure, stages = point["heat"], point["flow"], point["pressure"], point["stages"]
    best, bonus = {"a": (0.2, 0.0), "b": (0.5, 0.15), "c": (0.8, 0.3), "none": (0.5, -0.2)}[point["catalyst"]]
    twist = 0.1 if point["order"] == "reversed" and stages > 3 else 0.0
    yields = (1.0 - (heat - best) ** 2) * (1.0 - np.exp(-0.6 * stages * (0.3 + flow))) + bonus * pressure - twist
    return [float(1.5 - yields), 0.2 * stages + heat + 0.5 * flow**2 + 0.8 * pressure**2 + 1.2 * max(bonus, 0.0)]


@dataclass(frozen=True)
class Problem:
    """What is minimised, over which distributions of Optuna, given by their names and arguments."""

    values: Callable[[dict], list[float]]
    space: dict[str, tuple]
    reference: tuple[float, ...] | None = None


UNIT = {f"x{k}": ("float", 0.0, 1.0) for k in range(5)}
PROBLEMS = {
    "zdt1": Problem(zdt(1), UNIT, (1.1, 6.0)),
    "zdt2": Problem(zdt(2), UNIT, (1.1, 6.0)),
    "zdt3": Problem(zdt(3), UNIT, (1.1, 6.0)),
    "dtlz2": Problem(dtlz2, UNIT, (1.5, 1.5, 1.5)),
    "network": Problem(
        network,
        {
            "width": ("float", 0.0, 1.0),
            "rate": ("float", 0.0, 1.0),
            "layers": ("int", 1, 10),
            "kind": ("choice", "plain", "fine", "coarse"),
        },
    ),
    "plant": Problem(
        plant,
        {
            **dict.fromkeys(("heat", "flow", "pressure"), ("float", 0.0, 1.0)),
            "stages": ("int", 1, 8),
            "catalyst": ("choice", "a", "b", "c", "none"),
            "order": ("choice", "straight", "reversed"),
        },
    ),
}
NOISES = ("small", "outliers")
TASKS = tuple(f"{name}-{noise}" for noise in NOISES for name in PROBLEMS)


def uniform(space, rng, count):
    """Uniform points of a space."""
    draw = {
        "float": lambda low, high: float(rng.uniform(low, high)),
        "int": lambda low, high: int(rng.integers(low, high + 1)),
        "choice": lambda *options: options[rng.integers(len(options))],
    }
    return [{name: draw[kind](*args) for name, (kind, *args) in space.items()} for _ in range(count)]


@cache
def scale(name):
    """Reference point, and standard deviation of each objective over the space."""
    problem = PROBLEMS[name]
    values = np.array([problem.values(p) for p in uniform(problem.space, np.random.default_rng(0), 4000)])
    given = problem.reference
    return np.quantile(values, REFERENCE, axis=0) if given is None else np.array(given), values.std(axis=0)


@cache
def largest(name):
    """The largest hypervolume known: that of the front itself, or of very many points of a problem with choices."""
    problem, reference = PROBLEMS[name], scale(name)[0]
    if name.startswith("zdt"):
        points = [{"x0": x, **{f"x{k}": 0.0 for k in range(1, 5)}} for x in np.linspace(0.0, 1.0, 2001)]
    elif name == "dtlz2":  # the part of the box outside a ball around the origin, an eighth of which is in the box
        return float(np.prod(reference) - np.pi / 6.0)
    else:
        rng = np.random.default_rng(1)
        points = uniform(problem.space, rng, 20_000)
        for _ in range(6):  # by evolution
            values = np.array([problem.values(p) for p in points])
            best = [points[i] for i in front(values)]
            pairs = rng.integers(len(best), size=(20_000, 2))
            points = best + [_child(rng, problem.space, best[i], best[j]) for i, j in pairs]
    values = np.array([problem.values(p) for p in points])
    return hypervolume(-values[front(values)], -reference)


def front(values):
    """Indices of the rows that no row dominates, for two objectives to be minimised."""
    order, best, found = np.lexsort((values[:, 1], values[:, 0])), np.inf, []
    for i in order:
        if values[i, 1] < best:
            best = values[i, 1]
            found.append(int(i))
    return found


def _child(rng, space, a, b):
    child = {}
    for name, (kind, *args) in space.items():
        child[name] = (a, b)[rng.integers(2)][name]
        if kind == "float":
            child[name] = float(np.clip(child[name] + 0.03 * rng.standard_normal() * rng.integers(2), *args))
    return child


def sampler_of(method, seed, space):
    """The sampler of a method."""
    import optuna

    if method in OPTIONS:
        from infgp.optuna import InfGPSampler

        return InfGPSampler(seed=seed, search_space=space, store_beliefs=False, **OPTIONS[method])
    samplers = optuna.samplers
    made = {
        PEER: lambda: samplers.GPSampler(seed=seed),
        "optuna-tpe": lambda: samplers.TPESampler(seed=seed, multivariate=True),
        "nsga2": lambda: samplers.NSGAIISampler(seed=seed, population_size=12),
        "random": lambda: samplers.RandomSampler(seed=seed),
    }
    return made[method]()


def measure(job, warm):
    """The record of one run."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    name, noise = job.task.rsplit("-", 1)
    problem, (reference, unit), rng = PROBLEMS[name], scale(name), np.random.default_rng(job.seed)
    kinds = {
        "float": optuna.distributions.FloatDistribution,
        "int": optuna.distributions.IntDistribution,
        "choice": lambda *options: optuna.distributions.CategoricalDistribution(options),
    }
    space = {key: kinds[kind](*args) for key, (kind, *args) in problem.space.items()}
    seconds, true = [], []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if job.method == PEER:
            import torch

            torch.set_num_threads(1)
        sampler = sampler_of(job.method, job.seed, space)
        study = optuna.create_study(directions=["minimize"] * unit.size, sampler=sampler)
        for _ in range(job.steps or STEPS):
            begin = time.perf_counter()
            trial = study.ask(space)
            seconds.append(round(time.perf_counter() - begin, 4))
            true.append(problem.values(trial.params))
            error = SMALL * rng.standard_normal(unit.size)
            strange, size = rng.random(unit.size) < CHANCE, LARGE * rng.standard_normal(unit.size)
            study.tell(trial, (np.array(true[-1]) + unit * (error + size * strange * (noise == "outliers"))).tolist())
        ours = job.method in OPTIONS
        best = [t.point for t in sampler.tradeoffs(study)] if ours else [t.params for t in study.best_trials]
    recommended = np.array([problem.values(point) for point in best])
    return {
        **{"task": job.task, "method": job.method, "seed": job.seed, "d": job.d},
        "failures": [],
        "seconds": seconds,
        "hypervolume": [round(hypervolume(-np.array(true[:n]), -reference), 6) for n in range(10, len(true) + 1, 10)],
        "recommended": round(hypervolume(-recommended, -reference), 6),
        "set": len(best),
    }


def evaluated(record):
    """Hypervolume of the points that were evaluated, as a share of the largest."""
    return record["hypervolume"][-1] / largest(record["task"].rsplit("-", 1)[0])


def recommended(record):
    """Hypervolume of the recommended points, as a share of the largest."""
    return record["recommended"] / largest(record["task"].rsplit("-", 1)[0])


def ratios(runs, method, value, noise):
    """Ratio to the peer on each task with a noise, from the means over the seeds that both have."""
    found = []
    for name in (name for name in TASKS if name in runs and name.endswith(noise)):
        own, other = (runs[name].get(m, {}) for m in (method, PEER))
        if both := sorted(own.keys() & other.keys()):
            found.append(np.mean([value(own[s]) for s in both]) / np.mean([value(other[s]) for s in both]))
    return found


def one_table(runs, methods, value):
    """Tasks in rows, methods in columns."""
    rows = []
    for name in (name for name in TASKS if name in runs):
        cells = [[value(r) for r in runs[name].get(method, {}).values()] for method in methods]
        rows.append([name, *(f"{np.mean(c):.4f} ({len(c)})" if c else "" for c in cells)])
    for noise in NOISES:
        parts = [ratios(runs, method, value, noise) for method in methods]
        rows.append([f"ratio, {noise}", *(f"{np.mean(p):.3f}, least {min(p):.3f}" if p else "" for p in parts)])
    return table(["task", *methods], rows)


def tables(records):
    """What was evaluated, what is recommended, and the seconds of an ask."""
    runs = by_task(records)
    methods = [m for m in STUDY.methods if any(m in mine for mine in runs.values())]
    parts = [("The evaluated points", evaluated), ("The recommended points", recommended)]
    asks = [np.mean([np.mean(r["seconds"]) for r in records if r["method"] == m]) for m in methods]
    seconds = table(["", *methods], [["seconds of an ask, mean", *(f"{s:.2f}" for s in asks)]])
    return "\n\n".join([TEXT, *(f"**{title}**\n\n{one_table(runs, methods, v)}" for title, v in parts), seconds])


STUDY = Study(
    name="tradeoffs",
    text=__doc__,
    tasks=TASKS,
    methods=(*OPTIONS, *PEERS),
    table=tables,
    seeds=3,
    quick=("network-small",),
    quick_methods=("infgp", "random"),
    quick_steps=20,
    wanted=lambda task, method: method != "infgp-ignore" or task.endswith("outliers"),
    dimension=lambda task: len(PROBLEMS[task.rsplit("-", 1)[0]].space),
)

if __name__ == "__main__":
    raise SystemExit(STUDY.main())
