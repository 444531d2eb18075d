"""Slice sampling of variances and length-scales; grades of the surfaces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infgp.core.jit import jit
from infgp.core.state import FLAT, ROUGHER
from infgp.sample.compiled.chain import Groups, MutableState, Setting, residual
from infgp.sample.compiled.densities import (
    blocks_log_evidence,
    factorise,
    fill_blocks,
    fill_lower,
    forward,
    log_evidence,
    log_total,
    pick,
)

#: Length of the interval in which a slice is first looked for, in units of a natural logarithm. An interval much longer
#: than the slice costs a few evaluations more, and a shorter one means smaller steps; either is correct. The slices of
#: length-scales of inputs that do not matter are as wide as their prior.
WIDTH = 5.0
#: Most points that are tried on a line. An interval that is halved this often is shorter than rounding errors.
MOST_TRIES = 100
#: Length of an interval, in units of log scale, below which nothing is to be gained; the current point stays.
LEAST_WIDTH = 1e-12
#: Largest number of length-scales that get a line of their own in an update; they are chosen at random among the
#: inputs.
LINES = 8


@jit()
def lengthscale_log_prior(log_ell: float, prior: Any) -> float:
    """Log density of one log ℓ, up to a constant."""
    if prior[0] == 1.0:
        if log_ell < prior[3]:
            return -np.inf
        u: float = (log_ell - prior[1]) / prior[2]
        return -0.5 * u * u
    if prior[0] == 2.0:
        if 0.5 * math.exp(-2.0 * log_ell) > prior[1]:
            return -np.inf
        return -2.0 * log_ell
    return 0.0


@jit()
def scales_log_prior(theta: Any, priors: Any) -> float:
    """Log density of θ = (log σ², log τ², log ℓ …), up to a constant; −∞ beyond the largest ratio of σ² to τ²."""
    total = 0.0
    if not theta[0] - theta[1] <= math.log(priors.largest_ratio):
        return -np.inf
    for k in range(2):
        if priors.variances[k, 0] > 0.0:
            total -= priors.variances[k, 0] * theta[k] + priors.variances[k, 1] * math.exp(-theta[k])
    for k in range(2, theta.size):
        total += lengthscale_log_prior(theta[k], priors.lengthscale)
    return total


def lines_of(rng: Any, priors: Any) -> Any:
    """Directions for :func:`draw_scales`, zero along what is fixed; shape (lines, parameters)."""
    ells = priors.lengthscales
    lines = np.zeros((3 + ells, 2 + ells))
    lines[0, 0], lines[1, 1] = 1.0, 1.0
    lines[2] = rng.standard_normal(2 + ells)
    lines[2, 1] = 0.0
    if ells > 1:
        left = LINES
        for k, uniform in enumerate(rng.random(ells).tolist()):  # each has the same chance; at most LINES are chosen
            if uniform * (ells - k) < left:
                lines[3 + k, 2 + k] = 1.0
                left -= 1
    lines[:, :2][:, priors.variances[:, 0] == 0.0] = 0.0
    if priors.lengthscale[0] == 0.0:
        lines[:, 2:] = 0.0
    return lines


@jit()
def draw_scales(
    rng: Any,
    kernel: int,
    shape: float,
    groups: Any,
    grade: Any,
    r: Any,
    phi_now: Any,
    scales: Any,
    priors: Any,
    lines: Any,
) -> int:
    """σ², τ² and ℓ by slice sampling in θ = (log σ², log τ², log ℓ), the surfaces integrated out.

    The lines are from :func:`lines_of`: a line along log σ², a line along log τ², a line in a random direction of
    (log σ², log ℓ), which go together, and with several length-scales a line along each of at most eight of them. On
    each line an interval is thrown over the current point and shrunk until a point on the slice is found (Neal 2003),
    after four to five evaluations. There is no stepping out: with a fixed length the transition is reversible without
    it, and cheaper. Where rounding hides the slice (a log evidence of −1e20 swallows its level), the point stays.
    Returns the number of evaluations, or −1 if the evidence of the current point is not a number.

    grade, r : grades and residuals of the observations in the order of the groups
    phi_now, scales : φ and (σ², τ², ν), changed in place
    """
    x, starts, noise = groups.x, groups.starts, groups.noise
    d, ells = x.shape[1], priors.lengthscales
    theta, proposal, phi, cells = np.empty(2 + ells), np.empty(2 + ells), phi_now.copy(), 0
    for g in range(starts.size - 1):
        cells += (starts[g + 1] - starts[g]) ** 2
    for k in range(2):
        theta[k] = math.log(scales[k])
    for k in range(ells):
        theta[2 + k] = -0.5 * math.log(2.0 * phi[k])
    rho, trial = np.empty(cells), np.empty(cells)
    fill_blocks(kernel, x, grade, starts, phi, rho)
    value = scales_log_prior(theta, priors)
    value += blocks_log_evidence(rho, r, noise, starts, math.exp(theta[0]), math.exp(theta[1]), shape)
    if math.isnan(value):
        return -1
    evaluations = 1
    for line in range(lines.shape[0]):
        step = lines[line]
        smooth, rough = False, False
        for k in range(step.size):
            smooth = smooth or (k < 2 and step[k] != 0.0)
            rough = rough or (k >= 2 and step[k] != 0.0)
        if not (smooth or rough):
            continue
        level = value - rng.standard_exponential()
        left = -WIDTH * rng.random()
        right = left + WIDTH
        for _ in range(MOST_TRIES):
            if not right - left > LEAST_WIDTH:
                break
            t = left + (right - left) * rng.random()
            for k in range(theta.size):
                proposal[k] = theta[k] + t * step[k]
            at = scales_log_prior(proposal, priors)
            if at > -np.inf:
                if rough:
                    for k in range(d):
                        phi[k] = 0.5 * math.exp(-2.0 * proposal[2 + k if k < ells else 1 + ells])
                    fill_blocks(kernel, x, grade, starts, phi, trial)
                sigma2, tau2 = math.exp(proposal[0]), math.exp(proposal[1])
                at += blocks_log_evidence(trial if rough else rho, r, noise, starts, sigma2, tau2, shape)
                evaluations += 1
            if at > level:
                value = at
                for k in range(theta.size):
                    theta[k] = proposal[k]
                    if k < 2 and step[k] != 0.0:
                        scales[k] = math.exp(theta[k])
                if rough:
                    rho, trial = trial, rho
                    for k in range(d):
                        phi_now[k] = phi[k]
                break
            if t < 0.0:
                left = t
            else:
                right = t
    return evaluations


@jit()
def step_log_prior(phi: Any, priors: Any, step: int) -> float:
    """Log prior of the length-scales divided by ROUGHER to the power `step`, less that of the length-scales."""
    change = 0.0
    for k in range(priors.lengthscales):
        log_ell = -0.5 * math.log(2.0 * phi[k])
        change += lengthscale_log_prior(log_ell - step * math.log(ROUGHER), priors.lengthscale)
        change -= lengthscale_log_prior(log_ell, priors.lengthscale)
    return change


def redraw_grades(
    setting: Setting, chain: MutableState, groups: Groups, step: int, change: float, threshold: float, uniforms: Any
) -> bool:
    """A step of the shared length-scales with the grades summed out, then the grade of each surface.

    The step divides all shared length-scales by ROUGHER to the power `step`, which is drawn from a law that is
    symmetric about zero, or is 0; in log ℓ it is a translation. With the grades summed out, a surface can keep its own
    length-scales by changing its grade, or keep its grade and change its length-scales. Moves of grades alone, or of
    length-scales alone, do not connect such modes of the posterior. The evidence of a flat surface does not change
    with the step. Returns whether the step was accepted.

    change : from :func:`step_log_prior`
    threshold, uniforms : random numbers, for the decision (negative exponential) and for the grade of each surface
    """
    grades = setting.grades.size
    rough, first, order, starts = min(grades, FLAT), min(step, 0), groups.order, groups.starts
    levels, sizes = rough + abs(step), np.diff(starts)
    r, most = residual(groups.y, groups.h, chain.beta), setting.most if grades > FLAT else 0
    log_p = levels_log_evidence(setting.kernel, setting.shape, groups, r, chain.phi, chain.scales, first, levels, most)
    log_p[sizes > most, levels] = -np.inf
    flat, log_prior = log_p[:, levels : levels + grades - rough], np.log(setting.grades)
    here, there = (
        log_prior + np.concatenate((log_p[:, shift - first : shift - first + rough], flat), axis=1)
        for shift in (0, step)
    )
    for before, after in zip(here, there, strict=True):
        change += log_total(after) - log_total(before)
    accepted = step != 0 and threshold < change
    if accepted:
        here = there
        chain.phi[:] *= ROUGHER ** (2.0 * step)
    present = chain.grade[order[starts[:-1]]].tolist()
    chosen = [pick(row, grades, u, g) for row, u, g in zip(here, uniforms.tolist(), present, strict=True)]
    chain.grade[order] = np.repeat(chosen, sizes)
    return accepted


@jit()
def levels_log_evidence(
    kernel: int, shape: float, groups: Any, r: Any, phi: Any, scales: Any, first: int, count: int, most: int
) -> Any:
    """Log evidence of each surface with the shared length-scales divided by ROUGHER to the power `first`, first + 1, …

    Shape (surfaces, count + 1), where the last column is for flat surfaces, which have at most `most` observations. 0
    for a surface of one observation, whose evidence does not depend on the grade, less what all grades have in common.
    """
    x, noise, starts = groups.x, groups.noise, groups.starts
    out = np.zeros((starts.size - 1, count + 1))
    for group in range(starts.size - 1):
        lo, m = starts[group], starts[group + 1] - starts[group]
        if m == 1:
            continue
        cov, factor, u = np.empty((m, m)), np.empty((m, m)), np.empty(m)
        for level in range(count + (m <= most)):
            rougher = ROUGHER ** (first + level) if level < count else 0.0
            fill_lower(kernel, rougher, x[lo : lo + m], phi, scales[0], cov)
            log_det = factorise(cov, 1.0, scales[1], noise[lo : lo + m], factor)
            out[group, level] = log_evidence(m, forward(factor, r[lo : lo + m], u), log_det, shape)
    return out
