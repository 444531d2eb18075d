"""What is optimised: a functional of the reward law at x, such as its mean or a quantile, and what is known of it.

Given one state, the surfaces and their weights give a reward law at x, and with it the value T of the functional. A
surface is uncertain, and to first order T follows it: its variance is Σ_l (∂T/∂μ_l)² v_l. What T misses at the
observations is regressed on the inputs (:mod:`infgp.core.remainder`) and corrects T:

- For a mean it is reward less believed mean, in the model's units, for a chance whether the threshold was beaten less
  the believed chance: the influence functions, whose mean under the true law is what is wrong with T. It is added to T.
- For a quantile of level q, and for the mean of the worst share q, it is q less whether the reward is below the
  believed quantile: its mean under the true law is what is wrong with the level. T is that of the believed law with the
  level corrected. A correction of the value would overshoot where the quantile jumps from surface to surface.

So a chance that depends on x, which surfaces with constant odds do not have, is learned for every functional.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from infgp.core.linalg import FloatArray
from infgp.core.memory import Memory
from infgp.core.remainder import DrawnRemainder, Remainder, draw_remainder
from infgp.core.surface import Conditioned
from infgp.predict.functionals import Aim, Functional, influence, plausible
from infgp.predict.mixture import Mixture
from infgp.predict.paths import Path, draw_path, settle
from infgp.predict.targets import LEAST_VARIANCE, Solved, TargetLaw

#: Step of the differences by which gradients of variances are found, in units of the cube's edge.
STEP = 1e-6
#: Step of the logarithm of the noise by which the derivative with respect to it is found.
NOISE_STEP = 1e-5


@dataclass(frozen=True, eq=False)
class ObjectiveLaw:
    """Gaussian law of an objective at every x, given one state, in units in which points are compared.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.core.scaling import RewardScale
    >>> from infgp.predict.functionals import Objective
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> given = Conditioned(prior_draw(rng, x, model), Data(x, np.arange(6.0)), model)
    >>> law = ObjectiveLaw.of(given, Aim(Objective("quantile", 0.1), RewardScale(0.0, 1.0)))
    >>> mean, variance = law(x)
    >>> mean.shape, bool((variance > 0).all())
    ((6,), True)
    """

    base: TargetLaw
    aim: Aim
    level: float | None = None
    rest_known: bool = False

    @classmethod
    def of(cls, given: Conditioned, aim: Aim, level: float | None = None) -> ObjectiveLaw:
        """The law of an objective, with one pattern of what the surfaces leave over (`Remainder.settled`) or all.

        The mean follows constant odds and leaves the rest to the remainder, which is exact for it. Other objectives may
        jump from surface to surface as the odds change, where a first-order correction does not follow: for them, odds
        change with the input as in laws of further rewards.
        """
        if aim.target == "objective" and aim.objective.kind != "mean":
            given = replace(given, model=given.model.for_laws())
        return cls(TargetLaw.of(given, aim.weights), aim.seen_by(given.data.warp), level)

    def drawn(self, rng: np.random.Generator) -> ObjectiveLaw:
        """The law once the surfaces at the observations are drawn. What they leave over counts as known, at its mean.

        One reward tells next to nothing of what is left over: it has the noise of rewards off all surfaces. Its
        variance is therefore not what a search should be drawn to.
        """
        surfaces = {label: settle(rng, law) for label, law in self.base.surfaces.items()}
        return replace(self, base=replace(self.base, surfaces=surfaces), rest_known=True)

    @property
    def plain(self) -> bool:
        """Whether the objective is a weighted sum of the surfaces and nothing else."""
        return self.aim.target != "objective" or (self.aim.objective.kind == "mean" and not self._learns_rest)

    @property
    def direct(self) -> bool:
        """Whether the objective is a weighted sum of the surfaces, in the units in which points are compared."""
        return self.plain and self.aim.common is None

    @cached_property
    def missed(self) -> FloatArray:
        """What the functional misses at the observations, shape (n,)."""
        data = self.base.weights.given.data
        missed = influence(self.aim, self._believed(data.x)[0], data.y) * self._trusted
        return plausible(missed, 1.0) if self.aim.objective.kind == "mean" else missed

    @cached_property
    def _trusted(self) -> FloatArray:
        """By how much what was missed counts, shape (n,): less than 1 where the known noise is larger than usual.

        Where observations were selected, each counts by how rarely one of its surface was.
        """
        given = self.base.weights.given
        shares = np.exp(given.log_shares)[given.state.labels]
        if not given.data.noise.any():
            return shares
        variance = np.median(self.base.noise[given.state.labels]) + given.data.noise
        return np.minimum(np.median(variance) / variance, 1.0) * shares

    @property
    def _learns_rest(self) -> bool:
        """Whether what the surfaces leave over is asked for, and there may be more than one surface."""
        return self.aim.learns_rest and not self.base.weights.given.model.one_surface

    @cached_property
    def remainder(self) -> Remainder | None:
        """What the surfaces leave over; None where it is not asked for, or where there is only one surface."""
        if not self._learns_rest:
            return None
        left = Remainder.of(self.base.weights.given.data.patterns, self.missed)
        return left if self.level is None else left.settled(self.level)

    def _surfaces(self, at: FloatArray, solved: Solved | None = None) -> tuple[Mixture, FloatArray]:
        """The law of rewards with the surfaces at their means, and the surfaces' variances."""

        def find() -> tuple[Mixture, FloatArray]:
            weights, means, variances, noise = self.base.parts(at, solved)
            return Mixture(weights, means, noise), variances

        return self._known[0](at, find)

    def _believed(self, at: FloatArray, solved: Solved | None = None) -> tuple[Mixture, FloatArray]:
        """The same with zeros for variances that are not known yet, and that the objective does not depend on."""
        if solved is not None or self.aim.objective.kind == "probability":
            return self._surfaces(at, solved)

        def find() -> tuple[Mixture, FloatArray]:
            weights, means = self.base.middles(at)
            return Mixture(weights, means, self.base.weights.given.noise_at(at)), np.zeros(means.shape)

        return self._known[1](at, find)

    @cached_property
    def _known(self) -> tuple[Memory[tuple[Mixture, FloatArray]], Memory[tuple[Mixture, FloatArray]]]:
        """The last answers of `_surfaces`, and of `_believed`."""
        return Memory(), Memory()

    def _moments(self, at: FloatArray, centre: float, spread: float) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the objective where what is left over has this centre, known up to this variance."""
        law, variances = self._surfaces(at)
        rest, unsure = self._rest(at)
        functional = Functional.of(self.aim, law, variances, rest + centre)
        variance = np.einsum("ic,ic->i", functional.by_mean**2, variances)
        return functional.value, variance + functional.by_rest**2 * (unsure + spread)

    def _rest(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        if self.remainder is None:
            return (np.zeros(at.shape[0]),) * 2
        return (self.remainder.mean(at), np.zeros(at.shape[0])) if self.rest_known else self.remainder(at)

    def natural(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the objective itself, with the sign that makes larger better; shapes (m,).

        A quantile is in the units in which points are compared.
        """
        left = self.remainder
        given = (0.0, 0.0) if left is None else (left.centre, left.flat * left.spread)
        value, variance = self._moments(at, *given)
        if not self.aim.in_model_units:
            return value, variance
        return self.aim.from_model(value), self.aim.model_slope(value) ** 2 * variance

    def __call__(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance, shapes (m,)."""
        if self.direct:
            return self.base(at)
        if self.plain:
            z, variance = self.base(at)
            return self.aim.from_model(z), np.maximum(self.aim.model_slope(z) ** 2 * variance, LEAST_VARIANCE)
        found, variance = self._moments(at, 0.0, 0.0)
        value, slope = self.aim.searched(found)
        return value, np.maximum(slope**2 * variance, LEAST_VARIANCE)

    def mean(self, at: FloatArray) -> FloatArray:
        """Mean, shape (m,)."""
        if self.plain:
            return self.aim.from_model(self.base.mean(at))
        return self.linear(at).value

    def linear(self, at: FloatArray, solved: Solved | None = None) -> Functional:
        """The objective at the rows of `at`, and its derivatives, in the units in which points are compared.

        What `TargetLaw.solved` says of the points may be given, so that it is not found again.
        """
        if self.plain:
            weights, means = self.base.middles(at) if solved is None else self.base.parts(at, solved)[:2]
            z = np.einsum("ij,ij->i", weights, means)
            by_mean = weights * self.aim.model_slope(z)[:, None]
            return Functional(self.aim.from_model(z), by_mean, np.zeros(at.shape[0]))
        law, variances = self._believed(at, solved)
        rest = np.zeros(at.shape[0]) if self.remainder is None else self.remainder.mean(at)
        found = Functional.of(self.aim, law, variances, rest)
        value, slope = self.aim.searched(found.value)
        by_spread = None if found.by_spread is None else found.by_spread * slope[:, None]
        return Functional(value, found.by_mean * slope[:, None], found.by_rest * slope, by_spread)

    def mean_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean, shape (m,), and its gradient, shape (m, d), with the weights of the surfaces held."""
        if self.plain:
            z, _, slope, _ = self.base.with_gradients(at)
            return self.aim.from_model(z), slope * self.aim.model_slope(z)[:, None]
        linear, (d_means, d_variances) = self.linear(at), self.base.slopes(at)
        gradient = np.einsum("ic,icd->id", linear.by_mean, d_means)
        if linear.by_spread is not None:
            gradient = gradient + np.einsum("ic,icd->id", linear.by_spread, d_variances)
        if self.remainder is not None:
            gradient = gradient + linear.by_rest[:, None] * self.remainder.gradient(at)
        return linear.value, gradient + self.noise_slope(at, *self._believed(at), self._rest(at)[0])

    def noise_slope(self, at: FloatArray, law: Mixture, spread: FloatArray, rest: FloatArray) -> FloatArray:
        """What the gradient of the objective has to add where noise depends on the input, shape (m, d).

        The derivative with respect to the logarithm of the noise is found by a difference.
        """
        factor = self.base.weights.given.noise_factor
        if factor is None or not factor.coefficients:
            return np.zeros(at.shape)
        more = replace(law, variances=law.variances * math.exp(NOISE_STEP))
        value, moved = (Functional.of(self.aim, one, spread, rest).value for one in (law, more))
        by_log = (moved - value) / NOISE_STEP * self.aim.search_slope(value)
        return np.asarray(by_log[:, None] * factor.gradient(at))

    def with_gradients(self, at: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Mean, variance, shapes (m,), and their gradients, shapes (m, d); that of the variance by differences."""
        if self.direct:
            return self.base.with_gradients(at)
        (mean, d_mean), variance = self.mean_and_gradient(at), self(at)[1]
        d_variance = [(self(at + STEP * row)[1] - variance) / STEP for row in np.eye(at.shape[1])]
        return mean, variance, d_mean, np.column_stack(d_variance)

    def difference(self, a: FloatArray, b: FloatArray) -> tuple[float, float]:
        """Mean and variance of the objective at point a less that at point b."""
        if self.direct:
            return self.base.difference(a, b)
        if (a == b).all():
            return 0.0, 0.0
        at = np.array([a, b])
        linear = self.linear(at)
        signed = linear.by_mean * [[1.0], [-1.0]]
        parts = [
            float(signed[:, label] @ law.joint(at)[1] @ signed[:, label]) for label, law in self.base.surfaces.items()
        ]
        if not self.plain and self.remainder is not None:
            parts.append(self.remainder.difference(a, b, linear.by_rest))
        return float(linear.value[0] - linear.value[1]), max(float(sum(parts)), 0.0)


def typical(given: Conditioned, aim: Aim) -> float:
    """Median of an objective over the inputs of the data, in the user's units, as the surfaces of one state have it.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.core.scaling import RewardScale
    >>> from infgp.predict.functionals import Objective
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> given = Conditioned(prior_draw(rng, x, model), Data(x, np.arange(6.0)), model)
    >>> aims = [Aim(Objective("quantile", q), RewardScale(100.0, 1.0)) for q in (0.1, 0.5)]
    >>> low, middle = (typical(given, aim) for aim in aims)
    >>> low < middle
    True
    """
    law, x = ObjectiveLaw.of(given, replace(aim, common=None)), given.data.x
    values = law.base.mean(x) if law.plain else Functional.of(law.aim, *law._believed(x), np.zeros(x.shape[0])).value
    middle = np.array(np.median(values))
    return float(law.aim.rewards.from_standard(middle) if law.plain or law.aim.in_model_units else middle)


@dataclass(frozen=True, eq=False)
class MeanObjective:
    """Mean of an objective over states, as a score to maximise.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.core.scaling import RewardScale
    >>> from infgp.predict.functionals import Objective
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model, data = Model("se", Priors().resolve(1), ard=False), Data(x, np.zeros(6))
    >>> aim = Aim(Objective(), RewardScale(0.0, 1.0))
    >>> score = MeanObjective.of([Conditioned(prior_draw(rng, x, model), data, model)], aim)
    >>> score.difference(x[0], x[0])
    (0.0, 0.0)
    """

    laws: tuple[ObjectiveLaw, ...]

    @classmethod
    def of(cls, draws: Sequence[Conditioned], aim: Aim) -> MeanObjective:
        """An objective over some states. Each has a pattern of its own of what the surfaces leave over."""
        return cls(tuple(ObjectiveLaw.of(given, aim, (k + 0.5) / len(draws)) for k, given in enumerate(draws)))

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        return self._values(at, lambda: np.asarray(np.mean([law.mean(at) for law in self.laws], axis=0)))

    @cached_property
    def _values(self) -> Memory[FloatArray]:
        """The last values."""
        return Memory()

    def value_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values, shape (m,), and gradients, shape (m, d)."""
        parts = [law.mean_and_gradient(at) for law in self.laws]
        return np.mean([p[0] for p in parts], axis=0), np.mean([p[1] for p in parts], axis=0)

    def moments(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean of the objective and its standard deviation, within states and between them, in the user's units.

        Where surfaces alone are followed, both are computed for rewards as the model sees them. The mean, and the ends
        of the interval of one standard deviation about it, are then mapped to the user's units: a state that takes an
        outlier for a surface moves them little.
        """
        aim, plain = self.laws[0].aim, self.laws[0].plain
        parts = [law(at) if plain else law.natural(at) for law in self.laws]  # a quantile is compared as it is
        means, variances = np.moveaxis(np.array(parts), 1, 0)
        mean, sd = means.mean(axis=0), np.sqrt(variances.mean(axis=0) + means.var(axis=0))
        if not plain:
            return aim.to_user(mean, sd)
        low, middle, high = (aim.shared.from_standard(z) for z in (mean - sd, mean, mean + sd))
        return aim.sign * middle, np.abs(high - low) / 2.0

    def difference(self, a: FloatArray, b: FloatArray) -> tuple[float, float]:
        """Mean and standard deviation, over states, of the objective at point a less that at point b."""
        means, variances = np.array([law.difference(a, b) for law in self.laws]).T
        return float(means.mean()), math.sqrt(variances.mean() + means.var())


@dataclass(frozen=True, eq=False)
class ObjectivePath:
    """A drawn objective: the functional of drawn surfaces, and what they leave over, drawn too."""

    law: ObjectiveLaw
    surfaces: Path
    rest: DrawnRemainder | None

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        return self.value_and_gradient(at)[0]

    def value_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values, shape (m,), and gradients, shape (m, d)."""
        aim, (weights, means, slopes) = self.law.aim, self.surfaces.parts(at)
        mixture, none = Mixture(weights, means, self.law.base.weights.given.noise_at(at)), np.zeros(means.shape)
        rest, slope = (np.zeros(at.shape[0]), np.zeros(at.shape))
        if self.rest is not None:
            rest, slope = self.rest.value_and_gradient(at)
        functional = Functional.of(aim, mixture, none, rest)
        gradient = np.einsum("ic,icd->id", functional.by_mean, slopes) + functional.by_rest[:, None] * slope
        gradient = gradient * aim.search_slope(functional.value)[:, None]
        return aim.to_search(functional.value), gradient + self.law.noise_slope(at, mixture, none, rest)


def draw_objective(rng: np.random.Generator, given: Conditioned, aim: Aim) -> Path | ObjectivePath:
    """A draw of the objective given one state of the chain (paper, Algorithm 1), to be maximised.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import Data, Model, prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.core.scaling import RewardScale
    >>> from infgp.predict.functionals import Objective
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model = Model("matern52", Priors().resolve(1), ard=False)
    >>> given = Conditioned(prior_draw(rng, x, model), Data(x, np.zeros(6)), model)
    >>> draw_objective(rng, given, Aim(Objective(), RewardScale(0.0, 1.0)))(x).shape
    (6,)
    """
    if aim.target == "surface":
        return draw_path(rng, given, "surface")
    law = ObjectiveLaw.of(given, aim)
    surfaces = draw_path(rng, law.base.weights.given, aim.weights)
    if law.plain:
        return surfaces
    rest = None if law.remainder is None else draw_remainder(rng, law.remainder, law.missed)
    return ObjectivePath(law, surfaces, rest)
