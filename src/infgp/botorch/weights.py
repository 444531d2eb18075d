"""How much each surface counts at x, in PyTorch: :class:`infgp.predict.targets.TargetWeights` with gradients.

Odds that change with the input (:mod:`infgp.core.odds`) are smooth, and autograd goes through them. The weight of a
surface that belongs to a place (:mod:`infgp.core.places`) depends on which observations are nearest: it is constant
between jumps, and so held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from infgp.core.linalg import FloatArray
from infgp.core.odds import FLOOR, correlation_length
from infgp.core.places import log_cohesion_ratios
from infgp.core.surface import Conditioned
from infgp.predict.targets import TargetWeights


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the surfaces given each of S states, as functions of x; labels are filled up to the largest number L.

    Attributes
    ----------
    draws : sequence of Conditioned
    inputs : Tensor, shape (n, d)
        In the unit cube.
    shares : Tensor, shape (S, L)
        Of the observations that lie on each surface; 0 for a new one.
    fresh : Tensor, shape (S, L)
        ν / n at the label of a new surface, else 0.
    kinds : dict of int to (Tensor, Tensor, Tensor)
        For each kind of odds that matters: its probabilities, (S,), and coefficients of the correlations for the
        surfaces, (n, S, L), and for a column of ones, (n,).
    target : {"mean", "expected", "main"}
    without : Tensor, shape (S, L)
        1 for surfaces that count, 0 for clutter and for a new one; not used where the target is "mean".
    clutter : Tensor, shape (S,)
        Share of the observations that is clutter.
    corrected : Tensor, shape (S, L)
        By what shares are multiplied where states are of selected observations (`Conditioned.log_shares`).
    """

    draws: Sequence[Conditioned]
    inputs: Tensor
    shares: Tensor
    fresh: Tensor
    kinds: dict[int, tuple[Tensor, Tensor, Tensor]]
    target: str
    without: Tensor
    clutter: Tensor
    corrected: Tensor

    @classmethod
    def of(cls, targets: Sequence[TargetWeights]) -> Weights:
        """From the weights of each state, for the target "mean", "expected" or "main"."""
        draws = [target.given for target in targets]
        n, size = draws[0].data.y.size, len(draws)
        labels = 1 + max(given.state.n_surfaces for given in draws)
        shares, fresh, without = np.zeros((size, labels)), np.zeros((size, labels)), np.ones((size, labels))
        clutter, corrected = np.zeros(size), np.ones((size, labels))
        kinds: dict[int, tuple[FloatArray, FloatArray, FloatArray]] = {}
        for k, (target, given) in enumerate(zip(targets, draws, strict=True)):
            state, count = given.state, given.state.n_surfaces
            shares[k, :count] = np.bincount(state.labels) / n
            corrected[k, : count + 1] = np.exp(given.log_shares)
            fresh[k, count] = 0.0 if given.model.one_surface else state.nu / n
            without[k, [*target.clutter, count]] = 0.0
            clutter[k] = target.clutter_share
            for kind, chance in given.kinds.items():
                likely, columns, total = kinds.setdefault(
                    kind, (np.zeros(size), np.zeros((n, size, labels)), np.zeros(n))
                )
                likely[k] = chance
                if kind:
                    coefficients = given.data.seating.coefficients(kind, state.labels)
                    columns[:, k, :count], total[:] = coefficients[:, :-1], coefficients[:, -1]
        return cls(
            draws,
            torch.as_tensor(draws[0].data.x),
            torch.as_tensor(shares),
            torch.as_tensor(fresh),
            {kind: tuple(torch.as_tensor(part) for part in parts) for kind, parts in kinds.items()},
            targets[0].target,
            torch.as_tensor(without),
            torch.as_tensor(clutter),
            torch.as_tensor(corrected),
        )

    def __call__(self, at: Tensor) -> Tensor:
        """Weights at points of the unit cube, (b, q, d), shape (b, q, S, L); they sum to one over the labels."""
        chances = torch.zeros((*at.shape[:-1], *self.shares.shape), dtype=at.dtype)
        for kind, (likely, columns, total) in self.kinds.items():
            chances = chances + likely[:, None] * self._chances(kind, columns, total, at)
        weights = chances * self.corrected + self.fresh
        if self.draws[0].model.local:
            weights = weights * self._places(at)
        if self.target == "mean":
            return weights / weights.sum(dim=-1, keepdim=True)
        weights = weights * self.without
        main = torch.nn.functional.one_hot(weights.argmax(dim=-1), weights.shape[-1])
        if self.target == "main":
            return main.to(weights.dtype)
        weights = weights * ((1.0 - self.clutter[:, None]) / weights.sum(dim=-1, keepdim=True))
        return weights + main * self.clutter[:, None]

    def _chances(self, kind: int, columns: Tensor, total: Tensor, at: Tensor) -> Tensor:
        """Chances of the occupied surfaces under one kind of odds, shape (b, q, S, L)."""
        if kind == 0:
            return self.shares
        root = correlation_length(kind, at.shape[-1])
        rho = (-square_distances(at / root, self.inputs / root)).exp()
        kriged = torch.einsum("bqn,nsl->bqsl", rho, columns)
        kriged = kriged + (1.0 - rho @ total)[..., None, None] * self.shares
        kriged = torch.maximum(kriged, FLOOR * self.shares)
        return kriged / kriged.sum(dim=-1, keepdim=True)

    def _places(self, at: Tensor) -> Tensor:
        """What places multiply the weights by, up to a factor for each state, shape (b, q, S, L); no gradient."""
        points = np.ascontiguousarray(at.detach().numpy().reshape(-1, at.shape[-1]))
        out = np.full((points.shape[0], *self.shares.shape), -np.inf)
        for k, given in enumerate(self.draws):
            nearest = given.data.nearest_to(points)
            logs = log_cohesion_ratios(given.state.labels, nearest, given.data.places, given.model.local)
            out[:, k, : logs.shape[1]] = logs
        out -= out.max(axis=-1, keepdims=True)
        return torch.as_tensor(np.exp(out)).reshape(*at.shape[:-1], *self.shares.shape)


def square_distances(a: Tensor, b: Tensor) -> Tensor:
    """Squared distances between rows, shape (..., p, r), by products: no tensor has a further axis.

    Examples
    --------
    >>> square_distances(torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [3.0]]))
    tensor([[0., 9.],
            [1., 4.]])
    """
    squares = (a * a).sum(dim=-1)[..., :, None] + (b * b).sum(dim=-1)[..., None, :]
    return (squares - 2.0 * a @ b.transpose(-1, -2)).clamp_min(0.0)
