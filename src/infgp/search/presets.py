"""Named sets of options of a search: the paper's algorithm as printed, and Thompson sampling that is worth its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from infgp.errors import InvalidInputError, check_choice

P = ParamSpec("P")
R = TypeVar("R")

#: Options of each preset. Both draw one function from the posterior and evaluate its best point, and both evaluate a
#: uniform random point with chance n^(−1/2) at step n instead, which is what the regret bound of the paper rests on.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    # Algorithm 1 with Algorithm 2, as printed: one surface is drawn by the weights of the surfaces.
    "paper": {
        "sampler": "truncated",
        "kernel": "se",
        "ard": False,
        "surfaces": None,
        "regions": False,
        "surface_scales": "shared",
        "odds": "constant",
        "warp": None,
        "objective": "mean",
        "stand_ins": "count",
        "target": "surface",
        "goal": "along",
        "acquisition": "thompson",
        "gradients": False,
        "exploration": "paper",
    },
    # The expected reward is drawn, and model and sampler are the default's. The kernel alone is not learned,
    # which is better here (`studies/thompson.py`).
    "thompson": {
        "kernel": "se",
        "target": "objective",
        "goal": "along",
        "acquisition": "thompson",
        "gradients": False,
        "exploration": "paper",
    },
}


def with_preset(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with those of the preset that they name; raise if one of them contradicts it.

    Parameters
    ----------
    options : mapping of str to value
        The options that were given, among them `preset`, the name of a preset or None.

    Examples
    --------
    >>> with_preset({"preset": "thompson", "outliers": "ignore"})["exploration"]
    'paper'
    >>> with_preset({"preset": "thompson", "exploration": 0.0})
    Traceback (most recent call last):
        ...
    infgp.errors.InvalidInputError: exploration=0.0 contradicts preset='thompson', which has exploration='paper'; ...
    """
    preset = options.get("preset")
    if preset is None:
        return dict(options)
    check_choice("preset", preset, tuple(PRESETS))
    for name, value in PRESETS[preset].items():
        given = options.get(name, value)
        if type(given) is not type(value) or given != value:
            raise InvalidInputError(
                f"{name}={given!r} contradicts preset={preset!r}, which has {name}={value!r}; leave one of the two out."
            )
    return {**options, **PRESETS[preset]}


def takes_preset(function: Callable[P, R]) -> Callable[P, R]:
    """A function with an option `preset`, whose other options are then those of the preset.

    What was given has to be known before defaults fill in the rest: an option that is given and contradicts the preset
    is an error even where its value is the default.

    Examples
    --------
    >>> @takes_preset
    ... def search(*, preset: str | None = None, acquisition: str = "kg", exploration: str | float = 0.0) -> str:
    ...     return acquisition
    >>> search(), search(preset=None, acquisition="logei")
    ('kg', 'logei')
    """

    @wraps(function)
    def resolved(*args: P.args, **options: P.kwargs) -> R:
        return function(*args, **with_preset(options))

    return resolved
