"""A number that is told for evaluations that failed, such as a loss of a million."""

import numpy as np
import pytest

import infgp
from infgp import Float, InvalidInputError, Optimizer

MILLION = 1e6


def loss(x):
    return MILLION if x > 0.65 else (x - 0.3) ** 2


def told(n=10, sign=1.0, failure=MILLION, **options):
    optimizer = Optimizer(
        {"x": Float(0.0, 1.0)}, "minimize" if sign > 0 else "maximize", seed=0, n_initial=5, **options
    )
    for k in range(n):
        x = k / (n - 1)
        value = loss(x)
        optimizer.tell({"x": x}, failure if value == MILLION else sign * value)
    return optimizer


def test_they_are_what_failures_are():
    number, failed = told(), told(failure=None)
    assert number.ask() == failed.ask()
    assert number.counted.sum() == failed.counted.sum() == 6
    assert number.recommend().point == failed.recommend().point
    assert number.predict([{"x": 0.3}])[0] == failed.predict([{"x": 0.3}])[0]


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["minimize", "maximize"])
def test_the_recommendation_says_so(sign):
    best = told(sign=sign, failure=sign * MILLION).recommend()
    assert best.stand_in == (sign * MILLION, 4)
    assert abs(best.mean) < 0.01
    assert f"4 {best.noun}s are exactly" in str(best)
    assert "stand_ins='count'" in best.warnings[-1]


def test_they_count_if_they_are_to():
    counted, failed = told(stand_ins="count"), told()
    assert counted.counted.all()
    here = [{"x": 0.62}]
    assert counted.predict(here)[0][0] > 10.0 * abs(failed.predict(here)[0][0])
    best = counted.recommend()
    assert best.stand_in == (MILLION, 4)
    assert "tell None" in best.warnings[-1]


def test_a_search_goes_on_when_a_number_turns_out_to_stand_for_failures_and_when_it_does_not():
    optimizer = told(6)
    whole = Optimizer.from_json(optimizer.to_json())
    assert optimizer.counted.sum() == 4
    first = optimizer.ask()
    assert first == whole.ask()
    optimizer.tell(first, loss(first["x"]))
    optimizer.tell({"x": 0.99}, MILLION**2)  # worse than the number, once: which stands for failures no more
    assert optimizer.counted.all()
    again = Optimizer.from_json(optimizer.to_json())
    assert optimizer.ask() == again.ask()
    optimizer.tell({"x": 0.98}, MILLION**2)
    assert optimizer.counted.sum() == len(optimizer.observations) - 2


def test_a_saved_chain_of_other_values_does_not_go_on():
    optimizer = told(10)
    optimizer.ask()
    content = optimizer.to_json()
    assert content["chains"]["objective"]["aside"] == -MILLION or content["chains"]["objective"]["aside"] == MILLION
    content["chains"]["objective"]["aside"] = None
    assert Optimizer.from_json(content).recommend().stand_in == (MILLION, 4)


def test_what_is_believed_of_each_evaluation_is_of_the_same_evaluation():
    optimizer = told()
    frame = optimizer.to_frame()
    assert frame["value"].max() == MILLION
    assert frame["off_surface_probability"].isna().tolist() == [x > 0.65 for x in frame["x"]]
    assert optimizer.best_expected().index == int(np.argmin([loss(x) for x in frame["x"]]))
    assert {candidate.point["x"] <= 0.65 for candidate in optimizer.candidates()} == {True}


def test_with_several_objectives_all_numbers_count():
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, ["minimize", "minimize"], seed=0)
    for x in np.linspace(0.0, 1.0, 10):
        optimizer.tell({"x": float(x)}, [loss(x), 1.0 - x])
    assert optimizer.counted.all()


def test_a_search_with_a_cliff_finds_the_optimum():
    def cliff(point):
        x = np.array([point["a"], point["b"]])
        return 1e9 if x.sum() > 1.1 else float(((x - [0.5, 0.4]) ** 2).sum())

    result = infgp.minimize(cliff, {"a": Float(0.0, 1.0), "b": Float(0.0, 1.0)}, budget=30, seed=0)
    assert cliff(result.recommendation.point) < 1e-3
    assert result.recommendation.mean < 0.01


def test_they_count_as_failures_wherever_successes_are_counted():
    optimizer = told()
    assert optimizer.counts == (10, 6)
    assert "(4 failed)" in repr(optimizer)
    assert told(stand_ins="count").counts == (10, 10)


def test_one_point_alone_does_not_stand_for_failures():
    optimizer = told(6, failure=None)
    optimizer.tell_many([{"x": 0.9}, {"x": 0.9}], [MILLION, MILLION])
    assert optimizer.counts == (8, 6)
    assert optimizer.recommend().stand_in is None
    optimizer.tell({"x": 0.95}, MILLION)
    assert optimizer.recommend().stand_in == (MILLION, 3)


@pytest.mark.filterwarnings("error")
def test_rewards_beyond_all_measure_are_compared_without_a_warning():
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, seed=0, n_initial=2)
    optimizer.tell_many([{"x": k / 9} for k in range(10)], [*np.linspace(-1e306, 1e306, 8), -1.7e308, -1.7e308])
    assert 0.0 <= optimizer.ask()["x"] <= 1.0


def test_thousands_of_failures_cost_no_more_than_some():
    """Each of them would be a row to solve in every state; those closest to good points say what there is to say."""
    rng = np.random.default_rng(0)
    optimizer = told(12, failure=None)
    optimizer.tell_many([{"x": float(x)} for x in rng.uniform(0.7, 1.0, 20_000)], [MILLION] * 20_000)
    assert optimizer.counts[1] == 8
    assert optimizer.ask()["x"] < 0.75


def test_unknown_values_are_refused():
    with pytest.raises(InvalidInputError, match="stand_ins='drop' is not known"):
        Optimizer({"x": Float(0.0, 1.0)}, stand_ins="drop")
    with pytest.raises(InvalidInputError, match="contradicts preset='paper'"):
        Optimizer({"x": Float(0.0, 1.0)}, stand_ins="failed", preset="paper")


def test_a_study_of_optuna_and_the_command_line_keep_the_option(tmp_path):
    optuna = pytest.importorskip("optuna")
    from infgp.app.objective import check_options, settle
    from infgp.app.storage import Plan
    from infgp.optuna import InfGPSampler

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=InfGPSampler(seed=0, n_startup_trials=10))
    study.optimize(lambda trial: loss(trial.suggest_float("x", 0.0, 1.0)), n_trials=14)
    best = study.sampler.recommend(study)
    assert best.stand_in[0] == MILLION
    assert abs(best.point["x"] - 0.3) < 0.05
    assert settle(study, Plan("train:loss", "space.toml", 9, stand_ins="count"))["stand_ins"] == "count"
    assert settle(study, Plan("train:loss", "space.toml", 9))["stand_ins"] == "count"
    assert "stand_ins" not in settle(study, Plan("train:loss", "space.toml", 9, stand_ins="failed"))
    with pytest.raises(InvalidInputError, match="--preset paper counts all rewards"):
        check_options(Plan("train:loss", "space.toml", 9, stand_ins="failed", preset="paper"))
    with pytest.raises(InvalidInputError, match="--stand-ins"):
        settle(study, Plan("train:loss", "space.toml", 9, stand_ins="drop"))
