"""Which classifier, with which of its own settings: python examples/conditional.py

A support vector machine, nearest neighbours and a random forest have nothing in common but the data. Each has settings
that mean nothing to the other two: a parameter with a condition, when={"model": …}, applies to one model only. A point
has the parameters that apply to it, and the function has default values for the others.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import ShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import infgp

#: Trainings of a classifier in the search.
TRAININGS = 40

SPACE = {
    "model": infgp.Choice(["svm", "neighbours", "forest"]),
    "penalty": infgp.Float(1e-2, 1e3, log=True, when={"model": "svm"}),
    "kernel": infgp.Choice(["linear", "rbf"], when={"model": "svm"}),
    "gamma": infgp.Float(1e-4, 1.0, log=True, when={"kernel": "rbf"}),
    "neighbours": infgp.Int(1, 31, step=2, when={"model": "neighbours"}),
    "trees": infgp.Int(5, 40, step=5, when={"model": "forest"}),
    "share": infgp.Float(0.1, 1.0, step=0.1, when={"model": "forest"}),
}


def classifier(
    model: str,
    penalty: float | None = None,
    kernel: str | None = None,
    gamma: float = 1.0,
    neighbours: int | None = None,
    trees: int | None = None,
    share: float | None = None,
) -> object:
    """A classifier; settings that its model does not have are left at None."""
    if model == "svm":
        return make_pipeline(StandardScaler(), SVC(C=penalty, kernel=kernel, gamma=gamma))
    if model == "neighbours":
        return make_pipeline(StandardScaler(), KNeighborsClassifier(neighbours))
    return RandomForestClassifier(trees, max_features=share, random_state=0)


def accuracy(rng: np.random.Generator, splits: int, **point: object) -> float:
    """Share of the wines that are told apart after training on a third of them, on random splits."""
    data, kinds = load_wine(return_X_y=True)
    split = ShuffleSplit(splits, train_size=1 / 3, random_state=int(rng.integers(2**31)))
    return float(cross_val_score(classifier(**point), data, kinds, cv=split).mean())


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    result = infgp.maximize(lambda point: accuracy(rng, 1, **point), SPACE, TRAININGS, seed=0)
    for model in SPACE["model"].options:
        seen = [o.value for o in result.observations if o.point["model"] == model]
        print(f"{model:10s} {len(seen):2d} trainings, mean accuracy {np.mean(seen):.3f}")
    print("recommended:", result.point)
    print(
        f"expected accuracy {result.recommendation.mean:.3f}, on 50 new splits {accuracy(rng, 50, **result.point):.3f}"
    )
