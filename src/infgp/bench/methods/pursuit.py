"""Robust GP regression by relevance pursuit (Ament et al. 2024), as BoTorch has it, with noisy expected improvement."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from infgp.bench.methods.gaussian import GaussianRun, load, maximiser
from infgp.bench.methods.history import FloatArray

#: Rewards for each new fit, which takes seconds to a minute.
EVERY = 10
#: Iterations of each of a fit's optimisations at most. BoTorch lets them go on as long as anything improves, for about
#: twice the time. In four cases looked at the outliers were the same, and so was the mean in three; in the fourth, the
#: portfolio, where it is nearly constant, it had a correlation of 0.91.
ITERATIONS = 400
#: Share of the rewards expected to be outliers, as BoTorch has it, but at least one of them.
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


def pursue(x: FloatArray, y: FloatArray) -> Pursued:
    """Fit by relevance pursuit: hyperparameters, and which rewards are outliers with a noise variance of their own."""
    torch, models = load("torch"), load("botorch.models.robust_relevance_pursuit_model")
    location, scale = float(np.mean(y)), float(np.std(y)) or 1.0
    inputs, rewards = torch.as_tensor(x), torch.as_tensor((y - location) / scale)[:, None]
    expected = max(1.0, OUTLIERS * y.size)
    model = models.RobustRelevancePursuitSingleTaskGP(
        inputs, rewards, outcome_transform=None, prior_mean_of_support=expected
    )
    likelihood = load("gpytorch.mlls").ExactMarginalLogLikelihood(model.likelihood, model)
    load("botorch.fit").fit_gpytorch_mll(likelihood, optimizer_kwargs={"options": {"maxiter": ITERATIONS}})
    with torch.no_grad():
        model.train()
        latent = model(*model.train_inputs)
        noises = (model.likelihood(latent, model.train_inputs).variance - latent.variance).numpy()
        noise = float(model.likelihood.noise_covar.base_noise.noise)
    return Pursued(model.mean_module, model.covar_module, noise, noises, location, scale)


class PursuitRun(GaussianRun):
    """Relevance pursuit anew at every tenth reward.

    Between fits hyperparameters and outliers stay, and new rewards are conditioned on as no outliers.
    """

    def __init__(self, d: int, seed: int) -> None:
        super().__init__(d, seed, noisy_improvement)
        self.pursued: Pursued | None = None

    def fit(self) -> Any:
        """The model for the rewards told so far."""
        torch = load("torch")
        x, y = self.inputs, self.rewards
        if self.pursued is None or y.size // EVERY > self.pursued.noises.size // EVERY:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.pursued = pursue(x, y)
        p = self.pursued
        noises = np.concatenate((p.noises, np.full(y.size - p.noises.size, p.noise)))
        model = load("botorch.models").SingleTaskGP(
            torch.as_tensor(x),
            torch.as_tensor((y - p.location) / p.scale)[:, None],
            torch.as_tensor(noises)[:, None],
            mean_module=p.mean,
            covar_module=p.covariance,
            outcome_transform=None,
        )
        return model.requires_grad_(False).eval()


def noisy_improvement(model: Any, x: Any, bounds: Any) -> Any:
    """Maximiser of qLogNEI."""
    improvement = load("botorch.acquisition").qLogNoisyExpectedImprovement
    return maximiser(improvement(model, X_baseline=x, prune_baseline=True), bounds)
