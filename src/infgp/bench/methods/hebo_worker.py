"""HEBO behind pipes: a script for the Python of an environment of its own, which imports nothing of infgp.

Each line of the standard input is an order in JSON, and each has one line of JSON as its answer:

=====================================  =========================================================================
order                                  answer
=====================================  =========================================================================
``{"do": "start", "d": 2, "seed": 0}``  ``{"version": "0.3.6"}``
``{"do": "tell", "x": [...], "y": 1}``  ``{}``; y is a reward, to be maximised
``{"do": "ask"}``                       ``{"x": [...]}``
=====================================  =========================================================================

Where an order fails, the answer is ``{"error": "..."}``. The script ends with its standard input.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
import warnings
from importlib.metadata import version
from typing import Any


class Search:
    """A search with HEBO's defaults; it minimises, so that rewards change their sign here."""

    def __init__(self) -> None:
        self.search: Any = None
        self.names: list[str] = []

    def obey(self, order: dict[str, Any]) -> dict[str, Any]:
        """Carry out an order, and answer it."""
        if order["do"] == "start":
            return self._start(int(order["d"]), int(order["seed"]))
        if order["do"] == "tell":
            return self._tell(order["x"], float(order["y"]))
        return {"x": [float(value) for value in self.search.suggest(1).iloc[0]]}

    def _start(self, d: int, seed: int) -> dict[str, Any]:
        numpy, torch = importlib.import_module("numpy"), importlib.import_module("torch")
        torch.set_num_threads(1)
        for sow in (random.seed, numpy.random.seed, torch.manual_seed):
            sow(seed)
        space = importlib.import_module("hebo.design_space.design_space").DesignSpace()
        self.names = [f"x{k}" for k in range(d)]
        space.parse([{"name": name, "type": "num", "lb": 0.0, "ub": 1.0} for name in self.names])
        self.search = importlib.import_module("hebo.optimizers.hebo").HEBO(space, scramble_seed=seed)
        return {"version": version("HEBO")}

    def _tell(self, x: list[float], y: float) -> dict[str, Any]:
        numpy, pandas = importlib.import_module("numpy"), importlib.import_module("pandas")
        self.search.observe(pandas.DataFrame([x], columns=self.names), numpy.array([[-y]]))
        return {}


def main() -> None:
    """Answer orders until the standard input ends."""
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not be taken for answers
    search = Search()
    for line in sys.stdin:
        try:
            answer = search.obey(json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
