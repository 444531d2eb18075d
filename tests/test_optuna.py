"""The sampler in Optuna's own test classes, and what they leave out."""

import copy
import dataclasses
import json
import pickle
import subprocess
import sys
from functools import partial
from wsgiref.util import setup_testing_defaults

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    MultiObjectiveSamplerTestCase,
    RelativeSamplerTestCase,
)
from optuna.trial import TrialState, create_trial

from infgp import Choice, Float, Int, Optimizer, RegretBelow
from infgp import optuna as adapter
from infgp.errors import InvalidInputError
from infgp.optuna import InfGPSampler, StopWhen, spaces, suggest
from infgp.space import Space

optuna.logging.set_verbosity(optuna.logging.WARNING)
XY = {"x": FloatDistribution(0.0, 1.0), "y": FloatDistribution(0.0, 1.0)}


class TestInfGPSampler(BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: InfGPSampler(seed=0)


class TestModelFromTheSecondTrial(BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase):
    """The same with the model in place of the design."""

    @pytest.fixture
    def sampler(self):
        return lambda: InfGPSampler(seed=0, n_startup_trials=1)


def bowl(trial):
    return (trial.suggest_float("x", 0.0, 1.0) - 0.3) ** 2 + (trial.suggest_float("y", 0.0, 1.0) - 0.6) ** 2


def run(sampler, n, objective=bowl, **settings):
    study = optuna.create_study(sampler=sampler, **settings)
    study.optimize(objective, n_trials=n)
    return study


def grid(sampler=None, n=5, f=lambda x, y: (x - 0.3) ** 2 + (y - 0.6) ** 2, **settings):
    """A study with n² completed trials on a grid."""
    study = optuna.create_study(sampler=sampler or InfGPSampler(seed=0), **settings)
    for x in np.linspace(0.0, 1.0, n):
        for y in np.linspace(0.0, 1.0, n):
            study.add_trial(create_trial(params={"x": x, "y": y}, distributions=XY, value=f(x, y)))
    return study


# --- Distributions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "distribution",
    [
        FloatDistribution(-3.0, 7.0),
        FloatDistribution(1e-7, 10.0, log=True),
        FloatDistribution(-10.2, 10.2, step=0.1),
        IntDistribution(-4, 9),
        IntDistribution(1, 1000, log=True),
        IntDistribution(3, 17, step=7),
        CategoricalDistribution(["a", None, 1, 2.5]),
    ],
    ids=str,
)
def test_values_go_there_and_back(distribution, rng):
    space = spaces.space_of({"p": distribution})
    for point in space.from_unit(rng.random((50, space.d))):
        value = spaces.outward(distribution, point["p"])
        internal = distribution.to_internal_repr(value)
        assert distribution._contains(internal)
        back = spaces.inward(distribution, internal)
        assert back == pytest.approx(point["p"])


@pytest.mark.filterwarnings("ignore:The distribution is specified by")
def test_steps_of_any_size_have_the_values_that_optuna_allows(rng):
    for _ in range(300):
        low, step = rng.normal() * 10.0 ** rng.integers(-3, 4), 10.0 ** rng.uniform(-3, 3)
        distribution = FloatDistribution(low, low + step * rng.uniform(1, 50), step=step)
        space = spaces.space_of({"p": distribution})
        assert space.parameters[0].size == 1 + round((distribution.high - low) / step)
        for point in space.from_unit([[0.0], [0.5], [1.0]]):
            assert distribution._contains(spaces.outward(distribution, point["p"]))


def test_the_whole_grid_of_steps_is_reached(rng):
    distribution = FloatDistribution(0.0, 0.9, step=0.3)
    space = spaces.space_of({"p": distribution})
    values = {spaces.outward(distribution, p["p"]) for p in space.from_unit(rng.random((200, 1)))}
    assert sorted(values) == pytest.approx([0.0, 0.3, 0.6, 0.9])


@pytest.mark.parametrize(
    "sampler", [InfGPSampler(seed=0), optuna.samplers.RandomSampler(seed=0)], ids=["ours", "random"]
)
def test_values_of_steps_are_the_same_numbers_in_optuna_and_here(sampler):
    """A trial's value, whoever has drawn it, is told as the value of infgp that is written in the same digits."""
    study = run(
        sampler, 12, lambda trial: trial.suggest_float("x", -0.3, 1.0, step=0.1) + trial.suggest_int("n", 1, 10, step=3)
    )
    assert study.trials[0].distributions["x"].high == Float(-0.3, 1.05, step=0.1).high
    memory = InfGPSampler(seed=0)._recall(study, study.trials[0].distributions, -1)[0]
    told = memory.optimizer.observations
    assert len(told) == 12
    assert {o.point["x"] for o in told} <= {round(-0.3 + 0.1 * k, 1) for k in range(14)}
    assert [o.point for o in told] == [pytest.approx(t.params) for t in study.trials]


def test_what_cannot_be_searched_is_refused():
    with pytest.raises(InvalidInputError, match="use a larger unit"):
        InfGPSampler(search_space={"n": IntDistribution(0, 2**60)})
    with pytest.raises(InvalidInputError, match="acquisition='ei' is not known"):
        InfGPSampler(acquisition="ei")
    with pytest.raises(InvalidInputError, match="seed must be an integer >= 0"):
        InfGPSampler(seed=-1)
    with pytest.raises(InvalidInputError, match="n_startup_trials"):
        InfGPSampler(n_startup_trials=0)


# --- Search ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_both_directions(direction):
    sign = 1.0 if direction == "minimize" else -1.0
    study = run(InfGPSampler(seed=1), 25, lambda trial: sign * bowl(trial), direction=direction)
    assert abs(study.best_value) < 0.003


def test_outliers_do_not_mislead():
    """One value in ten is absurdly good and known to be an error; the search ends where values are good as a rule."""

    def objective(trial):
        return bowl(trial) - (50.0 if trial.number % 10 == 7 else 0.0)

    study = run(InfGPSampler(seed=0, goal="along", outliers="ignore"), 45, objective)
    last = [(t.params["x"], t.params["y"]) for t in study.trials[-10:]]
    assert np.median(np.hypot(*(np.array(last) - [0.3, 0.6]).T)) < 0.05
    study = run(InfGPSampler(seed=0, outliers="ignore"), 45, objective)
    best = study.sampler.recommend(study).point
    assert np.hypot(best["x"] - 0.3, best["y"] - 0.6) < 0.05


def test_mixed_space():
    def objective(trial):
        rate = trial.suggest_float("rate", 1e-5, 1.0, log=True)
        layers = trial.suggest_int("layers", 1, 9, step=2)
        kind = trial.suggest_categorical("kind", ["a", "b", None])
        return abs(np.log10(rate) + 2) + 0.3 * abs(layers - 5) + (kind is not None)

    study = run(InfGPSampler(seed=0), 40, objective)
    assert study.best_params["kind"] is None
    assert study.best_params["layers"] == 5
    assert study.best_value < 0.3


def test_start_up_design_is_spread_from_the_first_trial():
    study = run(InfGPSampler(seed=0, search_space=XY, n_startup_trials=8), 8)
    x = np.array([t.params["x"] for t in study.trials])
    assert sorted(np.floor(8 * x).astype(int)) == list(range(8))  # one in each eighth: Sobol


def test_same_seed_same_trials():
    first, second = (run(InfGPSampler(seed=5), 12) for _ in range(2))
    assert [t.params for t in first.trials] == [t.params for t in second.trials]
    assert [t.user_attrs for t in first.trials] == [t.user_attrs for t in second.trials]


def test_workers_with_one_seed_do_not_repeat_each_other():
    study = optuna.create_study()
    seen = []
    for _ in range(16):  # each of them as fresh as a worker that has just started
        study.sampler = InfGPSampler(seed=0)
        seen.append(study.ask({"x": FloatDistribution(0.0, 1.0)}).params["x"])
    assert len(set(seen)) == 16


TREE = Space.of(
    {
        "depth": Int(2, 8, step=2, when={"kind": "forest"}),
        "kind": Choice(["line", "forest"]),
        "only": Choice(["one"], when={"kind": "forest"}),
        "share": Float(0.0, 1.0, step=0.1, when={"only": "one", "depth": (4, 6, 8)}),
        "penalty": Float(1e-3, 10.0, log=True, when={"kind": "line"}),
    }
)


def forest(point):
    if point["kind"] == "line":
        return 1.0 + abs(np.log10(point["penalty"]))
    return 0.1 * abs(point["depth"] - 6) + (point["share"] - 0.3) ** 2 if "share" in point else 0.8


def test_conditional_parameters_are_chosen_together():
    """Nothing is left to independent sampling, and the trials are the points that the optimizer asks for."""
    study = optuna.create_study(sampler=InfGPSampler(seed=3, search_space=TREE))
    study.sampler.sample_independent = None  # not called
    optimizer = Optimizer(TREE, "minimize", seed=3)
    for _ in range(25):
        trial, point = study.ask(), optimizer.ask()
        assert suggest(trial, TREE) == pytest.approx(point)
        assert TREE.validate(trial.params) == pytest.approx(point)
        study.tell(trial, forest(point))
        optimizer.tell(point, forest(point))
    best = study.sampler.recommend(study)
    assert best == optimizer.recommend()
    assert (best.point["kind"], best.point["depth"]) == ("forest", 6)
    assert len(study.sampler._memory.optimizer.observations) == 25
    assert "infgp:nu" in study.trials[-1].user_attrs


def test_trials_need_not_ask_for_constants_or_in_order():
    def objective(trial):
        if trial.suggest_categorical("kind", ["line", "forest"]) == "line":
            return forest({"kind": "line", "penalty": trial.suggest_float("penalty", 1e-3, 10.0, log=True)})
        depth = trial.suggest_int("depth", 2, 8, step=2)
        share = {"share": trial.suggest_float("share", 0.0, 1.0, step=0.1)} if depth > 2 else {}
        return forest({"kind": "forest", "depth": depth, **share})

    study = run(InfGPSampler(seed=0, search_space=TREE), 14, objective)
    study.sampler.recommend(study)
    assert len(study.sampler._memory.optimizer.observations) == 14


def test_running_trials_are_pending_where_they_will_be():
    study = optuna.create_study(sampler=InfGPSampler(seed=0, search_space=TREE))
    trial = study.ask()
    trial.suggest_categorical("kind", TREE.parameters[1].options)  # it has not asked for the rest
    given = {"kind": trial.params["kind"], **json.loads(study.trials[0].system_attrs[adapter.GIVEN])}
    _, pending = study.sampler._recall(study, study.sampler._fixed, -1)
    assert len(pending) == 1
    assert pending[0].keys() == given.keys()
    study.tell(trial, 1.0)  # it never asked for what its kind needs, and is passed over
    assert not study.sampler._recall(study, study.sampler._fixed, -1)[0].optimizer.observations


def test_trials_with_parameters_that_do_not_apply_are_told_without_them():
    study = optuna.create_study(sampler=InfGPSampler(seed=0, search_space=TREE))
    known = adapter.distributions(TREE)
    params = {"kind": "line", "penalty": 0.1, "depth": 4}
    study.add_trial(create_trial(params=params, distributions={name: known[name] for name in params}, value=1.0))
    study.sampler.recommend(study)
    (observation,) = study.sampler._memory.optimizer.observations
    assert observation.point == {"kind": 0, "penalty": 0.1}


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_a_parameter_that_others_depend_on_may_be_fixed():
    inner = InfGPSampler(seed=0, search_space=TREE, n_startup_trials=3)
    study = run(optuna.samplers.PartialFixedSampler({"kind": "forest"}, inner), 10, lambda t: forest(suggest(t, TREE)))
    assert {t.params["kind"] for t in study.trials} == {"forest"}
    assert inner._memory.optimizer.observations


def test_without_a_space_conditional_parameters_are_drawn_independently():
    """The present behaviour for define-by-run conditions: the model chooses what all trials share."""
    study = run(InfGPSampler(seed=0), 12, lambda trial: forest(suggest(trial, TREE)))
    assert set(study.sampler._together(study)) == {"kind"}


def test_suggest_asks_any_trial():
    fixed = optuna.trial.FixedTrial({"kind": "forest", "depth": 2, "only": "one"})
    assert suggest(fixed, TREE) == {"depth": 2, "kind": "forest", "only": "one"}


@pytest.mark.parametrize("options", [{}, {"surfaces": 1}, {"acquisition": "thompson"}])
def test_trials_are_what_the_optimizer_asks_for(options):
    """With the search space known from the start, study and optimizer take the same steps, replicates included."""
    noise = [np.random.default_rng(k).standard_t(2) for k in range(22)]
    study = optuna.create_study(direction="maximize", sampler=InfGPSampler(seed=7, search_space=XY, **options))
    optimizer = Optimizer({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)}, seed=7, **options)
    for k in range(22):
        trial, point = study.ask(XY), optimizer.ask()
        assert trial.params == pytest.approx(point)
        value = -((point["x"] - 0.3) ** 2) - (point["y"] - 0.6) ** 2 + 0.1 * noise[k]
        study.tell(trial, value)
        optimizer.tell(point, value)
    assert study.sampler.recommend(study) == optimizer.recommend()


def test_recommendations_have_the_values_of_optuna(monkeypatch):
    """Also the point that would be better if outliers were treated the other way: choices are not numbered."""
    study = optuna.create_study(sampler=InfGPSampler(seed=0))
    study.optimize(lambda trial: {"a": 0.0, "b": 1.0}[trial.suggest_categorical("kind", ["a", "b"])], n_trials=6)
    recommend = Optimizer.recommend
    monkeypatch.setattr(
        Optimizer, "recommend", lambda self: dataclasses.replace(found := recommend(self), otherwise=found.point)
    )
    found = study.sampler.recommend(study)
    assert found.point == found.best_evaluated == found.otherwise == {"kind": "a"}


def test_recommendations_are_seeded():
    """Two studies alike recommend alike, from a fresh sampler too."""

    def again():
        rng = np.random.default_rng(1)
        study = run(InfGPSampler(seed=0), 14, lambda trial: bowl(trial) + 0.3 * rng.standard_t(2))
        first = study.sampler.recommend(study)
        return first, InfGPSampler(seed=0).recommend(study), InfGPSampler(seed=0).recommend(study)

    (a, fresh_a, fresh_again), (b, fresh_b, _) = again(), again()
    assert a == b
    assert fresh_a == fresh_again == fresh_b


@pytest.mark.parametrize("directions", [1, 2])
def test_storing_what_is_believed_does_not_change_the_trials(directions):
    """Also where several trials run at once and come back in another order."""
    found = []
    for store in (True, False):
        sampler = InfGPSampler(seed=3, search_space=XY, store_beliefs=store, n_startup_trials=4)
        study = optuna.create_study(directions=["minimize"] * directions, sampler=sampler)
        for _ in range(4):
            batch = [study.ask(XY) for _ in range(3)]
            for trial in reversed(batch):
                value = (trial.params["x"] - 0.3) ** 2 + trial.params["y"]
                study.tell(trial, [value, trial.params["x"]][:directions])
        found.append([trial.params for trial in study.trials])
        assert any("infgp:surfaces" in key for t in study.trials for key in t.user_attrs) == store
    assert found[0] == found[1]


def test_reseeding_changes_what_comes():
    samplers = [InfGPSampler(seed=0) for _ in range(2)]
    samplers[1].reseed_rng()
    a, b = (grid(sampler).ask(XY).params for sampler in samplers)
    assert a != b


def test_threads():
    study = optuna.create_study(sampler=InfGPSampler(seed=0))
    study.optimize(bowl, n_trials=24, n_jobs=4)
    assert [t.state for t in study.trials] == [TrialState.COMPLETE] * 24
    assert len({(t.params["x"], t.params["y"]) for t in study.trials}) > 20  # some are replicates, by choice


# --- Memory ----------------------------------------------------------------------------------------------------------


def test_warm_chain_is_kept_and_made_anew_when_absent(monkeypatch):
    blanks = []
    blank = InfGPSampler._blank
    monkeypatch.setattr(InfGPSampler, "_blank", lambda self, *a: blanks.append(1) or blank(self, *a))
    study = run(InfGPSampler(seed=0, search_space=XY), 10)
    assert len(blanks) == 1
    study.sampler = InfGPSampler(seed=0, search_space=XY)  # another process
    study.optimize(bowl, n_trials=2)
    assert len(blanks) == 2
    assert len(study.sampler._memory.optimizer.observations) == 12


def test_one_sampler_in_another_study_forgets(tmp_path):
    """Even where both have the same values; the other study is searched in its own parameters."""
    sampler, storage = InfGPSampler(seed=0), f"sqlite:///{tmp_path / 'study.db'}"
    grid(sampler, 3, lambda x, y: 1.0, storage=storage).ask(XY)
    other = optuna.create_study(sampler=sampler, storage=storage)
    for x in np.linspace(0.0, 1.0, 9):
        other.add_trial(create_trial(params={"x": x}, distributions={"x": XY["x"]}, value=1.0))
    other.ask({"x": XY["x"]})
    assert [o.point for o in sampler._memory.optimizer.observations] == [t.params for t in other.trials[:9]]


def test_copies_and_pickles():
    study = run(InfGPSampler(seed=0), 10)
    for twin in (copy.deepcopy(study.sampler), pickle.loads(pickle.dumps(study.sampler))):
        other = copy.deepcopy(study)
        other.sampler = twin
        other.optimize(bowl, n_trials=1)
        mine = copy.deepcopy(study)
        mine.optimize(bowl, n_trials=1)
        assert other.trials[-1].params == mine.trials[-1].params


def test_a_value_that_never_reached_the_storage_is_forgotten(monkeypatch):
    def down(*_, **__):
        raise RuntimeError("down")

    study = grid()
    trial = study.ask(XY)
    with monkeypatch.context() as broken:
        broken.setattr(study._storage, "set_trial_state_values", down)
        with pytest.raises(RuntimeError, match="down"):
            study.tell(trial, 0.5)
    study.tell(trial, state=TrialState.FAIL)
    study.ask(XY)
    assert [o.value for o in study.sampler._memory.optimizer.observations].count(0.5) == 0


# --- Pending, failed, pruned -----------------------------------------------------------------------------------------


def test_running_trials_are_pending():
    study = grid()
    points = [study.ask(XY).params for _ in range(6)]
    away = [np.hypot(p["x"] - q["x"], p["y"] - q["y"]) for i, p in enumerate(points) for q in points[:i]]
    assert min(away) > 1e-3
    _, pending = study.sampler._recall(study, XY, -1)
    assert pending == points


def test_values_given_and_not_yet_asked_for_are_pending():
    study = grid()
    trial = study.ask()
    x = trial.suggest_float("x", 0.0, 1.0)  # y is decided too, but nobody has asked for it
    _, pending = study.sampler._recall(study, XY, -1)
    assert [p["x"] for p in pending] == [x]


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
@pytest.mark.parametrize(
    "pruner",
    [
        optuna.pruners.MedianPruner(n_startup_trials=4),
        partial(optuna.pruners.WilcoxonPruner, p_threshold=0.1, n_startup_steps=3),
    ],
    ids=["median", "wilcoxon"],
)
def test_pruners_save_steps_and_what_is_recommended_was_not_pruned(pruner):
    noise = np.random.default_rng(5).normal(0.0, 0.05, 12)

    def objective(trial):
        x = trial.suggest_float("x", 0.0, 1.0)
        for step, error in enumerate(noise):
            trial.report(-((x - 0.3) ** 2) + error, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return -((x - 0.3) ** 2) + float(noise.mean())

    sampler = InfGPSampler(seed=0)
    study = optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner() if callable(pruner) else pruner)
    study.optimize(objective, n_trials=16)
    pruned = study.get_trials(states=[TrialState.PRUNED])
    assert pruned
    assert sum(len(trial.intermediate_values) for trial in study.trials) < 0.95 * 16 * 12
    assert sampler.fallbacks == 0
    best = sampler.recommend(study).point["x"]
    assert best not in [trial.params["x"] for trial in pruned]
    assert abs(best - 0.3) < 0.1


def test_failed_and_pruned_trials_are_poor_points_and_lost_ones_are_none():
    study = grid()
    for state in (TrialState.FAIL, TrialState.PRUNED):
        study.tell(study.ask(XY), state=state)
    lost = study.ask(XY)  # its worker is killed: failed by the heartbeat, without the sampler
    study._storage.set_trial_state_values(lost._trial_id, TrialState.FAIL)
    study.ask(XY)
    observations = study.sampler._memory.optimizer.observations
    assert [o.value for o in observations[25:]] == [None, None]


def test_a_region_that_fails_is_left():
    def objective(trial):
        value = bowl(trial)
        if trial.params["x"] < 0.4:
            raise optuna.TrialPruned
        return value

    study = run(InfGPSampler(seed=1), 40, objective)
    late = [t.state for t in study.trials[20:]]
    assert late.count(TrialState.COMPLETE) > len(late) / 2
    assert study.best_value < 0.05


# --- Constraints and several objectives ------------------------------------------------------------------------------


@pytest.mark.parametrize("acquisition", ["logei", "thompson"])
@pytest.mark.parametrize("way", ["function", "trial"])
def test_constraints(way, acquisition):
    """The least x + y where both are at least a half in sum."""

    def objective(trial):
        x, y = trial.suggest_float("x", 0.0, 1.0), trial.suggest_float("y", 0.0, 1.0)
        if way == "trial":
            trial.set_constraint("sum", 0.5 - x - y)
        return x + y

    function = (lambda t: (0.5 - t.params["x"] - t.params["y"],)) if way == "function" else None
    study = run(InfGPSampler(seed=0, constraints_func=function, acquisition=acquisition), 30, objective)
    feasible = [t.value for t in study.trials if t.value >= 0.5]
    assert min(feasible) < 0.55
    assert len(feasible) > 10


def test_no_feasible_point_yet():
    study = optuna.create_study(sampler=InfGPSampler(seed=0, constraints_func=lambda t: (0.9 - t.params["x"],)))
    for x in (0.0, 0.2, 0.4, 0.6, 0.0, 0.3):
        study.enqueue_trial({"x": x, "y": 0.5})
    study.optimize(bowl, n_trials=12)
    assert max(t.params["x"] for t in study.trials) > 0.85


def test_two_objectives_spread_along_the_front():
    """Distances to two points: the front is the line between them."""

    def objective(trial):
        x, y = trial.suggest_float("x", 0.0, 1.0), trial.suggest_float("y", 0.0, 1.0)
        return np.hypot(x - 0.2, y - 0.5), -np.hypot(x - 0.8, y - 0.5)

    study = run(InfGPSampler(seed=0), 40, objective, directions=["minimize", "maximize"])
    front = np.array([(t.params["x"], t.params["y"]) for t in study.best_trials])
    assert len(front) >= 8
    assert np.median(np.abs(front[:, 1] - 0.5)) < 0.05
    assert np.ptp(front[:, 0]) > 0.4
    assert f"{adapter.OFF_SURFACE}:1" in study.trials[-1].user_attrs


def test_two_objectives_under_a_constraint():
    def objective(trial):
        x, y = trial.suggest_float("x", 0.0, 1.0), trial.suggest_float("y", 0.0, 1.0)
        trial.set_constraint("right", 0.5 - x)
        return np.hypot(x - 0.2, y - 0.5), np.hypot(x - 0.8, y - 0.5)

    study = run(InfGPSampler(seed=0), 30, objective, directions=["minimize", "minimize"])
    late = [t.params["x"] >= 0.5 for t in study.trials[15:]]
    assert np.mean(late) > 0.6


@pytest.mark.parametrize("kind", [list, tuple])
def test_reference_point(kind):
    """In the study's units and order: x must be below 0.5, so that nothing near the second end counts."""
    study = optuna.create_study(
        directions=["minimize", "maximize"], sampler=InfGPSampler(seed=0, reference_point=kind([0.25, -1.0]))
    )
    for x in np.linspace(0.0, 1.0, 8):
        study.add_trial(
            optuna.trial.create_trial(
                params={"x": x}, distributions={"x": FloatDistribution(0, 1)}, values=[x**2, -((1.0 - x) ** 2)]
            )
        )
    study.optimize(lambda trial: (trial.suggest_float("x", 0.0, 1.0) ** 2, -((1.0 - trial.params["x"]) ** 2)), 3)
    assert all(t.params["x"] < 0.55 for t in study.trials[8:])
    found = study.sampler.tradeoffs(study)[0]
    assert [float(law.median[0]) for law in found.laws] == pytest.approx(found.means, abs=0.05)
    with pytest.raises(InvalidInputError, match="reference_point"):
        InfGPSampler(reference_point=3.0)


# --- Beliefs ---------------------------------------------------------------------------------------------------------


def test_beliefs_point_out_the_outlier():
    study = grid()
    for error in (0.0, 99.0):
        trial = study.ask(XY)
        study.tell(trial, bowl(trial) + error)
    usual, odd = (t.user_attrs for t in study.trials[-2:])
    assert odd[adapter.OFF_SURFACE] > 0.9
    assert odd[adapter.SURFACES] > 1.0
    assert odd[adapter.NU] > 0.0
    assert odd[adapter.BEST_EXPECTED] == study.sampler.optimizer(study).best_expected().mean < 1.0
    assert usual[adapter.OFF_SURFACE] < 0.1


def test_beliefs_can_be_left_out():
    study = run(InfGPSampler(seed=0, store_beliefs=False), 10)
    assert not any(t.user_attrs for t in study.trials)


def test_independent_sampler_is_asked():
    study = run(InfGPSampler(seed=0, independent_sampler=optuna.samplers.RandomSampler(seed=3)), 3)
    other = run(optuna.samplers.RandomSampler(seed=3), 1)
    assert study.trials[0].params == other.trials[0].params


def test_missing_extra_is_named():
    code = "import sys; sys.modules['optuna'] = None; import infgp.optuna"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install 'infgp[optuna]'" in done.stderr


def test_the_dashboard_reads_the_study(tmp_path):
    """optuna-dashboard, asked as a browser would, shows the trial with what the sampler believed of it."""
    dashboard = pytest.importorskip("optuna_dashboard", reason="needs optuna-dashboard")
    url = f"sqlite:///{tmp_path / 'study.db'}"
    study = run(InfGPSampler(seed=0), 8, storage=url, study_name="shown")
    environ: dict[str, object] = {"PATH_INFO": f"/api/studies/{study._study_id}"}
    setup_testing_defaults(environ)
    status = []
    body = b"".join(dashboard.wsgi(study._storage)(environ, lambda s, *_: status.append(s)))
    assert status == ["200 OK"]
    last = json.loads(body)["trials"][-1]
    assert {a["key"]: float(a["value"]) for a in last["user_attrs"]} == study.trials[-1].user_attrs
    assert adapter.OFF_SURFACE in study.trials[-1].user_attrs


def test_a_study_stops_when_its_rule_is_met():
    study = optuna.create_study(sampler=InfGPSampler(seed=0))
    study.optimize(bowl, n_trials=60, callbacks=[StopWhen(RegretBelow(0.2))])
    assert 6 <= len(study.trials) < 60
    assert study.sampler.regret(study).probability_below(0.2) > 0.95


def test_a_rule_needs_the_sampler():
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    with pytest.raises(InvalidInputError, match="must be an InfGPSampler"):
        study.optimize(bowl, n_trials=1, callbacks=[StopWhen(RegretBelow(0.2))])
    with pytest.raises(InvalidInputError, match="stop must be a rule"):
        StopWhen(0.2)


def test_improvement_per_cost_goes_by_what_trials_cost():
    def objective(trial):
        x = trial.suggest_float("x", 0.0, 1.0)
        trial.set_user_attr(adapter.COST, float(100.0**x))
        return min(abs(x - 0.2), abs(x - 0.8))

    study = run(InfGPSampler(seed=0, per_cost=True), 14, objective)
    told = study.sampler.optimizer(study).observations
    assert [o.cost for o in told] == [100.0 ** o.point["x"] for o in told]
    usual = run(InfGPSampler(seed=0), 14, objective)
    assert all(o.cost is None for o in usual.sampler.optimizer(usual).observations)
    first = np.array([[trial.params["x"] for trial in one.trials[4:6]] for one in (study, usual)])
    assert (first[0] < 0.5).all()  # the cheap one of two valleys first
    assert (first[1] > 0.5).any()


def test_what_a_trial_costs_is_by_default_its_seconds_and_is_kept():
    def objective(trial):
        if trial.number == 1:
            raise ArithmeticError
        return trial.suggest_float("x", 0.0, 1.0)

    study = optuna.create_study(sampler=InfGPSampler(seed=0, per_cost=True, search_space={"x": Float(0.0, 1.0)}))
    study.optimize(objective, n_trials=6, catch=ArithmeticError)
    stored = [trial.user_attrs[adapter.COST] for trial in study.trials]
    assert all(0.0 <= seconds < 60.0 for seconds in stored)
    again = InfGPSampler(seed=0, per_cost=True, search_space={"x": Float(0.0, 1.0)})
    for sampler in (study.sampler, again):
        assert [o.cost for o in sampler.optimizer(study).observations] == [stored[0], *stored[2:]]
    study.add_trial(
        create_trial(params={"x": 0.5}, distributions={"x": XY["x"]}, value=1.0, user_attrs={adapter.COST: -1})
    )
    with pytest.raises(InvalidInputError, match="Trial 6: the user attribute 'infgp:cost' is wrong"):
        study.sampler.optimizer(study)


def test_trials_confirm_after_the_search():
    study = run(InfGPSampler(seed=0, confirm_after=12), 15)
    params = [trial.params for trial in study.trials]
    assert params[:12] == [trial.params for trial in run(InfGPSampler(seed=0), 12).trials]
    assert sum(p not in params[: 12 + k] for k, p in enumerate(params[12:])) <= 1
    rows = study.sampler.candidates(study)
    assert rows[0].recommended or rows[0].point in params
    assert sum(row.n_rewards for row in study.sampler.candidates(study, top=15)) == 15
    with pytest.raises(InvalidInputError, match="confirm_after is for one objective"):
        InfGPSampler(objective=["mean", "mean"], confirm_after=3)


def test_points_that_are_confirmed_have_optuna_s_values():
    def objective(trial):
        step = trial.suggest_float("step", 0.5, 2.0, step=0.25)
        return step + (trial.suggest_categorical("kind", ["a", "b"]) == "a")

    study = run(InfGPSampler(seed=0, confirm_after=8, n_startup_trials=4), 10, objective)
    assert {trial.params["kind"] for trial in study.trials[8:]} <= {"a", "b"}
    assert study.sampler.regret(study).point.keys() == {"step", "kind"}
    assert study.sampler.candidates(study, top=1)[0].point["kind"] in ("a", "b")
