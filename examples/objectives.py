"""One function, four answers to the question which input is best: python examples/objectives.py

A machine yields more the faster it runs, and now and then it breaks down: hardly ever when it is slow, one hour in five
at full speed. A breakdown costs twenty units.
"""

import numpy as np

import infgp
from infgp.search.outcomes import Recommendation

#: What is asked of the rewards, by a name to be printed.
QUESTIONS = {
    "mean": {"objective": "mean"},
    "mean of the worst tenth": {"objective": ("cvar", 0.1)},
    "median": {"objective": "median"},
    "mean, outliers ignored": {"objective": "mean", "outliers": "ignore"},
}


def chance(speed: float) -> float:
    """Chance of a breakdown in one hour."""
    return 0.2 * speed**3


def output(rng: np.random.Generator, speed: float) -> float:
    """Output of one hour."""
    return 6.0 + 3.0 * speed - 20.0 * (rng.random() < chance(speed)) + 0.3 * rng.standard_normal()


def expected(speed: float) -> float:
    """The true mean of the output."""
    return 6.0 + 3.0 * speed - 20.0 * chance(speed)


def answer(hours: int = 120, **options: object) -> Recommendation:
    """The recommendation after some hours at all speeds; every question is asked of the same hours."""
    rng, optimizer = np.random.default_rng(0), infgp.Optimizer({"speed": infgp.Float(0.0, 1.0)}, seed=0, **options)
    for speed in rng.random(hours):
        optimizer.tell({"speed": float(speed)}, output(rng, speed))
    return optimizer.recommend()


if __name__ == "__main__":
    answers = {name: answer(**options) for name, options in QUESTIONS.items()}
    print("question                 recommended speed  true mean there  chance of a breakdown there")
    for name, found in answers.items():
        speed = found.point["speed"]
        print(f"{name:23s}  {speed:17.2f}  {expected(speed):15.1f}  {chance(speed):27.3f}")
    for name, found in answers.items():
        print(f"\n{name}\n{found}")
