"""`Optimizer`: ask, tell, recommend, save."""

from __future__ import annotations

import json
import logging
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from infgp.core.kernels import KERNELS
from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.core.model import OWN_GRADES, OWN_SCALE_SHAPE, Data, Model, State
from infgp.core.priors import Gamma, LogNormal, Normal, Priors
from infgp.core.scaling import RewardScale, bend, check_variances, unbend
from infgp.errors import InvalidInputError, check_choice, check_int
from infgp.predict.mixture import predictive
from infgp.sample.chain import ONE_SURFACE_SWEEP, Move, sweep
from infgp.search.acquisition import TargetLaw, gain
from infgp.search.maximise import maximise
from infgp.search.proposal import Expected, Exploration, best_of, check_strategy, suggest
from infgp.search.warm import Budget, WarmChain, advance
from infgp.space import Parameter, Point, Space

logger = logging.getLogger("infgp")

FORMAT, VERSION = "infgp.Optimizer", 1
DIRECTIONS = ("maximize", "minimize")
#: Sweeps of the chain after each batch of new rewards, and before a recommendation.
NEXT: Budget = (160_000, 2, 20)
LAST: Budget = (500_000, 4, 60)
#: Chance of a surface to have a place.
LOCAL = 0.5
#: States kept from these sweeps.
STATES, LAST_STATES = 5, 12
#: A point that was not evaluated is recommended if it is believed to be better than the best evaluated one by so many
#: standard deviations of their difference (`benchmarks/recommendations.py`).
LEAP = 1.0
#: Rewards further than so many units from the median are drawn in to there: an outlier is an outlier.
FARTHEST = 1e6
#: Quantiles of a reward that a recommendation reports.
QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Observation:
    """A point and its reward, None for a failed evaluation, with the known part of the noise variance."""

    point: Point
    value: float | None
    noise_variance: float = 0.0


@dataclass(frozen=True)
class Recommendation:
    """The point with the best posterior expected reward, and what to expect there.

    Attributes
    ----------
    point : dict
        Maximiser (or minimiser) of the expected reward over the whole space if that is better than `best_evaluated` by
        more than is uncertain of their difference (one standard deviation); `best_evaluated` otherwise.
    mean, std : float
        Expected reward there, and how uncertain that expectation is. Rewards that fit no surface are set aside in it
        (see `target` of :class:`Optimizer`), but not in the quantiles.
    quantiles : dict of float to float
        Of a single further reward there, noise included.
    best_evaluated : dict
        The evaluated point with the best expected reward.
    """

    point: Point
    mean: float
    std: float
    quantiles: dict[float, float]
    best_evaluated: Point


@dataclass(frozen=True, eq=False)
class Posterior:
    """What an optimizer believes, in the model's units: for those who choose the next point by other means.

    Attributes
    ----------
    states : tuple of State
    data : Data
        Inputs in the unit cube and rewards, larger is better, standardised and perhaps bent.
    model : Model
    failed : array, shape (k, d)
        Inputs whose evaluation failed.
    scale : RewardScale
    bent : bool
    """

    states: tuple[State, ...]
    data: Data
    model: Model
    failed: FloatArray
    scale: RewardScale
    bent: bool

    def standard(self, reward: float) -> float:
        """A reward, larger is better, in the model's units."""
        z = self.scale.to_standard(np.array([reward]))
        return float((bend(z) if self.bent else z)[0])


class Optimizer:
    """Bayesian optimization that is not fooled by one lucky draw.

    Parameters
    ----------
    space : mapping of str to Float, Int or Choice
    direction : {"maximize", "minimize"}, default="maximize"
    seed : int or None, default=None
        The same seed and rewards give the same points, also across ``save`` and ``load``.
    target : {"expected", "main", "mean", "surface"}, default="expected"
        What is optimised: the expected reward, rewards that fit no surface set aside; the dominant surface alone, which
        no other rewards move; all surfaces weighed by how often they occur; or (Thompson sampling only, the paper's
        Algorithm 1) a surface drawn by these weights.
    acquisition : {"logei", "thompson", "local"}, default="logei"
        Log expected improvement averaged over posterior states, Thompson sampling over the space, or around the best
        points.
    exploration : "paper", float or (float, float), default=0.0
        Chance C n^(−λ) of a uniform random point at step n: "paper" is C = 1, λ = ½; a number is C.
    surfaces : {None, 1}, default=None
        None for any number of surfaces; 1 for an ordinary GP.
    regions : bool, default=True
        Whether surfaces may belong to a place and have length-scales of their own: landscapes rough here and smooth
        there. False is the paper's model. Without effect where `surfaces` is 1.
    bend : bool or None, default=None
        Whether the model sees rewards with both ends drawn in (`infgp.core.scaling.bend`: logarithmic below one robust
        standard deviation under the median and above two over it). It then resolves the good end of the rewards. A
        monotone map moves the typical reward along with it but not the average, so that None means: yes, unless
        `target` is "mean" or `surfaces` is 1. Predictions and recommendations are in the user's units either way.
    kernel : {"se", "matern52"}, default="se"
    n_initial : int or None, default=None
        Points of a Sobol design before the model is asked; 2 (d + 1) by default. Earlier data counts.

    Examples
    --------
    >>> import infgp
    >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0, n_initial=4)
    >>> for _ in range(8):
    ...     point = optimizer.ask()
    ...     optimizer.tell(point, -(point["x"] - 0.3) ** 2)
    >>> abs(optimizer.recommend().point["x"] - 0.3) < 0.05
    True
    """

    def __init__(
        self,
        space: Mapping[str, Parameter] | Space,
        direction: str = "maximize",
        seed: int | None = None,
        *,
        target: str = "expected",
        acquisition: str = "logei",
        exploration: str | float | tuple[float, float] = 0.0,
        surfaces: int | None = None,
        regions: bool = True,
        bend: bool | None = None,
        kernel: str = "se",
        n_initial: int | None = None,
    ) -> None:
        self.space = Space.of(space)
        check_choice("direction", direction, DIRECTIONS)
        check_strategy(acquisition, target)
        check_choice("kernel", kernel, KERNELS)
        if surfaces not in (None, 1):
            raise InvalidInputError(f"surfaces must be None (any number) or 1 (an ordinary GP), but got {surfaces!r}.")
        if not isinstance(regions, bool):
            raise InvalidInputError(f"regions must be True or False, but got {regions!r}.")
        if bend is not None and not isinstance(bend, bool):
            raise InvalidInputError(f"bend must be True, False or None (let infgp choose), but got {bend!r}.")
        if n_initial is not None:
            check_int("n_initial", n_initial, 1)
        if seed is not None:
            check_int("seed", seed, 0)
        self.direction, self.target, self.acquisition = direction, target, acquisition
        self.exploration, self.kernel = Exploration.of(exploration), kernel
        self.surfaces, self.regions = surfaces, regions
        self.bend = bool(target != "mean" and surfaces is None) if bend is None else bend
        self.n_initial = 2 * (self.space.d + 1) if n_initial is None else int(n_initial)
        entropy = np.random.SeedSequence(seed).entropy
        assert isinstance(entropy, int), "one number goes in, or none, and one comes out"
        self._entropy = entropy
        self._asked = self._designed = 0  # points handed out, and how many of them from the design
        self._observations: list[Observation] = []
        self._pending: list[Point] = []
        self._chain: WarmChain | None = None
        self._encoded = np.empty((0, self.space.d))  # of the observations

    # --- Ask and tell ------------------------------------------------------------------------------------------------

    @overload
    def ask(self, n: None = None) -> Point: ...
    @overload
    def ask(self, n: int) -> list[Point]: ...
    def ask(self, n: int | None = None) -> Point | list[Point]:
        """The next point to evaluate, or the next `n`; they are pending until they are told.

        Examples
        --------
        >>> import infgp
        >>> len(Optimizer({"k": infgp.Int(1, 9)}, seed=0).ask(3))
        3
        """
        count = 1 if n is None else check_int("n", n, 1)
        before = self._asked, self._designed, self._chain, list(self._pending)
        try:
            points = [self._next() for _ in range(count)]
        except BaseException:  # points that nobody has received are not pending
            self._asked, self._designed, self._chain, self._pending = before
            raise
        return points[0] if n is None else points

    def tell(self, point: Mapping[str, object], value: float | None, noise_variance: float | None = None) -> None:
        """Report the reward of a point, whether it was asked for or not.

        Parameters
        ----------
        point : mapping of str to value
        value : float or None
            None, NaN and infinities record a failed evaluation, which never enters the likelihood.
        noise_variance : float, optional
            Known noise variance of this reward (the square of its standard error), on top of the noise that is
            learned. Where any is positive, all surfaces share their scales and rewards are not bent, so that variances
            mean what they say.

        Examples
        --------
        >>> import infgp
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)})
        >>> optimizer.tell({"x": 0.5}, 1.0)
        >>> optimizer.tell({"x": 0.6}, None)
        >>> optimizer.best_observed.point
        {'x': 0.5}
        """
        valid = self.space.validate(point)
        variance = check_variances(None if noise_variance is None else [noise_variance], 1)
        observation = Observation(valid, _reward(value), float(variance[0]))
        encoded = np.vstack((self._encoded, self.space.to_unit([valid])))
        key = self.space.key(valid)
        match = next((i for i, p in enumerate(self._pending) if self.space.key(p) == key), None)
        if match is not None:
            del self._pending[match]
        self._encoded = encoded
        self._observations.append(observation)

    def withdraw(self, point: Mapping[str, object]) -> None:
        """Take a point that will not be evaluated off the pending ones (the latest, if it is pending several times).

        Examples
        --------
        >>> import infgp
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)})
        >>> optimizer.withdraw(optimizer.ask())
        >>> optimizer.pending
        ()
        """
        key = self.space.key(self.space.validate(point))
        match = [i for i, p in enumerate(self._pending) if self.space.key(p) == key]
        if not match:
            raise InvalidInputError(f"{dict(point)!r} is not pending; nothing was changed.")
        del self._pending[match[-1]]

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Everything told, in its order."""
        return tuple(replace(o, point=dict(o.point)) for o in self._observations)

    @property
    def counts(self) -> tuple[int, int]:
        """How many evaluations were told, and how many of them succeeded."""
        return len(self._observations), sum(o.value is not None for o in self._observations)

    @property
    def pending(self) -> tuple[Point, ...]:
        """Points asked for and not told yet, in their order."""
        return tuple(dict(point) for point in self._pending)

    @property
    def best_observed(self) -> Observation | None:
        """The luckiest draw: the best reward seen. Not to be confused with :meth:`recommend`."""
        done = [o for o in self._observations if o.value is not None]
        return max(done, key=lambda o: self._sign * (o.value or 0.0), default=None)

    def _next(self) -> Point:
        rng = self._generator(0, self._asked)
        with one_blas_thread():
            u = self._propose(rng)
        point = self.space.from_unit(u[None])[0]
        self._asked += 1
        self._pending.append(point)
        return dict(point)

    def _propose(self, rng: np.random.Generator) -> FloatArray:
        """A position in the unit cube; whatever goes wrong, a valid one."""
        begun = len(self._observations) + len(self._pending)
        if max(begun, self._designed) < self.n_initial:
            self._designed += 1
            return np.asarray(self.space.sobol(self._generator(1), self.n_initial)[self._designed - 1])
        uniform = np.asarray(self.space.snap(rng.random((1, self.space.d)))[0])
        x, y = self._rewards()
        if not y.size or rng.random() < self.exploration.chance(y.size):
            return uniform
        try:
            self._chain = self._advance(rng, x, y, NEXT, STATES)
            u = suggest(
                rng,
                self._chain.states,
                self._data(x, y, self._chain.unit),
                self._model,
                self.space,
                acquisition=self.acquisition,
                target=self.target,
                pending=self._encode(self._pending),
                failed=self._encoded[[o.value is None for o in self._observations]],
            )
            if np.isfinite(u).all():
                return u
            logger.warning("The model gave no finite point; a random one takes its place.")
        except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
            logger.warning("The model failed (%s); a random point takes the place of its suggestion.", error)
        return uniform

    def posterior(self, rng: np.random.Generator, budget: Budget = NEXT) -> Posterior:
        """The chain brought up to the rewards told so far, with all that is needed to make use of it.

        Parameters
        ----------
        rng : numpy.random.Generator
            Moves the chain if there are new rewards.
        budget : tuple of int
            Sweeps for these: work, least and most, as for `NEXT`.

        Examples
        --------
        >>> import infgp, numpy as np
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)})
        >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        ...     optimizer.tell({"x": x}, x)
        >>> optimizer.posterior(np.random.default_rng(0)).data.x.shape
        (6, 1)
        """
        x, y = self._rewards()
        if not y.size:
            raise InvalidInputError("There is no posterior yet: tell at least one reward first.")
        with one_blas_thread():
            self._chain = self._advance(rng, x, y, budget, STATES)
        failed = self._encoded[[o.value is None for o in self._observations]]
        data, unit = self._data(x, y, self._chain.unit), self._chain.unit
        return Posterior(self._chain.states, data, self._model, failed, RewardScale(*unit), self._bent)

    # --- Recommend ---------------------------------------------------------------------------------------------------

    def recommend(self) -> Recommendation:
        """The point with the best posterior expected reward. Asking for it does not change what comes next.

        Raises
        ------
        InvalidInputError
            Before any reward has been told.

        Examples
        --------
        >>> import infgp
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        ...     optimizer.tell({"x": x}, -(x - 0.5) ** 2)
        >>> abs(optimizer.recommend().point["x"] - 0.5) < 0.1
        True
        """
        x, y = self._rewards()
        if not y.size:
            raise InvalidInputError("There is nothing to recommend yet: tell at least one reward first.")
        rng = self._generator(2, len(self._observations))
        with one_blas_thread():
            chain, expected = self._believe(rng, x, y)
            good = best_of(x, expected(x))
            far, _ = maximise(rng, expected, self.space, good)
            better, sd = gain(expected.beliefs, far, good[0])
            leap = better > LEAP * sd
            at = (far if leap else good[0])[None]
            mean, std = self._law(expected, chain.unit, at)
            mixture = predictive(chain.states, self._data(x, y, chain.unit), self._model, at)
        levels = QUANTILES if self._sign > 0 else tuple(1.0 - q for q in QUANTILES)
        rewards = self._user(mixture.quantile(np.array(levels))[0], chain.unit)
        told = [o.point for o in self._observations if o.value is not None]
        evaluated = dict(told[int(np.argmax((x == good[0]).all(axis=1)))])
        return Recommendation(
            point=self.space.from_unit(at)[0] if leap else dict(evaluated),
            mean=float(mean[0]),
            std=float(std[0]),
            quantiles=dict(zip(QUANTILES, map(float, rewards), strict=True)),
            best_evaluated=evaluated,
        )

    def predict(self, points: Sequence[Mapping[str, object]]) -> tuple[FloatArray, FloatArray]:
        """Expected reward at some points, and how uncertain that expectation is; what :meth:`recommend` is based on.

        Examples
        --------
        >>> import infgp
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0)
        >>> for x in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        ...     optimizer.tell({"x": x}, x)
        >>> mean, std = optimizer.predict([{"x": 0.5}, {"x": 0.7}])
        >>> bool(mean[0] < mean[1])
        True
        """
        x, y = self._rewards()
        if not y.size:
            raise InvalidInputError("There is nothing to predict from yet: tell at least one reward first.")
        at = self.space.to_unit(points)
        with one_blas_thread():
            chain, expected = self._believe(self._generator(2, len(self._observations)), x, y)
            return self._law(expected, chain.unit, at)

    def _believe(self, rng: np.random.Generator, x: FloatArray, y: FloatArray) -> tuple[WarmChain, Expected]:
        """The chain some sweeps on, and the target over its states."""
        chain = self._advance(rng, x, y, LAST, LAST_STATES, again=True)
        target = "expected" if self.target == "surface" else self.target
        data = self._data(x, y, chain.unit)
        return chain, Expected(tuple(TargetLaw.of(state, data, self._model, target) for state in chain.states))

    def _law(self, expected: Expected, unit: tuple[float, float], at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the target over states, in the user's units.

        Where rewards are bent, what has these moments is the bent reward, and the ends of the interval of one standard
        deviation are unbent: exact on the straight, and moments of the exponential tails would say nothing.
        """
        middle, sd = expected.law(at)
        return self._user(middle, unit), np.abs(self._user(middle + sd, unit) - self._user(middle - sd, unit)) / 2.0

    # --- The chain ---------------------------------------------------------------------------------------------------

    @property
    def _sign(self) -> float:
        return 1.0 if self.direction == "maximize" else -1.0

    @property
    def _noise_known(self) -> bool:
        return any(o.noise_variance > 0.0 for o in self._observations if o.value is not None)

    @property
    def _bent(self) -> bool:
        return self.bend and not self._noise_known

    @property
    def _model(self) -> Model:
        d = self.space.d
        shape = 0.0 if self._noise_known or self.surfaces == 1 else OWN_SCALE_SHAPE
        model = Model(self.kernel, search_priors(d).resolve(d), ard=d > 1, scale_shape=shape)
        return replace(model, local=LOCAL, grades=OWN_GRADES) if self.regions and self.surfaces is None else model

    def _generator(self, *key: int) -> np.random.Generator:
        """Randomness for one purpose: an interrupted step leaves no trace in the next."""
        return np.random.default_rng(np.random.SeedSequence(self._entropy, spawn_key=key))

    def _encode(self, points: list[Point]) -> FloatArray:
        return self.space.to_unit(points) if points else np.empty((0, self.space.d))

    def _rewards(self) -> tuple[FloatArray, FloatArray]:
        """Inputs in the unit cube and rewards, larger is better, of the evaluations that succeeded."""
        done = [o.value is not None for o in self._observations]
        y = np.array([o.value for o in self._observations if o.value is not None], dtype=np.float64)
        return self._encoded[done], self._sign * _bounded(y)

    def _data(self, x: FloatArray, y: FloatArray, unit: tuple[float, float]) -> Data:
        noise = np.array([o.noise_variance for o in self._observations if o.value is not None])
        scale = RewardScale(*unit)
        z, v = scale.to_standard(y), scale.variances_to_standard(noise)
        return Data(x, bend(z) if self._bent else z, v)

    def _user(self, z: FloatArray, unit: tuple[float, float]) -> FloatArray:
        """Values of the model's in the user's units."""
        return np.asarray(self._sign * RewardScale(*unit).from_standard(unbend(z) if self._bent else z))

    def _advance(
        self,
        rng: np.random.Generator,
        x: FloatArray,
        y: FloatArray,
        budget: Budget,
        keep: int,
        again: bool = False,
    ) -> WarmChain:
        """The chain with the rewards that it has not seen yet, some sweeps on; as it is if there are none."""
        chain = self._chain
        if chain is not None and chain.n == y.size and not again:
            return chain
        scale = RewardScale.fit(y)
        unit = (scale.location, scale.scale)
        moves: tuple[Move, ...] = (sweep,) if self.surfaces is None else ONE_SURFACE_SWEEP
        return advance(rng, chain, self._data(x, y, unit), unit, self._model, moves, budget, keep)

    # --- Save and load -----------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a JSON file, all of it or nothing: a crash on the way leaves the old file.

        Examples
        --------
        >>> import infgp, tempfile, os
        >>> optimizer = Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     optimizer.save(os.path.join(folder, "run.json"))
        ...     again = Optimizer.load(os.path.join(folder, "run.json"))
        >>> again.ask() == optimizer.ask()
        True
        """
        target = Path(path)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(self.to_json(), file, allow_nan=False)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Optimizer:
        """The optimizer that :meth:`save` wrote; it goes on as if nothing had happened."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
        except json.JSONDecodeError as error:
            raise InvalidInputError(
                f"{os.fspath(path)} is not JSON ({error}); give a file that Optimizer.save wrote."
            ) from error
        return cls.from_json(content)

    def to_json(self) -> dict[str, Any]:
        """Everything, in plain JSON types; :meth:`from_json` undoes it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "space": self.space.to_json(),
            "options": {
                "direction": self.direction,
                "target": self.target,
                "acquisition": self.acquisition,
                "exploration": [self.exploration.c, self.exploration.power],
                "surfaces": self.surfaces,
                "regions": self.regions,
                "bend": self.bend,
                "kernel": self.kernel,
                "n_initial": self.n_initial,
            },
            "entropy": str(self._entropy),  # 128 bits: more than some readers of JSON hold in a number
            "asked": self._asked,
            "designed": self._designed,
            "observations": [{**vars(o), "point": dict(o.point)} for o in self._observations],
            "pending": [dict(point) for point in self._pending],
            "chain": None if self._chain is None else self._chain.to_json(),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Optimizer:
        """The optimizer that :meth:`to_json` described."""
        if not isinstance(content, Mapping) or content.get("format") != FORMAT:
            raise InvalidInputError("This is not a saved optimizer; give what Optimizer.save or to_json wrote.")
        if content.get("version") != VERSION:
            raise InvalidInputError(
                f"This optimizer was saved in version {content.get('version')!r} of the format, and this infgp reads "
                f"version {VERSION}; use the infgp that wrote it."
            )
        try:
            options = dict(content["options"])
            options["exploration"] = tuple(options["exploration"])
            out = cls(Space.from_json(content["space"]), **options)
            out._entropy, out._asked = int(content["entropy"]), check_int("asked", content["asked"], 0)
            out._designed = check_int("designed", content["designed"], 0)
            for entry in content["observations"]:
                out.tell(entry["point"], entry["value"], entry.get("noise_variance"))
            out._pending = [out.space.validate(point) for point in content["pending"]]
            if content["chain"] is not None:
                out._chain = WarmChain.from_json(content["chain"], out.space.d, out._rewards()[1].size)
        except InvalidInputError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(f"The saved optimizer is damaged: {error!r} is missing or malformed.") from error
        return out


def search_priors(d: int) -> Priors:
    """Priors for optimization: no linear trend, length-scales of every size, few surfaces.

    Those of :class:`infgp.InfiniteGP` cost in a search. A trend points to the corners of the cube, and so do very long
    length-scales before much is known; and it should take strong evidence before a good region is held to be noise.

    Examples
    --------
    >>> search_priors(2).lengthscale.scale
    1.0
    """
    return Priors(
        beta=Normal(0.0, np.r_[1.0, np.full(d, 1e-3)]),
        lengthscale=LogNormal(loc=math.log(0.3 * math.sqrt(d)), scale=1.0),
        nu=Gamma(1.0, 200.0),
    )


def _reward(value: object) -> float | None:
    """A finite float, or None for what counts as failed."""
    if value is None:
        return None
    try:
        if isinstance(value, str | bytes | bool | np.bool_):
            raise TypeError
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(
            f"A reward must be a number, or None for a failed evaluation, but got {value!r}."
        ) from None
    return number if math.isfinite(number) else None


def _bounded(y: FloatArray) -> FloatArray:
    """Rewards that arithmetic can bear; all that are not absurd stay as they are."""
    if not y.size:
        return y
    y = np.clip(y, -1e150, 1e150)
    low, middle, high = np.percentile(y, (16.0, 50.0, 84.0))
    reach = FARTHEST * (high - low) / 2.0
    return np.clip(y, middle - reach, middle + reach) if reach > 0.0 else y
