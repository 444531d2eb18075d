"""Can it be believed: laws that leave one reward out, and the traces of the chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp
from scipy.stats import binom

from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.core.model import Data
from infgp.core.partition import IntArray
from infgp.core.state import State
from infgp.core.surface import Conditioned
from infgp.errors import InvalidInputError, check_choice, check_int, shown
from infgp.plot.style import BLUE, GREY, MODES, axes, legend
from infgp.plot.subject import Subject, is_model, subject_of
from infgp.predict.law import Law, as_generator
from infgp.predict.lawmixture import LawMixture
from infgp.predict.mixture import predictive

#: Number of posterior states over which laws that leave one out are averaged, at most.
STATES = 8
#: Number of rewards that are left out, one at a time, at most.
LEFT_OUT = 100
#: Number of bars of the histogram.
BARS = 10
#: Probability that a bar lies in the band if the laws are right.
COVERED = 0.95


@dataclass(frozen=True, eq=False)
class Calibration:
    """For each of some rewards, its place in the law that the others give at its point: the PIT by leave-one-out.

    If the laws are right, places are uniform between 0 and 1. In each posterior state the reward is taken off its
    surface; states are weighted by 1 / (density of the reward), which makes them states given the other rewards.

    Attributes
    ----------
    which : int array, shape (k,)
        Numbers of the rewards among those that succeeded.
    pit : array, shape (k,)
        Probability, given all others, of a reward that is at most as large.
    log_density : array, shape (k,)
        Logarithm of the density of the reward, given all others, per unit of the user's.
    noun : str
        What a value is called.
    """

    which: IntArray
    pit: FloatArray
    log_density: FloatArray
    noun: str = "reward"

    @classmethod
    def of(
        cls, thing: Any, objective: int = 0, most: int = LEFT_OUT, rng: int | np.random.Generator | None = 0
    ) -> Calibration:
        """Leave each reward out, or `most` of them, chosen at random."""
        check_int("most", most, 1)
        subject, generator = subject_of(thing, objective), as_generator(rng)
        n = subject.rewards.size
        if n < 2:
            raise InvalidInputError("There must be at least two rewards to leave one out; tell more.")
        which = np.sort(generator.choice(n, most, replace=False)) if n > most else np.arange(n)
        draws = _few(subject)
        with one_blas_thread():
            parts = [_left_out(subject, draws, i) for i in which.tolist()]
        pit, log_density = np.array(parts).T
        return cls(which, pit, log_density, subject.noun)


def _left_out(subject: Subject, draws: Sequence[Conditioned], i: int) -> tuple[float, float]:
    """The PIT of reward i given the others, and its log density."""
    laws, log_density = _laws_without(subject, draws, i)
    below = [float(law.mixture.cdf(given.data.y[i : i + 1])[0]) for law, given in zip(laws, draws, strict=True)]
    pit = float(_weights(log_density) @ below)
    return pit if subject.aim.sign > 0 else 1.0 - pit, float(np.log(len(draws)) - logsumexp(-log_density))


def _laws_without(subject: Subject, draws: Sequence[Conditioned], i: int) -> tuple[list[Law], FloatArray]:
    """For each state without reward i, the law of a reward at its point, and the log density of reward i there."""
    learned, all_ = subject.learned, subject.learned.data
    rest = Data(np.delete(all_.x, i, axis=0), np.delete(all_.y, i), np.delete(all_.noise, i))
    laws, log_density = [], []
    for given in draws:
        state = without(given.state, i)
        fewer = Conditioned(state, rest.seen(state, given.model), given.model.for_laws())
        law, z = predictive([fewer], all_.x[i : i + 1]), given.data.y[i : i + 1]
        law = replace(law, variances=law.variances + all_.noise[i])
        rewards = learned.units.through(learned.model.warps.maps[state.warp])
        laws.append(Law(law, rewards, subject.aim.sign))
        log_density.append(float((law.logpdf(z) - rewards.log_slope(z))[0]))
    return laws, np.array(log_density)


def _weights(log_density: FloatArray) -> FloatArray:
    """Weights that make states given all rewards states given all but one, from the log density of that one."""
    return np.asarray(np.exp(-log_density - logsumexp(-log_density)))


def law_without(subject: Subject, i: int) -> LawMixture:
    """The law at the point of reward i, among those that succeeded, that the other rewards give.

    Examples
    --------
    >>> import infgp
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
    >>> optimizer.tell_many([{"x": k / 9} for k in range(10)], [0.0, 0.0, 0.1, 0.1, 9.0, 0.2, 0.2, 0.3, 0.3, 0.4])
    >>> bool(law_without(subject_of(optimizer), 4).quantile(0.5)[0] < 1.0)
    True
    """
    draws = _few(subject)
    with one_blas_thread():
        laws, log_density = _laws_without(subject, draws, i)
    return LawMixture(laws, _weights(log_density))


def _few(subject: Subject) -> list[Conditioned]:
    """At most `STATES` posterior states, evenly spaced."""
    draws = subject.learned.draws
    return [draws[k] for k in np.unique(np.linspace(0, len(draws) - 1, STATES).round().astype(int))]


def without(state: State, i: int) -> State:
    """A state without observation i; a surface that is left without members is gone.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.ones(1)
    >>> labels, scales = np.array([0, 1, 2, 1]), np.array([5.0, 6.0, 7.0, 8.0])
    >>> state = State(labels, np.zeros(2), 1.0, np.ones((1, 1)), one, one, scale=scales)
    >>> without(state, 0).labels, without(state, 0).scale
    (array([0, 1, 0]), array([6., 7., 8.]))
    """
    labels, surfaces = np.delete(state.labels, i), state.n_surfaces
    kept, first = np.unique(labels, return_index=True)
    order = kept[np.argsort(first)]
    number = np.zeros(surfaces, dtype=np.int64)
    number[order] = np.arange(order.size)

    def of(values: Any) -> Any:
        if values.shape[0] == 1:
            return values
        return values[np.append(order, np.arange(surfaces, values.shape[0]))]  # that of a new surface, too

    parts = {name: of(getattr(state, name)) for name in ("phi", "sigma2", "tau2", "scale", "grade")}
    return replace(state, labels=number[labels], **parts)


def calibration(
    thing: Any, objective: int = 0, ax: Any = None, most: int = LEFT_OUT, rng: int | np.random.Generator | None = 0
) -> Any:
    """Histogram of the rewards' places in the laws that leave them out; uniform, where the laws are right.

    Bars that rise at both ends mean that laws are too narrow, a hill in the middle that they are too wide.

    Parameters
    ----------
    thing : Optimizer, Result, InfiniteGP or optuna.Study
    objective : int, default=0
        Index of the objective, where there are several.
    ax : matplotlib.axes.Axes, optional
    most : int, default=100
        Number of rewards that are left out, one at a time.
    rng : int, numpy.random.Generator or None, default=0
        Chooses them, if there are more.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import infgp
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
    >>> optimizer.tell_many([{"x": 0.1}, {"x": 0.5}, {"x": 0.9}], [1.0, 2.0, 1.5])
    >>> len(calibration(optimizer).patches) >= 10
    True
    """
    data = Calibration.of(thing, objective, most, rng)
    ax, n = axes(ax), data.pit.size
    low, high = binom.interval(COVERED, n, 1.0 / BARS)
    ax.axhspan(low, high, color=GREY, alpha=0.25, lw=0, label=f"{100.0 * COVERED:g} % of bars, if the laws are right")
    ax.axhline(n / BARS, color=GREY, lw=1)
    ax.hist(
        data.pit, BARS, range=(0.0, 1.0), color=BLUE, alpha=0.75, rwidth=0.92, label=f"{n} {data.noun}s, each left out"
    )
    ax.set(xlabel=f"place of a {data.noun} in the law that the others give", ylabel=f"{data.noun}s", xlim=(0.0, 1.0))
    ax.set_ylim(0.0, 1.3 * ax.get_ylim()[1])
    legend(ax, loc="upper center", ncols=2)
    return ax


@dataclass(frozen=True, eq=False)
class Trace:
    """One label-free summary of the states of all chains.

    Attributes
    ----------
    name : str
    values : array, shape (chains, draws)
    r_hat, ess : float
        Whether the chains agree, and how many independent draws they are worth (:mod:`infgp.sample.diagnostics`).
    """

    name: str
    values: FloatArray
    r_hat: float
    ess: float

    @classmethod
    def of(cls, model: Any, name: str = "n_surfaces") -> Trace:
        """A trace of a fitted `InfiniteGP`."""
        if not is_model(model):
            raise InvalidInputError(f"Traces are those of a fitted InfiniteGP, but got {shown(model)}.")
        check_choice("name", name, tuple(model.chains_[0].traces))
        values = np.stack([chain.traces[name] for chain in model.chains_])
        found = model.diagnostics_
        return cls(name, values, float(found.r_hat[name]), float(found.ess[name]))


#: Names of the traces in words.
WORDS = {
    "n_surfaces": "number of surfaces",
    "log_joint": "log density of the state and the rewards",
    "main_share": "share of the largest surface",
}


def trace(model: Any, name: str = "n_surfaces", ax: Any = None) -> Any:
    """A summary of the posterior states of each chain, in their order, with R-hat and effective sample size.

    Parameters
    ----------
    model : InfiniteGP
        Fitted.
    name : str, default="n_surfaces"
        One of the traces of the model, such as "n_surfaces" or "log_joint" (:class:`infgp.sample.chain.Draws`).
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import infgp
    >>> model = infgp.InfiniteGP(n_warmup=20, n_samples=4, n_chains=2, random_state=0)
    >>> trace(model.fit([[0.0], [0.5], [1.0]], [1.0, 2.0, 3.0]), "log_joint").get_xlabel()
    'draw'
    """
    data = Trace.of(model, name)
    ax = axes(ax)
    for k, values in enumerate(data.values):
        ax.plot(np.arange(1, values.size + 1), values, lw=1, color=MODES[k % len(MODES)], alpha=0.8, label=f"chain {k}")
    if (data.values == np.round(data.values)).all():
        ax.yaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="draw", ylabel=WORDS.get(name, name.replace("_", " ")))
    ax.set_title(f"R-hat {data.r_hat:.3f}, effective sample size {data.ess:.0f}", fontsize=9)
    legend(ax)
    return ax
