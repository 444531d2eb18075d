"""What a search is set up to do and was told: the books that `Optimizer` keeps."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from infgp.core.forks import renew_after_fork
from infgp.core.scaling import check_variances
from infgp.errors import InvalidInputError, check_int
from infgp.habits import Hints
from infgp.search import frames
from infgp.search.learning import Learned, WarmChain
from infgp.search.outcomes import Observation, check_names, checked_constraints, checked_cost, checked_values
from infgp.search.standing import Log, Setup, Standing
from infgp.space import Point, Space


class Journal(Hints):
    """Tell and withdraw, and what was told; a part of :class:`infgp.Optimizer`.

    Examples
    --------
    >>> import infgp
    >>> isinstance(infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}), Journal)
    True
    """

    def __init__(self, setup: Setup, seed: int | None) -> None:
        self._setup = setup
        self._entropy = self._design_entropy = new_entropy(seed)
        self._log: Log = []  # only grows; what counts of it says the standing
        self._standing = Standing()
        self._known: dict[str, tuple[int, WarmChain | None, Learned]] = {}  # and what it was learned from
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Make the locks anew, held by nobody: for processes that were forked while another thread was asking."""
        self._lock = threading.RLock()  # held to change the standing
        self._asking = threading.RLock()  # held while a point is chosen: two at once would choose the same

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_lock", "_asking", "_known")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _known={})
        self.renew_locks()
        renew_after_fork(self)

    # --- Tell --------------------------------------------------------------------------------------------------------

    def tell(
        self,
        point: Mapping[str, object],
        value: float | Sequence[float] | None,
        noise_variance: float | None = None,
        constraints: Mapping[str, float] | Sequence[float] | None = None,
        cost: float | None = None,
    ) -> None:
        """Report the reward of a point, whether it was asked for or not.

        Parameters
        ----------
        point : mapping of str to value
        value : float, a sequence of floats with one for each objective, or None
            None, NaN and infinities record a failed evaluation, which never enters the likelihood.
        noise_variance : float, optional
            Known noise variance of this reward (the square of its standard error), on top of the noise that is
            learned. Where any is positive, all surfaces share their scales and rewards are not warped, so that
            variances mean what they say. For one objective.
        constraints : mapping of str to float, or sequence of float, optional
            Numbers that must not be positive. They are learned as rewards are, and the search keeps to where they are
            likely to hold.
        cost : float, optional
            What the evaluation cost, in any unit such as seconds or money. It is kept with the observation; points are
            chosen with regard to it where the option `per_cost` is True.

        Examples
        --------
        >>> import infgp
        >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)})
        >>> optimizer.tell({"x": 0.5}, 1.0)
        >>> optimizer.tell({"x": 0.6}, None)
        >>> optimizer.tell({"x": 0.7}, 3.0, constraints={"weight": 0.2})
        >>> optimizer.best_observed.point
        {'x': 0.5}
        """
        self._record(self._checked([(point, value, noise_variance, constraints, cost)]))

    def tell_many(
        self,
        points: Any,
        values: Any,
        noise_variances: Any = None,
        constraints: Any = None,
        costs: Any = None,
    ) -> None:
        """Report the rewards of many points at once: all of them or, where anything is wrong with one, none.

        Parameters
        ----------
        points : sequence of points, data frame, or array of shape (n, parameters)
            A frame, of pandas, polars or Arrow, has a column for each parameter; other columns are not read. A missing
            value stands for the option None, or for a parameter that does not apply to the point. The columns of an
            array are the parameters in the order of the space.
        values : sequence, array, or a series or frame
            For each point what :meth:`tell` takes; with several objectives a frame has a column for each.
        noise_variances : sequence of float or None, optional
        constraints : sequence of what :meth:`tell` takes, or a data frame, optional
            The columns of a frame are named as the constraints, with or without ``constraint:`` before the name.
        costs : sequence of float or None, optional

        Examples
        --------
        >>> import infgp
        >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)})
        >>> optimizer.tell_many([{"x": 0.5}, {"x": 0.6}], [1.0, None])
        >>> optimizer.counts
        (2, 1)
        """
        rows = frames.rows_to_tell(self.space, points, values, noise_variances, constraints, costs)
        self._record(self._checked(rows, numbered=True))

    def _checked(self, rows: Iterable[tuple[Any, Any, Any, Any, Any]], numbered: bool = False) -> Log:
        """Entries of the log from the arguments of :meth:`tell`; errors on several of them say which one is wrong."""
        observations: list[Observation] = []
        names: Collection[str] | None = None  # of the constraints that were told last
        for row in rows:
            try:
                observation = self._observation(*row)
                if observation.constraints:
                    if names is None:
                        names = next((o.constraints for o, _ in reversed(self._told()) if o.constraints), ())
                    check_names(names, observation.constraints)
                    names = observation.constraints
                observations.append(observation)
            except InvalidInputError as error:
                if not numbered:
                    raise
                raise InvalidInputError(f"Point {len(observations)}, counted from 0: {error}") from None
        inputs = self.space.encoded([observation.point for observation in observations])
        return list(zip(observations, inputs, strict=True))

    def _observation(self, point: Any, value: Any, noise_variance: Any, constraints: Any, cost: Any) -> Observation:
        valid = self.space.validate(point)
        variance = 0.0 if noise_variance is None else float(check_variances([noise_variance], 1)[0])
        if variance and len(self.directions) > 1:
            raise InvalidInputError("noise_variance is for one objective; leave it out.")
        if variance and self._setup.options.sampler == "truncated":
            raise InvalidInputError("noise_variance is for sampler='collapsed'; the truncated sampler knows one noise.")
        values, limits = checked_values(value, len(self.directions)), checked_constraints(constraints)
        return Observation(valid, values, variance, limits, checked_cost(cost))

    def _record(self, entries: Log) -> None:
        """Add entries to the log, and take their points off the pending ones."""
        with self._lock:
            now, pending = self._standing, list(self._standing.pending)
            waiting = [self.space.key(p) for p in pending]
            for observation, _ in entries if waiting else ():
                key = self.space.key(observation.point)
                if key in waiting:
                    index = waiting.index(key)
                    del waiting[index], pending[index]
            del self._log[now.told :]  # left by a tell that was interrupted
            self._log.extend(entries)
            self._standing = replace(now, told=now.told + len(entries), pending=tuple(pending))

    def withdraw(self, point: Mapping[str, object]) -> None:
        """Take a point that will not be evaluated off the pending ones (the latest, if it is pending several times).

        Examples
        --------
        >>> import infgp
        >>> optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)})
        >>> optimizer.withdraw(optimizer.ask())
        >>> optimizer.pending
        ()
        """
        key = self.space.key(self.space.validate(point))
        with self._lock:
            pending = self._standing.pending
            match = [i for i, p in enumerate(pending) if self.space.key(p) == key]
            if not match:
                raise InvalidInputError(f"{dict(point)!r} is not pending; nothing was changed.")
            self._standing = replace(self._standing, pending=pending[: match[-1]] + pending[match[-1] + 1 :])

    def reseed(self, seed: int | None = None) -> None:
        """Take other randomness from here on, fresh if no seed is given; the design stays what it is.

        Examples
        --------
        >>> import infgp
        >>> infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0).reseed(1)
        """
        self._entropy = new_entropy(seed)
        self._known = {}

    # --- What was told -----------------------------------------------------------------------------------------------

    @property
    def setup(self) -> Setup:
        """What the search is set up to do, as plain data."""
        return self._setup

    @property
    def space(self) -> Space:
        """The space that is searched."""
        return self._setup.space

    @property
    def directions(self) -> tuple[str, ...]:
        """Whether each objective is to be maximized or minimized."""
        return self._setup.directions

    @property
    def direction(self) -> str:
        """Whether the objective is to be maximized or minimized; with several objectives see `directions`."""
        self._single("direction")
        return self.directions[0]

    @property
    def n_initial(self) -> int:
        """Points of the design."""
        return self._setup.n_initial

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Everything told, in its order."""
        return tuple(replace(o, point=dict(o.point), constraints=dict(o.constraints)) for o, _ in self._told())

    @property
    def counts(self) -> tuple[int, int]:
        """How many evaluations were told, and how many of them succeeded: see :attr:`counted`."""
        counted = self.counted
        return counted.size, int(counted.sum())

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which of the observations have given a reward, shape (observations,).

        The others failed, or their number stands for a failure (the option `stand_ins`).
        """
        return self._setup.counted(self._told())

    @property
    def pending(self) -> tuple[Point, ...]:
        """Points asked for and not told yet, in their order."""
        return tuple(dict(point) for point in self._standing.pending)

    @property
    def fallbacks(self) -> int:
        """How many suggestions were random points because the model had failed numerically."""
        return self._standing.fallbacks

    @property
    def best_observed(self) -> Observation | None:
        """The luckiest reward: the best one seen, at a point that violated no constraint. Not :meth:`recommend`."""
        self._single("best_observed")
        done = [o for o in self.observations if o.values is not None and o.feasible]
        return max(done, key=lambda o: self._setup.signs[0] * (o.value or 0.0), default=None)

    def _told(self, standing: Standing | None = None) -> Log:
        """The observations that count."""
        return self._log[: (standing or self._standing).told]

    def _index(self, objective: int) -> int:
        if check_int("objective", objective, 0) >= len(self.directions):
            raise InvalidInputError(f"objective must be below {len(self.directions)}, but got {objective!r}.")
        return int(objective)

    def _single(self, what: str) -> None:
        if len(self.directions) > 1:
            raise InvalidInputError(
                f"{what} is for one objective, but there are {len(self.directions)}; see tradeoffs() and directions."
            )


def new_entropy(seed: int | None) -> int:
    """The number that all randomness of a search is derived from: the seed's, or a fresh one."""
    entropy = np.random.SeedSequence(None if seed is None else check_int("seed", seed, 0)).entropy
    assert isinstance(entropy, int), "one number goes in, or none, and one comes out"
    return entropy


def generator(entropy: int, *key: int) -> np.random.Generator:
    """Randomness for one purpose: an interrupted step leaves no trace in the next."""
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=key))
