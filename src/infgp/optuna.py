"""`InfGPSampler`: the ∞-GP as a sampler of Optuna.

The sampler keeps an :class:`~infgp.Optimizer` that is told of all trials that have come to an end, and suggests what it
suggests: with one seed and one search space, a study's trials are the points that the optimizer would have asked for.
This memory is a convenience: where it is missing or does not fit the study, it is made anew from the study. Randomness
is derived from (seed, trial number), so that workers with the same seed do not repeat each other, and a worker that is
replaced goes on.
"""

from __future__ import annotations

import json
import logging
import math
import secrets
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

import numpy as np

from infgp.core.forks import renew_after_fork
from infgp.core.options import EXACT_UP_TO
from infgp.core.priors import Priors
from infgp.errors import InvalidInputError, check_int, extra
from infgp.predict.functionals import ObjectiveLike
from infgp.predict.mixture import off_surface_probability
from infgp.search.candidates import Candidates
from infgp.search.optimizer import Optimizer
from infgp.search.outcomes import Recommendation, Tradeoff, checked_cost
from infgp.search.presets import takes_preset
from infgp.search.proposal import DEFAULT_GOAL
from infgp.search.regret import Regret
from infgp.search.stopping import Rule, check_rule, may_stop
from infgp.space import Choice, Float, Int, Parameter, Point, Scalar, Space, SpaceLike

with extra("optuna", "optuna"):
    from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
    from optuna.samplers import BaseSampler
    from optuna.samplers._base import _process_constraints_after_trial
    from optuna.search_space import IntersectionSearchSpace
    from optuna.study import Study, StudyDirection
    from optuna.trial import BaseTrial, FrozenTrial, TrialState

logger = logging.getLogger("infgp")

#: User attribute of a trial: the probability, when it ended, that its value lies off the dominant surface.
OFF_SURFACE = "infgp:off_surface_probability"
#: User attribute of a trial: the posterior mean of the number of surfaces when it ended.
SURFACES = "infgp:surfaces"
#: User attribute of a trial: the posterior mean of the concentration ν when it ended.
NU = "infgp:nu"
#: User attribute of a trial: the best expected value of all trials' points so far when it ended, with one objective.
BEST_EXPECTED = "infgp:best_expected"
#: User attribute of a trial: what it cost. The user's, or the seconds that it took, which are stored with `per_cost`.
COST = "infgp:cost"
#: System attribute of a trial: the objective itself failed, not the machine under it.
FAILED = "infgp:failed"
#: System attribute of a trial: the values that it has been given while it runs, and may not have asked for yet.
GIVEN = "infgp:given"
#: First number of the key that the randomness of single parameters is derived from; `Optimizer` uses smaller numbers.
INDEPENDENT = 100

Distributions: TypeAlias = dict[str, BaseDistribution]
#: For each parameter with a condition: other parameters, and their values at which it applies, choices by number.
Conditions: TypeAlias = dict[str, dict[str, list[float | int]]]
#: The values of a trial that completed, None for one that failed or was pruned.
Outcome: TypeAlias = tuple[float, ...] | None


@dataclass
class _Memory:
    """The optimizer of one study and search space, and the outcome of each trial that it was told of."""

    study: str
    distributions: Distributions
    directions: tuple[StudyDirection, ...]
    optimizer: Optimizer
    told: dict[int, Outcome] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)  # of the trials behind the optimizer's observations

    def fits(self, study: Study, distributions: Distributions, trials: Mapping[int, FrozenTrial]) -> bool:
        """Whether everything told is still so; a trial told of a moment before it is stored counts."""
        mine = (self.study, self.distributions, self.directions)
        if mine != (study.study_name, distributions, tuple(study.directions)):
            return False
        now = ((trials.get(number), outcome) for number, outcome in self.told.items())
        return all(t is not None and (t.state == TrialState.RUNNING or _outcome(t) == told) for t, told in now)

    def outward(self, point: Point) -> Point:
        """A point of the optimizer with Optuna's values."""
        return {name: _outward(d, point[name]) for name, d in self.distributions.items() if name in point}


class InfGPSampler(BaseSampler):
    """Optuna sampler that is not fooled by one lucky value.

    Parameters
    ----------
    seed : int or None
        Same seed, same trials, as long as they run one after the other.
    n_startup_trials : int or None
        Trials of a Sobol design before the model is asked; by default 2 (p + 1), with p the number of parameters, but
        at most 20. Earlier trials count.
    search_space : dict of str to distribution, dict of str to Float, Int or Choice, or None
        Parameters to choose together. By default they are the parameters that all completed trials have in common, and
        none before the first trial has completed. Parameters of infgp may have conditions: see :func:`suggest`.
    constraints_func : callable or None
        From a finished trial to numbers of which none may be positive. ``Trial.set_constraint`` needs no function.
    independent_sampler : optuna.samplers.BaseSampler or None
        For parameters that are not chosen together, such as those of some trials only whose condition is not in
        `search_space`; uniform draws by default.
    store_beliefs : bool
        Whether each trial gets, when it ends, the probability that its value lies off the dominant surface, the number
        of surfaces, ν and, with one objective, the best expected value so far as user attributes.
    confirm_after : int or None
        Number of trials after which points are evaluated again, to find out which of them is best, as
        ``Optimizer.ask(confirm=True)`` does. By default the search never ends. For one objective.
    per_cost : bool, default=False
        Whether what a trial is expected to add is divided by what it is expected to cost, which is learned: the user
        attribute ``infgp:cost`` of a trial or, where its objective does not set it, the seconds that it took.
    preset, objective, outliers, target, goal, acquisition, exploration, gradients, reference_point, kernel, ard
        As in :class:`infgp.Optimizer`; so are the last seven.
    surfaces, regions, surface_scales, odds, sampler, priors, warp, exact_up_to

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=InfGPSampler(seed=0))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", 0.0, 1.0) - 0.3) ** 2, n_trials=12)
    >>> abs(study.best_params["x"] - 0.3) < 0.05
    True
    """

    @takes_preset
    def __init__(
        self,
        *,
        seed: int | None = None,
        n_startup_trials: int | None = None,
        search_space: Mapping[str, BaseDistribution] | SpaceLike | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        independent_sampler: BaseSampler | None = None,
        store_beliefs: bool = True,
        confirm_after: int | None = None,
        preset: str | None = None,  # its options have come with the others
        objective: ObjectiveLike | Sequence[ObjectiveLike] = "mean",
        outliers: str = "count",
        target: str = "objective",
        goal: str = DEFAULT_GOAL,
        acquisition: str | None = None,
        exploration: str | float | tuple[float, float] = 0.0,
        gradients: bool = False,
        reference_point: Sequence[float] | None = None,
        per_cost: bool = False,
        kernel: str = "se",
        ard: bool = True,
        surfaces: int | None = None,
        regions: bool = True,
        surface_scales: str = "own",
        odds: str = "kriged",
        sampler: str = "collapsed",
        priors: Priors | None = None,
        warp: str | None = "auto",
        exact_up_to: int | None = EXACT_UP_TO,
    ) -> None:
        self._options: dict[str, Any] = {
            "n_initial": n_startup_trials,
            "objective": objective,
            "outliers": outliers,
            "target": target,
            "goal": goal,
            "acquisition": acquisition,
            "exploration": exploration,
            "gradients": gradients,
            "reference_point": list(reference_point) if isinstance(reference_point, tuple) else reference_point,
            "per_cost": per_cost,
            "kernel": kernel,
            "ard": ard,
            "surfaces": surfaces,
            "regions": regions,
            "surface_scales": surface_scales,
            "odds": odds,
            "sampler": sampler,
            "priors": priors,
            "warp": warp,
            "exact_up_to": exact_up_to,
        }
        if n_startup_trials is not None:
            check_int("n_startup_trials", n_startup_trials, 1)
        # A seed is drawn where none was given, so that the memory can be made anew with the same randomness.
        self._seed = secrets.randbits(128) if seed is None else check_int("seed", seed, 0)
        self._reseed: int | None = None  # replaces the seed once trials run in parallel; the design keeps the seed
        listed = [part for part in (objective, self._options["reference_point"]) if isinstance(part, list)]
        directions = ["maximize"] * max(map(len, listed), default=1)
        Optimizer({"x": Float(0.0, 1.0)}, directions, **self._options)  # what does not go together is refused here
        self._fixed, self._conditions = _given(search_space)
        if self._fixed:
            _space(self._fixed, self._conditions)  # what cannot be searched is refused here
        self._constraints_func = constraints_func
        self._independent_sampler = independent_sampler
        self._store_beliefs = store_beliefs
        self._confirm_after = None if confirm_after is None else check_int("confirm_after", confirm_after, 1)
        if confirm_after is not None and len(directions) > 1:
            raise InvalidInputError("confirm_after is for one objective; leave it out.")
        self._begun: dict[int, float] = {}  # when trials began, by their storage's numbers, where costs count
        self._memory: _Memory | None = None
        self._searched = ("", IntersectionSearchSpace())  # a study's name, and what its trials have in common
        self.renew_locks()
        renew_after_fork(self)

    def renew_locks(self) -> None:
        """Make the lock anew, held by nobody."""
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.renew_locks()
        renew_after_fork(self)

    def reseed_rng(self) -> None:
        """Take fresh randomness; Optuna calls this for jobs that run in parallel."""
        with self._lock:
            self._reseed = secrets.randbits(128)
            if self._memory is not None:
                self._memory.optimizer.reseed(self._reseed)
        if self._independent_sampler is not None:
            self._independent_sampler.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> Distributions:
        """Parameters that all completed trials have in common, without those that have a single value."""
        return self._together(study)

    def sample_relative(self, study: Study, trial: FrozenTrial, search_space: Distributions) -> dict[str, Any]:
        """The next point: of the design at first, then the model's."""
        distributions = search_space if self._conditions else _varying(search_space)
        if not distributions:
            return {}
        with self._lock:
            memory, pending = self._recall(study, distributions, trial.number)
            confirm = self._confirms(memory, len(pending))
            point = memory.optimizer.suggest(trial.number, pending, confirm=confirm)
            given = memory.outward(point)
            internal = {name: float(distributions[name].to_internal_repr(value)) for name, value in given.items()}
            study._storage.set_trial_system_attr(trial._trial_id, GIVEN, json.dumps(internal))
        return given

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A value for a parameter that is not chosen together with others."""
        if self._independent_sampler is not None:
            return self._independent_sampler.sample_independent(study, trial, param_name, param_distribution)
        space = _space({param_name: param_distribution})
        entropy = self._seed if self._reseed is None else self._reseed
        key = (INDEPENDENT, trial.number, zlib.crc32(param_name.encode()))
        rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=key))
        return _outward(param_distribution, space.from_unit(rng.random((1, space.d)))[0][param_name])

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Note when the trial begins, where costs count, and pass on to the independent sampler."""
        if self._options["per_cost"]:
            self._begun[trial._trial_id] = time.monotonic()
        if self._independent_sampler is not None:
            self._independent_sampler.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Store constraints, the seconds that it took where costs count, and what is now believed of the trial."""
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        begun = self._begun.pop(trial._trial_id, None)
        if begun is not None and COST not in trial.user_attrs:
            study._storage.set_trial_user_attr(trial._trial_id, COST, round(time.monotonic() - begun, 3))
        if self._constraints_func is not None or begun is not None:
            trial = study._storage.get_trial(trial._trial_id)
        if self._independent_sampler is not None:
            self._independent_sampler.after_trial(study, trial, state, values)
        if state == TrialState.FAIL:
            study._storage.set_trial_system_attr(trial._trial_id, FAILED, True)
        elif state == TrialState.COMPLETE and values is not None:
            for key, value in self._note(study, trial, values).items():
                study._storage.set_trial_user_attr(trial._trial_id, key, value)

    def recommend(self, study: Study) -> Recommendation:
        """The point with the best objective. ``study.best_trial``, in contrast, is the luckiest one.

        Under constraints it is the best point among those that are more likely feasible than not.

        Raises
        ------
        InvalidInputError
            With several objectives (see :meth:`tradeoffs`), or before any trial has completed.

        Examples
        --------
        >>> import optuna
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> study = optuna.create_study(sampler=InfGPSampler(seed=0))
        >>> study.optimize(lambda trial: (trial.suggest_float("x", 0.0, 1.0) - 0.3) ** 2, n_trials=12)
        >>> abs(study.sampler.recommend(study).point["x"] - 0.3) < 0.05
        True
        """
        with self._lock:
            memory = self._memory_of(study)
            found = memory.optimizer.recommend()
        outward = memory.outward
        return replace(
            found,
            point=outward(found.point),
            best_evaluated=outward(found.best_evaluated),
            otherwise=None if found.otherwise is None else outward(found.otherwise),
        )

    def regret(self, study: Study) -> Regret:
        """What is still to be gained over the recommended point; see `Optimizer.regret`.

        Examples
        --------
        >>> import optuna
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> study = optuna.create_study(sampler=InfGPSampler(seed=0))
        >>> study.optimize(lambda trial: (trial.suggest_float("x", 0.0, 1.0) - 0.3) ** 2, n_trials=12)
        >>> study.sampler.regret(study).quantile(0.9) < 0.1
        True
        """
        with self._lock:
            memory = self._memory_of(study)
            found = memory.optimizer.regret()
        return replace(found, point=memory.outward(found.point))

    def candidates(self, study: Study, top: int = 5) -> Candidates:
        """Trials' points that may be best, with their probabilities; see `Optimizer.candidates`.

        Examples
        --------
        >>> import optuna
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> study = optuna.create_study(sampler=InfGPSampler(seed=0))
        >>> study.optimize(lambda trial: (trial.suggest_float("x", 0.0, 1.0) - 0.3) ** 2, n_trials=12)
        >>> len(study.sampler.candidates(study, top=3))
        3
        """
        with self._lock:
            memory = self._memory_of(study)
            found = memory.optimizer.candidates(top)
        return Candidates(replace(row, point=memory.outward(row.point)) for row in found)

    def may_stop(self, study: Study, rule: Rule) -> bool:
        """Whether a rule such as :class:`infgp.RegretBelow` is checked after the trials so far, and is met.

        Examples
        --------
        >>> import optuna
        >>> from infgp import RegretBelow
        >>> InfGPSampler(seed=0).may_stop(optuna.create_study(), RegretBelow(0.1))
        False
        """
        check_rule(rule)
        with self._lock:
            return bool(self._together(study)) and may_stop(rule, self._memory_of(study).optimizer)

    def tradeoffs(self, study: Study) -> tuple[Tradeoff, ...]:
        """Trials' points that are trade-offs between the objectives; see `Optimizer.tradeoffs`.

        Examples
        --------
        >>> import optuna
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> study = optuna.create_study(directions=["maximize", "minimize"], sampler=InfGPSampler(seed=0))
        >>> study.optimize(lambda trial: [(x := trial.suggest_float("x", 0.0, 1.0)), x], n_trials=8)
        >>> len(study.sampler.tradeoffs(study)) > 0
        True
        """
        with self._lock:
            memory = self._memory_of(study)
            return tuple(replace(t, point=memory.outward(t.point)) for t in memory.optimizer.tradeoffs())

    def optimizer(self, study: Study) -> Optimizer:
        """The optimizer that was told of the study's trials. It numbers the options of categorical parameters.

        It is the sampler's own: read it, and do not tell it anything.

        Examples
        --------
        >>> import optuna
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> study = optuna.create_study(sampler=InfGPSampler(seed=0))
        >>> study.optimize(lambda trial: (trial.suggest_float("x", 0.0, 1.0) - 0.3) ** 2, n_trials=3)
        >>> study.sampler.optimizer(study).counts
        (3, 3)
        """
        with self._lock:
            return self._memory_of(study).optimizer

    def trial_numbers(self, study: Study) -> tuple[int, ...]:
        """The number of the trial behind each observation of :meth:`optimizer`; other trials were passed over.

        Examples
        --------
        >>> import optuna
        >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
        >>> study = optuna.create_study(sampler=InfGPSampler(seed=0))
        >>> study.optimize(lambda trial: (trial.suggest_float("x", 0.0, 1.0) - 0.3) ** 2, n_trials=3)
        >>> study.sampler.trial_numbers(study)
        (0, 1, 2)
        """
        with self._lock:
            return tuple(self._memory_of(study).numbers)

    @property
    def fallbacks(self) -> int:
        """How many suggestions were random points because the model had failed numerically."""
        return 0 if self._memory is None else self._memory.optimizer.fallbacks

    # --- What is known -----------------------------------------------------------------------------------------------

    def _confirms(self, memory: _Memory, running: int) -> bool:
        """Whether the next trial evaluates a point again."""
        after = self._confirm_after
        return after is not None and len(memory.told) + running >= after and memory.optimizer.counts[1] > 0

    def _together(self, study: Study) -> Distributions:
        """What is chosen together."""
        if self._fixed is not None:
            return dict(self._fixed)
        with self._lock:
            if self._searched[0] != study.study_name:
                self._searched = (study.study_name, IntersectionSearchSpace())
            return _varying(self._searched[1].calculate(study))

    def _recall(self, study: Study, distributions: Distributions, asking: int) -> tuple[_Memory, list[Point]]:
        """The memory, told of all trials that have ended, and the points of the trials that are running."""
        trials = {t.number: t for t in study.get_trials(deepcopy=False)}
        memory = self._memory
        if memory is None or not memory.fits(study, distributions, trials):
            memory = self._memory = self._blank(study, distributions)
        for number, trial in trials.items():
            if number not in memory.told and _ended(trial):
                self._tell(memory, trial, _outcome(trial))
        known = {asking, *memory.told}
        running = (t for n, t in trials.items() if t.state == TrialState.RUNNING and n not in known)
        points = (_point(memory, trial, json.loads(trial.system_attrs.get(GIVEN, "{}"))) for trial in running)
        return memory, [point for point in points if point is not None]

    def _memory_of(self, study: Study) -> _Memory:
        """The memory, for methods that only read it."""
        distributions = self._together(study)
        if not distributions:
            raise InvalidInputError("There is nothing to recommend yet: complete at least one trial first.")
        return self._recall(study, distributions, -1)[0]

    def _blank(self, study: Study, distributions: Distributions) -> _Memory:
        directions = ["maximize" if d == StudyDirection.MAXIMIZE else "minimize" for d in study.directions]
        optimizer = Optimizer(_space(distributions, self._conditions), directions, self._seed, **self._options)
        if self._reseed is not None:
            optimizer.reseed(self._reseed)
        return _Memory(study.study_name, dict(distributions), tuple(study.directions), optimizer)

    def _tell(self, memory: _Memory, trial: FrozenTrial, outcome: Outcome) -> bool:
        """Tell the optimizer of a trial; one that lacks a parameter, or is outside, is passed over: False."""
        memory.told[trial.number] = outcome
        point = _point(memory, trial)
        if point is None:
            return False
        limits = _constraints(trial) if outcome else None
        memory.optimizer.tell(
            point, outcome, constraints=limits, cost=_cost(trial) if self._options["per_cost"] else None
        )
        memory.numbers.append(trial.number)
        return True

    def _note(self, study: Study, trial: FrozenTrial, values: Sequence[float]) -> dict[str, float]:
        """Tell the optimizer of a trial that ends with these values; returns what is now believed of it.

        Nothing is returned during the design, where the model fails, or if `store_beliefs` is off.
        """
        out: dict[str, float] = {}
        with self._lock:
            distributions = self._together(study)
            if not distributions:
                return out
            memory, _ = self._recall(study, distributions, trial.number)
            if trial.number in memory.told:
                return out
            known = self._tell(memory, trial, tuple(values)) and all(map(math.isfinite, values))
            if not (known and self._store_beliefs and len(memory.told) >= memory.optimizer.n_initial):
                return out
            for k in range(len(values)):
                try:
                    learned = memory.optimizer.learned(k)
                    best = memory.optimizer.best_expected().mean if len(values) == 1 else math.nan
                except (ArithmeticError, np.linalg.LinAlgError) as error:
                    logger.warning("The model failed (%s); trial %d goes without its beliefs.", error, trial.number)
                    continue
                suffix = f":{k}" if len(values) > 1 else ""
                last = np.array([learned.series.y.size - 1])
                out[OFF_SURFACE + suffix] = round(float(off_surface_probability(learned.draws, last)[0]), 6)
                out[SURFACES + suffix] = float(np.mean([state.n_surfaces for state in learned.chain.states]))
                out[NU + suffix] = float(np.mean([state.nu for state in learned.chain.states]))
                if len(values) == 1:
                    out[BEST_EXPECTED] = best
        return out


class StopWhen:
    """Callback of ``study.optimize``: stops a study with an :class:`InfGPSampler` when enough is known.

    Parameters
    ----------
    rule : RegretBelow or GainBelow
        Checked after every trial once the design is finished, and less often the more trials there are: every second
        time from 40 on, every fifth time from 100 on. Trials that are running when the rule is met are finished.

    Examples
    --------
    >>> import optuna
    >>> from infgp import RegretBelow
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=InfGPSampler(seed=0))
    >>> stop = StopWhen(RegretBelow(0.05))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", 0.0, 1.0) - 0.3) ** 2, n_trials=50, callbacks=[stop])
    >>> len(study.trials) < 50
    True
    """

    def __init__(self, rule: Rule) -> None:
        check_rule(rule)
        self.rule = rule

    def __call__(self, study: Study, trial: FrozenTrial) -> None:
        """Stop the study if the rule is met."""
        if not isinstance(study.sampler, InfGPSampler):
            raise InvalidInputError(
                f"StopWhen asks the study's sampler, which must be an InfGPSampler, but is {study.sampler!r}."
            )
        if study.sampler.may_stop(study, self.rule):
            study.stop()


# --- Optuna's trials and distributions -------------------------------------------------------------------------------


def _ended(trial: FrozenTrial) -> bool:
    """Whether a trial has told something: a failure does only if it was the objective's own."""
    if trial.state == TrialState.FAIL:
        return bool(trial.system_attrs.get(FAILED))
    return trial.state in (TrialState.COMPLETE, TrialState.PRUNED)


def _outcome(trial: FrozenTrial) -> Outcome:
    return tuple(trial.values) if trial.state == TrialState.COMPLETE else None


def _constraints(trial: FrozenTrial) -> dict[str, float]:
    """Constraints by name; before Optuna 5 they were a list."""
    if hasattr(trial, "constraints"):
        return dict(trial.constraints)
    return {str(k): value for k, value in enumerate(trial.system_attrs.get("constraints") or ())}


def _cost(trial: FrozenTrial) -> float | None:
    """What a trial cost: what it says, or else the seconds that it took; None where neither is known."""
    took = None if trial.duration is None else trial.duration.total_seconds()
    try:
        return checked_cost(trial.user_attrs.get(COST, took))
    except InvalidInputError as error:
        raise InvalidInputError(f"Trial {trial.number}: the user attribute {COST!r} is wrong. {error}") from None


def _point(memory: _Memory, trial: FrozenTrial, given: Mapping[str, float] | None = None) -> Point | None:
    """Where a trial is, or None if it does not have all parameters that apply to it, within their range.

    What it was given and has not asked for counts if it is named, what does not apply to it never does.
    """

    def value(name: str, parameter: Parameter) -> Scalar:
        distribution = memory.distributions[name]
        asked = name in trial.params
        if not asked and not parameter.width:  # there was nothing to ask for
            return parameter.decode(np.zeros((1, 1)))[0]
        internal = distribution.to_internal_repr(trial.params[name]) if asked else (given or {})[name]
        return parameter.check(name, _inward(distribution, float(internal)))

    try:
        return memory.optimizer.space.assemble(value)
    except (KeyError, ValueError):
        return None


def suggest(trial: BaseTrial, space: SpaceLike) -> Point:
    """The point of a trial: the trial is asked for the parameters that apply to it, and for no others.

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> space = {"kind": Choice(["a", "b"]), "x": Float(0.0, 1.0, when={"kind": "b"})}
    >>> study = optuna.create_study(sampler=InfGPSampler(seed=0, search_space=space))
    >>> study.optimize(lambda trial: (suggest(trial, space).get("x", 1.0) - 0.3) ** 2, n_trials=16)
    >>> study.best_params["kind"], abs(study.best_params["x"] - 0.3) < 0.05
    ('b', True)
    """

    def ask(name: str, p: Parameter) -> Any:
        if isinstance(p, Float):
            return trial.suggest_float(name, p.low, p.high, step=p.step, log=p.log)
        if isinstance(p, Int):
            return trial.suggest_int(name, p.low, p.high, step=p.step, log=p.log)
        return trial.suggest_categorical(name, p.options)

    return Space.of(space).assemble(ask)


def distributions(space: Space) -> Distributions:
    """Optuna's distributions for the parameters of a space, without their conditions.

    Examples
    --------
    >>> distributions(Space.of({"x": Float(0.0, 1.0, step=0.25)}))["x"].step
    0.25
    """

    def one(p: Parameter) -> BaseDistribution:
        if isinstance(p, Float):
            return FloatDistribution(p.low, p.high, log=p.log, step=p.step)
        if isinstance(p, Int):
            return IntDistribution(p.low, p.high, log=p.log, step=p.step)
        return CategoricalDistribution(tuple(p.options))

    return {name: one(p) for name, p in zip(space.names, space.parameters, strict=True)}


def parameters(distributions: Mapping[str, BaseDistribution]) -> dict[str, Parameter]:
    """Parameters of infgp for Optuna's distributions; :func:`distributions` is the other way.

    Examples
    --------
    >>> parameters({"kind": CategoricalDistribution(["a", "b"])})
    {'kind': Choice(options=('a', 'b'))}
    """
    return {
        name: Choice(d.choices) if isinstance(d, CategoricalDistribution) else _parameter(name, d, None)
        for name, d in distributions.items()
    }


def _given(
    search_space: Mapping[str, BaseDistribution] | SpaceLike | None,
) -> tuple[Distributions | None, Conditions]:
    """What the user wants to have chosen together, None if nothing was said, and the conditions.

    Constants count only where a condition may be on them.
    """
    if search_space is None:
        return None, {}
    if not isinstance(search_space, Space):
        theirs = {name: d for name, d in search_space.items() if isinstance(d, BaseDistribution)}
        if len(theirs) == len(search_space):
            return _varying(theirs), {}
    space = Space.of(cast("SpaceLike", search_space))  # refuses what is none
    known = distributions(space)

    def inward(parent: str, values: Sequence[Scalar]) -> list[float | int]:
        return [_inward(known[parent], known[parent].to_internal_repr(value)) for value in values]

    conditions = {
        name: {parent: inward(parent, values) for parent, values in p.when.items()}
        for name, p in zip(space.names, space.parameters, strict=True)
        if p.when is not None
    }
    return known if conditions else _varying(known), conditions


def _varying(distributions: Mapping[str, BaseDistribution]) -> Distributions:
    return {name: d for name, d in distributions.items() if not d.single()}


def _space(distributions: Distributions, conditions: Conditions | None = None) -> Space:
    """The space of some parameters; what another sampler has taken out of it no longer decides what applies."""

    def when(name: str) -> dict[str, Any] | None:
        stated = (conditions or {}).get(name, {})
        return {parent: values for parent, values in stated.items() if parent in distributions} or None

    return Space.of({name: _parameter(name, d, when(name)) for name, d in distributions.items()})


def _parameter(name: str, distribution: BaseDistribution, when: Mapping[str, Any] | None) -> Parameter:
    """The parameter of infgp that stands for a distribution: choices are numbered."""
    if isinstance(distribution, CategoricalDistribution):
        return Choice(range(len(distribution.choices)), when)
    if isinstance(distribution, FloatDistribution):
        return Float(distribution.low, distribution.high, distribution.log, distribution.step, when)
    if isinstance(distribution, IntDistribution):
        return Int(distribution.low, distribution.high, distribution.log, distribution.step, when)
    raise InvalidInputError(
        f"The parameter {name!r} has the distribution {distribution!r}, which infgp does not know; use suggest_float, "
        "suggest_int or suggest_categorical."
    )


def _inward(distribution: BaseDistribution, internal: float) -> float | int:
    """From Optuna's internal representation to a value of the parameter of infgp."""
    return internal if isinstance(distribution, FloatDistribution) else int(internal)


def _outward(distribution: BaseDistribution, value: Any) -> Any:
    """From a value of the parameter of infgp to Optuna's external representation."""
    return distribution.to_external_repr(float(value))
