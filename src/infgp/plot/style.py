"""Colours, and what several pictures share: axes, windows, rewards outside of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.errors import require

#: Colour of the truth.
INK = "#222222"
#: Colour of observations, and of the first run in a comparison.
GREY = "#8a8a8a"
#: Colour of what the model believes.
BLUE = "#1f5fa8"
#: Colour of recommendations and of observations off the main surface.
RED = "#c0392b"
#: Colour of rewards outside the picture.
ORANGE = "#e08e0b"
#: Colours of modes and single surfaces, the largest first.
MODES = ("#1f5fa8", "#c0392b", "#2e8b57", "#8e44ad", "#e08e0b", "#8a8a8a")
#: Size of a picture, in inches.
SIZE = (6.0, 3.8)
#: Standard deviations on either side of a mean that a band has.
BAND = 2.0
#: Part of the range of the middle 90 % of the rewards that a window has above and below them.
MARGIN = 0.5


def axes(ax: Any = None) -> Any:
    """The axes to draw into: those given, or new ones of a new figure."""
    if ax is None:
        ax = require("matplotlib.pyplot", "plot").subplots(figsize=SIZE, layout="constrained")[1]
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def window(rewards: FloatArray, *shown: FloatArray) -> tuple[float, float]:
    """Ends of an axis that has the middle 90 % of the rewards, and all of what else is shown, with a margin.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = window(np.r_[np.arange(99.0), 1e9], np.array([120.0]))
    >>> low < 5.0, 120.0 < high < 300.0
    (True, True)
    """
    seen = rewards[np.isfinite(rewards)]
    parts = [np.percentile(seen, (5.0, 95.0))] if seen.size else []
    parts += [part[np.isfinite(part)] for part in shown]
    every = np.concatenate([np.ravel(part) for part in parts])
    low, high = (float(every.min()), float(every.max())) if every.size else (0.0, 1.0)
    margin = MARGIN * (high - low) or 1.0
    inside = seen[(seen >= low - margin) & (seen <= high + margin)]
    if inside.size:
        low, high = min(low, float(inside.min())), max(high, float(inside.max()))
    slack = 0.08 * (high - low) or 1.0
    return low - slack, high + slack


def rewards(ax: Any, x: FloatArray, y: FloatArray, ends: tuple[float, float], **style: Any) -> None:
    """Draw rewards as dots, and those outside the window as triangles at its edge."""
    low, high = ends
    inside = (y >= low) & (y <= high)
    ax.plot(x[inside], y[inside], **{"ls": "", "marker": ".", "color": GREY, "ms": 7, **style})
    reach, label = 0.03 * (high - low), "outside the picture"
    for side, mark, edge in ((y > high, "^", high - reach), (y < low, "v", low + reach)):
        if side.any():
            ax.plot(x[side], np.full(side.sum(), edge), mark, color=ORANGE, ms=6, label=label)
            label = ""


#: Where a legend is that would cover what is drawn: under the picture.
BELOW = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "ncols": 3}


def legend(ax: Any, **where: Any) -> None:
    """A legend with an entry for each label."""
    handles, labels = ax.get_legend_handles_labels()
    named = {label: handle for handle, label in zip(handles, labels, strict=True) if label}
    if named:
        ax.legend(named.values(), named.keys(), **{"fontsize": 8, "framealpha": 0.85, "edgecolor": "none", **where})
