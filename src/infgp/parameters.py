"""Parameters of a search space, and the coordinates of their values.

A `Float` or an `Int` takes one coordinate, a `Choice` of k options takes k (one-hot), a constant takes none. A
parameter with a condition, `when`, applies only to points at which other parameters have certain values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from infgp.errors import InvalidInputError, shown
from infgp.parameterbase import (
    Condition,
    Identity,
    ParameterBase,
    RangeBase,
    Scalar,
    decimal,
    identity,
    is_integer,
    is_number,
    is_scalar,
    plain,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infgp.core.linalg import FloatArray

#: Largest size of an integer for which every integer up to it is a float of its own.
LARGEST_INT = 2**53

#: Distance beyond a bound that counts as rounding error, in units of the range, or of the bound itself on a log scale.
ROUND_OFF = 1e-12

#: Distance from a multiple of the step that counts as rounding error, in units of the step.
OFF_STEP = 1e-8


@dataclass(frozen=True, repr=False)
class Float(RangeBase):
    """A real parameter between `low` and `high`, both inclusive.

    With a step there are N values, each of which owns one of N equal cells of [0, 1]. They are the floats nearest to
    low + k step, computed with low and step as they are written in decimals: 0.1, 0.2, 0.3, not 0.30000000000000004.

    Parameters
    ----------
    low, high : float
        Finite, with low < high.
    log : bool
        Whether to search on a log scale, which needs low > 0.
    step : float or None
        Distance between values, at most high − low; `high` is lowered to the largest value. Not on a log scale.
    when : mapping of str to a value or a list of values, or None
        Other parameters, each a Choice or an Int, and their values at which this parameter applies. A point at which
        it does not apply is without it.

    Examples
    --------
    >>> Float(1e-4, 1.0, log=True)
    Float(low=0.0001, high=1.0, log=True)
    >>> Float(0.0, 1.0, step=0.3, when={"kind": "a"})
    Float(low=0.0, high=0.9, log=False, step=0.3, when={'kind': 'a'})
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None
    when: Mapping[str, Any] | None = field(default=None, compare=False)
    _condition: Condition = field(init=False, repr=False)
    _index: Int | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        low, high, step = plain(self.low), plain(self.high), plain(self.step)
        if not (is_number(low) and is_number(high) and float(low) < float(high)):
            raise InvalidInputError(f"{self!r} has no range: low and high must be finite numbers with low < high.")
        if not math.isfinite(float(high) - float(low)):
            raise InvalidInputError(f"{self!r} spans more than a float can hold; use a smaller unit or range.")
        self._check_log(low)
        object.__setattr__(self, "low", float(low))
        object.__setattr__(self, "high", float(high))
        if self.log and not np.log(self.low) < np.log(self.high):
            raise InvalidInputError(f"{self!r} is too narrow for a log scale; leave out log=True.")
        object.__setattr__(self, "_index", None if step is None else self._count(step))
        self._settle()

    def _count(self, step: Any) -> Int:
        """Check the step, lower `high` to the last value, and return the numbers of the values."""
        if not is_number(step) or not step > 0:
            raise InvalidInputError(f"{self!r} has no step: it must be a finite number > 0, or None.")
        if self.log:
            raise InvalidInputError(f"{self!r} has a step on a log scale; leave out log=True or the step.")
        object.__setattr__(self, "step", float(step))
        resolution = math.ulp(max(abs(self.low), abs(self.high)))
        steps = (decimal(self.high) - decimal(self.low)) / decimal(float(step))
        if steps > LARGEST_INT or step < 2.0 * resolution:
            raise InvalidInputError(f"{self!r} has a step too small for floats to tell values apart; use a larger one.")
        last = math.floor(steps + Fraction(max(OFF_STEP, resolution / step)))  # `high` itself may have been rounded
        if last < 1:
            raise InvalidInputError(f"{self!r} has a step beyond its range; it must be at most high - low.")
        object.__setattr__(self, "high", self._value(last))
        return Int(0, last)

    def _value(self, k: int) -> float:
        """The k-th value."""
        assert self.step is not None
        return min(float(decimal(self.low) + k * decimal(self.step)), self.high)

    def _number(self, value: float) -> int:
        """The number k of the value nearest to `value`."""
        assert self.step is not None
        assert self._index is not None
        k = round((Fraction(value) - decimal(self.low)) / decimal(self.step))
        return min(max(k, 0), self._index.high)

    @property
    def size(self) -> float:
        """Number of distinct values."""
        return math.inf if self._index is None else self._index.size

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return 1

    def encode(self, values: Sequence[Any]) -> FloatArray:
        """Valid values to coordinates, shape (m, 1)."""
        if self._index is not None:
            return self._index.encode([self._number(value) for value in values])
        x: FloatArray = np.array([self.low, self.high, *values])[:, None]
        x = np.log(x) if self.log else x
        return self.snap((x[2:] - x[0]) / (x[1] - x[0]))

    def decode(self, u: FloatArray) -> list[float]:
        """Coordinates, shape (m, 1), to values; 0 and 1 give the bounds to the last bit."""
        if self._index is not None:
            return [self._value(k) for k in self._index.decode(u)]
        t = self.snap(u)[:, 0]
        x = self.low ** (1.0 - t) * self.high**t if self.log else (1.0 - t) * self.low + t * self.high
        values: list[float] = np.clip(x, self.low, self.high).tolist()
        return values

    def snap(self, u: FloatArray) -> FloatArray:
        """Coordinates of the values that `u` decodes to: without a step `u` itself, inside the cube."""
        return np.clip(u, 0.0, 1.0) if self._index is None else self._index.snap(u)

    def others(self, u: FloatArray) -> FloatArray:
        """Coordinates of values to try instead of that at `u`, shape (1, 1); none without a step."""
        return np.empty((0, 1)) if self._index is None else self._index.others(u)

    def check(self, name: str, value: object) -> float:
        """Return `value` as a float within the range, on a step if there are any, or raise."""
        value = plain(value)
        if not is_number(value):
            raise InvalidInputError(
                f"{name}={shown(value)} is not a finite number; give one in [{self.low}, {self.high}]."
            )
        below, above = (self.low, self.high) if self.log else (self.high - self.low,) * 2
        if not self.low - ROUND_OFF * below <= value <= self.high + ROUND_OFF * above:
            raise self._outside(name, value)
        if self.step is None:
            return min(max(float(value), self.low), self.high)
        nearest = self._value(self._number(value))
        if not abs(value - nearest) <= OFF_STEP * self.step + 2.0 * math.ulp(nearest):
            raise self._between(name, value, nearest)
        return nearest


@dataclass(frozen=True, repr=False)
class Int(RangeBase):
    """An integer parameter between `low` and `high`, both inclusive.

    Each value owns a cell of [0, 1]. The N cells are equal or, on a log scale, have the edges
    log(low − ½), log(low + ½), …, log(high + ½).

    Parameters
    ----------
    low, high : int
        At most 2⁵³ in size, with low <= high.
    log : bool
        Whether to search on a log scale, which needs low > 0.
    step : int
        Distance between values, at most high − low; `high` is lowered to the largest value. On a log scale it is 1.
    when : mapping of str to a value or a list of values, or None
        Other parameters, each a Choice or an Int, and their values at which this parameter applies. A point at which
        it does not apply is without it.

    Examples
    --------
    >>> Int(1, 4).encode([1, 4]).ravel()
    array([0.125, 0.875])
    >>> Int(0, 99, step=25)
    Int(low=0, high=75, log=False, step=25)
    """

    low: int
    high: int
    log: bool = False
    step: int = 1
    when: Mapping[str, Any] | None = field(default=None, compare=False)
    _condition: Condition = field(init=False, repr=False)

    def __post_init__(self) -> None:
        low, high, step = plain(self.low), plain(self.high), plain(self.step)
        if not (is_integer(low) and is_integer(high) and low <= high):
            raise InvalidInputError(f"{self!r} has no range: low and high must be integers with low <= high.")
        if max(abs(low), abs(high)) > LARGEST_INT:
            raise InvalidInputError(f"{self!r} goes beyond ±2**53, where floats skip integers; use a larger unit.")
        self._check_log(low)
        if not is_integer(step) or step < 1:
            raise InvalidInputError(f"{self!r} has no step: it must be an integer >= 1.")
        if self.log and step != 1:
            raise InvalidInputError(f"{self!r} has a step on a log scale; leave out log=True or the step.")
        if low < high and step > high - low:
            raise InvalidInputError(f"{self!r} has a step beyond its range; it must be at most high - low.")
        object.__setattr__(self, "low", int(low))
        object.__setattr__(self, "high", int(high) - int(high - low) % int(step))
        object.__setattr__(self, "step", int(step))
        self._settle()

    @property
    def size(self) -> float:
        """Number of distinct values."""
        return float((self.high - self.low) // self.step + 1)

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return int(self.size > 1)

    def encode(self, values: Sequence[Any]) -> FloatArray:
        """Valid values to coordinates, shape (m, 1)."""
        return self._position((np.array(values, float)[:, None] - self.low) / self.step)

    def decode(self, u: FloatArray) -> list[int]:
        """Coordinates, shape (m, 1), to values."""
        values: list[int] = np.clip(self.low + self.step * self.rank(u), self.low, self.high).tolist()
        return values

    def snap(self, u: FloatArray) -> FloatArray:
        """Coordinates of the values that `u` decodes to."""
        return self._position(self._cell(u))

    def others(self, u: FloatArray) -> FloatArray:
        """Coordinates of values to try instead of that at `u`, shape (1, 1): the next ones, and some an eighth away."""
        k, last = float(self._cell(u)[0, 0]), self.size - 1.0
        far = max(1.0, last // 8)
        return self._position(
            np.array(sorted({i for i in (k - far, k - 1, k + 1, k + far) if 0 <= i <= last}))[:, None]
        )

    def rank(self, u: FloatArray) -> NDArray[np.int64]:
        """Numbers, counted from 0, of the values that `u`, shape (m, 1), decodes to."""
        return self._cell(u)[:, 0].astype(np.int64)

    def number(self, value: Any) -> int:
        """Number, counted from 0, of a valid value; −1 for what is no integer."""
        return int((value - self.low) // self.step) if is_integer(value) else -1

    def check(self, name: str, value: object) -> int:
        """Return `value` as an int within the range, on a step, or raise."""
        value = plain(value)
        if not is_integer(value):
            raise InvalidInputError(f"{name}={shown(value)} is not an integer; give one in [{self.low}, {self.high}].")
        if not self.low <= value <= self.high:
            raise self._outside(name, value)
        left = int(value - self.low) % self.step
        if left:
            raise self._between(name, value, int(value) - left)
        return int(value)

    def _position(self, k: FloatArray) -> FloatArray:
        """Coordinate of the k-th value; with a = low − ½ the log scale is log(v / a) = log(1 + (k + ½) / a)."""
        a = self.low - 0.5
        return np.log1p((k + 0.5) / a) / np.log1p(self.size / a) if self.log else (k + 0.5) / self.size

    def _cell(self, u: FloatArray) -> FloatArray:
        """Number k = 0, …, N − 1 of the cell that holds `u`."""
        a, t = self.low - 0.5, np.clip(u, 0.0, 1.0)
        x = a * np.expm1(t * np.log1p(self.size / a)) if self.log else t * self.size
        return np.clip(np.floor(x), 0.0, self.size - 1.0)


@dataclass(frozen=True, repr=False)
class Choice(ParameterBase):
    """One of several options without an order.

    Parameters
    ----------
    options : sequence of str, int, float, bool or None
        No two may compare equal, as 1, 1.0 and True do.
    when : mapping of str to a value or a list of values, or None
        Other parameters, each a Choice or an Int, and their values at which this parameter applies. A point at which
        it does not apply is without it.

    Examples
    --------
    >>> Choice(["adam", "sgd"]).encode(["sgd"])
    array([[0., 1.]])
    """

    options: Sequence[Scalar] = field(compare=False)
    when: Mapping[str, Any] | None = field(default=None, compare=False)
    _identities: tuple[Identity, ...] = field(init=False, repr=False)
    _condition: Condition = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.options, Sequence | np.ndarray) or isinstance(self.options, str | bytes):
            raise InvalidInputError(
                f"Choice needs a list of options such as ['a', 'b'], but got {shown(self.options)}."
            )
        options = tuple(map(plain, self.options))
        if not options:
            raise InvalidInputError("Choice has no options; give at least one.")
        seen: set[Scalar] = set()
        for option in options:
            if not is_scalar(option):
                raise InvalidInputError(
                    f"The option {option!r} is not a str, int, finite float, bool or None; name it by a string instead."
                )
            if option in seen:
                raise InvalidInputError(
                    f"The option {option!r} equals an earlier one in {shown(list(options))}; leave it out or name it "
                    "apart."
                )
            seen.add(option)
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "_identities", tuple(map(identity, options)))
        self._settle()

    @property
    def size(self) -> float:
        """Number of distinct values."""
        return float(len(self.options))

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return len(self.options) if self.size > 1 else 0

    @property
    def middle(self) -> float:
        """Each coordinate where the parameter does not apply: as far from one option as from every other."""
        return 1.0 / len(self.options)

    def encode(self, values: Sequence[Any]) -> FloatArray:
        """Valid values to one-hot coordinates, shape (m, k)."""
        return self._one_hot(np.array([self.number(value) for value in values], np.intp))

    def decode(self, u: FloatArray) -> list[Scalar]:
        """Coordinates, shape (m, k), to the option with the largest; the first of ties."""
        return [self.options[k] for k in self.rank(u)]

    def snap(self, u: FloatArray) -> FloatArray:
        """Coordinates of the values that `u` decodes to."""
        return self._one_hot(self.rank(u))

    def others(self, u: FloatArray) -> FloatArray:
        """Coordinates of the other options than that at `u`, shape (1, k)."""
        return np.delete(np.eye(len(self.options)), self.rank(u)[0], axis=0)

    def rank(self, u: FloatArray) -> NDArray[np.intp]:
        """Numbers, counted from 0, of the options that `u`, shape (m, k), decodes to."""
        largest: NDArray[np.intp] = np.argmax(u, axis=1)
        return largest

    def number(self, value: Any) -> int:
        """Number, counted from 0, of an option; −1 for what is none."""
        return self._identities.index(identity(value)) if identity(value) in self._identities else -1

    def check(self, name: str, value: object) -> Scalar:
        """Return the option that `value` is, or raise."""
        value = plain(value)
        if not is_scalar(value) or identity(value) not in self._identities:
            raise InvalidInputError(f"{name}={shown(value)} is not an option; give one of {shown(list(self.options))}.")
        return self.options[self.number(value)]

    def _one_hot(self, index: NDArray[np.intp]) -> FloatArray:
        one_hot: FloatArray = (index[:, None] == np.arange(len(self.options))).astype(float)
        return one_hot


Parameter: TypeAlias = Float | Int | Choice
