"""What the compiled moves work on: data, a chain that they change in place, priors as numbers; groups of labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infgp.core.jit import jit


class Setting(NamedTuple):
    """Data and what is fixed about the model.

    kernel : code;  x : inputs (n, d);  h : trend regressors (n, p);  y, noise : rewards and known noise (n,)
    shape : a of the surfaces' own scales;  local, places : π and the graph of the inputs
    odds : the kind of odds at hand
    grades : prior probabilities of the grades;  most : largest number of members of a flat surface
    """

    kernel: int
    x: Any
    h: Any
    y: Any
    noise: Any
    shape: float
    local: float
    places: Any
    odds: Any
    grades: Any
    most: int


class MutableState(NamedTuple):
    """A state, changed in place: labels (n,), β (p,), φ (d,), (σ², τ², ν), grade of each observation's surface (n,)."""

    labels: Any
    beta: Any
    phi: Any
    scales: Any
    grade: Any


class PriorNumbers(NamedTuple):
    """Priors as numbers; a parameter that is fixed has zeros or no entries.

    variances : rows (shape, scale) of the inverse gammas of σ² and τ²
    lengthscale : (0,) fixed; (1, loc, scale, least log ℓ) log-normal; (2, largest φ) uniform in φ
    lengthscales : number of length-scales, 1 or d
    trend_mean, trend_weight : mean and precision of β, shape (p,)
    largest_ratio : largest ratio of σ² to τ²
    """

    variances: Any
    lengthscale: Any
    lengthscales: int
    trend_mean: Any
    trend_weight: Any
    largest_ratio: float


class Groups(NamedTuple):
    """Observations in the order of their surfaces.

    order : the observations, (n,);  starts : where each surface begins, and the end, (surfaces + 1,)
    x, h, y, noise : of the observations in this order
    """

    order: Any
    starts: Any
    x: Any
    h: Any
    y: Any
    noise: Any


def groups_of(setting: Setting, chain: MutableState) -> Groups:
    """The groups of a chain's labels."""
    return grouped(chain.labels, setting.x, setting.h, setting.y, setting.noise)


def grouped(labels: Any, x: Any, h: Any, y: Any, noise: Any) -> Groups:
    """The groups of some labels."""
    order, starts = group_order(labels)
    return Groups(order, starts, x[order], h[order], y[order], noise[order])


@jit()
def residual(y: Any, h: Any, beta: Any) -> Any:
    """y − h β."""
    r = y.copy()
    for i in range(r.size):
        for k in range(beta.size):
            r[i] -= h[i, k] * beta[k]
    return r


def group_order(labels: Any) -> Any:
    """Observations ordered by label, and the bounds of the groups; shapes (n,) and (groups + 1,)."""
    counts = np.bincount(labels)
    return np.argsort(labels, kind="stable"), np.concatenate(((0,), np.cumsum(counts[counts > 0])))


@jit()
def relabel(labels: Any) -> int:
    """Rename labels (at most n) to 0, 1, … in the order of their first observation, in place; returns their number."""
    names, known = np.zeros(labels.size + 1, dtype=np.int64), 0  # 0: not met yet
    for i in range(labels.size):
        if names[labels[i]] == 0:
            known += 1
            names[labels[i]] = known
        labels[i] = names[labels[i]] - 1
    return known
