"""Over the inputs: the objective along one parameter, and over two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.core.model import trend
from infgp.errors import InvalidInputError, check_int
from infgp.plot.modes import reference
from infgp.plot.style import BAND, BELOW, BLUE, GREY, MODES, RED, axes, legend, rewards, window
from infgp.plot.subject import Subject, subject_of
from infgp.predict.mixture import off_surface_probability
from infgp.predict.objectives import MeanObjective
from infgp.printing import brief
from infgp.space import Choice, Point

#: Number of inputs along a slice, at most.
ALONG = 121
#: Number of inputs along each side of a contour, at most.
SIDE = 41
#: Levels of the quantiles between which 80 % of the rewards lie.
MOST = (0.1, 0.9)
#: Distance of the rewards of an option from its error bar; options are 1 apart.
BESIDE = 0.12
#: Number of single surfaces that are drawn, the largest ones.
SURFACES = 5
#: Distance from the slice, in the other coordinates of the unit cube and for each root of their number, at which a
#: reward is drawn with 0.6 of full strength.
NEAR = 0.25


@dataclass(frozen=True, eq=False)
class SurfaceLine:
    """One surface along a slice: its mean in the user's units, shape (m,), and its share of the rewards."""

    values: FloatArray
    share: float


@dataclass(frozen=True, eq=False)
class Slice:
    """What is believed along one parameter, the others being held.

    Attributes
    ----------
    name : str
    at : dict
        The point that the slice goes through.
    positions : array, shape (m,)
        Values of the parameter; of a categorical one, numbers of the options.
    mean, std : arrays, shape (m,)
        Posterior mean of the objective, and how uncertain it is.
    low, high : arrays, shape (m,)
        80 % of further rewards lie between them.
    surfaces : tuple of SurfaceLine
        Single surfaces of one posterior state, the one that agrees best with all others; the largest first.
    told, rewards, off_surface, nearness : arrays, shape (n,)
        Where rewards were told, on the axis of the parameter; the rewards; the probability that each lies off the
        dominant surface; and how near it is to the slice, 1 for rewards on it.
    """

    subject: Subject
    name: str
    at: Point
    positions: FloatArray
    mean: FloatArray
    std: FloatArray
    low: FloatArray
    high: FloatArray
    surfaces: tuple[SurfaceLine, ...]
    told: FloatArray
    rewards: FloatArray
    off_surface: FloatArray
    nearness: FloatArray

    @classmethod
    def of(
        cls,
        thing: Any,
        name: str | None = None,
        at: Mapping[str, object] | None = None,
        objective: int = 0,
        count: int = ALONG,
    ) -> Slice:
        """The slice along a parameter, by default the first, through a point, by default the best evaluated one."""
        check_int("count", count, 2)
        subject = subject_of(thing, objective)
        which = subject.space.names[0] if name is None else name
        values, base = subject.grid(which, count), subject.base(at)
        inputs, learned = subject.along(base, {which: values}), subject.learned
        with one_blas_thread():
            mean, std = MeanObjective.of(learned.draws, subject.aim).moments(inputs)
            low, high = learned.law(inputs, subject.aim.sign).quantile(MOST).T
            surfaces = _surfaces(subject, inputs)
        return cls(
            subject,
            which,
            subject.point(base) if at is None else dict(at),
            subject.positions(which, values),
            mean,
            std,
            low,
            high,
            surfaces,
            subject.told(which),
            subject.rewards,
            off_surface_probability(learned.draws),
            _nearness(subject, which, base),
        )


def _surfaces(subject: Subject, inputs: FloatArray) -> tuple[SurfaceLine, ...]:
    """The largest surfaces of the state that agrees best with all others."""
    learned, sign = subject.learned, subject.aim.sign
    given = reference(learned.draws)
    rewards_of = learned.units.through(learned.model.warps.maps[given.state.warp])
    counts, level = np.bincount(given.state.labels), trend(inputs) @ given.state.beta
    lines = []
    for label in np.argsort(-counts, kind="stable")[:SURFACES].tolist():
        z = level + given.surface(label)(inputs)[0]
        values = sign * rewards_of.from_standard(np.clip(z, *rewards_of.ends))
        lines.append(SurfaceLine(values, float(counts[label] / counts.sum())))
    return tuple(lines)


def _nearness(subject: Subject, name: str, base: FloatArray) -> FloatArray:
    """How near the evaluated points are to the slice, from 0 to 1."""
    others = np.ones(subject.space.d, dtype=bool)
    others[subject.columns(name)] = False
    gap = (subject.learned.series.x - base)[:, others]
    return np.asarray(np.exp(-0.5 * np.sum(gap**2, axis=1) / (NEAR**2 * max(others.sum(), 1))))


def slice_along(
    thing: Any, name: str | None = None, at: Mapping[str, object] | None = None, objective: int = 0, ax: Any = None
) -> Any:
    """The objective along one parameter, the others being held: mean, band, single surfaces and rewards.

    Rewards are the fainter, the farther from the slice their points are.

    Parameters
    ----------
    thing : Optimizer, Result, InfiniteGP or optuna.Study
    name : str, optional
        The parameter; by default the first. Column k of an `InfiniteGP` without names is called xk: x0 is the first.
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
    >>> slice_along(optimizer, "x").get_xlabel()
    'x'
    """
    data = Slice.of(thing, name, at, objective)
    ax, subject, x = axes(ax), data.subject, data.positions
    low, high = data.mean - BAND * data.std, data.mean + BAND * data.std
    label = str(subject.aim)
    ends = window(data.rewards, data.mean) if subject.of_rewards else (-0.02, 1.02)
    if isinstance(subject.parameter(data.name), Choice):
        ax.errorbar(x, data.mean, BAND * data.std, fmt="o", color=BLUE, capsize=4, label=f"{label} ± {BAND:g} sd")
        if subject.of_rewards:
            ax.vlines(x, data.low, data.high, color=GREY, alpha=0.25, lw=14, label=f"80 % of {subject.noun}s")
        ax.set_xlim(-0.5, x.size - 0.5)
    else:
        if subject.of_rewards:
            ax.fill_between(x, data.low, data.high, color=GREY, alpha=0.2, lw=0, label=f"80 % of {subject.noun}s")
        ax.fill_between(x, low, high, color=BLUE, alpha=0.25, lw=0, label=f"± {BAND:g} sd")
        ax.plot(x, data.mean, color=BLUE, lw=2, label=label)
        for k, line in enumerate(data.surfaces if subject.of_rewards and len(data.surfaces) > 1 else ()):
            ax.plot(x, line.values, ls=":", lw=1.0 + 1.5 * line.share, color=MODES[-1], label="" if k else "surfaces")
    if subject.of_rewards:
        _told(ax, data, ends)
    subject.axis(ax, data.name)
    held = {key: value for key, value in data.at.items() if key != data.name}
    ax.set(ylabel=subject.noun if subject.of_rewards else label, ylim=ends, title=_held(held))
    ax.title.set_fontsize(9)
    legend(ax, **BELOW)
    return ax


def _held(point: Mapping[str, object]) -> str:
    """The values at which other parameters are held."""
    return ", ".join(f"{brief(name)} = {brief(value)}" for name, value in point.items())


def _told(ax: Any, data: Slice, ends: tuple[float, float]) -> None:
    """Rewards, the fainter the farther from the slice, with a ring about those off the dominant surface."""
    told = data.told + (BESIDE if isinstance(data.subject.parameter(data.name), Choice) else 0.0)
    for strength in (0.15, 0.4, 0.9):
        near = np.digitize(data.nearness, (0.3, 0.7)) == (0.15, 0.4, 0.9).index(strength)
        if near.any():
            label = data.subject.noun if strength == 0.9 else ""
            rewards(ax, told[near], data.rewards[near], ends, alpha=strength, label=label)
    off = (data.off_surface > 0.5) & (data.nearness > 0.3)
    if off.any():
        marks = np.clip(data.rewards[off], *ends)
        ax.plot(told[off], marks, "o", mfc="none", mec=RED, ms=9, mew=1.2, label="held to be off the surface")


@dataclass(frozen=True, eq=False)
class Contour:
    """What is believed over two parameters, the others being held.

    Attributes
    ----------
    x, y : str
        Names of the parameters.
    at : dict
        The point that the others are held at.
    x_positions, y_positions : arrays, shapes (columns,), (rows,)
    mean, std : arrays, shape (rows, columns)
        Posterior mean of the objective, and how uncertain it is.
    main : array, shape (rows, columns)
        The dominant surface of the posterior state that agrees best with all others, in the user's units.
    told : array, shape (n, 2)
        Where rewards were told.
    off_surface : array, shape (n,)
    """

    subject: Subject
    x: str
    y: str
    at: Point
    x_positions: FloatArray
    y_positions: FloatArray
    mean: FloatArray
    std: FloatArray
    main: FloatArray
    told: FloatArray
    off_surface: FloatArray

    @classmethod
    def of(
        cls,
        thing: Any,
        x: str | None = None,
        y: str | None = None,
        at: Mapping[str, object] | None = None,
        objective: int = 0,
        count: int = SIDE,
    ) -> Contour:
        """The contour over two parameters, by default the first two, through a point, by default the best one."""
        check_int("count", count, 2)
        subject = subject_of(thing, objective)
        names = [name for name in (x, y) if name is not None]
        names += [name for name in subject.space.names if name not in names][: 2 - len(names)]
        if len(set(names)) < 2:
            raise InvalidInputError(f"A contour needs two different parameters, but has {names!r}; see slice_along.")
        first, second = (names[0], names[1]) if x is not None or y is None else (names[1], names[0])
        columns, rows = subject.grid(first, count), subject.grid(second, count)
        base, learned = subject.base(at), subject.learned
        pairs = {first: columns * len(rows), second: [value for value in rows for _ in columns]}
        inputs, shape = subject.along(base, pairs), (len(rows), len(columns))
        with one_blas_thread():
            mean, std = MeanObjective.of(learned.draws, subject.aim).moments(inputs)
            main = _main(subject, inputs)
        return cls(
            subject,
            first,
            second,
            subject.point(base) if at is None else dict(at),
            subject.positions(first, columns),
            subject.positions(second, rows),
            mean.reshape(shape),
            std.reshape(shape),
            main.reshape(shape),
            np.column_stack((subject.told(first), subject.told(second))),
            off_surface_probability(learned.draws),
        )


def _main(subject: Subject, inputs: FloatArray) -> FloatArray:
    """The dominant surface of the state that agrees best with all others, in the user's units."""
    learned = subject.learned
    given = reference(learned.draws)
    rewards_of = learned.units.through(learned.model.warps.maps[given.state.warp])
    z, main = trend(inputs) @ given.state.beta, given.main_labels(inputs)
    for label in np.unique(main).tolist():
        here = main == label
        z[here] += given.surface(label)(inputs[here])[0]
    return np.asarray(subject.aim.sign * rewards_of.from_standard(np.clip(z, *rewards_of.ends)))


#: What a contour may show, and how it is named.
SHOWN = {"mean": "{}", "std": "standard deviation of the {}", "main": "dominant surface"}


def contour(
    thing: Any,
    x: str | None = None,
    y: str | None = None,
    at: Mapping[str, object] | None = None,
    show: str = "mean",
    objective: int = 0,
    ax: Any = None,
) -> Any:
    """The objective over two parameters, the others being held, with lines of equal standard deviation.

    Parameters
    ----------
    thing : Optimizer, Result, InfiniteGP or optuna.Study
    x, y : str, optional
        The parameters; by default the first two.
    at : point, optional
        Where the other parameters are held; by default at the evaluated point with the best objective.
    show : {"mean", "std", "main"}, default="mean"
        The posterior mean of the objective, its standard deviation, or the dominant surface of one posterior state.
    objective : int, default=0
        Index of the objective, where there are several.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import infgp
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0), "n": infgp.Int(1, 9)}, seed=0)
    >>> optimizer.tell_many([{"x": 0.1, "n": 1}, {"x": 0.5, "n": 9}, {"x": 0.9, "n": 4}], [1.0, 2.0, 1.5])
    >>> contour(optimizer, "n", "x").get_xlabel()
    'n'
    """
    if show not in SHOWN:
        raise InvalidInputError(f"show={show!r} is not known; use one of {', '.join(map(repr, SHOWN))}.")
    data = Contour.of(thing, x, y, at, objective)
    ax, subject = axes(ax), data.subject
    values = {"mean": data.mean, "std": data.std, "main": data.main}[show]
    best = data.mean if subject.aim.sign > 0 or not subject.of_rewards else -data.mean
    colours = "viridis" if show == "std" or subject.aim.sign > 0 or not subject.of_rewards else "viridis_r"
    filled = ax.contourf(data.x_positions, data.y_positions, values, levels=14, cmap=colours)
    bar = ax.figure.colorbar(filled, ax=ax, pad=0.02)
    bar.set_label(SHOWN[show].format(subject.aim), fontsize=9)
    if show == "mean" and np.ptp(data.std) > 0.0:
        lines = ax.contour(data.x_positions, data.y_positions, data.std, levels=4, colors="white", linewidths=0.8)
        ax.clabel(lines, fmt=lambda value: f"± {value:.3g}", fontsize=7)
    off = data.off_surface > 0.5
    ax.plot(*data.told[~off].T, ".", color="black", ms=5, label="evaluated", clip_on=False)
    if off.any():
        mark = {"mfc": "none", "mec": RED, "ms": 8, "mew": 1.4, "clip_on": False}
        ax.plot(*data.told[off].T, "o", label="held to be off the surface", **mark)
    if show == "mean":
        row, column = np.unravel_index(np.argmax(best), best.shape)
        at_best = data.x_positions[column], data.y_positions[row]
        ax.plot(*at_best, "*", color="white", mec="black", ms=13, label="best here", clip_on=False, zorder=5)
    subject.axis(ax, data.x, "x")
    subject.axis(ax, data.y, "y")
    ax.set_title(_held({key: value for key, value in data.at.items() if key not in (data.x, data.y)}), fontsize=9)
    legend(ax, **BELOW)
    return ax
