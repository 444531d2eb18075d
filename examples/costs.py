"""A budget in money: trainings of more epochs cost more, and the run ends when fifty euros are spent.

Run: python examples/costs.py
"""

from __future__ import annotations

import numpy as np

import infgp

#: Euros for one epoch of training.
PRICE = 0.1
#: Euros that may be spent.
MONEY = 50.0


def accuracy(rng: np.random.Generator, rate: float, epochs: int) -> float:
    """A noisy accuracy that is best at a rate of 0.01, and grows with the epochs."""
    return float(0.9 - 0.1 * abs(np.log10(rate) + 2.0) - 0.3 * np.exp(-epochs / 10.0) + 0.01 * rng.standard_normal())


def main() -> None:
    """Search until the money is spent."""
    rng = np.random.default_rng(0)
    space = {"rate": infgp.Float(1e-4, 1.0, log=True), "epochs": infgp.Int(1, 50)}
    result = infgp.maximize(
        lambda rate, epochs: accuracy(rng, rate, epochs),
        space,
        budget=1000,
        seed=0,
        cost=lambda point: PRICE * point["epochs"],
        max_cost=MONEY,
    )
    print(result)
    print(f"{len(result.observations)} trainings cost {result.cost:.2f} euros; stopped by {result.stopped_by}.")


if __name__ == "__main__":
    main()
