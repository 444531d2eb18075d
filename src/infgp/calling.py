"""How a user's function takes a point."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from infgp.errors import InvalidInputError
from infgp.space import Point, Space

#: Functions whose calls return no number, by what tells them, and what to do about them.
KINDS: dict[Callable[[object], bool], str] = {
    inspect.iscoroutinefunction: "asynchronous; give a function that calls it by asyncio.run",
    inspect.isgeneratorfunction: "a generator; write return in the place of yield",
}


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
    default value for each parameter with a condition. Decorated functions are not checked for the names that they take:
    what a decorator adds or takes away is not known.

    Raises
    ------
    InvalidInputError
        Where the function cannot be called with the names of the space.

    Examples
    --------
    >>> from infgp.space import Float
    >>> space = Space.of({"x": Float(0.0, 1.0)})
    >>> caller(lambda x: 2 * x, space)({"x": 0.5}), caller(lambda point: 2 * point["x"], space)({"x": 0.5})
    (1.0, 1.0)
    """
    for is_kind, what in KINDS.items():
        if is_kind(f):
            raise InvalidInputError(f"The function must return a number, but is {what}.")
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
    _check_names(f, space)
    return ByName(f)


def _check_names(f: Callable[..., float | None], space: Space) -> None:
    """Raise unless the function takes all parameters of the space by name and needs no others."""
    parameters = inspect.signature(f, follow_wrapped=False).parameters.values()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    takes = {p.name: p.default is inspect.Parameter.empty for p in parameters if p.kind in named}
    anything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    needed = [name for name, is_needed in takes.items() if is_needed and name not in space.names]
    refused = [] if anything else [name for name in space.names if name not in takes]
    if needed or refused:
        faults = [f"{what} {names!r}" for what, names in (("needs", needed), ("does not take", refused)) if names]
        raise InvalidInputError(
            f"The function {' and '.join(faults)}, but is called with the parameters of the space, by name: "
            f"{list(space.names)!r}; rename one or the other, or let the function take the point as one dict."
        )


def describe_call(f: Callable[..., float | None], space: Space) -> str | None:
    """What to say of an error of a function that takes the point as one dict, None for other functions.

    Examples
    --------
    >>> from infgp.space import Float
    >>> describe_call(lambda y: y + 1, Space.of({"x": Float(0.0, 1.0)}))
    "The function was called with the point as one dict, as its parameter 'y' is not among ['x'], ..."
    """
    if caller(f, space) is not f:
        return None
    name = next(iter(inspect.signature(f).parameters))
    return (
        f"The function was called with the point as one dict, as its parameter {name!r} is not among "
        f"{list(space.names)!r}, the names of the space."
    )
