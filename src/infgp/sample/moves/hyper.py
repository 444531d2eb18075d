"""Hyperparameters given the labels, with the surfaces integrated out: odds, β, ν, grades, σ², τ² and ℓ."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from infgp.core.model import Data, Model
from infgp.core.priors import Fixed
from infgp.core.state import FLAT, State
from infgp.errors import NumericalError
from infgp.sample import compiled
from infgp.sample.moves.collapsed import changed, prior_numbers


def draw_nu(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """ν given the number of surfaces, with the auxiliary variable η ~ Beta(ν + 1, n) of Escobar and West (1995)."""
    prior = model.priors.nu
    if isinstance(prior, Fixed):
        return state
    n, k = state.labels.size, state.n_surfaces
    rate = prior.rate - math.log(rng.beta(state.nu + 1.0, n))
    odds = (prior.shape + k - 1.0) / (n * rate)
    shape = prior.shape + k - (0.0 if rng.random() * (1.0 + odds) < odds else 1.0)
    return replace(state, nu=float(rng.standard_gamma(shape) / rate))


def draw_odds(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """The kind of the odds given the labels, from all kinds at once."""
    if len(model.odds) == 1:
        return state
    return replace(state, odds=int(rng.choice(len(model.odds), p=data.seating.kinds(state.labels, model.odds))))


def draw_beta(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """β given labels, variances and length-scales; see :func:`infgp.sample.compiled.draw_trend`."""
    return _grouped(regress_trend, rng, state, data, model)


def draw_grades(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """Grades of the surfaces; see :func:`infgp.sample.compiled.redraw_grades`."""
    return _grouped(step_grades, rng, state, data, model)


def draw_scales(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """σ², τ² and ℓ by slices; see :func:`infgp.sample.compiled.draw_scales`."""
    return _grouped(slice_scales, rng, state, data, model)


def _grouped(move: Callable[..., object], rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """The state after one of the three functions below."""
    priors = prior_numbers(model, data)
    return changed(
        lambda setting, chain: move(rng, setting, chain, priors, compiled.groups_of(setting, chain)), state, data, model
    )


def regress_trend(
    rng: np.random.Generator,
    setting: compiled.Setting,
    chain: compiled.MutableState,
    priors: compiled.PriorNumbers,
    groups: compiled.Groups,
) -> None:
    """The compiled move, with its random numbers."""
    p, gammas = priors.trend_weight.size, np.empty(0)
    if p == 0:
        return
    if setting.shape > 0.0:
        gammas = rng.standard_gamma(setting.shape + 0.5 * np.diff(groups.starts))
    grade, normals = chain.grade[groups.order], rng.standard_normal(p)
    compiled.draw_trend(
        setting.kernel, setting.shape, groups, grade, chain.beta, chain.phi, chain.scales, priors, gammas, normals
    )


def step_grades(
    rng: np.random.Generator,
    setting: compiled.Setting,
    chain: compiled.MutableState,
    priors: compiled.PriorNumbers,
    groups: compiled.Groups,
) -> tuple[int, int]:
    """The move, with its random numbers; how often a step was tried, and how often it was accepted."""
    if setting.grades.size == 1:
        return 0, 0
    step, change = int(rng.random() * (min(setting.grades.size, FLAT) - 1)) + 1, 0.0
    if rng.random() < 0.5:
        step = -step
    if priors.lengthscale[0] > 0.0:
        change = compiled.step_log_prior(chain.phi, priors, step)
    if priors.lengthscale[0] == 0.0 or not change > -np.inf:
        step, change = 0, 0.0
    threshold = -rng.standard_exponential() if step else 0.0
    uniforms = rng.random(groups.starts.size - 1)
    return int(step != 0), int(compiled.redraw_grades(setting, chain, groups, step, change, threshold, uniforms))


def slice_scales(
    rng: np.random.Generator,
    setting: compiled.Setting,
    chain: compiled.MutableState,
    priors: compiled.PriorNumbers,
    groups: compiled.Groups,
) -> None:
    """The compiled move, with an error where the evidence is not a number."""
    grade, r = chain.grade[groups.order], compiled.residual(groups.y, groups.h, chain.beta)
    lines = compiled.lines_of(rng, priors)
    if (
        compiled.draw_scales(
            rng, setting.kernel, setting.shape, groups, grade, r, chain.phi, chain.scales, priors, lines
        )
        < 0
    ):
        sigma2, tau2, nu = (float(scale) for scale in chain.scales)
        raise NumericalError(
            "The evidence of the surfaces is not a number", sigma2=sigma2, tau2=tau2, nu=nu, n=int(setting.y.size)
        )
