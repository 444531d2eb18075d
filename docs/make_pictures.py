"""The pictures of docs/which.md and docs/how-it-works.md: python docs/make_pictures.py [NAME …]

Writes docs/pictures/*.png, all of them or those that are named.
"""

from __future__ import annotations

import runpy
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import infgp
from infgp.plot.style import BLUE, GREY, INK, MODES, ORANGE, RED

DOCS = Path(__file__).resolve().parent
#: Largest size of a picture, in bytes.
LARGEST = 80_000
#: Hours that are drawn at each speed to find the true worst tenth.
DRAWS = 20_000


def example(name: str) -> dict[str, Any]:
    """The names of a script in examples/, without running its main part."""
    return runpy.run_path(str(DOCS.parent / "examples" / f"{name}.py"))


def panels(count: int, width: float = 9.0, height: float = 3.4, **options: Any) -> tuple[Any, list[Any]]:
    """A figure with panels side by side."""
    figure, axes = plt.subplots(1, count, figsize=(width, height), layout="constrained", **options)
    flat = list(np.atleast_1d(axes))
    for ax in flat:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, flat


def objectives() -> Any:
    """What each objective asks of the machine in examples/objectives.py, by its true law."""
    machine = example("objectives")
    rng, speed = np.random.default_rng(0), np.linspace(0.0, 1.0, 101)
    every = np.array([[machine["output"](rng, s) for _ in range(DRAWS)] for s in speed])
    worst = np.sort(every, axis=1)[:, : DRAWS // 10].mean(axis=1)
    curves = {
        "median": (np.median(every, axis=1), MODES[2]),
        "mean": (np.array([machine["expected"](s) for s in speed]), BLUE),
        "probability of more than 7": (np.mean(every > 7.0, axis=1), ORANGE),
        "mean of the worst tenth": (worst, RED),
    }
    figure, (left, right) = panels(2)
    shown = rng.random(250)
    left.plot(shown, [machine["output"](rng, s) for s in shown], ".", color=GREY, ms=4, label="output of single hours")
    for name in ("median", "mean", "mean of the worst tenth"):
        values, colour = curves[name]
        left.plot(speed, values, color=colour, label=name)
        at = int(np.argmax(values))
        left.plot(speed[at], values[at], "o", color=colour, ms=8, mec="white")
    left.set(xlabel="speed", ylabel="output of an hour", title="The same hours, three questions")
    left.legend(fontsize=8, loc="lower left")
    values, colour = curves["probability of more than 7"]
    right.plot(speed, values, color=colour)
    right.plot(speed[np.argmax(values)], values.max(), "o", color=colour, ms=8, mec="white")
    right.set(xlabel="speed", ylabel="chance", ylim=(0, 1.02), title='A fourth: ("probability", 7.0)')
    return figure


def goals() -> Any:
    """Where the two goals look, in examples/goals.py: visitors who buy or do not."""
    shop = example("goals")
    x = np.linspace(0.0, 1.0, 201)
    figure, axes = panels(2, sharey=True)
    for ax, goal in zip(axes, ("final", "along"), strict=True):
        rng = np.random.default_rng(0)
        result = infgp.maximize(
            lambda x, rng=rng: float(rng.random() < shop["chance"](x)),
            {"x": infgp.Float(0.0, 1.0)},
            shop["VISITORS"],
            seed=0,
            goal=goal,
        )
        seen = np.array([o.point["x"] for o in result.observations])
        bought = np.array([o.value for o in result.observations])
        ax.plot(x, [shop["chance"](value) for value in x], color=INK, label="true chance of a sale")
        ax.plot(seen, np.where(bought > 0.5, 1.04, -0.04), "|", color=BLUE, ms=9, label="visitors: bought (top) or not")
        ax.axvline(result.point["x"], color=RED, ls="--", lw=1.2, label="recommended version")
        ax.set(xlabel="version of the leaflet", title=f'goal="{goal}": {bought.mean():.0%} of the visitors bought')
    axes[0].set_ylabel("chance")
    axes[0].legend(fontsize=8, loc="upper left", bbox_to_anchor=(0.0, 0.95))
    return figure


def wrong_gauge() -> tuple[np.ndarray, np.ndarray]:
    """A hill, with noise, whose gauge is wrong now and then near its top: inputs and rewards."""
    rng = np.random.default_rng(4)
    x = np.sort(rng.random(60))
    y = hill(x) + 0.08 * rng.standard_normal(60)
    wrong = (rng.random(60) < 0.4) & (np.abs(x - 0.65) < 0.15)
    y[wrong] -= rng.uniform(1.5, 3.0, wrong.sum())
    return x, y


def hill(x: np.ndarray) -> np.ndarray:
    """What is measured when the gauge works."""
    return np.asarray(np.sin(3.0 * x) + 0.6 * np.exp(-0.5 * ((x - 0.65) / 0.1) ** 2))


def outliers() -> Any:
    """The same rewards with outliers counted and ignored."""
    x, y = wrong_gauge()
    grid = np.linspace(0.0, 1.0, 161)
    figure, axes = panels(2, sharey=True)
    titles = {"count": "the low rewards can happen again", "ignore": "the low rewards are errors of the gauge"}
    for ax, (setting, title) in zip(axes, titles.items(), strict=True):
        optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=0, outliers=setting)
        optimizer.tell_many([{"x": float(value)} for value in x], y)
        mean, std = optimizer.predict([{"x": float(value)} for value in grid])
        ax.plot(x, y, ".", color=GREY, ms=6, label="rewards")
        ax.plot(grid, mean, color=BLUE, label="believed mean")
        ax.fill_between(grid, mean - 2 * std, mean + 2 * std, color=BLUE, alpha=0.15, lw=0)
        ax.axvline(optimizer.recommend().point["x"], color=RED, ls="--", lw=1.2, label="recommended")
        ax.set(xlabel="input", title=f'outliers="{setting}":\n{title}')
    axes[0].set_ylabel("reward")
    axes[0].legend(fontsize=8, loc="lower left")
    return figure


def surfaces() -> Any:
    """One GP and the ∞-GP on rewards of which some fail: what each makes of them."""
    rng = np.random.default_rng(2)
    x = np.sort(rng.random(60))
    fails = rng.random(60) < 0.25
    y = np.where(fails, -1.2 + 0.4 * x, np.sin(5.0 * x) + 0.5) + 0.12 * rng.standard_normal(60)
    grid = np.linspace(0.0, 1.0, 161)[:, None]
    figure, axes = panels(2, sharey=True)
    for ax, count in zip(axes, (1, None), strict=True):
        model = infgp.InfiniteGP(surfaces=count, random_state=0).fit(x[:, None], y)
        low, high = model.predict_quantiles(grid, [0.05, 0.95]).T
        ax.fill_between(grid[:, 0], low, high, color=BLUE, alpha=0.13, lw=0, label="90 % of rewards")
        if count == 1:
            ax.plot(x, y, ".", color=GREY, ms=7)
            ax.plot(grid[:, 0], model.predict(grid), color=BLUE, label="mean")
            ax.set(title="One Gaussian process", ylabel="reward")
        else:
            off = model.off_surface_probability_ > 0.5
            ax.plot(x[~off], y[~off], ".", color=BLUE, ms=7)
            ax.plot(x[off], y[off], ".", color=RED, ms=7)
            ax.plot(grid[:, 0], model.predict_main(grid), color=BLUE, label="main surface, and rewards on it")
            ax.plot([], [], ".", color=RED, label="rewards that probably lie on another surface")
            ax.set(title="The ∞-GP")
        ax.set_xlabel("input")
        ax.legend(fontsize=8, loc="lower right")
    return figure


def law() -> Any:
    """The density of a further reward at two inputs, by one GP and by the ∞-GP, for brewed batches."""
    brewery = example("plots")
    optimizer = brewery["searched"]()
    figure, axes = panels(2, sharex=True)
    for ax, heat in zip(axes, (0.2, 0.9), strict=True):
        infgp.plot.reward_law(optimizer, {"heat": heat, "sugar": 15.0, "yeast": "ale"}, ax=ax)
        ax.set_title(f"heat {heat}")
    axes[1].get_legend().remove()
    return figure


def steps() -> Any:
    """A search after eight, sixteen and thirty-two rewards: what it believes, and where it looks next."""
    rng = np.random.default_rng(3)

    def truth(x: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(-0.5 * ((x - 0.25) / 0.1) ** 2) + 1.3 * np.exp(-0.5 * ((x - 0.75) / 0.07) ** 2))

    grid = np.linspace(0.0, 1.0, 161)
    points = [{"x": float(value)} for value in grid]
    optimizer = infgp.Optimizer({"x": infgp.Float(0.0, 1.0)}, seed=1)
    figure, axes = panels(3, sharey=True)
    for ax, count in zip(axes, (8, 16, 32), strict=True):
        while len(optimizer.observations) < count:
            point = optimizer.ask()
            optimizer.tell(point, float(truth(point["x"]) + 0.1 * rng.standard_t(2)))
        mean, std = optimizer.predict(points)
        ax.plot(grid, truth(grid), color=INK, lw=1, ls=":", label="truth")
        ax.plot(grid, mean, color=BLUE, label="belief")
        ax.fill_between(grid, mean - 2 * std, mean + 2 * std, color=BLUE, alpha=0.15, lw=0)
        seen = optimizer.observations
        ax.plot([o.point["x"] for o in seen], [o.value for o in seen], ".", color=GREY, ms=7, label="rewards")
        following = optimizer.ask()
        ax.axvline(following["x"], color=RED, ls="--", lw=1.2, label="next point")
        optimizer.withdraw(following)
        ax.set(title=f"after {count} rewards", xlabel="input", ylim=(-0.9, 2.3))
    axes[0].set_ylabel("reward")
    axes[0].legend(fontsize=8, loc="upper left")
    return figure


def warp() -> Any:
    """Losses over decades as they are, and as the model sees them."""
    losses = example("decades")
    rng = np.random.default_rng(0)
    rate = 10.0 ** rng.uniform(-4.0, 0.0, 60)
    y = np.array([losses["expected"](r, 0.7) * np.exp(0.3 * rng.standard_normal()) for r in rate])
    figure, (left, right) = panels(2)
    left.plot(rate, y, ".", color=GREY, ms=7)
    left.set(xscale="log", xlabel="rate", ylabel="loss", title="As they are: all good settings look alike")
    right.plot(rate, y, ".", color=BLUE, ms=7)
    right.set(xscale="log", yscale="log", xlabel="rate", ylabel="loss", title="Through a logarithmic map: one is best")
    return figure


PICTURES: dict[str, Callable[[], Any]] = {
    "objectives": objectives,
    "goals": goals,
    "outliers": outliers,
    "surfaces": surfaces,
    "law": law,
    "steps": steps,
    "warp": warp,
}


def main() -> None:
    """Draw the pictures, and say how large they are."""
    warnings.simplefilter("ignore", infgp.ConvergenceWarning)
    folder = DOCS / "pictures"
    folder.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        figure, file = PICTURES[name](), folder / f"{name}.png"
        figure.savefig(file, dpi=100)
        plt.close(figure)
        size = file.stat().st_size
        if size > LARGEST:
            raise SystemExit(f"{file} has {size} bytes, more than {LARGEST}; lower its dpi.")
        print(f"{file.relative_to(DOCS.parent)}: {size} bytes")


if __name__ == "__main__":
    main()
