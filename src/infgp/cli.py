"""The command line: ``infgp demo``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from infgp.errors import InfGPError, check_int, require


def demo(out: str, seed: int, budget: int) -> None:
    """Optimize the demo's function with one GP and with the ∞-GP, print how they fare, write the picture."""
    check_int("--budget", budget, 8)
    check_int("--seed", seed, 0)
    require("matplotlib", "plot")
    from infgp import demo as task
    from infgp.plot import compare_runs

    best = task.best_expected()
    print(f"A function with four peaks; {budget} noisy rewards, one in eight off by ten times the function's range.")
    print("(The first run on a machine compiles for some seconds.)")
    runs = [task.run(name, budget, seed, print) for name in task.CONTESTANTS]
    print(f"The best expected reward is {best:.3f}.")
    for r in runs:
        expected = float(task.truth(np.array(r.recommendation.point["x"])))
        luckiest = int(np.argmax(r.y))
        print(
            f"  {r.name:>6} recommends x = {r.recommendation.point['x']:.2f}, whose expected reward is {expected:.3f} "
            f"(it believes {r.recommendation.mean:.2f} ± {r.recommendation.std:.2f}); cumulative regret "
            f"{r.regret.sum():.1f}; its luckiest draw was {r.y[luckiest]:.1f} at x = {r.x[luckiest]:.2f}"
        )
    grid = task.grid()
    compare_runs(out, runs, (grid, task.truth(grid)))
    print(f"Picture: {out}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the command ``infgp``.

    Examples
    --------
    >>> main(["--version"])
    Traceback (most recent call last):
        ...
    SystemExit: 0
    """
    from infgp import __version__

    parser = argparse.ArgumentParser(prog="infgp", description="Bayesian optimization when rewards misbehave.")
    parser.add_argument("--version", action="version", version=f"infgp {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    demo_parser = commands.add_parser(
        "demo", help="optimize a function whose rewards have outliers, with one GP and with the ∞-GP"
    )
    demo_parser.add_argument("--out", default="infgp-demo.png", help="picture to write (default: %(default)s)")
    demo_parser.add_argument("--seed", type=int, default=0, help="random seed (default: %(default)s)")
    demo_parser.add_argument("--budget", type=int, default=50, help="evaluations for each (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        demo(options.out, options.seed, options.budget)
    except InfGPError as error:
        print(f"infgp: {error}", file=sys.stderr)
        return 1
    return 0
