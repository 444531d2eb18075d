import numpy as np
import pytest

from infgp import Float, GainBelow, InvalidInputError, Optimizer, RegretBelow
from infgp.search.regret import Regret
from infgp.search.stopping import check_rule, due, may_stop


def law(draws):
    return Regret({"x": 0.5}, "expected reward", np.asarray(draws, dtype=float).reshape(12, 16))


def share(above):
    """A regret that is above 1 in a number of the 192 draws, spread evenly over the states."""
    draws = np.zeros(192)
    draws[:above] = 2.0
    return law(draws.reshape(16, 12).T)


def test_a_probability_counts_less_its_monte_carlo_error():
    assert RegretBelow(1.0, 0.95).met(share(3))
    assert share(9).probability_below(1.0) > 0.95
    assert not RegretBelow(1.0, 0.95).met(share(9))
    assert RegretBelow(1.0, 0.9).met(share(9))
    assert RegretBelow(3.0).met(share(100))


def test_a_gain_counts_with_its_monte_carlo_error():
    regret = share(48)
    assert regret.gain(10) == pytest.approx(0.5)
    assert not GainBelow(0.5, 10).met(regret)
    assert GainBelow(0.6, 10).met(regret)


def test_checks_become_rarer():
    checked = [n for n in range(1, 201) if due(n, 10)]
    assert checked[:4] == [10, 11, 12, 13]
    assert max(np.diff(checked)) <= 10
    assert len(checked) < 100


@pytest.mark.parametrize("arguments", [(0.0,), (float("nan"),), (-1.0,), (0.1, 0.0), (0.1, 1.0), ("0.1",)])
def test_rules_that_make_no_sense(arguments):
    with pytest.raises(InvalidInputError, match="must be"):
        RegretBelow(*arguments)


@pytest.mark.parametrize("arguments", [(0.0, 5), (0.1, 0), (0.1, 2.5)])
def test_gains_that_make_no_sense(arguments):
    with pytest.raises(InvalidInputError, match="must be"):
        GainBelow(*arguments)


def test_what_is_no_rule_is_refused():
    with pytest.raises(InvalidInputError, match="stop must be a rule such as"):
        check_rule(0.1)


def test_a_search_stops_when_nothing_is_left_to_gain(monkeypatch, caplog):
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, seed=0, n_initial=12)
    for k, x in enumerate(np.linspace(0.0, 1.0, 12)):
        assert not may_stop(RegretBelow(0.1), optimizer)
        optimizer.tell({"x": float(x)}, float(-((x - 0.4) ** 2)))
        assert optimizer.counts[0] == k + 1
    assert may_stop(RegretBelow(0.1), optimizer)
    assert may_stop(GainBelow(0.1, 20), optimizer)
    assert not may_stop(RegretBelow(1e-9), optimizer)

    def fail():
        raise FloatingPointError("injected")

    monkeypatch.setattr(optimizer, "regret", fail)
    assert not may_stop(RegretBelow(0.1), optimizer)
    assert "injected" in caplog.text


def test_failures_do_not_make_up_for_rewards():
    """One reward among failures says nothing of how large regrets may be."""
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, seed=0, n_initial=4)
    for k in range(8):
        optimizer.tell({"x": k / 7}, 1.0 if k == 3 else None)
    assert optimizer.regret().mean < 1e3
    assert not may_stop(RegretBelow(1e3), optimizer)
    for k in range(3):
        optimizer.tell({"x": k / 7 + 0.01}, 1.0 + k)
    assert may_stop(RegretBelow(1e3), optimizer)
