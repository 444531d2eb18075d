"""infgp with some of its options changed, by name; each is `infgp.Optimizer` through its public options.

The goal is that of good rewards along the way unless the options say otherwise: cumulative regret is what they explain.

`VARIANTS`, `FITTED` and `PEERS` are not among the methods of suites: a study names the methods that it compares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from infgp.bench.core import Method, Run
from infgp.bench.methods import BOTORCH

#: Options by name of the method, with what it is called in tables.
OPTIONS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "infgp-final": ("infgp, goal: the best point in the end", {"goal": "final"}),
    "infgp-final-unwarped": (
        "infgp, rewards as they are, goal: the best point in the end",
        {"warp": None, "goal": "final"},
    ),
    "infgp-final-counted": (
        "infgp, goal: the best point in the end, losses of 10⁹ counted",
        {"goal": "final", "stand_ins": "count"},
    ),
    "infgp-main": ("target: the dominant surface", {"target": "main"}),
    "infgp-ignore": ("outliers ignored", {"outliers": "ignore"}),
    "infgp-smooth": ("odds that change, learned jointly", {"odds": "smooth"}),
    "infgp-one": ("one surface, rewards as they are", {"surfaces": 1}),
    "infgp-one-final": ("one surface, goal: the best point in the end", {"surfaces": 1, "goal": "final"}),
    "infgp-one-warped": ("one surface, warp learned", {"surfaces": 1, "warp": "learned"}),
    "infgp-one-ts": ("one surface, Thompson sampling", {"surfaces": 1, "acquisition": "thompson"}),
    "infgp-unwarped": ("rewards as they are", {"warp": None}),
    "infgp-no-regions": ("no regions", {"regions": False}),
    "infgp-ts": ("Thompson sampling", {"acquisition": "thompson"}),
    "infgp-local": ("local Thompson sampling", {"acquisition": "local"}),
    "infgp-explore": ("exploration as in the paper", {"exploration": "paper"}),
    "infgp-gradients": ("improvement maximised with gradients", {"gradients": True}),
    "infgp-algorithm-1": (
        "the paper's Algorithm 1 with infgp's sampler",
        {"acquisition": "thompson", "target": "surface", "exploration": "paper", "warp": None},
    ),
}


def _longer(d: int) -> Any:
    """Length-scales around √d, of which fewer are short."""
    return _search_priors(d, 0.5 * math.log(d), 0.8)


def _botorch(d: int) -> Any:
    """Length-scales with BoTorch's prior, which is for functions that are nearly linear over the cube."""
    return _search_priors(d, math.sqrt(2.0) + 0.5 * math.log(d), math.sqrt(3.0))


def _search_priors(d: int, location: float, scale: float) -> Any:
    """The priors of infgp's search with a log-normal prior of length-scales: mean and sd of the logarithm."""
    from infgp.core.priors import LogNormal
    from infgp.search.learning import search_priors

    return replace(search_priors(d), lengthscale=LogNormal(location, scale))


def _estimators(d: int) -> Any:
    """The priors of :class:`infgp.InfiniteGP`."""
    from infgp import Priors

    return Priors()


def _more_surfaces(d: int) -> Any:
    """The priors of infgp's search, but the estimator's prior of ν, which expects more surfaces."""
    from infgp import Priors
    from infgp.search.learning import search_priors

    return replace(search_priors(d), nu=Priors().nu)


#: Priors as a function of the dimension, with further options, by name of the method.
PRIORS: Mapping[str, tuple[str, Callable[[int], Any], Mapping[str, Any]]] = {
    "infgp-long-lengthscales": ("longer length-scales", _longer, {}),
    "infgp-estimator-priors": ("the estimator's priors", _estimators, {}),
    "infgp-more-surfaces": ("more surfaces (the estimator's prior of ν)", _more_surfaces, {}),
    "infgp-longer": ("length-scales as in BoTorch", _botorch, {}),
    "infgp-one-longer": ("one surface, length-scales as in BoTorch", _botorch, {"surfaces": 1}),
}


def start(d: int, seed: int, priors: Callable[[int], Any] | None = None, **options: Any) -> Run:
    """A run of infgp with options."""
    from infgp.bench.methods.infinite import DefaultRun

    options = {"goal": "along", **options}
    return DefaultRun(d, seed, **options) if priors is None else DefaultRun(d, seed, priors=priors(d), **options)


def variant(name: str, label: str, **options: Any) -> Method:
    """infgp with options, as a method.

    Examples
    --------
    >>> variant("mine", "no regions", regions=False).label
    'no regions'
    """
    return Method(name, label, partial(start, **options))


VARIANTS: dict[str, Method] = {
    **{name: variant(name, label, **options) for name, (label, options) in OPTIONS.items()},
    **{name: variant(name, label, priors=priors, **options) for name, (label, priors, options) in PRIORS.items()},
}


def _fitted(d: int, seed: int, **options: bool) -> Run:
    from infgp.bench.methods.fitted import FittedRun

    return FittedRun(d, seed, **options)


FITTED: dict[str, Method] = {
    "botorch-logei": Method("botorch-logei", "BoTorch LogEI", _fitted, packages=BOTORCH),
    "botorch-winsorised": Method(
        "botorch-winsorised", "BoTorch LogEI, winsorised", partial(_fitted, winsorised=True), packages=BOTORCH
    ),
    "botorch-warped": Method(
        "botorch-warped", "BoTorch LogEI, warped", partial(_fitted, warped=True), packages=BOTORCH
    ),
    "botorch-qlognei": Method("botorch-qlognei", "BoTorch qLogNEI", partial(_fitted, noisy=True), packages=BOTORCH),
}


def _evolution(d: int, seed: int) -> Run:
    from infgp.bench.methods.cma import EvolutionRun

    return EvolutionRun(d, seed)


def _trust_region(d: int, seed: int) -> Run:
    from infgp.bench.methods.turbo import TrustRegionRun

    return TrustRegionRun(d, seed)


def _hebo(d: int, seed: int) -> Run:
    from infgp.bench.methods.hebo import HeboRun

    return HeboRun(d, seed)


#: Other optimizers; HEBO has an environment of its own, whose versions a record does not know.
PEERS: dict[str, Method] = {
    "cma-es": Method("cma-es", "CMA-ES", _evolution, packages=("cmaes",)),
    "hebo": Method("hebo", "HEBO", _hebo),
    "turbo": Method("turbo", "TuRBO-1", _trust_region, packages=BOTORCH),
}


#: Numbers of points of a batch, or of workers, that are compared.
SIZES = (4, 8, 16)


def _workers(d: int, seed: int, **options: Any) -> Run:
    from infgp.bench.methods.batches import WorkersRun

    return WorkersRun(d, seed, **options)


def _fitted_batch(d: int, seed: int, size: int) -> Run:
    from infgp.bench.methods.batches import FittedBatchRun

    return FittedBatchRun(d, seed, size)


#: Methods that choose several points before they are told the rewards of any of them.
PARALLEL: dict[str, Method] = {
    **{
        f"infgp-batch-{q}": Method(
            f"infgp-batch-{q}", f"infgp, batches of {q}", partial(_workers, workers=q, together=True)
        )
        for q in SIZES
    },
    **{
        f"infgp-workers-{q}": Method(
            f"infgp-workers-{q}", f"infgp, {q} workers", partial(_workers, workers=q, together=False)
        )
        for q in SIZES
    },
    **{
        f"botorch-batch-{q}": Method(
            f"botorch-batch-{q}", f"BoTorch qLogNEI, batches of {q}", partial(_fitted_batch, size=q), packages=BOTORCH
        )
        for q in SIZES
    },
}
