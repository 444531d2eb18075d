"""Observations as a pandas data frame (needs the extra ``frame``); and back, from arrays and frames of any kind."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infgp.errors import InvalidInputError, require, shown
from infgp.predict.mixture import off_surface_probability
from infgp.predict.objectives import MeanObjective
from infgp.search.outcomes import Observation
from infgp.search.several import Aimed
from infgp.search.standing import CONSTRAINT, Log
from infgp.space import Choice, Int, Parameter, Space


def check_pandas() -> None:
    """Raise, and say which extra brings it, where pandas is not installed."""
    require("pandas", "frame")


# --- To a frame ------------------------------------------------------------------------------------------------------


def evaluations(space: Space, observations: Sequence[Observation]) -> Any:
    """What was told: a column for each parameter, and ``value``, or ``value:K`` for the K-th of several objectives.

    Integers stay integers, options are what they are, and what does not apply or has failed is missing.

    Examples
    --------
    >>> from infgp.space import Float
    >>> evaluations(Space.of({"x": Float(0, 1)}), [Observation({"x": 0.5}, (2.0,)), Observation({"x": 0.6}, None)])
         x  value
    0  0.5    2.0
    1  0.6    NaN
    """
    pandas = require("pandas", "frame")
    frame = pandas.DataFrame(index=range(len(observations)))
    for name, parameter in zip(space.names, space.parameters, strict=True):
        frame[name] = _column(pandas, parameter, [o.point.get(name) for o in observations])
    count = max((len(o.values) for o in observations if o.values is not None), default=1)
    for k in range(count):
        values = [np.nan if o.values is None else o.values[k] for o in observations]
        frame[_free("value", k, count, space)] = np.array(values, dtype=float)
    return frame


def to_frame(space: Space, log: Log, done: NDArray[np.bool_], objectives: Sequence[Aimed]) -> Any:
    """What was told, and what is believed of it; the objectives are as they are known, or there are none yet.

    The chance to lie off the surface is that of the evaluations in `done`, which have given a reward.
    """
    observations = [observation for observation, _ in log]
    frame = evaluations(space, observations)
    inputs = np.array([u for _, u in log]).reshape(-1, space.d)
    count = max(len(objectives), 1)
    for k in range(count):
        mean, std, off = (np.full(len(log), np.nan) for _ in range(3))
        if objectives:
            learned, aim = objectives[k]
            mean, std = MeanObjective.of(learned.draws, aim).moments(inputs)
            off[done] = off_surface_probability(learned.draws)
        for name, column in (("mean", mean), ("std", std), ("off_surface_probability", off)):
            frame[_free(name, k, count, space)] = column
    if any(o.noise_variance for o in observations):
        frame[_free("noise_variance", 0, 1, space)] = [o.noise_variance for o in observations]
    if any(o.cost is not None for o in observations):
        costs = [np.nan if o.cost is None else o.cost for o in observations]
        frame[_free("cost", 0, 1, space)] = np.array(costs, dtype=float)
    for name in dict.fromkeys(name for o in observations for name in o.constraints):
        limits = [o.constraints.get(name, np.nan) for o in observations]
        frame[_free(CONSTRAINT + name, 0, 1, space)] = np.array(limits, dtype=float)
    return frame


def _column(pandas: Any, parameter: Parameter, values: Sequence[object]) -> Any:
    """A column that holds the values as they are: floats, integers (nullable where some are missing), or objects."""
    if isinstance(parameter, Choice):
        return pandas.Series(values, dtype=object)
    if isinstance(parameter, Int):
        return pandas.Series(values, dtype="Int64" if None in values else "int64")
    return pandas.Series([np.nan if value is None else value for value in values], dtype=float)


def _free(name: str, k: int, count: int, space: Space) -> str:
    """The name of a column for objective k, which no parameter has."""
    out = name if count == 1 else f"{name}:{k}"
    while out in space.names:
        out += "_"
    return out


# --- From a frame ----------------------------------------------------------------------------------------------------


def rows_to_tell(
    space: Space, points: Any, values: Any, noise_variances: Any = None, constraints: Any = None, costs: Any = None
) -> list[tuple[Any, Any, Any, Any, Any]]:
    """The arguments of `Optimizer.tell` for each point; raises unless there are as many of each.

    Examples
    --------
    >>> from infgp.space import Float
    >>> rows_to_tell(Space.of({"x": Float(0, 1)}), [{"x": 0.5}], [2.0])
    [({'x': 0.5}, 2.0, None, None, None)]
    """
    if isinstance(points, np.ndarray) and points.ndim == 2:
        points = _named(space, points)
    at = _points(space, points) if _is_frame(points) else _listed("points", points)
    if isinstance(values, str) and _is_frame(points) and values in _columns(points):
        raise InvalidInputError(f"values is {values!r}, the name of a column; write frame[{values!r}].")
    parts = [
        [_restored(row) for row in _listed("values", values)],
        _numbers("noise_variances", noise_variances, len(at)),
        [None] * len(at) if constraints is None else _constraints(constraints),
        _numbers("costs", costs, len(at)),
    ]
    for name, part in zip(("values", "noise_variances", "constraints", "costs"), parts, strict=True):
        if len(part) != len(at):
            raise InvalidInputError(f"There are {len(at)} points, but {len(part)} {name}; give one for each point.")
    return list(zip(at, *parts, strict=True))


def _numbers(name: str, values: Any, count: int) -> list[Any]:
    """A number for each point, None where it is missing; None for all of them where there are no values."""
    return [None] * count if values is None else [_none(value) for value in _listed(name, values)]


#: For each package, the names of its classes of data frames. What was never imported is no frame.
FRAMES = {"pandas": ("DataFrame",), "polars": ("DataFrame",), "pyarrow": ("Table", "RecordBatch")}


class _Columns(dict[str, list[Any]]):
    """The columns of a frame, by name."""


def _is_frame(value: Any) -> bool:
    """Whether it is a data frame of pandas, polars or Arrow."""
    if isinstance(value, _Columns):
        return True
    known = ((sys.modules.get(package), names) for package, names in FRAMES.items())
    return any(isinstance(value, getattr(module, name)) for module, names in known if module for name in names)


def _columns(frame: Any) -> _Columns:
    """The columns of a frame as lists of Python's objects."""
    if isinstance(frame, _Columns):
        return frame
    if hasattr(frame, "to_pydict"):  # Arrow
        names, columns = list(frame.schema.names), [column.to_pylist() for column in frame.columns]
    elif hasattr(frame, "get_columns"):  # polars
        names, columns = list(frame.columns), [column.to_list() for column in frame.get_columns()]
    else:
        names = [str(name) for name in frame.columns]
        columns = [list(frame.iloc[:, k].astype(object)) for k in range(len(names))]
    doubled = [name for name in names if names.count(name) > 1]
    if doubled:
        raise InvalidInputError(f"The frame has two columns {doubled[0]!r}; rename or remove one.")
    return _Columns(zip(names, columns, strict=True))


def _named(space: Space, table: Any) -> _Columns:
    """The columns of an array, which are the parameters in the order of the space."""
    if table.shape[1] != len(space.names):
        raise InvalidInputError(
            f"points has {table.shape[1]} columns, but the space {len(space.names)} parameters, {list(space.names)!r}; "
            "an array has a column for each, in this order."
        )
    columns = _Columns(zip(space.names, table.T.tolist(), strict=True))
    for name, parameter in zip(space.names, space.parameters, strict=True):
        if isinstance(parameter, Int):  # an array has one type for all its columns
            columns[name] = [int(v) if isinstance(v, float) and v.is_integer() else v for v in columns[name]]
    return columns


def _listed(name: str, values: Any) -> list[Any]:
    """The entries of a sequence, or the rows of a frame or of a table."""
    if _is_frame(values):
        return [list(row) for row in zip(*_columns(values).values(), strict=True)]
    if isinstance(values, Mapping | str | bytes) or not isinstance(values, Iterable):
        raise InvalidInputError(f"{name} must be a sequence with an entry for each point, but got {shown(values)}.")
    if isinstance(values, np.ndarray) and values.ndim:
        return list(values.tolist())
    return list(values.to_pylist() if hasattr(values, "to_pylist") else values)


def _missing(value: Any) -> bool:
    """Whether a cell of a frame is empty: None, NaN, or pandas' NA."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"


def _none(value: Any) -> Any:
    return None if _missing(value) else value


def _restored(value: Any) -> Any:
    """A value, or the values of several objectives, with None for a failed evaluation."""
    if isinstance(value, list | tuple):
        return None if any(map(_missing, value)) else value
    return _none(value)


def _points(space: Space, frame: Any) -> list[dict[str, Any]]:
    """The points of a frame; `Space.validate` says what is wrong with them."""
    columns = {name: column for name, column in _columns(frame).items() if name in space.names}
    rows = zip(*columns.values(), strict=True) if columns else ((),) * len(frame)
    if not space.conditional and not any(isinstance(parameter, Choice) for parameter in space.parameters):
        return [{name: cell for name, cell in zip(columns, row, strict=True) if not _missing(cell)} for row in rows]
    return [_point(space, dict(zip(columns, row, strict=True))) for row in rows]


def _point(space: Space, cells: Mapping[str, Any]) -> dict[str, Any]:
    """The point of a row: what is missing is the option None where that is one, and does not apply otherwise."""

    def value(name: str, parameter: Parameter) -> Any:
        cell = cells.get(name)
        if not isinstance(parameter, Choice):
            return _none(cell)
        return None if _missing(cell) else _option(parameter, cell)

    options = dict(zip(space.names, space.parameters, strict=True))
    point = {name: value(name, options[name]) for name, cell in cells.items() if not _missing(cell)}
    for name, found in space.assemble(value).items():
        parameter = options[name]
        if found is None and name in cells and isinstance(parameter, Choice) and None in parameter.options:
            point[name] = None
    return {name: point[name] for name in space.names if name in point}


def _option(parameter: Choice, cell: Any) -> Any:
    """The option that a cell equals, since frames turn 1 into 1.0; the cell itself where it equals none."""
    return next((option for option in parameter.options if option is not None and option == cell), cell)


def _constraints(values: Any) -> list[Any]:
    if not _is_frame(values):
        return _listed("constraints", values)
    names = [name.removeprefix(CONSTRAINT) for name in _columns(values)]
    rows = (zip(names, row, strict=True) for row in _listed("constraints", values))
    return [{name: value for name, value in row if not _missing(value)} for row in rows]
