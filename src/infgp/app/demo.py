"""The demo: a noisy function with several peaks and heavy-tailed noise, optimized with one GP and with the ∞-GP."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.search.optimizer import Optimizer
from infgp.search.outcomes import Recommendation
from infgp.space import Float

#: Smallest input of the demo's function.
LOW = 0.0
#: Largest input of the demo's function.
HIGH = 10.0
SPACE = {"x": Float(LOW, HIGH)}
#: What each optimizer is made with. The story is one of measurements that are wrong now and then.
CONTESTANTS: dict[str, dict[str, Any]] = {"one GP": {"surfaces": 1}, "∞-GP": {"outliers": "ignore"}}


def truth(x: FloatArray) -> FloatArray:
    """The expected reward: four peaks, the highest near x = 8.0."""
    return np.asarray(np.sin(2.4 * x + 1.2) + 0.16 * x - 0.9 * np.exp(-0.5 * ((x - 4.0) / 1.5) ** 2))


def reward(rng: np.random.Generator, x: float) -> float:
    """One noisy reward: the truth, some noise, and one time in eight an error of up to ten times the range.

    Examples
    --------
    >>> isinstance(reward(np.random.default_rng(0), 1.0), float)
    True
    """
    noise = 0.25 * rng.standard_normal()
    if rng.random() < 0.125:
        noise += rng.uniform(10.0, 40.0) * rng.choice([-1.0, 1.0])
    return float(truth(np.array(x)) + noise)


@dataclass(frozen=True, eq=False)
class DemoRun:
    """One contestant's run: evaluations, regret after each, and the belief at the end on a grid."""

    name: str
    x: FloatArray
    y: FloatArray
    regret: FloatArray
    recommendation: Recommendation
    mean: FloatArray
    std: FloatArray


def grid() -> FloatArray:
    """Inputs for the picture."""
    return np.linspace(LOW, HIGH, 401)


def best_expected() -> float:
    """The largest expected reward."""
    return float(truth(np.linspace(LOW, HIGH, 100_001)).max())


def run(name: str, budget: int, seed: int, say: Callable[[str], object]) -> DemoRun:
    """One run. All contestants meet the same noise: the n-th evaluation of each draws from the same stream.

    Examples
    --------
    >>> run("∞-GP", 8, 0, say=lambda line: None).y.shape
    (8,)
    """
    optimizer = Optimizer(SPACE, seed=seed, **CONTESTANTS[name])
    best, x, y = best_expected(), np.empty(budget), np.empty(budget)
    begin = time.perf_counter()
    for n in range(budget):
        point = optimizer.ask()
        x[n] = point["x"]
        y[n] = reward(np.random.default_rng([seed, n]), x[n])
        optimizer.tell(point, y[n])
        if (n + 1) % 10 == 0:
            at = optimizer.recommend()
            loss = best - float(truth(np.array(at.point["x"])))
            say(f"  {name:>6}, {n + 1:3d} evaluations: recommends x = {at.point['x']:5.2f}, {loss:.3f} below the best")
    final = optimizer.recommend()
    mean, std = optimizer.predict([{"x": float(v)} for v in grid()])
    say(f"  {name:>6}: {time.perf_counter() - begin:.1f} s")
    return DemoRun(name, x, y, best - truth(x), final, mean, std)
