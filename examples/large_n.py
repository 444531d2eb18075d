"""A search that goes on from 20 000 earlier rewards of a simulator, one in twenty of them spoiled.

Run: python examples/large_n.py
"""

from __future__ import annotations

import time

import numpy as np

import infgp

#: Rewards of earlier runs.
EARLIER = 20_000
#: Further evaluations.
FURTHER = 10
NAMES = ("a", "b", "c", "d", "e")


def profit(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """Noisy profits at the rows of x; the best is 0 at 0.3 in every input, and some are spoiled."""
    noise = 0.2 * rng.standard_normal(x.shape[0])
    spoiled = rng.random(x.shape[0]) < 0.05
    return -4.0 * np.sum((x - 0.3) ** 2, axis=1) + np.where(spoiled, 50.0 * noise, noise)


def main() -> None:
    """Tell all rewards at once, and go on."""
    rng = np.random.default_rng(0)
    x = rng.random((EARLIER, len(NAMES)))
    optimizer = infgp.Optimizer({name: infgp.Float(0.0, 1.0) for name in NAMES}, seed=0)
    optimizer.tell_many(x, profit(rng, x))  # an array, or a data frame of pandas, polars or Arrow
    for _ in range(FURTHER):
        begin = time.perf_counter()
        point = optimizer.ask()
        print(f"asked for a point in {time.perf_counter() - begin:.1f} s")
        optimizer.tell(point, float(profit(rng, np.array([list(point.values())]))[0]))
    best = optimizer.recommend()
    print(best)
    gap = np.abs(np.array(list(best.point.values())) - 0.3).max()
    print(f"The recommended point is within {gap:.2f} of the best one in every input.")


if __name__ == "__main__":
    main()
