"""A search under a constraint, and a search with two objectives: python examples/constraints_and_tradeoffs.py

A machine runs at a speed and a temperature. Faster and hotter makes more parts in an hour, but the machine shakes, and
heat costs energy. Every measurement is noisy, and now and then one is far off.
"""

import numpy as np

import infgp

SPACE = {"speed": infgp.Float(0.0, 1.0), "heat": infgp.Float(0.0, 1.0)}


def measure(rng: np.random.Generator, point: dict) -> tuple[float, float, float]:
    """Parts in an hour, energy in kilowatts, and shaking in millimetres, as measured once at a point."""
    speed, heat = point["speed"], point["heat"]
    parts = 100.0 * speed * (0.4 + 0.6 * heat) + rng.standard_t(2)
    energy = 2.0 + 8.0 * heat + 3.0 * speed**2 + 0.1 * rng.standard_t(2)
    return parts, energy, 2.0 * speed**3 + 0.02 * rng.standard_normal()


def constrained(budget: int = 25) -> infgp.Optimizer:
    """Most parts in an hour, where the machine must not shake by more than one millimetre."""
    rng, optimizer = np.random.default_rng(0), infgp.Optimizer(SPACE, seed=0)
    for _ in range(budget):
        point = optimizer.ask()
        parts, _, shaking = measure(rng, point)
        optimizer.tell(point, parts, constraints={"shaking": shaking - 1.0})  # feasible where it is not positive
    return optimizer


def two_objectives(budget: int = 25) -> infgp.Optimizer:
    """Many parts in an hour, and little energy."""
    rng, optimizer = np.random.default_rng(1), infgp.Optimizer(SPACE, ["maximize", "minimize"], seed=0)
    for _ in range(budget):
        point = optimizer.ask()
        parts, energy, _ = measure(rng, point)
        optimizer.tell(point, [parts, energy])
    return optimizer


if __name__ == "__main__":
    best = constrained().recommend()
    print(f"Recommended: speed {best.point['speed']:.2f}, heat {best.point['heat']:.2f}")
    print(f"  {best.mean:.1f} ± {best.std:.1f} parts in an hour; feasible with probability {best.feasibility:.2f}")
    print("Trade-offs between parts in an hour and kilowatts:")
    for found in sorted(two_objectives().tradeoffs(), key=lambda found: found.means[0]):
        speed, heat = found.point["speed"], found.point["heat"]
        print(f"  {found.means[0]:5.1f} parts, {found.means[1]:4.1f} kW at speed {speed:.2f}, heat {heat:.2f}")
