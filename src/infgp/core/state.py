"""The parameters of the ∞-GP: a state of a chain, and its surfaces.

Variances and length-scales are kept per surface: ``phi``, ``sigma2`` and ``tau2`` have a leading axis of length one
(shared by all surfaces, the paper's model) or of length K (one entry per label).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.core.partition import IntArray

#: The length-scales of a surface of grade g are the shared length-scales divided by this factor to the power g.
ROUGHER = 4.0
#: The grade of a flat surface: a constant with noise about it, whatever the length-scales.
FLAT = 3
#: Share of σ² that is the variance of a flat surface's constant; the rest is further noise about it. The variance of a
#: single reward is then that of all other grades, so that one observation alone says nothing about the grade.
CONSTANT = 0.5
#: Largest share of the rewards that a flat surface may hold; one reward more than that share is still allowed.
RARE = 0.25


@dataclass(frozen=True, eq=False)
class Surface:
    """One occupied surface of a state: its members, φ, σ² and τ², and its own scale, by which both are multiplied."""

    members: IntArray
    phi: FloatArray
    sigma2: float
    tau2: float
    scale: float = 1.0

    def noise(self, known: FloatArray) -> FloatArray:
        """Noise variance of each member, τ² + v, from the known part of all observations."""
        return self.tau2 + self.scale * known[self.members]


@dataclass(frozen=True, eq=False)
class State:
    """Parameters with the surfaces and their weights integrated out.

    Attributes
    ----------
    labels : int array, shape (n,)
        Surface of each observation.
    beta : array, shape (d + 1,)
        Trend coefficients, intercept first.
    nu : float
        Concentration.
    phi : array, shape (1 or K, d)
        Inverse squared length-scales.
    sigma2, tau2 : arrays, shape (1 or K,)
        Variance of a surface and of the noise about it.
    scale : array, shape (1 or K + 1,)
        The scale of each surface and of a new one, which multiplies σ², τ² and v, in states for prediction; a single 1
        where surfaces have no scales of their own, or where the scales have not been drawn.
    grade : int array, shape (1, K or K + 1)
        How rough the surfaces are, or that they are flat (see `Model.grades`); with an entry for a new one in states
        for prediction.
    odds : int
        Kind of the odds (see `Model.odds`).
    warp : int
        Which of `Model.warps` rewards go through; trend and variances are those of rewards after it.
    kernel : int
        Which of :data:`infgp.core.kernels.KERNELS` the surfaces have, where it is learned (`Model.kernel`).
    """

    labels: IntArray
    beta: FloatArray
    nu: float
    phi: FloatArray
    sigma2: FloatArray
    tau2: FloatArray
    scale: FloatArray = field(default_factory=lambda: np.ones(1))
    grade: IntArray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    odds: int = 0
    warp: int = 0
    kernel: int = 0

    @property
    def n_surfaces(self) -> int:
        """Number of occupied surfaces."""
        return int(np.count_nonzero(np.bincount(self.labels)))

    @property
    def main(self) -> int:
        """Label of the largest surface: that with the most observations, the first if several have as many.

        Without places it is the main surface at every input; with places, see
        :meth:`infgp.core.surface.Conditioned.main_labels`.
        """
        return int(np.argmax(np.bincount(self.labels)))

    def surface(self, label: int) -> Surface:
        """The surface with this label; without members it is a new surface."""
        s = label if self.sigma2.size > 1 else 0
        scale = float(self.scale[label if self.scale.size > 1 else 0])
        members, grade = np.flatnonzero(self.labels == label), self.grade[label if self.grade.size > 1 else 0]
        phi, sigma2, tau2 = self.phi[s] * ROUGHER ** (2.0 * grade), self.sigma2[s], self.tau2[s]
        if grade == FLAT:
            phi, sigma2, tau2 = np.zeros_like(phi), CONSTANT * sigma2, tau2 + (1.0 - CONSTANT) * sigma2
        return Surface(members, phi, float(sigma2 * scale), float(tau2 * scale), scale)

    @property
    def observed_grades(self) -> IntArray:
        """Grade of the surface of each observation, shape (n,)."""
        return self.grade[self.labels] if self.grade.size > 1 else np.full(self.labels.size, self.grade[0])

    def surfaces(self) -> Iterator[Surface]:
        """The occupied surfaces, in the order of their labels."""
        return (self.surface(int(label)) for label in np.unique(self.labels))


def most_flat(n: int) -> int:
    """Largest number of members of a flat surface, of n observations.

    Examples
    --------
    >>> [most_flat(n) for n in (1, 3, 4, 40)]
    [1, 1, 2, 11]
    """
    return 1 + int(RARE * n)


def crowded(state: State) -> IntArray:
    """Labels of flat surfaces with more than :func:`most_flat` members."""
    flat = state.labels[state.observed_grades == FLAT]
    return np.flatnonzero(np.bincount(flat) > most_flat(state.labels.size))
