"""Chains in threads: the same numbers, and an end to all of them where one fails."""

import threading

import numpy as np
import pytest

from infgp import InfiniteGP
from infgp.sample import threads
from infgp.sample.threads import Ticks, side_by_side


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 2)


def test_chains_run_at_the_same_time(two_cores):
    meet = threading.Barrier(2, timeout=20)  # broken if one chain waits for the other to end
    assert sorted(side_by_side([meet.wait, meet.wait], threads.LEAST, Ticks(lambda: None))) == [0, 1]


def test_few_observations_need_no_threads(two_cores):
    names = side_by_side([lambda: threading.current_thread().name] * 2, threads.LEAST - 1, Ticks(lambda: None))
    assert names == [threading.current_thread().name] * 2


def test_a_chain_that_fails_ends_the_others(two_cores):
    ticks, swept = Ticks(lambda: None), threading.Event()

    def fails():
        swept.wait(20)
        raise ZeroDivisionError

    def goes_on():
        while True:
            ticks()
            swept.set()

    with pytest.raises(ZeroDivisionError):
        side_by_side([fails, goes_on], threads.LEAST, ticks)


def test_a_fit_in_threads_has_the_numbers_of_one_without(monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.random((threads.LEAST, 1))
    y = np.sin(6.0 * x[:, 0]) + 0.1 * rng.standard_t(2, x.shape[0])
    model = InfiniteGP(n_warmup=6, n_samples=4, thin=1, random_state=0)
    fits = []
    for cores in (1, 2):
        monkeypatch.setattr(threads, "cores", lambda cores=cores: cores)
        with pytest.warns(UserWarning, match="disagree or are too short"):
            fits.append(model.fit(x, y).chains_)
    for alone, beside in zip(*fits, strict=True):
        for one, other in zip(alone.states, beside.states, strict=True):
            assert np.array_equal(one.labels, other.labels)
            assert np.array_equal(one.phi, other.phi)
            assert np.array_equal(one.tau2, other.tau2)
