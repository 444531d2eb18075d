"""Pictures of `infgp demo`, and of one GP beside the ∞-GP, written to files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.errors import require
from infgp.plot.style import BLUE, GREY, INK, ORANGE, RED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infgp.app.demo import DemoRun
    from infgp.estimator import InfiniteGP


def compare_fits(
    path: str | Path,
    x: FloatArray,
    y: FloatArray,
    truth: tuple[FloatArray, FloatArray],
    one_gp: InfiniteGP,
    infinite_gp: InfiniteGP,
) -> None:
    """Draw one GP beside the ∞-GP on the same one-dimensional data and write the picture to `path`.

    Parameters
    ----------
    path : str or Path
        A file name with an ending that matplotlib knows.
    x, y : arrays, shape (n,)
        The observations.
    truth : pair of arrays
        Inputs and the true expected reward there.
    one_gp, infinite_gp : InfiniteGP
        Fitted to (x, y).

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from infgp import InfiniteGP
    >>> x = np.linspace(0, 1, 8)
    >>> model = InfiniteGP(n_warmup=20, n_samples=5, n_chains=1, random_state=0).fit(x[:, None], x)
    >>> file = Path(tempfile.mkdtemp()) / "fit.png"
    >>> compare_fits(file, x, x, (x, x), model, model)
    >>> file.stat().st_size > 0
    True
    """
    plt = require("matplotlib.pyplot", "plot")
    grid = np.linspace(x.min(), x.max(), 300)[:, None]
    low, high = float(np.min(truth[1])), float(np.max(truth[1]))
    margin = 0.9 * (high - low)
    window = (low - margin, high + margin)
    off = infinite_gp.off_surface_probability_ > 0.5

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), sharex=True, sharey=True, layout="constrained")
    for axis, model, title in zip(axes, (one_gp, infinite_gp), ("One GP", "∞-GP (infgp)"), strict=True):
        band = model.predict_quantiles(grid, [0.1, 0.9])
        axis.fill_between(grid[:, 0], band[:, 0], band[:, 1], color=BLUE, alpha=0.15, lw=0, label="80 % of rewards")
        axis.plot(grid[:, 0], model.predict_main(grid), color=BLUE, lw=2, label="fitted surface")
        axis.plot(*truth, color=INK, lw=1.2, ls="--", label="truth")
        inside = (y > window[0]) & (y < window[1])
        axis.plot(x[inside], y[inside], ".", color=GREY, ms=6, label="observations")
        for xi, yi in zip(x[~inside], y[~inside], strict=True):  # an arrowhead at the edge
            up = yi > window[1]
            axis.plot(
                xi,
                (window[1] - 0.05 * margin) if up else (window[0] + 0.05 * margin),
                "^" if up else "v",
                color=GREY,
                ms=7,
            )
        axis.set(title=title, xlabel="input", xlim=(x.min(), x.max()), ylim=window)
        axis.spines[["top", "right"]].set_visible(False)
    marks = np.clip(y[off], window[0] + 0.05 * margin, window[1] - 0.05 * margin)
    axes[1].plot(x[off], marks, "o", mfc="none", mec=RED, ms=13, mew=1.6, label="held to be off the surface")
    axes[0].set_ylabel("reward")
    axes[1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def compare_runs(path: str | Path, runs: Sequence[DemoRun], truth: tuple[FloatArray, FloatArray]) -> None:
    """Draw optimization runs side by side, and their cumulative regret, and write the picture to `path`.

    Parameters
    ----------
    path : str or Path
        A file name with an ending that matplotlib knows.
    runs : sequence of DemoRun
    truth : pair of arrays
        Inputs and the true expected reward there.

    Examples
    --------
    >>> import tempfile
    >>> from infgp.app import demo
    >>> file = Path(tempfile.mkdtemp()) / "runs.png"
    >>> compare_runs(file, [demo.run("∞-GP", 8, 0, lambda line: None)], (demo.grid(), demo.truth(demo.grid())))
    >>> file.stat().st_size > 0
    True
    """
    plt = require("matplotlib.pyplot", "plot")
    low, high = float(np.min(truth[1])), float(np.max(truth[1]))
    margin = 0.6 * (high - low)
    window = (low - margin, high + margin)
    figure, axes = plt.subplots(1, len(runs) + 1, figsize=(4.6 * (len(runs) + 1), 4.0), layout="constrained")
    for axis, run in zip(axes, runs, strict=False):
        axis.fill_between(
            truth[0], run.mean - 2 * run.std, run.mean + 2 * run.std, color=BLUE, alpha=0.15, lw=0, label="± 2 sd"
        )
        axis.plot(truth[0], run.mean, color=BLUE, lw=2, label="believed expected reward")
        axis.plot(*truth, color=INK, lw=1.2, ls="--", label="truth")
        inside = (run.y > window[0]) & (run.y < window[1])
        axis.plot(run.x[inside], run.y[inside], ".", color=GREY, ms=6, label="rewards")
        for xi, yi in zip(run.x[~inside], run.y[~inside], strict=True):  # an arrowhead at the edge
            edge = window[1] - 0.06 * margin if yi > window[1] else window[0] + 0.06 * margin
            axis.plot(xi, edge, "^" if yi > window[1] else "v", color=ORANGE, ms=7)
        axis.axvline(run.recommendation.point["x"], color=RED, lw=1.6, label="recommended")
        axis.set(title=run.name, xlabel="input", xlim=(truth[0][0], truth[0][-1]), ylim=window)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("reward (triangles: outside the picture)")
    axes[0].legend(loc="lower right", fontsize=8, framealpha=0.9)
    for run, colour in zip(runs, (GREY, BLUE), strict=False):
        axes[-1].plot(np.arange(1, run.y.size + 1), np.cumsum(run.regret), color=colour, lw=2, label=run.name)
    axes[-1].set(title="Cumulative regret", xlabel="evaluations", ylim=(0.0, None))
    axes[-1].legend(frameon=False)
    axes[-1].spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)
    plt.close(figure)
