"""Pictures (needs the extra ``plot``): each function draws one, into `ax` if that is given, and returns its Axes.

The numbers of a picture are those of a class beside its function, such as :class:`infgp.plot.over_time.History` beside
:func:`history`: make one with ``History.of(optimizer)`` to have them without the picture.
"""

from __future__ import annotations

from infgp.plot.checks import calibration, trace
from infgp.plot.decisions import candidates, regret
from infgp.plot.demo import compare_fits, compare_runs
from infgp.plot.over_inputs import contour, slice_along
from infgp.plot.over_time import history
from infgp.plot.reward_laws import mode_odds, reward_law
from infgp.plot.shares import importances

__all__ = [
    "calibration",
    "candidates",
    "compare_fits",
    "compare_runs",
    "contour",
    "history",
    "importances",
    "mode_odds",
    "regret",
    "reward_law",
    "slice_along",
    "trace",
]
