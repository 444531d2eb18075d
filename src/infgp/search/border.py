"""A score that falls towards the border of the cube, where a search with noise would else spend its rewards.

What lies near the ends of the ranges is known worst, since observations lie on one side of it only. With several
inputs nearly every point is near an end of one of them, and a score that values what is unknown leads from corner to
corner. Where one reward tells little, each corner costs many rewards until it is known to be poor. This is known of
Gaussian processes (Oh, Gavves and Welling 2018; Siivola, Vehtari, Vanhatalo, González and Andersen 2018), and it is no
fault of what they have learned: a process that is told its scales and its noise does it, too (`studies/told.py`).

Ranges are mostly chosen such that the best point lies inside. To the logarithm of the score at u is therefore added

    −STRENGTH · min(1, FULL / d) · Σ_k log(WIDTH / min(WIDTH, b_k + AT)),

where b_k is the distance of coordinate k from its nearer end, and k runs over the d coordinates that move continuously.
A factor of the score, and not a limit: where noise is small, scores differ by far more, and a best point on the border
is found as before (`tests/search/test_border.py`). Recommendations do not have it.
"""

from __future__ import annotations

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.search.maximise import Values
from infgp.space import Space

#: Power of the distance from the border by which a score falls.
STRENGTH = 0.5
#: Number of inputs up to which each counts in full. With more of them, all together count as much as this many.
FULL = 5
#: Distance from the border within which a score falls, in units of the cube's side.
WIDTH = 0.25
#: Distance from the border at which a point on it is taken to be, in units of the cube's side.
AT = 0.01


def inwards(score: Values, space: Space) -> Values:
    """The logarithm of a score, lowered towards the border of the cube.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.space import Float, Int
    >>> space = Space.of({"x": Float(0.0, 1.0), "layers": Int(1, 4)})
    >>> lowered = inwards(lambda at: np.zeros(len(at)), space)
    >>> lowered(np.array([[0.0, 0.125], [0.04, 0.125], [0.5, 0.125]])).round(2)
    array([-1.61, -0.8 ,  0.  ])
    """
    moving = np.flatnonzero(~space.discrete)
    if not moving.size:
        return score
    strength = STRENGTH * min(1.0, FULL / moving.size)

    def lowered(at: FloatArray) -> FloatArray:
        u = at[:, moving]
        near = np.minimum(np.minimum(u, 1.0 - u) + AT, WIDTH)
        return np.asarray(score(at) + strength * np.log(near / WIDTH).sum(axis=1))

    return lowered
