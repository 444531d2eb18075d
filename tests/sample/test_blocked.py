"""The compiled form of the paper's sampler: it has the same posterior, and keeps states as a search needs them."""

from dataclasses import replace

import numpy as np
import pytest

from infgp.core.model import Data
from infgp.core.options import ModelOptions
from infgp.core.priors import Fixed, Gamma, Priors
from infgp.errors import NumericalError
from infgp.sample import truncated
from infgp.sample.blocked import blocked_state, compilable, run_blocked, sweep_many
from infgp.sample.start import start_state
from infgp.testing import family_p_value, geweke
from tests.proofs import GRID, free_model, statistics

X = np.linspace(0.0, 1.0, 12)[:, None]
MODEL = ModelOptions(sampler="truncated").model(1, Priors())


def test_compiled_sweeps_keep_the_joint_distribution(rng):
    """As `tests/sample/test_truncated.py` proves the sweeps that the compiled ones stand for."""
    model, x = free_model(), np.linspace(0.0, 1.0, 6)[:, None]
    factors = truncated.grid_factors(Data(x, np.zeros(6)), model, size=GRID.mass.size)

    def rewards(state):
        noise = np.sqrt(state.core.tau2[0]) * rng.standard_normal(6)
        return Data(x, np.column_stack((np.ones(6), x)) @ state.core.beta + state.at_members() + noise)

    def prior():
        state = truncated.prior_blocked(rng, x, model, 4, factors)
        return state, rewards(state)

    p_values = geweke(
        prior,
        transition=lambda s: (sweep_many(rng, *s, model, 1), s[1]),
        refresh=lambda s: (s[0], rewards(s[0])),
        statistics=lambda s: statistics(s[0].core, s[1], model) | {"log w_L": max(s[0].log_weights[-1], -50.0)},
        sweeps=4000,
    )
    assert family_p_value(p_values) > 1e-4, p_values


def test_the_last_state_is_kept_and_earlier_ones_of_the_second_half(rng):
    data = Data(X, np.sin(6.0 * X[:, 0]))
    for keep, sweeps in ((1, 20), (3, 20), (4, 2)):
        states = run_blocked(rng, data, MODEL, "one", sweeps, keep)
        assert len(states) == keep
        assert len({state.nu for state in states}) == keep  # each some sweeps after the one before
        for state in states:
            assert state.labels[0] == 0  # labels are canonical
            assert (state.phi[0, 0] == np.exp(-2.0 * MODEL.priors.lengthscale.log_ell) / 2.0).any()


def test_a_chain_goes_on_with_further_observations(rng):
    data = Data(X, np.sin(6.0 * X[:, 0]))
    (state,) = run_blocked(rng, Data(X[:9], data.y[:9]), MODEL, "one", 20)
    (further,) = run_blocked(rng, data, MODEL, state, 20)
    assert (state.labels.size, further.labels.size) == (9, 12)


def test_sticks_follow_the_concentration_and_hold_all_surfaces(rng):
    data = Data(X, np.zeros(12))
    core = start_state(rng, data, MODEL, "alone")
    assert blocked_state(rng, core, data, MODEL).truncation == 12
    core = replace(start_state(rng, data, MODEL, "one"), nu=1.0)
    assert blocked_state(rng, core, data, MODEL).truncation == int(np.ceil(2.0 * np.log(12))) + 1


def test_a_state_that_is_not_finite_is_an_error(rng):
    data = Data(X, np.full(12, np.nan))
    with pytest.raises(NumericalError, match="not finite"):
        run_blocked(rng, data, MODEL, "one", 5)


@pytest.mark.parametrize("name", ["beta", "sigma2", "tau2", "nu"])
def test_fixed_parameters_are_not_compiled(name):
    assert compilable(Priors(nu=Gamma(3.0, 1.0), lengthscale=Fixed(0.2)).resolve(1))
    assert not compilable(Priors(**{name: Fixed(1.0)}).resolve(1))
