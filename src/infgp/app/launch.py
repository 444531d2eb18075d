"""``infgp run``: a study on engines people already run, one process that decides and some that evaluate.

Trials live in Optuna's storage. The run asks for points, hands them to workers and reports their values; it can be
killed at any moment and started again, on this machine or on several at once. Trials of a run that died are told from
slow ones by Optuna's heartbeat. Workers never see the storage, and no message shows its password.
"""

from __future__ import annotations

import math
import re
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import unquote

from infgp.app.spacefile import read_space
from infgp.app.workers import Answer, EvaluationError, Worker
from infgp.errors import InfGPError, InvalidInputError, check_int, require
from infgp.space import Float, Int, Parameter, Point, Space

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.storages import RDBStorage
    from optuna.trial import FrozenTrial, Trial

T = TypeVar("T")

#: Tries to open a storage; several runs that make its tables at once get into each other's way.
OPENINGS = 4
#: A trial is lost when so many heartbeats are missing.
MISSED_BEATS = 3
#: Longest wait, in seconds, before the run looks around.
GLANCE = 0.5
#: User attributes: why a trial failed, and which trial's value one holds that another run gave up too early.
ERROR, INSTEAD_OF = "infgp:error", "infgp:instead_of"


class StorageError(InfGPError):
    """The storage cannot be opened, or has stopped answering."""


class Interrupted(InfGPError):  # noqa: N818 - no error
    """The run was stopped by Ctrl-C or SIGTERM."""


@dataclass(frozen=True)
class Plan:
    """What ``infgp run`` was asked for; the names are those of its options."""

    objective: str
    space: str
    trials: int
    jobs: int = 1
    storage: str = field(default="sqlite:///infgp.db", repr=False)  # may hold a password
    study: str | None = None
    minimize: bool = False
    seed: int | None = None
    keep_going: bool = False
    heartbeat: int = 10
    patience: int = 60

    @property
    def name(self) -> str:
        """Name of the study."""
        return self.study or self.objective


@dataclass
class Progress:
    """Where the run stands, for those who show it."""

    trials: list[FrozenTrial]
    running: int
    total: int
    finished: FrozenTrial | None = None
    note: str = ""


Listener = Callable[[Progress], object]


def hide_password(url: str, text: str) -> str:
    """`text` without any password that the storage URL holds.

    Examples
    --------
    >>> hide_password("postgresql://ann:s%40cret@db/x", "cannot reach postgresql://ann:s%40cret@db/x: s@cret")
    'cannot reach postgresql://ann:***@db/x: ***'
    """
    found = re.findall(r"://[^/?#]*?:([^/?#]*)@", url) + re.findall(r"://[^:]*:(.*)@", url)
    found += re.findall(r"[?&][^=&]*(?:pass|pwd|secret|token)[^=&]*=([^&#]*)", url, re.IGNORECASE)
    secrets = {form for secret in found for form in (secret, unquote(secret)) if form}
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """Optuna's distributions for a space.

    Examples
    --------
    >>> distributions(Space.of({"x": Float(0.0, 1.0)}))["x"].high
    1.0
    """
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    def one(parameter: Parameter) -> BaseDistribution:
        if isinstance(parameter, Float):
            return FloatDistribution(parameter.low, parameter.high, log=parameter.log)
        if isinstance(parameter, Int):
            return IntDistribution(parameter.low, parameter.high, log=parameter.log)
        return CategoricalDistribution(tuple(parameter.options))

    return {name: one(p) for name, p in zip(space.names, space.parameters, strict=True)}


def run(plan: Plan, listen: Listener = lambda _: None) -> Study:
    """Bring a study to its number of trials.

    Parameters
    ----------
    plan : Plan
    listen : callable
        Called whenever something has changed.

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
    space = read_space(plan.space)
    worker = _hire(plan.objective, space)  # before anything is stored
    with warnings.catch_warnings():
        from optuna.exceptions import ExperimentalWarning

        warnings.simplefilter("ignore", ExperimentalWarning)
        warnings.filterwarnings("ignore", "Heartbeat of storage is supposed to be used")
        try:
            study, storage = _open(plan, space)
            with _signals() as signals:
                _Run(plan, space, study, storage, signals, listen, idle=[worker]).go()
        finally:
            worker.stop()
    return study


def _hire(objective: str, space: Space) -> Worker:
    """A worker that has found its function."""
    worker = Worker(objective, space)
    worker.send(None)
    answer = worker.receive()
    if answer.error is not None:
        worker.stop()
        raise EvaluationError(f"{objective} cannot be evaluated: {answer.error}")
    return worker


def _open(plan: Plan, space: Space) -> tuple[Study, RDBStorage]:
    """The study, made if it is not there."""
    import optuna
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

    from infgp.optuna import InfGPSampler

    def fail(why: str, remedy: str) -> StorageError:
        return StorageError(hide_password(plan.storage, f"The storage {plan.storage} {why}; {remedy}"))

    settings: dict[str, Any] = {"pool_pre_ping": True}  # connections that a restarted server has dropped
    if plan.storage.startswith("sqlite"):
        settings["connect_args"] = {"timeout": 60}  # seconds to wait for others to write
    direction: Literal["minimize", "maximize"] = "minimize" if plan.minimize else "maximize"
    sampler = InfGPSampler(seed=plan.seed, search_space=distributions(space))
    for attempt in range(1, OPENINGS + 1):
        try:
            storage = optuna.storages.RDBStorage(
                plan.storage,
                settings,
                heartbeat_interval=plan.heartbeat,
                grace_period=MISSED_BEATS * plan.heartbeat,
            )
            study = optuna.create_study(
                storage=storage, sampler=sampler, study_name=plan.name, direction=direction, load_if_exists=True
            )
            break
        except (ArgumentError, NoSuchModuleError, ValueError) as error:
            raise fail(
                f"is not a database URL ({_line(error)})",
                "write e.g. sqlite:///study.db or postgresql+psycopg://user:password@host/database.",
            ) from None
        except ImportError as error:
            raise fail(
                f"needs a driver that is not installed ({_line(error)})",
                "install it: 'psycopg[binary]' for postgresql+psycopg://…, pymysql for mysql+pymysql://…",
            ) from None
        except (SQLAlchemyError, optuna.exceptions.StorageInternalError, RuntimeError) as error:
            if attempt == OPENINGS:
                raise fail(
                    f"cannot be opened ({_line(error)})", "check that it is up and that the URL is right."
                ) from None
            time.sleep(0.3 * attempt)
    return study, storage


@dataclass
class _Run:
    """The loop, with what it needs to know of itself."""

    plan: Plan
    space: Space
    study: Study
    storage: RDBStorage
    signals: list[int]
    listen: Listener
    evaluating: dict[Worker, Trial] = field(default_factory=dict)
    idle: list[Worker] = field(default_factory=list)
    met: set[int] = field(default_factory=set)  # running trials of others, by id
    error: str | None = None
    beaten: float = -math.inf

    def go(self) -> None:
        try:
            self._patiently(self._check)
            self._loop()
        finally:
            for worker in (*self.idle, *self.evaluating):
                worker.stop()
            for trial in self.evaluating.values():
                self._abandon(trial)

    def _check(self) -> None:
        """Raise unless the study is one to go on with."""
        from optuna.distributions import check_distribution_compatibility

        name, wanted = self.plan.name, "minimize" if self.plan.minimize else "maximize"
        made = [direction.name.lower() for direction in self.study.directions]
        if len(made) > 1:
            raise InvalidInputError(f"The study {name!r} has {len(made)} objectives; choose another --study.")
        if made[0] != wanted:
            remedy = "leave out" if self.plan.minimize else "add"
            raise InvalidInputError(
                f"The study {name!r} was made to {made[0]}; {remedy} --minimize, or choose another --study."
            )
        space = distributions(self.space)
        for trial in self.study.get_trials(deepcopy=False):
            for parameter in space.keys() & trial.distributions.keys():
                try:
                    check_distribution_compatibility(trial.distributions[parameter], space[parameter])
                except ValueError:
                    raise InvalidInputError(
                        f"The study {name!r} knows {parameter!r} as {trial.distributions[parameter]}, the space file "
                        f"{self.plan.space} has {space[parameter]}; mend it, or choose another --study."
                    ) from None

    def _loop(self) -> None:
        while len(self.signals) < 2:
            self._patiently(self._beat)
            trials = self._patiently(lambda: self.study.get_trials(deepcopy=False))
            done = sum(map(counts, trials))
            running = sum(t.state.name == "RUNNING" for t in trials)
            ending = self.error is not None or bool(self.signals) or done >= self.plan.trials
            if ending and not self.evaluating:
                self.listen(Progress(trials, 0, self.plan.trials))
                break
            while not ending and len(self.evaluating) < self.plan.jobs and done + running < self.plan.trials:
                self._begin()
                running += 1
            self.listen(Progress(trials, len(self.evaluating), self.plan.trials, note=self._note()))
            for worker in self._answered():
                self._finish(worker)
        if self.signals:
            raise Interrupted(
                f"Stopped; what was reported is in the study {self.plan.name!r}. Run the same command to go on."
            )
        if self.error is not None:
            raise EvaluationError(self.error)

    def _note(self) -> str:
        if self.signals:
            return "finishing what is running; Ctrl-C again abandons it"
        if not self.evaluating:
            return "waiting for trials that run elsewhere, or were lost"
        return ""

    def _answered(self) -> list[Worker]:
        """Workers that have something to say; waits a moment for the first."""
        if not self.evaluating:
            time.sleep(GLANCE)
            return []
        closed = [worker for worker in self.evaluating if worker.connection.closed]
        if closed:
            return closed
        ready = wait([worker.connection for worker in self.evaluating], GLANCE)
        return [worker for worker in self.evaluating if worker.connection in ready]

    def _begin(self) -> None:
        """Ask for a point and send it to a worker."""
        trial = self._patiently(self._ask)
        worker = self.idle.pop() if self.idle else Worker(self.plan.objective, self.space)
        self.evaluating[worker] = trial
        self._patiently(lambda: self.storage.record_heartbeat(trial._trial_id))
        worker.send({name: trial.params[name] for name in self.space.names})

    def _ask(self) -> Trial:
        from optuna.exceptions import UpdateFinishedTrialError

        while True:
            try:
                return self.study.ask(distributions(self.space))
            except UpdateFinishedTrialError:  # so slow to find a point that another run took the trial for dead
                continue

    def _finish(self, worker: Worker) -> None:
        answer = worker.receive()
        if answer.error is not None:
            answer = Answer(error=hide_password(self.plan.storage, answer.error))
        trial = self.evaluating[worker]
        if answer.error is None or self.plan.keep_going:
            self._report(trial, answer)
        else:
            self._abandon(trial, answer.error)
            self.error = self.error or (
                f"{self.plan.objective} failed at {_short(trial.params)}: {answer.error}. The other trials are in the "
                f"study {self.plan.name!r}; mend the function and run again, or add --keep-going to count such a point "
                "as failed and go on."
            )
        del self.evaluating[worker]
        if worker.alive:
            self.idle.append(worker)
        else:
            worker.stop()

    def _report(self, trial: Trial, answer: Answer) -> None:
        """Store an outcome: nothing that was evaluated is lost while the storage lives."""
        value = answer.value
        failed = value is None or math.isnan(value)
        try:
            stored = self._patiently(lambda: self._store(trial, None if failed else value, answer.error))
        except StorageError as error:
            raise StorageError(f"{error} Not stored: value {value!r} at {_short(trial.params)}.") from None
        self.listen(Progress([], len(self.evaluating), self.plan.trials, finished=stored))

    def _store(self, trial: Trial, value: float | None, error: str | None) -> FrozenTrial:
        """The trial that holds the outcome: this one, or another where a run has taken this one for dead."""
        from optuna.exceptions import UpdateFinishedTrialError
        from optuna.trial import TrialState, create_trial

        try:
            if error is not None:
                trial.set_user_attr(ERROR, error)
            if value is None:
                self.study.tell(trial.number, state=TrialState.FAIL)
            else:
                self.study.tell(trial.number, value)
        except (UpdateFinishedTrialError, ValueError):
            stored = self.storage.get_trial(trial._trial_id)
            if not stored.state.is_finished():
                raise
            if value is None or stored.value == value:
                return stored
            if not self._instead_of(trial.number):
                attributes = {INSTEAD_OF: trial.number}
                self.study.add_trial(
                    create_trial(
                        params=stored.params, distributions=stored.distributions, value=value, user_attrs=attributes
                    )
                )
            return self._instead_of(trial.number)[0]
        return self.storage.get_trial(trial._trial_id)

    def _instead_of(self, number: int) -> list[FrozenTrial]:
        return [t for t in self.study.get_trials(deepcopy=False) if t.user_attrs.get(INSTEAD_OF) == number]

    def _abandon(self, trial: Trial, error: str | None = None) -> None:
        """Give a trial up: neither a value nor a failure of the point. Where even that fails, its heartbeat ends."""
        from optuna.exceptions import OptunaError
        from optuna.trial import TrialState
        from sqlalchemy.exc import SQLAlchemyError

        try:
            if error is not None:
                trial.set_user_attr(ERROR, error)
            self.storage.set_trial_state_values(trial._trial_id, TrialState.FAIL)
        except (OptunaError, SQLAlchemyError):
            pass

    def _beat(self) -> None:
        """Show that our trials are alive, and fail those whose run is not.

        One that should long have been heard of may never have been, because its run died between making it and its
        first beat; it is given one.
        """
        from optuna.storages import fail_stale_trials
        from optuna.trial import TrialState

        if time.monotonic() - self.beaten < self.plan.heartbeat:
            return
        ours = {trial._trial_id for trial in self.evaluating.values()}
        for trial_id in ours:
            self.storage.record_heartbeat(trial_id)
        fail_stale_trials(self.study)
        long_ago = datetime.now() - timedelta(seconds=MISSED_BEATS * self.plan.heartbeat)
        running = self.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        old = {t._trial_id for t in running if t.datetime_start is not None and t.datetime_start < long_ago}
        for trial_id in old - ours - self.met:
            self.storage.record_heartbeat(trial_id)
        self.met |= old
        self.beaten = time.monotonic()

    def _patiently(self, call: Callable[[], T]) -> T:
        """Call, and again while the storage does not answer and patience lasts."""
        from optuna.exceptions import StorageInternalError
        from sqlalchemy.exc import SQLAlchemyError

        begin, pause = time.monotonic(), 0.1
        while True:
            try:
                return call()
            except (StorageInternalError, SQLAlchemyError) as error:
                if time.monotonic() - begin > self.plan.patience or len(self.signals) > 1:
                    message = (
                        f"The storage {self.plan.storage} has not answered for {self.plan.patience} seconds "
                        f"({_line(error)}); once it is up, run the same command to go on."
                    )
                    raise StorageError(hide_password(self.plan.storage, message)) from None
            self.listen(Progress([], len(self.evaluating), self.plan.trials, note="the storage does not answer"))
            time.sleep(pause)
            pause = min(2.0 * pause, 2.0)


def counts(trial: FrozenTrial) -> bool:
    """Whether a trial counts towards the number asked for: it completed, was pruned, or its point failed."""
    from infgp.optuna import FAILED

    return trial.state.name in ("COMPLETE", "PRUNED") or (
        trial.state.name == "FAIL" and bool(trial.system_attrs.get(FAILED))
    )


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


def _line(error: BaseException) -> str:
    """The first line of what the innermost error says."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines: Sequence[str] = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]


def _short(point: Point | dict[str, Any]) -> str:
    return ", ".join(f"{k}={v:.6g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in point.items())
