"""The demo: a noisy function with several peaks and heavy-tailed noise, optimized with one GP and with the ∞-GP."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.errors import InvalidInputError, check_int, require
from infgp.search.optimizer import Optimizer
from infgp.search.outcomes import Recommendation
from infgp.space import Float

#: Smallest input of the demo's function.
LOW = 0.0
#: Largest input of the demo's function.
HIGH = 10.0
SPACE = {"x": Float(LOW, HIGH)}
#: The picture that is written unless another is named.
PICTURE = "infgp-demo.png"
#: What each optimizer is made with. The story is one of measurements that are wrong now and then.
CONTESTANTS: dict[str, dict[str, Any]] = {"one GP": {"surfaces": 1}, "∞-GP": {"outliers": "ignore"}}


def truth(x: FloatArray) -> FloatArray:
    """The expected reward: four peaks, the highest near x = 8.0."""
    return np.asarray(np.sin(2.4 * x + 1.2) + 0.16 * x - 0.9 * np.exp(-0.5 * ((x - 4.0) / 1.5) ** 2))


def reward(rng: np.random.Generator, x: float) -> float:
    """One noisy reward: the truth, some noise, and one time in eight an error of up to ten times the range.

    Examples
    --------
    >>> isinstance(reward(np.random.default_rng(0), 1.0), float)
    True
    """
    noise = 0.25 * rng.standard_normal()
    if rng.random() < 0.125:
        noise += rng.uniform(10.0, 40.0) * rng.choice([-1.0, 1.0])
    return float(truth(np.array(x)) + noise)


@dataclass(frozen=True, eq=False)
class DemoRun:
    """One contestant's run: evaluations, regret after each, and the belief at the end on a grid."""

    name: str
    x: FloatArray
    y: FloatArray
    regret: FloatArray
    recommendation: Recommendation
    mean: FloatArray
    std: FloatArray


def grid() -> FloatArray:
    """Inputs for the picture."""
    return np.linspace(LOW, HIGH, 401)


def best_expected() -> float:
    """The largest expected reward."""
    return float(truth(np.linspace(LOW, HIGH, 100_001)).max())


def run(name: str, budget: int, seed: int, say: Callable[[str], object]) -> DemoRun:
    """One run. All contestants meet the same noise: the n-th evaluation of each draws from the same stream.

    Examples
    --------
    >>> run("∞-GP", 8, 0, say=lambda line: None).y.shape
    (8,)
    """
    optimizer = Optimizer(SPACE, seed=seed, **CONTESTANTS[name])
    best, x, y = best_expected(), np.empty(budget), np.empty(budget)
    begin = time.perf_counter()
    for n in range(budget):
        point = optimizer.ask()
        x[n] = point["x"]
        y[n] = reward(np.random.default_rng([seed, n]), x[n])
        optimizer.tell(point, y[n])
        if (n + 1) % 10 == 0:
            at = optimizer.recommend()
            loss = best - float(truth(np.array(at.point["x"])))
            say(f"  {name:>6}, {n + 1:3d} evaluations: recommends x = {at.point['x']:5.2f}, {loss:.3f} below the best")
    final = optimizer.recommend()
    mean, std = optimizer.predict([{"x": float(v)} for v in grid()])
    say(f"  {name:>6}: {time.perf_counter() - begin:.1f} s")
    return DemoRun(name, x, y, best - truth(x), final, mean, std)


def show(out: str | None, seed: int, budget: int) -> None:
    """Optimize the function with one GP and with the ∞-GP, print how they fare, and write a picture.

    Parameters
    ----------
    out : str or None
        File of the picture. With None it is `PICTURE`, and where Matplotlib is missing there is none.
    seed, budget : int
        The random seed, and evaluations for each.
    """
    check_int("--budget", budget, 8)
    check_int("--seed", seed, 0)
    draws = out is not None or importlib.util.find_spec("matplotlib") is not None
    picture = out if out is not None else PICTURE
    if draws:
        _check_picture(picture)
    print(f"A function with four peaks; {budget} noisy rewards, one in eight off by ten times the function's range.")
    runs = [run(name, budget, seed, print) for name in CONTESTANTS]
    print(f"The best expected reward is {best_expected():.3f}.")
    for r in runs:
        print(_summary(r))
    if not draws:
        print("For a picture of both, run: pip install 'infgp[plot]'")
        return
    from infgp.plot import compare_runs

    compare_runs(picture, runs, (grid(), truth(grid())))
    print(f"Picture: {picture}")


def _summary(done: DemoRun) -> str:
    """What a run recommends, and what it believed and saw."""
    found, luckiest = done.recommendation, int(np.argmax(done.y))
    expected = float(truth(np.array(found.point["x"])))
    return (
        f"  {done.name:>6} recommends x = {found.point['x']:.2f}, whose expected reward is {expected:.3f} "
        f"(it believes {found.mean:.2f} ± {found.std:.2f}); cumulative regret {done.regret.sum():.1f}; "
        f"its luckiest reward was {done.y[luckiest]:.1f} at x = {done.x[luckiest]:.2f}"
    )


def _check_picture(out: str) -> None:
    """Raise unless a picture can be written there, before any work is done for it."""
    figures = require("matplotlib.figure", "plot")
    known = figures.Figure().canvas.get_supported_filetypes()
    folder, suffix = os.path.dirname(out) or ".", os.path.splitext(out)[1].lstrip(".").lower()
    if suffix and suffix not in known:
        raise InvalidInputError(
            f"--out {out} is no kind of picture that can be written; use one of {', '.join(known)}."
        )
    if not os.path.isdir(folder):
        raise InvalidInputError(f"--out {out} is in a folder that does not exist; make {folder}, or name another.")
    if os.path.isdir(out) or not os.access(out if os.path.exists(out) else folder, os.W_OK):
        raise InvalidInputError(f"--out {out} cannot be written to; name another file.")
