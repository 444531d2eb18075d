"""Which kernel the surfaces have, given the labels: how smooth the landscape is.

A squared exponential surface is known between two points as soon as it is known around them. Where the landscape has a
kink or a narrow tip, rewards near it are then held to be outliers, and a search is sure of what it has not seen. Where
noise is small, rewards tell which kernel it is.

A Metropolis–Hastings step proposes another kernel, each as likely. A rougher kernel explains the same rewards with
longer length-scales and a larger σ², so both move along: with c the entries of `LONGER` and ε ~ N(0, STEP²),

    log ℓ'_k = log ℓ_k + c(new) − c(old) + ε for all inputs k,

and log σ² likewise with `LARGER` and an ε of its own. The way back needs −ε, which is as likely, and in (log ℓ, log σ²)
both ways are shifts, so that the step is accepted by the ratio of the densities in these coordinates. A parameter that
is fixed stays.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from infgp.core.kernels import KERNELS, LEARNED, log_ell_from_phi
from infgp.core.linalg import FloatArray
from infgp.core.model import Data, Model
from infgp.core.priors import Fixed
from infgp.core.state import State
from infgp.sample import compiled
from infgp.sample.moves import Deeds
from infgp.sample.moves.collapsed import prior_numbers

#: By how much longer the length-scales of each kernel are than those of the smoothest, in units of log ℓ.
LONGER = (0.0, 0.4, 0.8)
#: By how much larger the variance of each kernel is than that of the smoothest, in units of log σ².
LARGER = (0.0, 0.4, 0.8)
#: Standard deviation of what is added to both.
STEP = 0.3


def draw_kernel(rng: np.random.Generator, state: State, data: Data, model: Model) -> tuple[State, Deeds]:
    """Another kernel, with length-scales and a variance that go with it, or the state as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import prior_draw
    >>> from infgp.core.priors import Priors
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 12)[:, None]
    >>> model = Model("learned", Priors().resolve(1), ard=False)
    >>> draw_kernel(rng, prior_draw(rng, x, model), Data(x, x[:, 0]), model)[1]["change of the kernel"][0]
    1
    """
    if model.kernel != LEARNED:
        return state, {}
    p, old = model.priors, state.kernel
    new = (old + 1 + int(rng.integers(len(KERNELS) - 1))) % len(KERNELS)
    (longer, larger), threshold = STEP * rng.standard_normal(2), math.log(1.0 - rng.random())
    proposed = replace(state, kernel=new)
    if not isinstance(p.lengthscale, Fixed):
        proposed = replace(proposed, phi=state.phi * math.exp(-2.0 * (longer + LONGER[new] - LONGER[old])))
    if not isinstance(p.sigma2, Fixed):
        proposed = replace(proposed, sigma2=state.sigma2 * math.exp(larger + LARGER[new] - LARGER[old]))
    data, priors = data.seen(state, model), prior_numbers(model, data)
    groups = compiled.grouped(state.labels, data.x, data.h, data.y, data.noise)
    there, here = (_log_density(one, groups, priors, model) for one in (proposed, state))
    accepted = threshold < there - here  # not where a density is not a number
    return proposed if accepted else state, {"change of the kernel": (1, int(accepted))}


def _log_density(state: State, groups: compiled.Groups, priors: compiled.PriorNumbers, model: Model) -> float:
    """Log density of rewards, kernel, length-scales and variances, in log ℓ, log σ² and log τ², up to a constant."""
    sigma2, tau2, phi = float(state.sigma2[0]), float(state.tau2[0]), state.phi[0]
    log_ell = log_ell_from_phi(phi[: priors.lengthscales])
    theta: FloatArray = np.concatenate(((math.log(sigma2), math.log(tau2)), log_ell))
    own = float(compiled.scales_log_prior(theta, priors)) + math.log(model.kernel_chances[state.kernel])
    if own == -math.inf:
        return own
    sizes, grade = np.diff(groups.starts), state.observed_grades[groups.order]
    rho, r = np.empty(int(sizes @ sizes)), compiled.residual(groups.y, groups.h, state.beta)
    compiled.fill_blocks(state.kernel, groups.x, grade, groups.starts, phi, rho)
    evidence = compiled.blocks_log_evidence(rho, r, groups.noise, groups.starts, sigma2, tau2, model.scale_shape)
    return float(own + evidence)
