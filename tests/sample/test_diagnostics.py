import numpy as np
import pytest

from infgp.sample.diagnostics import bulk_ess, diagnose, r_hat


def chains(rng, correlation, shift):
    noise = rng.normal(size=(4, 500))
    trace = np.empty_like(noise)
    trace[:, 0] = noise[:, 0]
    for t in range(1, 500):
        trace[:, t] = correlation * trace[:, t - 1] + np.sqrt(1 - correlation**2) * noise[:, t]
    return trace + shift * np.arange(4)[:, None]


@pytest.mark.parametrize(("correlation", "shift"), [(0.0, 0.0), (0.9, 0.0), (0.5, 0.5), (-0.5, 0.0), (0.99, 2.0)])
def test_agrees_with_arviz(rng, correlation, shift):
    arviz = pytest.importorskip("arviz", reason="the extra 'arviz' is not installed")
    trace = chains(rng, correlation, shift)
    assert r_hat(trace) == pytest.approx(float(arviz.rhat(trace)), rel=1e-6)
    assert bulk_ess(trace) == pytest.approx(float(arviz.ess(trace)), rel=0.02)


def test_folding_sees_unequal_spread(rng):
    trace = rng.normal(size=(4, 500)) * np.array([1.0, 1.0, 1.0, 3.0])[:, None]
    assert r_hat(trace) > 1.05


def test_constants():
    assert r_hat(np.ones((4, 100))) == 1.0
    assert r_hat(np.ones((4, 100)) * np.arange(4)[:, None]) == np.inf
    assert bulk_ess(np.ones((4, 100))) == 400.0


def test_problems_are_named(rng):
    diagnosis = diagnose({"good": rng.normal(size=(4, 500)), "bad": chains(rng, 0.5, 3.0)})
    assert [p.split(":")[0] for p in diagnosis.problems()] == ["bad"]
