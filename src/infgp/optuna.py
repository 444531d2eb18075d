"""`InfGPSampler`: the ∞-GP as a sampler of Optuna.

The sampler keeps one :class:`~infgp.Optimizer` for every number that it learns, each objective and each constraint,
told of all trials that have come to an end. This memory is a convenience: where it is missing or does not fit the
study, it is made anew from the study. Randomness is derived from (seed, trial number), so that workers with the same
seed do not repeat each other, and a worker that is replaced goes on.
"""

from __future__ import annotations

import json
import logging
import math
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from infgp.core.linalg import FloatArray, one_blas_thread
from infgp.errors import InvalidInputError, MissingExtraError, check_int
from infgp.predict.mixture import off_surface_probability
from infgp.search.maximise import NARROWEST
from infgp.search.optimizer import Optimizer, Posterior, Recommendation
from infgp.search.proposal import suggest
from infgp.search.several import suggest_feasible, suggest_scalarised
from infgp.space import Choice, Float, Int, Parameter, Point, Space

try:
    from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
    from optuna.samplers import BaseSampler
    from optuna.samplers._base import _process_constraints_after_trial
    from optuna.search_space import IntersectionSearchSpace
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial, TrialState
except ImportError as error:
    raise MissingExtraError(
        "infgp.optuna needs 'optuna', which is not installed. Run: pip install 'infgp[optuna]'"
    ) from error

logger = logging.getLogger("infgp")

#: Trial attributes: what the sampler believed when the trial ended (shown by the dashboard) ...
OFF_SURFACE, SURFACES, NU = "infgp:off_surface_probability", "infgp:surfaces", "infgp:nu"
#: ... that the objective itself failed, not the machine under it ...
FAILED = "infgp:failed"
#: ... and the values that a running trial has been given and may not have asked for yet.
GIVEN = "infgp:given"
#: Sweeps of the chain for each trial (see `NEXT`): a study's workers all do them, so they are fewer.
SWEEPS = (60_000, 2, 20)
#: Constraints beyond this are as good as infinite.
LARGEST_CONSTRAINT = 1e150

Distributions: TypeAlias = dict[str, BaseDistribution]
#: The values of a trial that completed, None for one that failed or was pruned.
Outcome: TypeAlias = tuple[float, ...] | None


@dataclass
class _Memory:
    """The optimizers of one study and search space, and the outcome of each trial they were told of."""

    study: str
    distributions: Distributions
    directions: tuple[StudyDirection, ...]
    space: Space
    objectives: list[Optimizer]
    constraints: dict[str, Optimizer] = field(default_factory=dict)
    told: dict[int, Outcome] = field(default_factory=dict)

    def fits(self, study: Study, distributions: Distributions, trials: Mapping[int, FrozenTrial]) -> bool:
        """Whether everything told is still so; a trial told of a moment before it is stored counts."""
        mine = (self.study, self.distributions, self.directions)
        if mine != (study.study_name, distributions, tuple(study.directions)):
            return False
        now = ((trials.get(number), outcome) for number, outcome in self.told.items())
        return all(t is not None and (t.state == TrialState.RUNNING or _outcome(t) == told) for t, told in now)


class InfGPSampler(BaseSampler):
    """Optuna sampler that is not fooled by one lucky draw.

    Parameters
    ----------
    seed : int or None
        Same seed, same trials, as long as they run one after the other.
    n_startup_trials : int or None
        Trials of a Sobol design before the model is asked; 2 (d + 1) by default. Earlier trials count.
    search_space : dict of str to distribution, or None
        Parameters to choose together; by default those that all completed trials have in common, which are unknown
        before the first trial has completed.
    constraints_func : callable or None
        From a finished trial to numbers of which none may be positive. ``Trial.set_constraint`` needs no function.
    independent_sampler : optuna.samplers.BaseSampler or None
        For parameters that are not chosen together, such as conditional ones; uniform draws by default.
    store_beliefs : bool
        Whether each trial gets, when it ends, the probability that its value lies off the dominant surface, the number
        of surfaces and ν as user attributes.
    target, acquisition, exploration, surfaces, regions, bend, kernel
        As in :class:`infgp.Optimizer`. Several objectives are always chosen by Thompson draws.

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=InfGPSampler(seed=0))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", 0.0, 1.0) - 0.3) ** 2, n_trials=12)
    >>> abs(study.best_params["x"] - 0.3) < 0.05
    True
    """

    def __init__(
        self,
        *,
        seed: int | None = None,
        n_startup_trials: int | None = None,
        search_space: Mapping[str, BaseDistribution] | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        independent_sampler: BaseSampler | None = None,
        store_beliefs: bool = True,
        target: str = "expected",
        acquisition: str = "logei",
        exploration: str | float | tuple[float, float] = 0.0,
        surfaces: int | None = None,
        regions: bool = True,
        bend: bool | None = None,
        kernel: str = "se",
    ) -> None:
        if seed is not None:
            check_int("seed", seed, 0)
        if n_startup_trials is not None:
            check_int("n_startup_trials", n_startup_trials, 1)
        self._options: dict[str, Any] = {
            "target": target,
            "acquisition": acquisition,
            "exploration": exploration,
            "surfaces": surfaces,
            "regions": regions,
            "bend": bend,
            "kernel": kernel,
        }
        Optimizer({"x": Float(0.0, 1.0)}, **self._options)  # options that do not go together are refused here
        self._entropy = np.random.SeedSequence(seed).entropy
        self._design_entropy = self._entropy  # jobs share the design
        self._n_startup_trials = n_startup_trials
        self._fixed = None if search_space is None else _varying(search_space)
        if self._fixed:
            _space(self._fixed)  # what cannot be searched is refused here
        self._constraints_func = constraints_func
        self._independent_sampler = independent_sampler
        self._store_beliefs = store_beliefs
        self._memory: _Memory | None = None
        self._searched = ("", IntersectionSearchSpace())  # a study's name, and what its trials have in common
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())

    def reseed_rng(self) -> None:
        """Take fresh randomness; Optuna calls this for jobs that run in parallel."""
        self._entropy = np.random.SeedSequence().entropy
        if self._independent_sampler is not None:
            self._independent_sampler.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> Distributions:
        """Parameters that all completed trials have in common, those with a single value left out."""
        return self._together(study)

    def sample_relative(self, study: Study, trial: FrozenTrial, search_space: Distributions) -> dict[str, Any]:
        """The next point: of the design at first, then the model's."""
        distributions = _varying(search_space)
        if not distributions:
            return {}
        with self._lock:
            memory, pending = self._recall(study, distributions, trial.number)
            u = self._propose(memory, pending, trial.number)
            point = memory.space.from_unit(u[None])[0]
            given = {name: _outward(d, point[name]) for name, d in distributions.items()}
            internal = {name: float(d.to_internal_repr(given[name])) for name, d in distributions.items()}
            study._storage.set_trial_system_attr(trial._trial_id, GIVEN, json.dumps(internal))
        return given

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A value for a parameter that is not chosen together with others."""
        if self._independent_sampler is not None:
            return self._independent_sampler.sample_independent(study, trial, param_name, param_distribution)
        space = _space({param_name: param_distribution})
        rng = self._generator(0, trial.number, zlib.crc32(param_name.encode()))
        return _outward(param_distribution, space.from_unit(rng.random((1, space.d)))[0][param_name])

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Pass on to the independent sampler."""
        if self._independent_sampler is not None:
            self._independent_sampler.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Store constraints, and what is now believed of the trial."""
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
            trial = study._storage.get_trial(trial._trial_id)
        if self._independent_sampler is not None:
            self._independent_sampler.after_trial(study, trial, state, values)
        if state == TrialState.FAIL:
            study._storage.set_trial_system_attr(trial._trial_id, FAILED, True)
        elif state == TrialState.COMPLETE and values is not None and self._store_beliefs:
            for key, value in self._beliefs(study, trial, values).items():
                study._storage.set_trial_user_attr(trial._trial_id, key, value)

    def recommend(self, study: Study) -> Recommendation:
        """The point with the best expected value. ``study.best_trial``, in contrast, is the luckiest one.

        Raises
        ------
        InvalidInputError
            With several objectives or constraints, or before any trial has completed.

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
            distributions = self._together(study)
            if not distributions:
                raise InvalidInputError("There is nothing to recommend yet: complete at least one trial first.")
            memory, _ = self._recall(study, distributions, -1)
            if len(memory.objectives) > 1 or memory.constraints:
                raise InvalidInputError(
                    "A recommendation is made for one objective without constraints only; see study.best_trials."
                )
            found = memory.objectives[0].recommend()

        def outward(point: Point) -> Point:
            return {name: _outward(d, point[name]) for name, d in distributions.items()}

        return replace(found, point=outward(found.point), best_evaluated=outward(found.best_evaluated))

    # --- What is known -----------------------------------------------------------------------------------------------

    def _together(self, study: Study) -> Distributions:
        """What is chosen together."""
        if self._fixed is not None:
            return dict(self._fixed)
        with self._lock:
            if self._searched[0] != study.study_name:
                self._searched = (study.study_name, IntersectionSearchSpace())
            return _varying(self._searched[1].calculate(study))

    def _recall(self, study: Study, distributions: Distributions, asking: int) -> tuple[_Memory, list[Point]]:
        """The memory, told of all trials that have ended, and the points of those that have not."""
        trials = {t.number: t for t in study.get_trials(deepcopy=False)}
        memory = self._memory
        if memory is None or not memory.fits(study, distributions, trials):
            memory = self._memory = self._blank(study, distributions)
        for number, trial in trials.items():
            if number not in memory.told and _ended(trial):
                self._tell(memory, trial, _outcome(trial))
        running = (t for n, t in trials.items() if t.state == TrialState.RUNNING and n not in {asking, *memory.told})
        points = (_point(memory, trial) for trial in running)
        return memory, [point for point in points if point is not None]

    def _blank(self, study: Study, distributions: Distributions) -> _Memory:
        space = _space(distributions)
        maximise = [d == StudyDirection.MAXIMIZE for d in study.directions]
        objectives = [Optimizer(space, "maximize" if up else "minimize", **self._options) for up in maximise]
        return _Memory(study.study_name, dict(distributions), tuple(study.directions), space, objectives)

    def _tell(self, memory: _Memory, trial: FrozenTrial, outcome: Outcome) -> bool:
        """Tell the optimizers of a trial; one that lacks a parameter, or is out of range, is passed over: False."""
        memory.told[trial.number] = outcome
        point = _point(memory, trial)
        if point is None:
            return False
        for optimizer, value in zip(memory.objectives, outcome or (None,) * len(memory.objectives), strict=True):
            optimizer.tell(point, value)
        for name, value in (_constraints(trial) if outcome else {}).items():
            optimizer = memory.constraints.setdefault(name, Optimizer(memory.space, **self._options))
            optimizer.tell(point, float(np.clip(value, -LARGEST_CONSTRAINT, LARGEST_CONSTRAINT)))
        return True

    def _beliefs(self, study: Study, trial: FrozenTrial, values: Sequence[float]) -> dict[str, float]:
        """Attributes of a trial that ends with these values; none during start-up or where the model fails."""
        out: dict[str, float] = {}
        with self._lock:
            distributions = self._together(study)
            if not distributions or not distributions.keys() <= trial.params.keys():
                return out
            memory, _ = self._recall(study, distributions, trial.number)
            if len(memory.told) + 1 < self._startup(memory.space) or trial.number in memory.told:
                return out
            told = self._tell(memory, trial, tuple(values))
            for k, optimizer in enumerate(memory.objectives):
                if not told or not math.isfinite(values[k]):
                    continue
                try:
                    p = optimizer.posterior(self._generator(1, trial.number, k), SWEEPS)
                except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
                    logger.warning("The model failed (%s); trial %d goes without its beliefs.", error, trial.number)
                    continue
                suffix = f":{k}" if len(memory.objectives) > 1 else ""
                off = off_surface_probability(p.states, p.data, p.model)[-1]
                out[OFF_SURFACE + suffix] = round(float(off), 6)
                out[SURFACES + suffix] = float(np.mean([state.n_surfaces for state in p.states]))
                out[NU + suffix] = float(np.mean([state.nu for state in p.states]))
        return out

    # --- What comes next ---------------------------------------------------------------------------------------------

    def _generator(self, *key: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self._entropy, spawn_key=key))

    def _startup(self, space: Space) -> int:
        return 2 * (space.d + 1) if self._n_startup_trials is None else self._n_startup_trials

    def _propose(self, memory: _Memory, pending: list[Point], number: int) -> FloatArray:
        """A position in the unit cube; whatever goes wrong, a valid one."""
        space, main = memory.space, memory.objectives[0]
        told, rewarded = zip(*(optimizer.counts for optimizer in memory.objectives), strict=True)
        if told[0] + len(pending) < self._startup(space):
            design = np.random.default_rng(np.random.SeedSequence(self._design_entropy))
            return np.asarray(space.sobol(design, number + 1)[number])
        rng = self._generator(2, number)
        uniform = np.asarray(space.snap(rng.random((1, space.d)))[0])
        if not all(rewarded) or rng.random() < main.exploration.chance(rewarded[0]):
            return uniform
        try:
            with one_blas_thread():
                u = self._suggest(rng, memory, space.to_unit(pending) if pending else np.empty((0, space.d)))
            if np.isfinite(u).all():
                return u
            logger.warning("The model gave no finite point; a random one takes its place.")
        except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
            logger.warning("The model failed (%s); a random point takes the place of its suggestion.", error)
        return uniform

    def _suggest(self, rng: np.random.Generator, memory: _Memory, pending: FloatArray) -> FloatArray:
        acquisition, target = self._options["acquisition"], self._options["target"]
        objectives: list[Posterior] = [optimizer.posterior(rng, SWEEPS) for optimizer in memory.objectives]
        constraints = [optimizer.posterior(rng, SWEEPS) for optimizer in memory.constraints.values()]
        p, space = objectives[0], memory.space
        if len(objectives) > 1 or (constraints and acquisition != "logei"):
            u = suggest_scalarised(rng, objectives, constraints, space, target, pending)
        elif constraints:
            u = suggest_feasible(rng, p, constraints, space, target, pending)
        else:
            options = {"acquisition": acquisition, "target": target, "pending": pending, "failed": p.failed}
            u = suggest(rng, p.states, p.data, p.model, space, **options)
        return _apart(rng, u, np.vstack((p.data.x, p.failed, pending)), space)


def _apart(rng: np.random.Generator, u: FloatArray, taken: FloatArray, space: Space) -> FloatArray:
    """A small step aside where `u` is taken: a replicate tells no more, and dashboards draw one point. Floats only."""
    if not (taken == u).all(axis=1).any():
        return u
    moved = u + NARROWEST * rng.standard_normal(u.size) * ~space.discrete
    return np.asarray(space.snap(1.0 - np.abs(1.0 - np.abs(moved))[None])[0])  # reflected into the cube


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


def _point(memory: _Memory, trial: FrozenTrial) -> Point | None:
    """Where a trial is, or None if it does not have all parameters within their range."""
    given = json.loads(trial.system_attrs.get(GIVEN, "{}")) if trial.state == TrialState.RUNNING else {}
    point: dict[str, object] = {}
    try:
        for name, distribution in memory.distributions.items():
            asked = name in trial.params
            internal = distribution.to_internal_repr(trial.params[name]) if asked else given[name]
            point[name] = _inward(distribution, float(internal))
        return memory.space.validate(point)
    except (KeyError, ValueError):
        return None


def _varying(distributions: Mapping[str, BaseDistribution]) -> Distributions:
    return {name: d for name, d in distributions.items() if not d.single()}


def _space(distributions: Distributions) -> Space:
    return Space.of({name: _parameter(name, d) for name, d in distributions.items()})


def _parameter(name: str, distribution: BaseDistribution) -> Parameter:
    """The parameter of infgp that stands for a distribution: steps are counted, choices numbered."""
    if isinstance(distribution, CategoricalDistribution):
        return Choice(range(len(distribution.choices)))
    if (grid := _grid(distribution)) is not None:
        low, high, step = grid
        return Int(0, round((high - low) / step))
    if isinstance(distribution, FloatDistribution):
        return Float(distribution.low, distribution.high, distribution.log)
    if isinstance(distribution, IntDistribution):
        return Int(distribution.low, distribution.high, distribution.log)
    raise InvalidInputError(
        f"The parameter {name!r} has the distribution {distribution!r}, which infgp does not know; use suggest_float, "
        "suggest_int or suggest_categorical."
    )


def _grid(distribution: BaseDistribution) -> tuple[float, float, float] | None:
    """Lowest value, highest value and step, where values are counted in steps."""
    if isinstance(distribution, FloatDistribution) and distribution.step is not None:
        return distribution.low, distribution.high, distribution.step
    if isinstance(distribution, IntDistribution) and distribution.step != 1:
        return distribution.low, distribution.high, distribution.step
    return None


def _inward(distribution: BaseDistribution, internal: float) -> float | int:
    """From Optuna's internal representation to a value of the parameter of infgp."""
    if (grid := _grid(distribution)) is not None:
        low, _, step = grid
        return round((internal - low) / step)
    return internal if isinstance(distribution, FloatDistribution) else int(internal)


def _outward(distribution: BaseDistribution, value: Any) -> Any:
    """From a value of the parameter of infgp to Optuna's external representation."""
    if (grid := _grid(distribution)) is not None:
        low, high, step = grid
        value = min(low + value * step, high)
    return distribution.to_external_repr(float(value))
