"""Over the evaluations: rewards, and what was believed of the best point after each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.errors import check_int
from infgp.plot.style import BAND, BELOW, BLUE, GREY, RED, axes, legend, rewards, window
from infgp.plot.subject import optimizer_of
from infgp.predict.law import as_generator
from infgp.predict.mixture import off_surface_probability
from infgp.printing import noun
from infgp.search.optimizer import Optimizer
from infgp.search.recommending import best_expected

#: Number of moments, at most, at which it is found out what was believed then.
MOMENTS = 20
#: Number of rewards before the first of them.
FIRST = 3


@dataclass(frozen=True, eq=False)
class History:
    """The rewards in their order, and the path of the belief in the best evaluated point.

    Attributes
    ----------
    values : array, shape (n,)
        The value of each evaluation, NaN where it failed.
    off_surface : array, shape (n,)
        The probability, after all evaluations, that a value lies off the dominant surface; NaN where it failed.
    steps : int array, shape (k,)
        Numbers of evaluations after which the belief was found out.
    mean, std : arrays, shape (k,)
        The objective of the evaluated point that was best by what was known then, and how uncertain it was. It is what
        a chain finds that sees the rewards in their order, not the record of a run.
    objective, noun : str
        What is optimised, and what a value is called.
    of_values : bool
        Whether the objective has the units of the values; a chance has not.
    """

    values: FloatArray
    off_surface: FloatArray
    steps: Any
    mean: FloatArray
    std: FloatArray
    objective: str
    noun: str
    of_values: bool

    @classmethod
    def of(cls, thing: Any, moments: int = MOMENTS, rng: int | np.random.Generator | None = 0) -> History:
        """The history of an optimizer, a result or a study with one objective."""
        check_int("moments", moments, 1)
        optimizer = optimizer_of(thing)
        sign = 1.0 if optimizer.direction == "maximize" else -1.0
        observations = optimizer.observations
        done = optimizer.counted
        told = zip(observations, done, strict=True)
        values = np.array([o.values[0] if has and o.values is not None else np.nan for o, has in told])
        off = np.full(values.size, np.nan)
        learned, aim = optimizer.aimed()
        off[done] = off_surface_probability(learned.draws)
        steps, mean, std = _path(optimizer, done, moments, as_generator(rng))
        return cls(values, off, steps, mean, std, str(aim), noun(sign), aim.objective.kind != "probability")


def _path(
    optimizer: Optimizer, done: Any, moments: int, rng: np.random.Generator
) -> tuple[Any, FloatArray, FloatArray]:
    """What a chain believes of the best evaluated point as it is told one evaluation after the other."""
    setup, observations = optimizer.setup, optimizer.observations
    inputs = setup.space.to_unit([o.point for o in observations])
    log = list(zip(observations, inputs, strict=True))
    begin = int(np.argmax(np.cumsum(done) >= min(FIRST, done.sum()))) + 1
    steps = np.unique(np.linspace(begin, len(log), moments).round().astype(int))
    chain, found = None, []
    with one_blas_thread():
        for step in steps.tolist():
            series = next(iter(setup.problem(log[:step]).objectives.values()))
            learned = setup.learner.learn(rng, series, chain)
            chain = learned.chain
            counted = setup.counted(log[:step])
            feasible = [o.feasible for o, has in zip(observations[:step], counted, strict=True) if has]
            found.append(best_expected(setup.strategy.aims([learned])[0], feasible))
    return steps, np.array([best.mean for best in found]), np.array([best.std for best in found])


def history(thing: Any, ax: Any = None, moments: int = MOMENTS, rng: int | np.random.Generator | None = 0) -> Any:
    """Rewards in their order, those off the dominant surface marked, and the belief in the best evaluated point.

    Parameters
    ----------
    thing : Optimizer, Result or optuna.Study
        With one objective.
    ax : matplotlib.axes.Axes, optional
    moments : int, default=20
        After how many evaluations, at most, the belief is found out. A chain is run along the rewards for it, which
        takes about as long as the model has taken in the search.
    rng : int, numpy.random.Generator or None, default=0

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import infgp
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
    >>> optimizer.tell_many([{"x": 0.1}, {"x": 0.5}, {"x": 0.9}], [1.0, 2.0, 1.5])
    >>> history(optimizer, moments=1).get_xlabel()
    'evaluation'
    """
    data = History.of(thing, moments, rng)
    ax, order = axes(ax), np.arange(1.0, data.values.size + 1.0)
    low, high = data.mean - BAND * data.std, data.mean + BAND * data.std
    shown = (data.mean, data.mean[-1:], low[-1:], high[-1:]) if data.of_values else ()
    ends = window(data.values, *shown)
    rewards(ax, order, data.values, ends, label=data.noun)
    off = data.off_surface > 0.5
    marks = np.clip(data.values[off], *ends)
    if off.any():
        ax.plot(order[off], marks, "o", mfc="none", mec=RED, ms=9, mew=1.3, label="held to be off the surface")
    failed = np.isnan(data.values)
    if failed.any():
        ax.plot(order[failed], np.full(failed.sum(), ends[0]), "x", color=RED, ms=6, label="failed", clip_on=False)
    path = ax if data.of_values else ax.twinx()
    path.fill_between(data.steps, low, high, color=BLUE, alpha=0.15, lw=0, label=f"± {BAND:g} sd")
    path.plot(data.steps, data.mean, color=BLUE, lw=2, label=f"best {data.objective}, as believed then")
    ax.set(xlabel="evaluation", ylabel=data.noun, ylim=ends)
    if path is not ax:
        path.set(ylabel=data.objective, ylim=(-0.02, 1.02))
        path.spines[["top"]].set_visible(False)
        path.plot([], [], ".", color=GREY, label=data.noun)
    legend(path, **BELOW)
    return ax
