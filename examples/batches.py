"""Batches: four points at a time: python examples/batches.py

An oven takes four samples at once, and one firing in ten goes wrong.
"""

import numpy as np

import infgp

rng = np.random.default_rng(0)


def hardness(heat: float, hours: float) -> float:
    """Hardness of one sample."""
    wrong = rng.random() < 0.1
    return 60.0 - ((heat - 850.0) / 60.0) ** 2 - (hours - 3.0) ** 2 + rng.normal() - 40.0 * wrong


# --8<-- [start:batch]
space = {"heat": infgp.Float(600.0, 1100.0), "hours": infgp.Float(0.5, 6.0)}
optimizer = infgp.Optimizer(space, seed=0)
for _ in range(10):
    batch = optimizer.ask(4)  # four points that differ
    optimizer.tell_many(batch, [hardness(**point) for point in batch])  # all at once, in any order
print(optimizer.recommend())
# --8<-- [end:batch]
