"""A number that stands for failures: python examples/failures.py

A design is a bowl, and a fifth of the space cannot be built. The limit lies close to the best design. The user tells a
loss of a million for what cannot be built. infgp takes the number for failed evaluations; with stand_ins="count" it is
a loss like others, and the search keeps away from the limit.
"""

import infgp

#: What the user tells for a design that cannot be built.
MILLION = 1e6
#: Evaluations of one search.
BUDGET = 40
SPACE = {"length": infgp.Float(0.0, 1.0), "width": infgp.Float(0.0, 1.0)}


def loss(length: float, width: float) -> float:
    """Loss of a design; the best one, 0, is at (0.6, 0.7)."""
    if length + width > 1.4:
        return MILLION
    return (length - 0.6) ** 2 + (width - 0.7) ** 2


if __name__ == "__main__":
    for meaning in ("failed", "count"):
        result = infgp.minimize(loss, SPACE, budget=BUDGET, seed=0, stand_ins=meaning)
        found = result.recommendation
        print(f'stand_ins="{meaning}": true loss {loss(**found.point):.6f}, believed {found.mean:.6f}')
    print(found.warnings[-1])
