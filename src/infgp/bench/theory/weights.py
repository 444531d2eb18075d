"""Weights of the surfaces over the iterations of Ackley-NS with L = 4 (the paper's heat map).

With the concentration drawn as it should be, and as the paper's step 4a has it: Gamma(a + n − 1, b − log w_L) instead
of Gamma(a + L − 1, b − log w_L). The printed one grows with n and pushes weight to the last stick, where L cuts.

    python -m infgp.bench.theory.weights [--quick]      # about 5 minutes; goes on where it was cut off
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from infgp.bench import runner
from infgp.bench.figures import pyplot, save
from infgp.bench.tasks import task
from infgp.bench.theory.runs import Drawn, method, truncated
from infgp.bench.theory.store import Record, options
from infgp.core.model import Data, Model
from infgp.core.priors import Gamma
from infgp.sample import truncated as blocked

#: Name of the task.
TASK = "ackley-ns"
#: Number L of sticks.
STICKS = 4
#: Number of evaluations of a run.
STEPS = 100
#: Number of Gibbs sweeps at each step.
SWEEPS = 500
#: Number of seeds.
SEEDS = 3
#: Number of evaluations for which one column of the heat map stands.
EVERY = 10


def draw_nu_as_printed(
    rng: np.random.Generator, state: blocked.BlockedState, data: Data, model: Model
) -> blocked.BlockedState:
    """Step 4a as the paper prints it, which does not leave the posterior as it is."""
    prior = model.priors.nu
    assert isinstance(prior, Gamma)
    shape = prior.shape + data.y.size - 1
    return state.with_core(nu=float(rng.standard_gamma(shape) / (prior.rate - state.log_weights[-1])))


STEPS_4A = {
    "mended": ("step 4a mended", blocked.SWEEP),
    "printed": (
        "step 4a as printed",
        tuple(draw_nu_as_printed if move is blocked.draw_nu else move for move in blocked.SWEEP),
    ),
}


def one(job: Record, steps: int = STEPS, sweeps: int = SWEEPS) -> Record:
    """Weights and shares of the observations after every tenth evaluation (the next at which the model is asked)."""
    seen: list[Record] = []

    def watch(n: int, drawn: Drawn) -> None:
        if n >= EVERY * (len(seen) + 1) or n == steps - 1:
            counts = np.bincount(drawn.state.labels, minlength=STICKS)
            seen.append(
                {
                    "n": n,
                    "weights": np.round(drawn.weights, 4).tolist(),
                    "shares": np.round(counts / n, 4).tolist(),
                    "nu": round(float(drawn.state.nu), 3),
                }
            )

    sampler = truncated(STICKS, sweeps, STEPS_4A[job["step 4a"]][1])
    found = runner.run(task(TASK), method("weights", sampler, watch), job["seed"], steps)
    return {"regret": round(sum(found["regret"]), 4), "seen": seen, "failures": found["failures"]}


def draw(records: list[Record], path: Path) -> None:
    """A heat map for each step 4a (rows) and seed (columns): surfaces against evaluations."""
    plt = pyplot()
    seeds = sorted({r["seed"] for r in records})
    kinds = [kind for kind in STEPS_4A if any(r["step 4a"] == kind for r in records)]
    figure, axes = plt.subplots(
        len(kinds), len(seeds), figsize=(1.2 + 3.4 * len(seeds), 2.1 * len(kinds)), squeeze=False, layout="constrained"
    )
    for axis in axes.flat:
        axis.set_axis_off()
    for record in records:
        axis = axes[kinds.index(record["step 4a"]), seeds.index(record["seed"])]
        weights = np.array([entry["weights"] for entry in record["seen"]]).T
        picture = axis.imshow(weights, aspect="auto", cmap="Greys", vmin=0.0, vmax=1.0)
        for (row, column), weight in np.ndenumerate(weights):
            if weight >= 0.005:
                colour = "white" if weight > 0.55 else "black"
                axis.text(
                    column,
                    row,
                    f"{weight:.2f}"[1:] if weight < 0.995 else "1",
                    ha="center",
                    va="center",
                    fontsize=6.5,
                    color=colour,
                )
        axis.set(
            title=f"{STEPS_4A[record['step 4a']][0]}, seed {record['seed']}",
            xticks=np.arange(weights.shape[1]),
            yticks=np.arange(STICKS),
            yticklabels=np.arange(1, STICKS + 1),
        )
        axis.set_axis_on()
        axis.set_xticklabels([str(entry["n"]) for entry in record["seen"]], fontsize=8)
    for axis in axes[:, 0]:
        axis.set_ylabel("surface")
    for axis in axes[-1]:
        axis.set_xlabel("evaluations")
    figure.colorbar(picture, ax=axes, label="weight", shrink=0.8)
    save(figure, path)


def main() -> None:
    """Measure and draw."""
    chosen = options(__doc__)
    quick = chosen.quick
    cells = product(range(1 if quick else SEEDS), STEPS_4A)
    jobs = [{"seed": seed, "step 4a": kind} for seed, kind in cells]
    run = (lambda job: one(job, steps=24, sweeps=20)) if quick else one
    draw(chosen.records("weights.jsonl", jobs, run), chosen.out / "weights.png")


if __name__ == "__main__":
    main()
