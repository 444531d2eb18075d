"""What runs for one `ask` and one `fit`: modules of infgp that are entered, and lines of its Python that are executed.

    python -m benchmarks.path_traced [--against PATH]    # prints a table, writes results/path_traced.json

With `--against`, the infgp of another checkout is traced too. Compiled functions count as one module each, since Numba
does not show their lines; import does not count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve()
OUT = HERE.parent / "results" / "path_traced.json"

#: Run in a process of its own with the `src` of any checkout on PYTHONPATH; needs only infgp's public interface.
TRACED = """
import json, sys, warnings
import numpy as np
import infgp
warnings.simplefilter("ignore")
folder = infgp.__file__.rsplit("/", 1)[0]

def traced(action):
    seen, executed = set(), 0
    def trace(frame, event, argument):
        nonlocal executed
        if not frame.f_code.co_filename.startswith(folder):
            return None
        if event == "line":
            executed += 1
            seen.add((frame.f_code.co_filename, frame.f_lineno))
        return trace
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(None)
    return {"modules": len({name for name, _ in seen}), "lines": len(seen), "executed": executed}

rng = np.random.default_rng(0)
optimizer = infgp.Optimizer({name: infgp.Float(0.0, 1.0) for name in "ab"}, seed=0, n_initial=4)
for _ in range(30):
    point = optimizer.ask()
    optimizer.tell(point, -sum(v * v for v in point.values()) + 0.1 * rng.standard_t(2))
x = rng.random((30, 2))
y = x[:, 0] + 0.1 * rng.standard_t(2, 30)
model = infgp.InfiniteGP(n_warmup=20, n_samples=5, n_chains=1, random_state=0)
model.fit(x, y).predict(x)
print(json.dumps({
    "ask": traced(optimizer.ask),
    "recommend": traced(optimizer.recommend),
    "fit": traced(lambda: model.fit(x, y)),
    "predict": traced(lambda: model.predict(x)),
}))
"""


def trace(source: Path):
    """What was traced in a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", TRACED]
    return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, metavar="PATH", help="another checkout")
    options = parser.parse_args()
    found = {"this checkout": trace(HERE.parents[1] / "src")}
    if options.against:
        found[str(options.against)] = trace(options.against.resolve() / "src")
    print("| checkout | call | modules | lines of Python | lines executed |\n|---|---|---|---|---|")
    for checkout, calls in found.items():
        for call, counts in calls.items():
            print(f"| {checkout} | {call} | {counts['modules']} | {counts['lines']} | {counts['executed']} |")
    OUT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
