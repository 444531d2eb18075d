"""Methods: the baselines' hyperparameters are drawn right, and every method works where tasks are awkward."""

import math
import os
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from infgp.bench.methods import METHODS, gaussian, hebo, hyperparameters, turbo
from infgp.bench.methods.history import standardise
from infgp.bench.methods.variants import FITTED, OPTIONS, PEERS, VARIANTS
from infgp.errors import InvalidInputError
from infgp.testing import mean_test

X = np.random.default_rng(3).random((12, 2))
Y = standardise(np.sin(4.0 * X[:, 0]) + X[:, 1] ** 2)


@pytest.mark.parametrize("warped", [False, True])
def test_marginal_likelihood_is_that_of_gpytorch(warped, rng):
    pytest.importorskip("botorch")
    gpytorch, torch = pytest.importorskip("gpytorch"), pytest.importorskip("torch")
    prior = hyperparameters.prior_of(2, warped)
    theta = prior.location + 0.5 * prior.sd * rng.standard_normal(prior.sd.size)
    ours = hyperparameters.log_posterior(theta, X, Y, prior.location, prior.sd)
    ours -= hyperparameters.log_prior(theta, prior.location, prior.sd)
    model = gaussian.gaussian_process(X, Y, theta).train()
    with torch.no_grad():
        likelihood = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
        theirs = 12.0 * float(likelihood(model(*model.train_inputs), model.train_targets))
    assert math.isclose(ours, theirs, abs_tol=1e-5)


def test_slice_sampler_draws_the_posterior(rng):
    """One length-scale left free: against its density on a grid; p < 1e-4 once in ten thousand seeds."""
    prior = hyperparameters.prior_of(1, warped=False)
    held = replace(prior, sd=np.where(np.arange(4) == 3, prior.sd, 1e-4))
    x, y = X[:5, :1], Y[:5]
    draws = hyperparameters.slice_sample(rng, held.location, x, y, held.location, held.sd, 6000)[:, 3]
    grid = np.linspace(-6.0, 9.0, 3001)
    thetas = np.tile(held.location, (grid.size, 1))
    thetas[:, 3] = grid
    log_p = np.array([hyperparameters.log_posterior(t, x, y, held.location, held.sd) for t in thetas])
    p = np.exp(log_p - log_p.max())
    exact = rng.choice(grid, 20_000, p=p / p.sum())
    assert np.std(exact) > 0.3
    for statistic in (lambda t: t, np.square, lambda t: (t < np.median(exact)).astype(float)):
        assert mean_test(statistic(exact), statistic(draws)) > 1e-4


def test_every_entry_is_moved_and_averaged(rng):
    found = hyperparameters.estimate(rng, X, Y, warped=True, iterations=50)
    assert (found.last != hyperparameters.prior_of(2, warped=True).location).all()
    assert not np.array_equal(found.last, found.average)
    again = hyperparameters.estimate(np.random.default_rng(1), X, Y, True, 1, found)
    assert np.abs(again.last - found.last).max() < hyperparameters.WIDTH  # goes on from there


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch, when BoTorch is imported
@pytest.mark.parametrize("name", [*(name for name in METHODS if name != "pursuit"), *FITTED, *PEERS])
def test_methods_bear_many_inputs_plateaus_and_replicates(name):
    method = (METHODS | FITTED | PEERS)[name]
    if name == "hebo" and hebo.PYTHON not in os.environ:
        pytest.skip(f"{hebo.PYTHON} is not set")
    for package in method.packages:
        pytest.importorskip(package)
    x = np.random.default_rng(0).random((5, 30))
    asked = []
    for _ in range(2):
        run = method.start(30, 7)
        for point in (*x, x[0]):
            run.tell(point, 70.0)
        run.tell(x[1], 71.0)
        asked.append(run.ask())
    assert asked[0].shape == (30,)
    assert ((asked[0] >= 0.0) & (asked[0] <= 1.0)).all()
    np.testing.assert_array_equal(*asked)  # same seed, same point


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch, when BoTorch is imported
@pytest.mark.parametrize("warped", [False, True])
def test_knowledge_gradient_is_that_of_botorch(warped, rng):
    torch = pytest.importorskip("torch")
    botorch = pytest.importorskip("botorch")
    theta = np.array([-0.3, 0.2, -2.0, -1.0, -0.5, 0.4, -0.2, 0.3, 0.1])[: 9 if warped else 5]
    theirs = botorch.acquisition.qKnowledgeGradient(gaussian.gaussian_process(X, Y, theta), num_fantasies=8)
    found, at = [], torch.as_tensor(rng.random((3, 9, 2)))
    for gradient in (theirs, partial(gaussian.one_shot, theirs)):
        here = at.clone().requires_grad_(True)
        values = gradient(here)
        values.sum().backward()
        found.append((values.detach().numpy(), here.grad.numpy()))
    assert np.ptp(found[0][0]) > 0.01
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def test_truncated_gp_ucb_counts_far_rewards_as_nothing():
    pytest.importorskip("botorch")
    run = METHODS["tgp-ucb"].start(1, 0)
    rewards = np.r_[np.linspace(-1.0, 1.0, 20), 1000.0]
    for k, y in enumerate(rewards):
        run.tell(np.array([k / 21.0]), y)
    values = run.values()
    assert values[-1] == pytest.approx(values[9:11].mean(), abs=0.1)  # the median's
    assert np.argmax(values) == 19


def test_winsorised_rewards_end_at_the_fences():
    pytest.importorskip("botorch")
    run, plain = (FITTED[name].start(1, 0) for name in ("botorch-winsorised", "botorch-logei"))
    for k, y in enumerate((0.0, 1.0, 2.0, 3.0, 4.0, 1000.0, -1000.0)):
        for each in (run, plain):
            each.tell(np.array([k / 7.0]), y)
    low, high = np.percentile(plain.values(), (25.0, 75.0))
    fence = 1.5 * (high - low)
    np.testing.assert_allclose(run.values(), [0.0, 1.0, 2.0, 3.0, 4.0, high + fence, low - fence])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch, when BoTorch is imported
def test_noisy_improvement_goes_on_to_the_better_side(rng):
    pytest.importorskip("botorch")
    run = FITTED["botorch-qlognei"].start(1, 0)
    for x in np.linspace(0.0, 0.5, 8):
        run.tell(np.array([x]), float(-((x - 0.6) ** 2) + 0.01 * rng.standard_normal()))
    assert run.ask()[0] > 0.5


def test_evolution_starts_at_the_best_point_and_leaves_out_what_it_did_not_ask_for():
    pytest.importorskip("cmaes")
    run = PEERS["cma-es"].start(2, 0)
    for x in ((0.9, 0.9), (0.2, 0.3), (0.5, 0.5)):
        run.tell(np.array(x), -sum(x))
    asked = run.ask()
    np.testing.assert_array_equal(run.strategy.mean, [0.2, 0.3])
    np.testing.assert_array_equal(run.ask(), asked)
    run.tell(np.array([0.6, 0.7]), 5.0)
    assert not run.generation
    assert not np.array_equal(run.ask(), asked)
    np.testing.assert_array_equal(run.recommend(), [0.6, 0.7])


def test_evolution_finds_the_top_of_a_hill_and_starts_anew_there():
    pytest.importorskip("cmaes")
    run = PEERS["cma-es"].start(2, 0)
    size = None
    for _ in range(2000):
        x = run.ask()
        size = size or run.strategy.population_size
        run.tell(x, -float(np.sum((x - 0.4) ** 2)))
    np.testing.assert_allclose(run.recommend(), 0.4, atol=1e-4)
    assert run.strategy.population_size > size


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch, when BoTorch is imported
def test_a_trust_region_shrinks_after_failures_and_starts_anew_when_it_is_small():
    pytest.importorskip("botorch")
    run, rng = PEERS["turbo"].start(3, 0), np.random.default_rng(0)
    for x in rng.random((12, 3)):
        run.tell(x, -float(np.sum((x - 0.4) ** 2)))
    best, side = run.inputs[np.argmax(run.rewards)], run.side
    asked = run.ask()
    assert np.sum((asked - 0.4) ** 2) < np.sum((run.inputs - 0.4) ** 2, axis=1).mean()
    assert np.any(asked == best) or np.abs(asked - best).max() <= side
    for _ in range(turbo.FAILURES):
        run.tell(rng.random(3), -9.0)
    assert run.side == side / 2.0
    run.side, told = turbo.SMALLEST, run.rewards.size
    for _ in range(turbo.FAILURES):
        run.tell(rng.random(3), -9.0)
    assert (run.side, run.first) == (turbo.FIRST, told + turbo.FAILURES)


#: A stand-in for HEBO's script: it asks for the point told last, raises at reward 0 and dies at reward 7.
STAND_IN = """
import json, sys
for line in sys.stdin:
    order, answer = json.loads(line), {}
    if order["do"] == "start":
        answer = {"version": "0"}
    elif order["do"] == "ask":
        answer = {"x": x}
    elif order["y"] == 0.0:
        answer = {"error": "ValueError: nought"}
    elif order["y"] == 7.0:
        sys.exit(3)
    else:
        x = order["x"]
    print(json.dumps(answer), flush=True)
"""


def test_hebo_is_reached_through_pipes_and_its_errors_come_back(tmp_path, monkeypatch):
    (tmp_path / "worker.py").write_text(STAND_IN)
    monkeypatch.setenv(hebo.PYTHON, sys.executable)
    monkeypatch.setattr(hebo, "WORKER", tmp_path / "worker.py")
    run = PEERS["hebo"].start(2, 0)
    x = np.array([0.1, 0.2])
    run.tell(x, 1.0)
    np.testing.assert_array_equal(run.ask(), x)
    np.testing.assert_array_equal(run.recommend(), x)
    with pytest.raises(hebo.HeboError, match="HEBO raised at 'tell': ValueError: nought"):
        run.tell(x, 0.0)
    np.testing.assert_array_equal(run.ask(), x)
    with pytest.raises(hebo.HeboError, match=r"has ended \(exit code 3\) at 'tell'"):
        run.tell(x, 7.0)
    run.close()
    assert run.process.returncode == 3


def test_hebo_says_which_python_it_needs(monkeypatch):
    monkeypatch.delenv(hebo.PYTHON, raising=False)
    with pytest.raises(InvalidInputError, match="INFGP_HEBO_PYTHON is not set; make one with"):
        PEERS["hebo"].start(2, 0)
    monkeypatch.setenv(hebo.PYTHON, "/nowhere/python")
    with pytest.raises(InvalidInputError, match="'/nowhere/python', which cannot be started"):
        PEERS["hebo"].start(2, 0)


@pytest.mark.parametrize("name", ["random", "optuna-tpe", "cma-es"])
def test_methods_without_a_model_recommend_the_best_reward(name):
    method = (METHODS | PEERS)[name]
    for package in method.packages:
        pytest.importorskip(package)
    run = method.start(2, 0)
    for x, y in (((0.1, 0.2), 1.0), ((0.3, 0.4), 3.0), ((0.5, 0.6), 2.0)):
        run.tell(np.array(x), y)
    np.testing.assert_array_equal(run.recommend(), [0.3, 0.4])


def test_variants_have_their_options():
    run = VARIANTS["infgp-algorithm-1"].start(2, 0)
    options = run.optimizer.to_json()["options"]
    assert (options["target"], options["acquisition"]) == ("surface", "thompson")
    assert VARIANTS["infgp-ignore"].start(2, 0).optimizer.to_json()["options"]["outliers"] == "ignore"
    names = "infgp-unwarped", "infgp-final-unwarped"
    straight = [VARIANTS[name].start(2, 0).optimizer.to_json()["options"] for name in names]
    assert [(options["warp"], options["goal"]) for options in straight] == [(None, "along"), (None, "final")]
    assert set(OPTIONS) < set(VARIANTS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch, when BoTorch is imported
def test_relevance_pursuit_is_kept_between_fits(rng):
    torch = pytest.importorskip("torch")
    run = METHODS["pursuit"].start(1, 0)
    x = rng.random((20, 1))
    y = np.sin(5.0 * x[:, 0])
    y[3] += 30.0
    for point, reward in zip(x, y, strict=True):
        run.tell(point, reward)
    model = run.fit()
    pursued = run.pursued
    assert pursued.noises[3] > 10.0 * np.delete(pursued.noises, 3).max()
    at = torch.linspace(0.0, 1.0, 9, dtype=torch.double)[:, None]
    mean = pursued.location + pursued.scale * model.posterior(at).mean[:, 0].numpy()
    assert np.abs(mean - np.sin(5.0 * at[:, 0].numpy())).max() < 0.2
    run.tell(np.array([0.5]), 0.6)
    run.fit()
    assert run.pursued is pursued
    for point in rng.random((9, 1)):
        run.tell(point, np.sin(5.0 * point[0]))
    assert np.sin(5.0 * run.recommend()[0]) > 0.9  # with a fit of its own
    assert run.pursued is not pursued
