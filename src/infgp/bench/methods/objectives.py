"""Methods for a functional of the reward law: infgp with that objective, and the usual way, replicates and a GP."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from infgp.bench.core import Method, Run
from infgp.bench.methods.history import FloatArray

#: Number of rewards at each point of the usual way, for the median.
FEW = 5
#: Number of rewards at each point of the usual way, for functionals of the tail and for chances.
MANY = 10


def empirical(objective: str | tuple[str, float], rewards: FloatArray) -> float:
    """A functional of some rewards.

    Examples
    --------
    >>> rewards = np.arange(10.0)
    >>> [empirical(one, rewards) for one in ("mean", "median", ("quantile", 0.1), ("cvar", 0.2), ("probability", 6.5))]
    [4.5, 4.5, 0.9, 0.5, 0.3]
    """
    if isinstance(objective, str):
        return float(np.mean(rewards) if objective == "mean" else np.median(rewards))
    kind, number = objective
    if kind == "quantile":
        return float(np.quantile(rewards, number))
    if kind == "cvar":
        worst = np.sort(rewards)[: max(round(number * rewards.size), 1)]
        return float(np.mean(worst))
    return float(np.mean(rewards > number))


class ReplicatesRun:
    """Several rewards at each point, whose functional is given to a GP: infgp with one surface.

    A point that it has been told once is evaluated until it has as many rewards as all others, also if it comes from
    the initial design. A point that has fewer in the end is not given to the GP.

    Examples
    --------
    >>> running = ReplicatesRun(1, 0, "median", 3)
    >>> running.tell(np.array([0.2]), 1.0)
    >>> running.ask()
    array([0.2])
    """

    def __init__(self, d: int, seed: int, objective: str | tuple[str, float], size: int) -> None:
        from infgp.bench.methods.infinite import DefaultRun

        self.objective, self.size = objective, size
        self.inner = DefaultRun(d, seed, surfaces=1, goal="along")
        self._begun: dict[tuple[float, ...], list[float]] = {}

    def ask(self) -> FloatArray:
        """The point that lacks rewards, or else the next one."""
        for point in self._begun:
            return np.array(point)
        return self.inner.ask()

    def tell(self, x: FloatArray, y: float) -> None:
        """Take in the reward y of point x."""
        point = tuple(map(float, x))
        rewards = self._begun.setdefault(point, [])
        rewards.append(y)
        if len(rewards) == self.size:
            del self._begun[point]
            self.inner.tell(x, empirical(self.objective, np.array(rewards)))

    def recommend(self) -> FloatArray:
        """The point with the best expected functional."""
        return self.inner.recommend()


def _own(d: int, seed: int, objective: str | tuple[str, float], goal: str) -> Run:
    from infgp.bench.methods.infinite import DefaultRun

    return DefaultRun(d, seed, objective=objective, goal=goal)


@cache
def methods_for(objective: str | tuple[str, float]) -> dict[str, Method]:
    """The methods that know what is optimised, by name.

    Examples
    --------
    >>> [method.label for method in methods_for("median").values()]
    ['infgp, its objective, goal: final', 'infgp, its objective, goal: along', '5 replicates, GP']
    """
    size = FEW if objective == "median" else MANY
    return {
        **{
            name: Method(name, f"infgp, its objective, goal: {goal}", partial(_own, objective=objective, goal=goal))
            for name, goal in (("infgp-objective-final", "final"), ("infgp-objective", "along"))
        },
        "replicates": Method(
            "replicates", f"{size} replicates, GP", partial(ReplicatesRun, objective=objective, size=size)
        ),
    }
