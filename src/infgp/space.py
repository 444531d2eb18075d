"""Search spaces: named parameters and their map to the unit cube, where the model works.

A `Float` or an `Int` takes one coordinate, a `Choice` of k options takes k (one-hot), a constant takes none.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

from infgp.errors import InvalidInputError, check_int

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infgp.core.linalg import FloatArray

Scalar: TypeAlias = str | int | float | bool | None
Point: TypeAlias = dict[str, Scalar]

#: Largest size of an integer for which every integer up to it is a float of its own.
LARGEST_INT = 2**53

#: Largest number of dimensions for which SciPy has direction numbers of Sobol's sequence.
LARGEST_SOBOL = 21201

#: Distance beyond a bound that counts as rounding error, in units of the range, or of the bound itself on a log scale.
ROUND_OFF = 1e-12


@dataclass(frozen=True)
class Float:
    """A real parameter between `low` and `high`, both inclusive.

    Parameters
    ----------
    low, high : float
        Finite, with low < high.
    log : bool
        Whether to search on a log scale, which needs low > 0.

    Examples
    --------
    >>> Float(1e-4, 1.0, log=True)
    Float(low=0.0001, high=1.0, log=True)
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        low, high = _plain(self.low), _plain(self.high)
        if not (_is_number(low) and _is_number(high) and float(low) < float(high)):
            raise InvalidInputError(f"{self!r} has no range: low and high must be finite numbers with low < high.")
        if not math.isfinite(float(high) - float(low)):
            raise InvalidInputError(f"{self!r} spans more than a float can hold; use a smaller unit or range.")
        _check_log(self, low)
        object.__setattr__(self, "low", float(low))
        object.__setattr__(self, "high", float(high))
        if self.log and not np.log(self.low) < np.log(self.high):
            raise InvalidInputError(f"{self!r} is too narrow for a log scale; leave out log=True.")

    @property
    def size(self) -> float:
        """Number of distinct values."""
        return math.inf

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return 1

    def encode(self, values: Sequence[Any]) -> FloatArray:
        """Valid values to coordinates, shape (m, 1)."""
        x: FloatArray = np.array([self.low, self.high, *values])[:, None]
        x = np.log(x) if self.log else x
        return self.snap((x[2:] - x[0]) / (x[1] - x[0]))

    def decode(self, u: FloatArray) -> list[float]:
        """Coordinates, shape (m, 1), to values; 0 and 1 give the bounds to the last bit."""
        t = self.snap(u)[:, 0]
        x = self.low ** (1.0 - t) * self.high**t if self.log else (1.0 - t) * self.low + t * self.high
        values: list[float] = np.clip(x, self.low, self.high).tolist()
        return values

    def snap(self, u: FloatArray) -> FloatArray:
        """The coordinates themselves, inside the cube."""
        return np.clip(u, 0.0, 1.0)

    def check(self, name: str, value: object) -> float:
        """Return `value` as a float within the range, or raise."""
        value = _plain(value)
        if not _is_number(value):
            raise InvalidInputError(f"{name}={value!r} is not a finite number; give one in [{self.low}, {self.high}].")
        below, above = (self.low, self.high) if self.log else (self.high - self.low,) * 2
        if not self.low - ROUND_OFF * below <= value <= self.high + ROUND_OFF * above:
            raise _outside(name, value, self)
        return min(max(float(value), self.low), self.high)


@dataclass(frozen=True)
class Int:
    """An integer parameter between `low` and `high`, both inclusive.

    Each value owns a cell of [0, 1]. The N = high − low + 1 cells are equal or, on a log scale, have the edges
    log(low − ½), log(low + ½), …, log(high + ½).

    Parameters
    ----------
    low, high : int
        At most 2⁵³ in size, with low <= high.
    log : bool
        Whether to search on a log scale, which needs low > 0.

    Examples
    --------
    >>> Int(1, 4).encode([1, 4]).ravel()
    array([0.125, 0.875])
    """

    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        low, high = _plain(self.low), _plain(self.high)
        if not (_is_integer(low) and _is_integer(high) and low <= high):
            raise InvalidInputError(f"{self!r} has no range: low and high must be integers with low <= high.")
        if max(abs(low), abs(high)) > LARGEST_INT:
            raise InvalidInputError(f"{self!r} goes beyond ±2**53, where floats skip integers; use a larger unit.")
        _check_log(self, low)
        object.__setattr__(self, "low", int(low))
        object.__setattr__(self, "high", int(high))

    @property
    def size(self) -> float:
        """Number of distinct values."""
        return float(self.high - self.low + 1)

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return int(self.size > 1)

    def encode(self, values: Sequence[Any]) -> FloatArray:
        """Valid values to coordinates, shape (m, 1)."""
        return self._position(np.array(values, float)[:, None] - self.low)

    def decode(self, u: FloatArray) -> list[int]:
        """Coordinates, shape (m, 1), to values."""
        values: list[int] = np.clip(self.low + self._cell(u)[:, 0], self.low, self.high).astype(np.int64).tolist()
        return values

    def snap(self, u: FloatArray) -> FloatArray:
        """Coordinates of the values that `u` decodes to."""
        return self._position(self._cell(u))

    def others(self, value: int) -> list[int]:
        """Values to try instead: the next ones, and some an eighth of the range away."""
        far = max(1, (self.high - self.low) // 8)
        return sorted({v for v in (value - far, value - 1, value + 1, value + far) if self.low <= v <= self.high})

    def check(self, name: str, value: object) -> int:
        """Return `value` as an int within the range, or raise."""
        value = _plain(value)
        if not _is_integer(value):
            raise InvalidInputError(f"{name}={value!r} is not an integer; give one in [{self.low}, {self.high}].")
        if not self.low <= value <= self.high:
            raise _outside(name, value, self)
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


@dataclass(frozen=True)
class Choice:
    """One of several options without an order.

    Parameters
    ----------
    options : sequence of str, int, float, bool or None
        No two may compare equal, as 1, 1.0 and True do.

    Examples
    --------
    >>> Choice(["adam", "sgd"]).encode(["sgd"])
    array([[0., 1.]])
    """

    options: Sequence[Scalar] = field(compare=False)
    _identities: tuple[tuple[type, Scalar], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.options, Sequence | np.ndarray) or isinstance(self.options, str | bytes):
            raise InvalidInputError(f"Choice needs a list of options such as ['a', 'b'], but got {self.options!r}.")
        options = tuple(map(_plain, self.options))
        if not options:
            raise InvalidInputError("Choice has no options; give at least one.")
        seen: set[Scalar] = set()
        for option in options:
            if not _is_scalar(option):
                raise InvalidInputError(
                    f"The option {option!r} is not a str, int, finite float, bool or None; name it by a string instead."
                )
            if option in seen:
                raise InvalidInputError(
                    f"The option {option!r} equals an earlier one in {list(options)!r}; leave it out or name it apart."
                )
            seen.add(option)
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "_identities", tuple(map(_identity, options)))

    @property
    def size(self) -> float:
        """Number of distinct values."""
        return float(len(self.options))

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return len(self.options) if self.size > 1 else 0

    def encode(self, values: Sequence[Any]) -> FloatArray:
        """Valid values to one-hot coordinates, shape (m, k)."""
        return self._one_hot(np.array([self._identities.index(_identity(value)) for value in values], np.intp))

    def decode(self, u: FloatArray) -> list[Scalar]:
        """Coordinates, shape (m, k), to the option with the largest; the first of ties."""
        return [self.options[k] for k in np.argmax(u, axis=1)]

    def snap(self, u: FloatArray) -> FloatArray:
        """Coordinates of the values that `u` decodes to."""
        return self._one_hot(np.argmax(u, axis=1))

    def others(self, value: Scalar) -> list[Scalar]:
        """The other options."""
        return [option for option in self.options if _identity(option) != _identity(value)]

    def check(self, name: str, value: object) -> Scalar:
        """Return the option that `value` is, or raise."""
        value = _plain(value)
        if not _is_scalar(value) or _identity(value) not in self._identities:
            raise InvalidInputError(f"{name}={value!r} is not an option; give one of {list(self.options)!r}.")
        return self.options[self._identities.index(_identity(value))]

    def _one_hot(self, index: NDArray[np.intp]) -> FloatArray:
        one_hot: FloatArray = (index[:, None] == np.arange(len(self.options))).astype(float)
        return one_hot


Parameter: TypeAlias = Float | Int | Choice
_KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Float, Int, Choice)}


@dataclass(frozen=True)
class Space:
    """Named parameters and their map to the unit cube. Make one with `Space.of`.

    Attributes
    ----------
    names : tuple of str
        Names in the order of the coordinates.
    parameters : tuple of Float, Int or Choice
        What each name stands for.

    Examples
    --------
    >>> space = Space.of({"rate": Float(1e-4, 1.0, log=True), "layers": Int(1, 4), "kind": Choice(["a", "b"])})
    >>> space.to_unit([{"rate": 0.01, "layers": 2, "kind": "b"}])
    array([[0.5  , 0.375, 0.   , 1.   ]])
    >>> space.from_unit([[0.5, 0.3, 0.2, 0.9]])
    [{'rate': 0.01, 'layers': 2, 'kind': 'b'}]
    """

    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]

    @classmethod
    def of(cls, parameters: Mapping[str, Parameter] | Space) -> Space:
        """The space of a mapping from names to parameters; a space stays as it is."""
        if isinstance(parameters, Space):
            return parameters
        if not isinstance(parameters, Mapping) or not parameters:
            raise InvalidInputError(
                f"A space is a non-empty mapping such as {{'x': Float(0, 1)}}, but got {parameters!r}."
            )
        for name, parameter in parameters.items():
            if not isinstance(name, str) or not name:
                raise InvalidInputError(f"A parameter's name must be a non-empty string, but got {name!r}.")
            if not isinstance(parameter, Parameter):
                raise InvalidInputError(f"Parameter {name!r} is {parameter!r}; {_suggestion(parameter)}.")
        space = cls(tuple(parameters), tuple(parameters.values()))
        if space.d == 0:
            raise InvalidInputError(
                f"All parameters ({', '.join(space.names)}) are constant; there is nothing to search."
            )
        return space

    @property
    def d(self) -> int:
        """Dimension of the unit cube."""
        return sum(parameter.width for parameter in self.parameters)

    @property
    def discrete(self) -> NDArray[np.bool_]:
        """Which coordinates, shape (d,), belong to an Int or a Choice."""
        return np.repeat([not isinstance(p, Float) for p in self.parameters], [p.width for p in self.parameters])

    @property
    def n_points(self) -> float:
        """Number of distinct points; infinite with any Float."""
        return math.prod(parameter.size for parameter in self.parameters)

    def to_unit(self, points: Sequence[Mapping[str, object]]) -> FloatArray:
        """Points to the unit cube, shape (m, d); each is validated first."""
        if isinstance(points, Mapping | str) or not isinstance(points, Iterable):
            raise InvalidInputError(f"points must be a sequence of mappings from names to values, but got {points!r}.")
        valid = [self.validate(point) for point in points]
        if not valid:
            return np.empty((0, self.d))
        items = zip(self.names, self.parameters, strict=True)
        return np.hstack([p.encode([point[name] for point in valid]) for name, p in items if p.width])

    def from_unit(self, u: FloatArray) -> list[Point]:
        """Positions in the unit cube, shape (m, d), to points made of plain Python values."""
        columns = [parameter.decode(block) for parameter, block in self._blocks(u)]
        return [dict(zip(self.names, values, strict=True)) for values in zip(*columns, strict=True)]

    def snap(self, u: FloatArray) -> FloatArray:
        """Move each position, shape (m, d), to that of the point it stands for: what is scored is what is evaluated.

        Equals ``to_unit(from_unit(u))`` up to the rounding of the values themselves.
        """
        return np.hstack([parameter.snap(block) for parameter, block in self._blocks(u) if parameter.width])

    def neighbours(self, u: FloatArray) -> FloatArray:
        """Positions, shape (m, d), that differ from `u`, shape (d,), in one integer or one choice."""
        out, start = [], 0
        for parameter, block in self._blocks(np.asarray(u)[None]):
            if isinstance(parameter, Float) or not parameter.width:
                start += parameter.width
                continue
            other = parameter.encode(parameter.others(parameter.decode(block)[0]))  # type: ignore[arg-type]
            moved = np.tile(u, (other.shape[0], 1))
            moved[:, start : start + parameter.width] = other
            out.append(moved)
            start += parameter.width
        return np.concatenate(out) if out else np.empty((0, self.d))

    def validate(self, point: Mapping[str, object]) -> Point:
        """A copy of the point with plain Python values in the order of the space, or an error if it is outside."""
        if not isinstance(point, Mapping):
            raise InvalidInputError(f"A point is a mapping from names to values, but got {point!r}.")
        missing = [name for name in self.names if name not in point]
        unknown = [name for name in point if name not in self.names]
        if missing or unknown:
            faults = [f"{what} {names!r}" for what, names in (("lacks", missing), ("has unknown", unknown)) if names]
            raise InvalidInputError(f"The point {' and '.join(faults)}; it must have exactly {list(self.names)!r}.")
        return {name: p.check(name, point[name]) for name, p in zip(self.names, self.parameters, strict=True)}

    def key(self, point: Point) -> tuple[tuple[type, Scalar], ...]:
        """Hashable identity of a validated point; True, 1 and 1.0 are three different options."""
        return tuple(_identity(point[name]) for name in self.names)

    def to_json(self) -> dict[str, Any]:
        """The space in plain JSON types; `from_json` undoes it."""
        return {
            "parameters": [
                {"name": name, "type": type(p).__name__}
                | ({"options": list(p.options)} if isinstance(p, Choice) else vars(p))
                for name, p in zip(self.names, self.parameters, strict=True)
            ]
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Space:
        """The space that `to_json` wrote."""
        entries = data.get("parameters") if isinstance(data, Mapping) else None
        if not isinstance(entries, list):
            raise InvalidInputError(f"A saved space must be an object with a list 'parameters', but got {data!r}.")
        parameters: dict[str, Parameter] = {}
        for entry in entries:
            try:
                settings = {**entry}
                name, kind = settings.pop("name"), _KINDS[settings.pop("type")]
                if name in parameters:
                    raise InvalidInputError(f"The saved space has two parameters {name!r}; rename or remove one.")
                parameters[name] = kind(**settings)
            except (KeyError, TypeError) as error:
                raise InvalidInputError(
                    f"The saved parameter {entry!r} is malformed; it needs a name, a type among {list(_KINDS)!r} and "
                    "the arguments of that type, as Space.to_json writes them."
                ) from error
        return cls.of(parameters)

    def sobol(self, rng: np.random.Generator, n: int) -> FloatArray:
        """A scrambled Sobol design of `n` positions, shape (n, d), snapped; uniform draws where d is beyond Sobol's."""
        n, d = check_int("n", n, 1), self.d
        if d > LARGEST_SOBOL:
            return self.snap(rng.random((n, d)))
        from scipy.stats import qmc  # takes a second to import

        return self.snap(qmc.Sobol(d, rng=rng).random_base2((n - 1).bit_length())[:n])

    def _blocks(self, u: FloatArray) -> Iterator[tuple[Parameter, FloatArray]]:
        """Each parameter with its columns of `u`; a constant has a column of zeros, which decodes to its value."""
        u = np.asarray(u, dtype=float)
        if u.ndim != 2 or u.shape[1] != self.d or not np.isfinite(u).all():
            raise InvalidInputError(
                f"u must hold finite numbers in the shape (m, {self.d}), but got shape {u.shape}: {u!r}."
            )
        start = 0
        for parameter in self.parameters:
            stop = start + parameter.width
            yield parameter, u[:, start:stop] if parameter.width else np.zeros((len(u), 1))
            start = stop


def _plain(value: Any) -> Any:
    """NumPy scalars as Python's, everything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _identity(value: Scalar) -> tuple[type, Scalar]:
    """What tells True, 1 and 1.0 apart."""
    return type(value), value


def _is_number(value: object) -> TypeGuard[int | float]:
    """Whether `value` is a number that a float can hold; a bool is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_integer(value: object) -> TypeGuard[int | float]:
    """Whether `value` is a whole number, as an int or a float."""
    return _is_number(value) and value == int(value)


def _is_scalar(value: object) -> TypeGuard[Scalar]:
    """Whether `value` survives JSON unchanged."""
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return type(value) in (str, int, float, bool, type(None))


def _check_log(parameter: Float | Int, low: float) -> None:
    if not isinstance(parameter.log, bool):
        raise InvalidInputError(f"log must be True or False, but got {parameter!r}.")
    if parameter.log and low <= 0:
        raise InvalidInputError(f"A log scale needs low > 0, but got {parameter!r}; raise low or leave out log=True.")


def _outside(name: str, value: float, parameter: Float | Int) -> InvalidInputError:
    return InvalidInputError(
        f"{name}={value!r} is outside [{parameter.low}, {parameter.high}]; give a value inside, or widen the space."
    )


def _suggestion(parameter: object) -> str:
    """What to write in place of something that is not a parameter."""
    if isinstance(parameter, tuple | list) and len(parameter) == 2 and all(map(_is_number, parameter)):
        low, high = parameter
        return f"for a range write Float({low!r}, {high!r}) or Int({low!r}, {high!r})"
    if isinstance(parameter, tuple | list):
        return f"for one of several options write Choice({list(parameter)!r})"
    return "it must be a Float, an Int or a Choice"
