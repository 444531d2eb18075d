"""Search spaces: named parameters and their map to the unit cube, where the model works."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from infgp.errors import InvalidInputError, check_int, shown
from infgp.habits import nearest
from infgp.parameterbase import Identity, ParameterBase, Scalar, identity, is_number
from infgp.parameters import Choice, Float, Int, Parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from infgp.core.linalg import FloatArray

__all__ = ["Choice", "Float", "Int", "Parameter", "Point", "Scalar", "Space", "SpaceLike"]

#: Values by name. What type a value has only its parameter knows.
Point: TypeAlias = dict[str, Any]

#: For each of the parameters that one depends on, by its place in the space: numbers of the values at which it applies.
Needs: TypeAlias = dict[int, frozenset[int]]

#: Largest number of dimensions for which SciPy has direction numbers of Sobol's sequence.
LARGEST_SOBOL = 21201

_KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Float, Int, Choice)}


@dataclass(frozen=True)
class Space:
    """Named parameters and their map to the unit cube. Make one with `Space.of`.

    A point has the parameters that apply to it, and no others. The coordinates of a parameter that does not apply are
    in the middle, at 0.5 or, for each of k options, at 1/k: points that differ in nothing that is evaluated are then
    one point to the model, and no other fixed value is nearer on average to the points to which the parameter applies,
    so that what is learned at either is of most use for the other.

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

    A parameter that applies to one kind only:

    >>> space = Space.of({"kind": Choice(["a", "b"]), "x": Float(0.0, 1.0, when={"kind": "b"})})
    >>> space.from_unit([[1.0, 0.0, 0.8], [0.0, 1.0, 0.8]])
    [{'kind': 'a'}, {'kind': 'b', 'x': 0.8}]
    >>> space.snap([[1.0, 0.0, 0.8], [0.0, 1.0, 0.8]])
    array([[1. , 0. , 0.5],
           [0. , 1. , 0.8]])
    """

    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    _needs: tuple[Needs, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_needs", _needs(self.names, self.parameters))

    @classmethod
    def of(cls, parameters: SpaceLike) -> Space:
        """The space of a mapping from names to parameters; a space stays as it is."""
        if isinstance(parameters, Space):
            return parameters
        if not isinstance(parameters, Mapping) or not parameters:
            raise InvalidInputError(
                f"A space is a non-empty mapping such as {{'x': Float(0, 1)}}, but got {shown(parameters)}."
            )
        checked: dict[str, Parameter] = {}
        for name, parameter in parameters.items():
            if not isinstance(name, str) or not name:
                raise InvalidInputError(f"A parameter's name must be a non-empty string, but got {name!r}.")
            if not isinstance(parameter, Parameter):
                raise InvalidInputError(f"Parameter {name!r} is {shown(parameter)}; {_suggestion(parameter)}.")
            checked[name] = parameter
        space = cls(tuple(checked), tuple(checked.values()))
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
        """Which coordinates, shape (d,), belong to a parameter with a finite number of values."""
        return self._each_coordinate(np.array([math.isfinite(p.size) for p in self.parameters]))

    @property
    def conditional(self) -> tuple[str, ...]:
        """Names of the parameters that have a condition."""
        return tuple(name for name, p in zip(self.names, self.parameters, strict=True) if p.when is not None)

    def free(self, u: FloatArray) -> NDArray[np.bool_]:
        """Which coordinates of each position, shape (m, d), move its point continuously.

        They are those of the floats without a step that apply to the point.
        """
        return self._each_coordinate(self._applies(u)) & ~self.discrete

    def to_unit(self, points: Sequence[Mapping[str, object]]) -> FloatArray:
        """Points to the unit cube, shape (m, d); each is validated first."""
        if isinstance(points, Mapping | str) or not isinstance(points, Iterable):
            remedy = f"; put the point into a list: [{shown(dict(points))}]" if isinstance(points, Mapping) else ""
            raise InvalidInputError(
                f"points must be a sequence of mappings from names to values, but got {shown(points)}{remedy}."
            )
        if hasattr(points, "iterrows"):  # pandas
            raise InvalidInputError(
                "points must be a sequence of mappings from names to values, but is a data frame; write "
                f"frame[{list(self.names)!r}].to_dict('records')."
            )
        return self.encoded([self.validate(point) for point in points])

    def encoded(self, valid: Sequence[Point]) -> FloatArray:
        """Points that were validated to the unit cube, shape (m, d)."""
        out = np.tile(self._middle, (len(valid), 1))
        for name, parameter, columns in self._columns():
            has = [k for k, point in enumerate(valid) if name in point]
            if parameter.width and has:
                out[has, columns] = parameter.encode([valid[k][name] for k in has])
        return out

    def from_unit(self, u: FloatArray) -> list[Point]:
        """Positions in the unit cube, shape (m, d), to points made of plain Python values."""
        columns = [parameter.decode(block) for parameter, block in self._blocks(u)]
        return [
            {name: value for name, value, applies in zip(self.names, values, row, strict=True) if applies}
            for values, row in zip(zip(*columns, strict=True), self._applies(u).tolist(), strict=True)
        ]

    def snap(self, u: FloatArray) -> FloatArray:
        """Move each position, shape (m, d), to that of the point it stands for: what is scored is what is evaluated.

        Equals ``to_unit(from_unit(u))`` up to the rounding of the values themselves.
        """
        out = np.hstack([parameter.snap(block) for parameter, block in self._blocks(u) if parameter.width])
        return np.where(self._each_coordinate(self._applies(u)), out, self._middle) if self.conditional else out

    def neighbours(self, u: FloatArray) -> FloatArray:
        """Positions, shape (m, d), of points that differ from that at `u`, shape (d,), in one integer, step or choice.

        Where that makes another parameter apply, it begins in its middle.
        """
        u = np.asarray(u)
        out, applies = [np.empty((0, self.d))], self._applies(u[None])[0]
        for (_, parameter, columns), applied in zip(self._columns(), applies, strict=True):
            if parameter.width and applied:
                other = parameter.others(u[None, columns])
                moved = np.tile(u, (other.shape[0], 1))
                moved[:, columns] = other
                out.append(moved)
        found = np.concatenate(out)
        return self.snap(found) if self.conditional else found

    def validate(self, point: Mapping[str, object]) -> Point:
        """A copy of the point with plain Python values in the order of the space, or an error if it is outside."""
        if not isinstance(point, Mapping):
            example = ", ".join(f"{name!r}: …" for name in self.names[:3]) + (", …" if len(self.names) > 3 else "")
            raise InvalidInputError(
                f"A point is a mapping from names to values such as {{{example}}}, but got "
                f"{shown(point)}{_as_point(point)}."
            )
        conditional = self.conditional
        always = [name for name in self.names if name not in conditional]
        missing = [name for name in always if name not in point]
        unknown = [name for name in point if name not in self.names]
        if missing or unknown:
            faults = [f"{what} {names!r}" for what, names in (("lacks", missing), ("has unknown", unknown)) if names]
            where = f" and, where they apply, {list(conditional)!r}" if conditional else ""
            meant = {name: nearest(name, self.names) for name in unknown}
            guess = "".join(f" Did you mean {near!r} by {name!r}?" for name, near in meant.items() if near is not None)
            raise InvalidInputError(f"The point {' and '.join(faults)}; it must have exactly {always!r}{where}.{guess}")

        def value(name: str, parameter: Parameter) -> Scalar:
            if name not in point:
                raise InvalidInputError(f"The point lacks {name!r}, which applies if {self._condition(name)}; add it.")
            return parameter.check(name, point[name])

        valid = self.assemble(value)
        idle = next((name for name in point if name not in valid), None)
        if idle is not None:
            raise InvalidInputError(
                f"The point has {idle}={point[idle]!r}, which does not apply there, but only if "
                f"{self._condition(idle)}; leave it out."
            )
        return valid

    def assemble(self, value: Callable[[str, Parameter], Scalar]) -> Point:
        """The point whose values a function of the name and the parameter gives; they are not checked.

        The function is called only for parameters that apply, and for those that others depend on before the others.

        Examples
        --------
        >>> space = Space.of({"x": Float(0.0, 1.0, when={"kind": "b"}), "kind": Choice(["a", "b"])})
        >>> [space.assemble(lambda name, _: {"x": 0.5, "kind": kind}[name]) for kind in "ab"]
        [{'kind': 'a'}, {'x': 0.5, 'kind': 'b'}]
        """
        found: dict[int, Scalar] = {}
        for k in sorted(range(len(self.names)), key=lambda k: len(self._needs[k])):  # each has the needs of its parents
            needs = self._needs[k].items()
            if all(parent in found and self._parent(parent).number(found[parent]) in has for parent, has in needs):
                found[k] = value(self.names[k], self.parameters[k])
        return {name: found[k] for k, name in enumerate(self.names) if k in found}

    def key(self, point: Point) -> tuple[Identity | None, ...]:
        """Hashable identity of a validated point; True, 1 and 1.0 are three different options."""
        return tuple(identity(point[name]) if name in point else None for name in self.names)

    def to_json(self) -> dict[str, Any]:
        """The space in plain JSON types; `from_json` undoes it."""
        items = zip(self.names, self.parameters, strict=True)
        return {"parameters": [{"name": name, "type": type(p).__name__, **p.arguments} for name, p in items]}

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

    @property
    def _middle(self) -> FloatArray:
        """Coordinates, shape (d,), of parameters that do not apply."""
        return self._each_coordinate(np.array([p.middle for p in self.parameters]))

    def _each_coordinate(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values for each parameter, along the last axis, repeated for each of its coordinates."""
        return np.repeat(values, [p.width for p in self.parameters], axis=-1)

    def _columns(self) -> Iterator[tuple[str, Parameter, slice]]:
        """Each parameter with its name and its columns."""
        start = 0
        for name, parameter in zip(self.names, self.parameters, strict=True):
            yield name, parameter, slice(start, start + parameter.width)
            start += parameter.width

    def _blocks(self, u: FloatArray) -> Iterator[tuple[Parameter, FloatArray]]:
        """Each parameter with its columns of `u`; a constant has a column of zeros, which decodes to its value."""
        u = np.asarray(u, dtype=float)
        if u.ndim != 2 or u.shape[1] != self.d or not np.isfinite(u).all():
            raise InvalidInputError(
                f"u must hold finite numbers in the shape (m, {self.d}), but got shape {u.shape}: {u!r}."
            )
        for _, parameter, columns in self._columns():
            yield parameter, u[:, columns] if parameter.width else np.zeros((len(u), 1))

    def _applies(self, u: FloatArray) -> NDArray[np.bool_]:
        """Which parameters apply at each position, shape (m, number of parameters)."""
        out = np.ones((len(u), len(self.names)), bool)
        parents = {parent for needs in self._needs for parent in needs}
        ranks = {k: self._parent(k).rank(block) for k, (_, block) in enumerate(self._blocks(u)) if k in parents}
        for k, needs in enumerate(self._needs):
            for parent, has in needs.items():
                out[:, k] &= np.isin(ranks[parent], list(has))
        return out

    def _parent(self, k: int) -> Int | Choice:
        """A parameter that others depend on."""
        parameter = self.parameters[k]
        assert not isinstance(parameter, Float)
        return parameter

    def _condition(self, name: str) -> str:
        """When a parameter applies, in words."""
        when = self.parameters[self.names.index(name)].when or {}
        return " and ".join(f"{parent} is {' or '.join(map(repr, values))}" for parent, values in when.items())


#: What a space may be given as.
SpaceLike: TypeAlias = Mapping[str, ParameterBase] | Space


def _needs(names: tuple[str, ...], parameters: tuple[Parameter, ...]) -> tuple[Needs, ...]:
    """What each parameter needs: its own condition, and those of the parameters that it depends on."""
    space = dict(zip(names, parameters, strict=True))
    own = [_own_needs(name, parameter, space) for name, parameter in space.items()]
    place = {name: k for k, name in enumerate(names)}
    done: dict[int, Needs] = {}
    while len(done) < len(names):
        ready = [k for k in range(len(names)) if k not in done and all(place[parent] in done for parent in own[k])]
        if not ready:
            circle = [name for k, name in enumerate(names) if k not in done]
            raise InvalidInputError(f"The conditions of {circle!r} depend on each other in a circle; leave out one.")
        for k in ready:
            done[k] = {place[parent]: has for parent, has in own[k].items()}
            for parent in own[k]:
                for ancestor, has in done[place[parent]].items():
                    done[k][ancestor] = done[k].get(ancestor, has) & has
            never = [names[ancestor] for ancestor, has in done[k].items() if not has]
            if never:
                raise InvalidInputError(
                    f"Parameter {names[k]!r} never applies: its condition and those of the parameters that it depends "
                    f"on leave no value for {never[0]!r}; change one of them."
                )
    return tuple(done[k] for k in range(len(names)))


def _own_needs(name: str, parameter: Parameter, space: Mapping[str, Parameter]) -> dict[str, frozenset[int]]:
    """Numbers of the values of other parameters at which one applies, from its own condition."""
    needs = {}
    for parent, values in (parameter.when or {}).items():
        which = space.get(parent)
        if which is None:
            raise InvalidInputError(
                f"Parameter {name!r} applies when {parent!r} has certain values, but the space has no {parent!r}; its "
                f"parameters are {list(space)!r}."
            )
        if isinstance(which, Float):
            raise InvalidInputError(
                f"Parameter {name!r} applies when {parent!r} has certain values, but {parent!r} is a Float; use a "
                "condition on a Choice or an Int."
            )
        try:
            needs[parent] = frozenset(which.number(which.check(parent, value)) for value in values)
        except InvalidInputError as error:
            raise InvalidInputError(f"The condition of parameter {name!r} cannot hold: {error}") from error
    return needs


def _as_point(point: object) -> str:
    """What to do about a point that is a row of a pandas frame, or a list of points."""
    if hasattr(point, "to_dict"):
        return "; write row.to_dict() with the columns of the parameters alone"
    if hasattr(point, "tolist"):
        return "; an array of NumPy with a row for each point goes to tell_many"
    several = isinstance(point, list | tuple) and bool(point) and isinstance(point[0], Mapping)
    return "; several points go to tell_many" if several else ""


def _suggestion(parameter: object) -> str:
    """What to write in place of something that is not a parameter."""
    if isinstance(parameter, np.ndarray):
        parameter = parameter.tolist()
    if isinstance(parameter, range):
        return f"for a range of integers write Int({parameter.start}, {parameter[-1] if parameter else 0})"
    if isinstance(parameter, Mapping):
        return "write Float(low, high), Int(low, high) or Choice(options); a TOML file of such lines is for infgp run"
    if type(parameter).__module__.startswith("optuna.distributions"):
        return "infgp.optuna.parameters makes parameters of Optuna's distributions"
    if isinstance(parameter, tuple | list) and len(parameter) == 2 and all(map(is_number, parameter)):
        low, high = parameter
        return f"for a range write Float({low!r}, {high!r}) or Int({low!r}, {high!r})"
    if isinstance(parameter, tuple | list):
        return f"for one of several options write Choice({shown(list(parameter))})"
    if isinstance(parameter, type) and issubclass(parameter, ParameterBase):
        arguments = "['a', 'b']" if parameter is Choice else "low, high"
        return f"that is the kind of parameter; write {parameter.__name__}({arguments})"
    return "it must be a Float, an Int or a Choice"
