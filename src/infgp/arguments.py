"""Arguments by name: a name of another library, or a misspelt one, is answered with the one that was meant."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import ParamSpec, TypeVar

from infgp.errors import InvalidInputError
from infgp.habits import nearest

P = ParamSpec("P")
R = TypeVar("R")


def names_of(function: Callable[..., object]) -> list[str]:
    """Names that a function takes as arguments, without `self` and without those that stand for all others.

    Examples
    --------
    >>> names_of(lambda f, space, *, seed=None, **options: None)
    ['f', 'space', 'seed']
    """
    rest = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [name for name, p in inspect.signature(function).parameters.items() if name != "self" and p.kind not in rest]


def answers_names(
    whose: str, habits: Mapping[str, str], more: Iterable[str] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: a name that the function does not take is refused before anything else is said about the call.

    Parameters
    ----------
    whose : str
        What the function is called where a user reads it.
    habits : mapping of str to str
        For names of other libraries, what to use here.
    more : iterable of str
        Names that the function takes besides those of its signature.

    Examples
    --------
    >>> @answers_names("search", {"n_trials": "budget"})
    ... def search(f: object, budget: int, *, objective: str = "mean") -> int:
    ...     return budget
    >>> search(None, n_trials=50)
    Traceback (most recent call last):
        ...
    infgp.errors.InvalidInputError: search has no argument 'n_trials'; use budget.
    >>> search(None, 50, objectve="median")
    Traceback (most recent call last):
        ...
    infgp.errors.InvalidInputError: search has no argument 'objectve'; use objective.
    """
    others = tuple(more)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        known = list(dict.fromkeys([*names_of(function), *others]))

        @wraps(function)
        def checked(*args: P.args, **options: P.kwargs) -> R:
            for name in options:
                if name not in known:
                    raise InvalidInputError(f"{whose} has no argument {name!r}; {_remedy(name, known, habits)}.")
            return function(*args, **options)

        return checked

    return decorate


def _remedy(name: str, known: list[str], habits: Mapping[str, str]) -> str:
    """What to do about a name that is not known."""
    meant = name if name in habits else nearest(name, [*known, *habits])
    if meant is None:
        return f"its arguments are {', '.join(known)}"
    return f"use {habits.get(meant, meant)}"
