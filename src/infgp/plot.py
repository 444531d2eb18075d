"""Pictures (needs the extra ``plot``)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from infgp.errors import require
from infgp.linalg import FloatArray

if TYPE_CHECKING:
    from infgp.estimator import InfiniteGP

INK, GREY, BLUE, RED, ORANGE = "#222222", "#8a8a8a", "#1f5fa8", "#c0392b", "#e08e0b"


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
