"""The ∞-GP: what is observed, what the model is, the prior of its parameters, and how to simulate both.

    y_i = h(x_i)ᵀβ + ξ^(z_i)(x_i) + ε_i,   ε_i ~ N(0, τ² + v_i),   ξ^(l) ~ GP(0, σ² ρ_φ) i.i.d.,   z ~ urn(ν)

with h(x) = (1, x), inputs x in the unit cube and standardised rewards y (paper, section 3). Known noise variances v_i
are zero unless given. Where rewards are warped (:mod:`infgp.core.warp`), what is called y above is z = W(u), and u are
the standardised rewards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from infgp.core.kernels import KERNEL_CHANCES, KERNELS, LEARNED, correlation, log_ell_from_phi, phi_from_log_ell
from infgp.core.linalg import FloatArray, cholesky
from infgp.core.memory import Memory
from infgp.core.odds import SMOOTH_ODDS, Seating, log_tilt, seated_sample
from infgp.core.partition import IntArray, canonical, stick_sample, urn_logpdf, urn_sample
from infgp.core.places import Places, cut_edges, log_cohesion, nearest, places_of, ties
from infgp.core.priors import Fixed, Priors
from infgp.core.remainder import Patterns
from infgp.core.state import FLAT, State, Surface, crowded
from infgp.core.warp import IDENTITY, Warp, Warped, Warps
from infgp.errors import InvalidInputError

#: Half the degrees of freedom of surfaces with scales of their own: heavy tails with a finite variance.
OWN_SCALE_SHAPE = 2.0
#: Prior probabilities of the grades, where surfaces have length-scales of their own and none is flat.
ROUGH_GRADES = (0.6, 0.25, 0.15)
#: Prior probability that a surface is flat.
FLAT_CHANCE = 0.5
#: Prior probabilities of the grades, where surfaces have length-scales of their own or are flat.
FLAT_GRADES = (*((1.0 - FLAT_CHANCE) * chance for chance in ROUGH_GRADES), FLAT_CHANCE)


@dataclass(frozen=True, eq=False)
class Data:
    """Observations: inputs in the unit cube (n, d), standardised rewards (n,), their known noise variances (n,).

    Rewards have not gone through any warp, unless :meth:`seen` made them; `warp` says which. Noise variances are in the
    units of the model whatever the warp. Known ones go with the identity alone: carried through a slope they would be
    wrong by orders of magnitude where a standard error is wider than the straight part of a warp.
    """

    x: FloatArray
    y: FloatArray
    noise: FloatArray = field(default_factory=lambda: np.empty(0))  # zeros, if not given
    warp: Warp = IDENTITY

    def __post_init__(self) -> None:
        if not self.noise.size:
            object.__setattr__(self, "noise", np.zeros(self.y.size))

    @cached_property
    def h(self) -> FloatArray:
        """Trend regressors (1, x), shape (n, d + 1)."""
        return trend(self.x)

    @cached_property
    def places(self) -> Places:
        """The graph of the inputs."""
        return places_of(self.x)

    @cached_property
    def seating(self) -> Seating:
        """The order of the inputs in the urn, and the odds of the surfaces over them."""
        return Seating(self.x)

    @cached_property
    def patterns(self) -> Patterns:
        """What regressions of what a belief leaves over need of the inputs."""
        return Patterns(self.x)

    @cached_property
    def _nearest(self) -> Memory[IntArray]:
        """The last answers of `nearest_to`; shared by all data with the same inputs."""
        return Memory()

    def nearest_to(self, at: FloatArray) -> IntArray:
        """The observations that a further one at each row of `at` is tied to, nearest first; shape (m, ties)."""
        return self._nearest(at, lambda: np.asarray(nearest(self.x, at, ties(*self.x.shape))))

    def noisier(self, variance: float) -> Data:
        """The same with `variance` added to the known noise of every reward."""
        other = self._sharing(replace(self, noise=self.noise + variance))
        vars(other).update(_warped=self._warped)
        return other

    def with_rewards(self, y: FloatArray, warp: Warp | None = None) -> Data:
        """The same inputs with other rewards, shape (n,), through a warp; by default that of those at hand."""
        return self._sharing(replace(self, y=y, warp=self.warp if warp is None else warp))

    @cached_property
    def _warped(self) -> Memory[Warped]:
        """The last answers of `through`; shared by all data with the same rewards."""
        return Memory()

    def through(self, warps: Warps) -> Warped:
        """The rewards through each of some warps."""
        assert self.warp.straight, "rewards that went through one warp do not go through others"
        return self._warped(warps, lambda: Warped.of(self.y, warps))

    def seen(self, state: State, model: Model) -> Data:
        """The data as the surfaces of a state see it: with rewards z, in the model's units, through the state's warp.

        Examples
        --------
        >>> import numpy as np
        >>> model = Model("se", Priors().resolve(1), ard=False, warps=Warps((IDENTITY, Warp(0.0, 1e-3)), (0.5, 0.5)))
        >>> data = Data(np.array([[0.0], [1.0]]), np.array([1.0, 9.0]))
        >>> one = np.ones(1)
        >>> state = State(np.zeros(2, int), np.zeros(2), 0.5, np.ones((1, 1)), one, one, warp=1)
        >>> seen = data.seen(state, model)
        >>> seen.y.round(2), seen.seen(state, model) is seen
        (array([1.  , 1.29]), True)
        """
        warp = model.warps.maps[state.warp]
        if warp == self.warp:
            return self

        def find() -> Data:
            return self._sharing(replace(self, y=self.through(model.warps).z[state.warp], warp=warp))

        return self._seen(warp, find)

    @cached_property
    def _seen(self) -> Memory[Data]:
        """The last answers of `seen`, by the warp: every move of a sweep asks."""
        return Memory()

    def _sharing(self, other: Data) -> Data:
        """Data of the same inputs, with what depends on them alone."""
        vars(other).update(
            h=self.h, places=self.places, seating=self.seating, patterns=self.patterns, _nearest=self._nearest
        )
        return other


@dataclass(frozen=True)
class Model:
    """Kernel and priors.

    Attributes
    ----------
    kernel : {"se", "matern52", "matern32", "learned"}
        Learned: all surfaces of a state have the same one of the three.
    priors : Priors
        Resolved for the dimension.
    ard : bool
        Whether each coordinate has a φ of its own.
    scale_shape : float
        Where positive, the shape a of a scale s_l ~ InverseGamma(a, a) that multiplies σ², τ² and v of surface l (v is
        then known up to that scale). It is integrated out: surfaces are then Student-t processes with 2a degrees of
        freedom. Zero: s_l = 1.
    local : float
        Chance π that a surface has a place: partitions have prior weight Π_l c(S_l) on top of the urn's, with
        c(S) = 1 − π + π g(S), where g counts the neighbours that S parts (:mod:`infgp.core.places`). Zero: the
        paper's model, blind to the inputs.
    grades : tuple of float
        Prior probabilities of a surface's grade g, at most four. For g < FLAT, its length-scales are the shared ones
        divided by ROUGHER^g. For g = FLAT, it is a constant of variance σ² CONSTANT, and the noise about it has the
        further variance σ² (1 − CONSTANT). With a single probability all surfaces share their length-scales. States
        in which a flat surface has more than :func:`most_flat` members have no prior mass.
    odds : tuple of float
        Prior probabilities of the kinds of odds (:mod:`infgp.core.odds`): constant ones first, then those that change
        with the input. With a single probability the odds are constant.
    kriged : bool
        Whether laws of further rewards let the odds change with the input where the labels were drawn with constant
        odds (:meth:`for_laws`).
    uneven : bool
        Whether laws of further rewards have noise by a factor that depends on the input
        (:mod:`infgp.core.noisefactor`).
    one_surface : bool
        Whether all observations, further ones too, lie on one surface: an ordinary GP.
    warps : Warps
        The warps between which the posterior chooses (:mod:`infgp.core.warp`). With a single one, the identity,
        rewards are as they are.
    kernel_chances : tuple of float
        Prior probabilities of the three kernels, where the kernel is learned.
    """

    kernel: str
    priors: Priors
    ard: bool
    scale_shape: float = 0.0
    local: float = 0.0
    grades: tuple[float, ...] = (1.0,)
    odds: tuple[float, ...] = (1.0,)
    kriged: bool = False
    uneven: bool = False
    one_surface: bool = False
    warps: Warps = field(default_factory=Warps)
    kernel_chances: tuple[float, ...] = KERNEL_CHANCES

    def kernel_of(self, state: State) -> str:
        """The kernel of the surfaces: that which a state has drawn, where it is learned."""
        return KERNELS[state.kernel] if self.kernel == LEARNED else self.kernel

    def at(self, state: State) -> Model:
        """The model with the kernel that a state has drawn, where it is learned."""
        return replace(self, kernel=self.kernel_of(state)) if self.kernel == LEARNED else self

    @property
    def flat(self) -> bool:
        """Whether surfaces may be flat."""
        return len(self.grades) > FLAT

    def for_laws(self, uneven: bool = True) -> Model:
        """The model with which the law of a further reward is computed from states of this one.

        With kriged odds, each kind of odds counts with its posterior probability given the labels, and the noise of the
        surfaces may be larger in one place than in another, unless `uneven` is False.
        """
        return replace(self, odds=SMOOTH_ODDS, uneven=uneven) if self.kriged else self


def by_label(model: Model, labels: IntArray, grade: IntArray) -> IntArray:
    """Grades of the surfaces, as a state has them, from one for each observation."""
    if len(model.grades) == 1:
        return np.zeros(1, dtype=np.int64)
    out = np.zeros(int(labels.max()) + 1, dtype=np.int64)
    out[labels] = grade
    return out


def trend(x: FloatArray) -> FloatArray:
    """h(x) = (1, x), shape (n, d + 1).

    Examples
    --------
    >>> import numpy as np
    >>> trend(np.array([[0.5, 0.25]]))
    array([[1.  , 0.5 , 0.25]])
    """
    return np.column_stack((np.ones(x.shape[0]), x))


def covariance(model: Model, surface: Surface, x: FloatArray, noise: FloatArray) -> FloatArray:
    """Covariance of the rewards of a surface's members, σ² ρ + diag(τ² + v), from all inputs and v."""
    members = x[surface.members]
    cov = surface.sigma2 * correlation(model.kernel, members, members, surface.phi)
    cov.flat[:: members.shape[0] + 1] += surface.noise(noise)
    return cov


def log_cohesions(state: State, data: Data, model: Model) -> FloatArray:
    """log c of the occupied surfaces, in the order of their labels."""
    sizes = np.bincount(state.labels)
    pairs = zip(sizes, cut_edges(data.places.near, state.labels, sizes.size), strict=True)
    return np.array([log_cohesion(size, cut, data.places, model.local) for size, cut in pairs if size])


def log_prior(state: State, data: Data, model: Model) -> float:
    """log p(z, β, Θ | x), as a density in (β, ν, log ℓ, σ², τ²); up to a constant with local or with flat surfaces."""
    p = model.priors
    assert p.beta is not None, "Priors.resolve sets the prior of beta"
    log_ell = log_ell_from_phi(state.phi if model.ard else state.phi[:, :1])
    _, first = np.unique(state.labels, return_index=True)
    if crowded(state).size:
        return -np.inf
    return (
        urn_logpdf(state.labels, state.nu)
        + float(log_tilt(state.labels, data.seating.odds(state.odds)))
        + float(np.log(model.odds[state.odds]))
        + float(np.log(model.warps.prior[state.warp]))
        + float(log_cohesions(state, data, model).sum())
        + float(np.log(np.array(model.grades))[state.observed_grades[first]].sum())
        + p.beta.logpdf(state.beta)
        + p.nu.logpdf(state.nu)
        + p.lengthscale.logpdf(log_ell)
        + p.sigma2.logpdf(state.sigma2)
        + p.tau2.logpdf(state.tau2)
    )


def draw_log_ell(rng: np.random.Generator, model: Model, n_features: int) -> FloatArray:
    """log ℓ from its prior, shape (d,)."""
    prior = model.priors.lengthscale
    if isinstance(prior, Fixed):
        return np.full(n_features, np.log(prior.value))
    return np.broadcast_to(prior.sample(rng, n_features if model.ard else 1), (n_features,))


def grades_from_prior(rng: np.random.Generator, grades: Sequence[float] | FloatArray, size: int) -> IntArray:
    """Grades of surfaces from their prior, shape (size,)."""
    return np.asarray(np.searchsorted(np.cumsum(grades)[:-1], rng.random(size)))


def prior_draw(rng: np.random.Generator, x: FloatArray, model: Model, truncation: int | None = None) -> State:
    """Draw every parameter from its prior, for inputs `x`.

    Parameters
    ----------
    rng : numpy.random.Generator
    x : array, shape (n, d)
    model : Model
    truncation : int, optional
        Number of sticks of a truncated prior. Default: the untruncated urn.

    Raises
    ------
    InvalidInputError
        Where surfaces may have a place: the factors c(S_l) of the partition's prior weight leave no way to draw it
        directly. `tests/sample/moves/test_places.py` draws it by enumeration.

    Examples
    --------
    >>> import numpy as np
    >>> model = Model("matern52", Priors().resolve(2), ard=True)
    >>> prior_draw(np.random.default_rng(0), np.zeros((4, 2)), model).phi.shape
    (1, 2)
    """
    if model.local:
        raise InvalidInputError(
            "Partitions of surfaces with a place cannot be drawn from their prior directly; use a model with local=0."
        )
    n, d = x.shape
    p = model.priors
    assert p.beta is not None
    while True:  # until no flat surface has too many members, seldom more than a few times
        nu = float(p.nu.sample(rng, 1)[0])
        kind = int(rng.choice(len(model.odds), p=model.odds)) if len(model.odds) > 1 else 0
        if kind:
            labels = canonical(seated_sample(rng, Seating(x), kind, nu))
        elif truncation is None:
            labels = canonical(urn_sample(rng, n, nu))
        else:
            log_w = stick_sample(rng, nu, np.zeros(truncation, dtype=np.int64))
            labels = draw_categorical(rng, np.broadcast_to(log_w, (n, truncation)))
        state = State(
            labels=labels,
            beta=p.beta.sample(rng, d + 1),
            nu=nu,
            phi=phi_from_log_ell(draw_log_ell(rng, model, d))[None, :],
            sigma2=p.sigma2.sample(rng, 1),
            tau2=p.tau2.sample(rng, 1),
            grade=by_label(model, labels, grades_from_prior(rng, model.grades, int(labels.max()) + 1)[labels]),
            odds=kind,
            warp=int(rng.choice(len(model.warps), p=model.warps.prior)) if len(model.warps) > 1 else 0,
            kernel=int(rng.choice(len(KERNELS), p=model.kernel_chances)) if model.kernel == LEARNED else 0,
        )
        if not crowded(state).size:
            return state


def simulate_y(
    rng: np.random.Generator, state: State, x: FloatArray, model: Model, noise: FloatArray | None = None
) -> FloatArray:
    """Rewards at `x` given the parameters and, if any, known noise variances: fresh surfaces, fresh noise.

    They are standardised rewards: those of the surfaces, back through the state's warp.

    Examples
    --------
    >>> import numpy as np
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 3)[:, None]
    >>> model = Model("se", Priors().resolve(1), ard=False)
    >>> simulate_y(rng, prior_draw(rng, x, model), x, model).shape
    (3,)
    """
    y = trend(x) @ state.beta
    for s in state.surfaces():
        scale = model.scale_shape / rng.standard_gamma(model.scale_shape) if model.scale_shape else 1.0
        factor = cholesky(covariance(model.at(state), s, x, np.zeros(y.size) if noise is None else noise))
        y[s.members] += np.sqrt(scale) * (factor @ rng.standard_normal(s.members.size))
    return model.warps.maps[state.warp].inverse(y)


def draw_categorical(rng: np.random.Generator, log_p: FloatArray) -> IntArray:
    """One index per row with probability proportional to exp(log_p), by the Gumbel-max trick.

    Examples
    --------
    >>> import numpy as np
    >>> draw_categorical(np.random.default_rng(0), np.log([[1e-300, 1.0], [1.0, 1e-300]]))
    array([1, 0])
    """
    return np.asarray(np.argmax(log_p - np.log(rng.standard_exponential(log_p.shape)), axis=1))
