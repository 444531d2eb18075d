"""What a belief leaves over: a second regression of what it missed, whose evidence says whether it depends on x.

The surfaces and their weights give a belief about the reward law at every input, and with it of any number that is
computed from the law, such as its mean. What the belief missed at the observations, e_1, …, e_n (for a mean, reward
less believed mean), is regressed on the inputs once more. Of a pattern with correlation R, strength a and unknown noise
variance v, it is

    e = r(x) + noise,   r ~ GP(0, a v R),   noise ~ N(0, v),   p(v) ∝ 1 / v.

Strengths are smaller where few observations make up what was missed (:func:`commonness`). If m of n observations were
missed by the same large amount, the variance of e is about m / n of its square. A chance that doubles here and halves
there has a variance of about (m / n)² of it, m / n in units of the noise. With strengths that do not know this, two
crashes at lonely inputs are proof of a pattern: the evidence takes them for n observations.

There are patterns with several length-scales and strengths, and patterns that do not depend on x, for which R = 1 at
all pairs of inputs. Their evidence p(e | pattern) ∝ |aR + I|^(−1/2) (eᵀ (aR + I)⁻¹ e)^(−n/2) and their prior give each
a probability. Where the belief is right, or what it missed has the same mean everywhere, patterns without x gain as
observations come; what the others add until then is a ripple, small against the noise. A pattern without x pays for its
constant as the others pay for their shape: with a constant for free it would win wherever all observations are close
together.

So the mean is learned for every reward law, as by one Gaussian process, and the surfaces rule where noise is a
nuisance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist
from scipy.special import softmax

from infgp.core.kernels import spectral_draw
from infgp.core.linalg import FloatArray
from infgp.core.memory import Memory

#: Length-scales of the patterns that depend on x, in units of √d. Longer ones draw a search into corners, where it then
#: stays: what little is known is extrapolated to the end.
LENGTHS = (0.1, 0.2, 0.4)
#: Strengths a of the patterns: variance of r, in units of that of the noise, where all observations make it up.
STRENGTHS = (0.1, 0.5, 2.0)
#: Fourth moment of a standard normal number.
GAUSSIAN = 3.0
#: Prior probability that what is left over does not depend on x.
CONSTANT = 0.1
#: Probability below which a pattern is left out.
UNLIKELY = 0.01
#: Least number of observations from which anything is learned.
LEAST = 3
#: Number of random features of a drawn remainder.
FEATURES = 512


@dataclass(frozen=True, eq=False)
class Patterns:
    """For inputs x of shape (n, d), what patterns of each length-scale need that depends on the inputs alone.

    Examples
    --------
    >>> import numpy as np
    >>> patterns = Patterns(np.linspace(0.0, 1.0, 5)[:, None])
    >>> values, vectors = patterns.spectra
    >>> bool(np.allclose(vectors[0] * values[0] @ vectors[0].T, patterns.correlation(0, patterns.x)))
    True
    """

    x: FloatArray

    def root(self, length: int) -> float:
        """√2 times a length-scale: the distance at which the correlation has fallen to 1/e."""
        return LENGTHS[length] * math.sqrt(2.0 * self.x.shape[1])

    def correlation(self, length: int, at: FloatArray) -> FloatArray:
        """Correlations between the inputs and the rows of `at`, shape (n, m)."""
        return self.between(length, self.x, at)

    def between(self, length: int, a: FloatArray, b: FloatArray) -> FloatArray:
        """Correlations between the rows of two arrays."""
        root = self.root(length)
        return np.asarray(np.exp(-cdist(a / root, b / root, "sqeuclidean")))

    def pull(self, length: int, coefficient: FloatArray, at: FloatArray) -> FloatArray:
        """Gradient, shape (m, d), of the correlations with the inputs times a coefficient of each, shape (n,)."""
        pulls = (self.correlation(length, at) * coefficient[:, None]).T
        return np.asarray((pulls @ self.x - at * pulls.sum(axis=1)[:, None]) * (2.0 / self.root(length) ** 2))

    @cached_property
    def spectra(self) -> tuple[FloatArray, FloatArray]:
        """For each length-scale, eigenvalues and, in columns, eigenvectors of the correlations between the inputs.

        Shapes (lengths, n) and (lengths, n, n).
        """
        pairs = [eigh(self.correlation(k, self.x), check_finite=False, driver="evd") for k in range(len(LENGTHS))]
        values, vectors = (np.array(part) for part in zip(*pairs, strict=True))
        return np.maximum(values, 0.0), vectors

    def shrunk(self, strengths: FloatArray) -> FloatArray:
        """Eigenvalues of (aR + I)⁻¹, shape (lengths, n, strengths)."""
        return np.asarray(1.0 / (1.0 + self.spectra[0][:, :, None] * strengths))

    def at(self, length: int, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Correlations with the rows of `at`, in the basis of the eigenvectors, and their squares; shapes (n, m)."""
        known = self._turned(at, dict)
        if length not in known:
            values, vectors = (part[length] for part in self.spectra)
            # At the inputs themselves a product with the correlations is one with the eigenvalues.
            turned = (vectors * values).T if at is self.x else vectors.T @ self.correlation(length, at)
            known[length] = turned, turned * turned
        return known[length]

    def apart(self, length: int, points: FloatArray, m: int) -> FloatArray:
        """Correlations between the first m of some points and the others, shape (m, r)."""
        known = self._apart(points, dict)
        if (length, m) not in known:
            known[length, m] = self.between(length, points[:m], points[m:])
        return known[length, m]

    @cached_property
    def _apart(self) -> Memory[dict[tuple[int, int], FloatArray]]:
        return Memory()

    @cached_property
    def _turned(self) -> Memory[dict[int, tuple[FloatArray, FloatArray]]]:
        return Memory()


@dataclass(frozen=True, eq=False)
class Shape:
    """The likely patterns of one length-scale: J of them.

    Attributes
    ----------
    length : int
        Index of the length-scale.
    chance, strength, noise : arrays, shape (J,)
        Probability, a and v of each.
    weights : array, shape (n, J)
        (aR + I)⁻¹ e, in the basis of the eigenvectors of R.
    shrunk : array, shape (n, J)
        Diagonal of (aR + I)⁻¹ in this basis.
    """

    length: int
    chance: FloatArray
    strength: FloatArray
    noise: FloatArray
    weights: FloatArray
    shrunk: FloatArray


@dataclass(frozen=True, eq=False)
class Remainder:
    """What is expected to be left over at every x, as a mixture of patterns.

    Attributes
    ----------
    patterns : Patterns
    flat : float
        Probability that it does not depend on x. With those of the shapes it sums to 1.
    centre, spread : float
        Mean and variance of it, if it does not depend on x. Moments and gradients are those of r(x) − centre, where a
        pattern without x is taken to be the centre: it makes no difference between points.
    shapes : tuple of Shape
        The likely patterns that depend on x.

    Examples
    --------
    >>> import numpy as np
    >>> rng, x = np.random.default_rng(0), np.linspace(0.0, 1.0, 60)[:, None]
    >>> crashes = -9.0 * (rng.random(60) < x[:, 0] ** 2)
    >>> left = Remainder.of(Patterns(x), crashes)
    >>> mean, variance = left(np.array([[0.1], [0.9]]))
    >>> bool(left.flat < 0.05), bool(mean[1] < -1.0 < 1.0 < mean[0])
    (True, True)
    >>> Remainder.of(Patterns(x), rng.permutation(crashes)).flat > 20.0 * left.flat
    True
    """

    patterns: Patterns
    flat: float
    centre: float
    spread: float
    shapes: tuple[Shape, ...]

    def settled(self, level: float) -> Remainder:
        """The same with one of the patterns that depend on x in place of all of them.

        It is that at which the running sum of their probabilities, which end at 1, passes `level`. The probability that
        what is left over does not depend on x stays what it is. Over evenly spaced levels, each pattern has its share.
        """
        if not self.shapes:
            return self
        running = np.cumsum(np.concatenate([shape.chance for shape in self.shapes]))
        chosen = int(np.searchsorted(running, level * running[-1], side="right"))
        for shape in self.shapes:
            if chosen < shape.chance.size:
                break
            chosen -= shape.chance.size
        j = slice(chosen, chosen + 1)
        alone = Shape(
            shape.length,
            np.array([1.0 - self.flat]),
            shape.strength[j],
            shape.noise[j],
            shape.weights[:, j],
            shape.shrunk[:, j],
        )
        return replace(self, shapes=(alone,))

    @classmethod
    def of(cls, patterns: Patterns, missed: FloatArray) -> Remainder:
        """From what was missed at the inputs of the patterns, shape (n,)."""
        n, unit = missed.size, float(np.max(np.abs(missed), initial=0.0))
        if n < LEAST or not unit > 0.0:
            return cls(patterns, 1.0, 0.0, 0.0, ())
        e = missed / unit
        strengths = commonness(e) * np.array(STRENGTHS)
        total, constants = e.sum(), np.append(0.0, strengths)
        left = e @ e - constants * total**2 / (1.0 + constants * n)
        log_flat = _log_evidence(left, np.log1p(constants * n), n) + math.log(CONSTANT / constants.size)
        turned, shrunk = np.einsum("lij,i->lj", patterns.spectra[1], e), patterns.shrunk(strengths)
        quadratic = np.einsum("lj,ljs->ls", turned**2, shrunk)
        prior = math.log((1.0 - CONSTANT) / quadratic.size)
        log_shape = _log_evidence(quadratic, -np.log(shrunk).sum(axis=1), n) + prior
        chance = softmax(np.concatenate((log_flat, log_shape.ravel())))
        chance[chance < min(UNLIKELY, chance.max())] = 0.0
        chance /= chance.sum()
        flat, rest = chance[: constants.size], chance[constants.size :].reshape(quadratic.shape)
        centres, likely = constants * total / (1.0 + constants * n), softmax(log_flat)
        mean = float(likely @ centres)
        variance = float(likely @ (left / n * constants / (1.0 + constants * n) + (centres - mean) ** 2))
        shapes = []
        for length in np.flatnonzero(rest.any(axis=1)).tolist():
            j = np.flatnonzero(rest[length])
            own = shrunk[length][:, j]
            weights, noise = unit * turned[length][:, None] * own, unit**2 * quadratic[length, j] / n
            shapes.append(Shape(length, rest[length, j], strengths[j], noise, weights, own))
        return cls(patterns, float(flat.sum()), unit * mean, unit**2 * variance, tuple(shapes))

    def mean(self, at: FloatArray) -> FloatArray:
        """Mean at the rows of `at`, shape (m,)."""
        out = np.zeros(at.shape[0])
        for shape in self.shapes:
            turned = self.patterns.at(shape.length, at)[0]
            out += turned.T @ (shape.weights @ (shape.chance * shape.strength)) - shape.chance.sum() * self.centre
        return out

    def __call__(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance at the rows of `at`, within patterns and between them, shapes (m,)."""
        mean, square = np.zeros(at.shape[0]), np.zeros(at.shape[0])
        for shape in self.shapes:
            turned, squared = self.patterns.at(shape.length, at)
            means = turned.T @ (shape.weights * shape.strength) - self.centre
            explained = squared.T @ (shape.shrunk * shape.strength**2)
            mean += means @ shape.chance
            square += (means**2 + shape.noise * np.maximum(shape.strength - explained, 0.0)) @ shape.chance
        return mean, np.maximum(square - mean**2, 0.0)

    def gradient(self, at: FloatArray) -> FloatArray:
        """Gradient of the mean, shape (m, d)."""
        out = np.zeros(at.shape)
        for shape in self.shapes:
            coefficient = self.patterns.spectra[1][shape.length] @ (shape.weights @ (shape.chance * shape.strength))
            out += self.patterns.pull(shape.length, coefficient, at)
        return out

    def covariances(self, points: FloatArray, m: int) -> Iterator[tuple[float, float, FloatArray, FloatArray]]:
        """For each pattern, its probability, noise, variance at the first m points, (m,), and covariance with others.

        The covariance is that with the r points after them, shape (m, r).
        """
        for shape in self.shapes:
            turned, squared = self.patterns.at(shape.length, points)
            between = self.patterns.apart(shape.length, points, m)
            parts = zip(shape.chance, shape.strength, shape.noise, shape.shrunk.T, strict=True)
            for chance, strength, noise, shrunk in parts:
                variance = noise * np.maximum(strength - strength**2 * (shrunk @ squared[:, :m]), 0.0)
                explained = turned[:, :m].T @ ((noise * strength**2 * shrunk)[:, None] * turned[:, m:])
                covariance = noise * strength * between - explained
                yield float(chance), float(noise), variance, covariance

    def difference(self, a: FloatArray, b: FloatArray, slopes: FloatArray) -> float:
        """Variance of s_a r(a) − s_b r(b) for two points, shapes (d,), and slopes s, shape (2,)."""
        at, sign, mean, square = np.array([a, b]), slopes * [1.0, -1.0], 0.0, 0.0
        for shape in self.shapes:
            turned = self.patterns.at(shape.length, at)[0]
            between = np.exp(-np.sum((a - b) ** 2) / self.patterns.root(shape.length) ** 2)
            parts = zip(shape.chance, shape.strength, shape.noise, shape.weights.T, shape.shrunk.T, strict=True)
            for chance, strength, noise, weights, shrunk in parts:
                prior = strength * np.array([[1.0, between], [between, 1.0]])
                covariance = noise * (prior - strength**2 * (turned.T * shrunk) @ turned)
                middle = float(sign @ (strength * turned.T @ weights - self.centre))
                mean += chance * middle
                square += chance * (middle**2 + float(sign @ covariance @ sign))
        return max(square - mean**2, 0.0)


def commonness(missed: FloatArray) -> float:
    """How many of the observations make up what was missed: 3 (Σe²)² / (n Σe⁴), but at most 1.

    It is 1 for Gaussian numbers, and 3 m / n where m of n numbers are alike and the others zero.

    Examples
    --------
    >>> import numpy as np
    >>> commonness(np.repeat([9.0, 0.0], [2, 58])), commonness(np.repeat([9.0, 0.0], [30, 30]))
    (0.1, 1.0)
    """
    squares = missed * missed
    return min(1.0, GAUSSIAN * float(squares.sum()) ** 2 / (missed.size * float(squares @ squares)))


def _log_evidence(quadratic: FloatArray, log_det: FloatArray, n: int) -> FloatArray:
    return np.asarray(-0.5 * log_det - 0.5 * n * np.log(np.maximum(quadratic, np.finfo(float).tiny)))


@dataclass(frozen=True, eq=False)
class DrawnRemainder:
    """A draw of what is left over: Σ_m a_m cos(ω_m·x + b_m) + Σ_j c_j exp(−|x − x_j|² / root²) + a constant."""

    constant: float
    omega: FloatArray
    phase: FloatArray
    amplitude: FloatArray
    x: FloatArray
    coefficient: FloatArray
    root: float

    def value_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values, shape (m,), and gradients, shape (m, d)."""
        angle = at @ self.omega.T + self.phase
        value = self.constant + np.cos(angle) @ self.amplitude
        gradient = -(np.sin(angle) * self.amplitude) @ self.omega
        pulls = np.exp(-cdist(at / self.root, self.x / self.root, "sqeuclidean")) * self.coefficient
        gradient += (pulls @ self.x - at * pulls.sum(axis=1)[:, None]) * (2.0 / self.root**2)
        return value + pulls.sum(axis=1), gradient


def draw_remainder(rng: np.random.Generator, left: Remainder, missed: FloatArray) -> DrawnRemainder:
    """A draw of r(x) − centre: one pattern by its probability, and a path of it (see `infgp.predict.paths`).

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0.0, 1.0, 60)[:, None]
    >>> missed = np.sin(9.0 * x[:, 0])
    >>> drawn = draw_remainder(np.random.default_rng(0), Remainder.of(Patterns(x), missed), missed)
    >>> drawn.value_and_gradient(x)[0].shape
    (60,)
    """
    patterns = left.patterns
    n, d = patterns.x.shape
    chances = np.concatenate(([left.flat], *(shape.chance for shape in left.shapes)))
    chosen = int(rng.choice(chances.size, p=chances / chances.sum())) - 1
    if chosen < 0:
        nothing = np.empty((0, d))
        return DrawnRemainder(0.0, nothing, np.empty(0), np.empty(0), nothing, np.empty(0), 1.0)
    shape, j = [(shape, j) for shape in left.shapes for j in range(shape.chance.size)][chosen]
    root, (strength, noise) = patterns.root(shape.length), (shape.strength[j], shape.noise[j])
    omega = spectral_draw(rng, "se", np.full(d, 1.0 / root**2), FEATURES)
    phase = rng.uniform(0.0, 2.0 * np.pi, FEATURES)
    amplitude = math.sqrt(2.0 * strength * noise / FEATURES) * rng.standard_normal(FEATURES)
    prior = np.cos(patterns.x @ omega.T + phase) @ amplitude
    vectors = patterns.spectra[1][shape.length]
    gap = missed - prior - math.sqrt(noise) * rng.standard_normal(n)
    coefficient = strength * (vectors @ (shape.shrunk[:, j] * (vectors.T @ gap)))
    return DrawnRemainder(-left.centre, omega, phase, amplitude, patterns.x, coefficient, root)
