"""What one more reward would teach of an objective: by how much it may change, and where.

Given one state, an objective is a sum of parts that are known up to Gaussian laws: the surfaces and what they leave
over (:mod:`infgp.predict.objectives`). A reward at x that belongs to a part with variance v(x) there, and noise τ²,
moves the part at x' by c(x, x') / √(v(x) + τ²) for each standard deviation by which the reward is more than was
expected, where c is the part's covariance between x and x'. To first order the objective follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infgp.core.kernels import correlation
from infgp.core.linalg import FloatArray
from infgp.predict.objectives import ObjectiveLaw

#: Chance below which a surface is left out: a reward seldom tells of it.
SELDOM = 0.02


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a reward at each of m points teaches of one part of an objective.

    Attributes
    ----------
    chance : array, shape (m,)
        Chance that the reward tells of this part.
    here : array, shape (m,)
        Change of the objective at the point itself, if the reward is one standard deviation more than expected.
    there : array, shape (m, r)
        Change of the objective at r other points.
    """

    chance: FloatArray
    here: FloatArray
    there: FloatArray


def lessons(law: ObjectiveLaw, points: FloatArray, m: int) -> tuple[FloatArray, list[Lesson]]:
    """The objective at some points, shape (m + r,), and what rewards at the first `m` of them teach of it.

    All points are given in one array, so that everything is asked about them once; several laws share more if they are
    asked about the same array.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.core.scaling import RewardScale
    >>> from infgp.core.surface import Conditioned
    >>> from infgp.predict.functionals import Aim, Objective
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> given = Conditioned(prior_draw(rng, x, model), Data(x, np.arange(6.0)), model)
    >>> law = ObjectiveLaw.of(given, Aim(Objective(), RewardScale(0.0, 1.0)))
    >>> value, learned = lessons(law, np.vstack(([[0.5]], x)), 1)
    >>> value.shape, learned[0].here.shape, learned[0].there.shape
    ((7,), (1,), (1, 6))
    """
    solved = law.base.solved(points)
    found, given, learned = law.linear(points, solved), law.base.weights.given, []
    chances, noise = law.base.weights.urn(points)[:m], given.noise_at(points[:m])
    for label, surface in law.base.surfaces.items():
        slope = found.by_mean[:, label]
        if chances[:, label].max() >= SELDOM and slope.any():
            _, variance, half = solved[label]
            sigma2, phi = surface.surface.sigma2, surface.surface.phi
            covariance = sigma2 * correlation(surface.kernel, points[:m], points[m:], phi)
            covariance -= half[:, :m].T @ half[:, m:]
            learned.append(_lesson(chances[:, label], noise[:, label], variance[:m], covariance, slope))
    if not law.plain and law.remainder is not None:
        for chance, left, variance, covariance in law.remainder.covariances(points, m):
            learned.append(_lesson(np.ones(m), left, variance, covariance, chance * found.by_rest))
    return found.value, learned


def _lesson(
    chance: FloatArray, noise: FloatArray | float, variance: FloatArray, covariance: FloatArray, slope: FloatArray
) -> Lesson:
    """From variance and covariance of a part, and the derivative of the objective with respect to it at all points.

    What it changes `there` is left in the place of the covariance.
    """
    m, per_sd = variance.size, 1.0 / np.sqrt(variance + noise)
    covariance *= per_sd[:, None]
    covariance *= slope[m:]
    return Lesson(chance, slope[:m] * variance * per_sd, covariance)
