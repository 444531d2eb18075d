"""Stop bad evaluations early: python examples/pruning.py

A setting is judged by the mean score over fifteen random splits of the data. Most settings are seen to be bad after a
few splits. Optuna's pruners stop those, and InfGPSampler chooses the settings: WilcoxonPruner compares the scores of a
trial, split by split, with those of the best trial so far. A pruned trial is a poor point to the sampler.
"""

import warnings

import numpy as np
import optuna
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from infgp.optuna import InfGPSampler

#: Trials of each study.
TRIALS = 15
#: Random splits of the data by which a setting is judged.
SPLITS = 15

optuna.logging.set_verbosity(optuna.logging.WARNING)
warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
x, y = load_breast_cancer(return_X_y=True)
splits = list(ShuffleSplit(SPLITS, train_size=150, test_size=150, random_state=0).split(x))


def score(penalty: float, gamma: float, split: int) -> float:
    """Accuracy of a support vector machine on one split."""
    model = make_pipeline(StandardScaler(), SVC(C=penalty, gamma=gamma))
    return float(cross_val_score(model, x, y, cv=[splits[split]])[0])


def objective(trial: optuna.Trial) -> float:
    """Mean accuracy over all splits."""
    penalty = trial.suggest_float("penalty", 1e-2, 1e4, log=True)
    gamma = trial.suggest_float("gamma", 1e-6, 1.0, log=True)
    scores: list[float] = []
    for split in np.random.default_rng(trial.number).permutation(SPLITS).tolist():
        scores.append(score(penalty, gamma, split))
        trial.report(scores[-1], split)
        if trial.should_prune():
            raise optuna.TrialPruned
    return float(np.mean(scores))


for pruner in (optuna.pruners.NopPruner(), optuna.pruners.WilcoxonPruner(p_threshold=0.1, n_startup_steps=4)):
    study = optuna.create_study(direction="maximize", sampler=InfGPSampler(seed=0), pruner=pruner)
    study.optimize(objective, n_trials=TRIALS)
    trainings = sum(len(trial.intermediate_values) for trial in study.trials)
    best = study.sampler.recommend(study)
    again = np.mean([score(**best.point, split=split) for split in range(SPLITS)])
    print(f"{type(pruner).__name__:15s} {trainings:3d} trainings, recommended {best.point}, accuracy {again:.3f}")
