"""Extra regret of cutting the sticks at L (Corollary 1).

∞-GP-TS with L = 1, 2, 4, 8, 16 surfaces, against the same model without truncation, on the same seeds. The corollary
bounds the difference by a multiple of exp(−(L − 1) / ν) n².

    python -m infgp.bench.theory.truncation [--quick]      # about 10 minutes; goes on where it was cut off
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from infgp.bench import runner
from infgp.bench.figures import clean, pyplot, save
from infgp.bench.tasks import task
from infgp.bench.theory.runs import Drawn, Sampler, method, truncated, untruncated
from infgp.bench.theory.store import Record, options

#: Names of the tasks.
TASKS = ("rosenbrock-ht", "ackley-ns")
#: Numbers L of sticks.
LEVELS = (1, 2, 4, 8, 16)
#: Number of seeds.
SEEDS = 6
#: Number of evaluations of a run.
STEPS = 60
#: Number of Gibbs sweeps at each step.
SWEEPS = 150


def sampler_of(level: int, sweeps: int) -> Sampler:
    """The truncated sampler with `level` sticks; the untruncated one for 0."""
    return truncated(level, sweeps) if level else untruncated(sweeps)


def one(job: Record, steps: int = STEPS, sweeps: int = SWEEPS) -> Record:
    """Cumulative regret of one run, and the number of surfaces and the concentration that it ended with."""
    last: list[Drawn] = []

    def watch(n: int, drawn: Drawn) -> None:
        last[:] = [drawn]

    found = runner.run(
        task(job["task"]), method(f"L={job['L']}", sampler_of(job["L"], sweeps), watch), job["seed"], steps
    )
    state = last[0].state
    return {
        "regret": round(sum(found["regret"]), 4),
        "surfaces": state.n_surfaces,
        "nu": round(float(state.nu), 3),
        "failures": found["failures"],
    }


def extra(records: list[Record], name: str, level: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Regret with L = `level` less that without truncation, for each seed that has both."""
    regret = {(r["L"], r["seed"]): r["regret"] for r in records if r["task"] == name}
    seeds = sorted(seed for which, seed in regret if which == level and (0, seed) in regret)
    return np.array([regret[level, seed] - regret[0, seed] for seed in seeds])


def draw(records: list[Record], path: Path) -> None:
    """One panel for each task: extra regret against L."""
    plt = pyplot()
    names = [name for name in TASKS if any(r["task"] == name for r in records)]
    figure, axes = plt.subplots(1, len(names), figsize=(3.6 * len(names), 3.0), squeeze=False, layout="constrained")
    for axis, name in zip(axes[0], names, strict=True):
        levels = [level for level in LEVELS if extra(records, name, level).size]
        gaps = [extra(records, name, level) for level in levels]
        base = np.mean([r["regret"] for r in records if r["task"] == name and r["L"] == 0])
        errors = [float(np.std(g, ddof=1) / np.sqrt(g.size)) if g.size > 1 else 0.0 for g in gaps]
        at = np.arange(len(levels))
        for k, gap in enumerate(gaps):
            axis.plot(np.full(gap.size, k), gap, ".", color="#999999", ms=5, zorder=1)
        axis.errorbar(at, [float(g.mean()) for g in gaps], errors, fmt="o", color="#0072B2", ms=6, lw=2, capsize=4)
        axis.axhline(0.0, color="#222222", lw=1, ls="--")
        axis.set(
            title=f"{name}: untruncated {base:.0f}",
            xlabel="surfaces L",
            xticks=at,
            xticklabels=levels,
            xlim=(-0.5, len(levels) - 0.5),
        )
        clean(axis)
    axes[0, 0].set_ylabel("extra cumulative regret\n(mean ± s.e., dots: seeds)")
    save(figure, path)


def main() -> None:
    """Measure and draw."""
    chosen = options(__doc__)
    quick = chosen.quick
    cells = product(range(1 if quick else SEEDS), TASKS[:1] if quick else TASKS, (0, *LEVELS[: 2 if quick else None]))
    jobs = [{"seed": seed, "task": name, "L": level} for seed, name, level in cells]
    run = (lambda job: one(job, steps=12, sweeps=20)) if quick else one
    draw(chosen.records("truncation.jsonl", jobs, run), chosen.out / "truncation.png")


if __name__ == "__main__":
    main()
