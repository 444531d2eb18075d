"""Where surfaces are: how much the prior favours neighbours to share one (a Potts factor in a product partition).

The inputs are the nodes of a graph. An edge, or tie, joins each input to its nearest inputs, and a shortest tree joins
all of them, so that no cluster is cut off for nothing. A surface is global, or it has a place. The prior weight of a
surface with a place does not depend on its size, but on the number of edges that lead out of it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from infgp.core.jit import jit

#: Nearest inputs that an input is tied to, for each dimension of the inputs.
TIES = 2
#: Largest number of nearest inputs that an input is tied to, in any dimension.
MOST_TIES = 10
#: Price of cutting an input off from all its neighbours, in units of log prior.
PRICE = 4.0
#: Least price on a line, with one dimension of inputs, in units of log prior for each unit of log n. A border on a line
#: is a single gap, and there are n − 1 gaps to choose from. At a fixed price, many inputs around one smooth function
#: would fall apart into segments.
LINE_PRICE = 1.5


class Places(NamedTuple):
    """The graph, and what makes up the cohesion of a local surface.

    near : neighbours of each observation, shape (n, largest degree), filled up with −1
    price : what a cut edge costs, in log prior
    gain : what a member brings, in log prior: (log Γ(n)) / n, so that one local surface of all observations weighs as
        much as one global surface
    """

    near: Any
    price: float
    gain: float


def ties(n: int, d: int) -> int:
    """Number of nearest inputs that an input is tied to, where there are n other inputs."""
    return min(TIES * d, MOST_TIES, n)


def places_of(x: Any) -> Places:
    """The graph of the inputs, shape (n, d).

    Examples
    --------
    >>> import numpy as np
    >>> places_of(np.array([[0.0], [0.1], [0.3], [0.9]])).near
    array([[ 1,  2, -1],
           [ 0,  2,  3],
           [ 0,  1,  3],
           [ 1,  2, -1]])
    """
    n, d = x.shape
    k = ties(n - 1, d)
    gain = math.lgamma(n) / n if n else 0.0
    price = max(PRICE, LINE_PRICE * math.log(n)) if d == 1 and n else PRICE
    return Places(mutual(nearest(x, x, k + 1), spanning_tree(x)), price / max(k, 1), gain)


@jit()
def nearest(x: Any, at: Any, k: int) -> Any:
    """The k rows of x nearest to each row of `at`, nearest first, shape (m, k); k is at most n."""
    out, gaps = np.empty((at.shape[0], k), dtype=np.int64), np.empty(k)
    for p in range(at.shape[0]):
        held = 0
        for i in range(x.shape[0]):
            gap = 0.0
            for c in range(x.shape[1]):
                gap += (x[i, c] - at[p, c]) ** 2
            if held == k and not gap < gaps[held - 1]:
                continue
            if held < k:
                held += 1
            q = held - 1
            while q > 0 and gaps[q - 1] > gap:
                gaps[q], out[p, q] = gaps[q - 1], out[p, q - 1]
                q -= 1
            gaps[q], out[p, q] = gap, i
    return out


@jit()
def spanning_tree(x: Any) -> Any:
    """The tree of shortest length that ties all rows of x together (Prim): the row that each is tied to, shape (n,).

    The first is tied to itself.

    Examples
    --------
    >>> import numpy as np
    >>> spanning_tree(np.array([[0.0], [0.8], [0.1], [0.9]]))
    array([0, 2, 0, 1])
    """
    n = x.shape[0]
    parent, gaps, last = np.empty(n, dtype=np.int64), np.empty(n), 0
    for i in range(n):
        parent[i], gaps[i] = 0, np.inf
    for _ in range(n - 1):
        gaps[last], best = -1.0, -1  # it is in the tree
        for i in range(n):
            if gaps[i] >= 0.0:
                gap = 0.0
                for c in range(x.shape[1]):
                    gap += (x[i, c] - x[last, c]) ** 2
                if gap < gaps[i]:
                    gaps[i], parent[i] = gap, last
                if best < 0 or gaps[i] < gaps[best]:
                    best = i
        last = best
    return parent


def mutual(chosen: Any, parent: Any) -> Any:
    """Neighbours of each point, padded with −1: points that one of the two has chosen, or is the parent of."""
    n, k = chosen.shape[0], chosen.shape[1] - 1
    own = np.arange(n)
    others = chosen != own[:, None]
    i, q = np.nonzero(others & (np.cumsum(others, axis=1) <= k))
    tied = np.zeros((n, n), dtype=np.bool_)
    tied[i, chosen[i, q]] = True
    tied[own, parent] = True
    tied |= tied.T
    tied[own, own] = False
    degrees = tied.sum(axis=1)
    out = np.full((n, degrees.max(initial=0)), -1, dtype=np.int64)
    out[np.arange(out.shape[1]) < degrees[:, None]] = np.nonzero(tied)[1]
    return out


@jit()
def leaving(near: Any, labels: Any, i: int, label: int) -> tuple[int, int]:
    """Edges of observation i to other labels than `label`, and to members of `label`."""
    out, inside = 0, 0
    for q in range(near.shape[1]):
        j = near[i, q]
        if j >= 0:
            if labels[j] == label:
                inside += 1
            else:
                out += 1
    return out, inside


@jit()
def cut_edges(near: Any, labels: Any, size: int) -> Any:
    """Edges that lead out of each of `size` labels."""
    cuts = np.zeros(size, dtype=np.int64)
    for i in range(labels.size):
        cuts[labels[i]] += leaving(near, labels, i, labels[i])[0]
    return cuts


@jit()
def log_cohesion(size: int, cut: int, places: Any, local: float) -> float:
    """log c(S) = log(1 − π + π g(S)): global with probability 1 − π, else local; `local` is π.

    g(S) = e^{gain |S| − price · cut} / Γ(|S|), for a surface of `size` members that `cut` edges lead out of. It takes
    back the urn's Γ(|S|): local surfaces weigh what their borders are, whatever their sizes.
    """
    if local == 0.0 or size == 0:
        return 0.0
    log_local = math.log(local) + places.gain * size - math.lgamma(size) - places.price * cut
    log_global = math.log1p(-local)
    top = log_global if log_global > log_local else log_local
    value: float = top + math.log(math.exp(log_local - top) + math.exp(log_global - top))
    return value


@jit()
def log_cohesion_ratios(labels: Any, who: Any, places: Any, local: float) -> Any:
    """log c(S_l with the point) / c(S_l) for each point and label, then log c of the point alone; shape (m, K + 1).

    A further point is tied to its k nearest observations `who`, shape (m, k); the graph is otherwise as it was.
    """
    top, k = 0, who.shape[1]
    for i in range(labels.size):
        if labels[i] >= top:
            top = labels[i] + 1
    sizes, shares = np.zeros(top + 1, dtype=np.int64), np.empty((top + 1, k + 1))
    for i in range(labels.size):
        sizes[labels[i]] += 1
    cuts = cut_edges(places.near, labels, top + 1)
    for label in range(top + 1):
        for inside in range(k + 1):  # edges of the point to members, which are cut where it does not join
            joined = log_cohesion(sizes[label] + 1, cuts[label] + k - inside, places, local)
            shares[label, inside] = joined - log_cohesion(sizes[label], cuts[label] + inside, places, local)
    out = np.empty((who.shape[0], top + 1))
    inside_of = np.zeros(top + 1, dtype=np.int64)
    for p in range(who.shape[0]):
        for q in range(k):
            inside_of[labels[who[p, q]]] += 1
        for label in range(top + 1):
            out[p, label] = shares[label, inside_of[label]]
            inside_of[label] = 0
    return out
