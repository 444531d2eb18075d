"""Presets are the options that they say; contradictions are refused; the paper's algorithm is the printed one."""

import inspect
import json
from dataclasses import replace

import numpy as np
import pytest

import infgp.search.acquisition
import infgp.search.learning
from infgp.core.model import Data
from infgp.core.options import ModelOptions
from infgp.core.priors import Fixed, Priors, UniformPhi
from infgp.core.warp import Warps
from infgp.errors import InvalidInputError, NumericalError
from infgp.optuna import InfGPSampler
from infgp.run import maximize
from infgp.search.learning import TRUNCATED_SWEEPS, Learner, Series
from infgp.search.optimizer import Optimizer
from infgp.search.presets import PRESETS, with_preset
from infgp.space import Choice, Float, Int
from studies.thompson import STEPS, THOMPSON

SQUARE = {"x": Float(0.0, 1.0), "y": Float(-1.0, 1.0)}
MIXED = {"x": Float(1e-3, 1.0, log=True), "n": Int(1, 9), "kind": Choice(["a", True, None])}


def reward(point):
    return -((float(point["x"]) - 0.3) ** 2)


def searched(steps, space=SQUARE, **options):
    """An optimizer after some evaluations, of which one has failed and one is still under way."""
    optimizer = Optimizer(space, seed=5, **{"n_initial": 4, **options})
    optimizer.ask()
    for i in range(steps):
        point = optimizer.ask()
        optimizer.tell(point, None if i == 5 else reward(point))
    return optimizer


def text(optimizer):
    return json.dumps(optimizer.to_json(), sort_keys=True)


@pytest.fixture
def drawn(monkeypatch):
    """The states from which functions were drawn, and the targets that were drawn."""
    seen, original = [], infgp.search.acquisition.draw_objective

    def spy(rng, given, aim):
        seen.append((given, aim))
        return original(rng, given, aim)

    monkeypatch.setattr(infgp.search.acquisition, "draw_objective", spy)
    return seen


@pytest.fixture
def swept(monkeypatch):
    """How often the truncated sampler was run, with how many sweeps and kept states."""
    seen, original = [], infgp.search.learning.run_blocked

    def spy(rng, data, model, start, sweeps, keep):
        seen.append((data, model, start, sweeps, keep))
        return original(rng, data, model, start, sweeps, keep)

    monkeypatch.setattr(infgp.search.learning, "run_blocked", spy)
    return seen


# --- Options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_its_options(preset):
    given, named = (searched(8, **options) for options in (PRESETS[preset], {"preset": preset}))
    assert text(given) == text(named)
    sampler, other = (InfGPSampler(seed=0, **options) for options in (PRESETS[preset], {"preset": preset}))
    assert sampler._options == other._options
    assert text(maximize(lambda x, y: -x, SQUARE, 2, seed=0, preset=preset).optimizer) == text(
        maximize(lambda x, y: -x, SQUARE, 2, seed=0, **PRESETS[preset]).optimizer
    )


@pytest.mark.parametrize("preset", PRESETS)
def test_options_of_presets_are_options(preset):
    for of in (Optimizer, InfGPSampler):
        assert PRESETS[preset].keys() | {"preset"} <= inspect.signature(of).parameters.keys()


@pytest.mark.parametrize(
    ("preset", "name"), [(preset, name) for preset, options in PRESETS.items() for name in options]
)
@pytest.mark.parametrize("make", [lambda **options: Optimizer(SQUARE, **options), InfGPSampler])
def test_what_contradicts_a_preset_is_refused(make, preset, name):
    other = not PRESETS[preset][name] if isinstance(PRESETS[preset][name], bool) else np.ones(2)
    with pytest.raises(InvalidInputError, match=f"contradicts preset='{preset}', which has {name}="):
        make(preset=preset, **{name: other})


def test_defaults_that_contradict_a_preset_are_refused_too():
    for name in ("ard", "warp", "exploration", "target", "goal"):
        default = inspect.signature(Optimizer).parameters[name].default
        with pytest.raises(InvalidInputError, match=f"{name}=.* contradicts"):
            Optimizer(SQUARE, preset="paper", **{name: default})


def test_options_beside_a_preset():
    assert with_preset({"preset": None, "goal": "final"}) == {"preset": None, "goal": "final"}
    assert with_preset({"goal": "final"}) == {"goal": "final"}
    Optimizer(SQUARE, preset="thompson", outliers="ignore", objective="median", exploration="paper")
    prior = Priors(lengthscale=UniformPhi())
    optimizer = searched(6, preset="paper", priors=prior)
    assert optimizer.to_json()["options"]["priors"]["lengthscale"]["type"] == "UniformPhi"


# --- As printed -------------------------------------------------------------------------------------------------------


def test_the_paper_s_algorithm_is_the_printed_one(drawn, swept):
    """Algorithm 1 and Algorithm 2: B sweeps, their last state, one surface of it; isotropic, one noise, no warp."""
    optimizer = searched(30, preset="paper")
    assert drawn
    for given, aim in drawn:
        assert aim.target == "surface"
        state, model = given.state, given.model
        assert np.ptp(state.phi) == 0.0
        assert (state.sigma2.size, state.tau2.size, state.scale.size, state.grade.size) == (1, 1, 1, 1)
        assert (model.kernel, model.ard, model.local, model.scale_shape) == ("se", False, 0.0, 0.0)
        assert (len(model.warps), model.kriged, len(model.odds)) == (1, False, 1)
        assert np.ptp(model.priors.beta.sd) < 1.0  # a trend in every input
    assert [(sweeps, keep) for _, _, _, sweeps, keep in swept] == [(500, 1)] * len(swept)
    assert swept[0][2] == "one"
    assert all(not isinstance(start, str) for _, _, start, _, _ in swept[1:])  # the chain goes on
    asked = 30 - 4  # after the design
    assert 1 <= asked - len(swept) <= asked // 2  # uniform points, which need no model: Σ n^(−1/2) is 7
    assert optimizer.fallbacks == 0


def test_uniform_points_come_with_the_paper_s_chance():
    for preset in PRESETS:
        exploration = Optimizer(SQUARE, preset=preset)._setup.strategy.exploration
        assert [exploration.chance(n) for n in (1, 4, 100)] == [1.0, 0.5, 0.1]


def test_thompson_draws_the_expected_reward_from_the_default_model(drawn, swept):
    optimizer, default = searched(20, preset="thompson"), Optimizer(SQUARE, kernel="se")
    assert drawn
    assert not swept
    assert {aim.target for _, aim in drawn} == {"objective"}
    model = drawn[-1][0].model
    assert str(replace(model, warps=Warps())) == str(default._setup.learner.model)
    assert len(model.warps) > 1
    assert optimizer.fallbacks == 0


def test_the_study_ends_at_the_preset():
    options = STEPS[THOMPSON].start.keywords
    optimizer = Optimizer(SQUARE, **{name: value for name, value in options.items() if value is not None})
    expected = Optimizer(SQUARE, preset="thompson").to_json()["options"]
    found = optimizer.to_json()["options"]
    assert found.pop("exploration") == [0.0, 0.5]  # the runner explores
    assert expected.pop("exploration") == [1.0, 0.5]
    assert found == expected


# --- All that an optimizer does ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_saved_loaded_and_pending(preset, tmp_path):
    optimizer = searched(12, MIXED, preset=preset)
    assert optimizer.pending
    assert any(o.value is None for o in optimizer.observations)
    optimizer.save(tmp_path / "run.json")
    again = Optimizer.load(tmp_path / "run.json")
    assert text(again) == text(optimizer)
    for _ in range(4):
        points = [one.ask() for one in (optimizer, again)]
        assert points[0] == points[1]
        for one in (optimizer, again):
            one.tell(points[0], reward(points[0]))
    assert text(again) == text(optimizer)
    assert again.recommend() == optimizer.recommend()


def test_the_paper_s_algorithm_recommends_predicts_and_confirms(swept):
    optimizer = searched(16, preset="paper")
    before = text(optimizer)
    del swept[:]
    best = optimizer.recommend()
    assert [(sweeps, keep) for _, _, _, sweeps, keep in swept] == [(TRUNCATED_SWEEPS, 12)]
    assert optimizer.recommend() == best
    assert abs(best.point["x"] - 0.3) < 0.2
    mean, std = optimizer.predict([best.point])
    assert mean[0] == pytest.approx(best.mean)
    assert 0.0 < std[0] < 1.0
    assert optimizer.regret().quantile(0.9) >= 0.0
    assert len(optimizer.candidates(3)) == 3
    assert text(optimizer) == before
    assert optimizer.space.validate(optimizer.ask(confirm=True))


def test_constraints_and_several_objectives_are_learned_by_chains_of_their_own(swept):
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, seed=0, preset="paper", n_initial=4)
    for x in np.linspace(0.0, 1.0, 8):
        optimizer.tell({"x": float(x)}, float(x), constraints={"w": float(x) - 0.5})
    assert optimizer.recommend().point["x"] <= 0.6
    assert len(swept) == 2
    both = Optimizer({"x": Float(0.0, 1.0)}, ["maximize", "minimize"], seed=0, preset="paper", n_initial=4)
    for x in np.linspace(0.0, 1.0, 8):
        both.tell({"x": float(x)}, [float(x), (float(x) - 0.5) ** 2])
    both.ask()
    assert {trade.point["x"] for trade in both.tradeoffs()} >= {1.0}


def test_units_and_wild_rewards(swept):
    optimizer = Optimizer(SQUARE, seed=0, preset="paper", n_initial=2)
    for i, y in enumerate((1.0, 1.0, 1.0, 1e300, -1e300, 2.0, 5.0, 5.0)):
        optimizer.tell({"x": i / 8.0, "y": 0.0}, y)
    for _ in range(3):
        optimizer.ask()
    assert optimizer.fallbacks == 0
    assert np.isfinite(optimizer.recommend().mean)


def test_a_chain_that_cannot_go_on_starts_afresh(monkeypatch):
    starts, original = [], infgp.search.learning.run_blocked

    def fails(rng, data, model, start, sweeps, keep):
        starts.append(start)
        if start != "one":
            raise NumericalError("no")
        return original(rng, data, model, start, sweeps, keep)

    monkeypatch.setattr(infgp.search.learning, "run_blocked", fails)
    learner = Learner.of(ModelOptions(sampler="truncated"), d=1)
    x, none = np.linspace(0.0, 1.0, 6)[:, None], np.empty((0, 1))
    rng, series = np.random.default_rng(0), Series(x, x[:, 0], np.zeros(6), none)
    learned = learner.learn(rng, series, None)
    again = learner.learn(rng, series, learned.chain, again=True)
    assert (starts[0], starts[2]) == ("one", "one")
    assert len(starts) == 3
    assert len(again.chain.states) == 5
    np.testing.assert_array_equal(again.data.y, Data(x, again.chain.scale.to_standard(x[:, 0])).y)


# --- The truncated sampler as an option -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ard": True}, "one length-scale for all inputs; set ard=False"),
        ({"surfaces": 1}, "surfaces=1 is for sampler='collapsed'"),
        ({"warp": "learned"}, "knows no warps"),
        ({"priors": Priors(tau2=Fixed(0.1))}, "only that of the length-scale may be Fixed"),
    ],
)
def test_what_the_truncated_sampler_cannot_do(options, message):
    with pytest.raises(InvalidInputError, match=message):
        Optimizer(SQUARE, **{"sampler": "truncated", "ard": False, **options})


def test_noise_variances_are_refused_before_anything_changes():
    optimizer = Optimizer(SQUARE, seed=0, preset="paper")
    before = text(optimizer)
    with pytest.raises(InvalidInputError, match="knows one noise"):
        optimizer.tell({"x": 0.5, "y": 0.0}, 1.0, noise_variance=0.1)
    assert text(optimizer) == before
    optimizer.tell({"x": 0.5, "y": 0.0}, 1.0, noise_variance=0.0)


def test_one_input_needs_no_word_on_length_scales():
    optimizer = Optimizer({"x": Float(0.0, 1.0)}, seed=0, sampler="truncated", goal="along", n_initial=2)
    for x in np.linspace(0.0, 1.0, 5):
        optimizer.tell({"x": float(x)}, float(x))
    assert optimizer.ask()["x"] >= 0.0  # with log expected improvement over one state
    assert Optimizer(SQUARE, sampler="truncated", ard=False)._setup.learner.warp is False
