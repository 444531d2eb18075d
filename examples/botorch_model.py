"""BoTorch's noisy expected improvement with infgp's model: python examples/botorch_model.py

A function of two inputs is evaluated 20 times. Three evaluations went wrong. One of them, far from the best point,
looks better than anything else.
"""

import warnings

import torch
from botorch.acquisition import qLogNoisyExpectedImprovement
from botorch.optim import optimize_acqf

from infgp import ConvergenceWarning
from infgp.botorch import InfGPModel

#: The best point.
BEST = torch.tensor([0.3, 0.7], dtype=torch.float64)
#: Corners of the search space.
BOUNDS = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)


def evaluate(x: torch.Tensor) -> torch.Tensor:
    """Noisy rewards at the rows of x, shape (n, 1)."""
    return -((x - BEST) ** 2).sum(dim=-1, keepdim=True) + 0.02 * torch.randn(x.shape[0], 1, dtype=torch.float64)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    torch.manual_seed(0)
    x = torch.rand(20, 2, dtype=torch.float64)
    y = evaluate(x)
    wrong = [int(((x - 0.9) ** 2).sum(dim=-1).argmin()), 4, 11]
    y[wrong] += torch.tensor([[8.0], [-5.0], [-20.0]], dtype=torch.float64)
    model = InfGPModel(x, y, random_state=0)
    for _ in range(3):
        acquisition = qLogNoisyExpectedImprovement(model, X_baseline=x, prune_baseline=True)
        candidate, _ = optimize_acqf(acquisition, BOUNDS, q=2, num_restarts=4, raw_samples=64)
        x, y = torch.cat((x, candidate)), torch.cat((y, evaluate(candidate)))
        model = model.refit(x, y)
    off = model.regressor.off_surface_probability_[wrong]
    print("Probability that the rewards that went wrong lie off the surface:", off.round(2))
    best = x[model.posterior(x).mixture_mean.argmax()]
    print("Recommended:", best.numpy().round(2), "where the best point is", BEST.numpy())
    print("The best reward was seen at", x[y.argmax()].numpy().round(2))
