"""``infgp run``: a study on engines people already run, one process that decides and some that evaluate.

Trials live in Optuna's storage. The run asks for points, hands them to workers and reports their values; it can be
killed at any moment and started again, on this machine or on several at once. Trials of a run that died are told from
slow ones by Optuna's heartbeat. Workers never see the storage, and no message shows its password.
"""

from __future__ import annotations

import math
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from infgp.app.objective import check_options, regret_rule
from infgp.app.spacefile import read_space
from infgp.app.staff import GLANCE, Staff, fit_to_show, hire
from infgp.app.storage import (
    MISSED_BEATS,
    Plan,
    StorageError,
    name_of,
    open_study,
    reason,
)
from infgp.app.study import abandon, check_study, counts, foreign, keep_space, store
from infgp.app.text import shorten
from infgp.app.workers import Answer, EvaluationError, Worker, wait_for
from infgp.errors import InfGPError, InvalidInputError, check_int, check_positive, require
from infgp.space import Point, Space

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import RDBStorage
    from optuna.trial import FrozenTrial, Trial

T = TypeVar("T")

#: Seconds within which a signal that is sent to all processes of a run has reached all of them.
TOGETHER = 0.2
#: User attribute of a study that has stopped: the values of --until-regret and --probability that it has reached.
ENOUGH = "infgp:regret_below"


class Interrupted(InfGPError):  # noqa: N818 - no error
    """The run was stopped by Ctrl-C or SIGTERM.

    Attributes
    ----------
    study : optuna.Study or None
        The study as far as it got, if a single Ctrl-C stopped the run: its user waits for what was found. Whoever sends
        SIGTERM, or a second Ctrl-C, wants the process to end.
    """

    def __init__(self, message: str, study: Study | None = None) -> None:
        super().__init__(message)
        self.study = study


@dataclass
class Progress:
    """Where the run stands, for those who show it."""

    trials: list[FrozenTrial]
    running: int
    total: int
    finished: FrozenTrial | None = None
    note: str = ""


Listener = Callable[[Progress], object]


def run(plan: Plan, listen: Listener = lambda _: None, space: Space | None = None) -> Study:
    """Bring a study to its number of trials.

    Parameters
    ----------
    plan : Plan
    listen : callable
        Called whenever something has changed. What it raises ends the run.
    space : Space or None
        By default that of the file `plan.space`.

    Returns
    -------
    optuna.Study

    Raises
    ------
    InvalidInputError, EvaluationError, StorageError, Interrupted
        What is wrong and what to do, in one line without passwords; everything reported until then is stored.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     space = pathlib.Path(folder, "space.toml")
    ...     _ = space.write_text("mu = { type = 'float', low = 0.0, high = 1.0 }")
    ...     study = run(Plan("random:gauss", str(space), trials=2, storage=f"sqlite:///{folder}/study.db"))
    ...     len(study.trials)
    2
    """
    require("optuna", "cli")
    check_int("--trials", plan.trials, 1)
    check_int("--jobs", plan.jobs, 1)
    check_int("--heartbeat", plan.heartbeat, 1)
    check_int("--patience", plan.patience, 0)
    if plan.timeout is not None:
        check_positive("--timeout", plan.timeout)
    if plan.max_seconds is not None:
        check_positive("--max-seconds", plan.max_seconds)
    if check_int("--confirm", plan.confirm, 0) >= plan.trials:
        raise InvalidInputError(f"--confirm must be less than --trials {plan.trials}, but got {plan.confirm}.")
    if plan.confirm and plan.until_regret is not None:
        raise InvalidInputError("--confirm and --until-regret do not go together; leave one of them out.")
    regret_rule(plan.until_regret, plan.probability)
    if plan.seed is not None:
        check_int("--seed", plan.seed, 0)
    check_options(plan)
    space = space or read_space(plan.space)
    staff = Staff(plan, space, idle=[hire(plan, space)])  # before anything is stored
    with warnings.catch_warnings():
        from optuna.exceptions import ExperimentalWarning

        warnings.simplefilter("ignore", ExperimentalWarning)
        warnings.filterwarnings("ignore", "Heartbeat of storage is supposed to be used")
        try:
            study, storage = open_study(plan, space)
            with _signals() as signals:
                _Run(plan, space, study, storage, staff, signals, listen).go()
        finally:
            staff.stop()
    return study


@dataclass
class _Run:
    """The loop, with what it needs to know of itself."""

    plan: Plan
    space: Space
    study: Study
    storage: RDBStorage
    staff: Staff
    signals: list[int]
    listen: Listener
    evaluating: dict[Worker, Trial] = field(default_factory=dict)
    seen: dict[int, float] = field(default_factory=dict)  # when running trials of others were first seen, by id
    ours: set[int] = field(default_factory=set)  # finished trials with the parameters of the space file, by number
    error: str | None = None
    beaten: float = -math.inf
    checked: int = 0  # number of trials after which it was last asked whether enough is known
    enough: bool = False
    begun: float = field(default_factory=time.monotonic)

    def go(self) -> None:
        try:
            self._patiently(lambda: check_study(self.study, self.plan, self.space, self.ours))
            self._patiently(lambda: keep_space(self.study, self.space))
            self._loop()
        finally:
            for worker in self.evaluating:
                worker.stop()
            for trial in self.evaluating.values():
                abandon(self.storage, trial)

    def _loop(self) -> None:
        while len(self.signals) < 2:
            self._patiently(self._beat)
            trials = self._patiently(lambda: self.study.get_trials(deepcopy=False))
            # Another run may have begun with another space file.
            self.error = self.error or foreign(trials, self.plan, self.space, self.ours)
            done = sum(map(counts, trials))
            running = sum(t.state.name == "RUNNING" for t in trials)
            over = done >= self.plan.trials or self._late() or self._enough(done)
            ending = self.error is not None or bool(self.signals) or over
            if ending and not self.evaluating:
                self.listen(Progress(trials, 0, self.plan.trials))
                break
            if not ending:
                wanted = min(self.plan.jobs - len(self.evaluating), self.plan.trials - done - running)
                for _ in range(self.staff.ready(wanted)):
                    self._begin()
            self.listen(Progress(trials, len(self.evaluating), self.plan.trials, note=self._note()))
            self._wait()
            unwelcome = self.staff.welcome()
            self.error = self.error or unwelcome
            for worker in tuple(self.evaluating):
                self._finish(worker)
        if self.signals:
            raise Interrupted(
                f"Stopped; what was reported is in the study {self.plan.name!r}. Run the same command to go on.",
                self.study if self.signals == [signal.SIGINT] else None,
            )
        if self.error is not None:
            raise EvaluationError(self.error)

    def _late(self) -> bool:
        """Whether the time is over in which evaluations may begin."""
        return self.plan.max_seconds is not None and time.monotonic() - self.begun >= self.plan.max_seconds

    def _enough(self, done: int) -> bool:
        """Whether the regret is as small as was asked for; asked once for each number of trials, and kept by the study.

        A run that is started again, or another machine's, would otherwise find a slightly other answer.
        """
        from infgp.optuna import InfGPSampler

        rule = regret_rule(self.plan.until_regret, self.plan.probability)
        if rule is None or self.enough or done == self.checked:
            return self.enough
        asked, sampler = [rule.epsilon, rule.probability], self.study.sampler
        assert isinstance(sampler, InfGPSampler)
        self.checked = done
        if self._patiently(lambda: self.study.user_attrs.get(ENOUGH)) == asked:
            self.enough = True
        elif self._patiently(lambda: sampler.may_stop(self.study, rule)):
            self.enough = True
            self._patiently(lambda: self.study.set_user_attr(ENOUGH, asked))
        return self.enough

    def _show(self, note: str = "") -> None:
        self.listen(Progress([], len(self.evaluating), self.plan.trials, note=note or self._note()))

    def _note(self) -> str:
        if self.signals:
            return "finishing what is running; Ctrl-C again abandons it"
        if self._late():
            return "the time is over; finishing what is running"
        if not self.evaluating and not self.staff.starting:
            return "waiting for trials that run elsewhere, or were lost"
        return ""

    def _wait(self) -> None:
        """Wait a moment for an answer, and not past the end of an evaluation's time."""
        seconds = GLANCE
        if self.plan.timeout is not None:
            seconds = min([seconds, *(self.plan.timeout - worker.seconds for worker in self.evaluating)])
        workers = (*self.staff.starting, *self.evaluating)
        if workers:
            wait_for(workers, seconds)
        else:
            time.sleep(GLANCE)

    def _begin(self) -> None:
        """Ask for a point and send it to a worker."""
        trial = self._patiently(self._ask)
        worker = self.staff.idle.pop()
        self.evaluating[worker] = trial
        self._patiently(lambda: self.storage.record_heartbeat(trial._trial_id))
        worker.send({name: trial.params[name] for name in self.space.names if name in trial.params})

    def _ask(self) -> Trial:
        from optuna.exceptions import UpdateFinishedTrialError

        from infgp.optuna import suggest

        while True:
            try:
                trial = self.study.ask()
                suggest(trial, self.space)
                break
            except UpdateFinishedTrialError:  # so slow to find a point that another run took the trial for dead
                continue
        stored = self.storage.get_trial(trial._trial_id).params
        if stored != trial.params:  # MySQL may take "a" and "A" for one name, and keep the first
            abandon(self.storage, trial)
            raise StorageError(
                f"The {name_of(self.plan.storage)} has {_short(stored)} for the point {_short(trial.params)}; "
                "rename parameters whose names differ in capitals or accents only."
            )
        return trial

    def _finish(self, worker: Worker) -> None:
        """Store what has become of an evaluation, if anything has."""
        answer = worker.collect()
        if answer is None and self.plan.timeout is not None and worker.seconds >= self.plan.timeout:
            worker.stop()
            answer = Answer(error=f"ended after --timeout {self.plan.timeout:g} seconds", late=True)
        if answer is None:
            return
        trial = self.evaluating[worker]
        if answer.error is not None:
            self._show()  # ends the run if nobody reads any more, which may be why a function that prints has failed
            answer = replace(answer, error=fit_to_show(self.plan, answer.error))
        if answer.killed and self._interrupted():
            abandon(self.storage, trial)
        elif answer.error is None or answer.late or self.plan.keep_going:
            self._report(trial, answer)
        else:
            abandon(self.storage, trial, answer.error)
            self.error = self.error or (
                f"{self.plan.function} failed at {_short(trial.params)}: {answer.error.rstrip('.')}. The other trials "
                f"are in the study {self.plan.name!r}; mend the function and run again, or add --keep-going to count "
                "such a point as failed and go on."
            )
        del self.evaluating[worker]
        self.staff.take_back(worker)

    def _interrupted(self) -> bool:
        """Whether the run is being stopped; what ends all its processes at once may reach a worker first."""
        if not self.signals:
            time.sleep(TOGETHER)
        return bool(self.signals)

    def _report(self, trial: Trial, answer: Answer) -> None:
        """Store an outcome: nothing that was evaluated is lost while the storage lives."""
        value = answer.value
        failed = value is None or math.isnan(value)
        try:
            told = None if failed else value
            stored = self._patiently(lambda: store(self.study, self.storage, trial, told, answer.error))
        except StorageError as error:
            raise StorageError(f"{error} Not stored: value {value!r} at {_short(trial.params)}.") from None
        self.listen(Progress([], len(self.evaluating), self.plan.trials, finished=stored))

    def _beat(self) -> None:
        """Show that our trials are alive, and fail those whose run is not.

        One that should long have been heard of may never have been, because its run died between making it and its
        first beat; it is given one. How long that is, our own clock says: those of other machines may be wrong, and
        Optuna before version 5 stores the time of a start as the local one of whoever made the trial.
        """
        from optuna.storages import fail_stale_trials
        from optuna.trial import TrialState

        if time.monotonic() - self.beaten < self.plan.heartbeat:
            return
        ours = {trial._trial_id for trial in self.evaluating.values()}
        for trial_id in ours:
            self.storage.record_heartbeat(trial_id)
        fail_stale_trials(self.study)
        self.beaten = time.monotonic()
        running = {t._trial_id for t in self.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))}
        for trial_id in running - ours:
            first = self.seen.setdefault(trial_id, self.beaten)
            if self.beaten - first >= MISSED_BEATS * self.plan.heartbeat:
                self.storage.record_heartbeat(trial_id)
                self.seen[trial_id] = math.inf  # once

    def _patiently(self, call: Callable[[], T]) -> T:
        """Call, and again while the storage does not answer and patience lasts."""
        from optuna.exceptions import StorageInternalError
        from sqlalchemy.exc import DataError, SQLAlchemyError

        begin, pause = time.monotonic(), 0.1
        while True:
            try:
                return call()
            except (StorageInternalError, SQLAlchemyError) as error:
                if isinstance(error.__cause__, DataError):  # no patience makes room for what is too long
                    raise StorageError(
                        f"The {name_of(self.plan.storage)} cannot hold a name or a list of options of the space file "
                        f"{self.plan.space}{reason(self.plan.storage, error)}; shorten it."
                    ) from None
                if time.monotonic() - begin > self.plan.patience or len(self.signals) > 1:
                    raise StorageError(
                        f"The {name_of(self.plan.storage)} has not answered for {self.plan.patience} seconds"
                        f"{reason(self.plan.storage, error)}; once it is up, run the same command to go on."
                    ) from None
            with suppress(BrokenPipeError):  # what is to be stored comes before those who read of it
                self._show("the storage does not answer")
            time.sleep(pause)
            pause = min(2.0 * pause, 2.0)


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM are noted, not raised: no write to the storage is torn apart."""
    noted: list[int] = []
    before = {s: signal.signal(s, lambda number, _: noted.append(number)) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _short(point: Point | dict[str, Any]) -> str:
    return shorten(", ".join(f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in point.items()))
