"""The law of a further reward, and what may be read off it: python examples/reward_law.py

One batch in seven is spoiled, and the larger it is the more is lost. The typical profit grows with the size of a batch,
the mean profit hardly does, and the worst profits fall.
"""

import numpy as np

import infgp


def profit(rng: np.random.Generator, size: float) -> float:
    """Profit of one batch, in thousands."""
    spoiled = rng.random() < 1.0 / 7.0
    return 10.0 + 4.0 * size - (3.0 + 27.0 * size) * spoiled + 0.3 * rng.standard_normal()


def told(batches: int = 60) -> infgp.Optimizer:
    """A search that was told of earlier batches of all sizes."""
    rng, optimizer = np.random.default_rng(0), infgp.Optimizer({"size": infgp.Float(0.0, 1.0)}, seed=0)
    for size in rng.random(batches):
        optimizer.tell({"size": float(size)}, profit(rng, size))
    return optimizer


if __name__ == "__main__":
    sizes = [0.1, 0.5, 0.9]
    law = told().law([{"size": size} for size in sizes])
    print("size  median  mean  mean of the worst tenth  P(profit above 5)")
    for row in zip(sizes, law.median, law.mean, law.cvar(0.1), law.probability(5.0), strict=True):
        print("{:4.1f}  {:6.1f}  {:4.1f}  {:23.1f}  {:17.2f}".format(*row))
    low, high = law.quantile([0.05, 0.95])[-1]
    print(f"Nine in ten batches of size {sizes[-1]} bring between {low:.1f} and {high:.1f}.")
