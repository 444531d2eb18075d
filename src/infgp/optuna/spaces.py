"""Optuna's distributions and infgp's parameters: from each to the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from infgp.errors import InvalidInputError, extra, shown
from infgp.space import Choice, Float, Int, Parameter, Point, Scalar, Space, SpaceLike

with extra("optuna", "optuna"):
    from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
    from optuna.trial import BaseTrial

Distributions: TypeAlias = dict[str, BaseDistribution]
#: For each parameter with a condition: other parameters, and their values at which it applies, choices by number.
Conditions: TypeAlias = dict[str, dict[str, list[float | int]]]


def suggest(trial: BaseTrial, space: SpaceLike) -> Point:
    """The point of a trial: the trial is asked for the parameters that apply to it, and for no others.

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> space = {"kind": Choice(["a", "b"]), "x": Float(0.0, 1.0, when={"kind": "b"})}
    >>> from infgp.optuna import InfGPSampler
    >>> study = optuna.create_study(sampler=InfGPSampler(seed=0, search_space=space))
    >>> study.optimize(lambda trial: (suggest(trial, space).get("x", 1.0) - 0.3) ** 2, n_trials=16)
    >>> study.best_params["kind"], abs(study.best_params["x"] - 0.3) < 0.05
    ('b', True)
    """

    def ask(name: str, p: Parameter) -> Any:
        if isinstance(p, Float):
            return trial.suggest_float(name, p.low, p.high, step=p.step, log=p.log)
        if isinstance(p, Int):
            return trial.suggest_int(name, p.low, p.high, step=p.step, log=p.log)
        return trial.suggest_categorical(name, p.options)

    return Space.of(space).assemble(ask)


def distributions(space: Space) -> Distributions:
    """Optuna's distributions for the parameters of a space, without their conditions.

    Examples
    --------
    >>> distributions(Space.of({"x": Float(0.0, 1.0, step=0.25)}))["x"].step
    0.25
    """

    def one(p: Parameter) -> BaseDistribution:
        if isinstance(p, Float):
            return FloatDistribution(p.low, p.high, log=p.log, step=p.step)
        if isinstance(p, Int):
            return IntDistribution(p.low, p.high, log=p.log, step=p.step)
        return CategoricalDistribution(tuple(p.options))

    return {name: one(p) for name, p in zip(space.names, space.parameters, strict=True)}


def parameters(distributions: Mapping[str, BaseDistribution]) -> dict[str, Parameter]:
    """Parameters of infgp for Optuna's distributions; :func:`distributions` is the other way.

    Examples
    --------
    >>> parameters({"kind": CategoricalDistribution(["a", "b"])})
    {'kind': Choice(options=('a', 'b'))}
    """
    return {
        name: Choice(d.choices) if isinstance(d, CategoricalDistribution) else parameter(name, d, None)
        for name, d in distributions.items()
    }


def given_space(
    search_space: Mapping[str, BaseDistribution] | SpaceLike | None,
) -> tuple[Distributions | None, Conditions]:
    """What the user wants to have chosen together, None if nothing was said, and the conditions.

    Constants count only where a condition may be on them.
    """
    if search_space is None:
        return None, {}
    if not isinstance(search_space, Space):
        if not isinstance(search_space, Mapping):
            raise InvalidInputError(
                "search_space must be a mapping from names to parameters of infgp, or to distributions of Optuna, such "
                f"as {{'x': infgp.Float(0, 1)}}, but got {shown(search_space)}."
            )
        theirs = {name: d for name, d in search_space.items() if isinstance(d, BaseDistribution)}
        if len(theirs) == len(search_space):
            return varying(theirs), {}
    space = Space.of(cast("SpaceLike", search_space))  # refuses what is none
    known = distributions(space)

    def numbered(parent: str, values: Sequence[Scalar]) -> list[float | int]:
        return [inward(known[parent], known[parent].to_internal_repr(value)) for value in values]

    conditions = {
        name: {parent: numbered(parent, values) for parent, values in p.when.items()}
        for name, p in zip(space.names, space.parameters, strict=True)
        if p.when is not None
    }
    return known if conditions else varying(known), conditions


def varying(distributions: Mapping[str, BaseDistribution]) -> Distributions:
    """Those of some distributions that have more than one value."""
    return {name: d for name, d in distributions.items() if not d.single()}


def space_of(distributions: Distributions, conditions: Conditions | None = None) -> Space:
    """The space of some parameters; what another sampler has taken out of it no longer decides what applies."""

    def when(name: str) -> dict[str, Any] | None:
        stated = (conditions or {}).get(name, {})
        return {parent: values for parent, values in stated.items() if parent in distributions} or None

    return Space.of({name: parameter(name, d, when(name)) for name, d in distributions.items()})


def parameter(name: str, distribution: BaseDistribution, when: Mapping[str, Any] | None) -> Parameter:
    """The parameter of infgp that stands for a distribution: choices are numbered."""
    if isinstance(distribution, CategoricalDistribution):
        return Choice(range(len(distribution.choices)), when)
    if isinstance(distribution, FloatDistribution):
        return Float(distribution.low, distribution.high, distribution.log, distribution.step, when)
    if isinstance(distribution, IntDistribution):
        return Int(distribution.low, distribution.high, distribution.log, distribution.step, when)
    raise InvalidInputError(
        f"The parameter {name!r} has the distribution {distribution!r}, which infgp does not know; use suggest_float, "
        "suggest_int or suggest_categorical."
    )


def inward(distribution: BaseDistribution, internal: float) -> float | int:
    """From Optuna's internal representation to a value of the parameter of infgp."""
    return internal if isinstance(distribution, FloatDistribution) else int(internal)


def outward(distribution: BaseDistribution, value: Any) -> Any:
    """From a value of the parameter of infgp to Optuna's external representation."""
    return distribution.to_external_repr(float(value))
