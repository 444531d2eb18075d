"""The best trial was lucky and does not reproduce (optuna#2600): python examples/lucky_best.py

A model is trained with a learning rate and a weight decay, and its score is noisy: the larger the rate, the more so. A
study by Optuna's own sampler ends, and its best trial is a lucky one with a large rate. The question to ask the study
is not which trial had the best score, but which point is best, and with what probability. Ten further trainings are
spent on finding that out. The test is to train both points again, twenty times each.
"""

import numpy as np
import optuna

from infgp.optuna import InfGPSampler

#: Trials of the study.
SEARCH = 60
#: Trials that evaluate the best points again.
CONFIRM = 10
#: Trainings by which the luckiest point and the recommended one are compared in the end.
AGAIN = 20


def expected(rate: float, decay: float) -> float:
    """Expected score, 0.9 at best."""
    return float(0.9 - 0.05 * np.log10(rate / 1e-3) ** 2 - 0.02 * np.log10(decay / 1e-4) ** 2)


def score(rng: np.random.Generator, rate: float, decay: float) -> float:
    """Score of one training."""
    noise = 0.02 + 2.0 * rate / (0.1 + 4.0 * rate)
    return expected(rate, decay) + float(noise * rng.standard_t(4))


def said(point: dict[str, float]) -> str:
    """A point, in short."""
    return f"rate {point['rate']:.5f}, decay {point['decay']:.6f}"


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    rng = np.random.default_rng(1)

    def objective(trial: optuna.Trial) -> float:
        """One training."""
        rate = trial.suggest_float("rate", 1e-5, 1e-1, log=True)
        return score(rng, rate, trial.suggest_float("decay", 1e-6, 1e-2, log=True))

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=SEARCH)
    luckiest = dict(study.best_params)
    print(f"The best of {SEARCH} trials has the score {study.best_value:.3f}: {said(luckiest)}.")

    sampler = InfGPSampler(seed=0, confirm_after=SEARCH)  # what it knows, it learns from the trials of the study
    study.sampler = sampler
    for name in ("the study", f"{CONFIRM} trainings more of points that may be best"):
        rows, best = sampler.candidates(study, top=SEARCH + CONFIRM), sampler.recommend(study)
        lucky, recommended = (
            next(row.probability for row in rows if row.point == point) for point in (luckiest, best.point)
        )
        print(f"\nAfter {name}, that its point is the best one has the probability {lucky:.0%}.")
        print(f"Recommended: {said(best.point)}, expected score {best.mean:.3f} ± {best.std:.3f}.")
        print(f"That this point is the best one has the probability {recommended:.0%}.")
        left = sampler.regret(study).quantile(0.9)
        print(f"With probability 0.9, no point is better than the recommended one by more than {left:.3f}.")
        if len(study.trials) == SEARCH:
            study.optimize(objective, n_trials=CONFIRM)

    print(f"\n{AGAIN} further trainings of both points:")
    for name, point in (("luckiest", luckiest), ("recommended", best.point)):
        mean = np.mean([score(rng, **point) for _ in range(AGAIN)])
        print(f"{name:>11}: mean score {mean:.3f}, expected {expected(**point):.3f}")
