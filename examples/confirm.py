"""The best trial was lucky and does not reproduce: python examples/confirm.py

A model is trained with a learning rate, and its score is noisy: the larger the rate, the more so. The best trial of a
study is then a lucky one with a large rate. The question to ask the study is not which trial had the best score, but
which point is best, and with what probability; and the test is to train again, twenty times each.
"""

import numpy as np
import optuna

from infgp.optuna import InfGPSampler

#: Trials of the search.
SEARCH = 40
#: Trials that evaluate the best points again.
CONFIRM = 10
#: Trainings by which the luckiest point and the recommended one are compared in the end.
AGAIN = 20


def score(rate: float, rng: np.random.Generator) -> float:
    """Score of one training."""
    worth = 0.9 - 0.05 * np.log10(rate / 1e-3) ** 2
    return float(worth + (0.02 + 2.0 * rate / (0.1 + 4.0 * rate)) * rng.standard_t(4))


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    rng = np.random.default_rng(1)
    sampler = InfGPSampler(seed=0, confirm_after=SEARCH)
    study = optuna.create_study(direction="maximize", sampler=sampler)

    def objective(trial: optuna.Trial) -> float:
        """One training."""
        return score(trial.suggest_float("rate", 1e-5, 1e-1, log=True), rng)

    for name, trials in (("search", SEARCH), ("confirmation", CONFIRM)):
        study.optimize(objective, n_trials=trials)
        every = sampler.candidates(study, top=SEARCH + CONFIRM)
        luckiest = next(row for row in every if row.point == study.best_params)
        print(f"After the {name}, the best trial has the score {study.best_value:.3f} at {study.best_params}.")
        print(f"That its point is the best one has the probability {luckiest.probability:.0%}. Those that may be best:")
        print(sampler.candidates(study, top=3))
        print()
    print(sampler.regret(study))
    print()
    points = {"luckiest": study.best_params, "recommended": sampler.recommend(study).point}
    for name, point in points.items():
        mean = np.mean([score(point["rate"], rng) for _ in range(AGAIN)])
        print(f"{name:>11}: rate {point['rate']:.5f}, mean score of {AGAIN} further trainings {mean:.3f}")
