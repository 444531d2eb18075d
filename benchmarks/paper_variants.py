"""Why ∞-GP-TS loses where it does: the paper's configuration with a part of it changed, on tasks of the paper suite.

infgp bench run --suite diagnosis --import benchmarks.paper_variants --tasks A,B --methods ts-target,ts-one --seeds 5
python -m benchmarks.paper_variants         # prints and writes results/diagnosis/variants.md
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from infgp.bench.core import Method
from infgp.bench.figures import title
from infgp.bench.methods import METHODS
from infgp.bench.methods.infinite import Drawn, ThompsonRun, draw_state, paper_model
from infgp.bench.records import load
from infgp.bench.statistics import by_task, compare
from infgp.bench.tables import table
from infgp.model import Model
from infgp.optimizer import search_priors
from infgp.paths import draw_path
from infgp.priors import Priors
from infgp.sampler import ONE_SURFACE_SWEEP, run_collapsed, start_state, sweep

RESULTS = Path("results")
REFERENCE = "infgp-ts-paper"
#: Sweeps of the collapsed sampler at each step; each moves further than one of the truncated sampler.
SWEEPS = 50


def truncated(rng, state, data, target):
    """The paper's sampler and model, but another function is drawn."""
    model = paper_model(data.x.shape[1])
    state = draw_state(rng, start_state(rng, data, model, state or "one"), data, model)
    return Drawn(state, draw_path(rng, state, data, model, target), np.empty(0))


def collapsed(rng, state, data, target="surface", ard=False, priors=lambda d: Priors(), moves=(sweep,)):
    """The collapsed sampler with its splits and mergers, the paper's model unless told otherwise."""
    d = data.x.shape[1]
    model = Model("se", priors(d).resolve(d), ard=ard)
    chain = run_collapsed(rng, data, model, n_warmup=SWEEPS - 1, n_samples=1, thin=1, start=state or "one", moves=moves)
    return Drawn(chain.states[0], draw_path(rng, chain.states[0], data, model, target), np.empty(0))


VARIANTS = {
    "ts-target": ("target: the expected reward in place of one surface", partial(truncated, target="mean")),
    "ts-sampler": ("sampler: collapsed", collapsed),
    "ts-both": ("… and target", partial(collapsed, target="mean")),
    "ts-ard": ("… and a length-scale for each input", partial(collapsed, target="mean", ard=True)),
    "ts-prior": (
        "… and the priors of infgp's search",
        partial(collapsed, target="mean", ard=True, priors=search_priors),
    ),
    "ts-one": ("… but a single surface", partial(collapsed, target="mean", ard=True, moves=ONE_SURFACE_SWEEP)),
}
METHODS |= {name: Method(name, text, partial(ThompsonRun, sampler=of)) for name, (text, of) in VARIANTS.items()}


def main() -> None:
    """Write the table."""
    runs = by_task([*load(RESULTS / "paper"), *load(RESULTS / "diagnosis")])
    tasks = [task for task in runs if VARIANTS.keys() & runs[task].keys()]

    def entry(task, method):
        found = compare(task, method, REFERENCE, runs[task].get(method, {}), runs[task][REFERENCE])
        return "" if found is None else f"{found.ratio:.2f} ({found.low:.2f}–{found.high:.2f}), {found.count}"

    rows = [
        [METHODS[m].label, *(entry(t, m) for t in tasks)] for m in (*VARIANTS, "infgp", "gp-ts", "gp-ei", "optuna-tpe")
    ]
    text = (
        "# What the parts of ∞-GP-TS cost\n\nWritten by `python -m benchmarks.paper_variants`. Cumulative regret over "
        "that of ∞-GP-TS in the paper's configuration on the same seeds: geometric mean (95 % interval), seeds. Below "
        "1 is better. Each line that begins with … changes one thing more than the line before it; the single surface "
        "goes with the line on length-scales.\n\n" + table(["", *map(title, tasks)], rows)
    )
    (RESULTS / "diagnosis" / "variants.md").write_text(text.rstrip() + "\n")
    print(text)


if __name__ == "__main__":
    main()
