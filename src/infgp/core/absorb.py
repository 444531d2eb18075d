"""A surface given more members than can be factorised: some are selected, and the others are absorbed by them.

Let U be the inputs of the selected members of a surface, K = σ² ρ_UU and k(x) = σ² ρ(U, x). A further member at x is
taken to depend on the surface through its values u at U alone:

    r = k(x)ᵀ K⁻¹ u + e,   e ~ N(0, τ² + v + σ² − k(x)ᵀ K⁻¹ k(x)),   independent of all others given u

(Snelson and Ghahramani 2006). A member at one of the inputs U is absorbed exactly, and with all members selected
nothing is left to absorb. Sums over the further members, A Λ⁻¹ Aᵀ and A Λ⁻¹ r with A = L⁻¹ k(x), K = L Lᵀ and Λ the
variances of e, hold all that they say of u: the cost grows in proportion to their number. What they say is the same as
one observation at each of U with noise that is correlated, so that the law of the surface is a :class:`Conditional` as
any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from infgp.core.kernels import correlation
from infgp.core.linalg import FloatArray, cholesky, solve_lower
from infgp.core.model import Data
from infgp.core.partition import IntArray
from infgp.core.surface import Conditional, Conditioned

#: What is added to the variances of the surface at the selected inputs, in units of the least noise variance there: it
#: keeps K regular, and changes laws by about this share of the noise.
RIDGE = 1e-6
#: Number of inputs at which weights of surfaces are computed at once.
BLOCK = 4096


@dataclass(eq=False)
class Sums:
    """What the further members of a surface say, in units of the surface without a scale of its own.

    Attributes
    ----------
    gram : array, shape (m, m)
        A Λ⁻¹ Aᵀ; only its lower triangle is kept.
    right : array, shape (m,)
        A Λ⁻¹ r.
    square : float
        rᵀ Λ⁻¹ r.
    count : int
    """

    gram: FloatArray
    right: FloatArray
    square: float = 0.0
    count: int = 0

    @classmethod
    def none(cls, m: int) -> Sums:
        """Before there are any."""
        return cls(np.zeros((m, m), order="F"), np.zeros(m))

    def add(self, half: FloatArray, residual: FloatArray, variance: FloatArray) -> None:
        """Add members with the given columns of A, shape (m, k), residuals and variances Λ."""
        root = np.sqrt(variance)
        scaled, r = np.asfortranarray(half / root), residual / root
        self.gram = blas.dsyrk(1.0, scaled, beta=1.0, c=self.gram, lower=1, overwrite_c=1)
        self.right += scaled @ r
        self.square += float(r @ r)
        self.count += residual.size


@dataclass(frozen=True, eq=False)
class Absorber:
    """A surface given its selected members, which absorbs others.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Model
    >>> from infgp.core.state import Surface
    >>> from infgp.core.priors import Priors
    >>> data, model = Data(np.array([[0.1], [0.9]]), np.array([1.0, 0.0])), Model("se", Priors().resolve(1), ard=False)
    >>> law = Conditional.of(Surface(np.array([0, 1]), np.array([3.0]), 1.0, 0.1), data.y, data, model)
    >>> absorber, sums = Absorber(law), Sums.none(2)
    >>> half, variance = absorber.half(np.array([[0.1]]))
    >>> sums.add(half, np.array([0.5]), variance + 0.1)  # a replicate at the first input
    >>> twice = Data(np.array([[0.1], [0.9], [0.1]]), np.array([1.0, 0.0, 0.5]))
    >>> exact = Conditional.of(Surface(np.arange(3), np.array([3.0]), 1.0, 0.1), twice.y, twice, model)
    >>> at = np.array([[0.3], [0.7]])
    >>> bool(np.allclose(absorber.absorbed(sums)(at), exact(at), atol=1e-4))
    True
    """

    law: Conditional

    @cached_property
    def prior(self) -> FloatArray:
        """L, the factor of the covariance of u, shape (m, m)."""
        surface = self.law.surface
        cov = surface.sigma2 * correlation(self.law.kernel, self.law.x, self.law.x, surface.phi)
        cov.flat[:: cov.shape[0] + 1] += RIDGE * float(self.law.noise.min())
        return cholesky(cov)

    def half(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A = L⁻¹ k(x), shape (m, points), and what u leaves open of the surface's variance, shape (points,)."""
        surface = self.law.surface
        cross = surface.sigma2 * correlation(self.law.kernel, at, self.law.x, surface.phi)
        half = solve_lower(self.prior, cross.T)
        return half, np.maximum(surface.sigma2 - np.einsum("ij,ij->j", half, half), 0.0)

    def _whole(self, sums: Sums) -> tuple[FloatArray, FloatArray]:
        """Factor of I + Lᵀ N⁻¹ L + A Λ⁻¹ Aᵀ, and Lᵀ N⁻¹ r + A Λ⁻¹ r: the precision of L⁻¹ u, and its mean times it."""
        own = self.prior / np.sqrt(self.law.noise)[:, None]
        precision = own.T @ own + np.tril(sums.gram) + np.tril(sums.gram, -1).T
        precision.flat[:: precision.shape[0] + 1] += 1.0
        right = self.prior.T @ (self.law.residual / self.law.noise) + sums.right
        return cholesky(precision), right

    def draw(self, rng: np.random.Generator, sums: Sums, scale: float) -> FloatArray:
        """A draw of L⁻¹ u given all members, where the surface has a scale of its own; shape (m,)."""
        factor, right = self._whole(sums)
        noise = np.sqrt(scale) * rng.standard_normal(right.size)
        return solve_lower(factor, solve_lower(factor, right) + noise, transposed=True)

    def quadratic(self, sums: Sums) -> float:
        """rᵀ Σ⁻¹ r of all members' residuals, with Σ their covariance."""
        factor, right = self._whole(sums)
        half = solve_lower(factor, right)
        own = self.law.residual / np.sqrt(self.law.noise)
        return max(float(own @ own + sums.square - half @ half), 0.0)

    def absorbed(self, sums: Sums) -> Conditional:
        """The law of the surface given all members, as one observation at each of U with correlated noise.

        The noise has precision N⁻¹ + L⁻ᵀ A Λ⁻¹ Aᵀ L⁻¹. With T = L⁻¹ N^½ and I + Tᵀ A Λ⁻¹ Aᵀ T = J Jᵀ, a root of its
        covariance is N^½ J⁻ᵀ.
        """
        law, surface = self.law, self.law.surface
        if not sums.count:
            return law
        root = np.sqrt(law.noise)
        turned = solve_lower(self.prior, np.diag(root))
        gram = np.tril(sums.gram) + np.tril(sums.gram, -1).T
        precision = turned.T @ gram @ turned
        precision.flat[:: root.size + 1] += 1.0
        noise_root = root[:, None] * solve_lower(cholesky(precision), np.eye(root.size)).T
        told = law.residual / law.noise + solve_lower(self.prior, sums.right, transposed=True)
        noise = noise_root @ noise_root.T
        covariance = surface.sigma2 * correlation(law.kernel, law.x, law.x, surface.phi) + noise
        return Conditional(
            law.kernel, surface, law.x, noise @ told, np.diag(noise).copy(), cholesky(covariance), noise_root
        )


def joined(law: Conditional, x: FloatArray, residual: FloatArray, noise: FloatArray) -> Conditional:
    """A law with further members that are not absorbed but observed at their own inputs, shape (k, d)."""
    cross = law.surface.sigma2 * correlation(law.kernel, law.x, x, law.surface.phi)
    low = solve_lower(law.factor, cross)
    own = law.surface.sigma2 * correlation(law.kernel, x, x, law.surface.phi) + np.diag(noise) - low.T @ low
    m, k = cross.shape
    factor, root = np.zeros((m + k, m + k), order="F"), np.zeros((m + k, m + k))
    factor[:m, :m], factor[m:, :m], factor[m:, m:] = law.factor, low.T, cholesky(own)
    root[:m, :m], root[m:, m:] = np.diag(np.sqrt(law.noise)) if law.noise_root is None else law.noise_root, 0.0
    root[np.arange(m, m + k), np.arange(m, m + k)] = np.sqrt(noise)
    return replace(
        law,
        x=np.vstack((law.x, x)),
        residual=np.concatenate((law.residual, residual)),
        noise=np.concatenate((law.noise, noise)),
        factor=factor,
        noise_root=root,
    )


def log_shares(labels: IntArray, rest_labels: IntArray, size: int) -> FloatArray:
    """For each surface, the logarithm of its share of all observations over that of the selected ones; shape (K + 1,).

    `rest_labels` are those of all `size` others, or of some of them. Half an observation is added to each count, so
    that a surface of few members does not vanish. The last entry, for a new surface, is 0.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_shares(np.array([0, 0, 1, 1]), np.zeros(96, dtype=int), 96)).round(2)
    array([1.95, 0.05, 1.  ])
    """
    some = np.bincount(labels)
    top = some.size
    rest = np.bincount(rest_labels, minlength=top + 1)[:top] * (size / max(rest_labels.size, 1))
    every = some + rest + 0.5
    return np.append(np.log(every / every.sum()) - np.log((some + 0.5) / (some + 0.5).sum()), 0.0)


@dataclass(frozen=True, eq=False)
class Completed(Conditioned):
    """A state of a chain on selected observations, whose surfaces have absorbed all other observations too.

    Attributes
    ----------
    laws : tuple of Conditional
        The law of each surface of the chain's state given all its members, without a scale of its own.
    rows : int array, shape (m,)
        Places of the selected observations among all n, ascending.
    rest : Data
        The other observations, in their order, with rewards as the state sees them.
    rest_labels : int array, shape (n − m,)
        The surface of each of them; the label after the last for one that lies on none.
    """

    laws: tuple[Conditional, ...] = ()
    rows: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    rest: Data = field(default_factory=lambda: Data(np.empty((0, 1)), np.empty(0)))
    rest_labels: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def selected(self) -> int:
        """Number of selected observations; data may have anticipated ones after them."""
        return int(self.rows.size)

    def plain(self, label: int) -> Conditional:
        """The surface with this label, its own scale not drawn (or one)."""
        if label >= len(self.laws):
            return super().plain(label)
        if label not in self._plain:
            law, more = self.laws[label], np.flatnonzero(self.state.labels[self.selected :] == label) + self.selected
            if more.size:
                noise = law.surface.tau2 + self.data.noise[more]
                law = joined(law, self.data.x[more], self.residual[more], noise)
            self._plain[label] = law
        return self._plain[label]

    def log_evidence(self, label: int) -> float:
        """Log density of the rewards of a surface's selected members."""
        surface = replace(self.state, scale=np.ones(1)).surface(label)
        return Conditional.of(surface, self.residual, self.data, self.model.at(self.state)).log_evidence(
            self.model.scale_shape
        )

    @cached_property
    def log_shares(self) -> FloatArray:
        """:func:`log_shares` of the surfaces, shape (K + 1,)."""
        return log_shares(self.state.labels[: self.selected], self.rest_labels, self.rest_labels.size)

    def log_urn(self, at: FloatArray) -> FloatArray:
        """Logarithms of what :meth:`urn_weights` normalises, shape (m, K + 1): shares are those of all observations."""
        return np.asarray(super().log_urn(at) + self.log_shares)

    def off_main(self, some: IntArray | None = None) -> NDArray[np.bool_]:
        """Whether each of all n observations, or of some, lies off the main surface at its input."""
        n, m = self.rows.size + self.rest_labels.size, self.selected
        others = np.ones(n, dtype=bool)
        others[self.rows] = False
        labels, x = np.empty(n, dtype=np.int64), np.empty((n, self.rest.x.shape[1]))
        labels[self.rows], labels[others] = self.state.labels[:m], self.rest_labels
        x[self.rows], x[others] = self.data.x[:m], self.rest.x
        which = np.arange(n) if some is None else some
        blocks = np.array_split(which, max(which.size // BLOCK, 1))
        return np.concatenate([labels[rows] != self.main_labels(x[rows]) for rows in blocks])
