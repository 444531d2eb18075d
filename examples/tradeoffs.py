"""Trade-offs between three objectives, with errors of measurement: python examples/tradeoffs.py

A press makes parts with a force, a time and one of two materials. Wanted are strong parts, many in an hour, for little
money. Now and then a gauge fails, and its number says nothing.
"""

import numpy as np

import infgp

SPACE = {"force": infgp.Float(0.0, 1.0), "seconds": infgp.Int(2, 12), "material": infgp.Choice(["steel", "bronze"])}
DIRECTIONS = ["maximize", "maximize", "minimize"]


def truth(point: dict) -> np.ndarray:
    """Strength, parts in an hour, and the price of a part."""
    force, seconds, steel = point["force"], point["seconds"], point["material"] == "steel"
    strength = (1.0 if steel else 0.8) * (1.0 - np.exp(-0.4 * seconds)) * (0.3 + force * (1.6 - force))
    return np.array([strength, 3600.0 / (seconds + 3.0), (1.2 if steel else 1.0) + 0.8 * force**2])


def measure(rng: np.random.Generator, point: dict) -> list[float]:
    """What the gauges say: a small error, and in one of twelve numbers a large one."""
    unit = np.array([0.2, 150.0, 0.2])
    errors = np.where(rng.random(3) < 1 / 12, 10.0, 0.05) * rng.standard_normal(3)
    return (truth(point) + unit * errors).tolist()


def search(budget: int = 30) -> infgp.Optimizer:
    """Parts weaker than 0.3, fewer than 200 an hour or dearer than 2 are of no use: that is the reference point."""
    rng = np.random.default_rng(0)
    optimizer = infgp.Optimizer(SPACE, DIRECTIONS, seed=0, outliers="ignore", reference_point=[0.3, 200.0, 2.0])
    for _ in range(budget):
        point = optimizer.ask()
        optimizer.tell(point, measure(rng, point))
    return optimizer


if __name__ == "__main__":
    print("strength ± | parts an hour | price, and what one in ten measured prices exceeds | where")
    for found in sorted(search().tradeoffs(), key=lambda found: -found.means[0]):
        strength, parts, price = found.means
        dear = float(found.laws[2].quantile(0.9)[0])
        where = f"force {found.point['force']:.2f}, {found.point['seconds']} s, {found.point['material']}"
        print(f"{strength:.2f} ± {found.stds[0]:.2f} | {parts:4.0f} | {price:.2f}, {dear:.2f} | {where}")
