"""A simulation with replicates and failures: appointments of a clinic: python examples/tutorial_simulation.py

A clinic sees forty patients a day. How many minutes apart should appointments be, and how many doctors are needed? A
simulated day takes its patients from 442 real ones: the sicker a patient, the longer the visit. Days differ, so each
setting is simulated several times, and a day that does not end is a failure.
"""

# --8<-- [start:setup]
import heapq

import numpy as np
from sklearn.datasets import load_diabetes

import infgp

#: Patients on one day.
PATIENTS = 40
#: Minutes after which the building closes: a day that takes longer cannot be simulated.
CLOSING = 900.0
#: Days that are simulated at each setting.
REPLICATES = 4
#: Settings that the search may try.
SETTINGS = 25
SPACE = {"minutes": infgp.Float(2.0, 30.0), "doctors": infgp.Int(1, 6)}

#: Minutes that the visit of each real patient takes.
VISITS = 5.0 + load_diabetes().target / 8.0
# --8<-- [end:setup]


# --8<-- [start:simulation]
def cost_of_day(rng: np.random.Generator, minutes: float, doctors: int) -> float | None:
    """Cost of one day: doctors' hours, and hours that patients wait. None if the building closes before the end."""
    free = [0.0] * doctors  # when each doctor is free
    waited = end = 0.0
    for number, visit in enumerate(rng.choice(VISITS, PATIENTS)):
        arrival = number * minutes + 5.0 * rng.standard_normal()
        start = max(arrival, heapq.heappop(free))
        waited += start - arrival
        end = max(end, start + visit)
        heapq.heappush(free, start + visit)
    return (100.0 * doctors * end + 30.0 * waited) / 60.0 if end <= CLOSING else None


# --8<-- [end:simulation]


# --8<-- [start:search]
def search() -> infgp.Optimizer:
    """Every setting is told once for each simulated day: replicates say how much days differ."""
    rng, optimizer = np.random.default_rng(0), infgp.Optimizer(SPACE, "minimize", seed=0)
    for _ in range(SETTINGS):
        point = optimizer.ask()
        for _ in range(REPLICATES):
            optimizer.tell(point, cost_of_day(rng, **point))  # None is a failure, and no error
    return optimizer


# --8<-- [end:search]


if __name__ == "__main__":
    # --8<-- [start:answer]
    optimizer = search()
    failed = sum(o.value is None for o in optimizer.observations)
    print(f"{len(optimizer.observations)} days were simulated; {failed} did not end.")
    best = optimizer.recommend()
    print(best)
    # --8<-- [end:answer]
    # --8<-- [start:check]
    fresh = np.random.default_rng(1)
    costs = [cost_of_day(fresh, **best.point) for _ in range(2000)]
    print(f"2000 further days there cost {np.mean([c for c in costs if c is not None]):.0f} on average,")
    print(f"and {costs.count(None)} of them did not end.")
    grid = [(m, d) for m in np.linspace(2.0, 30.0, 57) for d in range(1, 7)]
    means = {}
    for m, d in grid:
        days = [cost_of_day(fresh, m, d) for _ in range(100)]
        if None not in days:
            means[m, d] = np.mean(days)
    (m, d), least = min(means.items(), key=lambda entry: entry[1])
    print(f"The best of {len(grid)} settings on a grid, with 100 days each: {m:.1f} minutes, {d} doctors, {least:.0f}.")
    # --8<-- [end:check]
