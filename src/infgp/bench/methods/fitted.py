"""Bayesian optimization with one Gaussian process as BoTorch fits it by default, and (noisy) log expected improvement.

The configuration that a user of BoTorch meets first: a SingleTaskGP with its default priors, on standardised rewards,
with the hyperparameters of the highest posterior density. (The paper's baselines, in :mod:`gaussian`, sample them.)
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from infgp.bench.methods.gaussian import GaussianRun, expected_improvement, load, noisy_improvement
from infgp.bench.methods.history import FloatArray

#: Number of points among which the starts of the acquisition's maximiser are chosen.
RAW = 128
#: Distance from the quartiles at which rewards are clipped, in interquartile ranges: Tukey's fences.
FENCE = 1.5
#: Variance of the logarithm of the warping's parameters under their prior, which is centred on no warping.
WARP_VARIANCE = 0.75


def fit_gp(x: FloatArray, y: FloatArray, warped: bool = False) -> Any:
    """A SingleTaskGP fitted to rewards y, shape (n,), at x, shape (n, d).

    Warped: inputs go through Kumaraswamy distribution functions (Snoek et al. 2014) whose parameters are fitted, too.
    """
    torch, d = load("torch"), x.shape[1]
    warp = None
    if warped:
        normal = load("gpytorch.priors").LogNormalPrior
        prior = {f"concentration{k}_prior": normal(0.0, WARP_VARIANCE**0.5) for k in (0, 1)}
        warp = load("botorch.models.transforms.input").Warp(d=d, indices=list(range(d)), **prior)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its optimisers, and about rewards that are all the same
        model = load("botorch.models").SingleTaskGP(
            torch.as_tensor(x),
            torch.as_tensor(y)[:, None],
            outcome_transform=load("botorch.models.transforms").Standardize(m=1),
            input_transform=warp,
        )
        likelihood = load("gpytorch.mlls").ExactMarginalLogLikelihood(model.likelihood, model)
        load("botorch.fit").fit_gpytorch_mll(likelihood)
    return model.requires_grad_(False).eval()


def predict(model: Any, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance, shape (m,), of a further reward at points of shape (m, d)."""
    torch = load("torch")
    with torch.no_grad():
        posterior = model.posterior(torch.as_tensor(at), observation_noise=True)
    mean, variance = (np.asarray(part.squeeze(-1).numpy()) for part in (posterior.mean, posterior.variance))
    return mean, variance


def warp_inputs(model: Any, at: FloatArray) -> FloatArray:
    """Points as the warping of a fitted model moves them."""
    torch = load("torch")
    with torch.no_grad():
        return np.asarray(model.input_transform(torch.as_tensor(at)).numpy())


class FittedRun(GaussianRun):
    """A run with the GP fitted anew at each step.

    Parameters
    ----------
    d, seed : int
    winsorised : bool
        Whether rewards are clipped, anew at each step, to Tukey's fences.
    warped : bool
        Whether inputs are warped.
    noisy : bool
        Whether the improvement is over the unknown values at the data and not over their best posterior mean.
    """

    def __init__(self, d: int, seed: int, winsorised: bool = False, warped: bool = False, noisy: bool = False) -> None:
        acquire = noisy_improvement if noisy else expected_improvement
        super().__init__(d, seed, partial(acquire, raw=RAW), warped)
        self.winsorised = winsorised

    def values(self) -> FloatArray:
        """What the model is fitted to, shape (n,)."""
        y = self.rewards
        if not self.winsorised:
            return y
        low, high = np.percentile(y, (25.0, 75.0))
        reach = FENCE * (high - low)
        return np.asarray(np.clip(y, low - reach, high + reach))

    def fit(self) -> Any:
        """The model for the rewards told so far."""
        return fit_gp(self.inputs, self.values(), self.warped)
