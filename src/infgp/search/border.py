"""A score that falls towards the border of the cube where rewards are noisy.

What lies near the ends of the ranges is known worst, since observations lie on one side of it only. With more than two
inputs most points are near an end of one of them, and a score that values what is unknown leads from corner to corner.
Where one reward tells nearly all, a corner costs one evaluation. Where it tells little, each corner costs many until it
is known to be poor. This is known of Gaussian processes (Oh, Gavves and Welling 2018; Siivola, Vehtari, Vanhatalo,
González and Andersen 2018), and it is no fault of what they have learned: a process that is told its scales and its
noise does it, too (`studies/told.py`).

To the logarithm of the score at u is therefore added

    −STRENGTH · left · min(1, FULL / d) · Σ_k log(WIDTH / min(WIDTH, b_k + AT)),

where b_k is the distance of coordinate k from its nearer end, and k runs over the d coordinates that move continuously.
With one or two of them nothing is added. `left` is the share of what is not known of the objective that one reward
would leave unknown (:func:`left_unknown`). Recommendations do not have it, and a best point on the border is found
(`tests/search/test_border.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.predict.lessons import lessons
from infgp.predict.objectives import ObjectiveLaw
from infgp.search.maximise import Values
from infgp.space import Space

#: Power of the distance from the border by which a score falls where a reward tells nothing.
STRENGTH = 0.5
#: Largest number of inputs for which scores stay as they are: little of a square is near its corners.
FEW = 2
#: Number of inputs up to which each counts in full. With more of them, all together count as much as this many.
FULL = 5
#: Distance from the border within which a score falls, in units of the cube's side.
WIDTH = 0.25
#: Distance from the border at which a point on it is taken to be, in units of the cube's side.
AT = 0.01
#: Number of points over the whole space at which it is asked what a reward would tell.
ASKED = 16


def left_unknown(laws: Sequence[ObjectiveLaw], at: FloatArray) -> float:
    """Share of the variance of an objective that one reward leaves, averaged over the rows of `at` and over states.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Fixed, Priors
    >>> from infgp.core.scaling import RewardScale
    >>> from infgp.core.surface import Conditioned
    >>> from infgp.predict.functionals import Aim, Objective
    >>> rng, x = np.random.default_rng(0), np.array([[0.0], [0.1]])
    >>> for noise in (0.01, 100.0):
    ...     priors = Priors(sigma2=Fixed(1.0), tau2=Fixed(noise), lengthscale=Fixed(0.1), nu=Fixed(1e-6))
    ...     model, data = Model("se", priors.resolve(1), ard=False), Data(x, x[:, 0])
    ...     law = ObjectiveLaw.of(
    ...         Conditioned(prior_draw(rng, x, model), data, model), Aim(Objective(), RewardScale(0, 1))
    ...     )
    ...     print(round(left_unknown([law], np.array([[0.9]])), 2))
    0.01
    0.99
    """
    shares = []
    for law in laws:
        told = sum(lesson.chance * lesson.here**2 for lesson in lessons(law, at, at.shape[0])[1])
        shares.append(1.0 - np.minimum(told / law(at)[1], 1.0))
    return float(np.mean(shares))


def inwards(rng: np.random.Generator, score: Values, space: Space, laws: Sequence[ObjectiveLaw]) -> Values:
    """The logarithm of a score, lowered towards the border of the cube by as much as a reward leaves unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.space import Float
    >>> score, square = lambda at: np.zeros(len(at)), Space.of({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)})
    >>> inwards(np.random.default_rng(0), score, square, ()) is score
    True
    """
    if np.sum(~space.discrete) <= FEW:
        return score
    return lowered(score, space, left_unknown(laws, space.sobol(rng, ASKED)))


def lowered(score: Values, space: Space, left: float) -> Values:
    """The same for a share that is left unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.space import Float, Int
    >>> space = Space.of({name: Float(0.0, 1.0) for name in "abc"} | {"layers": Int(1, 4)})
    >>> score = lowered(lambda at: np.zeros(len(at)), space, left=1.0)
    >>> score(np.array([[0.0, 0.5, 0.5, 0.125], [0.04, 0.5, 0.5, 0.125], [0.5, 0.5, 0.5, 0.125]])).round(2)
    array([-1.61, -0.8 ,  0.  ])
    """
    moving = np.flatnonzero(~space.discrete)
    strength = STRENGTH * left * min(1.0, FULL / max(moving.size, 1))

    def sum_of_both(at: FloatArray) -> FloatArray:
        u = at[:, moving]
        near = np.minimum(np.minimum(u, 1.0 - u) + AT, WIDTH)
        return np.asarray(score(at) + strength * np.log(near / WIDTH).sum(axis=1))

    return sum_of_both
