"""Robust GP regression by relevance pursuit (Ament et al. 2024), as BoTorch has it, with noisy expected improvement."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from infgp.bench.methods.gaussian import GaussianRun, load, noisy_improvement
from infgp.bench.methods.history import FloatArray

#: Number of rewards from one fit to the next; a fit takes seconds to a minute.
EVERY = 10
#: Largest number of iterations of each optimisation of a fit. BoTorch lets an optimisation go on as long as anything
#: improves, for about twice the time. Four cases were looked at. The outliers were the same in all four, and the mean
#: in three; in the fourth, the portfolio, where the mean is nearly constant, the two means had a correlation of 0.91.
ITERATIONS = 400
#: Share of the rewards expected to be outliers, as BoTorch has it; at least one reward is.
OUTLIERS = 0.2


@dataclass(frozen=True, eq=False)
class Pursued:
    """What is kept between fits: the model's functions, the noise, that of each reward, and the rewards' unit."""

    mean: Any
    covariance: Any
    noise: float
    noises: FloatArray
    location: float
    scale: float


def pursue(x: FloatArray, y: FloatArray, iterations: int | None = ITERATIONS) -> Pursued:
    """Fit by relevance pursuit: hyperparameters, and which rewards are outliers with a noise variance of their own.

    `iterations` None: each of the fit's optimisations goes on as long as anything improves, as BoTorch has it.
    """
    torch, models = load("torch"), load("botorch.models.robust_relevance_pursuit_model")
    location, scale = float(np.mean(y)), float(np.std(y)) or 1.0
    inputs, rewards = torch.as_tensor(x), torch.as_tensor((y - location) / scale)[:, None]
    expected = max(1.0, OUTLIERS * y.size)
    model = models.RobustRelevancePursuitSingleTaskGP(
        inputs, rewards, outcome_transform=None, prior_mean_of_support=expected
    )
    likelihood = load("gpytorch.mlls").ExactMarginalLogLikelihood(model.likelihood, model)
    load("botorch.fit").fit_gpytorch_mll(
        likelihood, optimizer_kwargs={} if iterations is None else {"options": {"maxiter": iterations}}
    )
    with torch.no_grad():
        model.train()
        latent = model(*model.train_inputs)
        noises = (model.likelihood(latent, model.train_inputs).variance - latent.variance).numpy()
        noise = float(model.likelihood.noise_covar.base_noise.noise)
    return Pursued(model.mean_module, model.covar_module, noise, noises, location, scale)


def conditioned(pursued: Pursued, x: FloatArray, y: FloatArray) -> Any:
    """The model, of standardised rewards, given all rewards; no reward that came after the fit is an outlier."""
    torch = load("torch")
    noises = np.concatenate((pursued.noises, np.full(y.size - pursued.noises.size, pursued.noise)))
    model = load("botorch.models").SingleTaskGP(
        torch.as_tensor(x),
        torch.as_tensor((y - pursued.location) / pursued.scale)[:, None],
        torch.as_tensor(noises)[:, None],
        mean_module=pursued.mean,
        covar_module=pursued.covariance,
        outcome_transform=None,
    )
    return model.requires_grad_(False).eval()


def predict(pursued: Pursued, x: FloatArray, y: FloatArray, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance, shape (m,), of a further reward that is no outlier at points of shape (m, d)."""
    torch = load("torch")
    with torch.no_grad():
        latent = conditioned(pursued, x, y).posterior(torch.as_tensor(at))
    mean, variance = (part.squeeze(-1).numpy() for part in (latent.mean, latent.variance))
    return pursued.location + pursued.scale * mean, pursued.scale**2 * (variance + pursued.noise)


class PursuitRun(GaussianRun):
    """Relevance pursuit anew at every tenth reward.

    Between fits hyperparameters and outliers stay, and new rewards are conditioned on as no outliers.
    """

    def __init__(self, d: int, seed: int) -> None:
        super().__init__(d, seed, noisy_improvement)
        self.pursued: Pursued | None = None

    def fit(self) -> Any:
        """The model for the rewards told so far."""
        x, y = self.inputs, self.rewards
        if self.pursued is None or y.size // EVERY > self.pursued.noises.size // EVERY:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.pursued = pursue(x, y)
        return conditioned(self.pursued, x, y)
