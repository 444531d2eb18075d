"""Compiled inner loops (Numba), cached on disk. Only the moves import this package: it takes a while to load.

Notation
--------
C       prior covariance σ² ρ of the inputs, shape (n, n), without noise
G       inverses (C_SS + τ² I)⁻¹ of all surfaces in one (n, n) array: G_ij is zero where z_i ≠ z_j
alpha   G r, shape (n,)
q_l     r_Sᵀ G_SS r_S, one number for each surface
shape   a of the surfaces' own scale s_l ~ InverseGamma(a, a); 0 for scales shared by all (s_l = 1)

With own scales, s_l is integrated out: Gaussians become Student-t densities with 2a degrees of freedom, which only
need q_l besides the Gaussian quantities.
"""

from infgp.compiled.allocation import grow
from infgp.compiled.densities import (
    blocks_log_evidence,
    dense_log_evidence,
    fill_blocks,
    fill_covariance,
    trend_statistics,
)
from infgp.compiled.labels import drift, gather, label_sweep, scatter, seat
from infgp.compiled.scales import slice_scales

#: Surfaces larger than this have their predictive variances prepared by BLAS at the start of a sweep.
LARGE = 48

__all__ = [
    "LARGE",
    "blocks_log_evidence",
    "dense_log_evidence",
    "drift",
    "fill_blocks",
    "fill_covariance",
    "gather",
    "grow",
    "label_sweep",
    "scatter",
    "seat",
    "slice_scales",
    "trend_statistics",
]
