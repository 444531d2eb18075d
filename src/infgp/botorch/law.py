"""The law of a weighted sum of surfaces in PyTorch, given each of the posterior draws of an `InfiniteGP`.

Given one draw, the target is f(x) = h(x)ᵀβ + Σ_l w_l(x) ξ_l(x), with independent surfaces ξ_l: a Gaussian process with
mean hᵀβ + Σ_l w_l μ_l and covariance Σ_l w_l(x) w_l(x') c_l(x, x'), where μ_l and c_l are mean and covariance of a
surface given its members. A further reward lies on surface l with chance w_l; what its variance is beyond that of f is
the noise. With w, μ, v and τ² at x it is Σ w_l (v_l + τ_l² + (μ_l − μ)²) − Σ w_l² v_l, where μ = Σ w_l μ_l. With the
weights of the target "mean", mean and variance over the draws are those of `InfiniteGP.predict`.

Where a draw sees rewards through a warp, μ_l is the mean of the reward by integration, as in `InfiniteGP.predict`, and
the covariance is that of the best linear function of the surfaces: each is multiplied by the mean slope of the warp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from infgp.botorch.rewards import Warped
from infgp.botorch.weights import Weights, square_distances
from infgp.core.linalg import solve_lower
from infgp.core.rewardmap import RewardMap, WarpedScale
from infgp.core.scaling import FARTHEST, InputScale, RewardScale
from infgp.core.surface import Conditional, Conditioned
from infgp.predict.targets import TargetWeights

#: What is added to variances so that covariance matrices of points that repeat can be factorised, in units of the
#: largest prior variance of f at the points.
JITTER = 1e-9
#: Largest number of correlations between points and members of surfaces that are in memory at once.
CHUNK = 20_000_000
#: Scaled squared distance below which a Matérn correlation counts as 1: its root has no slope at 0.
TOUCHING = 1e-30


@dataclass(frozen=True, eq=False)
class Surfaces:
    """G surfaces of the same kernel with at most m members each, filled up with members that have no influence.

    Attributes
    ----------
    kernel : {"se", "matern52", "matern32"}
    which : Tensor of int, shape (G,)
        Their numbers among all surfaces of all draws.
    phi, sigma2 : Tensors, shapes (G, d), (G,)
    x, alpha, root : Tensors, shapes (G, m, d), (G, m), (G, m, m)
        Members, (K + N)⁻¹ r and the inverse of the Cholesky factor of K + N.
    """

    kernel: str
    which: Tensor
    phi: Tensor
    sigma2: Tensor
    x: Tensor
    alpha: Tensor
    root: Tensor

    @classmethod
    def of(cls, which: Sequence[int], laws: Sequence[Conditional]) -> Surfaces:
        """From surfaces given their members."""
        size, d = max(1, *(law.residual.size for law in laws)), laws[0].x.shape[1]
        x, alpha, root = (np.zeros((len(laws), *shape)) for shape in ((size, d), (size,), (size, size)))
        for k, law in enumerate(laws):
            m = law.residual.size
            if m:
                x[k, :m], alpha[k, :m], root[k, :m, :m] = law.x, law.alpha, solve_lower(law.factor, np.eye(m))
        phi, sigma2 = np.array([law.surface.phi for law in laws]), np.array([law.surface.sigma2 for law in laws])
        tensors = (torch.as_tensor(part) for part in (phi, sigma2, x, alpha, root))
        return cls(laws[0].kernel, torch.as_tensor(which), *tensors)

    def __call__(self, at: Tensor) -> tuple[Tensor, Tensor]:
        """Means, (b, G, q), and covariances, (b, G, q, q), at points of shape (b, q, d)."""
        scale = self.phi.sqrt()[:, None, :]
        points, sigma2 = at[:, None] * scale, self.sigma2[:, None, None]
        cross = sigma2 * self._correlation(square_distances(points, self.x * scale))
        half = cross @ self.root.transpose(-1, -2)
        prior = sigma2 * self._correlation(square_distances(points, points))
        return (cross @ self.alpha[..., None])[..., 0], prior - half @ half.transpose(-1, -2)

    def _correlation(self, q: Tensor) -> Tensor:
        if self.kernel == "se":
            return (-q).exp()
        if self.kernel == "matern32":
            a = (6.0 * q).clamp_min(TOUCHING).sqrt()
            return (1.0 + a) * (-a).exp()
        a = (10.0 * q).clamp_min(TOUCHING).sqrt()
        return (1.0 + a + a * a / 3.0) * (-a).exp()


@dataclass(frozen=True, eq=False)
class TargetLaws:
    """The law of the target given each of S draws, in the user's units; all surfaces of all draws have one axis, C.

    Attributes
    ----------
    inputs : InputScale
    rewards : RewardScale
    beta : Tensor, shape (S, d + 1)
    weights : Weights
    draw, label : Tensors of int, shape (C,)
        The draw that each surface belongs to, and its label there.
    tau2 : Tensor, shape (C,)
    groups : tuple of Surfaces
        Those with the same kernel and about as many members are computed at once.
    warped : tuple of (Tensor, Warped) or None
        The surfaces that are seen through a warp, and their maps.
    """

    inputs: InputScale
    rewards: RewardScale
    beta: Tensor
    weights: Weights
    draw: Tensor
    label: Tensor
    tau2: Tensor
    groups: tuple[Surfaces, ...]
    warped: tuple[Tensor, Warped] | None

    @classmethod
    def of(
        cls,
        draws: Sequence[Conditioned],
        maps: Sequence[RewardMap],
        inputs: InputScale,
        rewards: RewardScale,
        target: str,
    ) -> TargetLaws:
        """From posterior draws, the map from each draw's rewards to the user's, and how surfaces are weighed."""
        targets = [TargetWeights(given, target) for given in draws]
        every = [(k, label) for k, weights in enumerate(targets) for label in weights.labels()]
        laws = [draws[k].surface(label) for k, label in every]
        levels = [(law.kernel, (law.residual.size - 1).bit_length() if law.residual.size else 0) for law in laws]
        groups = []
        for level in sorted(set(levels)):
            which = [c for c, own in enumerate(levels) if own == level]
            groups.append(Surfaces.of(which, [laws[c] for c in which]))
        bent = [(c, own) for c, (k, _) in enumerate(every) if isinstance(own := maps[k], WarpedScale)]
        return cls(
            inputs,
            rewards,
            torch.as_tensor(np.array([given.state.beta for given in draws])),
            Weights.of(targets),
            torch.tensor([k for k, _ in every]),
            torch.tensor([label for _, label in every]),
            torch.tensor([law.surface.tau2 for law in laws], dtype=torch.float64),
            tuple(groups),
            (torch.tensor([c for c, _ in bent]), Warped.of([own for _, own in bent])) if bent else None,
        )

    @property
    def size(self) -> int:
        """Number of draws."""
        return int(self.beta.shape[0])

    def __call__(self, at: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Mean, (..., S, q), covariance, (..., S, q, q), and noise variance, (..., S, q), at points (..., q, d)."""
        batch, (q, d) = at.shape[:-2], at.shape[-2:]
        members = sum(group.root.shape[0] * (group.root.shape[1] + q) for group in self.groups)
        step = max(1, CHUNK // max(1, members * q))
        points = self._to_unit(at.reshape(-1, q, d))
        parts = [self._law(part) for part in points.split(step)]
        mean, covariance, noise = (torch.cat(part) for part in zip(*parts, strict=True))
        shape = (*batch, self.size, q)
        return mean.reshape(shape), covariance.reshape(*shape, q), noise.reshape(shape)

    def _to_unit(self, at: Tensor) -> Tensor:
        low, span = torch.as_tensor(self.inputs.low), torch.as_tensor(self.inputs.span)
        return ((at - low) / span).clamp(-FARTHEST, FARTHEST)

    def _law(self, at: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        size, q = (at.shape[0], self.size, at.shape[1]), at.shape[1]
        weights = self.weights(at)[..., self.draw, self.label].transpose(-1, -2)  # (b, C, q)
        level = (self.beta[:, :1] + self.beta[:, 1:] @ at.transpose(-1, -2))[:, self.draw]
        order = torch.cat([group.which for group in self.groups]).argsort()
        laws = [group(at) for group in self.groups]
        means, covariances = (torch.cat(part, dim=1)[:, order] for part in zip(*laws, strict=True))
        variances = covariances.diagonal(dim1=-2, dim2=-1).clamp_min(0.0)
        means, spreads, slopes = self._in_units(means + level, variances + self.tau2[:, None])
        parts = weights * slopes
        mean = self._sum(weights * means, size)
        covariance = self._sum(parts[..., :, None] * parts[..., None, :] * covariances, (*size, q))
        total = self._sum(weights * (spreads + (means - mean[:, self.draw]) ** 2), size)
        noise = (total - covariance.diagonal(dim1=-2, dim2=-1)).clamp_min(0.0)
        sigma2 = torch.cat([group.sigma2 for group in self.groups])[order]
        prior = self._sum(parts.detach() ** 2 * sigma2[:, None], size)
        nugget = JITTER * prior.amax(dim=-1, keepdim=True).clamp_min(torch.finfo(at.dtype).tiny).expand(size)
        return mean, covariance + torch.diag_embed(nugget), noise

    def _in_units(self, means: Tensor, variances: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Means and variances of rewards in the user's units, and slopes of means by those of surfaces; (b, C, q)."""
        location, scale = self.rewards.location, self.rewards.scale
        out = location + scale * means, scale**2 * variances, torch.full_like(means, scale)
        if self.warped is None:
            return out
        which, maps = self.warped
        bent = maps.moments(means[:, which], variances[:, which])
        return tuple(part.index_copy(1, which, own) for part, own in zip(out, bent, strict=True))

    def _sum(self, values: Tensor, size: tuple[int, ...]) -> Tensor:
        """Sum over the surfaces of each draw."""
        return torch.zeros(size, dtype=values.dtype).index_add(1, self.draw, values)
