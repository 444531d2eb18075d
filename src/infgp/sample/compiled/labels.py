"""Label sweeps: every observation is visited, and its label drawn anew by urn times predictive density."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infgp.core.jit import jit
from infgp.core.odds import log_tilt_if, seat_all, seat_one
from infgp.core.places import cut_edges, leaving, log_cohesion
from infgp.core.state import FLAT
from infgp.sample.compiled.densities import FAST, dot, log_predictive, pick
from infgp.sample.compiled.inverses import add_point, refine, remove_point, variance_reduction


@jit(fastmath=FAST)
def shift_reductions(column: int, v: Any, C: Any, scale: float, waiting: Any, first: int, large: Any) -> None:  # noqa: N803
    """Add scale · (C_i v)² to the prepared variance reductions of the observations still to be visited."""
    n = v.size
    for p in range(first, waiting.size):
        i = waiting[p]
        t = dot(C[i], v, n)
        large[i, column] += scale * t * t


@jit()
def label_weights(
    i: int,
    own: int,
    top: int,
    grade: Any,
    r: Any,
    C: Any,  # noqa: N803
    G: Any,  # noqa: N803
    alpha: Any,
    members: Any,
    counts: Any,
    quadratics: Any,
    columns: Any,
    large: Any,
    noisy: float,
    least: float,
    nu: float,
    shape: float,
    places: Any,
    local: float,
    labels: Any,
    cuts: Any,
    most: int,
    log_p: Any,
) -> int:
    """Log of urn times predictive density for each label that observation i may take; returns how many are filled in.

    A new surface goes by the first free label; for an observation alone on its surface that is its own. `noisy` is its
    prior variance σ² + τ² + v_i, and τ² + v_i the `least` that a surface can leave of it. A flat surface has at most
    `most` members.
    """
    free = -1
    for label in range(top):
        m = counts[label]
        log_p[label] = -np.inf
        if m == 0:
            if free < 0:
                free = label
        elif label != own:
            if m >= most and grade[members[label, 0]] == FLAT:
                continue
            mean, k = 0.0, C[grade[members[label, 0]], i]
            for a in range(m):
                mean += k[members[label, a]] * alpha[members[label, a]]
            ready = columns[label]
            reduction = large[i, ready] if ready >= 0 else variance_reduction(k, G, members[label], m)
            variance = noisy - reduction
            if least > variance:
                variance = least
            log_p[label] = math.log(m) + log_predictive(r[i] - mean, variance, m, quadratics[label], shape)
            if local > 0.0:
                out, inside = leaving(places.near, labels, i, label)
                log_p[label] += log_cohesion(m + 1, cuts[label] + out - inside, places, local)
                log_p[label] -= log_cohesion(m, cuts[label], places, local)
        elif m > 1:
            gap = alpha[i] / G[i, i]
            left = quadratics[label] - alpha[i] * gap
            log_p[label] = math.log(m - 1.0) + log_predictive(gap, 1.0 / G[i, i], m - 1, left, shape)
            if local > 0.0:
                out, inside = leaving(places.near, labels, i, label)
                log_p[label] += log_cohesion(m, cuts[label], places, local)
                log_p[label] -= log_cohesion(m - 1, cuts[label] - out + inside, places, local)
    if counts[own] == 1:
        free = own
    elif free < 0:
        free = top
    log_p[free] = math.log(nu) + log_predictive(r[i], noisy, 0, 0.0, shape)
    if local > 0.0:
        out, inside = leaving(places.near, labels, i, free)
        log_p[free] += log_cohesion(1, out + inside, places, local)
    return top if top > free else free + 1


@jit()
def label_sweep(
    visits: Any,
    uniforms: Any,
    fresh: Any,
    grade: Any,
    r: Any,
    C: Any,  # noqa: N803
    G: Any,  # noqa: N803
    alpha: Any,
    labels: Any,
    members: Any,
    counts: Any,
    where: Any,
    quadratics: Any,
    columns: Any,
    large: Any,
    sigma2: float,
    tau2: float,
    noise: Any,
    nu: float,
    shape: float,
    places: Any,
    local: float,
    odds: Any,
    most: int,
) -> int:
    """Visit the observations in the order `visits` and redraw each label by urn times predictive density.

    The arrays from G to `large`, and `grade`, are changed in place. Returns the number of labels that changed.

    fresh : the grade of a new surface that begins at each visit, drawn from its prior (one observation alone says
        nothing about a grade);  grade : of the surface of each observation
    C : prior covariance for each grade, shape (grades, n, n)
    members, counts : the observations of each label, and their number;  where : position of an observation in them
    odds : the kind of odds at hand; None for constant ones, for which there is less to compile
    most : largest number of members of a flat surface
    quadratics : q_l;  columns : column of a large surface in `large`, or −1
    large : variance reductions kᵀ G k of each observation for the large surfaces it is not on
    """
    log_p, v = np.empty(r.size + 1), np.zeros(r.size)
    if odds is not None:
        shares, seated, norms = np.zeros((r.size, r.size + 1)), np.zeros((r.size, r.size + 1)), np.zeros(r.size)
        seat_all(labels, odds, shares, seated, norms)
    cuts = cut_edges(places.near, labels, r.size + 1)
    top: Any = np.int64(0)  # one more than the largest label in use
    for label in range(r.size):
        if counts[label] > 0:
            top = label + 1
    changed = 0
    for position in range(visits.size):
        i = visits[position]
        own = labels[i]
        least = tau2 + noise[i]
        noisy = sigma2 + least
        width = label_weights(
            i, own, top, grade, r, C, G, alpha, members, counts, quadratics, columns, large, noisy, least, nu, shape,
            places, local, labels, cuts, most, log_p,
        )  # fmt: skip
        if odds is not None:
            seat_one(odds.rank[i], own, -1.0, odds, shares, seated, norms)
            for label in range(width):
                if log_p[label] > -np.inf:
                    log_p[label] += log_tilt_if(odds.rank[i], label, labels, odds, shares, seated, norms)
        chosen = pick(log_p, width, uniforms[position], own)
        if odds is not None:
            seat_one(odds.rank[i], chosen, 1.0, odds, shares, seated, norms)
        if chosen == own:
            continue
        changed += 1
        if columns[own] >= 0:
            shift_reductions(columns[own], G[i], C[grade[i]], -1.0 / G[i, i], visits, position + 1, large)
        quadratics[own] -= alpha[i] * alpha[i] / G[i, i]
        remove_point(i, own, G, alpha, members, counts, where, v)
        if counts[own] == 0:
            quadratics[own] = 0.0
            columns[own] = -1
        g = grade[members[chosen, 0]] if counts[chosen] > 0 else fresh[position]
        grade[i] = g
        add_point(i, chosen, r[i], sigma2, tau2, noise, C[g], G, alpha, members, counts, where, v)
        quadratics[chosen] += alpha[i] * alpha[i] / G[i, i]
        if columns[chosen] >= 0:
            shift_reductions(columns[chosen], v, C[g], G[i, i], visits, position + 1, large)
        for a in range(counts[chosen]):
            v[members[chosen, a]] = 0.0
        for label, sign in ((own, -1), (chosen, 1)):
            out, inside = leaving(places.near, labels, i, label)
            cuts[label] += sign * (out - inside)
            if counts[label] > 0:
                refine(label, r, C[grade[members[label, 0]]], tau2, noise, G, alpha, members, counts, v)
        labels[i] = chosen
        if chosen >= top:
            top = chosen + 1
    return changed
