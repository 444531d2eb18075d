"""A budget in money: trainings of more epochs cost more, and a run ends when its money is spent.

The cost of a training is told with its reward. With `per_cost=True` it is learned, as the reward is, and what a
training is expected to add is divided by what it is expected to cost: there are more trainings for the same money.

Run: python examples/costs.py
"""

from __future__ import annotations

import numpy as np

import infgp

#: Euros for one epoch of training.
PRICE = 0.1
#: Euros that may be spent.
MONEY = 60.0


def expected(rate: float, epochs: int) -> float:
    """The expected accuracy, which is best at a rate of 0.01 and grows with the epochs, up to about twenty."""
    return float(0.9 - 0.1 * abs(np.log10(rate) + 2.0) - 0.3 * np.exp(-epochs / 5.0))


def main() -> None:
    """Search until the money is spent, without regard to costs and per cost."""
    space = {"rate": infgp.Float(1e-4, 1.0, log=True), "epochs": infgp.Int(1, 50)}
    for per_cost in (False, True):
        rng = np.random.default_rng(0)
        result = infgp.maximize(
            lambda rate, epochs, rng=rng: expected(rate, epochs) + 0.01 * rng.standard_normal(),
            space,
            budget=1000,
            seed=0,
            cost=lambda point: PRICE * point["epochs"],
            max_cost=MONEY,
            per_cost=per_cost,
        )
        point = result.point
        print(f"per_cost={per_cost}: {len(result.observations)} trainings cost {result.cost:.2f} euros.")
        print(f"  recommended: rate {point['rate']:.4f}, {point['epochs']} epochs")
        print(f"  expected accuracy there: {expected(**point):.3f}")


if __name__ == "__main__":
    main()
