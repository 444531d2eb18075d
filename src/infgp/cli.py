"""The command line: ``infgp demo``."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from infgp.errors import ConvergenceWarning, InfGPError
from infgp.linalg import FloatArray


def truth(x: FloatArray) -> FloatArray:
    """The demo's expected reward."""
    return np.sin(9.0 * x) + 2.0 * x


def demo_data(seed: int) -> tuple[FloatArray, FloatArray]:
    """60 noisy rewards of :func:`truth`, 5 % of them (three) off by about ten times the function's range.

    Examples
    --------
    >>> x, y = demo_data(0)
    >>> int(np.sum(np.abs(y - truth(x)) > 5.0))
    3
    """
    rng = np.random.default_rng(seed)
    x = np.sort(rng.random(60))
    y = truth(x) + 0.2 * rng.standard_normal(60)
    bad = rng.choice(60, size=3, replace=False)
    y[bad] += np.array([1.0, -1.0, 1.0]) * rng.uniform(15.0, 40.0, size=3)
    return x, y


def demo(out: str, seed: int) -> None:
    """Fit the demo's data with one GP and with the ∞-GP, print the comparison, write the picture."""
    from infgp.estimator import InfiniteGP
    from infgp.plot import compare_fits

    x, y = demo_data(seed)
    grid = np.linspace(0.0, 1.0, 201)
    print("60 rewards of an unknown function, 3 of them gross outliers. (The first run compiles for some seconds.)")
    fits = {}
    options: dict[str, dict[str, Any]] = {"one GP": {"truncation": 1, "surface_scales": "shared"}, "∞-GP": {}}
    for name, option in options.items():
        print(f"  fitting {name} ...", end=" ", flush=True)
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = InfiniteGP(random_state=seed, **option).fit(x[:, None], y)
        error = np.sqrt(np.mean((model.predict_main(grid[:, None]) - truth(grid)) ** 2))
        print(f"{time.perf_counter() - begin:.1f} s, error of the fitted surface (RMSE): {error:.3f}")
        fits[name] = model
    infinite = fits["∞-GP"]
    for i in np.flatnonzero(infinite.off_surface_probability_ > 0.5):
        print(f"  off the main surface: x={x[i]:.3f}, reward {y[i]:.2f} (p={infinite.off_surface_probability_[i]:.2f})")
    low, high = infinite.predict_quantiles([[0.5]], [0.1, 0.9])[0]
    print(f"  at x=0.5, 80 % of rewards lie between {low:.2f} and {high:.2f} (truth {truth(np.array(0.5)):.2f} ± 0.26)")
    compare_fits(out, x, y, (grid, truth(grid)), fits["one GP"], infinite)
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
    demo_parser = commands.add_parser("demo", help="fit 60 points with gross outliers and draw the picture")
    demo_parser.add_argument("--out", default="infgp-demo.png", help="picture to write (default: %(default)s)")
    demo_parser.add_argument("--seed", type=int, default=7, help="random seed (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        demo(options.out, options.seed)
    except InfGPError as error:
        print(f"infgp: {error}", file=sys.stderr)
        return 1
    return 0
