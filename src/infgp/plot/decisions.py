"""What decisions rest on: which point may be best, and what is still to be gained."""

from __future__ import annotations

from typing import Any

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.plot.style import BELOW, BLUE, GREY, RED, axes, legend
from infgp.plot.subject import is_study, optimizer_of, sampler_of
from infgp.printing import brief, counted
from infgp.search.candidates import Candidates
from infgp.search.regret import Regret

#: Probabilities whose quantiles of the regret are marked.
MARKED = (0.5, 0.9, 0.95)


def candidates_of(thing: Any, top: int = 5) -> Candidates:
    """The points that may be best, of an optimizer, a result or a study; candidates stay as they are."""
    if isinstance(thing, Candidates):
        return thing
    return sampler_of(thing).candidates(thing, top) if is_study(thing) else optimizer_of(thing).candidates(top)


def regret_of(thing: Any) -> Regret:
    """The law of the regret, of an optimizer, a result or a study; a regret stays as it is."""
    if isinstance(thing, Regret):
        return thing
    return sampler_of(thing).regret(thing) if is_study(thing) else optimizer_of(thing).regret()


def candidates(thing: Any, top: int = 5, ax: Any = None) -> Any:
    """The probability of the likeliest points that each is the best of all evaluated ones.

    Parameters
    ----------
    thing : Optimizer, Result, optuna.Study or Candidates
    top : int, default=5
        Number of points at most.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import infgp
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
    >>> optimizer.tell_many([{"x": 0.1}, {"x": 0.5}, {"x": 0.9}], [1.0, 2.0, 1.5])
    >>> candidates(optimizer).get_xlabel()
    'probability of being best'
    """
    found = candidates_of(thing, top)[::-1]
    ax, rows = axes(ax), np.arange(len(found))
    chances = [row.probability for row in found]
    ax.barh(rows, chances, 0.6, color=[RED if row.recommended else BLUE for row in found], alpha=0.75)
    for k, row in enumerate(found):
        told = counted(row.n_rewards, "evaluation")
        text = f"{100.0 * row.probability:.0f} %: {brief(row.mean)} ± {row.std:.2g}, {told}"
        ax.text(row.probability + 0.01 * max(chances), k, text, va="center", fontsize=8)
    ax.set_yticks(rows, [_label(row.point) for row in found], fontsize=8)
    ax.set(xlabel="probability of being best", xlim=(0.0, 2.0 * max(chances)))
    if any(row.recommended for row in found):
        ax.barh([0], [0.0], color=RED, alpha=0.75, label="recommended")
        ax.barh([0], [0.0], color=BLUE, alpha=0.75, label="others")
        legend(ax, **BELOW)
    return ax


def _label(point: Any) -> str:
    """A point in lines of two parameters each."""
    items = [f"{brief(name)} = {brief(value)}" for name, value in point.items()]
    return "\n".join(", ".join(items[k : k + 2]) for k in range(0, len(items), 2))


def regret_steps(found: Regret) -> tuple[FloatArray, FloatArray]:
    """The finite draws of the regret in their order, and the probability that the regret is at most each of them.

    Examples
    --------
    >>> import numpy as np
    >>> x, p = regret_steps(Regret({"x": 0.5}, "expected reward", np.array([[0.3, 0.1], [np.inf, 0.0]])))
    >>> x, p
    (array([0. , 0.1, 0.3]), array([0.25, 0.5 , 0.75]))
    """
    draws = np.sort(found.draws, axis=None)
    chance = np.arange(1, draws.size + 1) / draws.size
    finite = np.isfinite(draws)
    return draws[finite], chance[finite]


def regret(thing: Any, ax: Any = None) -> Any:
    """The distribution function of the regret of the recommended point, with quantiles.

    Parameters
    ----------
    thing : Optimizer, Result, optuna.Study or Regret
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import infgp
    >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
    >>> optimizer.tell_many([{"x": 0.1}, {"x": 0.5}, {"x": 0.9}], [1.0, 2.0, 1.5])
    >>> regret(optimizer).get_ylabel()
    'probability'
    """
    found = regret_of(thing)
    ax, (x, chance) = axes(ax), regret_steps(found)
    ax.step(np.r_[0.0, x], np.r_[0.0, chance], where="post", color=BLUE, lw=2, label="regret at most this")
    for q in MARKED:
        at = found.quantile(q)
        if np.isfinite(at):
            ax.plot([at, at, 0.0], [0.0, q, q], color=GREY, lw=0.8, ls="--")
            ax.plot(at, q, "o", color=RED, ms=5, label=f"{100.0 * q:g} % below {brief(at)}")
    ax.set(xlabel=f"regret of the {found.objective} at the recommended point", ylabel="probability", ylim=(0.0, 1.02))
    ax.set_xlim(left=0.0)
    legend(ax, loc="lower right")
    return ax
