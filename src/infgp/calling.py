"""How a user's function takes a point."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from infgp.errors import InvalidInputError
from infgp.space import Point, Space


@dataclass(frozen=True)
class ByName:
    """`f` with the values of a point as keyword arguments; unlike a closure it can be sent to another process."""

    f: Callable[..., float | None]

    def __call__(self, point: Point) -> float | None:
        """The value of `f` at the point."""
        return self.f(**point)


def caller(f: Callable[..., float | None], space: Space) -> Callable[[Point], float | None]:
    """How `f` takes a point: by name, or as one dict.

    A parameter that does not apply to a point is not in it, so that a function that takes points by name needs a
    default value for each parameter with a condition.

    Examples
    --------
    >>> from infgp.space import Float
    >>> space = Space.of({"x": Float(0.0, 1.0)})
    >>> caller(lambda x: 2 * x, space)({"x": 0.5}), caller(lambda point: 2 * point["x"], space)({"x": 0.5})
    (1.0, 1.0)
    """
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return ByName(f)
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    without = [p for p in parameters if p.default is inspect.Parameter.empty]
    needed = [p.name for p in without if p.kind in by_position]
    if len(needed) == 1 and needed[0] not in space.names:
        return f
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    absent = next((p.name for p in without if p.kind in named and p.name in space.conditional), None)
    if absent is not None:
        raise InvalidInputError(
            f"The function needs {absent!r}, which does not apply to all points; give it a default value, such as "
            f"{absent}=None, or let the function take the point as one dict."
        )
    return ByName(f)
