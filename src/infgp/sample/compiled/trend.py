"""The trend's coefficients β."""

from __future__ import annotations

from typing import Any

import numpy as np

from infgp.core.jit import jit
from infgp.sample.compiled.densities import dot, factorise, fill_lower, forward, rougher_by


@jit()
def draw_trend(
    kernel: int,
    shape: float,
    groups: Any,
    grade: Any,
    beta: Any,
    phi: Any,
    scales: Any,
    priors: Any,
    gammas: Any,
    normals: Any,
) -> None:
    """β given labels, variances and length-scales: Gaussian, by generalised least squares over the surfaces.

    Its precision and shift are Σ_l hᵀ (C_SS + N_SS)⁻¹ [h y] / s_l; own scales s_l are drawn given the residuals.

    grade : of the observations in the order of the groups;  beta : changed in place
    gammas, normals : random numbers, for own scales (standard gamma of shape a + m/2, for each surface) and for β (p,)
    """
    p, weight = priors.trend_weight.size, priors.trend_weight
    least = np.inf
    for k in range(p):
        if 0.5 * weight[k] < least:
            least = 0.5 * weight[k]
    precision, shift = np.zeros((p, p)), np.empty(p)
    for k in range(p):
        precision[k, k] = weight[k] - least  # `factorise` adds it again, and lets no pivot fall below
        shift[k] = weight[k] * priors.trend_mean[k]
    x, h, y, noise, starts = groups.x, groups.h, groups.y, groups.noise, groups.starts
    for g in range(starts.size - 1):
        lo, m = starts[g], starts[g + 1] - starts[g]
        cov, factor, column, u = np.empty((m, m)), np.empty((m, m)), np.empty(m), np.empty((p + 1, m))
        rougher = rougher_by(grade[lo])
        fill_lower(kernel, rougher, x[lo : lo + m], phi, scales[0], cov)
        factorise(cov, 1.0, scales[1], noise[lo : lo + m], factor)
        for k in range(p + 1):
            for a in range(m):
                column[a] = h[lo + a, k] if k < p else y[lo + a]
            forward(factor, column, u[k])
        scale = 1.0
        if shape > 0.0:
            quadratic = 0.0
            for a in range(m):
                gap = u[p, a]
                for k in range(p):
                    gap -= u[k, a] * beta[k]
                quadratic += gap * gap
            scale = (shape + 0.5 * quadratic) / gammas[g]
        for k in range(p):
            shift[k] += dot(u[k], u[p], m) / scale
            for j in range(k + 1):
                precision[k, j] += dot(u[k], u[j], m) / scale
    factor = np.empty((p, p))
    factorise(precision, 1.0, least, np.zeros(p), factor)
    forward(factor, shift, shift)
    for k in range(p - 1, -1, -1):  # Lᵀ β = L⁻¹ shift + noise
        total = shift[k] + normals[p - 1 - k]
        for j in range(k + 1, p):
            total -= factor[j, k] * beta[j]
        beta[k] = total * factor[k, k]
