"""Trust-region Bayesian optimization with one region (TuRBO-1, Eriksson et al. 2019), as in BoTorch's tutorial.

A SingleTaskGP with BoTorch's default priors is fitted to the points of the region. A function drawn from its posterior
is maximised over perturbations of the best point, within a box whose sides follow the length-scales. The box grows
after successes, shrinks after failures, and the search starts anew when the box is small. The tutorial's bound on the
noise, a thousandth of the variance, is left out: rewards are noisy here.
"""

from __future__ import annotations

import math

import numpy as np

from infgp.bench.methods.fitted import FittedRun, fit_gp
from infgp.bench.methods.gaussian import load
from infgp.bench.methods.history import FloatArray

#: Side of the first box, in units of the cube's side, before it is stretched along long length-scales.
FIRST = 0.8
#: Side of the largest box.
LARGEST = 1.6
#: Side of the box below which the search starts anew.
SMALLEST = 0.5**7
#: Number of successes in a row after which the box is doubled.
SUCCESSES = 10
#: Least number of failures in a row after which the box is halved; there are as many as inputs where that is more.
FAILURES = 4
#: By how much a reward has to be better than the best one to be a success, as a share of the best one's size.
BETTER = 1e-3
#: Number of perturbations of the best point.
CANDIDATES = 2000
#: Expected number of coordinates that a perturbation moves.
MOVED = 20
#: Number of uniform points after which a region that starts anew is searched.
AGAIN = 10


class TrustRegionRun(FittedRun):
    """A run of TuRBO-1, one point at a time.

    Parameters
    ----------
    d, seed : int
    """

    def __init__(self, d: int, seed: int) -> None:
        super().__init__(d, seed)
        self.tolerance = max(FAILURES, d)
        self._begin()

    def _begin(self) -> None:
        self.first, self.side, self.successes, self.failures = len(self._y), FIRST, 0, 0

    def tell(self, x: FloatArray, y: float) -> None:
        """Take in the reward y of point x, and let the box follow."""
        own = self._y[self.first :]
        super().tell(x, y)
        if len(own) < AGAIN:
            return
        success = y > max(own) + BETTER * abs(max(own))
        self.successes, self.failures = (self.successes + 1, 0) if success else (0, self.failures + 1)
        if self.successes == SUCCESSES:
            self.side, self.successes = min(2.0 * self.side, LARGEST), 0
        elif self.failures == self.tolerance:
            self.side, self.failures = self.side / 2.0, 0
        if self.side < SMALLEST:
            self._begin()

    def ask(self) -> FloatArray:
        """The best of the perturbations under a drawn function; a uniform point where a region has few."""
        x, y = self.inputs[self.first :], self.rewards[self.first :]
        if y.size < AGAIN:
            return self.rng.random(self.d)
        model, torch = fit_gp(x, y), load("torch")
        lengths = model.covar_module.lengthscale.detach().numpy().reshape(-1)
        shape = lengths / math.exp(float(np.mean(np.log(lengths))))
        centre = x[int(np.argmax(y))]
        low, high = (np.clip(centre + sign * 0.5 * self.side * shape, 0.0, 1.0) for sign in (-1.0, 1.0))
        points = np.tile(centre, (CANDIDATES, 1))
        moved = self.rng.random(points.shape) < min(1.0, MOVED / self.d)
        moved[np.arange(CANDIDATES), self.rng.integers(self.d, size=CANDIDATES)] = True
        points[moved] = (low + (high - low) * self.rng.random(points.shape))[moved]
        with load("botorch.utils.sampling").manual_seed(int(self.rng.integers(2**31))), torch.no_grad():
            path = load("botorch.sampling.pathwise").draw_matheron_paths(model, torch.Size([1]))
            value = path(torch.as_tensor(points)).numpy().reshape(-1)
        return np.asarray(points[int(np.argmax(value))])
