"""Peers of the optimizer benchmarks, each with ask() -> x, tell(x, y), recommend() -> x on the unit cube, maximising.

All serve the same initial design first. BoTorch recommends the evaluated point with the best posterior mean; Optuna and
random search recommend the best observed point, which is what they offer.
"""

from __future__ import annotations

import numpy as np


class Peer:
    """Serves the initial design, keeps the data, recommends the best observed point."""

    packages: tuple[str, ...] = ()

    def __init__(self, d, seed, initial):
        self.d, self.seed, self.initial = d, seed, np.asarray(initial)
        self.x, self.y = [], []

    def ask(self):
        """The next point to evaluate, shape (d,)."""
        return self.initial[len(self.x)] if len(self.x) < len(self.initial) else self.propose()

    def tell(self, x, y):
        """Takes in the reward y of point x."""
        self.x.append(x)
        self.y.append(y)

    def recommend(self):
        """The point to use in the end."""
        return self.x[int(np.argmax(self.y))]


class Random(Peer):
    """Uniform points."""

    def __init__(self, d, seed, initial):
        super().__init__(d, seed, initial)
        self.rng = np.random.default_rng(seed)

    def propose(self):
        """The next point after the initial design."""
        return self.rng.random(self.d)


class BotorchLogEI(Peer):
    """SingleTaskGP with its default priors on standardised rewards, LogEI over the best posterior mean at the data.

    The best posterior mean and not the best reward, for rewards are noisy.
    """

    packages = ("torch", "botorch", "gpytorch")

    def __init__(self, d, seed, initial):
        super().__init__(d, seed, initial)
        import botorch  # noqa: F401  # so that its import is not timed
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(seed)

    def rewards(self):
        """What the model is fitted to, shape (n,)."""
        return np.array(self.y)

    def input_transform(self):
        """None, or a transform of the inputs that is learned with the model."""

    def fit(self):
        """The model fitted to all the data, and its posterior means there, shape (n,)."""
        import torch
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.transforms import Standardize
        from gpytorch.mlls import ExactMarginalLogLikelihood

        x, y = torch.as_tensor(np.array(self.x)), torch.as_tensor(self.rewards()).unsqueeze(-1)
        model = SingleTaskGP(x, y, outcome_transform=Standardize(m=1), input_transform=self.input_transform())
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        with torch.no_grad():
            return model, model.posterior(x).mean.squeeze(-1)

    def propose(self):
        """The maximiser of LogEI."""
        import torch
        from botorch.acquisition import LogExpectedImprovement
        from botorch.optim import optimize_acqf

        model, mean = self.fit()
        bounds = torch.tensor([[0.0] * self.d, [1.0] * self.d], dtype=torch.double)
        acquisition = LogExpectedImprovement(model, best_f=mean.max())
        x, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=4, raw_samples=128)
        return x[0].numpy()

    def recommend(self):
        """The evaluated point with the best posterior mean."""
        return self.x[int(self.fit()[1].argmax())]


class BotorchWinsorised(BotorchLogEI):
    """The same on rewards clipped, anew at each step, to Tukey's fences: 1.5 IQR beyond the quartiles, both sides."""

    def rewards(self):
        """Clipped rewards."""
        low, high = np.percentile(self.y, (25.0, 75.0))
        fence = 1.5 * (high - low)
        return np.clip(self.y, low - fence, high + fence)


class BotorchWarped(BotorchLogEI):
    """The same with inputs warped by Kumaraswamy distribution functions (Snoek et al. 2014), learned with the model."""

    def input_transform(self):
        """The warping, with a prior around none."""
        from botorch.models.transforms.input import Warp
        from gpytorch.priors import LogNormalPrior

        prior = {f"concentration{k}_prior": LogNormalPrior(0.0, 0.75**0.5) for k in (0, 1)}
        return Warp(d=self.d, indices=list(range(self.d)), **prior)


class Optuna(Peer):
    """A sampler of Optuna driven by ask and tell; the initial design is enqueued and replaces its random start."""

    packages = ("optuna",)

    def __init__(self, d, seed, initial):
        super().__init__(d, seed, initial)
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.space = {f"x{k}": optuna.distributions.FloatDistribution(0.0, 1.0) for k in range(d)}
        self.study = optuna.create_study(direction="maximize", sampler=self.sampler(optuna.samplers))
        for x in self.initial:
            self.study.enqueue_trial(self.point(x))
        self.trial = None

    def point(self, x):
        """x as Optuna writes it."""
        return dict(zip(self.space, map(float, x), strict=True))

    def ask(self):
        """The next trial's point, one of the initial design first."""
        trial = self.study.ask(self.space)
        self.trial = trial
        return np.array([trial.params[name] for name in self.space])

    def tell(self, x, y):
        """Finishes the trial asked for, or adds one."""
        import optuna

        super().tell(x, y)
        if self.trial is not None:
            self.study.tell(self.trial, y)
            self.trial = None
        else:  # a point that was not asked for
            trial = optuna.trial.create_trial(params=self.point(x), distributions=self.space, value=y)
            self.study.add_trial(trial)


class OptunaTPE(Optuna):
    """Multivariate tree-structured Parzen estimators."""

    def sampler(self, samplers):
        """From the module of samplers."""
        return samplers.TPESampler(multivariate=True, n_startup_trials=len(self.initial), seed=self.seed)


class OptunaGP(Optuna):
    """Optuna's own Gaussian process, told that the objective is noisy."""

    packages = ("optuna", "torch")

    def __init__(self, d, seed, initial):
        super().__init__(d, seed, initial)
        import torch

        torch.set_num_threads(1)

    def sampler(self, samplers):
        """From the module of samplers."""
        return samplers.GPSampler(deterministic_objective=False, n_startup_trials=len(self.initial), seed=self.seed)


PEERS = {
    "random": Random,
    "optuna_tpe": OptunaTPE,
    "optuna_gp": OptunaGP,
    "botorch_logei": BotorchLogEI,
    "botorch_winsorised": BotorchWinsorised,
    "botorch_warped": BotorchWarped,
}
