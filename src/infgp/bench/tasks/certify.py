"""Find and certify the best expected reward of the synthetic tasks and of the portfolio.

``python -m infgp.bench.tasks.certify`` searches every mean from many sides, bounds it from above, and writes both to
``synthetic.json`` and ``portfolio.json`` in ``src/infgp/bench/data``. About a minute on one core; with ``portfolio`` as
its argument only the portfolio is certified, which takes seconds and is due after every change of its table.

The bounds are proofs, up to rounding. Ackley and Rosenbrock are nowhere negative and the modulation is positive, so no
reward exceeds 0, and 0 is reached. Styblinski–Tang is a sum over coordinates: its minimum is at a root of a cubic.
Modulated, it is bounded by branch and bound: with c the centre of a box, h half its sides and M a bound on the
Hessian's norm, no reward in the box exceeds g(c) + |∂g(c)|ᵀh + ½ M ‖h‖². The portfolio's mean is a polynomial
between the knots of its splines, where it does not exceed its largest Bernstein coefficient; boxes are split until
that is near the best value found.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import differential_evolution, minimize
from scipy.special import comb
from scipy.stats import qmc

from infgp.bench.tasks.portfolio import cardinal, interpolate, returns
from infgp.bench.tasks.synthetic import AMPLITUDE, LANDSCAPES, PANELS, PANELS_D5, Parts, parts

DATA = Path(__file__).parents[1] / "data"
Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def scale(mean: Function, d: int) -> float:
    """Standard deviation over the cube, from the first 2^18 points of Sobol's sequence moved into their cells."""
    points = qmc.Sobol(d, scramble=False).random_base2(18)
    return float(np.std(mean(points + 2.0**-19)))


def search(loss: Function, d: int) -> tuple[NDArray[np.float64], float, dict[str, Any]]:
    """Lowest point of a function on the cube: a grid or Sobol design, local searches, differential evolution."""
    if d == 2:
        side = (np.arange(2001) / 2000.0)[:, None]
        design = np.concatenate([np.column_stack([np.broadcast_to(a, (2001, 1)), side]) for a in side])
    else:
        design = qmc.Sobol(d, scramble=False).random_base2(20)
    values = np.concatenate([loss(chunk) for chunk in np.array_split(design, 64)])
    order = np.argsort(values)
    starts = np.concatenate([design[order[:100]], qmc.Sobol(d, rng=0).random(128)])
    bounds = [(0.0, 1.0)] * d
    local = [minimize(lambda x: float(loss(x[None])[0]), start, method="L-BFGS-B", bounds=bounds) for start in starts]
    ends = sorted(local, key=lambda result: float(result.fun))
    evolved = differential_evolution(
        lambda x: loss(x.T), bounds, vectorized=True, updating="deferred", popsize=40, maxiter=2000, tol=1e-12, rng=0
    )
    winner = min(ends[0], evolved, key=lambda result: float(result.fun))
    found = {
        "design_points": len(design),
        "design": float(values[order[0]]),
        "local_searches": len(starts),
        "local": float(ends[0].fun),
        "evolution": float(evolved.fun),
    }
    return winner.x, float(winner.fun), found


def modulated_stybtang_bound(best: float, gap: float = 1e-7) -> tuple[float, int]:
    """A lower bound of the modulated Styblinski–Tang function, d = 2, and the number of boxes that it took.

    A good `best`, a value that is reached, saves boxes.

    g = m Σⱼ p(zⱼ) with m = 1 + (α/d) Σₖ s(tₖ), s = sin(t) eᵗ, p = (z⁴ − 16 z² + 5 z)/2.
    """
    d, width, turn = 2, LANDSCAPES["stybtang"].high - LANDSCAPES["stybtang"].low, 2.0 * np.pi
    low, a = LANDSCAPES["stybtang"].low, AMPLITUDE / d

    def pieces(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Values and derivatives, with respect to x, of p and of (α/d) s."""
        z, t = low + width * x, np.pi * (2.0 * x - 1.0)
        p, p1 = 0.5 * (z**4 - 16.0 * z**2 + 5.0 * z), 0.5 * width * (4.0 * z**3 - 32.0 * z + 5.0)
        s, s1 = a * np.sin(t) * np.exp(t), a * turn * (np.sin(t) + np.cos(t)) * np.exp(t)
        return p, p1, s, s1

    # Bounds of |p|, |p'|, |p''|, |s|, |s'|, |s''| over the interval: every z is in [−5, 5] and every t in [−π, π].
    p0, p1, p2 = 137.5, 0.5 * width * 345.0, 0.5 * width**2 * 268.0
    s0, s1, s2 = a * 7.461, a * turn * np.exp(np.pi), a * turn**2 * 2.0 * np.exp(np.pi)
    hessian = s2 * d * p0 + 2.0 * s1 * p1 + (1.0 + d * s0) * p2 + (d - 1) * 2.0 * s1 * p1  # largest row sum

    side = 64
    axis = (np.arange(side) + 0.5) / side
    centres, half = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, d), 0.5 / side
    boxes, bound = 0, best
    while True:
        boxes += len(centres)
        p, dp, s, ds = pieces(centres)
        m, total = 1.0 + s.sum(axis=1), p.sum(axis=1)
        slope = np.abs(ds * total[:, None] + dp * m[:, None]).sum(axis=1)
        best = min(best, float((m * total).min()))
        lowest = m * total - slope * half - 0.5 * hessian * d * half**2
        bound = min(float(lowest.min()), best)
        if best - bound < gap:
            return bound, boxes
        kept = centres[lowest < best - 0.5 * gap]
        half /= 2.0
        shifts = half * np.array([(i, j) for i in (-1.0, 1.0) for j in (-1.0, 1.0)])
        centres = (kept[:, None] + shifts).reshape(-1, d)


def lower_bound(name: str, which: Parts, best: float) -> tuple[float, str]:
    """A value that the task's loss nowhere goes below, and why."""
    if which.landscape is not LANDSCAPES["stybtang"]:
        return 0.0, "neither function nor factor is ever negative"
    if which.kind == "plain":
        roots = np.roots([2.0, 0.0, -16.0, 2.5]).real
        return which.d * float(np.min(0.5 * (roots**4 - 16.0 * roots**2 + 5.0 * roots))), "root of a cubic"
    bound, boxes = modulated_stybtang_bound(best)
    return bound, f"branch and bound with {boxes} boxes"


def certificate(name: str) -> dict[str, Any]:
    """Scale, optimum and bound of a task's expected reward."""
    which = parts(name)
    unit = scale(which.loss, which.d)
    at, lowest, found = search(which.loss, which.d)
    bound, why = lower_bound(name, which, lowest)
    exact = bound if why == "neither function nor factor is ever negative" else lowest
    return {
        "scale": unit,
        "best": -exact / unit if exact else 0.0,
        "at": [float(value) for value in at],
        "upper_bound": max(-bound, -exact) / unit if bound else 0.0,
        "why": why,
        "searches": {
            key: value if key.endswith(("points", "searches")) else -value / unit for key, value in found.items()
        },
    }


def bernstein(count: int, low: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Bernstein coefficients of the cardinal splines on intervals without a knot inside: (m, degree + 1, count)."""
    degree = cardinal(count).k
    nodes = np.linspace(0.0, 1.0, degree + 1)
    basis = np.array([comb(degree, j) * nodes**j * (1.0 - nodes) ** (degree - j) for j in range(degree + 1)]).T
    values = cardinal(count)(low[:, None] + width * nodes)
    return np.asarray(np.linalg.solve(basis, values))


def interpolation_bound(table: NDArray[np.float64], best: float, gap: float = 1e-9) -> tuple[float, int]:
    """A value that the interpolated table nowhere exceeds, and the number of boxes that it took.

    A good `best`, a value that is reached, saves boxes.
    """
    intervals = [2 * (count - 1) for count in table.shape]  # the knots are among the ends
    low = np.array(list(itertools.product(*(np.arange(count) / count for count in intervals))))
    width, boxes = [1.0 / count for count in intervals], 0
    while True:
        boxes += len(low)
        a, b, c = (bernstein(count, low[:, k], width[k]) for k, count in enumerate(table.shape))
        coefficients = np.einsum("mai,mbj,mck,ijk->mabc", a, b, c, table, optimize=True)
        highest = coefficients.max(axis=(1, 2, 3))
        best = max(best, float(coefficients[np.ix_(range(len(low)), *[(0, -1)] * 3)].max()))  # values at the corners
        if highest.max() - best < gap:
            return max(best, float(highest.max())), boxes
        width = [side / 2.0 for side in width]
        corners = np.array(list(itertools.product((0.0, 1.0), repeat=3))) * width
        low = (low[highest > best + gap / 2.0, None] + corners).reshape(-1, 3)


def portfolio_certificate() -> dict[str, Any]:
    """Optimum and bound of the portfolio's expected reward."""
    mean = returns().mean(axis=0)
    at, lowest, found = search(lambda x: -interpolate(mean, x), 3)
    bound, boxes = interpolation_bound(mean, -lowest)
    return {
        "best": -lowest,
        "at": [float(value) for value in at],
        "upper_bound": bound,
        "why": f"branch and bound with {boxes} boxes",
        "searches": {key: value if key.endswith(("points", "searches")) else -value for key, value in found.items()},
    }


def store(name: str, certificates: dict[str, Any]) -> None:
    """Write certificates next to the other data."""
    (DATA / f"{name}.json").write_text(json.dumps(certificates, indent=1) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> None:
    """Certify and store."""
    store("portfolio", portfolio_certificate())
    if "portfolio" not in arguments:
        store("synthetic", {name: certificate(name) for name in (*PANELS, *PANELS_D5) if "-ht" not in name})


if __name__ == "__main__":
    main(sys.argv[1:])
