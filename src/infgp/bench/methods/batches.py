"""Methods that choose several points before they are told the rewards of any of them.

The runner asks for one point at a time and tells its reward at once. The classes here keep rewards back: until a batch
is complete, or, as with workers of equal speed, until the reward of the point that was asked for `workers` steps ago.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any

from infgp.bench.methods.fitted import RAW, FittedRun
from infgp.bench.methods.gaussian import STARTS, load
from infgp.bench.methods.history import FloatArray
from infgp.bench.methods.infinite import DefaultRun


class WorkersRun(DefaultRun):
    """:class:`infgp.Optimizer` with some evaluations under way at any time.

    Parameters
    ----------
    d, seed : int
    workers : int
        Number of points that are evaluated at the same time.
    together : bool
        Whether all of them are asked for and told together, as a batch; else one is asked for whenever one is told.
    options : optional
        Of `infgp.Optimizer`.

    Examples
    --------
    >>> import numpy as np
    >>> run = WorkersRun(1, 0, workers=2, together=False)
    >>> for x in (0.1, 0.5, 0.9):
    ...     run.tell(np.array([x]), x)
    >>> run.tell(run.ask(), 1.0)
    >>> len(run.optimizer.observations), len(run.optimizer.pending)
    (3, 1)
    """

    def __init__(self, d: int, seed: int, workers: int, together: bool, **options: Any) -> None:
        super().__init__(d, seed, **options)
        self.workers, self.together = workers, together
        self.asked: deque[dict[str, Any]] = deque()
        self.waiting: list[tuple[dict[str, Any], float]] = []

    def ask(self) -> FloatArray:
        """The next point; of a batch, all points are asked for with its first."""
        if not self.asked:
            self.asked.extend(self.optimizer.ask(self.workers if self.together else 1))
        return self._array(self.asked[0])

    def tell(self, x: FloatArray, y: float) -> None:
        """Take in a reward, or keep it back. A point that was not asked for, as those of a design, is told at once."""
        if not self.asked:
            super().tell(x, y)
            return
        self.waiting.append((self.asked.popleft(), y))
        if len(self.waiting) >= self.workers:
            self._release(self.workers if self.together else 1)

    def recommend(self) -> FloatArray:
        """The point with the best expected reward, given all rewards."""
        self._release(len(self.waiting))
        return super().recommend()

    def _release(self, count: int) -> None:
        for point, y in self.waiting[:count]:
            self.optimizer.tell(point, y)
        del self.waiting[:count]


class FittedBatchRun(FittedRun):
    """BoTorch's qLogNEI for batches: the points of a batch are chosen one after the other, each given those before it.

    Parameters
    ----------
    d, seed : int
    size : int
        Number of points of a batch.

    Examples
    --------
    >>> FittedBatchRun(2, 0, size=4).size
    4
    """

    def __init__(self, d: int, seed: int, size: int) -> None:
        super().__init__(d, seed, noisy=True)
        self.acquire = partial(noisy_improvements, size=size)
        self.size = size
        self.asked: deque[FloatArray] = deque()
        self.waiting: list[tuple[FloatArray, float]] = []

    def ask(self) -> FloatArray:
        """The next point; all points of a batch are found with its first."""
        if not self.asked:
            self.asked.extend(self.maximisers(self.fit()) if self.inputs.size else self.rng.random((1, self.d)))
        return self.asked[0]

    def tell(self, x: FloatArray, y: float) -> None:
        """Take in a reward, or keep it back until the batch is complete."""
        if not self.asked:
            super().tell(x, y)
            return
        self.asked.popleft()
        self.waiting.append((x, y))
        if not self.asked:
            self._release()

    def recommend(self) -> FloatArray:
        """The evaluated point with the best posterior mean, given all rewards."""
        self._release()
        return super().recommend()

    def _release(self) -> None:
        for x, y in self.waiting:
            super().tell(x, y)
        self.waiting.clear()


def noisy_improvements(model: Any, x: Any, bounds: Any, size: int) -> Any:
    """Points of a batch that maximise qLogNEI in turn, shape (size, d)."""
    improvement = load("botorch.acquisition").qLogNoisyExpectedImprovement
    return load("botorch.optim").optimize_acqf(
        improvement(model, X_baseline=x, prune_baseline=True),
        bounds,
        q=size,
        num_restarts=STARTS,
        raw_samples=RAW,
        sequential=True,
    )[0]
