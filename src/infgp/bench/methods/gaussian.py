"""Bayesian optimization with one Gaussian process on BoTorch, hyperparameters treated as in the paper's baselines.

At each step the hyperparameters are slice-sampled (:mod:`infgp.bench.methods.hyperparameters`), in 500 iterations and
from where the step before ended. Their average goes into one SingleTaskGP, and the acquisition is BoTorch's.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from infgp.bench.methods.history import FloatArray, History, standardise
from infgp.bench.methods.hyperparameters import Hyperparameters, estimate
from infgp.core.scaling import RewardScale
from infgp.errors import require

#: Number of slice-sampling iterations at each step: the paper's B.
ITERATIONS = 500
#: Number of starts of the maximiser of a Thompson draw.
PATH_STARTS = 10
#: Number of points among which the starts of the maximiser of a Thompson draw are chosen.
PATH_RAW = 1024
#: Number of starts of the maximiser of any other acquisition.
STARTS = 4
#: Number of points among which the starts of the maximiser of any other acquisition are chosen.
RAW = 256
#: Number of fantasies of the knowledge gradient.
FANTASIES = 8
#: Largest number of iterations of the maximiser of the knowledge gradient, which also moves the best point of each
#: fantasy.
KG_ITERATIONS = 100
#: δ of GP-UCB, a probability.
DELTA = 0.1
#: Factor by which β_n of GP-UCB is divided, as in the experiments of Srinivas et al. (2010).
REDUCED = 5.0

#: From a fitted model, its inputs (n, d) and the unit cube's bounds to the next point, shape (1, d): all tensors.
Acquire: TypeAlias = Callable[[Any, Any, Any], Any]


def load(module: str) -> Any:
    """A module of BoTorch's world, PyTorch on one thread."""
    require("torch", "bench").set_num_threads(1)
    return require(module, "bench")


def gaussian_process(x: FloatArray, y: FloatArray, theta: FloatArray) -> Any:
    """A SingleTaskGP with the hyperparameters θ and the squared exponential kernel."""
    torch, gpytorch = load("torch"), load("gpytorch")
    d = x.shape[1]
    bounds = torch.tensor([[0.0] * d, [1.0] * d], dtype=torch.double)
    warp = load("botorch.models.transforms.input").Warp(d=d, indices=list(range(d)), bounds=bounds)
    values = torch.as_tensor(np.exp(theta))
    if theta.size > 3 + d:
        warp.double()
        warp._set_concentration(1, values[3 + d : 3 + 2 * d])
        warp._set_concentration(0, values[3 + 2 * d :])
    model = load("botorch.models").SingleTaskGP(
        torch.as_tensor(x),
        torch.as_tensor(y)[:, None],
        likelihood=gpytorch.likelihoods.GaussianLikelihood(noise_constraint=gpytorch.constraints.GreaterThan(1e-12)),
        covar_module=gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=d)),
        outcome_transform=None,
        input_transform=warp if theta.size > 3 + d else None,
    )
    model.mean_module.constant = torch.as_tensor(theta[0])
    model.covar_module.outputscale = values[1]
    model.likelihood.noise = values[2]
    model.covar_module.base_kernel.lengthscale = values[3 : 3 + d]
    model.requires_grad_(False)
    return model.eval()


def thompson(model: Any, x: Any, bounds: Any) -> Any:
    """Maximiser of one function drawn from the posterior (by its path, Wilson et al. 2020)."""
    path = load("botorch.sampling.pathwise").draw_matheron_paths(model, load("torch").Size([1]))
    optimise = load("botorch.utils.sampling").optimize_posterior_samples
    return optimise(path, bounds, raw_samples=PATH_RAW, num_restarts=PATH_STARTS)[0]


def upper_confidence_bound(model: Any, x: Any, bounds: Any) -> Any:
    """Maximiser of mean + √β_n sd with β_n = (2/5) log(n² π² / 6δ)."""
    beta = 2.0 * math.log(x.shape[0] ** 2 * math.pi**2 / (6.0 * DELTA)) / REDUCED
    return maximiser(load("botorch.acquisition").UpperConfidenceBound(model, beta=beta), bounds)


def expected_improvement(model: Any, x: Any, bounds: Any, raw: int = RAW) -> Any:
    """Maximiser of LogEI over the best posterior mean at the data (not the best reward: rewards are noisy)."""
    improvement = load("botorch.acquisition").LogExpectedImprovement(model, best_f=model.posterior(x).mean.max())
    return maximiser(improvement, bounds, raw)


def noisy_improvement(model: Any, x: Any, bounds: Any, raw: int = RAW) -> Any:
    """Maximiser of qLogNEI, the log of the improvement over what the function has at the data, which is uncertain."""
    improvement = load("botorch.acquisition").qLogNoisyExpectedImprovement
    return maximiser(improvement(model, X_baseline=x, prune_baseline=True), bounds, raw)


def knowledge_gradient(model: Any, x: Any, bounds: Any) -> Any:
    """Maximiser of the one-shot knowledge gradient."""
    gradient = load("botorch.acquisition").qKnowledgeGradient(model, num_fantasies=FANTASIES)
    gradient.forward = partial(one_shot, gradient)
    return maximiser(gradient, bounds, maxiter=KG_ITERATIONS)


def one_shot(gradient: Any, at: Any) -> Any:
    """Values, shape (b,), of a qKnowledgeGradient at candidates and maximisers, one for each fantasy: (b, 1 + f, d).

    With the hyperparameters held, the mean at x' after one more reward y at x is known:
    μ(x') + c(x', x) (y − μ(x)) / (c(x, x) + τ²), all of it from one posterior for the candidate and the maximisers.
    BoTorch conditions a copy of the model on each fantasy, which gives the same values and gradients and takes seven
    times as long.
    """
    law, normal = gradient.model.posterior(at).distribution, load("gpytorch.distributions").MultivariateNormal
    mean, covariance = law.mean, law.covariance_matrix
    variance = covariance[..., :1, :1] + gradient.model.likelihood.noise
    fantasy = load("botorch.posteriors").GPyTorchPosterior(normal(mean[..., :1], variance))
    surprise = gradient.sampler(fantasy)[..., 0, 0] - mean[..., 0]
    gain = covariance[..., 1:, 0] / variance[..., 0]
    return (mean[..., 1:] + gain * surprise.T).mean(dim=-1)


def maximiser(acquisition: Any, bounds: Any, raw: int = RAW, **options: Any) -> Any:
    """The best point found, shape (1, d); its starts are chosen among `raw` points."""
    optimise = load("botorch.optim").optimize_acqf
    return optimise(acquisition, bounds, q=1, num_restarts=STARTS, raw_samples=raw, options=options)[0]


ACQUISITIONS: dict[str, Acquire] = {
    "ts": thompson,
    "ei": expected_improvement,
    "ucb": upper_confidence_bound,
    "kg": knowledge_gradient,
}


class GaussianRun(History):
    """A run with one Gaussian process.

    Parameters
    ----------
    d, seed : int
    acquire : callable
        One of the functions above.
    warped : bool
        Whether inputs are warped by Kumaraswamy distribution functions whose parameters are sampled, too.
    """

    def __init__(self, d: int, seed: int, acquire: Acquire, warped: bool = False) -> None:
        super().__init__(d, seed)
        load("botorch")  # so that its import is not timed
        self.acquire, self.warped = acquire, warped
        self.chain: Hyperparameters | None = None

    def values(self) -> FloatArray:
        """What the model is fitted to, shape (n,)."""
        return standardise(self.rewards)

    def ask(self) -> FloatArray:
        """The next point; a uniform one before any reward."""
        x = self.inputs
        if not x.size:
            return self.rng.random(self.d)
        model = self.fit()
        return self.best(model)

    def fit(self) -> Any:
        """The model for the rewards told so far."""
        x, y = self.inputs, self.values()
        self.chain = estimate(self.rng, x, y, self.warped, ITERATIONS, self.chain)
        return gaussian_process(x, y, self.chain.average)

    def best(self, model: Any) -> FloatArray:
        """The maximiser of the acquisition, shape (d,)."""
        return np.asarray(self.maximisers(model)[0])

    def maximisers(self, model: Any) -> FloatArray:
        """The points that the acquisition chooses, shape (1, d), or (size, d) where it chooses a batch."""
        torch, sampling = load("torch"), load("botorch.utils.sampling")
        bounds = torch.tensor([[0.0] * self.d, [1.0] * self.d], dtype=torch.double)
        seed = int(self.rng.integers(2**31))
        with warnings.catch_warnings(), sampling.manual_seed(seed):
            warnings.simplefilter("ignore")  # of its optimisers, about inputs that repeat and steps that fail
            found = self.acquire(model, torch.as_tensor(self.inputs), bounds)
        return np.asarray(np.clip(found.detach().numpy().reshape(-1, self.d), 0.0, 1.0))

    def recommend(self) -> FloatArray:
        """The evaluated point with the best posterior mean."""
        x, torch = self.inputs, load("torch")
        model = self.fit()
        with torch.no_grad():
            return np.asarray(x[int(model.posterior(torch.as_tensor(x)).mean.argmax())])


class TruncatedRun(GaussianRun):
    """GP-UCB on truncated rewards (Ray Chowdhury and Gopalan 2019).

    The t-th reward counts as nothing where it is beyond b_t = v^{1/(1+α)} t^{1/(2(1+α))}. In units in which that makes
    sense, median 0 and half the 16–84 % range 1, with α = 1 (noise with a variance) and v = 4: b_t = 2 t^{1/4}.
    """

    #: α: the noise has a moment of order 1 + α.
    MOMENT = 1.0
    #: v, the bound on that moment, in squared robust units.
    BOUND = 4.0

    def __init__(self, d: int, seed: int) -> None:
        super().__init__(d, seed, upper_confidence_bound)

    def values(self) -> FloatArray:
        """Truncated rewards, standardised."""
        y = self.rewards
        z = RewardScale.fit(y).to_standard(y)
        power = 1.0 / (1.0 + self.MOMENT)
        bound = self.BOUND**power * np.arange(1, y.size + 1) ** (0.5 * power)
        return standardise(np.where(np.abs(z) <= bound, z, 0.0))
