"""Searches and fits with more observations than chains hold."""

import warnings

import numpy as np
import pytest

import infgp
from infgp.errors import InvalidInputError

SPACE = {"a": infgp.Float(0.0, 1.0), "b": infgp.Float(0.0, 1.0)}
FEW = 80  # observations up to which chains are exact


def reward(x):
    return -8.0 * (x[:, 0] - 0.3) ** 2 - 4.0 * (x[:, 1] - 0.6) ** 2


def told(n=200, seed=0, **options):
    rng = np.random.default_rng(seed)
    x = rng.random((n, 2))
    y = reward(x) + 0.1 * rng.standard_normal(n)
    y[rng.random(n) < 0.05] += 40.0
    optimizer = infgp.Optimizer(SPACE, seed=seed, exact_up_to=FEW, **options)
    optimizer.tell_many(x, y)
    return optimizer, x, y


@pytest.fixture(scope="module")
def large():
    optimizer, x, y = told()
    for _ in range(6):
        point = optimizer.ask()
        optimizer.tell(point, float(reward(np.array([[point["a"], point["b"]]]))[0]))
    return optimizer, x, y


def test_a_search_finds_the_optimum_among_lucky_rewards(large):
    optimizer, _, y = large
    found = optimizer.recommend()
    assert reward(np.array([[found.point["a"], found.point["b"]]]))[0] > -0.05
    assert found.n_rewards == y.size + 6
    assert abs(found.n_off_surface - np.sum(y > 20.0)) <= 3
    assert optimizer.fallbacks == 0


def test_everything_else_that_an_optimizer_says(large):
    optimizer, _, y = large
    best = optimizer.best_expected()
    assert 0 <= best.index < y.size + 6
    point = optimizer.observations[best.index].point
    assert reward(np.array([[point["a"], point["b"]]]))[0] > -0.3
    assert optimizer.law([{"a": 0.3, "b": 0.6}]).mean.shape == (1,)
    assert optimizer.regret().mean >= 0.0
    assert 1 <= len(optimizer.candidates(top=3)) <= 3
    frame = optimizer.to_frame()
    off = frame["off_surface_probability"].to_numpy()[: y.size]
    np.testing.assert_array_equal(off > 0.5, y > 20.0)


def test_a_saved_search_goes_on_as_it_would_have(large, tmp_path):
    optimizer, _, _ = large
    optimizer.save(tmp_path / "search.json")
    again = infgp.Optimizer.load(tmp_path / "search.json")
    assert again.ask() == optimizer.ask()
    optimizer.withdraw(optimizer.pending[-1])


def test_a_chain_that_selected_nothing_yet_goes_on():
    optimizer, x, y = told(n=FEW)
    optimizer.ask()
    assert optimizer.learned().chain.rows is None
    optimizer.tell_many(x + 1e-3 * (0.5 - x), y)  # now there are twice as many
    optimizer.ask()
    rows = optimizer.learned().chain.rows
    assert rows is not None
    assert rows.size == FEW // 2


def test_pending_and_failed_points_count():
    optimizer, _, _ = told()
    optimizer.tell({"a": 0.3, "b": 0.6}, None)
    points = optimizer.ask(3)
    assert len({tuple(point.values()) for point in points}) == 3


@pytest.mark.parametrize("acquisition", ["logei", "thompson", "local"])
def test_other_acquisitions(acquisition):
    optimizer, _, _ = told(acquisition=acquisition)
    assert set(optimizer.ask()) == {"a", "b"}


def test_constraints_and_several_objectives():
    rng = np.random.default_rng(0)
    x = rng.random((120, 2))
    optimizer = infgp.Optimizer(SPACE, seed=0, exact_up_to=FEW)
    optimizer.tell_many(x, reward(x), constraints=[{"c": float(a - 0.2)} for a in x[:, 0]])
    optimizer.ask()
    assert optimizer.recommend().point["a"] < 0.3
    both = infgp.Optimizer(SPACE, ["maximize", "minimize"], seed=0, exact_up_to=FEW)
    both.tell_many(x, np.column_stack((reward(x), x[:, 0])))
    both.ask()
    assert both.tradeoffs()


def test_below_the_threshold_nothing_changes():
    rng = np.random.default_rng(1)
    x = rng.random((30, 2))
    points = []
    for limit in (30, None):
        optimizer = infgp.Optimizer(SPACE, seed=0, exact_up_to=limit)
        optimizer.tell_many(x, reward(x))
        points.append(optimizer.ask())
    assert points[0] == points[1]


@pytest.mark.parametrize("bad", [0, 5, 1.5, "many", True])
def test_bad_thresholds_are_refused(bad):
    with pytest.raises(InvalidInputError, match="exact_up_to"):
        infgp.Optimizer(SPACE, exact_up_to=bad)


def fitted(**options):
    rng = np.random.default_rng(0)
    x = rng.random((300, 2))
    y = reward(x) + 0.1 * rng.standard_normal(300)
    y[:9] += 30.0
    model = infgp.InfiniteGP(n_warmup=60, n_samples=10, n_chains=1, random_state=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(x, y), x


def test_a_fit_takes_in_all_observations():
    model, _ = fitted(exact_up_to=120)
    at = np.random.default_rng(5).random((100, 2))
    error = np.sqrt(np.mean((model.predict_main(at) - reward(at)) ** 2))
    assert error < 0.05
    np.testing.assert_array_equal(np.flatnonzero(model.off_surface_probability_ > 0.5), np.arange(9))
    assert model.predict_quantiles(at[:3], [0.1, 0.9]).shape == (3, 2)
    assert model.sample_y(at[:3], 4).shape == (3, 4)
    with pytest.raises(InvalidInputError, match="entry of chains_"):
        model.set_params(init=model.chains_[0]).fit(at, reward(at))


def test_points_come_as_arrays_and_frames_of_any_kind():
    rng = np.random.default_rng(0)
    space = {"x": infgp.Float(0.0, 1.0), "k": infgp.Int(1, 9), "c": infgp.Choice(["u", "v"])}
    points = [
        {"x": float(v), "k": int(k), "c": c} for v, k, c in zip(rng.random(6), range(1, 7), "uvuvuv", strict=True)
    ]
    values = rng.random(6)
    known = infgp.Optimizer(space, seed=0)
    known.tell_many(points, values)
    columns = {name: [point[name] for point in points] for name in space}
    table = np.array([list(point.values()) for point in points], dtype=object)
    frames = [(table, values)]
    pandas = pytest.importorskip("pandas")
    frames.append((pandas.DataFrame(columns), pandas.Series(values)))
    for package, make in (("polars", "DataFrame"), ("pyarrow", "table")):
        try:
            module = __import__(package)
        except ImportError:
            continue
        frames.append((getattr(module, make)(columns), values if package == "polars" else module.array(values)))
    for frame, rewards in frames:
        other = infgp.Optimizer(space, seed=0)
        other.tell_many(frame, rewards)
        assert other.observations == known.observations


def test_an_array_has_a_column_for_each_parameter():
    optimizer = infgp.Optimizer(SPACE)
    with pytest.raises(InvalidInputError, match="column for each"):
        optimizer.tell_many(np.zeros((4, 3)), np.zeros(4))
    assert optimizer.counts == (0, 0)


def test_a_study_with_many_trials_is_read_once():
    optuna = pytest.importorskip("optuna")
    from infgp.optuna import OFF_SURFACE, InfGPSampler

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = {name: optuna.distributions.FloatDistribution(0.0, 1.0) for name in SPACE}
    x = np.random.default_rng(0).random((150, 2))
    trials = [
        optuna.trial.create_trial(params=dict(zip(SPACE, row, strict=True)), distributions=space, value=value)
        for row, value in zip(x.tolist(), reward(x).tolist(), strict=True)
    ]
    study = optuna.create_study(direction="maximize", sampler=InfGPSampler(seed=0, exact_up_to=FEW))
    study.add_trials(trials)
    study.optimize(lambda t: float(reward(np.array([[t.suggest_float(name, 0.0, 1.0) for name in SPACE]]))[0]), 2)
    assert study.trials[-1].user_attrs[OFF_SURFACE] < 0.5
    told = study.sampler._memory.optimizer
    study.optimize(lambda t: float(reward(np.array([[t.suggest_float(name, 0.0, 1.0) for name in SPACE]]))[0]), 1)
    assert study.sampler._memory.optimizer is told
    assert told.counts == (153, 153)
    assert told.learned().chain.rows is not None
