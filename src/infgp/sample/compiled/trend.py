"""The trend's coefficients β."""

from __future__ import annotations

from typing import Any

import numpy as np

from infgp.core.jit import jit
from infgp.sample.compiled.chain import entries, group_order, rows
from infgp.sample.compiled.densities import dot, factorise, fill_graded, forward


@jit()
def draw_trend(rng: Any, setting: Any, chain: Any, priors: Any) -> None:
    """β given labels, variances and length-scales: Gaussian, by generalised least squares over the surfaces.

    Its precision and shift are Σ_l hᵀ (C_SS + N_SS)⁻¹ [h y] / s_l; own scales s_l are drawn given the residuals.
    """
    p, weight = priors.trend_weight.size, priors.trend_weight
    if p == 0:
        return
    least = np.inf
    for k in range(p):
        least = min(least, 0.5 * weight[k])
    precision, shift = np.zeros((p, p)), np.empty(p)
    for k in range(p):
        precision[k, k] = weight[k] - least  # `factorise` adds it again, and lets no pivot fall below
        shift[k] = weight[k] * priors.trend_mean[k]
    order, starts = group_order(chain.labels)
    x, h, noise = rows(setting.x, order), rows(setting.h, order), entries(setting.noise, order)
    for g in range(starts.size - 1):
        lo, m = starts[g], starts[g + 1] - starts[g]
        cov, factor, column, u = np.empty((m, m)), np.empty((m, m)), np.empty(m), np.empty((p + 1, m))
        grade = chain.grade[order[lo]]
        fill_graded(setting.kernel, grade, x[lo : lo + m], chain.phi, chain.scales[0], cov)
        factorise(cov, 1.0, chain.scales[1], noise[lo : lo + m], factor)
        for k in range(p + 1):
            for a in range(m):
                column[a] = h[lo + a, k] if k < p else setting.y[order[lo + a]]
            forward(factor, column, u[k])
        scale = 1.0
        if setting.shape > 0.0:
            quadratic = 0.0
            for a in range(m):
                gap = u[p, a]
                for k in range(p):
                    gap -= u[k, a] * chain.beta[k]
                quadratic += gap * gap
            scale = (setting.shape + 0.5 * quadratic) / rng.standard_gamma(setting.shape + 0.5 * m)
        for k in range(p):
            shift[k] += dot(u[k], u[p], m) / scale
            for j in range(k + 1):
                precision[k, j] += dot(u[k], u[j], m) / scale
    factor = np.empty((p, p))
    factorise(precision, 1.0, least, np.zeros(p), factor)
    forward(factor, shift, shift)
    for k in range(p - 1, -1, -1):  # Lᵀ β = L⁻¹ shift + noise
        total = shift[k] + rng.standard_normal()
        for j in range(k + 1, p):
            total -= factor[j, k] * chain.beta[j]
        chain.beta[k] = total * factor[k, k]
