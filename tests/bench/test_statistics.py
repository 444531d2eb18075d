import numpy as np
import pytest
from scipy import stats

from infgp.bench.statistics import (
    Average,
    against,
    by_task,
    compare,
    curves,
    growth,
    holm,
    late_share,
    ranking,
    without_greedy,
)


def record(task, method, seed, regret, **more):
    return {"task": task, "method": method, "seed": seed, "regret": list(regret), **more}


def runs_of(*totals):
    return {seed: {"regret": [value / 2, value / 2]} for seed, value in enumerate(totals)}


def test_average_is_mean_and_standard_error():
    found = Average.of([1.0, 2.0, 4.0, 9.0])
    assert found.mean == 4.0
    assert found.count == 4
    assert found.error == pytest.approx(np.std([1, 2, 4, 9], ddof=1) / 2)
    assert np.isnan(Average.of([3.0]).error)


def test_compare_is_scipys_paired_test_on_logs_of_common_seeds():
    a, b = [3.0, 5.0, 2.0, 8.0, 4.0], [4.0, 9.0, 2.5, 8.5, 7.0]
    found = compare("t", "a", "b", runs_of(*a, 77.0), runs_of(*b))  # the sixth seed has no partner
    gaps = np.log(a) - np.log(b)
    assert found.count == 5
    assert found.p == pytest.approx(stats.ttest_1samp(gaps, 0.0).pvalue)
    assert found.wilcoxon == pytest.approx(0.0625)  # all five differences of one sign: 2 / 2^5
    assert found.ratio == pytest.approx(np.exp(gaps.mean()))
    reach = stats.t.ppf(0.975, 4) * gaps.std(ddof=1) / np.sqrt(5)
    assert found.high == pytest.approx(np.exp(gaps.mean() + reach))


def test_outcome_changes_sides_with_the_methods():
    low, high = runs_of(1.0, 1.2, 0.9, 1.1), runs_of(2.0, 2.6, 1.7, 2.2)
    assert compare("t", "a", "b", low, high).outcome == -1
    assert compare("t", "b", "a", high, low).outcome == 1
    assert compare("t", "a", "b", low, runs_of(1.1, 1.1, 1.0, 1.0)).outcome == 0


def test_compare_with_little_to_go_on():
    assert compare("t", "a", "b", {0: {"regret": [1.0]}}, {1: {"regret": [1.0]}}) is None
    single = compare("t", "a", "b", runs_of(1.0), runs_of(2.0))
    assert single.count == 1
    assert np.isnan(single.p)
    assert single.outcome == 0
    pair = compare("t", "a", "b", runs_of(1.0, 2.0), runs_of(2.0, 4.001))  # agree, as two of many would by chance
    assert np.isnan(pair.p)
    assert pair.outcome == 0
    assert pair.low < pair.ratio < pair.high < 1.0
    same = compare("t", "a", "b", runs_of(1.0, 2.0, 3.0), runs_of(1.0, 2.0, 3.0))
    assert (same.p, same.outcome) == (1.0, 0)


def test_holm_by_hand():
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1 is 0.02, 0.03, 0.06, 0.04; running maximum.
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm([0.5, float("nan"), 0.6]), [1.0, float("nan"), 1.0])


def test_against_corrects_over_all_comparisons_and_makes_each_once():
    rng = np.random.default_rng(0)
    records = [
        record(task, method, seed, [level * rng.lognormal(0.0, 0.1)])
        for task in ("p", "q")
        for method, level in (("x", 1.0), ("y", 2.0), ("z", 1.0))
        for seed in range(6)
    ]
    found = against(by_task(records), ("x", "y"))
    assert [(c.task, c.a, c.b) for c in found] == [
        (task, *pair) for task in ("p", "q") for pair in (("x", "y"), ("x", "z"), ("y", "z"))
    ]
    np.testing.assert_allclose([c.holm for c in found], holm([c.p for c in found]))


def test_ranking_against_scipy_and_demsars_table():
    scores = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [1.0, 2.0, 3.0], [2.0, 1.0, 3.0]])
    records = [record(f"t{t}", m, 0, [scores[t, k]]) for t in range(4) for k, m in enumerate("abc")]
    found = ranking(by_task(records))
    assert found.ranks == {"a": 1.25, "b": 2.0, "c": 2.75}
    assert found.p == pytest.approx(stats.friedmanchisquare(*scores.T).pvalue)
    assert found.critical == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 4)), abs=1e-3)  # q of Demšar 2006, table 5
    assert found.worse["a"] == pytest.approx(1.0)
    assert found.worse["b"] > found.worse["c"]


def test_ranking_leaves_out_methods_with_few_seeds():
    regret = {"a": [1.0, 1.0, 1.0], "b": [0.5, 3.0, 3.0], "c": [0.1]}
    records = [record(t, m, seed, [y]) for t in "pq" for m, values in regret.items() for seed, y in enumerate(values)]
    assert ranking(by_task(records)).ranks == {"a": 1.0, "b": 2.0}  # by seed 0 alone it would be c, b, a


def test_ranking_leaves_out_methods_that_are_missing_on_a_task():
    records = [record(t, m, 0, [1.0]) for t in "pq" for m in "abc" if (t, m) != ("q", "b")]
    assert set(ranking(by_task(records)).ranks) == {"a", "c"}
    assert ranking(by_task(records[:1])) is None


def test_growth_finds_the_exponent_and_its_interval():
    rng, n = np.random.default_rng(1), np.arange(1.0, 201.0)
    exponents = 0.6 + 0.05 * rng.standard_normal(8)
    found = growth(np.array([3.0 * n**b for b in exponents]))
    assert found.exponent == pytest.approx(exponents.mean())
    reach = stats.t.ppf(0.975, 7) * exponents.std(ddof=1) / np.sqrt(8)
    assert (found.low, found.high) == pytest.approx((exponents.mean() - reach, exponents.mean() + reach))
    # Only the second half counts: an early linear phase is not seen.
    bent = np.where(n <= 50, n, 50.0)
    assert growth(bent[None]).exponent == pytest.approx(0.0, abs=1e-12)


def test_late_share_and_greedy_steps():
    mine = {0: record("t", "a", 0, [1.0] * 60 + [0.0] * 39 + [5.0], greedy_steps=[99])}
    assert late_share(curves(mine)).mean == pytest.approx(5.0 / 65.0)
    assert late_share(curves(without_greedy(mine))).mean == 0.0
    assert late_share(curves({0: record("t", "a", 0, [1.0] * 60)})) is None


def test_curves_of_unequal_length_are_cut():
    assert curves({0: {"regret": [1.0, 1.0, 1.0]}, 1: {"regret": [2.0, 2.0]}}).tolist() == [[1.0, 2.0], [2.0, 4.0]]
