"""Compiled inner loops (Numba), cached on disk. Only moves, model and posterior import this package.

Notation
--------
C       prior covariance σ² ρ of the inputs, shape (n, n), without noise; in label sweeps one for each grade
noise   known noise variances v, shape (n,), which add to τ²; N_SS is short for τ² I + diag(v_S)
G       inverses (C_SS + N_SS)⁻¹ of all surfaces in one (n, n) array: G_ij is zero where z_i ≠ z_j
alpha   G r, shape (n,)
q_l     r_Sᵀ G_SS r_S, one number for each surface
shape   a of the surfaces' own scale s_l ~ InverseGamma(a, a); 0 for scales shared by all (s_l = 1)
local   chance π that a surface has a place; 0 for a prior that does not see the inputs
grade   g of a surface: its length-scales are the shared ones divided by ROUGHER^g

With own scales, s_l is integrated out: Gaussians become Student-t densities with 2a degrees of freedom, which only
need q_l besides the Gaussian quantities.
"""

from infgp.compiled.chain import ROUGHER, Chain, PriorNumbers, Setting, group_order, relabel
from infgp.compiled.densities import blocks_log_evidence, fill_blocks, fill_covariance
from infgp.compiled.labels import drift, gather, label_sweep, scatter, seat
from infgp.compiled.scales import draw_grades, draw_scales
from infgp.compiled.splits import reallocate, split_or_merge
from infgp.compiled.trend import draw_trend

#: Surfaces larger than this are factorised by LAPACK at the start of a label sweep, and their predictive variances
#: prepared by BLAS.
LARGE = 128

__all__ = [
    "LARGE",
    "ROUGHER",
    "Chain",
    "PriorNumbers",
    "Setting",
    "blocks_log_evidence",
    "draw_grades",
    "draw_scales",
    "draw_trend",
    "drift",
    "fill_blocks",
    "fill_covariance",
    "gather",
    "group_order",
    "label_sweep",
    "reallocate",
    "relabel",
    "scatter",
    "seat",
    "split_or_merge",
]
