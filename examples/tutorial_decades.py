"""Losses over decades: how fast does gradient descent learn a linear model? python examples/tutorial_decades.py

The data are 442 diabetes patients with ten measurements each. Step size, momentum and decay are tuned so that the loss
after 200 steps is small. Losses run over many decades, and where the step is too large the loss overflows.
"""

# --8<-- [start:setup]
import numpy as np
from sklearn.datasets import load_diabetes

import infgp

#: Runs of gradient descent in one search.
BUDGET = 60
#: Steps of one run.
STEPS = 200
SPACE = {"step": infgp.Float(1e-4, 10.0, log=True), "momentum": infgp.Float(0.0, 0.99)}

measured, progression = load_diabetes(return_X_y=True)
measured = measured / measured.std(axis=0)
progression = (progression - progression.mean()) / progression.std()
best, *_ = np.linalg.lstsq(measured, progression, rcond=None)
# --8<-- [end:setup]


# --8<-- [start:loss]
def loss(rng: np.random.Generator, step: float, momentum: float) -> float | None:
    """How much worse than the best linear model the one is that gradient descent finds; None if it overflows."""
    weights = rng.standard_normal(measured.shape[1])  # the start is random, and so is the loss
    speed = np.zeros_like(weights)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(STEPS):
            speed = momentum * speed - step * measured.T @ (measured @ weights - progression) / len(progression)
            weights = weights + speed
        excess = float(np.mean((measured @ (weights - best)) ** 2))
    return excess if excess < 1e30 else None


# --8<-- [end:loss]


if __name__ == "__main__":
    # --8<-- [start:search]
    for warp in ("auto", None):
        rng = np.random.default_rng(0)
        result = infgp.minimize(lambda point, rng=rng: loss(rng, **point), SPACE, BUDGET, seed=0, warp=warp)
        seen = [o.value for o in result.observations if o.value is not None]
        again = np.median([loss(rng, **result.point) for _ in range(100)])
        print(f"warp={warp!r}: {len(seen)} losses from {min(seen):.1e} to {max(seen):.1e}, {BUDGET - len(seen)} failed")
        print(f"  recommended: step {result.point['step']:.3f}, momentum {result.point['momentum']:.3f}")
        print(f"  median loss of 100 further runs there: {again:.1e}")
    # --8<-- [end:search]
