"""One optimizer in a process of its own, for `benchmarks.ask_latency --against`: lines of JSON in, lines of JSON out.

Needs nothing but infgp's public interface, so that it runs with the `src` of any checkout on PYTHONPATH. Each line
``{"x": [[…]], "y": […]}`` begins an optimizer with the rewards y at the inputs x, and each line ``{"y": …}`` is the
reward of the point it asked for last. The answer is the next point and the seconds of tell and ask together, which do
not count after the first kind of line: the first ask imports, compiles and warms up.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

from threadpoolctl import threadpool_limits

import infgp


def main() -> None:
    warnings.simplefilter("ignore")
    print(json.dumps({"file": infgp.__file__}), flush=True)
    optimizer, point = None, None
    for line in sys.stdin:
        given = json.loads(line)
        if "x" in given:
            names = [f"x{k}" for k in range(len(given["x"][0]))]
            optimizer = infgp.Optimizer({name: infgp.Float(0.0, 1.0) for name in names}, seed=0, n_initial=1)
            for x, y in zip(given["x"], given["y"], strict=True):
                optimizer.tell(dict(zip(names, x, strict=True)), y)
            point = optimizer.ask()
            seconds = None
        else:
            begin = time.perf_counter()
            optimizer.tell(point, given["y"])
            point = optimizer.ask()
            seconds = time.perf_counter() - begin
        print(json.dumps({"x": list(point.values()), "seconds": seconds}), flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
