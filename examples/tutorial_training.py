"""A noisy training run on images of digits: python examples/tutorial_training.py

A small network learns to read handwritten digits from 300 images. Every training draws other images, other first
weights and another order, so that the same settings give another accuracy each time. With a large learning rate a
training goes well or falls apart.
"""

# --8<-- [start:setup]
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

import infgp

#: Trainings of the search.
BUDGET = 50
#: Further trainings by which two settings are compared in the end.
AGAIN = 30

SPACE = {
    "rate": infgp.Float(1e-4, 1.0, log=True),
    "momentum": infgp.Float(0.0, 0.99),
    "width": infgp.Int(4, 64, log=True),
}
images, digits = load_digits(return_X_y=True)
images = images / 16.0
# --8<-- [end:setup]


# --8<-- [start:accuracy]
def accuracy(rng: np.random.Generator, rate: float, momentum: float, width: int) -> float:
    """Train once, and return the share of 700 other images that are read correctly."""
    order = rng.permutation(len(digits))
    train, test = order[:300], order[300:1000]
    network = MLPClassifier(
        (width,),
        solver="sgd",
        learning_rate_init=rate,
        momentum=momentum,
        batch_size=20,
        max_iter=8,
        random_state=int(rng.integers(2**31)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # eight passes over the images are all there is time for
        network.fit(images[train], digits[train])
    return float(network.score(images[test], digits[test]))


# --8<-- [end:accuracy]


# --8<-- [start:search]
def search() -> infgp.Result:
    """Find settings with a high expected accuracy."""
    rng = np.random.default_rng(0)
    return infgp.maximize(lambda point: accuracy(rng, **point), SPACE, BUDGET, seed=0)


# --8<-- [end:search]


if __name__ == "__main__":
    # --8<-- [start:answer]
    result = search()
    print(result)
    # --8<-- [end:answer]
    # --8<-- [start:again]
    rng = np.random.default_rng(1)
    lucky = result.optimizer.best_observed
    for name, point in (("recommended", result.point), ("luckiest", lucky.point)):
        scores = [accuracy(rng, **point) for _ in range(AGAIN)]
        worst, mean = min(scores), np.mean(scores)
        print(f"{name:11s}: {AGAIN} further trainings have mean accuracy {mean:.3f}; the worst has {worst:.3f}")
    # --8<-- [end:again]
