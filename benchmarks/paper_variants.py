"""Why ∞-GP-TS and infgp's default lose where they do: with a part of them changed, on tasks of the paper suite.

infgp bench run --suite diagnosis --import benchmarks.paper_variants --tasks A,B --methods ts-target,ts-one --seeds 5
python -m benchmarks.paper_variants         # prints and writes results/diagnosis/variants.md
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np

from infgp.bench.core import Method
from infgp.bench.figures import title
from infgp.bench.methods import METHODS
from infgp.bench.methods.infinite import DefaultRun, Drawn, ThompsonRun, draw_state, paper_model
from infgp.bench.records import load
from infgp.bench.statistics import by_task, compare
from infgp.bench.tables import table
from infgp.core.model import Model
from infgp.core.priors import LogNormal, Priors
from infgp.predict.paths import draw_path
from infgp.sample.chain import ONE_SURFACE_SWEEP, run_collapsed, start_state, sweep
from infgp.search.maximise import maximise
from infgp.search.optimizer import search_priors

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
#: What is left between the line on priors and infgp's default: exploration, and the model's other parts.
SEARCHES = {
    "ts-search": (
        "priors; infgp's chain, robust units, scales for each surface; still Thompson sampling",
        partial(DefaultRun, target="mean", regions=False, bend=False, acquisition="thompson"),
    ),
    "ts-improvement": (
        "… and log expected improvement for Thompson sampling",
        partial(DefaultRun, target="mean", regions=False, bend=False),
    ),
    "ts-bent": ("… and rewards bent, rare clutter set aside", partial(DefaultRun, regions=False)),
}
METHODS |= {name: Method(name, text, start) for name, (text, start) in SEARCHES.items()}


class Gradients(DefaultRun):
    """Log expected improvement maximised with gradients, over the whole cube."""

    def ask(self):
        """The next point."""

        def climb(rng, score, space, good, **_):
            return maximise(rng, score, space, good)[0]

        with mock.patch("infgp.search.proposal.pick", climb):
            return super().ask()


class Longer(DefaultRun):
    """Length-scales with BoTorch's prior, which is for functions that are nearly linear over the cube."""

    def ask(self):
        """The next point."""
        d = self.optimizer.space.d
        prior = LogNormal(math.sqrt(2.0) + 0.5 * math.log(d), math.sqrt(3.0))
        longer = replace(search_priors(d), lengthscale=prior)
        with mock.patch("infgp.search.optimizer.search_priors", return_value=longer):
            return super().ask()


DEFAULT = {
    "infgp-gradients": ("exploration: improvement maximised with gradients", Gradients),
    "infgp-unbent": ("target: rewards as they are", partial(DefaultRun, bend=False)),
    "infgp-main": ("target: the dominant surface", partial(DefaultRun, target="main")),
    "infgp-one": ("model: one surface, rewards as they are", partial(DefaultRun, surfaces=1)),
    "infgp-one-bent": ("model: one surface", partial(DefaultRun, surfaces=1, bend=True)),
    "infgp-longer": ("prior: length-scales as in BoTorch", Longer),
    "infgp-one-longer": ("prior and model: one surface, length-scales as in BoTorch", partial(Longer, surfaces=1)),
}
METHODS |= {name: Method(name, text, start) for name, (text, start) in DEFAULT.items()}


def section(runs, reference, variants):
    """A table of the tasks on which some variants were run."""
    tasks = [task for task in runs if variants.keys() & runs[task].keys() and reference in runs[task]]

    def entry(task, method):
        found = compare(task, method, reference, runs[task].get(method, {}), runs[task][reference])
        if found is None:
            return ""
        interval = f" ({found.low:.2f}–{found.high:.2f})" if found.count > 1 else ""
        return f"{found.ratio:.2f}{interval}, {found.count}"

    peers = [m for m in ("infgp", "gp-ts", "gp-ei", "tgp-ucb", "pursuit", "optuna-tpe") if m != reference]
    rows = [[METHODS[m].label, *(entry(task, m) for task in tasks)] for m in (*variants, *peers)]
    return table(["", *map(title, tasks)], rows)


def main() -> None:
    """Write the table."""
    runs = by_task([*load(RESULTS / "paper"), *load(RESULTS / "diagnosis")])
    text = (
        "# What parts of the methods cost\n\nWritten by `python -m benchmarks.paper_variants`. Cumulative regret over "
        "that of the method unchanged on the same seeds: geometric mean (95 % interval), seeds. Below 1 is better.\n\n"
        "## ∞-GP-TS, the paper's configuration\n\nEach line that begins with … changes one thing more than the line "
        "before it; the single surface goes with the line on length-scales. With regions on top of the last of them it "
        f"is infgp's default.\n\n{section(runs, REFERENCE, VARIANTS | SEARCHES)}\n\n"
        f"## infgp's default\n\n{section(runs, 'infgp', DEFAULT)}"
    )
    (RESULTS / "diagnosis" / "variants.md").write_text(text.rstrip() + "\n")
    print(text)


if __name__ == "__main__":
    main()
