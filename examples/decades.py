"""Losses over eight decades, as they are and through the map that is learned by default: python examples/decades.py

A loss runs from 1e-5, at the best setting, to a thousand, and its noise is in proportion to it. In plain units all good
settings look alike.
"""

import numpy as np

import infgp

#: Evaluations of one search.
EVALUATIONS = 50
#: Searches of each kind; the median of their results is printed.
SEARCHES = 3
#: The best setting.
BEST = {"rate": 0.01, "momentum": 0.7}


def expected(rate: float, momentum: float) -> float:
    """The expected loss: a power of ten that grows with the distance from the best setting."""
    far = np.hypot((np.log10(rate) - np.log10(BEST["rate"])) / 4.0, momentum - BEST["momentum"])
    return float(10.0 ** min(8.0 * far - 5.0, 3.0))


def search(warp: str | None, seed: int) -> float:
    """The expected loss at what is recommended."""
    rng = np.random.default_rng(seed)
    space = {"rate": infgp.Float(1e-5, 1.0, log=True), "momentum": infgp.Float(0.0, 1.0)}
    result = infgp.minimize(
        lambda rate, momentum: expected(rate, momentum) * float(np.exp(0.3 * rng.standard_normal())),
        space,
        EVALUATIONS,
        seed=seed,
        warp=warp,
    )
    return expected(**result.point)


if __name__ == "__main__":
    print(f"The best expected loss is {expected(**BEST):.1e}.")
    for warp in (None, "auto"):
        losses = [search(warp, seed) for seed in range(SEARCHES)]
        print(f"warp={warp!r:10}: expected loss at the recommendation {np.median(losses):.1e}")
