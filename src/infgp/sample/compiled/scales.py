"""Slice sampling of variances and length-scales; grades of the surfaces."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from infgp.core.jit import jit
from infgp.core.model import FLAT, ROUGHER
from infgp.sample.compiled.chain import cells, entries, group_order, residual, rows
from infgp.sample.compiled.densities import (
    blocks_log_evidence,
    factorise,
    fill_blocks,
    fill_graded,
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


@jit()
def lines_of(rng: Any, priors: Any) -> Any:
    """Directions for :func:`draw_scales`, zero along what is fixed; shape (lines, parameters)."""
    ells = priors.lengthscales
    size = 2 + ells
    lines = np.zeros((3 + ells, size))
    lines[0, 0], lines[1, 1] = 1.0, 1.0
    for k in range(size):
        lines[2, k] = rng.standard_normal()
    lines[2, 1] = 0.0
    if ells > 1:
        left = LINES
        for k in range(ells):  # each length-scale has the same chance; at most LINES are chosen
            if rng.random() * (ells - k) < left:
                lines[3 + k, 2 + k] = 1.0
                left -= 1
    for k in range(size):
        if (priors.variances[k, 0] if k < 2 else priors.lengthscale[0]) == 0.0:
            for line in range(lines.shape[0]):
                lines[line, k] = 0.0
    return lines


@jit()
def draw_scales(rng: Any, setting: Any, chain: Any, priors: Any) -> int:
    """σ², τ² and ℓ by slice sampling in θ = (log σ², log τ², log ℓ), the surfaces integrated out.

    There is a line along log σ², a line along log τ², a line in a random direction of (log σ², log ℓ), which go
    together, and with several length-scales a line along each of at most eight of them. On each line an interval is
    thrown over the current point and shrunk until a point on the slice is found (Neal 2003), after four to five
    evaluations. There is no stepping out: with a fixed length the transition is reversible without it, and cheaper.
    Where rounding hides the slice (a log evidence of −1e20 swallows its level), the point stays. Returns the number of
    evaluations, or −1 if the evidence of the current point is not a number.
    """
    order, starts = group_order(chain.labels)
    x, noise, grade = rows(setting.x, order), entries(setting.noise, order), entries(chain.grade, order)
    r = entries(residual(setting, chain), order)
    d, ells = x.shape[1], priors.lengthscales
    theta, proposal, phi = np.empty(2 + ells), np.empty(2 + ells), chain.phi.copy()
    for k in range(2):
        theta[k] = math.log(chain.scales[k])
    for k in range(ells):
        theta[2 + k] = -0.5 * math.log(2.0 * phi[k])
    rho, trial = np.empty(cells(starts)), np.empty(cells(starts))
    fill_blocks(setting.kernel, x, grade, starts, phi, rho)
    value = scales_log_prior(theta, priors)
    value += blocks_log_evidence(rho, r, noise, starts, math.exp(theta[0]), math.exp(theta[1]), setting.shape)
    if math.isnan(value):
        return -1
    evaluations = 1
    lines = lines_of(rng, priors)
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
                        phi[k] = 0.5 * math.exp(-2.0 * proposal[2 + min(k, ells - 1)])
                    fill_blocks(setting.kernel, x, grade, starts, phi, trial)
                sigma2, tau2 = math.exp(proposal[0]), math.exp(proposal[1])
                at += blocks_log_evidence(trial if rough else rho, r, noise, starts, sigma2, tau2, setting.shape)
                evaluations += 1
            if at > level:
                value = at
                for k in range(theta.size):
                    theta[k] = proposal[k]
                    if k < 2 and step[k] != 0.0:
                        chain.scales[k] = math.exp(theta[k])
                if rough:
                    rho, trial = trial, rho
                    for k in range(d):
                        chain.phi[k] = phi[k]
                break
            if t < 0.0:
                left = t
            else:
                right = t
    return evaluations


@jit()
def redraw_grades(rng: Any, setting: Any, chain: Any, priors: Any) -> tuple[int, int]:
    """A step of the shared length-scales with the grades summed out, then the grade of each surface.

    The step divides all shared length-scales by a power of ROUGHER, whose exponent is drawn from a law that is
    symmetric about zero; in log ℓ it is a translation. With the grades summed out, a surface can keep its own
    length-scales by changing its grade, or keep its grade and change its length-scales. Moves of grades alone, or of
    length-scales alone, do not connect these modes of the posterior. The evidence of a flat surface does not change
    with the step. Returns how often a step was tried, and how often it was accepted: once or not at all.
    """
    grades = setting.grades.size
    if grades == 1:
        return 0, 0
    rough = min(grades, FLAT)
    step, change = int(rng.random() * (rough - 1)) + 1, 0.0
    if rng.random() < 0.5:
        step = -step
    for k in range(priors.lengthscales):
        log_ell = -0.5 * math.log(2.0 * chain.phi[k])
        change += lengthscale_log_prior(log_ell - step * math.log(ROUGHER), priors.lengthscale)
        change -= lengthscale_log_prior(log_ell, priors.lengthscale)
    if priors.lengthscale[0] == 0.0 or not change > -np.inf:
        step, change = 0, 0.0
    order, starts = group_order(chain.labels)
    groups, first = starts.size - 1, min(step, 0)
    levels = rough + abs(step)
    log_p = levels_log_evidence(setting, chain, order, starts, first, levels)
    here, there = np.empty((groups, grades)), np.empty((groups, grades))
    for group in range(groups):
        crowded = starts[group + 1] - starts[group] > setting.most
        for g in range(grades):
            log_prior = -np.inf if g == FLAT and crowded else math.log(setting.grades[g])
            here[group, g] = log_prior + log_p[group, g - first if g < rough else levels]
            there[group, g] = log_prior + log_p[group, g + step - first if g < rough else levels]
        change += log_total(there[group]) - log_total(here[group])
    accepted = 0
    if step != 0 and -rng.standard_exponential() < change:
        here, accepted = there, 1
        for k in range(chain.phi.size):
            chain.phi[k] *= ROUGHER ** (2.0 * step)
    for group in range(groups):
        chosen = pick(here[group], grades, rng.random(), chain.grade[order[starts[group]]])
        for a in range(starts[group], starts[group + 1]):
            chain.grade[order[a]] = chosen
    return int(step != 0), accepted


@jit()
def levels_log_evidence(setting: Any, chain: Any, order: Any, starts: Any, first: int, count: int) -> Any:
    """Log evidence of each surface with the shared length-scales divided by ROUGHER to the power `first`, first + 1, …

    Shape (surfaces, count + 1), where the last column is for flat surfaces, if there may be any. 0 for a surface of one
    observation, whose evidence does not depend on the grade, less what all grades have in common.
    """
    x, noise = rows(setting.x, order), entries(setting.noise, order)
    r = entries(residual(setting, chain), order)
    columns = count + (setting.grades.size > FLAT)
    out = np.zeros((starts.size - 1, count + 1))
    for group in range(starts.size - 1):
        lo, m = starts[group], starts[group + 1] - starts[group]
        if m == 1:
            continue
        cov, factor, u = np.empty((m, m)), np.empty((m, m)), np.empty(m)
        for level in range(columns):
            own = x[lo : lo + m]
            if level < count:
                fill_lower(setting.kernel, ROUGHER ** (first + level) * own, chain.phi, chain.scales[0], cov)
            else:
                fill_graded(setting.kernel, FLAT, own, chain.phi, chain.scales[0], cov)
            log_det = factorise(cov, 1.0, chain.scales[1], noise[lo : lo + m], factor)
            out[group, level] = log_evidence(m, forward(factor, r[lo : lo + m], u), log_det, setting.shape)
    return out
