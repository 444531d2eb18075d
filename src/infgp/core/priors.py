"""Priors of the hyperparameters, for inputs in the unit cube and standardised rewards.

Each prior has ``logpdf(value)`` and ``sample(rng, size)``. Length-scale priors work on log ℓ and also have
``cdf``, from which a grid takes its cell masses. ``Fixed`` in place of a prior holds a parameter at a known value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from scipy.special import gammaln, ndtr, ndtri

from infgp.core.kernels import log_ell_from_phi, phi_from_log_ell
from infgp.core.linalg import FloatArray
from infgp.errors import InvalidInputError, check_int, check_positive

Size: TypeAlias = int | tuple[int, ...]


@dataclass(frozen=True)
class Fixed:
    """A parameter held at a known value; samplers leave it alone.

    Examples
    --------
    >>> import numpy as np
    >>> Fixed(0.1).sample(np.random.default_rng(0), 2)
    array([0.1, 0.1])
    """

    value: float

    def logpdf(self, value: FloatArray | float) -> float:
        """Zero: a point mass adds nothing to the log joint of the rest."""
        return 0.0

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        """The value, repeated."""
        return np.full(size, self.value)


@dataclass(frozen=True)
class Normal:
    """Independent N(mean, sd²) for every coefficient of the trend.

    Examples
    --------
    >>> import numpy as np
    >>> round(Normal(0.0, 2.0).logpdf(np.zeros(1)), 4)
    -1.6121
    """

    mean: float | FloatArray = 0.0
    sd: float | FloatArray = 1.0

    def __post_init__(self) -> None:
        if not (np.all(np.isfinite(self.mean)) and np.all(np.isfinite(self.sd)) and np.all(np.asarray(self.sd) > 0)):
            raise InvalidInputError(f"Normal needs a finite mean and a finite sd > 0, but got {self!r}.")

    def logpdf(self, value: FloatArray) -> float:
        """Log density of the vector `value`."""
        u = (value - self.mean) / self.sd
        log_sd = np.broadcast_to(np.log(self.sd), value.shape)
        return float(-0.5 * np.sum(u * u) - np.sum(log_sd) - 0.5 * value.size * np.log(2.0 * np.pi))

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        """A vector of coefficients."""
        return np.asarray(self.mean + self.sd * rng.standard_normal(size))


@dataclass(frozen=True)
class InverseGamma:
    """Inverse gamma on a variance v: density ∝ v^{−shape−1} exp(−scale / v); mean scale / (shape − 1).

    Examples
    --------
    >>> round(InverseGamma(2.0, 1.0).logpdf(0.5), 4)
    0.0794
    """

    shape: float
    scale: float

    def __post_init__(self) -> None:
        check_positive("shape of InverseGamma", self.shape)
        check_positive("scale of InverseGamma", self.scale)

    def logpdf(self, value: FloatArray | float) -> float:
        """Log density, summed over the entries of `value`."""
        a, b = self.shape, self.scale
        return float(np.sum(a * np.log(b) - gammaln(a) - (a + 1.0) * np.log(value) - b / np.asarray(value)))

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        """Variances."""
        return self.scale / rng.standard_gamma(self.shape, size)


@dataclass(frozen=True)
class Gamma:
    """Gamma with a shape and a rate: mean shape / rate.

    Examples
    --------
    >>> round(Gamma(1.0, 2.0).logpdf(0.5), 4)  # log 2 − 1
    -0.3069
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        check_positive("shape of Gamma", self.shape)
        check_positive("rate of Gamma", self.rate)

    def logpdf(self, value: FloatArray | float) -> float:
        """Log density, summed over the entries of `value`."""
        a, b = self.shape, self.rate
        return float(np.sum(a * np.log(b) - gammaln(a) + (a - 1.0) * np.log(value) - b * np.asarray(value)))

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        """Positive numbers."""
        return rng.standard_gamma(self.shape, size) / self.rate


@dataclass(frozen=True)
class LogNormal:
    """Log-normal length-scales: log ℓ ~ N(loc, scale²), cut off below `lower`.

    With ``loc=None`` the location is √2 + ½ log d: typical correlations then stay the same as the dimension d grows. A
    surface much rougher than the spacing of the data is white noise, which τ² is for; hence the cut.

    Examples
    --------
    >>> round(float(LogNormal(loc=0.0, scale=1.0).cdf(0.0)), 2)
    0.5
    """

    loc: float | None = None
    scale: float = float(np.sqrt(3.0))
    lower: float = 0.025

    def __post_init__(self) -> None:
        check_positive("scale of LogNormal", self.scale)
        check_positive("lower of LogNormal", self.lower)

    @property
    def _cut(self) -> float:
        """Mass of the uncut distribution below `lower`."""
        return float(ndtr(self._u(math.log(self.lower))))

    def _u(self, log_ell: FloatArray | float) -> FloatArray:
        assert self.loc is not None, "Priors.resolve sets the location"
        return (np.asarray(log_ell) - self.loc) / self.scale

    def logpdf(self, log_ell: FloatArray | float) -> float:
        """Log density with respect to log ℓ, summed over the entries."""
        u = self._u(log_ell)
        if np.any(np.asarray(log_ell) < math.log(self.lower)):
            return -math.inf
        norm = self.scale * math.sqrt(2.0 * math.pi) * (1.0 - self._cut)
        return -0.5 * float(np.vdot(u, u)) - u.size * math.log(norm)

    def penalty(self, log_ell: FloatArray) -> tuple[float, FloatArray]:
        """What a posterior mode adds to the log likelihood, and its gradient: the log density of log ℓ."""
        return self.logpdf(log_ell), -self._u(log_ell) / self.scale

    def cdf(self, log_ell: FloatArray | float) -> FloatArray:
        """P(log ℓ <= value)."""
        return np.asarray(np.clip((ndtr(self._u(log_ell)) - self._cut) / (1.0 - self._cut), 0.0, 1.0))

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        """Values of log ℓ."""
        assert self.loc is not None
        level = self._cut + (1.0 - self._cut) * rng.random(size)
        return np.asarray(np.maximum(self.loc + self.scale * ndtri(level), math.log(self.lower)))


@dataclass(frozen=True)
class UniformPhi:
    """The paper's prior: φ = 1 / (2 ℓ²) uniform on (0, upper].

    With ``upper=None`` it is set so that at φ = upper the correlation of the squared exponential falls to 0.05 at the
    fraction `reach` of the cube's diameter √d: √(3 / upper) = reach · √d.

    Examples
    --------
    >>> round(float(UniformPhi(upper=2.0).cdf(0.0)), 2)  # ℓ <= 1 is φ >= 0.5
    0.75
    """

    upper: float | None = None
    reach: float = 0.01

    def __post_init__(self) -> None:
        check_positive("reach of UniformPhi", self.reach)
        if self.upper is not None:
            check_positive("upper of UniformPhi", self.upper)

    def logpdf(self, log_ell: FloatArray | float) -> float:
        """Log density with respect to log ℓ (the density of φ times |dφ / d log ℓ| = 2 φ), summed over the entries."""
        assert self.upper is not None, "Priors.resolve sets the upper end"
        phi = phi_from_log_ell(log_ell)
        return float(np.sum(np.log(2.0 * phi / self.upper))) if np.all(phi <= self.upper) else -np.inf

    def penalty(self, log_ell: FloatArray) -> tuple[float, FloatArray]:
        """Nothing: flat in φ, so that the mode is the paper's maximum likelihood."""
        return 0.0, np.zeros(np.shape(log_ell))

    def cdf(self, log_ell: FloatArray | float) -> FloatArray:
        """P(log ℓ <= value)."""
        assert self.upper is not None
        return np.clip(1.0 - phi_from_log_ell(log_ell) / self.upper, 0.0, 1.0)

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        """Values of log ℓ."""
        assert self.upper is not None
        return log_ell_from_phi(self.upper * (1.0 - rng.random(size)))


@dataclass(frozen=True, eq=False)
class Grid:
    """A discrete prior on log ℓ: the paper's grid for the isotropic kernel.

    Examples
    --------
    >>> grid = Grid.of(LogNormal(loc=0.0), n_features=4, size=20)
    >>> grid.log_ell.shape, round(float(grid.mass.sum()), 12)
    ((20,), 1.0)
    """

    log_ell: FloatArray
    mass: FloatArray

    @classmethod
    def of(cls, prior: LogNormal | UniformPhi | Grid | Fixed, n_features: int, size: int = 20) -> Grid:
        """Discretise a prior: `size` length-scales, equally spaced in log ℓ, each with the mass of its cell.

        The grid spans ℓ = 0.02 √d (rougher than can be learned) to 10 √d (straight lines, which the trend has already);
        the end cells take the tails. A grid stays as it is and a fixed ℓ becomes a grid of one.
        """
        if isinstance(prior, Grid):
            return prior
        if isinstance(prior, Fixed):
            return cls(np.log([prior.value]), np.ones(1))
        size = check_int("grid size", size, 1)
        log_ell = np.log(np.geomspace(0.02, 10.0, size)) + 0.5 * np.log(n_features)
        edges = 0.5 * (log_ell[1:] + log_ell[:-1])
        mass = np.diff(np.concatenate(([0.0], prior.cdf(edges), [1.0])))
        keep = mass > 0.0
        return cls(log_ell[keep], mass[keep])

    def logpdf(self, log_ell: FloatArray | float) -> float:
        """Log mass of the grid point at `log_ell`; −∞ off the grid."""
        gaps = np.abs(self.log_ell - np.ravel(log_ell)[0])
        m = int(np.argmin(gaps))
        return float(np.log(self.mass[m])) if gaps[m] < 1e-9 else -np.inf

    def sample(self, rng: np.random.Generator, size: Size) -> FloatArray:
        """Values of log ℓ from the grid."""
        return rng.choice(self.log_ell, size=size, p=self.mass / self.mass.sum())


Positive: TypeAlias = InverseGamma | Fixed
LengthscalePrior: TypeAlias = LogNormal | UniformPhi | Grid | Fixed


@dataclass(frozen=True)
class Priors:
    """All priors of the model, in standardised units.

    Rewards are standardised to median 0 and half the 16–84 % range 1; inputs to the unit cube.

    Parameters
    ----------
    beta : Normal or Fixed, optional
        Trend coefficients (intercept first). Default: standard deviation 1 for the intercept and 1/√d for each slope,
        so that the trend's own prior does not grow with the dimension.
    tau2 : InverseGamma or Fixed
        Noise variance τ² about a surface. The small default scale lets nearly noise-free functions be seen as such.
    sigma2 : InverseGamma or Fixed
        Variance σ² of a surface.
    nu : Gamma or Fixed
        Concentration ν.
    lengthscale : LogNormal, UniformPhi, Grid or Fixed
        ``LogNormal()`` (default) is scaled with the dimension, ``UniformPhi()`` is the paper's, ``Fixed`` takes ℓ.

    Examples
    --------
    >>> Priors(tau2=Fixed(0.04)).resolve(n_features=2).beta.sd.round(3)
    array([1.   , 0.707, 0.707])
    """

    beta: Normal | Fixed | None = None
    tau2: Positive = field(default_factory=lambda: InverseGamma(2.0, 0.01))
    sigma2: Positive = field(default_factory=lambda: InverseGamma(2.0, 1.0))
    nu: Gamma | Fixed = field(default_factory=lambda: Gamma(2.0, 4.0))
    lengthscale: LengthscalePrior = field(default_factory=LogNormal)

    def __post_init__(self) -> None:
        allowed: dict[str, tuple[type, ...]] = {
            "beta": (Normal, Fixed, type(None)),
            "tau2": (InverseGamma, Fixed),
            "sigma2": (InverseGamma, Fixed),
            "nu": (Gamma, Fixed),
            "lengthscale": (LogNormal, UniformPhi, Grid, Fixed),
        }
        for name, kinds in allowed.items():
            prior = getattr(self, name)
            if not isinstance(prior, kinds):
                wanted = ", ".join(kind.__name__ for kind in kinds)
                raise InvalidInputError(f"The prior of {name} must be one of {wanted}, but got {prior!r}.")
            if isinstance(prior, Fixed) and name != "beta":
                check_positive(f"Fixed value of {name}", prior.value)

    def resolve(self, n_features: int) -> Priors:
        """The same priors with every default that depends on the dimension filled in."""
        beta, lengthscale = self.beta, self.lengthscale
        if beta is None:
            sd = np.full(n_features + 1, 1.0 / np.sqrt(n_features))
            sd[0] = 1.0
            beta = Normal(np.zeros(n_features + 1), sd)
        if isinstance(lengthscale, LogNormal) and lengthscale.loc is None:
            lengthscale = replace(lengthscale, loc=float(np.sqrt(2.0) + 0.5 * np.log(n_features)))
        if isinstance(lengthscale, UniformPhi) and lengthscale.upper is None:
            lengthscale = replace(lengthscale, upper=3.0 / (lengthscale.reach**2 * n_features))
        return replace(self, beta=beta, lengthscale=lengthscale)
