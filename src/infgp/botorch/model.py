"""A model of BoTorch whose posterior is a mixture over the draws of an `InfiniteGP`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import torch
from botorch.models.model import FantasizeMixin, Model
from botorch.models.transforms.input import InputTransform
from botorch.models.transforms.outcome import OutcomeTransform
from botorch.posteriors import GPyTorchPosterior, Posterior
from botorch.posteriors.fully_bayesian import MCMC_DIM, GaussianMixturePosterior
from gpytorch.distributions import MultivariateNormal
from torch import Tensor

from infgp.botorch.law import TargetLaws
from infgp.core.linalg import one_blas_thread
from infgp.errors import InvalidInputError, check_choice, check_int
from infgp.estimator import InfiniteGP

#: Values of the option `target`.
TARGETS = ("main", "expected", "mean")
#: Draws kept from each chain, unless the user says otherwise: acquisition functions cost in proportion to them.
DRAWS = 8
#: Sweeps for each kept draw, unless the user says otherwise.
THIN = 8
#: Sweeps of each chain before the first kept draw where the chains of an earlier model go on.
REFIT_WARMUP = 40

#: Mean, covariance and noise variances at some points.
Law: TypeAlias = tuple[Tensor, Tensor, Tensor]


class InfGPModel(Model, FantasizeMixin):  # type: ignore[misc]
    """The ∞-GP as a BoTorch model: fully Bayesian, fitted when it is made.

    `posterior` has one Gaussian law for each posterior draw of an :class:`infgp.InfiniteGP`, in a batch dimension of
    its own as BoTorch's fully Bayesian models have it. Acquisition functions average over it. Mean and variance over
    the draws are those of ``InfiniteGP.predict_main`` or, with ``target="mean"``, of ``InfiniteGP.predict``.

    Parameters
    ----------
    train_X : Tensor, shape (n, d)
        Inputs in any units, as float64.
    train_Y : Tensor, shape (n, 1)
        Rewards in any units, to be maximised by the usual acquisition functions. For several outcomes, make a
        `botorch.models.ModelList` of one model for each.
    train_Yvar : Tensor, shape (n, 1), optional
        Known noise variances, as for `InfiniteGP.fit`.
    outcome_transform, input_transform : BoTorch transforms, optional
        The model has units of its own and needs neither of them.
    target : {"main", "expected", "mean"}, default="main"
        What the posterior is of (:class:`infgp.predict.targets.TargetWeights`): the dominant surface at x, a robust
        location of the reward; the mean reward without clutter; or the expected reward, in which every reward
        counts, also an outlier. One gross outlier makes the last one uncertain everywhere.
    random_state : int, numpy.random.Generator or None, default=None
        Source of all randomness of the fit.
    **options
        Those of :class:`infgp.InfiniteGP`. Defaults differ in ``n_samples=8`` and ``thin=8``: with the two chains there
        are 16 draws.

    Attributes
    ----------
    regressor : InfiniteGP
        The fitted estimator, in the units after the transforms.
    num_outputs : int
        1.
    batch_shape : torch.Size
        The number of draws, after the batch shape of observations that the model was conditioned on.

    Examples
    --------
    >>> import torch
    >>> X = torch.linspace(0.0, 1.0, 12, dtype=torch.float64)[:, None]
    >>> Y = (6.0 * X).sin()
    >>> model = InfGPModel(X, Y, random_state=0, n_warmup=30, n_samples=4)
    >>> posterior = model.posterior(torch.tensor([[[0.31]], [[0.52]]], dtype=torch.float64))
    >>> posterior.mean.shape, posterior.mixture_mean.shape
    (torch.Size([2, 8, 1, 1]), torch.Size([2, 1, 1]))
    """

    _is_ensemble = True
    likelihood = None  # BoTorch's `fantasize` asks whether it has known noise

    def __init__(
        self,
        train_X: Tensor,
        train_Y: Tensor,
        train_Yvar: Tensor | None = None,
        outcome_transform: OutcomeTransform | None = None,
        input_transform: InputTransform | None = None,
        *,
        target: str = "main",
        random_state: int | np.random.Generator | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        check_choice("target", target, TARGETS)
        known = InfiniteGP().get_params().keys() - {"random_state"}
        if options.keys() - known:
            raise InvalidInputError(
                f"{sorted(options.keys() - known)} are no options of InfGPModel or InfiniteGP; known are "
                f"{sorted(known)}."
            )
        _check_data(train_X, train_Y, train_Yvar)
        if input_transform is not None:
            self.input_transform = input_transform.to(train_X)
        if outcome_transform is not None:
            self.outcome_transform = outcome_transform.train()
        options = {"n_samples": DRAWS, "thin": THIN, **options}
        self.target = target
        self._extra: _Extra | None = None
        self._fit(InfiniteGP(**options, random_state=random_state), train_X, train_Y, train_Yvar)
        self.eval()

    # --- Fitting -----------------------------------------------------------------------------------------------------

    def _fit(self, regressor: InfiniteGP, X: Tensor, Y: Tensor, Yvar: Tensor | None) -> None:
        """Fit to data in the user's units, by transforms that learn if they are in training mode."""
        with torch.no_grad():
            inputs = self.input_transform.preprocess_transform(X) if hasattr(self, "input_transform") else X
            rewards, variances = Y, Yvar
            if hasattr(self, "outcome_transform"):
                rewards, variances = self.outcome_transform(Y, Yvar, X=inputs)
        noise = None if variances is None else variances[:, 0].numpy()
        regressor.fit(inputs.numpy(), rewards[:, 0].numpy(), noise)
        with one_blas_thread():
            self._law = TargetLaws.of(*regressor.posterior_draws(), self.target)
        self.regressor, self.train_inputs, self.train_targets, self.train_Yvar = regressor, (X,), Y[:, 0], Yvar

    def refit(
        self, train_X: Tensor, train_Y: Tensor, train_Yvar: Tensor | None = None, n_warmup: int = REFIT_WARMUP
    ) -> InfGPModel:
        """A model of the same data with more of it at the end, whose chains go on from where those of this model ended.

        Transforms stay as they were learned. This model, too, stays as it is.

        Parameters
        ----------
        train_X, train_Y, train_Yvar : Tensors, shapes (n, d), (n, 1), (n, 1)
            All data, the data of this model first.
        n_warmup : int, default=40
            Sweeps of each chain before the first kept draw.

        Examples
        --------
        >>> import torch
        >>> X = torch.linspace(0.0, 1.0, 9, dtype=torch.float64)[:, None]
        >>> model = InfGPModel(X[:8], X[:8], random_state=0, n_warmup=30, n_samples=4)
        >>> model.refit(X, X).train_targets.shape
        torch.Size([9])
        """
        check_int("n_warmup", n_warmup, 0)
        _check_data(train_X, train_Y, train_Yvar)
        n, pairs = len(self.train_targets), [(self.train_inputs[0], train_X), (self.train_targets, train_Y[:, 0])]
        if train_Yvar is not None and self.train_Yvar is not None:
            pairs.append((self.train_Yvar, train_Yvar))
        if (train_Yvar is None) != (self.train_Yvar is None) or not all(torch.equal(a, b[:n]) for a, b in pairs):
            raise InvalidInputError(
                f"The data of a refit must begin with the {n} observations of the model; make a new InfGPModel for "
                "others."
            )
        regressor = copy.copy(self.regressor).set_params(warm_start=True, n_warmup=n_warmup)
        other = copy.copy(self)
        other._extra = None
        other._fit(regressor, train_X, train_Y, train_Yvar)
        return other

    def merged(self) -> InfGPModel:
        """The model with one Gaussian law for all draws: that with the mean and covariance of the mixture.

        It is for acquisition functions that know no fully Bayesian models, such as `qKnowledgeGradient`, and it costs
        less in the others. This model stays as it is.

        Examples
        --------
        >>> import torch
        >>> X = torch.linspace(0.0, 1.0, 12, dtype=torch.float64)[:, None]
        >>> model = InfGPModel(X, X, random_state=0, n_warmup=30, n_samples=4)
        >>> one = model.merged().posterior(X[:3])
        >>> one.mean.shape, torch.allclose(one.mean, model.posterior(X[:3]).mixture_mean)
        (torch.Size([3, 1]), True)
        """
        if self._extra is not None:
            raise InvalidInputError("Merge a model before it is conditioned on further rewards, not after.")
        other = copy.copy(self)
        other._is_ensemble = False
        return other

    # --- What BoTorch asks for ---------------------------------------------------------------------------------------

    @property
    def num_outputs(self) -> int:
        """Number of outcomes."""
        return 1

    @property
    def batch_shape(self) -> torch.Size:
        """Batch shape of the model: the number of draws comes last."""
        batch = torch.Size() if self._extra is None else self._extra.batch_shape
        return torch.Size([*batch, self._law.size]) if self._is_ensemble else batch

    def subset_output(self, idcs: list[int]) -> InfGPModel:
        """The model itself, which has one outcome."""
        if any(k not in (0, -1) for k in idcs) or len(idcs) != 1:
            raise InvalidInputError(f"An InfGPModel has one outcome, number 0, but outcomes {idcs} were asked for.")
        return self

    def posterior(
        self,
        X: Tensor,
        output_indices: list[int] | None = None,
        observation_noise: bool | Tensor = False,
        posterior_transform: Any = None,
    ) -> Posterior:
        """The law of the target at X, or of further rewards, jointly at the q points of each batch.

        Parameters
        ----------
        X : Tensor, shape (..., q, d)
        output_indices : list of int, optional
            ``[0]`` or None.
        observation_noise : bool or Tensor, default=False
            With True, the law of further rewards, by the two moments that they have given a draw: noise about the
            surfaces, and which of the surfaces a reward lies on. A tensor of shape (..., q, 1), in the units after an
            outcome transform, has the variances to be added in their place.
        posterior_transform : PosteriorTransform, optional

        Returns
        -------
        GaussianMixturePosterior, or what an outcome transform that is not linear makes of it
            Of shape (..., draws, q, 1).

        Examples
        --------
        >>> import torch
        >>> X = torch.linspace(0.0, 1.0, 12, dtype=torch.float64)[:, None]
        >>> model = InfGPModel(X, X, random_state=0, n_warmup=30, n_samples=4)
        >>> surer, reward = model.posterior(X[:2]), model.posterior(X[:2], observation_noise=True)
        >>> bool((surer.mixture_variance < reward.mixture_variance).all())
        True
        """
        if output_indices is not None:
            self.subset_output(output_indices)
        at = self.transform_inputs(X)
        if at.dtype != torch.float64 or at.ndim < 2 or at.shape[-1] != self.regressor.n_features_in_:
            raise InvalidInputError(
                f"X must be a float64 tensor of shape (..., q, {self.regressor.n_features_in_}), but has shape "
                f"{tuple(at.shape)} and type {at.dtype}."
            )
        mean, covariance, noise = self._moments(at) if self._extra is None else self._extra.update(self._moments, at)
        if isinstance(observation_noise, Tensor):
            covariance = covariance + torch.diag_embed(self._by_draw(observation_noise, at).expand_as(mean))
        elif observation_noise:
            covariance = covariance + torch.diag_embed(noise)
        if self._is_ensemble:
            posterior: Any = GaussianMixturePosterior(MultivariateNormal(mean, covariance))
        else:
            posterior = GPyTorchPosterior(MultivariateNormal(mean[..., 0, :], covariance[..., 0, :, :]))
        if hasattr(self, "outcome_transform"):
            posterior = self.outcome_transform.untransform_posterior(posterior, X=at)
        return posterior if posterior_transform is None else posterior_transform(posterior=posterior, X=X)

    def _moments(self, at: Tensor) -> Law:
        """Mean, (..., S, q), covariance and noise variances of the draws, or of the law that they were merged to."""
        mean, covariance, noise = self._law(at)
        if self._is_ensemble:
            return mean, covariance, noise
        middle = mean.mean(dim=-2, keepdim=True)
        gap = mean - middle
        between = gap.transpose(-1, -2) @ gap / self._law.size
        return middle, (covariance.mean(dim=-3) + between).unsqueeze(-3), noise.mean(dim=-2, keepdim=True)

    def _by_draw(self, values: Tensor, at: Tensor) -> Tensor:
        """Values (..., n, 1), or (..., draws, n, 1) with more dimensions than the points, as (..., draws or 1, n)."""
        has_draws = self._is_ensemble and values.ndim > at.ndim
        return (values if has_draws else values.unsqueeze(MCMC_DIM))[..., 0]

    def condition_on_observations(self, X: Tensor, Y: Tensor, noise: Tensor | None = None, **kwargs: Any) -> InfGPModel:
        """The model given further rewards, for fantasies and pending points; gradients with respect to both go through.

        Given a draw, f is a Gaussian process, and a further reward has mean f and the noise of `posterior` with
        ``observation_noise=True``. The law of f is updated as if that noise were Gaussian: the best linear update, and
        the one under which the mean over fantasies is the mean before. The draws, their labels and their weights stay
        as they are, so an outlier among the rewards is not recognised. For rewards that were observed, use
        :meth:`refit`.

        Parameters
        ----------
        X : Tensor, shape (..., n, d)
        Y : Tensor, shape (..., n, 1), or (..., draws, n, 1) with more dimensions than X
            Rewards, the same for all draws or one for each, as `fantasize` draws them.
        noise : Tensor, optional
            Noise variances in place of those that were learned, in the units after an outcome transform.

        Returns
        -------
        InfGPModel
            Another one; this model stays as it is.

        Examples
        --------
        >>> import torch
        >>> X = torch.linspace(0.0, 1.0, 12, dtype=torch.float64)[:, None]
        >>> model = InfGPModel(X, X, random_state=0, n_warmup=30, n_samples=4)
        >>> given = model.condition_on_observations(X[:1] + 1.5, torch.tensor([[1.6]], dtype=torch.float64))
        >>> before, after = (m.posterior(X[:1] + 1.5).variance for m in (model, given))
        >>> bool((after < before).all())
        True
        """
        at = self.transform_inputs(X)
        if Y.dtype != torch.float64 or Y.ndim < X.ndim or Y.shape[-1] != 1 or Y.shape[-2] != X.shape[-2]:
            raise InvalidInputError(
                f"Y must be a float64 tensor of shape (..., {X.shape[-2]}, 1), with one reward for each point, but has "
                f"shape {tuple(Y.shape)} and type {Y.dtype}."
            )
        if self._is_ensemble and Y.ndim > X.ndim and Y.shape[MCMC_DIM] not in (1, self._law.size):
            raise InvalidInputError(
                f"Y has more dimensions than X, so its third from the end must be the {self._law.size} draws of the "
                f"model, but Y has shape {tuple(Y.shape)}."
            )
        if hasattr(self, "outcome_transform"):
            Y, _ = self.outcome_transform(Y, X=at)
        given = _Extra(at, self._by_draw(Y, at), None if noise is None else self._by_draw(noise, at))
        other = copy.copy(self)
        other._extra = given if self._extra is None else self._extra.and_then(given)
        return other

    @classmethod
    def construct_inputs(cls, training_data: Any, **options: Any) -> dict[str, Any]:
        """Arguments of the class from a `SupervisedDataset`, as Ax asks for them; options are passed on."""
        return {**super().construct_inputs(training_data), **options}

    # The estimator was fitted to transformed inputs, and keeps them: BoTorch need not put them in its place.

    def _set_transformed_inputs(self) -> None:
        pass

    def _revert_to_original_inputs(self) -> None:
        pass


class _Extra:
    """Rewards that a model was conditioned on: points (..., n, d), and rewards and noise variances (..., S or 1, n)."""

    def __init__(self, x: Tensor, y: Tensor, noise: Tensor | None) -> None:
        self.x, self.y, self.noise = x, y, noise

    @property
    def batch_shape(self) -> torch.Size:
        return torch.broadcast_shapes(self.x.shape[:-2], self.y.shape[:-2])

    def and_then(self, later: _Extra) -> _Extra:
        """The rewards at hand and some more."""
        if (self.noise is None) != (later.noise is None):
            raise InvalidInputError("Give the noise of all rewards that a model is conditioned on, or of none.")
        noise = None if self.noise is None or later.noise is None else _joined(self.noise, later.noise, -1)
        return _Extra(_joined(self.x, later.x, -2), _joined(self.y, later.y, -1), noise)

    def update(self, law: Callable[[Tensor], Law], at: Tensor) -> Law:
        """Mean, covariance and noise variances at points (..., q, d) given the rewards, from those without them."""
        n = self.x.shape[-2]
        mean, covariance, noise = law(_joined(self.x, at, -2))
        variances = noise[..., :n] if self.noise is None else self.noise
        known = covariance[..., :n, :n] + torch.diag_embed(variances)
        factor = torch.linalg.cholesky(known)
        cross = torch.linalg.solve_triangular(factor, covariance[..., :n, n:], upper=False)
        surprise = (self.y - mean[..., :n])[..., None]
        gap = torch.linalg.solve_triangular(factor.expand(*surprise.shape[:-2], n, n), surprise, upper=False)
        mean = mean[..., n:] + (cross.transpose(-1, -2) @ gap)[..., 0]
        covariance = covariance[..., n:, n:] - cross.transpose(-1, -2) @ cross
        shape = mean.shape
        return mean, covariance.expand(*shape, shape[-1]), noise[..., n:].expand(shape)


def _joined(a: Tensor, b: Tensor, dim: int) -> Tensor:
    """Two tensors one after the other along a dimension from the end, others broadcast against each other."""
    ones = [[1 if k == len(t.shape) + dim else size for k, size in enumerate(t.shape)] for t in (a, b)]
    shape = torch.broadcast_shapes(*ones)
    sizes = [[*shape[:dim], t.shape[dim], *shape[len(shape) + dim + 1 :]] for t in (a, b)]
    return torch.cat([a.expand(sizes[0]), b.expand(sizes[1])], dim=dim)


def _check_data(train_X: Tensor, train_Y: Tensor, train_Yvar: Tensor | None) -> None:
    good = train_X.ndim == train_Y.ndim == 2 and train_Y.shape == (train_X.shape[0], 1)
    if not good or (train_Yvar is not None and train_Yvar.shape != train_Y.shape):
        shapes = [None if t is None else tuple(t.shape) for t in (train_X, train_Y, train_Yvar)]
        raise InvalidInputError(
            "train_X must have shape (n, d), train_Y and train_Yvar shape (n, 1), but they have shapes "
            f"{shapes}; for several outcomes, make a botorch.models.ModelList of one InfGPModel for each."
        )
    for name, tensor in (("train_X", train_X), ("train_Y", train_Y), ("train_Yvar", train_Yvar)):
        if tensor is not None and (tensor.dtype != torch.float64 or tensor.device.type != "cpu"):
            raise InvalidInputError(f"{name} must be float64 on the CPU, but is {tensor.dtype} on {tensor.device}.")
