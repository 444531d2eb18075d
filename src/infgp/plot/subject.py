"""What a picture is of: an optimizer, a result, a study or a model, in one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.core.options import ModelOptions
from infgp.core.priors import Priors
from infgp.errors import InvalidInputError, shown
from infgp.predict.functionals import Aim, Objective
from infgp.printing import brief, noun
from infgp.run import Result
from infgp.search.learning import Learned, Series, WarmChain
from infgp.search.optimizer import Optimizer
from infgp.search.recommending import best_expected
from infgp.space import Choice, Float, Int, Parameter, Point, Space

#: Number of posterior states of an `InfiniteGP` that pictures are made from, at most.
STATES = 24


@dataclass(frozen=True, eq=False)
class Subject:
    """What is known of one objective, with what is needed to draw it over the inputs.

    Attributes
    ----------
    space : Space
    learned : Learned
    aim : Aim
        What is optimised; of an `InfiniteGP`, the expected reward.
    options : ModelOptions
        With which the model was made.
    labels : dict of str to sequence
        For each categorical parameter, its options as the user knows them.
    """

    space: Space
    learned: Learned
    aim: Aim
    options: ModelOptions
    labels: Mapping[str, Sequence[Any]]

    @property
    def noun(self) -> str:
        """What a value is called."""
        return noun(self.aim.sign)

    @property
    def rewards(self) -> FloatArray:
        """The rewards in the user's units, shape (n,)."""
        return self.aim.sign * self.learned.series.y

    @property
    def of_rewards(self) -> bool:
        """Whether the objective is in the units of the rewards; a chance is not."""
        return self.aim.objective.kind != "probability"

    def base(self, at: Mapping[str, object] | None = None) -> FloatArray:
        """The input of a point in the user's terms, shape (d,); by default of the evaluated point that is best."""
        if at is None:
            best = best_expected((self.learned, self.aim), [True] * self.learned.series.y.size)
            return np.asarray(self.learned.series.x[best.index])
        return np.asarray(self.space.to_unit([self.inward(at)])[0])

    def inward(self, point: Mapping[str, object]) -> dict[str, object]:
        """A point in the user's terms as one of the space."""
        if not isinstance(point, Mapping):
            self.space.validate(point)  # refuses it, and says what a point is
        out = dict(point)
        for name, options in self.labels.items():
            if name in out:
                same = [k for k, option in enumerate(options) if (type(option), option) == (type(out[name]), out[name])]
                if not same:
                    raise InvalidInputError(f"{name}={out[name]!r} is not an option; give one of {list(options)!r}.")
                parameter = self.parameter(name)
                assert isinstance(parameter, Choice), "only choices have labels"
                out[name] = parameter.options[same[0]]
        return out

    def point(self, u: FloatArray) -> Point:
        """The point at an input, shape (d,), in the user's terms."""
        return self.outward(self.space.from_unit(u[None])[0])

    def outward(self, point: Mapping[str, object]) -> Point:
        """A point of the space in the user's terms."""
        out = dict(point)
        for name in self.labels.keys() & out.keys():
            parameter = self.parameter(name)
            assert isinstance(parameter, Choice)
            out[name] = self.labels[name][parameter.number(out[name])]
        return out

    def parameter(self, name: str) -> Parameter:
        """The parameter of a name; raises unless there is one."""
        if name not in self.space.names:
            raise InvalidInputError(f"There is no parameter {name!r}; give one of {list(self.space.names)!r}.")
        return self.space.parameters[self.space.names.index(name)]

    def columns(self, name: str) -> slice:
        """The coordinates of a parameter."""
        widths = [parameter.width for parameter in self.space.parameters]
        start = sum(widths[: self.space.names.index(name)])
        return slice(start, start + self.parameter(name).width)

    def grid(self, name: str, count: int) -> list[Any]:
        """Values of a parameter to draw: all of them if there are at most `count`, otherwise evenly spaced ones."""
        parameter = self.parameter(name)
        if isinstance(parameter, Choice):
            return list(parameter.options)
        if isinstance(parameter, Float) and parameter.step is None:
            return parameter.decode(np.linspace(0.0, 1.0, count)[:, None])
        if isinstance(parameter, Int) and parameter.size <= count:
            return list(range(parameter.low, parameter.high + 1, parameter.step))
        shown = min(int(parameter.size), count)
        cells: FloatArray = (np.arange(shown, dtype=float) + 0.5) / shown
        return list(dict.fromkeys(parameter.decode(cells[:, None])))

    def along(self, base: FloatArray, changes: Mapping[str, Sequence[Any]]) -> FloatArray:
        """Inputs that differ from `base` in some parameters, which have one value for each input; shape (m, d)."""
        count = len(next(iter(changes.values())))
        out = np.tile(base, (count, 1))
        there = self.space.from_unit(base[None])[0]
        for name, values in changes.items():
            if name not in there:
                raise InvalidInputError(f"{name!r} does not apply at the point; give a point `at` where it does.")
            if self.parameter(name).width:
                out[:, self.columns(name)] = self.parameter(name).encode(list(values))
        return self.space.snap(out)

    def positions(self, name: str, values: Sequence[Any]) -> FloatArray:
        """Where values are on an axis: numbers as they are, options by their number."""
        parameter = self.parameter(name)
        if isinstance(parameter, Choice):
            return np.array([parameter.number(value) for value in values], dtype=float)
        return np.array(values, dtype=float)

    def told(self, name: str) -> FloatArray:
        """Where the evaluated points are on the axis of a parameter, NaN where it does not apply; shape (n,)."""
        points = self.space.from_unit(self.learned.series.x)
        has = [name in point for point in points]
        out = np.full(len(points), np.nan)
        out[has] = self.positions(name, [point[name] for point in points if name in point])
        return out

    def axis(self, ax: Any, name: str, which: str = "x") -> None:
        """Name an axis after a parameter, with its scale and the names of its options."""
        parameter = self.parameter(name)
        set_ = {part: getattr(ax, f"set_{which}{part}") for part in ("label", "scale", "ticks")}
        set_["label"](brief(name))
        if isinstance(parameter, Choice):
            set_["ticks"](range(len(self.labels[name])), [brief(option) for option in self.labels[name]])
        elif parameter.log:
            set_["scale"]("log")


def optimizer_of(thing: Any) -> Optimizer:
    """The optimizer that is, is in, or can be made from, an optimizer, a result or a study."""
    if isinstance(thing, Optimizer):
        return thing
    if isinstance(thing, Result):
        return thing.optimizer
    if is_study(thing):
        found: Optimizer = sampler_of(thing).optimizer(thing)
        return found
    raise InvalidInputError(f"A picture is of an Optimizer, a Result or an Optuna study, but got {shown(thing)}.")


def is_study(thing: Any) -> bool:
    """Whether it is a study of Optuna's, which is not imported for that."""
    return any(kind.__module__.startswith("optuna.") and kind.__name__ == "Study" for kind in type(thing).__mro__)


def sampler_of(study: Any) -> Any:
    """The study's own sampler or, where that is another one, a new `InfGPSampler`, which reads the study's trials."""
    from infgp.optuna import InfGPSampler

    return study.sampler if isinstance(study.sampler, InfGPSampler) else InfGPSampler(seed=0)


def is_model(thing: Any) -> bool:
    """Whether it is an `InfiniteGP`; raises unless it is fitted."""
    from sklearn.utils.validation import check_is_fitted

    from infgp.estimator import InfiniteGP

    if isinstance(thing, InfiniteGP):
        check_is_fitted(thing)
        return True
    return False


def subject_of(thing: Any, objective: int = 0) -> Subject:
    """The subject of a picture; a subject stays as it is, so that several pictures need what is known only once.

    Parameters
    ----------
    thing : Optimizer, Result, InfiniteGP, optuna.Study or Subject
    objective : int, default=0
        Index of the objective, where there are several.

    Examples
    --------
    >>> import infgp
    >>> model = infgp.InfiniteGP(n_warmup=20, n_samples=4, n_chains=1, random_state=0)
    >>> subject_of(model.fit([[0.0], [0.5], [1.0]], [1.0, 2.0, 3.0])).space.names
    ('x0',)
    """
    if isinstance(thing, Subject):
        return thing
    if not isinstance(thing, Optimizer | Result) and not is_study(thing) and is_model(thing):
        return _of_model(thing)
    optimizer = optimizer_of(thing)
    learned, aim = optimizer.aimed(objective)
    choices = {name: p.options for name, p in _choices(optimizer.space).items()}
    if is_study(thing):
        for name in choices:
            trial = next(trial for trial in thing.get_trials(deepcopy=False) if name in trial.distributions)
            choices[name] = trial.distributions[name].choices
    return Subject(optimizer.space, learned, aim, optimizer.setup.options, choices)


def _choices(space: Space) -> dict[str, Choice]:
    pairs = zip(space.names, space.parameters, strict=True)
    return {name: parameter for name, parameter in pairs if isinstance(parameter, Choice)}


def _of_model(model: Any) -> Subject:
    """The subject that an `InfiniteGP` is: its inputs are floats over the range of the training data."""
    first = model.chains_[0]
    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{k}" for k in range(model.n_features_in_)])]
    low, span = first.units.inputs.low, first.units.inputs.span
    space = Space.of({name: Float(a, a + b) for name, a, b in zip(names, low.tolist(), span.tolist(), strict=True)})
    states = [state for chain in model.chains_ for state in chain.states]
    kept = np.unique(np.linspace(0, len(states) - 1, STATES).round().astype(int))
    series = Series(first.units.inputs.to_unit(model._x), model._y, model._noise, np.empty((0, space.d)))
    chain = WarmChain(tuple(states[k] for k in kept), model._y.size, first.units.rewards, first.warps)
    learned = Learned(series, chain, model._model_, tempered=len(first.warps.maps) > 1)
    aim = learned.aimed(Aim(Objective(), learned.rewards, units=learned.units))
    options = replace(model._options, priors=model.priors or Priors())
    return Subject(space, learned, aim, options, {})
