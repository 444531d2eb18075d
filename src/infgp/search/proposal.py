"""Choosing the next input: a score drawn from, or averaged over, the posterior, maximised over the space.

Three ways, behind one function. Thompson sampling draws a function and maximises it (paper, Algorithm 1). Local
Thompson sampling maximises it over perturbations of the best points only, since a draw over a cube of many dimensions
has its maximum almost surely where nothing is known; the region shrinks and starts again. Log expected improvement
averages over states.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from infgp.core.kernels import log_ell_from_phi
from infgp.core.linalg import FloatArray
from infgp.core.model import Data, Model, State
from infgp.errors import InvalidInputError, check_choice
from infgp.predict.mixture import main_labels
from infgp.predict.paths import TARGETS, draw_path
from infgp.search.acquisition import LogImprovement, TargetLaw
from infgp.search.maximise import maximise, pick
from infgp.space import Space

ACQUISITIONS = ("logei", "thompson", "local")
#: Evaluated points with the best expected reward, around which is searched.
GOOD = 5
#: Candidates for log expected improvement, over the whole space and around each good point. Few on purpose, and no
#: gradients: its highest points are often corners that nothing is known about (`benchmarks/search_variants.py`).
FAR, NEAR = 64, 150
#: Candidates of local Thompson sampling, and the shortest of their steps, of the longest.
LOCAL, SHORTEST = 2000, 0.01
#: How often its region is halved, each time after so many evaluations for a dimension without a better point, before
#: it gives way to the whole space.
HALVINGS, PATIENCE = 5, 3


@dataclass(frozen=True)
class Exploration:
    """Chance ζ_n = C n^{−λ} of a uniform random point at step n (paper, Algorithm 1).

    Examples
    --------
    >>> Exploration.of("paper").chance(25)
    0.2
    >>> Exploration.of(0.0).chance(25)
    0.0
    """

    c: float
    power: float

    @classmethod
    def of(cls, value: str | float | tuple[float, float]) -> Exploration:
        """From "paper" (C = 1, λ = ½), a constant C (with λ = ½) or a pair (C, λ)."""
        if value == "paper":
            return cls(1.0, 0.5)
        pair = value if isinstance(value, tuple | list) else (value, 0.5)
        try:
            c, power = (-1.0 if isinstance(v, str) else float(v) for v in pair)
        except (TypeError, ValueError):
            c, power = -1.0, -1.0
        if not (0.0 <= c < np.inf and 0.0 < power < 1.0):
            raise InvalidInputError(
                f"exploration must be 'paper', a number C >= 0 or a pair (C, lambda) with 0 < lambda < 1, "
                f"but got {value!r}."
            )
        return cls(c, power)

    def chance(self, n: int) -> float:
        """ζ_n, at most one."""
        return min(1.0, self.c * math.pow(max(n, 1), -self.power))


def check_strategy(acquisition: str, target: str) -> None:
    """Raise unless acquisition and target are known and go together."""
    check_choice("acquisition", acquisition, ACQUISITIONS)
    check_choice("target", target, TARGETS)
    if acquisition == "logei" and target == "surface":
        raise InvalidInputError(
            "target='surface' draws one surface, which is Thompson sampling; use acquisition='thompson' or 'local', "
            "or target 'expected', 'main' or 'mean'."
        )


def believe(state: State, data: Data, model: Model, x: FloatArray, y: FloatArray) -> tuple[State, Data]:
    """State and data with rewards y at the inputs x taken for granted, on the surface that dominates there."""
    if not y.size:
        return state, data
    labels = np.concatenate((state.labels, main_labels(state, data, model, x)))
    noise = np.concatenate((data.noise, np.zeros(y.size)))
    return replace(state, labels=labels), Data(np.vstack((data.x, x)), np.concatenate((data.y, y)), noise)


def anticipate(
    rng: np.random.Generator, state: State, data: Data, model: Model, pending: FloatArray, failed: FloatArray
) -> tuple[State, Data]:
    """State and data with poor rewards at inputs that failed, and rewards drawn from the posterior at pending ones."""
    state, data = believe(state, data, model, failed, np.full(failed.shape[0], np.percentile(data.y, 16.0)))
    rewards = draw_path(rng, state, data, model, "main")(pending) if pending.size else np.empty(0)
    return believe(state, data, model, pending, rewards)


def suggest(
    rng: np.random.Generator,
    states: Sequence[State],
    data: Data,
    model: Model,
    space: Space,
    *,
    acquisition: str,
    target: str,
    pending: FloatArray,
    failed: FloatArray,
) -> FloatArray:
    """The next input, shape (d,), snapped to the space.

    Parameters
    ----------
    rng : numpy.random.Generator
    states : sequence of State
        Posterior draws, own scales included.
    data : Data
    model : Model
    space : Space
    acquisition : {"logei", "thompson", "local"}
    target : {"expected", "main", "mean", "surface"}
        See :func:`infgp.predict.paths.draw_path`.
    pending, failed : arrays, shape (k, d)
        Inputs that are being evaluated, whose rewards are drawn from the posterior, and inputs that failed, which are
        taken to be poor.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.model import prior_draw
    >>> from infgp.core.priors import Priors
    >>> from infgp.space import Float
    >>> rng, x = np.random.default_rng(0), np.linspace(0, 1, 6)[:, None]
    >>> model, data, none = Model("se", Priors().resolve(1), ard=False), Data(x, np.zeros(6)), np.empty((0, 1))
    >>> space, states = Space.of({"a": Float(0, 1)}), [prior_draw(rng, x, model)]
    >>> suggest(rng, states, data, model, space, acquisition="logei", target="main", pending=none, failed=none).shape
    (1,)
    """
    if acquisition != "logei":
        states = [states[int(rng.integers(len(states)))]]
    believed = [anticipate(rng, state, data, model, pending, failed) for state in states]
    if acquisition == "logei":
        beliefs = [TargetLaw.of(state, known, model, target) for state, known in believed]
        everywhere = believed[0][1].x
        means = np.mean([belief(data.x)[0] for belief in beliefs], axis=0)
        score = LogImprovement.of(beliefs, everywhere)
        good = best_of(data.x, means)
        return pick(rng, score, space, good, spread=FAR, around=NEAR)
    state, known = believed[0]
    path = draw_path(rng, state, known, model, target)
    if acquisition == "thompson":
        return maximise(rng, path, space, best_of(data.x, path(data.x)))[0]
    law = TargetLaw.of(state, known, model, "expected" if target == "surface" else target)
    good = best_of(data.x, law(data.x)[0])
    reach = local_reach(stale=int(np.argmax((data.x == good[0]).all(axis=1)[::-1])), d=space.d)
    if reach == 0.0:  # restart
        return maximise(rng, path, space, good)[0]
    points = local_candidates(rng, space, good, reach * np.exp(log_ell_from_phi(state.phi[0])))
    return np.asarray(points[int(np.argmax(path(points)))])


def best_of(x: FloatArray, value: FloatArray) -> FloatArray:
    """The distinct inputs with the largest values, shape (at most GOOD, d)."""
    order = np.argsort(-value, kind="stable")[: 10 * GOOD]
    _, first = np.unique(x[order], axis=0, return_index=True)
    return np.asarray(x[order[np.sort(first)[:GOOD]]])


def local_reach(stale: int, d: int) -> float:
    """Size of the region of local Thompson sampling, in length-scales; 0 for a restart over the whole space.

    It is halved as long as the last `stale` evaluations have not moved the best point, and starts again from the whole
    space when it has become small. Found from the data alone, so that nothing needs to be kept.

    Examples
    --------
    >>> [local_reach(stale, d=2) for stale in (0, 6, 12, 30, 36)]
    [1.0, 0.5, 0.25, 0.0, 1.0]
    """
    phase = stale // (PATIENCE * d) % (HALVINGS + 1)
    return 0.0 if phase == HALVINGS else float(0.5**phase)


def local_candidates(rng: np.random.Generator, space: Space, good: FloatArray, reach: FloatArray) -> FloatArray:
    """Sparse perturbations of good points, at steps from a hundredth of a reach to a whole one, shape (LOCAL, d).

    The reach follows the length-scales that the chain has learned: it is wide while the function looks smooth and
    narrows where it is found to be rough.
    """
    d = space.d
    centre = good[rng.integers(good.shape[0], size=LOCAL)]
    width = np.exp(rng.uniform(np.log(SHORTEST), 0.0, (LOCAL, 1))) * np.minimum(reach, 1.0)
    step = width * rng.standard_normal((LOCAL, d))
    mask = rng.random((LOCAL, d)) < rng.uniform(1.0 / d, 1.0, (LOCAL, 1))
    mask[np.arange(LOCAL), rng.integers(d, size=LOCAL)] = True
    return space.snap(np.clip(centre + step * mask, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Expected:
    """Mean of the target over states, as a score."""

    beliefs: tuple[TargetLaw, ...]

    def __call__(self, at: FloatArray) -> FloatArray:
        """Values at the rows of `at`, shape (m,)."""
        return self.law(at)[0]

    def law(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean of the target and its standard deviation, within states and between them, shapes (m,)."""
        means, variances = np.moveaxis(np.array([belief(at) for belief in self.beliefs]), 1, 0)
        return means.mean(axis=0), np.sqrt(variances.mean(axis=0) + means.var(axis=0))

    def value_and_gradient(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values, shape (m,), and gradients, shape (m, d)."""
        parts = [belief.with_gradients(at) for belief in self.beliefs]
        return np.mean([p[0] for p in parts], axis=0), np.mean([p[2] for p in parts], axis=0)
