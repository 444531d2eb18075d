"""Compiled inner loops (Numba), cached on disk. Only the moves, the chains and `bench` import this package.

Notation
--------
C       prior covariance σ² ρ of the inputs, shape (n, n), without noise; in label sweeps one for each grade
noise   known noise variances v, shape (n,), which add to τ²; N_SS is short for τ² I + diag(v_S)
G       inverses (C_SS + N_SS)⁻¹ of all surfaces in one (n, n) array: G_ij is zero where z_i ≠ z_j
alpha   G r, shape (n,)
q_l     r_Sᵀ G_SS r_S, one number for each surface
shape   a of the surfaces' own scale s_l ~ InverseGamma(a, a); 0 for scales shared by all (s_l = 1)
local   chance π that a surface has a place; 0 for a prior that does not see the inputs
grade   g of a surface: its length-scales are the shared ones divided by ROUGHER^g, or it is flat (g = FLAT); C then is
        σ² on the diagonal, where it holds the flat surface's own noise, and σ² CONSTANT off it

With own scales, s_l is integrated out: Gaussians become Student-t densities with 2a degrees of freedom, which only
need q_l besides the Gaussian quantities.
"""

from infgp.core.state import ROUGHER
from infgp.sample.compiled.chain import (
    Groups,
    MutableState,
    PriorNumbers,
    Setting,
    group_order,
    grouped,
    groups_of,
    relabel,
    residual,
)
from infgp.sample.compiled.densities import blocks_log_evidence, fill_blocks, fill_covariance
from infgp.sample.compiled.inverses import drift, gather, scatter, seat
from infgp.sample.compiled.labels import label_sweep
from infgp.sample.compiled.scales import draw_scales, lines_of, redraw_grades, scales_log_prior, step_log_prior
from infgp.sample.compiled.splits import reallocate, split_or_merge
from infgp.sample.compiled.trend import draw_trend

#: Members of the largest surface that a label sweep factorises in compiled loops. Larger surfaces are factorised by
#: LAPACK at the start of the sweep, and their predictive variances are prepared by BLAS.
LARGE = 128

__all__ = [
    "LARGE",
    "ROUGHER",
    "Groups",
    "MutableState",
    "PriorNumbers",
    "Setting",
    "blocks_log_evidence",
    "draw_scales",
    "draw_trend",
    "drift",
    "fill_blocks",
    "fill_covariance",
    "gather",
    "group_order",
    "grouped",
    "groups_of",
    "label_sweep",
    "lines_of",
    "reallocate",
    "redraw_grades",
    "relabel",
    "residual",
    "scales_log_prior",
    "scatter",
    "seat",
    "split_or_merge",
    "step_log_prior",
]
