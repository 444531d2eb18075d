"""What a search recommends, by objective and by whether outliers count, from rewards that are the same in each case."""

import json
from functools import cache

import numpy as np
import pytest

from infgp import Float, InvalidInputError, Optimizer
from infgp.printing import brief_point
from infgp.search.outcomes import stand_in

LINE = {"x": Float(0.0, 1.0)}
GRID = [{"x": u} for u in (0.1, 0.3, 0.5, 0.7, 0.9)]


def told(x, y, **options):
    """A search that was told rewards at some places."""
    optimizer = Optimizer(LINE, seed=0, **options)
    for u, value in zip(x, y, strict=True):
        optimizer.tell({"x": float(u)}, float(value))
    return optimizer


def chance(x):
    return 0.1 + 0.8 * np.exp(-60.0 * (np.asarray(x) - 0.7) ** 2)


@cache
def crashes(n=120):
    """A slope; the higher it is, the more often it crashes."""
    rng = np.random.default_rng(1)
    x = rng.random(n)
    return x, x + 0.1 * rng.standard_normal(n) - 15.0 * (rng.random(n) < 0.5 * x**2)


@cache
def gambles(n=100):
    """A slope, on the right half of which three rewards of ten are lower by four."""
    rng = np.random.default_rng(2)
    x = (np.arange(n) + rng.random(n)) / n
    return x, 0.8 * x + 0.1 * rng.standard_normal(n) - 4.0 * ((rng.random(n) < 0.3) & (x > 0.5))


def test_successes_and_failures_are_learned_as_a_chance():
    rng = np.random.default_rng(3)
    x = rng.random(60)
    optimizer = told(x, rng.random(60) < chance(x))
    best = optimizer.recommend()
    assert best.point["x"] == pytest.approx(0.7, abs=0.12)
    mean, _ = optimizer.predict(GRID)
    assert mean == pytest.approx(chance([p["x"] for p in GRID]), abs=0.35)
    assert mean[3] > 2.0 * max(mean[:3])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_crashes_count_unless_they_are_to_be_ignored(sign):
    x, y = crashes()
    direction = "maximize" if sign > 0 else "minimize"
    count = told(x, sign * y, direction=direction).recommend()
    ignore = told(x, sign * y, direction=direction, outliers="ignore").recommend()
    assert count.point["x"] < 0.4
    assert ignore.point["x"] > 0.8
    assert (count.n_rewards, count.outliers, ignore.outliers) == (120, "count", "ignore")
    assert count.n_off_surface == pytest.approx(np.sum(y < -5.0), abs=2)
    assert count.otherwise["x"] > 0.8
    assert ignore.otherwise["x"] < 0.4
    assert sign * ignore.off_surface_effect < -3.0  # at the risky end
    assert sign * count.off_surface_effect > 0.0  # at the safe end, of which the surfaces know less
    assert any(u == count.otherwise["x"] for u in x)
    (warning,) = count.warnings
    assert f"with outliers='ignore' {brief_point(count.otherwise)} would be better" in warning
    assert warning in str(count)
    assert f"with outliers='count' {brief_point(ignore.otherwise)} would be better" in ignore.warnings[0]
    assert f"off the dominant surface: {count.n_off_surface} of 120 {count.noun}s" in str(count)


def test_without_outliers_there_is_nothing_to_decide():
    x = np.linspace(0.0, 1.0, 25)
    best = told(x, -((x - 0.3) ** 2)).recommend()
    assert (best.otherwise, best.warnings, best.n_off_surface) == (None, (), 0)
    assert best.off_surface_effect == pytest.approx(0.0, abs=0.02)
    assert "warning" not in str(best)
    assert best.law.mean[0] == pytest.approx(best.mean, abs=0.05)


@pytest.mark.parametrize(
    ("objective", "risky", "words"),
    [
        ("mean", False, "expected reward"),
        ("median", True, "median reward"),
        (("quantile", 0.1), False, "10 % quantile of the reward"),
        (("quantile", 0.8), True, "80 % quantile of the reward"),
        (("cvar", 0.3), False, "mean of the worst 30 % of the rewards"),
        (("probability", 0.6), True, "chance of beating 0.6"),
        (("probability", -1.0), False, "chance of beating -1"),
    ],
)
def test_objectives_differ_where_their_optima_do(objective, risky, words):
    optimizer = told(*gambles(), objective=objective)
    best = optimizer.recommend()
    assert best.objective == words
    assert (best.point["x"] > 0.6) == risky
    mean, std = optimizer.predict([best.point])
    assert (best.mean, best.std) == pytest.approx((mean[0], std[0]))
    if objective[0] == "probability":
        assert 0.5 < best.mean <= 1.0
    else:
        assert best.mean == pytest.approx(0.7 if risky else 0.3, abs=0.6 if objective[0] == "cvar" else 0.35)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (("quantile", 0.1), ("quantile", 0.9)),
        (("cvar", 0.3), ("cvar", 0.3)),
        (("probability", 0.6), ("probability", -0.6)),
    ],
)
def test_minimising_mirrors_maximising(low, high):
    x, y = (part[::6] for part in gambles())
    gains, costs = told(x, y, objective=low), told(x, -y, direction="minimize", objective=high)
    assert costs.ask() == gains.ask()
    a, b = gains.recommend(), costs.recommend()
    assert a.point == b.point
    sign = 1.0 if low[0] == "probability" else -1.0
    assert b.mean == pytest.approx(sign * a.mean)
    assert b.std == pytest.approx(a.std)


@pytest.mark.parametrize(
    "options",
    [{"objective": ("cvar", 0.3)}, {"objective": "median", "outliers": "ignore"}, {"objective": ("probability", 1)}],
)
def test_objectives_are_saved(options, tmp_path):
    optimizer = told(*(part[::7] for part in gambles()), **options)
    optimizer.save(tmp_path / "run.json")
    again = Optimizer.load(tmp_path / "run.json")
    described = again.to_json()
    assert described == json.loads(json.dumps(optimizer.to_json()))
    wanted = "quantile" if options["objective"] == "median" else options["objective"][0]
    assert described["options"]["objective"][0][0] == wanted
    assert again.predict(GRID)[0].tolist() == optimizer.predict(GRID)[0].tolist()
    assert again.ask() == optimizer.ask()


def test_each_direction_has_an_objective():
    x, y = gambles()
    both = ["maximize", "minimize"]

    def pair(objective):
        optimizer = Optimizer(LINE, both, seed=0, objective=objective)
        for u, value in zip(x[::2], y[::2], strict=True):
            optimizer.tell({"x": float(u)}, [float(value), -float(value)])
        return optimizer

    at = [{"x": 0.4}, {"x": 0.9}]
    (gain, _), (mixed, _) = (pair(o).predict(at) for o in ("median", ["median", ("quantile", 0.9)]))
    assert mixed[:, 0] == pytest.approx(gain[:, 0])
    assert gain[:, 1] == pytest.approx(-gain[:, 0], abs=0.35)  # the median of costs is that of gains
    assert mixed[1, 1] > gain[1, 1] + 1.0  # where one cost of ten is higher, three are
    assert pair(["mean", ("cvar", 0.5)]).tradeoffs()
    with pytest.raises(InvalidInputError, match="objective has 1 entries, but there are 2 directions"):
        Optimizer(LINE, both, objective=["median"])
    with pytest.raises(InvalidInputError, match="objective must be 'mean'"):
        Optimizer(LINE, both, objective=["median", "best"])


def test_bad_objectives_are_refused_when_a_file_is_read():
    optimizer = told([0.1, 0.5, 0.9], [0.0, 1.0, 0.5], objective=("cvar", 0.3))
    for bad in (["cvar", 2.0], "best", None, ["mean", "mean"]):
        saved = json.loads(json.dumps(optimizer.to_json()))
        saved["options"]["objective"] = [bad]
        with pytest.raises(InvalidInputError):
            Optimizer.from_json(saved)


def test_a_study_has_the_objective_of_an_optimizer():
    optuna = pytest.importorskip("optuna")
    from infgp.optuna import InfGPSampler

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    x, y = (part[::4] for part in gambles())
    space = {"x": optuna.distributions.FloatDistribution(0.0, 1.0)}
    sampler = InfGPSampler(seed=0, search_space=space, objective=("cvar", 0.1), store_beliefs=False)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for u, value in zip(x, y, strict=True):
        trial = optuna.trial.create_trial(params={"x": float(u)}, distributions=space, value=float(value))
        study.add_trial(trial)
    study.optimize(lambda trial: trial.suggest_float("x", 0.0, 1.0), n_trials=1)
    assert study.trials[-1].params["x"] == told(x, y, objective=("cvar", 0.1)).suggest(x.size)["x"]
    best = sampler.recommend(study)
    assert best.objective == "mean of the worst 10 % of the rewards"
    with pytest.raises(InvalidInputError, match="objective must be 'mean'"):
        InfGPSampler(objective=("cvar", 2.0))
    with pytest.raises(InvalidInputError, match="outliers='drop' is not known"):
        InfGPSampler(outliers="drop")


@pytest.mark.parametrize(
    "values",
    [[0.1, 0.2, 0.3, 0.4, 1e6], [0.1, 0.2, 0.3, 7.0, 7.0], [1.0, 1.0, 1.0, 1e6, 1e6], [0.1, 0.2, 1e6, 1e6], []],
    ids=["once", "near", "no range", "few others", "nothing"],
)
def test_other_values_do_not_stand_for_failures(values):
    assert stand_in(values, -1.0) is None
