"""What the collapsed moves share: states as compiled code takes them, and variances that double precision can bear."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from infgp.core.kernels import KERNELS
from infgp.core.linalg import FloatArray
from infgp.core.model import Data, Model, by_label
from infgp.core.priors import Fixed, InverseGamma, LengthscalePrior, LogNormal, Normal, UniformPhi
from infgp.core.state import State, most_flat
from infgp.errors import InvalidInputError
from infgp.sample import compiled

#: Number by which compiled code knows each kernel.
KERNEL_CODE = {name: code for code, name in enumerate(KERNELS)}
#: Largest n σ² / τ², a ratio of variances. States beyond it have no prior mass: their covariances would be singular in
#: double precision.
CONDITION_LIMIT = 1e12


def changed(
    change: Callable[[compiled.Setting, compiled.MutableState], object], state: State, data: Data, model: Model
) -> State:
    """The state that `change` makes, in place, of a compiled copy of `state`. Labels are canonical."""
    data = data.seen(state, model)
    chain = compiled.MutableState(
        state.labels.copy(),
        state.beta.copy(),
        state.phi[0].copy(),
        np.array([state.sigma2[0], state.tau2[0], state.nu]),
        state.observed_grades,
    )
    setting = compiled.Setting(
        kernel=KERNEL_CODE[model.kernel_of(state)],
        x=data.x,
        h=data.h,
        y=data.y,
        noise=data.noise,
        shape=model.scale_shape,
        local=model.local,
        places=data.places,
        odds=data.seating.odds(state.odds),
        grades=np.array(model.grades),
        most=most_flat(data.y.size),
    )
    change(setting, chain)
    sigma2, tau2, nu = chain.scales
    return State(
        labels=chain.labels,
        beta=chain.beta,
        nu=float(nu),
        phi=chain.phi[None, :],
        sigma2=np.array([sigma2]),
        tau2=np.array([tau2]),
        grade=by_label(model, chain.labels, chain.grade),
        odds=state.odds,
        warp=state.warp,
        kernel=state.kernel,
    )


def prior_numbers(model: Model, data: Data) -> compiled.PriorNumbers:
    """The priors as compiled code takes them."""
    p, (n, d) = model.priors, data.x.shape
    mean, weight = np.empty(0), np.empty(0)
    if isinstance(p.beta, Normal):
        mean = np.array(np.broadcast_to(p.beta.mean, (d + 1,)), dtype=np.float64)
        weight = 1.0 / np.square(np.broadcast_to(p.beta.sd, (d + 1,)))
    return compiled.PriorNumbers(
        variances=np.array([_inverse_gamma(p.sigma2), _inverse_gamma(p.tau2)]),
        lengthscale=_lengthscale(p.lengthscale),
        lengthscales=d if model.ard else 1,
        trend_mean=mean,
        trend_weight=weight,
        largest_ratio=CONDITION_LIMIT / n,
    )


def _inverse_gamma(prior: InverseGamma | Fixed) -> tuple[float, float]:
    return (0.0, 0.0) if isinstance(prior, Fixed) else (prior.shape, prior.scale)


def _lengthscale(prior: LengthscalePrior) -> FloatArray:
    if isinstance(prior, LogNormal) and prior.loc is not None:
        return np.array([1.0, prior.loc, prior.scale, math.log(prior.lower)])
    if isinstance(prior, UniformPhi) and prior.upper is not None:
        return np.array([2.0, prior.upper])
    if isinstance(prior, Fixed):
        return np.zeros(1)
    raise InvalidInputError(f"The collapsed sampler takes LogNormal, UniformPhi or Fixed length-scales, not {prior!r}.")


def inside_limit(state: State, n: int, model: Model) -> State:
    """The state, moved inside the condition limit where a free variance allows it (a chain must start there)."""
    sigma2, tau2 = float(state.sigma2[0]), float(state.tau2[0])
    if n * sigma2 <= CONDITION_LIMIT * tau2 and tau2 > 0.0:
        return state
    if not isinstance(model.priors.tau2, Fixed):
        return replace(state, tau2=np.array([10.0 * n * sigma2 / CONDITION_LIMIT]))
    if not isinstance(model.priors.sigma2, Fixed):
        return replace(state, sigma2=np.array([0.1 * CONDITION_LIMIT * tau2 / n]))
    raise InvalidInputError(
        f"Fixed scales sigma2={sigma2!r} and tau2={tau2!r} make the covariance of {n} observations singular in double "
        f"precision: n sigma2 / tau2 must not exceed {CONDITION_LIMIT:g}. Fix tau2 at a larger value."
    )
