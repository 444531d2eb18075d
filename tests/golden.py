"""Numbers that a change of the layout must not change: fits, searches, studies and runs with fixed seeds.

python -m tests.golden            # compares with tests/golden.json
python -m tests.golden --write    # writes it; the commit says which listed change is the reason
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import infgp

FILE = Path(__file__).with_name("golden.json")
QUICK = {"n_warmup": 30, "n_samples": 10, "n_chains": 2, "random_state": 0}
MIXED = {
    "rate": infgp.Float(1e-4, 1.0, log=True),
    "layers": infgp.Int(1, 6),
    "kind": infgp.Choice(["a", "b", "c"]),
}


def sample(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A smooth function with heavy-tailed noise."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, d))
    return x, np.sin(6.0 * x[:, 0]) + x.sum(axis=1) + 0.1 * rng.standard_t(1.5, n)


def fit(noise: bool = False, **options: Any) -> list[float]:
    """What a fitted surrogate says of three points."""
    x, y = sample(24, 2, 1)
    model = infgp.InfiniteGP(**(QUICK | options))
    model.fit(x, y, noise_variance=np.linspace(0.0, 0.1, y.size) if noise else None)
    mean, std = model.predict(x[:3], return_std=True)
    main, main_std = model.predict_main(x[:3], return_std=True)
    drawn = model.sample_y(x[:3], 2, random_state=1)
    quantiles = model.predict_quantiles(x[:3], [0.1, 0.9])
    parts = (mean, std, main, main_std, quantiles, drawn, model.predict_density(x[:3], y[:3]))
    return [float(v) for part in parts for v in np.ravel(part)]


def reward(point: dict[str, Any], rng: np.random.Generator) -> float:
    """Heavy-tailed rewards over a mixed space."""
    value = -abs(np.log10(point["rate"]) + 2) - 0.2 * point["layers"] + (point["kind"] == "b")
    return float(value + 0.1 * rng.standard_t(1.5))


def flat(point: dict[str, Any]) -> list[float]:
    """A point as numbers."""
    return [float(ord(v)) if isinstance(v, str) else float(v) for v in point.values()]


def search(budget: int = 18, goal: str = "along", **options: Any) -> list[float]:
    """Points asked for and the recommendation, some evaluations having failed, some asked for in batches."""
    rng, out = np.random.default_rng(2), []
    optimizer = infgp.Optimizer(MIXED, seed=0, n_initial=6, goal=goal, **options)
    for step in range(budget // 2):
        for point in optimizer.ask(2):
            out += flat(point)
            optimizer.tell(point, None if step == 4 else reward(point, rng))
    best = optimizer.recommend()
    return [*out, *flat(best.point), best.mean, best.std, *best.quantiles.values()]


def study(directions: int = 1, constrained: bool = False, goal: str = "along", **options: Any) -> list[float]:
    """Values of the parameters of a study's trials."""
    import optuna

    from infgp.optuna import InfGPSampler

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = {
        "x": optuna.distributions.FloatDistribution(0.0, 1.0),
        "k": optuna.distributions.IntDistribution(1, 9),
        "c": optuna.distributions.CategoricalDistribution(["p", "q"]),
    }
    limit = (lambda trial: [trial.params["x"] - 0.6]) if constrained else None
    options |= {"search_space": space, "constraints_func": limit, "goal": goal}
    sampler = InfGPSampler(seed=0, n_startup_trials=6, **options)
    made = optuna.create_study(directions=["maximize"] * directions, sampler=sampler)
    rng = np.random.default_rng(3)

    def objective(trial: optuna.Trial) -> Any:
        x, k = trial.suggest_float("x", 0.0, 1.0), trial.suggest_int("k", 1, 9)
        bonus = 0.3 * (trial.suggest_categorical("c", ["p", "q"]) == "q")
        values = [-((x - 0.7) ** 2) + bonus + 0.05 * rng.standard_t(2), -abs(k - 4) / 9 + 0.05 * rng.standard_t(2)]
        return values if directions == 2 else values[0] + values[1]

    made.optimize(objective, n_trials=14)
    return [float(v) if not isinstance(v, str) else float(ord(v)) for t in made.trials for v in t.params.values()]


def slope(x: float, k: int) -> float:
    """What ``infgp run`` evaluates."""
    return x - abs(k - 4) / 9


def launched(goal: str = "along") -> list[float]:
    """Parameters of the trials of ``infgp run``."""
    import optuna

    from infgp.app.cli import main

    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/study.db"
        space = "x = { type = 'float', low = 0.0, high = 1.0 }\nk = { type = 'int', low = 1, high = 9 }\n"
        Path(folder, "space.toml").write_text(space)
        options = ["--space", f"{folder}/space.toml", "--trials", "10", "--study", "golden", "--seed", "1"]
        main(["run", "tests.golden:slope", *options, "--storage", storage, "--goal", goal])
        made = optuna.load_study(study_name="golden", storage=storage)
        return [float(v) for t in made.trials for v in t.params.values()]


CASES: dict[str, Callable[[], list[float]]] = {
    "fit": fit,
    "fit matern52, isotropic": lambda: fit(kernel="matern52", ard=False),
    "fit shared scales, no places": lambda: fit(surface_scales="shared", regions=False),
    "fit known noise": lambda: fit(noise=True),
    "fit one surface": lambda: fit(surfaces=1),
    "fit truncated": lambda: fit(sampler="truncated", surface_scales="shared"),
    "fit truncated, isotropic": lambda: fit(sampler="truncated", ard=False, surface_scales="shared"),
    "search": search,
    "search minimize, matern52": lambda: search(direction="minimize", kernel="matern52"),
    "search quantile": lambda: search(objective=("quantile", 0.2)),
    "search cvar, thompson": lambda: search(objective=("cvar", 0.3), acquisition="thompson"),
    "search probability": lambda: search(objective=("probability", -1.0)),
    "search outliers ignored": lambda: search(outliers="ignore"),
    "search outliers ignored, minimize, matern52": lambda: search(
        direction="minimize", kernel="matern52", outliers="ignore"
    ),
    "search main": lambda: search(target="main"),
    "search thompson, surface": lambda: search(acquisition="thompson", target="surface", regions=False),
    "search local": lambda: search(acquisition="local"),
    "search local, outliers ignored": lambda: search(acquisition="local", outliers="ignore"),
    "search one surface": lambda: search(surfaces=1),
    "study": study,
    "study without beliefs": lambda: study(store_beliefs=False),
    "study constrained": lambda: study(constrained=True),
    "study of two objectives": lambda: study(directions=2, acquisition="thompson"),
    "study of two objectives, constrained": lambda: study(directions=2, constrained=True, acquisition="thompson"),
    "study, outliers ignored": lambda: study(outliers="ignore"),
    "study constrained, outliers ignored": lambda: study(constrained=True, outliers="ignore"),
    "study of two objectives, outliers ignored": lambda: study(directions=2, outliers="ignore", acquisition="thompson"),
    "study of two objectives, constrained, outliers ignored": lambda: study(
        directions=2, constrained=True, outliers="ignore", acquisition="thompson"
    ),
    "run": launched,
    "fit warped": lambda: fit(warp="learned"),
    "search warped": lambda: search(goal="final", warp="learned"),
    "search to the end": lambda: search(goal="final"),
    "search to the end, quantile, outliers ignored": lambda: search(
        goal="final", objective=("quantile", 0.2), outliers="ignore"
    ),
    "search to the end, cvar, minimize": lambda: search(goal="final", objective=("cvar", 0.3), direction="minimize"),
    "study to the end, constrained": lambda: study(goal="final", constrained=True),
    "run to the end": lambda: launched(goal="final"),
    "study of two objectives by hypervolume": lambda: study(directions=2),
    "study of two objectives by hypervolume, constrained, outliers ignored": lambda: study(
        directions=2, constrained=True, outliers="ignore"
    ),
}


def main() -> None:
    """Write or compare."""
    found = {name: case() for name, case in CASES.items()}
    if "--write" in sys.argv:
        FILE.write_text(json.dumps(found) + "\n")
        return
    kept = json.loads(FILE.read_text())
    for name, numbers in found.items():
        if name not in kept:
            print(f"NEW  {name}")
            continue
        same = len(kept[name]) == len(numbers) and np.allclose(kept[name], numbers, rtol=1e-5, atol=1e-8)
        print(f"{'same' if same else 'OTHER'}  {name}")
        if not same:
            gap = np.flatnonzero(~np.isclose(kept[name], numbers, rtol=1e-5, atol=1e-8))
            print("   first at", gap[:5], np.array(kept[name])[gap[:5]], np.array(numbers)[gap[:5]])


if __name__ == "__main__":
    main()
