"""What one more reward would teach of an objective: by how much it may change, and where.

Given one state, an objective is a sum of parts that are known up to Gaussian laws: the surfaces and what they leave
over (:mod:`infgp.predict.objectives`). A reward at x that belongs to a part with variance v(x) there, and noise τ²,
moves the part at x' by c(x, x') / √(v(x) + τ²) for each standard deviation by which the reward is more than was
expected, where c is the part's covariance between x and x'. To first order the objective follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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


def lessons(law: ObjectiveLaw, at: FloatArray, others: FloatArray) -> tuple[FloatArray, FloatArray, list[Lesson]]:
    """The objective at the rows of `at`, shape (m,), and of `others`, shape (r,), and what rewards at `at` teach of it.

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
    >>> value, other_values, learned = lessons(law, np.array([[0.5]]), x)
    >>> value.shape, other_values.shape, learned[0].there.shape
    ((1,), (6,), (1, 6))
    """
    here, there = law.linear(at), law.linear(others)
    given, learned = law.base.weights.given, []
    chances, noise = given.urn_weights(at), given.noise_at(at)
    for label, surface in law.base.surfaces.items():
        if chances[:, label].max() >= SELDOM and (here.by_mean[:, label].any() or there.by_mean[:, label].any()):
            known = surface.covariance(at, others)
            slopes = here.by_mean[:, label], there.by_mean[:, label]
            learned.append(_lesson(chances[:, label], noise[:, label], *known, *slopes))
    if not law.plain and law.remainder is not None:
        for chance, left, variance, covariance in law.remainder.covariances(at, others):
            slopes = chance * here.by_rest, chance * there.by_rest
            learned.append(_lesson(np.ones(at.shape[0]), left, variance, covariance, *slopes))
    return here.value, there.value, learned


def _lesson(
    chance: FloatArray,
    noise: FloatArray | float,
    variance: FloatArray,
    covariance: FloatArray,
    slope_here: FloatArray,
    slope_there: FloatArray,
) -> Lesson:
    """From variance and covariance of a part, and the derivatives of the objective with respect to it."""
    per_sd = 1.0 / np.sqrt(variance + noise)
    return Lesson(chance, slope_here * variance * per_sd, covariance * per_sd[:, None] * slope_there)
