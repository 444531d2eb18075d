"""What all parameters share: what a value may be, and the condition under which a parameter applies."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import Field, fields
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias, TypeGuard

import numpy as np

from infgp.errors import InvalidInputError

Scalar: TypeAlias = str | int | float | bool | None

#: What tells True, 1 and 1.0 apart: a value with its type.
Identity: TypeAlias = tuple[type, Scalar]

#: A condition in a form that can be compared and hashed.
Condition: TypeAlias = frozenset[tuple[str, frozenset[Identity]]]


class ParameterBase:
    """What all parameters share: their condition, and a representation without what is left at its default.

    Type checkers take it for the type of parameters of several kinds, as in ``{"x": Float(0, 1), "n": Int(1, 9)}``.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]  # of the parameter, which is a dataclass
    when: Mapping[str, Any] | None

    def __repr__(self) -> str:
        shown = [f for f in fields(self) if f.repr]
        optional = {"step", "when"}
        items = [(f.name, getattr(self, f.name)) for f in shown if f.name not in optional or self._given(f.name)]
        return f"{type(self).__name__}({', '.join(f'{name}={brief_argument(name, value)}' for name, value in items)})"

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments that make this parameter, in plain JSON types; those left at their default are missing."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.init and self._given(f.name)}
        if self.when is not None:
            values["when"] = {name: list(allowed) for name, allowed in self.when.items()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def _given(self, name: str) -> bool:
        """Whether an argument differs from its default."""
        value, default = getattr(self, name), self.__dataclass_fields__[name].default
        return type(value) is not type(default) or value != default

    def _settle(self) -> None:
        """Check the condition, and write it as a dict of names to tuples of values."""
        if self.when is None:
            object.__setattr__(self, "_condition", frozenset())
            return
        if not isinstance(self.when, Mapping) or not self.when:
            raise InvalidInputError(
                "when must be a mapping from names of other parameters to a value or a list of values, such as "
                f"{{'kind': 'a'}}, but got {self.when!r}."
            )
        when = {name: tuple(map(plain, v if is_list(v) else (v,))) for name, v in self.when.items()}
        for name, values in when.items():
            if not isinstance(name, str) or not name:
                raise InvalidInputError(f"when must have names of parameters as its keys, but has {name!r}.")
            if not values or not all(map(is_scalar, values)):
                raise InvalidInputError(
                    f"when has {self.when[name]!r} for {name!r}; give a str, int, finite float, bool or None, or a "
                    "non-empty list of them."
                )
        object.__setattr__(self, "when", when)
        object.__setattr__(self, "_condition", frozenset((n, frozenset(map(identity, v))) for n, v in when.items()))


class RangeBase(ParameterBase):
    """What numbers between two bounds share: checks of their scale, and errors on values that are not among them."""

    low: float
    high: float
    log: bool
    step: float | None

    @property
    def middle(self) -> float:
        """Coordinate where the parameter does not apply."""
        return 0.5

    def _check_log(self, low: float) -> None:
        if not isinstance(self.log, bool):
            raise InvalidInputError(f"log must be True or False, but got {self!r}.")
        if self.log and low <= 0:
            raise InvalidInputError(f"A log scale needs low > 0, but got {self!r}; raise low or leave out log=True.")

    def _outside(self, name: str, value: float) -> InvalidInputError:
        return InvalidInputError(
            f"{name}={value!r} is outside [{self.low}, {self.high}]; give a value inside, or widen the space."
        )

    def _between(self, name: str, value: float, near: float) -> InvalidInputError:
        return InvalidInputError(
            f"{name}={value!r} lies between the steps of {self.step} from {self.low}; give e.g. {near}."
        )


def plain(value: Any) -> Any:
    """NumPy scalars as Python's, everything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def decimal(value: float) -> Fraction:
    """The number that a float is written as: one tenth for 0.1."""
    return Fraction(repr(value))


def identity(value: Scalar) -> Identity:
    """What tells True, 1 and 1.0 apart."""
    return type(value), value


def brief_argument(name: str, value: Any) -> str:
    """An argument as it is written, a single value of a condition without brackets."""
    if name == "when" and isinstance(value, dict):
        return repr({k: v[0] if isinstance(v, tuple) and len(v) == 1 else v for k, v in value.items()})
    return repr(value)


def is_list(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether `value` holds several values; a string is one value."""
    return isinstance(value, list | tuple | range | np.ndarray)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether `value` is a number that a float can hold; a bool is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def is_integer(value: object) -> TypeGuard[int | float]:
    """Whether `value` is a whole number, as an int or a float."""
    return is_number(value) and value == int(value)


def is_scalar(value: object) -> TypeGuard[Scalar]:
    """Whether `value` survives JSON unchanged."""
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return type(value) in (str, int, float, bool, type(None))
