"""All pictures of `infgp.plot`: python examples/plots.py

Batches are brewed: the hotter, the better, but the likelier a batch is spoiled. Forty earlier batches are known, and
twenty more are chosen. The pictures are written to a folder, and so is a list of them to the terminal.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import optuna

import infgp
from infgp.optuna import InfGPSampler, distributions

SPACE = infgp.space.Space.of(
    {
        "heat": infgp.Float(0.0, 1.0),
        "sugar": infgp.Float(1.0, 100.0, log=True),
        "yeast": infgp.Choice(["ale", "lager"]),
    }
)


def profit(rng: np.random.Generator, heat: float, sugar: float, yeast: str) -> float:
    """Profit of one batch, in thousands."""
    usual = 10.0 + 5.0 * heat - 2.0 * (np.log10(sugar) - 1.2) ** 2 + 1.5 * (yeast == "ale")
    spoiled = rng.random() < 0.05 + 0.5 * heat**3
    return float(usual - 12.0 * spoiled + 0.4 * rng.standard_normal())


def searched(earlier: int = 40, more: int = 20) -> infgp.Optimizer:
    """A search that was told of earlier batches, and has chosen some more."""
    rng, optimizer = np.random.default_rng(1), infgp.Optimizer(SPACE, seed=0)
    points = SPACE.from_unit(rng.random((earlier, SPACE.d)))
    optimizer.tell_many(points, [profit(rng, **point) for point in points])
    infgp.maximize(lambda point: profit(rng, **point), optimizer, budget=more)
    return optimizer


def as_study(optimizer: infgp.Optimizer) -> optuna.Study:
    """The same evaluations as an Optuna study."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=InfGPSampler(seed=0))
    known = distributions(SPACE)
    for o in optimizer.observations:
        study.add_trial(optuna.create_trial(params=dict(o.point), distributions=known, value=o.value))
    return study


def as_model(optimizer: infgp.Optimizer) -> infgp.InfiniteGP:
    """A model of the same rewards over the heat alone."""
    heat = [[o.point["heat"]] for o in optimizer.observations]
    return infgp.InfiniteGP(n_warmup=200, n_samples=100, random_state=0).fit(
        heat, [o.value for o in optimizer.observations]
    )


def draw(folder: Path) -> list[Path]:
    """Write all pictures to a folder; returns their files."""
    optimizer = searched()
    study, model = as_study(optimizer), as_model(optimizer)
    hot = {**optimizer.recommend().point, "heat": 0.9}
    pictures = {
        "history": lambda: infgp.plot.history(optimizer),
        "slice": lambda: infgp.plot.slice_along(optimizer, "heat"),
        "slice-choice": lambda: infgp.plot.slice_along(optimizer, "yeast"),
        "slice-model": lambda: infgp.plot.slice_along(model, "x0"),
        "contour": lambda: infgp.plot.contour(optimizer, "heat", "sugar"),
        "contour-std": lambda: infgp.plot.contour(optimizer, "heat", "sugar", show="std"),
        "reward-law": lambda: infgp.plot.reward_law(optimizer, hot),
        "mode-odds": lambda: infgp.plot.mode_odds(optimizer, "heat"),
        "importances": lambda: infgp.plot.importances(study),
        "candidates": lambda: infgp.plot.candidates(optimizer),
        "regret": lambda: infgp.plot.regret(optimizer),
        "calibration": lambda: infgp.plot.calibration(optimizer),
        "trace": lambda: infgp.plot.trace(model, "n_surfaces"),
        "trace-density": lambda: infgp.plot.trace(model, "log_joint"),
    }
    files = []
    for name, picture in pictures.items():
        figure = picture().figure
        files.append(folder / f"{name}.png")
        figure.savefig(files[-1], dpi=100)
        plt.close(figure)
    return files


if __name__ == "__main__":
    out = Path(tempfile.gettempdir()) / "infgp-plots"
    out.mkdir(exist_ok=True)
    for file in draw(out):
        print(file)
