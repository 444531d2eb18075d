"""The labels of observations that were not selected: against enumeration of their own model."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chisquare, norm

from infgp.core.model import Data, Model
from infgp.core.priors import Priors
from infgp.core.state import State
from infgp.core.surface import Conditioned
from infgp.sample import complete
from infgp.sample.large import all_labels, carried, others, select

X = np.array([[0.1], [0.35], [0.6], [0.85], [0.2], [0.7]])
Y = np.array([0.4, 0.9, 0.2, -0.6, 2.3, 1.9])
STATE = State(
    np.array([0, 0, 0, 0, 1, 1]), np.array([0.1, 0.3]), 0.7, np.full((1, 1), 5.0), np.array([1.3]), np.array([0.2])
)
REST = Data(X[[1, 4, 2]], np.array([0.1, 1.4, 1.1]))  # at selected inputs: absorbed exactly by their own surface only


def model_of(shape):
    return Model("se", Priors().resolve(1), ard=False, scale_shape=shape)


def log_target(labels, model, given):
    """Log density of the labels of REST and of all rewards, up to a constant."""
    weights = given.log_urn(REST.x)
    total = sum(weights[i, label] for i, label in enumerate(labels))
    residual = REST.y - np.column_stack((np.ones(3), REST.x)) @ STATE.beta
    for surface in (0, 1):
        own = [i for i, label in enumerate(labels) if label == surface]
        x, y = np.vstack((X, REST.x[own])), np.concatenate((Y, REST.y[own]))
        member = np.concatenate((STATE.labels, np.full(len(own), surface)))
        both = Conditioned(replace(STATE, labels=member), Data(x, y), model)
        total += _log_evidence(both, surface, model)
    new = given.surface(2).surface
    sd = np.sqrt(new.sigma2 + new.tau2)
    return total + sum(norm.logpdf(residual[i], scale=sd) for i, label in enumerate(labels) if label == 2)


def _log_evidence(given, surface, model):
    """Evidence under the model of absorbed members: given u, they are independent."""
    law = given.plain(surface)
    selected = int(np.sum(STATE.labels == surface))
    x, k = law.x, law.surface
    rho = k.sigma2 * np.exp(-k.phi * (x - x.T) ** 2)
    half = np.linalg.solve(rho[:selected, :selected], rho[:selected])
    low_rank = rho[:selected].T @ half
    low_rank.flat[:: x.shape[0] + 1] = k.sigma2 + k.tau2
    return replace(law, factor=np.linalg.cholesky(low_rank)).log_evidence(model.scale_shape)


@pytest.mark.parametrize("shape", [0.0, 2.0])
@pytest.mark.parametrize("tilt", [0.0, 0.8])
def test_labels_are_drawn_as_enumeration_says(monkeypatch, shape, tilt):
    """Also that a wrong weight is noticed: with a tilt, the test must fail."""
    model = model_of(shape)
    scale = np.array([1.0, 1.0, 1.6]) if shape else np.ones(1)
    state = replace(STATE, scale=scale)
    given = Conditioned(state, Data(X, Y), model)
    monkeypatch.setattr(complete, "log_shares", lambda *_: np.array([0.0, tilt, 0.0]))
    labelling, rng, every = complete.Labelling(given, REST), np.random.default_rng(0), np.arange(3)
    draws = []
    for step in range(4800):
        labels = labelling.step(rng, every)
        if step % 3 == 0:
            draws.append(tuple(labels.tolist()))
    combinations = list(product(range(3), repeat=3))
    logs = np.array([log_target(labels, model, given) for labels in combinations])
    expected = np.exp(logs - logsumexp(logs)) * len(draws)
    counts = np.array([draws.count(labels) for labels in combinations])
    rare = expected < 8.0
    pooled = [np.append(part[~rare], part[rare].sum()) for part in (counts, expected)]
    p = chisquare(*pooled).pvalue
    assert (p > 1e-4) == (tilt == 0.0), p


def test_a_state_without_others_is_as_it_was():
    model, data = model_of(0.0), Data(X, Y)
    given = complete.complete(
        np.random.default_rng(0), STATE, data, Data(np.empty((0, 1)), np.empty(0)), model, np.arange(6)
    )
    plain, at = Conditioned(STATE, data, model), np.linspace(0.0, 1.0, 5)[:, None]
    for label in range(3):
        np.testing.assert_array_equal(given.surface(label)(at), plain.surface(label)(at))
    np.testing.assert_allclose(given.urn_weights(at), plain.urn_weights(at))
    np.testing.assert_array_equal(given.off_main(), plain.off_main())


def test_a_state_is_carried_to_other_rows():
    model, rows = model_of(0.0), np.arange(6)
    given = complete.complete(np.random.default_rng(0), STATE, Data(X, Y), REST, model, rows)
    labels = all_labels(given)
    assert labels.size == 9
    np.testing.assert_array_equal(labels[:6], STATE.labels)
    start = carried(given, np.array([4, 5, 6, 7, 8]))
    assert start.labels[0] == start.labels[1] == 0


def test_the_best_the_odd_and_every_input_are_selected():
    rng = np.random.default_rng(0)
    x = rng.random((3000, 2))
    off = rng.random(3000) < 0.01
    rows = select(rng, x, 200, off, scores=x[:, 0])
    assert rows.size == 200
    assert (np.diff(rows) > 0).all()
    assert set(np.argsort(-x[:, 0])[:70]) <= set(rows)
    assert set(np.flatnonzero(off)) <= set(rows)
    few = np.repeat(x[:50], 60, axis=0)
    assert np.unique(few[select(rng, few, 200)], axis=0).shape[0] == 50
    np.testing.assert_array_equal(np.sort(np.concatenate((rows, others(3000, rows)))), np.arange(3000))
