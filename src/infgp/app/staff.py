"""The workers of a run that have no point to evaluate: some wait for one, others still look for their function."""

from __future__ import annotations

from dataclasses import dataclass, field

from infgp.app.storage import Plan, hide_password
from infgp.app.text import shorten
from infgp.app.workers import EvaluationError, Worker, wait_for
from infgp.space import Space

#: Longest wait, in seconds, before the run looks around.
GLANCE = 0.5
#: Workers in a row that a signal may kill while they start, before the run gives up.
STARTS = 3


@dataclass
class Staff:
    """Workers without a point.

    Attributes
    ----------
    plan : Plan
    space : Space
    idle : list of Worker
        Those that wait for a point.
    starting : list of Worker
        Those that have not found their function yet.
    killed_starts : int
        How many workers in a row a signal has killed while they started.
    """

    plan: Plan
    space: Space
    idle: list[Worker] = field(default_factory=list)
    starting: list[Worker] = field(default_factory=list)
    killed_starts: int = 0

    def ready(self, wanted: int) -> int:
        """See that as many workers as wanted are there or start; returns how many workers can begin now.

        A trial is made when a worker is there for it: what happens to a worker that starts is no matter of a point.
        """
        waiting, self.idle = self.idle, []
        for worker in waiting:
            self.take_back(worker)
        for _ in range(wanted - len(self.idle) - len(self.starting)):
            self.starting.append(Worker(self.plan.function, self.space))
        return max(0, min(wanted, len(self.idle)))

    def welcome(self) -> str | None:
        """Take workers that have found their function among those that wait for a point; what is wrong, if anything."""
        error = None
        for worker in tuple(self.starting):
            answer = worker.collect()
            if answer is None:
                continue
            self.starting.remove(worker)
            if answer.error is None:
                self.idle.append(worker)
                self.killed_starts = 0
                continue
            worker.stop()
            self.killed_starts += 1
            if not answer.killed or self.killed_starts >= STARTS:
                error = error or _cannot_start(self.plan, answer.error)
        return error

    def take_back(self, worker: Worker) -> None:
        """Take a worker that has finished among those that wait for a point, if it lives."""
        if worker.alive:
            self.idle.append(worker)
        else:
            worker.stop()

    def stop(self) -> None:
        """End all of them."""
        for worker in (*self.starting, *self.idle):
            worker.stop()


def hire(plan: Plan, space: Space) -> Worker:
    """A worker that has found its function."""
    worker = Worker(plan.function, space)
    try:
        while (answer := worker.collect()) is None:
            wait_for([worker], GLANCE)
        if answer.error is not None:
            raise EvaluationError(_cannot_start(plan, answer.error))
    except BaseException:
        worker.stop()
        raise
    return worker


def fit_to_show(plan: Plan, error: str) -> str:
    """An error of the function, fit to be shown and stored."""
    return shorten(hide_password(plan.storage, error))


def _cannot_start(plan: Plan, error: str) -> str:
    return f"{plan.function} cannot be evaluated: {fit_to_show(plan, error)}"
