"""Hypervolume: what a set of trade-offs dominates above a reference point, and what a further point is expected to add.

All objectives are to be maximised. The region above the reference point that no point dominates is cut into boxes that
do not overlap (:func:`undominated`). What a point y adds is the part of the region that y dominates, which is a sum of
a product over boxes with edges l and u, Σ_b Π_k (min(y_k, u_bk) − l_bk)₊. Where the y_k are independent and Gaussian,
its mean is exact for any number of objectives: with ψ_k(t) = E (y_k − t)₊, it is Σ_b Π_k (ψ_k(l_bk) − ψ_k(u_bk))
(Yang, Emmerich, Deutz and Bäck 2019).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from infgp.core.jit import jit
from infgp.core.linalg import FloatArray

#: Edges of a box, lower and upper, with a number for each objective.
Edges: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]

#: Standard units below which φ(z) + z Φ(z) is computed from its asymptotic series.
FAR_LEFT = -25.0
#: Expected gain below which its logarithm is summed from logarithms, in the units of the hypervolume.
LEAST_GAIN = 1e-250


@dataclass(frozen=True, eq=False)
class Boxes:
    """Disjoint boxes whose union is the region above a reference point that no point of a front dominates.

    Attributes
    ----------
    lower, upper : arrays of int, shape (boxes, objectives)
        Indices of their edges.
    edges : array, shape (objectives, edges)
        Coordinates of the edges; the last ones may be infinite.
    """

    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    edges: FloatArray

    def log_gain(self, mean: FloatArray, sd: FloatArray) -> FloatArray:
        """Log of the hypervolume that Gaussian points are expected to add, shape (m,); arguments (m, objectives).

        Examples
        --------
        >>> import numpy as np
        >>> boxes = undominated(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2))
        >>> np.exp(boxes.log_gain(np.array([[2.0, 2.0], [3.0, 0.5]]), np.full((2, 2), 1e-9))).round(6)
        array([1. , 0.5])
        """
        return np.asarray(_log_gain(mean, sd, self.lower, self.upper, self.edges))


def undominated(points: FloatArray, reference: FloatArray) -> Boxes:
    """The region above `reference`, shape (objectives,), that no row of `points`, shape (n, objectives), dominates.

    Examples
    --------
    >>> import numpy as np
    >>> boxes = undominated(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2))
    >>> boxes.edges[0, boxes.lower[:, 0]]
    array([0., 1., 2.])
    """
    above = points[(points > reference).all(axis=1)]
    found = list(_cut([tuple(row) for row in above.tolist()], tuple(reference.tolist())))
    lower, upper = (np.array([box[side] for box in found]) for side in (0, 1))
    columns = [np.unique(np.concatenate((low, high))) for low, high in zip(lower.T, upper.T, strict=True)]
    edges = np.full((len(columns), max(column.size for column in columns)), np.inf)
    for row, column in zip(edges, columns, strict=True):
        row[: column.size] = column
    indices = [np.column_stack([*map(np.searchsorted, columns, side.T)]) for side in (lower, upper)]
    return Boxes(indices[0], indices[1], edges)


def _cut(points: list[tuple[float, ...]], reference: tuple[float, ...]) -> Iterator[Edges]:
    """Boxes of the region that no point dominates: slabs in the last objective, each cut as its projection is.

    From the top slab down, more points count. A box of the projection that stays one from slab to slab is one box.
    """
    if len(reference) == 1:
        yield (max((p[0] for p in points), default=reference[0]),), (math.inf,)
        return
    order = sorted(points, key=lambda p: -p[-1])
    counted: list[tuple[float, ...]] = []
    top = math.inf
    tops: dict[Edges, float] = {}
    for k in range(len(order) + 1):
        bottom = order[k][-1] if k < len(order) else reference[-1]
        if bottom < top:
            current = list(_cut(counted, reference[:-1]))
            kept = set(current)
            for box in [box for box in tops if box not in kept]:
                yield (*box[0], top), (*box[1], tops.pop(box))
            for box in current:
                tops.setdefault(box, top)
            top = bottom
        if k < len(order):
            new = order[k][:-1]
            counted = [p for p in counted if not _covers(new, p)]
            if not any(_covers(p, new) for p in counted):
                counted.append(new)
    for (low, high), start in tops.items():
        yield (*low, top), (*high, start)


def _covers(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return all(x >= y for x, y in zip(a, b, strict=True))


def hypervolume(points: FloatArray, reference: FloatArray) -> float:
    """Volume of what the rows of `points` dominate above `reference`; all objectives are to be maximised.

    Examples
    --------
    >>> import numpy as np
    >>> hypervolume(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2))
    3.0
    """
    if not (points > reference).all(axis=1).any():
        return 0.0
    boxes, top = undominated(points, reference), np.maximum(points.max(axis=0), reference)
    low, high = (
        np.column_stack([edge[side] for edge, side in zip(boxes.edges, sides.T, strict=True)])
        for sides in (boxes.lower, boxes.upper)
    )
    free = np.prod(np.maximum(np.minimum(high, top) - low, 0.0), axis=1).sum()
    return float(np.prod(top - reference) - free)


@jit()
def _log_h(z: float) -> float:
    """log(φ(z) + z Φ(z))."""
    log_phi = -0.5 * z * z - 0.5 * math.log(2.0 * math.pi)
    if z > FAR_LEFT:
        return math.log(math.exp(log_phi) + 0.5 * z * math.erfc(-z / math.sqrt(2.0)))
    w = 1.0 / (z * z)
    return log_phi + math.log(w * (1.0 - w * (3.0 - w * (15.0 - 105.0 * w))))


@jit()
def _log_gain(
    mean: FloatArray, sd: FloatArray, lower: NDArray[np.int64], upper: NDArray[np.int64], edges: FloatArray
) -> FloatArray:
    """Log of the expected gain in hypervolume, shape (m,)."""
    count, objectives = mean.shape
    out = np.empty(count)
    logs = np.empty(edges.shape)
    rests = np.empty(edges.shape)
    for i in range(count):
        for k in range(objectives):
            for e in range(edges.shape[1]):
                if edges[k, e] == np.inf:
                    logs[k, e] = -np.inf
                else:
                    logs[k, e] = math.log(sd[i, k]) + _log_h((mean[i, k] - edges[k, e]) / sd[i, k])
                rests[k, e] = math.exp(logs[k, e])
        total = 0.0
        for b in range(lower.shape[0]):
            part = 1.0
            for k in range(objectives):
                part *= rests[k, lower[b, k]] - rests[k, upper[b, k]]
            total += max(part, 0.0)
        if total > LEAST_GAIN:
            out[i] = math.log(total)
            continue
        best, total = -np.inf, 0.0
        for b in range(lower.shape[0]):
            log_part = 0.0
            for k in range(objectives):
                gap = logs[k, upper[b, k]] - logs[k, lower[b, k]]
                log_part += logs[k, lower[b, k]] + math.log(max(-math.expm1(gap), 1e-300))
            if log_part > best:
                total = total * math.exp(best - log_part) + 1.0
                best = log_part
            elif log_part > -np.inf:
                total += math.exp(log_part - best)
        out[i] = best + math.log(total) if total > 0.0 else -np.inf
    return out
