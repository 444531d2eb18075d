"""The paper's algorithm as printed, and Thompson sampling with infgp's own model: python examples/presets.py

Rewards have Weibull noise, which is heavy-tailed: most rewards are near the hill, and some are far above it.
"""

import numpy as np

import infgp

#: Evaluations of one search.
BUDGET = 40
SPACE = {"x": infgp.Float(0.0, 1.0), "y": infgp.Float(0.0, 1.0)}


def expected(x: float, y: float) -> float:
    """Expected reward; it is 0 at the best point."""
    return -4.0 * (x - 0.3) ** 2 - 4.0 * (y - 0.8) ** 2


def search(preset: str) -> infgp.Optimizer:
    """A search with a preset."""
    rng = np.random.default_rng(0)
    noise = 0.1 * (rng.weibull(0.5, BUDGET) - 2.0)  # its mean is 0
    rewards = iter(noise)
    result = infgp.maximize(lambda x, y: expected(x, y) + next(rewards), SPACE, BUDGET, seed=0, preset=preset)
    return result.optimizer


if __name__ == "__main__":
    print("preset     regret of an evaluation  regret of the recommendation")
    for preset in ("paper", "thompson"):
        optimizer = search(preset)
        along = -np.mean([expected(**o.point) for o in optimizer.observations])
        final = -expected(**optimizer.recommend().point)
        print(f"{preset:9s}  {along:23.3f}  {final:28.4f}")
    try:
        infgp.Optimizer(SPACE, preset="paper", ard=True)
    except infgp.InvalidInputError as error:
        print(error)
