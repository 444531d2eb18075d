"""Proofs for samplers: comparison with enumeration, joint-distribution tests, simulation-based calibration.

Nothing in the package imports this module. Every proof returns p-values, one for each statistic; a correct sampler's
are uniform. :func:`family_p_value` makes one p-value of all, so that a threshold of 1e-4 raises a false alarm at most
once in ten thousand seeds, however many statistics there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
from scipy.special import ndtr
from scipy.stats import chi2

from infgp.core.linalg import FloatArray
from infgp.sample.diagnostics import effective_size

S = TypeVar("S")
Statistics = Callable[[S], Mapping[str, float]]


def family_p_value(p_values: Mapping[str, float]) -> float:
    """One p-value for several: the smallest times their number, at most one (Bonferroni); valid if they depend.

    Examples
    --------
    >>> family_p_value({"mean": 0.02, "variance": 0.5})
    0.04
    """
    return min(1.0, len(p_values) * min(p_values.values()))


def frequency_test(counts: FloatArray, probabilities: FloatArray, least: float = 5.0) -> float:
    """Chi-square p-value of observed counts against exact probabilities.

    Cells with an expected count below `least` are pooled, the rarest first, until the pool reaches it.

    Parameters
    ----------
    counts, probabilities : arrays, shape (cells,)
    least : float

    Examples
    --------
    >>> import numpy as np
    >>> frequency_test(np.array([500, 300, 200]), np.array([0.5, 0.3, 0.2]))
    1.0
    """
    order = np.argsort(probabilities)
    expected = probabilities[order] / probabilities.sum() * counts.sum()
    observed = counts[order]
    rare = int(np.searchsorted(np.cumsum(expected) >= least, True)) + 1
    rare = max(rare, int(np.sum(expected < least)))
    expected = np.concatenate(([expected[:rare].sum()], expected[rare:]))
    observed = np.concatenate(([observed[:rare].sum()], observed[rare:]))
    statistic = float(np.sum((observed - expected) ** 2 / expected))
    return float(chi2.sf(statistic, expected.size - 1))


def mean_test(independent: FloatArray, chain: FloatArray) -> float:
    """Two-sided p-value for equal means of an independent sample and an autocorrelated chain.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> bool(mean_test(rng.normal(size=500), rng.normal(size=500) + 1.0) < 1e-6)
    True
    """
    if np.ptp(chain) == 0.0:
        return 1.0 if np.ptp(independent) == 0.0 and independent[0] == chain[0] else 0.0
    variance = np.var(independent, ddof=1) / independent.size
    variance += np.var(chain, ddof=1) / effective_size(chain[None, :])
    z = (np.mean(independent) - np.mean(chain)) / np.sqrt(variance)
    return float(2.0 * ndtr(-abs(z)))


def geweke(
    prior: Callable[[], S],
    transition: Callable[[S], S],
    refresh: Callable[[S], S],
    statistics: Statistics[S],
    sweeps: int,
    burn_in: int = 0,
) -> dict[str, float]:
    """Joint-distribution test (Geweke 2004): does the sampler, with data redrawn at every sweep, keep the prior?

    Statistics of the chain are recorded *before* the data is refreshed: afterwards some bugs cannot be seen.

    Parameters
    ----------
    prior : callable
        Draws parameters and data from the joint prior.
    transition : callable
        One sweep of the sampler on the parameters, the data held.
    refresh : callable
        Redraws the data given the parameters.
    statistics : callable
        Named real functions of parameters and data.
    sweeps, burn_in : int
        Length of the chain, and of each of the two samples that are compared; sweeps left out at the start.

    Returns
    -------
    dict of str to float
        A p-value for each statistic and, as ``name^2``, for its square.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = geweke(  # mean m ~ N(0, 1), datum y ~ N(m, 1), m | y ~ N(y / 2, 1 / 2)
    ...     prior=lambda: (lambda m: (m, m + rng.normal()))(rng.normal()),
    ...     transition=lambda s: (s[1] / 2 + np.sqrt(0.5) * rng.normal(), s[1]),
    ...     refresh=lambda s: (s[0], s[0] + rng.normal()),
    ...     statistics=lambda s: {"m": s[0], "product": s[0] * s[1]},
    ...     sweeps=2000,
    ... )
    >>> min(p.values()) > 1e-3
    True
    """
    independent = [statistics(prior()) for _ in range(sweeps)]
    state, chain = prior(), []
    for b in range(-burn_in, sweeps):
        state = transition(state)
        if b >= 0:
            chain.append(statistics(state))
        state = refresh(state)
    p_values = {}
    for name in independent[0]:
        a, b_ = np.array([s[name] for s in independent]), np.array([s[name] for s in chain])
        p_values[name] = mean_test(a, b_)
        p_values[f"{name}^2"] = mean_test(a * a, b_ * b_)
    return p_values


def sbc(
    rng: np.random.Generator,
    prior: Callable[[], S],
    posterior_draws: Callable[[S], list[S]],
    statistics: Statistics[S],
    replicates: int,
    bins: int = 16,
) -> dict[str, float]:
    """Simulation-based calibration (Talts et al. 2018): ranks of the truth among posterior draws must be uniform.

    Parameters
    ----------
    rng : numpy.random.Generator
        Breaks ties.
    prior : callable
        Draws parameters and data from the joint prior.
    posterior_draws : callable
        Nearly independent posterior draws given the data, always the same number, one less than a multiple of `bins`.
    statistics : callable
        Named real functions of parameters and data.
    replicates : int
    bins : int

    Returns
    -------
    dict of str to float
        Chi-square p-value of the rank histogram of each statistic.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = sbc(
    ...     rng,
    ...     prior=lambda: (lambda m: (m, m + rng.normal()))(rng.normal()),
    ...     posterior_draws=lambda s: [(s[1] / 2 + np.sqrt(0.5) * rng.normal(), s[1]) for _ in range(31)],
    ...     statistics=lambda s: {"m": s[0]},
    ...     replicates=500,
    ... )
    >>> p["m"] > 1e-3
    True
    """
    ranks: dict[str, list[int]] = {}
    size = 1
    for _ in range(replicates):
        truth = prior()
        draws = [statistics(s) for s in posterior_draws(truth)]
        size = len(draws) + 1
        for name, value in statistics(truth).items():
            others = np.array([d[name] for d in draws])
            ties = int(np.sum(others == value))
            rank = int(np.sum(others < value)) + int(rng.integers(ties + 1))
            ranks.setdefault(name, []).append(rank)
    uniform = np.full(bins, 1.0 / bins)
    return {
        name: frequency_test(np.bincount(np.array(r) * bins // size, minlength=bins).astype(float), uniform)
        for name, r in ranks.items()
    }
