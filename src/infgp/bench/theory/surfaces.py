"""Number of occupied surfaces K_n against n, under the prior and in fitted posteriors (Proposition 2).

Under the prior E K_n = Σ_{i ≤ n} ν / (ν + i − 1) ≈ ν log(n / ν) for large n. What data makes of it depends on the data.

    python -m infgp.bench.theory.surfaces [--quick]      # the fits are those of `tvd`
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from infgp.bench.figures import clean, pyplot, save
from infgp.bench.theory.fits import fits
from infgp.bench.theory.rewards import NOISES
from infgp.bench.theory.store import Record, options
from infgp.core.partition import expected_surfaces, urn_sample
from infgp.core.priors import Gamma, Priors

#: Values of the concentration ν.
CONCENTRATIONS = (0.5, 1.0, 2.0)
COLOURS = {0.5: "#009E73", 1.0: "#0072B2", 2.0: "#D55E00"}
REWARD_COLOURS = dict(zip(NOISES, ("#999999", "#009E73", "#0072B2", "#D55E00", "#CC79A7", "#222222"), strict=True))
#: Largest number n of observations.
LONGEST = 3000
#: Number of partitions drawn for each concentration.
DRAWS = 100


def simulate(seed: int, longest: int, draws: int) -> Record:
    """K_n of urn draws at growing n: mean and standard error, next to the sum and the proposition's rate."""
    rng = np.random.default_rng(seed)
    sizes = [int(n) for n in np.unique(np.geomspace(10, longest, 10).round())]
    found: Record = {"n": sizes, "draws": draws}
    for nu in CONCENTRATIONS:
        labels = [urn_sample(rng, longest, nu) for _ in range(draws)]
        counts = np.array([[int(row[:n].max()) + 1 for n in sizes] for row in labels])
        found[str(nu)] = {
            "mean": counts.mean(axis=0).round(3).tolist(),
            "error": (counts.std(axis=0, ddof=1) / np.sqrt(draws)).round(3).tolist(),
            "sum": [round(expected_surfaces(nu, n), 3) for n in sizes],
            "rate": [round(nu * float(np.log(n / nu)), 3) for n in sizes],
        }
    return found


def prior_mean(n: int) -> float:
    """E K_n with the concentration drawn from infgp's prior."""
    prior = Priors().nu
    assert isinstance(prior, Gamma)
    draws = prior.sample(np.random.default_rng(0), 4000)
    return float(np.mean([expected_surfaces(float(nu), n) for nu in draws]))


def draw(prior: Record, records: list[Record], path: Path) -> None:
    """Left: the urn. Then the posteriors of the paper's model at one input and at spread inputs."""
    plt = pyplot()
    figure, axes = plt.subplots(1, 3, figsize=(11.5, 3.5), layout="constrained")
    for nu in CONCENTRATIONS:
        found = prior[str(nu)]
        axes[0].errorbar(
            prior["n"], found["mean"], found["error"], fmt="o", ms=4, color=COLOURS[nu], label=f"urn, ν = {nu:g}"
        )
        axes[0].plot(prior["n"], found["sum"], "-", color=COLOURS[nu], lw=1.5)
        axes[0].plot(prior["n"], found["rate"], ":", color=COLOURS[nu], lw=1.5)
    axes[0].plot([], [], "-", color="#222222", label="Σ ν / (ν + i − 1)")
    axes[0].plot([], [], ":", color="#222222", label="ν log(n / ν)")
    axes[0].set(title="prior", ylabel="occupied surfaces")
    for axis, design, name in zip(axes[1:], ("one", "spread"), ("one input", "spread inputs"), strict=True):
        sizes: list[int] = []
        for reward, noise in NOISES.items():
            mine = [r for r in records if (r["reward"], r["design"], r["model"]) == (reward, design, "paper")]
            if mine:
                sizes = mine[0]["n"]
                mean = np.mean([r["surfaces"] for r in mine], axis=0)
                axis.plot(sizes, mean, "o-", ms=4, lw=1.5, color=REWARD_COLOURS[reward], label=noise.label)
        axis.plot(sizes, [prior_mean(n) for n in sizes], "k--", lw=1.2, label="prior mean")
        axis.set(
            title=f"posterior, {name}", yscale="log", yticks=(1, 2, 5, 10, 20, 50), yticklabels=(1, 2, 5, 10, 20, 50)
        )
        axis.minorticks_off()
    axes[0].set_ylim(bottom=0.0)
    axes[0].legend(frameon=False, fontsize=8)
    axes[2].legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    for axis in axes:
        axis.set(xscale="log", xlabel="rewards n")
        clean(axis)
    save(figure, path)


def main() -> None:
    """Simulate, measure and draw."""
    chosen = options(__doc__)
    chosen.out.mkdir(parents=True, exist_ok=True)
    prior = simulate(0, *((200, 20) if chosen.quick else (LONGEST, DRAWS)))
    (chosen.out / "surfaces.json").write_text(json.dumps(prior) + "\n", encoding="utf-8")
    draw(prior, fits(chosen), chosen.out / "surfaces.png")


if __name__ == "__main__":
    main()
