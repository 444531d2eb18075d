"""Exceptions, warnings and the one-line checks that raise them.

Every message says what was wrong, what was expected and what to do about it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from infgp.habits import nearest


class InfGPError(Exception):
    """Base class of everything this package raises on purpose."""


class InvalidInputError(InfGPError, ValueError):
    """An argument or the data cannot be used; nothing was changed."""


class MissingExtraError(InfGPError, ImportError):
    """A feature needs an optional dependency that is not installed."""


class NumericalError(InfGPError, ArithmeticError):
    """A computation failed beyond repair.

    Attributes
    ----------
    evidence : dict
        The figures that show why, for a bug report.
    """

    def __init__(self, message: str, **evidence: Any) -> None:
        self.evidence = evidence
        details = ", ".join(f"{key}={value!r}" for key, value in evidence.items())
        super().__init__(f"{message} ({details})" if details else message)


class ConvergenceWarning(UserWarning):
    """The chains disagree or are too short for their average to be trusted."""


#: Characters of a value that a message shows.
LONGEST_VALUE = 200


def written(value: object) -> str:
    """A value as it is written, however long that is."""
    try:
        return repr(value)
    except ValueError:  # an integer of more digits than Python writes
        return f"a {type(value).__name__} that is too long to be written"


def shown(value: object) -> str:
    """A value as it is written, cut in its middle where it is long: messages are read by people.

    Examples
    --------
    >>> shown("0.5"), len(shown(list(range(100_000))))
    ("'0.5'", 201)
    """
    text = written(value)
    half = LONGEST_VALUE // 2
    return text if len(text) <= LONGEST_VALUE else f"{text[:half]}…{text[-half:]}"


def check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    """Raise unless `value` is one of the `allowed` strings."""
    if value not in allowed:
        options = ", ".join(repr(option) for option in allowed)
        meant = nearest(value, allowed)
        guess = "" if meant is None else f" Did you mean {meant!r}?"
        raise InvalidInputError(f"{name}={shown(value)} is not known; use one of {options}.{guess}")


def check_int(name: str, value: object, minimum: int) -> int:
    """Return `value` as an int, or raise unless it is an integer of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < minimum:
        raise InvalidInputError(f"{name} must be an integer >= {minimum}, but got {shown(value)}.")
    return int(value)


def check_positive(name: str, value: object) -> float:
    """Return `value` as a float, or raise unless it is a finite positive number."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not np.isfinite(value) or value <= 0:  # type: ignore[operator, call-overload]
        raise InvalidInputError(f"{name} must be a finite number > 0, but got {shown(value)}.")
    return float(value)  # type: ignore[arg-type]


def check_reward(value: object, write: Callable[[object], str] = shown) -> float:
    """A reward as a float, which may be NaN or infinite; an array of one element counts as its element.

    Where it is no number, the error has it as `write` writes it: not cut where a password has to be found in it first.

    Examples
    --------
    >>> check_reward(np.array([[2.5]]))
    2.5
    >>> check_reward(True)
    Traceback (most recent call last):
        ...
    infgp.errors.InvalidInputError: A reward must be a number, ... but got True; write 1.0 or 0.0.
    """
    try:
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.item()
        if isinstance(value, str | bytes | bool | np.bool_):
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(
            f"A reward must be a number, or None for a failed evaluation, but got {write(value)}{_remedy(value)}."
        ) from None


def _remedy(value: object) -> str:
    """What to do about a reward that is no number."""
    if isinstance(value, bool | np.bool_):
        return "; write 1.0 or 0.0"
    if isinstance(value, Mapping):
        return "; return one of its values"
    if hasattr(value, "tolist"):  # a tensor of PyTorch, or an array of another library
        return "; give numbers, by its method tolist"
    return ", which is more than a float can hold" if isinstance(value, int) else ""


#: How an extra is installed that needs more than its name.
INSTALL = {
    "bench": "in a clone of the repository pip install -c constraints.txt '.[bench]'; without the constraints PyTorch "
    "brings gigabytes",
    "botorch": "pip install 'infgp[botorch]', after PyTorch, of which it brings the largest build where there is none",
}


def require(module: str, extra_name: str) -> ModuleType:
    """Import an optional dependency, or say which extra brings it."""
    with extra(module, extra_name):
        return importlib.import_module(module)


@contextmanager
def extra(module: str, name: str) -> Iterator[None]:
    """Context for imports of an optional dependency: says which extra brings it where it is not installed.

    An ImportError from inside the dependency, such as a broken installation, is passed on as it is.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != module.split(".")[0]:
            raise
        how = INSTALL.get(name, f"pip install 'infgp[{name}]'")
        raise MissingExtraError(f"This needs {module!r}, which is not installed. Run: {how}") from error
