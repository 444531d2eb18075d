"""A process with five settings that succeeds or fails: the best setting inside the ranges, and in a corner.

With noise as large as this, a search that values what is unknown spends its evaluations on corners. infgp's does not,
and still finds a best setting that is in one.

Run it with ``python examples/ends.py``.
"""

import numpy as np

import infgp

#: Evaluations of one search.
EVALUATIONS = 80
#: Names of the settings; each goes from 0 to 1.
NAMES = ("a", "b", "c", "d", "e")
#: The setting with the largest chance of success.
BEST = {"inside": (0.3, 0.7, 0.4, 0.6, 0.5), "in a corner": (1.0, 0.0, 1.0, 1.0, 0.0)}


def chance(setting: dict[str, float], best: tuple[float, ...]) -> float:
    """The chance of success, 0.9 at the best setting."""
    away = sum((setting[name] - at) ** 2 for name, at in zip(NAMES, best, strict=True))
    return 0.05 + 0.85 * float(np.exp(-away / 0.8))


if __name__ == "__main__":
    for where, best in BEST.items():
        rng = np.random.default_rng(0)
        optimizer = infgp.Optimizer({name: infgp.Float(0.0, 1.0) for name in NAMES}, seed=0)
        for _ in range(EVALUATIONS):
            setting = optimizer.ask()
            optimizer.tell(setting, float(rng.random() < chance(setting, best)))
        found = {name: float(optimizer.recommend().point[name]) for name in NAMES}
        told = [list(o.point.values()) for o in optimizer.observations]
        at_end = np.mean(np.abs(np.array(told, dtype=float) - 0.5) > 0.45)
        print(f"best setting {where}: chance of success at what is recommended {chance(found, best):.2f} of 0.90")
        print(f"  {100.0 * at_end:.0f} % of all coordinates were within 0.05 of an end; of uniform settings, 10 % are")
