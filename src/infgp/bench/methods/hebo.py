"""HEBO, which needs older packages than infgp, as a process in an environment of its own.

python3.10 -m venv ENV && ENV/bin/pip install 'numpy<1.25' HEBO 'GPy>=1.13'
export INFGP_HEBO_PYTHON=ENV/bin/python
"""

from __future__ import annotations

import json
import os
import subprocess
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from infgp.bench.methods.history import FloatArray, History
from infgp.errors import InfGPError, InvalidInputError

#: Environment variable with the path of the Python that has HEBO.
PYTHON = "INFGP_HEBO_PYTHON"
#: The script that answers there.
WORKER = Path(__file__).with_name("hebo_worker.py")
#: Seconds that the process has to end after its input was closed.
PATIENCE = 5.0


class HeboError(InfGPError, RuntimeError):
    """HEBO raised, or its process ended."""


class HeboRun(History):
    """A run of HEBO with its defaults.

    The initial design, which is the benchmark's, replaces its random start where it has more than d points. Seconds of
    its CPU are those of another process and not in a record; its wall seconds are.

    Parameters
    ----------
    d, seed : int
    """

    def __init__(self, d: int, seed: int) -> None:
        super().__init__(d, seed)
        python = os.environ.get(PYTHON)
        if not python:
            raise InvalidInputError(
                f"HEBO runs in an environment of its own, but {PYTHON} is not set; make one with `pip install "
                f"'numpy<1.25' HEBO 'GPy>=1.13'` and set {PYTHON} to the path of its Python."
            )
        # -I keeps this folder and PYTHONPATH, with modules of other versions, away from that Python.
        command = [python, "-I", os.fspath(WORKER)]
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        except OSError as error:
            raise InvalidInputError(
                f"{PYTHON} is {python!r}, which cannot be started ({error}); set it to the path of a Python with HEBO."
            ) from None
        self.close = weakref.finalize(self, _end, self.process)
        self.version = self._order(do="start", d=d, seed=seed)["version"]

    def ask(self) -> FloatArray:
        """The next point."""
        return np.asarray(np.clip(self._order(do="ask")["x"], 0.0, 1.0))

    def tell(self, x: FloatArray, y: float) -> None:
        """Take in the reward y of point x."""
        super().tell(x, y)
        self._order(do="tell", x=[float(value) for value in x], y=float(y))

    def recommend(self) -> FloatArray:
        """The point with the best reward, which is what HEBO offers."""
        return self._x[int(np.argmax(self._y))]

    def _order(self, **order: Any) -> dict[str, Any]:
        given, answers = self.process.stdin, self.process.stdout
        assert given is not None
        assert answers is not None
        line = ""
        with suppress(OSError):  # where the process has ended
            print(json.dumps(order), file=given, flush=True)
            line = answers.readline()
        if not line:
            raise HeboError(f"The process of HEBO has ended (exit code {self.process.wait()}) at {order['do']!r}.")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise HeboError(f"HEBO raised at {order['do']!r}: {answer['error']}")
        return answer


def _end(process: subprocess.Popen[str]) -> None:
    """Close the pipes of a process, and wait for its end."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):  # where what was written last cannot be delivered
                pipe.close()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
