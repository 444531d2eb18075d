"""The pictures of :mod:`infgp.plot` as HTML figures: the same numbers, drawn as SVG, with a table under each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import binom

from infgp.core.linalg import FloatArray
from infgp.plot.checks import BARS, COVERED, Calibration
from infgp.plot.decisions import MARKED, regret_steps
from infgp.plot.over_inputs import Contour, Slice
from infgp.plot.over_time import History
from infgp.plot.reward_laws import LawAtPoint, ModeOdds
from infgp.plot.shares import INTERVAL, Importances
from infgp.plot.style import BAND, window
from infgp.plot.subject import Subject
from infgp.printing import brief, counted
from infgp.report.markup import figure, table
from infgp.report.svg import Axis, Chart, breadth, cut
from infgp.search.candidates import QUANTILES, Candidates
from infgp.search.regret import Regret
from infgp.space import Choice

#: Characters of a name or a value in a sentence, at most.
LONG = 60
#: Rows of a table under a chart with a continuous axis, at most.
ROWS = 13
#: Colours of modes, the largest first; the last one is of what is rare or new.
MODES = ("blue", "red", "green", "purple", "ink")
#: Height of a row of a chart with a bar for each of several things, in units of the chart.
ROW = 34.0


def point_words(point: Mapping[str, object]) -> str:
    """A point in words; long names and values are cut.

    Examples
    --------
    >>> point_words({"rate": 0.125, "kind": "a"})
    'rate = 0.125, kind = a'
    """
    return ", ".join(f"{cut(brief(name), LONG)} = {cut(brief(value), LONG)}" for name, value in point.items())


def some(count: int) -> list[int]:
    """Places of at most `ROWS` of a number of things, evenly spaced."""
    return [int(k) for k in np.unique(np.linspace(0, count - 1, min(count, ROWS)).round())]


def axis_of(subject: Subject, name: str, positions: FloatArray) -> Axis:
    """The axis of a parameter."""
    parameter = subject.parameter(name)
    if isinstance(parameter, Choice):
        names = tuple(brief(option) for option in subject.labels[name])
        return Axis(brief(name), -0.5, len(names) - 0.5, names=names)
    return Axis(brief(name), float(positions[0]), float(positions[-1]), log=parameter.log)


def _named(subject: Subject, name: str, position: float) -> str:
    """A position on the axis of a parameter, as the user knows it."""
    if isinstance(subject.parameter(name), Choice):
        return brief(subject.labels[name][int(position)])
    return brief(float(position))


def history(data: History, numbers: Sequence[int], trial: str) -> str:
    """Values in their order, and the belief in the best point."""
    order = np.array(numbers, dtype=float)
    low, high = data.mean - BAND * data.std, data.mean + BAND * data.std
    ends = window(data.values, *((data.mean, low[-1:], high[-1:]) if data.of_values else ()))
    chart = Chart(Axis(trial, order[0] - 1.0, order[-1] + 1.0), Axis(data.noun, *ends))
    off = data.off_surface > 0.5
    tips = [f"{trial} {n}: {brief(float(v))}" for n, v in zip(numbers, data.values, strict=True)]
    if data.of_values:
        steps = order[np.asarray(data.steps) - 1]
        chart.band(steps, np.clip(low, *ends), np.clip(high, *ends), "blue", f"± {BAND:g} standard deviations")
        chart.line(steps, data.mean, "blue", f"best {data.objective}, as believed then")
    chart.dots(order, data.values, "grey", data.noun, tips)
    chart.dots(order[off], np.clip(data.values[off], *ends), "ring", "held to be off the surface", r=6.0)
    failed = np.isnan(data.values)
    chart.dots(
        order[failed],
        np.full(failed.sum(), ends[0]),
        "red",
        "failed",
        [f"{trial} {n:g}: failed" for n in order[failed]],
    )
    rows = [
        (numbers[int(step) - 1], brief(float(m)), f"{s:.2g}")
        for step, m, s in zip(data.steps, data.mean, data.std, strict=True)
    ]
    told = f"{counted(int((~failed).sum()), data.noun)}, {int(off.sum())} held to be off the surface"
    said = f"{told}; the best {data.objective} is believed to be {brief(float(data.mean[-1]))} ± {data.std[-1]:.2g}."
    under = table(f"Best {data.objective}, as believed then", [f"after {trial}", "mean", "standard deviation"], rows)
    return figure("History", chart.svg("History", said), chart.legend, under, said)


def slice_along(data: Slice, through: str) -> str:
    """The objective along one parameter."""
    subject, x, label = data.subject, data.positions, str(data.subject.aim)
    low, high = data.mean - BAND * data.std, data.mean + BAND * data.std
    ends = window(data.rewards, data.mean) if subject.of_rewards else (-0.02, 1.02)
    axis = axis_of(subject, data.name, x)
    chart = Chart(axis, Axis(subject.noun if subject.of_rewards else label, *ends))

    def clip(values: FloatArray) -> FloatArray:
        return np.clip(values, *ends)

    if axis.names:
        for k, at in enumerate(x.tolist()):
            if subject.of_rewards:
                chart.band(
                    np.array([at - 0.2, at + 0.2]),
                    clip(data.low[[k, k]]),
                    clip(data.high[[k, k]]),
                    "grey",
                    _most(subject),
                )
            chart.line([at, at], clip(np.array([low[k], high[k]])), "blue", f"± {BAND:g} standard deviations")
        chart.dots(x, clip(data.mean), "blue", label, r=5.0)
    else:
        if subject.of_rewards:
            chart.band(x, clip(data.low), clip(data.high), "grey", _most(subject))
        chart.band(x, clip(low), clip(high), "blue", f"± {BAND:g} standard deviations")
        chart.line(x, clip(data.mean), "blue", label)
        for line in data.surfaces if subject.of_rewards and len(data.surfaces) > 1 else ():
            inside = np.where((line.values >= ends[0]) & (line.values <= ends[1]), line.values, np.nan)
            chart.line(x, inside, "thin ink", "single surfaces")
    if subject.of_rewards:
        told = data.told + (0.3 if axis.names else 0.0)
        near, off = data.nearness > 0.3, data.off_surface > 0.5
        chart.dots(told[~near], data.rewards[~near], "faint", f"{subject.noun}, far from the slice")
        chart.dots(told[near], data.rewards[near], "grey", f"{subject.noun}, near it")
        chart.dots(told[near & off], clip(data.rewards[near & off]), "ring", "held to be off the surface", r=6.0)
    best = int(np.argmax(data.mean if subject.aim.sign > 0 or not subject.of_rewards else -data.mean))
    place = f"{brief(data.name)} = {_named(subject, data.name, x[best])}"
    said = f"The {label} is best at {place}: {brief(float(data.mean[best]))} ± {data.std[best]:.2g}."
    rows = [
        (_named(subject, data.name, x[k]), *(brief(float(v[k])) for v in (data.mean, data.std, data.low, data.high)))
        for k in some(x.size)
    ]
    heads = [brief(data.name), label, "standard deviation", "10 % below", "90 % below"]
    title = f"The {label} along {brief(data.name)}, through {through}"
    return figure(title, chart.svg(title, said), chart.legend, table(title, heads, rows), said)


def _most(subject: Subject) -> str:
    return f"80 % of {subject.noun}s"


def contour(data: Contour) -> str:
    """The objective over two parameters."""
    subject, label = data.subject, str(data.subject.aim)
    chart = Chart(axis_of(subject, data.x, data.x_positions), axis_of(subject, data.y, data.y_positions), left=84.0)
    smaller = subject.aim.sign < 0 and subject.of_rewards
    low, high = float(data.mean.min()), float(data.mean.max())
    shares = (data.mean - low) / ((high - low) or 1.0)
    chart.cells(data.x_positions, data.y_positions, 1.0 - shares if smaller else shares)
    off = data.off_surface > 0.5
    chart.dots(data.told[~off, 0], data.told[~off, 1], "ink", "evaluated", r=2.2)
    chart.dots(data.told[off, 0], data.told[off, 1], "ring", "held to be off the surface", r=5.0)
    row, column = np.unravel_index(np.argmin(data.mean) if smaller else np.argmax(data.mean), data.mean.shape)
    best = float(data.x_positions[column]), float(data.y_positions[row])
    chart.dots([best[0]], [best[1]], "star", "best here", r=6.0)
    place = ", ".join(f"{brief(n)} = {_named(subject, n, at)}" for n, at in zip((data.x, data.y), best, strict=True))
    value = f"{brief(float(data.mean[row, column]))} ± {data.std[row, column]:.2g}"
    said = f"The {label} is best at {place}: {value}."
    across, along = some(data.x_positions.size)[::2], some(data.y_positions.size)[::2]
    rows = [
        (_named(subject, data.y, data.y_positions[i]), *(brief(float(data.mean[i, j])) for j in across)) for i in along
    ]
    heads = [f"{brief(data.y)} \\ {brief(data.x)}", *(_named(subject, data.x, data.x_positions[j]) for j in across)]
    title = f"The {label} over {brief(data.x)} and {brief(data.y)}"
    ends = (high, low) if smaller else (low, high)
    scale = f'<div class="scale"><span>{brief(ends[0])}</span><span></span><span>{brief(ends[1])}</span></div>'
    return figure(title, chart.svg(title, said) + scale, chart.legend, table(title, heads, rows), said)


def mode_odds(data: ModeOdds) -> str:
    """The probability of each mode along one parameter."""
    subject, x = data.subject, data.positions
    axis, names = axis_of(subject, data.name, x), []
    chart = Chart(axis, Axis("probability", 0.0, 1.0))
    for k, odds in enumerate(data.odds):
        last = k == len(data.odds) - 1
        share = f"{100.0 * data.shares[k]:.0f} % of the {subject.noun}s"
        names.append(f"rare or new: {share}" if last else f"{share}, median {brief(float(data.levels[k]))}")
        colour = "grey" if last else MODES[k % len(MODES)]
        if axis.names:
            at = x + 0.08 * (k - (len(data.odds) - 1) / 2.0)
            for a, low, high in zip(at.tolist(), data.low[k].tolist(), data.high[k].tolist(), strict=True):
                chart.line([a, a], [low, high], colour, names[-1])
            chart.dots(at, odds, colour, r=5.0)
        else:
            chart.band(x, data.low[k], data.high[k], colour)
            chart.line(x, odds, colour, names[-1])
    rows = [(_named(subject, data.name, x[k]), *(f"{odds[k]:.3f}" for odds in data.odds)) for k in some(x.size)]
    title = f"On which mode a further {subject.noun} lies, along {brief(data.name)}"
    said = f"{counted(len(data.odds) - 1, 'mode')}: {'; '.join(names)}."
    return figure(title, chart.svg(title, said), chart.legend, table(title, [brief(data.name), *names], rows))


def law(data: LawAtPoint, quantiles: Mapping[float, float]) -> str:
    """The law of a further reward at a point, beside that of one GP."""
    top = 1.08 * float(max(data.density.max(), data.one_gp.max()))
    chart = Chart(
        Axis(f"a further {data.noun}", float(data.rewards[0]), float(data.rewards[-1])), Axis("density", 0.0, top)
    )
    chart.band(data.rewards, np.zeros(data.rewards.size), data.density, "blue")
    chart.line(data.rewards, data.density, "blue", "infgp")
    chart.line(data.rewards, data.one_gp, "grey dash", "one GP for the same rewards")
    chart.line([data.mean, data.mean], [0.0, top], "thin blue", f"mean, {brief(data.mean)}")
    seen = data.near[(data.near >= data.rewards[0]) & (data.near <= data.rewards[-1])]
    chart.dots(seen, np.zeros(seen.size), "ink", f"{data.noun}s told near the point", [brief(float(v)) for v in seen])
    said = "; ".join(f"{100.0 * q:g} % below {brief(value)}" for q, value in quantiles.items())
    said = f"Mean {brief(data.mean)} (one GP: {brief(data.one_gp_mean)}); {said}."
    rows = [
        (brief(float(data.rewards[k])), f"{data.density[k]:.3g}", f"{data.one_gp[k]:.3g}")
        for k in some(data.rewards.size)
    ]
    title = f"The law of a further {data.noun} at {point_words(data.point)}"
    under = table(title, [data.noun, "density", "density of one GP"], rows)
    return figure(title, chart.svg(title, said), chart.legend, under, said)


def importances(data: Importances) -> str:
    """What each parameter explains alone."""
    order, (low, high), rest = np.argsort(data.mean, kind="stable"), data.interval, data.combinations
    names = ["combinations", *(brief(data.names[k]) for k in order)]
    mean = [float(rest.mean()), *data.mean[order].tolist()]
    ends = np.quantile(rest, INTERVAL)
    lows, highs = [float(ends[0]), *low[order].tolist()], [float(ends[1]), *high[order].tolist()]
    chart = _rows_chart("share of the variance", 1.0, names)
    for k in range(len(names)):
        chart.bar(0.0, mean[k], k, 0.55, "blue" if k else "grey", "one input alone" if k else "combinations of inputs")
        chart.line([lows[k], highs[k]], [k, k], "ink", "90 % interval")
    rows = [(names[k], f"{mean[k]:.3f}", f"{lows[k]:.3f}", f"{highs[k]:.3f}") for k in range(len(names))][::-1]
    said = "; ".join(f"{name} {share}" for name, share, *_ in rows[:3]) + "."
    title = "What each input explains of the variance"
    under = table(title, ["input", "share", "5 % below", "95 % below"], rows)
    return figure(title, chart.svg(title, said), chart.legend, under)


def _rows_chart(label: str, end: float, names: Sequence[str]) -> Chart:
    """A chart with a bar for each name, the first one at the bottom."""
    axis = Axis("", -0.5, len(names) - 0.5, names=tuple(names))
    left = 8.0 + max(breadth(cut(name)) for name in names)
    return Chart(Axis(label, 0.0, end), axis, height=70.0 + ROW * len(names), left=left)


def candidates(data: Candidates, names: Sequence[str]) -> str:
    """The probability of points of being best; `names` has one for each."""
    chart = _rows_chart("probability of being best", 1.0, names[::-1])
    for k, row in enumerate(data[::-1]):
        kind = ("red", "recommended") if row.recommended else ("blue", "others")
        chart.bar(0.0, row.probability, k, 0.55, *kind)
        if row.probability < 0.85:
            chart.note(row.probability, k, f"{100.0 * row.probability:.0f} %")
    rows = [
        (
            name,
            f"{100.0 * row.probability:.0f} %",
            f"{brief(row.mean)} ± {row.std:.2g}",
            *(brief(row.quantiles[q]) for q in QUANTILES),
            row.n_rewards,
            row.n_off_surface,
            point_words(row.point),
        )
        for name, row in zip(names, data, strict=True)
    ]
    title = "Which point may be best"
    said = "; ".join(f"{row[0]}: {row[1]}" for row in rows) + "."
    heads = [
        "",
        "P(best)",
        "objective",
        *(f"{100.0 * q:g} % below" for q in QUANTILES),
        "rewards",
        "off surface",
        "point",
    ]
    return figure(title, chart.svg(title, said), chart.legend, table(title, heads, rows), said)


def regret(data: Regret) -> str:
    """The distribution function of the regret."""
    x, chance = regret_steps(data)
    end = float(x[-1]) if x.size and x[-1] > 0.0 else 1.0
    chart = Chart(Axis(f"regret of the {data.objective}", 0.0, 1.03 * end), Axis("probability", 0.0, 1.0))
    steps = np.repeat(np.r_[0.0, x], 2)[1:], np.repeat(np.r_[0.0, chance], 2)[:-1]
    chart.line(*steps, "blue", "regret at most this")
    marked = [(q, data.quantile(q), data.quantile_error(q)) for q in MARKED]
    finite = [(q, at) for q, at, _ in marked if np.isfinite(at)]
    chart.dots([at for _, at in finite], [q for q, _ in finite], "red", "quantiles of the table", r=5.0)
    rows: list[Sequence[Any]] = [(f"{100.0 * q:g} % below", f"{at:.3g}", f"{error:.1g}") for q, at, error in marked]
    rows.append(("mean", f"{data.mean:.3g}", f"{data.mean_error:.1g}"))
    title, said = "What is still to be gained", "; ".join(f"{row[0]} {row[1]}" for row in rows) + "."
    under = table(title, ["", "regret", "Monte Carlo error"], rows)
    return figure(title, chart.svg(title, said), chart.legend, under, said)


def calibration(data: Calibration) -> str:
    """Where each reward is in the law that the others give."""
    n, counts = data.pit.size, np.histogram(data.pit, BARS, range=(0.0, 1.0))[0]
    low, high = (float(v) for v in binom.interval(COVERED, n, 1.0 / BARS))
    chart = Chart(
        Axis(f"place of a {data.noun} in the law that the others give", 0.0, 1.0),
        Axis(f"{data.noun}s", 0.0, 1.15 * max(float(counts.max()), high, 1.0)),
    )
    ends = np.array([0.0, 1.0])
    chart.band(ends, np.full(2, low), np.full(2, high), "grey", f"{100.0 * COVERED:g} % of bars, if the laws are right")
    for k, count in enumerate(counts.tolist()):
        chart.column(k / BARS + 0.005, (k + 1) / BARS - 0.005, count, "blue", f"{data.noun}s, each left out")
    inside = int(np.sum((counts >= low) & (counts <= high)))
    said = f"{inside} of {BARS} bars are within the band; bars that rise at both ends mean laws that are too narrow."
    rows = [(f"{k / BARS:g} to {(k + 1) / BARS:g}", count) for k, count in enumerate(counts.tolist())]
    title = "Are the laws right?"
    return figure(title, chart.svg(title, said), chart.legend, table(title, ["place", f"{data.noun}s"], rows), said)
