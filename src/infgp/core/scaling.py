"""From the user's units to the model's and back: inputs to the unit cube, rewards to a robust standard scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infgp.core.integrals import powers
from infgp.core.linalg import FloatArray
from infgp.errors import InvalidInputError

#: Largest reward that can be squared and summed safely, in standard units.
LARGEST_REWARD = 1e100
#: Largest distance of an input from the training inputs that can be squared and summed safely, in the model's units.
FARTHEST = 1e100
#: Differences between rewards below this part of the largest reward are rounding errors.
ROUNDING = 4.0 * np.finfo(np.float64).eps
#: Differences between rewards below this, in the user's units, count as none: densities would overflow.
SMALLEST_SPREAD = 1e-290


def check_variances(values: object, n: int) -> FloatArray:
    """Noise variances as an array of shape (n,), zeros for None; raise unless all are finite and not negative.

    Examples
    --------
    >>> check_variances([0.5, 0], 2)
    array([0.5, 0. ])
    """
    if values is None:
        return np.zeros(n)
    try:
        variances = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(f"noise_variance must be made of numbers, but got {values!r}.") from None
    if variances.shape != (n,):
        raise InvalidInputError(
            f"noise_variance must have one entry for each of the {n} rewards, but has shape {variances.shape}."
        )
    bad = np.flatnonzero(~((variances >= 0.0) & (variances < np.inf)))
    if bad.size:
        raise InvalidInputError(
            f"noise_variance must be finite and >= 0, but that of reward {bad[0]} is {float(variances[bad[0]])!r}; "
            "give the square of its standard error, or 0 where none is known."
        )
    return variances


@dataclass(frozen=True)
class InputScale:
    """Affine map of each input's training range to [0, 1]; a constant input keeps its unit.

    Examples
    --------
    >>> import numpy as np
    >>> scale = InputScale.fit(np.array([[0.0, 5.0], [10.0, 5.0]]))
    >>> scale.to_unit(np.array([[5.0, 6.0]]))
    array([[0.5, 1. ]])
    """

    low: FloatArray
    span: FloatArray

    @classmethod
    def fit(cls, x: FloatArray) -> InputScale:
        """The map for the inputs `x`, shape (n, d)."""
        low = x.min(axis=0)
        with np.errstate(over="ignore"):
            span = x.max(axis=0) - low
        if not np.isfinite(span).all():
            k = int(np.argmax(~np.isfinite(span)))
            raise InvalidInputError(f"Column {k} of X spans more than a float can hold; use its logarithm.")
        return cls(low, np.where(span > 0.0, span, 1.0))

    def to_unit(self, x: FloatArray) -> FloatArray:
        """Inputs in the model's units, at most `FARTHEST` from 0, so that distances are numbers."""
        with np.errstate(over="ignore"):
            return np.clip((x - self.low) / self.span, -FARTHEST, FARTHEST)


@dataclass(frozen=True)
class RewardScale:
    """Median 0 and half the 16–84 % range 1, so that outliers do not set the unit.

    Examples
    --------
    >>> import numpy as np
    >>> scale = RewardScale.fit(np.array([1.0, 2.0, 3.0, 4.0, 1e9]))
    >>> scale.location
    3.0
    """

    location: float
    scale: float

    @classmethod
    def fit(cls, y: FloatArray) -> RewardScale:
        """The scale of the rewards `y`, shape (n,).

        Where most rewards are equal, their standard deviation is the unit; where all are, but for rounding errors, or
        where they differ by less than floats can resolve, one is.
        """
        if np.ptp(y / 2.0) <= max(ROUNDING * float(np.max(np.abs(y))), SMALLEST_SPREAD):
            return cls(float(np.median(y)), 1.0)
        low, middle, high = np.percentile(y, (16.0, 50.0, 84.0))
        with np.errstate(over="ignore"):
            candidates = (high / 2.0 - low / 2.0, float(np.std(y)), 1.0)
            scale = next(s for s in candidates if s > 0.0)
            reach = float(np.max(np.abs(y - middle))) / scale
        if not np.isfinite(scale) or not reach <= LARGEST_REWARD:
            i = int(np.argmax(np.abs(y / 2.0 - middle / 2.0)))
            raise InvalidInputError(
                f"y[{i}]={y[i]!r} is too far from the median {middle!r} for floating-point arithmetic; "
                "leave that observation out (as a failed evaluation) or transform y."
            )
        return cls(float(middle), float(scale))

    @property
    def unit(self) -> float:
        """One standard unit, in the user's units."""
        return self.scale

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest standard reward that a mean counts: it counts all."""
        return -np.inf, np.inf

    def to_standard(self, y: FloatArray) -> FloatArray:
        """Rewards in the model's units."""
        return (y - self.location) / self.scale

    def variances_to_standard(self, variances: FloatArray) -> FloatArray:
        """Noise variances in the model's units, at most `LARGEST_REWARD`, so that all are numbers."""
        with np.errstate(over="ignore"):
            return np.minimum(variances / self.scale / self.scale, LARGEST_REWARD)

    def from_standard(self, y: FloatArray) -> FloatArray:
        """Rewards in the user's units."""
        return self.location + self.scale * y

    def log_slope(self, z: FloatArray) -> FloatArray:
        """Logarithm of dy/dz at standard rewards."""
        return np.full(np.shape(z), np.log(self.scale))

    def growth(self, z: FloatArray) -> FloatArray:
        """By what rate dy/dz grows or falls: it is constant."""
        return np.zeros(np.shape(z))

    def expectation(self, mean: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The mean of y for z ~ N(mean, sd²), and its derivative with respect to that of z."""
        return self.from_standard(mean), np.full(np.shape(mean), self.scale)

    def partial_moments(self, mean: FloatArray, sd: FloatArray, below: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Integrals of z − mean and (z − mean)² over z ~ N(mean, sd²) up to `below`."""
        return powers(mean, sd, np.array(-np.inf), below)[1:]


@dataclass(frozen=True)
class Units:
    """The user's units of inputs and rewards, for states that are carried from one fit to another."""

    inputs: InputScale
    rewards: RewardScale
