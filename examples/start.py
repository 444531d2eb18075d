"""The first search: python examples/start.py

A gauge measures how much a press yields at a temperature and a pressure. One measurement in ten is nonsense.
"""

# --8<-- [start:function]
import numpy as np

import infgp

rng = np.random.default_rng(0)


def measured_yield(temperature: float, pressure: float) -> float:
    """One measurement: a noisy yield in per cent, and now and then nonsense."""
    true = 80.0 - ((temperature - 320.0) / 20.0) ** 2 - ((pressure - 4.0) / 1.5) ** 2
    nonsense = rng.uniform(-100.0, 100.0) if rng.random() < 0.1 else 0.0
    return true + rng.normal(0.0, 1.0) + nonsense


# --8<-- [end:function]
# --8<-- [start:search]
space = {"temperature": infgp.Float(200.0, 450.0), "pressure": infgp.Float(1.0, 9.0)}
result = infgp.maximize(measured_yield, space, budget=40, seed=0, outliers="ignore")
print(result)
# --8<-- [end:search]
# --8<-- [start:asktell]
optimizer = infgp.Optimizer(space, seed=0, outliers="ignore")
for _ in range(40):
    point = optimizer.ask()
    optimizer.tell(point, measured_yield(**point))  # measure wherever and however you like
print(optimizer.recommend())
# --8<-- [end:asktell]
