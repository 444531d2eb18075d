"""The best point in the end, or good rewards along the way: python examples/goals.py

A leaflet comes in a hundred versions, and each evaluation shows one of them to one visitor, who buys or does not. A
shop that sells while it searches wants many buyers among the visitors of the search (goal="along"). A printer who
prints one version when the search is over wants that version to be the best (goal="final").
"""

import numpy as np

import infgp

#: Visitors of one search.
VISITORS = 100
#: Searches with each goal; their results are averaged.
SEARCHES = 3


def chance(x: float) -> float:
    """Chance that a visitor buys."""
    return 0.1 + 0.25 * float(np.exp(-0.5 * ((x - 0.2) / 0.15) ** 2) + 2.4 * np.exp(-0.5 * ((x - 0.8) / 0.08) ** 2))


def search(goal: str, seed: int) -> tuple[float, float]:
    """Chance of a sale at the recommended version, and share of the visitors who bought."""
    rng = np.random.default_rng(seed)
    result = infgp.maximize(
        lambda x: float(rng.random() < chance(x)), {"x": infgp.Float(0.0, 1.0)}, VISITORS, seed=seed, goal=goal
    )
    bought = [observation.values[0] for observation in result.optimizer.observations]
    return chance(result.point["x"]), float(np.mean(bought))


if __name__ == "__main__":
    best = max(chance(x) for x in np.linspace(0.0, 1.0, 1001))
    print(f"The best version sells to {best:.0%} of the visitors.")
    print("goal    recommended version  visitors of the search")
    for goal in ("final", "along"):
        found = np.mean([search(goal, seed) for seed in range(SEARCHES)], axis=0)
        print(f"{goal:6s}  {found[0]:18.0%}  {found[1]:21.0%}")
