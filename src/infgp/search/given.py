"""What an `Optimizer` is given for its objectives, checked: directions, objectives, a reference point."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from infgp.errors import InvalidInputError, check_choice, shown
from infgp.predict.functionals import Objective, ObjectiveLike

DIRECTIONS = ("maximize", "minimize")


def directions(value: str | Sequence[str]) -> tuple[str, ...]:
    """The direction of each objective.

    Examples
    --------
    >>> directions("minimize"), directions(["maximize", "minimize"])
    (('minimize',), ('maximize', 'minimize'))
    """
    if not isinstance(value, str | list | tuple | np.ndarray):
        raise InvalidInputError(
            f"direction must be 'maximize' or 'minimize', or a list with one of them for each objective, but got "
            f"{shown(value)}."
        )
    found = (value,) if isinstance(value, str) else tuple(value)
    for one in found:
        check_choice("direction", one, DIRECTIONS)
    if not found:
        raise InvalidInputError("direction must have an entry for each objective, but is empty.")
    return found


def objectives(value: ObjectiveLike | Sequence[ObjectiveLike], count: int) -> tuple[Objective, ...]:
    """The objective of each direction: one for all, or a list with one for each."""
    if isinstance(value, list):
        if len(value) != count:
            if count == 1:
                meant = repr(tuple(value)) if len(value) == 2 else "'mean'"
                raise InvalidInputError(
                    f"objective is {shown(value)}, a list, which has an entry for each direction, but there is one "
                    f"direction; write objective={meant}."
                )
            raise InvalidInputError(
                f"objective has {len(value)} entries, but there are {count} directions; give one for each."
            )
        return tuple(map(Objective.parse, value))
    return (Objective.parse(value),) * count


def reference(value: Sequence[float] | None, count: int) -> tuple[float, ...] | None:
    """A finite number for each of `count` objectives, or None."""
    if value is None:
        return None
    text = isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray)
    try:
        numbers = () if text else tuple(-math.inf if isinstance(v, str | bytes) else float(v) for v in value)
    except (TypeError, ValueError, OverflowError):
        numbers = ()
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise InvalidInputError(
            f"reference_point must be a sequence of {count} finite numbers, one for each direction, or None, but got "
            f"{shown(value)}."
        )
    return numbers
