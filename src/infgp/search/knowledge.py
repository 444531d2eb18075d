"""Knowledge gradient: by how much one more reward is expected to raise the best objective that is known.

A reward at x changes what is believed of the objective everywhere (:mod:`infgp.predict.lessons`). If it is z standard
deviations more than expected, the objective at x' becomes μ(x') + z s(x, x'), and the best point may be another one.
The score of x is E max_x' (μ(x') + z s(x, x')) − max_x' μ(x'), where z is standard normal and x' runs over x itself and
over some other points (Frazier, Powell and Dayanik 2009). A point scores nothing if its reward cannot change the
recommendation, however uncertain the reward is; a second look at a point scores if the first one may have been lucky.

Of several parts that a reward may belong to, each scores by its chance. The logarithm of the score is averaged over
states, as that of the improvement is (:mod:`infgp.search.acquisition`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infgp.core.jit import jit
from infgp.core.linalg import FloatArray
from infgp.predict.lessons import lessons
from infgp.predict.objectives import MeanObjective, ObjectiveLaw
from infgp.search.improvement import log_h
from infgp.space import Space

#: Values of z at which the best objective is computed (Gauss–Hermite).
NODES = np.polynomial.hermite_e.hermegauss(9)[0]
#: Weights of the nodes, as probabilities.
WEIGHTS = np.polynomial.hermite_e.hermegauss(9)[1] / np.sqrt(2.0 * np.pi)
#: Number of evaluated points, the best ones, among which the best point is sought after the next reward.
KNOWN = 24
#: Number of points over the whole space among which the best point is sought after the next reward.
UNKNOWN = 64
#: Least change of an objective that counts, in standard units.
LEAST_CHANGE = 1e-12
#: Gain that is added to every other one, in standard units. Where a state is sure that there is nothing to gain, the
#: logarithms of its gains differ by hundreds, and the mean over states would follow that state alone.
NOTHING = 1e-16


@dataclass(frozen=True, eq=False)
class KnowledgeGradient:
    """Log of the expected gain by one more reward, averaged over states; values in batch.

    Attributes
    ----------
    laws : tuple of ObjectiveLaw
    others : array, shape (r, d)
        Points among which the best one is sought after the next reward.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.core.scaling import RewardScale
    >>> from infgp.core.surface import Conditioned
    >>> from infgp.predict.functionals import Aim, Objective
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model, data = Model("se", Priors().resolve(1), ard=False), Data(x, np.zeros(6))
    >>> aim = Aim(Objective(), RewardScale(0.0, 1.0))
    >>> law = ObjectiveLaw.of(Conditioned(prior_draw(rng, x, model), data, model), aim)
    >>> KnowledgeGradient((law,), x)(x).shape
    (6,)
    """

    laws: tuple[ObjectiveLaw, ...]
    others: FloatArray

    @classmethod
    def of(
        cls, rng: np.random.Generator, space: Space, mean: MeanObjective, evaluated: FloatArray, good: FloatArray
    ) -> KnowledgeGradient:
        """The gain over the best of some inputs, shapes (n, d) and (k, d), and of some points of the space.

        Those of the `good` inputs that are not among those `evaluated` count, too.
        """
        beyond = good[~(good[:, None] == evaluated).all(axis=2).any(axis=1)]
        points, value = np.concatenate((evaluated, beyond)), mean(evaluated)
        if beyond.size:
            value = np.concatenate((value, mean(beyond)))
        distinct, first = np.unique(points, axis=0, return_index=True)
        best = distinct[np.argsort(-value[first], kind="stable")[:KNOWN]]
        return cls(mean.laws, np.vstack((best, space.sobol(rng, UNKNOWN))))

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        points = np.concatenate((at, self.others))
        return np.asarray(np.mean([self._log_gain(law, points, at.shape[0]) for law in self.laws], axis=0))

    @staticmethod
    def _log_gain(law: ObjectiveLaw, points: FloatArray, m: int) -> FloatArray:
        """For one state, and for the first `m` points; the others are those among which the best one is sought."""
        value, learned = lessons(law, points, m)
        here, there = value[:m], value[m:]
        best, gain = int(np.argmax(there)), np.zeros(m)
        above = there - there[best]  # differences: rounding of the objective itself would pass for a gain
        for lesson in learned:
            # Of the point itself and the best other point, the gain is exact however small; of all, by quadrature.
            apart = np.maximum(np.abs(lesson.here - lesson.there[:, best]), LEAST_CHANGE)
            alone = apart * np.exp(log_h((here - there[best]) / apart))
            rise = expected_best(here - there[best], lesson.here, above, lesson.there, NODES, WEIGHTS)
            gain += lesson.chance * np.maximum(alone, rise)
        return np.log(gain + NOTHING)


@jit(fastmath={"nnan", "nsz"})
def expected_best(
    here: FloatArray, own: FloatArray, there: FloatArray, moved: FloatArray, nodes: FloatArray, weights: FloatArray
) -> FloatArray:
    """E max(here_i + z own_i, max_j (there_j + z moved_ij)) for standard normal z, by quadrature; shape (m,).

    Examples
    --------
    >>> import numpy as np
    >>> nodes, weights = np.polynomial.hermite_e.hermegauss(64)
    >>> one, none = np.ones(1), np.zeros(1)
    >>> expected_best(none, one, none, np.zeros((1, 1)), nodes, weights / weights.sum()).round(1)  # 1 / √(2π)
    array([0.4])
    """
    out = np.empty(here.size)
    for i in range(here.size):
        total = 0.0
        for q in range(nodes.size):
            z = nodes[q]
            best = here[i] + z * own[i]
            for j in range(there.size):
                best = max(best, there[j] + z * moved[i, j])
            total += weights[q] * best
        out[i] = total
    return out
