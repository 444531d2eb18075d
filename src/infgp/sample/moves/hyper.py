"""Hyperparameters given the labels, with the surfaces integrated out: odds, β, ν, grades, σ², τ² and ℓ."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from infgp.core.model import Data, Model, State
from infgp.core.priors import Fixed
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
    priors = prior_numbers(model, data)
    return changed(lambda setting, chain: compiled.draw_trend(rng, setting, chain, priors), state, data, model)


def draw_grades(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """Grades of the surfaces; see :func:`infgp.sample.compiled.redraw_grades`."""
    priors = prior_numbers(model, data)
    return changed(lambda setting, chain: compiled.redraw_grades(rng, setting, chain, priors), state, data, model)


def draw_scales(rng: np.random.Generator, state: State, data: Data, model: Model) -> State:
    """σ², τ² and ℓ by slices; see :func:`infgp.sample.compiled.draw_scales`."""
    priors = prior_numbers(model, data)
    return changed(lambda setting, chain: slice_scales(rng, setting, chain, priors), state, data, model)


def slice_scales(
    rng: np.random.Generator, setting: compiled.Setting, chain: compiled.MutableState, priors: compiled.PriorNumbers
) -> None:
    """The compiled move, with an error where the evidence is not a number."""
    if compiled.draw_scales(rng, setting, chain, priors) < 0:
        sigma2, tau2, nu = (float(scale) for scale in chain.scales)
        raise NumericalError(
            "The evidence of the surfaces is not a number", sigma2=sigma2, tau2=tau2, nu=nu, n=int(setting.y.size)
        )
