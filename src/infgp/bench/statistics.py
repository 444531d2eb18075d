"""What records of runs amount to: means over seeds, paired tests, ranks, growth of the regret.

Runs of two methods on the same task and seed share their design, noise and greedy steps, and are compared in pairs.
The test is Student's t on log cumulative regret: ratios are what is stable across tasks, and with five pairs Wilcoxon's
test could never report less than p = 0.06. Wilcoxon's p is reported beside it for readers who prefer it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]
Record = Mapping[str, Any]
#: Records by task, method and seed.
Runs = dict[str, dict[str, dict[int, Record]]]
#: Smallest cumulative regret of which a logarithm is taken, in the task's units.
FLOOR = 1e-9
#: p-value below which a difference counts as significant.
LEVEL = 0.05
#: Number of seeds that a method needs on a task to be judged there, and of pairs of runs that a paired test needs.
LEAST_SEEDS = 3


def by_task(records: Iterable[Record]) -> Runs:
    """Records by task, method and seed; of several for the same run, the last.

    Examples
    --------
    >>> runs = by_task([{"task": "a", "method": "random", "seed": 3, "regret": [1.0, 0.5]}])
    >>> list(runs["a"]["random"])
    [3]
    """
    runs: Runs = {}
    for record in records:
        runs.setdefault(record["task"], {}).setdefault(record["method"], {})[int(record["seed"])] = record
    return runs


def settled(runs: Runs) -> Runs:
    """On each task the methods with three seeds at least.

    Examples
    --------
    >>> settled(by_task([{"task": "a", "method": "random", "seed": 3, "regret": [1.0, 0.5]}]))
    {'a': {}}
    """
    return {task: {m: mine for m, mine in all_of.items() if len(mine) >= LEAST_SEEDS} for task, all_of in runs.items()}


def curves(mine: Mapping[int, Record]) -> Array:
    """Cumulative regret of runs, shape (seeds, steps); runs of different lengths are cut to the shortest."""
    steps = min(len(record["regret"]) for record in mine.values())
    return np.cumsum([record["regret"][:steps] for record in mine.values()], axis=1)


def total(record: Record) -> float:
    """Cumulative regret of a run."""
    return float(np.sum(record["regret"]))


@dataclass(frozen=True)
class Average:
    """Mean over seeds, its standard error (NaN for a single one), and on how many seeds they rest."""

    mean: float
    error: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Average:
        """Of one value for each seed.

        Examples
        --------
        >>> Average.of([1.0, 3.0])
        Average(mean=2.0, error=1.0, count=2)
        """
        sample = np.asarray(values, dtype=np.float64)
        error = float(stats.sem(sample)) if sample.size > 1 else float("nan")
        return cls(float(sample.mean()), error, sample.size)


@dataclass(frozen=True)
class Comparison:
    """Cumulative regret of method `a` over that of `b` on the same seeds of one task.

    Attributes
    ----------
    task, a, b : str
    ratio, low, high : float
        Geometric mean of the ratios and its 95 % interval; below 1, `a` is better.
    p, wilcoxon : float
        Two-sided, of Student's t on the logarithms and of Wilcoxon's signed ranks; NaN with fewer than three pairs,
        among many of which some would always agree by chance.
    count : int
        Pairs of runs.
    holm : float
        `p` corrected for all comparisons made with it.
    """

    task: str
    a: str
    b: str
    ratio: float
    low: float
    high: float
    p: float
    wilcoxon: float
    count: int
    holm: float = float("nan")

    @property
    def outcome(self) -> int:
        """−1 where `a` has less regret with p < 0.05, 1 where it has more, 0 where that cannot be told."""
        return 0 if not self.p < LEVEL else int(np.sign(np.log(self.ratio)))


def compare(task: str, a: str, b: str, first: Mapping[int, Record], second: Mapping[int, Record]) -> Comparison | None:
    """Two methods on the seeds of one task that both have; None if there are none.

    Examples
    --------
    >>> runs = lambda *regret: {seed: {"regret": [value]} for seed, value in enumerate(regret)}
    >>> found = compare("t", "a", "b", runs(1.0, 2.0, 4.0), runs(2.0, 4.0, 8.5, 9.0))
    >>> found.count, round(found.ratio, 2), found.outcome
    (3, 0.49, -1)
    """
    seeds = sorted(first.keys() & second.keys())
    if not seeds:
        return None
    logs = np.array([[np.log(max(total(runs[seed]), FLOOR)) for seed in seeds] for runs in (first, second)])
    gaps = logs[0] - logs[1]
    ratio = float(np.exp(gaps.mean()))
    nan = float("nan")
    if gaps.size == 1:
        return Comparison(task, a, b, ratio, nan, nan, nan, nan, 1)
    if np.ptp(gaps) == 0.0:  # the same ratio on every seed: no spread to test against
        p = nan if gaps.size < LEAST_SEEDS else 1.0 if gaps[0] == 0.0 else 0.0
        return Comparison(task, a, b, ratio, ratio, ratio, p, p, gaps.size)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # next to no spread
        test = stats.ttest_rel(*logs)
        low, high = test.confidence_interval(0.95)
    p, ranks = (float(test.pvalue), float(stats.wilcoxon(gaps).pvalue)) if gaps.size >= LEAST_SEEDS else (nan, nan)
    return Comparison(task, a, b, ratio, float(np.exp(low)), float(np.exp(high)), p, ranks, gaps.size)


def log_ratios(
    first: Mapping[int, Record], second: Mapping[int, Record], value: Callable[[Record], float | None] = total
) -> list[float]:
    """Logarithms of the ratios of a value, cumulative regret by default, on the seeds on which both runs have it.

    Examples
    --------
    >>> runs = lambda *regret: {seed: {"regret": [value]} for seed, value in enumerate(regret)}
    >>> [round(log, 3) for log in log_ratios(runs(1.0, 2.0), runs(2.0, 4.0, 9.0))]
    [-0.693, -0.693]
    """
    pairs = [(value(first[seed]), value(second[seed])) for seed in sorted(first.keys() & second.keys())]
    return [float(np.log(a / b)) for a, b in pairs if a is not None and b is not None]


def holm(p: Sequence[float]) -> Array:
    """P-values corrected by Holm's step-down; NaN stays NaN and does not count.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3)
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p, dtype=np.float64)
    out = np.full(values.shape, np.nan)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    steps = values[order] * np.arange(order.size, 0, -1)
    out[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return out


def against(runs: Runs, references: Sequence[str]) -> list[Comparison]:
    """Every reference against every other method on every task, Holm's correction over all comparisons."""
    found = []
    for task, methods in runs.items():
        for k, a in enumerate(references):
            for b in methods:
                if a in methods and b != a and b not in references[:k]:
                    found.append(compare(task, a, b, methods[a], methods[b]))
    made = [comparison for comparison in found if comparison is not None]
    corrected = holm([comparison.p for comparison in made])
    return [replace(comparison, holm=float(p)) for comparison, p in zip(made, corrected, strict=True)]


@dataclass(frozen=True)
class Ranking:
    """Average ranks of methods over tasks, 1 being the least regret.

    Attributes
    ----------
    ranks : dict of str to float
        From best to worst.
    tasks : tuple of str
    p : float
        Of Friedman's test that all methods are alike; NaN with fewer than three methods or two tasks.
    critical : float
        Difference of average ranks that Nemenyi's test calls significant at 5 %.
    worse : dict of str to float
        Nemenyi's p of each method against the best.
    """

    ranks: dict[str, float]
    tasks: tuple[str, ...]
    p: float
    critical: float
    worse: dict[str, float]


def ranking(runs: Runs, tasks: Sequence[str] | None = None) -> Ranking | None:
    """Ranks, by mean log cumulative regret over the seeds that all have, of methods that were run on all of the tasks.

    Only methods with three seeds on each task are ranked, since the seeds that all methods share decide, and a single
    method with fewer seeds would leave fewer for all. Where fewer than two methods have three seeds, all methods are
    ranked. None with fewer than two methods or no task. Where the methods share no seed on a task, each is ranked there
    by the seeds that it has.

    Examples
    --------
    >>> record = lambda task, method, seed, y: {"task": task, "method": method, "seed": seed, "regret": [y]}
    >>> runs = by_task([record(t, m, 0, y) for t in "pq" for m, y in (("a", 1.0), ("b", 2.0), ("c", 3.0))])
    >>> ranking(runs).ranks
    {'a': 1.0, 'b': 2.0, 'c': 3.0}
    """
    chosen = tuple(runs if tasks is None else (task for task in tasks if task in runs))

    def on_all(runs: Runs) -> list[str]:
        return [m for m in (runs[chosen[0]] if chosen else ()) if all(m in runs[task] for task in chosen)]

    common = next((found for found in (on_all(settled(runs)), on_all(runs)) if len(found) > 1), None)
    if common is None:
        return None
    scores = np.array([[_score(runs[task], method, common) for method in common] for task in chosen])
    mean = stats.rankdata(scores, axis=1).mean(axis=0)
    k, n = len(common), len(chosen)
    p = float(stats.friedmanchisquare(*scores.T).pvalue) if k > 2 and n > 1 else float("nan")
    unit = np.sqrt(k * (k + 1) / (6.0 * n))
    critical = float(stats.studentized_range.ppf(1.0 - LEVEL, k, np.inf) / np.sqrt(2.0) * unit)
    order = np.argsort(mean, kind="stable")
    gaps = (mean - mean.min()) / unit * np.sqrt(2.0)
    worse = {common[i]: float(stats.studentized_range.sf(gaps[i], k, np.inf)) for i in order}
    return Ranking({common[i]: float(mean[i]) for i in order}, chosen, p, critical, worse)


def _score(methods: Mapping[str, Mapping[int, Record]], method: str, common: Sequence[str]) -> float:
    shared = set.intersection(*(set(methods[name]) for name in common))
    seeds = shared or set(methods[method])
    return float(np.mean([np.log(max(total(methods[method][seed]), FLOOR)) for seed in seeds]))


@dataclass(frozen=True)
class Growth:
    """Exponent b of a cumulative regret that grows as n^b: mean over seeds, its 95 % interval, number of seeds."""

    exponent: float
    low: float
    high: float
    count: int


def growth(cumulative: Array) -> Growth:
    """Slope of log R_n on log n over the second half of the steps, for each seed; linear regret has slope 1.

    Parameters
    ----------
    cumulative : array, shape (seeds, steps)

    Examples
    --------
    >>> found = growth(np.sqrt(np.arange(1.0, 101.0))[None])
    >>> round(found.exponent, 6), found.count
    (0.5, 1)
    """
    seeds, steps = cumulative.shape
    n = np.arange(1, steps + 1)
    late = n > steps // 2
    if np.count_nonzero(late) < 2:
        return Growth(float("nan"), float("nan"), float("nan"), seeds)
    slopes = [stats.linregress(np.log(n[late]), np.log(np.maximum(row[late], FLOOR))).slope for row in cumulative]
    average = Average.of(slopes)
    reach = average.error * stats.t.ppf(0.975, seeds - 1) if seeds > 1 else float("nan")
    return Growth(average.mean, average.mean - reach, average.mean + reach, seeds)


def late_share(cumulative: Array, after: int = 60) -> Average | None:
    """Share of the cumulative regret that comes after step `after`: 0 on a plateau, 0.4 of 100 under linear growth."""
    if cumulative.shape[1] <= after:
        return None
    last = np.maximum(cumulative[:, -1], FLOOR)
    return Average.of(list((last - cumulative[:, after - 1]) / last))


def without_greedy(mine: Mapping[int, Record]) -> dict[int, Record]:
    """Runs with the regret set to 0 at the steps at which a uniform point was evaluated and not the method's."""
    out: dict[int, Record] = {}
    for seed, record in mine.items():
        regret = np.array(record["regret"], dtype=np.float64)
        regret[[n for n in record.get("greedy_steps", []) if n < regret.size]] = 0.0
        out[seed] = {**record, "regret": regret.tolist()}
    return out


def seconds(mine: Mapping[int, Record], clock: str = "seconds") -> float:
    """Median over seeds of the seconds of a run."""
    return float(np.median([np.sum(record[clock]) for record in mine.values()]))
