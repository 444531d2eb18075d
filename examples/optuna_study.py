"""An Optuna study searched by infgp: python examples/optuna_study.py

Needs the extra `optuna`. The loss is noisy, and one training in ten diverges.
"""

import numpy as np
import optuna

from infgp.optuna import InfGPSampler

rng = np.random.default_rng(0)


# --8<-- [start:study]
def objective(trial: optuna.Trial) -> float:
    """One training."""
    rate = trial.suggest_float("rate", 1e-5, 1.0, log=True)
    layers = trial.suggest_int("layers", 1, 8)
    diverged = rng.random() < 0.1
    return (np.log10(rate) + 3.0) ** 2 + 0.1 * (layers - 4) ** 2 + 0.2 * rng.standard_normal() + 40.0 * diverged


optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(direction="minimize", sampler=InfGPSampler(seed=0))
study.optimize(objective, n_trials=30)
print(study.sampler.recommend(study))  # the best expected value, with its uncertainty
print("luckiest trial:", study.best_trial.number, study.best_params)  # not the same
# --8<-- [end:study]
