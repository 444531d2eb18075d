"""Surfaces with a place: the prior that sees the inputs, every move under it, and the proofs to notice bugs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import gammaln

from infgp import InfiniteGP
from infgp.core import places
from infgp.core.model import Data, by_label, grades_from_prior, log_cohesions, prior_draw, simulate_y
from infgp.core.partition import canonical, enumerate_partitions, urn_logpdf
from infgp.core.state import State, crowded
from infgp.core.surface import Conditioned
from infgp.errors import InvalidInputError
from infgp.predict.mixture import main_surface, predictive, sample_rewards
from infgp.sample.chain import COLLAPSED_SWEEP, apply
from infgp.sample.compiled import splits
from infgp.sample.moves.assign import assign
from infgp.sample.moves.split_merge import reallocate, split_merge
from infgp.testing import family_p_value, geweke, sbc
from tests.proofs import NU, X5, Y5, blocks_of, frequencies_p_value, key, posterior_draws, statistics

from .test_collapsed import exact_evidence, fixed_model, free_model, without

LOCAL = 0.6


def neighbours(x):
    """Pairs of inputs of which one is among the nearest of the other, or that the shortest tree ties."""
    n, k = x.shape[0], min(places.TIES * x.shape[1], places.MOST_TIES, x.shape[0] - 1)
    gaps = np.linalg.norm(x[:, None] - x[None], axis=2) + np.diag(np.full(n, np.inf))
    nearest = {frozenset((i, int(j))) for i in range(n) for j in np.argsort(gaps[i])[:k]}
    tree = minimum_spanning_tree(np.where(np.isfinite(gaps), gaps, 0.0)).nonzero()
    return nearest | {frozenset(map(int, pair)) for pair in zip(*tree, strict=True)}, k


def exact_log_cohesion(members, x, local=LOCAL):
    """Written out: 1 − π + π e^{gain size − price edges} / Γ(size)."""
    pairs, k = neighbours(x)
    cut = sum(len(pair & set(members.tolist())) == 1 for pair in pairs)
    n, size = x.shape[0], len(members)
    gain, price = gammaln(n) / n, (places.PRICE if x.shape[1] > 1 else max(4.0, 1.5 * np.log(n))) / k
    return np.log(1.0 - local + local * np.exp(gain * size - gammaln(size) - price * cut))


@pytest.mark.parametrize(("n", "d"), [(2, 1), (5, 1), (60, 1), (9, 2), (40, 2), (30, 3), (20, 7)])
def test_cohesion_counts_the_neighbours_that_are_parted(n, d, rng):
    x = rng.random((n, d)) + 5.0 * rng.integers(3, size=(n, 1))  # three clusters
    model = replace(fixed_model(0.0), local=LOCAL)
    state = replace(prior_draw(rng, x, free_model(0.0, d, d > 1)), labels=canonical(rng.integers(3, size=n)))
    found = log_cohesions(state, Data(x, np.zeros(n)), model)
    exact = [exact_log_cohesion(s, x) for s in blocks_of(state.labels)]
    assert found == pytest.approx(exact, rel=1e-9)


def test_one_place_for_all_weighs_as_much_as_none(rng):
    x = rng.random((17, 2))
    state = replace(prior_draw(rng, x, free_model(0.0, 2)), labels=np.zeros(17, int))
    one = log_cohesions(state, Data(x, np.zeros(17)), replace(free_model(0.0, 2), local=LOCAL))
    assert one == pytest.approx(0.0, abs=1e-12)


def test_one_smooth_function_on_a_line_is_one_surface():
    """At n = 120 it fell apart into segments when clusters of inputs were cut off for nothing."""
    rng = np.random.default_rng(0)
    x = rng.random((120, 1))
    y = np.sin(6.0 * x[:, 0]) + 0.3 * rng.normal(size=120)
    model = InfiniteGP(n_warmup=100, n_samples=20, random_state=0).fit(x, y)
    assert np.mean([np.bincount(s.labels).max() for c in model.chains_ for s in c.states]) > 100


def test_replicates_are_neighbours():
    """Ties of points at one place go to others, never to themselves."""
    near = places.places_of(np.zeros((6, 1))).near
    assert all(i not in near[i] for i in range(6))
    assert (np.sum(near >= 0, axis=1) >= 2).all()
    assert places.places_of(np.zeros((1, 3))).near.shape == (1, 0)


def exact_partitions(shape):
    logs = {}
    for z in enumerate_partitions(5):
        blocks = blocks_of(z)
        logs[key(z)] = (
            urn_logpdf(z, NU) + exact_evidence(blocks, shape) + sum(exact_log_cohesion(s, X5) for s in blocks)
        )
    top = max(logs.values())
    total = sum(np.exp(v - top) for v in logs.values())
    return {k: np.exp(v - top) / total for k, v in logs.items()}


def partition_p_value(moves, shape, thin, draws=10_400, seed=1):
    rng = np.random.default_rng(seed)
    model, data = replace(fixed_model(shape), local=LOCAL), Data(X5, Y5)
    start, exact = prior_draw(rng, X5, fixed_model(shape)), exact_partitions(shape)
    return frequencies_p_value(rng, start, moves, thin, data, model, exact, lambda s: key(s.labels), draws)


@pytest.mark.parametrize("shape", [pytest.param(0.0, marks=pytest.mark.slow), 1.5])
@pytest.mark.parametrize(
    ("moves", "thin"),
    [((assign,), 3), ((split_merge,), 16), ((reallocate, split_merge), 8), (COLLAPSED_SWEEP, 2)],
    ids=["labels", "split-merge", "reallocations", "whole sweep"],
)
def test_partitions_match_enumeration(moves, thin, shape):
    assert partition_p_value(moves, shape, thin) > 1e-4


@pytest.mark.parametrize(("move", "thin"), [(assign, 1), (split_merge, 10)], ids=["labels", "split-merge"])
def test_enumeration_notices_a_move_that_is_blind(move, thin):
    def blind(rng, state, data, model):
        return move(rng, state, data, replace(model, local=0.0))

    assert partition_p_value((blind,), 0.0, thin, draws=5000) < 1e-6


def test_enumeration_notices_reallocations_that_forget_the_way_back(monkeypatch):
    """As if the present sides were always proposed with the same probability."""
    compiled_grow = splits.grow

    def grow(order, forced, *rest):
        log_q, evidence = compiled_grow(order, forced, *rest)
        return (0.0 if forced.size else log_q), evidence

    monkeypatch.setattr(splits, "grow", grow)
    assert partition_p_value((reallocate, reallocate, split_merge), 0.0, 4, draws=5000) < 1e-6


# --- Joint distribution ----------------------------------------------------------------------------------------------


class ExactPrior:
    """Draws of (z, ν | x) ∝ p(ν) urn(z | ν) Π c(S), by summing over all partitions and a grid of ν."""

    def __init__(self, x, model, cells=4000):
        n = x.shape[0]
        self.model, self.x, self.partitions = model, x, list(enumerate_partitions(n))
        self.nu = (np.arange(cells) + 0.5) * 8.0 / cells  # Gamma(3, 4): next to nothing beyond
        base = np.array([float(model.priors.nu.logpdf(v)) for v in self.nu]) + gammaln(self.nu) - gammaln(self.nu + n)
        self.by_number = {k: np.exp(base + k * np.log(self.nu)) for k in range(1, n + 1)}
        logs = []
        for z in self.partitions:
            blocks = blocks_of(z)
            seats = sum(gammaln(len(s)) + exact_log_cohesion(s, x) for s in blocks)
            logs.append(seats + np.log(self.by_number[len(blocks)].sum()))
        weights = np.exp(np.array(logs) - max(logs))
        self.weights = weights / weights.sum()

    def __call__(self, rng):
        while True:  # until no flat surface has too many members
            labels = np.asarray(self.partitions[rng.choice(self.weights.size, p=self.weights)])
            p = self.by_number[np.unique(labels).size]
            nu = self.nu[rng.choice(p.size, p=p / p.sum())] + 8.0 / p.size * (rng.random() - 0.5)
            grade = by_label(self.model, labels, grades_from_prior(rng, self.model.grades, labels.size)[labels])
            other = prior_draw(rng, self.x, replace(self.model, local=0.0))
            state = replace(other, labels=labels, nu=float(nu), grade=grade)
            if not crowded(state).size:
                return state


def geweke_p_values(moves, shape, seed, d=1, grades=(1.0,)):
    rng = np.random.default_rng(seed)
    model, x = replace(free_model(shape, d, d > 1), local=LOCAL, grades=grades), rng.random((5, d))
    prior = ExactPrior(x, model)

    def refresh(pair):
        return pair[0], Data(x, simulate_y(rng, pair[0], x, model))

    def transition(pair):
        state, data = pair
        state = apply(moves, rng, state, data, model)
        return state, data

    return geweke(
        lambda: refresh((prior(rng), None)),
        transition,
        refresh=refresh,
        statistics=lambda s: statistics(s[0], s[1], model),
        sweeps=8000,
    )


@pytest.mark.parametrize(
    ("shape", "d", "grades"),
    [(0.0, 1, (1.0,)), (1.5, 1, (0.7, 0.3)), (0.0, 2, (0.7, 0.3)), (1.5, 1, (0.3, 0.1, 0.1, 0.5))],
)
def test_joint_distribution(shape, d, grades):
    assert family_p_value(geweke_p_values((*COLLAPSED_SWEEP, reallocate), shape, seed=21, d=d, grades=grades)) > 1e-4


@pytest.mark.slow
def test_joint_distribution_without_label_sweeps():
    assert family_p_value(geweke_p_values(without(assign), 0.0, seed=22)) > 1e-4


def test_joint_distribution_notices_blindness():
    def blind(rng, state, data, model):
        return assign(rng, state, data, replace(model, local=0.0))

    moves = tuple(blind if m is assign else m for m in COLLAPSED_SWEEP if m is not split_merge)
    assert family_p_value(geweke_p_values(moves, 0.0, seed=23)) < 1e-6


@pytest.mark.slow
def test_calibration():
    """All that the default leaves free: 1 000 data sets × 31 draws, from a start that knows nothing of the truth."""
    rng = np.random.default_rng(24)
    model, x = replace(free_model(1.5), local=LOCAL, grades=(0.7, 0.3)), rng.random((6, 1))
    exact = ExactPrior(x, model)

    def prior():
        state = exact(rng)
        return state, Data(x, simulate_y(rng, state, x, model))

    def draws(truth):
        return posterior_draws(
            rng, prior_draw(rng, x, replace(model, local=0.0)), (*COLLAPSED_SWEEP, reallocate), truth[1], model
        )

    def summaries(pair):
        return statistics(*pair, model) | {"rough": float(pair[0].observed_grades.mean())}

    p = sbc(rng, prior, draws, summaries, replicates=1000)
    assert family_p_value(p) > 1e-4, p


# --- Prediction ------------------------------------------------------------------------------------------------------


def test_weights_are_ratios_of_the_prior(rng):
    """The chance of each surface at a further point, from cohesions with its own edges added to the graph."""
    model, x = replace(free_model(0.0, 2, True), local=LOCAL), rng.random((7, 2))
    labels = np.array([0, 0, 1, 0, 2, 1, 0])
    state = replace(prior_draw(rng, x, replace(model, local=0.0)), labels=labels)
    weights = Conditioned(state, Data(x, np.zeros(7)), model).urn_weights(at := rng.random((4, 2)))
    pairs, k = neighbours(x)
    gain, price = gammaln(7) / 7, places.PRICE / k

    def log_c(members, pairs):
        cut = sum(len(pair & set(members)) == 1 for pair in pairs)
        size = len(members)
        return np.log(1.0 - LOCAL + LOCAL * np.exp(gain * size - gammaln(size) - price * cut)) if size else 0.0

    for point, found in zip(at, weights, strict=True):
        nearest = np.argsort(np.linalg.norm(x - point, axis=1))[:k]
        more = pairs | {frozenset((7, int(j))) for j in nearest}
        logs = []
        for label in range(4):
            members = np.flatnonzero(labels == label).tolist()
            seats = np.log(len(members) or state.nu)
            logs.append(seats + log_c([*members, 7], more) - log_c(members, more))
        p = np.exp(np.array(logs) - max(logs))
        assert found == pytest.approx(p / p.sum(), rel=1e-9)


def test_without_places_weights_are_the_urn_s(rng):
    model, x = free_model(0.0), rng.random((5, 1))
    state = replace(prior_draw(rng, x, replace(model, local=0.0)), labels=np.array([0, 0, 1, 0, 2]), nu=0.5)
    weights = Conditioned(state, Data(x, np.zeros(5)), model).urn_weights(rng.random((3, 1)))
    assert weights == pytest.approx(np.tile(np.array([3, 1, 1, 0.5]) / 5.5, (3, 1)))
    assert log_cohesions(state, Data(x, np.zeros(5)), model) == pytest.approx(0.0)


def test_joint_draws_follow_the_weights(rng):
    """Rewards at one point, drawn, against their predictive distribution."""
    model, x = replace(free_model(0.0), local=LOCAL), np.linspace(0.0, 1.0, 12)[:, None]
    state = replace(prior_draw(rng, x, replace(model, local=0.0)), labels=np.repeat([0, 1], 6))
    data = Data(x, np.where(x[:, 0] < 0.5, -1.0, 1.0))
    at = np.array([[0.3], [0.31]])
    draws = np.array([sample_rewards(rng, [Conditioned(state, data, model)], at) for _ in range(3000)])
    mixture = predictive([Conditioned(state, data, model)], at)
    for level in (-1.0, 0.0, 1.0):
        share = np.mean(draws <= level, axis=0)
        assert share == pytest.approx(mixture.cdf(np.full(2, level)), abs=5.0 * np.sqrt(0.25 / 3000))


def test_the_main_surface_is_the_one_of_the_place(rng):
    x = np.linspace(0.0, 1.0, 20)[:, None]
    labels = (x[:, 0] > 0.6).astype(int)
    model = replace(fixed_model(0.0), local=LOCAL)
    state = State(labels, np.zeros(2), 0.5, np.full((1, 1), 3.0), np.ones(1), np.full(1, 0.01))
    data = Data(x, np.where(labels, 2.0, 0.0))
    at = np.array([[0.1], [0.3], [0.8], [0.95]])
    assert Conditioned(state, data, model).main_labels(at).tolist() == [0, 0, 1, 1]
    mean, _ = main_surface([Conditioned(state, data, model)], at)
    assert mean == pytest.approx([0.0, 0.0, 2.0, 2.0], abs=0.3)


def test_far_away_some_surface_still_dominates(rng):
    """Where every weight is too small for a float, by its logarithm."""
    x = rng.random((600, 1))
    labels = np.r_[0, np.ones(599, int)]
    model = replace(fixed_model(0.0), local=LOCAL)
    state = State(labels, np.zeros(2), 1e-300, np.full((1, 1), 3.0), np.ones(1), np.full(1, 0.01))
    at = np.array([[1e3], [-1e6]])
    assert np.isfinite(Conditioned(state, Data(x, np.zeros(600)), model).urn_weights(at)).all()
    assert Conditioned(state, Data(x, np.zeros(600)), model).main_labels(np.array([[0.5]])).tolist() == [1]


# --- The estimator ---------------------------------------------------------------------------------------------------


def step_data(rng, n=60):
    x = rng.random((n, 1))
    return x, np.where(x[:, 0] < 0.6, 0.0, 2.0) + 0.05 * rng.standard_normal(n)


def test_a_step_is_two_regions(rng):
    x, y = step_data(rng)
    grid = np.array([[0.1], [0.3], [0.5], [0.7], [0.9]])
    model = InfiniteGP(random_state=0).fit(x, y)
    assert model.predict_main(grid) == pytest.approx([0.0, 0.0, 0.0, 2.0, 2.0], abs=0.15)
    assert np.mean(model.off_surface_probability_ < 0.5) > 0.95  # but for one at the edge
    x_test, y_test = step_data(rng, 200)
    blind = InfiniteGP(random_state=0, regions=False, odds="constant").fit(x, y)
    gain = np.log(model.predict_density(x_test, y_test)) - np.log(blind.predict_density(x_test, y_test))
    assert gain.mean() > 0.2


def test_outliers_stay_outliers(rng):
    x = rng.random((60, 1))
    y = np.sin(6.0 * x[:, 0]) + 0.1 * rng.standard_normal(60)
    y[[5, 17, 33]] += 12.0
    model = InfiniteGP(random_state=0).fit(x, y)
    off = model.off_surface_probability_
    assert (off[[5, 17, 33]] > 0.9).all()
    assert np.median(off) < 0.1


@pytest.mark.parametrize("regions", [0.5, 1, "yes", None])
def test_bad_choices_are_refused(regions):
    with pytest.raises(InvalidInputError, match="regions must be True or False"):
        InfiniteGP(regions=regions).fit([[0.0], [1.0]], [0.0, 1.0])


def test_there_are_no_prior_draws_of_partitions_with_a_place(rng):
    with pytest.raises(InvalidInputError, match="cannot be drawn from their prior directly"):
        prior_draw(rng, X5, replace(fixed_model(0.0), local=LOCAL))
