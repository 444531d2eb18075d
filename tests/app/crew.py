"""Processes of ``infgp run`` on one study, for those who kill them, and what was reported against what is stored."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import optuna
from sqlalchemy.pool import NullPool

import infgp

OBJECTIVE = """
import math, random, time

def f(a, b, c):
    time.sleep(0.1)
    return -(a - 0.3) ** 2 - (b - 0.6) ** 2 - abs(math.log10(c) + 1) + 0.01 * random.gauss(0, 1)
"""
SPACE = """
a = { type = "float", low = 0.0, high = 1.0 }
b = { type = "float", low = 0.0, high = 1.0 }
c = { type = "float", low = 0.001, high = 1.0, log = true }
"""
#: A line on a trial that has ended; one that a kill has cut off reports nothing.
REPORTED = re.compile(r"\] trial (\d+): (\S+).*\n")


class Crew:
    """Processes of ``infgp run``, each with an evaluation at a time."""

    def __init__(self, folder, url, size, trials, *options, target="objective:f", heartbeat=2):
        self.folder, self.url, self.target, self.numbers = folder, url, target, count()
        self.options = ["--trials", str(trials), "--seed", "0", "--heartbeat", str(heartbeat), *options]
        (folder / "objective.py").write_text(OBJECTIVE)
        (folder / "space.toml").write_text(SPACE)
        self.workers = [self._start() for _ in range(size)]
        self.killed = 0

    def _start(self):
        code = "import sys; from infgp.app.cli import main; sys.exit(main())"
        env = {**os.environ, "INFGP_STORAGE": self.url, "PYTHONPATH": str(Path(infgp.__file__).parents[1])}
        log = self.folder / f"log{next(self.numbers)}"
        with open(log, "w") as out:
            command = [sys.executable, "-c", code, "run", self.target, "--space", "space.toml", *self.options]
            worker = subprocess.Popen(command, cwd=self.folder, env=env, stdout=out, stderr=subprocess.STDOUT)
        return worker, log

    def busy(self):
        """Those that have got to work, by their place."""
        return [
            k for k, (worker, log) in enumerate(self.workers) if worker.poll() is None and "] trial" in log.read_text()
        ]

    def kill_one(self, rng):
        """Kill a worker that has got to work."""
        if busy := self.busy():
            k = rng.choice(busy)
            self.workers[k][0].kill()
            self.workers[k][0].wait()
            self.workers[k] = self._start()
            self.killed += 1

    def replace_the_failed(self):
        for k, (worker, _) in enumerate(self.workers):
            if worker.poll() not in (None, 0):
                self.workers[k] = self._start()

    def done(self):
        return all(worker.poll() == 0 for worker, _ in self.workers)

    def output(self):
        return "".join(path.read_text() for path in self.folder.glob("log*"))

    def reported(self):
        """Number and value of each trial that was reported, as they were printed."""
        lines = [found for path in self.folder.glob("log*") for found in REPORTED.findall(path.read_text())]
        return [(int(number), value) for number, value in lines]

    def end(self):
        for worker, _ in self.workers:
            if worker.poll() is None:
                worker.kill()
            worker.wait()


@contextmanager
def crew(*arguments, **options):
    made = Crew(*arguments, **options)
    try:
        yield made
    finally:
        made.end()


def storage(url):
    """The storage by a connection that does not outlive its use."""
    return optuna.storages.RDBStorage(url, {"poolclass": NullPool})


def trials_of(url, name="objective:f"):
    return optuna.load_study(study_name=name, storage=storage(url)).trials


def fresh(url):
    """Forget what an earlier test left in the database."""
    there = storage(url)
    for name in optuna.get_all_study_names(there):
        optuna.delete_study(study_name=name, storage=there)
