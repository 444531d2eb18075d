"""Total variation between predictive and true reward distribution against n: GP and ∞-GP (Theorem 1, the TVD gap).

A GP ends at the distance of the Gaussian with the right mean and variance, whatever the data; the theorem says that the
∞-GP has no such floor. At one input, sampled again and again, and averaged over inputs that are visited uniformly.

    python -m infgp.bench.theory.tvd [--quick]      # about 30 minutes, shared with `surfaces`; goes on where cut off
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import stats

from infgp.bench.figures import clean, pyplot, save, seeds_text
from infgp.bench.theory.fits import CURVE, DESIGNS, MODELS, fits
from infgp.bench.theory.rewards import NOISES, gaussian_gap
from infgp.bench.theory.store import Record, options

STYLES = {
    "gp": ("#999999", "s", "-"),
    "paper": ("#D55E00", "o", "-"),
    "truncated": ("#D55E00", "o", ":"),
    "default": ("#0072B2", "D", "-"),
}


def draw(records: list[Record], path: Path) -> None:
    """Rows: one input, visited inputs. Columns: rewards."""
    plt = pyplot()
    figure, axes = plt.subplots(
        len(DESIGNS), len(NOISES), figsize=(2.45 * len(NOISES), 5.6), sharex=True, sharey="col", layout="constrained"
    )
    for line, (design, caption) in enumerate(DESIGNS.items()):
        for axis, (reward, noise) in zip(axes[line], NOISES.items(), strict=True):
            for model, (colour, marker, dashes) in STYLES.items():
                mine = [r for r in records if (r["reward"], r["design"], r["model"]) == (reward, design, model)]
                if mine:
                    n, tvd = np.array(mine[0]["n"]), np.array([r["tvd"] for r in mine])
                    name = MODELS[model][0]
                    axis.plot(n, tvd.mean(axis=0), dashes, color=colour, marker=marker, ms=4, lw=1.6, label=name)
                    if len(mine) > 1:
                        error = tvd.std(axis=0, ddof=1) / np.sqrt(len(mine))
                        axis.fill_between(
                            n, tvd.mean(axis=0) - error, tvd.mean(axis=0) + error, color=colour, alpha=0.15, lw=0
                        )
            axis.axhline(gaussian_gap(reward)[0], color="#222222", ls="--", lw=1, label="Gaussian of the same moments")
            axis.axhline(gaussian_gap(reward)[1], color="#222222", ls=":", lw=1, label="closest Gaussian")
            axis.set_xscale("log")
            axis.set(xticks=(10, 30, 100, 300), xticklabels=(10, 30, 100, 300))
            axis.minorticks_off()
            clean(axis)
            if line == 0:
                axis.set_title(noise.label, fontsize=11)
            else:
                axis.set_xlabel("rewards seen")
            counts = [
                sum((r["reward"], r["design"], r["model"]) == (reward, design, m) for r in records) for m in MODELS
            ]
            if any(counts):
                axis.text(0.97, 0.97, seeds_text(counts), transform=axis.transAxes, ha="right", va="top", fontsize=8)
        axes[line, 0].set_ylabel(f"total variation,\n{caption}")
    for axis in axes[0]:
        axis.set_ylim(0.0, 1.12 * axis.get_ylim()[1])
    lines, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    save(figure, path)


def draw_gap(records: list[Record], path: Path) -> None:
    """The paper's illustration, measured: true density, GP and ∞-GP at one input after all its rewards."""
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.0), layout="constrained")
    step = CURVE[1] - CURVE[0]
    for axis, reward in zip(axes, ("t3", "bimodal"), strict=True):
        noise = NOISES[reward]
        true = (noise.cdf(CURVE + step / 2) - noise.cdf(CURVE - step / 2)) / step
        density = {r["model"]: np.array(r["density"]) for r in records if r["reward"] == reward and "density" in r}
        size = max((max(r["n"]) for r in records), default=0)
        gaussian = density.get("gp", stats.norm.pdf(CURVE, 0.0, noise.sd))
        axis.fill_between(CURVE, true, gaussian, color="#56B4E9", alpha=0.35, lw=0, label="gap of the GP")
        axis.plot(CURVE, true, color="#222222", lw=1.6, ls="--", label="truth")
        axis.plot(CURVE, gaussian, color=STYLES["gp"][0], lw=1.8, label="one GP")
        for model in ("paper", "default"):
            if model in density:
                axis.plot(CURVE, density[model], color=STYLES[model][0], lw=1.8, label=MODELS[model][0])
        reach = 1.2 if reward == "bimodal" else 2.0
        axis.set(
            title=f"{noise.label}, {size} rewards at one input", xlabel="reward less its mean", xlim=(-reach, reach)
        )
        axis.set_ylim(0.0, None)
        axis.set_yticks([])
        axis.spines["left"].set_visible(False)
        clean(axis)
    axes[1].legend(frameon=False, fontsize=8.5, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    save(figure, path)


def main() -> None:
    """Measure and draw."""
    chosen = options(__doc__)
    records = fits(chosen)
    draw(records, chosen.out / "tvd.png")
    draw_gap(records, chosen.out / "tvd-gap.png")


if __name__ == "__main__":
    main()
