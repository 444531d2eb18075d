"""What a sampler knows of a study, and what it answers when it is asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from infgp.errors import InvalidInputError, extra, shown
from infgp.optuna.spaces import Conditions, Distributions, space_of, varying
from infgp.optuna.trials import GIVEN, Memory, ended, outcome
from infgp.search.candidates import Candidates
from infgp.search.optimizer import Optimizer
from infgp.search.outcomes import Recommendation, Tradeoff
from infgp.search.regret import Regret
from infgp.search.stopping import Rule, check_rule, may_stop
from infgp.space import Point

with extra("optuna", "optuna"):
    from optuna.samplers import BaseSampler
    from optuna.search_space import IntersectionSearchSpace
    from optuna.study import Study, StudyDirection
    from optuna.trial import TrialState


class Beliefs(BaseSampler):
    """A sampler that remembers what a study has told: questions to it, and its memory."""

    _lock: threading.RLock
    _memory: Memory | None
    _seed: int
    _reseed: int | None
    _options: Mapping[str, Any]
    _fixed: Distributions | None
    _conditions: Conditions
    _searched: tuple[str, IntersectionSearchSpace]

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
        >>> from infgp.optuna import InfGPSampler
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
        >>> from infgp.optuna import InfGPSampler
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
        >>> from infgp.optuna import InfGPSampler
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
        >>> from infgp.optuna import InfGPSampler
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
        >>> from infgp.optuna import InfGPSampler
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
        >>> from infgp.optuna import InfGPSampler
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
        >>> from infgp.optuna import InfGPSampler
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

    def _together(self, study: Study) -> Distributions:
        """What is chosen together."""
        if self._fixed is not None:
            return dict(self._fixed)
        with self._lock:
            if self._searched[0] != study.study_name:
                self._searched = (study.study_name, IntersectionSearchSpace())
            return varying(self._searched[1].calculate(study))

    def _recall(self, study: Study, distributions: Distributions, asking: int) -> tuple[Memory, list[Point]]:
        """The memory, told of all trials that have ended, and the points of the trials that are running."""
        trials = {t.number: t for t in study.get_trials(deepcopy=False)}
        memory = self._memory
        if memory is None or not memory.fits(study, distributions, trials):
            memory = self._memory = self._blank(study, distributions)
        for number, trial in trials.items():
            if number not in memory.told and ended(trial):
                memory.tell(trial, outcome(trial))
        known = {asking, *memory.told}
        running = (t for n, t in trials.items() if t.state == TrialState.RUNNING and n not in known)
        points = (memory.point(trial, json.loads(trial.system_attrs.get(GIVEN, "{}"))) for trial in running)
        return memory, [point for point in points if point is not None]

    def _memory_of(self, study: Study) -> Memory:
        """The memory, for methods that only read it."""
        if not isinstance(study, Study):
            raise InvalidInputError(f"study must be an Optuna study, but got {shown(study)}.")
        distributions = self._together(study)
        if not distributions:
            raise _nothing_known(study)
        return self._recall(study, distributions, -1)[0]

    def _blank(self, study: Study, distributions: Distributions) -> Memory:
        directions = ["maximize" if d == StudyDirection.MAXIMIZE else "minimize" for d in study.directions]
        optimizer = Optimizer(space_of(distributions, self._conditions), directions, self._seed, **self._options)
        if self._reseed is not None:
            optimizer.reseed(self._reseed)
        return Memory(study.study_name, dict(distributions), tuple(study.directions), optimizer)


def _nothing_known(study: Study) -> InvalidInputError:
    """The error where a study has no trial, or none with a parameter that all have."""
    states = [trial.state for trial in study.get_trials(deepcopy=False)]
    if TrialState.COMPLETE in states:
        why = "the completed trials have no parameter in common; name those that belong together by search_space="
    elif TrialState.FAIL in states:
        failed = states.count(TrialState.FAIL)
        why = f"{failed} trials failed and none has completed; find out why, and complete at least one trial"
    else:
        why = "complete at least one trial first"
    return InvalidInputError(f"There is nothing to recommend yet: {why}.")
