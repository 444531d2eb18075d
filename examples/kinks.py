"""A landscape with a narrow tip: a search that learns how smooth it is, and one that takes it for smooth.

Run it with ``python examples/kinks.py``.
"""

import numpy as np

import infgp

#: Evaluations of one search.
EVALUATIONS = 40
#: Searches of each kind.
SEARCHES = 3


def expected(x: float) -> float:
    """Waves, a broad hill on the right, and on the left a narrow tip that is higher."""
    tip, hill = 2.0 - 12.0 * abs(x - 0.31) ** 0.8, 1.2 - 9.0 * (x - 0.85) ** 2
    return float(max(tip, hill) + 0.3 * np.sin(40.0 * x))


def search(kernel: str, seed: int) -> float:
    """The expected reward at what is recommended, after rewards with a little noise."""
    rng = np.random.default_rng(seed)
    result = infgp.maximize(
        lambda x: expected(x) + 0.02 * rng.standard_normal(),
        {"x": infgp.Float(0.0, 1.0)},
        EVALUATIONS,
        seed=seed,
        kernel=kernel,
    )
    return expected(**result.point)


if __name__ == "__main__":
    best = max(expected(x) for x in np.linspace(0.0, 1.0, 100_001))
    for kernel in ("se", "auto"):
        losses = [best - search(kernel, seed) for seed in range(SEARCHES)]
        print(f"kernel={kernel!r:6}: {np.mean(losses):.3f} below the tip on average")
