"""Split a surface in two or merge two into one: a Metropolis–Hastings move, grown in space from a pair of anchors.

Anchors i and j are chosen by a rule that looks at the inputs only. On one surface, they propose a split: each begins
a surface, and every other member joins one of the two, in the order of their distance from the anchors, by predictive
density (Dahl's sequential allocation, ordered in space). On two surfaces, they propose the merger, and the probability
of the way back is that of the present allocation in the same order.

The noise variance may move along. As long as τ² is that of one surface through two modes, no split is worth its price
in the prior; and τ² stays as long as there is no split. So a split divides τ² by e^δ and a merger multiplies by it,
with δ drawn from one distribution in either direction. Length-scales may move along in the same way: two surfaces, each
smooth, become one that is rough, and a chain with the wrong length-scale would otherwise keep the wrong surfaces. The
second surface of a split has a grade from the prior, and a merger forgets it.

A reallocation is a merger and a split of the result in one, so that what lies between need not be likely.
"""

from __future__ import annotations

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.core.model import Data, Model, grades_from_prior
from infgp.core.state import State
from infgp.sample import compiled
from infgp.sample.moves import Deeds
from infgp.sample.moves.collapsed import changed, prior_numbers

#: Probability that the second anchor is one of the inputs nearest to the first anchor.
NEAR = 0.5
#: Number of inputs that count as nearest to the first anchor.
NEIGHBOURS = 10
#: Probability that a proposal also changes the noise variance τ².
SHIFT = 0.5
#: Mean of the exponential step δ in the noise variance, in units of log τ². Reallocations take a Gaussian step, with
#: this number as its standard deviation.
SHIFT_MEAN = 2.0
#: Probability that a split or a merger also changes all length-scales.
STRETCH = 0.3
#: Mean of the exponential step in the length-scales, in units of log ℓ.
STRETCH_MEAN = 0.6
#: Probability that the sides of a split follow the graph of the inputs, where surfaces may have a place.
SPATIAL = 0.5
#: Number of reallocations that one move proposes.
REALLOCATIONS = 2


def anchor_pair(rng: np.random.Generator, x: FloatArray) -> tuple[int, int]:
    """Two different observations: often neighbours, sometimes any. Depends on the inputs only.

    Examples
    --------
    >>> import numpy as np
    >>> i, j = anchor_pair(np.random.default_rng(0), np.linspace(0, 1, 5)[:, None])
    >>> i != j
    True
    """
    n = x.shape[0]
    i = int(rng.random() * n)
    if rng.random() < NEAR:
        gap = x - x[i]
        distance = np.einsum("ij,ij->i", gap, gap)
        distance[i] = np.inf
        k = min(NEIGHBOURS, n - 1)
        return i, int(np.argpartition(distance, k - 1)[int(rng.random() * k)])
    j = int(rng.random() * (n - 1))
    return i, j + (j >= i)


def split_merge(rng: np.random.Generator, state: State, data: Data, model: Model) -> tuple[State, Deeds]:
    """One proposal, accepted or not.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> state, deeds = split_merge(rng, prior_draw(rng, x, model), Data(x, np.zeros(6)), model)
    >>> state.labels.shape, list(deeds)
    ((6,), ['split or merger'])
    """
    if data.y.size < 2:
        return state, {}
    priors, deeds = prior_numbers(model, data), Deeds()

    def proposal(setting: compiled.Setting, chain: compiled.MutableState) -> None:
        deeds["split or merger"] = (1, int(propose(rng, setting, chain, priors)))

    return changed(proposal, state, data, model), deeds


def propose(
    rng: np.random.Generator, setting: compiled.Setting, chain: compiled.MutableState, priors: compiled.PriorNumbers
) -> bool:
    """One proposal for a compiled chain of at least two observations, in place; returns whether it was accepted."""
    shifts = priors.variances[1, 0] > 0.0 and rng.random() < SHIFT
    shift = SHIFT_MEAN * rng.standard_exponential() if shifts else 0.0
    stretches = priors.lengthscale[0] > 0.0 and rng.random() < STRETCH
    stretch = STRETCH_MEAN * rng.standard_exponential() if stretches else 0.0
    spatial = setting.local > 0.0 and rng.random() < SPATIAL
    fresh = int(grades_from_prior(rng, setting.grades, 1)[0])
    i, j = anchor_pair(rng, setting.x)
    uniforms, threshold = rng.random(setting.y.size), -rng.standard_exponential()
    return bool(
        compiled.split_or_merge(setting, chain, priors, i, j, shift, stretch, spatial, fresh, uniforms, threshold)
    )


def reallocate(rng: np.random.Generator, state: State, data: Data, model: Model) -> tuple[State, Deeds]:
    """`REALLOCATIONS` proposals to share out the members of two surfaces anew, each accepted or not.

    The same data may be explained by two surfaces that run through each other everywhere, a noise of two sizes, or by
    two surfaces that meet at a border. Nothing between the two explanations is likely. So a proposal may follow the
    graph of the inputs where the present sides do not, and the other way round: whether the way there follows the
    graph, and whether the way back does, are drawn independently.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> state, deeds = reallocate(rng, prior_draw(rng, x, model), Data(x, np.zeros(6)), model)
    >>> state.labels.shape, deeds["reallocation"][0]
    ((6,), 2)
    """
    if data.y.size < 3:
        return state, {}
    priors, accepted = prior_numbers(model, data), 0

    def proposals(setting: compiled.Setting, chain: compiled.MutableState) -> None:
        nonlocal accepted
        for _ in range(REALLOCATIONS):
            shifts = priors.variances[1, 0] > 0.0 and rng.random() < SHIFT
            shift = SHIFT_MEAN * rng.standard_normal() if shifts else 0.0
            there, back = (rng.random(2) < (SPATIAL if setting.local > 0.0 else 0.0)).tolist()
            i, j = anchor_pair(rng, setting.x)
            uniforms, threshold = rng.random(setting.y.size), -rng.standard_exponential()
            accepted += compiled.reallocate(setting, chain, priors, i, j, shift, there, back, uniforms, threshold)

    return changed(proposals, state, data, model), {"reallocation": (REALLOCATIONS, accepted)}
