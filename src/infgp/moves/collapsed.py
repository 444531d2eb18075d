"""What the collapsed moves share: labels grouped by surface and the evidence with the surfaces integrated out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from infgp import compiled
from infgp.errors import InvalidInputError
from infgp.linalg import FloatArray
from infgp.model import Data, Model, State
from infgp.partition import IntArray
from infgp.priors import Fixed

KERNEL_CODE = {"se": 0, "matern52": 1}
#: Scales with n σ² / τ² beyond this have no prior mass: covariances would be singular in double precision.
CONDITION_LIMIT = 1e12


@dataclass(frozen=True, eq=False)
class Grouped:
    """Observations ordered by surface; group g is rows ``starts[g]`` to ``starts[g + 1]``."""

    order: IntArray
    starts: IntArray
    x: FloatArray
    r: FloatArray


def group_order(labels: IntArray) -> tuple[IntArray, IntArray]:
    """Observations ordered by label, and the bounds of the groups."""
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    edges = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return order, np.concatenate(([0], edges, [labels.size]))


def group(labels: IntArray, x: FloatArray, r: FloatArray) -> Grouped:
    """Inputs and residuals grouped by label."""
    order, starts = group_order(labels)
    return Grouped(order, starts, x[order], r[order])


def residual(state: State, data: Data) -> FloatArray:
    """y − h β."""
    return np.asarray(data.y - data.h @ state.beta)


def log_evidence(grouped: Grouped, model: Model, phi: FloatArray, sigma2: float, tau2: float) -> float:
    """log p(r | z, Θ), summed over the groups."""
    sizes = np.diff(grouped.starts)
    rho = np.empty(int(sizes @ sizes))
    compiled.fill_blocks(KERNEL_CODE[model.kernel], grouped.x, grouped.starts, phi, rho)
    value: float = compiled.blocks_log_evidence(rho, grouped.r, grouped.starts, sigma2, tau2, model.scale_shape)
    return value


def inside_limit(state: State, n: int, model: Model) -> State:
    """The state, moved inside the condition limit where a free scale allows it (a chain must start there)."""
    sigma2, tau2 = float(state.sigma2[0]), float(state.tau2[0])
    if usable(n, sigma2, tau2):
        return state
    if not isinstance(model.priors.tau2, Fixed):
        return replace(state, tau2=np.array([10.0 * n * sigma2 / CONDITION_LIMIT]))
    if not isinstance(model.priors.sigma2, Fixed):
        return replace(state, sigma2=np.array([0.1 * CONDITION_LIMIT * tau2 / n]))
    raise InvalidInputError(
        f"Fixed scales sigma2={sigma2!r} and tau2={tau2!r} make the covariance of {n} observations singular in double "
        f"precision: n sigma2 / tau2 must not exceed {CONDITION_LIMIT:g}. Fix tau2 at a larger value."
    )


def usable(n: int, sigma2: float, tau2: float) -> bool:
    """Whether the scales are inside the condition limit (and not NaN)."""
    return n * sigma2 <= CONDITION_LIMIT * tau2 and tau2 > 0.0
