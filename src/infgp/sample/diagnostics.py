"""Do the chains agree, and how much are they worth? Rank-normalised split R-hat and effective sample size.

Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding, and localization: an improved
R-hat". Traces have shape (chains, draws).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

from infgp.core.linalg import FloatArray

#: Largest R-hat, a ratio, of a trace that is not a problem. For publishing single parameters 1.01 is usual. Here the
#: question is whether the chains disagree, and predictions average over the parameters.
R_HAT_LIMIT = 1.1
#: Smallest effective sample size, in draws of all chains together, of a trace that is not a problem. For publishing
#: single parameters 100 draws per chain are usual: raise the budget for that.
ESS_LIMIT = 10.0


@dataclass(frozen=True)
class Diagnosis:
    """R-hat and bulk effective sample size of each trace, and the accepted part of the proposals of each kind."""

    r_hat: dict[str, float]
    ess: dict[str, float]
    acceptance: dict[str, float] = field(default_factory=dict)

    def problems(self) -> list[str]:
        """One phrase for each trace beyond a limit; empty when all is well."""
        return [
            f"{name}: R-hat {self.r_hat[name]:.2f}, ESS {self.ess[name]:.0f}"
            for name in self.r_hat
            if not (self.r_hat[name] <= R_HAT_LIMIT and self.ess[name] >= ESS_LIMIT)
        ]


def diagnose(traces: Mapping[str, FloatArray], deeds: Sequence[Mapping[str, tuple[int, int]]] = ()) -> Diagnosis:
    """Diagnosis of named traces, each of shape (chains, draws).

    `deeds` has an entry for each chain: how often each kind of proposal was tried, and how often it was accepted.

    Examples
    --------
    >>> import numpy as np
    >>> diagnose({"noise": np.random.default_rng(0).normal(size=(4, 250))}).problems()
    []
    """
    return Diagnosis(
        r_hat={name: r_hat(trace) for name, trace in traces.items()},
        ess={name: bulk_ess(trace) for name, trace in traces.items()},
        acceptance=_rates(deeds),
    )


def _rates(deeds: Sequence[Mapping[str, tuple[int, int]]]) -> dict[str, float]:
    """Accepted over tried, over all chains; proposals that were never tried are left out."""
    names = dict.fromkeys(name for chain in deeds for name in chain)
    totals = {name: np.sum([chain.get(name, (0, 0)) for chain in deeds], axis=0) for name in names}
    return {name: float(accepted / tried) for name, (tried, accepted) in totals.items() if tried}


def r_hat(trace: FloatArray) -> float:
    """Rank-normalised split R-hat: the larger of two, of the values and of their distances from the median.

    A trace that is one constant in all chains has R-hat 1.

    Examples
    --------
    >>> import numpy as np
    >>> trace = np.random.default_rng(0).normal(size=(4, 250))
    >>> r_hat(trace) < 1.02 < r_hat(trace + np.arange(4)[:, None])
    True
    """
    if np.ptp(trace) == 0.0:
        return 1.0
    halves = _split(trace)
    folded = np.abs(halves - np.median(halves))
    return max(_plain_r_hat(_rank_normalise(halves)), _plain_r_hat(_rank_normalise(folded)))


def bulk_ess(trace: FloatArray) -> float:
    """Effective sample size of the rank-normalised split chains, by Geyer's initial monotone sequence.

    Examples
    --------
    >>> import numpy as np
    >>> round(bulk_ess(np.random.default_rng(0).normal(size=(4, 250))), -2)
    1000.0
    """
    if np.ptp(trace) == 0.0:
        return float(trace.size)
    return effective_size(_rank_normalise(_split(trace)))


def effective_size(z: FloatArray) -> float:
    """Effective sample size for the mean of `z`, shape (chains, draws), by Geyer's initial monotone sequence.

    Examples
    --------
    >>> import numpy as np
    >>> steps = np.random.default_rng(0).normal(size=(1, 5000))
    >>> bool(effective_size(np.cumsum(steps, axis=1)) < 50)
    True
    """
    chains, draws = z.shape
    if draws < 4:
        return float("nan")
    autocovariance = _autocovariance(z).mean(axis=0) * draws / (draws - 1)
    within = autocovariance[0]
    between = float(np.var(z.mean(axis=1), ddof=1)) if chains > 1 else 0.0
    rho = 1.0 - (within - autocovariance) / (within * (draws - 1) / draws + between)
    rho[0] = 1.0
    pairs = rho[: draws // 2 * 2].reshape(-1, 2).sum(axis=1)
    stop = int(np.argmax(pairs <= 0.0)) if np.any(pairs <= 0.0) else pairs.size
    tail = max(float(rho[2 * stop]), 0.0) if 2 * stop < draws else 0.0
    time = -1.0 + 2.0 * float(np.minimum.accumulate(pairs[:stop]).sum()) + tail
    size = chains * draws
    return float(size / max(time, 1.0 / np.log10(size)))


def _split(trace: FloatArray) -> FloatArray:
    """Each chain cut in two halves."""
    half = trace.shape[1] // 2
    return np.concatenate((trace[:, :half], trace[:, -half:])) if half else trace


def _rank_normalise(values: FloatArray) -> FloatArray:
    """Normal scores of the ranks over all chains (Blom's offset)."""
    ranks = rankdata(values, method="average").reshape(values.shape)
    return np.asarray(ndtri((ranks - 0.375) / (values.size + 0.25)))


def _plain_r_hat(z: FloatArray) -> float:
    draws = z.shape[1]
    within = float(np.mean(np.var(z, axis=1, ddof=1))) if draws > 1 else 0.0
    between = float(np.var(z.mean(axis=1), ddof=1))
    if np.all(np.ptp(z, axis=1) == 0.0):
        return float("inf") if between > 0.0 else 1.0
    return float(np.sqrt((draws - 1) / draws + between / within))


def _autocovariance(z: FloatArray) -> FloatArray:
    """Autocovariance of each row at all lags (divided by the number of draws), by FFT."""
    draws = z.shape[1]
    size = next_fast_len(2 * draws, real=True)
    spectrum = rfft(z - z.mean(axis=1, keepdims=True), size, axis=1)
    return np.asarray(irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :draws] / draws)
