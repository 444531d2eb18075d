"""The law of a further reward at a point, beside that of one GP, and the odds of its modes over the inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.errors import check_int
from infgp.plot.modes import matched, reference
from infgp.plot.over_inputs import ALONG
from infgp.plot.style import BLUE, GREY, INK, MODES, axes, legend
from infgp.plot.subject import Subject, subject_of
from infgp.predict.law import as_generator
from infgp.printing import brief
from infgp.search.learning import LAST, LAST_STATES, Learner
from infgp.space import Choice, Point

#: Levels of the quantiles of a law up to which it is drawn.
TAILS = (0.02, 0.98)
#: Number of rewards at which densities are computed.
CURVE = 300
#: Largest distance of a point from another that counts as near it, in the unit cube and for each root of the dimension.
NEAR = 0.1
#: Least share of the rewards that makes a mode of its own; smaller ones are put together.
RARE = 0.05
#: Levels of the band about the odds, over posterior states.
BETWEEN = (0.1, 0.9)


@dataclass(frozen=True, eq=False)
class LawAtPoint:
    """Densities of a further reward at one point, as the ∞-GP and as one GP has it.

    Attributes
    ----------
    point : dict
    rewards : array, shape (k,)
        Where the densities are computed.
    density, one_gp : arrays, shape (k,)
    mean, one_gp_mean : float
        Means of both laws.
    near : array
        Rewards told at the point, or near it.
    noun : str
        What a value is called.
    """

    point: Point
    rewards: FloatArray
    density: FloatArray
    one_gp: FloatArray
    mean: float
    one_gp_mean: float
    near: FloatArray
    noun: str

    @classmethod
    def of(
        cls,
        thing: Any,
        at: Mapping[str, object] | None = None,
        objective: int = 0,
        rng: int | np.random.Generator | None = 0,
    ) -> LawAtPoint:
        """The laws at a point, by default the best evaluated one; the GP has the same priors and the same rewards."""
        subject = subject_of(thing, objective)
        u, sign = subject.base(at), subject.aim.sign
        with one_blas_thread():
            law = subject.learned.law(u[None], sign)
            learner = Learner.of(replace(subject.options, surfaces=1), u.size)
            other = learner.learn(as_generator(rng), subject.learned.series, None, LAST, LAST_STATES).law(u[None], sign)
            ends = np.concatenate([one.quantile(TAILS)[0] for one in (law, other)])
            slack = 0.1 * float(np.ptp(ends))
            grid = np.linspace(ends.min() - slack, ends.max() + slack, CURVE)
            gap = np.linalg.norm(subject.learned.series.x - u, axis=1) / np.sqrt(u.size)
            return cls(
                subject.point(u) if at is None else dict(at),
                grid,
                law.density(grid[None])[0],
                other.density(grid[None])[0],
                float(law.mean[0]),
                float(other.mean[0]),
                subject.rewards[gap <= NEAR],
                subject.noun,
            )


def reward_law(
    thing: Any,
    at: Mapping[str, object] | None = None,
    objective: int = 0,
    ax: Any = None,
    rng: int | np.random.Generator | None = 0,
) -> Any:
    """The density of a further reward at a point, noise included, beside that of one GP for the same rewards.

    Parameters
    ----------
    thing : Optimizer, Result, InfiniteGP or optuna.Study
    at : point, optional
        By default the evaluated point with the best objective.
    objective : int, default=0
        Index of the objective, where there are several.
    ax : matplotlib.axes.Axes, optional
    rng : int, numpy.random.Generator or None, default=0
        For the chain of the one GP.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import infgp
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, "minimize", seed=0)
    >>> optimizer.tell_many([{"x": 0.1}, {"x": 0.5}, {"x": 0.9}], [1.0, 2.0, 1.5])
    >>> reward_law(optimizer, {"x": 0.2}).get_xlabel()
    'a further cost'
    """
    data = LawAtPoint.of(thing, at, objective, rng)
    ax = axes(ax)
    ax.fill_between(data.rewards, data.density, color=BLUE, alpha=0.2, lw=0)
    ax.plot(data.rewards, data.density, color=BLUE, lw=2, label="∞-GP")
    ax.plot(data.rewards, data.one_gp, color=GREY, lw=2, ls="--", label="one GP")
    ax.axvline(data.mean, color=BLUE, lw=1, ls=":", label="means")
    ax.axvline(data.one_gp_mean, color=GREY, lw=1, ls=":")
    seen = data.near[(data.near >= data.rewards[0]) & (data.near <= data.rewards[-1])]
    if seen.size:
        ax.plot(seen, np.zeros(seen.size), "|", color=INK, ms=14, label=f"{data.noun}s told near the point")
    title = ", ".join(f"{brief(name)} = {brief(value)}" for name, value in data.point.items())
    ax.set(xlabel=f"a further {data.noun}", ylabel="density", ylim=(0.0, None))
    ax.set_title(title, fontsize=9)
    legend(ax)
    return ax


@dataclass(frozen=True, eq=False)
class ModeOdds:
    """The probability that a further reward lies on each mode, along one parameter.

    Modes are the surfaces of the posterior state that agrees best with all others; a surface of another state belongs
    to the mode that it has most members in common with.

    Attributes
    ----------
    name : str
    positions : array, shape (m,)
    odds, low, high : arrays, shape (modes, m)
        Mean over posterior states, and 10 % and 90 % quantiles; the last row is all that is rare or new.
    shares : array, shape (modes,)
        Share of the rewards told that each mode has.
    levels : array, shape (modes,)
        Median reward of each mode's members, NaN where it has none.
    """

    subject: Subject
    name: str
    positions: FloatArray
    odds: FloatArray
    low: FloatArray
    high: FloatArray
    shares: FloatArray
    levels: FloatArray

    @classmethod
    def of(
        cls,
        thing: Any,
        name: str | None = None,
        at: Mapping[str, object] | None = None,
        objective: int = 0,
        count: int = ALONG,
    ) -> ModeOdds:
        """The odds along a parameter, by default the first, through a point, by default the best evaluated one."""
        check_int("count", count, 2)
        subject = subject_of(thing, objective)
        which = subject.space.names[0] if name is None else name
        values = subject.grid(which, count)
        inputs, draws = subject.along(subject.base(at), {which: values}), subject.learned.draws
        mode = _modes(reference(draws).state.labels)
        rare = int(mode.max() if (mode >= 0).any() else -1) + 1
        mode = np.where(mode < 0, rare, mode)
        parts = []
        with one_blas_thread():
            for given in draws:
                weights = replace(given, model=given.model.for_laws(uneven=False)).urn_weights(inputs)
                of_mode = np.append(matched(given.state.labels, mode), rare)
                parts.append([weights[:, of_mode == k].sum(axis=1) for k in range(rare + 1)])
        odds = np.array(parts)
        low, high = np.quantile(odds, BETWEEN, axis=0)
        rewards = subject.rewards
        return cls(
            subject,
            which,
            subject.positions(which, values),
            odds.mean(axis=0),
            low,
            high,
            np.array([np.mean(mode == k) for k in range(rare + 1)]),
            np.array([np.median(rewards[mode == k]) if (mode == k).any() else np.nan for k in range(rare + 1)]),
        )


def _modes(labels: Any) -> Any:
    """The mode of each reward, the largest first; −1 where fewer than the share `RARE` lie on its surface."""
    counts = np.bincount(labels)
    order = np.argsort(-counts, kind="stable")
    number = np.empty(counts.size, dtype=np.int64)
    number[order] = np.where(counts[order] >= RARE * labels.size, np.arange(counts.size), -1)
    return number[labels]


def mode_odds(
    thing: Any, name: str | None = None, at: Mapping[str, object] | None = None, objective: int = 0, ax: Any = None
) -> Any:
    """The probability that a further reward lies on each mode of the rewards, along one parameter.

    Parameters
    ----------
    thing : Optimizer, Result, InfiniteGP or optuna.Study
    name : str, optional
        The parameter; by default the first.
    at : point, optional
        Where the other parameters are held; by default at the evaluated point with the best objective.
    objective : int, default=0
        Index of the objective, where there are several.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import infgp
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
    >>> optimizer.tell_many([{"x": 0.1}, {"x": 0.5}, {"x": 0.9}], [1.0, 2.0, 1.5])
    >>> mode_odds(optimizer).get_ylabel()
    'probability'
    """
    data = ModeOdds.of(thing, name, at, objective)
    ax, subject = axes(ax), data.subject
    for k, odds in enumerate(data.odds):
        last, what = k == len(data.odds) - 1, f"{subject.noun}s"
        share = f"{100.0 * data.shares[k]:.0f} % of the {what}"
        label = f"rare or new: {share}" if last else f"{share}, median {brief(float(data.levels[k]))}"
        colour = GREY if last else MODES[k % (len(MODES) - 1)]
        if isinstance(subject.parameter(data.name), Choice):
            reach = np.maximum([odds - data.low[k], data.high[k] - odds], 0.0)
            ax.errorbar(data.positions, odds, reach, fmt="o", color=colour, capsize=4, label=label)
        else:
            ax.fill_between(data.positions, data.low[k], data.high[k], color=colour, alpha=0.18, lw=0)
            ax.plot(data.positions, odds, color=colour, lw=2, label=label)
    subject.axis(ax, data.name)
    ax.set(ylabel="probability", ylim=(-0.02, 1.02))
    legend(ax)
    return ax
