"""Odds that change with the input: the urn, every move under it, and the proofs to notice bugs."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from infgp import InfiniteGP
from infgp.core import odds
from infgp.core.model import Data, prior_draw, simulate_y
from infgp.core.odds import LENGTHS, SMOOTH_ODDS, Seating, log_tilt, seated_sample
from infgp.core.partition import canonical, enumerate_partitions, urn_logpdf
from infgp.core.state import State
from infgp.core.surface import Conditioned
from infgp.predict.targets import TargetLaw
from infgp.sample import compiled
from infgp.sample.chain import COLLAPSED_SWEEP, apply
from infgp.sample.compiled import labels as labels_module
from infgp.sample.moves import hyper
from infgp.sample.moves.assign import assign
from infgp.sample.moves.split_merge import reallocate, split_merge
from infgp.testing import family_p_value, frequency_test, geweke, sbc
from tests.proofs import NU, X5, Y5, blocks_of, frequencies_p_value, key, posterior_draws, statistics

from .test_collapsed import exact_evidence, fixed_model, free_model
from .test_places import LOCAL, exact_log_cohesion

#: Prior probabilities of constant odds and of four kinds that change, of which two are left out.
PRIOR = (0.2, 0.4, 0.0, 0.4, 0.0)


@pytest.fixture
def strong(monkeypatch):
    """Odds that change so much that five observations tell: with the odds of the library they hardly would."""
    monkeypatch.setattr(odds, "STRENGTH", 30.0)


def exact_log_urn(labels, x, kind, nu):
    """Written out from the definition, in plain NumPy: one observation after the other."""
    order, total = Seating(x).order, 0.0
    strength, ell = (odds.STRENGTH, LENGTHS[kind - 1] * np.sqrt(x.shape[1])) if kind else (0.0, 1.0)
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


@pytest.mark.usefixtures("strong")
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


@pytest.mark.usefixtures("strong")
@pytest.mark.parametrize(("move", "thin"), [(assign, 1), (split_merge, 10)], ids=["labels", "split-merge"])
def test_enumeration_notices_a_move_that_is_blind(move, thin):
    def blind(rng, state, data, model):
        return replace(apply((move,), rng, replace(state, odds=0), data, model), odds=state.odds)

    assert states_p_value((blind, hyper.draw_odds), thin, local=False, draws=5000) < 1e-6


@pytest.mark.usefixtures("strong")
@pytest.mark.parametrize("bug", ["later", "own"])
def test_enumeration_notices_half_of_the_conditional(monkeypatch, bug):
    """A label that is judged without what the later observations, or without what the earlier ones, say."""
    whole = odds.log_tilt_if.py_func

    def half(p, label, labels, kind, shares, counts, norms):
        if bug == "later":
            return whole(p, label, labels, kind, shares[: p + 1], counts[: p + 1], norms[: p + 1])
        blank = counts.copy()
        blank[p] = 0.0
        return whole(p, label, labels, kind, shares, blank, norms)

    monkeypatch.setattr(labels_module, "log_tilt_if", half)
    monkeypatch.setattr(compiled, "label_sweep", labels_module.label_sweep.py_func)
    assert states_p_value((assign, hyper.draw_odds), 1, local=False, draws=5000) < 1e-6


# --- Joint distribution ----------------------------------------------------------------------------------------------


def geweke_p_values(moves, shape, seed, d=1):
    rng = np.random.default_rng(seed)
    model, x = replace(free_model(shape, d, d > 1), odds=PRIOR), rng.random((8, d))

    def refresh(pair):
        return pair[0], Data(x, simulate_y(rng, pair[0], x, model))

    def transition(pair):
        return apply(moves, rng, pair[0], pair[1], model), pair[1]

    def known(pair):
        state, data = pair
        tilt = log_tilt(state.labels, data.seating.odds(state.odds))
        return statistics(state, data, model) | {"odds": float(state.odds), "tilt": tilt}

    return geweke(lambda: refresh((prior_draw(rng, x, model), None)), transition, refresh, known, sweeps=8000)


@pytest.mark.usefixtures("strong")
@pytest.mark.parametrize(("shape", "d"), [(0.0, 1), pytest.param(1.5, 2, marks=pytest.mark.slow)])
def test_joint_distribution(shape, d):
    assert family_p_value(geweke_p_values((*COLLAPSED_SWEEP, reallocate), shape, seed=31, d=d)) > 1e-4


@pytest.mark.usefixtures("strong")
def test_joint_distribution_notices_odds_that_are_not_redrawn_by_evidence():
    def by_prior(rng, state, data, model):
        return replace(state, odds=int(rng.choice(len(model.odds), p=model.odds)))

    moves = tuple(by_prior if m is hyper.draw_odds else m for m in COLLAPSED_SWEEP)
    assert family_p_value(geweke_p_values(moves, 0.0, seed=32)) < 1e-6


@pytest.mark.slow
@pytest.mark.usefixtures("strong")
def test_calibration():
    """1 000 data sets × 31 draws, from a start that knows nothing of the truth."""
    rng = np.random.default_rng(34)
    model, x = replace(free_model(1.5), odds=PRIOR), rng.random((8, 1))

    def prior():
        state = prior_draw(rng, x, model)
        return state, Data(x, simulate_y(rng, state, x, model))

    def draws(truth):
        return posterior_draws(rng, prior_draw(rng, x, model), (*COLLAPSED_SWEEP, reallocate), truth[1], model)

    p = sbc(rng, prior, draws, lambda pair: statistics(*pair, model) | {"odds": float(pair[0].odds)}, replicates=1000)
    assert family_p_value(p) > 1e-4, p


# --- Prediction ------------------------------------------------------------------------------------------------------


def test_labels_drawn_in_turn_have_the_urn_s_probabilities(rng):
    seating = Seating(rng.random((4, 1)))
    exact = {key(z): np.exp(urn_logpdf(z, 0.8) + log_tilt(z, seating.odds(2))) for z in enumerate_partitions(4)}
    drawn = Counter(key(canonical(seated_sample(rng, seating, 2, 0.8))) for _ in range(4000))
    assert frequency_test(np.array([drawn[k] for k in exact]), np.array(list(exact.values()))) > 1e-4


def test_chances_that_depend_on_the_input_are_learned(rng):
    x = rng.random((150, 1))
    y = (rng.random(150) < 0.1 + 0.8 * (x[:, 0] > 0.5)).astype(float)
    at = np.array([[0.1], [0.3], [0.7], [0.9]])
    found = InfiniteGP(odds="smooth", n_warmup=60, n_samples=20, random_state=0).fit(x, y).predict(at)
    assert found == pytest.approx([0.1, 0.1, 0.9, 0.9], abs=0.15)


def test_a_weighted_sum_follows_the_chances():
    x = np.concatenate((np.linspace(0.0, 0.4, 20), np.linspace(0.6, 1.0, 20)))[:, None]
    labels = canonical((x[:, 0] > 0.5).astype(int))
    data, one = Data(x, np.where(labels, 1.0, 0.0)), np.ones(1)
    state = State(labels, np.zeros(2), 1e-3, np.full((1, 1), 0.01), one, 1e-4 * one)
    smooth = replace(fixed_model(0.0), odds=SMOOTH_ODDS)
    law, constant = (TargetLaw.of(Conditioned(state, data, m), "mean") for m in (smooth, fixed_model(0.0)))
    at = np.array([[0.0], [0.2], [0.5], [0.8], [3.0]])
    mean, variance = law(at)
    assert mean[[1, 3]] == pytest.approx([0.05, 0.95], abs=0.1)
    assert constant(at)[0] == pytest.approx(0.5, abs=0.05)
    again = law.with_gradients(at)
    assert again[0] == pytest.approx(mean, abs=1e-9)
    assert again[1] == pytest.approx(variance, abs=1e-9)
    assert law.difference(at[1], at[1]) == pytest.approx((0.0, 0.0), abs=1e-9)
    assert law.difference(at[3], at[1])[0] == pytest.approx(mean[3] - mean[1])
