"""What each parameter explains of the objective's variance over the space."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.core.partition import IntArray
from infgp.errors import check_int
from infgp.plot.style import BLUE, GREY, axes, legend
from infgp.plot.subject import Subject, is_study, subject_of
from infgp.predict.bundles import draw_bundle
from infgp.predict.law import as_generator
from infgp.printing import brief
from infgp.space import Choice

#: Number of functions that are drawn, at least.
DRAWS = 96
#: Number of inputs over the space at which they are computed.
INPUTS = 2048
#: Number of intervals into which the range of a parameter is cut.
INTERVALS = 32
#: Levels of the interval that is drawn, over posterior draws.
INTERVAL = (0.05, 0.95)


@dataclass(frozen=True, eq=False)
class Importances:
    """First-order Sobol shares of posterior draws of the objective.

    The share of a parameter is Var(E[f | parameter]) / Var(f), where f is one function drawn from the posterior and
    points are uniform over the space, as in its unit cube. Shares of all parameters sum to at most 1 but for Monte
    Carlo error; what is missing to 1 is the effect of combinations.

    Attributes
    ----------
    names : tuple of str
    shares : array, shape (draws, parameters)
    ped_anova : dict of str to float, or None
        Optuna's importances of the same parameters by PED-ANOVA, where a study was given: how much each parameter
        decides whether a trial is among the best. They sum to 1.
    """

    names: tuple[str, ...]
    shares: FloatArray
    ped_anova: dict[str, float] | None = None

    @property
    def mean(self) -> FloatArray:
        """Posterior mean of each share, shape (parameters,)."""
        return np.asarray(self.shares.mean(axis=0))

    @property
    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Quantiles of each share between which it lies with probability 0.9, shapes (parameters,)."""
        low, high = np.quantile(self.shares, INTERVAL, axis=0)
        return low, high

    @property
    def combinations(self) -> FloatArray:
        """What no parameter explains alone, for each draw, shape (draws,)."""
        return np.asarray(np.maximum(1.0 - self.shares.sum(axis=1), 0.0))

    @classmethod
    def of(
        cls, thing: Any, objective: int = 0, draws: int = DRAWS, rng: int | np.random.Generator | None = 0
    ) -> Importances:
        """The shares of each parameter's part in functions drawn from the posterior."""
        check_int("draws", draws, 1)
        subject, generator = subject_of(thing, objective), as_generator(rng)
        cells = generator.random((INPUTS, subject.space.d))
        inputs, states = subject.space.snap(cells), subject.learned.draws
        size = -(-draws // len(states))
        with one_blas_thread():
            values = np.hstack([draw_bundle(generator, given, subject.aim, size)(inputs) for given in states])
        names = tuple(n for n, p in zip(subject.space.names, subject.space.parameters, strict=True) if p.width)
        shares = np.column_stack([explained(values, _groups(subject, name, cells)) for name in names])
        return cls(names, shares, _ped_anova(thing, objective, names) if is_study(thing) else None)


def explained(values: FloatArray, groups: IntArray) -> FloatArray:
    """Share of the variance of each column of `values`, shape (m, S), that groups of its rows explain; shape (S,).

    It is one less the variance within groups over that of all, each without bias; 0 where nothing varies.

    Examples
    --------
    >>> import numpy as np
    >>> groups = np.arange(1000) % 4
    >>> noise = np.random.default_rng(0).normal(size=1000)
    >>> explained(np.column_stack((groups, noise, groups + 1.118 * noise, np.ones(1000))), groups).round(1) + 0.0
    array([1. , 0. , 0.5, 0. ])
    """
    _, number = np.unique(groups, return_inverse=True)
    counts = np.bincount(number)
    sums = np.zeros((counts.size, values.shape[1]))
    centred = values - values.mean(axis=0)
    np.add.at(sums, number, centred)
    within = np.sum(centred**2, axis=0) - np.sum(sums**2 / counts[:, None], axis=0)
    total = np.var(values, axis=0, ddof=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = 1.0 - within / max(values.shape[0] - counts.size, 1) / total
    flat = total <= (1e-12 * np.abs(values).max(axis=0, initial=0.0)) ** 2
    return np.where(flat, 0.0, np.clip(share, 0.0, 1.0))


def _groups(subject: Subject, name: str, cells: FloatArray) -> IntArray:
    """In which interval of a parameter's range, or at which of its values, each position of the cube is."""
    parameter, block = subject.parameter(name), cells[:, subject.columns(name)]
    if isinstance(parameter, Choice):
        return parameter.rank(block)
    if parameter.size <= INTERVALS:
        return np.asarray(np.unique(parameter.snap(block)[:, 0], return_inverse=True)[1])
    return np.asarray(np.floor(INTERVALS * block[:, 0]), dtype=np.int64)


def _ped_anova(study: Any, objective: int, names: tuple[str, ...]) -> dict[str, float]:
    """Optuna's importances of the parameters; those that it does not know have none."""
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an experimental class, and what it says of few trials
        found = get_param_importances(
            study, evaluator=PedAnovaImportanceEvaluator(), target=lambda trial: trial.values[objective]
        )
    return {name: float(found.get(name, 0.0)) for name in names}


def importances(
    thing: Any, objective: int = 0, ax: Any = None, draws: int = DRAWS, rng: int | np.random.Generator | None = 0
) -> Any:
    """What each parameter explains alone of the objective's variance over the space, with 90 % intervals.

    Parameters
    ----------
    thing : Optimizer, Result, InfiniteGP or optuna.Study
        Beside the shares in a study are Optuna's importances by PED-ANOVA, which have another meaning: how much a
        parameter decides whether a trial is among the best.
    objective : int, default=0
        Index of the objective, where there are several.
    ax : matplotlib.axes.Axes, optional
    draws : int, default=96
        Functions drawn from the posterior, at least.
    rng : int, numpy.random.Generator or None, default=0

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import infgp
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0), "n": infgp.Int(1, 9)}, seed=0)
    >>> optimizer.tell_many([{"x": 0.1, "n": 1}, {"x": 0.5, "n": 9}, {"x": 0.9, "n": 4}], [1.0, 2.0, 1.5])
    >>> len(importances(optimizer).get_yticklabels())
    3
    """
    data = Importances.of(thing, objective, draws, rng)
    ax = axes(ax)
    order = np.argsort(data.mean, kind="stable")
    rest = data.combinations
    low, high = data.interval
    mean = np.append(rest.mean(), data.mean[order])
    ends = np.column_stack((np.quantile(rest, INTERVAL), np.array([low, high])[:, order]))
    rows = np.arange(mean.size, dtype=float)
    shift = 0.0 if data.ped_anova is None else 0.2
    height = 0.6 - shift
    colours = [GREY] + [BLUE] * order.size
    bars = ax.barh(rows + shift, mean, height, color=colours, alpha=0.75)
    bars[-1].set_label("share of the variance, 90 % interval")
    reach = np.maximum([mean - ends[0], ends[1] - mean], 0.0)
    ax.errorbar(mean, rows + shift, xerr=reach, fmt="none", ecolor="black", capsize=3, lw=1)
    if data.ped_anova is not None:
        other = [data.ped_anova[data.names[k]] for k in order]
        ax.barh(rows[1:] - shift, other, height, color=GREY, alpha=0.55, label="Optuna's PED-ANOVA")
    ax.set_yticks(rows, ["combinations", *(brief(data.names[k]) for k in order)])
    ax.set(xlabel="share", xlim=(0.0, 1.0))
    legend(ax, loc="lower right")
    return ax
