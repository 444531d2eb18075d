"""From a state of a chain on selected observations to one that has taken in all others.

The chain's state, its length-scales, variances, trend, warp and the labels of the selected observations, is kept. Each
other observation lies on one of the state's surfaces, or on one of its own, with the chances that the urn gives a
further observation at its input. Its surfaces are those of :mod:`infgp.core.absorb`: given their values u at the
selected inputs, observations are independent. Two steps of a Gibbs sampler alternate: u and the surfaces' own scales
given the labels, and the labels given u. A step costs time in proportion to the number of observations. The shares of
the surfaces, which selected observations need not have, are those of the labels drawn last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from infgp.core.absorb import Absorber, Completed, Sums, log_shares
from infgp.core.linalg import FloatArray
from infgp.core.model import Data, Model, draw_categorical, trend
from infgp.core.partition import IntArray
from infgp.core.state import State
from infgp.core.surface import Conditioned

#: Steps of the Gibbs sampler that label a part of the observations only, before the last, which labels all.
PARTIAL_STEPS = 2
#: Largest number of observations of a partial step.
PART = 4000
#: Number of observations that are labelled at once; what is in memory for each is a number for each selected one.
BLOCK = 2048


def complete(rng: np.random.Generator, state: State, data: Data, rest: Data, model: Model, rows: IntArray) -> Completed:
    """The state with all other observations taken in.

    Parameters
    ----------
    rng : numpy.random.Generator
    state : State
        Of a chain on `data`, with canonical labels and, where surfaces have scales of their own, scales drawn.
    data, rest : Data
        The selected observations and the others, with rewards that have not gone through a warp.
    model : Model
    rows : int array, shape (m,)
        Places of the selected observations among all, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from infgp.core.priors import Priors
    >>> from infgp.sample.chain import Schedule, cooling, run_collapsed
    >>> model, x = Model("se", Priors().resolve(1), ard=False), np.linspace(0.0, 1.0, 60)[:, None]
    >>> y, rows, rng = np.sin(6.0 * x[:, 0]), np.arange(0, 60, 3), np.random.default_rng(0)
    >>> others = np.setdiff1d(np.arange(60), rows)
    >>> data, rest = Data(x[rows], y[rows]), Data(x[others], y[others])
    >>> state = run_collapsed(rng, data, model, Schedule.thinned(cooling(30), 1, 1), "one").states[0]
    >>> given = complete(rng, state, data, rest, model, rows)
    >>> bool(given.surface(0)(x)[1].max() < Conditioned(state, data, model).surface(0)(x)[1].max())
    True
    """
    seen = data.seen(state, model)
    rest = replace(rest, y=model.warps.maps[state.warp].forward(rest.y), warp=model.warps.maps[state.warp])
    labelling = Labelling(Conditioned(state, seen, model), rest)
    n = rest.y.size
    for _ in range(PARTIAL_STEPS if n and not model.one_surface else 0):
        labelling.step(rng, np.sort(rng.permutation(n)[:PART]))
    labels = labelling.step(rng, np.arange(n))
    laws = tuple(absorber.absorbed(sums) for absorber, sums in zip(labelling.absorbers, labelling.sums, strict=True))
    scaled = replace(state, scale=labelling.scale)
    return Completed(scaled, seen, model, laws=laws, rows=rows, rest=rest, rest_labels=labels)


class Labelling:
    """The Gibbs sampler of the other observations' labels; its state are sums over those labelled last, and scales."""

    def __init__(self, given: Conditioned, rest: Data) -> None:
        self.given, self.rest, self.scale = given, rest, given.state.scale.copy()
        self.absorbers = [Absorber(given.plain(label)) for label in range(given.state.n_surfaces)]
        self.sums = [Sums.none(absorber.law.residual.size) for absorber in self.absorbers]
        self.new = given.surface(given.state.n_surfaces).surface
        self.shares = np.zeros(len(self.absorbers) + 1)

    def step(self, rng: np.random.Generator, some: IntArray) -> IntArray:
        """Draw u and the scales given the labels drawn last, and then the labels of some observations."""
        shape, one = self.given.model.scale_shape, self.scale.size == 1
        if shape:
            for label, (absorber, sums) in enumerate(zip(self.absorbers, self.sums, strict=True)):
                count, quadratic = absorber.law.residual.size + sums.count, absorber.quadratic(sums)
                self.scale[label] = (shape + 0.5 * quadratic) / rng.standard_gamma(shape + 0.5 * count)
        scales = np.ones(len(self.absorbers)) if one else self.scale[:-1]
        drawn = [a.draw(rng, s, scale) for a, s, scale in zip(self.absorbers, self.sums, scales, strict=True)]
        self.sums = [Sums.none(absorber.law.residual.size) for absorber in self.absorbers]
        parts = [self._label(rng, rows, drawn, scales) for rows in _blocks(some)]
        labels = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
        self.shares = log_shares(self.given.state.labels, labels, self.rest.y.size)
        return labels

    def _label(self, rng: np.random.Generator, rows: IntArray, drawn: list[FloatArray], scales: FloatArray) -> IntArray:
        """Draw the labels of a block of observations, and add them to the sums of their surfaces."""
        given, x, known = self.given, self.rest.x[rows], self.rest.noise[rows]
        residual = self.rest.y[rows] - trend(x) @ given.state.beta
        halves = [absorber.half(x) for absorber in self.absorbers]
        variances = [
            left + absorber.law.surface.tau2 + known for absorber, (_, left) in zip(self.absorbers, halves, strict=True)
        ]
        if given.model.one_surface:
            labels = np.zeros(rows.size, dtype=np.int64)
        else:
            means = [half.T @ u for (half, _), u in zip(halves, drawn, strict=True)]
            means.append(np.zeros(rows.size))
            spread = [scale * variance for scale, variance in zip(scales, variances, strict=True)]
            spread.append(self.new.sigma2 + self.new.tau2 + self.new.scale * known)
            gap, variance = residual - np.array(means), np.array(spread)
            log_density = -0.5 * (gap * gap / variance + np.log(variance))
            labels = draw_categorical(rng, given.log_urn(x) + self.shares + log_density.T)
        for label, (half, _) in enumerate(halves):
            own = np.flatnonzero(labels == label)
            if own.size:
                columns = half if own.size == rows.size else half[:, own]
                self.sums[label].add(columns, residual[own], variances[label][own])
        return labels


def _blocks(rows: IntArray) -> Iterator[IntArray]:
    return (rows[start : start + BLOCK] for start in range(0, rows.size, BLOCK))
