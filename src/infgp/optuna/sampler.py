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
from typing import Any

import numpy as np

from infgp.arguments import answers_names
from infgp.core.forks import renew_after_fork
from infgp.core.options import EXACT_UP_TO
from infgp.core.priors import Priors
from infgp.errors import InvalidInputError, check_int, extra, shown
from infgp.habits import SAMPLER_ARGUMENTS
from infgp.optuna.beliefs import Beliefs
from infgp.optuna.spaces import Distributions, given_space, outward, space_of, varying
from infgp.optuna.trials import BEST_EXPECTED, COST, FAILED, GIVEN, NU, OFF_SURFACE, SURFACES, Memory
from infgp.predict.functionals import ObjectiveLike
from infgp.predict.mixture import off_surface_probability
from infgp.search.optimizer import Optimizer
from infgp.search.presets import takes_preset
from infgp.search.proposal import DEFAULT_GOAL
from infgp.search.stopping import Rule, check_rule
from infgp.space import Float, SpaceLike

with extra("optuna", "optuna"):
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler
    from optuna.samplers._base import _process_constraints_after_trial
    from optuna.search_space import IntersectionSearchSpace
    from optuna.study import Study
    from optuna.trial import FrozenTrial, TrialState

logger = logging.getLogger("infgp")

#: First number of the key that the randomness of single parameters is derived from; `Optimizer` uses smaller numbers.
INDEPENDENT = 100


class InfGPSampler(Beliefs):
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
    preset, objective, outliers, stand_ins, target, goal, acquisition, exploration, gradients, reference_point, kernel
        As in :class:`infgp.Optimizer`; so are the last eight.
    ard, surfaces, regions, surface_scales, odds, sampler, priors, warp, exact_up_to

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=InfGPSampler(seed=0))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", 0.0, 1.0) - 0.3) ** 2, n_trials=12)
    >>> abs(study.best_params["x"] - 0.3) < 0.05
    True
    """

    @answers_names("InfGPSampler", SAMPLER_ARGUMENTS)
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
        stand_ins: str = "failed",
        target: str = "objective",
        goal: str = DEFAULT_GOAL,
        acquisition: str | None = None,
        exploration: str | float | tuple[float, float] = 0.0,
        gradients: bool = False,
        reference_point: Sequence[float] | None = None,
        per_cost: bool = False,
        kernel: str = "auto",
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
            "stand_ins": stand_ins,
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
        self._fixed, self._conditions = given_space(search_space)
        if self._fixed:
            space_of(self._fixed, self._conditions)  # what cannot be searched is refused here
        if constraints_func is not None and not callable(constraints_func):
            raise InvalidInputError(
                f"constraints_func must be a function of the trial, or None, but got {shown(constraints_func)}."
            )
        self._constraints_func = constraints_func
        self._independent_sampler = independent_sampler
        self._store_beliefs = store_beliefs
        self._confirm_after = None if confirm_after is None else check_int("confirm_after", confirm_after, 1)
        if confirm_after is not None and len(directions) > 1:
            raise InvalidInputError("confirm_after is for one objective; leave it out.")
        self._begun: dict[int, float] = {}  # when trials began, by their storage's numbers, where costs count
        self._memory: Memory | None = None
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
        distributions = search_space if self._conditions else varying(search_space)
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
        space = space_of({param_name: param_distribution})
        entropy = self._seed if self._reseed is None else self._reseed
        key = (INDEPENDENT, trial.number, zlib.crc32(param_name.encode()))
        rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=key))
        return outward(param_distribution, space.from_unit(rng.random((1, space.d)))[0][param_name])

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Note when the trial begins, where costs count, and pass on to the independent sampler."""
        if self._options["per_cost"]:
            self._begun[trial._trial_id] = time.monotonic()
        if self._independent_sampler is not None:
            self._independent_sampler.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Store constraints, the seconds that it took where costs count, and what is now believed of the trial."""
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._limits, study, trial, state)
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

    def _limits(self, trial: FrozenTrial) -> Sequence[float]:
        """What the user's function says of the constraints of a trial; raises unless it is a sequence of numbers."""
        assert self._constraints_func is not None, "it is called where there is one"
        found = self._constraints_func(trial)
        if not isinstance(found, Sequence | np.ndarray) or not all(
            isinstance(v, int | float | np.number) for v in found
        ):
            raise InvalidInputError(
                "constraints_func must return a sequence of numbers, none of which may be positive, such as "
                f"[weight - 3.0], but returned {shown(found)}."
            )
        return found

    def _confirms(self, memory: Memory, running: int) -> bool:
        """Whether the next trial evaluates a point again."""
        after = self._confirm_after
        return after is not None and len(memory.told) + running >= after and memory.optimizer.counts[1] > 0

    def _note(self, study: Study, trial: FrozenTrial, values: Sequence[float]) -> dict[str, float]:
        """Tell the optimizer of a trial that ends with the given values; returns what is now believed of it.

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
            known = memory.tell(trial, tuple(values)) and bool(memory.optimizer.counted[-1])
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
