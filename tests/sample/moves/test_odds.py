"""Odds that change with the input: the urn, every move under it, and the proofs to notice bugs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from infgp.core import odds
from infgp.core.model import Data, prior_draw
from infgp.core.odds import LENGTHS, STRENGTH, Seating, log_tilt
from infgp.core.partition import canonical, enumerate_partitions, urn_logpdf
from infgp.core.surface import Conditioned
from infgp.sample.chain import COLLAPSED_SWEEP
from infgp.sample.moves import hyper
from infgp.sample.moves.assign import assign
from infgp.sample.moves.split_merge import reallocate, split_merge
from tests.proofs import NU, X5, Y5, blocks_of, frequencies_p_value, key

from .test_collapsed import exact_evidence, fixed_model, free_model
from .test_places import LOCAL, exact_log_cohesion

#: Constant odds, and two kinds that change: one rough and strong, one smooth and weak.
PRIOR = (0.4, 0.3, 0.0, 0.3, 0.0)


def exact_log_urn(labels, x, kind, nu):
    """Written out from the definition, in plain NumPy: one observation after the other."""
    order, total = Seating(x).order, 0.0
    strength, ell = (STRENGTH, LENGTHS[kind - 1] * np.sqrt(x.shape[1])) if kind else (0.0, 1.0)
    for p, i in enumerate(order):
        before = order[:p]
        seated = labels[before]
        if labels[i] not in seated:
            total += np.log(nu / (nu + p))
            continue
        gaps = np.sum((x[before][:, None] - x[before][None]) ** 2, axis=2)
        here = strength * np.exp(-np.sum((x[before] - x[i]) ** 2, axis=1) / (2.0 * ell**2))
        w = np.linalg.solve(strength * np.exp(-gaps / (2.0 * ell**2)) + np.eye(p), here)
        w += (1.0 - w.sum()) / p
        share = {k: max(w[seated == k].sum(), odds.FLOOR * np.mean(seated == k)) for k in set(seated.tolist())}
        total += np.log(p / (nu + p)) + np.log(share[int(labels[i])] / sum(share.values()))
    return total


@pytest.mark.parametrize("kind", range(len(LENGTHS) + 1))
def test_the_urn_is_as_written(kind, rng):
    x = rng.random((9, 2))
    for _ in range(5):
        labels = canonical(rng.integers(3, size=9))
        found = urn_logpdf(labels, 0.7) + log_tilt(labels, Seating(x).odds(kind))
        assert found == pytest.approx(exact_log_urn(labels, x, kind, 0.7), abs=1e-9)


@pytest.mark.parametrize("kind", [0, 1, 4])
def test_probabilities_of_all_partitions_sum_to_one(kind, rng):
    seating = Seating(rng.random((6, 1)))
    logs = [urn_logpdf(z, 0.8) + log_tilt(z, seating.odds(kind)) for z in enumerate_partitions(6)]
    assert logsumexp(logs) == pytest.approx(0.0, abs=1e-9)


def test_constant_odds_are_the_polya_urn(rng):
    x = rng.random((12, 2))
    assert log_tilt(canonical(rng.integers(3, size=12)), Seating(x).odds(0)) == 0.0


def test_a_further_observation_is_seated_last(rng):
    x = np.vstack((rng.random((9, 2)), [[0.3, 0.9]]))
    labels, model = canonical(rng.integers(3, size=9)), replace(free_model(0.0, 2), odds=PRIOR)
    for kind in (2, 4):
        model = replace(model, odds=tuple(np.eye(len(LENGTHS) + 1)[kind]))
        state = replace(prior_draw(rng, x[:9], free_model(0.0, 2)), labels=labels, odds=kind, nu=0.7)
        found = Conditioned(state, Data(x[:9], np.zeros(9)), model).urn_weights(x[9:])[0]
        seating = Seating(x)
        order = np.append(Seating(x[:9]).order, 9)
        vars(seating)["order"] = order
        logs = [
            urn_logpdf(z, 0.7) + log_tilt(z, seating.odds(kind))
            for z in (np.append(labels, label) for label in range(labels.max() + 2))
        ]
        assert found == pytest.approx(np.exp(logs - logsumexp(logs)), abs=1e-9)


def test_the_order_of_the_rows_does_not_matter(rng):
    x, labels = rng.random((15, 3)), canonical(rng.integers(3, size=15))
    shuffled = rng.permutation(15)
    found = log_tilt(canonical(labels[shuffled]), Seating(x[shuffled]).odds(3))
    assert found == pytest.approx(log_tilt(labels, Seating(x).odds(3)), abs=1e-9)


def exact_states(shape, local):
    logs = {}
    for z in enumerate_partitions(5):
        blocks = blocks_of(z)
        base = exact_evidence(blocks, shape) + (sum(exact_log_cohesion(s, X5) for s in blocks) if local else 0.0)
        for kind, prior in enumerate(PRIOR):
            if prior:
                logs[(key(z), kind)] = base + np.log(prior) + exact_log_urn(z, X5, kind, NU)
    total = logsumexp(list(logs.values()))
    return {k: np.exp(v - total) for k, v in logs.items()}


def states_p_value(moves, thin, shape=1.5, local=True, draws=10_400, seed=1):
    rng = np.random.default_rng(seed)
    model = replace(fixed_model(shape), odds=PRIOR, local=LOCAL if local else 0.0)
    start, exact = prior_draw(rng, X5, fixed_model(shape)), exact_states(shape, local)
    return frequencies_p_value(
        rng, start, moves, thin, Data(X5, Y5), model, exact, lambda s: (key(s.labels), s.odds), draws
    )


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("local", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("moves", "thin"),
    [
        ((assign, hyper.draw_odds), 3),
        ((split_merge, hyper.draw_odds), 16),
        ((reallocate, split_merge, hyper.draw_odds), 8),
        (COLLAPSED_SWEEP, 2),
    ],
    ids=["labels", "split-merge", "reallocations", "whole sweep"],
)
def test_states_match_enumeration(moves, thin, local):
    assert states_p_value(moves, thin, local=local) > 1e-4
