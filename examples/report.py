"""A report on a study, as one HTML file: python examples/report.py [FILE]

A loss is measured with errors, and one measurement in ten is far off, sometimes on the good side. The report says what
is recommended, why that is not the luckiest trial, and which trials are distrusted.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import infgp
from infgp.report import write

#: Evaluations of the search.
BUDGET = 50

if __name__ == "__main__":
    rng = np.random.default_rng(3)

    def loss(rate: float, width: int) -> float:
        """One training."""
        value = (np.log10(rate) + 2.0) ** 2 + 0.05 * (width - 5) ** 2 + 0.1 * rng.standard_normal()
        return float(value + (rng.choice([-6.0, 8.0]) if rng.random() < 0.1 else 0.0))

    space = {"rate": infgp.Float(1e-4, 1.0, log=True), "width": infgp.Int(1, 9)}
    result = infgp.minimize(loss, space, budget=BUDGET, seed=0)
    given = sys.argv[1] if len(sys.argv) == 2 and sys.argv[1].endswith(".html") else ""
    path = Path(given or Path(tempfile.mkdtemp()) / "report.html")
    found = write(result, path, title="A loss with outliers", rule=infgp.RegretBelow(0.2))
    print(found.recommendation)
    print(f"The luckiest evaluation is {found.luckiest.number}: {found.luckiest.value:.2f}. {found.luckiest.why}")
    print(f"{found.n_distrusted} evaluations are distrusted. The report has {path.stat().st_size} bytes: {path}")
