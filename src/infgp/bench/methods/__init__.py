"""The methods that are compared, by name; their packages are loaded when a run begins.

To add one, put a :class:`~infgp.bench.core.Method` into `METHODS` (docs/bench.md).
"""

from __future__ import annotations

from functools import partial

from infgp.bench.core import HEAVY_TAILED, KINDS, NON_STATIONARY, Method, Run
from infgp.bench.methods.history import Random


def _default(d: int, seed: int) -> Run:
    from infgp.bench.methods.infinite import DefaultRun

    return DefaultRun(d, seed, goal="along")  # suites measure cumulative regret


def _paper(d: int, seed: int) -> Run:
    from infgp.bench.methods.infinite import preset_run

    return preset_run(d, seed, "paper")


def _gaussian(d: int, seed: int, acquisition: str, warped: bool) -> Run:
    from infgp.bench.methods import gaussian

    return gaussian.GaussianRun(d, seed, gaussian.ACQUISITIONS[acquisition], warped)


def _truncated(d: int, seed: int) -> Run:
    from infgp.bench.methods.gaussian import TruncatedRun

    return TruncatedRun(d, seed)


def _pursuit(d: int, seed: int) -> Run:
    from infgp.bench.methods.pursuit import PursuitRun

    return PursuitRun(d, seed)


def _optuna(d: int, seed: int, sampler: str) -> Run:
    from infgp.bench.methods.optuna import OptunaRun

    return OptunaRun(d, seed, sampler)


BOTORCH = ("torch", "gpytorch", "botorch")


def _of_gaussian(acquisition: str, warped: bool) -> Method:
    name = f"gp-{acquisition}"
    start = partial(_gaussian, acquisition=acquisition, warped=warped)
    if warped:
        return Method(f"w{name}", f"Warped {name.upper()}", start, (NON_STATIONARY,), BOTORCH)
    return Method(name, name.upper(), start, KINDS, BOTORCH)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("infgp-ts-paper", "∞-GP-TS", _paper),
        Method("infgp", "infgp", _default),
        *(_of_gaussian(acquisition, False) for acquisition in ("ts", "ei", "ucb", "kg")),
        *(_of_gaussian(acquisition, True) for acquisition in ("ts", "ei", "ucb", "kg")),
        Method("tgp-ucb", "Truncated GP-UCB", _truncated, (HEAVY_TAILED,), BOTORCH),
        Method("pursuit", "Relevance pursuit", _pursuit, (HEAVY_TAILED,), BOTORCH),
        Method("optuna-gp", "Optuna GP", partial(_optuna, sampler="gp"), KINDS, ("optuna", "torch")),
        Method("optuna-tpe", "Optuna TPE", partial(_optuna, sampler="tpe"), KINDS, ("optuna",)),
        Method("random", "Random", Random),
    )
}

__all__ = ["METHODS"]
