"""The portfolio task: how averse should a trader be to risk, trading and holding?

The rewards come from a table of simulated returns, strategies × scenarios, which ``python -m
infgp.bench.tasks.tabulate_portfolio`` fills. Between the strategies of the grid the task interpolates by tensor
products of cubic splines, in the logarithm of risk and holding aversion. Interpolation is linear in the table, so the
expected reward is exactly the interpolated mean over the scenarios.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline

from infgp.bench.core import HEAVY_TAILED, Task
from infgp.bench.tasks.cube import checked

#: Smallest and largest aversion to risk, a factor of the variance, as in Cakmak et al. (2020).
RISK = (0.1, 1000.0)
#: Smallest and largest aversion to trading, a factor of the cost of a trade, as in Cakmak et al. (2020).
TRADE = (5.5, 8.0)
#: Smallest and largest aversion to holding, a factor of the cost of borrowing, as in Cakmak et al. (2020).
HOLD = (0.1, 100.0)
#: Length of a scenario, in trading days.
DAYS = 30


def lattice(level: int) -> tuple[NDArray[np.float64], ...]:
    """Values of risk, trade and hold in the grid of a level: 3 × 2 × 3, 5 × 3 × 5 or 9 × 5 × 9."""
    return (
        np.geomspace(*RISK, 2 ** (level + 1) + 1),
        np.linspace(*TRADE, 2**level + 1),
        np.geomspace(*HOLD, 2 ** (level + 1) + 1),
    )


@cache
def returns() -> NDArray[np.float64]:
    """The table: returns in per cent, shape (scenarios, risk, trade, hold)."""
    with as_file(files("infgp.bench") / "data" / "portfolio.npz") as path, np.load(path) as stored:
        return np.asarray(stored["percent"], dtype=float)


@cache
def certificate() -> dict[str, Any]:
    """The best expected reward of the table, with its bound."""
    stored: dict[str, Any] = json.loads((files("infgp.bench") / "data" / "portfolio.json").read_text(encoding="utf-8"))
    return stored


@cache
def cardinal(count: int) -> BSpline:
    """Splines on [0, 1], one for each of `count` equally spaced points: 1 at its own point and 0 at all others."""
    return make_interp_spline(np.linspace(0.0, 1.0, count), np.eye(count), k=min(3, count - 1))


def interpolate(table: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values interpolated in a table of shape (risk, trade, hold), at points of shape (m, 3).

    Examples
    --------
    >>> import numpy as np
    >>> table = np.arange(18.0).reshape(3, 2, 3)
    >>> interpolate(table, np.array([[0.5, 1.0, 0.5], [1.0, 0.0, 0.75]])).round(6)
    array([10. , 13.5])
    """
    risk, trade, hold = (cardinal(count)(x[:, k]) for k, count in enumerate(table.shape))
    return np.asarray(np.einsum("mi,mj,mk,ijk->m", risk, trade, hold, table, optimize=True))


def portfolio_task() -> Task:
    """Return in per cent over 30 trading days of a scenario that every evaluation draws anew."""
    table, mean = returns(), returns().mean(axis=0)

    def expected(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return interpolate(mean, x)

    def draw(rng: np.random.Generator, x: NDArray[np.float64]) -> float:
        return float(interpolate(table[rng.integers(len(table))], x[None])[0])

    return checked(Task("portfolio", 3, HEAVY_TAILED, expected, draw, float(certificate()["best"])))
