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


@jit()
def residual(setting: Any, chain: Any) -> Any:
    """y − h β."""
    r = setting.y.copy()
    for i in range(r.size):
        for k in range(chain.beta.size):
            r[i] -= setting.h[i, k] * chain.beta[k]
    return r


@jit()
def rows(a: Any, index: Any) -> Any:
    """a[index] for a matrix (plain loops compile several times faster than NumPy's indexing)."""
    out = np.empty((index.size, a.shape[1]))
    for i in range(index.size):
        for k in range(a.shape[1]):
            out[i, k] = a[index[i], k]
    return out


@jit()
def entries(a: Any, index: Any) -> Any:
    """a[index] for a vector."""
    out = np.empty(index.size, dtype=a.dtype)
    for i in range(index.size):
        out[i] = a[index[i]]
    return out


@jit()
def group_order(labels: Any) -> Any:
    """Observations ordered by label, and the bounds of the groups; shapes (n,) and (groups + 1,)."""
    n, top = labels.size, 0
    for i in range(n):
        top = max(top, labels[i] + 1)
    at, order = np.zeros(top + 1, dtype=np.int64), np.empty(n, dtype=np.int64)
    for i in range(n):
        at[labels[i] + 1] += 1
    groups = 0
    starts = np.zeros(top + 1, dtype=np.int64)
    for label in range(top):
        if at[label + 1] > 0:
            groups += 1
            starts[groups] = starts[groups - 1] + at[label + 1]
        at[label + 1] += at[label]
    for i in range(n):
        order[at[labels[i]]] = i
        at[labels[i]] += 1
    return order, starts[: groups + 1]


@jit()
def cells(starts: Any) -> int:
    """Entries in all blocks together."""
    total = 0
    for g in range(starts.size - 1):
        total += (starts[g + 1] - starts[g]) ** 2
    return total


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
